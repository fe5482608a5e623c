"""Speed of `lookahead` on one core: games and turns a second by budget and depth, and a turn by its board.

Run with `make bench`. All is compiled before it is timed.
"""

import time
from collections import defaultdict

import numpy as np

from benchmarks.strength import DECKS
from engine import find_deck, find_ruleset
from engine.batches import begin_logs, deal_games, unknown_decks
from engine.codes import Outcome
from engine.decks import cached_card_table
from engine.effects.card_filters import has_effects
from engine.rules import outcome
from engine.state import STATE
from engine.streams import stream_key
from evo.play.entrants import find_entrant
from ilp_agent.lookahead.deck_prediction import table_and_library
from ilp_agent.lookahead.selfplay import COUNTERS, apply_plan, lookahead_kernels
from ilp_agent.lookahead.weights import kernel_rows

MINIONS = ("1", "8", "16", "64", "256", "512", "16,depth=1", "16,depth=3", "64,depth=3", "256,depth=3")
CLASSES = ("1", "8", "16", "64", "16,depth=3")
BOARDS = (2, 4, 6, 8, 10, 14)
"""Most minions on both boards of a class of positions."""

TURNS = 300
"""Turns timed of each class."""


def deal(decks: tuple[str, ...], n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cards, first positions and streams of games over all pairs of decks in turn."""
    table, records = cached_card_table(tuple(map(find_deck, decks)))
    numbers, states = np.arange(n), np.zeros(n, STATE)
    held = np.stack([numbers % len(decks), numbers // len(decks) % len(decks)], axis=1)
    keys = np.array([stream_key(1, int(number)) for number in numbers], np.uint64)
    deal_games(table.array, records, find_ruleset("thesis").array, held, keys, states)
    return table.array, states, keys


def by_budget(name: str, options: tuple[str, ...], n: int) -> None:
    """Whole games of the agent against itself."""
    for text in options:
        rows = kernel_rows(np.array([find_entrant(f"lookahead@{text}").player.row]))
        for games in (2, n):  # the first compiles
            cards, states, keys = deal(DECKS[name], games)
            real, use = has_effects(cards), np.zeros(games, COUNTERS)
            longer, library = table_and_library(cards, False, real, None)
            looking, memory = lookahead_kernels(longer)
            agents, dealt = np.zeros((games, 2), np.int64), unknown_decks(games)
            began = time.process_time()
            looking.play_games(longer, rows, agents, states, begin_logs(keys), (memory, dealt, library), use)
            seconds = time.process_time() - began
        turns, judged = int(use["turns"].sum()), int(use["judged"].sum())
        print(
            f"{name}, lookahead@{text}: {n / seconds:,.0f} games/s, {turns / seconds:,.0f} turns/s, "
            f"{1e6 * seconds / turns:,.0f} us and {judged / turns:.1f} positions judged a turn",
            flush=True,
        )


def by_board() -> None:
    """Turns of games, by the number of minions on both boards."""
    cards, states, _ = deal(DECKS["minions"], 400)
    library, (looking, memory) = table_and_library(cards, False, False, None)[1], lookahead_kernels(cards)
    for text in ("16", "64", "64,depth=3"):
        rows = kernel_rows(np.array([find_entrant(f"lookahead@{text}").player.row]))
        spent: dict[int, list[float]] = defaultdict(list)
        for game in range(len(states)):
            state = states[game : game + 1].copy()
            while outcome(state[0]) == Outcome.ONGOING:
                minions = int(state[0]["sides"]["n_board"].sum())
                began = time.perf_counter()
                looking.plan(state, cards, rows, 0, library, memory)
                spent[next(most for most in BOARDS if minions <= most)].append(time.perf_counter() - began)
                apply_plan(state[0], cards, memory.plan[0], memory.events[0])
        for most in BOARDS:
            times = np.array(spent[most][:TURNS]) * 1e6
            if len(times):
                print(
                    f"minions, lookahead@{text}, up to {most:>2} minions: median {np.median(times):,.0f} us, "
                    f"99 of 100 below {np.quantile(times, 0.99):,.0f} us ({len(times)} turns)",
                    flush=True,
                )


if __name__ == "__main__":
    by_budget("minions", MINIONS, 1_000)
    by_budget("classes", CLASSES, 54)
    by_board()
