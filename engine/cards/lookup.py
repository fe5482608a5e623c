"""Look up and list cards: facts of a card, coverage of its text, and coverage of an edition."""

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

from engine.cards import CLASSIC_SET, Card, OtherCard
from engine.cards.patches import is_patchable, printed_numbers
from engine.cards.real import EDITIONS, NEWEST_EDITION, OLD_EDITION, edition
from engine.effect_codes import CardKind, Race, Trait
from engine.effects.describe import describe_row
from engine.errors import unknown_name
from engine.minion import keyword_names

CHANGED_CARD = f"not as in {OLD_EDITION}"
"""Reason in `not_covered`: a newest-edition card whose text or numbers match no card of the older one."""

EXACT, BODY, NOT_PLAYED = "exact", "body", "not played"
"""Levels of coverage: full text, attack, health and keywords only, not playable."""

SET_NAMES = {
    "BASIC": "Basic",
    "EXPERT1": "Classic",
    "HOF": "Hall of Fame",
    "NAXX": "Curse of Naxxramas",
    "GVG": "Goblins vs Gnomes",
    "BRM": "Blackrock Mountain",
    "TGT": "The Grand Tournament",
    "LOE": "League of Explorers",
    "OG": "Whispers of the Old Gods",
    "KARA": "One Night in Karazhan",
    "GANGS": "Mean Streets of Gadgetzan",
    "UNGORO": "Journey to Un'Goro",
    "ICECROWN": "Knights of the Frozen Throne",
    "LOOTAPALOOZA": "Kobolds and Catacombs",
    "GILNEAS": "The Witchwood",
    "VANILLA": "as first printed",
}
"""Display names of the sets of 2018-07 and the Classic format; other sets use their code."""

_KINDS = {
    CardKind.MINION: "minion",
    CardKind.SPELL: "spell",
    CardKind.WEAPON: "weapon",
    CardKind.POWER: "hero power",
}
_TRAITS = {
    Trait.CANT_ATTACK: "cannot attack",
    Trait.ELUSIVE: "cannot be chosen by spells and hero powers",
    Trait.FREEZES: "freezes the characters it damages",
    Trait.SPARES_HEROES: "cannot attack heroes",
}


@dataclass(frozen=True, slots=True)
class CardFacts:
    """Facts about a card of an edition.

    Attributes:
        edition: its name.
        id: of the card.
        name: of the card.
        kind: "minion", "spell", "weapon", "hero power", or another type of the card base.
        class_name: "mage", "neutral".
        set_name: display name of its set.
        rarity: lower case; "" if unknown.
        cost: mana.
        body: attack and health or durability, "3/2"; "" for other cards.
        race: its tribe, lower case; "" if none or unknown.
        keywords: display names.
        collectible: whether decks may contain it.
        played: `EXACT`, `BODY` or `NOT_PLAYED`.
        does: its covered effects beside body and keywords, a sentence each.
        numbers: names and values of the numbers that a patch can change (`engine.cards.patches`).
        not_covered: mechanics of its text if it is not exact, as `tools.card_tables` names them.
    """

    edition: str
    id: str
    name: str
    kind: str
    class_name: str
    set_name: str
    rarity: str
    cost: int
    body: str
    race: str
    keywords: tuple[str, ...]
    collectible: bool
    played: str
    does: tuple[str, ...]
    not_covered: tuple[str, ...]
    numbers: tuple[tuple[str, int], ...] = ()

    @property
    def title(self) -> str:
        """Title line: name, cost, body, keywords and id."""
        parts = [f"{self.name} ({self.cost})", self.body, ", ".join(self.keywords), f"[{self.id}]"]
        return " ".join(filter(None, parts))

    @property
    def description(self) -> str:
        """Description line: class, type, tribe, rarity, set and edition."""
        kind = f"{self.class_name} {self.kind}" + (f", {self.race}" if self.race else "")
        rarity = f", {self.rarity}" if self.rarity else ""
        uncollectible = "" if self.collectible else ", uncollectible"
        return f"{kind}{rarity}, set {self.set_name}, edition {self.edition}{uncollectible}"

    @property
    def coverage_text(self) -> str:
        """Coverage line: how the card is played, and which of its mechanics are not covered."""
        if self.played == EXACT:
            return "exact" if self.does or self.keywords else "exact: it has no text"
        how = "a body with its keywords" if self.played == BODY else "not played"
        if self.not_covered == (CHANGED_CARD,):
            return f"{how}: its text or numbers match no card of {OLD_EDITION}"
        return f"{how}; not covered: {', '.join(self.not_covered)}"


