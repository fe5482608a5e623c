"""The server's pages. It reads run folders, and keeps nothing of its own but what it has read."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from engine.errors import ManaforgeError
from engine.screen import shown
from evo.serving.folders import RUN, Catalogue, Signature, signature_of
from evo.serving.guard import Guard
from evo.serving.rundata import run_numbers
from evo.wording import duration

_HERE = Path(__file__).parent
STORIES = _HERE.parent / "stories" / "templates"
"""The board and the steps of a game, which pages of games share."""

KEPT = 64
"""Runs whose numbers are kept in memory."""


class Pages:
    """All pages of one folder.

    Args:
        root: the folder with runs and tournaments.
    """

    def __init__(self, root: Path) -> None:
        self.catalogue = Catalogue(root)
        self._templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
        )
        self._templates.filters |= {"duration": duration, "shown": shown}
        self._numbers: OrderedDict[Path, tuple[Signature, dict[str, Any]]] = OrderedDict()
        self._lock = threading.Lock()

    def render(self, template: str, **values: Any) -> HTMLResponse:
        """A page, made from its template."""
        return HTMLResponse(
            self._templates.get_template(template).render(**values).encode("utf-8", "replace")
        )

    def missing(self, what: str) -> HTMLResponse:
        """The page for what is not there."""
        page = self.render("missing.html", title="Not here", what=what)
        page.status_code = 404
        return page

    def index(self, request: Request) -> Response:  # noqa: ARG002 - every page is called with it
        """The list of all folders."""
        return self.render("index.html", title="Runs", root=str(self.catalogue.root), listed=self._listed())

    def rows(self, request: Request) -> Response:  # noqa: ARG002
        """The list alone, for pages that refresh it."""
        return self.render("rows.html", listed=self._listed())

    def run(self, request: Request) -> Response:
        """A run's page, which asks for its numbers."""
        name = request.path_params["name"]
        if self.catalogue.find(name, RUN) is None:
            return self.missing(f"run {name}")
        return self.render("run.html", title=name, name=name)

    def numbers(self, request: Request) -> Response:
        """The numbers of a run's page as JSON; what cannot be read is told by `unreadable`."""
        name = request.path_params["name"]
        path = self.catalogue.find(name, RUN)
        if path is None:
            return JSONResponse({"unreadable": "it is not there any more"}, 404)
        try:
            return JSONResponse(self._numbers_of(path))
        except (ManaforgeError, OSError) as error:
            return JSONResponse({"unreadable": str(error)})

    def _listed(self) -> Any:
        with self._lock:
            return self.catalogue.listed()

    def _numbers_of(self, path: Path) -> dict[str, Any]:
        """A run's numbers, read again only where its files changed or it goes on."""
        signature = signature_of(path)
        with self._lock:
            known = self._numbers.get(path)
        if known is not None and known[0] == signature and known[1]["state"] != "running":
            return known[1]
        numbers = run_numbers(path)
        with self._lock:
            self._numbers[path] = signature, numbers
            self._numbers.move_to_end(path)
            while len(self._numbers) > KEPT:
                self._numbers.popitem(last=False)
        return numbers


def make_app(root: Path, hosts: frozenset[str] = frozenset(), token: str = "") -> Starlette:
    """The server as an application.

    Args:
        root: the folder with runs and tournaments.
        hosts: names by which it may be called; empty for any.
        token: that every request must bring; "" for none.
    """
    pages = Pages(root)
    routes: list[BaseRoute] = [
        Route("/", _threaded(pages.index)),
        Route("/rows", _threaded(pages.rows)),
        Route("/run/{name:path}", _threaded(pages.run)),
        Route("/numbers/{name:path}", _threaded(pages.numbers)),
        Mount("/static", StaticFiles(directory=_HERE / "static")),
        Mount("/board", StaticFiles(directory=STORIES)),
    ]
    return Starlette(routes=routes, middleware=[Middleware(Guard, hosts=hosts, token=token)])


def _threaded(page: Callable[[Request], Response]) -> Callable[[Request], Any]:
    """A page that reads files, in a thread of its own."""

    async def answer(request: Request) -> Response:
        return await run_in_threadpool(page, request)

    return answer
