"""Compiled games of lookahead agents in batches, with random exploration."""

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from engine.batches import make_game_loop, unknown_decks
from engine.codes import ActionKind, Outcome
from engine.effects.card_filters import has_effects
from engine.jit import njit_no_alloc
from engine.match import OpponentModelData
from engine.rules import apply, encode, outcome
from engine.streams import below
from engine.view import hide_information
from ilp_agent.lookahead import PREDICTED, body_ends
from ilp_agent.lookahead import card_ends as real
from ilp_agent.lookahead.deck_prediction import DeckLibrary, table_and_library
from ilp_agent.lookahead.determinization import observe_opponent, turn_stream, update_hand_model
from ilp_agent.lookahead.evaluation import (
    LOST,
    WON,
    LookaheadMemory,
    copy_features,
    new_lookahead_memory,
)
from ilp_agent.lookahead.weights import HANDS, kernel_rows
from ilp_agent.search.backend import thread_searcher
from ilp_agent.search.card_facts import compute_card_facts

NEVER = 0
"""Exploration probability 0, in millionths."""

ALWAYS = 1_000_000

NO_STREAM = np.uint64(0)
"""Placeholder for an unused stream."""

_WHETHER, _WHICH = range(2)
"""Indices of a turn's stream: whether to explore, and which end."""


@njit_no_alloc
def exploration_end(explore: int, key: np.uint64, found: int) -> int:
    """Index of a random end for exploration, below `found`; -1 without exploration.

    Args:
        explore: probability, in millionths.
        key: stream of the turn.
        found: number of ends, >= 1.
    """
    if explore > NEVER and below(key, _WHETHER, ALWAYS) < explore:
        return int(below(key, _WHICH, found))
    return -1


COUNTERS = np.dtype(
    [
        ("turns", "i8"),  # searches; a turn may take several
        ("judged", "i8"),  # positions evaluated
        ("unproven", "i8"),  # turns that met the limit of positions
    ]
)
"""Counters of the lookahead search."""


class CandidateKernels(NamedTuple):
    """Kernels that find and evaluate the candidate ends of a turn.

    Attributes:
        find: `(cards, row, memory)`: finds ends of the turn in `memory.here`, the player's view; returns
            their number, 0 if `memory.plan` is final.
        value_of: `(number, cards, row, stream, memory)`: value of an end, random numbers from the stream;
            sets `memory.features` of the position evaluated last.
        wins_tie: `(number, other, memory)`: whether an end wins a tie against an earlier one.
        write: `(number, cards, memory)`: writes an end to `memory.plan`.
    """

    find: Callable[..., int]
    value_of: Callable[..., float]
    wins_tie: Callable[..., bool]
    write: Callable[..., None]


class LookaheadKernels(NamedTuple):
    """Kernels of the lookahead search, for one kind of candidates.

    Attributes:
        choose: searches a turn and writes it to `memory.plan`.
        play_games: plays games on, as of `engine.batches.make_game_loop`.
        plan: searches one turn for Python.
    """

    choose: Callable[..., None]
    play_games: Callable[..., None]
    plan: Callable[..., None]


@njit_no_alloc
def apply_plan(state: np.void, cards: np.ndarray, plan: np.void, events: np.void) -> None:
    """Apply a plan's actions, and end the turn unless the plan says to search again."""
    for step in range(plan["n"]):
        apply(state, cards, plan["actions"][step], events)
    if not plan["again"] and outcome(state) == Outcome.ONGOING:
        apply(state, cards, encode(ActionKind.END_TURN, 0, 0), events)


