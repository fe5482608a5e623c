"""Action: one decision of a player, readable; `engine.rules.encode` packs the same into an integer."""

from typing import NamedTuple

import numpy as np

from engine.codes import HERO, ActionKind
from engine.errors import IllegalActionError
from engine.packing import pack_action, unpack_action


class Action(NamedTuple):
    """One decision.

    Attributes:
        kind: what it does, an `ActionKind`.
        source: place in hand of the card played, or place on board of the attacker; from 0.
        target: place of the enemy minion attacked, from 0, or `engine.HERO`.
    """

    kind: ActionKind
    source: int = 0
    target: int = 0

    @staticmethod
    def end_turn() -> "Action":
        """End the turn."""
        return Action(ActionKind.END_TURN)

    @staticmethod
    def play(place: int) -> "Action":
        """Play the card at this place in hand, or The Coin."""
        return Action(ActionKind.PLAY, place)

    @staticmethod
    def attack(attacker: int, target: int) -> "Action":
        """Attack the enemy minion at `target`, or the hero with `engine.HERO`."""
        return Action(ActionKind.ATTACK, attacker, target)

    @staticmethod
    def from_code(code: int) -> "Action":
        """The action that kernels write as this integer (`engine.rules.encode`)."""
        found = _BY_CODE.get(code)
        if found is None:
            kind, source, target = unpack_action(code)
            found = _BY_CODE[code] = Action(ActionKind(kind), source, target)
        return found

    @staticmethod
    def checked(answer: object) -> "Action":
        """An agent's answer as a well-formed action, its numbers made plain integers.

        Raises:
            IllegalActionError: it is not an `Action`, or one of its fields is not an integer.
        """
        if type(answer) is Action and tuple(map(type, answer)) == _TYPES:
            return answer
        try:
            if isinstance(answer, Action) and all(
                isinstance(part, int | np.integer) and not isinstance(part, bool) for part in answer
            ):
                kind, source, target = (int(part) for part in answer)
                if kind in set(ActionKind):
                    return Action(ActionKind(kind), source, target)
            text = repr(answer)
        except Exception:  # an agent may return anything, even an object whose repr() fails
            text = object.__repr__(answer)
        raise IllegalActionError(f"an action must be an engine.Action of integers, not {text}")

    @property
    def code(self) -> int:
        """The integer kernels use (`engine.rules.encode`)."""
        return pack_action(self.kind, self.source, self.target)

    def __str__(self) -> str:
        if self.kind == ActionKind.PLAY:
            return f"play {self.source}"
        if self.kind == ActionKind.ATTACK:
            return f"attack {self.source} -> {'hero' if self.target == HERO else self.target}"
        return "end turn"


_TYPES = (ActionKind, int, int)

_BY_CODE: dict[int, Action] = {}
"""Actions are immutable and few: each is made once."""
