"""Sweeps of a deck: who holds what, the same games compiled and in Python, folders, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from engine import Deck, find_deck, find_ruleset
from engine.batches import deal_games
from engine.codes import KEYWORD_FIELDS
from engine.decks import cached_card_table
from engine.effect_codes import CardKind
from engine.state import STATE
from evo.cli.main import app
from evo.play.entrants import find_entrant
from evo.play.games import Fault, _play_compiled, _play_in_python
from evo.play.notation import Seats
from evo.play.pool import LocalPool
from evo.tournament.run import Tournament, play_games
from evo.tournament.sweep import (
    SweepError,
    Variants,
    added_cards,
    body_card_notes,
    find_keyword,
    find_sweep_card,
    vary_card,
    vary_keyword,
)
from rivals import AGENTS
from tests.conftest import BOUNDSCHECK, UNCOMPILED

compiled = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")

SMITE = "Holy Smite"


def sweep_of(
    variants: Variants,
    decks: tuple[Deck, ...],
    seats: Seats = "paired",
    games: int = 4,
    against: str = "aggro",
) -> Tournament:
    return Tournament(
        entrants=(*variants.entrants, find_entrant(against)),
        self_play=frozenset(),
        decks=decks,
        deck_names=tuple(deck.name for deck in decks),
        ruleset=find_ruleset("thesis"),
        games=games,
        seats=seats,
        style="sweep",
        origin=lambda _: "",
        own_decks=(*variants.decks, ()),
    )


def vary(
    entrant: str, thing: str, values: tuple[float, ...], decks: tuple[Deck, ...], n_held: int = 9
) -> Variants:
    if thing in KEYWORD_FIELDS:
        return vary_keyword(find_entrant(entrant), thing, values, decks, n_held)
    return vary_card(find_entrant(entrant), thing, values, decks, n_held)


def counted(tournament: Tournament, thing: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each game and seat: the player, how many of the cards dealt have it, and the ids of all cards dealt."""
    games = tournament.with_own_decks(tournament.matchups.schedule(0, len(tournament.matchups))[0])
    roster = tournament.roster
    table, decks = cached_card_table(roster.decks)
    states = np.zeros(len(games), STATE)
    deal_games(table.array, decks, roster.ruleset.array, games.decks, games.keys, states)
    sides = states["sides"]
    counts = np.zeros(games.players.shape, int)
    names = np.zeros(games.players.shape, object)
    for game, seat in np.ndindex(*counts.shape):
        side = sides[game, seat]
        numbers = [*side["deck"][: side["n_deck"]], *side["hand"][: side["n_hand"]]]
        cards = [table.cards[number] for number in numbers if number >= 0]
        assert len(cards) == 30
        names[game, seat] = [card.name for card in cards]
        counts[game, seat] = sum(
            getattr(card.spec, thing) if thing in KEYWORD_FIELDS else card.name == thing for card in cards
        )
    return games.players, counts, names


@pytest.mark.parametrize("thing", [SMITE, "taunt"])
@pytest.mark.parametrize("seats", ["paired", "first"])
def test_only_the_swept_entrant_holds_the_varied_deck(thing: str, seats: Seats) -> None:
    """In every game, twins included; the opponent holds what it holds in the sweep's other games of the deal."""
    decks = (find_deck("random-minions"), find_deck("basic-paladin"))
    values = (0, 2, 5)
    variants = vary("hearthsim", thing, values, decks, 2 if seats == "paired" else 1)
    tournament = sweep_of(variants, decks, seats)
    players, counts, names = counted(tournament, thing)
    own = sum(getattr(card.spec, thing, False) for card in decks[1].cards)
    swept = players < len(values)
    assert (counts[swept] == np.array(values)[players[swept]]).all()
    assert set(counts[~swept]) == ({own} if seats == "first" else {0, own})
    _, setups = tournament.matchups.schedule(0, len(players))
    for setup in np.unique(setups):
        for seat in (0, 1):
            theirs = (setups == setup) & ~swept[:, seat]
            assert all(one == names[theirs, seat][0] for one in names[theirs, seat])


