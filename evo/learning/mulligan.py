"""Learn the value of keeping each opening card in the mulligan from paired games; write it to a profile.

Every deal is played once with the player's current mulligan, and once more for each different card of its
opening hand with the choice for that card reversed. All else of the deal is equal (common random numbers,
`engine.state`), so a card's keep value is the mean over its deals of the difference between two games. After
a round the player keeps the cards with a value of 0 or more; the next round measures, on other deals, each
card under that mulligan of the other cards.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from engine import RULES_VERSION, Deck, ManaforgeError, Ruleset
from engine.batches import deal_games
from engine.decks import cached_card_table
from engine.errors import WrongValueError
from engine.match import card_id_or_name
from engine.state import STATE
from engine.streams import stream_key
from evo.play.games import Player, Roster, Schedule, mulligan_for_deck
from evo.play.results import raise_on_faults
from evo.seeds import Stream
from evo.stats.ratings import cluster_rate, points_of
from evo.storage.files import folder_error_text, temporary_path, write_atomically, write_error_text
from ilp_agent import Profile, WeightVector
from ilp_agent.mulligan import DeckMulligan, KeepValue, SeatValues, mulligan_from_values

PlayFunction = Callable[[Roster, Schedule], np.ndarray]
"""A function that plays a schedule; returns dtype `evo.play.games.GAME`, shape (games,)."""


class MulliganLearningError(WrongValueError, ValueError):
    """Invalid settings of mulligan learning; the message says what to do."""


@dataclass(frozen=True)
class MulliganLearning:
    """Settings of mulligan learning: player, opponents, decks and number of games.

    Attributes:
        player: player whose mulligan is learned; its mulligan is the one of the first round.
        opponents: each plays the same number of deals.
        decks: decks whose mulligan is learned; the opponents play each of them equally often.
        ruleset: one with a mulligan.
        games: approximate number of games per deck, seat and round (a whole number of deals).
        rounds: number of rounds, at least 1.
        seed: of the deals.

    Raises:
        MulliganLearningError: the ruleset has no mulligan, a deck has no list of cards, or there are too few
            games.
    """

    player: Player
    opponents: tuple[Player, ...]
    decks: tuple[Deck, ...]
    ruleset: Ruleset
    games: int
    rounds: int = 2
    seed: int = 1

    def __post_init__(self) -> None:
        if self.ruleset.mulligan_above < 0:
            raise MulliganLearningError(
                f"ruleset {self.ruleset.name} has no mulligan; ruleset standard has one"
            )
        for deck in self.decks:
            if deck.random:
                raise MulliganLearningError(
                    f"deck {deck.name} is random in each game; keep values need a fixed list of thirty cards"
                )
        names = [deck.name for deck in self.decks]
        if len(set(names)) != len(names):
            raise MulliganLearningError(
                f"two decks with the same name in {', '.join(names)}; keep values go by name: rename one"
            )
        least = 1 + max(self.hand_size(0), self.hand_size(1))
        if self.games < least:
            raise MulliganLearningError(
                f"games must be at least {least}, the games of one deal, got {self.games}"
            )

    def hand_size(self, seat: int) -> int:
        """Number of opening cards of the player at `seat`."""
        return (self.ruleset.hand_first, self.ruleset.hand_second)[seat]

    @cached_property
    def deals(self) -> "dict[tuple[int, int, int], Deals]":
        """All deals, by round, deck and seat."""
        return {
            (number, place, seat): make_deals(self, number, place, seat)
            for number in range(self.rounds)
            for place in range(len(self.decks))
            for seat in range(2)
        }

    @property
    def definition(self) -> dict[str, Any]:
        """Everything that determines the keep values, as JSON values."""
        return {
            "player": self._values_of(self.player),
            "opponents": [self._values_of(one) for one in self.opponents],
            "decks": [deck.identity for deck in self.decks],
            "ruleset": self.ruleset.name,
            **{name: getattr(self, name) for name in ("games", "rounds", "seed")},
        }

    def _values_of(self, player: Player) -> list[Any]:
        """A player as JSON values."""
        return [*player.versioned_kind(self.decks), *player.row, *player.keeps, *player.beside_row]

    @property
    def total(self) -> int:
        """Number of games of all rounds."""
        return sum(len(deals.games) for deals in self.deals.values())


@dataclass(frozen=True)
class Deals:
    """The deals of one deck and seat in one round.

    Attributes:
        keys: stream keys, uint64, shape (deals,).
        cards: the deck's different cards, by `engine.match.card_id_or_name`.
        hands: opening hands before the mulligan, as indices into `cards`, shape (deals, hand).
    """

    keys: np.ndarray
    cards: tuple[str, ...]
    hands: np.ndarray

    @cached_property
    def games(self) -> np.ndarray:
        """Deal, and index of the card with reversed choice (-1: none), of each game; shape (games, 2)."""
        rows = np.concatenate([np.full((len(self.hands), 1), -1), np.sort(self.hands, axis=1)], axis=1)
        is_new = np.diff(rows, axis=1, prepend=-2) > 0
        return np.stack([np.nonzero(is_new)[0], rows[is_new]], axis=1)


def learn_mulligan(lesson: MulliganLearning, play: PlayFunction) -> Iterator[tuple[SeatValues, ...]]:
    """Learn keep values; yields those of each round, by deck and seat. The last round's are the result.

    Args:
        lesson: settings.
        play: plays a schedule (`evo.play.pool.WorkerPool.play`).

    Raises:
        GameError: an agent failed.
    """
    player = lesson.player
    for number in range(lesson.rounds):
        values = tuple(
            _learn_deck_seat(lesson, player, lesson.deals[number, deck_index, seat], deck_index, seat, play)
            for deck_index in range(len(lesson.decks))
            for seat in range(2)
        )
        player = with_mulligan(player, map(mulligan_from_values, values))
        yield values


def with_mulligan(player: Player, keeps: "Iterator[DeckMulligan] | Sequence[DeckMulligan]") -> Player:
    """A player with the mulligan choices `keeps`; the player's choices for other decks and seats stay."""
    choices = {(choice.deck, choice.seat): choice for choice in (*player.keeps, *keeps)}
    return replace(player, keeps=tuple(choices[key] for key in sorted(choices)))


