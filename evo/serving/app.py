"""The server: which address shows what. It keeps nothing of its own but what it has read."""

from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from evo.figures.page import TEMPLATES as FIGURES
from evo.serving.guard import Guard
from evo.serving.pages import Pages, threaded
from evo.serving.runs import RunPages
from evo.serving.tournaments import TournamentPages
from evo.stories.page import TEMPLATES as STORIES

STATIC = Path(__file__).parent / "static"


def make_app(root: Path, hosts: frozenset[str] = frozenset(), token: str = "") -> Starlette:
    """The server as an application.

    Args:
        root: the folder with runs and tournaments.
        hosts: names by which it may be called; empty for any.
        token: that every request must bring; "" for none.
    """
    pages = Pages(root)
    runs, tournaments = RunPages(pages), TournamentPages(pages)
    routes: list[BaseRoute] = [
        Route("/", threaded(runs.index)),
        Route("/rows", threaded(runs.rows)),
        Route("/compare", threaded(runs.compare)),
        Route("/run/{name:path}", threaded(runs.run)),
        Route("/numbers/{name:path}", threaded(runs.numbers)),
        Route("/tournament/{name:path}", threaded(tournaments.tournament)),
        Route("/standings/{name:path}", threaded(tournaments.standings)),
        Route("/games/{name:path}", threaded(tournaments.games)),
        Route("/game/{number:int}/{name:path}", threaded(tournaments.game)),
        Route("/download/{number:int}/{name:path}", threaded(tournaments.download)),
        Mount("/static", StaticFiles(directory=STATIC)),
        Mount("/board", StaticFiles(directory=STORIES)),
        Mount("/figures", StaticFiles(directory=FIGURES)),
    ]
    return Starlette(routes=routes, middleware=[Middleware(Guard, hosts=hosts, token=token)])
