"""Effect rows and the edition's tables: they read back, name exact cards only, and cover what was set out."""

import csv
import re
from collections import Counter
from functools import lru_cache
from importlib import resources
from pathlib import Path

import pytest

from engine.codes import KEYWORD_FIELDS
from engine.effect_codes import Condition, Count, Filter, Need, Op, Pick, Race, Trait
from engine.effects.describe import describe_row
from engine.effects.rows import (
    EFFECT_COLUMNS,
    EVENT_CARD_WORD,
    OWN_CARD_WORD,
    Effect,
    effect_rows,
    read_rows,
    referenced_card_ids,
    row_to_csv,
)
from engine.errors import CardError, UnknownNameError
from tests.engine.play_requirements import disagreements, required
from tools import effect_drafts as drafts
from tools.card_tables import (
    BASIC_POWERS,
    EDITION_COLUMNS,
    LIKE_COLUMNS,
    build_edition,
    has_only_known_text,
    normalised,
    printed_traits,
)
from tools.effect_drafts import Text, draft

PACKAGE = Path(__file__).resolve().parents[2] / "build" / "editions" / "25252.1"
DATA = resources.files("engine") / "data"

PRINTED_TRAITS = Trait.CANT_ATTACK | Trait.ELUSIVE | Trait.FREEZES | Trait.SPARES_HEROES | Trait.CLEAVES
"""Traits that cards have; the others come in play."""

BRINGS = (
    Op.SUMMON,
    Op.CONTROL,
    Op.RESURRECT,
    Op.RECRUIT,
    Op.SUMMON_FROM_HAND,
    Op.COPY,
    Op.JADE,
    Op.SUMMON_COPY_FROM_DECK,
)
"""What brings a minion onto the own board."""

EVA_DECKS = {
    "pirate": "1 LOE_076|2 CS2_106|2 CS2_105|2 OG_312|2 EX1_409|2 OG_315|2 EX1_604|2 NEW1_011|2 CS2_112|1 CFM_637|"
    "2 CFM_325|2 CS2_146|2 NEW1_018|2 NEW1_027|2 NEW1_022|2 CFM_651",
    "shaman": "2 LOE_018|2 AT_052|2 OG_028|2 KAR_063|2 KAR_073|1 EX1_259|1 EX1_238|2 CFM_707|2 CFM_717|2 EX1_246|"
    "2 EX1_565|1 NEW1_010|1 CFM_637|2 CFM_325|1 EX1_012|1 KAR_114|2 EX1_284|1 CFM_902|1 EX1_298",
    "mage": "1 OG_086|1 AT_004|1 KAR_009|1 CS2_024|1 CS2_023|1 LOE_002|1 EX1_289|1 EX1_295|1 CFM_660|1 CFM_065|"
    "1 CS2_029|1 CS2_022|1 CS2_033|1 OG_090|1 CS2_028|1 KAR_076|1 CS2_032|1 EX1_066|1 EX1_012|1 CFM_790|1 NEW1_021|"
    "1 LOE_077|1 CFM_649|1 EX1_085|1 CFM_621|1 AT_111|1 EX1_284|1 LOE_011|1 EX1_016|1 EX1_561",
}
"""EVA's three decks: how many of each card."""


