"""Handing out games and taking back results: what every pool does, whoever plays.

A schedule is cut into chunks sized by the speed seen so far; a bounded number of chunks is in flight; results
are stored by their place, so that they depend on the games alone. Workers are not trusted: a result counts
once, and only if it is about the games that were asked for, complete and possible. A late chunk is given to a
second worker, and the first good result wins. One game of chunks 1, 2, 4, 8, ... and of every 200th chunk of
each worker is replayed here; a worker whose game differs ends the run with a report.
"""

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from evo.play.chunking import ChunkSizer
from evo.play.games import GAME, Roster, Schedule, play_schedule
from evo.play.results import Answer, PoolError, WorkerDisagreesError, refusal

LATE = 10
"""A chunk is late after this many times the median latency; it is then given to a second worker."""

LATE_LEAST = 2.0
"""Seconds a chunk may always take; Ray queues chunks before it runs them."""

HUNG = 120.0
"""Seconds after which a worker counts as hung and its chunk is handed out again; at least twice `LATE` times
the median. A worker still busy then with a chunk that another worker has finished is ended."""

SILENCES = 30
"""Periods of `HUNG` seconds in a row without any result before a run gives up."""

ATTEMPTS = 6
"""Times a chunk may be lost, hang or come back wrong before a run gives up."""

REPLAY_EVERY = 200
"""One game is replayed here of a worker's chunks 1, 2, 4, 8, ... and of every `REPLAY_EVERY`th."""

NO_LIMIT = sys.maxsize


class LostError(Exception):
    """A chunk whose worker was lost; it is handed out again."""


Watch = Callable[[int], None]
"""Called on the caller's thread with the number of games just finished; raises to stop early."""

Note = Callable[[str], None]
"""Called with a sentence for each result that was refused, lost or late."""


class Workers(Protocol):
    """Who plays chunks: threads, or Ray's tasks. `trusted` workers share this process."""

    trusted: bool

    def start(self, start: int, stop: int) -> Hashable:
        """Hand out games `start` to `stop` - 1 of the schedule, and return a ticket for them."""
        ...

    def ready(self, tickets: Sequence[Any], timeout: float) -> Sequence[Any]:
        """The finished ones among the tickets; waits at most `timeout` seconds for the first."""
        ...

    def result(self, ticket: Any) -> object:
        """The answer for a finished ticket.

        Raises:
            LostError: the worker was lost.
        """
        ...

    def cancel(self, ticket: Any) -> None:
        """Give up a ticket, and end its worker where that is possible."""
        ...


@dataclass
class Attempt:
    """A chunk in flight."""

    start: int
    stop: int
    began: float


