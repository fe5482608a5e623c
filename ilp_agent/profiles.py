"""Profiles: named weight vectors of an agent with their provenance, as TOML files."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import tomli_w

from engine.errors import ManaforgeError, WrongValueError, unknown_name
from engine.safe_files import is_one_line, read_toml
from ilp_agent.card_values import NO_CARD_VALUES, CardValueError, CardValues, read_card_values
from ilp_agent.mulligan import MulliganError, SeatValues, read_mulligan, write_mulligan
from ilp_agent.shipped import profiles_folder, shipped_profiles
from ilp_agent.weights import WeightError, Weights, WeightVector

PROFILE_SCHEMA = 2
"""Newest file schema. Schema 1 had no `agent`; such files still load (`_UPGRADES`)."""

W = TypeVar("W", bound=WeightVector, covariant=True)  # noqa: PLC0105 - a letter as weights have


class ProfileError(ManaforgeError, ValueError):
    """An invalid profile file; the message names the file and the key."""


class ProfileNameError(ProfileError, WrongValueError):
    """A profile file that cannot be opened."""


@dataclass(frozen=True)
class Profile(Generic[W]):
    """A named weight vector with its provenance and optional mulligan keep values.

    Attributes:
        name: the name in tables and commands.
        weights: of the turn program (`Weights`) or of another agent.
        provenance: origin of the weights: TOML text, numbers, lists and tables.
        mulligan: keep values of opening cards, each deck and seat once; () for the ruleset's rule.
        deck_weights: weights for single decks by deck name, instead of `weights`.
        card_values: values of single cards, for an agent that uses them.
    """

    name: str
    weights: W
    provenance: Mapping[str, Any] = field(default_factory=dict)
    mulligan: tuple[SeatValues, ...] = ()
    deck_weights: Mapping[str, W] = field(default_factory=dict)
    card_values: CardValues = NO_CARD_VALUES

    def to_toml(self) -> str:
        """The text of the profile's TOML file."""
        content = {
            "schema": PROFILE_SCHEMA,
            "agent": self.weights.AGENT,
            "name": self.name,
            "weights": self.weights.written()
            | {deck: weights.written() for deck, weights in self.deck_weights.items()},
        }
        content |= {"card_values": self.card_values.tables()} if self.card_values else {}
        content |= {"mulligan": write_mulligan(self.mulligan)} if self.mulligan else {}
        return tomli_w.dumps(content | ({"provenance": dict(self.provenance)} if self.provenance else {}))


def read_profile(path: Path) -> Profile[Weights]:
    """Read a profile file of the ILP agent.

    Raises:
        ProfileError: the file is unreadable or not such a profile; the message names file and key.
    """
    return _profile(_read(path), path, Weights)


def read_any_profile(path: Path, kinds: Mapping[str, type[WeightVector]]) -> Profile[WeightVector]:
    """Read a profile file of any agent.

    Args:
        path: the file.
        kinds: weight vector classes by agent name.

    Raises:
        ProfileError: the file is unreadable or not a profile of these agents.
    """
    content = _read(path)
    agent = content.get("agent")
    if len(kinds) == 1:
        return _profile(content, path, *kinds.values())
    if not isinstance(agent, str) or agent not in kinds:
        raise ProfileError(f"{path}: agent: {unknown_name('agent', str(agent), kinds)}")
    return _profile(content, path, kinds[agent])


def find_profile(name: str) -> Profile[Weights]:
    """Load a profile by name (`configs/profiles/NAME.toml` of this installation) or by file path.

    Raises:
        ProfileError: the file is not a profile.
        UnknownNameError: no shipped profile has this name; the message lists the closest names.
    """
    if name.endswith(".toml") or os.sep in name:
        return read_profile(Path(name))
    if name not in shipped_profiles():
        raise unknown_name("profile", name, shipped_profiles())
    return read_profile(profiles_folder() / f"{name}.toml")


