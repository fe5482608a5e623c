"""Every page as people use it: without serious findings of axe-core, at all widths, in light and dark."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine import RandomAgent, play
from evo.api import play_tournament
from evo.game_pages.story import GameInfo, explainer_of, game_data, story_page
from ilp_agent import IlpAgent, find_profile
from tests.browser.support import page_of
from tests.evo.serving.servers import Asked, served
from tests.waiting import HANG

pytestmark = pytest.mark.browser

EXAMPLE = Path("tests/data/run").resolve()
EVIL = "<img src=x onerror=alert(1)>\x1b[31m"
PAGES = [
    "/",
    "/run/example",
    "/compare?run=example&run=other",
    "/tournament/games",
    "/games/games?who=random",
    "/game/3/games",
    "/play",
    "/nothing/here",
]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """A server of two runs, a tournament, and what is damaged or oddly named."""
    root = tmp_path_factory.mktemp("runs")
    for name in ("example", "other", EVIL):
        shutil.copytree(EXAMPLE, root / name)
    (root / "broken").mkdir()
    (root / "broken" / "config.toml").write_text("seed = [")
    play_tournament(
        "random", "ilp:keep-alive", "aggro", decks="thesis-paladin", games=8, out=root / "games", quiet=True
    )
    with served(root, opponents=[]) as asked:
        yield asked


def findings(page: Any) -> list[str]:
    """What axe-core finds that is serious or worse."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="SKIPPED: axe is not installed")
    found = axe.Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:200]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def settled(page: Any, address: str) -> None:
    """Open a page and wait until it shows what it has."""
    page.goto(address)
    if "/game/" in address:
        page.wait_for_selector("#position", state="attached")
    if "/run/" in address:
        page.wait_for_selector("#charts:not([hidden])")
    page.wait_for_timeout(200)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_no_page_has_a_serious_finding(everything: Asked, chromium: Any, path: str, scheme: str) -> None:
    context = chromium.new_context(color_scheme=scheme, bypass_csp=True)  # for axe's own script
    context.set_default_timeout(1000 * HANG)
    page = context.new_page()
    settled(page, everything.entry(path))
    assert findings(page) == []
    context.close()


@pytest.mark.parametrize("width", [390, 1280, 1920, 2560])
@pytest.mark.parametrize("path", PAGES[:-1])
def test_every_page_fits_every_width(everything: Asked, chromium: Any, path: str, width: int) -> None:
    with page_of(chromium, viewport={"width": width, "height": 900}) as page:
        settled(page, everything.entry(path))
        widths = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert widths[0] == widths[1]


def test_names_stay_text(everything: Asked, chromium: Any) -> None:
    with page_of(chromium) as page:
        page.goto(everything.entry())
        page.wait_for_selector("text=onerror")
        link = page.locator("a:has-text('onerror')")
        assert "\x1b" not in link.inner_text()
        link.click()
        page.wait_for_selector("#charts:not([hidden])")
        assert "onerror" in page.inner_text("h1")
        assert page.locator("img").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_table_and_a_page_of_a_game_have_no_serious_finding(
    everything: Asked, chromium: Any, tmp_path: Path, scheme: str
) -> None:
    context = chromium.new_context(color_scheme=scheme, bypass_csp=True, reduced_motion="reduce")
    context.set_default_timeout(1000 * HANG)
    page = context.new_page()
    page.goto(everything.entry("/play"))
    page.fill("input[name=seed]", "5")
    page.select_option("select[name=opponent]", "ilp:keep-alive")
    page.click("button:has-text('Begin')")
    page.wait_for_selector("body:not([aria-busy]) #game[data-number]")
    page.click("#ask")
    page.wait_for_selector("#reasons table")
    assert findings(page) == []
    agents = IlpAgent(find_profile("keep-alive").weights), RandomAgent()
    result = play(*agents, ("thesis-paladin", "thesis-warrior"), 5)
    info = GameInfo(("ilp:keep-alive", "random"), ("thesis-paladin", "thesis-warrior"), "thesis")
    (tmp_path / "game.html").write_bytes(story_page(game_data(result, info, (explainer_of(agents[0]), None))))
    page.goto(f"{(tmp_path / 'game.html').as_uri()}#step-9")
    assert findings(page) == []
    context.close()
