"""Features of a position: named numbers of which a linear value is made.

All are counted from the view of one player, of what that player may know. Source of those marked H: HearthSim,
"Intro" and "Divine Shield Modeling"; of those marked M: the paper on minimax with learned weights; others ours.
"""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType

import numpy as np

from engine.codes import COIN, HERO_HEALTH, UNKNOWN, Keyword
from engine.combat import guards
from engine.jit import njit_borrowing

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "attack": "attack of own minions",
        "health": "health of own minions",
        "enemy_attack": "attack of enemy minions",
        "enemy_health": "health of enemy minions",
        "hand_mana": "mana cost of the cards in hand",
        "hero": "health and armour of the own hero",
        "enemy_hero": "health and armour of the enemy hero",
        "shield": "attack and health of own minions with Divine Shield",
        "enemy_shield": "attack and health of enemy minions with Divine Shield",
        "minions": "own minions",
        "enemy_minions": "enemy minions",
        "hand": "cards in the own hand",
        "enemy_hand": "cards in the enemy hand",
        "taunt": "health of own minions with Taunt",
        "enemy_taunt": "health of enemy minions with Taunt",
        "swift": "attack of own minions with Windfury",
        "enemy_swift": "attack of enemy minions with Windfury",
        "lifesteal": "attack of own minions with Lifesteal",
        "enemy_lifesteal": "attack of enemy minions with Lifesteal",
        "poisonous": "own minions with Poisonous",
        "enemy_poisonous": "enemy minions with Poisonous",
        "stealth": "attack of own minions with Stealth",
        "enemy_stealth": "attack of enemy minions with Stealth",
        "wounded": "health of the own hero below half, squared, in 15ths",
        "enemy_wounded": "health of the enemy hero below half, squared, in 15ths",
        "lethal": "1: own minions could kill the enemy hero if nothing changed",
        "threatened": "1: enemy minions could kill the own hero if nothing changed",
        "bodies": "square root of attack times health, summed over own minions",
        "enemy_bodies": "square root of attack times health, summed over enemy minions",
        "weapon": "attack times durability of the own weapon",
        "enemy_weapon": "attack times durability of the enemy weapon",
        "secrets": "own Secrets",
        "enemy_secrets": "enemy Secrets",
        "fatigue": "damage the own hero takes by fatigue on the next draw",
        "enemy_fatigue": "damage the enemy hero takes by fatigue on the next draw",
    }
)
"""Every feature by its name, in their order everywhere."""

NAMES = tuple(MEANINGS)
N_FEATURES = len(NAMES)

Feature = IntEnum("Feature", [name.upper() for name in NAMES], start=0, module=__name__)  # type: ignore[misc]
"""Places of features in arrays."""


@njit_borrowing
def read_features(state: np.void, cards: np.ndarray, seat: int, features: np.ndarray) -> None:
    """Count every feature from the view of the player at `seat`.

    Args:
        state: dtype `engine.state.STATE`; of the enemy's hand and deck only the sizes are read.
        cards: the card table.
        seat: 0 or 1.
        features: float64, shape (`N_FEATURES`,). Modified in place.
    """
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    _read_side(own, features, 0)
    _read_side(enemy, features, 1)
    mana = 0
    for place in range(own["n_hand"]):
        if own["hand"][place] >= 0:
            mana += cards[own["hand"][place]]["cost"]
    features[Feature.HAND_MANA] = mana
    features[Feature.LETHAL] = 1.0 if _strikes(own, enemy) >= features[Feature.ENEMY_HERO] else 0.0
    features[Feature.THREATENED] = 1.0 if _strikes(enemy, own) >= features[Feature.HERO] else 0.0


@njit_borrowing
def _read_side(side: np.void, features: np.ndarray, enemy: int) -> None:
    attack, health, shield, taunt, swift, lifesteal, poisonous, stealth = 0, 0, 0, 0, 0, 0, 0, 0
    bodies = 0.0
    for slot in range(side["n_board"]):
        minion = side["board"][slot]
        attack += minion["attack"]
        health += minion["health"]
        bodies += np.sqrt(float(minion["attack"]) * float(minion["health"]))
        keywords = minion["keywords"]
        if keywords & Keyword.DIVINE_SHIELD:
            shield += minion["attack"] + minion["health"]
        if keywords & Keyword.TAUNT:
            taunt += minion["health"]
        if keywords & Keyword.WINDFURY:
            swift += minion["attack"]
        if keywords & Keyword.LIFESTEAL:
            lifesteal += minion["attack"]
        if keywords & Keyword.POISONOUS:
            poisonous += 1
        if keywords & Keyword.STEALTH:
            stealth += minion["attack"]
    hero = side["health"] + side["armour"]
    wound = max(0, HERO_HEALTH // 2 - hero)
    hand = 0
    for place in range(side["n_hand"]):
        hand += 1 if side["hand"][place] != COIN else 0
    if enemy:
        features[Feature.ENEMY_ATTACK], features[Feature.ENEMY_HEALTH] = attack, health
        features[Feature.ENEMY_SHIELD], features[Feature.ENEMY_TAUNT] = shield, taunt
        features[Feature.ENEMY_SWIFT], features[Feature.ENEMY_LIFESTEAL] = swift, lifesteal
        features[Feature.ENEMY_POISONOUS], features[Feature.ENEMY_STEALTH] = poisonous, stealth
        features[Feature.ENEMY_MINIONS], features[Feature.ENEMY_HERO] = side["n_board"], hero
        features[Feature.ENEMY_HAND], features[Feature.ENEMY_BODIES] = side["n_hand"], bodies
        features[Feature.ENEMY_WOUNDED] = wound * wound / 15.0
        features[Feature.ENEMY_WEAPON] = side["weapon_attack"] * side["durability"]
        features[Feature.ENEMY_SECRETS] = side["n_secrets"]
        features[Feature.ENEMY_FATIGUE] = side["fatigue"] + 1 if side["n_deck"] == 0 else 0
    else:
        features[Feature.ATTACK], features[Feature.HEALTH] = attack, health
        features[Feature.SHIELD], features[Feature.TAUNT] = shield, taunt
        features[Feature.SWIFT], features[Feature.LIFESTEAL] = swift, lifesteal
        features[Feature.POISONOUS], features[Feature.STEALTH] = poisonous, stealth
        features[Feature.MINIONS], features[Feature.HERO] = side["n_board"], hero
        features[Feature.HAND], features[Feature.BODIES] = hand, bodies
        features[Feature.WOUNDED] = wound * wound / 15.0
        features[Feature.WEAPON] = side["weapon_attack"] * side["durability"]
        features[Feature.SECRETS] = side["n_secrets"]
        features[Feature.FATIGUE] = side["fatigue"] + 1 if side["n_deck"] == 0 else 0


@njit_borrowing
def _strikes(side: np.void, other: np.void) -> int:
    """Attack of a side's minions on a hero; 0 where the other side guards it."""
    damage = 0
    for slot in range(other["n_board"]):
        if guards(other["board"][slot]):
            return 0
    for slot in range(side["n_board"]):
        minion = side["board"][slot]
        damage += minion["attack"] * (2 if minion["keywords"] & Keyword.WINDFURY else 1)
    return damage
