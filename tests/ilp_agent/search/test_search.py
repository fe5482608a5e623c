"""The search against other solvers, against itself without reductions, and against what happens in games."""

from itertools import pairwise

import numpy as np
import pytest

from engine import Action, Position, parse_position
from engine.codes import ActionKind
from engine.state import STATE
from ilp_agent import Status, TurnProblem, Weights, solve
from ilp_agent.search.backend import SearchSolver, search_position
from ilp_agent.search.card_facts import compute_card_facts
from ilp_agent.search.work import SOLUTION, SearchMemory
from ilp_agent.turn import CardTurn
from ilp_agent.weights import N_TERMS, Term
from tests.conftest import BOUNDSCHECK, UNCOMPILED, cases, heavy
from tests.ilp_agent.positions import random_position, random_weights
from tests.ilp_agent.search.brute import brute_force
from tests.ilp_agent.search.turns import (
    CHANCES,
    CLASS_DECKS,
    ILLEGAL,
    LIVELY_DECKS,
    SURPRISES,
    TURNS,
    UNPROVEN,
    Reached,
    follow_games,
    reached,
    searching,
    within_reach,
)

compiled = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")


def test_zeros_in_an_array_of_actions_end_the_turn() -> None:
    """The search writes no code where a turn ends."""
    assert Action.from_code(0) == Action.end_turn()


def value_of(turns: Reached, number: int, memory: SearchMemory, facts: np.ndarray) -> np.void:
    """What a search finds of one of the turns; dtype `SOLUTION`."""
    solved = np.zeros(1, SOLUTION)
    states = turns.states[number : number + 1]
    search_position(states, turns.table.array.copy(), turns.weights[number], facts, *memory, solved)
    return solved[0]


# Bodies: the exact solver


def equals_exact(seeds: range, most: int, full: bool) -> None:
    """On positions of bodies where board and hand fit on a board, or, with the program's places, on full ones."""
    memory, solved = searching(200_000, reduced=False, slots=full), np.zeros(1, SOLUTION)
    over = 0
    for seed in seeds:
        pick = np.random.default_rng([77, seed])
        if full:
            m, h, e = int(pick.integers(4, 8)), int(pick.integers(1, 6)), int(pick.integers(0, 5))
        else:
            m, e = int(pick.integers(0, 5)), int(pick.integers(0, 5))
            h = int(pick.integers(0, 8 - m))
        position = random_position(pick, m, h, e, chance=0.25, strength=5, hero=25)
        weights = random_weights(pick)
        best = solve(TurnProblem.from_position(position), Weights.from_array(weights), "exact").objective
        facts = compute_card_facts(position.table.array.copy())
        for reduced in (0, 1) if not full else (0,):
            memory.start["reduced"] = reduced
            search_position(position.states, position.table.array.copy(), weights, facts, *memory, solved)
            if solved["unproven"][0]:
                over += 1
                break
            assert solved["value"][0] == pytest.approx(best, abs=1e-6), f"{position} {weights.tolist()}"
    assert over <= most


@compiled
def test_turns_of_bodies_are_worth_what_the_exact_solver_finds() -> None:
    equals_exact(range(cases(300, 1_200)), 0, full=False)


@compiled
def test_full_boards_are_worth_what_the_exact_solver_finds_with_its_places() -> None:
    equals_exact(range(cases(60, 300)), cases(2, 6), full=True)


@pytest.mark.heavy
@pytest.mark.nightly
@compiled
def test_3_000_turns_of_bodies() -> None:
    equals_exact(range(2_000, 5_000), 10, full=False)
    equals_exact(range(2_000, 2_300), 20, full=True)


@pytest.mark.long
@compiled
def test_10_000_turns_of_bodies() -> None:
    equals_exact(range(2_000, 12_000), 10, full=False)
    equals_exact(range(2_000, 3_000), 40, full=True)


# Real cards: the search without reductions


def equals_plain(deck: str, n: int, limit: int, extended: bool, health: int = 0) -> tuple[int, int]:
    """Every turn is worth the same with reductions; turns compared, and those over the limit without them.

    With `health`, the other hero has at most so much of it.
    """
    turns = reached((deck,), n, 7, extended)
    if health:
        turns = within_reach(turns, health, 7)
    facts, memory = compute_card_facts(turns.table.array), searching(limit)
    over = 0
    for number in range(n):
        values = []
        for reduced in (1, 0):
            memory.start["reduced"] = reduced
            solved = value_of(turns, number, memory, facts)
            values.append(float(solved["value"]))
        if solved["unproven"]:
            over += 1
        else:
            where = f"{turns.position(number)} {turns.weights[number].tolist()}"
            assert values[0] == pytest.approx(values[1], rel=1e-9, abs=1e-9), where
    return n - over, over


