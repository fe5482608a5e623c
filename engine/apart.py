"""Kernels called through their address, so that each is compiled once and only where it is needed.

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
import threading
import traceback
from collections.abc import Callable
from typing import Any, TypeVar, cast

import llvmlite.binding
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from engine import compilation
from engine.compiler import MachineCode, callback
from engine.jit import config, njit, njit_borrowing

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


def prepare_kernels() -> None:
    """Compile the kernels of effects now, where errors and signals come through."""
    for prepare in _prepare:
        prepare()


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
                    made.append(callback(called, (arguments, types.int64)))
                    slot.value = made[0].address
                return int(made[0].address)

        def stand_in(*values: Any) -> int:
            try:
                return int(prototype(prepare())(*values))
            except KeyboardInterrupt as stop:  # machine code called, and cannot be told of an error
                compilation.end_process(stop.args[0] if stop.args else signal.SIGINT)
            except BaseException:
                traceback.print_exc()
                os._exit(1)

        made: list[MachineCode] = []
        pointer = prototype(stand_in)
        slot.value = ctypes.cast(pointer, ctypes.c_void_p).value
        if function.__module__.startswith(compilation.EFFECTS):
            _prepare.append(prepare)
        name = f"manaforge_{function.__module__}_{function.__name__}".replace(".", "_")
        llvmlite.binding.add_symbol(name, ctypes.addressof(slot))
        _kept.extend((slot, pointer))
        caller: Any = _caller(name)
        if not rare:
            compilation.apart_of[caller.py_func] = compilation.Apart(
                called, function.__module__, lambda: bool(made)
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
