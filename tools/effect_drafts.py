"""Draft effect rows from card texts, and compare targets with the card base's play requirements.

`python -m tools.effect_drafts [CARD_ID...]` reads the card data of edition 2018-07 (`make cards` installs it)
and prints rows in the format of `effects.csv`, with a summary: cards drafted, and drafts equal to the
reviewed rows. Drafts need review against the card text, the play requirements and the engine.
"""

import csv
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.codes import KEYWORD_FIELDS, Keyword
from engine.effect_codes import ENEMY, HEROES, MINIONS, OWN, Filter, Op, Pick, Race, Trigger, Until
from engine.effects.rows import EFFECT_COLUMNS, Effect, effect_rows, row_to_csv

_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "seven": 7}
_RACES = {f"{race.name.lower()}": race for race in Race if race not in (Race.NONE, Race.ALL)}
_TRIBES = "|".join(f"{name}s?" for name in _RACES)

_WHOM = re.compile(
    r"(?P<many>a|an|all|your|each|another|two|\d)(?P<other> other)?(?P<random> random)?"
    r"(?P<state> damaged| undamaged| frozen)?(?P<side> friendly| enemy)?(?P<taunt> taunt)?"
    rf"(?P<race> (?:{_TRIBES}))?(?P<kind> minions?| characters?| hero| heroes| enemy| enemies)?"
    r"(?P<shown> with taunt| with deathrattle)?"
    r"(?: (?:with|that has) (?P<attack>\d+) or (?P<bound>less|more) attack)?"
    rf"(?: except (?P<but>(?:{_TRIBES})))?"
)
_FIXED = {
    "your hero": (Pick.ALL, OWN, HEROES, 0),
    "the enemy hero": (Pick.ALL, ENEMY, HEROES, 0),
    "each hero": (Pick.ALL, OWN | ENEMY, HEROES, 0),
    "a friendly character": (Pick.CHOSEN, OWN, MINIONS | HEROES, 0),
    "your characters": (Pick.ALL, OWN, MINIONS | HEROES, 0),
    "all other enemies": (Pick.ALL, ENEMY, MINIONS | HEROES, Filter.NOT_TARGET),
    "this minion": (Pick.SELF, OWN, 0, 0),
    "himself": (Pick.SELF, OWN, 0, 0),
}


def number_of(word: str) -> int:
    """Value of a number in a card text: digits or an English word."""
    return _NUMBERS.get(word.lower()) or int(word)


def parse_targets(text: str) -> Effect | None:
    """Parse a target phrase into an effect row with a placeholder operation; None if not understood.

    Args:
        text: phrase, such as "all enemy minions" or "a friendly Beast".
    """
    folded = text.lower().strip()
    if folded in _FIXED:
        pick, side, kind, filter_bits = _FIXED[folded]
        return Effect(Trigger.PLAY, Op.DAMAGE, pick, side, kind, filter_bits)
    found = _WHOM.fullmatch(folded)
    if not found or not (found["kind"] or found["race"] or found["side"] == " enemy"):
        return None
    kind_word = (found["kind"] or "").strip()
    is_enemy = "enem" in kind_word or not (found["kind"] or found["race"])
    kind = MINIONS | HEROES if is_enemy or "char" in kind_word else HEROES if "hero" in kind_word else MINIONS
    side = {"friendly": OWN, "enemy": ENEMY, "": OWN | ENEMY}[(found["side"] or "").strip()]
    if is_enemy:
        side = ENEMY
    if found["many"] == "your":
        side = OWN
    filter_bits, arg = _filter_of(found)
    times = 1
    if found["random"]:
        pick, times = Pick.RANDOM, number_of("a" if found["many"] == "another" else found["many"])
    else:
        pick = Pick.CHOSEN if found["many"] in ("a", "an", "another") else Pick.ALL
    return Effect(Trigger.PLAY, Op.DAMAGE, pick, side, kind, filter_bits, arg, times)


