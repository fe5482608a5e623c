"""The turn search: V(s) = max(end(s), max over actions a of gain(s, a) + V(s a)); compiled.

Depth-first search on engine states with a transposition table (`ilp_agent.search.transposition`). An action
with at most eight chance outcomes has their mean value; one with more has its expected gain plus the value of
the rest of the turn without the outcome. Drawn cards stay hidden. Ties go to the end of the turn, then to the
first action in the order of `engine.rules.legal_actions`. If the limit of positions was met, a beam search
may replace the plan (`ilp_agent.search.beam`), where `start` asks for it.
"""

import numpy as np

from engine.codes import BOARD_SIZE, HERO, ActionKind, Outcome
from engine.effects.chance import begin_hypothetical, n_hypothetical, set_hypothetical_outcome
from engine.indirect_call import njit_indirect
from engine.jit import njit_no_alloc
from engine.rules import apply, decode, legal_actions, outcome
from engine.state import CARD, STATE
from engine.view import hide_information
from ilp_agent.features import SHIELD, uses_full_weights
from ilp_agent.search.beam import improve_by_beam
from ilp_agent.search.bound import LARGEST_BOUND, upper_bound
from ilp_agent.search.card_facts import FACT, RANDOM_EFFECT, select_relevant_features
from ilp_agent.search.chance import (
    TOO_MANY,
    apply_certain_part,
    apply_outcome,
    expected_gain,
    expected_gain_key,
    list_outcomes,
)
from ilp_agent.search.deferred_actions import (
    DEFER_ATTACKS,
    DEFER_LETHAL,
    DEFER_PLAYS,
    WITH_ALL_ATTACKS,
    WITH_HERO_ATTACK,
    add_attack_variants,
    attack_hero,
    deferrable_actions,
    deferred_value,
    max_damage_before_kill,
    solve_knapsack,
)
from ilp_agent.search.extract_plan import extract_actions, store_best_action
from ilp_agent.search.objective import (
    FORBIDDEN,
    action_gain,
    base_value,
    count_hidden_cards,
    draw_value,
    end_value,
    has_end_of_turn_effect,
    is_lost,
    is_score,
    score_of,
)
from ilp_agent.search.pruning import count_slots, is_pruned
from ilp_agent.search.tally import UNBOUNDED
from ilp_agent.search.transposition import (
    NO_KEY,
    NOT_FOUND,
    find_entry,
    key_after_attack,
    needs_no_order,
    position_key,
)
from ilp_agent.search.work import GAIN_CACHE_SIZE, MAX_DEPTH, MEMO, MIN_SLOTS, SLOT, SOLUTION, WORK
from ilp_agent.weights import N_TERMS, Term

BOUND_FROM = 64
"""Number of positions after which actions are skipped by upper bounds: most turns have fewer."""

UNDECIDED = -1e295
"""Lower bound on the value of a position with a pending choice."""


@njit_no_alloc
def open_frame(level: int, cards: np.ndarray, weights: np.ndarray, facts: np.ndarray, work: np.void) -> None:
    """Start to search the position at a level: list its actions and evaluate ending the turn."""
    frame, state = work["frames"][level], work["states"][level]
    frame["n"] = legal_actions(state, cards, work["actions"][level])
    frame["next"], frame["n_leaves"], frame["action"], frame["late"] = 0, 0, 0, 0
    frame["skipped"] = -np.inf
    if state["n_options"] > 0:  # the turn cannot end before the choice
        frame["best"] = UNDECIDED
        return
    frame["n"] -= 1
    if not is_score(weights) and has_end_of_turn_effect(state, cards, work["start"]["seat"]):
        store_ending_value(level, cards, weights, work)
    else:
        frame["best"] = end_value(state, cards, weights, work["start"])
    frame["late"] = 0
    start = work["start"]
    if start["defers_actions"]:
        frame["late"] = deferrable_actions(state, cards, facts, start["seat"])
        if frame["late"] & (DEFER_ATTACKS | DEFER_LETHAL):
            actions = work["actions"][level]
            frame["n"] = add_attack_variants(state, facts, start, frame["late"], actions, frame["n"])
        frame["best"] += deferred_value(state, cards, weights, facts, frame["late"], start["seat"], work)


