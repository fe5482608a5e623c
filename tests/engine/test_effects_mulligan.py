"""The mulligan with spells and weapons in hand: dear cards are replaced once, then shuffled back."""

import hashlib
from collections import Counter
from itertools import product

import pytest

from engine import deal, find_deck, find_ruleset
from engine.cards.real import hero_classes
from engine.codes import COIN, DECK_SIZE, Purpose
from engine.effect_codes import EFFECTS_VERSION, CardKind
from tests.conftest import cases
from tests.engine.test_effects_properties import deck_of
from tests.reference.plain import below_key, shuffled

CLASSES = sorted(hero_classes())
RULES = find_ruleset("standard")
DEALS = [(first, second, seed) for seed, (first, second) in enumerate(product(CLASSES, CLASSES))]


def opening(first: str, second: str, seed: int, ruleset: str) -> tuple:
    """The card table, and hands and decks, the next card first, as they were before the first draw."""
    position = deal((deck_of(first, seed), deck_of(second, seed + 1)), seed, ruleset=ruleset)
    found = []
    for seat, side in enumerate(position.state["sides"]):
        hand = [int(card) for card in side["hand"][: side["n_hand"]]]
        deck = [int(card) for card in side["deck"][: side["n_deck"]][::-1]]
        if seat == 0:
            deck.insert(0, hand.pop())  # the card that its first turn drew
        else:
            assert hand.pop() == COIN
        found.append((hand, deck))
    return position.table, found


def test_the_rule_is_the_documented_one() -> None:
    assert (RULES.mulligan_above, RULES.hand_first, RULES.hand_second, RULES.coin) == (3, 3, 4, True)


def test_dear_cards_of_every_kind_are_replaced_once_and_shuffled_back() -> None:
    """The deal without a mulligan, which shuffles alike, tells what was in hand before."""
    replaced: Counter[CardKind] = Counter()
    kept: Counter[CardKind] = Counter()
    again = 0
    for first, second, seed in DEALS[:: cases(4, 1)]:
        table, before = opening(first, second, seed, "hearthsim")
        _, after = opening(first, second, seed, "standard")
        for seat, ((old_hand, old_deck), (hand, deck)) in enumerate(zip(before, after, strict=True)):
            rest, wanted, aside = list(old_deck), [], []
            for card in old_hand:
                dear = table.cards[card].spec.cost > RULES.mulligan_above
                wanted.append(rest.pop(0) if dear else card)
                (replaced if dear else kept)[table.cards[card].kind] += 1
                aside += [card] if dear else []
                again += dear and table.cards[wanted[-1]].spec.cost > RULES.mulligan_above
            assert hand == wanted
            assert len(hand) == len(old_hand) == (RULES.hand_first, RULES.hand_second)[seat]
            assert Counter(deck) == Counter([*rest, *aside])
            assert len(hand) + len(deck) == DECK_SIZE
            if aside:
                rest = shuffled([*rest[::-1], *aside], below_key(seed, Purpose.MULLIGAN, seat))[::-1]
            assert deck == rest
    for kind in (CardKind.MINION, CardKind.SPELL, CardKind.WEAPON):
        assert replaced[kind] > cases(1, 2), kind
        assert kept[kind] > 2, kind
    assert again > cases(4, 10), "a card that replaces another stays, dear or not"


@pytest.mark.parametrize("ruleset", ["standard", "hearthsim"])
def test_the_same_seed_gives_the_same_deal(ruleset: str) -> None:
    for first, second, seed in DEALS[::5]:
        decks = deck_of(first, seed), deck_of(second, seed + 1)
        deals = [deal(decks, seed, ruleset=ruleset).state.tobytes() for _ in range(2)]
        assert deals[0] == deals[1]
        assert deals[0] != deal(decks, seed + 1_000, ruleset=ruleset).state.tobytes()


@pytest.mark.parametrize(
    ("ruleset", "digest"),
    [
        ("thesis", "fa98952dfd25745d"),
        ("hearthsim", "05cb35a1e3d045d4"),
        ("standard", "b7d8f1ca0458c4c2"),
    ],
)
def test_deals_of_shipped_decks_are_what_they_were(ruleset: str, digest: str) -> None:
    """Basic decks of all classes, and bodies: what was dealt once is dealt again, to the letter."""
    names = [*(f"basic-{name}" for name in CLASSES), "thesis-paladin", "thesis-warrior", "hearthsim-basic"]
    found = hashlib.sha256()
    for seed, name in enumerate(names):
        decks = find_deck(name), find_deck(names[seed - 1])
        dealt = str(deal(decks, seed, ruleset=ruleset)).replace(f" effects {EFFECTS_VERSION}", " effects 1")
        found.update(dealt.encode())
    assert found.hexdigest()[:16] == digest
