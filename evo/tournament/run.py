"""Define a tournament, from the command line or Python, and play its missing games."""

import re
import shlex
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np

from engine import RULES_VERSION, Deck, Outcome, Ruleset, find_deck, find_ruleset
from engine.decks import default_ruleset
from engine.terminal import print_error
from evo.config.keys import MAX_GAMES
from evo.decklibrary import library_for_prediction
from evo.play.dispatch import MessageCallback
from evo.play.entrants import Entrant, find_entrants
from evo.play.games import FAULT_TEXTS, Roster, Schedule
from evo.play.matchups import Matchups, make_pairings
from evo.play.notation import FORMATS, Seats
from evo.play.pool import WorkerPool
from evo.play.results import fault_text
from evo.seeds import Stream
from evo.stats.ratings import points_of
from evo.stats.sequential import Sprt, Verdict, parse_sprt
from evo.storage.files import json_digest
from evo.tournament.actions import action_table
from evo.tournament.folder import (
    TOURNAMENT_SCHEMA,
    DefinitionError,
    TournamentFolder,
    deck_identity,
    fewer_games_error,
)
from rivals import find_kind, refuse_decks

SAVE_SECONDS = 5.0
"""Approximate seconds between saves of results."""

FIRST_BATCH = 500
"""Games per worker in the first batch of compiled games."""

Advance = Callable[[int], None]


