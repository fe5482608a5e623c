"""Checks of the tables of a run folder, since a folder from elsewhere may hold anything.

`runs/README.md` describes the columns.
"""

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as kinds
from pyarrow import compute

from engine import RULES_VERSION, ManaforgeError, find_deck
from evo.config import RunConfig
from evo.runoptions import MOST_SHARE
from evo.strategies import find_strategy
from ilp_agent.weights import MAX_WEIGHT

RUN_SCHEMA = 1

MOST_COUNT = 2.0**53
"""Whole numbers up to this one are exact in every column and sum."""

MOST_ROWS = 20_000_000
"""Of any table, whatever a configuration says."""

MOST_TEXTS = 2**28
"""Bytes of all texts of a column."""

MOST_TEXT = 2_000
"""Bytes of a text in a cell, on average."""


class Kind(NamedTuple):
    """What a column holds.

    Attributes:
        what: in words.
        fits: whether an Arrow type holds it.
        low: least value of a number.
        high: greatest value.
    """

    what: str
    fits: Callable[[pa.DataType], bool]
    low: float = -np.inf
    high: float = np.inf


def _number(kind: pa.DataType) -> bool:
    return bool(kinds.is_integer(kind) or kinds.is_floating(kind))


def _text(kind: pa.DataType) -> bool:
    if kinds.is_dictionary(kind):
        kind = kind.value_type
    return bool(kinds.is_string(kind) or kinds.is_large_string(kind))


COUNT = Kind("whole number", kinds.is_integer, 0, MOST_COUNT)
PLACE = Kind("number", _number, 0, MOST_COUNT)
VALUE = Kind("number", _number, -MAX_WEIGHT, MAX_WEIGHT)
SCORE = Kind("number", _number, -1, 2)
ROUNDS = Kind("number", _number, 0, MOST_COUNT)
SHARE = Kind("number", _number, 0, MOST_SHARE * 2)
YES_NO = Kind("yes or no", kinds.is_boolean)
NAME = Kind("text", _text)

MAY_LACK = frozenset({"parent_a", "parent_b", "rank", "opponent", "entrant", "share"})
"""Columns in which values may be missing."""

FINAL = {
    "stage": NAME,
    "rank": PLACE,
    "candidate": NAME,
    "opponent": NAME,
    **dict.fromkeys(("games", "wins", "draws", "losses"), COUNT),
    "mean_turns": ROUNDS,
    **dict.fromkeys(("score", "low", "high"), SCORE),
}

PAIRINGS = {
    **dict.fromkeys(("generation", "individual", "opponent"), COUNT),
    **dict.fromkeys(("deck", "opponent_deck"), NAME),
    **dict.fromkeys(("games", "wins", "draws", "turns"), COUNT),
}

OF_OPPONENTS = {"entrant": NAME, "share": SHARE}
"""Columns of `pairings/` in runs with opponents beside the population."""

VALIDATION = {
    **dict.fromkeys(("generation", "individual"), COUNT),
    **{name: kind for name, kind in FINAL.items() if name not in ("stage", "rank", "candidate")},
    **dict.fromkeys(("who", "pairs"), NAME),
}

ADDED = ("who", "pairs")
"""Columns of `validation/` that older versions did not write: they validated the best alone."""


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
    optional = ADDED if kind == "validation" else ()
    table = read_columns(content, _columns_of(kind, config), most_rows(kind, config), optional)
    if kind == "generations":
        _check_survivors(table, config)
    return table


def read_columns(
    content: bytes, columns: Mapping[str, Kind], most: int, optional: Collection[str] = ()
) -> pa.Table:
    """The known columns of a parquet file; others, and the metadata of pandas, are not even unpacked.

    Args:
        content: of the file.
        columns: what each must hold.
        most: rows.
        optional: columns that may be absent.

    Raises:
        SchemaError: it is not such a table; the message says why.
    """
    names = [name for name, kind in columns.items() if kind is NAME and name not in optional]
    with _parquet(content, names) as file:
        present = file.schema_arrow.names
        wanted = {name: kind for name, kind in columns.items() if name in present or name not in optional}
        _check_promises(file, wanted, most)
        # Three times as fast as read_table, which starts threads for each of many small files.
        table = file.read(columns=list(wanted), use_threads=False).replace_schema_metadata(None)
        table.validate(full=True)
        table = _spelled_out(table)
    for name, kind in wanted.items():
        _check_values(table.column(name), name, kind)
    return table


def _spelled_out(table: pa.Table) -> pa.Table:
    """Texts in the place of their numbers in a dictionary, if all of them together are of bounded size."""
    for place, name in enumerate(table.column_names):
        column = table.column(place)
        if kinds.is_dictionary(column.type):
            longest = max(
                (compute.max(compute.binary_length(part.dictionary)).as_py() or 0 for part in column.chunks),
                default=0,
            )
            if longest * len(column) > MOST_TEXTS:
                raise SchemaError(f"column {name} has texts of {longest:,} bytes")
            table = table.set_column(place, name, column.cast(column.type.value_type))
    return table


