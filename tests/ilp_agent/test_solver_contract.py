"""What every backend must do, whichever it is: parametrised over all of them. A fourth is one more name."""

import dataclasses
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from engine import CardError, MinionSpec, UnknownNameError, parse_position
from ilp_agent import (
    BACKENDS,
    HERO,
    WEIGHT_NAMES,
    Attack,
    IlpAgent,
    Play,
    PlayCoin,
    ProblemError,
    SolverError,
    Status,
    TurnProblem,
    WeightError,
    Weights,
    find_solver,
    solve,
)
from ilp_agent.replay import replay
from tests.ilp_agent.positions import random_position

ALL = Weights(lethal=20, clear=1, face=1, threat=1, survive=1, damage=1, trade=0.5, play=1)
M = MinionSpec


def only(**weights: float) -> Weights:
    return Weights(**(dict.fromkeys(WEIGHT_NAMES, 0.0) | weights))


def attacks(plan) -> set[tuple[int, int]]:
    return {(action.attacker, action.target) for action in plan.actions if isinstance(action, Attack)}


@pytest.fixture(params=sorted(BACKENDS))
def backend(request: pytest.FixtureRequest) -> str:
    return request.param


def plan_for(backend: str, weights: Weights = ALL, **arguments: object):
    """Solve, and check the plan against the engine before any case looks at it."""
    problem = TurnProblem.build(**({"mana": 0, "enemy_hero": 30} | arguments))
    plan = solve(problem, weights, backend)
    assert plan.status == Status.OPTIMAL
    assert sum(plan.terms) == pytest.approx(plan.objective, abs=1e-9)
    own, enemy = replay(problem, plan.actions).state["sides"]
    assert plan.lethal == (enemy["health"] <= 0)
    assert plan.cleared == (enemy["n_board"] == 0)
    assert len(plan.killed) == len(problem.enemy) - enemy["n_board"]
    assert problem.enemy_hero - enemy["health"] - enemy["armour"] == plan.damage
    assert own["mana"] == plan.mana
    return plan


# The cases of the formulation


def test_two_taunts_both_die_before_the_hero_is_hit(backend: str) -> None:
    friendly = [M(2, 3), M(2, 3), M(4, 4)]
    plan = plan_for(backend, friendly=friendly, enemy=[M(0, 2, taunt=True), M(0, 2, taunt=True)])
    assert plan.killed == (0, 1)
    assert [action.target for action in plan.actions][-1] == HERO
    # Two living Taunts are no contradiction: with one attacker the other guards on.
    assert attacks(plan_for(backend, friendly=[M(1, 3)], enemy=[M(0, 2, taunt=True)] * 2)) <= {(0, 0), (0, 1)}


def test_taunt_behind_stealth_does_not_guard(backend: str) -> None:
    plan = plan_for(backend, only(face=1), friendly=[M(3, 3)], enemy=[M(2, 2, taunt=True, stealth=True)])
    assert attacks(plan) == {(0, HERO)}


def test_divine_shield_saves_an_attacker_once(backend: str) -> None:
    plan = plan_for(backend, friendly=[M(3, 1, divine_shield=True)], enemy=[M(9, 3)])
    assert attacks(plan) == {(0, 0)}
    assert plan.lost == ()
    assert plan.terms.survive == 1


def test_divine_shield_of_an_enemy_takes_one_hit(backend: str) -> None:
    enemy = [M(5, 4, divine_shield=True)]
    assert plan_for(backend, only(threat=1), friendly=[M(9, 9)], enemy=enemy).killed == ()
    plan = plan_for(backend, only(threat=1, trade=0.1), friendly=[M(4, 9), M(1, 9)], enemy=enemy)
    assert plan.killed == (0,)
    assert plan.actions[0] == Attack(1, 0), "the weak one pops the shield"


def test_windfury_on_one_target_and_on_two(backend: str) -> None:
    friend = M(3, 9, windfury=True)
    one = plan_for(backend, only(threat=1, face=0.1), friendly=[friend], enemy=[M(2, 6)])
    assert one.actions == (Attack(0, 0), Attack(0, 0))
    two = plan_for(backend, only(threat=1, face=0.1), friendly=[friend], enemy=[M(2, 3), M(1, 3)])
    assert attacks(two) == {(0, 0), (0, 1)}


