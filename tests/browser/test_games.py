"""Pages of games, stepped through in a browser without a network: every position is the record's."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import RandomAgent, parse_position, play
from engine.effects.chance import Chance
from engine.game_session import MatchResult
from evo.game_pages.story import GameInfo, game_data, story_page
from tests.browser.support import page_of
from tests.conftest import first

pytestmark = pytest.mark.browser

DECKS = ["thesis-paladin", "hearthsim-basic", "basic-mage", "secret-hunter", "jade-shaman", "miracle-rogue"]

STEPPED = """() => {
  const seen = [], next = document.getElementById("next");
  const text = (name) => document.getElementById(name).textContent;
  const count = (part) => document.querySelectorAll("#board " + part).length;
  for (;;) {
    seen.push([text("position"), count(".minion"), count(".card"), location.hash]);
    if (next.disabled) return seen;
    next.click();
  }
}"""


def game(number: int) -> MatchResult:
    pick = np.random.default_rng(number)
    places = pick.integers(*((0, 2) if number % 2 else (2, len(DECKS))), size=2)
    return play(RandomAgent(), RandomAgent(), tuple(DECKS[i] for i in places), number, ruleset="standard")


def positions(result: MatchResult) -> list[Any]:
    """All positions of a game, as its record has them."""
    found, position = [result.start.copy()], result.start.copy()
    outcomes = result.outcomes or ((),) * len(result.actions)
    for action, fell in zip(result.actions, outcomes, strict=True):
        position.play(action, Chance.given(fell))
        found.append(position.copy())
    return found


@pytest.mark.parametrize("part", first(1, range(4)))
def test_a_hundred_games_show_the_positions_of_their_records(
    tmp_path: Path, chromium: Any, part: int
) -> None:
    with page_of(chromium, offline=True) as page:
        asks: list[str] = []
        page.on("request", lambda request: asks.append(request.url))
        for number in range(25 * part, 25 * part + 25):
            result = game(number)
            file = tmp_path / f"{number}.html"
            names = ("random", "random")
            file.write_bytes(story_page(game_data(result, GameInfo(names, ("a", "b"), "standard"))))
            page.goto(file.as_uri())
            seen, expected = page.evaluate(STEPPED), positions(result)
            assert len(seen) == len(expected)
            for step, ((text, minions, cards, place), position) in enumerate(
                zip(seen, expected, strict=True)
            ):
                sides, offered = position.state["sides"], int(position.state["n_options"])
                assert text == str(position)
                assert minions == int(sides["n_board"].sum())
                assert cards == int(sides["n_hand"].sum()) + offered
                assert place == f"#step-{step}"
        assert all(address.startswith("file:") for address in asks)


def test_a_game_is_stepped_through_by_keyboard_and_hides_what_a_player_does_not_see(
    tmp_path: Path, chromium: Any
) -> None:
    result = game(4)
    file = tmp_path / "game.html"
    file.write_bytes(story_page(game_data(result, GameInfo(("random", "random"), ("a", "b"), "standard"))))
    with page_of(chromium) as page:
        page.goto(f"{file.as_uri()}#step-5")
        found = [str(position) for position in positions(result)]
        for key, step in (
            ("ArrowRight", 6),
            ("ArrowLeft", 5),
            ("End", len(found) - 1),
            ("Home", 0),
            ("ArrowRight", 1),
        ):
            page.keyboard.press(key)
            assert page.text_content("#position") == found[step]
        page.keyboard.press("PageDown")
        later = found.index(page.text_content("#position"))
        assert parse_position(found[later]).active != parse_position(found[1]).active
        page.select_option("#seen", "0")
        assert page.locator("#board .half.enemy .card:not(.back)").count() == 0
        page.select_option("#seen", "all")
        assert page.locator("#board .half.enemy .card:not(.back)").count() > 0


def test_what_a_player_does_not_see_is_nowhere_on_the_page(tmp_path: Path, chromium: Any) -> None:
    result = play(RandomAgent(), RandomAgent(), ("secret-hunter", "secret-hunter"), 0, ruleset="standard")
    file = tmp_path / "game.html"
    file.write_bytes(story_page(game_data(result, GameInfo(("random", "random"), ("a", "b"), "standard"))))
    steps, secrets = positions(result), set()
    with page_of(chromium) as page:
        page.goto(file.as_uri())
        for seat in (0, 1):
            page.select_option("#seen", str(seat))
            for step, position in enumerate(steps[:-1]):
                side = position.state["sides"][1 - seat]
                own = position.state["sides"][seat]
                hidden = {position.card_name(int(one)) for one in side["secrets"][: side["n_secrets"]]}
                known = {position.card_name(int(one)) for one in own["secrets"][: own["n_secrets"]]}
                known |= {position.card_name(int(one)) for one in own["hand"][: own["n_hand"]]}
                secrets |= hidden
                page.evaluate("step => { location.hash = '#step-' + step; }", step)
                page.wait_for_selector(f"#log a[aria-current][data-step='{step}']", state="attached")
                shown = page.inner_text("#board") + page.inner_text("#now") + page.text_content("#position")
                assert not [name for name in hidden - known if name in shown]
                if position.active != seat:
                    assert "hidden" in page.inner_text("#reasons")
    assert secrets
