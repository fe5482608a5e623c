"""Secrets: put them into play, reveal and remove them; compiled."""

import numpy as np

from engine.effect_codes import MAX_QUEUE, MAX_SECRETS, Ask, CardFilter, Op, Trigger
from engine.effects.card_filters import asked_by
from engine.effects.triggers import announce
from engine.jit import njit_borrowing
from engine.state import NO_ONE

REVEALED = 2
"""Value of the field `heard` of a queued row: its Secret has been revealed."""


@njit_borrowing
def is_secret(card: np.void) -> bool:
    """Whether a card is a Secret."""
    return bool(card["tags"] & CardFilter.SECRET)


@njit_borrowing
def secret_place(side: np.void, entity_id: int) -> int:
    """Index of the Secret with an entity id; -1 if it is not in play."""
    for place in range(side["n_secrets"]):
        if side["secret_born"][place] == entity_id:
            return place
    return -1


@njit_borrowing
def may_hide(side: np.void, number: int) -> bool:
    """Whether a player may put a Secret into play: there is room, and no copy of it is in play."""
    if side["n_secrets"] == MAX_SECRETS:
        return False
    copies = 0
    for place in range(side["n_secrets"]):
        copies += 1 if side["secrets"][place] == number else 0
    return copies == 0


@njit_borrowing
def hide(state: np.void, seat: int, number: int) -> None:
    """Put a Secret into play. `state` is modified in place."""
    side = state["sides"][seat]
    state["births"] += 1
    side["secrets"][side["n_secrets"]] = number
    side["secret_born"][side["n_secrets"]] = state["births"]
    side["n_secrets"] += 1


@njit_borrowing
def lose_secret(side: np.void, place: int) -> None:
    """Take a Secret out of play. `side` is modified in place."""
    side["n_secrets"] -= 1
    for following in range(place, side["n_secrets"]):
        side["secrets"][following] = side["secrets"][following + 1]
        side["secret_born"][following] = side["secret_born"][following + 1]
    side["secrets"][side["n_secrets"]] = 0
    side["secret_born"][side["n_secrets"]] = 0


@njit_borrowing
def reveal(state: np.void, cards: np.ndarray, seat: int, place: int, row: int, events: np.void) -> None:
    """Reveal and remove a Secret, and enable its later rows queued by the same event. Modified in place.

    Rows of the same Secret that a further event queued have no effect.
    """
    side = state["sides"][seat]
    number, entity_id = int(side["secrets"][place]), side["secret_born"][place]
    lose_secret(side, place)
    for n in range(events["first"], events["last"]):
        queued = events["queue"][n % MAX_QUEUE]
        if queued["seat"] == seat and queued["source"] == entity_id:
            if queued["row"] <= row:
                break
            row = queued["row"]
            queued["heard"] = REVEALED
    announce(state, cards, events, Trigger.SECRET_REVEALED, seat, NO_ONE, number, 1)


@njit_borrowing
def prevents(state: np.void, cards: np.ndarray, seat: int, damage: int, events: np.void) -> bool:
    """Whether a Secret prevents lethal damage to a hero; reveals it. Modified in place."""
    side = state["sides"][seat]
    if not asked_by(cards) & Ask.SECRETS_IN_PLAY or state["active"] == seat:
        return False
    if damage < side["health"] + side["armour"]:
        return False
    for place in range(side["n_secrets"]):
        number = side["secrets"][place]
        if number >= 0 and cards[number]["effects"][0]["op"] == Op.PREVENT:
            reveal(state, cards, seat, place, 0, events)
            return True
    return False


@njit_borrowing
def counters(state: np.void, cards: np.ndarray, events: np.void) -> bool:
    """Whether a Secret of the opponent counters the played spell; reveals it. Modified in place."""
    if not asked_by(cards) & Ask.SECRETS_IN_PLAY:
        return False
    seat = 1 - state["active"]
    side = state["sides"][seat]
    for place in range(side["n_secrets"]):
        number = side["secrets"][place]
        if number >= 0 and cards[number]["effects"][0]["op"] == Op.COUNTER:
            reveal(state, cards, seat, place, 0, events)
            return True
    return False
