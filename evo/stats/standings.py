"""Standings of a tournament from its table of games: ratings, results, matchups, decks. Pure functions."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from evo.stats.ratings import (
    ELO,
    bootstrap_tables,
    bradley_terry,
    cluster_rate,
    cyclic_part,
    cyclic_share,
    nash_average,
    outcome_codes,
    pair_statistics,
    points_of_first,
)

MAX_BOOTSTRAP_CELLS = 1_000_000
"""Most cells of bootstrap tables in memory at a time."""

PRIOR_DRAWS = 1.0
"""Drawn games added to each matchup; see `evo.stats.ratings.bradley_terry`."""


@dataclass(frozen=True)
class Standings:
    """Result tables of a tournament.

    Attributes:
        ratings: one row per entrant, the best first.
        results: one row per ordered pair of entrants (first, second to go).
        matchups: one row per matchup.
        decks: one row per entrant and ordered pair of decks.
        summary: numbers of the whole tournament: games, draws, unproven turns, rounds, first seat, cycles.
    """

    ratings: pd.DataFrame
    results: pd.DataFrame
    matchups: pd.DataFrame
    decks: pd.DataFrame
    summary: dict[str, Any]


@dataclass(frozen=True)
class _Games:
    """A table of games as arrays, one element per game unless noted."""

    names: list[str]
    decks: list[str]
    first: np.ndarray  # entrant index
    second: np.ndarray
    first_deck: np.ndarray
    second_deck: np.ndarray
    setup: np.ndarray
    points: np.ndarray  # of the entrant going first: 0, 0.5, 1
    turns: np.ndarray
    fault: np.ndarray
    self_play: np.ndarray  # whether both entrants are the same

    @cached_property
    def strata(self) -> np.ndarray:
        """Stratum of each setup: the number of its pair of decks; shape (setups,)."""
        low, high = (
            np.minimum(self.first_deck, self.second_deck),
            np.maximum(self.first_deck, self.second_deck),
        )
        strata = np.zeros(int(self.setup.max(initial=-1)) + 1, np.int64)
        strata[self.setup] = low * len(self.decks) + high
        return strata


@dataclass(frozen=True)
class _Setups:
    """Points and games of matchups by setup.

    Attributes:
        pairs: entrant indices i < j, shape (matchups, 2).
        points: of i, shape (setups, matchups).
        games: number of games, the same shape.
        records: wins, draws, losses of i, one row per matchup.
    """

    pairs: np.ndarray
    points: np.ndarray
    games: np.ndarray
    records: pd.DataFrame


def standings(games: pd.DataFrame) -> Standings:
    """Compute the standings from the table of games of `evo.play.matchups.games_table`; reproducible."""
    read = _read(games)
    setups = _by_setup(read)
    matchups = _matchups(read, setups)
    with threadpool_limits(1, "blas"):  # many small systems: BLAS threads would only slow them down
        ratings, cycles = _ratings(read, setups, _scores(read, setups))
    return Standings(
        ratings=ratings,
        results=results_table(games),
        matchups=matchups,
        decks=_decks(read),
        summary=_summary(read)
        | {"unproven_turns": int(games["unproven"].sum()) if "unproven" in games else 0}
        | {"unproven_in_games_of": _unproven_by_entrant(games) if "unproven" in games else {}}
        | cycles,
    )


def deck_standings(games: pd.DataFrame) -> Standings:
    """Compute standings of decks instead of entrants; mirror matches do not count.

    Columns named entrant hold decks. `decks` has a row for each deck and opponent's deck; `matchups` has no
    meaning for decks.
    """
    different = games[games["first_deck"].astype(str) != games["second_deck"].astype(str)]
    return standings(different.assign(first=different["first_deck"], second=different["second_deck"]))


def scores_table(games: pd.DataFrame) -> pd.DataFrame:
    """Record and score of each entrant over all games but self-play, one row per entrant in name order.

    Columns entrant, games, wins, draws, losses, score (per game, draws half) with its 95% interval score_low
    and score_high, mean_turns (rounds), illegal_actions and agent_errors (games lost by faults).
    """
    read = _read(games)
    return _scores(read, _by_setup(read))


def matchups_table(games: pd.DataFrame) -> pd.DataFrame:
    """Table of matchups: score of the first entrant from pairs of games, pentanomial counts, Elo."""
    read = _read(games)
    return _matchups(read, _by_setup(read))


def results_table(games: pd.DataFrame) -> pd.DataFrame:
    """Table of results by ordered pair of entrants; the entrant `first` went first.

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
    """Convert a table of games to arrays."""
    first, second, first_deck, second_deck = (
        games[name].cat.codes.to_numpy(np.int64) for name in ("first", "second", "first_deck", "second_deck")
    )
    return _Games(
        names=[str(name) for name in games["first"].cat.categories],
        decks=[str(name) for name in games["first_deck"].cat.categories],
        first=first,
        second=second,
        first_deck=first_deck,
        second_deck=second_deck,
        setup=games["setup"].to_numpy(np.int64),
        points=points_of_first(outcome_codes(games["outcome"].to_numpy(object))),
        turns=games["turns"].to_numpy(),
        fault=games["fault"].to_numpy(object),
        self_play=first == second,
    )


