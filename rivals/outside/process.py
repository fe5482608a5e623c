"""An outside agent's process: started under its keeper, written and read by lines, in limited time.

All that an agent began carries a mark of its own in its environment, by which it is found and ended when the
keeper cannot do that any more.
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
from rivals.outside.parameters import Parameter
from rivals.outside.supervisor import children_of

KEEPER = Path(__file__).with_name("supervisor.py")

MOST_LINE = 2**16
"""Bytes of a line that an agent may write."""

MOST_READS = 16
"""Reads of its standard error at a time."""

KEPT_ERRORS = 2000
"""Bytes of the end of its standard error that are told when it fails."""

LONGEST_SHOWN = 100
"""Bytes of what it wrote that a message shows."""

SECONDS_TO_END = 3.0
"""Longer than its keeper waits before it ends all."""

LOOKS = 50
"""For processes that are left; each may have begun another meanwhile."""


class OutsideProcess:
    """A running agent.

    Attributes:
        parameters: that it declared in its answer to hello.
        played: whether it was in a game before.

    Args:
        name: the entrant's, for errors.
        command: the words that start it.

    Raises:
        AgentFaultError: this machine cannot start it.
    """

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        self.parameters: tuple[Parameter, ...] = ()
        self.played = False
        self._owner, self._mark = os.getpid(), f"MANAFORGE_AGENT_{secrets.token_hex(16)}"
        lifeline, self._lifeline = os.pipe()
        try:
            self._keeper = subprocess.Popen(
                [sys.executable, "-I", "-S", str(KEEPER), str(lifeline), *command],
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
                f"{name}: it cannot be started: {error.strerror or error}", Reason.PROCESS_ENDED
            ) from None
        finally:
            os.close(lifeline)
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        assert self._keeper.stderr is not None
        self._in, self._out = self._keeper.stdin.fileno(), self._keeper.stdout.fileno()
        self._err = self._keeper.stderr.fileno()
        self._read, self._errors = b"", b""
        self._ready = selectors.DefaultSelector()
        for stream in (self._in, self._out, self._err):
            os.set_blocking(stream, False)
        self._ready.register(self._out, selectors.EVENT_READ)
        self._ready.register(self._err, selectors.EVENT_READ)

    @property
    def code(self) -> int | None:
        """Its exit code, where it has ended and that is known."""
        return self._keeper.returncode

    def is_ready(self) -> bool:
        """Whether it goes on, and has written nothing that nobody asked for."""
        return self._take() and not self._read

    def failed(self) -> AgentFaultError | None:
        """The fault of an agent that ended by an error while it had nothing to do."""
        if self._take():
            return None
        fault = self._fault("it ended after its last game", Reason.PROCESS_ENDED)
        return fault if self.code else None

    def send(self, message: dict[str, Any], seconds: float) -> None:
        """Write a message.

        Raises:
            AgentFaultError: the agent does not read it in this time, or has ended.
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
                raise self._fault("it ended", Reason.PROCESS_ENDED) from None

    def ask(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Write a message and read the answer: one line, an object.

        Raises:
            AgentFaultError: there is none in this time, or it is no object on one line.
        """
        until = time.monotonic() + seconds
        self._take()
        if self._read:
            raise self._fault(f"it wrote {_quoted(self._read)} unasked", Reason.NOT_UNDERSTOOD)
        self.send(message, seconds)
        while b"\n" not in self._read:
            if len(self._read) > MOST_LINE:
                raise self._fault(f"it wrote a line of more than {MOST_LINE} bytes", Reason.NOT_UNDERSTOOD)
            self._wait(until, seconds, "answer")
        line, _, self._read = self._read.partition(b"\n")
        if len(line) > MOST_LINE:
            raise self._fault(f"it wrote a line of more than {MOST_LINE} bytes", Reason.NOT_UNDERSTOOD)
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise self._fault(f"it answered {_quoted(line)}, not an object", Reason.NOT_UNDERSTOOD)
        return answer

    def _wait(self, until: float, seconds: float, what: str) -> None:
        """Wait until a stream is ready, and take what there is."""
        left = until - time.monotonic()
        if left <= 0 or not self._ready.select(left):
            raise self._fault(f"it did not {what} within {seconds:g} s", Reason.TOO_LATE)
        if not self._take() and b"\n" not in self._read:
            raise self._fault("it ended", Reason.PROCESS_ENDED)

    def _take(self) -> bool:
        """Read what the agent wrote so far; whether it goes on."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(MOST_READS):  # what comes faster than that waits
                errors = os.read(self._err, 2**16)
                self._errors = (self._errors + errors)[-KEPT_ERRORS:]
                if len(errors) < 2**16:
                    break
        try:
            while len(self._read) <= MOST_LINE:
                more = os.read(self._out, 2**16)
                if not more:
                    return False
                self._read += more
        except BlockingIOError:
            pass
        return True

    def _fault(self, what: str, reason: Reason) -> AgentFaultError:
        """The error of a fault, with the line of what the agent wrote as errors that seems to say why."""
        if reason == Reason.PROCESS_ENDED:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._keeper.wait(SECONDS_TO_END)
            self._take()
            code = self._keeper.returncode
            what += "" if code is None else f" with exit code {code}"
        lines = self._errors.decode(errors="replace").strip().splitlines()
        why = next((line for line in reversed(lines) if "rror" in line), lines[-1] if lines else "")
        told = f"; it said {_quoted(why.encode())}" if why else ""
        return AgentFaultError(f"{self.name}: {what}{told}", reason)

    def stop(self) -> None:
        """Have its keeper end it now, if stopped too; whoever waits for its answer is told that it ended."""
        for number in (signal.SIGTERM, signal.SIGCONT):
            self._keeper.send_signal(number)

    def hang_up(self) -> None:
        """Close its streams, and have its keeper end it if it does not end by itself."""
        for stream in (self._keeper.stdin, self._keeper.stdout, self._keeper.stderr):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        lifeline, self._lifeline = self._lifeline, -1
        if lifeline >= 0:
            os.close(lifeline)

    def close(self, now: bool = False) -> None:
        """End the agent: its input is closed; what does not end by itself is ended by its keeper.

        Where the keeper was killed or does nothing, all that carries the agent's mark is ended here.

        Args:
            now: do not wait until it ends by itself.
        """
        if now:
            self.stop()
        self.hang_up()
        self._ready.close()
        try:
            self._keeper.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            keeper = self._keeper.pid  # no other process has this number before it is waited for
            end_all_in(lambda: children_of({keeper}))
            self._keeper.kill()
            self._keeper.wait()
        self.end_left()

    def end_left(self) -> None:
        """End whatever carries its mark, if the keeper is gone; in the process that started it alone."""
        if os.getpid() == self._owner and self._keeper.poll() is not None:
            end_all_in(lambda: marked(self._mark))


def _quoted(text: bytes) -> str:
    """The beginning of what an agent wrote, as text on one line."""
    shown = text[:LONGEST_SHOWN].decode(errors="replace")
    return repr(shown) + ("..." if len(text) > LONGEST_SHOWN else "")


def marked(mark: str) -> set[int]:
    """Processes that began with a variable of this name in their environment, on Linux; elsewhere none."""
    name, found = f"{mark}=".encode(), set()
    for file in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):  # another user's, or gone
            if any(entry.startswith(name) for entry in file.read_bytes().split(b"\0")):
                found.add(int(file.parent.name))
    return found


def end_all_in(find: Callable[[], set[int]]) -> None:
    """Kill the processes that are found, until none of them lives; on Linux.

    Only those are killed that are found again once they are held by a file: a number that another process
    has by now is not found.

    Args:
        find: finds them, by their numbers.
    """
    for _ in range(LOOKS):
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
    """Whether the process that a file holds has ended, waited for or not."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(0))
