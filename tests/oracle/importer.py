"""A recorded state as a position of ours."""

from typing import Any

import numpy as np

from engine import Position
from engine.actions import Action, own
from engine.cards.table import CardTable
from engine.codes import COIN, HERO, HERO_HEALTH, Keyword
from engine.position import empty_state
from engine.vocabulary import Trait
from tests.oracle.cards import Cards, SkippedError

COIN_ID = "GAME_005"
KEYWORDS = {keyword.name: keyword for keyword in Keyword}
TRAITS = {
    "CANT_ATTACK": Trait.CANT_ATTACK,
    "CANT_BE_TARGETED_BY_SPELLS": Trait.ELUSIVE,
    "CANT_BE_TARGETED_BY_HERO_POWERS": Trait.ELUSIVE,
    "CANT_ATTACK_HEROES": Trait.SPARES_HEROES,
    "IMMUNE": Trait.IMMUNE,
}
STOLEN = "EX1_334e"
"""Shadow Madness: control for one turn."""
PRINTED = Trait.FREEZES | Trait.DEATHRATTLE


def import_state(state: dict[str, Any], cards: Cards) -> Position:
    """A recorded state as a position.

    Raises:
        SkippedError: something on a board, in a weapon, a power, a secret or a pending effect is not covered.
    """
    if state.get("choice"):
        raise SkippedError("an open choice")
    if state.get("extra_turns"):
        raise SkippedError("extra turns")
    ids = _ids(state)
    table = CardTable(cards.with_created([cards.card(name) for name in ids]))
    numbers = {card.id: number for number, card in reversed(list(enumerate(table.cards)))}
    record = empty_state()
    record["turn"], record["turn_cap"] = (state["turn"] + 1) // 2, 998
    record["active"], record["first_draw"], record["effects"] = state["active"], 1, 1
    births = sorted(minion["order"] for player in state["players"] for minion in player["board"])
    record["births"] = len(births)
    for seat, player in enumerate(state["players"]):
        _import_side(record["sides"][seat], player, seat == state["active"], cards, table, numbers, births)
    return Position(record, table)


def _ids(state: dict[str, Any]) -> list[str]:
    found: dict[str, None] = {}
    for player in state["players"]:
        for item in (*player["hand"], *player["board"], player["power"], player["weapon"]):
            if item is not None:
                found[item["id"]] = None
        found.update(dict.fromkeys(player["deck"]))
    found.pop(COIN_ID, None)
    return list(found)


def _import_side(
    side: np.void,
    player: dict[str, Any],
    moves: bool,
    cards: Cards,
    table: CardTable,
    numbers: dict[str, int],
    births: list[int],
) -> None:
    if player["secrets"] and not moves:  # one's own do nothing on one's own turn
        raise SkippedError("a secret")
    for name in ("quest", "player_enchantments", "pending_events", "deck_altered"):
        if player.get(name):
            raise SkippedError("a quest" if name == "quest" else "an effect on a player")
    hero, weapon, power = player["hero"], player["weapon"], player["power"]
    if hero["max_health"] != HERO_HEALTH or hero.get("keywords"):
        raise SkippedError("a hero that is not covered")
    side["health"], side["armour"] = hero["health"], hero["armor"]
    side["mana"], side["crystals"] = player["mana"], player["crystals"]
    side["fatigue"] = player["fatigue"]
    side["overload"], side["locked"] = player["overloaded"], player["overload_locked"]
    side["traits"] = (Trait.FROZEN if hero["frozen"] else 0) | (Trait.IMMUNE if hero["immune"] else 0)
    if weapon:
        if cards.reason_in_play(weapon["id"]):
            raise SkippedError(f"weapon: {cards.reason(weapon['id'])}")
        side["weapon"] = numbers[weapon["id"]]
        side["weapon_attack"], side["durability"] = weapon["attack"], weapon["durability"]
    side["hero_attack"] = hero["attack"] - (weapon["attack"] if weapon and moves else 0)
    if side["hero_attack"] < 0:
        raise SkippedError("a hero that is not covered")
    limit = 2 if weapon and table.cards[side["weapon"]].spec.windfury else 1
    side["hero_attacks_left"] = max(0, limit - hero["attacks_made"])
    if cards.reason(power["id"]):
        raise SkippedError(f"hero power: {cards.reason(power['id'])}")
    if power.get("extra_uses_this_turn") or power.get("enchantments"):
        raise SkippedError("a hero power with an enchantment")
    side["power"] = 1 + numbers[power["id"]]
    side["power_used"] = min(1, power["uses_this_turn"])
    side["n_hand"] = len(player["hand"])
    for place, item in enumerate(player["hand"]):
        side["hand"][place] = COIN if item["id"] == COIN_ID else numbers[item["id"]]
    side["n_deck"] = len(player["deck"])
    if side["n_deck"] > len(side["deck"]):
        raise SkippedError("a deck of more than 30 cards")
    for place, name in enumerate(reversed(player["deck"])):
        side["deck"][place] = COIN if name == COIN_ID else numbers[name]
    side["n_board"] = len(player["board"])
    for minion, item in zip(side["board"], player["board"], strict=False):
        _import_minion(minion, item, cards, table, numbers)
        minion["born"] = 1 + births.index(item["order"])


