"""The champion of a run: choose it in a final, then measure it against the benchmark.

The fitness of the last generation's best is biased upwards by chance. The final is a tournament on new deals
in two stages: all candidates play half the games, then the best eight play the other half, and only the games
of the second stage count.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from engine import RULES_VERSION
from evo.config.run_config import RunConfig
from evo.evolution.benchmark import benchmark_players
from evo.play.games import Player, PlayFunction, roster_of
from evo.play.matchups import Matchups, make_pairings, play_matchups
from evo.seeds import Stream
from evo.stats.ratings import cluster_rate
from evo.stats.standings import matchups_table, scores_table
from evo.strategies import Candidate, Strategy
from ilp_agent import Profile, WeightVector

SECOND_STAGE_SIZE = 8
"""Number of candidates in the second stage."""

BENCHMARK_STAGE = 1000
"""Stage number in the random-stream address of the benchmark's deals; the final's stages have 0 and 1."""


@dataclass(frozen=True)
class Champion:
    """Champion of a run, the winner of the final, with all results of the final.

    Attributes:
        profile: weights with provenance, as in `champion.toml`.
        table: the final, as in `final.parquet`: one row per candidate, the champion first, then one row for
            each opponent of the benchmark.
    """

    profile: Profile[WeightVector]
    table: pd.DataFrame


def play_final(
    strategy: Strategy, config: RunConfig, play: PlayFunction, opponents: Sequence[Player] = ()
) -> Champion:
    """Play the final, choose the champion, and play it against the benchmark.

    Args:
        strategy: after its last generation.
        config: of the run.
        play: plays a schedule (`evo.play.pool.WorkerPool.play`).
        opponents: fixed opponents, in the order of the configuration. Their games are weighted by their
            shares, games between candidates by the share of the population.
    """
    candidates = {candidate.name: candidate for candidate in strategy.candidates()}
    remaining, ranked, stage = list(candidates.values()), pd.DataFrame(), 0
    while config.final.games and len(remaining) > 1:
        last = len(remaining) <= SECOND_STAGE_SIZE
        budget = config.final.games if last and stage == 0 else config.final.games // 2
        pairings = _pairings_of_final(len(remaining), config)
        roster = roster_of(config, [candidate.weights for candidate in remaining], opponents)
        matchups = _matchups(config, pairings, budget // len(pairings), stage)
        names = [candidate.name for candidate in remaining]
        games = play_matchups(roster, matchups, [*names, *config.opponents.fixed], play)
        scores = _scores_of_final(games, names, config)
        scores = scores.sort_values("score", ascending=False, kind="stable")
        scores.insert(0, "stage", "final" if last else "first")
        # Candidates of this stage rank before those eliminated earlier.
        ranked = pd.concat([scores, ranked[~ranked["entrant"].isin(scores["entrant"])] if stage else ranked])
        if last:
            break
        remaining = [candidates[name] for name in scores["entrant"][:SECOND_STAGE_SIZE]]
        stage += 1
    best = candidates[str(ranked["entrant"].iloc[0])] if len(ranked) else remaining[0]
    parts = [_plain(ranked).assign(rank=range(1, len(ranked) + 1))] if len(ranked) else []
    record = None
    if config.final.benchmark_games:
        against, record = _play_benchmark(best, config, play)
        parts.append(against)
    table = pd.concat(parts) if parts else pd.DataFrame(columns=["stage"])
    table = (
        table.rename(columns={"entrant": "candidate"})
        .reindex(columns=list(FINAL_COLUMNS))
        .astype(FINAL_COLUMNS)
        .reset_index(drop=True)
    )
    profile = candidate_profile(best, strategy.generation - 1, config, table)
    if record is not None:
        known = {**profile.provenance, config.found_benchmark.record: record}
        profile = replace(profile, provenance=known)
    return Champion(profile, table)


FINAL_COLUMNS = {
    "stage": str,
    "rank": "Int64",
    "candidate": str,
    "opponent": "string",
    **dict.fromkeys(("games", "wins", "draws", "losses"), "int64"),
    **dict.fromkeys(("mean_turns", "score", "low", "high"), "float64"),
}


def _pairings_of_final(n: int, config: RunConfig) -> np.ndarray:
    """Pairings of the final: each candidate with the others and fixed opponents; shape (pairings, 2)."""
    options = config.opponents
    whole = make_pairings(n + len(options.fixed), "round-robin", ())
    among = (whole[:, 1] < n) & (options.population > 0 or not options.fixed)
    against = (whole[:, 0] < n) & (whole[:, 1] >= n)
    return np.asarray(whole[among | against])


def _scores_of_final(games: pd.DataFrame, names: Sequence[str], config: RunConfig) -> pd.DataFrame:
    """Table of scores of the candidates (`scores_table`), weighted by the shares of the opponents."""
    scores = scores_table(games)
    scores = scores[scores["entrant"].isin(names)].reset_index(drop=True)
    fixed = config.opponents.fixed
    for row, name in enumerate(scores["entrant"]) if fixed else ():
        first = games["first"] == name
        own = first | (games["second"] == name)
        other = games["second"].astype(object).where(first, games["first"].astype(object))[own]
        won = np.where(first, "first", "second")[own]
        outcome = games["outcome"].astype(object)[own]
        points = np.where(outcome == "draw", 0.5, outcome == won)
        group = other.where(other.isin(list(fixed)), "")
        shares = group.map({"": config.opponents.population, **fixed})
        weights = (shares / group.groupby(group).transform("size")).to_numpy(float)
        setup = games["setup"].to_numpy()[own]
        rate = cluster_rate(np.bincount(setup, weights * points), np.bincount(setup, weights))
        scores.loc[row, ["score", "score_low", "score_high"]] = list(rate)
    return scores


def _matchups(config: RunConfig, pairings: np.ndarray, games: int, stage: int) -> Matchups:
    """Matchups of about `games` games per pairing over all ordered deck pairs, on the stage's own deals."""
    n_decks = len(config.decks)
    games_a_cell = max(2, games // n_decks**2 // 2 * 2)
    return Matchups(pairings, n_decks, games_a_cell, config.seed, (Stream.FINAL, stage))


def _play_benchmark(
    best: Candidate, config: RunConfig, play: PlayFunction
) -> tuple[pd.DataFrame, dict[str, object]]:
    """Play the champion against the benchmark; returns a table, one row each, and the total record."""
    benchmark = config.found_benchmark
    roster = roster_of(config, [best.weights], benchmark_players(benchmark, config.backend))
    pairings = make_pairings(len(roster.players), "gauntlet", ())
    matchups = _matchups(config, pairings, config.final.benchmark_games, BENCHMARK_STAGE)
    games = play_matchups(roster, matchups, [best.name, *benchmark.opponents], play)
    record = _record_of(_plain(scores_table(games)).iloc[0].to_dict())
    return matchups_table(games).assign(stage=benchmark.stage), record


def _plain(scores: pd.DataFrame) -> pd.DataFrame:
    """Rename the interval columns of a table of scores to low and high, as in `final.parquet`."""
    return scores.rename(columns={"score_low": "low", "score_high": "high"})


def agent_provenance(config: RunConfig) -> dict[str, str]:
    """Agent's entry in a profile's provenance; {} unless other agents have the same kind of weights."""
    return {} if config.agent == config.vector.AGENT else {"agent": config.agent}


def candidate_profile(
    candidate: Candidate, generation: int, config: RunConfig, final: pd.DataFrame
) -> Profile[WeightVector]:
    """Create a candidate's profile, with a provenance free of place, time and machine.

    Args:
        candidate: of the final.
        generation: last generation of the run.
        config: of the run.
        final: as in `final.parquet`.
    """
    provenance: dict[str, object] = {
        "source": "manaforge evolve",
        "candidate": candidate.name,
        "birth": candidate.birth,
        "generation": generation,
        "seed": config.seed,
        "config_hash": config.digest,
        "manaforge": version("manaforge"),
        "rules": RULES_VERSION,
    }
    provenance |= agent_provenance(config)
    own = final[final["candidate"] == candidate.name]
    rank = 1
    for row in own[own["stage"] != config.found_benchmark.stage].to_dict("records"):
        rank = int(row["rank"])
        provenance["final"] = {"rank": rank, "stage": str(row["stage"])} | _record_of(row)
    name = "champion" if rank == 1 else f"place-{rank}"
    return Profile(
        f"{name}-{config.digest[:8]}-{config.seed}",
        config.vector.from_array(candidate.weights),
        provenance,
    )


def _record_of(row: dict[Hashable, Any]) -> dict[str, object]:
    """Games and win rate with interval of a table row, for a profile's provenance."""
    record: dict[str, object] = {name: int(row[name]) for name in ("games", "wins", "draws")}
    record |= {"win_rate": float(row["score"]), "low": float(row["low"]), "high": float(row["high"])}
    return record
