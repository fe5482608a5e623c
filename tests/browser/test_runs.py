"""A run that grows, in a browser: after each generation every number on its page is the tables'."""

import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evo.analysis.tables import (
    best_individuals,
    last_population,
    newcomers,
    read_runs,
    shares_of,
    sigmas_of,
    wins_by_decks,
)
from evo.api import play_tournament
from evo.serving import runs
from evo.serving.runs import run_numbers
from evo.storage.champion import load_intact_champion
from evo.storage.files import lock_folder
from tests.browser.support import page_of
from tests.evo.serving.servers import served
from tests.waiting import HANG

pytestmark = pytest.mark.browser

EXAMPLE = Path("tests/data/run").resolve()

CHART = """name => document.getElementById(name).data.map(trace => ({
  name: trace.name, y: Array.from(trace.y), x: Array.from(trace.x), dash: trace.line && trace.line.dash,
}))"""
CELLS = """name => [...document.querySelectorAll(`#${name} tbody tr`)].map(
  row => [...row.cells].map(cell => cell.textContent))"""


def begin(run: Path) -> None:
    """A run before its first generation, of the example."""
    for part in ("generations", "pairings"):
        (run / part).mkdir(parents=True)
    for name in ("config.toml", "manifest.json", "log.jsonl"):
        shutil.copy(EXAMPLE / name, run)


def grow(run: Path, generation: int) -> None:
    """Commit one generation more, as a run does."""
    for part in ("pairings", "generations"):
        shutil.copy(EXAMPLE / part / f"{generation:04d}.parquet", run / "x.tmp")
        (run / "x.tmp").rename(run / part / f"{generation:04d}.parquet")
    lines = (EXAMPLE / "checksums.txt").read_text().splitlines(keepends=True)
    with (run / "checksums.txt").open("a") as file:
        file.write(lines[generation])


def percent(value: float) -> str:
    return f"{100 * value:.1f}%"


def looks_like(page: Any, run: Path, generation: int) -> None:
    """Compare all charts and tables of the page with the run's tables."""
    found = read_runs([run])
    own = found.individuals
    names, shares = found.vector.names(), shares_of(own)
    survivors, at = own[own["survived"]], list(range(generation + 1))
    quartiles = survivors.groupby("generation")[shares].quantile([0, 0.25, 0.5, 0.75, 1]).unstack()
    best = best_individuals(own).set_index("generation")
    traces = page.evaluate(CHART, "weights")
    for place, (name, share) in enumerate(zip(names, shares, strict=True)):
        band, median, leader = traces[3 * place : 3 * place + 3]
        assert median["name"] == name
        assert median["x"] == leader["x"] == at
        assert median["y"] == pytest.approx(quartiles[share][0.5].tolist())
        assert leader["y"] == pytest.approx(best[share].tolist())
        low, high = quartiles[share][0.25].tolist(), quartiles[share][0.75].tolist()
        assert band["y"] == pytest.approx([*high, *low[::-1]])
    last = quartiles.loc[generation]
    cells = page.evaluate(CELLS, "weights-table")
    champion = load_intact_champion(next(iter(found.folders.values())))
    own_shares = champion.weights.active(frozenset()) if champion else {}
    assert cells == [
        [
            name,
            *([percent(own_shares[name])] if champion else []),
            percent(best[share].loc[generation]),
            *(percent(last[share][part]) for part in (0, 0.25, 0.5, 0.75, 1)),
            meaning,
        ]
        for name, share, meaning in zip(names, shares, found.vector.MEANINGS[: len(names)], strict=True)
    ]
    rates = own.groupby("generation")["win_rate"].median()
    assert page.evaluate(CHART, "win-rate")[2]["y"] == pytest.approx(rates.tolist())
    steps = survivors.groupby("generation")[sigmas_of(own)].median()
    for trace, column in zip(page.evaluate(CHART, "steps"), steps, strict=True):
        assert trace["y"] == pytest.approx(steps[column].tolist())
    ages = page.evaluate(CHART, "ages")
    assert ages[2]["y"] == pytest.approx(survivors.groupby("generation")["age"].median().tolist())
    assert ages[3]["y"] == pytest.approx(newcomers(own)["newcomers"].tolist())
    decks = found.folders[next(iter(found.folders))].config.deck_names
    scores = wins_by_decks(last_population(own), decks)
    assert page.evaluate(CELLS, "decks") == [
        [deck, *(percent(score) for score in scores.loc[deck])] for deck in decks
    ]
    assert np.isfinite(scores.to_numpy()).all()


