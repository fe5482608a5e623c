"""Fitness by competitive coevolution: all individuals of a generation play each other on common setups.

Source: EVA, Eq. 13: games won against every other parent and child over all ordered pairs of decks. Draws
count half.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from evo.play.faults import refuse_faults
from evo.play.games import SOLVED, Play, Roster
from evo.play.setups import Setups, make_schedule, make_setups
from evo.stats.points import points_of


def all_pairings(n_players: int) -> np.ndarray:
    """Every pairing (i, j) with i < j; shape (pairings, 2)."""
    return np.array(np.triu_indices(n_players, 1)).T


@dataclass(frozen=True)
class Tally:
    """Results of pairings.

    Attributes:
        pairings: shape (pairings, 2): players i and j.
        games: int64, shape (pairings, decks, decks): by the deck of i and of j.
        wins: of i, the same shape.
        draws: the same shape.
        turns: rounds of all games, the same shape.
        solved: turns that all players solved, by what they are called (`evo.play.games.SOLVED`).
        by_setup: score per game of i in each setup's two games, shape (setups, pairings).
    """

    pairings: np.ndarray
    games: np.ndarray
    wins: np.ndarray
    draws: np.ndarray
    turns: np.ndarray
    solved: Mapping[str, int] = field(default_factory=dict)
    by_setup: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

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


def join(parts: Sequence[Tally]) -> Tally:
    """The results of several groups of pairings between the same players."""
    if len(parts) == 1:
        return parts[0]
    tables = ("pairings", "games", "wins", "draws", "turns")
    whole = {name: np.concatenate([getattr(part, name) for part in parts]) for name in tables}
    return Tally(**whole, solved={name: sum(part.solved.get(name, 0) for part in parts) for name in SOLVED})


def play_pairings(
    roster: Roster,
    pairings: np.ndarray,
    games: int,
    seed: int,
    address: tuple[int, ...],
    play: Play,
    own: Iterable[int] | None = None,
    start: int = 0,
) -> "Tally":
    """Play pairings over common setups and sum the results.

    Args:
        roster: players, decks and rules.
        pairings: shape (pairings, 2), places of players in the roster.
        games: for each pairing and ordered pair of decks, even.
        seed: of the run.
        address: of the setups below it.
        play: plays a schedule (`evo.play.pool.Pool.play`).
        own: numbers of the pairings, if each has deals of its own; None: all share them.
        start: leave out the first `start` of these games, even.

    Raises:
        GameError: an agent failed.
    """
    setups = make_setups(len(roster.decks), games, seed, *address, start=start, own=own)
    schedule = make_schedule(pairings, setups)
    played = play(roster, schedule)
    refuse_faults(roster, schedule, played)
    return tally(pairings, setups, len(roster.decks), played)


def tally(pairings: np.ndarray, setups: Setups, n_decks: int, played: np.ndarray) -> Tally:
    """Sum the games of `make_schedule` by pairing and deck pair.

    Args:
        pairings: as given to `make_schedule`.
        setups: as given to it.
        n_decks: number of decks.
        played: dtype `evo.play.games.GAME`, shape (games,).
    """
    shape = (len(setups), len(pairings), 2)
    results = played.reshape(shape)
    # In twin 0 the pairing's first player holds a; it goes first unless b starts.
    first_is_i = np.stack([~setups.b_starts, setups.b_starts], axis=1)[:, None]
    points = points_of(results["outcome"], np.broadcast_to(first_is_i, shape))
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
        by_cell(points == 1),
        by_cell(points == 0.5),
        by_cell(results["turns"]),
        {name: int(played[name].sum(dtype=np.int64)) for name in SOLVED},
        points.mean(axis=2),
    )
