"""Weapons: how they come, wear out and are destroyed, and how often they let a hero attack; compiled."""

import numpy as np

from engine.codes import Keyword
from engine.effects.listen import announce
from engine.effects.operations import clamp, lose_weapon
from engine.effects.queue import queue_rows
from engine.events import NO_ONE, NO_TARGET
from engine.jit import njit_borrowing
from engine.vocabulary import Trigger


@njit_borrowing
def hero_limit(side: np.void, cards: np.ndarray) -> int:
    """How often a hero may attack in a turn: twice by a weapon with Windfury."""
    if side["durability"] > 0 and cards[side["weapon"]]["keywords"] & Keyword.WINDFURY:
        return 2
    return 1


@njit_borrowing
def has_weapon(side: np.void) -> bool:
    """Whether a player has a weapon."""
    return bool(side["weapon_attack"] or side["durability"] or side["weapon"])


@njit_borrowing
def equip(state: np.void, cards: np.ndarray, seat: int, number: int, events: np.void) -> None:
    """Give a player a weapon; the one before is destroyed. `state` and `events` are modified in place."""
    disarm(state, cards, seat, events)
    put_on(state, cards, seat, number, events)


@njit_borrowing
def put_on(state: np.void, cards: np.ndarray, seat: int, number: int, events: np.void) -> int:
    """Give a player a weapon; the card of the one before, which is gone, or -1. Modified in place."""
    side = state["sides"][seat]
    made = hero_limit(side, cards) - side["hero_attacks_left"]
    before = int(side["weapon"]) if has_weapon(side) else -1
    lose_weapon(side)
    side["weapon"] = number
    side["weapon_attack"] = cards[number]["attack"]
    side["durability"] = cards[number]["health"]
    events["before"][seat]["kept"] = 0
    if seat == state["active"]:
        side["hero_attacks_left"] = hero_limit(side, cards) - made
    announce(state, cards, events, Trigger.EQUIPPED, seat, NO_ONE, number, 1)
    return before


@njit_borrowing
def wear(state: np.void, cards: np.ndarray, seat: int, change: int, events: np.void) -> None:
    """Change the durability of a weapon, which leaves with the dead where none is left. Modified in place.

    Source: HearthSim/hs-bugs 106; a weapon that is destroyed leaves at once (25).
    """
    side = state["sides"][seat]
    if side["durability"] + change > 0:
        side["durability"] = clamp(side["durability"] + change, 0)
    elif has_weapon(side):
        events["broken"] |= 1 << seat
        events["worn"][seat] = side["weapon"]
        _put_away(state, cards, seat)


@njit_borrowing
def bury_weapons(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """Queue the Deathrattles of the weapons that are used up, and what waits for that. Modified in place."""
    for seat in range(2):
        if events["broken"] >> seat & 1:
            leave_behind(state, cards, seat, int(events["worn"][seat]), events)
    events["broken"] = 0


@njit_borrowing
def disarm(state: np.void, cards: np.ndarray, seat: int, events: np.void) -> None:
    """Destroy a player's weapon, if there is one; its Deathrattle queues. Modified in place."""
    side = state["sides"][seat]
    number = side["weapon"]
    if has_weapon(side):
        _put_away(state, cards, seat)
        leave_behind(state, cards, seat, number, events)


@njit_borrowing
def _put_away(state: np.void, cards: np.ndarray, seat: int) -> None:
    """Take away a player's weapon; attacks that were made with it stay made. `state` is modified in place."""
    side = state["sides"][seat]
    made = hero_limit(side, cards) - side["hero_attacks_left"]
    lose_weapon(side)
    if seat == state["active"]:
        side["hero_attacks_left"] = 1 - made


@njit_borrowing
def leave_behind(state: np.void, cards: np.ndarray, seat: int, number: int, events: np.void) -> None:
    """Queue the Deathrattle of a weapon that is gone, and what waits for that."""
    queue_rows(cards, number, Trigger.DEATHRATTLE, seat, -1, -1, -1, NO_TARGET, events)
    announce(state, cards, events, Trigger.DISARMED, seat, NO_ONE, number, 1)
