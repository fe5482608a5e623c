"""The card table of a game: numbered cards and those that effects may create, with their records."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from engine.cards import RARITIES, Card, CardKey
from engine.cards.patches import NO_PATCH, Patch
from engine.cards.real import OLD_EDITION, created_card, edition
from engine.effect_codes import (
    EVENT_CARD,
    MAX_ROWS,
    N_POTION_EFFECTS,
    OWN_CARD,
    POOL,
    TRIGGER_SHIFT,
    Aim,
    CardFilter,
    CardKind,
    Condition,
    Count,
    GameFeature,
    HeroClassCode,
    Op,
    Pick,
    Trait,
    Trigger,
)
from engine.effects.card_filters import CLASS_FILTERS, mark_matching
from engine.effects.ops_character import IN_PLAY_TRIGGERS, traits_of_triggers
from engine.effects.rows import (
    CREATING_OPS,
    EVENT_CARD_WORD,
    NO_CARD_IDS,
    OWN_CARD_WORD,
    CardQuery,
    Effect,
)
from engine.indirect_call import compile_effect_kernels
from engine.state import CARD

_FIELDS = (
    "trigger",
    "op",
    "pick",
    "side",
    "kind",
    "filter",
    "arg",
    "times",
    "keywords",
    "until",
    "condition",
    "condition_arg",
    "count",
    "count_arg",
)


class CardTable:
    """The numbered cards of a game or a batch of games, also as an array for kernels. Immutable.

    Each game has its own table, since deck files alter cards and random minions are in no catalogue. Cards
    created by effects follow the given cards; the cards of a pool are consecutive.

    Args:
        cards: the cards, patched.
        game_features: bits of `GameFeature` to track in any case.
        patch: changes of the cards that effects create.
    """

    __slots__ = ("_array", "_cards", "_effects", "_number", "_patch")

    def __init__(self, cards: Sequence[Card], game_features: int = 0, patch: Patch = NO_PATCH) -> None:
        found = list(cards)
        pools = _add_created(found, patch) if any(card.effects for card in found) else {}
        self._patch = patch
        self._cards = tuple(found)
        written = (_written(card, tuple(pools[ids] for ids in _named(card))) for card in found)
        rows = np.frombuffer(bytearray(b"".join(written) or bytes(CARD.itemsize)), CARD)
        rows["game_features"] = np.bitwise_or.reduce(rows["card_features"], initial=game_features)
        self._effects = bool(rows["game_features"][0] & GameFeature.EFFECTS)
        keys = [card.key for card in found]
        self._number: dict[CardKey, int] = {}
        rows["number"][: len(found)] = [
            self._number.setdefault(key, number) for number, key in enumerate(keys)
        ]
        if any(draws_at_random(effect) for card in found for effect in card.effects):
            _tag_pooled(rows, keys, patch)
            _write_lists(rows, found, self._number, patch)
        # numpy cannot make an array over bytes writable again, not even for an agent that tries.
        self._array = np.frombuffer(rows.tobytes(), CARD)
        if any(card.real for card in cards):
            compile_effect_kernels()

    @property
    def cards(self) -> tuple[Card, ...]:
        """The cards in order; a card's number is its index."""
        return self._cards

    @property
    def array(self) -> np.ndarray:
        """Read-only records of the cards, dtype `CARD`, by card number; one zero record if there are none."""
        return self._array

    @property
    def patch(self) -> Patch:
        """Changes of the cards that effects create."""
        return self._patch

    @property
    def effects(self) -> bool:
        """Whether cards have effects; otherwise all are plain minions with keywords."""
        return self._effects

    @property
    def number(self) -> Mapping[CardKey, int]:
        """Card number by card key."""
        return MappingProxyType(self._number)


