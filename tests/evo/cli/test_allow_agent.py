"""Agents from outside that a file names run only if the command line names them too."""

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rivals.outside import permissions
from rivals.outside.permissions import NotAllowedError, refuse_unnamed, set_command_line
from tests.evo.runs import manaforge, manaforge_process

FAULTY = Path("tests/data/bots/faulty.py").resolve()
BOT = f"process:{sys.executable} {FAULTY} well"

CONFIG = """
schema = 1
mu = 3
lambda = 3
generations = 1
games = 2
pool = "local"
decks = ["thesis-paladin"]
[opponents.fixed]
"{entrant}" = 1.0
[final]
games = 8
benchmark_games = 0
"""


@pytest.fixture(autouse=True)
def _no_command_line() -> Iterator[None]:
    yield
    permissions._named = None


def test_without_a_command_line_the_code_has_named_it() -> None:
    refuse_unnamed("process:anything")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["tournament", "process:node bot.js", "random"], "process:node bot.js"),
        (["tournament", "process:node bot.js@seconds=2"], "process:node bot.js"),
        (["ladder", "--players", "random,python:a:B"], "python:a:B"),
        (["evolve", "--set", 'opponents.fixed={"process:x y"=1.0,"python:a:B@seconds=1"=2}'], "python:a:B"),
        (["evolve", "--set", "agent=python:a:B"], "python:a:B"),
        (["evolve", "--set", 'agent="python:a:B"'], "python:a:B"),
        (["arena", "--champion=process:x"], "process:x"),
        (["evolve", "--allow-agent", "process:x"], "process:x"),
        (["evolve", "--allow-agent=process:x"], "process:x"),
    ],
)
def test_the_command_line_names_agents_in_many_places(words: list[str], name: str) -> None:
    set_command_line(words)
    refuse_unnamed(name)
    for other in (f"{name} -x", name[:-1], "process:rm"):
        with pytest.raises(NotAllowedError, match="--allow-agent"):
            refuse_unnamed(other)


@pytest.mark.parametrize("name", ["process:it's", "process:$(touch x)", "process:a\\\\b", 'process:"x" y'])
def test_the_option_that_is_told_is_safe_to_paste(name: str) -> None:
    set_command_line(["evolve"])
    with pytest.raises(NotAllowedError) as refused:
        refuse_unnamed(name)
    told = str(refused.value).partition("add ")[2]
    words = shlex.split(told)
    set_command_line(words)
    refuse_unnamed(name)


def test_a_configuration_starts_nothing_by_itself(tmp_path: Path) -> None:
    mark = tmp_path / "started"
    (tmp_path / "config.toml").write_text(CONFIG.format(entrant=f"process:touch {mark}"))
    refused = manaforge("evolve", tmp_path / "config.toml", "--out", tmp_path / "run")
    assert refused.returncode == 2
    assert f"--allow-agent 'process:touch {mark}'" in refused.stderr
    assert not mark.exists()
    assert not (tmp_path / "run").exists()
    named = manaforge_process(
        "evolve",
        tmp_path / "config.toml",
        "--out",
        tmp_path / "run",
        "--allow-agent",
        f"process:touch {mark}",
    )
    assert named.returncode == 1
    assert "the process ended with exit code 0" in named.stderr
    assert mark.exists()


def test_a_run_folder_starts_nothing_by_itself(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(CONFIG.format(entrant=BOT))
    run = tmp_path / "run"
    done = manaforge("evolve", tmp_path / "config.toml", "--out", run, "--allow-agent", BOT)
    assert done.returncode == 0, done.stderr
    refused = manaforge("resume", run, "--generations", 2)
    assert refused.returncode == 2
    assert "--allow-agent" in refused.stderr
    for command in (("watch", run), ("runs", tmp_path)):
        assert manaforge(*command).returncode == 0
    assert manaforge("resume", run, "--generations", 2, "--allow-agent", BOT).returncode == 0


def test_games_that_an_opponent_loses_by_faults_are_told(tmp_path: Path) -> None:
    crashing = f"process:{sys.executable} {FAULTY} ends"
    (tmp_path / "config.toml").write_text(CONFIG.format(entrant=crashing))
    done = manaforge("evolve", tmp_path / "config.toml", "--out", tmp_path / "run", "--allow-agent", crashing)
    assert done.returncode == 0, done.stderr
    assert f"warning: {crashing} lost" in done.stderr
    assert "(process ended)" in done.stderr
