"""A recorded state as a position of ours."""

from typing import Any

import numpy as np

from engine import Position
from engine.actions import Action, own_target
from engine.cards.table import CardTable
from engine.codes import COIN, HERO, HERO_HEALTH
from engine.effect_codes import (
    MAX_GRAVEYARD,
    MAX_PENDING_COSTS,
    GameFeature,
    HeroClassCode,
    Op,
    Trait,
)
from engine.position import empty_state
from tests.oracle.cards import Cards, SkippedError
from tests.oracle.choices import cards_of, deck_of, import_choice
from tests.oracle.counters import COIN_ID, COUNTERS
from tests.oracle.minions import import_minion, sources
from tests.oracle.pools import table_of

TURN_CAP = 100
NOTHING = frozenset[str]()
MILLHOUSE = "NEW1_029t"
"""The enchantment of a hero whose next spells cost nothing."""
ENCHANTED_DECK = ("quest", "pending_events", "deck_altered")


def import_state(state: dict[str, Any], cards: Cards, names: frozenset[str] = NOTHING) -> Position:
    """A recorded state as a position.

    Args:
        state: before the step.
        cards: of the records.
        names: of the cards that may be drawn at random from all cards.

    Raises:
        SkippedError: something on a board, in a weapon, a power, a secret or a pending effect is not covered.
    """
    if state.get("extra_turns"):
        raise SkippedError("extra turns")
    ids = _ids(state, cards)
    table = table_of(ids, names, cards)
    if table.array[0]["game_features"] & GameFeature.GRAVEYARD:
        dead = [name for player in state["players"] for name in player["minions_died_this_game"]]
        table = table_of(dict.fromkeys([*ids, *dead]), names, cards)
    numbers = {card.id: number for number, card in reversed(list(enumerate(table.cards)))}
    record = empty_state()
    record["turn"], record["turn_cap"] = (state["turn"] + 1) // 2, TURN_CAP
    record["active"], record["first_draw"] = state["active"], 1
    births = sorted(order for player in state["players"] for order in _orders(player))
    record["last_entity_id"] = len(births)
    for seat, player in enumerate(state["players"]):
        side = record["sides"][seat]
        moves = seat == state["active"]
        _import_side(side, player, moves, cards, table, numbers)
        _import_cards(side, player, deck_of(state, seat, cards), cards, table, numbers)
        _import_secrets(side, player, cards, numbers, births)
        _import_counters(side, player, moves, cards, table, numbers)
        for minion, item in zip(side["board"], player["board"], strict=False):
            import_minion(minion, item, seat, cards, table, numbers)
            minion["entity_id"] = 1 + births.index(item["order"])
    import_choice(record, state, cards, table, numbers)
    return Position(record, table)


def _orders(player: dict[str, Any]) -> list[int]:
    return [*(minion["order"] for minion in player["board"]), *player.get("secret_order", ())]


def _ids(state: dict[str, Any], cards: Cards) -> list[str]:
    """Every card of a state, and those that left something with others."""
    found: dict[str, None] = {}
    for player in state["players"]:
        for item in (*player["hand"], *player["board"], player["power"], player["weapon"]):
            if item is not None:
                found[cards.name_of(item)] = None
                found.update(dict.fromkeys(sorted(sources(item, cards))))
        found.update(dict.fromkeys((*player["deck"], *player["secrets"], *_promised(player, cards))))
    found.update(dict.fromkeys(map(cards.our_id, cards_of(state))))
    found.pop(COIN_ID, None)
    return list(found)


def _promised(player: dict[str, Any], cards: Cards) -> list[str]:
    """Cards that change a player's costs for a while."""
    found = []
    for one in player.get("player_enchantments", ()):
        if one.get("aura"):
            continue
        if one.get("from") not in cards.rows or not cards.promises(one["from"]):
            raise SkippedError("an effect on a player")
        found.append(one["from"])
    for one in player["hero"].get("enchantments", ()):
        if one["id"] == MILLHOUSE:
            found.append(one.get("from") or MILLHOUSE[:-1])
    return found


