"""The tool that plants faults: places, the draw, probes, and what the results say."""

import ast
import json
from pathlib import Path

import pytest

from tests.planted import drawing, reached
from tests.planted.__main__ import interval, summary
from tests.planted.measuring import near, parts, results
from tests.planted.places import find_places, line_starts, planted

SOURCE = b'''"""A docstring with 1 number."""
LIMIT = 3


@njit
def kernel(a: int, b: "int | 1" = 2) -> int:
    """Another, 4."""
    for n in range(a):
        if n < b and not a:
            a -= n * 5
    return a


def names(values):
    found = []
    found.append(  # a comment
        f"{values[0]} is \xc3\xa9 {LIMIT + 1}"
    )
    values[0] = found[1:LIMIT]
    return [one for one in values if one]
'''


def changes(source: bytes = SOURCE) -> list[tuple[str, str, str]]:
    """Every place: the kind of change, what is there, and what takes its place."""
    return [
        (one.operator, source[one.start : one.end].decode(), one.now.strip()) for one in find_places(source)
    ]


def test_every_kind_of_place_is_found():
    expected = {
        ("constant", "3", "(4)"),
        ("constant", "2", "(3)"),
        ("bound", "a", "(a - 1)"),
        ("comparison", "n < b", "(n <= b)"),
        ("and or", "n < b and not a", "(n < b or not a)"),
        ("condition", "n < b and not a", "(not (n < b and (not a)))"),
        ("not", "not a", "(a)"),
        ("statement", "a -= n * 5", "pass"),
        ("arithmetic", "a -= n * 5", "a += n * 5"),
        ("arithmetic", "n * 5", "(n + 5)"),
        ("constant", "5", "(6)"),
        ("return", "a", "(a + 1)"),
        ("statement", "values[0] = found[1:LIMIT]", "pass"),
        ("constant", "0", "(1)"),
        ("constant", "1", "(2)"),
        ("bound", "LIMIT", "(LIMIT - 1)"),
        ("condition", "one", "(not one)"),
        ("return", "[one for one in values if one]", "(None)"),
    }
    found = changes()
    left_out = [one for one in found if one[1].startswith("found.append")]
    assert left_out == [("statement", left_out[0][1], "pass")]
    assert set(found) - set(left_out) == expected
    assert len(found) == len(expected) + 1


def test_texts_annotations_and_what_is_formatted_are_left_alone():
    source = b'def f(a: "1" = None) -> Literal[1]:\n    """2"""\n    return f"{a + 1}" + "x"\n'
    assert changes(source) == [("return", 'f"{a + 1}" + "x"', "(None)")]


def test_a_fault_keeps_the_lines_and_is_a_program():
    for place in find_places(SOURCE):
        source = planted(SOURCE, place)
        ast.parse(source)
        assert source != SOURCE
        assert len(line_starts(source)) == len(line_starts(SOURCE))


def test_what_runs_in_kernels_and_at_import_is_known():
    by_line = {place.line: place for place in find_places(SOURCE)}
    assert (by_line[2].in_function, by_line[2].names) == (False, ("LIMIT",))
    assert (by_line[6].in_function, by_line[6].names) == (False, ("kernel",))
    assert by_line[9].in_kernel
    assert by_line[19].in_function
    assert not by_line[19].in_kernel


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for package in drawing.PACKAGES:
        (tmp_path / package).mkdir()
        (tmp_path / package / "code.py").write_bytes(SOURCE)
    (tmp_path / "evo" / "users.py").write_text("def user():\n    return LIMIT\n")
    return tmp_path


def test_a_draw_is_the_same_for_a_seed_and_a_prefix_of_longer_ones_is_not_sorted(tree, tmp_path):
    first = drawing.draw(tree, 1, 20)
    assert drawing.draw(tree, 1, 20) == first
    assert drawing.draw(tree, 2, 20) != first
    assert [one.file for one in first] != sorted(one.file for one in first)
    drawing.write(tmp_path / "drawn", first)
    assert drawing.read(tmp_path / "drawn") == first


def test_only_files_that_both_trees_have_are_drawn_from(tree, tmp_path):
    other = tmp_path / "other"
    (other / "rivals").mkdir(parents=True)
    (other / "rivals" / "code.py").write_bytes(SOURCE)
    assert {one.file for one in drawing.draw(tree, 1, 19, other)} == {"rivals/code.py"}


