"""The opponent's hidden Secrets in the turn search: evaluate plans under each possible Secret; compiled.

Source: HearthSim, "Modeling Unpredictable Outcomes": simulate every Secret that may be in play, and play the
plan until a Secret is revealed. A hypothesis assigns a Secret of the opponent's deck list to each hidden one
(`list_hypotheses`); its position is searched like any other, since the engine resolves a Secret that is
known. Candidates are the best plan of each hypothesis, the best plan without Secrets, and each first action
that reveals a Secret under some hypothesis. A candidate ends at its first action that may reveal a Secret, or
has another unknown outcome; so it does not depend on what the player cannot know. Its value under a
hypothesis is its gain plus the best continuation under that hypothesis, and its value is the mean or the
worst of these.

Within a game a Secret that an action would have revealed, but did not, is excluded (`BELIEF`).
"""

import threading
from typing import NamedTuple

import numpy as np

from engine.codes import MAX_ACTIONS, Outcome
from engine.effect_codes import HIDDEN_SECRET, MAX_SECRETS
from engine.effects.chance import begin_hypothetical
from engine.effects.secrets import secret_index
from engine.jit import njit, njit_no_alloc
from engine.position import Position
from engine.rules import apply, legal_actions, outcome
from engine.state import STATE
from engine.view import MAX_SHOWN, hide_information
from ilp_agent.search import IGNORE, MEAN
from ilp_agent.search.backend import thread_searcher
from ilp_agent.search.card_order import sort_cards
from ilp_agent.search.deferred_actions import WITH_ALL_ATTACKS, WITH_HERO_ATTACK
from ilp_agent.search.extract_plan import append_action, stored_best_action
from ilp_agent.search.kernel import (
    EXHAUSTED,
    RESOLVED,
    descend,
    next_child,
    open_frame,
    search_turn,
    tie_tolerance,
)
from ilp_agent.search.objective import action_gain, end_value, is_lost
from ilp_agent.search.transposition import NOT_FOUND, find_entry, position_key
from ilp_agent.search.work import MAX_DEPTH, MEMO, MIN_SLOTS, SLOT, SOLUTION

MAX_HYPOTHESES = 12
"""Largest number of hypotheses; of more, evenly spaced ones are evaluated."""

MAX_ENUMERATED = 4_096
"""Largest number of hypotheses to count; later ones in their order are left out."""

MAX_KINDS = 30
"""Largest number of different Secrets of a deck."""

HYPOTHESIS_LIMIT = 4_000
"""Limit of positions in the search of one hypothesis; where a search meets its limit, Secrets are ignored."""

BELIEF = np.dtype(
    [
        ("turn", "i2"),  # of the last decision
        ("n", "i2"),  # hidden Secrets then
        ("entity_ids", "i2", (MAX_SECRETS,)),  # of these
        ("excluded", "u4", (MAX_SECRETS,)),  # bits of the kinds that each cannot be
        ("pending", "u4", (MAX_SECRETS,)),  # bits to exclude if the planned action reveals nothing
    ]
)
"""What a player knows of the opponent's Secrets beside the position; zeros at the start of a game."""

HYPOTHESES = np.dtype(
    [
        ("n_kinds", "i2"),
        ("kinds", "i2", (MAX_KINDS,)),  # different Secrets of the deck list, by printed content
        ("copies", "i2", (MAX_KINDS,)),  # of each in the deck list
        ("choice", "i2", (MAX_SECRETS,)),  # workspace: a kind for each Secret; `n_kinds`: it stays hidden
        ("n", "i2"),
        ("assumed", "i2", (MAX_HYPOTHESES, MAX_SECRETS)),  # Secrets in play; a hidden one if none is possible
        ("probability", "f8", (MAX_HYPOTHESES,)),
    ]
)
"""Possible identities of the opponent's hidden Secrets."""

TABLE = np.dtype([("n_slots", "i8"), ("n_memo", "i8"), ("features", "i8"), ("looks", "i2")])
"""What must be restored to read a transposition table again (`WORK`, and the card table's features)."""

MAX_PLANS = MAX_HYPOTHESES + 1
"""Largest number of whole plans: the one without Secrets, then one for each hypothesis."""


