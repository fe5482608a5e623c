"""greedy-ilp: maximises the turn program's objective one action at a time, for comparison with whole turns.

At every decision each action is scored by what it adds to the objective (docs/turn-program.md). The best is
played if it adds something, else the turn ends; among equals the first in the order of
`engine.rules.legal_actions`. A card that needs The Coin counts as one action with it.
`rivals.effects.greedy` plays games with real cards.
"""

import numpy as np

from engine import Outcome
from engine.codes import BOARD_SIZE, COIN, HERO, MAX_ACTIONS, MAX_MANA, ActionKind, Death
from engine.jit import njit
from engine.rules import apply_plain, decode, encode, legal_actions, outcome
from engine.state import STATE
from ilp_agent import Weights
from ilp_agent.search.objective import further_worth
from ilp_agent.weights import Term
from rivals.batch import play_apart
from rivals.single import SingleActionAgent


@njit
def score_attack(before: np.void, after: np.void, action: int, deaths: int, weights: np.ndarray) -> float:
    """What an attack adds to the objective.

    On the hero W3 A, and W1 where it dies. On a minion W6 A - W7 P, W4 P more where it dies and W2 where it
    was the last one, W5 B less where the attacker dies; A attack and B health of the attacker, P attack of
    the minion.

    Args:
        before: the position, dtype `STATE`.
        after: the same with the attack carried out.
        action: as `engine.rules.encode` packs it.
        deaths: what `engine.rules.apply_plain` returned.
        weights: of the objective, indexed by `Term`.
    """
    seat = before["active"]
    own, enemy = before["sides"][seat], before["sides"][1 - seat]
    enemy_after = after["sides"][1 - seat]
    _, source, target = decode(action)
    attacker = own["board"][source]
    score: float = 0.0
    if target == HERO:
        score += weights[Term.FACE] * attacker["attack"]
        if enemy_after["health"] <= 0:
            score += weights[Term.LETHAL]
        return score + further_worth(after, seat, weights) - further_worth(before, seat, weights)
    other = enemy["board"][target]
    score += weights[Term.DAMAGE] * attacker["attack"] - weights[Term.TRADE] * other["attack"]
    if deaths & Death.DEFENDER:
        score += weights[Term.THREAT] * other["attack"]
        if enemy_after["n_board"] == 0:
            score += weights[Term.CLEAR]
    if deaths & Death.ATTACKER:
        score -= weights[Term.SURVIVE] * attacker["health"]
    return score + further_worth(after, seat, weights) - further_worth(before, seat, weights)


@njit
def score_play(card: np.void, weights: np.ndarray) -> float:
    """What a played minion adds to the objective: W5 B + W8 S."""
    return float(weights[Term.SURVIVE] * card["health"] + weights[Term.PLAY] * card["value"])


@njit
def best_action(
    state: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    actions: np.ndarray,
    next_states: np.ndarray,
) -> int:
    """The action that adds most; arguments as of `rivals.eva.best_action`, weights indexed by `Term`."""
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
            deaths = apply_plain(next_states[0], cards, action)
            score = score_attack(state, next_states[0], action, deaths, weights)
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
    states: np.ndarray,
    cards: np.ndarray,
    weights: np.ndarray,
    actions: np.ndarray,
    next_states: np.ndarray,
) -> int:
    """`best_action` of the only state of an array of shape (1,)."""
    return best_action(states[0], cards, weights, actions, next_states)


@njit
def play_turns(cards: np.ndarray, weights: np.ndarray, agents: np.ndarray, states: np.ndarray) -> None:
    """Play each game of bodies on while an agent of this kind is to move; see `rivals.eva.play_turns`."""
    actions = np.empty(MAX_ACTIONS, np.int64)
    next_states = np.zeros(1, STATE)
    for game in range(len(states)):
        state = states[game]
        while outcome(state) == Outcome.ONGOING and agents[game, state["active"]] >= 0:
            own = weights[agents[game, state["active"]]]
            action = best_action(state, cards, own, actions, next_states)
            apply_plain(state, cards, action)


def play_batch(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,  # noqa: ARG001
    chances: np.ndarray,
    turns: np.ndarray,  # noqa: ARG001
) -> None:
    """See `rivals.batch.PlayBatch`."""
    play_apart(play_turns, "rivals.effects.greedy:play_turns", cards, weights, agents, states, chances)


class GreedyIlpAgent(SingleActionAgent[Weights]):
    """Plays the action that adds most to the turn program's objective, one at a time."""

    usual_name = "greedy-ilp"
    with_effects = "rivals.effects.greedy:choose"

    def _choose(self, states: np.ndarray, cards: np.ndarray) -> int:
        return choose(states, cards, self._array, self._actions, self._next)