def _add_created(cards: list[Card], patch: Patch) -> dict[tuple[str, ...], int]:
    """Append created cards to `cards`; return the first card number of each pool of card ids."""
    places: dict[tuple[str, ...], int] = {}
    printed = edition(OLD_EDITION).by_id
    for place, card in enumerate(cards):
        # A card that a deck file changes is never created, else it would enter the games of other decks.
        if card.real and card.id in printed and card.key == patch.apply(printed[card.id]).key:
            places.setdefault((card.id,), place)
    n_processed, known = 0, {card.key for card in cards}
    while n_processed < len(cards):
        for effect in cards[n_processed].effects:
            if effect.op in CREATING_OPS and effect.cards not in NO_CARD_IDS and effect.cards not in places:
                places[effect.cards] = len(cards)
                created = [patch.apply(_made(effect, place)) for place in range(len(effect.cards))]
                cards += created
                known.update(card.key for card in created)
            if draws_at_random(effect):
                for key, card in random_card_pool(effect.of, patch).items():
                    if key not in known:
                        known.add(key)
                        places.setdefault((card.id,), len(cards))
                        cards.append(card)
        n_processed += 1
    number: dict[CardKey, int] = {}
    for place, card in enumerate(cards):
        number.setdefault(card.key, place)
    return {ids: first if len(ids) > 1 else number[cards[first].key] for ids, first in places.items()}


def with_created(cards: Sequence[Card], patch: Patch = NO_PATCH) -> list[Card]:
    """The cards, and after them those that their effects may create."""
    found = list(cards)
    _add_created(found, patch)
    return found


def draws_at_random(effect: Effect) -> bool:
    """Whether an effect row creates random cards of the edition, filtered by `of`."""
    return effect.op in CREATING_OPS and not effect.cards


def _made(effect: Effect, place: int) -> Card:
    """Card at an index of an effect row's pool; potion costs, never played, need no covered text."""
    is_cost = effect.op == Op.CREATE_POTION and place < len(N_POTION_EFFECTS)
    return edition().by_id[effect.cards[place]] if is_cost else created_card(effect.cards[place])


@lru_cache(maxsize=8)
def _exact_rows(patch: Patch) -> tuple[tuple[Card, ...], np.ndarray]:
    """Exact cards of edition 2018-07, patched, sorted by id, and their records without effect rows."""
    if not patch:
        exact = tuple(edition().exact())
        rows = np.zeros(len(exact), CARD)
        for row, card in zip(rows, exact, strict=True):
            _write_print(row, card)
        rows["tags"] |= CardFilter.POOLED
        return exact, rows
    printed, rows = _exact_rows(NO_PATCH)
    exact, rows = tuple(map(patch.apply, printed)), rows.copy()
    for place, (before, card) in enumerate(zip(printed, exact, strict=True)):
        if card is not before:
            rows[place] = np.zeros(1, CARD)[0]
            _write_print(rows[place], card)
            rows[place]["tags"] |= CardFilter.POOLED
    return exact, rows


@lru_cache(maxsize=8)
def _exact_keys(patch: Patch) -> frozenset[CardKey]:
    """Keys of the exact cards of edition 2018-07, patched."""
    return frozenset(card.key for card in _exact_rows(patch)[0])


@lru_cache(maxsize=256)
def random_card_pool(of: CardQuery, patch: Patch = NO_PATCH) -> Mapping[CardKey, Card]:
    """Pool of an effect row's random cards by key: matching exact cards of edition 2018-07, sorted by id."""
    exact, rows = _exact_rows(patch)
    found = np.zeros(len(exact), np.bool_)
    mark_matching(rows, of.kind, of.filter, of.arg, found)
    cards = (card for card, matches in zip(exact, found, strict=True) if matches)
    return MappingProxyType({card.key: card for card in cards})


def _tag_pooled(rows: np.ndarray, keys: Sequence[CardKey], patch: Patch) -> None:
    """Tag the cards eligible as random cards, each once. `rows` is modified in place."""
    left = set(_exact_keys(patch))
    for row, key in zip(rows, keys, strict=True):
        if key in left:
            row["tags"] |= CardFilter.POOLED
            left.remove(key)


