"""Damage, healing, card draw and summoning with their triggers, and the removal of dead minions; compiled."""

import numpy as np

from engine.codes import UNKNOWN, Keyword
from engine.effect_codes import MAX_GRAVEYARD, MAX_QUEUE, GameFeature, Race, Rule, Trait, Trigger
from engine.effects.auras import count_rules, has_rule
from engine.effects.board import add_minion, board_index, has_room, is_dying, remove_minion
from engine.effects.card_filters import needed_features
from engine.effects.ops_character import (
    clamp,
    reduce_hero_health,
    reduce_minion_health,
    restore_hero_health,
    trigger_broken_weapons,
)
from engine.effects.secrets import prevent_lethal_damage
from engine.effects.triggers import (
    any_card_has_trigger,
    fire_trigger,
    move_rows_forward,
    queue_deathrattle,
    sort_by_entity_id,
)
from engine.jit import njit_no_alloc
from engine.state import A_HERO, NO_CHARACTER, ZERO_MINION, draw_card


@njit_no_alloc
def damage_minion_and_trigger(
    state: np.void,
    cards: np.ndarray,
    events: np.void,
    seat: int,
    place: int,
    damage: int,
    keywords: int,
    traits: int,
) -> int:
    """Damage the minion at `place`, fire the damage triggers and return the damage. Modified in place."""
    minion = state["sides"][seat]["board"][place]
    shielded = minion["keywords"] & Keyword.DIVINE_SHIELD
    dealt = reduce_minion_health(minion, damage, keywords, traits)
    if dealt > 0:
        fire_trigger(state, cards, events, Trigger.DAMAGED, seat, minion["entity_id"], minion["card"], dealt)
    elif shielded and not minion["keywords"] & Keyword.DIVINE_SHIELD:
        fire_trigger(state, cards, events, Trigger.SHIELD_LOST, seat, minion["entity_id"], minion["card"], 1)
    return int(dealt)


@njit_no_alloc
def damage_hero_and_trigger(
    state: np.void, cards: np.ndarray, events: np.void, seat: int, damage: int, traits: int
) -> int:
    """Damage a hero and fire the damage triggers, unless a Secret prevents it; return the damage dealt."""
    side = state["sides"][seat]
    if not side["traits"] & Trait.IMMUNE and prevent_lethal_damage(state, cards, seat, damage, events):
        side["traits"] |= Trait.IMMUNE
        return 0
    dealt = reduce_hero_health(side, damage, traits)
    if dealt > 0:
        if needed_features(cards) & GameFeature.HERO_DAMAGE:
            side["hero_damage_this_turn"] = clamp(side["hero_damage_this_turn"] + dealt, 0)
        fire_trigger(state, cards, events, Trigger.DAMAGED, seat, A_HERO, -1, dealt)
    return int(dealt)


@njit_no_alloc
def heal_minion_and_trigger(
    state: np.void, cards: np.ndarray, events: np.void, seat: int, place: int, amount: int
) -> None:
    """Heal a minion, at most to full health, and fire the heal triggers. `state` is modified in place."""
    minion = state["sides"][seat]["board"][place]
    before = minion["health"]
    minion["health"] = max(before, min(before + amount, minion["max_health"]))
    if minion["health"] > before:
        more = minion["health"] - before
        fire_trigger(state, cards, events, Trigger.HEALED, seat, minion["entity_id"], minion["card"], more)


@njit_no_alloc
def heal_hero_and_trigger(state: np.void, cards: np.ndarray, events: np.void, seat: int, amount: int) -> None:
    """Heal a living hero, at most to full health, and fire the heal triggers. Modified in place."""
    if events["dead_heroes"] >> seat & 1:
        return
    side = state["sides"][seat]
    before = side["health"]
    restore_hero_health(side, amount)
    if side["health"] > before:
        fire_trigger(state, cards, events, Trigger.HEALED, seat, A_HERO, -1, side["health"] - before)


@njit_no_alloc
def apply_lifesteal(state: np.void, cards: np.ndarray, events: np.void, seat: int, damage: int) -> None:
    """Apply Lifesteal: heal a player's hero by the damage dealt; inverted healing damages the hero."""
    if has_rule(state, cards, seat, Rule.HEALING_HARMS):
        damage_hero_and_trigger(state, cards, events, seat, damage, 0)
    else:
        heal_hero_and_trigger(state, cards, events, seat, damage)


