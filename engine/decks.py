"""Decks: validated lists or pools of cards, and the options for reading decks.

A deck code or deck file may have a prefix of reading options, joined by `+`, and a colon: `2018-07:CODE`,
`bodies:FILE`, `2018-07+any-deck:CODE`. Any deck may have patches there: `CS2_029.cost=5:DECK`. The command
options `--edition`, `--bodies`, `--any-deck` and `--patch` add such prefixes, so that runs and tournaments
record how their decks were read.
"""

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from engine.cards import Card, catalogue
from engine.cards.patches import NO_PATCH, WORD, CardPatch, Patch, patch_from_words
from engine.cards.real import EDITIONS, NEWEST_EDITION, edition, find_class
from engine.cards.table import CardTable, with_created
from engine.codes import DECK_SIZE
from engine.deck_variants import DeckVariant
from engine.effect_codes import EFFECTS_VERSION, CardKind
from engine.errors import DeckError, DeckNameError, unknown_name
from engine.minion import keyword_names
from engine.shipped import BALANCED_RULESET, MINION_RULESET
from engine.state import DECK

BODIES = "bodies"
ANY_DECK = "any-deck"
PREFIX_WORDS = (*EDITIONS, BODIES, ANY_DECK)
"""Words allowed in a deck prefix."""

_AHEAD = re.compile(r"(?P<words>[\w.+=-]+):(?P<deck>.+)", re.S)


@dataclass(frozen=True, slots=True)
class DeckOptions:
    """Options for reading a deck.

    Attributes:
        edition: edition of its cards; "": the default.
        bodies: play minions whose effects are not covered as bodies with their keywords.
        any_deck: allow cards of other classes and any number of copies.
        patch: changed numbers of cards, in all games of the deck.
    """

    edition: str = ""
    bodies: bool = False
    any_deck: bool = False
    patch: Patch = NO_PATCH

    @property
    def text(self) -> str:
        """The options as a deck prefix with its colon; "" without options."""
        words = [self.edition] * bool(self.edition) + [BODIES] * self.bodies + [ANY_DECK] * self.any_deck
        words += self.patch.words
        return f"{'+'.join(words)}:" if words else ""

    @property
    def options(self) -> str:
        """The options as command line options."""
        words = [f"--edition {self.edition}"] * bool(self.edition)
        patches = [f"--patch {shlex.quote(text)}" for text in self.patch.texts]
        return " ".join([*words, *["--bodies"] * self.bodies, *["--any-deck"] * self.any_deck, *patches])

    @property
    def hint(self) -> str:
        """The options for messages: "--bodies or the deck prefix bodies:"."""
        return f"{self.options} or the deck prefix {self.text}"

    def merged_with(self, other: "DeckOptions") -> "DeckOptions":
        """Union of two sets of options; this edition and patch take precedence."""
        return DeckOptions(
            self.edition or other.edition,
            self.bodies or other.bodies,
            self.any_deck or other.any_deck,
            other.patch | self.patch,
        )


NO_DECK_OPTIONS = DeckOptions()


def deck_options(
    edition: str = "", bodies: bool = False, any_deck: bool = False, patch: Patch = NO_PATCH
) -> DeckOptions:
    """Reading options from command line options.

    Raises:
        UnknownNameError: there is no such edition.
    """
    if edition and edition not in EDITIONS:
        raise unknown_name("edition", edition, EDITIONS)
    return DeckOptions(edition, bodies, any_deck, patch)


class PrefixedDeck(NamedTuple):
    """A deck as the user wrote it: the reading options of its prefix, and the text after the prefix."""

    reading: DeckOptions
    deck: str


def split_deck_prefix(text: str) -> PrefixedDeck:
    """Split the reading options, such as `2018-07+bodies:`, from the front of a deck text.

    Raises:
        UnknownNameError: the prefix has an unknown word; the message lists the known ones.
        DeckNameError: the prefix has two editions.
        PatchError: a patch of the prefix names a number that its card does not have.
    """
    ahead = _AHEAD.fullmatch(text)
    if ahead is None:
        return PrefixedDeck(NO_DECK_OPTIONS, text)
    words = ahead["words"].split("+")
    changes = [word for word in words if WORD.fullmatch(word)]
    unknown = [word for word in words if word not in PREFIX_WORDS and word not in changes]
    if len(unknown) == len(words) and (len(words) > 1 or not _looks_meant(words[0])):
        return PrefixedDeck(NO_DECK_OPTIONS, text)  # a name or a path with a colon
    if unknown:
        raise unknown_name("deck prefix", unknown[0], PREFIX_WORDS)
    editions = [word for word in words if word in EDITIONS]
    if len(editions) > 1:
        raise DeckNameError(f"a deck prefix names at most one edition, got {'+'.join(words)}:")
    return PrefixedDeck(
        DeckOptions("".join(editions), BODIES in words, ANY_DECK in words, patch_from_words(changes)),
        ahead["deck"].strip(),
    )


