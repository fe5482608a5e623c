"""Determinization: sample the hidden cards, consistent with what a player sees; compiled.

Card numbers of a game differ between card tables, as in a batch of games. So cards are sorted by their
printed content before sampling, and random streams derive from visible numbers alone.

The opponent's deck is known, or predicted from the cards seen (`ilp_agent.lookahead.deck_prediction`).
"""

from typing import NamedTuple

import numpy as np

from engine.bitfields import fast_hash
from engine.codes import COIN, DECK_SIZE, UNKNOWN
from engine.effects.card_filters import has_effects
from engine.jit import njit, njit_no_alloc
from engine.streams import below, derive
from engine.view import MAX_SHOWN, OpponentInfo, PlayerView, list_opponent_cards
from ilp_agent.lookahead.deck_prediction import MAX_NEIGHBOURS, DeckLibrary, find_neighbours
from ilp_agent.search.card_order import sort_cards


@njit_no_alloc
def turn_stream(state: np.void) -> np.uint64:
    """Random stream of a turn, derived from the active player's view."""
    key = np.uint64(state["turn"])
    for offset in range(2):
        side = state["sides"][(state["active"] + offset) % 2]
        for number in (side["n_hand"], side["n_deck"], side["n_board"], side["armour"], side["mana"]):
            key = fast_hash(key, np.uint64(number))
        key = fast_hash(key, np.uint64(np.int64(side["health"]) + DECK_SIZE))
        for slot in range(side["n_board"]):
            minion = side["board"][slot]
            key = fast_hash(key, np.uint64(np.int64(minion["attack"]) << 16 | np.int64(minion["health"])))
    return key


@njit_no_alloc
def sort_deck(side: np.void, cards: np.ndarray, keys: np.ndarray) -> None:
    """Sort a deck by the printed content of its cards.

    Args:
        side: a player's half of a state. Modified in place.
        cards: the card table.
        keys: uint64, shape (at least `DECK_SIZE`,). Modified in place.
    """
    sort_cards(side["deck"], side["n_deck"], cards, keys)


PROBABILITY_STEPS = 1 << 30
"""Resolution of probabilities when sampling a deck."""


class HandModel(NamedTuple):
    """Model of the opponent's hand, for one thread. Modified in place."""

    left: np.ndarray  # remaining cards of each possible deck, int64, shape (MAX_NEIGHBOURS, MAX_SHOWN)
    n_left: np.ndarray  # their number, shape (MAX_NEIGHBOURS,)
    pools: np.ndarray  # 1: cards are drawn with replacement, shape (MAX_NEIGHBOURS,)
    chances: np.ndarray  # cumulative probabilities of the decks, float64, shape (MAX_NEIGHBOURS,)
    n_decks: np.ndarray  # number of possible decks; 0: no model; shape (1,)
    coins: np.ndarray  # 1: the opponent holds The Coin, shape (1,)
    shown: np.ndarray  # revealed cards, as of `list_opponent_cards`, shape (MAX_SHOWN,)
    drawn: np.ndarray  # sampling workspace, shape (MAX_SHOWN,)
    keys: np.ndarray  # workspace of `sort_cards`, uint64, shape (MAX_SHOWN,)


@njit
def new_hand_model() -> HandModel:
    """Allocate a hand model for one thread."""
    return HandModel(
        np.zeros((MAX_NEIGHBOURS, MAX_SHOWN), np.int64),
        np.zeros(MAX_NEIGHBOURS, np.int64),
        np.zeros(MAX_NEIGHBOURS, np.int64),
        np.zeros(MAX_NEIGHBOURS, np.float64),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        np.zeros(MAX_SHOWN, np.int64),
        np.zeros(MAX_SHOWN, np.int64),
        np.zeros(MAX_SHOWN, np.uint64),
    )


def copy_revealed_cards(view: PlayerView, hands: HandModel) -> int:
    """Copy a view's revealed opponent cards to `hands.shown`; return their number."""
    n = len(view.shown)
    hands.shown[:n] = view.shown
    return n


@njit
def observe_opponent(
    state: np.void, dealt: np.ndarray, what: int, cards: np.ndarray, library: DeckLibrary, hands: HandModel
) -> None:
    """Update the hand model from a true position, using only the cards that may be revealed.

    Args:
        state: dtype `STATE`, nothing hidden.
        dealt: as of `engine.view.list_opponent_cards`, of the opponent.
        what: a `OpponentInfo`.
        cards: the card table.
        library: for deck prediction.
        hands: modified in place.
    """
    n = list_opponent_cards(state, cards, dealt, state["active"], what, hands.shown)
    update_hand_model(state, what, n, cards, library, hands)


