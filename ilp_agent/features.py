"""Features of a position for a linear evaluation function.

All are counted from one player's view and use only information visible to that player: of the enemy's hand
and deck only their sizes. Features that favour the enemy are negative, so that sensible weights are positive.
The first twelve and the numbers of minions are the terms of HearthSim's score. They stay integers until they
are weighted, so that the score of a position is bit-identical on every path to it. Source: HearthSim, "Intro"
and "Divine Shield Modeling"; for the four about spells in hand, weapons and Charge "Direct damage spells" and
the authors' program (`rivals.hearthsim`).
"""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Any

import numpy as np

from engine.codes import COIN, UNKNOWN, Keyword
from engine.effect_codes import ENEMY, CardKind, Op, Trigger
from engine.effects.card_filters import has_effects
from engine.jit import njit_no_alloc
from engine.state import guards
from ilp_agent.weights import N_EXTENDED, N_TERMS, Term

ATTACK, HEALTH, ENEMY_ATTACK, ENEMY_HEALTH, HAND_MANA, HERO, ENEMY_HERO, SHIELD = range(8)
"""Indices of HearthSim's counts in every game."""

HAND_SPELL_DAMAGE, DAMAGE_SPELLS, WEAPON, CHARGE = range(8, 12)
"""HearthSim's additional counts with card effects: damage spells in hand, weapons, and Charge in hand."""

HIDDEN_CARDS = 12
"""Index of the count of hidden cards in the own hand; not a feature."""

MINIONS, ENEMY_MINIONS = 13, 14
"""HearthSim's counts of minions, which its posts do not mention and its program has."""

N_COUNTS = ENEMY_MINIONS + 1

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "attack": "attack of own minions",
        "health": "health of own minions",
        "enemy_attack": "attack of enemy minions, against",
        "enemy_health": "health of enemy minions, against",
        "hand_mana": "mana cost of the cards in the own hand, damage spells excluded",
        "hero": "health and armour of the own hero",
        "enemy_hero": "health and armour of the enemy hero, against",
        "shield": "attack and health of own minions with Divine Shield",
        "spell_damage": "damage of the damage spells in the own hand",
        "damage_spells": "damage spells in the own hand",
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
        "wounds": "health that the own hero is below 15, squared and divided by 15, against",
        "enemy_wounds": "health that the enemy hero is below 15, squared and divided by 15",
        "lethal": "1 if own minions could kill the enemy hero and nothing changes",
        "threatened": "1 if enemy minions could kill the own hero and nothing changes, against",
        "bodies": "square root of attack times health of each own minion",
        "enemy_bodies": "square root of attack times health of each enemy minion, against",
        "fatigue": "damage that the own hero takes at the next draw, against",
        "enemy_fatigue": "damage that the enemy hero takes at the next draw",
        "secrets": "own Secrets in play",
        "enemy_secrets": "enemy Secrets in play, against",
    }
)
"""Description of each feature, in the order used everywhere."""

FEATURES = tuple(MEANINGS)
N_FEATURES = len(FEATURES)

_enum: Any = IntEnum  # members are generated, invisible to type checkers
Feature = _enum("Feature", [name.upper() for name in FEATURES], start=0, module=__name__)
"""Indices of features in arrays."""

assert [FEATURES[count] for count in (ATTACK, SHIELD, HAND_SPELL_DAMAGE, CHARGE, MINIONS, ENEMY_MINIONS)] == [
    *("attack", "shield", "spell_damage", "charge", "minions", "enemy_minions")
]


@njit_no_alloc
def count_hearthsim_terms(state: np.void, cards: np.ndarray, seat: int, counts: np.ndarray) -> None:
    """Count HearthSim's terms from the view of the player at `seat`, and hidden cards in the own hand.

    Args:
        state: dtype `engine.state.STATE`.
        cards: the card table, dtype `engine.state.CARD`.
        seat: 0 or 1.
        counts: shape (at least `N_COUNTS`,). Modified in place.
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
    for extra in range(HAND_SPELL_DAMAGE, N_COUNTS):
        counts[extra] = 0
    counts[MINIONS], counts[ENEMY_MINIONS] = own["n_board"], enemy["n_board"]
    effects = has_effects(cards)
    for place in range(own["n_hand"]):
        number = own["hand"][place]
        if number <= UNKNOWN:
            counts[HIDDEN_CARDS] += 1
        elif number != COIN:
            count_hand_card(cards[number], effects, counts)
    counts[WEAPON] = own["weapon_attack"] * own["durability"] - enemy["weapon_attack"] * enemy["durability"]


@njit_no_alloc
def count_hand_card(card: np.void, effects: bool, counts: np.ndarray) -> None:
    """Count a card in hand; without card effects only its cost. `counts` is modified in place."""
    if not effects:
        counts[HAND_MANA] += card["cost"]
        return
    damage = direct_damage(card)
    if damage:
        counts[HAND_SPELL_DAMAGE] += damage
        counts[DAMAGE_SPELLS] += 1
        return
    counts[HAND_MANA] += card["cost"]
    if card["kind"] == CardKind.MINION and card["keywords"] & Keyword.CHARGE:
        counts[CHARGE] += 1


@njit_no_alloc
def direct_damage(card: np.void) -> int:
    """Printed damage of a spell to the enemy side; 0 for other cards."""
    if card["kind"] != CardKind.SPELL:
        return 0
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        if effect["trigger"] == Trigger.PLAY and effect["op"] == Op.DAMAGE and effect["side"] & ENEMY:
            return int(effect["amount"])
    return 0


@njit_no_alloc
def uses_full_weights(weights: np.ndarray) -> bool:
    """Whether a weight of the position at the turn's end is set, beyond the extended weights."""
    total = 0.0
    for term in range(N_EXTENDED, N_TERMS):
        total += weights[term]
    return total > 0.0


