"""greedy-ilp: plays one action at a time by the turn program's objective, as a baseline for whole turns.

Each action scores its gain of the objective (docs/turn-program.md). The best is played if its gain is
positive, else the turn ends; ties go to the first in the order of `engine.rules.legal_actions`. The Coin and
a card that needs it count as one action.

Terms: W3 and W6 count damage dealt to the enemy hero and to enemy minions;
W4 the enemy's attack on the board; W5 the health of own minions that die or enter; W7 the
attack of a minion that is attacked; W8 the value of a card played from the hand. A hero power and The Coin
have no value. The other weights count changes of their terms; a card that is drawn counts in `hand` alone.
Actions that kill the own hero are never played. A random action scores the mean over its outcomes.
"""

import numpy as np

from engine.codes import COIN, HERO, MAX_MANA, ActionKind
from engine.effects.board import board_index_near
from engine.effects.chance import begin_hypothetical, n_hypothetical, set_hypothetical_outcome
from engine.effects.legal_actions import current_cost
from engine.jit import njit_no_alloc, njit_no_alloc_inline
from engine.rules import apply, decode, encode, legal_actions
from engine.state import TO_HERO, TO_MINIONS
from ilp_agent import Weights
from ilp_agent.features import uses_full_weights
from ilp_agent.search.objective import (
    extended_end_value,
    extended_gain,
    full_end_value,
    hand_value,
)
from ilp_agent.weights import Term
from rivals.one_ply import OnePlyAgent, best_choice, one_ply, one_ply_batch, one_ply_choice

LOST = -1e100
"""Gain of an action that kills the own hero."""


@njit_no_alloc_inline
def _attack_on(side: np.void) -> int:
    """Total attack of a player's minions."""
    total = 0
    for place in range(side["n_board"]):
        total += side["board"][place]["attack"]
    return total


@njit_no_alloc_inline
def score_change(
    before: np.void,
    after: np.void,
    cards: np.ndarray,
    action: int,
    effect_state: np.void,
    weights: np.ndarray,
) -> float:
    """Gain of the objective by an action.

    Args:
        before: the position, dtype `STATE`.
        after: the same with the action carried out.
        cards: the card table.
        action: as `engine.rules.encode` packs it.
        effect_state: events of carrying it out, dtype `EVENTS`.
        weights: of the objective, indexed by `Term`.
    """
    seat = before["active"]
    own, enemy = before["sides"][seat], before["sides"][1 - seat]
    own_after, enemy_after = after["sides"][seat], after["sides"][1 - seat]
    if own_after["health"] <= 0:
        return LOST
    kind, source, target = decode(action)
    score: float = weights[Term.FACE] * effect_state["hits"][1 - seat, TO_HERO]
    score += weights[Term.DAMAGE] * effect_state["hits"][1 - seat, TO_MINIONS]
    if enemy_after["health"] <= 0:
        score += weights[Term.LETHAL]
    score += weights[Term.THREAT] * (_attack_on(enemy) - _attack_on(enemy_after))
    score += weights[Term.CLEAR] * (int(enemy_after["n_board"] == 0) - int(enemy["n_board"] == 0))
    survivors = 0
    for place in range(own["n_board"]):
        if board_index_near(own_after, own["board"][place]["entity_id"], place) < 0:
            score -= weights[Term.SURVIVE] * own["board"][place]["health"]
        else:
            survivors += 1
    if survivors < own_after["n_board"]:
        for place in range(own_after["n_board"]):
            if board_index_near(own, own_after["board"][place]["entity_id"], place) < 0:
                score += weights[Term.SURVIVE] * own_after["board"][place]["health"]
    if kind == ActionKind.ATTACK and target != HERO:
        score -= weights[Term.TRADE] * enemy["board"][target]["attack"]
    if kind == ActionKind.PLAY and own["hand"][source] != COIN:
        score += weights[Term.PLAY] * cards[own["hand"][source]]["value"]
    score += extended_end_value(after, seat, weights) - extended_end_value(before, seat, weights)
    if uses_full_weights(weights):
        score += full_end_value(after, seat, weights) - full_end_value(before, seat, weights)
        score += hand_value(own_after, cards, weights, 0.0, 0.0, 0.0)
        score -= hand_value(own, cards, weights, 0.0, 0.0, 0.0)
    return score + extended_gain(before, after, cards, action, weights)


@njit_no_alloc
def score_action(
    state: np.void,
    cards: np.ndarray,
    action: int,
    weights: np.ndarray,
    next_states: np.ndarray,
    effect_state: np.void,
) -> float:
    """Mean of `score_change` over an action's outcomes. Modifies `next_states` and `effect_state`."""
    begin_hypothetical(effect_state)
    next_states[0] = state
    apply(next_states[0], cards, action, effect_state)
    first = effect_state["n_pending_outcomes"]
    if first == 0:
        return score_change(state, next_states[0], cards, action, effect_state, weights)
    n, score = n_hypothetical(effect_state), 0.0
    for number in range(n):
        set_hypothetical_outcome(effect_state, state, number, first)
        next_states[0] = state
        apply(next_states[0], cards, action, effect_state)
        score += score_change(state, next_states[0], cards, action, effect_state, weights) / n
    return score


@one_ply
def best_action(
    state: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    actions: np.ndarray,
    next_states: np.ndarray,
    effect_state: np.ndarray,
) -> int:
    """Action with the largest gain; The Coin and a card that needs The Coin's mana count as one action.

    Args:
        state: dtype `STATE`, not over, hidden cards hidden.
        cards: the card table.
        weights: of the objective, indexed by `Term`.
        actions: workspace of integers, shape (at least `MAX_ACTIONS`,). Modified in place.
        next_states: workspace, dtype `STATE`, shape (2,). Modified in place.
        effect_state: workspace, dtype `EVENTS`, shape (1,). Modified in place.
    """
    if state["n_options"] > 0:
        return best_choice(state, cards)
    own = state["sides"][state["active"]]
    n = legal_actions(state, cards, actions)
    best, chosen, coin = 0.0, int(encode(ActionKind.END_TURN, 0, 0)), -1
    for place in range(n - 1):
        action = actions[place]
        kind, source, _ = decode(action)
        if kind == ActionKind.PLAY and own["hand"][source] == COIN:
            coin = int(action)
            continue
        score = score_action(state, cards, action, weights, next_states, effect_state[0])
        if score > best:
            best, chosen = score, int(action)
    if coin >= 0 and own["mana"] < MAX_MANA:
        begin_hypothetical(effect_state[0])
        next_states[1] = state
        apply(next_states[1], cards, coin, effect_state[0])
        side_with_coin = next_states[1]["sides"][state["active"]]
        n = legal_actions(next_states[1], cards, actions)
        for place in range(n - 1):
            kind, source, _ = decode(actions[place])
            if kind not in (ActionKind.PLAY, ActionKind.POWER):
                continue
            if kind == ActionKind.PLAY and side_with_coin["hand"][source] == COIN:
                continue
            cost = cards[side_with_coin["power"] - 1]["cost"]
            if kind == ActionKind.PLAY:
                cost = current_cost(next_states[1], cards, state["active"], source)
            if cost == own["mana"] + 1:
                score = score_action(
                    next_states[1], cards, actions[place], weights, next_states, effect_state[0]
                )
                if score > best:
                    best, chosen = score, coin
    return chosen


class GreedyIlpAgent(OnePlyAgent[Weights]):
    """Greedy agent: plays the action with the largest gain of the turn program's objective."""

    usual_name = "greedy-ilp"
    choose = staticmethod(one_ply_choice(best_action))


play_batch = one_ply_batch(best_action)
