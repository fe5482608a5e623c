"""Checks of the tables of a run folder, since a folder from elsewhere may hold anything.

`runs/README.md` describes the columns.
"""

import contextlib
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as kinds

from engine import RULES_VERSION, ManaforgeError, find_deck
from evo.config import RunConfig
from evo.strategies import STRATEGIES
from rivals import weight_class

RUN_SCHEMA = 1

Kind = tuple[str, Callable[[pa.DataType], bool]]

WHOLE: Kind = ("whole number", kinds.is_integer)
NUMBER: Kind = ("number", lambda kind: kinds.is_integer(kind) or kinds.is_floating(kind))
YES_NO: Kind = ("yes or no", kinds.is_boolean)
TEXT: Kind = ("text", lambda kind: kinds.is_string(kind) or kinds.is_large_string(kind))
NAME: Kind = ("text", lambda kind: TEXT[1](kind) or (kinds.is_dictionary(kind) and TEXT[1](kind.value_type)))

MAY_LACK = frozenset({"parent_a", "parent_b", "rank", "opponent"})
"""Columns in which values may be missing."""

FINAL = {
    "stage": TEXT,
    "rank": NUMBER,
    "candidate": TEXT,
    "opponent": TEXT,
    **dict.fromkeys(("games", "wins", "draws", "losses"), WHOLE),
    **dict.fromkeys(("mean_turns", "score", "low", "high"), NUMBER),
}

PAIRINGS = {
    **dict.fromkeys(("generation", "individual", "opponent"), WHOLE),
    **dict.fromkeys(("deck", "opponent_deck"), NAME),
    **dict.fromkeys(("games", "wins", "draws", "turns"), WHOLE),
}


VALIDATION = {
    **dict.fromkeys(("generation", "individual"), WHOLE),
    **{name: kind for name, kind in FINAL.items() if name not in ("stage", "rank", "candidate")},
}


class SchemaError(ManaforgeError, ValueError):
    """A table that does not fit its place in a run folder."""


def read_table(content: bytes, kind: str, config: RunConfig) -> pa.Table:
    """A table of a run folder from the bytes of its parquet file.

    Args:
        content: of the file.
        kind: "generations", "pairings", "validation" or "final".
        config: of the run.

    Raises:
        SchemaError: it is not such a table; the message says why.
    """
    with _parquet(content) as file:
        # Three times as fast as read_table, which starts threads for each of many small files.
        table = file.read(use_threads=False)
    known = {"pairings": PAIRINGS, "validation": VALIDATION, "final": FINAL}
    columns = known.get(kind) or _of_individuals(config.agent, config.strategy, tuple(config.decks))
    for name, (what, fits) in columns.items():
        count = table.column_names.count(name)
        if count != 1:
            raise SchemaError(f"it has {f'{count} columns' if count else 'no column'} {name}")
        column = table.column(name)
        if not fits(column.type) and not (name in MAY_LACK and kinds.is_null(column.type)):
            raise SchemaError(f"column {name} holds {column.type}, not a {what} in each row")
        if column.null_count and name not in MAY_LACK:
            raise SchemaError(f"column {name} lacks values")
        if kinds.is_floating(column.type) and not np.isfinite(column.drop_null().to_numpy()).all():
            raise SchemaError(f"column {name} is not finite")
    # Drop pandas' metadata and other columns: only what was checked is read.
    table = table.select([name for name in table.column_names if name in columns])
    table = table.replace_schema_metadata(None)
    with _parquet(content):
        table.validate(full=True)
    if kind == "generations":
        _check_survivors(table, config)
    return table


def check_origin(content: bytes) -> None:
    """Refuse to continue from a table written under other rules or another schema.

    Raises:
        SchemaError: it was, or it is not a parquet file.
    """
    with _parquet(content) as file:
        metadata = file.metadata.metadata or {}
    for key, own in ((b"manaforge_schema", RUN_SCHEMA), (b"rules", RULES_VERSION)):
        if metadata.get(key, b"").decode("ascii", "replace") != str(own):
            name = key.decode().removeprefix("manaforge_")
            found = metadata.get(key, b"none").decode("ascii", "replace")
            raise SchemaError(f"it was written under {name} {found}; this version plays {name} {own}")


@contextlib.contextmanager
def _parquet(content: bytes) -> Iterator[pq.ParquetFile]:
    """An open parquet file.

    Raises:
        SchemaError: opening it fails, or what the `with` block does with it.
    """
    try:
        yield pq.ParquetFile(pa.BufferReader(content))
    except (pa.ArrowException, OSError, ValueError) as error:
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise SchemaError(f"it is not a parquet file: {why}") from None


def wins_column(own: str, other: str) -> str:
    """The column of games won with one deck against another."""
    return f"wins_{own}_vs_{other}"


@lru_cache
def _of_individuals(agent: str, strategy: str, config_decks: tuple[str, ...]) -> dict[str, Kind]:
    """Columns of a generation's individuals, including the strategy's own."""
    weights = weight_class(agent).names()
    decks = [find_deck(deck).name for deck in config_decks]
    numbers = [f"weight_{name}" for name in weights] + STRATEGIES[strategy].columns(weights)
    numbers += [wins_column(own, other) for own in decks for other in decks]
    return {
        **dict.fromkeys(("generation", "individual", "birth", "games"), WHOLE),
        **dict.fromkeys([*numbers, "fitness", "parent_a", "parent_b", "rank"], NUMBER),
        "survived": YES_NO,
    }


def _check_survivors(table: pa.Table, config: RunConfig) -> None:
    """Check that mu individuals survive, with ranks 1 to mu."""
    ranks = table.column("rank").filter(table.column("survived")).to_pylist()
    if None in ranks or sorted(ranks) != list(range(1, config.mu + 1)):
        raise SchemaError(f"its survivors are not {config.mu} with ranks from 1")
