"""The mulligan by a player's choice: against the reference, card by card, and as a batch."""

from collections import Counter

import numpy as np
import pytest

from engine import UnknownNameError, deal, find_deck, find_ruleset
from engine.batches import deal_games, deal_games_with_mulligan
from engine.codes import DECK_SIZE, MulliganCode
from engine.decks import cached_card_table
from engine.game_session import PassAgent
from engine.match import deal_from_key, mulligan_codes, play
from engine.state import STATE
from engine.streams import generator, stream_key
from tests.conftest import UNCOMPILED, cases
from tests.engine.test_effects_properties import deck_of
from tests.reference import plain
from tests.reference.compare import problem, start_game

STANDARD, UNCHANGED = find_ruleset("standard"), find_ruleset("hearthsim")
DECKS = find_deck("thesis-paladin"), find_deck("thesis-warrior")
HANDS = (3, 4)


def some_keeps(seed: int, decks=DECKS):
    """For each seat some cards that are kept and some that are replaced; the others go by the rule."""
    pick = generator(11, seed)
    draws = [{card.id: int(pick.integers(3)) for card in deck.cards} for deck in decks]
    return tuple({card: draw == 1 for card, draw in own.items() if draw} for own in draws)


def dealt(position, seat: int) -> tuple[list[int], list[int]]:
    """Opening hand and deck of a seat as they were before the first draw; the deck from the bottom."""
    side = position.state["sides"][seat]
    hand = [int(card) for card in side["hand"][: side["n_hand"]]]
    deck = [int(card) for card in side["deck"][: side["n_deck"]]]
    return hand[: HANDS[seat]], deck + ([hand[HANDS[seat]]] if seat == 0 else [])


def test_chosen_deals_of_bodies_are_those_of_the_reference() -> None:
    table = cached_card_table(DECKS)[0]
    cards = plain.cards_of(table)
    lists = [{"random": False, "cards": [table.number[card.key] for card in deck.cards]} for deck in DECKS]
    for seed in range(40):
        own, other = some_keeps(seed)
        for keeps in ((own, other), (own, None), (None, other), ({}, {})):
            numbers = [
                one and {table.number[card.key]: one[card.id] for card in table.cards if card.id in one}
                for one in keeps
            ]
            game = plain.Game.deal(cards, lists, STANDARD, seed, numbers)
            position = deal_from_key(DECKS, stream_key(seed), STANDARD, keeps)
            assert plain.facts_of(position) == game.facts(), f"seed {seed}"


def test_chosen_deals_of_classes_are_those_of_the_reference() -> None:
    for seed in range(cases(6, 40)):
        decks = deck_of("mage", seed), deck_of("rogue", seed + 1)
        own, other = some_keeps(seed, decks)
        for keeps in ((own, other), (own, None), (None, other), ({}, {})):
            position = deal_from_key(decks, stream_key(seed), STANDARD, keeps)
            assert not problem(position, start_game(decks, STANDARD, seed, keeps)), f"seed {seed}"


def test_cards_are_kept_and_replaced_as_chosen() -> None:
    """A card that is replaced lies in the deck where the card came from that came for it."""
    done: Counter[tuple[int, bool]] = Counter()
    for seed in range(60):
        keeps = some_keeps(seed)
        before, after = deal(DECKS, seed, ruleset="hearthsim"), deal(DECKS, seed, (), "standard", keeps)
        for seat, own in enumerate(keeps):
            (hand, deck), (new_hand, new_deck) = dealt(before, seat), dealt(after, seat)
            moved = [place for place in range(len(deck)) if deck[place] != new_deck[place]]
            for place, card in enumerate(hand):
                found = before.table.cards[card]
                keep = own.get(found.id, found.spec.cost <= STANDARD.mulligan_above)
                done[seat, keep] += 1
                if keep:
                    assert new_hand[place] == card
                elif new_hand[place] != card:  # not exchanged with its own copy
                    assert any((deck[there], new_deck[there]) == (new_hand[place], card) for there in moved)
                    moved.remove(
                        next(
                            there
                            for there in moved
                            if (deck[there], new_deck[there]) == (new_hand[place], card)
                        )
                    )
            assert not moved
            assert Counter(new_hand + new_deck) == Counter(hand + deck)
            assert len(new_hand) + len(new_deck) == DECK_SIZE
    assert min(done.values()) > 30
    assert len(done) == 4


