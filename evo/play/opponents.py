"""File with the weights of a run's fixed opponents, so that the run does not depend on profile files."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from engine.errors import constraint_text
from engine.safe_files import read_bytes, read_json
from evo.config.run_config import RunConfig
from evo.play.games import Player
from evo.storage.files import OPPONENTS, json_bytes
from evo.storage.run_folder import RunError
from ilp_agent.backends import BACKENDS
from ilp_agent.card_values import read_card_values
from ilp_agent.mulligan import DeckMulligan
from rivals import AGENTS, find_kind, is_outside
from rivals.outside.agent import check_starts
from rivals.outside.parameters import differences, read_parameters


class _StoredPlayer(BaseModel):
    """A player as stored in the file of opponents."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    kind: str
    weights: list[float]
    backend: str
    options: list[int]
    keeps: list[tuple[str, int, list[str], list[str]]]
    deck_weights: dict[str, list[float]] = {}
    card_values: dict[str, dict[str, float]] = {}
    parameters: list[Any] | None = None  # declared parameters of an agent from outside with a profile


_FILE: TypeAdapter[dict[str, _StoredPlayer]] = TypeAdapter(
    Annotated[dict[str, _StoredPlayer], Field(max_length=64)], config=ConfigDict(strict=True)
)


def opponents_bytes(players: Mapping[str, Player]) -> bytes:
    """Content of the file of opponents: players by entrant text, as JSON."""
    return json_bytes(
        {
            text: _parameters_of(player)
            | {
                "kind": player.kind,
                "weights": list(player.weights),
                "backend": player.backend,
                "options": list(player.options),
                "keeps": [[deck, seat, list(keep), list(away)] for deck, seat, keep, away in player.keeps],
            }
            | ({"deck_weights": dict(player.deck_weights)} if player.deck_weights else {})
            | ({"card_values": player.card_values.tables()} if player.card_values else {})
            for text, player in players.items()
        }
    )


def _parameters_of(player: Player) -> dict[str, Any]:
    """Declared parameters of an agent from outside, as stored in the file; {} for other agents."""
    if not is_outside(player.kind) or not player.weights:
        return {}
    return {"parameters": [vars(parameter) for parameter in check_starts(player.kind)]}


def read_opponents(folder: Path, config: RunConfig) -> list[Player]:
    """Read the fixed opponents of a run, in the order of its configuration.

    Raises:
        RunError: the file is missing or damaged, or has other opponents than the configuration.
    """
    if not config.opponents.fixed:
        return []
    file = folder / OPPONENTS
    try:
        stored = _FILE.validate_python(_as_lists(read_json(file)))
        if set(stored) != set(config.opponents.fixed):
            raise ValueError("its opponents are not those of config.toml")
        return [_player_of(stored[text]) for text in config.opponents.fixed]
    except ValidationError as error:
        raise RunError(f"{file} is damaged: {constraint_text(error.errors()[0])}; start a new run") from None
    except (OSError, ValueError) as error:
        raise RunError(f"{file} cannot be read: {error}; start a new run") from None


def opponents_digest(folder: Path) -> str:
    """SHA-256 of a run's file of fixed opponents; "" if it cannot be read."""
    try:
        return hashlib.sha256(read_bytes(folder / OPPONENTS)).hexdigest()
    except OSError:
        return ""


def _as_lists(content: Any) -> Any:
    """Convert the lists in `keeps` of stored players to tuples, which JSON lacks. Modified in place."""
    for player in content.values() if isinstance(content, dict) else ():
        if isinstance(player, dict) and isinstance(player.get("keeps"), list):
            player["keeps"] = [tuple(own) if isinstance(own, list) else own for own in player["keeps"]]
    return content


def _player_of(stored: _StoredPlayer) -> Player:
    """Make a player from its stored form.

    Raises:
        ValueError: agent kind, backend, weights or options are invalid.
    """
    declared = check_starts(stored.kind) if is_outside(stored.kind) else ()
    kind = find_kind(stored.kind) if stored.kind in AGENTS or is_outside(stored.kind) else None
    if kind is None or stored.backend not in BACKENDS:
        raise ValueError(f"there is no agent {stored.kind!r} with backend {stored.backend!r}")
    if kind.weights is not None:
        for weights in (stored.weights, *stored.deck_weights.values()):
            kind.weights.from_array(weights)
    elif stored.weights and stored.parameters is not None:
        different = differences(declared, read_parameters(stored.parameters))
        if different:
            raise ValueError(f"agent {stored.kind!r} declares other parameters than the file: {different}")
    elif stored.weights and len(stored.weights) != len(declared):
        raise ValueError(f"agent {stored.kind!r} has {len(declared)} weights, the file {len(stored.weights)}")
    settings = list(zip(kind.options, stored.options, strict=False))
    if len(settings) < len(stored.options) or not all(
        option.least <= value <= option.most for option, value in settings
    ):
        raise ValueError(f"agent {stored.kind!r} takes no options {stored.options}")
    keeps = tuple(
        DeckMulligan(deck, seat, tuple(keep), tuple(away)) for deck, seat, keep, away in stored.keeps
    )
    deck_weights = tuple((deck, tuple(weights)) for deck, weights in stored.deck_weights.items())
    return Player(
        tuple(stored.weights),
        stored.backend,
        stored.kind,
        tuple(stored.options),
        keeps,
        deck_weights,
        read_card_values(stored.card_values),
    )
