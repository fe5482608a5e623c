"""Decks that an opponent may play beside the shipped ones: a folder of deck files and deck codes."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine import find_deck
from engine.cards.real import OLD_EDITION
from engine.deck_files import deck_from_code, read_deck
from engine.decks import Deck, Reading, split_words
from engine.errors import DeckError, DeckNameError, ManaforgeError, WrongValueError
from engine.safe_files import read_text
from engine.shipped import shipped_decks

ANY_LIST = Reading(bodies=True, any_deck=True)
"""How deck codes of a library are read: their cards need not be playable by the rules of a class."""


class LibraryError(WrongValueError, ValueError):
    """A library that nobody uses."""


def shipped_and(folder: Path | None = None) -> tuple[Deck, ...]:
    """The shipped decks, and those of a folder where one is named (`read_library`), by names for tables."""
    own = [replace(deck, name=name) for name, _, deck in _found(folder)] if folder else []
    return (*map(find_deck, sorted(shipped_decks())), *own)


def refuse_unused(library: Sequence[Deck], decks: Sequence[Deck], named: str) -> None:
    """Refuse a library without a deck of the sort that is played, which would change no game.

    Args:
        library: decks that an opponent may play; none are fine.
        decks: that are played.
        named: what names the library, for the message.

    Raises:
        LibraryError: it has decks of the other sort alone: with a class, or of bodies.
    """
    sorts = {bool(deck.hero_class) for deck in library}
    if sorts and not sorts & {deck.effects for deck in decks}:
        has, played = ("a class", "none") if True in sorts else ("no class", "one")
        raise LibraryError(f"{named}: its decks have {has}, and those that are played have {played}")


def library_for(predicts: bool, folder: Path | None, decks: Sequence[Deck]) -> tuple[Deck, ...]:
    """The decks of a folder, for games in which an agent predicts its opponent's deck; () without a folder.

    Args:
        predicts: whether one does.
        folder: see `read_library`.
        decks: that are played.

    Raises:
        DeckError: as of `read_library`.
        LibraryError: nobody predicts, or no deck is of the sort that is played.
    """
    if folder is None:
        return ()
    if not predicts:
        raise LibraryError(
            f"--library {folder}: nobody predicts the opponent's deck; "
            "an agent that does says so, as in lookahead@hands=predicted"
        )
    found = read_library(folder)
    refuse_unused(found, decks, f"--library {folder}")
    return found


def read_library(folder: Path) -> tuple[Deck, ...]:
    """The decks of a folder: deck files, and deck codes in `.txt` files, one a line.

    Raises:
        DeckError: the folder has no deck, or one that cannot be read; the message names file and line.
    """
    return tuple(deck for _, _, deck in _found(folder))


def library_texts(folder: Path) -> list[str]:
    """The same decks as texts that `engine.find_deck` takes: files, and codes with how they were read."""
    return [text for _, text, _ in _found(folder)]


def deck_files_in(folder: Path) -> list[Path]:
    """The files of a library's folder, by their names."""
    return sorted(path for path in folder.iterdir() if path.suffix in (".toml", ".txt"))


def texts_of(entries: Any) -> Any:
    """Decks of a configuration, in which a folder stands for the decks that it holds.

    Raises:
        DeckError: as of `read_library`.
    """
    if not isinstance(entries, list | tuple):
        return entries
    return [text for entry in entries for text in (library_texts(Path(entry)) if _is_dir(entry) else [entry])]


def _is_dir(entry: Any) -> bool:
    if not isinstance(entry, str) or not entry or entry in shipped_decks():
        return False
    return os.path.isdir(entry)  # noqa: PTH112 - accepts any name


def _found(folder: Path) -> list[tuple[str, str, Deck]]:
    """The decks of a folder, each with a name for tables and as text."""
    if not folder.is_dir():
        raise DeckNameError(f"--library {folder} is no folder; it needs one with deck files and deck codes")
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
            found += _codes_in(path)
    if not found:
        raise DeckError(
            f"{folder} has no deck: deck files end in .toml, files with a deck code a line in .txt"
        )
    return found


def _codes_in(path: Path) -> Iterator[tuple[str, str, Deck]]:
    """The decks of a file with a code a line; what follows ### names the next, # begins a remark."""
    try:
        lines = read_text(path).splitlines()
    except (OSError, ValueError) as error:
        raise DeckError(f"cannot read {path}: {error}") from None
    title = ""
    for number, line in enumerate(map(str.strip, lines), 1):
        if line.startswith("###"):
            title = line.strip("# ")
        elif line and not line.startswith("#"):
            try:
                yield (title or f"{path.name}:{number}", *_deck_of(line))
                title = ""
            except ManaforgeError as error:
                raise DeckError(f"{path}, line {number}: {error}") from None


def _deck_of(line: str) -> tuple[str, Deck]:
    """The deck of a code, of the older edition where the newest has not all of its cards; and its text."""
    reading, code = split_words(line)
    reading = reading.and_also(ANY_LIST)
    older = replace(reading, edition=OLD_EDITION)
    try:
        return f"{reading.text}{code}", deck_from_code(code, reading)
    except DeckError:
        if reading.edition:
            raise
        with contextlib.suppress(DeckError):
            return f"{older.text}{code}", deck_from_code(code, older)
        raise
