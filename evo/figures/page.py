"""Self-contained HTML pages, the one way they are made: every text escaped, figures inside, no network.

A page is a title and sections. It begins with the conclusions of its sections and a list of contents, and
ends with the commands that repeat it. Tables are made by `html_table` and `heat_table`, figures by `image`.
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
"""Of them `tables.css` and `tables.js` are of tables alone, for other pages too."""

_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(TEMPLATES),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)

LONGEST_OPEN = 20
"""Most rows of a table that is shown unfolded."""

MOST_HEAT = 24
"""Most rows and columns of a heat map that is a table; of more, numbers are not readable."""

RED, WHITE, BLUE = (0xE5, 0x77, 0x70), (0xFF, 0xFF, 0xFF), (0x62, 0xA3, 0xDC)
"""Scores 0, 1/2 and 1 of a heat map, all light enough for dark text."""

Format = str | Callable[[Any], str]


@dataclass(frozen=True)
class Section:
    """The answer to one question.

    Attributes:
        title: the heading, also in the list of contents.
        text: sentences, before the parts.
        parts: figures and tables.
        note: how to read them.
        conclusion: what of it the page says first; "" for nothing.
    """

    title: str
    text: str
    parts: Sequence[Markup] = ()
    note: str = ""
    conclusion: str = ""


@dataclass(frozen=True)
class Cell:
    """A text in a table that sorts by a number.

    Attributes:
        text: what is shown.
        value: what it sorts by; nan with an empty text, which sorts last.
    """

    text: str
    value: float


def make_page(
    title: str, sections: Sequence[Section], commands: str, warnings: Sequence[str] = (), note: str = ""
) -> bytes:
    """A page.

    Args:
        title: of the whole page.
        sections: in the order of the page; the conclusions keep that order.
        commands: what repeats the page's content.
        warnings: what must not be overlooked.
        note: a last remark, after the versions.
    """
    shown = [
        vars(section) | {"id": name}
        for section, name in zip(sections, _names_of([one.title for one in sections]), strict=True)
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


def _names_of(titles: Sequence[str]) -> list[str]:
    """A name for each title that addresses may contain; all different."""
    found: list[str] = []
    for title in titles:
        name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "section"
        while name in (*found, "conclusion", "to-repeat-this"):
            name += "-2"
        found.append(name)
    return found


def image(content: bytes | tuple[bytes, bytes], text: str) -> Markup:
    """A PNG inside the page, as wide as the page, with alternative text.

    Args:
        content: the figure, or the same for wide and for narrow pages (`evo.figures.style.draw_both`).
        text: what it shows.
    """
    wide, narrow = content if isinstance(content, tuple) else (content, b"")
    source = Markup('<source media="(max-width: 600px)" srcset="{}">').format(_address(narrow))
    return Markup('<figure><picture>{}<img src="{}" alt="{}"></picture></figure>').format(
        source if narrow else "", _address(wide), text
    )


def _address(content: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"


def points(difference: float) -> str:
    """A difference of two shares: 0.031 is "+3.1"."""
    return f"{100 * difference:+.1f}"


def intervals(table: pd.DataFrame, low: str, high: str, form: str) -> list[Cell]:
    """Two columns as one of texts "1.0 to 2.0", which sort by the lower bound."""
    return [
        Cell("" if np.isnan(a) or np.isnan(b) else f"{form.format(a)} to {form.format(b)}", float(a))
        for a, b in table[[low, high]].astype(float).itertuples(index=False)
    ]


def html_table(table: pd.DataFrame, formats: Mapping[str, Format] | None = None, title: str = "") -> Markup:
    """A table that sorts by any column, folds, and scrolls in its own box with its names in place.

    Args:
        table: column names become headings; the first column of text holds the names.
        formats: by column, such as "{:.1%}", or a function; missing values are left empty.
        title: what it shows. Tables of more than `LONGEST_OPEN` rows are folded at first.
    """
    formats = formats or {}
    numeric = [_is_numeric(table[name]) for name in table.columns]
    place_of_names = numeric.index(False) if False in numeric else 0
    rows = []
    for row in table.itertuples(index=False):
        cells = [
            _cell(value, formats.get(name, "{}"), right, place == place_of_names)
            for place, (name, value, right) in enumerate(zip(table.columns, row, numeric, strict=True))
        ]
        rows.append(Markup("<tr>{}</tr>").format(Markup("").join(cells)))
    return _folded(_heads(list(table.columns), numeric, place_of_names), rows, title, "plain")


def heat_table(scores: pd.DataFrame, title: str) -> Markup:
    """Scores of rows against columns as a table with coloured cells, readable at any width.

    Args:
        scores: in [0, 1], missing without games; at most `MOST_HEAT` rows.
        title: what it shows.
    """
    corner = scores.index.name or ""
    rows = []
    for name, values in zip(scores.index, scores.to_numpy(), strict=True):
        cells = [_cell(str(name), "{}", right=False, names=True), *map(_heat_cell, values)]
        rows.append(Markup("<tr>{}</tr>").format(Markup("").join(cells)))
    numeric = [False] + [True] * scores.shape[1]
    return _folded(_heads([corner, *map(str, scores.columns)], numeric, 0), rows, title, "heat")


def _is_numeric(column: pd.Series) -> bool:
    cells = [isinstance(value, Cell) for value in column]
    return bool(pd.api.types.is_numeric_dtype(column.dtype)) or (bool(cells) and all(cells))


def _heads(names: list[str], numeric: list[bool], place_of_names: int) -> Markup:
    """The row of headings: each a button that sorts."""
    kinds = [
        " ".join(["name"] * (place == place_of_names) + ["number"] * right)
        for place, right in enumerate(numeric)
    ]
    form = '<th scope="col" class="{}" aria-sort="none"><button type="button">{}</button></th>'
    heads = [Markup(form).format(kind, name) for kind, name in zip(kinds, names, strict=True)]
    return Markup("").join(heads)


def _cell(value: Any, form: Format, right: bool, names: bool) -> Markup:
    if isinstance(value, Cell):
        text, number = value.text, value.value
    else:
        missing = pd.isna(value)
        number = float(value) if right and not missing else np.nan
        text = "" if missing else form(value) if callable(form) else form.format(value)
    mark = Markup(' data-value="{}"').format(_number(number)) if right and not np.isnan(number) else ""
    if names:
        return Markup('<th scope="row" class="name"{}><span>{}</span></th>').format(mark, text)
    return Markup("<td{}{}>{}</td>").format(Markup(' class="number"') if right else "", mark, text)


def _heat_cell(score: float) -> Markup:
    if np.isnan(score):
        return Markup("<td></td>")
    end, part = (BLUE, 2 * score - 1) if score > 0.5 else (RED, 1 - 2 * score)
    mixed = [round(white + (full - white) * part) for white, full in zip(WHITE, end, strict=True)]
    form = '<td data-value="{}" style="background: rgb({}, {}, {})">{}</td>'
    return Markup(form).format(_number(score), *mixed, f"{score:.0%}")


def _number(value: float) -> str:
    """A number as scripts read it."""
    return f"{value:.12g}".replace("inf", "Infinity")


def _folded(heads: Markup, rows: list[Markup], title: str, kind: str) -> Markup:
    count = f"{len(rows):,} row{'' if len(rows) == 1 else 's'}"
    return Markup(
        '<details{}><summary>{}</summary>\n<div class="scroll"><table class="{}"><thead><tr>{}</tr></thead>'
        "<tbody>{}</tbody></table></div></details>"
    ).format(
        Markup(" open") if len(rows) <= LONGEST_OPEN or kind == "heat" else "",
        f"{title}, {count}" if title else f"Table, {count}",
        kind,
        heads,
        Markup("\n").join(rows),
    )
