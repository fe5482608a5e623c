"""Handing games out and taking results back: what every pool does, whoever plays.

A schedule is cut into parts sized by the speed seen so far; a bounded number of them is in flight; results
are put back by their place, so that what comes out depends on the games alone. Workers are not trusted: a
result counts once, and only if it is about the games that were asked for, complete and possible. A part that
takes too long is given to another worker too, and the first good result wins. Of each worker that is met, and
ever more seldom later, one game is played again here: a worker that plays another game ends everything with
a report.
"""

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from evo.play.chunking import Pace
from evo.play.games import GAME, Schedule, Table, play_part
from evo.play.results import Answer, PoolError, WorkerDisagreesError, refusal

LATE = 10
"""A part that takes so many times the median is given to another worker too."""

LATE_LEAST = 2.0
"""Seconds a part may always take; Ray queues parts before it runs them."""

HUNG = 120.0
"""Seconds after which whoever has a part is taken to hang, and it is handed out anew; at least twice `LATE`
times the median. A worker still busy then with a part that another has finished is ended."""

SILENCES = 30
"""Times in a row that nothing comes from anybody for so long before a run gives up."""

ATTEMPTS = 6
"""Times a part may be lost, hang or come back wrong before a run gives up on it."""

REPLAY_EVERY = 200
"""One game is played again here of a worker's parts 1, 2, 4, 8, ... and of each so many-th."""


NO_LIMIT = sys.maxsize


class LostError(Exception):
    """A part whose worker was lost; it is handed out again."""


Watch = Callable[[int], None]
"""Called on the caller's thread with the number of games just finished; raises to stop early."""

