"""The turn of an agent that looks ahead on real cards: ways to go on, each tried on sampled luck; compiled.

A way ends where the turn ends or where only the game decides how it goes on. It is carried out on copies of
the position with the own deck in a drawn order and luck from a drawn stream, the same for all ways; a turn
that goes on is finished by the search. Then the opponent replies with its board, weapon and power: cards of
its hand are hidden, and stay so where nothing is said of them (`ilp_agent.lookahead.hands`). Everything drawn
comes from a hash of what the player sees, so that the same view gives the same turn.
"""

from typing import NamedTuple

import numpy as np

from engine.codes import DECK_SIZE, ActionKind, Outcome
from engine.effects.chance import draw_for
from engine.events import EVENTS
from engine.jit import njit_borrowing
from engine.rules import apply, encode, outcome
from engine.state import STATE
from engine.streams import derive, shuffle
from engine.view import hide
from ilp_agent.features import N_FEATURES
from ilp_agent.lookahead.explore import draw_end
from ilp_agent.lookahead.hands import Hands, hold_hand, new_hands
from ilp_agent.lookahead.judge import AFTER_NEXT_TURN, AFTER_REPLY, LOST, WON, keep_features, value_of
from ilp_agent.lookahead.unseen import order_deck, stream_of
from ilp_agent.lookahead.weights import BUDGET, DEPTH, REPLY_PART, SAMPLES, TURN_PART, VALUE_PART
from ilp_agent.search.kernel import solve_turn
from ilp_agent.search.pool import MAX_LISTED, WayPool, list_ways, new_way_pool
from ilp_agent.search.work import SOLVED, STATES, STATES_KEPT, SearchMemory

MOST_PARTS = 6
"""A turn that is tried is solved so often at most, each time up to what only the game decides."""

TRIED_STATES = 300
"""Positions of a search at most within a turn that is tried, the opponent's too."""


class CardMemory(NamedTuple):
    """What turns on real cards are looked ahead in. Modified in place."""

    pool: WayPool
    here: np.ndarray  # the position as its player sees it, dtype STATE, shape (1,)
    then: np.ndarray  # what follows it, dtype STATE, shape (1,)
    plan: np.ndarray  # what is played, dtype SOLVED, shape (1,)
    tried: np.ndarray  # a part of a turn that is tried, dtype SOLVED, shape (1,)
    events: np.ndarray  # its luck, dtype EVENTS, shape (1,)
    features: np.ndarray  # of the position judged last, shape (N_FEATURES,)
    leaf: np.ndarray  # means of the features that the chosen way leads to, shape (N_FEATURES,)
    judged: np.ndarray  # shape (1,): positions judged; 0 where there was nothing to choose
    deck_keys: np.ndarray  # of `order_deck`, shape (DECK_SIZE,)
    hands: Hands  # what the opponent may hold
    luck: np.ndarray  # the chance of the game that is played, dtype EVENTS, shape (1,)
    own_cards: np.ndarray  # the search's copy of the card table
    facts: np.ndarray  # of the cards (`ilp_agent.search.facts.learn_facts`)
    works: np.ndarray  # this and the next two as of `ilp_agent.search.kernel.solve_turn`
    memo: np.ndarray
    slots: np.ndarray


def new_card_memory(own_cards: np.ndarray, facts: np.ndarray, search: SearchMemory) -> CardMemory:
    """Memory for one thread, for games with a card table."""
    return CardMemory(
        new_way_pool(),
        np.zeros(1, STATE),
        np.zeros(1, STATE),
        np.zeros(1, SOLVED),
        np.zeros(1, SOLVED),
        np.zeros(1, EVENTS),
        np.zeros(N_FEATURES, np.float64),
        np.zeros(N_FEATURES, np.float64),
        np.zeros(1, np.int64),
        np.zeros(DECK_SIZE, np.uint64),
        new_hands(),
        np.zeros(1, EVENTS),
        own_cards,
        facts,
        *search,
    )


