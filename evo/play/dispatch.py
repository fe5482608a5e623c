"""Dispatch chunks of games to workers, and collect and check the results; common to all pools.

A schedule is cut into chunks sized by the speed so far; a bounded number of chunks is in flight; results are
stored by game number, so that they depend only on the games. Workers are not trusted: a result counts once,
and only if it is complete, possible and of the requested games. A late chunk is given to a second worker, and
the first good result wins. One game of chunks 1, 2, 4, 8, ... and of every 200th chunk of each worker is
replayed on this machine; a differing result ends the run with a report.
"""

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from evo.config.messages import duration
from evo.play.games import GAME, Roster, Schedule, play_schedule
from evo.play.results import ChunkResult, PoolError, WorkerDisagreesError, refusal_reason
from rivals import is_outside

CHUNKS_PER_WORKER = 8
MAX_CHUNK_SECONDS = 1.0
"""Target duration of a chunk at most, in seconds."""


class ChunkSizer:
    """Chooses chunk sizes from the measured speed of workers.

    Args:
        workers: number of workers.
        shortest: least duration of a chunk, in seconds.
    """

    def __init__(self, workers: int, shortest: float) -> None:
        self.workers = workers
        self.shortest = shortest
        self._speed: dict[bool, float] = {True: 4000.0, False: 10.0}
        self._known = {True: True, False: False}

    def size(self, left: int, total: int, compiled: bool) -> int:
        """Games of the next chunk: a fair share of all or the remaining games, at most a second's."""
        if not self._known[compiled]:
            return 1  # a solver may take a minute per game
        speed = self._speed[compiled]
        share = min(total / (CHUNKS_PER_WORKER * self.workers), left / (2 * self.workers))
        share = max(min(share, MAX_CHUNK_SECONDS * speed), self.shortest * speed)
        return int(min(max(share, 1), left))

    def record_speed(self, games: int, seconds: float, compiled: bool) -> None:
        """Update the estimated speed of a worker (games per second)."""
        if seconds > 0 and games > 0:
            if not self._known[compiled]:
                self._known[compiled], self._speed[compiled] = True, games / seconds
            self._speed[compiled] += 0.5 * (games / seconds - self._speed[compiled])


LATE_FACTOR = 10
"""A chunk is late after this many times the median latency; it is then given to a second worker."""

MIN_LATE_SECONDS = 2.0
"""Seconds before a chunk can be late; Ray queues chunks before it runs them."""

OUTSIDE_AGENT_FACTOR = 30
"""Factor on `HUNG_SECONDS` for agents from outside, which have a time limit for each decision."""

HUNG_SECONDS = 120.0
"""Seconds after which a worker counts as hung and its chunk is handed out again.

At least 2 `LATE_FACTOR` medians. A worker that is still busy then with a chunk finished by another worker is
ended."""

MAX_SILENT_PERIODS = 30
"""Consecutive periods of `HUNG_SECONDS` seconds without any result before a run gives up."""

MAX_ATTEMPTS = 6
"""Failures of one chunk (lost, hung, refused result) before a run gives up."""

REPLAY_EVERY = 200
"""One game is replayed of a worker's chunks 1, 2, 4, 8, ... and of every `REPLAY_EVERY`th chunk."""

NO_LIMIT = sys.maxsize


class WorkerLostError(Exception):
    """The worker that played a chunk was lost; the chunk is handed out again."""


ProgressCallback = Callable[[int], None]
"""Progress callback, on the caller's thread, with the number of games just finished; raises to stop early."""

MessageCallback = Callable[[str], None]
"""Message callback, with a sentence for each result that was refused, lost or late."""


class Workers(Protocol):
    """Workers that play chunks: threads or Ray tasks. `trusted` workers share this process."""

    trusted: bool

    def start(self, start: int, stop: int) -> Hashable:
        """Submit games `start` to `stop` - 1 of the schedule as a chunk; returns a ticket for the result."""
        ...

    def ready(self, tickets: Sequence[Any], timeout: float) -> Sequence[Any]:
        """Return the tickets whose results are ready; wait at most `timeout` seconds for the first."""
        ...

    def result(self, ticket: Any) -> object:
        """Return the result of a finished ticket.

        Raises:
            WorkerLostError: the worker was lost.
        """
        ...

    def cancel(self, ticket: Any) -> None:
        """Cancel the chunk of a ticket, and end the chunk's worker if possible."""
        ...


