"""Kernels compiled by numba, each optimised once: as a part of the kernel that Python calls.

numba by itself makes machine code of every kernel and copies the optimised code of a kernel into each of
its callers, where it is optimised and translated again: a chain of ten calls does that ten times for the
innermost. Here a kernel that only kernels call stays in LLVM's intermediate form. Machine code is made where
Python asks for it, of the kernel and all that it reaches together. Both forms are kept in the cache
(`engine.kernel_cache`).

This replaces methods of numba that are not its public interface; pyproject.toml names the versions that
have them.
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
from engine.compile_progress import interrupts_kept, progress
from engine.kernel_cache import kernel_key, options_of, types_key

_ENVIRONMENT = "_ZN08NumbaEnv"
"""How the names begin of what functions know of their Python modules."""


def _name_functions_uniquely() -> None:
    """Have numba name functions by numbers that no other process uses.

    It counts the functions of a process from 0. Here code of several processes is linked into one module: a
    name has to be one function's in all of them.
    """
    bytecode.FunctionIdentity._unique_ids = itertools.count(secrets.randbits(60))


_name_functions_uniquely()
os.register_at_fork(after_in_child=_name_functions_uniquely)

_target: Any = cpu_target.target_context
_codegen: Any = _target.codegen()
_make_executable: Callable[..., Any] = _target.get_executable
_make_library: Callable[..., Any] = _codegen.create_library

PLAIN_OPTIONS = {"nopython": True, "nogil": True}
"""numba's options that every kernel has."""

MAKING_ARRAYS = frozenset(
    ["zeros", "empty", "ones", "full", "eye", "arange", "array", "zeros_like", "empty_like", "copy"]
)
"""Names by which a function makes arrays.

numba compiles a kernel whose options do not say whether it counts references as its first caller is compiled;
one that makes arrays has to count them, also where a kernel that borrows calls it first.
"""

_depth = 0
"""How many kernels are being compiled, each for the one before. Changed under numba's compiler lock."""


@contextmanager
def _compiling_parts() -> Iterator[None]:
    """What is compiled in this context is not translated to machine code."""
    global _depth  # noqa: PLW0603
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1


@cache
def _tidying() -> tuple[Any, Any]:
    """Passes that remove what nothing uses: addresses of Python objects among it, which cannot be kept."""
    passes = create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_aggressive_dce_pass()
    passes.add_global_dead_code_eliminate_pass()
    return passes, create_pass_builder(_codegen._tm, PipelineTuningOptions())


class Kept(NamedTuple):
    """Content of the cache: its name, and a hash of it.

    Several processes may compile the same kernel, with other names in its code. A reference holds for one.
    """

    name: str
    digest: bytes


