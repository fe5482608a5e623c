"""An agent from outside is bred like ours: the same bytes however it runs, and pages that show its values."""

import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import ManaforgeError, Outcome, PlayerView, find_deck, find_ruleset
from engine.game_session import Reason
from engine.match import deal
from engine.safe_files import read_toml
from evo.api import play_tournament
from evo.config.run_config import ConfigError, validate_run_config
from evo.play.entrants import OutsideProfileError, find_entrant, profile_of_entrant
from evo.play.games import Player, Roster, Schedule
from evo.play.ray import RayPool
from evo.play.ray_process import play_range
from evo.storage.champion import load_intact_champion
from evo.storage.run_folder import open_run_read_only
from ilp_agent import Profile, WeightVector
from rivals.outside.agent import NotStartedError, OutsideAgent, check_starts, processes
from tests.conftest import BOUNDSCHECK, UNCOMPILED, heavy
from tests.evo.runs import ENVIRONMENT, PROGRAM, TINY, bytes_of, manaforge, run_new
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")

AGENT = "python:bred:Bot"
FEW = TINY.changed(
    mu=2,
    generations=2,
    final={"games": 8, "benchmark_games": 2},
    validation={"games": 2, "every": 2},
    **{"lambda": 1},
)
BOT = """
import time
from pathlib import Path

class Bot:
    parameters = {"face": (0, 20), "trade": (-1, 1)}
    values = {"face": 1, "trade": 0}

    def act(self, view, rng):
        return max(view.legal_actions, key=self.worth)

    def worth(self, action):
        text = str(action)
        if text == "end turn":
            return 0
        return self.values["face" if text.endswith("hero") else "trade"] + (10 if text.startswith("play") else 0)
"""


WAITING = """
    def new_game(self, seat, rng):
        while Path("wait").exists() and list(Path("killed").glob("generations/*")):
            time.sleep(0.01)
"""
"""More of the bot: with a file `wait` it begins no game after the first generation."""


def champion_of(run: Path) -> Profile[WeightVector]:
    champion = load_intact_champion(open_run_read_only(run))
    assert champion is not None
    return champion


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the agent and a finished run that bred it."""
    place = tmp_path_factory.mktemp("bred")
    (place / "bred.py").write_text(BOT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])
        patch.chdir(place)
        run_new(place / "run", FEW.changed(agent=AGENT))
        end_agents()
    return place


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the agent, the current one."""
    (tmp_path / "bred.py").write_text(BOT)
    monkeypatch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    end_agents()


@pytest.fixture
def bred(finished: Path, place: Path) -> Path:
    """The same with a finished run that bred it."""
    shutil.copytree(finished / "run", place / "run")
    return place


def end_agents() -> None:
    """End all agents' processes, and forget what they declared."""
    processes.close()
    check_starts.cache_clear()


@pytest.mark.heavy
def test_a_run_folder_keeps_the_parameters_and_the_champion_has_values(bred: Path) -> None:
    (bred / "bred.py").unlink()
    config = open_run_read_only(bred / "run").config
    assert config.vector.names() == ("face", "trade")
    for file in (bred / "run" / "generations").iterdir():
        table = pd.read_parquet(file)
        assert table[["weight_face", "weight_trade"]].stack().between(0, 1).all()
    champion = champion_of(bred / "run")
    written = read_toml(bred / "run" / "champion.toml")
    assert written["agent"] == AGENT
    assert written["weights"] == champion.weights.written()
    face, trade = champion.weights.array
    assert written["weights"]["face"] == pytest.approx(20 * face)
    assert written["weights"]["trade"] == pytest.approx(2 * trade - 1)


@pytest.mark.parametrize("last", [*heavy(0), *heavy(1, only_nightly=True)])
def test_a_run_that_stops_and_goes_on_has_the_same_bytes(bred: Path, last: int) -> None:
    run_new(bred / "parts", FEW.changed(agent=AGENT, generations=last))
    command = ("resume", "parts", "--generations", FEW.generations, "--pool", "local")
    refused = manaforge(*command, cwd=bred)
    assert refused.returncode == 2
    assert f"--allow-agent {AGENT}" in refused.stderr
    done = manaforge(*command, "--allow-agent", AGENT, cwd=bred)
    assert done.returncode == 0, done.stderr
    assert bytes_of(bred / "parts") == bytes_of(bred / "run")


@pytest.mark.heavy
def test_ray_plays_the_same_bytes(bred: Path) -> None:
    pool = RayPool(2)
    try:
        assert run_new(bred / "ray", FEW.changed(agent=AGENT), pool) == bytes_of(bred / "run")
    finally:
        pool.close()


