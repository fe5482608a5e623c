"""Turns on real cards, reached in games of the search against itself; and what its plans come to there."""

from functools import cache
from typing import NamedTuple

import numpy as np

from engine import Position, find_deck, find_ruleset, shipped_decks
from engine.batches import deal_games
from engine.cards.table import CardTable
from engine.codes import MAX_ACTIONS, ActionKind, Outcome
from engine.decks import cached_card_table
from engine.effects.chance import begin_hypothetical, draw_from_stream
from engine.jit import njit
from engine.rules import apply, encode, legal_actions, outcome
from engine.state import EVENTS, STATE, TO_HERO, TO_MINIONS
from ilp_agent import find_profile, shipped_profiles
from ilp_agent.search.card_facts import compute_card_facts
from ilp_agent.search.chance import expected_gain
from ilp_agent.search.kernel import search_turn
from ilp_agent.search.work import SOLUTION, SearchMemory, new_memory
from ilp_agent.weights import N_TERMS

CLASS_DECKS = tuple(name for name in shipped_decks() if name.startswith("basic-"))
"""Decks of which no turn needs anything kept."""

LIVELY_DECKS = tuple(
    name for name in shipped_decks() if find_deck(name).hero_class and name not in CLASS_DECKS
)
"""Decks with auras, events, costs, choices and cards made at random."""


class Reached(NamedTuple):
    """Turns as they begin, with the weights of the player to move."""

    table: CardTable
    states: np.ndarray
    weights: np.ndarray

    def position(self, number: int) -> Position:
        """One of them."""
        return Position(self.states[number], self.table)


def searching(limit: int, reduced: bool = True, slots: bool = False) -> SearchMemory:
    """Memory for searches of at most so many positions."""
    memory = new_memory(limit)
    memory.start["limit"], memory.start["limit_kept"] = limit, limit
    memory.start["reduced"], memory.start["slots"] = reduced, slots
    return memory


def within_reach(turns: Reached, health: int, seed: int) -> Reached:
    """The same turns, but for the other hero's health: drawn from 1 to `health` where it was more."""
    pick, states = np.random.default_rng(seed), turns.states.copy()
    for state in states:
        enemy = state["sides"][1 - state["active"]]
        enemy["health"] = min(int(enemy["health"]), int(pick.integers(1, health + 1)))
    return turns._replace(states=states)


@cache
def reached(decks: tuple[str, ...], n: int, seed: int = 1, extended: bool = False) -> Reached:
    """The first `n` turns of games between shipped profiles, or weights drawn for all sixteen terms."""
    found = tuple(map(find_deck, decks))
    table, records = cached_card_table(found)
    pick = np.random.default_rng(seed)
    weights = np.array([find_profile(name).weights.full_array for name in shipped_profiles()])
    if extended:
        weights = pick.random((60, N_TERMS)) * pick.choice([0.0, 0.3, 1.0], (60, N_TERMS))
    games = n // 8 + 8
    keys = pick.integers(0, 2**63, games, dtype=np.uint64)
    agents = pick.integers(0, len(weights), (games, 2))
    states = np.zeros(games, STATE)
    numbers = pick.integers(0, len(found), (games, 2))
    deal_games(table.array, records, find_ruleset("standard").array, numbers, keys, states)
    turns, of_turns = np.zeros(n, STATE), np.zeros((n, N_TERMS))
    memory, facts = searching(2_000), compute_card_facts(table.array)
    collect(table.array, weights, agents, states, keys, facts, *memory, turns, of_turns)
    return Reached(table, turns, of_turns)


@njit
def collect(cards, weights, agents, states, chances, facts, works, memo, slots, turns, of_turns) -> None:  # type: ignore[no-untyped-def]
    """Play games, keeping each turn as it begins until `turns` is full."""
    solutions, played, own_cards = np.zeros(1, SOLUTION), np.zeros(1, EVENTS), cards.copy()
    n = 0
    for game in range(len(states)):
        state, solved = states[game], solutions[0]
        draw_from_stream(played[0], state, chances[game])
        again = 0
        while outcome(state) == Outcome.ONGOING and n < len(turns):
            own = weights[agents[game, state["active"]]]
            search_turn(state, own_cards, own, facts, works[0], memo, slots, solved)
            if not again:
                turns[n] = state
                of_turns[n] = own
                n += 1
            for step in range(solved["n"]):
                apply(state, cards, solved["actions"][step], played[0])
            again = solved["again"]
            if not again and outcome(state) == Outcome.ONGOING:
                apply(state, cards, encode(ActionKind.END_TURN, 0, 0), played[0])


TURNS, UNPROVEN, ILLEGAL, SURPRISES, CHANCES = range(5)
"""Counts of `follow_games`: turns solved, unproven, illegal steps, certain steps that led elsewhere, chances."""


