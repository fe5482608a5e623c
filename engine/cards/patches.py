"""Patches: changed numbers of cards, in all games of the decks that carry them.

A patch sets numbers that a card prints: cost, attack, health or durability, Overload, Spell Damage, and the
numbers of its effect rows under the names of `printed_numbers`. It applies to the cards of decks, to hero
powers and to cards that effects create; the text of a card is described from its rows, so it follows.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from engine.cards import Card, catalogue
from engine.cards.real import EDITIONS, edition
from engine.codes import MAX_STAT
from engine.effect_codes import CardKind, Filter, Op, Pick
from engine.effects.rows import CONDITION_ARGS, Effect, effect_rows, potion_ids
from engine.errors import WrongValueError, unknown_name
from engine.safe_files import read_toml

THE_COIN = "GAME_005"
"""Id of the Coin, which is no card of the table where the ruleset gives it."""

MAX_AMOUNT = 30
"""Largest number of an effect row in a patch."""

MAX_TIMES = 10
"""Largest number of repetitions of an effect row in a patch."""


class PatchError(WrongValueError, ValueError):
    """An invalid patch; the message names the card, the number and the ones that the card has."""


class PrintedNumber(NamedTuple):
    """A number of a card that a patch can set.

    Attributes:
        name: in patches.
        value: as printed.
        low: smallest value of a patch.
        high: largest value of a patch.
        row: index of its effect row; -1 for a number of the card itself.
        field: field of `MinionSpec`, `Card` or `Effect`.
    """

    name: str
    value: int
    low: int
    high: int
    row: int = -1
    field: str = ""


_AMOUNTS: Mapping[Op, tuple[str, str]] = {
    Op.DAMAGE: ("damage", "most_damage"),
    Op.HEAL: ("heal", ""),
    Op.ARMOUR: ("armour", ""),
    Op.DRAW: ("draw", ""),
    Op.BUFF: ("gives_attack", "gives_health"),
    Op.SET: ("sets_attack", "sets_health"),
    Op.MANA: ("mana", ""),
    Op.CRYSTALS: ("crystals", ""),
    Op.WEAPON: ("gives_weapon_attack", "gives_durability"),
    Op.MULTIPLY: ("attack_factor", "health_factor"),
    Op.SPELL_DAMAGE: ("gives_spell_damage", ""),
    Op.COST: ("cost_change", "lowest_cost"),
    Op.CHANGE_HAND_COST: ("cost_change", ""),
    Op.BOUNCE: ("cost_change", ""),
    Op.COPY: ("copy_attack", "copy_health"),
    Op.SUMMON_COPY_FROM_DECK: ("copy_attack", "copy_health"),
    Op.COPY_TO_HAND: ("cost_change", "copy_cost"),
    Op.BUFF_HAND: ("gives_attack", "gives_health"),
    Op.MILL: ("mill", ""),
    Op.DRAW_UNTIL: ("hand_size", ""),
    Op.DISCOVER: ("", "cost_change"),
    Op.REVIVE: ("revived_health", ""),
}
"""Names of amount and amount2 of an effect row; "" for one that is no number in a card's text."""

_SIGNED = frozenset({"gives_attack", "gives_health", "cost_change", "crystals", "gives_durability"})
"""Names of numbers that may be negative."""

_OPTIONAL = frozenset(
    {"most_damage", "gives_attack", "gives_health", "copy_attack", "copy_health", "copy_cost"}
)
"""Names of numbers that the text of a card does not have where they are 0."""

_TIMES: Mapping[Op, str] = {
    Op.SUMMON: "summons",
    Op.SUMMON_FROM_HAND: "summons",
    Op.SUMMON_COPY_FROM_DECK: "summons",
    Op.RECRUIT: "summons",
    Op.RESURRECT: "summons",
    Op.JADE: "summons",
    Op.ADD: "adds",
    Op.SHUFFLE: "shuffles",
    Op.DISCARD: "discards",
    Op.COPY_TO_HAND: "copies",
    Op.COPY_TO_DECK: "copies",
    Op.COPY_FROM_DECK: "copies",
    Op.COPY_FROM_HAND: "copies",
    Op.PLAY_SECRETS_FROM_DECK: "secrets",
}
"""Name of an effect row's repetitions; a random pick of characters has `targets`."""

_LIMITS = (Filter.ATTACK_AT_MOST, "attack_at_most"), (Filter.ATTACK_AT_LEAST, "attack_at_least")
"""Filter bits of characters whose arg is a number in the card's text, and its name."""


