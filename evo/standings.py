"""What the games of a tournament say: results, ratings, meetings, decks. From a table of games, pure."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from evo.nash import cyclic_share, nash_average
from evo.ratings import (
    ELO,
    Rate,
    bootstrap_tables,
    bradley_terry,
    cluster_rate,
    pair_statistics,
)

PRIOR = 1.0
"""Drawn games added to each two who met; see `evo.ratings.bradley_terry`."""


@dataclass(frozen=True)
class Standings:
    """A tournament read.

    Attributes:
        ratings: one row an entrant, the best first.
        results: one row an entrant who went first and one who went second.
        meetings: one row two entrants who met.
        decks: one row an entrant and an ordered pair of decks.
        summary: numbers of the whole: games, draws, faults, turns, first seat, cycles.
    """

    ratings: pd.DataFrame
    results: pd.DataFrame
    meetings: pd.DataFrame
    decks: pd.DataFrame
    summary: dict[str, Any]


@dataclass(frozen=True)
class _Games:
    """The same games as arrays, one place a game unless said."""

    names: list[str]
    decks: list[str]
    first: np.ndarray  # entrant
    second: np.ndarray
    first_deck: np.ndarray
    second_deck: np.ndarray
    setup: np.ndarray
    points: np.ndarray  # of the first: 0, 0.5, 1
    turns: np.ndarray
    fault: np.ndarray
    alone: np.ndarray  # a self-match

    @cached_property
    def strata(self) -> np.ndarray:
        """By setup: which two decks."""
        low, high = (
            np.minimum(self.first_deck, self.second_deck),
            np.maximum(self.first_deck, self.second_deck),
        )
        strata = np.zeros(int(self.setup.max(initial=-1)) + 1, np.int64)
        strata[self.setup] = low * len(self.decks) + high
        return strata


@dataclass(frozen=True)
class _Met:
    """What two who met came to, by setup.

    Attributes:
        pairs: places i < j, shape (meetings, 2).
        points: of i, shape (setups, meetings).
        games: the same shape.
    """

    pairs: np.ndarray
    points: np.ndarray
    games: np.ndarray


def standings(games: pd.DataFrame) -> Standings:
    """Read a table of games as `evo.tournament.games_table` makes it.

    Bootstrap and equilibrium are the same for the same games.
    """
    read = _read(games)
    met = _by_setup(read)
    meetings = _meetings(read, met)
    ratings, cycles = _ratings(read, met, _scores(read, met))
    return Standings(
        ratings=ratings,
        results=results_table(games),
        meetings=meetings,
        decks=_decks(read),
        summary=_summary(read) | cycles,
    )


def scores_table(games: pd.DataFrame) -> pd.DataFrame:
    """One row an entrant in the order of the names: record and score over all games but self-matches.

    Columns entrant, games, wins, draws, losses, score (per game, draws half) with its 95% interval score_low
    and score_high, mean_turns (rounds), illegal_actions and agent_errors (games lost by them).
    """
    read = _read(games)
    return _scores(read, _by_setup(read))


def meetings_table(games: pd.DataFrame) -> pd.DataFrame:
    """One row two entrants who met: score of the first named from pairs of games, pentanomial counts, Elo."""
    read = _read(games)
    return _meetings(read, _by_setup(read))


def results_table(games: pd.DataFrame) -> pd.DataFrame:
    """One row for each two entrants in the order they sat: first went first.

    Columns first, second, games, first_wins, second_wins, draws, mean_turns (rounds).
    """
    frame = pd.DataFrame(
        {
            "first": games["first"],
            "second": games["second"],
            "games": 1,
            "first_wins": (games["outcome"] == "first").astype(int),
            "second_wins": (games["outcome"] == "second").astype(int),
            "draws": (games["outcome"] == "draw").astype(int),
            "mean_turns": games["turns"].astype(float),
        }
    )
    sums = frame.groupby(["first", "second"], observed=True).sum()
    sums["mean_turns"] /= sums["games"]
    return sums.reset_index()


def _read(games: pd.DataFrame) -> _Games:
    first, second, first_deck, second_deck = (
        games[name].cat.codes.to_numpy(np.int64) for name in ("first", "second", "first_deck", "second_deck")
    )
    outcome = games["outcome"].to_numpy(object)
    return _Games(
        names=[str(name) for name in games["first"].cat.categories],
        decks=[str(name) for name in games["first_deck"].cat.categories],
        first=first,
        second=second,
        first_deck=first_deck,
        second_deck=second_deck,
        setup=games["setup"].to_numpy(np.int64),
        points=np.where(outcome == "first", 1.0, np.where(outcome == "draw", 0.5, 0.0)),
        turns=games["turns"].to_numpy(),
        fault=games["fault"].to_numpy(object),
        alone=first == second,
    )


def _sum(keys: np.ndarray, values: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray:
    """Sums of values, or counts, by key; of the given shape."""
    return np.bincount(keys, values, int(np.prod(shape))).reshape(shape).astype(float)


def _by_setup(read: _Games) -> _Met:
    n, setups = len(read.names), len(read.strata)
    which = ~read.alone
    low, high = np.minimum(read.first, read.second), np.maximum(read.first, read.second)
    codes, pair = np.unique((low * n + high)[which], return_inverse=True)
    pairs = np.stack([codes // n, codes % n], axis=1)
    own = np.where(read.first == low, read.points, 1 - read.points)[which]
    key = read.setup[which] * len(pairs) + pair
    shape = setups, len(pairs)
    return _Met(pairs, _sum(key, own, shape), _sum(key, None, shape))


def _record(read: _Games, which: np.ndarray, place: int) -> dict[str, Any]:
    """Counts of some games of an entrant."""
    points = np.where(read.first == place, read.points, 1 - read.points)[which]
    return {
        "games": int(which.sum()),
        "wins": int((points == 1).sum()),
        "draws": int((points == 0.5).sum()),
        "losses": int((points == 0).sum()),
        "mean_turns": float(read.turns[which].mean()) if which.any() else np.nan,
    }


_MEETING = ("score", "low", "high", "elo", "elo_low", "elo_high", "normalized_elo", "superiority", "variance")
_PAIRS = tuple(f"pairs_{half / 2:g}" for half in range(5))


def _meetings(read: _Games, met: _Met) -> pd.DataFrame:
    """Two who met, from their pairs of games."""
    rows = []
    for place, (i, j) in enumerate(met.pairs):
        whole = met.games[:, place] == 2
        counts = np.bincount((2 * met.points[whole, place]).astype(int), minlength=5)
        if not whole.any():
            continue
        said = pair_statistics(counts)
        values = *said.rate, *said.elo, said.normalized_elo.value, said.superiority, said.variance
        which = ((read.first == i) & (read.second == j)) | ((read.first == j) & (read.second == i))
        rows.append(
            {"entrant": read.names[i], "opponent": read.names[j]}
            | _record(read, which, i)
            | dict(zip(_MEETING, values, strict=True))
            | dict(zip(_PAIRS, counts.tolist(), strict=True))
        )
    columns = ["entrant", "opponent", "games", "wins", "draws", "losses", "mean_turns", *_MEETING, *_PAIRS]
    return pd.DataFrame(rows, columns=columns)


def _scores(read: _Games, met: _Met) -> pd.DataFrame:
    """One row an entrant."""
    loser = np.where(read.points == 1, read.second, read.first)
    rows = []
    for place, name in enumerate(read.names):
        own = (met.pairs == place).any(axis=1)
        games = met.games[:, own]
        points = np.where(met.pairs[own, 0] == place, met.points[:, own], games - met.points[:, own])
        rate = cluster_rate(points.sum(axis=1), games.sum(axis=1), read.strata)
        involved = ((read.first == place) | (read.second == place)) & ~read.alone
        rows.append(
            {"entrant": name}
            | _record(read, involved, place)
            | {"score": rate.value, "score_low": rate.low, "score_high": rate.high}
            | {
                column: int((read.fault[loser == place] == kind).sum())
                for column, kind in (("illegal_actions", "illegal action"), ("agent_errors", "agent error"))
            }
        )
    return pd.DataFrame(rows)


def _table(n: int, pairs: np.ndarray, points: np.ndarray, games: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums by meeting, shape (..., meetings), as tables of i against j, shape (..., entrants, entrants)."""
    won, met = np.zeros((*points.shape[:-1], n, n)), np.zeros((*games.shape[:-1], n, n))
    i, j = pairs.T
    won[..., i, j], won[..., j, i] = points, games - points
    met[..., i, j] = met[..., j, i] = games
    return won, met


