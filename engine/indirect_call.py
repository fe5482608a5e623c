"""Indirect calls: kernels called through a function pointer, compiled once and at their first call.

numba copies the code of a kernel into each of its callers and optimises it again there. For the interpreter
of effects that would cost each agent ten more seconds of compilation, in games without effects too. So its
callers read the address from a named memory slot. Until the first call the slot has the address of a stub,
which compiles the kernel and stores the kernel's address there.

Arrays are passed as pointers and lengths. This also makes the called kernels fast: numba counts references to
arrays with atomic operations at every call, and such arrays have no reference count.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, TypeVar, cast

import llvmlite.binding
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from engine import compile_progress, terminal
from engine.compile_progress import available_processors
from engine.compiler import MachineCode, compile_callback
from engine.jit import config, njit, njit_no_alloc
from engine.kernel_cache import cache_folder
from engine.lazy import lazy_import

_numba: Any = numba
_types: Any = types
"""numba's type hints do not cover these calls."""

K = TypeVar("K", bound=Callable[..., int])

Parameter = np.dtype | tuple[np.dtype] | type[int]
"""Parameter type: a record (its dtype), a one-dimensional array (a tuple with its dtype), or an integer."""

_lock = threading.RLock()
_pinned: list[Any] = []
"""Objects that machine code points to, so that they are not freed."""

_effect_kernels: list[Callable[[], int]] = []
"""Functions that compile or load the kernels of effects."""

_helper_jobs: dict[Callable[..., Any], Future[None]] = {}
"""Kernels that the helper process compiles, or will, by `compile_progress.IndirectKernel.function`."""

_deferred: list[Callable[[], None]] = []
"""Calls deferred until the helper process has finished."""

MIN_HELPER_SECONDS = 6.0
"""Compilation time above which a helper process is started."""

_HELPER_CODE = "import sys; sys.path[:] = {!r}; from engine.indirect_call import run_helper; run_helper()"


def compile_effect_kernels() -> None:
    """Compile the kernels of effects now, where exceptions and signals can still be handled.

    While a helper process compiles kernels (`compiling_with_helper`), this is deferred until it has finished.
    """
    if _helper_jobs:
        _deferred.append(compile_effect_kernels)
        return
    for prepare in _effect_kernels:
        prepare()


@contextmanager
def compiling_with_helper() -> Iterator[None]:
    """Context in which a helper process compiles indirectly called kernels, if there are enough such kernels.

    This process compiles kernels of the same list that it needs before the helper has started them, and at
    the end the rest. Only in commands, which a signal may end: waiting for a kernel cannot raise exceptions.
    """
    pending = []
    if terminal.in_command and available_processors() > 1 and cache_folder() is not None:
        pending = compile_progress.progress.pending_indirect_kernels(MIN_HELPER_SECONDS)
    helper = _start_helper() if pending else None
    if helper is None:
        yield
        return
    with helper, ThreadPoolExecutor(1) as thread:
        compile_progress.exit_callbacks.append(helper.kill)
        compile_progress.progress.has_helper = True
        try:
            for kernel in pending:
                _helper_jobs[kernel.function] = thread.submit(_request, helper, kernel.place)
            yield
            for kernel in pending:
                kernel.prepare()
        finally:
            helper.kill()
            thread.shutdown(cancel_futures=True)
            with suppress(OSError):  # unread input
                helper.stdin.close()  # type: ignore[union-attr]
            _helper_jobs.clear()
            compile_progress.progress.has_helper = False
            compile_progress.exit_callbacks.remove(helper.kill)
    while _deferred:
        _deferred.pop()()


def _start_helper() -> "subprocess.Popen[str] | None":
    """Start a helper process that compiles kernels; None if it cannot be started."""
    command = [sys.executable, "-c", _HELPER_CODE.format(sys.path)]
    with suppress(OSError):
        pipe, devnull = subprocess.PIPE, subprocess.DEVNULL
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=devnull, text=True)
    return None


def _request(helper: "subprocess.Popen[str]", place: str) -> None:
    """Let the helper process compile a kernel; if the helper has ended, this process compiles it later."""
    with suppress(OSError):
        helper.stdin.write(f"{place}\n")  # type: ignore[union-attr]
        helper.stdin.flush()  # type: ignore[union-attr]
        helper.stdout.readline()  # type: ignore[union-attr]


def run_helper() -> None:
    """Main loop of the helper process: compile kernels ("module:name") read from standard input.

    It prints an empty line after each.
    """
    for line in sys.stdin:
        kernel = lazy_import(line.strip())
        compile_progress.indirect_kernels[kernel.py_func].prepare()
        print(flush=True)


def _wait_for_helper(function: Callable[..., Any]) -> None:
    """Wait while the helper process compiles a kernel; the kernel is then cached, or to be compiled here."""
    future = _helper_jobs.get(function)
    if future is not None and not future.cancel() and not future.done():
        with compile_progress.progress.waiting(function):
            future.result()


