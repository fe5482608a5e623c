"""What agents share that choose one action at a time by compiled code."""

from collections.abc import Callable
from typing import ClassVar, Generic

import numpy as np

from engine import Action, PlayerView
from engine.codes import MAX_ACTIONS
from engine.events import EVENTS
from engine.lazy import loaded
from engine.state import STATE
from ilp_agent.profiles import Profile, W


class SingleActionAgent(Generic[W]):
    """Plays the action that its weights score highest; a subclass says how.

    Args:
        profile: the weights and the name that results show; or weights alone.
    """

    usual_name: ClassVar[str]
    with_effects: ClassVar[str]
    """Chooses in a game whose cards do what they say, as MODULE:NAME."""

    def __init__(self, profile: Profile[W] | W) -> None:
        self.weights: W
        if isinstance(profile, Profile):
            self.name, self.weights = profile.name, profile.weights
        else:
            self.name, self.weights = self.usual_name, profile
        self._array = self.weights.everything
        self._actions = np.empty(MAX_ACTIONS, np.int64)
        self._next = np.zeros(2, STATE)
        self._thought = np.zeros(1, EVENTS)

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:  # noqa: ARG002
        """The action that scores most."""
        position = view.position
        states, cards = position.states, position.table.array
        if not position.table.effects:
            return Action.from_code(self._choose(states, cards))
        choose: Callable[..., int] = loaded(self.with_effects)
        code = choose(states, cards, self._array, self._actions, self._next, self._thought)
        return Action.from_code(code)

    def _choose(self, states: np.ndarray, cards: np.ndarray) -> int:
        """The action in the only state of an array of shape (1,), as `engine.rules.encode` packs it."""
        raise NotImplementedError
