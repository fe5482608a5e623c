"""Chance nodes of the turn search: enumerate an action's outcomes or estimate their mean; compiled."""

import numpy as np

from engine.bitfields import AIMED, OPTION_SHIFT, place_in, stir, to_sum, unpack_action
from engine.codes import BOARD_SIZE, COIN, HERO, OWN_SIDE, ActionKind
from engine.effect_codes import Ask, CardKind, Trait
from engine.effects.auras import refresh
from engine.effects.board import enter
from engine.effects.card_filters import asked_by
from engine.effects.chance import MOST_IMAGINED, draw_imagined, think
from engine.effects.ops_character import strengthen
from engine.effects.play import finish_turn, pay_for
from engine.effects.transposition import is_simple, kept_key, minion_key, word_of
from engine.jit import njit_borrowing
from engine.rules import apply
from ilp_agent.search.card_facts import HURTS_ENEMIES_ALONE
from ilp_agent.search.objective import action_gain, end_value, is_lost
from ilp_agent.search.transposition import came_in_with
from ilp_agent.search.work import EVENTS_EACH

_decode = njit_borrowing(unpack_action)
_place_in = njit_borrowing(place_in)

MOST_WEIGHED = 1_024
"""Largest number of outcomes of an action to enumerate; beyond it, as many are sampled."""

MOST_APART = 32
"""Largest number of outcomes of one event, such as a random card, to enumerate fully."""

SPREAD = 16
"""Smallest number of outcomes of a larger event to evaluate, evenly spaced in their order."""

TOO_MANY = -1
"""Sentinel for too many outcomes to enumerate."""


@njit_borrowing
def carry_out(state: np.void, cards: np.ndarray, action: int, thought: np.void) -> int:
    """Apply an action, where 0 runs only the effects at the end of the turn."""
    if action == 0:
        return finish_turn(state, cards, thought)
    return apply(state, cards, action, thought)


@njit_borrowing
def run_outcome(before: np.void, cards: np.ndarray, action: int, work: np.void, n: int) -> int:
    """Apply an action with the first `n` outcomes of the odometer and the first outcome of all later events.

    Events after the first `EVENTS_EACH` are sampled, from a stream that no game uses. `work` is modified in
    place: `scratch[0]` receives the position, also `thought[1]` and the odometer.

    Returns:
        The number of events in the odometer.
    """
    thought, odometer = work["thought"][1], work["odometer"]
    while True:
        think(thought)
        thought["forced"] = n
        if n == EVENTS_EACH:
            draw_imagined(thought, before, 0)
        for event in range(n):
            thought["outcomes"][event] = odometer[0, event]
        work["scratch"][0] = before
        carry_out(work["scratch"][0], cards, action, thought)
        if thought["waiting"] == 0:
            return n
        stride = thought["waiting"] // SPREAD if thought["waiting"] > MOST_APART else 1
        odometer[0, n] = stride // 2
        odometer[1, n] = thought["waiting"]
        odometer[2, n] = stride
        n += 1


@njit_borrowing
def next_outcome(odometer: np.ndarray, n: int) -> int:
    """Advance the odometer of `n` events; returns the number of fixed events, `TOO_MANY` after the last."""
    while n > 0:
        odometer[0, n - 1] += odometer[2, n - 1]
        if odometer[0, n - 1] < odometer[1, n - 1]:
            return n
        n -= 1
    return TOO_MANY