@njit_indirect(int, (CARD,), (np.dtype(np.float64),), WORK, rare=True)
def store_ending_value(level: int, cards: np.ndarray, weights: np.ndarray, work: np.void) -> int:
    """Store the expected value of ending the turn at a level with end-of-turn effects; returns 0."""
    work["frames"][level]["best"] = ending_value(work["states"][level], cards, weights, work)
    return 0


@njit_no_alloc
def ending_value(state: np.void, cards: np.ndarray, weights: np.ndarray, work: np.void) -> float:
    """Expected value of ending the turn in a position, over its end-of-turn effects."""
    value = expected_gain(state, cards, weights, 0, work)
    return max(value, FORBIDDEN)


@njit_no_alloc
def update_best(frame: np.void, value: float, tie: float, action: int) -> None:
    """Update a frame's best action if a value is larger by more than `tie`. Modified in place."""
    if value > frame["best"] + tie:
        frame["best"] = value
        frame["action"] = action


@njit_no_alloc
def back_up_value(
    frame: np.void, value: float, most: float, tie: float, actions: np.ndarray, lost: int
) -> None:
    """Back up what follows the current action, or its current outcome. `frame` is modified in place.

    Args:
        frame: of the position before it.
        value: of the best plan found.
        most: upper bound of it; `value` if it is exact.
        tie: tolerance of ties.
        actions: of the position.
        lost: whether the own hero is dead.
    """
    value += frame["gain"]
    if frame["n_leaves"] == 0:
        if most + frame["gain"] > value:
            frame["skipped"] = max(frame["skipped"], most + frame["gain"])
        update_best(frame, value, tie, actions[frame["next"] - 1])
        return
    leaf = frame["leaf"]
    frame["total"] += frame["probability"][leaf] * value
    frame["bounds"][leaf] = most + frame["gain"]
    frame["leaf"] += 1
    if not lost:
        frame["certain_death"] = 0


@njit_no_alloc
def needs_bound(frame: np.void, action: int) -> bool:
    """Whether to bound the position after an action: not after an attack if effects are not bounded."""
    if not LARGEST_BOUND <= frame["bound"] < np.inf:
        return True
    kind, _, _ = decode(action & ~(WITH_HERO_ATTACK | WITH_ALL_ATTACKS))
    return bool(kind != ActionKind.ATTACK)


@njit_no_alloc
def is_hopeless(frame: np.void, most: float, tie: float) -> bool:
    """Whether an action of this upper bound is no better than the best one; then notes it as skipped.

    `frame` is modified in place.
    """
    if most > max(frame["best"], frame["floor"]) + tie:
        return False
    frame["skipped"] = max(frame["skipped"], most)
    return True


@njit_no_alloc
def floor_of_child(frame: np.void) -> float:
    """Value up to which the position after the current action, or outcome, need not be solved exactly."""
    needed = max(frame["best"], frame["floor"])
    if frame["n_leaves"] == 0:
        return float(needed - frame["gain"])
    probability = frame["probability"][frame["leaf"]]
    others = mean_bound(frame, frame["leaf"])
    return float((needed - others) / probability - frame["gain"])


@njit_no_alloc
def mean_bound(frame: np.void, without: int) -> float:
    """Upper bound of the mean over the outcomes of the current action, without one; -1 for all."""
    total = 0.0
    for leaf in range(frame["n_leaves"]):
        if leaf != without:
            total += frame["probability"][leaf] * frame["bounds"][leaf]
    return total


TIE = 1e-12
"""Tolerance of ties, as a share of the largest weight."""

SCORE_TIE = 1e-10
"""Tolerance of ties for a score, as a share of the sum of its weights."""

RESOLVED, EXHAUSTED = -1, -2
"""Results of `next_child`: the action needs no further search; the level has no further action."""