def card_facts(card: Card | OtherCard, edition_name: str) -> CardFacts:
    """Facts about a card of an edition."""
    if isinstance(card, OtherCard):
        missing = mechanics_by_card().get(card.id, (f"{card.kind} card",))
        return CardFacts(
            edition_name,
            card.id,
            card.name,
            card.kind,
            card.class_name,
            set_name(card.card_set),
            "",
            card.cost,
            "",
            "",
            (),
            True,
            NOT_PLAYED,
            (),
            missing if edition_name == OLD_EDITION else (CHANGED_CARD,),
        )
    found = edition(edition_name)
    is_body = card.id in found.bodies
    played = EXACT if card.exact else BODY if card.kind == CardKind.MINION else NOT_PLAYED
    missing = () if card.exact else (CHANGED_CARD,) if is_body else _mechanics_of(card)
    return CardFacts(
        edition_name,
        card.id,
        card.name,
        _KINDS[card.kind],
        card.class_name,
        set_name(card.card_set),
        card.rarity.lower(),
        card.spec.cost,
        card.body,
        "" if card.race == Race.NONE else card.race.name.lower(),
        tuple(keyword_names(card.spec.keywords)),
        is_body or card.id in found.collectible,
        played,
        _does(card),
        missing,
        tuple((number.name, number.value) for number in printed_numbers(card))
        if played != NOT_PLAYED and is_patchable(card)
        else (),
    )


def find_facts(id_or_name: str, edition_name: str = "") -> list[CardFacts]:
    """Facts about all printings of a card, the best match first.

    Args:
        id_or_name: card id, or name (case ignored).
        edition_name: edition to search; "" for the newest edition and then the older one.

    Raises:
        UnknownNameError: no such card; the message lists the nearest names.
    """
    names = (edition_name,) if edition_name else (NEWEST_EDITION, OLD_EDITION)
    found: list[CardFacts] = []
    known: list[str] = []
    for name in names:
        cards = _cards_of(name)
        by_id = [card for card in cards if card.id == id_or_name]
        wanted = by_id[0].name if by_id else id_or_name
        printings = [card for card in cards if card.name.casefold() == wanted.casefold()]
        printings.sort(key=lambda card: (card.id != id_or_name, *_newest_first(card)))
        found += [card_facts(card, name) for card in printings]
        known += [card.name for card in cards]
        known += [card.id for card in cards] if "_" in id_or_name else []
    if not found:
        raise unknown_name(f"card of edition {edition_name}" if edition_name else "card", id_or_name, known)
    return found


def all_card_facts(edition_name: str) -> list[CardFacts]:
    """All collectible cards of an edition except heroes, sorted by name."""
    cards = [card_facts(card, edition_name) for card in _cards_of(edition_name)]
    listed = [card for card in cards if card.collectible and card.kind != "hero"]
    return sorted(listed, key=lambda card: (card.name, card.id))


def filter_card_facts(
    edition_name: str, class_name: str = "", set_of: str = "", kind: str = ""
) -> list[CardFacts]:
    """Collectible cards of an edition, filtered by class, set and uncovered mechanic.

    Args:
        edition_name: edition name.
        class_name: class name; "" for all. Case is ignored here and below.
        set_of: set name; "" for all.
        kind: uncovered mechanic; "" for all cards.

    Raises:
        UnknownNameError: unknown class, set or mechanic; the message lists the nearest.
    """
    cards = all_card_facts(edition_name)
    filters = (
        ("class", class_name, {card.class_name for card in cards}),
        ("set", set_of, {card.set_name for card in cards}),
        ("uncovered mechanic", kind, {word for card in cards for word in card.not_covered}),
    )
    for label, name, known in filters:
        if name and name.casefold() not in {other.casefold() for other in known}:
            raise unknown_name(label, name, sorted(known))
    return [
        card
        for card in cards
        if class_name.casefold() in ("", card.class_name.casefold())
        and set_of.casefold() in ("", card.set_name.casefold())
        and kind.casefold() in ("", *(word.casefold() for word in card.not_covered))
    ]


def set_name(card_set: str) -> str:
    """Display name of a card set."""
    return SET_NAMES.get(card_set, card_set.replace("_", " ").title())


@lru_cache(maxsize=1)
def mechanics_by_card() -> Mapping[str, tuple[str, ...]]:
    """Mechanics in the card texts of 2018-07 by card id, for cards whose text exceeds the table's columns."""
    path = resources.files("engine") / "data" / "editions" / "kinds.csv"
    with path.open(encoding="utf-8") as lines:
        return {row["id"]: tuple(row["kinds"].split("; ")) for row in csv.DictReader(lines)}


def _mechanics_of(card: Card) -> tuple[str, ...]:
    """Mechanics in a card's text, or in the text of its 2018-07 namesake."""
    kinds = mechanics_by_card()
    if card.id in kinds:
        return kinds[card.id]
    old = edition(OLD_EDITION)
    named = [other.id for other in old.by_name.get(card.name.casefold(), []) if other.id in kinds]
    return kinds[named[0]] if named else ("other",)


