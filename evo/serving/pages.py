"""Shared parts of all web pages: templates, error pages, and request handlers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote

import jinja2
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from engine.terminal import print_error, safe_text
from evo.analysis.listing import benchmark_score
from evo.config.messages import duration
from evo.game_pages.story import TEMPLATES as STORIES
from evo.game_pages.story import script_safe_json, story_page
from evo.serving.folders import Catalogue
from evo.serving.guard import MAX_POST_BYTES, TOO_LONG

TEMPLATES = Path(__file__).parent / "templates"

MAX_FIELDS = 20
"""Most fields of a POST request."""


class Pages:
    """Renders web pages from templates.

    Args:
        root: folder with runs and tournaments.
        play: whether games can be played.
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
            "shown": safe_text,
            "shown_lines": _safe_lines,
            "told": self._problem_text,
            "address": url_part,
            "benchmark_score": benchmark_score,
        }
        self._templates.globals |= {"play": play}

    def render(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """Render a page, or a part of a page, from a template."""
        content = self._templates.get_template(template).render(**values)
        return HTMLResponse(content.encode("utf-8", "replace"), status)

    def _problem_text(self, problem: object) -> str:
        """Format a problem with files for a page, without the root's path; not for texts from requests."""
        return safe_text(self.catalogue.relative(problem))

    def missing(self, what: str) -> HTMLResponse:
        """The error page for something that does not exist (404)."""
        return self.render("missing.html", 404, title="Not found", what=what)

    def problem(self, title: str, problem: str, status: int = 200, command: str = "") -> HTMLResponse:
        """The error page for something that cannot be shown; `command` shows it in a terminal, "": none."""
        return self.render("problem.html", status, title=title, problem=problem, command=command)

    def game(self, title: str, story: dict[str, Any], download: str, **more: str) -> HTMLResponse:
        """The page of a game, step by step.

        Args:
            title: of the page.
            story: data of `evo.game_pages.story.game_data`.
            download: address of the game as a file.
            more: `record`, address of its record; `tournament`, name of its tournament.
        """
        values: dict[str, Any] = {"record": "", "tournament": "", **more}
        return self.render(
            "game.html",
            title=title,
            story=story,
            data=Markup(script_safe_json(story)),
            download=download,
            **values,
        )


def _safe_lines(text: str) -> str:
    """`safe_text` of every line of a text."""
    return "\n".join(map(safe_text, text.splitlines()))


def game_download(story: dict[str, Any], name: str) -> Response:
    """Response to download a game as a self-contained HTML file."""
    headers = {"content-disposition": f'attachment; filename="{name}.html"'}
    return Response(story_page(story), headers=headers, media_type="text/html")


def page_handler(page: Callable[[Request], Response]) -> Callable[[Request], Any]:
    """Make a request handler that calls `page` in a thread."""

    async def answer(request: Request) -> Response:
        return await run_in_threadpool(_guarded, lambda: page(request))

    return answer


def post_handler(page: Callable[[Request, dict[str, str]], Response]) -> Callable[[Request], Any]:
    """Make a request handler of POST that calls `page` in a thread, with the form's fields by name."""

    async def answer(request: Request) -> Response:
        body = b""
        try:
            async for part in request.stream():
                body += part
                if len(body) > MAX_POST_BYTES:
                    return PlainTextResponse(f"{TOO_LONG}\n", 413)
        except ClientDisconnect:
            return PlainTextResponse("the request is incomplete\n", 400)  # the client has gone
        try:
            fields = dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=MAX_FIELDS))
        except ValueError:
            return PlainTextResponse("the request has too many fields\n", 400)
        return await run_in_threadpool(_guarded, lambda: page(request, fields))

    return answer


def _guarded(page: Callable[[], Response]) -> Response:
    """Make a page; on an error, return a one-line response (500), so that the server continues."""
    try:
        return page()
    except Exception as error:
        message = f"this page could not be made: {type(error).__name__}"
        print_error(f"warning: {message}: {error}")  # the details may name files: for the terminal only
        return PlainTextResponse(f"{message}\n", 500)


def url_part(name: str) -> str:
    """Quote a name for a URL; "" if it cannot be encoded."""
    try:
        return quote(name)
    except UnicodeEncodeError:
        return ""


def integer_parameter(request: Request, name: str, most: int) -> int:
    """Value of an integer query parameter, clipped to `most`; 0 for a text that is no number."""
    text = request.query_params.get(name, "")
    return min(int(text), most) if text.isascii() and text.isdigit() and len(text) < 16 else 0