def _looks_meant(word: str) -> bool:
    """Whether a word looks like an edition, such as "2019-04"."""
    return bool(re.fullmatch(r"\d{4}(-\d{1,2})?", word))


def write_deck_options(text: str, reading: DeckOptions) -> str:
    """Write reading options into the text of a deck file, so that a copy needs no prefix."""
    keys = {
        "edition": f'"{reading.edition}"' if reading.edition else "",
        "bodies": "true" if reading.bodies else "",
        "any_deck": "true" if reading.any_deck else "",
        "patches": json.dumps(reading.patch.texts, ensure_ascii=False) if reading.patch else "",
    }
    for key, value in keys.items():
        if not value:
            continue
        line = f"{key} = {value}"
        head, table, rest = text.partition("\n[")
        found = re.compile(rf"^{key}[ \t]*=[ \t]*(\[[^\]]*\]|.*$)", re.M)
        head = found.sub(lambda _, line=line: line, head) if found.search(head) else f"{line}\n{head}"  # type: ignore[misc]
        text = f"{head}{table}{rest}"
    return text


COPIES = 2
"""Largest number of copies of a card."""

LEGENDARY_COPIES = 1
"""Largest number of copies of a legendary card."""


@dataclass(frozen=True)
class Deck:
    """A deck: a list of cards, or a pool from which each deal draws cards at random.

    Attributes:
        name: as commands and results write it.
        cards: the cards in list order (dealing shuffles them); of a random deck, its pool.
        random: whether `cards` is a pool.
        description: one line for listings.
        text: content of the deck file; "" for shipped decks and deck codes.
        hero_class: class of the hero, such as "mage"; "" for a deck of bodies, without a hero power.
        edition: edition of its cards, for a deck with a class.
        varied: a deck variant that replaces some of the cards in each deal; None: the deck as listed.
        size: number of cards dealt, 1 to 30.
        patch: changes of the cards of its games; `cards` have them already (`patched`).

    Raises:
        DeckError: there are not `size` cards (in a pool: 1 to 30), or the variant does not fit them.
    """

    name: str
    cards: tuple[Card, ...]
    random: bool = False
    description: str = field(default="", compare=False)
    text: str = field(default="", compare=False, repr=False)
    hero_class: str = ""
    edition: str = ""
    varied: DeckVariant | None = None
    size: int = DECK_SIZE
    patch: Patch = NO_PATCH

    def __post_init__(self) -> None:
        if type(self.size) is not int or not 1 <= self.size <= DECK_SIZE:
            raise DeckError(
                f"deck {self.name!r}: size must be a whole number from 1 to 30, got {self.size!r}"
            )
        fewest, most = (1, DECK_SIZE) if self.random else (self.size, self.size)
        if not fewest <= len(self.cards) <= most:
            kind = "a pool of 1 to 30" if self.random else str(self.size)
            raise DeckError(f"deck {self.name!r} must have {kind} cards, got {len(self.cards)}")
        if self.varied and self.size != DECK_SIZE:
            raise DeckError(f"deck {self.name!r} has {self.size} cards; only decks of 30 can have variants")
        if self.varied:
            self.varied.check(self.cards, self.name, self.random)

    def __hash__(self) -> int:
        return hash(self.name)  # hashing thirty cards would take longer than comparing them

    def patched(self, patch: Patch) -> "Deck":
        """The deck in games with changed cards; a patch that it has already stays."""
        if not patch:
            return self
        return replace(self, cards=tuple(map(patch.apply, self.cards)), patch=self.patch | patch)

    def record(self, table: CardTable) -> np.void:
        """The deck as a record of dtype `engine.state.DECK`, with the card numbers of `table`."""
        record: np.void = np.zeros(1, DECK)[0]
        record["cards"][: len(self.cards)] = [table.number[card.key] for card in self.cards]
        record["size"] = self.size
        record["pool"] = len(self.cards) if self.random else 0
        record["power"] = 1 + table.number[self.power.key] if self.power else 0
        if self.varied:
            record["varied"] = 1 + self.varied.count
            for name, find in (
                ("given", self.varied.with_property),
                ("without", self.varied.without_property),
            ):
                found = map(find, self.cards)
                numbers = [table.number[card.key] if card else -1 for card in found]
                record[name][: len(numbers)] = numbers
        return record

    @property
    def identity(self) -> list[Any]:
        """Content that determines the deal, for the hashes of configurations: name, kind and cards."""
        return self.identity_under(EFFECTS_VERSION)

    def identity_under(self, effects: int) -> list[Any]:
        """The `identity` under a given version of the effects."""
        real = [self.hero_class, self.power.identity, effects] if self.power else []
        varied = [self.varied.identity_under(effects)] if self.varied else []
        size = [self.size] if self.random and self.size != DECK_SIZE else []
        patched = [{"patch": list(self.patch.words)}] if self.patch else []
        cards = (card.identity for card in self.cards)
        return [self.name, self.random, *size, *cards, *real, *varied, *patched]

    @property
    def effects(self) -> bool:
        """Whether the deck's games have card effects: it has a class, or its variant adds a real card."""
        return bool(self.hero_class) or (self.varied is not None and self.varied.effects)

    @property
    def power(self) -> Card | None:
        """The hero power; None without a class."""
        return self.patch.apply(find_class(self.hero_class).power) if self.hero_class else None

    @property
    def n_exact(self) -> int:
        """Number of cards that play their full text; the others are bodies with the deck's keywords."""
        return sum(map(self.plays_text, self.cards))

    def plays_text(self, card: Card) -> bool:
        """Whether a card of this deck plays its full text, with whatever numbers."""
        return card.exact or (card.real and edition(self.edition or NEWEST_EDITION).printed(card).exact)

    def changes(self) -> dict[Card, str]:
        """Cards whose numbers, keywords or value the deck file changes, each with "cost 5 instead of 4".

        Changes by a patch are not among them. Empty for a deck without a class, whose changed cards count as
        bodies instead.
        """
        if not self.hero_class:
            return {}
        cards = edition(self.edition or NEWEST_EDITION)
        printed = {card: self.patch.apply(cards.printed(card)) for card in dict.fromkeys(self.cards)}
        found = {card: changes_text(card, known) for card, known in printed.items()}
        return {card: text for card, text in found.items() if text}

    def counts(self) -> list[tuple[Card, int]]:
        """Distinct cards with their counts, sorted by cost and name; for a random deck, of the pool."""
        found = Counter(self.cards)
        return sorted(found.items(), key=lambda entry: (entry[0].spec.cost, entry[0].name))


