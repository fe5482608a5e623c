"""Learning by its command: the same bytes however often it is stopped, and clear words where it cannot be."""

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evo.config.files import read_config_as
from evo.learning.config import LearnConfig
from evo.learning.features import (
    FeatureSelection,
    SubsetResult,
    backward_elimination,
    leave_one_out,
    smallest_no_worse,
    subsets_table,
)
from evo.learning.folder import LearningError, open_learning, read_learning
from evo.learning.methods import METHODS, Samples
from evo.learning.run import agent_weights, collect_samples
from evo.play.games import play_schedule
from evo.stats.sequential import Sprt
from ilp_agent.features import FEATURES, N_FEATURES
from rivals import AGENTS
from tests.conftest import heavy
from tests.evo.runs import manaforge, manaforge_process

SMALL = [
    "decks=thesis-paladin,random-minions", "options=4", "rounds=2", "games=400", "test.games=4",
    "test.against=eva",
]  # fmt: skip
RESULTS = ("profile.toml", "curve.csv", "report.html", "rounds/0001.json", "rounds/0002.json")


def learn(
    out: Path, *more: str, run: Callable[..., subprocess.CompletedProcess[str]] = manaforge
) -> subprocess.CompletedProcess[str]:
    sets = [word for text in (*SMALL, *more) for word in ("--set", text)]
    return run("learn", "learn", "--out", out, *sets)


