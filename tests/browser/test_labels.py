"""Names in charts: what looks like markup in them is shown as it is written, in every label of every chart."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from evo.api import play_tournament
from evo.serving import runs, tournaments
from evo.serving.runs import run_numbers
from tests.browser.support import page_of
from tests.evo.serving.servers import served

pytestmark = pytest.mark.browser

EVIL = '<a href="https://evil.example">li</a><b>bo</b>&lt;<i>&amp;<br>%{y}<sub>1</sub>$x$'

TEXTS = """([name, of]) => [...document.querySelectorAll(`#${name} ${of}`)].map(
  text => [text.textContent, text.querySelectorAll("*").length])"""
"""Texts of a chart, each with how many elements are in it: none in a name that stayed text."""

HOVERED = """([name, curve]) => {
  const chart = document.getElementById(name);
  Plotly.Fx.hover(chart, [{ curveNumber: curve, pointNumber: 0 }]);
  const texts = [...chart.querySelectorAll(".hovertext text, .legend text.name")];
  return [texts.map((text) => text.textContent).join(""), chart.querySelectorAll("a, .hovertext tspan").length];
}"""


def evil_numbers(path: Path) -> dict[str, Any]:
    """The numbers of a run's page with markup in every name."""
    numbers = run_numbers(path)
    weights = numbers["weights"]
    weights["best"] = {f"{name} {EVIL}": values for name, values in weights["best"].items()}
    weights["names"] = [f"{name} {EVIL}" for name in weights["names"]]
    weights["labels"] = [f"{label} {EVIL}" for label in weights["labels"]]
    weights["measure"] = f"share {EVIL}"
    numbers["steps"] = {f"{name} {EVIL}": values for name, values in numbers["steps"].items()}
    for key in ("agent", "strategy"):
        numbers[key] = f"{key} {EVIL}"
    numbers["deck_names"] = numbers["decks"]["names"] = [f"{name} {EVIL}" for name in numbers["deck_names"]]
    numbers["champion"]["candidate"] = EVIL
    numbers["problems"] = [EVIL]
    one = {"generation": 0, "who": f"best {EVIL}", "score": 0.5, "low": 0.4, "high": 0.6}
    numbers["validation"] = [one | {"opponent": None}, one | {"opponent": f"ilp:{EVIL}"}]
    return numbers


@pytest.mark.parametrize("width", [390, 1280])
def test_names_on_the_page_of_a_run(
    tmp_path: Path, chromium: Any, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    shutil.copytree(Path("tests/data/run"), tmp_path / "run")
    monkeypatch.setattr(runs, "run_numbers", evil_numbers)
    numbers = evil_numbers(tmp_path / "run")
    labels, steps = numbers["weights"]["labels"], list(numbers["steps"])
    against = [f"best {EVIL} against all", f"best {EVIL} against ilp:{EVIL}"]
    with (
        served(tmp_path) as asked,
        page_of(chromium, viewport={"width": width, "height": 3000}) as page,
    ):
        page.goto(asked.entry("/run/run"))
        page.wait_for_selector("#lineage .plot-container")
        for chart, names in (("weights", labels), ("steps", steps), ("validation", against)):
            assert page.evaluate(TEXTS, [chart, ".legendtext"]) == [[name, 0] for name in names]
        assert page.evaluate(TEXTS, ["weights", ".ytitle"]) == [[f"share {EVIL}", 0]]
        for chart, curve, name in (
            *(("weights", 1, labels[0]), ("weights", 2, f"best: {labels[0]}")),
            *(("steps", 0, steps[0]), ("validation", 0, against[0])),
        ):
            page.wait_for_timeout(200)  # hovers of one chart are apart in time
            text, links = page.evaluate(HOVERED, [chart, curve])
            assert name in text
            assert links == 0
        assert page.locator("main a").count() == 0
        assert EVIL in page.text_content("#head")
        assert page.text_content("#problem") == EVIL
        assert [text for text in page.locator("#decks thead th").all_text_contents() if EVIL in text]


@pytest.mark.parametrize("width", [390, 1280])
def test_names_on_the_page_of_a_tournament(
    tmp_path: Path, chromium: Any, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    play_tournament("random", "aggro", decks="thesis-paladin", games=4, out=tmp_path / "games", quiet=True)
    name = EVIL if width > 1000 else EVIL[:22]  # longer ones are shortened on a telephone
    chart = json.dumps(
        {"names": [name, "random"], "rating": [1.0, 0.0], "low": [0.0, 0.0], "high": [2.0, 0.0]}
    )
    monkeypatch.setattr(tournaments, "_chart", lambda _: chart)
    with served(tmp_path) as asked, page_of(chromium, viewport={"width": width, "height": 3000}) as page:
        page.goto(asked.entry("/tournament/games"))
        page.wait_for_selector("#ratings .plot-container")
        assert page.evaluate(TEXTS, ["ratings", ".ytick text"]) == [[name, 0], ["random", 0]]
        text, links = page.evaluate(HOVERED, ["ratings", 0])
        assert f"{name} 1.0 (0.0 to 2.0)" in text
        assert links == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_ratings_are_not_cut(
    tmp_path: Path, chromium: Any, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    play_tournament("random", "aggro", decks="thesis-paladin", games=4, out=tmp_path / "games", quiet=True)
    high = 999 / 1.05  # the axis ends at 1000
    chart = json.dumps({"names": ["a", "b"], "rating": [high, 0.0], "low": [high, 0.0], "high": [high, 0.0]})
    monkeypatch.setattr(tournaments, "_chart", lambda _: chart)
    outside = """() => {
      const whole = document.querySelector("#ratings .main-svg").getBoundingClientRect();
      const texts = [...document.querySelectorAll("#ratings text")].filter(text => text.textContent);
      return texts.filter(text => {
        const box = text.getBoundingClientRect();
        return box.left < whole.left - 0.5 || box.right > whole.right + 0.5 || box.bottom > whole.bottom + 0.5;
      }).map(text => text.textContent);
    }"""
    with served(tmp_path) as asked, page_of(chromium, viewport={"width": width, "height": 800}) as page:
        page.goto(asked.entry("/tournament/games"))
        page.wait_for_selector("#ratings .xtick text:has-text('1000')")
        assert page.evaluate(outside) == []
