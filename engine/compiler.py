"""A numba dispatcher that optimises only whole programs (a kernel with all its callees); cached on disk.

numba itself translates every kernel to machine code and copies the optimised code of a kernel into each of
its callers, where it is optimised and translated again: a chain of ten calls does that ten times for the
innermost. Here a kernel that only kernels call stays in LLVM's intermediate form. Machine code is generated
for the kernels that Python calls, together with everything they call. The cache (`engine.kernel_cache`)
stores both forms.

This replaces private methods of numba; pyproject.toml names the versions that have them.
"""

import hashlib
import itertools
import os
import pickle
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, update_wrapper
from types import FunctionType
from typing import Any, NamedTuple

from llvmlite.binding import (
    Linkage,
    PipelineTuningOptions,
    create_new_module_pass_manager,
    create_pass_builder,
    parse_bitcode,
)
from numba import _dynfunc
from numba.core import bytecode, config, sigutils, types
from numba.core.ccallback import CFunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import lookup_environment
from numba.core.errors import TypingError
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.targetconfig import ConfigStack

from engine import kernel_cache
from engine.compile_progress import deferred_interrupts, progress
from engine.kernel_cache import kernel_key, options_of, types_key

_ENVIRONMENT = "_ZN08NumbaEnv"
"""Prefix of the symbols of numba's environments (a function's constants and globals)."""


def _name_functions_uniquely() -> None:
    """Start numba's numbering of functions at a random number, so that names are unique across processes.

    numba counts the functions of a process from 0. Here one module links code of several processes, so a name
    must belong to the same function in all of them.
    """
    bytecode.FunctionIdentity._unique_ids = itertools.count(secrets.randbits(60))


_name_functions_uniquely()
os.register_at_fork(after_in_child=_name_functions_uniquely)

_target: Any = cpu_target.target_context
_codegen: Any = _target.codegen()
_make_executable: Callable[..., Any] = _target.get_executable
_make_library: Callable[..., Any] = _codegen.create_library

BASE_OPTIONS = {"nopython": True, "nogil": True}
"""numba options of every kernel."""

ALLOCATING_NAMES = frozenset(
    ["zeros", "empty", "ones", "full", "eye", "arange", "array", "zeros_like", "empty_like", "copy"]
)
"""Names of numpy functions that allocate arrays.

Without an explicit option, numba compiles a kernel with or without reference counting as its first caller
does; a kernel that allocates arrays needs reference counting, whichever caller comes first.
"""

_depth = 0
"""Nesting depth of kernels being compiled for their callers. Changed under numba's compiler lock."""


@contextmanager
def _compiling_parts() -> Iterator[None]:
    """Context in which kernels are compiled to intermediate code only."""
    global _depth  # noqa: PLW0603
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1


@cache
def _tidying() -> tuple[Any, Any]:
    """LLVM passes that remove dead code, such as addresses of Python objects, which cannot be cached."""
    passes = create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_aggressive_dce_pass()
    passes.add_global_dead_code_eliminate_pass()
    return passes, create_pass_builder(_codegen._tm, PipelineTuningOptions())


class CacheReference(NamedTuple):
    """Reference to an entry of the cache: its name and the hash of its content.

    Several processes may compile the same kernel with different symbols; a reference is valid for one.
    """

    name: str
    digest: bytes


