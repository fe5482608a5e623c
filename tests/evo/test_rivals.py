"""Other agents in the pipeline: as entrants, evolved, in mixed games, in reports."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from engine import Action, ManaforgeError, PlayerView, find_deck, find_ruleset
from evo.analysis.export import best_profiles, cluster_profiles, write_profiles
from evo.analysis.report import make_report
from evo.analysis.tables import names_of, read_runs
from evo.cli.main import app
from evo.config.run_config import ConfigError, RunConfig
from evo.evolution.run import evolve
from evo.evolution.session import begin_session, extend_run
from evo.play.entrants import find_entrant, find_entrants
from evo.play.games import GAME, Player, Roster, Schedule, _play_compiled, _play_in_python
from evo.play.pool import LocalPool
from evo.sessions.progress import RunDisplay, output_console
from evo.storage.run_folder import RunError, open_run
from evo.tournament.arena import arena_tournament, read_arena
from ilp_agent import ProfileError, find_profile
from rivals import (
    AGENTS,
    AgentKind,
    find_agent_profile,
    hearthsim,
    read_agent_profile,
    weight_class,
)
from tests.conftest import BOUNDSCHECK, UNCOMPILED
from tests.evo.runs import TINY, run_new, run_on

compiled = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")
OTHERS = ["hearthsim", "eva", "greedy-ilp"]


def tiny(agent: str) -> RunConfig:
    return TINY.changed(agent=agent, generations=2)


def test_agents_are_entrants_by_name_with_a_usual_profile(tmp_path: Path) -> None:
    for text, profile in (
        ("hearthsim", "standard"),
        ("hearthsim:balanced", "balanced"),
        ("eva", "competition"),
    ):
        entrant = find_entrant(text)
        agent = text.partition(":")[0]
        assert entrant.text == text
        assert entrant.player.compiled
        assert entrant.player.weights == tuple(find_agent_profile(agent, profile).weights.array)
        assert entrant.player.agent().name == agent
    assert (
        find_entrant("greedy-ilp:keep-alive").player.weights == find_entrant("ilp:keep-alive").player.weights
    )
    assert find_entrant("aggro").player.compiled
    own = tmp_path / "mine.toml"
    own.write_text(find_agent_profile("eva", "competition").to_toml().replace("competition", "mine"))
    assert [one.text for one in find_entrants([f"eva:{tmp_path}/*.toml"])[0]] == [f"eva:{own}"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("hearthsim:standart", "unknown profile of hearthsim 'standart'; nearest: standard"),
        ("heartsim", "nearest: hearthsim"),
        ("eva:", "unknown entrant 'eva:'"),
        ("aggro:standard", "unknown entrant 'aggro:standard'"),
        ("eva:nowhere/none.toml", "cannot read profile nowhere/none.toml"),
    ],
)
def test_wrong_rivals_name_the_way_out(text: str, told: str) -> None:
    with pytest.raises(ManaforgeError) as error:
        find_entrant(text)
    assert told in str(error.value)


def test_a_profile_of_another_agent_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "eva.toml"
    path.write_text(find_agent_profile("eva", "competition").to_toml())
    with pytest.raises(ProfileError, match='agent must be "ilp", got .eva.'):
        find_entrant(f"ilp:{path}")
    assert read_agent_profile(path).weights == find_agent_profile("eva", "competition").weights
    path.write_text(path.read_text().replace('"eva"', '"ewa"'))
    with pytest.raises(ProfileError, match="agent: unknown agent 'ewa'; nearest: eva"):
        read_agent_profile(path)


@compiled
def test_turns_that_run_out_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """For hearthsim with 4 nodes a turn, compiled and in Python."""
    monkeypatch.setattr(hearthsim, "BUDGET", 4)
    players = tuple(find_entrant(name).player for name in ("hearthsim", "aggro"))
    table = Roster(players, (find_deck("hearthsim-basic"),), find_ruleset("thesis"))
    seats = np.array([[0, 1], [1, 0], [0, 0], [1, 1]], np.int16)
    schedule = Schedule(seats, np.zeros((4, 2), np.int16), np.arange(4, dtype=np.uint64))
    played = _play_compiled(table, schedule)
    assert (played == _play_in_python(table, schedule)).all()
    assert (played["unproven"] > 0).tolist() == [True, True, True, False]


@compiled
def test_turns_that_run_out_are_counted_with_agents_in_python_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent that reports one after each of its turns, in either seat: the counts of its games."""

    class RunsOut:
        name = "runs-out"
        unproven = 0

        def act(self, view: PlayerView, rng: np.random.Generator) -> Action:
            self.unproven += 1
            return Action.end_turn()

    monkeypatch.setitem(AGENTS, "runs-out", AgentKind("runs-out", RunsOut, "counts its turns"))
    roster = Roster(
        (Player(kind="runs-out"), Player(kind="pass")),
        (find_deck("hearthsim-basic"),),
        find_ruleset("thesis"),
    )
    seats = np.array([[0, 1], [1, 0]], np.int16)
    keys = np.array([1, 2], np.uint64)
    played = _play_in_python(roster, Schedule(seats, np.zeros((2, 2), np.int16), keys))
    # It acts once in each round, except the last if the opponent's fatigue ends the game first.
    assert (np.isin(played["turns"] - played["unproven"], [0, 1])).all()


