"""Compiled kernels on disk: cache keys by source hash, and files with checksums.

They are unpickled and run, so whoever can write one can run code as this user. Folders are made for this user
alone, and one that another user owns or may write is refused, as is such a file.

Environment: `MANAFORGE_CACHE_DIR` moves the cache; `{uid}` in it stands for the user's number.

A key covers the bytecode of a kernel and of all functions that it reaches, and each constant, enumeration,
dtype and class of named tuples that they name, with the versions of Python and of the compiler, its settings
and the processor. Bytecode holds no comments, docstrings, annotations or line numbers, so that an edit of
these changes no key; nor does it matter where the sources are. A kernel that names a value of another sort is
refused.
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

from engine.safe_files import open_regular, why_untrusted
from engine.terminal import say_error

KEEP_UNUSED_DAYS = 30
DIGEST_BYTES = 32

_NAME = re.compile(r"([0-9a-f]{32})-[0-9a-f]{16}\.(part|machine)")
_FILE = re.compile(rf"{_NAME.pattern}(\.\w+)?")
_FOLDER_OF_OLD = re.compile(r"[0-9a-f]{16}")
"""Earlier versions kept a folder for each state of the sources."""

_told: list[str] = []

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH

used: dict[str, None] = {}
"""Names of the machine code that this process has read, or found or left there as it wrote, in this order."""


def tell_once(folder: object, why: object) -> None:
    """Say on standard error, once a process, that compiled kernels cannot be kept."""
    if not _told:
        text = f"Cannot keep compiled kernels in {folder} ({why}): compiling every time"
        say_error(text)
        _told.append(text)


@cache
def cache_folder() -> Path | None:
    """Where this process keeps compiled kernels; None where it may not or cannot. Old files are deleted."""
    given = os.environ.get("MANAFORGE_CACHE_DIR", "").replace("{uid}", str(os.geteuid()))
    base = Path(given or platformdirs.user_cache_dir("manaforge"))
    folder = base / "kernels"
    try:
        base.parent.mkdir(parents=True, exist_ok=True)
        for one in (base, folder):
            _make_private(one)
        with tempfile.TemporaryFile(dir=folder):
            pass
        _sweep(folder)
    except OSError as error:
        tell_once(folder, error.strerror or error)
        return None
    return folder


def _make_private(folder: Path) -> None:
    """Make a folder that this user alone may enter, unless there is one that this user alone may write.

    Raises:
        OSError: it cannot be made, or another user owns it or may write it.
    """
    try:
        folder.mkdir(0o700)
        folder.chmod(0o700)  # where the umask takes more
    except FileExistsError:
        pass
    for status in (folder.lstat(), folder.stat()):
        writes = 0 if stat.S_ISLNK(status.st_mode) else _OTHERS_WRITE
        why = why_untrusted(status, writes)
        if why:
            raise OSError(
                errno.EPERM,
                f"{folder}: {why}, and what it holds is run; chmod -R go-w it if it is yours, or name "
                "another folder in MANAFORGE_CACHE_DIR",
            )


def _sweep(folder: Path) -> None:
    """Once a day, delete what has not been used for long."""
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
                elif _FOLDER_OF_OLD.fullmatch(path.name):
                    shutil.rmtree(path)


def held() -> set[tuple[str, str]]:
    """Of which kernels there are files, for some types: keys, and "part" or "machine"."""
    folder = cache_folder()
    try:
        names = [path.name for path in folder.iterdir()] if folder is not None else []
    except OSError as error:
        tell_once(folder, error.strerror or error)
        return set()
    found = map(_FILE.fullmatch, names)
    return {(match[1], match[2]) for match in found if match and not match[3]}


def read(name: str) -> bytes | None:
    """What was written under a name; None if nothing was, or it is damaged, in which case it is deleted."""
    folder = cache_folder()
    if folder is None:
        return None
    path = folder / name
    try:
        with open_regular(path, os.O_RDONLY | os.O_NOFOLLOW) as file:
            why = why_untrusted(os.fstat(file.fileno()), _OTHERS_WRITE)
            if why:
                raise OSError(errno.EPERM, f"{path}: {why}, and would be run; delete it")
            content = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        tell_once(folder, error.strerror or error)
        return None
    digest, kept = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    if hashlib.sha256(kept).digest() == digest:
        with suppress(OSError):
            os.utime(path)
        _note(name)
        return kept
    remove(name)
    return None


def remove(name: str) -> None:
    """Delete what is of no use."""
    folder = cache_folder()
    if folder is not None:
        with suppress(OSError):
            (folder / name).unlink()


def write(name: str, content: bytes) -> bool:
    """Keep something under a name, unless another process was first or the disk does not take it.

    Returns:
        Whether the name now stands for this very content.
    """
    if not _NAME.fullmatch(name):  # a driver sent it
        raise ValueError(f"no name of a compiled kernel: {name!r}")
    folder = cache_folder()
    if folder is None:
        return False
    own = folder / f"{name}.{secrets.token_hex(8)}"
    try:
        with open(own, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(hashlib.sha256(content).digest() + content)
        is_first = _link(own, folder / name)
    except OSError as error:
        tell_once(folder, error.strerror or error)
        is_first = False
    with suppress(OSError):
        own.unlink()
    if is_first or exists(name):
        _note(name)
    return is_first


def _link(own: Path, shared: Path) -> bool:
    """Give a file its name, which no other file may have; returns whether it has it."""
    try:
        shared.hardlink_to(own)
    except FileExistsError:
        return False
    except OSError:  # of a file system without links
        if shared.exists():
            return False
        own.replace(shared)
    return True


def _note(name: str) -> None:
    if name.endswith(".machine"):
        used[name] = None


def exists(name: str) -> bool:
    """Whether something is kept under a name."""
    folder = cache_folder()
    if folder is not None:
        with suppress(OSError):  # a folder that may no longer be read
            return (folder / name).is_file()
    return False


OUTSIDE = frozenset({"ctypes", "llvmlite", "numba", "numpy", "typing", *sys.builtin_module_names})
"""Packages whose version, or that of Python, stands for all that is in them."""

SETTINGS = (
    "BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "DEBUGINFO_DEFAULT", "USING_SVML",
    "LLVM_REFPRUNE_PASS", "LLVM_REFPRUNE_FLAGS",
)  # fmt: skip
"""numba's settings that change machine code."""

