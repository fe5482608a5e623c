"""Pairs of positions that look the same to who plays, with other cards hidden."""

from collections.abc import Iterator

import numpy as np

from engine import Position, find_deck
from engine.effects.luck import Chance
from engine.match import deal
from engine.streams import generator


def same_views(pair: tuple[str, str], n: int, seed: int = 1) -> Iterator[tuple[Position, Position]]:
    """Positions of games at random, each with one whose hidden cards are others.

    Args:
        pair: decks of the game.
        n: how many.
        seed: of games and cards.
    """
    draws, chance = generator(seed), Chance.given([0] * 20)
    found = 0
    while found < n:
        position = deal(pair, int(draws.integers(1000)))
        for _ in range(int(draws.integers(5, 40))):
            legal = position.legal_actions()
            if legal:
                position.play(legal[int(draws.integers(len(legal)))], chance)
        if position.outcome or len(position.legal_actions()) < 2:
            continue
        found += 1
        other = position.copy()
        enemy = other.state["sides"][1 - other.active]
        cards = [other.table.number[card.key] for card in find_deck(pair[1 - other.active]).cards]
        for place in ("hand", "deck"):
            enemy[place][: enemy[f"n_{place}"]] = draws.choice(cards, enemy[f"n_{place}"])
        own = other.state["sides"][other.active]
        own["deck"][: own["n_deck"]] = draws.permutation(own["deck"][: own["n_deck"]])
        assert not np.array_equal(position.states, other.states)
        yield position, other
