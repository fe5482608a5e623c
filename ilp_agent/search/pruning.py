"""Pruning: actions the search skips (deferred, excluded, equivalent, without a slot); compiled."""

import numpy as np

from engine.bitfields import AIMED
from engine.codes import BOARD_SIZE, COIN, HERO, OWN_TARGETS, ActionKind, Death, Keyword
from engine.effect_codes import CardKind
from engine.jit import njit_no_alloc
from engine.rules import decode
from ilp_agent.search.card_facts import HARMS_ANY_TARGET, PLAIN
from ilp_agent.search.deferred_actions import (
    DEFER_ATTACKS,
    DEFER_LETHAL,
    DEFER_PLAYS,
    NEEDS_COIN,
    SPARES_OWN,
)
from ilp_agent.search.transposition import has_earlier_copy
from ilp_agent.turn import ANY_TARGET, OWN_HERO_SOURCE, PLAYED_THIS_TURN


@njit_no_alloc
def is_pruned(
    state: np.void, cards: np.ndarray, facts: np.ndarray, action: int, frame: np.void, start: np.void
) -> bool:
    """Whether an action is pruned: deferred, excluded, without a board slot, or equivalent to another."""
    kind, source, target = decode(action)
    own = state["sides"][start["seat"]]
    if kind == ActionKind.PLAY:
        number = own["hand"][source]
        if has_earlier_copy(own, source):
            return True
        if frame["late"] & DEFER_PLAYS:
            if number == COIN:
                if not frame["late"] & NEEDS_COIN:
                    return True
            elif facts[number]["bits"] & PLAIN:
                return True
    elif kind == ActionKind.POWER and frame["late"] & DEFER_PLAYS and facts[own["power"] - 1]["bits"] & PLAIN:
        return True
    elif (
        kind == ActionKind.ATTACK
        and frame["late"] & (DEFER_ATTACKS | DEFER_LETHAL)
        and target == HERO
        and source != HERO
    ):
        # The first attack of two may precede an attack that kills the minion.
        last = own["board"][source]["attacks_left"] == 1
        if last:
            return True
    if (
        action & AIMED
        and target >= OWN_TARGETS
        and frame["late"] & (DEFER_ATTACKS | DEFER_LETHAL | DEFER_PLAYS)
    ):
        card = own["hand"][source] if kind == ActionKind.PLAY else own["power"] - 1
        if facts[card]["bits"] & HARMS_ANY_TARGET:
            power = kind == ActionKind.POWER and frame["late"] & SPARES_OWN
            if not frame["late"] & DEFER_LETHAL or power:
                return True
    if start["slots"] and lacks_slot(own, cards, kind, source, frame, start):
        return True
    for n in range(start["n_barred"]):
        barred = start["barred"][n]
        if barred[0] == kind and matches_exclusion(state, kind, source, target, action, barred, start):
            return True
    return False


@njit_no_alloc
def matches_exclusion(
    state: np.void, kind: int, source: int, target: int, action: int, barred: np.ndarray, start: np.void
) -> bool:
    """Whether an action matches an exclusion: `barred` has the fields of `ilp_agent.turn.Exclusion`."""
    seat = start["seat"]
    own = state["sides"][seat]
    if kind == ActionKind.PLAY and own["hand"][source] != barred[1]:
        return False
    if kind == ActionKind.ATTACK:
        attacker = OWN_HERO_SOURCE
        if source != HERO:
            minion = own["board"][source]
            arrived = barred[1] <= PLAYED_THIS_TURN and minion["entity_id"] > start["last_entity_id"]
            attacker = PLAYED_THIS_TURN - minion["card"] if arrived else minion["entity_id"]
        if attacker != barred[1]:
            return False
    if barred[2] == ANY_TARGET:
        return True
    if kind != ActionKind.ATTACK and not action & AIMED:
        return False
    if target in (HERO, OWN_TARGETS + BOARD_SIZE):
        return bool(barred[2] == -1 - target)
    if target < OWN_TARGETS:
        return bool(state["sides"][1 - seat]["board"][target]["entity_id"] == barred[2])
    return bool(own["board"][target - OWN_TARGETS]["entity_id"] == barred[2])


@njit_no_alloc
def lacks_slot(
    own: np.void, cards: np.ndarray, kind: int, source: int, frame: np.void, start: np.void
) -> bool:
    """Whether an action needs a board slot that the integer program does not provide.

    Attacking minions from hand use slots free at the start; others also use slots of minions that died on
    board. A minion from hand that died keeps its slot.
    """
    if kind == ActionKind.PLAY:
        number = own["hand"][source]
        minion = number != COIN and cards[number]["kind"] == CardKind.MINION
        return bool(minion and own["n_board"] + frame["hand_attackers_died"] >= BOARD_SIZE)
    if kind == ActionKind.ATTACK and source != HERO:
        minion = own["board"][source]
        full = 2 if minion["keywords"] & Keyword.WINDFURY else 1
        first = minion["entity_id"] > start["last_entity_id"] and minion["attacks_left"] == full
        return bool(first and frame["hand_attackers"] >= start["free"])
    return False


@njit_no_alloc
def count_slots(before: np.void, action: int, deaths: int, start: np.void, frame: np.void) -> None:
    """Count minions from hand that attack, and those that die in attacking. `frame` is modified in place."""
    kind, source, _ = decode(action)
    if kind != ActionKind.ATTACK or source == HERO:
        return
    minion = before["sides"][before["active"]]["board"][source]
    full = 2 if minion["keywords"] & Keyword.WINDFURY else 1
    if minion["entity_id"] <= start["last_entity_id"]:
        return
    if minion["attacks_left"] == full:
        frame["hand_attackers"] += 1
    if deaths & Death.ATTACKER:
        frame["hand_attackers_died"] += 1