class BitcodeLibrary(JITCodeLibrary):
    """A numba code library: one function in intermediate code, its callees linked when machine code is made.

    Attributes:
        kept: the library's entry in the cache; None if it is not cached.
    """

    kept: "CacheReference | None" = None

    def finalize(self) -> None:
        """Close the library without linking, optimising or translating it."""
        self._raise_if_finalized()
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)
        passes, builder = _tidying()
        passes.run(self._final_module, builder)
        self._finalize_dynamic_globals()
        self._finalized = True

    def _optimize_functions(self, ll_module: Any) -> None:
        """Skip optimisation: the code is optimised together with its callers."""
        ll_module.data_layout = self._codegen._data_layout

    def _get_module_for_linking(self) -> Any:
        """A module of this function and all its callees, for linking into a caller."""
        return self.link_modules(self.own_module(), self.with_callees()[1:])

    def get_pointer_to_function(self, name: str) -> int:
        """Compile a function to machine code and return its address; 0 if there is no such function."""
        self._ensure_finalized()
        if not self.defines(name):
            return 0
        return int(_machine_library(self, is_called=True).get_pointer_to_function(name))

    def defines(self, name: str) -> bool:
        """Whether the library itself contains a function of this name."""
        return any(function.name == name for function in self._final_module.functions)

    def own_module(self) -> Any:
        """A module of the function without its callees, for linking into other modules."""
        if self._shared_module is None:
            module = self._final_module.clone()
            for function in module.functions:
                if not function.is_declaration and function.linkage == Linkage.external:
                    function.linkage = "linkonce_odr"
            self._shared_module = module
        return self._shared_module

    def link_modules(self, own: Any, libraries: list[Any]) -> Any:
        """A module of this function, `own`, and its callees' libraries, callers before callees."""
        module = own.clone()
        for library in libraries:
            code = (
                library.own_module()
                if isinstance(library, BitcodeLibrary)
                else library._get_module_for_linking()
            )
            module.link_in(code, preserve=True)
        return module

    def with_callees(self, *, stop_at_kept: bool = False) -> list[Any]:
        """This library and its direct and indirect callees in topological order, callers first.

        LLVM links a function only into a module that refers to it already.

        Args:
            stop_at_kept: omit the callees of other libraries that are in the cache.
        """
        order: list[Any] = []
        seen, stack = {self}, [(self, iter(self._linking_libraries))]
        while stack:
            library, called = stack[-1]
            following = next((callee for callee in called if callee not in seen), None)
            if following is None:
                order.append(library)
                stack.pop()
                continue
            seen.add(following)
            ends = not isinstance(following, BitcodeLibrary) or (stop_at_kept and following.kept)
            stack.append((following, iter(() if ends else following._linking_libraries)))
        return order[::-1]


def _machine_library(part: BitcodeLibrary, *, is_called: bool) -> Any:
    """A numba code library that generates machine code of a function and all its callees on demand.

    Args:
        part: the function.
        is_called: whether it is called from outside; else only by functions that are added later.
    """
    library = JITCodeLibrary(_codegen, f"{part.name}.machine")
    library.enable_object_caching()
    if is_called:
        library._final_module.link_in(part.link_modules(part._final_module, part.with_callees()[1:]))
    else:
        library.add_linking_library(part)
    return library


def _executable(library: Any, fndesc: Any, environment: Any) -> Any:
    """The function object that numba expects; without an address if Python cannot call it."""
    library._ensure_finalized()
    if not isinstance(library, BitcodeLibrary) or library.defines(fndesc.llvm_cpython_wrapper_name):
        made = _make_executable(library, fndesc, environment)
        _set_environments(_environments(library._final_module))  # of its callees
        return made
    return _dynfunc.make_function(fndesc.lookup_module(), fndesc.qualname, "", 0, environment, (library,))


def _library(name: str) -> Any:
    return BitcodeLibrary(_codegen, name) if _depth else _make_library(name)


_target.get_executable = _executable
_codegen.create_library = _library


def _environments(module: Any) -> list[tuple[Any, list[Any]]]:
    """Environments (as numba has them) of the functions of a module, each with its constants."""
    names = (variable.name for variable in module.global_variables if variable.name.startswith(_ENVIRONMENT))
    return [
        (variable, variable.consts)
        for variable in map(lookup_environment, names)
        if variable and variable.can_cache()
    ]


def _set_environments(environments: list[tuple[Any, list[Any]]]) -> None:
    """Write the addresses of environments into machine code."""
    for environment, _ in environments:
        _codegen.set_env(environment.env_name, environment)


