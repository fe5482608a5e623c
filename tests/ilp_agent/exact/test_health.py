"""What is left on the board and in hand (`body`, `wound`, full weights): the exact solver against the search, programs and the engine."""

import numpy as np
import pytest

from engine import MinionSpec
from engine.codes import Keyword
from engine.position import Position
from ilp_agent import Status, TurnProblem, Weights, solve
from ilp_agent.exact.backend import supports_weights
from ilp_agent.replay import position_from_problem
from ilp_agent.search.backend import search_position
from ilp_agent.search.card_facts import compute_card_facts
from ilp_agent.search.work import SOLUTION
from ilp_agent.weights import Term
from tests.conftest import BOUNDSCHECK, UNCOMPILED, cases
from tests.ilp_agent.exact.health import PROGRAMS, comes_true
from tests.ilp_agent.positions import random_position, random_weights
from tests.ilp_agent.search.turns import searching
from tests.ilp_agent.turns import reached

pytestmark = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")

LEFT = ("attack", "health", "taunt", "enemy_health", "enemy_hero", "hand", "hand_mana")
HEALTH = ("body", "wound", *LEFT)
INERT = (
    *("draw", "weapon", "frozen", "hold", "overload"),
    *("enemy_weapon", "spell_damage", "damage_spells", "secrets"),
)
"""Weights of what minions with keywords alone do not have."""


# The search: all legal sequences of actions


class Comparison:
    """Searches without reductions, and how many of them met the limit of positions."""

    def __init__(self, limit: int = 200_000) -> None:
        self.memory = searching(limit, reduced=False)
        self.solved = np.zeros(1, SOLUTION)
        self.compared = self.over = 0

    def compare(self, position: Position, weights: np.ndarray, places: bool) -> None:
        """`places`: whether the search uses places on the board as the program does."""
        problem, chosen = TurnProblem.from_position(position), Weights.from_array(weights)
        if not supports_weights(problem.record, weights):
            weights[Term.SHIELD] = 0.0
            chosen = Weights.from_array(weights)
        self.memory.start["slots"] = places
        facts = compute_card_facts(position.table.array.copy())
        search_position(
            position.states, position.table.array.copy(), weights, facts, *self.memory, self.solved
        )
        if self.solved["unproven"][0]:
            self.over += 1
            return
        plan = solve(problem, chosen, "exact")
        assert plan.status == Status.OPTIMAL
        best = float(self.solved["value"][0])
        assert plan.objective == pytest.approx(best, rel=1e-9, abs=1e-6), f"{position} {weights.tolist()}"
        comes_true(problem, chosen, plan)
        self.compared += 1


def random_turns(seeds: range, full: bool) -> Comparison:
    """Boards and hands that fit on a board, or full boards with the program's places."""
    tried = Comparison()
    for seed in seeds:
        pick = np.random.default_rng([79, seed])
        if full:
            m, h, e = int(pick.integers(4, 8)), int(pick.integers(1, 6)), int(pick.integers(0, 5))
        else:
            m, e = int(pick.integers(0, 5)), int(pick.integers(0, 5))
            h = int(pick.integers(0, 8 - m))
        position = random_position(pick, m, h, e, float(pick.choice([0.1, 0.25, 0.4])), 5, 25)
        tried.compare(position, random_weights(pick, HEALTH + INERT), full)
    return tried


def test_random_turns_are_worth_what_the_search_finds() -> None:
    tried = random_turns(range(cases(400, 2_000)), full=False)
    assert tried.over <= 2


def test_full_boards_are_worth_what_the_search_finds_with_the_places_of_the_program() -> None:
    tried = random_turns(range(cases(80, 300)), full=True)
    assert tried.over <= 10


def windfury_turns(seeds: range) -> Comparison:
    """Up to four Windfury minions and as many enemies, half of them shielded, every attack another number."""
    tried = Comparison(400_000)
    for seed in seeds:
        pick = np.random.default_rng([83, seed])

        def minion(windfury: float, taunt: float, pick: np.random.Generator = pick) -> MinionSpec:
            chances = {"windfury": windfury, "taunt": taunt, "divine_shield": 0.5, "poisonous": 0.1}
            flags = {name: bool(pick.random() < chance) for name, chance in chances.items()}
            return MinionSpec(int(pick.integers(0, 7)), int(pick.integers(1, 9)), **flags)

        friends = [minion(0.8, 0.1) for _ in range(int(pick.integers(1, 5)))]
        enemies = [minion(0.0, 0.2) for _ in range(int(pick.integers(1, 5)))]
        problem = TurnProblem.build(
            friendly=friends, enemy=enemies, mana=0, enemy_hero=int(pick.integers(1, 31))
        )
        weights = random_weights(pick, HEALTH)
        tried.compare(position_from_problem(problem), weights, False)
    return tried


def test_windfury_and_shields_are_worth_what_the_search_finds() -> None:
    tried = windfury_turns(range(cases(200, 700)))
    assert tried.over <= 20


