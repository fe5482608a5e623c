"""Process of an agent from outside: starts it under a supervisor; line-based messages with time limits.

All descendants of an agent inherit an environment variable as a mark, by which they are found and killed if
the supervisor no longer can.
"""

import contextlib
import json
import os
import secrets
import select
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from engine.game_session import AgentFaultError, Reason
from rivals.outside.messages import RAISED
from rivals.outside.parameters import Parameter
from rivals.outside.supervisor import descendants_of

SUPERVISOR = Path(__file__).with_name("supervisor.py")

MAX_LINE = 2**16
"""Largest length of a line from an agent, in bytes."""

MAX_READS = 16
"""Largest number of reads of standard error at a time."""

ERROR_TAIL = 2000
"""Bytes kept from the end of standard error, for error messages."""

MAX_QUOTED = 100
"""Largest number of bytes of output quoted in a message."""

SECONDS_TO_END = 3.0
"""Time limit for the supervisor to exit; longer than it waits for the agent."""

MAX_PASSES = 50
"""Largest number of passes over leftover processes, since each may start others meanwhile."""


class OutsideProcess:
    """The running process of an agent from outside.

    Attributes:
        parameters: declared in its answer to `hello`.
        played: whether it was in a game before.

    Args:
        name: entrant name, for errors.
        command: command line that starts it.

    Raises:
        AgentFaultError: the process cannot be started.
    """

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        self.parameters: tuple[Parameter, ...] = ()
        self.played = False
        self._owner, self._mark = os.getpid(), f"MANAFORGE_AGENT_{secrets.token_hex(16)}"
        lifeline, self._lifeline = os.pipe()
        try:
            self._supervisor = subprocess.Popen(
                [sys.executable, "-I", "-S", str(SUPERVISOR), str(lifeline), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[lifeline],
                env={**os.environ, self._mark: "1"},
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            os.close(self._lifeline)
            raise AgentFaultError(
                f"{name}: cannot be started: {error.strerror or error}", Reason.PROCESS_ENDED
            ) from None
        finally:
            os.close(lifeline)
        assert self._supervisor.stdin is not None
        assert self._supervisor.stdout is not None
        assert self._supervisor.stderr is not None
        self._in, self._out = self._supervisor.stdin.fileno(), self._supervisor.stdout.fileno()
        self._err = self._supervisor.stderr.fileno()
        self._read, self._errors = b"", b""
        self._ready = selectors.DefaultSelector()
        for stream in (self._in, self._out, self._err):
            os.set_blocking(stream, False)
        self._ready.register(self._out, selectors.EVENT_READ)
        self._ready.register(self._err, selectors.EVENT_READ)

    @property
    def code(self) -> int | None:
        """Exit code of the agent; None while the agent runs or if the code is unknown."""
        return self._supervisor.returncode

    def is_ready(self) -> bool:
        """Whether the agent runs and has written nothing unrequested."""
        return self._take() and not self._read

    def failed(self) -> AgentFaultError | None:
        """Fault of an agent that exited with an error while idle; None without a fault."""
        if self._take():
            return None
        fault = self._fault("the process ended after its last game", Reason.PROCESS_ENDED)
        return fault if self.code else None

    def send(self, message: dict[str, Any], seconds: float) -> None:
        """Write a message to the agent, within a time limit.

        Raises:
            AgentFaultError: the agent does not read it in time, or has ended.
        """
        left, until = json.dumps(message, separators=(",", ":")).encode() + b"\n", time.monotonic() + seconds
        while left:
            try:
                left = left[os.write(self._in, left) :]
            except BlockingIOError:
                self._ready.register(self._in, selectors.EVENT_WRITE)
                try:
                    self._wait(until, seconds, "read its input")
                finally:
                    self._ready.unregister(self._in)
            except OSError:
                raise self._fault("the process ended", Reason.PROCESS_ENDED) from None

    def ask(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Write a message to the agent and return its answer: one line with a JSON object.

        Raises:
            AgentFaultError: no answer in time, or not a JSON object on one line.
        """
        until = time.monotonic() + seconds
        self._take()
        if self._read:
            raise self._fault(f"it wrote {_quoted(self._read)} without a request", Reason.NOT_UNDERSTOOD)
        self.send(message, seconds)
        while b"\n" not in self._read:
            if len(self._read) > MAX_LINE:
                raise self._fault(f"it wrote a line of more than {MAX_LINE} bytes", Reason.NOT_UNDERSTOOD)
            self._wait(until, seconds, "answer")
        line, _, self._read = self._read.partition(b"\n")
        if len(line) > MAX_LINE:
            raise self._fault(f"it wrote a line of more than {MAX_LINE} bytes", Reason.NOT_UNDERSTOOD)
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise self._fault(f"it answered {_quoted(line)}, not a JSON object", Reason.NOT_UNDERSTOOD)
        return answer

    def _wait(self, until: float, seconds: float, what: str) -> None:
        """Wait until a stream of the agent is ready, and read the available output."""
        left = until - time.monotonic()
        if left <= 0 or not self._ready.select(left):
            raise self._fault(f"it did not {what} within {seconds:g} s", Reason.TOO_LATE)
        if not self._take() and b"\n" not in self._read:
            raise self._fault("the process ended", Reason.PROCESS_ENDED)

    def _take(self) -> bool:
        """Read all available output; returns whether the process still runs."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(MAX_READS):  # the rest is read next time
                errors = os.read(self._err, 2**16)
                self._errors = (self._errors + errors)[-ERROR_TAIL:]
                if len(errors) < 2**16:
                    break
        try:
            while len(self._read) <= MAX_LINE:
                more = os.read(self._out, 2**16)
                if not more:
                    return False
                self._read += more
        except BlockingIOError:
            pass
        return True

    def _fault(self, message: str, reason: Reason) -> AgentFaultError:
        """Error for a fault, with the most informative line of the agent's standard error."""
        if reason == Reason.PROCESS_ENDED:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._supervisor.wait(SECONDS_TO_END)
            self._take()
            code = self._supervisor.returncode
            message += "" if code is None else f" with exit code {code}"
        lines = self._errors.decode(errors="replace").strip().splitlines()
        raised = next((line for line in reversed(lines) if line.startswith(RAISED)), "")
        if raised and reason == Reason.PROCESS_ENDED:
            return AgentFaultError(f"{self.name}: its {_printable(raised.removeprefix(RAISED))}", reason)
        why = next((line for line in reversed(lines) if "rror" in line), lines[-1] if lines else "")
        detail = f"; its last error: {_quoted(why.encode())}" if why else ""
        return AgentFaultError(f"{self.name}: {message}{detail}", reason)

    def stop(self) -> None:
        """Have the supervisor kill the agent now, even a suspended one; pending requests fail."""
        for number in (signal.SIGTERM, signal.SIGCONT):
            self._supervisor.send_signal(number)

    def close_streams(self) -> None:
        """Close the agent's streams; the supervisor kills an agent that does not exit by itself."""
        for stream in (self._supervisor.stdin, self._supervisor.stdout, self._supervisor.stderr):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        lifeline, self._lifeline = self._lifeline, -1
        if lifeline >= 0:
            os.close(lifeline)

    def close(self, now: bool = False) -> None:
        """End the agent: close its input, then have the supervisor kill all processes that do not exit.

        If the supervisor was killed or hangs, all processes with the agent's mark are killed.

        Args:
            now: do not wait for the agent to exit by itself.
        """
        if now:
            self.stop()
        self.close_streams()
        self._ready.close()
        try:
            self._supervisor.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            supervisor = self._supervisor.pid  # its id is not reused before it is waited for
            kill_all(lambda: descendants_of({supervisor}))
            self._supervisor.kill()
            self._supervisor.wait()
        self.kill_leftovers()

    def kill_leftovers(self) -> None:
        """Kill marked processes if the supervisor is gone; only in the process that started the agent."""
        if os.getpid() == self._owner and self._supervisor.poll() is not None:
            kill_all(lambda: processes_with_mark(self._mark))


def _quoted(text: bytes) -> str:
    """Beginning of an agent's output as a quoted line."""
    shown = text[:MAX_QUOTED].decode(errors="replace")
    return repr(shown) + ("..." if len(text) > MAX_QUOTED else "")


def _printable(text: str) -> str:
    """A line of an agent's output without control characters."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def processes_with_mark(mark: str) -> set[int]:
    """Ids of processes whose initial environment has the variable `mark`, on Linux; elsewhere none."""
    name, found = f"{mark}=".encode(), set()
    for file in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):  # belongs to another user, or has exited
            if any(entry.startswith(name) for entry in file.read_bytes().split(b"\0")):
                found.add(int(file.parent.name))
    return found


def kill_all(find: Callable[[], set[int]]) -> None:
    """Kill the processes whose ids `find` returns, until none is left; Linux only.

    A process is killed only if `find` returns it again after its pidfd is open, since its id may have been
    reused.

    Args:
        find: returns process ids.
    """
    for _ in range(MAX_PASSES):
        held: dict[int, int] = {}
        try:
            for process in find():
                with contextlib.suppress(OSError, AttributeError):
                    held[process] = os.pidfd_open(process)
            found = find() if held else set()
            living = [file for process, file in held.items() if process in found and not _has_ended(file)]
            for file in living:
                with contextlib.suppress(OSError):
                    signal.pidfd_send_signal(file, signal.SIGKILL)
        finally:
            for file in held.values():
                os.close(file)
        if not living:
            return
        time.sleep(0.01)


def _has_ended(file: int) -> bool:
    """Whether the process of a pidfd has exited."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(0))
