"""Effect rows of cards: parse, check and write `engine/data/effects.csv`.

The table has one row per effect, in the words of `engine.effect_codes`; the rows of a card stand in the order
of resolution. Empty columns mean defaults. A card without rows has no effects in the game: its text, if any,
is not fully covered.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from functools import lru_cache
from importlib import resources
from itertools import combinations
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from engine.codes import Keyword
from engine.effect_codes import (
    ENEMY,
    HEROES,
    MAX_ROWS,
    MINIONS,
    N_POTION_EFFECTS,
    ONLY_ITSELF,
    ONLY_OTHERS,
    OWN,
    POWERS,
    SPELLS,
    WEAPONS,
    CardFilter,
    Condition,
    Count,
    Filter,
    Gang,
    HeroClassCode,
    Op,
    Pick,
    Race,
    Rule,
    Trait,
    Trigger,
    Until,
)
from engine.errors import CardError, UnknownNameError, unknown_name

FILTER_ARGS: Mapping[int, type[IntEnum]] = {
    CardFilter.RACE: Race,
    CardFilter.KEYWORD: Keyword,
    CardFilter.CLASS: HeroClassCode,
    CardFilter.GANG: Gang,
}
"""Enumeration that names the arg of a `CardFilter` bit; args of other bits are plain numbers."""

MIN_FIELD, MAX_FIELD = -(2**15), 2**15 - 1
"""Range of an integer field of `EFFECT`."""

Word = TypeVar("Word", bound=IntEnum)


class CardQuery(NamedTuple):
    """Filter of events or of cards: side, type, and `CardFilter` bits with their argument.

    Attributes:
        side: bits of OWN, ENEMY, ONLY_ITSELF and ONLY_OTHERS; only for events.
        kind: bits of card or character types; 0 for any.
        filter: bits of `CardFilter`.
        arg: value the filter compares with.
    """

    side: int = 0
    kind: int = 0
    filter: int = 0
    arg: int = 0


@dataclass(frozen=True, slots=True)
class CsvFields:
    """CSV fields of one effect row, with parsers that report file, line and column.

    Attributes:
        row: texts by column.
        where: place of the row for error messages: "effects.csv line 7".
    """

    row: Mapping[str, str]
    where: str

    def error(self, column: str, reason: str) -> CardError:
        """Build the error for a field: place, column, reason and text."""
        return CardError(f"{self.where}, column {column}: {reason}, got {self.row[column]!r}")

    def word(self, column: str, words: type[Word], default: Word) -> Word:
        """Enumeration member named by a field; `default` if the field is empty."""
        text = self.row[column]
        return words(self.number_of(column, text, words)) if text else default

    def bits(self, column: str, words: Mapping[str, int] | type[IntEnum]) -> int:
        """Union of the bits that a field's words name."""
        return sum({self.number_of(column, item, words) for item in self.row[column].split()})

    def parse_with_arg(
        self, column: str, text: str, words: type[Word], names: Mapping[int, type[IntEnum]]
    ) -> tuple[Word, int]:
        """Parse a word with an argument, such as "race:pirate" or "cost:3"; without one the argument is 0.

        Args:
            column: column of the text, for error messages.
            text: the word and its argument.
            words: enumeration of the allowed words.
            names: enumeration that names the argument of a word; other arguments are numbers.
        """
        name, _, arg = text.partition(":")
        member = words(self.number_of(column, name, words))
        if arg and member in names:
            return member, self.number_of(column, arg, names[member])
        if arg and not arg.isdecimal():
            raise self.error(column, "the argument after ':' must be a number")
        return member, int(arg or 0)

    def parse_query(self, column: str, sides: Mapping[str, int], kinds: Mapping[str, int]) -> CardQuery:
        """Parse a field's words into a filter of events or cards; `sides` and `kinds` map words to bits."""
        side = kind = filter_bits = arg = 0
        for item in self.row[column].split():
            if item in sides:
                side |= sides[item]
            elif item in kinds:
                kind |= kinds[item]
            else:
                bit, new_arg = self.parse_with_arg(column, item, CardFilter, FILTER_ARGS)
                filter_bits |= bit
                arg = new_arg or arg
        return CardQuery(side, kind, filter_bits, arg)

    def number(self, column: str, default: int = 0) -> int:
        """Integer of a field; `default` if the field is empty."""
        if not self.row[column]:
            return default
        try:
            value = int(self.row[column])
        except ValueError:
            raise self.error(column, "must be an integer") from None
        if not MIN_FIELD <= value <= MAX_FIELD:
            raise self.error(column, f"must be from {MIN_FIELD} to {MAX_FIELD}")
        return value

    def number_of(self, column: str, name: str, words: Mapping[str, int] | type[IntEnum]) -> int:
        """Code of a word; for an unknown word, raise an error that suggests the nearest."""
        known: dict[str, Any] = (
            {member.name.lower(): member for member in words} if isinstance(words, type) else dict(words)
        )
        if name not in known:
            raise UnknownNameError(f"{self.where}, column {column}: {unknown_name('word', name, known)}")
        return int(known[name])


