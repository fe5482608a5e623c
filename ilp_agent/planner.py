"""A whole turn of the exact solver as the engine's actions, without building Python plans on the way."""

import numpy as np

from engine import Action, Outcome, Position
from engine.codes import ActionKind
from engine.jit import njit
from engine.rules import encode, outcome
from engine.state import STATE
from ilp_agent.exact.backend import memory_of_thread
from ilp_agent.exact.kernel import solve_turns
from ilp_agent.problem import ProblemError
from ilp_agent.steps import MAX_STEPS
from ilp_agent.tracker import TRACKER, apply_step, begin_tracking, hero_damage
from ilp_agent.turn import read_turn


def plan_exactly(position: Position, weights: np.ndarray) -> tuple[list[tuple[bytes, Action]], bool]:
    """The actions of the best plan up to the end of the turn, each with the state it is meant for.

    They end early where a hero's health is not what the plan predicts (`ilp_agent.selfplay.follow`).

    Args:
        position: of which only what the player to move sees is read.
        weights: of the objective, indexed by `ilp_agent.weights.Term`.

    Raises:
        ProblemError: the game has effects.

    Returns:
        The actions, and whether the plan is unproven (not known to be the best).
    """
    if position.state["effects"]:
        raise ProblemError(f"the turn program reads bodies with keywords, not real cards, in {position}")
    memory = memory_of_thread()
    steps = np.zeros(MAX_STEPS + 2, STATE)
    cards = position.table.array
    codes = np.zeros(MAX_STEPS + 1, np.int64)
    read_turns(position.states, cards, memory.turns)
    solve_turns(memory.turns, weights, memory.works, memory.layers, memory.plans)
    n = write_codes(position.states, cards, memory.turns, memory.plans, codes, steps)
    actions = [
        (steps[step].tobytes(), Action.from_code(code)) for step, code in enumerate(codes[:n].tolist())
    ]
    return actions, bool(memory.plans[0]["unproven"])


@njit
def read_turns(states: np.ndarray, cards: np.ndarray, turns: np.ndarray) -> None:
    """`read_turn` for arrays of shape (1,). `turns` is modified in place."""
    read_turn(states[0], cards, turns[0])


@njit
def write_codes(
    states: np.ndarray,
    cards: np.ndarray,
    turns: np.ndarray,
    plans: np.ndarray,
    codes: np.ndarray,
    steps: np.ndarray,
) -> int:
    """Carry a plan out on copies; the number of actions, the end of the turn included where it is reached.

    Args:
        states: shape (1,), left as it is.
        cards: the card table.
        turns: dtype `TURN`, shape (1,).
        plans: dtype `PLAN`, shape (1,).
        codes: integers. Modified in place: the actions.
        steps: dtype `STATE`. Modified in place: the position before each action.
    """
    trackers = np.zeros(1, TRACKER)
    turn, plan, tracker = turns[0], plans[0], trackers[0]
    steps[0] = states[0]
    begin_tracking(turn, tracker)
    hero = turn["hero"]
    for step in range(plan["n_steps"]):
        steps[step + 1] = steps[step]
        state = steps[step + 1]
        hero -= hero_damage(turn, plan["kind"][step], plan["source"][step], plan["target"][step])
        codes[step] = apply_step(state, cards, plan, step, tracker)
        enemy = state["sides"][1 - state["active"]]
        if outcome(state) != Outcome.ONGOING or enemy["health"] + enemy["armour"] != hero:
            return step + 1
    codes[plan["n_steps"]] = encode(ActionKind.END_TURN, 0, 0)
    return int(plan["n_steps"] + 1)
