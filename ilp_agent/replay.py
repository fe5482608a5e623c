"""Convert a `TurnProblem` to an engine position, replay the problem's plans, and check their legality."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from engine import Action, Card, CardTable, IllegalActionError, Position
from engine.codes import COIN, HERO, HERO_HEALTH, ActionKind
from engine.position import empty_state, set_order_of_play
from ilp_agent.exact.plan_record import (
    GONE,
    TRACKER,
    begin_tracking,
    engine_action,
    hero_damage,
    step_from_action,
    update_tracker,
)
from ilp_agent.plan import Attack, Plan, PlanAction, Play, PlayCoin, ProblemPlan
from ilp_agent.problem import TurnProblem
from ilp_agent.turn import PLAYED_THIS_TURN, Exclusion, Turn


def position_from_problem(problem: TurnProblem) -> Position:
    """Build a position with this problem for the player to move; every minion gets its own card."""
    specs = (*problem.friendly, *problem.hand, *problem.enemy)
    table = CardTable([Card("", f"minion {chr(97 + n)}", spec) for n, spec in enumerate(specs)])
    state = empty_state()
    state["turn"], state["turn_cap"] = 10, 100
    own, enemy = state["sides"]
    own["health"], enemy["health"] = HERO_HEALTH, min(HERO_HEALTH, problem.enemy_hero)
    enemy["armour"] = problem.enemy_hero - enemy["health"]
    own["mana"] = own["crystals"] = problem.mana
    m, h = len(problem.friendly), len(problem.hand)
    for side, first, n in ((own, 0, m), (enemy, m + h, len(problem.enemy))):
        side["n_board"] = n
        for slot in range(n):
            minion, spec = side["board"][slot], specs[first + slot]
            minion["card"], minion["attack"], minion["health"] = first + slot, spec.attack, spec.health
            minion["keywords"] = spec.keywords
    for slot in range(m):
        own["board"][slot]["attacks_left"] = problem.record["friends"][slot]["attacks"]
        own["board"][slot]["arrived"] = slot in problem.no_hero
    hand = [*range(m, m + h), *([COIN] if problem.coin else [])]
    own["n_hand"] = len(hand)
    own["hand"][: len(hand)] = hand
    set_order_of_play(state, table)
    return Position(state, table)


def turn_from_problem(problem: TurnProblem) -> Turn:
    """Build a turn with this problem, in a new position without enemy Lifesteal."""
    if any(enemy.lifesteal for enemy in problem.enemy):
        problem = replace(problem, enemy=tuple(replace(enemy, lifesteal=False) for enemy in problem.enemy))
    return Turn(position_from_problem(problem), excluded_in_problem(problem), program=True)


def excluded_in_problem(problem: TurnProblem) -> tuple[Exclusion, ...]:
    """Excluded attacks of a problem, by the entity ids of the minions in its position."""
    m = len(problem.friendly)
    pairs = [(friend, 1 + m + enemy) for friend, enemy in sorted(problem.barred)]
    pairs += [(friend, -1 - HERO) for friend in sorted(problem.no_hero)]
    return tuple(
        Exclusion(ActionKind.ATTACK, 1 + friend if friend < m else PLAYED_THIS_TURN - friend, target)
        for friend, target in pairs
    )


def to_problem_plan(problem: TurnProblem, turn: Turn, found: Plan) -> ProblemPlan:
    """Convert a complete plan of the problem's turn (`turn_from_problem`) to the problem's indices."""
    m = len(problem.friendly)
    replayed = turn.position.copy()
    own, enemy = replayed.state["sides"]
    born = {1 + place: place for place in range(m)}
    enemies = {1 + m + place: place for place in range(len(problem.enemy))}
    actions: list[PlanAction] = []
    damage = 0
    for action in found.actions:
        if action.kind == ActionKind.ATTACK:
            friend = born[int(own["board"][action.source]["entity_id"])]
            target = HERO
            if action.target == HERO:
                damage += int(own["board"][action.source]["attack"])
            else:
                target = enemies[int(enemy["board"][action.target]["entity_id"])]
            actions.append(Attack(friend, target))
        elif own["hand"][action.source] == COIN:
            actions.append(PlayCoin())
        else:
            number = int(own["hand"][action.source]) - m
            born[int(replayed.state["last_entity_id"]) + 1] = m + number
            actions.append(Play(number))
        replayed.play(action)
    friends_alive = set(own["board"]["entity_id"][: own["n_board"]].tolist())
    enemies_alive = set(enemy["board"]["entity_id"][: enemy["n_board"]].tolist())
    return ProblemPlan(
        found.status,
        found.objective,
        found.terms,
        tuple(actions),
        bool(enemy["health"] <= 0),
        not enemies_alive,
        tuple(place for birth, place in enemies.items() if birth not in enemies_alive),
        tuple(sorted(friend for birth, friend in born.items() if birth not in friends_alive)),
        damage,
        int(own["mana"]),
    )


def new_tracker(problem: TurnProblem) -> np.void:
    """New tracker of board positions for a problem, dtype `ilp_agent.exact.plan_record.TRACKER`."""
    tracker: np.void = np.zeros(1, TRACKER)[0]
    begin_tracking(problem.record, tracker)
    return tracker


def play_plan_action(position: Position, tracker: np.void, action: PlanAction) -> Action:
    """Play one action of a `ProblemPlan` in the engine. `position` and `tracker` are modified in place.

    Args:
        position: the position after the earlier actions.
        tracker: from `new_tracker`, for the position's turn.
        action: in the problem's indices.

    Returns:
        The engine's action.

    Raises:
        IllegalActionError: the action is illegal, or its minion or card is gone; position and tracker are
            unchanged.
    """
    kind, source, target = step_from_action(action)
    code = engine_action(position.state, tracker, kind, source, target)
    if code == GONE:
        raise IllegalActionError(f"the attacker, target or card of {action!r} is gone in {position}")
    played = Action.from_code(code)
    deaths = position.play(played)
    update_tracker(tracker, kind, source, code, deaths)
    return played


def legal_part(turn: Turn, problem: TurnProblem, plan: ProblemPlan) -> Plan:
    """The legal actions of a thesis plan as engine actions, up to the first healing by an enemy's Lifesteal.

    Args:
        turn: the turn that was solved.
        problem: the same turn as a problem.
        plan: its plan by the thesis formulation.
    """
    position, tracker, hero = turn.position.copy(), new_tracker(problem), problem.enemy_hero
    enemy = position.state["sides"][1 - position.active]
    actions: list[Action] = []
    again = False
    for action in plan.actions:
        with suppress(IllegalActionError):
            actions.append(play_plan_action(position, tracker, action))
            hero -= hero_damage(problem.record, *step_from_action(action))
            again = bool(enemy["health"] + enemy["armour"] != hero)
        if again:
            break
    return Plan(plan.status, plan.objective, plan.terms, tuple(actions), again)


def replay(problem: TurnProblem, actions: Iterable[PlanAction]) -> Position:
    """Play a plan's actions in the engine and return the final position.

    Raises:
        IllegalActionError: an action is illegal when its turn comes.
    """
    position, tracker = position_from_problem(problem), new_tracker(problem)
    for action in actions:
        play_plan_action(position, tracker, action)
    return position


def is_playable(problem: TurnProblem, actions: Iterable[PlanAction]) -> bool:
    """Whether a plan's actions are all legal in their order."""
    try:
        replay(problem, actions)
    except IllegalActionError:
        return False
    return True
