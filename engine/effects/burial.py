"""The dead leave together; their Deathrattles, and what waits for deaths, are put down; compiled."""

import numpy as np

from engine.effects.auras import n_rules
from engine.effects.board import is_dying, leave
from engine.effects.cardsets import asked_by
from engine.effects.listen import announce, is_heard
from engine.effects.queue import queue_deathrattle, sort_by_birth
from engine.jit import njit_borrowing
from engine.state import ZERO_MINION
from engine.vocabulary import GRAVES, MAX_QUEUE, Ask, Rule, Trigger


@njit_borrowing
def any_dying(state: np.void) -> bool:
    """Whether a minion is about to die."""
    for seat in range(2):
        side = state["sides"][seat]
        for place in range(side["n_board"]):
            if is_dying(side["board"][place]):
                return True
    return False


@njit_borrowing
def bury(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """Bury all that are about to die; queue their Deathrattles and what waits for deaths.

    Oldest first, whoever's they are. Where each stood is kept as the number of survivors to its left.
    """
    begin = events["last"]
    n_dead = 0
    for seat in range(2):
        side = state["sides"][seat]
        times = 2 if n_rules(state, cards, seat, Rule.DEATHRATTLES_TWICE, True) else 1
        place = 0
        was = 0
        while place < side["n_board"]:
            minion = side["board"][place]
            if not is_dying(minion):
                place += 1
                was += 1
                continue
            side["died"] += 1
            if asked_by(cards) & Ask.PERISHED:
                side["perished"] += 1
            dead = events["dead"][n_dead]
            dead[0], dead[1], dead[2] = minion["born"], seat, minion["card"]
            n_dead += 1
            before = events["last"]
            for _ in range(times):
                queue_deathrattle(cards, minion, seat, place, events)
            for n in range(before, events["last"]):
                events["queue"][n % MAX_QUEUE]["was"] = was
            leave(side, place, ZERO_MINION)
            was += 1
    if is_heard(cards, Trigger.DIED) or asked_by(cards) & Ask.GRAVES:
        _tell_of_deaths(state, cards, Trigger.DIED, n_dead, events)
    sort_by_birth(events, begin)
    if is_heard(cards, Trigger.BURIED):
        _tell_of_deaths(state, cards, Trigger.BURIED, n_dead, events)


@njit_borrowing
def _tell_of_deaths(state: np.void, cards: np.ndarray, trigger: int, n_dead: int, events: np.void) -> None:
    """Tell of the dead, oldest first, and remember them when it is for the first time."""
    told = 0
    for _ in range(n_dead):
        oldest = -1
        for n in range(n_dead):
            if not told >> n & 1 and (oldest < 0 or events["dead"][n][0] < events["dead"][oldest][0]):
                oldest = n
        told |= 1 << oldest
        dead = events["dead"][oldest]
        if asked_by(cards) & Ask.GRAVES and trigger == Trigger.DIED:
            dig_grave(state["sides"][dead[1]], dead[2])
        announce(state, cards, events, trigger, dead[1], dead[0], dead[2], 1)


@njit_borrowing
def dig_grave(side: np.void, number: int) -> None:
    """Remember a dead minion; where there are too many the oldest is forgotten. Modified in place."""
    if side["n_graves"] == GRAVES:
        for place in range(GRAVES - 1):
            side["graves"][place] = side["graves"][place + 1]
        side["n_graves"] -= 1
    side["graves"][side["n_graves"]] = number
    side["n_graves"] += 1
