"""The gain from pairing: the variance of a score per game, in paired games and in games with their own deals.

Run with `python -m benchmarks.pairing_gain`. The same number of games for each kind: paired, every deal is
played twice with the entrants exchanged; unpaired, every game has its own deal, but seats and decks are still
exchanged in turn. An interval of the same width needs more unpaired games by the ratio of the variances. If
seats and decks were random too, the variance would be p (1 - p), the last figure.
"""

import numpy as np
import typer

from engine import find_deck, find_ruleset
from evo.play.entrants import find_entrant
from evo.play.games import Roster, Schedule
from evo.play.matchups import Matchups, games_table, make_pairings
from evo.play.pool import LocalPool
from evo.stats.standings import matchups_table

MATCHUPS = (
    ("ilp:keep-alive", "ilp:value-trading"),
    ("ilp:true-balanced", "ilp:aggro-face"),
    ("ilp:true-balanced", "ilp:aggro-tempo"),
)
DECKS = (("hearthsim-basic",), ("thesis-paladin", "thesis-warrior"), ("random-minions",))


def variances(roster: Roster, games: int, pool: LocalPool) -> tuple[float, float, float]:
    """Score of the first, and the variance per game of paired and of unpaired play."""
    matchups = Matchups(make_pairings(2, "round-robin", ()), len(roster.decks), games, 1, (1,))
    schedule, _ = matchups.schedule(0, len(matchups))
    names = [deck.name for deck in roster.decks]
    paired = matchups_table(games_table(matchups, pool.play(roster, schedule), ["a", "b"], names)).iloc[0]
    # The same entrants, decks and seats, but the second game of each pair is dealt from another stream.
    fresh = Matchups(matchups.pairings, len(roster.decks), games, 2, (1,)).schedule(0, len(matchups))[0]
    keys = np.where(np.arange(len(schedule)) % 2 == 0, schedule.keys, fresh.keys)
    unpaired = Schedule(schedule.players, schedule.decks, keys)
    fresh_deals = matchups_table(games_table(matchups, pool.play(roster, unpaired), ["a", "b"], names)).iloc[
        0
    ]
    return float(paired["score"]), float(paired["variance"]), float(fresh_deals["variance"])


def main(
    games: int = typer.Option(20_000, help="Approximate games of each matchup and kind of play."),
) -> None:
    """Measure several matchups with several decks."""
    pool = LocalPool()
    for first, second in MATCHUPS:
        players = tuple(find_entrant(text).player for text in (first, second))
        for decks in DECKS:
            roster = Roster(players, tuple(find_deck(deck) for deck in decks), find_ruleset("thesis"))
            score, paired, unpaired = variances(roster, games // len(decks) ** 2 // 2 * 2, pool)
            print(
                f"{first} against {second}, {' and '.join(decks)}: score {score:.1%}, "
                f"variance per game {paired:.3f} paired, {unpaired:.3f} unpaired, "
                f"ratio {unpaired / paired:.2f}; all random: {score * (1 - score):.3f}"
            )


if __name__ == "__main__":
    typer.run(main)
