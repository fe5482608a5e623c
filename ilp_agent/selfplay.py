"""Compiled games of the ILP agent, by the exact solver, the search, or either."""

from typing import NamedTuple

import numpy as np

from engine.batches import make_game_loop, unknown_decks
from engine.codes import ActionKind, Outcome
from engine.effects.card_filters import has_effects
from engine.jit import njit_no_alloc
from engine.match import OpponentModelData
from engine.rules import apply, encode, outcome
from engine.view import OpponentInfo, list_opponent_cards
from ilp_agent.exact import kernel as exact
from ilp_agent.exact.backend import Memory, memory_of_thread, supports_weights
from ilp_agent.exact.plan_record import MAX_STEPS, TRACKER, execute_plan
from ilp_agent.search import kernel as searching
from ilp_agent.search.backend import thread_searcher
from ilp_agent.search.card_facts import compute_card_facts
from ilp_agent.search.secrets import (
    BELIEF,
    SecretMemory,
    have_equal_secrets,
    search_turn_facing_secrets,
    thread_secret_memory,
)
from ilp_agent.search.work import SOLUTION
from ilp_agent.turn import read_turn
from ilp_agent.weights import N_TERMS, N_WEIGHTS

SOLVER_STATISTICS = np.dtype(
    [
        ("exact", "i4"),  # solves by the exact solver
        ("search", "i4"),  # solves by the search, repeated ones within a turn included
        ("unproven", "i4"),  # solves without proof of optimality
        ("again", "i4"),  # turns solved again after a drawn card, a chance outcome or an enemy's healing
        ("states", "i8"),  # positions searched
    ]
)
"""Solver statistics of one game."""


class ExactMemory(NamedTuple):
    """Working memory of the exact solver in compiled games. Modified in place."""

    memory: Memory
    trackers: np.ndarray  # dtype `TRACKER`, shape (1,)
    codes: np.ndarray  # actions, shape (`MAX_STEPS`,)


class SearchMemory(NamedTuple):
    """Working memory of the search in compiled games. Modified in place."""

    own_cards: np.ndarray  # the search's copy of the card table
    facts: np.ndarray  # of the cards (`compute_card_facts`)
    works: np.ndarray  # this and the next two as in `ilp_agent.search.kernel.search_turn`
    memo: np.ndarray
    slots: np.ndarray
    solved: np.ndarray  # dtype `SOLUTION`, shape (1,)


@njit_no_alloc
def solve_and_play_exactly(
    state: np.void, cards: np.ndarray, row: np.ndarray, chance: np.void, turns: ExactMemory, used: np.void
) -> None:
    """Solve the turn in `turns.memory` exactly and play it, up to the first healing by enemy Lifesteal."""
    memory = turns.memory
    turn, plan = memory.turns[0], memory.plans[0]
    exact.solve_exact_turn(turn, row, memory.works[0], memory.layers, plan)
    used["exact"] += 1
    used["unproven"] += plan["unproven"]
    _, again = execute_plan(state, cards, turn, plan, turns.trackers[0], chance, turns.codes)
    if outcome(state) == Outcome.ONGOING:
        if again:
            used["again"] += 1
        else:
            apply(state, cards, encode(ActionKind.END_TURN, 0, 0), chance)


@njit_no_alloc
def play_exact_turn(
    game: int,  # noqa: ARG001
    state: np.void,
    cards: np.ndarray,
    row: np.ndarray,
    chance: np.void,
    turns: ExactMemory,
    used: np.void,
) -> None:
    """Play one turn by the exact solver; see `engine.batches.make_game_loop`."""
    read_turn(state, cards, turns.memory.turns[0])
    solve_and_play_exactly(state, cards, row, chance, turns, used)


@njit_no_alloc
def play_searched_turn(
    game: int,  # noqa: ARG001
    state: np.void,
    cards: np.ndarray,
    row: np.ndarray,
    chance: np.void,
    turns: SearchMemory,
    used: np.void,
) -> None:
    """Play one turn by the search, up to the next chance outcome; see `engine.batches.make_game_loop`."""
    solved = turns.solved[0]
    searching.search_turn(
        state, turns.own_cards, row, turns.facts, turns.works[0], turns.memo, turns.slots, solved
    )
    used["search"] += 1
    used["unproven"] += solved["unproven"]
    used["states"] += solved["states"]
    for step in range(solved["n"]):
        apply(state, cards, solved["actions"][step], chance)
    if solved["again"]:
        used["again"] += 1
    elif outcome(state) == Outcome.ONGOING:
        apply(state, cards, encode(ActionKind.END_TURN, 0, 0), chance)


@njit_no_alloc
def play_auto_turn(
    game: int,
    state: np.void,
    cards: np.ndarray,
    row: np.ndarray,
    chance: np.void,
    turns: tuple[ExactMemory, SearchMemory],
    used: np.void,
) -> None:
    """Play one turn by the exact solver where it applies, otherwise by the search; see `make_game_loop`."""
    by_exact, by_search = turns
    read_turn(state, cards, by_exact.memory.turns[0])
    if supports_weights(by_exact.memory.turns[0], row):
        solve_and_play_exactly(state, cards, row, chance, by_exact, used)
    else:
        play_searched_turn(game, state, cards, row, chance, by_search, used)


