"""What players keep of their opening hands: in compiled games and in Python, in tournaments, and in one game."""

import copy
import json
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from engine import find_deck, find_ruleset
from engine.cards.table import CardTable
from engine.decks import cached_card_table
from engine.match import deal
from evo.cli.main import app
from evo.play.entrants import equal_entrants, find_entrant
from evo.play.games import (
    Player,
    Roster,
    deal_schedule,
    mulligan_for_deck,
    mulligans_of_pair,
    play_game_in_python,
    play_schedule,
)
from evo.play.matchups import make_schedule, make_setups
from evo.tournament.run import create_tournament
from ilp_agent import find_profile
from ilp_agent.mulligan import DeckMulligan, KeepValue, SeatValues

DECKS = find_deck("thesis-paladin"), find_deck("thesis-warrior")
IDS = [card.id for card in DECKS[0].cards[::2]]
KEEPS = (
    DeckMulligan("thesis-paladin", 0, tuple(IDS[:5]), tuple(IDS[5:])),
    DeckMulligan("thesis-paladin", 1, tuple(IDS[10:]), ("no card", *IDS[:10])),
)


def some_profile(folder: Path, value: float = 0.5, name: str = "mine") -> str:
    """An entrant that keeps the dearest cards, and replaces the others where `value` is above 0."""
    cards = {card.id: KeepValue(value if card.spec.cost > 3 else -value, 0.1) for card in DECKS[0].cards}
    values = tuple(SeatValues("thesis-paladin", seat, cards) for seat in (0, 1))
    path = folder / f"{name}.toml"
    path.write_text(replace(find_profile("keep-alive"), mulligan=values).to_toml())
    return f"ilp:{path}"


def games_of(player: Player):
    roster = Roster((player, replace(player, keeps=())), DECKS, find_ruleset("standard"))
    return roster, make_schedule(np.array([(0, 1)]), make_setups(2, 6, 3))


def names(state: np.void, seat: int, table: CardTable) -> list[str]:
    """The cards of a seat's hand, then of its deck."""
    side = state["sides"][seat]
    cards = [*side["hand"][: side["n_hand"]], *side["deck"][: side["n_deck"]]]
    return [table.cards[card].name if card >= 0 else "The Coin" for card in cards]


def test_a_roster_deals_what_each_player_keeps_with_each_deck() -> None:
    roster, games = games_of(Player(kind="aggro", keeps=KEEPS))
    states = deal_schedule(roster, games)
    plain = deal_schedule(replace(roster, players=(roster.players[1],) * 2), games)
    table, _ = cached_card_table(DECKS)
    for number in range(len(games)):
        for seat in range(2):
            mine = games.players[number, seat] == 0 and games.decks[number, seat] == 0
            own, usual = states["sides"][number, seat], plain["sides"][number, seat]
            if not mine:
                assert own.tobytes() == usual.tobytes()
            start = play_game_in_python(roster, games, number).start
            assert names(start.state, seat, start.table) == names(states[number], seat, table)
    assert states.tobytes() != plain.tobytes()


def test_compiled_games_are_those_in_python() -> None:
    roster, games = games_of(Player(kind="aggro", keeps=KEEPS))
    played = play_schedule(roster, games)
    for number in range(len(games)):
        result = play_game_in_python(roster, games, number)
        assert (result.outcome, result.turns) == (played["outcome"][number], played["turns"][number])


def test_cards_that_the_deck_does_not_have_are_left_out() -> None:
    kept = mulligan_for_deck(KEEPS, DECKS[0], 1)
    assert kept is not None
    assert set(kept) == set(IDS)
    assert mulligan_for_deck(KEEPS, DECKS[1], 1) is None
    assert mulligans_of_pair((Player(keeps=KEEPS), Player()), (DECKS[0], DECKS[0]))[1] is None


def test_players_with_other_mulligans_are_others(tmp_path: Path) -> None:
    player = Player(kind="aggro", keeps=KEEPS)
    assert player != Player(kind="aggro")
    assert len({player, copy.deepcopy(player), Player(kind="aggro")}) == 2
    assert pickle.loads(pickle.dumps(player)) == player
    mine, other = some_profile(tmp_path), some_profile(tmp_path, -0.5, "other")
    entrants = [find_entrant(text) for text in (mine, other, "ilp:keep-alive")]
    assert equal_entrants(entrants) == []
    assert len({entrant.player for entrant in entrants}) == 3
    assert len({entrant.player.weights for entrant in entrants}) == 1


def test_a_tournament_writes_down_its_mulligans(tmp_path: Path) -> None:
    def definition(text: str) -> dict:
        tournament = create_tournament(
            [text, "aggro"],
            ["thesis-paladin"],
            "standard",
            "",
            games=2,
            seats="paired",
            style="round-robin",
            seed=1,
        )
        return tournament.definition["entrants"][0]

    mine = definition(some_profile(tmp_path))
    assert [entry[:2] for entry in mine["mulligan"]] == [["thesis-paladin", 0], ["thesis-paladin", 1]]
    assert definition(some_profile(tmp_path, -0.5))["mulligan"] != mine["mulligan"]
    assert "mulligan" not in definition("ilp:keep-alive")


@pytest.mark.parametrize("columns", [60, 80])
def test_the_command_writes_a_profile_that_play_uses(
    columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(columns))
    words = (
        "mulligan greedy-ilp --decks thesis-paladin --against aggro --games 60 --rounds 1 --out made/m.toml"
    )
    done = CliRunner().invoke(app, [*words.split(), "--pool", "local"])
    assert done.exit_code == 0, done.output
    assert "thesis-paladin, going second" in done.output
    assert max(len(line) for line in done.output.splitlines() if line[0] in "┏┃┡│└") <= columns
    assert all(card.name in done.output for card in DECKS[0].cards)
    assert CliRunner().invoke(app, words.split()).exit_code == 1, "the file is there"
    data = CliRunner().invoke(app, [*words.replace("m.toml", "n.toml").split(), "--pool", "local", "--json"])
    seats = json.loads(data.stdout)["mulligan"]
    assert [(one["deck"], one["seat"]) for one in seats] == [
        ("thesis-paladin", seat) for seat in ("first", "second")
    ]
    assert {card["card"]: card["keep"] for card in seats[0]["cards"]} == mulligan_for_deck(
        find_entrant("greedy-ilp:made/n.toml").player.keeps, DECKS[0], 0
    )
    player = find_entrant("greedy-ilp:made/m.toml").player
    assert [keeps.seat for keeps in player.keeps] == [0, 1]
    seen = []
    monkeypatch.setattr("engine.play", lambda *_, keeps, **__: seen.append(keeps) or 1 / 0)
    line = "play greedy-ilp:made/m.toml aggro --decks thesis-paladin --ruleset standard"
    CliRunner().invoke(app, line.split())
    assert seen == [(mulligan_for_deck(player.keeps, DECKS[0], 0), None)]
    first = deal((DECKS[0], DECKS[0]), 1, (), "standard", seen[0])
    assert str(first) != str(deal((DECKS[0], DECKS[0]), 1, (), "standard"))