@njit_no_alloc
def health_value(keywords: int, weights: np.ndarray) -> float:
    """Value of a point of health of an own minion at the turn's end, by the weights `health` and `taunt`."""
    taunt = weights[Term.TAUNT] if keywords & Keyword.TAUNT else 0.0
    return float(weights[Term.HEALTH] + taunt)


@njit_no_alloc
def minion_end_value(attack: int, health: int, keywords: int, weights: np.ndarray) -> float:
    """Value of an own minion at the turn's end by the full weights, beyond the extended weights.

    Args:
        attack: its attack, without that of this turn alone.
        health: its health.
        keywords: bits of `Keyword`.
        weights: of the turn program, indexed by `Term`.
    """
    value = weights[Term.ATTACK] * attack + health_value(keywords, weights) * health
    if keywords & Keyword.DIVINE_SHIELD:
        value += weights[Term.SHIELD] * (attack + health)
    return float(value)


@njit_no_alloc
def compute_features(state: np.void, cards: np.ndarray, seat: int, features: np.ndarray) -> None:
    """Compute all features from the view of the player at `seat`.

    Args:
        state: dtype `engine.state.STATE`.
        cards: the card table, dtype `engine.state.CARD`.
        seat: 0 or 1.
        features: float64, shape (`N_FEATURES`,). Modified in place.
    """
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    features[:] = 0.0
    count_hearthsim_terms(state, cards, seat, features)
    features[HIDDEN_CARDS] = 0.0
    for against in (ENEMY_ATTACK, ENEMY_HEALTH, ENEMY_HERO, ENEMY_MINIONS):
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
    features[Feature.WOUNDS] = -_low_health_penalty(own)
    features[Feature.ENEMY_WOUNDS] = _low_health_penalty(enemy)
    features[Feature.LETHAL] = 1.0 if _strength(own, enemy) >= -features[ENEMY_HERO] else 0.0
    features[Feature.THREATENED] = -1.0 if _strength(enemy, own) >= features[HERO] else 0.0
    features[Feature.FATIGUE] = -(own["fatigue"] + 1) if own["n_deck"] == 0 else 0
    features[Feature.ENEMY_FATIGUE] = enemy["fatigue"] + 1 if enemy["n_deck"] == 0 else 0
    features[Feature.SECRETS] = own["n_secrets"]
    features[Feature.ENEMY_SECRETS] = -enemy["n_secrets"]


@njit_no_alloc
def _count_minion(minion: np.void, features: np.ndarray, sign: float, enemy: int) -> None:
    """Add a minion to the features that exist for both sides. `features` is modified in place.

    The enemy's feature comes directly after the own one; `enemy` is 0 or 1.
    """
    keywords = minion["keywords"]
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


PAIRS = ("bodies", "taunt", "windfury", "lifesteal", "poisonous", "stealth")
assert all(Feature[f"ENEMY_{name}".upper()] == Feature[name.upper()] + 1 for name in PAIRS)


@njit_no_alloc
def _low_health_penalty(side: np.void) -> float:
    """Convex penalty for low hero health: health below half its maximum, squared, divided by that half."""
    half = max(side["max_health"] // 2, 1)
    missing = max(0, half - (side["health"] + side["armour"]))
    return float(missing * missing / half)


@njit_no_alloc
def _strength(side: np.void, other: np.void) -> int:
    """Damage that a side's minions can deal to the other hero in one turn; 0 behind Taunt."""
    for slot in range(other["n_board"]):
        if guards(other["board"][slot]):
            return 0
    damage = 0
    for slot in range(side["n_board"]):
        minion = side["board"][slot]
        damage += minion["attack"] * (2 if minion["keywords"] & Keyword.WINDFURY else 1)
    return damage
