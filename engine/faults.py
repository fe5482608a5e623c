"""Why games end, and the error of an agent that loses one by a fault."""

from enum import StrEnum

from engine.errors import ManaforgeError


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
