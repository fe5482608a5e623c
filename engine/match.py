"""One game between two agents, from the deal and the mulligan to its end."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from engine.actions import Action
from engine.cards import Card
from engine.cards.table import CardTable
from engine.codes import Opening, Purpose
from engine.deck_files import find_deck
from engine.decks import Deck, tables_of
from engine.effect_codes import Ask
from engine.errors import AgentError, KeepsError, unknown_name
from engine.game_session import Agent, Course, MatchResult, nothing
from engine.position import Position, empty_state
from engine.ruleset import Ruleset, find_ruleset
from engine.state import deal_game
from engine.streams import generator, stream_key
from engine.view import Shown

Keeps = Mapping[str, bool]
"""Whether a player keeps an opening card, by its id; others go by the ruleset's rule."""


def card_word(card: Card) -> str:
    """What names a card in `Keeps`: its id, or the name of one that is in no catalogue."""
    return card.id or card.name


def choices_of(cards: Iterable[Card], keeps: Keeps | None) -> np.ndarray:
    """A player's choice as kernels read it: codes of `Opening`, uint8, shape (cards,).

    Args:
        cards: of the card table, in its order.
        keeps: the choice; None: the ruleset's rule, which is an empty row.

    Raises:
        UnknownNameError: there is no such card in the game; the message lists the nearest.
        KeepsError: it is not said by True or False whether a card is kept.
    """
    if keeps is None:
        return np.zeros(0, np.uint8)
    words = [card_word(card) for card in cards]
    for word in keeps:
        if word not in words:
            raise unknown_name("opening card", word, words)
    for word, kept in keeps.items():
        if not isinstance(kept, bool | np.bool_):
            raise KeepsError(f"keeps: {word} must be True or False, got {kept!r}")
    codes = {True: Opening.KEEP, False: Opening.REPLACE, None: Opening.BY_RULE}
    return np.array([codes[keeps.get(word)] for word in words], np.uint8)


SeatKeeps = tuple[Keeps | None, Keeps | None]
"""By seat, what a player chooses to keep of the opening hand; None: the ruleset's rule."""

BY_RULE: SeatKeeps = (None, None)

Watcher = Callable[[Position, Action], None]
"""Called after each action with a copy of the true position before it, and the action."""


def deal(
    decks: tuple[Deck | str, Deck | str],
    seed: int,
    address: tuple[int, ...] = (),
    ruleset: str | Ruleset = "thesis",
    keeps: SeatKeeps = BY_RULE,
) -> Position:
    """The first position of a game: shuffled, dealt, the first player's turn begun.

    Args:
        decks: of the player who goes first, and of the other; decks or names for `engine.find_deck`.
        seed: in [0, 2**64).
        address: more integers in [0, 2**32) that name this game below the seed (`engine.streams`).
        ruleset: a name or a `Ruleset`.
        keeps: by seat the opening cards that are kept and replaced, where the ruleset has a mulligan.

    Raises:
        UnknownNameError: there is no such ruleset, or no such card to keep.
        SeedError: seed or address is out of range.
    """
    rules = find_ruleset(ruleset) if isinstance(ruleset, str) else ruleset
    first, second = (deck if isinstance(deck, Deck) else find_deck(deck) for deck in decks)
    return deal_key((first, second), stream_key(seed, *address), rules, keeps)


class Reckoned(NamedTuple):
    """What compiled games give agents that reckon with the opponent's cards.

    Attributes:
        dealt: cards that the decks had (`engine.batches.dealt_cards`).
        table: the games' cards, those of the agents' libraries among them where these are real cards.
        further: decks that an opponent may play beside the shipped ones.
    """

    dealt: np.ndarray
    table: CardTable | None = None
    further: tuple[Deck, ...] = ()


