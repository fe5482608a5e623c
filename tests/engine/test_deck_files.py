"""Deck codes with real cards: their class and edition, what is refused, and that they read back."""

import base64
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hearthstone.deckstrings import parse_deckstring, write_deckstring
from hearthstone.enums import FormatType
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import HERO, Deck, DeckError, Outcome, deal, find_card, find_deck, parse_position, read_deck
from engine.cards import Card, catalogue
from engine.cards.real import NEWEST_EDITION, OLD_EDITION, class_of_hero, edition, hero_classes
from engine.codes import DECK_SIZE, ActionKind
from engine.deck_files import add_deck_options, deck_code_of, deck_from_code, write_deck
from engine.decks import (
    DeckOptions,
    build_card_table,
    coverage_sentence,
    deck_card_facts,
    deck_options,
    split_deck_prefix,
    write_deck_options,
)
from engine.effect_codes import CardKind
from engine.effects.chance import Chance
from engine.errors import ManaforgeError, UnknownNameError
from engine.formatting import format_card
from engine.streams import stream_key
from tests.conftest import cases

DECKS = Path(__file__).parents[2] / "engine" / "data" / "decks"
MAGE = read_deck(DECKS / "basic-mage.toml")
OLD = DeckOptions(OLD_EDITION)


def code(cards: list[Card], hero: int = 637) -> str:
    counts = Counter(card.dbf_id for card in cards)
    return str(write_deckstring(sorted(counts.items()), [hero], FormatType.FT_WILD))


def with_cards(*names: str, hero: int = 637, name: str = OLD_EDITION) -> str:
    """The code of the mage's deck with other cards, twice each, in place of its last."""
    new = [edition(name).for_deck(card) for card in names for _ in range(2)]
    return code([*MAGE.cards[: DECK_SIZE - len(new)], *new], hero)


def refused(text: str) -> str:
    with pytest.raises(DeckError) as caught:
        find_deck(text)
    assert caught.value.exit_code == 2
    return str(caught.value)


@pytest.mark.parametrize("path", sorted(DECKS.glob("basic-*.toml")), ids=lambda path: path.stem)
def test_a_class_deck_reads_back_from_its_code(path: Path) -> None:
    deck = read_deck(path)
    text = deck_code_of(deck)
    assert parse_deckstring(text)[1] == [hero_classes()[deck.hero_class].hero]
    again = find_deck(f"{OLD_EDITION}:{text}")
    assert Counter(again.cards) == Counter(deck.cards)
    assert (again.hero_class, again.edition, again.power) == (deck.hero_class, OLD_EDITION, deck.power)
    assert again.n_exact == DECK_SIZE
    assert deck_code_of(again) == text


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_legal_deck_of_exact_cards_reads_back(data: st.DataObject) -> None:
    chosen = edition(data.draw(st.sampled_from([OLD_EDITION, NEWEST_EDITION])))
    hero = data.draw(st.sampled_from(list(hero_classes())))
    legal = [card for card in chosen.exact() if card.card_class.lower() in (hero, "neutral")]
    legal = [card for card in {card.name: card for card in legal}.values() if card.rarity != "LEGENDARY"]
    legal = [card for card in legal if chosen.by_dbf_id[card.dbf_id] == card]
    cards = data.draw(st.lists(st.sampled_from(legal), min_size=15, max_size=15, unique=True))
    deck = Deck(
        "drawn", tuple(card for card in cards for _ in range(2)), hero_class=hero, edition=chosen.name
    )
    again = find_deck(f"{chosen.name}:{deck_code_of(deck)}")
    assert Counter(again.cards) == Counter(deck.cards)
    assert (again.hero_class, again.edition) == (hero, chosen.name)


