"""The contract of every agent kind, with a compiled kind of random draws registered for the test."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from engine import ManaforgeError, Outcome, find_deck, find_ruleset, rulesets, shipped_decks
from engine.game_session import MatchResult
from engine.match import deal, play_from
from engine.streams import generator, stream_key
from evo.play.entrants import find_entrant
from evo.play.games import (
    Player,
    Roster,
    Schedule,
    _play_compiled,
    _play_in_python,
    compile_games,
    play_schedule,
)
from evo.play.notation import NOTATION
from evo.play.pool import LocalPool
from ilp_agent import BACKENDS, shipped_profiles
from rivals import (
    AGENTS,
    DEFAULT_AGENT,
    AgentKind,
    Sight,
    find_agent_profile,
    read_agent_profile,
    weighted_kinds,
)
from tests.conftest import BOUNDSCHECK, UNCOMPILED, cases
from tests.contracts.dice import DICE

compiled = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")


@pytest.fixture(params=[*AGENTS, DICE.name])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AgentKind:
    """Each kind of the registry, and the one of `tests.contracts.dice`."""
    if request.param == DICE.name:
        monkeypatch.setitem(AGENTS, DICE.name, DICE)
    return AGENTS[request.param]


def entrant_text(kind: AgentKind) -> str:
    """The shortest text that names an entrant of a kind."""
    if kind.weights and not kind.default_profile:
        return f"{kind.name}:{shipped_profiles(kind.owner)[0]}"
    return kind.name


def player_of(kind: AgentKind) -> Player:
    return find_entrant(entrant_text(kind)).player


def game_of(kind: AgentKind, decks: tuple[str, str], seed: int, streams: int, ruleset: str) -> MatchResult:
    """A game of a kind against itself; `streams` is the seed of the agents' draws."""
    agents = [player_of(kind).agent() for _ in range(2)]
    drawn = [generator(streams, seat) for seat in range(2)]
    dealt = deal(decks, seed, (), ruleset)
    return play_from((agents[0], agents[1]), dealt, drawn, key=stream_key(seed))


def random_schedule(n: int, players: int, decks: int, seed: int) -> Schedule:
    pick = np.random.default_rng(seed)
    keys = np.array([stream_key(seed, game) for game in range(n)], np.uint64)
    seats, held = (pick.integers(most, size=(n, 2)).astype(np.int16) for most in (players, decks))
    return Schedule(seats, held, keys)


LIVELY = ("reno-mage", "secret-hunter", "murloc-druid")
"""Decks with Discover, random cards, Secrets, and hands that others look at."""


def roster_of(*kinds: AgentKind, decks: Sequence[str] = ()) -> Roster:
    if not decks:
        decks = ["thesis-paladin", "hearthsim-basic", "random-minions"]
        if all(kind.effects for kind in kinds):
            decks += ["basic-mage", "basic-warrior", "basic-druid"]
    return Roster(tuple(map(player_of, kinds)), tuple(map(find_deck, decks)), find_ruleset("standard"))


# What an entry says


def test_an_entry_is_complete(kind: AgentKind) -> None:
    assert AGENTS[kind.name] is kind
    assert kind.help
    assert not kind.takes_backend or any(kind.compiled(name) for name in BACKENDS) == bool(kind.play_batch())
    limits = {name: limit for name, limit in kind.definition().items() if name != "solver"}
    assert all(isinstance(limit, int) and limit > 0 for limit in limits.values())
    options = {option.name for option in kind.options if not option.later}
    for effects in (False, True):
        beside = {"version"} if kind.play_version(effects) > 1 else set()
        beside |= {"solver"} if kind.takes_backend else set()
        assert set(kind.definition(effects=effects)) == beside | set(kind.budget) | options
    assert (
        (kind.owner != "") == (kind.weights is not None) == kind.weighted == (kind.name in weighted_kinds())
    )


