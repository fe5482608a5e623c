"""Players, schedules and results of games as arrays; play a schedule, compiled or in Python."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import Deck, Outcome, Ruleset, find_deck, find_ruleset
from engine.batches import (
    MAX_GAME_ACTIONS,
    begin_logs,
    deal_games,
    deal_games_with_mulligan,
    dealt_cards,
    game_results,
)
from engine.cards.table import CardTable
from engine.codes import Purpose
from engine.compile_progress import progress
from engine.decks import cached_card_table
from engine.game_session import Agent, MatchResult, Reason
from engine.indirect_call import compiling_with_helper
from engine.lazy import lazy_import
from engine.match import (
    ActionCallback,
    MulliganPlan,
    MulliganPlans,
    OpponentModelData,
    card_id_or_name,
    deal_from_key,
    mulligan_codes,
    opponent_model_needs,
    play_from,
)
from engine.state import STATE
from engine.streams import agent_keys, derive, generator_of
from ilp_agent import DEFAULT_BACKEND
from ilp_agent.backends import resolved_backend
from ilp_agent.card_values import NO_CARD_VALUES, CardValueError, CardValues
from ilp_agent.mulligan import DeckMulligan
from rivals import AGENTS, DEFAULT_AGENT, find_kind, opponent_model_decks, predicts_decks, refuse_decks
from rivals.batch import TURNS

if TYPE_CHECKING:
    from evo.config.run_config import RunConfig


def mulligan_for_deck(keeps: Sequence[DeckMulligan], deck: Deck, seat: int) -> MulliganPlan | None:
    """A player's mulligan choices for a deck and seat; None for the ruleset's mulligan rule.

    Cards that are not in the deck are dropped: a file may use the deck's name for another card list.
    """
    for entry in keeps:
        if (entry.deck, entry.seat) == (deck.name, seat):
            in_deck = {card_id_or_name(card) for card in deck.cards}
            choices = {**dict.fromkeys(entry.keep, True), **dict.fromkeys(entry.replace, False)}
            return {card: kept for card, kept in choices.items() if card in in_deck}
    return None


def mulligan_arrays(
    players: Sequence[Sequence[DeckMulligan]], decks: Sequence[Deck], table: CardTable
) -> tuple[np.ndarray, np.ndarray]:
    """Convert mulligan choices to arrays for `engine.batches.deal_games_with_mulligan`.

    Args:
        players: mulligan choices of each player.
        decks: decks that are played.
        table: card table of these decks.

    Returns:
        The choices, uint8, shape (rows, cards), at least one row; and the row number by player, deck and
        seat, int64, shape (players, decks, 2), -1 for the ruleset's mulligan rule.
    """
    rows = np.full((len(players), len(decks), 2), -1, np.int64)
    choices: list[np.ndarray] = []
    for player, keeps in enumerate(players):
        for deck_index, deck in enumerate(decks):
            for seat in range(2) if keeps else ():
                chosen = mulligan_for_deck(keeps, deck, seat)
                if chosen is not None:
                    rows[player, deck_index, seat] = len(choices)
                    choices.append(mulligan_codes(table.cards, chosen))
    return np.array(choices or [np.zeros(len(table.cards))], np.uint8), rows


class Fault(IntEnum):
    """Fault by which a player lost a game that was not decided by play."""

    NONE = 0
    ILLEGAL_ACTION = 1
    AGENT_ERROR = 2
    TOO_LATE = 3
    NOT_UNDERSTOOD = 4
    PROCESS_ENDED = 5


FAULT_TEXTS = {fault: Reason[fault.name] if fault else "" for fault in Fault}
"""Text of each fault; "" for none."""

_FAULT_BY_REASON = {words: fault for fault, words in FAULT_TEXTS.items() if fault}

GAME = np.dtype(
    [
        ("outcome", "i1"),  # engine.codes.Outcome: FIRST_WINS, SECOND_WINS or DRAW
        ("fault", "i1"),  # Fault of the loser
        ("turns", "i2"),  # rounds begun, at most the ruleset's cap
        ("exact", "i2"),  # turns of both players solved by the exact solver
        ("search", "i2"),  # turns solved by the search, repeated solves within a turn included
        ("unproven", "i2"),  # turns whose optimum was not proven
    ]
)
"""Record of a game's result."""

