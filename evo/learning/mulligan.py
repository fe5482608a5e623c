"""Learn keep values of opening cards from games, and write them to a profile.

Every deal is played once as the player's mulligan is now, and once more for each different card of its
opening hand with that card treated the other way round: kept where it would be replaced, or replaced where it
would be kept. All else of the deal is equal (`engine.state`), so a card's keep value is the mean over its
deals of a difference between two games. After a round the player keeps the cards whose value is 0 or more;
the next round learns, on other deals, what each card is worth under that mulligan of the other cards.
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
from engine.decks import tables_of
from engine.errors import WrongValueError
from engine.match import card_word
from engine.state import STATE
from engine.streams import stream_key
from evo.play.games import Player, Roster, Schedule, keeps_with
from evo.play.results import refuse_faults
from evo.seeds import Stream
from evo.stats.ratings import cluster_rate, points_of
from evo.storage.files import replace_file, temporary_of, why_not_writable, why_unusable
from ilp_agent import Profile, WeightVector
from ilp_agent.mulligan import DeckKeeps, KeepValue, SeatValues, keeps_of

PlayGames = Callable[[Roster, Schedule], np.ndarray]
"""Plays a schedule; dtype `evo.play.games.GAME`, shape (games,)."""


class LessonError(WrongValueError, ValueError):
    """What is to be learned cannot be; the message names the way out."""


@dataclass(frozen=True)
class Lesson:
    """What is learned, and from which games.

    Attributes:
        player: whose mulligan it is; its first round begins with the mulligan that it has.
        opponents: each plays the same number of deals.
        decks: that the player learns to play; the opponents hold each of them alike.
        ruleset: with a mulligan.
        games: about how many games are played for each deck, seat and round: deals are whole.
        rounds: at least 1.
        seed: of the deals.

    Raises:
        LessonError: the ruleset has no mulligan, a deck has no list of cards, or there are too few games.
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
            raise LessonError(f"ruleset {self.ruleset.name} has no mulligan; one that has is standard")
        for deck in self.decks:
            if deck.random:
                raise LessonError(
                    f"deck {deck.name} is drawn afresh for each game; keep values need a list of thirty cards"
                )
        names = [deck.name for deck in self.decks]
        if len(set(names)) != len(names):
            raise LessonError(f"two decks of one name in {', '.join(names)}; keep values go by the name")
        least = 1 + max(self.hand(0), self.hand(1))
        if self.games < least:
            raise LessonError(f"games must be at least {least}, those of one deal, got {self.games}")

    def hand(self, seat: int) -> int:
        """Opening cards of a seat."""
        return (self.ruleset.hand_first, self.ruleset.hand_second)[seat]

    @cached_property
    def deals(self) -> "dict[tuple[int, int, int], Deals]":
        """All deals, by round, deck and seat."""
        return {
            (number, place, seat): deals_of(self, number, place, seat)
            for number in range(self.rounds)
            for place in range(len(self.decks))
            for seat in range(2)
        }

    @property
    def definition(self) -> dict[str, Any]:
        """All that the keep values depend on, as JSON values."""
        return {
            "player": _as_values(self.player),
            "opponents": [_as_values(one) for one in self.opponents],
            "decks": [deck.identity for deck in self.decks],
            "ruleset": self.ruleset.name,
            **{name: getattr(self, name) for name in ("games", "rounds", "seed")},
        }

    @property
    def total(self) -> int:
        """Games of all rounds."""
        return sum(len(deals.games) for deals in self.deals.values())


def _as_values(player: Player) -> list[Any]:
    """A player as JSON values."""
    return [*player.played_as, *player.row, *player.keeps]


@dataclass(frozen=True)
class Deals:
    """The deals from which one deck and seat learns in one round.

    Attributes:
        keys: uint64, shape (deals,).
        cards: the deck's different cards, by word (`engine.match.card_word`).
        hands: the opening hands before the mulligan, places in `cards`, shape (deals, hand).
    """

    keys: np.ndarray
    cards: tuple[str, ...]
    hands: np.ndarray

    @cached_property
    def games(self) -> np.ndarray:
        """Deal and card of each game, shape (games, 2): -1 for the game that goes as the mulligan is."""
        rows = np.concatenate([np.full((len(self.hands), 1), -1), np.sort(self.hands, axis=1)], axis=1)
        is_new = np.diff(rows, axis=1, prepend=-2) > 0
        return np.stack([np.nonzero(is_new)[0], rows[is_new]], axis=1)


