"""Progress messages while kernels compile, and signals during compilation.

LLVM works for seconds without giving Python a chance to look at signals. So a thread of its own speaks, and
ends the process where the main thread does not in time.
"""

import os
import re
import select
import shutil
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple, NoReturn, TextIO

from numba.core.compiler_lock import global_compiler_lock

from engine import kernel_cache, terminal
from engine.kernel_cache import kernel_key, reached
from engine.lazy import loaded
from engine.terminal import say_error

LINE_SECONDS = 10.0
"""Seconds between two lines where there is no terminal."""

TICK_SECONDS = 0.2

GRACE_SECONDS = 1.0
"""How long the main thread may take to end after a signal."""

EFFECTS = "engine.effects"
"""Where the kernels are that games without effects do not call."""

PACKAGES = ("engine", "ilp_agent", "rivals", "evo")

_LOADED = re.compile(r"[a-z_]+(\.[a-z_]+)+:[a-z_]+")

ROUND_SECONDS = 5
"""Times are told to so many seconds."""

FUNCTION_BYTES = 100
"""To compile a function takes as long as so many bytes of its bytecode, beside these."""

MACHINE_SHARE = 0.3
"""To optimise and translate a byte with all its callers takes this share of the time to read it."""

USUAL_SECONDS = 2e-4
"""To compile a byte, on a machine that has not compiled before."""


class Apart(NamedTuple):
    """A kernel that others call through its address.

    Attributes:
        function: in Python.
        place: "module:name", where it is defined.
        is_ready: whether this process can call it without waiting.
        prepare: compile it, or load it.
    """

    function: Any
    place: str
    is_ready: Callable[[], bool]
    prepare: Callable[[], int]


apart_of: dict[FunctionType, Apart] = {}
"""Kernels called through their address, by the function that calls them; not those that are rarely called."""


def processors() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


abandoned: list[Callable[[], None]] = []
"""What is done before the process ends while it compiles."""


def end_process(number: int) -> NoReturn:
    """End this process by a signal, where nothing that is raised would arrive."""
    for end in abandoned:
        end()
    os._exit(128 + number)


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """What a signal raises in a callback of the compiler is raised at the end of this context.

    Python looks for signals when it next runs bytecode; while LLVM is at work that is in a function called by
    C, which cannot pass on what is raised: the interrupt would be lost, and the kernel be without its code.
    """
    before, dropped = sys.unraisablehook, list[BaseException]()

    def keep(unraisable: "sys.UnraisableHookArgs") -> None:
        if unraisable.exc_value is not None and "ctypes callback" in (unraisable.err_msg or ""):
            dropped.append(unraisable.exc_value)
        else:
            before(unraisable)

    sys.unraisablehook = keep
    try:
        yield
    finally:
        sys.unraisablehook = before
        if dropped:
            raise dropped[0]


@contextmanager
def removed_if_abandoned(folder: Path) -> Iterator[Callable[[], None]]:
    """Remove a folder if the process ends while it compiles; yields what to call to keep it."""

    def remove() -> None:
        shutil.rmtree(folder, ignore_errors=True)

    def keep() -> None:
        with suppress(ValueError):
            abandoned.remove(remove)

    abandoned.append(remove)
    try:
        yield keep
    except BaseException:
        if remove in abandoned:
            remove()
        raise
    finally:
        keep()


def _is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


class _StatusLine:
    """One line of a terminal, written over until it is cleared."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = ""

    def show(self, text: str) -> None:
        """Replace the line by this text, cut to the terminal's width."""
        text = text[: shutil.get_terminal_size().columns - 1]
        if text != self._shown:
            self._write(text)
            self._shown = text

    def clear(self) -> None:
        """Leave an empty line."""
        self._write("")

    def _write(self, text: str) -> None:
        with suppress(OSError):
            self._stream.write(f"\r\x1b[K{text}")
            self._stream.flush()


