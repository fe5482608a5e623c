"""Self-contained HTML pages from templates: every text escaped, figures inside, no network."""

import base64
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup

_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(template: str, **values: Any) -> bytes:
    """A page from a template of `evo/figures/templates`."""
    return _TEMPLATES.get_template(template).render(**values).encode()


def image(content: bytes, text: str) -> Markup:
    """A PNG inside the page, with alternative text."""
    data = base64.b64encode(content).decode()
    return Markup('<div class="wide"><img src="data:image/png;base64,{}" alt="{}"></div>').format(data, text)


def html_table(table: pd.DataFrame, formats: dict[str, str] | None = None) -> Markup:
    """A table that scrolls within narrow pages; numbers are aligned to the right.

    Args:
        table: column names become headings.
        formats: by column, such as "{:.1%}"; missing values are left empty.
    """
    formats = formats or {}
    numeric = [pd.api.types.is_numeric_dtype(kind) for kind in table.dtypes]
    mark = [Markup(' class="number"') if right else Markup("") for right in numeric]
    head = Markup("").join(
        Markup("<th{}>{}</th>").format(kind, name) for kind, name in zip(mark, table.columns, strict=True)
    )
    rows = []
    for row in table.itertuples(index=False):
        cells = []
        for name, value, kind in zip(table.columns, row, mark, strict=True):
            text = "" if pd.isna(value) else formats.get(name, "{}").format(value)
            cells.append(Markup("<td{}>{}</td>").format(kind, text))
        rows.append(Markup("<tr>{}</tr>").format(Markup("").join(cells)))
    return Markup(
        '<div class="wide"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>'
    ).format(head, Markup("\n").join(rows))
