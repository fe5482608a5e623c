"""Parameters that agents from outside declare: read, scaled to their bounds, and given back exactly by files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilp_agent import Profile, WeightError
from rivals import read_agent_profile
from rivals.outside.parameters import (
    DeclaredWeights,
    Parameter,
    ParameterError,
    declared_weights,
    differences,
    read_parameters,
    values_of,
)

AGENT = "python:mybot:Bot"


@st.composite
def parameters(draw: st.DrawFn, name: str = "face") -> Parameter:
    low = draw(st.floats(-1e9, 1e9))
    high = draw(st.floats(-1e9, 1e9).filter(lambda high: f"{high:.12g}" != f"{low:.12g}"))
    return read_parameters([{"name": name, "low": min(low, high), "high": max(low, high)}])[0]


@given(parameters(), st.floats(0, 1))
def test_values_lie_between_the_bounds_and_files_give_them_back(parameter: Parameter, weight: float) -> None:
    value = parameter.value(weight)
    assert parameter.low <= value <= parameter.high
    straight = parameter.low + weight * (parameter.high - parameter.low)
    step = (parameter.high - parameter.low) / parameter.steps
    assert abs(value - straight) <= step
    assert parameter.steps == 1e9 or step < 1e-12 * max(abs(parameter.low), abs(parameter.high))
    vector = declared_weights(AGENT, (parameter,))(weight)
    assert vector.written() == {"face": value}
    again = type(vector).read(vector.written())
    assert again == vector
    assert again.written() == vector.written()


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_weights_are_places_and_nothing_is_divided(weights: list[float]) -> None:
    vector = declared_weights(AGENT, tuple(Parameter(name, 0.0, 10.0) for name in "abc"))
    np.testing.assert_array_equal(vector.scale_free(np.array(weights)), weights)
    np.testing.assert_array_equal(vector.active_shares(np.array([weights]), frozenset()), [weights])


def test_tables_show_the_values() -> None:
    vector = declared_weights(AGENT, (Parameter("face", -5.0, 15.0),))
    assert vector.format_share("face", 0.5) == "5"
    assert vector.label("face") == "face (-5 to 15)"


def test_a_class_is_made_once() -> None:
    assert declared_weights(AGENT, (Parameter("a", 0.0, 1.0),)) is declared_weights(
        AGENT, (Parameter("a", 0.0, 1.0),)
    )


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ("face", "must be a list"),
        ([1], "must have name, low and high"),
        ([{"name": "face", "low": 0}], "must have name, low and high"),
        ([{"name": "Face", "low": 0, "high": 1}], "lower-case"),
        ([{"name": "", "low": 0, "high": 1}], "lower-case"),
        ([{"name": "<b>", "low": 0, "high": 1}], "lower-case"),
        ([{"name": "lambda", "low": 0, "high": 1}], "no Python keyword"),
        ([{"name": "names", "low": 0, "high": 1}], "no Python keyword"),
        ([{"name": 3, "low": 0, "high": 1}], "lower-case"),
        ([{"name": "a", "low": 1, "high": 1}], "low < high"),
        ([{"name": "a", "low": True, "high": 2}], "must be numbers"),
        ([{"name": "a", "low": 0, "high": float("inf")}], "must be numbers"),
        ([{"name": "a", "low": float("nan"), "high": 1}], "must be numbers"),
        ([{"name": "a", "low": 0, "high": "1"}], "must be numbers"),
        ([{"name": "a", "low": 0, "high": 10**400}], "must be numbers"),
        ([{"name": "a", "low": 0, "high": 1}] * 2, "duplicate name 'a'"),
        ([{"name": f"a{i}", "low": 0, "high": 1} for i in range(1001)], "at most 1,000"),
    ],
)
def test_other_lists_are_refused(declared: Any, told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        read_parameters(declared)


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan"), "1", True, None])
def test_weights_beyond_the_bounds_are_refused(weight: Any) -> None:
    with pytest.raises(WeightError, match="from 0 .* to 1 "):
        declared_weights(AGENT, (Parameter("a", 0.0, 10.0),))(weight)


def test_a_profile_has_the_values_and_refuses_what_is_out_of_bounds(tmp_path: Path) -> None:
    vector: type[DeclaredWeights] = declared_weights(
        AGENT, (Parameter("face", 0.0, 20.0), Parameter("trade", -1.0, 1.0))
    )
    profile = Profile("mine", vector(1 / 3, 0.25))
    file = tmp_path / "mine.toml"
    file.write_text(profile.to_toml())
    assert "face = 6.66666666" in file.read_text()
    assert read_agent_profile(file, vector) == profile
    file.write_text(file.read_text().replace("-0.5", "-1.5"))
    with pytest.raises(ValueError, match=r"trade must be a number from -1 to 1, got -1\.5"):
        read_agent_profile(file, vector)


def test_values_go_by_the_order_of_the_parameters() -> None:
    both = (Parameter("face", 0.0, 10.0), Parameter("trade", 0.0, 1.0))
    assert values_of(both, (0.5, 1.0)) == {"face": 5.0, "trade": 1.0}
    with pytest.raises(ParameterError, match="got 3 parameter values"):
        values_of(both, (0.5, 1.0, 1.0))


def test_what_changed_is_told() -> None:
    one, other = Parameter("face", 0.0, 10.0), Parameter("trade", 0.0, 1.0)
    assert differences((one, other), (one, other)) == ""
    assert differences((one, other), (other, one)) == "another order"
    told = differences((Parameter("face", 0.0, 20.0), other), (one, other))
    assert told == "now face (0 to 20); there face (0 to 10)"
