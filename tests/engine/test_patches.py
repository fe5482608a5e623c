"""Patches: changed numbers of cards, in decks, of created cards, in texts and in games."""

from pathlib import Path

import pytest

from engine import DeckError, NotationError, RandomAgent, deal, find_deck, play
from engine.cards.patches import NO_PATCH, PatchError, parse_patch, printed_numbers, read_patches
from engine.cards.real import edition
from engine.cards.table import random_card_pool
from engine.deck_files import add_deck_options, deck_code_of, deck_toml, read_deck
from engine.decks import DeckOptions, build_card_table, coverage_sentence, deck_card_facts
from engine.effect_codes import CardFilter
from engine.effects.rows import CardQuery
from engine.errors import UnknownNameError
from engine.game_session import GameRecord
from engine.notation import parse_action
from rivals import refuse_decks
from tests.conftest import cases
from tests.reference.compare import play_both

FIREBALL = "CS2_029"


def numbers_of(name: str) -> dict[str, int]:
    return {number.name: number.value for number in printed_numbers(edition().find(name))}


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("Fireball", {"cost": 4, "damage": 6}),
        ("Fiery War Axe", {"cost": 3, "attack": 3, "durability": 2}),
        ("Swipe", {"cost": 4, "damage1": 4, "damage2": 1}),
        ("Shattered Sun Cleric", {"cost": 3, "attack": 3, "health": 2, "gives_attack": 1, "gives_health": 1}),
        ("Lightning Bolt", {"cost": 1, "overload": 1, "damage": 3}),
        ("Kobold Geomancer", {"cost": 2, "attack": 2, "health": 2, "spell_damage": 1}),
        ("Shadow Word: Pain", {"cost": 2, "attack_at_most": 3}),
        ("Kirin Tor Mage", {"cost": 3, "attack": 4, "health": 3}),  # its Secret costs 0, which is no number
        ("Counterspell", {"cost": 3}),
    ],
)
def test_numbers_of_cards(name: str, numbers: dict[str, int]) -> None:
    assert numbers_of(name) == numbers


def test_every_number_can_be_set_and_changes_the_card() -> None:
    names = 0
    for card in edition().exact():
        for number in printed_numbers(card):
            value = number.value + 1 if number.value < number.high else number.value - 1
            patch = parse_patch([f"{card.id} {number.name}={value}"])
            changed = patch.apply(card)
            assert {one.name: one.value for one in printed_numbers(changed)}[number.name] == value
            assert changed.key != card.key
            assert changed.identity != card.identity
            names += 1
            if names % cases(7, 1):
                break
    assert names > 1_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Fireball", 'a patch is written "CARD NUMBER=VALUE"'),
        ("Fireball cost", 'a patch is written "CARD NUMBER=VALUE"'),
        ("Fireball cost=x", "Fireball .CS2_029.: cost must be a whole number, got 'x'"),
        ("Fireball cost=1000", "cost must be from 0 to 999, got 1000"),
        ("Chillwind Yeti health=0", "health must be from 1 to 999, got 0"),
        ("Fireball attack=3", "has no number 'attack' to change; it has cost 4, damage 6"),
        ("Wrath damage=4", "its parts are cards of their own: Wrath .EX1_154a.: cost 0, damage 3"),
        ("Jade Golem attack=3", "30 cards are named Jade Golem; write one's id"),
        ("Kazakus Potion cost=3", "a part of Kazakus' potions, which cannot be patched"),
        ("The Coin cost=1", "The Coin cannot be patched"),
        ("Fireball cost=5,damage", 'a patch is written "CARD NUMBER=VALUE"'),
        ("Fireball cost=5 3", 'a patch is written "CARD NUMBER=VALUE"'),
        ("Fireball cost=1_0", "cost must be a whole number, got '1_0'"),
        ("Fireball " + "a=1," * 40 + " !", 'a patch is written "CARD NUMBER=VALUE"'),
        ("none.toml", "cannot read the file of patches none.toml"),
    ],
)
def test_wrong_patches_are_refused(text: str, message: str) -> None:
    with pytest.raises(PatchError, match=message):
        read_patches([text])


