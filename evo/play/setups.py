"""Competitive coevolution: who plays whom with which decks and deals, and what fitness follows. Pure.

Every pairing of a generation plays the same setups (common random numbers). A setup is two decks, their
shuffles and who starts; it is played twice, the agents exchanged. With g games for each pairing and ordered
pair of decks, two different decks {a, b} have g setups, each of which gives one game to (a, b) and its twin
to (b, a); a mirror (a, a) has g / 2, each of which gives it two.

Source of the fitness: EVA, Eq. 13: games won against every other parent and child over all ordered pairs of
decks. Draws count half.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine import Outcome
from engine.streams import stream_key
from evo.play.games import Schedule, Table, refuse_faults

Play = Callable[[Table, Schedule], np.ndarray]
"""Plays a schedule; dtype `evo.play.games.GAME`, shape (games,)."""


@dataclass(frozen=True)
class Setups:
    """The setups of a generation.

    Attributes:
        decks: shape (setups, 2): the decks a <= b, as places in a list.
        b_starts: shape (setups,), bool: whether whoever holds b goes first.
        keys: uint64, shape (setups,): the deals.
    """

    decks: np.ndarray
    b_starts: np.ndarray
    keys: np.ndarray

    def __len__(self) -> int:
        return len(self.keys)


def make_setups(n_decks: int, games: int, seed: int, *address: int, start: int = 0) -> Setups:
    """All setups of n decks, in rounds: the first k rounds are those of 2 k games for each cell.

    Args:
        n_decks: how many decks.
        games: g, even: games for each pairing and ordered pair of decks.
        seed: of the run.
        address: of these setups below it; deck pair and setup number follow.
        start: leave out the setups of so many games, even.
    """
    assert games % 2 == 0, "games come in pairs"
    assert start % 2 == 0, "games come in pairs"
    pairs = [(a, b) for a in range(n_decks) for b in range(a, n_decks)]
    found = [
        (a, b, number, stream_key(seed, *address, pair, number))
        for games_before in range(start, games, 2)
        for pair, (a, b) in enumerate(pairs)
        for number in ((games_before, games_before + 1) if a != b else (games_before // 2,))
    ]
    decks = np.array([(a, b) for a, b, _, _ in found], np.int64).reshape(-1, 2)
    b_starts = np.array([number % 2 == 1 for _, _, number, _ in found], bool)
    return Setups(decks, b_starts, np.array([key for _, _, _, key in found], np.uint64))


def all_pairings(n_players: int) -> np.ndarray:
    """Every pairing (i, j) with i < j; shape (pairings, 2)."""
    return np.array(np.triu_indices(n_players, 1)).T


def make_schedule(pairings: np.ndarray, setups: Setups) -> Schedule:
    """Every pairing plays every setup, and its twin with the agents exchanged.

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
    keys = np.broadcast_to(setups.keys[:, None, None], shape)
    return Schedule(
        np.ascontiguousarray(players.reshape(-1, 2)),
        np.ascontiguousarray(decks.reshape(-1, 2)),
        np.ascontiguousarray(keys.reshape(-1)),
    )


@dataclass(frozen=True)
class Tally:
    """What the games of pairings came to.

    Attributes:
        pairings: shape (pairings, 2): players i and j.
        games: int64, shape (pairings, decks, decks): by the deck of i and of j.
        wins: of i, the same shape.
        draws: the same shape.
        turns: rounds of all games, the same shape.
    """

    pairings: np.ndarray
    games: np.ndarray
    wins: np.ndarray
    draws: np.ndarray
    turns: np.ndarray

    @property
    def losses(self) -> np.ndarray:
        """Games of i lost, shape (pairings, decks, decks)."""
        lost: np.ndarray = self.games - self.wins - self.draws
        return lost

    def scores(self, n_players: int) -> np.ndarray:
        """Games won, draws half, by player, own deck and other deck: shape (players, decks, decks)."""
        n_decks = self.games.shape[1]
        scores: np.ndarray = np.zeros((n_players, n_decks, n_decks))
        np.add.at(scores, self.pairings[:, 0], self.wins + self.draws / 2)
        np.add.at(scores, self.pairings[:, 1], (self.losses + self.draws / 2).transpose(0, 2, 1))
        return scores

    def played(self, n_players: int) -> np.ndarray:
        """Games by player, own deck and other deck: shape (players, decks, decks)."""
        counts: np.ndarray = np.zeros((n_players, *self.games.shape[1:]), np.int64)
        np.add.at(counts, self.pairings[:, 0], self.games)
        np.add.at(counts, self.pairings[:, 1], self.games.transpose(0, 2, 1))
        return counts


def play_pairings(
    table: Table, pairings: np.ndarray, games: int, seed: int, address: tuple[int, ...], play: Play
) -> "Tally":
    """Play pairings over common setups and sum what came out.

    Args:
        table: players, decks and rules.
        pairings: shape (pairings, 2), places of players in the table.
        games: for each pairing and ordered pair of decks, even.
        seed: of the run.
        address: of the setups below it.
        play: plays a schedule (`evo.play.pool.Pool.play`).

    Raises:
        GameError: an agent failed.
    """
    setups = make_setups(len(table.decks), games, seed, *address)
    schedule = make_schedule(pairings, setups)
    played = play(table, schedule)
    refuse_faults(table, schedule, played)
    return tally(pairings, setups, len(table.decks), played)


def tally(pairings: np.ndarray, setups: Setups, n_decks: int, played: np.ndarray) -> Tally:
    """Sum the games of `make_schedule` by pairing and deck pair.

    Args:
        pairings: as given to `make_schedule`.
        setups: as given to it.
        n_decks: how many decks.
        played: dtype `evo.play.games.GAME`, shape (games,).
    """
    shape = (len(setups), len(pairings), 2)
    results = played.reshape(shape)
    # In twin 0 the pairing's first player holds a; it goes first unless b starts.
    first_is_i = np.stack([~setups.b_starts, setups.b_starts], axis=1)[:, None]
    won = np.where(
        first_is_i, results["outcome"] == Outcome.FIRST_WINS, results["outcome"] == Outcome.SECOND_WINS
    )
    own = setups.decks
    cells = np.stack([own[:, 0] * n_decks + own[:, 1], own[:, 1] * n_decks + own[:, 0]], axis=1)

    def by_cell(values: np.ndarray) -> np.ndarray:
        sums = np.zeros((n_decks * n_decks, len(pairings)), np.int64)
        for twin in (0, 1):
            np.add.at(sums, cells[:, twin], np.asarray(values, np.int64)[:, :, twin])
        return sums.T.reshape(len(pairings), n_decks, n_decks)

    return Tally(
        pairings,
        by_cell(np.ones(shape)),
        by_cell(won),
        by_cell(results["outcome"] == Outcome.DRAW),
        by_cell(results["turns"]),
    )
