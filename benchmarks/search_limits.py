"""What the limit of the turn search costs on real cards: turns proven, games a second, gaps, and Elo.

    python -m benchmarks.search_limits ilp:score.toml --games 2000

For each deck, mirror games of one profile under ruleset `standard`:

- proven: turns whose plan is the best for sure.
- games/s: games a second of CPU time, by the search alone and with the beam search after it.
- gap: by how much a plan falls short of the best that a hundred times the limit finds, in the objective, at
  most 30; mean over turns that are not proven, by the search alone and with the beam. Then missed wins.
- ten times: score of an agent with ten times the limit, beam included, against the default one, each deal
  played twice with the agents exchanged, with a 95% interval.
"""

import argparse
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from engine import Deck, find_deck, find_ruleset, shipped_decks
from engine.batches import begin_logs, deal_games, game_results, make_game_loop
from engine.codes import ActionKind, Outcome
from engine.decks import cached_card_table
from engine.jit import njit_no_alloc
from engine.rules import apply, encode, outcome
from engine.state import STATE
from evo.play.entrants import find_entrant
from evo.stats.ratings import points_of
from ilp_agent.search.kernel import search_turn
from ilp_agent.search.work import DEFAULT_COMPLEX_LIMIT, DEFAULT_LIMIT, SOLUTION, START, new_memory
from ilp_agent.selfplay import SOLVER_STATISTICS, SearchMemory, search_memory
from ilp_agent.weights import N_TERMS

TIMES, BEAM = N_TERMS, N_TERMS + 1
"""Columns of an agent's row after the weights: times the default limit, and whether a beam search follows."""

MOST_TIMES = 100


@njit_no_alloc
def solve(state: np.void, row: np.ndarray, memory: SearchMemory) -> None:
    """Search a turn with an agent's weights. `memory` is modified in place."""
    works, own = memory.works[0], memory.own_cards
    search_turn(state, own, row[:TIMES], memory.facts, works, memory.memo, memory.slots, memory.solved[0])


@njit_no_alloc
def take_turn(
    game: int,  # noqa: ARG001
    state: np.void,
    cards: np.ndarray,
    row: np.ndarray,
    chance: np.void,
    memory: SearchMemory,
    used: np.void,
) -> None:
    """Search and play a turn, or a part of it; step of `engine.batches.make_game_loop`."""
    solved, start = memory.solved[0], memory.works[0]["start"]
    set_limit(start, int(row[TIMES]))
    start["beam"] = int(row[BEAM])
    solve(state, row, memory)
    used["search"] += 1
    used["unproven"] += solved["unproven"]
    for step in range(solved["n"]):
        apply(state, cards, solved["actions"][step], chance)
    if not solved["again"] and outcome(state) == Outcome.ONGOING:
        apply(state, cards, encode(ActionKind.END_TURN, 0, 0), chance)


@njit_no_alloc
def set_limit(start: np.void, times: int) -> None:
    """Set the limits of positions to a multiple of the default ones. `start` is modified in place."""
    start["limit"], start["limit_kept"] = times * DEFAULT_LIMIT, times * DEFAULT_COMPLEX_LIMIT


play_games = make_game_loop(take_turn)


def dealt(deck: Deck, keys: np.ndarray) -> np.ndarray:
    """Mirror games as dealt from stream keys."""
    table, records = cached_card_table((deck,))
    states = np.zeros(len(keys), STATE)
    both = np.zeros((len(keys), 2), np.int64)
    deal_games(table.array, records, find_ruleset("standard").array, both, keys, states)
    return states


