"""Deck files, deck codes and the decks that come with the package."""

import base64
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hearthstone.deckstrings import write_deckstring
from hearthstone.enums import FormatType

from engine import (
    Deck,
    DeckError,
    ManaforgeError,
    UnknownNameError,
    deal,
    find_card,
    find_deck,
    parse_position,
    read_deck,
    shipped_decks,
)
from engine.deck_files import deck_code_of, deck_from_code
from engine.decks import build_card_table, coverage_sentence
from evo.terminal.drawing import console, draw_deck

LINE = '[[cards]]\nid = "CS2_172"\ncount = 2\n'
BODIES = {
    # cost, attack, health and keywords of each deck, a benchmark that a new catalogue must not change
    "thesis-paladin": "1:1/1 1:1/1T 2:2/2T 2:2/3 2:3/2 3:3/1C 3:3/3T 4:3/2C 4:3/5T 4:4/5 5:5/4T 5:6/2C 6:6/7 7:5/7T 8:8/8T",
    "thesis-warrior": "1:1/2R 1:1/3R 2:1/3R 2:1/4 2:3/2 3:2/4 3:3/3R 4:2/5R 4:3/5T 4:4/3C 5:3/7T 5:4/5R 6:6/7 7:7/7 8:4/9C",
    "hearthsim-basic": "1:1/2T 1:2/1 2:2/2T 2:2/3 2:3/2 3:1/4T 3:3/1D 3:3/3T 4:2/7 4:3/5T 4:4/5 5:3/6T 5:5/4T 6:6/7 7:7/7",
    "hearthsim-rager": "1:1/2T 1:2/1 2:2/2T 2:2/3 2:3/2 3:1/4T 3:3/3T 3:5/1 4:2/7 4:3/5T 4:4/5 5:3/6T 5:5/4T 6:6/7 7:7/7",
}


def deck_file(tmp_path: Path, body: str, head: str = 'schema = 1\nname = "mine"\n') -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(head + body)
    return path


def lines(*ids: str, count: int = 2) -> str:
    return "".join(f'[[cards]]\nid = "{card_id}"\ncount = {count}\n' for card_id in ids)


def fifteen() -> list[str]:
    return [card.id for card in dict.fromkeys(find_deck("hearthsim-basic").cards)]


