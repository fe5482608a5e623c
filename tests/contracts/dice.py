"""An agent that plays at random, compiled and in Python: an example of an agent with random draws."""

import numba
import numpy as np

from engine import Action, Outcome, PlayerView
from engine.codes import MAX_ACTIONS
from engine.effects.chance import draw_for
from engine.events import EVENTS
from engine.rules import apply, legal_actions, outcome
from engine.streams import below, derive, key_of
from rivals import AgentKind


@numba.njit
def play_turns(cards, agents, states, keys, chances):
    """Choice n of a turn is number n of the stream of game, seat and round."""
    actions = np.empty(MAX_ACTIONS, np.int64)
    events = np.zeros(1, EVENTS)
    for game in range(len(states)):
        state = states[game]
        draw_for(events[0], state, chances[game])
        while outcome(state) == Outcome.ONGOING and agents[game, state["active"]] >= 0:
            seat, number = state["active"], 0
            key = derive(keys[game, seat], state["turn"])
            while outcome(state) == Outcome.ONGOING and state["active"] == seat:
                n = legal_actions(state, cards, actions)
                apply(state, cards, actions[below(key, number, n)], events[0])
                number += 1


def play_batch(cards, weights, agents, states, keys, chances, turns) -> None:
    play_turns(cards, agents, states, keys, chances)


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
