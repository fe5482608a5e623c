"""Web pages of tournaments, and background replays of their games."""

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
from engine.decks import changes_sentence
from engine.errors import ManaforgeError
from evo.figures.page import Section
from evo.game_pages.story import replay_recorded_game
from evo.serving.folders import TOURNAMENT_MARKER, FolderCache
from evo.serving.pages import Pages, game_download, integer_parameter
from evo.stats.standings import Standings, deck_standings, standings
from evo.storage.files import is_locked
from evo.tournament.folder import TournamentError
from evo.tournament.reading import TournamentRecord, read_tournament, stored_decks, tournament_to_replay
from evo.tournament.report import (
    deck_matchup_section,
    deck_section,
    matchup_section,
    ratings_table,
    score_table,
    seat_section,
)
from evo.tournament.run import Tournament
from ilp_agent.backends import BACKENDS
from rivals import find_kind

MAX_CONCURRENT_REPLAYS = 2
"""Most concurrent replays, each of another folder."""

MAX_REPLAY_SECONDS = 60.0
"""Time limit of a replay with explanations; a decision is not interrupted (see `Option.max_from_files`)."""

MAX_REPLAY_STEPS = 4_000
"""Most steps (actions and explained turns) of a replay."""

MAX_CACHED_REPLAYS = 32
"""Most replayed games in memory."""

MAX_QUEUED_REPLAYS = 8
"""Most queued replays per folder; more are refused."""

ABANDONED_AFTER = 20.0
"""Seconds without a request after which a replay is abandoned; a waiting page asks every second."""


@dataclass
class GameReplay:
    """A replay of a game, pending or done.

    Attributes:
        asked: time of the last request (monotonic clock).
        story: data of `evo.game_pages.story.game_data`; None before the end, and if the replay failed.
        problem: reason for a failure.
        ended: whether the replay is done or has failed.
    """

    asked: float
    story: dict[str, Any] | None = None
    problem: str = ""
    ended: bool = False

    @property
    def is_abandoned(self) -> bool:
        """Whether the replay is abandoned: no request for `ABANDONED_AFTER` seconds."""
        return time.monotonic() - self.asked > ABANDONED_AFTER


class QueueFullError(ManaforgeError):
    """Too many queued replays of one folder's games."""


class ReplayRefusedError(ManaforgeError):
    """A replay that the server stops or refuses."""


Key = tuple[Any, ...]


class ReplayQueue:
    """Queue and cache of replays of games.

    Each folder replays one game at a time. The folder that has waited the longest is next, so that no folder
    blocks the others.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[Key, GameReplay] = OrderedDict()
        self._waiting: OrderedDict[Path, deque[tuple[Key, TournamentRecord, int]]] = OrderedDict()
        self._playing: set[Path] = set()
        self._lock = threading.Lock()  # of all of these

    def find_or_queue(self, record: TournamentRecord, number: int) -> GameReplay:
        """Find the replay of a tournament's game; queue a new replay if there is none.

        Raises:
            QueueFullError: the folder's queue is full.
        """
        row = record.games.iloc[number]
        key = record.path, record.digest, number, str(row["outcome"]), int(row["turns"])
        with self._lock:
            self._drop_old()
            found = self._known.get(key)
            if found is None:
                if len(self._waiting.get(record.path, ())) >= MAX_QUEUED_REPLAYS:
                    raise QueueFullError("too many replays are queued; try again in a minute")
                found = self._known[key] = GameReplay(time.monotonic())
                self._waiting.setdefault(record.path, deque()).append((key, record, number))
            elif found.ended and found.story is None:  # a failure is shown once, then retried
                del self._known[key]
            else:
                self._known.move_to_end(key)
            found.asked = time.monotonic()
            self._start_queued()
        return found

    def _drop_old(self) -> None:
        """Drop abandoned replays, and the oldest stories beyond `MAX_CACHED_REPLAYS`."""
        for path, games in list(self._waiting.items()):
            for game in [entry for entry in games if self._known[entry[0]].is_abandoned]:
                games.remove(game)
                del self._known[game[0]]
            if not games:
                del self._waiting[path]
        for old in [key for key, entry in self._known.items() if entry.ended][: -MAX_CACHED_REPLAYS or None]:
            del self._known[old]

    def _start_queued(self) -> None:
        """Start queued replays up to the limit, folders in turn."""
        for path in list(self._waiting):
            if path in self._playing or len(self._playing) >= MAX_CONCURRENT_REPLAYS:
                continue
            game = self._waiting[path].popleft()
            if not self._waiting[path]:
                del self._waiting[path]
            self._playing.add(path)
            # A daemon thread does not block the end of the server.
            threading.Thread(target=self._play, args=(*game, self._known[game[0]]), daemon=True).start()

    def _play(self, key: Key, record: TournamentRecord, number: int, found: GameReplay) -> None:
        """Replay a game; a thread's body."""
        try:
            found.story = _story_of(record, number, found)
        except (ManaforgeError, OSError) as error:
            found.problem = str(error)
        except Exception as error:
            found.problem = f"the replay failed: {type(error).__name__}: {error}"
        with self._lock:
            found.ended = True
            if found.story is None and found.is_abandoned:
                self._known.pop(key, None)
            self._playing.discard(record.path)
            if record.path in self._waiting:
                self._waiting.move_to_end(record.path)
            self._drop_old()
            self._start_queued()