@dataclass
class Attempt:
    """A chunk in flight: games `start` to `stop` - 1, handed out at time `began` (monotonic, seconds)."""

    start: int
    stop: int
    began: float


@dataclass
class Dispatcher:
    """Plays schedules on workers, and records speed and latency.

    Attributes:
        sizer: chooses chunk sizes.
        in_flight: most chunks of one schedule in flight.
        most: most chunks of all schedules in flight.
        busy: seconds spent playing, summed over workers.
        last_result: time of the last result (monotonic, seconds).
    """

    sizer: ChunkSizer
    in_flight: int
    most: int = NO_LIMIT
    busy: float = 0.0
    last_result: float = 0.0
    _schedules: int = 0
    _in_flight_now: int = 0
    _divergent: str = ""
    _times: deque[float] = field(default_factory=lambda: deque(maxlen=101))
    _answers: dict[str, int] = field(default_factory=dict)
    _abandoned: list[tuple[Workers, Any, float]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def play(
        self,
        workers: Workers,
        roster: Roster,
        games: Schedule,
        watch: ProgressCallback,
        note: MessageCallback,
    ) -> np.ndarray:
        """Play all games of a schedule; returns dtype `Roster.result_dtype`, shape (games,), in order.

        Args:
            workers: play the chunks.
            roster: players, decks and rules.
            games: the schedule.
            watch: see `ProgressCallback`.
            note: see `MessageCallback`.

        Raises:
            PoolError: a chunk failed too often, or no worker answers.
            WorkerDisagreesError: a worker's games differ from those of this machine.
        """
        schedule = _ScheduleRun(self, workers, roster, games, watch, note)
        with self._lock:
            self._schedules += 1
        try:
            return schedule.run()
        finally:
            with self._lock:
                self._schedules -= 1
            self.release(len(schedule.pending))
            for ticket in schedule.pending:
                workers.cancel(ticket)

    def may_start(self, pending: int) -> bool:
        """Reserve one more chunk for a schedule that has `pending` chunks in flight, if the limits allow it.

        Schedules share the limit evenly. For a second copy of a late chunk, `pending` is 0: it may exceed the
        schedule's share.
        """
        with self._lock:
            share = min(self.in_flight, -(-self.most // max(1, self._schedules)))
            if pending >= share or self._in_flight_now >= self.most:
                return False
            self._in_flight_now += 1
            return True

    def release(self, chunks: int) -> None:
        """Free the places of chunks that are no longer in flight."""
        with self._lock:
            self._in_flight_now -= chunks

    def mark_divergent(self, why: str) -> None:
        """Record that a worker plays different games: every schedule, now and later, then stops."""
        self._divergent = why

    def raise_if_divergent(self) -> None:
        """Raise if any schedule has found a worker that plays different games.

        Raises:
            WorkerDisagreesError: one has.
        """
        if self._divergent:
            raise WorkerDisagreesError(self._divergent)

    def accept(self, games: int, seconds: float, compiled: bool) -> None:
        """Record the speed and duration with which an accepted chunk was played."""
        with self._lock:  # several threads may play at once
            self.busy += seconds
            self.sizer.record_speed(games, seconds, compiled)

    def record_latency(self, seconds: float) -> None:
        """Record the time from handing out a chunk to its result."""
        with self._lock:
            self._times.append(seconds)
            self.last_result = time.monotonic()

    def late_after(self) -> float:
        """Seconds after which a chunk in flight is late; infinite before the third result."""
        with self._lock:
            times = list(self._times)
        return max(MIN_LATE_SECONDS, LATE_FACTOR * float(np.median(times))) if len(times) >= 3 else np.inf

    def hung_after(self) -> float:
        """Seconds after which a worker counts as hung; infinite before the first result.

        Until then nodes start, install and compile, which may take arbitrarily long.
        """
        with self._lock:
            times = list(self._times)
        return max(HUNG_SECONDS, 2 * LATE_FACTOR * float(np.median(times))) if times else np.inf

    def abandon(self, workers: Workers, ticket: Any) -> None:
        """Abandon a copy of a chunk that another worker has finished.

        Its worker is not ended at once, since it may still be compiling; it is ended if it is still busy
        after `HUNG_SECONDS` seconds.
        """
        with self._lock:
            self._abandoned.append((workers, ticket, time.monotonic() + HUNG_SECONDS))

    def end_abandoned(self) -> None:
        """End workers that are still busy with chunks abandoned more than `HUNG_SECONDS` seconds ago."""
        now = time.monotonic()
        with self._lock:
            due = [entry for entry in self._abandoned if entry[2] < now]
            self._abandoned = [entry for entry in self._abandoned if entry[2] >= now]
        for workers, ticket, _ in due:
            workers.cancel(ticket)

    def replay_due(self, worker: str) -> tuple[bool, int]:
        """Whether to replay a game of a worker's new answer, and the answers since the last replay."""
        with self._lock:
            n = self._answers[worker] = self._answers.get(worker, 0) + 1
        power = 1 << (n - 1).bit_length() - 1 if n > 1 else 0  # the last of 1, 2, 4, ... before n
        last = max(power, (n - 1) // REPLAY_EVERY * REPLAY_EVERY)
        return n & (n - 1) == 0 or n % REPLAY_EVERY == 0, n - 1 - last


class _ScheduleRun:
    """One schedule being played: the state of a call of `Dispatcher.play`."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        workers: Workers,
        roster: Roster,
        games: Schedule,
        watch: ProgressCallback,
        note: MessageCallback,
    ) -> None:
        self.dispatcher, self.workers, self.watch, self.note = dispatcher, workers, watch, note
        self.roster, self.games = roster, games
        self.compiled = bool(roster.compiled(games).all())
        self.outside = any(is_outside(player.kind) for player in roster.players)
        self.played = np.zeros(len(games), roster.result_dtype)
        self.pending: dict[Any, Attempt] = {}
        self.again: deque[tuple[int, int]] = deque()
        self.failed: dict[int, int] = {}
        self.next = 0
        self.left = len(games)
        self.began = time.monotonic()
        self.silences = 0

    def run(self) -> np.ndarray:
        """Play the schedule; returns the results of all games."""
        while self.left:
            self.dispatcher.raise_if_divergent()
            self._hand_out()
            if not self.pending:  # other schedules use the whole limit of chunks in flight
                time.sleep(0.02)
            done = self.workers.ready(list(self.pending), 0.2) if self.pending else []
            for ticket in done:
                if ticket in self.pending:  # not the second copy of a chunk just stored
                    self.dispatcher.release(1)
                    self._store(ticket, self.pending.pop(ticket))
            if not done:
                self.watch(0)
            if not self.workers.trusted:
                self._handle_late()
        return self.played

    def _hand_out(self) -> None:
        """Hand out chunks up to the limits of chunks in flight."""
        while (self.again or self.next < len(self.games)) and self.dispatcher.may_start(len(self.pending)):
            if self.again:
                start, stop = self.again.popleft()
            else:
                start = self.next
                left = len(self.games) - start
                size = self.dispatcher.sizer.size(left, len(self.games), self.compiled)
                stop = start + (1 if self.outside else size)
                self.next = stop
            self._start(start, stop)

    def _start(self, start: int, stop: int) -> None:
        """Submit a chunk for which `Dispatcher.may_start` has reserved a place."""
        try:
            ticket = self.workers.start(start, stop)
        except BaseException:
            self.dispatcher.release(1)
            raise
        self.pending[ticket] = Attempt(start, stop, time.monotonic())

    def _store(self, ticket: Any, attempt: Attempt) -> None:
        """Store the result of a chunk once; hand out the chunk again if the result is lost or refused."""
        start, stop = attempt.start, attempt.stop
        chunk = self.games.select(slice(start, stop))
        try:
            answer = self.workers.result(ticket)
        except WorkerLostError as error:
            self._hand_out_again(start, stop, f"a worker was lost with games {start} to {stop - 1} ({error})")
            return
        why = "" if self.workers.trusted else refusal_reason(answer, chunk, self.roster)
        if why:
            worker = str(answer.worker)[:200] if isinstance(answer, ChunkResult) else "a worker"
            message = f"the result of {worker} for games {start} to {stop - 1} is refused: {why}"
            self._hand_out_again(start, stop, message)
            return
        assert isinstance(answer, ChunkResult)
        if not self.workers.trusted:
            self._replay(chunk, answer)
        self.failed.pop(start, None)
        self.played[start:stop] = answer.played
        self.left -= stop - start
        self.silences = 0
        self.dispatcher.record_latency(time.monotonic() - attempt.began)
        self.dispatcher.accept(stop - start, answer.seconds, self.compiled)
        for copy in self._copies(start):
            del self.pending[copy]
            self.dispatcher.release(1)
            self.dispatcher.abandon(self.workers, copy)
        self.watch(stop - start)

    def _hand_out_again(self, start: int, stop: int, message: str, counts: bool = True) -> None:
        """Hand out a chunk again, unless another worker already has a copy.

        Raises:
            PoolError: the chunk failed too often.
        """
        self.note(f"{message}; these games are handed out again")
        self.failed[start] = self.failed.get(start, 0) + counts
        if self.failed[start] >= MAX_ATTEMPTS:
            raise PoolError(
                f"games {start} to {stop - 1} were handed out {MAX_ATTEMPTS} times without a good result; "
                f"the last time, {message}"
            )
        if not self._copies(start):
            self.again.append((start, stop))

    def _copies(self, start: int) -> list[Any]:
        """Tickets in flight of the chunk that starts with game `start`."""
        return [ticket for ticket, attempt in self.pending.items() if attempt.start == start]

    def _replay(self, chunk: Schedule, answer: ChunkResult) -> None:
        """Replay one game of a worker's result on this machine, if a replay is due.

        Raises:
            WorkerDisagreesError: the results differ.
        """
        due, unchecked = self.dispatcher.replay_due(answer.worker)
        if not due or self.outside:  # agents from outside need not be reproducible
            return
        number = int(chunk.keys[0] % np.uint64(len(chunk)))
        ours = play_schedule(self.roster, chunk.select(slice(number, number + 1)))[0]
        theirs = answer.played[number]
        if ours.tobytes() != theirs.tobytes():
            first, second = (self.roster.players[place] for place in chunk.players[number])
            decks = [self.roster.decks[place].name for place in chunk.decks[number]]
            names = ", ".join(GAME.names or ())
            ours, theirs = (tuple(game[name].item() for name in GAME.names or ()) for game in (ours, theirs))
            unverified = f". {unchecked} of its chunks were accepted since it last agreed: restart those runs"
            self.dispatcher.mark_divergent(
                f"{answer.worker} plays a different game than this machine: {first.kind} with {decks[0]} "
                f"against {second.kind} with {decks[1]}, deal {int(chunk.keys[number]):#x}: here ({names}) = "
                f"{ours}, there {theirs}. Another processor, library or card base? Install the same versions "
                f"on every node (requirements.lock), or leave that node out{unverified if unchecked else ''}"
            )
            self.dispatcher.raise_if_divergent()

    def _handle_late(self) -> None:
        """Hand out second copies of late chunks, and take back the chunks of hung workers."""
        now = time.monotonic()
        self.dispatcher.end_abandoned()
        hung_after = self.dispatcher.hung_after() * (OUTSIDE_AGENT_FACTOR if self.outside else 1)
        silent = now - max(self.began, self.dispatcher.last_result) > hung_after
        newest: dict[int, Attempt] = {}
        copies: dict[int, int] = {}
        for attempt in self.pending.values():  # in the order they were handed out
            newest[attempt.start] = attempt
            copies[attempt.start] = copies.get(attempt.start, 0) + 1
        if newest and silent:
            self.silences += 1
            if self.silences > MAX_SILENT_PERIODS:
                raise PoolError(f"no worker has answered for {duration(MAX_SILENT_PERIODS * hung_after)}")
            self.began = now
        late = self.dispatcher.late_after()
        for start, attempt in newest.items():
            games = f"games {start} to {attempt.stop - 1}"
            if silent:  # no worker answers: this counts against no chunk
                message = f"no result of any worker for {duration(hung_after)}: {games} are taken back"
                self._take_back(attempt, message, False)
            elif now - attempt.began > hung_after:
                message = f"no result of {games} for {duration(hung_after)}: they are taken back"
                self._take_back(attempt, message, True)
            elif now - attempt.began > late and copies[start] == 1 and self.dispatcher.may_start(0):
                self.note(f"{games} take more than {late:.1f} s; these games are handed out again")
                self._start(start, attempt.stop)

    def _take_back(self, attempt: Attempt, message: str, counts: bool) -> None:
        """Cancel all copies of a chunk, and hand it out again."""
        for ticket in self._copies(attempt.start):
            del self.pending[ticket]
            self.dispatcher.release(1)
            self.workers.cancel(ticket)
        self._hand_out_again(attempt.start, attempt.stop, message, counts)
