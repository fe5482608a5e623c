"""The benchmark's games: its players, and random weights as a baseline beside the champion.

Beating the benchmark says little if random weights beat it too. So the champion, the shipped study champion
and random weights play the benchmark on the same deals (common random numbers). These scores are in
`manifest.json`, not in `champion.toml` or `final.parquet`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from engine.streams import generator
from evo.config.benchmarks import SEVEN, Benchmark
from evo.config.run_config import RunConfig
from evo.play.entrants import find_entrant
from evo.play.games import Player, PlayFunction, roster_of
from evo.play.matchups import Matchups, play_matchups
from evo.seeds import Stream
from evo.stats.standings import scores_table
from ilp_agent import DEFAULT_BACKEND
from ilp_agent.shipped import configs_folder
from rivals import DEFAULT_AGENT, find_kind, read_agent_profile

BASELINES = 8
"""Number of random weight vectors."""

BENCHMARK_GAMES_PER_BASELINE_GAME = 8
"""A baseline plays 1/8 of the champion's games against each opponent of the benchmark."""

BASELINE_STAGE = 1001
"""Stage number in the random-stream address of the baselines' deals and weights."""


def benchmark_players(benchmark: Benchmark, backend: str = DEFAULT_BACKEND) -> list[Player]:
    """The opponents of a benchmark as players, in order.

    Args:
        benchmark: which opponents.
        backend: solver of those that have one.
    """
    found = (find_entrant(text).player for text in benchmark.opponents.values())
    return [
        replace(player, backend=backend) if find_kind(player.kind).takes_backend else player
        for player in found
    ]


def play_baselines(champion: Sequence[float], config: RunConfig, play: PlayFunction) -> dict[str, Any]:
    """Play the champion, the shipped study champion and random weights against the benchmark.

    Args:
        champion: its weights.
        config: of the run.
        play: plays a schedule (`evo.play.pool.WorkerPool.play`).

    Returns:
        benchmark (its name), games (per member), champion (score), study (score of the shipped study
        champion; None if the agent's weights are not the turn program's), random (scores, best first; they
        have the run's fixed weights). {} without benchmark games, or if the agent's games are not compiled.
    """
    if not has_baselines(config):
        return {}
    vector, benchmark = config.vector, config.found_benchmark
    stream = generator(config.seed, Stream.FINAL, BASELINE_STAGE)
    drawn = stream.random((BASELINES, len(vector.names())))
    members = {"champion": tuple(champion)}
    if vector.AGENT == DEFAULT_AGENT:
        study = read_agent_profile(configs_folder() / "champions" / "study.toml")
        members["study"] = tuple(map(float, study.weights.array))
    fixed = [config.fixed_weights.get(name, np.nan) for name in vector.names()]
    drawn = np.where(np.isnan(fixed), drawn, fixed)
    members |= {f"random {number}": tuple(map(float, weights)) for number, weights in enumerate(drawn)}
    roster = roster_of(config, list(members.values()), benchmark_players(benchmark, config.backend))
    n, n_decks = len(members), len(config.decks)
    pairings = np.array([(i, n + j) for i in range(n) for j in range(len(benchmark.opponents))])
    matchups = Matchups(pairings, n_decks, _games_a_cell(config), config.seed, (Stream.FINAL, BASELINE_STAGE))
    games = play_matchups(roster, matchups, [*members, *benchmark.opponents], play)
    table = scores_table(games).set_index("entrant")
    scores = {name: float(table.loc[name, "score"]) for name in members}
    randoms = sorted((score for name, score in scores.items() if name.startswith("random ")), reverse=True)
    return {
        "benchmark": benchmark.name,
        "games": int(table.loc["champion", "games"]),
        "champion": scores["champion"],
        "study": scores.get("study"),
        "random": randoms,
    }


def has_baselines(config: RunConfig) -> bool:
    """Whether baselines are played: the run has benchmark games, and the agent is compiled."""
    return config.final.benchmark_games > 0 and config.kind.compiled(config.backend)


def count_benchmark_games(config: RunConfig) -> int:
    """Number of games of the champion against the benchmark."""
    return len(config.found_benchmark.opponents) * config.final.benchmark_games


def count_baseline_games(config: RunConfig) -> int:
    """Number of games of the baselines, champion included; 0 without baselines."""
    members = 1 + BASELINES + (config.vector.AGENT == DEFAULT_AGENT)
    cells = members * len(config.found_benchmark.opponents) * len(config.decks) ** 2
    return cells * _games_a_cell(config) if has_baselines(config) else 0


def _games_a_cell(config: RunConfig) -> int:
    """Number of games of a baseline per opponent of the benchmark and ordered pair of decks; even."""
    n_cells = len(config.decks) ** 2
    return max(2, config.final.benchmark_games // BENCHMARK_GAMES_PER_BASELINE_GAME // n_cells // 2 * 2)


def baselines_summary(baselines: Mapping[str, Any], benchmark: Benchmark = SEVEN) -> str:
    """Sentence on the champion's place among the baselines; "" without baselines or if they are malformed."""
    champion, study, randoms = (baselines.get(name) for name in ("champion", "study", "random"))
    games = baselines.get("games")
    if not isinstance(champion, float) or not isinstance(games, int) or not isinstance(randoms, list):
        return ""
    if not randoms or not all(isinstance(score, float) for score in randoms):
        return ""
    others = [*randoms, *([study] if isinstance(study, float) else [])]
    place = 1 + sum(score > champion for score in others)
    shipped = f", the shipped study champion {study:.1%}" if isinstance(study, float) else ""
    return (
        f"baselines against {benchmark.short}, on the same {games:,} games each: place {place} of "
        f"{len(others) + 1}, this champion {champion:.1%}{shipped}, random weights {min(randoms):.1%} to "
        f"{max(randoms):.1%}"
    )
