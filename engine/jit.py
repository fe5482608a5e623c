"""The one compiler decorator, and what is said while kernels are compiled.

Environment: `MANAFORGE_CACHE_DIR` moves the cache; `NUMBA_DISABLE_JIT=1` runs kernels as Python.
"""

import ast
import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numba
import numpy as np
import platformdirs
from numba.core import config as _untyped_config
from numba.core import event
from rich.console import Console
from rich.status import Status

from engine.compiler import Kernel
from engine.interrupts import interrupts_kept
from engine.kernelcache import cache_folder
from engine.screen import say_error

config: Any = _untyped_config
P = ParamSpec("P")
R = TypeVar("R")

KERNEL_PACKAGES = ("engine", "ilp_agent", "rivals")


REST_SECONDS = 5.0
"""Seconds to compile what is not decorated with `njit_slow`; docs/performance.md has the measurement."""

ROUND_SECONDS = 5
"""Estimates are told to so many seconds."""

PACE_SECONDS = 20.0
"""Shorter compilations do not tell how fast a machine compiles."""


class _Slow(NamedTuple):
    """A kernel that takes long to compile: itself, its name, and seconds."""

    compiled: Any
    name: str
    seconds: float

    @property
    def ready(self) -> bool:
        """Whether it is compiled, in this process or in the cache."""
        return bool(getattr(self.compiled, "is_compiled", True))


_slow: list[_Slow] = []
"""Slow kernels of the modules that this process has imported."""


def compile_seconds() -> float:
    """About how long the kernels take that this process has imported and that are not compiled yet."""
    return (REST_SECONDS + sum(kernel.seconds for kernel in _slow if not kernel.ready)) * _pace()


def _pace_file() -> Path | None:
    """Where this machine keeps its time for what takes a second by the decorators."""
    folder = cache_folder()
    return folder / "pace" if folder else None


def _pace() -> float:
    """This machine's seconds for each second of the decorators, as it last compiled slow ones."""
    try:
        pace = float(_pace_file().read_text())  # type: ignore[union-attr]
    except (AttributeError, OSError, ValueError):
        return 1.0
    return pace if 0.01 < pace < 100 else 1.0


class _CompileNotice(event.Listener):
    """Says on standard error, once, that kernels are being compiled, and about how long it takes.

    Attributes:
        quiet: say nothing.
    """

    def __init__(self) -> None:
        self.quiet = False
        self._depth = 0
        self._interrupts: AbstractContextManager[None] = nullcontext()
        self._notice = ""
        self._told: set[str] = set()
        self._status: Status | None = None
        self._began = 0.0
        self._waiting: list[_Slow] = []

    def _is_ours(self, occurrence: Any) -> bool:
        function = getattr(occurrence.data.get("dispatcher"), "py_func", None)
        return str(getattr(function, "__module__", "")).split(".")[0] in KERNEL_PACKAGES

    def on_start(self, event: Any) -> None:
        if not self._is_ours(event):
            return
        self._depth += 1
        if self._depth > 1:
            return
        self._interrupts = interrupts_kept()
        self._interrupts.__enter__()
        self._began, self._waiting = time.perf_counter(), [kernel for kernel in _slow if not kernel.ready]
        waiting = {kernel.name for kernel in self._waiting}
        if self.quiet:
            return
        is_new = not self._notice or not waiting <= self._told
        if is_new:
            self._told |= waiting
            about = max(1, round(compile_seconds() / ROUND_SECONDS)) * ROUND_SECONDS
            self._notice = f"Compiling the game's kernels (once after an update, about {about} s)"
        console = Console(stderr=True)
        if console.is_terminal:
            self._status = console.status(self._notice)
            self._status.start()
        elif is_new:
            say_error(self._notice)

    def on_end(self, event: Any) -> None:
        if not self._is_ours(event):
            return
        self._depth -= 1
        if self._depth:
            return
        if self._status is not None:
            self._status.stop()
            self._status = None
        expected = sum(kernel.seconds for kernel in self._waiting if kernel.ready)
        file = _pace_file()
        if expected >= PACE_SECONDS and file is not None:
            with suppress(OSError):
                file.write_text(f"{(time.perf_counter() - self._began) / expected:.2f}\n")
        self._interrupts.__exit__(None, None, None)


_compile_notice = _CompileNotice()
event.register("numba:compile", _compile_notice)  # type: ignore[no-untyped-call]


@contextmanager
def compiling_quietly() -> Iterator[None]:
    """In this context nothing is said of compiling."""
    before, _compile_notice.quiet = _compile_notice.quiet, True
    try:
        yield
    finally:
        _compile_notice.quiet = before


_BORROWING = {} if config.BOUNDSCHECK else {"_nrt": False}
"""How kernels that borrow arrays are compiled; where bounds are checked they contain those that make some."""


def _kernel(function: Callable[P, R], **options: bool) -> Callable[P, R]:
    """A compiled kernel, or the function itself where the compiler is off."""
    return function if config.DISABLE_JIT else Kernel(function, **options)


def njit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel: cached by the hash of all that it reaches, and without the GIL while it runs.

    No fast-math, so that results are the same bits on every machine of one architecture.
    """
    return _kernel(function)


def njit_borrowing(function: Callable[P, R]) -> Callable[P, R]:
    """`njit` of a kernel that makes no arrays, and borrows those that it is given.

    numba counts references to arrays at every call, which took a fifth of a random game with effects. Here it
    leaves that out; in exchange such a kernel compiles only if it allocates nothing (`np.zeros`, `.copy()`).
    """
    return _kernel(function, **_BORROWING)


def njit_inline(function: Callable[P, R]) -> Callable[P, R]:
    """`njit`, and the compiler always puts the kernel's code in place of a call.

    For a small kernel called in a hot loop with many arguments, where a measurement shows that it pays.
    """
    return _kernel(function, forceinline=True)


def njit_borrowing_inline(function: Callable[P, R]) -> Callable[P, R]:
    """`njit_inline` of a kernel that makes no arrays, as `njit_borrowing`."""
    return _kernel(function, forceinline=True, **_BORROWING)


def njit_slow(seconds: float) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """`njit` for a kernel whose compilation users wait for.

    Args:
        seconds: about how long, with the kernels it calls but without slow ones among them
            (docs/performance.md).
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        compiled = njit(function)
        note_slow(compiled, function, seconds)
        return compiled

    return decorate


def note_slow(compiled: Any, function: Callable[P, R], seconds: float) -> None:
    """Count a kernel in what is said of compiling.

    Args:
        compiled: what has its `_cache`, and `signatures` that are not empty once it is compiled.
        function: as it was written.
        seconds: about how long compiling takes.
    """
    _slow.append(_Slow(compiled, f"{function.__module__}.{function.__qualname__}", seconds))


@njit_inline
def variable(start: int) -> int:
    """An integer that will change, for a kernel that passes it to other kernels.

    A name that begins as a literal makes numba compile these twice: for the literal, and for any integer.
    """
    return int(start)