@compiled
def test_games_without_a_proof_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The batch's count of unproven turns goes into the game's record."""
    aggro = AGENTS["aggro"]

    def unproven(*arguments: np.ndarray) -> None:
        aggro.play_batch()(*arguments)
        arguments[-1]["unproven"] += 2

    monkeypatch.setitem(AGENTS, "aggro", replace(aggro, batch=unproven))
    table = Roster((Player(kind="aggro"),), (find_deck("hearthsim-basic"),), find_ruleset("thesis"))
    nobody = np.zeros((3, 2), np.int16)
    played = _play_compiled(table, Schedule(nobody, nobody, np.arange(3, dtype=np.uint64)))
    assert played.dtype == GAME
    assert (played["unproven"] == 2).all()


@compiled
@pytest.mark.parametrize("agent", OTHERS)
def test_any_agent_evolves_resumes_and_exports(agent: str, tmp_path: Path) -> None:
    whole = run_new(tmp_path / "whole", tiny(agent))
    run_new(tmp_path / "part", tiny(agent).changed(generations=1))
    with open_run(tmp_path / "part") as folder:
        extend_run(folder, 2)
    assert run_on(tmp_path / "part") == whole
    names = weight_class(agent).names()
    runs = read_runs([tmp_path / "whole"])
    assert names_of(runs.individuals) == [name for name in names if name not in runs.inert_weights]
    assert (tmp_path / "whole" / "champion.toml").read_text().count("=") > len(names)
    profile = best_profiles(tmp_path / "whole")[0]
    assert profile.weights.AGENT == weight_class(agent).AGENT
    assert find_entrant(f"{agent}:{tmp_path / 'whole'}").player.weights == tuple(profile.weights.array)
    write_profiles(cluster_profiles([tmp_path / "whole"]), tmp_path / "groups")
    wrong = "evolved greedy-ilp; play its champion as" if agent == "greedy-ilp" else "agent must be"
    with pytest.raises(ManaforgeError, match=wrong):
        find_entrant(f"ilp:{tmp_path / 'whole'}")
    if agent == "greedy-ilp":  # its weights have the same names as ilp's, so the files name the agent
        for file in (tmp_path / "whole" / "champion.toml", *(tmp_path / "groups").glob("*.toml")):
            assert find_entrant(f"greedy-ilp:{file}").player.kind == "greedy-ilp"
            with pytest.raises(ManaforgeError, match="was evolved for greedy-ilp; play it as greedy-ilp:"):
                find_entrant(f"ilp:{file}")
        alone = tmp_path / "alone"
        alone.mkdir()
        shutil.copy(tmp_path / "whole" / "champion.toml", alone)
        assert find_entrant(f"greedy-ilp:{alone}").player.kind == "greedy-ilp"
        with pytest.raises(ManaforgeError, match="evolved greedy-ilp; play its champion as greedy-ilp:"):
            find_entrant(f"ilp:{alone}")
    run_new(tmp_path / "ilp", TINY.changed(generations=0, final={"games": 0, "benchmark_games": 0}))
    assert [one.player.kind for one in find_entrants([f"ilp:{tmp_path}/*"])[0]] == ["ilp"]


@compiled
@pytest.mark.heavy
def test_a_report_of_twenty_one_weights(tmp_path: Path) -> None:
    run_new(tmp_path / "eva", tiny("eva"))
    pool = LocalPool(1)
    page = make_report(read_runs([tmp_path / "eva"]), [tmp_path / "eva"], pool.play).decode()
    pool.close()
    assert "w9 to w21" in page
    assert "divine_shield" in page
    run_new(tmp_path / "ilp", TINY.changed(generations=0, final={"games": 0, "benchmark_games": 0}))
    with pytest.raises(RunError, match="different agents \\(eva, ilp\\)"):
        read_runs([tmp_path / "eva", tmp_path / "ilp"])


@compiled
def test_the_display_tells_whose_weights_evolve(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from evo.evolution.session import new_manifest
    from evo.storage.run_folder import create_run

    config = tiny("eva").changed(final={"games": 0, "benchmark_games": 0})
    display, pool = RunDisplay(output_console()), LocalPool(1)
    with create_run(tmp_path / "run", config, new_manifest(config)) as folder:
        begin_session(folder, pool)
        evolve(folder, pool, display)
    pool.close()
    assert "eva, strategy es, 3 + 3, of 2 generations" in capsys.readouterr().out


def test_only_ilp_has_other_solvers() -> None:
    with pytest.raises(ConfigError, match='backend "highs" is for agent "ilp"; "eva" has no backend'):
        tiny("eva").changed(backend="highs")


@compiled
def test_a_sweep_and_an_arena_as_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, since each new one costs seconds."""
    monkeypatch.chdir(tmp_path)
    words = "sweep hearthsim --weight aggressiveness --values 0.5,1 --against hearthsim:standard --out s"
    options = "--ruleset hearthsim --decks random-minions --seats fixed --games 30"
    done = CliRunner().invoke(app, f"{words} {options}".split())
    assert done.exit_code == 0, done.output
    curve = pd.read_csv("s/sweep.csv")
    columns = ["weight", "value", "games", "wins", "losses", "draws", "win_rate", "low", "high"]
    assert list(curve.columns) == columns
    assert curve["value"].tolist() == [0.5, 1.0]
    assert (curve["games"] == 30).all()
    assert (curve["wins"] + curve["losses"] + curve["draws"] == 30).all()
    assert Path("s/sweep.png").read_bytes().startswith(b"\x89PNG")
    # The second value is the standard against itself, going first: the same games as in a tournament.
    text = "tournament hearthsim:standard hearthsim:standard --out t --games 30 --seats fixed"
    again = CliRunner().invoke(app, f"{text} --ruleset hearthsim --decks random-minions".split())
    assert again.exit_code == 0, again.output
    assert pd.read_csv("t/results.csv")["first_wins"].tolist() == [curve["wins"].iloc[1]]
    champion = find_profile("value-trading").to_toml()
    Path("mine.toml").write_text(champion)
    Path("arena.toml").write_text(
        'schema = 1\nchampion = "ilp:mine.toml"\nentrants = ["aggro", "hearthsim", "eva"]\n'
        'decks = ["thesis-paladin", "random-minions"]\ngames = 32\nruleset = "hearthsim"\n'
    )
    done = CliRunner().invoke(app, ["arena", "./arena.toml", "--out", "a", "--games", "7"])
    assert done.exit_code == 0, done.output
    assert "champion against" in done.output
    assert "beats " in done.output
    assert len(pd.read_parquet("a/games.parquet")) == 6 * 8, "two for each of four pairs of decks"
    assert json.loads(Path("a/tournament.json").read_text())["ruleset"] == "hearthsim"
    page = Path("a/tournament.html").read_text()
    assert "<h1>Arena of 4 with" in page
    verdict = re.search(r"<li>The champion beats (\d) of 3 entrants and loses to (\d); (\d) undecided", page)
    assert verdict is not None
    assert sum(map(int, verdict.groups())) == 3
    assert page.index('<h2 id="the-champion-against-each">') < page.index('<h2 id="ratings">')
    assert [page.count(f">{word}</td>") for word in ("beaten", "lost to", "undecided")] == [
        int(count) for count in verdict.groups()
    ]
    shutil.rmtree("a")
    assert "8 games a pairing instead of 7: both seats of each of the 4 ordered pairs" in done.output
    other = CliRunner().invoke(
        app, ["arena", "./arena.toml", "--out", "b", "--games", "2", "--decks", "hearthsim-basic"]
    )
    assert "decks: hearthsim-basic; --decks takes others" in other.output
    command = json.loads(Path("b/summary.json").read_text())["command"]
    assert command == "manaforge arena ./arena.toml --games 2 --decks hearthsim-basic"
    refused = CliRunner().invoke(app, ["arena", "./arena.toml", "--champion", "aggro"])
    assert "the champion aggro is also among the other entrants" in str(refused.exception)


