"""Workers that are late or hang, and the number of chunks in flight."""

import threading
import time
from types import SimpleNamespace

import pytest

from evo.play import dispatch
from evo.play.dispatch import ChunkSizer, Dispatcher
from tests.faults import marks
from tests.faults.scripted import EXPECTED, GAMES, ROSTER, Scripted, run
from tests.waiting import HANG, Clock

pytestmark = marks


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The dispatcher's time: it passes only while workers are waited for."""
    found = Clock()
    monkeypatch.setattr(dispatch, "time", found)
    return found


def test_a_late_chunk_goes_to_another_and_the_first_good_result_wins(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three chunks of the second half hang when they are first handed out."""
    monkeypatch.setattr(dispatch, "MIN_LATE_SECONDS", 0.1)
    hung: set[int] = set()

    def script(start: int, attempt: int) -> str:
        if start > len(GAMES) // 2 and len(hung) < 3 and attempt == 1:
            hung.add(start)
        return "hang" if start in hung and attempt == 1 else ""

    workers = Scripted(script)
    played, notes = run(workers)
    assert (played == EXPECTED).all()
    assert len(hung) == 3
    assert sum("take more than" in note for note in notes) == 3
    assert workers.cancelled == 0, "it may be a new worker that compiles: it is not ended at once"


def test_a_worker_busy_for_too_long_with_what_another_finished_is_ended(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "HUNG_SECONDS", 0.2)
    monkeypatch.setattr(dispatch, "MIN_LATE_SECONDS", 0.05)
    workers = Scripted(lambda start, attempt: "hang" if 0 < start < 99 and attempt == 1 else "")
    dispatcher = Dispatcher(ChunkSizer(2, 0.0), 4)
    dispatcher.sizer._speed[True] = len(GAMES) / 20
    for _ in range(2):
        dispatcher.play(workers, ROSTER, GAMES, lambda _: None, lambda _: None)
        clock.sleep(0.3)
    assert workers.cancelled > 0


def test_a_first_chunk_of_unknown_speed_is_one_game() -> None:
    sizer = ChunkSizer(4, 0.05)
    assert sizer.size(1000, 1000, False) == 1
    sizer.record_speed(1, 60.0, False)
    assert sizer.size(1000, 1000, False) == 1, "a minute a game: a chunk is still one game"
    sizer.record_speed(1, 0.001, False)
    assert sizer.size(1000, 1000, False) > 1


@pytest.mark.parametrize("late", [0.05, 60.0])
def test_a_pool_that_hangs_whole_is_begun_again(
    late: float, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No result after the first chunks for ten times `HUNG_SECONDS`: all chunks are taken back each time."""
    monkeypatch.setattr(dispatch, "HUNG_SECONDS", 0.3)
    monkeypatch.setattr(dispatch, "MIN_LATE_SECONDS", late)
    until: list[float] = []

    def script(start: int, attempt: int) -> str:
        if start and not until:
            until.append(clock.monotonic() + 3.0)
        return "hang" if start and clock.monotonic() < until[0] else ""

    workers = Scripted(script)
    played, notes = run(workers, chunks=8)
    assert (played == EXPECTED).all()
    assert sum("no result of any worker" in note for note in notes) > dispatch.MAX_ATTEMPTS


def test_a_chunk_that_hangs_twice_is_taken_back_while_others_play(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both copies of a chunk hang, and another schedule keeps getting answers, each in a hundredth of a second."""
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now, sleep=lambda _: time.sleep(0.001))
    monkeypatch.setattr(dispatch, "time", clock)
    monkeypatch.setattr(dispatch, "HUNG_SECONDS", 0.5)
    monkeypatch.setattr(dispatch, "MIN_LATE_SECONDS", 0.05)
    dispatcher = Dispatcher(ChunkSizer(2, 0.0), 4)
    dispatcher.sizer._speed[True] = len(GAMES) / 20
    over = threading.Event()

    class Good(Scripted):
        def result(self, ticket: int) -> object:
            clock.now += 0.01
            return super().result(ticket)

    def others() -> None:
        while not over.is_set():
            dispatcher.play(Good(lambda start, attempt: ""), ROSTER, GAMES, lambda _: None, lambda _: None)

    thread = threading.Thread(target=others)
    thread.start()
    workers = Scripted(lambda start, attempt: "hang" if start > 0.8 * len(GAMES) and attempt <= 2 else "")
    notes: list[str] = []
    try:
        played = dispatcher.play(workers, ROSTER, GAMES, lambda _: None, notes.append)
    finally:
        still_playing = thread.is_alive()
        over.set()
        thread.join()
    assert still_playing
    assert (played == EXPECTED).all()
    assert any("no result of games" in note for note in notes)
    assert not any("no result of any worker" in note for note in notes)


@pytest.mark.parametrize(
    ("schedules", "limit", "expected"), [(6, 4, 4), (2, 5, 5), (1, 4, 4), (1, 100, 8), (1, None, 8)]
)
def test_a_limit_holds_for_all_schedules_together(
    schedules: int, limit: int | None, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six schedules at once share four chunks in flight; one alone uses its whole limit, or 8 without one."""
    monkeypatch.setattr(dispatch, "MIN_LATE_SECONDS", HANG)
    dispatcher = Dispatcher(ChunkSizer(2, 0.0), 8, **({} if limit is None else {"most": limit}))
    dispatcher.sizer._speed[True] = len(GAMES) / 20
    out, most, lock = [0], [0], threading.Lock()

    class Counted(Scripted):
        def start(self, start: int, stop: int) -> int:
            with lock:
                out[0] += 1
                most[0] = max(most[0], out[0])
            return super().start(start, stop)

        def result(self, ticket: int) -> object:
            with lock:
                out[0] -= 1
            return super().result(ticket)

    def play() -> None:
        played = dispatcher.play(Counted(lambda s, a: ""), ROSTER, GAMES, lambda _: None, lambda _: None)
        right.append(bool((played == EXPECTED).all()))

    right: list[bool] = []
    threads = [threading.Thread(target=play) for _ in range(schedules)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * schedules
    assert most[0] == expected
    assert dispatcher._in_flight_now == 0
