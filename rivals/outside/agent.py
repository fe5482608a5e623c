"""Outside agents as players: `python:MODULE:CLASS` and `process:COMMAND`."""

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
from rivals.outside.messages import PROTOCOL, chosen, decide_message
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
    """An outside agent that is named and cannot play."""


SECONDS_TO_START = 120.0
"""To start and answer to hello: a program may read a large model, on a machine that does other work too."""


class OutsideAgent:
    """An agent that decides in a process of its own, which plays one game at a time.

    Processes are kept for the next game. After a fault the process is ended, and the next game has a new one.

    Args:
        name: the entrant's, `python:MODULE:CLASS` or `process:COMMAND`.
        seconds: for a decision.
        weights: places of its parameters between their bounds, each from 0 to 1; () for its own values.
    """

    def __init__(self, name: str, seconds: int, weights: Sequence[float] = ()) -> None:
        self.name = name
        self._weights = tuple(weights)
        self._seconds = float(seconds)
        self._playing: OutsideProcess | None = None
        self._ended: tuple[AgentFaultError, OutsideProcess | None] | None = None  # before it was asked
        self._seat = 0
        self._game: dict[str, Any] = {}
        self._fresh = True  # it answered in this game, or was started for it: that it ends is its own fault

    def new_game(self, seat: int, rng: np.random.Generator) -> None:
        """Tell a process of it that a game begins."""
        self._end(broken=True)  # a game that was left
        self._seat = seat
        self._game = {"type": "new game", "seat": seat, "seed": int(rng.integers(2**53))}
        self._playing = processes.take(self.name)
        self._fresh, self._ended = not self._playing.played, None
        if self._weights:
            self._game["parameters"] = self._values(self._playing)
        self._tell(self._game)

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:  # noqa: ARG002 - it has its seed
        """Ask for one of the legal actions; see `engine.game_session.Agent`."""
        answer = self._answer(decide_message(view))
        action = chosen(answer, view.legal_actions)
        if action is not None:
            return action
        self._end(broken=True)
        if "action" not in answer:
            shown = str(answer)[:100]
            raise AgentFaultError(f"{self.name}: it answered {shown}, without action", Reason.NOT_UNDERSTOOD)
        shown = repr(answer["action"])[:100]
        raise AgentFaultError(f"{self.name}: {shown} is no legal action", Reason.ILLEGAL_ACTION)

    def game_over(self, outcome: Outcome, reason: Reason) -> None:
        """Tell the process how the game ended, and free it for another."""
        won = {Outcome.FIRST_WINS: 0, Outcome.SECOND_WINS: 1}.get(outcome)
        result = "drawn" if won is None else "won" if won == self._seat else "lost"
        if self._playing is not None:
            with contextlib.suppress(AgentFaultError):
                self._tell({"type": "result", "result": result, "reason": str(reason)})
        self._end()

    def _values(self, playing: OutsideProcess) -> dict[str, float]:
        """Values of its parameters by name, which must be those that it declared first."""
        first = check_starts(self.name)
        different = differences(playing.parameters, first)
        if different:
            self._end(broken=True)
            raise AgentFaultError(
                f"{self.name}: started again it declares other parameters: {different}", Reason.NOT_UNDERSTOOD
            )
        try:
            return values_of(first, self._weights)
        except ParameterError as error:
            self._end()
            raise AgentFaultError(f"{self.name}: {error}", Reason.NOT_UNDERSTOOD) from None

    def _tell(self, message: dict[str, Any]) -> None:
        """Tell the process something; that it has ended is told by the next question."""
        process = self._playing
        try:
            self._said(lambda playing: playing.send(message, self._seconds))
        except AgentFaultError as error:
            if error.reason != Reason.PROCESS_ENDED:
                raise
            self._ended = error, process

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """The answer to a question. A process that ended well after its last game is no fault of this one."""
        process = self._playing
        try:
            if self._ended is not None:
                error, process = self._ended
                raise error
            answer = self._said(lambda playing: playing.ask(message, self._seconds))
        except AgentFaultError as error:
            self._ended = None
            if self._fresh or error.reason != Reason.PROCESS_ENDED or process is None or process.code != 0:
                raise
            self._fresh, self._playing = True, processes.take(self.name, new=True)
            self._tell(self._game)
            answer = self._said(lambda playing: playing.ask(message, self._seconds))
        self._fresh = True
        found: dict[str, Any] = answer
        return found

    def _said(self, say: Any) -> Any:
        """What is said to the process; after a fault it is ended."""
        if self._playing is None:
            raise AgentFaultError(f"{self.name}: it is in no game", Reason.AGENT_ERROR)
        try:
            return say(self._playing)
        except BaseException:
            self._end(broken=True)
            raise

    def _end(self, broken: bool = False) -> None:
        """The game is over: keep the process for another, unless it is broken."""
        playing, self._playing = self._playing, None
        if playing is None:
            return
        if broken:
            processes.discard(playing)
        else:
            processes.give_back(self.name, playing)