def test_paths_of_an_arena_start_from_its_file(tmp_path: Path) -> None:
    """Files, globs and decks, with a solver or without; they keep the names they have in the file."""
    for name in ("keep-alive", "value-trading", "true-balanced"):
        (tmp_path / "p" / "more").mkdir(parents=True, exist_ok=True)
        place = tmp_path / "p" / ("more" if name != "keep-alive" else "") / f"{name}.toml"
        place.write_text(find_profile(name).to_toml())
    deck = find_deck("thesis-paladin")
    source = Path(find_deck.__code__.co_filename).parent / "data" / "decks" / "thesis-paladin.toml"
    (tmp_path / "deck.toml").write_text(source.read_text())
    (tmp_path / "arena.toml").write_text(
        'schema = 1\nchampion = "ilp:p/keep-alive.toml@highs"\n'
        'entrants = ["ilp:p/more/*.toml", "greedy-ilp:p/keep-alive.toml"]\ndecks = ["deck.toml"]\n'
    )
    tournament = arena_tournament(read_arena(str(tmp_path / "arena.toml")), "", 0, 1, "")
    names = [one.text for one in tournament.entrants]
    others = ["ilp:p/more/true-balanced.toml", "ilp:p/more/value-trading.toml"]
    assert names == ["champion", *others, "greedy-ilp:p/keep-alive.toml"]
    assert tournament.entrants[0].player.backend == "highs"
    assert tournament.decks[0].cards == deck.cards