def _filter_of(match: re.Match[str]) -> tuple[int, int]:
    """Filter bits of a parsed target phrase, and their argument."""
    filter_bits = arg = 0
    if match["other"] or match["many"] == "another":
        filter_bits |= Filter.NOT_SELF
    if match["state"]:
        filter_bits |= Filter[match["state"].strip().upper()]
    if match["taunt"]:
        filter_bits |= Filter.TAUNT
    if match["shown"]:
        filter_bits |= Filter[match["shown"].replace("with", "").strip().upper()]
    if match["attack"]:
        filter_bits |= Filter.ATTACK_AT_MOST if match["bound"] == "less" else Filter.ATTACK_AT_LEAST
        arg = int(match["attack"])
    for group, bit in (("race", Filter.RACE), ("but", Filter.NOT_RACE)):
        if match[group]:
            filter_bits |= bit
            word = match[group].strip()
            arg = _RACES[word if word in _RACES else word.removesuffix("s")]
    return filter_bits, arg


def parse_buff(text: str) -> Effect | None:
    """Parse a buff, such as "+2/+2 and Taunt", into an effect row without targets; None if not understood."""
    attack = health = keywords = 0
    for part in re.split(r", and |, | and ", text):
        both = re.fullmatch(r"([+-]\d+)/([+-]\d+)", part)
        one = re.fullmatch(r"([+-]\d+) (Attack|Health)", part)
        name = part.upper().replace(" ", "_")
        if both:
            attack, health = int(both[1]), int(both[2])
        elif one and one[2] == "Attack":
            attack = int(one[1])
        elif one:
            health = int(one[1])
        elif name in Keyword.__members__:
            keywords |= Keyword[name]
        else:
            return None
    return Effect(Trigger.PLAY, Op.BUFF, amount=attack, amount2=health, keywords=keywords)


def with_targets(target: Effect, change: Effect) -> Effect:
    """Combine the operation of `change` with the targets of `target`."""
    return replace(
        change,
        pick=target.pick,
        side=target.side,
        kind=target.kind,
        filter=target.filter,
        arg=target.arg,
        times=target.times,
    )


PACKAGE = Path("build/editions/25252.1")

_MARKUP = re.compile(r"<[^>]*>|\[x\]|[$#](?=\d)")
_ASIDE = re.compile(r" ?\([^)]*\)")
_KEYWORDS = "|".join(name.replace("_", " ") for name in KEYWORD_FIELDS)
_OWN_WORDS = re.compile(
    rf"^(?:(?:{_KEYWORDS}|spell damage \+\d+|overload:?|can't attack|hero power)(?:[.,]* |[.,]*$))+",
    re.IGNORECASE,
)
_PARTS = re.compile(r"(Battlecry and Deathrattle: |Battlecry: |Deathrattle: |At the end of your turn, )")
_WHEN = {
    "Battlecry: ": (Trigger.PLAY,),
    "Deathrattle: ": (Trigger.DEATHRATTLE,),
    "Battlecry and Deathrattle: ": (Trigger.PLAY, Trigger.DEATHRATTLE),
    "At the end of your turn, ": (Trigger.TURN_END,),
}
_ANYONE = Effect(Trigger.PLAY, Op.DAMAGE, Pick.CHOSEN, OWN | ENEMY, MINIONS | HEROES)
_MY_HERO = Effect(Trigger.PLAY, Op.DAMAGE, Pick.ALL, OWN, HEROES)

Rows = list[Effect]
Created = Callable[[str, str], str | None]
"""Finds the id of a created card by its numbers ("2/1", or "") and name; None if not found."""


@dataclass(frozen=True)
class Text:
    """A card's text, with a look-up of the cards that the text may create."""

    text: str
    created: Created


def draft(card: Text) -> tuple[Effect, ...] | None:
    """Draft the effect rows of a card's text; None if a part of the text matches no template."""
    text = " ".join(_MARKUP.sub("", card.text).replace("\xa0", " ").replace("_", " ").split())
    text = _ASIDE.sub("", text.split("@", maxsplit=1)[0]).strip()
    pieces = _PARTS.split(text)
    rows: Rows = []
    before = _sentences(pieces[0], card.created)
    if before is None:
        return None
    rows += before
    for head, body in zip(pieces[1::2], pieces[2::2], strict=True):
        drafted = _sentences(body, card.created)
        if drafted is None:
            return None
        rows += [replace(row, trigger=trigger) for trigger in _WHEN[head] for row in drafted]
    return tuple(rows)


def _sentences(text: str, created: Created) -> Rows | None:
    """Draft the effect rows of a text without triggers; None if a sentence matches no template."""
    rows: Rows = []
    for sentence in re.split(r"(?<=[.!]) ", text.strip()):
        rest = _OWN_WORDS.sub("", sentence).rstrip(".! ")
        if not rest:
            continue
        drafted = _sentence(rest[0].upper() + rest[1:], created, rows)
        if drafted is None:
            return None
        rows += drafted
    return rows