def test_unknown_cards_are_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="unknown card 'Firebal'; nearest: Fireball"):
        parse_patch(["Firebal cost=1"])


def test_a_file_of_patches(tmp_path: Path) -> None:
    file = tmp_path / "nerfs.toml"
    file.write_text('patches = ["Fireball cost=5", "Frostbolt damage=2"]', encoding="utf-8")
    assert read_patches([str(file), "Fireball cost=6"]).texts == ["Fireball cost=6", "Frostbolt damage=2"]
    for text, message in (("patches = 3", "has no list of patches"), ("patches = [", "is not a TOML file")):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(PatchError, match=message):
            read_patches([str(file)])


def test_a_patched_deck_keeps_its_patch_in_files_and_texts(tmp_path: Path) -> None:
    patch = parse_patch(["Fireball damage=7, cost=5", "Silver Hand Recruit attack=2"])
    (name,) = add_deck_options(["basic-mage"], DeckOptions(patch=parse_patch(["Fireball cost=5 damage=7"])))
    assert name == "CS2_029.cost=5+CS2_029.damage=7:basic-mage"
    deck, plain = find_deck(name), find_deck("basic-mage")
    assert deck.name == "basic-mage"
    assert deck.identity != plain.identity
    assert plain.patched(NO_PATCH) is plain
    file = tmp_path / "copy.toml"
    file.write_text(deck.text, encoding="utf-8")
    assert read_deck(file) == deck
    file.write_text(deck_toml(deck), encoding="utf-8")
    assert read_deck(file) == deck
    assert find_deck(f"CS2_029.cost=3:{file}").patch.texts == ["Fireball cost=3 damage=7"]
    assert find_deck(f"CS2_029.cost=3:{file}").cards[0] == deck.cards[0]
    (code,) = add_deck_options([deck_code_of(plain)], DeckOptions("2018-07", patch=deck.patch))
    assert find_deck(code).patch == deck.patch
    assert patch.cards[1].text == "Silver Hand Recruit attack=2"
    assert parse_patch(patch.texts) == patch
    told = coverage_sentence([deck])
    assert told.endswith("Patched: Fireball (cost 5 instead of 4, damage 7 instead of 6).")
    assert deck_card_facts([deck])["patches"] == ["Fireball cost=5 damage=7"]
    assert deck.changes() == {}