def _write_lists(
    rows: np.ndarray, cards: Sequence[Card], numbers: Mapping[CardKey, int], patch: Patch
) -> None:
    """Write the card lists of effect rows with random cards, sorted by id. `rows` is modified in place."""
    lists: list[list[int]] = []
    first: dict[CardQuery, int] = {}
    for row, card in zip(rows, cards, strict=True):
        for place, effect in enumerate(card.effects if card.real else ()):
            if not draws_at_random(effect):
                continue
            if effect.of not in first:
                first[effect.of] = len(lists)
                found = [
                    (numbers[key], 1 << _class_of(pooled_card))
                    for key, pooled_card in random_card_pool(effect.of, patch).items()
                ]
                for classes in _classes(effect.of.filter, effect.of.arg):
                    lists.append([number for number, own in found if not classes or own & classes])
            row["effects"][place]["pool"] = first[effect.of]
    assert len(lists) <= len(rows), "a list has the number of a card"
    capacity, lengths = rows["listed"].size, np.array([len(cards_of_list) for cards_of_list in lists])
    assert lengths.sum() <= capacity, (
        f"{lengths.sum()} cards in lists of {capacity} places; raise LIST_ENTRIES in engine.state"
    )
    rows["list_n"][: len(lists)] = lengths
    rows["list_first"][: len(lists)] = np.cumsum(lengths) - lengths
    padded = np.zeros(capacity, np.int16)
    padded[: lengths.sum()] = [number for cards_of_list in lists for number in cards_of_list]
    rows["listed"] = padded.reshape(rows["listed"].shape)


def _class_of(card: Card) -> int:
    return HeroClassCode.__members__.get(card.card_class, HeroClassCode.NEUTRAL)


def _classes(filter_bits: int, arg: int) -> list[int]:
    """Class bits of each card list of an effect row; 0 for any class."""
    if filter_bits & CardFilter.GANG:
        return [1 << name for name in HeroClassCode if arg >> name & 1]
    if filter_bits & CardFilter.OWN_CLASS:
        return [1 << name | 1 << HeroClassCode.NEUTRAL for name in HeroClassCode]
    if filter_bits & CardFilter.ENEMY_CLASS:
        return [1 << name for name in HeroClassCode]
    return [0]


def features_of(rows: np.ndarray) -> int:
    """Game features that card records need: bits of `GameFeature` and of triggers."""
    heard = int(np.bitwise_or.reduce(rows["trigger_bits"], initial=0))
    game_features = heard << TRIGGER_SHIFT | (
        GameFeature.TRIGGERS if heard & IN_PLAY_TRIGGERS & ~(1 << Trigger.AURA) else 0
    )
    if np.any(rows["tags"] & CardFilter.SECRET):
        game_features |= GameFeature.SECRETS_IN_PLAY | GameFeature.TRIGGERS
    if np.any(rows["traits"] & Trait.CLEAVES):
        game_features |= GameFeature.BOARD_ORDER
    for row in rows[rows["n_effects"] > 0]:
        for effect in row["effects"][: row["n_effects"]]:
            game_features |= _features_of_row(effect)
    return game_features


