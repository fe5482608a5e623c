"""Minions on board in texts of positions, with what befell them."""

import re

import numpy as np

from engine.cards.table import CardTable
from engine.cardtexts import LETTERS, NUMBER, STATS, CardTexts
from engine.codes import MAX_STAT, Keyword
from engine.effects.operations import traits_of_rows
from engine.errors import NotationError, unknown_name
from engine.formatting import trait_words
from engine.textparts import bounded, matched
from engine.vocabulary import MAX_GIFTS, OF_OTHER, Race, Trait

MINION = re.compile(
    rf"(?P<card>.*?)(?: now (?P<now>{NUMBER}/{NUMBER}{LETTERS}))?"
    rf"(?P<changes>(?: (?:(?:max|spell|race|born) {NUMBER}|until -?{NUMBER}|(?:gift|theirs) \w+|aura \S+"
    r"|is [a-z,-]+))*)"
    r"(?: ready(?: (?P<ready>\d))?)?(?P<arrived> arrived)?$"
)
CHANGE = re.compile(r" (max|until|spell|race|born|gift|theirs|aura|is) (\S+)")
_AURA = re.compile(rf"(?P<attack>-?{NUMBER})/(?P<health>-?{NUMBER})(?P<letters>[A-Z]*)$")


def parse_minion(minion: np.void, text: str, numbers: CardTexts) -> None:
    """Read a minion on board into `minion`, which is modified in place."""
    match = MINION.match(text)
    assert match, "every text matches"
    number = numbers.of(match["card"])
    minion["card"] = number
    for change, value in CHANGE.findall(match["changes"]):
        if change in ("gift", "theirs"):
            numbers.know(value)
    stats = re.match(STATS, match["now"]) if match["now"] else None
    if stats:
        minion["attack"] = bounded("attack", stats["attack"], 0, MAX_STAT)
        minion["health"] = bounded("health", stats["health"], 1, MAX_STAT)
        minion["keywords"] = keywords_of(stats["letters"])
    else:
        spec = numbers.card(number).spec
        minion["attack"], minion["health"], minion["keywords"] = spec.attack, spec.health, spec.keywords
    minion["arrived"] = match["arrived"] is not None
    ready = " ready" in text[len(match["card"]) :]
    most = 2 if minion["keywords"] & Keyword.WINDFURY else 1
    minion["attacks_left"] = bounded("ready", match["ready"] or "1", 1, most) if ready else 0


def parse_changes(minion: np.void, text: str, table: CardTable, birth: int) -> None:
    """Read what a minion in a game with effects says beside its body. `minion` is modified in place."""
    match = MINION.match(text)
    assert match, "every text matches"
    row = table.array[minion["card"]]
    minion["max_health"], minion["traits"], minion["race"] = row["health"], row["traits"], row["race"]
    minion["spell_damage"], minion["born"] = row["spell_damage"], birth
    gifts = 0
    for name, value in CHANGE.findall(match["changes"]):
        if name == "is":
            traits = traits_of(value)
            kept = 0 if traits & Trait.SILENCED else row["traits"]  # silence alone takes what the card says
            minion["traits"] = traits | kept
        elif name in ("gift", "theirs"):
            if gifts == MAX_GIFTS:
                raise NotationError(f"a minion holds at most {MAX_GIFTS} gifts, got more in {text!r}")
            minion["gifts"][gifts] = 1 + number_of(value, table) + (OF_OTHER if name == "theirs" else 0)
            gifts += 1
        elif name == "aura":
            given = matched(_AURA, "aura", value, "2/1")
            minion["aura_attack"], minion["aura_health"] = int(given["attack"]), int(given["health"])
            minion["aura_keywords"] = keywords_of(given["letters"])
        else:
            field, most = _CHANGES[name]
            minion[field] = bounded(name, value, -MAX_STAT, most)
    for gift in minion["gifts"]:
        given = (gift & ~OF_OTHER) - 1
        minion["traits"] |= traits_of_rows(int(table.array[given]["hears"])) if gift else 0
    minion["max_health"] = max(minion["max_health"], minion["health"])


_CHANGES = {
    "max": ("max_health", MAX_STAT),
    "until": ("turn_attack", MAX_STAT),
    "spell": ("spell_damage", MAX_STAT),
    "race": ("race", max(Race)),
    "born": ("born", np.iinfo(np.int16).max),
}
"""What a minion says of itself: the field and the largest number."""


def traits_of(text: str) -> int:
    """The bits of traits that positions write as words."""
    words = [word for word in text.split(",") if word and word != "plain"]
    known = {trait_words(trait)[0]: int(trait) for trait in Trait if trait != Trait.ACTS}
    for word in words:
        if word not in known:
            raise unknown_name("trait", word, known)
    return sum({known[word] for word in words})


def keywords_of(letters: str) -> int:
    """The bits of keywords that positions write as letters."""
    return sum(keyword for keyword in Keyword if keyword.letter in letters)


def number_of(name: str, table: CardTable) -> int:
    """The number of the card with an id."""
    for number, card in enumerate(table.cards):
        if card.real and card.id == name:
            return number
    raise NotationError(f"not the id of a card of this game: {name!r}")