class SecretMemory(NamedTuple):
    """Working memory for hidden Secrets, for one thread. Modified in place."""

    hypotheses: np.ndarray  # dtype HYPOTHESES, shape (1,)
    tables: np.ndarray  # dtype TABLE, shape (MAX_HYPOTHESES,)
    memo: np.ndarray  # transposition table of each hypothesis, dtype MEMO
    slots: np.ndarray  # and its hash table, dtype SLOT
    plans: np.ndarray  # candidate plans, dtype SOLUTION, shape (MAX_PLANS,); `states` is unused
    values: np.ndarray  # of plans, then of first actions, under each hypothesis; float64
    actions: np.ndarray  # legal first actions, int64, shape (MAX_ACTIONS,)
    reveals: np.ndarray  # 1: the first action reveals a Secret under some hypothesis; int64
    tried: np.ndarray  # scratch, dtype SOLUTION, shape (1,)
    states: np.ndarray  # the player's view, and scratch, dtype STATE, shape (3,)
    shown: np.ndarray  # Secrets of the opponent's deck list, int64, shape (MAX_SHOWN,)
    keys: np.ndarray  # workspace of `sort_cards`, uint64, shape (MAX_SHOWN,)
    counts: np.ndarray  # number of first actions, number of Secrets shown; int64, shape (2,)


def new_secret_memory(limit: int = HYPOTHESIS_LIMIT) -> SecretMemory:
    """Allocate working memory for searches of at most `limit` positions for each hypothesis."""
    places = max(MIN_SLOTS, 1 << (2 * limit - 1).bit_length())
    return SecretMemory(
        np.zeros(1, HYPOTHESES),
        np.zeros(MAX_HYPOTHESES, TABLE),
        np.zeros((MAX_HYPOTHESES, limit), MEMO),
        np.zeros((MAX_HYPOTHESES, places), SLOT),
        np.zeros(MAX_PLANS, SOLUTION),
        np.zeros((MAX_PLANS + MAX_ACTIONS, MAX_HYPOTHESES)),
        np.zeros(MAX_ACTIONS, np.int64),
        np.zeros(MAX_ACTIONS, np.int64),
        np.zeros(1, SOLUTION),
        np.zeros(3, STATE),
        np.zeros(MAX_SHOWN, np.int64),
        np.zeros(MAX_SHOWN, np.uint64),
        np.zeros(2, np.int64),
    )


# Hypotheses


@njit_no_alloc
def have_equal_secrets(one: np.void, other: np.void) -> bool:
    """Whether the same Secrets are in play on two records of a side, by entity id."""
    equal = one["n_secrets"] == other["n_secrets"]
    for place in range(one["n_secrets"]):
        equal = equal and one["secret_entity_ids"][place] == other["secret_entity_ids"][place]
    return bool(equal)


@njit_no_alloc
def update_belief(state: np.void, belief: np.void) -> None:
    """Exclude what the last planned action would have revealed, and drop Secrets that are gone.

    Args:
        state: the player's view at a decision.
        belief: dtype `BELIEF`, of the same game and player. Modified in place.
    """
    enemy = state["sides"][1 - state["active"]]
    n = belief["n"] if state["turn"] >= belief["turn"] else 0
    unchanged = n == enemy["n_secrets"]
    for place in range(min(n, int(enemy["n_secrets"]))):
        unchanged = unchanged and belief["entity_ids"][place] == enemy["secret_entity_ids"][place]
    for place in range(enemy["n_secrets"]):
        excluded = np.uint32(0)
        for before in range(place, n):  # Secrets leave, and later ones follow
            if belief["entity_ids"][before] == enemy["secret_entity_ids"][place]:
                excluded = belief["excluded"][before]
                if unchanged:
                    excluded |= belief["pending"][before]
        belief["entity_ids"][place], belief["excluded"][place] = enemy["secret_entity_ids"][place], excluded
    belief["pending"][:] = 0
    belief["turn"], belief["n"] = state["turn"], enemy["n_secrets"]


