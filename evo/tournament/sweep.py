"""Parameter sweeps: win rate by the value of a weight, or by the number of copies of a card in the deck.

Sources of the example curves: HearthSim, "Tuning the AI" (aggressiveness), "Direct damage spells" and "To
Taunt or not to Taunt".
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import ttest_1samp

from engine.cards import Card
from engine.cards.patches import parse_patch, printed_numbers
from engine.cards.real import EDITIONS, OLD_EDITION, edition
from engine.codes import DECK_SIZE
from engine.deck_variants import DeckVariant
from engine.decks import Deck, deck_card_facts
from engine.effect_codes import CardKind, Race
from engine.errors import ManaforgeError, WrongValueError, unknown_name
from engine.minion import keyword_flags
from evo.play.entrants import Entrant
from evo.stats.ratings import exact_rate, points_of
from evo.tournament.run import Tournament, find_faults
from ilp_agent import WeightError, WeightVector
from rivals import find_kind, weighted_kinds

MAX_VALUES = 1000
"""Maximum number of values in a sweep."""

COLUMNS = ("weight", "value", "games", "wins", "losses", "draws", "win_rate", "low", "high")


class SweepError(WrongValueError, ValueError):
    """Invalid sweep; the message names the problem and says what to do."""


@dataclass(frozen=True)
class Variants:
    """Variants of an entrant: values of a weight, or numbers of a card or keyword in its deck.

    Attributes:
        entrant: the entrant to vary, as typed.
        name: weight, alias of several weights (`WeightVector.ALIASES`), card, keyword, or card and number.
        values: in the order given.
        entrants: one per value.
        usual: the entrant's own value; None if it differs between the weights of an alias or several decks.
        kind: "weight", "card", "keyword" or "attribute".
        axis: label of the values in figures, such as "copies of Holy Smite in the deck".
        decks: per value, the entrant's decks in place of the tournament's; () for a weight.
    """

    entrant: str
    name: str
    values: tuple[float, ...]
    entrants: tuple[Entrant, ...]
    usual: float | None
    kind: str = "weight"
    axis: str = ""
    decks: tuple[tuple[Deck, ...], ...] = ()


def parse_values(text: str) -> tuple[float, ...]:
    """Parse sweep values: "0.5,1,2", or "0:2:0.1" (first, last, step; last included if a step reaches it).

    Raises:
        SweepError: the text is malformed, or has more than `MAX_VALUES` values.
    """
    usage = f"--values takes FIRST:LAST:STEP, such as 0:2:0.1, or values with commas between, got {text!r}"
    try:
        if ":" not in text:
            values = [float(part) for part in re.split(r"\s*,\s*", text.strip())]
        else:
            first, last, step = (Decimal(part.strip()) for part in text.split(":"))
            if not (all(part.is_finite() for part in (first, last, step)) and step > 0 and last >= first):
                raise SweepError(f"{usage}; STEP must be above 0 and LAST not below FIRST")
            if (last - first) / step >= MAX_VALUES:
                raise SweepError(f"--values {text}: at most {MAX_VALUES:,} values")
            values = [float(first + place * step) for place in range(int((last - first) / step) + 1)]
    except (ValueError, ArithmeticError) as error:
        raise (error if isinstance(error, SweepError) else SweepError(usage)) from None
    if len(set(values)) < len(values):
        raise SweepError(f"--values {text}: the same value twice")
    return tuple(values)


def vary_weight(entrant: Entrant, weight: str, values: Sequence[float]) -> Variants:
    """Create the variants of an entrant with different values of a weight.

    Raises:
        SweepError: the entrant has no such weight, or a value is invalid.
    """
    vector_class = find_kind(entrant.player.kind).weights
    if vector_class is None:
        raise SweepError(f"{entrant.text} has no weights; agents with weights: {', '.join(weighted_kinds())}")
    if entrant.player.deck_weights:
        raise SweepError(f"{entrant.text} has weights for single decks; a sweep varies one vector for all")
    names = _names(vector_class, weight)
    everything = [*vector_class.names(), *vector_class.optional_defaults()]
    places = [everything.index(name) for name in names]
    usual = vector_class.pad_optional(entrant.player.weights)
    found = []
    for value in values:
        weights = list(usual)
        for place in places:
            weights[place] = value
        try:
            vector = vector_class.from_array(weights)
        except WeightError as error:
            raise SweepError(f"--values: {error}") from None
        player = replace(entrant.player, weights=tuple(map(float, vector.array)))
        found.append(Entrant(f"{entrant.text}[{weight}={format_value(value)}]", player))
    own = {usual[place] for place in places}
    usual_value = own.pop() if len(own) == 1 else None
    return Variants(entrant.text, weight, tuple(values), tuple(found), usual_value, axis=weight)


def format_value(value: float) -> str:
    """Format a sweep value as users type it; distinct values have distinct texts."""
    short = f"{value:.12g}"
    return short if float(short) == value else repr(value)


def _names(kind: type[WeightVector], weight: str) -> tuple[str, ...]:
    """Names of the weights that a name or alias stands for."""
    names = (*kind.names(), *kind.optional_defaults())
    if weight in names:
        return (weight,)
    if weight in kind.ALIASES:
        return kind.ALIASES[weight]
    raise SweepError(f"--weight: {unknown_name('weight', weight, [*names, *kind.ALIASES])}")


def sweep_table(variants: Variants, tournament: Tournament, played: np.ndarray) -> pd.DataFrame:
    """Table of a sweep, one row per value: games, win rate (draws half), Clopper-Pearson 95% interval.

    Args:
        variants: of the entrant.
        tournament: of format "sweep"; its entrants are the variants, then the opponent.
        played: its games, dtype `evo.play.games.GAME`.
    """
    n = len(variants.values)
    variant, points = _points(n, tournament, played)
    games, wins, draws = (
        np.bincount(variant[which], minlength=n) for which in (points >= 0, points == 1, points == 0.5)
    )
    rows = []
    for place, value in enumerate(variants.values):
        count, win, draw = int(games[place]), int(wins[place]), int(draws[place])
        rate = exact_rate(win, draw, count)
        rows.append((variants.name, value, count, win, count - win - draw, draw, *rate))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def compare_with_best(variants: Variants, tournament: Tournament, played: np.ndarray) -> list[str]:
    """Compare each value with the best one: "best", "not told apart" (no significant difference), or "".

    All values play the same deals (common random numbers), so a paired test has more power than comparing
    intervals: a two-sided t-test over the deals, at 5%.

    Args:
        variants: of the entrant.
        tournament: see `sweep_table`.
        played: its games, dtype `evo.play.games.GAME`.
    """
    n = len(variants.values)
    variant, own_points = _points(n, tournament, played)
    _, setups = tournament.matchups.schedule(0, len(played))
    _, deals = np.unique(setups, return_inverse=True)
    points = np.zeros((n, deals.max() + 1))
    np.add.at(points, (variant, deals), own_points)
    best = int(points.sum(axis=1).argmax())
    marks = []
    for own in points:
        difference = points[best] - own
        if difference.sum() == 0:
            marks.append("best")
        elif len(difference) < 2 or not difference.std():
            marks.append("" if len(difference) > 1 else "not told apart")
        else:
            worse = ttest_1samp(difference, 0.0).pvalue < 0.05
            marks.append("" if worse else "not told apart")
    return marks


def sweep_summary(
    variants: Variants, tournament: Tournament, played: np.ndarray, curve: pd.DataFrame
) -> dict[str, Any]:
    """Results of a sweep as JSON values.

    Args:
        variants: of the entrant.
        tournament: see `sweep_table`.
        played: its games, dtype `evo.play.games.GAME`.
        curve: from `sweep_table`, with a column against_best from `compare_with_best`.
    """
    return {
        "command": tournament.command,
        "entrant": variants.entrant,
        "against": tournament.names[-1],
        "weight": variants.name,
        "varied": variants.kind,
        "usual": variants.usual,
        "decks": [deck.name for deck in tournament.decks],
        **deck_card_facts(tournament.decks),
        "ruleset": tournament.ruleset.name,
        "seats": "fixed" if tournament.seats == "first" else tournament.seats,
        "games_per_cell": tournament.games,
        "seed": tournament.seed,
        "unproven_turns": int(played["unproven"].sum()),
        "faults": find_faults(tournament, played),
        "values": curve.drop(columns="weight").to_dict("records"),
    }


def _points(n: int, tournament: Tournament, played: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each game, the index (below n) and the points of the variant that played."""
    schedule, _ = tournament.matchups.schedule(0, len(played))
    first = schedule.players[:, 0] < n
    variant = np.where(first, schedule.players[:, 0], schedule.players[:, 1])
    return variant, points_of(played["outcome"], first)


