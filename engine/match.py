"""One game between two agents, from the deal and the mulligan to its end."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from engine.actions import Action
from engine.cards import Card
from engine.cards.table import CardTable
from engine.codes import MulliganCode, Purpose
from engine.deck_files import find_deck
from engine.decks import Deck, cached_card_table, default_ruleset, patch_of
from engine.effect_codes import GameFeature
from engine.errors import AgentError, MulliganChoiceError, unknown_name
from engine.game_session import Agent, GameSession, MatchResult, no_op
from engine.position import Position, empty_state
from engine.ruleset import Ruleset, find_ruleset
from engine.state import deal_game
from engine.streams import generator, stream_key
from engine.view import OpponentInfo

MulliganPlan = Mapping[str, bool]
"""Mulligan choice: card id -> keep (True) or replace (False); other cards follow the ruleset's rule."""


def card_id_or_name(card: Card) -> str:
    """Key of a card in a mulligan choice: its id, or its name if it is not in the catalogue."""
    return card.id or card.name


def mulligan_codes(cards: Iterable[Card], keeps: MulliganPlan | None) -> np.ndarray:
    """Encode a mulligan choice for kernels: codes of `MulliganCode`, uint8, shape (cards,).

    Args:
        cards: the cards of the card table, in its order.
        keeps: the mulligan choice; None: the ruleset's rule, encoded as an empty array.

    Raises:
        UnknownNameError: a card is not in the game; the message lists the nearest.
        MulliganChoiceError: a value is not True or False.
    """
    if keeps is None:
        return np.zeros(0, np.uint8)
    names = [card_id_or_name(card) for card in cards]
    for name in keeps:
        if name not in names:
            raise unknown_name("opening card", name, names)
    for name, kept in keeps.items():
        if not isinstance(kept, bool | np.bool_):
            raise MulliganChoiceError(f"keeps: {name} must be True or False, got {kept!r}")
    codes = {True: MulliganCode.KEEP, False: MulliganCode.REPLACE, None: MulliganCode.BY_RULE}
    return np.array([codes[keeps.get(name)] for name in names], np.uint8)


MulliganPlans = tuple[MulliganPlan | None, MulliganPlan | None]
"""Mulligan choices by seat; None: the ruleset's rule."""

RULESET_MULLIGAN: MulliganPlans = (None, None)

ActionCallback = Callable[[Position, Action], None]
"""Callback after each action, with a copy of the true position before it, and the action."""


def deal(
    decks: tuple[Deck | str, Deck | str],
    seed: int,
    address: tuple[int, ...] = (),
    ruleset: str | Ruleset = "",
    keeps: MulliganPlans = RULESET_MULLIGAN,
) -> Position:
    """Deal a game: decks shuffled, hands drawn, the first player's turn begun.

    Args:
        decks: first and second player's decks; decks or names for `engine.find_deck`.
        seed: in [0, 2**64).
        address: further integers in [0, 2**32) that identify the game (`engine.streams`).
        ruleset: a name or a `Ruleset`; "": "standard" if a deck has a class, else "thesis".
        keeps: mulligan choices by seat, for a ruleset with a mulligan.

    Raises:
        UnknownNameError: there is no such ruleset, or no such card in a mulligan choice.
        SeedError: seed or address is out of range.
    """
    first, second = (deck if isinstance(deck, Deck) else find_deck(deck) for deck in decks)
    rules = _rules(ruleset, (first, second))
    return deal_from_key((first, second), stream_key(seed, *address), rules, keeps)


def _rules(ruleset: str | Ruleset, decks: tuple[Deck, Deck]) -> Ruleset:
    """The given ruleset, or the default of these decks for ""."""
    return find_ruleset(ruleset or default_ruleset(decks)) if isinstance(ruleset, str) else ruleset


class OpponentModelData(NamedTuple):
    """Data for agents that model the opponent's cards, in compiled games.

    Attributes:
        dealt: deck contents of the games (`engine.batches.dealt_cards`).
        table: the card table, including the real cards of the agents' deck libraries.
        further: opponent decks to consider besides the shipped ones.
        beliefs: what agents know of the opponent's Secrets so far, in a record type of theirs, shape
            (games, 2); written by agents. None: each call begins anew.
    """

    dealt: np.ndarray
    table: CardTable | None = None
    further: tuple[Deck, ...] = ()
    beliefs: np.ndarray | None = None