@dataclass
class Dispatcher:
    """Plays schedules with workers, and keeps what it learned about them.

    Attributes:
        sizer: how schedules are cut into chunks.
        in_flight: most chunks of one schedule handed out at once.
        most: most chunks of all schedules together.
        busy: seconds that workers have spent playing, summed over them.
    """

    sizer: ChunkSizer
    in_flight: int
    most: int = NO_LIMIT
    busy: float = 0.0
    last_result: float = 0.0
    _schedules: int = 0
    _out: int = 0
    _divergent: str = ""
    _times: deque[float] = field(default_factory=lambda: deque(maxlen=101))
    _met: dict[str, int] = field(default_factory=dict)
    _abandoned: list[tuple[Workers, Any, float]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def play(self, workers: Workers, roster: Roster, games: Schedule, watch: Watch, note: Note) -> np.ndarray:
        """Play all games; dtype `GAME`, shape (games,), in the order of the schedule.

        Args:
            workers: who play.
            roster: players, decks and rules.
            games: what is played.
            watch: see `Watch`.
            note: see `Note`.

        Raises:
            PoolError: no worker gives a good result for some chunk.
            WorkerDisagreesError: a worker plays other games than this machine.
        """
        one = _OneSchedule(self, workers, roster, games, watch, note)
        with self._lock:
            self._schedules += 1
        try:
            return one.run()
        finally:
            with self._lock:
                self._schedules -= 1
            self.release(len(one.pending))
            for ticket in one.pending:
                workers.cancel(ticket)

    def may_start(self, pending: int) -> bool:
        """Reserve one more chunk for a schedule that has `pending` chunks in flight, if the limits allow it.

        Schedules share the limit evenly. A second copy of a late chunk asks with `pending` 0, beyond the
        schedule's share.
        """
        with self._lock:
            share = min(self.in_flight, -(-self.most // max(1, self._schedules)))
            if pending >= share or self._out >= self.most:
                return False
            self._out += 1
            return True

    def release(self, chunks: int) -> None:
        """Count chunks that are no longer in flight."""
        with self._lock:
            self._out -= chunks

    def mark_divergent(self, why: str) -> None:
        """Stop every schedule, now and later: a worker plays other games."""
        self._divergent = why

    def raise_if_divergent(self) -> None:
        """Stop if any schedule has found a worker that plays other games.

        Raises:
            WorkerDisagreesError: one was.
        """
        if self._divergent:
            raise WorkerDisagreesError(self._divergent)

    def accept(self, games: int, seconds: float, compiled: bool) -> None:
        """Learn from a good result."""
        with self._lock:  # several threads may play at once
            self.busy += seconds
            self.sizer.record_speed(games, seconds, compiled)

    def record_latency(self, seconds: float) -> None:
        """Learn how long a chunk takes from handing out to its result."""
        with self._lock:
            self._times.append(seconds)
            self.last_result = time.monotonic()

    def late_after(self) -> float:
        """Seconds after which a chunk is late; infinite while too little is known."""
        with self._lock:
            times = list(self._times)
        return max(LATE_LEAST, LATE * float(np.median(times))) if len(times) >= 3 else np.inf

    def hung_after(self) -> float:
        """Seconds after which a worker counts as hung; infinite before the first result.

        Before it nodes start, install and compile, for which there is no bound.
        """
        with self._lock:
            times = list(self._times)
        return max(HUNG, 2 * LATE * float(np.median(times))) if times else np.inf

    def abandon(self, workers: Workers, ticket: Any) -> None:
        """Give up a chunk that another worker has finished.

        Its worker is not ended at once, since it may be a new one that is compiling and would have to begin
        again; it is ended if it is still busy after `HUNG` seconds.
        """
        with self._lock:
            self._abandoned.append((workers, ticket, time.monotonic() + HUNG))

    def end_abandoned(self) -> None:
        """End workers that are still busy with chunks abandoned more than `HUNG` seconds ago."""
        now = time.monotonic()
        with self._lock:
            due = [one for one in self._abandoned if one[2] < now]
            self._abandoned = [one for one in self._abandoned if one[2] >= now]
        for workers, ticket, _ in due:
            workers.cancel(ticket)

    def wants_replay(self, worker: str) -> tuple[bool, int]:
        """Whether to replay a game of this answer, and how many answers since the last replay were not."""
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
        roster: Roster,
        games: Schedule,
        watch: Watch,
        note: Note,
    ) -> None:
        self.dispatcher, self.workers, self.watch, self.note = dispatcher, workers, watch, note
        self.roster, self.games = roster, games
        self.compiled = bool(roster.compiled(games).all())
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
            self.dispatcher.raise_if_divergent()
            self._hand_out()
            if not self.pending:  # other schedules hold all chunks that may be in flight
                time.sleep(0.02)
            done = self.workers.ready(list(self.pending), 0.2) if self.pending else []
            for ticket in done:
                if ticket in self.pending:  # not the second copy of a chunk stored a moment ago
                    self.dispatcher.release(1)
                    self._store(ticket, self.pending.pop(ticket))
            if not done:
                self.watch(0)
            if not self.workers.trusted:
                self._handle_late()
        return self.played

    def _hand_out(self) -> None:
        """Hand out chunks up to the limits."""
        while (self.again or self.next < len(self.games)) and self.dispatcher.may_start(len(self.pending)):
            if self.again:
                start, stop = self.again.popleft()
            else:
                start = self.next
                left = len(self.games) - start
                stop = start + self.dispatcher.sizer.size(left, len(self.games), self.compiled)
                self.next = stop
            self._start(start, stop)

    def _start(self, start: int, stop: int) -> None:
        try:
            ticket = self.workers.start(start, stop)
        except BaseException:
            self.dispatcher.release(1)
            raise
        self.pending[ticket] = Attempt(start, stop, time.monotonic())

    def _store(self, ticket: Any, attempt: Attempt) -> None:
        """Store a result, once; hand out the chunk again if the result is lost or refused."""
        start, stop = attempt.start, attempt.stop
        chunk = self.games.select(slice(start, stop))
        try:
            answer = self.workers.result(ticket)
        except LostError as error:
            self._hand_out_again(start, stop, f"a worker was lost with games {start} to {stop - 1} ({error})")
            return
        why = "" if self.workers.trusted else refusal(answer, chunk, self.roster)
        if why:
            who = str(answer.worker)[:200] if isinstance(answer, Answer) else "a worker"
            what = f"the result of {who} for games {start} to {stop - 1} is refused: {why}"
            self._hand_out_again(start, stop, what)
            return
        assert isinstance(answer, Answer)
        if not self.workers.trusted:
            self._replay(chunk, answer)
        self.failed.pop(start, None)
        self.played[start:stop] = answer.played
        self.left -= stop - start
        self.silences = 0
        self.dispatcher.record_latency(time.monotonic() - attempt.began)
        self.dispatcher.accept(stop - start, answer.seconds, self.compiled)
        for other in [one for one, it in self.pending.items() if it.start == start]:
            del self.pending[other]
            self.dispatcher.release(1)
            self.dispatcher.abandon(self.workers, other)
        self.watch(stop - start)

    def _hand_out_again(self, start: int, stop: int, what: str, blame: bool = True) -> None:
        """Hand out a chunk again, unless another worker has a copy.

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

    def _replay(self, chunk: Schedule, answer: Answer) -> None:
        """Replay one game of an answer here, if it is its turn.

        Raises:
            WorkerDisagreesError: it ends otherwise.
        """
        wanted, unchecked = self.dispatcher.wants_replay(answer.worker)
        if not wanted:
            return
        number = int(chunk.keys[0] % np.uint64(len(chunk)))
        ours = play_schedule(self.roster, chunk.select(slice(number, number + 1)))[0]
        theirs = answer.played[number]
        if ours != theirs:
            first, second = (self.roster.players[place] for place in chunk.players[number])
            decks = [self.roster.decks[place].name for place in chunk.decks[number]]
            names = ", ".join(GAME.names or ())
            before = f". {unchecked} of its chunks counted since it last agreed: start those runs again"
            self.dispatcher.mark_divergent(
                f"{answer.worker} plays another game than this machine: {first.kind} with {decks[0]} against "
                f"{second.kind} with {decks[1]}, deal {int(chunk.keys[number]):#x}: here ({names}) = {ours}, "
                f"there {theirs}. Another processor, library or card base? Give every node the same "
                f"version (requirements.lock), or leave that node out{before if unchecked else ''}"
            )
            self.dispatcher.raise_if_divergent()

    def _handle_late(self) -> None:
        """Hand out a second copy of late chunks, and take back chunks of hung workers."""
        now = time.monotonic()
        self.dispatcher.end_abandoned()
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
            if silent:  # no chunk is to blame when nobody answers
                self._take_back(attempt, f"nothing came for {hung_after:.0f} s: {some} are taken back", False)
            elif now - attempt.began > hung_after:
                self._take_back(attempt, f"{some} have not come for {hung_after:.0f} s: taken back", True)
            elif now - attempt.began > late and copies[start] == 1 and self.dispatcher.may_start(0):
                self.note(f"{some} take more than {late:.1f} s; they are handed out again")
                self._start(start, attempt.stop)

    def _take_back(self, attempt: Attempt, why: str, blame: bool) -> None:
        """Cancel all copies of a chunk, and hand it out again."""
        for ticket in [one for one, it in self.pending.items() if it.start == attempt.start]:
            del self.pending[ticket]
            self.dispatcher.release(1)
            self.workers.cancel(ticket)
        self._hand_out_again(attempt.start, attempt.stop, why, blame)