def _complete(environments: list[tuple[Any, list[Any]]]) -> None:
    """Add missing constants to environments from the cache.

    A process has one environment of each name, the first that was read. It may have been written before
    numba made the Python wrapper, which adds constants.
    """
    for environment, objects in environments:
        environment.consts.extend(objects[len(environment.consts) :])


class _Part(NamedTuple):
    """Cache entry of a kernel's intermediate code."""

    name: str
    code: bytes  # bitcode of the function and of its callees without a cache entry
    called: list[CacheReference]  # its other callees
    fndesc: Any
    environment: Any
    signature: Any
    environments: list[tuple[Any, list[Any]]]


_parts: dict[str, tuple[BitcodeLibrary, _Part]] = {}
"""Cache entries that this process has read or written, by name."""


def _load_part(name: str) -> tuple[BitcodeLibrary, _Part] | None:
    """Load a kernel and its callees from the cache; None if one of them is missing."""
    if name in _parts:
        return _parts[name]
    content = kernel_cache.read(name)
    if content is None:
        return None
    _target.refresh()  # load the compiler's own functions that the code calls
    part = _unpacked(_Part, name, content)
    if part is None:
        return None
    library = BitcodeLibrary(_codegen, part.name)
    library.enable_object_caching()
    for other in part.called:
        found = _load_part(other.name)
        if found is None or found[0].kept != other:
            kernel_cache.remove(name)  # a callee has changed: it can no longer be linked
            return None
        library.add_linking_library(found[0])
    _complete(part.environments)
    library._final_module = parse_bitcode(part.code)
    library.finalize()
    library.kept = CacheReference(name, _digest(content))
    _parts[name] = library, part
    return _parts[name]


def _save_part(name: str, cres: CompileResult) -> None:
    library = cres.library
    libraries = library.with_callees(stop_at_kept=True)
    cached = [other.kept for other in libraries if getattr(other, "kept", None)]
    own, *others = [other for other in libraries if not getattr(other, "kept", None)]
    if cres.lifted or any(map(_has_addresses, (own, *others))):
        return
    cres.fndesc.typemap = cres.fndesc.calltypes = None
    module = library.link_modules(own._final_module, others)
    part = _Part(
        library.name,
        module.as_bitcode(),
        cached,
        cres.fndesc,
        cres.environment,
        cres.signature,
        _environments(module),
    )
    content = pickle.dumps(tuple(part))
    if kernel_cache.write(name, content):
        library.kept = CacheReference(name, _digest(content))
        _parts[name] = library, part


def _unpacked(kind: Any, name: str, content: bytes) -> Any:
    """Unpickle a cache entry; if it cannot be read, as with a missing module, remove it and return None."""
    try:
        return kind(*pickle.loads(content))
    except (ImportError, AttributeError, TypeError):
        kernel_cache.remove(name)
        return None


def _has_addresses(library: Any) -> bool:
    """Whether code contains addresses of this process, as for non-contiguous or very large arrays."""
    return bool(library.has_dynamic_globals or library._reload_init)


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


class _Machine(NamedTuple):
    """Cache entry of a kernel's machine code."""

    name: str
    code: bytes  # an object file
    symbol: str  # of the function called from outside
    fndesc: Any
    environment: Any
    environments: list[tuple[Any, list[Any]]]


