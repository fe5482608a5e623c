"""A game as it goes on, one decision after another.

An agent that raises or acts illegally loses that game, with the reason recorded; other games go on.
"""

import traceback
from typing import Protocol

import numpy as np

from engine.actions import Action
from engine.batches import dealt_cards
from engine.codes import ActionKind, Outcome
from engine.effects.luck import Chance
from engine.errors import IllegalActionError
from engine.faults import AgentFaultError, Reason
from engine.position import Position
from engine.record import MatchResult
from engine.view import PlayerView, Shown


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
