"""One game between two agents: played, recorded, replayed.

An agent that raises or acts illegally loses that game, with the reason recorded; other games go on.
"""

import json
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from engine.actions import Action
from engine.batches import dealt_cards
from engine.cards.table import CardTable
from engine.codes import RULES_VERSION, ActionKind, Outcome, Purpose
from engine.deckfiles import find_deck
from engine.decks import Deck, tables_of
from engine.effects.luck import Chance
from engine.errors import AgentError, IllegalActionError, NotationError
from engine.faults import AgentFaultError, Reason
from engine.keeps import Keeps, choices_of
from engine.notation import format_step, parse_position, parse_step
from engine.position import Position, empty_state
from engine.ruleset import Ruleset, find_ruleset
from engine.state import deal_game
from engine.streams import generator, stream_key
from engine.view import PlayerView, Shown
from engine.vocabulary import EFFECTS_VERSION, Ask


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
        effects = EFFECTS_VERSION if self.start.state["effects"] else 0
        return GameRecord(str(self.start), steps, effects_version=effects)

    @property
    def winner(self) -> int | None:
        """The winner's seat, 0 for the player who went first; None after a draw."""
        return {Outcome.FIRST_WINS: 0, Outcome.SECOND_WINS: 1}.get(self.outcome)


SeatKeeps = tuple[Keeps | None, Keeps | None]
"""By seat, what a player chooses to keep of the opening hand; None: the ruleset's rule."""

BY_RULE: SeatKeeps = (None, None)

Watcher = Callable[[Position, Action], None]
"""Called after each action with a copy of the true position before it, and the action."""


def deal(
    decks: tuple[Deck | str, Deck | str],
    seed: int,
    address: tuple[int, ...] = (),
    ruleset: str | Ruleset = "thesis",
    keeps: SeatKeeps = BY_RULE,
) -> Position:
    """The first position of a game: shuffled, dealt, the first player's turn begun.

    Args:
        decks: of the player who goes first, and of the other; decks or names for `engine.find_deck`.
        seed: in [0, 2**64).
        address: more integers in [0, 2**32) that name this game below the seed (`engine.streams`).
        ruleset: a name or a `Ruleset`.
        keeps: by seat the opening cards that are kept and replaced, where the ruleset has a mulligan.

    Raises:
        UnknownNameError: there is no such ruleset, or no such card to keep.
        SeedError: seed or address is out of range.
    """
    rules = find_ruleset(ruleset) if isinstance(ruleset, str) else ruleset
    first, second = (deck if isinstance(deck, Deck) else find_deck(deck) for deck in decks)
    return deal_key((first, second), stream_key(seed, *address), rules, keeps)


class Reckoned(NamedTuple):
    """What compiled games give agents that reckon with the opponent's cards.

    Attributes:
        dealt: cards that the decks had (`engine.batches.dealt_cards`).
        table: the games' cards, those of the agents' libraries among them where these are real cards.
        further: decks that an opponent may play beside the shipped ones.
    """

    dealt: np.ndarray
    table: CardTable | None = None
    further: tuple[Deck, ...] = ()


def reckoned_with(agents: Sequence[Agent], decks: Sequence[Deck]) -> tuple[tuple[Deck, ...], int]:
    """What a game on real cards needs for agents that are shown cards (their attribute `shown`).

    Returns:
        Decks whose cards the card table holds, too (their attribute `library`), and bits of `Ask`.
    """
    asking = [agent for agent in agents if getattr(agent, "shown", Shown.NOTHING)]
    if not asking or not any(deck.effects for deck in decks):
        return (), 0
    libraries = (deck for agent in asking for deck in getattr(agent, "library", ()))
    return tuple(dict.fromkeys(libraries)), Ask.GRAVES


def deal_key(
    decks: tuple[Deck, Deck],
    key: np.uint64,
    rules: Ruleset,
    keeps: SeatKeeps = BY_RULE,
    further: tuple[Deck, ...] = (),
    asks: int = 0,
) -> Position:
    """The first position of a game, as `deal` makes it, by the key of the deal's stream.

    The card table holds the cards of `further` decks too, and keeps what `asks` says (`reckoned_with`).
    """
    table, records = tables_of((*decks, *further), asks)
    state = empty_state()
    choices = [choices_of(table.cards, own) for own in keeps]
    deal_game(state, table.array, records[0], records[1], rules.array, key, choices[0], choices[1])
    return Position(state, table)