@pytest.mark.parametrize("name", shipped_decks())
def test_shipped_decks(name: str) -> None:
    deck = find_deck(name)
    assert deck.name == name
    assert deck.description
    if deck.random:
        bodies = {(c.spec.attack, c.spec.health, c.spec.cost) for c in deck.cards}
        attack, health = (5, 4) if name.endswith("5x4") else (4, 3)
        spans = range(1, attack + 1), range(1, health + 1)
        assert bodies == {(a, h, (a + h) // 2) for a in spans[0] for h in spans[1]}
        return
    if deck.hero_class:
        assert deck.n_exact == 30
        assert name.endswith(f"-{deck.hero_class}")
        assert deck.edition == "2018-07"
        if not name.startswith("basic-"):
            return
        assert {card.card_set for card in deck.cards} == {"BASIC"}
        assert {card.card_class for card in deck.cards} == {"NEUTRAL", deck.hero_class.upper()}
        return
    from engine.formatting import format_card

    counts = Counter(format_card(card).rsplit(" ", 1)[1] for card in deck.cards)
    assert sorted(counts) == sorted(BODIES[name].split())
    assert set(counts.values()) == {2}
    if name.startswith("thesis"):
        assert all(
            not getattr(card.spec, keyword)
            for card in deck.cards
            for keyword in ("windfury", "divine_shield", "lifesteal", "poisonous", "stealth")
        )


def test_the_thesis_decks_hold_the_minions_their_source_prints() -> None:
    paladin = {card.name: card.spec for card in find_deck("thesis-paladin").cards}
    assert paladin["Righteous Protector"].taunt
    assert not paladin["Righteous Protector"].divine_shield
    assert paladin["Argent Squire"].keywords == 0
    assert paladin["Chillblade Champion"].charge
    assert paladin["Leeroy Jenkins"].charge
    assert paladin["Tirion Fordring"].taunt
    warrior = {card.name: card.spec for card in find_deck("thesis-warrior").cards}
    assert warrior["Warbot"].rush
    assert (warrior["Warbot"].attack, warrior["Warbot"].health) == (1, 3)
    assert warrior["Town Crier"].rush
    assert warrior["Armorsmith"].keywords == 0


def test_a_deck_file_reads_back(tmp_path: Path) -> None:
    path = deck_file(tmp_path, lines(*fifteen()))
    assert Counter(read_deck(path).cards) == Counter(find_deck("hearthsim-basic").cards)
    assert find_deck(str(path)).name == "mine"


def test_a_deck_file_overrides_keywords_numbers_and_value(tmp_path: Path) -> None:
    body = lines(*fifteen()[:14]) + '[[cards]]\nid = "EX1_008"\ncount = 2\n'
    body += 'keywords = ["Rush", "Windfury"]\nvalue = 2.5\nattack = 3\n'
    card = read_deck(deck_file(tmp_path, body)).cards[-1]
    assert (card.spec.attack, card.spec.health, card.spec.worth) == (3, 1, 2.5)
    assert card.spec.rush
    assert card.spec.windfury
    assert not card.spec.divine_shield
    assert not card.exact


def test_copies_are_limited_unless_the_file_says_otherwise(tmp_path: Path) -> None:
    raptors = lines("CS2_172", count=30)
    with pytest.raises(DeckError, match=r"mine.toml: 30 copies of Bloodfen Raptor \(at most 2\)"):
        read_deck(deck_file(tmp_path, raptors))
    assert len(read_deck(deck_file(tmp_path, raptors, 'schema = 1\nname = "r"\ncopies = 30\n')).cards) == 30
    legends = lines(*fifteen()[:14], "EX1_116")
    with pytest.raises(DeckError, match=r"2 copies of legendary Leeroy Jenkins \(at most 1\)"):
        read_deck(deck_file(tmp_path, legends))
    # Reprints are one card.
    with pytest.raises(DeckError, match="3 copies of Argent Squire"):
        read_deck(
            deck_file(
                tmp_path, lines(*fifteen()[:14]) + lines("EX1_008", "CORE_EX1_008", "VAN_EX1_008", count=1)
            )
        )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lines(*["CS2_172"], count=2), "2 cards instead of 30"),
        (lines("CS2_17x"), r"mine.toml: card 1 .CS2_17x.: unknown card 'CS2_17x'; nearest: .*CS2_17"),
        (lines("War Golem"), r"card 1 .War Golem.: id = 'War Golem' is a name; write name = 'War Golem' or id = 'CS2_186'"),
        ('[[cards]]\nid = "CS2_172"\nname = "War Golem"\n', r"card 1 .War Golem.: id 'CS2_172' is 'Bloodfen Raptor', not 'War Golem'"),
        (LINE + 'keyword = ["taunt"]\n', r"card 1.*: unknown key 'keyword'; the keys are id, name, count, cost, .*keywords"),
        (LINE + 'keywords = ["tount"]\n', r"card 1 .*: unknown keyword 'tount'; nearest: taunt"),
        ('[[cards]]\nid = "CS2_172"\ncount = 0\n', r"card 1 .CS2_172.: count must be at least 1, got 0"),
        ('[[cards]]\nid = "CS2_172"\ncount = "2"\n', r"card 1 .CS2_172.: count must be a whole number, got '2'"),
        (LINE + "value = nan\n", r"card 1.*: value must be a finite number"),
        (LINE + "value = -1.0\n", r"card 1.*: value must be at least 0, got -1.0"),
        (LINE + "health = 0\n", r"card 1.*: health must be from 1 to 999"),
        ("[random]\nattack = [1, 4]\n", r"\[random\]: health is missing"),
        ("[random]\nattack = [1, 9]\nhealth = [1, 9]\n", r"attack and health must have 1 to 30 combinations, got 81"),
        ("[random]\nattack = [4, 1]\nhealth = [1, 2]\n", "got 0"),
        ("[random]\nattack = [1, 1]\nhealth = [0, 2]\n", "health must begin at 1 or more, got 0"),
        ('[[cards]]\nid = "CS2_029"\n', r"card 1.*: Fireball is a spell; a deck without a class takes only minions"),
        ("", r"either \[\[cards\]\] or a \[random\]"),
        ("colour = 3\n", "unknown key 'colour'"),
        ("cards = [", "mine.toml is not a TOML file"),
    ],
)  # fmt: skip
def test_bad_deck_files_are_refused_with_what_and_where(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(DeckError, match=message):
        read_deck(deck_file(tmp_path, body))


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DeckError, match="schema must be 1, got 2"):
        read_deck(deck_file(tmp_path, "", 'schema = 2\nname = "x"\n'))


