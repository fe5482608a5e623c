"""Weights that change no decision with some decks."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from engine import Deck, find_deck, find_ruleset
from evo.analysis.tables import long_weights, names_of, read_runs, shares_of
from evo.play.games import Player, Roster
from evo.play.matchups import Matchups, make_pairings
from evo.play.pool import LocalPool, WorkerPool
from ilp_agent import WeightVector
from rivals import weight_class
from tests.conftest import BOUNDSCHECK, UNCOMPILED, heavy
from tests.evo.runs import TINY, run_new

PLAIN = find_deck("random-minions")
GAMES = 100
FIRST = 10
"""Games that are played first: they tell most weights that are not inert, and the others need not be played."""

BASES = 4
"""Pairs of random vectors: with some of them an agent never plays a card."""


def without(deck: Deck, **changes: object) -> Deck:
    """A deck whose cards are all altered."""
    return Deck(deck.name, tuple(card.altered([], **changes) for card in deck.cards), deck.random)


WORTHLESS = without(find_deck("thesis-paladin"), value=0.0)

CASES = [
    ("eva", PLAIN),
    ("eva", find_deck("thesis-paladin")),
    ("eva", find_deck("hearthsim-basic")),
    ("hearthsim", PLAIN),
    ("hearthsim", find_deck("thesis-paladin")),
    ("ilp", PLAIN),
    ("ilp", WORTHLESS),
    ("greedy-ilp", WORTHLESS),
    *heavy(("minimax-td", PLAIN), only_nightly=True),
]


@pytest.fixture(scope="module")
def pool() -> WorkerPool:
    return LocalPool(1)


def results(
    pool: WorkerPool, kind: str, deck: Deck, weights: np.ndarray, start: int, stop: int
) -> np.ndarray:
    """Some games of two vectors of weights against each other on fixed deals."""
    players = tuple(Player(tuple(map(float, row)), kind=kind) for row in weights)
    roster = Roster(players, (deck,), find_ruleset("thesis"))
    matchups = Matchups(make_pairings(2, "round-robin", ()), 1, GAMES, 7, (6,))
    return pool.play(roster, matchups.schedule(start, stop)[0], lambda _: None)


@pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")
@pytest.mark.parametrize(("kind", "deck"), CASES, ids=lambda value: getattr(value, "name", value))
def test_inert_weights_change_no_game_and_the_others_do(pool: WorkerPool, kind: str, deck: Deck) -> None:
    vector = weight_class(kind)
    inert = vector.inert(deck.cards)
    assert inert <= set(vector.names())
    bases = np.random.default_rng(3).random((BASES, 2, len(vector.names())))

    @cache
    def whole(base: int, start: int, stop: int) -> np.ndarray:
        return results(pool, kind, deck, bases[base], start, stop)

    def differs(place: int, base: int, start: int, stop: int) -> bool:
        changed = bases[base].copy()
        changed[:, place] = [40.0, 0.0]
        return not np.array_equal(whole(base, start, stop), results(pool, kind, deck, changed, start, stop))

    parts = [(base, *part) for part in ((0, FIRST), (FIRST, GAMES)) for base in range(BASES)]
    for place, name in enumerate(vector.names()):
        found = any(differs(place, *part) for part in parts)
        assert found == (name not in inert), f"{name} is {'called' if name in inert else 'not called'} inert"


def test_what_no_card_has_is_inert() -> None:
    never = {"hero_attack", "minion_attack", "secret", "deathrattle", "inspire"}
    keywords = {"charge", "divine_shield", "lifesteal", "stealth", "taunt", "windfury", "poisonous"}
    assert weight_class("eva").inert(PLAIN.cards) == never | keywords
    some = weight_class("eva").inert(find_deck("thesis-paladin").cards)
    assert some < never | keywords
    assert never <= some
    assert weight_class("hearthsim").inert(PLAIN.cards) == {"divine_shield", "hero"}
    assert weight_class("ilp").inert(PLAIN.cards) == frozenset()
    assert weight_class("ilp").inert(WORTHLESS.cards) == {"play"}


@pytest.mark.parametrize("kind", ["ilp", "hearthsim", "eva"])
def test_shares_of_the_others_are_those_without_the_inert(kind: str) -> None:
    vector: type[WeightVector] = weight_class(kind)
    inert = vector.inert(WORTHLESS.cards)
    weights = np.random.default_rng(5).random(len(vector.names()))
    noise = weights.copy()
    noise[[vector.names().index(name) for name in inert]] = 123.0
    active: Callable[[np.ndarray], dict[str, float]] = lambda array: vector.from_array(array).active(inert)  # noqa: E731
    assert active(weights) == active(noise)
    assert set(active(weights)) == set(vector.names()) - inert
    zeroed = np.array(
        [0.0 if name in inert else weight for name, weight in zip(vector.names(), weights, strict=True)]
    )
    assert list(active(weights).values()) == [
        share
        for name, share in zip(vector.names(), vector.scale_free(zeroed), strict=True)
        if name not in inert
    ]


def test_tables_of_runs_leave_inert_weights_out(tmp_path: Path) -> None:
    config = TINY.changed(agent="hearthsim", generations=1, decks=["thesis-paladin"])
    run_new(tmp_path / "run", config)
    runs = read_runs([tmp_path / "run"])
    assert runs.inert_weights == {"divine_shield", "hero"}
    assert names_of(runs.individuals) == [
        "attack",
        "health",
        "enemy_attack",
        "enemy_health",
        "hand",
        "enemy_hero",
    ]
    assert "weight_divine_shield" in runs.individuals
    assert runs.individuals[shares_of(runs.individuals)].sum(axis=1).to_numpy() == pytest.approx(1)
    assert set(long_weights(runs.individuals)["weight"]) == set(names_of(runs.individuals))