def table(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@lru_cache(maxsize=1)
def edition() -> dict[str, dict[str, str]]:
    return {row["id"]: row for row in table("editions/2018-07.csv")}


@lru_cache(maxsize=1)
def exact() -> set[str]:
    """Cards that say nothing beyond the table's columns, and cards with rows."""
    return {name for name, row in edition().items() if row["plain"] == "true"} | set(effect_rows())


ROWS = [(name, place) for name, rows in effect_rows().items() for place in range(len(rows))]


def test_every_row_reads_back_as_it_was_written() -> None:
    written = [
        row_to_csv(name, edition()[name]["name"], effect)
        for name, rows in effect_rows().items()
        for effect in rows
    ]
    assert written == table("effects.csv")


def test_cards_are_sorted_and_named_as_the_edition_names_them() -> None:
    ids = list(effect_rows())
    assert ids == sorted(ids)
    assert all(row["name"] == edition()[row["id"]]["name"] for row in table("effects.csv"))


def test_counts_of_exact_cards() -> None:
    collectible = [name for name in exact() if edition()[name]["collectible"] == "true"]
    assert len(collectible) >= 500
    assert sum(row["like"] in exact() for row in table("editions/vanilla.csv")) >= 205
    for deck, least in {"pirate": 12, "shaman": 9, "mage": 13}.items():
        cards = [line.split() for line in EVA_DECKS[deck].split("|")]
        assert sum(int(n) for n, _ in cards) == 30
        assert sum(int(n) for n, name in cards if name in exact()) >= least, deck
    assert set(BASIC_POWERS) <= exact()


def test_the_edition_is_whole() -> None:
    rows = edition().values()
    playable = [row for row in rows if row["collectible"] == "true" and row["type"] != "HERO"]
    assert len(playable) == 1_584
    assert Counter(row["type"] for row in playable)["WEAPON"] > 30
    basic = [row for row in rows if row["type"] == "HERO" and row["set"] == "BASIC"]
    assert sorted(row["power"] for row in basic) == sorted(BASIC_POWERS)
    for row in rows:
        assert set(row["keywords"].split()) <= set(KEYWORD_FIELDS)
        assert not any(Trait[word.upper()] & ~PRINTED_TRAITS for word in row["traits"].split())
        assert all(Need[word.upper()] for word in row["needs"].split())
        assert row["race"] == "" or Race[row["race"].upper()]


def test_every_created_card_is_exact_and_of_the_right_type() -> None:
    fits = {
        Op.SUMMON: ("MINION",),
        Op.TRANSFORM: ("MINION",),
        Op.DECOY: ("MINION",),
        Op.EQUIP: ("WEAPON",),
        Op.POWER: ("HERO_POWER",),
        Op.CHOOSE_POWER: ("HERO_POWER",),
    }
    for name, rows in effect_rows().items():
        for effect in rows:
            for card in set(effect.cards) - {OWN_CARD_WORD, EVENT_CARD_WORD}:
                if effect.op == Op.CREATE_POTION:  # its potions are brewed when a table is made
                    continue
                assert card in exact(), (name, card)
                assert edition()[card]["type"] in fits.get(effect.op, ("MINION", "SPELL", "WEAPON")), (
                    name,
                    card,
                )
            if effect.op == Op.GRANT_EFFECTS:
                assert any(row.trigger != effect.trigger for row in effect_rows()[effect.cards[0]]), name


def test_pools_share_no_card_so_that_each_can_be_numbered_in_a_row() -> None:
    pools = {effect.cards for rows in effect_rows().values() for effect in rows if len(effect.cards) > 1}
    cards = [card for pool in pools for card in pool]
    assert len(cards) == len(set(cards))


def test_no_card_with_rows_is_plain() -> None:
    assert not [name for name in effect_rows() if edition()[name]["plain"] == "true"]


def test_needs_fit_rows() -> None:
    """What a card needs is about something that its rows do."""
    for name, rows in effect_rows().items():
        for need in edition()[name]["needs"].split():
            fits = {
                "room": any(row.op in BRINGS for row in rows),
                "weapon": any(row.op in (Op.WEAPON, Op.DISARM) for row in rows),
                "enemy_minion": any(
                    (row.pick == Pick.RANDOM and row.times == 1) or row.count == Count.ENEMY_MINIONS
                    for row in rows
                ),
                "two_enemy_minions": any(row.pick == Pick.RANDOM and row.times == 2 for row in rows),
                "new_minion": bool(rows[0].filter & Filter.NOT_ON_BOARD),
                "two_minions": any(row.pick == Pick.RANDOM and row.times == -1 for row in rows),
                "dead": rows[0].op == Op.RESURRECT,
                "secret_room": any(row.op == Op.PLAY_SECRETS_FROM_DECK for row in rows),
            }
            assert fits[need], (name, need)
        assert all(not row.filter & Filter.NOT_ON_BOARD for row in rows[1:])


def test_targets_follow_from_play_requirements() -> None:
    assert required([(11, 0), (1, 0), (3, 0), (41, 7)]) == (2, 1, Filter.ATTACK_AT_LEAST, 7, 0)
    assert required([(22, 0), (10, 20), (2, 0)]) == (1, 1, Filter.RACE, Race.BEAST, 0)
    assert required([(11, 0)]) == (3, 3, 0, 0, 0)
    assert required([(24, 0), (1, 0), (2, 0)]) == (1, 1, 0, 0, Condition.COMBO)
    assert required([(12, 1)]) is None


@pytest.mark.skipif(not PACKAGE.is_dir(), reason="needs the edition's package: make cards")
def test_targets_agree_with_the_cards() -> None:
    assert disagreements(PACKAGE / "hearthstone_data" / "CardDefs.xml", effect_rows()) == []


@pytest.mark.heavy
@pytest.mark.skipif(not PACKAGE.is_dir(), reason="needs the edition's package: make cards")
def test_the_generator_writes_the_editions_that_are_committed(tmp_path: Path) -> None:
    build_edition(tmp_path, PACKAGE, referenced_card_ids())
    for name in ("2018-07.csv", "same.csv", "vanilla.csv", "kinds.csv", "heroes.csv", "SOURCE.md"):
        assert (tmp_path / name).read_text() == (DATA / "editions" / name).read_text(), name


def test_a_missing_package_says_what_to_do(tmp_path: Path) -> None:
    pytest.importorskip("hearthstone")
    with pytest.raises(FileNotFoundError, match="make cards"):
        build_edition(tmp_path, tmp_path, ())


def test_cards_like_those_of_the_edition_are_there() -> None:
    assert tuple(table("editions/2018-07.csv")[0]) == EDITION_COLUMNS
    for name in ("same", "vanilla"):
        rows = table(f"editions/{name}.csv")
        assert tuple(rows[0]) == LIKE_COLUMNS
        assert len({row["id"] for row in rows}) == len(rows)
        assert all(row["like"] in edition() for row in rows)
        assert all(row["race"] == "" or Race[row["race"].upper()] for row in rows)


def name_of(card: str) -> str:
    row = edition()[card]
    return f"{row['name']} {row['attack']}/{row['health']}" if row["type"] == "MINION" else row["name"]


def test_every_row_has_words_that_no_other_row_has() -> None:
    said: dict[str, Effect] = {}
    for name, place in ROWS:
        effect = effect_rows()[name][place]
        words = describe_row(effect, lambda card: card)
        assert said.setdefault(words, effect) == effect, words
        assert " ".join(words.split()) == words
        assert "{" not in words
        told = effect.cards[:1] if effect.op == Op.JADE else effect.cards
        assert all(
            card in words
            for card in told
            if card not in (OWN_CARD_WORD, EVENT_CARD_WORD) and "_CFM" not in card
        )


@pytest.mark.parametrize(
    ("card", "words"),
    [
        ("CS2_032", "deals 4 damage to all enemy minions"),
        ("EX1_556", "Deathrattle: summons a Damaged Golem 2/1"),
        ("EX1_005", "destroys the chosen minion with 7 or more attack"),
        ("EX1_016", "Deathrattle: takes control of a random enemy minion"),
        ("EX1_082", "deals 3 damage, 1 at a time, each to a random other character"),
        ("EX1_116", "summons two times a Whelp 1/1 for your opponent"),
        ("EX1_259", "deals 2 to 3 damage to all enemy minions"),
        ("EX1_298", "At the end of your turn: deals 8 damage to a random enemy character"),
        ("EX1_407", "destroys all minions but one at random"),
        ("EX1_561", "sets the chosen hero to health 15"),
        ("CS2_045", "gives the chosen friendly character +3 Attack this turn"),
    ],
)
def test_rows_in_words(card: str, words: str) -> None:
    assert describe_row(effect_rows()[card][0], name_of) == words


HEADER = ",".join(EFFECT_COLUMNS)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("X,Y,,damage,all,own,minions,,,,1,,,,,,,,", "column id"),
        ("A,Y,,damge,all,own,minions,,,,1,,,,,,,,", "line 2, column op.*nearest: damage"),
        ("A,Y,,,all,own,minions,,,,1,,,,,,,,", "column op: must name"),
        ("A,Y,,damage,all,own,minion,,,,1,,,,,,,,", "column kind.*minions"),
        ("A,Y,,damage,all,own,,,,,1,,,,,,,,", "column kind: must be set"),
        ("A,Y,,damage,all,,minions,,,,1,,,,,,,,", "column side: must be set"),
        ("A,Y,,draw,,own,minions,,,,1,,,,,,,,", "column kind"),
        (
            "A,Y,,damage,all,own,minions,,,,40000,,,,,,,,",
            "column amount: must be from -32768 to 32767, got '40000'",
        ),
        ("A,Y,,damage,all,own,minions,,,,two,,,,,,,,", "column amount: must be an integer"),
        ("A,Y,,summon,,,,,,,,,,,,B,,,", "column card"),
        ("A,Y,,summon,,,,,,,,,,,,,,,", "column card: must be set"),
        ("A,Y,,draw,,,,,,,1,,,,,A,,,", "column card: must be set"),
        ("A,Y,,summon,,,,,,,1,,,,,A,,,", "column amount: must be empty"),
        ("A,Y,,destroy,all,own,minions,race,beest,,,,,,,,,,", "column arg.*beast"),
        (
            "A,Y,,heal,split,own,minions heroes,,,,12,,,,,,,,",
            "column pick: split works only with op damage, not heal",
        ),
        ("A,Y,,draw", "must have 19 columns"),
    ],
)
def test_wrong_rows_are_refused_with_line_and_value(line: str, message: str) -> None:
    with pytest.raises((CardError, UnknownNameError), match=message):
        read_rows([HEADER, line], {"A"})


