"""What all pages of the server share: templates, and answers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote

import jinja2
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from engine.terminal import say_error, shown
from evo.config.messages import duration
from evo.game_pages.story import TEMPLATES as STORIES
from evo.game_pages.story import as_data, story_page
from evo.serving.folders import Catalogue
from evo.serving.guard import LONGEST_POST

TEMPLATES = Path(__file__).parent / "templates"

MOST_FIELDS = 20
"""Fields that are posted."""


class Pages:
    """Makes pages from templates.

    Args:
        root: the folder with runs and tournaments.
        play: whether games may be played.
    """

    def __init__(self, root: Path, play: bool = False) -> None:
        self.catalogue = Catalogue(root)
        self._templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader([TEMPLATES, STORIES]),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
        )
        self._templates.filters |= {
            "duration": duration,
            "shown": shown,
            "told": self._told,
            "address": address_of,
        }
        self._templates.globals |= {"play": play}

    def render(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A page, or a part of one, made from its template."""
        content = self._templates.get_template(template).render(**values)
        return HTMLResponse(content.encode("utf-8", "replace"), status)

    def _told(self, problem: object) -> str:
        """What is wrong with files, as pages say it; of a request's text it would tell where the root is."""
        return shown(self.catalogue.relative(problem))

    def missing(self, what: str) -> HTMLResponse:
        """The page for what is not there."""
        return self.render("missing.html", 404, title="Not here", what=what)

    def problem(self, title: str, problem: str, status: int = 200, command: str = "") -> HTMLResponse:
        """The page for what is there and cannot be shown; `command` does it in a terminal, "" for none."""
        return self.render("problem.html", status, title=title, problem=problem, command=command)

    def game(self, title: str, story: dict[str, Any], download: str, **more: str) -> HTMLResponse:
        """A game step by step.

        Args:
            title: of the page.
            story: as `evo.game_pages.story.tell` tells it.
            download: the address of the same as a file.
            more: `record`, the address of its record; `tournament`, the name of the one it is of.
        """
        said: dict[str, Any] = {"record": "", "tournament": "", **more}
        return self.render(
            "game.html", title=title, story=story, data=Markup(as_data(story)), download=download, **said
        )


def game_file(story: dict[str, Any], name: str) -> Response:
    """A game as one file to keep, which needs no server."""
    headers = {"content-disposition": f'attachment; filename="{name}.html"'}
    return Response(story_page(story), headers=headers, media_type="text/html")


def threaded(page: Callable[[Request], Response]) -> Callable[[Request], Any]:
    """A page that reads files, in a thread of its own."""

    async def answer(request: Request) -> Response:
        return await run_in_threadpool(_told, lambda: page(request))

    return answer


def posted(page: Callable[[Request, dict[str, str]], Response]) -> Callable[[Request], Any]:
    """A page that takes what a form or a script posts, by name, in a thread of its own."""

    async def answer(request: Request) -> Response:
        body = b""
        try:
            async for part in request.stream():
                body += part
                if len(body) > LONGEST_POST:
                    return PlainTextResponse("that is too long\n", 413)
        except ClientDisconnect:
            return PlainTextResponse("what is posted is not whole\n", 400)  # nobody reads it
        try:
            fields = dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=MOST_FIELDS))
        except ValueError:
            return PlainTextResponse("these are too many fields\n", 400)
        return await run_in_threadpool(_told, lambda: page(request, fields))

    return answer


def _told(page: Callable[[], Response]) -> Response:
    """A page, or a line where it fails: the server goes on."""
    try:
        return page()
    except Exception as error:
        told = f"this page could not be made: {type(error).__name__}"
        say_error(f"warning: {told}: {error}")  # which may name files that are nobody else's business
        return PlainTextResponse(f"{told}\n", 500)


def address_of(name: str) -> str:
    """A name as part of an address; "" for one that no address can hold."""
    try:
        return quote(name)
    except UnicodeEncodeError:
        return ""


def number_in(request: Request, name: str, most: int) -> int:
    """A whole number of the address, from 0 to `most`; 0 for any other text."""
    text = request.query_params.get(name, "")
    return min(int(text), most) if text.isascii() and text.isdigit() and len(text) < 16 else 0