class PartLibrary(JITCodeLibrary):
    """The code of a function in intermediate form; what it calls is linked where machine code is made.

    Attributes:
        kept: where the cache holds it; None where it does not.
    """

    kept: "Kept | None" = None

    def finalize(self) -> None:
        """End the adding of code. Nothing is linked, optimised or translated."""
        self._raise_if_finalized()
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)
        passes, builder = _tidying()
        passes.run(self._final_module, builder)
        self._finalize_dynamic_globals()
        self._finalized = True

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave the code as it is, to be optimised together with its callers."""
        ll_module.data_layout = self._codegen._data_layout

    def _get_module_for_linking(self) -> Any:
        """This function and all that it reaches, to be copied into a module that refers to it."""
        return self.joined(self.own_code(), self.reached()[1:])

    def get_pointer_to_function(self, name: str) -> int:
        """The address of a function whose machine code is made now; 0 if there is no such function."""
        self._ensure_finalized()
        if not self.defines(name):
            return 0
        return int(_machine_library(self, is_called=True).get_pointer_to_function(name))

    def defines(self, name: str) -> bool:
        """Whether a function of this name is in the library itself."""
        return any(function.name == name for function in self._final_module.functions)

    def own_code(self) -> Any:
        """The function alone, to be copied into a module."""
        if self._shared_module is None:
            module = self._final_module.clone()
            for function in module.functions:
                if not function.is_declaration and function.linkage == Linkage.external:
                    function.linkage = "linkonce_odr"
            self._shared_module = module
        return self._shared_module

    def joined(self, own: Any, libraries: list[Any]) -> Any:
        """A module of this function, `own`, and of libraries it reaches, callers before what they call."""
        module = own.clone()
        for library in libraries:
            code = (
                library.own_code() if isinstance(library, PartLibrary) else library._get_module_for_linking()
            )
            module.link_in(code, preserve=True)
        return module

    def reached(self, *, stop_at_kept: bool = False) -> list[Any]:
        """This library and those it calls, directly or not, each once and before all that it calls itself.

        LLVM copies a function only into a module that refers to it already.

        Args:
            stop_at_kept: leave out what is called by another library that the cache holds.
        """
        order: list[Any] = []
        seen, stack = {self}, [(self, iter(self._linking_libraries))]
        while stack:
            library, called = stack[-1]
            following = next((one for one in called if one not in seen), None)
            if following is None:
                order.append(library)
                stack.pop()
                continue
            seen.add(following)
            ends = not isinstance(following, PartLibrary) or (stop_at_kept and following.kept)
            stack.append((following, iter(() if ends else following._linking_libraries)))
        return order[::-1]


def _machine_library(part: PartLibrary, *, is_called: bool) -> Any:
    """A library that makes machine code of a function, and of all that it reaches, when asked for an address.

    Args:
        part: the function.
        is_called: from outside the library; else only by functions that will be added to it.
    """
    library = JITCodeLibrary(_codegen, f"{part.name}.machine")
    library.enable_object_caching()
    if is_called:
        library._final_module.link_in(part.joined(part._final_module, part.reached()[1:]))
    else:
        library.add_linking_library(part)
    return library


def _executable(library: Any, fndesc: Any, environment: Any) -> Any:
    """What numba takes for the compiled function; where Python cannot call that, it has no address."""
    library._ensure_finalized()
    if not isinstance(library, PartLibrary) or library.defines(fndesc.llvm_cpython_wrapper_name):
        made = _make_executable(library, fndesc, environment)
        _set_environments(_environments(library._final_module))  # of kernels that it calls
        return made
    return _dynfunc.make_function(fndesc.lookup_module(), fndesc.qualname, "", 0, environment, (library,))


def _library(name: str) -> Any:
    return PartLibrary(_codegen, name) if _depth else _make_library(name)


_target.get_executable = _executable
_codegen.create_library = _library


def _environments(module: Any) -> list[tuple[Any, list[Any]]]:
    """What the functions of a module know of their Python modules, and the objects that these hold."""
    names = (one.name for one in module.global_variables if one.name.startswith(_ENVIRONMENT))
    return [(one, one.consts) for one in map(lookup_environment, names) if one and one.can_cache()]


def _set_environments(environments: list[tuple[Any, list[Any]]]) -> None:
    """Tell machine code the addresses of its environments."""
    for environment, _ in environments:
        _codegen.set_env(environment.env_name, environment)


def _complete(environments: list[tuple[Any, list[Any]]]) -> None:
    """Give environments from the cache all their objects.

    There is one of each name in a process: the first that was read, perhaps written before the wrapper for
    Python was made, which adds some.
    """
    for environment, objects in environments:
        environment.consts.extend(objects[len(environment.consts) :])


class _Part(NamedTuple):
    """A kernel's intermediate code as the cache holds it."""

    name: str
    code: bytes  # bitcode of the function, and of what it calls that the cache does not hold
    called: list[Kept]  # what else it calls
    fndesc: Any
    environment: Any
    signature: Any
    environments: list[tuple[Any, list[Any]]]


_parts: dict[str, tuple[PartLibrary, _Part]] = {}
"""What this process has taken from the cache or given to it, by name."""


