"""Pages of tournaments, and their games replayed in the background."""

import json
import shlex
import threading
import time
from collections import OrderedDict, deque
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np
import pandas as pd
from starlette.requests import Request
from starlette.responses import Response

from engine.compile_progress import progress
from engine.errors import ManaforgeError
from evo.figures.page import Section
from evo.game_pages.story import replayed
from evo.serving.folders import TOURNAMENT, Kept
from evo.serving.pages import Pages, game_file, number_in
from evo.stats.standings import Standings, deck_standings, standings
from evo.storage.files import is_locked
from evo.tournament.folder import TournamentError
from evo.tournament.reading import TournamentRecord, read_tournament, tournament_to_replay
from evo.tournament.report import (
    by_deck,
    by_first_seat,
    deck_against_deck,
    ratings_table,
    score_table,
    who_beats_whom,
)
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
        story: as `evo.game_pages.story.tell` tells it; None before its end, and where it cannot be played.
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


KEPT = 16
"""Tournaments whose tables are kept in memory."""

A_PAGE = 50
"""Games on a page."""

FILTERS = {"who": ("first", "second"), "against": ("first", "second"), "deck": ("first_deck", "second_deck")}
"""What games are chosen by: names in the address, and the columns where they may stand."""


@dataclass(frozen=True)
class Shown:
    """A tournament that is shown."""

    record: TournamentRecord

    @cached_property
    def read(self) -> Standings:
        """The tables of its games."""
        return standings(self.record.games)

    @cached_property
    def deck_read(self) -> Standings:
        """The same with decks as entrants."""
        return deck_standings(self.record.games)

    @cached_property
    def ladder(self) -> bool:
        """Whether decks met, and no entrants."""
        pairings = self.record.matchups.pairings
        return bool((pairings[:, 0] == pairings[:, 1]).all())


