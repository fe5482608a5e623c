"""Backward search over the features of minimax-td, as its paper describes it.

    python -m benchmarks.minimax_backward --out build/backward.csv

Beginning with all 16, each feature alone is left out, the weights of the others are learned in so many games,
and the set without the one whose lack scored best goes on. Source: Dash, Handali and Jia, "Do Androids Dream
Of Explosive Sheep?", section 4.1.2: 200 games to learn from, 200 for the score. The best of up to sixteen
scores of 200 games flatters, so the set that goes on is learned and scored again by other games.
"""

import argparse
import csv
import time
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

from rivals.minimax_learning import Learning, learn
from rivals.minimax_search import FEATURES


def score_of(settings: Learning) -> float:
    """The score of the weights after all games; 0 where they grew without bounds."""
    found = list(learn(settings))
    return found[-1].score if found else 0.0


def search(settings: Learning, fresh: int, workers: int) -> list[dict[str, object]]:
    """Leave out one feature after the other.

    Args:
        settings: how the weights of a set are learned and scored; `every` is `games`.
        fresh: games of the second score; even.
        workers: processes.

    Returns:
        A row a number of features: features (how many), left_out (the last), score (that it was chosen by),
        fresh_games, fresh_score, names (with spaces between).
    """
    rows: list[dict[str, object]] = []
    kept: tuple[str, ...] = FEATURES
    with get_context("spawn").Pool(workers) as pool:
        tried, left_out = [kept], [""]
        while True:
            scores = pool.map(score_of, [replace(settings, features=names) for names in tried], chunksize=1)
            place = max(range(len(tried)), key=lambda number: scores[number])
            kept = tried[place]
            again = replace(settings, features=kept, tests=fresh, seed=settings.seed + 1_000)
            rows.append(
                {
                    "features": len(kept),
                    "left_out": left_out[place],
                    "score": round(scores[place], 4),
                    "fresh_games": fresh,
                    "fresh_score": round(score_of(again), 4),
                    "names": " ".join(kept),
                }
            )
            if len(kept) == 1:
                return rows
            left_out = list(kept)
            tried = [tuple(name for name in kept if name != out) for out in left_out]


def main(arguments: Sequence[str] | None = None) -> None:
    usual = Learning()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=200, help="games to learn from")
    parser.add_argument("--tests", type=int, default=200, help="games of a score")
    parser.add_argument("--fresh", type=int, default=2_000, help="games of the second score")
    parser.add_argument("--eta", type=float, default=usual.eta, help="learning rate")
    parser.add_argument("--epsilon", type=float, default=usual.epsilon, help="share of random turns")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True, help="a CSV file")
    chosen = parser.parse_args(arguments)
    if min(chosen.games, chosen.workers) < 1 or any(n < 2 or n % 2 for n in (chosen.tests, chosen.fresh)):
        parser.error("--games and --workers are at least 1, --tests and --fresh even and at least 2")
    try:
        chosen.out.parent.mkdir(parents=True, exist_ok=True)
        chosen.out.open("a", encoding="utf-8").close()  # rather now than after the games
    except OSError as error:
        parser.error(str(error))
    settings = Learning(
        games=chosen.games,
        every=chosen.games,
        tests=chosen.tests,
        eta=chosen.eta,
        epsilon=chosen.epsilon,
        seed=chosen.seed,
    )
    began = time.perf_counter()
    rows = search(settings, chosen.fresh, chosen.workers)
    with chosen.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    best = max(rows, key=lambda row: float(str(row["fresh_score"])))
    score = f"{best['fresh_score']:.1%} of {chosen.fresh:,} games"
    print(f"best: {best['features']} features, {score}: {best['names']}")
    print(f"{time.perf_counter() - began:.0f} s; written: {chosen.out}")


if __name__ == "__main__":
    main()
