"""Remove dead minions, then queue Deathrattles and death triggers; compiled."""

import numpy as np

from engine.effect_codes import GRAVES, MAX_QUEUE, Ask, Rule, Trigger
from engine.effects.auras import n_rules
from engine.effects.board import is_dying, leave
from engine.effects.card_filters import asked_by
from engine.effects.ops_character import bury_weapons
from engine.effects.triggers import announce, bring_forward, is_heard, queue_deathrattle, sort_by_birth
from engine.jit import njit_borrowing
from engine.state import ZERO_MINION


@njit_borrowing
def any_dying(state: np.void) -> bool:
    """Whether a minion on either board is about to die."""
    for seat in range(2):
        side = state["sides"][seat]
        for place in range(side["n_board"]):
            if is_dying(side["board"][place]):
                return True
    return False


@njit_borrowing
def bury(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """Remove dying minions and used-up weapons; queue their Deathrattles and death triggers.

    Deaths are queued in order of play, each with its Deathrattles and triggers; weapons last. The place of a
    dead minion is stored as the number of survivors to its left. `state` and `events` are modified in place.
    """
    begin = events["last"]
    n_dead = 0
    for seat in range(2):
        side = state["sides"][seat]
        times = 2 if n_rules(state, cards, seat, Rule.DEATHRATTLES_TWICE, True) else 1
        place = 0
        place_before = 0
        while place < side["n_board"]:
            minion = side["board"][place]
            if not is_dying(minion):
                place += 1
                place_before += 1
                continue
            side["died"] += 1
            if asked_by(cards) & Ask.DIED_THIS_TURN:
                side["perished"] += 1
            dead = events["dead"][n_dead]
            dead[0], dead[1], dead[2] = minion["born"], seat, minion["card"]
            n_dead += 1
            before = events["last"]
            for _ in range(times):
                queue_deathrattle(cards, minion, seat, place, events)
            for n in range(before, events["last"]):
                events["queue"][n % MAX_QUEUE]["was"] = place_before
            leave(side, place, ZERO_MINION)
            place_before += 1
    sort_by_birth(events, begin, events["last"])
    has_triggers = is_heard(cards, Trigger.DIED) or is_heard(cards, Trigger.AFTER_DEATH)
    if has_triggers or asked_by(cards) & Ask.GRAVEYARD:
        _sort_dead(events, n_dead)
        for n in range(n_dead):
            dead = events["dead"][n]
            if asked_by(cards) & Ask.GRAVEYARD:
                dig_grave(state["sides"][dead[1]], dead[2])
            if has_triggers:
                begin = _queue_death_triggers(state, cards, dead, begin, events)
    bury_weapons(state, cards, events)


@njit_borrowing
def _queue_death_triggers(
    state: np.void, cards: np.ndarray, dead: np.ndarray, begin: int, events: np.void
) -> int:
    """Queue the triggers of a death among its Deathrattles, in order of play; the end of this death's rows.

    Only cards in play when the minion is removed trigger. Sources: HearthSim/hs-bugs 29, 820 and 964.

    Args:
        state: dtype `STATE`.
        cards: the card table.
        dead: entity id, seat and card number.
        begin: queue index of its Deathrattles.
        events: modified in place.
    """
    end = begin
    while end < events["last"] and events["queue"][end % MAX_QUEUE]["source"] == dead[0]:
        end += 1
    last = events["last"]
    announce(state, cards, events, Trigger.DIED, dead[1], dead[0], dead[2], 1)
    bring_forward(events, last, begin)
    end += events["last"] - last
    sort_by_birth(events, begin, end)
    last = events["last"]
    announce(state, cards, events, Trigger.AFTER_DEATH, dead[1], dead[0], dead[2], 1)
    bring_forward(events, last, end)
    return int(end + events["last"] - last)


@njit_borrowing
def _sort_dead(events: np.void, n_dead: int) -> None:
    """Sort the minions that have just died in order of play. `events` is modified in place."""
    dead = events["dead"]
    for n in range(1, n_dead):
        for m in range(n, 0, -1):
            if dead[m - 1, 0] <= dead[m, 0]:
                break
            for part in range(3):
                dead[m - 1, part], dead[m, part] = dead[m, part], dead[m - 1, part]


@njit_borrowing
def dig_grave(side: np.void, number: int) -> None:
    """Add a dead minion to the graveyard; a full graveyard drops its oldest. `side` is modified in place."""
    if side["n_graves"] == GRAVES:
        for place in range(GRAVES - 1):
            side["graves"][place] = side["graves"][place + 1]
        side["n_graves"] -= 1
    side["graves"][side["n_graves"]] = number
    side["n_graves"] += 1
