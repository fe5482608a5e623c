"""The champion: a final between the last population, its centroid and the hall of fame on fresh deals.

Whoever led the last generation led it by luck too. The final is a tournament in two stages: all candidates
meet on half the games, then the best eight meet again on the other half, and only those last games count.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from engine import RULES_VERSION, find_deck, find_ruleset
from evo.config import RunConfig
from evo.evolution.strategy import EvolutionStrategy
from evo.play.games import Player, Table, refuse_faults
from evo.play.matchups import Format, Meetings, games_table, make_pairings
from evo.play.setups import Play
from evo.seeds import Stream
from evo.stats.standings import meetings_table, scores_table
from ilp_agent import Profile, WeightVector, find_profile
from rivals import WEIGHTS_OF

SECOND_STAGE = 8
"""Candidates that meet again."""

BENCHMARK_STAGE = 1000
"""Part of the address of the benchmark's deals, where the final's stages have 0 and 1."""

THESIS_SEVEN = (
    "keep-alive",
    "board-clear",
    "aggro-face",
    "value-trading",
    "aggro-tempo",
    "true-balanced",
    "author-favorite",
)


@dataclass(frozen=True)
class Candidate:
    """One who may become champion.

    Attributes:
        name: "individual N" or "centroid".
        weights: as evolved, or in their scale-free form for the centroid.
        birth: generation it comes from.
        player: who plays by them; without it the agent of the run.
    """

    name: str
    weights: tuple[float, ...]
    birth: int
    player: Player | None = None


@dataclass(frozen=True)
class Champion:
    """Who won the final.

    Attributes:
        profile: weights with provenance, as `champion.toml` has it.
        table: the final, as `final.parquet` has it: one row a candidate, the champion first, and one for each
            of the thesis's seven that it met.
    """

    profile: Profile[WeightVector]
    table: pd.DataFrame


def candidates_of(strategy: EvolutionStrategy, agent: str) -> list[Candidate]:
    """Parents, centroid and hall of fame, those with equal weights once."""
    found: dict[tuple[float, ...], Candidate] = {}
    for one in strategy.parents:
        found.setdefault(tuple(one), Candidate(f"individual {one.number}", tuple(one), one.birth))
    shares = WEIGHTS_OF[agent].scale_free(np.array(strategy.parents))
    shares = shares[~np.isnan(shares).any(axis=1)]
    if len(shares):
        centroid = tuple(float(value) for value in np.mean(shares, axis=0))
        found.setdefault(centroid, Candidate("centroid", centroid, strategy.generation - 1))
    for one in strategy.hall:
        found.setdefault(tuple(one), Candidate(f"individual {one.number}", tuple(one), one.birth))
    return list(found.values())


def play_final(strategy: EvolutionStrategy, config: RunConfig, play: Play) -> Champion:
    """Choose the champion and play it against the thesis's seven profiles.

    Args:
        strategy: after its last generation.
        config: of the run.
        play: plays a schedule (`evo.play.pool.Pool.play`).
    """
    candidates = {candidate.name: candidate for candidate in candidates_of(strategy, config.agent)}
    remaining, ranked, stage = list(candidates.values()), pd.DataFrame(), 0
    while config.final.games and len(remaining) > 1:
        last = len(remaining) <= SECOND_STAGE
        budget = config.final.games if last and stage == 0 else config.final.games // 2
        met = len(remaining) * (len(remaining) - 1) // 2
        games = _games_of_stage(remaining, "round-robin", budget // met, stage, config, play)
        scores = scores_table(games).sort_values("score", ascending=False, kind="stable")
        scores.insert(0, "stage", "final" if last else "first")
        # Those of this stage go before those who did not reach it.
        ranked = pd.concat([scores, ranked[~ranked["entrant"].isin(scores["entrant"])] if stage else ranked])
        if last:
            break
        remaining = [candidates[name] for name in scores["entrant"][:SECOND_STAGE]]
        stage += 1
    best = candidates[str(ranked["entrant"].iloc[0])] if len(ranked) else remaining[0]
    parts = [_plain(ranked).assign(rank=range(1, len(ranked) + 1))] if len(ranked) else []
    seven = None
    if config.final.benchmark_games:
        met, seven = _benchmark(best, config, play)
        parts.append(met)
    table = pd.concat(parts) if parts else pd.DataFrame(columns=["stage"])
    table = (
        table.rename(columns={"entrant": "candidate"})
        .reindex(columns=list(FINAL_COLUMNS))
        .astype(FINAL_COLUMNS)
        .reset_index(drop=True)
    )
    profile = profile_of(best, strategy, config, table)
    if seven is not None:
        profile = replace(profile, provenance={**profile.provenance, "against_thesis_seven": seven})
    return Champion(profile, table)


FINAL_COLUMNS = {
    "stage": str,
    "rank": "Int64",
    "candidate": str,
    "opponent": "string",
    **dict.fromkeys(("games", "wins", "draws", "losses"), "int64"),
    **dict.fromkeys(("mean_turns", "score", "low", "high"), "float64"),
}


def _games_of_stage(
    entrants: Sequence[Candidate], style: Format, budget: int, stage: int, config: RunConfig, play: Play
) -> pd.DataFrame:
    """Games between candidates, about `budget` for each two who meet; a table as of a tournament."""
    players = tuple(
        one.player or Player(tuple(map(float, one.weights)), config.backend, config.agent) for one in entrants
    )
    decks = tuple(find_deck(deck) for deck in config.decks)
    table = Table(players, decks, find_ruleset(config.ruleset))
    games = max(2, budget // len(decks) ** 2 // 2 * 2)
    pairings = make_pairings(len(entrants), style, ())
    meetings = Meetings(pairings, len(decks), games, config.seed, (Stream.FINAL, stage))
    schedule, _ = meetings.schedule(0, len(meetings))
    played = play(table, schedule)
    refuse_faults(table, schedule, played)
    return games_table(meetings, played, [one.name for one in entrants], [deck.name for deck in decks])


def _benchmark(best: Candidate, config: RunConfig, play: Play) -> tuple[pd.DataFrame, dict[str, object]]:
    """The champion against each of the thesis's seven, one row each, and its record against all."""
    seven = []
    for name in THESIS_SEVEN:
        weights = tuple(map(float, find_profile(name).weights.array))
        seven.append(Candidate(name, weights, 0, Player(weights, config.backend)))
    budget = config.final.benchmark_games
    games = _games_of_stage([best, *seven], "gauntlet", budget, BENCHMARK_STAGE, config, play)
    record = _record_of(_plain(scores_table(games)).iloc[0].to_dict())
    return meetings_table(games).assign(stage="thesis"), record


