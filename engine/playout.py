"""Random games, compiled: one from any position, or a batch from the deal.

Playouts are the core of Monte Carlo agents, and measure the speed of the rules.
"""

import numpy as np

from engine.codes import MAX_ACTIONS, Purpose
from engine.effects.chance import draw_for
from engine.events import EVENTS
from engine.jit import njit, njit_borrowing
from engine.rules import apply, legal_actions, outcome
from engine.state import STATE, new_game
from engine.streams import below, derive


@njit_borrowing
def playout(state: np.void, cards: np.ndarray, actions: np.ndarray, key: np.uint64, events: np.void) -> int:
    """Play uniformly random legal actions to the end of the game.

    Args:
        state: dtype `STATE`. Modified in place.
        cards: the card table, dtype `CARD`.
        actions: workspace of integers, shape (at least `MAX_ACTIONS`,). Modified in place.
        key: stream of the choices; choice n of the game is number n of the stream.
        events: dtype `EVENTS`, set up for the game's chance. Modified in place.

    Returns:
        The game's `Outcome`.
    """
    index = 0
    n = legal_actions(state, cards, actions)
    while n > 0:
        apply(state, cards, actions[below(key, index, n)], events)
        n = legal_actions(state, cards, actions)
        index += 1
    return outcome(state)


@njit
def random_games(
    cards: np.ndarray, first: np.void, second: np.void, rules: np.void, keys: np.ndarray, outcomes: np.ndarray
) -> int:
    """Play a batch of whole games, random against random.

    Args:
        cards: the card table, dtype `CARD`.
        first: deck of the player who goes first, dtype `DECK`.
        second: deck of the other.
        rules: the ruleset, dtype `RULES`.
        keys: a key for each game, shape (games,), uint64.
        outcomes: shape (games,), integers. Modified in place: an `Outcome` for each game.

    Returns:
        Rounds played in all games together.
    """
    states = np.zeros(1, STATE)
    actions = np.empty(MAX_ACTIONS, np.int64)
    events = np.zeros(1, EVENTS)
    rounds = 0
    for game in range(len(keys)):
        new_game(states[0], cards, first, second, rules, keys[game])
        draw_for(events[0], states[0], keys[game])
        outcomes[game] = playout(states[0], cards, actions, derive(keys[game], Purpose.PLAYOUT), events[0])
        rounds += min(states[0]["turn"], states[0]["turn_cap"])
    return rounds