def test_a_code_of_minions_alone_is_a_deck_of_bodies_as_before() -> None:
    deck = find_deck("hearthsim-basic")
    text = deck_code_of(deck)
    assert text == "AAEBAQcADylDWr8B2AHaBPsEggXIBZoH9AieCdkK2gqWDQAA"
    plain = find_deck(text)
    assert (plain.name, plain.hero_class, plain.edition, plain.power) == (text, "", "", None)
    assert plain.identity == [text, False, *(card.identity for card in plain.cards)]
    assert not any(card.real for card in plain.cards)
    assert find_deck(f"bodies:{text}").cards == plain.cards
    assert find_deck(f"2018-07:{text}").hero_class == "warrior"
    # minions of a class that is not played are bodies, too
    hunter = next(hero for hero, name in class_of_hero().items() if name == "demon hunter")
    assert deck_from_code(code(list(deck.cards), hunter)).hero_class == ""


def test_a_code_with_spells_is_a_deck_of_the_newest_edition() -> None:
    names = ("Fireball", "Frostbolt", "Arcane Intellect", "Polymorph", "Arcane Missiles")
    real = edition(NEWEST_EDITION)
    cards = [real.for_deck(name) for name in names if real.for_deck(name).exact]
    assert cards
    minions = [card for card in MAGE.cards if card.kind == CardKind.MINION]
    cards = ([*cards, *cards, *dict.fromkeys(minions), *minions] * 2)[:DECK_SIZE]
    newest = find_deck(f"any-deck:{code(cards)}")
    assert (newest.hero_class, newest.edition) == ("mage", NEWEST_EDITION)
    # Flamestrike deals 5 damage by now
    said = refused(deck_code_of(MAGE))
    assert said == (
        f"deck code {deck_code_of(MAGE)[:12]}...{deck_code_of(MAGE)[-8:]}, a mage of edition newest: not covered by "
        "edition newest: Flamestrike (spell); Flamestrike: playable with --edition 2018-07 or the deck prefix 2018-07:"
    )


def test_what_is_not_exact_is_listed_and_bodies_play_the_minions_among_it() -> None:
    text = with_cards("Servant of Yogg-Saron", "Effigy")
    assert (
        "not played exactly: Effigy (spell), Servant of Yogg-Saron (with --bodies or the deck prefix bodies:, minions "
        in refused(f"2018-07:{text}")
    )
    assert "not played exactly, and not a minion: Effigy (spell)" in refused(f"2018-07+bodies:{text}")
    deck = find_deck(f"2018-07+bodies:{with_cards('Servant of Yogg-Saron')}")
    assert deck.n_exact == DECK_SIZE - 2
    assert deck.edition == OLD_EDITION


def test_what_a_class_may_not_hold_is_refused_unless_any_deck_is_allowed() -> None:
    text = with_cards("Holy Light", "Ragnaros the Firelord")
    said = refused(f"2018-07:{text}")
    assert (
        "a mage does not play Holy Light (paladin) (allowed with --any-deck or the deck prefix any-deck:)"
        in said
    )
    assert (
        "2 copies of legendary Ragnaros the Firelord (at most 1) (allowed with --any-deck or the deck prefix any-deck:)"
        in said
    )
    assert find_deck(f"2018-07+any-deck:{text}").n_exact == DECK_SIZE
    many = code([*MAGE.cards[:10], *[edition().find("Fireball")] * 20])
    assert "20 copies of Fireball" in refused(f"2018-07:{many}") or "22 copies" in refused(f"2018-07:{many}")
    assert len(find_deck(f"2018-07+any-deck:{many}").cards) == DECK_SIZE
    assert "instead of 30" in refused(f"2018-07+any-deck:{code(list(MAGE.cards[:20]))}")


def test_cards_of_another_edition_are_named_with_the_way_out() -> None:
    said = refused(f"2018-07:{with_cards('Crystalline Golem', name=NEWEST_EDITION)}")
    assert (
        "not in edition 2018-07: Crystalline Golem; Crystalline Golem: playable with --edition newest --bodies "
        "or the deck prefix newest+bodies:" in said
    )
    lich = next(card for card in edition().others.values() if card.name == "Frost Lich Jaina")
    text = write_deckstring([(lich.dbf_id, 1), (99_999_999, 1)], [637], FormatType.FT_WILD)
    said = refused(f"2018-07:{text}")
    assert "not covered by edition 2018-07: Frost Lich Jaina (hero)" in said
    assert "no collectible card has number 99999999" in said


