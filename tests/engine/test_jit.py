"""The kernel cache: quick to start, a notice when it compiles, never stale."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine import jit
from tests.conftest import UNCOMPILED

ROOT = Path(__file__).resolve().parents[2]
compiled = pytest.mark.skipif(UNCOMPILED, reason="nothing is compiled in this mode")

PROGRAM = (
    "from engine import parse_position, perft\n"
    "crowd = '; '.join(['0/1'] * 3)\n"
    "print(perft(parse_position(f'hero 30 mana 2 board [{crowd}] hand [1:1/1] | hero 30'), 1))"
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the packages, so that their sources can be changed."""
    for package in jit.KERNEL_PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def run(folder: Path, cache: Path, program: str = PROGRAM) -> tuple[str, str]:
    environment = {
        **os.environ,
        "MANAFORGE_CACHE_DIR": str(cache),
        "PYTHONPATH": str(folder),
        "COLUMNS": "200",
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip(), done.stderr


@pytest.mark.heavy
@compiled
def test_a_changed_constant_is_never_played_stale(copy: Path, tmp_path: Path) -> None:
    """BOARD_SIZE is defined in another file than every kernel that reads it, which numba's cache misses."""
    cache = tmp_path / "cache"
    assert run(copy, cache)[0] == "2"
    output, notice = run(copy, cache)
    assert output == "2"
    assert notice == "", "a second process loads from the cache and says nothing"
    codes = copy / "engine" / "codes.py"
    codes.write_text(
        codes.read_text().replace("BOARD_SIZE = 7", "BOARD_SIZE = 3").replace("HERO = 7", "HERO = 3")
    )
    output, notice = run(copy, cache)
    assert output == "1", "a board of three is full"
    assert "Compiling the game's kernels" in notice
    assert len([path for path in (cache / "kernels").iterdir() if path.is_dir()]) == 2


@pytest.mark.heavy
@compiled
def test_the_estimate_counts_slow_kernels_once_and_learns_from_the_machine(
    copy: Path, tmp_path: Path
) -> None:
    """Counting move trees is declared slow here; in truth it takes two seconds, which the next estimate knows."""
    cache, trees = tmp_path / "cache", copy / "engine" / "movetrees.py"
    text = trees.read_text().replace("import njit", "import njit_slow")
    trees.write_text(text.replace("@njit\ndef _count", "@njit_slow(100)\ndef _count"))
    timed = "import time\nfrom engine import perft, parse_position\nbegan = time.perf_counter()\n" + PROGRAM
    output, notice = run(copy, cache, timed + "\nprint(time.perf_counter() - began)")
    assert notice == "Compiling the game's kernels (once after an update, about 105 s)\n"
    pace, lasted = float((cache / "kernels" / "pace").read_text()), float(output.split()[-1])
    assert 0.1 * lasted < 100 * pace < lasted + 0.5, "what it took, for the 100 s declared"
    trees.write_text(trees.read_text() + "\n")
    _, notice = run(copy, cache)
    assert (
        notice
        == f"Compiling the game's kernels (once after an update, about {max(1, round(21 * pace)) * 5} s)\n"
    )


@pytest.mark.heavy
@compiled
def test_compiling_can_say_nothing(copy: Path, tmp_path: Path) -> None:
    quiet = f"from engine.jit import compiling_quietly\nwith compiling_quietly():\n    {PROGRAM.splitlines()[0]}\n"
    quiet += "".join(f"    {line}\n" for line in PROGRAM.splitlines()[1:])
    assert run(copy, tmp_path / "cache", quiet) == ("2", "")


INTERRUPTED = """
import signal
from numba.core.codegen import CPUCodeLibrary

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may start a process that ignores it
compiled = CPUCodeLibrary._object_compiled_hook.__func__
waiting = [True]

def interrupted(cls, module, code):
    if waiting and module.name == NAME:
        waiting.clear()
        signal.raise_signal(signal.SIGINT)
    compiled(cls, module, code)

CPUCodeLibrary._object_compiled_hook = classmethod(interrupted)

from engine.jit import njit

@njit
def inner(number):
    return number + 1

@njit
def outer(number):
    return inner(number) + 1

try:
    outer(1)
except KeyboardInterrupt:
    print("interrupted", outer(1) == 3)
"""


@compiled
@pytest.mark.parametrize("name", ["outer", "inner"])
def test_an_interrupt_while_compiling_is_not_lost(name: str, tmp_path: Path) -> None:
    """LLVM's callback drops what a signal raises in it; numba then misses the compiled code."""
    program = tmp_path / "interrupted.py"  # numba keeps only what has a file
    program.write_text(INTERRUPTED.replace("NAME", repr(name)))
    start = f"import runpy; runpy.run_path({str(program)!r}, {{}}, 'engine.here')"
    output, error = run(ROOT, tmp_path / "cache", start)
    assert output == "interrupted True"
    assert "Exception ignored" not in error


def test_games_of_python_agents_alone_wait_for_no_agents_kernels() -> None:
    """Which the estimate would count: it is of all slow kernels of the modules that are imported."""
    program = (
        "from engine import jit\n"
        "from evo.cli.tournament import tournament_command\n"
        "from evo.play.pools import open_pool\n"
        "from evo.tournament.words import tournament_of\n"
        "with open_pool('local', 1, '', False) as (pool, _):\n"
        "    wanted = tournament_of(['pass', 'random'], ['thesis-paladin'], 'thesis', games=2)\n"
        "    pool.play(wanted.roster, wanted.matchups.schedule(0, 2)[0], lambda _: None)\n"
        "print([kernel.name for kernel in jit._slow])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_fingerprint_covers_every_file_a_kernel_can_reach(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[tuple[str, bytes], set[str]] = {}  # a file is parsed again only once it has changed
    imports = jit._imports

    def parsed_once(module: str, path: Path) -> set[str]:
        key = module, path.read_bytes()
        if key not in seen:
            seen[key] = imports(module, path)
        return seen[key]

    monkeypatch.setattr(jit, "_imports", parsed_once)
    sources = {str(path.relative_to(copy)) for path in jit.kernel_sources(copy)}
    assert {
        f"engine/{name}.py" for name in ("rules", "state", "streams", "codes", "jit", "playout")
    } <= sources
    before = jit.fingerprint(copy)
    for name in sorted(sources):
        path = copy / name
        text = path.read_bytes()
        path.write_bytes(text + b"\n")
        assert jit.fingerprint(copy) != before, name
        path.write_bytes(text)
    assert jit.fingerprint(copy) == before
    outside = copy / "engine" / "show.py"
    outside.write_text(outside.read_text() + "\n")
    assert "engine/show.py" not in sources
    assert jit.fingerprint(copy) == before, "a file that no kernel reaches does not compile everything again"


def test_a_fingerprint_is_remembered_until_a_source_changes(copy: Path, tmp_path: Path) -> None:
    base = tmp_path / "base"
    found = jit._remembered_fingerprint(copy, base)
    assert found == jit.fingerprint(copy)
    (base / found).mkdir()
    (file,) = base.glob("*.fingerprint")
    file.write_text("0123456789abcdef")
    (base / "0123456789abcdef").mkdir()
    assert jit._remembered_fingerprint(copy, base) == "0123456789abcdef", "nothing is parsed"
    for damage in ("", "junk", "fedcba9876543210"):  # the last one has no folder
        file.write_text(damage)
        assert jit._remembered_fingerprint(copy, base) == found
    rules = copy / "engine" / "rules.py"
    rules.write_text(rules.read_text() + "\n")
    assert jit._remembered_fingerprint(copy, base) == jit.fingerprint(copy) != found


@pytest.mark.parametrize(
    "kernel",
    [
        "from engine.jit import njit",
        "from engine.jit import (\n    njit,\n)",
        "from engine import jit",
        "import engine.jit",
    ],
)
@pytest.mark.parametrize(
    "dependency",
    [
        "from rivals.numbers import ONE",
        "from .numbers import ONE",
        "from . import numbers",
        "from rivals import (\n    numbers,\n)",
        "import numpy, rivals.numbers",
    ],
)
def test_a_new_kernel_file_counts_at_once_however_it_imports(
    copy: Path, kernel: str, dependency: str
) -> None:
    before = jit.fingerprint(copy)
    (copy / "rivals" / "fast.py").write_text(f"{kernel}\n{dependency}\n")
    (copy / "rivals" / "numbers.py").write_text("ONE = 1\n")
    middle = jit.fingerprint(copy)
    (copy / "rivals" / "numbers.py").write_text("ONE = 2\n")
    assert len({before, middle, jit.fingerprint(copy)}) == 3


@pytest.mark.heavy
@compiled
def test_bounds_are_checked_where_asked_whatever_was_cached_before(tmp_path: Path) -> None:
    """A list for actions that is too short is a read or write past an array: an IndexError, when checked."""
    program = (
        "import numpy as np\nfrom engine import *\nfrom engine.rules import legal_actions\n"
        "p = parse_position('hero 30 hand [0:1/1] | hero 30')\n"
        "codes = np.zeros(8, np.int64)\n"
        "try: print(legal_actions(p.state, p.table.array, codes[:1]))\n"
        "except IndexError: print('IndexError')"
    )
    answers = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "MANAFORGE_CACHE_DIR": str(tmp_path), "NUMBA_BOUNDSCHECK": check},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for check in ("0", "1")
    ]
    assert answers == ["2", "IndexError"]


