"""Ties and gaps of turns against every end of the turn, reached by plain sequences of actions."""

from dataclasses import replace

import numpy as np
import pytest

from engine import Position, parse_position
from engine.codes import ActionKind, Outcome
from engine.effects.chance import begin_hypothetical
from engine.rules import apply
from engine.state import EVENTS
from ilp_agent import Weights, find_profile, solve
from ilp_agent.plan import Status
from ilp_agent.search.turn_proof import prove_turn
from ilp_agent.turn import Turn
from ilp_agent.weights import N_TERMS
from tests.conftest import BOUNDSCHECK, UNCOMPILED, cases
from tests.ilp_agent.search.brute import add_action, at_the_end
from tests.ilp_agent.search.turns import CLASS_DECKS, LIVELY_DECKS, reached, within_reach

REDUCED = UNCOMPILED or BOUNDSCHECK
BALANCED = find_profile("true-balanced").weights
MOST_LINES = 1_500


class TooManyError(Exception):
    """More lines than a test has time for."""


def final_position(position: Position) -> tuple[object, ...]:
    """What is left at the end of a turn, without what the turn used up."""
    own, enemy = (position.state["sides"][seat] for seat in (position.active, 1 - position.active))
    boards = [
        sorted(
            (int(minion["card"]), *(int(minion[name]) for name in ("attack", "health", "keywords")))
            for minion in side["board"][: side["n_board"]]
        )
        for side in (own, enemy)
    ]
    heroes = [(int(side["health"]), int(side["armour"])) for side in (own, enemy)]
    return str(boards), str(heroes), str(sorted(own["hand"][: own["n_hand"]].tolist()))


def all_ends(position: Position, weights: np.ndarray) -> dict[tuple[object, ...], float]:
    """The largest value of every end of the turn of bodies, by trying every sequence of actions."""
    found: dict[tuple[object, ...], float] = {}
    lines, cards = 0, position.table.array
    events = np.zeros(1, EVENTS)

    def walk(here: Position, terms: np.ndarray) -> None:
        nonlocal lines
        lines += 1
        if lines > MOST_LINES:
            raise TooManyError
        value = float((terms + at_the_end(position.state, here.state, cards, position.active)) @ weights)
        end = final_position(here)
        found[end] = max(value, found.get(end, -np.inf))
        if here.outcome != Outcome.ONGOING:
            return
        for action in here.legal_actions():
            if action.kind == ActionKind.END_TURN:
                continue
            after, gained = here.copy(), terms.copy()
            begin_hypothetical(events[0])
            apply(after.state, cards, action.code, events[0])
            add_action(here.state, after.state, cards, action.code, events[0], gained)
            walk(after, gained)

    walk(position, np.zeros(N_TERMS))
    return found


@pytest.mark.skipif(REDUCED, reason="every line is walked in Python")
def test_ties_and_gap_are_those_of_all_ends_of_the_turn() -> None:
    turns = within_reach(reached(("thesis-paladin", "thesis-warrior"), cases(80, 400)), 15, seed=3)
    compared, with_ties = 0, 0
    for number in range(len(turns.states)):
        position, weights = turns.position(number), turns.weights[number]
        try:
            ends = all_ends(position, weights)
        except TooManyError:
            continue
        proof = prove_turn(Turn(position), Weights.from_array(weights), n_ends=200)
        values = sorted(ends.values(), reverse=True)
        tolerance = 1e-9 * max(1.0, abs(values[0]))
        ties = [value for value in values if value >= values[0] - tolerance]
        assert proof.proven
        assert proof.ends_known
        assert not proof.more_ties
        assert proof.plan.objective == pytest.approx(values[0]), str(position)
        assert len(proof.ties) == len(ties), str(position)
        if len(ties) == len(values):
            assert proof.gap is None
        else:
            assert proof.gap == pytest.approx(values[0] - values[len(ties)]), str(position)
        compared += 1
        with_ties += len(ties) > 1
        if compared == cases(15, 120):
            break
    assert compared >= 15
    assert with_ties >= 1


@pytest.mark.parametrize("decks", [CLASS_DECKS, LIVELY_DECKS])
def test_the_best_end_has_the_value_of_the_plan(decks: tuple[str, ...]) -> None:
    turns = reached(decks, 2 if REDUCED else cases(60, 600), seed=11)
    known = 0
    for number in range(len(turns.states)):
        proof = prove_turn(
            Turn(turns.position(number)), Weights.from_array(turns.weights[number]), 300 if REDUCED else 3_000
        )
        if proof.ends_known:
            known += 1
            assert proof.ties[0].value == pytest.approx(proof.plan.objective), str(turns.position(number))
            assert proof.gap is None or proof.gap > 0
    assert REDUCED or known > len(turns.states) // 2


def test_every_tie_is_a_line_to_an_end_of_its_own() -> None:
    position = parse_position("hero 20 board [3/2 ready; 5/5 ready] | hero 15 board [2/3; 2/3; 1/1]")
    proof = prove_turn(Turn(position), BALANCED)
    ends = set()
    for tie in (*proof.ties, proof.next_best):
        assert tie is not None
        here = position.copy()
        for action in tie.actions:
            here.play(action)
        ends.add(final_position(here))
    assert len(ends) == len(proof.ties) + 1 == 6
    assert proof.gap == 10.0
    few = prove_turn(Turn(position), BALANCED, n_ends=2)
    assert len(few.ties) == 2
    assert few.more_ties
    assert few.gap is None


def test_a_limit_leaves_ends_unknown_and_the_bound_tells_what_is_missing() -> None:
    board = "; ".join(f"{n}/{n} ready" for n in range(1, 8))
    walls = "; ".join(f"1/{n}T" for n in range(3, 10))
    turn = Turn(parse_position(f"hero 20 board [{board}] | hero 30 board [{walls}]"))
    proof = prove_turn(turn, BALANCED, limit=20)
    assert proof.plan.status == Status.FEASIBLE
    assert not proof.ends_known
    assert (proof.ties, proof.gap) == ((), None)
    best = solve(turn, BALANCED, "exact").objective
    assert proof.bound_gap is not None
    assert proof.plan.objective <= best <= proof.plan.objective + proof.bound_gap + 1e-9
    unbounded = replace(proof, plan=replace(proof.plan, bound=None))
    assert unbounded.bound_gap is None
    small = prove_turn(Turn(parse_position("hero 20 | hero 30")), BALANCED)
    assert (small.proven, small.bound_gap, small.gap) == (True, 0.0, None)