@dataclass(frozen=True)
class Tournament:
    """The definition of a tournament.

    Attributes:
        entrants: without duplicates, in the order given.
        self_play: names of the entrants that also play against themselves.
        decks: played in all ordered pairs; with `fixed` seats one for both, or the first's and the second's.
        deck_names: as typed.
        ruleset: of the games.
        games: per cell; see `evo.play.matchups.Matchups`.
        seats: see `evo.play.matchups.Matchups`.
        style: format, a name of `evo.play.notation.FORMATS`.
        seed: of the deals.
        sprt: sequential test that may stop it early; for two entrants in paired games.
        words: entrants as typed, for the command that repeats the tournament.
        origin: maps deck names to the command that repeats it, if that is not `manaforge tournament`.
        own_decks: per entrant, decks that replace `decks` for it alone; () for an entrant without any. Empty
            if no entrant has any.
        library: additional decks for entrants that predict the opponent's deck.
        library_folder: folder of the library, as typed.
        actions: whether the folder keeps the games' actions.

    Raises:
        DefinitionError: the definition is incomplete or inconsistent.
    """

    entrants: tuple[Entrant, ...]
    self_play: frozenset[str]
    decks: tuple[Deck, ...]
    deck_names: tuple[str, ...]
    ruleset: Ruleset
    games: int
    seats: Seats = "paired"
    style: str = "round-robin"
    seed: int = 1
    sprt: Sprt | None = None
    words: tuple[str, ...] = ()
    origin: Callable[[tuple[str, ...]], str] | None = field(default=None, compare=False)
    own_decks: tuple[tuple[Deck, ...], ...] = ()
    library: tuple[Deck, ...] = ()
    library_folder: str = field(default="", compare=False)
    actions: bool = False
    matchups: Matchups = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        names = [deck.name for deck in self.decks]
        if type(self.games) is not int or not 1 <= self.games <= MAX_GAMES:
            raise DefinitionError(f"games must be a whole number from 1 to {MAX_GAMES:,}, got {self.games!r}")
        if not self.entrants or (len(self.entrants) == 1 and not self.self_play):
            only = self.entrants[0].text if self.entrants else ""
            raise DefinitionError(
                f"a tournament needs two entrants, got {only or 'none'}; name another, "
                "or name the same entrant twice for games against itself"
            )
        if not self.decks:
            raise DefinitionError("a tournament needs decks: --decks thesis-paladin,thesis-warrior")
        if len(set(names)) != len(names):
            raise DefinitionError(f"two decks with the same name in {', '.join(names)}; rename one")
        if self.seats != "paired" and len(self.decks) > 2:
            raise DefinitionError(
                f"--seats fixed takes one deck for both players, or two as FIRST,SECOND, got {len(names)}"
            )
        if self.seats == "paired" and self.games % 2:
            raise DefinitionError(
                f"--games must be even, since every deal is played twice with the entrants exchanged, "
                f"got {self.games}{'' if self.origin and self.style != 'sweep' else '; or --seats fixed'}"
            )
        if self.sprt and (len(self.entrants) != 2 or self.self_play or self.seats == "fixed"):
            raise DefinitionError("--sprt needs exactly two different entrants, and --seats paired")
        matchups = Matchups(
            make_pairings(len(self.entrants), self.style, self._self_play_places()),
            len(self.decks),
            self.games,
            self.seed,
            (Stream.TOURNAMENT,),
            self.seats,
        )
        object.__setattr__(self, "matchups", matchups)

    def _self_play_places(self) -> list[int]:
        """Indices of entrants that also play themselves; with fixed seats, the diagonal of the format."""
        if self.seats == "fixed":
            return FORMATS[self.style].diagonal(len(self.entrants))
        return [place for place, entrant in enumerate(self.entrants) if entrant.text in self.self_play]

    @property
    def roster(self) -> Roster:
        """Players, decks and rules; the tournament's decks precede the entrants' own decks."""
        decks = self.decks + tuple(deck for own in self.own_decks for deck in own)
        players = tuple(entrant.player for entrant in self.entrants)
        return Roster(players, decks, self.ruleset, self.library, self.actions)

    def with_own_decks(self, games: Schedule) -> Schedule:
        """The schedule `games` with the entrants' own decks substituted, as indices in the roster."""
        if not self.own_decks:
            return games
        places = np.tile(np.arange(len(self.decks), dtype=np.int16), (len(self.entrants), 1))
        start = len(self.decks)
        for entrant, own in enumerate(self.own_decks):
            if own:
                places[entrant] = np.arange(start, start + len(own))
                start += len(own)
        return Schedule(games.players, places[games.players, games.decks], games.keys)

    @property
    def names(self) -> list[str]:
        """Names of the entrants in tables."""
        return [entrant.text for entrant in self.entrants]

    @property
    def definition(self) -> dict[str, Any]:
        """Everything that determines the games, as JSON values (`tournament.json`)."""
        sprt, effects = self.sprt, any(deck.effects for deck in self.roster.decks)
        return {
            "schema": TOURNAMENT_SCHEMA,
            "rules": RULES_VERSION,
            "manaforge": [version("manaforge")],
            "entrants": [
                {"entrant": one.text, "kind": one.player.kind, "weights": list(one.player.weights)}
                | find_kind(one.player.kind).definition(one.player.backend, one.player.options, effects)
                | ({"varied": _varied_in(own)} if own else {})
                | ({"mulligan": _kept_by(one)} if one.player.keeps else {})
                | _own_weights(one)
                | ({"card_values": one.player.card_values.tables()} if one.player.card_values else {})
                for one, own in zip(self.entrants, self.own_decks or [()] * len(self.entrants), strict=True)
            ],
            "self_matches": [self.names[place] for place in self._self_play_places()],
            "decks": [deck_identity(deck) for deck in self.decks],
            **({"library": [deck_identity(deck) for deck in self.library]} if self.library else {}),
            "ruleset": self.ruleset.name,
            "seats": self.seats,
            "format": self.style,
            "seed": self.seed,
            "sprt": [sprt.elo0, sprt.elo1, sprt.alpha, sprt.beta, sprt.model] if sprt else None,
            "games": self.games,
            **({"actions": True} if self.actions else {}),
        }

    @property
    def digest(self) -> str:
        """SHA-256 of everything that determines the games, except their number."""
        kept = {key: value for key, value in self.definition.items() if key not in ("games", "manaforge")}
        return json_digest(kept)

    @property
    def command(self) -> str:
        """Command line that repeats this tournament."""
        if self.origin:
            return self.origin(self.deck_names)
        texts = [name for name in self.names for _ in range(2 if name in self.self_play else 1)]
        words = ["manaforge", "tournament", *(self.words or texts), "--decks", ",".join(self.deck_names)]
        words += ["--games", str(self.games), "--ruleset", self.ruleset.name]
        words += ["--seats", self.seats] if self.seats != "paired" else []
        words += ["--format", self.style] if self.style != "round-robin" else []
        words += ["--library", self.library_folder] if self.library else []
        words += ["--actions"] if self.actions else []
        words += ["--seed", str(self.seed)] if self.seed != 1 else []
        if self.sprt:
            words += ["--sprt", *(f"{key}={value}" for key, value in vars(self.sprt).items())]
        return " ".join(shlex.quote(word) for word in words)


