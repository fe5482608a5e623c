"""Three simple agents: one that plays at random, one that passes, one that follows a script."""

from collections.abc import Iterable

import numpy as np

from engine.actions import Action
from engine.notation import parse_action
from engine.view import PlayerView


class RandomAgent:
    """Plays every legal action with the same probability."""

    name = "random"

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:
        """One of the legal actions."""
        return view.legal_actions[int(rng.integers(len(view.legal_actions)))]


class PassAgent:
    """Ends every turn at once."""

    name = "pass"

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:  # noqa: ARG002
        """The end of the turn."""
        return Action.end_turn()


class ScriptedAgent:
    """Plays the given actions in order, then ends every turn. For tests and golden games.

    Args:
        script: actions, or their texts ("attack 0 -> hero").
        name: what results call it.
    """

    def __init__(self, script: Iterable[Action | str], name: str = "script") -> None:
        self.name = name
        self._rest = iter([parse_action(action) if isinstance(action, str) else action for action in script])

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:  # noqa: ARG002
        """The next action of the script."""
        return next(self._rest, Action.end_turn())
