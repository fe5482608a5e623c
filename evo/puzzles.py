"""Lethal puzzles: positions reached in games, with exactly one way to kill the enemy hero this turn.

Agents play games of real decks, batch by batch. A position at the start of a turn becomes a puzzle if

- the opponent has no Secrets, and attacks on the hero alone do not kill;
- the lethal search finds certain lethal;
- a plain enumeration of all legal sequences of actions (`ilp_agent.search.enumeration`) meets no chance
  event, no action that depends on hidden cards and no effect at the end of the turn;
- by that enumeration the lethal is unique: every line that kills contains the same necessary actions, at
  least two, and these alone kill. Actions are the same whatever their order, whichever of several equal cards
  or minions acts or is the target, and wherever a minion is put.

What is hidden stays hidden: the opponent's cards and both decks are unknown; drawn cards cannot be played.
The enumeration starts from the puzzle's text, so that a puzzle needs nothing but its line of notation. The
same seed and decks make the same puzzles, in the same order; more puzzles only continue the list.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine import RULES_VERSION, Action, Deck, Position, find_deck, find_ruleset, parse_position
from engine.batches import begin_logs, deal_games, game_results
from engine.cards.table import CardTable
from engine.codes import UNKNOWN, Outcome
from engine.decks import cached_card_table, default_ruleset
from engine.effect_codes import EFFECTS_VERSION
from engine.effects.chance import Chance
from engine.errors import ManaforgeError, WrongValueError
from engine.game_session import no_op
from engine.notation import parse_action
from engine.safe_files import read_json
from engine.state import STATE
from engine.streams import agent_keys, generator
from engine.view import PlayerView
from evo.play.entrants import find_entrant
from evo.play.games import Player
from evo.seeds import Stream
from evo.storage.files import temporary_path, write_atomically, write_error_text
from evo.storage.run_folder import RunError
from ilp_agent.search.card_facts import compute_card_facts
from ilp_agent.search.enumeration import Enumerated, enumerate_lines, greedy_lines
from ilp_agent.search.lethal import LETHAL_SOLUTION, find_lethal, search_lethal_of, thread_lethal_memory
from ilp_agent.shipped import configs_folder
from rivals import AGENTS
from rivals.batch import TURNS

PUZZLE_DECKS = tuple(
    f"basic-{name}"
    for name in ("druid", "hunter", "mage", "paladin", "priest", "rogue", "shaman", "warlock", "warrior")
)
"""Default decks: the nine class decks."""

PUZZLE_PLAYERS = ("aggro", "eva", "ilp:true-balanced")
"""Agents whose games puzzles come from; both players of a game are drawn from them."""

BATCH_GAMES = 96
"""Games in a batch."""

MAX_BATCHES_WITHOUT = 40
"""Batches in a row without a puzzle after which no more are expected of these decks."""

SCREENED_POSITIONS = 4_000
"""Limit of positions of the lethal search that screens positions."""

ENUMERATED_POSITIONS = 400_000
"""Limit of positions of the enumeration that proves a puzzle."""

MIN_ACTIONS = 2
"""Least necessary actions of a puzzle."""

MANY_POSITIONS = 20_000
"""Positions of the enumeration above which a puzzle has many lines: a grade more."""

GRADES = {
    1: "always dealing the most damage to the hero kills",
    2: "two or three actions",
    3: "four actions, or three among many lines",
    4: "five actions, or four among many lines",
    5: "six actions or more, or five among many lines",
}
"""What the grades mean; from 2 on, the greedy line of grade 1 fails."""

SCHEMA = 1
"""Version of the file format."""

SHIPPED_PUZZLES = "puzzles.json"
"""Name of the shipped puzzles in `configs/`."""


@dataclass(frozen=True)
class Puzzle:
    """A position with a unique lethal, and its solution.

    Attributes:
        grade: 1 to 5 (`GRADES`).
        position: in notation, as the player to move sees it.
        solution: the necessary actions in an order that kills, in notation.
        positions: positions that the plain enumeration tried: one for every sequence of actions.
        lines: lines that kill; all contain the actions of the solution.
        decks: names of the decks of the player to move and of the opponent.
        agents: entrants that played the game, in the same order.
    """

    grade: int
    position: str
    solution: tuple[str, ...]
    positions: int
    lines: int
    decks: tuple[str, str]
    agents: tuple[str, str]

    def start(self) -> Position:
        """The position, with a card table of its own."""
        return parse_position(self.position)

    def actions(self) -> tuple[Action, ...]:
        """The solution as engine actions."""
        return tuple(map(parse_action, self.solution))


def grade_of(n_actions: int, positions: int, greedy_kills: bool) -> int:
    """Grade of a puzzle, 1 to 5.

    Args:
        n_actions: number of necessary actions, at least `MIN_ACTIONS`.
        positions: positions that the plain enumeration tried.
        greedy_kills: whether always dealing the most damage to the hero kills.
    """
    if greedy_kills:
        return 1
    return min(max(n_actions - 1, 2) + (positions > MANY_POSITIONS), 5)


def make_puzzles(
    n: int,
    decks: Sequence[str] = PUZZLE_DECKS,
    seed: int = 1,
    on_puzzle: Callable[[int], None] = no_op,
) -> list[Puzzle]:
    """Make puzzles from games of these decks.

    Args:
        n: number of puzzles, at least 1; fewer are returned if `MAX_BATCHES_WITHOUT` batches have none.
        decks: names, files or deck codes, for `engine.find_deck`.
        seed: of the games, in [0, 2**64).
        on_puzzle: called with 1 after each puzzle, and 0 after each batch; its exceptions end the search.

    Raises:
        DeckError: a deck cannot be read.
    """
    found = tuple(map(find_deck, decks))
    if not found:
        raise WrongValueError("puzzles need a deck")
    puzzles: list[Puzzle] = []
    seen: set[str] = set()
    batch, last = 0, 0
    while batch - last <= MAX_BATCHES_WITHOUT:
        for puzzle in puzzles_of_batch(found, seed, batch):
            if puzzle.position not in seen:
                seen.add(puzzle.position)
                puzzles.append(puzzle)
                last = batch
                on_puzzle(1)
            if len(puzzles) == n:
                return puzzles
        batch += 1
        on_puzzle(0)
    return puzzles


def puzzles_of_batch(decks: tuple[Deck, ...], seed: int, batch: int) -> Iterator[Puzzle]:
    """The puzzles of one batch of games, in the order of rounds and games."""
    table, _ = cached_card_table(decks)
    facts = compute_card_facts(table.array)
    for states, deck_pairs, player_pairs in play_turns(decks, seed, batch):
        greedy = np.zeros((len(states), 2), bool)
        greedy_lines(states, table.array, greedy)
        possible = ~greedy[:, 0] & (enemy_secrets(states) == 0)
        solutions, memory = np.zeros(len(states), LETHAL_SOLUTION), thread_lethal_memory(SCREENED_POSITIONS)
        screened = np.zeros(int(possible.sum()), LETHAL_SOLUTION)
        search_lethal_of(states[possible], table.array.copy(), facts, True, *memory, screened)
        solutions[possible] = screened
        for place in np.flatnonzero(possible & (solutions["value"] >= 1.0)):
            seat = int(states[place]["active"])
            proved = prove_puzzle(Position(states[place], table), bool(greedy[place, 1]))
            if proved is not None:
                names = [decks[deck].name for deck in deck_pairs[place]]
                agents = [PUZZLE_PLAYERS[player] for player in player_pairs[place]]
                yield Puzzle(*proved, (names[seat], names[1 - seat]), (agents[seat], agents[1 - seat]))


def enemy_secrets(states: np.ndarray) -> np.ndarray:
    """Number of Secrets of the opponent of the player to move; shape (positions,)."""
    numbers: np.ndarray = states["sides"]["n_secrets"][np.arange(len(states)), 1 - states["active"]]
    return numbers


def prove_puzzle(position: Position, greedy_kills: bool) -> tuple[int, str, tuple[str, ...], int, int] | None:
    """Prove that a position is a puzzle, from its text as the player to move sees it.

    Args:
        position: of the player to move, with certain lethal; unchanged.
        greedy_kills: whether always dealing the most damage to the hero kills.

    Returns:
        Grade, position, solution, positions and lines of a `Puzzle`; None if it is none.
    """
    text = puzzle_text(position)
    lines = enumerate_lines(parse_position(text), ENUMERATED_POSITIONS)
    if lines.status != Enumerated.UNIQUE or len(lines.line) < MIN_ACTIONS:
        return None
    grade = grade_of(len(lines.line), lines.positions, greedy_kills)
    return grade, text, tuple(map(str, lines.line)), lines.positions, lines.kills


def puzzle_text(position: Position) -> str:
    """A position in notation as the player to move sees it, with both decks unknown."""
    seen = PlayerView(position, position.active).position.copy()
    own = seen.state["sides"][seen.active]
    own["deck"][: own["n_deck"]] = UNKNOWN
    return str(seen)


def play_turns(
    decks: tuple[Deck, ...], seed: int, batch: int
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Play a batch of games turn by turn.

    Yields:
        Before every turn, of the games that go on: positions, dtype `engine.state.STATE`, shape (games,); the
        numbers of both decks and of both agents by seat, each shape (games, 2).
    """
    table, records = cached_card_table(decks)
    draws = generator(seed, Stream.PUZZLES, batch)
    deck_pairs = draws.integers(0, len(decks), (BATCH_GAMES, 2))
    player_pairs = draws.integers(0, len(PUZZLE_PLAYERS), (BATCH_GAMES, 2))
    keys = draws.integers(0, 2**64, BATCH_GAMES, dtype=np.uint64, endpoint=False)
    states, solved = np.zeros(BATCH_GAMES, STATE), np.zeros(BATCH_GAMES, TURNS)
    rules = find_ruleset(default_ruleset(decks))
    deal_games(table.array, records, rules.array, deck_pairs, keys, states)
    own_keys = np.empty((BATCH_GAMES, 2), np.uint64)
    agent_keys(keys, own_keys)
    players = [find_entrant(name).player.with_resolved_backend(decks) for name in PUZZLE_PLAYERS]
    going = game_results(states)[0] == Outcome.ONGOING
    while going.any():
        yield states[going], deck_pairs[going], player_pairs[going]
        seat = int(states[going][0]["active"])  # every game has played the same number of turns
        for number, player in enumerate(players):
            agents = np.full((BATCH_GAMES, 2), -1, np.int64)
            agents[:, seat] = np.where(player_pairs[:, seat] == number, 0, -1)
            _play_compiled(player, table, agents, states, own_keys, keys, solved)
        going = game_results(states)[0] == Outcome.ONGOING


