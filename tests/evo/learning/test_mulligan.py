"""Keep values: a planted truth is found, each game is the one it should be, and what cannot be learned is refused."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine import Outcome, find_deck, find_ruleset
from engine.decks import cached_card_table
from engine.streams import generator
from evo.learning.mulligan import (
    MulliganLearning,
    MulliganLearningError,
    card_rows,
    check_output_file,
    learn_mulligan,
    learned_profile,
    make_deals,
    with_mulligan,
    write_learned,
)
from evo.play.entrants import find_entrant
from evo.play.games import GAME, Player, Roster, Schedule, deal_schedule
from ilp_agent import find_profile, read_profile
from ilp_agent.mulligan import DeckMulligan
from tests.evo.runs import manaforge

DECKS = find_deck("thesis-paladin"), find_deck("thesis-warrior")
HANDS = (3, 4)


def lesson_of(**others) -> MulliganLearning:
    given = {"decks": DECKS, "ruleset": find_ruleset("standard"), "games": 4_000, "rounds": 1, "seed": 5}
    return MulliganLearning(Player(kind="pass"), (Player(kind="random"),), **(given | others))


class Toy:
    """Games that are won by the opening hands alone: each card is worth what was planted."""

    def __init__(self, seed: int) -> None:
        self.worth = generator(seed).uniform(-0.12, 0.12, 200)
        self.asked: list[tuple[Roster, Schedule]] = []

    def play(self, roster: Roster, games: Schedule) -> np.ndarray:
        self.asked.append((roster, games))
        states = deal_schedule(roster, games)
        own = games.players[:, 0] != len(roster.players) - 1  # the opponent is the last
        first = np.where(own, self.sum_of(states, 0), -self.sum_of(states, 1))
        luck = (games.keys >> np.uint64(11)) / 2**53  # the same in all games of a deal
        played = np.zeros(len(games), GAME)
        played["outcome"] = np.where(luck < 0.5 + first, Outcome.FIRST_WINS, Outcome.SECOND_WINS)
        return played

    def sum_of(self, states: np.ndarray, seat: int) -> np.ndarray:
        return self.worth[states["sides"][:, seat]["hand"][:, : HANDS[seat]]].sum(axis=1)

    def truth(self, deck) -> dict[str, float]:
        """The worth of each card, less that of the deck's other cards in the mean."""
        number = cached_card_table(DECKS)[0].number
        worth = {card.id: self.worth[number[card.key]] for card in deck.cards}
        total = sum(worth[card.id] for card in deck.cards)
        return {card: own - (total - own) / (len(deck.cards) - 1) for card, own in worth.items()}


def test_a_planted_truth_is_found() -> None:
    toy = Toy(3)
    (values,) = learn_mulligan(lesson_of(games=12_000), toy.play)
    assert [(one.deck, one.seat) for one in values] == [
        (deck.name, seat) for deck in DECKS for seat in (0, 1)
    ]
    for one in values:
        truth = toy.truth(find_deck(one.deck))
        assert set(one.cards) == set(truth)
        errors = [(found.value - truth[card]) / found.half_width for card, found in one.cards.items()]
        assert np.abs(errors).max() < 2  # four standard errors
        assert 0.1 < np.std(errors) < 0.8  # half, since a half width is two of them
        for card, found in one.cards.items():
            if abs(truth[card]) > 0.06:
                assert found.value * truth[card] > 0


def test_a_round_learns_under_the_mulligan_that_the_one_before_found() -> None:
    toy = Toy(4)
    lesson = lesson_of(rounds=2, decks=DECKS[:1])
    first, _ = learn_mulligan(lesson, toy.play)
    for seat, (roster, games) in enumerate(toy.asked[2:]):
        assert seat == int(games.players[0, 0] == len(roster.players) - 1)
        (base,) = [keeps for keeps in roster.players[0].keeps if keeps.seat == seat]
        values = first[seat].cards
        assert {card: card in base.keep for card in values} == {
            card: values[card].value >= 0 for card in values
        }
        assert set(base.keep) | set(base.replace) == set(values)
    assert not set(toy.asked[0][1].keys) & set(toy.asked[2][1].keys)


