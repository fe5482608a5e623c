"""Effect rows: `engine/data/effects.csv` parsed, checked and kept by card id.

The table says what cards do, in the words of `engine.effect_codes`: one row per effect, the rows of a card
in the order in which its text happens. Empty columns are defaults. A card whose text is not wholly covered
has no rows.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from importlib import resources
from itertools import combinations
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from engine.codes import Keyword
from engine.effect_codes import (
    BREWED,
    ENEMY,
    HEROES,
    ITSELF_ALONE,
    MAX_ROWS,
    MINIONS,
    OTHERS_ALONE,
    OWN,
    POWERS,
    SPELLS,
    WEAPONS,
    CardFilter,
    Condition,
    Count,
    Filter,
    Gang,
    HeroName,
    Op,
    Pick,
    Race,
    Rule,
    Trait,
    Trigger,
    Until,
)
from engine.errors import CardError, unknown_name

ARGS: Mapping[int, type[IntEnum]] = {
    CardFilter.RACE: Race,
    CardFilter.KEYWORD: Keyword,
    CardFilter.CLASS: HeroName,
    CardFilter.GANG: Gang,
}
"""What the args of these words of a card filter are named by; the others are numbers."""

SMALLEST, LARGEST = -(2**15), 2**15 - 1
"""What a field of `EFFECT` holds."""

Word = TypeVar("Word", bound=IntEnum)


class Asked(NamedTuple):
    """Whose event, or which cards.

    Attributes:
        side: bits of OWN, ENEMY, ITSELF_ALONE and OTHERS_ALONE; of events alone.
        kind: bits of kinds of cards or characters; 0 for any.
        filter: bits of `CardFilter`.
        arg: what that compares with.
    """

    side: int = 0
    kind: int = 0
    filter: int = 0
    arg: int = 0


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of one row of the table.

    Attributes:
        row: their texts by column.
        where: of the row, for messages: "effects.csv line 7".
    """

    row: Mapping[str, str]
    where: str

    def fail(self, column: str, reason: str) -> CardError:
        """What is wrong with a cell."""
        return CardError(f"{self.where}, column {column}: {reason}, got {self.row[column]!r}")

    def word(self, column: str, words: type[Word], default: Word) -> Word:
        """The word of a cell; `default` where it is empty."""
        text = self.row[column]
        return words(self.number_of(column, text, words)) if text else default

    def bits(self, column: str, words: Mapping[str, int] | type[IntEnum]) -> int:
        """The bits of all words of a cell."""
        return sum({self.number_of(column, item, words) for item in self.row[column].split()})

    def argued(
        self, column: str, text: str, words: type[Word], names: Mapping[int, type[IntEnum]]
    ) -> tuple[Word, int]:
        """A word and what it compares with, of a text such as "race:pirate" or "cost:3"; 0 without.

        Args:
            column: whose text it is a part of.
            text: that part.
            words: what the word may be.
            names: what names the args of words whose args are no numbers.
        """
        name, _, arg = text.partition(":")
        member = words(self.number_of(column, name, words))
        if arg and member in names:
            return member, self.number_of(column, arg, names[member])
        if arg and not arg.isdecimal():
            raise self.fail(column, "what follows ':' must be a number")
        return member, int(arg or 0)

    def asked_of(self, column: str, sides: Mapping[str, int], kinds: Mapping[str, int]) -> Asked:
        """Whose event, or which cards, a cell names."""
        side = kind = found = arg = 0
        for item in self.row[column].split():
            if item in sides:
                side |= sides[item]
            elif item in kinds:
                kind |= kinds[item]
            else:
                bit, compared = self.argued(column, item, CardFilter, ARGS)
                found |= bit
                arg = compared or arg
        return Asked(side, kind, found, arg)

    def number(self, column: str, default: int = 0) -> int:
        """The integer of a cell; `default` where it is empty."""
        if not self.row[column]:
            return default
        try:
            value = int(self.row[column])
        except ValueError:
            raise self.fail(column, "must be an integer") from None
        if not SMALLEST <= value <= LARGEST:
            raise self.fail(column, f"must be from {SMALLEST} to {LARGEST}")
        return value

    def number_of(self, column: str, name: str, words: Mapping[str, int] | type[IntEnum]) -> int:
        """The number of a word; an unknown one is an error that lists the nearest."""
        known: dict[str, Any] = (
            {member.name.lower(): member for member in words} if isinstance(words, type) else dict(words)
        )
        if name not in known:
            raise unknown_name(f"word ({self.where}, column {column})", name, known)
        return int(known[name])


EFFECT_COLUMNS = (
    "id", "name", "trigger", "op", "pick", "side", "kind", "filter", "arg", "times", "amount", "amount2",
    "keywords", "until", "condition", "card", "on", "of", "count",
)  # fmt: skip

ITS_OWN = "self"
"""In the column `card`: the card of the minion the row belongs to, also where the row was given to it."""

EVENTS_CARD = "event"
"""In the column `card`: the card of the event that the row waited for."""

NO_CARDS = ((), (ITS_OWN,), (EVENTS_CARD,))
"""What the column `card` says where it names no cards."""

