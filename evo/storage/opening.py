"""Run folders created and opened: for a new run, to continue one, to read one, to give it its decks again."""

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine import find_deck
from engine.decks import earlier_effects
from evo.config import ConfigError, RunConfig
from evo.configfiles import deck_beside, read_config, read_toml
from evo.storage.decks import DECKS, missing_decks
from evo.storage.files import file_in_the_way, json_bytes, sync_folder, why_unusable
from evo.storage.history import KINDS, read_history
from evo.storage.kinds import OPPONENTS, RUNS, what_it_is
from evo.storage.schema import RUN_SCHEMA
from evo.storage.store import RunError, RunFolder, RunNameError


def create_run(path: Path, config: RunConfig, manifest: dict[str, Any], opponents: bytes = b"") -> RunFolder:
    """Create a run folder and lock it.

    Raises:
        RunError: it cannot be created, is not empty, or is in use.
    """
    with contextlib.ExitStack() as on_error:
        folder = RunFolder(path, config)
        on_error.callback(folder.close)
        try:
            path.mkdir(parents=True, exist_ok=True)
            check_vacant(path)
            folder.acquire()
            for kind in KINDS:
                (path / kind).mkdir(exist_ok=True)
            sync_folder(path)
        except OSError as error:
            raise RunError(
                f"{why_unusable(error, path, 'create run folder')}; choose another --out"
            ) from None
        folder.write("manifest.json", json_bytes({"schema": RUN_SCHEMA, **manifest}))
        if opponents:
            folder.write(OPPONENTS, opponents)
        folder.keep_decks()
        folder.write_config()  # last, since it makes the folder a run
        on_error.pop_all()
    return folder


def check_vacant(path: Path) -> None:
    """Refuse a folder that is not empty, except for leftovers of an interrupted `create_run`.

    Raises:
        RunError: the folder cannot be used for a new run.
    """
    file = file_in_the_way(path)
    if file is not None:
        raise RunError(f"{file} is a file; choose another --out")
    if (path / "config.toml").exists():
        raise RunError(f"run folder {path} is not empty; to continue it: manaforge resume {path}")
    for entry in path.iterdir() if path.exists() else ():
        leftover = entry.name in ("lock", "manifest.json", OPPONENTS) or entry.suffix == ".tmp"
        empty = entry.name in ("generations", "pairings") and entry.is_dir() and not any(entry.iterdir())
        copies = entry.name == DECKS and (path / "manifest.json").exists()
        if not (leftover or empty or copies):
            raise RunError(f"run folder {path} is not empty; choose another --out")


def open_run(path: Path) -> RunFolder:
    """Lock a run folder to continue the run; damage is set aside and listed in `problems`.

    Raises:
        RunError: it is not a run folder, is in use, or has an unknown schema.
        ConfigError: its configuration cannot be used.
    """
    folder = RunFolder(path, peek_run(path).config)
    with contextlib.ExitStack() as on_error:
        on_error.callback(folder.close)
        try:
            folder.acquire()
            for kind in KINDS:
                (path / kind).mkdir(exist_ok=True)
            folder.check_history()
        except OSError as error:
            raise RunError(why_unusable(error, path, "use run folder")) from None
        on_error.pop_all()
    return folder


def run_path(path: Path) -> Path:
    """The path itself; where nothing is there, the folder of this name in `runs/`, as entrants are named."""
    return RUNS / path if not path.exists() and (RUNS / path).is_dir() else path


def run_config(path: Path) -> RunConfig:
    """The configuration of a run folder.

    Raises:
        ConfigError: it cannot be used; for a deck file that is gone the message says how to give it.
    """
    file = path / "config.toml"
    try:
        return read_config(file)
    except ConfigError as error:
        if missing_decks(path, [deck for named in _decks_named(path).values() for deck in named]):
            raise ConfigError(f"{error}; to give it: manaforge resume {path} --decks FILE") from None
        raise ConfigError(str(error)) from None  # the run's own file: nothing of it was typed


def give_decks(path: Path, decks: Sequence[str]) -> None:
    """Put deck files into the folder of a run whose own are gone, and name them in its `config.toml`.

    Args:
        path: the run folder.
        decks: those that are gone, or all of the run and of its library, in their order.

    Raises:
        RunError: none is gone, another number is, or the run was not started with these cards.
        ConfigError, DeckError: a deck cannot be read.
    """
    named = {key: [deck_beside(deck, path) for deck in decks] for key, decks in _decks_named(path).items()}
    own = [deck for decks in named.values() for deck in decks]
    missing = missing_decks(path, own)
    if not missing:
        raise RunError(f"run folder {path} has all its decks; --decks is for files that are gone")
    given = list(decks)
    for deck in given:
        find_deck(deck)
    if len(given) == len(missing):
        given = [given.pop(0) if deck in missing else deck for deck in own]
    if len(given) != len(own):
        raise RunError(f"of {path} these decks are gone: {', '.join(missing)}; --decks takes as many files")
    whole = iter(given)
    sets = [
        f"{key}={json.dumps([next(whole) for _ in decks], ensure_ascii=False)}"
        for key, decks in named.items()
    ]
    folder = RunFolder(path, read_config(path / "config.toml", sets))
    known = folder.manifest().get("config_hash")
    if known is None:
        raise RunError(
            f"run folder {path} has no readable manifest.json, which says what cards it was started with"
        )
    if known != folder.config.digest:
        refuse_earlier_effects(folder, known)
        names = ", ".join(folder.config.deck_names)
        raise RunError(f"run folder {path} was not started with these decks ({names}) and cards")
    with folder:
        folder.acquire()
        folder.keep_decks()
        folder.write_config()


def refuse_earlier_effects(folder: RunFolder, known: str) -> None:
    """Say so where a run's hash is that of its configuration under an earlier version of the effects.

    Raises:
        RunError: it is.
    """
    earlier = earlier_effects(lambda version: folder.config.digest_under(version) == known)
    if earlier:
        raise RunError(f"run folder {folder.path} was started under {earlier}; start a new run")


def _decks_named(path: Path) -> dict[str, list[Any]]:
    """The decks in a run's configuration, by the keys `decks` and `library` that name any."""
    content = read_toml(path / "config.toml", "configuration")
    found = {key: content.get(key) for key in ("decks", "library")}
    return {key: decks for key, decks in found.items() if isinstance(decks, list) and decks}


def peek_run(path: Path) -> RunFolder:
    """A run folder for reading, even while another process writes it; only the number of lines is checked.

    Raises:
        RunError: it is not a run folder, or has an unknown schema.
        ConfigError: its configuration cannot be used.
    """
    if not (path / "config.toml").is_file():
        raise RunNameError(what_it_is(path))
    folder = RunFolder(path, run_config(path))
    schema = folder.manifest().get("schema", RUN_SCHEMA)
    if schema != RUN_SCHEMA:
        raise RunError(f"run folder {path} has schema {schema!r}; this version reads schema {RUN_SCHEMA}")
    with contextlib.suppress(OSError):
        folder.committed = len(read_history(path).entries)
    return folder
