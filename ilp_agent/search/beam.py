"""Beam search of a turn: a better plan where the search meets its limit of positions; compiled.

Depth-first search spends its limit below the first actions that it tries. From the start of the turn, the
beam plays every action in the `BEAM_WIDTH` best positions of each length and keeps the best positions after
them, by the value of ending the turn there. A random action ends a plan with its expected gain. The best plan
replaces the one found by the search if its value is larger; it is no proof.
"""

import numpy as np

from engine.bitfields import unpack_action
from engine.codes import ActionKind, Outcome
from engine.effects.chance import begin_hypothetical
from engine.indirect_call import njit_indirect
from engine.jit import njit_no_alloc
from engine.rules import apply, legal_actions, outcome
from engine.state import CARD
from ilp_agent.search.card_facts import FACT
from ilp_agent.search.chance import apply_certain_part, expected_gain, expected_gain_key
from ilp_agent.search.deferred_actions import deferrable_actions, deferred_value
from ilp_agent.search.extract_plan import append_action, append_deferred_actions
from ilp_agent.search.objective import FORBIDDEN, action_gain, end_value, has_end_of_turn_effect, is_lost
from ilp_agent.search.pruning import is_pruned
from ilp_agent.search.transposition import position_key
from ilp_agent.search.work import BEAM_LENGTH, BEAM_WIDTH, GAIN_CACHE_SIZE, MAX_DEPTH, SOLUTION, WORK

_decode = njit_no_alloc(unpack_action)


@njit_no_alloc
def expected_value(
    before: np.void, cards: np.ndarray, weights: np.ndarray, facts: np.ndarray, action: int, work: np.void
) -> float:
    """Expected gain of a random action, with the end of the turn after it.

    As in the search, what chance adds to the action's certain part is cached. `work` is modified in place.
    """
    key = expected_gain_key(before, cards, facts, action, work["start"], work["pair"])
    kept = work["beam_gains"][np.int64(key) & (GAIN_CACHE_SIZE - 1)]
    work["scratch"][1] = before
    apply_certain_part(work["scratch"][1], cards, action, work["effect_state"][0])
    certain = end_value(work["scratch"][1], cards, weights, work["start"])
    if key == 0 or kept["key"] != key or kept["search"] != work["search"]:
        gain = expected_gain(before, cards, weights, action, work) - certain
        kept["key"], kept["search"], kept["gain"] = key, work["search"], gain
    return float(kept["gain"] + certain)


@njit_no_alloc
def value_of_ending(
    state: np.void, cards: np.ndarray, weights: np.ndarray, facts: np.ndarray, work: np.void
) -> float:
    """Value of ending the turn in a position, with end-of-turn effects and deferred actions."""
    start = work["start"]
    if outcome(state) == Outcome.ONGOING and has_end_of_turn_effect(state, cards, start["seat"]):
        return max(expected_gain(state, cards, weights, 0, work), FORBIDDEN)
    value = end_value(state, cards, weights, start)
    if outcome(state) == Outcome.ONGOING and start["defers_actions"]:
        deferred = deferrable_actions(state, cards, facts, start["seat"])
        value += deferred_value(state, cards, weights, facts, deferred, start["seat"], work)
    return float(value)


@njit_no_alloc
def is_reached(key: np.uint64, gain: float, n: int, work: np.void) -> bool:
    """Whether a position is in the next beam, of `n` positions, with at least this gain. `work` is read."""
    for place in range(n):
        if work["beam_keys"][place] == key:
            return bool(gain <= work["beam_gain"][1, place])
    return False


@njit_no_alloc
def place_in_beam(key: np.uint64, value: float, n: int, work: np.void) -> int:
    """Place of a position in the next beam: its own, a free one, or that of the worst; -1 if it is no better.

    Args:
        key: of the position.
        value: of ending the turn in it.
        n: number of positions in the next beam.
        work: dtype `WORK`; read only.
    """
    worst = 0
    for place in range(n):
        if work["beam_keys"][place] == key:
            return place
        if work["beam_value"][place] < work["beam_value"][worst]:
            worst = place
    if n < BEAM_WIDTH:
        return n
    return worst if value > work["beam_value"][worst] else -1


