"""A tournament from the words of a command line or of a call from Python."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine import find_deck, find_ruleset
from evo.decklibrary import library_for
from evo.play.entrants import find_entrants
from evo.stats.sequential import parse_sprt
from evo.tournament.run import Tournament
from rivals import refuse_decks

SPRT_WORD = re.compile(r"(elo0|elo1|alpha|beta|model)=")


def tournament_of(
    entrants: Sequence[str],
    decks: Sequence[str],
    ruleset: str,
    sprt: str = "",
    library: Path | None = None,
    **parts: Any,
) -> Tournament:
    """A tournament by the names of its parts.

    Args:
        entrants: texts, globs among them; one named twice also plays itself. With `sprt`, words of the test
            may be among them.
        decks: names, files or deck codes.
        ruleset: its name.
        sprt: a sequential test such as "elo0=0 elo1=20"; "" for none.
        library: a folder of decks that entrants who predict decks know beside the shipped ones.
        parts: games, seats, style and seed, as of `Tournament`.

    Raises:
        TournamentError, EntrantError, DeckError, UnknownNameError: a part is unknown, or they do not fit.
    """
    words = [word for word in entrants if sprt and SPRT_WORD.match(word)]
    texts = tuple(text for text in entrants if text not in words)
    found, twice = find_entrants(texts)
    found_decks = tuple(find_deck(name) for name in decks)
    refuse_decks((entrant.player.sort for entrant in found), found_decks)
    return Tournament(
        entrants=tuple(found),
        self_play=frozenset(twice),
        decks=found_decks,
        deck_names=tuple(decks),
        words=texts,
        ruleset=find_ruleset(ruleset),
        library=library_for(any(entrant.player.predicts for entrant in found), library, found_decks),
        library_folder=str(library or ""),
        sprt=parse_sprt(" ".join([sprt, *words])) if sprt else None,
        **parts,
    )
