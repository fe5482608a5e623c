"""Varied decks: copies of a card, and minions with a keyword, as they are dealt."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine import Card, Deck, DeckError, Position, UnknownNameError, deal, find_deck, parse_position
from engine.cards.real import edition
from engine.codes import DECK_SIZE, KEYWORD_FIELDS, Purpose
from engine.deck_variants import DeckVariant
from engine.decks import build_card_table
from engine.effect_codes import EFFECTS_VERSION, CardKind
from engine.streams import below
from tests.reference.plain import below_key, shuffled

SMITE = edition("2018-07").for_deck("Holy Smite")
DECKS = (
    "random-minions",
    "random-minions-5x4",
    "hearthsim-basic",
    "thesis-warrior",
    "basic-priest",
    "basic-mage",
)
THINGS = ("Holy Smite", "Chillwind Yeti", "Novice Engineer", *KEYWORD_FIELDS)


def varied(name: str, thing: str, count: int) -> Deck:
    """A shipped deck with so many copies of a card, or minions with a keyword."""
    deck = find_deck(name)
    if thing in KEYWORD_FIELDS:
        return replace(deck, varied=DeckVariant(None, thing, count))
    return replace(deck, varied=DeckVariant(edition("2018-07").for_deck(thing), "", count))


def dealt(position: Position, seat: int) -> list[Card]:
    """The thirty cards that a player was dealt, the last one drawn first. Without a mulligan."""
    side = position.state["sides"][seat]
    hand = [number for number in side["hand"][: side["n_hand"]] if number >= 0]
    numbers = [*side["deck"][: side["n_deck"]], *reversed(hand)]
    return [position.table.cards[number] for number in numbers]


def has(card: Card, thing: str) -> bool:
    return getattr(card.spec, thing) if thing in KEYWORD_FIELDS else card.name == thing


def most_of(deck: Deck, thing: str) -> int:
    """How many cards of a deck can have it."""
    if thing not in KEYWORD_FIELDS or deck.random:
        return DECK_SIZE
    return sum(card.kind == CardKind.MINION for card in deck.cards)


@given(
    st.sampled_from(DECKS),
    st.sampled_from(THINGS),
    st.integers(0, 30),
    st.integers(0, 2**32),
    st.integers(0, 1),
)
def test_a_varied_deck_has_just_that_many(name: str, thing: str, count: int, seed: int, seat: int) -> None:
    """And the other player's cards, and all that was not replaced, are those of the plain game."""
    plain = find_deck(name)
    count = min(count, most_of(plain, thing))
    own = varied(name, thing, count)
    decks = (own, plain) if seat == 0 else (plain, own)
    position, before = deal(decks, seed, (), "thesis"), deal((plain, plain), seed, (), "thesis")
    cards, known = dealt(position, seat), dealt(before, seat)
    assert sum(has(card, thing) for card in cards) == count
    replaced = [place for place in range(DECK_SIZE) if cards[place] != known[place]]
    assert len(replaced) == abs(count - sum(has(card, thing) for card in known))
    assert [card.key for card in dealt(position, 1 - seat)] == [card.key for card in dealt(before, 1 - seat)]
    if thing in KEYWORD_FIELDS:  # only the keyword changes
        for one, other in zip(cards, known, strict=True):
            assert (one.name, one.spec.attack, one.kind) == (other.name, other.spec.attack, other.kind)
            assert replace(one.spec, **{thing: False}) == replace(other.spec, **{thing: False})
    assert position.table.effects == (thing not in KEYWORD_FIELDS or bool(plain.hero_class))
    assert str(parse_position(str(position))) == str(position)


@example("hearthsim-basic", "taunt", 1)
@example("basic-priest", "Holy Smite", 1)
@given(st.sampled_from(DECKS), st.sampled_from(THINGS), st.integers(0, 2**32))
def test_each_number_replaces_what_smaller_ones_replace(name: str, thing: str, seed: int) -> None:
    plain = find_deck(name)
    known, places = dealt(deal((plain, plain), seed, (), "thesis"), 0), []
    most = most_of(plain, thing)
    for count in sorted({0, 1, 2, 4, 8, 16, most}):
        cards = dealt(deal((varied(name, thing, count), plain), seed, (), "thesis"), 0)
        places.append({place for place in range(DECK_SIZE) if has(cards[place], thing)})
    assert all(small <= large for small, large in pairwise(places))
    own = {place for place in range(DECK_SIZE) if has(known[place], thing)}
    assert all(some <= own or own <= some for some in places), "its own come first"


