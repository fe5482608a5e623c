"""Deck files in the folders of runs and tournaments, so that these open wherever they are moved."""

import re
from collections.abc import Iterable
from itertools import chain, count
from pathlib import Path

from engine import Deck, ManaforgeError, find_deck
from evo.configfiles import deck_beside
from evo.storage.files import replace_file

DECKS = "decks"
"""Folder of the deck files inside that of a run or tournament."""

LONGEST_NAME = 60
"""Characters of a file's name."""


def keep_decks(folder: Path, decks: Iterable[Deck]) -> list[Path | None]:
    """Write the files of decks into `folder`/decks.

    Args:
        folder: of a run or tournament; it exists.
        decks: shipped decks and deck codes need no file and are left out.

    Returns:
        The file of each; None where it needs none.

    Raises:
        OSError: a file cannot be written.
    """
    kept: list[Path | None] = []
    taken = {"config"}  # config.toml makes a run
    for deck in decks:
        file = None
        if deck.text:
            stem = re.sub(r"[^A-Za-z0-9_-]+", "-", deck.name).strip("-")[:LONGEST_NAME] or "deck"
            numbered = (f"{stem}-{number}" for number in count(2))
            stem = next(name for name in chain([stem], numbered) if name.casefold() not in taken)
            file = folder / DECKS / f"{stem}.toml"
            taken.add(stem.casefold())
            file.parent.mkdir(exist_ok=True)
            replace_file(file, deck.text.encode(), folder / f"{file.name}.tmp")
        kept.append(file)
    return kept


def missing_decks(folder: Path, decks: Iterable[object]) -> list[str]:
    """Those of a configuration's decks that cannot be found, from its folder or the current one."""
    missing = []
    for deck in decks:
        try:
            find_deck(deck_beside(str(deck), folder))
        except ManaforgeError:
            missing.append(str(deck))
    return missing