def play(deck: Deck, rows: np.ndarray, agents: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Play mirror games; returns the final positions, and statistics of the turns by game."""
    table, _ = cached_card_table((deck,))
    states, use = dealt(deck, keys), np.zeros(len(keys), SOLVER_STATISTICS)
    most = int(rows[:, TIMES].max())
    memory = search_memory(table.array, most * DEFAULT_LIMIT)
    play_games(table.array, rows, agents, states, begin_logs(keys), memory, use)
    return states, use


def speed(deck: Deck, weights: np.ndarray, games: int, beam: bool) -> tuple[float, float]:
    """Share of turns proven, and games a second of CPU time, in games of an agent against itself."""
    keys = np.random.default_rng(5).integers(0, 2**63, games, dtype=np.uint64)
    row, agents = np.array([[*weights, 1.0, float(beam)]]), np.zeros((games, 2), np.int64)
    began = time.process_time()
    _, use = play(deck, row, agents, keys)
    return 1 - use["unproven"].sum() / use["search"].sum(), games / (time.process_time() - began)


GAPS = np.dtype(
    [("turns", "i8"), ("alone", "f8"), ("beam", "f8"), ("missed_alone", "i8"), ("missed_beam", "i8")]
)
"""Turns not proven, sums of gaps, and missed wins."""

MOST_GAP = 30.0


@njit_no_alloc
def measure_turn(
    game: int,
    state: np.void,
    cards: np.ndarray,
    row: np.ndarray,
    chance: np.void,
    memory: tuple[SearchMemory, SearchMemory, np.ndarray],
    used: np.void,
) -> None:
    """As `take_turn`, and add the gaps of the turn to `used`; the memory has a large one and statistics."""
    default, large, statistics = memory
    start, solved = large.works[0]["start"], large.solved[0]
    before = default.works[0]["start"]
    set_limit(before, 1)
    set_limit(start, MOST_TIMES)
    start["beam"] = 1
    for beam in range(2):
        before["beam"] = beam
        own = default.solved[0]
        solve(state, row, default)
        if not own["unproven"]:
            break
        if beam == 0:
            solve(state, row, large)
            used["turns"] += 1
        gap = max(0.0, solved["value"] - own["value"])
        add_gap(used, beam, min(gap, MOST_GAP), gap > row[0] / 2)  # the first weight is lethal
    take_turn(game, state, cards, row, chance, default, statistics[game])


@njit_no_alloc
def add_gap(used: np.void, beam: int, gap: float, missed: bool) -> None:
    """Add a gap to the sums of the search alone (0) or with the beam (1). `used` is modified in place."""
    if beam:
        used["beam"] += gap
        used["missed_beam"] += missed
    else:
        used["alone"] += gap
        used["missed_alone"] += missed


measure_games = make_game_loop(measure_turn)


def gaps(deck: Deck, weights: np.ndarray, games: int) -> np.ndarray:
    """Sums over mirror games of the default agent, dtype `GAPS`, shape ()."""
    table, _ = cached_card_table((deck,))
    keys = np.random.default_rng(6).integers(0, 2**63, games, dtype=np.uint64)
    rows, agents = np.array([[*weights, 1.0, 1.0]]), np.zeros((games, 2), np.int64)
    states, found, statistics = dealt(deck, keys), np.zeros(games, GAPS), np.zeros(games, SOLVER_STATISTICS)
    default = search_memory(table.array)
    large = SearchMemory(
        table.array.copy(), default.facts, *new_memory(MOST_TIMES * DEFAULT_LIMIT), np.zeros(1, SOLUTION)
    )
    for name in START.names or ():
        large.works["start"][name] = default.works["start"][name]
    measure_games(table.array, rows, agents, states, begin_logs(keys), (default, large, statistics), found)
    return np.array(tuple(found[name].sum() for name in GAPS.names or ()), GAPS)


def ten_times(deck: Deck, weights: np.ndarray, games: int) -> tuple[float, float]:
    """Score of ten times the limit against the default one, and half the width of its 95% interval."""

    def part(seed: int) -> np.ndarray:
        keys = np.repeat(np.random.default_rng(seed).integers(0, 2**63, games // 4, dtype=np.uint64), 2)
        agents = np.tile([[0, 1], [1, 0]], (games // 4, 1))
        rows = np.array([[*weights, 10.0, 1.0], [*weights, 1.0, 1.0]])
        states, _ = play(deck, rows, agents, keys)
        outcomes, _ = game_results(states)
        return points_of(outcomes, agents[:, 0] == 0).reshape(-1, 2).mean(axis=1)

    with ThreadPoolExecutor(2) as threads:
        pairs = np.concatenate(list(threads.map(part, (7, 8))))
    return float(pairs.mean()), float(1.96 * pairs.std(ddof=1) / len(pairs) ** 0.5)


def main() -> None:
    """Measure each deck and print a line of a table."""
    parser = argparse.ArgumentParser(description="What the limit of the turn search costs.")
    parser.add_argument("entrant", help="ilp:PROFILE")
    parser.add_argument(
        "--decks", default="", help="with commas between them; all shipped decks with a class"
    )
    parser.add_argument("--games", type=int, default=400, help="of ten times the limit against the default")
    parser.add_argument("--watched", type=int, default=60, help="games for the other columns")
    given = parser.parse_args()
    player = find_entrant(given.entrant).player
    weights = np.array(player.row[:N_TERMS])
    names = (
        given.decks.split(",")
        if given.decks
        else [name for name in shipped_decks() if find_deck(name).hero_class]
    )
    print("| deck | proven | games/s | with beam | gap | with beam | wins missed | with beam | ten times |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for name in names:
        deck = find_deck(name)
        speed(deck, weights, 2, True)  # compiles
        proven, alone = speed(deck, weights, given.watched, False)
        _, both = speed(deck, weights, given.watched, True)
        found = gaps(deck, weights, given.watched)
        turns = max(1, int(found["turns"]))
        score, half = ten_times(deck, weights, given.games)
        print(
            f"| {name} | {proven:.1%} | {alone:.1f} | {both:.1f} | {found['alone'] / turns:.2f} | "
            f"{found['beam'] / turns:.2f} | {found['missed_alone']} of {turns} | {found['missed_beam']} | "
            f"{score:.1%} +- {half:.1%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