@njit_no_alloc
def draw_and_trigger(state: np.void, cards: np.ndarray, events: np.void, seat: int) -> None:
    """Draw a card or take fatigue, and fire the triggers; a planning agent cannot see the card."""
    side = state["sides"][seat]
    if side["n_deck"] == 0:
        side["fatigue"] += 1
        damage_hero_and_trigger(state, cards, events, seat, side["fatigue"], 0)
        return
    if events["hides_draws"]:
        side["deck"][side["n_deck"] - 1] = UNKNOWN
    hand_before = side["n_hand"]
    draw_card(side)
    if side["n_hand"] > hand_before:
        number = int(side["hand"][hand_before])
        fire_trigger(state, cards, events, Trigger.DRAWN, seat, NO_CHARACTER, max(number, -1), 1)


@njit_no_alloc
def summon_and_trigger(
    state: np.void, cards: np.ndarray, events: np.void, seat: int, number: int, place: int
) -> bool:
    """Summon a minion and fire the summon triggers; return False if the board is full. Modified in place."""
    side = state["sides"][seat]
    if not has_room(side):
        return False
    entity_id = add_minion(state, cards, seat, number, min(max(place, 0), side["n_board"]))
    count_totem(side, cards, number)
    fire_trigger(state, cards, events, Trigger.SUMMONED, seat, entity_id, number, 1)
    fire_trigger(state, cards, events, Trigger.AFTER_SUMMONED, seat, entity_id, number, 1)
    return True


@njit_no_alloc
def count_totem(side: np.void, cards: np.ndarray, number: int) -> None:
    """Count a summoned Totem, if a card of the game needs the count. `side` is modified in place."""
    if needed_features(cards) & GameFeature.TOTEMS_SUMMONED and cards[number]["race"] in (
        Race.TOTEM,
        Race.ALL,
    ):
        side["totems"] += 1


@njit_no_alloc
def shift_death_places(state: np.void, seat: int, place: int, entity_id: int, events: np.void) -> None:
    """Shift the saved places of dead minions left, after a minion left `place`. Modified in place."""
    if board_index(state["sides"][seat], entity_id) == place:
        return  # it stayed: the hand or the other board was full
    for n in range(events["first"], events["last"]):
        other = events["queue"][n % MAX_QUEUE]
        if other["seat"] == seat and other["place"] > place:
            other["place"] -= 1


@njit_no_alloc
def summon_next_to_source(
    state: np.void,
    cards: np.ndarray,
    seat: int,
    number: int,
    left: bool,
    queued: np.void,
    events: np.void,
) -> int:
    """Summon a minion next to (or in the place of) its source, else rightmost; return its index or -1.

    A Battlecry that summons several minions alternates between right and left of its own minion. Minions
    summoned in place of a dead one stand in the order of its rows. `queued` is modified in place.
    """
    side = state["sides"][seat]
    place = int(side["n_board"])
    own_board = seat == queued["seat"]
    dead = own_board and queued["place"] >= 0
    if dead:
        place = int(queued["place"])
    elif own_board and queued["source"] > 0:
        source = board_index(side, queued["source"])
        if source >= 0:
            place = source if left else source + 1
    place = min(max(place, 0), int(side["n_board"]))
    if summon_and_trigger(state, cards, events, seat, number, place):
        if dead:
            queued["place"] += 1
        for n in range(events["first"], events["last"]):
            other = events["queue"][n % MAX_QUEUE]
            if other["seat"] != seat or other["place"] < 0:
                continue
            comes_later = (
                other["place_before_deaths"] > queued["place_before_deaths"]
                or other["source"] == queued["source"]
            )
            if other["place"] > place or (other["place"] == place and dead and comes_later):
                other["place"] += 1
        return place
    return -1


@njit_no_alloc
def any_dying(state: np.void) -> bool:
    """Whether a minion on either board is about to die."""
    for seat in range(2):
        side = state["sides"][seat]
        for place in range(side["n_board"]):
            if is_dying(side["board"][place]):
                return True
    return False