def _load_part(name: str) -> tuple[PartLibrary, _Part] | None:
    """A kernel from the cache with all that it calls; None if any of it is not there."""
    if name in _parts:
        return _parts[name]
    content = kernel_cache.read(name)
    if content is None:
        return None
    _target.refresh()  # what the code calls of the compiler's own
    part = _unpacked(_Part, name, content)
    if part is None:
        return None
    library = PartLibrary(_codegen, part.name)
    library.enable_object_caching()
    for other in part.called:
        found = _load_part(other.name)
        if found is None or found[0].kept != other:
            kernel_cache.remove(name)  # it can be linked no more
            return None
        library.add_linking_library(found[0])
    _complete(part.environments)
    library._final_module = parse_bitcode(part.code)
    library.finalize()
    library.kept = Kept(name, _digest(content))
    _parts[name] = library, part
    return _parts[name]


def _save_part(name: str, cres: CompileResult) -> None:
    library = cres.library
    near = library.reached(stop_at_kept=True)
    held = [one.kept for one in near if getattr(one, "kept", None)]
    own, *others = [one for one in near if not getattr(one, "kept", None)]
    if cres.lifted or any(map(_has_addresses, (own, *others))):
        return
    cres.fndesc.typemap = cres.fndesc.calltypes = None
    module = library.joined(own._final_module, others)
    part = _Part(
        library.name,
        module.as_bitcode(),
        held,
        cres.fndesc,
        cres.environment,
        cres.signature,
        _environments(module),
    )
    content = pickle.dumps(tuple(part))
    if kernel_cache.write(name, content):
        library.kept = Kept(name, _digest(content))
        _parts[name] = library, part


def _unpacked(kind: Any, name: str, content: bytes) -> Any:
    """What the cache holds; None where this process cannot use it, as of a module that it does not have."""
    try:
        return kind(*pickle.loads(content))
    except (ImportError, AttributeError, TypeError):
        kernel_cache.remove(name)
        return None


def _has_addresses(library: Any) -> bool:
    """Whether code holds addresses of this process, as of arrays that are not contiguous or very large."""
    return bool(library.has_dynamic_globals or library._reload_init)


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


class _Machine(NamedTuple):
    """A kernel's machine code as the cache holds it."""

    name: str
    code: bytes  # of an object file
    symbol: str  # the function that is called
    fndesc: Any
    environment: Any
    environments: list[tuple[Any, list[Any]]]


class MachineCode:
    """The machine code of a function and of all that it reaches.

    Attributes:
        address: of the function that is called from outside.
        described: what it was made from.
    """

    def __init__(self, library: Any, described: _Machine) -> None:
        self._library, self.described = library, described
        self.address = int(library.get_pointer_to_function(described.symbol))
        _set_environments(described.environments)

    @classmethod
    def load(cls, name: str) -> "MachineCode | None":
        """Machine code from the cache; None if it is not there."""
        content = kernel_cache.read(name)
        if content is None:
            return None
        _target.refresh()  # what the code calls of the compiler's own
        described = _unpacked(_Machine, name, content)
        if described is None:
            return None
        _complete(described.environments)
        library = JITCodeLibrary(_codegen, described.name)
        library.enable_object_caching()
        library._set_compiled_object(described.code)
        with interrupts_kept():
            library._finalize_final_module()
            _codegen._engine._defined_symbols.add(described.symbol)
            return cls(library, described)

    @classmethod
    def make(cls, name: str, library: Any, symbol: str, cres: CompileResult) -> "MachineCode":
        """Make machine code, and keep it unless it holds addresses of this process.

        Raises:
            RuntimeError: there is none, as after an interrupt in LLVM's callback, which drops it.
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
        """It as a function of Python."""
        fndesc, environment = self.described.fndesc, self.described.environment
        name = fndesc.qualname.split(".")[-1]
        keep = (self._library, self)
        return _dynfunc.make_function(fndesc.lookup_module(), name, "", self.address, environment, keep)


class _PartCache:
    """numba's view of the cache: kernels in intermediate form."""

    def __init__(self, name_of: Callable[[Any], str]) -> None:
        self._name_of = name_of

    def load_overload(self, sig: Any, context: Any) -> CompileResult | None:
        """A kernel for a signature; None if it is not there."""
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
        """Keep a compiled kernel."""
        _save_part(f"{self._name_of(sig)}.part", data)


