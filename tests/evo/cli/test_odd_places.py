"""Names that are no UTF-8, a terminal without letters, a folder that is gone: our errors, or other letters."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import heavy
from tests.evo.runs import manaforge

ROOT = Path(__file__).resolve().parents[3]
ENTRY = "from evo.cli.main import main; main()"
ODD = b"odd\xff\x1b[2J"
"""A folder's name that is no UTF-8 and clears a screen."""


def run(*words: str | bytes, cwd: bytes | Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    everything = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, "-c", ENTRY, *words]
    return subprocess.run(command, cwd=cwd, env=everything, capture_output=True, check=False)


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A folder that holds a run of an odd name."""
    folder = os.fsencode(tmp_path_factory.mktemp("odd"))
    shutil.copytree(os.fsencode(ROOT / "tests" / "data" / "run"), folder + b"/" + ODD)
    return folder


PROCESSES = ("runs", "resume")
"""Commands that run as processes, to which the system gives the name."""


@pytest.mark.parametrize(
    "words",
    [
        ("runs", b"."),
        ("watch", ODD, "--once"),
        ("export", ODD, "--out", "profiles"),
        ("export", ODD, "--clusters", "--out", "medoids"),
        *heavy((("report", ODD),), (("resume", ODD),)),
    ],
    ids=lambda words: words[0],
)
def test_a_run_of_any_name_is_read_and_shown(words: tuple[str | bytes, ...], odd: bytes) -> None:
    if words[0] in PROCESSES:
        done = run(*words, cwd=odd)
        code, output, errors = done.returncode, done.stdout.decode(), done.stderr.decode()
    else:
        here = manaforge(*map(os.fsdecode, words), cwd=Path(os.fsdecode(odd)))
        code, output, errors = here.returncode, here.stdout, here.stderr
    assert code == 0, errors
    assert "\x1b" not in output + errors
    assert "Traceback" not in errors


def test_a_terminal_of_few_letters(odd: bytes) -> None:
    done = run("runs", b".", cwd=odd, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    done.stdout.decode("ascii")


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    program = f"import os; os.rmdir({str(gone)!r}); {ENTRY}"
    done = subprocess.run(
        [sys.executable, "-c", program, "runs"],
        cwd=gone,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "manaforge: the current folder was deleted; change to one that exists\n"