def test_all_values_play_the_same_deals() -> None:
    decks = (find_deck("hearthsim-basic"),)
    players, _, names = counted(sweep_of(vary("hearthsim", SMITE, (0, 3, 4), decks), decks), SMITE)
    hands = {
        player: [names[game, seat] for game, seat in np.argwhere(players == player)] for player in (0, 1, 2)
    }
    for none, three, four in zip(*hands.values(), strict=True):
        changed = [{place for place in range(30) if one[place] != none[place]} for one in (three, four)]
        assert [len(places) for places in changed] == [3, 4]
        assert changed[0] < changed[1]


@compiled
@pytest.mark.parametrize(
    ("entrant", "thing", "against"),
    [
        ("hearthsim", SMITE, "aggro"),
        ("eva", "Novice Engineer", "hearthsim"),
        ("hearthsim", "divine_shield", "ilp:keep-alive"),
        ("aggro", "Fiery War Axe", "greedy-ilp"),
    ],
)
def test_compiled_games_are_those_in_python(entrant: str, thing: str, against: str) -> None:
    decks = (find_deck("random-minions"), find_deck("hearthsim-basic"))
    tournament = sweep_of(vary(entrant, thing, (0, 6), decks), decks, against=against)
    games = tournament.with_own_decks(tournament.matchups.schedule(0, 24)[0])
    first, second = (play(tournament.roster, games) for play in (_play_compiled, _play_in_python))
    assert (first == second).all()
    assert not first["fault"].any()
    parts = [slice(0, 7), slice(7, 24)]
    assert (
        np.concatenate([_play_compiled(tournament.roster, games.select(part)) for part in parts]) == first
    ).all()


@compiled
def test_an_agent_in_python_plays_them_too() -> None:
    decks = (find_deck("random-minions"),)
    tournament = sweep_of(vary("random", SMITE, (0, 8), decks), decks, against="aggro", games=10)
    games = tournament.with_own_decks(tournament.matchups.schedule(0, 40)[0])
    played = play_games(tournament.roster, games, LocalPool(2), lambda _: None, lambda _: None)
    assert (played["fault"] == Fault.NONE).all()
    assert (played == _play_in_python(tournament.roster, games)).all()


def test_what_is_put_in_is_part_of_what_a_tournament_is() -> None:
    """The card, the number, the edition's numbers and the keyword; a sweep without is what it was."""
    decks = (find_deck("random-minions"),)
    who = find_entrant("hearthsim")
    made = [
        vary("hearthsim", thing, (value,), decks)
        for thing, value in ((SMITE, 1), (SMITE, 2), ("Moonfire", 1), ("taunt", 1), ("charge", 1))
    ]
    made.append(vary_card(who, "Fiery War Axe", (1,), decks, 1, "2018-07"))
    made.append(vary_card(who, "Fiery War Axe", (1,), decks, 1, "newest"))
    assert len({sweep_of(one, decks).digest for one in made}) == len(made)
    renamed = [replace(one, entrants=(replace(one.entrants[0], text="same"),)) for one in made]
    assert len({sweep_of(one, decks).digest for one in renamed}) == len(made)
    plain = replace(made[0], decks=((),))
    assert "varied" not in sweep_of(plain, decks).definition["entrants"][0]


def test_the_own_value_is_what_the_deck_has() -> None:
    basic, rager, random = (
        find_deck(name) for name in ("hearthsim-basic", "hearthsim-rager", "random-minions")
    )
    assert vary("hearthsim", "divine_shield", (0, 1), (basic,)).usual == 2
    assert vary("hearthsim", "divine_shield", (0, 1), (basic, rager)).usual is None
    assert vary("hearthsim", "divine_shield", (0, 1), (basic, rager), 1).usual == 2
    assert vary("hearthsim", SMITE, (0, 1), (random, basic)).usual == 0
    assert vary("hearthsim", "Magma Rager", (0, 1), (rager,)).usual == 2


