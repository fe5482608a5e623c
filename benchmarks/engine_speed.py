"""Speed of the engine on one core: whole random games, a state copy, start-up from the cache.

Run with `make bench`. Everything is compiled before it is timed; the best of several repetitions is printed,
since other work on the machine can only slow one down.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import combinations_with_replacement

import numpy as np

from engine import RandomAgent, find_deck, find_ruleset, parse_position, perft, play
from engine.batches import random_games
from engine.decks import build_card_table, deck_records
from engine.jit import njit
from engine.state import STATE
from engine.streams import stream_key

GAMES = 20_000
REPETITIONS = 5


@njit
def copy_states(target: np.ndarray, source: np.ndarray, n: int) -> int:
    """Copy `n` states between two arrays of 2**k; the sum keeps the compiler from leaving any out."""
    total, last = 0, len(target) - 1
    for i in range(n):
        target[i & last] = source[(i * 7) & last]
        total += target[i & last]["turn"]
    return total


def best_seconds(run: Callable[[], object]) -> float:
    times = []
    for _ in range(REPETITIONS):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return min(times)


def games_a_second() -> None:
    keys = np.array([stream_key(1, game) for game in range(GAMES)], np.uint64)
    outcomes = np.zeros(GAMES, np.int64)
    pairs = [("thesis-paladin", "thesis-warrior"), ("hearthsim-basic",) * 2, ("random-minions",) * 2]
    pairs.append(("basic-mage", "basic-warrior"))
    pairs += combinations_with_replacement(("pirate-warrior", "jade-shaman", "reno-mage"), 2)
    for first, second in pairs:
        decks = find_deck(first), find_deck(second)
        table = build_card_table(decks)  # games keep what their own cards ask for
        arguments = (table.array, *deck_records(decks, table), find_ruleset("thesis").array)
        rounds = random_games(*arguments, keys, outcomes)
        seconds = best_seconds(lambda arguments=arguments: random_games(*arguments, keys, outcomes))
        print(
            f"random games, {first} against {second}: {GAMES / seconds:,.0f} games/s "
            f"({rounds / GAMES:.1f} rounds a game, {seconds / GAMES * 1e6:.1f} us)"
        )


def copies() -> None:
    n = 10_000_000
    for size in (16, 64):
        source, target = np.ones(size, STATE), np.zeros(size, STATE)
        copy_states(target, source, 10)
        seconds = best_seconds(lambda source=source, target=target: copy_states(target, source, n))
        print(f"state copy ({STATE.itemsize} bytes) among {2 * size}: {seconds / n * 1e9:.1f} ns")


def python_games() -> None:
    decks = find_deck("thesis-paladin"), find_deck("thesis-warrior")
    agent = RandomAgent()
    n = 200
    seconds = best_seconds(lambda: [play(agent, agent, decks, seed) for seed in range(n)])
    print(f"random games through the Agent protocol: {n / seconds:,.0f} games/s")


def trees() -> None:
    crowd = "board [3/3 ready; 2/4 ready; 4/2 ready; 1/5T ready; 2/2W ready 2]"
    position = parse_position(
        f"turn 9 first | hero 30 {crowd} hand [2:2/2C; 3:3/3R; 1:1/1] | hero 30 {crowd}"
    )
    leaves = perft(position, 6)
    seconds = best_seconds(lambda: perft(position, 6))
    rate = leaves / seconds / 1e6
    print(f"perft to depth 6, five minions a side: {leaves:,d} leaves, {rate:.0f} million a second")


def startup() -> None:
    """Time a first process (empty cache: it compiles) and a second one (it loads)."""
    program = (
        "from engine import *; d = find_deck('thesis-paladin'); play(RandomAgent(), RandomAgent(), (d, d), 1)"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name in ("first process, compiling", "second process, from the cache"):
            began = time.perf_counter()
            environment = {**os.environ, "MANAFORGE_CACHE_DIR": folder}
            subprocess.run(
                [sys.executable, "-c", program], check=True, env=environment, stderr=subprocess.PIPE
            )
            print(f"{name}: {time.perf_counter() - began:.1f} s to a finished game")


if __name__ == "__main__":
    games_a_second()
    copies()
    python_games()
    trees()
    startup()
