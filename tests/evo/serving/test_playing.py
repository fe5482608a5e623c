"""Games in play over HTTP: only these are posted, by the page's own origin, and hide what is hidden."""

import json
import shutil
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest

from engine import Action, DeckError, GameRecord, RandomAgent, find_deck, parse_position
from engine.effect_codes import EFFECTS_VERSION
from evo.play.entrants import find_entrant
from evo.puzzles import read_puzzles, shipped_puzzles_file
from evo.serving import playing
from rivals.outside.agent import processes
from tests.evo.serving.servers import Asked, cheap_fireball, served
from tests.rivals.hanging import some_hangs
from tests.waiting import wait_until

PEEKING = "lookahead@4,hands=told"
SLOW = f"process:{sys.executable} tests/data/bots/faulty.py hangs:first@seconds=3600"
SETUP = {"opponent": "random", "deck": "basic-mage", "other_deck": "basic-hunter", "ruleset": "standard"}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """A server of an empty folder that plays."""
    with served(
        tmp_path_factory.mktemp("runs"), opponents=["ilp:keep-alive", "lookahead@4", PEEKING, SLOW]
    ) as found:
        yield found


def post(asked: Asked, path: str, **fields: str) -> tuple[int, dict[str, str], bytes]:
    """What a page of the server posts."""
    return asked.get(path, "POST", urlencode(fields), Origin=asked.address)


def begin(asked: Asked, **fields: str) -> str:
    """Begin a game; returns its address."""
    status, headers, body = post(asked, "/play", **{**SETUP, "seat": "first", "seed": "3", **fields})
    assert status == 303, body
    return headers["location"]


def state(asked: Asked, game: str) -> dict:
    """Where a game stands, once the opponent has done its turn."""
    wait_until(lambda: not state_now(asked, game)["thinking"], "the opponent has done its turn", 0.05)
    return state_now(asked, game)


def state_now(asked: Asked, game: str) -> dict:
    """Where a game stands now."""
    status, _, body = asked.get(f"{game}/state")
    assert status == 200
    told: dict = json.loads(body)
    return told


def test_the_same_seed_deals_the_same_game_and_only_legal_actions_are_carried_out(asked: Asked) -> None:
    game, other = begin(asked), begin(asked)
    now = state(asked, game)
    assert now == state(asked, other)
    assert game != other
    for number, action in ((now["number"], "play 99"), (7, "end turn"), (now["number"], "")):
        status, _, body = post(asked, f"{game}/act", number=str(number), action=action)
        assert status == 409
        assert json.loads(body)["problem"]
    assert post(asked, f"{game}/act", action="end turn")[0] == 409
    status, _, body = post(asked, f"{game}/act", number=str(now["number"]), action="end turn")
    assert status == 200
    assert json.loads(body)["number"] >= now["number"] + 1
    after = state(asked, game)
    assert after["number"] > now["number"] + 1
    assert [frame["by"] for frame in after["frames"]] == [0] + [1] * (after["number"] - now["number"] - 1)
    assert post(asked, f"{game}/act", number=str(now["number"]), action="end turn")[0] == 409


def test_nothing_hidden_is_told_before_the_end_and_everything_after(asked: Asked) -> None:
    game = begin(asked, opponent="ilp:keep-alive")
    state(asked, game)
    for path in ("story", "download", "record"):
        status, _, body = asked.get(f"{game}/{path}")
        assert status == 409
        assert b"not over" in body
    now = state(asked, game)
    assert "position" not in now["board"]
    assert set(now["board"]["sides"][1]["hand"]) == {None}
    assert isinstance(now["board"]["sides"][1]["deck"], int)
    advice = json.loads(asked.get(f"{game}/advice")[2])
    assert advice["plan"]
    assert advice["terms"][-1][0] == "sum"
    status, _, body = post(asked, f"{game}/concede")
    assert status == 200
    assert "wins in round 1: conceded" in json.loads(body)["over"]
    assert post(asked, f"{game}/concede")[0] == 409
    assert GameRecord.from_json(asked.get(f"{game}/record")[2].decode()).replay()
    assert b"conceded" in asked.get(f"{game}/story")[2]
    assert b"script-src 'sha256-" in asked.get(f"{game}/download")[2]
    status, _, body = asked.get(f"{game}/advice")
    assert (status, json.loads(body)["problem"]) == (409, "the game is over")