SIDES = {"own": OWN, "enemy": ENEMY}
KINDS = {"minions": MINIONS, "heroes": HEROES}
EVENT_SIDES = SIDES | {"self": ITSELF_ALONE, "others": OTHERS_ALONE}
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

WORDED: Mapping[int, type[IntEnum]] = {Op.TRAIT: Trait, Op.RULE: Rule}
"""Operations whose amount is bits, and their words."""

CREATING = (
    Op.SUMMON,
    Op.TRANSFORM,
    Op.EQUIP,
    Op.ADD,
    Op.GIVE,
    Op.SHUFFLE,
    Op.POWER,
    Op.JADE,
    Op.OPTIONS,
    Op.DISCOVER,
    Op.CHOOSE_POWER,
    Op.BREW,
    Op.DECOY,
)
"""Operations that name cards."""

COMPARING = (
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
"""Words of a card filter that compare with its arg; a row has one of them at most."""


OF_OWN, NONE_ASKED = Asked(OWN), Asked()


@dataclass(frozen=True, slots=True)
class Effect:
    """One row of a card in readable form; kernels read the same as a record of dtype `EFFECT`.

    Attributes:
        trigger: when it is carried out.
        op: what it does.
        pick: what it selects.
        side: bits of OWN and ENEMY, seen from the card's player.
        kind: bits of MINIONS and HEROES; 0 where it selects no character.
        filter: bits of `Filter`.
        arg: what the filter compares with: attack, a `Race` or a `Keyword`.
        times: how often; 0 discards the whole hand, below 0 a random pick takes all but so many.
        amount: see `Op`; 0 where `cards` says it.
        amount2: see `Op`.
        keywords: bits of `Keyword`.
        until: how long its change lasts.
        condition: what must hold, a `Condition`; below 0 it must not.
        condition_arg: what that compares with.
        count: what the amounts are multiplied by.
        count_arg: the `Race` that is counted.
        on: the event it waits for.
        of: the cards it is about.
        cards: ids of the cards that it creates, of which one is drawn each time; `ITS_OWN` for the minion's;
            none where it draws from all cards of the edition that `of` names and that are played exactly.
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
    on: Asked = OF_OWN
    of: Asked = NONE_ASKED
    cards: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def effect_rows() -> Mapping[str, tuple[Effect, ...]]:
    """The reviewed rows by card id, read once.

    Raises:
        CardError: a number is out of range, a card has too many rows, or a column does not fit its operation;
            the message names line and column.
        UnknownNameError: a word or a card id is not known.
    """
    data = resources.files("engine") / "data"
    with (data / "editions" / "2018-07.csv").open(encoding="utf-8") as lines:
        known = {row["id"] for row in csv.DictReader(lines)}
    with (data / "effects.csv").open(encoding="utf-8") as lines:
        return read_rows(lines, known)


def read_rows(lines: Iterable[str], known: set[str]) -> Mapping[str, tuple[Effect, ...]]:
    """Read an effect table.

    Args:
        lines: of a file with the columns `EFFECT_COLUMNS`.
        known: ids of all cards of the edition.

    Raises:
        CardError: as `effect_rows`.
        UnknownNameError: as `effect_rows`.
    """
    found: dict[str, list[Effect]] = {}
    table = csv.DictReader(lines)
    if tuple(table.fieldnames or ()) != EFFECT_COLUMNS:
        raise CardError(f"effects.csv: columns must be {','.join(EFFECT_COLUMNS)}, got {table.fieldnames}")
    for row in table:
        where = f"effects.csv line {table.line_num}"
        if None in row or None in row.values():
            raise CardError(f"{where}: must have {len(EFFECT_COLUMNS)} columns")
        if row["id"] not in known:
            raise unknown_name(f"card ({where}, column id)", row["id"], known)
        rows = found.setdefault(row["id"], [])
        if len(rows) == MAX_ROWS:
            raise CardError(
                f"{where}: {row['id']} has more than {MAX_ROWS} rows; "
                "raise MAX_ROWS in engine/effect_codes.py"
            )
        rows.append(_effect(row, where, known))
    return MappingProxyType({name: tuple(rows) for name, rows in found.items()})


def potions(brewed: Sequence[str]) -> tuple[str, ...]:
    """Ids of the potions with two effects of one cost each, by cost and then by effects.

    Args:
        brewed: ids of the costs, then of the effects of each.
    """
    effects = iter(brewed[len(BREWED) :])
    found: list[str] = []
    for n in BREWED:
        of_cost = [next(effects) for _ in range(n)]
        found += [f"{one}_{other}" for one, other in combinations(of_cost, 2)]
    return tuple(found)


def named_cards() -> set[str]:
    """Every card id that effects.csv names, unchecked: what the generator of the edition looks up."""
    with (resources.files("engine") / "data" / "effects.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return {name for row in rows for name in (row["id"], *row["card"].split())} - {
        ITS_OWN,
        EVENTS_CARD,
    }


def row_in_table(card_id: str, name: str, effect: Effect) -> dict[str, str]:
    """A row as `effects.csv` writes it: what `read_rows` reads back."""
    plain = Effect(effect.trigger, effect.op)
    amount = str(effect.amount) if effect.amount != plain.amount else ""
    if effect.op in WORDED:
        amount = _bits(effect.amount, WORDED[effect.op])
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
        "condition": condition_word(effect),
        "card": " ".join(effect.cards[: sum(BREWED) + len(BREWED)] if effect.op == Op.BREW else effect.cards),
        "on": "" if effect.on == plain.on else _asked_words(effect.on, EVENT_SIDES, CARD_KINDS | KINDS),
        "of": _asked_words(effect.of, {}, CARD_KINDS),
        "count": _with_arg(effect.count, effect.count_arg, COUNT_ARGS) if effect.count else "",
    }


def condition_word(effect: Effect) -> str:
    """A row's condition as `effects.csv` writes it: "not combo", "race:pirate"; "" for none."""
    if not effect.condition:
        return ""
    word = _with_arg(Condition(abs(effect.condition)), effect.condition_arg, CONDITION_ARGS)
    return f"not {word}" if effect.condition < 0 else word


def _with_arg(word: IntEnum, arg: int, names: Mapping[int, type[IntEnum]]) -> str:
    """A word with what it compares with: "race:pirate"; without, where that is 0."""
    name = word.name.lower()
    if not arg:
        return name
    return f"{name}:{names[word](arg).name.lower() if word in names else arg}"


def _asked_words(asked: Asked, sides: Mapping[str, int], kinds: Mapping[str, int]) -> str:
    """An event or cards as `effects.csv` writes them."""
    words = [word for word, bit in sides.items() if asked.side & bit]
    words += [word for word, bit in kinds.items() if asked.kind & bit]
    for bit in CardFilter:
        if asked.filter & bit:
            words.append(_with_arg(bit, asked.arg if bit in COMPARING else 0, ARGS))
    return " ".join(words)


def _effect(row: Mapping[str, str], where: str, known: set[str]) -> Effect:
    """One row of the table, checked."""
    cells = Cells(row, where)
    if not row["op"]:
        raise cells.fail("op", "must name an operation")
    op = cells.word("op", Op, Op.DAMAGE)
    pick = cells.word("pick", Pick, Pick.NONE)
    chosen = pick in (Pick.CHOSEN, Pick.ALL, Pick.RANDOM, Pick.SPLIT)
    if chosen != bool(row["kind"]):
        raise cells.fail("kind", "must be filled where the row picks among characters, and only there")
    if chosen and not row["side"]:
        raise cells.fail("side", "must be filled where the row picks among characters")
    if pick == Pick.SPLIT and op != Op.DAMAGE:
        raise cells.fail("pick", f"nothing but damage is split; {op.name.lower()}")
    asked = cells.bits("filter", Filter)
    if asked & (Filter.RACE | Filter.NOT_RACE):
        arg = int(cells.number_of("arg", row["arg"], Race))
    elif asked & Filter.KEYWORD:
        arg = int(cells.number_of("arg", row["arg"], Keyword))
    else:
        arg = cells.number("arg")
    _, _, held = row["condition"].rpartition("not ")
    condition, condition_arg = cells.argued("condition", held, Condition, CONDITION_ARGS) if held else (0, 0)
    count, count_arg = (
        cells.argued("count", row["count"], Count, COUNT_ARGS) if row["count"] else (Count.NONE, 0)
    )
    on = cells.asked_of("on", EVENT_SIDES, CARD_KINDS | KINDS)
    if on.side & ITSELF_ALONE or not on.side & (OWN | ENEMY):
        on = on._replace(side=on.side | OWN)
    cards = tuple(row["card"].split())
    if (op in CREATING) != bool(cards or (op in CREATING and row["of"])):
        raise cells.fail("card", f"must be filled where a card is created, and only there; {op.name.lower()}")
    for card in cards:
        if card not in known and card not in (ITS_OWN, EVENTS_CARD):
            raise unknown_name(f"card ({where}, column card)", card, known)
    if cards and (row["amount"] or row["amount2"]):
        raise cells.fail("amount", "must be empty where the column card is filled")
    if op == Op.BREW:
        cards += potions(cards)
    return Effect(
        trigger=cells.word("trigger", Trigger, Trigger.PLAY),
        op=op,
        pick=pick,
        side=cells.bits("side", SIDES) or OWN,
        kind=cells.bits("kind", KINDS),
        filter=asked,
        arg=arg,
        times=cells.number("times", 1),
        amount=cells.bits("amount", WORDED[op]) if op in WORDED else cells.number("amount"),
        amount2=cells.number("amount2"),
        keywords=cells.bits("keywords", Keyword),
        until=cells.word("until", Until, Until.ALWAYS),
        condition=-condition if row["condition"].startswith("not ") else int(condition),
        condition_arg=condition_arg,
        count=count,
        count_arg=count_arg,
        on=on,
        of=cells.asked_of("of", {}, CARD_KINDS),
        cards=cards,
    )


def _bits(number: int, words: type[IntEnum]) -> str:
    return " ".join(member.name.lower() for member in words if number & member)
