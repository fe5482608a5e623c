"""Games of a person against an agent, and puzzles, in memory only; they are lost when the server ends.

During a game the server reveals only the person's own view of it.
"""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from engine import Action, Deck, Position, find_ruleset
from engine.codes import ActionKind, Outcome, Purpose
from engine.decks import changes_sentence
from engine.effects.chance import Chance
from engine.effects.secrets import is_secret
from engine.errors import WrongValueError
from engine.game_session import GameSession, MatchResult, Reason, no_op
from engine.match import deal_from_key, opponent_model_needs
from engine.streams import generator, stream_key
from engine.view import PlayerView
from evo.game_pages.story import (
    GameInfo,
    action_text,
    explainer_of,
    game_data,
    position_data_seen_by,
    result_sentence,
)
from evo.play.entrants import Entrant
from evo.play.games import Roster, mulligan_for_deck
from evo.play.results import error_message_of
from evo.puzzles import Puzzle
from ilp_agent.search.lethal import find_lethal
from rivals import find_kind, is_outside
from rivals.kinds import Sight

MAX_GAMES = 64
"""Most games in memory; the least recently used are dropped."""

YOU = "you"
"""Name of the person in games."""


class PlayError(WrongValueError, ValueError):
    """A request that is not possible in the game's current state."""


