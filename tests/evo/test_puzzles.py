"""Puzzles: unique by plain enumeration, the same bytes for the same seed, read back as they were written."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from engine import Action, Position, parse_position
from engine.codes import ActionKind, Outcome
from engine.errors import ManaforgeError, WrongValueError
from evo import puzzles
from evo.puzzles import (
    GRADES,
    PUZZLE_DECKS,
    Puzzle,
    check_puzzle,
    grade_of,
    make_puzzles,
    prove_puzzle,
    puzzles_json,
    read_puzzles,
    shipped_puzzles_file,
    write_puzzles,
)
from tests.conftest import BOUNDSCHECK, UNCOMPILED

pytestmark = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="batches of games, and all their lines")
DECKS = ("basic-mage", "basic-hunter", "basic-warrior")
UNIQUE = "hero 20 board [4/2 ready; 3/3 ready] | hero 4 board [1/3T]"


@pytest.fixture(scope="module")
def made() -> list[Puzzle]:
    """The first puzzles of a seed."""
    return make_puzzles(3, DECKS, seed=4)


def killing_sets(position: Position) -> list[Counter[str]]:
    """The actions of every line that kills, by cards and not by places; in Python, one line after the other."""
    seat, found = position.active, []

    def walk(here: Position, taken: tuple[str, ...]) -> None:
        if here.outcome != Outcome.ONGOING:
            if here.state["sides"][1 - seat]["health"] <= 0:
                found.append(Counter(taken))
            return
        for action in here.legal_actions():
            if action.kind != ActionKind.END_TURN:
                after = here.copy()
                after.play(action)
                walk(after, (*taken, name_of(here, action)))

    walk(position, ())
    return found


def name_of(position: Position, action: Action) -> str:
    """An action by the names of its cards."""
    return position.describe(action).partition("(")[2] + str(action).partition("->")[2].strip("0123456789 ")


def test_the_same_seed_makes_the_same_bytes_and_more_puzzles_continue_the_list(made: list[Puzzle]) -> None:
    again = make_puzzles(2, DECKS, seed=4)
    assert again == made[:2]
    assert puzzles_json(again, 4, DECKS) == puzzles_json(made[:2], 4, DECKS)
    assert make_puzzles(1, DECKS, seed=5) != made[:1]


def test_every_puzzle_is_proven_again_from_its_text(made: list[Puzzle]) -> None:
    for puzzle in made:
        check_puzzle(puzzle)
        assert puzzle.grade in GRADES
        assert len(puzzle.solution) >= 2
        assert set(puzzle.decks) <= set(DECKS)
    with pytest.raises(ManaforgeError, match="not a puzzle with the solution"):
        check_puzzle(replace(made[0], lines=made[0].lines + 1))
    with pytest.raises(ManaforgeError):
        check_puzzle(replace(made[0], solution=made[0].solution[:-1]))


def test_every_line_that_kills_contains_the_solution(made: list[Puzzle]) -> None:
    compared = 0
    for puzzle in (*made, *read_puzzles(shipped_puzzles_file())):
        if puzzle.positions > 600:
            continue
        found = killing_sets(puzzle.start())
        assert len(found) == puzzle.lines
        common = found[0]
        for line in found:
            common &= line
        assert common.total() == len(puzzle.solution) == min(line.total() for line in found)
        compared += 1
    assert compared >= 3


def test_what_is_no_puzzle_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert prove_puzzle(parse_position(UNIQUE), greedy_kills=False) is not None
    for other in (
        UNIQUE.replace("4/2 ready", "4/2 ready; 3/2 ready"),  # two different minions may break the Taunt
        UNIQUE.replace(" board [1/3T]", ""),  # one action
        UNIQUE.replace("hero 4", "hero 9"),
    ):
        assert prove_puzzle(parse_position(other), greedy_kills=False) is None
    monkeypatch.setattr(puzzles, "ENUMERATED_POSITIONS", 3)
    assert prove_puzzle(parse_position(UNIQUE), greedy_kills=False) is None


def test_grades_follow_actions_and_positions() -> None:
    assert [grade_of(n, 100, greedy_kills=False) for n in range(2, 9)] == [2, 2, 3, 4, 5, 5, 5]
    assert grade_of(4, 100, greedy_kills=True) == 1
    assert grade_of(3, 10**6, greedy_kills=False) == 3
    assert grade_of(7, 10**6, greedy_kills=False) == 5


def test_files_are_read_back_and_other_files_are_refused(made: list[Puzzle], tmp_path: Path) -> None:
    file = tmp_path / "puzzles.json"
    write_puzzles(file, made, 4, DECKS)
    assert read_puzzles(file) == made
    content = json.loads(file.read_text())
    one = content["puzzles"][0]
    for wrong in (
        {**content, "schema": 2},
        {**content, "puzzles": []},
        {**content, "puzzles": [{**one, "grade": 9}]},
        {**content, "puzzles": [{**one, "solution": "play 1"}]},
        {**content, "puzzles": [{**one, "more": 1}]},
        {**content, "puzzles": [3]},
    ):
        file.write_text(json.dumps(wrong))
        with pytest.raises(WrongValueError):
            read_puzzles(file)
    with pytest.raises(WrongValueError):
        read_puzzles(tmp_path / "none.json")


def test_the_shipped_puzzles_are_puzzles() -> None:
    shipped = read_puzzles(shipped_puzzles_file())
    assert len(shipped) == 100
    assert {puzzle.grade for puzzle in shipped} == set(GRADES)
    assert {name for puzzle in shipped for name in puzzle.decks} <= set(PUZZLE_DECKS)
    for puzzle in shipped[::20]:
        check_puzzle(puzzle)
