"""Damage, healing, card draws and summoning, with the triggers they fire; compiled."""

import numpy as np

from engine.codes import UNKNOWN, Keyword
from engine.effect_codes import MAX_QUEUE, Ask, Race, Rule, Trait, Trigger
from engine.effects.auras import has_rule
from engine.effects.board import enter, has_room, place_of
from engine.effects.card_filters import asked_by
from engine.effects.ops_character import clamp, heal_hero, hurt_hero, hurt_minion
from engine.effects.secrets import prevents
from engine.effects.triggers import announce
from engine.jit import njit_borrowing
from engine.state import A_HERO, NO_ONE, draw_card


@njit_borrowing
def strike_minion(
    state: np.void,
    cards: np.ndarray,
    events: np.void,
    seat: int,
    place: int,
    damage: int,
    keywords: int,
    traits: int,
) -> int:
    """`hurt_minion` of the one at a place of a board, with what waits for it."""
    minion = state["sides"][seat]["board"][place]
    shielded = minion["keywords"] & Keyword.DIVINE_SHIELD
    dealt = hurt_minion(minion, damage, keywords, traits)
    if dealt > 0:
        announce(state, cards, events, Trigger.DAMAGED, seat, minion["born"], minion["card"], dealt)
    elif shielded and not minion["keywords"] & Keyword.DIVINE_SHIELD:
        announce(state, cards, events, Trigger.SHIELD_LOST, seat, minion["born"], minion["card"], 1)
    return int(dealt)


@njit_borrowing
def strike_hero(
    state: np.void, cards: np.ndarray, events: np.void, seat: int, damage: int, traits: int
) -> int:
    """`hurt_hero`, with what waits for it."""
    side = state["sides"][seat]
    if not side["traits"] & Trait.IMMUNE and prevents(state, cards, seat, damage, events):
        side["traits"] |= Trait.IMMUNE
        return 0
    dealt = hurt_hero(side, damage, traits)
    if dealt > 0:
        if asked_by(cards) & Ask.HURT:
            side["hurt"] = clamp(side["hurt"] + dealt, 0)
        announce(state, cards, events, Trigger.DAMAGED, seat, A_HERO, -1, dealt)
    return int(dealt)


@njit_borrowing
def mend_minion(
    state: np.void, cards: np.ndarray, events: np.void, seat: int, place: int, amount: int
) -> None:
    """Heal a minion, at most to full health, with what waits for it."""
    minion = state["sides"][seat]["board"][place]
    before = minion["health"]
    minion["health"] = max(before, min(before + amount, minion["max_health"]))
    if minion["health"] > before:
        more = minion["health"] - before
        announce(state, cards, events, Trigger.HEALED, seat, minion["born"], minion["card"], more)


@njit_borrowing
def mend_hero(state: np.void, cards: np.ndarray, events: np.void, seat: int, amount: int) -> None:
    """Heal a hero who is not dead, at most to full health, with what waits for it."""
    if events["fallen"] >> seat & 1:
        return
    side = state["sides"][seat]
    before = side["health"]
    heal_hero(side, amount)
    if side["health"] > before:
        announce(state, cards, events, Trigger.HEALED, seat, A_HERO, -1, side["health"] - before)


@njit_borrowing
def drain(state: np.void, cards: np.ndarray, events: np.void, seat: int, damage: int) -> None:
    """Heal a player's hero by damage dealt with Lifesteal, or hurt it where healing does harm."""
    if has_rule(state, cards, seat, Rule.HEALING_HARMS):
        strike_hero(state, cards, events, seat, damage, 0)
    else:
        mend_hero(state, cards, events, seat, damage)


@njit_borrowing
def draw_one(state: np.void, cards: np.ndarray, events: np.void, seat: int) -> None:
    """Draw a card, with what waits for it; a player who thinks ahead does not see it."""
    side = state["sides"][seat]
    if side["n_deck"] == 0:
        side["fatigue"] += 1
        strike_hero(state, cards, events, seat, side["fatigue"], 0)
        return
    if events["blind"]:
        side["deck"][side["n_deck"] - 1] = UNKNOWN
    held = side["n_hand"]
    draw_card(side)
    if side["n_hand"] > held:
        number = int(side["hand"][held])
        announce(state, cards, events, Trigger.DRAWN, seat, NO_ONE, max(number, -1), 1)


@njit_borrowing
def bring(state: np.void, cards: np.ndarray, events: np.void, seat: int, number: int, place: int) -> bool:
    """Summon a minion where there is room, with what waits for it; whether there was."""
    side = state["sides"][seat]
    if not has_room(side):
        return False
    born = enter(state, cards, seat, number, min(max(place, 0), side["n_board"]))
    count_arrival(side, cards, number)
    announce(state, cards, events, Trigger.SUMMONED, seat, born, number, 1)
    announce(state, cards, events, Trigger.AFTER_SUMMONED, seat, born, number, 1)
    return True


@njit_borrowing
def count_arrival(side: np.void, cards: np.ndarray, number: int) -> None:
    """Count a minion that came into play, where a card of the game asks. `side` is modified in place."""
    if asked_by(cards) & Ask.TOTEMS and cards[number]["race"] in (Race.TOTEM, Race.ALL):
        side["totems"] += 1


@njit_borrowing
def close_gap(state: np.void, seat: int, place: int, born: int, events: np.void) -> None:
    """Where minion `born` left its `place` on a board, the dead stood one further left. Modified in place."""
    if place_of(state["sides"][seat], born) == place:
        return  # the hand or the other board had no room
    for n in range(events["first"], events["last"]):
        other = events["queue"][n % MAX_QUEUE]
        if other["seat"] == seat and other["place"] > place:
            other["place"] -= 1


@njit_borrowing
def summon_beside(
    state: np.void,
    cards: np.ndarray,
    seat: int,
    number: int,
    left: bool,
    waiting: np.void,
    events: np.void,
) -> int:
    """Summon a minion next to its source, where a dead source stood, or at the right end; its place, or -1.

    Several that a Battlecry summons stand to the right and to the left of its minion in turn; several where a
    dead minion stood stand there in the order of its rows. `waiting` is modified in place.
    """
    side = state["sides"][seat]
    place = int(side["n_board"])
    own = seat == waiting["seat"]
    dead = own and waiting["place"] >= 0
    if dead:
        place = int(waiting["place"])
    elif own and waiting["source"] > 0:
        source = place_of(side, waiting["source"])
        if source >= 0:
            place = source if left else source + 1
    place = min(max(place, 0), int(side["n_board"]))
    if bring(state, cards, events, seat, number, place):
        if dead:
            waiting["place"] += 1
        for n in range(events["first"], events["last"]):
            other = events["queue"][n % MAX_QUEUE]
            if other["seat"] != seat or other["place"] < 0:
                continue
            later = other["was"] > waiting["was"] or other["source"] == waiting["source"]
            if other["place"] > place or (other["place"] == place and dead and later):
                other["place"] += 1
        return place
    return -1
