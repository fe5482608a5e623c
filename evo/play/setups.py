"""Setups: deals that are played twice with the agents exchanged, the same for all pairings.

A setup is two decks, their shuffles and the starting seat. All pairings play the same setups (common random
numbers). With g games for each pairing and ordered pair of decks, two different decks {a, b} have g setups,
each with one game of (a, b) and its twin of (b, a); a mirror (a, a) has g / 2, each with two games.

Pairings may have deals of their own instead: the same setups with other shuffles for each.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from engine.streams import stream_key
from evo.play.games import Schedule


@dataclass(frozen=True)
class Setups:
    """Setups by number.

    Attributes:
        decks: shape (setups, 2): the decks a <= b, as places in a list.
        b_starts: shape (setups,), bool: whether the player with deck b goes first.
        keys: uint64, shape (setups,): the deals; (setups, pairings) where each pairing has its own.
    """

    decks: np.ndarray
    b_starts: np.ndarray
    keys: np.ndarray

    def __len__(self) -> int:
        return len(self.keys)


def make_setups(
    n_decks: int, games: int, seed: int, *address: int, start: int = 0, own: Iterable[int] | None = None
) -> Setups:
    """All setups of n decks; those of fewer games for each cell come first.

    Args:
        n_decks: number of decks.
        games: g, even: games for each pairing and ordered pair of decks.
        seed: of the run.
        address: of these setups below it; deck pair and setup number follow.
        start: leave out the setups of the first `start` games for each cell, even.
        own: numbers of pairings that have deals of their own, which end their addresses; None: all share
            them.
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
    below = [(seed, *address, pair, number) for _, _, number, pair in found]
    if own is None:
        keys = np.array([stream_key(*place) for place in below], np.uint64)
    else:
        numbers = list(own)
        keys = np.array([[stream_key(*place, number) for number in numbers] for place in below], np.uint64)
    return Setups(decks, b_starts, keys)


def make_schedule(pairings: np.ndarray, setups: Setups) -> Schedule:
    """Every pairing plays every setup on its deals, and its twin with the agents exchanged.

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