def test_patches_of_a_file_and_of_a_prefix_add_up(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    text = find_deck("CS2_024.damage=2:basic-mage").text
    file.write_text(text, encoding="utf-8")
    deck = find_deck(f"CS2_029.cost=3:{file}")
    assert deck.patch.texts == ["Fireball cost=3", "Frostbolt damage=2"]
    file.write_text(deck.text, encoding="utf-8")
    assert read_deck(file) == deck
    for wrong, message in (
        (text.replace("damage", "damge"), "has no number 'damge'"),
        (f"{text}]", "not a TOML"),
    ):
        file.write_text(wrong, encoding="utf-8")
        with pytest.raises(DeckError, match=message):
            find_deck(f"CS2_029.cost=3:{file}")
    file.write_text(text.replace('["', '[ # a ] comment\n"'), encoding="utf-8")
    assert read_deck(file).patch.texts == ["Frostbolt damage=2"]
    with pytest.raises(DeckError, match="write its key patches as one list of texts without comments"):
        find_deck(f"CS2_029.cost=3:{file}")


def test_patches_one_after_the_other_are_patches_together() -> None:
    first, second = parse_patch(["Fireball damage=7"]), parse_patch(["Fireball cost=3"])
    deck = find_deck("basic-mage")
    assert (
        deck.patched(first).patched(second)
        == deck.patched(first | second)
        == deck.patched(second).patched(first)
    )


def test_a_text_is_patched_only_where_it_is_played() -> None:
    with pytest.raises(DeckError, match="Leeroy Jenkins is played as a body here, without summons"):
        add_deck_options(["thesis-paladin"], DeckOptions(patch=parse_patch(["Leeroy Jenkins summons=5"])))
    (name,) = add_deck_options(
        ["thesis-paladin"], DeckOptions(patch=parse_patch(["Leeroy Jenkins attack=9"]))
    )
    assert {card.spec.attack for card in find_deck(name).cards if card.name == "Leeroy Jenkins"} == {9}
    gone = DeckOptions(patch=parse_patch(["Lightning Storm overload=0"]))
    assert add_deck_options(add_deck_options(["jade-shaman"], gone), gone)
    with pytest.raises(DeckError, match="no decks are named"):
        add_deck_options([], DeckOptions(patch=parse_patch(["Fireball cost=3"])))
    with pytest.raises(DeckError, match="reads positions as text"):
        refuse_decks([("python:a:B", "auto")], [find_deck("CS2_029.damage=3:basic-mage")])


def test_a_record_with_patched_texts_is_not_replayed() -> None:
    deck = find_deck("CS2_029.damage=9:basic-mage")
    record = play(RandomAgent(), RandomAgent(), (deck, deck), 1).record
    again = GameRecord.from_json(record.to_json())
    assert again == record
    with pytest.raises(NotationError, match="played with patched cards"):
        again.replay()
    deck = find_deck("CS2_029.cost=1:basic-mage")
    result = play(RandomAgent(), RandomAgent(), (deck, deck), 1)
    assert str(result.record.replay()) == str(result.position)


def test_a_patch_applies_to_reprints_and_created_cards() -> None:
    patch = parse_patch(["Fireball cost=1", "Silver Hand Recruit attack=4", "Fireblast damage=2"])
    newest = edition("newest").for_deck("Fireball")
    assert newest.id != FIREBALL
    assert patch.apply(newest).spec.cost == 1
    mage, paladin = (find_deck(f"basic-{name}").patched(patch) for name in ("mage", "paladin"))
    assert mage.power is not None
    assert numbers_of("Fireblast")["damage"] == 1
    assert {one.name: one.value for one in printed_numbers(mage.power)}["damage"] == 2
    recruits = [
        card for card in build_card_table((mage, paladin)).cards if card.name == "Silver Hand Recruit"
    ]
    assert {card.spec.attack for card in recruits} == {4}
    cost_one = CardQuery(filter=CardFilter.COST, arg=1)
    pools = [{card.id for card in random_card_pool(cost_one, one).values()} for one in (NO_PATCH, patch)]
    assert pools[1] - pools[0] == {FIREBALL}


def test_the_patched_number_is_played() -> None:
    decks = tuple(find_deck(f"CS2_029.damage=9+CS2_029.cost=0:{name}") for name in ("basic-mage",) * 2)
    for seed in range(20):
        position = deal(decks, seed)
        plays = [str(action) for action in position.legal_actions()]
        hand = position.state["sides"][0]["hand"][: position.state["sides"][0]["n_hand"]]
        places = [place for place, card in enumerate(hand) if position.table.cards[card].name == "Fireball"]
        for place in places:
            hits = [text for text in plays if text == f"play {place} -> hero"]
            if hits:
                before = int(position.state["sides"][1]["health"])
                position.play(parse_action(hits[-1]))
                assert before - int(position.state["sides"][1]["health"]) == 9
                return
    raise AssertionError("no game dealt a Fireball")


def test_decks_of_one_game_have_the_same_patch() -> None:
    decks = find_deck("CS2_029.cost=5:basic-mage"), find_deck("basic-hunter")
    with pytest.raises(
        DeckError, match="must have the same patches.*basic-mage: Fireball cost=5; basic-hunter"
    ):
        refuse_decks([], decks)
    with pytest.raises(
        DeckError, match="Wrath .* is in none of the decks basic-mage, and none of their cards"
    ):
        add_deck_options(["basic-mage"], DeckOptions(patch=parse_patch(["Wrath cost=1"])))
    with pytest.raises(DeckError, match="shipped decks take only patches"):
        find_deck("2018-07+CS2_029.cost=5:basic-mage")


@pytest.mark.parametrize("kind", ["basic", "class", "mixed", "bodies"])
def test_patched_games_agree_with_the_reference(kind: str) -> None:
    assert sum(play_both(number, kind, patched=True) for number in range(cases(3, 40))) > 60
