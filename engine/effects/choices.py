"""Discover and similar effects: the player chooses one of several offered cards; compiled.

A choice is offered once the effect queue is empty. Until it is made the player has no other legal action.
"""

import numpy as np

from engine.codes import UNKNOWN
from engine.effect_codes import (
    ENEMY,
    MAX_CHOICES,
    N_OFFERED_CARDS,
    N_POTION_EFFECTS,
    POOL,
    CardFilter,
    Op,
)
from engine.effects.board import add_to_hand
from engine.effects.card_filters import card_list_item, card_list_of, card_list_size
from engine.effects.chance import draw_outcome
from engine.effects.ops_zones import modify_hand_card, remove_from_deck, row_matches
from engine.jit import njit_no_alloc

N_POTION_COSTS = len(N_POTION_EFFECTS)
"""Number of potion costs; the pool lists the costs, then each cost's effects, then all pairs of these."""

POTION_EFFECT_COUNTS = np.array(N_POTION_EFFECTS)


@njit_no_alloc
def queue_choice(state: np.void, seat: int, queued: np.void) -> None:
    """Queue the choice of an effect row for the active player. `state` is modified in place."""
    if seat != state["active"] or state["n_choices"] == MAX_CHOICES:
        return
    choice = state["choices"][state["n_choices"]]
    state["n_choices"] += 1
    choice["card"], choice["row"], choice["chosen_before"] = queued["card"], queued["row"], 0