@njit
def follow_games(  # type: ignore[no-untyped-def]
    cards, weights, agents, states, chances, facts, works, memo, slots, counts, sums
) -> None:
    """Play games and compare what plans predict with what happens.

    `sums` holds, for damage to heroes, damage to minions, and cards drawn by actions that chance decides or
    that draw: predicted, realised, and the sum of the squares of their differences; shape (3, 3).
    """
    solutions, events, actions = np.zeros(1, SOLUTION), np.zeros(2, EVENTS), np.empty(MAX_ACTIONS, np.int64)
    before, units, own_cards = np.zeros(2, STATE), np.eye(N_TERMS), cards.copy()
    for game in range(len(states)):
        state, solved = states[game], solutions[0]
        draw_from_stream(events[0], state, chances[game])
        while outcome(state) == Outcome.ONGOING:
            own = weights[agents[game, state["active"]]]
            search_turn(state, own_cards, own, facts, works[0], memo, slots, solved)
            counts[TURNS] += 1
            counts[UNPROVEN] += solved["unproven"]
            seat = state["active"]
            for step in range(solved["n"]):
                action = solved["actions"][step]
                n = legal_actions(state, cards, actions)
                legal = False
                for place in range(n):
                    legal = legal or actions[place] == action
                counts[ILLEGAL] += not legal
                before[0], before[1] = state, state
                begin_hypothetical(events[1])
                apply(before[1], cards, action, events[1])
                chance = events[1]["n_pending_outcomes"] > 0
                predicted = np.zeros(3)
                if chance:
                    for term, place in ((2, 0), (5, 1), (8, 2)):
                        predicted[place] = expected_gain(before[0], cards, units[term], action, works[0])
                else:
                    predicted[0] = events[1]["hits"][1 - seat, TO_HERO]
                    predicted[1] = events[1]["hits"][1 - seat, TO_MINIONS]
                    predicted[2] = hidden(before[1]["sides"][seat]) - hidden(before[0]["sides"][seat])
                counts[CHANCES] += chance
                left = int(state["sides"][seat]["n_deck"])
                burned = int(state["sides"][seat]["burned"])
                apply(state, cards, action, events[0])
                side = state["sides"][seat]
                drawn = left - int(side["n_deck"]) - (int(side["burned"]) - burned)
                realised = np.array(
                    [
                        float(events[0]["hits"][1 - seat, TO_HERO]),
                        float(events[0]["hits"][1 - seat, TO_MINIONS]),
                        float(drawn),
                    ]
                )
                if not chance and not alike(state, before[1]):
                    counts[SURPRISES] += 1
                if chance or drawn:
                    for place in range(3):
                        sums[place, 0] += predicted[place]
                        sums[place, 1] += realised[place]
                        sums[place, 2] += (predicted[place] - realised[place]) ** 2
            if not solved["again"] and outcome(state) == Outcome.ONGOING:
                apply(state, cards, encode(ActionKind.END_TURN, 0, 0), events[0])


@njit
def hidden(side) -> int:  # type: ignore[no-untyped-def]
    """Cards in hand that are not known."""
    n = 0
    for place in range(side["n_hand"]):
        n += side["hand"][place] == -2
    return n


@njit
def alike(one, other) -> bool:  # type: ignore[no-untyped-def]
    """Whether two positions are the same but for cards that one of them has drawn unseen."""
    if (
        one["turn"] != other["turn"]
        or one["active"] != other["active"]
        or one["last_entity_id"] != other["last_entity_id"]
    ):
        return False
    for seat in range(2):
        mine, theirs = one["sides"][seat], other["sides"][seat]
        same = mine["health"] == theirs["health"] and mine["armour"] == theirs["armour"]
        same = same and mine["mana"] == theirs["mana"] and mine["n_board"] == theirs["n_board"]
        same = same and mine["n_hand"] == theirs["n_hand"] and mine["n_deck"] == theirs["n_deck"]
        same = same and mine["durability"] == theirs["durability"] and mine["overload"] == theirs["overload"]
        same = (
            same
            and mine["hero_attack"] == theirs["hero_attack"]
            and mine["power_used"] == theirs["power_used"]
        )
        if not same:
            return False
        for place in range(mine["n_board"]):
            this, that = mine["board"][place], theirs["board"][place]
            same = this["card"] == that["card"] and this["attack"] == that["attack"]
            same = same and this["health"] == that["health"] and this["keywords"] == that["keywords"]
            same = same and this["attacks_left"] == that["attacks_left"] and this["traits"] == that["traits"]
            if not same or this["entity_id"] != that["entity_id"]:
                return False
    return True