@pytest.mark.parametrize(
    ("opponent", "told"), [("random", {"plan"}), ("lookahead@4", {"plan"}), (PEEKING, {"problem"})]
)
def test_who_gives_no_reasons_says_its_next_action_and_who_peeks_says_nothing(
    asked: Asked, opponent: str, told: set[str]
) -> None:
    game = begin(asked, opponent=opponent)
    state(asked, game)
    advice = json.loads(asked.get(f"{game}/advice")[2])
    assert set(advice) == told
    assert "hidden cards" in advice.get("problem", "hidden cards")


def test_an_opponent_that_thinks_stops_nobody(asked: Asked) -> None:
    game = begin(asked, opponent=SLOW, deck="thesis-paladin", other_deck="thesis-paladin", seat="second")
    wait_until(some_hangs, "the opponent thinks")
    assert asked.get("/")[0] == 200
    assert post(asked, f"{game}/act", number="0", action="end turn")[0] == 409
    assert post(asked, f"{game}/concede")[0] == 409
    assert state_now(asked, game)["thinking"]
    with processes.stopped():  # it would think for an hour
        assert "wins in round 1" in state(asked, game)["over"]


def test_games_that_are_forgotten_end_for_the_opponent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "MAX_GAMES", 2)
    told: list[object] = []
    monkeypatch.setattr(RandomAgent, "game_over", lambda *said: told.append(said), raising=False)
    decks = find_deck("thesis-paladin"), find_deck("thesis-paladin")
    games = playing.GameRegistry()
    for seed in range(5):
        name = games.begin(playing.PlaySetup(find_entrant("random"), decks, "thesis", 0, seed))
        one = games.find(name)
        assert one is not None
        wait_until(lambda one=one: not one.state()["thinking"], "the opponent has done its turn")  # type: ignore[misc]
    assert len(told) == 3


def test_a_secret_is_told_as_such_and_what_brings_secrets_by_its_name() -> None:
    hand = "hand [Explosive Trap 2*; Mysterious Challenger 6:6/6*]"
    position = parse_position(f"turn 9 first effects {EFFECTS_VERSION} | hero 30 mana 9/9 {hand} | hero 30")
    assert playing._seen_words(position, Action.play(0)) == "play a secret"
    assert playing._seen_words(position, Action.play(1)) == "play Mysterious Challenger"


@pytest.mark.parametrize(
    "fields",
    [
        {"opponent": "process:touch /tmp/x"},
        {"opponent": "ilp:/etc/passwd"},
        {"deck": "../../secret.toml"},
        {"ruleset": "none"},
        {"seat": "third"},
        {"seed": "-1"},
        {"seed": "9" * 30},
    ],
)
def test_what_is_not_offered_or_does_not_fit_is_refused_in_words(
    asked: Asked, fields: dict[str, str]
) -> None:
    status, _, body = post(asked, "/play", **{**SETUP, "seat": "first", **fields})
    assert status == 400
    assert b'role="alert"' in body
    assert b"Traceback" not in body


@pytest.mark.parametrize("path", ["/play", "/play/x/act"])
def test_only_the_servers_own_pages_post(asked: Asked, path: str) -> None:
    body = urlencode(SETUP)
    assert asked.get(path, "POST", body)[0] == 403
    assert asked.get(path, "POST", body, Origin="http://evil.example")[0] == 403
    assert asked.get(path, "POST", body, Origin="null")[0] == 403
    assert asked.get(path, "POST", body, Origin=asked.address, Sec_Fetch_Site="cross-site")[0] == 403
    assert asked.get(path, "POST", "x" * 5000, Origin=asked.address)[0] == 413
    assert asked.get("/", "POST", body, Origin=asked.address)[0] == 405
    assert asked.get(path, "PUT", body, Origin=asked.address)[0] == 405
    chunked = asked.get(path, "POST", body, Origin=asked.address, Transfer_Encoding="chunked")
    assert chunked[0] in (400, 413)
    many = urlencode({f"field{number}": "x" for number in range(30)})
    assert asked.get("/play", "POST", many, Origin=asked.address)[0] == 400
    assert asked.get("/play", Origin="http://[")[0] == 403


def test_games_that_are_gone_are_told(asked: Asked) -> None:
    assert asked.get("/play/none")[0] == 404
    assert asked.get("/play/none/state")[0] == 404
    assert post(asked, "/play/none/act", number="0", action="end turn")[0] == 404


def test_without_the_option_nothing_is_played(tmp_path: Path) -> None:
    with served(tmp_path) as asked:
        assert asked.get("/play")[0] == 404
        assert post(asked, "/play", **SETUP)[0] == 405