def earlier_version_text(fits: Callable[[int], bool]) -> str:
    """Error text for games recorded under an earlier version of the effects; "" if no version matches."""
    for version in range(1, EFFECTS_VERSION):
        if fits(version) and not fits(EFFECTS_VERSION):
            return f"effects {version}, and this version plays effects {EFFECTS_VERSION}"
    return ""


def default_ruleset(decks: Iterable[Deck]) -> str:
    """Name of the ruleset of games for which none is chosen: standard if a deck has a class, else thesis."""
    return BALANCED_RULESET if any(deck.hero_class for deck in decks) else MINION_RULESET


def changes_text(card: Card, printed: Card) -> str:
    """Differences of a card's numbers, keywords and value from the printed card; "" if there are none."""
    last = "durability" if card.kind == CardKind.WEAPON else "health"
    texts = [
        f"{last if name == 'health' else name} {new} instead of {old}"
        for name in ("cost", "attack", "health")
        if (new := getattr(card.spec, name)) != (old := getattr(printed.spec, name))
    ]
    if card.spec.keywords != printed.spec.keywords:
        new, old = (
            ", ".join(keyword_names(known.spec.keywords)) or "no keyword" for known in (card, printed)
        )
        texts.append(f"{new} instead of {old}")
    if card.spec.value != printed.spec.value:
        texts.append(f"value {card.spec.worth:g}")
    return ", ".join(texts)