def _features_of_row(effect: np.void) -> int:
    trigger, op = int(effect["trigger"]), int(effect["op"])
    game_features = 0
    if trigger == Trigger.AURA:
        game_features |= GameFeature.AURAS if op in (Op.BUFF, Op.WEAPON, Op.SET_ATTACK_TO_HEALTH) else 0
        game_features |= GameFeature.RULES if op == Op.RULE else 0
    game_features |= GameFeature.COSTS if op == Op.COST else 0
    game_features |= GameFeature.HAND_MODIFIERS if op in (Op.BUFF_HAND, Op.CHANGE_HAND_COST) else 0
    game_features |= GameFeature.HAND_MODIFIERS if op in (Op.DRAW, Op.DISCOVER) and effect["amount2"] else 0
    game_features |= GameFeature.HAND_MODIFIERS if op == Op.BOUNCE and effect["amount"] else 0
    game_features |= (
        GameFeature.HAND_MODIFIERS if op == Op.COPY_TO_HAND and (effect["amount"] or effect["amount2"]) else 0
    )
    game_features |= GameFeature.DECK_TRIGGERS if trigger == Trigger.IN_DECK else 0
    game_features |= GameFeature.TRIGGERS if trigger == Trigger.DISCARDED_ITSELF else 0
    game_features |= GameFeature.GRAVEYARD if op == Op.RESURRECT else 0
    game_features |= GameFeature.JADE if op == Op.JADE else 0
    game_features |= GameFeature.HERO_CLASSES if effect["of_filter"] & CLASS_FILTERS else 0
    game_features |= (
        GameFeature.BOARD_ORDER if effect["pick"] in (Pick.NEXT_TO_SELF, Pick.NEXT_TO_TARGET) else 0
    )
    return (
        game_features
        | _FEATURES_OF_COUNT.get(int(effect["count"]), 0)
        | _FEATURES_OF_CONDITION.get(abs(int(effect["condition"])), 0)
    )


_FEATURES_OF_COUNT: Mapping[int, int] = {
    Count.PLAYED: GameFeature.CARDS_PLAYED,
    Count.SPELLS: GameFeature.SPELLS_CAST,
    Count.TOTEMS: GameFeature.TOTEMS_SUMMONED,
    Count.DIED: GameFeature.DIED_THIS_TURN,
    Count.OVERLOADED: GameFeature.OVERLOADED,
    Count.POWERS: GameFeature.POWERS_USED,
    Count.SECRETS: GameFeature.SECRETS_PLAYED,
    Count.ELEMENTALS: GameFeature.ELEMENTALS,
}
_FEATURES_OF_CONDITION: Mapping[int, int] = {
    Condition.COMBO: GameFeature.CARDS_PLAYED,
    Condition.ENEMY_PLAYED: GameFeature.CARDS_PLAYED,
    Condition.MINIONS_DIED_THIS_TURN: GameFeature.DIED_THIS_TURN,
    Condition.HERO_DAMAGED_THIS_TURN: GameFeature.HERO_DAMAGE,
    Condition.ELEMENTAL_LAST_TURN: GameFeature.ELEMENTALS,
}


def _named(card: Card) -> list[tuple[str, ...]]:
    """Card ids named in each effect row of a card; the card's record stores their card numbers."""
    return [effect.cards for effect in card.effects if effect.cards not in NO_CARD_IDS] if card.real else []


@lru_cache(maxsize=4096)
def _written(card: Card, numbers: tuple[int, ...]) -> bytes:
    """Bytes of a card's record with its features; cached, since most tables share their cards.

    Args:
        card: the card.
        numbers: the first number for each of `_named`.
    """
    rows = np.zeros(1, CARD)
    write_card(rows[0], card, dict(zip(_named(card), numbers, strict=True)))
    if card.real:
        rows["card_features"] = features_of(rows) | GameFeature.EFFECTS
    return rows.tobytes()


def write_card(row: np.void, card: Card, pools: Mapping[tuple[str, ...], int]) -> None:
    """Write a card's record. `row`, of dtype `CARD`, is modified in place.

    Args:
        row: a zero record.
        card: the card.
        pools: first card number for each tuple of ids that effects create.
    """
    _write_print(row, card)
    for place, effect in enumerate(card.effects if card.real else ()):
        _write_effect(row["effects"][place], effect, pools)
        if effect.op == Op.CHOOSE_ONE:
            row["options"] = pools[effect.cards]
    aimed = [effect for effect in card.effects if effect.pick == Pick.CHOSEN]
    if aimed and card.real:
        row["aim"] = Aim.IF_ANY if card.kind in (CardKind.MINION, CardKind.WEAPON) else Aim.NEEDED
        for name in ("side", "kind", "filter", "arg"):
            row[f"aim_{name}"] = getattr(aimed[0], name)
        asked = {(effect.condition, effect.condition_arg) for effect in aimed}
        if len(asked) == 1 and abs(aimed[0].condition) not in TARGET_CONDITIONS:
            row["aim_condition"], row["aim_condition_arg"] = asked.pop()


