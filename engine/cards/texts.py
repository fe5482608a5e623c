"""Card texts as the generator compares them. No text is kept: it is read, compared and forgotten."""

import re
from collections.abc import Iterable, Sequence

_MARKUP = re.compile(r"<[^>]*>|\[x\]")
_AMOUNT_MARKS = re.compile(r"[$#](?=\d)")
_FILLER = re.compile(r"[\s,.;_\xa0]+")

_PHRASES = {
    "cant_attack": "Can't attack.",
    "elusive": "Can't be targeted by spells or Hero Powers.",
    "freezes": "Freeze any character damaged by this minion.",
    "spares_heroes": "Can't attack heroes.",
}
"""How texts say the traits that minions have in print. Capitals begin a sentence: it is the minion's own."""

_OVERLOAD = re.compile(r"\boverload: \(\d+\)")
_SPELL_DAMAGE = re.compile(r"\bspell damage \+\d+")
_RACES = re.compile(r"this is an? [a-z, ]+ and [a-z]+\.")


def normalised(text: str) -> str:
    """A card's text without markup, marks of amounts and odd spaces, for comparing with another."""
    text = _AMOUNT_MARKS.sub("", _MARKUP.sub("", text)).replace("_", " ").replace("\u2019", "'")
    return " ".join(text.replace("\xa0", " ").split())


def printed_traits(text: str) -> list[str]:
    """The traits that a minion's text says it has, as our names of them."""
    told = normalised(text)
    return [name for name, phrase in _PHRASES.items() if phrase in told]


def says_no_more(text: str, keywords: Iterable[str], traits: Sequence[str], is_all_races: bool) -> bool:
    """Whether a text says its card's keywords, printed traits, Spell Damage and Overload and nothing else.

    Args:
        text: as the card base has it.
        keywords: of the card, as our field names.
        traits: of the card, as `printed_traits` has them.
        is_all_races: the card counts as a minion of every tribe; its text may name them.
    """
    rest = normalised(text)
    for trait in traits:
        rest = rest.replace(_PHRASES[trait], " ", 1)
    rest = rest.lower()
    rest = _SPELL_DAMAGE.sub(" ", _OVERLOAD.sub(" ", rest), count=1)
    if is_all_races:
        rest = _RACES.sub(" ", rest)
    for name in keywords:
        rest = rest.replace(name.replace("_", " "), " ", 1)
    return not _FILLER.sub("", rest)