def _kept_by(entrant: Entrant) -> list[list[Any]]:
    """An entrant's mulligan choices as JSON values: deck, seat, cards to keep, cards to replace."""
    return [[deck, seat, list(keep), list(away)] for deck, seat, keep, away in entrant.player.keeps]


def _own_weights(entrant: Entrant) -> dict[str, Any]:
    """An entrant's weights for single decks as a JSON value; {} without any."""
    own = {deck: list(weights) for deck, weights in entrant.player.deck_weights}
    return {"deck_weights": own} if own else {}


def _varied_in(decks: tuple[Deck, ...]) -> list[list[Any]]:
    """Deck variants as JSON values: deck, card or keyword, number, and a hash of the variant or its cards."""
    if not any(deck.varied for deck in decks):  # its cards have other numbers
        return [[deck.name, "", 0, json_digest(deck.identity)] for deck in decks]
    return [
        [deck.name, deck.varied.name, deck.varied.count, json_digest(deck.varied.identity)]
        for deck in decks
        if deck.varied
    ]


def play_missing(
    tournament: Tournament, folder: TournamentFolder, pool: WorkerPool, advance: Advance
) -> Verdict:
    """Play the missing games of a tournament, in batches that are saved every few seconds.

    Args:
        tournament: its definition.
        folder: stores the results; games that it has are not played again.
        pool: worker pool.
        advance: called with the number of games finished; may raise to interrupt.

    Returns:
        The hypothesis accepted by the sequential test; "" if none.

    Raises:
        TournamentError: the folder cannot be written.
        InterruptedRunError: `advance` interrupted it; saved games are safe.
    """
    total = len(tournament.matchups)
    if len(folder.played) > total:
        raise fewer_games_error(folder.path, len(folder.played), total)
    roster, sprt = tournament.roster, tournament.sprt
    counts = np.zeros(5, np.int64)
    stopped = (
        sprt is not None and sprt.add_pairs(counts, _half_points(tournament, folder.played, 0)) is not None
    )
    batch = FIRST_BATCH * pool.workers if all(player.compiled for player in roster.players) else pool.workers
    start = len(folder.played)
    with _BatchWriter(tournament, folder) as writer:
        while not stopped and start < total:
            began = time.perf_counter()
            stop = min(total, start + 2 * -(-batch // 2))
            games = tournament.with_own_decks(tournament.matchups.schedule(start, stop)[0])
            results = play_games(roster, games, pool, advance, folder.note)
            speed = (stop - start) / max(time.perf_counter() - began, 1e-3)
            batch = int(max(1, min(speed * SAVE_SECONDS, 4 * batch)))
            if sprt:
                end = sprt.add_pairs(counts, _half_points(tournament, results, start))
                stopped = end is not None
                if end is not None:  # later games of the batch do not count
                    results = results[: 2 * end - start]
            writer.write(start, games.select(slice(len(results))), results)
            start += len(results)
    missing = folder.missing_actions() if tournament.actions else ""
    if missing:
        print_error(f"warning: {missing}")
    return sprt.verdict(counts) if sprt else ""


class _BatchWriter:
    """Saves batches of games: at once, or with their actions, while the next batch plays.

    A batch's actions are written before its results, so that a stopped run has the actions of all its games.
    """

    def __init__(self, tournament: Tournament, folder: TournamentFolder) -> None:
        self._tournament, self._folder = tournament, folder
        self._pending: tuple[Future[None], np.ndarray] | None = None
        self._threads = ThreadPoolExecutor(1) if tournament.actions else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._settle()
        finally:
            if self._threads is not None:
                self._threads.shutdown()

    def write(self, start: int, games: Schedule, results: np.ndarray) -> None:
        """Save the results of games `start`, ..., and their actions."""
        self._settle()
        if self._threads is None:
            self._folder.append(results)
        else:
            self._pending = self._threads.submit(self._write_actions, start, games, results), results

    def _write_actions(self, start: int, games: Schedule, results: np.ndarray) -> None:
        table = action_table(self._tournament.roster, games, results, start)
        self._folder.write_actions(start, table)

    def _settle(self) -> None:
        """Wait for the actions of the batch before, and save its results."""
        if self._pending is not None:
            (future, results), self._pending = self._pending, None
            future.result()
            self._folder.append(results)


def play_games(
    roster: Roster, games: Schedule, pool: WorkerPool, advance: Advance, note: MessageCallback
) -> np.ndarray:
    """Play a schedule, with compiled and uncompiled games as separate jobs; results in schedule order."""
    compiled = roster.compiled(games)
    if compiled.all() or not compiled.any():
        return pool.play(roster, games, advance, note)
    results = np.zeros(len(games), roster.result_dtype)
    for which in (compiled, ~compiled):
        results[which] = pool.play(roster, games.select(which), advance, note)
    return results


def find_faults(tournament: Tournament, played: np.ndarray) -> list[dict[str, Any]]:
    """Count games lost by faults, per entrant and kind of fault, with the error of the first one."""
    numbers = np.flatnonzero(played["fault"])
    if len(numbers) == 0:
        return []
    schedule, _ = tournament.matchups.schedule(0, len(played))
    loser = np.where(played["outcome"] == Outcome.FIRST_WINS, schedule.players[:, 1], schedule.players[:, 0])
    found = []
    for place, name in enumerate(tournament.names):
        for code, kind in FAULT_TEXTS.items():
            own = numbers[(loser[numbers] == place) & (played["fault"][numbers] == code)]
            if len(own):
                text = fault_text(tournament.roster, tournament.with_own_decks(schedule), int(own[0]))
                number = int(own[0])
                found.append(
                    {"entrant": name, "fault": kind, "games": len(own), "number": number, "first": text}
                )
    return found


def _half_points(tournament: Tournament, results: np.ndarray, start: int) -> np.ndarray:
    """Half points that the first entrant won in each game pair; `results` begin with game `start`."""
    schedule, _ = tournament.matchups.schedule(start, start + len(results))
    points = points_of(results["outcome"], schedule.players[:, 0] == 0)
    return np.asarray((2 * points).astype(np.int64).reshape(-1, 2).sum(axis=1))


SPRT_PARAMETER = re.compile(r"(elo0|elo1|alpha|beta|model)=")
"""A parameter of the sequential test among the entrants of a command line."""


def create_tournament(
    entrants: Sequence[str],
    decks: Sequence[str],
    ruleset: str,
    sprt: str = "",
    library: Path | None = None,
    **parts: Any,
) -> Tournament:
    """Create a tournament from the names of entrants, decks and ruleset.

    Args:
        entrants: names or globs; an entrant named twice also plays against itself. With `sprt`, parameters of
            the test may be among them.
        decks: names, files or deck codes.
        ruleset: its name; "" for the decks' default (`engine.decks.default_ruleset`).
        sprt: sequential test such as "elo0=0 elo1=20"; "" for none.
        library: folder of additional decks for entrants that predict the opponent's deck.
        parts: games, seats, style and seed, as of `Tournament`.

    Raises:
        TournamentError, EntrantError, DeckError, UnknownNameError: a name is unknown, or the definition is
            inconsistent.
    """
    words = [word for word in entrants if sprt and SPRT_PARAMETER.match(word)]
    texts = tuple(text for text in entrants if text not in words)
    found, twice = find_entrants(texts)
    found_decks = tuple(find_deck(name) for name in decks)
    refuse_decks((entrant.player.kind_and_backend for entrant in found), found_decks)
    return Tournament(
        entrants=tuple(found),
        self_play=frozenset(twice),
        decks=found_decks,
        deck_names=tuple(decks),
        words=texts,
        ruleset=find_ruleset(ruleset or default_ruleset(found_decks)),
        library=library_for_prediction(
            any(entrant.player.predicts for entrant in found), library, found_decks
        ),
        library_folder=str(library or ""),
        sprt=parse_sprt(" ".join([sprt, *words])) if sprt else None,
        **parts,
    )