def test_each_deal_is_played_as_it_is_and_with_each_card_turned() -> None:
    toy = Toy(1)
    lesson = lesson_of(games=400)
    list(learn_mulligan(lesson, toy.play))
    assert sum(len(games) for _, games in toy.asked) == lesson.total
    roster, games = toy.asked[3]  # the second deck, going second
    deals = make_deals(lesson, 0, 1, 1)
    assert len(deals.keys) == 400 // 5
    for key, hand in zip(deals.keys, deals.hands, strict=True):
        own = games.select(games.keys == key)
        assert (own.players[:, 0] == len(roster.players) - 1).all()
        assert own.decks[:, 1].tolist() == [1] * len(own)
        assert own.players[:, 1].tolist() == [0, *sorted({1 + place for place in hand})]
    assert set(games.decks[:, 0]) == {0, 1}
    base = roster.players[0].keeps[-1]
    for card, player in zip(deals.cards, roster.players[1:-1], strict=True):
        (keeps,) = [keeps for keeps in player.keeps if keeps.seat == 1]
        assert set(keeps.keep) ^ set(base.keep) == {card}
        assert set(keeps.replace) ^ set(base.replace) == {card}


def test_other_decks_keep_their_choices() -> None:
    old = DeckMulligan("thesis-paladin", 0, ("a",)), DeckMulligan("other", 1, ("b",))
    new = DeckMulligan("thesis-paladin", 0, (), ("a",))
    assert with_mulligan(Player(keeps=old), [new]).keeps == (old[1], new)


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"ruleset": find_ruleset("thesis")}, "ruleset thesis has no mulligan; ruleset standard has one"),
        ({"decks": (find_deck("random-minions"),)}, "deck random-minions is random in each game"),
        ({"decks": DECKS[:1] * 2}, "two decks with the same name"),
        ({"games": 4}, "games must be at least 5"),
    ],
)
def test_what_cannot_be_learned_is_refused(others: dict, message: str) -> None:
    with pytest.raises(MulliganLearningError, match=message):
        lesson_of(**others)


def test_the_profile_has_the_values_and_plays_by_them(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lesson = lesson_of(games=2_000)
    (values,) = learn_mulligan(lesson, Toy(2).play)
    profile = find_profile("keep-alive")
    older = learned_profile(profile, lesson, values[:2], "older", ["random"])
    learned = learned_profile(older, replace(lesson, seed=6), values[2:], "learned", ["random"])
    write_learned(learned, tmp_path / "made" / "learned.toml")
    again = read_profile(tmp_path / "made" / "learned.toml")
    assert again == learned
    assert again.mulligan == values
    assert again.provenance["mulligan"]["seed"] == 6
    assert again.weights == profile.weights
    player = find_entrant("ilp:made/learned.toml").player
    for keeps, one in zip(player.keeps, values, strict=True):
        rows = card_rows(one, find_deck(one.deck), lesson.ruleset)
        assert {row.card for row in rows if row.keep} == set(keeps.keep)
        assert all(row.rule == (row.cost <= 3) and row.low <= row.value <= row.high for row in rows)
        assert [row.value for row in rows] == sorted((row.value for row in rows), reverse=True)
    with pytest.raises(MulliganLearningError, match="NAME.toml"):
        check_output_file(tmp_path / "learned")


def test_the_command_says_how_many_games_it_plays_and_what_its_columns_mean(tmp_path: Path) -> None:
    words = ("mulligan", "hearthsim", "--against", "aggro", "--decks", "thesis-paladin", "--games", "8")
    done = manaforge(*words, "--rounds", "1", "--out", "my keep.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"mulligan of hearthsim: \d+ games in 1 round, kept in my keep.mulligan", lines[0])
    assert "learned" in done.stdout
    assert "value: points a game that keeping the card gains over replacing it; learned: " in done.stdout
    assert lines[-1] == (
        "to play it: 'hearthsim:my keep.toml', with a ruleset that has a mulligan, such as standard"
    )
