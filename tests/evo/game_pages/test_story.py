"""A game told step by step is the game that was played, and its page asks for nothing and runs one script."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from engine import MatchResult, RandomAgent, find_deck, parse_position, play
from engine.effects.chance import Chance
from engine.notation import parse_step
from evo.game_pages.story import GameInfo, explainer_of, game_data, story_page
from ilp_agent import IlpAgent, Weights, find_profile
from rivals import agent_of
from tests.conftest import cases
from tests.evo.runs import manaforge
from tests.evo.serving.servers import cheap_fireball

DECKS = ["thesis-paladin", "hearthsim-basic", "basic-mage", "secret-hunter", "jade-shaman", "miracle-rogue"]


def info(decks: tuple[str, str], names: tuple[str, str] = ("random", "random")) -> GameInfo:
    return GameInfo(names, decks, "standard")


def data_of(page: bytes) -> dict:
    """The story that a page holds."""
    (text,) = re.findall(r'<script type="application/json" id="story">(.*?)</script>', page.decode(), re.S)
    return json.loads(text)


@pytest.mark.parametrize("number", range(cases(16, 100)))
def test_every_step_is_the_records(number: int) -> None:
    pick = np.random.default_rng(number)
    bodies = number % 2
    decks = tuple(DECKS[i] for i in pick.integers(*((0, 2) if bodies else (2, len(DECKS))), size=2))
    result = play(RandomAgent(), RandomAgent(), decks, number, ruleset="standard")
    story = data_of(story_page(game_data(result, info(decks))))
    position, steps = result.start.copy(), story["steps"]
    assert len(steps) == len(result.actions) + 1
    for step, text in zip(steps, (*result.record.actions, ""), strict=True):
        assert step["position"] == str(position)
        assert (step["turn"], step["active"]) == (int(position.state["turn"]), position.active)
        for side, shown in zip(position.state["sides"], step["sides"], strict=True):
            assert (shown["health"], shown["mana"], shown["deck"]) == tuple(
                int(side[name]) for name in ("health", "mana", "n_deck")
            )
            assert [minion["attack"] for minion in shown["board"]] == [
                int(minion["attack"]) for minion in side["board"][: side["n_board"]]
            ]
            assert len(shown["hand"]) == side["n_hand"]
            assert None not in shown["hand"]
        if text:
            action, outcomes = parse_step(text)
            assert step["action"].startswith(str(action))
            assert step["outcomes"] == list(outcomes)
            position.play(action, Chance.given(outcomes))


def test_cards_that_a_deck_file_changes_are_told_below_the_heading(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(cheap_fireball("mine"))
    told = "Changed by a deck file: mine: Fireball (cost 3 instead of 4)."
    for decks in ("mine.toml,basic-hunter", "basic-mage"):
        done = manaforge("play", "random", "pass", "--decks", decks, "--html", "game.html", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        page = (tmp_path / "game.html").read_bytes()
        assert data_of(page)["changes"] == (told if "mine" in decks else "")
        assert (f'<p class="about">{told}</p>'.encode() in page) == ("mine" in decks)


@pytest.mark.parametrize("decks", [("thesis-paladin", "thesis-warrior"), ("basic-mage", "basic-hunter")])
def test_turns_of_the_turn_program_have_their_reasons(decks: tuple[str, str]) -> None:
    agents = IlpAgent(find_profile("true-balanced").weights), agent_of("random")
    result = play(*agents, decks, 3, ruleset="standard")
    story = game_data(result, info(decks), tuple(map(explainer_of, agents)))
    turns = [
        number
        for number, step in enumerate(story["steps"][:-1])
        if number == 0 or story["steps"][number - 1]["active"] != step["active"]
    ]
    told = [number for number, step in enumerate(story["steps"]) if "reasons" in step]
    assert told == [number for number in turns if story["steps"][number]["active"] == 0]
    for number in told:
        reasons = story["steps"][number]["reasons"]
        *terms, (_, _, plan, other) = reasons["terms"]
        assert sum(term[2] for term in terms) == pytest.approx(plan, abs=1e-6)
        assert [term[0] for term in terms][:8] == list(Weights.names())
        if reasons["alternative"] is not None:
            assert sum(term[3] for term in terms) == pytest.approx(other, abs=1e-6)
            assert other <= plan + 1e-6


class Elements(HTMLParser):
    """Elements of a page with their attributes, and the scripts."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.found and self.found[-1] == ("script", {}) and data.strip():
            self.scripts.append(data)


def evil(result: MatchResult) -> bytes:
    names = ("</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>')
    return story_page(game_data(result, GameInfo(names, ("<b>", "&amp;"), "\x1b[31mred", "$(rm) `x`")))


def test_the_page_runs_its_own_script_alone_and_asks_for_nothing() -> None:
    result = play(RandomAgent(), RandomAgent(), ("thesis-paladin", "thesis-warrior"), 1)
    page = evil(result)
    elements = Elements(page)
    assert not any({"src", "href", "srcset", "action"} & set(attributes) for _, attributes in elements.found)
    assert not any(name.startswith("on") for _, attributes in elements.found for name in attributes)
    assert [tag for tag, _ in elements.found].count("script") == 2
    assert "img" not in [tag for tag, _ in elements.found]
    policy = next(
        a["content"] for tag, a in elements.found if a.get("http-equiv") == "Content-Security-Policy"
    )
    (script,) = elements.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert data_of(page)["players"][0] == "</script><script>alert(1)</script>"
    for call in ("fetch(", "XMLHttpRequest", "innerHTML", "eval(", "import(", "document.write"):
        assert call not in script


def test_play_writes_the_page(tmp_path: Path) -> None:
    file = tmp_path / "game.html"
    played = manaforge(
        "play", "ilp:keep-alive", "random", "--decks", "thesis-paladin", "--seed", 5, "--html", file
    )
    assert played.returncode == 0, played.stderr
    assert f"written: {file}" in played.stdout
    story = data_of(file.read_bytes())
    assert parse_position(story["steps"][0]["position"])
    assert story["command"].startswith("manaforge play ilp:keep-alive random --decks thesis-paladin")
    assert find_deck(story["decks"][0]).name == "thesis-paladin"
    refused = manaforge("play", "random", "random", "--html", tmp_path / "none" / "game.html")
    assert refused.returncode == 1
    assert "choose another --html" in refused.stderr
    assert "turn" not in refused.stdout
