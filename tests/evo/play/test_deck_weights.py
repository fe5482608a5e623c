"""Profiles with weights for single decks: each deck is played as by a profile of these weights alone."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

from engine import find_deck, find_ruleset
from engine.streams import stream_key
from evo.cli.main import app
from evo.play.entrants import equal_entrants, find_entrant
from evo.play.games import Player, Roster, Schedule, play_game_in_python, play_schedule
from evo.play.opponents import opponents_bytes
from ilp_agent import Profile, find_profile, read_profile
from ilp_agent.profiles import ProfileError

DECKS = tuple(map(find_deck, ("thesis-paladin", "hearthsim-basic")))
BASE, OWN = (find_profile(name).weights for name in ("keep-alive", "aggro-face"))
BY_DECK = Profile("by deck", BASE, {}, (), {"hearthsim-basic": OWN})


@pytest.fixture
def by_deck(tmp_path: Path) -> str:
    """Entrant with other weights for one of the decks."""
    (tmp_path / "by-deck.toml").write_text(BY_DECK.to_toml())
    return f"ilp:{tmp_path / 'by-deck.toml'}"


def games(players: int, n: int = 60) -> Schedule:
    pick = np.random.default_rng(8)
    keys = np.array([stream_key(8, game) for game in range(n)], np.uint64)
    return Schedule(*(pick.integers(most, size=(n, 2)).astype(np.int16) for most in (players, 2)), keys)


def test_a_file_reads_back_and_names_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(BY_DECK.to_toml())
    assert "[weights.hearthsim-basic]" in file.read_text()
    assert read_profile(file) == BY_DECK
    for old, new, told in (
        (
            "hearthsim-basic]\nlethal",
            "hearthsim-basic]\nletal",
            r'weights."hearthsim-basic".letal: unknown weight',
        ),
        (
            "hearthsim-basic]\nlethal = 20.0",
            "hearthsim-basic]",
            r'missing in \[weights."hearthsim-basic"\]: lethal',
        ),
        (
            "hearthsim-basic]\nlethal = 20.0",
            "hearthsim-basic]\nlethal = -1",
            r'"hearthsim-basic".lethal must be',
        ),
        ("[weights.hearthsim-basic]", '[weights.""]', "the name of a deck must be one line of text"),
        ("\nlethal = 2.0", "\n[weights.lethal]", "weights.lethal must be a number, got a table"),
    ):
        assert old in BY_DECK.to_toml()
        file.write_text(BY_DECK.to_toml().replace(old, new))
        with pytest.raises(ProfileError, match=told):
            read_profile(file)


def test_each_deck_is_played_with_its_weights(by_deck: str) -> None:
    """As by two players of one vector each, compiled and in Python."""
    player, schedule = find_entrant(by_deck).player, games(2)
    base, own = (Player(tuple(weights.array)) for weights in (BASE, OWN))
    eva = find_entrant("eva").player
    played = play_schedule(Roster((player, eva), DECKS, find_ruleset("standard")), schedule)
    apart = replace(schedule, players=schedule.players * 2 + schedule.decks)
    both = Roster((base, own, eva, eva), DECKS, find_ruleset("standard"))
    assert played.tolist() == play_schedule(both, apart).tolist()
    alone = Roster((base, base, eva, eva), DECKS, find_ruleset("standard"))
    assert played.tolist() != play_schedule(alone, apart).tolist()
    for number in range(6):
        result = play_game_in_python(Roster((player, eva), DECKS, find_ruleset("standard")), schedule, number)
        assert (result.outcome, result.turns) == tuple(played[["outcome", "turns"]][number])


def test_players_differ_by_their_weights_for_decks(by_deck: str) -> None:
    plain = replace(find_entrant(by_deck).player, deck_weights=())
    mine = find_entrant(by_deck)
    assert equal_entrants([mine, replace(mine, text="again", player=plain)]) == []
    assert equal_entrants([mine, replace(mine, text="again")]) == [[by_deck, "again"]]
    stored = json.loads(opponents_bytes({"mine": mine.player, "plain": plain}))
    assert stored["mine"]["deck_weights"] == {"hearthsim-basic": OWN.array.tolist()}
    assert "deck_weights" not in stored["plain"], "files of players without them are as before"


def test_commands_play_and_replay_them(by_deck: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def done(words: str) -> Result:
        return CliRunner().invoke(app, words.split())

    decks = "--decks thesis-paladin,hearthsim-basic"
    assert done(f"tournament {by_deck} aggro {decks} --games 8 --out made --pool local").exit_code == 0
    Path(by_deck.removeprefix("ilp:")).unlink()  # its folder has the weights
    for number in (0, 9, 17):
        assert done(f"replay made {number}").exit_code == 0
    (tmp_path / "by-deck.toml").write_text(BY_DECK.to_toml())
    for words in (
        f"ablate {by_deck} {decks} --games 8",
        f"sweep {by_deck} --weight face --values 0,1 --against aggro {decks}",
    ):
        refused = done(words)
        assert refused.exit_code != 0
        assert "weights for single decks" in " ".join(str(refused.output + str(refused.exception)).split())
    (tmp_path / "own.toml").write_text(Profile("own", OWN).to_toml())
    places = "aggro --decks hearthsim-basic,thesis-paladin --seed 3"
    told = [done(f"play {text} {places}").output.replace(text, "") for text in (by_deck, "ilp:own.toml")]
    assert told[0] == told[1]
    assert len(told[0]) > 500
