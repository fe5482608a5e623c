"""Speed of the solvers on the same turns, on one core: microseconds a turn and games a second.

Run with `make bench`. Turns in play are recorded from games between the shipped profiles; the random ones
have seven minions a side, ten cards and every keyword. All is compiled before it is timed. `exact` is the
kernel that games run, warm; `solve(exact)` and the other solvers are whole Python calls on a sample of turns.
"""

import time

import numpy as np

from engine import MinionSpec, find_deck, find_ruleset, play
from engine.batches import begin_logs, deal_games
from engine.codes import KEYWORD_FIELDS, ActionKind, Outcome
from engine.decks import build_card_table, deck_records
from engine.jit import njit
from engine.rules import apply, encode, outcome
from engine.state import EVENTS, STATE, new_game
from engine.streams import stream_key
from ilp_agent import DEFAULT_BACKEND, IlpAgent, TurnProblem, Weights, find_profile, shipped_profiles, solve
from ilp_agent.backends import installed_backends
from ilp_agent.exact.kernel import solve_exact_turn
from ilp_agent.exact.plan_record import MAX_STEPS, PLAN, TRACKER, execute_plan
from ilp_agent.exact.work import new_layers, new_work
from ilp_agent.selfplay import exact_batch
from ilp_agent.turn import TURN, read_turn
from ilp_agent.weights import N_TERMS, N_WEIGHTS
from rivals.batch import TURNS
from tests.ilp_agent.turns import problem_of

PROFILES = [find_profile(name) for name in shipped_profiles()]
WEIGHTS = np.array([profile.weights.full_array for profile in PROFILES])
PLAYED, RANDOM, SLOW, REPEATS = 4_000, 2_000, 300, 20
GAMES, OUTSIDE_GAMES = 20_000, 8
OUTSIDE = [entry.name for entry in installed_backends() if not entry.compiled]
"""The installed backends that are not compiled."""


@njit
def record(state, cards, weights, turn, plan, tracker, work, layers, turns, whose, n):  # type: ignore[no-untyped-def]
    """Play a dealt game, recording its turns and the seat of each; returns the number of turns so far."""
    events, codes = np.zeros(1, EVENTS), np.zeros(MAX_STEPS, np.int64)
    while outcome(state) == Outcome.ONGOING and n < len(turns):
        seat = state["active"]
        read_turn(state, cards, turn)
        turns[n] = turn
        whose[n] = seat
        n += 1
        solve_exact_turn(turn, weights[seat], work, layers, plan)
        again = execute_plan(state, cards, turn, plan, tracker, events[0], codes)[1]
        if not again and outcome(state) == Outcome.ONGOING:
            apply(state, cards, encode(ActionKind.END_TURN, 0, 0), events[0])
    return n


@njit
def solve_often(turn, weights, work, layers, plan, n):  # type: ignore[no-untyped-def]
    """Solve one turn `n` times, so that the call from Python is negligible."""
    for _ in range(n):
        solve_exact_turn(turn, weights, work, layers, plan)


