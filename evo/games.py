"""Games to play, as arrays, and what came of them; and how one worker plays a part of them."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from engine import Deck, ManaforgeError, Ruleset, find_deck, find_ruleset
from engine.cards import CardTable
from engine.codes import Purpose
from engine.decks import deck_records, table_of
from engine.match import Agent, Reason, deal_key, play_on
from engine.streams import derive
from ilp_agent import WEIGHT_NAMES, IlpAgent, Weights
from ilp_agent.selfplay import RESULT, play_games

GAME = np.dtype(
    [
        ("outcome", "i1"),  # engine.codes.Outcome: FIRST_WINS, SECOND_WINS or DRAW
        ("fault", "i1"),  # 1: lost by an error of the agent or an illegal action
        ("turns", "i2"),  # rounds of both players begun, at most the ruleset's cap
    ]
)
"""What is kept of a game."""


class GameError(ManaforgeError, RuntimeError):
    """An agent failed in a game whose result evolution would have counted."""


@dataclass(frozen=True)
class Player:
    """Who plays, in a form that crosses process borders.

    Attributes:
        weights: of the turn program, in the order of `ilp_agent.WEIGHT_NAMES`.
        backend: solver of its turns.
    """

    weights: tuple[float, ...]
    backend: str = "exact"

    @property
    def compiled(self) -> bool:
        """Whether whole games of it run compiled, without Python's lock."""
        return self.backend == "exact"

    def agent(self) -> Agent:
        """The same as an agent in Python."""
        return IlpAgent(Weights.from_array(self.weights), self.backend)


@dataclass(frozen=True)
class Table:
    """What the games of a batch share: who may play, with which decks, under which rules."""

    players: tuple[Player, ...]
    decks: tuple[Deck, ...]
    ruleset: Ruleset

    @property
    def compiled(self) -> bool:
        """Whether every game runs compiled."""
        return all(player.compiled for player in self.players)


@dataclass(frozen=True)
class Schedule:
    """Games by number: who meets whom with what, dealt how.

    Attributes:
        players: int16, shape (games, 2): places in `Table.players`; column 0 goes first.
        decks: int16, shape (games, 2): places in `Table.decks`.
        keys: uint64, shape (games,): streams of the deals (`engine.streams`).
    """

    players: np.ndarray
    decks: np.ndarray
    keys: np.ndarray

    def __len__(self) -> int:
        return len(self.keys)

    def part(self, start: int, stop: int) -> "Schedule":
        """Games `start` to `stop` - 1."""
        return Schedule(self.players[start:stop], self.decks[start:stop], self.keys[start:stop])


def play_part(table: Table, games: Schedule) -> np.ndarray:
    """Play games in their order; the result depends on nothing else. Dtype `GAME`, shape (games,)."""
    return _play_compiled(table, games) if table.compiled else _play_in_python(table, games)


def compile_games() -> None:
    """Play one game, so that all is compiled before anything is timed or many workers need it at once."""
    player, deck = Player((1.0,) * len(WEIGHT_NAMES)), find_deck("hearthsim-basic")
    nobody = np.zeros((1, 2), np.int16)
    table = Table((player,), (deck,), find_ruleset("thesis"))
    _play_compiled(table, Schedule(nobody, nobody, np.zeros(1, np.uint64)))


def _play_compiled(table: Table, games: Schedule) -> np.ndarray:
    cards, decks = _tables_of(table.decks)
    results = np.zeros(len(games), RESULT)
    weights = np.array([player.weights for player in table.players], np.float64)
    play_games(
        cards.array, decks, table.ruleset.array, weights, games.players, games.decks, games.keys, results
    )
    played = np.zeros(len(games), GAME)
    played["outcome"], played["turns"] = results["outcome"], results["turns"]
    return played


def _play_in_python(table: Table, games: Schedule) -> np.ndarray:
    agents = [player.agent() for player in table.players]
    played = np.zeros(len(games), GAME)
    for number in range(len(games)):
        pair = tuple(table.decks[deck] for deck in games.decks[number])
        both = tuple(agents[player] for player in games.players[number])
        key = games.keys[number]
        streams = [_agent_stream(key, seat) for seat in (0, 1)]
        result = play_on((both[0], both[1]), deal_key((pair[0], pair[1]), key, table.ruleset), streams)
        fault = result.reason in (Reason.ILLEGAL_ACTION, Reason.AGENT_ERROR)
        if fault:  # a solver that fails is no worse player
            lines = [line for line in result.error.strip().splitlines() if not line.startswith("in ")]
            raise GameError(f"a game could not be played: {lines[-1] if lines else result.reason}")
        played[number] = (result.outcome, fault, result.turns)
    return played


def _agent_stream(key: np.uint64, seat: int) -> np.random.Generator:
    """An agent's own stream in a game, below the game's."""
    own = np.uint64(derive(np.uint64(key), Purpose.AGENT))
    return np.random.Generator(np.random.Philox(key=int(derive(own, seat))))


@lru_cache(maxsize=8)
def _tables_of(decks: tuple[Deck, ...]) -> tuple[CardTable, np.ndarray]:
    """Card table and deck records of some decks, made once in each process."""
    cards = table_of(decks)
    return cards, deck_records(decks, cards)