class _Limit:
    """Callback, called at every step, that stops a replay which takes too long or is abandoned."""

    def __init__(self, found: GameReplay) -> None:
        self._found, self._steps = found, 0
        self._began = self._seconds()

    @staticmethod
    def _seconds() -> float:
        """Monotonic time without the time for compiling kernels."""
        return time.monotonic() - progress.spent

    def __call__(self) -> None:
        """Count a step; raise if the replay must stop.

        Raises:
            ReplayRefusedError: a limit is exceeded.
        """
        self._steps += 1
        if self._found.is_abandoned:
            raise ReplayRefusedError("this replay was abandoned; open the game again")
        if self._seconds() - self._began >= MAX_REPLAY_SECONDS:
            raise ReplayRefusedError(
                f"the replay takes longer than {MAX_REPLAY_SECONDS:.0f} s, the server's limit"
            )
        if self._steps > MAX_REPLAY_STEPS:
            raise ReplayRefusedError(f"the game has more than {MAX_REPLAY_STEPS:,} steps, the server's limit")


def _story_of(record: TournamentRecord, number: int, found: GameReplay) -> dict[str, Any]:
    """Replay a game; returns the game's data with explained plans, for the page.

    Raises:
        ManaforgeError: the game cannot be replayed, or the server refuses it.
    """
    limit, tournament = _Limit(found), tournament_to_replay(record)
    row = record.games.iloc[number]
    _refuse_slow_agents(tournament, {str(row["first"]), str(row["second"])})
    return replay_recorded_game(record, tournament, number, limit)


def _refuse_slow_agents(tournament: Tournament, names: set[str]) -> None:
    """Refuse agents whose decisions may take long, since the folder's author chose the agents' options.

    Args:
        tournament: tournament of the game.
        names: entrants of the game.

    Raises:
        ReplayRefusedError: an agent is refused; the message names it.
    """
    for entrant in tournament.entrants:
        if entrant.text not in names:
            continue
        player = entrant.player
        kind = find_kind(player.kind)
        if kind.takes_backend and not BACKENDS[player.backend].compiled:
            raise ReplayRefusedError(
                f"{entrant.text} uses backend {player.backend}, whose turns have no time limit"
            )
        for option, value in zip(kind.options, kind.settings(player.options), strict=True):
            if option.max_from_files is not None and value > option.max_from_files:
                raise ReplayRefusedError(
                    f"{entrant.text} is too slow for the server: {option.name} is {value:,}, the limit for "
                    f"replays is {option.max_from_files:,}"
                )


CACHED_TOURNAMENTS = 16
"""Most tournaments in the cache."""

GAMES_PER_PAGE = 50
"""Games per page."""

FILTERS = {"who": ("first", "second"), "against": ("first", "second"), "deck": ("first_deck", "second_deck")}
"""Filters of games: query parameters, and the columns in which they match."""


@dataclass(frozen=True)
class TournamentView:
    """A tournament's record with its standings, computed on demand."""

    record: TournamentRecord

    @cached_property
    def read(self) -> Standings:
        """Standings of the entrants."""
        return standings(self.record.games)

    @cached_property
    def deck_standings_tables(self) -> Standings:
        """Standings of the decks, instead of entrants."""
        return deck_standings(self.record.games)

    @cached_property
    def changes(self) -> str:
        """A sentence with the cards that the tournament's deck files change; "" if there are none."""
        stored, names = stored_decks(self.record.path), set(_decks(self))
        return changes_sentence(deck for name, deck in stored.items() if name in names)

    @cached_property
    def ladder(self) -> bool:
        """Whether the tournament is a deck ladder, which has self-play only."""
        pairings = self.record.matchups.pairings
        return bool((pairings[:, 0] == pairings[:, 1]).all())


