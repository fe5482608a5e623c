"""The champion: a final between the last population, its centroid and the hall of fame on fresh deals.

Whoever led the last generation led it by luck too. The final goes in two stages: all candidates meet on half
the games, then the best eight meet again on the other half, and only those last games count.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np
import pandas as pd

from engine import RULES_VERSION, find_deck, find_ruleset
from evo.coevolution import Play, Tally, all_pairings, play_pairings
from evo.config import RunConfig
from evo.games import Player, Table
from evo.ratings import Rate, win_rate
from evo.seeds import Stream
from evo.strategy import EvolutionStrategy
from ilp_agent import Profile, Weights, find_profile

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
        weights: as evolved, or divided by their sum for the centroid.
        birth: generation it comes from.
    """

    name: str
    weights: tuple[float, ...]
    birth: int


@dataclass(frozen=True)
class Champion:
    """Who won the final.

    Attributes:
        profile: weights with provenance, as `champion.toml` has it.
        table: one row an opponent of the final's last stage and of the benchmark, with games and rates.
    """

    profile: Profile
    table: pd.DataFrame


def candidates_of(strategy: EvolutionStrategy) -> list[Candidate]:
    """Parents, centroid and hall of fame, those with equal weights once."""
    found: dict[tuple[float, ...], Candidate] = {}
    for one in strategy.parents:
        found.setdefault(tuple(one), Candidate(f"individual {one.number}", tuple(one), one.birth))
    shares = [np.array(one) / sum(one) for one in strategy.parents if sum(one) > 0]
    if shares:
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
        play: plays a schedule (`evo.pool.Pool.play`).
    """
    candidates = candidates_of(strategy)
    stage = 0
    result: Tally | None = None
    order = list(range(len(candidates)))
    if config.final.games and len(candidates) > 1:
        while True:
            alone = stage == 0 and len(candidates) <= SECOND_STAGE
            budget = config.final.games if alone else config.final.games // 2
            result = _round_robin(candidates, config, stage, budget, play)
            scores = result.scores(len(candidates)).sum(axis=(1, 2))
            order = sorted(range(len(candidates)), key=lambda place: (-scores[place], place))
            if len(candidates) <= SECOND_STAGE:
                break
            candidates = [candidates[place] for place in order[:SECOND_STAGE]]
            stage += 1
    best = candidates[order[0]]
    rows: list[list[object]] = []
    if result is not None:
        for place, other in enumerate(candidates):
            if place != order[0]:
                rows.append(_row("final", other.name, *_record(result, order[0], place)))
    if config.final.benchmark_games:
        rows += _benchmark(best, config, play)
    columns = ["stage", "opponent", "games", "wins", "draws", "turns", "win_rate", "low", "high"]
    table = pd.DataFrame(rows, columns=columns)
    return Champion(_profile(best, strategy, config, table), table)


def _round_robin(
    candidates: Sequence[Candidate], config: RunConfig, stage: int, budget: int, play: Play
) -> Tally:
    """All candidates against each other with about `budget` games."""
    table = _table([candidate.weights for candidate in candidates], config)
    pairings = all_pairings(len(candidates))
    games = _even(budget // (len(pairings) * len(config.decks) ** 2))
    return play_pairings(table, pairings, games, config.seed, (Stream.FINAL, stage), play)


def _even(games: int) -> int:
    """The even number below, at least 2."""
    return max(2, games // 2 * 2)


def _benchmark(best: Candidate, config: RunConfig, play: Play) -> list[list[object]]:
    """The champion against each of the thesis's seven."""
    seven = [find_profile(name) for name in THESIS_SEVEN]
    table = _table([best.weights, *(tuple(profile.weights.array) for profile in seven)], config)
    pairings = np.array([(0, place + 1) for place in range(len(seven))])
    games = _even(config.final.benchmark_games // len(config.decks) ** 2)
    result = play_pairings(table, pairings, games, config.seed, (Stream.FINAL, BENCHMARK_STAGE), play)
    return [_row("thesis", name, *_record(result, 0, place + 1)) for place, name in enumerate(THESIS_SEVEN)]


def _table(weights: Sequence[Sequence[float]], config: RunConfig) -> Table:
    players = tuple(Player(tuple(map(float, vector)), config.backend) for vector in weights)
    return Table(players, tuple(find_deck(deck) for deck in config.decks), find_ruleset(config.ruleset))


def _record(result: Tally, player: int, other: int) -> tuple[int, int, int, int]:
    """Games, wins, draws and rounds of a player against another."""
    place = int(np.flatnonzero((np.sort(result.pairings, axis=1) == sorted((player, other))).all(axis=1))[0])
    mine = result.wins if result.pairings[place, 0] == player else result.losses
    counts = (result.games, mine, result.draws, result.turns)
    games, wins, draws, turns = (int(count[place].sum()) for count in counts)
    return games, wins, draws, turns


def _row(stage: str, opponent: str, games: int, wins: int, draws: int, turns: int) -> list[object]:
    return [stage, opponent, games, wins, draws, turns, *win_rate(wins, draws, games)]


def _profile(best: Candidate, strategy: EvolutionStrategy, config: RunConfig, table: pd.DataFrame) -> Profile:
    """The champion as a profile with provenance: nothing of where, when or by whom it was played."""
    provenance: dict[str, object] = {
        "source": "manaforge evolve",
        "candidate": best.name,
        "birth": best.birth,
        "generation": strategy.generation - 1,
        "seed": config.seed,
        "config_hash": config.digest,
        "manaforge": version("manaforge"),
        "rules": RULES_VERSION,
    }
    for stage, key in (("final", "final"), ("thesis", "against_thesis_seven")):
        part = table[table["stage"] == stage]
        if len(part):
            sums = [int(part[name].sum()) for name in ("games", "wins", "draws")]
            rate: Rate = win_rate(sums[1], sums[2], sums[0])
            provenance[key] = {
                "games": sums[0],
                "wins": sums[1],
                "draws": sums[2],
                "win_rate": rate.value,
                "low": rate.low,
                "high": rate.high,
            }
    name = f"champion-{config.digest[:8]}-{config.seed}"
    return Profile(name, Weights.from_array(best.weights), provenance)
