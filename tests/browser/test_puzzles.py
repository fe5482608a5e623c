"""Puzzles in Chromium: solved by clicks, given up, tried again, and marked in the list."""

from collections.abc import Iterator
from typing import Any

import pytest

from engine.effects.chance import Chance
from evo.puzzles import Puzzle, read_puzzles, shipped_puzzles_file
from tests.browser.support import page_of
from tests.evo.serving.servers import Asked, served

pytestmark = pytest.mark.browser

READY = "body:not([aria-busy]) #game[data-number]"
OVER = "#after:not([hidden])"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """A server of an empty folder that plays."""
    with served(tmp_path_factory.mktemp("runs"), opponents=["aggro"]) as found:
        yield found


def play_solution(page: Any, puzzle: Puzzle) -> None:
    """Play a puzzle's solution by the list of legal actions."""
    page.locator("details.panel summary").click()
    here = puzzle.start()
    for number, action in enumerate(puzzle.actions()):
        page.click(f"#legal button[data-action='{action}']")
        page.wait_for_selector(f"body:not([aria-busy]) #game[data-number='{number + 1}']")
        here.play(action, Chance.blind())


@pytest.mark.parametrize("width", [390, 1280])
def test_a_puzzle_is_solved_and_the_next_begins(chromium: Any, asked: Asked, width: int) -> None:
    number = 62 if width == 390 else 84
    puzzle = read_puzzles(shipped_puzzles_file())[number - 1]
    with page_of(chromium, viewport={"width": width, "height": 900}) as page:
        page.goto(asked.entry("/play/puzzles"))
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.click(f"button[value='{number}']")
        page.wait_for_selector(READY)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.click("#ask")
        page.wait_for_selector("#reasons strong")
        page.wait_for_selector(READY)
        assert page.text_content("#reasons h2") == "Hint"
        play_solution(page, puzzle)
        assert page.text_content("#now") == f"Solved with {len(puzzle.solution)} actions."
        page.click("button.next")
        page.wait_for_selector(READY)
        assert page.text_content("h1") == f"Puzzle {number + 1}: kill the enemy hero this turn"
        page.goto(f"{asked.address}/play/puzzles")
        assert "solved" in str(page.get_attribute(f"button[value='{number}']", "class"))


def test_a_puzzle_is_not_solved_by_ending_the_turn_and_is_tried_again(chromium: Any, asked: Asked) -> None:
    with page_of(chromium) as page:
        page.goto(asked.entry("/play/puzzles"))
        page.click("button[value='3']")
        page.wait_for_selector(READY)
        page.click("#end")
        page.wait_for_selector(OVER)
        assert "Not solved: the turn has ended" in str(page.text_content("#now"))
        page.click("button.again")
        page.wait_for_selector(READY)
        page.click("#concede")
        page.wait_for_selector(OVER)
        assert "The solution from the start: " in str(page.text_content("#now"))
