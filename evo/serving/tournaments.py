"""Pages of tournaments: standings while they grow, their games, and any game step by step."""

import json
import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np
import pandas as pd
from starlette.requests import Request
from starlette.responses import Response

from engine.errors import ManaforgeError
from evo.figures.page import Section
from evo.serving.folders import TOURNAMENT
from evo.serving.kept import Kept
from evo.serving.pages import Pages, game_file, number_in
from evo.serving.replays import Replays, TooManyError
from evo.stats.standings import Standings, deck_standings, standings
from evo.storage.files import is_locked
from evo.tournament.folder import TournamentError
from evo.tournament.output import score_table
from evo.tournament.page import by_deck, by_first_seat, deck_against_deck, ratings_table, who_beats_whom
from evo.tournament.reading import TournamentRecord, read_tournament

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