class TournamentPages:
    """Request handlers of tournaments.

    Args:
        pages: page renderer.
    """

    def __init__(self, pages: Pages) -> None:
        self._pages, self._replays = pages, ReplayQueue()
        self._shown: FolderCache[TournamentView] = FolderCache(
            lambda path: TournamentView(read_tournament(path)), CACHED_TOURNAMENTS
        )

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
                changes=shown.changes,
                **_standings(shown),
            ),
        )

    def standings(self, request: Request) -> Response:
        """Only the standings, for refreshing the page; 204 if the standings have not changed since `seen`."""
        name, seen = request.path_params["name"], request.query_params.get("seen", "")
        path = self._pages.catalogue.find(name, TOURNAMENT_MARKER)
        try:
            if path is None:
                raise TournamentError("the tournament no longer exists")
            shown = self._shown.get(path)
            if seen == _version_tag(path, shown):
                return Response(status_code=204)
            return self._pages.render("standings.html", name=name, **_standings(shown))
        except (ManaforgeError, OSError) as error:  # shown in place of the tables; the page keeps polling
            return self._pages.render("lost.html", name=name, problem=str(error))

    def games(self, request: Request) -> Response:
        """The page with a list of games, filtered by entrants and deck."""

        def answer(name: str, _: Path, shown: TournamentView) -> Response:
            games = shown.record.games
            chosen = {key: request.query_params.get(key, "") for key in FILTERS}
            for key, columns in FILTERS.items():
                if chosen[key]:
                    games = games[
                        np.any([games[column].astype(str) == chosen[key] for column in columns], axis=0)
                    ]
            if chosen["who"] == chosen["against"] != "":
                games = games[games["first"].astype(str) == games["second"].astype(str)]
            last = max(0, (len(games) - 1) // GAMES_PER_PAGE)
            page = integer_parameter(request, "page", last)
            part = games.iloc[page * GAMES_PER_PAGE : (page + 1) * GAMES_PER_PAGE]
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
                changes=shown.changes,
                chosen=chosen,
            )

        return self._answer(request, answer)

    def game(self, request: Request) -> Response:
        """The page of a game, step by step; while it is replayed, a page that polls."""

        def answer(name: str, number: int, story: dict[str, Any]) -> Response:
            download = f"/download/{number}/{quote(name)}"
            title = f"Game {number} of {name}"
            return self._pages.game(title, story, download, tournament=name)

        return self._replayed(request, answer)

    def download(self, request: Request) -> Response:
        """Download of a game as a self-contained HTML file."""
        return self._replayed(request, lambda _, number, story: game_download(story, f"game-{number}"))

    def _replayed(self, request: Request, answer: Any) -> Response:
        """A page made from the replay of a game, or a waiting or error page."""
        text = request.path_params["number"]

        def asked(name: str, _: Path, shown: TournamentView) -> Response:
            known = text.isascii() and text.isdecimal() and len(text) < 12
            number = int(text) if known else -1
            if not 0 <= number < len(shown.record.games):
                return self._pages.missing(f"game {text} of tournament {name}")
            try:
                found = self._replays.find_or_queue(shown.record, number)
            except QueueFullError as error:
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
        """A page about a tournament, or an error page."""
        name = request.path_params["name"]
        path = self._pages.catalogue.find(name, TOURNAMENT_MARKER)
        if path is None:
            return self._pages.missing(f"tournament {name}")
        try:
            shown = self._shown.get(path)
            response: Response = answer(name, path, shown)
        except (ManaforgeError, OSError) as error:
            return self._pages.problem(name, str(error))
        return response


def _standings(shown: TournamentView) -> dict[str, Any]:
    """Template values of the standings."""
    record = shown.record
    path, games = record.path, len(record.games)
    definition = record.definition
    return {
        "seen": _version_tag(path, shown),
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
        "meetings": _pairs(shown) if games else [],
    }


def _version_tag(path: Path, shown: TournamentView) -> str:
    """Version tag of a page of standings: changes when the standings do."""
    return f"{len(shown.record.games)}-{_state(path, len(shown.record.games), len(shown.record.matchups))}"


def _state(path: Path, games: int, most: int) -> str:
    """State of a tournament: "running", "finished" or "stopped"."""
    return "running" if is_locked(path) else "finished" if games == most else "stopped"


def _decks(shown: TournamentView) -> list[str]:
    """Names of the tournament's decks."""
    return [deck.deck for deck in shown.record.definition.decks]


def _chart(shown: TournamentView) -> str:
    """Ratings with intervals for the chart, as JSON; infinite bounds of intervals are null."""
    ratings = (shown.deck_standings_tables if shown.ladder else shown.read).ratings
    values = {
        column: [float(value) if np.isfinite(value) else None for value in ratings[column].astype(float)]
        for column in ("rating", "low", "high")
    }
    return json.dumps({"names": [str(name) for name in ratings["entrant"]], **values})


def _sections(shown: TournamentView) -> list[Section]:
    """Sections of the standings, as on the tournament's report page."""
    definition = shown.record.definition
    if shown.ladder:
        return [deck_matchup_section(shown.deck_standings_tables)]
    read = shown.read
    scores = score_table(definition.seats, shown.record.names, read)
    return [
        Section("Ratings", "", [ratings_table(read.ratings)]),
        matchup_section(read, scores),
        seat_section(read, ""),
        deck_section(read),
    ]


def _pairs(shown: TournamentView) -> list[tuple[str, str]]:
    """Text of each pair of entrants, and the query string that lists the pair's games."""
    found: pd.DataFrame = shown.read.results[["first", "second"]].astype(str)
    pairs = dict.fromkeys(tuple(sorted(pair)) for pair in found.itertuples(index=False))
    return [
        (f"{first} against {second}", "?" + urlencode({"who": first, "against": second}))
        for first, second in pairs
    ]