def changed_cards(decks: Iterable[Deck]) -> dict[str, dict[str, str]]:
    """Cards that deck files change, with "cost 3 instead of 4", by deck and card; without unchanged decks."""
    found = {deck.name: {card.title: text for card, text in deck.changes().items()} for deck in decks}
    return {name: cards for name, cards in found.items() if cards}


def changes_sentence(decks: Iterable[Deck]) -> str:
    """Sentences on the cards that deck files and patches change; "" if there are none."""
    decks = list(decks)
    told = [
        f"{deck}: {', '.join(f'{card} ({text})' for card, text in sorted(cards.items()))}"
        for deck, cards in changed_cards(decks).items()
    ]
    changed = f"Changed by a deck file: {'; '.join(told)}." if told else ""
    return " ".join(filter(None, (changed, _patch_sentence(decks))))


def patch_of(decks: Iterable[Deck]) -> Patch:
    """The patch of decks that play in the same games.

    Raises:
        DeckError: they have different patches.
    """
    decks = list(decks)
    patches = {deck.patch: deck.name for deck in decks}
    if len(patches) > 1:
        told = "; ".join(f"{name}: {', '.join(patch.texts) or 'none'}" for patch, name in patches.items())
        raise DeckError(
            f"decks that play each other must have the same patches, since a patch changes a card for both "
            f"players; {told}. Write --patch, which patches all decks"
        )
    return next(iter(patches), NO_PATCH)


def _patch_sentence(decks: Sequence[Deck]) -> str:
    """A sentence with the patches of decks, against the printing that they have; "" if there are none."""
    told: dict[CardPatch, str] = {}
    for deck in decks:
        for patch in deck.patch.cards:
            held = next((card for card in deck.cards if card.id in patch.ids), None)
            if held is not None:
                body = catalogue().by_id.get(held.id, held)
                printed = edition(deck.edition).printed(held) if deck.hero_class else body
                told[patch] = patch.sentence(printed)
            told.setdefault(patch, patch.sentence(patch.card))
    return f"Patched: {'; '.join(told.values())}." if told else ""


def coverage_sentence(decks: Iterable[Deck]) -> str:
    """Sentences with the number of fully implemented cards of each deck, and the changed cards."""
    decks = list(decks)
    changed = changes_sentence(decks)
    told = f" {changed}" if changed else ""
    if all(deck.n_exact == len(deck.cards) for deck in decks):
        return f"Every card of the decks is played exactly.{told}"
    counts = ", ".join(
        f"{deck.name} {deck.n_exact} of {'a pool of ' if deck.random else ''}{len(deck.cards)}"
        for deck in decks
    )
    rest = "the others are bodies with the keywords their deck gives them"
    return f"Cards played exactly: {counts}; {rest}.{told}"


def deck_card_facts(decks: Iterable[Deck]) -> dict[str, dict[str, Any]]:
    """Facts about the cards of decks as JSON values.

    Returns:
        exact_cards: by deck, its cards that play their full text, and all: [exact, total].
        changed_cards: by deck and card, the change; only if a deck file changes cards.
        patches: changes of cards in all games, as users write them; only if there are any.
    """
    decks = list(decks)
    facts: dict[str, Any] = {
        "exact_cards": {deck.name: [deck.n_exact, len(deck.cards)] for deck in decks},
        "changed_cards": changed_cards(decks),
        "patches": list(dict.fromkeys(text for deck in decks for text in deck.patch.texts)),
    }
    return {key: value for key, value in facts.items() if value or key == "exact_cards"}


def build_card_table(decks: Iterable[Deck], game_features: int = 0) -> CardTable:
    """Build the card table of several decks, in their order; cards with the same `key` share one number.

    Hero powers come after the cards of all decks, then cards of deck variants, then cards created by effects.

    Args:
        decks: the decks.
        game_features: bits of `GameFeature` that the games track in any case.

    Raises:
        DeckError: the decks have different patches.
    """
    decks = list(decks)
    return CardTable(_cards_of(decks), game_features, patch_of(decks))


def _cards_of(decks: Sequence[Deck]) -> list[Card]:
    """The cards of decks, their hero powers and the cards of their variants, each once."""
    found: dict[object, Card] = {}
    for deck in decks:
        for card in deck.cards:
            found.setdefault(card.key, card)
    for deck in decks:
        if deck.power:
            found.setdefault(deck.power.key, deck.power)
    for deck in decks:
        for card in deck.varied.possible_cards(deck.cards) if deck.varied else ():
            found.setdefault(card.key, card)
    return list(found.values())