CARD, KEYWORD, ATTRIBUTE = "card", "keyword", "attribute"
"""Values of `Variants.kind` for decks."""


def find_keyword(text: str) -> str:
    """Find a keyword, such as "Divine Shield" or "divine-shield"; returns its internal name.

    Raises:
        SweepError: unknown keyword; the message lists the nearest ones.
    """
    try:
        flags = keyword_flags([text.replace("-", " ")])
    except ManaforgeError as error:
        raise SweepError(f"--keyword: {error}") from None
    return next(name for name, is_on in flags.items() if is_on)


def find_sweep_card(deck: Deck, text: str, edition_name: str = "") -> Card:
    """Find a card by name, in the form in which the sweep adds the card to a deck.

    In a deck with a class the card has its full text. In a deck without one, a minion without supported
    effects becomes a body with keywords, which every agent supports.

    Args:
        deck: the deck.
        text: English name or id.
        edition_name: edition of the card; "": the deck's edition, 2018-07 if it has none.

    Raises:
        SweepError: unknown card, or neither a fully supported card nor a minion.
    """
    chosen = edition_name or deck.edition or OLD_EDITION
    try:
        card = edition(chosen).for_deck(text)
    except ManaforgeError as error:
        raise SweepError(f"--card: {error}{_elsewhere(text, chosen)}") from None
    if not card.exact and card.kind != CardKind.MINION:
        raise SweepError(
            f"--card: {card.name} [{card.id}] is a {card.kind.name.lower()} whose full text edition {chosen} "
            f"does not support, and only minions can be added as bodies; python -m engine cards --class "
            f"{card.class_name} lists supported cards{_elsewhere(text, chosen)}"
        )
    more = card.effects or card.traits or card.spell_damage or card.overload
    if deck.hero_class or (card.exact and (card.kind != CardKind.MINION or more)):
        return card
    plain = replace(card, real=False, race=Race.NONE, effects=())
    return replace(plain, traits=0, spell_damage=0, overload=0, needs=0)


