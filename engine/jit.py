"""The decorators of kernels.

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
"""How kernels that borrow arrays are compiled; where bounds are checked they contain those that make some."""


def _kernel(function: Callable[P, R], **options: bool) -> Callable[P, R]:
    """A compiled kernel, or the function itself where the compiler is off."""
    if config.DISABLE_JIT:
        return function
    compiled: Any = Kernel(function, **options)
    return cast(Callable[P, R], compiled)


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


@njit_inline
def variable(start: int) -> int:
    """An integer that will change, for a kernel that passes it to other kernels.

    A name that begins as a literal makes numba compile these twice: for the literal, and for any integer.
    """
    return int(start)
