"""A problem as a turn of the engine, a plan of it in the problem's indices, and whether it comes true."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from engine import Action, Card, CardTable, IllegalActionError, Position
from engine.codes import COIN, HERO, HERO_HEALTH, ActionKind
from engine.position import empty_state, number_minions
from ilp_agent.exact.plan_record import (
    GONE,
    TRACKER,
    begin_tracking,
    hero_damage,
    note_done,
    present_action,
    step_of,
)
from ilp_agent.plan import Attack, Plan, PlanAction, Play, PlayCoin, ProblemPlan
from ilp_agent.problem import TurnProblem
from ilp_agent.turn import ARRIVED, Barred, Turn


def position_of(problem: TurnProblem) -> Position:
    """A position in which the player to move has this problem; every minion is a card of its own."""
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
    number_minions(state, table)
    return Position(state, table)


def turn_for(problem: TurnProblem) -> Turn:
    """The turn that has this problem: in a position of its own, in which no enemy heals its hero."""
    if any(enemy.lifesteal for enemy in problem.enemy):
        problem = replace(problem, enemy=tuple(replace(enemy, lifesteal=False) for enemy in problem.enemy))
    return Turn(position_of(problem), barred_of(problem), program=True)


def barred_of(problem: TurnProblem) -> tuple[Barred, ...]:
    """What a problem leaves out, by the births that minions get in its position."""
    m = len(problem.friendly)
    pairs = [(friend, 1 + m + enemy) for friend, enemy in sorted(problem.barred)]
    pairs += [(friend, -1 - HERO) for friend in sorted(problem.no_hero)]
    return tuple(
        Barred(ActionKind.ATTACK, 1 + friend if friend < m else ARRIVED - friend, target)
        for friend, target in pairs
    )


def plan_in(problem: TurnProblem, turn: Turn, found: Plan) -> ProblemPlan:
    """A plan of the problem's turn (`turn_for`), which goes on to its end, in the problem's indices."""
    m = len(problem.friendly)
    here = turn.position.copy()
    own, enemy = here.state["sides"]
    born = {1 + place: place for place in range(m)}
    enemies = {1 + m + place: place for place in range(len(problem.enemy))}
    actions: list[PlanAction] = []
    damage = 0
    for action in found.actions:
        if action.kind == ActionKind.ATTACK:
            friend = born[int(own["board"][action.source]["born"])]
            target = HERO
            if action.target == HERO:
                damage += int(own["board"][action.source]["attack"])
            else:
                target = enemies[int(enemy["board"][action.target]["born"])]
            actions.append(Attack(friend, target))
        elif own["hand"][action.source] == COIN:
            actions.append(PlayCoin())
        else:
            number = int(own["hand"][action.source]) - m
            born[int(here.state["births"]) + 1] = m + number
            actions.append(Play(number))
        here.play(action)
    standing = set(own["board"]["born"][: own["n_board"]].tolist())
    living = set(enemy["board"]["born"][: enemy["n_board"]].tolist())
    return ProblemPlan(
        found.status,
        found.objective,
        found.terms,
        tuple(actions),
        bool(enemy["health"] <= 0),
        not living,
        tuple(place for birth, place in enemies.items() if birth not in living),
        tuple(sorted(friend for birth, friend in born.items() if birth not in standing)),
        damage,
        int(own["mana"]),
    )


def track(problem: TurnProblem) -> np.void:
    """A tracker of this turn, a record of dtype `ilp_agent.exact.plan_record.TRACKER`."""
    tracker: np.void = np.zeros(1, TRACKER)[0]
    begin_tracking(problem.record, tracker)
    return tracker


def play_action(position: Position, tracker: np.void, action: PlanAction) -> Action:
    """Carry out an action of a plan; returns it as the engine's. Both arguments are modified in place.

    Args:
        position: where the actions so far have led.
        tracker: of `track`, for the position's turn.
        action: in the indices of the turn's problem.

    Raises:
        IllegalActionError: it is not legal here, or who or what it is about is not there any more; position
            and tracker are as they were.
    """
    kind, source, target = step_of(action)
    code = present_action(position.state, tracker, kind, source, target)
    if code == GONE:
        raise IllegalActionError(f"{action!r} is about a minion that is not there any more in {position}")
    played = Action.from_code(code)
    deaths = position.play(played)
    note_done(tracker, kind, source, code, deaths)
    return played


def playable_part(turn: Turn, problem: TurnProblem, plan: ProblemPlan) -> Plan:
    """The actions of a plan in the engine, illegal ones left out, up to where an enemy healed its hero.

    Args:
        turn: what is solved.
        problem: the same as a problem.
        plan: of that problem, as the thesis's formulation has them.
    """
    position, tracker, hero = turn.position.copy(), track(problem), problem.enemy_hero
    enemy = position.state["sides"][1 - position.active]
    actions: list[Action] = []
    again = False
    for action in plan.actions:
        with suppress(IllegalActionError):
            actions.append(play_action(position, tracker, action))
            hero -= hero_damage(problem.record, *step_of(action))
            again = bool(enemy["health"] + enemy["armour"] != hero)
        if again:
            break
    return Plan(plan.status, plan.objective, plan.terms, tuple(actions), again)


def replay(problem: TurnProblem, actions: Iterable[PlanAction]) -> Position:
    """Carry out a plan's actions in the engine and return where they lead.

    Raises:
        IllegalActionError: one is not legal where it stands.
    """
    position, tracker = position_of(problem), track(problem)
    for action in actions:
        play_action(position, tracker, action)
    return position


def is_playable(problem: TurnProblem, actions: Iterable[PlanAction]) -> bool:
    """Whether every action is legal where it stands."""
    try:
        replay(problem, actions)
    except IllegalActionError:
        return False
    return True
