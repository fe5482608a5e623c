"""The agents: one entry for each kind, which tells everything else about it.

Nothing beyond `AGENTS` lists the kinds: entrants, configurations, games, tournaments and tests ask it. To add
one, write its file beside this one, its entry here, and run `tests/contracts/test_agents.py`.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from engine import PassAgent, RandomAgent
from engine.errors import unknown_name
from engine.match import Agent
from ilp_agent import (
    BACKENDS,
    DEFAULT_BACKEND,
    IlpAgent,
    Profile,
    Weights,
    WeightVector,
    read_any_profile,
    shipped_profiles,
)
from ilp_agent.profiles import profiles_folder
from ilp_agent.solver import solver_version
from rivals import aggro, eva, greedy, hearthsim, ilp
from rivals.aggro import AggroAgent
from rivals.eva import EvaAgent, EvaWeights
from rivals.greedy import GreedyIlpAgent
from rivals.hearthsim import HearthSimAgent, HearthSimWeights
from rivals.hearthsim_node import BUDGET


class PlayBatch(Protocol):
    """Plays many games on, compiled; kinds are compiled apart, each when it first plays."""

    def __call__(
        self,
        cards: np.ndarray,
        weights: np.ndarray,
        agents: np.ndarray,
        states: np.ndarray,
        keys: np.ndarray,
        unproven: np.ndarray,
    ) -> None:
        """Play each game on while an agent of this kind is to move, whole turns at a time.

        The kind plays as its Python agent does, action by action. What it draws comes from `keys` and from
        the state alone (`engine.streams.below` of the key derived for the round), so that a game does not
        depend on the games beside it.

        Args:
            cards: the card table, dtype `engine.state.CARD`.
            weights: shape (agents, weights of the kind); (agents, 0) of a kind without.
            agents: who plays, shape (games, 2) integers into `weights`; column 0 goes first; -1 for other
                kinds.
            states: dtype `engine.state.STATE`, shape (games,). Modified in place.
            keys: uint64, shape (games, 2): the agents' streams by seat (`engine.streams.agent_keys`).
            unproven: integers, shape (games,). Added to in place: turns whose optimum was not proven.
        """
        ...


class Sight(StrEnum):
    """What an agent may look at."""

    VIEW = "what its player knows"
    EVERYTHING = "hidden cards too"


@dataclass(frozen=True)
class AgentKind:
    """All that is known of a kind of agent.

    Attributes:
        name: as entrants and configurations write it.
        make: the agent in Python; called with its weights where it has any, then with the backend where it
            takes one.
        help: what it does, in a few words.
        weights: the class of its weights; None where it plays without.
        default_profile: what the bare name means; "" where a profile must be named.
        play_batch: plays whole games compiled, without the GIL; None where only Python plays it.
        random: whether it draws from its own stream of the game.
        sees: what it may look at.
        takes_backend: whether `@BACKEND` chooses its solver; it then runs compiled with compiled ones alone.
        budget: limits of its search that are part of what it is, by name, as tournaments write them down.
    """

    name: str
    make: Callable[..., Agent]
    help: str
    weights: type[WeightVector] | None = None
    default_profile: str = ""
    play_batch: PlayBatch | None = None
    random: bool = False
    sees: Sight = Sight.VIEW
    takes_backend: bool = False
    budget: Mapping[str, int] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """What it does, for help texts."""
        return f"{self.name}: {self.help}"

    @property
    def owner(self) -> str:
        """Whose profiles it plays: those of the agent its weights are named after; "" without weights."""
        return self.weights.AGENT if self.weights else ""

    def compiled(self, backend: str = DEFAULT_BACKEND) -> bool:
        """Whether whole games of it run compiled with a backend."""
        return self.play_batch is not None and (not self.takes_backend or BACKENDS[backend].compiled)

    def agent(self, weights: object = None, backend: str = DEFAULT_BACKEND) -> Agent:
        """The agent as it plays.

        Args:
            weights: numbers in the order of its weights; not looked at where it has none.
            backend: its solver, where it takes one.

        Raises:
            WeightError: the weights are not allowed.
            SolverError: the backend cannot start.
        """
        arguments: list[object] = [self.weights.from_array(weights)] if self.weights else []
        return self.make(*arguments, *([backend] if self.takes_backend else []))

    def definition(self, backend: str = DEFAULT_BACKEND) -> dict[str, Any]:
        """What decides its play beside its weights, as a tournament writes it down."""
        return ({"solver": solver_version(backend)} if self.takes_backend else {}) | dict(self.budget)


_ENTRIES = (
    AgentKind(
        "ilp",
        IlpAgent,
        "plays the best plan of the turn program",
        weights=Weights,
        play_batch=ilp.play_batch,
        takes_backend=True,
    ),
    AgentKind(
        "hearthsim",
        HearthSimAgent,
        "plays the turn whose end scores most, found by search",
        weights=HearthSimWeights,
        default_profile="standard",
        play_batch=hearthsim.play_batch,
        budget={"nodes": BUDGET},
    ),
    AgentKind(
        "eva",
        EvaAgent,
        "plays the single action that EVA's 21 weights score highest",
        weights=EvaWeights,
        default_profile="competition",
        play_batch=eva.play_batch,
    ),
    AgentKind(
        "greedy-ilp",
        GreedyIlpAgent,
        "plays the single action that adds most to the turn program's objective",
        weights=Weights,
        default_profile="true-balanced",
        play_batch=greedy.play_batch,
    ),
    AgentKind("aggro", AggroAgent, "attacks the hero whenever it can", play_batch=aggro.play_batch),
    AgentKind("random", RandomAgent, "plays every legal action with the same probability", random=True),
    AgentKind("pass", PassAgent, "ends every turn at once"),
)

AGENTS = {entry.name: entry for entry in _ENTRIES}
"""Every kind of agent by its name: the one list of them."""

DEFAULT_AGENT = "ilp"


def find_kind(name: str) -> AgentKind:
    """The kind of this name.

    Raises:
        UnknownNameError: there is none; the message lists the nearest.
    """
    if name not in AGENTS:
        raise unknown_name("agent", name, AGENTS)
    return AGENTS[name]


def weighted_kinds() -> list[str]:
    """Names of the agents that play by weights, which can evolve."""
    return [kind.name for kind in AGENTS.values() if kind.weights]


def weight_class(name: str) -> type[WeightVector]:
    """The class of an agent's weights.

    Raises:
        UnknownNameError: no agent of this name plays by weights.
    """
    kind = AGENTS.get(name)
    if kind is None or kind.weights is None:
        raise unknown_name("agent with weights", name, weighted_kinds())
    return kind.weights


def agent_of(name: str, weights: object = None, backend: str = DEFAULT_BACKEND) -> Agent:
    """An agent of a kind as it plays; see `AgentKind.agent`.

    Raises:
        UnknownNameError: there is no such agent.
    """
    return find_kind(name).agent(weights, backend)


def read_agent_profile(path: Path) -> Profile[WeightVector]:
    """Read a profile file of any agent.

    Raises:
        ProfileError: it cannot be read, or is no profile of an agent known here.
    """
    return read_any_profile(path, {kind.owner: kind.weights for kind in AGENTS.values() if kind.weights})


def find_agent_profile(agent: str, name: str) -> Profile[WeightVector]:
    """A profile of an agent, by its name in this installation or by the path of its file.

    Args:
        agent: a name of `weighted_kinds`.
        name: such as "standard", or a path.

    Raises:
        UnknownNameError: there is no shipped profile of this name.
        ProfileError: the file is no profile of this agent.
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
