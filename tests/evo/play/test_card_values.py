"""Profiles with card values: the same games compiled and in Python, and the same player wherever it is stored."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

from engine import find_deck, find_ruleset
from engine.decks import cached_card_table
from engine.match import card_id_or_name
from engine.streams import stream_key
from evo.cli.main import app
from evo.config.files import read_config
from evo.learning.config import LearnConfig
from evo.play.entrants import entrant_from_weights, equal_entrants, find_entrant
from evo.play.games import Player, Roster, Schedule, play_game_in_python, play_schedule
from evo.play.opponents import opponents_bytes, read_opponents
from evo.storage.files import OPPONENTS
from ilp_agent import Profile
from ilp_agent.card_values import CardValueError, CardValues
from rivals import find_agent_profile
from tests.conftest import BOUNDSCHECK, UNCOMPILED

compiled = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")

DECKS = tuple(map(find_deck, ("basic-mage", "basic-warrior")))
IDS = sorted({card_id_or_name(card) for card in cached_card_table(DECKS)[0].cards})
LEARNED = find_agent_profile("lookahead", "learned").weights
PLAIN = find_entrant("lookahead:learned@6").player


def drawn_values(size: float, *more: str) -> CardValues:
    """A value for every card of the decks, and for some that are not in the game."""
    pick = np.random.default_rng(8)
    hand, board = ({card: float(pick.normal(0, size)) for card in (*IDS, *more)} for _ in range(2))
    return CardValues(tuple(hand.items()), tuple(board.items()))


@pytest.fixture
def valuing(tmp_path: Path) -> str:
    """Entrant with card values."""
    (tmp_path / "valuing.toml").write_text(Profile("valuing", LEARNED, card_values=drawn_values(3)).to_toml())
    return f"lookahead:{tmp_path / 'valuing.toml'}@6"


def games(n: int, decks: int = 2) -> Schedule:
    pick = np.random.default_rng(3)
    keys = np.array([stream_key(3, game) for game in range(n)], np.uint64)
    players, held = (pick.integers(most, size=(n, 2)).astype(np.int16) for most in (2, decks))
    return Schedule(players, held, keys)


def roster(*players: Player, decks: tuple[str, ...] = ()) -> Roster:
    return Roster(players, tuple(map(find_deck, decks)) or DECKS, find_ruleset("standard"))


@compiled
def test_compiled_and_python_choose_the_same_actions() -> None:
    valuing = replace(PLAIN, card_values=drawn_values(3, "NO_SUCH"))
    schedule = games(24)
    played = play_schedule(roster(valuing, PLAIN), schedule)
    assert played.tolist() != play_schedule(roster(PLAIN, PLAIN), schedule).tolist()
    for number in range(8):  # the Python game's table has the cards of its two decks only
        result = play_game_in_python(roster(valuing, PLAIN), schedule, number)
        assert (result.outcome, result.turns) == tuple(played[["outcome", "turns"]][number])
    more = roster(valuing, PLAIN, decks=("basic-mage", "basic-warrior", "basic-hunter"))
    assert played.tolist() == play_schedule(more, schedule).tolist(), "card numbers have no effect"


@compiled
def test_values_of_zero_and_of_other_cards_change_no_game() -> None:
    schedule = games(24)
    played = play_schedule(roster(PLAIN, PLAIN), schedule)
    for values in (drawn_values(0.0), CardValues((("NO_SUCH", 9.0),), (("ALSO_NONE", 9.0),))):
        same = roster(replace(PLAIN, card_values=values), PLAIN)
        assert played.tolist() == play_schedule(same, schedule).tolist()


@compiled
def test_minion_decks_have_no_card_values() -> None:
    decks = ("thesis-paladin", "hearthsim-basic")
    ids = {card_id_or_name(card) for name in decks for card in find_deck(name).cards}
    values = CardValues(board=tuple((card, 50.0) for card in sorted(ids)))
    schedule = games(12)
    valuing = roster(replace(PLAIN, card_values=values), PLAIN, decks=decks)
    played = play_schedule(roster(PLAIN, PLAIN, decks=decks), schedule)
    assert played.tolist() == play_schedule(valuing, schedule).tolist()
    result = play_game_in_python(valuing, schedule, 0)
    assert (result.outcome, result.turns) == tuple(played[["outcome", "turns"]][0])


def test_players_differ_by_their_card_values(valuing: str, tmp_path: Path) -> None:
    mine = find_entrant(valuing)
    plain = replace(mine.player, card_values=CardValues())
    assert equal_entrants([mine, replace(mine, text="again", player=plain)]) == []
    assert equal_entrants([mine, replace(mine, text="again")]) == [[valuing, "again"]]
    # Twice the weights without twice the card values is another value of a position.
    double = tuple(2 * weight for weight in mine.player.weights)
    for values, groups in ((mine.player.card_values, 0), (CardValues(), 1)):
        one = replace(mine, player=replace(plain, card_values=values))
        other = replace(mine, text="double", player=replace(plain, weights=double, card_values=values))
        assert len(equal_entrants([one, other])) == groups
    stored = json.loads(opponents_bytes({valuing: mine.player, "plain": plain}))
    assert stored[valuing]["card_values"] == mine.player.card_values.tables()
    assert "card_values" not in stored["plain"], "files of players without them are as before"
    assert plain.beside_row == []
    assert mine.player.beside_row == [mine.player.card_values.tables()], "keys of experiments"
    (tmp_path / OPPONENTS).write_bytes(opponents_bytes({valuing: mine.player}))
    config = read_config("quickstart", [f'opponents.fixed={{"{valuing}" = 1}}'])
    assert read_opponents(tmp_path, config) == [mine.player]


def test_other_agents_are_refused() -> None:
    for kind in ("ilp", "random"):
        with pytest.raises(CardValueError, match=f"agent {kind} takes no card values"):
            Player(kind=kind, card_values=drawn_values(1.0))
    with pytest.raises(CardValueError, match="agent eva takes no card values"):
        entrant_from_weights("eva", "eva", find_entrant("eva").player.weights, (), (), drawn_values(1.0))


def test_opponents_of_a_learning_are_known_by_their_card_values(valuing: str) -> None:
    def digest(text: str) -> str:
        return LearnConfig.model_validate({"test": {"against": [text]}}).digest

    before, path = digest(valuing), Path(valuing.removeprefix("lookahead:").removesuffix("@6"))
    path.write_text(Profile("valuing", LEARNED, card_values=drawn_values(2)).to_toml())
    assert digest(valuing) != before


@compiled
def test_commands_play_and_replay_them(valuing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def done(words: str) -> Result:
        return CliRunner().invoke(app, words.split())

    decks = "--decks basic-mage,basic-warrior"
    assert done(f"tournament {valuing} aggro {decks} --games 8 --out made --pool local").exit_code == 0
    Path(valuing.removeprefix("lookahead:").removesuffix("@6")).unlink()  # its folder has the values
    for number in (0, 9, 17):
        assert done(f"replay made {number}").exit_code == 0
