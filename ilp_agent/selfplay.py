"""Whole games between weight vectors with the exact solver, compiled: the hot path of evolution."""

import numpy as np

from engine.batches import deal_games, endings
from engine.codes import ActionKind, Outcome
from engine.jit import njit
from engine.rules import apply_plain, encode, outcome
from engine.state import STATE
from ilp_agent.exact.kernel import solve_turn
from ilp_agent.exact.work import MAX_LAYERS, USUAL_STATES, WORK
from ilp_agent.steps import PLAN
from ilp_agent.tracker import TRACKER, apply_step, begin_tracking, hero_damage
from ilp_agent.turn import TURN, read_turn

RESULT = np.dtype(
    [
        ("outcome", "i2"),  # engine.codes.Outcome
        ("turns", "i2"),  # rounds begun, at most the ruleset's cap
        ("health", "i2", (2,)),  # heroes' health at the end, by seat
        ("solves", "i4"),  # turns solved
        ("again", "i4"),  # of those, solved again within a turn, since a hero's health was not as predicted
        ("unproven", "i4"),  # plans whose optimum was not proven (ilp_agent.exact.kernel)
    ]
)
"""How a game of `play_games` ended."""


@njit
def follow(state: np.void, cards: np.ndarray, turn: np.void, plan: np.void, tracker: np.void) -> bool:
    """Carry a plan out, step by step. `state` and `tracker` are modified in place.

    Returns:
        True when it stopped because a hero's health is not what was predicted: an enemy with Lifesteal that
        was attacked healed its hero, which the turn program does not see. The rest has to be solved again.
    """
    enemy = state["sides"][1 - state["active"]]
    begin_tracking(turn, tracker)
    hero = turn["hero"]
    for step in range(plan["n_steps"]):
        hero -= hero_damage(turn, plan["kind"][step], plan["source"][step], plan["target"][step])
        apply_step(state, cards, plan, step, tracker)
        if outcome(state) != Outcome.ONGOING:
            return False
        if enemy["health"] + enemy["armour"] != hero:
            return True
    return False


def play_games(
    cards: np.ndarray,
    decks: np.ndarray,
    rules: np.void,
    weights: np.ndarray,
    agents: np.ndarray,
    deck_numbers: np.ndarray,
    keys: np.ndarray,
    results: np.ndarray,
) -> None:
    """Play a batch of games. `results` is modified in place.

    Args:
        cards: the card table, dtype `engine.state.CARD`.
        decks: dtype `engine.state.DECK`, shape (decks,).
        rules: dtype `engine.state.RULES`.
        weights: shape (agents, `N_WEIGHTS`), finite and >= 0.
        agents: who plays, shape (games, 2) integers into `weights`; column 0 goes first.
        deck_numbers: with what, shape (games, 2) integers into `decks`.
        keys: uint64, shape (games,): the deals.
        results: dtype `RESULT`, shape (games,).
    """
    states = np.zeros(len(keys), STATE)
    results[:] = 0
    deal_games(cards, decks, rules, deck_numbers, keys, states)
    play_turns(cards, weights, agents, states, results)
    results["outcome"], results["turns"] = endings(states)
    results["health"] = states["sides"]["health"]


@njit
def play_turns(
    cards: np.ndarray, weights: np.ndarray, agents: np.ndarray, states: np.ndarray, results: np.ndarray
) -> None:
    """Play each game on while an agent of the turn program is to move.

    Args:
        cards: the card table, dtype `engine.state.CARD`.
        weights: shape (agents, `N_WEIGHTS`), finite and >= 0.
        agents: who plays, shape (games, 2) integers into `weights`; -1 for another kind of agent.
        states: dtype `STATE`, shape (games,). Modified in place.
        results: dtype `RESULT`, shape (games,). Modified in place: the counts of solves are added to.
    """
    turns = np.zeros(1, TURN)
    plans = np.zeros(1, PLAN)
    works = np.zeros(1, WORK)
    trackers = np.zeros(1, TRACKER)
    layers = np.empty((MAX_LAYERS, 2, USUAL_STATES), np.float64)
    for game in range(len(states)):
        # Taken from their arrays in the loop: a record alone does not keep its memory alive.
        state, turn, plan, work, tracker = states[game], turns[0], plans[0], works[0], trackers[0]
        result = results[game]
        while outcome(state) == Outcome.ONGOING and agents[game, state["active"]] >= 0:
            read_turn(state, cards, turn)
            solve_turn(turn, weights[agents[game, state["active"]]], work, layers, plan)
            result["solves"] += 1
            result["unproven"] += plan["unproven"]
            again = follow(state, cards, turn, plan, tracker)
            if outcome(state) == Outcome.ONGOING:
                if again:
                    result["again"] += 1
                else:
                    apply_plain(state, cards, encode(ActionKind.END_TURN, 0, 0))


def play_batch(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,  # noqa: ARG001
    chances: np.ndarray,  # noqa: ARG001
    turns: np.ndarray,
) -> None:
    """See `rivals.batch.PlayBatch`."""
    results = np.zeros(len(states), RESULT)
    play_turns(cards, weights, agents, states, results)
    turns["exact"] += results["solves"]
    turns["unproven"] += results["unproven"]
