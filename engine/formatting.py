"""Writer of the position notation: cards and game states as text (format: `engine.notation`).

It depends only on states and card tables, so that `engine.position` can use it in error messages.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby

import numpy as np

from engine.cards import Card
from engine.cards.real import find_effect_card
from engine.cards.table import CardTable
from engine.codes import COIN, HERO_HEALTH, UNKNOWN, Keyword
from engine.effect_codes import (
    EFFECTS_VERSION,
    GRANTED_BY_OPPONENT,
    HIDDEN_SECRET,
    HeroClassCode,
    Trait,
)

COUNTERS = ("fatigue", "died", "burned")
"""Counters of a side, written if not 0."""

HERO_NUMBERS = {
    "attack": "hero_attack",
    "attacks": "hero_attacks_left",
    "overload": "overload",
    "locked": "locked",
    "aura": "weapon_aura",
    "played": "played",
    "spells": "spells",
    "totems": "totems",
    "perished": "died_this_turn",
    "hurt": "hero_damage_this_turn",
    "elementals": "elementals",
    "before": "elementals_before",
    "overloaded": "overloaded",
    "uses": "powers",
    "concealed": "secrets_played",
    "jade": "jade",
    "class": "hero_class",
}
"""Hero fields of a game with effects by their names in the notation, written if not 0."""

HAND_MODIFIER_FIELDS = ("cost", "attack", "health")
"""Fields of a hand modifier in their order in the notation: "held -1/2/2"."""


def format_card(card: Card) -> str:
    """Notation of a card: "Sen'jin Shieldmasta 4:3/5T"; of a real one with a star: "Fireball 4*"."""
    spec = card.spec
    worth = "" if spec.worth == spec.cost else f"={spec.worth!r}"
    name = f"{card.name} " if card.name else ""
    body = f":{card.body}" if card.body else ""
    mark = f"*{_mark(card)}" if card.real else ""
    return f"{name}{spec.cost}{body}{format_keywords(spec.keywords)}{worth}{mark}"


def _mark(card: Card) -> str:
    """Suffix after the star of a real card: its id, if the name is ambiguous."""
    return "" if find_effect_card(card.name, card.spec).key == card.key else card.id


@lru_cache(maxsize=256)
def format_keywords(keywords: int) -> str:
    """Notation letters of a keyword set."""
    return "".join(keyword.letter for keyword in Keyword if keywords & keyword)


def format_state(state: np.void, table: CardTable) -> str:
    """Notation of a whole state (dtype `engine.state.STATE`) on one line."""
    head = f"turn {state['turn']} {'second' if state['active'] else 'first'} cap {state['turn_cap']}"
    head += "" if state["first_draw"] else " no first draw"
    if table.effects:
        head += f" effects {EFFECTS_VERSION}"
        n = int(state["sides"]["n_board"].sum())
        head += "" if state["last_entity_id"] == n else f" births {state['last_entity_id']}"
    effects, first = table.effects, int(state["sides"][0]["n_board"])
    if state["n_choices"]:
        head += f" choices [{'; '.join(_format_choices(table, state))}]"
        head += f" options [{_format_cards(table, state['options'][: state['n_options']])}]"
    halves = [_format_side(table, side, effects, 1 + n * first) for n, side in enumerate(state["sides"])]
    return " | ".join([head, *halves])


def _format_choices(table: CardTable, state: np.void) -> list[str]:
    """Pending choices: card id, effect row, and the earlier choice for the same row."""
    choices = state["choices"][: state["n_choices"]]
    return [
        f"{table.cards[choice['card']].id} {choice['row']} {choice['chosen_before']}" for choice in choices
    ]


def _format_hero(table: CardTable, side: np.void) -> list[str]:
    """Hero power, weapon, Secrets and counters of a hero in a game with effects."""
    words = [f"{name} {side[field]}" for name, field in HERO_NUMBERS.items() if side[field]]
    words += [f"is [{'; '.join(trait_words(side['traits']))}]"] if side["traits"] else []
    if side["power"]:
        used = " used" if side["power_used"] else ""
        words.append(f"power [{format_card(table.cards[side['power'] - 1])}{used}]")
    if side["durability"]:
        card = table.cards[side["weapon"]]
        current = (side["weapon_attack"], side["durability"])
        changed = "" if current == (card.spec.attack, card.spec.health) else f" now {current[0]}/{current[1]}"
        words.append(f"weapon [{format_card(card)}{changed}]")
    if side["n_secrets"]:
        secrets = zip(side["secrets"], side["secret_entity_ids"], strict=True)
        texts = [
            f"{_secret(table, number)} born {born}" for number, born in list(secrets)[: side["n_secrets"]]
        ]
        words.append(f"secrets [{'; '.join(texts)}]")
    dead = [table.cards[number].id for number in side["graveyard"][: side["n_graveyard"]]]
    words += [f"graves [{'; '.join(dead)}]"] if dead else []
    pending = [table.cards[number - 1].id for number in side["pending_costs"] if number]
    words += [f"promises [{'; '.join(pending)}]"] if pending else []
    return words


def _secret(table: CardTable, number: int) -> str:
    """A Secret in play; of a hidden one, its class."""
    if number >= 0:
        return format_card(table.cards[number])
    return f"? {HeroClassCode(HIDDEN_SECRET - int(number)).name.lower()}"


def trait_words(traits: int) -> list[str]:
    """Notation words of traits, such as "frozen"."""
    return [trait.name.lower().replace("_", "-") for trait in Trait if traits & trait and trait != Trait.ACTS]


def _format_side(table: CardTable, side: np.void, effects: bool, first_order: int) -> str:
    armour = f"+{side['armour']}" if side["armour"] else ""
    full = f"/{side['max_health']}" if side["max_health"] != HERO_HEALTH else ""
    words = [f"hero {side['health']}{full}{armour} mana {side['mana']}/{side['crystals']}"]
    words += [f"{name} {side[name]}" for name in COUNTERS if side[name]]
    if effects:
        words += _format_hero(table, side)
    board = [
        _format_minion(table, minion, first_order + place if effects else 0)
        for place, minion in enumerate(side["board"][: side["n_board"]])
    ]
    words.append(f"board [{'; '.join(board)}]")
    words.append(f"hand [{_format_hand(table, side)}]")
    words.append(f"deck [{_format_cards(table, side['deck'][: side['n_deck']][::-1])}]")
    return " ".join(words)


def _format_minion(table: CardTable, minion: np.void, order: int) -> str:
    """Notation of a minion; `order` is its default order of play, 0 in a game without effects."""
    card = table.cards[minion["card"]]
    words = [format_card(card)]
    if (minion["attack"], minion["health"], minion["keywords"]) != (
        card.spec.attack,
        card.spec.health,
        card.spec.keywords,
    ):
        words.append(f"now {minion['attack']}/{minion['health']}{format_keywords(minion['keywords'])}")
    if order:
        words += _format_changes(table, minion, card, order)
    if minion["attacks_left"]:
        words.append("ready" if minion["attacks_left"] == 1 else f"ready {minion['attacks_left']}")
    if minion["arrived"]:
        words.append("arrived")
    return " ".join(words)


def _format_changes(table: CardTable, minion: np.void, card: Card, order: int) -> list[str]:
    """Notation of a minion's differences from its card, in a game with effects."""
    row = table.array[minion["card"]]
    words = [f"max {minion['max_health']}"] if minion["max_health"] != card.spec.health else []
    words += [f"until {minion['turn_attack']}"] if minion["turn_attack"] else []
    words += [f"spell {minion['spell_damage']}"] if minion["spell_damage"] != card.spell_damage else []
    words += [f"race {minion['race']}"] if minion["race"] != row["race"] else []
    words += [f"born {minion['entity_id']}"] if minion["entity_id"] != order else []
    if minion["aura_attack"] or minion["aura_health"] or minion["aura_keywords"]:
        given = f"{minion['aura_attack']}/{minion['aura_health']}"
        words += [f"aura {given}{format_keywords(minion['aura_keywords'])}"]
    words += [_format_gift(table, int(gift)) for gift in minion["granted_effects"] if gift]
    if (minion["traits"] ^ row["traits"]) & ~Trait.ACTS:
        words += [f"is {','.join(trait_words(minion['traits'])) or 'plain'}"]
    return words


