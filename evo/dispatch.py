"""Handing games out and taking results back: what every pool does, whoever plays.

A schedule is cut into parts sized by the speed seen so far; a bounded number of them is in flight; results
are put back by their place, so that what comes out depends on the games alone. Workers are not trusted: a
result counts once, and only if it is about the games that were asked for, complete and possible. A part that
takes too long is given to another worker too, and the first good result wins. Of each worker that is met, and
now and then later, one game is played again here: a worker that plays another game ends everything with a
report.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from evo.answers import Answer, PoolError, WorkerDisagreesError, refusal
from evo.games import GAME, Schedule, Table, play_part

PARTS_A_WORKER = 8
LONGEST_PART = 1.0
"""Seconds."""

LATE = 10
"""A part that takes so many times the median is given to another worker too."""

LATE_LEAST = 2.0
"""Seconds a part may always take; Ray queues parts before it runs them."""

HUNG = 120.0
"""Seconds without any result after which every part in flight is taken back and handed out again; at least
twice `LATE` times the median. A worker still busy then with a part that another has finished is ended."""

SILENCES = 30
"""Times in a row that everything may be taken back before a run gives up."""

ATTEMPTS = 6
"""Times a part is handed out before a run gives up on it."""

REPLAY_EVERY = 200
"""Of so many parts of a worker, one game is played again here."""


class LostError(Exception):
    """A part whose worker was lost; it is handed out again."""


Watch = Callable[[int], None]
"""Called on the caller's thread with the number of games just finished; raises to stop early."""

Note = Callable[[str], None]
"""Told what was refused, lost or late, a sentence each."""


class Pace:
    """How many games to hand out at a time.

    Args:
        workers: how many play.
        shortest: seconds; parts are not cut finer.
    """

    def __init__(self, workers: int, shortest: float) -> None:
        self.workers = workers
        self.shortest = shortest
        self._speed: dict[bool, float] = {True: 4000.0, False: 10.0}
        self._known = {True: True, False: False}

    def part(self, left: int, total: int, compiled: bool) -> int:
        """Games of the next part: a second's, or a fair share of all, or of what is left towards the end."""
        if not self._known[compiled]:
            return 1  # a solver may take a minute for a game
        speed = self._speed[compiled]
        share = min(total / (PARTS_A_WORKER * self.workers), left / (2 * self.workers))
        share = max(min(share, LONGEST_PART * speed), self.shortest * speed)
        return int(min(max(share, 1), left))

    def saw(self, games: int, seconds: float, compiled: bool) -> None:
        """Learn the speed of one worker."""
        if seconds > 0 and games > 0:
            if not self._known[compiled]:
                self._known[compiled], self._speed[compiled] = True, games / seconds
            self._speed[compiled] += 0.5 * (games / seconds - self._speed[compiled])


class Workers(Protocol):
    """Who plays parts: threads, or Ray's tasks. `trusted` ones share this process."""

    trusted: bool

    def start(self, start: int, stop: int) -> Hashable:
        """Hand out games `start` to `stop` - 1 of the schedule; a ticket for them."""
        ...

    def ready(self, tickets: Sequence[Any], timeout: float) -> Sequence[Any]:
        """Those of the tickets that are finished, after at most so many seconds."""
        ...

    def result(self, ticket: Any) -> object:
        """The answer for a finished ticket.

        Raises:
            LostError: the worker was lost.
        """
        ...

    def cancel(self, ticket: Any) -> None:
        """Let a ticket go, and end whoever works on it where that can be done."""
        ...


@dataclass
class Attempt:
    """A part in flight."""

    start: int
    stop: int
    began: float


