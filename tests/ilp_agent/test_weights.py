"""Weights and profiles: what is refused, what is found, what is kept."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine import UnknownNameError
from ilp_agent import (
    WEIGHT_NAMES,
    Profile,
    ProfileError,
    SolverError,
    TurnProblem,
    WeightError,
    Weights,
    find_profile,
    read_profile,
    shipped_profiles,
)
from ilp_agent.exact import backend
from ilp_agent.exact.plan_record import PLAN
from ilp_agent.plan import ExtendedTerms, Terms
from ilp_agent.weights import EXTENDED_NAMES, FULL_NAMES, N_TERMS, N_WEIGHTS, Term

# The turn-ILP thesis, section 7.4.1, W1 to W8.
THESIS = {
    "keep-alive": [2, 4, 1, 6, 20, 8, 5, 6],
    "board-clear": [1, 20, 1, 15, 5, 15, 10, 8],
    "aggro-face": [20, 2, 18, 3, 1, 3, 1, 10],
    "value-trading": [3, 8, 2, 18, 10, 16, 16, 12],
    "aggro-tempo": [15, 8, 6, 8, 1, 10, 1, 3],
    "true-balanced": [5, 5, 5, 5, 5, 5, 5, 5],
    "author-favorite": [24, 20, 10, 20, 4, 24, 4, 8],
}
GOOD = "\n".join(f"{name} = 1" for name in WEIGHT_NAMES)


@pytest.mark.parametrize("name", THESIS)
def test_the_thesis_seven(name: str) -> None:
    profile = find_profile(name)
    assert profile.name == name
    assert profile.weights.array.tolist() == THESIS[name]
    assert "7.4.1" in profile.provenance["source"]


def test_shipped_profiles_are_found_from_any_folder(tmp_path: Path) -> None:
    program = (
        "from ilp_agent import *; print(len(shipped_profiles()), find_profile('keep-alive').weights.survive)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["7", "20.0"]
    assert set(THESIS) <= set(shipped_profiles())


@pytest.mark.parametrize("name", WEIGHT_NAMES)
@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), "1", None, True, 1e101, 10**400])
def test_bad_weights_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(WeightError, match=f"{name} must be a finite number >= 0"):
        Weights(**(dict.fromkeys(WEIGHT_NAMES, 1.0) | {name: value}))


def test_weights_from_and_to_arrays() -> None:
    weights = Weights.from_array(np.arange(N_WEIGHTS))
    assert weights.lethal == 0
    assert weights.play == Term.PLAY
    assert weights.array.tolist() == list(range(N_WEIGHTS))
    for wrong in (
        [1.0] * (N_WEIGHTS - 1),
        [1.0] * (N_WEIGHTS + 1),
        np.ones((2, 4)),
        3,
        "1" * N_WEIGHTS,
        None,
    ):
        with pytest.raises(WeightError, match=f"must be {N_WEIGHTS} numbers"):
            Weights.from_array(wrong)
    for wrong in ([one] * N_WEIGHTS for one in ("a", None, True, 1j, np.ones(2))):
        with pytest.raises(WeightError, match="lethal must be a finite number"):
            Weights.from_array(wrong)


def test_kernels_and_plans_take_the_names_from_the_weights() -> None:
    assert [term.name.lower() for term in Term] == list(FULL_NAMES)
    assert [int(term) for term in Term] == list(range(N_TERMS))
    assert Terms._fields == WEIGHT_NAMES
    assert ExtendedTerms._fields == EXTENDED_NAMES
    assert PLAN["terms"].shape == (N_TERMS,)


def test_programs_refuse_a_weight_that_they_do_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a weight that is added after all others: `exact` leaves it to the search."""
    monkeypatch.setattr(backend, "N_SUPPORTED_TERMS", N_WEIGHTS)
    turn = TurnProblem.build(mana=1, enemy_hero=9)
    with pytest.raises(SolverError, match="does not support weight 'draw'"):
        backend.check_weights_on_turn(turn.record, Weights(*[1.0] * N_WEIGHTS, draw=1.0))
    asks = getattr(backend.supports_weights, "py_func", backend.supports_weights)
    assert not asks(turn.record, Weights(*[1.0] * N_WEIGHTS, draw=1.0).full_array)
    assert asks(turn.record, Weights(*[1.0] * N_WEIGHTS).full_array)


