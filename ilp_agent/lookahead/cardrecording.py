"""`ilp_agent.lookahead.recording` for real cards; apart, since its kernels are compiled for these alone."""

import numpy as np

from engine.codes import Outcome
from engine.effects.chance import draw_for
from engine.jit import njit_borrowing
from engine.rules import outcome
from engine.streams import derive
from ilp_agent.lookahead.cards import CardMemory, carry_out, choose_card_turn
from ilp_agent.lookahead.explore import explores
from ilp_agent.lookahead.recording import note_leaf


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
    drawn: np.ndarray,
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
                owner, is_drawn = 2 * game + seat, explores(explore, stream)
                note_leaf(memory.leaf, owner, is_drawn, n_leaves, leaves, whose, drawn)
                n_leaves += 1
            carry_out(state, cards, plan, luck[0])
    return n_leaves
