"""Games of tournaments played again in the background: folders in turn, each game with a limit."""

import threading
import time
from collections import OrderedDict, deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.compilation import progress
from engine.errors import ManaforgeError
from evo.stories.story import replayed
from evo.tournament.reading import TournamentRecord, tournament_to_replay
from evo.tournament.run import Tournament
from ilp_agent.backends import BACKENDS
from rivals import find_kind

AT_ONCE = 2
"""Games that are played at a time, each of another folder."""

MOST_SECONDS = 60.0
"""To play a game again and explain its turns; a decision is not interrupted (see `Option.most_received`)."""

MOST_STEPS = 4_000
"""Actions and explained turns of a game."""

MOST_KEPT = 32
"""Games that are kept."""

MOST_WAITING = 8
"""Games of a folder that wait to be played; more are refused."""

LEFT_AFTER = 20.0
"""Seconds after which nobody waits for a game that was not asked for; a page that waits asks every second."""


@dataclass
class Replayed:
    """A game that is played again.

    Attributes:
        asked: when it was asked for last, by the monotonic clock.
        story: as `evo.stories.story.tell` tells it; None before its end, and where it cannot be played.
        problem: why it cannot be played.
        ended: whether there is nothing to wait for.
    """

    asked: float
    story: dict[str, Any] | None = None
    problem: str = ""
    ended: bool = False

    @property
    def is_left(self) -> bool:
        """Whether nobody waits for it any more."""
        return time.monotonic() - self.asked > LEFT_AFTER


class TooManyError(ManaforgeError):
    """More games of a folder wait to be played than the server takes."""


class StoppedError(ManaforgeError):
    """A game is not played to its end here."""


Key = tuple[Any, ...]


class Replays:
    """Plays games again, and keeps the last ones.

    Each folder plays one game at a time. Of those that wait, it is the turn of the folder that played the
    longest ago, so that no folder keeps others from theirs.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[Key, Replayed] = OrderedDict()
        self._waiting: OrderedDict[Path, deque[tuple[Key, TournamentRecord, int]]] = OrderedDict()
        self._playing: set[Path] = set()
        self._lock = threading.Lock()  # of all of these

    def ask(self, record: TournamentRecord, number: int) -> Replayed:
        """A game of a tournament; it waits for its turn where it was not asked for yet.

        Raises:
            TooManyError: too many others of the folder wait.
        """
        row = record.games.iloc[number]
        key = record.path, record.digest, number, str(row["outcome"]), int(row["turns"])
        with self._lock:
            self._forget()
            found = self._known.get(key)
            if found is None:
                if len(self._waiting.get(record.path, ())) >= MOST_WAITING:
                    raise TooManyError(
                        "many games are being played again now; ask for this one a little later"
                    )
                found = self._known[key] = Replayed(time.monotonic())
                self._waiting.setdefault(record.path, deque()).append((key, record, number))
            elif found.ended and found.story is None:  # told once; then it is tried again
                del self._known[key]
            else:
                self._known.move_to_end(key)
            found.asked = time.monotonic()
            self._begin()
        return found

    def _forget(self) -> None:
        """Drop games that nobody waits for, and stories beyond those that are kept."""
        for path, games in list(self._waiting.items()):
            for game in [one for one in games if self._known[one[0]].is_left]:
                games.remove(game)
                del self._known[game[0]]
            if not games:
                del self._waiting[path]
        for old in [key for key, one in self._known.items() if one.ended][: -MOST_KEPT or None]:
            del self._known[old]

    def _begin(self) -> None:
        """Begin games while there is room, folders in turn."""
        for path in list(self._waiting):
            if path in self._playing or len(self._playing) >= AT_ONCE:
                continue
            game = self._waiting[path].popleft()
            if not self._waiting[path]:
                del self._waiting[path]
            self._playing.add(path)
            # A daemon, so that the server may end meanwhile.
            threading.Thread(target=self._play, args=(*game, self._known[game[0]]), daemon=True).start()

    def _play(self, key: Key, record: TournamentRecord, number: int, found: Replayed) -> None:
        try:
            found.story = _story_of(record, number, found)
        except (ManaforgeError, OSError) as error:
            found.problem = str(error)
        except Exception as error:
            found.problem = f"the game could not be played again: {type(error).__name__}: {error}"
        with self._lock:
            found.ended = True
            if found.story is None and found.is_left:
                self._known.pop(key, None)
            self._playing.discard(record.path)
            if record.path in self._waiting:
                self._waiting.move_to_end(record.path)
            self._forget()
            self._begin()


class _Limit:
    """Stops a game, when it is called, that takes too long or that nobody waits for."""

    def __init__(self, found: Replayed) -> None:
        self._found, self._steps = found, 0
        self._began = self._seconds()

    @staticmethod
    def _seconds() -> float:
        """The time, while nothing is compiled: kernels are compiled once, for all games."""
        return time.monotonic() - progress.spent

    def __call__(self) -> None:
        self._steps += 1
        if self._found.is_left:
            raise StoppedError("nobody waited for this game any more; ask for it again")
        if self._seconds() - self._began >= MOST_SECONDS:
            raise StoppedError(
                f"to play it again takes longer than {MOST_SECONDS:.0f} s, after which others follow"
            )
        if self._steps > MOST_STEPS:
            raise StoppedError(f"it has more than {MOST_STEPS:,} steps, which are as many as are shown here")


def _story_of(record: TournamentRecord, number: int, found: Replayed) -> dict[str, Any]:
    """A game as a story.

    Raises:
        ManaforgeError: it cannot be played again, or not here.
    """
    limit, tournament = _Limit(found), tournament_to_replay(record)
    row = record.games.iloc[number]
    _refuse_long_thinking(tournament, {str(row["first"]), str(row["second"])})
    return replayed(record, tournament, number, limit)


def _refuse_long_thinking(tournament: Tournament, names: set[str]) -> None:
    """Refuse agents that may think long about one decision: whoever wrote the folder set how long.

    Args:
        tournament: of the game.
        names: of those who play it.

    Raises:
        StoppedError: there is one; the message names it.
    """
    for entrant in tournament.entrants:
        if entrant.text not in names:
            continue
        player = entrant.player
        kind = find_kind(player.kind)
        if kind.takes_backend and not BACKENDS[player.backend].compiled:
            raise StoppedError(
                f"{entrant.text} plays by {player.backend}, which may take any time for a turn"
            )
        for option, value in zip(kind.options, kind.settings(player.options), strict=True):
            if option.most_received is not None and value > option.most_received:
                raise StoppedError(
                    f"{entrant.text} thinks too long: {option.name} is {value:,}, and a server plays what "
                    f"files say up to {option.most_received:,}"
                )