@pytest.mark.parametrize("goes_on", [True, False])
def test_every_number_of_a_growing_run_is_the_tables(tmp_path: Path, chromium: Any, goes_on: bool) -> None:
    run = tmp_path / "runs" / "live"
    begin(run)
    lock = lock_folder(run) if goes_on else None
    with lock or nullcontext(), served(tmp_path / "runs") as asked, page_of(chromium) as page:
        page.goto(asked.entry("/run/live"))
        page.wait_for_selector('#run[data-generation="-1"]')
        for generation in range(15):
            grow(run, generation)
            page.wait_for_selector(f'#run[data-generation="{generation}"]')
            looks_like(page, run, generation)
        assert page.inner_text("#head").split("\n")[:2] == ["state", "running" if goes_on else "stopped"]


def test_what_happens_to_a_run_is_told_on_its_page(tmp_path: Path, chromium: Any) -> None:
    run = tmp_path / "runs" / "live"
    begin(run)
    for generation in range(3):
        grow(run, generation)
    with served(tmp_path / "runs") as asked, page_of(chromium) as page:
        page.goto(asked.entry("/run/live"))
        page.wait_for_selector('#run[data-generation="2"]')
        whole = (run / "generations" / "0002.parquet").read_bytes()
        for content in (whole[:500], b"", bytes(reversed(whole))):
            (run / "generations" / "0002.parquet").write_bytes(content)
            page.wait_for_selector("#problem:not([hidden])")
            assert "0002" in page.inner_text("#problem")
        (run / "config.toml").write_text("seed = ")
        page.wait_for_selector("#problem:has-text('cannot be read')")
        assert "Traceback" not in page.content()


def test_a_run_that_is_deleted_is_told(tmp_path: Path, chromium: Any) -> None:
    run = tmp_path / "runs" / "live"
    begin(run)
    grow(run, 0)
    with served(tmp_path / "runs") as asked:
        context = chromium.new_context()
        context.set_default_timeout(1000 * HANG)
        page = context.new_page()  # its console tells the 404
        page.goto(asked.entry("/run/live"))
        page.wait_for_selector('#run[data-generation="0"]')
        shutil.rmtree(run)
        page.wait_for_selector("#problem:has-text('no longer exists')")
        context.close()


def test_a_text_and_a_state_choose_the_rows_of_the_list(tmp_path: Path, chromium: Any) -> None:
    for name in ("one", "two"):
        shutil.copytree(EXAMPLE, tmp_path / name)
    begin(tmp_path / "young")
    with served(tmp_path) as asked, page_of(chromium) as page:
        page.goto(asked.entry())
        page.wait_for_selector("td:has-text('finished')")
        visible = "() => [...document.querySelectorAll('#rows tbody tr')].filter(row => !row.hidden).length"
        assert page.evaluate(visible) == 3
        page.fill("#filter", "TWO")
        assert page.evaluate(visible) == 1
        grow(tmp_path / "young", 0)  # the list is refreshed, and the text still counts
        page.wait_for_selector("tr[hidden]:has-text('0 of')", state="attached")
        assert page.evaluate(visible) == 1
        page.fill("#filter", "")
        page.select_option("#state", "finished")
        assert page.evaluate(visible) == 2


def test_the_curves_of_compared_runs_are_the_tables(tmp_path: Path, chromium: Any) -> None:
    for name in ("00", "01"):
        shutil.copytree(EXAMPLE, tmp_path / "study" / name)
    begin(tmp_path / "study" / "02")  # without a generation it has no curve
    found = read_runs([EXAMPLE])
    survivors = found.individuals[found.individuals["survived"]]
    with served(tmp_path) as asked, page_of(chromium) as page:
        page.goto(asked.entry("/study/study"))
        page.wait_for_selector("#weight-play .main-svg")
        for name, share in zip(found.vector.names(), shares_of(survivors), strict=True):
            traces = page.evaluate(CHART, f"weight-{name}")
            assert [trace["name"] for trace in traces] == ["study/00", "study/01"]
            for trace in traces:
                assert trace["y"] == pytest.approx(survivors.groupby("generation")[share].median().tolist())


