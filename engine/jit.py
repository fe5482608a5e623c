"""The one compiler decorator, and a kernel cache that is never stale.

numba's own cache checks only the file of the compiled function: when a function it calls, or a
constant in another file, changes, it keeps using the old machine code. Here every kernel is
cached in a folder named by a hash of all sources that any kernel can reach, so that a change
in any of them starts a new folder.

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

from engine.kernelcache import KernelCache, interrupts_kept, tell_once
from engine.screen import say_error

config: Any = _untyped_config
P = ParamSpec("P")
R = TypeVar("R")

KERNEL_PACKAGES = ("engine", "ilp_agent", "rivals")
KEEP_UNUSED_DAYS = 30

_FINGERPRINT = re.compile(r"[0-9a-f]{16}")


def kernel_sources(root: Path) -> list[Path]:
    """Every source file that can change what a kernel under `root` computes, sorted.

    These are the files that import this module in any form and, through any number of imports, the
    files of our packages that they import.
    """
    files = {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
        for path in _all_sources(root)
    }
    imports = {module: _imports(module, path) for module, path in files.items()}
    waiting = [module for module, imported in imports.items() if "engine.jit" in imported]
    reached: set[str] = set()
    while waiting:
        module = waiting.pop()
        if module in files and module not in reached:
            reached.add(module)
            waiting += imports[module]
    return sorted(files[module] for module in reached)


def _all_sources(root: Path) -> list[Path]:
    return sorted(path for package in KERNEL_PACKAGES for path in (root / package).rglob("*.py"))


def _imports(module: str, path: Path) -> set[str]:
    """Dotted names of all that a source file may import; names that are not modules are harmless."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*parents, *([node.module] if node.module else [])])
            found |= {origin} | {f"{origin}.{alias.name}" for alias in node.names}
    return found


def fingerprint(root: Path) -> str:
    """A hash of all kernel sources under `root` and of how they are compiled; 16 hex digits.

    Bounds checking is part of it, since numba's own cache ignores that setting.
    """
    return _digest(root, kernel_sources(root))


def _digest(root: Path, sources: list[Path]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    compiler = (numba.__version__, np.__version__, sys.version_info[:2], config.BOUNDSCHECK, config.OPT)
    digest.update(repr(compiler).encode())
    for path in sources:
        digest.update(f"\0{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _remembered_fingerprint(root: Path, base: Path) -> str:
    """`fingerprint`, kept in `base` under a hash of all sources: to find what kernels reach takes 0.2 s."""
    file = base / f"{_digest(root, _all_sources(root))}.fingerprint"
    with suppress(OSError, ValueError):
        known = file.read_text()
        if _FINGERPRINT.fullmatch(known) and (base / known).is_dir():
            return known
    found = fingerprint(root)
    with suppress(OSError):
        base.mkdir(parents=True, exist_ok=True)
        for old in base.glob("*.fingerprint"):
            if time.time() - old.stat().st_mtime > KEEP_UNUSED_DAYS * 86_400:
                old.unlink()
        own = file.with_suffix(f".{os.getpid()}")
        own.write_text(found)
        own.replace(file)
    return found


def _open_cache(root: Path) -> Path | None:
    """Create the cache folder of these sources and delete old ones; None where it cannot be written."""
    base = Path(os.environ.get("MANAFORGE_CACHE_DIR") or platformdirs.user_cache_dir("manaforge")) / "kernels"
    folder = base / _remembered_fingerprint(root, base)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        for other in base.iterdir():
            if (
                _FINGERPRINT.fullmatch(other.name)
                and time.time() - other.stat().st_mtime > KEEP_UNUSED_DAYS * 86_400
            ):
                shutil.rmtree(other, ignore_errors=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        tell_once(folder, error)
        return None
    return folder


CACHE_FOLDER = _open_cache(Path(__file__).resolve().parents[1])
"""Where this process keeps its compiled kernels; None when the folder cannot be written."""


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
        kept = isinstance(cache := getattr(self.compiled, "_cache", None), KernelCache) and cache.holds_any
        return kept or bool(getattr(self.compiled, "signatures", ()))


_slow: list[_Slow] = []
"""Slow kernels of the modules that this process has imported."""


def compile_seconds() -> float:
    """About how long the kernels take that this process has imported and that are not compiled yet."""
    return (REST_SECONDS + sum(kernel.seconds for kernel in _slow if not kernel.ready)) * _pace()


def _pace_file() -> Path | None:
    """Where this machine keeps its time for what takes a second by the decorators."""
    return CACHE_FOLDER.parent / "pace" if CACHE_FOLDER else None


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


@contextmanager
def numba_cache_in(folder: Path | None) -> Iterator[None]:
    """Point numba's cache at `folder` while one function is decorated."""
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder or "")
    try:
        yield
    finally:
        config.CACHE_DIR = before


_njit: Any = numba.njit
"""`numba.njit`, whose types do not know the option `_nrt`."""

_BORROWING = {} if config.BOUNDSCHECK else {"_nrt": False}
"""How kernels that borrow arrays are compiled; where bounds are checked they contain those that make some."""


def njit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel: cached by the hash of all kernel sources, and without the GIL while it runs.

    No fast-math, so that results are the same bits on every machine of one architecture.
    """
    return _cached(numba.njit(nogil=True)(function), function)


def njit_borrowing(function: Callable[P, R]) -> Callable[P, R]:
    """`njit` of a kernel that makes no arrays, and borrows those that it is given.

    numba counts references to arrays at every call, which took a fifth of a random game with effects. Here it
    leaves that out; in exchange such a kernel compiles only if it allocates nothing (`np.zeros`, `.copy()`).
    """
    return _cached(_njit(nogil=True, **_BORROWING)(function), function)


def njit_inline(function: Callable[P, R]) -> Callable[P, R]:
    """`njit`, and the compiler always puts the kernel's code in place of a call.

    For a small kernel called in a hot loop with many arguments, where a measurement shows that it pays.
    """
    return _cached(numba.njit(nogil=True, forceinline=True)(function), function)


def njit_borrowing_inline(function: Callable[P, R]) -> Callable[P, R]:
    """`njit_inline` of a kernel that makes no arrays, as `njit_borrowing`."""
    return _cached(_njit(nogil=True, forceinline=True, **_BORROWING)(function), function)


def _cached(compiled: Any, function: Callable[P, R]) -> Callable[P, R]:
    """A compiled kernel that looks into our cache first, where there is one."""
    if CACHE_FOLDER is not None and hasattr(compiled, "enable_caching"):
        with numba_cache_in(CACHE_FOLDER):
            compiled._cache = KernelCache(function)
    kernel: Callable[P, R] = compiled
    return kernel


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