def _sentence(text: str, created: Created, before: Sequence[Effect]) -> Rows | None:
    """Draft the effect rows of a sentence by the first matching template."""
    for pattern, make in _TEMPLATES:
        found = re.fullmatch(pattern, text)
        rows = make(found, created) if found else None
        if rows is not None:
            return rows
    if " and " in text:
        first, second = text.split(" and ", maxsplit=1)
        rows = _sentence(first, created, before)
        if not rows:
            return None
        if re.fullmatch(r"[Ff]reeze (it|them)", second):
            return [*rows, replace(rows[-1], op=Op.FREEZE, amount=0, amount2=0)]
        gained = parse_buff(second.removeprefix("give it "))
        if second.startswith("give it ") and gained:
            return [*rows, with_targets(rows[-1], gained)]
        other = _sentence(second[0].upper() + second[1:], created, [*before, *rows])
        return None if other is None else rows + other
    return None


def _damage(found: re.Match[str], _: Created) -> Rows | None:
    low, high, phrase = int(found[1]), int(found[2] or 0), found[3]
    target = parse_targets(phrase) if phrase else _ANYONE
    return (
        [with_targets(target, Effect(Trigger.PLAY, Op.DAMAGE, amount=low, amount2=high))] if target else None
    )


def _two_damages(found: re.Match[str], created: Created) -> Rows | None:
    first = _sentence(f"Deal {found[1]} damage to {found[2]}", created, ())
    second = _sentence(f"Deal {found[3] or found[1]} damage to {found[4]}", created, ())
    return first + second if first and second else None


def _split(found: re.Match[str], _: Created) -> Rows | None:
    target = parse_targets(found[2])
    return [replace(target, pick=Pick.SPLIT, amount=int(found[1]), times=1)] if target else None


def _heal(found: re.Match[str], _: Created) -> Rows | None:
    target = parse_targets(found[2]) if found[2] else _ANYONE
    return [with_targets(target, Effect(Trigger.PLAY, Op.HEAL, amount=int(found[1])))] if target else None


def _give(found: re.Match[str], _: Created) -> Rows | None:
    until = Until.THIS_TURN if found[3] else Until.ALWAYS
    if "your next turn" in (found[3] or ""):
        until = Until.NEXT_TURN
    target, gained = parse_targets(found[1]), parse_buff(found[2])
    return [with_targets(target, replace(gained, until=until))] if target and gained else None


def _apply_to(op: Op) -> Callable[[re.Match[str], Created], Rows | None]:
    """Template whose first group is the target phrase."""

    def make(found: re.Match[str], _: Created) -> Rows | None:
        target = parse_targets(found[1])
        return [replace(target, op=op)] if target else None

    return make


def _fixed(*rows: Effect) -> Callable[[re.Match[str], Created], Rows | None]:
    return lambda _found, _created: list(rows)


def _amount_of(op: Op, side: int = OWN, sign: int = 1) -> Callable[[re.Match[str], Created], Rows | None]:
    """Template whose first group is the amount."""
    return lambda found, _: [Effect(Trigger.PLAY, op, side=side, amount=sign * number_of(found[1]))]


def _create(op: Op) -> Callable[[re.Match[str], Created], Rows | None]:
    """Template with the groups count, numbers, name and optionally "for your opponent"."""

    def make(found: re.Match[str], created: Created) -> Rows | None:
        many, numbers, name, other = found[1], found[2] or "", found[3], found[4]
        card = created(numbers, name)
        side = ENEMY if other else OWN
        return [Effect(Trigger.PLAY, op, side=side, times=number_of(many), cards=(card,))] if card else None

    return make


def _transform(found: re.Match[str], created: Created) -> Rows | None:
    target, card = parse_targets(found[1]), created(found[2], found[3])
    return [replace(target, op=Op.TRANSFORM, cards=(card,))] if target and card else None


def _set(found: re.Match[str], _: Created) -> Rows | None:
    target = parse_targets(found[1])
    number = int(found[3])
    attack = number if "Attack" in found[2] else -1
    health = number if "Health" in found[2] else -1
    return (
        [with_targets(target, Effect(Trigger.PLAY, Op.SET, amount=attack, amount2=health))]
        if target
        else None
    )


