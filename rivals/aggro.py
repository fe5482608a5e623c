"""Aggro: a rule-based agent that plays its most expensive card, then attacks the hero.

Source: "Do Androids Dream Of Explosive Sheep?", section 3.1, whose agent learns against one that attacks the
opponent at every chance. The source leaves the rest open. Here the order is cards, hero power, attacks, so
that minions with Charge attack at once. The Coin is played if it makes a more expensive card playable. Among
cards of equal cost the one drawn first is played. If the enemy has Taunt, the first minion with Taunt is
attacked.

Targets minimise the enemy hero's health; ties are broken by the largest difference of attack on both boards,
then the highest own health, then the first target. A play that worsens the first two is skipped, such as
Hellfire on the own board.
"""

import numpy as np

from engine import Action, PlayerView
from engine.codes import COIN, HERO, MAX_ACTIONS, ActionKind
from engine.effects.chance import begin_hypothetical, n_hypothetical, set_hypothetical_outcome
from engine.effects.legal_actions import current_cost
from engine.jit import njit_no_alloc
from engine.rules import apply, decode, encode, legal_actions
from engine.state import EVENTS, STATE, guards
from rivals.one_ply import best_choice, one_ply, one_ply_batch, one_ply_choice

_HERO_WORTH = 1e6
"""Weight of the enemy hero's health, in points of own health: dominates all other terms."""

_ATTACK_WORTH = 1e3
"""Weight of a point of attack."""

_LOST = -1e9
"""Value of a position in which the own hero is dead."""


@njit_no_alloc
def _attack_of(side: np.void) -> int:
    """Total attack of a player's minions and hero."""
    total = side["hero_attack"] + side["weapon_attack"]
    for place in range(side["n_board"]):
        total += side["board"][place]["attack"]
    return int(total)


@njit_no_alloc
def _threat(state: np.void, seat: int) -> float:
    """Value of a position for the player at `seat`, without the health of this player's hero."""
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    if own["health"] <= 0:
        return _LOST
    left = max(enemy["health"], 0) + enemy["armour"]
    return float((_attack_of(own) - _attack_of(enemy)) * _ATTACK_WORTH - left * _HERO_WORTH)


@njit_no_alloc
def _expected(
    state: np.void, cards: np.ndarray, action: int, next_states: np.ndarray, effect_state: np.void
) -> tuple[float, float]:
    """Expected threat and own hero's health after an action, over the action's chance outcomes.

    `next_states` and `effect_state` are modified in place.
    """
    seat = state["active"]
    begin_hypothetical(effect_state)
    next_states[0] = state
    apply(next_states[0], cards, action, effect_state)
    first = effect_state["n_pending_outcomes"]
    n = max(n_hypothetical(effect_state), 1)
    threat, health = 0.0, 0.0
    for number in range(n):
        if first:
            set_hypothetical_outcome(effect_state, state, number, first)
            next_states[0] = state
            apply(next_states[0], cards, action, effect_state)
        own = next_states[0]["sides"][seat]
        threat += _threat(next_states[0], seat) / n
        health += (own["health"] + own["armour"]) / n
    return threat, health


@njit_no_alloc
def _dearest(
    state: np.void, cards: np.ndarray, actions: np.ndarray, next_states: np.ndarray, effect_state: np.void
) -> tuple[int, int]:
    """Best play of the most expensive playable card, and the card's cost; (-1, -1) if no play pays."""
    own = state["sides"][state["active"]]
    n = legal_actions(state, cards, actions)
    before = _threat(state, state["active"])
    chosen, dearest, place = -1, -1, -1
    most, healthiest = 0.0, 0.0
    for number in range(n - 1):
        kind, source, _ = decode(actions[number])
        if kind != ActionKind.PLAY or own["hand"][source] == COIN:
            continue
        cost = current_cost(state, cards, state["active"], source)
        if cost < dearest or (cost == dearest and source != place):
            continue
        threat, health = _expected(state, cards, actions[number], next_states, effect_state)
        if threat < before:
            continue
        better = threat > most or (threat == most and health > healthiest)
        if cost > dearest or better:
            chosen, dearest, place = int(actions[number]), int(cost), source
            most, healthiest = threat, health
    return chosen, dearest


@njit_no_alloc
def _power(
    state: np.void, cards: np.ndarray, actions: np.ndarray, next_states: np.ndarray, effect_state: np.void
) -> int:
    """Best use of the hero power; -1 if no use improves the value."""
    n = legal_actions(state, cards, actions)
    chosen = -1
    most, healthiest = _threat(state, state["active"]), 0.0
    for number in range(n - 1):
        if decode(actions[number])[0] != ActionKind.POWER:
            continue
        threat, health = _expected(state, cards, actions[number], next_states, effect_state)
        if threat > most or (threat == most and (chosen < 0 or health > healthiest)):
            chosen = int(actions[number])
            most, healthiest = threat, health
    return chosen


@njit_no_alloc
def _attack(state: np.void, cards: np.ndarray, actions: np.ndarray) -> int:
    """First legal attack on the hero, else on a minion with Taunt; end of the turn if there is none."""
    enemy = state["sides"][1 - state["active"]]
    n = legal_actions(state, cards, actions)
    for number in range(n - 1):
        kind, _, target = decode(actions[number])
        if kind == ActionKind.ATTACK and (target == HERO or guards(enemy["board"][target])):
            return int(actions[number])
    return int(encode(ActionKind.END_TURN, 0, 0))


@one_ply
def best_action(
    state: np.void,
    cards: np.ndarray,
    weights: np.ndarray,  # noqa: ARG001
    actions: np.ndarray,
    next_states: np.ndarray,
    effect_state: np.ndarray,
) -> int:
    """Action that Aggro plays. Arguments as of `rivals.eva.best_action`; `weights` are ignored."""
    if state["n_options"] > 0:
        return best_choice(state, cards)
    own = state["sides"][state["active"]]
    chosen, dearest = _dearest(state, cards, actions, next_states, effect_state[0])
    for place in range(own["n_hand"]):
        if own["hand"][place] == COIN:
            coin = encode(ActionKind.PLAY, place, 0)
            begin_hypothetical(effect_state[0])
            next_states[1] = state
            apply(next_states[1], cards, coin, effect_state[0])
            if _dearest(next_states[1], cards, actions, next_states[:1], effect_state[0])[1] > dearest:
                return int(coin)
    if chosen >= 0:
        return chosen
    chosen = _power(state, cards, actions, next_states, effect_state[0])
    return chosen if chosen >= 0 else _attack(state, cards, actions)


choose = one_ply_choice(best_action)
play_batch = one_ply_batch(best_action)


class AggroAgent:
    """Attacks the hero whenever it can."""

    name = "aggro"

    def __init__(self) -> None:
        self._actions = np.empty(MAX_ACTIONS, np.int64)
        self._next = np.zeros(2, STATE)
        self._events = np.zeros(1, EVENTS)

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:  # noqa: ARG002
        """Most expensive playable card, then the hero power, then attacks on the hero or a Taunt minion."""
        states, cards = view.position.states, view.position.table.array
        code = choose(states, cards, _NO_WEIGHTS, self._actions, self._next, self._events)
        return Action.from_code(code)


_NO_WEIGHTS = np.empty(0)