def _read(path: Path) -> dict[str, Any]:
    """Read a profile file and upgrade its content to the newest schema."""
    try:
        content = read_toml(path)
    except OSError as error:
        raise ProfileNameError(f"cannot read profile {path}: {error.strerror}") from None
    except ValueError as error:  # includes numbers beyond Python's limits
        raise ProfileError(f"profile {path} is not a TOML file: {error}") from None
    schema = content.pop("schema", None)
    if type(schema) is not int or not 1 <= schema <= PROFILE_SCHEMA:
        newer = (
            "; a newer version wrote the file: update manaforge"
            if type(schema) is int and schema > PROFILE_SCHEMA
            else ""
        )
        raise ProfileError(f"{path}: schema must be 1 to {PROFILE_SCHEMA}, got {schema!r}{newer}")
    for older in range(schema, PROFILE_SCHEMA):
        content = _UPGRADES[older](content)
    return content


def _profile(content: dict[str, Any], path: Path, kind: type[W]) -> Profile[W]:
    """Check a profile file's content and build the profile."""
    agent = content.pop("agent", None)
    if agent != kind.AGENT:
        raise ProfileError(f'{path}: agent must be "{kind.AGENT}", got {agent!r}')
    weights = content.pop("weights", None)
    name = content.pop("name", None)
    provenance = content.pop("provenance", {})
    mulligan, card_values = content.pop("mulligan", {}), content.pop("card_values", {})
    if content:
        key = min(content)
        keys = ("schema", "agent", "name", "weights", "card_values", "mulligan", "provenance")
        raise ProfileError(f"{path}: {unknown_name('key', key, keys)}")
    if not isinstance(name, str) or not name or not is_one_line(name):
        raise ProfileError(f"{path}: name must be one line of text, got {name!r}")
    if not isinstance(weights, dict) or not isinstance(provenance, dict):
        raise ProfileError(f"{path}: weights and provenance must be tables")
    names = (*kind.names(), *kind.optional_defaults())
    by_deck = {deck: weights.pop(deck) for deck in list(weights) if isinstance(weights[deck], dict)}
    for deck in by_deck:
        if deck in names:
            raise ProfileError(f"{path}: weights.{deck} must be a number, got a table")
        if not deck or not is_one_line(deck):
            raise ProfileError(f"{path}: weights: the name of a deck must be one line of text, got {deck!r}")
    try:
        vector = _weights(weights, f"{path}: weights", kind)
        deck_weights = {
            deck: _weights(own, f'{path}: weights."{deck}"', kind) for deck, own in by_deck.items()
        }
        values = read_card_values(card_values)
        if values and not kind.CARD_VALUES:
            raise CardValueError(f"card_values: agent {kind.AGENT} takes no card values; lookahead does")
        return Profile(name, vector, provenance, read_mulligan(mulligan), deck_weights, values)
    except (MulliganError, CardValueError) as error:
        raise ProfileError(f"{path}: {error}") from None


def _weights(values: dict[str, Any], where: str, kind: type[W]) -> W:
    """Read a table of weights; `where` is the file and the table's key, for messages."""
    known = (*kind.names(), *kind.optional_defaults())
    for key in values:
        if key not in known:
            raise ProfileError(f"{where}.{key}: {unknown_name('weight', key, known)}")
    missing = [key for key in kind.names() if key not in values]
    if missing:
        file, _, table = where.rpartition(": ")
        raise ProfileError(f"{file}: missing in [{table}]: {', '.join(missing)}")
    try:
        return kind.read(values)
    except WeightError as error:
        raise ProfileError(f"{where}.{error}") from None


def _from_1(content: dict[str, Any]) -> dict[str, Any]:
    """Upgrade schema 1 to 2: add `agent`. All profiles of schema 1 belong to the ILP agent."""
    return {"agent": Weights.AGENT, **content}


_UPGRADES = {1: _from_1}
"""Upgrade functions by old schema; an old file passes through all later ones."""