class TournamentPages:
    """Pages of tournaments.

    Args:
        pages: what makes them.
    """

    def __init__(self, pages: Pages) -> None:
        self._pages, self._replays = pages, Replays()
        self._shown: Kept[Shown] = Kept(lambda path: Shown(read_tournament(path)), KEPT)

    def tournament(self, request: Request) -> Response:
        """A tournament's page."""
        return self._answer(
            request,
            lambda name, _, shown: self._pages.render(
                "tournament.html",
                title=name,
                name=name,
                names=sorted(shown.record.names),
                decks=_decks(shown),
                **_standings(shown),
            ),
        )

    def standings(self, request: Request) -> Response:
        """The page's tables alone, for pages that refresh them; nothing where `seen` is what there is."""
        name, seen = request.path_params["name"], request.query_params.get("seen", "")
        path = self._pages.catalogue.find(name, TOURNAMENT)
        try:
            if path is None:
                raise TournamentError("it is not there any more")
            shown = self._shown.get(path)
            if seen == _seen(path, shown):
                return Response(status_code=204)
            return self._pages.render("standings.html", name=name, **_standings(shown))
        except (ManaforgeError, OSError) as error:  # told in the page's place, which asks on
            return self._pages.render("lost.html", name=name, problem=str(error))

    def games(self, request: Request) -> Response:
        """Games by number, chosen by entrants and deck, with links to each."""

        def answer(name: str, _: Path, shown: Shown) -> Response:
            games = shown.record.games
            chosen = {key: request.query_params.get(key, "") for key in FILTERS}
            for key, columns in FILTERS.items():
                if chosen[key]:
                    games = games[
                        np.any([games[column].astype(str) == chosen[key] for column in columns], axis=0)
                    ]
            if chosen["who"] == chosen["against"] != "":
                games = games[games["first"].astype(str) == games["second"].astype(str)]
            last = max(0, (len(games) - 1) // A_PAGE)
            page = number_in(request, "page", last)
            part = games.iloc[page * A_PAGE : (page + 1) * A_PAGE]
            return self._pages.render(
                "games.html",
                title=f"Games of {name}",
                name=name,
                rows=list(zip(part.index, part.astype(str).to_dict("records"), strict=True)),
                found=len(games),
                page=page,
                last=last,
                address=lambda number: "?" + urlencode({**chosen, "page": number}),
                names=sorted(shown.record.names),
                decks=_decks(shown),
                chosen=chosen,
            )

        return self._answer(request, answer)

    def game(self, request: Request) -> Response:
        """A game step by step; while it is played again, a page that asks again."""

        def answer(name: str, number: int, story: dict[str, Any]) -> Response:
            download = f"/download/{number}/{quote(name)}"
            title = f"Game {number} of {name}"
            return self._pages.game(title, story, download, tournament=name)

        return self._replayed(request, answer)

    def download(self, request: Request) -> Response:
        """The same as a file that needs no server."""
        return self._replayed(request, lambda _, number, story: game_file(story, f"game-{number}"))

    def _replayed(self, request: Request, answer: Any) -> Response:
        text = request.path_params["number"]

        def asked(name: str, _: Path, shown: Shown) -> Response:
            known = text.isascii() and text.isdecimal() and len(text) < 12
            number = int(text) if known else -1
            if not 0 <= number < len(shown.record.games):
                return self._pages.missing(f"game {text} of tournament {name}")
            try:
                found = self._replays.ask(shown.record, number)
            except TooManyError as error:
                return self._pages.problem(f"Game {number} of {name}", str(error), 503)
            if not found.ended:
                return self._pages.render("waiting.html", 202, title=f"Game {number} of {name}")
            if found.story is None:
                command = shlex.join(["manaforge", "replay", name, str(number)])
                return self._pages.problem(f"Game {number} of {name}", found.problem, command=command)
            response: Response = answer(name, number, found.story)
            return response

        return self._answer(request, asked)

    def _answer(self, request: Request, answer: Any) -> Response:
        """A page about a tournament, or what is wrong with it."""
        name = request.path_params["name"]
        path = self._pages.catalogue.find(name, TOURNAMENT)
        if path is None:
            return self._pages.missing(f"tournament {name}")
        try:
            shown = self._shown.get(path)
            response: Response = answer(name, path, shown)
        except (ManaforgeError, OSError) as error:
            return self._pages.problem(name, str(error))
        return response


def _standings(shown: Shown) -> dict[str, Any]:
    """What the tables are made of."""
    record = shown.record
    path, games = record.path, len(record.games)
    definition = record.definition
    return {
        "seen": _seen(path, shown),
        "facts": {
            "state": _state(path, games, len(record.matchups)),
            "games": f"{games:,} of {len(record.matchups):,}",
            "entrants": str(len(definition.entrants)),
            "decks": ", ".join(_decks(shown)),
            "ruleset": definition.ruleset,
            "format": definition.format,
            "seats": definition.seats,
            "seed": str(definition.seed),
        },
        "progress": games / max(len(record.matchups), 1),
        "problems": list(record.problems),
        "chart": _chart(shown) if games else None,
        "sections": _sections(shown) if games else [],
        "meetings": _meetings(shown) if games else [],
    }


def _seen(path: Path, shown: Shown) -> str:
    """What changes when the tables do."""
    return f"{len(shown.record.games)}-{_state(path, len(shown.record.games), len(shown.record.matchups))}"


def _state(path: Path, games: int, most: int) -> str:
    return "running" if is_locked(path) else "finished" if games == most else "stopped"


def _decks(shown: Shown) -> list[str]:
    return [deck.deck for deck in shown.record.definition.decks]


def _chart(shown: Shown) -> str:
    """Ratings with their intervals, as JSON; bounds that are infinite are null."""
    ratings = (shown.deck_read if shown.ladder else shown.read).ratings
    values = {
        column: [float(value) if np.isfinite(value) else None for value in ratings[column].astype(float)]
        for column in ("rating", "low", "high")
    }
    return json.dumps({"names": [str(name) for name in ratings["entrant"]], **values})


def _sections(shown: Shown) -> list[Section]:
    """Tables of the standings, as the tournament's own page has them."""
    definition = shown.record.definition
    if shown.ladder:
        return [deck_against_deck(shown.deck_read)]
    read = shown.read
    scores = score_table(definition.seats, shown.record.names, read)
    return [
        Section("Ratings", "", [ratings_table(read.ratings)]),
        who_beats_whom(read, scores),
        by_first_seat(read, ""),
        by_deck(read),
    ]


def _meetings(shown: Shown) -> list[tuple[str, str]]:
    """Who met whom, with the address of their games."""
    found: pd.DataFrame = shown.read.results[["first", "second"]].astype(str)
    pairs = dict.fromkeys(tuple(sorted(pair)) for pair in found.itertuples(index=False))
    return [
        (f"{one} against {other}", "?" + urlencode({"who": one, "against": other})) for one, other in pairs
    ]
