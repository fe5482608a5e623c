"""Effects on cards in hands and decks, and copies of minions; compiled."""

import numpy as np

from engine.codes import COIN, DECK_SIZE, UNKNOWN, UNSEEN, Keyword
from engine.effects.board import take_card
from engine.effects.cardsets import is_asked, list_of, listed, n_listed
from engine.effects.chance import chosen_of
from engine.effects.listen import announce
from engine.effects.operations import may_act, set_attack, set_health
from engine.effects.targets import n_new, stands
from engine.events import NO_ONE
from engine.jit import njit_borrowing
from engine.vocabulary import EVENT_CARD, ITSELF, MAX_GIFTS, POOL, Filter, Op, Trait, Trigger

MAX_HELD = 127
"""Most by which a card in hand is changed."""

NOT_COPIED = Trait.DOOMED | Trait.STOLEN | Trait.HASTENED
"""Traits of a minion that a copy of it has not."""


@njit_borrowing
def from_pool(
    state: np.void, cards: np.ndarray, seat: int, effect: np.void, waiting: np.void, events: np.void
) -> int:
    """A row's card, or a random one of its pool; with the filter NEW one that is not on the board.

    -1 where there is none; 0 where an outcome is waited for.
    """
    first, last = effect["amount"], effect["amount2"]
    if first == ITSELF:
        return int(waiting["itself"])
    if first == EVENT_CARD:
        return int(waiting["about"])
    if first == POOL:
        own, enemy = state["sides"][waiting["seat"]], state["sides"][1 - waiting["seat"]]
        pool = list_of(effect, own["hero_class"], enemy["hero_class"])
        n = n_listed(cards, pool)
        chosen = chosen_of(events, n)
        return -1 if n == 0 else listed(cards, pool, chosen)
    if last <= first:
        return int(first)
    if not effect["filter"] & Filter.NEW:
        return int(cards[first + chosen_of(events, last - first + 1)]["number"])
    side = state["sides"][seat]
    left = chosen_of(events, n_new(cards, side, effect))
    for place in range(first, last + 1):
        number = cards[place]["number"]
        if not stands(side, number):
            if left == 0:
                return int(number)
            left -= 1
    return -1


@njit_borrowing
def take_unseen(side: np.void, n: int, events: np.void) -> None:
    """Put cards into a hand that a player who thinks ahead does not see. Modified in place."""
    events["unsure"] = 1
    for _ in range(n):
        take_card(side, UNSEEN)


@njit_borrowing
def find_card(cards: np.ndarray, held: np.ndarray, n: int, effect: np.void, events: np.void) -> int:
    """The place of a random card among the first `n` of a hand or deck that a row names; -1 for none.

    -1, too, where an outcome is waited for.
    """
    able = 0
    for place in range(n):
        if is_named(cards, held[place], effect):
            able += 1
        elif held[place] < COIN:
            events["unsure"] = 1
    if able == 0:
        return -1
    left = chosen_of(events, able)
    if events["waiting"]:
        return -1
    for place in range(n):
        if is_named(cards, held[place], effect):
            if left == 0:
                return place
            left -= 1
    return -1


@njit_borrowing
def is_named(cards: np.ndarray, number: int, effect: np.void) -> bool:
    """Whether a row names a card; one that is hidden it does not."""
    return number >= 0 and is_asked(cards[number], effect["of_kind"], effect["of_filter"], effect["of_arg"])


@njit_borrowing
def leave_deck(side: np.void, place: int) -> int:
    """Take a card out of a deck; its number. `side` is modified in place."""
    number = side["deck"][place]
    side["n_deck"] -= 1
    for later in range(place, side["n_deck"]):
        side["deck"][later] = side["deck"][later + 1]
    side["deck"][side["n_deck"]] = 0
    return int(number)