@njit_no_alloc
def start_search(state: np.void, cards: np.ndarray, weights: np.ndarray, work: np.void) -> None:
    """Copy a position to the root of the search and record its start values. Modifies `work` in place."""
    work["states"][0] = state
    root, start = work["states"][0], work["start"]
    seat = root["active"]
    hide_information(root, cards, seat)
    for place in range(start["n_assumed"]):
        root["sides"][1 - seat]["secrets"][place] = start["assumed"][place]
    own = root["sides"][seat]
    start["seat"], start["last_entity_id"], start["n"] = seat, root["last_entity_id"], own["n_board"]
    start["free"] = BOARD_SIZE - own["n_board"]
    for place in range(own["n_board"]):
        start["entity_id"][place] = own["board"][place]["entity_id"]
        start["health"][place] = own["board"][place]["health"]
    start["base"] = base_value(root, weights, seat)
    start["full"] = uses_full_weights(weights)
    if start["full"]:
        count_hidden_cards(own, cards, start)
    if is_score(weights):
        start["n"] = 0  # initial healths do not matter, so positions need not differ by them
        start["drawn"] = draw_value(own, cards, weights, start["counts"])


@njit_no_alloc
def _holds_random_effect(state: np.void, facts: np.ndarray) -> bool:
    """Whether the active player has a card or hero power with random effects."""
    own = state["sides"][state["active"]]
    if own["power"] and facts[own["power"] - 1]["bits"] & RANDOM_EFFECT:
        return True
    for place in range(own["n_hand"]):
        if own["hand"][place] >= 0 and facts[own["hand"][place]]["bits"] & RANDOM_EFFECT:
            return True
    return False


@njit_indirect(STATE, (CARD,), (np.dtype(np.float64),), (FACT,), WORK, (MEMO,), (SLOT,), SOLUTION)
def search_turn(
    state: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    work: np.void,
    memo: np.ndarray,
    slots: np.ndarray,
    solved: np.void,
) -> int:
    """Search a turn for its best plan, up to the next chance outcome or new information.

    Args:
        state: dtype `engine.state.STATE`, not over; unchanged.
        cards: the search's copy of the card table; its game features are modified
            (`select_relevant_features`).
        weights: indexed by `ilp_agent.weights.Term`; weights of a score follow.
        facts: of `ilp_agent.search.card_facts.compute_card_facts`.
        work: dtype `WORK`; `start` has the options. Modified in place, as all that follow.
        memo: dtype `MEMO`, at least as long as the limit.
        slots: dtype `SLOT`, a power of two, at least twice as long.
        solved: dtype `SOLUTION`.

    Returns:
        0.
    """
    cards[0]["game_features"] = facts[0]["all_game_features"]
    start_search(state, cards, weights, work)
    start = work["start"]
    start["defers_actions"] = start["reduced"]
    if is_score(weights) and (weights[N_TERMS + SHIELD] < 0.0 or _holds_random_effect(state, facts)):
        start["defers_actions"] = 0
    start["looks"] = select_relevant_features(work["states"][0], cards, facts)
    limit = start["limit"] if needs_no_order(cards) else start["limit_kept"]
    work["n_slots"], work["n_memo"] = MIN_SLOTS, 0
    work["search"] += 1
    work["beam_length"] = 0
    slots[:MIN_SLOTS] = NOT_FOUND
    frames = work["frames"]
    tie = tie_tolerance(weights)
    solved["states"], solved["unproven"] = 0, 0
    open_frame(0, cards, weights, facts, work)
    frames[0]["floor"], frames[0]["bound"] = -np.inf, np.inf
    frames[0]["hand_attackers"], frames[0]["hand_attackers_died"] = 0, 0
    frames[0]["key"] = position_key(work["states"][0], cards, start, 0, 0)
    level = 0
    while True:
        deaths = next_child(level, cards, weights, facts, work, memo, slots, tie)
        if deaths == EXHAUSTED:
            store_best_action(level, cards, work, memo, slots)
            if level == 0:
                break
            level -= 1
            below = frames[level + 1]
            most = max(below["best"], below["skipped"])
            back_up_value(frames[level], below["best"], most, tie, work["actions"][level], 0)
        elif deaths != RESOLVED and descend(
            level, deaths, cards, weights, facts, work, memo, slots, solved, limit, tie
        ):
            level += 1
    solved["states"] += 1
    solved["value"] = frames[0]["best"] - start["base"]
    solved["most"] = max(frames[0]["best"], frames[0]["skipped"]) - start["base"]
    if start["bounded"] and solved["most"] <= solved["value"] + tie:
        solved["unproven"] = 0
    extract_actions(cards, weights, facts, work, memo, slots, solved)
    if solved["unproven"] and start["beam"] and not start["n_assumed"]:
        work["beam_tie"] = tie
        improve_by_beam(cards, weights, facts, work, solved)
    return 0


