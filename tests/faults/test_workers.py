"""Workers that die, hang, answer wrongly, late, twice or out of order: the same results, or a clear end."""

import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import Outcome
from engine.versions import play_versions
from evo import dispatch
from evo.answers import (
    Answer,
    PoolError,
    VersionError,
    WorkerDisagreesError,
    address_of,
    play_answer,
    refusal,
    sums_of,
)
from evo.coevolution import all_pairings, make_schedule, make_setups
from evo.dispatch import Dispatcher, LostError
from evo.entrants import find_entrant
from evo.games import Schedule, Table, play_part
from evo.pace import Pace
from evo.pool import LocalPool, play_range
from tests.evo.runs import run_new
from tests.faults import marks

pytestmark = marks


def some_games(n_players: int = 4, games: int = 40) -> tuple[Table, Schedule]:
    """A table and some hundred games."""
    from engine import find_deck, find_ruleset

    names = ["ilp:keep-alive", "ilp:value-trading", "hearthsim", "eva"][:n_players]
    decks = (find_deck("thesis-paladin"), find_deck("hearthsim-basic"))
    table = Table(tuple(find_entrant(name).player for name in names), decks, find_ruleset("thesis"))
    return table, make_schedule(all_pairings(n_players), make_setups(2, games, 3))


TABLE, GAMES = some_games()
EXPECTED = play_part(TABLE, GAMES)


@dataclass
class Scripted:
    """Workers that do to each answer what a script says, in any order; no threads, no Ray."""

    script: Any
    shuffle: random.Random = field(default_factory=lambda: random.Random(1))
    trusted: bool = False
    started: list[tuple[int, int]] = field(default_factory=list)
    cancelled: int = 0
    _open: dict[int, tuple[int, int, int, float]] = field(default_factory=dict)
    _attempts: dict[int, int] = field(default_factory=dict)

    def start(self, start: int, stop: int) -> int:
        number = len(self.started)
        self.started.append((start, stop))
        attempt = self._attempts[start] = self._attempts.get(start, 0) + 1
        self._open[number] = (start, stop, attempt, time.monotonic())
        return number

    def ready(self, tickets: Sequence[int], timeout: float) -> Sequence[int]:
        done = [one for one in tickets if not self._hangs(one)]
        if not done:
            time.sleep(0.01)
        self.shuffle.shuffle(done)
        return done[: 1 + self.shuffle.randrange(3)]

    def _hangs(self, ticket: int) -> bool:
        start, _, attempt, _ = self._open[ticket]
        return bool(self.script(start, attempt) == "hang")

    def result(self, ticket: int) -> object:
        start, stop, attempt, _ = self._open[ticket]
        part = GAMES.part(slice(start, stop))
        answer = play_answer(TABLE, part, "worker 1")
        what = self.script(start, attempt)
        if what == "lost":
            raise LostError("node died")
        return answer if what in ("", "hang") else spoil(answer, what)

    def cancel(self, ticket: int) -> None:
        self.cancelled += 1


def spoil(answer: Answer, how: str) -> object:
    """An answer that is wrong in one way; sums made to fit where the lie would do that too."""
    played = answer.played.copy()
    if how == "short":
        played = played[:-1]
        return answer._replace(played=played, sums=sums_of(played))
    if how == "stale":
        return answer._replace(address=address_of(GAMES.part(slice(0, 1))))
    if how == "nan":
        return answer._replace(seconds=float("nan"))
    if how == "no outcome":
        played["outcome"][0] = 0
    elif how == "unknown outcome":
        played["outcome"][-1] = 9
    elif how == "endless":
        played["turns"][0] = 1000
    elif how == "fault":
        played["fault"][0] = 7
    elif how == "negative":
        played["unproven"][0] = -1
    elif how == "sums":
        played["turns"][0] += 1
        return answer._replace(played=played)
    elif how == "nothing":
        return None
    elif how == "text":
        return answer._replace(played="wins")
    elif how == "floats":
        return answer._replace(played=np.full(len(played), np.nan))
    elif how == "array of sums":
        return answer._replace(sums=np.array(answer.sums))
    elif how == "worker is a list":
        return answer._replace(worker=["worker"])
    elif how == "address is an array":
        return answer._replace(address=np.zeros(3))
    elif how == "agent failed there":
        played["fault"][-1] = 2
    return answer._replace(played=played, sums=sums_of(played))


WRONG = [
    "short", "stale", "nan", "no outcome", "unknown outcome", "endless", "fault", "negative", "sums", "nothing",
    "text", "floats", "array of sums", "worker is a list", "address is an array", "agent failed there",
]  # fmt: skip


def run(workers: Scripted, parts: float = 20.0) -> tuple[np.ndarray, list[str]]:
    notes: list[str] = []
    pace = Pace(2, 0.0)
    pace._speed[True] = len(GAMES) / parts
    dispatcher = Dispatcher(pace, 4)
    played = dispatcher.play(workers, TABLE, GAMES, lambda _: None, notes.append)
    return played, notes