def test_missing_and_unreadable_files_and_names(tmp_path: Path) -> None:
    with pytest.raises(DeckError, match=r"cannot read deck file .*none.toml: No such file"):
        find_deck(str(tmp_path / "none.toml"))
    with pytest.raises(UnknownNameError, match="neither a path ending in .toml nor a deck code"):
        find_deck("AAEBAQcADylD")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DeckError, match="not UTF-8"):
        find_deck(str(tmp_path / "binary.toml"))
    with pytest.raises(UnknownNameError, match="unknown deck 'thesis-paladn'; nearest: thesis-paladin"):
        find_deck("thesis-paladn")
    with pytest.raises(UnknownNameError, match="nearest"):
        find_deck("thesispaladinwarrior")


@pytest.mark.parametrize(
    ("n", "random"), [(0, False), (1, False), (29, False), (31, False), (0, True), (31, True)]
)
def test_a_deck_of_another_size_cannot_be_made(n: int, random: bool) -> None:
    with pytest.raises(DeckError, match=f"got {n}"):
        Deck("odd", (find_card("War Golem"),) * n, random)


def test_reprints_that_play_alike_share_a_number(tmp_path: Path) -> None:
    """Two printings of Argent Squire have one text, so one number, or positions would not read back."""
    body = lines(*fifteen()[:14]) + lines("EX1_008", "CORE_EX1_008", count=1)
    deck = read_deck(deck_file(tmp_path, body))
    assert len(build_card_table([deck]).cards) == 15
    position = deal((deck, deck), 1)
    assert parse_position(str(position), position.table).state.tobytes() == position.state.tobytes()


def test_files_beyond_pythons_limits_and_markup_in_names(tmp_path: Path, capsys) -> None:
    for body in ("x = " + "[" * 100_000, "x = " + "9" * 5_000):
        with pytest.raises(DeckError, match="not a TOML file"):
            read_deck(deck_file(tmp_path, body))
    console().print(
        draw_deck(read_deck(deck_file(tmp_path, lines(*fifteen()), 'schema = 1\nname = "[/x]"\n')))
    )
    assert "[/x]" in capsys.readouterr().out
    assert find_deck(deck_file(tmp_path, lines(*fifteen()))).name == "mine"


def test_a_name_is_one_line_and_so_is_a_description(tmp_path: Path) -> None:
    for name in (r"a\nrandom beats all", r"a\u009b2J", r"\t"):
        with pytest.raises(DeckError, match="name must be one line"):
            read_deck(deck_file(tmp_path, lines(*fifteen()), f'schema = 1\nname = "{name}"\n'))
    head = 'schema = 1\nname = "mine"\ndescription = """one\n  two"""\n'
    assert read_deck(deck_file(tmp_path, lines(*fifteen()), head)).description == "one two"


# Deck codes


def code(cards: list[tuple[int, int]], **kwargs: object) -> str:
    return write_deckstring(cards, [7], FormatType.FT_WILD, **kwargs)


def test_deck_codes_round_trip() -> None:
    deck = find_deck("hearthsim-basic")
    text = deck_code_of(deck)
    assert Counter(c.id for c in find_deck(text).cards) == Counter(c.id for c in deck.cards)
    # Without padding, and in the older form that ends before the sideboard byte.
    assert len(deck_from_code(text.rstrip("=")).cards) == 30
    old = base64.b64encode(base64.b64decode(text)[:-1]).decode()
    assert len(deck_from_code(old).cards) == 30


def test_a_deck_without_catalogue_cards_has_no_code() -> None:
    with pytest.raises(DeckError, match="'random-minions' has no deck code"):
        deck_code_of(find_deck("random-minions"))


def test_the_block_of_lines_that_the_game_copies() -> None:
    text = deck_code_of(find_deck("hearthsim-basic"))
    block = (
        f"### Basic beats\n# Class: Warrior\n#\n# 2x (1) Goldshire Footman\n#\n{text}\n#\n# To use this deck"
    )
    assert find_deck(block).name == "Basic beats"
    with pytest.raises(DeckError, match="this text has 2 such lines"):
        deck_from_code(block + "\n" + text)