@compiled
@pytest.mark.parametrize("extended", [False, True], ids=["thesis", "extended"])
@pytest.mark.parametrize("deck", CLASS_DECKS)
def test_reductions_lose_nothing(deck: str, extended: bool) -> None:
    turns = cases(30, 120)
    compared, _ = equals_plain(deck, turns, 20_000, extended)
    assert compared > 0.75 * turns


@compiled
@pytest.mark.parametrize("extended", [False, True], ids=["thesis", "extended"])
@pytest.mark.parametrize("deck", CLASS_DECKS)
def test_reductions_lose_nothing_where_the_hero_may_die(deck: str, extended: bool) -> None:
    compared, _ = equals_plain(deck, cases(30, 60), 10_000, extended, health=15)
    assert compared > cases(8, 20)


@pytest.mark.long
@compiled
@pytest.mark.parametrize("deck", CLASS_DECKS)
def test_reductions_lose_nothing_on_1_000_turns_in_which_the_hero_may_die(deck: str) -> None:
    compared, _ = equals_plain(deck, 1_000, 20_000, True, health=15)
    print(f"{deck}: {compared} turns alike")
    assert compared > 500


@pytest.mark.long
@compiled
@pytest.mark.parametrize("deck", CLASS_DECKS)
def test_reductions_lose_nothing_on_10_000_turns(deck: str) -> None:
    compared, over = equals_plain(deck, 10_000, 400_000, False)
    assert compared > 9_500
    print(f"{deck}: {compared} turns alike, {over} over the limit")


# Real cards: what a turn needs to be kept


def equals_all_kept(deck: str, n: int, limit: int, most_over: float) -> None:
    """Every turn is worth the same whether all is kept that any card of the game asks for, or what the turn does."""
    turns = reached((deck,), n, 11, True)
    facts, memory, over = compute_card_facts(turns.table.array), searching(limit), 0
    everything = facts.copy()
    everything["game_features"], everything["looks"] = everything["all_game_features"], 1
    for number in range(n):
        found = [value_of(turns, number, memory, of) for of in (facts, everything)]
        if found[0]["unproven"] or found[1]["unproven"]:
            over += 1
            continue
        where = f"{turns.position(number)} {turns.weights[number].tolist()}"
        assert found[0]["value"] == pytest.approx(found[1]["value"], rel=1e-9, abs=1e-9), where
    assert over <= most_over * n


@compiled
@pytest.mark.parametrize("deck", LIVELY_DECKS)
def test_a_turn_needs_no_more_than_it_keeps(deck: str) -> None:
    equals_all_kept(deck, cases(10, 20), 800, 0.7)


@pytest.mark.long
@compiled
@pytest.mark.parametrize("deck", LIVELY_DECKS)
def test_2_000_turns_need_no_more_than_they_keep(deck: str) -> None:
    equals_all_kept(deck, 2_000, 10_000, 0.15)


# Real cards: every legal sequence


def equals_brute_force(deck: str, n: int, extended: bool, health: int, most: int) -> tuple[int, int, int]:
    """Turns compared, left out since chance has a part in them, and left out since there are too many sequences."""
    turns = reached((deck,), n, 13, extended)
    if health:
        turns = within_reach(turns, health, 13)
    facts, memory, counts = compute_card_facts(turns.table.array), searching(20_000), np.zeros(3, np.int64)
    for number in range(n):
        cards, weights = turns.table.array, turns.weights[number]
        best, tried = brute_force(turns.states[number : number + 1], cards, weights, most)
        if tried < 0:
            counts[-tried] += 1
            continue
        counts[0] += 1
        for reduced in (0, 1):
            memory.start["reduced"] = reduced
            found = value_of(turns, number, memory, facts)
            where = f"{turns.position(number)} {weights.tolist()}"
            assert not found["unproven"], where
            assert found["value"] == pytest.approx(best, rel=1e-9, abs=1e-9), where
    return int(counts[0]), int(counts[1]), int(counts[2])


@compiled
@pytest.mark.parametrize("health", [0, 12])
@pytest.mark.parametrize("deck", CLASS_DECKS)
def test_small_turns_are_worth_the_best_sequence(deck: str, health: int) -> None:
    compared, _, _ = equals_brute_force(deck, cases(50, 100), True, health, 2_000)
    assert compared > cases(3, 4)  # of a shaman few: its power is chance