def _play_compiled(
    player: Player,
    table: CardTable,
    agents: np.ndarray,
    states: np.ndarray,
    own_keys: np.ndarray,
    keys: np.ndarray,
    solved: np.ndarray,
) -> None:
    """Play the turn of a compiled agent in its games. `states` and `solved` are modified in place."""
    play_batch = AGENTS[player.kind].play_batch(player.backend)
    assert play_batch is not None, "the agents of puzzles are compiled"
    logs = begin_logs(keys)
    play_batch(table.array, np.array([player.row_for(table)]), agents, states, own_keys, logs, solved)


def puzzles_json(puzzles: Sequence[Puzzle], seed: int, decks: Sequence[str]) -> bytes:
    """Puzzles as a JSON file, one puzzle to a line: the same puzzles, the same bytes."""
    head = {
        "schema": SCHEMA,
        "rules": RULES_VERSION,
        "effects": EFFECTS_VERSION,
        "seed": seed,
        "decks": list(decks),
        "agents": list(PUZZLE_PLAYERS),
    }
    lines = ",\n".join(json.dumps(asdict(puzzle)) for puzzle in puzzles)
    return f'{json.dumps(head)[:-1]}, "puzzles": [\n{lines}\n]}}\n'.encode()


def check_writable(file: Path) -> None:
    """Check that a file of puzzles can be written.

    Raises:
        RunError: it cannot.
    """
    why = write_error_text(file, temporary_path(file))
    if why:
        raise RunError(f"cannot write {file}: {why}; choose another --out")


