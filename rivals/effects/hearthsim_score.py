"""HearthSim's score of a position with real cards: the posts' terms, and those of the authors' program.

To the eight terms of `rivals.hearthsim` come, of the cards in hand and of weapons:

    S_c = w_m sum of the costs of cards but spells that deal damage + w_c for each minion with Charge
          + sum over spells that deal damage (w_dds a + c_dds), a the damage as printed
    S_w = w_w (attack times durability of the own weapon, less that of the enemy's)

Source of S_c: the post "Direct damage spells". Its formula has w_dds (a + c_dds), its examples (a Holy Smite
is worth 1.9 at w_dds = 0.5, and 4.9 at 2) and the authors' program have c_dds outside of the weight, as here.
Source of S_w and of w_c: that program, the class WeightedScorer of github.com/oyachai/HearthSim, in which w_w
is 0.5 and w_c is 0.
"""

import numpy as np

from engine.codes import COIN, UNKNOWN, Keyword
from engine.jit import njit, njit_borrowing
from engine.vocabulary import ENEMY, CardKind, Op, Trigger
from rivals.hearthsim_score import (
    ATTACK,
    ENEMY_ATTACK,
    ENEMY_HEALTH,
    ENEMY_HERO,
    HAND,
    HEALTH,
    HERO,
    N_WEIGHTS,
    SHIELD,
    weigh,
)

DIRECT, SPELLS, WEAPON, CHARGE = range(N_WEIGHTS, N_WEIGHTS + 4)
"""Places of the further weights, and of what is counted for them: damage of spells held, their number,
weapons, and minions with Charge held."""

DRAWN = N_WEIGHTS + 4
N_COUNTS = DRAWN + 1
"""What is counted: for each weight, and cards drawn that nobody knows."""


@njit_borrowing
def direct_damage(card: np.void) -> int:
    """The damage that a spell deals to the enemy's side, as printed; 0 for other cards."""
    if card["kind"] != CardKind.SPELL:
        return 0
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        if effect["trigger"] == Trigger.PLAY and effect["op"] == Op.DAMAGE and effect["side"] & ENEMY:
            return int(effect["amount"])
    return 0


@njit_borrowing
def _count_card(card: np.void, counts: np.ndarray) -> None:
    """Count a card held. `counts` is modified in place."""
    damage = direct_damage(card)
    if damage:
        counts[DIRECT] += damage
        counts[SPELLS] += 1
        return
    counts[HAND] += card["cost"]
    if card["kind"] == CardKind.MINION and card["keywords"] & Keyword.CHARGE:
        counts[CHARGE] += 1


@njit_borrowing
def _worth_of_hand(counts: np.ndarray, weights: np.ndarray) -> float:
    """S_c, but for w_m times the costs."""
    worth: float = weights[DIRECT] * counts[DIRECT] + weights[SPELLS] * counts[SPELLS]
    return float(worth + weights[CHARGE] * counts[CHARGE])


@njit
def value_of_draw(state: np.void, cards: np.ndarray, seat: int, weights: np.ndarray) -> float:
    """What a card drawn adds to S in the mean: the mean of the own deck, whose order nobody knows."""
    side = state["sides"][seat]
    if side["n_deck"] == 0:
        return 0.0
    counts = np.zeros(N_COUNTS, np.int64)
    for place in range(side["n_deck"]):
        _count_card(cards[side["deck"][place]], counts)
    total = _worth_of_hand(counts, weights) + weights[HAND] * counts[HAND]
    return float(total / side["n_deck"])


@njit_borrowing
def score_position(
    state: np.void, cards: np.ndarray, seat: int, weights: np.ndarray, drawn: float, counts: np.ndarray
) -> float:
    """S of a position for the player at `seat`: -infinity over a dead own hero, infinite over the enemy's.

    Args:
        state: dtype `engine.state.STATE`, of a game with effects.
        cards: the card table.
        seat: 0 or 1.
        weights: in the order of the fields of `HearthSimWeights`.
        drawn: what a card that nobody knows counts.
        counts: workspace of integers, shape (`N_COUNTS`,). Modified in place.
    """
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    if own["health"] <= 0:
        return -np.inf
    if enemy["health"] <= 0:
        return np.inf
    counts[:] = 0
    for slot in range(own["n_board"]):
        minion = own["board"][slot]
        counts[ATTACK] += minion["attack"]
        counts[HEALTH] += minion["health"]
        if minion["keywords"] & Keyword.DIVINE_SHIELD:
            counts[SHIELD] += minion["attack"] + minion["health"]
    for slot in range(enemy["n_board"]):
        minion = enemy["board"][slot]
        counts[ENEMY_ATTACK] += minion["attack"]
        counts[ENEMY_HEALTH] += minion["health"]
    for place in range(own["n_hand"]):
        number = own["hand"][place]
        if number <= UNKNOWN:
            counts[DRAWN] += 1
        elif number != COIN:
            _count_card(cards[number], counts)
    counts[HERO] = own["health"] + own["armour"]
    counts[ENEMY_HERO] = enemy["health"] + enemy["armour"]
    counts[WEAPON] = own["weapon_attack"] * own["durability"] - enemy["weapon_attack"] * enemy["durability"]
    score = weigh(counts, weights) + _worth_of_hand(counts, weights)
    return float(score + weights[WEAPON] * counts[WEAPON] + drawn * counts[DRAWN])
