"""Recorded minions as records of ours: the parts that auras give, and what they were given."""

from typing import Any

import numpy as np

from engine.cards.table import CardTable
from engine.codes import Keyword
from engine.effect_codes import GRANTED_BY_OPPONENT, MAX_GRANTED_EFFECTS, Trait, Trigger
from engine.effects.ops_character import IN_PLAY_TRIGGERS
from tests.oracle.cards import Cards, SkippedError
from tests.oracle.facts import KEYWORDS, TRAITS

OF_TEXT = {"ENRAGE", "INSPIRE", "MAGNETIC", "OVERKILL", "FORGETFUL", "REBORN"}
"""Words that a text has, which the card's rows carry out; the last three of no card of 2018-07."""
STOLEN = "EX1_334e"
"""Shadow Madness: control for one turn."""
HIDING = {"EX1_128e", "NEW1_014e"}
"""Stealth until the next turn."""
EMPTY = {"EX1_584e", "EX1_304e"}
"""Spell Damage of Ancient Mage, which stands at the minion; what Void Terror got from nobody."""
PLAIN = {
    "id",
    "attack",
    "health",
    "from",
    "by",
    "flags",
    "attack_set",
    "health_set",
    "one_turn",
    "attack_times",
    "spell_damage",
    "aura",
    "tags_only",
    "attack_fn",
}


def import_minion(
    minion: np.void, item: dict[str, Any], seat: int, cards: Cards, table: CardTable, numbers: dict[str, int]
) -> None:
    """Write a recorded minion of the player at `seat`; all but its birth. `minion` is modified in place.

    Raises:
        SkippedError: it has something that is not covered.
    """
    reason = cards.reason_in_play(item["id"])
    if reason and not item["silenced"]:
        raise SkippedError(f"minion: {reason}")
    for name in ("dormant", "extra_deathrattles", "extra_triggers", "pending_destroy", "custom"):
        if item.get(name):
            raise SkippedError("a minion with an effect that is not covered")
    if not set(item["keywords"]) <= KEYWORDS.keys() | TRAITS.keys() | OF_TEXT:
        raise SkippedError("a minion with a keyword that is not covered")
    number = numbers[item["id"]]
    row = table.array[number]
    minion["card"], minion["race"] = number, row["race"]
    minion["attack"], minion["health"] = item["attack"], item["health"]
    minion["max_health"] = item["max_health"]
    minion["keywords"] = sum(KEYWORDS[word] for word in item["keywords"] if word in KEYWORDS)
    minion["spell_damage"] = item.get("spell_damage", 0)
    minion["traits"] = _traits(item, row)
    enchantments = item.get("enchantments", ())
    for enchantment in enchantments:
        _import_enchantment(minion, enchantment, row, cards)
    _import_auras(minion, enchantments, row)
    _import_gifts(minion, enchantments, seat, cards, table, numbers)
    if bool(item.get("has_deathrattle")) != bool(minion["traits"] & Trait.DEATHRATTLE):
        raise SkippedError("a Deathrattle that a minion was given")
    minion["arrived"] = item["summoned_this_turn"]
    limit = 2 if minion["keywords"] & Keyword.WINDFURY else 1
    ready = not item["summoned_this_turn"] or minion["keywords"] & (Keyword.CHARGE | Keyword.RUSH)
    minion["attacks_left"] = max(0, limit - item["attacks_made"]) if ready else 0


def _traits(item: dict[str, Any], row: np.void) -> int:
    traits = 0 if item["silenced"] else int(row["traits"])
    for word in item["keywords"]:
        traits |= TRAITS.get(word, 0)
    if "CANT_ATTACK_HEROES" in _flags(item, one_turn=True):
        traits = traits & ~Trait.SPARES_HEROES | Trait.SPARES_HEROES_NOW
    if traits & Trait.IMMUNE and "IMMUNE" not in _flags(item, one_turn=True):
        raise SkippedError("a minion that is immune for more than a turn")
    if STOLEN in {enchantment["id"] for enchantment in item.get("enchantments", ())}:
        traits |= Trait.STOLEN
        given = {flag for one in item["enchantments"] if one["id"] != STOLEN for flag in one.get("flags", ())}
        if "CHARGE" not in given and not row["keywords"] & Keyword.CHARGE:
            traits |= Trait.HASTENED
    return traits | (Trait.FROZEN if item["frozen"] else 0) | (Trait.SILENCED if item["silenced"] else 0)


