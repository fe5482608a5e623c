"""The agents by name: whose weights they play by, their profiles, and the agent itself."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from engine import PassAgent, RandomAgent
from engine.errors import unknown_name
from engine.match import Agent
from ilp_agent import IlpAgent, Profile, Weights, WeightVector, read_any_profile, shipped_profiles
from ilp_agent.profiles import profiles_folder
from rivals.aggro import AggroAgent
from rivals.eva import EvaAgent, EvaWeights
from rivals.greedy import GreedyIlpAgent
from rivals.hearthsim import HearthSimAgent, HearthSimWeights

WEIGHTS_OF: dict[str, type[WeightVector]] = {
    "ilp": Weights,
    "greedy-ilp": Weights,
    "hearthsim": HearthSimWeights,
    "eva": EvaWeights,
}
"""Agents that play by weights, with the kind of them. `greedy-ilp` takes the profiles of `ilp`."""

WEIGHTLESS: dict[str, Callable[[], Agent]] = {"aggro": AggroAgent, "random": RandomAgent, "pass": PassAgent}
"""Agents that need nothing but their name."""

DEFAULT_PROFILES = {"hearthsim": "standard", "eva": "competition", "greedy-ilp": "true-balanced"}
"""What the bare name of an agent means."""

_KINDS = {kind.AGENT: kind for kind in WEIGHTS_OF.values()}


def read_agent_profile(path: Path) -> Profile[WeightVector]:
    """Read a profile file of any agent.

    Raises:
        ProfileError: it cannot be read, or is no profile of an agent known here.
    """
    return read_any_profile(path, _KINDS)


def find_agent_profile(agent: str, name: str) -> Profile[WeightVector]:
    """A profile of an agent, by its name in this installation or by the path of its file.

    Args:
        agent: a name of `WEIGHTS_OF`.
        name: such as "standard", or a path.

    Raises:
        UnknownNameError: there is no shipped profile of this name.
        ProfileError: the file is no profile of this agent.
    """
    own = WEIGHTS_OF[agent].AGENT
    if name.endswith(".toml") or os.sep in name:
        path = Path(name)
    elif name in shipped_profiles(own):
        path = profiles_folder(own) / f"{name}.toml"
    else:
        raise unknown_name(f"profile of {agent}", name, shipped_profiles(own))
    return read_any_profile(path, {own: WEIGHTS_OF[agent]})


def agent_of(name: str, weights: np.ndarray | None = None, backend: str = "exact") -> Agent:
    """An agent as it plays.

    Args:
        name: of `WEIGHTS_OF` or `WEIGHTLESS`.
        weights: shape (weights,), of an agent that plays by weights.
        backend: solver, of "ilp".

    Raises:
        WeightError: the weights are not allowed.
    """
    if name in WEIGHTLESS:
        return WEIGHTLESS[name]()
    vector = WEIGHTS_OF[name].from_array(weights)
    if isinstance(vector, EvaWeights):
        return EvaAgent(vector)
    if isinstance(vector, HearthSimWeights):
        return HearthSimAgent(vector)
    assert isinstance(vector, Weights)
    return GreedyIlpAgent(vector) if name == "greedy-ilp" else IlpAgent(vector, backend)
