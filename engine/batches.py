"""Batches of games in arrays: deal, compiled play by agents, and random playouts.

This module imports no agent's kernels, so its kernels compile without them. Playouts are the core of Monte
Carlo agents, and measure the speed of the rules.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.codes import DECK_SIZE, MAX_ACTIONS, MAX_NOTED_ACTIONS, UNKNOWN, Outcome, Purpose
from engine.effects.chance import draw_from_stream
from engine.jit import njit, njit_no_alloc
from engine.rules import apply, legal_actions, outcome
from engine.state import EVENTS, STATE, deal_game, new_game
from engine.streams import below, derive

MAX_GAME_ACTIONS = 480
"""Actions of one game that its log keeps; few games have 200."""

GAME_LOG = np.dtype(
    [
        ("key", "u8"),  # of the game's chance stream
        ("n", "i4"),  # number of actions so far, even beyond `actions`
        ("actions", "i4", (MAX_GAME_ACTIONS,)),  # as of `engine.rules.encode`, in order
    ]
)
"""A game in play: its chance stream, and its actions."""


def begin_logs(keys: np.ndarray) -> np.ndarray:
    """Logs of games that begin, dtype `GAME_LOG`, shape (games,).

    Args:
        keys: uint64, shape (games,): keys of the games' chance streams.
    """
    logs = np.zeros(len(keys), GAME_LOG)
    logs["key"] = keys
    return logs


@njit_no_alloc
def log_actions(events: np.void, log: np.void) -> None:
    """Move the actions noted in `events` to the game's log. Both are modified in place."""
    for place in range(events["n_noted"]):
        number = log["n"] + place
        if place < MAX_NOTED_ACTIONS and number < MAX_GAME_ACTIONS:
            log["actions"][number] = events["noted"][place]
    if events["n_noted"] > MAX_NOTED_ACTIONS:
        log["n"] = MAX_GAME_ACTIONS  # a part is lost, so the whole counts as too long
    log["n"] += events["n_noted"]
    events["n_noted"] = 0


def make_game_loop(take_turn: Callable[..., None]) -> Callable[..., None]:
    """Build a kernel that plays many games with one kind of agent.

    Args:
        take_turn: a kernel that plays a turn or a part of one. Its arguments: index of the game, state, card
            table, the agent's row, the game's chance source (a record of dtype `EVENTS`), the agent's
            memory, and the game's usage record; it modifies the state and the last three.
    """

    @njit
    def play_games(
        cards: np.ndarray,
        rows: np.ndarray,
        agents: np.ndarray,
        states: np.ndarray,
        logs: np.ndarray,
        memory: Any,
        used: np.ndarray,
    ) -> None:
        """Play each game for as long as an agent of this kind is to move.

        Args:
            cards: the card table, dtype `engine.state.CARD`.
            rows: weights and options, shape (agents, numbers).
            agents: indices into `rows`, shape (games, 2); -1 for another kind of agent.
            states: dtype `STATE`, shape (games,). Modified in place.
            logs: dtype `GAME_LOG`, shape (games,): the games' chance streams and actions. Added to in place.
            memory: the memory of `take_turn`. Modified in place.
            used: usage records, shape (games,). Added to in place.
        """
        chance = np.zeros(1, EVENTS)
        for game in range(len(states)):
            state = states[game]
            draw_from_stream(chance[0], state, logs[game]["key"])
            chance[0]["n_noted"] = 0
            while outcome(state) == Outcome.ONGOING and agents[game, state["active"]] >= 0:
                row = rows[agents[game, state["active"]]]
                take_turn(game, state, cards, row, chance[0], memory, used[game])
                log_actions(chance[0], logs[game])

    return play_games


