"""The commands on runs: good input, wrong input, signals, no terminal."""

import json
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from evo.config.files import read_config
from evo.evolution.session import new_manifest
from evo.play.pool import InterruptedRunError, LocalPool
from evo.sessions.progress import RunDisplay, output_console
from evo.sessions.session import evolve_to_end
from evo.storage.run_folder import create_run
from tests.conftest import BOUNDSCHECK, UNCOMPILED, heavy
from tests.evo.runs import ENVIRONMENT, PROGRAM, TINY, bytes_of, manaforge, manaforge_process

pytestmark = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("configs") / "tiny.toml"
    file.write_text(TINY.to_toml())
    return file


def test_evolve_resume_runs_and_study(tiny: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = manaforge("evolve", tiny, "--out", out, "--workers", 1, "--tensorboard")
    assert (done.returncode, done.stderr) == (0, "")
    assert "pool local with 1 worker (threads are enough" in done.stdout
    assert "generation 3/3: best " in done.stdout
    assert "against" in done.stdout
    assert "\x1b" not in done.stdout
    assert list((out / "tensorboard").iterdir())
    assert manaforge("play", f"ilp:{out / 'champion.toml'}", "ilp:keep-alive").returncode == 0
    log = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    assert [entry["event"] for entry in log] == ["generation"] * 4 + ["final"]

    again = manaforge("evolve", tiny, "--out", out)
    assert again.returncode == 1
    assert (
        again.stderr == f"manaforge: run folder {out} is not empty; to continue it: manaforge resume {out}\n"
    )
    more = manaforge_process("resume", out, "--generations", 4)
    assert more.returncode == 0
    assert "from generation 4 of 4 generations" in more.stdout

    study = manaforge("study", tiny, "--runs", 2, "--out", tmp_path / "study")
    assert study.returncode == 0
    assert bytes_of(tmp_path / "study/00") != bytes_of(tmp_path / "study/01")
    before = bytes_of(tmp_path / "study/01")
    (tmp_path / "study/01/generations/0002.parquet").unlink()
    assert manaforge("study", tiny, "--runs", 3, "--out", tmp_path / "study").returncode == 0
    assert bytes_of(tmp_path / "study/01") == before
    other = manaforge("study", tiny, "--runs", 3, "--out", tmp_path / "study", "--set", "games=4")
    assert "was started with another configuration" in other.stderr

    listed = manaforge("runs", tmp_path).stdout
    assert listed.count("finished") == 4
    assert "study/02" in listed


def test_the_default_folder_is_below_runs(tiny: Path, tmp_path: Path) -> None:
    done = manaforge("evolve", tiny, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.startswith("tiny-20")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evolve", "quikstart"), "unknown configuration 'quikstart'; nearest: quickstart"),
        (("evolve", "quickstart", "--set", "sed=3"), "unknown key 'sed'; nearest: seed"),
        (("evolve", "quickstart", "--pool", "rai"), "unknown pool 'rai'; nearest: ray"),
        (
            ("evolve", "quickstart", "--pool", "local", "--address", "auto"),
            "for the cluster at auto use --pool ray",
        ),
        (("evolve", "quickstart", "--out", "/proc/none"), "cannot create run folder /proc/none"),
        (("resume", "/nowhere"), "/nowhere is not a run folder: there is no such folder"),
        (("runs", "/nowhere"), "/nowhere is not a folder"),
        (("config", "show", "quickstart", "--set", "seed"), "--set takes KEY=VALUE, got 'seed'"),
    ],
)
def test_wrong_input_is_one_clear_line(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    done = manaforge(*arguments, cwd=tmp_path)
    assert done.returncode == (1 if "/proc/none" in arguments else 2)
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_config_show() -> None:
    shown = manaforge("config", "show", "eva", "--set", "seed=5").stdout
    assert "lambda" in shown
    assert "eva" in shown
    assert re.search(r"│ es\.shared_draw +│ true +│", shown), "as TOML has it"
    text = manaforge("config", "show", "eva", "--set", "seed=5", "--toml").stdout
    assert "seed = 5\n" in text
    assert "[final]" in text


@pytest.mark.parametrize(("address", "way"), [("", ""), ("10.0.0.1:6379", " --address 10.0.0.1:6379")])
def test_who_stops_a_run_is_told_where_to_go_on(
    address: str, way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the cluster's address, which the folder does not hold."""
    display, pool = RunDisplay(output_console()), LocalPool(1)
    display.stopping = signal.SIGTERM
    with create_run(tmp_path / "run", TINY, new_manifest(TINY)) as folder, pytest.raises(InterruptedRunError):
        evolve_to_end(folder, pool, display, address)
    pool.close()
    assert capsys.readouterr().err.endswith(f"To continue: manaforge resume {tmp_path / 'run'}{way}\n")


def test_config_show_without_a_file_shows_the_defaults() -> None:
    shown = manaforge("config", "show", "--toml", "--set", "seed=5")
    assert shown.returncode == 0, shown.stderr
    assert "seed = 5\n" in shown.stdout


def test_no_file_chooses_a_cluster(finished: Path, tmp_path: Path) -> None:
    """`auto` in a file from before is read and not followed, which is said; nothing writes it any more."""
    file = tmp_path / "auto.toml"
    file.write_text('address = "auto"\n')
    config = read_config(file)
    assert config.address == ""
    assert config.digest == read_config("").digest
    assert 'address = ""' in config.changed(address="auto").to_toml()
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    written = (run / "config.toml").read_text()
    (run / "config.toml").write_text(written.replace('address = ""', 'address = "auto"'))
    done = manaforge("resume", run)
    assert done.returncode == 0, done.stderr
    said = f'{run}/config.toml: address = "auto" is ignored; to join the cluster of this machine, use --address auto'
    assert said in done.stdout


def without_reader(*arguments: object, lines: int = 0) -> tuple[int, str]:
    """Run the command `manaforge`, whose reader leaves after some lines: exit code and standard error."""
    command = [*PROGRAM, *map(str, arguments)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=ENVIRONMENT) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for _ in range(lines):
            process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
    return process.returncode, said


COMMANDS = (
    "--help",
    "--version",
    "config show eva",
    "config schema",
    "runs --json tests/data",
    "play pass pass",
)


@pytest.mark.parametrize("command", ["--help", "play pass pass", *heavy(*COMMANDS[1:-1])])
def test_a_reader_that_has_left_ends_a_command_quietly(command: str) -> None:
    assert without_reader(*command.split()) == (128 + signal.SIGPIPE, "")


def by_shell(redirected: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Run the command `manaforge` in a shell, with streams redirected as its language writes it."""
    line = f"{shlex.join([*PROGRAM, *map(str, words)])} {redirected}"
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=ENVIRONMENT, check=False)


@pytest.mark.parametrize("command", ["--version", *heavy("config show eva", COMMANDS[0], *COMMANDS[3:])])
def test_a_closed_output_is_no_mistake_and_a_full_one_is_told(command: str) -> None:
    manaforge(*command.split())  # compiles what it needs, so that nothing is said of it
    closed = by_shell("<&- >&-", *command.split())
    assert (closed.returncode, closed.stderr) == (0, "")
    full = by_shell(">/dev/full", *command.split())
    assert full.returncode == 1
    assert full.stderr.startswith("manaforge: ")
    assert full.stderr.endswith("No space left on device\n")
    assert full.stderr.count("\n") == 1


@pytest.mark.heavy
def test_nobody_reads_the_errors_and_the_results_come_all_the_same(tmp_path: Path) -> None:
    words = (
        "tournament",
        "pass",
        "random",
        "--decks",
        "thesis-paladin",
        "--games",
        4,
        "--out",
        tmp_path / "t",
    )
    done = by_shell(
        f"--json 2>&1 >{shlex.quote(str(tmp_path / 'out'))} | true; exit ${{PIPESTATUS[0]}}", *words
    )
    assert json.loads((tmp_path / "out").read_text())["games"] == 4, done
    assert done.returncode == 0


@pytest.mark.heavy
def test_a_run_whose_reader_has_left_says_how_to_go_on(tmp_path: Path) -> None:
    file = tmp_path / "long.toml"
    file.write_text(TINY.changed(generations=500).to_toml())
    code, said = without_reader("evolve", file, "--out", tmp_path / "run", "--yes", lines=1)
    assert code == 128 + signal.SIGPIPE
    assert said.splitlines()[-1].startswith("stopped by SIGPIPE: ")
    assert said.endswith(f"To continue: manaforge resume {tmp_path / 'run'}\n")