@pytest.mark.parametrize("name", ["demon hunter", "death knight"])
def test_other_classes_are_refused_by_name(name: str) -> None:
    hero = next(hero for hero, found in class_of_hero().items() if found == name)
    said = refused(code(list(MAGE.cards), hero))
    assert f"its hero is a {name}, a class that is not supported; the classes are druid, hunter, mage" in said
    assert "Minions of other classes can be played as bodies" in said


def test_a_hero_that_is_not_known_has_the_class_of_its_cards() -> None:
    assert find_deck(f"2018-07:{code(list(MAGE.cards), 99_999_999)}").hero_class == "mage"
    assert "the deck has cards of the classes mage, paladin" in refused(
        f"2018-07:{with_cards('Holy Light', hero=99_999_999)}"
    )
    neutral = list(find_deck("hearthsim-basic").cards)
    assert "the deck has no class cards" in refused(f"2018-07:{code(neutral, 99_999_999)}")


def test_skins_have_their_class() -> None:
    for name, found in hero_classes().items():
        assert class_of_hero()[found.hero] == name
    assert set(class_of_hero().values()) == {*hero_classes(), "demon hunter", "death knight"}


WORDED = [
    ("2018-07:AAEC", DeckOptions("2018-07"), "AAEC"),
    ("bodies:x.toml", DeckOptions(bodies=True), "x.toml"),
    ("newest+bodies+any-deck:AAEC", DeckOptions("newest", True, True), "AAEC"),
    ("thesis-paladin", DeckOptions(), "thesis-paladin"),
    ("C:/decks/mine.toml", DeckOptions(), "C:/decks/mine.toml"),
]


@pytest.mark.parametrize(("text", "reading", "deck"), WORDED)
def test_words_in_front_of_a_deck(text: str, reading: DeckOptions, deck: str) -> None:
    assert split_deck_prefix(text) == (reading, deck)
    assert f"{reading.text}{deck}" == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2019-04:AAEC", "unknown deck prefix '2019-04'; nearest: 2018-07"),
        ("2018-07+bodys:AAEC", "unknown deck prefix 'bodys'; nearest: bodies"),
        ("2018-07+newest:AAEC", "a deck prefix names at most one edition, got 2018-07"),
        ("2018-07:thesis-paladin", "shipped decks take only patches; write thesis-paladin"),
    ],
)
def test_wrong_words_are_refused(text: str, message: str) -> None:
    with pytest.raises(ManaforgeError, match=message):
        find_deck(text)


def test_options_are_written_in_front_of_the_decks_they_are_about(tmp_path: Path) -> None:
    plain, real = tmp_path / "plain.toml", str(DECKS / "basic-mage.toml")
    plain.write_text('schema = 1\nname = "plain"\n')
    text = deck_code_of(MAGE)
    names = ["thesis-paladin", text, str(plain), real, f"newest:{text}"]
    assert add_deck_options(names, DeckOptions()) == tuple(names)
    assert add_deck_options(names, deck_options("2018-07", bodies=True)) == (
        "thesis-paladin",
        f"2018-07+bodies:{text}",
        str(plain),
        f"2018-07+bodies:{real}",
        f"newest+bodies:{text}",
    )
    with pytest.raises(DeckError, match="--bodies --any-deck applies only to deck codes and deck files with"):
        add_deck_options(["thesis-paladin", str(plain)], deck_options("", bodies=True, any_deck=True))
    with pytest.raises(UnknownNameError, match="unknown edition '2019-04'"):
        deck_options("2019-04")