def test_compared_runs_without_a_chart_are_told(
    tmp_path: Path, chromium: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("00", "01", "03"):
        shutil.copytree(EXAMPLE, tmp_path / "study" / name)
    begin(tmp_path / "study" / "02")

    def numbers_but_of_one(path: Path) -> dict[str, Any]:
        if path.name == "01":
            raise ValueError("damaged")
        benchmark = "the panel" if path.name == "03" else "the seven"
        score = {"generation": 0, "who": "best", "opponent": None, "score": 0.5, "low": 0.4, "high": 0.6}
        return run_numbers(path) | {"benchmark": benchmark, "validation": [score]}

    monkeypatch.setattr(runs, "run_numbers", numbers_but_of_one)
    with served(tmp_path) as asked, page_of(chromium) as page:
        page.goto(asked.entry("/study/study"))
        page.wait_for_selector("#weight-play .main-svg")
        told = "Not in the charts: study/01: damaged; study/02: no generation yet"
        assert page.inner_text("#problem") == told
        assert page.text_content("#scores .ytitle") == "best against its benchmark"
        assert page.text_content("#weight-play .ytitle") == "median share"


def test_charts_fit_their_places(tmp_path: Path, chromium: Any) -> None:
    for name in ("00", "01"):
        shutil.copytree(EXAMPLE, tmp_path / "study" / name)
    wide = """() => [...document.querySelectorAll(".chart .main-svg:first-child")].every(
      svg => Math.abs(svg.getBoundingClientRect().width - svg.closest(".chart").clientWidth) < 1)"""
    with served(tmp_path) as asked, page_of(chromium, viewport={"width": 1280, "height": 800}) as page:
        page.goto(asked.entry("/study/study"))
        page.wait_for_selector("#weight-play .main-svg")
        page.wait_for_function(wide)
        page.evaluate("document.querySelector('main').style.width = '500px'")  # without a resized window
        page.wait_for_function(wide)
        assert page.evaluate("document.querySelector('#weight-play .main-svg').clientWidth") < 500


def test_chosen_runs_in_hidden_rows_are_not_compared(tmp_path: Path, chromium: Any) -> None:
    for name in ("one", "two", "three"):
        shutil.copytree(EXAMPLE, tmp_path / name)
    (tmp_path / "three" / "config.toml").write_text("seed = ")
    with served(tmp_path) as asked, page_of(chromium) as page:
        page.goto(asked.entry())
        page.wait_for_selector("td:has-text('unreadable')")
        for name in ("one", "two", "three"):
            page.check(f"input[value={name}]")
        page.select_option("#state", "unreadable")
        assert page.is_disabled("#compare")
        assert page.is_visible("a:text-is('three')")
        assert not page.is_visible("a:text-is('one')")
        page.select_option("#state", "finished")
        page.click("#compare")
        page.wait_for_url("**/compare?run=one&run=two")


def test_hidden_tabs_ask_for_nothing(tmp_path: Path, chromium: Any) -> None:
    run = tmp_path / "runs" / "live"
    begin(run)
    grow(run, 0)
    with served(tmp_path / "runs") as asked, page_of(chromium) as page:
        asks: list[str] = []
        page.on("request", lambda request: asks.append(request.url))
        page.goto(asked.entry("/run/live"))
        page.wait_for_selector('#run[data-generation="0"]')
        page.evaluate(
            "Object.defineProperty(document, 'hidden', { get: () => window.away, configurable: true })"
        )
        page.evaluate("window.away = true")
        page.wait_for_timeout(5000)  # what it has begun to ask for
        before = len(asks)
        page.wait_for_timeout(5000)
        assert len(asks) == before
        with page.expect_request("**"):
            page.evaluate("window.away = false")


def test_a_list_that_is_refreshed_keeps_focus_scrolling_and_what_is_chosen(
    tmp_path: Path, chromium: Any
) -> None:
    for name in ("one", "two"):
        shutil.copytree(EXAMPLE, tmp_path / name)
    live = tmp_path / "live"
    begin(live)
    with served(tmp_path) as asked, page_of(chromium, viewport={"width": 800, "height": 800}) as page:
        page.goto(asked.entry())
        page.wait_for_selector("a:has-text('two')")
        page.check("input[value=one]")
        page.focus("a:has-text('two')")
        page.evaluate("document.querySelector('.scroll').scrollLeft = 200")
        for generation in range(2):
            grow(live, generation)
            page.wait_for_selector(f"tr:has-text('live') td:has-text('{generation} of')")
            assert page.evaluate("document.activeElement.textContent") == "two"
            assert page.evaluate("document.querySelector('.scroll').scrollLeft") == 200
            assert page.is_checked("input[value=one]")
        page.check("input[value=two]")
        page.click("#compare")
        assert "configurations are equal" in page.inner_text("main")


def test_a_tournament_that_is_damaged_and_mended_is_shown_again(tmp_path: Path, chromium: Any) -> None:
    place = tmp_path / "games"
    play_tournament("random", "aggro", decks="thesis-paladin", games=4, out=place, quiet=True)
    about = (place / "tournament.json").read_bytes()
    with served(tmp_path) as asked, page_of(chromium) as page:
        page.goto(asked.entry("/tournament/games"))
        page.wait_for_selector("#ratings .plot-container")
        for content, told in ((b"{", "is damaged"), (about, "Ratings, 2 rows"), (None, "no longer exists")):
            if content is None:
                shutil.rmtree(place)
            else:
                (place / "tournament.json").write_bytes(content)
            page.wait_for_selector(f"#standings:has-text('{told}')")
            assert page.locator("main").count() == 1
