"""What is compared of a recorded state and of a position of ours."""

from collections.abc import Callable
from functools import partial
from typing import Any

from engine import Position
from engine.cards import Card
from engine.codes import COIN, HERO, UNKNOWN, ActionKind, Keyword
from engine.effect_codes import MAX_GRAVEYARD, CardKind, GameFeature, Trait
from engine.effects.legal_actions import current_cost
from tests.oracle.cards import Cards
from tests.oracle.choices import deck_of
from tests.oracle.counters import COIN_ID, COUNTERS

KEYWORDS = {keyword.name: keyword for keyword in Keyword}
TRAITS = {
    "CANT_ATTACK": Trait.CANT_ATTACK,
    "CANT_BE_TARGETED_BY_SPELLS": Trait.ELUSIVE,
    "CANT_BE_TARGETED_BY_HERO_POWERS": Trait.ELUSIVE,
    "CANT_ATTACK_HEROES": Trait.SPARES_HEROES,
    "IMMUNE": Trait.IMMUNE,
}
HERO_ATTACKS = -1
"""Among the attackers: the hero."""


def facts_of_record(state: dict[str, Any], cards: Cards, asks: int) -> dict[str, Any]:
    """What is compared of a recorded state, in a game that keeps what these bits of `GameFeature` say."""
    facts: dict[str, Any] = {"active": state["active"], "options": _offered(state, cards)}
    orders = sorted(minion["order"] for player in state["players"] for minion in player["board"])
    for seat, player in enumerate(state["players"]):
        moves = seat == state["active"]
        found = _facts_of_player(player, moves, orders, cards)
        found["deck"] = deck_of(state, seat, cards)
        found["traits"] = [(orders.index(one["order"]), _recorded_traits(one)) for one in player["board"]]
        if moves:
            attackers = [orders.index(one["order"]) for one in player["board"] if one["can_attack"]]
            facts["attackers"] = sorted([HERO_ATTACKS] * player["hero"]["can_attack"] + attackers)
            facts["power usable"] = player["power"]["usable"] and not state.get("choice")
        if asks & GameFeature.GRAVEYARD:
            found["graves"] = sorted(player["minions_died_this_game"][-MAX_GRAVEYARD:])
        facts |= {f"{key} {seat}": fact for key, fact in found.items()}
        for name, counter in COUNTERS.items():
            if asks & counter.ask:
                facts[f"{name} {seat}"] = counter.recorded(player, moves)
    return facts


def _recorded_traits(item: dict[str, Any]) -> tuple[str, ...]:
    found = {TRAITS[word].name for word in item["keywords"] if word in TRAITS}
    return tuple(sorted(found | ({"DEATHRATTLE"} if item.get("has_deathrattle") else set())))


def _offered(state: dict[str, Any], cards: Cards) -> list[str]:
    choices = state.get("choice") or ()
    return sorted(cards.our_id(name) for choice in choices for name in choice["cards"])


def _facts_of_player(player: dict[str, Any], moves: bool, orders: list[int], cards: Cards) -> dict[str, Any]:
    hero, weapon = player["hero"], player["weapon"]
    return {
        "hero": (
            hero["health"],
            hero["armor"],
            hero["frozen"],
            hero["attack"] - (weapon["attack"] if weapon and moves else 0),
            min(1, player["power"]["uses_this_turn"]),
        ),
        "mana": (
            player["mana"] if moves else None,  # what is left of a turn that is over has no use
            player["crystals"],
            player["overload_locked"] if moves else None,
            player["overloaded"],
            player["fatigue"],
        ),
        "power": cards.our_id(player["power"]["id"]),
        "weapon": weapon and (weapon["id"], weapon["attack"], weapon["durability"]),
        "hand": [cards.name_of(card) for card in player["hand"]],
        "board": [
            (
                orders.index(minion["order"]),
                minion["id"],
                minion["attack"],
                minion["health"],
                minion["max_health"],
                tuple(sorted(word for word in minion["keywords"] if word in KEYWORDS)),
                minion["frozen"],
                minion["silenced"],
                minion.get("spell_damage", 0),
            )
            for minion in player["board"]
        ],
        "secrets": player["secrets"],
        "costs": [_recorded_cost(item, cards) for item in player["hand"]],
        "bodies": [_recorded_body(item, cards) for item in player["hand"]],
    }


def _recorded_cost(item: dict[str, Any], cards: Cards) -> int | None:
    known = item["id"] != COIN_ID and not cards.reason(cards.name_of(item))
    return item["cost"] if known else None


def _recorded_body(item: dict[str, Any], cards: Cards) -> tuple[int, int] | None:
    known = item["id"] != COIN_ID and not cards.reason(cards.name_of(item))
    has_body = known and cards.card(cards.name_of(item)).kind in (CardKind.MINION, CardKind.WEAPON)
    return (item["attack"], item["health"]) if has_body else None


def facts_of(position: Position) -> dict[str, Any]:
    """The same of a position."""
    return {key: fact() for key, fact in facts_by_name(position).items()}


def facts_by_name(position: Position) -> dict[str, Callable[[], Any]]:
    """How each of the facts of a position is found, the cheap ones first."""
    state = position.state
    facts: dict[str, Callable[[], Any]] = {
        "active": lambda: position.active,
        "options": lambda: sorted(_name(position, n) for n in state["options"][: state["n_options"]]),
    }
    for name, fact in _FACTS.items():
        for seat in range(2):
            facts[f"{name} {seat}"] = partial(fact, position, seat)
    facts["attackers"] = lambda: _attackers(position)
    facts["power usable"] = lambda: any(one.kind == ActionKind.POWER for one in position.legal_actions())
    return facts


