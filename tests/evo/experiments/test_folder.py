"""Folders of experiments: begun again after a stop at any moment, and refused with words."""

import contextlib
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import ManaforgeError, Outcome, find_deck, find_ruleset
from evo.experiments import folder as experiment_folder
from evo.experiments.folder import ExperimentError, ExperimentFolder, ExperimentOptionError, open_experiment
from evo.play.games import GAME, Fault, Player, Roster, Schedule, play_schedule
from evo.play.matchups import Matchups, make_pairings
from evo.play.pool import LocalPool
from evo.seeds import Stream
from evo.storage import history
from tests.faults.shim import WRITES, Shim


def test_a_folder_that_was_only_begun_is_begun_again(tmp_path: Path) -> None:
    path = tmp_path / "new"
    path.mkdir()
    (path / "lock").touch()
    (path / "experiment.json.tmp").write_text("{")
    with open_experiment(path, "ablate", {"games": 2}) as folder:
        assert folder.read_json_file("experiment.json")["games"] == 2
    with open_experiment(path, "ablate", {"games": 2}):
        pass


@pytest.mark.parametrize("content", ['{"kind": NaN}', "{", "[]", '{"kind": "ablate"}'])
def test_another_experiment_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "experiment.json").write_text(content)
    with pytest.raises(ExperimentOptionError, match="choose another --out"):
        open_experiment(tmp_path, "ablate", {"games": 2})


def test_another_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(ExperimentOptionError, match="not empty"):
        open_experiment(tmp_path, "ablate", {"games": 2})


ROSTER = Roster(
    (Player(kind="random"), Player(kind="aggro")), (find_deck("thesis-paladin"),), find_ruleset("thesis")
)
POINTS = "points/one.json"
GAMES = "games/0001.parquet"


def schedules() -> list[Schedule]:
    matchups = [
        Matchups(make_pairings(2, "gauntlet", ()), 1, 4, seed, (Stream.EXPERIMENT, 9)) for seed in range(3)
    ]
    return [one.schedule(0, len(one))[0] for one in matchups]


def play(folder: ExperimentFolder) -> int:
    """Keep what an experiment would, where it is missing; returns how many games were played for it."""
    played = []

    class Counting(LocalPool):
        def play(self, roster: Roster, games: Schedule, *_: object) -> np.ndarray:
            played.append(len(games))
            return play_schedule(roster, games)

    kept: list[int] = []
    play = folder.caching_play(Counting(1), kept.append)
    found = [play(ROSTER, games) for games in schedules()]
    for games, results in zip(schedules(), found, strict=True):
        whole = play_schedule(ROSTER, games)
        assert (results[["outcome", "turns", "fault"]] == whole[["outcome", "turns", "fault"]]).all()
    assert sum(played) + sum(kept) == sum(map(len, schedules()))
    if not folder.read_json_file(POINTS):
        folder.commit_file(POINTS, b'{"points": [1, 2]}')
    return sum(played)


def begin(path: Path) -> ExperimentFolder:
    return open_experiment(path, "ablate", {"games": 2})


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("experiment") / "whole"
    with begin(path) as folder:
        assert play(folder) == sum(map(len, schedules()))
    return path


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "copy"))


KEPT = ("experiment.json", POINTS, "games/0000.parquet", GAMES, "games/0002.parquet")


def bytes_of(path: Path) -> tuple[dict[str, bytes], set[str]]:
    """What is kept, and the lines that say so: damage changes their order."""
    lines = (path / "checksums.txt").read_text().splitlines()
    return {name: (path / name).read_bytes() for name in KEPT}, set(lines)


def test_games_that_were_kept_are_not_played_again(copy: Path, whole: Path) -> None:
    with begin(copy) as folder:
        assert play(folder) == 0
        assert not folder.problems
    assert bytes_of(copy) == bytes_of(whole)