def turns_in_play(n: int, seed: int) -> Comparison:
    """Turns reached in play; what an enemy's Lifesteal heals is outside the turn program."""
    tried = Comparison()
    pick = np.random.default_rng(seed)
    for problem in reached(n):
        weights = random_weights(pick, HEALTH + INERT)
        if not any(minion.lifesteal for minion in problem.enemy):
            tried.compare(position_from_problem(problem), weights, True)
    return tried


def test_turns_reached_in_play_are_worth_what_the_search_finds() -> None:
    turns = cases(80, 600)
    tried = turns_in_play(turns, 1)
    assert tried.compared > turns * 2 // 3


@pytest.mark.heavy
@pytest.mark.nightly
def test_10_000_random_turns_1_000_full_boards_and_5_000_in_play() -> None:
    several = (
        random_turns(range(3_000, 13_000), full=False),
        random_turns(range(3_000, 4_000), full=True),
        windfury_turns(range(3_000, 8_000)),
        turns_in_play(5_000, 2),
    )
    for tried in several:
        print(f"{tried.compared:,} turns alike, {tried.over:,} over the limit")
        assert tried.compared > 20 * tried.over


# The integer programs


def program_turn(number: int, pairs: bool) -> tuple[TurnProblem, Weights]:
    """Up to 5 against 4 with 4 cards; with `pairs`, most friends on board have Windfury and shields abound."""
    pick = np.random.default_rng([89, number])
    sizes = (int(pick.integers(0, 6)), int(pick.integers(0, 5)), int(pick.integers(0, 5)))
    position = random_position(pick, *sizes, 0.3, 6, enemy_lifesteal=True)
    if pairs:
        own, enemy = position.state["sides"]
        for side, keyword in (
            (own, Keyword.WINDFURY),
            (own, Keyword.DIVINE_SHIELD),
            (enemy, Keyword.DIVINE_SHIELD),
        ):
            side["board"]["keywords"] |= keyword * (pick.random(len(side["board"])) < 0.7)
        ready = (own["board"]["keywords"] & Keyword.WINDFURY) != 0
        own["board"]["attacks_left"] = np.where(ready, 2, own["board"]["attacks_left"])
    return TurnProblem.from_position(position), Weights.from_array(random_weights(pick, HEALTH + INERT))


def agrees(backend: str, turns: list[tuple[TurnProblem, Weights]]) -> None:
    for problem, weights in turns:
        where = f"{backend}: {problem} {weights}"
        plan, best = solve(problem, weights, backend), solve(problem, weights, "exact")
        assert plan.status == best.status == Status.OPTIMAL, where
        assert plan.objective == pytest.approx(best.objective, rel=1e-6, abs=1e-6), where
        comes_true(problem, weights, plan)
        comes_true(problem, weights, best)


def in_play(n: int, seed: int) -> list[tuple[TurnProblem, Weights]]:
    pick = np.random.default_rng(seed)
    return [(problem, Weights.from_array(random_weights(pick, HEALTH + INERT))) for problem in reached(n)]


@pytest.mark.parametrize("backend", PROGRAMS)
def test_programs_agree(backend: str) -> None:
    agrees(backend, [program_turn(number, pairs=number % 2 == 0) for number in range(cases(40, 200))])
    agrees(backend, in_play(cases(20, 100), 3))


@pytest.mark.heavy
@pytest.mark.nightly
@pytest.mark.parametrize("backend", PROGRAMS)
def test_programs_agree_on_2_500_turns(backend: str) -> None:
    agrees(backend, [program_turn(number, pairs=number % 2 == 0) for number in range(1_000, 2_500)])
    agrees(backend, in_play(1_000, 4))


@pytest.mark.long
@pytest.mark.parametrize("backend", PROGRAMS)
def test_programs_agree_on_10_000_turns(backend: str) -> None:
    agrees(backend, [program_turn(number, pairs=number % 2 == 0) for number in range(1_000, 7_000)])
    agrees(backend, in_play(4_000, 4))


# Where `hero` counts


def test_where_it_applies_hero_counts_nothing_and_the_search_agrees() -> None:
    memory, solved = searching(200_000, reduced=False), np.zeros(1, SOLUTION)
    met = 0
    for seed in range(1_500):
        pick = np.random.default_rng([97, seed])
        m, e = int(pick.integers(0, 4)), int(pick.integers(0, 4))
        position = random_position(pick, m, int(pick.integers(0, 4)), e, 0.15, 5, 25, wounded=True)
        weights = random_weights(pick, (*HEALTH, *INERT, "hero", "shield"))
        problem = TurnProblem.from_position(position)
        if not weights[Term.HERO] or not supports_weights(problem.record, weights):
            continue
        facts = compute_card_facts(position.table.array.copy())
        search_position(position.states, position.table.array.copy(), weights, facts, *memory, solved)
        best = solve(problem, Weights.from_array(weights), "exact").objective
        assert best == pytest.approx(float(solved["value"][0]), rel=1e-9, abs=1e-6), position
        met += 1
    assert met > 300