class _Progress:
    """What is compiled, and what is left of it.

    Attributes:
        quiet: say nothing.
        active: whether something is compiled.
        by_two: whether another process compiles kernels that are called through their address.
    """

    def __init__(self) -> None:
        self.quiet = False
        self.active = self.by_two = False
        self._waits = False  # for the other process
        self._apart: dict[FunctionType, str] = {}  # of those below, what that may compile, with keys
        self._functions: dict[FunctionType, float] = {}  # to read yet, with the work of each
        self._machines: dict[FunctionType, float] = {}  # to translate yet
        self._read: set[FunctionType] = set()
        self._count = 0
        self._expected: set[Any] = set()
        self._effects = True
        self._announced = 0
        self._told_at = 0.0
        self._spent = self._done = 0.0
        self._began = 0.0
        self._line: _StatusLine | None = None

    @contextmanager
    def watching(self, *functions: Any) -> Iterator[None]:
        """Speak while kernels become machine code. numba's lock lets one thread at a time come here."""
        if self.active:
            yield
            return
        self._plan(*functions)
        wake, waker = os.pipe()
        thread = threading.Thread(target=self._speak, args=(wake,), daemon=True)
        before = None
        try:
            self.active, self._began = True, time.perf_counter()
            before = _wakeup(waker)
            self._announce()
            thread.start()
            with interrupts_kept():
                yield
        finally:
            if before is not None:
                _wakeup(before)
            if thread.ident is not None:
                os.write(waker, b"\0")
                thread.join()
            os.close(wake)
            os.close(waker)
            if self._line is not None:
                self._line.clear()
                self._line = None
            if not self._waits:
                self._spent += time.perf_counter() - self._began
            self.active = False
            self._remember()

    @property
    def spent(self) -> float:
        """Seconds for which this process has compiled so far."""
        return self._spent

    def was_read(self, function: Any) -> None:
        """A kernel is compiled as a part of others."""
        if function not in self._read:
            self._read.add(function)
            self._done += self._functions.pop(function, 0.0)

    def was_translated(self, function: Any) -> None:
        """A kernel and all that it reaches have become machine code."""
        self._done += self._machines.pop(function, 0.0)

    @contextmanager
    def waiting(self, function: Any) -> Iterator[None]:
        """Speak while another process compiles a kernel that is needed now."""
        with global_compiler_lock:
            self._waits = True
            try:
                with self.watching(function):
                    yield
            finally:
                self._look()
                self._waits = False

    def apart_to_come(self, seconds: float) -> list[Apart]:
        """The expected kernels called through their address, if it takes longer than this to compile them."""
        with global_compiler_lock:
            self._plan()
        found = [apart for apart in apart_of.values() if apart.function in self._machines]
        work = sum(({**self._functions, **self._machines})[one] for one in self._apart)
        return found if work * _usual_pace() > seconds else []

    def seconds_left(self) -> float:
        """About how long it takes to compile what is left."""
        work = {**self._functions, **self._machines}
        left = sum(work.values())
        if self.by_two and not self._waits:
            own = sum(work[one] for one in work.keys() - self._apart.keys())
            is_one = sum(one in self._machines for one in self._apart) == 1
            left = max(own, left - own if is_one else left / 2)
        is_at_work = self.active and not self._waits
        spent = self._spent + (time.perf_counter() - self._began if is_at_work else 0.0)
        known = 0.2 * (left + self._done)  # work for which the machine's usual pace counts
        return left * (known * _usual_pace() + spent) / (known + self._done or 1.0)

    def expect(self, functions: Iterable[Callable[..., Any]], *, effects: bool) -> None:
        """Count what these functions of Python need, from now on.

        Args:
            functions: that call kernels, or functions that do.
            effects: whether games have effects; those without do not call the kernels of `engine.effects`.
        """
        self._expected, self._effects = kernels_of(functions, effects=effects), effects

    def _plan(self, *functions: FunctionType) -> None:
        """Find what has to be compiled yet, of these kernels and of what is expected."""
        needed = [*functions, *(one.py_func for one in self._expected if not one.is_compiled)]
        held = kernel_cache.held() if needed else set()
        self._machines = {}
        waiting, apart = deque(needed), set[FunctionType]()
        while waiting:
            one = waiting.popleft()
            if one in self._machines or (one not in functions and (kernel_key(one), "machine") in held):
                continue
            self._machines[one] = MACHINE_SHARE * sum(map(_work, reached(one)))
            for part in reached(one) - self._read:
                if part not in self._functions and (kernel_key(part), "part") not in held:
                    self._functions[part] = _work(part)
            called = self._called_apart(one)
            apart.update(called)
            waiting += called
        self._count = len(self._read) + len(self._functions)
        self._apart = {one: kernel_key(one) for one in self._for_another(apart)}

    def _called_apart(self, function: FunctionType) -> list[FunctionType]:
        """The kernels that one calls through their address and that are not ready."""
        called = [apart_of[part] for part in reached(function) if part in apart_of]
        return [one.function for one in called if not one.is_ready() and self._may_be_called(one)]

    def _for_another(self, apart: set[FunctionType]) -> set[FunctionType]:
        """What another process may compile: all that only kernels called through their address need."""
        if not apart and not self._waits:
            return set()
        own = set[FunctionType]().union(*map(reached, self._machines.keys() - apart))
        return (self._functions.keys() | self._machines.keys()) - (set() if self._waits else own)

    def _look(self) -> None:
        """Note what the other process has compiled."""
        held = kernel_cache.held()
        for one, key in self._apart.items():
            if (key, "machine") in held:
                self._machines.pop(one, None)
            if (key, "part") in held and self._functions.pop(one, None) is not None:
                self._read.add(one)

    def _may_be_called(self, apart: Apart) -> bool:
        return self._effects or not apart.place.startswith(EFFECTS)

    def _announce(self) -> None:
        if self.quiet:
            return
        if _is_terminal(sys.stderr) and threading.current_thread() is threading.main_thread():
            self._line = _StatusLine(sys.stderr)
            self._line.show(self._text())
        elif not self._told_at or (self._count > self._announced and self.seconds_left() > LINE_SECONDS):
            say_error(self._text())
            self._told_at = time.perf_counter()
        self._announced = self._count

    def _text(self) -> str:
        if self.by_two:
            self._look()
        seconds = max(1, round(self.seconds_left() / ROUND_SECONDS)) * ROUND_SECONDS
        done = self._count - len(self._functions)
        counted = f"{done} of {self._count}, " if self._count else ""  # else only machine code is left
        return f"Compiling the game's kernels, once after an update: {counted}about {seconds} s left"

    def _speak(self, wake: int) -> None:
        ends_at = float("inf")
        waiting = select.poll()
        waiting.register(wake, select.POLLIN)
        while True:
            ready = waiting.poll(1000 * TICK_SECONDS)
            now = time.perf_counter()
            if ready:
                for number in os.read(wake, 64):
                    if number == 0:
                        return
                    if number in (signal.SIGINT, signal.SIGTERM):
                        say_error(f"{signal.Signals(number).name}: stopping while kernels are compiled")
                        ends_at, stopped = min(ends_at, now + GRACE_SECONDS), number
            if now > ends_at and terminal.in_command:
                end_process(stopped)
            if self.quiet or ends_at < float("inf"):
                continue
            if self._line is not None:
                self._line.show(self._text())
            elif now - self._told_at > LINE_SECONDS:
                say_error(self._text())
                self._told_at = now

    def _remember(self) -> None:
        file = _pace_file()
        if file is not None and self._spent > 10.0 and self._done:
            with suppress(OSError):
                file.write_text(f"{self._spent / self._done:.3e}\n")


