"""Cards as look-ups and listings tell them: what is played, what is not covered, how many are exact."""

import json
import re
import shlex
from pathlib import Path

import pytest

from engine.cards import catalogue
from engine.cards.lookup import (
    BODY,
    EXACT,
    NOT_PLAYED,
    all_card_facts,
    coverage,
    coverage_markdown,
    filter_card_facts,
    find_facts,
    mechanics_by_card,
)
from engine.cards.real import EDITIONS, NEWEST_EDITION, OLD_EDITION, edition
from engine.errors import UnknownNameError
from evo.cli import engine_commands as engine_main
from tests.evo.cli.test_engine_commands import run
from tools.card_tables import MECHANICS, OTHER, mechanics_of

DOCUMENT = Path(__file__).parents[2] / "docs" / "effects.md"
BEGIN, END = "<!-- cards --markdown -->\n", "<!-- end -->\n"


@pytest.fixture
def command(monkeypatch, capsys):
    return lambda *arguments: run(monkeypatch, capsys, engine_main.app, *arguments)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("<b>Secret:</b> When your hero is attacked, gain 8 Armor.", ("secret",)),
        ("<b>Battlecry:</b> <b>Discover</b> a spell.", ("discover",)),
        ("<b>Choose One -</b> Deal 3 damage to a minion; or 1 damage and draw a card.", ("choose one",)),
        ("Adjacent minions have +1 Attack.", ("aura", "neighbours")),
        ("Your other Pirates have +1/+1.", ("aura",)),
        ("Whenever you cast a spell, gain +1 Attack.", ("listener",)),
        ("<b>Combo:</b> Deal $4 damage instead.", ("combo",)),
        ("<b>Battlecry:</b> <b>Adapt</b>.", ("adapt",)),
        ("<b>Echo</b>\nDeal $2 damage to a minion.", ("echo",)),
        ("Your spells cost (1) less.", ("aura", "cost")),
        ("<b>Battlecry:</b> If your deck has no duplicates, fully heal your hero.", ("what the deck holds",)),
        ("Give your Silver Hand Recruits +2/+2.", (OTHER,)),
    ],
)
def test_kinds_of_texts(text: str, kinds: tuple[str, ...]) -> None:
    assert mechanics_of(text) == kinds


def test_every_kind_is_asked_for_by_a_card() -> None:
    asked = {kind for kinds in mechanics_by_card().values() for kind in kinds}
    assert asked == {*MECHANICS, OTHER}


def test_a_card_of_two_editions() -> None:
    newest, *_, old = find_facts("flamestrike")
    assert (newest.edition, newest.played, newest.cost) == (NEWEST_EDITION, NOT_PLAYED, 7)
    assert newest.coverage_text == "not played: its text or numbers match no card of 2018-07"
    assert (old.edition, old.id, old.played) == (OLD_EDITION, "CS2_032", EXACT)
    assert old.does == ("deals 4 damage to all enemy minions",)
    assert old.description == "mage spell, free, set Basic, edition 2018-07"
    assert find_facts("CS2_032", OLD_EDITION) == [old]


@pytest.mark.parametrize(
    ("name", "played", "how"),
    [
        ("Acidmaw", BODY, "a body with its keywords; not covered: listener"),
        ("Effigy", NOT_PLAYED, "not played; not covered: secret, random cards"),
        ("Frost Lich Jaina", NOT_PLAYED, "not played; not covered: hero card"),
        ("Wee Spellstopper", BODY, "a body with its keywords; not covered: aura, neighbours"),
        ("Dire Wolf Alpha", EXACT, "exact"),
        ("Chillwind Yeti", EXACT, "exact: it has no text"),
        ("Sen'jin Shieldmasta", EXACT, "exact"),
        ("Fireball", EXACT, "exact"),
    ],
)
def test_how_a_card_is_played(name: str, played: str, how: str) -> None:
    facts = find_facts(name, OLD_EDITION)[0]
    assert (facts.played, facts.coverage_text) == (played, how)


def test_what_cards_do_beside_their_rows() -> None:
    assert find_facts("Bloodmage Thalnos", OLD_EDITION)[0].does == (
        "Spell Damage +1",
        "Deathrattle: draws one card",
    )
    assert "cannot attack" in find_facts("Ancient Watcher", OLD_EDITION)[0].does
    assert any("Overload: 2" in text for text in find_facts("Lightning Storm", OLD_EDITION)[0].does)


