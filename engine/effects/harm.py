"""Damage, healing, cards drawn and minions summoned, with what waits for them; compiled."""

import numpy as np

from engine.codes import UNKNOWN, Keyword
from engine.effects.auras import has_rule
from engine.effects.board import enter, has_room
from engine.effects.cardsets import asked_by
from engine.effects.listen import announce
from engine.effects.operations import clamp, heal_hero, hurt_hero, hurt_minion
from engine.effects.secrets import prevents
from engine.events import A_HERO, NO_ONE
from engine.jit import njit_borrowing
from engine.state import draw_card
from engine.vocabulary import Ask, Race, Rule, Trait, Trigger


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