@njit_no_alloc
def next_child(
    level: int,
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    work: np.void,
    memo: np.ndarray,
    slots: np.ndarray,
    tie: float,
) -> int:
    """Apply the next action of a level, or the next outcome of the current action, to the next level.

    Arguments as of `search_turn`, and the tolerance of ties. `work` is modified in place.

    Returns:
        Number of minions that died, >= 0, if the child must be searched; `RESOLVED` if not; `EXHAUSTED` if
        the level has no further action.
    """
    frame, start = work["frames"][level], work["start"]
    before = work["states"][level]
    if frame["n_leaves"] > 0:
        if frame["leaf"] == frame["n_leaves"]:
            if not frame["certain_death"]:
                if start["bounded"] and mean_bound(frame, -1) > frame["total"] + tie:
                    frame["skipped"] = max(frame["skipped"], mean_bound(frame, -1))
                update_best(frame, frame["total"], tie, work["actions"][level, frame["next"] - 1])
            frame["n_leaves"] = 0
            return RESOLVED
        if start["bounded"]:
            if frame["leaf"] == 0:
                bound_outcomes(level, cards, weights, work)
            if is_hopeless(frame, mean_bound(frame, -1), tie):
                frame["n_leaves"] = 0
                return RESOLVED
        apply_next_outcome(level, cards, work)
        action, child = work["actions"][level, frame["next"] - 1], work["states"][level + 1]
        frame["gain"] = action_gain(before, child, cards, action, work["effect_state"][1], weights)
        return 0
    if frame["next"] == frame["n"] or frame["best"] == np.inf:
        return EXHAUSTED
    action = work["actions"][level, frame["next"]]
    frame["next"] += 1
    if is_pruned(before, cards, facts, action, frame, start):
        return RESOLVED
    if action & WITH_ALL_ATTACKS:
        value = lethal_value(level, cards, weights, facts, work, action - WITH_ALL_ATTACKS)
        update_best(frame, value, tie, action)
        return RESOLVED
    if not start["slots"] and is_minion_attack(action):
        _, source, target = decode(action)
        key = key_after_attack(before, cards, start, frame["key"], source, target, work["pair"])
        known = find_entry(key, work, memo, slots) if key != NO_KEY else NOT_FOUND
        if known != NOT_FOUND:
            own, enemy = before["sides"][start["seat"]], before["sides"][1 - start["seat"]]
            frame["gain"] = weights[Term.DAMAGE] * own["board"][source]["attack"]
            frame["gain"] -= weights[Term.TRADE] * enemy["board"][target]["attack"]
            if is_decided(frame, memo[known], tie, start):
                back_up_value(
                    frame, memo[known]["value"], memo[known]["most"], tie, work["actions"][level], 0
                )
                return RESOLVED
    effect_state = work["effect_state"][0]
    begin_hypothetical(effect_state)
    work["states"][level + 1] = before
    child = work["states"][level + 1]
    first = 0.0
    if action & WITH_HERO_ATTACK:
        first = weights[Term.FACE] * attack_hero(child, cards, action, effect_state)
        action -= WITH_HERO_ATTACK
        if outcome(child) != Outcome.ONGOING:
            return RESOLVED  # the attack alone is lethal
    deaths = apply(child, cards, action, effect_state)
    if is_score(weights) and (effect_state["n_pending_outcomes"] or child["n_options"] > 0):
        value = score_of(child, cards, weights, start)
        if effect_state["n_pending_outcomes"]:
            value = mean_score(before, action, cards, weights, work)
        update_best(frame, value, tie, work["actions"][level, frame["next"] - 1])
        return RESOLVED
    if effect_state["n_pending_outcomes"]:
        return expand_chance_node(level, action, cards, weights, facts, work)
    frame["gain"] = first + action_gain(before, child, cards, action, effect_state, weights)
    return RESOLVED if is_lost(child, start) else deaths