def write_puzzles(file: Path, puzzles: Sequence[Puzzle], seed: int, decks: Sequence[str]) -> None:
    """Write puzzles to a file, atomically."""
    write_atomically(file, puzzles_json(puzzles, seed, decks), temporary_path(file))


def shipped_puzzles_file() -> Path:
    """File of the shipped puzzles."""
    return configs_folder() / SHIPPED_PUZZLES


def read_puzzles(file: Path) -> list[Puzzle]:
    """Read puzzles from a file.

    Positions and solutions are read when a puzzle is played.

    Raises:
        WrongValueError: it cannot be read, or is no file of puzzles of this version.
    """
    try:
        content = read_json(file)
        if (
            not isinstance(content, dict)
            or content.get("schema") != SCHEMA
            or not isinstance(content.get("puzzles"), list)
        ):
            raise ValueError(f"it is not a file of puzzles with schema {SCHEMA}")
        versions = content.get("rules"), content.get("effects")
        if versions != (RULES_VERSION, EFFECTS_VERSION):
            raise ValueError("its puzzles are of other rules; make them again with manaforge solve --puzzles")
        puzzles = [_puzzle_of(one) for one in content["puzzles"]]
    except OSError as error:
        raise WrongValueError(f"cannot read {file}: {error.strerror}") from None
    except KeyError as error:
        raise WrongValueError(f"cannot read {file}: a puzzle has no {error}") from None
    except (ValueError, TypeError) as error:
        raise WrongValueError(f"cannot read {file}: {error}") from None
    if not puzzles:
        raise WrongValueError(f"{file} has no puzzles")
    return puzzles