def test_too_many_rows_and_other_columns_are_refused() -> None:
    with pytest.raises(CardError, match="more than 6 effect rows"):
        read_rows([HEADER, *["A,Y,,draw,,,,,,,1,,,,,,,,"] * 7], {"A"})
    with pytest.raises(CardError, match="columns must be id,name"):
        read_rows(["id,op", "A,draw"], {"A"})


@pytest.mark.parametrize(
    ("text", "keywords", "traits", "plain"),
    [
        ("<b>Taunt</b> <b>Overload:</b> (3)", ["taunt"], [], True),
        ("<b>Stealth</b>\n<b>Spell Damage +1</b>", ["stealth"], [], True),
        ("Can't attack.", [], ["cant_attack"], True),
        ("Can't attack. At the end of your turn, deal 8 damage.", [], ["cant_attack"], False),
        ("[x]Can't be targeted by spells\nor Hero Powers.", [], ["elusive"], True),
        ("Your hero can't be targeted by spells or Hero Powers.", [], [], False),
        ("<b>Spell Damage +1</b>\n<b>Deathrattle:</b> Draw a card.", [], [], False),
    ],
)
def test_plain_means_the_columns_say_all(
    text: str, keywords: list[str], traits: list[str], plain: bool
) -> None:
    assert printed_traits(text) == traits
    assert has_only_known_text(text, keywords, traits, is_all_races=False) == plain


