"""Whole turns as the engine's actions."""

from engine import parse_action, parse_position
from ilp_agent.planner import place_actions

TEXT = (
    "turn 1 | hero 30 mana 1/1 hand [Tunnel Trogg*; Small-Time Buccaneer*; The Coin] deck [Patches the Pirate*]"
    " | hero 30"
)


def test_a_plan_may_begin_and_end_with_the_same_words() -> None:
    """Each `play 0` is of another card; after the last the turn is solved again."""
    position = parse_position(TEXT)
    before = position.state.tobytes()
    actions = [parse_action(text) for text in ("play 0", "play 1", "play 0")]
    placed = place_actions(position, [actions[0], actions[1], actions[0]], again=True)
    assert [action for _, action in placed] == actions
    assert position.state.tobytes() == before
    for state, action in placed:
        assert position.state.tobytes() == state
        position.play(action)
