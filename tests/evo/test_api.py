"""Runs, tournaments, arenas and reports from Python."""

import functools
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import evo
import manaforge
from engine import ManaforgeError
from engine.errors import WrongValueError
from evo.analysis.tables import weights_of
from evo.cli.main import app
from evo.config.run_config import ConfigError, RunConfig
from evo.evolution.session import new_manifest
from evo.storage.run_folder import RunError, create_run
from evo.strategies import StrategyError
from ilp_agent.weights import ExtendedWeights, Weights
from tests.conftest import UNCOMPILED
from tests.evo.runs import TINY, bytes_of
from tests.evo.runs import manaforge as run_command

SMALL = {"generations": 1, "mu": 3, "lambda_": 3, "games": 2, "decks": ["thesis-paladin"]}
FINAL = {"games": 40, "benchmark_games": 2}


def test_a_run_is_that_of_the_command_and_a_second_call_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = evo.evolve("quickstart", out="a", final=FINAL, pool="local", **SMALL)
    assert "generation 1/1" in capsys.readouterr().out
    words = ["evolve", "quickstart", "--out", "b", "--pool", "local", "--set", "decks=thesis-paladin"]
    for key, value in {
        **SMALL,
        "lambda": 3,
        **{f"final.{key}": value for key, value in FINAL.items()},
    }.items():
        words += ["--set", f"{key}={value}"] if key not in ("lambda_", "decks") else []
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert bytes_of(Path("a")) == bytes_of(Path("b"))
    again = evo.evolve("quickstart", out="a", final=FINAL, pool="local", quiet=True, **SMALL)
    assert capsys.readouterr().out == ""
    assert again.champion == done.champion
    assert list(done.weights.index) == list(done.champion.weights.names())
    assert done.weights["share"].sum() == pytest.approx(1)
    assert set(done.individuals["generation"]) == {0, 1}
    assert done.final["candidate"].iloc[0] == done.champion.provenance["candidate"]
    assert set(done.validation["generation"]) == {0}
    assert repr(done) == "EvolvedRun(path=PosixPath('a'))"
    page = evo.write_report("a", quiet=True)
    assert page.path.read_text().startswith("<!DOCTYPE html>")
    assert len(page.population) == 3


def test_wrong_values_are_named(tmp_path: Path) -> None:
    for changes, told in (
        ({"genrations": 3}, "unknown key 'genrations'; nearest: generations"),
        ({"final": {"game": 3}}, r"unknown key 'final.game'; nearest: final.games"),
        ({"lambda_": 0}, "lambda must be at least 1, got 0"),
        ({"pool": "rai"}, "unknown pool 'rai'"),
    ):
        with pytest.raises(ManaforgeError, match=told):
            evo.evolve(TINY, out=tmp_path / "run", **changes)
    assert not (tmp_path / "run").exists()
    with pytest.raises(ManaforgeError, match="nearest: quickstart"):
        evo.evolve("quikstart")
    with pytest.raises(RunError, match="holds none"):
        evo.write_report(tmp_path)
    with pytest.raises(ManaforgeError, match="style: unknown format 'swiss'"):
        evo.play_tournament("aggro", "random", decks="thesis-paladin", style="swiss")
    with pytest.raises(AttributeError, match="has no attribute 'evolv'"):
        _ = evo.evolv


def test_a_tournament_and_an_arena_are_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = evo.play_tournament(
        "ilp:keep-alive", "aggro", decks=["thesis-paladin", "hearthsim-basic"], games=4, out="t", quiet=True
    )
    assert done.ratings["rank"].tolist() == [1, 2]
    assert len(done.games) == done.summary["games"] == 16
    assert done.results.to_csv(index=False) == Path("t/results.csv").read_text()
    assert len(done.meetings) == 1
    assert set(done.decks["deck"]) == {"thesis-paladin", "hearthsim-basic"}
    Path("arena.toml").write_text(
        'schema = 1\nchampion = "ilp:keep-alive"\nentrants = ["aggro"]\ndecks = ["thesis-paladin"]\ngames = 4\n'
    )
    arena = evo.play_arena("arena.toml", out="a", quiet=True)
    assert set(arena.ratings["entrant"]) == {"champion", "aggro"}
    assert "manaforge arena arena.toml" in Path("a/tournament.html").read_text()


