"""Games of a person against an agent: in memory, as setup and actions, and gone when the server ends.

What the person is told during a game comes from the person's own view of it, and from nothing else.
"""

import secrets
import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from engine import Action, Deck, Position, find_ruleset
from engine.codes import ActionKind, Purpose
from engine.course import Course, nothing
from engine.errors import WrongValueError
from engine.faults import Reason
from engine.match import deal_key, reckoned_with
from engine.record import MatchResult
from engine.streams import generator, stream_key
from engine.view import PlayerView
from evo.play.entrants import Entrant
from evo.play.games import Roster, import_kernels
from evo.play.mulligans import keeps_with
from evo.stories.cardwords import action_text
from evo.stories.reasons import reasons_of
from evo.stories.story import Cast, board_seen_by, ending, tell
from rivals import find_kind, is_outside
from rivals.kinds import Sight

MOST_GAMES = 64
"""Games in memory; the one that was not asked for the longest goes first."""

YOU = "you"


class PlayError(WrongValueError, ValueError):
    """What a person asked for cannot be done in a game."""


@dataclass(frozen=True)
class Setup:
    """How a game is set up.

    Attributes:
        opponent: who plays against the person.
        decks: of the person, and of the opponent.
        ruleset: its name.
        seat: of the person: 0 goes first.
        seed: of the deal.
    """

    opponent: Entrant
    decks: tuple[Deck, Deck]
    ruleset: str
    seat: int
    seed: int