def count_rows(content: bytes) -> int:
    """The number of rows that a parquet file says it has.

    Raises:
        SchemaError: it is not a parquet file.
    """
    with _parquet(content) as file:
        return int(file.metadata.num_rows)


def most_rows(kind: str, config: RunConfig) -> int:
    """Most rows that a table of a run can have."""
    strategy, n_decks = find_strategy(config.strategy), len(config.decks)
    n = max(strategy.evaluated(config.mu, config.lambda_, number) for number in (0, 1, config.generations))
    others = len(config.opponents.fixed) + config.opponents.members
    rows = {
        "generations": n,
        "pairings": n * ((n - 1) // 2 + 1 + others) * n_decks**2,
        "final": 2 * n + 100,
        "validation": 16,
    }
    return rows[kind]


def _columns_of(kind: str, config: RunConfig) -> dict[str, Kind]:
    pairings = PAIRINGS | (OF_OPPONENTS if config.opponents.beside else {})
    known = {"pairings": pairings, "validation": VALIDATION, "final": FINAL}
    return known.get(kind) or _of_individuals(config.vector.names(), config.strategy, tuple(config.decks))


def _check_promises(file: pq.ParquetFile, columns: Mapping[str, Kind], most: int) -> None:
    """Check what a file says of itself, so that no bomb is unpacked."""
    rows, own = file.metadata.num_rows, file.schema_arrow
    if rows > most:
        raise SchemaError(f"it has {rows:,} rows, and there can be at most {most:,}")
    for name, kind in columns.items():
        count = own.names.count(name)
        if count != 1:
            raise SchemaError(f"it has {f'{count} columns' if count else 'no column'} {name}")
        found = own.field(name).type
        if not kind.fits(found) and not (name in MAY_LACK and kinds.is_null(found)):
            raise SchemaError(f"column {name} holds {found}, not a {kind.what} in each row")
    groups = [file.metadata.row_group(place) for place in range(file.metadata.num_row_groups)]
    size = sum(group.total_byte_size for group in groups)
    if size > 2**20 + MOST_TEXT * rows * len(columns):
        raise SchemaError(f"its {rows:,} rows take {size / 2**20:,.0f} MB unpacked")


def _check_values(column: pa.ChunkedArray, name: str, kind: Kind) -> None:
    """Check that no value is missing, not finite or out of range."""
    if column.null_count and name not in MAY_LACK:
        raise SchemaError(f"column {name} lacks values")
    if kind.what not in (COUNT.what, PLACE.what) or column.null_count == len(column):
        return
    values = column.drop_null().to_numpy()
    if kinds.is_floating(column.type) and not np.isfinite(values).all():
        raise SchemaError(f"column {name} is not finite")
    if len(values) and not (kind.low <= values.min() and values.max() <= kind.high):
        raise SchemaError(f"column {name} has values from {values.min()} to {values.max()}")


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
def _parquet(content: bytes, names: Sequence[str] = ()) -> Iterator[pq.ParquetFile]:
    """An open parquet file, whose columns `names` are read as numbers into a dictionary of texts.

    Raises:
        SchemaError: opening it fails, or what the `with` block does with it.
    """
    try:
        source = pa.BufferReader(content)
        try:
            file = pq.ParquetFile(source, read_dictionary=list(names), page_checksum_verification=True)
        except KeyError as error:  # of a name that it does not hold
            raise SchemaError(f"it has no column {error.args[0].decode()}") from None
        yield file
    except SchemaError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise SchemaError(f"it is not a parquet file: {why}") from None


def wins_column(own: str, other: str) -> str:
    """The column of games won with one deck against another."""
    return f"wins_{own}_vs_{other}"


@lru_cache
def _of_individuals(
    weights: tuple[str, ...], strategy: str, config_decks: tuple[str, ...]
) -> dict[str, Kind]:
    """Columns of a generation's individuals, including the strategy's own."""
    decks = [find_deck(deck).name for deck in config_decks]
    numbers = [f"weight_{name}" for name in weights] + find_strategy(strategy).columns(weights)
    numbers += [wins_column(own, other) for own in decks for other in decks]
    return {
        **dict.fromkeys(("generation", "individual", "birth", "games"), COUNT),
        **dict.fromkeys(numbers, VALUE),
        **dict.fromkeys(["fitness", "parent_a", "parent_b", "rank"], PLACE),
        "survived": YES_NO,
    }


def _check_survivors(table: pa.Table, config: RunConfig) -> None:
    """Check that mu individuals survive, with ranks 1 to mu."""
    ranks = table.column("rank").filter(table.column("survived")).to_pylist()
    if None in ranks or sorted(ranks) != list(range(1, config.mu + 1)):
        raise SchemaError(f"its survivors are not {config.mu} with ranks from 1")
