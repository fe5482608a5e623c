"""Remove dead minions, then queue Deathrattles and death triggers; compiled."""

import numpy as np

from engine.effect_codes import MAX_GRAVEYARD, MAX_QUEUE, GameFeature, Rule, Trigger
from engine.effects.auras import count_rules
from engine.effects.board import is_dying, remove_minion
from engine.effects.card_filters import needed_features
from engine.effects.ops_character import trigger_broken_weapons
from engine.effects.triggers import (
    any_card_has_trigger,
    fire_trigger,
    move_rows_forward,
    queue_deathrattle,
    sort_by_entity_id,
)
from engine.jit import njit_no_alloc
from engine.state import ZERO_MINION


@njit_no_alloc
def any_dying(state: np.void) -> bool:
    """Whether a minion on either board is about to die."""
    for seat in range(2):
        side = state["sides"][seat]
        for place in range(side["n_board"]):
            if is_dying(side["board"][place]):
                return True
    return False


@njit_no_alloc
def remove_dead_minions(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """Remove dying minions and used-up weapons; queue their Deathrattles and death triggers.

    Deaths are queued in order of play, each with its Deathrattles and triggers; weapons last. The place of a
    dead minion is stored as the number of survivors to its left. `state` and `events` are modified in place.
    """
    begin = events["last"]
    n_dead = 0
    for seat in range(2):
        side = state["sides"][seat]
        times = 2 if count_rules(state, cards, seat, Rule.DEATHRATTLES_TWICE, True) else 1
        place = 0
        place_before = 0
        while place < side["n_board"]:
            minion = side["board"][place]
            if not is_dying(minion):
                place += 1
                place_before += 1
                continue
            side["died"] += 1
            if needed_features(cards) & GameFeature.DIED_THIS_TURN:
                side["died_this_turn"] += 1
            dead = events["dead"][n_dead]
            dead[0], dead[1], dead[2] = minion["entity_id"], seat, minion["card"]
            n_dead += 1
            before = events["last"]
            for _ in range(times):
                queue_deathrattle(cards, minion, seat, place, events)
            for n in range(before, events["last"]):
                events["queue"][n % MAX_QUEUE]["place_before_deaths"] = place_before
            remove_minion(side, place, ZERO_MINION)
            place_before += 1
    sort_by_entity_id(events, begin, events["last"])
    has_triggers = any_card_has_trigger(cards, Trigger.DIED) or any_card_has_trigger(
        cards, Trigger.AFTER_DEATH
    )
    if has_triggers or needed_features(cards) & GameFeature.GRAVEYARD:
        _sort_dead(events, n_dead)
        for n in range(n_dead):
            dead = events["dead"][n]
            if needed_features(cards) & GameFeature.GRAVEYARD:
                add_to_graveyard(state["sides"][dead[1]], dead[2])
            if has_triggers:
                begin = _queue_death_triggers(state, cards, dead, begin, events)
    trigger_broken_weapons(state, cards, events)


@njit_no_alloc
def _queue_death_triggers(
    state: np.void, cards: np.ndarray, dead: np.ndarray, begin: int, events: np.void
) -> int:
    """Queue a death's triggers among its Deathrattles, in order of play; return the queue index after them.

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
    fire_trigger(state, cards, events, Trigger.DIED, dead[1], dead[0], dead[2], 1)
    move_rows_forward(events, last, begin)
    end += events["last"] - last
    sort_by_entity_id(events, begin, end)
    last = events["last"]
    fire_trigger(state, cards, events, Trigger.AFTER_DEATH, dead[1], dead[0], dead[2], 1)
    move_rows_forward(events, last, end)
    return int(end + events["last"] - last)


@njit_no_alloc
def _sort_dead(events: np.void, n_dead: int) -> None:
    """Sort the minions that have just died in order of play. `events` is modified in place."""
    dead = events["dead"]
    for n in range(1, n_dead):
        for m in range(n, 0, -1):
            if dead[m - 1, 0] <= dead[m, 0]:
                break
            for part in range(3):
                dead[m - 1, part], dead[m, part] = dead[m, part], dead[m - 1, part]


@njit_no_alloc
def add_to_graveyard(side: np.void, number: int) -> None:
    """Add a dead minion to the graveyard; a full graveyard drops its oldest. `side` is modified in place."""
    if side["n_graveyard"] == MAX_GRAVEYARD:
        for place in range(MAX_GRAVEYARD - 1):
            side["graveyard"][place] = side["graveyard"][place + 1]
        side["n_graveyard"] -= 1
    side["graveyard"][side["n_graveyard"]] = number
    side["n_graveyard"] += 1