def _sum(keys: np.ndarray, values: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray:
    """Sums of values by key (None: counts of keys), as an array of the given shape."""
    return np.bincount(keys, values, int(np.prod(shape))).reshape(shape).astype(float)


def _by_setup(read: _Games) -> _Setups:
    """Sum games by setup and matchup, without self-play."""
    n, setups = len(read.names), len(read.strata)
    counted = ~read.self_play
    low, high = np.minimum(read.first, read.second), np.maximum(read.first, read.second)
    codes, pair = np.unique((low * n + high)[counted], return_inverse=True)
    pairs = np.stack([codes // n, codes % n], axis=1)
    points = np.where(read.first == low, read.points, 1 - read.points)[counted]
    key = read.setup[counted] * len(pairs) + pair
    shape = setups, len(pairs)
    records = _records(len(pairs), pair, points, read.turns[counted])
    return _Setups(pairs, _sum(key, points, shape), _sum(key, None, shape), records)


def _records(rows: int, row: np.ndarray, points: np.ndarray, turns: np.ndarray) -> pd.DataFrame:
    """Games, wins, draws, losses and mean length by row; `row`, `points` and `turns` are per game."""
    count = _sum(row, None, (rows,)).astype(np.int64)
    table = pd.DataFrame({"games": count})
    for name, value in (("wins", 1), ("draws", 0.5), ("losses", 0)):
        table[name] = _sum(row[points == value], None, (rows,)).astype(np.int64)
    table["mean_turns"] = _sum(row, turns, (rows,)) / np.where(count > 0, count, np.nan)
    return table


_MATCHUP = ("score", "low", "high", "elo", "elo_low", "elo_high", "normalized_elo", "superiority", "variance")
_PAIRS = tuple(f"pairs_{half / 2:g}" for half in range(5))


def _matchups(read: _Games, setups: _Setups) -> pd.DataFrame:
    """Table of matchups from pairs of games; matchups without a complete pair are left out."""
    names = [[read.names[i], read.names[j]] for i, j in setups.pairs]
    front = pd.DataFrame(names, columns=["entrant", "opponent"], dtype=object)
    rows = []
    for m in range(len(setups.pairs)):
        complete = setups.games[:, m] == 2
        counts = np.bincount((2 * setups.points[complete, m]).astype(int), minlength=5)
        if complete.any():
            pairs = pair_statistics(counts)
            values = *pairs.rate, *pairs.elo, pairs.normalized_elo.value, pairs.superiority, pairs.variance
            rows.append((*values, *counts.tolist()))
        else:
            rows.append((np.nan,) * len(_MATCHUP) + (0,) * len(_PAIRS))
    statistics = pd.DataFrame(rows, columns=[*_MATCHUP, *_PAIRS])
    table = pd.concat([front, setups.records, statistics], axis=1)
    return table[table["score"].notna()].reset_index(drop=True)


def _scores(read: _Games, setups: _Setups) -> pd.DataFrame:
    """Record and score of each entrant; see `scores_table`."""
    n = len(read.names)
    both = np.concatenate([read.first, read.second]), np.concatenate([read.points, 1 - read.points])
    met_others = np.tile(~read.self_play, 2)
    table = _records(n, both[0][met_others], both[1][met_others], np.tile(read.turns, 2)[met_others])
    table.insert(0, "entrant", read.names)
    rates = []
    for i in range(n):
        own = (setups.pairs == i).any(axis=1)
        games = setups.games[:, own]
        points = np.where(
            setups.pairs[own, 0] == i,
            setups.points[:, own],
            games - setups.points[:, own],
        )
        rates.append(cluster_rate(points.sum(axis=1), games.sum(axis=1), read.strata))
    table[["score", "score_low", "score_high"]] = rates
    loser = np.where(read.points == 1, read.second, read.first)
    illegal = read.fault == "illegal action"
    table["illegal_actions"] = np.bincount(loser[illegal], minlength=n)
    table["agent_errors"] = np.bincount(loser[(read.fault != "") & ~illegal], minlength=n)
    return table


def _table(n: int, pairs: np.ndarray, points: np.ndarray, games: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Convert sums by matchup, shape (..., matchups), to tables, shape (..., entrants, entrants)."""
    won, played = np.zeros((*points.shape[:-1], n, n)), np.zeros((*games.shape[:-1], n, n))
    i, j = pairs.T
    won[..., i, j], won[..., j, i] = points, games - points
    played[..., i, j] = played[..., j, i] = games
    return won, played


def _advantages(won: np.ndarray, played: np.ndarray) -> np.ndarray:
    """Table of advantages: log-odds of i against j, with the prior's drawn games; 0 without games."""
    log_odds: np.ndarray = np.log((won + PRIOR_DRAWS / 2) / (np.swapaxes(won, -1, -2) + PRIOR_DRAWS / 2))
    return np.where(played > 0, log_odds, 0.0)


def _ratings(read: _Games, setups: _Setups, scores: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Table of ratings, the best first; and the advantages' cyclic share, observed and by chance."""
    n = len(read.names)
    low, high, weights, over_mixture = (np.full(n, np.nan) for _ in range(4))
    values, replicates, share, chance = np.zeros(n), np.zeros((1, n)), np.nan, np.nan
    if len(setups.pairs):
        points, games = _table(n, setups.pairs, setups.points.sum(axis=0), setups.games.sum(axis=0))
        advantages = _advantages(points, games)
        values = bradley_terry(points, games, PRIOR_DRAWS)
        replicates, noise = _bootstrap(read, setups, advantages)
        low, high = np.percentile(replicates, [2.5, 97.5], axis=0)
        won, played = points.sum(axis=1), games.sum(axis=1)
        low[won == 0], high[won == played] = -np.inf, np.inf
        if (games[~np.eye(n, dtype=bool)] > 0).all():
            weights, over_mixture = nash_average(advantages)
            if ((points > 0) | (games == 0)).all():  # else log-odds depend on the prior
                share, chance = cyclic_share(advantages, noise)
    order = np.argsort(-values, kind="stable")
    superiority = np.full(n, np.nan)
    for better, worse in pairwise(order):
        greater, equal = (
            replicates[:, better] > replicates[:, worse],
            replicates[:, better] == replicates[:, worse],
        )
        superiority[better] = greater.mean() + equal.mean() / 2
    columns = {"rating": values, "low": low, "high": high}
    more = {"superiority": superiority, "nash_weight": weights, "nash_rating": over_mixture * ELO}
    table = scores.assign(**columns, **more).iloc[order].reset_index(drop=True)
    table.insert(0, "rank", np.arange(1, n + 1))
    front = ["rank", "entrant", *columns]
    table = table[[*front, *(name for name in table.columns if name not in front)]]
    return table, {"cyclic_share": share, "cyclic_share_of_chance": chance}


def _bootstrap(read: _Games, setups: _Setups, advantages: np.ndarray) -> tuple[np.ndarray, float]:
    """Bootstrap replicates' ratings, shape (replicates, entrants), and the mean cyclic part of the noise.

    Computed in batches, since tables of many entrants are large.
    """
    n = len(read.names)
    points, games = bootstrap_tables(setups.points, setups.games, read.strata)
    at_once = max(1, MAX_BOOTSTRAP_CELLS // n**2)
    parts, noise = [], 0.0
    for start in range(0, len(points), at_once):
        batch = slice(start, start + at_once)
        tables = _table(n, setups.pairs, points[batch], games[batch])
        parts.append(bradley_terry(*tables, PRIOR_DRAWS))
        noise += float((cyclic_part(_advantages(*tables) - advantages) ** 2).sum())
    return np.concatenate(parts), noise / len(points)


def _decks(read: _Games) -> pd.DataFrame:
    """Table of scores by entrant, own deck and opponent's deck, without self-play."""
    n, strata = len(read.decks), read.strata
    counted = ~read.self_play
    first = (read.first * n + read.first_deck) * n + read.second_deck
    second = (read.second * n + read.second_deck) * n + read.first_deck
    row = np.concatenate([first[counted], second[counted]])
    points = np.concatenate([read.points[counted], 1 - read.points[counted]])
    codes, row = np.unique(row, return_inverse=True)
    table = _records(len(codes), row, points, np.tile(read.turns[counted], 2))
    # Only setups that occur in a row: a dense table of rows by setups would be large and mostly zero.
    keys, cluster = np.unique(row * len(strata) + np.tile(read.setup[counted], 2), return_inverse=True)
    won, played = (_sum(cluster, values, (len(keys),)) for values in (points, None))
    bounds = np.searchsorted(keys // len(strata), np.arange(len(codes) + 1))
    rates = [cluster_rate(won[start:stop], played[start:stop]) for start, stop in pairwise(bounds)]
    table[["score", "low", "high"]] = np.array(rates).reshape(-1, 3)
    for name, names, places in (
        ("opponent_deck", read.decks, codes % n),
        ("deck", read.decks, codes // n % n),
        ("entrant", read.names, codes // n**2),
    ):
        table.insert(0, name, [names[place] for place in places])
    return table


def _unproven_by_entrant(games: pd.DataFrame) -> dict[str, int]:
    """Unproven turns, of both players, in the games of each entrant that has any, most first."""
    as_first = games.groupby(games["first"].astype(str))["unproven"].sum()
    others = games[games["first"].astype(str) != games["second"].astype(str)]
    as_second = others.groupby(others["second"].astype(str))["unproven"].sum()
    turns = as_first.add(as_second, fill_value=0).sort_values(ascending=False, kind="stable")
    return {str(name): int(n) for name, n in turns.items() if n}


def _summary(read: _Games) -> dict[str, Any]:
    """Numbers that summarise the whole tournament."""
    shape = (len(read.strata),)
    seat = cluster_rate(_sum(read.setup, read.points, shape), _sum(read.setup, None, shape), read.strata)
    return {
        "games": len(read.points),
        "draws": int((read.points == 0.5).sum()),
        "mean_turns": float(read.turns.mean()),
        "first_seat": {"score": seat.value, "low": seat.low, "high": seat.high},
    }