@pytest.mark.parametrize("name", EDITIONS)
def test_every_card_is_told(name: str) -> None:
    cards = all_card_facts(name)
    assert len(cards) == edition(name).size
    assert sum(card.played == EXACT for card in cards) == sum(1 for _ in edition(name).exact())
    for card in cards:
        assert (card.played == EXACT) == (not card.not_covered), card
        assert (card.played == NOT_PLAYED) <= (card.kind != "minion" or not card.body), card
        if card.played == EXACT and card.id in mechanics_by_card():
            assert card.does, card
    found = {card.name for card in cards}
    if name == NEWEST_EDITION:
        assert {card.name for card in catalogue().by_id.values()} <= found


def test_counts_agree() -> None:
    for name in EDITIONS:
        found = coverage(name)
        for shares in (found.sets, found.classes):
            assert sum(share.exact for share in shares) == found.whole.exact
            assert sum(share.cards for share in shares) == found.whole.cards
        inexact = found.whole.cards - found.whole.exact
        assert max(n for _, n in found.not_covered) <= inexact <= sum(n for _, n in found.not_covered)
    assert coverage(OLD_EDITION).whole.cards == 1_584
    first_printed = next(share for share in coverage(NEWEST_EDITION).sets if share.name == "as first printed")
    assert first_printed.cards == 382
    assert first_printed.exact >= 205


def test_the_document_has_the_tables_that_the_command_prints(command) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert text[text.index(BEGIN) + len(BEGIN) : text.index(END)].strip("\n") + "\n" == coverage_markdown()
    assert command("cards", "--markdown") == (0, coverage_markdown(), "")


def test_listings_are_chosen_by_class_set_and_kind() -> None:
    echoing = filter_card_facts(OLD_EDITION, "Hunter", "the witchwood", "ECHO")
    assert [card.name for card in echoing] == ["Hunting Mastiff"]
    for arguments, message in (
        (("mago", "", ""), "unknown class 'mago'; nearest: mage"),
        (("", "Witchwod", ""), "unknown set 'Witchwod'; nearest: The Witchwood"),
        (("", "", "scret"), "unknown uncovered mechanic 'scret'; nearest: secret"),
    ):
        with pytest.raises(UnknownNameError, match=message):
            filter_card_facts(OLD_EDITION, *arguments)


def test_the_command_card(command, monkeypatch) -> None:
    code, out, _ = command("card", "Flamestrike", "--edition", "2018-07")
    assert (code, out) == (
        0,
        "Flamestrike (7) [CS2_032]\n"
        "  mage spell, free, set Basic, edition 2018-07\n"
        "  exact\n"
        "  - deals 4 damage to all enemy minions\n"
        "  numbers for --patch: cost 7, damage 4\n",
    )
    told = json.loads(command("card", "Effigy", "--edition", "2018-07", "--json")[1])
    assert [card["not_covered"] for card in told] == [["secret", "random cards"]]
    assert command("card", "Flamestrik")[2].startswith(
        "program: unknown card 'Flamestrik'; nearest: Flamestrike"
    )
    code, out, err = command("card", "Crystalline Golem", "--edition", "2018-07")
    assert (code, out) == (2, "")
    assert "unknown card of edition 2018-07 'Crystalline Golem'" in err
    assert "unknown edition '2019'" in command("card", "Fireball", "--edition", "2019")[2]


def test_the_command_cards(command) -> None:
    assert "Edition 2018-07: " in command("cards")[1]
    told = json.loads(command("cards", "--edition", "newest", "--json")[1])
    assert told["cards"] == edition(NEWEST_EDITION).size
    code, out, _ = command("cards", "--class", "mage", "--not-covered", "secret")
    assert code == 0
    assert "Effigy" in out
    assert "0 of 3 are played exactly." in out
    told = json.loads(command("cards", "--set", "Basic", "--class", "mage", "--json")[1])
    assert {card["name"] for card in told} >= {"Fireball", "Flamestrike"}
    assert command("cards", "--class", "mago")[0] == 2


@pytest.mark.parametrize("name", ["effects.md", "decks.md", "commands.md"])
def test_look_ups_in_documents_are_what_the_commands_print(command, name: str) -> None:
    """Of `manaforge card` and `deck`; what follows `...` is left out there."""
    text = (DOCUMENT.parent / name).read_text(encoding="utf-8")
    looked_up = 0
    for shown in re.findall(r"^\$ manaforge ((?:card|deck) .*\n(?:[^$`].*\n)*)", text, re.MULTILINE):
        line, _, expected = shown.partition("\n")
        code, out, err = command(*shlex.split(line))
        told = out + err.replace("program: ", "manaforge: ")
        printed = "".join(f"{line.rstrip()}\n" for line in told.splitlines())
        assert code == (2 if err else 0)
        assert printed.endswith(expected.rpartition("...\n")[2]), printed
        assert "...\n" in expected or printed == expected
        looked_up += 1
    assert looked_up
