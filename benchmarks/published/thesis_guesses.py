"""Guesses of the thesis's decks: the cards that it prints, and other minions drawn at random.

The thesis prints five of fifteen cards of the Paladin's deck and three of the Warrior's (section 7.1). All
are minions of the class or neutral, twice each, with Charge, Rush and Taunt alone of their texts.
"""

import random
from functools import lru_cache

from engine import Keyword, find_deck
from engine.cards import Card, catalogue

PRINTED = {
    "thesis-paladin": (
        *("Righteous Protector", "Argent Squire", "Chillblade Champion", "Leeroy Jenkins"),
        "Tirion Fordring",
    ),
    "thesis-warrior": ("Warbot", "Town Crier", "Armorsmith"),
}
"""The printed cards, by the shipped deck that has their numbers."""

CARDS, COPIES, MOST_COST = 15, 2, 8
KEPT = Keyword.CHARGE | Keyword.RUSH | Keyword.TAUNT


@lru_cache(maxsize=2)
def _pool(card_class: str) -> tuple[Card, ...]:
    """Minions of a class and neutral ones with attack, of cost 1 to 8."""
    return tuple(
        card
        for card in catalogue().by_name.values()
        if card.card_class in (card_class, "NEUTRAL")
        and card.spec.attack
        and 1 <= card.spec.cost <= MOST_COST
    )


def guess_decks(number: int) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
    """The Paladin's and the Warrior's deck of a guess, 30 cards each.

    A guess draws the share of cards with keywords (0 to 1) and the mean cost (2.5 to 5), then for each card a
    cost, with standard deviation 1.8, and a minion of that cost.

    Args:
        number: of the guess, from 0.
    """
    draw = random.Random(f"decks of the thesis, guess {number}")
    share, mean = draw.random(), draw.uniform(2.5, 5.0)
    decks = []
    for name, printed in PRINTED.items():
        shipped = {card.name: card for card in find_deck(name).cards}
        cards = [shipped[one] for one in printed]
        while len(cards) < CARDS:
            cost = min(max(round(draw.gauss(mean, 1.8)), 1), MOST_COST)
            worded = draw.random() < share
            chosen = draw.choice(
                [
                    card
                    for card in _pool(name.removeprefix("thesis-").upper())
                    if card.spec.cost == cost and bool(card.spec.keywords & KEPT) == worded
                ]
            )
            if chosen not in cards:
                cards.append(chosen)
        decks.append(tuple(card for card in cards for _ in range(COPIES)))
    return decks[0], decks[1]
