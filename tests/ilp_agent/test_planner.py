"""Whole turns as the engine's actions."""

from engine import parse_action, parse_position
from ilp_agent import find_profile
from ilp_agent.agent import pair_with_states, plan_compiled

TEXT = (
    "turn 1 | hero 30 mana 1/1 hand [Tunnel Trogg*; Small-Time Buccaneer*; The Coin] deck [Patches the Pirate*]"
    " | hero 30"
)


def test_a_plan_may_begin_and_end_with_the_same_words() -> None:
    """Each `play 0` is of another card; after the last the turn is solved again."""
    position = parse_position(TEXT)
    before = position.state.tobytes()
    actions = [parse_action(text) for text in ("play 0", "play 1", "play 0")]
    placed = pair_with_states(position, [actions[0], actions[1], actions[0]], again=True)
    assert [action for _, action in placed] == actions
    assert position.state.tobytes() == before
    for state, action in placed:
        assert position.state.tobytes() == state
        position.play(action)


def test_a_plan_goes_on_after_chance_that_makes_no_difference_to_it() -> None:
    text = "turn 3 | hero 26 mana 3/3 hand [Kill Command*] | hero 30 board [Raptor Hatchling*] deck [24 ?]"
    position = parse_position(text)
    plan, _ = plan_compiled(position, find_profile("true-balanced").weights.full_array, "search")
    assert [str(action) for _, action in plan] == ["play 0 -> 0", "end turn"]
