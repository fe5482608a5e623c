"""Options of agents: texts after `@`, both ways, and what they must not say."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from engine import ManaforgeError
from evo.play.entrants import equal_entrants, find_entrant
from rivals import AGENTS
from rivals.kinds import Option, format_options, parse_options

OPTIONS = (
    Option("budget", 64, 1, 512, "how much"),
    Option("depth", 2, 1, 3, "how far"),
    Option("hands", 0, 0, 2, "what is known", {"off": 0, "known": 1, "predicted": 2}),
)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", (64, 2, 0)),
        ("8", (8, 2, 0)),
        ("depth=3", (64, 3, 0)),
        ("8,depth=3,hands=known", (8, 3, 1)),
        ("hands=predicted,budget=1", (1, 2, 2)),
    ],
)
def test_texts_mean_values(text: str, values: tuple[int, ...]) -> None:
    assert parse_options(OPTIONS, text) == values


@given(some.tuples(some.integers(1, 512), some.integers(1, 3), some.integers(0, 2)))
def test_what_is_written_means_the_same(values: tuple[int, ...]) -> None:
    assert parse_options(OPTIONS, format_options(OPTIONS, values)) == values


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0", "budget must be a whole number from 1 to 512, got '0'"),
        ("513", "from 1 to 512"),
        ("-1", "got '-1'"),
        ("1.5", "got '1.5'"),
        ("٣", "got"),
        ("depth=", "depth must be a whole number"),
        ("8,8", "budget is given twice"),
        ("deep=3", "unknown option 'deep' in 'deep=3'; the options are budget, depth"),
        ("seconds=2", "unknown option 'seconds' .*; seconds is for agents from outside"),
        ("hands=1", "unknown value of hands '1'"),
        (",", "got ''"),
    ],
)
def test_wrong_texts_are_refused(text: str, says: str) -> None:
    with pytest.raises(ManaforgeError, match=says):
        parse_options(OPTIONS, text)


def test_entrants_carry_options() -> None:
    plain, small, same = (find_entrant(text) for text in ("lookahead", "lookahead@8", "lookahead@budget=8"))
    assert (plain.player.options, small.player.options[0]) == ((), 8)
    assert plain.player.row[:-4] == small.player.row[:-4]
    assert equal_entrants([plain, small, same]) == [["lookahead@8", "lookahead@budget=8"]]
    assert find_entrant("lookahead@64").player == plain.player


def test_a_tournament_writes_options_down() -> None:
    kind = AGENTS["lookahead"]
    assert kind.definition() == {"budget": 64, "depth": 2, "samples": 2}
    assert kind.definition(options=(8, 3, 1)) == {"budget": 8, "depth": 3, "samples": 1}
