"""Turns that look ahead: worth what a plain reading says, and the same whatever is hidden."""

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest

from engine import Action, Outcome, Position, find_deck, find_ruleset
from engine.batches import deal_games
from engine.decks import cached_card_table
from engine.effects.chance import Chance
from engine.state import STATE
from engine.streams import below, stream_key
from engine.view import NO_CARDS_SHOWN
from ilp_agent import Weights
from ilp_agent.features import FEATURES, N_FEATURES, compute_features
from ilp_agent.lookahead.agent import LookaheadAgent
from ilp_agent.lookahead.body_ends import evaluate_end, find_ends
from ilp_agent.lookahead.body_positions import MAX_NODES
from ilp_agent.lookahead.evaluation import LOST, WON
from ilp_agent.lookahead.selfplay import NEVER, lookahead_kernels
from ilp_agent.lookahead.weights import TURN_PART, LookaheadWeights, kernel_rows
from tests.conftest import BOUNDSCHECK, UNCOMPILED
from tests.ilp_agent.lookahead.plain import features_of, reply_of
from tests.ilp_agent.positions import random_position

compiled = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")
FEW = UNCOMPILED or BOUNDSCHECK


def random_vector(pick: np.random.Generator) -> LookaheadWeights:
    names = LookaheadWeights.names()
    return LookaheadWeights(**{name: float(pick.random()) for name in names})


def reply_weights(vector: LookaheadWeights) -> Weights:
    names = Weights.names()
    return Weights(**{name: getattr(vector, f"reply_{name}") for name in names})


def turn_weights(vector: LookaheadWeights) -> Weights:
    return Weights(**{name: getattr(vector, name) for name in Weights.names()})


def positions(n: int, most: int = 4) -> Iterator[tuple[Position, LookaheadWeights]]:
    """Random positions in which both may attack, with cards in both hands and decks."""
    for seed in range(n):
        pick = np.random.default_rng([55, seed])
        friends, enemies, hand = (int(pick.integers(1, most + 1)) for _ in range(3))
        hand = min(hand, 7 - friends)
        position = random_position(
            pick, friends, hand, enemies, chance=0.2, strength=5, enemy_lifesteal=True, wounded=True
        )
        own, enemy = position.state["sides"]
        for side in (own, enemy):
            side["n_deck"] = int(pick.integers(0, 4))
            side["deck"][: side["n_deck"]] = pick.integers(len(position.table.cards), size=side["n_deck"])
        enemy["n_hand"] = int(pick.integers(0, 4))
        enemy["hand"][: enemy["n_hand"]] = -2
        enemy["crystals"] = int(pick.integers(0, 11))
        yield position, random_vector(pick)


def ends_and_worths(
    position: Position, row: np.ndarray, budget: int, depth: int
) -> tuple[np.ndarray, list[float]]:
    """Ends of a turn before they are ended, and what each is worth by the kernel."""
    cards, seat = position.table.array, position.active
    memory = lookahead_kernels(cards)[1]
    memory.hands.n_decks[0] = 0  # not the hand that the agent of a test before modelled
    found = find_ends(position.state, cards, row[TURN_PART], budget, MAX_NODES, False, memory.ends.pool)
    ends, worths = memory.ends.pool.end_states[:found].copy(), []
    for number in range(found):
        memory.then[0] = ends[number]
        worths.append(evaluate_end(memory.then[0], cards, row, seat, depth, np.uint64(1), memory))
    return ends, worths


def plainly(position: Position, end: np.ndarray, vector: LookaheadWeights, depth: int) -> float:
    """What an end is worth at a depth, through checked play."""
    seat = position.active
    here = Position(end.copy()[0], position.table)
    if here.outcome == Outcome.ONGOING:
        here.play(Action.end_turn())
        here = reply_of(here, reply_weights(vector))
    if depth == 3 and here.outcome == Outcome.ONGOING:
        side = here.state["sides"][seat]
        n = int(side["n_deck"])
        if n > 1:
            place = below(np.uint64(1), 0, n)
            side["deck"][[place, n - 1]] = side["deck"][[n - 1, place]]
        here.play(Action.end_turn())
        here = whole_turn(here, turn_weights(vector))
    own_dead = here.state["sides"][seat]["health"] <= 0
    if here.state["sides"][1 - seat]["health"] <= 0:
        return 0.0 if own_dead else WON
    if own_dead:
        return LOST
    counted = features_of(here, seat)
    return sum(getattr(vector, f"value_{name}") * counted[name] for name in FEATURES)


def whole_turn(position: Position, weights: Weights) -> Position:
    return reply_of(position, weights, hand=True)


