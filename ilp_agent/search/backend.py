"""The backends `search`, a memoised depth-first search, and `auto`, which is `exact` where that applies."""

import threading
from dataclasses import dataclass, field

import numpy as np

from engine.actions import Action
from engine.cards.table import CardTable
from engine.codes import ActionKind
from engine.jit import njit_no_alloc
from engine.position import Position
from engine.state import CARD
from ilp_agent.backends import SolverError
from ilp_agent.exact.backend import ExactSolver, read_problem, supports_weights
from ilp_agent.plan import Plan, Status, name_terms
from ilp_agent.search.bound import LARGEST_BOUND
from ilp_agent.search.card_facts import FACT, compute_card_facts
from ilp_agent.search.expected_terms import deterministic_terms, expected_terms, terms_of_beam_plan
from ilp_agent.search.kernel import search_turn
from ilp_agent.search.work import (
    DEFAULT_COMPLEX_LIMIT,
    DEFAULT_LIMIT,
    MAX_EXCLUDED,
    SOLUTION,
    SearchMemory,
    new_memory,
)
from ilp_agent.turn import TURN, Turn, exclusion_array
from ilp_agent.weights import N_TERMS, Weights


@dataclass
class Searcher:
    """Working memory of turn searches, for one thread.

    Attributes:
        memory: transposition table and stacks.
        solved: result of the last search, dtype `SOLUTION`, shape (1,).
        table: card table of the last game.
        facts: of its cards, dtype `FACT`.
        cards: a copy of its records; each search sets the game features relevant to its turn
            (`select_relevant_features`).
    """

    memory: SearchMemory
    solved: np.ndarray
    table: CardTable | None = None
    facts: np.ndarray = field(default_factory=lambda: np.zeros(0, FACT))
    cards: np.ndarray = field(default_factory=lambda: np.zeros(0, CARD))

    def reset_memory(self, limit: int | None = None, beam: bool = False) -> SearchMemory:
        """Reset the options of the memory and return it, grown to the limit if needed.

        Args:
            limit: of positions; None for `DEFAULT_LIMIT`, or `DEFAULT_COMPLEX_LIMIT` if cards need more game
                features.
            beam: whether a beam search may replace a plan that is not proven (`ilp_agent.search.beam`).
        """
        if limit is not None and limit > len(self.memory.memo):
            self.memory = new_memory(limit)
        start = self.memory.start
        start["limit"], start["limit_kept"] = (
            (DEFAULT_LIMIT, DEFAULT_COMPLEX_LIMIT) if limit is None else (limit, limit)
        )
        start["slots"], start["reduced"], start["n_barred"] = 0, 1, 0
        start["bounded"], start["n_assumed"], start["beam"] = 0, 0, beam
        return self.memory

    def use_table(self, table: CardTable) -> None:
        """Prepare for searches with a card table; nothing is done if it is the last one."""
        if table is not self.table:
            self.table, self.cards = table, table.array.copy()
            self.facts = compute_card_facts(self.cards)

    def search(
        self,
        position: Position,
        weights: np.ndarray,
        limit: int | None = None,
        barred: np.ndarray | None = None,
        slots: bool = False,
        bounded: bool = False,
    ) -> np.void:
        """Search a position of the player to move; dtype `SOLUTION`, valid until the next search.

        Args:
            position: not over; unchanged.
            weights: indexed by `ilp_agent.weights.Term`.
            limit: of positions, as of `reset_memory`; with the default one, a beam search on real cards may
                replace a plan that is not proven, as in games of the turn program.
            barred: excluded actions, as of `exclusion_array`.
            slots: whether to use board slots as the integer program does, not as the game does; no action is
                deferred then.
            bounded: whether positions are skipped whose upper bound is not better, which finds the same plan
                (but for a beam search), and bounds the objective if the limit is met
                (`ilp_agent.search.bound`).
        """
        self.use_table(position.table)
        memory = self.reset_memory(limit, beam=limit is None and not slots and position.table.effects)
        memory.start["bounded"] = bounded
        if slots:
            memory.start["slots"], memory.start["reduced"] = 1, 0
        if barred is not None:
            memory.start["n_barred"] = len(barred)
            memory.start["barred"][: len(barred)] = barred
        search_position(position.states, self.cards, weights, self.facts, *memory, self.solved)
        solved: np.void = self.solved[0]
        return solved


@njit_no_alloc
def search_position(
    states: np.ndarray,
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    works: np.ndarray,
    memo: np.ndarray,
    slots: np.ndarray,
    solutions: np.ndarray,
) -> None:
    """`search_turn` with arrays of shape (1,), which Python passes faster than records."""
    search_turn(states[0], cards, weights, facts, works[0], memo, slots, solutions[0])


_LOCAL = threading.local()


def thread_searcher() -> Searcher:
    """This thread's searcher; kernels run without the GIL, so threads must not share it."""
    if not hasattr(_LOCAL, "searcher"):
        _LOCAL.searcher = Searcher(new_memory(DEFAULT_LIMIT), np.zeros(1, SOLUTION))
    searcher: Searcher = _LOCAL.searcher
    return searcher


class SearchSolver:
    """Memoised depth-first search on engine states (`ilp_agent.search.kernel`).

    The status is FEASIBLE if the limit of positions was met; the plan is the best found so far.
    """

    name = "search"

    def solve(self, turn: Turn, weights: Weights, limit: int | None = None, bounded: bool = False) -> Plan:
        """Best plan for the rest of a turn.

        Args:
            turn: the turn.
            weights: of the objective.
            limit: of positions, at least 1; None as of `Searcher.reset_memory`.
            bounded: as of `Searcher.search`.

        Raises:
            SolverError: too many excluded actions.
        """
        if len(turn.barred) > MAX_EXCLUDED:
            raise SolverError(
                f"backend 'search' can exclude at most {MAX_EXCLUDED} actions, got {len(turn.barred)}"
            )
        searcher, array, terms = thread_searcher(), weights.full_array, np.zeros(N_TERMS)
        solved = searcher.search(turn.position, array, limit, exclusion_array(turn), turn.program, bounded)
        status = Status.FEASIBLE if solved["unproven"] else Status.OPTIMAL
        states, again, value = int(solved["states"]), bool(solved["again"]), float(solved["value"])
        most = float(solved["most"]) if bounded and solved["most"] < LARGEST_BOUND else None
        codes = solved["actions"][: solved["n"]].astype(np.int64)
        if turn.program:
            deterministic_terms(searcher.cards, array, searcher.memory.work, codes, terms)
            value = float(terms.sum())
        elif searcher.memory.work["beam_length"][0]:
            works = searcher.memory.work
            terms_of_beam_plan(searcher.cards, array, searcher.facts, works, terms)
        else:
            expected_terms(searcher.cards, array, searcher.facts, *searcher.memory, terms)
        actions = tuple(map(Action.from_code, codes.tolist()))
        return Plan(status, value, name_terms(terms, weights), actions, again, states, most)


class AutoSolver:
    """Solves a turn built from a `TurnProblem` by `exact` if the weights allow it, any other by `search`."""

    name = "auto"

    def __init__(self) -> None:
        self._exact, self._search = ExactSolver(), SearchSolver()

    def solve(self, turn: Turn, weights: Weights) -> Plan:
        """The best plan for the rest of a turn."""
        if turn.program and all(exclusion.kind == ActionKind.ATTACK for exclusion in turn.barred):
            turns = np.zeros(1, TURN)
            read_problem(turn, turns)
            if supports_weights(turns[0], weights.full_array):
                return self._exact.solve(turn, weights)
        return self._search.solve(turn, weights)