@pytest.mark.parametrize("name", [POINTS, GAMES, "experiment.json"])
def test_every_flipped_bit_is_noticed(copy: Path, whole: Path, name: str) -> None:
    content = (copy / name).read_bytes()
    pick = np.random.default_rng(1)
    places = range(len(content)) if len(content) < 300 else pick.integers(len(content), size=200)
    with begin(copy) as folder:
        for place in places:
            flipped = bytearray(content)
            flipped[place] ^= 1 << int(pick.integers(8))
            (copy / name).write_bytes(flipped)
            assert (
                folder.damage_of(name) == f"{name} is damaged: its checksum is not the one in checksums.txt"
            )
    with begin(copy) as folder:
        assert folder.problems[0] == f"{name} is damaged: its checksum is not the one in checksums.txt"
        assert "was set aside" in folder.problems[1]
        assert play(folder) == (4 if name == GAMES else 0)
    assert bytes_of(copy) == bytes_of(whole)


@pytest.mark.parametrize("damage", ["cut", "flip", "gone", "empty"])
@pytest.mark.parametrize("name", [*KEPT, "checksums.txt"])
def test_damage_is_named_and_played_again(copy: Path, whole: Path, name: str, damage: str) -> None:
    file = copy / name
    content = file.read_bytes()
    if damage == "gone":
        file.unlink()
    else:
        changed = {"cut": content[:-7], "flip": content[:9] + b"~" + content[10:], "empty": b""}
        file.write_bytes(changed[damage])
    with begin(copy) as folder:
        assert name in " ".join(folder.problems)
        play(folder)
    assert bytes_of(copy) == bytes_of(whole)
    with begin(copy) as folder:
        assert not folder.problems


def test_what_cannot_be_read_is_left_as_it_is(
    copy: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = history.read_bytes

    def refusing(path: Path, *most: int) -> bytes:
        if path.name == "one.json":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path, *most)

    monkeypatch.setattr(history, "read_bytes", refusing)
    with pytest.raises(ExperimentOptionError, match=r"one.json: Permission denied"):
        begin(copy)
    assert bytes_of(copy) == bytes_of(whole)


def test_a_folder_from_before_there_were_checksums_goes_on(copy: Path) -> None:
    (copy / "checksums.txt").unlink()
    shutil.rmtree(copy / "games")
    about = json.loads((copy / "experiment.json").read_text())
    del about["schema"]
    (copy / "experiment.json").write_text(json.dumps(about))
    with begin(copy) as folder:
        assert not folder.problems
        assert folder.read_json_file(POINTS) == {"points": [1, 2]}
    with pytest.raises(ExperimentOptionError, match="was begun with other options"):
        open_experiment(copy, "ablate", {"games": 3})


@pytest.mark.parametrize("n", range(1, 12))
def test_a_folder_from_before_goes_on_wherever_its_first_command_ended(copy: Path, n: int) -> None:
    older = json.loads((copy / "experiment.json").read_text())
    del older["schema"]
    (copy / "checksums.txt").unlink()
    (copy / "experiment.json").write_text(json.dumps(older))
    with Shim(WRITES, copy, n), contextlib.suppress(ManaforgeError, OSError):
        begin(copy).close()
    with begin(copy) as folder:
        assert folder.read_json_file(POINTS) == {"points": [1, 2]}


def test_a_bad_line_spoils_no_other(copy: Path, whole: Path) -> None:
    file = copy / "checksums.txt"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*lines[:2], "x" + lines[2], *lines[3:]]))
    with begin(copy) as folder:
        assert folder.problems == ["checksums.txt: line 3 is torn or out of place"]
        assert play(folder) == 4
    assert bytes_of(copy) == bytes_of(whole)


@pytest.mark.parametrize("n", range(1, 8))
def test_what_is_kept_after_a_full_disk_counts(copy: Path, n: int) -> None:
    with begin(copy) as folder:
        with Shim(("write", "fsync"), copy, n), contextlib.suppress(ExperimentError):
            folder.commit_file("points/two.json", b"{}")
        folder.commit_file("points/three.json", b'{"three": 3}')
    with begin(copy) as folder:
        assert not folder.problems
        assert folder.read_json_file("points/three.json") == {"three": 3}
        assert folder.read_json_file(POINTS) == {"points": [1, 2]}


