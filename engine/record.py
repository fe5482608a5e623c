"""How a game went: its record in text, which replays it, and its result."""

import json
from dataclasses import dataclass, field

from engine.actions import Action
from engine.codes import RULES_VERSION, Outcome
from engine.effects.luck import Chance
from engine.errors import NotationError
from engine.faults import Reason
from engine.notation import format_step, parse_position, parse_step
from engine.position import Position
from engine.vocabulary import EFFECTS_VERSION


@dataclass(frozen=True)
class GameRecord:
    """A game as it was played: where it began and every action, in text.

    Attributes:
        start: the first position, in notation.
        actions: every action, in notation, with the outcomes of its chance events: "play 3 {1 0}".
        rules_version: `engine.codes.RULES_VERSION` it was played under.
        effects_version: `engine.vocabulary.EFFECTS_VERSION` it was played under; 0 without effects.
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