def test_a_run_is_read_finished_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    seen: list[manaforge.Generation] = []

    def stop(generation: manaforge.Generation) -> None:
        seen.append(generation)
        if generation.number == 1:
            raise RuntimeError("enough")

    call = functools.partial(manaforge.evolve, TINY, out="runs/one", generations=2, quiet=True)
    with pytest.raises(RuntimeError, match="enough"):
        call(on_generation=stop)
    half = manaforge.read_run("one")  # a name in runs/
    assert set(half.individuals["generation"]) == {0, 1}
    assert half.final.empty
    for read in ("champion", "weights"):
        with pytest.raises(
            ManaforgeError, match="has no champion yet; to finish it: manaforge resume runs/one"
        ):
            getattr(half, read)
    whole = call(on_generation=seen.append)
    assert [generation.number for generation in seen] == [0, 1, 2]
    again = manaforge.read_run("runs/one")
    assert again.champion == whole.champion
    committed = again.individuals[again.individuals["generation"] == 2]
    assert seen[-1].individuals["individual"].tolist() == committed["individual"].tolist()
    assert seen[-1].individuals["fitness"].tolist() == committed["fitness"].tolist()
    assert seen[-1].individuals["weight_face"].tolist() == committed["weight_face"].tolist()
    assert seen[-1].best["fitness"] == committed["fitness"].max()
    with pytest.raises(RunError, match="none"):
        manaforge.read_run("none")


def test_a_run_without_a_generation_is_empty(tmp_path: Path) -> None:
    create_run(tmp_path / "run", TINY, new_manifest(TINY)).close()
    begun = manaforge.read_run(tmp_path / "run")
    assert begun.profile is None
    assert all(table.empty for table in (begun.individuals, begun.final, begun.validation))


def test_a_damaged_champion_is_named(tmp_path: Path) -> None:
    run = manaforge.evolve(TINY, out=tmp_path / "run", generations=0, quiet=True)
    final, champion = run.path / "final.parquet", run.path / "champion.toml"
    for file, content in ((final, b"damaged"), (champion, champion.read_bytes()[:-9]), (final, None)):
        whole = file.read_bytes()
        file.write_bytes(content) if content is not None else file.unlink()
        with pytest.raises(RunError, match=f"{file.name} does not agree .* by manaforge resume"):
            manaforge.read_run(run.path)
        file.write_bytes(whole)
    assert manaforge.read_run(run.path).champion == run.champion


def test_a_champion_of_another_version_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = manaforge.evolve(TINY, out=tmp_path / "run", generations=0, quiet=True)
    monkeypatch.setattr(RunConfig, "digest", "of another version of the card effects")
    assert manaforge.read_run(run.path).champion == run.champion


def sphere(weights: pd.DataFrame) -> pd.Series:
    """Best where all weights are a half."""
    return -((weights - 0.5) ** 2).sum(axis=1)


@pytest.mark.parametrize("sizes", [("es", 8, 8), ("cma", 4, 8), ("spsa", 2, 2)], ids=lambda sizes: sizes[0])
def test_a_fitness_of_ones_own_is_optimised_and_reproducible(sizes: tuple[str, int, int]) -> None:
    changes = dict(zip(("strategy", "mu", "lambda_"), sizes, strict=True))
    seen: list[manaforge.Generation] = []
    found = manaforge.optimise(sphere, generations=30, on_generation=seen.append, **changes)
    assert seen == found
    assert [generation.number for generation in found] == list(range(31))
    assert found[-1].best["fitness"] > found[0].individuals["fitness"].mean()
    assert weights_of(found[0].individuals) == [f"weight_{name}" for name in TINY.vector.names()]
    again = manaforge.optimise(sphere, generations=30, **changes)
    assert all(one.individuals.equals(other.individuals) for one, other in zip(found, again, strict=True))


def test_a_fitness_that_is_none_is_refused() -> None:
    for wrong in ([1.0], [float("nan")] * 8, ["good"] * 8, [[1.0], [1.0, 2.0]], None):
        with pytest.raises(StrategyError, match=r"fitness must (be|return) 8"):
            manaforge.optimise(lambda _, wrong=wrong: wrong)


def test_parameters_may_have_the_names_of_other_columns() -> None:
    names = ["individual", "birth", "fitness", "survived"]
    config = RunConfig(
        agent="python:some.module:Agent",
        parameters=[{"name": name, "low": 0.0, "high": 1.0} for name in names],
    )
    (first,) = manaforge.optimise(lambda table: table["birth"], config, generations=0)
    assert first.individuals["fitness"].tolist() == first.individuals["weight_birth"].tolist()
    assert list(first.individuals) == [*names, *(f"weight_{name}" for name in names)]


