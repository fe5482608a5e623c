"""The registry of agents: one `AgentKind` entry for each agent that can play, and its weight profiles."""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.effect_codes import GameFeature
from engine.errors import DeckError, unknown_name
from engine.lazy import lazy_import
from ilp_agent import lookahead as looking
from ilp_agent.backends import BACKENDS, DEFAULT_BACKEND
from ilp_agent.profiles import Profile, read_any_profile
from ilp_agent.shipped import profiles_folder, shipped_profiles
from ilp_agent.weights import WeightVector
from rivals.kinds import HANDS, SECRETS_OPTION, AgentKind, Option
from rivals.outside.permissions import command_of, is_outside

if TYPE_CHECKING:
    from engine.cards.patches import Patch
    from engine.decks import Deck
    from engine.game_session import Agent


_ENTRIES = (
    AgentKind(
        "ilp",
        "ilp_agent.agent:make_agent",
        "plays the best plan of the turn program",
        vector="ilp_agent.weights:Weights",
        takes_backend=True,
        options=(SECRETS_OPTION,),
        effects=True,
        card_version=2,
    ),
    AgentKind(
        "lookahead",
        "ilp_agent.lookahead.agent:LookaheadAgent",
        "searches two plies: its turn and the opponent's reply",
        vector="ilp_agent.lookahead.weights:LookaheadWeights",
        default_profile="learned",
        batch="ilp_agent.lookahead.selfplay:play_batch",
        options=(
            Option(
                "budget", looking.DEFAULT_BUDGET, 1, looking.MAX_BUDGET, "most positions evaluated in a turn"
            ),
            Option(
                "depth",
                looking.DEFAULT_DEPTH,
                1,
                looking.DEPTHS,
                "1: at the end of the turn, 2: after the opponent's reply, 3: after the next own turn",
            ),
            Option(
                "samples",
                looking.DEFAULT_SAMPLES,
                1,
                looking.MAX_SAMPLES,
                "chance samples for each candidate plan, with card effects",
                max_from_files=16,
            ),
            HANDS,
        ),
        effects=True,
    ),
    AgentKind(
        "hearthsim",
        "rivals.hearthsim:HearthSimAgent",
        "plays the turn with the highest score of its final position, found by search",
        vector="rivals.hearthsim:HearthSimWeights",
        default_profile="standard",
        batch="rivals.hearthsim:play_batch",
        effects=True,
        budget={"nodes": "rivals.hearthsim:BUDGET"},
        version=2,
    ),
    AgentKind(
        "eva",
        "rivals.eva:EvaAgent",
        "plays the single action that EVA's 21 weights score highest",
        vector="rivals.eva:EvaWeights",
        default_profile="competition",
        batch="rivals.eva:play_batch",
        effects=True,
    ),
    AgentKind(
        "greedy-ilp",
        "rivals.greedy:GreedyIlpAgent",
        "plays the single action with the largest gain of the turn program's objective",
        vector="ilp_agent.weights:Weights",
        default_profile="true-balanced",
        batch="rivals.greedy:play_batch",
        effects=True,
    ),
    AgentKind(
        "mcts",
        "rivals.mcts:MctsAgent",
        "plays the most visited action of a Monte Carlo tree search",
        batch="rivals.mcts:play_batch",
        random=True,
        options=(
            Option("budget", 200, 1, 100_000, "playouts for each action", max_from_files=10_000),
            HANDS,
        ),
        effects=True,
    ),
    AgentKind(
        "minimax-td",
        "rivals.minimax:MinimaxAgent",
        "plays the turn that is best after the opponent's best reply, by learned weights",
        vector="rivals.minimax:MinimaxWeights",
        default_profile="seed",
        batch="rivals.minimax:play_batch",
        options=(
            Option("depth", 2, 1, 2, "1: evaluate at the end of the turn, 2: after the opponent's reply"),
            Option("chains", 3, 1, 64, "best turns that are searched deeper"),
            HANDS,
        ),
        effects=True,
    ),
    AgentKind(
        "aggro",
        "rivals.aggro:AggroAgent",
        "plays its most expensive card, then attacks the hero",
        batch="rivals.aggro:play_batch",
        effects=True,
    ),
    AgentKind(
        "random",
        "engine.game_session:RandomAgent",
        "plays uniformly random legal actions",
        random=True,
        effects=True,
    ),
    AgentKind("pass", "engine.game_session:PassAgent", "ends every turn at once", effects=True),
)

AGENTS = {entry.name: entry for entry in _ENTRIES}
"""Every agent kind by name."""

DEFAULT_AGENT = "ilp"


def find_kind(name: str) -> AgentKind:
    """Find an agent kind by name.

    Raises:
        UnknownNameError: unknown agent; the message lists the nearest names.
    """
    if name in AGENTS:
        return AGENTS[name]
    if is_outside(name):
        return _outside_kind(name)
    raise unknown_name("agent", name, AGENTS)


SECONDS = Option("seconds", 10, 1, 3600, "time limit for each decision", max_from_files=60)


def _outside_agent(name: str, weights: Sequence[float] | None, seconds: int) -> "Agent":
    agent: Agent = lazy_import("rivals.outside.agent:OutsideAgent")(name, seconds, weights or ())
    return agent