def test_shares_are_scale_free() -> None:
    weights = find_profile("author-favorite").weights
    assert weights.shares.sum() == pytest.approx(1)
    np.testing.assert_allclose(Weights.from_array(weights.array * 7).shares, weights.shares)
    assert np.isnan(Weights(*[0.0] * N_WEIGHTS).shares).all()


def profile_file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return path


def test_a_profile_reads_back(tmp_path: Path) -> None:
    profile = Profile(
        "mine", Weights.from_array(np.linspace(0, 1, N_WEIGHTS)), {"seed": 3, "note": 'a "quote"'}
    )
    assert read_profile(profile_file(tmp_path, profile.to_toml())) == profile
    assert find_profile(str(tmp_path / "mine.toml")) == profile
    bare = Profile("bare", profile.weights)
    assert read_profile(profile_file(tmp_path, bare.to_toml())) == bare


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f'schema = 3\nname = "x"\n[weights]\n{GOOD}',
            r"mine.toml: schema must be 1 to 2, got 3; a newer version wrote the file: update manaforge",
        ),
        (f'name = "x"\n[weights]\n{GOOD}', "schema must be 1 to 2, got None"),
        (f'schema = 2\nname = "x"\n[weights]\n{GOOD}', 'agent must be "ilp", got None'),
        (f'schema = 2\nagent = "eva"\nname = "x"\n[weights]\n{GOOD}', "agent must be \"ilp\", got 'eva'"),
        (f"schema = 1\n[weights]\n{GOOD}", "name must be one line of text"),
        ('schema = 1\nname = "x"', "weights and provenance must be tables"),
        (f'schema = 1\nname = "x"\nkind = 1\n[weights]\n{GOOD}', "mine.toml: unknown key 'kind'"),
        (
            f'schema = 1\nname = "x"\n[weights]\n{GOOD}\nfase = 1',
            "weights.fase: unknown weight 'fase'; nearest: face",
        ),
        (f'schema = 1\nname = "x"\n[weights]\n{GOOD[:-8]}', r"missing in \[weights\]: play"),
        (f'schema = 1\nname = "x"\n[weights]\n{GOOD}\nface = 2', "not a TOML file: Cannot overwrite a value"),
        (
            'schema = 1\nname = "x"\n[weights]\n' + GOOD.replace("face = 1", "face = -1"),
            "weights.face must be",
        ),
        (
            'schema = 1\nname = "x"\n[weights]\n' + GOOD.replace("face = 1", "face = nan"),
            "weights.face must be",
        ),
        (
            'schema = 1\nname = "x"\n[weights]\n' + GOOD.replace("face = 1", "face = inf"),
            "weights.face must be",
        ),
        (
            'schema = 1\nname = "x"\n[weights]\n' + GOOD.replace("face = 1", "face = '1'"),
            "weights.face must be",
        ),
        (
            'schema = 1\nname = "x"\n[weights]\n' + GOOD.replace("face = 1", "face = true"),
            "weights.face must be",
        ),
        (f'schema = 1.0\nname = "x"\n[weights]\n{GOOD}', "schema must be 1 to 2, got 1.0"),
        (
            'schema = 1\nname = "x"\n[weights]\n' + GOOD.replace("face = 1", "face = 1" + "0" * 400),
            "weights.face must be",
        ),
        ("schema = " + "9" * 5_001, "not a TOML file"),
        ("schema = " + "[" * 100_000, "not a TOML file"),
        ("schema = ", "mine.toml is not a TOML file"),
    ],
)
def test_bad_profiles_are_refused_with_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        read_profile(profile_file(tmp_path, text))


def test_missing_profiles(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="cannot read profile .*none.toml: No such file"):
        find_profile(str(tmp_path / "none.toml"))
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ProfileError, match="not UTF-8"):
        find_profile(f"{tmp_path}{os.sep}binary.toml")
    with pytest.raises(UnknownNameError, match="unknown profile 'keep-alve'; nearest: keep-alive"):
        find_profile("keep-alve")


def test_a_profile_of_schema_1_means_what_it_meant() -> None:
    old = read_profile(Path(__file__).parents[1] / "data" / "profiles" / "schema-1.toml")
    assert old.weights == find_profile("aggro-face").weights
    assert old.name == "written-in-schema-1"
    assert old.provenance["source"].startswith("the turn-ILP thesis")
    assert 'schema = 2\nagent = "ilp"' in old.to_toml()