def game_results(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Outcomes and numbers of rounds (at most the turn cap) of games; each int64, shape (games,)."""
    outcomes = np.empty(len(states), np.int64)
    read_outcomes(states, outcomes)
    return outcomes, np.minimum(states["turn"], states["turn_cap"])


@njit
def read_outcomes(states: np.ndarray, outcomes: np.ndarray) -> None:
    """Write each game's `Outcome` to `outcomes`."""
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
    """Deal a batch of games.

    Args:
        cards: the card table, dtype `engine.state.CARD`.
        decks: dtype `engine.state.DECK`, shape (decks,).
        rules: dtype `engine.state.RULES`.
        deck_numbers: indices into `decks`, shape (games, 2); column 0 goes first.
        keys: uint64, shape (games,): keys of the deals.
        states: dtype `STATE`, shape (games,). Modified in place.
    """
    for game in range(len(keys)):
        first, second = deck_numbers[game]
        new_game(states[game], cards, decks[first], decks[second], rules, keys[game])


@njit
def deal_games_with_mulligan(
    cards: np.ndarray,
    decks: np.ndarray,
    rules: np.void,
    deck_numbers: np.ndarray,
    keys: np.ndarray,
    states: np.ndarray,
    choices: np.ndarray,
    rows: np.ndarray,
) -> None:
    """Deal a batch of games with the players' mulligan choices.

    Args:
        cards: the card table, dtype `engine.state.CARD`.
        decks: dtype `engine.state.DECK`, shape (decks,).
        rules: dtype `engine.state.RULES`.
        deck_numbers: indices into `decks`, shape (games, 2); column 0 goes first.
        keys: uint64, shape (games,): keys of the deals.
        states: dtype `STATE`, shape (games,). Modified in place.
        choices: codes of `engine.codes.MulliganCode`, uint8, shape (rows, cards).
        rows: each seat's row of `choices`, shape (games, 2); -1: the ruleset's mulligan rule.
    """
    by_rule = np.empty(0, np.uint8)
    for game in range(len(keys)):
        first, second = deck_numbers[game]
        first_choices = choices[rows[game, 0]] if rows[game, 0] >= 0 else by_rule
        second_choices = choices[rows[game, 1]] if rows[game, 1] >= 0 else by_rule
        deal_game(
            states[game], cards, decks[first], decks[second], rules, keys[game], first_choices, second_choices
        )


def dealt_cards(states: np.ndarray) -> np.ndarray:
    """Both players' full deck contents, read from newly dealt games.

    Args:
        states: dtype `STATE`, shape (games,).

    Returns:
        Card numbers, int16, shape (games, 2, `DECK_SIZE`), in arbitrary order; padded with `UNKNOWN`, as for
        games that start from a later position.
    """
    found = unknown_decks(len(states))
    read_dealt_cards(states, found)
    return found


def unknown_decks(n: int) -> np.ndarray:
    """Unknown deck contents of `n` games, shaped as `dealt_cards` returns them."""
    return np.full((n, 2, DECK_SIZE), UNKNOWN, np.int16)


@njit
def read_dealt_cards(states: np.ndarray, found: np.ndarray) -> None:
    """Collect the card numbers of decks, hands and boards in `found` (see `dealt_cards`)."""
    for game in range(len(states)):
        for seat in range(2):
            side, n = states[game]["sides"][seat], 0
            for place in range(side["n_deck"]):
                found[game, seat, n] = side["deck"][place]
                n += 1
            for place in range(side["n_hand"]):
                if side["hand"][place] >= 0 and n < DECK_SIZE:
                    found[game, seat, n] = side["hand"][place]
                    n += 1
            for place in range(side["n_board"]):
                if n < DECK_SIZE:
                    found[game, seat, n] = side["board"][place]["card"]
                    n += 1


@njit_no_alloc
def playout(state: np.void, cards: np.ndarray, actions: np.ndarray, key: np.uint64, events: np.void) -> int:
    """Play uniformly random legal actions to the end of the game.

    Args:
        state: dtype `STATE`. Modified in place.
        cards: the card table, dtype `CARD`.
        actions: workspace of integers, shape (at least `MAX_ACTIONS`,). Modified in place.
        key: stream of the choices; choice n of the game uses number n of the stream.
        events: dtype `EVENTS`, set up with the game's chance stream. Modified in place.

    Returns:
        The game's `Outcome`.
    """
    index = 0
    n = legal_actions(state, cards, actions)
    while n > 0:
        apply(state, cards, actions[below(key, index, n)], events)
        n = legal_actions(state, cards, actions)
        index += 1
    return outcome(state)


@njit
def random_games(
    cards: np.ndarray, first: np.void, second: np.void, rules: np.void, keys: np.ndarray, outcomes: np.ndarray
) -> int:
    """Deal and play a batch of games between two random agents.

    Args:
        cards: the card table, dtype `CARD`.
        first: deck of the player who goes first, dtype `DECK`.
        second: deck of the other.
        rules: the ruleset, dtype `RULES`.
        keys: a key for each game, shape (games,), uint64.
        outcomes: shape (games,), integers. Modified in place: an `Outcome` for each game.

    Returns:
        Rounds played in all games together.
    """
    states = np.zeros(1, STATE)
    actions = np.empty(MAX_ACTIONS, np.int64)
    events = np.zeros(1, EVENTS)
    rounds = 0
    for game in range(len(keys)):
        new_game(states[0], cards, first, second, rules, keys[game])
        draw_from_stream(events[0], states[0], keys[game])
        outcomes[game] = playout(states[0], cards, actions, derive(keys[game], Purpose.PLAYOUT), events[0])
        rounds += min(states[0]["turn"], states[0]["turn_cap"])
    return rounds
