"""Upper bounds of turns: never below what the plain search finds, and the same plans with and without them."""

import numpy as np
import pytest

from engine.codes import MAX_ACTIONS
from engine.effects.chance import begin_hypothetical, draw_hypothetical
from engine.jit import njit
from engine.rules import apply, legal_actions, outcome
from engine.state import EVENTS, STATE
from ilp_agent.search.backend import search_position
from ilp_agent.search.bound import UNBOUNDED, upper_bound
from ilp_agent.search.card_facts import compute_card_facts
from ilp_agent.search.kernel import start_search
from ilp_agent.search.objective import end_value
from ilp_agent.search.work import SOLUTION
from tests.conftest import UNCOMPILED, cases, heavy
from tests.ilp_agent.search.turns import CLASS_DECKS, LIVELY_DECKS, reached, searching, within_reach

pytestmark = pytest.mark.skipif(UNCOMPILED, reason="too slow without the compiler")
DECKS = [*LIVELY_DECKS, *CLASS_DECKS]


@njit
def play_at_random(states, cards, steps):  # type: ignore[no-untyped-def]
    """Play up to so many random actions of the turn in each position, but not its end. Modified in place."""
    actions, events = np.empty(MAX_ACTIONS, np.int64), np.zeros(1, EVENTS)
    tried = np.zeros(1, STATE)
    for number in range(len(states)):
        for step in range(steps[number]):
            n = legal_actions(states[number], cards, actions)
            if n < 2:
                break
            action = actions[(7919 * (number + 1) * (step + 3)) % (n - 1)]
            tried[0] = states[number]
            begin_hypothetical(events[0])
            draw_hypothetical(events[0], states[number], step)
            apply(tried[0], cards, action, events[0])
            if outcome(tried[0]) != 0:
                break
            states[number] = tried[0]


@njit
def bound_of(states, cards, weights, works):  # type: ignore[no-untyped-def]
    """Upper bound of the objective of a turn, shape (1,), and whether it is finite."""
    work = works[0]
    start_search(states[0], cards, weights, work)
    state, start = work["states"][0], work["start"]
    most = upper_bound(state, cards, weights, start, work["tally"])
    return end_value(state, cards, weights, start) + most - start["base"], most < UNBOUNDED


@pytest.mark.parametrize("deck", DECKS)
def test_no_plan_is_better_than_the_bound(deck: str) -> None:
    """In the middle of turns too; a bound counts from a position as if the turn began there."""
    n = cases(100, 1_000)
    finite = compared = 0
    for further in (False, True):
        turns = within_reach(reached((deck,), n, 53, further), 30, 53)
        cards, states = turns.table.array.copy(), turns.states.copy()
        facts, plain, solved = compute_card_facts(cards), searching(3_000), np.zeros(1, SOLUTION)
        plain.start["bounded"] = 0
        play_at_random(states, turns.table.array, np.random.default_rng(54).integers(0, 4, n))
        for number in range(n):
            one = states[number : number + 1]
            search_position(one, cards, turns.weights[number], facts, *plain, solved)
            if solved["unproven"][0]:
                continue
            most, known = bound_of(one, cards, turns.weights[number], plain.work)
            compared += 1
            finite += known
            value = float(solved["value"][0])
            where = f"{turns._replace(states=states).position(number)} {turns.weights[number].tolist()}"
            assert value <= most + 1e-9 * max(1.0, abs(value)), where
    assert compared > n
    assert finite > 0, compared


@pytest.mark.parametrize("deck", [*LIVELY_DECKS, *heavy(*CLASS_DECKS)])
def test_bounds_change_no_plan(deck: str) -> None:
    """What is skipped is no better: the same value and the same actions, in fewer positions."""
    n = cases(60, 400)
    positions = np.zeros(2, np.int64)
    for further in (False, True):
        turns = reached((deck,), n, 55, further)
        cards, facts = turns.table.array.copy(), compute_card_facts(turns.table.array)
        memory, solved = searching(4_000), np.zeros(1, SOLUTION)
        for number in range(n):
            found = []
            for bounded in (0, 1):
                memory.start["bounded"] = bounded
                one = turns.states[number : number + 1]
                search_position(one, cards, turns.weights[number], facts, *memory, solved)
                found.append(solved.copy()[0])
            plain, bounded_plan = found
            where = f"{turns.position(number)} {turns.weights[number].tolist()}"
            assert bounded_plan["most"] >= bounded_plan["value"], where
            if plain["unproven"]:
                assert bounded_plan["most"] >= plain["value"] - 1e-9, where
                continue
            positions += plain["states"], bounded_plan["states"]
            assert bounded_plan["unproven"] == 0, where
            assert plain["value"] == bounded_plan["value"], where
            assert plain["again"] == bounded_plan["again"], where
            steps = plain["n"]
            assert steps == bounded_plan["n"], where
            assert plain["actions"][:steps].tolist() == bounded_plan["actions"][:steps].tolist(), where
    assert positions[1] <= positions[0]
