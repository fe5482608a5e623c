"""The queue of effects: what waits, in which order; compiled."""

import numpy as np

from engine.codes import BOARD_SIZE
from engine.events import NO_TARGET
from engine.jit import njit
from engine.vocabulary import MAX_QUEUE, Trait, Trigger


@njit
def queue_rows(
    cards: np.ndarray,
    number: int,
    trigger: int,
    seat: int,
    itself: int,
    born: int,
    place: int,
    target: int,
    events: np.void,
) -> None:
    """Queue a card's rows of one trigger. `events` is modified in place.

    Args:
        cards: the card table.
        number: the card whose rows are queued.
        trigger: a `Trigger`.
        seat: the player they belong to.
        itself: card of the minion they come from; -1 for none.
        born: its birth; -1 for none.
        place: where it stood, if it is dead; else -1.
        target: what they were aimed at, as `events` has it.
        events: dtype `EVENTS`.
    """
    card = cards[number]
    for row in range(card["n_effects"]):
        if card["effects"][row]["trigger"] == trigger and events["last"] - events["first"] < MAX_QUEUE - 1:
            waiting = events["queue"][events["last"] % MAX_QUEUE]
            events["last"] += 1
            waiting["card"] = number
            waiting["row"] = row
            waiting["seat"] = seat
            waiting["itself"] = itself
            waiting["source"] = born
            waiting["place"] = place
            waiting["was"] = place
            waiting["target"] = target


@njit
def queue_turn_end(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """Queue what minions of the active player do at the end of its turn, oldest first."""
    seat = state["active"]
    side = state["sides"][seat]
    begin = events["last"]
    for place in range(side["n_board"]):
        minion = side["board"][place]
        number, born = minion["card"], minion["born"]
        if cards[number]["n_effects"] and not minion["traits"] & Trait.SILENCED:
            queue_rows(cards, number, Trigger.TURN_END, seat, number, born, -1, NO_TARGET, events)
    sort_by_birth(events, begin)


@njit
def queue_deathrattle(cards: np.ndarray, minion: np.void, seat: int, place: int, events: np.void) -> None:
    """Queue the Deathrattles of a minion, its own and those given to it; `place` is -1 where it lives."""
    itself, born = minion["card"], minion["born"]
    if cards[itself]["n_effects"] and not minion["traits"] & Trait.SILENCED:
        queue_rows(cards, itself, Trigger.DEATHRATTLE, seat, itself, born, place, NO_TARGET, events)
    for n in range(len(minion["gifts"])):
        if minion["gifts"][n]:
            gift = minion["gifts"][n] - 1
            queue_rows(cards, gift, Trigger.DEATHRATTLE, seat, itself, born, place, NO_TARGET, events)


@njit
def sort_by_birth(events: np.void, begin: int) -> None:
    """Sort what was queued since `begin` by the birth of its source, rows of one source in their order."""
    queue = events["queue"]
    for n in range(begin + 1, events["last"]):
        m = n
        while m > begin and queue[(m - 1) % MAX_QUEUE]["source"] > queue[m % MAX_QUEUE]["source"]:
            _exchange(queue[(m - 1) % MAX_QUEUE], queue[m % MAX_QUEUE])
            m -= 1


@njit
def _exchange(one: np.void, other: np.void) -> None:
    one["card"], other["card"] = other["card"], one["card"]
    one["row"], other["row"] = other["row"], one["row"]
    one["seat"], other["seat"] = other["seat"], one["seat"]
    one["itself"], other["itself"] = other["itself"], one["itself"]
    one["source"], other["source"] = other["source"], one["source"]
    one["place"], other["place"] = other["place"], one["place"]
    one["was"], other["was"] = other["was"], one["was"]
    one["target"], other["target"] = other["target"], one["target"]


assert BOARD_SIZE + 1 < MAX_QUEUE