@pytest.mark.heavy
@compiled
def test_without_a_writable_cache_it_still_plays(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    output, notice = run(ROOT, blocked)
    assert output == "2"
    assert notice.count("Compiling") == 1


def test_caches_unused_for_long_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MANAFORGE_CACHE_DIR", str(tmp_path))
    kernels = tmp_path / "kernels"
    old, recent, foreign = kernels / ("0" * 16), kernels / ("1" * 16), kernels / "linux-6.1"
    for folder in (old, recent, foreign):
        folder.mkdir(parents=True)
    os.utime(old, (0, 0))
    os.utime(foreign, (0, 0))
    folder = jit._open_cache(ROOT)
    assert folder is not None
    assert folder.parent == kernels
    assert not old.exists()
    assert recent.exists()
    assert foreign.exists(), "what we did not make is not ours to remove"


SMALL = """
from engine.jit import njit
@njit
def half(x): return x // 2
@njit
def whole(x): return half(x) * 2
print(whole(43))
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a program of two kernels and its cache."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.py").write_text(SMALL)
    assert small_run(folder, folder / "cache")[0] == "42\n"
    return folder


def small_run(folder: Path, cache: Path, before: str = "") -> tuple[str, str]:
    """What the program printed and said. The cache goes by its path, so that it must be the same file."""
    environment = {**os.environ, "MANAFORGE_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
    if before:  # a limit would cut the file of the coverage measurement too
        environment.pop("COVERAGE_PROCESS_CONFIG", None)
    program = f"{before}import runpy; runpy.run_path({str(folder / 'small.py')!r})"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@compiled
@pytest.mark.parametrize("damage", ["empty", "cut", "flip", "junk", "folder"])
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_damaged_cache_is_thrown_away_and_compiled_again(
    kind: str, damage: str, small: Path, tmp_path: Path
) -> None:
    cache = Path(shutil.copytree(small / "cache", tmp_path / "cache"))
    whole = {file: file.read_bytes() for file in cache.rglob(f"*.{kind}")}
    assert whole
    for file, content in whole.items():
        middle = len(content) // 2
        if damage == "folder":
            file.unlink()
            file.mkdir()
            continue
        flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        file.write_bytes({"empty": b"", "cut": content[:-7], "flip": flipped, "junk": b"\x80\x05]"}[damage])
    assert small_run(small, cache)[0] == "42\n"
    if damage != "folder":
        assert small_run(small, cache) == ("42\n", "")
        again = {file: file.read_bytes() for file in cache.rglob(f"*.{kind}")}
        assert set(again) == set(whole)
        assert min(map(len, again.values())) > 100


@compiled
def test_a_full_disk_is_told_once_and_every_kernel_still_runs(small: Path, tmp_path: Path) -> None:
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); "
    out, said = small_run(small, tmp_path / "cache", limit)
    assert out == "42\n"
    assert said.count("Cannot keep compiled kernels") == 1
    assert "File too large" in said
