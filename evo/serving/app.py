"""The web application: routes and middleware. It writes no files; its only state is a cache."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from evo.figures.page import TEMPLATES as FIGURES
from evo.game_pages.story import TEMPLATES as STORIES
from evo.serving.guard import AccessControl
from evo.serving.pages import Pages, page_handler, post_handler
from evo.serving.playpages import PLAY_ADDRESS, PlayPages
from evo.serving.runs import RunPages
from evo.serving.tournaments import TournamentPages

STATIC = Path(__file__).parent / "static"


def make_app(
    root: Path,
    token: str,
    hosts: frozenset[str] = frozenset(),
    opponents: Sequence[str] | None = None,
    decks: Sequence[str] = (),
    puzzles: Path | None = None,
) -> Starlette:
    """Build the web application (Starlette).

    Args:
        root: folder with runs and tournaments.
        token: access token that every request must have.
        hosts: allowed host names of the server; empty for any.
        opponents: entrants to play against, beside shipped ones and the folder's champions; None: no playing.
        decks: decks to play, beside the shipped ones: files or deck codes.
        puzzles: file of puzzles to solve; None for the shipped ones.

    Raises:
        DeckError: two of these decks have the same name, or one cannot be read.
        WrongValueError: the puzzles cannot be read.
    """
    pages = Pages(root, play=opponents is not None)
    runs, tournaments = RunPages(pages), TournamentPages(pages)
    runs.warm_up()
    routes: list[BaseRoute] = [
        Route("/", page_handler(runs.index)),
        Route("/rows", page_handler(runs.rows)),
        Route("/compare", page_handler(runs.compare)),
        Route("/study/{name:path}", page_handler(runs.study)),
        Route("/run/{name:path}", page_handler(runs.run)),
        Route("/report/{name:path}", page_handler(runs.report)),
        Route("/numbers/{name:path}", page_handler(runs.numbers)),
        Route("/tournament/{name:path}", page_handler(tournaments.tournament)),
        Route("/standings/{name:path}", page_handler(tournaments.standings)),
        Route("/games/{name:path}", page_handler(tournaments.games)),
        Route("/game/{number}/{name:path}", page_handler(tournaments.game)),
        Route("/download/{number}/{name:path}", page_handler(tournaments.download)),
        Mount("/static", StaticFiles(directory=STATIC)),
        Mount("/board", StaticFiles(directory=STORIES)),
        Mount("/figures", StaticFiles(directory=FIGURES)),
    ]
    posts = ""
    if opponents is not None:
        posts, playing = PLAY_ADDRESS, PlayPages(pages, opponents, decks, puzzles)
        routes += [
            Route(PLAY_ADDRESS, page_handler(playing.choose), methods=["GET"]),
            Route(PLAY_ADDRESS, post_handler(playing.begin), methods=["POST"]),
            Route(f"{PLAY_ADDRESS}/puzzles", page_handler(playing.puzzles), methods=["GET"]),
            Route(f"{PLAY_ADDRESS}/puzzles", post_handler(playing.begin_puzzle), methods=["POST"]),
            Route(f"{PLAY_ADDRESS}/{{game}}", page_handler(playing.table)),
            Route(f"{PLAY_ADDRESS}/{{game}}/state", page_handler(playing.state)),
            Route(f"{PLAY_ADDRESS}/{{game}}/advice", page_handler(playing.advice)),
            Route(f"{PLAY_ADDRESS}/{{game}}/act", post_handler(playing.act), methods=["POST"]),
            Route(f"{PLAY_ADDRESS}/{{game}}/concede", post_handler(playing.concede), methods=["POST"]),
            Route(f"{PLAY_ADDRESS}/{{game}}/record", page_handler(playing.record)),
            Route(f"{PLAY_ADDRESS}/{{game}}/story", page_handler(playing.story)),
            Route(f"{PLAY_ADDRESS}/{{game}}/download", page_handler(playing.download)),
        ]

    def missing(request: Request, _: Exception) -> Response:
        return pages.missing(f"page {request.url.path}")

    return Starlette(
        routes=routes,
        exception_handlers={404: missing},
        middleware=[Middleware(AccessControl, token=token, hosts=hosts, posts=posts)],
    )


def make_server(app: Starlette) -> uvicorn.Server:
    """Build a uvicorn server of the application: HTTP/1.1 only, with the strict parser h11."""
    settings: dict[str, Any] = {"http": "h11", "ws": "none", "lifespan": "off", "server_header": False}
    return uvicorn.Server(uvicorn.Config(app, log_level="warning", **settings))
