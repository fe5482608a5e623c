"""Compares strategies: which finds better weights with the same number of games?

Run with `python -m benchmarks.strategies`. Each strategy gets the same seeds, games for each pairing and
budget, the final included; then every champion of one plays every champion of the other on new deals. The
Elo difference has a 95% interval by bootstrap over the runs of both sides, since runs are what varies.
"""

import os
import tempfile
from itertools import combinations
from pathlib import Path

import numpy as np
import typer

from evo.config import RunConfig
from evo.configfiles import read_config
from evo.evolution.fitness import play_pairings
from evo.evolution.run import evolve, games_of_generation
from evo.play.games import roster_of
from evo.play.local import LocalPool
from evo.storage.opening import create_run
from evo.storage.store import RunFolder
from evo.strategies import STRATEGIES, Strategy, Told
from ilp_agent import find_profile, read_profile

FINAL_SHARE = 6
"""The final has one game in this many."""

MATCHUP_SEED = 999_331
BOOTSTRAP = 10_000

OPTIONS = typer.Option([], "--set", help="Options of strategies, such as es.bounds=reflect.")
NAMES = typer.Option(list(STRATEGIES), "--strategy", help="Strategies to compare; may repeat.")


class Quiet:
    """Shows nothing."""

    def begin(self, folder: RunFolder, games: int) -> None:  # noqa: D102
        pass

    def advance(self, games: int) -> None:  # noqa: D102
        pass

    def generation(self, told: Told, strategy: Strategy, *_: object) -> None:  # noqa: D102
        pass

    def final(self) -> None:  # noqa: D102
        pass


def config_of(base: RunConfig, budget: int, **values: object) -> RunConfig:
    """A configuration that plays at most `budget` games, the final included."""
    final = budget // FINAL_SHARE
    config = base.changed(final={"games": final, "benchmark_games": 0}, generations=0, **values)
    left = budget - final - games_of_generation(config, 0)
    return config.changed(generations=max(0, left // games_of_generation(config, 1)))


def champion_of(config: RunConfig, pool: LocalPool) -> tuple[float, ...]:
    """Weights of the champion of a run."""
    with tempfile.TemporaryDirectory() as place, create_run(Path(place) / "run", config, {}) as folder:
        evolve(folder, pool, Quiet())
        return tuple(read_profile(folder.path / "champion.toml").weights.array)


def scores_of(
    ours: list[tuple[float, ...]], theirs: list[tuple[float, ...]], games: int, pool: LocalPool
) -> np.ndarray:
    """Score per game of each of ours against each of theirs; shape (ours, theirs)."""
    roster = roster_of(RunConfig(), [*ours, *theirs])
    pairings = np.array([(i, len(ours) + j) for i in range(len(ours)) for j in range(len(theirs))])
    result = play_pairings(roster, pairings, games, MATCHUP_SEED, (1,), pool.play)
    scores = (result.wins + result.draws / 2).sum((1, 2)) / result.games.sum((1, 2))
    return scores.reshape(len(ours), len(theirs))


def elo(score: np.ndarray | float) -> np.ndarray:
    """Elo difference of a score per game."""
    return np.asarray(-400 * np.log10(1 / np.asarray(score) - 1))


def interval(scores: np.ndarray) -> tuple[float, float]:
    """95% interval of the Elo difference, by bootstrap over the runs of both sides."""
    pick = np.random.default_rng(1)
    n, m = scores.shape
    rows, columns = pick.integers(n, size=(BOOTSTRAP, n)), pick.integers(m, size=(BOOTSTRAP, m))
    means = [scores[np.ix_(a, b)].mean() for a, b in zip(rows, columns, strict=True)]
    low, high = np.percentile(elo(np.array(means)), [2.5, 97.5])
    return float(low), float(high)


def main(
    names: list[str] = NAMES,
    runs: int = typer.Option(10, help="Runs of each strategy."),
    budget: int = typer.Option(300_000, help="Games of a run."),
    games: int = typer.Option(4, help="Games for each pairing and ordered pair of decks."),
    mu: int = typer.Option(10, help="Parents, and children; cma draws twice as many and keeps half."),
    options: list[str] = OPTIONS,
    profile: str = typer.Option("", help="A profile that also plays all champions."),
    matchup: int = typer.Option(200, help="Games of each pairing of champions and ordered pair of decks."),
) -> None:
    """Compare strategies in pairs."""
    pool = LocalPool()
    champions: dict[str, list[tuple[float, ...]]] = {}
    for name in names:
        # The same number of individuals in a generation for all: parents and children, or only children.
        n_children = mu if STRATEGIES[name].evaluated(mu, mu, 1) > mu else 2 * mu
        base = read_config(os.devnull, [*options])
        config = config_of(base, budget, strategy=name, mu=mu, **{"lambda": n_children}, games=games)
        size = f"{mu} + {n_children}, {games} games a cell"
        print(f"{name}: {runs} runs, {config.generations} generations, {size}")
        champions[name] = [champion_of(config.changed(seed=1000 + run), pool) for run in range(runs)]
        for weights in champions[name]:
            print("  " + " ".join(f"{weight / sum(weights):.3f}" for weight in weights), flush=True)
    for one, other in combinations(names, 2):
        scores = scores_of(champions[one], champions[other], matchup, pool)
        low, high = interval(scores)
        print(
            f"{one} against {other}: {scores.mean():.2%} of {scores.size * matchup * 9:,} games, "
            f"{float(elo(scores.mean())):+.1f} Elo, 95% interval {low:+.1f} to {high:+.1f}"
        )
    for name in names if profile else ():
        scores = scores_of([tuple(find_profile(profile).weights.array)], champions[name], matchup, pool)
        each = " ".join(f"{value:+.1f}" for value in elo(scores[0]))
        print(f"{profile} against {name}: {float(elo(scores.mean())):+.1f} Elo (each: {each})")


if __name__ == "__main__":
    typer.run(main)