def test_win_rates_are_those_of_a_tournament_on_these_deals() -> None:
    weights = (
        manaforge.find_profile("keep-alive").weights.array,
        manaforge.find_profile("true-balanced").weights.array,
    )
    call = functools.partial(manaforge.win_rates, decks="thesis-paladin,thesis-warrior", games=20)
    rates = call(weights, ["aggro", "ilp:keep-alive", "ilp:true-balanced"])
    assert rates.shape == (2, 3)
    assert rates[0, 1] == rates[1, 2] == 0.5  # against itself, each deal from both seats
    assert rates[0, 2] == pytest.approx(1 - rates[1, 1])
    assert call(weights[1:], ["aggro"])[0] == rates[1, 0], "the rate of one player depends on no other"
    table = pd.DataFrame(weights, columns=TINY.vector.names()).assign(fitness=1.0)[::-1]
    reordered = table[[*reversed(table.columns)]]
    for named in (reordered, reordered.add_prefix("weight_")):
        assert call(named, "aggro")[:, 0].tolist() == rates[::-1, 0].tolist()
    assert call(weights, "aggro,ilp:keep-*,aggro").tolist() == rates[:, :2].tolist()


def test_win_rates_of_all_sixteen_weights() -> None:
    eight, sixteen = Weights.names(), ExtendedWeights.names()
    table = pd.DataFrame([[0.5] * 16, [0.5] * 8 + [0.0] * 8], columns=sixteen)
    call = functools.partial(
        manaforge.win_rates, opponents=["aggro", "hearthsim"], decks="basic-mage,basic-hunter", games=8
    )
    rates = call(table)
    assert rates[0].tolist() != rates[1].tolist()
    assert call(table.to_numpy()).tolist() == rates.tolist()
    assert call(table[[*eight]])[1].tolist() == rates[1].tolist()
    with pytest.raises(WrongValueError, match="but not hero, weapon, .*, overload; give all of lethal, "):
        call(table[[*eight, "draw"]])
    with pytest.raises(WrongValueError, match="but not face; give all of lethal, "):
        call(table[[*eight]].drop(columns="face").assign(fitness=1.0))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"games": 3}, "games must be a multiple of 2, got 3"),
        ({"games": 4.0}, r"games must be a whole number, got 4\.0"),
        ({"games": 0}, "games must be at least 2, got 0"),
        ({"workers": -1}, "workers must be at least 0, got -1"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"decks": "thesis-palladin"}, "nearest: thesis-paladin"),
        ({"decks": []}, "decks must not be empty"),
        ({"decks": ["thesis-paladin"] * 2}, "the same deck twice"),
        ({"ruleset": "thesi"}, "nearest: thesis"),
        ({"opponents": []}, "opponents must name at least one entrant"),
        ({"opponents": "ilp:agro"}, "unknown profile 'agro'"),
        ({"agent": "aggro"}, "unknown agent with weights 'aggro'"),
        ({"weights": [[1.0, 2.0]]}, r"8, 16 or 28 columns \(lethal, .*got shape \(1, 2\)"),
        ({"weights": [[1.0, 2.0], [1.0]]}, "weights must be rows of equally many numbers, got"),
        ({"weights": [["much"] * 8]}, "weights must be rows of equally many numbers, got"),
        ({"weights": [[float("nan")] * 8]}, "lethal must be a finite number"),
    ],
)
def test_what_win_rates_does_not_take_is_named(changes: dict[str, object], told: str) -> None:
    arguments = {"weights": [[0.5] * 8], "opponents": "aggro", "decks": "thesis-paladin", **changes}
    with pytest.raises(ManaforgeError, match=told):
        manaforge.win_rates(**arguments)


def test_the_package_names_what_it_offers() -> None:
    assert set(evo.__all__) < set(manaforge.__all__) == set(dir(manaforge))
    assert all(getattr(manaforge, name).__doc__ for name in manaforge.__all__)
    result = manaforge.play(
        manaforge.make_agent("ilp:keep-alive"), manaforge.RandomAgent(), ("thesis-paladin",) * 2, seed=1
    )
    assert result.turns > 0
    code = "import sys, evo.api; sys.exit(any(name.startswith('evo.cli') for name in sys.modules))"
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": str(Path.cwd())}
    )


def test_a_call_in_another_thread(tmp_path: Path) -> None:
    paths: list[Path] = []
    thread = threading.Thread(
        target=lambda: paths.append(evo.evolve(TINY, out=tmp_path / "run", quiet=True).path)
    )
    thread.start()
    thread.join()
    assert paths == [tmp_path / "run"]


QUIET = """
import evo
evo.play_tournament("pass", "random", decks="thesis-paladin", games=2, out="t", pool="local", quiet=True)
"""