def _elsewhere(text: str, chosen: str) -> str:
    """Hint at another edition that supports a card's full text; "" if no edition does."""
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
    """Create the variants of an entrant with different numbers of copies of a card in its decks.

    Args:
        entrant: the entrant.
        text: the card's English name or id.
        values: numbers of copies.
        decks: of the tournament.
        n_held: number of these, from the first, that the entrant plays.
        edition_name: edition of the card; "" as in `find_sweep_card`.

    Raises:
        SweepError: unknown or unsupported card, or an invalid value.
    """
    cards = {
        deck.name: deck.patch.apply(find_sweep_card(deck, text, edition_name)) for deck in decks[:n_held]
    }
    name = next(iter(cards.values())).name
    return _vary(
        entrant,
        CARD,
        name,
        values,
        decks,
        n_held,
        lambda deck, count: DeckVariant(cards[deck.name], "", count),
    )


def vary_keyword(
    entrant: Entrant, text: str, values: Sequence[float], decks: Sequence[Deck], n_held: int
) -> Variants:
    """Create the variants of an entrant with different numbers of minions with a keyword in its decks.

    Arguments as of `vary_card`.

    Raises:
        SweepError: unknown keyword, or an invalid value.
    """
    keyword = find_keyword(text)
    return _vary(
        entrant, KEYWORD, keyword, values, decks, n_held, lambda _, count: DeckVariant(None, keyword, count)
    )


