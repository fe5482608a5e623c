"""The terminal as every command writes to it: a text from anyone may be on it, and none commands it."""

import unicodedata
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

HIDDEN = "�"
"""Stands for a character that is not shown."""


def shown(text: object) -> str:
    """A text from anyone as it may be printed: escape codes and what reorders or hides text are replaced."""
    whole = str(text)
    if whole.isprintable():
        return whole
    return "".join(letter if _is_harmless(letter) else HIDDEN for letter in whole)


def _is_harmless(letter: str) -> bool:
    """Whether a character neither commands the terminal nor reorders text, as joiners and spaces do not."""
    return letter.isprintable() or letter in "\n\t\u200c\u200d\ufe0f" or unicodedata.category(letter) == "Zs"


class Screen(Console):
    """A console that takes no text for markup and lets no control character through but its own.

    Arguments are those of `rich.console.Console`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of a renderable, their texts as `shown` makes them."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(shown(segment.text), segment.style)
