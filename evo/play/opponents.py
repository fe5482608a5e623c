"""The fixed opponents of a run as its folder keeps them, so that profiles may change or move."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from engine.safe_files import read_bytes, read_json
from evo.config.messages import wanted
from evo.config.run_config import RunConfig
from evo.play.games import Player
from evo.storage.files import OPPONENTS, json_bytes
from evo.storage.run_folder import RunError
from ilp_agent.backends import BACKENDS
from ilp_agent.mulligan import DeckKeeps
from rivals import AGENTS, find_kind, is_outside
from rivals.outside.agent import check_starts
from rivals.outside.parameters import differences, read_parameters


class _Kept(BaseModel):
    """A player as it is written."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    kind: str
    weights: list[float]
    backend: str
    options: list[int]
    keeps: list[tuple[str, int, list[str], list[str]]]
    parameters: list[Any] | None = None  # of an agent from outside that plays by a profile


_FILE: TypeAdapter[dict[str, _Kept]] = TypeAdapter(
    Annotated[dict[str, _Kept], Field(max_length=64)], config=ConfigDict(strict=True)
)


def opponents_bytes(players: Mapping[str, Player]) -> bytes:
    """The file of players by their entrants' texts."""
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
            for text, player in players.items()
        }
    )


def _parameters_of(player: Player) -> dict[str, Any]:
    """What an agent from outside declares that its weights are places in; {} for others."""
    if not is_outside(player.kind) or not player.weights:
        return {}
    return {"parameters": [vars(one) for one in check_starts(player.kind)]}


def read_opponents(folder: Path, config: RunConfig) -> list[Player]:
    """The fixed opponents of a run, in the order of its configuration.

    Raises:
        RunError: the file is missing or damaged, or holds others.
    """
    if not config.opponents.fixed:
        return []
    file = folder / OPPONENTS
    try:
        kept = _FILE.validate_python(_as_lists(read_json(file)))
        if set(kept) != set(config.opponents.fixed):
            raise ValueError("it holds other opponents than config.toml names")
        return [_player_of(kept[text]) for text in config.opponents.fixed]
    except ValidationError as error:
        raise RunError(f"{file} is damaged: {wanted(error.errors()[0])}; start a new run") from None
    except (OSError, ValueError) as error:
        raise RunError(f"{file} cannot be read: {error}; start a new run") from None


def opponents_digest(folder: Path) -> str:
    """SHA-256 of the file; "" where it cannot be read."""
    try:
        return hashlib.sha256(read_bytes(folder / OPPONENTS)).hexdigest()
    except OSError:
        return ""


def _as_lists(content: Any) -> Any:
    """The parts of keeps as tuples, which JSON has not."""
    for player in content.values() if isinstance(content, dict) else ():
        if isinstance(player, dict) and isinstance(player.get("keeps"), list):
            player["keeps"] = [tuple(own) if isinstance(own, list) else own for own in player["keeps"]]
    return content


def _player_of(kept: _Kept) -> Player:
    """The player as it is written.

    Raises:
        ValueError: there is none like that.
    """
    declared = check_starts(kept.kind) if is_outside(kept.kind) else ()
    kind = find_kind(kept.kind) if kept.kind in AGENTS or is_outside(kept.kind) else None
    if kind is None or kept.backend not in BACKENDS:
        raise ValueError(f"there is no agent {kept.kind!r} with backend {kept.backend!r}")
    if kind.weights is not None:
        kind.weights.from_array(kept.weights)
    elif kept.weights and kept.parameters is not None:
        different = differences(declared, read_parameters(kept.parameters))
        if different:
            raise ValueError(f"agent {kept.kind!r} declares others than are kept: {different}")
    elif kept.weights and len(kept.weights) != len(declared):
        raise ValueError(f"agent {kept.kind!r} has {len(declared)} weights, and {len(kept.weights)} are kept")
    values = list(zip(kind.options, kept.options, strict=False))
    if len(values) < len(kept.options) or not all(one.least <= value <= one.most for one, value in values):
        raise ValueError(f"agent {kept.kind!r} takes no options {kept.options}")
    keeps = tuple(DeckKeeps(deck, seat, tuple(keep), tuple(away)) for deck, seat, keep, away in kept.keeps)
    return Player(tuple(kept.weights), kept.backend, kept.kind, tuple(kept.options), keeps)