@dataclass(frozen=True)
class PlaySetup:
    """Setup of a game of a person against an agent.

    Attributes:
        opponent: entrant that plays against the person.
        decks: of the person, and of the opponent.
        ruleset: name of the ruleset.
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

    def __init__(self, setup: PlaySetup) -> None:
        self.setup = setup
        roster = Roster((setup.opponent.player,), setup.decks, find_ruleset(setup.ruleset))
        self._player = roster.players[0]
        order = setup.decks if setup.seat == 0 else setup.decks[::-1]
        names = (YOU, setup.opponent.text)
        self.info = GameInfo(
            players=names if setup.seat == 0 else (names[1], names[0]),
            decks=(order[0].name, order[1].name),
            ruleset=setup.ruleset,
            changes=changes_sentence(order),
        )
        self._decks = order
        self._lock = threading.Lock()  # guards the fields below while the opponent does not act
        self._course: GameSession | None = None
        self._frames: list[dict[str, Any]] = []
        self._log: list[dict[str, Any]] = []
        self._notified = self._left = False
        self._story: dict[str, Any] | None = None
        self._state: dict[str, Any] = {"thinking": True, "number": 0, "frames": [], "log": []}
        self._run_in_thread(self._begin)

    def state(self) -> dict[str, Any]:
        """The game's current state in the person's view, as JSON values.

        Returns:
            `thinking` (whether the opponent acts now: more will follow), `number` of actions so far, `seat`,
            `names`, `board` (`evo.game_pages.story.position_data_seen_by`), `frames` (actions since the
            person's last one, each with the board after it), `log` (all actions in words), `legal` (actions,
            each with `text` and `words`), `over` (a sentence, or None) and `error` (the opponent's fault, if
            the game was lost by one). Before the deal only `thinking`, `number` and the lists.
        """
        return self._state

    def act(self, number: int, text: str) -> None:
        """Play an action of the person.

        Args:
            number: number of actions before it, so that no request is played twice.
            text: a legal action, in notation.

        Raises:
            PlayError: the game has changed or is over, or the action is not legal.
        """
        with self._lock:
            course = self._at_decision()
            if number != len(course.actions):
                raise PlayError("the game has changed meanwhile; reload the page")
            view = PlayerView(course.position, self.setup.seat)
            action = next((legal for legal in view.legal_actions if str(legal) == text), None)
            if action is None:
                raise PlayError(f"{text!r} is not legal now")
            self._frames = []
            before = course.position.copy()
            course.play(action)
            self._log_action(course, before, action)
            self._state = self._snapshot(course, thinking=True)
            self._run_in_thread(self._play_opponent)

    def concede(self) -> None:
        """Concede the game for the person.

        Raises:
            PlayError: the game is over, or the opponent acts.
        """
        with self._lock:
            self._at_decision().forfeit(self.setup.seat, Reason.CONCEDED)
            self._frames = []
            self._play_opponent()

    def leave(self) -> None:
        """End an abandoned game, so that the opponent's agent learns of the end."""
        self._left = True  # read by an opponent that acts now
        with suppress(PlayError):
            self.concede()

    def _at_decision(self) -> GameSession:
        """The game session; raises PlayError unless it is at a decision of the person.

        Raises:
            PlayError: it is not the person's turn, or the game is over.
        """
        if self._course is None or self._state["thinking"]:
            raise PlayError("the opponent has not finished its turn yet")
        if self._course.result is not None or self._state.get("over"):
            raise PlayError("the game is over")
        return self._course

    def _run_in_thread(self, step: Callable[[], None]) -> None:
        """Run a slow step in a thread; the game is locked by `thinking` meanwhile."""
        self._state = {**self._state, "thinking": True}

        def think() -> None:
            try:
                step()
            except Exception as error:
                self._state = {
                    **self._state,
                    "thinking": False,
                    "legal": [],
                    "over": f"The game was aborted: {error}",
                }

        threading.Thread(target=think, daemon=True).start()

    def _begin(self) -> None:
        """Deal the cards and start the game."""
        setup, enemy = self.setup, 1 - self.setup.seat
        self._agent = self._player.with_deck(setup.decks[1].name).agent()
        keeps = mulligan_for_deck(self._player.keeps, setup.decks[1], enemy)
        opponent_model = opponent_model_needs([self._agent], setup.decks)
        key, rules = stream_key(setup.seed), find_ruleset(setup.ruleset)
        both = (None, keeps) if setup.seat == 0 else (keeps, None)
        position = deal_from_key(self._decks, key, rules, both, *opponent_model)
        self._stream = generator(setup.seed, Purpose.AGENT, enemy)
        course = GameSession(position, key)
        course.seat_agent(enemy, self._agent, self._stream)
        self._course = course
        self._play_opponent()

    def _play_opponent(self) -> None:
        """Play the opponent's actions while it is its turn, and update the state after each."""
        course, enemy = self._course, 1 - self.setup.seat
        assert course is not None
        while course.result is None and course.position.active == enemy and not self._left:
            self._state = self._snapshot(course, thinking=True)
            before = course.position.copy()
            action = course.decide(self._agent, self._stream)
            if action is not None:
                self._log_action(course, before, action)
        if self._left and course.result is None:
            course.forfeit(self.setup.seat, Reason.CONCEDED)
        if course.result is not None and not self._notified:
            self._notified = True
            with suppress(Exception):  # the game is decided
                getattr(self._agent, "game_over", no_op)(course.result.outcome, course.result.reason)
        self._state = self._snapshot(course, thinking=False)

    def _snapshot(self, course: GameSession, thinking: bool) -> dict[str, Any]:
        """Make the snapshot that `state` returns: independent of later changes of the game."""
        view, result = PlayerView(course.position, self.setup.seat), course.result
        persons_turn = result is None and not thinking
        return {
            "thinking": thinking,
            "number": len(course.actions),
            "seat": self.setup.seat,
            "names": list(self.info.players),
            "board": position_data_seen_by(view),
            "frames": list(self._frames),
            "log": list(self._log),
            "legal": [_legal(view.position, action) for action in view.legal_actions] if persons_turn else [],
            "over": result_sentence(result, self.info) if result is not None else None,
            "error": error_message_of(result.error) if result is not None else "",
        }

    def advice(self) -> dict[str, Any]:
        """Advice: the action that the opponent's agent would choose in the person's place and view.

        Returns:
            Reasons of `evo.game_pages.story.explainer_of`; otherwise only `plan`, the next action.
            `problem` if there is no answer.
        """
        with self._lock:
            course, kind = self._at_decision(), find_kind(self._player.kind)
            if is_outside(self._player.kind):
                return {"problem": "agents from outside give no advice"}
            if kind.sight(self._player.options) == Sight.EVERYTHING:
                return {"problem": "this agent uses hidden cards; its choices are shown after the game"}
            seat, agent = self.setup.seat, self._player.with_deck(self.setup.decks[0].name).agent()
            view = course.view(agent, seat)
            tell_reasons = explainer_of(agent)
            if tell_reasons is not None:
                return tell_reasons(view.position)
            stream = generator(self.setup.seed, Purpose.AGENT, seat, len(course.actions))
            try:
                action = agent.act(view, stream)
            except Exception as error:
                return {"problem": f"it failed: {type(error).__name__}: {error}"}
            return {"plan": _words(view.position, action)}

    def record(self) -> str:
        """The game's record as JSON.

        Raises:
            PlayError: the game is not over.
        """
        with self._lock:
            return self._ended().record.to_json()

    def story(self) -> dict[str, Any]:
        """The finished game with hidden cards, and with the opponent agent's reasons for both players' turns.

        Raises:
            PlayError: the game is not over.
        """
        with self._lock:
            result = self._ended()
            if self._story is None:
                outside = is_outside(self._player.kind)
                tellers = [
                    None if outside else explainer_of(self._player.with_deck(deck).agent())
                    for deck in self.info.decks
                ]
                self._story = game_data(result, self.info, tellers)
            return self._story

    def _ended(self) -> MatchResult:
        """The result of the game; raises PlayError if it is not over."""
        result = self._course.result if self._course is not None else None
        if result is None:
            raise PlayError("the game is not over; hidden cards and the agent's reasons are shown when it is")
        return result

    def _log_action(self, course: GameSession, before: Position, action: Action) -> None:
        """Append an action to the log, in words and with the board after it in the person's view."""
        seat, actor = self.setup.seat, before.active
        if actor == seat:
            words = _words(before, action)
        else:
            words = _seen_words(before, action)
        entry = {"by": actor, "turn": int(before.state["turn"]), "said": words}
        self._log.append(entry)
        self._frames.append(entry | {"board": position_data_seen_by(PlayerView(course.position, seat))})


