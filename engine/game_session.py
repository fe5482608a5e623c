"""A game in progress: the agents' protocol, simple agents, termination and the game record.

An agent that raises or acts illegally loses that game, with the reason recorded; other games go on.
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
from engine.view import PlayerView, Shown


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
    """An agent failed in a game, and loses it.

    Attributes:
        reason: that the game's result has.
    """

    def __init__(self, message: str, reason: Reason) -> None:
        super().__init__(message)
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.reason)


@dataclass(frozen=True)
class GameRecord:
    """A game as it was played: where it began and every action, in text.

    Attributes:
        start: the first position, in notation.
        actions: every action, in notation, with the outcomes of its chance events: "play 3 {1 0}".
        rules_version: `engine.codes.RULES_VERSION` it was played under.
        effects_version: `engine.effect_codes.EFFECTS_VERSION` it was played under; 0 without effects.
    """

    start: str
    actions: tuple[str, ...]
    rules_version: int = RULES_VERSION
    effects_version: int = 0

    def replay(self) -> Position:
        """Play the record again and return the last position.

        Raises:
            NotationError: it was recorded under other rules, or a text is broken.
            IllegalActionError: an action is not legal in its position.
        """
        if self.rules_version != RULES_VERSION:
            raise NotationError(f"recorded under rules {self.rules_version}; this is rules {RULES_VERSION}")
        if self.effects_version not in (0, EFFECTS_VERSION):
            raise NotationError(
                f"recorded under effects {self.effects_version}; this is effects {EFFECTS_VERSION}"
            )
        position = parse_position(self.start)
        for text in self.actions:
            action, outcomes = parse_step(text)
            position.play(action, Chance.given(outcomes))
        return position

    def to_json(self) -> str:
        """The record as one JSON object."""
        effects = {"effects": self.effects_version} if self.effects_version else {}
        return json.dumps(
            {"rules": self.rules_version, **effects, "start": self.start, "actions": self.actions}
        )

    @classmethod
    def from_json(cls, text: str) -> "GameRecord":
        """Read a record back.

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
        return cls(start, tuple(actions), rules, effects)


@dataclass(frozen=True)
class MatchResult:
    """How a game ended.

    Attributes:
        outcome: FIRST_WINS, SECOND_WINS or DRAW.
        turns: rounds begun, at most the ruleset's cap.
        reason: why it ended.
        error: what the agent that forfeited the game did; "" without a forfeit.
        position: the last position.
        start: the first position.
        actions: every action, in order.
        outcomes: of the chance events of each action; () in a game without effects.
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
        """The whole game in text, replayable."""
        outcomes = self.outcomes or ((),) * len(self.actions)
        steps = tuple(map(format_step, self.actions, outcomes))
        effects = EFFECTS_VERSION if self.start.table.effects else 0
        return GameRecord(str(self.start), steps, effects_version=effects)

    @property
    def winner(self) -> int | None:
        """The winner's seat, 0 for the player who went first; None after a draw."""
        return {Outcome.FIRST_WINS: 0, Outcome.SECOND_WINS: 1}.get(self.outcome)


class Agent(Protocol):
    """Anything with a name that chooses an action at every decision of its turns.

    Where an agent has methods `new_game(seat, rng)` and `game_over(outcome, reason)`, they are called before
    its first decision of a game and after its last; an error in the first loses the game.
    """

    name: str

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:
        """Choose one of `view.legal_actions`.

        Args:
            view: what the player knows (see `PlayerView`).
            rng: the agent's own stream for this game, addressed by seed and seat.
        """
        ...


class Course:
    """A game as it goes on.

    Attributes:
        position: of the game; each action changes it in place.
        start: the first position.
        actions: every action so far.
        outcomes: of the chance events of each action; [] in a game without effects.
        result: how the game ended; None before.

    Args:
        position: where it begins.
        key: of the game's stream, from which chance events are drawn; without one they are refused.
    """

    def __init__(self, position: Position, key: np.uint64 | None = None) -> None:
        self.position, self.start = position, position.copy()
        self.actions: list[Action] = []
        self.outcomes: list[tuple[int, ...]] = []
        self.result: MatchResult | None = None
        self._chance = None if key is None else Chance.drawn(key, position.states)
        self._dealt: np.ndarray | None = None
        if position.outcome != Outcome.ONGOING:
            self._end(position.outcome, self._why())

    def seat_agent(self, seat: int, agent: Agent, stream: np.random.Generator) -> None:
        """Tell an agent that its game begins; an error loses it."""
        try:
            getattr(agent, "new_game", nothing)(seat, stream)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.forfeit(seat, _reason_of(error), _told(error))

    def view(self, agent: Agent, seat: int) -> PlayerView:
        """What an agent sees at a decision: what its player knows, and what it asks to be shown beside."""
        asked = getattr(agent, "shown", Shown.NOTHING)
        if not asked:
            return PlayerView(self.position, seat)
        if self._dealt is None:
            self._dealt = dealt_cards(self.start.states)[0]
        return PlayerView(self.position, seat, asked, self._dealt[1 - seat])

    def decide(self, agent: Agent, stream: np.random.Generator) -> Action | None:
        """Let the agent act whose turn it is; None where that loses it the game."""
        seat = self.position.active
        try:
            action = agent.act(self.view(agent, seat), stream)
        except KeyboardInterrupt:
            raise
        except BaseException as raised:
            where = "" if isinstance(raised, AgentFaultError) else f"in {self.position}"
            self.forfeit(seat, _reason_of(raised), f"{_told(raised)}{where}")
            return None
        try:
            return self.play(action)
        except IllegalActionError as error:
            self.forfeit(seat, Reason.ILLEGAL_ACTION, str(error))
            return None

    def play(self, action: Action) -> Action:
        """Carry an action out, and end the game where it does; returns the action, checked.

        Raises:
            IllegalActionError: it is not legal.
        """
        self.position.play(action, self._chance)
        action = Action.checked(action)
        self.actions.append(action)
        if self._chance is not None and self.position.table.effects:
            self.outcomes.append(self._chance.outcomes)
        if self.position.outcome != Outcome.ONGOING:
            self._end(self.position.outcome, self._why())
        return action

    def forfeit(self, seat: int, reason: Reason, error: str = "") -> None:
        """End the game: the player at `seat` loses it."""
        self._end(Outcome.SECOND_WINS if seat == 0 else Outcome.FIRST_WINS, reason, error)

    def _why(self) -> Reason:
        """Why the game ended by its last action."""
        if self.position.state["turn"] > self.position.state["turn_cap"]:
            return Reason.TURN_CAP
        at_draw = not self.actions or self.actions[-1].kind == ActionKind.END_TURN
        return Reason.FATIGUE if at_draw else Reason.HERO_DIED

    def _end(self, outcome: Outcome, reason: Reason, error: str = "") -> None:
        turns = min(int(self.position.state["turn"]), int(self.position.state["turn_cap"]))
        actions, outcomes = tuple(self.actions), tuple(self.outcomes)
        self.result = MatchResult(outcome, turns, reason, self.position, self.start, actions, error, outcomes)


def nothing(*_: object) -> None:
    """What an agent does that does not ask when games begin and end."""


def _told(error: BaseException) -> str:
    """What an agent's error says: a fault all by itself, any other where it was raised."""
    return str(error) if isinstance(error, AgentFaultError) else "".join(traceback.format_exception(error))


def _reason_of(error: BaseException) -> Reason:
    """Why a game is lost whose agent raised this."""
    return error.reason if isinstance(error, AgentFaultError) else Reason.AGENT_ERROR
