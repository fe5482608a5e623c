"""Sixteen weights, or all, in the pipeline: configurations, run folders, profiles, reports, and who may not be mixed."""

from pathlib import Path

import pytest

from evo.analysis.export import best_profiles, cluster_profiles, write_profiles
from evo.analysis.report import make_report
from evo.analysis.tables import names_of, read_runs
from evo.config.run_config import ConfigError, RunConfig
from evo.evolution.session import extend_run
from evo.play.entrants import find_entrant
from evo.play.pool import LocalPool
from evo.storage.run_folder import RunError, open_run
from ilp_agent import Profile, WeightError, Weights, find_profile, read_profile
from ilp_agent.weights import EXTENDED_NAMES, FULL_NAMES, N_WEIGHTS, ExtendedWeights, FullWeights
from tests.conftest import BOUNDSCHECK, UNCOMPILED
from tests.evo.runs import TINY, run_new, run_on

compiled = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")
EXTENDED = TINY.changed(weights="extended", backend="auto", generations=2)
REAL = EXTENDED.changed(
    decks=["basic-warrior", "basic-hunter"], generations=1, final={"games": 8, "benchmark_games": 0}
)


def columns(run: Path, prefix: str) -> list[str]:
    """Columns of a run's generations that begin so, without the beginning."""
    return [name.removeprefix(prefix) for name in read_runs([run]).individuals if name.startswith(prefix)]


# Configurations


def test_the_set_is_of_those_who_plan_turns() -> None:
    assert EXTENDED.vector is ExtendedWeights
    assert RunConfig(agent="greedy-ilp", weights="extended").vector.names() == EXTENDED_NAMES
    with pytest.raises(
        ConfigError,
        match='weights "extended" are for the agents "ilp" and "greedy-ilp"; agent "eva" has weights of its own',
    ):
        RunConfig().changed(agent="eva", weights="extended")
    with pytest.raises(
        ConfigError, match='weights "thesis" are for the agents "ilp" and "greedy-ilp"; agent "hearthsim"'
    ):
        RunConfig().changed(agent="hearthsim", weights="thesis")
    with pytest.raises(
        ConfigError, match='backend "exact" does not support weights "extended"; use backend "auto"'
    ):
        RunConfig().changed(weights="extended", backend="exact")


def test_auto_is_settled_before_a_configuration_is_hashed() -> None:
    """So configurations without real cards and further weights say and hash what they did."""
    assert RunConfig().changed(backend="auto") == RunConfig()
    assert RunConfig().backend == "exact"
    assert RunConfig(weights="thesis").digest == RunConfig().digest != RunConfig(weights="extended").digest
    assert RunConfig(weights="extended").backend == "auto"
    assert RunConfig().changed(decks=["basic-mage"]).backend == "auto"
    assert "weights" in RunConfig().to_toml()
    assert "weights" not in RunConfig(agent="eva").to_toml()


# Profiles


def test_a_profile_of_eight_is_one_of_sixteen_with_zeros(tmp_path: Path) -> None:
    eight = find_profile("true-balanced")
    text = eight.to_toml()
    assert not any(f"{name} =" in text for name in EXTENDED_NAMES[N_WEIGHTS:])
    zeros = text.replace(
        "[weights]\n", "[weights]\n" + "".join(f"{name} = 0.0\n" for name in EXTENDED_NAMES[8:])
    )
    (tmp_path / "zeros.toml").write_text(zeros)
    sixteen = read_profile(tmp_path / "zeros.toml")
    assert list(sixteen.weights.full_array) == list(eight.weights.full_array)
    more = Profile("more", ExtendedWeights.from_array([*eight.weights.array, *[0.25] * 8]))
    (tmp_path / "more.toml").write_text(more.to_toml())
    assert read_profile(tmp_path / "more.toml").weights == more.weights
    (tmp_path / "wrong.toml").write_text(more.to_toml().replace("wound =", "wounds ="))
    with pytest.raises(Exception, match="unknown weight 'wounds'; nearest: wound"):
        read_profile(tmp_path / "wrong.toml")
    assert isinstance(eight.weights, Weights)


