"""Agents of the literature, behind the engine's `Agent` protocol.

>>> from engine import play
>>> from rivals import AggroAgent, HearthSimAgent, find_agent_profile
>>> hearthsim = HearthSimAgent(find_agent_profile("hearthsim", "standard").weights)
>>> play(hearthsim, AggroAgent(), ("thesis-paladin", "thesis-paladin"), seed=1).outcome.name
'FIRST_WINS'
"""

from typing import TYPE_CHECKING

from engine.lazy import lazy_exports

if TYPE_CHECKING:  # imported when they are first asked for
    from rivals.aggro import AggroAgent
    from rivals.batch import PlayBatch
    from rivals.eva import EvaAgent, EvaWeights
    from rivals.greedy import GreedyIlpAgent
    from rivals.hearthsim import HearthSimAgent, HearthSimWeights
    from rivals.kinds import AgentKind, Sight
    from rivals.mcts import MctsAgent
    from rivals.minimax import MinimaxAgent, MinimaxWeights
    from rivals.outside.permissions import is_outside
    from rivals.registry import (
        AGENTS,
        DEFAULT_AGENT,
        agent_of,
        agent_versions,
        find_agent_profile,
        find_kind,
        opponent_model_decks,
        other_versions,
        predicts_decks,
        read_agent_profile,
        refuse_decks,
        weight_class,
        weighted_kinds,
    )
    from rivals.registry import opponent_model_decks as reckoned_decks  # its name in earlier versions
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "AGENTS",
    "DEFAULT_AGENT",
    "AgentKind",
    "AggroAgent",
    "EvaAgent",
    "EvaWeights",
    "GreedyIlpAgent",
    "HearthSimAgent",
    "HearthSimWeights",
    "MctsAgent",
    "MinimaxAgent",
    "MinimaxWeights",
    "PlayBatch",
    "Sight",
    "agent_of",
    "agent_versions",
    "find_agent_profile",
    "find_kind",
    "is_outside",
    "opponent_model_decks",
    "other_versions",
    "predicts_decks",
    "read_agent_profile",
    "reckoned_decks",
    "refuse_decks",
    "weight_class",
    "weighted_kinds",
]