class Processes:
    """Processes of outside agents: those in games, and those that wait for their next one."""

    def __init__(self) -> None:
        self._free: dict[str, list[OutsideProcess]] = {}
        self._busy: set[OutsideProcess] = set()
        self._stopped = False
        self._lock = threading.Lock()

    def take(self, name: str, new: bool = False) -> OutsideProcess:
        """A process that is in no game.

        Args:
            name: of the agent.
            new: one that has played no game.

        Raises:
            AgentFaultError: none can be started, or one failed after its last game.
        """
        while True:
            with self._lock:
                free = [] if new else self._free.get(name, [])
                process = free.pop() if free else None
            if process is None:
                return start(name)
            if process.is_ready():
                self.watch(process)
                return process
            failed = process.failed()
            process.close(now=True)  # it ended after its last game, or wrote something
            if failed is not None:
                raise failed

    def watch(self, process: OutsideProcess) -> None:
        """Take a process in, which does something from now on.

        Raises:
            AgentFaultError: no game goes on any more (`stopped`); the process is ended.
        """
        with self._lock:
            stopped = self._stopped
            if not stopped:
                self._busy.add(process)
        if stopped:
            process.close(now=True)
            raise AgentFaultError(f"{process.name}: the games are stopped", Reason.PROCESS_ENDED)

    def give_back(self, name: str, process: OutsideProcess) -> None:
        """Keep a process for another game."""
        process.played = True
        with self._lock:
            self._busy.discard(process)
            self._free.setdefault(name, []).append(process)

    def discard(self, process: OutsideProcess) -> None:
        """End a process that is in a game."""
        with self._lock:
            self._busy.discard(process)
        process.close(now=True)

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """End all that are in games, which are lost by it, and let none begin: while a pool is closed."""
        with self._lock:
            self._stopped, busy = True, list(self._busy)
        for process in busy:
            process.stop()
        try:
            yield
        finally:
            self._stopped = False

    def close(self) -> None:
        """End all that are in no game, and whatever the keepers of others cannot end any more."""
        with self._lock:
            waiting = [process for free in self._free.values() for process in free]
            self._free.clear()
            busy = list(self._busy)
        for process in busy:
            process.end_left()
        for process in waiting:
            process.hang_up()  # all end at once
        for process in waiting:
            process.close()


processes = Processes()
atexit.register(processes.close)


@cache
def check_starts(name: str) -> tuple[Parameter, ...]:
    """Start an agent once, and keep the process for its first game; the parameters that it declares.

    Raises:
        NotStartedError: it cannot be started, or does not say hello.
        NotAllowedError: the command line does not name it.
    """
    try:
        process = start(name)
    except AgentFaultError as error:
        raise NotStartedError(f"{error}; docs/agents-outside.md has the protocol") from None
    processes.give_back(name, process)
    process.played = False
    return process.parameters


def start(name: str) -> OutsideProcess:
    """Start an agent, which says hello; its process.

    Raises:
        AgentFaultError: it cannot be started, or does not answer as it should.
        OutsideAgentError: the name is none of an outside agent.
        NotAllowedError: the command line does not name it.
    """
    refuse_unnamed(name)
    process = OutsideProcess(name, command_of(name))
    processes.watch(process)
    try:
        hello = {"type": "hello", "protocol": PROTOCOL, "manaforge": engine_versions()["manaforge"]}
        answer = process.ask(hello, SECONDS_TO_START)
        if (answer.get("type"), answer.get("protocol"), type(answer.get("name"))) != ("hello", PROTOCOL, str):
            raise AgentFaultError(
                f"{name}: it must answer to hello with type 'hello', protocol {PROTOCOL} and its name, and "
                f"answered {str(answer)[:100]}",
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
