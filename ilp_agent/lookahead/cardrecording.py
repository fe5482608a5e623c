"""`ilp_agent.lookahead.recording` for real cards; apart, since its kernels are compiled for these alone."""

import numpy as np

from engine.codes import Outcome
from engine.effects.chance import draw_for
from engine.jit import njit_borrowing
from engine.rules import outcome
from engine.streams import below, derive
from ilp_agent.lookahead.cards import CardMemory, carry_out, choose_card_turn
from ilp_agent.lookahead.explore import ALWAYS, NEVER, NO_STREAM
from ilp_agent.lookahead.judge import keep_features
from ilp_agent.lookahead.recording import LATEST_PAIR, NO_END, WHEN, differ, points_of


@njit_borrowing
def record_card_games(
    cards: np.ndarray,
    own_cards: np.ndarray,
    row: np.ndarray,
    states: np.ndarray,
    chances: np.ndarray,
    keys: np.ndarray,
    explore: int,
    facts: np.ndarray,
    works: np.ndarray,
    memo: np.ndarray,
    slots: np.ndarray,
    memory: CardMemory,
    luck: np.ndarray,
    leaves: np.ndarray,
    whose: np.ndarray,
) -> int:
    """Play games on real cards, and note what their turns lead to; a turn may be chosen in several parts.

    Arguments as of `ilp_agent.lookahead.recording.record_games` and `ilp_agent.lookahead.cards.play_turns`.

    Returns:
        How many positions were noted; as many as there is room at most.
    """
    n_leaves = 0
    for game in range(len(states)):
        state, plan, number = states[game], memory.plan[0], 0
        draw_for(luck[0], state, chances[game])
        while outcome(state) == Outcome.ONGOING:
            seat, stream = state["active"], derive(keys[game], number)
            choose_card_turn(state, cards, own_cards, row, explore, stream, facts, works, memo, slots, memory)
            number += 1
            if memory.judged[0] > 0 and n_leaves < len(leaves):
                keep_features(memory.leaf, leaves[n_leaves])
                whose[n_leaves] = 2 * game + seat
                n_leaves += 1
            carry_out(state, cards, plan, luck[0])
    return n_leaves


@njit_borrowing
def compare_card_ends(
    cards: np.ndarray,
    own_cards: np.ndarray,
    row: np.ndarray,
    states: np.ndarray,
    chances: np.ndarray,
    keys: np.ndarray,
    facts: np.ndarray,
    works: np.ndarray,
    memo: np.ndarray,
    slots: np.ndarray,
    memory: CardMemory,
    luck: np.ndarray,
    then: np.ndarray,
    features: np.ndarray,
    points: np.ndarray,
) -> int:
    """`ilp_agent.lookahead.recording.compare_ends` for real cards: of two ways to go on with a turn."""
    found = 0
    for game in range(len(states)):
        state, plan, own_luck = states[game], memory.plan[0], luck[0]
        turns = below(keys[game], WHEN, LATEST_PAIR)
        draw_for(own_luck, state, chances[game])
        play_on_cards(state, cards, own_cards, row, turns, facts, works, memo, slots, memory, own_luck)
        whole = outcome(state) == Outcome.ONGOING
        for end in range(2):
            if whole:
                then[0] = state
                stream = derive(keys[game], end)
                draw_for(own_luck, then[0], chances[game])
                choose_card_turn(
                    then[0], cards, own_cards, row, ALWAYS, stream, facts, works, memo, slots, memory
                )
                whole = memory.judged[0] > 0
                keep_features(memory.leaf, features[found, end])
                carry_out(then[0], cards, plan, own_luck)
                play_on_cards(
                    then[0], cards, own_cards, row, NO_END, facts, works, memo, slots, memory, own_luck
                )
                points[found, end] = points_of(outcome(then[0]), state["active"])
        if whole and differ(features[found]):
            found += 1
    return found


@njit_borrowing
def play_on_cards(
    state: np.void,
    cards: np.ndarray,
    own_cards: np.ndarray,
    row: np.ndarray,
    turns: int,
    facts: np.ndarray,
    works: np.ndarray,
    memo: np.ndarray,
    slots: np.ndarray,
    memory: CardMemory,
    luck: np.void,
) -> None:
    """Play so many turns, each part of one counted, or to the end; `state` is modified in place."""
    left = turns
    while left > 0 and outcome(state) == Outcome.ONGOING:
        choose_card_turn(state, cards, own_cards, row, NEVER, NO_STREAM, facts, works, memo, slots, memory)
        carry_out(state, cards, memory.plan[0], luck)
        left -= 1
