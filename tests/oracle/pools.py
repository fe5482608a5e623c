"""Card tables whose random cards are those that a record names, so that an outcome is found without long search."""

from collections.abc import Iterable
from typing import Any
from unittest.mock import patch

from engine.cards import Card, CardKey
from engine.cards import table as tables
from engine.cards.table import CardTable
from engine.effects.rows import CardQuery
from tests.oracle.cards import Cards, SkippedError


def appeared(record: dict[str, Any], cards: Cards) -> frozenset[str]:
    """Ids of the cards that a record draws at random, offers, or has after the step and not before."""
    after = record["after"]
    found = drawn(record) | {name for choice in after.get("choice") or () for name in choice["cards"]}
    found |= _there(after, cards) - _there(record["before"], cards)
    return frozenset(found)


def drawn(record: dict[str, Any]) -> set[str]:
    """Ids of random cards that the other engine made."""
    draws = [draw for draw in record.get("draws") or () if draw[0] == "pick_card"]
    return {name for draw in draws for name in draw[2]}


def _there(state: dict[str, Any], cards: Cards) -> set[str]:
    found: set[str] = set()
    for player in state["players"]:
        found |= {cards.name_of(item) for item in (*player["hand"], *player["board"])}
        found |= {*player["secrets"], *([player["weapon"]["id"]] if player["weapon"] else ())}
    return found


def table_of(ids: Iterable[str], names: frozenset[str], cards: Cards) -> CardTable:
    """The table of some cards; what is drawn at random from all cards is drawn from those of these names."""
    whole = tables.random_card_pool

    def pooled(of: CardQuery) -> dict[CardKey, Card]:
        own = (cards.card(card.id) for card in whole(of).values() if card.id in names)
        return {card.key: card for card in own}

    with patch.object(tables, "random_card_pool", pooled):
        return CardTable(cards.with_created([cards.card(name) for name in ids]))


def skip_what_is_not_in_the_pool(record: dict[str, Any], table: CardTable) -> None:
    """Skip a record whose random card is none of ours.

    Raises:
        SkippedError: no card of the table creates it by name, and it is no exact card of the edition either.
    """
    known = {name for card in table.cards for effect in card.effects for name in effect.cards}
    pool = {card.id for card in tables.random_card_pool(CardQuery()).values()}
    if drawn(record) - known - pool:
        raise SkippedError("a random card that our pool lacks")
