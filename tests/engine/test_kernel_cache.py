"""Keys of compiled kernels: they change with everything that changes machine code, and with nothing else."""

import ast
import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core import config, types
from numba.core.typing.typeof import typeof

from engine import kernel_cache
from engine.kernel_cache import KernelKeyError, kernel_key, types_key
from tests.conftest import UNCOMPILED

SOURCE = '''
from enum import IntEnum
from typing import NamedTuple
import numpy as np
from engine import codes
from engine.jit import njit, njit_no_alloc, njit_inline

LIMIT = 7
HALF = 0.5
TABLE = np.array([1, 2, 3])
Kind = IntEnum("Kind", {"PLAY": 0, "ATTACK": 1})
RECORD = np.dtype([("health", np.int16), ("mana", np.int16)])

class Pair(NamedTuple):
    first: int
    second: int

@njit_inline
def inlined(x):
    return x + 1

@njit
def callee(x):
    """A docstring."""
    return inlined(x) * LIMIT

@njit
def caller(x):
    return callee(x) - 1

@njit
def by_kind(x):
    return x == Kind.ATTACK

@njit
def of_table(x):
    return TABLE[x]

@njit
def new_record():
    return np.zeros(1, RECORD)

@njit
def pair(x):
    return Pair(x, x)

CONSTANT = Pair(1, 2)

@njit
def of_pair(x):
    return x + CONSTANT.first

@njit
def with_default(x, y=3):
    return x + y

@njit
def of_module(x):
    return x + codes.BOARD_SIZE

def made(number):
    @njit
    def added(x):
        return x + number
    return added

add = made(4)

@njit_no_alloc
def borrowing(x):
    return x

@njit
def calls_itself(x):
    return 0 if x == 0 else calls_itself(x - 1)
'''

KERNELS = {
    "inlined", "callee", "caller", "by_kind", "of_table", "new_record", "pair", "of_pair", "with_default", "of_module", "add",
    "borrowing", "calls_itself",
}  # fmt: skip

CHANGES = [
    ("a callee", "inlined(x) * LIMIT", "inlined(x) * LIMIT + 1", {"callee", "caller"}),
    ("an inlined helper", "return x + 1", "return x + 2", {"inlined", "callee", "caller"}),
    ("a constant", "LIMIT = 7", "LIMIT = 8", {"callee", "caller"}),
    ("a constant's type", "LIMIT = 7", "LIMIT = 7.0", {"callee", "caller"}),
    ("a generated enumeration", '"ATTACK": 1', '"ATTACK": 2', {"by_kind"}),
    ("an array", "[1, 2, 3]", "[1, 2, 4]", {"of_table"}),
    ("an array's type", "[1, 2, 3]", "[1, 2, 3], np.int32", {"of_table"}),
    ("a dtype", '("mana", np.int16)', '("mana", np.int32)', {"new_record"}),
    (
        "fields in another order",
        "    first: int\n    second: int",
        "    second: int\n    first: int",
        {"pair", "of_pair"},
    ),
    ("a default", "y=3", "y=4", {"with_default"}),
    ("a value that a function closes over", "made(4)", "made(5)", {"add"}),
    ("how a kernel is compiled", "@njit_no_alloc", "@njit", {"borrowing"}),
    ("how a callee is compiled", "@njit_inline", "@njit", {"inlined", "callee", "caller"}),
    ("a recursive kernel", "x - 1)", "x - 2)", {"calls_itself"}),
    ("a docstring", "A docstring.", "Another docstring.", set()),
    ("no docstring", '    """A docstring."""\n', "", set()),
    ("annotations", "def caller(x):", "def caller(x: int) -> int:", set()),
    ("an annotated variable", "    return x == Kind", "    y: int = x\n    return y == Kind", {"by_kind"}),
    ("comments and lines", "@njit\ndef pair", "# a comment\n\n\n@njit\ndef pair", set()),
    ("a constant that no kernel names", "HALF = 0.5", "HALF = 0.25", set()),
]

compiled = pytest.mark.skipif(UNCOMPILED, reason="nothing is compiled in this mode")
pytestmark = compiled


