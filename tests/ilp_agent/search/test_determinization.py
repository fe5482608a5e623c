"""What a search does not see, and what it must tell apart: hidden hands, Secrets, cards alike but for their hand."""

import numpy as np
import pytest

from engine import PlayerView, parse_position
from ilp_agent import Plan, solve
from ilp_agent.search.backend import search_position
from ilp_agent.search.card_facts import compute_card_facts
from ilp_agent.search.work import SOLUTION
from ilp_agent.turn import CardTurn
from ilp_agent.weights import EXTENDED_NAMES, ExtendedWeights
from tests.conftest import BOUNDSCHECK, UNCOMPILED
from tests.ilp_agent.search.turns import searching

compiled = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")


def weighing(**weights: float) -> ExtendedWeights:
    """Weights of a few terms; all others 0."""
    return ExtendedWeights(**dict.fromkeys(EXTENDED_NAMES, 0.0) | weights)


def plan_of(text: str, **weights: float) -> Plan:
    """The search's plan of a turn by a few terms, which sum to its objective."""
    plan = solve(CardTurn(parse_position(text)), weighing(**weights), "search")
    assert sum(plan.terms) == pytest.approx(plan.objective)
    return plan


@pytest.mark.parametrize(
    ("hand", "mana", "weight", "objective"),
    [
        ("Shieldbearer*; Shieldbearer* held 0/5/5", 1, "body", 10),
        ("Shieldbearer* held 0/5/5; Shieldbearer*", 1, "body", 10),
        ("Fireball*; Fireball* held -3/0/0; Elven Archer*", 4, "face", 7),
        ("Arcane Missiles*; Preparation*; Fireball*", 1, "face", 6),  # what is promised is used up
    ],
)
def test_cards_in_hand_are_told_apart(hand: str, mana: int, weight: str, objective: float) -> None:
    plan = plan_of(f"turn 9 | hero 30 mana {mana}/9 hand [{hand}] | hero 30 board [Wisp*]", **{weight: 1.0})
    assert plan.objective == objective


def test_attacks_into_a_secret_are_planned_one_by_one() -> None:
    """An Explosive Trap may have killed those that wait."""
    plan = plan_of(
        "turn 9 | hero 30 board [Wisp* ready; Wisp* ready] | hero 30 secrets [Explosive Trap*]", face=1.0
    )
    assert (len(plan.actions), plan.again) == (1, True)


@pytest.mark.parametrize("held", ["Wisp*", "Azure Drake*", "Fireball*"])
@pytest.mark.parametrize("own", ["hand [Fireball*]", "hand [Dirty Rat*]"])
def test_the_other_hand_is_not_looked_at(own: str, held: str) -> None:
    """The search itself hides it, also in a game that keeps nothing: Chillmaw asks for a Dragon, the Rat takes one."""
    text = "turn 9 | hero 30 mana 4/9 {} board [War Golem*] | hero 9 board [Chillmaw* now 6/3] hand [{}]"
    position = parse_position(text.format(own, held))
    weights = weighing(threat=1.0, body=1.0, survive=1.0, damage=1.0)
    memory, solved = searching(10_000), np.zeros(1, SOLUTION)
    cards = position.table.array.copy()
    search_position(position.states, cards, weights.full_array, compute_card_facts(cards), *memory, solved)
    hidden = PlayerView(position, 0).position
    assert float(solved["value"][0]) == solve(CardTurn(hidden), weights, "search").objective
    assert solved["again"][0]


@compiled
def test_many_outcomes_are_drawn_evenly() -> None:
    """Eight missiles at seven characters: of 8 the hero gets 8/7; of 24 events and more nothing is left out."""
    six = "; ".join(["War Golem*"] * 6)
    plan = plan_of(f"turn 9 | hero 30 mana 6/9 hand [Avenging Wrath*] | hero 30 board [{six}]", face=1.0)
    assert plan.objective == pytest.approx(8 / 7, abs=0.1)
    text = "turn 9 | hero 30 mana 7/9 hand [Volcano*] board [{}] | hero 30 board [War Golem*; War Golem*; War Golem*]"
    for own in ("Malygos*", "Malygos*; Malygos*"):
        assert plan_of(text.format(own), damage=1.0).objective > 10
