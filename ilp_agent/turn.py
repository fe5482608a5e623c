"""Turn: a position, and what of it may not be used; of real cards or of bodies."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from engine import Action, PlayerView, Position
from engine.codes import BOARD_SIZE, HERO, OWN_SIDE, UNKNOWN, ActionKind, Outcome
from engine.errors import WrongValueError

HERO_ATTACKS = -9
"""In place of the birth of a minion that attacks: the own hero."""

ARRIVED = -1_000
"""In place of the birth of a minion that attacks: less a card's number, any minion of it that comes in."""

ANY_TARGET = -99
"""In place of a target: whatever an action is aimed at."""


class ProblemError(WrongValueError, ValueError):
    """An impossible turn: the message names the argument, its value and the limit."""


class Barred(NamedTuple):
    """An action to leave out for a whole turn, to see what it is worth; not a rule of the game.

    Attributes:
        kind: PLAY, POWER or ATTACK.
        source: number of the card that is played; birth of the minion that attacks, `HERO_ATTACKS`, or a code
            of `ARRIVED`; 0 for the power.
        target: birth of the minion it is aimed at; -1 less the character's number of a hero; or `ANY_TARGET`.
    """

    kind: ActionKind
    source: int
    target: int = ANY_TARGET


@dataclass(frozen=True, eq=False)
class Turn:
    """One player's decision for the rest of a turn, on real cards or on bodies.

    Attributes:
        position: what the player to move sees.
        barred: actions to leave out.
        program: whether minions take places on the board as the turn program for bodies has it, which a turn
            made from a `TurnProblem` asks for. Else `search` and `auto` use places as the game does; `exact`
            and the integer programs solve the program in any case, which does not see what enemies' Lifesteal
            heals.

    Raises:
        ProblemError: the game is over, a card in the player's own hand is hidden, or `program` is asked for
            with real cards.
    """

    position: Position
    barred: tuple[Barred, ...] = field(default=())
    program: bool = False

    def __post_init__(self) -> None:
        if self.position.outcome != Outcome.ONGOING:
            raise ProblemError(f"the game is over in {self.position}")
        if self.program and self.position.table.effects:
            raise ProblemError(f"the turn program is for bodies, not real cards, in {self.position}")
        own = self.position.state["sides"][self.position.active]
        if UNKNOWN in own["hand"][: own["n_hand"]]:
            raise ProblemError(f"the hand of the player to move has hidden cards in {self.position}")

    @classmethod
    def from_view(cls, view: PlayerView) -> "Turn":
        """The turn of the player to move."""
        return cls(view.position)

    def without(self, action: Action) -> "Turn":
        """The same turn without a card, the power or an attack, given as an action legal at its start.

        Of a card or power with a target it is that target that is left out.
        """
        return replace(self, barred=(*self.barred, self.barred_by(action)))

    def barred_by(self, action: Action) -> Barred:
        """What bars an action that is legal at the start of the turn."""
        state = self.position.state
        own, enemy = (state["sides"][seat] for seat in (self.position.active, 1 - self.position.active))
        target = ANY_TARGET
        if action.kind == ActionKind.ATTACK or action.aimed:
            place = action.target
            if place in (HERO, OWN_SIDE + BOARD_SIZE):
                target = -1 - place
            else:
                side, slot = (own, place - OWN_SIDE) if place >= OWN_SIDE else (enemy, place)
                target = int(side["board"][slot]["born"])
        if action.kind == ActionKind.ATTACK:
            hero = action.source == HERO
            return Barred(
                action.kind, HERO_ATTACKS if hero else int(own["board"][action.source]["born"]), target
            )
        if action.kind == ActionKind.PLAY:
            return Barred(action.kind, int(own["hand"][action.source]), target)
        return Barred(action.kind, 0, target)


CardTurn = Turn
"""Its name of the time when turns of bodies were problems alone."""


def barred_records(turn: Turn) -> np.ndarray:
    """What a turn leaves out, as the search takes it: int32, shape (barred, 3)."""
    return np.array([list(map(int, one)) for one in turn.barred], np.int32).reshape(-1, 3)