def _numbers_of_row(effect: Effect) -> Iterator[tuple[str, str]]:
    """Names and fields of an effect row's numbers."""
    for name, field in zip(_AMOUNTS.get(effect.op, ("", "")), ("amount", "amount2"), strict=True):
        value = getattr(effect, field)
        if not name or (name in _OPTIONAL and value == 0) or (effect.op == Op.SET and value < 0):
            continue
        if name == "lowest_cost" and not value:
            continue
        yield name, field
    if effect.times > 0 and effect.op in _TIMES:
        yield _TIMES[effect.op], "times"
    elif effect.times > 0 and effect.pick == Pick.RANDOM:
        yield "targets", "times"
    for bit, name in _LIMITS:
        if effect.filter & bit:
            yield name, "arg"
    if effect.condition_arg and abs(effect.condition) not in CONDITION_ARGS:
        yield "condition", "condition_arg"


@lru_cache(maxsize=4096)
def printed_numbers(card: Card) -> tuple[PrintedNumber, ...]:
    """Numbers of a card that a patch can set, those of the card first, then its effect rows in order.

    Numbers of several rows with the same name have the number of the row behind it: "damage1", "damage2".
    """
    spec = card.spec
    found = [PrintedNumber("cost", spec.cost, 0, MAX_STAT, field="cost")]
    if card.kind in (CardKind.MINION, CardKind.WEAPON):
        last = "durability" if card.kind == CardKind.WEAPON else "health"
        found.append(PrintedNumber("attack", spec.attack, 0, MAX_STAT, field="attack"))
        found.append(PrintedNumber(last, spec.health, 1, MAX_STAT, field="health"))
    for name in ("overload", "spell_damage"):
        if getattr(card, name):
            found.append(PrintedNumber(name, getattr(card, name), 0, MAX_AMOUNT, field=name))
    rows = [
        (row, name, field)
        for row, effect in enumerate(card.effects if card.real else ())
        for name, field in _numbers_of_row(effect)
    ]
    names = [name for _, name, _ in rows]
    for place, (row, name, field) in enumerate(rows):
        number = f"{1 + names[:place].count(name)}" if names.count(name) > 1 else ""
        low = 1 if field == "times" else -MAX_AMOUNT if name in _SIGNED else 0
        high = MAX_TIMES if field == "times" else MAX_AMOUNT
        value = getattr(card.effects[row], field)
        if low <= value <= high:  # beyond are codes, such as -99 of "costs 0"
            found.append(PrintedNumber(name + number, value, low, high, row, field))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class CardPatch:
    """Changed numbers of one card.

    Attributes:
        card: the card as printed.
        ids: ids of all cards that change: the card and its reprints.
        changes: names of `printed_numbers` and values, sorted by name.
    """

    card: Card
    ids: tuple[str, ...]
    changes: tuple[tuple[str, int], ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The changes as words of a deck prefix: "CS2_029.cost=5"."""
        return tuple(f"{self.card.id}.{name}={value}" for name, value in self.changes)

    @property
    def text(self) -> str:
        """The changes as users write them: "Fireball cost=5", or with an id if the name is another card's."""
        named = find_patched_cards(self.card.name)
        name = self.card.name if named == (self.card,) else self.card.id
        return " ".join([name, *(f"{number}={value}" for number, value in self.changes)])

    def sentence(self, printed: Card) -> str:
        """The changes of a printing in words: "Fireball (cost 5 instead of 4)"."""
        numbers = {number.name: number.value for number in printed_numbers(printed)}
        told = [
            f"{name.replace('_', ' ')} {value} instead of {numbers[name]}"
            for name, value in self.changes
            if value != numbers.get(name, value)
        ]
        return f"{self.card.name} ({', '.join(told) or 'as printed'})"

    @property
    def changes_text(self) -> bool:
        """Whether a number of the card's text changes, which a position as text does not have."""
        return any(name not in ("cost", "attack", "health", "durability") for name, _ in self.changes)

    def apply(self, card: Card) -> Card:
        """The card with the changes, if it is one of `ids`; numbers that a reprint lacks do not change."""
        if card.id not in self.ids:
            return card
        known = {number.name: number for number in printed_numbers(card)}
        spec: dict[str, Any] = {}
        own: dict[str, Any] = {}
        rows = list(card.effects)
        for name, value in self.changes:
            number = known.get(name)
            if number is None or number.value == value:
                continue
            if number.row >= 0:
                of_row: dict[str, Any] = {number.field: value}
                rows[number.row] = replace(rows[number.row], **of_row)
            elif number.field in ("overload", "spell_damage"):
                own[number.field] = value
            else:
                spec[number.field] = value
        changed = replace(card, spec=replace(card.spec, **spec), effects=tuple(rows), **own)
        beyond = dict(word.split("=") for word in card.changed.split())
        beyond |= {
            name: str(value)
            for name, value in self.changes
            if name in known and known[name].field not in ("cost", "attack", "health")
        }
        words = " ".join(f"{name}={value}" for name, value in sorted(beyond.items()))
        return replace(changed, changed=words) if changed != card else card


@dataclass(frozen=True, slots=True)
class Patch:
    """Changed numbers of cards.

    Attributes:
        cards: by card, sorted by name and id.
    """

    cards: tuple[CardPatch, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.cards)

    def apply(self, card: Card) -> Card:
        """The card with its changes; the same object if it has none."""
        for patch in self.cards:
            card = patch.apply(card)
        return card

    @property
    def words(self) -> tuple[str, ...]:
        """All changes as words of a deck prefix."""
        return tuple(word for patch in self.cards for word in patch.words)

    @property
    def changes_text(self) -> bool:
        """Whether a number of a card's text changes, which positions as text do not have."""
        return any(patch.changes_text for patch in self.cards)

    @property
    def texts(self) -> list[str]:
        """The changes of each card as users write them."""
        return [patch.text for patch in self.cards]

    def __or__(self, other: "Patch") -> "Patch":
        """Both patches; where both set a number, the other one decides."""
        return _merged([*self._items, *other._items])

    @property
    def _items(self) -> list[tuple[Card, str, int]]:
        return [(patch.card, name, value) for patch in self.cards for name, value in patch.changes]


NO_PATCH = Patch()

_CHANGE = re.compile(r"([A-Za-z][A-Za-z_0-9]*)=([^=]+)")
WORD = re.compile(r"(?P<card>\w+)\.(?P<name>[a-z][a-z_0-9]*)=(?P<value>-?\d+)")
"""A word of a deck prefix that changes a number: "CS2_029.cost=5"."""


def parse_patch(texts: Iterable[str]) -> Patch:
    """Parse patches as users write them: "Fireball cost=5 damage=7", card names or ids.

    Raises:
        PatchError: a text is not a patch, or a card does not have a number; the message lists its numbers.
        UnknownNameError: there is no such card; the message lists the nearest.
    """
    items: list[tuple[Card, str, int]] = []
    for text in texts:
        words = re.sub(r"\s*=\s*", "=", text).replace(",", " ").split()
        n_name = next((place for place, word in enumerate(words) if "=" in word), len(words))
        changes = [_CHANGE.fullmatch(word) for word in words[n_name:]]
        if not n_name or not changes or not all(changes):
            raise PatchError(
                f'a patch is written "CARD NUMBER=VALUE", such as "Fireball cost=5", got {text!r}'
            )
        card = find_patched_card(" ".join(words[:n_name]))
        items += [(card, *_checked(card, *change.groups())) for change in changes if change]
    return _merged(items)


def read_patches(texts: Iterable[str]) -> Patch:
    """Read patches as commands take them: texts of `parse_patch`, or TOML files with a key `patches`.

    Raises:
        PatchError: a file cannot be read, or as of `parse_patch`.
        UnknownNameError: as of `parse_patch`.
    """
    found: list[str] = []
    for text in texts:
        found += _patches_of_file(text) if text.strip().endswith(".toml") else [text]
    return parse_patch(found)


def _patches_of_file(path: str) -> list[str]:
    try:
        content = read_toml(Path(path))
    except OSError as error:
        raise PatchError(f"cannot read the file of patches {path}: {error.strerror}") from None
    except ValueError as error:
        raise PatchError(f"the file of patches {path} is not a TOML file: {error}") from None
    patches = content.get("patches")
    if not isinstance(patches, list) or not all(isinstance(text, str) for text in patches):
        raise PatchError(f'{path} has no list of patches; write patches = ["Fireball cost=5"]')
    return patches


def patch_from_words(words: Iterable[str]) -> Patch:
    """Parse the words of a deck prefix (`Patch.words`).

    Raises:
        PatchError, UnknownNameError: as `parse_patch`.
    """
    found = [match for word in words if (match := WORD.fullmatch(word))]
    return parse_patch(f"{match['card']} {match['name']}={match['value']}" for match in found)


def _merged(items: Sequence[tuple[Card, str, int]]) -> Patch:
    """A patch of changes; the last one of a number counts."""
    by_card: dict[str, tuple[Card, dict[str, int]]] = {}
    for card, name, value in items:
        by_card.setdefault(card.id, (card, {}))[1][name] = value
    patches = [
        CardPatch(card, _reprints(card), tuple(sorted(changes.items()))) for card, changes in by_card.values()
    ]
    return Patch(tuple(sorted(patches, key=lambda patch: (patch.card.name, patch.card.id))))


def _checked(card: Card, name: str, text: str) -> tuple[str, int]:
    """Name and value of a change, checked against the card's numbers."""
    name = name.lower()
    known = {number.name: number for number in printed_numbers(card)}
    given = f"{card.name} [{card.id}]"
    if name not in known:
        numbers = ", ".join(f"{number.name} {number.value}" for number in known.values())
        parts = "; ".join(
            f"{part.name} [{part.id}]: {', '.join(f'{n.name} {n.value}' for n in printed_numbers(part))}"
            for part in _parts(card)
        )
        further = f"; its parts are cards of their own: {parts}" if parts else ""
        raise PatchError(f"{given} has no number {name!r} to change; it has {numbers}{further}")
    number = known[name]
    if not re.fullmatch(r"-?[0-9]{1,9}", text):
        raise PatchError(f"{given}: {name} must be a whole number, got {text!r}")
    value = int(text)
    if not number.low <= value <= number.high:
        raise PatchError(f"{given}: {name} must be from {number.low} to {number.high}, got {value}")
    return name, value


def _parts(card: Card) -> list[Card]:
    """Cards that the effects of a card name, at most six, such as the options of Choose One."""
    ids = [name for effect in card.effects for name in effect.cards]
    found = [edition().by_id[name] for name in dict.fromkeys(ids) if name in edition().by_id]
    return found if len(found) <= 6 else []


def find_patched_card(id_or_name: str) -> Card:
    """Find the card that a patch names.

    Raises:
        PatchError: several different cards have this name, and none is collectible; or it cannot change.
        UnknownNameError: there is no such card.
    """
    found = find_patched_cards(id_or_name)
    if not found:
        named = [card.name for name in EDITIONS for card in edition(name).by_id.values()]
        raise unknown_name("card", id_or_name, [*named, *(card.name for card in catalogue().by_id.values())])
    if any(card.id in _potion_parts() for card in found):
        raise PatchError(f"{found[0].name} is a part of Kazakus' potions, which cannot be patched")
    if found[0].id == THE_COIN:
        raise PatchError("The Coin cannot be patched; choose a ruleset without it")
    if len(found) > 1:
        listed = ", ".join(f"{card.describe()}" for card in found[:6])
        raise PatchError(f"{len(found)} cards are named {found[0].name}; write one's id: {listed}")
    return found[0]


def find_patched_cards(id_or_name: str) -> tuple[Card, ...]:
    """Different cards of an id or a name (case ignored): the oldest collectible one, or all others."""
    pool = _all_cards()
    if id_or_name in pool:
        card = pool[id_or_name]
        return find_patched_cards(card.name) if _collectible(card) else (card,)
    folded = id_or_name.casefold()
    named = [card for card in pool.values() if card.name.casefold() == folded]
    return tuple([card for card in named if _collectible(card)][:1] or named)


@lru_cache(maxsize=1)
def _all_cards() -> Mapping[str, Card]:
    """All playable cards by id, those with effects first."""
    found: dict[str, Card] = {}
    for name in EDITIONS:
        for card in edition(name).by_id.values():
            found.setdefault(card.id, card)
    for name in EDITIONS:
        for card in edition(name).bodies.values():
            found.setdefault(card.id, card)
    return found


def _collectible(card: Card) -> bool:
    return any(card.id in edition(name).collectible or card.id in edition(name).bodies for name in EDITIONS)


def _reprints(card: Card) -> tuple[str, ...]:
    """Ids of a card and its reprints; of a card that no deck has, of the same numbers and rows."""
    alike = _collectible(card)
    return tuple(
        other.id
        for other in _all_cards().values()
        if other.name == card.name
        and other.kind == card.kind
        and (_collectible(other) if alike else other.spec == card.spec and other.effects == card.effects)
    )


def is_patchable(card: Card) -> bool:
    """Whether a patch may change a card: all but the Coin and the potions of Kazakus."""
    return card.id != THE_COIN and card.id not in _potion_parts()


@lru_cache(maxsize=1)
def _potion_parts() -> frozenset[str]:
    """Ids of the potions of Kazakus and their effects, which a patch does not change."""
    brewed = [
        effect.cards for rows in effect_rows().values() for effect in rows if effect.op == Op.CREATE_POTION
    ]
    return frozenset(name for cards in brewed for name in (*cards, *potion_ids(cards)))
