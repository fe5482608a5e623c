"""Positions: a game state with its card table, and validated play (unchecked kernels: `engine.rules`)."""

from collections.abc import Callable

import numpy as np

from engine import rules
from engine.actions import Action
from engine.bitfields import PLACE_MASK
from engine.cards import Card
from engine.cards.table import CardTable
from engine.codes import BOARD_SIZE, COIN, HERO, HERO_HEALTH, MAX_ACTIONS, UNKNOWN, ActionKind, Outcome
from engine.effects.chance import Chance
from engine.errors import ChanceError, IllegalActionError, NotationError
from engine.formatting import format_state
from engine.state import STATE, guards


class Position:
    """A game state with its card table.

    Attributes:
        state: a record of dtype `engine.state.STATE`. `play` modifies it in place.
        states: the same memory as an array of shape (1,); passing it to kernels is eight times as fast.
        table: the card table; hands, decks and boards have numbers of its cards.
    """

    def __init__(self, state: np.void, table: CardTable) -> None:
        self.states = _array_of(state)
        self.state: np.void = self.states[0]
        self.table = table

    def __reduce__(self) -> tuple[Callable[..., "Position"], tuple[bytes, CardTable]]:
        # The record and the array of a copy must share memory too.
        return _from_bytes, (self.state.tobytes(), self.table)

    def __deepcopy__(self, memo: object) -> "Position":
        return self.copy()

    def copy(self) -> "Position":
        """Copy the position; the immutable card table is shared."""
        return Position(empty_state(self.state), self.table)

    @property
    def active(self) -> int:
        """The seat to move: 0 is the player who went first."""
        return int(self.state["active"])

    @property
    def outcome(self) -> Outcome:
        """The game's result, or `Outcome.ONGOING`."""
        return _OUTCOMES[rules.outcome_of(self.states)]

    def legal_actions(self) -> list[Action]:
        """List the legal actions, in the order of `engine.rules.legal_actions`; none if the game is over."""
        codes = np.empty(MAX_ACTIONS, np.int64)
        n = rules.list_legal(self.states, self.table.array, codes)
        return [Action.from_code(code) for code in codes[:n].tolist()]

    def play(self, action: Action, chance: Chance | None = None) -> int:
        """Play an action; return the minions that died in an attack. The position is modified in place.

        Args:
            action: the action.
            chance: source of the outcomes of chance events.

        Returns:
            Minions that died in an attack, as bits of `engine.codes.Death`.

        Raises:
            IllegalActionError: the action is illegal; the message has the reason and the position.
            ChanceError: a chance event has no outcome. The position is unchanged.
        """
        if not self.states.flags.writeable:
            raise IllegalActionError("this position is a player's view and read-only; play on its copy()")
        try:
            action = Action.checked(action)
        except IllegalActionError as error:
            raise IllegalActionError(f"{error} in {self}") from None
        # An action code has no room for larger places, which do not exist.
        valid = 0 <= action.source <= PLACE_MASK and 0 <= action.target <= PLACE_MASK
        if not self.table.effects:
            events, before = _NO_CHANCE.array, b""
        else:
            chance = Chance.given() if chance is None else chance
            events, before = chance.array, self.state.tobytes()
        code = action.code
        deaths = rules.play_checked(self.states, self.table.array, code, events) if valid else rules.ILLEGAL
        if deaths == rules.ILLEGAL:
            raise IllegalActionError(
                f"illegal action {self.describe(action)}: {self._reason(action)}; in {self}"
            )
        if before and events[0]["n_pending_outcomes"]:
            self.states[0] = np.frombuffer(before, STATE)[0]
            count = events[0]["n_pending_outcomes"]
            raise ChanceError(
                f"{self.describe(action)} has a chance event with {count} outcomes; give one, "
                f"such as Chance.given([0]), in {self}"
            )
        return deaths

    def card(self, number: int) -> Card | None:
        """The card with a number of a hand, deck or board; None for The Coin and hidden cards."""
        return None if number in (COIN, UNKNOWN) else self.table.cards[number]

    def describe(self, action: Action) -> str:
        """Notation of an action with its card names: "attack 1 -> hero (River Crocolisk)"."""
        own, enemy = self.state["sides"][self.active], self.state["sides"][1 - self.active]
        names = []
        if action.kind == ActionKind.PLAY and 0 <= action.source < own["n_hand"]:
            names = [self.card_name(int(own["hand"][action.source]))]
        elif action.kind == ActionKind.CHOOSE and 0 <= action.source < self.state["n_options"]:
            names = [self.card_name(int(self.state["options"][action.source]))]
        elif action.kind == ActionKind.ATTACK and 0 <= action.source < own["n_board"]:
            names = [self.card_name(int(own["board"][action.source]["card"]))]
            if 0 <= action.target < enemy["n_board"]:
                names.append(self.card_name(int(enemy["board"][action.target]["card"])))
        return f"{action} ({' -> '.join(names)})" if any(names) else str(action)

    def card_name(self, number: int) -> str:
        """The name of the card with this number; "The Coin", or "?" for a hidden card."""
        card = self.card(number)
        return card.title if card else "The Coin" if number == COIN else "?"

    def __str__(self) -> str:
        return format_state(self.state, self.table)

    def _reason(self, action: Action) -> str:
        """Reason why an action is illegal, for the error message."""
        own, enemy = self.state["sides"][self.active], self.state["sides"][1 - self.active]
        if self.outcome != Outcome.ONGOING:
            return "the game is over"
        if action.kind == ActionKind.PLAY:
            if not 0 <= action.source < own["n_hand"]:
                return f"the player has {own['n_hand']} cards in hand"
            if self.table.effects:
                return "it is not in legal_actions()"  # the mana, the target, or a condition of the card
            if own["n_board"] == BOARD_SIZE:
                return "the board is full"
            return f"the player has only {own['mana']} mana"
        if action.kind != ActionKind.ATTACK or (action.source == HERO and self.table.effects):
            return "it is not in legal_actions()"
        if not 0 <= action.source < own["n_board"]:
            return f"the player has {own['n_board']} minions"
        attacker = own["board"][action.source]
        if attacker["attack"] == 0:
            return "the minion has attack 0"
        if attacker["attacks_left"] == 0:
            return "the minion cannot attack now"
        if action.target != HERO and not 0 <= action.target < enemy["n_board"]:
            return f"the opponent has {enemy['n_board']} minions"
        if any(guards(enemy["board"][place]) for place in range(enemy["n_board"])):
            return "another minion has Taunt"
        if action.target == HERO:
            return "a minion with Rush cannot attack heroes on the turn it is played"
        return "the target has Stealth"