GAME_WITH_ACTIONS = np.dtype(
    [
        *((name, GAME[name]) for name in GAME.names or ()),
        ("n_actions", "i4"),  # those of the game, even beyond `actions`
        ("actions", "i4", (MAX_GAME_ACTIONS,)),  # as of `engine.rules.encode`, in order
    ]
)
"""Record of a game's result and its actions."""

SOLVED_TURN_FIELDS = TURNS.names or ()
"""Fields of `GAME` that count solved turns; agents in Python count them in attributes of these names."""


@dataclass(frozen=True)
class Player:
    """A player: agent kind, weights, solver, options and mulligan; can be sent to other processes.

    Attributes:
        weights: in the order of the agent kind; () for a kind without weights.
        backend: solver, for a kind with a choice of solvers.
        kind: agent kind, a name of `rivals.AGENTS`.
        options: values of all options of the kind (`rivals.kinds`); () for defaults.
        keeps: mulligan choices, each deck and seat once; the ruleset's mulligan rule for other decks.
        deck_weights: deck names, and the weights for each of these decks instead of `weights`.
        card_values: values of single cards, for an agent kind that uses them.

    Raises:
        CardValueError: the agent kind takes no card values.
    """

    weights: tuple[float, ...] = ()
    backend: str = DEFAULT_BACKEND
    kind: str = DEFAULT_AGENT
    options: tuple[int, ...] = ()
    keeps: tuple[DeckMulligan, ...] = ()
    deck_weights: tuple[tuple[str, tuple[float, ...]], ...] = ()
    card_values: CardValues = NO_CARD_VALUES

    def __post_init__(self) -> None:
        if self.card_values:
            vector = find_kind(self.kind).weights
            if vector is None or not vector.CARD_VALUES:
                raise CardValueError(f"agent {self.kind} takes no card values; lookahead does")

    @property
    def most_weights(self) -> int:
        """Largest number of weights that it plays with on any deck."""
        return max(len(self.weights), *(len(weights) for _, weights in self.deck_weights), 0)

    def with_deck(self, deck: str) -> "Player":
        """This player with the weights for a deck of this name."""
        if not self.deck_weights:
            return self
        return replace(self, weights=dict(self.deck_weights).get(deck, self.weights), deck_weights=())

    @property
    def compiled(self) -> bool:
        """Whether the player's games run compiled, without the GIL."""
        return find_kind(self.kind).compiled(self.backend)

    def versioned_kind(self, decks: Iterable[Deck]) -> tuple[str, str]:
        """Agent kind with its play version on these decks, and backend: part of the key of cached games."""
        return find_kind(self.kind).versioned(any(deck.effects for deck in decks)), self.backend

    @property
    def kind_and_backend(self) -> tuple[str, str]:
        """Agent kind and backend."""
        return self.kind, self.backend

    def with_resolved_backend(self, decks: Iterable[Deck]) -> "Player":
        """This player with the backend `auto` resolved for these decks (`resolved_backend`)."""
        kind = find_kind(self.kind)
        if not kind.takes_backend or not kind.weights:
            return self
        thesis = self.most_weights <= len(kind.weights.names())
        backend = resolved_backend(self.backend, not any(deck.effects for deck in decks), thesis)
        return self if backend == self.backend else replace(self, backend=backend)

    @property
    def predicts(self) -> bool:
        """Whether the player's agent predicts the opponent's deck."""
        return predicts_decks(self.kind, self.options)

    def agent(self, library: Sequence[Deck] = ()) -> Agent:
        """Create the player's agent in Python; `library`: see `Roster`."""
        return find_kind(self.kind).agent(self.weights, self.backend, self.options, library, self.card_values)

    @property
    def row(self) -> tuple[float, ...]:
        """The player's weights and options as one row of numbers for compiled games."""
        kind = find_kind(self.kind)
        weights = kind.weights.pad_optional(self.weights) if kind.weights else self.weights
        return (*weights, *kind.row_settings(self.options))

    def identity(self, decks: Iterable[Deck]) -> list[Any]:
        """What determines its play on these decks, as JSON values, for the definitions of experiments."""
        return [*self.versioned_kind(decks), *self.row, *self.beside_row]

    @property
    def beside_row(self) -> list[Any]:
        """What `row` and the mulligan leave out, as JSON values: weights for single decks, card values."""
        return [*self.deck_weights, *([self.card_values.tables()] if self.card_values else [])]

    def row_for(self, table: CardTable) -> tuple[float, ...]:
        """`row` for games of a card table: card values follow if its cards have effects."""
        if not self.card_values or not table.effects:
            return self.row
        return (*self.row, *self.card_values.by_number(list(map(card_id_or_name, table.cards))))