def test_windfury_dead_after_the_first_makes_no_second(backend: str) -> None:
    friend = M(3, 2, windfury=True)
    plan = plan_for(backend, only(threat=1), friendly=[friend], enemy=[M(5, 3), M(5, 3)])
    assert len(plan.killed) == 1
    order = plan_for(backend, only(threat=1), friendly=[friend], enemy=[M(5, 3), M(1, 3)])
    assert order.actions == (Attack(0, 1), Attack(0, 0)), "the harmless one first"


def test_poisonous_kills_what_it_damages_either_way_round(backend: str) -> None:
    plan = plan_for(backend, only(threat=1), friendly=[M(1, 1, poisonous=True)], enemy=[M(3, 20)])
    assert plan.killed == (0,)
    bitten = plan_for(backend, only(threat=1), friendly=[M(3, 20)], enemy=[M(1, 3, poisonous=True)])
    assert bitten.lost == (0,)
    harmless = plan_for(backend, only(damage=1), friendly=[M(3, 20)], enemy=[M(0, 3, poisonous=True)])
    assert harmless.lost == ()


def test_overkill_is_refused(backend: str) -> None:
    """Damage counts, so all three would hit the minion; the second already kills it."""
    plan = plan_for(backend, only(damage=1), friendly=[M(3, 3)] * 3, enemy=[M(0, 4)])
    assert len([action for action in plan.actions if action.target == 0]) == 2


def test_exact_lethal(backend: str) -> None:
    plan = plan_for(backend, only(lethal=1), friendly=[M(2, 1), M(3, 1)], enemy_hero=5)
    assert plan.lethal
    assert plan.objective == 1
    assert not plan_for(backend, only(lethal=1), friendly=[M(2, 1), M(3, 1)], enemy_hero=6).lethal


def test_lethal_through_taunt(backend: str) -> None:
    plan = plan_for(backend, friendly=[M(2, 1), M(5, 5)], enemy=[M(1, 2, taunt=True), M(9, 9)], enemy_hero=5)
    assert plan.lethal
    assert plan.actions == (Attack(0, 0), Attack(1, HERO))


def test_a_full_board_with_a_dying_attacker_makes_room(backend: str) -> None:
    friendly = [M(1, 1), *[M(0, 1)] * 6]
    arguments = {"friendly": friendly, "hand": [M(8, 8, cost=1)], "enemy": [M(9, 9)], "mana": 1}
    plan = plan_for(backend, only(play=1, survive=0.01), **arguments)
    assert plan.actions == (Attack(0, 0), Play(0)), "it dies on purpose, then the card is played"
    assert plan.lost == (0,)
    # Without an attack that really kills it there is no room.
    assert plan_for(backend, only(play=1), **(arguments | {"enemy": [M(0, 9)]})).actions in (
        (),
        (Attack(0, 0),),
        (Attack(0, HERO),),
    )


def test_the_last_blow_by_windfury(backend: str) -> None:
    """4 + 4 on a hero of 8 and a kill on the way: the last blow is its second attack."""
    friend = M(4, 9, windfury=True)
    plan = plan_for(backend, only(lethal=1, face=0.1), friendly=[friend], enemy_hero=8)
    assert plan.actions == (Attack(0, HERO), Attack(0, HERO))
    both = plan_for(backend, only(lethal=1, threat=0.5), friendly=[friend], enemy=[M(1, 4)], enemy_hero=4)
    assert both.actions == (Attack(0, 0), Attack(0, HERO))
    assert both.lethal


def test_rush_cannot_hit_the_hero(backend: str) -> None:
    rush = {"hand": [M(3, 3, rush=True)], "mana": 0}
    assert attacks(plan_for(backend, only(face=1, play=1), **rush)) == set()
    assert attacks(plan_for(backend, only(face=1, damage=1), enemy=[M(1, 1)], **rush)) == {(0, 0)}
    charge = {"hand": [M(3, 3, charge=True)], "mana": 0}
    assert attacks(plan_for(backend, only(face=1), **charge)) == {(0, HERO)}


