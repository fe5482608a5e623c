"""A game in progress: the agents' protocol, simple agents, termination and the game record.

An agent that raises an exception or acts illegally forfeits that game, with the reason recorded; other games
continue.
"""

import json
import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

import numpy as np

from engine.actions import Action
from engine.batches import dealt_cards
from engine.codes import RULES_VERSION, ActionKind, Outcome
from engine.effect_codes import EFFECTS_VERSION
from engine.effects.chance import Chance
from engine.errors import IllegalActionError, ManaforgeError, NotationError
from engine.notation import format_step, parse_action, parse_position, parse_step
from engine.position import Position
from engine.view import OpponentInfo, PlayerView


class RandomAgent:
    """An agent that plays uniformly random legal actions."""

    name = "random"

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:
        """Choose a random legal action."""
        return view.legal_actions[int(rng.integers(len(view.legal_actions)))]


class PassAgent:
    """An agent that ends every turn at once."""

    name = "pass"

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:  # noqa: ARG002
        """End the turn."""
        return Action.end_turn()


class ScriptedAgent:
    """An agent that plays given actions in order, then ends every turn. For tests and golden games.

    Args:
        script: actions, or their notation ("attack 0 -> hero").
        name: the agent's name in results.
    """

    def __init__(self, script: Iterable[Action | str], name: str = "script") -> None:
        self.name = name
        self._rest = iter([parse_action(action) if isinstance(action, str) else action for action in script])

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:  # noqa: ARG002
        """Choose the next action of the script."""
        return next(self._rest, Action.end_turn())


class Reason(StrEnum):
    """Why a game ended."""

    HERO_DIED = "hero died"
    FATIGUE = "fatigue"
    TURN_CAP = "turn cap"
    ILLEGAL_ACTION = "illegal action"
    AGENT_ERROR = "agent error"
    TOO_LATE = "too late"
    NOT_UNDERSTOOD = "not understood"
    PROCESS_ENDED = "process ended"
    CONCEDED = "conceded"


class AgentFaultError(ManaforgeError, RuntimeError):
    """An agent failed in a game and forfeits it.

    Attributes:
        reason: the reason in the game's result.
    """

    def __init__(self, message: str, reason: Reason) -> None:
        super().__init__(message)
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.reason)


@dataclass(frozen=True)
class GameRecord:
    """A replayable record of a game: first position and actions, as text.

    Attributes:
        start: the first position, in notation.
        actions: all actions, in notation, with the outcomes of their chance events: "play 3 {1 0}".
        rules_version: the `engine.codes.RULES_VERSION` of the game.
        effects_version: the `engine.effect_codes.EFFECTS_VERSION` of the game; 0 without effects.
        patched: whether numbers of card texts were changed, which the notation does not have.
    """

    start: str
    actions: tuple[str, ...]
    rules_version: int = RULES_VERSION
    effects_version: int = 0
    patched: bool = False

    def replay(self) -> Position:
        """Replay the actions and return the last position.

        Raises:
            NotationError: it was recorded under another version or with patched cards, or is invalid.
            IllegalActionError: an action is not legal in its position.
        """
        if self.rules_version != RULES_VERSION:
            raise NotationError(
                f"the game was recorded with rules version {self.rules_version}, and this program has "
                f"version {RULES_VERSION}; replay it with the manaforge that recorded it"
            )
        if self.effects_version not in (0, EFFECTS_VERSION):
            raise NotationError(
                f"the game was recorded with effects version {self.effects_version}, and this program has "
                f"version {EFFECTS_VERSION}; replay it with the manaforge that recorded it"
            )
        if self.patched:
            raise NotationError("the game was played with patched cards, which its notation does not have")
        position = parse_position(self.start)
        for text in self.actions:
            action, outcomes = parse_step(text)
            position.play(action, Chance.given(outcomes))
        return position

    def to_json(self) -> str:
        """Serialise the record as a JSON object."""
        effects = {"effects": self.effects_version} if self.effects_version else {}
        effects |= {"patched": True} if self.patched else {}
        return json.dumps(
            {"rules": self.rules_version, **effects, "start": self.start, "actions": self.actions}
        )

    @classmethod
    def from_json(cls, text: str) -> "GameRecord":
        """Parse a record from JSON.

        Raises:
            NotationError: the text is not a record.
        """
        try:
            content = json.loads(text)
            start, actions, rules = content["start"], content["actions"], content["rules"]
            effects = content.get("effects", 0)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise NotationError(f"not a recorded game: {error!r}") from None
        if not (isinstance(start, str) and isinstance(actions, list) and type(rules) is type(effects) is int):
            raise NotationError(
                "not a recorded game: it needs a text 'start', a list 'actions', an integer 'rules' and, for "
                "a game with effects, an integer 'effects'"
            )
        if not all(isinstance(action, str) for action in actions):
            raise NotationError("not a recorded game: every action must be a text")
        return cls(start, tuple(actions), rules, effects, bool(content.get("patched")))


