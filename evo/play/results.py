"""Validation of workers' results and versions, and errors of games and worker pools."""

import hashlib
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from engine import ManaforgeError, Outcome
from engine.errors import WrongValueError
from engine.terminal import print_error
from engine.versions import engine_versions
from evo.play.games import (
    FAULT_TEXTS,
    SOLVED_TURN_FIELDS,
    Fault,
    Roster,
    Schedule,
    play_game_in_python,
    play_schedule,
)
from evo.stats.ratings import points_of_first
from ilp_agent.backends import BACKENDS, library_versions
from rivals import is_outside


class GameError(ManaforgeError, RuntimeError):
    """An agent failed in a game that counts."""


def raise_on_faults(roster: Roster, games: Schedule, played: np.ndarray) -> None:
    """Raise if an agent of this project lost a game by a fault: a failed solver, say, is not weak play.

    A fault of an agent from outside counts as a lost game, with one warning per agent and fault.

    Raises:
        GameError: a game was lost by a fault; the message describes the first.
    """
    faults = faults_of_our_agents(roster, games, played)
    if len(faults):
        raise GameError(f"a game could not be played: {fault_text(roster, games, int(faults[0]))}")
    losses = zip(_losers(roster, games, played), played["fault"][played["fault"] > 0].tolist(), strict=True)
    for (name, fault), n in Counter(losses).items():
        if (name, fault) not in _warned:
            _warned.add((name, fault))
            print_error(f"warning: {name} lost {n:,} of {len(games):,} games ({FAULT_TEXTS[Fault(fault)]})")


_warned: set[tuple[str, int]] = set()
"""Agents from outside and faults for which a warning was printed."""


def points_of_deals(roster: Roster, games: Schedule, played: np.ndarray) -> np.ndarray:
    """Points of the side that goes first in a deal's first game, averaged over both seats; shape (deals,).

    Args:
        roster: players and decks.
        games: of `Schedule.from_both_seats`.
        played: their results.

    Raises:
        GameError: an agent of this project lost a game by a fault.
    """
    raise_on_faults(roster, games, played)
    first = points_of_first(played["outcome"])
    points: np.ndarray = (first[0::2] + 1 - first[1::2]) / 2
    return points


def faults_of_our_agents(roster: Roster, games: Schedule, played: np.ndarray) -> np.ndarray:
    """Numbers of the games lost by a fault of an agent of this project, not of an agent from outside."""
    own = [not is_outside(name) for name in _losers(roster, games, played)]
    return np.flatnonzero(played["fault"])[own]


def _losers(roster: Roster, games: Schedule, played: np.ndarray) -> list[str]:
    """Agent kind of the loser of each game lost by a fault, in game order."""
    faults = np.flatnonzero(played["fault"])
    loser = games.players[faults, (played["outcome"][faults] == Outcome.FIRST_WINS).astype(np.int64)]
    return [roster.players[player].kind for player in loser]


def fault_text(roster: Roster, games: Schedule, number: int) -> str:
    """Error message of a game lost by a fault, found by replaying the game."""
    return error_message_of(play_game_in_python(roster, games, number).error) or "no fault in the replay"


def error_message_of(error: str) -> str:
    """Error message in a text `MatchResult.error`, without the traceback; "" without a fault."""
    errors = [line for line in error.strip().splitlines() if not line.startswith("in ")]
    return errors[-1] if errors else ""


class PoolError(ManaforgeError, RuntimeError):
    """A worker pool that cannot start, lost its workers, or got no valid result from them."""


class PoolAddressError(PoolError, WrongValueError):
    """A malformed cluster address, or an address for a pool that joins no cluster."""


class PoolLostError(PoolError):
    """A worker pool ended while playing; all finished results are stored."""

    exit_code = 3


class WorkerDisagreesError(PoolError):
    """A worker's result of a game differs from the replay on this machine; the message gives both."""


class VersionError(PoolError):
    """A worker has other versions of rules, cards or kernels; the message lists the versions."""


class ChunkResult(NamedTuple):
    """A worker's result of a chunk.

    Attributes:
        address: hash of the games played (`schedule_digest`).
        played: dtype `evo.play.games.Roster.result_dtype`, shape (games,).
        sums: checksums of `result_checksums`, computed by the worker.
        seconds: time spent playing.
        worker: name of the worker.
    """

    address: str
    played: np.ndarray
    sums: tuple[int, ...]
    seconds: float
    worker: str


