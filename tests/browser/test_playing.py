"""Games played by random clicks: what is offered is what is legal, and what is hidden is never sent."""

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import GameRecord
from engine.codes import Keyword
from engine.game_session import GameSession
from engine.match import deal_from_key
from engine.minion import keyword_names
from engine.ruleset import find_ruleset
from engine.streams import stream_key
from engine.view import PlayerView
from evo.serving import playpages
from evo.serving.playing import GameInPlay, PlaySetup
from tests.browser.support import page_of
from tests.evo.serving.servers import served
from tests.waiting import HANG

pytestmark = pytest.mark.browser

GAMES = int(os.environ.get("MANAFORGE_BROWSER_GAMES", "6"))
PARTS = 3
DECKS = ["basic-mage", "secret-hunter", "jade-shaman", "miracle-rogue", "basic-warlock"]
OPPONENTS = ["ilp:value-trading", "ilp:keep-alive", "random", "aggro", "hearthsim"]
BODIES = ["thesis-paladin", "thesis-warrior", "hearthsim-basic"]

LEGAL = "() => [...document.querySelectorAll('#legal button')].map(one => one.dataset.action)"
SOURCES = "() => [...document.querySelectorAll('#board [data-does=source]')].map(one => one.dataset.piece)"
DONE = "body:not([aria-busy]) #game[data-number]"


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[GameInPlay]:
    """All games that the server begins."""
    found: list[GameInPlay] = []

    def watched(setup: PlaySetup) -> GameInPlay:
        found.append(GameInPlay(setup))
        return found[-1]

    monkeypatch.setattr("evo.serving.playing.GameInPlay", watched)
    return found


def piece(text: str) -> str:
    """The piece that a click begins an action with."""
    kind, source = re.match(r"(\w+)(?: (hero|\d+))?", text).groups()  # type: ignore[union-attr]
    return {
        "play": f"own hand {source}",
        "attack": "own hero" if source == "hero" else f"own board {source}",
        "power": "own power",
        "choose": f"own offer {source}",
    }[kind]


class Seen:
    """Names of all cards that the person has seen, or may know, in a game."""

    def __init__(self, game: GameInPlay) -> None:
        self.game, self.at = game, -1
        self.names = {"The Coin", *(word for one in Keyword for word in keyword_names(one))}  # cards, too

    def look(self) -> None:
        """Take in what the game's positions show; played again, since the server only keeps its last one."""
        course, seat = self.game._course, self.game.setup.seat
        assert course is not None
        again = GameSession(course.start.copy(), stream_key(self.game.setup.seed))
        self._take(PlayerView(again.position, seat))
        for number, action in enumerate(course.actions):
            if again.position.active != seat:
                hand = again.position.state["sides"][again.position.active]["hand"]
                before = again.position.state["sides"][1 - seat]["n_secrets"]
                played = int(hand[action.source]) if str(action).startswith("play") else None
                again.play(action)
                if played is not None and again.position.state["sides"][1 - seat]["n_secrets"] <= before:
                    self.names.add(again.position.card_name(played))
                    self.names |= {
                        again.position.card_name(played + option) for option in (0, 1) if action.option
                    }
            else:
                again.play(action)
            if number >= self.at:
                self._take(PlayerView(again.position, seat))
        self.at = len(course.actions)

    def _take(self, view: PlayerView) -> None:
        own = [card for card in (*view.own.hand, *view.offered) if not isinstance(card, str)]
        minions = [minion.card for side in (view.own, view.enemy) for minion in side.board]
        around = [card for side in (view.own, view.enemy) for card in (side.power, side.weapon) if card]
        secrets = [card for card in view.own.secrets if hasattr(card, "name") and hasattr(card, "spec")]
        self.names |= {card.title for card in (*own, *minions, *around, *secrets)}

    def hidden_in(self, text: str) -> set[str]:
        """Names of cards in a text that the person has not seen."""
        cards = {card.title for card in self.game._course.position.table.cards}  # type: ignore[union-attr]
        shown = set(re.findall(r'"name": ?"((?:[^"\\]|\\.)*)"', text))
        told = {name for name in cards if len(name) > 4 and name in text and not self._part_of_a_seen(name)}
        return ({json.loads(f'"{name}"') for name in shown} & cards | told) - self.names

    def _part_of_a_seen(self, name: str) -> bool:
        return any(name in seen for seen in self.names)