def kernels_of(functions: Iterable[Callable[..., Any]], *, effects: bool) -> set[Any]:
    """The kernels that functions of Python call, and that functions of ours do which these call.

    By name, from a closure, or as an element of a tuple that is so named.

    Args:
        functions: where to begin.
        effects: import what they name as "module:function" (`engine.lazy`) for games with effects.
    """
    found: set[Any] = set()
    seen: set[Any] = set()
    waiting: list[Any] = list(functions)
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        if hasattr(one, "py_func"):
            found.add(one)
        elif isinstance(one, FunctionType) and one.__module__.split(".")[0] in PACKAGES:
            code = one.__code__
            named: list[Any] = [one.__globals__.get(name) for name in code.co_names]
            named += [cell.cell_contents for cell in one.__closure__ or ()]
            named += [inner for value in named if isinstance(value, tuple) for inner in value]
            if effects:
                texts = [text for text in code.co_consts if isinstance(text, str)]
                named += [loaded(text) for text in texts if _LOADED.fullmatch(text)]
            waiting += [
                value for value in named if isinstance(value, FunctionType) or hasattr(value, "py_func")
            ]
    return found


def _work(function: FunctionType) -> float:
    return FUNCTION_BYTES + len(function.__code__.co_code)


def _wakeup(descriptor: int) -> int:
    """Have signals written to a pipe, where that is possible; returns what there was before."""
    if threading.current_thread() is threading.main_thread():
        if descriptor >= 0:
            os.set_blocking(descriptor, False)
        return signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)
    return -1


def _pace_file() -> Path | None:
    """Where this machine keeps how long it takes to compile a byte, in seconds."""
    folder = kernel_cache.cache_folder()
    return folder / "seconds" if folder else None


def _usual_pace() -> float:
    try:
        pace = float(_pace_file().read_text())  # type: ignore[union-attr]
    except (AttributeError, OSError, ValueError):
        return USUAL_SECONDS
    return pace if 1e-6 < pace < 1e-1 else USUAL_SECONDS


progress = _Progress()


@contextmanager
def compiling_quietly() -> Iterator[None]:
    """In this context nothing is said of compiling."""
    before, progress.quiet = progress.quiet, True
    try:
        yield
    finally:
        progress.quiet = before