def test_profiles_name_whole_sets_of_weights(tmp_path: Path) -> None:
    """A profile of sixteen says sixteen, as before there were more; one with a later weight says all."""
    sixteen = Weights(*[0.5] * N_WEIGHTS, draw=0.1)
    assert list(sixteen.named()) == list(EXTENDED_NAMES)
    assert len(sixteen.array) == len(EXTENDED_NAMES)
    full = Weights(*[0.5] * N_WEIGHTS, hand=0.1)
    assert list(full.named()) == list(FULL_NAMES)
    (tmp_path / "full.toml").write_text(Profile("full", full).to_toml())
    found = read_profile(tmp_path / "full.toml").weights
    assert isinstance(found, FullWeights)
    assert list(found.full_array) == list(full.full_array)
    assert ExtendedWeights.class_for(["hand"]) is FullWeights
    assert ExtendedWeights.class_for(["draw"]) is Weights.class_for(["draw"]) is ExtendedWeights
    for n in (N_WEIGHTS, len(EXTENDED_NAMES), len(FULL_NAMES)):
        assert len(Weights.from_array([1.0] * n).array) == n
    with pytest.raises(WeightError, match="must be 8 numbers"):
        Weights.from_array([1.0] * (len(EXTENDED_NAMES) + 1))


# Runs


@compiled
def test_generations_have_sixteen_weights_and_sixteen_sigmas_or_as_ever_eight(tmp_path: Path) -> None:
    whole = run_new(tmp_path / "whole", EXTENDED)
    assert (
        columns(tmp_path / "whole", "weight_")
        == columns(tmp_path / "whole", "sigma_")
        == list(EXTENDED_NAMES)
    )
    run_new(tmp_path / "part", EXTENDED.changed(generations=1))
    with open_run(tmp_path / "part") as folder:
        extend_run(folder, 2)
    assert run_on(tmp_path / "part") == whole
    run_new(tmp_path / "thesis", TINY.changed(generations=0))
    assert columns(tmp_path / "thesis", "weight_") == list(EXTENDED_NAMES[:8])


@compiled
@pytest.mark.parametrize(("weights", "names"), [("extended", EXTENDED_NAMES), ("full", FULL_NAMES)])
def test_champions_and_clusters_of_further_sets_are_profiles_that_play(
    weights: str, names: tuple[str, ...], tmp_path: Path
) -> None:
    run_new(tmp_path / "run", EXTENDED.changed(weights=weights))
    (champion,) = best_profiles(tmp_path / "run")
    assert list(champion.weights.named()) == list(names)
    player = find_entrant(f"ilp:{tmp_path / 'run'}").player
    assert player.weights == tuple(champion.weights.array)
    written = write_profiles(cluster_profiles([tmp_path / "run"]), tmp_path / "groups")
    for exported in written:
        assert list(read_profile(exported.path).weights.named()) == list(names)


@compiled
def test_runs_of_other_sets_are_not_read_together(tmp_path: Path) -> None:
    run_new(tmp_path / "sixteen", EXTENDED.changed(generations=0))
    run_new(tmp_path / "eight", TINY.changed(generations=0))
    with pytest.raises(
        RunError, match=r"different sets of weights \(\S+ extended, \S+ thesis\); give only runs of one set"
    ):
        read_runs([tmp_path / "sixteen", tmp_path / "eight"])


@compiled
@pytest.mark.heavy
def test_a_run_and_a_report_on_real_cards(tmp_path: Path) -> None:
    run_new(tmp_path / "run", REAL)
    runs = read_runs([tmp_path / "run"])
    assert "overload" in runs.inert_weights, "these decks have nothing to overload"
    assert set(names_of(runs.individuals)) == set(EXTENDED_NAMES) - runs.inert_weights
    pool = LocalPool(1)
    page = make_report(runs, [tmp_path / "run"], pool.play).decode()
    pool.close()
    for said in ("wound", "hold", "Turns solved: "):
        assert said in page, said
