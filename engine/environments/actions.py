"""All actions by number, from 0: what learners that choose among a fixed number of actions need."""

from functools import cache

import numpy as np

from engine.actions import Action
from engine.codes import BOARD_SIZE, CHARACTERS, HAND_SIZE, HERO
from engine.position import Position
from engine.vocabulary import OFFERED


class ActionNumbers:
    """Numbers of actions; `numbers_of` makes them once.

    Args:
        effects: whether cards do what they say: there are some four thousand actions then, else 67.

    Attributes:
        actions: by number; the end of the turn is 0.
    """

    def __init__(self, effects: bool) -> None:
        targets = (None, *range(CHARACTERS)) if effects else (None,)
        options, places = ((0, 1, 2), (-1, *range(BOARD_SIZE))) if effects else ((0,), (-1,))
        attackers = (*range(BOARD_SIZE), HERO) if effects else tuple(range(BOARD_SIZE))
        self.actions: tuple[Action, ...] = (
            Action.end_turn(),
            *(Action.attack(one, other) for one in attackers for other in (*range(BOARD_SIZE), HERO)),
            *(
                Action.play(card, target, option, at)
                for card in range(HAND_SIZE)
                for target in targets
                for option in options
                for at in places
            ),
            *(Action.power(target) for target in targets if effects),
            *(Action.choose(card) for card in range(OFFERED) if effects),
        )
        self._numbers = {action: number for number, action in enumerate(self.actions)}

    def __len__(self) -> int:
        return len(self.actions)

    def number(self, action: Action) -> int:
        """The number of an action."""
        return self._numbers[action]

    def mask(self, position: Position) -> np.ndarray:
        """Which actions are legal for who is to move: int8, shape (actions,), 1 for legal."""
        found = np.zeros(len(self.actions), np.int8)
        found[[self._numbers[action] for action in position.legal_actions()]] = 1
        return found


@cache
def numbers_of(effects: bool) -> ActionNumbers:
    """The numbers of actions in games with or without effects."""
    return ActionNumbers(effects)