@pytest.mark.parametrize("seed", range(20))
def test_any_order_of_completion_gives_the_same(seed: int) -> None:
    played, notes = run(Scripted(lambda start, attempt: "", random.Random(seed)))
    assert (played == EXPECTED).all()
    assert notes == []


@pytest.mark.parametrize("how", WRONG)
def test_wrong_results_are_refused_told_and_played_again(how: str) -> None:
    """Every part's first answer is spoiled; the second is good."""
    workers = Scripted(lambda start, attempt: how if attempt == 1 and start else "")
    played, notes = run(workers)
    assert (played == EXPECTED).all()
    spoiled = len({start for start, _ in workers.started if start})
    assert len(notes) == spoiled
    assert all("is refused: " in note and "handed out again" in note for note in notes)


@pytest.mark.parametrize("how", WRONG)
def test_each_refusal_says_why(how: str) -> None:
    part = GAMES.part(slice(5, 12))
    good = play_answer(TABLE, part)
    assert refusal(good, part, TABLE) == ""
    assert refusal(spoil(good, how), part, TABLE) != ""


def test_a_lie_that_never_ends_ends_the_run() -> None:
    with pytest.raises(
        PoolError, match="6 times without a good result; the last time the result of worker 1"
    ):
        run(Scripted(lambda start, attempt: "short"))


def test_lost_workers_lose_no_game() -> None:
    pick = random.Random(2)
    lost = {start: pick.randrange(4) for start in range(len(GAMES))}
    workers = Scripted(lambda start, attempt: "lost" if attempt <= lost[start] else "")
    played, notes = run(workers)
    assert (played == EXPECTED).all()
    assert any("a worker was lost with games" in note for note in notes)


def test_a_late_part_goes_to_another_and_the_first_good_result_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each tenth part hangs when it is first handed out."""
    monkeypatch.setattr(dispatch, "LATE_LEAST", 0.1)
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
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dispatch, "HUNG", 0.2)
    monkeypatch.setattr(dispatch, "LATE_LEAST", 0.05)
    workers = Scripted(lambda start, attempt: "hang" if 0 < start < 99 and attempt == 1 else "")
    pace, dispatcher = Pace(2, 0.0), Dispatcher(Pace(2, 0.0), 4)
    dispatcher.pace._speed[True] = pace._speed[True] = len(GAMES) / 20
    for _ in range(2):
        dispatcher.play(workers, TABLE, GAMES, lambda _: None, lambda _: None)
        time.sleep(0.3)
    assert workers.cancelled > 0


def test_notes_go_to_whoever_plays() -> None:
    """Two schedules on one dispatcher, as of two runs of a study: each hears of its own."""
    dispatcher = Dispatcher(Pace(2, 0.0), 4)
    mine: list[str] = []
    yours: list[str] = []
    for notes, how in ((mine, "short"), (yours, "stale")):
        dispatcher.pace._speed[True] = len(GAMES) / 20
        workers = Scripted(lambda start, attempt, how=how: how if start == 0 and attempt == 1 else "")
        dispatcher.play(workers, TABLE, GAMES, lambda _: None, notes.append)
    assert len(mine) == len(yours) == 1
    assert "results of" in mine[0]
    assert "other games" in yours[0]


def test_a_first_part_of_unknown_speed_is_one_game() -> None:
    pace = Pace(4, 0.05)
    assert pace.part(1000, 1000, False) == 1
    pace.saw(1, 60.0, False)
    assert pace.part(1000, 1000, False) == 1, "a minute a game: a part of a second is still one game"
    pace.saw(1, 0.001, False)
    assert pace.part(1000, 1000, False) > 1


@pytest.mark.parametrize("late", [0.05, 60.0])
def test_a_pool_that_hangs_whole_is_begun_again(late: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing comes after the first parts for ten times `HUNG`: everything is taken back each time."""
    monkeypatch.setattr(dispatch, "HUNG", 0.3)
    monkeypatch.setattr(dispatch, "LATE_LEAST", late)
    until: list[float] = []

    def script(start: int, attempt: int) -> str:
        if start and not until:
            until.append(time.monotonic() + 3.0)
        return "hang" if start and time.monotonic() < until[0] else ""

    workers = Scripted(script)
    played, notes = run(workers, parts=8)
    assert (played == EXPECTED).all()
    assert sum("nothing came for" in note for note in notes) > dispatch.ATTEMPTS


