"""numba's cache files with checksums: damage is thrown away and compiled again, and a full disk is told.

numba's own loader takes what it finds: an empty index ends the program, a flipped bit of machine code runs.
And an interrupt while it compiles is raised in a callback of LLVM, which drops it: here it is raised again.
"""

import hashlib
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile

from engine.screen import say_error

DIGEST_BYTES = 32

_told: list[str] = []


def tell_once(folder: object, error: OSError) -> None:
    """Say on standard error, once a process, that compiled kernels cannot be kept."""
    if not _told:
        text = f"Cannot keep compiled kernels in {folder} ({error.strerror or error}): compiling every time"
        say_error(text)
        _told.append(text)


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


class _CheckedFiles(IndexDataCacheFile):
    """The index and data files of one kernel, each behind the SHA-256 of what it holds."""

    _cache_path: str
    _index_path: str
    _version: str
    _source_stamp: Any

    def _load_index(self) -> dict[Any, Any]:
        content = _read(Path(self._index_path))
        if content is None:
            return {}
        version, stamp, overloads = pickle.loads(content)
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: dict[Any, Any]) -> None:
        self._write(self._index_path, (self._version, self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        content = _read(Path(self._cache_path) / name)
        if content is None:
            raise FileNotFoundError  # which `load` takes for a kernel that is not there
        return pickle.loads(content)

    def _save_data(self, name: str, data: Any) -> None:
        self._write(str(Path(self._cache_path) / name), data)

    def _write(self, path: str, content: Any) -> None:
        dumped = self._dump(content)  # type: ignore[no-untyped-call]
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(dumped).digest() + dumped)


def _read(path: Path) -> bytes | None:
    """What a file holds behind its checksum; None, and the file is deleted, where they do not agree."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    digest, dumped = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    if hashlib.sha256(dumped).digest() == digest:
        return dumped
    with suppress(OSError):
        path.unlink()
    return None


class KernelCache(FunctionCache):
    """The cache of one kernel, which the compiler asks first; no failure of it stops a program.

    Args:
        function: the kernel in Python; numba's configuration says where its files are.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _CheckedFiles(self._cache_path, self._impl.filename_base, stamp)  # type: ignore[no-untyped-call]

    @property
    def holds_any(self) -> bool:
        """Whether something compiled from this very source is kept."""
        try:
            return bool(self._cache_file._load_index())  # type: ignore[no-untyped-call]
        except OSError:
            return False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel for a signature; None if it is not there or cannot be read."""
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except OSError as error:
            tell_once(self._cache_path, error)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel, if the disk takes it."""
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except OSError as error:
            tell_once(self._cache_path, error)
