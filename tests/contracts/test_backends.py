"""The contract of every backend: plans, determinism, the thesis's program."""

import ast
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from engine import MinionSpec
from ilp_agent import (
    HERO,
    WEIGHT_NAMES,
    Attack,
    Play,
    PlayCoin,
    Status,
    TurnProblem,
    Weights,
    solve,
)
from ilp_agent.backends import installed_backends
from ilp_agent.replay import replay
from tests.backends import backends
from tests.conftest import UNCOMPILED, cases, heavy
from tests.ilp_agent.positions import random_position

ALL = Weights(lethal=20, clear=1, face=1, threat=1, survive=1, damage=1, trade=0.5, play=1)
M = MinionSpec


def only(**weights: float) -> Weights:
    return Weights(**(dict.fromkeys(WEIGHT_NAMES, 0.0) | weights))


def attacks(plan) -> set[tuple[int, int]]:
    return set(attacks_in_order(plan))


@pytest.fixture(params=backends())
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
    assert plan.terms == pytest.approx(terms_by_hand(problem, weights, plan), abs=1e-9)
    return plan


def terms_by_hand(problem: TurnProblem, weights: Weights, plan) -> list[float]:
    """The thesis's terms, from the plan's actions and from what they come to in the engine."""
    friends, m = (*problem.friendly, *problem.hand), len(problem.friendly)
    played = [action.hand for action in plan.actions if isinstance(action, Play)]
    here = {*range(m), *(m + hand for hand in played)}
    hits = [(friend, target) for friend, target in attacks_in_order(plan) if target != HERO]
    counts = (
        plan.lethal,
        plan.cleared,
        plan.damage,
        -sum(enemy.attack for j, enemy in enumerate(problem.enemy) if j not in plan.killed),
        sum(friends[i].health for i in here - set(plan.lost)),
        sum(friends[friend].attack for friend, _ in hits),
        -sum(problem.enemy[target].attack for _, target in hits),
        sum(problem.hand[hand].worth for hand in played),
    )
    return [getattr(weights, name) * count for name, count in zip(WEIGHT_NAMES, counts, strict=True)]


def attacks_in_order(plan) -> list[tuple[int, int]]:
    return [(action.attacker, action.target) for action in plan.actions if isinstance(action, Attack)]


# The cases of the formulation


def test_windfury_attacks_that_want_opposite_orders(backend: str) -> None:
    """Unordered, killing all three enemies would cost less; no order of the attacks does it."""
    shield = {"divine_shield": True}
    plan = plan_for(
        backend,
        only(threat=10, survive=2.09306662484141),
        friendly=[M(2, 3, windfury=True, **shield), M(1, 3, windfury=True), M(2, 3, windfury=True, **shield)],
        enemy=[M(2, 2, **shield), M(2, 5, **shield), M(4, 4, **shield)],
    )
    assert plan.objective == pytest.approx(-20 + 6 * 2.09306662484141, abs=1e-9)


def test_stopping_early_may_be_best_where_attacks_contradict_each_other(backend: str) -> None:
    """The best plan ends with attacks left, at a point whose bound belongs to attacks without an order."""
    plan = plan_for(
        backend,
        only(clear=4.39, survive=0.53, damage=0.86, trade=0.337),
        friendly=[
            M(3, 4, windfury=True, divine_shield=True),
            M(1, 2, windfury=True),
            M(3, 3, windfury=True, divine_shield=True),
            M(16, 200, windfury=True),
            M(1, 2),
        ],
        enemy=[M(1, 3, divine_shield=True), M(4, 5, divine_shield=True), M(29, 33, taunt=True)],
    )
    assert plan.objective == pytest.approx(119.804, abs=1e-9)


@pytest.mark.skipif(UNCOMPILED, reason="too slow without the compiler")
@pytest.mark.parametrize("others", [2, 4])
def test_harmless_attacks_beside_a_contradiction_cost_no_time(backend: str, others: int) -> None:
    """Four more attackers on the hero: without memoisation every interleaving would be tried."""
    shield = {"divine_shield": True}
    trio = (M(2, 3, windfury=True, **shield), M(1, 3, windfury=True), M(2, 3, windfury=True, **shield))
    enemies = (M(2, 2, **shield), M(2, 5, **shield), M(4, 4, **shield))
    friends = (*trio, *[M(1, 1, windfury=True)] * others)
    problem = TurnProblem(friends, (), enemies, 0, 30, no_hero=frozenset({0, 1, 2}))
    plan = solve(problem, only(threat=10, survive=2.09306662484141, face=50), backend)
    if plan.status == Status.FEASIBLE and backend == "search":
        pytest.skip("more positions than the search looks at")
    assert plan.status == Status.OPTIMAL
    assert plan.damage == 2 * others
    assert plan.objective == pytest.approx(-20 + (6 + others) * 2.09306662484141 + 100 * others, abs=1e-9)


@pytest.mark.skipif(UNCOMPILED, reason="too slow without the compiler")
def test_seven_windfury_attackers(backend: str) -> None:
    if backend == "search":
        pytest.skip("more positions than the search looks at")
    plan = plan_for(
        backend,
        only(threat=1, survive=0.1, face=0.01),
        friendly=[M(1 + i % 3, 2 + i, windfury=True) for i in range(7)],
        enemy=[M(1, 9, taunt=True), M(3, 4), M(5, 6)],
    )
    assert len(plan.killed) == 3