@njit_no_alloc
def list_kinds(cards: np.ndarray, shown: np.ndarray, n_shown: int, keys: np.ndarray, found: np.void) -> None:
    """List the different Secrets of a deck list, in an order that does not depend on the card table.

    Args:
        cards: the card table.
        shown: card numbers of the Secrets. Modified in place: sorted.
        n_shown: their number.
        keys: workspace, uint64, shape (at least `n_shown`,). Modified in place.
        found: dtype `HYPOTHESES`. Modified in place.
    """
    sort_cards(shown, n_shown, cards, keys)
    found["n_kinds"] = 0
    for place in range(n_shown):
        last = found["n_kinds"] - 1
        if last >= 0 and found["kinds"][last] == shown[place]:
            found["copies"][last] += 1
        elif last + 1 < MAX_KINDS:
            found["kinds"][last + 1], found["copies"][last + 1] = shown[place], 1
            found["n_kinds"] += 1


@njit_no_alloc
def is_possible(
    side: np.void, cards: np.ndarray, belief: np.void, place: int, kind: int, found: np.void
) -> bool:
    """Whether a hidden Secret may be of a kind: the class fits, and no earlier action excludes it."""
    number = found["kinds"][kind]
    if side["secrets"][place] != HIDDEN_SECRET - cards[number]["hero_class"]:
        return False
    return not belief["excluded"][place] >> np.uint32(kind) & np.uint32(1)


@njit_no_alloc
def list_hypotheses(side: np.void, cards: np.ndarray, belief: np.void, found: np.void) -> None:
    """List the possible identities of the opponent's hidden Secrets.

    Two Secrets in play differ. The probability of a hypothesis is proportional to the copies of its cards in
    the deck list. A Secret that can be none of these, such as a created one, stays hidden. With more than
    `MAX_HYPOTHESES`, as many evenly spaced ones are taken.

    Args:
        side: the opponent's half of the player's view.
        cards: the card table.
        belief: dtype `BELIEF`, up to date.
        found: dtype `HYPOTHESES`, with its kinds. Modified in place; `n` is 0 if nothing can be assumed.
    """
    found["n"] = 0
    some = False
    for place in range(side["n_secrets"]):
        for kind in range(found["n_kinds"]):
            some = some or is_possible(side, cards, belief, place, kind, found)
    if not some:
        return
    total = _enumerate(side, cards, belief, found, 0)
    _enumerate(side, cards, belief, found, total)
    weight = 0.0
    for number in range(found["n"]):
        weight += found["probability"][number]
    for number in range(found["n"]):
        found["probability"][number] /= weight


@njit_no_alloc
def _enumerate(side: np.void, cards: np.ndarray, belief: np.void, found: np.void, total: int) -> int:
    """Count all hypotheses, or with their number `total` write them, evenly spaced if there are too many."""
    n, n_kinds, counted = int(side["n_secrets"]), int(found["n_kinds"]), 0
    choice, depth = found["choice"], 0
    choice[0] = -1
    while depth >= 0 and counted < MAX_ENUMERATED:
        choice[depth] += 1
        kind = int(choice[depth])
        if kind > n_kinds:
            depth -= 1
            continue
        allowed = kind < n_kinds and is_possible(side, cards, belief, depth, kind, found)
        if kind == n_kinds:  # stays hidden
            allowed = True
            for other in range(n_kinds):
                allowed = allowed and not is_possible(side, cards, belief, depth, other, found)
        for before in range(depth):
            allowed = allowed and (choice[before] != kind or kind == n_kinds)
        if not allowed:
            continue
        if depth + 1 < n:
            depth += 1
            choice[depth] = -1
            continue
        middle = (2 * found["n"] + 1) * total // (2 * MAX_HYPOTHESES)
        if 0 < total <= MAX_HYPOTHESES or (total and found["n"] < MAX_HYPOTHESES and counted == middle):
            _write_hypothesis(side, choice, n_kinds, found)
        counted += 1
    return counted


@njit_no_alloc
def _write_hypothesis(side: np.void, choice: np.ndarray, n_kinds: int, found: np.void) -> None:
    """Append a hypothesis, a kind for each hidden Secret, to `found`; modified in place."""
    number, weight = found["n"], 1.0
    for place in range(side["n_secrets"]):
        kind = choice[place]
        if kind < n_kinds:
            weight *= found["copies"][kind]
    found["probability"][number] = weight
    for place in range(side["n_secrets"]):
        kind = choice[place]
        hidden = side["secrets"][place]
        found["assumed"][number, place] = found["kinds"][kind] if kind < n_kinds else hidden
    found["n"] += 1


# Plans and their values