class MachineCode:
    """Loaded machine code of a function and all its callees.

    Attributes:
        address: address of the function called from outside.
        described: its cache entry.
    """

    def __init__(self, library: Any, described: _Machine) -> None:
        self._library, self.described = library, described
        self.address = int(library.get_pointer_to_function(described.symbol))
        _set_environments(described.environments)

    @classmethod
    def load(cls, name: str) -> "MachineCode | None":
        """Load machine code from the cache; None if it is missing."""
        content = kernel_cache.read(name)
        if content is None:
            return None
        _target.refresh()  # load the compiler's own functions that the code calls
        described = _unpacked(_Machine, name, content)
        if described is None:
            return None
        _complete(described.environments)
        library = JITCodeLibrary(_codegen, described.name)
        library.enable_object_caching()
        library._set_compiled_object(described.code)
        with deferred_interrupts():
            library._finalize_final_module()
            _codegen._engine._defined_symbols.add(described.symbol)
            return cls(library, described)

    @classmethod
    def make(cls, name: str, library: Any, symbol: str, cres: CompileResult) -> "MachineCode":
        """Generate machine code, and cache it unless it contains addresses of this process.

        Raises:
            RuntimeError: LLVM generated none, as after an interrupt in its callback.
        """
        library._ensure_finalized()
        environments = _environments(library._final_module)
        code = library._get_compiled_object()
        described = _Machine(library.name, code, symbol, cres.fndesc, cres.environment, environments)
        cres.fndesc.typemap = cres.fndesc.calltypes = None
        if not _has_addresses(library):
            kernel_cache.write(name, pickle.dumps(tuple(described)))
        return cls(library, described)

    def as_function(self) -> Any:
        """A Python function that calls the machine code."""
        fndesc, environment = self.described.fndesc, self.described.environment
        name = fndesc.qualname.split(".")[-1]
        keep = (self._library, self)
        return _dynfunc.make_function(fndesc.lookup_module(), name, "", self.address, environment, keep)


class _PartCache:
    """Adapter from numba's cache interface to the cache of intermediate code."""

    def __init__(self, name_of: Callable[[Any], str]) -> None:
        self._name_of = name_of

    def load_overload(self, sig: Any, context: Any) -> CompileResult | None:
        """Load a kernel for a signature; None if it is missing."""
        found = _load_part(f"{self._name_of(sig)}.part")
        if found is None:
            return None
        library, part = found
        return CompileResult(
            typing_context=context.typing_context,
            target_context=context,
            entry_point=_executable(library, part.fndesc, part.environment),
            typing_error=None,
            type_annotation="",
            signature=part.signature,
            objectmode=False,
            lifted=(),
            fndesc=part.fndesc,
            library=library,
            call_helper=None,
            environment=part.environment,
            metadata=None,
            reload_init=(),
            referenced_envs=[environment for environment, _ in part.environments],
        )

    def save_overload(self, sig: Any, data: CompileResult) -> None:
        """Write a compiled kernel to the cache."""
        _save_part(f"{self._name_of(sig)}.part", data)


