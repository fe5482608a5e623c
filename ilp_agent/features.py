"""Features of a position: named numbers, of which a linear value is made.

All are counted from the view of one player, and only what that player may know; of the enemy's hand and deck
that is their sizes. What speaks against the player is counted below zero, so that sensible weights are
positive. The first twelve are the terms of HearthSim's score, kept as whole numbers until they are weighed,
so that a position has the same score to the last bit whichever way it was reached. Source: HearthSim, "Intro"
and "Divine Shield Modeling"; of the four about spells held, weapons and Charge "Direct damage spells" and the
authors' program (`rivals.hearthsim`).
"""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Any

import numpy as np

from engine.codes import COIN, UNKNOWN, Keyword
from engine.effect_codes import ENEMY, CardKind, Op, Trigger
from engine.effects.card_filters import has_effects
from engine.jit import njit_borrowing
from engine.state import guards

ATTACK, HEALTH, ENEMY_ATTACK, ENEMY_HEALTH, HAND_MANA, HERO, ENEMY_HERO, SHIELD = range(8)
"""HearthSim's counts in every game."""

DIRECT, SPELLS, WEAPON, CHARGE = range(8, 12)
"""Its further counts on real cards: damage of spells held, their number, weapons, and Charge held."""

DRAWN = 12
"""Cards in hand that the player does not know yet; no feature."""

N_COUNTS = DRAWN + 1

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "attack": "attack of own minions",
        "health": "health of own minions",
        "enemy_attack": "attack of enemy minions, against",
        "enemy_health": "health of enemy minions, against",
        "hand_mana": "mana cost of the cards in the own hand, spells that deal damage left out",
        "hero": "health and armour of the own hero",
        "enemy_hero": "health and armour of the enemy hero, against",
        "shield": "attack and health of own minions with Divine Shield",
        "spell_damage": "damage of the spells in the own hand that deal it",
        "damage_spells": "spells in the own hand that deal damage",
        "weapon": "attack times durability of the own weapon, less that of the enemy's",
        "charge": "minions with Charge in the own hand",
        "enemy_shield": "attack and health of enemy minions with Divine Shield, against",
        "minions": "own minions",
        "enemy_minions": "enemy minions, against",
        "hand": "cards in the own hand",
        "enemy_hand": "cards in the enemy hand, against",
        "taunt": "health of own minions with Taunt",
        "enemy_taunt": "health of enemy minions with Taunt, against",
        "windfury": "attack of own minions with Windfury",
        "enemy_windfury": "attack of enemy minions with Windfury, against",
        "lifesteal": "attack of own minions with Lifesteal",
        "enemy_lifesteal": "attack of enemy minions with Lifesteal, against",
        "poisonous": "own minions with Poisonous",
        "enemy_poisonous": "enemy minions with Poisonous, against",
        "stealth": "attack of own minions with Stealth",
        "enemy_stealth": "attack of enemy minions with Stealth, against",
        "wounds": "what the own hero lacks to 15 health, squared and divided by 15, against",
        "enemy_wounds": "what the enemy hero lacks to 15 health, squared and divided by 15",
        "lethal": "1 where own minions could kill the enemy hero if nothing changed",
        "threatened": "1 where enemy minions could kill the own hero if nothing changed, against",
        "bodies": "root of attack times health of each own minion",
        "enemy_bodies": "root of attack times health of each enemy minion, against",
        "fatigue": "damage that the own hero takes at the next draw, against",
        "enemy_fatigue": "damage that the enemy hero takes at the next draw",
        "secrets": "own Secrets in play",
        "enemy_secrets": "enemy Secrets in play, against",
    }
)
"""Every feature by its name, in their order everywhere."""

FEATURES = tuple(MEANINGS)
N_FEATURES = len(FEATURES)

_enum: Any = IntEnum  # its names are not in any source
Feature = _enum("Feature", [name.upper() for name in FEATURES], start=0, module=__name__)
"""Places of features in arrays."""

assert [Feature.ATTACK, Feature.SHIELD, Feature.SPELL_DAMAGE, Feature.CHARGE] == [
    ATTACK,
    SHIELD,
    DIRECT,
    CHARGE,
]


@njit_borrowing
def read_counts(state: np.void, cards: np.ndarray, seat: int, counts: np.ndarray) -> None:
    """Count HearthSim's terms from the view of the player at `seat`, and cards in hand that are hidden.

    Args:
        state: dtype `engine.state.STATE`.
        cards: the card table, dtype `engine.state.CARD`.
        seat: 0 or 1.
        counts: numbers, shape (at least `N_COUNTS`,). Modified in place.
    """
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    attack, health, shield = 0, 0, 0
    for slot in range(own["n_board"]):
        minion = own["board"][slot]
        attack += minion["attack"]
        health += minion["health"]
        if minion["keywords"] & Keyword.DIVINE_SHIELD:
            shield += minion["attack"] + minion["health"]
    counts[ATTACK], counts[HEALTH], counts[SHIELD] = attack, health, shield
    attack, health = 0, 0
    for slot in range(enemy["n_board"]):
        attack += enemy["board"][slot]["attack"]
        health += enemy["board"][slot]["health"]
    counts[ENEMY_ATTACK], counts[ENEMY_HEALTH] = attack, health
    counts[HERO] = own["health"] + own["armour"]
    counts[ENEMY_HERO] = enemy["health"] + enemy["armour"]
    counts[HAND_MANA] = 0
    for further in range(DIRECT, N_COUNTS):
        counts[further] = 0
    effects = has_effects(cards)
    for place in range(own["n_hand"]):
        number = own["hand"][place]
        if number <= UNKNOWN:
            counts[DRAWN] += 1
        elif number != COIN:
            count_held(cards[number], effects, counts)
    counts[WEAPON] = own["weapon_attack"] * own["durability"] - enemy["weapon_attack"] * enemy["durability"]