def learn_keeps(lesson: Lesson, play: PlayGames) -> Iterator[tuple[SeatValues, ...]]:
    """The keep values after each round, by deck and seat; the last are those to keep.

    Args:
        lesson: what is learned.
        play: plays a schedule (`evo.play.pool.Pool.play`).

    Raises:
        GameError: an agent failed.
    """
    player = lesson.player
    for number in range(lesson.rounds):
        found = tuple(
            _learn_seat(lesson, player, lesson.deals[number, place, seat], place, seat, play)
            for place in range(len(lesson.decks))
            for seat in range(2)
        )
        player = with_keeps(player, map(keeps_of, found))
        yield found


def with_keeps(player: Player, keeps: "Iterator[DeckKeeps] | Sequence[DeckKeeps]") -> Player:
    """The player with these choices in place of those for the same decks and seats."""
    kept = {(one.deck, one.seat): one for one in (*player.keeps, *keeps)}
    return replace(player, keeps=tuple(kept[key] for key in sorted(kept)))


def deals_of(lesson: Lesson, number: int, place: int, seat: int) -> Deals:
    """The deals of one round, deck and seat.

    Args:
        lesson: what is learned.
        number: of the round, from 0.
        place: of the deck.
        seat: 0 for going first.
    """
    n = lesson.games // (1 + lesson.hand(seat))
    keys = np.array(
        [stream_key(lesson.seed, Stream.MULLIGAN, number, place, seat, deal) for deal in range(n)], np.uint64
    )
    deck = lesson.decks[place]
    table, records = tables_of((deck, deck))
    before = replace(lesson.ruleset, mulligan_above=-1)
    states = np.zeros(n, STATE)
    deal_games(table.array, records, before.array, np.tile((0, 1), (n, 1)), keys, states)
    cards = tuple(dict.fromkeys(card_word(table.cards[table.number[card.key]]) for card in deck.cards))
    places = np.array([cards.index(word) if word in cards else -1 for word in map(card_word, table.cards)])
    return Deals(keys, cards, places[states["sides"][:, seat]["hand"][:, : lesson.hand(seat)]])


def keeps_by_rule(deck: Deck, ruleset: Ruleset) -> dict[str, bool]:
    """Whether the ruleset's rule keeps each card of a deck, by word."""
    return {card_word(card): card.spec.cost <= ruleset.mulligan_above for card in deck.cards}


def _learn_seat(
    lesson: Lesson, player: Player, deals: Deals, place: int, seat: int, play: PlayGames
) -> SeatValues:
    """Play the deals of one deck and seat, and read the values of its cards."""
    deck = lesson.decks[place]
    chosen = keeps_with(player.keeps, deck, seat) or {}
    keeps = {word: chosen.get(word, kept) for word, kept in keeps_by_rule(deck, lesson.ruleset).items()}
    games = deals.games
    roster = Roster(
        (*_variants(player, deck.name, seat, keeps, deals.cards), *lesson.opponents),
        lesson.decks,
        lesson.ruleset,
    )
    schedule = _schedule(lesson, deals, games, place, seat)
    played = play(roster, schedule)
    refuse_faults(roster, schedule, played)
    points = points_of(played["outcome"], np.full(len(games), seat == 0))
    return SeatValues(deck.name, seat, _values(points, games, deals.cards, keeps))


def _variants(
    player: Player, deck: str, seat: int, keeps: dict[str, bool], cards: Sequence[str]
) -> Iterator[Player]:
    """The player as its mulligan is, then with each card in turn treated the other way round."""
    for turned in (None, *cards):
        own = {card: kept != (card == turned) for card, kept in keeps.items()}
        keep = tuple(card for card in own if own[card])
        yield with_keeps(player, [DeckKeeps(deck, seat, keep, tuple(card for card in own if not own[card]))])