EFFECT_COLUMNS = (
    "id", "name", "trigger", "op", "pick", "side", "kind", "filter", "arg", "times", "amount", "amount2",
    "keywords", "until", "condition", "card", "on", "of", "count",
)  # fmt: skip

OWN_CARD_WORD = "self"
"""Word of the column `card`: the card of the row's own minion, also if the row was granted to it."""

EVENT_CARD_WORD = "event"
"""Word of the column `card`: the card of the triggering event."""

NO_CARD_IDS = ((), (OWN_CARD_WORD,), (EVENT_CARD_WORD,))
"""Values of the column `card` that name no card ids."""

SIDES = {"own": OWN, "enemy": ENEMY}
KINDS = {"minions": MINIONS, "heroes": HEROES}
EVENT_SIDES = SIDES | {"self": ONLY_ITSELF, "others": ONLY_OTHERS}
CARD_KINDS = {"minions": MINIONS, "spells": SPELLS, "weapons": WEAPONS, "powers": POWERS}

CONDITION_ARGS: Mapping[int, type[IntEnum]] = {
    Condition.RACE: Race,
    Condition.HOLDS_RACE: Race,
    Condition.TARGET_RACE: Race,
    Condition.TARGET_OWN: Race,
    Condition.OWN_KEYWORD: Keyword,
    Condition.ENEMY_KEYWORD: Keyword,
}
COUNT_ARGS: Mapping[int, type[IntEnum]] = {Count.OTHER_RACE: Race, Count.ALL_OTHER_RACE: Race}

BIT_AMOUNTS: Mapping[int, type[IntEnum]] = {Op.TRAIT: Trait, Op.RULE: Rule}
"""Operations whose amount is a set of bits, with the enumeration of these bits."""

CREATING_OPS = (
    Op.SUMMON,
    Op.TRANSFORM,
    Op.EQUIP,
    Op.ADD,
    Op.GRANT_EFFECTS,
    Op.SHUFFLE,
    Op.POWER,
    Op.JADE,
    Op.CHOOSE_ONE,
    Op.DISCOVER,
    Op.CHOOSE_POWER,
    Op.CREATE_POTION,
    Op.DECOY,
)
"""Operations that create cards, named in the column `card` or filtered by `of`."""

FILTERS_WITH_ARG = (
    CardFilter.RACE,
    CardFilter.COST,
    CardFilter.COST_AT_MOST,
    CardFilter.ATTACK_AT_MOST,
    CardFilter.ATTACK_AT_LEAST,
    CardFilter.KEYWORD,
    CardFilter.ATTACK,
    CardFilter.CLASS,
    CardFilter.GANG,
)
"""Card filter bits that use the arg; a filter has at most one of them."""


OWN_EVENTS, NO_QUERY = CardQuery(OWN), CardQuery()


