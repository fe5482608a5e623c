"""Health left on the board (`body`, `wound`): cases by hand, and what solvers refuse."""

import pytest

from engine import MinionSpec
from ilp_agent import HERO, Attack, Plan, Play, SolverError, TurnProblem, Weights, solve
from ilp_agent.exact.backend import supports_weights
from ilp_agent.milp.program_solver import program_of
from ilp_agent.weights import EXTENDED_NAMES, N_WEIGHTS, WEIGHT_NAMES
from tests.backends import backends
from tests.ilp_agent.exact.health import PROGRAMS, comes_true

M = MinionSpec
SHIELD = {"divine_shield": True}


def only(**weights: float) -> Weights:
    return Weights(**(dict.fromkeys(WEIGHT_NAMES, 0.0) | weights))


def attacks(plan: Plan) -> list[tuple[int, int]]:
    """Those on minions, in their order."""
    return [
        (action.attacker, action.target)
        for action in plan.actions
        if isinstance(action, Attack) and action.target != HERO
    ]


# Cases by hand


@pytest.fixture(params=["exact", *PROGRAMS])
def backend(request: pytest.FixtureRequest) -> str:
    return request.param


def plan_for(backend: str, weights: Weights, **arguments: object) -> Plan:
    problem = TurnProblem.build(**({"mana": 0, "enemy_hero": 30} | arguments))
    plan = solve(problem, weights, backend)
    comes_true(problem, weights, plan)
    return plan


def test_a_death_costs_what_came_in_and_a_wound_its_damage(backend: str) -> None:
    arguments = {"friendly": [M(3, 4)], "enemy": [M(3, 5)]}
    assert attacks(plan_for(backend, only(body=1, damage=0.9), **arguments)) == []
    assert plan_for(backend, only(body=1, damage=1.1), **arguments).terms.body == -3
    died = plan_for(backend, only(body=1, damage=3), friendly=[M(3, 4)], enemy=[M(4, 5)])
    assert (died.terms.body, died.lost) == (-7, (0,))


def test_a_wounded_minion_counts_the_health_it_came_in_with(backend: str) -> None:
    plan = plan_for(backend, only(wound=1, body=0.1), friendly=[M(2, 1)], enemy=[M(1, 9)])
    assert plan.terms.wound == 2
    assert plan.terms.body == pytest.approx(-0.3)


def test_shields_absorb_for_nothing(backend: str) -> None:
    plan = plan_for(backend, only(body=1, damage=0.1), friendly=[M(3, 4, **SHIELD)], enemy=[M(9, 9)])
    assert (attacks(plan), plan.terms.body) == ([(0, 0)], 0)
    popped = plan_for(backend, only(wound=1, damage=0.1), friendly=[M(3, 4)], enemy=[M(1, 9, **SHIELD)])
    assert (attacks(popped), popped.terms.wound) == ([(0, 0)], 0)


def test_the_weakest_hit_pops_the_shield_of_an_enemy_that_lives(backend: str) -> None:
    friendly = [M(5, 9), M(2, 9), M(3, 9)]
    plan = plan_for(backend, only(wound=1), friendly=friendly, enemy=[M(1, 20, **SHIELD)])
    assert plan.actions[0] == Attack(1, 0)
    assert plan.terms.wound == 8
    # The 2 would leave 8 for a kill of 8, but a kill counts no less; with 9 health it lives and loses 8.
    assert plan_for(backend, only(wound=1), friendly=friendly, enemy=[M(1, 8, **SHIELD)]).killed == (0,)
    assert plan_for(backend, only(wound=1), friendly=friendly, enemy=[M(1, 9, **SHIELD)]).terms.wound == 8


def test_a_hit_that_only_pops_may_be_worth_its_price(backend: str) -> None:
    """Alone it takes no health; beside the strong hit it saves that one from the shield."""
    friendly = [M(1, 9), M(6, 9)]
    plan = plan_for(backend, only(wound=1, trade=1), friendly=friendly, enemy=[M(2, 9, **SHIELD)])
    assert attacks(plan) == [(0, 0), (1, 0)]
    assert plan.objective == 6 - 4


def test_poison_takes_all_health(backend: str) -> None:
    plan = plan_for(backend, only(wound=1), friendly=[M(1, 1, poisonous=True)], enemy=[M(2, 12)])
    assert plan.terms.wound == 12


def test_a_shield_absorbs_the_larger_of_two_damages(backend: str) -> None:
    friend = M(2, 9, windfury=True, **SHIELD)
    plan = plan_for(
        backend, only(damage=5, body=1), friendly=[friend], enemy=[M(2, 9), M(5, 9, stealth=True)]
    )
    assert plan.terms.body == -2
    both = plan_for(backend, only(wound=5, body=1, clear=1), friendly=[friend], enemy=[M(3, 2), M(5, 2)])
    assert both.actions == (Attack(0, 1), Attack(0, 0))
    assert both.terms.body == -3
    guarded = plan_for(
        backend, only(wound=5, body=1, clear=1), friendly=[friend], enemy=[M(3, 2, taunt=True), M(5, 2)]
    )
    assert guarded.actions == (Attack(0, 0), Attack(0, 1))
    assert guarded.terms.body == -5, "the guard must come first"


