"""The 16 features of the minimax player, and the value they make; compiled.

Source: Dash, Handali and Jia, "Do Androids Dream Of Explosive Sheep?", section 4.1.1. The paper says what
the features are about, in this order, and that there are 16, with the bias. This is the reading that gives
16: health and armour are two features, all that is counted "for the opponent" too is counted for both, and
"how much more of our mana we used" compares the turns that the players had last. The paper gives no units;
these are points, cards and minions as they are counted.

A position is judged where a player's turn is over but for its end: mana is then what the player left
unused.
"""

import numpy as np

from engine.codes import Outcome
from engine.jit import njit_borrowing
from engine.rules import outcome

MEANINGS = {
    "health": "health of the own hero",
    "armour": "armour of the own hero",
    "mana": "mana the player has left",
    "attack": "attack of own minions",
    "minions": "own minions",
    "enemy_health": "health of the enemy hero",
    "enemy_armour": "armour of the enemy hero",
    "enemy_mana": "mana the opponent has left",
    "enemy_attack": "attack of enemy minions",
    "enemy_minions": "enemy minions",
    "mana_lead": "mana the player used in its last turn, less what the opponent used in its last",
    "attack_lead": "attack of own minions, less that of enemy minions",
    "minions_lead": "own minions, less enemy minions",
    "hand_lead": "cards in the own hand, less cards in the enemy hand",
    "health_lead": "health of the own hero, less that of the enemy hero",
    "bias": "always 1",
}
"""What each feature is, by its name, in the order of arrays."""

FEATURES = tuple(MEANINGS)
N_FEATURES = len(FEATURES)
N_OF_SIDE = 5
"""Features that are counted for each side by itself: the player's first, then the opponent's."""
MANA_LEAD, ATTACK_LEAD, MINIONS_LEAD, HAND_LEAD, HEALTH_LEAD, BIAS = range(2 * N_OF_SIDE, N_FEATURES)
HEALTH, ARMOUR, MANA, ATTACK, MINIONS = range(N_OF_SIDE)

WON, LOST, DRAWN = 1e9, -1e9, 0.0
"""What a position is worth in which the game is over. The paper has its rewards of 100 and -100 here; weights
may make a position worth more than that, and a player that knows its win should take it."""


@njit_borrowing
def read_features(state: np.void, seat: int, features: np.ndarray) -> None:
    """Count every feature from the view of the player at `seat`.

    Args:
        state: dtype `engine.state.STATE`.
        seat: 0 or 1.
        features: float64, shape (`N_FEATURES`,). Modified in place.
    """
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    _read_side(own, 0, features)
    _read_side(enemy, N_OF_SIDE, features)
    features[MANA_LEAD] = _used(own) - _used(enemy)
    features[ATTACK_LEAD] = features[ATTACK] - features[N_OF_SIDE + ATTACK]
    features[MINIONS_LEAD] = features[MINIONS] - features[N_OF_SIDE + MINIONS]
    features[HAND_LEAD] = own["n_hand"] - enemy["n_hand"]
    features[HEALTH_LEAD] = features[HEALTH] - features[N_OF_SIDE + HEALTH]
    features[BIAS] = 1.0


@njit_borrowing
def _read_side(side: np.void, first: int, features: np.ndarray) -> None:
    """Count what is counted for each side by itself, from the place `first` on. Modified in place."""
    attack = 0
    for place in range(side["n_board"]):
        attack += side["board"][place]["attack"]
    features[first + HEALTH], features[first + ARMOUR] = side["health"], side["armour"]
    features[first + MANA], features[first + ATTACK] = side["mana"], attack
    features[first + MINIONS] = side["n_board"]


@njit_borrowing
def _used(side: np.void) -> int:
    """Mana that a player used in its last turn; The Coin's does not count."""
    return max(0, int(side["crystals"] - side["locked"] - side["mana"]))


@njit_borrowing
def value_of(state: np.void, seat: int, weights: np.ndarray, features: np.ndarray) -> float:
    """What a position is worth to the player at `seat`: `WON`, `LOST`, `DRAWN`, or weights times features.

    Args:
        state: dtype `STATE`.
        seat: 0 or 1.
        weights: shape (at least `N_FEATURES`,).
        features: float64, shape (`N_FEATURES`,). Modified in place.
    """
    result = outcome(state)
    if result == Outcome.DRAW:
        return DRAWN
    if result != Outcome.ONGOING:
        return WON if (result == Outcome.FIRST_WINS) == (seat == 0) else LOST
    read_features(state, seat, features)
    total = 0.0
    for number in range(N_FEATURES):
        total += weights[number] * features[number]
    return total
