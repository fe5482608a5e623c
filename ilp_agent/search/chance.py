"""Chance nodes of the turn search: enumerate an action's outcomes, or estimate the mean value; compiled."""

import numpy as np

from engine.bitfields import (
    AIMED,
    OPTION_SHIFT,
    additive_hash,
    board_place_of,
    fast_hash,
    unpack_action,
)
from engine.codes import BOARD_SIZE, COIN, HERO, OWN_TARGETS, ActionKind
from engine.effect_codes import CardKind, GameFeature, Trait
from engine.effects.auras import apply_auras
from engine.effects.board import add_minion
from engine.effects.card_filters import needed_features
from engine.effects.chance import MAX_HYPOTHETICAL, begin_hypothetical, draw_hypothetical
from engine.effects.ops_character import add_stats
from engine.effects.play import pay_for, resolve_turn_end
from engine.jit import njit_no_alloc
from engine.rules import apply
from ilp_agent.search.card_facts import HARMS_ONLY_ENEMIES
from ilp_agent.search.objective import action_gain, end_value, is_lost
from ilp_agent.search.transposition import counters_key, initial_health, minion_key, needs_no_order, pack_word
from ilp_agent.search.work import MAX_EVENTS

_decode = njit_no_alloc(unpack_action)
_place_in = njit_no_alloc(board_place_of)

MAX_OUTCOMES = 1_024
"""Largest number of outcomes of an action to enumerate; beyond it, as many are sampled."""

MAX_EVENT_OUTCOMES = 32
"""Largest number of outcomes of one event, such as a random card, to enumerate fully."""

MIN_EVENT_SAMPLES = 16
"""Smallest number of outcomes of a larger event to evaluate, evenly spaced in their order."""

TOO_MANY = -1
"""Sentinel for too many outcomes to enumerate."""


@njit_no_alloc
def apply_or_end_turn(state: np.void, cards: np.ndarray, action: int, effect_state: np.void) -> int:
    """Apply an action, or for 0 the effects at the end of the turn; return bits of `Death`."""
    if action == 0:
        return resolve_turn_end(state, cards, effect_state)
    return apply(state, cards, action, effect_state)


@njit_no_alloc
def apply_outcome(before: np.void, cards: np.ndarray, action: int, work: np.void, n: int) -> int:
    """Apply an action with the first `n` outcomes of the odometer and the first outcome of all later events.

    Events after the first `MAX_EVENTS` are sampled, from a stream that no game uses. `work` is modified in
    place: `scratch[0]` receives the position, also `effect_state[1]` and the odometer.

    Returns:
        The number of events in the odometer.
    """
    effect_state, odometer = work["effect_state"][1], work["odometer"]
    while True:
        begin_hypothetical(effect_state)
        effect_state["forced"] = n
        if n == MAX_EVENTS:
            draw_hypothetical(effect_state, before, 0)
        for event in range(n):
            effect_state["outcomes"][event] = odometer[0, event]
        work["scratch"][0] = before
        apply_or_end_turn(work["scratch"][0], cards, action, effect_state)
        if effect_state["n_pending_outcomes"] == 0:
            return n
        stride = (
            effect_state["n_pending_outcomes"] // MIN_EVENT_SAMPLES
            if effect_state["n_pending_outcomes"] > MAX_EVENT_OUTCOMES
            else 1
        )
        odometer[0, n] = stride // 2
        odometer[1, n] = effect_state["n_pending_outcomes"]
        odometer[2, n] = stride
        n += 1


@njit_no_alloc
def next_outcome(odometer: np.ndarray, n: int) -> int:
    """Advance the odometer of `n` events; returns the number of fixed events, `TOO_MANY` after the last."""
    while n > 0:
        odometer[0, n - 1] += odometer[2, n - 1]
        if odometer[0, n - 1] < odometer[1, n - 1]:
            return n
        n -= 1
    return TOO_MANY


