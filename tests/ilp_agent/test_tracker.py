"""From a plan's steps to the engine's actions: compiled and in Python the same, and what is not there is refused."""

from dataclasses import replace

import numpy as np
import pytest

from engine import HERO, IllegalActionError, MinionSpec, parse_position
from engine.codes import ActionKind
from engine.state import EVENTS
from ilp_agent import (
    Attack,
    Play,
    PlayCoin,
    ProblemError,
    SolverError,
    Turn,
    TurnProblem,
    Weights,
    explain,
    solve,
)
from ilp_agent.exact.backend import ExactSolver, memory_of_thread
from ilp_agent.exact.kernel import solve_exact_turn_arrays
from ilp_agent.exact.plan_record import apply_step, problem_plan_from_record
from ilp_agent.plan import Status
from ilp_agent.replay import (
    new_tracker,
    play_plan_action,
    position_from_problem,
    replay,
    to_problem_plan,
    turn_from_problem,
)
from ilp_agent.turn import Exclusion
from ilp_agent.weights import N_WEIGHTS
from tests.conftest import UNCOMPILED, cases
from tests.ilp_agent.positions import random_position, random_weights

PROBLEMS = 20 if UNCOMPILED else cases(200, 400)


def test_compiled_steps_and_replayed_actions_lead_to_the_same_position() -> None:
    memory = memory_of_thread()
    steps = deaths = 0
    for number in range(PROBLEMS):
        pick = np.random.default_rng([3, number])
        sizes = (3, 2, 3) if UNCOMPILED else (6, 5, 5)
        problem = TurnProblem.from_position(random_position(pick, *sizes, chance=0.3, strength=4))
        memory.turns[0] = problem.record
        solve_exact_turn_arrays(memory.turns, random_weights(pick), memory.works, memory.layers, memory.plans)
        plan = problem_plan_from_record(problem, memory.plans[0], Status.OPTIMAL, Weights(*[1.0] * N_WEIGHTS))
        position, tracker, played = (
            position_from_problem(problem),
            new_tracker(problem),
            position_from_problem(problem),
        )
        replayed, events = new_tracker(problem), np.zeros(1, EVENTS)[0]
        for step, action in enumerate(plan.actions):
            code = apply_step(position.state, position.table.array, memory.plans[0], step, tracker, events)
            assert play_plan_action(played, replayed, action).code == code
            assert played.state == position.state
            assert replayed == tracker
        assert replay(problem, plan.actions).state == position.state
        steps += len(plan.actions)
        deaths += len(plan.killed) + len(plan.lost)
    assert steps > 2 * PROBLEMS
    assert deaths > PROBLEMS / 2


def test_a_plan_predicts_what_the_engine_says_also_where_attacks_are_left_out() -> None:
    """The record's predictions beside those of the engine, and a problem beside the turn made from it."""
    solver, left_out = ExactSolver(), 0
    for number in range(PROBLEMS):
        pick = np.random.default_rng([4, number])
        sizes = (3, 2, 3) if UNCOMPILED else (6, 5, 5)
        problem = TurnProblem.from_position(random_position(pick, *sizes, chance=0.3, strength=4))
        friends, enemies = len(problem.friendly) + len(problem.hand), len(problem.enemy)
        pairs = {(int(pick.integers(friends)), int(pick.integers(enemies))) for _ in range(4)}
        no_hero = problem.no_hero | {int(pick.integers(friends))}
        problem = replace(problem, barred=frozenset(pairs), no_hero=no_hero)
        turn, weights = turn_from_problem(problem), Weights(*random_weights(pick)[:N_WEIGHTS])
        assert TurnProblem.from_turn(turn).record == problem.record
        plan = to_problem_plan(problem, turn, solver.solve(turn, weights))
        record = memory_of_thread().plans[0]
        assert plan == problem_plan_from_record(problem, record, plan.status, weights)
        used = {tuple(action) for action in plan.actions if isinstance(action, Attack)}
        assert not used & (pairs | {(friend, HERO) for friend in no_hero})
        free = to_problem_plan(problem, turn, solver.solve(replace(turn, barred=()), weights))
        assert free.objective >= plan.objective - 1e-9
        left_out += free.objective > plan.objective + 1e-9
    assert left_out > PROBLEMS / 20


