"""Read configuration files: find them, apply `--set` overrides, resolve relative deck paths."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from engine import safe_files
from engine.decks import split_deck_prefix
from engine.errors import ManaforgeError, unknown_name
from engine.shipped import shipped_decks
from engine.terminal import safe_text
from evo.config.run_config import (
    REMOVED_KEYS,
    Config,
    ConfigError,
    ConfigOptionError,
    RunConfig,
    key_descriptions,
    validate_config,
)
from ilp_agent.shipped import configs_folder, shipped_configs, shipped_learning

LIST_KEYS = ("decks", "library", "patches", "test.against", "also")
"""Keys whose values are lists of names; `--set` splits them at commas."""

WEIGHT_TABLES = ("fixed_weights", "initial_weights")
"""Tables of weights; `--set` takes a weight after a dot, such as `fixed_weights.lethal=100`."""

MAX_PATH_LENGTH = 4_000
"""Maximum length of a configuration path, in characters."""

IGNORED_ADDRESSES = ("", "auto")
"""Values of `address` accepted from a file, both ignored: only the command line selects a Ray cluster."""


def read_config(
    path: str | Path, overrides: Sequence[str] = (), begins: bool = False, stored: bool = False
) -> RunConfig:
    """Read the configuration of a run; see `read_config_as`."""
    return read_config_as(RunConfig, path, overrides, begins, stored)


def read_config_as(
    model: type[Config],
    path: str | Path,
    overrides: Sequence[str] = (),
    begins: bool = False,
    stored: bool = False,
) -> Config:
    """Read a configuration file, or a shipped configuration by name, with `key=value` overrides.

    Relative deck paths are resolved against the configuration's folder first, then the current folder. An
    `address` in the file is ignored.

    Args:
        model: configuration class, such as `RunConfig`.
        path: a file, or a name of `configs/`; "" for the defaults.
        overrides: such as "seed=7", "es.initial_sigma=0.1" or "decks=thesis-paladin,thesis-warrior"; values
            are TOML, but text needs no quotes and a list no brackets.
        begins: whether a new run starts from it; an agent from outside then starts, to query its parameters.
        stored: whether the file is in a run folder, where removed keys of older versions are accepted.

    Raises:
        ConfigError: the file cannot be read, or a value is invalid; the message names the key, and for an
            unknown key the nearest known one.
    """
    file = find_config(path, model) if path else Path("defaults")
    content = read_toml(file, "configuration") if path else {}
    address = content.get("address", "")
    if address in IGNORED_ADDRESSES:
        content.pop("address", None)
    elif isinstance(address, str):
        raise ConfigError(
            f"{file}: address: a file may not choose a Ray cluster, got {address!r}, since it can run "
            "code on the machines that join it; remove the key and use --address on the command line"
        )
    for key, beside in (
        *(("decks", resolve_deck_path), ("patches", resolve_deck_path)),
        *(("library", _library_beside), ("also", _folder_beside)),
    ):
        if isinstance(content.get(key), list):
            content[key] = [beside(text, file.parent) for text in content[key]]
    given = {_override(content, override, model): f"--set {override}" for override in overrides}
    return validate_config(model, content, str(file), given, begins, stored)


def _folder_beside(text: Any, folder: Path) -> Any:
    """Resolve a folder path against `folder`; return the text unchanged if no such folder exists."""
    if isinstance(text, str) and text and os.path.isdir(folder / text):  # noqa: PTH112 - accepts any name
        return str(folder / text)
    return text


def _library_beside(text: Any, folder: Path) -> Any:
    """Resolve a deck file, or a folder of decks, against `folder`; names of shipped decks stay."""
    return text if text in shipped_decks() else resolve_deck_path(_folder_beside(text, folder), folder)


def resolve_deck_path(deck: Any, folder: Path) -> Any:
    """Resolve a deck file against `folder`; return the text unchanged if no such file exists.

    A prefix such as `bodies:` is kept.
    """
    if not isinstance(deck, str) or not deck.endswith(".toml"):
        return deck
    try:
        reading, name = split_deck_prefix(deck)
    except ManaforgeError:
        return deck  # `find_deck` reports the error
    if os.path.isfile(folder / name):  # noqa: PTH113 - accepts names no file can have
        return f"{reading.text}{folder / name}"
    return deck


def read_toml(file: Path, what: str) -> dict[str, Any]:
    """Read a TOML file of limited size.

    Args:
        file: the file.
        what: its kind for error messages, such as "configuration".

    Raises:
        ConfigError: the file cannot be read or is not TOML.
    """
    try:
        return safe_files.read_toml(file)
    except OSError as error:
        raise ConfigOptionError(f"cannot read {what} {file}: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError(f"{what} {file} is not a TOML file: {error}") from None


def find_config(path: str | Path, model: type[BaseModel] = RunConfig) -> Path:
    """Find a configuration file: the path as given, or `configs/NAME.toml` of this installation.

    Args:
        path: as typed.
        model: configuration class.

    Raises:
        UnknownNameError: no such file or shipped configuration; the message lists the shipped ones.
        ConfigError: not a valid file name, or a shipped configuration of another command.
    """
    own, command = (shipped_configs(), "evolve") if model is RunConfig else (shipped_learning(), "learn")
    if len(str(path)) > MAX_PATH_LENGTH or "\0" in str(path):
        raise ConfigOptionError(f"not a valid configuration path: {str(path)[:40]!r}...")
    given = Path(path)
    shipped = configs_folder() / f"{path}.toml"
    if given.is_file() or not shipped.is_file():
        if not given.exists() and given.suffix != ".toml":
            raise unknown_name("configuration", str(path), own)
        if not given.exists() and (configs_folder() / given.name).is_file() and given.parts[0] == "configs":
            return configs_folder() / given.name
        return given
    if str(path) in {*shipped_configs(), *shipped_learning()} - set(own):
        raise ConfigOptionError(
            f"{path} is not a configuration of manaforge {command}, which takes {', '.join(own)}"
        )
    return shipped


def escape_control_characters(toml: str) -> str:
    """Escape control and invisible characters in TOML text, for printing on a terminal."""
    return "".join(
        letter if letter == "\n" or safe_text(letter) == letter else f"\\U{ord(letter):08x}"
        for letter in toml
    )


def split_names(text: str) -> tuple[str, ...]:
    """Split a comma-separated list of names, and drop duplicates.

    Options of an entrant, after `@`, may contain commas too: a part such as `depth=3` belongs to the name
    before it.
    """
    parts: list[str] = []
    for part in (part.strip() for part in text.split(",")):
        if parts and "@" in parts[-1] and re.fullmatch(r"[a-z]+=\w+|profile=.+", part):
            parts[-1] += f",{part}"
        elif part:
            parts.append(part)
    return tuple(dict.fromkeys(parts))


def _override(content: dict[str, Any], text: str, model: type[BaseModel]) -> str:
    """Apply one `--set key=value` to `content`, modified in place; returns the key."""
    key, equals, value = text.partition("=")
    known = dict(key_descriptions(model))
    if key == "address":
        raise ConfigOptionError(f"--set {text}: a Ray cluster is chosen by --address only")
    if not equals or not key:
        raise ConfigOptionError(f"--set takes KEY=VALUE, got {text!r}")
    section, _, name = key.rpartition(".")
    is_weight = section in WEIGHT_TABLES and section in known
    if key not in known and not is_weight and not (key in REMOVED_KEYS and model is RunConfig):
        raise ConfigOptionError(f"--set {text}: {unknown_name('key', key, known)}")
    try:
        parsed = safe_files.parse_toml(f"value = {value}")["value"]
    except ValueError:
        parsed = value
    if key in LIST_KEYS and isinstance(parsed, str):
        parsed = split_names(parsed)
    table = content.setdefault(section, {}) if section else content
    if not isinstance(table, dict):
        raise ConfigError(f"{section} must be a table, got {table!r}")
    table[name] = parsed
    return key
