"""Beam search of a turn: plans that can be played, worth what is said, and never better than the best."""

import numpy as np
import pytest

from engine import find_deck
from engine.codes import MAX_ACTIONS
from engine.decks import cached_card_table
from engine.effects.chance import begin_hypothetical
from engine.jit import njit
from engine.rules import apply, legal_actions
from engine.state import EVENTS
from ilp_agent import Weights
from ilp_agent.plan import Status
from ilp_agent.search import backend
from ilp_agent.search.backend import SearchSolver, search_position, thread_searcher
from ilp_agent.search.card_facts import compute_card_facts
from ilp_agent.search.work import SOLUTION
from ilp_agent.selfplay import search_memory
from ilp_agent.turn import Turn
from rivals import find_kind
from tests.conftest import UNCOMPILED, cases
from tests.ilp_agent.search.turns import CLASS_DECKS, LIVELY_DECKS, reached, searching, within_reach

pytestmark = pytest.mark.skipif(UNCOMPILED, reason="too slow without the compiler")
DECKS = [*LIVELY_DECKS, *CLASS_DECKS]


@njit
def is_playable(states, cards, codes):  # type: ignore[no-untyped-def]
    """Whether the actions are legal one after the other, up to the first that chance decides."""
    state, events, actions = states.copy(), np.zeros(1, EVENTS), np.empty(MAX_ACTIONS, np.int64)
    for code in codes:
        n = legal_actions(state[0], cards, actions)
        if not np.any(actions[:n] == code):
            return False
        begin_hypothetical(events[0])
        apply(state[0], cards, code, events[0])
        if events[0]["n_pending_outcomes"]:
            break
    return True


@pytest.mark.parametrize("deck", DECKS)
def test_a_plan_of_the_beam_is_between_the_interrupted_search_and_the_best(deck: str) -> None:
    """The search is stopped after 20 positions; the best is that of the finished search."""
    n = cases(60, 600)
    replaced = compared = 0
    for further in (False, True):
        turns = within_reach(reached((deck,), n, 61, further), 30, 62)
        cards, facts = turns.table.array.copy(), compute_card_facts(turns.table.array)
        small, with_beam, large = searching(20), searching(20), searching(5_000)
        with_beam.start["beam"], small.start["beam"] = 1, 0
        alone, solved, best = (np.zeros(1, SOLUTION) for _ in range(3))
        for number in range(n):
            one, weights = turns.states[number : number + 1], turns.weights[number]
            search_position(one, cards, weights, facts, *small, alone)
            if not alone["unproven"][0]:
                continue
            search_position(one, cards, weights, facts, *with_beam, solved)
            search_position(one, cards, weights, facts, *large, best)
            value, where = float(solved["value"][0]), f"{turns.position(number)} {weights.tolist()}"
            margin = 1e-9 * max(1.0, abs(value))
            assert value >= float(alone["value"][0]) - margin, where
            codes = solved["actions"][0, : solved["n"][0]].astype(np.int64)
            assert is_playable(one, turns.table.array, codes), where
            replaced += with_beam.work["beam_length"][0] > 0
            if not best["unproven"][0]:
                compared += 1
                assert value <= float(best["value"][0]) + margin, where
    assert replaced > 0, compared
    assert compared > n / 10


@pytest.mark.parametrize("deck", LIVELY_DECKS)
def test_the_terms_of_a_plan_of_the_beam_add_up_to_its_value(
    deck: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "DEFAULT_LIMIT", 20)
    monkeypatch.setattr(backend, "DEFAULT_COMPLEX_LIMIT", 20)
    n, replaced = cases(60, 400), 0
    turns = reached((deck,), n, 63, True)
    for number in range(n):
        weights = Weights.from_array(turns.weights[number])
        plan = SearchSolver().solve(Turn(turns.position(number)), weights)
        if plan.status is not Status.FEASIBLE or not thread_searcher().memory.work["beam_length"][0]:
            continue
        replaced += 1
        assert sum(plan.terms) == pytest.approx(plan.objective, abs=1e-7), turns.position(number)
    assert replaced > 2


def test_only_games_with_card_effects_use_the_beam() -> None:
    for decks, used in ((("reno-mage",), 1), (("thesis-paladin",), 0)):
        table, _ = cached_card_table(tuple(map(find_deck, decks)))
        assert search_memory(table.array).works["start"]["beam"][0] == used
        assert search_memory(table.array, 1_000).works["start"]["beam"][0] == 0
    assert find_kind("ilp").play_version(True) == 2
    assert find_kind("ilp").play_version(False) == 1
    assert find_kind("lookahead").play_version(True) == 1