def module_of(source: str) -> ModuleType:
    module = ModuleType("engine.made_up")
    exec(compile(source, "made_up.py", "exec"), vars(module))
    return module


def keys(source: str) -> dict[str, str]:
    module = module_of(source)
    return {name: kernel_key(getattr(module, name)) for name in sorted(KERNELS)}


@pytest.mark.parametrize(("what", "old", "new", "expected"), CHANGES, ids=[change[0] for change in CHANGES])
def test_a_change_compiles_the_kernels_that_reach_it_again_and_no_others(
    what: str, old: str, new: str, expected: set[str]
) -> None:
    assert SOURCE.count(old) == 1
    before, after = keys(SOURCE), keys(SOURCE.replace(old, new))
    assert {name for name in KERNELS if before[name] != after[name]} == expected


def test_keys_are_all_different_and_the_same_in_every_process() -> None:
    found = keys(SOURCE)
    assert len(set(found.values())) == len(KERNELS)
    assert keys(SOURCE) == found


def test_a_constant_of_another_module_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    module = module_of(SOURCE)
    before = {name: kernel_key(getattr(module, name)) for name in KERNELS}
    monkeypatch.setattr("engine.codes.BOARD_SIZE", 5)
    after = {name: kernel_key(getattr(module, name)) for name in KERNELS}
    assert {name for name in KERNELS if before[name] != after[name]} == {"of_module"}


def test_what_changes_after_a_key_was_made_counts() -> None:
    module = module_of(SOURCE)
    before = kernel_key(module.of_table), kernel_key(module.caller)
    module.TABLE[0] = 5
    assert kernel_key(module.of_table) != before[0]
    module.LIMIT = 9
    assert kernel_key(module.caller) != before[1]


def test_a_function_that_is_compiled_in_two_ways_has_two_keys_in_any_order() -> None:
    found = []
    for order in (("njit", "njit_no_alloc"), ("njit_no_alloc", "njit")):
        lines = [f"by_{way} = {way}(plain)" for way in order]
        module = module_of("\n".join([SOURCE, "def plain(x):\n    return x + 1", *lines]))
        found.append((kernel_key(module.by_njit), kernel_key(module.by_njit_no_alloc)))
    assert found[0] == found[1]
    assert found[0][0] != found[0][1]


def test_flags_that_are_not_of_the_source_change_no_key() -> None:
    plain, flagged = (module_of("def f(x):\n    return x").f for _ in range(2))
    flagged.__code__ = flagged.__code__.replace(co_flags=flagged.__code__.co_flags ^ inspect.CO_OPTIMIZED)
    assert kernel_key(flagged) == kernel_key(plain)
    taking = module_of("def f(*x):\n    return x").f
    assert kernel_key(taking) != kernel_key(plain)


def test_an_import_of_each_other_ends() -> None:
    one, other = ModuleType("engine.one"), ModuleType("engine.other")
    one.other, other.one = other, one
    exec("from engine.jit import njit\n@njit\ndef f(x):\n    return x + other.one.other.one.X", vars(one))
    one.X = 1
    before = kernel_key(one.f)
    one.X = 2
    assert kernel_key(one.f) != before


def test_a_set_of_texts_has_one_order() -> None:
    """That of the set depends on the process."""
    texts = frozenset(map(str, range(20)))
    assert kernel_cache._ordered(texts) == sorted(map(repr, texts))


@pytest.mark.parametrize("module", kernel_cache.COMPILER)
def test_every_function_that_compiles_counts(module: str) -> None:
    """Whatever decorates it."""
    source = Path(module.replace(".", "/")).with_suffix(".py").read_text()
    written = {
        f"{one.name}.{inner.name}" if isinstance(one, ast.ClassDef) else one.name
        for one in ast.parse(source).body
        if isinstance(one, ast.ClassDef | ast.FunctionDef)
        for inner in (one.body if isinstance(one, ast.ClassDef) else [one])
        if isinstance(inner, ast.FunctionDef)
    }
    functions, fields = kernel_cache._compiler()[-1][kernel_cache.COMPILER.index(module)]
    assert written <= {name for name, _ in functions}
    assert (
        "name",
        "code",
        "symbol",
        "fndesc",
        "environment",
        "environments",
    ) in fields or "compiler" not in module


