"""What effects do with cards of a hand, a deck, a grave or a pool, and with Secrets; compiled."""

import numpy as np

from engine.codes import BOARD_SIZE
from engine.effects.beside import close_gap, summon_beside
from engine.effects.board import has_room, lose_held, place_of, take_card
from engine.effects.chance import chosen_of
from engine.effects.listen import announce
from engine.effects.operations import (
    bounce,
    set_attack,
    set_health,
    strengthen,
)
from engine.effects.queue import queue_rows
from engine.effects.secrets import hide, is_secret, lose_secret, may_hide
from engine.effects.zones import (
    find_card,
    from_pool,
    is_named,
    leave_deck,
    shuffle_in,
    take_unseen,
)
from engine.events import NO_ONE, NO_TARGET
from engine.jit import njit_borrowing
from engine.vocabulary import EVENT_CARD, ITSELF, MAX_QUEUE, MOST_JADE, POOL, Op, Trigger


@njit_borrowing
def on_cards(
    state: np.void,
    cards: np.ndarray,
    effect: np.void,
    count: int,
    seat: int,
    waiting: np.void,
    events: np.void,
) -> None:
    """Carry out a row that summons, adds or discards; arguments as of `engine.effects.players.on_player`."""
    side = state["sides"][seat]
    op, times = effect["op"], count * int(effect["times"])
    if op == Op.DISCARD:
        n = times if times > 0 else int(side["n_hand"])
        for _ in range(min(n, int(side["n_hand"]))):
            place = chosen_of(events, side["n_hand"]) if n < side["n_hand"] or times else 0
            if events["waiting"]:
                return
            number = lose_held(side, place, cards)
            announce(state, cards, events, Trigger.DISCARDED, seat, NO_ONE, max(number, -1), 1)
            if number >= 0 and cards[number]["hears"] >> Trigger.DISCARDED_ITSELF & 1:
                begin = events["last"]
                queue_rows(cards, number, Trigger.DISCARDED_ITSELF, seat, number, -1, -1, NO_TARGET, events)
                for row in range(begin, events["last"]):
                    events["queue"][row % MAX_QUEUE]["heard"] = 1
        return
    living = place_of(side, waiting["source"]) if op == Op.ADD and effect["amount"] == ITSELF else -1
    if living >= 0:
        bounce(state, seat, living)
        close_gap(state, seat, living, waiting["source"], events)
        return
    if op == Op.RAISE:
        _raise(state, cards, effect, times, seat, waiting, events)
        return
    if op == Op.ADD and events["blind"] and (effect["amount"] == POOL or effect["amount2"] > 0):
        take_unseen(side, times, events)
        return
    for n in range(times):
        if op in (Op.RECRUIT, Op.CALL, Op.MIRROR):
            left = effect["trigger"] == Trigger.PLAY and n % 2 == 1
            if not _from_zone(state, cards, effect, seat, left, waiting, events):
                return
            continue
        if op == Op.JADE:
            number = int(effect["amount"]) + min(int(side["jade"]), MOST_JADE - 1)
            side["jade"] = min(int(side["jade"]) + 1, MOST_JADE)
        else:
            number = from_pool(state, cards, seat, effect, waiting, events)
        of_event = op == Op.ADD and effect["amount"] == EVENT_CARD  # The Coin has no number
        if events["waiting"] or (number < 0 and not of_event):
            return
        if op in (Op.SUMMON, Op.JADE):
            left = effect["trigger"] == Trigger.PLAY and n % 2 == 1
            summon_beside(state, cards, seat, number, left, waiting, events)
        elif op == Op.SHUFFLE:
            shuffle_in(side, number, events)
            if events["waiting"]:
                return
        else:
            take_card(side, number)


@njit_borrowing
def on_secrets(
    state: np.void, cards: np.ndarray, effect: np.void, seat: int, waiting: np.void, events: np.void
) -> None:
    """Carry out what Secrets do to attacks and spells, and what is done to Secrets."""
    side = state["sides"][seat]
    op = effect["op"]
    if op == Op.BURN:
        while side["n_secrets"] > 0:
            lose_secret(side, side["n_secrets"] - 1)
    elif op == Op.DECOY:
        number = from_pool(state, cards, seat, effect, waiting, events)
        if events["waiting"] or number < 0:
            return
        to = summon_beside(state, cards, seat, number, False, waiting, events)
        if to >= 0:
            events["decoy"] = side["board"][to]["born"]
            if events["defender"] != NO_TARGET:
                events["defender"] = events["decoy"]
    else:
        for _ in range(effect["times"] if effect["times"] else side["n_deck"]):
            able = 0
            for place in range(side["n_deck"]):
                able += 1 if _may_come(cards, side, place) else 0
            if able == 0:
                return
            left = chosen_of(events, able) if effect["times"] else 0
            if events["waiting"]:
                return
            for place in range(side["n_deck"]):
                if not _may_come(cards, side, place):
                    continue
                if left == 0:
                    hide(state, seat, leave_deck(side, place))
                    break
                left -= 1