def _cards_of(edition_name: str) -> list[Card | OtherCard]:
    """All cards that can be looked up in an edition."""
    found = edition(edition_name)
    if edition_name == OLD_EDITION:
        return [*found.by_id.values(), *found.others.values()]
    real = (found.by_id[name] for name in found.collectible)
    return [*real, *found.bodies.values(), *found.others.values()]


def _newest_first(card: Card | OtherCard) -> tuple[bool, int]:
    """Sort key of printings: newest first, the Classic format last."""
    return card.card_set == CLASSIC_SET, -card.dbf_id


def _does(card: Card) -> tuple[str, ...]:
    """Describe a card's traits and effects, a sentence each."""
    sentences = [words for trait, words in _TRAITS.items() if card.traits & trait]
    sentences += [f"Spell Damage +{card.spell_damage}"] if card.spell_damage else []
    sentences += [f"Overload: {card.overload} mana crystals are locked next turn"] if card.overload else []
    return (*sentences, *(describe_row(effect, _token_name) for effect in card.effects))


def _token_name(card_id: str) -> str:
    """Name and body of a card that an effect creates."""
    card = edition(OLD_EDITION).by_id[card_id]
    return f"{card.name} {card.body}".strip()


OTHER_SETS = "all others"
"""Name of the row that sums up the sets without an exact card."""


class Share(NamedTuple):
    """Number of exactly played cards in a group.

    Attributes:
        name: name of the set or class.
        exact: number of cards whose full text is covered.
        cards: number of cards.
    """

    name: str
    exact: int
    cards: int


class Coverage(NamedTuple):
    """Coverage of an edition: numbers of exact cards by set and class, and missing mechanics.

    Attributes:
        edition: edition name.
        whole: the whole edition.
        sets: by set, in order of release; the sets without an exact card are summed up in the last entry.
        classes: by class, neutral cards last.
        not_covered: mechanics of cards that are not exact, with numbers of cards, most frequent first. A card
            may have several.
    """

    edition: str
    whole: Share
    sets: tuple[Share, ...]
    classes: tuple[Share, ...]
    not_covered: tuple[tuple[str, int], ...]


def coverage(edition_name: str) -> Coverage:
    """Count the exact cards of an edition by set and class, and its missing mechanics."""
    cards = all_card_facts(edition_name)
    sets = _shares(cards, [card.set_name for card in cards])
    order = list(SET_NAMES.values())
    shown = [share for share in sets if share.exact]
    shown.sort(key=lambda share: (order.index(share.name) if share.name in order else len(order), share.name))
    rest = sum(share.cards for share in sets if not share.exact)
    classes = _shares(cards, [card.class_name for card in cards])
    kinds = Counter(kind for card in cards for kind in card.not_covered)
    return Coverage(
        edition_name,
        _share(edition_name, cards),
        (*shown, *([Share(OTHER_SETS, 0, rest)] if rest else [])),
        tuple(sorted(classes, key=lambda share: (share.name in ("neutral", "several classes"), share.name))),
        tuple(sorted(kinds.items(), key=lambda entry: (-entry[1], entry[0]))),
    )


def coverage_markdown() -> str:
    """Coverage tables of docs/effects.md in Markdown: exact cards by set and class, missing mechanics."""
    parts = []
    for name in EDITIONS:
        found = coverage(name)
        whole = found.whole
        parts.append(f"Edition `{name}`: {whole.exact:,} of {whole.cards:,} collectible cards are exact.")
        parts.append(_table("set", [*found.sets]))
        parts.append(_table("class", [*found.classes]))
        rows = [f"| {kind} | {n:,} |" for kind, n in found.not_covered]
        parts.append("\n".join(["| not covered | cards that ask for it |", "| --- | --- |", *rows]))
    return "\n\n".join(parts) + "\n"


def _table(heading: str, shares: Sequence[Share]) -> str:
    rows = [f"| {share.name} | {share.exact:,} | {share.cards:,} |" for share in shares]
    return "\n".join([f"| {heading} | exact | of |", "| --- | --- | --- |", *rows])


def _shares(cards: Iterable[CardFacts], names: Iterable[str]) -> list[Share]:
    """Number of exact cards per group; `names` has each card's group."""
    groups: dict[str, list[CardFacts]] = {}
    for card, name in zip(cards, names, strict=True):
        groups.setdefault(name, []).append(card)
    return [_share(name, group) for name, group in groups.items()]


def _share(name: str, cards: Sequence[CardFacts]) -> Share:
    return Share(name, sum(card.played == EXACT for card in cards), len(cards))