def _plain(scores: pd.DataFrame) -> pd.DataFrame:
    """A table of scores alone, in which low and high can mean but theirs."""
    return scores.rename(columns={"score_low": "low", "score_high": "high"})


def named_agent(config: RunConfig) -> dict[str, str]:
    """What a profile's provenance says of its agent: the name, where its weights have those of another's."""
    return {} if config.agent == WEIGHTS_OF[config.agent].AGENT else {"agent": config.agent}


def profile_of(
    candidate: Candidate, strategy: EvolutionStrategy, config: RunConfig, final: pd.DataFrame
) -> Profile[WeightVector]:
    """A candidate as a profile with provenance: nothing of where, when or by whom it was played.

    Args:
        candidate: of the final.
        strategy: after its last generation.
        config: of the run.
        final: as `final.parquet` has it.
    """
    provenance: dict[str, object] = {
        "source": "manaforge evolve",
        "candidate": candidate.name,
        "birth": candidate.birth,
        "generation": strategy.generation - 1,
        "seed": config.seed,
        "config_hash": config.digest,
        "manaforge": version("manaforge"),
        "rules": RULES_VERSION,
    }
    provenance |= named_agent(config)
    own = final[final["candidate"] == candidate.name]
    rank = 1
    for row in own[own["stage"] != "thesis"].to_dict("records"):
        rank = int(row["rank"])
        provenance["final"] = {"rank": rank, "stage": str(row["stage"])} | _record_of(row)
    name = "champion" if rank == 1 else f"place-{rank}"
    return Profile(
        f"{name}-{config.digest[:8]}-{config.seed}",
        WEIGHTS_OF[config.agent].from_array(candidate.weights),
        provenance,
    )


def _record_of(row: dict[Hashable, Any]) -> dict[str, object]:
    """Games and score with interval, as a profile keeps them."""
    record: dict[str, object] = {name: int(row[name]) for name in ("games", "wins", "draws")}
    record |= {"win_rate": float(row["score"]), "low": float(row["low"]), "high": float(row["high"])}
    return record
