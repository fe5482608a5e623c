"""The queue of effects: what waits, in which order; compiled."""

import numpy as np

from engine.codes import BOARD_SIZE
from engine.events import NO_TARGET
from engine.jit import njit_borrowing
from engine.vocabulary import MAX_QUEUE, OF_OTHER, Trait, Trigger


@njit_borrowing
def push(
    events: np.void, number: int, row: int, seat: int, itself: int, born: int, place: int, target: int
) -> bool:
    """Queue one row of card `number`; False where the queue is full. Arguments as of `queue_rows`."""
    if events["last"] - events["first"] >= MAX_QUEUE - 1:
        return False
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
    waiting["foe"] = NO_TARGET
    waiting["about"] = -1
    waiting["amount"] = 0
    waiting["keywords"] = 0
    waiting["left"] = 0
    waiting["heard"] = 0
    return True


@njit_borrowing
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
        if card["effects"][row]["trigger"] == trigger:
            push(events, number, row, seat, itself, born, place, target)


@njit_borrowing
def queue_deathrattle(cards: np.ndarray, minion: np.void, seat: int, place: int, events: np.void) -> None:
    """Queue the Deathrattles of a minion, its own and those given to it; `place` is -1 where it lives.

    Their amount is the attack that it has, or had, and they strike with its keywords.
    """
    itself, born = minion["card"], minion["born"]
    begin = events["last"]
    if cards[itself]["n_effects"] and not minion["traits"] & Trait.SILENCED:
        queue_rows(cards, itself, Trigger.DEATHRATTLE, seat, itself, born, place, NO_TARGET, events)
    for n in range(len(minion["gifts"])):
        if minion["gifts"][n]:
            gift = (minion["gifts"][n] & ~OF_OTHER) - 1
            queue_rows(cards, gift, Trigger.DEATHRATTLE, seat, itself, born, place, NO_TARGET, events)
    for n in range(begin, events["last"]):
        events["queue"][n % MAX_QUEUE]["amount"] = minion["attack"]
        events["queue"][n % MAX_QUEUE]["keywords"] = minion["keywords"]


@njit_borrowing
def sort_by_birth(events: np.void, begin: int, end: int) -> None:
    """Sort what waits from `begin` to `end` by the birth of its source, rows of one source in their order."""
    queue = events["queue"]
    for n in range(begin + 1, end):
        m = n
        while m > begin and queue[(m - 1) % MAX_QUEUE]["source"] > queue[n % MAX_QUEUE]["source"]:
            m -= 1
        _move(events, n, m)


@njit_borrowing
def hoist(events: np.void, begin: int) -> None:
    """Let what events have queued since `begin` go before what waited already. Modified in place."""
    front = events["first"]
    if front == begin:
        return
    for n in range(begin, events["last"]):
        if events["queue"][n % MAX_QUEUE]["heard"]:
            _move(events, n, front)
            front += 1


@njit_borrowing
def bring_forward(events: np.void, begin: int, to: int) -> None:
    """Let what was queued since `begin` go before what waits at `to`, in its order. Modified in place."""
    for n in range(begin, events["last"]):
        _move(events, n, to + n - begin)


@njit_borrowing
def copy_row(to: np.void, waiting: np.void) -> None:
    """Make one queued row what another is. `to` is modified in place."""
    to["card"], to["row"], to["seat"] = waiting["card"], waiting["row"], waiting["seat"]
    to["itself"], to["source"] = waiting["itself"], waiting["source"]
    to["place"], to["was"] = waiting["place"], waiting["was"]
    to["target"], to["foe"] = waiting["target"], waiting["foe"]
    to["about"], to["amount"], to["keywords"] = waiting["about"], waiting["amount"], waiting["keywords"]
    to["left"], to["heard"] = waiting["left"], waiting["heard"]


@njit_borrowing
def _move(events: np.void, n: int, m: int) -> None:
    """Move what waits at `n` forward to `m`. Modified in place."""
    if n == m:
        return
    queue = events["queue"]
    events["spare"][0] = queue[n % MAX_QUEUE]
    for later in range(n, m, -1):
        queue[later % MAX_QUEUE] = queue[(later - 1) % MAX_QUEUE]
    queue[m % MAX_QUEUE] = events["spare"][0]


assert BOARD_SIZE + 1 < MAX_QUEUE


@njit_borrowing
def meet(events: np.void, old: int, new: int) -> None:
    """Let what waits for an event of a minion that was transformed meet what it has become.

    Rows that were aimed at it miss.
    """
    for n in range(events["first"], events["last"]):
        waiting = events["queue"][n % MAX_QUEUE]
        if waiting["heard"] and waiting["target"] == old:
            waiting["target"] = new
        if waiting["heard"] and waiting["foe"] == old:
            waiting["foe"] = new


@njit_borrowing
def follow(events: np.void, old: int, new: int) -> None:
    """Let what waits for a minion that changes its own shape come to what it has become."""
    for n in range(events["first"], events["last"]):
        waiting = events["queue"][n % MAX_QUEUE]
        if waiting["source"] == old:
            waiting["source"] = new
        if waiting["target"] == old:
            waiting["target"] = new
        if waiting["foe"] == old:
            waiting["foe"] = new
    if events["played"] == old:
        events["played"] = new