def _import_side(
    side: np.void,
    player: dict[str, Any],
    moves: bool,
    cards: Cards,
    table: CardTable,
    numbers: dict[str, int],
) -> None:
    """Write hero, mana, weapon and power. `side` is modified in place."""
    for name in ENCHANTED_DECK:
        if player.get(name):
            raise SkippedError("a quest" if name == "quest" else "an effect on a player or a deck")
    hero, weapon, power = player["hero"], player["weapon"], player["power"]
    if not 1 <= hero["max_health"] <= HERO_HEALTH or set(hero.get("keywords", ())) - {"WINDFURY"}:
        raise SkippedError("a hero that is not covered")
    side["health"], side["max_health"], side["armour"] = hero["health"], hero["max_health"], hero["armor"]
    side["mana"], side["crystals"] = player["mana"], player["crystals"]
    side["fatigue"] = player["fatigue"]
    side["overload"], side["locked"] = player["overloaded"], player["overload_locked"]
    side["traits"] = (Trait.FROZEN if hero["frozen"] else 0) | (Trait.IMMUNE if hero["immune"] else 0)
    if weapon:
        if cards.reason_in_play(weapon["id"]):
            raise SkippedError(f"weapon: {cards.reason(weapon['id'])}")
        side["weapon"] = numbers[weapon["id"]]
        side["weapon_attack"], side["durability"] = weapon["attack"], weapon["durability"]
        auras = [one for one in weapon.get("enchantments", ()) if one.get("aura")]
        side["weapon_aura"] = sum(one.get("attack", 0) for one in auras)
    side["hero_attack"] = hero["attack"] - (weapon["attack"] if weapon and moves else 0)
    if side["hero_attack"] < 0:
        raise SkippedError("a hero that is not covered")
    limit = 2 if weapon and table.cards[side["weapon"]].spec.windfury else 1
    side["hero_attacks_left"] = max(0, limit - hero["attacks_made"])
    if cards.reason(power["id"]):
        raise SkippedError(f"hero power: {cards.reason(power['id'])}")
    if power["cost"] != cards.card(power["id"]).spec.cost:
        raise SkippedError("a hero power whose cost was changed")
    if power.get("extra_uses_this_turn") or power.get("enchantments"):
        raise SkippedError("a hero power with an enchantment")
    side["power"] = 1 + numbers[cards.our_id(power["id"])]
    side["power_used"] = min(1, power["uses_this_turn"])


def _import_cards(
    side: np.void,
    player: dict[str, Any],
    deck: list[str],
    cards: Cards,
    table: CardTable,
    numbers: dict[str, int],
) -> None:
    """Write hand and deck, and how many minions stand. `side` is modified in place."""
    side["n_hand"] = len(player["hand"])
    for place, item in enumerate(player["hand"]):
        side["hand"][place] = COIN if item["id"] == COIN_ID else numbers[cards.name_of(item)]
        changes = _held(item, table.array[side["hand"][place]]) if item["id"] != COIN_ID else (0, 0, 0)
        if any(changes) and not table.array[0]["game_features"] & GameFeature.HAND_MODIFIERS:
            raise SkippedError("a card in hand that a card of no edition changed")
        side["hand_modifiers"][place] = changes
    side["n_deck"] = len(deck)
    if side["n_deck"] > len(side["deck"]):
        raise SkippedError("a deck of more than 30 cards")
    for place, name in enumerate(reversed(deck)):
        side["deck"][place] = COIN if name == COIN_ID else numbers[name]
    side["n_board"] = len(player["board"])