@pytest.mark.heavy
def test_a_run_that_is_killed_goes_on_with_the_same_bytes(bred: Path) -> None:
    (bred / "config.toml").write_text(FEW.changed(agent=AGENT).to_toml())
    (bred / "bred.py").write_text(BOT + WAITING)
    (bred / "wait").touch()
    command = ["evolve", "config.toml", "--out", "killed", "--pool", "local", "--allow-agent", AGENT]
    with subprocess.Popen([*PROGRAM, *command], env=ENVIRONMENT, cwd=bred, stderr=subprocess.PIPE) as one:
        stored = bred / "killed" / "generations"
        wait_until(lambda: list(stored.glob("*")) or one.poll() is not None, "a generation is stored")
        one.send_signal(signal.SIGKILL)
        one.wait()
    assert one.returncode == -signal.SIGKILL
    assert not (bred / "killed" / "champion.toml").exists()
    (bred / "wait").unlink()
    again = manaforge(*command, "--resume", cwd=bred)
    assert again.returncode == 0, again.stderr
    assert bytes_of(bred / "killed") == bytes_of(bred / "run")


@pytest.mark.heavy
def test_reports_show_values_not_shares(bred: Path) -> None:
    refused = manaforge("report", "run", cwd=bred)
    assert refused.returncode == 2
    assert f"--allow-agent {AGENT}" in refused.stderr
    done = manaforge("report", "run", "--allow-agent", AGENT, cwd=bred)
    assert done.returncode == 0, done.stderr
    page = (bred / "run" / "report.html").read_text()
    for value in champion_of(bred / "run").weights.written().values():
        assert f">{value:.4g}<" in page
    assert "values between their bounds" in page
    watched = manaforge("watch", "run", "--once", cwd=bred)
    (line,) = re.findall(r"face .*", watched.stdout)
    assert re.search(r"\d\.\d", line)
    assert "%" not in line


@pytest.mark.heavy
def test_a_champion_plays_in_tournaments_by_its_values(bred: Path) -> None:
    champion = champion_of(bred / "run")
    entrant = f"{AGENT}@profile=run"
    assert profile_of_entrant(entrant) == champion
    player = find_entrant(entrant).player
    assert player.weights == tuple(champion.weights.array)
    assert find_entrant(f"{AGENT}@seconds=2,profile=run").player.options == (2,)
    assert find_entrant(f"{AGENT}@profile=run/champion.toml,seconds=2").player.weights == player.weights
    with pytest.raises(ManaforgeError, match="unknown option 'foo'"):
        find_entrant(f"{AGENT}@seconds=2,foo=1")
    played = play_tournament(entrant, AGENT, "random", decks="thesis-paladin", games=4, quiet=True)
    assert len(played.ratings) == 3


@pytest.mark.heavy
def test_an_agent_whose_bounds_changed_is_refused(bred: Path) -> None:
    (bred / "bred.py").write_text(BOT.replace("20", "30"))
    with pytest.raises(OutsideProfileError, match=r"now face \(0 to 30\); there face \(0 to 20\)"):
        find_entrant(f"{AGENT}@profile=run")
    for command in (("resume", "run", "--generations", 3), ("report", "run"), ("crossplay", "run")):
        refused = manaforge(*command, "--allow-agent", AGENT, cwd=bred)
        assert refused.returncode == 2
        assert "now face (0 to 30)" in refused.stderr


def test_an_agent_plays_by_the_values_it_is_given_and_else_by_its_own(place: Path) -> None:
    (place / "bred.py").write_text(BOT + "\n    def new_game(self, seat, rng):\n        print(self.values)")
    rng = np.random.default_rng(0)
    for weights, told in (((0.5, 0.0), "{'face': 10.0, 'trade': -1.0}"), ((), "{'face': 1, 'trade': 0}")):
        agent = OutsideAgent(AGENT, 10, weights)
        agent.new_game(0, rng)
        (playing,) = processes._busy
        agent.act(PlayerView(deal(("thesis-paladin", "thesis-paladin"), 0), 0), rng)
        assert told in playing._errors.decode()
        agent.game_over(Outcome.DRAW, Reason.TURN_CAP)


def test_what_cannot_evolve_is_refused(place: Path) -> None:
    (place / "plain.py").write_text("class Bot:\n    def act(self, view, rng): ...\n")
    with pytest.raises(ConfigError, match="declares no parameters"):
        validate_run_config({"schema": 1, "agent": "python:plain:Bot"}, "file")
    with pytest.raises(ConfigError, match="has weights of its own"):
        validate_run_config({"schema": 1, "parameters": [{"name": "a", "low": 0, "high": 1}]}, "file")
    with pytest.raises(ConfigError, match="low < high"):
        validate_run_config(
            {"schema": 1, "agent": AGENT, "parameters": [{"name": "a", "low": 1, "high": 0}]}, "file"
        )
    with pytest.raises(OutsideProfileError, match="declares no parameters"):
        find_entrant("python:plain:Bot@profile=x")


def test_a_node_without_the_agent_is_named_and_loses_no_game(place: Path) -> None:
    decks, rules = (find_deck("thesis-paladin"),), find_ruleset("thesis")
    roster = Roster((Player((), kind="python:absent:Bot"), Player((), kind="random")), decks, rules)
    games = Schedule(np.array([[0, 1]], np.int16), np.zeros((1, 2), np.int16), np.ones(1, np.uint64))
    with pytest.raises(
        NotStartedError, match=r"worker \d+ on .*No module named 'absent'.*every node needs this agent"
    ):
        play_range({}, roster, games, 0, 1)
