"""Agents of the literature, behind the engine's `Agent` protocol.

>>> from engine import play
>>> from rivals import AggroAgent, HearthSimAgent, find_agent_profile
>>> hearthsim = HearthSimAgent(find_agent_profile("hearthsim", "standard").weights)
>>> play(hearthsim, AggroAgent(), ("thesis-paladin", "thesis-paladin"), seed=1).outcome.name
'FIRST_WINS'
"""

from rivals.aggro import AggroAgent
from rivals.eva import EvaAgent, EvaWeights
from rivals.greedy import GreedyIlpAgent
from rivals.hearthsim import HearthSimAgent, HearthSimWeights
from rivals.kinds import (
    DEFAULT_PROFILES,
    WEIGHTLESS,
    WEIGHTS_OF,
    agent_of,
    find_agent_profile,
    read_agent_profile,
)

__all__ = [
    "DEFAULT_PROFILES",
    "WEIGHTLESS",
    "WEIGHTS_OF",
    "AggroAgent",
    "EvaAgent",
    "EvaWeights",
    "GreedyIlpAgent",
    "HearthSimAgent",
    "HearthSimWeights",
    "agent_of",
    "find_agent_profile",
    "read_agent_profile",
]
