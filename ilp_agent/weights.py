"""The eight weights of the turn program, and profiles: named weights with their provenance, as TOML files."""

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from engine.errors import ManaforgeError, unknown_name

PROFILE_SCHEMA = 2
"""Schema 1 had no `agent`; such files still load (`_UPGRADES`)."""

AGENT = "ilp"

MAX_WEIGHT = 1e100
"""Far beyond any use, and far enough from the largest float that no objective overflows."""

WEIGHT_NAMES = ("lethal", "clear", "face", "threat", "survive", "damage", "trade", "play")
"""W1 to W8 of the objective, in this order everywhere."""

WEIGHT_MEANINGS = (
    "reward for killing the enemy hero",
    "reward for an empty enemy board",
    "reward for each point of attack on the enemy hero",
    "penalty for each point of attack left on the enemy board",
    "reward for each point of health of a friendly minion that survives",
    "reward for each point of attack on enemy minions",
    "penalty for each point of attack of the enemies attacked",
    "reward for each point of value of a card played",
)


class WeightError(ManaforgeError, ValueError):
    """A weight is negative, not finite, missing or of the wrong type; the message names it."""


class ProfileError(ManaforgeError, ValueError):
    """A profile file that cannot be used; the message names the file and the key."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The eight weights, finite numbers >= 0. Only their proportions matter to a plan.

    Source: the turn-ILP thesis, section 4.3, W1 to W8 in the order of the fields.

    Raises:
        WeightError: a weight is negative, NaN, infinite or no number.
    """

    lethal: float
    clear: float
    face: float
    threat: float
    survive: float
    damage: float
    trade: float
    play: float

    def __post_init__(self) -> None:
        for name in WEIGHT_NAMES:
            object.__setattr__(self, name, _checked(name, getattr(self, name)))

    @classmethod
    def from_array(cls, values: object) -> "Weights":
        """Weights from eight numbers in the order of `WEIGHT_NAMES`.

        Raises:
            WeightError: there are not eight, or one is not allowed.
        """
        listed = list(values) if isinstance(values, Sequence | np.ndarray) else []
        if len(listed) != len(WEIGHT_NAMES) or isinstance(values, str):
            raise WeightError(f"weights must be {len(WEIGHT_NAMES)} numbers, got {values!r}")
        return cls(*listed)

    @property
    def array(self) -> np.ndarray:
        """The weights as float64, shape (8,), in the order of `WEIGHT_NAMES`."""
        return np.array([getattr(self, name) for name in WEIGHT_NAMES], np.float64)

    @property
    def shares(self) -> np.ndarray:
        """The weights divided by their sum, shape (8,); all NaN when every weight is zero.

        The objective does not change when all weights are scaled together, so weights are compared
        by their shares.
        """
        total = self.array.sum()
        return self.array / total if total > 0 else np.full(len(WEIGHT_NAMES), np.nan)


@dataclass(frozen=True)
class Profile:
    """Named weights and where they come from.

    Attributes:
        name: as tables and commands write it.
        weights: the eight weights.
        provenance: where they come from: text, numbers, lists and tables, as TOML has them.
    """

    name: str
    weights: Weights
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def to_toml(self) -> str:
        """The profile as the text of a profile file."""
        content = {
            "schema": PROFILE_SCHEMA,
            "agent": AGENT,
            "name": self.name,
            "weights": {name: getattr(self.weights, name) for name in WEIGHT_NAMES},
        }
        return tomli_w.dumps(content | ({"provenance": dict(self.provenance)} if self.provenance else {}))


def read_profile(path: Path) -> Profile:
    """Read a profile file.

    Raises:
        ProfileError: it cannot be read or is not a profile; the message names file and key.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ProfileError(f"cannot read profile {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ProfileError(f"profile {path} is not UTF-8 text") from None
    except (ValueError, RecursionError) as error:  # also of numbers and nesting beyond Python's limits
        raise ProfileError(f"profile {path} is not a TOML file: {error}") from None
    return _profile(content, path)


def find_profile(name: str) -> Profile:
    """A profile by name (`configs/profiles/NAME.toml` of this installation) or by the path of its file.

    Raises:
        ProfileError: the file is not a profile.
        UnknownNameError: no shipped profile has this name; the message lists the nearest.
    """
    if name.endswith(".toml") or os.sep in name:
        return read_profile(Path(name))
    if name not in shipped_profiles():
        raise unknown_name("profile", name, shipped_profiles())
    return read_profile(profiles_folder() / f"{name}.toml")


def shipped_profiles() -> list[str]:
    """Names of the profiles in `configs/profiles/`."""
    return sorted(path.stem for path in profiles_folder().glob("*.toml"))


def profiles_folder() -> Path:
    """Where this installation keeps its profiles: beside this file in a wheel, else in the checkout."""
    here = Path(__file__).resolve().parent
    packed = here / "configs"
    return (packed if packed.is_dir() else here.parent / "configs") / "profiles"


def _profile(content: dict[str, Any], path: Path) -> Profile:
    """Check a profile file's content. Of other schemas the message names the number."""
    schema = content.pop("schema", None)
    if type(schema) is not int or not 1 <= schema <= PROFILE_SCHEMA:
        newer = " (a newer version wrote it)" if type(schema) is int and schema > PROFILE_SCHEMA else ""
        raise ProfileError(f"{path}: schema must be 1 to {PROFILE_SCHEMA}, got {schema!r}{newer}")
    for older in range(schema, PROFILE_SCHEMA):
        content = _UPGRADES[older](content)
    agent = content.pop("agent", None)
    if agent != AGENT:
        raise ProfileError(f'{path}: agent must be "{AGENT}", got {agent!r}')
    weights = content.pop("weights", None)
    name = content.pop("name", None)
    provenance = content.pop("provenance", {})
    if content:
        key = min(content)
        known = ("schema", "agent", "name", "weights", "provenance")
        raise ProfileError(f"{path}: {unknown_name('key', key, known)}")
    if not isinstance(name, str) or not name:
        raise ProfileError(f"{path}: name must be a text, got {name!r}")
    if not isinstance(weights, dict) or not isinstance(provenance, dict):
        raise ProfileError(f"{path}: weights and provenance must be tables")
    for key in weights:
        if key not in WEIGHT_NAMES:
            raise ProfileError(f"{path}: weights.{key}: {unknown_name('weight', key, WEIGHT_NAMES)}")
    missing = [key for key in WEIGHT_NAMES if key not in weights]
    if missing:
        raise ProfileError(f"{path}: weights.{missing[0]} is missing ({', '.join(missing)})")
    try:
        return Profile(name, Weights(**weights), provenance)
    except WeightError as error:
        raise ProfileError(f"{path}: weights.{error}") from None


def _from_1(content: dict[str, Any]) -> dict[str, Any]:
    """Schema 2 says whose weights these are; before it there was the turn program alone."""
    return {"agent": AGENT, **content}


_UPGRADES = {1: _from_1}
"""By the schema it starts from: one step each, so that the oldest file goes through all of them."""


def _checked(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise WeightError(f"{name} must be a finite number >= 0, got {value!r}")
    if not 0 <= value <= MAX_WEIGHT:
        raise WeightError(f"{name} must be a finite number >= 0 (and at most {MAX_WEIGHT:g}), got {value}")
    return float(value)


assert tuple(item.name for item in fields(Weights)) == WEIGHT_NAMES
