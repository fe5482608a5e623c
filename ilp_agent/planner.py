"""A whole turn of a compiled backend as the engine's actions, without building Python plans on the way."""

from collections.abc import Sequence

import numpy as np

from engine import Action, IllegalActionError, Outcome, Position
from engine.effects.luck import Chance
from engine.events import EVENTS
from engine.jit import njit
from engine.rules import ILLEGAL, outcome_of, play_checked
from engine.state import STATE
from engine.vocabulary import MAX_OUTCOMES
from ilp_agent.exact.backend import memory_of_thread, read_turns, write_codes
from ilp_agent.exact.kernel import solve_turns
from ilp_agent.exact.scope import applies
from ilp_agent.exact.steps import MAX_STEPS
from ilp_agent.exact.tracker import TRACKER
from ilp_agent.search.backend import searcher_of_thread
from ilp_agent.turn import ProblemError


def plan_compiled(
    position: Position, weights: np.ndarray, backend: str
) -> tuple[list[tuple[bytes, Action]], bool]:
    """The actions of the best plan, each with the state it is meant for; the end of the turn included.

    They end early where only the game decides how it goes on, or a hero's health is not what was predicted.

    Args:
        position: of which only what the player to move sees is read.
        weights: all of them, indexed by `ilp_agent.weights.Term`.
        backend: the name of a compiled one.

    Returns:
        The actions, and whether the plan is unproven (not known to be the best).

    Raises:
        ProblemError: the game has effects, and the backend reads bodies alone.
    """
    if chosen_backend(position, weights, backend) == "exact":
        return plan_exactly(position, weights)
    solved = searcher_of_thread().search(position, weights)
    actions = list(map(Action.from_code, solved["actions"][: solved["n"]].tolist()))
    return place_actions(position, actions, bool(solved["again"])), bool(solved["unproven"])


def chosen_backend(position: Position, weights: np.ndarray, backend: str) -> str:
    """The backend that solves a position: `auto` is `exact` or `search`."""
    if backend != "auto":
        return backend
    if position.table.effects:
        return "search"
    turns = memory_of_thread().turns
    read_turns(position.states, position.table.array, turns)
    return "exact" if applies(turns[0], weights) else "search"


def place_actions(position: Position, actions: Sequence[Action], again: bool) -> list[tuple[bytes, Action]]:
    """Actions in their order, each with the state it is meant for.

    Args:
        position: where they begin; left as it is.
        actions: certain in what they do, but for the last where `again`.
        again: whether the turn is solved again after them; else its end is added.
    """
    steps = np.zeros(len(actions) + 1, STATE)
    codes = np.array([action.code for action in actions], np.int64)
    chances = Chance.given([0] * MAX_OUTCOMES).array  # as of `play_planned`
    played = write_steps(position.states, position.table.array, codes, again, chances, steps)
    if played < len(actions) - again:
        raise IllegalActionError(
            f"{actions[played]} of a plan is not legal after {played} actions in {position}"
        )
    placed = [(steps[n].tobytes(), action) for n, action in enumerate(actions)]
    if not again and outcome_of(steps[-1:]) == Outcome.ONGOING:
        placed.append((steps[-1].tobytes(), Action.end_turn()))
    return placed


def play_planned(position: Position, action: Action) -> None:
    """Play an action after which a plan goes on or ends. Modified in place.

    What chance decides there, such as where in the opponent's deck a Deathrattle shuffles a card, makes no
    difference to the plan.
    """
    position.play(action, Chance.given([0] * MAX_OUTCOMES))


@njit
def write_steps(
    states: np.ndarray,
    cards: np.ndarray,
    codes: np.ndarray,
    again: bool,
    chances: np.ndarray,
    steps: np.ndarray,
) -> int:
    """Carry actions out, but for the last where the turn is solved again after it; how many are legal.

    Args:
        states: where they begin, shape (1,); left as it is.
        cards: the card table.
        codes: of the actions.
        again: whether the turn is solved again after them.
        chances: dtype `EVENTS`, shape (1,): the outcomes of chance. Modified in place.
        steps: dtype `STATE`, shape (actions + 1,). Modified in place: the position before each action, and
            after the last that was carried out.
    """
    steps[0] = states[0]
    for n in range(len(codes) - (1 if again else 0)):
        steps[n + 1] = steps[n]
        if play_checked(steps[n + 1 : n + 2], cards, codes[n], chances) == ILLEGAL:
            return n
    return len(codes) - (1 if again else 0)


def plan_exactly(position: Position, weights: np.ndarray) -> tuple[list[tuple[bytes, Action]], bool]:
    """`plan_compiled` by the exact solver; the actions end early where a hero's health is not as predicted.

    Raises:
        ProblemError: the game has effects.
    """
    if position.table.effects:
        raise ProblemError(f"backend 'exact' reads bodies with keywords, not real cards, in {position}")
    memory, here = memory_of_thread(), position.copy()
    cards, codes = position.table.array, np.zeros(MAX_STEPS, np.int64)
    read_turns(position.states, cards, memory.turns)
    solve_turns(memory.turns, weights, memory.works, memory.layers, memory.plans)
    trackers, luck = np.zeros(1, TRACKER), np.zeros(1, EVENTS)
    n, again = write_codes(here.states, cards, memory.turns, memory.plans, trackers, luck, codes)
    actions = list(map(Action.from_code, codes[:n].tolist()))
    return place_actions(position, actions, again), bool(memory.plans[0]["unproven"])