def _advantages(won: np.ndarray, met: np.ndarray) -> np.ndarray:
    """Log-odds of i against j with the prior's drawn games."""
    log_odds: np.ndarray = np.log((won + PRIOR / 2) / (np.swapaxes(won, -1, -2) + PRIOR / 2))
    return np.where(met > 0, log_odds, 0.0)


def _ratings(read: _Games, met: _Met, scores: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    """One row an entrant, the best first; and how much of the table is rock-paper-scissors."""
    n = len(read.names)
    low, high, weights, over_mixture = (np.full(n, np.nan) for _ in range(4))
    values, drawn, share, chance = np.zeros(n), np.zeros((1, n)), np.nan, np.nan
    if len(met.pairs):
        points, games = _table(n, met.pairs, met.points.sum(axis=0), met.games.sum(axis=0))
        replicas = _table(n, met.pairs, *bootstrap_tables(met.points, met.games, read.strata))
        values = bradley_terry(points, games, PRIOR)
        drawn = bradley_terry(*replicas, PRIOR)
        low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
        if (games[~np.eye(n, dtype=bool)] > 0).all():
            advantages = _advantages(points, games)
            weights, over_mixture = nash_average(advantages)
            share, chance = cyclic_share(advantages, _advantages(*replicas))
    order = np.argsort(-values, kind="stable")
    superiority = np.full(n, np.nan)
    for better, worse in pairwise(order):
        above, same = drawn[:, better] > drawn[:, worse], drawn[:, better] == drawn[:, worse]
        superiority[better] = above.mean() + same.mean() / 2
    columns = {"rating": values, "low": low, "high": high}
    more = {"superiority": superiority, "nash_weight": weights, "nash_rating": over_mixture * ELO}
    table = scores.assign(**columns, **more).iloc[order].reset_index(drop=True)
    table.insert(0, "rank", np.arange(1, n + 1))
    front = ["rank", "entrant", *columns]
    table = table[[*front, *(name for name in table.columns if name not in front)]]
    return table, {"cyclic_share": share, "cyclic_share_of_chance": chance}


def _decks(read: _Games) -> pd.DataFrame:
    """How each entrant did with each deck against each; self-matches are left out."""
    rows = []
    for place, entrant in enumerate(read.names):
        for own, deck in enumerate(read.decks):
            for other, opponent in enumerate(read.decks):
                first = (read.first == place) & (read.first_deck == own) & (read.second_deck == other)
                second = (read.second == place) & (read.second_deck == own) & (read.first_deck == other)
                which = (first | second) & ~read.alone
                if which.any():
                    rate = _clustered(read, which, np.where(first, read.points, 1 - read.points))
                    rows.append(
                        {"entrant": entrant, "deck": deck, "opponent_deck": opponent}
                        | _record(read, which, place)
                        | rate._asdict()
                    )
    table = pd.DataFrame(rows, columns=["entrant", "deck", "opponent_deck", *_DECK])
    return table.rename(columns={"value": "score"})


_DECK = ("games", "wins", "draws", "losses", "mean_turns", "value", "low", "high")


def _clustered(read: _Games, which: np.ndarray, points: np.ndarray) -> Rate:
    """The rate of some games, whose clusters are setups."""
    strata = read.strata
    setup, shape = read.setup[which], (len(strata),)
    return cluster_rate(_sum(setup, points[which], shape), _sum(setup, None, shape), strata)


def _summary(read: _Games) -> dict[str, Any]:
    """Numbers of the whole tournament."""
    seat = _clustered(read, np.ones(len(read.points), bool), read.points)
    return {
        "games": len(read.points),
        "draws": int((read.points == 0.5).sum()),
        "mean_turns": float(read.turns.mean()),
        "first_seat": {"score": seat.value, "low": seat.low, "high": seat.high},
    }