def test_empty_hand_empty_board_and_nothing_at_all(backend: str) -> None:
    nothing = plan_for(backend)
    assert nothing.actions == ()
    assert nothing.cleared
    assert nothing.terms.clear == 1
    assert plan_for(backend, hand=[M(2, 2, cost=2)], mana=2).actions == (Play(0),)
    assert attacks(plan_for(backend, friendly=[M(2, 2)])) == {(0, HERO)}
    assert plan_for(backend, friendly=[M(2, 2, attacks_left=0)], enemy=[M(1, 1)]).actions == ()


def test_zero_weights(backend: str) -> None:
    plan = plan_for(backend, only(), friendly=[M(2, 2)], hand=[M(1, 1, cost=1)], enemy=[M(1, 3)], mana=1)
    assert plan.objective == 0
    assert all(term == 0 for term in plan.terms)


def test_the_coin_needed_and_not_needed(backend: str) -> None:
    hand = [M(3, 3, cost=3)]
    needed = plan_for(backend, hand=hand, mana=2, coin=True)
    assert needed.actions == (PlayCoin(), Play(0))
    assert needed.mana == 0
    kept = plan_for(backend, hand=hand, mana=3, coin=True)
    assert kept.actions == (Play(0),)
    assert plan_for(backend, hand=[M(3, 3, cost=4)], mana=2, coin=True).actions == ()


def test_the_coin_at_ten_mana_follows_the_first_paid_card(backend: str) -> None:
    plan = plan_for(backend, hand=[M(1, 1), M(9, 9, cost=9), M(2, 2, cost=2)], mana=10, coin=True)
    assert plan.mana == 0
    steps = [type(action).__name__ for action in plan.actions]
    assert steps.count("PlayCoin") == 1
    before = plan.actions[: steps.index("PlayCoin")]
    assert any(action.hand != 0 for action in before), "something was paid for first"


def test_value_overrides_the_cost(backend: str) -> None:
    hand = [M(1, 1, cost=2, value=9.0), M(1, 1, cost=2)]
    assert plan_for(backend, only(play=1), hand=hand, mana=2).actions == (Play(0),)


# Determinism, terms, errors


def test_the_same_answer_again_and_in_any_order(backend: str) -> None:
    problems = [
        TurnProblem.build(friendly=[M(n, 3), M(2, n)], enemy=[M(2, n + 1), M(n, 2)], mana=n, enemy_hero=9)
        for n in range(1, 6)
    ]
    forward = [solve(problem, ALL, backend) for problem in problems]
    backward = [solve(problem, ALL, backend) for problem in reversed(problems)]
    assert forward == backward[::-1]


def test_threads_do_not_share_memory() -> None:
    """Kernels release the GIL: two threads with one workspace would spoil each other's plans."""
    solver = find_solver("exact")
    pick = np.random.default_rng(3)
    problems = [TurnProblem.from_position(random_position(pick, 6, 6, 6, 0.2, 8)) for _ in range(40)]
    alone = [solve(problem, ALL) for problem in problems]
    spaces = []

    def run(_: int) -> list:
        plans = [solve(problem, ALL) for problem in problems]
        spaces.append((solver._local.work, solver._local.layers))
        return plans

    with ThreadPoolExecutor(4) as pool:
        assert all(plans == alone for plans in pool.map(run, range(4)))
    mine = solver._local.work, solver._local.layers
    assert not any(
        np.shares_memory(one, other) for space in spaces for one, other in zip(space, mine, strict=True)
    )


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e6, 1e20, 1e90])
def test_only_proportions_of_weights_matter(backend: str, size: float) -> None:
    pick = np.random.default_rng(8)
    for _ in range(5):
        problem = TurnProblem.from_position(random_position(pick, 4, 4, 4, 0.2, 6))
        one, other = (
            solve(problem, ALL, backend),
            solve(problem, Weights.from_array(ALL.array * size), backend),
        )
        assert other.objective == pytest.approx(one.objective * size, rel=1e-9)


def test_what_is_barred_counts_for_one_of_two_like_cards(backend: str) -> None:
    hand = (M(3, 3, cost=1, charge=True),) * 2
    barred = TurnProblem((), hand, (M(5, 3),), 1, 30, barred=frozenset({(0, 0)}))
    assert solve(barred, only(threat=1), backend).objective == 0
    grounded = TurnProblem((), hand, (), 1, 30, no_hero=frozenset({0}))
    assert solve(grounded, only(face=1), backend).objective == 3


