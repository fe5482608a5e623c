"""Does pairing pay? The variance of a score per game, of paired games and of games dealt each for itself.

Run with `python -m benchmarks.pairing_gain`. The same number of games for each kind: paired, every deal is
played twice with the entrants exchanged; unpaired, every game has a deal of its own, but seats and decks are
still exchanged in turn. The ratio of the two variances is how many times as many unpaired games the same
interval takes. Were seats and decks drawn too, the variance would be p (1 - p), the last figure.
"""

import numpy as np
import typer

from engine import find_deck, find_ruleset
from evo.play.entrants import find_entrant
from evo.play.games import Schedule, Table
from evo.play.matchups import Meetings, games_table, make_pairings
from evo.play.pool import LocalPool
from evo.stats.standings import meetings_table

MEETINGS = (
    ("ilp:keep-alive", "ilp:value-trading"),
    ("ilp:true-balanced", "ilp:aggro-face"),
    ("ilp:true-balanced", "ilp:aggro-tempo"),
)
DECKS = (("hearthsim-basic",), ("thesis-paladin", "thesis-warrior"), ("random-minions",))


def variances(table: Table, games: int, pool: LocalPool) -> tuple[float, float, float]:
    """Score of the first, and the variance per game of paired and of unpaired play."""
    meetings = Meetings(make_pairings(2, "round-robin", ()), len(table.decks), games, 1, (1,))
    schedule, _ = meetings.schedule(0, len(meetings))
    names = [deck.name for deck in table.decks]
    paired = meetings_table(games_table(meetings, pool.play(table, schedule), ["a", "b"], names)).iloc[0]
    # The same entrants, decks and seats, but the second game of each pair is dealt from another stream.
    fresh = Meetings(meetings.pairings, len(table.decks), games, 2, (1,)).schedule(0, len(meetings))[0]
    keys = np.where(np.arange(len(schedule)) % 2 == 0, schedule.keys, fresh.keys)
    unpaired = Schedule(schedule.players, schedule.decks, keys)
    alone = meetings_table(games_table(meetings, pool.play(table, unpaired), ["a", "b"], names)).iloc[0]
    return float(paired["score"]), float(paired["variance"]), float(alone["variance"])


def main(
    games: int = typer.Option(20_000, help="Games of each two entrants and kind of play, about."),
) -> None:
    """Measure some meetings with some decks."""
    pool = LocalPool()
    for first, second in MEETINGS:
        players = tuple(find_entrant(text).player for text in (first, second))
        for decks in DECKS:
            table = Table(players, tuple(find_deck(deck) for deck in decks), find_ruleset("thesis"))
            score, paired, unpaired = variances(table, games // len(decks) ** 2 // 2 * 2, pool)
            print(
                f"{first} against {second}, {' and '.join(decks)}: score {score:.1%}, "
                f"variance per game {paired:.3f} paired, {unpaired:.3f} unpaired, "
                f"ratio {unpaired / paired:.2f}; all drawn: {score * (1 - score):.3f}"
            )


if __name__ == "__main__":
    typer.run(main)