def schedule_digest(games: Schedule) -> str:
    """Hash of a schedule's players, decks and deals."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (games.players, games.decks, games.keys):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def result_checksums(played: np.ndarray) -> tuple[int, ...]:
    """Checksums of results: games by outcome, and sums of faults, rounds, solved turns and actions."""
    outcomes = np.bincount(np.clip(played["outcome"], 0, 3), minlength=4)
    names = ["fault", "turns", *SOLVED_TURN_FIELDS]
    names += ["n_actions", "actions"] if "n_actions" in (played.dtype.names or ()) else []
    sums = (played[name].astype(np.int64).sum() for name in names)
    return (*map(int, outcomes), *map(int, sums))


def play_chunk(roster: Roster, games: Schedule, worker: str = "here") -> ChunkResult:
    """Play a chunk as a worker; returns the results with checksums and time."""
    began = time.perf_counter()
    played = play_schedule(roster, games)
    return ChunkResult(
        schedule_digest(games), played, result_checksums(played), time.perf_counter() - began, worker
    )


def impossible_games(played: np.ndarray, turn_cap: int) -> np.ndarray:
    """Numbers of the games with impossible results (outcome, fault, rounds or solved turns out of range).

    Args:
        played: dtype `evo.play.games.GAME`, shape (games,).
        turn_cap: highest number of rounds of a game.
    """
    known = np.isin(played["outcome"], [int(outcome) for outcome in Outcome if outcome != Outcome.ONGOING])
    known &= np.isin(played["fault"], [int(fault) for fault in Fault])
    known &= (played["turns"] >= 1) & (played["turns"] <= turn_cap) & (played["unproven"] >= 0)
    known &= (played["exact"] >= 0) & (played["search"] >= 0)
    if "n_actions" in (played.dtype.names or ()):
        known &= played["n_actions"] >= 0
    return np.flatnonzero(~known)


def refusal_reason(answer: object, games: Schedule, roster: Roster) -> str:
    """Reason to refuse a worker's result of a chunk; "" for a valid result."""
    if not isinstance(answer, ChunkResult):
        return f"it is of type {type(answer).__name__}, not ChunkResult"
    values: tuple[Any, ...] = tuple(answer)  # each of any type
    address, played, sums, seconds, worker = values
    n = len(games)
    if not isinstance(played, np.ndarray) or played.dtype != roster.result_dtype:
        return "it is no array of game results"
    if played.shape != (n,):
        return f"it has results of shape {played.shape} for {n} games"
    if not isinstance(address, str) or address != schedule_digest(games):
        return "it is for other games than were asked for"
    if not isinstance(worker, str):
        return f"the worker's name is of type {type(worker).__name__}, not str"
    if not isinstance(seconds, float) or not 0 <= seconds < np.inf:
        return f"its time is {seconds!r} seconds"
    impossible = impossible_games(played, roster.ruleset.turn_cap)
    if len(impossible):
        return f"the result of its game {int(impossible[0])} is impossible"
    if (
        not isinstance(sums, tuple)
        or not all(type(one) is int for one in sums)
        or sums != result_checksums(played)
    ):
        return "its checksums do not match its games"
    faulty = faults_of_our_agents(roster, games, played)
    if len(faulty):
        first = int(faulty[0])  # a node may lack a licence or a library: replay the fault
        replayed = play_schedule(roster, games.select(slice(first, first + 1)))["fault"][0]
        if replayed != played["fault"][first]:
            return f"game {first} was lost by a fault there ({Fault(played['fault'][first]).name}), not here"
    return ""


def play_versions(backends: Iterable[str] = ()) -> dict[str, str]:
    """Versions of the engine and of the solver libraries.

    A required library is always included; an optional one only if its backend is used, so that a machine
    without it can play all other games.

    Args:
        backends: the backends that the games use.
    """
    used = set(backends)
    counted = [entry.name for entry in BACKENDS.values() if not entry.extra or entry.name in used]
    return engine_versions() | library_versions(counted)
