"""The effect queue, and triggers of cards in play; compiled."""

import numpy as np

from engine.codes import BOARD_SIZE
from engine.effect_codes import (
    ENEMY,
    EVENT_SHIFT,
    HEROES,
    ITSELF_ALONE,
    MAX_QUEUE,
    OF_OTHER,
    OTHERS_ALONE,
    OWN,
    CardFilter,
    Trait,
    Trigger,
)
from engine.effects.card_filters import asked_by, is_asked, kind_bit
from engine.indirect_call import njit_apart
from engine.jit import njit_borrowing
from engine.state import A_HERO, CARD, ENEMY_HERO, EVENTS, NO_ONE, NO_TARGET, OWN_HERO, STATE


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


COSTED = sum(1 << t for t in (Trigger.PLAYED, Trigger.CAST, Trigger.AFTER_CAST, Trigger.AFTER_PLAYED))
"""Bits of the events whose amount is what was paid for their card."""

ENDS = sum(
    1 << t for t in (Trigger.AFTER_CAST, Trigger.AFTER_PLAYED, Trigger.AFTER_ATTACK, Trigger.POWER_USED)
)
"""Bits of the events that end an action: what waits for them must have been there when it began.

So it is since patch 9.2 of Hearthstone. A minion that is summoned ends an action where it was played.
"""

OF_ENDS = (ENDS | 1 << Trigger.AFTER_SUMMONED) << EVENT_SHIFT
"""Bits of `asks` for which it is noted how an action began."""


@njit_borrowing
def is_heard(cards: np.ndarray, trigger: int) -> bool:
    """Whether a card of the game waits for such an event."""
    return bool(asked_by(cards) >> (EVENT_SHIFT + trigger) & 1)


@njit_borrowing
def announce(
    state: np.void,
    cards: np.ndarray,
    events: np.void,
    trigger: int,
    seat: int,
    who: int,
    number: int,
    amount: int,
) -> None:
    """Queue what waits for an event, oldest minion first, weapons last. `events` is modified in place.

    Args:
        state: dtype `STATE`.
        cards: the card table.
        events: dtype `EVENTS`.
        trigger: what happened, a `Trigger`.
        seat: the player to whom it happened, or whose the card is.
        who: birth of the minion it happened to, `A_HERO` or `NO_ONE`.
        number: the minion's card, or the card it is about; -1 for none.
        amount: of damage and the like.
    """
    if is_heard(cards, trigger):
        _tell(state, cards, events, trigger, seat, who, number, amount)


@njit_apart(STATE, (CARD,), EVENTS, int, int, int, int, int)
def _tell(
    state: np.void,
    cards: np.ndarray,
    events: np.void,
    trigger: int,
    seat: int,
    who: int,
    number: int,
    amount: int,
) -> int:
    """`announce` of an event for which a card of the game waits; 0."""
    event = events["event"]
    event["trigger"], event["seat"], event["who"] = trigger, seat, who
    event["about"], event["amount"] = number, amount
    begin = events["last"]
    ends = ENDS >> trigger & 1 or (trigger == Trigger.AFTER_SUMMONED and who > 0 and who == events["played"])
    youngest = events["births"] if ends else np.iinfo(np.int16).max
    for own_seat in range(2):
        side = state["sides"][own_seat]
        for place in range(side["n_board"]):
            minion = side["board"][place]
            heard = cards[minion["card"]]["hears"] >> trigger & 1 or minion["gifts"][0]
            if heard and minion["traits"] & Trait.ACTS and minion["born"] <= youngest:
                hear_minion(state, cards, events, minion, own_seat)
        # Secrets wait on the opponent's turn alone, but for those of the turn's start.
        for place in range(side["n_secrets"]):
            number = side["secrets"][place]
            waits = number >= 0 and side["secret_born"][place] <= youngest
            if waits and (state["active"] != own_seat or trigger == Trigger.TURN_START):
                hear(state, cards, events, number, -1, own_seat, side["secret_born"][place])
    sort_by_birth(events, begin, events["last"])
    for own_seat in range(2):
        side = state["sides"][own_seat]
        waits = side["durability"] > 0 and (not ends or events["before"][own_seat]["kept"])
        if waits and cards[side["weapon"]]["hears"] >> trigger & 1:
            hear(state, cards, events, side["weapon"], -1, own_seat, NO_ONE)
    return 0


@njit_borrowing
def hear_minion(state: np.void, cards: np.ndarray, events: np.void, minion: np.void, own_seat: int) -> None:
    """Queue the rows of one minion that wait for the event, its own and those it was given."""
    own, born = minion["card"], minion["born"]
    if not minion["traits"] & Trait.SILENCED:
        hear(state, cards, events, own, own, own_seat, born)
    for n in range(len(minion["gifts"])):
        if minion["gifts"][n]:
            gift = minion["gifts"][n]
            whose = 1 - own_seat if gift & OF_OTHER else own_seat
            hear(state, cards, events, (gift & ~OF_OTHER) - 1, own, whose, born)


@njit_borrowing
def hear(
    state: np.void,
    cards: np.ndarray,
    events: np.void,
    listener: int,
    itself: int,
    own_seat: int,
    born: int,
) -> None:
    """Queue the rows of one card that wait for the event. `events` is modified in place."""
    event = events["event"]
    trigger = event["trigger"]
    card = cards[listener]
    if not card["hears"] >> trigger & 1:
        return
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        if effect["trigger"] != trigger or not _is_meant(cards, effect, own_seat, born, event):
            continue
        target = event["who"] if event["who"] > 0 else NO_TARGET
        if event["who"] == A_HERO:
            target = OWN_HERO if event["seat"] == own_seat else ENEMY_HERO
        if not push(events, listener, row, own_seat, itself, born, -1, target):
            return
        waiting = events["queue"][(events["last"] - 1) % MAX_QUEUE]
        waiting["foe"] = seen_from(events["defender"], own_seat == state["active"])
        waiting["about"] = event["about"]
        waiting["amount"] = event["amount"]
        waiting["heard"] = 1


@njit_borrowing
def _is_meant(cards: np.ndarray, effect: np.void, own_seat: int, born: int, event: np.void) -> bool:
    """Whether a row waits for the event: whose it is, whom it is about, and of which card."""
    side, who, number = effect["on_side"], event["who"], event["about"]
    if not side & (OWN if event["seat"] == own_seat else ENEMY):
        return False
    if side & ITSELF_ALONE and who != born:
        return False
    if side & OTHERS_ALONE and who == born:
        return False
    kinds = effect["on_kind"]
    if who == A_HERO:
        return bool(kinds == 0 or kinds & HEROES)
    if number < 0:
        return bool(kinds == 0 and effect["on_filter"] == 0)
    if kinds and not kind_bit(cards[number]["kind"]) & kinds:
        return False
    asked, arg = effect["on_filter"], effect["on_arg"]
    if asked & CardFilter.COST and COSTED >> event["trigger"] & 1:
        if event["amount"] != arg:
            return False
        asked &= ~CardFilter.COST
    return is_asked(cards[number], 0, asked, arg)


@njit_borrowing
def seen_from(who: int, active: bool) -> int:
    """A character as the active player knows it, as another knows it: heroes change places."""
    if active or who not in (OWN_HERO, ENEMY_HERO):
        return int(who)
    return ENEMY_HERO if who == OWN_HERO else OWN_HERO