def test_a_command_killed_as_it_began_is_no_damage(tmp_path: Path) -> None:
    with begin(tmp_path / "made"):
        pass
    (tmp_path / "made/checksums.txt").unlink()
    with begin(tmp_path / "made") as folder:
        assert not folder.problems


def test_results_of_other_games_are_refused(copy: Path) -> None:
    """With a checksum that fits, as the maker of a folder can."""
    with begin(copy) as folder:
        folder.commit_file(GAMES, b"no table")
        with pytest.raises(ExperimentError, match=r"games/0001.parquet: it is not a parquet file"):
            play(folder)


def test_a_name_in_the_checksums_leads_nowhere_else(copy: Path) -> None:
    file = copy / "checksums.txt"
    whole = file.read_text()
    for name in ("../whole/lock", "lock", "checksums.txt", "run/config.toml"):
        file.write_text(f"{whole}{name} {'0' * 64}\n")
        with begin(copy) as folder:
            assert folder.problems == ["checksums.txt: line 6 is torn or out of place"]
            with pytest.raises(ExperimentError, match="in use by another process"):
                begin(copy)


class StoppedError(Exception):
    """A stop after some games."""


SETS = Matchups(make_pairings(2, "gauntlet", ()), 1, 100, 5, (Stream.EXPERIMENT, 9))
LONG = SETS.schedule(0, len(SETS))[0]
"""A schedule that `FakePool` plays."""

N = len(LONG)


class FakePool(LocalPool):
    """Pool of one worker that makes up the result of each game from its deal; it may stop or fail.

    Attributes:
        sizes: numbers of games asked for.
        faulty: number of a game of `LONG` that an agent loses by a fault.
    """

    def __init__(self, stop_after: int = 10**9, faulty: int = -1, seconds: float = 0.0) -> None:
        super().__init__(1)
        self.sizes: list[int] = []
        self._stop_after, self.faulty, self._seconds = stop_after, faulty, seconds

    def play(self, _: Roster, games: Schedule, *__: object) -> np.ndarray:
        if sum(self.sizes) >= self._stop_after:
            raise StoppedError
        self.sizes.append(len(games))
        played = np.zeros(len(games), GAME)
        played["outcome"], played["turns"] = Outcome.FIRST_WINS, 1 + games.keys % 20
        if self.faulty >= 0:
            same = (games.keys == LONG.keys[self.faulty]) & (games.players == LONG.players[self.faulty]).all(
                1
            )
            played["fault"][same] = Fault.AGENT_ERROR
        time.sleep(self._seconds * len(games))
        return played


def play_long(path: Path, stop_after: int = 10**9, **options: Any) -> tuple[np.ndarray, int]:
    """Results of the long schedule, and how many of its games were played."""
    pool = FakePool(stop_after, **options)
    with contextlib.closing(pool), open_experiment(path, "test", {}) as folder:
        return folder.caching_play(pool, lambda _: None)(ROSTER, LONG), sum(pool.sizes)


