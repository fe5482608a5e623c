"""Whole games of agents that look ahead, in compiled batches: one loop, for minions and for real cards."""

import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from engine.batches import game_loop, nothing_dealt
from engine.codes import ActionKind, Outcome
from engine.effects.cardsets import has_effects
from engine.jit import njit_borrowing
from engine.match import Reckoned
from engine.rules import apply, encode, outcome
from ilp_agent.lookahead.cards import CardMemory, choose_card_turn, new_card_memory
from ilp_agent.lookahead.explore import NEVER, NO_STREAM
from ilp_agent.lookahead.hands import foresee, look_at
from ilp_agent.lookahead.judge import Memory, new_memory
from ilp_agent.lookahead.kernel import choose_turn
from ilp_agent.lookahead.library import Library, library_for
from ilp_agent.lookahead.options import PREDICTED
from ilp_agent.lookahead.weights import HANDS, kernel_rows
from ilp_agent.search.backend import searcher_of_thread
from ilp_agent.search.facts import learn_facts

USE = np.dtype(
    [
        ("turns", "i8"),  # turns chosen, parts of turns too
        ("judged", "i8"),  # positions judged
        ("unproven", "i8"),  # turns in which positions ran out before all ends were found
    ]
)
"""What looking ahead used."""

Choose = Callable[..., None]
"""`choose_turn` or `choose_card_turn`, which leave what they choose in `plan` of their memory."""


class Looking(NamedTuple):
    """The kernels of a way to choose turns.

    Attributes:
        choose: the way.
        play_games: plays games on, of `engine.batches.game_loop`.
        plan: chooses one turn for Python.
    """

    choose: Choose
    play_games: Callable[..., None]
    plan: Callable[..., None]


@njit_borrowing
def carry_out(state: np.void, cards: np.ndarray, plan: np.void, luck: np.void) -> None:
    """Make a plan's actions, and end the turn unless it goes on. `state` and `luck` are modified in place."""
    for step in range(plan["n"]):
        apply(state, cards, plan["actions"][step], luck)
    if not plan["again"] and outcome(state) == Outcome.ONGOING:
        apply(state, cards, encode(ActionKind.END_TURN, 0, 0), luck)


def _looking_by(choose: Choose) -> Looking:
    @njit_borrowing
    def take_turn(
        game: int,
        state: np.void,
        cards: np.ndarray,
        row: np.ndarray,
        luck: np.void,
        looking: tuple[Memory | CardMemory, np.ndarray, Library],
        used: np.void,
    ) -> None:
        """Play the turn that is chosen, or a part of it; see `engine.batches.game_loop`.

        `looking` is memory of `looking_at`, the cards dealt (`engine.batches.dealt_cards`), and the library.
        """
        memory, dealt, library = looking
        look_at(state, dealt[game, 1 - state["active"]], int(row[HANDS]), cards, library, memory.hands)
        choose(state, cards, row, NEVER, NO_STREAM, memory)
        used["turns"] += 1
        used["judged"] += memory.judged[0]
        used["unproven"] += memory.plan[0]["unproven"]
        carry_out(state, cards, memory.plan[0], luck)

    @njit_borrowing
    def plan(
        states: np.ndarray,
        cards: np.ndarray,
        rows: np.ndarray,
        n_shown: int,
        library: Library,
        memory: Memory | CardMemory,
    ) -> None:
        """Choose the turn of the only state of an array of shape (1,), which is left as it is.

        Of the opponent's cards `n_shown` are in `memory.hands.shown`.
        """
        foresee(states[0], int(rows[0, HANDS]), n_shown, cards, library, memory.hands)
        choose(states[0], cards, rows[0], NEVER, NO_STREAM, memory)

    return Looking(choose, game_loop(take_turn), plan)


AT_BODIES, AT_CARDS = _looking_by(choose_turn), _looking_by(choose_card_turn)

_LOCAL = threading.local()


def looking_at(cards: np.ndarray) -> tuple[Looking, Memory | CardMemory]:
    """How games with a card table are looked ahead in, and this thread's memory for it.

    The memory is made once: kernels run without the GIL, so no two threads may share it.
    """
    if not has_effects(cards):
        if not hasattr(_LOCAL, "memory"):
            _LOCAL.memory = new_memory()
        return AT_BODIES, _LOCAL.memory
    search = searcher_of_thread().ready()
    if getattr(_LOCAL, "table", None) is not cards:
        _LOCAL.table, own, facts = cards, cards.copy(), learn_facts(cards)
        if hasattr(_LOCAL, "of_cards"):
            _LOCAL.of_cards = _LOCAL.of_cards._replace(own_cards=own, facts=facts)
        else:
            _LOCAL.of_cards = new_card_memory(own, facts, search)
    works, memo, slots = search
    return AT_CARDS, _LOCAL.of_cards._replace(works=works, memo=memo, slots=slots)


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
    longer, library = library_for(cards, predicts, has_effects(cards), table, further)
    looking, memory = looking_at(longer)
    looking.play_games(longer, rows, agents, states, chances, (memory, dealt, library), use)
    turns["unproven"] += use["unproven"]