def test_a_file_is_read_as_is_said_in_front_of_it_and_its_copy_says_so(tmp_path: Path) -> None:
    text = (
        (DECKS / "basic-mage.toml")
        .read_text()
        .replace("CS2_032", "OG_087")
        .replace("Flamestrike", "Servant of Yogg-Saron")
    )
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(DeckError, match="not played exactly: Servant of Yogg-Saron"):
        find_deck(path)
    deck = find_deck(f"bodies:{path}")
    assert deck.n_exact == DECK_SIZE - 2
    path.write_text(deck.text)
    again = find_deck(path)
    assert (again.cards, again.text) == (deck.cards, deck.text)
    path.write_text(
        write_deck_options(deck.text.replace("bodies = true", "bodies = false"), DeckOptions(bodies=True))
    )
    assert find_deck(path).cards == deck.cards
    foreign = text.replace("OG_087", "CS2_089").replace("Servant of Yogg-Saron", "Holy Light")
    path.write_text(foreign)
    with pytest.raises(DeckError, match="a mage does not play Holy Light"):
        find_deck(path)
    assert find_deck(f"any-deck:{path}").n_exact == DECK_SIZE
    path.write_text('schema = 1\nname = "plain"\n[[cards]]\nid = "CS2_172"\ncount = 30\n')
    with pytest.raises(DeckError, match=r"at most 2"):
        find_deck(f"bodies:{path}")
    path.write_text('schema = 1\nname = "plain"\ncopies = 30\n[[cards]]\nid = "CS2_172"\ncount = 30\n')
    with pytest.raises(DeckError, match="names no class, so bodies does not apply to it"):
        find_deck(f"bodies:{path}")


CHANGED = """
schema = 1
name = "changed"
class = "mage"
edition = "2018-07"
size = 9
[[cards]]
name = "Fireball"
count = 2
cost = 2
[[cards]]
id = "CS2_182"
count = 2
attack = 6
keywords = ["taunt"]
[[cards]]
name = "Loot Hoarder"
count = 2
cost = 1
health = 5
[[cards]]
name = "Mana Wyrm"
count = 2
[[cards]]
name = "Archmage Antonidas"
cost = 3
"""


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    path = tmp_path / "changed.toml"
    path.write_text(CHANGED)
    return path


def test_changed_numbers_change_the_card_and_keep_its_text(changed: Path) -> None:
    deck = find_deck(changed)
    fireball, yeti, hoarder, wyrm, _ = (
        card for card, _ in sorted(Counter(deck.cards).items(), key=by_list(deck))
    )
    assert deck.n_exact == 9
    printed = edition(OLD_EDITION)
    assert fireball.effects == printed.find("Fireball").effects
    assert (fireball.spec.cost, yeti.spec.attack, yeti.spec.taunt, hoarder.spec.health) == (2, 6, True, 5)
    assert list(deck.changes().values()) == [
        "cost 2 instead of 4",
        "attack 6 instead of 4, Taunt instead of no keyword",
        "cost 1 instead of 2, health 5 instead of 1",
        "cost 3 instead of 7",
    ]
    assert wyrm not in deck.changes()
    assert "Loot Hoarder (cost 1 instead of 2, health 5 instead of 1)" in coverage_sentence([MAGE, deck])
    assert deck.identity != replace(deck, cards=tuple(map(printed.printed, deck.cards))).identity
    table = build_card_table([deck, MAGE])  # beside the printed card
    state = (
        f"turn 5 first | hero 30 mana 2 power [Fireblast*] hand [{format_card(fireball)}; Fireball*] board "
        f"[{format_card(hoarder)}] | hero 30 power [Fireblast*]"
    )
    position = parse_position(state, table)
    plays = [action for action in position.legal_actions() if action.kind == ActionKind.PLAY]
    assert {action.source for action in plays} == {0}, "two mana pay for the changed Fireball alone"
    position.play(
        next(action for action in plays if action.target == HERO and action.aimed),
        Chance.drawn(1, position.states),
    )
    assert position.state["sides"][1]["health"] == 24


