"""Solver input: `Turn`, a position with excluded actions, and `TURN`, a flat record of it for kernels."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from engine import Action, PlayerView, Position
from engine.codes import (
    BOARD_SIZE,
    COIN,
    HAND_SIZE,
    HERO,
    OWN_TARGETS,
    UNKNOWN,
    ActionKind,
    Keyword,
    Outcome,
)
from engine.errors import WrongValueError
from engine.jit import njit
from engine.state import may_attack_hero

OWN_HERO_SOURCE = -9
"""`Exclusion.source` of an attack by the own hero."""

PLAYED_THIS_TURN = -1_000
"""`Exclusion.source` of an attack by a minion played this turn: `PLAYED_THIS_TURN` minus its card number."""

ANY_TARGET = -99
"""`Exclusion.target` that matches every target."""


class ProblemError(WrongValueError, ValueError):
    """An invalid turn; the message names the argument, its value and the limit."""


class Exclusion(NamedTuple):
    """An action excluded for a whole turn, to measure the action's worth; not a rule of the game.

    Attributes:
        kind: PLAY, POWER or ATTACK.
        source: card number of a play; entity id of an attacking minion, `OWN_HERO_SOURCE`, or
            `PLAYED_THIS_TURN` minus a card number; 0 for the hero power.
        target: entity id of the target minion; -1 minus the character number of a hero; or `ANY_TARGET`.
    """

    kind: ActionKind
    source: int
    target: int = ANY_TARGET


@dataclass(frozen=True, eq=False)
class Turn:
    """The decision problem of one turn, with or without card effects.

    Attributes:
        position: the position as the player to move sees it.
        barred: excluded actions.
        program: whether board slots follow the rule of the turn program, as in turns built from a
            `TurnProblem`. Otherwise `search` and `auto` follow the game's rule. `exact` and the integer
            programs always use the program's rule and ignore healing by enemy Lifesteal.

    Raises:
        ProblemError: the game is over, a card in the player's own hand is hidden, or `program` is set in a
            game with card effects.
    """

    position: Position
    barred: tuple[Exclusion, ...] = field(default=())
    program: bool = False

    def __post_init__(self) -> None:
        if self.position.outcome != Outcome.ONGOING:
            raise ProblemError(f"the game is over in {self.position}")
        if self.program and self.position.table.effects:
            raise ProblemError(f"program=True does not support card effects, in {self.position}")
        own = self.position.state["sides"][self.position.active]
        if UNKNOWN in own["hand"][: own["n_hand"]]:
            raise ProblemError(f"the hand of the player to move has hidden cards in {self.position}")

    @classmethod
    def from_view(cls, view: PlayerView) -> "Turn":
        """The turn of the player to move, from that player's view."""
        return cls(view.position)

    def without(self, action: Action) -> "Turn":
        """The same turn with an action excluded: a card, the hero power or an attack, legal at its start.

        Of a card or power with a target only that target is excluded.
        """
        return replace(self, barred=(*self.barred, self.exclusion_of(action)))

    def exclusion_of(self, action: Action) -> Exclusion:
        """The exclusion of an action that is legal at the start of the turn."""
        state = self.position.state
        own, enemy = (state["sides"][seat] for seat in (self.position.active, 1 - self.position.active))
        target = ANY_TARGET
        if action.kind == ActionKind.ATTACK or action.aimed:
            place = action.target
            if place in (HERO, OWN_TARGETS + BOARD_SIZE):
                target = -1 - place
            else:
                side, slot = (own, place - OWN_TARGETS) if place >= OWN_TARGETS else (enemy, place)
                target = int(side["board"][slot]["entity_id"])
        if action.kind == ActionKind.ATTACK:
            hero = action.source == HERO
            return Exclusion(
                action.kind,
                OWN_HERO_SOURCE if hero else int(own["board"][action.source]["entity_id"]),
                target,
            )
        if action.kind == ActionKind.PLAY:
            return Exclusion(action.kind, int(own["hand"][action.source]), target)
        return Exclusion(action.kind, 0, target)


CardTurn = Turn
"""Former name of `Turn`, kept for callers."""


def exclusion_array(turn: Turn) -> np.ndarray:
    """Excluded actions of a turn as an array for the search: int32, shape (barred, 3)."""
    return np.array([list(map(int, exclusion)) for exclusion in turn.barred], np.int32).reshape(-1, 3)


MAX_FRIENDS = BOARD_SIZE + HAND_SIZE
"""Most friendly minions of a turn, on board and in hand."""

MAX_HITS_EACH = 2
"""Most attacks of one minion in a turn."""

