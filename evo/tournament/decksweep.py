"""The curve of a deck: an entrant with several numbers of a card, or of minions with a keyword. Pure.

Source: HearthSim, "Direct damage spells" and "To Taunt or not to Taunt", whose curves are the examples.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from engine import Deck
from engine.cards import Card
from engine.cards.real import EDITIONS, OLD_EDITION, edition
from engine.codes import DECK_SIZE
from engine.errors import ManaforgeError
from engine.minion import keyword_flags
from engine.varied import Varied
from engine.vocabulary import CardKind, Race
from evo.play.entrants import Entrant
from evo.tournament.sweep import SweepError, Variants, shown

CARD, KEYWORD = "card", "keyword"


def find_keyword(text: str) -> str:
    """A keyword as users write it, "Divine Shield" or "divine-shield", by its name in code.

    Raises:
        SweepError: there is none; the message lists the nearest.
    """
    try:
        flags = keyword_flags([text.replace("-", " ")])
    except ManaforgeError as error:
        raise SweepError(f"--keyword: {error}") from None
    return next(name for name, is_on in flags.items() if is_on)


def card_for(deck: Deck, text: str, edition_name: str = "") -> Card:
    """The card that a text names, as it is put into a deck.

    In a deck with a class it does what its text says. So it does in a deck without one, unless all that is
    played of it is a body with keywords, which every agent plays.

    Args:
        deck: to put it into.
        text: English name or id.
        edition_name: where the card is looked up; "": the deck's edition, 2018-07 if it has none.

    Raises:
        SweepError: there is no such card, or it cannot be played as its text says and is no minion.
    """
    chosen = edition_name or deck.edition or OLD_EDITION
    try:
        card = edition(chosen).for_deck(text)
    except ManaforgeError as error:
        raise SweepError(f"--card: {error}{_elsewhere(text, chosen)}") from None
    if not card.exact and card.kind != CardKind.MINION:
        raise SweepError(
            f"--card: {card.name} [{card.id}] is a {card.kind.name.lower()} that edition {chosen} does not "
            f"play exactly, and only minions can be put in as bodies; python -m engine cards --class "
            f"{card.class_name} lists which are{_elsewhere(text, chosen)}"
        )
    more = card.effects or card.traits or card.spell_damage or card.overload
    if deck.hero_class or (card.exact and (card.kind != CardKind.MINION or more)):
        return card
    plain = replace(card, real=False, race=Race.NONE, effects=())
    return replace(plain, traits=0, spell_damage=0, overload=0, needs=0)


def _elsewhere(text: str, chosen: str) -> str:
    """The way out where another edition plays a card exactly."""
    for other in EDITIONS:
        if other != chosen:
            try:
                if edition(other).for_deck(text).exact:
                    return f"; --edition {other} plays it"
            except ManaforgeError:
                continue
    return ""


def vary_card(
    entrant: Entrant,
    text: str,
    values: Sequence[float],
    decks: Sequence[Deck],
    n_held: int,
    edition_name: str = "",
) -> Variants:
    """An entrant whose decks have each of several numbers of copies of a card.

    Args:
        entrant: the entrant.
        text: the card's English name or id.
        values: the numbers of copies.
        decks: of the tournament.
        n_held: how many of these, the first ones, the entrant holds.
        edition_name: where the card is looked up; "" as of `card_for`.

    Raises:
        SweepError: there is no such card, it cannot be played, or a value is not allowed.
    """
    cards = {deck.name: card_for(deck, text, edition_name) for deck in decks[:n_held]}
    name = next(iter(cards.values())).name
    return _vary(
        entrant, CARD, name, values, decks, n_held, lambda deck, count: Varied(cards[deck.name], "", count)
    )


def vary_keyword(
    entrant: Entrant, text: str, values: Sequence[float], decks: Sequence[Deck], n_held: int
) -> Variants:
    """An entrant whose decks have each of several numbers of minions with a keyword.

    Arguments as of `vary_card`.

    Raises:
        SweepError: there is no such keyword, or a value is not allowed.
    """
    keyword = find_keyword(text)
    return _vary(
        entrant, KEYWORD, keyword, values, decks, n_held, lambda _, count: Varied(None, keyword, count)
    )


def _vary(
    entrant: Entrant,
    kind: str,
    name: str,
    values: Sequence[float],
    decks: Sequence[Deck],
    n_held: int,
    make: Callable[[Deck, int], Varied],
) -> Variants:
    counts = _counts(kind, values)
    held, others = decks[:n_held], tuple(decks[n_held:])
    try:
        own_decks = tuple(
            (*(replace(deck, varied=make(deck, count)) for deck in held), *others) for count in counts
        )
    except ManaforgeError as error:
        raise SweepError(f"--values: {error}") from None
    entrants = tuple(Entrant(f"{entrant.text}[{name}={count}]", entrant.player) for count in counts)
    usual = {make(deck, 0).own(deck.cards) for deck in held}
    return Variants(
        entrant.text,
        name,
        tuple(counts),
        entrants,
        usual.pop() if len(usual) == 1 else None,
        kind,
        f"{make(held[0], 0).things} in the deck",
        own_decks,
    )


def _counts(kind: str, values: Iterable[float]) -> list[int]:
    """Values as numbers of cards of a deck."""
    counts = []
    for value in values:
        if not (0 <= value <= DECK_SIZE and value == int(value)):
            raise SweepError(
                f"--values: with --{kind} values count cards of a deck, whole numbers from 0 to {DECK_SIZE}, "
                f"got {shown(value)}"
            )
        counts.append(int(value))
    return counts


def put_in(variants: Variants) -> list[dict[str, object]]:
    """The card that is put into each deck, as JSON values; empty for a keyword or a weight."""
    varied = [deck for deck in (variants.decks[0] if variants.decks else ()) if deck.varied]
    return [
        {
            "deck": deck.name,
            "id": deck.varied.card.id,
            "name": deck.varied.card.name,
            "exact": deck.varied.card.exact,
        }
        for deck in varied
        if deck.varied and deck.varied.card
    ]


def body_notes(variants: Variants) -> list[str]:
    """For each card that is put in as a body although its text says more, a sentence that says so."""
    found = dict.fromkeys(f"{card['name']} [{card['id']}]" for card in put_in(variants) if not card["exact"])
    return [f"{name} is put in as a body with its keywords: its text says more" for name in found]