@njit_no_alloc
def mean_score(before: np.void, action: int, cards: np.ndarray, weights: np.ndarray, work: np.void) -> float:
    """Mean score over the outcomes of an action; a won or lost game counts `GAME_SCORE`.

    With a score the plan stops at a random action, and the turn is searched again after its outcome.
    """
    effect_state, after = work["effect_state"][0], work["scratch"][0]
    first, n = effect_state["n_pending_outcomes"], n_hypothetical(effect_state)
    total = 0.0
    for number in range(n):
        set_hypothetical_outcome(effect_state, before, number, first)
        work["scratch"][0] = before
        apply(after, cards, action, effect_state)
        total += min(max(score_of(after, cards, weights, work["start"]), -GAME_SCORE), GAME_SCORE)
    return total / n


GAME_SCORE = 1e9
"""Score of a won game as one of several chance outcomes; a lost game has its negative."""


@njit_indirect(int, int, (CARD,), (np.dtype(np.float64),), (FACT,), WORK, rare=True)
def expand_chance_node(
    level: int, action: int, cards: np.ndarray, weights: np.ndarray, facts: np.ndarray, work: np.void
) -> int:
    """Expand a chance node: list the outcomes, or estimate the expected gain if there are too many.

    Returns:
        As `next_child`.
    """
    frame, before, start = work["frames"][level], work["states"][level], work["start"]
    key = expected_gain_key(before, cards, facts, action, start, work["pair"])
    kept = work["gains"][np.int64(key) & (GAIN_CACHE_SIZE - 1)]
    known = key != 0 and kept["key"] == key and kept["search"] == work["search"]
    if not known:
        n = list_outcomes(before, cards, action, work["effect_state"][0]["n_pending_outcomes"], work, frame)
        if n != TOO_MANY:
            frame["n_leaves"], frame["leaf"], frame["total"] = n, 0, 0.0
            frame["certain_death"] = 1
            return RESOLVED
    work["states"][level + 1] = before
    child = work["states"][level + 1]
    apply_certain_part(child, cards, action, work["effect_state"][0])
    if not known:
        gain = expected_gain(before, cards, weights, action, work)
        gain -= end_value(child, cards, weights, start)
        kept["key"], kept["search"], kept["gain"] = key, work["search"], gain
    frame["gain"] = kept["gain"]
    return RESOLVED if frame["gain"] == -np.inf else 0


@njit_no_alloc
def descend(
    level: int,
    deaths: int,
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    work: np.void,
    memo: np.ndarray,
    slots: np.ndarray,
    solved: np.void,
    limit: int,
    tie: float,
) -> bool:
    """Descend to the position after an action, or back up its value and return False.

    Arguments as of `next_child`, the number of minions that died, and the limit of positions. `work` and
    `solved` are modified in place.
    """
    frame, following, start = work["frames"][level], work["frames"][level + 1], work["start"]
    child = work["states"][level + 1]
    following["hand_attackers"], following["hand_attackers_died"] = (
        frame["hand_attackers"],
        frame["hand_attackers_died"],
    )
    if start["slots"]:
        action = work["actions"][level, frame["next"] - 1] & ~WITH_HERO_ATTACK
        count_slots(work["states"][level], action, deaths, start, following)
    if outcome(child) != Outcome.ONGOING:
        value = end_value(child, cards, weights, start)
        if frame["late"] & DEFER_PLAYS:  # played before the killing blow
            own = child["sides"][start["seat"]]
            value += solve_knapsack(own, own["mana"], cards, weights, facts, work)[0]
        back_up_value(frame, value, value, tie, work["actions"][level], is_lost(child, start))
        return False
    key = position_key(child, cards, start, following["hand_attackers"], following["hand_attackers_died"])
    known = find_entry(key, work, memo, slots)
    at_limit = solved["states"] + 1 >= limit or level + 1 == MAX_DEPTH
    decided = known != NOT_FOUND and is_decided(frame, memo[known], tie, start)
    if known != NOT_FOUND and (at_limit or decided):
        if not decided:
            solved["unproven"] = 1
        back_up_value(frame, memo[known]["value"], memo[known]["most"], tie, work["actions"][level], 0)
        return False
    most = np.inf
    if start["bounded"] and (solved["states"] >= BOUND_FROM or frame["n_leaves"] > 0 or at_limit):
        if frame["n_leaves"] > 0:
            most = frame["bounds"][frame["leaf"]] - frame["gain"]
        else:
            most = frame["bound"] - frame["gain"]
            if needs_bound(frame, work["actions"][level, frame["next"] - 1]):
                least = upper_bound(child, cards, weights, start, work["tally"])
                most = min(most, end_value(child, cards, weights, start) + least)
            if is_hopeless(frame, most + frame["gain"], tie):
                return False
    if at_limit:
        solved["unproven"] = 1
        value = end_value(child, cards, weights, start)
        if start["defers_actions"]:
            late = deferrable_actions(child, cards, facts, start["seat"])
            value += deferred_value(child, cards, weights, facts, late, start["seat"], work)
        back_up_value(frame, value, most if start["bounded"] else value, tie, work["actions"][level], 0)
        return False
    solved["states"] += 1
    again = known != NOT_FOUND  # exactly now, so that no position is searched a third time
    following["floor"] = floor_of_child(frame) if start["bounded"] and not again else -np.inf
    following["bound"] = most
    open_frame(level + 1, cards, weights, facts, work)
    following["key"] = key
    return True