def test_earlier_damage_does_not_count_beside_a_death(backend: str) -> None:
    friend = M(3, 4, windfury=True)
    plan = plan_for(backend, only(threat=9, body=1), friendly=[friend], enemy=[M(2, 3), M(3, 3)])
    assert (plan.killed, plan.lost, plan.terms.body) == ((0, 1), (0,), -7)
    fatal = plan_for(backend, only(threat=9, body=1), friendly=[friend], enemy=[M(9, 3), M(2, 3)])
    assert (fatal.actions, fatal.terms.body) == ((Attack(0, 1), Attack(0, 0)), -7)


def test_a_played_minion_counts_from_its_printed_numbers(backend: str) -> None:
    arguments = {"hand": [M(3, 4, cost=1, rush=True)], "enemy": [M(2, 3)], "mana": 1}
    plan = plan_for(backend, only(play=1, threat=5, body=1), **arguments)
    assert plan.terms.body == -2
    kept = plan_for(backend, only(play=1, body=1), **arguments)
    assert (kept.actions, kept.terms.body) == ((Play(0),), 0)


def test_a_minion_dies_for_a_place_only_where_it_pays(backend: str) -> None:
    arguments = {
        "friendly": [M(1, 1), *[M(0, 1)] * 6],
        "hand": [M(8, 8, cost=1, value=5.0)],
        "enemy": [M(9, 9)],
        "mana": 1,
    }
    assert len(plan_for(backend, only(play=1, body=1), **arguments).actions) == 2
    assert attacks(plan_for(backend, only(play=1, body=9), **arguments)) == []


def test_a_chosen_order_is_predicted_as_it_comes_true(backend: str) -> None:
    """The hero dies by the last blow, after an enemy was hit."""
    plan = plan_for(
        backend,
        only(lethal=9, wound=1, body=0.1),
        friendly=[M(3, 5), M(4, 5)],
        enemy=[M(2, 9)],
        enemy_hero=4,
    )
    assert plan.actions == (Attack(0, 0), Attack(1, HERO))
    assert plan.terms.wound == 3


# What is outside


def applied(weights: Weights, **arguments: object) -> bool:
    problem = TurnProblem.build(**({"mana": 0, "enemy_hero": 30} | arguments))
    return bool(supports_weights(problem.record, weights.full_array))


def test_hero_is_refused_where_own_lifesteal_may_heal() -> None:
    healer, heals = M(1, 1, lifesteal=True), only(face=1, hero=0.5)
    assert applied(heals, friendly=[M(1, 1)], enemy=[healer])
    assert applied(only(face=1), friendly=[healer])
    assert not applied(heals, friendly=[healer])
    assert applied(heals, friendly=[M(1, 1, lifesteal=True, attacks_left=0)])
    assert applied(heals, friendly=[M(0, 1, lifesteal=True)])
    assert applied(heals, hand=[M(1, 1, cost=1, lifesteal=True)], mana=1), "it cannot attack yet"
    charging = {"hand": [M(1, 1, cost=1, lifesteal=True, charge=True)]}
    assert not applied(heals, **charging, mana=1)
    assert not applied(heals, **charging, coin=True)
    assert applied(heals, **charging), "it is too dear"
    assert applied(heals, **charging, friendly=[M(0, 1)] * 7, mana=1), "there is no place"
    assert applied(heals, hand=[M(1, 1, lifesteal=True, rush=True)]), "there is nothing it could attack"
    assert applied(only(draw=1, weapon=1, frozen=1, hold=1, overload=1, body=1, wound=1), friendly=[healer])


@pytest.mark.parametrize("name", ["exact", *PROGRAMS])
def test_backends_name_the_weight_and_the_way_out(name: str) -> None:
    problem = TurnProblem.build(friendly=[M(1, 1, lifesteal=True)], mana=0, enemy_hero=30)
    with pytest.raises(SolverError, match=r"weight 'hero' \(0.5\).*use backend 'search' or 'auto', or set"):
        solve(problem, only(face=1, hero=0.5), name)


@pytest.mark.parametrize("name", EXTENDED_NAMES[N_WEIGHTS:])
@pytest.mark.parametrize("solver", backends("thesis"))
def test_the_program_of_the_thesis_has_eight_weights(solver: str, name: str) -> None:
    problem = TurnProblem.build(friendly=[M(1, 1)], mana=0, enemy_hero=30)
    with pytest.raises(SolverError, match=f"formulation 'thesis' does not support weight '{name}' .2.; use"):
        solve(problem, only(**{name: 2}), solver, "thesis")
    with pytest.raises(SolverError, match="formulation 'sequential'"):
        program_of(problem, only(**{name: 2}), "thesis")


def test_the_printed_program_names_what_is_lost() -> None:
    friendly, enemy = [M(2, 5, windfury=True), M(2, 5)], [M(3, 9)]
    problem = TurnProblem.build(friendly=friendly, enemy=enemy, mana=0, enemy_hero=30)
    text = str(program_of(problem, only(body=1, wound=2), "sequential"))
    for line in ("2 w[0]", "- b[0]", "health lost by both hits if it lives:", "plain hits take health off:"):
        assert line in text
    assert "w[0]" not in str(program_of(problem, only(face=1), "sequential"))