@njit_no_alloc
def select_hypothesis(number: int, cards: np.ndarray, work: np.void, memory: SecretMemory) -> None:
    """Restore what reading a hypothesis's transposition table needs. Modifies `cards`, `work` and `memory`.

    `memory.states[1]` receives the start of the turn under the hypothesis.
    """
    table = memory.tables[number]
    work["n_slots"], work["n_memo"] = table["n_slots"], table["n_memo"]
    work["start"]["looks"], cards[0]["game_features"] = table["looks"], table["features"]
    work["search"] += 1  # cached gains are of one hypothesis
    memory.states[1] = memory.states[0]
    enemy = memory.states[1]["sides"][1 - memory.states[1]["active"]]
    for place in range(enemy["n_secrets"]):
        enemy["secrets"][place] = memory.hypotheses[0]["assumed"][number, place]


@njit_no_alloc
def is_informative(before: np.void, after: np.void, effect_state: np.void) -> bool:
    """Whether an action ends a plan: it ends the game, reveals a Secret, or its outcome is not known."""
    seat = before["active"]
    if effect_state["n_pending_outcomes"] > 0 or effect_state["depends_on_hidden"]:
        return True
    if outcome(after) != Outcome.ONGOING:
        return True
    if before["sides"][seat]["n_deck"] != after["sides"][seat]["n_deck"]:
        return True
    return not have_equal_secrets(before["sides"][1 - seat], after["sides"][1 - seat])


@njit_no_alloc
def extract_whole_plan(
    cards: np.ndarray, work: np.void, memo: np.ndarray, slots: np.ndarray, plan: np.void
) -> None:
    """Extract the best plan of the last search, up to its first informative action; `work` is modified.

    Unlike `extract_actions` it does not stop at the first action because Secrets are in play. With `again`
    the turn does not end after the plan.
    """
    start, effect_state, state = work["start"], work["effect_state"][0], work["states"][1]
    work["states"][1] = work["states"][0]
    plan["n"], plan["again"] = 0, 1
    while plan["n"] < MAX_DEPTH:
        known = find_entry(position_key(state, cards, start, 0, 0), work, memo, slots)
        if known == NOT_FOUND:
            return  # not searched, because of the limit
        action = stored_best_action(state, cards, memo[known], work)
        if action & (WITH_HERO_ATTACK | WITH_ALL_ATTACKS):
            return
        if action == 0:
            plan["again"] = 0
            return
        append_action(action, plan)
        begin_hypothetical(effect_state)
        work["scratch"][1] = state
        apply(work["scratch"][1], cards, action, effect_state)
        if is_informative(state, work["scratch"][1], effect_state):
            return
        work["states"][1] = work["scratch"][1]


@njit_no_alloc
def certain_length(plan: np.void, cards: np.ndarray, work: np.void, memory: SecretMemory) -> int:
    """Number of a plan's actions up to its first informative one under the selected hypothesis.

    `MAX_DEPTH` if none is informative. Scratch of `work` is modified in place.
    """
    state, after, effect_state = work["scratch"][0], work["scratch"][1], work["effect_state"][0]
    work["scratch"][0] = memory.states[1]
    for step in range(plan["n"]):
        begin_hypothetical(effect_state)
        work["scratch"][1] = state
        apply(after, cards, plan["actions"][step], effect_state)
        if is_informative(state, after, effect_state):
            return step + 1
        work["scratch"][0] = after
    return MAX_DEPTH


@njit_no_alloc
def open_position(
    state: np.void, cards: np.ndarray, weights: np.ndarray, facts: np.ndarray, work: np.void
) -> float:
    """Prepare to value actions of a position at level 0; returns the value of ending the turn there."""
    work["states"][0] = state
    open_frame(0, cards, weights, facts, work)
    frame = work["frames"][0]
    frame["hand_attackers"], frame["hand_attackers_died"] = 0, 0
    frame["key"] = position_key(state, cards, work["start"], 0, 0)
    return float(frame["best"])


