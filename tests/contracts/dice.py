"""An agent that plays at random, compiled and in Python: an example of an agent with random draws."""

import numpy as np

from engine import Action, Outcome, PlayerView
from engine.batches import make_game_loop
from engine.codes import MAX_ACTIONS
from engine.jit import njit
from engine.rules import apply, legal_actions, outcome
from engine.streams import below, derive, key_of
from rivals import AgentKind


@njit
def take_turn(game, state, cards, row, events, memory, used):
    """Choice n of a turn is number n of the stream of game, seat and round."""
    keys, actions = memory
    seat, number = state["active"], 0
    key = derive(keys[game, seat], state["turn"])
    while outcome(state) == Outcome.ONGOING and state["active"] == seat:
        n = legal_actions(state, cards, actions)
        apply(state, cards, actions[below(key, number, n)], events)
        number += 1


play_games = make_game_loop(take_turn)


def play_batch(cards, weights, agents, states, keys, logs, turns) -> None:
    memory = keys, np.empty(MAX_ACTIONS, np.int64)
    play_games(cards, weights, agents, states, logs, memory, turns)


class DiceAgent:
    """The same agent in Python."""

    name = "dice"

    def __init__(self) -> None:
        self._key, self._number = np.uint64(0), 0

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:
        key = np.uint64(derive(key_of(rng), view.turn))
        self._number = self._number + 1 if key == self._key else 0
        self._key = key
        return view.legal_actions[int(below(key, self._number, len(view.legal_actions)))]


DICE = AgentKind("dice", DiceAgent, "plays at random, compiled", batch=play_batch, random=True)
