"""What cards in hand cost, with what was done to them, what is in play and what was promised; compiled."""

import numpy as np

from engine.apart import njit_apart
from engine.codes import COIN
from engine.effects.board import any_asks
from engine.effects.cardsets import asked_by, is_asked
from engine.effects.numbers import count_of, holds
from engine.events import NO_ROW
from engine.jit import njit_borrowing, njit_borrowing_inline
from engine.state import CARD, STATE
from engine.vocabulary import ENEMY, OWN, SPELLS, Ask, Op, Trait, Trigger


@njit_borrowing_inline
def held_cost(side: np.void, cards: np.ndarray, place: int) -> int:
    """What a card in hand costs with what was done to it there, before what is in play or promised."""
    number = int(side["hand"][place])
    cost = 0 if number == COIN else int(cards[number]["cost"])
    if asked_by(cards) & (Ask.COSTS | Ask.HAND):
        cost += int(side["held"][place]["cost"])
    return cost


@njit_borrowing
def cost_of(state: np.void, cards: np.ndarray, seat: int, place: int) -> int:
    """What the card at a place of a hand costs now, >= 0; what its own text says comes last (patch 9.2).

    Args:
        state: dtype `STATE`, of a game with effects.
        cards: the card table.
        seat: whose hand.
        place: of a card that is known.
    """
    if not asked_by(cards) & (Ask.COSTS | Ask.HAND):
        return held_cost(state["sides"][seat], cards, place)
    return altered_cost(state, cards, seat, place)


@njit_apart(STATE, (CARD,), int, int, rare=True)
def altered_cost(state: np.void, cards: np.ndarray, seat: int, place: int) -> int:
    """`cost_of` in games of which a card may change what cards cost."""
    side = state["sides"][seat]
    number = int(side["hand"][place])
    cost = held_cost(side, cards, place)
    if asked_by(cards) & Ask.COSTS:
        cost = _cost_by_auras(state, cards, seat, number, cost)
        for n in range(len(side["promises"])):
            if side["promises"][n]:
                cost = _cost_by(cards, int(side["promises"][n]) - 1, Trigger.PLAY, number, OWN | ENEMY, cost)
    if number == COIN:
        return max(cost, 0)
    card = cards[number]
    if card["hears"] >> Trigger.COST & 1:
        for n in range(card["n_effects"]):
            effect = card["effects"][n]
            if effect["trigger"] == Trigger.COST and holds(
                state, cards, seat, effect["condition"], effect["condition_arg"], NO_ROW[0]
            ):
                times = 1
                if effect["count"]:
                    times = count_of(state, seat, effect["count"], effect["count_arg"], NO_ROW[0])
                cost += times * effect["amount"]
    return max(cost, 0)


@njit_borrowing
def costs_altered(state: np.void, cards: np.ndarray, seat: int) -> bool:
    """Whether what is in play, or was promised, may change what the cards of a hand cost."""
    for n in range(len(state["sides"][seat]["promises"])):
        if state["sides"][seat]["promises"][n]:
            return True
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    return bool(any_asks(cards, own, Ask.COSTS) or any_asks(cards, enemy, Ask.COSTS))


@njit_borrowing
def _cost_by_auras(state: np.void, cards: np.ndarray, seat: int, number: int, cost: int) -> int:
    """A card's cost after what minions in play make of it, in the order in which they came into play."""
    last = -1
    while True:
        following, place = np.iinfo(np.int16).max, -1
        whose = 0
        for own_seat in range(2):
            side = state["sides"][own_seat]
            for n in range(side["n_board"]):
                minion = side["board"][n]
                acts = minion["traits"] & Trait.ACTS and not minion["traits"] & Trait.SILENCED
                if acts and last < minion["born"] < following and _changes_costs(cards[minion["card"]]):
                    following, place, whose = int(minion["born"]), n, own_seat
        if place < 0:
            return cost
        by = state["sides"][whose]["board"][place]["card"]
        cost = _cost_by(cards, by, Trigger.AURA, number, OWN if whose == seat else ENEMY, cost)
        last = following


@njit_borrowing_inline
def _changes_costs(card: np.void) -> bool:
    """Whether a minion may change what cards cost while it stands."""
    return bool(card["hears"] >> Trigger.AURA & 1 and card["asks_alone"] & Ask.COSTS)


@njit_borrowing
def _cost_by(cards: np.ndarray, by: int, trigger: int, number: int, whose: int, cost: int) -> int:
    """A card's cost after what the rows of the card `by` make of it."""
    source = cards[by]
    if not source["hears"] >> trigger & 1:
        return cost
    for n in range(source["n_effects"]):
        effect = source["effects"][n]
        if effect["trigger"] != trigger or effect["op"] != Op.COST or not effect["side"] & whose:
            continue
        if _is_about(cards, effect, number):
            cost = max(cost + effect["amount"], min(cost, int(effect["amount2"])))
    return cost


@njit_borrowing
def _is_about(cards: np.ndarray, effect: np.void, number: int) -> bool:
    """Whether a row is about a card, or about The Coin: a spell without anything more."""
    kinds, asked = effect["of_kind"], effect["of_filter"]
    if number == COIN:
        return bool(asked == 0 and (kinds == 0 or kinds & SPELLS))
    return is_asked(cards[number], kinds, asked, effect["of_arg"])


@njit_borrowing
def keep_promises(side: np.void, cards: np.ndarray, number: int) -> None:
    """Use up what changed the cost of the card that is played. `side` is modified in place."""
    for n in range(len(side["promises"])):
        if side["promises"][n] == 0:
            continue
        source = cards[side["promises"][n] - 1]
        for row in range(source["n_effects"]):
            effect = source["effects"][row]
            once = effect["op"] == Op.COST and effect["trigger"] == Trigger.PLAY and effect["times"] > 0
            if once and _is_about(cards, effect, number):
                side["promises"][n] = 0
                break