class PuzzleInPlay:
    """A puzzle that a person solves: one turn, without an opponent who acts.

    It has the states and actions of a `GameInPlay`, so that the same page plays it.

    Args:
        puzzle: the puzzle.
        number: of the puzzle in its list, from 1.
        on_solved: called with the number when the enemy hero dies.

    Raises:
        ManaforgeError: position or solution are not in notation.
    """

    def __init__(self, puzzle: Puzzle, number: int, on_solved: Callable[[int], None] = no_op) -> None:
        self.puzzle, self.number = puzzle, number
        self._position, self._n_actions = puzzle.start(), 0
        self._seat, self._on_solved = self._position.active, on_solved
        self._lock = threading.Lock()
        self._log: list[dict[str, Any]] = []
        self._over: str | None = None
        self.solution = self._words_of(puzzle.actions())

    def _words_of(self, actions: Sequence[Action]) -> list[str]:
        """Actions from the start of the puzzle, in words."""
        here, words = self.puzzle.start(), []
        for action in actions:
            if action.kind == ActionKind.END_TURN or action not in here.legal_actions():
                raise PlayError(
                    f"the solution of puzzle {self.number} has an action that is not legal: {action}"
                )
            words.append(_words(here, action))
            here.play(action, Chance.blind())
        if here.state["sides"][1 - self._seat]["health"] > 0:
            raise PlayError(f"the solution of puzzle {self.number} does not kill the enemy hero")
        return words

    def state(self) -> dict[str, Any]:
        """The current state, as of `GameInPlay.state`; never `thinking`, and without `frames`."""
        view = PlayerView(self._position, self._seat)
        names = [YOU, "the opponent"]
        legal = view.legal_actions if self._over is None else ()
        return {
            "thinking": False,
            "number": self._n_actions,
            "seat": self._seat,
            "names": names if self._seat == 0 else names[::-1],
            "board": position_data_seen_by(view),
            "frames": [],
            "log": list(self._log),
            "legal": [_legal(view.position, action) for action in legal],
            "over": self._over,
            "error": "",
        }

    def act(self, number: int, text: str) -> None:
        """Play an action; the end of the turn and the death of a hero end the puzzle.

        Args:
            number: number of actions before it, so that no request is played twice.
            text: a legal action, in notation.

        Raises:
            PlayError: the puzzle is over or has changed, or the action is not legal.
        """
        with self._lock:
            self._check_open()
            if number != self._n_actions:
                raise PlayError("the puzzle has changed meanwhile; reload the page")
            view = PlayerView(self._position, self._seat)
            action = next((legal for legal in view.legal_actions if str(legal) == text), None)
            if action is None:
                raise PlayError(f"{text!r} is not legal now")
            words, turn = _words(view.position, action), int(self._position.state["turn"])
            if action.kind != ActionKind.END_TURN:
                self._position.play(action, Chance.blind())
            self._log.append({"by": self._seat, "turn": turn, "said": words})
            self._n_actions += 1
            if action.kind == ActionKind.END_TURN:
                self._over = "Not solved: the turn has ended, and the enemy hero lives"
                return
            if self._position.outcome != Outcome.ONGOING:
                self._finish()

    def _finish(self) -> None:
        """End the puzzle when a hero has died."""
        if self._position.state["sides"][self._seat]["health"] <= 0:
            self._over = "Not solved: your own hero has died"
            return
        n = self._n_actions
        spare = "" if n == len(self.solution) else f", {len(self.solution)} were necessary"
        self._over = f"Solved with {n} actions{spare}"
        self._on_solved(self.number)

    def concede(self) -> None:
        """Give up, and show the solution.

        Raises:
            PlayError: the puzzle is over.
        """
        with self._lock:
            self._check_open()
            self._over = f"Not solved. The solution from the start: {'; '.join(self.solution)}"

    def leave(self) -> None:
        """Leave the puzzle; nothing is to be told to anyone."""

    def _check_open(self) -> None:
        """Raise PlayError if the puzzle is over."""
        if self._over is not None:
            raise PlayError("the puzzle is over")

    def advice(self) -> dict[str, Any]:
        """A hint: the next action of a line that surely kills, or a problem if there is none any more."""
        with self._lock:
            self._check_open()
            lethal = find_lethal(self._position, chances=False)
            if lethal.certain:
                return {"plan": f"{_words(self._position, lethal.line[0])}, ..."}
            return {"problem": "the enemy hero cannot be killed any more; try again from the start"}

    def record(self) -> str:
        """A puzzle has no record: raises PlayError."""
        raise PlayError("a puzzle has no record")

    def story(self) -> dict[str, Any]:
        """A puzzle has no record: raises PlayError."""
        raise PlayError("a puzzle has no record")