def test_wrong_codes_say_what_is_wrong() -> None:
    raptor = find_card("CS2_172").dbf_id
    with pytest.raises(DeckError, match="no collectible card has number 99999999"):
        deck_from_code(code([(raptor, 2), (99999999, 1)]))
    with pytest.raises(DeckError, match="2 cards instead of 30"):
        deck_from_code(code([(raptor, 2)]))
    with pytest.raises(DeckError, match="30 copies of Bloodfen Raptor"):
        deck_from_code(code([(raptor, 30)]))
    with pytest.raises(DeckError, match="it has 100000000 copies"):
        deck_from_code(code([(raptor, 100_000_000)]))
    with pytest.raises(DeckError, match="cut or corrupted"):
        find_deck("### title\nAAEBAQcAé")
    with pytest.raises(DeckError, match="sideboard"):
        deck_from_code(code([(raptor, 2)], sideboards=[(raptor, 1, raptor)]))
    with pytest.raises(DeckError, match="corrupted: Unsupported deckstring version"):
        deck_from_code(base64.b64encode(b"\0\x09" + bytes(20)).decode())
    with pytest.raises(DeckError, match="lists a card twice"):
        deck_from_code(code([(raptor, 1), (raptor, 2)]))
    junk = base64.b64decode(deck_code_of(find_deck("hearthsim-basic"))) + b"junk"
    with pytest.raises(DeckError, match="lists a card twice"):
        deck_from_code(base64.b64encode(junk).decode())


def test_every_cut_of_a_code_is_refused() -> None:
    """Except for the last byte, whose absence is the older form of the same deck."""
    data = base64.b64decode(deck_code_of(find_deck("hearthsim-basic")))
    for length in range(len(data) - 1):
        with pytest.raises(DeckError):
            deck_from_code(base64.b64encode(data[:length]).decode() or "AAAA")


def test_every_changed_byte_ends_in_a_deck_or_a_clear_error() -> None:
    data = base64.b64decode(deck_code_of(find_deck("hearthsim-basic")))
    refused = 0
    for place in range(len(data)):
        for bit in range(8):
            changed = bytearray(data)
            changed[place] ^= 1 << bit
            try:
                deck = deck_from_code(base64.b64encode(changed).decode())
            except ManaforgeError as error:
                assert "deck code" in str(error)
                refused += 1
            else:
                assert len(deck.cards) == 30
    assert refused > 100


def test_coverage_tells_a_pool_from_a_deck() -> None:
    said = coverage_sentence([find_deck("random-minions"), find_deck("thesis-warrior")])
    assert said == (
        "Cards played exactly: random-minions 12 of a pool of 12, thesis-warrior 12 of 30; the others are "
        "bodies with the keywords their deck gives them."
    )


def test_a_deck_file_may_say_how_many_cards_it_has(tmp_path: Path) -> None:
    lines = '[[cards]]\nid = "CS2_172"\ncount = 2\n[[cards]]\nid = "CS2_121"\ncount = 2\n'
    file = tmp_path / "small.toml"
    file.write_text(f'schema = 1\nname = "small"\nsize = 4\n{lines}')
    deck = find_deck(str(file))
    assert (deck.size, len(deck.cards)) == (4, 4)
    position = deal((deck, deck), 3, ruleset="tiny")
    assert [int(side["n_deck"] + side["n_hand"]) for side in position.state["sides"]] == [4, 4]
    assert [int(side["health"]) for side in position.state["sides"]] == [3, 3]
    for said, told in (
        ("", "4 cards instead of 30"),
        ("size = 5", "4 cards instead of 5"),
        ("size = 0", "size"),
    ):
        file.write_text(f'schema = 1\nname = "small"\n{said}\n{lines}')
        with pytest.raises(DeckError, match=told):
            find_deck(str(file))


def test_the_size_of_a_random_deck_is_part_of_it() -> None:
    whole = find_deck("random-minions")
    small = replace(whole, size=7)
    assert deal((small, small), 3, ruleset="hearthsim").state["sides"]["n_deck"].tolist() == [3, 3]
    assert small.identity != whole.identity
    with pytest.raises(DeckError, match="from 1 to 30"):
        replace(whole, size=31)
