"""Cards that are offered, where nothing else of the turn asks for more than bodies."""

import pytest

from engine import Action, Position, parse_position
from engine.codes import ActionKind
from engine.game_session import Agent
from engine.streams import generator
from engine.view import PlayerView
from ilp_agent import IlpAgent, find_profile

OFFERED = "turn 5 first effects 2 choices [CFM_649 0 0] options [{}] | hero 27 mana {}/5 power [Fireblast 2* used] | {}"


def next_action(position: Position, agent: Agent) -> Action:
    return agent.act(PlayerView(position, position.active), generator(1, 1))


@pytest.mark.parametrize("place", range(3))
def test_the_card_that_kills_is_taken_wherever_it_is_offered(place: int) -> None:
    options = ["War Golem*", "Pyroblast*"]
    options.insert(place, "Frostbolt*")
    position, agent = (
        parse_position(OFFERED.format("; ".join(options), 2, "hero 3")),
        IlpAgent(find_profile("true-balanced")),
    )
    action = next_action(position, agent)
    assert action == Action(ActionKind.CHOOSE, place, 0)
    position.play(action)
    position.play(next_action(position, agent))
    assert position.outcome


def test_a_card_that_leads_back_is_not_taken_for_the_choice_itself() -> None:
    """A Freezing Potion on what is frozen leaves all as it was before it was chosen, but for the choice."""
    text = OFFERED.format("Freezing Potion*; Pyroblast*; Frostbolt*", 0, "hero 16 is [frozen]")
    position, agent = parse_position(text), IlpAgent(find_profile("true-balanced"))
    assert next_action(position, agent).kind == ActionKind.CHOOSE
