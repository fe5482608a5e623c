"""Games that ended by a fault: refused, told, and looked at again."""

from collections import Counter

import numpy as np

from engine import ManaforgeError, Outcome
from engine.screen import say_error
from evo.play.games import FAULTS, Fault, Roster, Schedule, play_one
from rivals import is_outside


class GameError(ManaforgeError, RuntimeError):
    """An agent failed in a game whose result would have counted."""


def refuse_faults(roster: Roster, games: Schedule, played: np.ndarray) -> None:
    """Refuse games lost by a fault where every result counts: a failure, say of a solver, is not weak play.

    Outside agents are not refused: a fault of theirs is a game lost, which a warning tells once.

    Raises:
        GameError: a game ended by a fault; the message describes the first.
    """
    faults = own_faults(roster, games, played)
    if len(faults):
        raise GameError(f"a game could not be played: {fault_text(roster, games, int(faults[0]))}")
    lost = zip(_losers(roster, games, played), played["fault"][played["fault"] > 0].tolist(), strict=True)
    for (name, fault), n in Counter(lost).items():
        if (name, fault) not in _told:
            _told.add((name, fault))
            say_error(f"warning: {name} lost {n:,} of {len(games):,} games ({FAULTS[Fault(fault)]})")


_told: set[tuple[str, int]] = set()
"""Agents from outside and faults of theirs that were told."""


def own_faults(roster: Roster, games: Schedule, played: np.ndarray) -> np.ndarray:
    """Numbers of the games that were lost by a fault of an agent that is not from outside."""
    own = [not is_outside(name) for name in _losers(roster, games, played)]
    return np.flatnonzero(played["fault"])[own]


def _losers(roster: Roster, games: Schedule, played: np.ndarray) -> list[str]:
    """Agent kinds of those who lost games by faults, game by game."""
    faults = np.flatnonzero(played["fault"])
    loser = games.players[faults, (played["outcome"][faults] == Outcome.FIRST_WINS).astype(np.int64)]
    return [roster.players[player].kind for player in loser]


def fault_text(roster: Roster, games: Schedule, number: int) -> str:
    """The error of a game that ended by a fault, found by playing it again."""
    return last_line(play_one(roster, games, number).error) or "no fault when played again"


def last_line(error: str) -> str:
    """The line of `MatchResult.error` that says what happened; "" without a fault."""
    errors = [line for line in error.strip().splitlines() if not line.startswith("in ")]
    return errors[-1] if errors else ""
