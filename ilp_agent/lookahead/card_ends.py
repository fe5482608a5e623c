"""Candidate plans of a turn with card effects, each evaluated by rollouts on sampled chance; compiled.

A plan ends with the turn or at new information (`ilp_agent.search.candidate_plans`). It is played out on
copies of the position with a sampled deck order and chance stream, common to all plans; the search completes
an unfinished turn. Then the opponent replies with its board, weapon and hero power, and with sampled cards in
hand if there is a model of them (`ilp_agent.lookahead.determinization`). All random numbers derive from a
hash of the player's view, so that equal views give equal turns.
"""

from typing import NamedTuple

import numpy as np

from engine.codes import ActionKind, Outcome
from engine.effects.chance import draw_from_stream
from engine.jit import njit_no_alloc
from engine.rules import apply, encode, outcome
from engine.state import EVENTS
from engine.streams import derive, shuffle
from ilp_agent.lookahead.determinization import sample_hidden_cards, sort_deck
from ilp_agent.lookahead.evaluation import (
    AFTER_NEXT_TURN,
    AFTER_REPLY,
    LookaheadMemory,
    linear_value,
)
from ilp_agent.lookahead.weights import BUDGET, DEPTH, REPLY_PART, SAMPLES, TURN_PART
from ilp_agent.search.candidate_plans import (
    MAX_PLANS,
    CandidatePool,
    list_candidate_plans,
    new_candidate_pool,
)
from ilp_agent.search.kernel import search_turn
from ilp_agent.search.work import DEFAULT_COMPLEX_LIMIT, DEFAULT_LIMIT, SOLUTION, SearchMemory

MAX_SEARCHES = 6
"""Largest number of searches per turn of a rollout, each up to new information."""

ROLLOUT_LIMIT = 300
"""Limit of positions per search in a rollout, the opponent's too."""


class CardMemory(NamedTuple):
    """Working memory for turns with card effects. Modified in place."""

    pool: CandidatePool
    tried: np.ndarray  # search result in a rollout, dtype SOLUTION, shape (1,)
    events: np.ndarray  # chance events of a rollout, dtype EVENTS, shape (1,)
    own_cards: np.ndarray  # the search's copy of the card table
    facts: np.ndarray  # of the cards (`ilp_agent.search.card_facts.compute_card_facts`)
    works: np.ndarray  # this and the next two as of `ilp_agent.search.kernel.search_turn`
    memo: np.ndarray
    slots: np.ndarray


def new_card_memory(own_cards: np.ndarray, facts: np.ndarray, search: SearchMemory) -> CardMemory:
    """Allocate working memory for one thread and a card table."""
    return CardMemory(
        new_candidate_pool(), np.zeros(1, SOLUTION), np.zeros(1, EVENTS), own_cards, facts, *search
    )


@njit_no_alloc
def find_card_candidates(cards: np.ndarray, row: np.ndarray, memory: LookaheadMemory[CardMemory]) -> int:
    """List the candidate plans of the turn in `memory.here`; return their number (`CandidateKernels`).

    The search's plan is final if it is surely lethal, or if the budget allows one plan.
    """
    here, plan, ends = memory.here[0], memory.plan[0], memory.ends
    seat, start = here["active"], ends.works[0]["start"]
    start["limit"], start["limit_kept"] = DEFAULT_LIMIT, DEFAULT_COMPLEX_LIMIT
    search_rest(here, row[TURN_PART], ends, plan)
    if not plan["again"] and ends.works[0]["states"][1]["sides"][1 - seat]["health"] <= 0:
        return 0
    wanted = min(int(row[BUDGET]) // max(1, int(row[SAMPLES])), MAX_PLANS)
    if wanted <= 1:
        return 0
    found = list_candidate_plans(
        ends.own_cards,
        row[TURN_PART],
        ends.facts,
        ends.works[0],
        ends.memo,
        ends.slots,
        ends.tried[0],
        wanted,
        ends.pool,
    )
    sort_deck(here["sides"][seat], cards, memory.deck_keys)
    start["limit"], start["limit_kept"] = ROLLOUT_LIMIT, ROLLOUT_LIMIT
    return found if found > 1 else 0


@njit_no_alloc
def card_candidate_value(
    number: int, cards: np.ndarray, row: np.ndarray, stream: np.uint64, memory: LookaheadMemory[CardMemory]
) -> float:
    """Total value of a plan over the chance samples; see `ilp_agent.lookahead.selfplay.CandidateKernels`."""
    total = 0.0
    for sample in range(max(1, int(row[SAMPLES]))):
        total += rollout(memory.ends.pool.listed[number], cards, row, derive(stream, sample), memory)
        memory.judged[0] += 1
    return total


@njit_no_alloc
def wins_card_tie(number: int, other: int, memory: LookaheadMemory[CardMemory]) -> bool:  # noqa: ARG001
    """Tie-break: never, since plans are listed by decreasing objective."""
    return False


@njit_no_alloc
def write_card_choice(number: int, cards: np.ndarray, memory: LookaheadMemory[CardMemory]) -> None:  # noqa: ARG001
    """Write the chosen plan to `memory.plan`."""
    unproven = memory.plan[0]["unproven"]
    memory.plan[0] = memory.ends.pool.listed[number]
    memory.plan[0]["unproven"] = unproven


@njit_no_alloc
def rollout(
    way: np.void, cards: np.ndarray, row: np.ndarray, key: np.uint64, memory: LookaheadMemory[CardMemory]
) -> float:
    """Value of a plan in one rollout on a random stream."""
    memory.then[0] = memory.here[0]
    then, events = memory.then[0], memory.ends.events[0]
    seat, depth = then["active"], int(row[DEPTH])
    shuffle(then["sides"][seat]["deck"], then["sides"][seat]["n_deck"], derive(key, 0))
    draw_from_stream(events, then, derive(key, 1))
    for step in range(way["n"]):
        if outcome(then) == Outcome.ONGOING:
            apply(then, cards, way["actions"][step], events)
    if way["again"]:
        complete_turn(then, cards, row[TURN_PART], memory)
    if depth >= AFTER_REPLY and outcome(then) == Outcome.ONGOING:
        sample_hidden_cards(then["sides"][1 - seat], derive(key, 2), False, memory.hands)
        apply(then, cards, encode(ActionKind.END_TURN, 0, 0), events)
        complete_turn(then, cards, row[REPLY_PART], memory)
    if depth >= AFTER_NEXT_TURN and outcome(then) == Outcome.ONGOING:
        apply(then, cards, encode(ActionKind.END_TURN, 0, 0), events)
        complete_turn(then, cards, row[TURN_PART], memory)
    return linear_value(then, cards, seat, row, memory.features)


@njit_no_alloc
def complete_turn(
    state: np.void, cards: np.ndarray, weights: np.ndarray, memory: LookaheadMemory[CardMemory]
) -> None:
    """Complete the active player's turn by searches, without ending it. `state` is modified in place."""
    ends = memory.ends
    tried, events = ends.tried[0], ends.events[0]
    for _ in range(MAX_SEARCHES):
        if outcome(state) != Outcome.ONGOING:
            return
        search_rest(state, weights, ends, tried)
        for step in range(tried["n"]):
            apply(state, cards, tried["actions"][step], events)
        if not tried["again"]:
            return


@njit_no_alloc
def search_rest(state: np.void, weights: np.ndarray, ends: CardMemory, solved: np.void) -> None:
    """Search the actions left in a turn; write the best plan to `solved`. `ends` is working memory."""
    search_turn(state, ends.own_cards, weights, ends.facts, ends.works[0], ends.memo, ends.slots, solved)