def _format_gift(table: CardTable, gift: int) -> str:
    """Notation of a card whose effects a minion gained; `theirs` if the opponent owns the effects."""
    card = table.cards[(gift & ~GRANTED_BY_OPPONENT) - 1]
    return f"{'theirs' if gift & GRANTED_BY_OPPONENT else 'gift'} {card.id}"


def _format_hand(table: CardTable, side: np.void) -> str:
    """Notation of a hand with the modifiers of its cards."""
    hand, modifiers = side["hand"][: side["n_hand"]], side["hand_modifiers"]
    if not any(modifiers[name].any() for name in HAND_MODIFIER_FIELDS):
        return _format_cards(table, hand)
    texts = []
    for place, number in enumerate(hand):
        numbers = "/".join(str(modifiers[place][name]) for name in HAND_MODIFIER_FIELDS)
        suffix = f" held {numbers}" if any(modifiers[place][name] for name in HAND_MODIFIER_FIELDS) else ""
        texts.append(_format_cards(table, [number]) + suffix)
    return "; ".join(texts)


def _format_cards(table: CardTable, numbers: Sequence[int]) -> str:
    texts = []
    for number in numbers:
        known = number not in (COIN, UNKNOWN)
        texts.append(format_card(table.cards[number]) if known else "?" if number == UNKNOWN else "The Coin")
    runs = ((text, len(list(run))) for text, run in groupby(texts))
    return "; ".join(f"{n} ?" if text == "?" and n > 1 else "; ".join([text] * n) for text, n in runs)
