"""How games end: the difference of the heroes' health, in games won and in games lost.

    python -m benchmarks.hero_health eva aggro --decks basic-mage,basic-hunter --out build/health.csv

Entrants play each other in paired games over all ordered pairs of decks. EVA's code records this difference
for each individual. Health is the own hero's less the enemy's at the end of the game, armour left out, less
than 0 as 0.
"""

import argparse
import itertools
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.strength import CHUNK, play_to_ends, points_of
from engine import ManaforgeError, find_deck, find_ruleset
from evo.play.entrants import find_entrant
from evo.play.games import compile_games
from rivals import find_kind


def ends_of(
    texts: tuple[str, str], decks: tuple[str, ...], games: int, seed: int, rules: str
) -> pd.DataFrame:
    """Each game twice, from the view of both: deck, opponent_deck, points, difference (health)."""
    players = find_entrant(texts[0]), find_entrant(texts[1])
    rows = []
    for start in range(0, games, CHUNK):
        n = min(CHUNK, games - start)
        states, seat, _ = play_to_ends(players, decks, start, n, seed, rules)
        points = points_of(states, seat)
        health = np.maximum(states["sides"]["health"], 0).astype(np.int64)
        own = health[np.arange(n), seat] - health[np.arange(n), 1 - seat]
        pair = np.arange(start, start + n) // 2 % len(decks) ** 2
        held = np.stack([pair // len(decks), pair % len(decks)], axis=1)
        mine, theirs = held[np.arange(n), seat], held[np.arange(n), 1 - seat]
        for deck, other, score, apart in ((mine, theirs, points, own), (theirs, mine, 1 - points, -own)):
            rows.append(
                pd.DataFrame(
                    {
                        "deck": np.array(decks)[deck],
                        "opponent_deck": np.array(decks)[other],
                        "points": score,
                        "difference": apart,
                    }
                )
            )
    return pd.concat(rows, ignore_index=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("entrants", nargs="+")
    parser.add_argument("--decks", required=True, help="names with commas between")
    parser.add_argument(
        "--games", type=int, default=200, help="for each two entrants and ordered pair of decks"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ruleset", default="competition")
    parser.add_argument("--out", type=Path, required=True, help="a CSV file")
    chosen = parser.parse_args()
    decks = tuple(chosen.decks.split(","))
    if len(chosen.entrants) < 2 or chosen.games < 2 or chosen.games % 2:
        parser.error("two entrants or more, and an even number of games")
    try:
        players = [find_entrant(text).player for text in chosen.entrants]
        found = list(map(find_deck, decks))
        find_ruleset(chosen.ruleset)
        chosen.out.parent.mkdir(parents=True, exist_ok=True)
        chosen.out.open("a", encoding="utf-8").close()  # rather now than after the games
    except (ManaforgeError, OSError) as error:
        parser.error(str(error))
    for text, player in zip(chosen.entrants, players, strict=True):
        if find_kind(player.kind).play_batch(player.backend) is None:
            parser.error(f"{text} does not play compiled games, which this needs")
    compile_games(players, found)
    pairs = itertools.combinations(chosen.entrants, 2)
    games = chosen.games * len(decks) ** 2
    ends = pd.concat([ends_of(pair, decks, games, chosen.seed, chosen.ruleset) for pair in pairs])
    ends["result"] = ends["points"].map({1.0: "won", 0.5: "drawn", 0.0: "lost"})
    table = ends.groupby(["deck", "opponent_deck", "result"])["difference"].agg(["count", "mean", "std"])
    table.round(4).to_csv(chosen.out)
    print(f"{len(ends) // 2:,} games; written: {chosen.out}")


if __name__ == "__main__":
    main()
