"""Whole games between weight vectors with the exact solver, compiled: the hot path of evolution."""

import numpy as np

from engine.codes import BOARD_SIZE, COIN, HAND_SIZE, HERO, ActionKind, Outcome
from engine.jit import njit
from engine.rules import apply, encode, outcome
from engine.state import STATE, new_game
from ilp_agent.exact.kernel import solve_turn
from ilp_agent.exact.order import ATTACK_STEP, COIN_STEP, PLAN, PLAY_STEP
from ilp_agent.exact.work import MAX_LAYERS, USUAL_STATES, WORK
from ilp_agent.turn import TURN, read_turn

RESULT = np.dtype(
    [
        ("outcome", "i2"),  # engine.codes.Outcome
        ("turns", "i2"),  # rounds begun, at most the ruleset's cap
        ("health", "i2", (2,)),  # heroes' health at the end, by seat
        ("solves", "i4"),  # turns solved
        ("again", "i4"),  # turns solved again after a play whose result was not predicted
        ("unresolved", "i4"),  # plans without a proof (ilp_agent.exact.kernel)
    ]
)
"""How a game of `play_games` ended."""


@njit
def follow(state: np.void, cards: np.ndarray, turn: np.void, plan: np.void, work: np.void) -> bool:
    """Carry a plan out, step by step. `state` and `work` are modified in place.

    Returns:
        True when it stopped because a hero's health is not what was predicted: an enemy with Lifesteal that
        was attacked healed its hero, which the turn program does not see. The rest wants solving again.
    """
    enemy = state["sides"][1 - state["active"]]
    begin_tracking(turn, work)
    hero = turn["hero"]
    for step in range(plan["n_steps"]):
        hero = hero_after(turn, plan, step, hero)
        apply_step(state, cards, turn, plan, step, work)
        if outcome(state) != Outcome.ONGOING:
            return False
        if enemy["health"] + enemy["armour"] != hero:
            return True
    return False


@njit
def hero_after(turn: np.void, plan: np.void, step: int, hero: int) -> int:
    """The enemy hero's health and armour after a step of a plan, as predicted."""
    if plan["kind"][step] == ATTACK_STEP and plan["target"][step] == HERO:
        return int(hero - turn["friends"][plan["source"][step]]["attack"])
    return int(hero)


@njit
def begin_tracking(turn: np.void, work: np.void) -> None:
    """Note who stands where at the start of a turn. `work` is modified in place."""
    for place in range(BOARD_SIZE):
        work["at_friend"][place] = place
        work["at_enemy"][place] = place
    for place in range(HAND_SIZE):
        work["at_hand"][place] = place
    work["friends_now"] = turn["n_board"]
    work["enemies_now"] = turn["n_enemies"]


@njit
def place_of(numbers: np.ndarray, number: int) -> int:
    """Where a number stands."""
    place = 0
    while numbers[place] != number:
        place += 1
    return place


@njit
def take_out(numbers: np.ndarray, place: int) -> None:
    """Close the gap at a place. Modified in place."""
    for later in range(place, len(numbers) - 1):
        numbers[later] = numbers[later + 1]


@njit
def apply_step(
    state: np.void, cards: np.ndarray, turn: np.void, plan: np.void, step: int, work: np.void
) -> int:
    """Carry out one step of a plan and return it as the engine's action.

    The plan speaks in places at the start of the turn, the engine in present ones. `state` and `work` are
    modified in place.
    """
    own = state["sides"][state["active"]]
    enemy = state["sides"][1 - state["active"]]
    kind = plan["kind"][step]
    source = plan["source"][step]
    target = plan["target"][step]
    coin = own["n_hand"]
    for place in range(own["n_hand"]):
        if own["hand"][place] == COIN:
            coin = place
    if kind == COIN_STEP:
        action = encode(ActionKind.PLAY, coin, 0)
        apply(state, cards, action)
        return action
    if kind == PLAY_STEP:
        place = place_of(work["at_hand"], source)
        take_out(work["at_hand"], place)
        action = encode(ActionKind.PLAY, place + (1 if place >= coin else 0), 0)
        apply(state, cards, action)
        work["at_friend"][work["friends_now"]] = turn["n_board"] + source
        work["friends_now"] += 1
        return action
    slot = place_of(work["at_friend"], source)
    aim = HERO if target == HERO else place_of(work["at_enemy"], target)
    action = encode(ActionKind.ATTACK, slot, aim)
    apply(state, cards, action)
    if own["n_board"] < work["friends_now"]:
        take_out(work["at_friend"], slot)
        work["friends_now"] -= 1
    if enemy["n_board"] < work["enemies_now"]:
        take_out(work["at_enemy"], aim)
        work["enemies_now"] -= 1
    return action


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
        weights: shape (agents, 8), finite and >= 0.
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


def endings(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Outcomes of games, and rounds begun, at most the ruleset's cap; each int64, shape (games,)."""
    outcomes = np.empty(len(states), np.int64)
    read_outcomes(states, outcomes)
    return outcomes, np.minimum(states["turn"], states["turn_cap"])


@njit
def read_outcomes(states: np.ndarray, outcomes: np.ndarray) -> None:
    """How each game stands, an `Outcome`. `outcomes` is modified in place."""
    for game in range(len(states)):
        outcomes[game] = outcome(states[game])


@njit
def deal_games(
    cards: np.ndarray,
    decks: np.ndarray,
    rules: np.void,
    deck_numbers: np.ndarray,
    keys: np.ndarray,
    states: np.ndarray,
) -> None:
    """Deal a batch of games; arguments as of `play_games`. `states`, dtype `STATE`, is modified in place."""
    for game in range(len(keys)):
        first, second = deck_numbers[game]
        new_game(states[game], cards, decks[first], decks[second], rules, keys[game])


@njit
def play_turns(
    cards: np.ndarray, weights: np.ndarray, agents: np.ndarray, states: np.ndarray, results: np.ndarray
) -> None:
    """Play each game on while an agent of the turn program is to move.

    Args:
        cards: the card table, dtype `engine.state.CARD`.
        weights: shape (agents, 8), finite and >= 0.
        agents: who plays, shape (games, 2) integers into `weights`; -1 for another kind of agent.
        states: dtype `STATE`, shape (games,). Modified in place.
        results: dtype `RESULT`, shape (games,). Modified in place: the counts of solves are added to.
    """
    turns = np.zeros(1, TURN)
    plans = np.zeros(1, PLAN)
    works = np.zeros(1, WORK)
    layers = np.empty((MAX_LAYERS, 2, USUAL_STATES), np.float64)
    for game in range(len(states)):
        # Taken from their arrays in the loop: a record alone does not keep its memory alive.
        state, turn, plan, work = states[game], turns[0], plans[0], works[0]
        result = results[game]
        while outcome(state) == Outcome.ONGOING and agents[game, state["active"]] >= 0:
            read_turn(state, cards, turn)
            solve_turn(turn, weights[agents[game, state["active"]]], work, layers, plan)
            result["solves"] += 1
            result["unresolved"] += 1 - plan["resolved"]
            again = follow(state, cards, turn, plan, work)
            if outcome(state) == Outcome.ONGOING:
                if again:
                    result["again"] += 1
                else:
                    apply(state, cards, encode(ActionKind.END_TURN, 0, 0))
