"""Attacks in games with effects: what waits for them, damage both ways at once, then deaths; compiled."""

import numpy as np

from engine.codes import HERO, Death, Keyword
from engine.effects.board import is_dying, place_of
from engine.effects.harm import drain, strike_hero, strike_minion
from engine.effects.listen import announce, is_heard
from engine.effects.resolve import settle
from engine.effects.weapons import wear
from engine.events import A_HERO, ENEMY_HERO, NO_TARGET, OWN_HERO, TO_HERO, TO_MINIONS
from engine.jit import njit_borrowing
from engine.vocabulary import Trait, Trigger

GONE = -2
"""Where a character is that has left the board."""


@njit_borrowing
def attack(state: np.void, cards: np.ndarray, slot: int, target: int, events: np.void) -> int:
    """Carry out an attack of the active player; bits of `Death`. `state` and `events` are modified in place.

    Args:
        state: dtype `STATE`.
        cards: the card table.
        slot: place of the attacker, or `HERO`.
        target: place of the enemy it attacks, or `HERO`.
        events: dtype `EVENTS`.
    """
    seat = state["active"]
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    defends = 1 - seat
    if slot == HERO:
        own["hero_attacks_left"] -= 1
    else:
        own["board"][slot]["attacks_left"] -= 1
        own["board"][slot]["keywords"] &= ~Keyword.STEALTH
    waits = is_heard(cards, Trigger.ATTACKS) or is_heard(cards, Trigger.AFTER_ATTACK)
    if waits:
        events["attacker"] = OWN_HERO if slot == HERO else own["board"][slot]["born"]
        events["defender"] = ENEMY_HERO if target == HERO else enemy["board"][target]["born"]
        number = -1 if slot == HERO else own["board"][slot]["card"]
        who = A_HERO if slot == HERO else events["attacker"]
        announce(state, cards, events, Trigger.ATTACKS, seat, who, number, 1)
        settle(state, cards, events)
        if events["waiting"]:
            return 0
        slot, target = _place(own, events["attacker"]), _place(enemy, events["defender"])
        if target == GONE or events["defender"] == OWN_HERO:
            defends, target = seat, _place(own, events["defender"])
        if min(slot, target) == GONE or own["health"] <= 0 or enemy["health"] <= 0:
            events["defender"] = NO_TARGET
            return 0
    deaths = _blows(state, cards, slot, defends, target, events)
    if waits:
        who = A_HERO if slot == HERO else events["attacker"]
        number = -1 if slot == HERO else own["board"][slot]["card"]
        announce(state, cards, events, Trigger.AFTER_ATTACK, seat, who, number, 1)
    if slot == HERO and own["durability"] > 0:
        wear(state, cards, seat, -1, events)
    settle(state, cards, events)
    events["defender"] = NO_TARGET
    return deaths


@njit_borrowing
def _place(side: np.void, who: int) -> int:
    """Where an attacker or what it attacks is now; `GONE` where it has left."""
    if who in (OWN_HERO, ENEMY_HERO):
        return HERO
    place = place_of(side, who) if who > 0 else -1
    return place if place >= 0 else GONE


@njit_borrowing
def _blows(state: np.void, cards: np.ndarray, slot: int, defends: int, target: int, events: np.void) -> int:
    """The damage of an attack, both ways at once; bits of `Death`. The player at `defends` is attacked."""
    seat = state["active"]
    own, enemy = state["sides"][seat], state["sides"][defends]
    if slot == HERO:
        damage = own["hero_attack"] + own["weapon_attack"]
        keywords = cards[own["weapon"]]["keywords"] if own["durability"] > 0 else 0
        traits = cards[own["weapon"]]["traits"] if own["durability"] > 0 else 0
    else:
        attacker = own["board"][slot]
        damage, keywords, traits = attacker["attack"], attacker["keywords"], attacker["traits"]
    if target == HERO:
        dealt = strike_hero(state, cards, events, defends, damage, traits)
        events["hits"][defends, TO_HERO] += damage
    else:
        defender = enemy["board"][target]
        back, back_keywords, back_traits = defender["attack"], defender["keywords"], defender["traits"]
        dealt = strike_minion(state, cards, events, defends, target, damage, keywords, traits)
        if traits & Trait.CLEAVES:
            for place in (target - 1, target + 1):
                if 0 <= place < enemy["n_board"]:
                    dealt += strike_minion(state, cards, events, defends, place, damage, keywords, traits)
                    events["hits"][defends, TO_MINIONS] += damage
        own_traits = own["traits"] if slot == HERO else own["board"][slot]["traits"]
        if back > 0 and not own_traits & Trait.IMMUNE:
            defender["keywords"] &= ~Keyword.STEALTH
        if slot == HERO:
            taken = strike_hero(state, cards, events, seat, back, back_traits)
        else:
            taken = strike_minion(state, cards, events, seat, slot, back, back_keywords, back_traits)
        events["hits"][defends, TO_MINIONS] += damage
        events["hits"][seat, TO_HERO if slot == HERO else TO_MINIONS] += back
        if back_keywords & Keyword.LIFESTEAL and taken > 0:
            drain(state, cards, events, defends, taken)
    if keywords & Keyword.LIFESTEAL and dealt > 0:
        drain(state, cards, events, seat, dealt)
    deaths = 0
    if slot != HERO and is_dying(own["board"][slot]):
        deaths |= Death.ATTACKER
    if target != HERO and is_dying(enemy["board"][target]):
        deaths |= Death.DEFENDER
    return deaths
