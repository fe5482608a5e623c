"""Configurations from files and command lines: where they are, `--set`, deck files beside them."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from engine import safe_files
from engine.decks import split_words
from engine.errors import ManaforgeError, unknown_name
from engine.shipped import shipped_decks
from engine.terminal import shown
from evo.config.run_config import (
    REMOVED,
    Config,
    ConfigError,
    ConfigOptionError,
    RunConfig,
    meanings,
    validated_as,
)
from ilp_agent.shipped import configs_folder, shipped_configs, shipped_learning

LISTS = ("decks", "library", "test.against", "also")
"""Keys whose values are lists of names."""

LONGEST_PATH = 4_000
"""Characters."""

ADDRESSES_OF_FILES = ("", "auto")
"""What a file may hold, and neither is followed: no file chooses the cluster that this machine joins."""


def read_config(
    path: str | Path, overrides: Sequence[str] = (), begins: bool = False, stored: bool = False
) -> RunConfig:
    """The configuration of a run; see `read_config_as`."""
    return read_config_as(RunConfig, path, overrides, begins, stored)


def read_config_as(
    model: type[Config],
    path: str | Path,
    overrides: Sequence[str] = (),
    begins: bool = False,
    stored: bool = False,
) -> Config:
    """Read a configuration file, or a shipped one by name, with `key=value` overrides.

    A deck file that it names is first looked for beside it, then from the current folder. An address
    in it is not followed.

    Args:
        model: the kind of configuration.
        path: a file, or a name of `configs/`; "" for the defaults.
        overrides: such as "seed=7", "es.initial_sigma=0.1" or "decks=thesis-paladin,thesis-warrior"; values
            are TOML, but text needs no quotes and a list no brackets.
        begins: whether a run begins by it; an agent from outside is then started, to ask for its parameters.
        stored: whether it is in a run folder, where keys of older versions may be set.

    Raises:
        ConfigError: it cannot be read or used; the message names the key, and the nearest known one.
    """
    file = find_config(path, model) if path else Path("defaults")
    content = read_toml(file, "configuration") if path else {}
    address = content.get("address", "")
    if address in ADDRESSES_OF_FILES:
        content.pop("address", None)
    elif isinstance(address, str):
        raise ConfigError(
            f"{file}: address: a file may not choose a cluster, got {address!r}: it can run code on the "
            "machines that join it. Give it on the command line: --address"
        )
    for key, beside in (("decks", deck_beside), ("library", _library_beside), ("also", _folder_beside)):
        if isinstance(content.get(key), list):
            content[key] = [beside(text, file.parent) for text in content[key]]
    given = {_override(content, override, model): f"--set {override}" for override in overrides}
    return validated_as(model, content, str(file), given, begins, stored)


def _folder_beside(text: Any, folder: Path) -> Any:
    """A folder as a file in `folder` names it: the one there, else the text itself."""
    if isinstance(text, str) and text and os.path.isdir(folder / text):  # noqa: PTH112 - accepts any name
        return str(folder / text)
    return text


def _library_beside(text: Any, folder: Path) -> Any:
    """A deck, or a folder of decks, as a file in `folder` names it."""
    return text if text in shipped_decks() else deck_beside(_folder_beside(text, folder), folder)


def deck_beside(deck: Any, folder: Path) -> Any:
    """A deck as a file in `folder` names it: the file of this path there, else the text itself.

    What stands in front of it, such as `bodies:`, stays there.
    """
    if not isinstance(deck, str) or not deck.endswith(".toml"):
        return deck
    try:
        reading, name = split_words(deck)
    except ManaforgeError:
        return deck  # what is wrong with it is said when it is read
    if os.path.isfile(folder / name):  # noqa: PTH113 - accepts names no file can have
        return f"{reading.text}{folder / name}"
    return deck


def read_toml(file: Path, what: str) -> dict[str, Any]:
    """The content of a TOML file.

    Raises:
        ConfigError: it cannot be read or is not TOML; the message calls it `what`.
    """
    try:
        return safe_files.read_toml(file)
    except OSError as error:
        raise ConfigOptionError(f"cannot read {what} {file}: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError(f"{what} {file} is not a TOML file: {error}") from None


def find_config(path: str | Path, model: type[BaseModel] = RunConfig) -> Path:
    """The file of a configuration: the path itself, or `configs/NAME.toml` of this installation.

    Args:
        path: as typed.
        model: the kind of configuration.

    Raises:
        UnknownNameError: it is neither; the message lists the shipped ones of this kind.
        ConfigError: no file can have this name, or the shipped one is of another kind.
    """
    own, command = (shipped_configs(), "evolve") if model is RunConfig else (shipped_learning(), "learn")
    if len(str(path)) > LONGEST_PATH or "\0" in str(path):
        raise ConfigOptionError(f"no configuration can have the name {str(path)[:40]!r}...")
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
            f"{path} is no configuration of manaforge {command}, which takes {', '.join(own)}"
        )
    return shipped


def escaped(toml: str) -> str:
    """The same TOML with the characters escaped that a terminal would obey or hide."""
    return "".join(
        letter if letter == "\n" or shown(letter) == letter else f"\\U{ord(letter):08x}" for letter in toml
    )


def names_in(text: str) -> tuple[str, ...]:
    """Names separated by commas, each once: how command lines write a list.

    What an entrant says after `@` may have commas too: a part such as `depth=3` belongs to the one before.
    """
    parts: list[str] = []
    for part in (part.strip() for part in text.split(",")):
        if parts and "@" in parts[-1] and re.fullmatch(r"[a-z]+=\w+|profile=.+", part):
            parts[-1] += f",{part}"
        elif part:
            parts.append(part)
    return tuple(dict.fromkeys(parts))


def _override(content: dict[str, Any], text: str, model: type[BaseModel]) -> str:
    """Apply one `key=value` of a kind of configuration; returns its key. `content` is modified in place."""
    key, equals, value = text.partition("=")
    known = dict(meanings(model))
    if key == "address":
        raise ConfigOptionError(f"--set {text}: only --address chooses a cluster")
    if not equals or not key:
        raise ConfigOptionError(f"--set takes KEY=VALUE, got {text!r}")
    if key not in known and not (key in REMOVED and model is RunConfig):
        raise ConfigOptionError(f"--set {text}: {unknown_name('key', key, known)}")
    try:
        parsed = safe_files.parse_toml(f"value = {value}")["value"]
    except ValueError:
        parsed = value
    if key in LISTS and isinstance(parsed, str):
        parsed = names_in(parsed)
    section, _, name = key.rpartition(".")
    table = content.setdefault(section, {}) if section else content
    if not isinstance(table, dict):
        raise ConfigError(f"{section} must be a table, got {table!r}")
    table[name] = parsed
    return key