MAX_HITS = MAX_HITS_EACH * BOARD_SIZE
"""Most attacks of a turn."""

FRIEND_BITS = (MAX_FRIENDS - 1).bit_length()
"""Bits of a friendly minion's index in packed keys."""

FRIEND = np.dtype(
    [
        ("attack", "i2"),  # A, >= 0
        ("health", "i2"),  # current health; 0 once dead
        ("survival", "i2"),  # B, health at the start of the turn, rewarded if it survives; 0 once dead
        ("cost", "i2"),  # C, mana; 0 for minions on board
        ("keywords", "i2"),  # bits of Keyword
        ("attacks", "i2"),  # attacks it can make this turn once on board: 0 to 2
        ("hits_hero", "i2"),  # 1 if it may attack the hero
        ("barred", "i2"),  # bit mask of excluded targets (TurnProblem.barred); 0 in a game
        ("value", "f8"),  # S, >= 0
    ]
)
"""A minion of the player to move."""

ENEMY = np.dtype(
    [
        ("attack", "i2"),  # P, >= 0
        ("health", "i2"),  # Q; 0 once dead
        ("keywords", "i2"),  # bits of Keyword
    ]
)
"""A minion of the opponent."""

TURN = np.dtype(
    [
        ("n_board", "i2"),  # m, 0 to 7
        ("n_hand", "i2"),  # h, minions in hand, 0 to 10
        ("n_enemies", "i2"),  # n, 0 to 7
        ("mana", "i2"),  # M, 0 to 10
        ("coin", "i2"),  # 1 with The Coin in hand
        ("freed_slots", "i2"),  # board slots freed by own deaths earlier in the turn; 0 at its start
        ("hero", "i2"),  # H, enemy hero's health plus armour, >= 1
        ("friends", FRIEND, (MAX_FRIENDS,)),  # n_board on board, then n_hand in hand
        ("enemies", ENEMY, (BOARD_SIZE,)),
    ]
)
"""A turn without card effects as a flat record: the input of the exact solver."""


@njit
def attacks_on_arrival(attack: int, keywords: int) -> int:
    """Attacks of a minion on the turn it is played: 0 without Charge or Rush, or with attack 0."""
    if attack == 0 or not keywords & (Keyword.CHARGE | Keyword.RUSH):
        return 0
    return 2 if keywords & Keyword.WINDFURY else 1


@njit
def read_turn(state: np.void, cards: np.ndarray, turn: np.void) -> None:
    """Read the turn of the player to move from a game state into a `TURN` record, modified in place.

    Args:
        state: dtype `engine.state.STATE`.
        cards: the card table, dtype `engine.state.CARD`.
        turn: dtype `TURN`.
    """
    own = state["sides"][state["active"]]
    enemy = state["sides"][1 - state["active"]]
    turn["n_board"] = own["n_board"]
    turn["n_enemies"] = enemy["n_board"]
    turn["mana"] = own["mana"]
    turn["hero"] = enemy["health"] + enemy["armour"]
    turn["coin"] = 0
    turn["freed_slots"] = 0
    for slot in range(own["n_board"]):
        minion = own["board"][slot]
        friend = turn["friends"][slot]
        friend["attack"] = minion["attack"]
        friend["health"] = minion["health"]
        friend["survival"] = minion["health"]
        friend["cost"] = 0
        friend["keywords"] = minion["keywords"]
        friend["attacks"] = minion["attacks_left"] if minion["attack"] > 0 else 0
        friend["hits_hero"] = may_attack_hero(minion)
        friend["barred"] = 0
        friend["value"] = cards[minion["card"]]["value"]
    n = own["n_board"]
    for place in range(own["n_hand"]):
        number = own["hand"][place]
        if number == COIN:
            turn["coin"] = 1
            continue
        card = cards[number]
        friend = turn["friends"][n]
        friend["attack"] = card["attack"]
        friend["health"] = card["health"]
        friend["survival"] = card["health"]
        friend["cost"] = card["cost"]
        friend["keywords"] = card["keywords"]
        friend["attacks"] = attacks_on_arrival(card["attack"], card["keywords"])
        friend["hits_hero"] = (card["keywords"] & Keyword.CHARGE) != 0
        friend["barred"] = 0
        friend["value"] = card["value"]
        n += 1
    turn["n_hand"] = n - own["n_board"]
    for slot in range(enemy["n_board"]):
        minion = enemy["board"][slot]
        turn["enemies"][slot]["attack"] = minion["attack"]
        turn["enemies"][slot]["health"] = minion["health"]
        turn["enemies"][slot]["keywords"] = minion["keywords"]