@njit_no_alloc
def value_of_action(
    action: int,
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    work: np.void,
    memo: np.ndarray,
    slots: np.ndarray,
    tried: np.void,
    rule: int,
    tie: float,
) -> float:
    """Gain of an action of the opened position and the best continuation in the transposition table.

    For a mean an action that kills the own hero under a hypothesis has the value of the lost game, as an
    outcome of chance has, with minus `lethal`. Else it has minus infinity, as a pruned action has.
    """
    frame = work["frames"][0]
    work["actions"][0, 0] = action
    frame["n"], frame["next"], frame["n_leaves"] = 1, 0, 0
    frame["best"], frame["action"] = -np.inf, 0
    while True:
        deaths = next_child(0, cards, weights, facts, work, memo, slots, tie)
        if deaths == EXHAUSTED:
            break
        if deaths != RESOLVED:
            descend(0, deaths, cards, weights, facts, work, memo, slots, tried, 0, tie)
    if frame["best"] == -np.inf and rule == MEAN:
        effect_state, after = work["effect_state"][0], work["scratch"][1]
        begin_hypothetical(effect_state)
        work["scratch"][1] = work["states"][0]
        apply(after, cards, action, effect_state)
        if effect_state["n_pending_outcomes"] == 0 and is_lost(after, work["start"]):
            gain = action_gain(work["states"][0], after, cards, action, effect_state, weights)
            return float(gain + end_value(after, cards, weights, work["start"]))
    return float(frame["best"])


@njit_no_alloc
def value_of_plan(
    plan: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    work: np.void,
    memo: np.ndarray,
    slots: np.ndarray,
    memory: SecretMemory,
    rule: int,
    tie: float,
) -> float:
    """Value of a plan under the selected hypothesis; with `again` the best continuation follows."""
    effect_state, state, after = work["effect_state"][0], memory.states[2], work["scratch"][1]
    memory.states[2] = memory.states[1]
    total = 0.0
    for step in range(plan["n"] - plan["again"]):
        begin_hypothetical(effect_state)
        work["scratch"][1] = state
        apply(after, cards, plan["actions"][step], effect_state)
        total += action_gain(state, after, cards, plan["actions"][step], effect_state, weights)
        memory.states[2] = after
    ending = open_position(state, cards, weights, facts, work)
    if not plan["again"]:
        return total + ending
    last = plan["actions"][plan["n"] - 1]
    return total + value_of_action(last, cards, weights, facts, work, memo, slots, memory.tried[0], rule, tie)


@njit_no_alloc
def combined_value(values: np.ndarray, found: np.void, rule: int) -> float:
    """Mean value over the hypotheses, or the worst of them."""
    mean, worst = 0.0, np.inf
    for number in range(found["n"]):
        mean += found["probability"][number] * values[number]
        worst = min(worst, values[number])
    return mean if rule == MEAN else worst


@njit_no_alloc
def search_hypotheses(
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    work: np.void,
    memory: SecretMemory,
    solved: np.void,
) -> bool:
    """Search the turn under each hypothesis and write its best plan. Modifies `work`, `memory`, `solved`.

    Returns:
        False if a search met its limit: its table lacks positions, so that values of plans do not compare.
    """
    found, start, tried = memory.hypotheses[0], work["start"], memory.tried[0]
    n_secrets = memory.states[0]["sides"][1 - memory.states[0]["active"]]["n_secrets"]
    limits = start["limit"], start["limit_kept"]
    start["limit"] = start["limit_kept"] = memory.memo.shape[1]
    complete = True
    for number in range(found["n"]):
        start["n_assumed"] = n_secrets
        for place in range(n_secrets):
            start["assumed"][place] = found["assumed"][number, place]
        memo, slots = memory.memo[number], memory.slots[number]
        search_turn(memory.states[0], cards, weights, facts, work, memo, slots, tried)
        table = memory.tables[number]
        table["n_slots"], table["n_memo"] = work["n_slots"], work["n_memo"]
        table["looks"], table["features"] = start["looks"], cards[0]["game_features"]
        solved["states"] += tried["states"]
        if tried["unproven"]:
            solved["unproven"], complete = 1, False
            break
        extract_whole_plan(cards, work, memo, slots, memory.plans[number + 1])
    start["n_assumed"] = 0
    start["limit"], start["limit_kept"] = limits
    return complete