def cards_of_games(decks: Iterable[Deck]) -> list[Card]:
    """All cards that games of these decks can have: theirs, and those that effects may create.

    Raises:
        DeckError: the decks have different patches.
    """
    decks = list(decks)
    return with_created(_cards_of(decks), patch_of(decks))


def cached_card_table(decks: tuple[Deck, ...], game_features: int = 0) -> tuple[CardTable, np.ndarray]:
    """Card table (`build_card_table`) and deck records for kernels; cached, so do not modify them."""
    return _tables_of(decks, game_features)


@lru_cache(maxsize=64)
def _tables_of(decks: tuple[Deck, ...], game_features: int) -> tuple[CardTable, np.ndarray]:
    """`cached_card_table` with explicit arguments: the cache treats an omitted default as another call."""
    table = build_card_table(decks, game_features)
    return table, deck_records(decks, table)


def deck_records(decks: Sequence[Deck], table: CardTable) -> np.ndarray:
    """Decks for kernels: shape (decks,), dtype `engine.state.DECK`."""
    return np.array([deck.record(table) for deck in decks], DECK)


def check_class(
    cards: Sequence[Card], hero_class: str, where: str, reading: DeckOptions = NO_DECK_OPTIONS
) -> None:
    """Refuse cards of other classes, and cards whose text is not fully implemented.

    Args:
        cards: the deck's cards.
        hero_class: the hero's class.
        where: the deck or file, for the message.
        reading: `bodies` allows minions whose text is not covered, as bodies with their keywords; `any_deck`
            allows cards of other classes.

    Raises:
        DeckError: there are such cards; the message lists all of them.
    """
    problems = class_problems(cards, hero_class, reading)
    if problems:
        raise DeckError(f"{where}: {'; '.join(problems)}")


def class_problems(
    cards: Iterable[Card], hero_class: str, reading: DeckOptions = NO_DECK_OPTIONS
) -> list[str]:
    """Error texts for a class deck's cards, each with a way out; arguments as for `check_class`."""
    distinct = {card.name: card for card in cards}
    own = (hero_class, "neutral")
    foreign = [card for card in distinct.values() if card.class_name not in own]
    names = [f"{card.name} ({card.class_name})" for card in foreign]
    problems = []
    if names and not reading.any_deck:
        problems.append(
            f"a {hero_class} does not play {', '.join(names)} "
            f"(allowed with {DeckOptions(any_deck=True).hint})"
        )
    inexact = [card for card in distinct.values() if not card.exact]
    others = [card for card in inexact if card.kind != CardKind.MINION]
    names = [f"{card.name} ({card.kind.name.lower()})" if card in others else card.name for card in inexact]
    if len(others) < len(inexact) and not reading.bodies:
        way_out = f"with {DeckOptions(bodies=True).hint}, minions are played as bodies with their keywords"
        problems.append(f"not played exactly: {', '.join(names)} ({way_out})")
    elif others:
        names = [name for card, name in zip(inexact, names, strict=True) if card in others]
        problems.append(f"not played exactly, and not a minion: {', '.join(names)}")
    return problems


def check_counts(
    cards: Sequence[Card],
    where: str,
    copies: int = COPIES,
    legendary: int = LEGENDARY_COPIES,
    size: int = DECK_SIZE,
) -> None:
    """Refuse a list without `size` cards or with too many copies; reprints count as the same card.

    Raises:
        DeckError: the list is not legal; the message lists every problem.
    """
    problems = count_problems(cards, copies, legendary, size)
    if problems:
        raise DeckError(f"{where}: {'; '.join(problems)}")


def count_problems(
    cards: Sequence[Card], copies: int = COPIES, legendary: int = LEGENDARY_COPIES, size: int = DECK_SIZE
) -> list[str]:
    """Error texts for a wrong number of cards or of copies of a card."""
    problems = []
    if len(cards) != size:
        problems.append(f"{len(cards)} cards instead of {size}")
    rarity = {card.name: card.rarity for card in cards}
    for name, n in Counter(card.name for card in cards).items():
        most = legendary if rarity[name] == "LEGENDARY" else copies
        if n > most:
            kind = "legendary " if rarity[name] == "LEGENDARY" else ""
            problems.append(f"{n} copies of {kind}{name} (at most {most})")
    return problems
