"""Cards and game states as text: the writing half of `engine.notation`, which describes the format.

It needs only states and card tables, so that `engine.position` can use it in its errors.
"""

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from engine.cards import Card
from engine.cards.table import CardTable
from engine.codes import COIN, UNKNOWN, Keyword

COUNTERS = ("fatigue", "died", "burned")
"""Counters of a side, written unless they are 0."""


def format_card(card: Card) -> str:
    """A card: "Sen'jin Shieldmasta 4:3/5T"."""
    spec = card.spec
    worth = "" if spec.worth == spec.cost else f"={spec.worth!r}"
    name = f"{card.name} " if card.name else ""
    return f"{name}{spec.cost}:{spec.attack}/{spec.health}{format_keywords(spec.keywords)}{worth}"


def format_keywords(keywords: int) -> str:
    """The letters of a keyword bit set."""
    return "".join(keyword.letter for keyword in Keyword if keywords & keyword)


def format_state(state: np.void, table: CardTable) -> str:
    """A whole state, dtype `engine.state.STATE`, on one line, with the names of its cards."""
    head = f"turn {state['turn']} {'second' if state['active'] else 'first'} cap {state['turn_cap']}"
    head += "" if state["first_draw"] else " no first draw"
    return " | ".join([head, *(_format_side(table, side) for side in state["sides"])])


def _format_side(table: CardTable, side: np.void) -> str:
    armour = f"+{side['armour']}" if side["armour"] else ""
    words = [f"hero {side['health']}{armour} mana {side['mana']}/{side['crystals']}"]
    words += [f"{name} {side[name]}" for name in COUNTERS if side[name]]
    board = [_format_minion(table, minion) for minion in side["board"][: side["n_board"]]]
    words.append(f"board [{'; '.join(board)}]")
    words.append(f"hand [{_format_cards(table, side['hand'][: side['n_hand']])}]")
    words.append(f"deck [{_format_cards(table, side['deck'][: side['n_deck']][::-1])}]")
    return " ".join(words)


def _format_minion(table: CardTable, minion: np.void) -> str:
    card = table.cards[minion["card"]]
    words = [format_card(card)]
    if (minion["attack"], minion["health"], minion["keywords"]) != (
        card.spec.attack,
        card.spec.health,
        card.spec.keywords,
    ):
        words.append(f"now {minion['attack']}/{minion['health']}{format_keywords(minion['keywords'])}")
    if minion["attacks_left"]:
        words.append("ready" if minion["attacks_left"] == 1 else f"ready {minion['attacks_left']}")
    if minion["arrived"]:
        words.append("arrived")
    return " ".join(words)


def _format_cards(table: CardTable, numbers: Sequence[int]) -> str:
    texts = []
    for number in numbers:
        known = number not in (COIN, UNKNOWN)
        texts.append(format_card(table.cards[number]) if known else "?" if number == UNKNOWN else "The Coin")
    runs = ((text, len(list(run))) for text, run in groupby(texts))
    return "; ".join(f"{n} ?" if text == "?" and n > 1 else "; ".join([text] * n) for text, n in runs)
