"""Compiled kernels on disk: cache keys by source hash, and files with checksums.

Cache files are unpickled and executed, so write access to them means running code as this user. Folders are
created with access for this user only; files and folders that another user owns or may write are refused.

Environment: `MANAFORGE_CACHE_DIR` moves the cache; `{uid}` in it stands for the user's number.

A key covers the bytecode of a kernel and of all functions that it calls, directly or not; the constants,
enumerations, dtypes and named tuple classes that they refer to; the versions of Python and of the compiler,
the compiler's settings, and the processor. Bytecode has no comments, docstrings, annotations or line numbers,
so that edits of these change no key; nor does the location of the sources. A kernel that refers to another
kind of value is refused.
"""

import enum
import errno
import hashlib
import inspect
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import llvmlite
import numba
import numpy as np
import platformdirs
from llvmlite.binding import llvm_version_info
from numba.core import config, types
from numba.core.registry import cpu_target

from engine.safe_files import distrust_reason, open_regular
from engine.terminal import print_error

KEEP_UNUSED_DAYS = 30
"""Days after which unused files are deleted."""

DIGEST_BYTES = 32
"""Length of the checksum at the start of a file."""

_NAME = re.compile(r"([0-9a-f]{32})-[0-9a-f]{16}\.(part|machine)")
_FILE = re.compile(rf"{_NAME.pattern}(\.\w+)?")
_OLD_FOLDER = re.compile(r"[0-9a-f]{16}")
"""Folders of earlier versions, one for each state of the sources."""

_warnings: list[str] = []

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH

used_machine_code: dict[str, None] = {}
"""Names of the machine code files that this process has read or written (or found written), in order."""


def warn_once(folder: object, why: object) -> None:
    """Warn on standard error, once in a process, that compiled kernels cannot be cached."""
    if not _warnings:
        text = (
            f"Cannot keep compiled kernels in {folder} ({why}), so every run compiles them again; set "
            "MANAFORGE_CACHE_DIR to a folder that only you can write"
        )
        print_error(text)
        _warnings.append(text)


@cache
def cache_folder() -> Path | None:
    """Folder of cached kernels, cleared of old files; None if the folder is unsafe or not writable."""
    setting = os.environ.get("MANAFORGE_CACHE_DIR", "").replace("{uid}", str(os.geteuid()))
    base = Path(setting or platformdirs.user_cache_dir("manaforge"))
    folder = base / "kernels"
    try:
        base.parent.mkdir(parents=True, exist_ok=True)
        for part in (base, folder):
            _make_private(part)
        with tempfile.TemporaryFile(dir=folder):
            pass
        _sweep(folder)
    except OSError as error:
        warn_once(folder, error.strerror or error)
        return None
    return folder


def _make_private(folder: Path) -> None:
    """Create a folder with access for this user only, or check that only this user may write an existing one.

    Raises:
        OSError: it cannot be created, or another user owns it or may write it.
    """
    try:
        folder.mkdir(0o700)
        folder.chmod(0o700)  # undo a stricter umask
    except FileExistsError:
        pass
    for status in (folder.lstat(), folder.stat()):
        writes = 0 if stat.S_ISLNK(status.st_mode) else _OTHERS_WRITE
        why = distrust_reason(status, writes)
        if why:
            raise OSError(
                errno.EPERM,
                f"{folder}: {why}, and its files would be executed; if it is yours, run chmod -R go-w on it, "
                "or set MANAFORGE_CACHE_DIR to another folder",
            )


def _sweep(folder: Path) -> None:
    """Once a day, delete files that have not been used for `KEEP_UNUSED_DAYS`."""
    mark, now = folder / "swept", time.time()
    with suppress(OSError):
        if now - mark.stat().st_mtime < 86_400:
            return
    mark.touch()
    for path in folder.iterdir():
        with suppress(OSError):
            if now - path.stat().st_mtime > KEEP_UNUSED_DAYS * 86_400:
                if _FILE.fullmatch(path.name):
                    path.unlink()
                elif _OLD_FOLDER.fullmatch(path.name):
                    shutil.rmtree(path)