@njit_no_alloc
def probability_of(odometer: np.ndarray, n: int) -> float:
    """Probability of the odometer's outcomes of the first `n` events."""
    probability = 1.0
    for event in range(n):
        step = odometer[2, event]
        probability /= (odometer[1, event] - 1 - step // 2) // step + 1
    return probability


@njit_no_alloc
def list_outcomes(
    before: np.void, cards: np.ndarray, action: int, first: int, work: np.void, frame: np.void
) -> int:
    """Write the outcomes of a random action to `frame`; return their number, or `TOO_MANY` above eight.

    Args:
        before: the position before the action.
        cards: the card table.
        action: the action.
        first: number of outcomes of its first event.
        work: scratch is modified in place.
        frame: dtype `FRAME`. Modified in place.
    """
    if first > MAX_HYPOTHETICAL:
        return TOO_MANY
    n_leaves, n = 0, 0
    while n >= 0:
        n = apply_outcome(before, cards, action, work, n)
        if n_leaves == MAX_HYPOTHETICAL:
            return TOO_MANY
        frame["probability"][n_leaves] = probability_of(work["odometer"], n)
        frame["n_events"][n_leaves] = n
        for event in range(n):
            frame["outcomes"][n_leaves, event] = work["odometer"][0, event]
        n_leaves += 1
        n = next_outcome(work["odometer"], n)
    return n_leaves


@njit_no_alloc
def expected_gain(
    before: np.void, cards: np.ndarray, weights: np.ndarray, action: int, work: np.void
) -> float:
    """Expected gain of an action with many outcomes, including the end value if nothing follows.

    More than `MAX_OUTCOMES` outcomes are sampled; of an event with more than `MAX_EVENT_OUTCOMES` outcomes,
    evenly spaced ones are evaluated. Minus infinity if all evaluated outcomes lose the game. `work` is
    modified in place.
    """
    start, effect_state = work["start"], work["effect_state"][1]
    total, weighed, survived = 0.0, 0.0, False
    n = 0
    for number in range(MAX_OUTCOMES):
        n = apply_outcome(before, cards, action, work, n)
        probability = probability_of(work["odometer"], n)
        if number == 0 and probability * MAX_OUTCOMES < 1.0 - ROUNDING:
            break  # too many outcomes, if all are about equally likely
        after = work["scratch"][0]
        value = action_gain(before, after, cards, action, effect_state, weights)
        value += end_value(after, cards, weights, start)
        total += probability * value
        weighed += probability
        survived = survived or not is_lost(after, start)
        n = next_outcome(work["odometer"], n)
        if n < 0:
            return total / weighed if survived else -np.inf
    return _sampled_gain(before, cards, weights, action, work)


ROUNDING = 1e-9
"""Rounding tolerance of a product of probabilities."""


@njit_no_alloc
def _sampled_gain(
    before: np.void, cards: np.ndarray, weights: np.ndarray, action: int, work: np.void
) -> float:
    """Monte Carlo estimate of `expected_gain` from `MAX_OUTCOMES` samples."""
    start, effect_state = work["start"], work["effect_state"][1]
    total, survived = 0.0, False
    for number in range(MAX_OUTCOMES):
        begin_hypothetical(effect_state)
        draw_hypothetical(effect_state, before, number)
        work["scratch"][0] = before
        apply_or_end_turn(work["scratch"][0], cards, action, effect_state)
        after = work["scratch"][0]
        value = action_gain(before, after, cards, action, effect_state, weights)
        total += value + end_value(after, cards, weights, start)
        survived = survived or not is_lost(after, start)
    return total / MAX_OUTCOMES if survived else -np.inf


@njit_no_alloc
def expected_gain_key(
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
    if not needs_no_order(cards) or not facts[number]["bits"] & HARMS_ONLY_ENEMIES:
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
    word = pack_word(number, spell_damage, enemy["health"], enemy["armour"])
    return additive_hash(fast_hash(fast_hash(total, word), target_key)) | np.uint64(1)


@njit_no_alloc
def _key_of_play(
    state: np.void, cards: np.ndarray, action: int, number: int, start: np.void, pair: np.ndarray
) -> np.uint64:
    """`expected_gain_key` of a card or power: the position without mana, cards in hand and attacks left."""
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
                key = additive_hash(key ^ np.uint64(initial_health(pair[0], cards, start)))
            total += key
        key = fast_hash(own, pack_word(side["health"], side["armour"], side["crystals"], side["fatigue"]))
        key = fast_hash(
            key, pack_word(side["power"], side["weapon"], side["weapon_attack"], side["durability"])
        )
        key = fast_hash(key, pack_word(side["hero_attack"], side["traits"], side["overload"], side["n_hand"]))
        total += additive_hash(key ^ np.uint64(side["n_deck"]))
    if not needs_no_order(cards):
        total += counters_key(state, cards)
    kind, source, target = _decode(action)
    if kind == ActionKind.PLAY:
        held = state["sides"][seat]["hand_modifiers"][source]
        total += additive_hash(fast_hash(np.uint64(8), pack_word(held["attack"], held["health"], 0, 0)))
    target_key = np.uint64(0)
    if action & AIMED:
        target_key = np.uint64(1 + target)
        place = target - OWN_TARGETS if target >= OWN_TARGETS else target
        if place < BOARD_SIZE:
            pair[0] = state["sides"][seat if target >= OWN_TARGETS else 1 - seat]["board"][place]
            pair[0]["attacks_left"] = 0
            target_key = minion_key(pair[0], np.uint64(3))
    word = pack_word(number, action >> OPTION_SHIFT, 0, 7)
    return additive_hash(fast_hash(fast_hash(total, word), target_key)) | np.uint64(1)


@njit_no_alloc
def apply_certain_part(state: np.void, cards: np.ndarray, action: int, effect_state: np.void) -> None:
    """Apply the deterministic part of a random action: its cost, and the body of a minion.

    `state` and the aura workspaces of `effect_state` are modified in place.
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
        attack, health = own["hand_modifiers"][source]["attack"], own["hand_modifiers"][source]["health"]
        number, _ = pay_for(state, cards, seat, source)
        card = cards[number]
        own["played"] += 1 if needed_features(cards) & GameFeature.CARDS_PLAYED else 0
        own["overload"] += card["overload"]
        if card["kind"] == CardKind.SPELL:
            own["spells"] += 1 if needed_features(cards) & GameFeature.SPELLS_CAST else 0
        elif card["kind"] == CardKind.MINION:
            to = _place_in(action)
            to = to if to >= 0 else int(own["n_board"])
            add_minion(state, cards, seat, number, to)
            add_stats(own["board"][to], attack, health)
            apply_auras(state, cards, effect_state)