def test_scaling_all_weights_scales_the_objective(backend: str) -> None:
    arguments = {
        "friendly": [M(3, 2), M(2, 4)],
        "enemy": [M(2, 3), M(4, 1)],
        "hand": [M(2, 2, cost=1)],
        "mana": 1,
    }
    one = plan_for(backend, ALL, **arguments)
    ten = plan_for(backend, Weights.from_array(ALL.array * 10), **arguments)
    assert ten.objective == pytest.approx(10 * one.objective)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"mana": -1}, ProblemError, "mana must be an integer from 0 to 10, got -1"),
        ({"mana": 11}, ProblemError, "mana must be"),
        ({"mana": 2.0}, ProblemError, "mana must be"),
        ({"mana": True}, ProblemError, "mana must be"),
        ({"enemy_hero": 0}, ProblemError, "enemy_hero must be an integer from 1 to 1029, got 0"),
        ({"enemy_hero": float("nan")}, ProblemError, "enemy_hero must be"),
        ({"coin": 1}, ProblemError, "coin must be True or False"),
        ({"friendly": [M(1, 1)] * 8}, ProblemError, "friendly must have at most 7 minions, got 8"),
        ({"enemy": [M(1, 1)] * 8}, ProblemError, "enemy must have at most 7 minions, got 8"),
        ({"hand": [M(1, 1)] * 11}, ProblemError, "hand must have at most 10 minions, got 11"),
        ({"hand": [M(1, 1)] * 10, "coin": True}, ProblemError, "at most 9 minions beside The Coin, got 10"),
        ({"friendly": [3]}, ProblemError, r"friendly\[0\] must be a MinionSpec, got 3"),
        ({"hand": 3}, ProblemError, "hand must be a list of MinionSpec, got 3"),
    ],
)
def test_bad_problems_are_refused_by_name(arguments: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        TurnProblem.build(**({"mana": 1, "enemy_hero": 30} | arguments))


def test_indices_of_what_is_barred_are_checked() -> None:
    with pytest.raises(ProblemError, match="no_hero must hold indices of friends"):
        TurnProblem((), (), (), 1, 30, no_hero=frozenset({3}))
    with pytest.raises(ProblemError, match="barred must hold"):
        TurnProblem((M(1, 1),), (), (), 1, 30, barred=frozenset({(0, 40)}))


def test_positions_that_are_no_turn_are_refused() -> None:
    with pytest.raises(ProblemError, match="hand of the player to move has hidden cards"):
        TurnProblem.from_position(parse_position("hero 20 hand [?] | hero 12"))
    with pytest.raises(ProblemError, match="the game is over"):
        TurnProblem.from_position(parse_position("hero 20 | hero 0"))


def test_agents_are_checked_when_they_are_made() -> None:
    with pytest.raises(UnknownNameError, match="unknown formulation 'thess'"):
        IlpAgent(ALL, "exact", "thess")
    with pytest.raises(SolverError, match="does not solve 'thesis'"):
        IlpAgent(ALL, "exact", "thesis")
    with pytest.raises(WeightError, match="must be a Profile or Weights"):
        IlpAgent([1.0] * 8)


def test_build_takes_keywords_only_and_specs_refuse_negatives() -> None:
    with pytest.raises(TypeError):
        TurnProblem.build([], mana=1, enemy_hero=30)
    with pytest.raises(CardError, match="attack must be from 0 to 999, got -1"):
        M(-1, 1)


def test_solve_refuses_what_it_cannot_solve() -> None:
    problem = TurnProblem.build(mana=1, enemy_hero=30)
    with pytest.raises(UnknownNameError, match="unknown backend 'gorubi'; nearest: gurobi"):
        solve(problem, ALL, "gorubi")
    with pytest.raises(UnknownNameError, match="unknown backend"):
        solve(problem, ALL, ["exact"])
    with pytest.raises(UnknownNameError, match="unknown formulation 'theses'; nearest: thesis"):
        solve(problem, ALL, "exact", "theses")
    with pytest.raises(SolverError, match="'exact' does not solve 'thesis'; gurobi and highs do"):
        solve(problem, ALL, "exact", "thesis")
    with pytest.raises(WeightError, match="weights must be Weights"):
        solve(problem, [1.0] * 8)
    with pytest.raises(ProblemError, match="problem must be a TurnProblem"):
        solve("problem", ALL)
    with pytest.raises(WeightError, match="lethal must be a finite number"):
        dataclasses.replace(ALL, lethal=float("nan"))


@pytest.mark.parametrize("formulation", ["sequential", "thesis"])
def test_numpy_numbers_are_taken(formulation: str) -> None:
    problem = TurnProblem.build(friendly=np.array([M(3, 2)]), mana=np.int64(1), enemy_hero=np.int16(9))
    assert solve(problem, ALL, "highs", formulation).damage == 3


def test_a_missing_package_names_the_other_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    find_solver.cache_clear()
    monkeypatch.setitem(sys.modules, "ilp_agent.highs", None)
    with pytest.raises(SolverError, match="'highs' is not installed .*use exact or gurobi instead"):
        find_solver("highs")
    find_solver.cache_clear()


def test_a_licence_that_does_not_serve_names_the_other_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    import gurobipy

    from ilp_agent import gurobi
    from ilp_agent.milp import Milp

    def refuse(*_: object, **__: object) -> None:
        raise gurobipy.GurobiError(10009, "License expired")

    with monkeypatch.context() as patch:
        patch.setattr(gurobi.gurobipy, "Env", refuse)
        with pytest.raises(SolverError, match="cannot start: License expired; use exact or highs instead"):
            gurobi.GurobiSolver()
    # The wheel's licence takes 2,000 variables; one more is refused by Gurobi itself, at optimize().
    large = Milp()
    variables = [large.binary(f"b[{n}]", 1.0) for n in range(2_100)]
    large.add("some", [(variable, 1.0) for variable in variables], upper=5)
    solver = gurobi.GurobiSolver()
    monkeypatch.setattr(gurobi, "solve_milp", lambda problem, weights, formulation, run: run(large))
    with pytest.raises(SolverError, match="too large.*use exact or highs instead"):
        solver.solve(TurnProblem.build(mana=1, enemy_hero=9), ALL, "sequential")


# The thesis formulation


@pytest.mark.parametrize("name", ["gurobi", "highs"])
def test_thesis_plans_can_be_impossible_and_say_so(name: str) -> None:
    """It attacks what is already dead: damage counts for each hit, and nothing forbids the third."""
    problem = TurnProblem.build(friendly=[M(3, 3)] * 3, enemy=[M(0, 4)], mana=0, enemy_hero=30)
    plan = solve(problem, only(damage=1), name, "thesis")
    assert plan.objective == 9
    assert not plan.playable
    assert solve(problem, only(damage=1), name).objective == 6
    # Survivors are declared dead to make room for a play.
    full = TurnProblem.build(friendly=[M(0, 1)] * 7, hand=[M(5, 5, cost=1)], mana=1, enemy_hero=30)
    made_room = solve(full, only(play=1), name, "thesis")
    assert made_room.actions == (Play(0),)
    assert not made_room.playable


@pytest.mark.parametrize("name", ["gurobi", "highs"])
def test_thesis_with_two_living_taunts_is_feasible(name: str) -> None:
    problem = TurnProblem.build(friendly=[M(1, 3)], enemy=[M(1, 5, taunt=True)] * 2, mana=0, enemy_hero=30)
    plan = solve(problem, ALL, name, "thesis")
    assert plan.status == Status.OPTIMAL
    assert plan.playable
    assert (0, HERO) not in attacks(plan)


def test_exact_refuses_more_windfury_than_it_solves_in_seconds() -> None:
    problem = TurnProblem.build(
        friendly=[M(2, 9, windfury=True)] * 6, enemy=[M(1, 9)] * 3, mana=0, enemy_hero=30
    )
    with pytest.raises(SolverError, match="at most 5 Windfury attackers at once, got 6; use gurobi or highs"):
        solve(problem, ALL)
    assert solve(problem, ALL, "gurobi").status == Status.OPTIMAL
