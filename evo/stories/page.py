"""A story as one self-contained page, which asks the network for nothing."""

import base64
import hashlib
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from engine import RULES_VERSION

TEMPLATES = Path(__file__).parent / "templates"
"""The board, the steps, and the page around them, which a server's pages of games share."""


def story_page(story: dict[str, Any]) -> bytes:
    """The page of a game (`evo.stories.story.tell`), to step through by keyboard and buttons.

    Its only script is allowed by its hash; the game is data, which no browser runs.
    """
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined
    )
    script = _joined("board.js", "reasons.js", "steps.js")
    page = templates.get_template("story.html").render(
        title=" against ".join(story["players"]),
        story=story,
        data=Markup(as_data(story)),
        style=Markup(_joined("board.css", "steps.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        note=f"manaforge {version('manaforge')}, rules {RULES_VERSION}",
    )
    return page.encode("utf-8", "replace")


def _joined(*names: str) -> str:
    """Files of the templates, one after another."""
    return "\n".join((TEMPLATES / name).read_text(encoding="utf-8") for name in names)


def as_data(content: Any) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(content, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