@pytest.mark.heavy
@pytest.mark.skipif(UNCOMPILED, reason="nothing is compiled in this mode")
def test_quiet_says_nothing_of_compiling(tmp_path: Path) -> None:
    """In a process of its own, whose cache is empty."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path.cwd()),
        "MANAFORGE_CACHE_DIR": str(tmp_path / "cache"),
    }
    words = [sys.executable, "-c", QUIET]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
    assert list((tmp_path / "cache" / "kernels").rglob("*.part")), "it did compile"


LONG = """
import evo
try:
    evo.evolve("quickstart", out="run", generations=500, pool="local")
except KeyboardInterrupt as stop:
    print("stopped:", stop)
"""


@pytest.mark.heavy
def test_an_interrupt_is_pythons_own_and_loses_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    with subprocess.Popen(
        [sys.executable, "-uc", LONG], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        for line in run.stdout:
            if line.startswith("generation 1/"):
                run.send_signal(signal.SIGINT)
                break
        rest = run.stdout.read()
    assert run.returncode == 0
    assert rest.strip().endswith("stopped: stopped by signal 2")
    assert len(list((tmp_path / "run" / "generations").iterdir())) >= 2


def test_cards_and_actions_of_patched_games(tmp_path: Path) -> None:
    decks, patch = "basic-mage,basic-hunter", "Fireball cost=0 damage=9"
    call = functools.partial(evo.play_tournament, "aggro", "random", decks=decks, games=4, quiet=True)
    plain = call(actions=True, out=tmp_path / "plain")
    patched = call(patches=patch, actions=True, out=tmp_path / "patched")
    assert set(plain.actions["game"]) == set(patched.actions["game"]) == set(range(16))
    mana = patched.actions.loc[patched.actions["card"] == "Fireball", "mana"]
    assert mana.min() < 4 <= plain.actions.loc[plain.actions["card"] == "Fireball", "mana"].min()
    with pytest.raises(WrongValueError, match="play the tournament with actions=True"):
        _ = call(out=tmp_path / "without").actions
    line = [
        "cards",
        "basic-mage",
        "--field",
        "basic-hunter",
        "--player",
        "aggro",
        "--games",
        "20",
        "--patch",
        patch,
    ]
    assert CliRunner().invoke(app, [*line, "--out", str(tmp_path / "cards")]).exit_code == 0
    ours = manaforge.card_worth("basic-mage", "basic-hunter", player="aggro", games=20, patches=[patch])
    pd.testing.assert_frame_equal(ours, pd.read_csv(tmp_path / "cards" / "cards.csv"), check_dtype=False)
    with pytest.raises(WrongValueError, match="games must be even"):
        manaforge.card_worth("basic-mage", "basic-hunter", games=3)


def test_the_verdict_of_a_deck_is_that_of_the_command(tmp_path: Path) -> None:
    field, patch = "basic-hunter,basic-mage", "Fireball cost=9"
    ours = manaforge.deck_verdict("basic-paladin", field, players="aggro,random", games=20, patches=patch)
    command = ["verdict", "basic-paladin", "--field", field, "--players", "aggro,random", "--games", 20]
    told = run_command(*command, "--patch", patch, "--out", tmp_path / "verdict")
    assert told.returncode == 0, told.stderr
    pd.testing.assert_frame_equal(ours, pd.read_csv(tmp_path / "verdict" / "verdict.csv"))
    with pytest.raises(WrongValueError, match="must be even"):
        manaforge.deck_verdict("basic-paladin", field, games=5)


def test_patches_that_balance_a_field(tmp_path: Path) -> None:
    small = {"decks": ["basic-mage", "basic-hunter"], "ruleset": "standard", "games": 20}
    small |= {"population": 4, "generations": 1, "most_measured": 1}
    small |= {"edits": [{"card": "*", "numbers": ["cost", "attack"]}]}
    measure = [{"entrant": "eva", "games": 20, "adapt_games": 200}]
    found = manaforge.balance("balance", out=tmp_path / "fair", quiet=True, measure=measure, **small)
    assert set(found.matchups["player"]) == {"eva", "eva (adapted)"}
    assert len(found.adaptations) == found.patches["patch"].nunique()
    assert found.verdict in (found.path / "balance.html").read_text(encoding="utf-8")
    again = manaforge.balance("balance", out=tmp_path / "fair", quiet=True, measure=measure, **small)
    pd.testing.assert_frame_equal(again.matchups, found.matchups)
    with pytest.raises(ConfigError, match="population"):
        manaforge.balance("balance", population=1)
