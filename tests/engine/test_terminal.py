"""What a text from anyone can do to a terminal: nothing."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from engine.terminal import REPLACEMENT, safe_text
from evo.terminal.console import SafeConsole

EVIL = [
    "\x1b[2J",
    "\x1b]0;title\x07",
    "[/red]",
    "[bold]x[/bold]",
    "\u202egnp.exe",
    "a\rb",
    "\x9b31m",
    ":smile:",
    "\udcff",
]


@pytest.mark.parametrize("text", EVIL)
def test_a_text_reaches_the_terminal_as_text(text: str) -> None:
    for renderable in (text, Text(text), _table(text)):
        file = io.StringIO()
        SafeConsole(file=file, width=60).print(renderable)
        assert safe_text(text).replace(REPLACEMENT, "") in file.getvalue().replace(REPLACEMENT, "")
        assert safe_text(file.getvalue()) == file.getvalue()


def _table(text: str) -> Table:
    table = Table(text, title=text)
    table.add_row(text)
    return table


@given(st.text())
def test_shown_is_printable_and_keeps_what_was(text: str) -> None:
    safe = safe_text(text)
    assert len(safe) == len(text)
    assert not set(safe) & {"\x1b", "\x9b", "\r", "\x07", "\u202e", "\udcff"}
    assert all(after in (before, REPLACEMENT) for before, after in zip(text, safe, strict=True))


def test_styles_and_bars_still_work() -> None:
    file = io.StringIO()
    screen = SafeConsole(file=file, width=60, force_terminal=True, color_system="standard")
    screen.print("red", style="red")
    assert "\x1b[31mred" in file.getvalue()
    with Progress(console=screen, transient=True) as bar:
        bar.add_task("games", total=3)
    assert "\x1b[?25l" in file.getvalue(), "the cursor is hidden while the bar moves"
