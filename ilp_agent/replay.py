"""A problem as a position of the engine, and a plan carried out in it: does it come true?"""

from collections.abc import Iterable

import numpy as np

from engine import Action, Card, CardTable, IllegalActionError, Position
from engine.codes import COIN, HERO_HEALTH
from engine.position import empty_state, number_minions
from ilp_agent.plan import PlanAction, step_of
from ilp_agent.problem import TurnProblem
from ilp_agent.tracker import GONE, TRACKER, begin_tracking, note_done, present_action


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


def track(problem: TurnProblem) -> np.void:
    """A tracker of this turn, a record of dtype `ilp_agent.tracker.TRACKER`."""
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