def said(finished: subprocess.CompletedProcess[str]) -> str:
    """What a command that failed wrote, in one line."""
    assert finished.returncode in (1, 2), finished.stderr
    assert "Traceback" not in finished.stderr
    return " ".join(finished.stderr.split())


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("learning") / "whole"
    assert learn(out).returncode == 0
    return out


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with one round."""
    out = tmp_path_factory.mktemp("learning") / "begun"
    assert learn(out, "rounds=1").returncode == 0
    return out


@pytest.mark.parametrize("kept", [0, 2, *heavy(1)])
def test_a_learning_that_was_stopped_comes_to_the_same_bytes(
    learned: Path, begun: Path, tmp_path: Path, kept: int, request: pytest.FixtureRequest
) -> None:
    out, whole = tmp_path / "stopped", learned
    shutil.copytree(begun, out)
    for number in range(kept, 2):
        (out / f"rounds/{number:04d}.json").unlink()
    for name in ("profile.toml", "curve.csv", "report.html"):
        (out / name).unlink()
    run = manaforge
    if kept == 1:  # the same bytes in another process, which draws its figures
        run = manaforge_process
        request.getfixturevalue("drawn")
        whole = Path(shutil.copytree(learned, tmp_path / "whole"))
        assert learn(whole).returncode == 0
    assert learn(out, "workers=1", run=run).returncode == 0
    for name in RESULTS:
        assert (out / name).read_bytes() == (whole / name).read_bytes(), name


def test_a_learning_against_another_version_of_an_agent_is_read_and_not_continued(
    learned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = Path(shutil.copytree(learned, tmp_path / "earlier"))
    monkeypatch.setitem(AGENTS, "eva", replace(AGENTS["eva"], version=2))
    folder = read_learning(copy)
    assert len(folder.rounds) == 3
    told = "was played with version 1 of eva, and this manaforge plays version 2; choose another --out"
    with pytest.raises(LearningError, match=told), open_learning(copy, folder.config) as again:
        again.check_rounds()


def test_what_a_round_comes_to_does_not_depend_on_how_many_follow(tmp_path: Path) -> None:
    assert learn(tmp_path / "longer", "rounds=1", "test.every=2").returncode == 0
    for name, rounds in (("longer", 2), ("whole", 2)):
        assert learn(tmp_path / name, f"rounds={rounds}", "test.every=2").returncode == 0
    for name in ("profile.toml", "curve.csv", "report.html", "rounds/0001.json"):
        assert (tmp_path / "longer" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("0002.json", "[" * 100_000),
        ("0001.parquet", None),
        *heavy(
            ("0002.json", '{"schema": 1, "round": 2, "tests": []}'),
            ("0001.parquet", "no table"),
        ),
    ],
)
def test_a_strangers_folder_ends_no_command_with_a_traceback(
    learned: Path, tmp_path: Path, name: str, content: str | None
) -> None:
    shutil.copytree(learned, tmp_path / "folder")
    if content is None:  # the samples of another round
        shutil.copy(learned / "rounds/0002.parquet", tmp_path / "folder/rounds" / name)
    else:
        (tmp_path / "folder/rounds" / name).write_text(content)
    done = manaforge("features", tmp_path / "folder", "--games", 2, "--no-alone")
    assert f"rounds/{name} is damaged" in said(done)


@pytest.mark.parametrize("method", ["logistic", "td"])
def test_other_methods_learn(tmp_path: Path, method: str) -> None:
    assert learn(tmp_path / method, f"method={method}", "test.every=0", "games=40").returncode == 0
    rounds = read_learning(tmp_path / method).rounds
    assert [content["round"] for content in rounds] == [0, 1, 2]
    assert np.abs(rounds[2]["weights"]).sum() > 0
    assert rounds[2]["loss"] < 2


def test_the_default_ruleset_is_that_of_the_decks() -> None:
    decks = ["decks=basic-mage,basic-hunter"]
    assert read_config_as(LearnConfig, "learn").ruleset == "thesis"
    assert read_config_as(LearnConfig, "learn", decks).ruleset == "standard"
    assert read_config_as(LearnConfig, "learn", [*decks, "ruleset=thesis"]).ruleset == "thesis"
    assert read_config_as(LearnConfig, "learn-classes").ruleset == "thesis", (
        "as the shipped value was learned"
    )


def test_samples_do_not_depend_on_workers() -> None:
    found = []
    for workers in (1, 3):
        config = read_config_as(LearnConfig, "learn", [*SMALL, f"workers={workers}", "games=600"])
        found.append(collect_samples(config, config.player.row, 1, lambda _: None))
    for one, other in zip(vars(found[0]).values(), vars(found[1]).values(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_profile_is_an_entrant(learned: Path) -> None:
    played = manaforge("play", f"lookahead:{learned}/profile.toml@4", "eva", "--seed", 3)
    assert played.returncode == 0, played.stderr
    assert "wins" in played.stdout


@pytest.mark.parametrize(
    ("more", "word"),
    [
        (["method=sarsa"], "paired, logistic, td"),
        (["gamse=3"], "nearest: games"),
        (["options=depht=3"], "the options are budget, depth"),
        (["decks=thesis-paladin,basic-mage"], "use one kind of deck"),
        (["test.against=evaa"], "nearest: eva"),
        (["profile=heartsim"], "--set profile=heartsim: profile: unknown profile of lookahead 'heartsim'"),
        (["options=hands=known"], "needs hands=off"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, more: list[str], word: str) -> None:
    assert word in said(learn(tmp_path / "wrong", *more))
    assert not (tmp_path / "wrong").exists()


def test_a_folder_of_something_else_is_refused(learned: Path, tmp_path: Path) -> None:
    assert "another configuration" in said(learn(learned, "seed=2"))
    (tmp_path / "notes.txt").write_text("mine")
    assert "is not empty and no learning folder" in said(learn(tmp_path))
    assert "is no folder of manaforge learn" in said(manaforge("features", tmp_path))


def planted(path: Path, *more: str) -> Path:
    """A folder whose samples say that attack decides, that health matters, and that nothing else does."""
    config = read_config_as(LearnConfig, "learn", [*SMALL, *more])
    pick = np.random.default_rng(9)
    features = np.zeros((4_000, N_FEATURES))
    features[:, :4] = pick.integers(-3, 4, size=(4_000, 4))
    chance = 1 / (1 + np.exp(-features[:, 0] - 0.3 * features[:, 1]))
    points = (pick.random(4_000) < chance).astype(float)
    with open_learning(path, config) as folder:
        folder.commit({"round": 0, "tests": []})
        zeros = [0.0] * N_FEATURES
        learned = {"weights": zeros, "intercept": 0.0, "scale": zeros, "loss": None, "calibration": []}
        numbers = dict.fromkeys(("games", "samples", "told"), 4_000)
        samples = Samples(features, points, np.arange(4_000))
        folder.commit({"round": 1, "tests": [], **learned, **numbers}, samples)
    return path


def test_backward_search_leaves_what_matters_for_the_end(tmp_path: Path) -> None:
    trial = FeatureSelection(read_learning(planted(tmp_path / "planted")), 8, Sprt(-400, 0))
    assert trial.known == list(FEATURES[:4])
    table = subsets_table(list(backward_elimination(trial, play_schedule)))
    assert list(table["features"]) == [3, 2, 1]
    assert set(table["left_out"][:2]) == set(FEATURES[2:4])
    assert table["left_out"].iloc[2] == "health"
    assert table["loss"].is_monotonic_increasing
    alone = subsets_table(list(leave_one_out(trial, play_schedule)))
    assert alone["left_out"][alone["loss"].argmax()] == "attack"


def test_enough_is_what_was_shown_to_be_no_worse() -> None:
    def tested(*verdicts: str) -> list[SubsetResult]:
        return [
            SubsetResult(3 - n, ("attack",) * n, 0.5, 100, 0.5, 0.4, 0.6, verdict)
            for n, verdict in enumerate(verdicts)
        ]

    assert smallest_no_worse(tested("", "", "")) is None
    assert smallest_no_worse(tested("worse", "no worse")) is None
    found = smallest_no_worse(tested("no worse", "", "no worse", "worse", "no worse"))
    assert found is not None
    assert found.features == 1


def test_features_of_a_folder_are_written(learned: Path) -> None:
    done = manaforge("features", learned, "--games", 4, "--no-alone", "--sprt", "elo0=-400 elo1=0")
    assert done.returncode == 0, done.stderr
    assert "left out one after the other" in done.stdout
    table = pd.read_csv(learned / "features.csv")
    assert list(table["features"]) == list(range(len(table), 0, -1))
    assert (learned / "features.html").stat().st_size > 10_000


def test_features_says_at_once_that_it_cannot_write(learned: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(learned, tmp_path / "copy"))
    (copy / "features.csv").unlink(missing_ok=True)
    (copy / "features.csv").mkdir()
    before = sorted(copy.iterdir())
    done = manaforge("features", copy, "--games", 4)
    assert "features.csv: it is a folder" in said(done)
    assert done.stdout == ""
    assert sorted(copy.iterdir()) == before
    with read_learning(copy) as held:
        held.acquire()
        assert "in use by another process" in said(manaforge("features", copy, "--games", 4))


def test_a_damaged_round_is_played_again(learned: Path, begun: Path, tmp_path: Path) -> None:
    out = tmp_path / "damaged"
    shutil.copytree(begun, out)
    (out / "rounds/0001.json").write_text("{")
    done = learn(out)
    assert done.returncode == 0
    assert "warning: rounds/0001.json is damaged" in done.stdout
    assert (out / "profile.toml").read_bytes() == (learned / "profile.toml").read_bytes()
    assert json.loads((out / "rounds/0002.json").read_text())["round"] == 2


# Samples of other learnings


def test_samples_of_another_learning_are_fitted_and_kept(tmp_path: Path) -> None:
    other, out = planted(tmp_path / "other"), tmp_path / "own"
    assert learn(out, f"also={other}", "rounds=1", "test.every=0").returncode == 0
    with_it = read_learning(out).rounds[1]
    assert learn(tmp_path / "alone", "rounds=1", "test.every=0").returncode == 0
    assert read_learning(tmp_path / "alone").rounds[1]["weights"] != with_it["weights"]
    before = [len(samples.points) for samples in read_learning(out).samples_to_fit()]
    assert before[0] == 4_000
    shutil.rmtree(other)
    assert learn(out, f"also={other}", "rounds=2", "test.every=0").returncode == 0
    sizes = [len(samples.points) for samples in read_learning(out).samples_to_fit()]
    assert sizes[:2] == before
    assert len(sizes) == 3
    assert read_learning(out).rounds[1] == with_it


def test_the_newest_rounds_are_fitted_and_the_same_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round is fitted on what a reader finds once it is committed."""
    path = planted(tmp_path / "planted")
    folder, new = read_learning(path), Samples(np.zeros((3, N_FEATURES)), np.zeros(3), np.arange(3))
    for most, wanted in ((4_003, [4_000, 3]), (4_002, [3]), (1, [3])):
        monkeypatch.setattr("evo.learning.methods.MAX_SAMPLES", most)
        assert [len(samples.points) for samples in folder.samples_to_fit(new)] == wanted
    assert [len(samples.points) for samples in folder.samples_to_fit()] == [4_000]


