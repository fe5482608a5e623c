"""Agents that play through an external process: `python:MODULE:CLASS` and `process:COMMAND`."""

import atexit
import contextlib
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from engine.actions import Action
from engine.codes import Outcome
from engine.errors import ManaforgeError
from engine.game_session import AgentFaultError, Reason
from engine.versions import engine_versions
from engine.view import PlayerView
from rivals.outside.messages import PROTOCOL, decide_message, parse_choice
from rivals.outside.parameters import (
    Parameter,
    ParameterError,
    differences,
    read_parameters,
    values_of,
)
from rivals.outside.permissions import command_of, refuse_unnamed
from rivals.outside.process import OutsideProcess


class NotStartedError(ManaforgeError, RuntimeError):
    """An agent from outside cannot be started."""


SECONDS_TO_START = 120.0
"""Time limit to start and answer `hello`; generous, for large models on busy machines."""

MAX_LEGAL_SHOWN = 4
"""Largest number of legal actions named in the message on an illegal one."""


class OutsideAgent:
    """An agent that decides in an external process, one game at a time.

    Processes are reused for the next game. After a fault the process is killed, and the next game starts a
    new one.

    Args:
        name: entrant name, `python:MODULE:CLASS` or `process:COMMAND`.
        seconds: time limit per decision.
        weights: positions of its parameters between their bounds, each from 0 to 1; () for its own values.
    """

    def __init__(self, name: str, seconds: int, weights: Sequence[float] = ()) -> None:
        self.name = name
        self._weights = tuple(weights)
        self._seconds = float(seconds)
        self._playing: OutsideProcess | None = None
        self._ended: tuple[AgentFaultError, OutsideProcess | None] | None = (
            None  # the process ended before a request
        )
        self._seat = 0
        self._game: dict[str, Any] = {}
        self._fresh = True  # answered in this game or started for it, so that an exit is a fault

    def new_game(self, seat: int, rng: np.random.Generator) -> None:
        """Assign a process and send it the message that a game begins."""
        self._end(broken=True)  # an abandoned game
        self._seat = seat
        self._game = {"type": "new game", "seat": seat, "seed": int(rng.integers(2**53))}
        self._playing = processes.take(self.name)
        self._fresh, self._ended = not self._playing.played, None
        if self._weights:
            self._game["parameters"] = self._values(self._playing)
        self._tell(self._game)

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:  # noqa: ARG002 - has a seed
        """Request one of the legal actions; see `engine.game_session.Agent`."""
        answer = self._answer(decide_message(view))
        action = parse_choice(answer, view.legal_actions)
        if action is not None:
            return action
        self._end(broken=True)
        if "action" not in answer:
            shown = str(answer)[:100]
            raise AgentFaultError(
                f"{self.name}: it answered {shown}, without an action", Reason.NOT_UNDERSTOOD
            )
        legal = [str(one) for one in view.legal_actions]
        more = f" and {len(legal) - MAX_LEGAL_SHOWN} more" if len(legal) > MAX_LEGAL_SHOWN else ""
        shown = f"it answered the action {repr(answer['action'])[:100]}, which is not legal"
        shown = "act returned nothing (None)" if answer["action"] is None else shown
        raise AgentFaultError(
            f"{self.name}: {shown}; legal are {', '.join(legal[:MAX_LEGAL_SHOWN])}{more}",
            Reason.ILLEGAL_ACTION,
        )

    def game_over(self, outcome: Outcome, reason: Reason) -> None:
        """Send the result to the process and release it for another game."""
        winner = {Outcome.FIRST_WINS: 0, Outcome.SECOND_WINS: 1}.get(outcome)
        result = "drawn" if winner is None else "won" if winner == self._seat else "lost"
        if self._playing is not None:
            with contextlib.suppress(AgentFaultError):
                self._tell({"type": "result", "result": result, "reason": str(reason)})
        self._end()

    def _values(self, playing: OutsideProcess) -> dict[str, float]:
        """Parameter values by name; refuse a process whose declaration differs from the first start's."""
        first = check_starts(self.name)
        changes = differences(playing.parameters, first)
        if changes:
            self._end(broken=True)
            raise AgentFaultError(
                f"{self.name}: its restarted process declares other parameters than the first: {changes}",
                Reason.NOT_UNDERSTOOD,
            )
        try:
            return values_of(first, self._weights)
        except ParameterError as error:
            self._end()
            raise AgentFaultError(f"{self.name}: {error}", Reason.NOT_UNDERSTOOD) from None

    def _tell(self, message: dict[str, Any]) -> None:
        """Send a message; an exit of the process is reported by the next request."""
        process = self._playing
        try:
            self._call(lambda playing: playing.send(message, self._seconds))
        except AgentFaultError as error:
            if error.reason != Reason.PROCESS_ENDED:
                raise
            self._ended = error, process

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return the answer; replaces a process that exited normally between games."""
        process = self._playing
        try:
            if self._ended is not None:
                error, process = self._ended
                raise error
            answer = self._call(lambda playing: playing.ask(message, self._seconds))
        except AgentFaultError as error:
            self._ended = None
            if self._fresh or error.reason != Reason.PROCESS_ENDED or process is None or process.code != 0:
                raise
            self._fresh, self._playing = True, processes.take(self.name, new=True)
            self._tell(self._game)
            answer = self._call(lambda playing: playing.ask(message, self._seconds))
        self._fresh = True
        found: dict[str, Any] = answer
        return found

    def _call(self, say: Any) -> Any:
        """Call `say` with this game's process, and return the result; on a fault the process is killed."""
        if self._playing is None:
            raise AgentFaultError(f"{self.name}: no game has begun; call new_game first", Reason.AGENT_ERROR)
        try:
            return say(self._playing)
        except BaseException:
            self._end(broken=True)
            raise

    def _end(self, broken: bool = False) -> None:
        """End the game: release the process for another game, or kill it if it is broken."""
        playing, self._playing = self._playing, None
        if playing is None:
            return
        if broken:
            processes.discard(playing)
        else:
            processes.give_back(self.name, playing)