@njit_no_alloc
def is_decided(frame: np.void, noted: np.void, tie: float, start: np.void) -> bool:
    """Whether what is known of a position, dtype `MEMO`, is exact, or excludes that it matters."""
    if not start["bounded"] or noted["most"] <= noted["value"] + tie:
        return True
    return bool(noted["most"] <= floor_of_child(frame) + tie)


@njit_no_alloc
def bound_outcomes(level: int, cards: np.ndarray, weights: np.ndarray, work: np.void) -> None:
    """Set the upper bounds of the outcomes of the current action of a level."""
    frame, start = work["frames"][level], work["start"]
    before, child = work["states"][level], work["states"][level + 1]
    action = work["actions"][level, frame["next"] - 1]
    for leaf in range(frame["n_leaves"]):
        frame["leaf"] = leaf
        apply_next_outcome(level, cards, work)
        most = action_gain(before, child, cards, action, work["effect_state"][1], weights)
        most += end_value(child, cards, weights, start)
        if outcome(child) == Outcome.ONGOING:
            most += upper_bound(child, cards, weights, start, work["tally"])
        else:
            most += UNBOUNDED  # plays before the killing blow
        frame["bounds"][leaf] = most
    frame["leaf"] = 0


@njit_no_alloc
def tie_tolerance(weights: np.ndarray) -> float:
    """Tolerance of ties: differences up to it are rounding errors."""
    most, total = 0.0, 0.0
    for weight in weights:
        most = max(most, weight)
        total += abs(weight)
    return SCORE_TIE * total if is_score(weights) else TIE * most


@njit_no_alloc
def is_minion_attack(action: int) -> bool:
    """Whether an action is an attack of a minion on a minion."""
    kind, source, target = decode(action)
    return bool(kind == ActionKind.ATTACK and HERO not in (source, target))


@njit_no_alloc
def lethal_value(
    level: int, cards: np.ndarray, weights: np.ndarray, facts: np.ndarray, work: np.void, action: int
) -> float:
    """Value of a lethal action after attacks of minions on the enemy hero; -inf if it is not lethal."""
    before, start = work["states"][level], work["start"]
    seat, effect_state = start["seat"], work["effect_state"][0]
    work["states"][level + 1] = before
    child = work["states"][level + 1]
    begin_hypothetical(effect_state)
    apply(child, cards, action, effect_state)
    attacked = max_damage_before_kill(before, child, start)
    if effect_state["n_pending_outcomes"] or attacked < 0:
        return -np.inf
    child["sides"][1 - seat]["health"] = 0
    value = weights[Term.FACE] * attacked + action_gain(before, child, cards, action, effect_state, weights)
    value += end_value(child, cards, weights, start)
    if work["frames"][level]["late"] & DEFER_PLAYS:
        own = child["sides"][seat]
        value += solve_knapsack(own, own["mana"], cards, weights, facts, work)[0]
    return float(value)


@njit_no_alloc
def apply_next_outcome(level: int, cards: np.ndarray, work: np.void) -> None:
    """Apply the current action with its next outcome, to the position of the next level."""
    frame = work["frames"][level]
    leaf = frame["leaf"]
    n = frame["n_events"][leaf]
    for event in range(n):
        work["odometer"][0, event] = frame["outcomes"][leaf, event]
    action = work["actions"][level, frame["next"] - 1]
    apply_outcome(work["states"][level], cards, action, work, n)
    work["states"][level + 1] = work["scratch"][0]