def test_an_arena_of_overlapping_globs_and_odd_folders(tmp_path: Path) -> None:
    """Each profile plays once, named by its path from the file; folders may have any name."""
    folder = tmp_path / "ar[1]"
    for place, name in (("a", "keep-alive"), ("b", "value-trading"), ("at@home", "board-clear")):
        (folder / place).mkdir(parents=True)
        (folder / place / "mine.toml").write_text(replace(find_profile(name), name="mine").to_toml())

    def entrants(*texts: str) -> list[str]:
        listed = ", ".join(f'"{text}"' for text in texts)
        (folder / "arena.toml").write_text(
            f'schema = 1\nchampion = "aggro"\nentrants = [{listed}]\ndecks = ["random-minions"]\n'
        )
        tournament = arena_tournament(read_arena(str(folder / "arena.toml")), "", 0, 1, "")
        return [one.text for one in tournament.entrants[1:]]

    assert entrants("ilp:a/*.toml", "ilp:a/m*.toml") == ["ilp:a/mine.toml"]
    assert entrants("ilp:a/*.toml", "ilp:b/*.toml") == ["ilp:a/mine.toml", "ilp:b/mine.toml"]
    assert entrants("ilp:at@home/mine.toml", "eva") == ["ilp:at@home/mine.toml", "eva"]
    for wrong in ("ilp:x**/y.toml", "ilp:./", "ilp:a/none.toml", "nobody"):
        with pytest.raises(ManaforgeError):
            entrants(wrong)


def test_a_wrong_arena_names_the_key(tmp_path: Path) -> None:
    file = tmp_path / "arena.toml"
    for content, told in (
        ("schema = 1", "champion is missing"),
        ("schema = 2", "schema must be 1;"),
        ("x", "is not a TOML file"),
    ):
        file.write_text(content)
        done = CliRunner().invoke(app, ["arena", str(file)])
        assert told in str(done.exception)
    assert "cannot read arena" in str(CliRunner().invoke(app, ["arena", "none.toml"]).exception)