@cache
def _outside_kind(name: str) -> AgentKind:
    """Agent kind of an agent from outside, by the name that entrants give it.

    Raises:
        OutsideAgentError: malformed name.
    """
    command_of(name)
    return AgentKind(
        name,
        partial(_outside_agent, name),
        "an external program in its own process",
        random=True,
        options=(SECONDS,),
        effects=True,
        declares=True,
    )


def agent_versions(effects: bool) -> dict[str, int]:
    """Play version of each agent kind, with card effects or without."""
    return {name: kind.play_version(effects) for name, kind in AGENTS.items()}


def other_versions(played: Mapping[str, int], own: Mapping[str, int]) -> str:
    """Clause on games played by other agent versions than these, for messages; "" if all versions match.

    Args:
        played: version by agent kind.
        own: versions of this installation, likewise; other kinds are left out.
    """
    texts = [
        f"version {version} of {name}, and this manaforge plays version {own[name]}"
        for name, version in played.items()
        if name in own and version != own[name]
    ]
    return " and ".join(texts)


def refuse_decks(players: Iterable[tuple[str, str]], decks: "Iterable[Deck]") -> None:
    """Refuse decks with card effects for agents that do not support them, and decks with different patches.

    Args:
        players: agent kind and backend of each; the backend is ignored for kinds that take none.
        decks: of these players.

    Raises:
        DeckError: an agent without card effects would play a deck that has them, or the decks have different
            patches; the message names both.
    """
    decks, players = list(decks), list(players)
    patch: Patch = lazy_import("engine.decks:patch_of")(decks)
    outside = [name for name, _ in players if is_outside(name)]
    if outside and patch.changes_text:
        changes = ", ".join(one.text for one in patch.cards if one.changes_text)
        raise DeckError(
            f"{outside[0]} reads positions as text, which has no patched numbers of a card's text "
            f"({changes}); patch cost, attack or health"
        )
    real = [deck for deck in decks if deck.effects]
    unable = []
    for name, backend in dict.fromkeys(players):
        kind = find_kind(name)
        if not kind.effects:
            unable.append(name)
        elif kind.takes_backend and BACKENDS[backend].cards != "all":
            unable.append(f"{name} with backend {backend}")
    if real and unable:
        names = ", ".join(dict.fromkeys(deck.name for deck in real))
        where = f"decks with a class (such as {names})"
        if not any(deck.hero_class for deck in real):
            put_in = dict.fromkeys(deck.varied.name for deck in real if deck.varied)
            where = f"decks with {', '.join(put_in)} (such as {names})"
        able = ", ".join(kind.name for kind in AGENTS.values() if kind.effects)
        raise DeckError(
            f"{', '.join(dict.fromkeys(unable))} does not support card effects, which {where} need; "
            f"agents that do: {able}"
        )


def predicts_decks(kind: str, options: Sequence[int]) -> bool:
    """Whether an agent with these option values predicts the opponent's deck."""
    found = find_kind(kind)
    return (HANDS, looking.PREDICTED) in zip(found.options, found.settings(options), strict=True)


def opponent_model_decks(
    players: Iterable[tuple[str, Sequence[int]]],
    decks: "Iterable[Deck]",
    further: "tuple[Deck, ...]" = (),
) -> "tuple[tuple[Deck, ...], int]":
    """Decks and game features that the players' opponent models need (`engine.match.opponent_model_needs`).

    Args:
        players: agent kind and options of each.
        decks: of these players.
        further: decks in addition to the shipped ones, for deck prediction.
    """
    hands = {
        value
        for name, options in players
        for option, value in zip(find_kind(name).options, find_kind(name).settings(options), strict=True)
        if option is HANDS and value != option.default
    }
    decks = list(decks)
    if not hands or not any(deck.effects for deck in decks):
        return (), 0
    if looking.PREDICTED not in hands:
        return (), GameFeature.GRAVEYARD
    patch: Patch = lazy_import("engine.decks:patch_of")(decks)
    found: tuple[Deck, ...] = lazy_import("ilp_agent.lookahead.deck_prediction:class_decks")(further)
    return tuple(deck.patched(patch) for deck in found), GameFeature.GRAVEYARD


def weighted_kinds() -> list[str]:
    """Names of the agents that have weights, which can evolve."""
    return [kind.name for kind in AGENTS.values() if kind.weighted]


def weight_class(name: str, weights: str = "thesis") -> "type[WeightVector]":
    """Class of an agent's weights.

    Args:
        name: of the agent.
        weights: for agents of the turn program, the set of weights to evolve, a name of `WEIGHT_SETS`.

    Raises:
        UnknownNameError: unknown agent, or one without weights.
    """
    found = AGENTS[name].weights if name in AGENTS else None
    if found is None:
        raise unknown_name("agent with weights", name, weighted_kinds())
    if found.AGENT != DEFAULT_AGENT:
        return found
    sets: Mapping[str, type[WeightVector]] = lazy_import("ilp_agent.weights:WEIGHT_SETS")
    return sets[weights]


def agent_of(
    name: str, weights: object = None, backend: str = DEFAULT_BACKEND, options: Sequence[int] = ()
) -> "Agent":
    """Create an agent by name; see `AgentKind.agent`.

    Raises:
        UnknownNameError: unknown agent.
    """
    return find_kind(name).agent(weights, backend, options)


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