def opponent_model_needs(agents: Sequence[Agent], decks: Sequence[Deck]) -> tuple[tuple[Deck, ...], int]:
    """Decks and game features needed by agents that model the opponent (`shown`), in a game with real cards.

    Returns:
        Further decks for the card table (the agents' attribute `library`), and bits of `GameFeature`.
    """
    unmodelled = (OpponentInfo.NOTHING, OpponentInfo.SECRETS)
    modelling = [agent for agent in agents if getattr(agent, "shown", unmodelled[0]) not in unmodelled]
    if not modelling or not any(deck.effects for deck in decks):
        return (), 0
    patch = patch_of(decks)
    libraries = (deck.patched(patch) for agent in modelling for deck in getattr(agent, "library", ()))
    return tuple(dict.fromkeys(libraries)), GameFeature.GRAVEYARD


def deal_from_key(
    decks: tuple[Deck, Deck],
    key: np.uint64,
    rules: Ruleset,
    keeps: MulliganPlans = RULESET_MULLIGAN,
    further: tuple[Deck, ...] = (),
    game_features: int = 0,
) -> Position:
    """Deal a game as `deal` does, from the key of the deal's stream.

    The card table also has the cards of the decks `further`; `game_features` are its features
    (`opponent_model_needs`).
    """
    table, records = cached_card_table((*decks, *further), game_features)
    state = empty_state()
    choices = [mulligan_codes(table.cards, own) for own in keeps]
    deal_game(state, table.array, records[0], records[1], rules.array, key, choices[0], choices[1])
    return Position(state, table)


def play(
    first: Agent,
    second: Agent,
    decks: tuple[Deck | str, Deck | str],
    seed: int,
    address: tuple[int, ...] = (),
    ruleset: str | Ruleset = "",
    watch: ActionCallback | None = None,
    keeps: MulliganPlans = RULESET_MULLIGAN,
) -> MatchResult:
    """Play one game; deal and agents' random streams are reproducible from seed and address.

    Args:
        first: the agent that goes first.
        second: the other agent.
        decks: first and second player's decks; decks or names for `engine.find_deck`.
        seed: in [0, 2**64).
        address: further integers in [0, 2**32) that identify the game.
        ruleset: a name or a `Ruleset`; "": "standard" if a deck has a class, else "thesis".
        watch: callback after each action with the position before it, for logs and displays.
        keeps: mulligan choices by seat, for a ruleset with a mulligan.

    Raises:
        UnknownNameError: there is no such deck or ruleset, or no such card in a mulligan choice.
        MulliganChoiceError: a value of a mulligan choice is not True or False.
        DeckError: a deck cannot be read.
        SeedError: seed or address is out of range.
        AgentError: `first` or `second` is not an agent.
    """
    for name, agent in (("first", first), ("second", second)):
        if isinstance(agent, type) or not callable(getattr(agent, "act", None)):
            raise AgentError(f"{name} must be an object with a method act(view, rng), got {agent!r}")
    first_deck, second_deck = (deck if isinstance(deck, Deck) else find_deck(deck) for deck in decks)
    rules = _rules(ruleset, (first_deck, second_deck))
    requirements = opponent_model_needs((first, second), (first_deck, second_deck))
    position = deal_from_key(
        (first_deck, second_deck), stream_key(seed, *address), rules, keeps, *requirements
    )
    streams = [generator(seed, *address, Purpose.AGENT, seat) for seat in (0, 1)]
    return play_from((first, second), position, streams, watch, stream_key(seed, *address))


def play_from(
    agents: tuple[Agent, Agent],
    position: Position,
    streams: Sequence[np.random.Generator],
    watch: ActionCallback | None = None,
    key: np.uint64 | None = None,
) -> MatchResult:
    """Play a game from a position to its end. The position is modified in place.

    Args:
        agents: by seat.
        position: the first position.
        streams: the agents' random streams, by seat.
        watch: callback after each action with the position before it.
        key: key of the game's chance stream; without one, actions with chance events are refused.
    """
    game = GameSession(position, key)
    for seat, agent in enumerate(agents):
        if game.result is None:
            game.seat_agent(seat, agent, streams[seat])
    while game.result is None:
        before = position.copy() if watch else position
        seat = position.active
        action = game.decide(agents[seat], streams[seat])
        if watch and action is not None:
            watch(before, action)
    for agent in agents:
        with suppress(Exception):  # the result stands
            getattr(agent, "game_over", no_op)(game.result.outcome, game.result.reason)
    return game.result