class Kernel(CPUDispatcher):
    """A numba dispatcher: a function compiled for each combination of argument types.

    Args:
        function: the Python function.
        **options: numba options besides `nopython` and `nogil`.
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        if ALLOCATING_NAMES.intersection(function.__code__.co_names):
            options = {"_nrt": True, **options}
        if options_of.get(function, options) != options:  # another kernel of this function has other options
            function = _copy_of(function)
        super().__init__(function, locals={}, targetoptions={**BASE_OPTIONS, **options})
        options_of[function] = self._options = options
        self._machine: dict[Any, Any] = {}
        self._cache = _PartCache(self._name_of)
        self._compiler._customize_flags = _without_wrappers

    @classmethod
    def _rebuild(cls, uuid: str, py_func: Any, targetoptions: Any, **_: Any) -> "Kernel":
        """Restore a kernel from its pickled form."""
        known: Kernel | None = cls._memo.get(uuid)
        if known is None:
            options = {name: value for name, value in targetoptions.items() if name not in BASE_OPTIONS}
            known = cls(py_func, **options)
            known._set_uuid(uuid)
        return known

    def _name_of(self, sig: Any) -> str:
        args, _ = sigutils.normalize_signature(sig)
        return f"{kernel_key(self.py_func)}-{types_key(args)}"

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """The signature for a call by another kernel; all signed integers are passed as int64.

        numba itself compiles a kernel again for each integer width, enumeration and literal.
        """
        plain = {name: _passed_as(kind) for name, kind in kws.items()}
        with _compiling_parts():  # also if the caller is not a kernel of this project
            found = super().get_call_template(tuple(map(_passed_as, args)), plain)
        caller = ConfigStack.top_or_none()
        if self._options.get("_nrt") and caller is not None and not caller.nrt:
            made = [cres.signature.return_type for cres in self.overloads.values()]
            if any(isinstance(part, types.Array) for kind in made for part in (kind, *_parts_of(kind))):
                name = self.py_func.__name__
                raise TypingError(f"{name} returns a new array to a kernel without reference counting")
        return found

    @property
    def is_compiled(self) -> bool:
        """Whether the kernel has machine code for at least one signature."""
        return bool(self._machine)

    def add_overload(self, cres: CompileResult) -> None:
        """Register a compiled overload for other kernels, not for Python."""
        self.overloads[tuple(cres.signature.args)] = cres

    @global_compiler_lock
    def compile(self, sig: Any) -> Any:
        """Compile for argument types: to intermediate code within another kernel, else to machine code."""
        if _depth:
            found = super().compile(sig)
            progress.mark_read(self.py_func)
            return found
        given = sigutils.normalize_signature(sig)[0]
        args = tuple(map(_as_writable, given))
        if args not in self._machine:
            name = f"{self._name_of(args)}.machine"
            code = MachineCode.load(name) or self._make_machine_code(name, args)
            self._machine[args] = code.as_function()
        self._insert([one._code for one in given], self._machine[args], False)
        return self._machine[args]

    def _make_machine_code(self, name: str, args: tuple[Any, ...]) -> MachineCode:
        with progress.watching(self.py_func):
            with _compiling_parts():
                self.compile(args)
            cres = self.overloads[args]
            library = _machine_library(cres.library, is_called=False)
            context = _target.subtarget(enable_nrt=self._options.get("_nrt", True))
            context.create_cpython_wrapper(library, cres.fndesc, cres.environment, None, release_gil=True)
            made = MachineCode.make(name, library, cres.fndesc.llvm_cpython_wrapper_name, cres)
            progress.mark_translated(self.py_func)
        return made


def _copy_of(function: Any) -> Any:
    """Copy a function, so that the copy can have other compile options."""
    copy = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    update_wrapper(copy, function)
    del copy.__wrapped__
    return copy


def _passed_as(kind: Any) -> Any:
    """The type in which an argument is passed: int64 for any signed integer."""
    plain = types.unliteral(kind)
    is_signed = isinstance(plain, types.Integer) and plain.signed
    return types.int64 if is_signed or isinstance(plain, types.IntEnumMember) else plain


def _as_writable(kind: Any) -> Any:
    """Treat a read-only array as a writable one, so that one kernel serves both.

    With bounds checks they stay distinct: there numba refuses kernels that write whole elements.
    """
    read_only = isinstance(kind, types.Array) and not kind.mutable and not config.BOUNDSCHECK
    return kind.copy(readonly=False) if read_only else kind


def _parts_of(kind: Any) -> tuple[Any, ...]:
    """The types in a tuple."""
    return tuple(kind.types) if isinstance(kind, types.BaseTuple) else ()


def _without_wrappers(flags: Any) -> Any:
    """Compile without numba's wrappers; the Python wrapper is added with the machine code."""
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    return flags


@global_compiler_lock
def compile_callback(function: Callable[..., Any], signature: Any) -> MachineCode:
    """Compile a function to machine code with a C calling convention, or load it from the cache.

    Args:
        function: a function of pointers and integers; it may call kernels.
        signature: a tuple of numba's argument types, and the return type.
    """
    name = f"{kernel_key(function)}-{types_key(signature[0])}.machine"
    found = MachineCode.load(name)
    if found is not None:
        return found
    with progress.watching(function):
        with _compiling_parts():
            cres = CFunc(function, signature, {}, {})._compile_uncached()
        library = _machine_library(cres.library, is_called=True)
        made = MachineCode.make(name, library, cres.fndesc.llvm_cfunc_wrapper_name, cres)
        progress.mark_read(function)
        progress.mark_translated(function)
    return made
