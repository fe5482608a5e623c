"""The k best distinct plans for a turn with card effects, from the search's transposition table; compiled.

After `ilp_agent.search.kernel.search_turn` the table has the best value of each position within the turn, so
that a partial plan has an exact value: the gain so far plus the best continuation. Partial plans are expanded
best first. A plan ends with the turn, or at an action with a chance outcome or new information. Two plans are
equal if they reach the same position, or the same such action from the same position. With deferred actions
(`ilp_agent.search.deferred_actions`), only the best set of them is listed, and lethal plans are omitted: the
search's own plan is lethal then.
"""

from typing import NamedTuple

import numpy as np

from engine.bitfields import fast_hash
from engine.codes import Outcome
from engine.effect_codes import Trait
from engine.effects.chance import begin_hypothetical
from engine.jit import njit, njit_no_alloc
from engine.rules import apply, outcome
from engine.state import STATE
from ilp_agent.search.deferred_actions import WITH_ALL_ATTACKS, WITH_HERO_ATTACK, attack_hero
from ilp_agent.search.extract_plan import append_action, append_attacks, append_deferred_actions
from ilp_agent.search.kernel import (
    EXHAUSTED,
    RESOLVED,
    descend,
    next_child,
    open_frame,
    tie_tolerance,
)
from ilp_agent.search.transposition import (
    card_key,
    choices_key,
    counters_key,
    minion_key,
    needs_no_order,
    position_key,
    side_key,
)
from ilp_agent.search.work import SOLUTION

MAX_CANDIDATES = 4_096
"""Largest number of partial plans in one pool."""

MAX_EXPANDED = 512
"""Largest number of expanded positions."""

MAX_PLANS = 64
"""Largest number of listed plans."""

CONTINUES, ENDS_TURN, AWAITS_INFORMATION = range(3)
"""State of a partial plan after its last action: continues, ends the turn, or awaits new information."""

CANDIDATE = np.dtype(
    [
        ("value", "f8"),  # gain so far plus the best continuation
        ("gain", "f8"),  # gain up to its last action
        ("action", "i8"),  # its last action, with the bits of `ilp_agent.search.deferred_actions`
        ("parent", "i4"),  # plan without its last action: index among the expanded
        ("kind", "i2"),  # CONTINUES, ENDS_TURN or AWAITS_INFORMATION
        ("open", "i2"),  # 1 until it is expanded or listed
    ]
)
"""A partial plan from the start of a turn."""


class CandidatePool(NamedTuple):
    """Working memory for candidate plans, for one thread. Modified in place."""

    ways: np.ndarray  # dtype CANDIDATE
    opened: np.ndarray  # indices of expanded partial plans
    states: np.ndarray  # positions of these, dtype STATE
    places: np.ndarray  # uint64: keys of these positions
    listed: np.ndarray  # dtype SOLUTION: plans found, the best first; its `states` is unused
    keys: np.ndarray  # uint64: keys of their final positions
    root: np.ndarray  # dtype STATE, shape (1,): start of the turn


@njit
def new_candidate_pool() -> CandidatePool:
    """Allocate working memory of the default sizes: about two megabytes."""
    return CandidatePool(
        np.zeros(MAX_CANDIDATES, CANDIDATE),
        np.zeros(MAX_EXPANDED, np.int64),
        np.zeros(MAX_EXPANDED, STATE),
        np.zeros(MAX_EXPANDED, np.uint64),
        np.zeros(MAX_PLANS, SOLUTION),
        np.zeros(MAX_PLANS, np.uint64),
        np.zeros(1, STATE),
    )


