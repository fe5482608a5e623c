"""Turns of agents from positions in notation, and positions of random games of real cards."""

import numpy as np

from engine import PlayerView, Position, find_deck, parse_position
from engine.codes import ActionKind
from engine.effects.chance import Chance
from engine.game_session import Agent
from engine.match import deal_from_key
from engine.ruleset import find_ruleset
from engine.streams import generator, stream_key

STREAM = generator(1)
BASIC = [find_deck(f"basic-{name}") for name in ("mage", "hunter", "paladin", "warrior", "druid", "warlock")]


def turn(agent: Agent, text: str) -> list[str]:
    """All actions of an agent's turn but its end; what chance brings is the first outcome, always."""
    position = parse_position(text)
    seat, actions = position.active, []
    while True:
        action = agent.act(PlayerView(position, seat), STREAM)
        if action.kind == ActionKind.END_TURN:
            return actions
        actions.append(str(action))
        position.play(action, Chance.given([0] * 20))
        if position.outcome:
            return actions


def one_weight(kind, name: str):
    """A weight vector with 1 for one weight and 0 for all others."""
    return kind(**{other: float(other == name) for other in kind.names()})


def positions(games: int, seed: int) -> list[Position]:
    """Positions of random games between Basic decks, each from the begin of a turn."""
    found, pick = [], np.random.default_rng(seed)
    for game in range(games):
        decks = tuple(BASIC[n] for n in pick.integers(len(BASIC), size=2))
        key = stream_key(seed, game)
        position = deal_from_key(decks, key, find_ruleset("hearthsim"))
        chance = Chance.drawn(key, position.states)
        while not position.outcome:
            actions = position.legal_actions()
            action = actions[int(pick.integers(len(actions)))]
            position.play(action, chance)
            if action.kind == ActionKind.END_TURN and pick.random() < 0.3:
                found.append(position.copy())
    return [position for position in found if not position.outcome]
