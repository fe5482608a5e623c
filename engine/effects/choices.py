"""Choices that cards ask of their player: Discover and its like, one after another; compiled.

A choice is offered once nothing else waits. Until it is made the player can do nothing else.
"""

import numpy as np

from engine.codes import UNKNOWN
from engine.effect_codes import BREWED, ENEMY, MAX_CHOICES, OFFERED, POOL, CardFilter, Op
from engine.effects.board import take_card
from engine.effects.card_filters import list_of, listed, n_listed
from engine.effects.chance import chosen_of
from engine.effects.ops_zones import change_held, is_named, leave_deck
from engine.jit import njit_borrowing

BREWS = len(BREWED)
"""Costs of potions; the pool lists them, then for each of them its effects, then every pair of these."""

N_BREWED = np.array(BREWED)


@njit_borrowing
def ask(state: np.void, seat: int, waiting: np.void) -> None:
    """Let the active player choose later what a row asks for. `state` is modified in place."""
    if seat != state["active"] or state["n_choices"] == MAX_CHOICES:
        return
    choice = state["choices"][state["n_choices"]]
    state["n_choices"] += 1
    choice["card"], choice["row"], choice["memo"] = waiting["card"], waiting["row"], 0


@njit_borrowing
def offer(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """Offer the cards of the first choice that is open; one without any is left out. Modified in place."""
    while state["n_choices"] > 0 and state["n_options"] == 0:
        choice = state["choices"][0]
        effect = cards[choice["card"]]["effects"][choice["row"]]
        op = effect["op"]
        if op == Op.BREW:
            _offer_brew(state, cards, effect, choice["memo"], events)
        elif op == Op.TRACK:
            _offer_top(state, events)
        elif op == Op.SEEK:
            _offer_deck(state, cards, effect, events)
        else:
            _offer_pool(state, cards, effect, events)
        if events["waiting"]:
            return
        if state["n_options"] == 0:
            events["unsure"] |= events["blind"]  # a deck that is hidden offers nothing here
            _next(state)


@njit_borrowing
def _next(state: np.void) -> None:
    """Go on to the next choice. `state` is modified in place."""
    state["n_options"] = 0
    state["options"][:] = 0
    state["n_choices"] -= 1
    for place in range(state["n_choices"]):
        state["choices"][place] = state["choices"][place + 1]
    last = state["choices"][state["n_choices"]]
    last["card"], last["row"], last["memo"] = 0, 0, 0


@njit_borrowing
def _add(state: np.void, number: int) -> None:
    state["options"][state["n_options"]] = number
    state["n_options"] += 1


@njit_borrowing
def _is_offered(state: np.void, number: int) -> bool:
    found = False
    for place in range(state["n_options"]):
        found = found or state["options"][place] == number
    return found


@njit_borrowing
def _offer_range(state: np.void, cards: np.ndarray, first: int, last: int, but: int, events: np.void) -> None:
    """Offer random cards of a range of numbers, but for one of them."""
    for _ in range(OFFERED):
        able = 0
        for place in range(first, last + 1):
            number = cards[place]["number"]
            able += 1 if number != but and not _is_offered(state, number) else 0
        if able == 0:
            return
        left = chosen_of(events, able)
        if events["waiting"]:
            return
        for place in range(first, last + 1):
            number = cards[place]["number"]
            if number == but or _is_offered(state, number):
                continue
            if left == 0:
                _add(state, number)
                break
            left -= 1


@njit_borrowing
def _offer_pool(state: np.void, cards: np.ndarray, effect: np.void, events: np.void) -> None:
    """Offer random cards of a row's pool."""
    seat = state["active"]
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    if effect["amount"] != POOL:
        but = own["power"] - 1 if effect["op"] == Op.CHOOSE_POWER else -1
        _offer_range(state, cards, effect["amount"], max(effect["amount"], effect["amount2"]), but, events)
        return
    if effect["of_filter"] & CardFilter.GANG:
        _offer_gang(state, cards, effect, events)
        return
    pool = list_of(effect, own["hero_class"], enemy["hero_class"])
    n = n_listed(cards, pool)
    taken = events["taken"]
    for found in range(min(OFFERED, n)):
        left = chosen_of(events, n - found)
        if events["waiting"]:
            return
        # the places before it that are taken already push it on
        place = left
        for other in range(found):
            if taken[other] <= place:
                place += 1
        at = found
        while at > 0 and taken[at - 1] > place:
            taken[at] = taken[at - 1]
            at -= 1
        taken[at] = place
        _add(state, listed(cards, pool, place))


@njit_borrowing
def _offer_gang(state: np.void, cards: np.ndarray, effect: np.void, events: np.void) -> None:
    """Offer one random card of each class of a gang."""
    for n in range(GANG_SIZE):
        pool = effect["pool"] + n
        able = n_listed(cards, pool)
        left = chosen_of(events, able)
        if events["waiting"]:
            return
        if able > 0:
            _add(state, listed(cards, pool, left))


GANG_SIZE = 3
"""Classes of a gang."""


@njit_borrowing
def _offer_top(state: np.void, events: np.void) -> None:
    """Offer the top cards of the deck, which are taken out of it."""
    side = state["sides"][state["active"]]
    for _ in range(min(OFFERED, int(side["n_deck"]))):
        number = leave_deck(side, side["n_deck"] - 1)
        _add(state, UNKNOWN if events["blind"] else number)


@njit_borrowing
def _offer_deck(state: np.void, cards: np.ndarray, effect: np.void, events: np.void) -> None:
    """Offer different cards of a deck."""
    seat = state["active"]
    side = state["sides"][1 - seat if effect["side"] & ENEMY else seat]
    for _ in range(OFFERED):
        able = 0
        for place in range(side["n_deck"]):
            able += 1 if _is_new(state, cards, side, place, effect) else 0
        if able == 0:
            return
        left = chosen_of(events, able)
        if events["waiting"]:
            return
        for place in range(side["n_deck"]):
            if not _is_new(state, cards, side, place, effect):
                continue
            if left == 0:
                _add(state, side["deck"][place])
                break
            left -= 1


@njit_borrowing
def _is_new(state: np.void, cards: np.ndarray, side: np.void, place: int, effect: np.void) -> bool:
    """Whether a row names a card of a deck that is not offered yet and is the lowest of its copies."""
    number = side["deck"][place]
    if _is_offered(state, number) or not is_named(cards, number, effect):
        return False
    copies = 0
    for below in range(place):
        copies += 1 if side["deck"][below] == number else 0
    return copies == 0


@njit_borrowing
def _offer_brew(state: np.void, cards: np.ndarray, effect: np.void, memo: int, events: np.void) -> None:
    """Offer the costs of potions, then effects of the cost that was chosen, then others for the second."""
    first = int(effect["amount"])
    if memo == 0:
        for n in range(BREWS):
            _add(state, first + n)
        return
    cost, chosen = memo % 4 - 1, memo // 4 - 1
    begin, n = brew_effects(first, cost)
    _offer_range(state, cards, begin, begin + n - 1, begin + chosen if chosen >= 0 else -1, events)


@njit_borrowing
def brew_effects(first: int, cost: int) -> tuple[int, int]:
    """The number of the first effect of a cost of potions, and how many effects it has."""
    begin = first + BREWS
    for n in range(cost):
        begin += N_BREWED[n]
    return begin, int(N_BREWED[cost])


@njit_borrowing
def brewed(first: int, cost: int, one: int, other: int) -> int:
    """The number of the potion of a cost with two of its effects, each counted from 0."""
    number = first + BREWS + N_BREWED.sum()
    for n in range(cost):
        number += N_BREWED[n] * (N_BREWED[n] - 1) // 2
    low, high = min(one, other), max(one, other)
    n = N_BREWED[cost]
    return int(number + low * n - low * (low + 1) // 2 + high - low - 1)


@njit_borrowing
def _place_among(cards: np.ndarray, first: int, n: int, number: int) -> int:
    """Which of `n` cards from `first` on a number is; one that stands twice in the table has two numbers."""
    for place in range(n):
        if cards[first + place]["number"] == cards[number]["number"]:
            return place
    return 0


@njit_borrowing
def choose_one(state: np.void, cards: np.ndarray, place: int, events: np.void) -> None:
    """Make the choice that is offered. `state` and `events` are modified in place."""
    side = state["sides"][state["active"]]
    choice = state["choices"][0]
    effect = cards[choice["card"]]["effects"][choice["row"]]
    number = state["options"][place]
    if effect["op"] == Op.BREW:
        first, memo = int(effect["amount"]), int(choice["memo"])
        if memo == 0:
            choice["memo"] = 1 + _place_among(cards, first, BREWS, number)
        else:
            cost = memo % 4 - 1
            begin, n = brew_effects(first, cost)
            one = _place_among(cards, begin, n, number)
            if memo < 4:
                choice["memo"] = memo + 4 * (1 + one)
            else:
                take_card(side, brewed(first, cost, memo // 4 - 1, one))
                _next(state)
                offer(state, cards, events)
                return
        state["n_options"] = 0
        state["options"][:] = 0
        offer(state, cards, events)
        return
    if effect["op"] == Op.CHOOSE_POWER:
        side["power"], side["power_used"] = number + 1, 0
    else:
        held = side["n_hand"]
        take_card(side, number)
        change = effect["amount2"] if effect["amount"] == POOL else 0
        if change and side["n_hand"] > held:
            change_held(side, held, change, 0, 0)
    _next(state)
    offer(state, cards, events)
