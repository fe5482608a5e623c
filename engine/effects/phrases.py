"""Phrases of card texts for the tool `engine.effects.draft`: whom a sentence is about, what it gives."""

import re
from dataclasses import replace

from engine.codes import Keyword
from engine.effects.rows import Effect
from engine.vocabulary import ENEMY, HEROES, MINIONS, OWN, Filter, Op, Pick, Race, Trigger

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
    """A number as texts write it."""
    return _NUMBERS.get(word.lower()) or int(word)


def whom(text: str) -> Effect | None:
    """A row without an operation that selects the characters a phrase names; None where it is not understood.

    Args:
        text: such as "all enemy minions" or "a friendly Beast".
    """
    folded = text.lower().strip()
    if folded in _FIXED:
        pick, side, kind, asked = _FIXED[folded]
        return Effect(Trigger.PLAY, Op.DAMAGE, pick, side, kind, asked)
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
    asked, arg = _asked(found)
    times = 1
    if found["random"]:
        pick, times = Pick.RANDOM, number_of("a" if found["many"] == "another" else found["many"])
    else:
        pick = Pick.CHOSEN if found["many"] in ("a", "an", "another") else Pick.ALL
    return Effect(Trigger.PLAY, Op.DAMAGE, pick, side, kind, asked, arg, times)


def _asked(found: re.Match[str]) -> tuple[int, int]:
    """Filter and what it compares with, of a phrase."""
    asked = arg = 0
    if found["other"] or found["many"] == "another":
        asked |= Filter.NOT_SELF
    if found["state"]:
        asked |= Filter[found["state"].strip().upper()]
    if found["taunt"]:
        asked |= Filter.TAUNT
    if found["shown"]:
        asked |= Filter[found["shown"].replace("with", "").strip().upper()]
    if found["attack"]:
        asked |= Filter.ATTACK_AT_MOST if found["bound"] == "less" else Filter.ATTACK_AT_LEAST
        arg = int(found["attack"])
    for group, bit in (("race", Filter.RACE), ("but", Filter.NOT_RACE)):
        if found[group]:
            asked |= bit
            word = found[group].strip()
            arg = _RACES[word if word in _RACES else word.removesuffix("s")]
    return asked, arg


def gains(text: str) -> Effect | None:
    """A BUFF without characters from what a text gives, such as "+2/+2 and Taunt"; None if not understood."""
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


def on(target: Effect, change: Effect) -> Effect:
    """What `change` does, to the characters of `target`."""
    return replace(
        change,
        pick=target.pick,
        side=target.side,
        kind=target.kind,
        filter=target.filter,
        arg=target.arg,
        times=target.times,
    )