def test_a_part_that_hangs_twice_is_taken_back_while_others_play(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both copies of a part hang, and another schedule keeps getting answers."""
    monkeypatch.setattr(dispatch, "HUNG", 0.5)
    monkeypatch.setattr(dispatch, "LATE_LEAST", 0.05)
    dispatcher = Dispatcher(Pace(2, 0.0), 4)
    dispatcher.pace._speed[True] = len(GAMES) / 20
    over = threading.Event()

    def others() -> None:
        while not over.is_set():
            dispatcher.play(Scripted(lambda start, attempt: ""), TABLE, GAMES, lambda _: None, lambda _: None)

    thread = threading.Thread(target=others)
    thread.start()
    workers = Scripted(lambda start, attempt: "hang" if start > 300 and attempt <= 2 else "")
    notes: list[str] = []
    try:
        played = dispatcher.play(workers, TABLE, GAMES, lambda _: None, notes.append)
    finally:
        still_playing = thread.is_alive()
        over.set()
        thread.join()
    assert still_playing
    assert (played == EXPECTED).all()
    assert any("have not come for" in note for note in notes)
    assert not any("nothing came" in note for note in notes)


@pytest.mark.parametrize(
    ("schedules", "limit", "expected"), [(6, 4, 4), (1, 4, 4), (1, 100, 8), (1, None, 8)]
)
def test_a_limit_holds_for_all_schedules_together(schedules: int, limit: int | None, expected: int) -> None:
    """Six schedules at once share four parts in flight; one alone uses all it may, 8 where nothing limits it."""
    dispatcher = Dispatcher(Pace(2, 0.0), 8, **({} if limit is None else {"most": limit}))
    dispatcher.pace._speed[True] = len(GAMES) / 20
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
        played = dispatcher.play(Counted(lambda s, a: ""), TABLE, GAMES, lambda _: None, lambda _: None)
        right.append(bool((played == EXPECTED).all()))

    right: list[bool] = []
    threads = [threading.Thread(target=play) for _ in range(schedules)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * schedules
    assert most[0] == expected
    assert dispatcher._out == 0


def test_a_result_that_comes_twice_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both copies of late parts come in at once."""
    monkeypatch.setattr(dispatch, "LATE_LEAST", 0.05)
    counted = [0]
    both = threading.Event()

    def script(start: int, attempt: int) -> str:
        if attempt == 2:
            both.set()
        return "hang" if start > len(GAMES) // 2 and not both.is_set() else ""

    dispatcher = Dispatcher(Pace(2, 0.0), 4)
    dispatcher.pace._speed[True] = len(GAMES) / 20

    def count(games: int) -> None:
        counted[0] += games

    played = dispatcher.play(Scripted(script), TABLE, GAMES, count, lambda _: None)
    assert (played == EXPECTED).all()
    assert counted[0] == len(GAMES)


def test_a_worker_that_plays_another_game_ends_the_run_with_a_report() -> None:
    """Results that could be, with sums that fit: only playing a game again here shows it."""

    class Liar(Scripted):
        def result(self, ticket: int) -> object:
            answer = super().result(ticket)
            assert isinstance(answer, Answer)
            played = answer.played.copy()
            swap = {Outcome.FIRST_WINS: Outcome.SECOND_WINS, Outcome.SECOND_WINS: Outcome.FIRST_WINS}
            played["outcome"] = [swap[Outcome(one)] for one in played["outcome"]]
            return answer._replace(played=played, sums=sums_of(played), worker="worker 7 on node-3 (arm64)")

    dispatcher = Dispatcher(Pace(2, 0.0), 4)
    dispatcher.pace._speed[True] = len(GAMES) / 20
    for _ in range(2):  # of a study's other runs none plays on with that worker
        with pytest.raises(WorkerDisagreesError) as error:
            dispatcher.play(Liar(lambda start, attempt: ""), TABLE, GAMES, lambda _: None, lambda _: None)
        said = str(error.value)
        for part in ("worker 7 on node-3 (arm64)", "plays another game", "deal 0x", "requirements.lock"):
            assert part in said
        assert "begin those runs anew" not in said, "it is found out at once"


def test_which_parts_are_replayed() -> None:
    """Parts 1, 2, 4, 8, ... and each 200th, and the number of those between."""
    dispatcher = Dispatcher(Pace(2, 0.0), 4)
    replayed, between = [], 0
    for n in range(1, 1001):
        wanted, unchecked = dispatcher.wants_replay("one")
        assert unchecked == between
        if wanted:
            replayed.append(n)
        between = 0 if wanted else between + 1
    assert replayed == sorted({2**k for k in range(10)} | {200 * k for k in range(1, 6)})


@pytest.mark.parametrize("key", ["rules", "cards", "kernels", "manaforge"])
def test_a_worker_of_another_version_refuses_to_play(key: str) -> None:
    expected = play_versions() | {key: "other"}
    with pytest.raises(VersionError, match=f"has {key} .* instead of other"):
        play_range(expected, TABLE, GAMES, 0, 3)
    assert isinstance(play_range(play_versions(), TABLE, GAMES, 0, 3), Answer)


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_a_run_is_the_same_with_any_number_of_workers(workers: int, tmp_path: Path) -> None:
    pool = LocalPool(workers)
    pool._compiled.pace._speed[True] = 40.0 * workers
    assert run_new(tmp_path / "a", pool=pool) == run_new(tmp_path / "b")
    pool.close()