def _import_minion(
    minion: np.void, item: dict[str, Any], cards: Cards, table: CardTable, numbers: dict[str, int]
) -> None:
    reason = cards.reason_in_play(item["id"])
    if reason and not item["silenced"]:
        raise SkippedError(f"minion: {reason}")
    for name in ("dormant", "extra_deathrattles", "extra_triggers", "pending_destroy", "custom"):
        if item.get(name):
            raise SkippedError("a minion with an effect that is not covered")
    number = numbers[item["id"]]
    row = table.array[number]
    minion["card"], minion["race"] = number, row["race"]
    minion["attack"], minion["health"], minion["max_health"] = (
        item["attack"],
        item["health"],
        item["max_health"],
    )
    minion["keywords"] = sum(KEYWORDS[word] for word in item["keywords"] if word in KEYWORDS)
    if not set(item["keywords"]) <= KEYWORDS.keys() | TRAITS.keys():
        raise SkippedError("a minion with a keyword that is not covered")
    traits = 0
    for word in item["keywords"]:
        traits |= TRAITS.get(word, 0)
    traits |= 0 if item["silenced"] else int(row["traits"]) & PRINTED
    traits |= Trait.FROZEN if item["frozen"] else 0
    traits |= Trait.SILENCED if item["silenced"] else 0
    minion["traits"] = traits
    minion["spell_damage"] = item.get("spell_damage", 0)
    for enchantment in item.get("enchantments", ()):
        _import_enchantment(minion, enchantment)
    if STOLEN in {enchantment["id"] for enchantment in item.get("enchantments", ())}:
        raise SkippedError("a minion whose control ends with the turn")
    if bool(item.get("has_deathrattle")) != bool(traits & Trait.DEATHRATTLE):
        raise SkippedError("a Deathrattle that a minion was given")
    minion["arrived"] = item["summoned_this_turn"]
    limit = 2 if minion["keywords"] & Keyword.WINDFURY else 1
    ready = not item["summoned_this_turn"] or minion["keywords"] & (Keyword.CHARGE | Keyword.RUSH)
    minion["attacks_left"] = max(0, limit - item["attacks_made"]) if ready else 0


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
}


def _import_enchantment(minion: np.void, enchantment: dict[str, Any]) -> None:
    if enchantment.get("aura"):
        raise SkippedError("an aura")
    if not set(enchantment) <= PLAIN:
        raise SkippedError("an enchantment that is not covered")
    numbers = {"attack", "health", "flags", "attack_set", "health_set", "attack_times", "spell_damage"} & set(
        enchantment
    )
    if not numbers:
        raise SkippedError("an enchantment that is not covered")
    if enchantment.get("one_turn"):
        if numbers - {"attack"}:
            raise SkippedError("an enchantment of this turn that is not covered")
        minion["turn_attack"] += enchantment["attack"]
    if {"STEALTH", "IMMUNE"} & set(enchantment.get("flags", ())):
        raise SkippedError("an enchantment of some turns")


def import_action(action: dict[str, Any], state: dict[str, Any]) -> Action:
    """A recorded action as ours.

    Raises:
        SkippedError: it is of a kind that is not ours.
    """
    kind = action["type"]
    if kind == "end_turn":
        return Action.end_turn()
    target = action.get("target")
    active = state["active"]
    character = None
    if target is not None:
        place = HERO if target["zone"] == "hero" else target["index"]
        character = own(place) if target["side"] == active else place
    if kind == "attack":
        attacker = action["attacker"]
        assert character is not None
        return Action.attack(HERO if attacker["zone"] == "hero" else attacker["index"], character)
    if kind == "power":
        return Action.power(character)
    if kind == "play":
        if action.get("choose"):
            raise SkippedError("Choose One")
        return Action.play(action["hand"], character)
    raise SkippedError(f"a {kind}")