def _attackers(position: Position) -> list[int]:
    """Who can attack: minions by their place in the order of coming into play, and the hero."""
    sources = {one.source for one in position.legal_actions() if one.kind == ActionKind.ATTACK}
    board = position.state["sides"][position.active]["board"]
    births = _births(position)
    return sorted(HERO_ATTACKS if n == HERO else births.index(int(board[n]["entity_id"])) for n in sources)


def _births(position: Position) -> list[int]:
    sides = position.state["sides"]
    return sorted(int(minion["entity_id"]) for side in sides for minion in side["board"][: side["n_board"]])


def _traits(position: Position, seat: int) -> list[tuple[int, tuple[str, ...]]]:
    side, births = position.state["sides"][seat], _births(position)
    found = []
    for minion in side["board"][: side["n_board"]]:
        traits = int(minion["traits"])
        traits |= Trait.SPARES_HEROES if traits & Trait.SPARES_HEROES_NOW else 0
        words = sorted(one.name for one in {*TRAITS.values(), Trait.DEATHRATTLE} if traits & one)
        found.append((births.index(int(minion["entity_id"])), tuple(words)))
    return found


def _name(position: Position, number: int) -> str:
    if number in (COIN, UNKNOWN):
        return COIN_ID if number == COIN else "?"
    card = position.table.cards[number]
    return card.id or card.name


def _hero(position: Position, seat: int) -> tuple[Any, ...]:
    side = position.state["sides"][seat]
    numbers = int(side["health"]), int(side["armour"]), bool(side["traits"] & Trait.FROZEN)
    return *numbers, int(side["hero_attack"]), int(side["power_used"])


def _mana(position: Position, seat: int) -> tuple[Any, ...]:
    side, moves = position.state["sides"][seat], seat == position.active
    return (
        int(side["mana"]) if moves else None,
        int(side["crystals"]),
        int(side["locked"]) if moves else None,
        int(side["overload"]),
        int(side["fatigue"]),
    )


def _power(position: Position, seat: int) -> str:
    power = int(position.state["sides"][seat]["power"])
    return _name(position, power - 1) if power else ""


def _weapon(position: Position, seat: int) -> tuple[Any, ...] | None:
    side = position.state["sides"][seat]
    if not side["durability"]:
        return None
    return _name(position, int(side["weapon"])), int(side["weapon_attack"]), int(side["durability"])


def _hand(position: Position, seat: int) -> list[str]:
    side = position.state["sides"][seat]
    return [_name(position, number) for number in side["hand"][: side["n_hand"]]]


def _deck(position: Position, seat: int) -> list[str]:
    side = position.state["sides"][seat]
    return [_name(position, number) for number in side["deck"][: side["n_deck"]][::-1]]


def _board(position: Position, seat: int) -> list[tuple[Any, ...]]:
    sides, births = position.state["sides"], _births(position)
    return [
        (
            births.index(int(minion["entity_id"])),
            _name(position, minion["card"]),
            int(minion["attack"]),
            int(minion["health"]),
            int(minion["max_health"]),
            tuple(sorted(keyword.name for keyword in Keyword if minion["keywords"] & keyword)),
            bool(minion["traits"] & Trait.FROZEN),
            bool(minion["traits"] & Trait.SILENCED),
            int(minion["spell_damage"]),
        )
        for minion in sides[seat]["board"][: sides[seat]["n_board"]]
    ]


def _secrets(position: Position, seat: int) -> list[str]:
    side = position.state["sides"][seat]
    return [_name(position, number) for number in side["secrets"][: side["n_secrets"]]]


def _graves(position: Position, seat: int) -> list[str]:
    side = position.state["sides"][seat]
    return sorted(_name(position, number) for number in side["graveyard"][: side["n_graveyard"]])


def _known(position: Position, seat: int) -> list[Card | None]:
    """The exact cards of a hand; None for the others."""
    side = position.state["sides"][seat]
    found = [position.card(number) for number in side["hand"][: side["n_hand"]].tolist()]
    return [card if card and card.exact and card.real else None for card in found]


def _costs(position: Position, seat: int) -> list[int | None]:
    known = _known(position, seat)
    return [
        int(current_cost(position.state, position.table.array, seat, place)) if card else None
        for place, card in enumerate(known)
    ]


def _bodies(position: Position, seat: int) -> list[tuple[int, int] | None]:
    held = position.state["sides"][seat]["hand_modifiers"]
    return [
        (card.spec.attack + int(held[place]["attack"]), card.spec.health + int(held[place]["health"]))
        if card and card.kind in (CardKind.MINION, CardKind.WEAPON)
        else None
        for place, card in enumerate(_known(position, seat))
    ]


def _counter(name: str) -> Callable[[Position, int], int | None]:
    def count(position: Position, seat: int) -> int | None:
        value = int(position.state["sides"][seat][name])
        return None if COUNTERS[name].moves_alone and seat != position.active else value

    return count


_FACTS: dict[str, Callable[[Position, int], Any]] = {
    "hand": _hand,
    "hero": _hero,
    "mana": _mana,
    "weapon": _weapon,
    "secrets": _secrets,
    "power": _power,
    "deck": _deck,
    "board": _board,
    "traits": _traits,
    "graves": _graves,
    **{name: _counter(name) for name in COUNTERS},
    "bodies": _bodies,
    "costs": _costs,
}