@dataclass(frozen=True)
class Roster:
    """Players, decks and rules to which the indices of a schedule refer.

    Attributes:
        players: by index.
        decks: by index.
        ruleset: of all games.
        library: candidate decks, beside the shipped ones, for agents that predict the opponent's deck.
        actions: whether results have the games' actions.
    """

    players: tuple[Player, ...]
    decks: tuple[Deck, ...]
    ruleset: Ruleset
    library: tuple[Deck, ...] = ()
    actions: bool = False

    def __post_init__(self) -> None:
        refuse_decks((player.kind_and_backend for player in self.players), self.decks)
        object.__setattr__(
            self, "players", tuple(player.with_resolved_backend(self.decks) for player in self.players)
        )

    @property
    def result_dtype(self) -> np.dtype:
        """Dtype of results: `GAME`, or `GAME_WITH_ACTIONS`."""
        return GAME_WITH_ACTIONS if self.actions else GAME

    @property
    def backends(self) -> set[str]:
        """Solvers used by the players."""
        return {player.backend for player in self.players if find_kind(player.kind).takes_backend}

    def with_decks(self, games: "Schedule") -> "tuple[Roster, Schedule]":
        """The same games between players with the weights for their decks: a player for each deck."""
        if not any(player.deck_weights for player in self.players):
            return self, games
        players = tuple(player.with_deck(deck.name) for player in self.players for deck in self.decks)
        places = games.players.astype(np.int32) * len(self.decks) + games.decks
        return replace(self, players=players), replace(games, players=places)

    def compiled(self, games: "Schedule") -> np.ndarray:
        """Mask of the games that run compiled; bool, shape (games,)."""
        players = np.array([player.compiled for player in self.players])
        return np.asarray(players[games.players].all(axis=1))


@dataclass(frozen=True)
class Schedule:
    """Games to play, numbered: players, decks and deal of each.

    Attributes:
        players: integers, shape (games, 2): indices into `Roster.players`; column 0 goes first.
        decks: integers, shape (games, 2): indices into `Roster.decks`.
        keys: uint64, shape (games,): stream keys of the deals (`engine.streams`).
    """

    players: np.ndarray
    decks: np.ndarray
    keys: np.ndarray

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def from_both_seats(cls, players: np.ndarray, decks: np.ndarray, keys: Sequence[np.uint64]) -> "Schedule":
        """Each deal twice, the seats exchanged: games 2 n and 2 n + 1 are of deal n.

        Args:
            players: of the first game of each deal, shape (deals, 2) or (2,).
            decks: likewise.
            keys: stream keys of the deals.
        """

        def doubled(first: np.ndarray) -> np.ndarray:
            seats = np.broadcast_to(first.astype(np.int16), (len(keys), 2))
            return np.stack([seats, seats[:, ::-1]], axis=1).reshape(-1, 2)

        return cls(doubled(players), doubled(decks), np.repeat(np.array(keys, np.uint64), 2))

    def select(self, which: slice | np.ndarray) -> "Schedule":
        """The schedule of some games of this schedule."""
        return Schedule(self.players[which], self.decks[which], self.keys[which])


