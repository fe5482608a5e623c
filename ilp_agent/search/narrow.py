"""What a turn needs to be kept, of all that the cards of its game ask for; compiled.

A game keeps what any of its cards asks for (`engine.vocabulary.Ask`). On one turn few of them can act: those
in play, those in the hand, and what these bring. A search that keeps no more than they ask for is faster, and
takes more positions for one.
"""

import numpy as np

from engine.jit import njit_borrowing
from engine.vocabulary import OF_OTHER, Ask, Trigger


@njit_borrowing
def narrow(state: np.void, cards: np.ndarray, facts: np.ndarray) -> int:
    """Let the game keep what the cards that can act on this turn ask for.

    Args:
        state: where the search of the turn starts, dtype `engine.state.STATE`.
        cards: a copy of the game's card table that is the search's own. `asks` of its first card is modified.
        facts: of the cards (`ilp_agent.search.facts`).

    Returns:
        1 where something that can act on the turn depends on cards in hand or on mana; else 0.
    """
    asks, brings, looks = np.int64(0), 0, 0
    seat = state["active"]
    for who in range(2):
        side = state["sides"][who]
        for place in range(side["n_board"]):
            minion = side["board"][place]
            asks |= facts[minion["card"]]["asks"]
            brings |= facts[minion["card"]]["brings"]
            looks |= facts[minion["card"]]["looks"]
            for gift in minion["gifts"]:
                if gift:
                    asks |= facts[(gift & ~OF_OTHER) - 1]["asks"]
                    brings |= facts[(gift & ~OF_OTHER) - 1]["brings"]
                    looks |= facts[(gift & ~OF_OTHER) - 1]["looks"]
        if side["durability"] > 0:
            asks |= facts[side["weapon"]]["asks"]
            brings |= facts[side["weapon"]]["brings"]
            looks |= facts[side["weapon"]]["looks"]
    own = state["sides"][seat]
    for place in range(own["n_hand"]):
        number = own["hand"][place]
        held = own["held"][place]
        if held["cost"] or held["attack"] or held["health"]:
            asks |= Ask.HAND
        if number >= 0:
            asks |= facts[number]["asks"]
            brings |= facts[number]["brings"]
            looks |= facts[number]["looks"]
    if own["power"]:
        asks |= facts[own["power"] - 1]["asks"]
        brings |= facts[own["power"] - 1]["brings"]
        looks |= facts[own["power"] - 1]["looks"]
    for promise in own["promises"]:
        if promise:
            asks |= facts[promise - 1]["asks"]
    for place in range(own["n_deck"]):
        number = own["deck"][place]
        if number >= 0 and cards[number]["hears"] >> Trigger.IN_DECK & 1:
            asks |= facts[number]["asks"]
    for n in range(state["n_choices"]):
        asks |= facts[state["choices"][n]["card"]]["asks"]
    for n in range(state["n_options"]):
        if state["options"][n] >= 0:
            asks |= facts[state["options"][n]]["asks"]
    if brings:
        for who in range(2):
            side = state["sides"][who]
            for place in range(side["n_deck"]):
                if side["deck"][place] >= 0:
                    asks |= facts[side["deck"][place]]["asks"]
            for place in range(side["n_graves"]):
                asks |= facts[side["graves"][place]]["asks"]
    cards[0]["asks"] = asks | (facts[0]["asks_of_game"] & Ask.EFFECTS)
    return 1 if brings or state["n_choices"] > 0 else int(looks)