@njit_no_alloc
def list_candidate_plans(
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    work: np.void,
    memo: np.ndarray,
    slots: np.ndarray,
    solved: np.void,
    wanted: int,
    pool: CandidatePool,
) -> int:
    """Write the best distinct plans for the turn just solved to `pool`; return their number.

    Args:
        cards: up to `solved`, arguments of `search_turn` as it left them.
        weights: see `cards`.
        facts: see `cards`.
        work: see `cards`. Modified in place, as all that follow.
        memo: see `cards`.
        slots: see `cards`.
        solved: overwritten.
        wanted: number of plans, 1 to `MAX_PLANS`.
        pool: receives the plans in `listed`, their keys in `keys`.

    Returns:
        The number of plans.
    """
    tie = tie_tolerance(weights)
    pool.root[0] = work["states"][0]
    pool.states[0] = pool.root[0]
    pool.opened[0] = -1
    pool.places[0] = position_key(pool.root[0], cards, work["start"], 0, 0)
    n_ways = expand_candidate(0, 0, 0.0, cards, weights, facts, work, memo, slots, solved, tie, pool)
    n_opened, n_listed = 1, 0
    while n_listed < wanted:
        best = -1
        for number in range(n_ways):
            way = pool.ways[number]
            if way["open"] and (best < 0 or way["value"] > pool.ways[best]["value"]):
                best = number
        if best < 0:
            break
        way = pool.ways[best]
        way["open"] = 0
        if way["kind"] != CONTINUES:
            n_listed = _list(best, n_listed, cards, weights, facts, work, solved, pool)
        elif n_opened < len(pool.opened):
            pool.states[n_opened] = pool.states[way["parent"]]
            apply_candidate(pool.states[n_opened], cards, way["action"], work)
            if not _is_opened(n_opened, cards, work, pool):
                pool.opened[n_opened] = best
                n_ways = expand_candidate(
                    n_opened, n_ways, way["gain"], cards, weights, facts, work, memo, slots, solved, tie, pool
                )
                n_opened += 1
    work["states"][0] = pool.root[0]
    return n_listed


@njit_no_alloc
def _is_opened(number: int, cards: np.ndarray, work: np.void, pool: CandidatePool) -> bool:
    """Whether the position of an expanded plan was reached before, by a plan of higher value."""
    pool.places[number] = position_key(pool.states[number], cards, work["start"], 0, 0)
    found = False
    for other in range(number):
        found = found or pool.places[other] == pool.places[number]
    return found


@njit_no_alloc
def apply_candidate(state: np.void, cards: np.ndarray, action: int, work: np.void) -> None:
    """Apply an action of a plan, after the attack of its HERO_FIRST bit. `state` is modified in place."""
    effect_state = work["effect_state"][0]
    begin_hypothetical(effect_state)
    if action & WITH_HERO_ATTACK:
        attack_hero(state, cards, action, effect_state)
    apply(state, cards, action & ~WITH_HERO_ATTACK, effect_state)


@njit_no_alloc
def expand_candidate(
    number: int,
    n_ways: int,
    gain: float,
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    work: np.void,
    memo: np.ndarray,
    slots: np.ndarray,
    solved: np.void,
    tie: float,
    pool: CandidatePool,
) -> int:
    """Expand a plan by all its next actions; returns the number of partial plans.

    Args:
        number: index of the expanded plan; its position is in `pool.states`.
        n_ways: number of partial plans so far.
        gain: of the plan so far.
        cards: up to `solved`, as of `list_candidate_plans`.
        weights: see `cards`.
        facts: see `cards`.
        work: see `cards`.
        memo: see `cards`.
        slots: see `cards`.
        solved: see `cards`.
        tie: tolerance, as of `tie_tolerance`.
        pool: modified in place.
    """
    work["states"][0] = pool.states[number]
    frame, seat = work["frames"][0], work["start"]["seat"]
    open_frame(0, cards, weights, facts, work)
    frame["hand_attackers"], frame["hand_attackers_died"] = 0, 0
    frame["key"] = pool.places[number]
    if work["states"][0]["n_options"] == 0:
        n_ways = _begin(n_ways, number, 0, gain, gain + frame["best"], ENDS_TURN, pool)
    before, child = work["states"][0], work["states"][1]
    while True:
        if frame["n_leaves"] == 0:
            frame["best"], frame["action"] = -np.inf, 0
            work["effect_state"][0]["n_pending_outcomes"], work["effect_state"][0]["depends_on_hidden"] = 0, 0
        deaths = next_child(0, cards, weights, facts, work, memo, slots, tie)
        if deaths == EXHAUSTED:
            return n_ways
        kind = (
            AWAITS_INFORMATION
            if work["effect_state"][0]["n_pending_outcomes"] or work["effect_state"][0]["depends_on_hidden"]
            else CONTINUES
        )
        if deaths != RESOLVED:
            over = outcome(child) != Outcome.ONGOING
            if frame["n_leaves"] == 0:
                if before["sides"][seat]["n_deck"] != child["sides"][seat]["n_deck"]:
                    kind = AWAITS_INFORMATION
                if over:
                    kind = ENDS_TURN
            descend(0, deaths, cards, weights, facts, work, memo, slots, solved, 0, tie)
        if frame["n_leaves"] > 0 or frame["best"] == -np.inf:
            continue
        action = work["actions"][0, frame["next"] - 1]
        if action & WITH_ALL_ATTACKS or (kind == ENDS_TURN and work["start"]["reduced"]):
            continue
        if before["sides"][1 - seat]["n_secrets"] > 0:
            kind = AWAITS_INFORMATION
        n_ways = _begin(n_ways, number, action, gain + frame["gain"], gain + frame["best"], kind, pool)