@njit_borrowing
def probability_of(odometer: np.ndarray, n: int) -> float:
    """Probability of the odometer's outcomes of the first `n` events."""
    probability = 1.0
    for event in range(n):
        step = odometer[2, event]
        probability /= (odometer[1, event] - 1 - step // 2) // step + 1
    return probability


@njit_borrowing
def list_outcomes(
    before: np.void, cards: np.ndarray, action: int, first: int, work: np.void, frame: np.void
) -> int:
    """Enumerate the outcomes of a random action into `frame`; their number, or `TOO_MANY` above eight.

    Args:
        before: the position before the action.
        cards: the card table.
        action: the action.
        first: number of outcomes of its first event.
        work: scratch is modified in place.
        frame: dtype `FRAME`. Modified in place.
    """
    if first > MOST_IMAGINED:
        return TOO_MANY
    n_leaves, n = 0, 0
    while n >= 0:
        n = run_outcome(before, cards, action, work, n)
        if n_leaves == MOST_IMAGINED:
            return TOO_MANY
        frame["probability"][n_leaves] = probability_of(work["odometer"], n)
        frame["n_events"][n_leaves] = n
        for event in range(n):
            frame["outcomes"][n_leaves, event] = work["odometer"][0, event]
        n_leaves += 1
        n = next_outcome(work["odometer"], n)
    return n_leaves


@njit_borrowing
def expected_gain(
    before: np.void, cards: np.ndarray, weights: np.ndarray, action: int, work: np.void
) -> float:
    """Expected gain of an action with many outcomes, including the end value if nothing follows.

    More than `MOST_WEIGHED` outcomes are sampled; of an event with more than `MOST_APART` outcomes, evenly
    spaced ones are evaluated. Minus infinity if all evaluated outcomes lose the game. `work` is modified in
    place.
    """
    start, thought = work["start"], work["thought"][1]
    total, weighed, survived = 0.0, 0.0, False
    n = 0
    for number in range(MOST_WEIGHED):
        n = run_outcome(before, cards, action, work, n)
        probability = probability_of(work["odometer"], n)
        if number == 0 and probability * MOST_WEIGHED < 1.0 - ROUNDING:
            break  # too many outcomes, if all are about equally likely
        after = work["scratch"][0]
        value = action_gain(before, after, cards, action, thought, weights)
        value += end_value(after, cards, weights, start)
        total += probability * value
        weighed += probability
        survived = survived or not is_lost(after, start)
        n = next_outcome(work["odometer"], n)
        if n < 0:
            return total / weighed if survived else -np.inf
    return _drawn_gain(before, cards, weights, action, work)


ROUNDING = 1e-9
"""Rounding tolerance of a product of probabilities."""


@njit_borrowing
def _drawn_gain(before: np.void, cards: np.ndarray, weights: np.ndarray, action: int, work: np.void) -> float:
    """Monte Carlo estimate of `expected_gain` from `MOST_WEIGHED` samples."""
    start, thought = work["start"], work["thought"][1]
    total, survived = 0.0, False
    for number in range(MOST_WEIGHED):
        think(thought)
        draw_imagined(thought, before, number)
        work["scratch"][0] = before
        carry_out(work["scratch"][0], cards, action, thought)
        after = work["scratch"][0]
        value = action_gain(before, after, cards, action, thought, weights)
        total += value + end_value(after, cards, weights, start)
        survived = survived or not is_lost(after, start)
    return total / MOST_WEIGHED if survived else -np.inf


@njit_borrowing
def gain_key(
    state: np.void, cards: np.ndarray, facts: np.ndarray, action: int, start: np.void, pair: np.ndarray
) -> np.uint64:
    """Hash of everything that the expected gain of an action depends on; 0 if unknown.

    Known for spells and powers that only hurt the enemy side if no minion has a Deathrattle, and for all
    plays if nothing depends on cards in hand or on mana. `pair` is modified in place.
    """
    kind, source, target = _decode(action)
    seat = start["seat"]
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    if kind not in (ActionKind.PLAY, ActionKind.POWER):
        return np.uint64(0)
    number = own["hand"][source] if kind == ActionKind.PLAY else own["power"] - 1
    if not is_simple(cards) or not facts[number]["bits"] & HURTS_ENEMIES_ALONE:
        return _key_of_play(state, cards, action, number, start, pair)
    spell_damage, total = 0, np.uint64(0)
    for place in range(own["n_board"]):
        if own["board"][place]["traits"] & Trait.DEATHRATTLE:
            return np.uint64(0)
        spell_damage += own["board"][place]["spell_damage"]
    for place in range(enemy["n_board"]):
        if enemy["board"][place]["traits"] & Trait.DEATHRATTLE:
            return np.uint64(0)
        total += minion_key(enemy["board"][place], np.uint64(2))
    target_key = np.uint64(0)
    if action & AIMED and target < BOARD_SIZE:
        target_key = minion_key(enemy["board"][target], np.uint64(2))
    word = word_of(number, spell_damage, enemy["health"], enemy["armour"])
    return to_sum(stir(stir(total, word), target_key)) | np.uint64(1)


@njit_borrowing
def _key_of_play(
    state: np.void, cards: np.ndarray, action: int, number: int, start: np.void, pair: np.ndarray
) -> np.uint64:
    """`gain_key` of a card or power: the position without mana, cards in hand and attacks left."""
    if start["looks"]:
        return np.uint64(0)
    seat = start["seat"]
    total = np.uint64(0)
    for seat_number in range(2):
        side = state["sides"][seat_number]
        own = np.uint64(1 if seat_number == seat else 2)
        for place in range(side["n_board"]):
            pair[0] = side["board"][place]
            pair[0]["attacks_left"] = 0
            key = minion_key(pair[0], own)
            if seat_number == seat:
                key = to_sum(key ^ np.uint64(came_in_with(pair[0], cards, start)))
            total += key
        key = stir(own, word_of(side["health"], side["armour"], side["crystals"], side["fatigue"]))
        key = stir(key, word_of(side["power"], side["weapon"], side["weapon_attack"], side["durability"]))
        key = stir(key, word_of(side["hero_attack"], side["traits"], side["overload"], side["n_hand"]))
        total += to_sum(key ^ np.uint64(side["n_deck"]))
    if not is_simple(cards):
        total += kept_key(state, cards)
    kind, source, target = _decode(action)
    if kind == ActionKind.PLAY:
        held = state["sides"][seat]["held"][source]
        total += to_sum(stir(np.uint64(8), word_of(held["attack"], held["health"], 0, 0)))
    target_key = np.uint64(0)
    if action & AIMED:
        target_key = np.uint64(1 + target)
        place = target - OWN_SIDE if target >= OWN_SIDE else target
        if place < BOARD_SIZE:
            pair[0] = state["sides"][seat if target >= OWN_SIDE else 1 - seat]["board"][place]
            pair[0]["attacks_left"] = 0
            target_key = minion_key(pair[0], np.uint64(3))
    word = word_of(number, action >> OPTION_SHIFT, 0, 7)
    return to_sum(stir(stir(total, word), target_key)) | np.uint64(1)


@njit_borrowing
def pay(state: np.void, cards: np.ndarray, action: int) -> None:
    """Apply the deterministic part of a random action: its cost, and the body of a minion.

    `state` is modified in place.
    """
    kind, source, _ = _decode(action)
    seat = state["active"]
    own = state["sides"][seat]
    if kind == ActionKind.CHOOSE:  # the chosen card acts later
        state["n_options"], state["n_choices"] = 0, 0
    elif kind == ActionKind.POWER:
        own["mana"] -= cards[own["power"] - 1]["cost"]
        own["power_used"] = 1
    elif kind == ActionKind.ATTACK:
        if source == HERO:
            own["hero_attacks_left"] -= 1
        else:
            own["board"][source]["attacks_left"] -= 1
    else:
        assert own["hand"][source] != COIN, "The Coin is certain"
        attack, health = own["held"][source]["attack"], own["held"][source]["health"]
        number, _ = pay_for(state, cards, seat, source)
        card = cards[number]
        own["played"] += 1 if asked_by(cards) & Ask.CARDS_PLAYED else 0
        own["overload"] += card["overload"]
        if card["kind"] == CardKind.SPELL:
            own["spells"] += 1 if asked_by(cards) & Ask.SPELLS_CAST else 0
        elif card["kind"] == CardKind.MINION:
            to = _place_in(action)
            to = to if to >= 0 else int(own["n_board"])
            enter(state, cards, seat, number, to)
            strengthen(own["board"][to], attack, health)
            refresh(state, cards)