def play(
    first: Agent,
    second: Agent,
    decks: tuple[Deck | str, Deck | str],
    seed: int,
    address: tuple[int, ...] = (),
    ruleset: str | Ruleset = "thesis",
    watch: Watcher | None = None,
    keeps: SeatKeeps = BY_RULE,
) -> MatchResult:
    """Play one game. The same seed and address give the same deal and the same streams for the agents.

    Args:
        first: the agent who goes first.
        second: the other agent.
        decks: of the first, and of the second; decks, or names as `engine.find_deck` takes them.
        seed: in [0, 2**64).
        address: more integers in [0, 2**32) that name this game below the seed.
        ruleset: a name or a `Ruleset`.
        watch: called after each action with the position before it, for logs and displays.
        keeps: by seat the opening cards that are kept and replaced, where the ruleset has a mulligan.

    Raises:
        UnknownNameError: there is no such deck or ruleset, or no such card to keep.
        KeepsError: it is not said by True or False whether a card is kept.
        DeckError: a deck cannot be read.
        SeedError: seed or address is out of range.
        AgentError: `first` or `second` is not an agent.
    """
    for name, agent in (("first", first), ("second", second)):
        if isinstance(agent, type) or not callable(getattr(agent, "act", None)):
            raise AgentError(f"{name} must be an object with a method act(view, rng), got {agent!r}")
    one, two = (deck if isinstance(deck, Deck) else find_deck(deck) for deck in decks)
    rules = find_ruleset(ruleset) if isinstance(ruleset, str) else ruleset
    further = reckoned_with((first, second), (one, two))
    position = deal_key((one, two), stream_key(seed, *address), rules, keeps, *further)
    streams = [generator(seed, *address, Purpose.AGENT, seat) for seat in (0, 1)]
    return play_on((first, second), position, streams, watch, stream_key(seed, *address))


def play_on(
    agents: tuple[Agent, Agent],
    position: Position,
    streams: Sequence[np.random.Generator],
    watch: Watcher | None = None,
    key: np.uint64 | None = None,
) -> MatchResult:
    """Play a game from a position to its end. The position is modified in place.

    Args:
        agents: by seat.
        position: where to begin.
        streams: the agents' random streams, by seat.
        watch: called after each action with the position before it.
        key: of the game's stream, from which chance events are drawn; without one they are refused.
    """
    for seat, agent in enumerate(agents):
        try:
            getattr(agent, "new_game", _nothing)(seat, streams[seat])
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            result = _forfeit(position, seat, _reason_of(error), _told(error), position.copy(), [], [])
            break
    else:
        result = _play_on(agents, position, streams, watch, key)
    for agent in agents:
        with suppress(Exception):  # the game is decided
            getattr(agent, "game_over", _nothing)(result.outcome, result.reason)
    return result


def _nothing(*_: object) -> None:
    """What an agent does that does not ask when games begin and end."""


def _told(error: BaseException) -> str:
    """What an agent's error says: a fault all by itself, any other where it was raised."""
    return str(error) if isinstance(error, AgentFaultError) else "".join(traceback.format_exception(error))


def _reason_of(error: BaseException) -> Reason:
    """Why a game is lost whose agent raised this."""
    return error.reason if isinstance(error, AgentFaultError) else Reason.AGENT_ERROR


def _play_on(
    agents: tuple[Agent, Agent],
    position: Position,
    streams: Sequence[np.random.Generator],
    watch: Watcher | None,
    key: np.uint64 | None,
) -> MatchResult:
    start = position.copy()
    actions: list[Action] = []
    outcomes: list[tuple[int, ...]] = []
    chance = None if key is None else Chance.drawn(key, position.states)
    asked = [getattr(agent, "shown", Shown.NOTHING) for agent in agents]
    dealt = dealt_cards(position.states)[0] if any(asked) else ()
    while position.outcome == Outcome.ONGOING:
        seat = position.active
        try:
            if asked[seat]:
                view = PlayerView(position, seat, asked[seat], dealt[1 - seat])
            else:
                view = PlayerView(position, seat)
            action = agents[seat].act(view, streams[seat])
        except KeyboardInterrupt:
            raise
        except BaseException as raised:
            where = "" if isinstance(raised, AgentFaultError) else f"in {position}"
            error = f"{_told(raised)}{where}"
            return _forfeit(position, seat, _reason_of(raised), error, start, actions, outcomes)
        try:
            before = position.copy() if watch else position
            position.play(action, chance)
            action = Action.checked(action)
        except IllegalActionError as error:
            return _forfeit(position, seat, Reason.ILLEGAL_ACTION, str(error), start, actions, outcomes)
        if watch:
            watch(before, action)
        actions.append(action)
        if chance is not None and position.state["effects"]:
            outcomes.append(chance.outcomes)
    if position.state["turn"] > position.state["turn_cap"]:
        reason = Reason.TURN_CAP
    else:
        at_draw = not actions or actions[-1].kind == ActionKind.END_TURN
        reason = Reason.FATIGUE if at_draw else Reason.HERO_DIED
    return MatchResult(
        position.outcome, _turns(position), reason, position, start, tuple(actions), outcomes=tuple(outcomes)
    )


def _forfeit(
    position: Position,
    seat: int,
    reason: Reason,
    error: str,
    start: Position,
    actions: list[Action],
    outcomes: list[tuple[int, ...]],
) -> MatchResult:
    """The result of a game that the player at `seat` forfeits."""
    outcome = Outcome.SECOND_WINS if seat == 0 else Outcome.FIRST_WINS
    return MatchResult(
        outcome, _turns(position), reason, position, start, tuple(actions), error, tuple(outcomes)
    )


def _turns(position: Position) -> int:
    return min(int(position.state["turn"]), int(position.state["turn_cap"]))
