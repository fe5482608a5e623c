"""Cards and game states as text: the writing half of `engine.notation`, which describes the format.

It needs only states and card tables, so that `engine.position` can use it in its errors.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby

import numpy as np

from engine.cards import Card
from engine.cards.real import find_real
from engine.cards.table import CardTable
from engine.codes import COIN, HERO_HEALTH, UNKNOWN, Keyword
from engine.effect_codes import EFFECTS_VERSION, HIDDEN_SECRET, OF_OTHER, HeroName, Trait

COUNTERS = ("fatigue", "died", "burned")
"""Counters of a side, written unless they are 0."""

HERO_NUMBERS = {
    "attack": "hero_attack",
    "attacks": "hero_attacks_left",
    "overload": "overload",
    "locked": "locked",
    "aura": "weapon_aura",
    "played": "played",
    "spells": "spells",
    "totems": "totems",
    "perished": "perished",
    "hurt": "hurt",
    "elementals": "elementals",
    "before": "elementals_before",
    "overloaded": "overloaded",
    "uses": "powers",
    "concealed": "secrets_played",
    "jade": "jade",
    "class": "hero_class",
}
"""Numbers of a hero in a game with effects, as positions name them, written unless they are 0."""

HELD = ("cost", "attack", "health")
"""What befell a card in hand, in the order in which positions write it: "held -1/2/2"."""


def format_card(card: Card) -> str:
    """A card: "Sen'jin Shieldmasta 4:3/5T"; a real one with a star: "Fireball 4*"."""
    spec = card.spec
    worth = "" if spec.worth == spec.cost else f"={spec.worth!r}"
    name = f"{card.name} " if card.name else ""
    body = f":{card.body}" if card.body else ""
    mark = f"*{_mark(card)}" if card.real else ""
    return f"{name}{spec.cost}{body}{format_keywords(spec.keywords)}{worth}{mark}"


def _mark(card: Card) -> str:
    """What follows the star of a real card: its id, where others of its name could be meant."""
    return "" if find_real(card.name, card.spec).key == card.key else card.id


@lru_cache(maxsize=256)
def format_keywords(keywords: int) -> str:
    """The letters of a keyword bit set."""
    return "".join(keyword.letter for keyword in Keyword if keywords & keyword)


def format_state(state: np.void, table: CardTable) -> str:
    """A whole state, dtype `engine.state.STATE`, on one line, with the names of its cards."""
    head = f"turn {state['turn']} {'second' if state['active'] else 'first'} cap {state['turn_cap']}"
    head += "" if state["first_draw"] else " no first draw"
    if table.effects:
        head += f" effects {EFFECTS_VERSION}"
        n = int(state["sides"]["n_board"].sum())
        head += "" if state["births"] == n else f" births {state['births']}"
    effects, first = table.effects, int(state["sides"][0]["n_board"])
    if state["n_choices"]:
        head += f" choices [{'; '.join(_format_choices(table, state))}]"
        head += f" options [{_format_cards(table, state['options'][: state['n_options']])}]"
    halves = [_format_side(table, side, effects, 1 + n * first) for n, side in enumerate(state["sides"])]
    return " | ".join([head, *halves])


def _format_choices(table: CardTable, state: np.void) -> list[str]:
    """The choices that are open: the card, its row, and what was chosen before."""
    choices = state["choices"][: state["n_choices"]]
    return [f"{table.cards[one['card']].id} {one['row']} {one['memo']}" for one in choices]


def _format_hero(table: CardTable, side: np.void) -> list[str]:
    """Hero power, weapon and the rest of a hero in a game with effects."""
    words = [f"{name} {side[field]}" for name, field in HERO_NUMBERS.items() if side[field]]
    words += [f"is [{'; '.join(trait_words(side['traits']))}]"] if side["traits"] else []
    if side["power"]:
        used = " used" if side["power_used"] else ""
        words.append(f"power [{format_card(table.cards[side['power'] - 1])}{used}]")
    if side["durability"]:
        card = table.cards[side["weapon"]]
        now = (side["weapon_attack"], side["durability"])
        worn = "" if now == (card.spec.attack, card.spec.health) else f" now {now[0]}/{now[1]}"
        words.append(f"weapon [{format_card(card)}{worn}]")
    if side["n_secrets"]:
        secrets = zip(side["secrets"], side["secret_born"], strict=True)
        texts = [
            f"{_secret(table, number)} born {born}" for number, born in list(secrets)[: side["n_secrets"]]
        ]
        words.append(f"secrets [{'; '.join(texts)}]")
    buried = [table.cards[number].id for number in side["graves"][: side["n_graves"]]]
    words += [f"graves [{'; '.join(buried)}]"] if buried else []
    promised = [table.cards[number - 1].id for number in side["promises"] if number]
    words += [f"promises [{'; '.join(promised)}]"] if promised else []
    return words


def _secret(table: CardTable, number: int) -> str:
    """A Secret in play; of one that is hidden its class."""
    if number >= 0:
        return format_card(table.cards[number])
    return f"? {HeroName(HIDDEN_SECRET - int(number)).name.lower()}"


def trait_words(traits: int) -> list[str]:
    """Traits as positions write them: "frozen"."""
    return [trait.name.lower().replace("_", "-") for trait in Trait if traits & trait and trait != Trait.ACTS]


def _format_side(table: CardTable, side: np.void, effects: bool, first_birth: int) -> str:
    armour = f"+{side['armour']}" if side["armour"] else ""
    full = f"/{side['max_health']}" if side["max_health"] != HERO_HEALTH else ""
    words = [f"hero {side['health']}{full}{armour} mana {side['mana']}/{side['crystals']}"]
    words += [f"{name} {side[name]}" for name in COUNTERS if side[name]]
    if effects:
        words += _format_hero(table, side)
    board = [
        _format_minion(table, minion, first_birth + place if effects else 0)
        for place, minion in enumerate(side["board"][: side["n_board"]])
    ]
    words.append(f"board [{'; '.join(board)}]")
    words.append(f"hand [{_format_hand(table, side)}]")
    words.append(f"deck [{_format_cards(table, side['deck'][: side['n_deck']][::-1])}]")
    return " ".join(words)


def _format_minion(table: CardTable, minion: np.void, birth: int) -> str:
    """A minion; `birth` is the one it has unless it says another, 0 in a game without effects."""
    card = table.cards[minion["card"]]
    words = [format_card(card)]
    if (minion["attack"], minion["health"], minion["keywords"]) != (
        card.spec.attack,
        card.spec.health,
        card.spec.keywords,
    ):
        words.append(f"now {minion['attack']}/{minion['health']}{format_keywords(minion['keywords'])}")
    if birth:
        words += _format_changes(table, minion, card, birth)
    if minion["attacks_left"]:
        words.append("ready" if minion["attacks_left"] == 1 else f"ready {minion['attacks_left']}")
    if minion["arrived"]:
        words.append("arrived")
    return " ".join(words)


def _format_changes(table: CardTable, minion: np.void, card: Card, birth: int) -> list[str]:
    """What a minion in a game with effects says beside its body, where it is not as its card says."""
    row = table.array[minion["card"]]
    words = [f"max {minion['max_health']}"] if minion["max_health"] != card.spec.health else []
    words += [f"until {minion['turn_attack']}"] if minion["turn_attack"] else []
    words += [f"spell {minion['spell_damage']}"] if minion["spell_damage"] != card.spell_damage else []
    words += [f"race {minion['race']}"] if minion["race"] != row["race"] else []
    words += [f"born {minion['born']}"] if minion["born"] != birth else []
    if minion["aura_attack"] or minion["aura_health"] or minion["aura_keywords"]:
        given = f"{minion['aura_attack']}/{minion['aura_health']}"
        words += [f"aura {given}{format_keywords(minion['aura_keywords'])}"]
    words += [_format_gift(table, int(gift)) for gift in minion["gifts"] if gift]
    if (minion["traits"] ^ row["traits"]) & ~Trait.ACTS:
        words += [f"is {','.join(trait_words(minion['traits'])) or 'plain'}"]
    return words


def _format_gift(table: CardTable, gift: int) -> str:
    """A card whose rows a minion was given; `theirs` where they are those of its opponent."""
    return f"{'theirs' if gift & OF_OTHER else 'gift'} {table.cards[(gift & ~OF_OTHER) - 1].id}"


def _format_hand(table: CardTable, side: np.void) -> str:
    """A hand with what befell its cards."""
    hand, held = side["hand"][: side["n_hand"]], side["held"]
    if not any(held[name].any() for name in HELD):
        return _format_cards(table, hand)
    texts = []
    for place, number in enumerate(hand):
        now = "/".join(str(held[place][name]) for name in HELD)
        befell = f" held {now}" if any(held[place][name] for name in HELD) else ""
        texts.append(_format_cards(table, [number]) + befell)
    return "; ".join(texts)


def _format_cards(table: CardTable, numbers: Sequence[int]) -> str:
    texts = []
    for number in numbers:
        known = number not in (COIN, UNKNOWN)
        texts.append(format_card(table.cards[number]) if known else "?" if number == UNKNOWN else "The Coin")
    runs = ((text, len(list(run))) for text, run in groupby(texts))
    return "; ".join(f"{n} ?" if text == "?" and n > 1 else "; ".join([text] * n) for text, n in runs)