SETTINGS = (
    "BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "DEBUGINFO_DEFAULT", "USING_SVML",
)  # fmt: skip


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_compilers_settings_count(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = module_of(SOURCE)
    before = kernel_key(module.caller)
    kernel_cache._compiler.cache_clear()
    monkeypatch.setattr(config, setting, "another")
    after = kernel_key(module.caller)
    kernel_cache._compiler.cache_clear()
    assert before != after


@pytest.mark.parametrize("name", ["numba", "llvmlite", "numpy"])
def test_the_versions_of_libraries_count(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = module_of(SOURCE)
    before = kernel_key(module.caller)
    kernel_cache._compiler.cache_clear()
    monkeypatch.setattr(f"{name}.__version__", "0.0")
    after = kernel_key(module.caller)
    kernel_cache._compiler.cache_clear()
    assert before != after


def test_the_processor_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    module = module_of(SOURCE)
    before = kernel_key(module.caller)
    kernel_cache._compiler.cache_clear()
    monkeypatch.setattr(
        type(kernel_cache.cpu_target.target_context.codegen()), "_get_host_cpu_name", lambda _: "other"
    )
    after = kernel_key(module.caller)
    kernel_cache._compiler.cache_clear()
    assert before != after


@pytest.mark.parametrize("value", ["[1]", "{}", "set()", "object()", "type('Odd', (), {})"])
def test_a_value_whose_changes_would_not_show_is_refused(value: str) -> None:
    module = module_of(SOURCE + f"\nODD = {value}\n@njit\ndef odd(x):\n    return x in ODD\n")
    with pytest.raises(KernelKeyError, match="engine.made_up.odd: the kernel cache cannot detect changes"):
        kernel_key(module.odd)


class Before(NamedTuple):
    """A pair."""

    one: np.ndarray
    two: np.ndarray


def test_types_of_arguments_differ_where_kernels_would() -> None:
    after: Any = NamedTuple("Before", [("two", np.ndarray), ("one", np.ndarray)])
    after.__module__, after.__qualname__ = Before.__module__, Before.__qualname__
    arrays = np.zeros(1), np.zeros(1)
    record: Callable[[str], Any] = lambda name: typeof(np.zeros(1, np.dtype([(name, np.int16)])))  # noqa: E731
    kinds = [
        (types.int64,), (types.int32,), (types.int64, types.int64), (typeof(Before(*arrays)),),
        (typeof(after(*arrays)),), (record("health"),), (record("attack"),),
    ]  # fmt: skip
    assert len({types_key(kind) for kind in kinds}) == len(kinds)


ALL = """
import importlib, pkgutil, sys

def keys_of_all(backwards):
    import engine, ilp_agent, rivals
    from engine.kernel_cache import kernel_key

    names = []
    for package in (engine, ilp_agent, rivals):
        names += [one.name for one in pkgutil.walk_packages(package.__path__, package.__name__ + ".")]
    left_out = ("__main__", "environments", "build", "scip", "draft")
    names = [name for name in names if not any(word in name for word in left_out)]
    modules = {name: importlib.import_module(name) for name in sorted(names, reverse=backwards)}
    return {
        f"{name}.{own}": kernel_key(value)
        for name, module in modules.items()
        for own, value in vars(module).items()
        if hasattr(value, "py_func")
    }
"""


@pytest.mark.heavy
def test_every_kernel_has_a_key_which_is_the_same_in_any_process(tmp_path: Path) -> None:
    """Whatever a kernel names is of a sort that its key covers, and in whatever order modules are imported."""
    scope: dict[str, Any] = {}
    exec(ALL, scope)
    found = scope["keys_of_all"](backwards=False)
    assert len(found) > 500
    (tmp_path / "backwards.py").write_text(ALL + "\nprint(keys_of_all(True))")
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd()), "PYTHONHASHSEED": "7"}
    words = [sys.executable, str(tmp_path / "backwards.py")]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    other = ast.literal_eval(done.stdout)
    assert {name for name in found if found[name] != other[name]} == set()
