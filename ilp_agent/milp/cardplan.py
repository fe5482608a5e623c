"""A turn of class A solved as an integer program, for every MILP backend; its plan is carried out again."""

import numpy as np

from engine import Action
from engine.effects.luck import Chance
from ilp_agent.backends import FORMULATIONS, SolverError
from ilp_agent.exact.scope import check_known
from ilp_agent.milp.cardclass import CardProblem
from ilp_agent.milp.cardorder import acts_of, order_acts
from ilp_agent.milp.cardprogram import card_model
from ilp_agent.milp.cardreading import read_turn
from ilp_agent.milp.casts import OutsideError
from ilp_agent.milp.program import Milp, Run, UnanswerableError, proven, rounded, scaled_weights
from ilp_agent.plan import Plan, Terms, terms_of
from ilp_agent.search.backend import searcher_of_thread
from ilp_agent.search.policy import terms_of_actions
from ilp_agent.turn import Turn
from ilp_agent.weights import N_TERMS, Weights

ALIKE = 1e-6
"""How far the objective of the engine may be from the program's, as a share of the largest weight."""


def solve_cards(turn: Turn, weights: Weights, backend: str, run: Run) -> Plan:
    """Build the program of a turn of class A, solve it with `run`, and carry the plan out in the engine.

    Raises:
        UnanswerableError: there is no solution, or its actions do not come true.
        SolverError: the turn is outside of class A; the message names the card.
    """
    scaled = scaled_weights(weights)
    found = _read(turn, scaled, f"backend {backend!r}", " in its program")
    built = card_model(found, scaled)
    milp = built.model.milp
    status, chosen = rounded(run, milp)
    actions = order_acts(built, acts_of(built, chosen))
    if actions is None:
        raise UnanswerableError("its actions have no legal order")
    codes = np.array([action.code for action in actions], np.int64)
    terms = _terms(found, codes, weights)
    largest = max(float(weights.array.max()), 1e-300)
    predicted = milp.offset + sum(
        cost * value for cost, value in zip(milp.cost, chosen, strict=True) if value
    )
    if abs(sum(terms) / largest - predicted) > ALIKE * max(1.0, abs(predicted)):
        raise UnanswerableError(f"its plan is worth {sum(terms):g}, not {predicted * largest:g}")
    kept, again = _until_drawn(found, actions)
    return Plan(proven(status, weights), float(sum(terms)), terms, kept, again)


def card_program(turn: Turn, weights: Weights, formulation: str) -> Milp:
    """The program of a turn of class A.

    Raises:
        SolverError: the turn is outside of class A, or the formulation is not for real cards.
    """
    if formulation != FORMULATIONS[0]:
        raise SolverError(
            f"formulation {formulation!r} reads bodies with keywords, not real cards; use {FORMULATIONS[0]!r}"
        )
    return card_model(_read(turn, weights, "the integer program"), weights).model.milp


def _read(turn: Turn, weights: Weights, who: str, where: str = "") -> CardProblem:
    """What the program needs of a turn.

    Raises:
        SolverError: the turn is outside of class A.
    """
    check_known(weights)
    try:
        return read_turn(turn, weights)
    except OutsideError as error:
        raise SolverError(f"{who} cannot count {error}{where}; use auto") from None


def _terms(found: CardProblem, codes: np.ndarray, weights: Weights) -> Terms:
    """The terms of actions, carried out in the engine as the search does."""
    terms = np.zeros(N_TERMS)
    position, memory = found.position, searcher_of_thread().ready()
    terms_of_actions(position.states, position.table.array, weights.everything, memory.work, codes, terms)
    return terms_of(terms, weights)


def _until_drawn(found: CardProblem, actions: tuple[Action, ...]) -> tuple[tuple[Action, ...], bool]:
    """The actions up to the first that draws a card, and whether there is one."""
    here = found.position.copy()
    for n, action in enumerate(actions):
        here.play(action, Chance.blind())
        if here.state["sides"][found.position.active]["n_deck"] < found.own["n_deck"]:
            return actions[: n + 1], True
    return actions, False