HASHED_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "Op.COPY_FROM_DECK": "GLEAN",
        "Op.COPY_FROM_HAND": "READ",
        "Op.RESURRECT": "RAISE",
        "Op.SUMMON_FROM_HAND": "CALL",
        "Op.SUMMON_COPY_FROM_DECK": "MIRROR",
        "Op.BUFF_HAND": "ENHANCE",
        "Op.CHANGE_HAND_COST": "CHEAPEN",
        "Op.DRAW_UNTIL": "FILL",
        "Op.REFRESH_POWER": "REFRESH",
        "Op.RETURN_TO_DECK": "REVERT",
        "Op.CHOOSE_ONE": "OPTIONS",
        "Op.DISCOVER_FROM_DECK": "SEEK",
        "Op.CREATE_POTION": "BREW",
        "Op.DESTROY_SECRETS": "BURN",
        "Op.PLAY_SECRETS_FROM_DECK": "HIDE",
        "Op.TARGET_ONLY": "AIM",
        "Op.REFILL_MANA": "REFILL",
        "Op.TARGET_DEALS_DAMAGE": "STRIKE",
        "Op.BECOME_COPY": "BECOME",
        "Op.GRANT_EFFECTS": "GIVE",
        "Op.UNLOCK_OVERLOAD": "UNLOCK",
        "Op.SET_ATTACK_TO_HEALTH": "EQUALISE",
        "Op.LOSE_KEYWORDS": "LOSE",
        "Trigger.AFTER_DEATH": "BURIED",
        "Trigger.SECRET_REVEALED": "REVEALED",
        "Trigger.WEAPON_DESTROYED": "DISARMED",
    }
)
"""Names in hashes of configurations and tournaments, for members that have another name today: those stay."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect row of a card; kernels read it as a record of dtype `EFFECT`.

    Attributes:
        trigger: event that activates it.
        op: its operation.
        pick: its target selection.
        side: bits of OWN and ENEMY, relative to the card's player.
        kind: bits of MINIONS and HEROES; 0 if it selects no characters.
        filter: bits of `Filter`.
        arg: value the filter compares with: attack, a `Race` or a `Keyword`.
        times: repetitions; 0 discards the whole hand, a negative random pick takes all but that many.
        amount: see `Op`; 0 if `cards` names the cards.
        amount2: see `Op`.
        keywords: bits of `Keyword`.
        until: duration of its change.
        condition: a `Condition`; negative to negate it.
        condition_arg: value the condition compares with.
        count: multiplier of the amounts.
        count_arg: the counted `Race`.
        on: filter of the triggering event.
        of: filter of the affected or created cards.
        cards: ids of the cards it creates, one at random each time; `OWN_CARD_WORD` for the minion's own
            card; empty if it draws from all exactly played cards of the edition that match `of`.
    """

    trigger: Trigger
    op: Op
    pick: Pick = Pick.NONE
    side: int = OWN
    kind: int = 0
    filter: int = 0
    arg: int = 0
    times: int = 1
    amount: int = 0
    amount2: int = 0
    keywords: int = 0
    until: Until = Until.ALWAYS
    condition: int = Condition.NONE
    condition_arg: int = 0
    count: Count = Count.NONE
    count_arg: int = 0
    on: CardQuery = OWN_EVENTS
    of: CardQuery = NO_QUERY
    cards: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """All fields as text, for hashes of configurations; renamed members keep their old names."""
        texts = []
        for field in fields(self):
            value = getattr(self, field.name)
            text = repr(value)
            if isinstance(value, IntEnum):
                member = f"{type(value).__name__}.{value.name}"
                name = HASHED_NAMES.get(member, value.name)
                text = f"<{type(value).__name__}.{name}: {value.value}>"
            elif isinstance(value, CardQuery):
                text = text.replace(CardQuery.__name__, "Asked", 1)
            texts.append(f"{field.name}={text}")
        return f"Effect({', '.join(texts)})"


@lru_cache(maxsize=1)
def effect_rows() -> Mapping[str, tuple[Effect, ...]]:
    """Reviewed effect rows by card id, read once from effects.csv.

    Raises:
        CardError: a number is out of range, a card has too many rows, or a column does not fit the operation;
            the message names line and column.
        UnknownNameError: a word or a card id is unknown.
    """
    data = resources.files("engine") / "data"
    with (data / "editions" / "2018-07.csv").open(encoding="utf-8") as lines:
        known = {row["id"] for row in csv.DictReader(lines)}
    with (data / "effects.csv").open(encoding="utf-8") as lines:
        return read_rows(lines, known)