@pytest.mark.parametrize("name", ["x@512,samples=64", "a:b", "c=d", "e@search", "f*"])
def test_a_champion_plays_as_it_is_whatever_its_run_is_called(tmp_path: Path, name: str) -> None:
    shutil.copytree("tests/data/run", tmp_path / name)
    with served(tmp_path, opponents=[]) as asked:
        opponent = f"ilp:{tmp_path.name}/{name}"
        wait_until(lambda: opponent in unescape(asked.get("/play")[2].decode()), "the run is read")
        game = begin(asked, opponent=opponent, deck="thesis-paladin", other_deck="thesis-paladin")
        assert state(asked, game)["names"][1] == opponent
        (tmp_path / name / "champion.toml").unlink()
        status, _, body = post(asked, "/play", **{**SETUP, "opponent": opponent, "seat": "first"})
        assert (status, str(tmp_path) in body.decode()) == (400, False)
        assert "no champion yet" in body.decode()


def test_own_decks_are_offered_first_and_read_again_for_each_game(tmp_path: Path) -> None:
    deck = tmp_path / "mine.toml"
    deck.write_text(cheap_fireball("mine"))
    (tmp_path / "runs").mkdir()
    with served(tmp_path / "runs", opponents=[], decks=[str(deck)]) as asked:
        form = asked.get("/play")[2].decode()
        assert form.index('<option value="mine" selected>') < form.index('<option value="basic-')
        game = begin(asked, deck="mine")
        told = "Changed by a deck file: mine: Fireball (cost 3 instead of 4)."
        assert told in asked.get(game)[2].decode()
        state(asked, game)
        assert post(asked, f"{game}/concede")[0] == 200
        assert told in asked.get(f"{game}/story")[2].decode()
        deck.write_text(cheap_fireball("mine").replace("cost = 3", "cost = 2"))
        assert "Fireball (cost 2 instead of 4)" in asked.get(begin(asked, deck="mine"))[2].decode()
        deck.write_text("nonsense")
        status, _, body = post(asked, "/play", **{**SETUP, "seat": "first", "deck": "mine"})
        assert status == 400
        assert b'role="alert"' in body


def test_two_own_decks_of_the_same_name_are_refused(tmp_path: Path) -> None:
    decks = [tmp_path / "one.toml", tmp_path / "two.toml"]
    for deck in decks:
        deck.write_text(cheap_fireball("mine"))
    with (
        pytest.raises(DeckError, match="two decks are called mine"),
        served(tmp_path, opponents=[], decks=list(map(str, decks))),
    ):
        pass


def begin_puzzle(asked: Asked, number: int) -> str:
    """Begin a puzzle; returns its address."""
    status, headers, body = post(asked, "/play/puzzles", number=str(number))
    assert status == 303, body
    return headers["location"]


def test_a_puzzle_is_solved_by_its_solution_and_marked(asked: Asked) -> None:
    puzzle = read_puzzles(shipped_puzzles_file())[2]
    assert b"0 of 100 solved" in asked.get("/play/puzzles")[2]
    game = begin_puzzle(asked, 3)
    page = asked.get(game)[2].decode()
    assert "Puzzle 3: kill the enemy hero this turn" in page
    assert 'value="4" class="next"' in page
    for number, action in enumerate(puzzle.solution):
        hint = json.loads(asked.get(f"{game}/advice")[2])
        assert hint["plan"].endswith(", ...")
        assert state_now(asked, game)["over"] is None
        assert post(asked, f"{game}/act", number="99", action=action)[0] == 409
        assert post(asked, f"{game}/act", number=str(number), action=action)[0] == 200
    now = state_now(asked, game)
    assert now["over"] == f"Solved with {len(puzzle.solution)} actions"
    assert (now["thinking"], now["legal"], len(now["log"])) == (False, [], len(puzzle.solution))
    assert b"1 of 100 solved" in asked.get("/play/puzzles")[2]
    assert post(asked, f"{game}/act", number=str(now["number"]), action="end turn")[0] == 409
    assert asked.get(f"{game}/story")[0] == 409


def test_a_puzzle_that_is_not_solved_says_so_and_gives_its_solution(asked: Asked) -> None:
    game = begin_puzzle(asked, 5)
    hidden = state_now(asked, game)
    assert set(hidden["board"]["sides"][1 - hidden["seat"]]["hand"]) <= {None}
    assert post(asked, f"{game}/act", number="0", action="play 99")[0] == 409
    assert post(asked, f"{game}/act", number="0", action="end turn")[0] == 200
    assert "Not solved: the turn has ended" in state_now(asked, game)["over"]
    assert asked.get(f"{game}/advice")[0] == 409
    other = begin_puzzle(asked, 5)
    assert "The solution from the start: " in json.loads(post(asked, f"{other}/concede")[2])["over"]
    for number in ("0", "101", "x", ""):
        assert post(asked, "/play/puzzles", number=number)[0] == 404
