"""Player actions in readable form; `engine.rules.encode` packs an action into an integer."""

from typing import NamedTuple

import numpy as np

from engine.bitfields import (
    AIMED,
    BOARD_PLACE_SHIFT,
    OPTION_SHIFT,
    board_place_of,
    choose_one_option,
    pack_action,
    unpack_action,
)
from engine.codes import HERO, OWN_TARGETS, ActionKind
from engine.errors import IllegalActionError


class Action(NamedTuple):
    """One player action.

    Attributes:
        kind: an `ActionKind`.
        source: hand position of the card played, or board position of the attacker, from 0; `engine.HERO`
            if the hero attacks.
        target: board position of the enemy minion, from 0, or `engine.HERO`; for a targeted card or hero
            power also `engine.actions.own_target` of these, for a friendly character.
        aimed: whether a card or the hero power has a target; without one, `target` is 0.
        option: of a Choose One card: 1 or 2, in the order of its text; else 0.
        place: board position of the minion played, from 0; -1: the right end. Listed among the legal
            actions only if adjacency matters.
    """

    kind: ActionKind
    source: int = 0
    target: int = 0
    aimed: bool = False
    option: int = 0
    place: int = -1

    def __repr__(self) -> str:
        more = ", aimed=True" if self.aimed else ""
        more += f", option={self.option}" if self.option else ""
        more += f", place={self.place}" if self.place >= 0 else ""
        return f"Action(kind={self.kind!r}, source={self.source!r}, target={self.target!r}{more})"

    @staticmethod
    def end_turn() -> "Action":
        """End the turn."""
        return Action(ActionKind.END_TURN)

    @staticmethod
    def play(place: int, target: int | None = None, option: int = 0, at: int = -1) -> "Action":
        """Play a card from hand, or The Coin, with or without a target.

        Args:
            place: hand position, from 0.
            target: a character, encoded as in `Action.target`.
            option: of a Choose One card: 1 or 2.
            at: board position of the minion; -1: the right end.
        """
        return Action(ActionKind.PLAY, place, target or 0, target is not None, option, at)

    @staticmethod
    def choose(option: int) -> "Action":
        """Choose one of the offered cards, as for Discover; numbered from 0."""
        return Action(ActionKind.CHOOSE, option)

    @staticmethod
    def power(target: int | None = None) -> "Action":
        """Use the hero power, with or without a target."""
        return Action(ActionKind.POWER, 0, target or 0, target is not None)

    @staticmethod
    def attack(attacker: int, target: int) -> "Action":
        """Attack an enemy minion or the enemy hero; `engine.HERO` as `attacker` is the own hero."""
        return Action(ActionKind.ATTACK, attacker, target)

    @staticmethod
    def from_code(code: int) -> "Action":
        """Decode an action from the kernels' integer (`engine.rules.encode`)."""
        found = _BY_CODE.get(code)
        if found is None:
            kind, source, target = unpack_action(code)
            aimed = bool(code & AIMED)
            found = Action(
                ActionKind(kind), source, target, aimed, choose_one_option(code), board_place_of(code)
            )
            _BY_CODE[code] = found
        return found

    @staticmethod
    def checked(answer: object) -> "Action":
        """Validate what an agent returned, and convert its numbers to plain integers.

        Raises:
            IllegalActionError: it is not an `Action`, or one of its fields is not an integer.
        """
        if type(answer) is Action and tuple(map(type, answer)) == _TYPES:
            return answer
        try:
            if isinstance(answer, Action) and all(
                isinstance(part, int | np.integer) and not isinstance(part, bool)
                for part in (*answer[:3], *answer[4:])
            ):
                kind, source, target = (int(part) for part in answer[:3])
                option, place = int(answer.option), int(answer.place)
                if kind in set(ActionKind) and answer.aimed in (False, True):
                    return Action(ActionKind(kind), source, target, bool(answer.aimed), option, place)
            text = repr(answer)
        except Exception:  # an agent may return anything, even an object whose repr() fails
            text = object.__repr__(answer)
        raise IllegalActionError(f"an action must be an engine.Action of integers, not {text}")

    @property
    def code(self) -> int:
        """The action as the kernels' integer (`engine.rules.encode`)."""
        more = (
            (AIMED if self.aimed else 0) | self.option << OPTION_SHIFT | (self.place + 1) << BOARD_PLACE_SHIFT
        )
        return pack_action(self.kind, self.source, self.target) | more

    def __str__(self) -> str:
        if self.kind == ActionKind.ATTACK:
            attacker = "hero" if self.source == HERO else self.source
            return f"attack {attacker} -> {'hero' if self.target == HERO else self.target}"
        if self.kind == ActionKind.END_TURN:
            return "end turn"
        if self.kind == ActionKind.CHOOSE:
            return f"choose {self.source}"
        done = f"play {self.source}" if self.kind == ActionKind.PLAY else "power"
        done += f" as {self.option}" if self.option else ""
        done += f" at {self.place}" if self.place >= 0 else ""
        return f"{done} -> {format_target(self.target)}" if self.aimed else done


def own_target(character: int) -> int:
    """Target code of a friendly minion (board position) or of the own hero (`engine.HERO`)."""
    return OWN_TARGETS + character


def format_target(character: int) -> str:
    """Notation of a target: "0", "hero", "own 0", "own hero"."""
    side, place = ("own ", character - OWN_TARGETS) if character >= OWN_TARGETS else ("", character)
    return f"{side}{'hero' if place == HERO else place}"


_TYPES = (ActionKind, int, int, bool, int, int)

_BY_CODE: dict[int, Action] = {}
"""Cache of decoded actions, which are immutable and few."""