def recorded_turns(names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Turns of games on these decks, with the weights of the player to move."""
    decks = [find_deck(name) for name in names]
    table = build_card_table(decks)
    records = deck_records(decks, table)
    state, turn, plan = np.zeros(1, STATE)[0], np.zeros(1, TURN)[0], np.zeros(1, PLAN)[0]
    work, layers, tracker = new_work(), new_layers(), np.zeros(1, TRACKER)[0]
    turns, whose = np.zeros(PLAYED, TURN), np.zeros(PLAYED, np.int64)
    weights = np.zeros((PLAYED, N_TERMS))
    pick, rules = np.random.default_rng(1), find_ruleset("thesis").array
    n = game = 0
    while n < PLAYED:
        first, second = pick.integers(len(decks), size=2)
        pair = WEIGHTS[pick.integers(len(WEIGHTS), size=2)]
        new_game(
            state,
            table.array,
            records[first],
            records[second],
            rules,
            stream_key(1, game),
        )
        end = record(state, table.array, pair, turn, plan, tracker, work, layers, turns, whose, n)
        weights[n:end] = pair[whose[n:end]]
        n, game = end, game + 1
    return turns, weights


def random_turns() -> tuple[np.ndarray, np.ndarray]:
    """Seven against seven minions, ten cards, each keyword with probability 0.2, random weights."""
    turns = np.zeros(RANDOM, TURN)
    for number in range(RANDOM):
        pick = np.random.default_rng([5, number])

        def minion(cost: int, pick: np.random.Generator = pick) -> MinionSpec:
            flags = {name: bool(pick.random() < 0.2) for name in KEYWORD_FIELDS}
            return MinionSpec(int(pick.integers(0, 9)), int(pick.integers(1, 10)), cost, **flags)

        problem = TurnProblem.build(
            friendly=[minion(0) for _ in range(7)],
            hand=[minion(int(pick.integers(0, 9))) for _ in range(10)],
            enemy=[minion(0) for _ in range(7)],
            mana=int(pick.integers(1, 11)),
            enemy_hero=int(pick.integers(1, 31)),
        )
        turns[number] = problem.record
    weights = np.zeros((RANDOM, N_TERMS))
    weights[:, :N_WEIGHTS] = np.random.default_rng(6).random((RANDOM, N_WEIGHTS))
    return turns, weights


def exact_times(turns: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Microseconds of each complete plan (search, order, prediction)."""
    work, layers, plan = new_work(), new_layers(), np.zeros(1, PLAN)[0]
    solve_often(turns[0], weights[0], work, layers, plan, 1)
    times = []
    for turn, vector in zip(turns, weights, strict=True):
        began = time.perf_counter()
        solve_often(turn, vector, work, layers, plan, REPEATS)
        times.append((time.perf_counter() - began) / REPEATS * 1e6)
    return np.array(times)


def solver_times(backend: str, turns: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Microseconds of each `solve`, with building and reading the plan, on a sample of the turns."""
    times = []
    step = max(1, len(turns) // SLOW)
    for turn, vector in zip(turns[::step], weights[::step], strict=True):
        problem, chosen = problem_of(turn), Weights.from_array(vector)
        began = time.perf_counter()
        solve(problem, chosen, backend)
        times.append((time.perf_counter() - began) * 1e6)
    return np.array(times[1:])


def games_a_second() -> dict[str, float]:
    """Whole games on the thesis decks: compiled batch for exact, the Agent loop for the others."""
    decks = [find_deck("thesis-paladin"), find_deck("thesis-warrior")]
    table = build_card_table(decks)
    n = GAMES
    pick = np.random.default_rng(2)
    agents, numbers = pick.integers(len(WEIGHTS), size=(n, 2)), pick.integers(2, size=(n, 2))
    keys = np.array([stream_key(2, game) for game in range(n)], np.uint64)
    records, rules = deck_records(decks, table), find_ruleset("thesis").array
    for games in (1, n):  # the first compiles
        states, used = np.zeros(games, STATE), np.zeros(games, TURNS)
        began = time.perf_counter()
        deal_games(table.array, records, rules, numbers[:games], keys[:games], states)
        exact_batch(table.array, WEIGHTS, agents[:games], states, agents, begin_logs(keys[:games]), used)
        seconds = time.perf_counter() - began
    speeds = {DEFAULT_BACKEND: n / seconds}
    for backend in OUTSIDE:
        began = time.perf_counter()
        for game in range(OUTSIDE_GAMES):
            pair = [IlpAgent(PROFILES[agent], backend) for agent in agents[game]]
            play(pair[0], pair[1], (decks[numbers[game, 0]], decks[numbers[game, 1]]), 2, (game,))
        speeds[backend] = OUTSIDE_GAMES / (time.perf_counter() - began)
    return speeds


def windfury_time(attackers: int) -> float:
    """Seconds of a crafted turn with this many ready Windfury minions against seven enemies."""
    pick = np.random.default_rng(attackers)
    friendly = [
        MinionSpec(int(pick.integers(1, 6)), int(pick.integers(2, 8)), windfury=place < attackers)
        for place in range(7)
    ]
    enemy = [MinionSpec(int(pick.integers(0, 7)), int(pick.integers(2, 9))) for _ in range(7)]
    problem = TurnProblem.build(friendly=friendly, enemy=enemy, mana=0, enemy_hero=30)
    began = time.perf_counter()
    solve(problem, PROFILES[0].weights)
    return time.perf_counter() - began


def show(name: str, times: np.ndarray) -> None:
    p50, p99 = np.percentile(times, [50, 99])
    print(f"{name:<10} median {p50:.1f} us, p99 {p99:.1f}, max {times.max():.1f}, mean {times.mean():9.1f}")


if __name__ == "__main__":
    sets = {
        "turns in play, thesis decks": recorded_turns(("thesis-paladin", "thesis-warrior")),
        "turns in play, all decks": recorded_turns(
            ("thesis-paladin", "thesis-warrior", "hearthsim-basic", "random-minions")
        ),
        "random 7 against 7, 10 cards, all keywords": random_turns(),
    }
    for name, (turns, weights) in sets.items():
        print(name)
        exact = exact_times(turns, weights)
        show("  exact", exact)
        show("  solve(exact)", solver_times(DEFAULT_BACKEND, turns, weights))
        for backend in OUTSIDE:
            times = solver_times(backend, turns, weights)
            show(f"  {backend}", times)
            print(
                f"  {backend} takes {times.mean() / exact.mean():,.0f} times as long on average as the kernel"
            )
    for attackers in (5, 6, 7):
        print(f"{attackers} Windfury attackers against 7 enemies: {windfury_time(attackers):.2f} s")
    speeds = games_a_second()
    print(
        "games a second on the thesis decks: "
        + ", ".join(f"{name} {speed:,.1f}" for name, speed in speeds.items())
    )
    for backend in OUTSIDE:
        print(
            f"exact plays {speeds[DEFAULT_BACKEND] / speeds[backend]:,.0f} times as many games as {backend}"
        )
