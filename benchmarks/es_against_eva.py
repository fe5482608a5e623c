"""Does `es` find better weights than `eva` from the same number of games?

Run with `python -m benchmarks.es_against_eva`. Champions of both meet on fresh deals. Each strategy gets the
same seeds, population, games for each pairing and budget, the final included; then every champion of one
meets every champion of the other. The Elo difference comes with a 95% interval by bootstrap over the runs of
both sides, since runs are what varies.
"""

import os
import tempfile
from pathlib import Path

import numpy as np
import typer

from engine import find_deck, find_ruleset
from evo.config import RunConfig, read_config
from evo.evolution.run import evolve, games_of_generation
from evo.evolution.strategy import EvolutionStrategy, Told
from evo.play.games import Player, Table
from evo.play.pool import LocalPool
from evo.play.setups import play_pairings
from evo.storage.store import RunFolder, create_run
from ilp_agent import find_profile, read_profile

FINAL_SHARE = 6
"""One game in so many belongs to the final."""

MEETING_SEED = 999_331
BOOTSTRAP = 10_000

OPTIONS = typer.Option([], "--set", help="Options of es, such as es.bounds=reflect.")


class Quiet:
    """Tells nobody."""

    def begin(self, folder: RunFolder, games: int) -> None:  # noqa: D102
        pass

    def advance(self, games: int) -> None:  # noqa: D102
        pass

    def generation(self, told: Told, strategy: EvolutionStrategy, seconds: float) -> None:  # noqa: D102
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


def meet(
    ours: list[tuple[float, ...]], theirs: list[tuple[float, ...]], games: int, pool: LocalPool
) -> np.ndarray:
    """Score per game of each of ours against each of theirs; shape (ours, theirs)."""
    config = RunConfig()
    table = Table(
        tuple(Player(weights) for weights in (*ours, *theirs)),
        tuple(find_deck(deck) for deck in config.decks),
        find_ruleset(config.ruleset),
    )
    pairings = np.array([(i, len(ours) + j) for i in range(len(ours)) for j in range(len(theirs))])
    result = play_pairings(table, pairings, games, MEETING_SEED, (1,), pool.play)
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
    runs: int = typer.Option(10, help="Runs of each strategy."),
    budget: int = typer.Option(300_000, help="Games of a run."),
    games: int = typer.Option(4, help="Games for each pairing and ordered pair of decks."),
    mu: int = typer.Option(10, help="Parents, and children."),
    options: list[str] = OPTIONS,
    profile: str = typer.Option("", help="A profile that meets the champions of eva too."),
    meeting: int = typer.Option(200, help="Games of each two champions and ordered pair of decks."),
) -> None:
    """Compare the two strategies."""
    pool = LocalPool()
    champions: dict[str, list[tuple[float, ...]]] = {}
    for strategy in ("eva", "es"):
        base = read_config(os.devnull, options if strategy == "es" else ())
        config = config_of(base, budget, strategy=strategy, mu=mu, **{"lambda": mu}, games=games)
        print(
            f"{strategy}: {runs} runs of {config.generations} generations, {mu} + {mu}, {games} games a cell"
        )
        champions[strategy] = [champion_of(config.changed(seed=1000 + run), pool) for run in range(runs)]
        for weights in champions[strategy]:
            print("  " + " ".join(f"{weight / sum(weights):.3f}" for weight in weights))
    scores = meet(champions["es"], champions["eva"], meeting, pool)
    low, high = interval(scores)
    print(f"es scores {scores.mean():.2%} against eva in {scores.size * meeting * 9:,} games")
    print(f"Elo difference {float(elo(scores.mean())):+.1f}, 95% interval {low:+.1f} to {high:+.1f}")
    if profile:
        scores = meet([tuple(find_profile(profile).weights.array)], champions["eva"], meeting, pool)
        each = " ".join(f"{value:+.1f}" for value in elo(scores[0]))
        print(f"{profile} against eva's champions: {float(elo(scores.mean())):+.1f} Elo (each: {each})")


if __name__ == "__main__":
    typer.run(main)
