"""The best action of a position, remembered in words that hold wherever its minions stand, compiled."""

import numpy as np

from engine.codes import BOARD_SIZE, HERO, OWN_SIDE, ActionKind
from engine.effects.futures import minion_key, places_matter
from engine.jit import njit_borrowing
from engine.packing import AIMED, AT_SHIFT, OPTION_SHIFT, PLACE_BITS
from engine.rules import decode, legal_actions
from ilp_agent.search.keys import held_word, own_key, twin_before
from ilp_agent.search.late import FACE_FIRST, HERO_FIRST
from ilp_agent.search.memo import add
from ilp_agent.search.work import AT_ENEMY_HERO, AT_NOTHING, AT_OWN_HERO, DEPTH


@njit_borrowing
def remember(level: int, cards: np.ndarray, work: np.void, memo: np.ndarray, slots: np.ndarray) -> None:
    """Note what a position is worth, and its best action in words that hold wherever its minions stand."""
    frame, state = work["frames"][level], work["states"][level]
    noted = memo[add(frame["key"], work, memo, slots)]
    noted["key"], noted["value"] = frame["key"], frame["best"]
    kind, source, target = decode(frame["action"])
    start = work["start"]
    noted["kind"], noted["card"], noted["first"] = kind, 0, frame["action"] & (HERO_FIRST | FACE_FIRST)
    noted["source"], noted["target"], noted["more"] = 0, AT_NOTHING, frame["action"] & HOW
    own = state["sides"][start["seat"]]
    if kind == ActionKind.PLAY:
        noted["card"], noted["held"] = own["hand"][source], held_word(own["held"][source])
    if places_matter(cards):
        # Places on boards are part of the position's key; those in hand are not.
        noted["source"], noted["target"] = source, target
        if kind == ActionKind.PLAY:
            noted["source"] = 0
        return
    if kind == ActionKind.CHOOSE:
        noted["source"] = source
    if kind == ActionKind.ATTACK:
        if source != HERO:
            noted["source"] = own_key(own["board"][source], cards, start)
        noted["target"] = character_key(state, cards, start, target)
    elif frame["action"] & AIMED:
        noted["target"] = character_key(state, cards, start, target)


HOW = AIMED | ((1 << (AT_SHIFT + PLACE_BITS)) - (1 << OPTION_SHIFT))
"""Bits of an action: whether it is aimed, what is chosen, and where a minion comes in."""


@njit_borrowing
def character_key(state: np.void, cards: np.ndarray, start: np.void, character: int) -> np.uint64:
    """A key of a target, 0 to 15: of minions that are alike the same."""
    seat = start["seat"]
    if character == HERO:
        return np.uint64(AT_ENEMY_HERO)
    if character < OWN_SIDE:
        return minion_key(state["sides"][1 - seat]["board"][character], np.uint64(2))
    if character == OWN_SIDE + BOARD_SIZE:
        return np.uint64(AT_OWN_HERO)
    return own_key(state["sides"][seat]["board"][character - OWN_SIDE], cards, start)


@njit_borrowing
def remembered_action(state: np.void, cards: np.ndarray, memo: np.void, work: np.void) -> int:
    """The action that is remembered of a position, as it is played there; 0 for the end of the turn."""
    if memo["kind"] == ActionKind.END_TURN:
        return 0
    start = work["start"]
    own = state["sides"][start["seat"]]
    actions = work["actions"][DEPTH]
    n = legal_actions(state, cards, actions)
    by_place = places_matter(cards)
    for place in range(n):
        action = actions[place]
        kind, source, target = decode(action)
        if kind != memo["kind"] or action & HOW != memo["more"]:
            continue
        if kind == ActionKind.PLAY:
            if own["hand"][source] != memo["card"] or held_word(own["held"][source]) != memo["held"]:
                continue
            if by_place and (target != memo["target"] or twin_before(own, source)):
                continue
        if by_place:
            if kind != ActionKind.PLAY and (source != memo["source"] or target != memo["target"]):
                continue
            return int(action)
        if kind == ActionKind.CHOOSE and source != memo["source"]:
            continue
        if kind == ActionKind.ATTACK:
            if (source == HERO) != (memo["source"] == 0):
                continue
            if source != HERO and own_key(own["board"][source], cards, start) != memo["source"]:
                continue
        aimed = kind == ActionKind.ATTACK or action & AIMED
        key = character_key(state, cards, start, target) if aimed else np.uint64(AT_NOTHING)
        if key == memo["target"]:
            return int(action) | int(memo["first"])
    raise AssertionError("a remembered action is legal wherever its position is met")