def cached_kernels() -> set[tuple[str, str]]:
    """Cached kernels as (key, "part" or "machine") pairs, for any argument types."""
    folder = cache_folder()
    try:
        names = [path.name for path in folder.iterdir()] if folder is not None else []
    except OSError as error:
        warn_once(folder, error.strerror or error)
        return set()
    found = map(_FILE.fullmatch, names)
    return {(match[1], match[2]) for match in found if match and not match[3]}


def read(name: str) -> bytes | None:
    """Read the content of a cache file; None if it is missing, or damaged (a damaged file is deleted)."""
    folder = cache_folder()
    if folder is None:
        return None
    path = folder / name
    try:
        with open_regular(path, os.O_RDONLY | os.O_NOFOLLOW) as file:
            why = distrust_reason(os.fstat(file.fileno()), _OTHERS_WRITE)
            if why:
                raise OSError(errno.EPERM, f"{path}: {why}, and would be executed; delete it")
            content = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        warn_once(folder, error.strerror or error)
        return None
    digest, body = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    if hashlib.sha256(body).digest() == digest:
        with suppress(OSError):
            os.utime(path)
        _note_use(name)
        return body
    remove(name)
    return None


def remove(name: str) -> None:
    """Delete a cache file."""
    folder = cache_folder()
    if folder is not None:
        with suppress(OSError):
            (folder / name).unlink()