PlayFunction = Callable[[Roster, Schedule], np.ndarray]
"""A function that plays a schedule; returns dtype `Roster.result_dtype`, shape (games,)."""


def roster_of(
    config: "RunConfig",
    weights: Iterable[Sequence[float]],
    others: Iterable[Player] = (),
    backend: str | None = None,
) -> Roster:
    """A roster with a run's decks and rules: the run's agent with each of `weights`, then `others`.

    Args:
        config: run configuration.
        weights: of each evolved player, in the order of the agent's weights.
        others: players after these.
        backend: solver of the evolved players; None: the run's.
    """
    solver = config.backend if backend is None else backend
    evolved = (
        Player(tuple(map(float, vector)), solver, config.agent, config.option_values) for vector in weights
    )
    decks = config.found_decks
    return Roster((*evolved, *others), decks, find_ruleset(config.ruleset), config.found_library)


def play_schedule(roster: Roster, games: Schedule) -> np.ndarray:
    """Play a schedule; returns dtype `Roster.result_dtype`, shape (games,), which depends on it alone."""
    played = np.zeros(len(games), roster.result_dtype)
    roster, games = roster.with_decks(games)
    compiled = roster.compiled(games)
    for which, play in ((compiled, _play_compiled), (~compiled, _play_in_python)):
        if which.any():
            played[which] = play(roster, games.select(which))
    return played


def deal_schedule(
    roster: Roster, games: Schedule, tables: tuple[CardTable, np.ndarray] | None = None
) -> np.ndarray:
    """Deal games, mulligans included; returns the first positions, dtype `STATE`, shape (games,).

    Args:
        roster: players, decks and rules.
        games: the schedule.
        tables: card table and deck array of `cached_card_table`; None: those of the roster's decks.
    """
    cards, decks = tables or cached_card_table(roster.decks)
    states = np.zeros(len(games), STATE)
    dealt = (cards.array, decks, roster.ruleset.array, games.decks, games.keys, states)
    keeps = [player.keeps for player in roster.players]
    if not any(keeps):
        deal_games(*dealt)
        return states
    choices, rows = mulligan_arrays(keeps, roster.decks, cards)
    deal_games_with_mulligan(*dealt, choices, rows[games.players, games.decks, (0, 1)])
    return states


def compile_games(players: Iterable[Player] = (Player(),), decks: Iterable[Deck] = ()) -> None:
    """Compile the kernels of players by playing a game with each agent kind and backend.

    Call it before games are timed or many workers need the kernels.

    Args:
        players: players; those with Python agents are skipped.
        decks: decks that will be played; if empty, one without card effects.
    """
    places, rules = np.zeros((1, 2), np.int16), find_ruleset("thesis")
    played = tuple(decks) or (find_deck("hearthsim-basic"),)
    chosen: dict[tuple[object, ...], Player] = {}
    for player in players:
        if player.compiled:
            vector = find_kind(player.kind).weights
            n = max(player.most_weights, len(vector.names())) if vector else 0
            sample = Player((1.0,) * n, player.backend, player.kind, player.options)
            sample = sample.with_resolved_backend(played)
            options = sample.options if find_kind(player.kind).takes_backend else ()
            chosen[(*sample.kind_and_backend, n, options)] = sample
    effect_modes = {deck.effects for deck in played}
    needed = [find_kind(player.kind).play_batch(player.backend) for player in chosen.values()]
    progress.expect([_play_lockstep, *filter(None, needed)], effects=any(effect_modes))
    with compiling_with_helper():
        for with_effects in sorted(effect_modes):
            deck = find_deck("basic-mage" if with_effects else "hearthsim-basic")
            for _, player in sorted(chosen.items(), key=lambda item: tuple(map(str, item[0]))):
                if find_kind(player.kind).effects or not with_effects:
                    roster = Roster((player,), (deck,), rules)
                    _play_compiled(roster, Schedule(places, places, np.zeros(1, np.uint64)))


