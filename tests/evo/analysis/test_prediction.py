"""Decks and cards that are predicted by the cards seen."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from engine import find_deck
from engine.errors import ManaforgeError
from evo.analysis.prediction import DeckLibrary, card_name, prediction_accuracy
from evo.cli.main import app

LISTED = tuple(map(find_deck, ("reno-mage", "basic-mage", "basic-hunter", "thesis-paladin")))


def test_a_card_of_one_deck_names_it() -> None:
    library = DeckLibrary(LISTED)
    for deck in LISTED:
        own = {card.name for card in deck.cards}
        for other in LISTED:
            own -= {card.name for card in other.cards} if other is not deck else set()
        for name in sorted(own)[:5]:
            found, chance = library.likely_decks([name])[0]
            assert found is deck
            assert chance > 0.6


def test_chances_are_those_of_the_distances() -> None:
    """Two decks, and a card that one of them holds: the other is 1 + ln 2 away."""
    library = DeckLibrary(LISTED[1:3])
    only = next(card.name for card in LISTED[1].cards if card.name not in {c.name for c in LISTED[2].cards})
    chances = {deck.name: chance for deck, chance in library.likely_decks([only])}
    away = np.exp(-1 - np.log(2))
    assert chances["basic-mage"] == pytest.approx(1 / (1 + away))
    assert chances["basic-hunter"] == pytest.approx(away / (1 + away))


def test_cards_left_are_those_of_the_decks() -> None:
    library = DeckLibrary(LISTED[:1])
    names = [card.name for card in LISTED[0].cards]
    assert library.guess(names[:10]) == Counter(names[10:])
    cards = library.likely_cards(names[:10])
    assert sum(card.copies for card in cards) == pytest.approx(20)
    assert all(card.chance == 1 for card in cards)
    assert library.likely_cards(names) == []


def test_a_seen_copy_is_not_left() -> None:
    library = DeckLibrary(LISTED[2:3])
    twice = next(name for name, n in Counter(card.name for card in LISTED[2].cards).items() if n == 2)
    for seen, copies in ((0, 2), (1, 1), (2, 0)):
        left = {card.name: card.copies for card in library.likely_cards([twice] * seen)}
        assert left.get(twice, 0) == pytest.approx(copies)


def test_a_deck_of_the_library_alone_in_its_class_is_known_at_once() -> None:
    table = prediction_accuracy(LISTED[1:3], 2, (0, 3), 1).set_index(["exchanged", "seen"])
    assert table.loc[0, "right"].tolist() == pytest.approx([1.0] * 30)
    # Nobody can know the cards exchanged: of 30, 27 are right before one is seen.
    assert table.loc[(3, 0), "right"] == pytest.approx(27 / 30)
    assert (table["low"] <= table["right"]).all()
    assert (table["right"] <= table["high"]).all()


def test_a_deck_without_others_has_no_cards_exchanged() -> None:
    table = prediction_accuracy(LISTED[:1], 1, (0, 3), 1)
    assert set(table["exchanged"]) == {0}


def test_what_is_seen_tells_more() -> None:
    table = prediction_accuracy(LISTED[:2], 5, (0,), 1)["right"].tolist()
    assert table[0] < table[3] < 1.0 + 1e-9
    assert table[10] == pytest.approx(1.0)
    assert prediction_accuracy(LISTED[:2], 5, (0,), 1)["right"].tolist() == table, (
        "the same seed, the same orders"
    )


def test_names_of_cards() -> None:
    library = DeckLibrary(LISTED)
    assert card_name("fireball", library) == "Fireball"
    assert card_name("Doomsayer", library) == "Doomsayer", "a card that no deck holds"
    with pytest.raises(ManaforgeError, match="Fireball"):
        card_name("Firebal", library)


def test_the_command(tmp_path: Path) -> None:
    run = CliRunner().invoke(app, ["predict", "Fireball", "Reno Jackson", "--class", "mage"])
    assert run.exit_code == 0, run.output
    assert "reno-mage" in run.output
    picture = tmp_path / "accuracy.png"
    run = CliRunner().invoke(app, ["predict", "--accuracy", "--orders", "1", "--out", str(picture)])
    assert run.exit_code == 0, run.output
    assert "as listed" in run.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    run = CliRunner().invoke(app, ["predict", "--json", "Fireball"])
    assert '"cards"' in run.output