def all_of(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of 16 games, then of 1 game each."""
    monkeypatch.setattr(experiment_folder, "FIRST_PART", 16)
    monkeypatch.setattr(experiment_folder, "PART_SECONDS", 0.0)


@pytest.fixture
def stopped(tmp_path: Path, small_parts: None) -> Path:
    """A folder whose command was stopped after 16 + 1 + 1 + 1 games."""
    with pytest.raises(StoppedError):
        play_long(tmp_path / "stopped", 19)
    assert len(parts_in(tmp_path / "stopped")) == 4
    return tmp_path / "stopped"


def parts_in(path: Path) -> list[Path]:
    return sorted((path / "parts").glob("*"))


@pytest.mark.parametrize(("stop", "kept"), [(1, 16), (17, 17), (60, 60)])
@pytest.mark.usefixtures("small_parts")
def test_a_stopped_schedule_goes_on_where_it_stopped(tmp_path: Path, stop: int, kept: int) -> None:
    whole, games = play_long(tmp_path / "whole")
    assert games == len(whole) == N
    path = tmp_path / "stopped"
    with pytest.raises(StoppedError):
        play_long(path, stop)
    results, left = play_long(path)
    assert results.tobytes() == whole.tobytes()
    assert left == N - kept
    assert all_of(path) == all_of(tmp_path / "whole")
    assert not (path / "parts").exists()


def damaged(file: Path) -> None:
    file.write_bytes(b"x")


@pytest.mark.parametrize(
    ("spoil", "number", "kept"), [(damaged, 0, 0), (Path.unlink, 0, 0), (damaged, 2, 17)]
)
def test_games_from_a_damaged_part_on_are_played_again_and_kept(
    stopped: Path, spoil: Callable[[Path], None], number: int, kept: int
) -> None:
    spoil(parts_in(stopped)[number])
    with pytest.raises(StoppedError):
        play_long(stopped, 30)
    results, left = play_long(stopped)
    assert results.tobytes() == play_long(stopped.with_name("whole"))[0].tobytes()
    assert left == N - kept - 30, "parts are kept again"
    assert not (stopped / "parts").exists()


@pytest.mark.parametrize("name", ["0000-000000001-odd.parquet", "0000-.parquet", "0000-zdir.parquet", "odd"])
@pytest.mark.parametrize("make", [Path.touch, Path.mkdir])
def test_a_strange_file_among_the_parts_is_left_alone(
    stopped: Path, name: str, make: Callable[[Path], None]
) -> None:
    make(stopped / "parts" / name)
    results, left = play_long(stopped)
    assert left == N - 19
    assert results.tobytes() == play_long(stopped.with_name("whole"))[0].tobytes()
    assert [file.name for file in parts_in(stopped)] == [name]


def test_parts_left_of_a_committed_schedule_are_removed_as_the_folder_is_opened(stopped: Path) -> None:
    left = {file.name: file.read_bytes() for file in parts_in(stopped)}
    play_long(stopped)
    (stopped / "parts").mkdir()
    for name, content in left.items():
        (stopped / "parts" / name).write_bytes(content)
    open_experiment(stopped, "test", {}).close()
    assert not (stopped / "parts").exists()


@pytest.mark.parametrize("name", ["parts", "games", "points"])
def test_a_file_in_place_of_a_subfolder_is_refused(tmp_path: Path, name: str) -> None:
    open_experiment(tmp_path, "test", {}).close()
    (tmp_path / name).touch()
    with pytest.raises(ExperimentOptionError, match=rf"/{name} is a file where .* move it away"):
        open_experiment(tmp_path, "test", {})


@pytest.mark.usefixtures("small_parts")
def test_parts_before_a_fault_are_kept_and_none_after_it(tmp_path: Path) -> None:
    played, games = play_long(tmp_path, faulty=20)
    assert games == N
    assert np.flatnonzero(played["fault"]).tolist() == [20]
    assert len(parts_in(tmp_path)) == 1 + 4
    results, left = play_long(tmp_path)
    assert left == N - 20
    assert not results["fault"].any()


def test_parts_begin_small_and_later_schedules_go_on_with_their_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = FakePool(seconds=0.001)
    monkeypatch.setattr(experiment_folder, "MAX_PART", 20)
    with contextlib.closing(pool), open_experiment(tmp_path, "test", {}) as folder:
        play = folder.caching_play(pool, lambda _: None)
        for _ in range(2):
            play(ROSTER, LONG)
    assert pool.sizes[:4] == [2, 8, 20, 20]
    assert sum(pool.sizes) == 2 * N
    assert pool.sizes.count(2) == 1