@compiled
@pytest.mark.parametrize("deck", LIVELY_DECKS)
def test_small_turns_of_lively_decks_are_worth_the_best_sequence(deck: str) -> None:
    compared, _, _ = equals_brute_force(deck, cases(30, 60), True, 0, 400)
    assert compared > cases(2, 3)


BLOWS = ("Consecration", "Hellfire", "Arcane Shot", "Holy Nova", "Drain Life", "Whirlwind", "Moonfire")
HEALERS = ("Mistress of Mixtures", "Zombie Chow", "Abomination", "Leper Gnome", "Wisp", "Voodoo Doctor")


def about_to_die(seed: int) -> str:
    """A position in which both heroes have little health, and minions of both heal or hurt them as they die."""
    pick = np.random.default_rng([88, seed])
    halves = []
    for own in (True, False):
        board = pick.choice(HEALERS, int(pick.integers(0, 3)))
        ready = " ready" if own else ""
        minions = [f"{name}*{ready if pick.random() < 0.7 else ''}" for name in board]
        half = (
            f"hero {int(pick.integers(1, 7))} mana {int(pick.integers(2, 8))}/8 board [{'; '.join(minions)}]"
        )
        if own:
            half += (
                f" hand [{'; '.join(f'{name}*' for name in pick.choice(BLOWS, int(pick.integers(1, 3))))}]"
            )
            half += " weapon [Fiery War Axe*] attacks 1" if pick.random() < 0.5 else ""
        halves.append(half)
    return f"turn 9 | {halves[0]} | {halves[1]}"


@compiled
def test_a_hero_without_health_is_not_healed_back_in_the_search() -> None:
    memory, solved, won, lost = searching(20_000), np.zeros(1, SOLUTION), 0, 0
    for seed in range(cases(60, 400)):
        position = parse_position(about_to_die(seed))
        weights = np.random.default_rng([89, seed]).random(N_TERMS)
        weights[Term.LETHAL], weights[Term.HOLD] = 100.0, 0.0
        cards = position.table.array.copy()
        best, tried = brute_force(position.states, cards, weights, 20_000)
        assert tried > 0, position
        won, lost = won + (best > 90), lost + (best < 0)
        for reduced in (0, 1):
            memory.start["reduced"] = reduced
            search_position(position.states, cards, weights, compute_card_facts(cards), *memory, solved)
            assert not solved["unproven"][0]
            assert solved["value"][0] == pytest.approx(best, rel=1e-9, abs=1e-9), position
    assert won > 5
    assert lost > 0


@pytest.mark.long
@compiled
@pytest.mark.parametrize("deck", CLASS_DECKS + LIVELY_DECKS)
def test_2_000_small_turns_are_worth_the_best_sequence(deck: str) -> None:
    compared, _, _ = equals_brute_force(deck, 2_000, True, 20, 100_000)
    print(f"{deck}: {compared} turns alike")
    assert compared > 50


# What a plan promises


@compiled
@pytest.mark.parametrize("deck", CLASS_DECKS + LIVELY_DECKS)
def test_terms_sum_to_the_objective(deck: str) -> None:
    n = cases(15, 60)
    turns, solver = within_reach(reached((deck,), n, 9, True), 20, 9), SearchSolver()
    for number in range(n):
        position, weights = turns.position(number), Weights.from_array(turns.weights[number])
        plan = solver.solve(CardTurn(position), weights, 5_000)
        assert sum(plan.terms) == pytest.approx(plan.objective, rel=1e-9, abs=1e-9), position
        assert plan.status in (Status.OPTIMAL, Status.FEASIBLE)


def test_a_minion_that_draws_waits_for_a_place() -> None:
    """Drawn cards come first where they may: not while the board is full."""
    position = parse_position(
        "turn 17 first effects 2 | hero 21 mana 10/10 power [Armor Up! 2*] board [Gnomish Inventor 4:2/4* now 2/2"
        " ready; Shattered Sun Cleric 3:3/2* now 3/1 ready; Razorfen Hunter 3:2/3* now 2/1 ready; Boar 1:1/1* ready;"
        " Sen'jin Shieldmasta 4:3/5T* now 3/3T ready; Razorfen Hunter 3:2/3* ready; Boar 1:1/1* ready]"
        " hand [Gnomish Inventor 4:2/4*] deck [Heroic Strike 2*] | hero 11 board [Boulderfist Ogre 6:6/7* ready]"
    )
    weights = Weights(lethal=24, clear=20, face=10, threat=20, survive=4, damage=24, trade=4, play=8)
    plan = solve(CardTurn(position), weights, "search")
    for action in plan.actions:
        assert action in position.legal_actions()
        position.play(action)
    assert plan.actions[-1] == Action(ActionKind.PLAY, 0, 0)
    assert plan.again


