"""The program run in this process or in a forked one, and the very bytes that it printed."""

import contextlib
import io
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple, TextIO

from evo.cli.main import main
from tests.waiting import HANG

NOBODY = 65534
"""A user, and a group, that owns nothing."""

UNSEEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
"""Warnings that Python hides from users."""


class Ended(NamedTuple):
    """How a program ended.

    Attributes:
        code: its exit code; -N where signal N ended it.
        said: all that it printed, on standard output and error.
    """

    code: int
    said: bytes

    @property
    def lines(self) -> list[str]:
        """The lines that it printed."""
        return self.said.decode().splitlines()


@contextlib.contextmanager
def _printing_to(file: IO[bytes]) -> Iterator[None]:
    """Standard output and error as a process has them, on a file."""
    names = ("stdout", "stderr")
    before = [(getattr(sys, name), getattr(sys, f"__{name}__")) for name in names]
    for stream, _ in before:
        stream.flush()
    kept = [os.dup(number) for number in (1, 2)]
    try:
        for number, name in enumerate(names, 1):
            os.dup2(file.fileno(), number)
            stream = io.TextIOWrapper(io.FileIO(number, "wb", closefd=False), "utf-8", write_through=True)
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
        yield
    finally:
        for number, (name, handle) in enumerate(zip(names, kept, strict=True), 1):
            with contextlib.suppress(OSError, ValueError):
                getattr(sys, name).flush()
            os.dup2(handle, number)
            os.close(handle)
            stream, original = before[number - 1]
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", original)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning as Python does; pytest would keep it."""
    print(warnings.formatwarning(message, category, filename, lineno, line), end="", file=sys.stderr)


def run_program(
    words: Sequence[str], file: IO[bytes] | None = None, entry: Callable[[], object] = main
) -> Ended:
    """Run the program's entry point in this process.

    Args:
        words: of the command line.
        file: where it prints; None: a temporary one.
        entry: called instead of `evo.cli.main.main`.

    Raises:
        Exception: whatever would be a traceback.
    """
    with contextlib.ExitStack() as scope:
        printed = file or scope.enter_context(tempfile.TemporaryFile())
        scope.enter_context(warnings.catch_warnings())
        warnings.resetwarnings()
        for kind in UNSEEN:
            warnings.simplefilter("ignore", kind)
        warnings.showwarning = _show_warning
        argv, columns = sys.argv, os.environ.get("COLUMNS")
        sys.argv, os.environ["COLUMNS"] = ["manaforge", *words], "100"
        code = 0
        try:
            with _printing_to(printed):
                entry()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        finally:
            sys.argv = argv
            if columns is None:
                del os.environ["COLUMNS"]
            else:
                os.environ["COLUMNS"] = columns
        printed.seek(0)
        return Ended(code, printed.read())


def fork_program(
    words: Sequence[str], before: Callable[[], object] = lambda: None, seconds: float = HANG
) -> Ended:
    """Run the program in a copy of this process, so that nothing is compiled or imported again.

    Args:
        words: of the command line.
        before: called in the copy first; it may change the copy as it likes.
        seconds: the most that it may take.
    """
    with tempfile.TemporaryFile() as printed, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads that a copy does not have
        child = os.fork()
        if child == 0:
            code = 70
            try:
                before()
                code = run_program(words, printed).code
            except BaseException:
                printed.write(traceback.format_exc().encode("utf-8", "replace"))
                printed.flush()
            finally:
                os._exit(code)
        until = time.monotonic() + seconds
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                break
            if time.monotonic() > until:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                raise TimeoutError(f"{' '.join(words)} took longer than {seconds:.0f} s")
            time.sleep(0.005)
        printed.seek(0)
        return Ended(os.waitstatus_to_exitcode(status), printed.read())


def become_nobody() -> None:
    """Give up the rights of root; any other user has none to give up."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def files_of(folder: Path, ignored: Sequence[str] = ("lock", "log.jsonl")) -> dict[str, bytes]:
    """The content of all files in a folder by their path in it."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name not in ignored
    }