class ProcessPool:
    """Pool of outside processes, idle or in games."""

    def __init__(self) -> None:
        self._free: dict[str, list[OutsideProcess]] = {}
        self._busy: set[OutsideProcess] = set()
        self._stopped = False
        self._lock = threading.Lock()

    def take(self, name: str, new: bool = False) -> OutsideProcess:
        """Take an idle process out of the pool, or start one.

        Args:
            name: of the agent.
            new: start a new process.

        Raises:
            AgentFaultError: no process can be started, or one failed after its last game.
        """
        while True:
            with self._lock:
                free = [] if new else self._free.get(name, [])
                process = free.pop() if free else None
            if process is None:
                return start(name)
            if process.is_ready():
                self.mark_busy(process)
                return process
            failed = process.failed()
            process.close(now=True)  # exited after its last game, or wrote unexpected output
            if failed is not None:
                raise failed

    def mark_busy(self, process: OutsideProcess) -> None:
        """Register a process as busy.

        Raises:
            AgentFaultError: games are being stopped (`stopped`); the process is killed.
        """
        with self._lock:
            stopped = self._stopped
            if not stopped:
                self._busy.add(process)
        if stopped:
            process.close(now=True)
            raise AgentFaultError(
                f"{process.name}: no process is started while games are being stopped", Reason.PROCESS_ENDED
            )

    def give_back(self, name: str, process: OutsideProcess) -> None:
        """Return a process to the pool for another game."""
        process.played = True
        with self._lock:
            self._busy.discard(process)
            self._free.setdefault(name, []).append(process)

    def discard(self, process: OutsideProcess) -> None:
        """Kill a busy process."""
        with self._lock:
            self._busy.discard(process)
        process.close(now=True)

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Context that kills all busy processes, whose games are lost, and in which no process starts."""
        with self._lock:
            self._stopped, busy = True, list(self._busy)
        for process in busy:
            process.stop()
        try:
            yield
        finally:
            self._stopped = False

    def close(self) -> None:
        """End all idle processes, and kill the remains of busy processes whose supervisor is gone."""
        with self._lock:
            waiting = [process for free in self._free.values() for process in free]
            self._free.clear()
            busy = list(self._busy)
        for process in busy:
            process.kill_leftovers()
        for process in waiting:
            process.close_streams()  # so that all exit in parallel
        for process in waiting:
            process.close()


processes = ProcessPool()
atexit.register(processes.close)


@cache
def check_starts(name: str) -> tuple[Parameter, ...]:
    """Start an agent once and keep the process for its first game; returns its declared parameters.

    Raises:
        NotStartedError: it cannot be started, or does not answer `hello`.
        NotAllowedError: the command line does not name it.
    """
    try:
        process = start(name)
    except AgentFaultError as error:
        raise NotStartedError(f"{error}; see docs/agents-outside.md for the protocol") from None
    processes.give_back(name, process)
    process.played = False
    return process.parameters


def start(name: str) -> OutsideProcess:
    """Start an agent and exchange `hello`; returns its process.

    Raises:
        AgentFaultError: it cannot be started, or its answer is invalid.
        OutsideAgentError: malformed name.
        NotAllowedError: the command line does not name it.
    """
    refuse_unnamed(name)
    process = OutsideProcess(name, command_of(name))
    processes.mark_busy(process)
    try:
        request = {"type": "hello", "protocol": PROTOCOL, "manaforge": engine_versions()["manaforge"]}
        answer = process.ask(request, SECONDS_TO_START)
        if (answer.get("type"), answer.get("protocol"), type(answer.get("name"))) != ("hello", PROTOCOL, str):
            raise AgentFaultError(
                f"{name}: the answer to hello must have type 'hello', protocol {PROTOCOL} and a name, "
                f"got {str(answer)[:100]}",
                Reason.NOT_UNDERSTOOD,
            )
        process.parameters = read_parameters(answer.get("parameters", []))
    except ParameterError as error:
        processes.discard(process)
        raise AgentFaultError(f"{name}: in its answer to hello: {error}", Reason.NOT_UNDERSTOOD) from None
    except BaseException:
        processes.discard(process)
        raise
    return process
