"""What chance does to an action that a player thinks of: its outcomes one by one, or what they come to."""

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
"""Outcomes of an action that are looked at one by one; of more, so many are drawn."""

MOST_APART = 32
"""Outcomes of one event, such as a card of a pool, that are all looked at; of more, some (`SPREAD`)."""

SPREAD = 16
"""Outcomes of such an event that are looked at, at least: evenly spread over all, in their order."""

TOO_MANY = -1
"""In place of a number of outcomes."""


@njit_borrowing
def carry_out(state: np.void, cards: np.ndarray, action: int, thought: np.void) -> int:
    """`engine.rules.apply`, but for the end of the turn, of which only the effects are carried out."""
    if action == 0:
        return finish_turn(state, cards, thought)
    return apply(state, cards, action, thought)


@njit_borrowing
def run_outcome(before: np.void, cards: np.ndarray, action: int, work: np.void, n: int) -> int:
    """Carry out an action with the first `n` outcomes of the odometer, and the first of all further events.

    After `EVENTS_EACH` events the others are drawn, from a stream that no game uses. `work` is modified in
    place: `scratch[0]`, the position then, `thought[1]` and the odometer.

    Returns:
        How many events are in the odometer.
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
        step = thought["waiting"] // SPREAD if thought["waiting"] > MOST_APART else 1
        odometer[0, n] = step // 2
        odometer[1, n] = thought["waiting"]
        odometer[2, n] = step
        n += 1


@njit_borrowing
def next_outcome(odometer: np.ndarray, n: int) -> int:
    """Go on to the next outcome of `n` events that is looked at; how many are given then.

    `TOO_MANY` after the last one.
    """
    while n > 0:
        odometer[0, n - 1] += odometer[2, n - 1]
        if odometer[0, n - 1] < odometer[1, n - 1]:
            return n
        n -= 1
    return TOO_MANY


@njit_borrowing
def probability_of(odometer: np.ndarray, n: int) -> float:
    """Probability of the outcomes of the first `n` events."""
    probability = 1.0
    for event in range(n):
        step = odometer[2, event]
        probability /= (odometer[1, event] - 1 - step // 2) // step + 1
    return probability


@njit_borrowing
def list_outcomes(
    before: np.void, cards: np.ndarray, action: int, first: int, work: np.void, frame: np.void
) -> int:
    """Write all outcomes of an action that chance decides to `frame`; how many, `TOO_MANY` above eight.

    Args:
        before: the position before it.
        cards: the card table.
        action: the action.
        first: outcomes of its first event.
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
    """What an action of many outcomes is expected to add, to the end's value too, if nothing follows it.

    Of more than `MOST_WEIGHED` outcomes so many are drawn; of an event with more than `MOST_APART` some are
    looked at, evenly spread. Minus infinity where all that are looked at kill the own hero and not the
    enemy's. `work` is modified in place.
    """
    start, thought = work["start"], work["thought"][1]
    total, weighed, survived = 0.0, 0.0, False
    n = 0
    for number in range(MOST_WEIGHED):
        n = run_outcome(before, cards, action, work, n)
        probability = probability_of(work["odometer"], n)
        if number == 0 and probability * MOST_WEIGHED < 1.0 - ROUNDING:
            break  # there are more, if all are about as probable
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
"""By how much a product of probabilities may be wrong."""


@njit_borrowing
def _drawn_gain(before: np.void, cards: np.ndarray, weights: np.ndarray, action: int, work: np.void) -> float:
    """`expected_gain` as the mean over `MOST_WEIGHED` outcomes that are drawn."""
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
    """A hash of all that what an action is expected to add depends on; 0 where that is not known.

    It is known of spells and powers that only hurt the other side, where no minion has a Deathrattle; and of
    all that is played where nothing depends on cards in hand or on mana. `pair` is modified in place.
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
    aimed = np.uint64(0)
    if action & AIMED and target < BOARD_SIZE:
        aimed = minion_key(enemy["board"][target], np.uint64(2))
    word = word_of(number, spell_damage, enemy["health"], enemy["armour"])
    return to_sum(stir(stir(total, word), aimed)) | np.uint64(1)


@njit_borrowing
def _key_of_play(
    state: np.void, cards: np.ndarray, action: int, number: int, start: np.void, pair: np.ndarray
) -> np.uint64:
    """`gain_key` of a card or power by all of the position but mana, cards in hand, and attacks left."""
    if start["looks"]:
        return np.uint64(0)
    seat = start["seat"]
    total = np.uint64(0)
    for who in range(2):
        side = state["sides"][who]
        own = np.uint64(1 if who == seat else 2)
        for place in range(side["n_board"]):
            pair[0] = side["board"][place]
            pair[0]["attacks_left"] = 0
            key = minion_key(pair[0], own)
            if who == seat:
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
    aimed = np.uint64(0)
    if action & AIMED:
        aimed = np.uint64(1 + target)
        place = target - OWN_SIDE if target >= OWN_SIDE else target
        if place < BOARD_SIZE:
            pair[0] = state["sides"][seat if target >= OWN_SIDE else 1 - seat]["board"][place]
            pair[0]["attacks_left"] = 0
            aimed = minion_key(pair[0], np.uint64(3))
    word = word_of(number, action >> OPTION_SHIFT, 0, 7)
    return to_sum(stir(stir(total, word), aimed)) | np.uint64(1)


@njit_borrowing
def pay(state: np.void, cards: np.ndarray, action: int) -> None:
    """Carry out of an action what chance has no part in: its price, and the body of a minion.

    `state` is modified in place.
    """
    kind, source, _ = _decode(action)
    seat = state["active"]
    own = state["sides"][seat]
    if kind == ActionKind.CHOOSE:  # what it leads to is chosen later
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
        own["played"] += 1 if asked_by(cards) & Ask.PLAYED else 0
        own["overload"] += card["overload"]
        if card["kind"] == CardKind.SPELL:
            own["spells"] += 1 if asked_by(cards) & Ask.SPELLS else 0
        elif card["kind"] == CardKind.MINION:
            to = _place_in(action)
            to = to if to >= 0 else int(own["n_board"])
            enter(state, cards, seat, number, to)
            strengthen(own["board"][to], attack, health)
            refresh(state, cards)
