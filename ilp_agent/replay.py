"""A problem as a position of the engine, and a plan carried out in it: does it come true?"""

from collections.abc import Iterable

import numpy as np

from engine import HERO, Action, Card, CardTable, IllegalActionError, Position
from engine.codes import COIN, HERO_HEALTH
from engine.position import empty_state
from ilp_agent.plan import Attack, PlanAction, Play
from ilp_agent.problem import TurnProblem


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
    return Position(state, table)


def replay(problem: TurnProblem, actions: Iterable[PlanAction]) -> Position:
    """Carry out a plan's actions in the engine and return where they lead.

    Raises:
        IllegalActionError: one is not legal where it stands.
    """
    position = position_of(problem)
    m, h = len(problem.friendly), len(problem.hand)
    for action in actions:
        own, enemy = position.state["sides"]
        if isinstance(action, Attack):
            attacker = _place(own["board"]["card"][: own["n_board"]], action.attacker)
            numbers = enemy["board"]["card"][: enemy["n_board"]]
            target = HERO if action.target == HERO else _place(numbers, m + h + action.target)
            position.play(Action.attack(attacker, target))
        else:
            number = m + action.hand if isinstance(action, Play) else COIN
            position.play(Action.play(_place(own["hand"][: own["n_hand"]], number)))
    return position


def is_playable(problem: TurnProblem, actions: Iterable[PlanAction]) -> bool:
    """Whether every action is legal where it stands."""
    try:
        replay(problem, actions)
    except IllegalActionError:
        return False
    return True


def _place(numbers: np.ndarray, number: int) -> int:
    """Where a card stands now.

    Raises:
        IllegalActionError: it is not there any more.
    """
    found = np.flatnonzero(numbers == number)
    if not len(found):
        raise IllegalActionError(f"minion {number} of the problem is not there any more")
    return int(found[0])