def test_a_fault_is_found_again_where_lines_have_moved(tree):
    drawn = drawing.draw(tree, 1, 40)
    lines = {one: drawing.find(tree, one).line for one in drawn}
    moved = tree / "moved"
    for one in drawn:
        (moved / one.file).parent.mkdir(parents=True, exist_ok=True)
        (moved / one.file).write_bytes(b"import os\n" + (tree / one.file).read_bytes())
    assert {one: drawing.find(moved, one).line - 1 for one in drawn} == lines
    (moved / drawn[0].file).write_text("")
    drawing._places_of.cache_clear()
    with pytest.raises(LookupError, match="has no place"):
        drawing.find(moved, drawn[0])
    assert drawing.has(tree, drawn[0])
    assert not drawing.has(moved, drawn[0])


def test_kernels_and_what_they_are_made_of_run_uncompiled(tree):
    files, names = drawing.kernels(tree)
    assert files == {"engine/code.py", "ilp_agent/code.py", "rivals/code.py"}
    assert "range" in names
    module = ast.parse("A = 1\nB = A + 1\nC = 2")
    assert drawing.definers([module], {"B"}) == {"A", "B"}
    assert drawing.made_of([module], {"A"}) == {"A", "B"}


@pytest.mark.parametrize("in_kernels", [True, False])
def test_probes_change_nothing_but_tell(tree, in_kernels):
    drawn = drawing.draw(tree, 1, 76)
    files = reached.with_probes(tree, drawn, in_kernels=in_kernels)
    assert set(files) == {f"{one}/code.py" for one in drawing.PACKAGES if in_kernels or one == "evo"} | {
        "evo/users.py"
    }
    told: list[int] = []
    space = {"njit": lambda function: function, reached.PROBE: told.append}
    exec(compile(files["evo/code.py"], "code", "exec"), space)
    assert told == []
    assert space["kernel"](3, 2) == 3
    assert space["names"]([7, 8]) == [8]
    ours = {one.number for one in drawn if one.file == "evo/code.py"}
    assert ours & set(told)
    exec(compile(files["evo/users.py"], "users", "exec"), space)
    told.clear()
    assert space["user"]() == 3
    assert {drawn[n].text for n in told} == {"LIMIT = 3", "return LIMIT"}


LOG = [
    {"test": "a.py::one", "uses": ["fixture run", "fixture ::tmp_path_factory"]},
    {"test": "b.py::bad", "uses": ["fixture ::tmp_path_factory"]},
    {"test": "c.py::late", "uses": ["fixture run", "fixture ::tmp_path_factory"]},
    {"test": "c.py::late", "seconds": 0.5, "outcome": "passed"},
    {"reached": 3, "in": "a.py::one"},
    {"test": "a.py::one", "seconds": 2.0, "outcome": "passed"},
    {"reached": 4, "in": "fixture run"},
    {"reached": 5, "in": None},
    {"test": "a.py::two", "seconds": 1.0, "outcome": "passed"},
    {"reached": 3, "in": "b.py::bad"},
    {"test": "b.py::bad", "seconds": 0.1, "outcome": "failed"},
    {"test": "tests/evo/test_runs.py::x", "seconds": 0.1, "outcome": "passed"},
    {"test": "tests/evo/cli/test_runs.py::x", "seconds": 5, "outcome": "passed"},
]


def test_tests_that_reach_a_fault_come_first_and_failing_ones_never():
    found = reached.read([*map(json.dumps, LOG), '{"reach'])
    assert found.candidates(3) == ["a.py::one", "a.py::two"]
    assert found.candidates(4) == ["a.py::one", "c.py::late", "a.py::two"]
    assert (found.cost("a.py::one"), found.cost("c.py::late"), found.cost("a.py::two")) == (2.0, 2.5, 1.0)
    assert found.candidates(9) == []
    assert found.at_import == {5}
    assert near("evo/cli/runs.py", found) == ["tests/evo/cli/test_runs.py::x", "tests/evo/test_runs.py::x"]


def test_fast_tests_run_by_themselves_first():
    found = reached.Reached(seconds={f"{n}.py::t": float(n) for n in range(9)})
    tests = found.fastest(found.seconds)
    assert parts(tests, found) == [tests[:3], tests[3:]]
    assert parts(tests[8:], found) == [tests[8:]]


def test_results_say_the_share_and_what_was_not_found(tmp_path):
    out = tmp_path / "results"
    entry = {"file": "evo/a.py", "line": 3, "text": "a < b", "was": "a < b", "now": "(a <= b)"}
    lines = [
        json.dumps(entry | {"number": n, "result": result}) for n, result in enumerate(["killed", "survived"])
    ]
    lines.append(json.dumps(entry | {"number": 1, "result": "survived"}))
    out.write_text("\n".join([*lines, '{"numb']))
    told = summary(results(out))
    assert "1 of 2 faults found, 50.0%" in told
    assert "1 survived: evo/a.py:3: a < b" in told
    assert summary([]) == "no faults"
    assert interval(90, 100) == pytest.approx((0.8256, 0.9448), abs=1e-4)