def by_list(deck: Deck):
    return lambda entry: deck.cards.index(entry[0])


@pytest.mark.parametrize("seed", range(cases(4, 20)))
def test_games_of_changed_cards_round_trip(changed: Path, seed: int) -> None:
    pick = np.random.default_rng(seed)
    position = deal((find_deck(changed), MAGE), seed)
    chance = Chance.drawn(stream_key(seed), position.states)
    while position.outcome == Outcome.ONGOING:
        actions = position.legal_actions()
        position.play(actions[int(pick.integers(len(actions)))], chance)
        text = str(position)
        assert parse_position(text, position.table).state.tobytes() == position.state.tobytes()
        assert str(parse_position(text)) == text


def test_a_changed_card_enters_no_game_of_another_deck(changed: Path, tmp_path: Path) -> None:
    """Archmage Antonidas creates the printed Fireball, whatever the other decks of a table have."""
    other = tmp_path / "other.toml"
    other.write_text(
        'schema = 1\nname = "other"\nclass = "mage"\nedition = "2018-07"\nsize = 1\n'
        '[[cards]]\nname = "Archmage Antonidas"\n'
    )
    decks = find_deck(changed), find_deck(other), MAGE
    for order in (decks, decks[:2], decks[1::-1], decks[:1], (MAGE, *decks)):
        table = build_card_table(order)
        fireballs = [card.spec.cost for card in table.cards if card.name == "Fireball"]
        assert set(fireballs) == ({2, 4} if decks[0] in order else {4})
        for card in (decks[0].cards[-1], decks[1].cards[-1]):  # the Archmage as changed and as printed
            if card.key in table.number:
                created = table.cards[table.array[table.number[card.key]]["effects"][0]["amount"]]
                assert (created.name, created.spec.cost) == ("Fireball", 4)


def test_two_versions_of_a_card_are_written_so_that_they_read_back(changed: Path, tmp_path: Path) -> None:
    both = tmp_path / "both.toml"
    more = '[[cards]]\nname = "Fireball"\ncount = 2\n'
    both.write_text(changed.read_text().replace("size = 9", "size = 11\ncopies = 4") + more)
    deck, again = find_deck(both), tmp_path / "again.toml"
    write_deck(again, deck)
    assert Counter(find_deck(again).cards) == Counter(deck.cards)


def test_changed_cards_are_told_with_any_other_deck_and_play_their_text_among_bodies(changed: Path) -> None:
    deck, bodies = find_deck(changed), find_deck("thesis-paladin")
    told = "Fireball (cost 2 instead of 4), Loot Hoarder (cost 1 instead of 2, health 5 instead of 1)."
    for decks in ([deck], [deck, bodies]):
        assert told in coverage_sentence(decks)
    assert find_deck(f"bodies:{changed}").n_exact == 9
    assert deck_card_facts([deck, bodies])["changed_cards"]["changed"]["Fireball"] == "cost 2 instead of 4"
    assert "changed_cards" not in deck_card_facts([bodies])


