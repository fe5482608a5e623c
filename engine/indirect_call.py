"""Kernels called through their address: each is compiled once, and only when it is needed.

numba copies the code of a kernel into every kernel that calls it and optimises it there again. For the
interpreter of effects that would cost each agent ten seconds more, in games without effects too. So
its callers read the address from a word of memory that has a name of its own; until the first call it is the
address of a stand-in, which compiles the kernel and puts its address there.

Arrays are handed over as addresses and lengths. That they are borrowed makes the kernels behind fast, too:
numba counts references to arrays with atomic operations at every call, and a borrowed array has no count.
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
from engine.compile_progress import processors
from engine.compiler import MachineCode, callback
from engine.jit import config, njit, njit_borrowing
from engine.kernel_cache import cache_folder
from engine.lazy import loaded

_numba: Any = numba
_types: Any = types
"""What numba says of its own types does not cover these calls."""

K = TypeVar("K", bound=Callable[..., int])

Parameter = np.dtype | tuple[np.dtype] | type[int]
"""A record of a dtype, an array of one dimension (a tuple with its dtype), or an integer."""

_lock = threading.RLock()
_kept: list[Any] = []
"""What machine code points to and must not be freed."""

_prepare: list[Callable[[], int]] = []

_elsewhere: dict[Callable[..., Any], Future[None]] = {}
"""What another process compiles, or will: by the function of `compilation.Apart`."""

_put_off: list[Callable[[], None]] = []

PAYS_SECONDS = 6.0
"""Another process is started where it takes longer to compile than this."""

_OTHER = "import sys; sys.path[:] = {!r}; from engine.indirect_call import serve; serve()"


def prepare_kernels() -> None:
    """Compile the kernels of effects now, where errors and signals come through.

    While another process compiles kernels (`compiled_by_two`) that is put off until what it has is here.
    """
    if _elsewhere:
        _put_off.append(prepare_kernels)
        return
    for prepare in _prepare:
        prepare()


@contextmanager
def compiled_by_two() -> Iterator[None]:
    """In this context, another process compiles kernels called through their address, if that pays.

    This process takes from the same list what it needs before the other has begun it, and at the end what is
    left. Only in commands: a signal may end these, and kernels are waited for where nothing can be raised.
    """
    waiting = []
    if terminal.in_command and processors() > 1 and cache_folder() is not None:
        waiting = compile_progress.progress.apart_to_come(PAYS_SECONDS)
    other = _other_process() if waiting else None
    if other is None:
        yield
        return
    with other, ThreadPoolExecutor(1) as thread:
        compile_progress.abandoned.append(other.kill)
        compile_progress.progress.by_two = True
        try:
            for apart in waiting:
                _elsewhere[apart.function] = thread.submit(_ask, other, apart.place)
            yield
            for apart in waiting:
                apart.prepare()
        finally:
            other.kill()
            thread.shutdown(cancel_futures=True)
            with suppress(OSError):  # what it did not read
                other.stdin.close()  # type: ignore[union-attr]
            _elsewhere.clear()
            compile_progress.progress.by_two = False
            compile_progress.abandoned.remove(other.kill)
    while _put_off:
        _put_off.pop()()


def _other_process() -> "subprocess.Popen[str] | None":
    """A process that compiles kernels; None where it cannot be started."""
    words = [sys.executable, "-c", _OTHER.format(sys.path)]
    with suppress(OSError):
        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=nowhere, text=True)
    return None


def _ask(other: "subprocess.Popen[str]", place: str) -> None:
    """Have the other process compile a kernel; where that ended, it is compiled here when it is needed."""
    with suppress(OSError):
        other.stdin.write(f"{place}\n")  # type: ignore[union-attr]
        other.stdin.flush()  # type: ignore[union-attr]
        other.stdout.readline()  # type: ignore[union-attr]


def serve() -> None:
    """Compile the kernels whose places are read from standard input; a line is written after each."""
    for line in sys.stdin:
        kernel = loaded(line.strip())
        compile_progress.apart_of[kernel.py_func].prepare()
        print(flush=True)


def _await(function: Callable[..., Any]) -> None:
    """Return once no other process compiles a kernel, so that it is in the cache or to be compiled here."""
    found = _elsewhere.get(function)
    if found is not None and not found.cancel() and not found.done():
        with compile_progress.progress.waiting(function):
            found.result()


def njit_apart(*parameters: Parameter, allocates: bool = False, rare: bool = False) -> Callable[[K], K]:
    """Decorate a kernel that returns an integer so that its callers do not contain it.

    Uncompiled, and where array bounds are checked, it is called as any other kernel: what is raised in a
    function called through its address is printed, not passed on.

    Args:
        *parameters: what the kernel takes, in order.
        allocates: it makes arrays, and is not compiled as `njit_borrowing`.
        rare: few games call it, so that it is compiled when one first does.
    """

    def decorate(function: K) -> K:
        inner = njit(function) if allocates else njit_borrowing(function)
        if config.DISABLE_JIT or config.BOUNDSCHECK:
            return cast(K, inner)
        arguments = _arguments(parameters)
        called = _unpacking(inner, function.__name__, parameters)
        prototype = ctypes.CFUNCTYPE(ctypes.c_int64, *map(_in_c, arguments))
        slot = ctypes.c_void_p()

        def prepare() -> int:
            """Compile the kernel, or load it, where that has not happened; its address."""
            with _lock:
                if not made:
                    _await(called)
                    made.append(callback(called, (arguments, types.int64)))
                    slot.value = made[0].address
                return int(made[0].address)

        def stand_in(*values: Any) -> int:
            try:
                return int(prototype(prepare())(*values))
            except KeyboardInterrupt as stop:  # machine code called, and cannot be told of an error
                compile_progress.end_process(stop.args[0] if stop.args else signal.SIGINT)
            except BaseException:
                traceback.print_exc()
                os._exit(1)

        made: list[MachineCode] = []
        pointer = prototype(stand_in)
        slot.value = ctypes.cast(pointer, ctypes.c_void_p).value
        if function.__module__.startswith(compile_progress.EFFECTS):
            _prepare.append(prepare)
        name = f"manaforge_{function.__module__}_{function.__name__}".replace(".", "_")
        llvmlite.binding.add_symbol(name, ctypes.addressof(slot))
        _kept.extend((slot, pointer))
        caller: Any = _caller(name)
        if not rare:
            compile_progress.apart_of[caller.py_func] = compile_progress.Apart(
                called, f"{function.__module__}:{function.__name__}", lambda: bool(made), prepare
            )
        return cast(K, caller)

    return decorate


def _arguments(parameters: tuple[Parameter, ...]) -> tuple[Any, ...]:
    """The parameters as numba's types of what is passed: an array is an address and a length."""
    found: list[Any] = []
    for parameter in parameters:
        if parameter is int:
            found.append(types.int64)
        elif isinstance(parameter, tuple):
            found += [_types.CPointer(_numba.from_dtype(parameter[0])), types.int64]
        else:
            found.append(_types.CPointer(_numba.from_dtype(parameter)))
    return tuple(found)


