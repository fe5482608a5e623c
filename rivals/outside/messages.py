"""Messages to agents from outside as JSON values; docs/agents-outside.md has the protocol."""

from typing import Any

from engine.actions import Action
from engine.cards import Card
from engine.effect_codes import CardKind, HeroClassCode, Trait
from engine.minion import keyword_names
from engine.view import MinionView, PlayerView, SideView

PROTOCOL = 1
"""Protocol version; raised when a message changes its meaning, not when a field is added."""

RAISED = "manaforge agent: its "
"""Beginning of the last line of standard error after an exception in a method of a Python agent."""


def decide_message(view: PlayerView) -> dict[str, Any]:
    """Request for a decision: the visible position, as text and as JSON values, and the legal actions."""
    return {
        "type": "decide",
        "position": str(view.position),
        "state": view_to_json(view),
        "legal": [str(action) for action in view.legal_actions],
    }


def parse_choice(answer: dict[str, Any], legal: tuple[Action, ...]) -> Action | None:
    """Legal action that an answer names by text or index; None if it names no legal action."""
    action = answer.get("action")
    if type(action) is int and 0 <= action < len(legal):
        return legal[action]
    return next((one for one in legal if str(one) == action), None)


def view_to_json(view: PlayerView) -> dict[str, Any]:
    """A player's view as JSON values."""
    return {
        "turn": view.turn,
        "seat": view.seat,
        "me": _side(view.own),
        "opponent": _side(view.enemy),
        "offered": [_card(card) for card in view.offered],
    }


def _side(side: SideView) -> dict[str, Any]:
    weapon = side.weapon and {
        **_named(side.weapon),
        "attack": side.weapon_attack,
        "durability": side.durability,
    }
    return {
        "health": side.health,
        "max_health": side.max_health,
        "armour": side.armour,
        "mana": side.mana,
        "crystals": side.crystals,
        "fatigue": side.fatigue,
        "deck": side.deck_size,
        "hand": [
            card if card is None else {**card, "cost": cost}
            for card, cost in zip(_hand(side), side.costs, strict=True)
        ],
        "board": [_minion(minion) for minion in side.board],
        "power": side.power and {**_named(side.power), "cost": side.power.spec.cost, "used": side.power_used},
        "weapon": weapon,
        "hero_attack": side.hero_attack,
        "hero_attacks_left": side.hero_attacks_left,
        "traits": _traits(side.traits),
        "secrets": [_secret(secret) for secret in side.secrets],
        "overload": side.overload,
        "locked": side.locked,
    }


def _hand(side: SideView) -> list[dict[str, Any] | None]:
    """Cards in hand with their modified attack and health, as JSON values."""
    found = list(map(_card, side.hand))
    for card, (_, attack, health) in zip(found, side.held, strict=True):
        if card is not None and "attack" in card:
            card["attack"] += attack
            card["health"] += health
    return found


def _named(card: Card) -> dict[str, Any]:
    return {"id": card.id, "name": card.name}


def _card(card: str | Card) -> dict[str, Any] | None:
    """A card's printed values as JSON values; None for a hidden card."""
    if isinstance(card, str):
        return None if card == "?" else {"id": "", "name": card, "kind": "spell", "cost": 0, "keywords": []}
    numbers = {"attack": card.spec.attack, "health": card.spec.health}
    return {
        **_named(card),
        "kind": card.kind.name.lower().replace("_", " "),
        "cost": card.spec.cost,
        **(numbers if card.kind in (CardKind.MINION, CardKind.WEAPON) else {}),
        "keywords": keyword_names(card.spec.keywords),
    }


def _minion(minion: MinionView) -> dict[str, Any]:
    return {
        **_named(minion.card),
        "attack": minion.attack,
        "health": minion.health,
        "max_health": max(minion.max_health, minion.health),
        "keywords": keyword_names(minion.keywords),
        "attacks_left": minion.attacks_left,
        "arrived": minion.arrived,
        "spell_damage": minion.spell_damage,
        "traits": _traits(minion.traits),
    }


def _traits(traits: int) -> list[str]:
    return [trait.name.lower().replace("_", " ") for trait in Trait if traits & trait]


def _secret(secret: Card | HeroClassCode) -> dict[str, Any]:
    if isinstance(secret, HeroClassCode):
        return {"class": secret.name.lower()}
    return _named(secret)