def by_clicks(page: Any, game: GameInPlay, rng: np.random.Generator, said: list[str]) -> None:
    """Play a game to its end by random clicks, and compare what is offered with what is legal at each."""
    seen = Seen(game)
    for _ in range(2000):
        page.wait_for_selector(DONE)
        course = game._course
        assert course is not None
        seen.look()
        hidden = {name for text in said for name in seen.hidden_in(text)}
        assert not hidden, hidden
        said.clear()
        if page.get_attribute("#game", "data-over"):
            assert course.result is not None
            return
        assert course.position.active == game.setup.seat
        legal = [str(action) for action in course.position.legal_actions()]
        assert page.evaluate(LEGAL) == legal
        if page.locator("#board .chosen").count() == 0:
            assert sorted(page.evaluate(SOURCES)) == sorted(
                {piece(text) for text in legal if text != "end turn"}
            )
        assert page.is_disabled("#end") == ("end turn" not in legal)
        pieces = page.query_selector_all("#board [data-does]:not(.chosen), #choices button")
        if rng.random() < 0.03:
            page.click("#ask")
        elif pieces and rng.random() < 0.9:
            pieces[int(rng.integers(len(pieces)))].click()
        elif "end turn" in legal:
            page.click("#end")
    raise AssertionError("the game does not end")


@pytest.mark.parametrize("part", range(PARTS))
def test_games_by_random_clicks(tmp_path: Path, chromium: Any, begun: list[GameInPlay], part: int) -> None:
    with served(tmp_path, opponents=[]) as asked, page_of(chromium, accept_downloads=True) as page:
        said: list[str] = []
        page.on("response", lambda answer: said.append(answer.text()) if "/play/" in answer.url else None)
        for number in range(part, GAMES, PARTS):
            rng = np.random.default_rng(number)
            opponent = OPPONENTS[number % len(OPPONENTS)]
            decks = BODIES if opponent == "hearthsim" or number % 4 == 0 else DECKS
            page.goto(asked.entry(playpages.PLAY_ADDRESS))
            page.select_option("select[name=opponent]", opponent)
            page.select_option("select[name=deck]", str(rng.choice(decks)))
            page.select_option("select[name=other_deck]", str(rng.choice(decks)))
            page.select_option("select[name=ruleset]", "standard" if number % 2 else "thesis")
            page.fill("input[name=seed]", str(number))
            page.click("button:has-text('Begin')")
            page.wait_for_selector(DONE)
            said.clear()
            by_clicks(page, begun[-1], rng, said)
            repeated(page, begun[-1], asked.address)


def repeated(page: Any, game: GameInPlay, address: str) -> None:
    """The record that is saved, and the game dealt again from its seed, are the game."""
    course = game._course
    assert course is not None
    saved = GameRecord.from_json(
        page.request.get(f"{address}{page.get_attribute('#game', 'data-game')}/record").text()
    )
    assert str(saved.replay()) == str(course.position)
    setup = game.setup
    decks = setup.decks if setup.seat == 0 else setup.decks[::-1]
    assert str(deal_from_key(decks, stream_key(setup.seed), find_ruleset(setup.ruleset))) == saved.start
    page.click("#after a:has-text('step by step')")
    page.wait_for_selector("#log a[aria-current]")
    assert page.locator("#log a").count() == len(course.actions) + 1


def test_a_game_is_played_by_keyboard_alone(tmp_path: Path, chromium: Any, begun: list[GameInPlay]) -> None:
    with served(tmp_path, opponents=[]) as asked, page_of(chromium) as page:
        page.goto(asked.entry("/play"))
        page.select_option("select[name=opponent]", "random")
        page.select_option("select[name=seat]", "first")
        page.fill("input[name=seed]", "11")
        page.press("input[name=seed]", "Enter")
        page.wait_for_selector(DONE)
        for _ in range(40):
            if page.get_attribute("#game", "data-over"):
                break
            number = int(page.get_attribute("#game", "data-number"))
            first = page.locator("#board [data-does=source]:not(.chosen)")
            if first.count():
                first.first.focus()
                page.keyboard.press("Enter")
                aims = page.locator("#board [data-does=target]")
                if aims.count():
                    page.keyboard.press("Escape")
                    assert page.locator("#board .chosen").count() == 0
                    first.first.focus()
                    page.keyboard.press("Enter")
                    aims.first.focus()
                    page.keyboard.press("Space")
            page.wait_for_selector(DONE)
            if int(page.get_attribute("#game", "data-number")) == number:
                page.focus("#end")
                page.keyboard.press("Enter")
                page.wait_for_selector(DONE)
        assert begun[-1]._course is not None
        assert len(begun[-1]._course.actions) > 20


def test_a_second_tab_goes_on_where_the_game_is(tmp_path: Path, chromium: Any) -> None:
    with served(tmp_path, opponents=[]) as asked:
        context = chromium.new_context(reduced_motion="reduce")
        context.set_default_timeout(1000 * HANG)
        one, other = context.new_page(), context.new_page()
        one.goto(asked.entry("/play"))
        one.select_option("select[name=opponent]", "random")
        one.select_option("select[name=seat]", "first")
        one.click("button:has-text('Begin')")
        one.wait_for_selector(DONE)
        other.goto(one.url)
        other.wait_for_selector(DONE)
        for page, behind in ((one, other), (other, one)):
            page.click("#end")
            page.wait_for_selector(DONE)
            behind.click("#end")
            behind.wait_for_selector("#now:has-text('changed meanwhile')")
            assert behind.get_attribute("#game", "data-number") == page.get_attribute("#game", "data-number")
        context.close()
