"""Pages of tournaments over HTTP: the tables of the standings, and any game played again."""

import json
import re
import shutil
from collections.abc import Iterator
from html import unescape
from urllib.parse import quote

import pytest

from evo.api import play_tournament
from evo.serving import replays
from evo.stats.standings import standings
from evo.tournament.reading import read_tournament
from tests.evo.serving.servers import Asked, served
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """A server of a finished tournament, one that stopped, one of an evil name, and a damaged one."""
    root = tmp_path_factory.mktemp("runs")
    play_tournament(
        "random", "ilp:keep-alive", "aggro", decks="thesis-paladin", games=40, out=root / "games", quiet=True
    )
    shutil.copytree(root / "games", root / "study" / "<b>&name")
    shutil.copytree(root / "games", root / "broken")
    (root / "broken" / "tournament.json").write_text("{")
    shutil.copytree(root / "games", root / "cut")
    table = root / "cut" / "games.parquet"
    table.write_bytes(table.read_bytes()[:700])
    with served(root) as found:
        yield found


def page(asked: Asked, path: str) -> str:
    status, headers, body = asked.get(path)
    assert status == 200
    assert "script-src 'self'" in headers["content-security-policy"]
    return body.decode()


def game(asked: Asked, path: str) -> str:
    """The page of a game, once it was played again."""
    wait_until(lambda: asked.get(path)[0] != 202, "the game is played again", 0.1)
    return page(asked, path)


def test_the_standings_are_those_of_the_games(asked: Asked) -> None:
    text = page(asked, "/tournament/games")
    read = standings(read_tournament(asked.root / "games").games)
    chart = json.loads(unescape(re.search(r'data-chart="([^"]*)"', text)[1]))  # type: ignore[index]
    assert chart["names"] == read.ratings["entrant"].tolist()
    assert chart["rating"] == pytest.approx(read.ratings["rating"].tolist())
    for row in read.ratings.itertuples():
        assert f"{row.rating:+.1f}" in text
        assert f"{row.score:.1%}" in text
    for _, row in read.matchups.iterrows():
        counts = ", ".join(str(row[f"pairs_{half / 2:g}"]) for half in range(5))
        assert f">{counts}<" in text
    seen = re.search(r"seen=([\w-]+)", text)[1]  # type: ignore[index]
    assert asked.get(f"/standings/games?seen={seen}")[0] == 204
    assert asked.get("/standings/games?seen=other")[0] == 200


def test_games_are_found_by_who_played(asked: Asked) -> None:
    text = page(asked, "/games/games")
    assert "120 games" in text
    assert text.count("/game/") == 50
    assert "page 1 of 3" in text
    assert page(asked, "/games/games?page=2").count("/game/") == 20
    text = page(asked, "/games/games?who=random&against=aggro&deck=thesis-paladin")
    assert "40 games" in text
    assert "keep-alive (" not in text
    assert ">0 games<" in page(asked, "/games/games?who=nobody")
    assert "120 games" in page(asked, "/games/games?page=99999999999999999999999")


def test_a_game_is_played_again_with_its_reasons(asked: Asked) -> None:
    text = game(asked, "/game/7/games")
    story = json.loads(re.search(r'id="story">(.*?)</script>', text, re.S)[1])  # type: ignore[index]
    record = read_tournament(asked.root / "games")
    row = record.games.iloc[7]
    assert story["players"] == [row["first"], row["second"]]
    assert f"in round {row['turns']}" in story["result"]
    assert any("reasons" in step for step in story["steps"]) == ("ilp:keep-alive" in story["players"])
    assert re.findall(r"<script(?! type=\"application/json\")(?! src=\"/)", text) == []
    status, headers, body = asked.get("/download/7/games")
    assert status == 200
    assert headers["content-disposition"] == 'attachment; filename="game-7.html"'
    assert b"script-src 'sha256-" in body


def test_what_is_not_there_or_damaged_is_told(asked: Asked) -> None:
    for path in (
        "/tournament/none",
        "/game/120/games",
        "/games/none",
        "/game/x/games",
        f"/game/{'9' * 5000}/games",
    ):
        assert asked.get(path)[0] == 404
    assert "is damaged" in page(asked, "/tournament/broken")
    for lost, told in (("broken", "is damaged"), ("none", "not there any more")):  # both ask on
        part = page(asked, f"/standings/{lost}")
        assert part.startswith('<div id="standings" data-refresh')
        assert told in part
    assert "is damaged" in page(asked, "/game/1/broken")
    assert "games.parquet is damaged" in page(asked, "/tournament/cut")
    name = quote("study/<b>&name")
    text = page(asked, f"/tournament/{name}")
    assert "<b>" not in text
    assert "&lt;b&gt;&amp;name" in text
    assert "hero died" in game(asked, f"/game/0/{name}")


def test_too_many_games_at_once_are_refused(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replays, "MOST_WAITING", 0)
    status, _, body = asked.get("/game/50/games")
    assert status == 503
    assert b"a little later" in body
