"""Decorators that compile kernels with numba.

Environment: `MANAFORGE_CACHE_DIR` moves the cache; `NUMBA_DISABLE_JIT=1` runs kernels as Python.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from numba.core import config as _untyped_config

from engine.compiler import Kernel

config: Any = _untyped_config
P = ParamSpec("P")
R = TypeVar("R")

_BORROWING = {} if config.BOUNDSCHECK else {"_nrt": False}
"""Options of kernels without reference counting; with bounds checks they contain kernels that allocate."""


def _kernel(function: Callable[P, R], **options: bool) -> Callable[P, R]:
    """A compiled kernel, or the function itself if the compiler is disabled."""
    if config.DISABLE_JIT:
        return function
    compiled: Any = Kernel(function, **options)
    return cast(Callable[P, R], compiled)


def njit(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a kernel: compiled by numba, cached by a hash of its source and callees, run without the GIL.

    No fast-math, so that results are reproducible bit for bit on machines of one architecture.
    """
    return _kernel(function)


def njit_no_alloc(function: Callable[P, R]) -> Callable[P, R]:
    """`njit` without reference counting, for kernels that allocate no arrays.

    numba counts references to arrays at every call, which took a fifth of a random game with effects. A
    kernel without it compiles only if it allocates nothing (`np.zeros`, `.copy()`).
    """
    return _kernel(function, **_BORROWING)


def njit_inline(function: Callable[P, R]) -> Callable[P, R]:
    """`njit` with forced inlining.

    For a small kernel called in a hot loop with many arguments, if a measurement shows a gain.
    """
    return _kernel(function, forceinline=True)


def njit_no_alloc_inline(function: Callable[P, R]) -> Callable[P, R]:
    """`njit_no_alloc` with forced inlining."""
    return _kernel(function, forceinline=True, **_BORROWING)


@njit_inline
def non_literal(start: int) -> int:
    """Strip numba's literal type from an integer, for a variable that is passed to kernels.

    A variable that starts as a literal makes numba compile its callees twice: for the literal, and for int64.
    """
    return int(start)