def test_a_turn_of_bodies_leaves_out_attacks_alone() -> None:
    turn = turn_from_problem(PROBLEM)
    card = turn.without(turn.position.legal_actions()[0])
    assert card.barred[-1].kind == ActionKind.PLAY
    weights = Weights(*[1.0] * N_WEIGHTS)
    with pytest.raises(
        ProblemError, match="only attacks can be excluded .* not .minion d.*use backend .search. or .auto."
    ):
        solve(card, weights, "exact")
    for backend in ("auto", "search"):
        plan = solve(card, weights, backend)
        assert plan.objective < solve(turn, weights, backend).objective
        assert turn.position.legal_actions()[0] not in plan.actions[:1]
    with pytest.raises(ProblemError, match="program=True does not support card effects"):
        Turn(parse_position("turn 5 | hero 20 mana 4/5 hand [Fireball*] | hero 20"), program=True)
    gone = replace(turn, barred=(Exclusion(ActionKind.ATTACK, 1, 999),))  # nobody is of that birth
    assert solve(gone, weights, "exact") == solve(turn, weights, "exact")
    with pytest.raises(SolverError, match="at most 64 actions, got 77"):
        solve(replace(turn, barred=gone.barred * 77), weights, "search")


@pytest.mark.parametrize(
    "text",
    [
        "turn 5 | hero 20 mana 5/5 hand [1:1/1C; 2:3/3] board [0/5; 0/5; 0/5; 0/5; 0/5; 0/5] "
        "| hero 20 board [9/1T]",
        "turn 5 | hero 20 mana 0/5 board [5/5 ready; 3/3 ready] | hero 5 board [1/1LT]",
    ],
)
def test_auto_takes_a_turn_of_the_game_as_the_game_has_it(text: str) -> None:
    """Places that free themselves, and Lifesteal of enemies, which the program for bodies does not see."""
    weights = Weights(lethal=20, clear=1, face=1, threat=1, survive=1, damage=1, trade=0.5, play=1)
    turn = Turn(parse_position(text))
    assert solve(turn, weights, "auto").objective == solve(turn, weights, "search").objective
    assert solve(turn, weights, "exact").objective != solve(turn, weights, "search").objective
    explained = explain(turn, weights)
    assert explained.plan.objective >= explained.alternative.objective


PROBLEM = TurnProblem.build(
    friendly=[MinionSpec(1, 1), MinionSpec(3, 3), MinionSpec(2, 2)],
    hand=[MinionSpec(2, 1, 1, charge=True), MinionSpec(1, 1, 9)],
    enemy=[MinionSpec(1, 1), MinionSpec(1, 4)],
    mana=1,
    enemy_hero=30,
    coin=True,
)


def test_places_follow_deaths_and_plays() -> None:
    position, tracker = position_from_problem(PROBLEM), new_tracker(PROBLEM)
    actions = [Attack(0, 0), Play(0), Attack(1, 1), Attack(3, 1), PlayCoin(), Attack(2, HERO)]
    played = [str(play_plan_action(position, tracker, action)) for action in actions]
    # The first attack leaves places 0 to the others; the charging card comes to the right of them.
    assert played == [
        "attack 0 -> 0",
        "play 0",
        "attack 0 -> 0",
        "attack 2 -> 0",
        "play 1",
        "attack 1 -> hero",
    ]


@pytest.mark.parametrize(
    ("before", "action"),
    [
        ([Attack(0, 0)], Attack(0, HERO)),  # the attacker died
        ([Attack(0, 0)], Attack(1, 0)),  # the target died
        ([], Attack(3, HERO)),  # still in hand
        ([Play(0)], Play(0)),  # played already
        ([PlayCoin()], PlayCoin()),
        ([], Play(1)),  # too dear
    ],
)
def test_what_cannot_be_done_is_refused_and_changes_nothing(before: list, action: object) -> None:
    position, tracker = position_from_problem(PROBLEM), new_tracker(PROBLEM)
    for one in before:
        play_plan_action(position, tracker, one)
    state, places = position.state.tobytes(), tracker.tobytes()
    with pytest.raises(IllegalActionError):
        play_plan_action(position, tracker, action)
    assert (position.state.tobytes(), tracker.tobytes()) == (state, places)
    assert str(play_plan_action(position, tracker, Attack(2, HERO))).endswith("-> hero")