COMPILER = ("engine.kernel_cache", "engine.compiler", "engine.indirect_call")
"""Modules of ours that decide how kernels are compiled."""

FLAGS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR
"""Of the flags of a function's code, those of its source; others are set as it runs in a profiler."""


class KernelKeyError(TypeError):
    """A kernel names a value that its key cannot cover."""


def kernel_key(function: Callable[..., Any]) -> str:
    """The key of a kernel for arguments of any types; 32 hex digits.

    Args:
        function: compiled or not; `options_of` has how it is compiled.

    Raises:
        KernelKeyError: it reaches a value whose changes the key would not show.
    """
    numbers: dict[Any, int] = {}
    digest = hashlib.blake2b(repr(_compiler()).encode(), digest_size=16)
    waiting = [_uncompiled(function)]
    while waiting:
        one = waiting.pop()
        if one in numbers:
            continue
        numbers[one] = len(numbers)
        own, called = _own_key(one)
        digest.update(own)
        waiting += reversed(called)
    for one in numbers:
        digest.update(repr([numbers[other] for other in _own_key(one)[1]]).encode())
    return digest.hexdigest()


def types_key(kinds: Iterable[Any]) -> str:
    """A hash of numba's types; 16 hex digits.

    Raises:
        KernelKeyError: one of them is of a function.
    """
    description = _Description()
    for kind in kinds:
        description.add(kind)
    return hashlib.blake2b(repr(description.parts).encode(), digest_size=8).hexdigest()


