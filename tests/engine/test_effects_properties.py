"""Invariants of games with real cards of all nine classes: bounds, cards conserved, actions, and texts."""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Action, Deck, IllegalActionError, Outcome, Position, deal, parse_action, parse_position
from engine.cards import Card
from engine.cards.real import hero_classes
from engine.cards.table import tags_of
from engine.codes import (
    BOARD_SIZE,
    DECK_SIZE,
    HAND_SIZE,
    HERO,
    HERO_HEALTH,
    MAX_MANA,
    MAX_STAT,
    N_TARGETS,
    UNKNOWN,
    ActionKind,
    Keyword,
)
from engine.effect_codes import (
    GRANTED_BY_OPPONENT,
    MAX_CHOICES,
    MAX_GRAVEYARD,
    MAX_SECRETS,
    N_OFFERED_CARDS,
    CardFilter,
    HeroClassCode,
    Op,
    Race,
    Trait,
)
from engine.effects.chance import Chance
from engine.effects.rows import EVENT_CARD_WORD, Effect
from engine.notation import MAX_COUNT
from engine.state import MINION, SIDE, STATE
from engine.streams import generator, stream_key
from tests.conftest import BOUNDSCHECK, UNCOMPILED, cases
from tests.reference.compare import exact_cards

CLASSES = sorted(hero_classes())
EXAMPLES = 8 if UNCOMPILED or BOUNDSCHECK else cases(12, 50)
MOVES_DECKS = {
    *(
        Op.SHUFFLE,
        Op.COPY_TO_DECK,
        Op.RETURN_TO_DECK,
        Op.MILL,
        Op.RECRUIT,
        Op.SUMMON_COPY_FROM_DECK,
        Op.COPY_FROM_DECK,
        Op.COPY_FROM_HAND,
        Op.TRACK,
        Op.DISCOVER_FROM_DECK,
    ),
    *(Op.PLAY_SECRETS_FROM_DECK, Op.DISCOVER, Op.CREATE_POTION, Op.COPY_TO_HAND, Op.CHOOSE_ONE),
}
"""What changes decks otherwise than by drawing from their end, or puts cards into a hand that it does not name."""

MOVES_CARDS = MOVES_DECKS | {
    Op.CONTROL,
    Op.TRANSFORM,
    Op.BECOME_COPY,
    Op.BOUNCE,
    Op.ADD,
    Op.DISCARD,
    Op.SUMMON_FROM_HAND,
}
"""What changes the number of cards or minions otherwise than by playing, drawing, summoning and dying."""

games = st.tuples(
    st.sampled_from(CLASSES),
    st.sampled_from(CLASSES),
    st.sampled_from(("hearthsim", "standard", "thesis")),
    st.integers(0, 2**31),
)


@lru_cache(maxsize=32)
def pool_of(hero_class: str, without: frozenset[Op]) -> tuple:
    """The exact cards of a class; where some ops are left out, without random cards and Secrets, too."""
    return tuple(card for card in exact_cards(hero_class) if not (without and is_left_out(card, without)))


def is_left_out(card: Card, without: frozenset[Op]) -> bool:
    """Whether a card has rows with some ops or with random cards of the edition, or is a Secret, which has a birth."""
    return bool(tags_of(card) & CardFilter.SECRET) or any(
        row.op in without or draws_from_a_list(row) for row in card.effects
    )


def draws_from_a_list(row: Effect) -> bool:
    """Whether a row names no card, but a kind of cards, or adds the card of an event."""
    listed = (row.of.kind or row.of.filter) and not row.cards
    return bool(
        row.op in (Op.ADD, Op.SUMMON, Op.TRANSFORM, Op.DRAW, Op.EQUIP)
        and (listed or row.cards == (EVENT_CARD_WORD,))
    )


def deck_of(hero_class: str, seed: int, without: frozenset[Op] = frozenset()) -> Deck:
    """Thirty cards at random, as many of the class as neutral ones, about."""
    pick, pool = generator(77, seed), pool_of(hero_class, without)
    shares = np.array([1.0 if card.card_class == "NEUTRAL" else 6.0 for card in pool])
    cards = [pool[int(n)] for n in pick.choice(len(pool), 30, p=shares / shares.sum())]
    return Deck(f"random-{hero_class}", tuple(cards), hero_class=hero_class, edition="2018-07")


class Step(NamedTuple):
    """An action of a random game, with the position before and after it."""

    before: Position
    action: Action | None
    after: Position


