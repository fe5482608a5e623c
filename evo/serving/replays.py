"""Games of tournaments played again, one after another in the background."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from engine.errors import ManaforgeError
from evo.stories.reasons import reasons_of
from evo.stories.story import Cast, tell
from evo.tournament.reading import TournamentRecord, replay, tournament_to_replay
from rivals import is_outside

MOST_KEPT = 32
"""Games that are kept."""

MOST_WAITING = 8
"""Games that wait to be played; more are refused."""


@dataclass
class Replayed:
    """A game that is played again.

    Attributes:
        story: as `evo.stories.story.tell` tells it; None before its end, and where it cannot be played.
        problem: why it cannot be played.
        ended: whether there is nothing to wait for.
    """

    story: dict[str, Any] | None = None
    problem: str = ""
    ended: bool = False


class TooManyError(ManaforgeError):
    """More games wait to be played than the server takes."""


class Replays:
    """Plays games again, one at a time, and keeps the last ones."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[Any, ...], Replayed] = OrderedDict()
        self._lock = threading.Lock()
        self._turn = threading.Lock()

    def ask(self, record: TournamentRecord, number: int) -> Replayed:
        """A game of a tournament; it begins to be played where it was not yet.

        Raises:
            TooManyError: too many others wait.
        """
        row = record.games.iloc[number]
        key = record.path, record.digest, number, str(row["outcome"]), int(row["turns"])
        with self._lock:
            found = self._known.get(key)
            if found is not None:
                self._known.move_to_end(key)
                if found.ended and found.story is None:  # told once; then it is tried again
                    del self._known[key]
                return found
            if sum(not one.ended for one in self._known.values()) >= MOST_WAITING:
                raise TooManyError("many games are being played again now; ask for this one a little later")
            found = self._known[key] = Replayed()
            for old in [other for other, one in self._known.items() if one.ended][: -MOST_KEPT or None]:
                del self._known[old]
        # A daemon, so that the server may end meanwhile.
        threading.Thread(target=self._play, args=(record, number, found), daemon=True).start()
        return found

    def _play(self, record: TournamentRecord, number: int, found: Replayed) -> None:
        try:
            with self._turn:
                found.story = _story_of(record, number)
        except (ManaforgeError, OSError) as error:
            found.problem = str(error)
        except Exception as error:
            found.problem = f"the game could not be played again: {type(error).__name__}: {error}"
        finally:
            found.ended = True


def _story_of(record: TournamentRecord, number: int) -> dict[str, Any]:
    tournament = tournament_to_replay(record)
    row = record.games.iloc[number]
    result, different = replay(record, tournament, number)
    texts = str(row["first"]), str(row["second"])
    players = dict(zip(tournament.names, tournament.roster.players, strict=True))
    tellers = [
        None if is_outside(players[text].kind) else reasons_of(players[text].agent()) for text in texts
    ]
    cast = Cast(texts, (str(row["first_deck"]), str(row["second_deck"])), tournament.ruleset.name)
    return tell(result, cast, tellers, different)