@njit_no_alloc
def update_hand_model(
    state: np.void, what: int, n: int, cards: np.ndarray, library: DeckLibrary, hands: HandModel
) -> None:
    """Update the model of the hand of the active player's opponent.

    Args:
        state: dtype `STATE`; hidden cards are not read.
        what: a `OpponentInfo`.
        n: number of cards in `hands.shown`.
        cards: the card table.
        library: for deck prediction.
        hands: modified in place.
    """
    enemy = state["sides"][1 - state["active"]]
    hands.n_decks[0], hands.coins[0] = 0, 0
    if what == OpponentInfo.NOTHING:
        return
    if what == OpponentInfo.SEEN:
        hero_class = 0
        if enemy["power"] > 0:
            hero_class = cards[enemy["power"] - 1]["hero_class"]
        hands.n_decks[0] = find_neighbours(
            library, hero_class, hands.shown, n, hands.left, hands.n_left, hands.pools, hands.chances
        )
        unseen = DECK_SIZE - n
    else:
        for place in range(n):
            hands.left[0, place] = hands.shown[place]
        if what == OpponentInfo.NOT_SEEN:
            sort_cards(hands.left[0], n, cards, hands.keys)
        hands.n_left[0], hands.pools[0], hands.chances[0], hands.n_decks[0] = n, 0, 1.0, 1
        unseen = n
    if what != OpponentInfo.HAND and not has_effects(cards) and enemy["n_hand"] + enemy["n_deck"] > unseen:
        hands.coins[0] = 1


@njit_no_alloc
def sample_hidden_cards(side: np.void, key: np.uint64, deep: bool, hands: HandModel) -> bool:
    """Sample the hidden cards of the opponent's hand, and the next card or (`deep`) the whole deck.

    Cards stay hidden if the model runs out of cards.

    Args:
        side: the opponent's half of a state. Modified in place.
        key: the stream.
        deep: whether to sample the whole deck.
        hands: the model; `drawn` is modified in place.

    Returns:
        Whether there is a model of the opponent's hand.
    """
    if hands.n_decks[0] == 0:
        return False
    deck = sample_deck(key, hands)
    for place in range(hands.n_left[deck]):
        hands.drawn[place] = hands.left[deck, place]
    stream, taken, coins = derive(key, 1), 0, hands.coins[0]
    for place in range(side["n_hand"]):
        if side["hand"][place] != UNKNOWN:
            continue
        if coins > 0:
            side["hand"][place] = COIN
            coins = 0
        else:
            side["hand"][place] = sample_card(stream, deck, taken, hands)
            taken += 1
    n = side["n_deck"]
    for place in range(n - 1, -1 if deep else max(n - 2, -1), -1):
        if side["deck"][place] == UNKNOWN:
            side["deck"][place] = sample_card(stream, deck, taken, hands)
            taken += 1
    return True


@njit_no_alloc
def sample_deck(key: np.uint64, hands: HandModel) -> int:
    """Sample one of the possible decks by their probabilities."""
    deck = 0
    if hands.n_decks[0] > 1:
        drawn = below(key, 0, PROBABILITY_STEPS) / PROBABILITY_STEPS
        while deck < hands.n_decks[0] - 1 and drawn >= hands.chances[deck]:
            deck += 1
    return deck


@njit_no_alloc
def sample_card(key: np.uint64, deck: int, taken: int, hands: HandModel) -> int:
    """Sample the next card of a deck; hidden if none is left. `hands.drawn` is modified in place.

    Args:
        key: the stream.
        deck: index of the deck.
        taken: number of cards sampled before.
        hands: `drawn` holds the cards of the deck, sampled ones first.
    """
    n = hands.n_left[deck]
    if hands.pools[deck]:
        return int(hands.drawn[below(key, taken, n)])
    if taken >= n:
        return UNKNOWN
    place = taken + below(key, taken, n - taken)
    card = hands.drawn[place]
    hands.drawn[place] = hands.drawn[taken]
    hands.drawn[taken] = card
    return int(card)


@njit_no_alloc
def remove_hidden_cards(side: np.void) -> int:
    """Remove the hidden cards from a hand; returns their number. `side` is modified in place."""
    kept = 0
    for place in range(side["n_hand"]):
        if side["hand"][place] != UNKNOWN:
            side["hand"][kept] = side["hand"][place]
            kept += 1
    hidden = side["n_hand"] - kept
    side["n_hand"] = kept
    return int(hidden)


@njit_no_alloc
def restore_hidden_cards(side: np.void, hidden: int) -> None:
    """Put hidden cards back at the end of a hand. `side` is modified in place."""
    for _ in range(hidden):
        side["hand"][side["n_hand"]] = UNKNOWN
        side["n_hand"] += 1