def play_through(game: tuple[str, str, str, int], without: frozenset[Op] = frozenset()) -> Iterator[Step]:
    """The deal, and every action of a random game: turns of most end late, of every fifth early, so that hands fill up."""
    first, second, ruleset, seed = game
    decks = deck_of(first, seed, without), deck_of(second, seed + 1, without)
    position = deal(decks, seed, ruleset=ruleset)
    chance, pick = Chance.drawn(stream_key(seed), position.states), np.random.default_rng(seed)
    eager = 0.85 if seed % 5 else 0.2
    yield Step(position, None, position)
    while position.outcome == Outcome.ONGOING:
        actions = position.legal_actions()
        n = len(actions) - (len(actions) > 1 and pick.random() < eager)
        before, action = position.copy(), actions[int(pick.integers(n))]
        position.play(action, chance)
        yield Step(before, action, position)


TRAITS, KEYWORDS = sum(Trait), sum(Keyword)
BIRTHS = 10_000  # as many as notation can write
CARDS = 4_000  # more than a table can hold

BOUNDS = {
    STATE: {
        "turn": (1, 101),
        "turn_cap": (100, 100),
        "active": (0, 1),
        "first_draw": (0, 1),
        "last_entity_id": (0, BIRTHS),
        "n_options": (0, N_OFFERED_CARDS),
        "options": (0, CARDS),
        "n_choices": (0, MAX_CHOICES),
    },
    SIDE: {
        "health": (-MAX_COUNT, HERO_HEALTH),
        "max_health": (1, HERO_HEALTH),
        "armour": (0, MAX_STAT),
        "mana": (0, MAX_MANA),
        "crystals": (0, MAX_MANA),
        "fatigue": (0, MAX_COUNT),
        "died": (0, MAX_COUNT),
        "burned": (0, MAX_COUNT),
        "power": (0, CARDS),
        "power_used": (0, 1),
        "weapon": (0, CARDS),
        "weapon_attack": (0, MAX_STAT),
        "durability": (0, MAX_STAT),
        "hero_attack": (0, MAX_STAT),
        "hero_attacks_left": (-1, 2),
        "traits": (0, TRAITS),
        "overload": (0, MAX_STAT),
        "locked": (0, MAX_MANA),
        "weapon_aura": (0, MAX_STAT),
        "played": (0, MAX_COUNT),
        "spells": (0, MAX_COUNT),
        "totems": (0, MAX_COUNT),
        "died_this_turn": (0, MAX_COUNT),
        "hero_damage_this_turn": (0, MAX_STAT),
        "elementals": (0, MAX_COUNT),
        "elementals_before": (0, MAX_COUNT),
        "overloaded": (0, MAX_COUNT),
        "powers": (0, MAX_COUNT),
        "secrets_played": (0, MAX_COUNT),
        "pending_costs": (0, CARDS),
        "jade": (0, MAX_COUNT),
        "hero_class": (0, max(HeroClassCode)),
        "n_secrets": (0, MAX_SECRETS),
        "secrets": (0, CARDS),
        "secret_entity_ids": (0, BIRTHS),
        "n_graveyard": (0, MAX_GRAVEYARD),
        "graveyard": (0, CARDS),
        "n_board": (0, BOARD_SIZE),
        "n_hand": (0, HAND_SIZE),
        "n_deck": (0, DECK_SIZE),
        "hand": (UNKNOWN, CARDS),
        "deck": (0, CARDS),
    },
    MINION: {
        "card": (0, CARDS),
        "attack": (0, MAX_STAT),
        "health": (1, MAX_STAT),
        "keywords": (0, KEYWORDS),
        "attacks_left": (0, 2),
        "arrived": (0, 1),
        "max_health": (1, MAX_STAT),
        "traits": (0, TRAITS),
        "race": (0, max(Race)),
        "turn_attack": (-MAX_STAT, MAX_STAT),
        "spell_damage": (0, MAX_STAT),
        "entity_id": (1, BIRTHS),
        "aura_attack": (-MAX_STAT, MAX_STAT),
        "aura_health": (0, MAX_STAT),
        "aura_keywords": (0, KEYWORDS),
        "granted_effects": (0, GRANTED_BY_OPPONENT + CARDS),
    },
}


def test_every_field_has_bounds_that_its_type_holds() -> None:
    """A strike of a hero and its weapon adds two numbers, Spell Damage of a full board seven."""
    for dtype, bounds in BOUNDS.items():
        fields = {name for name, kind in dtype.fields.items() if kind[0].base.names is None}
        assert bounds.keys() == fields
        for name, (low, high) in bounds.items():
            limits = np.iinfo(dtype.fields[name][0].base)
            assert limits.min <= low <= high <= limits.max, name
            assert high < MAX_STAT or limits.max >= (BOARD_SIZE + 2) * MAX_STAT


def check_bounds(record: np.void, dtype: np.dtype) -> None:
    for name, (low, high) in BOUNDS[dtype].items():
        numbers = np.atleast_1d(record[name])
        assert low <= numbers.min(), (name, numbers)
        assert numbers.max() <= high, (name, numbers)