def test_a_card_comes_from_the_edition_of_the_deck() -> None:
    """A card without class or effects is a body in a deck without class, so that every agent plays it."""
    bodies, mage = find_deck("hearthsim-basic"), find_deck("basic-mage")
    smite = find_sweep_card(bodies, "holy smite")
    assert (smite.id, smite.kind, smite.real) == ("CS1_130", CardKind.SPELL, True)
    assert find_sweep_card(mage, "CS1_130") == smite
    assert (
        find_sweep_card(bodies, "Fiery War Axe").spec.cost,
        find_sweep_card(mage, "Fiery War Axe").spec.cost,
    ) == (3, 3)
    newest = replace(mage, edition="newest")
    with pytest.raises(SweepError, match="--edition 2018-07 plays it"):
        find_sweep_card(newest, "Flame Lance")
    assert find_sweep_card(newest, "Flame Lance", "2018-07").exact
    assert find_sweep_card(mage, "Chillwind Yeti").real
    assert not find_sweep_card(bodies, "Chillwind Yeti").real
    assert find_sweep_card(bodies, "Novice Engineer").real
    assert find_sweep_card(bodies, "Faerie Dragon").real, "a trait is more than a body"
    pagle = find_sweep_card(bodies, "Nat Pagle")
    assert (pagle.real, pagle.exact) == (False, False)
    decks = (bodies, mage)
    variants = vary("hearthsim", "Nat Pagle", (1,), decks)
    assert body_card_notes(variants) == [
        "Nat Pagle [EX1_557] is added as a body with its keywords, without its other card text"
    ]
    assert [card["deck"] for card in added_cards(variants)] == ["hearthsim-basic", "basic-mage"]
    assert body_card_notes(vary("hearthsim", SMITE, (1,), decks)) == []
    assert added_cards(vary("hearthsim", "taunt", (1,), decks)) == []