def mulligans_of_pair(players: tuple[Player, Player], decks: tuple[Deck, Deck]) -> MulliganPlans:
    """Mulligan choices of two players by seat, as an argument of `engine.match.play`."""
    return mulligan_for_deck(players[0].keeps, decks[0], 0), mulligan_for_deck(players[1].keeps, decks[1], 1)


def _play_compiled(roster: Roster, games: Schedule) -> np.ndarray:
    """Play compiled games, all games of one card table together; results as of `play_schedule`.

    Games between decks without card effects use a table of these decks only. Cards of the decks that a player
    predicts are in the tables of its own games only.
    """
    effects = np.array([deck.effects for deck in roster.decks])
    without_effects = ~effects[games.decks].any(axis=1)
    if without_effects.any() and effects.any():
        played = np.zeros(len(games), roster.result_dtype)
        deck_index = np.cumsum(~effects) - 1  # index among the decks without card effects
        part, chosen = games.select(without_effects), [deck for deck in roster.decks if not deck.effects]
        part = replace(part, decks=deck_index[part.decks])
        played[without_effects] = _play_compiled(replace(roster, decks=tuple(chosen)), part)
        if not without_effects.all():
            played[~without_effects] = _play_compiled(roster, games.select(~without_effects))
        return played
    pairs, pair = np.unique(np.sort(games.players, axis=1), axis=0, return_inverse=True)
    kinds = [(player.kind, player.options) for player in roster.players]
    predicted = [
        opponent_model_decks([kinds[first], kinds[second]], roster.decks, roster.library)
        for first, second in pairs
    ]
    different = list(dict.fromkeys(predicted))
    group = np.array([different.index(prediction) for prediction in predicted])[pair.reshape(-1)]
    played = np.zeros(len(games), roster.result_dtype)
    for number, (extra_decks, features) in enumerate(different):
        members, tables = group == number, cached_card_table((*roster.decks, *extra_decks), features)
        played[members] = _play_lockstep(roster, games.select(members), tables)
    return played


def _play_lockstep(roster: Roster, games: Schedule, tables: tuple[CardTable, np.ndarray]) -> np.ndarray:
    """Play games in lockstep: each agent kind in turn plays every game in which it is to move."""
    cards, _ = tables
    states, solved = deal_schedule(roster, games, tables), np.zeros(len(games), TURNS)
    logs, keys = begin_logs(games.keys), np.empty((len(games), 2), np.uint64)
    agent_keys(games.keys, keys)
    kinds = [player.kind_and_backend for player in roster.players]
    present = sorted({kinds[player] for player in np.unique(games.players)})
    seats = {}
    for key in present:
        members = np.array([place for place, kind_and_backend in enumerate(kinds) if kind_and_backend == key])
        rows_by_player = np.full(len(kinds), -1, np.int64)
        rows_by_player[members] = np.arange(len(members))
        rows = [roster.players[place].row_for(cards) for place in members]
        parameters = np.zeros((len(rows), max(map(len, rows))))
        for parameter, row in zip(parameters, rows, strict=True):
            parameter[: len(row)] = row  # options and card values that a row omits are 0
        seats[key] = rows_by_player[games.players], parameters
    beliefs = None
    if any(find_kind(player.kind).models_secrets(player.options) for player in roster.players):
        beliefs = np.zeros((len(games), 2), lazy_import("ilp_agent.search.secrets:BELIEF"))
    known = OpponentModelData(dealt_cards(states), cards, roster.library, beliefs)
    prediction: dict[str, Any] = {"known": known}
    outcomes, turns = game_results(states)
    while (outcomes == Outcome.ONGOING).any():
        for (kind, backend), (agents, weights) in seats.items():
            play_batch = AGENTS[kind].play_batch(backend)
            assert play_batch is not None, "a game of a Python agent among compiled games"
            extra = prediction if AGENTS[kind].models_opponent else {}
            play_batch(cards.array, weights, agents, states, keys, logs, solved, **extra)
        outcomes, turns = game_results(states)
    played = np.zeros(len(games), roster.result_dtype)
    played["outcome"], played["turns"] = outcomes, turns
    for name in SOLVED_TURN_FIELDS:
        played[name] = solved[name]
    if roster.actions:
        played["n_actions"], played["actions"] = logs["n"], logs["actions"]
    return played


