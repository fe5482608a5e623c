"""The backend `auto`: `exact` where it applies, `search` elsewhere."""

from collections.abc import Callable

import numpy as np

from ilp_agent import selfplay
from ilp_agent.cardturn import CardPlan, CardTurn
from ilp_agent.exact.backend import ExactSolver
from ilp_agent.plan import Plan
from ilp_agent.problem import TurnProblem
from ilp_agent.search import selfplay as cardplay
from ilp_agent.search.backend import SearchSolver
from ilp_agent.weights import N_WEIGHTS, Weights


class AutoSolver:
    """Turns of bodies by `exact` where the weights allow it, all others by `search`."""

    name = "auto"

    def __init__(self) -> None:
        self._exact, self._search = ExactSolver(), SearchSolver()

    def solve(self, problem: TurnProblem, weights: Weights, formulation: str) -> Plan:
        """The best plan of a turn of bodies."""
        chosen = self._exact if applies(weights.everything) else self._search
        return chosen.solve(problem, weights, formulation)

    def solve_cards(self, turn: CardTurn, weights: Weights) -> CardPlan:
        """The best way to go on with a turn on real cards."""
        return self._search.solve_cards(turn, weights)


def applies(weights: np.ndarray) -> bool:
    """Whether the exact solver takes these weights on any turn of bodies."""
    return not weights[N_WEIGHTS:].any()


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
    exact = np.array([applies(one) for one in weights], np.bool_)
    bodies = states["effects"] == 0
    for which, play in ((exact, selfplay.play_batch), (~exact, cardplay.play_batch)):
        seats = np.where((agents >= 0) & which[agents], agents, -1)
        games = np.flatnonzero(bodies & (seats >= 0).any(axis=1))
        _play_some(play, games, cards, weights, seats, states, keys, chances, turns)
    games = np.flatnonzero(~bodies)
    _play_some(cardplay.play_batch, games, cards, weights, agents, states, keys, chances, turns)


def _play_some(
    play: Callable[..., None],
    games: np.ndarray,
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,
    chances: np.ndarray,
    turns: np.ndarray,
) -> None:
    """Play some games of a batch on; `states` and `turns` are modified in place there."""
    if len(games):
        part, counted = states[games], turns[games]
        play(cards, weights, agents[games], part, keys[games], chances[games], counted)
        states[games], turns[games] = part, counted
