"""Pages of tournaments over HTTP: the tables of the standings, and any game played again."""

import json
import math
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import quote

import pandas as pd
import pytest

from engine import find_deck, find_ruleset
from evo.api import play_tournament
from evo.play.entrants import find_entrant
from evo.serving import tournaments
from evo.stats.standings import standings
from evo.tournament.reading import TournamentRecord, read_tournament
from evo.tournament.run import Tournament
from tests.evo.serving.servers import Asked, cheap_fireball, served
from tests.waiting import Clock, wait_until


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
    answers: list[tuple[int, bytes]] = []

    def answered() -> bool:
        status, _, body = asked.get(path)
        answers.append((status, body))
        return status != 202

    wait_until(answered, "the game is played again", 0.1)
    status, body = answers[-1]
    assert status == 200
    return body.decode()


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
    for lost, told in (("broken", "is damaged"), ("none", "no longer exists")):  # both ask on
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


def test_a_game_that_takes_too_long_ends_with_the_command_that_plays_it(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = quote("study/<b>&name")
    for limit, told in (
        ("MAX_REPLAY_SECONDS", "takes longer than 0 s"),
        ("MAX_REPLAY_STEPS", "more than 0 steps"),
    ):
        with monkeypatch.context() as limited:
            limited.setattr(tournaments, limit, 0)
            text = unescape(game(asked, f"/game/9/{name}"))
        assert told in text
        assert "manaforge replay 'study/<b>&name' 9" in text
    assert "hero died" in game(asked, f"/game/9/{name}")


@pytest.mark.parametrize(
    ("entrant", "told"),
    [
        ("mcts@10001", "budget is 10,001, the limit for replays is 10,000"),
        ("lookahead@1,samples=17", "samples is 17, the limit for replays is 16"),
        ("ilp:keep-alive@highs", "uses backend highs, whose turns have no time limit"),
    ],
)
def test_what_agents_of_a_folder_may_think_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entrant: str, told: str
) -> None:
    monkeypatch.setattr(tournaments, "replay_recorded_game", lambda *_: {"played": True})
    players = tuple(map(find_entrant, ("random", "aggro", entrant)))
    decks = (find_deck("thesis-paladin"),)
    tournament = Tournament(players, frozenset(), decks, ("thesis-paladin",), find_ruleset("thesis"), 2)
    monkeypatch.setattr(tournaments, "tournament_to_replay", lambda _: tournament)
    games = pd.DataFrame({"first": ["random", entrant], "second": ["aggro", "random"]})
    record = cast(TournamentRecord, SimpleNamespace(games=games))
    assert tournaments._story_of(record, 0, tournaments.GameReplay(time.monotonic())) == {"played": True}, (
        "of others"
    )
    with pytest.raises(tournaments.ReplayRefusedError, match=told):
        tournaments._story_of(record, 1, tournaments.GameReplay(time.monotonic()))


class Played:
    """In place of what plays games: tells which were begun, and plays each until it is let go."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, int]] = []
        self.let_go: set[tuple[str, int]] = set()
        self.queue = tournaments.ReplayQueue()

    def __call__(
        self, record: TournamentRecord, number: int, found: tournaments.GameReplay
    ) -> dict[str, Any]:
        one, limit = (record.path.name, number), tournaments._Limit(found)
        self.begun.append(one)
        while one not in self.let_go:
            limit()
            time.sleep(0.005)
        return {"players": []}

    def wait(self, *games: tuple[str, int]) -> None:
        """Wait until these games, and no others, were begun."""
        wait_until(lambda: len(self.begun) >= len(games), "the games are begun")
        assert self.begun == list(games)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Iterator[Played]:
    """In place of what plays games."""
    found = Played()
    monkeypatch.setattr(tournaments, "_story_of", found)
    monkeypatch.setattr(tournaments, "MAX_REPLAY_STEPS", math.inf)
    monkeypatch.setattr(tournaments, "MAX_REPLAY_SECONDS", math.inf)
    yield found
    found.let_go |= {(folder, number) for folder in "abc" for number in range(40)}
    wait_until(lambda: not found.queue._playing, "all games are played")


def test_folders_play_in_turn_whatever_others_ask_for(asked: Asked, played: Played) -> None:
    record, queue = read_tournament(asked.root / "games"), played.queue
    a, b, c = (replace(record, path=Path(name)) for name in "abc")
    for number in range(tournaments.MAX_QUEUED_REPLAYS + 1):
        queue.find_or_queue(a, number)
    with pytest.raises(tournaments.QueueFullError):
        queue.find_or_queue(a, 30)
    queue.find_or_queue(b, 0)
    played.wait(("a", 0), ("b", 0))
    queue.find_or_queue(c, 0)
    queue.find_or_queue(b, 1)
    for done, next_ in (
        (("a", 0), ("c", 0)),
        (("c", 0), ("a", 1)),
        (("b", 0), ("b", 1)),
        (("a", 1), ("a", 2)),
    ):
        before = list(played.begun)
        played.let_go.add(done)
        played.wait(*before, next_)


def test_games_that_nobody_waits_for_any_more_are_dropped(
    asked: Asked, played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(tournaments, "time", clock)
    record, queue = read_tournament(asked.root / "games"), played.queue
    a = replace(record, path=Path("a"))
    for number in range(4):
        queue.find_or_queue(a, number)
    played.wait(("a", 0))
    clock.now += 0.75 * tournaments.ABANDONED_AFTER
    queue.find_or_queue(a, 3)
    clock.now += 0.75 * tournaments.ABANDONED_AFTER
    played.wait(("a", 0), ("a", 3))
    assert len(queue._known) == 1


def test_too_many_games_at_once_are_refused(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournaments, "MAX_QUEUED_REPLAYS", 0)
    status, _, body = asked.get("/game/50/games")
    assert status == 503
    assert b"try again in a minute" in body


def test_cards_that_a_deck_file_changes_are_told_on_every_page(tmp_path: Path) -> None:
    deck = tmp_path / "mine.toml"
    deck.write_text(cheap_fireball("mine"))
    told = "Changed by a deck file: mine: Fireball (cost 3 instead of 4)."
    play_tournament(
        "random",
        "aggro",
        decks=f"{deck},basic-hunter",
        games=4,
        out=tmp_path / "runs" / "games",
        quiet=True,
    )
    with served(tmp_path / "runs") as own:
        for path in ("/tournament/games", "/games/games"):
            assert told in page(own, path)
        decks = read_tournament(tmp_path / "runs" / "games").games[["first_deck", "second_deck"]]
        for number, names in enumerate(decks.astype(str).values.tolist()):
            assert (told in game(own, f"/game/{number}/games")) == ("mine" in names)
        assert "mine" in page(own, "/rows")