def _puzzle_of(content: Any) -> Puzzle:
    """A puzzle from its JSON values; raises ValueError, TypeError or KeyError if it is none."""
    if not isinstance(content, dict):
        raise ValueError(f"a puzzle is a table of values, got {content!r:.80}")
    lists = {name: content[name] for name in ("solution", "decks", "agents")}
    are_lists = all(isinstance(one, list) for one in lists.values())
    if not are_lists or not all(isinstance(text, str) for one in lists.values() for text in one):
        raise ValueError("solution, decks and agents of a puzzle are lists of texts")
    puzzle = Puzzle(**{**content, **{name: tuple(one) for name, one in lists.items()}})
    numbers = (puzzle.grade, puzzle.positions, puzzle.lines)
    if not isinstance(puzzle.position, str) or not all(type(one) is int for one in numbers):
        raise ValueError("position of a puzzle is a text, and grade, positions and lines are whole numbers")
    if puzzle.grade not in GRADES or len(puzzle.decks) != 2 or len(puzzle.agents) != 2 or not puzzle.solution:
        raise ValueError("a puzzle has a grade from 1 to 5, two decks, two agents and a solution")
    return puzzle


def check_puzzle(puzzle: Puzzle) -> None:
    """Prove a puzzle again: its solution kills and is the only one by enumeration; the search finds it too.

    Raises:
        ManaforgeError: it is not as the file says; the message has the position.
    """
    lines = enumerate_lines(puzzle.start(), max(ENUMERATED_POSITIONS, 2 * puzzle.positions))
    here = puzzle.start()
    for action in puzzle.actions():
        here.play(action, Chance.blind())
    killed = here.state["sides"][1 - puzzle.start().active]["health"] <= 0
    same = (lines.positions, lines.kills) == (puzzle.positions, puzzle.lines)
    if not (killed and same and lines.status == Enumerated.UNIQUE and find_lethal(puzzle.start()).certain):
        raise ManaforgeError(f"not a puzzle with the solution {puzzle.solution}: {puzzle.position}")