@njit_no_alloc
def evaluate_candidates(
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    work: np.void,
    memory: SecretMemory,
    rule: int,
    tie: float,
) -> None:
    """Cut the plans at their first informative action, and value all candidates under each hypothesis."""
    found, effect_state, after = memory.hypotheses[0], work["effect_state"][0], work["scratch"][1]
    n, n_plans, seat = int(found["n"]), int(found["n"]) + 1, memory.states[0]["active"]
    for number in range(n):
        select_hypothesis(number, cards, work, memory)
        for place in range(n_plans):
            plan = memory.plans[place]
            length = certain_length(plan, cards, work, memory)
            if length <= plan["n"]:
                plan["n"], plan["again"] = length, 1
        if number == 0:
            memory.counts[0] = legal_actions(memory.states[1], cards, memory.actions)
            memory.reveals[: memory.counts[0]] = 0
        for place in range(memory.counts[0] - 1):  # the last is the end of the turn
            begin_hypothetical(effect_state)
            work["scratch"][1] = memory.states[1]
            apply(after, cards, memory.actions[place], effect_state)
            if not have_equal_secrets(memory.states[1]["sides"][1 - seat], after["sides"][1 - seat]):
                memory.reveals[place] = 1
    for number in range(n):
        select_hypothesis(number, cards, work, memory)
        memo, slots = memory.memo[number], memory.slots[number]
        for place in range(n_plans):
            plan = memory.plans[place]
            if plan["n"] > 0 or not plan["again"]:
                memory.values[place, number] = value_of_plan(
                    plan, cards, weights, facts, work, memo, slots, memory, rule, tie
                )
        open_position(memory.states[1], cards, weights, facts, work)
        for place in range(memory.counts[0]):
            if memory.reveals[place]:
                memory.values[MAX_PLANS + place, number] = value_of_action(
                    memory.actions[place],
                    cards,
                    weights,
                    facts,
                    work,
                    memo,
                    slots,
                    memory.tried[0],
                    rule,
                    tie,
                )


@njit_no_alloc
def choose_candidate(rule: int, memory: SecretMemory, tie: float, solved: np.void) -> None:
    """Write the candidate of the highest value to `solved`; ties go to the plan without Secrets, then on."""
    found = memory.hypotheses[0]
    best, best_value = -1, 0.0
    for place in range(int(found["n"]) + 1):
        plan = memory.plans[place]
        if plan["n"] == 0 and plan["again"]:
            continue
        value = combined_value(memory.values[place], found, rule)
        if best < 0 or value > best_value + tie:
            best, best_value = place, value
    for place in range(memory.counts[0]):
        if memory.reveals[place]:
            value = combined_value(memory.values[MAX_PLANS + place], found, rule)
            if best < 0 or value > best_value + tie:
                best, best_value = MAX_PLANS + place, value
    if best < 0:
        return
    if best < MAX_PLANS:
        plan = memory.plans[best]
        solved["n"], solved["again"] = plan["n"], plan["again"]
        for step in range(plan["n"]):
            solved["actions"][step] = plan["actions"][step]
    else:
        solved["n"], solved["again"] = 1, 1
        solved["actions"][0] = memory.actions[best - MAX_PLANS]
    solved["value"] = best_value


@njit_no_alloc
def expect_reveals(
    cards: np.ndarray,
    facts: np.ndarray,
    work: np.void,
    memory: SecretMemory,
    belief: np.void,
    solved: np.void,
) -> None:
    """Write to `belief["pending"]` which Secrets the plan's last action would reveal. Modified in place."""
    if not solved["again"] or solved["n"] == 0:
        return
    found, effect_state = memory.hypotheses[0], work["effect_state"][0]
    state, after = memory.states[1], work["scratch"][1]
    cards[0]["game_features"] = facts[0]["all_game_features"]
    memory.states[1] = memory.states[0]
    seat = state["active"]
    for step in range(solved["n"] - 1):
        begin_hypothetical(effect_state)
        apply(state, cards, solved["actions"][step], effect_state)
    enemy = state["sides"][1 - seat]
    for place in range(enemy["n_secrets"]):
        for kind in range(found["n_kinds"]):
            if not is_possible(enemy, cards, belief, place, kind, found):
                continue
            begin_hypothetical(effect_state)
            work["scratch"][1] = state
            after["sides"][1 - seat]["secrets"][place] = found["kinds"][kind]
            apply(after, cards, solved["actions"][solved["n"] - 1], effect_state)
            gone = secret_index(after["sides"][1 - seat], enemy["secret_entity_ids"][place]) < 0
            if gone and not effect_state["depends_on_hidden"]:
                belief["pending"][place] |= np.uint32(1) << np.uint32(kind)