@dataclass(frozen=True)
class MatchResult:
    """Result of a game.

    Attributes:
        outcome: FIRST_WINS, SECOND_WINS or DRAW.
        turns: number of rounds, at most the ruleset's turn cap.
        reason: why it ended.
        error: error of the agent that forfeited the game; "" without a forfeit.
        position: the last position.
        start: the first position.
        actions: all actions, in order.
        outcomes: outcomes of each action's chance events; () in a game without effects.
    """

    outcome: Outcome
    turns: int
    reason: Reason
    position: Position
    start: Position = field(repr=False)
    actions: tuple[Action, ...] = field(repr=False)
    error: str = field(default="", repr=False)
    outcomes: tuple[tuple[int, ...], ...] = field(default=(), repr=False)

    @property
    def record(self) -> GameRecord:
        """The game as a replayable record."""
        outcomes = self.outcomes or ((),) * len(self.actions)
        steps = tuple(map(format_step, self.actions, outcomes))
        effects = EFFECTS_VERSION if self.start.table.effects else 0
        patched = any(card.changed for card in self.start.table.cards)
        return GameRecord(str(self.start), steps, effects_version=effects, patched=patched)

    @property
    def winner(self) -> int | None:
        """The winner's seat, 0 for the player who went first; None for a draw."""
        return {Outcome.FIRST_WINS: 0, Outcome.SECOND_WINS: 1}.get(self.outcome)


class Agent(Protocol):
    """Protocol of agents: an object with a name that chooses an action at each of its decisions.

    The optional methods `new_game(seat, rng)` and `game_over(outcome, reason)` are called before the first
    decision of a game and after the last; an exception in the first forfeits the game.
    """

    name: str

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:
        """Choose one of `view.legal_actions`.

        Args:
            view: the player's view of the position, without hidden information.
            rng: the agent's random stream for this game, derived from seed and seat.
        """
        ...


class GameSession:
    """A game in progress: its position, its history and, at the end, its result.

    Attributes:
        position: the current position, modified in place.
        start: the first position.
        actions: all actions so far.
        outcomes: outcomes of each action's chance events; [] in a game without effects.
        result: the result; None while the game goes on.

    Args:
        position: the first position.
        key: key of the game's chance stream; without one, actions with chance events are refused.
    """

    def __init__(self, position: Position, key: np.uint64 | None = None) -> None:
        self.position, self.start = position, position.copy()
        self.actions: list[Action] = []
        self.outcomes: list[tuple[int, ...]] = []
        self.result: MatchResult | None = None
        self._chance = None if key is None else Chance.drawn(key, position.states)
        self._dealt_cards: np.ndarray | None = None
        if position.outcome != Outcome.ONGOING:
            self._end(position.outcome, self._end_reason())

    def seat_agent(self, seat: int, agent: Agent, stream: np.random.Generator) -> None:
        """Call an agent's `new_game`, if it has one; an exception forfeits the game."""
        try:
            getattr(agent, "new_game", no_op)(seat, stream)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.forfeit(seat, _reason_of(error), _error_text(error))

    def view(self, agent: Agent, seat: int) -> PlayerView:
        """An agent's view of the position, with the `OpponentInfo` that it requests."""
        requested = getattr(agent, "shown", OpponentInfo.NOTHING)
        if not requested:
            return PlayerView(self.position, seat)
        if self._dealt_cards is None:
            self._dealt_cards = dealt_cards(self.start.states)[0]
        return PlayerView(self.position, seat, requested, self._dealt_cards[1 - seat])

    def decide(self, agent: Agent, stream: np.random.Generator) -> Action | None:
        """Ask the agent to move for an action, play it and return it; None if the agent forfeits."""
        seat = self.position.active
        try:
            action = agent.act(self.view(agent, seat), stream)
        except KeyboardInterrupt:
            raise
        except BaseException as raised:
            # The position has a line of its own, for tables that show the message alone.
            self.forfeit(seat, _reason_of(raised), f"{_error_text(raised).rstrip()}\nin {self.position}")
            return None
        try:
            return self.play(action)
        except IllegalActionError as error:
            self.forfeit(seat, Reason.ILLEGAL_ACTION, str(error))
            return None

    def play(self, action: Action) -> Action:
        """Play an action and return it validated; the game may end by it.

        Raises:
            IllegalActionError: the action is illegal.
        """
        self.position.play(action, self._chance)
        action = Action.checked(action)
        self.actions.append(action)
        if self._chance is not None and self.position.table.effects:
            self.outcomes.append(self._chance.outcomes)
        if self.position.outcome != Outcome.ONGOING:
            self._end(self.position.outcome, self._end_reason())
        return action

    def forfeit(self, seat: int, reason: Reason, error: str = "") -> None:
        """End the game as a loss of the player at `seat`."""
        self._end(Outcome.SECOND_WINS if seat == 0 else Outcome.FIRST_WINS, reason, error)

    def _end_reason(self) -> Reason:
        """Reason why the last action ended the game."""
        if self.position.state["turn"] > self.position.state["turn_cap"]:
            return Reason.TURN_CAP
        at_draw = not self.actions or self.actions[-1].kind == ActionKind.END_TURN
        return Reason.FATIGUE if at_draw else Reason.HERO_DIED

    def _end(self, outcome: Outcome, reason: Reason, error: str = "") -> None:
        turns = min(int(self.position.state["turn"]), int(self.position.state["turn_cap"]))
        actions, outcomes = tuple(self.actions), tuple(self.outcomes)
        self.result = MatchResult(outcome, turns, reason, self.position, self.start, actions, error, outcomes)


def no_op(*_: object) -> None:
    """No-op callback, for agents without `new_game` or `game_over`."""


def _error_text(error: BaseException) -> str:
    """Error text of an agent: the message of an agent fault, the traceback of any other exception."""
    return str(error) if isinstance(error, AgentFaultError) else "".join(traceback.format_exception(error))


def _reason_of(error: BaseException) -> Reason:
    """The forfeit reason for an agent's exception."""
    return error.reason if isinstance(error, AgentFaultError) else Reason.AGENT_ERROR