def test_another_learning_that_cannot_be_fitted_is_named_before_anything_is_begun(tmp_path: Path) -> None:
    other, own = planted(tmp_path / "other", "method=logistic"), tmp_path / "own"
    assert f"also: {other}: it was learned by method logistic" in said(learn(own, f"also={other}"))
    young = planted(tmp_path / "young")
    (young / "checksums.txt").write_text((young / "checksums.txt").read_text().split("0001 ")[0])
    assert f"also: {young}: it has no round yet" in said(learn(own, f"also={young}"))
    assert f"also: {tmp_path}/none: " in said(learn(own, f"also={tmp_path}/none"))
    assert not own.exists()


def test_a_strangers_folder_that_names_itself_is_refused(tmp_path: Path) -> None:
    path = planted(tmp_path / "loop")
    text = (path / "learning.toml").read_text()
    (path / "learning.toml").write_text(text.replace("also = []", f'also = ["{path}"]'))
    assert "also.json" in said(manaforge("features", path))


def test_samples_that_all_went_one_way_change_no_weight() -> None:
    config = read_config_as(LearnConfig, "learn", SMALL)
    features = np.random.default_rng(1).normal(size=(5, N_FEATURES))
    value = METHODS["paired"].learn(None, [Samples(features, np.ones(5), np.arange(5))], {"ridge": 1.0})
    assert agent_weights(value, config.initial_weights) == config.initial_weights