def read_rows(lines: Iterable[str], known: set[str]) -> Mapping[str, tuple[Effect, ...]]:
    """Parse and check an effect table; rows by card id.

    Args:
        lines: lines of a CSV file with the columns `EFFECT_COLUMNS`.
        known: card ids of the edition.

    Raises:
        CardError: see `effect_rows`.
        UnknownNameError: see `effect_rows`.
    """
    found: dict[str, list[Effect]] = {}
    table = csv.DictReader(lines)
    if tuple(table.fieldnames or ()) != EFFECT_COLUMNS:
        raise CardError(f"effects.csv: columns must be {','.join(EFFECT_COLUMNS)}, got {table.fieldnames}")
    for row in table:
        where = f"effects.csv line {table.line_num}"
        if None in row or None in row.values():
            raise CardError(f"{where}: a row must have {len(EFFECT_COLUMNS)} columns")
        if row["id"] not in known:
            raise UnknownNameError(f"{where}, column id: {unknown_name('card', row['id'], known)}")
        rows = found.setdefault(row["id"], [])
        if len(rows) == MAX_ROWS:
            raise CardError(
                f"{where}: {row['id']} has more than {MAX_ROWS} effect rows; "
                "raise MAX_ROWS in engine/effect_codes.py"
            )
        rows.append(_effect(row, where, known))
    return MappingProxyType({name: tuple(rows) for name, rows in found.items()})


def potion_ids(brewed: Sequence[str]) -> tuple[str, ...]:
    """Card ids of all potions (Kazakus): pairs of effects of the same cost, ordered by cost and effects.

    Args:
        brewed: card ids of the costs, then of each cost's effects.
    """
    effects = iter(brewed[len(N_POTION_EFFECTS) :])
    found: list[str] = []
    for n_effects in N_POTION_EFFECTS:
        of_cost = [next(effects) for _ in range(n_effects)]
        found += [f"{first}_{second}" for first, second in combinations(of_cost, 2)]
    return tuple(found)


def referenced_card_ids() -> set[str]:
    """All card ids in effects.csv, unchecked; input of the edition's generator."""
    with (resources.files("engine") / "data" / "effects.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return {name for row in rows for name in (row["id"], *row["card"].split())} - {
        OWN_CARD_WORD,
        EVENT_CARD_WORD,
    }


def row_to_csv(card_id: str, name: str, effect: Effect) -> dict[str, str]:
    """Format an effect row as CSV fields of effects.csv, the inverse of `read_rows`."""
    plain = Effect(effect.trigger, effect.op)
    amount = str(effect.amount) if effect.amount != plain.amount else ""
    if effect.op in BIT_AMOUNTS:
        amount = _bits(effect.amount, BIT_AMOUNTS[effect.op])
    arg = str(effect.arg) if effect.arg else ""
    if effect.filter & (Filter.RACE | Filter.NOT_RACE):
        arg = Race(effect.arg).name.lower()
    elif effect.filter & Filter.KEYWORD:
        arg = _bits(effect.arg, Keyword)
    side = effect.side if effect.kind or effect.side != OWN else 0
    return {
        "id": card_id,
        "name": name,
        "trigger": "" if effect.trigger == Trigger.PLAY else effect.trigger.name.lower(),
        "op": effect.op.name.lower(),
        "pick": effect.pick.name.lower() if effect.pick else "",
        "side": " ".join(word for word, bit in SIDES.items() if side & bit),
        "kind": " ".join(word for word, bit in KINDS.items() if effect.kind & bit),
        "filter": _bits(effect.filter, Filter),
        "arg": arg,
        "times": str(effect.times) if effect.times != plain.times else "",
        "amount": amount,
        "amount2": str(effect.amount2) if effect.amount2 else "",
        "keywords": _bits(effect.keywords, Keyword),
        "until": effect.until.name.lower() if effect.until else "",
        "condition": condition_to_csv(effect),
        "card": " ".join(
            effect.cards[: sum(N_POTION_EFFECTS) + len(N_POTION_EFFECTS)]
            if effect.op == Op.CREATE_POTION
            else effect.cards
        ),
        "on": "" if effect.on == plain.on else _filter_words(effect.on, EVENT_SIDES, CARD_KINDS | KINDS),
        "of": _filter_words(effect.of, {}, CARD_KINDS),
        "count": _with_arg(effect.count, effect.count_arg, COUNT_ARGS) if effect.count else "",
    }


def condition_to_csv(effect: Effect) -> str:
    """Format an effect row's condition for effects.csv: "not combo", "race:pirate"; "" for none."""
    if not effect.condition:
        return ""
    word = _with_arg(Condition(abs(effect.condition)), effect.condition_arg, CONDITION_ARGS)
    return f"not {word}" if effect.condition < 0 else word