def _play_in_python(roster: Roster, games: Schedule) -> np.ndarray:
    """Play games one after another with Python agents; results as of `play_schedule`."""
    played = np.zeros(len(games), roster.result_dtype)
    agents: dict[tuple[int, int], Agent] = {}
    counts_before = (0,) * len(SOLVED_TURN_FIELDS)
    for number in range(len(games)):
        result = play_game_in_python(roster, games, number, agents)
        counts = tuple(
            sum(getattr(agent, name, 0) for agent in agents.values()) for name in SOLVED_TURN_FIELDS
        )
        fault = _FAULT_BY_REASON.get(result.reason, Fault.NONE)
        game_counts = (now - earlier for now, earlier in zip(counts, counts_before, strict=True))
        row = played[number]
        row["outcome"], row["fault"], row["turns"] = result.outcome, fault, result.turns
        for name, count in zip(SOLVED_TURN_FIELDS, game_counts, strict=True):
            row[name] = count
        if roster.actions:
            codes = [action.code for action in result.actions[:MAX_GAME_ACTIONS]]
            row["n_actions"], row["actions"][: len(codes)] = len(result.actions), codes
        counts_before = counts
    return played


def play_game_in_python(
    roster: Roster,
    games: Schedule,
    number: int,
    agents: dict[tuple[int, int], Agent] | None = None,
    watch: ActionCallback | None = None,
) -> MatchResult:
    """Play one game of a schedule in Python.

    Args:
        roster: players, decks and rules.
        games: the schedule.
        number: game number.
        agents: cache of agents between games, by player and seat. Modified in place.
        watch: called after each action with the position before it; its exceptions end the game.
    """
    cache = {} if agents is None else agents
    roster, games = roster.with_decks(games)
    seats = [(int(player), seat) for seat, player in enumerate(games.players[number])]
    for player, seat in seats:
        if (player, seat) not in cache:
            cache[player, seat] = roster.players[player].agent(roster.library)
    first, second = (cache[player_seat] for player_seat in seats)
    first_deck, second_deck = (roster.decks[deck] for deck in games.decks[number])
    key = games.keys[number]
    streams = [_agent_stream(key, seat) for seat in (0, 1)]
    first_player, second_player = (roster.players[player] for player in games.players[number])
    keeps = mulligans_of_pair((first_player, second_player), (first_deck, second_deck))
    opponent_model = opponent_model_needs((first, second), (first_deck, second_deck))
    position = deal_from_key((first_deck, second_deck), key, roster.ruleset, keeps, *opponent_model)
    return play_from((first, second), position, streams, watch, key)


def _agent_stream(key: np.uint64, seat: int) -> np.random.Generator:
    """An agent's random stream in a game, derived from the game's key."""
    own = np.uint64(derive(np.uint64(key), Purpose.AGENT))
    return generator_of(np.uint64(derive(own, seat)))
