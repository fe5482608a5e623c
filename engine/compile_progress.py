"""Progress messages and signal handling during kernel compilation.

LLVM runs for seconds without returning to Python, which then cannot handle signals. So a separate thread
prints the messages, and ends the process if the main thread does not end in time.
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
from engine.kernel_cache import kernel_key, reachable_functions
from engine.lazy import lazy_import
from engine.terminal import print_error

LINE_SECONDS = 10.0
"""Seconds between progress lines if standard error is not a terminal."""

TICK_SECONDS = 0.2
"""Seconds between updates of the status line."""

GRACE_SECONDS = 1.0
"""Seconds that the main thread has to end after a signal."""

EFFECTS_PACKAGE = "engine.effects"
"""Package of the kernels that only games with effects call."""

PACKAGES = ("engine", "ilp_agent", "rivals", "evo")
"""The project's packages, in which `kernels_called_by` follows calls."""

_LOADED = re.compile(r"[a-z_]+(\.[a-z_]+)+:[a-z_]+")

ROUND_SECONDS = 5
"""Remaining times are rounded to this many seconds."""

FUNCTION_BYTES = 100
"""Fixed cost of compiling a function, in bytes of bytecode."""

MACHINE_SHARE = 0.3
"""Time to optimise and translate a byte of bytecode, as a share of the time to read it."""

USUAL_SECONDS = 2e-4
"""Seconds to compile a byte of bytecode, on a machine without a measurement."""


class IndirectKernel(NamedTuple):
    """A kernel called indirectly, through its address.

    Attributes:
        function: the Python function.
        place: "module:name" of its definition.
        is_ready: whether this process can call it without compiling or loading.
        prepare: compile it, or load it from the cache.
    """

    function: Any
    place: str
    is_ready: Callable[[], bool]
    prepare: Callable[[], int]


indirect_kernels: dict[FunctionType, IndirectKernel] = {}
"""Kernels called through their address, by their calling function; without those marked as rare."""


def available_processors() -> int:
    """Number of processors available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


exit_callbacks: list[Callable[[], None]] = []
"""Cleanup callbacks, run if a signal ends the process during compilation."""


def exit_by_signal(number: int) -> NoReturn:
    """Run the cleanup callbacks and end the process with the exit code of a signal.

    For code called from C, which cannot pass on an exception.
    """
    for end in exit_callbacks:
        end()
    os._exit(128 + number)


@contextmanager
def deferred_interrupts() -> Iterator[None]:
    """Context that defers exceptions of signal handlers raised in LLVM's callbacks until the context ends.

    Python handles a signal when it next runs bytecode; during compilation that is in a function called by C,
    which cannot pass on an exception: the interrupt would be lost, and the kernel would have no code.
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
def removed_on_exit(folder: Path) -> Iterator[Callable[[], None]]:
    """Context that removes a folder on an exception or signal, unless the function it yields was called.

    It yields a function that cancels this.
    """

    def remove() -> None:
        shutil.rmtree(folder, ignore_errors=True)

    def keep() -> None:
        with suppress(ValueError):
            exit_callbacks.remove(remove)

    exit_callbacks.append(remove)
    try:
        yield keep
    except BaseException:
        if remove in exit_callbacks:
            remove()
        raise
    finally:
        keep()


def _is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


class _StatusLine:
    """A terminal line that is overwritten until it is cleared."""

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
        """Clear the line."""
        self._write("")

    def _write(self, text: str) -> None:
        with suppress(OSError):
            self._stream.write(f"\r\x1b[K{text}")
            self._stream.flush()