def test_every_weight_has_a_meaning(kind: AgentKind) -> None:
    vector = kind.weights
    if vector is None:
        assert not kind.default_profile
        return
    everything = (*vector.names(), *vector.optional_defaults())
    assert len(vector.MEANINGS) == len(everything) == len(set(vector.MEANINGS))
    assert all(vector.MEANINGS)
    assert tuple(map(vector.meaning, [*everything, "none"])) == (*vector.MEANINGS, "")
    assert vector.inert([]) <= set(vector.names())
    assert vector.SCALE
    assert set(vector.names()) >= vector.NEGATIVE
    for name, stands_for in vector.ALIASES.items():
        assert name not in vector.names()
        assert set(stands_for) <= set(vector.names())
    assert AGENTS[vector.AGENT].weights is vector, "profiles are named after a kind that plays them"


def test_profiles_are_what_they_were_after_writing_and_reading(kind: AgentKind, tmp_path: Path) -> None:
    if kind.weights is None:
        return
    names = shipped_profiles(kind.owner)
    assert kind.default_profile in ("", *names)
    assert names
    for name in names:
        profile = find_agent_profile(kind.name, name)
        path = tmp_path / f"{name}.toml"
        path.write_text(profile.to_toml())
        assert read_agent_profile(path) == find_agent_profile(kind.name, str(path)) == profile
        assert type(profile.weights) is kind.weights
        assert (kind.weights.from_array(profile.weights.array)) == profile.weights


def test_its_name_is_an_entrant(kind: AgentKind) -> None:
    assert kind is DICE or kind.name in NOTATION.replace("[", " ").replace(":", " ").replace(",", "").split()
    found = find_entrant(entrant_text(kind))
    assert found.text == entrant_text(kind)
    assert found.player.kind == kind.name
    assert found.player.compiled == (kind.play_batch() is not None)
    other = next(entry.name for entry in BACKENDS.values() if not entry.compiled and not entry.missing)
    if kind.takes_backend:
        player = find_entrant(f"{entrant_text(kind)}@{other}").player
        assert (player.backend, player.compiled) == (other, False)
    else:
        with pytest.raises(ManaforgeError, match=other):
            find_entrant(f"{entrant_text(kind)}@{other}")
    if kind.weights and not kind.default_profile:
        with pytest.raises(ManaforgeError, match=f"unknown entrant '{kind.name}'"):
            find_entrant(kind.name)


# How it plays


@pytest.mark.parametrize("name", AGENTS)
def test_the_document_of_agents_has_a_row_for_it(name: str) -> None:
    table = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")
    profile = "[:PROFILE]" if AGENTS[name].default_profile else ""
    assert name == DEFAULT_AGENT or f"\n| `{name}{profile}` | " in table


@compiled
def test_it_plays_whole_games_legally_on_all_shipped_decks(kind: AgentKind) -> None:
    decks, rules = shipped_decks(), list(rulesets())
    if not kind.effects:
        decks = [name for name in decks if not find_deck(name).hero_class]
    # Each deck is held by both players, by day by one of them; by day every fourth pair.
    pairs = list(enumerate(pairwise([*decks, decks[0]])))
    for place, pair in pairs[:: cases(4, 1)]:
        result = game_of(kind, pair, place, 1, rules[place % len(rules)])
        assert not result.error, (kind.name, pair)
        assert result.outcome != Outcome.ONGOING
        assert result.record.replay().outcome == result.outcome


@compiled
def test_the_same_streams_give_the_same_game(kind: AgentKind) -> None:
    """Other streams give another game only for a kind with random draws."""
    pair = ("thesis-paladin", "hearthsim-basic")
    once, again, other = (game_of(kind, pair, 5, streams, "standard") for streams in (1, 1, 2))
    assert once.actions == again.actions
    assert str(once.position) == str(again.position)
    assert (once.actions == other.actions) != kind.random


