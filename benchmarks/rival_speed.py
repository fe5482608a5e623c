"""Speed of the rivals on one core: compiled batches, and the `Agent` loop in Python.

Run with `make bench`. Everything is compiled before it is timed; the best of several repetitions is printed,
since other work on the machine can only slow one down.
"""

import time

import numpy as np

from benchmarks.engine_speed import best_seconds
from engine import find_deck, find_ruleset, play
from engine.batches import begin_logs, deal_games
from engine.decks import cached_card_table
from engine.state import STATE
from engine.streams import stream_key
from evo.play.entrants import find_entrant
from evo.play.games import Roster, Schedule, play_schedule
from ilp_agent.selfplay import SOLVER_STATISTICS, play_searched_games, search_memory
from rivals.hearthsim import BUDGET, score_rows

BATCHES = [
    ("hearthsim", "random-minions", 2_000),
    ("hearthsim", "thesis-paladin", 1_000),
    ("eva", "thesis-paladin", 2_000),
    ("greedy-ilp", "thesis-paladin", 2_000),
    ("aggro", "thesis-paladin", 5_000),
    ("ilp:true-balanced", "thesis-paladin", 2_000),
]
LOOPS = ["ilp:true-balanced", "eva", "hearthsim", "aggro", "random"]
LOOP_GAMES = 200


def batches() -> None:
    """Whole games of an agent against itself, compiled."""
    for text, deck, n in BATCHES:
        roster = Roster((find_entrant(text).player,), (find_deck(deck),), find_ruleset("hearthsim"))
        places = np.zeros((n, 2), np.int16)
        games = Schedule(places, places, np.array([stream_key(1, game) for game in range(n)], np.uint64))
        play_schedule(roster, games.select(slice(2)))
        seconds = best_seconds(lambda roster=roster, games=games: play_schedule(roster, games))
        print(f"compiled, {text} with {deck}: {n / seconds:,.0f} games/s")


def search_use() -> None:
    """Positions of hearthsim's searches, and the number of turns that used up their budget."""
    rows = score_rows(np.array([find_entrant("hearthsim").player.row]))
    paladin, warrior = "thesis-paladin", "thesis-warrior"
    for first, second in (
        ("random-minions", "random-minions"),
        ("hearthsim-basic", "hearthsim-basic"),
        (paladin, paladin),
        (paladin, warrior),
        (warrior, paladin),
        (warrior, warrior),
    ):
        cards, decks = cached_card_table((find_deck(first), find_deck(second)))
        n = 3_000
        states, use = np.zeros(n, STATE), np.zeros(n, SOLVER_STATISTICS)
        keys = np.array([stream_key(1, game) for game in range(n)], np.uint64)
        rules = find_ruleset("hearthsim").array
        deal_games(cards.array, decks, rules, np.tile([0, 1], (n, 1)), keys, states)
        began = time.perf_counter()
        agents = np.zeros((n, 2), np.int64)
        memory = search_memory(cards.array, BUDGET)
        play_searched_games(cards.array, rows, agents, states, begin_logs(keys), memory, use)
        seconds = time.perf_counter() - began
        turns, looked_at, ran_out = (int(use[name].sum()) for name in ("search", "states", "unproven"))
        print(
            f"hearthsim, {first} against {second}: {n / seconds:,.0f} games/s, "
            f"{looked_at / turns:.1f} positions a turn, {ran_out} of {turns:,} turns ran out of {BUDGET:,}"
        )


def loops() -> None:
    """Whole games through `engine.play`, views and checks included."""
    decks = find_deck("thesis-paladin"), find_deck("thesis-warrior")
    for text in LOOPS:
        agents = [find_entrant(text).player.agent() for _ in range(2)]
        play(*agents, decks, 0)

        def loop(agents: list = agents) -> None:  # type: ignore[type-arg]
            for seed in range(LOOP_GAMES):
                play(*agents, decks, seed)

        print(f"Agent loop, {text}: {LOOP_GAMES / best_seconds(loop):,.0f} games/s")


if __name__ == "__main__":
    batches()
    search_use()
    loops()
