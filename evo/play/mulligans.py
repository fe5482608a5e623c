"""What players keep of their opening hands, by deck and seat, as games are dealt by it."""

from collections.abc import Sequence

import numpy as np

from engine import Deck
from engine.cards.table import CardTable
from engine.keeps import Keeps, card_word, choices_of
from ilp_agent.mulligan import DeckKeeps


def keeps_with(keeps: Sequence[DeckKeeps], deck: Deck, seat: int) -> Keeps | None:
    """What a player keeps of a deck's cards in a seat; None where it goes by the ruleset's rule.

    Cards that the deck does not have are left out: a file may give the name of a deck to another list.
    """
    for entry in keeps:
        if (entry.deck, entry.seat) == (deck.name, seat):
            held = {card_word(card) for card in deck.cards}
            named = {**dict.fromkeys(entry.keep, True), **dict.fromkeys(entry.replace, False)}
            return {card: kept for card, kept in named.items() if card in held}
    return None


def opening_choices(
    players: Sequence[Sequence[DeckKeeps]], decks: Sequence[Deck], table: CardTable
) -> tuple[np.ndarray, np.ndarray]:
    """What players keep, as `engine.batches.deal_chosen_games` takes it.

    Args:
        players: what each keeps.
        decks: that are played.
        table: the cards of these decks.

    Returns:
        The choices, uint8, shape (rows, cards), at least one row; and by player, deck and seat the number of
        its row, int64, shape (players, decks, 2), -1 for the ruleset's rule.
    """
    rows = np.full((len(players), len(decks), 2), -1, np.int64)
    choices: list[np.ndarray] = []
    for player, keeps in enumerate(players):
        for place, deck in enumerate(decks):
            for seat in range(2) if keeps else ():
                own = keeps_with(keeps, deck, seat)
                if own is not None:
                    rows[player, place, seat] = len(choices)
                    choices.append(choices_of(table.cards, own))
    return np.array(choices or [np.zeros(len(table.cards))], np.uint8), rows