def test_what_becomes_of_a_card_does_not_depend_on_the_others() -> None:
    for seed in range(60):
        own, other = some_keeps(seed)
        base = deal(DECKS, seed, (), "standard", (own, other))
        for seat, card in ((0, "CS2_124"), (1, "CS2_179")):
            keeps = [dict(own), dict(other)]
            keeps[seat][card] = not keeps[seat].get(card, False)
            turned = deal(DECKS, seed, (), "standard", (keeps[0], keeps[1]))
            assert dealt(turned, 1 - seat) == dealt(base, 1 - seat)
            before, _ = dealt(deal(DECKS, seed, ruleset="hearthsim"), seat)
            n = sum(base.table.cards[number].id == card for number in before)
            (hand, deck), (new_hand, new_deck) = dealt(base, seat), dealt(turned, seat)
            differ = [
                sum(one != two for one, two in zip(*pair, strict=True))
                for pair in ((hand, new_hand), (deck, new_deck))
            ]
            assert differ[0] == differ[1] <= n


def test_every_card_of_the_deck_comes_as_often() -> None:
    """All opening cards are replaced: each of the other cards comes with the same probability."""
    keeps = {card.id: False for card in DECKS[0].cards}
    n, table = 1_000 if UNCOMPILED else 3_000, cached_card_table(DECKS)[0]
    states = np.zeros(n, STATE)
    keys = np.array([stream_key(5, game) for game in range(n)], np.uint64)
    row = mulligan_codes(table.cards, keeps)[None]
    numbers = np.tile((0, 1), (n, 1))
    rows = np.tile((0, -1), (n, 1))
    deal_games_with_mulligan(
        table.array, cached_card_table(DECKS)[1], STANDARD.array, numbers, keys, states, row, rows
    )
    counts = Counter(states["sides"][:, 0]["hand"][:, :3].ravel().tolist())
    expected = 3 * n / 15  # two copies of each of 15 cards
    assert len(counts) == 15
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 45  # 1 in 10,000


def test_a_ruleset_without_a_mulligan_looks_at_no_choice() -> None:
    for seed in range(20):
        usual = deal(DECKS, seed, ruleset=UNCHANGED).state.tobytes()
        assert deal(DECKS, seed, (), UNCHANGED, some_keeps(seed)).state.tobytes() == usual


def test_a_batch_is_dealt_as_single_games_are() -> None:
    table, records = cached_card_table(DECKS)
    n = 40
    keys = np.array([stream_key(game) for game in range(n)], np.uint64)
    numbers, states, ruled = np.tile((0, 1), (n, 1)), np.zeros(n, STATE), np.zeros(n, STATE)
    keeps = some_keeps(1)
    choices = np.array([mulligan_codes(table.cards, own) for own in keeps])
    assert {int(code) for code in choices.ravel()} == set(map(int, MulliganCode))
    rows = np.array([(0 if game % 2 else -1, 1 if game % 3 else -1) for game in range(n)])
    arguments = (table.array, records, STANDARD.array, numbers, keys)
    deal_games_with_mulligan(*arguments, states, choices, rows)
    for game in range(n):
        own = keeps[0] if game % 2 else None, keeps[1] if game % 3 else None
        assert deal_from_key(DECKS, keys[game], STANDARD, own).state.tobytes() == states[game].tobytes()
    deal_games(*arguments, ruled)
    deal_games_with_mulligan(*arguments, states, choices, np.full((n, 2), -1))
    assert states.tobytes() == ruled.tobytes()


def test_a_game_is_played_from_the_chosen_deal() -> None:
    keeps = some_keeps(4)
    result = play(PassAgent(), PassAgent(), DECKS, 4, ruleset="standard", keeps=keeps)
    assert str(result.start) == str(deal(DECKS, 4, (), "standard", keeps))


def test_a_card_that_nobody_has_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="opening card 'CS2_12'.*CS2_12"):
        deal(DECKS, 1, (), "standard", ({"CS2_12": True}, None))