def _in_c(argument: Any) -> Any:
    return ctypes.c_int64 if argument is types.int64 else ctypes.c_void_p


def _unpacking(inner: Callable[..., int], name: str, parameters: tuple[Parameter, ...]) -> Callable[..., int]:
    """A function of addresses and lengths that calls a kernel of records and arrays."""
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
    source = f"def {name}_apart({', '.join(names)}):\n    return inner({', '.join(values)})\n"
    scope: dict[str, Any] = {"carray": _numba.carray, "inner": inner, "__name__": __name__}
    exec(source, scope)
    unpacking: Callable[..., int] = scope[f"{name}_apart"]
    return unpacking


def _caller(name: str) -> Callable[..., int]:
    """A kernel that calls the function whose address is in the word of this name."""

    @intrinsic
    def call(typing: Any, values: Any) -> Any:  # noqa: ARG001
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            byte, word = ir.IntType(8).as_pointer(), ir.IntType(64)
            passed = []
            for place, kind in enumerate(signature.args[0].types):
                value = builder.extract_value(arguments[0], place)
                if isinstance(kind, types.Array):
                    array = context.make_array(kind)(context, builder, value)
                    passed += [builder.bitcast(array.data, byte), array.nitems]
                elif isinstance(kind, types.Record):
                    passed.append(builder.bitcast(value, byte))
                else:
                    passed.append(context.cast(builder, value, kind, types.int64))
            function = ir.FunctionType(word, [value.type for value in passed]).as_pointer()
            slot = builder.module.globals.get(name) or ir.GlobalVariable(builder.module, function, name)
            return builder.call(builder.load(slot), passed)

        return types.int64(values), generate

    untyped: Any = call

    def caller(*values: Any) -> int:
        return untyped(values)  # type: ignore[no-any-return]

    compiled: Callable[..., int] = njit(caller)
    return compiled