def test_two_taunts_both_die_before_the_hero_is_hit(backend: str) -> None:
    friendly = [M(2, 3), M(2, 3), M(4, 4)]
    plan = plan_for(backend, friendly=friendly, enemy=[M(0, 2, taunt=True), M(0, 2, taunt=True)])
    assert plan.killed == (0, 1)
    assert [action.target for action in plan.actions][-1] == HERO
    # Two living Taunts are no contradiction: with one attacker, the other still guards.
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


def test_threads_get_the_plans_of_one_thread(backend: str) -> None:
    pick = np.random.default_rng(3)
    problems = [TurnProblem.from_position(random_position(pick, 3, 3, 3, 0.2, 8)) for _ in range(10)]
    alone = [solve(problem, ALL, backend) for problem in problems]
    with ThreadPoolExecutor(4) as pool:
        for plans in pool.map(lambda _: [solve(problem, ALL, backend) for problem in problems], range(4)):
            assert plans == alone


@pytest.fixture(scope="module")
def told_elsewhere() -> dict[str, str]:
    """The answers of another process, with other string hashes, to `questions` by backend."""
    code = "from tests.contracts.test_backends import answers; print(repr(answers()))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONHASHSEED": "7"},
        cwd=Path(__file__).parents[2],
        check=True,
    )
    return ast.literal_eval(done.stdout)


def answers() -> dict[str, str]:
    """Plans of a few turns by every installed backend, as texts."""
    pick = np.random.default_rng(4)
    problems = [TurnProblem.from_position(random_position(pick, 4, 4, 4, 0.2, 6)) for _ in range(5)]
    return {
        entry.name: repr([solve(problem, ALL, entry.name) for problem in problems])
        for entry in installed_backends()
    }


def test_another_process_gets_the_same_plans(backend: str, told_elsewhere: dict[str, str]) -> None:
    assert told_elsewhere[backend] == answers()[backend]


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


def has_tolerance(backend: str) -> bool:
    """Whether a backend is a solver of integer programs, which work to tolerances."""
    return backend in ("gurobi", "highs", "scip")


@pytest.mark.parametrize("span", [1e7, 1e10, *heavy(1e9, 1e14)])
def test_no_plan_is_called_the_best_where_there_is_a_better_one(backend: str, span: float) -> None:
    """Solvers lose weights that are small beside the largest one; then they say FEASIBLE."""
    names, proven = WEIGHT_NAMES, 0
    for seed in range(cases(20, 200)):
        pick = np.random.default_rng([90, seed])
        m, h, e = (int(pick.integers(low, 4)) for low in (1, 0, 1))
        problem = TurnProblem.from_position(random_position(pick, m, h, e, 0.25, 5, 25))
        weights = Weights(**dict(zip(names, span ** pick.random(len(names)), strict=True)))
        best, plan = solve(problem, weights, "exact").objective, solve(problem, weights, backend)
        is_told = weights.array.max() <= 1e8 * weights.array[weights.array > 0].min()
        assert plan.status == (Status.OPTIMAL if is_told or not has_tolerance(backend) else Status.FEASIBLE)
        if plan.status == Status.OPTIMAL:
            proven += 1
            assert plan.objective == pytest.approx(best, rel=1e-15, abs=1e-3)  # of weights >= 1
    assert proven or span > 1e8


def test_a_weight_that_a_solver_does_not_see(backend: str) -> None:
    problem = TurnProblem.build(hand=[M(1, 1, cost=1, value=1)], mana=1, enemy_hero=30)
    plan = solve(problem, only(lethal=1e10, play=1), backend)
    assert (plan.objective, plan.status) == (1, Status.OPTIMAL) or plan.status == Status.FEASIBLE


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


# The thesis formulation


@pytest.mark.parametrize("name", backends("thesis"))
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


@pytest.mark.parametrize("name", backends("thesis"))
def test_thesis_with_two_living_taunts_is_feasible(name: str) -> None:
    problem = TurnProblem.build(friendly=[M(1, 3)], enemy=[M(1, 5, taunt=True)] * 2, mana=0, enemy_hero=30)
    plan = solve(problem, ALL, name, "thesis")
    assert plan.status == Status.OPTIMAL
    assert plan.playable
    assert (0, HERO) not in attacks(plan)


@pytest.mark.parametrize("solver", backends("thesis"))
def test_thesis_predictions_follow_from_its_attacks(solver: str) -> None:
    """Variables of weight 0 are free in the program; a plan's predictions come only from attacks and plays."""
    dies = TurnProblem.build(friendly=[M(3, 3)], enemy=[M(0, 2), M(5, 9)], mana=0, enemy_hero=30)
    weights = Weights(lethal=1, clear=1, face=1, threat=1, survive=1, damage=2, trade=1, play=1)
    plan = solve(dies, weights, solver, "thesis")
    assert attacks(plan) == {(0, 0)}
    assert plan.killed == (0,)
    empty = solve(
        TurnProblem.build(friendly=[M(3, 3)], mana=0, enemy_hero=30), only(face=1), solver, "thesis"
    )
    assert (empty.lost, empty.cleared, empty.lethal) == ((), True, False)
    kill = solve(TurnProblem.build(friendly=[M(3, 3)], mana=0, enemy_hero=3), only(face=1), solver, "thesis")
    assert kill.lethal
    # A full board: the program makes room by declaring a living minion dead, the weakest.
    full = TurnProblem.build(
        friendly=[M(1, 5, attacks_left=0)] * 6 + [M(1, 2, attacks_left=0)],
        hand=[M(4, 4, cost=1)],
        mana=1,
        enemy_hero=30,
    )
    plan = solve(full, only(survive=1, play=1), solver, "thesis")
    assert (plan.lost, plan.playable) == ((6,), False)