Note = Callable[[str], None]
"""Told what was refused, lost or late, a sentence each."""


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
        in_flight: most parts of one schedule handed out at once.
        most: most parts of all schedules together.
        busy: seconds that workers have spent playing, summed over them.
    """

    pace: Pace
    in_flight: int
    most: int = NO_LIMIT
    busy: float = 0.0
    last_result: float = 0.0
    _schedules: int = 0
    _out: int = 0
    _disagrees: str = ""
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
        with self._lock:
            self._schedules += 1
        try:
            return one.run()
        finally:
            with self._lock:
                self._schedules -= 1
            self.came_back(len(one.pending))
            for ticket in one.pending:
                workers.cancel(ticket)

    def may_start(self, pending: int) -> bool:
        """Whether a schedule with so many parts in flight may hand out one more, which then counts.

        Under a limit schedules share it evenly; second copies of late parts, asked for with 0, go beyond it.
        """
        with self._lock:
            share = min(self.in_flight, -(-self.most // max(1, self._schedules)))
            if pending >= share or self._out >= self.most:
                return False
            self._out += 1
            return True

    def came_back(self, parts: int) -> None:
        """So many parts are no longer in flight."""
        with self._lock:
            self._out -= parts

    def distrust(self, why: str) -> None:
        """End all that plays here, now and later: a worker plays other games."""
        self._disagrees = why

    def check_trust(self) -> None:
        """Stop where a worker was found to play other games, by whichever schedule.

        Raises:
            WorkerDisagreesError: one was.
        """
        if self._disagrees:
            raise WorkerDisagreesError(self._disagrees)

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
        """Seconds that mean that nothing will come any more; infinite before the first result.

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

    def wants_replay(self, worker: str) -> tuple[bool, int]:
        """Whether a game of this answer is to be played again here, and how many before it were not."""
        with self._lock:
            n = self._met[worker] = self._met.get(worker, 0) + 1
        power = 1 << (n - 1).bit_length() - 1 if n > 1 else 0  # the last of 1, 2, 4, ... before n
        last = max(power, (n - 1) // REPLAY_EVERY * REPLAY_EVERY)
        return n & (n - 1) == 0 or n % REPLAY_EVERY == 0, n - 1 - last


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
        self.failed: dict[int, int] = {}
        self.next = 0
        self.left = len(games)
        self.began = time.monotonic()
        self.silences = 0

    def run(self) -> np.ndarray:
        while self.left:
            self.dispatcher.check_trust()
            self._hand_out()
            if not self.pending:  # others have all that may be in flight
                time.sleep(0.02)
            done = self.workers.ready(list(self.pending), 0.2) if self.pending else []
            for ticket in done:
                if ticket in self.pending:  # not the second copy of a part that came in just now
                    self.dispatcher.came_back(1)
                    self._take(ticket, self.pending.pop(ticket))
            if not done:
                self.watch(0)
            if not self.workers.trusted:
                self._look_for_late()
        return self.played

    def _hand_out(self) -> None:
        """Fill up what may be in flight."""
        while (self.again or self.next < len(self.games)) and self.dispatcher.may_start(len(self.pending)):
            if self.again:
                start, stop = self.again.popleft()
            else:
                start = self.next
                left = len(self.games) - start
                stop = start + self.dispatcher.pace.part(left, len(self.games), self.compiled)
                self.next = stop
            self._start(start, stop)

    def _start(self, start: int, stop: int) -> None:
        try:
            ticket = self.workers.start(start, stop)
        except BaseException:
            self.dispatcher.came_back(1)
            raise
        self.pending[ticket] = Attempt(start, stop, time.monotonic())

    def _take(self, ticket: Any, attempt: Attempt) -> None:
        """Take a result, once; hand the part out again where it is lost or no good."""
        start, stop = attempt.start, attempt.stop
        part = self.games.part(slice(start, stop))
        try:
            answer = self.workers.result(ticket)
        except LostError as error:
            self._mend(start, stop, f"a worker was lost with games {start} to {stop - 1} ({error})")
            return
        why = "" if self.workers.trusted else refusal(answer, part, self.table)
        if why:
            who = str(answer.worker)[:200] if isinstance(answer, Answer) else "a worker"
            self._mend(start, stop, f"the result of {who} for games {start} to {stop - 1} is refused: {why}")
            return
        assert isinstance(answer, Answer)
        if not self.workers.trusted:
            self._replay(part, answer)
        self.failed.pop(start, None)
        self.played[start:stop] = answer.played
        self.left -= stop - start
        self.silences = 0
        self.dispatcher.took(time.monotonic() - attempt.began)
        self.dispatcher.accept(stop - start, answer.seconds, self.compiled)
        for other in [one for one, it in self.pending.items() if it.start == start]:
            del self.pending[other]
            self.dispatcher.came_back(1)
            self.dispatcher.leave(self.workers, other)
        self.watch(stop - start)

    def _mend(self, start: int, stop: int, what: str, blame: bool = True) -> None:
        """Hand a part out again, unless another has it too.

        Raises:
            PoolError: it went wrong too often.
        """
        self.note(f"{what}; they are handed out again")
        self.failed[start] = self.failed.get(start, 0) + blame
        if self.failed[start] >= ATTEMPTS:
            raise PoolError(
                f"games {start} to {stop - 1} were handed out {ATTEMPTS} times without a good result; "
                f"the last time {what}"
            )
        if not any(it.start == start for it in self.pending.values()):
            self.again.append((start, stop))

    def _replay(self, part: Schedule, answer: Answer) -> None:
        """Play one game of an answer here, of some answers.

        Raises:
            WorkerDisagreesError: it ends otherwise.
        """
        wanted, unchecked = self.dispatcher.wants_replay(answer.worker)
        if not wanted:
            return
        number = int(part.keys[0] % np.uint64(len(part)))
        ours = play_part(self.table, part.part(slice(number, number + 1)))[0]
        theirs = answer.played[number]
        if ours != theirs:
            first, second = (self.table.players[place] for place in part.players[number])
            decks = [self.table.decks[place].name for place in part.decks[number]]
            names = ", ".join(GAME.names or ())
            before = f". {unchecked} of its parts counted since it last agreed: begin those runs anew"
            self.dispatcher.distrust(
                f"{answer.worker} plays another game than this machine: {first.kind} with {decks[0]} against "
                f"{second.kind} with {decks[1]}, deal {int(part.keys[number]):#x}: here ({names}) = {ours}, "
                f"there {theirs}. Another processor, library or card base? Give every node the same "
                f"version (requirements.lock), or leave that node out{before if unchecked else ''}"
            )
            self.dispatcher.check_trust()

    def _look_for_late(self) -> None:
        """Give late parts to others too, and take back what whoever has it will not finish."""
        now = time.monotonic()
        self.dispatcher.end_those_left()
        hung_after = self.dispatcher.hung_after()
        silent = now - max(self.began, self.dispatcher.last_result) > hung_after
        newest: dict[int, Attempt] = {}
        copies: dict[int, int] = {}
        for attempt in self.pending.values():  # in the order they were handed out
            newest[attempt.start] = attempt
            copies[attempt.start] = copies.get(attempt.start, 0) + 1
        if newest and silent:
            self.silences += 1
            if self.silences > SILENCES:
                raise PoolError(f"no worker has answered for {SILENCES * hung_after / 60:.0f} minutes")
            self.began = now
        late = self.dispatcher.late_after()
        for start, attempt in newest.items():
            some = f"games {start} to {attempt.stop - 1}"
            if silent:  # that nobody answered is not the part's fault
                self._take_back(attempt, f"nothing came for {hung_after:.0f} s: {some} are taken back", False)
            elif now - attempt.began > hung_after:
                self._take_back(attempt, f"{some} have not come for {hung_after:.0f} s: taken back", True)
            elif now - attempt.began > late and copies[start] == 1 and self.dispatcher.may_start(0):
                self.note(f"{some} take more than {late:.1f} s; they are handed out again")
                self._start(start, attempt.stop)

    def _take_back(self, attempt: Attempt, why: str, blame: bool) -> None:
        """Let all copies of a part go, and hand it out anew."""
        for ticket in [one for one, it in self.pending.items() if it.start == attempt.start]:
            del self.pending[ticket]
            self.dispatcher.came_back(1)
            self.workers.cancel(ticket)
        self._mend(attempt.start, attempt.stop, why, blame)