def test_texts_are_compared_without_markup_and_marks() -> None:
    assert normalised("[x]Deal\n$6\xa0damage to <b>Mur_locs</b>.") == "Deal 6 damage to Mur locs."
    assert has_only_known_text("This is an Elemental, Mech and Totem.", [], [], is_all_races=True)


def created(numbers: str, name: str) -> str | None:
    return "skele21" if (numbers, name) == ("2/1", "Damaged Golem") else None


@pytest.mark.parametrize(
    ("text", "card"),
    [
        ("Deal $4 damage to all enemy minions.", "CS2_032"),
        ("<b>Deathrattle:</b> Summon a 2/1 Damaged Golem.", "EX1_556"),
        ("<b>Battlecry:</b> Destroy a minion with 7 or more Attack.", "EX1_005"),
        ("Deal $4 damage to an enemy and $1 damage to all other enemies.", "CS2_012"),
        ("Deal $3 damage to a character and <b>Freeze</b> it.", "CS2_024"),
        ("Give a minion <b>Taunt</b> and +2/+2.<i>\n(+2 Attack/+2 Health)</i>", "CS2_009"),
        ("[x]Deal $2-$3 damage to\nall enemy minions.\n<b><b>Overload</b>:</b> (2)", "EX1_259"),
        (
            "<b>Stealth</b>\nAt the end of your turn, give another random friendly minion +1 Health.",
            "CS2_059",
        ),
        ("<b>Hero Power</b>\nDraw a card and take $2 damage.", "CS2_056"),
    ],
)
def test_texts_are_drafted_as_their_rows_are(text: str, card: str) -> None:
    assert draft(Text(text, created)) == effect_rows()[card]


@pytest.mark.parametrize(
    "text",
    [
        "Summon a 3/3 Wolf.",
        "Deal 2 damage. If it survives, draw a card.",
        "Your other minions have +1 Attack.",
    ],
)
def test_what_fits_no_template_is_not_drafted(text: str) -> None:
    assert draft(Text(text, created)) is None


def test_the_drafting_tool_says_where_its_data_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(drafts, "PACKAGE", tmp_path)
    assert drafts.main([]) == 1
    assert "make cards" in capsys.readouterr().err


@pytest.mark.skipif(not PACKAGE.is_dir(), reason="needs the edition's package: make cards")
def test_the_drafting_tool_prints_rows_and_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(drafts, "PACKAGE", PACKAGE)
    assert drafts.main(["CS2_032", "EX1_407"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == [HEADER, "CS2_032,Flamestrike,,damage,all,enemy,minions,,,,4,,,,,,,,"]
    assert "1 of 2 cards drafted; 1 of them have reviewed rows, 1 drafts equal these" in said.err
    assert drafts.main(["nonsense"]) == 1
    assert drafts.main([]) == 0
    counts = [int(number) for number in re.findall(r"\d+", capsys.readouterr().err.splitlines()[-1])]
    assert counts[0] > 400
    assert counts[3] > 380, "drafts equal to reviewed rows"