class _Progress:
    """Progress of kernel compilation: work done, work left, and the messages about it.

    Attributes:
        quiet: print no messages.
        active: whether a compilation is running.
        has_helper: whether a helper process compiles the kernels that are called through their address.
    """

    def __init__(self) -> None:
        self.quiet = False
        self.active = self.has_helper = False
        self._waits_for_helper = False
        self._helper_share: dict[FunctionType, str] = {}  # left to the helper, with their cache keys
        self._unread: dict[FunctionType, float] = {}  # functions not yet read by numba, with their work
        self._untranslated: dict[FunctionType, float] = {}  # kernels without machine code, with their work
        self._already_read: set[FunctionType] = set()
        self._count = 0
        self._expected: set[Any] = set()
        self._effects = True
        self._announced = 0
        self._printed_at = 0.0
        self._spent = self._done = 0.0
        self._began = 0.0
        self._line: _StatusLine | None = None

    @contextmanager
    def watching(self, *functions: Any) -> Iterator[None]:
        """Context that prints progress while kernels are compiled. The caller holds numba's compiler lock."""
        if self.active:
            yield
            return
        self._plan(*functions)
        wake, waker = os.pipe()
        thread = threading.Thread(target=self._report, args=(wake,), daemon=True)
        before = None
        try:
            self.active, self._began = True, time.perf_counter()
            before = _wakeup(waker)
            self._announce()
            thread.start()
            with deferred_interrupts():
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
            if not self._waits_for_helper:
                self._spent += time.perf_counter() - self._began
            self.active = False
            self._save_pace()

    @property
    def spent(self) -> float:
        """Seconds of compilation in this process so far."""
        return self._spent

    def mark_read(self, function: Any) -> None:
        """Note that numba has compiled a function to intermediate code."""
        if function not in self._already_read:
            self._already_read.add(function)
            self._done += self._unread.pop(function, 0.0)

    def mark_translated(self, function: Any) -> None:
        """Note that a kernel has machine code."""
        self._done += self._untranslated.pop(function, 0.0)

    @contextmanager
    def waiting(self, function: Any) -> Iterator[None]:
        """Context that prints progress while the helper process compiles a kernel needed now."""
        with global_compiler_lock:
            self._waits_for_helper = True
            try:
                with self.watching(function):
                    yield
            finally:
                self._note_helper_results()
                self._waits_for_helper = False

    def pending_indirect_kernels(self, seconds: float) -> list[IndirectKernel]:
        """Kernels called through their address that are not compiled, if compiling takes over `seconds`."""
        with global_compiler_lock:
            self._plan()
        found = [apart for apart in indirect_kernels.values() if apart.function in self._untranslated]
        work = sum(({**self._unread, **self._untranslated})[part] for part in self._helper_share)
        return found if work * _usual_pace() > seconds else []

    def seconds_left(self) -> float:
        """Estimated seconds of compilation left."""
        work = {**self._unread, **self._untranslated}
        left = sum(work.values())
        if self.has_helper and not self._waits_for_helper:
            own = sum(work[function] for function in work.keys() - self._helper_share.keys())
            is_one = sum(function in self._untranslated for function in self._helper_share) == 1
            left = max(own, left - own if is_one else left / 2)
        is_at_work = self.active and not self._waits_for_helper
        spent = self._spent + (time.perf_counter() - self._began if is_at_work else 0.0)
        known = 0.2 * (left + self._done)  # weight of the machine's usual pace, in work
        return left * (known * _usual_pace() + spent) / (known + self._done or 1.0)

    def expect(self, functions: Iterable[Callable[..., Any]], *, effects: bool) -> None:
        """Set the Python functions whose kernels count as work to come.

        Args:
            functions: functions that call kernels, directly or not.
            effects: whether games have effects; those without do not call the kernels of `engine.effects`.
        """
        self._expected, self._effects = kernels_called_by(functions, effects=effects), effects

    def _plan(self, *functions: FunctionType) -> None:
        """List the work left for these kernels and the expected ones."""
        needed = [*functions, *(function.py_func for function in self._expected if not function.is_compiled)]
        cached = kernel_cache.cached_kernels() if needed else set()
        self._untranslated = {}
        queue, indirect = deque(needed), set[FunctionType]()
        while queue:
            function = queue.popleft()
            if function in self._untranslated or (
                function not in functions and (kernel_key(function), "machine") in cached
            ):
                continue
            self._untranslated[function] = MACHINE_SHARE * sum(map(_work, reachable_functions(function)))
            for part in reachable_functions(function) - self._already_read:
                if part not in self._unread and (kernel_key(part), "part") not in cached:
                    self._unread[part] = _work(part)
            called = self._indirect_callees(function)
            indirect.update(called)
            queue += called
        self._count = len(self._already_read) + len(self._unread)
        self._helper_share = {function: kernel_key(function) for function in self._left_to_helper(indirect)}

    def _indirect_callees(self, function: FunctionType) -> list[FunctionType]:
        """Kernels that a function calls through their address and that are not ready."""
        called = [
            indirect_kernels[part] for part in reachable_functions(function) if part in indirect_kernels
        ]
        return [kernel.function for kernel in called if not kernel.is_ready() and self._may_be_called(kernel)]

    def _left_to_helper(self, indirect: set[FunctionType]) -> set[FunctionType]:
        """Functions left to the helper process: those that only kernels called through their address need."""
        if not indirect and not self._waits_for_helper:
            return set()
        own = set[FunctionType]().union(*map(reachable_functions, self._untranslated.keys() - indirect))
        return (self._unread.keys() | self._untranslated.keys()) - (set() if self._waits_for_helper else own)

    def _note_helper_results(self) -> None:
        """Note the kernels that the helper process has compiled."""
        cached = kernel_cache.cached_kernels()
        for function, key in self._helper_share.items():
            if (key, "machine") in cached:
                self._untranslated.pop(function, None)
            if (key, "part") in cached and self._unread.pop(function, None) is not None:
                self._already_read.add(function)

    def _may_be_called(self, apart: IndirectKernel) -> bool:
        return self._effects or not apart.place.startswith(EFFECTS_PACKAGE)

    def _announce(self) -> None:
        if self.quiet:
            return
        if _is_terminal(sys.stderr) and threading.current_thread() is threading.main_thread():
            self._line = _StatusLine(sys.stderr)
            self._line.show(self._text())
        elif not self._printed_at or (self._count > self._announced and self.seconds_left() > LINE_SECONDS):
            print_error(self._text())
            self._printed_at = time.perf_counter()
        self._announced = self._count

    def _text(self) -> str:
        if self.has_helper:
            self._note_helper_results()
        seconds = max(1, round(self.seconds_left() / ROUND_SECONDS)) * ROUND_SECONDS
        done = self._count - len(self._unread)
        counted = f"{done} of {self._count}, " if self._count else ""  # else only machine code is missing
        return f"Compiling the game's kernels, once after an update: {counted}about {seconds} s left"

    def _report(self, wake: int) -> None:
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
                        print_error(f"{signal.Signals(number).name}: stopping the compilation of kernels")
                        ends_at, stopped = min(ends_at, now + GRACE_SECONDS), number
            if now > ends_at and terminal.in_command:
                exit_by_signal(stopped)
            if self.quiet or ends_at < float("inf"):
                continue
            if self._line is not None:
                self._line.show(self._text())
            elif now - self._printed_at > LINE_SECONDS:
                print_error(self._text())
                self._printed_at = now

    def _save_pace(self) -> None:
        file = _pace_file()
        if file is not None and self._spent > 10.0 and self._done:
            with suppress(OSError):
                file.write_text(f"{self._spent / self._done:.3e}\n")