@njit_no_alloc
def search_turn_facing_secrets(
    state: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    work: np.void,
    memo: np.ndarray,
    slots: np.ndarray,
    solved: np.void,
    rule: int,
    memory: SecretMemory,
    belief: np.void,
) -> None:
    """`search_turn`, but with the opponent's hidden Secrets taken into account.

    The identity of a Secret is never read: `state` may have it or hide it. `memory.shown` has the Secrets of
    the opponent's deck list, `memory.counts[1]` their number.

    Args:
        state: up to `solved` as of `ilp_agent.search.kernel.search_turn`.
        cards: see `state`.
        weights: see `state`.
        facts: see `state`.
        work: see `state`.
        memo: see `state`.
        slots: see `state`.
        solved: see `state`; its plan ends at the first action that may reveal a Secret.
        rule: a value of `ilp_agent.search.SECRETS`; with `IGNORE` this is `search_turn`.
        memory: modified in place.
        belief: dtype `BELIEF`, of this game and player. Modified in place.
    """
    search_turn(state, cards, weights, facts, work, memo, slots, solved)
    memory.hypotheses[0]["n"] = 0
    seat = state["active"]
    if rule == IGNORE or state["sides"][1 - seat]["n_secrets"] == 0:
        return
    memory.states[0] = state
    view = memory.states[0]
    hide_information(view, cards, seat)
    update_belief(view, belief)
    list_kinds(cards, memory.shown, memory.counts[1], memory.keys, memory.hypotheses[0])
    list_hypotheses(view["sides"][1 - seat], cards, belief, memory.hypotheses[0])
    if memory.hypotheses[0]["n"] == 0:
        return
    if solved["unproven"]:  # hypotheses would meet their limits, too, at many times the cost
        memory.hypotheses[0]["n"] = 0
        return
    work["states"][0] = view
    extract_whole_plan(cards, work, memo, slots, memory.plans[0])
    tie = tie_tolerance(weights)
    if not search_hypotheses(cards, weights, facts, work, memory, solved):
        memory.hypotheses[0]["n"] = 0
        return
    evaluate_candidates(cards, weights, facts, work, memory, rule, tie)
    choose_candidate(rule, memory, tie, solved)
    expect_reveals(cards, facts, work, memory, belief, solved)
    solved["value"] -= work["start"]["base"]


@njit
def search_position_facing_secrets(
    states: np.ndarray,
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    works: np.ndarray,
    memo: np.ndarray,
    slots: np.ndarray,
    solutions: np.ndarray,
    rule: int,
    memory: SecretMemory,
    beliefs: np.ndarray,
) -> None:
    """`search_turn_facing_secrets` with arrays of shape (1,), which Python passes faster than records."""
    search_turn_facing_secrets(
        states[0],
        cards,
        weights,
        facts,
        works[0],
        memo,
        slots,
        solutions[0],
        rule,
        memory,
        beliefs[0],
    )


_LOCAL = threading.local()


def thread_secret_memory() -> SecretMemory:
    """This thread's working memory for hidden Secrets; kernels run without the GIL."""
    if not hasattr(_LOCAL, "memory"):
        _LOCAL.memory = new_secret_memory()
    memory: SecretMemory = _LOCAL.memory
    return memory


def search_facing_secrets(
    position: Position, weights: np.ndarray, rule: int, shown: np.ndarray, beliefs: np.ndarray
) -> np.void:
    """Search a position of the player to move; dtype `SOLUTION`, valid until this thread's next search.

    Args:
        position: with card effects, not over; unchanged.
        weights: indexed by `ilp_agent.weights.Term`.
        rule: a value of `ilp_agent.search.SECRETS`.
        shown: card numbers of the Secrets of the opponent's deck list (`OpponentInfo.SECRETS`).
        beliefs: dtype `BELIEF`, shape (1,), of this game and player. Modified in place.
    """
    searcher, memory = thread_searcher(), thread_secret_memory()
    searcher.use_table(position.table)
    memory.shown[: len(shown)], memory.counts[1] = shown, len(shown)
    search_position_facing_secrets(
        position.states,
        searcher.cards,
        weights,
        searcher.facts,
        *searcher.reset_memory(beam=True),
        searcher.solved,
        rule,
        memory,
        beliefs,
    )
    solved: np.void = searcher.solved[0]
    return solved