@njit_no_alloc
def _begin(
    n_ways: int, parent: int, action: int, gain: float, value: float, kind: int, pool: CandidatePool
) -> int:
    """Append a partial plan; returns the number of partial plans."""
    if n_ways == len(pool.ways):
        return n_ways
    way = pool.ways[n_ways]
    way["value"], way["gain"], way["action"] = value, gain, action
    way["parent"], way["kind"], way["open"] = parent, kind, 1
    return n_ways + 1


@njit_no_alloc
def _list(
    number: int,
    n_listed: int,
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    work: np.void,
    solved: np.void,
    pool: CandidatePool,
) -> int:
    """List a plan's actions, unless an equal plan is listed; returns the number of listed plans."""
    way = pool.ways[number]
    action = np.int64(0)
    depth = 0
    place = way["parent"]
    while pool.opened[place] >= 0:
        depth += 1
        place = pool.ways[pool.opened[place]]["parent"]
    solved["n"], solved["again"], solved["value"] = 0, 0, way["value"] - work["start"]["base"]
    work["states"][0] = pool.root[0]
    state = work["states"][1]
    work["states"][1] = pool.root[0]
    for step in range(depth):
        place = way["parent"]
        for _ in range(depth - 1 - step):
            place = pool.ways[pool.opened[place]]["parent"]
        action = pool.ways[pool.opened[place]]["action"]
        _write(state, action, cards, work, solved)
    if way["kind"] == AWAITS_INFORMATION:
        key = fast_hash(position_key(state, cards, work["start"], 0, 0), np.uint64(way["action"]))
        if way["action"] & WITH_HERO_ATTACK:
            append_attacks(state, way["action"], solved)
        append_action(way["action"] & ~WITH_HERO_ATTACK, solved)
        solved["again"] = 1
    else:
        if way["action"]:
            _write(state, way["action"], cards, work, solved)
        elif work["start"]["reduced"]:
            append_deferred_actions(state, cards, weights, facts, work, solved)
        key = end_of_turn_key(state, cards, work)
        if solved["again"]:
            key = fast_hash(key, np.uint64(solved["actions"][solved["n"] - 1]))
    for other in range(n_listed):
        if pool.keys[other] == key:
            return n_listed  # an equal plan of higher value is listed
    pool.listed[n_listed] = solved
    pool.keys[n_listed] = key
    return n_listed + 1


@njit_no_alloc
def end_of_turn_key(state: np.void, cards: np.ndarray, work: np.void) -> np.uint64:
    """Hash of a position at the end of a turn, without resources used up by the turn. Modifies scratch."""
    work["scratch"][1] = state
    end = work["scratch"][1]
    seat = work["start"]["seat"]
    own, enemy = end["sides"][seat], end["sides"][1 - seat]
    own["mana"], own["power_used"], own["hero_attacks_left"], own["hero_attack"] = 0, 0, 0, 0
    total = np.uint64(0)
    for place in range(own["n_board"]):
        minion = own["board"][place]
        if not minion["traits"] & Trait.FROZEN:  # unless Frozen, unused attacks do not matter
            minion["attacks_left"], minion["arrived"] = 0, 0
        total += minion_key(minion, np.uint64(1))
    for place in range(enemy["n_board"]):
        total += minion_key(enemy["board"][place], np.uint64(2))
    for place in range(own["n_hand"]):
        total += card_key(own["hand"][place])
    if not needs_no_order(cards):
        total += counters_key(end, cards)
    return total + side_key(own, np.uint64(1)) + side_key(enemy, np.uint64(2)) + choices_key(end)


@njit_no_alloc
def _write(state: np.void, action: int, cards: np.ndarray, work: np.void, solved: np.void) -> None:
    """Append an action and its preceding attack to a plan, and apply both. Modifies `state` and `solved`."""
    if action & WITH_HERO_ATTACK:
        append_attacks(state, action, solved)
    append_action(action & ~WITH_HERO_ATTACK, solved)
    apply_candidate(state, cards, action, work)
