"""Turns for the solvers: reached in play, and random ones."""

from functools import cache

import numpy as np

from engine.minion import MinionSpec, keyword_flags_of
from ilp_agent import TurnProblem, Weights
from tests.ilp_agent.positions import random_position, random_weights


def problem_of(turn: np.void) -> TurnProblem:
    """A TURN record as a problem."""

    def spec(record: np.void, **more: object) -> MinionSpec:
        flags = keyword_flags_of(int(record["keywords"]))
        return MinionSpec(int(record["attack"]), int(record["health"]), **flags, **more)

    m, h, n = (int(turn[name]) for name in ("n_board", "n_hand", "n_enemies"))
    friends = turn["friends"]
    return TurnProblem(
        tuple(spec(f, attacks_left=int(f["attacks"])) for f in friends[:m]),
        tuple(spec(f, cost=int(f["cost"]), value=float(f["value"])) for f in friends[m : m + h]),
        tuple(spec(e) for e in turn["enemies"][:n]),
        int(turn["mana"]),
        int(turn["hero"]),
        bool(turn["coin"]),
        frozenset(i for i in range(m) if not friends[i]["hits_hero"]),
    )


@cache
def reached(n: int) -> list[TurnProblem]:
    """Turns of games on all decks, with every keyword, between random profiles; not the empty first ones."""
    from tests.ilp_agent.test_selfplay import checked

    turns = checked(4_000, "standard", 80_000)[1]
    full = [turn for turn in turns if turn["n_board"] + turn["n_hand"] and turn["n_enemies"]]
    return [problem_of(turn) for turn in full[:: max(1, len(full) // n)][:n]]


def random_turn(number: int) -> tuple[TurnProblem, Weights]:
    """Up to 7 against 7 with 10 cards."""
    pick = np.random.default_rng([7, number])
    sizes = int(pick.integers(0, 8)), int(pick.integers(0, 10)), int(pick.integers(0, 8))
    position = random_position(pick, *sizes, chance=0.2, strength=8, enemy_lifesteal=True)
    return TurnProblem.from_position(position), Weights.from_array(random_weights(pick))