def _held(item: dict[str, Any], row: np.void) -> tuple[int, int, int]:
    """What befell a card in hand: more cost, attack and health than its card says; auras left out."""
    cost, attack, health = int(row["cost"]), int(row["attack"]), int(row["health"])
    for one in item.get("enchantments", ()):
        if one.get("aura"):
            continue
        if not set(one) <= {"id", "from", "by", *HELD} or not set(one) & HELD:
            raise SkippedError("a card in hand with an enchantment that is not covered")
        cost = one.get("cost_set", cost + one.get("cost", 0))
        attack = one.get("attack_set", attack + one.get("attack", 0))
        health = one.get("health_set", health + one.get("health", 0))
    return cost - int(row["cost"]), attack - int(row["attack"]), health - int(row["health"])


HELD = {"cost", "attack", "health", "cost_set", "attack_set", "health_set"}


def _import_secrets(
    side: np.void, player: dict[str, Any], cards: Cards, numbers: dict[str, int], births: list[int]
) -> None:
    if len(player["secrets"]) > len(side["secrets"]):
        raise SkippedError("more Secrets than a player can have")
    side["n_secrets"] = len(player["secrets"])
    for place, (name, order) in enumerate(
        zip(player["secrets"], player.get("secret_order", ()), strict=True)
    ):
        if cards.reason(name):
            raise SkippedError(f"a Secret: {cards.reason(name)}")
        side["secrets"][place], side["secret_entity_ids"][place] = numbers[name], 1 + births.index(order)


def _import_counters(
    side: np.void,
    player: dict[str, Any],
    moves: bool,
    cards: Cards,
    table: CardTable,
    numbers: dict[str, int],
) -> None:
    """Write what the game keeps because one of its cards asks for it. `side` is modified in place."""
    asks = int(table.array[0]["game_features"])
    for name, counter in COUNTERS.items():
        if asks & counter.ask:
            side[name] = counter.imported(player, moves)
    if asks & GameFeature.SECRETS_PLAYED:
        raise SkippedError("a card that counts Secrets, whose number is not recorded")
    if asks & GameFeature.HERO_CLASSES:
        side["hero_class"] = HeroClassCode.__members__.get(player["class"], HeroClassCode.NEUTRAL)
    if asks & GameFeature.GRAVEYARD:
        dead = player["minions_died_this_game"][-MAX_GRAVEYARD:]
        side["n_graveyard"] = len(dead)
        side["graveyard"][: len(dead)] = [numbers[name] for name in dead]
    promised = _promised(player, cards)
    if len(promised) > MAX_PENDING_COSTS:
        raise SkippedError("more promises than a player can have")
    side["pending_costs"][: len(promised)] = [1 + numbers[name] for name in promised]


def import_action(action: dict[str, Any], state: dict[str, Any], cards: Cards) -> Action:
    """A recorded action as ours; a minion comes in at the right end.

    Raises:
        SkippedError: it is of a kind that is not ours.
    """
    kind = action["type"]
    if kind == "end_turn":
        return Action.end_turn()
    if kind == "choose":
        return Action.choose(state["choice"][0]["cards"].index(action["card"]))
    target = action.get("target")
    active = state["active"]
    character = None
    if target is not None:
        place = HERO if target["zone"] == "hero" else target["index"]
        character = own_target(place) if target["side"] == active else place
    if kind == "attack":
        attacker = action["attacker"]
        assert character is not None
        return Action.attack(HERO if attacker["zone"] == "hero" else attacker["index"], character)
    if kind == "power":
        return Action.power(character)
    if kind == "play":
        item = state["players"][active]["hand"][action["hand"]]
        return Action.play(action["hand"], character, _option(action, item["id"], cards))
    raise SkippedError(f"a {kind}")


def _option(action: dict[str, Any], name: str, cards: Cards) -> int:
    """Which of the two ways of a card is played, from 1; 0 for a card that has none."""
    if not action.get("choose"):
        return 0
    ways = [effect.cards for effect in cards.card(name).effects if effect.op == Op.CHOOSE_ONE]
    if not ways or action["choose"] not in ways[0]:
        raise SkippedError("a choice of a card that is not covered")
    return 1 + ways[0].index(action["choose"])
