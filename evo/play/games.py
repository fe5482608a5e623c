"""Games and results as arrays, keep values by deck and seat, and how a worker plays a chunk."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import Deck, Outcome, Ruleset, find_deck, find_ruleset
from engine.batches import deal_chosen_games, deal_games, dealt_cards, endings
from engine.cards.table import CardTable
from engine.codes import Purpose
from engine.compile_progress import progress
from engine.decks import tables_of
from engine.game_session import Agent, MatchResult, Reason
from engine.indirect_call import compiled_by_two
from engine.match import (
    Keeps,
    Reckoned,
    SeatKeeps,
    Watcher,
    card_word,
    choices_of,
    deal_key,
    play_on,
    reckoned_with,
)
from engine.state import STATE
from engine.streams import agent_keys, derive, generator_of
from ilp_agent import DEFAULT_BACKEND
from ilp_agent.backends import settled
from ilp_agent.mulligan import DeckKeeps
from rivals import AGENTS, DEFAULT_AGENT, find_kind, predicts_decks, reckoned_decks, refuse_decks
from rivals.batch import TURNS

if TYPE_CHECKING:
    from evo.config.run_config import RunConfig


def keeps_with(keeps: Sequence[DeckKeeps], deck: Deck, seat: int) -> Keeps | None:
    """What a player keeps of a deck's cards in a seat; None where it goes by the ruleset's rule.

    Cards that the deck does not have are left out: a file may give the name of a deck to another list.
    """
    for entry in keeps:
        if (entry.deck, entry.seat) == (deck.name, seat):
            held = {card_word(card) for card in deck.cards}
            named = {**dict.fromkeys(entry.keep, True), **dict.fromkeys(entry.replace, False)}
            return {card: kept for card, kept in named.items() if card in held}
    return None


def opening_choices(
    players: Sequence[Sequence[DeckKeeps]], decks: Sequence[Deck], table: CardTable
) -> tuple[np.ndarray, np.ndarray]:
    """What players keep, as `engine.batches.deal_chosen_games` takes it.

    Args:
        players: what each keeps.
        decks: that are played.
        table: the cards of these decks.

    Returns:
        The choices, uint8, shape (rows, cards), at least one row; and by player, deck and seat the number of
        its row, int64, shape (players, decks, 2), -1 for the ruleset's rule.
    """
    rows = np.full((len(players), len(decks), 2), -1, np.int64)
    choices: list[np.ndarray] = []
    for player, keeps in enumerate(players):
        for place, deck in enumerate(decks):
            for seat in range(2) if keeps else ():
                own = keeps_with(keeps, deck, seat)
                if own is not None:
                    rows[player, place, seat] = len(choices)
                    choices.append(choices_of(table.cards, own))
    return np.array(choices or [np.zeros(len(table.cards))], np.uint8), rows


class Fault(IntEnum):
    """What the loser of a game did, if the game was not decided by play."""

    NONE = 0
    ILLEGAL_ACTION = 1
    AGENT_ERROR = 2
    TOO_LATE = 3
    NOT_UNDERSTOOD = 4
    PROCESS_ENDED = 5


FAULTS = {fault: Reason[fault.name] if fault else "" for fault in Fault}
"""What a fault is in words."""

_FAULT_OF = {words: fault for fault, words in FAULTS.items() if fault}

GAME = np.dtype(
    [
        ("outcome", "i1"),  # engine.codes.Outcome: FIRST_WINS, SECOND_WINS or DRAW
        ("fault", "i1"),  # Fault of the loser
        ("turns", "i2"),  # rounds begun, at most the ruleset's cap
        ("exact", "i2"),  # turns of both players that the exact solver solved
        ("search", "i2"),  # and that the search solved, those solved again within a turn too
        ("unproven", "i2"),  # those whose optimum was not proven
    ]
)
"""The result of a game."""

SOLVED = TURNS.names or ()
"""The fields of `GAME` that count solved turns; agents in Python count them under the same names."""


@dataclass(frozen=True)
class Player:
    """A player, in a form that can be sent to other processes.

    Attributes:
        weights: in the order of the agent kind; () for a kind without weights.
        backend: its solver, for a kind that takes one.
        kind: agent kind, a name of `rivals.AGENTS`.
        options: values of all its options (`rivals.kinds`); () for their defaults.
        keeps: the opening cards that it keeps and replaces, each deck and seat once; with other decks it goes
            by the ruleset's rule.
    """

    weights: tuple[float, ...] = ()
    backend: str = DEFAULT_BACKEND
    kind: str = DEFAULT_AGENT
    options: tuple[int, ...] = ()
    keeps: tuple[DeckKeeps, ...] = ()

    @property
    def compiled(self) -> bool:
        """Whether its games run compiled, without the GIL."""
        return find_kind(self.kind).compiled(self.backend)

    @property
    def played_as(self) -> tuple[str, str]:
        """Agent kind with the version of its play, and backend, for definitions of games that are kept."""
        return find_kind(self.kind).versioned, self.backend

    @property
    def sort(self) -> tuple[str, str]:
        """Agent kind and backend."""
        return self.kind, self.backend

    def settled(self, decks: Iterable[Deck]) -> "Player":
        """The same player with the backend that plays these decks (`ilp_agent.backends.settled`)."""
        kind = find_kind(self.kind)
        if not kind.takes_backend or not kind.weights:
            return self
        thesis = len(self.weights) <= len(kind.weights.names())
        backend = settled(self.backend, not any(deck.effects for deck in decks), thesis)
        return self if backend == self.backend else replace(self, backend=backend)

    @property
    def predicts(self) -> bool:
        """Whether it predicts which deck its opponent plays."""
        return predicts_decks(self.kind, self.options)

    def agent(self, library: Sequence[Deck] = ()) -> Agent:
        """The player as an agent in Python; `library` as of `Roster`."""
        return find_kind(self.kind).agent(self.weights, self.backend, self.options, library)

    @property
    def row(self) -> tuple[float, ...]:
        """All weights and options, as compiled games take them."""
        kind = find_kind(self.kind)
        weights = kind.weights.padded(self.weights) if kind.weights else self.weights
        return (*weights, *kind.settings(self.options))


@dataclass(frozen=True)
class Roster:
    """What the numbers of a schedule refer to: players and decks by place, and the rules of all games.

    Attributes:
        players: by place.
        decks: that are played, by place.
        ruleset: of all games.
        library: decks that players who predict the opponent's deck know beside the shipped ones.
    """

    players: tuple[Player, ...]
    decks: tuple[Deck, ...]
    ruleset: Ruleset
    library: tuple[Deck, ...] = ()

    def __post_init__(self) -> None:
        refuse_decks((player.sort for player in self.players), self.decks)
        object.__setattr__(self, "players", tuple(player.settled(self.decks) for player in self.players))

    @property
    def backends(self) -> set[str]:
        """Solvers that the players use."""
        return {player.backend for player in self.players if find_kind(player.kind).takes_backend}

    def compiled(self, games: "Schedule") -> np.ndarray:
        """Which games run compiled; bool, shape (games,)."""
        players = np.array([player.compiled for player in self.players])
        return np.asarray(players[games.players].all(axis=1))


@dataclass(frozen=True)
class Schedule:
    """Games by number: players, decks and deals.

    Attributes:
        players: int16, shape (games, 2): places in `Roster.players`; column 0 goes first.
        decks: int16, shape (games, 2): places in `Roster.decks`.
        keys: uint64, shape (games,): streams of the deals (`engine.streams`).
    """

    players: np.ndarray
    decks: np.ndarray
    keys: np.ndarray

    def __len__(self) -> int:
        return len(self.keys)

    def select(self, which: slice | np.ndarray) -> "Schedule":
        """Some of the games."""
        return Schedule(self.players[which], self.decks[which], self.keys[which])


Play = Callable[[Roster, Schedule], np.ndarray]
"""Plays a schedule; dtype `GAME`, shape (games,)."""


def roster_of(
    config: "RunConfig",
    weights: Iterable[Sequence[float]],
    others: Iterable[Player] = (),
    backend: str | None = None,
) -> Roster:
    """Players of the agent a run evolves, then others, with the run's decks and rules.

    Args:
        config: of the run.
        weights: of each player, in the order of the agent's weights.
        others: players after those.
        backend: solver of their turns; None: the run's own.
    """
    solver = config.backend if backend is None else backend
    evolved = (
        Player(tuple(map(float, vector)), solver, config.agent, config.option_values) for vector in weights
    )
    decks = config.found_decks
    return Roster((*evolved, *others), decks, find_ruleset(config.ruleset), config.found_library)


def play_schedule(roster: Roster, games: Schedule) -> np.ndarray:
    """Play games; the results depend on nothing else. Dtype `GAME`, shape (games,)."""
    played = np.zeros(len(games), GAME)
    compiled = roster.compiled(games)
    for which, play in ((compiled, _play_compiled), (~compiled, _play_in_python)):
        if which.any():
            played[which] = play(roster, games.select(which))
    return played


def deal_schedule(
    roster: Roster, games: Schedule, tables: tuple[CardTable, np.ndarray] | None = None
) -> np.ndarray:
    """First positions of games, each player keeping what it keeps; dtype `STATE`, shape (games,).

    Args:
        roster: players, decks and rules.
        games: the schedule.
        tables: cards and decks as `tables_of` gives them; None: of the roster's decks.
    """
    cards, decks = tables or tables_of(roster.decks)
    states = np.zeros(len(games), STATE)
    dealt = (cards.array, decks, roster.ruleset.array, games.decks, games.keys, states)
    keeps = [player.keeps for player in roster.players]
    if not any(keeps):
        deal_games(*dealt)
        return states
    choices, rows = opening_choices(keeps, roster.decks, cards)
    deal_chosen_games(*dealt, choices, rows[games.players, games.decks, (0, 1)])
    return states


def compile_games(players: Iterable[Player] = (Player(),), decks: Iterable[Deck] = ()) -> None:
    """Play a game of each sort of player, to compile it before games are timed or many workers need it.

    Args:
        players: those that play compiled games, and others, which are left alone.
        decks: that will be played; without any, bodies are.
    """
    places, rules = np.zeros((1, 2), np.int16), find_ruleset("thesis")
    played = tuple(decks) or (find_deck("hearthsim-basic"),)
    chosen: dict[tuple[object, ...], Player] = {}
    for player in players:
        if player.compiled:
            vector = find_kind(player.kind).weights
            n = max(len(player.weights), len(vector.names())) if vector else 0
            one = replace(player, weights=(1.0,) * n, keeps=()).settled(played)
            chosen[(*one.sort, n)] = one
    sorts = {deck.effects for deck in played}
    needed = [find_kind(player.kind).play_batch(player.backend) for player in chosen.values()]
    progress.expect([_play_together, *filter(None, needed)], effects=any(sorts))
    with compiled_by_two():
        for real in sorted(sorts):
            deck = find_deck("basic-mage" if real else "hearthsim-basic")
            for _, player in sorted(chosen.items(), key=lambda item: tuple(map(str, item[0]))):
                if find_kind(player.kind).effects or not real:
                    roster = Roster((player,), (deck,), rules)
                    _play_compiled(roster, Schedule(places, places, np.zeros(1, np.uint64)))


def keeps_of_both(players: tuple[Player, Player], decks: tuple[Deck, Deck]) -> SeatKeeps:
    """What two players keep of their opening hands, by seat, as `engine.match.play` takes it."""
    return keeps_with(players[0].keeps, decks[0], 0), keeps_with(players[1].keeps, decks[1], 1)


def _play_compiled(roster: Roster, games: Schedule) -> np.ndarray:
    """Group games by card table and play each group together.

    Games between decks of bodies have a table of those alone. Cards that a player adds are in its own games'.
    """
    effects = np.array([deck.effects for deck in roster.decks])
    bodies = ~effects[games.decks].any(axis=1)
    if bodies.any() and effects.any():
        played = np.zeros(len(games), GAME)
        place = np.cumsum(~effects) - 1  # of a deck of bodies among those
        part, chosen = games.select(bodies), [deck for deck in roster.decks if not deck.effects]
        part = replace(part, decks=place[part.decks])
        played[bodies] = _play_compiled(replace(roster, decks=tuple(chosen)), part)
        if not bodies.all():
            played[~bodies] = _play_compiled(roster, games.select(~bodies))
        return played
    pairs, pair = np.unique(np.sort(games.players, axis=1), axis=0, return_inverse=True)
    sorts = [(player.kind, player.options) for player in roster.players]
    needs = [reckoned_decks([sorts[one], sorts[other]], roster.decks, roster.library) for one, other in pairs]
    different = list(dict.fromkeys(needs))
    group = np.array([different.index(need) for need in needs])[pair.reshape(-1)]
    played = np.zeros(len(games), GAME)
    for number, (further, asks) in enumerate(different):
        own, tables = group == number, tables_of((*roster.decks, *further), asks)
        played[own] = _play_together(roster, games.select(own), tables)
    return played


def _play_together(roster: Roster, games: Schedule, tables: tuple[CardTable, np.ndarray]) -> np.ndarray:
    """Each agent kind in turn plays all games on, until none waits for a turn of that kind."""
    cards, _ = tables
    states, solved = deal_schedule(roster, games, tables), np.zeros(len(games), TURNS)
    keys = np.empty((len(games), 2), np.uint64)
    agent_keys(games.keys, keys)
    sorts = [player.sort for player in roster.players]
    present = sorted({sorts[player] for player in np.unique(games.players)})
    seats = {}
    for sort in present:
        own = np.array([place for place, other in enumerate(sorts) if other == sort])
        places = np.full(len(sorts), -1, np.int64)
        places[own] = np.arange(len(own))
        rows = np.array([roster.players[place].row for place in own], np.float64)
        seats[sort] = places[games.players], rows
    asked: dict[str, Any] = {"known": Reckoned(dealt_cards(states), cards, roster.library)}
    outcomes, turns = endings(states)
    while (outcomes == Outcome.ONGOING).any():
        for (kind, backend), (agents, weights) in seats.items():
            play_batch = AGENTS[kind].play_batch(backend)
            assert play_batch is not None, "only compiled games come here"
            more = asked if AGENTS[kind].asks_for_cards else {}
            play_batch(cards.array, weights, agents, states, keys, games.keys, solved, **more)
        outcomes, turns = endings(states)
    played = np.zeros(len(games), GAME)
    played["outcome"], played["turns"] = outcomes, turns
    for name in SOLVED:
        played[name] = solved[name]
    return played


def _play_in_python(roster: Roster, games: Schedule) -> np.ndarray:
    played = np.zeros(len(games), GAME)
    agents: dict[tuple[int, int], Agent] = {}
    before = (0,) * len(SOLVED)
    for number in range(len(games)):
        result = play_one(roster, games, number, agents)
        so_far = tuple(sum(getattr(agent, name, 0) for agent in agents.values()) for name in SOLVED)
        fault = _FAULT_OF.get(result.reason, Fault.NONE)
        of_game = (now - then for now, then in zip(so_far, before, strict=True))
        played[number] = (result.outcome, fault, result.turns, *of_game)
        before = so_far
    return played


def play_one(
    roster: Roster,
    games: Schedule,
    number: int,
    agents: dict[tuple[int, int], Agent] | None = None,
    watch: Watcher | None = None,
) -> MatchResult:
    """Play one game in Python.

    Args:
        roster: players, decks and rules.
        games: the schedule.
        number: of the game.
        agents: keeps the agents between games, by player and seat.
        watch: called after each action with the position before it; what it raises ends the game.
    """
    known = {} if agents is None else agents
    seats = [(int(player), seat) for seat, player in enumerate(games.players[number])]
    for player, seat in seats:
        if (player, seat) not in known:
            known[player, seat] = roster.players[player].agent(roster.library)
    first, second = (known[one] for one in seats)
    one, two = (roster.decks[deck] for deck in games.decks[number])
    key = games.keys[number]
    streams = [_agent_stream(key, seat) for seat in (0, 1)]
    own, other = (roster.players[player] for player in games.players[number])
    keeps = keeps_of_both((own, other), (one, two))
    further = reckoned_with((first, second), (one, two))
    position = deal_key((one, two), key, roster.ruleset, keeps, *further)
    return play_on((first, second), position, streams, watch, key)


def _agent_stream(key: np.uint64, seat: int) -> np.random.Generator:
    """An agent's random stream in a game, derived from the game's key."""
    own = np.uint64(derive(np.uint64(key), Purpose.AGENT))
    return generator_of(np.uint64(derive(own, seat)))