def _flags(item: dict[str, Any], one_turn: bool) -> set[str]:
    """Keywords that enchantments of one turn, or all others, give a minion."""
    found = [one for one in item.get("enchantments", ()) if bool(one.get("one_turn")) == one_turn]
    return {flag for one in found for flag in one.get("flags", ())}


def _import_enchantment(minion: np.void, enchantment: dict[str, Any], row: np.void, cards: Cards) -> None:
    """Write what ends with a turn. `minion` is modified in place."""
    if not set(enchantment) <= PLAIN:
        raise SkippedError("an enchantment that is not covered")
    name, source = enchantment["id"], enchantment.get("from", "")
    if enchantment.get("aura"):
        return
    if name in HIDING:
        if row["keywords"] & Keyword.STEALTH:
            raise SkippedError("a Stealth of which the printed one may be left")
        minion["traits"] |= Trait.HIDDEN if minion["keywords"] & Keyword.STEALTH else 0
    elif (
        not set(enchantment) & PLAIN - {"id", "from", "by"}
        and name not in EMPTY
        and not _gives(source, cards)
    ):
        raise SkippedError("an enchantment that is not covered")
    elif "STEALTH" in enchantment.get("flags", ()):
        raise SkippedError("an enchantment of some turns")
    if enchantment.get("one_turn") and not _gives(source, cards):
        if {"health", "attack_set", "health_set", "attack_times", "spell_damage"} & set(enchantment):
            raise SkippedError("an enchantment of this turn that is not covered")
        minion["turn_attack"] += enchantment.get("attack", 0)


def _gives(source: str, cards: Cards) -> bool:
    return source in cards.rows and cards.gives(source)


def _import_auras(minion: np.void, enchantments: list[dict[str, Any]], row: np.void) -> None:
    """Write which part of a minion's numbers auras give: what is there beside the printed and the lasting."""
    lasting = [one for one in enchantments if not one.get("aura")]
    auras = [one for one in enchantments if one.get("aura")]
    if not auras:
        return
    attack, health = int(row["attack"]), int(row["health"])
    for one in lasting:
        if "attack_fn" in one:
            raise SkippedError("an enchantment that is not covered")
        attack = one.get("attack_set", attack * one.get("attack_times", 1) + one.get("attack", 0))
        health = one.get("health_set", health + one.get("health", 0))
    minion["aura_health"] = sum(one.get("health", 0) for one in auras)
    if any("health_set" in one for one in lasting):
        minion["aura_health"] = minion["max_health"] - health
    minion["aura_attack"] = minion["attack"] - max(attack, 0)
    if any("attack_times" in one for one in lasting):  # what auras gave by then was multiplied, and stays
        minion["aura_attack"] = sum(one.get("attack", 0) for one in auras)
    given = {flag for one in auras for flag in one.get("flags", ()) if flag in KEYWORDS}
    own = {flag for one in lasting for flag in one.get("flags", ())}
    printed = 0 if minion["traits"] & Trait.SILENCED else int(row["keywords"])
    bits = sum(KEYWORDS[flag] for flag in given - own)
    minion["aura_keywords"] = minion["keywords"] & bits & ~printed


def _import_gifts(
    minion: np.void,
    enchantments: list[dict[str, Any]],
    seat: int,
    cards: Cards,
    table: CardTable,
    numbers: dict[str, int],
) -> None:
    """Write whose Deathrattles and events a minion was given. `minion` is modified in place."""
    given = [one for one in enchantments if not one.get("aura") and _gives(one.get("from", ""), cards)]
    if len(given) > MAX_GRANTED_EFFECTS:
        raise SkippedError("more gifts than a minion can have")
    for place, one in enumerate(given):
        number = numbers[one["from"]]
        hears = int(table.array[number]["trigger_bits"])
        minion["traits"] |= Trait.DEATHRATTLE if hears >> Trigger.DEATHRATTLE & 1 else 0
        minion["traits"] |= Trait.ACTS if hears & IN_PLAY_TRIGGERS else 0
        theirs = hears & IN_PLAY_TRIGGERS and one.get("by", seat) != seat
        minion["granted_effects"][place] = number + 1 + (GRANTED_BY_OPPONENT if theirs else 0)


def sources(item: dict[str, Any], cards: Cards) -> set[str]:
    """Cards that left something with a recorded card or minion, as far as they are played exactly."""
    found = {one.get("from", "") for one in item.get("enchantments", ())}
    return {name for name in found if name in cards.rows and not cards.reason(name)}