@settings(max_examples=EXAMPLES)
@given(games)
def test_numbers_stay_in_bounds(game) -> None:
    for _, _, position in play_through(game):
        check_bounds(position.state, STATE)
        births = [0]
        for side in position.state["sides"]:
            check_bounds(side, SIDE)
            assert side["mana"] + side["locked"] <= MAX_MANA
            assert (side["durability"] > 0) or not (side["weapon"] or side["weapon_attack"])
            assert not side["board"][side["n_board"] :].tobytes().strip(b"\0")
            assert not side["hand"][side["n_hand"] :].any()
            assert not side["deck"][side["n_deck"] :].any()
            for minion in side["board"][: side["n_board"]]:
                check_bounds(minion, MINION)
                assert minion["health"] <= minion["max_health"]
                assert not minion["traits"] & Trait.DOOMED
                births.append(int(minion["entity_id"]))
            if position.outcome == Outcome.ONGOING:
                assert side["health"] > 0
        assert len(set(births)) == len(births)
        assert max(births) <= position.state["last_entity_id"]


def counts(position: Position, *fields: str) -> np.ndarray:
    """The sum of fields of each side."""
    return np.array([sum(int(side[name]) for name in fields) for side in position.state["sides"]])


@settings(max_examples=EXAMPLES)
@given(games)
def test_cards_and_minions_are_conserved(game) -> None:
    """Played cards leave hands, all others stay in hand or deck or are burned; births are minions that stand or died."""
    for before, action, after in play_through(game, frozenset(MOVES_CARDS)):
        played = np.zeros(2, int)
        if action is not None and action.kind == ActionKind.PLAY:
            played[before.active] = 1
        held = counts(before, "n_hand", "n_deck", "burned") - counts(after, "n_hand", "n_deck", "burned")
        assert (held == played).all(), action
        assert counts(after, "n_board", "died").sum() == after.state["last_entity_id"]


def contents(side: np.void) -> Counter:
    return Counter(side["hand"][: side["n_hand"]].tolist())


@settings(max_examples=EXAMPLES)
@given(games)
def test_decks_are_drawn_from_their_end_and_no_card_comes_from_nowhere(game) -> None:
    """What comes into a hand was drawn, was a minion or a weapon, or is a card that some card of the game adds."""
    created: set[int] | None = None
    for before, action, after in play_through(game, frozenset(MOVES_DECKS)):
        if created is None:
            rows = [row for card in after.table.cards for row in card.effects]
            named = {name for row in rows if row.op == Op.ADD for name in row.cards}
            created = {number for number, card in enumerate(after.table.cards) if card.id in named}
        played = -3
        if action is not None and action.kind == ActionKind.PLAY:
            played = int(before.state["sides"][before.active]["hand"][action.source])
        minions = [minion["card"] for side in before.state["sides"] for minion in side["board"]]
        for old, new in zip(before.state["sides"], after.state["sides"], strict=True):
            assert (new["deck"][: new["n_deck"]] == old["deck"][: new["n_deck"]]).all()
            assert new["n_deck"] <= old["n_deck"]
            assert new["fatigue"] >= old["fatigue"]
            assert new["fatigue"] == old["fatigue"] or not new["n_deck"]
            drawn = Counter(old["deck"][new["n_deck"] : old["n_deck"]].tolist())
            extra = contents(new) - contents(old) - drawn
            for number in extra:
                assert number in created or number in minions or number == played, new["hand"]


every_action = [
    *(
        Action(kind, source, target)
        for kind in ActionKind
        for source in range(12)
        for target in range(HERO + 2)
    ),
    *(Action.play(source, target) for source in range(11) for target in range(N_TARGETS)),
    *(Action.power(target) for target in range(N_TARGETS)),
]