def _double(found: re.Match[str], _: Created) -> Rows | None:
    target = parse_targets(found[1])
    attack, health = (2, 1) if found[2] == "Attack" else (1, 2)
    return (
        [with_targets(target, Effect(Trigger.PLAY, Op.MULTIPLY, amount=attack, amount2=health))]
        if target
        else None
    )


def _weapon(found: re.Match[str], _: Created) -> Rows | None:
    return [Effect(Trigger.PLAY, Op.WEAPON, amount=int(found[1]), amount2=int(found[2] or 0))]


def _discard(found: re.Match[str], _: Created) -> Rows | None:
    return [Effect(Trigger.PLAY, Op.DISCARD, times=number_of(found[1]))]


def _hero_attack(found: re.Match[str], _: Created) -> Rows | None:
    return [
        with_targets(_MY_HERO, Effect(Trigger.PLAY, Op.BUFF, amount=int(found[1]), until=Until.THIS_TURN))
    ]


_CARD = (
    r"(an?|one|two|three|four|five|seven|\d) (?:(\d+/\d+) )?(?:Poisonous )?(.+?)(?: with (?:Taunt|Charge))?"
)
_FOR = "( this turn| this turn only| until your next turn)?"
_WHOSE = "your|their owner's|its owner's|your opponent's"
_MANY = r"(an?|one|two|three|four|\d+)"
_WORN = Effect(Trigger.PLAY, Op.WEAPON, side=ENEMY, amount2=-1)
_LOSE_CRYSTAL = Effect(Trigger.PLAY, Op.CRYSTALS, amount=-1)

_TEMPLATES: Sequence[tuple[str, Callable[[re.Match[str], Created], Rows | None]]] = (
    (r"Deal (\d+) damage randomly split (?:among|between) (.+)", _split),
    (r"Deal (\d+) damage to (.+?) and (?:(\d+) damage to )?((?:all|the) .+)", _two_damages),
    (r"(?:D|Then d|, then d)eal (\d+)(?:-(\d+))? damage(?: to (.+?))?", _damage),
    (r"Take (\d+) damage", lambda found, _: [replace(_MY_HERO, amount=int(found[1]))]),
    (r"Restore (\d+) Health(?: to (.+))?", _heal),
    (r"Restore (.+) to full Health", _apply_to(Op.RESTORE)),
    (rf"Draw {_MANY} cards?", _amount_of(Op.DRAW)),
    (rf"Your opponent draws {_MANY} cards?", _amount_of(Op.DRAW, ENEMY)),
    (rf"(?:Each player|Both players) draws? {_MANY} cards?", _amount_of(Op.DRAW, OWN | ENEMY)),
    (r"(?:Gain |\+)(\d+) Armor", _amount_of(Op.ARMOUR)),
    (r"(?:Give your hero |Gain )?\+(\d+) Attack this turn", _hero_attack),
    (r"Give your weapon \+(\d+) Attack", _amount_of(Op.WEAPON)),
    (r"Give your weapon \+(\d+)/\+(\d+)", _weapon),
    (r"Remove 1 Durability from your opponent's weapon", _fixed(_WORN)),
    (r"Destroy your opponent's weapon", _fixed(Effect(Trigger.PLAY, Op.DISARM, side=ENEMY))),
    (r"(?:Destroy|Lose) (?:a|one of your) Mana Crystals?", _fixed(_LOSE_CRYSTAL)),
    (r"Give your opponent a Mana Crystal", _fixed(Effect(Trigger.PLAY, Op.CRYSTALS, side=ENEMY, amount=1))),
    (rf"Gain {_MANY} empty Mana Crystals?", _amount_of(Op.CRYSTALS)),
    (rf"Gain {_MANY} Mana Crystals? this turn only", _amount_of(Op.MANA)),
    (rf"Give (.+?) ([+-]\d.*?){_FOR}", _give),
    (rf"Give (.+?) ((?:Taunt|Charge|Windfury|Divine Shield|Stealth)\b.*?){_FOR}", _give),
    (r"Silence (.+?), then deal (\d+) damage to it", lambda found, _: _and_damage(found)),
    (r"Destroy (.+)", _apply_to(Op.DESTROY)),
    (r"Silence (.+)", _apply_to(Op.SILENCE)),
    (r"Freeze (.+)", _apply_to(Op.FREEZE)),
    (r"Take control of (.+)", _apply_to(Op.CONTROL)),
    (rf"Return (.+?)(?: from the battlefield)? to (?:{_WHOSE}) hand", _apply_to(Op.BOUNCE)),
    (r"Swap the Attack and Health of (.+)", _apply_to(Op.SWAP)),
    (r"Swap (.+)'s Attack and Health", _apply_to(Op.SWAP)),
    (r"Change (.+)'s Attack to be equal to its Health", _apply_to(Op.SET_ATTACK_TO_HEALTH)),
    (r"(?:Change|Set) (.+?)(?:'s?) (Attack and Health|Attack|remaining Health|Health) to (\d+)", _set),
    (r"(?:Change|Set) the (?=.*Health)(.*) to (\d+)", lambda found, _: _set_health(found)),
    (r"Double (.+)'s (Attack|Health)", _double),
    (r"Transform (.+) into an? (\d+/\d+) (.+?)(?: with (?:Taunt|Charge))?", _transform),
    (rf"Summon {_CARD}( for your opponent)?", _create(Op.SUMMON)),
    (rf"Equip {_CARD}()?", _create(Op.EQUIP)),
    (rf"Add {_CARD} to your hand()", _create(Op.ADD)),
    (r"Discard (a|two|\d+) random cards?", _discard),
    (r"Discard your hand", _fixed(Effect(Trigger.PLAY, Op.DISCARD, times=0))),
)  # fmt: skip