def make_deals(lesson: MulliganLearning, number: int, place: int, seat: int) -> Deals:
    """Make the deals of one round, deck and seat.

    Args:
        lesson: settings.
        number: round number, from 0.
        place: deck index.
        seat: 0 for going first.
    """
    n = lesson.games // (1 + lesson.hand_size(seat))
    keys = np.array(
        [stream_key(lesson.seed, Stream.MULLIGAN, number, place, seat, deal) for deal in range(n)], np.uint64
    )
    deck = lesson.decks[place]
    table, records = cached_card_table((deck, deck))
    no_mulligan = replace(lesson.ruleset, mulligan_above=-1)
    states = np.zeros(n, STATE)
    deal_games(table.array, records, no_mulligan.array, np.tile((0, 1), (n, 1)), keys, states)
    cards = tuple(dict.fromkeys(card_id_or_name(table.cards[table.number[card.key]]) for card in deck.cards))
    indices = np.array(
        [cards.index(word) if word in cards else -1 for word in map(card_id_or_name, table.cards)]
    )
    return Deals(keys, cards, indices[states["sides"][:, seat]["hand"][:, : lesson.hand_size(seat)]])


def mulligan_by_rule(deck: Deck, ruleset: Ruleset) -> dict[str, bool]:
    """Whether the ruleset's mulligan rule keeps each card; keyed by `engine.match.card_id_or_name`."""
    return {card_id_or_name(card): card.spec.cost <= ruleset.mulligan_above for card in deck.cards}


def _learn_deck_seat(
    lesson: MulliganLearning, player: Player, deals: Deals, deck_index: int, seat: int, play: PlayFunction
) -> SeatValues:
    """Play the deals of one deck and seat, and estimate the keep value of each card."""
    deck = lesson.decks[deck_index]
    chosen = mulligan_for_deck(player.keeps, deck, seat) or {}
    keeps = {word: chosen.get(word, kept) for word, kept in mulligan_by_rule(deck, lesson.ruleset).items()}
    games = deals.games
    roster = Roster(
        (*_variants(player, deck.name, seat, keeps, deals.cards), *lesson.opponents),
        lesson.decks,
        lesson.ruleset,
    )
    schedule = _schedule(lesson, deals, games, deck_index, seat)
    played = play(roster, schedule)
    raise_on_faults(roster, schedule, played)
    points = points_of(played["outcome"], np.full(len(games), seat == 0))
    return SeatValues(deck.name, seat, _keep_values(points, games, deals.cards, keeps))


def _variants(
    player: Player, deck: str, seat: int, keeps: dict[str, bool], cards: Sequence[str]
) -> Iterator[Player]:
    """The player with the current mulligan choices, then with the choice for each card in turn reversed."""
    for reversed_card in (None, *cards):
        chosen = {card: kept != (card == reversed_card) for card, kept in keeps.items()}
        keep = tuple(card for card in chosen if chosen[card])
        yield with_mulligan(
            player, [DeckMulligan(deck, seat, keep, tuple(card for card in chosen if not chosen[card]))]
        )


