"""The arena: a round robin of a champion, the hand-made profiles and all rivals, defined by a file."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine import ManaforgeError, find_deck, find_ruleset
from engine.decks import default_ruleset
from engine.errors import constraint_text
from evo.config.files import read_toml, resolve_deck_path
from evo.config.keys import MAX_GAMES
from evo.config.run_config import ConfigError
from evo.play.entrants import find_entrant, find_entrants, resolve_in_folder
from evo.tournament.run import Tournament
from ilp_agent.shipped import configs_folder
from rivals import refuse_decks

CHAMPION = "champion"


class ArenaConfig(BaseModel):
    """Content of an arena file."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    champion: Annotated[str, Field(description="an entrant; paths are relative to this file's folder")]
    entrants: Annotated[tuple[str, ...], Field(strict=False, min_length=1, description="all other entrants")]
    decks: Annotated[
        tuple[str, ...],
        Field(strict=False, min_length=1, description="decks, played in all pairs; paths as for champion"),
    ]
    games: Annotated[
        int, Field(ge=2, le=MAX_GAMES, description="minimum games per pairing, over all pairs of decks")
    ] = 2000
    ruleset: str = ""


@dataclass(frozen=True)
class Arena:
    """Configuration of an arena, with the path of the configuration file."""

    config: ArenaConfig
    file: Path

    @property
    def folder(self) -> Path:
        """Folder against which relative paths in the arena file are resolved."""
        return self.file.parent


def read_arena(name: str) -> Arena:
    """Read an arena file; the name "arena" is `configs/arena.toml` of this installation.

    Raises:
        ConfigError: it cannot be read or is invalid; the message names file and key.
    """
    file = configs_folder() / "arena.toml" if name == "arena" else Path(name)
    content = read_toml(file, "arena")
    try:
        return Arena(ArenaConfig.model_validate(content), file)
    except ValidationError as errors:
        lines = [
            f"{'.'.join(map(str, problem['loc']))} {constraint_text(problem)}" for problem in errors.errors()
        ]
        raise ConfigError(f"arena {file}: {'; '.join(lines)}") from None


def create_arena(
    name: str, champion: str = "", games: int = 0, seed: int = 1, decks: Sequence[str] = ()
) -> Tournament:
    """Create the tournament of an arena file, with the command that repeats it; see `arena_tournament`."""
    words = ["manaforge", "arena"] + ([name] if name != "arena" else [])
    words += (["--champion", champion] if champion else []) + (["--games", str(games)] if games else [])
    words += ["--seed", str(seed)] if seed != 1 else []
    words += ["--decks", ",".join(decks)] if decks else []
    return arena_tournament(read_arena(name), champion, games, seed, shlex.join(words), decks)


def arena_tournament(
    arena: Arena, champion: str, games: int, seed: int, origin: str, own_decks: Sequence[str] = ()
) -> Tournament:
    """Create the round-robin tournament of an arena, with the champion as first entrant.

    Args:
        arena: from `read_arena`.
        champion: replaces the file's champion; "" for the file's.
        games: games per pairing, rounded up to an equal number per pair of decks; 0 for the file's.
        seed: of the deals.
        origin: command that plays it with the arena's own decks. For copied decks, the command is
            `manaforge tournament`.
        own_decks: names that replace the file's decks, under the default ruleset of these decks; () for the
            file's.

    Raises:
        DeckError, UnknownNameError: one of `own_decks` cannot be played, or is unknown.
        EntrantError, UnknownNameError, ProfileError: `champion` is not an entrant.
        ConfigError: an entrant or deck of the file is missing, or the champion is also another entrant.
    """
    config = arena.config
    typed = find_entrant(champion) if champion else None
    deck_names = tuple(own_decks) or config.decks
    decks = tuple(map(find_deck, own_decks))
    try:
        first = typed or replace(
            find_entrant(resolve_in_folder(config.champion, arena.folder)), text=CHAMPION
        )
        found, _ = find_entrants([resolve_in_folder(text, arena.folder) for text in config.entrants])
        decks = decks or tuple(find_deck(resolve_deck_path(name, arena.folder)) for name in config.decks)
        ruleset = find_ruleset((config.ruleset if not own_decks else "") or default_ruleset(decks))
        refuse_decks((entrant.player.kind_and_backend for entrant in (first, *found)), decks)
    except ManaforgeError as error:
        raise ConfigError(f"arena {arena.file}: {error}") from None
    others = [replace(entrant, text=_in_file(entrant.text, arena.folder)) for entrant in found]
    if first.player in [entrant.player for entrant in others]:
        raise ConfigError(
            f"the champion {champion or config.champion} is also among the other entrants; "
            "choose another champion"
        )
    if len({deck.name for deck in decks}) < len(decks):
        raise ConfigError(
            f"arena {arena.file}: decks: two decks with the same name in {', '.join(deck_names)}; rename one"
        )
    cells = len(decks) ** 2
    wanted = games or config.games
    texts = [
        champion or resolve_in_folder(config.champion, arena.folder),
        *(entrant.text for entrant in found),
    ]
    pairing_games = 2 * -(-wanted // (2 * cells))
    options = ["--games", str(pairing_games), "--ruleset", ruleset.name]
    options += ["--seed", str(seed)] if seed != 1 else []

    def command(names: tuple[str, ...]) -> str:
        if names == deck_names:
            return origin
        return shlex.join(["manaforge", "tournament", *texts, "--decks", ",".join(names), *options])

    return Tournament(
        entrants=(first, *others),
        self_play=frozenset(),
        decks=decks,
        deck_names=deck_names,
        ruleset=ruleset,
        games=pairing_games,
        seed=seed,
        origin=command,
    )


def _in_file(text: str, folder: Path) -> str:
    """Entrant text with the path shortened to one relative to the arena file's folder."""
    agent, colon, path = text.partition(":")
    return agent + colon + path.removeprefix(f"{folder}/")
