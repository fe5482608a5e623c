"""Turns and games on real cards by the search, on one core, by deck.

Run with `make bench`. Everything is compiled before it is timed. Each deck plays itself, and the mage the
warrior, between the thesis's profiles; positions are those of turns as they begin and of turns solved again.
"""

import time

import numpy as np

from engine import find_deck, find_ruleset, shipped_decks
from engine.batches import begin_logs, deal_games
from engine.decks import cached_card_table
from engine.state import STATE
from ilp_agent import find_profile, shipped_profiles
from ilp_agent.search.work import DEFAULT_LIMIT
from ilp_agent.selfplay import SOLVER_STATISTICS, play_searched_games, search_memory

PAIRS = [("basic-mage", "basic-warrior")]
PAIRS += [(name, name) for name in shipped_decks() if find_deck(name).hero_class]
GAMES, LIMITS = 300, (2_000, DEFAULT_LIMIT, 20_000)
"""Games of each pair, and limits of the first; the others have the usual ones (None)."""


def play(names: tuple[str, str], games: int, limit: int | None) -> tuple[np.ndarray, float]:
    """Play games one after the other; what each took, dtype `SOLVER_STATISTICS`, and seconds in all."""
    decks = tuple(map(find_deck, dict.fromkeys(names)))
    table, records = cached_card_table(decks)
    weights = np.array([find_profile(name).weights.full_array for name in shipped_profiles()])
    pick = np.random.default_rng(1)
    keys, agents = pick.integers(0, 2**63, games, dtype=np.uint64), pick.integers(0, len(weights), (games, 2))
    numbers = np.array([[game % len(decks), (game + 1) % len(decks)] for game in range(games)])
    states, use = np.zeros(games, STATE), np.zeros(games, SOLVER_STATISTICS)
    deal_games(table.array, records, find_ruleset("standard").array, numbers, keys, states)
    memory = search_memory(table.array, limit)
    began = time.perf_counter()
    play_searched_games(table.array, weights, agents, states, begin_logs(keys), memory, use)
    return use, time.perf_counter() - began


def main() -> None:
    """Print a line for each pair of decks and limit of positions."""
    play(PAIRS[0], 2, DEFAULT_LIMIT)
    print("decks                         limit   games/s   us a turn   positions a turn   proven   again")
    for names in PAIRS:
        for limit in LIMITS if names == PAIRS[0] else (None,):
            use, seconds = play(names, GAMES, limit)
            solves = use["search"].sum()
            print(
                f"{' / '.join(dict.fromkeys(names)):<28} {limit or 'usual':>6} {GAMES / seconds:>9,.0f} "
                f"{1e6 * seconds / solves:>11,.0f} {use['states'].sum() / solves:>18,.0f} "
                f"{1 - use['unproven'].sum() / solves:>8.2%} {use['again'].sum() / solves:>7.1%}"
            )


if __name__ == "__main__":
    main()
