"""Upper bounds of turns: never below what the plain search finds, and the same plans with and without them."""

import numpy as np
import pytest

from engine import parse_position
from engine.codes import MAX_ACTIONS
from engine.effects.chance import begin_hypothetical, draw_hypothetical
from engine.jit import njit
from engine.rules import apply, legal_actions, outcome
from engine.state import EVENTS, STATE
from ilp_agent import Weights
from ilp_agent.search.backend import search_position
from ilp_agent.search.bound import upper_bound
from ilp_agent.search.card_facts import compute_card_facts
from ilp_agent.search.kernel import start_search
from ilp_agent.search.objective import end_value
from ilp_agent.search.tally import UNBOUNDED
from ilp_agent.search.work import SOLUTION
from ilp_agent.weights import WEIGHT_NAMES
from tests.conftest import UNCOMPILED, cases, heavy
from tests.ilp_agent.search.turns import CLASS_DECKS, LIVELY_DECKS, reached, searching, within_reach

pytestmark = pytest.mark.skipif(UNCOMPILED, reason="too slow without the compiler")
DECKS = [*LIVELY_DECKS, *CLASS_DECKS]


@njit
def play_at_random(states, cards, steps):  # type: ignore[no-untyped-def]
    """Play up to so many random actions of the turn in each position, but not its end. Modified in place."""
    actions, events = np.empty(MAX_ACTIONS, np.int64), np.zeros(1, EVENTS)
    tried = np.zeros(1, STATE)
    for number in range(len(states)):
        for step in range(steps[number]):
            n = legal_actions(states[number], cards, actions)
            if n < 2:
                break
            action = actions[(7919 * (number + 1) * (step + 3)) % (n - 1)]
            tried[0] = states[number]
            begin_hypothetical(events[0])
            draw_hypothetical(events[0], states[number], step)
            apply(tried[0], cards, action, events[0])
            if outcome(tried[0]) != 0:
                break
            states[number] = tried[0]


@njit
def bound_of(states, cards, weights, works):  # type: ignore[no-untyped-def]
    """Upper bound of the objective of a turn, shape (1,), and whether it is finite."""
    work = works[0]
    start_search(states[0], cards, weights, work)
    state, start = work["states"][0], work["start"]
    most = upper_bound(state, cards, weights, start, work["tally"])
    return end_value(state, cards, weights, start) + most - start["base"], most < UNBOUNDED


@pytest.mark.parametrize("deck", DECKS)
def test_no_plan_is_better_than_the_bound(deck: str) -> None:
    """In the middle of turns too; a bound counts from a position as if the turn began there."""
    n = cases(100, 1_000)
    finite = compared = 0
    for further in (False, True):
        turns = within_reach(reached((deck,), n, 53, further), 30, 53)
        cards, states = turns.table.array.copy(), turns.states.copy()
        facts, plain, solved = compute_card_facts(cards), searching(3_000), np.zeros(1, SOLUTION)
        plain.start["bounded"] = 0
        play_at_random(states, turns.table.array, np.random.default_rng(54).integers(0, 4, n))
        for number in range(n):
            one = states[number : number + 1]
            search_position(one, cards, turns.weights[number], facts, *plain, solved)
            if solved["unproven"][0]:
                continue
            most, known = bound_of(one, cards, turns.weights[number], plain.work)
            compared += 1
            finite += known
            value = float(solved["value"][0])
            where = f"{turns._replace(states=states).position(number)} {turns.weights[number].tolist()}"
            assert value <= most + 1e-9 * max(1.0, abs(value)), where
    assert compared > n
    assert finite > 0, compared


