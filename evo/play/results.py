"""Check workers' results, and report games that ended by a fault."""

import hashlib
import time
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from engine import ManaforgeError, Outcome
from engine.errors import WrongValueError
from engine.terminal import say_error
from evo.play.games import FAULTS, GAME, SOLVED, Fault, Roster, Schedule, play_one, play_schedule
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


class PoolError(ManaforgeError, RuntimeError):
    """A pool that cannot start, lost its workers, or got no good result from them."""


class PlaceError(PoolError, WrongValueError):
    """Where games are to be played is wrong: an address that is none, or that this pool does not join."""


class PoolLostError(PoolError):
    """A pool that ended while it played; nothing that was finished is lost."""

    exit_code = 3


class WorkerDisagreesError(PoolError):
    """A worker's game ended differently than on this machine; the message names both."""


class VersionError(PoolError):
    """A worker has other rules, cards or kernels; the message names them."""


class Answer(NamedTuple):
    """The answer of a worker for a chunk.

    Attributes:
        address: of the games it played (`address_of`).
        played: dtype `evo.play.games.GAME`, shape (games,).
        sums: see `sums_of`, computed by the worker.
        seconds: time spent playing.
        worker: text that identifies the worker.
    """

    address: str
    played: np.ndarray
    sums: tuple[int, ...]
    seconds: float
    worker: str


def address_of(games: Schedule) -> str:
    """A hash that identifies games: players, decks and deals."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (games.players, games.decks, games.keys):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def sums_of(played: np.ndarray) -> tuple[int, ...]:
    """Games by outcome, faults, rounds and solved turns, computed and compared at both ends."""
    outcomes = np.bincount(np.clip(played["outcome"], 0, 3), minlength=4)
    sums = (played[name].astype(np.int64).sum() for name in ("fault", "turns", *SOLVED))
    return (*map(int, outcomes), *map(int, sums))


def play_chunk(roster: Roster, games: Schedule, worker: str = "here") -> Answer:
    """Play games as a worker does."""
    began = time.perf_counter()
    played = play_schedule(roster, games)
    return Answer(address_of(games), played, sums_of(played), time.perf_counter() - began, worker)


def impossible_games(played: np.ndarray, turn_cap: int) -> np.ndarray:
    """Numbers of the games that cannot have ended as results say.

    Args:
        played: dtype `evo.play.games.GAME`, shape (games,).
        turn_cap: the last round of a game.
    """
    known = np.isin(played["outcome"], [int(outcome) for outcome in Outcome if outcome != Outcome.ONGOING])
    known &= np.isin(played["fault"], [int(fault) for fault in Fault])
    known &= (played["turns"] >= 1) & (played["turns"] <= turn_cap) & (played["unproven"] >= 0)
    known &= (played["exact"] >= 0) & (played["search"] >= 0)
    return np.flatnonzero(~known)


def refusal(answer: object, games: Schedule, roster: Roster) -> str:
    """Why an answer is refused; "" for a good one."""
    if not isinstance(answer, Answer):
        return f"it is not an answer but {type(answer).__name__}"
    fields: tuple[Any, ...] = tuple(answer)  # each of any type
    address, played, sums, seconds, worker = fields
    n = len(games)
    if not isinstance(played, np.ndarray) or played.dtype != GAME:
        return "it does not hold results of games"
    if played.shape != (n,):
        return f"it holds results of shape {played.shape} for {n} games"
    if not isinstance(address, str) or address != address_of(games):
        return "it is for other games than were asked for"
    if not isinstance(worker, str):
        return f"its worker is not a name but {type(worker).__name__}"
    if not isinstance(seconds, float) or not 0 <= seconds < np.inf:
        return f"it took {seconds!r} seconds"
    impossible = impossible_games(played, roster.ruleset.turn_cap)
    if len(impossible):
        return f"game {int(impossible[0])} of it cannot have ended as it says"
    if not isinstance(sums, tuple) or not all(type(one) is int for one in sums) or sums != sums_of(played):
        return "its sums are not those of its games"
    faulty = own_faults(roster, games, played)
    if len(faulty):
        first = int(faulty[0])  # a fault must occur here too: a node may lack a licence or a library
        here = play_schedule(roster, games.select(slice(first, first + 1)))["fault"][0]
        if here != played["fault"][first]:
            return f"game {first} of it went wrong there ({Fault(played['fault'][first]).name}), and not here"
    return ""
