"""What `explain` says of turns on real cards: choices, Secrets and places."""

import pytest

from engine import parse_position
from evo.game_pages.story import certain_outcome_text, plan_text
from ilp_agent import find_profile, solve
from ilp_agent.turn import CardTurn

OFFER = "turn 5 first effects 2 choices [CFM_649 0 0] options [Frostbolt*; Pyroblast*; Mindgames*]"


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        (
            f"{OFFER} | hero 27 mana 2/5 hand [Sea Giant*] | hero 30",
            "choose Frostbolt; play Frostbolt -> hero",
        ),
        (
            "turn 9 | hero 27 mana 2/5 hand [Wrath*] | hero 30 board [2/3]",
            "play Wrath by choice 1 -> 2/3",
        ),
        (
            "turn 9 | hero 27 mana 2/5 hand [Dire Wolf Alpha*] board [Wisp* ready; Wisp* ready] | hero 30",
            "play Dire Wolf Alpha at position 1; attack with Wisp -> hero; attack with Wisp -> hero",
        ),
        (
            "turn 9 | hero 30 board [Wisp* ready; Wisp* ready] | hero 30 secrets [Explosive Trap*]",
            "attack with Wisp -> hero; see whether a secret triggers, then solve the turn again",
        ),
        (
            "turn 3 | hero 26 mana 3/3 hand [Kill Command*] | hero 30 board [Raptor Hatchling*] deck [24 ?]",
            "play Kill Command -> Raptor Hatchling",  # which shuffles a card into the deck
        ),
    ],
)
def test_a_plan_in_words(text: str, plan: str) -> None:
    position = parse_position(text)
    found = solve(CardTurn(position), find_profile("true-balanced").weights, "search")
    assert plan_text(position, found) == plan
    assert certain_outcome_text(position, found)
