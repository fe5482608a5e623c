"""Self-contained HTML report pages: escaped text, embedded figures, no network access.

A page has a title and sections. It begins with the sections' conclusions and a table of contents, and ends
with the commands that repeat it. Tables are made by `html_table` and `heat_table`, figures by `image`.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd
from markupsafe import Markup

from engine import RULES_VERSION

TEMPLATES = Path(__file__).parent / "templates"
"""Folder of templates; `tables.css` and `tables.js` serve the tables of other pages too."""

_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(TEMPLATES),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)

MAX_OPEN_ROWS = 20
"""Most rows of a table that is shown unfolded at first."""

MAX_HEAT_ROWS = 24
"""Most rows and columns of a heat map shown as a table; more numbers would be unreadable."""

PROSE_LENGTH = 40
"""Length in characters above which the text of a cell wraps."""

RED, WHITE, BLUE = (0xE5, 0x77, 0x70), (0xFF, 0xFF, 0xFF), (0x62, 0xA3, 0xDC)
"""Colours (RGB) of scores 0, 1/2 and 1 in a heat map, light enough for dark text."""

Format = str | Callable[[Any], str]


@dataclass(frozen=True)
class Section:
    """A section of a report page.

    Attributes:
        title: heading, also in the table of contents.
        text: sentences before the parts.
        parts: figures and tables.
        note: explanation after the parts.
        conclusion: sentence for the top of the page; "" for none.
    """

    title: str
    text: str
    parts: Sequence[Markup] = ()
    note: str = ""
    conclusion: str = ""


@dataclass(frozen=True)
class Cell:
    """A table cell with a text and the number by which it sorts.

    Attributes:
        text: text shown.
        value: sort key; nan with an empty text, which sorts last.
    """

    text: str
    value: float


def make_page(
    title: str, sections: Sequence[Section], commands: str, warnings: Sequence[str] = (), note: str = ""
) -> bytes:
    """Render a report page as HTML.

    Args:
        title: title of the page.
        sections: in page order, also the order of the conclusions.
        commands: commands that repeat the page's content.
        warnings: warnings at the top.
        note: last sentence of the footer, after the versions.
    """
    shown = [
        vars(section) | {"id": name}
        for section, name in zip(sections, _anchors([one.title for one in sections]), strict=True)
    ]
    script = (TEMPLATES / "tables.js").read_text()
    page = _TEMPLATES.get_template("page.html").render(
        title=title,
        sections=shown,
        conclusions=[section for section in shown if section["conclusion"]],
        warnings=warnings,
        commands=commands,
        note=f"manaforge {version('manaforge')}, rules {RULES_VERSION}. {note}".strip(),
        style=Markup("".join((TEMPLATES / name).read_text() for name in ("page.css", "tables.css"))),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    return page.encode("utf-8", "replace")


def _anchors(titles: Sequence[str]) -> list[str]:
    """Unique anchor names (URL fragments) of section titles."""
    anchors: list[str] = []
    for title in titles:
        name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "section"
        while name in (*anchors, "conclusion", "to-repeat-this"):
            name += "-2"
        anchors.append(name)
    return anchors


def image(content: bytes | tuple[bytes, bytes], text: str) -> Markup:
    """HTML of an embedded PNG figure in page width, with alternative text.

    Args:
        content: the PNG, or one for wide and one for narrow pages (`evo.figures.style.draw_wide_and_narrow`).
        text: alternative text.
    """
    wide, narrow = content if isinstance(content, tuple) else (content, b"")
    source = Markup('<source media="(max-width: 600px)" srcset="{}">').format(_data_url(narrow))
    return Markup('<figure><picture>{}<img src="{}" alt="{}"></picture></figure>').format(
        source if narrow else "", _data_url(wide), text
    )


def _data_url(content: bytes) -> str:
    """Data URL of a PNG file."""
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"


def percentage_points(difference: float) -> str:
    """Format a difference of two shares in percentage points: 0.031 as "+3.1"."""
    return f"{100 * difference:+.1f}"


def interval_cells(table: pd.DataFrame, low: str, high: str, form: str) -> list[Cell]:
    """Format the bounds of intervals as cells "1.0 to 2.0" that sort by the lower bound."""
    return [
        Cell("" if np.isnan(a) or np.isnan(b) else f"{form.format(a)} to {form.format(b)}", float(a))
        for a, b in table[[low, high]].astype(float).itertuples(index=False)
    ]


def html_table(table: pd.DataFrame, formats: Mapping[str, Format] | None = None, title: str = "") -> Markup:
    """Render a sortable, foldable, scrollable HTML table whose column of names stays visible.

    Args:
        table: column names become headings; the first text column is the column of names.
        formats: by column, such as "{:.1%}", or a function; missing values are left empty.
        title: caption. Tables of more than `MAX_OPEN_ROWS` rows are folded at first.
    """
    formats = formats or {}
    numeric = [_is_numeric(table[name]) for name in table.columns]
    name_column = numeric.index(False) if False in numeric else 0
    rows = []
    for row in table.itertuples(index=False):
        cells = [
            _cell(value, formats.get(name, "{}"), is_number, i == name_column)
            for i, (name, value, is_number) in enumerate(zip(table.columns, row, numeric, strict=True))
        ]
        rows.append(Markup("<tr>{}</tr>").format(Markup("").join(cells)))
    return _folded(_headings(list(table.columns), numeric, name_column), rows, title, "plain")


def heat_table(scores: pd.DataFrame, title: str) -> Markup:
    """Render a heat map of scores, rows against columns, as an HTML table with coloured cells.

    Args:
        scores: in [0, 1], missing without games; at most `MAX_HEAT_ROWS` rows.
        title: caption.
    """
    corner = scores.index.name or ""
    rows = []
    for name, values in zip(scores.index, scores.to_numpy(), strict=True):
        cells = [_cell(str(name), "{}", right=False, names=True), *map(_heat_cell, values)]
        rows.append(Markup("<tr>{}</tr>").format(Markup("").join(cells)))
    numeric = [False] + [True] * scores.shape[1]
    return _folded(_headings([corner, *map(str, scores.columns)], numeric, 0), rows, title, "heat")


def _is_numeric(column: pd.Series) -> bool:
    """Whether a table column sorts by numbers."""
    cells = [isinstance(value, Cell) for value in column]
    return bool(pd.api.types.is_numeric_dtype(column.dtype)) or (bool(cells) and all(cells))


def _headings(names: list[str], numeric: list[bool], name_column: int) -> Markup:
    """Render heading cells, each with a button that sorts the table by the column."""
    kinds = [
        " ".join(["name"] * (i == name_column) + ["number"] * is_number)
        for i, is_number in enumerate(numeric)
    ]
    form = '<th scope="col" class="{}" aria-sort="none"><button type="button">{}</button></th>'
    heads = [Markup(form).format(kind, name) for kind, name in zip(kinds, names, strict=True)]
    return Markup("").join(heads)


def _cell(value: Any, form: Format, right: bool, names: bool) -> Markup:
    """Render a table cell; `right`: aligned right as a number, `names`: in the column of names."""
    if isinstance(value, Cell):
        text, number = value.text, value.value
    else:
        missing = pd.isna(value)
        number = float(value) if right and not missing else np.nan
        text = "" if missing else form(value) if callable(form) else form.format(value)
    mark = Markup(' data-value="{}"').format(_number(number)) if right and not np.isnan(number) else ""
    if names:
        return Markup('<th scope="row" class="name"{}><span>{}</span></th>').format(mark, text)
    kind = "number" if right else "prose" if len(text) > PROSE_LENGTH else ""
    return Markup("<td{}{}>{}</td>").format(Markup(f' class="{kind}"') if kind else "", mark, text)


def _heat_cell(score: float) -> Markup:
    """Render a heat map cell, coloured by its score."""
    if np.isnan(score):
        return Markup("<td></td>")
    end, part = (BLUE, 2 * score - 1) if score > 0.5 else (RED, 1 - 2 * score)
    mixed = [round(white + (full - white) * part) for white, full in zip(WHITE, end, strict=True)]
    form = '<td data-value="{}" style="background: rgb({}, {}, {})">{}</td>'
    return Markup(form).format(_number(score), *mixed, f"{score:.0%}")


def _number(value: float) -> str:
    """Format a number for JavaScript."""
    return f"{value:.12g}".replace("inf", "Infinity")


def _folded(heads: Markup, rows: list[Markup], title: str, kind: str) -> Markup:
    """Render a table inside a `<details>` element."""
    count = f"{len(rows):,} row{'' if len(rows) == 1 else 's'}"
    return Markup(
        '<details{}><summary>{}</summary>\n<div class="scroll"><table class="{}"><thead><tr>{}</tr></thead>'
        "<tbody>{}</tbody></table></div></details>"
    ).format(
        Markup(" open") if len(rows) <= MAX_OPEN_ROWS or kind == "heat" else "",
        f"{title}, {count}" if title else f"Table, {count}",
        kind,
        heads,
        Markup("\n").join(rows),
    )