def reckoned_with(agents: Sequence[Agent], decks: Sequence[Deck]) -> tuple[tuple[Deck, ...], int]:
    """What a game on real cards needs for agents that are shown cards (their attribute `shown`).

    Returns:
        Decks whose cards the card table holds, too (their attribute `library`), and bits of `Ask`.
    """
    asking = [agent for agent in agents if getattr(agent, "shown", Shown.NOTHING)]
    if not asking or not any(deck.effects for deck in decks):
        return (), 0
    libraries = (deck for agent in asking for deck in getattr(agent, "library", ()))
    return tuple(dict.fromkeys(libraries)), Ask.GRAVES


def deal_key(
    decks: tuple[Deck, Deck],
    key: np.uint64,
    rules: Ruleset,
    keeps: SeatKeeps = BY_RULE,
    further: tuple[Deck, ...] = (),
    asks: int = 0,
) -> Position:
    """The first position of a game, as `deal` makes it, by the key of the deal's stream.

    The card table holds the cards of `further` decks too, and keeps what `asks` says (`reckoned_with`).
    """
    table, records = tables_of((*decks, *further), asks)
    state = empty_state()
    choices = [choices_of(table.cards, own) for own in keeps]
    deal_game(state, table.array, records[0], records[1], rules.array, key, choices[0], choices[1])
    return Position(state, table)


def play(
    first: Agent,
    second: Agent,
    decks: tuple[Deck | str, Deck | str],
    seed: int,
    address: tuple[int, ...] = (),
    ruleset: str | Ruleset = "thesis",
    watch: Watcher | None = None,
    keeps: SeatKeeps = BY_RULE,
) -> MatchResult:
    """Play one game. The same seed and address give the same deal and the same streams for the agents.

    Args:
        first: the agent who goes first.
        second: the other agent.
        decks: of the first, and of the second; decks, or names as `engine.find_deck` takes them.
        seed: in [0, 2**64).
        address: more integers in [0, 2**32) that name this game below the seed.
        ruleset: a name or a `Ruleset`.
        watch: called after each action with the position before it, for logs and displays.
        keeps: by seat the opening cards that are kept and replaced, where the ruleset has a mulligan.

    Raises:
        UnknownNameError: there is no such deck or ruleset, or no such card to keep.
        KeepsError: it is not said by True or False whether a card is kept.
        DeckError: a deck cannot be read.
        SeedError: seed or address is out of range.
        AgentError: `first` or `second` is not an agent.
    """
    for name, agent in (("first", first), ("second", second)):
        if isinstance(agent, type) or not callable(getattr(agent, "act", None)):
            raise AgentError(f"{name} must be an object with a method act(view, rng), got {agent!r}")
    one, two = (deck if isinstance(deck, Deck) else find_deck(deck) for deck in decks)
    rules = find_ruleset(ruleset) if isinstance(ruleset, str) else ruleset
    further = reckoned_with((first, second), (one, two))
    position = deal_key((one, two), stream_key(seed, *address), rules, keeps, *further)
    streams = [generator(seed, *address, Purpose.AGENT, seat) for seat in (0, 1)]
    return play_on((first, second), position, streams, watch, stream_key(seed, *address))


def play_on(
    agents: tuple[Agent, Agent],
    position: Position,
    streams: Sequence[np.random.Generator],
    watch: Watcher | None = None,
    key: np.uint64 | None = None,
) -> MatchResult:
    """Play a game from a position to its end. The position is modified in place.

    Args:
        agents: by seat.
        position: where to begin.
        streams: the agents' random streams, by seat.
        watch: called after each action with the position before it.
        key: of the game's stream, from which chance events are drawn; without one they are refused.
    """
    course = Course(position, key)
    for seat, agent in enumerate(agents):
        if course.result is None:
            course.seat_agent(seat, agent, streams[seat])
    while course.result is None:
        before = position.copy() if watch else position
        seat = position.active
        action = course.decide(agents[seat], streams[seat])
        if watch and action is not None:
            watch(before, action)
    for agent in agents:
        with suppress(Exception):  # the game is decided
            getattr(agent, "game_over", nothing)(course.result.outcome, course.result.reason)
    return course.result
