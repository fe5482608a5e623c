"""Games of a person against an agent: in memory alone, and gone when the server ends.

What the person is told during a game comes from the person's own view of it, and from nothing else.
"""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from engine import Action, Deck, Position, find_ruleset
from engine.codes import ActionKind, Purpose
from engine.effects.secrets import is_secret
from engine.errors import WrongValueError
from engine.game_session import Course, MatchResult, Reason, nothing
from engine.match import deal_key, reckoned_with
from engine.streams import generator, stream_key
from engine.view import PlayerView
from evo.game_pages.story import Cast, action_text, board_seen_by, ending, reasons_of, tell
from evo.play.entrants import Entrant
from evo.play.games import Roster, keeps_with
from evo.play.results import last_line
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
        order = setup.decks if setup.seat == 0 else setup.decks[::-1]
        names = (YOU, setup.opponent.text)
        self.cast = Cast(
            players=names if setup.seat == 0 else (names[1], names[0]),
            decks=(order[0].name, order[1].name),
            ruleset=setup.ruleset,
        )
        self._decks = order
        self._lock = threading.Lock()  # of what follows, while the opponent does not think
        self._course: Course | None = None
        self._frames: list[dict[str, Any]] = []
        self._log: list[dict[str, Any]] = []
        self._said = self._left = False
        self._story: dict[str, Any] | None = None
        self._state: dict[str, Any] = {"thinking": True, "number": 0, "frames": [], "log": []}
        self._think(self._begin)

    def state(self) -> dict[str, Any]:
        """Where the game stands, as the person sees it.

        Returns:
            `thinking` (whether the opponent acts now, so that this is not all), `number` of actions so far,
            `seat`, `names`, `board` (`evo.game_pages.story.board_seen_by`), `frames` (what was done from the
            person's last action on, each with the board after it), `log` (all actions in words), `legal`
            (actions, each with `text` and `words`), `over` (a sentence, or None) and `error` (what the
            opponent did where it lost by a fault). Before the cards are dealt the first and the lists alone.
        """
        return self._state

    def act(self, number: int, text: str) -> None:
        """Carry out an action of the person.

        Args:
            number: of actions before it, so that none is carried out twice.
            text: of a legal action, in notation.

        Raises:
            PlayError: the game is elsewhere meanwhile, over, or the action is not legal.
        """
        with self._lock:
            course = self._awaited()
            if number != len(course.actions):
                raise PlayError("the game has gone on meanwhile")
            view = PlayerView(course.position, self.setup.seat)
            action = next((one for one in view.legal_actions if str(one) == text), None)
            if action is None:
                raise PlayError(f"{text!r} is not legal now")
            self._frames = []
            before = course.position.copy()
            course.play(action)
            self._tell(course, before, action)
            self._state = self._told(course, thinking=True)
            self._think(self._go_on)

    def concede(self) -> None:
        """End the game: the person gives it up.

        Raises:
            PlayError: it is over, or the opponent thinks.
        """
        with self._lock:
            self._awaited().forfeit(self.setup.seat, Reason.CONCEDED)
            self._frames = []
            self._go_on()

    def leave(self) -> None:
        """End a game that nobody plays any more, so that the opponent is told."""
        self._left = True  # for an opponent that thinks
        with suppress(PlayError):
            self.concede()

    def _awaited(self) -> Course:
        """The game at a decision of the person.

        Raises:
            PlayError: it is not there.
        """
        if self._course is None or self._state["thinking"]:
            raise PlayError("the opponent has not done its turn yet")
        if self._course.result is not None or self._state.get("over"):
            raise PlayError("the game is over")
        return self._course

    def _think(self, what: Callable[[], None]) -> None:
        """Do what takes time apart; nobody else touches the game meanwhile."""
        self._state = {**self._state, "thinking": True}

        def think() -> None:
            try:
                what()
            except Exception as error:
                self._state = {
                    **self._state,
                    "thinking": False,
                    "legal": [],
                    "over": f"The game broke off: {error}",
                }

        threading.Thread(target=think, daemon=True).start()

    def _begin(self) -> None:
        """Deal the cards."""
        setup, enemy = self.setup, 1 - self.setup.seat
        self._agent = self._player.agent()
        keeps = keeps_with(self._player.keeps, setup.decks[1], enemy)
        further = reckoned_with([self._agent], setup.decks)
        key, rules = stream_key(setup.seed), find_ruleset(setup.ruleset)
        both = (None, keeps) if setup.seat == 0 else (keeps, None)
        position = deal_key(self._decks, key, rules, both, *further)
        self._stream = generator(setup.seed, Purpose.AGENT, enemy)
        course = Course(position, key)
        course.seat_agent(enemy, self._agent, self._stream)
        self._course = course
        self._go_on()

    def _go_on(self) -> None:
        """Let the opponent act while it is its turn, and say where the game stands after each action."""
        course, enemy = self._course, 1 - self.setup.seat
        assert course is not None
        while course.result is None and course.position.active == enemy and not self._left:
            self._state = self._told(course, thinking=True)
            before = course.position.copy()
            action = course.decide(self._agent, self._stream)
            if action is not None:
                self._tell(course, before, action)
        if self._left and course.result is None:
            course.forfeit(self.setup.seat, Reason.CONCEDED)
        if course.result is not None and not self._said:
            self._said = True
            with suppress(Exception):  # the game is decided
                getattr(self._agent, "game_over", nothing)(course.result.outcome, course.result.reason)
        self._state = self._told(course, thinking=False)

    def _told(self, course: Course, thinking: bool) -> dict[str, Any]:
        """What `state` says, complete in itself: the game may change while it is sent."""
        view, result = PlayerView(course.position, self.setup.seat), course.result
        yours = result is None and not thinking
        return {
            "thinking": thinking,
            "number": len(course.actions),
            "seat": self.setup.seat,
            "names": list(self.cast.players),
            "board": board_seen_by(view),
            "frames": list(self._frames),
            "log": list(self._log),
            "legal": [_legal(view.position, action) for action in view.legal_actions] if yours else [],
            "over": ending(result, self.cast) if result is not None else None,
            "error": last_line(result.error) if result is not None else "",
        }

    def advice(self) -> dict[str, Any]:
        """What the opponent would do in the person's place, from what the person sees.

        Returns:
            Reasons as `evo.game_pages.story.reasons_of` gives them; of agents that give none, `plan` alone,
            the next action. `problem` where there is no answer.
        """
        with self._lock:
            course, kind = self._awaited(), find_kind(self._player.kind)
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
            try:
                action = agent.act(view, stream)
            except Exception as error:
                return {"problem": f"it failed: {type(error).__name__}: {error}"}
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
            if self._story is None:
                outside = is_outside(self._player.kind)
                teller = None if outside else reasons_of(self._player.agent())
                self._story = tell(result, self.cast, (teller, teller))
            return self._story

    def _ended(self) -> MatchResult:
        result = self._course.result if self._course is not None else None
        if result is None:
            raise PlayError("the game is not over; hidden cards and reasons are told after it")
        return result

    def _tell(self, course: Course, before: Position, action: Action) -> None:
        """Keep what was done, in words and as the person sees the board after it."""
        seat, by = self.setup.seat, before.active
        if by == seat:
            said = _words(before, action)
        else:
            said = _seen_words(before, action)
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
            more = max(len(self._games) - MOST_GAMES, 0)
            gone = [self._games.popitem(last=False)[1] for _ in range(more)]
        for old in gone:
            old.leave()
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


def _seen_words(before: Position, action: Action) -> str:
    """An action of the opponent without what only the opponent knows."""
    if action.kind == ActionKind.CHOOSE:
        return "choose a card"
    if action.kind == ActionKind.PLAY:
        number = int(before.state["sides"][before.active]["hand"][action.source])
        if number >= 0 and is_secret(before.table.array[number]):
            return "play a secret"
    return _words(before, action)
