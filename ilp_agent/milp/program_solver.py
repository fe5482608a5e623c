"""Base class of MILP backends: converts a solver's solution to a plan, for both formulations.

The solution is rounded first; order, prediction, terms and objective are recomputed from the rounded values.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from engine.codes import BOARD_SIZE, HERO, MAX_MANA
from engine.errors import unknown_name
from ilp_agent.backends import FORMULATIONS, SolverError, advise_other_backends
from ilp_agent.exact.backend import check_weights_on_turn, plan_from_record
from ilp_agent.exact.order import order_hits, write_plan
from ilp_agent.exact.plan_record import PLAN
from ilp_agent.exact.work import new_work
from ilp_agent.milp.card_plan import card_program, solve_cards
from ilp_agent.milp.formulations import (
    SequentialModel,
    ThesisModel,
    damage_cost,
    kills_in_thesis,
    sequential_model,
    thesis_model,
)
from ilp_agent.milp.program import Milp, NoPlanError, scaled_weights, solve_rounded, trusted_status
from ilp_agent.plan import Attack, Plan, PlanAction, Play, PlayCoin, ProblemPlan, Status, name_terms
from ilp_agent.problem import TurnProblem
from ilp_agent.replay import is_playable
from ilp_agent.turn import Turn
from ilp_agent.weights import FULL_NAMES, N_WEIGHTS, Weights


class ProgramSolver:
    """Base class of backends that solve integer programs; subclasses define `name` and `run`."""

    name: str

    def run(self, milp: Milp) -> tuple[Status, np.ndarray]:
        """Solve a program; see `ilp_agent.milp.program.RunSolver`.

        Raises:
            NoPlanError: the solver failed, or its licence does not suffice.
        """
        raise NotImplementedError

    def solve(self, turn: Turn, weights: Weights) -> Plan:
        """The best plan of a turn; with card effects only of class A (docs/turn-program.md).

        Raises:
            ProblemError: a turn without card effects excludes a card, not an attack.
            SolverError: no plan was found, or the program does not support a card; the message names it.
        """
        with self._report_no_plan():
            if turn.position.table.effects:
                return solve_cards(turn, weights, self.name, self.run)
            problem = TurnProblem.from_turn(turn)
            check_weights_on_turn(problem.record, weights)
            model = sequential_model(problem, scaled_weights(weights))
            status, chosen = solve_rounded(self.run, model.milp)
            record = sequential_plan(model, weights, chosen)
            turns = np.array([problem.record])
            return plan_from_record(turn, turns, record, trusted_status(status, weights), weights)

    def solve_thesis(self, problem: TurnProblem, weights: Weights) -> ProblemPlan:
        """The best plan by the thesis formulation, possibly with illegal actions.

        Raises:
            SolverError: no plan was found, or a weight is set that the formulation does not support.
        """
        _check_thesis(weights)
        with self._report_no_plan():
            model = thesis_model(problem, scaled_weights(weights))
            status, chosen = solve_rounded(self.run, model.milp)
            return _thesis_plan(model, weights, trusted_status(status, weights), chosen)

    @contextmanager
    def _report_no_plan(self) -> Iterator[None]:
        try:
            yield
        except NoPlanError as error:
            raise SolverError(
                f"backend {self.name!r} found no plan: {error}; {advise_other_backends(self.name)}"
            ) from None


def program_of(problem: TurnProblem | Turn, weights: Weights, formulation: str) -> Milp:
    """Build the integer program of a turn without solving it; `str` of the program is readable text.

    Raises:
        UnknownNameError: unknown formulation.
        SolverError: the program does not support a weight or a card on this turn.
    """
    if formulation not in FORMULATIONS:
        raise unknown_name("formulation", str(formulation), FORMULATIONS)
    if isinstance(problem, Turn) and problem.position.table.effects:
        return card_program(problem, weights, formulation)
    if isinstance(problem, Turn):
        problem = TurnProblem.from_turn(problem)
    if formulation == "thesis":
        _check_thesis(weights)
        return thesis_model(problem, weights).milp
    check_weights_on_turn(problem.record, weights)
    return sequential_model(problem, weights).milp


def _check_thesis(weights: Weights) -> None:
    """Raise an error if a further weight is set, which the thesis formulation does not support.

    Raises:
        SolverError: the message names the weight and the alternative.
    """
    for name in FULL_NAMES[N_WEIGHTS:]:
        value = getattr(weights, name)
        if value:
            raise SolverError(
                f"formulation 'thesis' does not support weight {name!r} ({value:g}); "
                f"use formulation 'sequential', or set {name!r} to 0"
            )


def sequential_plan(
    model: SequentialModel, weights: Weights, chosen: np.ndarray, whole: bool = False
) -> np.ndarray:
    """Convert a rounded solution to a plan: dtype `ilp_agent.exact.plan_record.PLAN`, shape (1,).

    Args:
        model: the program.
        weights: of the objective, before scaling.
        chosen: value of each variable.
        whole: whether shields must absorb the hits that the program chose even if remaining health has no
            weight.

    Raises:
        NoPlanError: the attacks have no legal order.
    """
    problem = model.problem
    m = len(problem.friendly)
    work = new_work()
    hits = [
        (friend, target, kind == "G")
        for (friend, _, target), kinds in model.hits.items()
        for kind, variable in kinds
        if chosen[variable]
    ]
    hits.sort(key=lambda hit: not hit[2])
    lethal = bool(hits) and hits[0][2]
    for place, (friend, target, _) in enumerate(hits):
        work["hit_source"][place], work["hit_target"][place] = friend, target
    for k, variable in enumerate(model.plays):
        work["played"][m + k] = chosen[variable]
    for j, variable in enumerate(model.alive):
        work["killed"][j] = 1 - chosen[variable]
    for i, variable in model.dies.items():
        work["dying"][i] = chosen[variable]
    _set_shield_hits(model, weights, chosen, work, whole)
    if not order_hits(problem.record, len(hits), lethal, work):
        raise NoPlanError("the attacks of its solution have no legal order")
    plan = np.zeros(1, PLAN)
    write_plan(problem.record, weights.full_array, len(hits), lethal, work, plan[0])
    return plan


def _set_shield_hits(
    model: SequentialModel, weights: Weights, chosen: np.ndarray, work: np.void, whole: bool
) -> None:
    """Set the hits that shields must absorb if remaining health has weight. `work` is modified in place."""
    friends, enemies = (*model.problem.friendly, *model.problem.hand), model.problem.enemy
    hurt: dict[int, list[int]] = {}
    for (i, _, target), kinds in sorted(model.hits.items()):
        for kind, variable in kinds:
            if target == HERO or not chosen[variable]:
                continue
            if (
                kind == "p"
                and (weights.wound or weights.enemy_health or whole)
                and chosen[model.alive[target]]
            ):
                work["pops"][target] = friends[i].attack
            if (damage_cost(friends[i], weights) or whole) and enemies[target].attack > 0:
                hurt.setdefault(i, []).append(enemies[target].attack)
    for i, damages in hurt.items():
        if len(damages) == 2:
            work["absorbs"][i] = damages[0]


def _thesis_plan(model: ThesisModel, weights: Weights, status: Status, chosen: np.ndarray) -> ProblemPlan:
    """Convert a thesis solution to a plan: plays, attacks on minions, attacks on the hero (section 6.5)."""
    problem = model.problem
    m = len(problem.friendly)
    friends = (*problem.friendly, *problem.hand)
    played = [k for k, variable in enumerate(model.plays) if chosen[variable]]
    attacks = [pair for pair, variable in model.attacks.items() if chosen[variable]]
    cost = sum(problem.hand[k].cost for k in played)
    actions: list[PlanAction] = [Play(k) for k in played]
    if cost > problem.mana:
        # At 10 mana The Coin would be wasted before the first paid card.
        paid = [place for place, k in enumerate(played) if problem.hand[k].cost]
        actions.insert(paid[0] + 1 if problem.mana == MAX_MANA else 0, PlayCoin())
    actions += [Attack(i, j) for i, j in sorted(attacks) if j != HERO]
    actions += [Attack(i, j) for i, j in sorted(attacks) if j == HERO]
    damage = sum(friends[i].attack for i, j in attacks if j == HERO)
    on_minions = [(i, j) for i, j in attacks if j != HERO]
    # Variables without weight are free in the program, so the outcome is derived from attacks and plays.
    lethal = damage >= problem.enemy_hero
    hits = np.zeros(len(problem.enemy))
    for i, j in on_minions:
        hits[j] += friends[i].attack
    alive = [j for j, enemy in enumerate(problem.enemy) if hits[j] < enemy.health + enemy.divine_shield]
    cleared = not alive
    survivors = _thesis_survivors(model, on_minions, played, chosen)
    counts = {
        "lethal": lethal,
        "clear": cleared,
        "face": damage,
        "threat": -sum(problem.enemy[j].attack for j in alive),
        "survive": sum(friends[i].health for i in survivors),
        "damage": sum(friends[i].attack for i, _ in on_minions),
        "trade": -sum(problem.enemy[j].attack for _, j in on_minions),
        "play": sum(problem.hand[k].worth for k in played),
    }
    # The thesis has only these terms; the others are 0.
    terms = name_terms((getattr(weights, name) * counts.get(name, 0) for name in FULL_NAMES), weights)
    present = [*range(m), *(m + k for k in played)]
    return ProblemPlan(
        status,
        float(sum(terms)),
        terms,
        tuple(actions),
        bool(lethal),
        cleared,
        tuple(j for j in range(len(problem.enemy)) if j not in alive),
        tuple(i for i in present if i not in survivors),
        damage,
        problem.mana + (cost > problem.mana) - cost,
        is_playable(problem, actions),
    )


def _thesis_survivors(
    model: ThesisModel, attacks: list[tuple[int, int]], played: list[int], chosen: np.ndarray
) -> list[int]:
    """Surviving friendly minions: all that no attack kills, except those declared dead to make room (6)."""
    problem = model.problem
    m = len(problem.friendly)
    friends = (*problem.friendly, *problem.hand)
    dead = {i for i, j in attacks if kills_in_thesis(friends[i], problem.enemy[j])}
    alive = [i for i in (*range(m), *(m + k for k in played)) if i not in dead]
    too_many = sum(i < m for i in alive) + len(played) - BOARD_SIZE
    declared_dead = sorted(
        (i for i in alive if i < m and not chosen[model.survives[i]]), key=lambda i: friends[i].health
    )
    return [i for i in alive if i not in declared_dead[: max(0, too_many)]]