def _and_damage(found: re.Match[str]) -> Rows | None:
    target = parse_targets(found[1])
    return [replace(target, op=Op.SILENCE), replace(target, amount=int(found[2]))] if target else None


def _set_health(found: re.Match[str]) -> Rows | None:
    target = parse_targets(found[1].removeprefix("Health of "))
    return (
        [with_targets(target, Effect(Trigger.PLAY, Op.SET, amount=-1, amount2=int(found[2])))]
        if target
        else None
    )


def created_card_finder(card_id: str, cards: Mapping[str, Any]) -> Created:
    """Make a look-up of created cards: by id prefix, then the oldest of the name."""

    def created(numbers: str, name: str) -> str | None:
        stem = card_id.rstrip("abt")
        singular = name.removesuffix("s") if name.endswith("s") else name
        same_prefix, same_name = [], []
        for other in sorted(cards.values(), key=lambda card: card.dbf_id):
            body = f"{other.atk}/{other.durability or other.health}"
            if other.id == card_id or other.collectible or (numbers and body != numbers):
                continue
            if other.type.name not in ("MINION", "WEAPON", "SPELL") or (
                not numbers and other.name != singular
            ):
                continue
            if other.id.startswith(stem):
                same_prefix.append(other.id)
            if other.name in (name, singular):
                same_name.append(other.id)
        found = same_prefix if len(same_prefix) == 1 else same_name or same_prefix
        return found[0] if found else None

    return created


def main(ids: Sequence[str]) -> int:
    """Print drafts of the given cards, or of all cards of the edition; exit status 1 on missing card data."""
    path = PACKAGE / "hearthstone_data" / "CardDefs.xml"
    if not path.is_file():
        print(f"no card data in {PACKAGE}: install it with make cards", file=sys.stderr)
        return 1
    from hearthstone import cardxml  # noqa: PLC0415 - only this tool needs it

    cards, _ = cardxml.load(str(path))
    reviewed = effect_rows()
    unknown = [name for name in ids if name not in cards]
    if unknown:
        print(f"unknown card ids: {', '.join(unknown)}", file=sys.stderr)
        return 1
    listed = ids or sorted(
        card.id for card in cards.values() if card.id in reviewed or (card.collectible and card.description)
    )
    writer = csv.DictWriter(sys.stdout, EFFECT_COLUMNS, lineterminator="\n")
    writer.writeheader()
    drafted = equal = known = 0
    for name in listed:
        rows = draft(Text(cards[name].description or "", created_card_finder(name, cards)))
        if not rows:
            continue
        drafted += 1
        known += name in reviewed
        equal += rows == reviewed.get(name)
        writer.writerows(row_to_csv(name, cards[name].name, row) for row in rows)
    print(
        f"{drafted} of {len(listed)} cards drafted; {known} of them have reviewed rows, "
        f"{equal} drafts equal these",
        file=sys.stderr,
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
