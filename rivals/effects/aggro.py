"""Aggro with real cards: dear cards first, then the hero power, then every attack on the hero.

A card or power is aimed so that it leaves the enemy hero weakest; among equals so that most attack is left on
the own side, less that of the enemy's; then so that the own hero is strongest; then at the first. What would
make the first two worse is not played, such as a Hellfire on the own board.
"""

import numpy as np

from engine import Outcome
from engine.codes import COIN, HERO, MAX_ACTIONS, ActionKind
from engine.combat import guards
from engine.effects.chance import draw_for, imaginable, imagine, think
from engine.effects.costs import cost_of
from engine.events import EVENTS
from engine.jit import njit
from engine.rules import apply, decode, encode, legal_actions, outcome
from engine.state import STATE
from rivals.effects.choice import best_choice, look

_HERO_WORTH = 1e6
"""Of a point of health of the enemy hero, in points of health of the own: more than all that follow."""

_ATTACK_WORTH = 1e3
"""Of a point of attack."""

_LOST = -1e9
"""Of a position in which the own hero is dead."""


@njit
def _attack_of(side: np.void) -> int:
    """Attack of a player's minions and hero."""
    total = side["hero_attack"] + side["weapon_attack"]
    for place in range(side["n_board"]):
        total += side["board"][place]["attack"]
    return int(total)


@njit
def _threat(state: np.void, seat: int) -> float:
    """What the player at `seat` has of a position, but for the own hero's health."""
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    if own["health"] <= 0:
        return _LOST
    left = max(enemy["health"], 0) + enemy["armour"]
    return float((_attack_of(own) - _attack_of(enemy)) * _ATTACK_WORTH - left * _HERO_WORTH)


@njit
def _looked_at(
    state: np.void,
    cards: np.ndarray,
    action: int,
    next_states: np.ndarray,
    thought: np.void,
    found: np.ndarray,
) -> None:
    """The threat after an action and the own hero's health, in the mean of what can fall out.

    `next_states`, `thought` and `found`, shape (2,), are modified in place.
    """
    seat = state["active"]
    think(thought)
    next_states[0] = state
    apply(next_states[0], cards, action, thought)
    first = thought["waiting"]
    n = max(imaginable(thought), 1)
    found[:] = 0.0
    for number in range(n):
        if first:
            imagine(thought, state, number, first)
            next_states[0] = state
            apply(next_states[0], cards, action, thought)
        own = next_states[0]["sides"][seat]
        found[0] += _threat(next_states[0], seat) / n
        found[1] += (own["health"] + own["armour"]) / n


@njit
def _dearest(
    state: np.void, cards: np.ndarray, actions: np.ndarray, next_states: np.ndarray, thought: np.void
) -> tuple[int, int]:
    """The best play of the dearest card that makes nothing worse, and its cost; -1 and -1 without one."""
    own = state["sides"][state["active"]]
    n = legal_actions(state, cards, actions)
    threat = _threat(state, state["active"])
    chosen, dearest, place = -1, -1, -1
    best, found = np.zeros(2), np.zeros(2)
    for number in range(n - 1):
        kind, source, _ = decode(actions[number])
        if kind != ActionKind.PLAY or own["hand"][source] == COIN:
            continue
        cost = cost_of(state, cards, state["active"], source)
        if cost < dearest or (cost == dearest and source != place):
            continue
        _looked_at(state, cards, actions[number], next_states, thought, found)
        if found[0] < threat:
            continue
        better = found[0] > best[0] or (found[0] == best[0] and found[1] > best[1])
        if cost > dearest or better:
            chosen, dearest, place = int(actions[number]), int(cost), source
            best[:] = found
    return chosen, dearest


@njit
def _power(
    state: np.void, cards: np.ndarray, actions: np.ndarray, next_states: np.ndarray, thought: np.void
) -> int:
    """The best use of the hero power that makes nothing worse; -1 without one."""
    n = legal_actions(state, cards, actions)
    chosen = -1
    best, found = np.zeros(2), np.zeros(2)
    best[0] = _threat(state, state["active"])
    for number in range(n - 1):
        if decode(actions[number])[0] != ActionKind.POWER:
            continue
        _looked_at(state, cards, actions[number], next_states, thought, found)
        if found[0] > best[0] or (found[0] == best[0] and (chosen < 0 or found[1] > best[1])):
            chosen = int(actions[number])
            best[:] = found
    return chosen


@njit
def _attack(state: np.void, cards: np.ndarray, actions: np.ndarray) -> int:
    """The first attack on the hero, else the first on what guards it; else the end of the turn."""
    enemy = state["sides"][1 - state["active"]]
    n = legal_actions(state, cards, actions)
    for number in range(n - 1):
        kind, _, target = decode(actions[number])
        if kind == ActionKind.ATTACK and (target == HERO or guards(enemy["board"][target])):
            return int(actions[number])
    return int(encode(ActionKind.END_TURN, 0, 0))


@njit
def choose(
    states: np.ndarray,
    cards: np.ndarray,
    actions: np.ndarray,
    next_states: np.ndarray,
    thought: np.ndarray,
) -> int:
    """`best_action` of the only state of an array of shape (1,)."""
    return best_action(states[0], cards, actions, next_states, thought[0])


@njit
def play_turns(
    cards: np.ndarray,
    weights: np.ndarray,  # noqa: ARG001
    agents: np.ndarray,
    states: np.ndarray,
    chances: np.ndarray,
) -> None:
    """Play each game on while aggro is to move; arguments as of `rivals.effects.eva.play_turns`."""
    actions = np.empty(MAX_ACTIONS, np.int64)
    next_states = np.zeros(2, STATE)
    played, thought = np.zeros(1, EVENTS), np.zeros(1, EVENTS)
    seen = np.zeros(1, STATE)
    for game in range(len(states)):
        state = states[game]
        draw_for(played[0], state, chances[game])
        while outcome(state) == Outcome.ONGOING and agents[game, state["active"]] >= 0:
            look(state, cards, seen)
            action = best_action(seen[0], cards, actions, next_states, thought[0])
            apply(state, cards, action, played[0])


@njit
def best_action(
    state: np.void, cards: np.ndarray, actions: np.ndarray, next_states: np.ndarray, thought: np.void
) -> int:
    """Aggro's action in a game with effects that is not over.

    Args:
        state: dtype `STATE`.
        cards: the card table.
        actions: workspace of integers, shape (at least `MAX_ACTIONS`,). Modified in place.
        next_states: workspace, dtype `STATE`, shape (2,). Modified in place.
        thought: workspace, a record of dtype `EVENTS`. Modified in place.
    """
    if state["n_options"] > 0:
        return best_choice(state, cards)
    own = state["sides"][state["active"]]
    chosen, dearest = _dearest(state, cards, actions, next_states, thought)
    for place in range(own["n_hand"]):
        if own["hand"][place] == COIN:
            coin = encode(ActionKind.PLAY, place, 0)
            think(thought)
            next_states[1] = state
            apply(next_states[1], cards, coin, thought)
            if _dearest(next_states[1], cards, actions, next_states[:1], thought)[1] > dearest:
                return int(coin)
    if chosen >= 0:
        return chosen
    chosen = _power(state, cards, actions, next_states, thought)
    return chosen if chosen >= 0 else _attack(state, cards, actions)