@pytest.mark.parametrize(("entry", "message"), [
    ('name = "Fireball"\nattack = 3', "Fireball is a spell, so attack cannot be set; a spell has cost and value"),
    ('name = "Fireball"\nkeywords = []', "so keywords cannot be set"),
    ('name = "Fiery War Axe"\nkeywords = ["taunt"]', "a weapon has cost, attack, health and value"),
    ('id = "Fireball"', "id = 'Fireball' is a name; write name = 'Fireball' or id = 'CS2_029'"),
    ('name = "CS2_029"', "name = 'CS2_029' is an id; write name = 'Fireball' or id = 'CS2_029'"),
    ("count = 2", "needs the card's name or its id"),
    ('name = "Firebal"', "unknown card of edition 2018-07 'Firebal'"),
    ('name = "Chillwind Yeti"\nhealth = 0', "health must be from 1 to 999, got 0"),
])  # fmt: skip
def test_wrong_changes_are_refused_with_the_place(tmp_path: Path, entry: str, message: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(CHANGED + f"[[cards]]\n{entry}\n")
    with pytest.raises(DeckError) as caught:
        find_deck(path)
    assert message in str(caught.value)
    assert f"{path}: card 6" in str(caught.value)


@pytest.mark.parametrize("name", sorted({path.stem for path in DECKS.glob("*.toml")}))
def test_a_written_deck_file_reads_back(tmp_path: Path, name: str, changed: Path) -> None:
    for deck in (find_deck(name), find_deck(changed)):
        path = tmp_path / f"{name}-{deck.name}.toml"
        if deck.random:
            with pytest.raises(DeckError, match="draws random cards"):
                write_deck(path, deck)
            continue
        write_deck(path, deck, "written")
        again = find_deck(path)
        assert (again.name, Counter(again.cards)) == ("written", Counter(deck.cards))
        assert (again.hero_class, again.edition, again.size) == (deck.hero_class, deck.edition, deck.size)
        with pytest.raises(DeckError, match="exists; choose another file"):
            write_deck(path, deck)


def test_decks_that_need_an_option_are_written_with_it(tmp_path: Path) -> None:
    foreign = find_deck(f"2018-07+any-deck:{with_cards('Holy Light', 'Fireball')}")
    inexact = find_deck(f"2018-07+bodies:{with_cards('Servant of Yogg-Saron')}")
    for number, deck in enumerate((foreign, inexact)):
        path = tmp_path / f"{number}.toml"
        write_deck(path, deck)
        assert Counter(find_deck(path).cards) == Counter(deck.cards)
    for path, name in (
        (tmp_path / "a.txt", ""),
        (tmp_path / "none" / "a.toml", ""),
        (tmp_path / "b.toml", "a\nb"),
    ):
        with pytest.raises(DeckError):
            write_deck(path, foreign, name)


def test_a_deck_file_holds_cards_of_its_edition_alone(tmp_path: Path) -> None:
    """Flamestrike of 2018-07 is no card of the newest edition, where another one of its name deals more."""
    text = (DECKS / "basic-mage.toml").read_text()
    path = tmp_path / "mine.toml"
    path.write_text(text.replace('"2018-07"', '"newest"'))
    with pytest.raises(DeckError, match="Flamestrike is a spell that edition newest does not cover"):
        find_deck(path)
    path.write_text(text.replace("CS2_032", "CS2_013t").replace("Flamestrike", "Excess Mana"))
    with pytest.raises(DeckError, match="Excess Mana .CS2_013t. is not collectible in edition 2018-07"):
        find_deck(path)


def test_minions_of_the_newest_edition_alone_are_bodies_in_class_decks(tmp_path: Path) -> None:
    golem = find_card("Crystalline Golem")
    assert not edition(NEWEST_EDITION).for_deck("crystalline golem").exact
    minions = list(find_deck("hearthsim-basic").cards[:28])
    deck = find_deck(f"newest+bodies:{code([*minions, golem, golem])}")
    assert deck.n_exact == 28
    assert catalogue().by_dbf_id[golem.dbf_id] == golem


def test_every_changed_byte_of_a_class_deck_ends_in_a_deck_or_a_clear_error() -> None:
    data = base64.b64decode(deck_code_of(MAGE))
    refused_codes = 0
    for place in range(len(data)):
        for bit in range(8):
            changed = bytearray(data)
            changed[place] ^= 1 << bit
            for words in ("", "2018-07:", "newest+bodies+any-deck:"):
                try:
                    deck = find_deck(words + base64.b64encode(changed).decode())
                except ManaforgeError as error:
                    assert "deck code" in str(error)
                    assert "\n" not in str(error)
                    refused_codes += 1
                else:
                    assert len(deck.cards) == DECK_SIZE
    assert refused_codes > 300