options_of: WeakKeyDictionary[Callable[..., Any], dict[str, Any]] = WeakKeyDictionary()
"""How kernels are compiled, by their function in Python."""


def reached(function: Callable[..., Any]) -> set[FunctionType]:
    """All functions that a kernel's machine code depends on, itself among them."""
    found: set[FunctionType] = set()
    waiting = [_uncompiled(function)]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += _own_key(one)[1]
    return found


def _uncompiled(function: Any) -> FunctionType:
    plain: FunctionType = getattr(function, "py_func", function)
    return plain


def compiler_key() -> str:
    """A hash of what is in every key: processor, versions, settings, and how we compile; 16 hex digits."""
    return hashlib.blake2b(repr(_compiler()).encode(), digest_size=8).hexdigest()


@cache
def _compiler() -> tuple[object, ...]:
    """Everything of the machine and the installation that decides what is compiled."""
    settings = [(name, str(getattr(config, name, None))) for name in SETTINGS]
    versions = (
        numba.__version__,
        llvmlite.__version__,
        llvm_version_info,
        np.__version__,
        sys.version_info[:2],
    )
    ours = []
    for name in COMPILER:
        members = vars(import_module(name)).values()
        functions = {f for one in members for f in _functions_of(one) if f.__module__ == name}
        texts = sorted((one.__qualname__, repr(_code_text(one.__code__))) for one in functions)
        ours.append((texts, [one._fields for one in members if hasattr(one, "_fields")]))
    return versions, settings, cpu_target.target_context.codegen().magic_tuple(), ours


def _functions_of(value: object) -> Iterator[FunctionType]:
    """A function, or those of a class, whatever decorates them."""
    for one in vars(value).values() if inspect.isclass(value) else [value]:
        inner: Any = getattr(one, "__func__", None) or getattr(one, "fget", None) or one
        plain = inspect.unwrap(inner)
        if isinstance(plain, FunctionType):
            yield plain


class _Memory(NamedTuple):
    """What was found of a function, and the values for which it holds."""

    own: bytes
    called: list[FunctionType]
    values: list[tuple[dict[str, Any], str, Any]]  # each: a namespace, a name, what it stood for
    may_change: bool  # whether a value may change in place


_known: dict[FunctionType, _Memory] = {}
_NOTHING = object()


def _own_key(function: FunctionType) -> tuple[bytes, list[FunctionType]]:
    """A hash of a function and of the values that it names, and the functions among these."""
    memory = _known.get(function)
    if (
        memory is None
        or memory.may_change
        or any(space.get(name, _NOTHING) is not value for space, name, value in memory.values)
    ):
        memory = _known[function] = _read(function)
    return memory.own, memory.called


def _read(function: FunctionType) -> _Memory:
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
    return _Memory(own, description.functions, values, description.has_arrays)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _code_text(code: CodeType) -> tuple[object, ...]:
    """What a function does, without its docstring: the first constant of a `def`, or None."""
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
    """A constant in the same words in every process: sets of texts have another order in each."""
    return sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant


def _is_outside(module: str | None) -> bool:
    return str(module).split(".")[0] in OUTSIDE


class _Description:
    """Values in words of which two are alike only where the values are.

    Attributes:
        parts: the words; a function is only named there.
        functions: the functions among the values, to be looked at on their own.
        has_arrays: whether a value may change while it stays the same object.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.functions: list[FunctionType] = []
        self.has_arrays = False

    def add(self, value: Any) -> None:
        """Add a value.

        Raises:
            KernelKeyError: a value of its sort may change where its description does not.
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
            raise KernelKeyError(f"the cache cannot tell when {value!r:.80} changes")

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
            raise KernelKeyError(f"a function as an argument: {kind}")
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
            raise KernelKeyError(f"the cache cannot tell when the class {kind.__qualname__} changes")
