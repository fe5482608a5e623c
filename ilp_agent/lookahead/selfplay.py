"""Whole games of agents that look ahead, in compiled batches."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from engine.batches import nothing_dealt
from engine.codes import ActionKind, Outcome
from engine.effects.cardsets import has_effects
from engine.events import EVENTS
from engine.jit import njit, njit_borrowing
from engine.lazy import loaded
from engine.match import Reckoned
from engine.rules import apply_plain, encode, outcome
from engine.state import CARD
from ilp_agent.lookahead.explore import NEVER, NO_STREAM
from ilp_agent.lookahead.hands import look_at
from ilp_agent.lookahead.judge import Memory, new_memory
from ilp_agent.lookahead.kernel import choose_turn
from ilp_agent.lookahead.library import Library, library_for
from ilp_agent.lookahead.options import PREDICTED
from ilp_agent.lookahead.records import MAX_ACTIONS_OF_TURN
from ilp_agent.lookahead.weights import HANDS, kernel_rows
from ilp_agent.search.backend import searcher_of_thread
from ilp_agent.search.facts import learn_facts

if TYPE_CHECKING:
    from ilp_agent.lookahead.cards import CardMemory

USE = np.dtype(
    [
        ("turns", "i8"),  # turns chosen
        ("judged", "i8"),  # positions judged
        ("nodes", "i8"),  # positions within turns
        ("unproven", "i8"),  # turns in which nodes ran out before all ends were found
    ]
)
"""What looking ahead used."""


@njit
def play_turns(
    cards: np.ndarray,
    rows: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    dealt: np.ndarray,
    library: Library,
    memory: Memory,
    actions: np.ndarray,
    use: np.ndarray,
) -> None:
    """Play each game on while an agent of this kind is to move.

    Args:
        cards: the card table, dtype `engine.state.CARD`.
        rows: of `kernel_rows`, weights and options.
        agents: shape (games, 2) integers into `rows`; -1 for another kind of agent.
        states: dtype `STATE`, shape (games,). Modified in place.
        dealt: of `engine.batches.dealt_cards`, shape (games, 2, `DECK_SIZE`).
        library: decks that may be predicted.
        memory: of `memory_of_thread`. Modified in place.
        actions: integers, shape (`MAX_ACTIONS_OF_TURN`,). Modified in place.
        use: dtype `USE`, shape (games,). Added to in place.
    """
    for game in range(len(states)):
        state, used = states[game], use[game]
        while outcome(state) == Outcome.ONGOING and agents[game, state["active"]] >= 0:
            row = rows[agents[game, state["active"]]]
            look_at(state, dealt[game, 1 - state["active"]], int(row[HANDS]), cards, library, memory.hands)
            n = choose_turn(state, cards, row, NEVER, NO_STREAM, memory, actions)
            memory.hands.n_decks[0] = 0
            used["turns"] += 1
            if memory.judged[0] > 0:
                used["judged"] += memory.judged[0]
                used["nodes"] += memory.pool.n_nodes[0]
                used["unproven"] += memory.pool.unproven[0]
            carry_out(state, cards, actions, n, memory)


@njit_borrowing
def carry_out(state: np.void, cards: np.ndarray, actions: np.ndarray, n: int, memory: Memory) -> None:
    """Make the first `n` actions, and end the turn unless it goes on. `state` is modified in place."""
    for step in range(n):
        apply_plain(state, cards, actions[step])
    if not memory.again[0] and outcome(state) == Outcome.ONGOING:
        apply_plain(state, cards, encode(ActionKind.END_TURN, 0, 0))


_LOCAL = threading.local()


def memory_of_thread() -> Memory:
    """This thread's memory, made once: kernels run without the GIL, so no two threads may share it."""
    if not hasattr(_LOCAL, "memory"):
        _LOCAL.memory = new_memory()
    memory: Memory = _LOCAL.memory
    return memory


@dataclass
class Looking:
    """What turns on real cards are looked ahead in, for one thread.

    Attributes:
        memory: of `ilp_agent.lookahead.cards`.
        table: cards of the last game, as records.
        facts: of these (`ilp_agent.search.facts`).
        cards: a copy of them that is the search's own.
    """

    memory: "CardMemory"
    table: np.ndarray = field(default_factory=lambda: np.zeros(0, CARD))
    facts: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint8))
    cards: np.ndarray = field(default_factory=lambda: np.zeros(0, CARD))

    def know(self, table: np.ndarray) -> None:
        """Learn the cards of a game, where they are not those of the last."""
        if table is not self.table:
            self.table, self.facts, self.cards = table, learn_facts(table), table.copy()


def looking_of_thread() -> Looking:
    """This thread's, made once."""
    if not hasattr(_LOCAL, "looking"):
        _LOCAL.looking = Looking(loaded("ilp_agent.lookahead.cards:new_card_memory")())
    looking: Looking = _LOCAL.looking
    return looking


def play_batch(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,  # noqa: ARG001
    chances: np.ndarray,
    turns: np.ndarray,
    known: Reckoned | None = None,
) -> None:
    """See `rivals.batch.PlayBatch`."""
    rows, use = kernel_rows(weights), np.zeros(len(states), USE)
    predicts = bool((rows[:, HANDS] == PREDICTED).any())
    dealt, table, further = known or Reckoned(nothing_dealt(len(states)))
    effects = has_effects(cards)
    longer, library = library_for(cards, predicts, effects, table, further)
    play = play_cards if effects else play_bodies
    play(longer, rows, agents, states, chances, dealt, library, use)
    turns["unproven"] += use["unproven"]


def play_bodies(
    cards: np.ndarray,
    rows: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    chances: np.ndarray,  # noqa: ARG001
    dealt: np.ndarray,
    library: Library,
    use: np.ndarray,
) -> None:
    """`play_turns` in this thread's memory; arguments as there and in `PlayBatch`."""
    actions = np.zeros(MAX_ACTIONS_OF_TURN, np.int64)
    play_turns(cards, rows, agents, states, dealt, library, memory_of_thread(), actions, use)


def play_cards(
    cards: np.ndarray,
    rows: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    chances: np.ndarray,
    dealt: np.ndarray,
    library: Library,
    use: np.ndarray,
) -> None:
    """The same for games on real cards."""
    looking, search = looking_of_thread(), searcher_of_thread().ready()
    looking.know(cards)
    play: Callable[..., None] = loaded("ilp_agent.lookahead.cards:play_turns")
    known = looking.facts, *search, looking.memory, np.zeros(1, EVENTS)
    play(cards, looking.cards, rows, agents, states, chances, dealt, library, *known, use)
