"""The backend `auto`: `exact` where it applies, `search` elsewhere."""

import numpy as np

from engine.codes import ActionKind, Outcome
from engine.effects.cardsets import has_effects
from engine.jit import njit
from engine.rules import apply_plain, encode, outcome
from ilp_agent import selfplay
from ilp_agent.cardturn import CardPlan, CardTurn
from ilp_agent.exact import kernel as exact
from ilp_agent.exact.backend import ExactSolver
from ilp_agent.exact.scope import applies
from ilp_agent.exact.work import MAX_LAYERS, USUAL_STATES
from ilp_agent.exact.work import WORK as EXACT_WORK
from ilp_agent.plan import Plan
from ilp_agent.problem import TurnProblem
from ilp_agent.search import kernel as searching
from ilp_agent.search import selfplay as cardplay
from ilp_agent.search.backend import SearchSolver, searcher_of_thread
from ilp_agent.search.facts import learn_facts
from ilp_agent.search.work import SOLVED
from ilp_agent.selfplay import follow
from ilp_agent.steps import PLAN
from ilp_agent.tracker import TRACKER
from ilp_agent.turn import TURN, read_turn
from ilp_agent.weights import N_WEIGHTS, Weights


class AutoSolver:
    """Turns of bodies by `exact` where the weights allow it, all others by `search`."""

    name = "auto"

    def __init__(self) -> None:
        self._exact, self._search = ExactSolver(), SearchSolver()

    def solve(self, problem: TurnProblem, weights: Weights, formulation: str) -> Plan:
        """The best plan of a turn of bodies."""
        chosen = self._exact if applies(problem.record, weights.everything) else self._search
        return chosen.solve(problem, weights, formulation)

    def solve_cards(self, turn: CardTurn, weights: Weights) -> CardPlan:
        """The best way to go on with a turn on real cards."""
        return self._search.solve_cards(turn, weights)


@njit
def play_bodies(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    facts: np.ndarray,
    works: np.ndarray,
    memo: np.ndarray,
    slots: np.ndarray,
    solved: np.ndarray,
) -> None:
    """Play each game of bodies on while an agent of the turn program is to move.

    Args:
        cards: the card table, dtype `engine.state.CARD`.
        weights: shape (agents, `N_TERMS`).
        agents: shape (games, 2) integers into `weights`; -1 for another kind of agent.
        states: dtype `STATE`, shape (games,). Modified in place.
        facts: of the cards (`ilp_agent.search.facts.learn_facts`).
        works: this and the next two as of `ilp_agent.search.selfplay.play_turns`. Modified in place.
        memo: as there.
        slots: as there.
        solved: dtype `ilp_agent.steps.TURNS`, shape (games,). Added to in place.
    """
    turns, plans, trackers = np.zeros(1, TURN), np.zeros(1, PLAN), np.zeros(1, TRACKER)
    own_works, found = np.zeros(1, EXACT_WORK), np.zeros(1, SOLVED)
    layers, own_cards = np.empty((MAX_LAYERS, 2, USUAL_STATES), np.float64), cards.copy()
    for game in range(len(states)):
        state, turn, plan, tracker = states[game], turns[0], plans[0], trackers[0]
        while outcome(state) == Outcome.ONGOING and agents[game, state["active"]] >= 0:
            own = weights[agents[game, state["active"]]]
            read_turn(state, cards, turn)
            if applies(turn, own):
                exact.solve_turn(turn, own, own_works[0], layers, plan)
                again = follow(state, cards, turn, plan, tracker)
                solved[game]["exact"] += 1
                solved[game]["unproven"] += plan["unproven"]
            else:
                searching.solve_turn(state, own_cards, own, facts, works[0], memo, slots, found[0])
                for step in range(found[0]["n"]):
                    apply_plain(state, cards, found[0]["actions"][step])
                again = found[0]["again"] == 1
                solved[game]["search"] += 1
                solved[game]["unproven"] += found[0]["unproven"]
            if not again and outcome(state) == Outcome.ONGOING:
                apply_plain(state, cards, encode(ActionKind.END_TURN, 0, 0))


def play_batch(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,
    chances: np.ndarray,
    turns: np.ndarray,
) -> None:
    """See `rivals.batch.PlayBatch`."""
    if has_effects(cards):
        play = cardplay.play_batch
    else:
        play = _play_bodies if weights[:, N_WEIGHTS:].any() else selfplay.play_batch
    play(cards, weights, agents, states, keys, chances, turns)


def _play_bodies(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,  # noqa: ARG001
    chances: np.ndarray,  # noqa: ARG001
    turns: np.ndarray,
) -> None:
    """`play_batch` of games of bodies."""
    memory = searcher_of_thread().ready()
    play_bodies(cards, weights, agents, states, learn_facts(cards), *memory, turns)