def _write_print(row: np.void, card: Card) -> None:
    """Write a card's numbers and properties without effect rows and targets. `row` is modified in place."""
    spec = card.spec
    row["cost"], row["attack"], row["health"] = spec.cost, spec.attack, spec.health
    row["keywords"], row["value"] = spec.keywords, spec.worth
    row["rarity"] = RARITIES.get(card.rarity, 0)
    if not card.real:
        return
    row["kind"], row["race"], row["traits"] = card.kind, card.race, card.traits
    row["spell_damage"], row["overload"], row["needs"] = card.spell_damage, card.overload, card.needs
    row["hero_class"] = _class_of(card)
    row["n_effects"] = len(card.effects)
    assert len(card.effects) <= MAX_ROWS, "checked where rows are read"
    row["trigger_bits"] = sum({1 << effect.trigger for effect in card.effects})
    if card.kind == CardKind.MINION:
        row["traits"] |= traits_of_triggers(int(row["trigger_bits"]))
    row["tags"] = tags_of(card)


def tags_of(card: Card) -> int:
    """Filterable properties of a card: bits of `CardFilter`."""
    triggers = {effect.trigger for effect in card.effects}
    played = [effect for effect in card.effects if effect.trigger == Trigger.PLAY]
    tags = 0
    if card.kind in (CardKind.MINION, CardKind.WEAPON):
        plain = [one for one in played if one.condition != Condition.COMBO and one.op != Op.CHOOSE_ONE]
        tags |= CardFilter.BATTLECRY if plain else 0
    tags |= CardFilter.COMBO if any(abs(effect.condition) == Condition.COMBO for effect in played) else 0
    if card.kind in (CardKind.MINION, CardKind.WEAPON):  # a spell grants a Deathrattle but has none
        tags |= CardFilter.DEATHRATTLE if Trigger.DEATHRATTLE in triggers else 0
    tags |= CardFilter.OVERLOAD if card.overload else 0
    tags |= CardFilter.SPELL_DAMAGE if card.spell_damage else 0
    tags |= CardFilter.LEGENDARY if card.rarity == "LEGENDARY" else 0
    if card.kind == CardKind.SPELL and triggers and not triggers & {Trigger.PLAY, Trigger.COST}:
        tags |= CardFilter.SECRET
    return tags


TARGET_CONDITIONS = (
    Condition.HAS_TARGET,
    Condition.TARGET_DYING,
    Condition.TARGET_RACE,
    Condition.TARGET_OWN,
    Condition.TARGET_FROZEN,
)
"""Conditions that depend on the chosen target."""


def _write_effect(row: np.void, effect: Effect, pools: Mapping[tuple[str, ...], int]) -> None:
    for name in _FIELDS:
        row[name] = getattr(effect, name)
    row["amount"], row["amount2"] = effect.amount, effect.amount2
    row["on_side"], row["on_kind"], row["on_filter"], row["on_arg"] = effect.on
    _, row["of_kind"], row["of_filter"], row["of_arg"] = effect.of
    if draws_at_random(effect):
        row["amount"] = POOL
    if effect.cards == (EVENT_CARD_WORD,):
        row["amount"] = EVENT_CARD
    elif effect.cards == (OWN_CARD_WORD,):
        row["amount"] = OWN_CARD
    elif effect.cards:
        first = pools[effect.cards]
        row["amount"] = first
        row["amount2"] = first + len(effect.cards) - 1 if len(effect.cards) > 1 else 0
