"""Scores by decks of EVA individuals that all play each other.

    python -m benchmarks.eva_crossplay FILE --decks pirate-warrior,reno-mage,jade-shaman --out OUT

FILE is a CSV file with the 21 weights of each individual as columns, by our names; others are ignored. Each
two individuals play one game in each seat for each ordered pair of decks.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from engine import ManaforgeError, find_deck, find_ruleset
from engine.codes import Outcome
from engine.streams import stream_key
from evo.play.entrants import find_entrant
from evo.play.games import Roster, Schedule, play_schedule
from rivals import EvaWeights


def scores_by_decks(weights: np.ndarray, decks: tuple[str, ...], seed: int) -> pd.DataFrame:
    """Games of all ordered pairs of different individuals.

    Args:
        weights: shape (individuals, 21).
        decks: names or files.
        seed: of the deals.

    Returns:
        A row for each two decks: deck, opponent_deck (names), games, points (of deck).
    """
    base = find_entrant("eva:competition").player
    found = tuple(map(find_deck, decks))
    roster = Roster(
        tuple(replace(base, weights=tuple(row)) for row in weights), found, find_ruleset("competition")
    )
    n, k = len(weights), len(decks)
    pair, own, other = (part.ravel() for part in np.indices((n * n, k, k)))
    first, second = pair // n, pair % n
    chosen = first != second
    places = np.stack([first, second], axis=1)[chosen].astype(np.int16)
    held = np.stack([own, other], axis=1)[chosen].astype(np.int16)
    keys = np.array([stream_key(seed, number) for number in range(len(places))], np.uint64)
    outcome = play_schedule(roster, Schedule(places, held, keys))["outcome"]
    points = np.select([outcome == Outcome.FIRST_WINS, outcome == Outcome.DRAW], [1.0, 0.5], 0.0)
    rows = pd.DataFrame({"deck": held[:, 0], "opponent_deck": held[:, 1], "points": points})
    back = rows.rename(columns={"deck": "opponent_deck", "opponent_deck": "deck"})
    both = pd.concat([rows, back.assign(points=1 - back["points"])])
    summed = both.groupby(["deck", "opponent_deck"])["points"].agg(games="size", points="sum").reset_index()
    names = [deck.name for deck in found]
    for column in ("deck", "opponent_deck"):
        summed[column] = [names[place] for place in summed[column]]
    return summed


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, help="a CSV file")
    parser.add_argument("--decks", required=True, help="names or files with commas between")
    parser.add_argument("--seed", type=int, default=1, help="of the deals")
    parser.add_argument("--out", type=Path, required=True, help="a CSV file")
    chosen = parser.parse_args()
    try:
        table = pd.read_csv(chosen.file)
        if missing := set(EvaWeights.names()) - set(table):
            parser.error(f"{chosen.file} has no column {', '.join(sorted(missing))}")
        weights = table[list(EvaWeights.names())].to_numpy(np.float64)
        if len(weights) < 2:
            parser.error(f"{chosen.file} has {len(weights)} individuals; two or more play each other")
        found = scores_by_decks(weights, tuple(chosen.decks.split(",")), chosen.seed)
        chosen.out.parent.mkdir(parents=True, exist_ok=True)
        found.to_csv(chosen.out, index=False)
    except (ManaforgeError, OSError, ValueError) as error:
        parser.error(str(error))
    print(f"{int(found['games'].sum()) // 2:,} games; written: {chosen.out}")


if __name__ == "__main__":
    main()