def kernels_called_by(functions: Iterable[Callable[..., Any]], *, effects: bool) -> set[Any]:
    """Kernels that Python functions call, directly or through functions of the project's packages.

    Calls are found by global name, in closures, and in named tuples of functions.

    Args:
        functions: the starting functions.
        effects: also follow lazy imports, named as "module:function" (`engine.lazy`).
    """
    found: set[Any] = set()
    seen: set[Any] = set()
    queue: list[Any] = list(functions)
    while queue:
        item = queue.pop()
        if item in seen:
            continue
        seen.add(item)
        if hasattr(item, "py_func"):
            found.add(item)
        elif isinstance(item, FunctionType) and item.__module__.split(".")[0] in PACKAGES:
            code = item.__code__
            named: list[Any] = [item.__globals__.get(name) for name in code.co_names]
            named += [cell.cell_contents for cell in item.__closure__ or ()]
            named += [inner for value in named if isinstance(value, tuple) for inner in value]
            if effects:
                texts = [text for text in code.co_consts if isinstance(text, str)]
                named += [lazy_import(text) for text in texts if _LOADED.fullmatch(text)]
            queue += [
                value for value in named if isinstance(value, FunctionType) or hasattr(value, "py_func")
            ]
    return found


def _work(function: FunctionType) -> float:
    """Estimated work to compile a function, in bytes of bytecode."""
    return FUNCTION_BYTES + len(function.__code__.co_code)


def _wakeup(descriptor: int) -> int:
    """Set the descriptor to which signals are written, in the main thread; return the previous descriptor."""
    if threading.current_thread() is threading.main_thread():
        if descriptor >= 0:
            os.set_blocking(descriptor, False)
        return signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)
    return -1


def _pace_file() -> Path | None:
    """File with this machine's compilation pace, in seconds for a byte of bytecode; None without a cache."""
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
def silent_compilation() -> Iterator[None]:
    """Context without messages about compilation."""
    before, progress.quiet = progress.quiet, True
    try:
        yield
    finally:
        progress.quiet = before
