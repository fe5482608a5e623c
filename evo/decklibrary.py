"""Deck libraries: folders of deck files and deck codes, for agents that predict the opponent's deck."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine import find_deck
from engine.cards.real import OLD_EDITION
from engine.deck_files import deck_from_code, read_deck
from engine.decks import Deck, DeckOptions, split_deck_prefix
from engine.errors import DeckError, DeckNameError, ManaforgeError, WrongValueError
from engine.safe_files import read_text
from engine.shipped import shipped_decks

LIBRARY_DECK_OPTIONS = DeckOptions(bodies=True, any_deck=True)
"""Reading options of deck codes in a library: any cards, whatever the class."""


class LibraryError(WrongValueError, ValueError):
    """A deck library without effect on the games."""


def shipped_and_library(folder: Path | None = None) -> tuple[Deck, ...]:
    """The shipped decks and, if given, the decks of a library folder under their names for tables."""
    own = [replace(deck, name=name) for name, _, deck in _read_folder(folder)] if folder else []
    return (*map(find_deck, sorted(shipped_decks())), *own)


def refuse_unused_library(library: Sequence[Deck], decks: Sequence[Deck], named: str) -> None:
    """Refuse a deck library without effect: none of the library's decks is of the kind that is played.

    Args:
        library: candidate decks of an opponent; may be empty.
        decks: decks that are played.
        named: option or key of the library, for the message.

    Raises:
        LibraryError: the library has only decks with a class and the games none, or the reverse.
    """
    sorts = {bool(deck.hero_class) for deck in library}
    if sorts and not sorts & {deck.effects for deck in decks}:
        has, played = ("a class", "no class") if True in sorts else ("no class", "a class")
        raise LibraryError(
            f"{named}: its decks have {has}, but the decks played have {played}; "
            "name a library of the same kind"
        )


def library_for_prediction(predicts: bool, folder: Path | None, decks: Sequence[Deck]) -> tuple[Deck, ...]:
    """Read a deck library for games in which an agent predicts the opponent's deck; () without a folder.

    Args:
        predicts: whether an agent predicts.
        folder: library folder (`read_library`).
        decks: decks that are played.

    Raises:
        DeckError: as of `read_library`.
        LibraryError: no agent predicts, or no deck is of the kind that is played.
    """
    if folder is None:
        return ()
    if not predicts:
        raise LibraryError(
            f"--library {folder}: no agent predicts the opponent's deck; "
            "use one that does, such as lookahead@hands=predicted"
        )
    found = read_library(folder)
    refuse_unused_library(found, decks, f"--library {folder}")
    return found


def read_library(folder: Path) -> tuple[Deck, ...]:
    """Read a deck library: a folder of deck files `.toml`, and `.txt` files with one deck code per line.

    Raises:
        DeckError: the folder has no deck, or an invalid one; the message names file and line.
    """
    return tuple(deck for _, _, deck in _read_folder(folder))


def library_texts(folder: Path) -> list[str]:
    """The decks of a library folder as file paths and deck codes, the texts that `engine.find_deck` takes."""
    return [text for _, text, _ in _read_folder(folder)]


def deck_files_in(folder: Path) -> list[Path]:
    """Deck files of a library folder, sorted by name."""
    return sorted(path for path in folder.iterdir() if path.suffix in (".toml", ".txt"))


def expand_library_folders(entries: Any) -> Any:
    """Expand library folders in a configuration's list of decks into the decks of the folders.

    Raises:
        DeckError: as of `read_library`.
    """
    if not isinstance(entries, list | tuple):
        return entries
    return [text for entry in entries for text in (library_texts(Path(entry)) if _is_dir(entry) else [entry])]


def _is_dir(entry: Any) -> bool:
    """Whether an entry of a list of decks is a folder, and no name of a shipped deck."""
    if not isinstance(entry, str) or not entry or entry in shipped_decks():
        return False
    return os.path.isdir(entry)  # noqa: PTH112 - accepts any name


def _read_folder(folder: Path) -> list[tuple[str, str, Deck]]:
    """Read a library folder; returns name for tables, text and deck of each deck."""
    if not folder.is_dir():
        raise DeckNameError(f"--library {folder} is not a folder; name one with deck files or deck codes")
    found: list[tuple[str, str, Deck]] = []
    try:
        files = deck_files_in(folder)
    except OSError as error:
        raise DeckError(f"cannot read {folder}: {error.strerror}") from None
    for path in files:
        if path.suffix == ".toml":
            deck = read_deck(path)
            found.append((deck.name, str(path), deck))
        else:
            found += _read_codes(path)
    patched = [name for name, _, deck in found if deck.patch]
    if patched:
        raise DeckError(f"{folder}: {', '.join(patched)} has patches; leave them out")
    if not found:
        raise DeckError(
            f"{folder} has no deck: deck files end in .toml, files with one deck code per line in .txt"
        )
    return found


def _read_codes(path: Path) -> Iterator[tuple[str, str, Deck]]:
    """Read name, code and deck from a file of deck codes: one per line; `### NAME` names the next deck."""
    try:
        lines = read_text(path).splitlines()
    except (OSError, ValueError) as error:
        raise DeckError(f"cannot read {path}: {error}") from None
    name = ""
    for number, line in enumerate(map(str.strip, lines), 1):
        if line.startswith("###"):
            name = line.strip("# ")
        elif line and not line.startswith("#"):
            try:
                yield (name or f"{path.name}:{number}", *_decode(line))
                name = ""
            except ManaforgeError as error:
                raise DeckError(f"{path}, line {number}: {error}") from None


def _decode(line: str) -> tuple[str, Deck]:
    """Decode a deck code, in the older card edition if the newest lacks a card; returns code and deck."""
    reading, code = split_deck_prefix(line)
    reading = reading.merged_with(LIBRARY_DECK_OPTIONS)
    older = replace(reading, edition=OLD_EDITION)
    try:
        return f"{reading.text}{code}", deck_from_code(code, reading)
    except DeckError:
        if reading.edition:
            raise
        with contextlib.suppress(DeckError):
            return f"{older.text}{code}", deck_from_code(code, older)
        raise
