"""Whole turns on real cards by the search, in batches of games, compiled."""

import numpy as np

from engine.codes import ActionKind, Outcome
from engine.effects.chance import draw_for
from engine.events import EVENTS
from engine.jit import njit
from engine.rules import apply, encode, outcome
from ilp_agent.search.backend import searcher_of_thread
from ilp_agent.search.facts import learn_facts
from ilp_agent.search.kernel import solve_turn
from ilp_agent.search.work import SOLVED

USE = np.dtype(
    [
        ("solves", "i4"),  # turns solved, those solved again within a turn too
        ("again", "i4"),  # of those, solved again
        ("unproven", "i4"),  # plans whose optimum was not proven
        ("states", "i8"),  # positions searched
    ]
)
"""What a game's searches took."""


@njit
def play_turns(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    chances: np.ndarray,
    works: np.ndarray,
    memo: np.ndarray,
    slots: np.ndarray,
    use: np.ndarray,
) -> None:
    """Play each game on while an agent of this kind is to move.

    Args:
        cards: the card table, dtype `engine.state.CARD`.
        weights: shape (agents, `N_TERMS`).
        agents: shape (games, 2) integers into `weights`; -1 for another kind of agent.
        states: dtype `STATE`, shape (games,). Modified in place.
        chances: uint64, shape (games,): streams of the games' chance.
        works: dtype `ilp_agent.search.work.WORK`, shape (1,); `start` says how to search. Modified in place.
        memo: as of `solve_turn`. Modified in place.
        slots: as of `solve_turn`. Modified in place.
        use: dtype `USE`, shape (games,). Added to in place.
    """
    facts, own_cards = learn_facts(cards), cards.copy()
    solutions, played = np.zeros(1, SOLVED), np.zeros(1, EVENTS)
    for game in range(len(states)):
        state, solved = states[game], solutions[0]
        draw_for(played[0], state, chances[game])
        again = 0
        while outcome(state) == Outcome.ONGOING and agents[game, state["active"]] >= 0:
            own = weights[agents[game, state["active"]]]
            solve_turn(state, own_cards, own, facts, works[0], memo, slots, solved)
            use[game]["solves"] += 1
            use[game]["again"] += again
            use[game]["unproven"] += solved["unproven"]
            use[game]["states"] += solved["states"]
            for step in range(solved["n"]):
                apply(state, cards, solved["actions"][step], played[0])
            again = solved["again"]
            if not again and outcome(state) == Outcome.ONGOING:
                apply(state, cards, encode(ActionKind.END_TURN, 0, 0), played[0])


def play_batch(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,  # noqa: ARG001
    chances: np.ndarray,
    turns: np.ndarray,
) -> None:
    """See `rivals.batch.PlayBatch`."""
    use = np.zeros(len(states), USE)
    play_turns(cards, weights, agents, states, chances, *searcher_of_thread().ready(), use)
    turns["search"] += use["solves"]
    turns["unproven"] += use["unproven"]