@njit_borrowing
def choose_card_turn(
    state: np.void,
    cards: np.ndarray,
    row: np.ndarray,
    explore: int,
    key: np.uint64,
    memory: CardMemory,
) -> None:
    """Choose how to go on with a turn on real cards. What is chosen is left in `memory.plan`.

    The search's plan is played where it surely kills the enemy hero, or where the budget allows one way.

    Args:
        state: dtype `STATE`, not over; the active player plays. Left as it is; hidden cards are not read.
        cards: the card table.
        row: weights as `ilp_agent.lookahead.weights.kernel_rows` makes them, then options.
        explore: chance that a way is drawn at random in place of the best, in millionths.
        key: stream of that draw; nothing else depends on it.
        memory: modified in place: `leaf` and `judged` as of `ilp_agent.lookahead.judge.Memory`.
    """
    seat, samples = state["active"], max(1, int(row[SAMPLES]))
    memory.here[0] = state
    here, plan, pool, start = memory.here[0], memory.plan[0], memory.pool, memory.works[0]["start"]
    hide(here, cards, seat)
    memory.judged[0] = 0
    start["limit"], start["limit_kept"] = STATES, STATES_KEPT
    solve_turn(
        here,
        memory.own_cards,
        row[TURN_PART],
        memory.facts,
        memory.works[0],
        memory.memo,
        memory.slots,
        plan,
    )
    if not plan["again"] and memory.works[0]["states"][1]["sides"][1 - seat]["health"] <= 0:
        return
    wanted = min(int(row[BUDGET]) // samples, MAX_LISTED)
    if wanted <= 1:
        return
    found = list_ways(
        memory.own_cards,
        row[TURN_PART],
        memory.facts,
        memory.works[0],
        memory.memo,
        memory.slots,
        memory.tried[0],
        wanted,
        pool,
    )
    if found <= 1:
        return
    order_deck(here["sides"][seat], cards, memory.deck_keys)
    stream = stream_of(here)
    start["limit"], start["limit_kept"] = TRIED_STATES, TRIED_STATES
    drawn = draw_end(explore, key, found)
    best, most = -1, 0.0
    for number in range(found):
        if drawn >= 0 and number != drawn:
            continue
        total = 0.0
        for sample in range(samples):
            luck = derive(stream, sample)
            total += try_way(pool.listed[number], cards, row, luck, memory)
            memory.judged[0] += 1
        if best < 0 or total > most:
            best, most = number, total
            keep_features(memory.features, memory.leaf)
    if not LOST < most < WON:
        memory.judged[0] = 0
    unproven = plan["unproven"]
    memory.plan[0] = pool.listed[best]
    plan["unproven"] = unproven


@njit_borrowing
def try_way(way: np.void, cards: np.ndarray, row: np.ndarray, key: np.uint64, memory: CardMemory) -> float:
    """What a way is worth on the luck of a stream; arguments as of `choose_card_turn`."""
    memory.then[0] = memory.here[0]
    then, events = memory.then[0], memory.events[0]
    seat, depth = then["active"], int(row[DEPTH])
    shuffle(then["sides"][seat]["deck"], then["sides"][seat]["n_deck"], derive(key, 0))
    draw_for(events, then, derive(key, 1))
    for step in range(way["n"]):
        if outcome(then) == Outcome.ONGOING:
            apply(then, cards, way["actions"][step], events)
    if way["again"]:
        play_on(then, cards, row[TURN_PART], memory)
    if depth >= AFTER_REPLY and outcome(then) == Outcome.ONGOING:
        hold_hand(then["sides"][1 - seat], derive(key, 2), False, memory.hands)
        apply(then, cards, encode(ActionKind.END_TURN, 0, 0), events)
        play_on(then, cards, row[REPLY_PART], memory)
    if depth >= AFTER_NEXT_TURN and outcome(then) == Outcome.ONGOING:
        apply(then, cards, encode(ActionKind.END_TURN, 0, 0), events)
        play_on(then, cards, row[TURN_PART], memory)
    return value_of(then, cards, seat, row[VALUE_PART], memory.features)


@njit_borrowing
def play_on(state: np.void, cards: np.ndarray, weights: np.ndarray, memory: CardMemory) -> None:
    """Play the active player's turn on by the search; it is not ended. `state` is modified in place."""
    tried, events = memory.tried[0], memory.events[0]
    for _ in range(MOST_PARTS):
        if outcome(state) != Outcome.ONGOING:
            return
        solve_turn(
            state,
            memory.own_cards,
            weights,
            memory.facts,
            memory.works[0],
            memory.memo,
            memory.slots,
            tried,
        )
        for step in range(tried["n"]):
            apply(state, cards, tried["actions"][step], events)
        if not tried["again"]:
            return