@njit_no_alloc
def remove_dead_minions(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """Remove dying minions and used-up weapons; queue their Deathrattles and death triggers.

    Deaths are queued in order of play, each with its Deathrattles and triggers; weapons last. The place of a
    dead minion is stored as the number of survivors to its left. `state` and `events` are modified in place.
    """
    begin = events["last"]
    n_dead = 0
    for seat in range(2):
        side = state["sides"][seat]
        times = 2 if count_rules(state, cards, seat, Rule.DEATHRATTLES_TWICE, True) else 1
        place = 0
        place_before = 0
        while place < side["n_board"]:
            minion = side["board"][place]
            if not is_dying(minion):
                place += 1
                place_before += 1
                continue
            side["died"] += 1
            if needed_features(cards) & GameFeature.DIED_THIS_TURN:
                side["died_this_turn"] += 1
            dead = events["dead"][n_dead]
            dead[0], dead[1], dead[2] = minion["entity_id"], seat, minion["card"]
            n_dead += 1
            before = events["last"]
            for _ in range(times):
                queue_deathrattle(cards, minion, seat, place, events)
            for n in range(before, events["last"]):
                events["queue"][n % MAX_QUEUE]["place_before_deaths"] = place_before
            remove_minion(side, place, ZERO_MINION)
            place_before += 1
    sort_by_entity_id(events, begin, events["last"])
    has_triggers = any_card_has_trigger(cards, Trigger.DIED) or any_card_has_trigger(
        cards, Trigger.AFTER_DEATH
    )
    if has_triggers or needed_features(cards) & GameFeature.GRAVEYARD:
        _sort_dead(events, n_dead)
        for n in range(n_dead):
            dead = events["dead"][n]
            if needed_features(cards) & GameFeature.GRAVEYARD:
                add_to_graveyard(state["sides"][dead[1]], dead[2])
            if has_triggers:
                begin = _queue_death_triggers(state, cards, dead, begin, events)
    trigger_broken_weapons(state, cards, events)


@njit_no_alloc
def _queue_death_triggers(
    state: np.void, cards: np.ndarray, dead: np.ndarray, begin: int, events: np.void
) -> int:
    """Queue a death's triggers among its Deathrattles, in order of play; return the queue index after them.

    Only cards in play when the minion is removed trigger. Sources: HearthSim/hs-bugs 29, 820 and 964.

    Args:
        state: dtype `STATE`.
        cards: the card table.
        dead: entity id, seat and card number.
        begin: queue index of its Deathrattles.
        events: modified in place.
    """
    end = begin
    while end < events["last"] and events["queue"][end % MAX_QUEUE]["source"] == dead[0]:
        end += 1
    last = events["last"]
    fire_trigger(state, cards, events, Trigger.DIED, dead[1], dead[0], dead[2], 1)
    move_rows_forward(events, last, begin)
    end += events["last"] - last
    sort_by_entity_id(events, begin, end)
    last = events["last"]
    fire_trigger(state, cards, events, Trigger.AFTER_DEATH, dead[1], dead[0], dead[2], 1)
    move_rows_forward(events, last, end)
    return int(end + events["last"] - last)


@njit_no_alloc
def _sort_dead(events: np.void, n_dead: int) -> None:
    """Sort the minions that have just died in order of play. `events` is modified in place."""
    dead = events["dead"]
    for n in range(1, n_dead):
        for m in range(n, 0, -1):
            if dead[m - 1, 0] <= dead[m, 0]:
                break
            for part in range(3):
                dead[m - 1, part], dead[m, part] = dead[m, part], dead[m - 1, part]


@njit_no_alloc
def add_to_graveyard(side: np.void, number: int) -> None:
    """Add a dead minion to the graveyard; a full graveyard drops its oldest. `side` is modified in place."""
    if side["n_graveyard"] == MAX_GRAVEYARD:
        for place in range(MAX_GRAVEYARD - 1):
            side["graveyard"][place] = side["graveyard"][place + 1]
        side["n_graveyard"] -= 1
    side["graveyard"][side["n_graveyard"]] = number
    side["n_graveyard"] += 1
