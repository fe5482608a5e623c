"""System calls on one folder that fail, or kill the process, at a chosen moment."""

import builtins
import errno
import fcntl
import io
import os
import signal
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

ERRORS = {
    "open": errno.EIO,
    "access": errno.EACCES,
    "read": errno.EIO,
    "write": errno.ENOSPC,
    "fsync": errno.EIO,
    "mkdir": errno.EACCES,
    "unlink": errno.EIO,
    "replace": errno.EIO,
    "listdir": errno.EIO,
    "stat": errno.EIO,
    "lock": errno.ENOLCK,
}
"""Kinds of calls, and how each fails. "access" is opening too; of a write half is written."""

WRITES = ("mkdir", "write", "fsync", "replace", "unlink")
"""Kinds of calls that change a folder."""

_PLAIN: dict[str, list[tuple[ModuleType, str]]] = {
    "open": [(os, "open")],
    "access": [(os, "open")],
    "fsync": [(os, "fsync")],
    "mkdir": [(os, "mkdir")],
    "unlink": [(os, "unlink"), (os, "remove")],
    "replace": [(os, "replace"), (os, "rename")],
    "listdir": [(os, "listdir"), (os, "scandir")],
    "stat": [(os, "fstat")],
    "lock": [(fcntl, "flock")],
}
_OPENERS: list[tuple[ModuleType, str]] = [(io, "open"), (builtins, "open")]
"""What opens files for everybody: `Path.open`, `os.fdopen` and `open`."""


class Shim:
    """While it is entered, calls on a folder are counted, and the n-th goes wrong.

    Args:
        kinds: of `ERRORS`, which are counted together.
        folder: the folder.
        n: of the call that goes wrong.
        lasting: whether all after it go wrong too.
        kill: whether it kills this process, rather than fails.
    """

    def __init__(
        self, kinds: Collection[str], folder: Path, n: int, *, lasting: bool = False, kill: bool = False
    ) -> None:
        self.kinds, self.folder, self.n, self.lasting, self.kill = kinds, str(folder), n, lasting, kill
        self.calls = 0
        self._real: list[tuple[ModuleType, str, Any]] = []

    def due(self, kind: str) -> bool:
        """Count a call; whether it goes wrong."""
        if kind not in self.kinds:
            return False
        self.calls += 1
        return self.calls == self.n or (self.lasting and self.calls > self.n)

    def go_wrong(self, kind: str, *name: object) -> None:
        """Kill this process, or raise the error of a kind of call."""
        if self.kill:
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(ERRORS[kind], os.strerror(ERRORS[kind]), *map(str, name))

    def owns(self, file: Any) -> bool:
        """Whether a path, a descriptor or an open file is in the folder."""
        if hasattr(file, "fileno"):
            file = file.fileno()
        if isinstance(file, int):
            try:
                return str(Path(f"/proc/self/fd/{file}").readlink()).startswith(self.folder)
            except OSError:
                return not Path("/proc").exists()
        return os.path.abspath(os.fsdecode(file)).startswith(self.folder)  # noqa: PTH100 - not of a path

    def _plain(self, kind: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(first: Any = ".", *more: Any, **named: Any) -> Any:
            if self.owns(first) and self.due(kind):
                self.go_wrong(kind, *() if isinstance(first, int) or hasattr(first, "fileno") else (first,))
            return real(first, *more, **named)

        return call

    def _opener(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(file: Any, *more: Any, **named: Any) -> Any:
            if not self.owns(file):
                return real(file, *more, **named)
            for kind in ("open", "access"):
                if not isinstance(file, int) and self.due(kind):
                    self.go_wrong(kind, file)
            return _Opened(real(file, *more, **named), self)

        return call

    def __enter__(self) -> "Shim":
        for kind in self.kinds:
            for module, name in _PLAIN.get(kind, []):
                self._put(module, name, self._plain(kind, getattr(module, name)))
        if not {"open", "access", "read", "write"}.isdisjoint(self.kinds):
            opener = self._opener(io.open)
            for module, name in _OPENERS:
                self._put(module, name, opener)
        return self

    def _put(self, module: ModuleType, name: str, call: Callable[..., Any]) -> None:
        self._real.append((module, name, getattr(module, name)))
        setattr(module, name, call)

    def __exit__(self, *_: object) -> None:
        for module, name, real in reversed(self._real):
            setattr(module, name, real)
        self._real.clear()


class _Opened:
    """An open file whose reads and writes are counted."""

    def __init__(self, file: Any, shim: Shim) -> None:
        self._file, self._shim = file, shim

    def read(self, *size: int) -> Any:
        if self._shim.due("read"):
            self._shim.go_wrong("read")
        return self._file.read(*size)

    def write(self, content: Any) -> int:
        if self._shim.due("write"):
            self._file.write(content[: len(content) // 2])
            self._file.flush()
            self._shim.go_wrong("write")
        return int(self._file.write(content))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._file)

    def __enter__(self) -> "_Opened":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def faults(kind: str, lasting: bool, folder: Path, most: int = 200) -> Iterator[Shim]:
    """The call fails the first time, the second, ..., until a whole scenario needs no more of them."""
    for n in range(1, most):
        shim = Shim([kind], folder, n, lasting=lasting)
        yield shim
        if shim.calls < n:
            return
    raise AssertionError(f"{most} calls did not end it")