def _lookahead_kernels(ends: CandidateKernels) -> LookaheadKernels:
    find, value_of, wins_tie, write = ends

    @njit_no_alloc
    def choose(
        state: np.void,
        cards: np.ndarray,
        row: np.ndarray,
        explore: int,
        key: np.uint64,
        memory: LookaheadMemory[Any],
    ) -> None:
        """Search the actions of a turn, or of the part of the turn before new information.

        Args:
            state: dtype `STATE`, not over; unchanged; hidden cards are not read.
            cards: the card table.
            row: weights and options, as of `ilp_agent.lookahead.weights.kernel_rows`.
            explore: probability of a random end in place of the best, in millionths.
            key: stream of the exploration only.
            memory: modified in place: `plan` is the result. If `judged` is above 0, `leaf` holds the features
                of the last evaluated position of the chosen end. `hands` is the model of the opponent's hand
                (`ilp_agent.lookahead.determinization.update_hand_model`).
        """
        memory.here[0] = state
        hide_information(memory.here[0], cards, state["active"])
        memory.judged[0] = 0
        found = find(cards, row, memory)
        if found == 0:
            return
        drawn, stream = exploration_end(explore, key, found), turn_stream(memory.here[0])
        best, best_value = -1, 0.0
        for number in range(found):
            if drawn >= 0 and number != drawn:
                continue
            value = value_of(number, cards, row, stream, memory)
            if best < 0 or value > best_value or (value == best_value and wins_tie(number, best, memory)):
                best, best_value = number, value
                copy_features(memory.features, memory.leaf)
        if not LOST < best_value < WON:
            memory.judged[0] = 0
        write(best, cards, memory)

    @njit_no_alloc
    def take_turn(
        game: int,
        state: np.void,
        cards: np.ndarray,
        row: np.ndarray,
        events: np.void,
        search: tuple[LookaheadMemory[Any], np.ndarray, DeckLibrary],
        used: np.void,
    ) -> None:
        """Search and play a turn, or a part of it; step of `engine.batches.make_game_loop`.

        `search` has working memory, the cards dealt (`engine.batches.dealt_cards`), and the deck library.
        """
        memory, dealt, library = search
        observe_opponent(
            state, dealt[game, 1 - state["active"]], int(row[HANDS]), cards, library, memory.hands
        )
        choose(state, cards, row, NEVER, NO_STREAM, memory)
        used["turns"] += 1
        used["judged"] += memory.judged[0]
        used["unproven"] += memory.plan[0]["unproven"]
        apply_plan(state, cards, memory.plan[0], events)

    @njit_no_alloc
    def plan(
        states: np.ndarray,
        cards: np.ndarray,
        rows: np.ndarray,
        n_shown: int,
        library: DeckLibrary,
        memory: LookaheadMemory[Any],
    ) -> None:
        """Search the turn of the only state of an array of shape (1,), which is unchanged.

        `memory.hands.shown` holds `n_shown` cards of the opponent.
        """
        update_hand_model(states[0], int(rows[0, HANDS]), n_shown, cards, library, memory.hands)
        choose(states[0], cards, rows[0], NEVER, NO_STREAM, memory)

    return LookaheadKernels(choose, make_game_loop(take_turn), plan)


BODY_KERNELS = _lookahead_kernels(
    CandidateKernels(
        body_ends.find_body_candidates,
        body_ends.body_candidate_value,
        body_ends.wins_body_tie,
        body_ends.write_body_choice,
    )
)
CARD_KERNELS = _lookahead_kernels(
    CandidateKernels(
        real.find_card_candidates, real.card_candidate_value, real.wins_card_tie, real.write_card_choice
    )
)

_LOCAL = threading.local()


def lookahead_kernels(cards: np.ndarray) -> tuple[LookaheadKernels, LookaheadMemory[Any]]:
    """Kernels of the lookahead search for a card table, and this thread's working memory.

    Kernels run without the GIL, so threads must not share working memory.
    """
    if not has_effects(cards):
        if not hasattr(_LOCAL, "bodies"):
            _LOCAL.bodies = new_lookahead_memory(body_ends.new_body_memory())
        return BODY_KERNELS, _LOCAL.bodies
    search = thread_searcher().reset_memory()
    if getattr(_LOCAL, "table", None) is not cards:
        _LOCAL.table, own, facts = cards, cards.copy(), compute_card_facts(cards)
        if hasattr(_LOCAL, "cards"):
            ends = _LOCAL.cards.ends._replace(own_cards=own, facts=facts)
            _LOCAL.cards = _LOCAL.cards._replace(ends=ends)
        else:
            _LOCAL.cards = new_lookahead_memory(real.new_card_memory(own, facts, search))
    works, memo, slots = search
    ends = _LOCAL.cards.ends._replace(works=works, memo=memo, slots=slots)
    return CARD_KERNELS, _LOCAL.cards._replace(ends=ends)


def play_batch(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,  # noqa: ARG001
    logs: np.ndarray,
    turns: np.ndarray,
    known: OpponentModelData | None = None,
) -> None:
    """Play a batch of games; see `rivals.batch.PlayBatch`."""
    rows, use = kernel_rows(weights), np.zeros(len(states), COUNTERS)
    predicts = bool((rows[:, HANDS] == PREDICTED).any())
    dealt, table, further, _ = known or OpponentModelData(unknown_decks(len(states)))
    longer, library = table_and_library(cards, predicts, has_effects(cards), table, further)
    kernels, memory = lookahead_kernels(longer)
    kernels.play_games(longer, rows, agents, states, logs, (memory, dealt, library), use)
    turns["unproven"] += use["unproven"]