@dataclass
class Dispatcher:
    """Plays schedules with workers; keeps what it learned of them.

    Attributes:
        pace: how parts are cut.
        in_flight: most parts handed out at once.
        busy: seconds that workers have spent playing, summed over them.
    """

    pace: Pace
    in_flight: int
    busy: float = 0.0
    last_result: float = 0.0
    _times: deque[float] = field(default_factory=lambda: deque(maxlen=101))
    _met: dict[str, int] = field(default_factory=dict)
    _left: list[tuple[Workers, Any, float]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def play(self, workers: Workers, table: Table, games: Schedule, watch: Watch, note: Note) -> np.ndarray:
        """Play all games; dtype `GAME`, shape (games,), in the order of the schedule.

        Args:
            workers: who play.
            table: players, decks and rules.
            games: what is played.
            watch: see `Watch`.
            note: told of what went wrong and was mended.

        Raises:
            PoolError: no worker gives a good result for some part.
            WorkerDisagreesError: a worker plays other games than this machine.
        """
        one = _OneSchedule(self, workers, table, games, watch, note)
        try:
            return one.run()
        finally:
            for ticket in one.pending:
                workers.cancel(ticket)

    def accept(self, games: int, seconds: float, compiled: bool) -> None:
        """Learn from a good result."""
        with self._lock:  # several threads may play at once
            self.busy += seconds
            self.pace.saw(games, seconds, compiled)

    def took(self, seconds: float) -> None:
        """Learn how long a part takes from handing out to its result."""
        with self._lock:
            self._times.append(seconds)
            self.last_result = time.monotonic()

    def late_after(self) -> float:
        """Seconds after which a part is late; infinite while too little is known."""
        with self._lock:
            times = list(self._times)
        return max(LATE_LEAST, LATE * float(np.median(times))) if len(times) >= 3 else np.inf

    def hung_after(self) -> float:
        """Seconds without any result that mean that nothing will come; infinite before the first result.

        Before it, nodes start, install and compile, which takes what it takes.
        """
        with self._lock:
            times = list(self._times)
        return max(HUNG, 2 * LATE * float(np.median(times))) if times else np.inf

    def leave(self, workers: Workers, ticket: Any) -> None:
        """Forget a part that another worker has finished.

        Whoever still works on it is not ended at once: it may be a new worker that compiles, and would begin
        anew. Once it has been busy for too long it is.
        """
        with self._lock:
            self._left.append((workers, ticket, time.monotonic() + HUNG))

    def end_those_left(self) -> None:
        """End workers that are still busy with what was left to others long ago."""
        now = time.monotonic()
        with self._lock:
            due = [one for one in self._left if one[2] < now]
            self._left = [one for one in self._left if one[2] >= now]
        for workers, ticket, _ in due:
            workers.cancel(ticket)

    def wants_replay(self, worker: str) -> bool:
        """Whether a game of this answer is to be played again here."""
        with self._lock:
            self._met[worker] = self._met.get(worker, -1) + 1
            return self._met[worker] % REPLAY_EVERY == 0


class _OneSchedule:
    """The state of one call of `Dispatcher.play`."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        workers: Workers,
        table: Table,
        games: Schedule,
        watch: Watch,
        note: Note,
    ) -> None:
        self.dispatcher, self.workers, self.watch, self.note = dispatcher, workers, watch, note
        self.table, self.games = table, games
        self.compiled = bool(table.compiled(games).all())
        self.played = np.zeros(len(games), GAME)
        self.pending: dict[Any, Attempt] = {}
        self.again: deque[tuple[int, int]] = deque()
        self.finished: set[int] = set()
        self.handed: dict[int, int] = {}
        self.next = 0
        self.left = len(games)
        self.began = time.monotonic()
        self.silences = 0

    def run(self) -> np.ndarray:
        while self.left:
            self._hand_out()
            done = self.workers.ready(list(self.pending), 0.2)
            for ticket in done:
                if ticket in self.pending:  # not the second copy of a part that came in just now
                    self._take(ticket, self.pending.pop(ticket))
            if not done:
                self.watch(0)
            if not self.workers.trusted:
                self._look_for_late()
        return self.played

    def _hand_out(self) -> None:
        """Fill up what may be in flight."""
        dispatcher = self.dispatcher
        while len(self.pending) < dispatcher.in_flight and (self.again or self.next < len(self.games)):
            if self.again:
                start, stop = self.again.popleft()
            else:
                start = self.next
                left = len(self.games) - start
                stop = start + dispatcher.pace.part(left, len(self.games), self.compiled)
                self.next = stop
            if start not in self.finished:
                self._start(start, stop)

    def _start(self, start: int, stop: int) -> None:
        self.handed[start] = self.handed.get(start, 0) + 1
        if self.handed[start] > ATTEMPTS:
            raise PoolError(
                f"games {start} to {stop - 1} were handed out {ATTEMPTS} times without a good result; "
                "log.jsonl of the run tells why"
            )
        self.pending[self.workers.start(start, stop)] = Attempt(start, stop, time.monotonic())

    def _take(self, ticket: Any, attempt: Attempt) -> None:
        """Take a result, once; hand the part out again where it is lost or no good."""
        start, stop = attempt.start, attempt.stop
        if start in self.finished:
            return
        part = self.games.part(slice(start, stop))
        try:
            answer = self.workers.result(ticket)
        except LostError as error:
            self._mend(start, stop, f"a worker was lost with games {start} to {stop - 1} ({error})")
            return
        why = "" if self.workers.trusted else refusal(answer, part, self.table)
        if why:
            who = answer.worker if isinstance(answer, Answer) else "a worker"
            self._mend(start, stop, f"the result of {who} for games {start} to {stop - 1} is refused: {why}")
            return
        assert isinstance(answer, Answer)
        if not self.workers.trusted and self.dispatcher.wants_replay(answer.worker):
            self._replay(part, answer)
        self.finished.add(start)
        self.handed.pop(start, None)
        self.played[start:stop] = answer.played
        self.left -= stop - start
        self.silences = 0
        self.dispatcher.took(time.monotonic() - attempt.began)
        self.dispatcher.accept(stop - start, answer.seconds, self.compiled)
        for other in [one for one, it in self.pending.items() if it.start == start]:
            del self.pending[other]
            self.dispatcher.leave(self.workers, other)
        self.watch(stop - start)

    def _mend(self, start: int, stop: int, what: str) -> None:
        self.note(f"{what}; they are handed out again")
        if not any(it.start == start for it in self.pending.values()):
            self.again.append((start, stop))

    def _replay(self, part: Schedule, answer: Answer) -> None:
        """Play one game of an answer here.

        Raises:
            WorkerDisagreesError: it ends otherwise.
        """
        number = int(part.keys[0] % np.uint64(len(part)))
        ours = play_part(self.table, part.part(slice(number, number + 1)))[0]
        theirs = answer.played[number]
        if ours != theirs:
            first, second = (self.table.players[place] for place in part.players[number])
            decks = [self.table.decks[place].name for place in part.decks[number]]
            names = ", ".join(GAME.names or ())
            raise WorkerDisagreesError(
                f"{answer.worker} plays another game than this machine: {first.kind} with {decks[0]} against "
                f"{second.kind} with {decks[1]}, deal {int(part.keys[number]):#x}: here ({names}) = {ours}, "
                f"there {theirs}. Another processor, library or card base? Give every node the same "
                "version (requirements.lock), or leave that node out"
            )

    def _look_for_late(self) -> None:
        """Give late parts to others too; take everything back where nothing comes any more."""
        now = time.monotonic()
        self.dispatcher.end_those_left()
        hung_after = self.dispatcher.hung_after()
        if self.pending and now - max(self.began, self.dispatcher.last_result) > hung_after:
            self._take_all_back(hung_after)
            return
        late = self.dispatcher.late_after()
        if late == np.inf:
            return
        waiting = {start for start, _ in self.again}
        counts: dict[int, int] = {}
        for attempt in self.pending.values():
            counts[attempt.start] = counts.get(attempt.start, 0) + 1
        for attempt in list(self.pending.values()):
            start = attempt.start
            if now - attempt.began > late and counts[start] == 1 and start not in waiting:
                some = f"games {start} to {attempt.stop - 1}"
                self.note(f"{some} take more than {late:.1f} s; they are handed out again")
                self._start(start, attempt.stop)
                counts[start] += 1

    def _take_all_back(self, seconds: float) -> None:
        """Nothing comes from anybody any more."""
        self.silences += 1
        if self.silences > SILENCES:
            raise PoolError(f"no worker has answered for {SILENCES * seconds / 60:.0f} minutes")
        self.began = time.monotonic()
        hung, self.pending = self.pending, {}
        for ticket in hung:
            self.workers.cancel(ticket)
        for start, stop in {attempt.start: attempt.stop for attempt in hung.values()}.items():
            self.handed[start] -= 1  # that no worker answered is not the part's fault
            self._mend(
                start, stop, f"nothing came for {seconds:.0f} s: games {start} to {stop - 1} are taken back"
            )
