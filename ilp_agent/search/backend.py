"""The backend `search`: a turn on real cards, or on bodies, by the memoised search."""

import threading
from dataclasses import dataclass, field

import numpy as np

from engine.actions import Action
from engine.cards.table import CardTable
from engine.jit import njit_borrowing
from engine.position import Position
from engine.state import CARD
from ilp_agent.backends import SolverError
from ilp_agent.plan import Plan, Status, terms_of
from ilp_agent.search.card_facts import FACT, learn_facts
from ilp_agent.search.expected_terms import certain_terms, expected_terms
from ilp_agent.search.kernel import solve_turn
from ilp_agent.search.work import MAX_BARRED, SOLVED, STATES, STATES_KEPT, SearchMemory, new_memory
from ilp_agent.turn import Turn, barred_records
from ilp_agent.weights import N_TERMS, Weights


@dataclass
class Searcher:
    """What turns are searched in, for one thread.

    Attributes:
        memory: of the searches.
        solved: what the last one found, dtype `SOLVED`, shape (1,).
        table: cards of the last game.
        facts: of these, dtype `FACT`.
        cards: a copy of their records, of which each search keeps what its turn needs (`narrow`).
    """

    memory: SearchMemory
    solved: np.ndarray
    table: CardTable | None = None
    facts: np.ndarray = field(default_factory=lambda: np.zeros(0, FACT))
    cards: np.ndarray = field(default_factory=lambda: np.zeros(0, CARD))

    def ready(self, limit: int | None = None) -> SearchMemory:
        """The memory, for searches of at most so many positions that leave nothing out.

        Args:
            limit: positions; None for `STATES`, or `STATES_KEPT` where a turn has far more.
        """
        if limit is not None and limit > len(self.memory.memo):
            self.memory = new_memory(limit)
        start = self.memory.start
        start["limit"], start["limit_kept"] = (STATES, STATES_KEPT) if limit is None else (limit, limit)
        start["slots"], start["reduced"], start["n_barred"] = 0, 1, 0
        return self.memory

    def search(
        self,
        position: Position,
        weights: np.ndarray,
        limit: int | None = None,
        barred: np.ndarray | None = None,
        slots: bool = False,
    ) -> np.void:
        """Search a position of the player to move; dtype `SOLVED`, good until the next search.

        Args:
            position: not over; left as it is.
            weights: all of them, indexed by `ilp_agent.weights.Term`.
            limit: positions at most, as of `ready`.
            barred: actions to leave out, as `barred_records` has them.
            slots: whether places on the board are used as the integer program has it, not as the game does;
                nothing is left for the end of the turn then.
        """
        if position.table is not self.table:
            self.table, self.cards = position.table, position.table.array.copy()
            self.facts = learn_facts(self.cards)
        memory = self.ready(limit)
        if slots:
            memory.start["slots"], memory.start["reduced"] = 1, 0
        if barred is not None:
            memory.start["n_barred"] = len(barred)
            memory.start["barred"][: len(barred)] = barred
        search_position(position.states, self.cards, weights, self.facts, *memory, self.solved)
        solved: np.void = self.solved[0]
        return solved


@njit_borrowing
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
    """`solve_turn` for arrays of shape (1,), which Python hands over faster than records."""
    solve_turn(states[0], cards, weights, facts, works[0], memo, slots, solutions[0])


_LOCAL = threading.local()


def searcher_of_thread() -> Searcher:
    """This thread's memory, made once: kernels run without the GIL, so no two threads may share it."""
    if not hasattr(_LOCAL, "searcher"):
        _LOCAL.searcher = Searcher(new_memory(STATES), np.zeros(1, SOLVED))
    searcher: Searcher = _LOCAL.searcher
    return searcher


class SearchSolver:
    """Depth-first search with memory on the engine's own states (`ilp_agent.search.kernel`).

    The status is FEASIBLE where the limit of positions was met: the best plan found by then.
    """

    name = "search"

    def solve(self, turn: Turn, weights: Weights, limit: int | None = None) -> Plan:
        """The best way to go on with a turn.

        Args:
            turn: the turn.
            weights: of the objective.
            limit: positions at most, 1 to `ilp_agent.search.work.MOST_STATES`; None as of `Searcher.ready`.

        Raises:
            SolverError: more actions are left out than it takes.
        """
        if len(turn.barred) > MAX_BARRED:
            raise SolverError(f"the search leaves out {MAX_BARRED} actions at most, got {len(turn.barred)}")
        searcher, array, terms = searcher_of_thread(), weights.everything, np.zeros(N_TERMS)
        solved = searcher.search(turn.position, array, limit, barred_records(turn), turn.program)
        status = Status.FEASIBLE if solved["unproven"] else Status.OPTIMAL
        states, again, value = int(solved["states"]), bool(solved["again"]), float(solved["value"])
        codes = solved["actions"][: solved["n"]].astype(np.int64)
        if turn.program:
            certain_terms(searcher.cards, array, searcher.memory.work, codes, terms)
            value = float(terms.sum())
        else:
            expected_terms(searcher.cards, array, searcher.facts, *searcher.memory, terms)
        actions = tuple(map(Action.from_code, codes.tolist()))
        return Plan(status, value, terms_of(terms, weights), actions, again, states)
