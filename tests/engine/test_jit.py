"""The kernel cache: quick to start, a notice when it compiles, never stale."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine import kernel_cache, versions
from tests.conftest import BOUNDSCHECK, UNCOMPILED, heavy
from tests.waiting import wait_until

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
    for package in versions.KERNEL_PACKAGES:
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
def test_kernels_are_compiled_again_when_what_they_reach_changes_and_only_then(
    copy: Path, tmp_path: Path
) -> None:
    """BOARD_SIZE is defined in another file than every kernel that reads it, which numba's own cache misses."""
    cache = tmp_path / "cache"
    output, notice = run(copy, cache)
    assert output == "2"
    assert re.match(
        r"Compiling the game's kernels, once after an update: 0 of \d+, about \d+ s left\n", notice
    )
    kept = set((cache / "kernels").iterdir())
    assert run(copy, cache) == ("2", ""), "a second process loads from the cache and says nothing"
    assert run(ROOT, cache) == ("2", ""), "so does another checkout"
    rules = copy / "engine" / "rules.py"
    rules.write_text('"""Other words."""\n# and a comment\n\n' + rules.read_text().split('"""', 2)[2])
    assert run(copy, cache) == ("2", "")
    assert set((cache / "kernels").iterdir()) == kept
    codes = copy / "engine" / "codes.py"
    codes.write_text(
        codes.read_text().replace("BOARD_SIZE = 7", "BOARD_SIZE = 3").replace("HERO = 7", "HERO = 3")
    )
    output, notice = run(copy, cache)
    assert output == "1", "a board of three is full"
    assert "Compiling the game's kernels" in notice
    assert run(ROOT, cache) == ("2", ""), "the old kernels are still there"


@pytest.mark.heavy
@compiled
def test_compiling_can_say_nothing(copy: Path, tmp_path: Path) -> None:
    quiet = f"from engine.compile_progress import silent_compilation\nwith silent_compilation():\n    {PROGRAM.splitlines()[0]}\n"
    quiet += "".join(f"    {line}\n" for line in PROGRAM.splitlines()[1:])
    assert run(copy, tmp_path / "cache", quiet) == ("2", "")


INTERRUPTED = """
import signal
from numba.core.codegen import CPUCodeLibrary

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may start a process that ignores it
compiled = CPUCodeLibrary._object_compiled_hook.__func__
waiting = [True]

def interrupted(cls, module, code):
    if waiting:
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
def test_an_interrupt_while_compiling_is_not_lost(tmp_path: Path) -> None:
    """LLVM's callback drops what a signal raises in it; numba then misses the compiled code."""
    program = tmp_path / "interrupted.py"
    program.write_text(INTERRUPTED)
    start = f"import runpy; runpy.run_path({str(program)!r}, {{}}, 'engine.here')"
    output, error = run(ROOT, tmp_path / "cache", start)
    assert output == "interrupted True"
    assert "SIGINT: stopping the compilation of kernels" in error
    assert "Exception ignored" not in error


SOLVING = """
import os, signal, sys
import numpy as np
from engine import compiler
from engine.indirect_call import njit_indirect
from engine.compile_progress import removed_on_exit
from engine.jit import njit
from pathlib import Path

def stop(number, frame):
    raise KeyboardInterrupt(number)

signal.signal(signal.SIGTERM, stop)

@njit_indirect(int)
def solve(number):
    return number + 1

@njit
def outer(number):
    return solve(number) + 1

outer_is_made = compiler.MachineCode.make.__func__

def make(cls, name, library, symbol, cres):
    if "solve" in cres.fndesc.qualname:
        signal.raise_signal(signal.SIGTERM)
    return outer_is_made(cls, name, library, symbol, cres)

compiler.MachineCode.make = classmethod(make)
Path("half").mkdir()
with removed_on_exit(Path("half")):
    outer(1)
"""


@pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="no kernel is called through its address in this mode")
def test_a_signal_ends_a_process_whose_machine_code_waits_for_the_compiler(tmp_path: Path) -> None:
    """It cannot be told of what is raised."""
    (tmp_path / "solving.py").write_text(SOLVING)
    environment = {**os.environ, "MANAFORGE_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "solving.py"]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 128 + signal.SIGTERM, done.stderr
    assert not (tmp_path / "half").exists()


APART = """
import os, time
from engine.indirect_call import njit_indirect
from engine.jit import njit

while os.environ["FIRST"] != str(os.getpid()) and not os.path.exists("go"):
    time.sleep(0.01)

@njit_indirect(int)
def one(number):
    return number + 1

@njit_indirect(int)
def two(number):
    return number + 2

@njit
def last(number):
    return two(number)

@njit
def both(number):
    return one(number) * two(number)
"""

BY_TWO = """
import os, signal, sys, threading, time
os.environ["FIRST"] = str(os.getpid())
import shared
from engine import compile_progress, indirect_call, kernel_cache, terminal

def stop(number, frame):
    raise KeyboardInterrupt(number)

signal.signal(signal.SIGTERM, stop)
def end_while_it_waits():
    while not (compile_progress.progress._waits_for_helper and compile_progress.progress.active):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGTERM)

case = sys.argv[1]
here = []
compile_progress.progress.mark_translated = here.append
terminal.in_command, indirect_call.MIN_HELPER_SECONDS, indirect_call.available_processors = True, 0.0, lambda: 2
compile_progress.progress.expect([shared.both], effects=False)
with indirect_call.compiling_with_helper():
    (end,) = compile_progress.exit_callbacks
    print(end.__self__.pid, flush=True)
    first, second = indirect_call._helper_jobs.values()
    if case == "ended":
        end()
    if case == "taken":
        assert shared.last(3) == 5
    if case != "signal":
        open("go", "w").close()
    if case in ("done", "ended"):
        first.result()
        second.result()
    if case == "signal":
        threading.Thread(target=end_while_it_waits).start()
    value = shared.both(3)
print(value, len(here), second.cancelled(), compile_progress.exit_callbacks, indirect_call._helper_jobs)
"""


@pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="no kernel is called through its address in this mode")
@pytest.mark.parametrize(
    ("case", "here", "cancelled"),
    [("done", 1, False), ("ended", 3, False), ("taken", 3, True), ("signal", 0, False)],
)
def test_another_process_compiles_kernels_and_may_end_at_any_time(
    case: str, here: int, cancelled: bool, tmp_path: Path
) -> None:
    """What it has not begun is compiled here; what it is at is waited for, unless a signal comes."""
    (tmp_path / "shared.py").write_text(APART)
    cache = {"MANAFORGE_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", BY_TWO, case]
    done = subprocess.run(
        words,
        cwd=tmp_path,
        env=os.environ | cache,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    other, *lines = done.stdout.splitlines()
    if case == "signal":
        assert (done.returncode, lines) == (128 + signal.SIGTERM, []), done.stderr
    else:
        assert lines == [f"20 {here} {cancelled} [] {{}}"], done.stderr
    wait_until(lambda: not cmdline(other), "the other process has ended")


def cmdline(process: str) -> bytes:
    """The words of a process; empty once it has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


ADDRESSES = """
import numpy as np
from engine.jit import njit

TABLE = np.arange(20)[::2]

@njit
def inner(number):
    return TABLE[number]

@njit
def outer(number):
    return inner(number) + 1

print(outer(3), inner(4))
"""


@compiled
@pytest.mark.heavy
def test_code_with_addresses_of_its_process_is_not_kept(tmp_path: Path) -> None:
    """As of an array that is not contiguous: numba has the code read it where it is."""
    (tmp_path / "addresses.py").write_text(ADDRESSES)
    start = f"import runpy; runpy.run_path({str(tmp_path / 'addresses.py')!r}, {{}}, 'engine.here')"
    for _ in range(2):
        assert run(ROOT, tmp_path / "cache", start)[0] == "7 8"
    kept = [path.suffix for path in (tmp_path / "cache" / "kernels").iterdir()]
    assert ".machine" not in kept
    assert ".part" not in kept


@compiled
@pytest.mark.heavy
def test_a_kernel_travels_to_another_process(tmp_path: Path) -> None:
    cloudpickle = pytest.importorskip("ray.cloudpickle")
    scope = {"__name__": "engine.here"}
    exec("from engine.jit import njit\n@njit\ndef triple(x):\n    return 3 * x", scope)
    sent = cloudpickle.dumps(scope["triple"])
    program = f"import pickle; print(pickle.loads({sent!r})(5))"
    for _ in range(2):  # with an empty cache, and with what that left
        assert run(ROOT, tmp_path, program)[0] == "15"


ALLOCATES = """
import numpy as np
from numba.core.errors import TypingError
from engine.jit import njit, njit_no_alloc

@njit
def reversed_sum(values):
    return values[::-1].copy().sum()

@njit_no_alloc
def borrows(values):
    return reversed_sum(values)

@njit
def starts(values):
    return borrows(values)

@njit
def twice(values):
    return np.zeros(2 * len(values))

@njit
def first(values):
    return twice(values)[0]

@njit_no_alloc
def never_frees(values):
    return twice(values)[0]

@njit_no_alloc
def never_frees_either(values):
    return first(values)

locked = np.frombuffer(np.arange(5).tobytes(), np.int64)
print(starts(np.arange(5)), starts(locked), len(starts._machine))
for kernel in (never_frees, never_frees_either):
    try:
        kernel(np.arange(5))
    except TypingError as error:
        print("twice returns a new array" in str(error))
"""


@compiled
@pytest.mark.skipif(BOUNDSCHECK, reason="no kernel borrows in this mode")
def test_kernels_that_make_arrays_do_so_whoever_calls_first_and_none_is_lost(tmp_path: Path) -> None:
    """numba lets options pass from caller to callee: whether it compiled depended on who called first.

    A kernel that borrows would never free an array that is made for it. One that Python may not write to is
    compiled as any.
    """
    (tmp_path / "allocates.py").write_text(ALLOCATES)
    start = f"import runpy; runpy.run_path({str(tmp_path / 'allocates.py')!r}, {{}}, 'engine.here')"
    assert run(ROOT, tmp_path / "cache", start)[0].split("\n") == ["10 10 1", "True", "True"]


STUCK = """
import contextlib, signal, time
from pathlib import Path
from engine import compile_progress, compiler, terminal
from engine.jit import njit

signal.signal(signal.SIGTERM, signal.default_int_handler)
make = compiler.MachineCode.make.__func__

def endless(cls, *arguments):  # as LLVM, which does not look at signals
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            print("working", flush=True)
            time.sleep(600)

compiler.MachineCode.make = classmethod(endless)
terminal.in_command = True

@njit
def double(number):
    return 2 * number

Path("half").mkdir()
with compile_progress.removed_on_exit(Path("half")):
    double(1)
"""


@compiled
def test_a_signal_ends_a_process_whose_compiler_does_not_look_at_it(tmp_path: Path) -> None:
    (tmp_path / "stuck.py").write_text(STUCK)
    environment = {**os.environ, "MANAFORGE_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "stuck.py"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"working\n"
        process.send_signal(signal.SIGTERM)
        error = process.stderr.read().decode()
        assert process.wait(120) == 128 + signal.SIGTERM
    assert "SIGTERM: stopping the compilation of kernels" in error
    assert not (tmp_path / "half").exists()


def test_the_version_of_kernels_covers_every_file_that_one_can_reach(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[tuple[str, bytes], set[str]] = {}  # a file is parsed again only once it has changed
    imports = versions._imports

    def parsed_once(module: str, path: Path) -> set[str]:
        key = module, path.read_bytes()
        if key not in seen:
            seen[key] = imports(module, path)
        return seen[key]

    monkeypatch.setattr(versions, "_imports", parsed_once)
    sources = {str(path.relative_to(copy)) for path in versions.kernel_sources(copy)}
    assert {
        f"engine/{name}.py" for name in ("rules", "state", "streams", "codes", "jit", "batches")
    } <= sources
    before = versions.fingerprint(copy)
    for name in sorted(sources)[::7]:
        path = copy / name
        text = path.read_bytes()
        path.write_bytes(text + b"\n")
        assert versions.fingerprint(copy) != before, name
        path.write_bytes(text)
    assert versions.fingerprint(copy) == before
    outside = copy / "engine" / "cards" / "lookup.py"
    outside.write_text(outside.read_text() + "\n")
    assert "engine/cards/lookup.py" not in sources
    assert versions.fingerprint(copy) == before


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
    tmp_path: Path, kernel: str, dependency: str
) -> None:
    rivals = tmp_path / "rivals"
    rivals.mkdir()
    (rivals / "numbers.py").write_text("ONE = 1\n")
    before = versions.fingerprint(tmp_path)
    (rivals / "fast.py").write_text(f"{kernel}\n{dependency}\n")
    middle = versions.fingerprint(tmp_path)
    (rivals / "numbers.py").write_text("ONE = 2\n")
    after = versions.fingerprint(tmp_path)
    assert len({before, middle, after}) == 3
    (rivals / "other.py").write_text("ONE = 1\n")
    assert versions.fingerprint(tmp_path) == after, "no kernel reaches it"


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


def test_files_unused_for_long_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MANAFORGE_CACHE_DIR", str(tmp_path))
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    key = "0" * 32 + "-" + "1" * 16
    old, recent, foreign = kernels / f"{key}.part", kernels / f"{key}.machine", kernels / "linux-6.1"
    for file in (old, recent, foreign):
        file.write_bytes(b"")
    folder_of_old = kernels / ("0" * 16)
    folder_of_old.mkdir()
    for path in (old, foreign, folder_of_old):
        os.utime(path, (0, 0))
    kernel_cache.cache_folder.cache_clear()
    try:
        assert kernel_cache.cache_folder() == kernels
        assert kernel_cache.cached_kernels() == {("0" * 32, "machine")}
    finally:
        kernel_cache.cache_folder.cache_clear()
    assert not old.exists()
    assert not folder_of_old.exists()
    assert recent.exists()
    assert foreign.exists(), "what we did not make is not ours to remove"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache that is not there yet; its folder of kernels."""
    monkeypatch.setenv("MANAFORGE_CACHE_DIR", str(tmp_path / "deep" / "cache-{uid}"))
    monkeypatch.setattr(kernel_cache, "_warnings", [])
    kernel_cache.cache_folder.cache_clear()
    yield tmp_path / "deep" / f"cache-{os.geteuid()}" / "kernels"
    kernel_cache.cache_folder.cache_clear()


NAME = "0" * 32 + "-" + "1" * 16 + ".part"


@pytest.mark.parametrize("umask", [0, 0o277])
def test_a_cache_is_made_for_its_user_alone_whatever_the_umask(cache: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        assert kernel_cache.write(NAME, b"kernel")
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in (cache, cache.parent)} == {0o700}
    assert not (cache / NAME).stat().st_mode & 0o177
    assert kernel_cache.read(NAME) == b"kernel"


FOREIGN: dict[str, Callable[[Path], None]] = {
    "every user may write it": lambda path: path.chmod(0o707),
    "its group may write it": lambda path: path.chmod(0o770),
    "it belongs to another user (number 12345)": lambda path: os.chown(path, 12345, -1),
}


@pytest.mark.parametrize("place", ["base", "folder", "file"])
@pytest.mark.parametrize("why", FOREIGN)
def test_kernels_that_another_user_may_have_written_are_not_run(
    cache: Path, place: str, why: str, capfd: pytest.CaptureFixture[str]
) -> None:
    if "another user" in why and os.geteuid() != 0:
        pytest.skip("only root gives files to another user")
    kernel_cache.write(NAME, b"kernel")
    path = {"base": cache.parent, "folder": cache, "file": cache / NAME}[place]
    FOREIGN[why](path)
    kernel_cache.cache_folder.cache_clear()
    assert kernel_cache.read(NAME) is None
    said = " ".join(capfd.readouterr().err.split())
    assert f"{path}: {why}" in said
    assert kernel_cache.read(NAME) is None, "and it is told once"
    assert capfd.readouterr().err == ""
    if place != "file":
        assert kernel_cache.cache_folder() is None
        assert not kernel_cache.write(NAME, b"other")


def test_a_link_in_place_of_a_kernel_or_of_the_cache_is_not_followed(cache: Path, tmp_path: Path) -> None:
    kernel_cache.write(NAME, b"kernel")
    (cache / NAME).rename(tmp_path / "elsewhere")
    (cache / NAME).symlink_to(tmp_path / "elsewhere")
    assert kernel_cache.read(NAME) is None
    if os.geteuid() == 0:
        cache.parent.rename(tmp_path / "cache")
        cache.parent.symlink_to(tmp_path / "cache")
        kernel_cache.cache_folder.cache_clear()
        assert kernel_cache.cache_folder() == cache, "a link of one's own leads where one wants it"
        os.chown(cache.parent, 12345, -1, follow_symlinks=False)
        kernel_cache.cache_folder.cache_clear()
        assert kernel_cache.cache_folder() is None


def test_a_kernel_has_no_name_that_leads_elsewhere(cache: Path) -> None:
    with pytest.raises(ValueError, match="not the name of a compiled kernel"):
        kernel_cache.write(f"../{NAME}", b"kernel")
    assert not cache.exists()


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
@pytest.mark.parametrize("damage", ["cut", *heavy("flip", "empty", "junk", "folder")])
@pytest.mark.parametrize("kind", ["part", "machine"])
def test_a_damaged_cache_is_thrown_away_and_compiled_again(
    kind: str, damage: str, small: Path, tmp_path: Path
) -> None:
    cache = Path(shutil.copytree(small / "cache", tmp_path / "cache"))
    whole = {file: file.read_bytes() for file in cache.rglob(f"*.{kind}")}
    assert len(whole) == {"part": 2, "machine": 1}[kind]
    if kind == "part":  # which is read where there is no machine code
        for file in cache.rglob("*.machine"):
            file.unlink()
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
