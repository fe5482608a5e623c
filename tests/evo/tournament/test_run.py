"""Matchups as numbered games, standings against a plain count, the folder, the loop: kill, resume, stop early."""

import errno
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import Action, PlayerView, find_deck, find_ruleset
from evo.play.entrants import find_entrants
from evo.play.games import GAME, Fault
from evo.play.matchups import Matchups, games_table, make_pairings
from evo.play.pool import InterruptedRunError, LocalPool
from evo.stats.sequential import Sprt
from evo.stats.standings import standings
from evo.tournament.folder import TournamentError, TournamentFolder, deck_identity, open_tournament
from evo.tournament.reading import read_tournament, tournament_to_replay
from evo.tournament.report import fault_warnings
from evo.tournament.run import Tournament, find_faults, play_missing
from rivals import AGENTS, AgentKind
from tests.conftest import BOUNDSCHECK, UNCOMPILED

compiled = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")

DECKS = ("thesis-paladin", "thesis-warrior")


def matchups_of(
    seats: str, n: int = 3, games: int = 4, self_play: tuple[int, ...] = (), decks: int = 2
) -> Matchups:
    return Matchups(make_pairings(n, "round-robin", self_play), decks, games, 7, (6,), seats)  # type: ignore[arg-type]


def made_up(matchups: Matchups, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    played = np.zeros(len(matchups), GAME)
    played["outcome"] = rng.choice([1, 2, 3], len(played), p=[0.55, 0.35, 0.1])
    played["turns"] = rng.integers(5, 30, len(played))
    played["fault"] = rng.choice([0, 0, 0, 1, 2], len(played)) * (played["outcome"] != 3)
    return played


@pytest.mark.parametrize("seats", ["paired", "fixed"])
@pytest.mark.parametrize("self_play", [(), (0, 2)])
def test_any_part_of_the_schedule_is_that_part_of_the_whole(seats: str, self_play: tuple[int, ...]) -> None:
    matchups = matchups_of(seats, self_play=self_play)
    whole, setup = matchups.schedule(0, len(matchups))
    assert len(whole) == len(matchups)
    for start, stop in ((0, 0), (3, 3), (0, 5), (7, 21), (len(matchups) - 1, len(matchups))):
        part, numbers = matchups.schedule(start, stop)
        for name in ("players", "decks", "keys"):
            assert (getattr(part, name) == getattr(whole, name)[start:stop]).all()
        assert (numbers == setup[start:stop]).all()
    longer, _ = matchups_of(seats, self_play=self_play, games=8).schedule(0, len(matchups))
    assert (longer.keys == whole.keys).all()


def cells(matchups: Matchups, by_seat: bool) -> Counter[tuple[int, ...]]:
    """Games by entrants and decks: in the order of seats, or of entrants."""
    schedule, _ = matchups.schedule(0, len(matchups))
    found: Counter[tuple[int, ...]] = Counter()
    for (first, second), (one, two) in zip(schedule.players.tolist(), schedule.decks.tolist(), strict=True):
        swap = not by_seat and (first > second)
        found[(second, first, two, one) if swap else (first, second, one, two)] += 1
    return found


def test_paired_cells() -> None:
    """3 entrants, 2 decks, 4 games: each two and each ordered pair of decks 4 games, half of them going first."""
    matchups = matchups_of("paired")
    assert set(cells(matchups, by_seat=False).values()) == {4}
    assert len(cells(matchups, by_seat=False)) == 3 * 4
    assert set(cells(matchups, by_seat=True).values()) == {2}
    schedule, setup = matchups.schedule(0, len(matchups))
    pairs = pd.DataFrame({"setup": setup, "key": schedule.keys, "low": schedule.players.min(axis=1)})
    pairs["high"] = schedule.players.max(axis=1)
    assert (pairs.groupby("setup")["key"].nunique() == 1).all()
    assert (pairs.groupby(["setup", "low", "high"]).size() == 2).all()


def test_fixed_cells() -> None:
    """Every ordered pair, self-play included; the first deck goes first; the same deals in all cells."""
    matchups = matchups_of("fixed", self_play=(0, 1, 2), games=5)
    found = cells(matchups, by_seat=True)
    assert found == {(i, j, 0, 1): 5 for i in range(3) for j in range(3)}
    schedule, setup = matchups.schedule(0, len(matchups))
    for number in range(5):
        assert len(set(schedule.keys[setup == number].tolist())) == 1
    assert set(cells(matchups_of("fixed", decks=1), by_seat=True)) == {
        (i, j, 0, 0) for i in range(3) for j in range(3) if i != j
    }


def test_against_itself_no_game_is_played_twice() -> None:
    """Exchanging an entrant with itself changes nothing, so the twin has its own deal."""
    for seats in ("paired", "fixed"):
        matchups = Matchups(make_pairings(1, "round-robin", (0,)), 2, 6, 7, (6,), seats)  # type: ignore[arg-type]
        schedule, _ = matchups.schedule(0, len(matchups))
        assert len(set(schedule.keys.tolist())) == len(matchups) == (24 if seats == "paired" else 6)
    without, those = matchups_of("paired"), matchups_of("paired", self_play=(1,))
    others, with_self = without.schedule(0, len(without))[0], those.schedule(0, len(those))[0]
    assert set(others.keys.tolist()) <= set(with_self.keys.tolist())


def test_a_gauntlet_is_the_first_against_the_others() -> None:
    assert make_pairings(4, "gauntlet", ()).tolist() == [[0, 1], [0, 2], [0, 3]]
    assert make_pairings(3, "round-robin", (2, 0)).tolist() == [[0, 1], [0, 2], [1, 2], [0, 0], [2, 2]]


def tournament(*texts: str, games: int = 6, **values: object) -> Tournament:
    entrants, self_play = find_entrants(texts)
    options: dict[str, object] = {"decks": DECKS} | values
    decks = tuple(find_deck(str(name)) for name in options.pop("decks"))  # type: ignore[attr-defined]
    return Tournament(
        tuple(entrants), frozenset(self_play), decks, DECKS, find_ruleset("thesis"), games=games, **options
    )  # type: ignore[arg-type]


THREE = ("ilp:keep-alive", "ilp:aggro-face", "ilp:aggro-tempo")


def run(
    made: Tournament, path: Path, advance: Callable[[int], None] = lambda _: None, workers: int = 1
) -> tuple[np.ndarray, str]:
    pool = LocalPool(workers)
    try:
        with open_tournament(path, made.definition, made.ruleset, len(made.matchups)) as folder:
            verdict = play_missing(made, folder, pool, advance)
            played = folder.played
            names = [deck.name for deck in made.decks]
            folder.finish(games_table(made.matchups, played, made.names, names))
            return played, verdict
    finally:
        pool.close()


def stop_after(games: int) -> Callable[[int], None]:
    left = games

    def advance(finished: int) -> None:
        nonlocal left
        left -= finished
        if left <= 0:
            raise InterruptedRunError(2)

    return advance


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evo.tournament.run.SAVE_SECONDS", 0.003)
    monkeypatch.setattr("evo.tournament.run.FIRST_BATCH", 20)


@compiled
@pytest.mark.parametrize("seats", ["paired", "fixed"])
def test_stopped_anywhere_and_run_again_plays_the_same_games(
    seats: str, tmp_path: Path, small_batches: None
) -> None:
    made = tournament(*THREE, games=40, seats=seats)
    whole, _ = run(made, tmp_path / "whole", workers=2)
    assert len(whole) == len(made.matchups)
    for moment in (1, 30, 100, 170):
        path = tmp_path / str(moment)
        with pytest.raises(InterruptedRunError):
            run(made, path, stop_after(moment))
        again, _ = run(made, path)
        assert (again == whole).all()
        assert (path / "games.parquet").read_bytes() == (tmp_path / "whole" / "games.parquet").read_bytes()
        assert not list((path / "batches").iterdir())


@compiled
def test_run_again_plays_nothing_and_more_games_go_on(tmp_path: Path) -> None:
    few, many = tournament(*THREE, games=4), tournament(*THREE, games=8)
    before, _ = run(few, tmp_path)
    again, _ = run(few, tmp_path, stop_after(0))
    assert (again == before).all()
    after, _ = run(many, tmp_path)
    assert (after[: len(before)] == before).all()
    fresh, _ = run(many, tmp_path / "fresh")
    assert (after == fresh).all()
    with pytest.raises(TournamentError, match="use the former --games or more"):
        run(few, tmp_path)
    # Games that were asked for but never played do not matter.
    huge = tournament(*THREE, games=800)
    with open_tournament(tmp_path, huge.definition, huge.ruleset, len(huge.matchups)):
        pass
    assert (run(many, tmp_path)[0] == after).all()


@pytest.fixture(scope="module")
def forty(tmp_path_factory: pytest.TempPathFactory) -> tuple[np.ndarray, Path]:
    """The games of a finished tournament of forty games a pairing, and its folder."""
    path = tmp_path_factory.mktemp("tournament") / "whole"
    return run(tournament(*THREE, games=40), path)[0], path


@compiled
@pytest.mark.parametrize("damage", ["cut", "flip", "gone", "junk"])
@pytest.mark.parametrize("finished", [True, False])
def test_damage_is_named_set_aside_and_played_again(
    damage: str, finished: bool, forty: tuple[np.ndarray, Path], tmp_path: Path, small_batches: None
) -> None:
    made = tournament(*THREE, games=40)
    whole, folder_of_whole = forty
    path = tmp_path / "damaged"
    if finished:
        shutil.copytree(folder_of_whole, path)
        victim = path / "games.parquet"
    else:
        with pytest.raises(InterruptedRunError):
            run(made, path, stop_after(200))
        batches = sorted((path / "batches").iterdir())
        assert len(batches) > 2
        victim = batches[1]
    content = victim.read_bytes()
    if damage == "cut":
        victim.write_bytes(content[: len(content) // 2])
    elif damage == "flip":
        victim.write_bytes(content[:30] + bytes([content[30] ^ 8]) + content[31:])
    elif damage == "junk":
        victim.write_bytes(b"junk")
    else:
        victim.unlink()
    with open_tournament(path, made.definition, made.ruleset, len(made.matchups)) as folder:
        problems = folder.problems
    if damage != "gone":
        assert victim.name in problems[0]
        assert "set aside" in problems[0]
    if not finished:
        assert any("follows games that are missing" in problem for problem in problems)
    again, _ = run(made, path)
    assert (again == whole).all()


@compiled
def test_full_disk_keeps_what_was_saved(
    forty: tuple[np.ndarray, Path], tmp_path: Path, small_batches: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tournament(*THREE, games=40)
    whole, _ = forty
    real, calls = os.fsync, 0

    def full(handle: int) -> None:
        nonlocal calls
        calls += 1
        if calls > 6:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(TournamentError, match="No space left on device; .* games are safe"):
            run(made, tmp_path / "full")
    assert not list((tmp_path / "full").glob("*.tmp"))
    again, _ = run(made, tmp_path / "full")
    assert (again == whole).all()


def test_a_folder_of_games_under_earlier_effects_is_named(tmp_path: Path) -> None:
    for names, told in (
        (("basic-mage", "basic-hunter"), "was played under effects 1, and this version plays effects 2"),
        (("basic-mage", "thesis-paladin"), "was played under effects 1, and this version plays effects 2"),
        (DECKS, r"holds another tournament, which differs in seed"),
    ):
        made = tournament(*THREE, decks=names)
        most, path = len(made.matchups), tmp_path / "-".join(names)
        before = made.definition | {
            "decks": [deck_identity(deck, effects=1) for deck in made.decks],
            "seed": 9,
        }
        with open_tournament(path, before, made.ruleset, most):
            pass
        with pytest.raises(TournamentError, match=told):
            open_tournament(path, made.definition, made.ruleset, most, made.decks)


def test_a_folder_of_games_by_another_version_of_an_agent_is_named(tmp_path: Path) -> None:
    made = tournament("hearthsim", "aggro")
    assert [one.get("version") for one in made.definition["entrants"]] == [2, None]
    before = json.loads(json.dumps(made.definition))
    del before["entrants"][0]["version"]
    with open_tournament(tmp_path / "one", before, made.ruleset, len(made.matchups)):
        pass
    told = "was played under version 1 of hearthsim, and this manaforge plays version 2; choose another --out"
    with pytest.raises(TournamentError, match=told):
        open_tournament(tmp_path / "one", made.definition, made.ruleset, len(made.matchups), made.decks)
    record = read_tournament(tmp_path / "one")
    with pytest.raises(TournamentError, match="the tournament was played under version 1 of hearthsim"):
        tournament_to_replay(record)


def test_the_turn_program_has_another_version_on_real_cards_alone(tmp_path: Path) -> None:
    bodies, cards = (
        tournament("ilp:true-balanced", "aggro"),
        tournament("ilp:true-balanced", "aggro", decks=("basic-mage", "basic-hunter")),
    )
    assert [one.get("version") for one in bodies.definition["entrants"]] == [None, None]
    assert [one.get("version") for one in cards.definition["entrants"]] == [2, None]
    before = json.loads(json.dumps(cards.definition))
    del before["entrants"][0]["version"]
    with open_tournament(tmp_path / "one", before, cards.ruleset, len(cards.matchups)):
        pass
    with pytest.raises(TournamentError, match="was played under version 1 of ilp, and this manaforge plays"):
        open_tournament(tmp_path / "one", cards.definition, cards.ruleset, len(cards.matchups), cards.decks)
    with pytest.raises(TournamentError, match="the tournament was played under version 1 of ilp"):
        tournament_to_replay(read_tournament(tmp_path / "one"))


@compiled
def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    made = tournament(*THREE)
    run(made, tmp_path / "one")
    for other, what in (
        (tournament(*THREE[:2]), "entrants"),
        (tournament(*THREE, seed=2), "seed"),
        (tournament(*THREE, decks=("hearthsim-basic",)), "decks"),
        (tournament(*THREE, seats="fixed"), "self_matches, seats"),
    ):
        with pytest.raises(TournamentError, match=rf"holds another tournament, which differs in {what};"):
            run(other, tmp_path / "one")
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "thesis.txt").write_text("precious")
    with pytest.raises(TournamentError, match="is neither empty nor a tournament"):
        run(made, tmp_path / "two")
    (tmp_path / "three").write_text("")
    with pytest.raises(TournamentError, match="is a file"):
        run(made, tmp_path / "three")
    folder = open_tournament(tmp_path / "one", made.definition, made.ruleset, len(made.matchups))
    with folder, pytest.raises(TournamentError, match="in use by another process"):
        run(made, tmp_path / "one")
    about = tmp_path / "one" / "tournament.json"
    about.write_text(about.read_text().replace('"schema": 1', '"schema": 9'))
    with pytest.raises(TournamentError, match="has schema 9; this version reads schema 1"):
        run(made, tmp_path / "one")
    about.write_text("{")
    with pytest.raises(TournamentError, match="is damaged"):
        run(made, tmp_path / "one")


@compiled
def test_one_profile_twice_is_even(tmp_path: Path) -> None:
    """Twins cancel out: no difference at all; both go first equally often and win equally often then."""
    from ilp_agent import find_profile

    copy = tmp_path / "copy.toml"
    copy.write_text(find_profile("keep-alive").to_toml())
    made = tournament("ilp:keep-alive", f"ilp:{copy}", "ilp:aggro-face", games=20)
    played, _ = run(made, tmp_path / "out")
    read = standings(games_table(made.matchups, played, made.names, list(DECKS)))
    met = read.matchups.iloc[0]
    assert (met["entrant"], met["opponent"], met["score"]) == ("ilp:keep-alive", f"ilp:{copy}", 0.5)
    assert met["pairs_1"] == met["games"] / 2
    assert met["elo_low"] <= 0 <= met["elo_high"]
    ratings = read.ratings.set_index("entrant")["rating"]
    assert ratings["ilp:keep-alive"] == pytest.approx(ratings[f"ilp:{copy}"], abs=1e-6)
    rows = read.results.set_index(["first", "second"])
    assert (
        rows.loc[("ilp:keep-alive", f"ilp:{copy}"), "first_wins"]
        == (rows.loc[(f"ilp:{copy}", "ilp:keep-alive"), "first_wins"])
    )


@compiled
def test_sequential_test_stops_at_the_same_pair_whatever_the_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tournament("ilp:keep-alive", "ilp:aggro-tempo", games=400, sprt=Sprt(0, 30))
    played, verdict = run(made, tmp_path / "one")
    assert verdict == "elo1"
    assert 4 < len(played) < len(made.matchups) / 2
    monkeypatch.setattr("evo.tournament.run.FIRST_BATCH", 3)
    monkeypatch.setattr("evo.tournament.run.SAVE_SECONDS", 0.001)
    with pytest.raises(InterruptedRunError):
        run(made, tmp_path / "two", stop_after(6))
    again, same = run(made, tmp_path / "two")
    assert (again == played).all()
    assert same == verdict
    assert run(made, tmp_path / "two", stop_after(0))[1] == verdict
    # For equal entrants it accepts elo0.
    even = tournament("ilp:keep-alive", "ilp:keep-alive@exact", games=400, sprt=Sprt(0, 30))
    assert run(even, tmp_path / "even")[1] == "elo0"


class Crashing:
    name = "crashing"

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:
        if view.turn == 2:
            raise RuntimeError("out of cards")
        return Action.end_turn()


class Illegal:
    name = "illegal"

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:
        return Action.attack(6, 6)


@compiled
def test_faults_are_lost_counted_apart_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(AGENTS, "crashing", AgentKind("crashing", Crashing, "raises"))
    monkeypatch.setitem(AGENTS, "illegal", AgentKind("illegal", Illegal, "cheats"))
    made = tournament("ilp:keep-alive", "crashing", "illegal", "pass", games=2)
    played, _ = run(made, tmp_path)
    games = games_table(made.matchups, played, made.names, list(DECKS))
    ratings = standings(games).ratings.set_index("entrant")
    # "illegal" loses its 24 games at once; "crashing" its second turn against the two others.
    assert ratings.loc["illegal", "illegal_actions"] == ratings.loc["illegal", "losses"] == 24
    assert ratings.loc["crashing", "agent_errors"] == 16
    assert ratings.loc[["ilp:keep-alive", "pass"], ["illegal_actions", "agent_errors"]].sum().sum() == 0
    assert set(games["fault"]) == {"", "illegal action", "agent error"}
    told = find_faults(made, played)
    assert [(one["entrant"], one["fault"], one["games"]) for one in told] == [
        ("crashing", "agent error", 16),
        ("illegal", "illegal action", 24),
    ]
    for one in told:
        assert games["fault"].iloc[one["number"]] == one["fault"]
        assert not (games["fault"].iloc[: one["number"]] == one["fault"]).any()
        assert f"the first, game {one['number']}: " in fault_warnings({"faults": [one]})[0]
    assert "out of cards" in told[0]["first"]
    assert "attack" in told[1]["first"]
    assert [int(fault) for fault in Fault] == list(range(6))  # files keep the numbers


def test_what_makes_no_tournament() -> None:
    for texts, values, message in (
        (("random",), {}, "needs two entrants, got random; name another, or name the same entrant twice"),
        (("random", "pass"), {"decks": ()}, "needs decks"),
        (("random", "pass"), {"games": 5}, "--games must be even"),
        (("random", "pass"), {"decks": ("hearthsim-basic",) * 2}, "two decks with the same name"),
        (
            ("random", "pass"),
            {"decks": (*DECKS, "random-minions"), "seats": "fixed"},
            "takes one deck for both",
        ),
        (("random", "random"), {"sprt": Sprt()}, "--sprt needs exactly two different entrants"),
    ):
        with pytest.raises(TournamentError, match=message):
            tournament(*texts, **values)  # type: ignore[arg-type]
    assert tournament("random", "pass", games=5, seats="fixed").games == 5


def test_the_command_repeats_the_tournament() -> None:
    made = tournament("random", "random", "pass", games=8, style="gauntlet", seed=3)
    assert made.command == (
        "manaforge tournament random random pass --decks thesis-paladin,thesis-warrior --games 8 "
        "--ruleset thesis --format gauntlet --seed 3"
    )
    assert TournamentFolder(Path("x")).played.dtype == GAME