def vary_attribute(
    entrant: Entrant, text: str, attribute: str, values: Sequence[float], decks: Sequence[Deck], n_held: int
) -> Variants:
    """Create the variants of an entrant with different values of a number of a card in its decks.

    The opponent's cards do not change. Arguments as of `vary_card`; `attribute` is a name of
    `engine.cards.patches.printed_numbers`.

    Raises:
        SweepError: unknown card or number, a card that none of the entrant's decks has, or an invalid value.
    """
    held, others = decks[:n_held], tuple(decks[n_held:])
    try:
        patches = [parse_patch([f"{text} {attribute}={format_value(value)}"]) for value in values]
    except ManaforgeError as error:
        raise SweepError(f"--attribute: {error}") from None
    changed = patches[0].cards[0]
    usual = {
        number.value
        for deck in held
        for card in deck.cards
        if card.id in changed.ids
        for number in printed_numbers(card)
        if number.name == attribute
    }
    if not usual and any(card.id in changed.ids for deck in held for card in deck.cards):
        raise SweepError(f"--attribute: {changed.card.name} is played as a body, without {attribute}")
    if not usual:
        raise SweepError(
            f"--card: {changed.card.name} is not among the cards of {', '.join(deck.name for deck in held)}; "
            "a sweep changes cards of the entrant's decks; tournaments with --patch change others"
        )
    own_decks = tuple(
        (*(replace(deck, cards=tuple(map(patch.apply, deck.cards))) for deck in held), *others)
        for patch in patches
    )
    name = f"{changed.card.name} {attribute}"
    entrants = tuple(
        Entrant(f"{entrant.text}[{name}={format_value(value)}]", entrant.player) for value in values
    )
    axis = f"{attribute.replace('_', ' ')} of {changed.card.name}"
    usual_value = float(usual.pop()) if len(usual) == 1 else None
    return Variants(entrant.text, name, tuple(values), entrants, usual_value, ATTRIBUTE, axis, own_decks)


def _vary(
    entrant: Entrant,
    kind: str,
    name: str,
    values: Sequence[float],
    decks: Sequence[Deck],
    n_held: int,
    make: Callable[[Deck, int], DeckVariant],
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
    usual = {make(deck, 0).n_unchanged(deck.cards) for deck in held}
    return Variants(
        entrant.text,
        name,
        tuple(counts),
        entrants,
        usual.pop() if len(usual) == 1 else None,
        kind,
        f"{make(held[0], 0).plural_noun} in the deck",
        own_decks,
    )


def _counts(kind: str, values: Iterable[float]) -> list[int]:
    """Convert values to numbers of cards in a deck."""
    counts = []
    for value in values:
        if not (0 <= value <= DECK_SIZE and value == int(value)):
            raise SweepError(
                f"--values: with --{kind}, values count cards of the deck, whole numbers from 0 to "
                f"{DECK_SIZE}, got {format_value(value)}"
            )
        counts.append(int(value))
    return counts


def added_cards(variants: Variants) -> list[dict[str, object]]:
    """The card added to each deck, as JSON values; empty for a keyword or weight sweep."""
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


def body_card_notes(variants: Variants) -> list[str]:
    """Notes on cards that are added as bodies, without the further card text."""
    found = dict.fromkeys(
        f"{card['name']} [{card['id']}]" for card in added_cards(variants) if not card["exact"]
    )
    return [f"{name} is added as a body with its keywords, without its other card text" for name in found]
