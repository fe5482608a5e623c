"""greedy-ilp: the turn program's objective for single actions, to show what solving the whole turn buys.

At every decision each action is scored as a turn of its own: by what it alone adds to the objective
(docs/turn-program.md). The best that adds something is played, else the turn ends; among equals the first in
the order of `engine.rules.legal_actions`. A card that needs The Coin counts as one action with it.
"""

import numpy as np

from engine import Outcome
from engine.codes import BOARD_SIZE, COIN, HERO, MAX_ACTIONS, MAX_MANA, ActionKind
from engine.jit import njit
from engine.rules import apply, decode, encode, legal_actions, outcome
from engine.state import STATE
from ilp_agent import Weights
from rivals.single import SingleActionAgent

LETHAL, CLEAR, FACE, THREAT, SURVIVE, DAMAGE, TRADE, PLAY = range(8)


@njit
def score_attack(before: np.void, after: np.void, action: int, weights: np.ndarray) -> float:
    """What an attack adds to the objective.

    On the hero W3 A, and W1 where it dies. On a minion W6 A - W7 P, W4 P more where it dies and W2 where it
    was the last one, W5 B less where the attacker dies; A attack and B health of the attacker, P attack of
    the minion.

    Args:
        before: the position, dtype `STATE`.
        after: the same with the attack carried out.
        action: as `engine.rules.encode` packs it.
        weights: shape (8,).
    """
    seat = before["active"]
    own, enemy = before["sides"][seat], before["sides"][1 - seat]
    own_after, enemy_after = after["sides"][seat], after["sides"][1 - seat]
    _, source, target = decode(action)
    attacker = own["board"][source]
    score: float = 0.0
    if target == HERO:
        score += weights[FACE] * attacker["attack"]
        if enemy_after["health"] <= 0:
            score += weights[LETHAL]
        return score
    other = enemy["board"][target]
    score += weights[DAMAGE] * attacker["attack"] - weights[TRADE] * other["attack"]
    if enemy_after["n_board"] < enemy["n_board"]:
        score += weights[THREAT] * other["attack"]
        if enemy_after["n_board"] == 0:
            score += weights[CLEAR]
    if own_after["n_board"] < own["n_board"]:
        score -= weights[SURVIVE] * attacker["health"]
    return score


@njit
def score_play(card: np.void, weights: np.ndarray) -> float:
    """What a played minion adds to the objective: W5 B + W8 S."""
    return float(weights[SURVIVE] * card["health"] + weights[PLAY] * card["value"])


@njit
def best_action(
    state: np.void, cards: np.ndarray, weights: np.ndarray, actions: np.ndarray, next_states: np.ndarray
) -> int:
    """The action that adds most; arguments as of `rivals.eva.best_action`, weights of shape (8,)."""
    own = state["sides"][state["active"]]
    n = legal_actions(state, cards, actions)
    best, chosen, coin = 0.0, encode(ActionKind.END_TURN, 0, 0), -1
    for place in range(n - 1):
        action = actions[place]
        kind, source, _ = decode(action)
        if kind == ActionKind.PLAY:
            if own["hand"][source] == COIN:
                coin = source
                continue
            score = score_play(cards[own["hand"][source]], weights)
        else:
            next_states[0] = state
            apply(next_states[0], cards, action)
            score = score_attack(state, next_states[0], action, weights)
        if score > best:
            best, chosen = score, action
    if coin >= 0 and own["mana"] < MAX_MANA and own["n_board"] < BOARD_SIZE:
        for place in range(own["n_hand"]):
            card = own["hand"][place]
            if card != COIN and cards[card]["cost"] == own["mana"] + 1:
                score = score_play(cards[card], weights)
                if score > best:
                    best, chosen = score, encode(ActionKind.PLAY, coin, 0)
    return chosen


@njit
def choose(
    states: np.ndarray, cards: np.ndarray, weights: np.ndarray, actions: np.ndarray, next_states: np.ndarray
) -> int:
    """`best_action` of the only state of an array of shape (1,)."""
    return best_action(states[0], cards, weights, actions, next_states)


@njit
def play_turns(cards: np.ndarray, weights: np.ndarray, agents: np.ndarray, states: np.ndarray) -> None:
    """Play each game on while an agent of this kind is to move; see `rivals.eva.play_turns`."""
    actions = np.empty(MAX_ACTIONS, np.int64)
    next_states = np.zeros(1, STATE)
    for game in range(len(states)):
        state = states[game]
        while outcome(state) == Outcome.ONGOING and agents[game, state["active"]] >= 0:
            own = weights[agents[game, state["active"]]]
            apply(state, cards, best_action(state, cards, own, actions, next_states))


def play_batch(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,  # noqa: ARG001
    unproven: np.ndarray,  # noqa: ARG001
) -> None:
    """See `rivals.registry.PlayBatch`."""
    play_turns(cards, weights, agents, states)


class GreedyIlpAgent(SingleActionAgent[Weights]):
    """Plays the action that adds most to the turn program's objective, one at a time."""

    usual_name = "greedy-ilp"

    def _choose(self, states: np.ndarray, cards: np.ndarray) -> int:
        return choose(states, cards, self._array, self._actions, self._next)