_OUTCOMES = tuple(Outcome)

_NO_CHANCE = Chance.given()
"""Chance source for games of bodies, which have no chance events after the deal."""


def _from_bytes(state: bytes, table: CardTable) -> Position:
    return Position(np.frombuffer(bytearray(state), STATE)[0], table)


def empty_state(like: np.void | None = None) -> np.void:
    """Create a writable state record: a copy of `like`, or all zero but for the heroes' full health."""
    # Copied as bytes: numpy copies records field by field, which takes ten times as long.
    content = bytearray(STATE.itemsize) if like is None else bytearray(like.tobytes())
    state: np.void = np.frombuffer(content, STATE)[0]
    if like is None:
        state["sides"]["max_health"] = HERO_HEALTH
    return state


def set_order_of_play(state: np.void, table: CardTable) -> None:
    """Set order of play and full health of the minions of a parsed state without effects.

    The order of play is that of the boards. `state` is modified in place.
    """
    state["last_entity_id"] = 0
    for side in state["sides"]:
        for minion in side["board"][: side["n_board"]]:
            state["last_entity_id"] += 1
            minion["entity_id"] = state["last_entity_id"]
            minion["max_health"] = max(table.array[minion["card"]]["health"], minion["health"])


def _array_of(state: np.void) -> np.ndarray:
    """The array of shape (1,) that shares memory with a state record."""
    base: object = state.base
    if not isinstance(base, np.ndarray) or base.dtype != STATE or base.ndim != 1:
        raise NotationError(f"a position's state must be a record of an array of states, got {state!r}")
    if len(base) == 1:
        return base
    start, own = (array.__array_interface__["data"][0] for array in (base, state))
    place = (own - start) // base.strides[0]
    return base[place : place + 1]