@njit_borrowing
def shuffle_in(side: np.void, number: int, events: np.void) -> None:
    """Put a card at a random place of a deck; who thinks ahead does not ask where. Modified in place."""
    if side["n_deck"] == DECK_SIZE:
        return
    place = 0 if events["blind"] else chosen_of(events, side["n_deck"] + 1)
    if events["waiting"]:
        return
    for later in range(side["n_deck"], place, -1):
        side["deck"][later] = side["deck"][later - 1]
    side["deck"][place] = number
    side["n_deck"] += 1


@njit_borrowing
def draw_named(state: np.void, cards: np.ndarray, effect: np.void, seat: int, events: np.void) -> None:
    """Draw a random card that a row names; a player who thinks ahead does not see which."""
    side = state["sides"][seat]
    if events["blind"]:
        found = False
        for place in range(side["n_deck"]):
            found = found or is_named(cards, side["deck"][place], effect)
        if not found:
            return
        leave_deck(side, side["n_deck"] - 1)
        number = UNKNOWN
    else:
        place = find_card(cards, side["deck"], side["n_deck"], effect, events)
        if place < 0:
            return
        number = leave_deck(side, place)
    held = side["n_hand"]
    take_card(side, number)
    if side["n_hand"] > held:
        announce(state, cards, events, Trigger.DRAWN, seat, NO_ONE, max(number, -1), 1)


@njit_borrowing
def change_held(side: np.void, place: int, cost: int, attack: int, health: int) -> None:
    """Change a card in hand. `side` is modified in place."""
    held = side["held"][place]
    held["cost"] = min(max(held["cost"] + cost, -MAX_HELD), MAX_HELD)
    held["attack"] = min(max(held["attack"] + attack, -MAX_HELD), MAX_HELD)
    held["health"] = min(max(held["health"] + health, -MAX_HELD), MAX_HELD)


@njit_borrowing
def change_hand(
    cards: np.ndarray, side: np.void, effect: np.void, amount: int, amount2: int, events: np.void
) -> None:
    """Carry out a row that changes cards in hand: all that it names, or some at random, each at most once."""
    cheaper = effect["op"] == Op.CHEAPEN
    taken = 0
    able = 0
    for place in range(side["n_hand"]):
        able += 1 if is_named(cards, side["hand"][place], effect) else 0
    times = able if effect["times"] == 0 else min(int(effect["times"]), able)
    for n in range(times):
        left = 0 if effect["times"] == 0 else chosen_of(events, able - n)
        if events["waiting"]:
            return
        for place in range(side["n_hand"]):
            if taken >> place & 1 or not is_named(cards, side["hand"][place], effect):
                continue
            if left == 0:
                taken |= 1 << place
                if cheaper:
                    change_held(side, place, amount, 0, 0)
                else:
                    change_held(side, place, 0, amount, amount2)
                break
            left -= 1


@njit_borrowing
def make_copy(to: np.void, minion: np.void, born: int, attack: int, health: int) -> None:
    """Make a minion a copy of another without what auras give; just arrived. `to` is modified in place.

    Args:
        to: of dtype `MINION`.
        minion: the other.
        born: of the copy.
        attack: its attack; 0 for that of the other.
        health: its health; 0 for that of the other.
    """
    to["card"], to["race"] = minion["card"], minion["race"]
    to["attack"] = minion["attack"] - minion["aura_attack"]
    to["turn_attack"] = minion["turn_attack"]
    to["max_health"] = minion["max_health"] - minion["aura_health"]
    to["health"] = to["max_health"] - max(minion["max_health"] - minion["health"], 0)
    to["keywords"] = minion["keywords"] & ~minion["aura_keywords"]
    to["traits"] = minion["traits"] & ~NOT_COPIED
    to["spell_damage"] = minion["spell_damage"]
    for n in range(MAX_GIFTS):
        to["gifts"][n] = minion["gifts"][n]
    to["aura_attack"] = 0
    to["aura_health"] = 0
    to["aura_keywords"] = 0
    to["born"] = born
    to["arrived"] = 1
    to["attacks_left"] = 0
    if may_act(to):
        to["attacks_left"] = 2 if to["keywords"] & Keyword.WINDFURY else 1
    if attack > 0:
        set_attack(to, attack)
    if health > 0:
        set_health(to, health)
