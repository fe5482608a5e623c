"""Secrets: they come into play, wait on the opponent's turn, and are revealed; compiled."""

import numpy as np

from engine.effect_codes import MAX_QUEUE, MAX_SECRETS, Ask, CardFilter, Op, Trigger
from engine.effects.card_filters import asked_by
from engine.effects.triggers import announce
from engine.jit import njit_borrowing
from engine.state import NO_ONE

REVEALED = 2
"""In `heard` of a row: its Secret has been revealed."""


@njit_borrowing
def is_secret(card: np.void) -> bool:
    """Whether a card is a Secret."""
    return bool(card["tags"] & CardFilter.SECRET)


@njit_borrowing
def secret_place(side: np.void, born: int) -> int:
    """The place of the Secret of a birth; -1 where it is not in play."""
    for place in range(side["n_secrets"]):
        if side["secret_born"][place] == born:
            return place
    return -1


@njit_borrowing
def may_hide(side: np.void, number: int) -> bool:
    """Whether a player may have this Secret: there is room, and no other of its kind."""
    if side["n_secrets"] == MAX_SECRETS:
        return False
    alike = 0
    for place in range(side["n_secrets"]):
        alike += 1 if side["secrets"][place] == number else 0
    return alike == 0


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
    for later in range(place, side["n_secrets"]):
        side["secrets"][later] = side["secrets"][later + 1]
        side["secret_born"][later] = side["secret_born"][later + 1]
    side["secrets"][side["n_secrets"]] = 0
    side["secret_born"][side["n_secrets"]] = 0


@njit_borrowing
def reveal(state: np.void, cards: np.ndarray, seat: int, place: int, row: int, events: np.void) -> None:
    """Reveal a Secret: it leaves; its rows after `row` that wait for the same event are carried out, too.

    Modified in place. A further event of the same kind has put down the same rows again, which do nothing.
    """
    side = state["sides"][seat]
    number, born = int(side["secrets"][place]), side["secret_born"][place]
    lose_secret(side, place)
    for n in range(events["first"], events["last"]):
        waiting = events["queue"][n % MAX_QUEUE]
        if waiting["seat"] == seat and waiting["source"] == born:
            if waiting["row"] <= row:
                break
            row = waiting["row"]
            waiting["heard"] = REVEALED
    announce(state, cards, events, Trigger.REVEALED, seat, NO_ONE, number, 1)


@njit_borrowing
def prevents(state: np.void, cards: np.ndarray, seat: int, damage: int, events: np.void) -> bool:
    """Whether a Secret keeps damage from killing a hero; it is revealed then. Modified in place."""
    side = state["sides"][seat]
    if not asked_by(cards) & Ask.SECRETS_HELD or state["active"] == seat:
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
    """Whether a Secret of the opponent stops the spell that is played, and is revealed. Modified in place."""
    if not asked_by(cards) & Ask.SECRETS_HELD:
        return False
    seat = 1 - state["active"]
    side = state["sides"][seat]
    for place in range(side["n_secrets"]):
        number = side["secrets"][place]
        if number >= 0 and cards[number]["effects"][0]["op"] == Op.COUNTER:
            reveal(state, cards, seat, place, 0, events)
            return True
    return False