@njit_borrowing
def _may_come(cards: np.ndarray, side: np.void, place: int) -> bool:
    """Whether a card of a deck is a Secret that may come into play."""
    number = side["deck"][place]
    return number >= 0 and is_secret(cards[number]) and may_hide(side, number)


@njit_borrowing
def _raise(
    state: np.void,
    cards: np.ndarray,
    effect: np.void,
    times: int,
    seat: int,
    waiting: np.void,
    events: np.void,
) -> None:
    """Summon minions that died this game, each at most once.

    0 times: all, in the order of their deaths; where there is no room for all, random ones.
    """
    side = state["sides"][seat]
    taken = events["taken"]
    taken[:] = 0
    dead = 0
    for place in range(side["n_graves"]):
        dead += 1 if is_named(cards, side["graves"][place], effect) else 0
    all_come = effect["times"] == 0 and dead <= BOARD_SIZE - side["n_board"]
    rounds = dead if effect["times"] == 0 else times
    for n in range(rounds):
        able = 0
        for place in range(side["n_graves"]):
            able += 1 if not taken[place] and is_named(cards, side["graves"][place], effect) else 0
        if able == 0 or not has_room(side):
            return
        left = 0 if all_come else chosen_of(events, able)
        if events["waiting"]:
            return
        for place in range(side["n_graves"]):
            if taken[place] or not is_named(cards, side["graves"][place], effect):
                continue
            if left == 0:
                taken[place] = 1
                left_of = effect["trigger"] == Trigger.PLAY and n % 2 == 1
                summon_beside(state, cards, seat, int(side["graves"][place]), left_of, waiting, events)
                break
            left -= 1


@njit_borrowing
def _from_zone(
    state: np.void,
    cards: np.ndarray,
    effect: np.void,
    seat: int,
    left: bool,
    waiting: np.void,
    events: np.void,
) -> bool:
    """Put a card of a hand or deck, or a copy of one, into play; whether to go on with the row."""
    side = state["sides"][seat]
    if effect["op"] == Op.MIRROR:
        place = find_card(cards, side["deck"], side["n_deck"], effect, events)
        if place < 0:
            return False
        own = waiting["seat"]
        number = side["deck"][place]
        to = summon_beside(state, cards, own, number, left, waiting, events)
        if to >= 0 and effect["amount"] > 0:
            set_attack(state["sides"][own]["board"][to], effect["amount"])
            set_health(state["sides"][own]["board"][to], effect["amount2"])
        return True
    if not has_room(side):
        return False
    if effect["op"] == Op.RECRUIT:
        place = find_card(cards, side["deck"], side["n_deck"], effect, events)
        if place >= 0:
            summon_beside(state, cards, seat, leave_deck(side, place), left, waiting, events)
        return place >= 0
    place = find_card(cards, side["hand"], side["n_hand"], effect, events)
    if place < 0:
        return False
    attack, health = side["held"][place]["attack"], side["held"][place]["health"]
    to = summon_beside(state, cards, seat, lose_held(side, place, cards), left, waiting, events)
    if to >= 0:
        strengthen(side["board"][to], attack, health)
    return True


@njit_borrowing
def learn(
    state: np.void,
    cards: np.ndarray,
    effect: np.void,
    count: int,
    seat: int,
    waiting: np.void,
    events: np.void,
) -> None:
    """Copy random cards of a deck, each at most once, or of a hand, into the hand of the row's player."""
    side, own = state["sides"][seat], state["sides"][waiting["seat"]]
    if events["blind"]:
        held = int(side["n_deck"]) if effect["op"] == Op.GLEAN else int(side["n_hand"])
        take_unseen(own, min(count * int(effect["times"]), held), events)
        return
    taken = 0
    deck = effect["op"] == Op.GLEAN
    for _ in range(count * int(effect["times"])):
        n = int(side["n_deck"]) if deck else int(side["n_hand"])
        able = 0
        for place in range(n):
            number = side["deck"][place] if deck else side["hand"][place]
            able += 1 if not taken >> place & 1 and is_named(cards, number, effect) else 0
        if able == 0:
            return
        left = chosen_of(events, able)
        if events["waiting"]:
            return
        for place in range(n):
            number = side["deck"][place] if deck else side["hand"][place]
            if taken >> place & 1 or not is_named(cards, number, effect):
                continue
            if left == 0:
                taken |= 1 << place
                held = own["n_hand"]
                take_card(own, number)
                if not deck and own["n_hand"] > held:
                    own["held"][held] = side["held"][place]
                break
            left -= 1