@compiled
def test_compiled_games_are_those_of_the_agent_in_python(kind: AgentKind) -> None:
    """Agents in Python see only a view, so compiled ones that play the same games see no more."""
    if kind.play_batch() is None or kind.sees is not Sight.VIEW:
        return
    roster = replace(roster_of(kind, AGENTS["aggro"]), actions=True)
    games = random_schedule(cases(14, 24), 2, len(roster.decks), 9)
    ours = _play_compiled(roster, games)
    assert ours.tobytes() == _play_in_python(roster, games).tobytes()
    assert (ours["n_actions"] > 5).all()
    assert len(np.unique(ours["turns"])) > 3


@compiled
def test_compiled_games_on_lively_decks_are_those_of_the_agent_in_python(kind: AgentKind) -> None:
    """What nobody has seen changes what follows: cards that are offered, Secrets, hidden hands and decks."""
    if kind.play_batch() is None or kind.sees is not Sight.VIEW or not kind.effects:
        return
    roster = replace(roster_of(kind, AGENTS["aggro"], decks=LIVELY), actions=True)
    games = random_schedule(cases(4, 8), 2, len(LIVELY), 9)
    assert _play_compiled(roster, games).tobytes() == _play_in_python(roster, games).tobytes()


@compiled
def test_a_game_does_not_depend_on_the_games_beside_it(kind: AgentKind) -> None:
    roster = roster_of(kind, AGENTS["aggro"])
    n = cases(6, 11)
    games = random_schedule(n, 2, len(roster.decks), 10)
    whole = play_schedule(roster, games)
    for cut in (1, 5):
        pieces = [
            play_schedule(roster, games.select(slice(start, start + cut))) for start in range(0, n, cut)
        ]
        assert (np.concatenate(pieces) == whole).all()
    turned = np.arange(n)[::-1]
    assert (play_schedule(roster, games.select(turned)) == whole[turned]).all()


@compiled
def test_compiling_needs_its_name_alone(kind: AgentKind) -> None:
    compile_games([Player(kind=kind.name)])
    compile_games([Player(kind=kind.name)], [find_deck("basic-mage")])


@compiled
def test_all_kinds_in_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kind against every other: the same outcomes as agents in Python, game by game."""
    monkeypatch.setitem(AGENTS, DICE.name, DICE)
    together = [kind for kind in AGENTS.values() if kind.play_batch() and kind.sees is Sight.VIEW]
    roster = roster_of(*together)
    games = random_schedule(cases(40, 70), len(together), len(roster.decks), 9)
    roster = replace(roster, actions=True)
    one, other = _play_compiled(roster, games), _play_in_python(roster, games)
    assert one.tobytes() == other.tobytes()
    assert set(one["outcome"]) == {Outcome.FIRST_WINS, Outcome.SECOND_WINS}


# An agent that draws


@compiled
def test_a_compiled_agent_that_draws_plays_the_same_with_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(AGENTS, DICE.name, DICE)
    roster = roster_of(DICE, AGENTS["pass"], AGENTS["aggro"])
    games = random_schedule(400, 3, len(roster.decks), 11)
    games = games.select((games.players != 1).any(axis=1))
    whole = play_schedule(roster, games)
    for workers in (1, 3):
        pool = LocalPool(workers)
        pool._compiled.sizer._speed[True] = 20.0 * workers  # chunks of few games
        assert (pool.play(roster, games) == whole).all()
        pool.close()


@compiled
def test_draws_differ_by_deal_and_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    """One deck, the same hand for both, so that only the draws differ."""
    monkeypatch.setitem(AGENTS, DICE.name, DICE)
    roster = roster_of(DICE)
    nobody = np.zeros((50, 2), np.int16)
    played = play_schedule(roster, Schedule(nobody, nobody, np.arange(50, dtype=np.uint64)))
    assert len(np.unique(played["turns"])) > 5
    pair = ("hearthsim-basic", "hearthsim-basic")
    agents = DICE.agent(), DICE.agent()
    one, other = (
        play_from(agents, deal(pair, 1), [generator(1, first), generator(1, second)])
        for first, second in ((0, 1), (0, 0))
    )
    assert one.actions != other.actions