def write(name: str, content: bytes) -> bool:
    """Write a cache file, unless it exists or cannot be written.

    Returns:
        Whether the file now has this very content.
    """
    if not _NAME.fullmatch(name):  # sent by a driver
        raise ValueError(f"not the name of a compiled kernel: {name!r}")
    folder = cache_folder()
    if folder is None:
        return False
    temporary = folder / f"{name}.{secrets.token_hex(8)}"
    try:
        with open(temporary, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(hashlib.sha256(content).digest() + content)
        is_first = _publish(temporary, folder / name)
    except OSError as error:
        warn_once(folder, error.strerror or error)
        is_first = False
    with suppress(OSError):
        temporary.unlink()
    if is_first or exists(name):
        _note_use(name)
    return is_first


def _publish(temporary: Path, shared: Path) -> bool:
    """Move a file to its final name without replacing another; return whether it was moved."""
    try:
        shared.hardlink_to(temporary)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        if shared.exists():
            return False
        temporary.replace(shared)
    return True


def _note_use(name: str) -> None:
    if name.endswith(".machine"):
        used_machine_code[name] = None


def exists(name: str) -> bool:
    """Whether a cache file exists."""
    folder = cache_folder()
    if folder is not None:
        with suppress(OSError):  # the folder is no longer readable
            return (folder / name).is_file()
    return False


VERSIONED_PACKAGES = frozenset({"ctypes", "llvmlite", "numba", "numpy", "typing", *sys.builtin_module_names})
"""Packages covered by their version, or by that of Python."""

SETTINGS = (
    "BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "DEBUGINFO_DEFAULT", "USING_SVML",
    "LLVM_REFPRUNE_PASS", "LLVM_REFPRUNE_FLAGS",
)  # fmt: skip
"""numba settings that change machine code."""

COMPILER = ("engine.kernel_cache", "engine.compiler", "engine.indirect_call")
"""Modules of the project that determine how kernels are compiled."""

FLAGS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR
"""Code flags that depend on the source; a profiler sets others at run time."""


class KernelKeyError(TypeError):
    """A kernel refers to a value that its cache key cannot cover."""


def kernel_key(function: Callable[..., Any]) -> str:
    """The cache key of a kernel, without argument types; 32 hex digits.

    Args:
        function: the kernel or its Python function; `options_of` has its compile options.

    Raises:
        KernelKeyError: it refers, directly or through callees, to a value that the key cannot cover.
    """
    numbers: dict[Any, int] = {}
    digest = hashlib.blake2b(repr(_compiler()).encode(), digest_size=16)
    stack = [_uncompiled(function)]
    while stack:
        current = stack.pop()
        if current in numbers:
            continue
        numbers[current] = len(numbers)
        own, called = _own_key(current)
        digest.update(own)
        stack += reversed(called)
    for current in numbers:
        digest.update(repr([numbers[other] for other in _own_key(current)[1]]).encode())
    return digest.hexdigest()


def types_key(kinds: Iterable[Any]) -> str:
    """Hash of numba argument types; 16 hex digits.

    Raises:
        KernelKeyError: one of them is a function type.
    """
    description = _Description()
    for kind in kinds:
        description.add(kind)
    return hashlib.blake2b(repr(description.parts).encode(), digest_size=8).hexdigest()


options_of: WeakKeyDictionary[Callable[..., Any], dict[str, Any]] = WeakKeyDictionary()
"""Compile options of kernels, by Python function."""


def reachable_functions(function: Callable[..., Any]) -> set[FunctionType]:
    """A kernel's Python function and all functions that it calls, directly or not."""
    found: set[FunctionType] = set()
    stack = [_uncompiled(function)]
    while stack:
        current = stack.pop()
        if current not in found:
            found.add(current)
            stack += _own_key(current)[1]
    return found


def _uncompiled(function: Any) -> FunctionType:
    plain: FunctionType = getattr(function, "py_func", function)
    return plain


def compiler_key() -> str:
    """Hash of the compiler environment: processor, versions, settings and compiler code; 16 hex digits."""
    return hashlib.blake2b(repr(_compiler()).encode(), digest_size=8).hexdigest()


@cache
def _compiler() -> tuple[object, ...]:
    """Properties of the machine and the installation that change machine code."""
    settings = [(name, str(getattr(config, name, None))) for name in SETTINGS]
    versions = (
        numba.__version__,
        llvmlite.__version__,
        llvm_version_info,
        np.__version__,
        sys.version_info[:2],
    )
    own_code = []
    for name in COMPILER:
        members = vars(import_module(name)).values()
        functions = {f for member in members for f in _functions_of(member) if f.__module__ == name}
        texts = sorted((member.__qualname__, repr(_code_text(member.__code__))) for member in functions)
        own_code.append((texts, [member._fields for member in members if hasattr(member, "_fields")]))
    return versions, settings, cpu_target.target_context.codegen().magic_tuple(), own_code


def _functions_of(value: object) -> Iterator[FunctionType]:
    """A function, or the functions of a class, without their decorators."""
    for one in vars(value).values() if inspect.isclass(value) else [value]:
        inner: Any = getattr(one, "__func__", None) or getattr(one, "fget", None) or one
        plain = inspect.unwrap(inner)
        if isinstance(plain, FunctionType):
            yield plain


class _FunctionHash(NamedTuple):
    """Memoised hash of a function, and the global values for which it is valid."""

    own: bytes
    called: list[FunctionType]
    values: list[tuple[dict[str, Any], str, Any]]  # (namespace, name, value)
    may_change: bool  # whether a value is mutable


_known: dict[FunctionType, _FunctionHash] = {}
_NOTHING = object()


def _own_key(function: FunctionType) -> tuple[bytes, list[FunctionType]]:
    """Hash of a function and of the values that it refers to, and the functions among these."""
    memory = _known.get(function)
    if (
        memory is None
        or memory.may_change
        or any(space.get(name, _NOTHING) is not value for space, name, value in memory.values)
    ):
        memory = _known[function] = _hash_function(function)
    return memory.own, memory.called


def _hash_function(function: FunctionType) -> _FunctionHash:
    """Compute the hash of a function, with the global values for which it is valid."""
    description = _Description()
    values: list[tuple[dict[str, Any], str, Any]] = []
    try:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            description.parts.append(name)
            description.add(cell.cell_contents)
        names = dict.fromkeys(name for code in _codes(function.__code__) for name in code.co_names)
        spaces = [function.__globals__]
        for space in spaces:
            for name in names:
                value = space.get(name, _NOTHING)
                values.append((space, name, value))
                if isinstance(value, ModuleType) and not _is_outside(value.__name__):
                    if all(space is not vars(value) for space in spaces):
                        spaces.append(vars(value))
                elif value is not _NOTHING:
                    description.parts.append(name)
                    description.add(value)
        description.add(function.__defaults__)
    except KernelKeyError as error:
        raise KernelKeyError(f"{function.__module__}.{function.__qualname__}: {error}") from None
    options = sorted(options_of.get(function, {}).items())
    own_text = (function.__module__, function.__qualname__, options, _code_text(function.__code__))
    text = repr((own_text, description.parts))
    own = hashlib.blake2b(text.encode(), digest_size=16).digest()
    return _FunctionHash(own, description.functions, values, description.has_arrays)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and the code objects nested in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _code_text(code: CodeType) -> tuple[object, ...]:
    """Content of a code object without its docstring, the first constant of a `def`."""
    skips = not code.co_name.startswith("<") and code.co_consts and isinstance(code.co_consts[0], str)
    constants = [
        _code_text(one) if isinstance(one, CodeType) else (type(one).__name__, _ordered(one))
        for one in code.co_consts[1 if skips else 0 :]
    ]
    return (
        code.co_code,
        [("NoneType", None), *constants] if skips else constants,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_argcount,
        code.co_flags & FLAGS,
        code.co_exceptiontable,
    )


def _ordered(constant: object) -> object:
    """A constant with sets sorted, since the order of a set of strings differs between processes."""
    return sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant


def _is_outside(module: str | None) -> bool:
    return str(module).split(".")[0] in VERSIONED_PACKAGES


class _Description:
    """Canonical text of values: equal texts mean equal values.

    Attributes:
        parts: the texts; a function appears as a placeholder.
        functions: the functions among the values, hashed separately.
        has_arrays: whether a value is mutable.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.functions: list[FunctionType] = []
        self.has_arrays = False

    def add(self, value: Any) -> None:
        """Append the text of a value.

        Raises:
            KernelKeyError: the text would not show changes of a value of this kind.
        """
        if value is None or isinstance(value, bool | int | float | complex | str | bytes):
            self._say(type(value), value if not isinstance(value, enum.Enum) else value.value)
        elif isinstance(value, np.generic):
            self._say(value.dtype, value.tobytes())
        elif isinstance(value, np.dtype):
            self._add_dtype(value)
        elif isinstance(value, types.Type):
            self._add_type(value)
        elif isinstance(value, np.ndarray):
            self.has_arrays = True
            self._say(value.shape, value.flags.f_contiguous, np.ascontiguousarray(value).tobytes())
            self._add_dtype(value.dtype)
        elif isinstance(value, slice):
            self._say(value)
        elif isinstance(value, tuple):
            self._say(type(value), getattr(value, "_fields", ()), len(value))
            for one in value:
                self.add(one)
        elif isinstance(value, type):
            self._add_class(value)
        elif isinstance(function := getattr(value, "py_func", getattr(value, "_defn", value)), FunctionType):
            self._say("function")
            if not _is_outside(function.__module__):
                self.functions.append(function)
            else:
                self._say(function.__module__, function.__qualname__)
        elif isinstance(value, ModuleType) and _is_outside(value.__name__):
            self._say("module", value.__name__)
        elif isinstance(value, BuiltinFunctionType | np.ufunc) or _is_outside(
            getattr(value, "__module__", None)
        ):
            self._say(getattr(value, "__module__", ""), getattr(value, "__qualname__", value.__class__))
        else:
            raise KernelKeyError(f"the kernel cache cannot detect changes of {value!r:.80}")

    def _say(self, *words: object) -> None:
        self.parts.append(repr(words))

    def _add_dtype(self, dtype: np.dtype[Any]) -> None:
        self._say("dtype", dtype.str, dtype.itemsize, dtype.alignment, dtype.shape)
        if dtype.subdtype is not None:
            self._add_dtype(dtype.subdtype[0])
        for name in dtype.names or ():
            fields: Any = dtype.fields
            inner, offset = fields[name][:2]
            self._say(name, offset)
            self._add_dtype(inner)

    def _add_type(self, kind: Any) -> None:
        if isinstance(kind, types.Callable | types.Opaque) and " at 0x" in str(kind):
            raise KernelKeyError(f"a kernel cannot take a function as an argument: {kind}")
        self._say("type", str(kind))
        members: Any = kind if isinstance(kind, types.BaseTuple) else ()
        for one in members:
            self._add_type(one)
        if (origin := getattr(kind, "instance_class", None)) is not None:
            self._add_class(origin)

    def _add_class(self, kind: type) -> None:
        self._say("class", kind.__module__, kind.__qualname__)
        if issubclass(kind, enum.Enum):
            self._say([(name, member.value) for name, member in kind.__members__.items()])
        elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
            self._say(kind._fields)
        elif not _is_outside(kind.__module__) and not issubclass(kind, BaseException):
            raise KernelKeyError(f"the kernel cache cannot detect changes of the class {kind.__qualname__}")