def _schedule(
    lesson: MulliganLearning, deals: Deals, games: np.ndarray, deck_index: int, seat: int
) -> Schedule:
    """The schedule of games on the deals; opponents and opponents' decks alternate."""
    deal, variant = games[:, 0], games[:, 1] + 1
    opponent = deal % len(lesson.opponents)
    opponent_deck = deal // len(lesson.opponents) % len(lesson.decks)
    players = np.stack([variant, 1 + len(deals.cards) + opponent], axis=1).astype(np.int16)
    decks = np.stack([np.full(len(games), deck_index), opponent_deck], axis=1).astype(np.int16)
    order = [0, 1] if seat == 0 else [1, 0]
    return Schedule(
        np.ascontiguousarray(players[:, order]),
        np.ascontiguousarray(decks[:, order]),
        deals.keys[deal],
    )


def _keep_values(
    points: np.ndarray, games: np.ndarray, cards: Sequence[str], keeps: dict[str, bool]
) -> dict[str, KeepValue]:
    """Keep value of each card that was dealt, with Student's t interval over the deals with the card."""
    deal, card = games.T
    baseline = points[card < 0]
    values = {}
    for number, word in enumerate(cards):
        of_card = card == number
        if not of_card.any():
            continue
        gain = (points[of_card] - baseline[deal[of_card]]) * (-1 if keeps[word] else 1)
        rate = cluster_rate((gain + 1) / 2, np.ones(len(gain)))
        value = 2 * rate.value - 1
        half_width = max(rate.high - rate.value, rate.value - rate.low) * 2
        values[word] = KeepValue(round(value, 6), round(min(half_width, 1.0), 6))
    return values


class ProfileFileError(ManaforgeError, ValueError):
    """A profile file that cannot be written; the message says what to do."""


class CardRow(NamedTuple):
    """A table row: a card of a deck with its keep value.

    Attributes:
        card: card id, or its name if it has no id.
        name: card name.
        cost: in mana.
        value: keep value, in points per game.
        low: lower end of its 95% interval.
        high: upper end.
        keep: whether the learned mulligan keeps the card.
        rule: whether the ruleset's mulligan rule keeps it.
    """

    card: str
    name: str
    cost: int
    value: float
    low: float
    high: float
    keep: bool
    rule: bool


def card_rows(values: SeatValues, deck: Deck, ruleset: Ruleset) -> list[CardRow]:
    """Table rows of the cards of a deck that have a keep value, the highest value first."""
    cards = {card_id_or_name(card): card for card in deck.cards}
    rule = mulligan_by_rule(deck, ruleset)
    rows = []
    for word, (value, half_width) in values.cards.items():
        spec = cards[word].spec
        low, high = round(value - half_width, 6), round(value + half_width, 6)
        name = cards[word].name
        rows.append(CardRow(word, name, spec.cost, value, low, high, value >= 0, rule[word]))
    return sorted(rows, key=lambda row: (-row.value, row.cost, row.name))


def check_output_file(path: Path) -> None:
    """Refuse an output path that cannot be written, before games are played.

    Raises:
        MulliganLearningError: it is not named NAME.toml.
        ProfileFileError: it exists, or cannot be written.
    """
    if path.suffix != ".toml" or not path.stem.isprintable():
        raise MulliganLearningError(f"--out must be a profile file NAME.toml, got {str(path)!r}")
    if path.exists():
        raise ProfileFileError(f"{path} exists; choose another --out")
    with contextlib.suppress(OSError):  # reported below
        path.parent.mkdir(parents=True, exist_ok=True)
    why = write_error_text(path, temporary_path(path))
    if why:
        raise ProfileFileError(f"cannot write {path}: {why}; choose another --out")


def learned_profile(
    profile: Profile[WeightVector],
    lesson: MulliganLearning,
    values: Sequence[SeatValues],
    name: str,
    against: Sequence[str],
) -> Profile[WeightVector]:
    """A profile with the learned keep values; keep values of other decks stay.

    Args:
        profile: weights and provenance.
        lesson: settings.
        values: learned keep values by deck and seat.
        name: of the new profile.
        against: entrant texts of the opponents.
    """
    entries = {entry[:2]: entry for entry in (*profile.mulligan, *values)}
    learned = {
        "from": profile.name,
        "decks": [deck.name for deck in lesson.decks],
        "against": list(against),
        "ruleset": lesson.ruleset.name,
        "games": lesson.games,
        "rounds": lesson.rounds,
        "seed": lesson.seed,
        "manaforge": version("manaforge"),
        "rules": RULES_VERSION,
    }
    return replace(
        profile,
        name=name,
        provenance={**profile.provenance, "mulligan": learned},
        mulligan=tuple(entries[key] for key in sorted(entries)),
    )


def write_learned(profile: Profile[WeightVector], path: Path) -> None:
    """Write a profile file atomically.

    Raises:
        ProfileFileError: the folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, profile.to_toml().encode(), path.parent / f".{path.name}.tmp")
    except OSError as error:
        raise ProfileFileError(
            f"{folder_error_text(error, path.parent, 'write to')}; choose another --out"
        ) from None