def _schedule(lesson: Lesson, deals: Deals, games: np.ndarray, place: int, seat: int) -> Schedule:
    """The games of deals: opponents, and the decks that they hold, take turns."""
    deal, variant = games[:, 0], games[:, 1] + 1
    opponent = deal % len(lesson.opponents)
    held = deal // len(lesson.opponents) % len(lesson.decks)
    players = np.stack([variant, 1 + len(deals.cards) + opponent], axis=1).astype(np.int16)
    decks = np.stack([np.full(len(games), place), held], axis=1).astype(np.int16)
    order = [0, 1] if seat == 0 else [1, 0]
    return Schedule(
        np.ascontiguousarray(players[:, order]),
        np.ascontiguousarray(decks[:, order]),
        deals.keys[deal],
    )


def _values(
    points: np.ndarray, games: np.ndarray, cards: Sequence[str], keeps: dict[str, bool]
) -> dict[str, KeepValue]:
    """The keep value of each card that was dealt, with the interval of Student's t over its deals."""
    deal, card = games.T
    as_is = points[card < 0]
    found = {}
    for number, word in enumerate(cards):
        own = card == number
        if not own.any():
            continue
        gain = (points[own] - as_is[deal[own]]) * (-1 if keeps[word] else 1)
        rate = cluster_rate((gain + 1) / 2, np.ones(len(gain)))
        value = 2 * rate.value - 1
        half = max(rate.high - rate.value, rate.value - rate.low) * 2
        found[word] = KeepValue(round(value, 6), round(min(half, 1.0), 6))
    return found


class LearnedFileError(ManaforgeError, ValueError):
    """The file of a profile that cannot be written; the message names the way out."""


class CardRow(NamedTuple):
    """A card of a deck as a table shows it.

    Attributes:
        card: its id, or its name where it has none.
        name: its name.
        cost: in mana.
        value: of keeping it, in points a game.
        low: lower end of the 95% interval.
        high: upper end.
        keep: whether the mulligan keeps it.
        rule: whether the ruleset's rule does.
    """

    card: str
    name: str
    cost: int
    value: float
    low: float
    high: float
    keep: bool
    rule: bool


def rows_of(values: SeatValues, deck: Deck, ruleset: Ruleset) -> list[CardRow]:
    """The cards of a deck that have a value, the best to keep first."""
    cards = {card_word(card): card for card in deck.cards}
    rule = keeps_by_rule(deck, ruleset)
    rows = []
    for word, (value, half) in values.cards.items():
        spec = cards[word].spec
        low, high = round(value - half, 6), round(value + half, 6)
        name = cards[word].name
        rows.append(CardRow(word, name, spec.cost, value, low, high, value >= 0, rule[word]))
    return sorted(rows, key=lambda row: (-row.value, row.cost, row.name))


def check_out(path: Path) -> None:
    """Refuse a file for the profile before games are played for it.

    Raises:
        LessonError: its name is none of a profile.
        LearnedFileError: it is there already, or cannot be written.
    """
    if path.suffix != ".toml" or not path.stem.isprintable():
        raise LessonError(f"--out is the file of a profile, NAME.toml, got {str(path)!r}")
    if path.exists():
        raise LearnedFileError(f"{path} exists; choose another --out")
    with contextlib.suppress(OSError):  # whose reason is told below
        path.parent.mkdir(parents=True, exist_ok=True)
    why = why_not_writable(path, temporary_of(path))
    if why:
        raise LearnedFileError(f"cannot write {path}: {why}; choose another --out")


def learned_profile(
    profile: Profile[WeightVector],
    lesson: Lesson,
    values: Sequence[SeatValues],
    name: str,
    against: Sequence[str],
) -> Profile[WeightVector]:
    """A profile with its keep values; those of other decks stay.

    Args:
        profile: the weights, and where they come from.
        lesson: what was learned.
        values: what came out.
        name: of the new profile.
        against: the opponents as typed.
    """
    kept = {one[:2]: one for one in (*profile.mulligan, *values)}
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
        mulligan=tuple(kept[key] for key in sorted(kept)),
    )


def write_learned(profile: Profile[WeightVector], path: Path) -> None:
    """Write a profile's file, all or nothing.

    Raises:
        LearnedFileError: its folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, profile.to_toml().encode(), path.parent / f".{path.name}.tmp")
    except OSError as error:
        raise LearnedFileError(
            f"{why_unusable(error, path.parent, 'write to')}; choose another --out"
        ) from None
