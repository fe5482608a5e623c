"""Read a tournament's folder without changing it, even while it runs, and replay its games."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine import RULES_VERSION, Deck, ManaforgeError, find_deck, find_ruleset, shipped_decks
from engine.errors import constraint_text
from engine.game_session import MatchResult
from engine.match import ActionCallback
from engine.safe_files import read_json
from evo.config.keys import MAX_GAMES
from evo.decklibrary import read_library
from evo.play.entrants import entrant_from_weights
from evo.play.games import play_game_in_python
from evo.play.matchups import Matchups, games_table, make_pairings
from evo.play.notation import FORMATS, Seats
from evo.seeds import Stream
from evo.stats.ratings import OUTCOME_WORDS
from evo.storage.files import folder_error_text, json_digest
from evo.storage.run_folder import DECKS
from evo.tournament.folder import (
    MAX_STORED_GAMES,
    TOURNAMENT_SCHEMA,
    TournamentError,
    changed_agents_text,
    earlier_effects_text,
    read_played,
    too_many_games_error,
)
from evo.tournament.run import Tournament
from ilp_agent.card_values import read_card_values
from ilp_agent.mulligan import DeckMulligan

MAX_ENTRANTS = 1_000
MAX_DECKS = 1_000
RESTORE = "restore the file from a copy, or play the tournament again"
UNCOMPARED_KEYS = ("games", "manaforge", "sprt", "entrants")
"""Keys of a definition that do not affect a single game, or are compared separately."""

Name = Annotated[str, Field(max_length=4_000)]


class _Entrant(BaseModel):
    """Definition of an entrant; a replay also compares the further keys of the agent kind."""

    model_config = ConfigDict(strict=True, extra="allow")

    entrant: Name
    kind: Name
    weights: Annotated[list[float], Field(max_length=1_000)]
    mulligan: list[tuple[str, int, list[str], list[str]]] = []
    deck_weights: Annotated[dict[str, list[float]], Field(max_length=1_000)] = {}
    card_values: dict[str, dict[str, float]] = {}
    varied: list[Any] = []


class _Deck(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    deck: Name
    cards_sha256: Name


class Definition(BaseModel):
    """Validated content of `tournament.json`; see `Tournament.definition`."""

    model_config = ConfigDict(strict=True, extra="ignore")

    schema_: int = Field(alias="schema")
    rules: int
    entrants: Annotated[list[_Entrant], Field(min_length=1, max_length=MAX_ENTRANTS)]
    self_matches: list[str]
    decks: Annotated[list[_Deck], Field(min_length=1, max_length=MAX_DECKS)]
    ruleset: str
    seats: Seats
    format: str
    seed: Annotated[int, Field(ge=0, lt=2**64)]
    games: Annotated[int, Field(ge=1, le=MAX_GAMES)]


@dataclass(frozen=True)
class TournamentRecord:
    """A tournament as read from the tournament's folder.

    Attributes:
        path: the folder.
        definition: validated definition.
        content: raw content of `tournament.json`.
        matchups: schedule of all games by number.
        games: table of the games played, by number (`evo.play.matchups.games_table`).
        problems: damage, one message each.
    """

    path: Path
    definition: Definition
    content: dict[str, Any]
    matchups: Matchups
    games: pd.DataFrame
    problems: tuple[str, ...]

    @property
    def digest(self) -> str:
        """SHA-256 of the definition."""
        return json_digest(self.content)

    @property
    def names(self) -> list[str]:
        """Names of the entrants."""
        return [one.entrant for one in self.definition.entrants]


def read_tournament(path: Path) -> TournamentRecord:
    """Read a tournament's folder, finished or running, without changing it.

    Raises:
        TournamentError: it is not a tournament, or is damaged.
        UnknownNameError: unknown ruleset.
    """
    about = path / "tournament.json"
    try:
        content = read_json(about)
        definition = Definition.model_validate(_with_tuples(content))
    except OSError as error:
        raise TournamentError(folder_error_text(error, about, "read")) from None
    except ValidationError as error:
        raise TournamentError(
            f"{about} is damaged: {constraint_text(error.errors()[0])}; {RESTORE}"
        ) from None
    except ValueError as error:
        raise TournamentError(f"{about} is damaged: {error}; {RESTORE}") from None
    if definition.schema_ != TOURNAMENT_SCHEMA or definition.format not in FORMATS:
        raise TournamentError(
            f"{about} has schema {definition.schema_} and format {definition.format[:40]!r}; this version "
            f"reads schema {TOURNAMENT_SCHEMA} and formats {', '.join(FORMATS)}"
        )
    names = [one.entrant for one in definition.entrants]
    decks = [deck.deck for deck in definition.decks]
    twice = len(set(names)) < len(names) or len(set(decks)) < len(decks)
    if twice or not set(definition.self_matches) <= set(names):
        raise TournamentError(
            f"{about} is damaged: duplicate entrants or decks, or self-play of an unknown entrant; {RESTORE}"
        )
    own = [names.index(name) for name in definition.self_matches]
    matchups = Matchups(
        make_pairings(len(names), definition.format, own),
        len(decks),
        definition.games,
        definition.seed,
        (Stream.TOURNAMENT,),
        definition.seats,
    )
    if matchups.games_per_round > MAX_STORED_GAMES:  # a round is scheduled as a whole
        raise too_many_games_error(path, matchups.games_per_round)
    problems: list[str] = []
    ruleset = find_ruleset(definition.ruleset)
    played = read_played(path, ruleset, len(matchups), lambda _, why: problems.append(why))
    games = games_table(matchups, played, names, decks)
    return TournamentRecord(path, definition, content, matchups, games, tuple(problems))


def tournament_to_replay(record: TournamentRecord) -> Tournament:
    """Rebuild the tournament of a folder, so that its games can be replayed.

    Only the folder and shipped files are used: entrants play with the weights stored in the folder.

    Raises:
        TournamentError: its games cannot be replayed with this installation; the message gives the reason.
        NotAllowedError: an entrant is an agent from outside that the command line does not allow.
        NotStartedError: an agent from outside cannot be started.
    """
    definition = record.definition
    if definition.rules != RULES_VERSION:
        raise TournamentError(
            f"the tournament was played under rules {definition.rules}, and this version plays rules "
            f"{RULES_VERSION}"
        )
    if any(one.varied for one in definition.entrants):
        raise TournamentError(
            "the entrants have their own decks, which the tournament's folder does not contain"
        )
    entrants = tuple(
        entrant_from_weights(
            one.entrant,
            one.kind,
            one.weights,
            tuple(
                DeckMulligan(deck, seat, tuple(keep), tuple(away)) for deck, seat, keep, away in one.mulligan
            ),
            tuple((deck, tuple(weights)) for deck, weights in one.deck_weights.items()),
            read_card_values(one.card_values),
        )
        for one in definition.entrants
    )
    library, stored = record.path / "library", stored_decks(record.path)
    tournament = Tournament(
        entrants=entrants,
        self_play=frozenset(definition.self_matches),
        decks=tuple(_deck(stored, deck.deck) for deck in definition.decks),
        deck_names=tuple(deck.deck for deck in definition.decks),
        ruleset=find_ruleset(definition.ruleset),
        games=definition.games,
        seats=definition.seats,
        style=definition.format,
        seed=definition.seed,
        library=read_library(library) if "library" in record.content else (),
        actions=bool(record.content.get("actions")),
    )
    other = _differences(tournament.definition, record.content)
    earlier = earlier_effects_text(tournament.decks, record.content["decks"]) if other else ""
    earlier = " and ".join(
        filter(None, (earlier, changed_agents_text(record.content, tournament.definition)))
    )
    if earlier:
        raise TournamentError(f"the tournament was played under {earlier}")
    if other:
        raise TournamentError(
            f"the tournament's {', '.join(other)} differ from those of this version and machine"
        )
    return tournament


def replay_game(
    record: TournamentRecord, tournament: Tournament, number: int, watch: ActionCallback | None = None
) -> tuple[MatchResult, str]:
    """Replay a game of a tournament, and compare the result; `watch` as of `play_game_in_python`.

    Returns:
        The game, and a description of the difference to the stored result; "" if they agree.
    """
    schedule, _ = tournament.matchups.schedule(number, number + 1)
    result = play_game_in_python(tournament.roster, tournament.with_own_decks(schedule), 0, watch=watch)
    row = record.games.iloc[number]
    was, now = (row["outcome"], int(row["turns"])), (OUTCOME_WORDS[result.outcome], result.turns)
    if was == now:
        return result, ""
    return result, f"stored result: {was[0]} in round {was[1]}; replayed: {now[0]} in round {now[1]}"


def _differences(now: dict[str, Any], was: dict[str, Any]) -> list[str]:
    """Keys that affect games and differ between two definitions; for entrants, only keys that both have."""
    other = [
        key
        for key in dict.fromkeys([*now, *was])
        if key not in UNCOMPARED_KEYS and now.get(key) != was.get(key)
    ]
    for one, before in zip(now["entrants"], was["entrants"], strict=True):
        other += [
            f"entrant {one['entrant']} ({key})" for key in one if key in before and one[key] != before[key]
        ]
    return other


def _with_tuples(content: Any) -> Any:
    """Convert the mulligan lists of JSON to tuples."""
    entrants = content.get("entrants") if isinstance(content, dict) else None
    if not isinstance(entrants, list):
        return content
    changed = [
        one | {"mulligan": [tuple(row) if isinstance(row, list) else row for row in one["mulligan"]]}
        if isinstance(one, dict) and isinstance(one.get("mulligan"), list)
        else one
        for one in entrants
    ]
    return content | {"entrants": changed}


def stored_decks(path: Path) -> dict[str, Deck]:
    """Decks in a tournament's folder, by name; files that are not decks are left out."""
    found: dict[str, Deck] = {}
    for file in sorted((path / DECKS).glob("*.toml"))[:MAX_DECKS]:
        try:
            deck = find_deck(str(file))
        except ManaforgeError:
            continue
        found.setdefault(deck.name, deck)
    return found


def _deck(stored: dict[str, Deck], name: str) -> Deck:
    """Find a deck by name, among those in the tournament's folder or the shipped decks."""
    if name in stored:
        return stored[name]
    if name not in shipped_decks():  # untrusted: never a path
        raise TournamentError(f"deck {name} is neither in the tournament's folder nor shipped")
    return find_deck(name)