class GameInPlay:
    """A game of a person against an agent.

    Args:
        setup: of the game.

    Raises:
        DeckError: the opponent cannot play these decks.
    """

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        roster = Roster((setup.opponent.player,), setup.decks, find_ruleset(setup.ruleset))
        self._player = roster.players[0]
        self._lock = threading.Lock()
        self._course: Course | None = None
        self._frames: list[dict[str, Any]] = []
        self._log: list[dict[str, Any]] = []
        order = setup.decks if setup.seat == 0 else setup.decks[::-1]
        names = (YOU, setup.opponent.text)
        self.cast = Cast(
            players=names if setup.seat == 0 else (names[1], names[0]),
            decks=(order[0].name, order[1].name),
            ruleset=setup.ruleset,
        )
        self._decks = order
        self._said = False

    def state(self) -> dict[str, Any]:
        """Where the game stands, as the person sees it; first the opponent plays where it is its turn.

        Returns:
            `number` of actions so far, `seat`, `names`, `board` (`evo.stories.story.board_seen_by`), `frames`
            (what was done from the person's last action on, each with the board after it), `log` (all actions
            in words), `legal` (actions, each with `text` and `words`), `over` (a sentence, or None) and
            `error` (what the opponent did where it lost by a fault).
        """
        with self._lock:
            course = self._advanced()
            view = PlayerView(course.position, self.setup.seat)
            yours = course.result is None
            return {
                "number": len(course.actions),
                "seat": self.setup.seat,
                "names": list(self.cast.players),
                "board": board_seen_by(view),
                "frames": self._frames,
                "log": self._log,
                "legal": [_legal(view.position, action) for action in view.legal_actions] if yours else [],
                "over": ending(course.result, self.cast) if course.result is not None else None,
                "error": course.result.error.strip() if course.result is not None else "",
            }

    def act(self, number: int, text: str) -> None:
        """Carry out an action of the person.

        Args:
            number: of actions before it, so that none is carried out twice.
            text: of a legal action, in notation.

        Raises:
            PlayError: the game is elsewhere meanwhile, over, or the action is not legal.
        """
        with self._lock:
            course = self._advanced()
            if course.result is not None:
                raise PlayError("the game is over")
            if number != len(course.actions):
                raise PlayError("the game has gone on meanwhile")
            view = PlayerView(course.position, self.setup.seat)
            action = next((one for one in view.legal_actions if str(one) == text), None)
            if action is None:
                raise PlayError(f"{text!r} is not legal now")
            self._frames = []
            self._play(course, action)

    def concede(self) -> None:
        """End the game: the person gives it up.

        Raises:
            PlayError: it is over.
        """
        with self._lock:
            course = self._advanced()
            if course.result is not None:
                raise PlayError("the game is over")
            course.forfeit(self.setup.seat, Reason.CONCEDED)
            self._frames = []
            self._say_ended(course)

    def advice(self) -> dict[str, Any]:
        """What the opponent would do in the person's place, from what the person sees.

        Returns:
            Reasons as `evo.stories.reasons.reasons_of` gives them; of agents that give none, `plan` alone,
            the next action. `problem` where there is no answer.
        """
        with self._lock:
            course, kind = self._advanced(), find_kind(self._player.kind)
            if course.result is not None:
                return {"problem": "the game is over"}
            if is_outside(self._player.kind):
                return {"problem": "an agent from outside is asked for its own turns alone"}
            if kind.sight(self._player.options) == Sight.EVERYTHING:
                return {"problem": "it looks at hidden cards; what it would have done is told after the game"}
            seat, agent = self.setup.seat, self._player.agent()
            view = course.view(agent, seat)
            tell_reasons = reasons_of(agent)
            if tell_reasons is not None:
                return tell_reasons(view.position)
            stream = generator(self.setup.seed, Purpose.AGENT, seat, len(course.actions))
            action = agent.act(view, stream)
            return {"plan": _words(view.position, action)}

    def record(self) -> str:
        """The game as a record in JSON.

        Raises:
            PlayError: it is not over.
        """
        with self._lock:
            return self._ended().record.to_json()

    def story(self) -> dict[str, Any]:
        """The game with everything that was hidden, and with the opponent's reasons for both players' turns.

        Raises:
            PlayError: it is not over.
        """
        with self._lock:
            result = self._ended()
            outside = is_outside(self._player.kind)
            teller = None if outside else reasons_of(self._player.agent())
            return tell(result, self.cast, (teller, teller))

    def _ended(self) -> MatchResult:
        result = self._course.result if self._course is not None else None
        if result is None:
            raise PlayError("the game is not over; hidden cards and reasons are told after it")
        return result

    def _advanced(self) -> Course:
        """The game at a decision of the person, or over."""
        setup, enemy = self.setup, 1 - self.setup.seat
        if self._course is None:
            import_kernels([self._player], setup.decks)
            self._agent = self._player.agent()
            keeps = keeps_with(self._player.keeps, setup.decks[1], enemy)
            further = reckoned_with([self._agent], setup.decks)
            key, rules = stream_key(setup.seed), find_ruleset(setup.ruleset)
            both = (None, keeps) if setup.seat == 0 else (keeps, None)
            position = deal_key(self._decks, key, rules, both, *further)
            self._stream = generator(setup.seed, Purpose.AGENT, enemy)
            self._course = Course(position, key)
            self._course.seat_agent(enemy, self._agent, self._stream)
        course = self._course
        while course.result is None and course.position.active == enemy:
            before = course.position.copy()
            action = course.decide(self._agent, self._stream)
            if action is not None:
                self._tell(course, before, action)
        self._say_ended(course)
        return course

    def _say_ended(self, course: Course) -> None:
        """Tell the opponent once how the game ended."""
        if course.result is not None and not self._said:
            self._said = True
            with suppress(Exception):  # the game is decided
                getattr(self._agent, "game_over", nothing)(course.result.outcome, course.result.reason)

    def _play(self, course: Course, action: Action) -> None:
        before = course.position.copy()
        course.play(action)
        self._tell(course, before, action)

    def _tell(self, course: Course, before: Position, action: Action) -> None:
        """Keep what was done, in words and as the person sees the board after it."""
        seat, by = self.setup.seat, before.active
        if by == seat:
            said = _words(before, action)
        else:
            said = _seen_words(before, action, course.position)
        told = {"by": by, "turn": int(before.state["turn"]), "said": said}
        self._log.append(told)
        self._frames.append(told | {"board": board_seen_by(PlayerView(course.position, seat))})


class Games:
    """All games in play, by name."""

    def __init__(self) -> None:
        self._games: OrderedDict[str, GameInPlay] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, setup: Setup) -> str:
        """Begin a game; returns its name, which nobody can guess."""
        game, name = GameInPlay(setup), secrets.token_urlsafe(12)
        with self._lock:
            self._games[name] = game
            while len(self._games) > MOST_GAMES:
                self._games.popitem(last=False)
        return name

    def find(self, name: str) -> GameInPlay | None:
        """The game of a name; None where there is none any more."""
        with self._lock:
            game = self._games.get(name)
            if game is not None:
                self._games.move_to_end(name)
            return game


def _legal(position: Position, action: Action) -> dict[str, str]:
    return {"text": str(action), "words": _words(position, action)}


def _words(position: Position, action: Action) -> str:
    """An action with the names of its cards."""
    return "end the turn" if action.kind == ActionKind.END_TURN else action_text(position, action)


def _seen_words(before: Position, action: Action, after: Position) -> str:
    """An action of the opponent without what only the opponent knows."""
    if action.kind == ActionKind.CHOOSE:
        return "choose a card"
    secrets_of = [int(one.state["sides"][before.active]["n_secrets"]) for one in (before, after)]
    if action.kind == ActionKind.PLAY and secrets_of[1] > secrets_of[0]:
        return "play a secret"
    return _words(before, action)
