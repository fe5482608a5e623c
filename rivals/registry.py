"""The agents: one entry for each kind, which tells everything else about it.

Nothing beyond `AGENTS` lists the kinds: entrants, configurations, games, tournaments and tests ask it. To add
one, write its file beside this one, its entry here, and run `tests/contracts/test_agents.py`. An entry gives
its classes and kernels as MODULE:NAME, which are imported when they are first asked for.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from engine.effect_codes import Ask
from engine.errors import DeckError, unknown_name
from engine.lazy import loaded
from ilp_agent import lookahead as looking
from ilp_agent.backends import BACKENDS, DEFAULT_BACKEND
from rivals.kinds import HANDS, AgentKind, Option
from rivals.outside.permissions import command_of, is_outside

if TYPE_CHECKING:
    from engine.decks import Deck
    from engine.game_session import Agent
    from ilp_agent.weights import WeightVector


_ENTRIES = (
    AgentKind(
        "ilp",
        "ilp_agent.agent:IlpAgent",
        "plays the best plan of the turn program",
        vector="ilp_agent.weights:Weights",
        takes_backend=True,
        effects=True,
    ),
    AgentKind(
        "lookahead",
        "ilp_agent.lookahead.agent:LookaheadAgent",
        "judges different ends of its turn by the opponent's reply",
        vector="ilp_agent.lookahead.weights:LookaheadWeights",
        default_profile="learned",
        batch="ilp_agent.lookahead.selfplay:play_batch",
        options=(
            Option(
                "budget", looking.DEFAULT_BUDGET, 1, looking.MOST_BUDGET, "positions judged in a turn at most"
            ),
            Option(
                "depth",
                looking.DEFAULT_DEPTH,
                1,
                looking.DEPTHS,
                "2: after the opponent's reply, 3: after the next turn, 1: at once",
            ),
            Option(
                "samples",
                looking.DEFAULT_SAMPLES,
                1,
                looking.MOST_SAMPLES,
                "how often a way to go on is tried on real cards",
                most_received=16,
            ),
            HANDS,
        ),
        effects=True,
    ),
    AgentKind(
        "hearthsim",
        "rivals.hearthsim:HearthSimAgent",
        "plays the turn whose end scores most, found by search",
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
        "plays the single action that adds most to the turn program's objective",
        vector="ilp_agent.weights:Weights",
        default_profile="true-balanced",
        batch="rivals.greedy:play_batch",
        effects=True,
    ),
    AgentKind(
        "mcts",
        "rivals.mcts:MctsAgent",
        "plays the action that most random games of a search tree went through",
        batch="rivals.mcts:play_batch",
        random=True,
        options=(
            Option("budget", 200, 1, 100_000, "playouts for each action", most_received=10_000),
            HANDS,
        ),
        effects=True,
    ),
    AgentKind(
        "minimax-td",
        "rivals.minimax:MinimaxAgent",
        "plays the turn that is worth most after the opponent's best answer, by learned weights",
        vector="rivals.minimax:MinimaxWeights",
        default_profile="seed",
        batch="rivals.minimax:play_batch",
        options=(
            Option("depth", 2, 1, 2, "2: after the opponent's answer, 1: at once"),
            Option("chains", 3, 1, 64, "ways to play the turn that are followed"),
            HANDS,
        ),
        effects=True,
    ),
    AgentKind(
        "aggro",
        "rivals.aggro:AggroAgent",
        "attacks the hero whenever it can",
        batch="rivals.aggro:play_batch",
        effects=True,
    ),
    AgentKind(
        "random",
        "engine.game_session:RandomAgent",
        "plays every legal action with the same probability",
        random=True,
        effects=True,
    ),
    AgentKind("pass", "engine.game_session:PassAgent", "ends every turn at once", effects=True),
)

AGENTS = {entry.name: entry for entry in _ENTRIES}
"""Every kind of agent by its name: the one list of them."""

DEFAULT_AGENT = "ilp"


def find_kind(name: str) -> AgentKind:
    """The kind of this name.

    Raises:
        UnknownNameError: there is none; the message lists the nearest.
    """
    if name in AGENTS:
        return AGENTS[name]
    if is_outside(name):
        return _outside_kind(name)
    raise unknown_name("agent", name, AGENTS)


SECONDS = Option("seconds", 10, 1, 3600, "for a decision", most_received=60)


def _outside_agent(name: str, weights: Sequence[float] | None, seconds: int) -> "Agent":
    agent: Agent = loaded("rivals.outside.agent:OutsideAgent")(name, seconds, weights or ())
    return agent


@cache
def _outside_kind(name: str) -> AgentKind:
    """The kind of an outside agent: all of its own.

    Raises:
        OutsideAgentError: the name is none.
    """
    command_of(name)
    return AgentKind(
        name,
        partial(_outside_agent, name),
        "decides in a process of its own",
        random=True,
        options=(SECONDS,),
        effects=True,
        declares=True,
    )


def other_versions(played: Mapping[str, int]) -> str:
    """What to say of games in which agents played by other versions than they have here; "" where none did.

    Args:
        played: version by agent kind.
    """
    other = [(find_kind(name), version) for name, version in played.items() if name in AGENTS]
    texts = [
        f"version {version} of {kind.name}, and this manaforge plays version {kind.version}"
        for kind, version in other
        if version != kind.version
    ]
    return " and ".join(texts)


def refuse_decks(players: Iterable[tuple[str, str]], decks: "Iterable[Deck]") -> None:
    """Refuse decks whose cards do what they say where an agent plays bodies alone.

    Args:
        players: agent kind and backend of each; the backend of a kind that takes none is not looked at.
        decks: that they play.

    Raises:
        DeckError: there are both; the message names them.
    """
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
        where = f"decks with a class, such as {names}"
        if not any(deck.hero_class for deck in real):
            put_in = dict.fromkeys(deck.varied.name for deck in real if deck.varied)
            where = f"decks with {', '.join(put_in)}, such as {names}"
        able = ", ".join(kind.name for kind in AGENTS.values() if kind.effects)
        raise DeckError(
            f"{', '.join(dict.fromkeys(unable))} plays bodies alone, and cards do what they say in {where}; "
            f"these are played by {able}"
        )


def predicts_decks(kind: str, options: Sequence[int]) -> bool:
    """Whether an agent of a kind, by values of its options, predicts which deck its opponent plays."""
    found = find_kind(kind)
    return (HANDS, looking.PREDICTED) in zip(found.options, found.settings(options), strict=True)


def reckoned_decks(
    players: Iterable[tuple[str, Sequence[int]]],
    decks: "Iterable[Deck]",
    further: "tuple[Deck, ...]" = (),
) -> "tuple[tuple[Deck, ...], int]":
    """What games of players need on real cards, as `engine.match.reckoned_with` says it of agents.

    Args:
        players: agent kind and options of each.
        decks: that they play.
        further: decks that those who predict decks know beside the shipped ones.
    """
    hands = {
        value
        for name, options in players
        for option, value in zip(find_kind(name).options, find_kind(name).settings(options), strict=True)
        if option is HANDS and value != option.default
    }
    if not hands or not any(deck.effects for deck in decks):
        return (), 0
    found = (
        loaded("ilp_agent.lookahead.deck_prediction:class_decks")(further)
        if looking.PREDICTED in hands
        else ()
    )
    return found, Ask.GRAVES


def weighted_kinds() -> list[str]:
    """Names of the agents that play by weights, which can evolve."""
    return [kind.name for kind in AGENTS.values() if kind.weighted]


def weight_class(name: str, weights: str = "thesis") -> "type[WeightVector]":
    """The class of an agent's weights.

    Args:
        name: of the agent.
        weights: of one that plays by the turn program which of its weights evolve, a name of `WEIGHT_SETS`.

    Raises:
        UnknownNameError: no agent of this name plays by weights.
    """
    found = AGENTS[name].weights if name in AGENTS else None
    if found is None:
        raise unknown_name("agent with weights", name, weighted_kinds())
    if found.AGENT != DEFAULT_AGENT:
        return found
    sets: Mapping[str, type[WeightVector]] = loaded("ilp_agent.weights:WEIGHT_SETS")
    return sets[weights]


def agent_of(
    name: str, weights: object = None, backend: str = DEFAULT_BACKEND, options: Sequence[int] = ()
) -> "Agent":
    """An agent of a kind as it plays; see `AgentKind.agent`.

    Raises:
        UnknownNameError: there is no such agent.
    """
    return find_kind(name).agent(weights, backend, options)