@njit_borrowing
def count_held(card: np.void, effects: bool, counts: np.ndarray) -> None:
    """Count a card held; in a game of bodies its cost alone. `counts` is modified in place."""
    if not effects:
        counts[HAND_MANA] += card["cost"]
        return
    damage = direct_damage(card)
    if damage:
        counts[DIRECT] += damage
        counts[SPELLS] += 1
        return
    counts[HAND_MANA] += card["cost"]
    if card["kind"] == CardKind.MINION and card["keywords"] & Keyword.CHARGE:
        counts[CHARGE] += 1


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
def read_features(state: np.void, cards: np.ndarray, seat: int, features: np.ndarray) -> None:
    """Count every feature from the view of the player at `seat`.

    Args:
        state: dtype `engine.state.STATE`.
        cards: the card table, dtype `engine.state.CARD`.
        seat: 0 or 1.
        features: float64, shape (`N_FEATURES`,). Modified in place.
    """
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    features[:] = 0.0
    read_counts(state, cards, seat, features)
    features[DRAWN] = 0.0
    for against in (ENEMY_ATTACK, ENEMY_HEALTH, ENEMY_HERO):
        features[against] = -features[against]
    for slot in range(own["n_board"]):
        _count_minion(own["board"][slot], features, 1.0, 0)
    for slot in range(enemy["n_board"]):
        minion = enemy["board"][slot]
        if minion["keywords"] & Keyword.DIVINE_SHIELD:
            features[Feature.ENEMY_SHIELD] -= minion["attack"] + minion["health"]
        _count_minion(minion, features, -1.0, 1)
    for place in range(own["n_hand"]):
        features[Feature.HAND] += 1.0 if own["hand"][place] != COIN else 0.0
    features[Feature.ENEMY_HAND] = -enemy["n_hand"]
    features[Feature.WOUNDS] = -_wounds(own)
    features[Feature.ENEMY_WOUNDS] = _wounds(enemy)
    features[Feature.LETHAL] = 1.0 if _strength(own, enemy) >= -features[ENEMY_HERO] else 0.0
    features[Feature.THREATENED] = -1.0 if _strength(enemy, own) >= features[HERO] else 0.0
    features[Feature.FATIGUE] = -(own["fatigue"] + 1) if own["n_deck"] == 0 else 0
    features[Feature.ENEMY_FATIGUE] = enemy["fatigue"] + 1 if enemy["n_deck"] == 0 else 0
    features[Feature.SECRETS] = own["n_secrets"]
    features[Feature.ENEMY_SECRETS] = -enemy["n_secrets"]


@njit_borrowing
def _count_minion(minion: np.void, features: np.ndarray, sign: float, enemy: int) -> None:
    """Count a minion for features that come in pairs, the enemy's after the own. Modified in place."""
    keywords = minion["keywords"]
    features[Feature.MINIONS + enemy] += sign
    features[Feature.BODIES + enemy] += sign * np.sqrt(np.float64(minion["attack"] * minion["health"]))
    if keywords & Keyword.TAUNT:
        features[Feature.TAUNT + enemy] += sign * minion["health"]
    if keywords & Keyword.WINDFURY:
        features[Feature.WINDFURY + enemy] += sign * minion["attack"]
    if keywords & Keyword.LIFESTEAL:
        features[Feature.LIFESTEAL + enemy] += sign * minion["attack"]
    if keywords & Keyword.POISONOUS:
        features[Feature.POISONOUS + enemy] += sign
    if keywords & Keyword.STEALTH:
        features[Feature.STEALTH + enemy] += sign * minion["attack"]


PAIRS = ("minions", "bodies", "taunt", "windfury", "lifesteal", "poisonous", "stealth")
assert all(Feature[f"ENEMY_{name}".upper()] == Feature[name.upper()] + 1 for name in PAIRS)


@njit_borrowing
def _wounds(side: np.void) -> float:
    """What a hero lacks to half its health, squared and divided by that half: the last points are dear."""
    half = max(side["max_health"] // 2, 1)
    lacks = max(0, half - (side["health"] + side["armour"]))
    return float(lacks * lacks / half)


@njit_borrowing
def _strength(side: np.void, other: np.void) -> int:
    """Attack of a side's minions on a hero; 0 where the other side guards it."""
    for slot in range(other["n_board"]):
        if guards(other["board"][slot]):
            return 0
    damage = 0
    for slot in range(side["n_board"]):
        minion = side["board"][slot]
        damage += minion["attack"] * (2 if minion["keywords"] & Keyword.WINDFURY else 1)
    return damage
