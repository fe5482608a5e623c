"""The commands that make runs, as a user meets them: good input, wrong input, signals, no terminal."""

import json
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import BOUNDSCHECK, UNCOMPILED
from tests.evo.runs import ENVIRONMENT, PROGRAM, TINY, bytes_of, manaforge, run_new

pytestmark = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("configs") / "tiny.toml"
    file.write_text(TINY.to_toml())
    return file


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some seconds of play, in generations of a fifth of a second."""
    file = tmp_path_factory.mktemp("configs") / "long.toml"
    file.write_text(TINY.changed(mu=8, games=60, generations=12, **{"lambda": 8}).to_toml())
    return file


@pytest.fixture(scope="module")
def long_bytes(long: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    from evo.config import read_config

    return run_new(tmp_path_factory.mktemp("long") / "run", read_config(long))


def test_evolve_resume_runs_and_study(tiny: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = manaforge("evolve", tiny, "--out", out, "--workers", 1, "--tensorboard")
    assert (done.returncode, done.stderr) == (0, "")
    assert "pool local with 1 workers (threads are enough" in done.stdout
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
        again.stderr
        == f"manaforge: run folder {out} is not empty; to go on with it: manaforge resume {out}\n"
    )
    more = manaforge("resume", out, "--generations", 4)
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
    assert "was begun with another configuration" in other.stderr

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
        (("evolve", "quickstart", "--out", "/proc/none"), "cannot make run folder /proc/none"),
        (("resume", "/nowhere"), "/nowhere is no run folder: it has no config.toml"),
        (("runs", "/nowhere"), "/nowhere is no folder"),
        (("config", "show", "quickstart", "--set", "seed"), "--set takes KEY=VALUE, got 'seed'"),
    ],
)
def test_wrong_input_is_one_clear_line(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    done = manaforge(*arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_config_show() -> None:
    shown = manaforge("config", "show", "eva", "--set", "seed=5").stdout
    assert "lambda" in shown
    assert "eva" in shown
    text = manaforge("config", "show", "eva", "--set", "seed=5", "--toml").stdout
    assert "seed = 5\n" in text
    assert "[final]" in text


def start(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        start_new_session=True,
    )


def wait_for(path: Path, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < until, f"{path} did not come"
        time.sleep(0.02)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_stop_and_lose_nothing(
    number: int, code: int, long: Path, long_bytes: dict[str, str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    process = start("evolve", long, "--out", run, "--workers", 2)
    wait_for(run / "generations" / "0002.parquet")
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == code, errors
    assert f"stopped by {signal.Signals(number).name}: " in errors
    assert f"manaforge resume {run}" in errors
    assert manaforge("resume", run).returncode == 0
    assert bytes_of(run) == long_bytes


def kill_and_resume(times: int, seed: int, long: Path, run: Path) -> None:
    pick = np.random.default_rng(seed)
    for _ in range(times):
        command = ("resume", run) if (run / "config.toml").exists() else ("evolve", long, "--out", run)
        process = start(*command, "--workers", 2)
        time.sleep(float(pick.uniform(1.0, 4.0)))
        process.kill()
        process.communicate()
        if run.exists() and not (run / "config.toml").exists():
            import shutil

            shutil.rmtree(run)  # killed before it was a run
    done = manaforge("resume", run)
    assert done.returncode == 0, done.stderr


def test_killed_and_resumed(long: Path, long_bytes: dict[str, str], tmp_path: Path) -> None:
    kill_and_resume(2, 1, long, tmp_path / "run")
    assert bytes_of(tmp_path / "run") == long_bytes


@pytest.mark.heavy
def test_killed_at_twenty_random_moments(tmp_path: Path) -> None:
    """Twenty runs, each killed once at a random moment of its life, and resumed: the same bytes."""
    from evo.config import read_config

    config = tmp_path / "long.toml"
    config.write_text(TINY.changed(mu=8, games=60, generations=12, **{"lambda": 8}).to_toml())
    expected = run_new(tmp_path / "undisturbed", read_config(config))
    killed_at = []
    pick = np.random.default_rng(5)
    for number in range(20):
        run = tmp_path / f"run-{number}"
        process = start("evolve", config, "--out", run, "--workers", 2)
        wait_for(run / "config.toml")
        time.sleep(float(pick.uniform(0.0, 3.5)))
        process.kill()
        process.communicate()
        killed_at.append(len(list(run.glob("generations/*"))))
        done = manaforge("resume", run)
        assert done.returncode == 0, done.stderr
        assert bytes_of(run) == expected
    print("killed with so many generations on disk:", killed_at)
    assert len(set(killed_at)) > 3