@njit_no_alloc
def play_turn_facing_secrets(
    game: int,
    state: np.void,
    cards: np.ndarray,
    row: np.ndarray,
    chance: np.void,
    turns: tuple[SearchMemory, SecretMemory, np.ndarray, np.ndarray],
    used: np.void,
) -> None:
    """Play a turn by the search, with the opponent's hidden Secrets taken into account; see `make_game_loop`.

    `row` has the rule after the weights (`ilp_agent.search.SECRETS`). `turns` has working memory, the
    cards dealt (`engine.batches.dealt_cards`), and beliefs, dtype `BELIEF`, shape (games, 2).
    """
    search, memory, dealt, beliefs = turns
    solved, seat = search.solved[0], state["active"]
    memory.counts[1] = list_opponent_cards(
        state, cards, dealt[game, 1 - seat], seat, OpponentInfo.SECRETS, memory.shown
    )
    search_turn_facing_secrets(
        state,
        search.own_cards,
        row[:N_TERMS],
        search.facts,
        search.works[0],
        search.memo,
        search.slots,
        solved,
        int(row[N_TERMS]),
        memory,
        beliefs[game, seat],
    )
    used["search"] += 1
    used["unproven"] += solved["unproven"]
    used["states"] += solved["states"]
    for step in range(solved["n"]):
        memory.states[0] = state
        apply(state, cards, solved["actions"][step], chance)
        if not have_equal_secrets(memory.states[0]["sides"][1 - seat], state["sides"][1 - seat]):
            used["again"] += 1
            return  # what follows was planned for other Secrets
    if solved["again"]:
        used["again"] += 1
    elif outcome(state) == Outcome.ONGOING:
        apply(state, cards, encode(ActionKind.END_TURN, 0, 0), chance)


play_exact_games = make_game_loop(play_exact_turn)
play_searched_games = make_game_loop(play_searched_turn)
play_auto_games = make_game_loop(play_auto_turn)
play_games_facing_secrets = make_game_loop(play_turn_facing_secrets)


def exact_memory() -> ExactMemory:
    """This thread's working memory for the exact solver."""
    return ExactMemory(memory_of_thread(), np.zeros(1, TRACKER), np.zeros(MAX_STEPS, np.int64))


def search_memory(cards: np.ndarray, limit: int | None = None) -> SearchMemory:
    """This thread's working memory for the search with a card table, as `Searcher.search` uses it."""
    beam = limit is None and has_effects(cards)
    search, solved = thread_searcher().reset_memory(limit, beam), np.zeros(1, SOLUTION)
    return SearchMemory(cards.copy(), compute_card_facts(cards), *search, solved)


def split_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split rows of compiled games into weights and the rule for hidden Secrets, 0 where a row has none."""
    if rows.shape[1] <= N_TERMS:
        return rows, np.zeros(len(rows), np.int64)
    return np.ascontiguousarray(rows[:, :N_TERMS]), rows[:, N_TERMS].astype(np.int64)


def _add_statistics(use: np.ndarray, turns: np.ndarray) -> None:
    """Add the games' solver statistics to `turns`, dtype `rivals.batch.TURNS`, modified in place."""
    for name in turns.dtype.names or ():
        turns[name] += use[name]


def exact_batch(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,  # noqa: ARG001
    logs: np.ndarray,
    turns: np.ndarray,
    known: OpponentModelData | None = None,  # noqa: ARG001
) -> None:
    """Play a batch of games by the exact solver; see `rivals.batch.PlayBatch`."""
    weights, _ = split_rows(weights)
    use = np.zeros(len(states), SOLVER_STATISTICS)
    play_exact_games(cards, weights, agents, states, logs, exact_memory(), use)
    _add_statistics(use, turns)


def searched_batch(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,  # noqa: ARG001
    logs: np.ndarray,
    turns: np.ndarray,
    known: OpponentModelData | None = None,
) -> None:
    """Play a batch of games by the search; see `rivals.batch.PlayBatch`."""
    own, rules = split_rows(weights)
    use = np.zeros(len(states), SOLVER_STATISTICS)
    if rules.any() and has_effects(cards):
        dealt = unknown_decks(len(states)) if known is None else known.dealt
        beliefs = None if known is None else known.beliefs
        beliefs = np.zeros((len(states), 2), BELIEF) if beliefs is None else beliefs
        memory = search_memory(cards), thread_secret_memory(), dealt, beliefs
        play_games_facing_secrets(cards, weights, agents, states, logs, memory, use)
    else:
        play_searched_games(cards, own, agents, states, logs, search_memory(cards), use)
    _add_statistics(use, turns)


def auto_batch(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,
    logs: np.ndarray,
    turns: np.ndarray,
    known: OpponentModelData | None = None,
) -> None:
    """Play a batch of games by the exact solver where it applies, otherwise by the search.

    See `rivals.batch.PlayBatch`.
    """
    if has_effects(cards):
        searched_batch(cards, weights, agents, states, keys, logs, turns, known)
        return
    weights, _ = split_rows(weights)
    if weights[:, N_WEIGHTS:].any():
        both, use = (exact_memory(), search_memory(cards)), np.zeros(len(states), SOLVER_STATISTICS)
        play_auto_games(cards, weights, agents, states, logs, both, use)
        _add_statistics(use, turns)
    else:
        exact_batch(cards, weights, agents, states, keys, logs, turns)
