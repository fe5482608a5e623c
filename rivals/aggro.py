"""Aggro: attacks the hero with every minion that can, and plays the dearest card it can.

Source: "Do Androids Dream Of Explosive Sheep?", section 3.1, whose learner trains against an agent that
attacks the opponent whenever it gets a chance. The source leaves the rest open; here cards are played before
attacks, so that those with Charge attack at once; The Coin is played if it makes a dearer card playable; of
equally dear cards the one drawn first is played; behind Taunt, the first minion with Taunt is attacked.
`rivals.effects.aggro` plays games with real cards.
"""

from collections.abc import Callable

import numpy as np

from engine import Action, Outcome, PlayerView
from engine.codes import BOARD_SIZE, COIN, HERO, MAX_ACTIONS, MAX_MANA, ActionKind
from engine.combat import guards, may_attack_hero
from engine.events import EVENTS
from engine.jit import njit
from engine.lazy import loaded
from engine.rules import apply_plain, encode, outcome
from engine.state import STATE
from rivals.batch import play_apart


@njit
def best_action(state: np.void, cards: np.ndarray) -> int:
    """Aggro's action (`engine.rules.encode`) in a game that is not over; `state` has dtype `STATE`."""
    own = state["sides"][state["active"]]
    enemy = state["sides"][1 - state["active"]]
    dearest, place, coin = -1, -1, -1
    with_coin = -1
    if own["n_board"] < BOARD_SIZE:
        for n in range(own["n_hand"]):
            card = own["hand"][n]
            if card == COIN:
                coin = n
                continue
            cost = cards[card]["cost"]
            if cost <= own["mana"] and cost > dearest:
                dearest, place = cost, n
            if cost <= min(own["mana"] + 1, MAX_MANA) and cost > with_coin:
                with_coin = cost
        if coin >= 0 and with_coin > dearest:
            return encode(ActionKind.PLAY, coin, 0)
        if place >= 0:
            return encode(ActionKind.PLAY, place, 0)
    target = HERO
    for n in range(enemy["n_board"] - 1, -1, -1):
        if guards(enemy["board"][n]):
            target = n
    for slot in range(own["n_board"]):
        minion = own["board"][slot]
        ready = minion["attacks_left"] > 0 and minion["attack"] > 0
        if ready and (target != HERO or may_attack_hero(minion)):
            return encode(ActionKind.ATTACK, slot, target)
    return encode(ActionKind.END_TURN, 0, 0)


@njit
def choose(states: np.ndarray, cards: np.ndarray) -> int:
    """`best_action` of the only state of an array of shape (1,)."""
    return best_action(states[0], cards)


@njit
def play_turns(
    cards: np.ndarray,
    weights: np.ndarray,  # noqa: ARG001
    agents: np.ndarray,
    states: np.ndarray,
) -> None:
    """Play each game of bodies on while aggro is to move; arguments as of `rivals.eva.play_turns`."""
    for game in range(len(states)):
        state = states[game]
        while outcome(state) == Outcome.ONGOING and agents[game, state["active"]] >= 0:
            apply_plain(state, cards, best_action(state, cards))


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
    play_apart(play_turns, "rivals.effects.aggro:play_turns", cards, weights, agents, states, chances)


class AggroAgent:
    """Attacks the hero whenever it can."""

    name = "aggro"

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:  # noqa: ARG002
        """The dearest card it can play, then every attack on the hero or on the minion with Taunt."""
        states, cards = view.position.states, view.position.table.array
        if not view.position.table.effects:
            return Action.from_code(choose(states, cards))
        actions, thought = np.empty(MAX_ACTIONS, np.int64), np.zeros(1, EVENTS)
        best: Callable[..., int] = loaded("rivals.effects.aggro:choose")
        return Action.from_code(best(states, cards, actions, np.zeros(2, STATE), thought))
