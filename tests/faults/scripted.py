"""Workers that follow a script, and games for them."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evo.evolution.fitness import all_pairings
from evo.play import dispatch
from evo.play.dispatch import ChunkSizer, Dispatcher, WorkerLostError
from evo.play.entrants import find_entrant
from evo.play.games import Roster, Schedule, play_schedule
from evo.play.matchups import make_schedule, make_setups
from evo.play.results import ChunkResult, play_chunk, result_checksums, schedule_digest


def some_games(n_players: int = 4, games: int = 40) -> tuple[Roster, Schedule]:
    """A roster and a few hundred games."""
    from engine import find_deck, find_ruleset

    names = ["ilp:keep-alive", "ilp:value-trading", "hearthsim", "eva"][:n_players]
    decks = (find_deck("thesis-paladin"), find_deck("hearthsim-basic"))
    roster = Roster(tuple(find_entrant(name).player for name in names), decks, find_ruleset("thesis"))
    return roster, make_schedule(all_pairings(n_players), make_setups(2, games, 3))


ROSTER, GAMES = some_games()
EXPECTED = play_schedule(ROSTER, GAMES)


@dataclass
class Scripted:
    """Workers that treat each answer as a script says, in any order; without threads or Ray."""

    script: Any
    shuffle: random.Random = field(default_factory=lambda: random.Random(1))
    trusted: bool = False
    started: list[tuple[int, int]] = field(default_factory=list)
    cancelled: int = 0
    _open: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    _attempts: dict[int, int] = field(default_factory=dict)

    def start(self, start: int, stop: int) -> int:
        number = len(self.started)
        self.started.append((start, stop))
        attempt = self._attempts[start] = self._attempts.get(start, 0) + 1
        self._open[number] = (start, stop, attempt)
        return number

    def ready(self, tickets: Sequence[int], timeout: float) -> Sequence[int]:
        done = [one for one in tickets if not self._hangs(one)]
        if not done:
            dispatch.time.sleep(0.01)
        self.shuffle.shuffle(done)
        return done[: 1 + self.shuffle.randrange(3)]

    def _hangs(self, ticket: int) -> bool:
        start, _, attempt = self._open[ticket]
        return bool(self.script(start, attempt) == "hang")

    def result(self, ticket: int) -> object:
        start, stop, attempt = self._open[ticket]
        chunk = GAMES.select(slice(start, stop))
        answer = play_chunk(ROSTER, chunk, "worker 1")
        what = self.script(start, attempt)
        if what == "lost":
            raise WorkerLostError("node died")
        return answer if what in ("", "hang") else spoil(answer, what)

    def cancel(self, ticket: int) -> None:
        self.cancelled += 1


def spoil(answer: ChunkResult, how: str) -> object:
    """An answer that is wrong in one way, with matching sums where a liar would match them."""
    played = answer.played.copy()
    if how == "short":
        played = played[:-1]
        return answer._replace(played=played, sums=result_checksums(played))
    if how == "stale":
        return answer._replace(address=schedule_digest(GAMES.select(slice(0, 1))))
    if how == "nan":
        return answer._replace(seconds=float("nan"))
    if how == "no outcome":
        played["outcome"][0] = 0
    elif how == "unknown outcome":
        played["outcome"][-1] = 9
    elif how == "endless":
        played["turns"][0] = 1000
    elif how == "fault":
        played["fault"][0] = 7
    elif how == "negative":
        played["unproven"][0] = -1
    elif how == "sums":
        played["turns"][0] += 1
        return answer._replace(played=played)
    elif how == "nothing":
        return None
    elif how == "text":
        return answer._replace(played="wins")
    elif how == "floats":
        return answer._replace(played=np.full(len(played), np.nan))
    elif how == "array of sums":
        return answer._replace(sums=np.array(answer.sums))
    elif how == "worker is a list":
        return answer._replace(worker=["worker"])
    elif how == "address is an array":
        return answer._replace(address=np.zeros(3))
    elif how == "agent failed there":
        played["fault"][-1] = 2
    return answer._replace(played=played, sums=result_checksums(played))


WRONG = {
    "short": "it has results of shape (6,) for 7 games",
    "stale": "it is for other games than were asked for",
    "nan": "its time is nan seconds",
    "no outcome": "the result of its game 0 is impossible",
    "unknown outcome": "is impossible",
    "endless": "the result of its game 0 is impossible",
    "fault": "the result of its game 0 is impossible",
    "negative": "the result of its game 0 is impossible",
    "sums": "its checksums do not match its games",
    "nothing": "it is of type NoneType, not ChunkResult",
    "text": "it is no array of game results",
    "floats": "it is no array of game results",
    "array of sums": "its checksums do not match its games",
    "worker is a list": "the worker's name is of type list, not str",
    "address is an array": "it is for other games than were asked for",
    "agent failed there": "was lost by a fault there (AGENT_ERROR), not here",
}
"""Wrong answers for seven games, and the reason each is refused."""


def run(workers: Scripted, chunks: float = 20.0) -> tuple[np.ndarray, list[str]]:
    notes: list[str] = []
    sizer = ChunkSizer(2, 0.0)
    sizer._speed[True] = len(GAMES) / chunks
    dispatcher = Dispatcher(sizer, 4)
    played = dispatcher.play(workers, ROSTER, GAMES, lambda _: None, notes.append)
    return played, notes