@settings(max_examples=max(1, EXAMPLES // 15))
@given(games)
def test_exactly_the_listed_actions_are_played_and_each_is_listed_once(game) -> None:
    for number, (_, _, position) in enumerate(play_through(game)):
        if number % 40 != 20 or position.outcome != Outcome.ONGOING:
            continue
        actions = position.legal_actions()
        assert len({action.code for action in actions}) == len(actions) == len(set(map(str, actions)))
        listed = {action.code for action in actions}
        for action in {*every_action, *actions}:
            trial = position.copy()
            chance = Chance.drawn(stream_key(1), trial.states)
            if action.code in listed:
                trial.play(action, chance)
                assert trial.state.tobytes() != position.state.tobytes()
                continue
            with pytest.raises(IllegalActionError):
                trial.play(action, chance)
            assert trial.state.tobytes() == position.state.tobytes()


@settings(max_examples=max(1, EXAMPLES // 5))
@given(games)
def test_text_is_exact_and_all_there_is_to_a_position(game) -> None:
    """Read back without the game's card table, a position offers and does the same."""
    for number, (before, action, after) in enumerate(play_through(game)):
        text = str(after)
        assert parse_position(text, after.table).state.tobytes() == after.state.tobytes()
        if number % 30 != 5:
            continue
        assert str(parse_position(text)) == text
        again = parse_position(str(before))
        actions = again.legal_actions()
        assert actions == before.legal_actions()
        assert all(parse_action(str(one)) == one for one in actions)
        rolled = Chance.drawn(stream_key(number), before.states)
        for position in (before, again):
            position.play(action, rolled)
            rolled = Chance.given(rolled.outcomes)
        assert str(again) == str(before)


MOST = MAX_STAT


@pytest.mark.parametrize(
    ("text", "actions", "wanted"),
    [
        (
            "board [1/1 now 998/998 max 998] hand [Blessing of Kings*]",
            "play 0 -> own 0",
            "now 999/999 max 999",
        ),
        (
            "board [1/1 now 999/999 max 999] hand [Blessing of Kings*]",
            "play 0 -> own 0",
            "now 999/999 max 999",
        ),
        ("board [1/1 now 1/500 max 998] hand [Divine Spirit*]", "play 0 -> own 0", "now 1/999 max 999"),
        ("board [1/1 now 500/1] hand [Blessed Champion*]", "play 0 -> own 0", "now 999/1"),
        (
            "board [1/1 now 998/1 until 998] hand [Blessed Champion*]",
            "play 0 -> own 0",
            "now 999/1 until 999",
        ),
        ("board [1/1 now 998/1] hand [Bloodlust*]", "play 0", "now 999/1 until 1"),
        ("board [1/1 now 1/998 max 998] hand [Inner Fire*]", "play 0 -> own 0", "now 998/998"),
        ("board [1/1 now 1/999 max 999] hand [Confuse*]", "play 0", "now 999/1"),
        ("board [1/1 now 1/1 spell 999] hand [Velen's Chosen*]", "play 0 -> own 0", "max 5 spell 999"),
        ("attack 998 hand [Bite*]", "play 0", "attack 999"),
        ("attack 998 hand [Savage Roar*]", "play 0", "attack 999"),
        ("hand [Shield Block*] deck [1/1]", "play 0", "hero 30+999"),
        ("hand [Claw*]", "play 0", "hero 30+999"),
        ("weapon [Fiery War Axe* now 998/999] hand [Upgrade!*]", "play 0", "now 999/999"),
        ("weapon [Fiery War Axe* now 998/1] hand [Deadly Poison*]", "play 0", "now 999/1"),
        ("overload 998 hand [Lava Burst*]", "play 0 -> hero", "overload 999"),
    ],
)
def test_heaps_of_buffs_stop_at_the_limit(text: str, actions: str, wanted: str) -> None:
    position = parse_position(f"turn 10 | hero 30+998 mana 10 {text} | hero 30")
    position.play(parse_action(actions))
    assert f"{wanted}" in str(position).split(" | ")[1]
    check_bounds(position.state["sides"][0], SIDE)
    assert str(parse_position(str(position))) == str(position)


def test_what_one_sweep_deals_wraps_at_no_number() -> None:
    """Spell Damage of seven minions at the limit, against what has most health, armour and shields."""
    board = "; ".join(["1/1 now 1/1 spell 999"] * BOARD_SIZE)
    for card, action in (
        ("Pyroblast*", "play 0 -> hero"),
        ("Flamestrike*", "play 0"),
        ("Hellfire*", "play 0"),
    ):
        position = parse_position(
            f"turn 10 | hero 30 mana 10 board [{board}] hand [{card}] | hero 30+999 board [1/1 now 1/999 max 999; 1/1D]"
        )
        position.play(parse_action(action))
        enemy = position.state["sides"][1]
        assert enemy["armour"] in (0, 999)
        assert -MAX_COUNT <= enemy["health"] <= HERO_HEALTH
        assert enemy["died"] == (card != "Pyroblast*")
        assert str(parse_position(str(position))) == str(position)


def test_a_hero_with_most_attack_strikes_with_all_of_it() -> None:
    position = parse_position(
        "turn 10 | hero 30 attack 999 attacks 1 weapon [Fiery War Axe* now 999/2] | hero 30+999"
    )
    position.play(parse_action("attack hero -> hero"))
    assert position.state["sides"][1]["health"] == HERO_HEALTH - 999
    assert position.outcome == Outcome.FIRST_WINS


@pytest.mark.parametrize(
    "change", ["spell 1000", "max 1000", "until 1000", "until -1000", "race 27", "spell 9999"]
)
def test_larger_numbers_than_the_game_knows_cannot_be_written(change: str) -> None:
    from engine.errors import NotationError

    with pytest.raises(NotationError, match="must be from -999 to"):
        parse_position(f"turn 5 effects 2 | hero 30 board [1/1 {change}] | hero 30")