@njit_no_alloc
def extend_beam(
    length: int, n: int, cards: np.ndarray, weights: np.ndarray, facts: np.ndarray, work: np.void
) -> int:
    """Play every action in the positions of the beam; keep the best positions after them.

    Args:
        length: number of actions of the positions of the beam.
        n: number of these.
        cards: the card table.
        weights: indexed by `Term`.
        facts: of the cards.
        work: modified in place: the beam, and the best plan so far.

    Returns:
        The number of positions of the next beam, which is the beam then.
    """
    start, actions, frame = work["start"], work["actions"][MAX_DEPTH], work["frames"][0]
    effect_state, child = work["effect_state"][0], work["scratch"][1]
    following = 0
    for place in range(n):
        before = work["beam_states"][0, place]
        frame["late"], frame["hand_attackers"], frame["hand_attackers_died"] = 0, 0, 0
        for number in range(legal_actions(before, cards, actions)):
            action = int(actions[number])
            kind, _, _ = _decode(action)
            if kind == ActionKind.END_TURN or is_pruned(before, cards, facts, action, frame, start):
                continue
            work["scratch"][1] = before
            begin_hypothetical(effect_state)
            apply(child, cards, action, effect_state)
            gain = work["beam_gain"][0, place]
            if effect_state["n_pending_outcomes"]:
                value = gain + expected_value(before, cards, weights, facts, action, work)
                note_best_plan(length, place, action, value, work)
                continue
            gain += action_gain(before, child, cards, action, effect_state, weights)
            if is_lost(child, start):
                continue
            key = position_key(child, cards, start, 0, 0)
            if is_reached(key, gain, following, work):
                continue
            if child["n_options"] > 0:
                value = gain + end_value(before, cards, weights, start)
            else:
                value = gain + value_of_ending(child, cards, weights, facts, work)
                note_best_plan(length, place, action, value, work)
            if outcome(child) != Outcome.ONGOING:
                continue
            chosen = place_in_beam(key, value, following, work)
            if chosen >= 0:
                following = max(following, chosen + 1)
                work["beam_states"][1, chosen] = child
                work["beam_keys"][chosen] = key
                work["beam_gain"][1, chosen], work["beam_value"][chosen] = gain, value
                work["beam_actions"][length, chosen], work["beam_parents"][length, chosen] = action, place
    for place in range(following):
        work["beam_states"][0, place] = work["beam_states"][1, place]
        work["beam_gain"][0, place] = work["beam_gain"][1, place]
    return following


@njit_no_alloc
def note_best_plan(length: int, place: int, action: int, value: float, work: np.void) -> None:
    """Note the plan to a position of the beam and one more action, if it is the best. `work` is modified."""
    if value <= work["beam_best"] + work["beam_tie"]:
        return
    work["beam_best"], work["beam_length"] = value, length + 1
    work["beam_plan"][length] = action
    for earlier in range(length - 1, -1, -1):
        work["beam_plan"][earlier] = work["beam_actions"][earlier, place]
        place = work["beam_parents"][earlier, place]


@njit_indirect((CARD,), (np.dtype(np.float64),), (FACT,), WORK, SOLUTION, rare=True)
def improve_by_beam(
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    work: np.void,
    solved: np.void,
) -> int:
    """Replace the plan of a search that met its limit by a better one of a beam search, if that finds one.

    Args:
        cards: the search's copy of the card table.
        weights: indexed by `Term`.
        facts: of the cards.
        work: after the search; `beam_tie` is the tolerance of ties. Modified in place.
        solved: dtype `SOLUTION`, its result. Modified in place.

    Returns:
        Whether the plan was replaced.
    """
    start = work["start"]
    work["beam_best"], work["beam_length"] = solved["value"] + start["base"], 0
    work["beam_states"][0, 0] = work["states"][0]
    work["beam_gain"][0, 0] = 0.0
    n = 1
    for length in range(BEAM_LENGTH):
        n = extend_beam(length, n, cards, weights, facts, work)
        if n == 0:
            break
    if work["beam_length"] == 0:
        return 0
    solved["value"] = work["beam_best"] - start["base"]
    solved["most"] = max(solved["most"], solved["value"])
    solved["n"], solved["again"] = 0, 0
    write_beam_plan(cards, weights, facts, work, solved)
    return 1


@njit_no_alloc
def write_beam_plan(
    cards: np.ndarray, weights: np.ndarray, facts: np.ndarray, work: np.void, solved: np.void
) -> None:
    """Write the best plan to `solved`, up to a chance outcome or new information. Modified in place."""
    start, effect_state = work["start"], work["effect_state"][0]
    seat = start["seat"]
    work["states"][1] = work["states"][0]
    state = work["states"][1]
    for step in range(work["beam_length"]):
        action = int(work["beam_plan"][step])
        n_deck, secrets = state["sides"][seat]["n_deck"], state["sides"][1 - seat]["n_secrets"]
        append_action(action, solved)
        begin_hypothetical(effect_state)
        apply(state, cards, action, effect_state)
        informed = effect_state["n_pending_outcomes"] > 0 or effect_state["depends_on_hidden"]
        if informed or secrets > 0 or state["sides"][seat]["n_deck"] != n_deck:
            solved["again"] = 1
            return
    if start["defers_actions"]:
        append_deferred_actions(state, cards, weights, facts, work, solved)
