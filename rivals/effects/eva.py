"""EVA with real cards: Algorithm 1 with every term of Eqs. 1 to 8.

Minions are told apart by their births, as the authors' simulator does by numbers of its own: one that is gone
was killed, one that is new appeared. A hero's attack is its weapon's and what it has this turn. The score of
an action that chance decides is the mean over what can fall out.
"""

import numpy as np

from engine import Outcome
from engine.codes import MAX_ACTIONS
from engine.effects.board import place_of
from engine.effects.chance import draw_for, imaginable, imagine, think
from engine.events import EVENTS
from engine.jit import njit, njit_borrowing
from engine.rules import apply, legal_actions, outcome
from engine.state import STATE
from rivals.effects.choice import best_choice, look
from rivals.eva import EvaTerm, value_of


@njit_borrowing
def score_change(before: np.void, after: np.void, seat: int, cards: np.ndarray, weights: np.ndarray) -> float:
    """The difference an action makes, Eq. 1; infinite for a dead enemy hero, minus infinite for a dead own.

    Args:
        before: the position, dtype `STATE`.
        after: the same with the action carried out.
        seat: of who acts.
        cards: the card table.
        weights: indexed by `EvaTerm`.
    """
    own, enemy = before["sides"][seat], before["sides"][1 - seat]
    own_after, enemy_after = after["sides"][seat], after["sides"][1 - seat]
    if own_after["health"] <= 0:
        return -np.inf
    if enemy_after["health"] <= 0:
        return np.inf
    used = weights[EvaTerm.MANA] * (own["mana"] - own_after["mana"])
    lost = _side_lost(enemy, enemy_after, cards, weights) - _side_lost(own, own_after, cards, weights)
    return float(lost - used)


@njit_borrowing
def _side_lost(before: np.void, after: np.void, cards: np.ndarray, weights: np.ndarray) -> float:
    """What a side lost, Eqs. 2 to 5."""
    lost: float = weights[EvaTerm.HERO_HEALTH] * (
        before["health"] + before["armour"] - after["health"] - after["armour"]
    )
    lost += weights[EvaTerm.HERO_ATTACK] * (
        before["weapon_attack"] + before["hero_attack"] - after["weapon_attack"] - after["hero_attack"]
    )
    lost += weights[EvaTerm.SECRET] * (before["n_secrets"] - after["n_secrets"])
    for place in range(before["n_board"]):
        minion = before["board"][place]
        value = value_of(minion, cards, weights)
        later = place_of(after, minion["born"])
        if later < 0:
            lost += weights[EvaTerm.MINION_KILLED] * value
            continue
        then = after["board"][later]
        lost += weights[EvaTerm.MINION_HEALTH] * (minion["health"] - then["health"]) * value
        lost += weights[EvaTerm.MINION_ATTACK] * (minion["attack"] - then["attack"]) * value
    for place in range(after["n_board"]):
        minion = after["board"][place]
        if place_of(before, minion["born"]) < 0:
            lost -= weights[EvaTerm.MINION_APPEARED] * value_of(minion, cards, weights)
    return lost


@njit_borrowing
def score_action(
    state: np.void,
    cards: np.ndarray,
    action: int,
    weights: np.ndarray,
    next_states: np.ndarray,
    thought: np.void,
) -> float:
    """The mean of `score_change` over what can fall out; the last two are modified in place."""
    seat = state["active"]
    think(thought)
    next_states[0] = state
    apply(next_states[0], cards, action, thought)
    first = thought["waiting"]
    if first == 0:
        return score_change(state, next_states[0], seat, cards, weights)
    n, score = imaginable(thought), 0.0
    for number in range(n):
        imagine(thought, state, number, first)
        next_states[0] = state
        apply(next_states[0], cards, action, thought)
        change = score_change(state, next_states[0], seat, cards, weights)
        score += min(max(change, -MOST), MOST)
    return score / n


MOST = 1e9
"""What a won game counts where it is one of several outcomes; minus as much a lost one."""


@njit_borrowing
def best_action(
    state: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    actions: np.ndarray,
    next_states: np.ndarray,
    thought: np.ndarray,
) -> int:
    """Algorithm 1; see `rivals.eva.best_action`. `thought`, dtype `EVENTS`, is modified in place."""
    if state["n_options"] > 0:
        return best_choice(state, cards)
    n = legal_actions(state, cards, actions)
    best, chosen = -np.inf, int(actions[n - 1])
    for place in range(n):
        score = 0.0
        if place < n - 1:  # the last is the end of the turn, which is not carried out
            score = score_action(state, cards, actions[place], weights, next_states, thought[0])
        if score > best:
            best, chosen = score, int(actions[place])
    return chosen


@njit_borrowing
def choose(
    states: np.ndarray,
    cards: np.ndarray,
    weights: np.ndarray,
    actions: np.ndarray,
    next_states: np.ndarray,
    thought: np.ndarray,
) -> int:
    """`best_action` of the only state of an array of shape (1,)."""
    return best_action(states[0], cards, weights, actions, next_states, thought)


@njit
def play_turns(
    cards: np.ndarray, weights: np.ndarray, agents: np.ndarray, states: np.ndarray, chances: np.ndarray
) -> None:
    """Play each game on while an agent of this kind is to move.

    Args:
        cards: the card table, dtype `engine.state.CARD`.
        weights: shape (agents, weights).
        agents: shape (games, 2) integers into `weights`; -1 for another kind of agent.
        states: dtype `STATE`, shape (games,). Modified in place.
        chances: uint64, shape (games,): streams of the games' chance.
    """
    actions = np.empty(MAX_ACTIONS, np.int64)
    next_states = np.zeros(1, STATE)
    played, thought = np.zeros(1, EVENTS), np.zeros(1, EVENTS)
    seen = np.zeros(1, STATE)
    for game in range(len(states)):
        state = states[game]
        draw_for(played[0], state, chances[game])
        while outcome(state) == Outcome.ONGOING and agents[game, state["active"]] >= 0:
            own = weights[agents[game, state["active"]]]
            look(state, cards, seen)
            action = best_action(seen[0], cards, own, actions, next_states, thought)
            apply(state, cards, action, played[0])