@njit_no_alloc
def offer_choice(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """Offer the cards of the first pending choice; drop choices without cards. Modified in place."""
    while state["n_choices"] > 0 and state["n_options"] == 0:
        choice = state["choices"][0]
        effect = cards[choice["card"]]["effects"][choice["row"]]
        op = effect["op"]
        if op == Op.CREATE_POTION:
            _offer_brew(state, cards, effect, choice["chosen_before"], events)
        elif op == Op.TRACK:
            _offer_top(state, events)
        elif op == Op.DISCOVER_FROM_DECK:
            _offer_deck(state, cards, effect, events)
        else:
            _offer_pool(state, cards, effect, events)
        if events["n_pending_outcomes"]:
            return
        if state["n_options"] == 0:
            events["depends_on_hidden"] |= events["hides_draws"]  # a hidden deck offers nothing
            _next(state)


@njit_no_alloc
def _next(state: np.void) -> None:
    """Drop the current choice and move to the next. `state` is modified in place."""
    state["n_options"] = 0
    state["options"][:] = 0
    state["n_choices"] -= 1
    for place in range(state["n_choices"]):
        state["choices"][place] = state["choices"][place + 1]
    last = state["choices"][state["n_choices"]]
    last["card"], last["row"], last["chosen_before"] = 0, 0, 0


@njit_no_alloc
def _add(state: np.void, number: int) -> None:
    state["options"][state["n_options"]] = number
    state["n_options"] += 1


@njit_no_alloc
def _is_offered(state: np.void, number: int) -> bool:
    found = False
    for place in range(state["n_options"]):
        found = found or state["options"][place] == number
    return found


@njit_no_alloc
def _offer_range(state: np.void, cards: np.ndarray, first: int, last: int, but: int, events: np.void) -> None:
    """Offer random cards of a range of card numbers, `but` excluded. `state` is modified in place."""
    for _ in range(N_OFFERED_CARDS):
        n_candidates = 0
        for place in range(first, last + 1):
            number = cards[place]["number"]
            n_candidates += 1 if number != but and not _is_offered(state, number) else 0
        if n_candidates == 0:
            return
        left = draw_outcome(events, n_candidates)
        if events["n_pending_outcomes"]:
            return
        for place in range(first, last + 1):
            number = cards[place]["number"]
            if number == but or _is_offered(state, number):
                continue
            if left == 0:
                _add(state, number)
                break
            left -= 1


@njit_no_alloc
def _offer_pool(state: np.void, cards: np.ndarray, effect: np.void, events: np.void) -> None:
    """Offer random cards of an effect row's pool. `state` is modified in place."""
    seat = state["active"]
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    if effect["amount"] != POOL:
        but = own["power"] - 1 if effect["op"] == Op.CHOOSE_POWER else -1
        _offer_range(state, cards, effect["amount"], max(effect["amount"], effect["amount2"]), but, events)
        return
    if effect["of_filter"] & CardFilter.GANG:
        _offer_gang(state, cards, effect, events)
        return
    pool = card_list_of(effect, own["hero_class"], enemy["hero_class"])
    n = card_list_size(cards, pool)
    taken = events["taken"]
    for found in range(min(N_OFFERED_CARDS, n)):
        left = draw_outcome(events, n - found)
        if events["n_pending_outcomes"]:
            return
        # shift past the smaller indices already taken
        place = left
        for other in range(found):
            if taken[other] <= place:
                place += 1
        at = found
        while at > 0 and taken[at - 1] > place:
            taken[at] = taken[at - 1]
            at -= 1
        taken[at] = place
        _add(state, card_list_item(cards, pool, place))


@njit_no_alloc
def _offer_gang(state: np.void, cards: np.ndarray, effect: np.void, events: np.void) -> None:
    """Offer one random card of each class of a gang. `state` is modified in place."""
    for n in range(GANG_SIZE):
        pool = effect["pool"] + n
        n_candidates = card_list_size(cards, pool)
        left = draw_outcome(events, n_candidates)
        if events["n_pending_outcomes"]:
            return
        if n_candidates > 0:
            _add(state, card_list_item(cards, pool, left))


GANG_SIZE = 3
"""Number of classes of a gang."""


@njit_no_alloc
def _offer_top(state: np.void, events: np.void) -> None:
    """Offer the top cards of the deck and remove them from it. `state` is modified in place."""
    side = state["sides"][state["active"]]
    for _ in range(min(N_OFFERED_CARDS, int(side["n_deck"]))):
        number = remove_from_deck(side, side["n_deck"] - 1)
        _add(state, UNKNOWN if events["hides_draws"] else number)


@njit_no_alloc
def _offer_deck(state: np.void, cards: np.ndarray, effect: np.void, events: np.void) -> None:
    """Offer different random cards of a deck that match an effect row. `state` is modified in place."""
    seat = state["active"]
    side = state["sides"][1 - seat if effect["side"] & ENEMY else seat]
    for _ in range(N_OFFERED_CARDS):
        n_candidates = 0
        for place in range(side["n_deck"]):
            n_candidates += 1 if _is_new(state, cards, side, place, effect) else 0
        if n_candidates == 0:
            return
        left = draw_outcome(events, n_candidates)
        if events["n_pending_outcomes"]:
            return
        for place in range(side["n_deck"]):
            if not _is_new(state, cards, side, place, effect):
                continue
            if left == 0:
                _add(state, side["deck"][place])
                break
            left -= 1


@njit_no_alloc
def _is_new(state: np.void, cards: np.ndarray, side: np.void, place: int, effect: np.void) -> bool:
    """Whether a deck card matches an effect row, is not offered yet and is the lowest copy in the deck."""
    number = side["deck"][place]
    if _is_offered(state, number) or not row_matches(cards, number, effect):
        return False
    copies = 0
    for below in range(place):
        copies += 1 if side["deck"][below] == number else 0
    return copies == 0


@njit_no_alloc
def _offer_brew(state: np.void, cards: np.ndarray, effect: np.void, memo: int, events: np.void) -> None:
    """Offer potion costs, then effects of the chosen cost, then effects other than the first one."""
    first = int(effect["amount"])
    if memo == 0:
        for n in range(N_POTION_COSTS):
            _add(state, first + n)
        return
    cost, chosen = memo % 4 - 1, memo // 4 - 1
    begin, n = potion_effects(first, cost)
    _offer_range(state, cards, begin, begin + n - 1, begin + chosen if chosen >= 0 else -1, events)


@njit_no_alloc
def potion_effects(first: int, cost: int) -> tuple[int, int]:
    """Card number of the first potion effect of a cost, and the number of effects of this cost."""
    begin = first + N_POTION_COSTS
    for n in range(cost):
        begin += POTION_EFFECT_COUNTS[n]
    return begin, int(POTION_EFFECT_COUNTS[cost])


@njit_no_alloc
def potion_number(first: int, cost: int, one: int, other: int) -> int:
    """Card number of the potion with two effects of a cost, each counted from 0."""
    number = first + N_POTION_COSTS + POTION_EFFECT_COUNTS.sum()
    for n in range(cost):
        number += POTION_EFFECT_COUNTS[n] * (POTION_EFFECT_COUNTS[n] - 1) // 2
    low, high = min(one, other), max(one, other)
    n = POTION_EFFECT_COUNTS[cost]
    return int(number + low * n - low * (low + 1) // 2 + high - low - 1)


@njit_no_alloc
def _place_among(cards: np.ndarray, first: int, n: int, number: int) -> int:
    """Index of a card among `n` cards from `first` on, compared by its first number in the table."""
    for place in range(n):
        if cards[first + place]["number"] == cards[number]["number"]:
            return place
    return 0


@njit_no_alloc
def make_choice(state: np.void, cards: np.ndarray, place: int, events: np.void) -> None:
    """Choose one of the offered cards. `state` and `events` are modified in place."""
    side = state["sides"][state["active"]]
    choice = state["choices"][0]
    effect = cards[choice["card"]]["effects"][choice["row"]]
    number = state["options"][place]
    if effect["op"] == Op.CREATE_POTION:
        first, memo = int(effect["amount"]), int(choice["chosen_before"])
        if memo == 0:
            choice["chosen_before"] = 1 + _place_among(cards, first, N_POTION_COSTS, number)
        else:
            cost = memo % 4 - 1
            begin, n = potion_effects(first, cost)
            effect_index = _place_among(cards, begin, n, number)
            if memo < 4:
                choice["chosen_before"] = memo + 4 * (1 + effect_index)
            else:
                add_to_hand(side, potion_number(first, cost, memo // 4 - 1, effect_index))
                _next(state)
                offer_choice(state, cards, events)
                return
        state["n_options"] = 0
        state["options"][:] = 0
        offer_choice(state, cards, events)
        return
    if effect["op"] == Op.CHOOSE_POWER:
        side["power"], side["power_used"] = number + 1, 0
    else:
        hand_before = side["n_hand"]
        add_to_hand(side, number)
        change = effect["amount2"] if effect["amount"] == POOL else 0
        if change and side["n_hand"] > hand_before:
            modify_hand_card(side, hand_before, change, 0, 0)
    _next(state)
    offer_choice(state, cards, events)
