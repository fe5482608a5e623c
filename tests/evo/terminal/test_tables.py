"""Tables that fit the terminal."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from evo.terminal.console import Column, FittingTable, wrap_name

COLUMNS = (Column("name"), Column("second", 2), Column("must"), Column("first", 1, right=True))
WORDS = st.text("abcxyz -/", max_size=12)


def drawn(width: int, rows: list[tuple[str, ...]], terminal: bool = False) -> str:
    console = Console(
        file=io.StringIO(), width=width, force_terminal=terminal, color_system=None, soft_wrap=not terminal
    )
    console.print(FittingTable(COLUMNS, rows))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert isinstance(text, str)
    return text


def test_the_least_important_columns_go_first() -> None:
    rows = [("run-1", "22", "333", "4444")]
    assert all(word in drawn(60, rows) for word in ("name", "second", "must", "first"))
    assert "second" not in drawn(27, rows)
    assert "first" in drawn(27, rows)
    assert "first" not in drawn(20, rows)
    assert "must" in drawn(20, rows)


@given(st.integers(24, 80), st.lists(st.tuples(WORDS, WORDS, WORDS, WORDS), max_size=4))
def test_no_line_is_wider_than_the_terminal_and_no_cell_is_cut(
    width: int, rows: list[tuple[str, ...]]
) -> None:
    text = drawn(width, rows)
    assert max(map(len, text.splitlines())) <= max(width, 2 * 12 + 7)
    assert "…" not in text


def test_bars_lose_the_oldest_before_they_go() -> None:
    columns = (Column("name"), Column("by generation", 1, shortest=4), Column("now", 2))
    table = FittingTable(columns, [("face", "abcdefghij", "10.0%")], "shares")

    def row(width: int) -> str:
        console = Console(file=io.StringIO(), width=width)
        console.print(table)
        lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
        assert max(map(len, lines)) <= width
        return " ".join(lines[-2].replace("│", " ").split())

    assert row(60) == "face abcdefghij 10.0%"
    assert row(26) == "face defghij 10.0%"
    assert row(22) == "face abcdefghij"
    assert row(16) == "face fghij"
    assert row(12) == "face"


def test_a_column_shortens_its_cells_by_its_own_rule() -> None:
    columns = (Column("name"), Column("bars", 1, shortest=2, shorten=lambda text, n: text[:n].upper()))
    console = Console(file=io.StringIO(), width=15)
    console.print(FittingTable(columns, [("face", "abcdefghij")]))
    assert "│ ABCD │" in console.file.getvalue()  # type: ignore[attr-defined]


LONG_NAME = "runs/quickstart-20261122-222344/second"


def test_long_names_stay_whole_where_there_is_no_terminal() -> None:
    for width in (80, 60, 40, 20):
        text = drawn(width, [(LONG_NAME, "22", "333", "4444")])
        assert f" {LONG_NAME} " in text
        assert " 333 " in text
        assert ("second " in text.splitlines()[1]) == (width == 80)


def test_long_names_wrap_at_their_marks_on_a_terminal() -> None:
    text = drawn(44, [(LONG_NAME, "22", "333", "4444")], terminal=True)
    assert max(map(len, text.splitlines())) <= 44
    names = [line.split("│")[1].strip() for line in text.splitlines()[3:-1]]
    assert names == ["runs/quickstart-20261122-", "222344/second"]


@pytest.mark.parametrize(
    ("name", "width", "lines"),
    [
        ("short", 10, ["short"]),
        ("a-b c/d", 3, ["a-b", "c/d"]),
        ("Dire Wolf Alpha", 9, ["Dire Wolf", "Alpha"]),
        ("indivisible", 5, ["indivisible"]),
        ("", 5, [""]),
    ],
)
def test_names_wrap_after_marks(name: str, width: int, lines: list[str]) -> None:
    assert wrap_name(name, width).split("\n") == lines