def _with_arg(word: IntEnum, arg: int, names: Mapping[int, type[IntEnum]]) -> str:
    """Format a word with its argument: "race:pirate"; the word alone if the argument is 0."""
    name = word.name.lower()
    if not arg:
        return name
    return f"{name}:{names[word](arg).name.lower() if word in names else arg}"


def _filter_words(asked: CardQuery, sides: Mapping[str, int], kinds: Mapping[str, int]) -> str:
    """Format a filter of events or cards for effects.csv."""
    words = [word for word, bit in sides.items() if asked.side & bit]
    words += [word for word, bit in kinds.items() if asked.kind & bit]
    for bit in CardFilter:
        if asked.filter & bit:
            words.append(_with_arg(bit, asked.arg if bit in FILTERS_WITH_ARG else 0, FILTER_ARGS))
    return " ".join(words)


def _effect(row: Mapping[str, str], where: str, known: set[str]) -> Effect:
    """Parse and check one row of effects.csv."""
    fields = CsvFields(row, where)
    if not row["op"]:
        raise fields.error("op", "must name an operation")
    op = fields.word("op", Op, Op.DAMAGE)
    pick = fields.word("pick", Pick, Pick.NONE)
    selects = pick in (Pick.CHOSEN, Pick.ALL, Pick.RANDOM, Pick.SPLIT)
    if selects != bool(row["kind"]):
        raise fields.error("kind", "must be set if pick is chosen, all, random or split, and empty otherwise")
    if selects and not row["side"]:
        raise fields.error("side", "must be set if pick is chosen, all, random or split")
    if pick == Pick.SPLIT and op != Op.DAMAGE:
        raise fields.error("pick", f"split works only with op damage, not {op.name.lower()}")
    filter_bits = fields.bits("filter", Filter)
    if filter_bits & (Filter.RACE | Filter.NOT_RACE):
        arg = int(fields.number_of("arg", row["arg"], Race))
    elif filter_bits & Filter.KEYWORD:
        arg = int(fields.number_of("arg", row["arg"], Keyword))
    else:
        arg = fields.number("arg")
    _, _, condition_text = row["condition"].rpartition("not ")
    condition, condition_arg = (
        fields.parse_with_arg("condition", condition_text, Condition, CONDITION_ARGS)
        if condition_text
        else (0, 0)
    )
    count, count_arg = (
        fields.parse_with_arg("count", row["count"], Count, COUNT_ARGS) if row["count"] else (Count.NONE, 0)
    )
    on = fields.parse_query("on", EVENT_SIDES, CARD_KINDS | KINDS)
    if on.side & ONLY_ITSELF or not on.side & (OWN | ENEMY):
        on = on._replace(side=on.side | OWN)
    cards = tuple(row["card"].split())
    if (op in CREATING_OPS) != bool(cards or (op in CREATING_OPS and row["of"])):
        raise fields.error(
            "card",
            f"must be set if the operation creates cards, and empty otherwise; op is {op.name.lower()}",
        )
    for card in cards:
        if card not in known and card not in (OWN_CARD_WORD, EVENT_CARD_WORD):
            raise UnknownNameError(f"{where}, column card: {unknown_name('card', card, known)}")
    if cards and (row["amount"] or row["amount2"]):
        raise fields.error("amount", "must be empty if the column card is set")
    if op == Op.CREATE_POTION:
        cards += potion_ids(cards)
    return Effect(
        trigger=fields.word("trigger", Trigger, Trigger.PLAY),
        op=op,
        pick=pick,
        side=fields.bits("side", SIDES) or OWN,
        kind=fields.bits("kind", KINDS),
        filter=filter_bits,
        arg=arg,
        times=fields.number("times", 1),
        amount=fields.bits("amount", BIT_AMOUNTS[op]) if op in BIT_AMOUNTS else fields.number("amount"),
        amount2=fields.number("amount2"),
        keywords=fields.bits("keywords", Keyword),
        until=fields.word("until", Until, Until.ALWAYS),
        condition=-condition if row["condition"].startswith("not ") else int(condition),
        condition_arg=condition_arg,
        count=count,
        count_arg=count_arg,
        on=on,
        of=fields.parse_query("of", {}, CARD_KINDS),
        cards=cards,
    )


def _bits(number: int, words: type[IntEnum]) -> str:
    return " ".join(member.name.lower() for member in words if number & member)
