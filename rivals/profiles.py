"""Read weight profiles of any agent, from files or from the shipped ones."""

import os
from pathlib import Path

from engine.errors import unknown_name
from ilp_agent.profiles import Profile, read_any_profile
from ilp_agent.shipped import profiles_folder, shipped_profiles
from ilp_agent.weights import WeightVector
from rivals.registry import AGENTS, weight_class


def read_agent_profile(path: Path, vector: type[WeightVector] | None = None) -> Profile[WeightVector]:
    """Read a weight profile of any agent from a file.

    Args:
        path: the file.
        vector: class of weights it must hold; None for any known agent.

    Raises:
        ProfileError: unreadable file, or not a profile of such an agent.
    """
    if vector is not None:
        return read_any_profile(path, {vector.AGENT: vector})
    return read_any_profile(path, {kind.owner: kind.weights for kind in AGENTS.values() if kind.weights})


def find_agent_profile(agent: str, name: str) -> Profile[WeightVector]:
    """Read a weight profile of an agent, by shipped name or by file path.

    Args:
        agent: a name of `weighted_kinds`.
        name: such as "standard", or a path.

    Raises:
        UnknownNameError: unknown profile name.
        ProfileError: the file is not a profile of this agent.
    """
    weights = weight_class(agent)
    own = weights.AGENT
    if name.endswith(".toml") or os.sep in name:
        path = Path(name)
    elif name in shipped_profiles(own):
        path = profiles_folder(own) / f"{name}.toml"
    else:
        raise unknown_name(f"profile of {agent}", name, shipped_profiles(own))
    return read_any_profile(path, {own: weights})