@pytest.mark.parametrize("name", ["random-minions", "hearthsim-basic", "basic-priest"])
@pytest.mark.parametrize("thing", ["Holy Smite", "taunt"])
def test_the_deal_is_that_of_a_plain_reading(name: str, thing: str) -> None:
    """The order of places and the fillers, written again from the module's words."""
    plain, every = find_deck(name), range(DECK_SIZE)
    for seed in range(40):
        count = seed % 18
        deck = varied(name, thing, count)
        stream = below_key(seed, Purpose.DECK_VARIANT, 0)
        listed = list(plain.cards)
        if plain.random:
            pick = below_key(seed, Purpose.DECK, 0)
            listed = [plain.cards[below(pick, place, len(plain.cards))] for place in every]
        able = [
            place
            for place in shuffled(every, stream)
            if thing == "Holy Smite" or listed[place].kind == CardKind.MINION
        ]
        own = [place for place in able if has(listed[place], thing)]
        others = [place for place in able if place not in own]
        cards = list(listed)
        for rank, place in enumerate([*own, *others]):
            if rank < count and thing == "Holy Smite":
                cards[place] = listed[place] if place in own else SMITE
            elif thing == "taunt":
                spec = replace(listed[place].spec, taunt=rank < count)
                cards[place] = replace(listed[place], spec=spec)
            elif place in own:
                cards[place] = listed[others[below(stream, DECK_SIZE + rank, len(others))]]
        if not plain.random:
            order = shuffled(every, below_key(seed, Purpose.SHUFFLE, 0))
            cards = [cards[place] for place in order]
        assert dealt(deal((deck, plain), seed, (), "thesis"), 0) == cards


def test_each_game_replaces_others_and_each_card_as_often() -> None:
    """6 of 30 cards in 1,500 deals: each of 15 cards twice in the list is replaced 600 times, give or take 100."""
    plain, found = find_deck("hearthsim-basic"), Counter[str]()
    deck = varied("hearthsim-basic", "Holy Smite", 6)
    for seed in range(1500):
        cards = Counter(card.name for card in dealt(deal((deck, plain), seed, (), "thesis"), 0))
        found.update(Counter(card.name for card in plain.cards) - cards)
    assert found.total() == 6 * 1500
    assert len(found) == 15
    assert all(500 < n < 700 for n in found.values()), found


def test_a_deck_that_is_not_varied_is_what_it_was() -> None:
    plain, other = find_deck("hearthsim-basic"), varied("hearthsim-basic", "Holy Smite", 2)
    assert plain.identity == [plain.name, False, *(card.identity for card in plain.cards)]
    assert other.identity[:-1] == plain.identity
    assert other.identity[-1][1:] == [2, EFFECTS_VERSION], "the number of copies, and the version of effects"
    assert len({str(varied("hearthsim-basic", thing, n).identity) for thing in THINGS for n in (0, 1)}) == 22
    table = build_card_table([plain, other])
    assert table.cards[: len(build_card_table([plain]).cards)] == build_card_table([plain]).cards
    assert plain != other
    record = plain.record(build_card_table([plain]))
    assert not record["varied"]
    assert not np.any(record["given"])


def test_a_copy_of_today_is_a_copy_of_before() -> None:
    """hearthsim-basic holds Chillwind Yeti as a body; the card put in is one with it, whatever its edition."""
    plain = find_deck("hearthsim-basic")
    yeti = edition("2018-07").for_deck("Chillwind Yeti")
    assert DeckVariant(yeti, "", 0).n_unchanged(plain.cards) == 2
    cards = dealt(deal((varied("hearthsim-basic", "Chillwind Yeti", 3), plain), 4), 0)
    assert sum(card.name == "Chillwind Yeti" for card in cards) == 3


@pytest.mark.parametrize("count", [-1, 31, 2.0, True, "2"])
def test_a_count_is_a_whole_number_of_a_deck(count: object) -> None:
    with pytest.raises(DeckError, match="must be an integer from 0 to 30"):
        DeckVariant(SMITE, "", count)  # type: ignore[arg-type]


def test_what_cannot_be_varied_is_refused() -> None:
    with pytest.raises(DeckError, match="a card or a keyword, not both"):
        DeckVariant(SMITE, "taunt", 1)
    with pytest.raises(DeckError, match="a card or a keyword, not both"):
        DeckVariant(None, "", 1)
    with pytest.raises(UnknownNameError, match="nearest: taunt"):
        DeckVariant(None, "tant", 1)
    minions = sum(card.kind == CardKind.MINION for card in find_deck("basic-mage").cards)
    with pytest.raises(
        DeckError,
        match=f"basic-mage has {minions} minions, so at most {minions} minions with Taunt",
    ):
        varied("basic-mage", "taunt", minions + 1)
    same = Deck("smites", (SMITE,) * 30, hero_class="priest", edition="2018-07")
    with pytest.raises(DeckError, match="smites has only Holy Smite"):
        replace(same, varied=DeckVariant(SMITE, "", 29))
    assert replace(same, varied=DeckVariant(SMITE, "", 30)).varied
    pool = Deck("pool", (*find_deck("random-minions").cards, SMITE), random=True)
    with pytest.raises(DeckError, match="a pool that already has copies of Holy Smite"):
        replace(pool, varied=DeckVariant(SMITE, "", 1))
