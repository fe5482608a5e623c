"""Interrupts while LLVM is at work, which are not lost."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


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
