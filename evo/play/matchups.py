"""Schedules of paired games: setups, matchups, numbered games of a tournament, the table of games.

A setup is two decks, their shuffles and the starting seat. All pairings play the same setups (common random
numbers). With g games for each pairing and ordered pair of decks, two different decks {a, b} have g setups,
each with a game of (a, b) and its twin of (b, a); a mirror match (a, a) has g / 2, each with two games.

Alternatively each pairing has its own deals: the same setups with other shuffles.

Every matchup plays the same deals. `paired`: each setup of decks, shuffles and starting seat is played twice,
the entrants exchanged, over all pairs of decks. `fixed`: two decks, the first for the
entrant that goes first; both orders of two entrants play each deal. `first`: as `fixed`, but only the order
in which the pairing's first entrant goes first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine.streams import derive, stream_key
from evo.play.games import FAULT_TEXTS, Fault, PlayFunction, Roster, Schedule
from evo.play.notation import FORMATS, Seats
from evo.play.results import raise_on_faults
from evo.stats.ratings import OUTCOME_WORDS


@dataclass(frozen=True)
class Setups:
    """Setups of paired games, numbered: decks, starting seat and deal of each.

    Attributes:
        decks: shape (setups, 2): the decks a <= b, as indices into a list.
        b_starts: shape (setups,), bool: whether the player with deck b goes first.
        keys: uint64, shape (setups,): stream keys of deals; (setups, pairings) if each pairing has its own.
    """

    decks: np.ndarray
    b_starts: np.ndarray
    keys: np.ndarray

    def __len__(self) -> int:
        return len(self.keys)


def make_setups(
    n_decks: int, games: int, seed: int, *address: int, start: int = 0, own: Iterable[int] | None = None
) -> Setups:
    """Make all setups of n decks, ordered so that the setups for fewer games per deck pair are a prefix.

    Args:
        n_decks: number of decks.
        games: g, even: games for each pairing and ordered pair of decks.
        seed: of the run.
        address: stream address of the setups below the seed; deck pair and setup number follow.
        start: leave out the setups of the first `start` games for each cell, even.
        own: pairing numbers for deals of their own, the last part of their addresses; None: all pairings
            share the deals.
    """
    assert games % 2 == 0, "games come in pairs"
    assert start % 2 == 0, "games come in pairs"
    pairs = [(a, b) for a in range(n_decks) for b in range(a, n_decks)]
    found = [
        (a, b, number, pair)
        for games_before in range(start, games, 2)
        for pair, (a, b) in enumerate(pairs)
        for number in ((games_before, games_before + 1) if a != b else (games_before // 2,))
    ]
    decks = np.array([(a, b) for a, b, _, _ in found], np.int64).reshape(-1, 2)
    b_starts = np.array([number % 2 == 1 for _, _, number, _ in found], bool)
    bases = [(seed, *address, pair, number) for _, _, number, pair in found]
    if own is None:
        keys = np.array([stream_key(*base) for base in bases], np.uint64)
    else:
        numbers = list(own)
        keys = np.array([[stream_key(*base, number) for number in numbers] for base in bases], np.uint64)
    return Setups(decks, b_starts, keys)


def make_schedule(pairings: np.ndarray, setups: Setups) -> Schedule:
    """The schedule of all pairings on all setups: each setup twice, the players exchanged in the twin.

    Game number (s * pairings + p) * 2 + t is twin t of setup s of pairing p. In t = 0 the pairing's first
    player holds deck a, in t = 1 deck b.
    """
    shape = (len(setups), len(pairings), 2)
    holds_a = np.broadcast_to(pairings.astype(np.int16), shape)
    holds_b = holds_a[:, :, ::-1]
    swapped = setups.b_starts[:, None, None]
    players = np.stack([np.where(swapped, holds_b, holds_a), np.where(swapped, holds_a, holds_b)], axis=-1)
    seats = np.where(setups.b_starts[:, None], setups.decks[:, ::-1], setups.decks).astype(np.int16)
    decks = np.broadcast_to(seats[:, None, None, :], (*shape, 2))
    keys = setups.keys if setups.keys.ndim == 2 else setups.keys[:, None]
    keys = np.broadcast_to(keys[:, :, None], shape)
    return Schedule(
        np.ascontiguousarray(players.reshape(-1, 2)),
        np.ascontiguousarray(decks.reshape(-1, 2)),
        np.ascontiguousarray(keys.reshape(-1)),
    )


@dataclass(frozen=True)
class Matchups:
    """The pairings and numbered games of a tournament.

    Attributes:
        pairings: shape (pairings, 2), int: indices of entrants i <= j; i = j is self-play.
        n_decks: number of decks; `paired` plays all pairs of them, the others have 1 for both entrants or 2.
        games: per cell: a pairing and an ordered pair of decks; with `fixed` an ordered pair of entrants;
            with `first` a pairing. Even with `paired`.
        seed: of the deals.
        address: stream address of the deals below the seed.
        seats: "paired", "fixed" or "first".
    """

    pairings: np.ndarray
    n_decks: int
    games: int
    seed: int
    address: tuple[int, ...]
    seats: Seats = "paired"

    @property
    def rounds(self) -> int:
        """Number of rounds of the schedule; each round has one setup of every kind."""
        return self.games // 2 if self.seats == "paired" else self.games

    @property
    def setups_per_round(self) -> int:
        """Number of setups in a round of the schedule."""
        return self.n_decks**2 if self.seats == "paired" else 1

    @property
    def games_per_round(self) -> int:
        """Number of games in a round of the schedule."""
        if self.seats == "first":
            return len(self.pairings)
        self_plays = int((self.pairings[:, 0] == self.pairings[:, 1]).sum()) if self.seats == "fixed" else 0
        return self.setups_per_round * (2 * len(self.pairings)) - self_plays

    def __len__(self) -> int:
        return self.rounds * self.games_per_round

    def schedule(self, start: int, stop: int) -> tuple[Schedule, np.ndarray]:
        """Schedule of games `start` to `stop` - 1, and the setup number of each.

        Rounds follow each other, so that every prefix is nearly balanced, and more games per cell only append
        games.
        """
        first, last = start // self.games_per_round, -(-stop // self.games_per_round)
        setups = self._setups(first, last)
        schedule = make_schedule(self.pairings, setups)
        shape = (len(setups), len(self.pairings), 2)
        numbers = np.arange(len(setups)) + first * self.setups_per_round
        setup = np.broadcast_to(numbers[:, None, None], shape).reshape(-1)
        left_out = np.zeros(shape, bool)
        left_out[:, (self.pairings[:, 0] == self.pairings[:, 1]) | (self.seats == "first"), 1] = True
        twin = left_out.reshape(-1)
        if self.seats != "paired":
            schedule, setup = schedule.select(~twin), setup[~twin]
        elif twin.any():  # in self-play the twin would repeat the game: give it another deal
            schedule.keys[twin] = [derive(np.uint64(key), 1) for key in schedule.keys[twin]]
        which = slice(start - first * self.games_per_round, stop - first * self.games_per_round)
        return schedule.select(which), setup[which]

    def _setups(self, first: int, last: int) -> Setups:
        """Setups of rounds `first` to `last` - 1."""
        if self.seats == "paired":
            return make_setups(self.n_decks, 2 * last, self.seed, *self.address, start=2 * first)
        keys = [stream_key(self.seed, *self.address, 0, number) for number in range(first, last)]
        decks = np.tile((0, self.n_decks - 1), (len(keys), 1))
        return Setups(decks, np.zeros(len(keys), bool), np.array(keys, np.uint64))


def make_pairings(n: int, style: str, self_play: Sequence[int]) -> np.ndarray:
    """Pairings of a tournament format; shape (pairings, 2).

    Args:
        n: number of entrants.
        style: a name of `FORMATS`.
        self_play: indices of entrants that also play themselves.
    """
    pairs = FORMATS[style].pairs(n)
    return np.array(pairs + [(i, i) for i in sorted(self_play)], np.int64).reshape(-1, 2)


def games_table(
    matchups: Matchups, played: np.ndarray, entrants: Sequence[str], decks: Sequence[str]
) -> pd.DataFrame:
    """Table of the games played, the first of the matchups' games; one row per game.

    Args:
        matchups: matchups that were played.
        played: results from game 0 on, dtype `evo.play.games.GAME`, shape (games,).
        entrants: names, by entrant index.
        decks: names, by deck index.

    Returns:
        Columns setup (number: games of one setup share decks, shuffles and starting seat), first, second,
        first_deck, second_deck, outcome ("first", "second" or "draw"), turns (rounds), fault (of the loser:
        "", "illegal action", "agent error" and others of `FAULT_TEXTS`), unproven (turns whose optimum was
        not proven).
    """
    schedule, setup = matchups.schedule(0, len(played))

    def categorical(codes: np.ndarray, names: Sequence[str]) -> pd.Categorical:
        return pd.Categorical.from_codes(codes, list(names))

    outcomes = list(OUTCOME_WORDS)
    faults = list(FAULT_TEXTS.values())
    if not (played["fault"] > Fault.AGENT_ERROR).any():
        faults = faults[: Fault.AGENT_ERROR + 1]  # categories of files without faults of agents from outside
    return pd.DataFrame(
        {
            "setup": setup.astype(np.int32),
            "first": categorical(schedule.players[:, 0], entrants),
            "second": categorical(schedule.players[:, 1], entrants),
            "first_deck": categorical(schedule.decks[:, 0], decks),
            "second_deck": categorical(schedule.decks[:, 1], decks),
            "outcome": categorical(
                np.searchsorted(np.array(outcomes), played["outcome"]), [OUTCOME_WORDS[o] for o in outcomes]
            ),
            "turns": played["turns"],
            "fault": categorical(played["fault"], faults),
            "unproven": played["unproven"],
        }
    )


def play_matchups(
    roster: Roster, matchups: Matchups, names: Sequence[str], play: PlayFunction
) -> pd.DataFrame:
    """Play all games of matchups as one schedule; returns the table of `games_table`.

    Args:
        roster: players by entrant index, decks and rules.
        matchups: matchups to play.
        names: of the players.
        play: plays a schedule (`evo.play.pool.WorkerPool.play`).

    Raises:
        GameError: an agent failed.
    """
    schedule, _ = matchups.schedule(0, len(matchups))
    played = play(roster, schedule)
    raise_on_faults(roster, schedule, played)
    return games_table(matchups, played, names, [deck.name for deck in roster.decks])