AnyGame = GameInPlay | PuzzleInPlay
"""A game or a puzzle in play."""


class GameRegistry:
    """Registry of the games in play, by name."""

    def __init__(self) -> None:
        self._games: OrderedDict[str, AnyGame] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, setup: PlaySetup) -> str:
        """Begin a game; returns its name, an unguessable token."""
        return self.add(GameInPlay(setup))

    def add(self, game: AnyGame) -> str:
        """Add a game that has begun; returns its name, an unguessable token."""
        name = secrets.token_urlsafe(12)
        with self._lock:
            self._games[name] = game
            excess = max(len(self._games) - MAX_GAMES, 0)
            dropped = [self._games.popitem(last=False)[1] for _ in range(excess)]
        for old in dropped:
            old.leave()
        return name

    def find(self, name: str) -> AnyGame | None:
        """Find a game by name; None if the game is no longer in memory."""
        with self._lock:
            game = self._games.get(name)
            if game is not None:
                self._games.move_to_end(name)
            return game


def _legal(position: Position, action: Action) -> dict[str, str]:
    """A legal action, in notation and in words, as JSON values."""
    return {"text": str(action), "words": _words(position, action)}


def _words(position: Position, action: Action) -> str:
    """An action in words, with card names."""
    return "end the turn" if action.kind == ActionKind.END_TURN else action_text(position, action)


def _seen_words(before: Position, action: Action) -> str:
    """An action of the opponent in words, without hidden information."""
    if action.kind == ActionKind.CHOOSE:
        return "choose a card"
    if action.kind == ActionKind.PLAY:
        number = int(before.state["sides"][before.active]["hand"][action.source])
        if number >= 0 and is_secret(before.table.array[number]):
            return "play a secret"
    return _words(before, action)
