"""Workers that die, answer wrongly, twice or out of order: the same results, or a clear end."""

import random
import threading
from pathlib import Path

import pytest

from engine import Outcome
from evo.play import dispatch
from evo.play.dispatch import ChunkSizer, Dispatcher
from evo.play.pool import LocalPool
from evo.play.ray_process import play_range
from evo.play.results import (
    ChunkResult,
    PoolError,
    VersionError,
    WorkerDisagreesError,
    play_chunk,
    play_versions,
    refusal_reason,
    result_checksums,
)
from tests.evo.runs import run_new
from tests.faults import marks
from tests.faults.scripted import EXPECTED, GAMES, ROSTER, WRONG, Scripted, run, spoil
from tests.waiting import HANG

pytestmark = marks


@pytest.fixture(autouse=True)
def nobody_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine is no fault."""
    monkeypatch.setattr(dispatch, "MIN_LATE_SECONDS", HANG)
    monkeypatch.setattr(dispatch, "HUNG_SECONDS", HANG)


@pytest.mark.parametrize("seed", range(20))
def test_any_order_of_completion_gives_the_same(seed: int) -> None:
    played, notes = run(Scripted(lambda start, attempt: "", random.Random(seed)))
    assert (played == EXPECTED).all()
    assert notes == []


@pytest.mark.parametrize("how", WRONG)
def test_wrong_results_are_refused_told_and_played_again(how: str) -> None:
    """Every chunk's first answer is spoiled; the second is good."""
    workers = Scripted(lambda start, attempt: how if attempt == 1 and start else "")
    played, notes = run(workers)
    assert (played == EXPECTED).all()
    spoiled = len({start for start, _ in workers.started if start})
    assert len(notes) == spoiled
    assert all("is refused: " in note and "handed out again" in note for note in notes)


@pytest.mark.parametrize("how", WRONG)
def test_each_refusal_says_why(how: str) -> None:
    chunk = GAMES.select(slice(5, 12))
    good = play_chunk(ROSTER, chunk)
    assert refusal_reason(good, chunk, ROSTER) == ""
    assert WRONG[how] in refusal_reason(spoil(good, how), chunk, ROSTER)


def test_a_lie_that_never_ends_ends_the_run() -> None:
    with pytest.raises(
        PoolError, match="6 times without a good result; the last time, the result of worker 1"
    ):
        run(Scripted(lambda start, attempt: "short"))


def test_lost_workers_lose_no_game() -> None:
    pick = random.Random(2)
    lost = {start: pick.randrange(4) for start in range(len(GAMES))}
    workers = Scripted(lambda start, attempt: "lost" if attempt <= lost[start] else "")
    played, notes = run(workers)
    assert (played == EXPECTED).all()
    assert any("a worker was lost with games" in note for note in notes)


def test_notes_go_to_whoever_plays() -> None:
    """Two schedules on one dispatcher, as for two runs of a study: each gets its own notes."""
    dispatcher = Dispatcher(ChunkSizer(2, 0.0), 4)
    mine: list[str] = []
    yours: list[str] = []
    for notes, how in ((mine, "short"), (yours, "stale")):
        dispatcher.sizer._speed[True] = len(GAMES) / 20
        workers = Scripted(lambda start, attempt, how=how: how if start == 0 and attempt == 1 else "")
        dispatcher.play(workers, ROSTER, GAMES, lambda _: None, notes.append)
    assert len(mine) == len(yours) == 1
    assert "results of" in mine[0]
    assert "other games" in yours[0]


