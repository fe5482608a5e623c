"""What the games of a tournament say: results, ratings, meetings, decks. From a table of games, pure."""

from dataclasses import dataclass
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
    """The same games as arrays: places of entrants, points of the first in halves."""

    names: list[str]
    first: np.ndarray
    second: np.ndarray
    setup: np.ndarray
    strata: np.ndarray  # by setup: which pair of decks
    points: np.ndarray  # of the first: 0, 0.5, 1
    alone: np.ndarray  # a self-match


def standings(games: pd.DataFrame) -> Standings:
    """Read a table of games as `evo.tournament.games_table` makes it.

    Bootstrap and equilibrium are the same for the same games.
    """
    read = _read(games)
    meetings, per_setup = _meetings(read)
    ratings = _ratings(read, games, meetings, per_setup)
    return Standings(
        ratings=ratings[0],
        results=results_table(games),
        meetings=meetings,
        decks=_decks(read, games),
        summary=_summary(read, games) | ratings[1],
    )


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
    first, second = (games[name].cat.codes.to_numpy(np.int64) for name in ("first", "second"))
    decks = [games[name].cat.codes.to_numpy(np.int64) for name in ("first_deck", "second_deck")]
    setup = games["setup"].to_numpy(np.int64)
    strata = np.zeros(int(setup.max(initial=-1)) + 1, np.int64)
    low, high = np.minimum(*decks), np.maximum(*decks)
    strata[setup] = low * len(games["first_deck"].cat.categories) + high
    outcome = games["outcome"].to_numpy(object)
    points = np.where(outcome == "first", 1.0, np.where(outcome == "draw", 0.5, 0.0))
    names = [str(name) for name in games["first"].cat.categories]
    return _Games(names, first, second, setup, strata, points, first == second)


