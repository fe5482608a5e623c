"""Explanation of a turn against hidden Secrets: the hypotheses, and the value of each candidate."""

from dataclasses import dataclass

import numpy as np

from engine.actions import Action
from engine.position import Position
from ilp_agent.search import MEAN
from ilp_agent.search.backend import thread_searcher
from ilp_agent.search.secrets import MAX_PLANS, search_facing_secrets, thread_secret_memory


@dataclass(frozen=True)
class SecretHypothesis:
    """One possible identity of the opponent's Secrets.

    Attributes:
        cards: card numbers, oldest first; a number below 0 for a Secret of which nothing is assumed.
        probability: above 0; those of all evaluated hypotheses sum to 1.
    """

    cards: tuple[int, ...]
    probability: float


@dataclass(frozen=True)
class SecretCandidate:
    """A candidate: actions up to the first that may reveal a Secret, or to the end of the turn.

    Attributes:
        actions: the actions; none for the end of the turn at once.
        values: objective under each hypothesis, the best continuation included; minus infinity where it is
            forbidden.
    """

    actions: tuple[Action, ...]
    values: tuple[float, ...]

    def mean(self, hypotheses: tuple[SecretHypothesis, ...]) -> float:
        """Mean objective over the hypotheses."""
        pairs = zip(hypotheses, self.values, strict=True)
        return sum(hypothesis.probability * value for hypothesis, value in pairs)

    @property
    def worst(self) -> float:
        """Objective under the worst hypothesis."""
        return min(self.values)


@dataclass(frozen=True)
class SecretExplanation:
    """Hypotheses about the opponent's Secrets, and the candidates, the best by the rule first.

    Attributes:
        rule: a value of `ilp_agent.search.SECRETS`.
        hypotheses: the evaluated ones.
        candidates: distinct candidates; the first is played.
    """

    rule: int
    hypotheses: tuple[SecretHypothesis, ...]
    candidates: tuple[SecretCandidate, ...]


def explain_secrets(
    position: Position, weights: np.ndarray, rule: int, shown: np.ndarray, beliefs: np.ndarray
) -> SecretExplanation | None:
    """Explain a turn against hidden Secrets; None if nothing can be assumed of them.

    Args:
        position: as its player sees it, with card effects, not over; unchanged.
        weights: indexed by `ilp_agent.weights.Term`.
        rule: a value of `ilp_agent.search.SECRETS`.
        shown: card numbers of the Secrets of the opponent's deck list (`OpponentInfo.SECRETS`).
        beliefs: dtype `ilp_agent.search.secrets.BELIEF`, shape (1,), of this game and player; unchanged.
    """
    known = beliefs.copy()
    known["pending"] = 0
    solved = search_facing_secrets(position, weights, rule, shown, known)
    memory = thread_secret_memory()
    found = memory.hypotheses[0]
    n = int(found["n"])
    if n == 0:
        return None
    n_secrets = int(position.state["sides"][1 - position.active]["n_secrets"])
    hypotheses = tuple(
        SecretHypothesis(tuple(cards[:n_secrets]), probability)
        for cards, probability in zip(
            found["assumed"][:n].tolist(), found["probability"][:n].tolist(), strict=True
        )
    )
    base = float(thread_searcher().memory.start["base"])
    candidates: dict[tuple[Action, ...], SecretCandidate] = {}
    for place in range(n + 1):
        plan = memory.plans[place]
        if plan["n"] > 0 or not plan["again"]:
            _add(candidates, plan["actions"][: plan["n"]], memory.values[place, :n] - base)
    for place in np.flatnonzero(memory.reveals[: memory.counts[0]]).tolist():
        _add(candidates, memory.actions[place : place + 1], memory.values[MAX_PLANS + place, :n] - base)
    chosen = _actions(solved["actions"][: solved["n"]])

    def order(candidate: SecretCandidate) -> tuple[bool, float]:
        value = candidate.mean(hypotheses) if rule == MEAN else candidate.worst
        return candidate.actions != chosen, -value

    return SecretExplanation(rule, hypotheses, tuple(sorted(candidates.values(), key=order)))


def _actions(codes: np.ndarray) -> tuple[Action, ...]:
    """Actions by their codes."""
    return tuple(map(Action.from_code, codes.astype(np.int64).tolist()))


def _add(
    candidates: dict[tuple[Action, ...], SecretCandidate], codes: np.ndarray, values: np.ndarray
) -> None:
    """Add a candidate, unless an equal one is there."""
    actions = _actions(codes)
    candidates.setdefault(actions, SecretCandidate(actions, tuple(map(float, values))))