def test_a_result_that_comes_twice_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both copies of late chunks finish at the same time."""
    monkeypatch.setattr(dispatch, "MIN_LATE_SECONDS", 0.05)
    counted = [0]
    both = threading.Event()

    def script(start: int, attempt: int) -> str:
        if attempt == 2:
            both.set()
        return "hang" if start > len(GAMES) // 2 and not both.is_set() else ""

    dispatcher = Dispatcher(ChunkSizer(2, 0.0), 4)
    dispatcher.sizer._speed[True] = len(GAMES) / 20

    def count(games: int) -> None:
        counted[0] += games

    played = dispatcher.play(Scripted(script), ROSTER, GAMES, count, lambda _: None)
    assert (played == EXPECTED).all()
    assert counted[0] == len(GAMES)


def test_a_worker_that_plays_another_game_ends_the_run_with_a_report() -> None:
    """Possible results with matching sums: only replaying a game shows the difference."""

    class Liar(Scripted):
        def result(self, ticket: int) -> object:
            answer = super().result(ticket)
            assert isinstance(answer, ChunkResult)
            played = answer.played.copy()
            swap = {Outcome.FIRST_WINS: Outcome.SECOND_WINS, Outcome.SECOND_WINS: Outcome.FIRST_WINS}
            played["outcome"] = [swap[Outcome(one)] for one in played["outcome"]]
            return answer._replace(
                played=played, sums=result_checksums(played), worker="worker 7 on node-3 (arm64)"
            )

    dispatcher = Dispatcher(ChunkSizer(2, 0.0), 4)
    dispatcher.sizer._speed[True] = len(GAMES) / 20
    for kind in (Liar, Scripted):  # a study's other run stops too, whichever worker would answer
        with pytest.raises(WorkerDisagreesError) as error:
            dispatcher.play(kind(lambda start, attempt: ""), ROSTER, GAMES, lambda _: None, lambda _: None)
        said = str(error.value)
        for part in ("worker 7 on node-3 (arm64)", "plays a different game", "deal 0x", "requirements.lock"):
            assert part in said
        assert "restart those runs" not in said, "it is found out at once"


def test_who_is_found_out_late_is_told_which_runs_to_restart() -> None:
    """The third chunk is accepted unchecked; the fourth, replayed, shows that the worker plays other games."""
    dispatcher = Dispatcher(ChunkSizer(2, 0.0), 4)
    dispatcher.sizer._speed[True] = len(GAMES) / 20
    answers = [0]

    class LaterLiar(Scripted):
        def result(self, ticket: int) -> object:
            answer = super().result(ticket)
            assert isinstance(answer, ChunkResult)
            answers[0] += 1
            if answers[0] < 4:
                return answer._replace(worker="one")
            played = answer.played.copy()
            played["turns"] += 1
            return answer._replace(played=played, sums=result_checksums(played), worker="one")

    with pytest.raises(
        WorkerDisagreesError, match="1 of its chunks were accepted since it last agreed: restart those"
    ):
        dispatcher.play(LaterLiar(lambda start, attempt: ""), ROSTER, GAMES, lambda _: None, lambda _: None)


def test_which_chunks_are_replayed() -> None:
    """Chunks 1, 2, 4, 8, ... and each 200th, and the number of chunks between."""
    dispatcher = Dispatcher(ChunkSizer(2, 0.0), 4)
    replayed, between = [], 0
    for n in range(1, 1001):
        wanted, unchecked = dispatcher.replay_due("one")
        assert unchecked == between
        if wanted:
            replayed.append(n)
        between = 0 if wanted else between + 1
    assert replayed == sorted({2**k for k in range(10)} | {200 * k for k in range(1, 6)})


@pytest.mark.parametrize("key", ["rules", "cards", "kernels", "manaforge"])
def test_a_worker_of_another_version_refuses_to_play(key: str) -> None:
    expected = play_versions() | {key: "other"}
    with pytest.raises(VersionError, match=f"has {key} .* instead of other"):
        play_range(expected, ROSTER, GAMES, 0, 3)
    assert isinstance(play_range(play_versions(), ROSTER, GAMES, 0, 3), ChunkResult)


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_a_run_is_the_same_with_any_number_of_workers(workers: int, tmp_path: Path) -> None:
    pool = LocalPool(workers)
    pool._compiled.sizer._speed[True] = 40.0 * workers
    assert run_new(tmp_path / "a", pool=pool) == run_new(tmp_path / "b")
    pool.close()