def njit_indirect(*parameters: Parameter, allocates: bool = False, rare: bool = False) -> Callable[[K], K]:
    """Decorate a kernel that returns an integer so that callers call it through its address.

    With the compiler disabled, or with bounds checks, it is called directly: an exception in a function
    called through its address is printed, not raised.

    Args:
        *parameters: types of the kernel's parameters, in order.
        allocates: it allocates arrays, so that it is compiled with `njit`, not `njit_no_alloc`.
        rare: few games call it, so that it is compiled at its first call only.
    """

    def decorate(function: K) -> K:
        inner = njit(function) if allocates else njit_no_alloc(function)
        if config.DISABLE_JIT or config.BOUNDSCHECK:
            return cast(K, inner)
        arguments = _arguments(parameters)
        adapter = _pointer_adapter(inner, function.__name__, parameters)
        prototype = ctypes.CFUNCTYPE(ctypes.c_int64, *map(_c_type, arguments))
        slot = ctypes.c_void_p()

        def prepare() -> int:
            """Compile or load the kernel, if not done yet, and return its address."""
            with _lock:
                if not machine_code:
                    _wait_for_helper(adapter)
                    machine_code.append(compile_callback(adapter, (arguments, types.int64)))
                    slot.value = machine_code[0].address
                return int(machine_code[0].address)

        def stub(*values: Any) -> int:
            try:
                return int(prototype(prepare())(*values))
            except KeyboardInterrupt as stop:  # machine code, the caller, cannot handle exceptions
                compile_progress.exit_by_signal(stop.args[0] if stop.args else signal.SIGINT)
            except BaseException:
                traceback.print_exc()
                os._exit(1)

        machine_code: list[MachineCode] = []
        pointer = prototype(stub)
        slot.value = ctypes.cast(pointer, ctypes.c_void_p).value
        if function.__module__.startswith(compile_progress.EFFECTS_PACKAGE):
            _effect_kernels.append(prepare)
        name = f"manaforge_{function.__module__}_{function.__name__}".replace(".", "_")
        llvmlite.binding.add_symbol(name, ctypes.addressof(slot))
        _pinned.extend((slot, pointer))
        caller: Any = _indirect_caller(name)
        if not rare:
            compile_progress.indirect_kernels[caller.py_func] = compile_progress.IndirectKernel(
                adapter, f"{function.__module__}:{function.__name__}", lambda: bool(machine_code), prepare
            )
        return cast(K, caller)

    return decorate


def _arguments(parameters: tuple[Parameter, ...]) -> tuple[Any, ...]:
    """Argument types for numba; an array is passed as pointer and length."""
    found: list[Any] = []
    for parameter in parameters:
        if parameter is int:
            found.append(types.int64)
        elif isinstance(parameter, tuple):
            found += [_types.CPointer(_numba.from_dtype(parameter[0])), types.int64]
        else:
            found.append(_types.CPointer(_numba.from_dtype(parameter)))
    return tuple(found)


def _c_type(argument: Any) -> Any:
    return ctypes.c_int64 if argument is types.int64 else ctypes.c_void_p


def _pointer_adapter(
    inner: Callable[..., int], name: str, parameters: tuple[Parameter, ...]
) -> Callable[..., int]:
    """Build a function of pointers and lengths that calls a kernel of records and arrays."""
    names, values = [], []
    for n, parameter in enumerate(parameters):
        names.append(f"a{n}")
        if parameter is int:
            values.append(f"a{n}")
        elif isinstance(parameter, tuple):
            names.append(f"n{n}")
            values.append(f"carray(a{n}, (n{n},))")
        else:
            values.append(f"carray(a{n}, (1,))[0]")
    source = f"def {name}_adapter({', '.join(names)}):\n    return inner({', '.join(values)})\n"
    scope: dict[str, Any] = {"carray": _numba.carray, "inner": inner, "__name__": __name__}
    exec(source, scope)
    adapter: Callable[..., int] = scope[f"{name}_adapter"]
    return adapter


def _indirect_caller(name: str) -> Callable[..., int]:
    """Build a kernel that calls the function whose address is in the memory slot of this name."""

    @intrinsic
    def call(typing: Any, values: Any) -> Any:  # noqa: ARG001
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            byte, word = ir.IntType(8).as_pointer(), ir.IntType(64)
            operands = []
            for place, kind in enumerate(signature.args[0].types):
                value = builder.extract_value(arguments[0], place)
                if isinstance(kind, types.Array):
                    array = context.make_array(kind)(context, builder, value)
                    operands += [builder.bitcast(array.data, byte), array.nitems]
                elif isinstance(kind, types.Record):
                    operands.append(builder.bitcast(value, byte))
                else:
                    operands.append(context.cast(builder, value, kind, types.int64))
            function = ir.FunctionType(word, [value.type for value in operands]).as_pointer()
            slot = builder.module.globals.get(name) or ir.GlobalVariable(builder.module, function, name)
            return builder.call(builder.load(slot), operands)

        return types.int64(values), generate

    untyped: Any = call

    def caller(*values: Any) -> int:
        return untyped(values)  # type: ignore[no-any-return]

    compiled: Callable[..., int] = njit(caller)
    return compiled
