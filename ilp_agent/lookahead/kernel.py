"""The turn of an agent that looks ahead: ends of the turn, the opponent's reply to each, what is left."""

from typing import NamedTuple

import numpy as np

from engine.codes import ActionKind, Outcome
from engine.jit import njit, njit_slow
from engine.rules import apply_plain, encode, outcome
from engine.state import STATE
from engine.streams import below, derive
from ilp_agent.exact.kernel import solve_turn
from ilp_agent.exact.work import MAX_LAYERS, USUAL_STATES, WORK
from ilp_agent.lookahead.features import N_FEATURES, read_features
from ilp_agent.lookahead.pool import find_ends, finish, finish_codes
from ilp_agent.lookahead.records import MAX_ACTIONS_OF_TURN, MAX_NODES, Pool, new_pool
from ilp_agent.selfplay import follow
from ilp_agent.steps import PLAN
from ilp_agent.tracker import TRACKER, apply_step, begin_tracking
from ilp_agent.turn import TURN, read_turn

WON, LOST = 1e6, -1e6


class Memory(NamedTuple):
    """What a turn is looked ahead in. Modified in place."""

    pool: Pool
    turns: np.ndarray
    plans: np.ndarray
    works: np.ndarray
    trackers: np.ndarray
    layers: np.ndarray
    states: np.ndarray
    features: np.ndarray
    leaf: np.ndarray  # features of what was chosen for; shape (1 + N_FEATURES,), first whether there are any


@njit
def new_memory() -> Memory:
    return Memory(
        new_pool(),
        np.zeros(1, TURN),
        np.zeros(1, PLAN),
        np.zeros(1, WORK),
        np.zeros(1, TRACKER),
        np.empty((MAX_LAYERS, 2, USUAL_STATES), np.float64),
        np.zeros(4, STATE),
        np.zeros(N_FEATURES, np.float64),
        np.zeros(1 + N_FEATURES, np.float64),
    )


@njit
def reply(state: np.void, cards: np.ndarray, weights: np.ndarray, memory: Memory) -> None:
    """Let the active player play its best turn with its board alone. `state` is modified in place."""
    turn, plan, tracker = memory.turns[0], memory.plans[0], memory.trackers[0]
    own = state["sides"][state["active"]]
    hand = own["n_hand"]
    again = True
    while again and outcome(state) == Outcome.ONGOING:
        own["n_hand"] = 0
        read_turn(state, cards, turn)
        own["n_hand"] = hand
        if turn["n_board"] == 0:
            return
        solve_turn(turn, weights, memory.works[0], memory.layers, plan)
        again = follow(state, cards, turn, plan, tracker)


@njit
def value_of(state: np.void, cards: np.ndarray, seat: int, value: np.ndarray, memory: Memory) -> float:
    if state["sides"][seat]["health"] <= 0:
        return LOST
    if state["sides"][1 - seat]["health"] <= 0:
        return WON
    read_features(state, cards, seat, memory.features)
    total = 0.0
    for number in range(N_FEATURES):
        total += value[number] * memory.features[number]
    return total


@njit_slow(30)
def choose(
    state: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    replies: np.ndarray,
    value: np.ndarray,
    budget: int,
    memory: Memory,
    actions: np.ndarray,
    epsilon: float,
    key: np.uint64,
) -> int:
    """The actions of a turn. Returns how many; `actions` modified in place."""
    turn, plan, tracker = memory.turns[0], memory.plans[0], memory.trackers[0]
    seat = state["active"]
    read_turn(state, cards, turn)
    solve_turn(turn, weights, memory.works[0], memory.layers, plan)
    memory.leaf[0] = 0.0
    if plan["lethal"] or budget == 1:
        memory.states[0] = state
        begin_tracking(turn, tracker)
        for step in range(plan["n_steps"]):
            actions[step] = apply_step(memory.states[0], cards, plan, step, tracker)
        return int(plan["n_steps"])
    pool = memory.pool
    memory.leaf[0] = 0.0
    found = find_ends(state, cards, weights, budget, MAX_NODES, False, pool)
    best, best_value = 0, -np.inf
    forced = -1
    if epsilon > 0.0 and below(key, 0, 1_000_000) < epsilon * 1_000_000:
        forced = below(key, 1, found)
    for number in range(found):
        memory.states[0] = pool.end_states[number]
        then = memory.states[0]
        apply_plain(then, cards, encode(ActionKind.END_TURN, 0, 0))
        reply(then, cards, replies, memory)
        if forced >= 0 and number != forced:
            continue
        worth = value_of(then, cards, seat, value, memory)
        if worth > best_value or (worth == best_value and pool.ends[number]["value"] > pool.ends[best]["value"]):
            best, best_value = number, worth
            memory.leaf[0] = 1.0 if LOST < worth < WON else 0.0
            memory.leaf[1:] = memory.features
    return finish_codes(best, cards, pool, actions)


@njit
def play_turns(
    cards: np.ndarray, rows: np.ndarray, agents: np.ndarray, states: np.ndarray, used: np.ndarray, memory: Memory
) -> None:
    actions = np.zeros(MAX_ACTIONS_OF_TURN, np.int64)
    for game in range(len(states)):
        state = states[game]
        while outcome(state) == Outcome.ONGOING and agents[game, state["active"]] >= 0:
            row = rows[agents[game, state["active"]]]
            n = choose(
                state, cards, row[1:17], row[17:33], row[33:], int(row[0]), memory, actions, 0.0, np.uint64(0)
            )
            used[0] += 1
            used[1] += memory.pool.unproven[0]
            for step in range(n):
                apply_plain(state, cards, actions[step])
            if outcome(state) == Outcome.ONGOING:
                apply_plain(state, cards, encode(ActionKind.END_TURN, 0, 0))


@njit
def record_games(
    cards: np.ndarray,
    rows: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,
    epsilon: float,
    memory: Memory,
    examples: np.ndarray,
    whose: np.ndarray,
) -> int:
    """Self-play of rows[0] (first) and rows[1]: leaves that were chosen, and whose they are (2 game + seat)."""
    actions = np.zeros(MAX_ACTIONS_OF_TURN, np.int64)
    made = 0
    for game in range(len(states)):
        state = states[game]
        number = 0
        while outcome(state) == Outcome.ONGOING:
            seat = state["active"]
            row = rows[seat]
            n = choose(
                state, cards, row[1:17], row[17:33], row[33:], int(row[0]), memory, actions,
                epsilon, derive(keys[game], number),
            )
            number += 1
            if memory.leaf[0] > 0.0 and made < len(examples):
                examples[made] = memory.leaf[1:]
                whose[made] = 2 * game + seat
                made += 1
            for step in range(n):
                apply_plain(state, cards, actions[step])
            if outcome(state) == Outcome.ONGOING:
                apply_plain(state, cards, encode(ActionKind.END_TURN, 0, 0))
    return made