def reads_plainly(n: int, depth: int, most: int) -> None:
    compared = 0
    for position, vector in positions(n, most):
        row = kernel_rows(np.array([[*vector.full_array, 8, depth, 1]]))[0]
        ends, worths = ends_and_worths(position, row, 8, depth)
        for number in range(len(ends)):
            plain = plainly(position, ends[number : number + 1], vector, depth)
            assert worths[number] == pytest.approx(plain, abs=1e-9), f"{position} {number} {vector}"
            compared += 1
    assert compared >= n


@compiled
def test_an_end_is_worth_what_is_left_after_the_reply() -> None:
    reads_plainly(120, 2, 4)


@compiled
def test_an_end_is_worth_what_is_left_after_the_next_turn() -> None:
    reads_plainly(60, 3, 2)


@compiled
@pytest.mark.heavy
@pytest.mark.nightly
def test_500_positions_at_both_depths() -> None:
    reads_plainly(500, 2, 4)
    reads_plainly(500, 3, 2)


def test_features_are_counted_plainly() -> None:
    features = np.zeros(N_FEATURES)
    for position, _ in positions(10 if FEW else 200):
        for seat in (0, 1):
            compute_features(position.state, position.table.array, seat, features)
            counted = features_of(position, seat)
            assert features.tolist() == pytest.approx([counted[name] for name in FEATURES], abs=1e-9)


@compiled
def test_the_end_that_is_worth_most_is_played() -> None:
    chosen = 0
    for position, vector in positions(150):
        agent = LookaheadAgent(vector, 64, 2)
        view = position_view(position)
        row = agent._rows[0]
        _, worths = ends_and_worths(view.position, row, 64, 2)
        here = position.copy()
        while here.outcome == Outcome.ONGOING:
            action = agent.act(position_view(here), np.random.default_rng(0))
            if action == Action.end_turn():
                break
            here.play(action)
        if agent.judged:
            found = agent.judged
            assert plainly(position, here.states, vector, 2) == pytest.approx(max(worths[:found]), abs=1e-9)
            chosen += 1
    assert chosen > 50


def position_view(position: Position):  # type: ignore[no-untyped-def]
    from engine import PlayerView

    return PlayerView(position, position.active)


# What is hidden


def games(decks: tuple[str, ...], n: int) -> tuple[np.ndarray, object]:
    table, records = cached_card_table(tuple(map(find_deck, decks)))
    keys = np.array([stream_key(8, game) for game in range(n)], np.uint64)
    pairs = np.array([(game % len(decks), (game // 2) % len(decks)) for game in range(n)])
    states = np.zeros(n, STATE)
    deal_games(table.array, records, find_ruleset("standard").array, pairs, keys, states)
    return states, table


def other_hidden(position: Position, pick: np.random.Generator) -> Position:
    """The same position to the player to move, with other hidden cards."""
    other = position.copy()
    own, enemy = other.state["sides"][other.active], other.state["sides"][1 - other.active]
    own["deck"][: own["n_deck"]] = pick.permutation(own["deck"][: own["n_deck"]])
    for zone, n in (("hand", enemy["n_hand"]), ("deck", enemy["n_deck"])):
        held = enemy[zone][:n]
        known = held[held >= 0]
        held[held >= 0] = pick.choice(own["deck"][: own["n_deck"]], len(known)) if own["n_deck"] else known
    return other


@compiled
@pytest.mark.parametrize(
    "decks", [("thesis-paladin", "random-minions"), ("basic-mage", "basic-hunter", "basic-warlock")]
)
@pytest.mark.parametrize("depth", [2, 3])
def test_hidden_cards_change_no_action(decks: tuple[str, ...], depth: int) -> None:
    states, table = games(decks, 6)
    profile = LookaheadWeights(**dict.fromkeys(LookaheadWeights.names(), 0.5))
    compared = 0
    for game in range(len(states)):
        position = Position(states[game : game + 1][0], table)
        pick, chance = np.random.default_rng([3, game]), Chance.drawn(stream_key(3, game), position.states)
        while position.outcome == Outcome.ONGOING and position.state["turn"] < 12:
            # What the kernels are given is not hidden, as in compiled games.
            pair = position, other_hidden(position, pick)
            seen = [SimpleNamespace(position=one, shown=NO_CARDS_SHOWN) for one in pair]
            one, two = (LookaheadAgent(profile, 16, depth).act(view, pick) for view in seen)
            assert one == two, str(position)
            position.play(one, chance)
            compared += 1
    assert compared > 100


def test_exploring_needs_its_stream() -> None:
    position, vector = next(positions(1))
    rows = kernel_rows(np.array([[*vector.full_array, 8, 2, 1]]))
    looking, memory = lookahead_kernels(position.table.array)

    def played(explore: int, key: int) -> tuple[int, ...]:
        looking.choose(position.state, position.table.array, rows[0], explore, np.uint64(key), memory)
        plan = memory.plan[0]
        return tuple(plan["actions"][: plan["n"]].tolist())

    assert len({played(1_000_000, key) for key in range(12)}) > 1
    assert len({played(NEVER, key) for key in range(3)}) == 1