def test_nothing_follows_an_attack_that_kills() -> None:
    """A spell on the own Ogre comes after the Ogre's attack, but not after the last blow."""
    position = parse_position(
        "turn 13 first effects 2 | hero 13 mana 10/10 power [Lesser Heal 2*] board [Chillwind Yeti 4:4/5* now 4/2"
        " ready; Chillwind Yeti 4:4/5* now 4/2 ready; Boulderfist Ogre 6:6/7* now 6/5 ready]"
        " hand [Shadow Word: Death 3*; Shadow Word: Pain 2*] | hero 1"
    )
    weights = Weights(lethal=24, clear=20, face=10, threat=20, survive=4, damage=24, trade=4, play=8)
    plan = solve(CardTurn(position), weights, "search")
    reference = solve_plain(position, weights)
    assert plan.objective == pytest.approx(reference)
    for action in plan.actions:
        assert action in position.legal_actions()
        position.play(action)


def solve_plain(position: Position, weights: Weights) -> float:
    """What a turn is worth by the search without reductions."""
    memory, solved = searching(10_000, reduced=False), np.zeros(1, SOLUTION)
    facts = compute_card_facts(position.table.array.copy())
    search_position(position.states, position.table.array.copy(), weights.full_array, facts, *memory, solved)
    return float(solved["value"][0])


def follow(n: int, seed: int, names: tuple[str, ...] = CLASS_DECKS) -> tuple[np.ndarray, np.ndarray]:
    """Follow `n` games on decks, the class decks if not told; counts, and sums of what was predicted and realised."""
    from engine import find_deck, find_ruleset
    from engine.batches import deal_games
    from engine.decks import cached_card_table

    decks = tuple(map(find_deck, names))
    table, records = cached_card_table(decks)
    pick = np.random.default_rng(seed)
    weights = np.vstack([reached((CLASS_DECKS[0],), 60, 9, extended).weights[:20] for extended in (0, 1)])
    states, keys = np.zeros(n, STATE), pick.integers(0, 2**63, n, dtype=np.uint64)
    agents = pick.integers(0, len(weights), (n, 2))
    numbers = pick.integers(0, len(decks), (n, 2))
    deal_games(table.array, records, find_ruleset("standard").array, numbers, keys, states)
    counts, sums = np.zeros(5, np.int64), np.zeros((3, 3))
    facts, memory = compute_card_facts(table.array), searching(2_000)
    follow_games(table.array, weights, agents, states, keys, facts, *memory, counts, sums)
    return counts, sums


def comes_true(n: int, seed: int) -> None:
    """Every step is legal, every certain step leads where it was seen to, and expectations have no bias."""
    counts, sums = follow(n, seed)
    assert counts[ILLEGAL] == 0
    assert counts[SURPRISES] == 0
    assert counts[CHANCES] > n / 4
    for predicted, realised, squares in sums:
        assert abs(predicted - realised) <= 4 * np.sqrt(squares) + 1e-6
    print(
        f"{counts[TURNS]:,} turns solved, {counts[UNPROVEN]:,} unproven, {counts[CHANCES]:,} chances; predicted "
        + "; ".join(
            f"{one:,.1f}, realised {two:,.1f} (+- {1.96 * three**0.5:,.1f})" for one, two, three in sums
        )
    )


@compiled
def test_plans_come_true() -> None:
    comes_true(150, 3)


@compiled
@pytest.mark.parametrize(
    "decks",
    [
        *((deck,) for deck in LIVELY_DECKS),
        LIVELY_DECKS[:2],
        *heavy(*((pair,) for pair in pairwise(LIVELY_DECKS[1:]))),
    ],
    ids="-".join,
)
def test_plans_of_lively_decks_are_legal(decks: tuple[str, ...]) -> None:
    """Cards that nobody has seen change what follows, and then the turn is solved again."""
    counts, _ = follow(12, 5, decks)
    assert counts[ILLEGAL] == 0
    assert counts[TURNS] > 100


@pytest.mark.long
@compiled
def test_plans_of_100_000_turns_come_true() -> None:
    comes_true(3_700, 4)