class Kernel(CPUDispatcher):
    """A function that is compiled for each combination of argument types with which it is called.

    Args:
        function: in Python.
        **options: numba's, beside `nopython` and `nogil`.
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        if MAKING_ARRAYS.intersection(function.__code__.co_names):
            options = {"_nrt": True, **options}
        if options_of.get(function, options) != options:  # it is compiled in another way, too
            function = _copy_of(function)
        super().__init__(function, locals={}, targetoptions={**PLAIN_OPTIONS, **options})
        options_of[function] = self._options = options
        self._machine: dict[Any, Any] = {}
        self._cache = _PartCache(self._name_of)
        self._compiler._customize_flags = _without_wrappers

    @classmethod
    def _rebuild(cls, uuid: str, py_func: Any, targetoptions: Any, **_: Any) -> "Kernel":
        """A kernel that another process has sent."""
        known: Kernel | None = cls._memo.get(uuid)
        if known is None:
            options = {name: value for name, value in targetoptions.items() if name not in PLAIN_OPTIONS}
            known = cls(py_func, **options)
            known._set_uuid(uuid)
        return known

    def _name_of(self, sig: Any) -> str:
        args, _ = sigutils.normalize_signature(sig)
        return f"{kernel_key(self.py_func)}-{types_key(args)}"

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """The signature for a call by another kernel; all signed integers are passed as int64.

        numba by itself compiles a kernel again for each width, enumeration and literal it is called with.
        """
        plain = {name: _passed_as(kind) for name, kind in kws.items()}
        with _compiling_parts():  # also where the caller is no kernel of ours
            found = super().get_call_template(tuple(map(_passed_as, args)), plain)
        caller = ConfigStack.top_or_none()
        if self._options.get("_nrt") and caller is not None and not caller.nrt:
            made = [cres.signature.return_type for cres in self.overloads.values()]
            if any(isinstance(part, types.Array) for kind in made for part in (kind, *_parts_of(kind))):
                name = self.py_func.__name__
                raise TypingError(f"{name} hands an array that it makes to a kernel that borrows")
        return found

    @property
    def is_compiled(self) -> bool:
        """Whether Python can call it for some types without waiting."""
        return bool(self._machine)

    def add_overload(self, cres: CompileResult) -> None:
        """Note a compiled kernel, which Python cannot call yet."""
        self.overloads[tuple(cres.signature.args)] = cres

    @global_compiler_lock
    def compile(self, sig: Any) -> Any:
        """The kernel for these types: for another kernel that is being compiled, else for Python to call."""
        if _depth:
            found = super().compile(sig)
            progress.was_read(self.py_func)
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
            progress.was_translated(self.py_func)
        return made


def _copy_of(function: Any) -> Any:
    """The same function as another object, of which other options are known."""
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
    plain = types.unliteral(kind)
    is_signed = isinstance(plain, types.Integer) and plain.signed
    return types.int64 if is_signed or isinstance(plain, types.IntEnumMember) else plain


def _as_writable(kind: Any) -> Any:
    """An array that Python may not write to is compiled as any: a kernel for both, not two.

    Where bounds are checked they stay apart: there numba refuses a kernel that writes whole elements of it.
    """
    read_only = isinstance(kind, types.Array) and not kind.mutable and not config.BOUNDSCHECK
    return kind.copy(readonly=False) if read_only else kind


def _parts_of(kind: Any) -> tuple[Any, ...]:
    """The types in a tuple."""
    return tuple(kind.types) if isinstance(kind, types.BaseTuple) else ()


def _without_wrappers(flags: Any) -> Any:
    """Compile the function alone; the wrapper through which Python calls it is made with the machine code."""
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    return flags


@global_compiler_lock
def callback(function: Callable[..., Any], signature: Any) -> MachineCode:
    """Machine code of a function that C may call.

    Args:
        function: of addresses and integers; it may call kernels.
        signature: numba's types of what it takes, a tuple, and of what it returns.
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
        progress.was_read(function)
        progress.was_translated(function)
    return made
