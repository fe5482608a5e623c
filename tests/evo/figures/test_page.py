"""Pages: conclusions and contents first, nothing unescaped, nothing from outside, tables that sort and fold."""

import base64
import hashlib
import html.parser
import io
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread

from evo.analysis.plots import plot_progress
from evo.figures.page import (
    MAX_OPEN_ROWS,
    Cell,
    Section,
    heat_table,
    html_table,
    image,
    interval_cells,
    make_page,
    percentage_points,
)
from evo.figures.style import (
    NARROW_INCHES,
    WIDE_INCHES,
    draw_wide_and_narrow,
    figure,
    integer_ticks,
    percent_ticks,
)

EVIL = '<script>alert("x")</script>&\'"'


class Reader(html.parser.HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attributes}))

    def having(self, tag: str, name: str = "") -> list[dict[str, str]]:
        return [values for kind, values in self.tags if kind == tag and (not name or name in values)]


def test_every_text_is_escaped_and_nothing_comes_from_outside() -> None:
    table = pd.DataFrame({EVIL: [EVIL, None], "score": [0.5, np.nan]})
    scores = pd.DataFrame([[0.5]], index=pd.Index([EVIL], name=EVIL), columns=[EVIL])
    parts = [
        html_table(table, {"score": "{:.1%}"}, EVIL),
        html_table(pd.DataFrame({"a": [Cell(EVIL, 1)]})),
        heat_table(scores, EVIL),
        image((b"wide", b"narrow"), EVIL),
    ]
    page = make_page(EVIL, [Section(EVIL, EVIL, parts, EVIL, EVIL)], EVIL, [EVIL], EVIL).decode()
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert") == 20
    read = Reader(page)
    assert len(read.having("script")) == 1
    assert not {"link", "iframe", "object", "base", "form"} & {tag for tag, _ in read.tags}
    assert not [name for _, values in read.tags for name in values if name.startswith("on")]
    for tag, values in read.tags:
        for name in ("src", "href", "srcset"):
            if name in values:
                assert values[name].startswith("#" if tag == "a" else "data:image/png;base64,"), values


def test_the_browser_runs_our_script_only() -> None:
    page = make_page("a", [], "b").decode()
    policy = Reader(page).having("meta", "http-equiv")[0]["content"]
    script = page.split("<script>")[1].split("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "aria-sort" in script
    assert policy == (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    )


def test_conclusions_and_contents_come_first() -> None:
    sections = [
        Section("What was run", "told"),
        Section("Ratings", "many words", conclusion="one is best"),
        Section("Ratings", "again"),
        Section("Conclusion", "of another kind"),
    ]
    page = make_page("Title", sections, "manaforge", ["careful"]).decode()
    order = ["<h1>Title", "one is best", "careful", "Contents</h2>", "told", "many words", "manaforge</pre>"]
    places = [page.index(text) for text in order]
    assert places == sorted(places)
    read = Reader(page)
    names = [values["id"] for values in read.having("h2", "id")]
    assert len(set(names)) == len(names) == 6
    links = [values["href"].removeprefix("#") for values in read.having("a")]
    assert links == ["ratings", *names[1:]]
    assert "Conclusion</h2>" not in make_page("Title", [Section("a", "b")], "c").decode()


def test_tables_sort_by_numbers_and_fold() -> None:
    table = pd.DataFrame(
        {"rank": [1, 2], "entrant": ["a", "b"], "score": [0.12345, np.nan], "low": [-np.inf, 1]}
    )
    table["interval"] = interval_cells(
        pd.DataFrame({"low": [1.5, 2], "high": [3.0, np.nan]}), "low", "high", "{:.1f}"
    )
    table["gain"] = [0.031, -0.2]
    text = html_table(table, {"score": "{:.1%}", "gain": percentage_points}, "Ratings")
    heads = re.findall(
        r'<th scope="col" class="(.*?)" aria-sort="none"><button type="button">(.*?)</button>', text
    )
    assert heads == [
        ("number", "rank"), ("name", "entrant"), ("number", "score"),
        ("number", "low"), ("number", "interval"), ("number", "gain"),
    ]  # fmt: skip
    assert '<th scope="row" class="name"><span>a</span></th>' in text
    assert '<td class="number" data-value="0.12345">12.3%</td>' in text
    assert '<td class="number"></td>' in text
    assert 'data-value="-Infinity"' in text
    assert '<td class="number" data-value="1.5">1.5 to 3.0</td>' in text
    assert '<td class="number" data-value="0.031">+3.1</td>' in text
    assert "<details open><summary>Ratings, 2 rows</summary>" in text
    long = html_table(pd.DataFrame({"name": ["x"] * (MAX_OPEN_ROWS + 1)}), title="Long")
    assert f"<details><summary>Long, {MAX_OPEN_ROWS + 1} rows</summary>" in long
    assert "<th scope" in html_table(pd.DataFrame({"generation": [1, 2]}))
    assert "0 rows" in html_table(pd.DataFrame({"name": []}))


def test_a_heat_map_of_fourteen_has_every_number() -> None:
    names = [f"ilp:{number}" for number in range(14)]
    values = np.arange(196).reshape(14, 14) / 195
    values[3, 4] = np.nan
    text = heat_table(pd.DataFrame(values, index=pd.Index(names, name="entrant"), columns=names), "Scores")
    cells = re.findall(r'<td data-value="(.*?)" style="background: (.*?)">(.*?)</td>', text)
    assert [cell[2] for cell in cells] == [f"{value:.0%}" for value in values.ravel() if not np.isnan(value)]
    assert cells[0][1] == "rgb(229, 119, 112)"
    assert cells[-1][1] == "rgb(98, 163, 220)"
    assert text.count("<td></td>") == 1
    assert text.count('class="number"') == 14


@pytest.mark.usefixtures("drawn")
def test_figures_have_a_wide_and_a_narrow_form() -> None:
    table = pd.DataFrame({"run": "a", "generation": [0, 1], "score": [0.5, 0.6]})
    wide, narrow = (
        imread(io.BytesIO(content)).shape[1] for content in draw_wide_and_narrow(plot_progress, table)
    )
    assert wide / narrow == pytest.approx(WIDE_INCHES / NARROW_INCHES, rel=0.05)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0.583, 0.676), (0.5, 0.51), (0.5, 0.5)])
def test_ticks_of_shares_are_what_they_say(low: float, high: float) -> None:
    with figure(9, 3) as (drawn, axes):
        axes.plot([0, 1], [low, high])
        percent_ticks(axes.yaxis)
        drawn.draw_without_rendering()
        said = [float(label.get_text().removesuffix("%")) / 100 for label in axes.get_yticklabels()]
        assert said == pytest.approx(list(axes.get_yticks()), abs=1e-12)


@pytest.mark.parametrize("last", [0, 1, 2, 3, 7, 24, 99, 1000])
def test_ticks_of_generations_are_whole(last: int) -> None:
    with figure(9, 3) as (drawn, axes):
        axes.plot([0, last], [0, 1])
        integer_ticks(axes.xaxis)
        drawn.draw_without_rendering()
        ticks = axes.get_xticks()
        assert (ticks == np.round(ticks)).all()
        assert len([tick for tick in ticks if 0 <= tick <= last]) >= min(2, last + 1)
