"""Levels of the search of a turn: what is tried in a position, and the best of it so far; compiled."""

import numpy as np

from engine.apart import njit_apart
from engine.jit import njit_borrowing
from engine.rules import legal_actions
from engine.state import CARD
from ilp_agent.search.chance import expected_gain
from ilp_agent.search.late import LATE_FACE, LATE_KILL, add_last_attacks, late_value, what_is_late
from ilp_agent.search.objective import acts_at_the_end, end_value, is_score
from ilp_agent.search.work import WORK

FORBIDDEN = -1e290
"""What an end of the turn is worth that surely kills the own hero."""

UNDECIDED = -1e295
"""What a position is worth, at least, in which something has to be chosen."""


@njit_borrowing
def open_frame(level: int, cards: np.ndarray, weights: np.ndarray, facts: np.ndarray, work: np.void) -> None:
    """Begin to search the position of a level: list its actions, and what ending the turn is worth."""
    frame, state = work["frames"][level], work["states"][level]
    frame["n"] = legal_actions(state, cards, work["actions"][level])
    frame["next"], frame["n_leaves"], frame["action"], frame["late"] = 0, 0, 0, 0
    if state["n_options"] > 0:  # the turn cannot end before it is chosen
        frame["best"] = UNDECIDED
        return
    frame["n"] -= 1
    if not is_score(weights) and acts_at_the_end(state, cards, work["start"]["seat"]):
        value_ending(level, cards, weights, work)
    else:
        frame["best"] = end_value(state, cards, weights, work["start"])
    frame["late"] = 0
    start = work["start"]
    if start["leaves_late"]:
        frame["late"] = what_is_late(state, cards, facts, start["seat"])
        if frame["late"] & (LATE_FACE | LATE_KILL):
            actions = work["actions"][level]
            frame["n"] = add_last_attacks(state, facts, start, frame["late"], actions, frame["n"])
        frame["best"] += late_value(state, cards, weights, facts, frame["late"], start["seat"], work)


@njit_apart(int, (CARD,), (np.dtype(np.float64),), WORK, rare=True)
def value_ending(level: int, cards: np.ndarray, weights: np.ndarray, work: np.void) -> int:
    """Note what ending the turn at a level is worth, where something happens at its end; 0."""
    work["frames"][level]["best"] = value_of_ending(work["states"][level], cards, weights, work)
    return 0


@njit_borrowing
def value_of_ending(state: np.void, cards: np.ndarray, weights: np.ndarray, work: np.void) -> float:
    """What a position is worth if the turn ends there, in the mean over what happens at its end."""
    value = expected_gain(state, cards, weights, 0, work)
    return max(value, FORBIDDEN)


@njit_borrowing
def keep_better(frame: np.void, value: float, tie: float, action: int) -> None:
    """Keep an action if it is worth more than the best before it. `frame` is modified in place."""
    if value > frame["best"] + tie:
        frame["best"] = value
        frame["action"] = action


@njit_borrowing
def deliver(frame: np.void, value: float, tie: float, actions: np.ndarray, lost: int) -> None:
    """Tell a frame what follows the action, or the outcome, that is being tried. Modified in place."""
    value += frame["gain"]
    if frame["n_leaves"] == 0:
        keep_better(frame, value, tie, actions[frame["next"] - 1])
        return
    frame["total"] += frame["probability"][frame["leaf"]] * value
    frame["leaf"] += 1
    if not lost:
        frame["certain_death"] = 0