def test_keywords_are_found_as_players_write_them() -> None:
    for text in ("divine_shield", "Divine Shield", "divine-shield"):
        assert find_keyword(text) == "divine_shield"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("hearthsim --values 1", "--weight, --card and --keyword; got none of them"),
        ("hearthsim --card Wisp --keyword taunt --values 1", "got --card and --keyword"),
        ("hearthsim --weight hand --card Wisp --values 1", "got --weight and --card"),
        ("hearthsim --card Wisp --values 31", "whole numbers from 0 to 30, got 31"),
        ("hearthsim --card Wisp --values 0:40:10", "whole numbers from 0 to 30, got 40"),
        ("hearthsim --keyword taunt --values 0,1.5", "whole numbers from 0 to 30, got 1.5"),
        ("hearthsim --keyword taunt --values -1,1", "whole numbers from 0 to 30, got -1"),
        ("hearthsim --card Wisp --values nan", "whole numbers from 0 to 30, got nan"),
        ("hearthsim --card Wisp --values 1,1.0", "the same value twice"),
        (
            "hearthsim --card Whisp --values 1",
            "--card: unknown card of edition 2018-07 'Whisp'; nearest: Wisp",
        ),
        ("hearthsim --keyword tant --values 1", "--keyword: unknown keyword 'tant'; nearest: taunt"),
        (
            "hearthsim --card Headcrack --values 1",
            "Headcrack [EX1_137] is a spell whose full text edition 2018-07",
        ),
        ("hearthsim --card Wisp --edition 2018 --values 1", "unknown edition '2018'"),
        ("hearthsim --keyword taunt --edition 2018-07 --values 1", "and no such deck is given"),
        ("hearthsim --card Wisp --edition 2018-07 --any-deck --values 1", "and no such deck is given"),
        ("ilp:keep-alive --card Moonfire --values 0", "ilp does not support card effects"),
        (
            "aggro --card Moonfire --values 0 --against ilp:keep-alive",
            "decks with Moonfire (such as random-min",
        ),
        ("hearthsim --keyword taunt --values 30 --decks basic-mage", "basic-mage has 18 minions"),
    ],
)
def test_a_wrong_sweep_of_a_deck_names_the_way_out(
    words: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(AGENTS, "ilp", replace(AGENTS["ilp"], effects=False))
    done = CliRunner().invoke(app, f"sweep --against aggro --out s --decks random-minions {words}".split())
    assert done.exit_code == 1
    assert getattr(done.exception, "exit_code", 1) == (1 if "Moonfire" in words else 2)
    assert told in str(done.exception), done.exception
    assert "\n" not in str(done.exception)
    assert not Path("s").exists()


@compiled
def test_sweeps_of_decks_as_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files, the folder that goes on, and the one that refuses another card."""
    monkeypatch.chdir(tmp_path)
    common = ["--against", "aggro", "--decks", "hearthsim-basic", "--workers", "1", "--pool", "local"]

    def sweep(*words: str) -> str:
        done = CliRunner().invoke(app, ["sweep", "hearthsim", *words, *common])
        if done.exit_code:
            raise done.exception or AssertionError(done.output)
        return done.stdout

    smite = ("--card", "holy smite", "--values", "0,4", "--games")
    said = sweep(*smite, "20", "--out", "whole")
    assert "0 (its own)" in said
    curve = pd.read_csv("whole/sweep.csv")
    assert list(curve.columns)[:2] == ["weight", "value"]
    assert curve[["weight", "value", "games"]].to_numpy().tolist() == [[SMITE, 0, 20], [SMITE, 4, 20]]
    sweep(*smite, "8", "--out", "parts")
    sweep(*smite, "20", "--out", "parts")
    for name in ("games.parquet", "sweep.csv", "sweep.png"):
        assert Path("parts", name).read_bytes() == Path("whole", name).read_bytes()
    games = pd.read_parquet("whole/games.parquet")
    assert set(games["first_deck"]) == {"hearthsim-basic"}
    assert set(games["first"]) == {f"hearthsim[{SMITE}=0]", f"hearthsim[{SMITE}=4]", "aggro"}
    for words in (
        ("--card", "Mind Blast", "--values", "0,4"),
        ("--card", SMITE, "--values", "0,5"),
        ("--keyword", "taunt", "--values", "0,4"),
        ("--weight", "hand", "--values", "0,4"),
    ):
        with pytest.raises(Exception, match=r"holds another tournament, which differs in entrants"):
            sweep(*words, "--games", "20", "--out", "whole")
    told = json.loads(
        sweep("--keyword", "Divine Shield", "--values", "0,2,30", "--games", "4", "--out", "k", "--json")
    )
    assert (told["weight"], told["varied"], told["usual"], told["cards"]) == (
        "divine_shield",
        "keyword",
        2,
        [],
    )
    assert [row["value"] for row in told["values"]] == [0, 2, 30]
    told = json.loads(sweep(*smite, "4", "--edition", "2018-07", "--out", "e", "--json"))
    assert told["cards"] == [{"deck": "hearthsim-basic", "id": "CS1_130", "name": SMITE, "exact": True}]
    words = told["command"].split()
    assert words[words.index("--edition") + 1] == "2018-07"


@compiled
def test_the_deck_as_it_is_plays_the_games_of_the_plain_deck(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With as many minions with Divine Shield as hearthsim-basic has, the games are those of a sweep of a weight."""
    monkeypatch.chdir(tmp_path)
    tail = ["--against", "aggro", "--decks", "hearthsim-basic", "--games", "40", "--pool", "local"]
    for name, words in (
        ("k", ("--keyword", "divine shield", "--values", "2")),
        ("w", ("--weight", "hand", "--values", ".1")),
    ):
        done = CliRunner().invoke(app, ["sweep", "hearthsim", *words, *tail, "--out", name])
        assert done.exit_code == 0, done.output
    columns = ["setup", "outcome", "turns"]
    one, other = (pd.read_parquet(f"{name}/games.parquet", columns=columns) for name in ("k", "w"))
    assert one.equals(other)