def _sum(keys: np.ndarray, values: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray:
    """Sums of values, or counts, by key; of the given shape."""
    return np.bincount(keys, values, int(np.prod(shape))).reshape(shape).astype(float)


_PerSetup = tuple[np.ndarray, np.ndarray, np.ndarray]


def _meetings(read: _Games) -> tuple[pd.DataFrame, _PerSetup]:
    """Two who met, from their pairs of games; and points and games by setup and meeting."""
    n, setups = len(read.names), len(read.strata)
    low, high = np.minimum(read.first, read.second), np.maximum(read.first, read.second)
    which = ~read.alone
    codes, pair = np.unique((low * n + high)[which], return_inverse=True)
    pairs = np.stack([codes // n, codes % n], axis=1)
    own = np.where(read.first == low, read.points, 1 - read.points)[which]
    key = read.setup[which] * len(pairs) + pair
    points = _sum(key, own, (setups, len(pairs)))
    played = _sum(key, None, (setups, len(pairs)))
    rows = []
    for place, (i, j) in enumerate(pairs):
        whole = played[:, place] == 2
        counts = np.bincount((2 * points[whole, place]).astype(int), minlength=5)
        if not whole.any():
            continue
        said = pair_statistics(counts)
        rows.append(
            {
                "entrant": read.names[i],
                "opponent": read.names[j],
                "games": int(played[:, place].sum()),
                "score": said.rate.value,
                "low": said.rate.low,
                "high": said.rate.high,
                "elo": said.elo.value,
                "elo_low": said.elo.low,
                "elo_high": said.elo.high,
                "normalized_elo": said.normalized_elo.value,
                "superiority": said.superiority,
                "variance": said.variance,
                **{f"pairs_{half / 2:g}": int(counts[half]) for half in range(5)},
            }
        )
    columns = ["entrant", "opponent", "games", "score", "low", "high", "elo", "elo_low", "elo_high"]
    columns += ["normalized_elo", "superiority", "variance", *(f"pairs_{half / 2:g}" for half in range(5))]
    return pd.DataFrame(rows, columns=columns), (pairs, points, played)


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


def _ratings(
    read: _Games, games: pd.DataFrame, meetings: pd.DataFrame, per_setup: _PerSetup
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """One row an entrant, the best first; and how much of the table is rock-paper-scissors."""
    pairs, points, played = per_setup
    n = len(read.names)
    if len(meetings):
        won, met = _table(n, pairs, points.sum(axis=0), played.sum(axis=0))
        replicas = _table(n, pairs, *bootstrap_tables(points, played, read.strata))
        values = bradley_terry(won, met, PRIOR)
        drawn = bradley_terry(*replicas, PRIOR)
        low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    else:  # nobody but self-matches: nothing tells entrants apart
        won = met = np.zeros((n, n))
        replicas = (won[None], met[None])
        values, drawn = np.zeros(n), np.zeros((1, n))
        low, high = np.full(n, np.nan), np.full(n, np.nan)
    complete = bool((met[~np.eye(n, dtype=bool)] > 0).all()) and n > 1
    advantages = _advantages(won, met)
    weights, over_mixture = nash_average(advantages) if complete else (np.full(n, np.nan),) * 2
    share, chance = cyclic_share(advantages, _advantages(*replicas)) if complete else (np.nan, np.nan)
    faults = _faults(read, games)
    order = sorted(range(n), key=lambda place: (-values[place], place))
    rows = []
    for rank, place in enumerate(order):
        own = (pairs == place).any(axis=1)
        mine = np.where(pairs[own, 0] == place, points[:, own], played[:, own] - points[:, own])
        rate = cluster_rate(mine.sum(axis=1), played[:, own].sum(axis=1))
        involved = ((read.first == place) | (read.second == place)) & ~read.alone
        scored = np.where(read.first == place, read.points, 1 - read.points)[involved]
        below = order[rank + 1] if rank + 1 < n else None
        better = float((drawn[:, place] > drawn[:, below]).mean()) if below is not None else np.nan
        ties = float((drawn[:, place] == drawn[:, below]).mean()) if below is not None else 0.0
        rows.append(
            {
                "rank": rank + 1,
                "entrant": read.names[place],
                "rating": values[place],
                "low": low[place],
                "high": high[place],
                "games": int(involved.sum()),
                "wins": int((scored == 1).sum()),
                "draws": int((scored == 0.5).sum()),
                "losses": int((scored == 0).sum()),
                "score": rate.value,
                "score_low": rate.low,
                "score_high": rate.high,
                "superiority": better + ties / 2,
                "nash_weight": weights[place],
                "nash_rating": over_mixture[place] * ELO,
                "mean_turns": float(games["turns"].to_numpy()[involved].mean()) if involved.any() else np.nan,
                "illegal_actions": int(faults[0, place]),
                "agent_errors": int(faults[1, place]),
            }
        )
    return pd.DataFrame(rows), {"cyclic_share": share, "cyclic_share_of_chance": chance}


def _faults(read: _Games, games: pd.DataFrame) -> np.ndarray:
    """Games lost by illegal actions and by errors, by entrant; shape (2, entrants)."""
    loser = np.where(read.points == 1, read.second, read.first)
    fault = games["fault"].to_numpy(object)
    n = len(read.names)
    return np.array(
        [np.bincount(loser[fault == kind], minlength=n) for kind in ("illegal action", "agent error")]
    )


def _decks(read: _Games, games: pd.DataFrame) -> pd.DataFrame:
    """How each entrant did with each deck against each; self-matches are left out."""
    names = [str(name) for name in games["first_deck"].cat.categories]
    decks = [games[name].cat.codes.to_numpy(np.int64) for name in ("first_deck", "second_deck")]
    rows = []
    for place, entrant in enumerate(read.names):
        for own, deck in enumerate(names):
            for other, opponent in enumerate(names):
                first = (read.first == place) & (decks[0] == own) & (decks[1] == other) & ~read.alone
                second = (read.second == place) & (decks[1] == own) & (decks[0] == other) & ~read.alone
                which = first | second
                if not which.any():
                    continue
                points = np.where(first, read.points, 1 - read.points)[which]
                rate = _clustered(read.setup[which], points)
                rows.append([entrant, deck, opponent, len(points), (points == 1).sum()])
                rows[-1] += [(points == 0.5).sum(), *rate, games["turns"].to_numpy()[which].mean()]
    columns = ["entrant", "deck", "opponent_deck", "games", "wins", "draws", "score", "low", "high"]
    return pd.DataFrame(rows, columns=[*columns, "mean_turns"])


def _clustered(setup: np.ndarray, points: np.ndarray) -> Rate:
    """A rate whose clusters are setups."""
    n = int(setup.max()) + 1
    return cluster_rate(_sum(setup, points, (n,)), _sum(setup, None, (n,)))


def _summary(read: _Games, games: pd.DataFrame) -> dict[str, Any]:
    """Numbers of the whole tournament."""
    fault = games["fault"].to_numpy(object)
    seat = _clustered(read.setup, read.points)
    return {
        "games": len(games),
        "draws": int((read.points == 0.5).sum()),
        "faults": {kind: int((fault == kind).sum()) for kind in ("illegal action", "agent error")},
        "mean_turns": float(games["turns"].mean()),
        "first_seat": {"score": seat.value, "low": seat.low, "high": seat.high},
    }