START = "turn 4 first effects 2 | hero 30"
MADE = {
    "spells pass Taunts": (
        "mana 6/6 power [Fireblast 2*] hand [Fireball 4*] | hero 6 board [Sen'jin Shieldmasta 4:3/5T*]",
        {"lethal": 1},
    ),
    "tokens of a Deathrattle are hit too": (
        "mana 0/0 board [Boulderfist Ogre* now 5/4 ready; Boulderfist Ogre* now 3/2 ready]"
        " | hero 20 board [Sludge Belcher*]",
        {"damage": 1, "trade": 1, "survive": 5},
    ),
    "tokens for the opponent are hit too": (
        "mana 5/5 hand [Leeroy Jenkins*] board [Boulderfist Ogre* now 5/7 ready]"
        " | hero 20 board [Boulderfist Ogre* now 9/9]",
        {"damage": 1, "trade": 1},
    ),
    "Immune attackers pay nothing": (
        "mana 0/0 board [Starving Buzzard* is immune ready] | hero 20 board [Boulderfist Ogre* now 6/2]",
        {"threat": 1, "health": 5},
    ),
    "a shield is lost once": (
        "mana 0/0 board [Al'Akir the Windlord* ready 2] | hero 20 board [River Crocolisk*; River Crocolisk*]",
        {"shield": 1, "threat": 1.5, "enemy_health": 2, "health": 0.1},
    ),
    "weapons lose durability": (
        "mana 1/1 hand [Bloodsail Corsair*] | hero 20 weapon [Arcanite Reaper*]",
        {"enemy_weapon": 1},
    ),
    "weapons have Deathrattles": (
        "mana 2/2 hand [Acidic Swamp Ooze*]"
        " | hero 20 weapon [Death's Bite*] board [Leper Gnome*; Leper Gnome*; Leper Gnome*]",
        {"threat": 1, "enemy_health": 1},
    ),
    "fatigue kills": ("mana 3/3 hand [Coldlight Oracle*] | hero 1", {"lethal": 1}),
    "fatigue hurts": (
        "mana 0/0 board [Boulderfist Ogre* now 1/1 ready] | hero 2 fatigue 1 board [Loot Hoarder*]",
        {"lethal": 1, "enemy_hero": 1},
    ),
    "a weapon gives mana": (
        "mana 0/10 attacks 1 weapon [Twig of the World Tree* now 1/1] hand [Boulderfist Ogre*] | hero 20",
        {"play": 1, "survive": 1},
    ),
    "a weapon in hand is stronger": (
        "mana 3/3 hand [Fiery War Axe* held 0/2/0] | hero 20",
        {"face": 1, "weapon": 1},
    ),
    "Lifesteal heals by own minions": (
        "mana 2/2 hand [Spirit Lash*] board [River Crocolisk*; River Crocolisk*; River Crocolisk*]"
        " | hero 20 board [River Crocolisk*]",
        {"hero": 1},
    ),
    "tokens heal": (
        "mana 2/2 power [Totemic Call*] board [Lightwarden*; Boulderfist Ogre* now 6/3;"
        " Boulderfist Ogre* now 6/3; Boulderfist Ogre* now 6/3] | hero 20",
        {"attack": 1},
    ),
    "frozen minions have their lasting attack": (
        "mana 2/2 hand [Glacial Shard*] | hero 20 board [Boulderfist Ogre* now 3/7 until -3]",
        {"frozen": 1, "threat": 1},
    ),
}
"""What a bound must allow for: a position, and weights that count it; the others are 0."""


@pytest.mark.parametrize("name", MADE)
def test_what_a_bound_must_allow_for(name: str) -> None:
    text, chosen = MADE[name]
    position = parse_position(f"{START} {text}")
    weights = Weights(**(dict.fromkeys(WEIGHT_NAMES, 0.0) | chosen))
    cards, array = position.table.array.copy(), weights.full_array
    plain, solved = searching(50_000), np.zeros(1, SOLUTION)
    search_position(position.states, cards, array, compute_card_facts(cards), *plain, solved)
    assert not solved["unproven"][0]
    most, _ = bound_of(position.states, cards, array, plain.work)
    assert solved["value"][0] <= most + 1e-9


@pytest.mark.parametrize("deck", [*LIVELY_DECKS, *heavy(*CLASS_DECKS)])
def test_bounds_change_no_plan(deck: str) -> None:
    """What is skipped is no better: the same value and the same actions, in fewer positions."""
    n = cases(60, 400)
    positions = np.zeros(2, np.int64)
    for further in (False, True):
        turns = reached((deck,), n, 55, further)
        cards, facts = turns.table.array.copy(), compute_card_facts(turns.table.array)
        memory, solved = searching(4_000), np.zeros(1, SOLUTION)
        for number in range(n):
            found = []
            for bounded in (0, 1):
                memory.start["bounded"] = bounded
                one = turns.states[number : number + 1]
                search_position(one, cards, turns.weights[number], facts, *memory, solved)
                found.append(solved.copy()[0])
            plain, bounded_plan = found
            where = f"{turns.position(number)} {turns.weights[number].tolist()}"
            assert bounded_plan["most"] >= bounded_plan["value"], where
            if plain["unproven"]:
                assert bounded_plan["most"] >= plain["value"] - 1e-9, where
                continue
            positions += plain["states"], bounded_plan["states"]
            assert bounded_plan["unproven"] == 0, where
            assert plain["value"] == bounded_plan["value"], where
            assert plain["again"] == bounded_plan["again"], where
            steps = plain["n"]
            assert steps == bounded_plan["n"], where
            assert plain["actions"][:steps].tolist() == bounded_plan["actions"][:steps].tolist(), where
    assert positions[1] <= positions[0]
