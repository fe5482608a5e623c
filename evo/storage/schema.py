"""Read Parquet tables from untrusted files with bounded memory, and validate the tables of a run folder.

A crafted file is a decompression bomb if its page headers declare more data than its footer: readers allocate
what the page headers declare. So these headers are parsed and checked first. They are structs of Thrift's
compact protocol; `PageHeader` in parquet.thrift of the format names the fields.

All limits are constants, since the other files of a folder are as untrusted as the table. All Parquet files
are read by `read_batches` or, as a whole, by `read_columns`. `runs/README.md` describes the columns of runs.
"""

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as kinds
from pyarrow import compute

from engine import RULES_VERSION, ManaforgeError, find_deck
from evo.config.keys import MAX_SHARE
from evo.config.run_config import RunConfig
from evo.strategies import find_strategy
from ilp_agent.weights import MAX_WEIGHT

MAX_DEPTH = 4
"""Maximum nesting of structs; a page header has three levels."""


class Encoding(IntEnum):
    """Accepted Parquet encodings: decoded size is bounded by the declared page size and value count."""

    PLAIN = 0
    PLAIN_DICTIONARY = 2
    RLE = 3
    BIT_PACKED = 4
    DELTA_BINARY_PACKED = 5
    DELTA_LENGTH_BYTE_ARRAY = 6
    RLE_DICTIONARY = 8
    BYTE_STREAM_SPLIT = 9


class Page(NamedTuple):
    """Header of a page of a Parquet file.

    Attributes:
        size: uncompressed size in bytes.
        values: number of values.
        dictionary: whether it is a dictionary page, whose values other pages refer to by index.
    """

    size: int
    values: int
    dictionary: bool


class _Type(IntEnum):
    """Field types of Thrift's compact protocol that occur in page headers."""

    TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY = range(1, 9)
    STRUCT = 12


_ENCODINGS = frozenset(map(int, Encoding))

_SIZE, _LENGTH = 2, 3
"""Header fields: uncompressed and compressed page size."""

_KINDS = {5: (1, 2), 7: (1, 2), 8: (1, 4)}
"""Header field of each page type, and in it the fields of value count and encoding."""

_DICTIONARY = 7
"""Header field of a dictionary page."""


def parse_pages(content: bytes, start: int, length: int) -> Iterator[Page]:
    """Parse the headers of consecutive Parquet pages.

    Args:
        content: of the file.
        start: offset of the first page header.
        length: bytes of all pages with their headers.

    Raises:
        ValueError: a header is malformed, or a page has an encoding that is not in `Encoding`.
    """
    at, end = start, start + length
    if not 0 <= at < end <= len(content):
        raise ValueError("its pages lie outside of the file")
    while at < end:
        try:
            header, at = _struct(content, at, MAX_DEPTH)
            (kind,) = header.keys() & _KINDS.keys()
            values, encoding = (int(header[kind][place]) for place in _KINDS[kind])
            size, packed = int(header[_SIZE]), int(header[_LENGTH])
        except (KeyError, IndexError, TypeError, ValueError):
            raise ValueError("a page has no valid header") from None
        if min(size, packed, values) < 0:
            raise ValueError("a page has a negative size or number of values")
        if encoding not in _ENCODINGS:
            raise ValueError(f"a page has encoding {encoding}, which may unpack to any size")
        yield Page(size, values, _DICTIONARY in header)
        at += packed


def _struct(content: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """Parse a Thrift struct; returns the fields by number, and the offset of the struct's end.

    Raises:
        ValueError: a field is duplicated, or has a type that does not occur in headers.
        IndexError: it is truncated.
    """
    fields: dict[int, Any] = {}
    number = 0
    while content[at]:
        step, kind = divmod(content[at], 16)
        at += 1
        if step == 0:
            step, at = _varint(content, at)
            number = 0
        number += step
        if number in fields or depth == 0:
            raise ValueError
        if kind in (_Type.TRUE, _Type.FALSE):
            fields[number] = kind == _Type.TRUE
        elif kind in (_Type.I16, _Type.I32, _Type.I64):
            fields[number], at = _varint(content, at)
        elif kind == _Type.STRUCT:
            fields[number], at = _struct(content, at, depth - 1)
        elif kind == _Type.BINARY:
            size, at = _unsigned(content, at)
            fields[number], at = None, at + size
        elif kind in (_Type.BYTE, _Type.DOUBLE):
            fields[number], at = None, at + (1 if kind == _Type.BYTE else 8)
        else:
            raise ValueError
    return fields, at + 1


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """Parse a zigzag-encoded signed integer; returns the value, and the offset of the integer's end."""
    value, at = _unsigned(content, at)
    return value >> 1 ^ -(value & 1), at


def _unsigned(content: bytes, at: int) -> tuple[int, int]:
    """Parse a little-endian base-128 integer; returns the value, and the offset of the integer's end."""
    value = shift = 0
    while content[at] & 0x80:
        if shift > 63:
            raise ValueError
        value |= (content[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
    return value | content[at] << shift, at + 1


RUN_SCHEMA = 1
"""Version of the run folder's format."""

MAX_COUNT = 2.0**53
"""Maximum of count columns: integers up to it are exact as float64."""

MAX_CELLS = 2**25
"""Maximum cells of a table that is read as a whole, 256 MB: fifty times those of our largest run."""

MAX_TEXT_BYTES = 2**27
"""Maximum bytes of a table's distinct texts, and of all texts in a table that is read as a whole."""

MAX_PAGE_BYTES = 2**26
"""Maximum uncompressed bytes of a page; pyarrow writes pages of 1 MB."""

MAX_DICTIONARY_VALUES = 2**20
"""Maximum values of a dictionary page; pyarrow's dictionaries take at most 1 MB."""

MAX_PAGES = 50_000
"""Maximum pages of all columns; pyarrow writes one per 20,000 rows of a column."""

TEXT = "BYTE_ARRAY"
"""Parquet's physical type of texts."""

SMALL_CHUNK_BYTES = 2**11
"""Compressed bytes of numbers that cannot exceed the page limit: zstd expands a byte to at most 2**15."""

CODECS = frozenset({"UNCOMPRESSED", "SNAPPY", "GZIP", "LZ4", "ZSTD"})
"""Accepted compression codecs, with at most zstd's expansion; brotli has more."""

MAX_FOOTER_BYTES = 2**22
"""Maximum bytes of a file's footer; the footer of a thousand columns has 150,000."""

MAX_COLUMNS_AND_GROUPS = 5_000
"""Maximum number of columns, and of row groups."""

BATCH_ROWS = 2**16
"""Rows decoded at a time."""


class ColumnType(NamedTuple):
    """Type and range of a table column.

    Attributes:
        what: name of the type in messages.
        fits: whether an Arrow type is acceptable.
        low: minimum of a number.
        high: maximum of a number.
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


COUNT = ColumnType("whole number", kinds.is_integer, 0, MAX_COUNT)
NUMBER = ColumnType("number", _number)
ORDINAL = ColumnType("number", _number, 0, MAX_COUNT)
VALUE = ColumnType("number", _number, -MAX_WEIGHT, MAX_WEIGHT)
SCORE = ColumnType("number", _number, -1, 2)
ROUNDS = ColumnType("number", _number, 0, MAX_COUNT)
SHARE = ColumnType("number", _number, 0, MAX_SHARE * 2)
YES_NO = ColumnType("yes or no", kinds.is_boolean)
NAME = ColumnType("text", _text)

NULLABLE = frozenset({"parent_a", "parent_b", "rank", "opponent", "entrant", "share"})
"""Nullable columns."""

FINAL = {
    "stage": NAME,
    "rank": ORDINAL,
    "candidate": NAME,
    "opponent": NAME,
    **dict.fromkeys(("games", "wins", "draws", "losses"), COUNT),
    "mean_turns": ROUNDS,
    **dict.fromkeys(("score", "low", "high"), SCORE),
}

PAIRING_COLUMNS = {
    **dict.fromkeys(("generation", "individual", "opponent"), COUNT),
    **dict.fromkeys(("deck", "opponent_deck"), NAME),
    **dict.fromkeys(("games", "wins", "draws", "turns"), COUNT),
}

OPPONENT_COLUMNS = {"entrant": NAME, "share": SHARE}
"""Additional columns of `pairings/` in runs with opponents outside the population."""

VALIDATION_COLUMNS = {
    **dict.fromkeys(("generation", "individual"), COUNT),
    **{name: kind for name, kind in FINAL.items() if name not in ("stage", "rank", "candidate")},
    **dict.fromkeys(("who", "pairs"), NAME),
}

LATER_COLUMNS = ("who", "pairs")
"""Columns of `validation/` that older versions did not write; they validated only the best."""


class SchemaError(ManaforgeError, ValueError):
    """A table in a folder that is malformed or not the expected one."""


def read_table(content: bytes, kind: str, config: RunConfig) -> pa.Table:
    """Read and validate a table of a run folder from the bytes of its Parquet file.

    Args:
        content: of the file.
        kind: "generations", "pairings", "validation" or "final".
        config: of the run.

    Raises:
        SchemaError: it is not such a table; the message gives the reason.
    """
    optional = LATER_COLUMNS if kind == "validation" else ()
    table = read_columns(content, _columns_of(kind, config), max_rows(kind, config), optional)
    if kind == "generations":
        _check_survivors(table, config)
    return table


def read_columns(
    content: bytes, columns: Mapping[str, ColumnType], most: int, optional: Collection[str] = ()
) -> pa.Table:
    """Read the given columns of a Parquet file as one table; arguments and errors as of `read_batches`."""
    most = min(most, MAX_CELLS // len(columns))
    table = pa.concat_tables(read_batches(content, columns, most, optional))
    return _spelled_out(table)


def read_batches(
    content: bytes, columns: Mapping[str, ColumnType], most: int, optional: Collection[str] = ()
) -> Iterator[pa.Table]:
    """Read the given columns of a Parquet file in batches; other columns and pandas metadata are not decoded.

    Memory is bounded by the constants above, whatever the file declares.

    Args:
        content: of the file.
        columns: type of each column.
        most: maximum number of rows.
        optional: columns that may be absent.

    Yields:
        The next rows, at most `BATCH_ROWS`, with dictionary-encoded texts; at least one table, possibly
        empty.

    Raises:
        SchemaError: it is not such a table; the message gives the reason.
    """
    names = [name for name, kind in columns.items() if kind is NAME and name not in optional]
    with _parquet(content, names) as file:
        present = file.schema_arrow.names
        wanted = {name: kind for name, kind in columns.items() if name in present or name not in optional}
        _check_declared_sizes(file, content, wanted, most)
        batches = file.iter_batches(BATCH_ROWS, columns=list(wanted), use_threads=False)
        if not file.metadata.num_rows:
            yield file.schema_arrow.empty_table().select(list(wanted)).replace_schema_metadata(None)
        for batch in batches:
            table = pa.Table.from_batches([batch]).select(list(wanted)).replace_schema_metadata(None)
            table.validate(full=True)
            for name, kind in wanted.items():
                _check_values(table.column(name), name, kind)
            yield table


def _spelled_out(table: pa.Table) -> pa.Table:
    """Decode dictionary-encoded texts of a table, after checking that the decoded size is bounded."""
    size = 0
    for place, name in enumerate(table.column_names):
        column = table.column(place)
        if kinds.is_dictionary(column.type):
            for part in column.chunks:
                lengths = compute.binary_length(part.dictionary).cast(pa.int64())
                size += compute.sum(lengths.take(part.indices)).as_py() or 0
            if size > MAX_TEXT_BYTES:
                raise SchemaError(
                    f"its texts up to column {name} unpack to {size / 2**20:,.0f} MB; at most "
                    f"{MAX_TEXT_BYTES / 2**20:,.0f} MB are read"
                )
            table = table.set_column(place, name, column.cast(column.type.value_type))
    return table


def count_rows(content: bytes) -> int:
    """Number of rows that a Parquet file declares.

    Raises:
        SchemaError: it is not a Parquet file.
    """
    with _parquet(content) as file:
        return int(file.metadata.num_rows)


def max_rows(kind: str, config: RunConfig) -> int:
    """Maximum number of rows in a kind of table of a run."""
    strategy, n_decks = find_strategy(config.strategy), len(config.decks)
    n = max(
        strategy.count_evaluated(config.mu, config.lambda_, number) for number in (0, 1, config.generations)
    )
    others = len(config.opponents.fixed) + config.opponents.members
    rows = {
        "generations": n,
        "pairings": n * ((n - 1) // 2 + 1 + others) * n_decks**2,
        "final": 2 * n + 100,
        "validation": 16,
    }
    return rows[kind]


def _columns_of(kind: str, config: RunConfig) -> dict[str, ColumnType]:
    pairings = PAIRING_COLUMNS | (OPPONENT_COLUMNS if config.opponents.beside else {})
    known = {"pairings": pairings, "validation": VALIDATION_COLUMNS, "final": FINAL}
    return known.get(kind) or _of_individuals(config.vector.names(), config.strategy, tuple(config.decks))


def _check_declared_sizes(
    file: pq.ParquetFile, content: bytes, columns: Mapping[str, ColumnType], most: int
) -> None:
    """Refuse a file of other columns, or whose declared sizes exceed the bounds (decompression bombs)."""
    rows, own = file.metadata.num_rows, file.schema_arrow
    if rows > most:
        raise SchemaError(f"it has {rows:,} rows; at most {most:,} are possible")
    for name, kind in columns.items():
        count = own.names.count(name)
        if count != 1:
            raise SchemaError(f"it has {f'{count} columns' if count else 'no column'} {name}")
        found = own.field(name).type
        if not kind.fits(found) and not (name in NULLABLE and kinds.is_null(found)):
            raise SchemaError(f"column {name} has type {str(found)[:60]}, not {kind.what}")
    groups = [file.metadata.row_group(place) for place in range(file.metadata.num_row_groups)]
    if sum(group.num_rows for group in groups) != rows:
        raise SchemaError(f"its row groups do not add up to its {rows:,} rows")
    texts = pages = 0
    for place in range(file.metadata.num_columns):
        # For a column "x" pyarrow also reads "x.y", whether nested in it or not.
        path = file.metadata.schema.column(place).path
        if not any(begin in columns for begin in accumulate(path.split("."), "{}.{}".format)):
            continue
        for group in groups:
            part = group.column(place)
            for page in _pages_of(content, part, group.num_rows):
                pages += 1
                texts += page.size if part.physical_type == TEXT else 0
                if page.size > MAX_PAGE_BYTES or (page.dictionary and page.values > MAX_DICTIONARY_VALUES):
                    size = f"{page.size / 2**20:,.0f} MB and {page.values:,} values"
                    raise SchemaError(f"column {path} has a page of {size}")
                if texts > MAX_TEXT_BYTES or pages > MAX_PAGES:
                    size = f"{texts / 2**20:,.0f} MB of texts, or {pages:,} pages"
                    raise SchemaError(f"its columns up to {path} have {size}; that is more than is read")


def _pages_of(content: bytes, part: pq.ColumnChunkMetaData, rows: int) -> Iterator[Page]:
    """Page headers of a column in a row group; none if the pages are small in any case.

    Raises:
        SchemaError: the column is malformed.
    """
    path, packed = part.path_in_schema, part.total_compressed_size
    if part.num_values != rows:
        raise SchemaError(f"column {path} has {part.num_values:,} values in {rows:,} rows")
    if part.compression not in CODECS:
        raise SchemaError(f"column {path} is packed by {part.compression}, which may unpack to any size")
    if rows == 0 or (packed <= SMALL_CHUNK_BYTES and part.physical_type != TEXT):
        return
    start = part.data_page_offset
    if part.has_dictionary_page:
        start = min(start, part.dictionary_page_offset)
    try:
        yield from parse_pages(content, start, packed)
    except ValueError as error:
        raise SchemaError(f"column {path}: {error}") from None


def _check_values(column: pa.ChunkedArray, name: str, kind: ColumnType) -> None:
    """Refuse a column with missing, infinite or out-of-range values."""
    if column.null_count and name not in NULLABLE:
        raise SchemaError(f"column {name} has missing values")
    if kind.what not in (COUNT.what, ORDINAL.what) or column.null_count == len(column):
        return
    values = column.drop_null().to_numpy()
    if kinds.is_floating(column.type) and not np.isfinite(values).all():
        raise SchemaError(f"column {name} is not finite")
    if len(values) and not (kind.low <= values.min() and values.max() <= kind.high):
        raise SchemaError(
            f"column {name} has values from {values.min()} to {values.max()}, outside of {kind.low:g} to "
            f"{kind.high:g}"
        )


def check_versions(content: bytes) -> None:
    """Refuse a table that was written under other rules or another schema than this version's.

    Raises:
        SchemaError: it was not, or it is not a Parquet file.
    """
    with _parquet(content) as file:
        metadata = file.metadata.metadata or {}
    for key, own in ((b"manaforge_schema", RUN_SCHEMA), (b"rules", RULES_VERSION)):
        if metadata.get(key, b"").decode("ascii", "replace") != str(own):
            name = key.decode().removeprefix("manaforge_")
            found = metadata.get(key, b"none").decode("ascii", "replace")
            raise SchemaError(f"it was written under {name} {found}; this version has {name} {own}")


@contextlib.contextmanager
def _parquet(content: bytes, names: Sequence[str] = ()) -> Iterator[pq.ParquetFile]:
    """Context with an open Parquet file; the columns `names` are read dictionary-encoded.

    Raises:
        SchemaError: the file cannot be opened, or reading it in the `with` block fails.
    """
    if content.endswith(b"PAR1") and int.from_bytes(content[-8:-4], "little") > MAX_FOOTER_BYTES:
        raise SchemaError(f"its footer has more than {MAX_FOOTER_BYTES / 2**20:.0f} MB")
    try:
        source = pa.BufferReader(content)
        try:
            file = pq.ParquetFile(
                source,
                read_dictionary=list(names),
                page_checksum_verification=True,
                thrift_container_size_limit=MAX_COLUMNS_AND_GROUPS,
            )
        except KeyError as error:  # a missing column
            raise SchemaError(f"it has no column {error.args[0].decode()}") from None
        yield file
    except SchemaError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise SchemaError(f"it is not a parquet file: {why}") from None


def wins_column(own: str, other: str) -> str:
    """Name of the column of games won with one deck against another."""
    return f"wins_{own}_vs_{other}"


@lru_cache
def _of_individuals(
    weights: tuple[str, ...], strategy: str, config_decks: tuple[str, ...]
) -> dict[str, ColumnType]:
    """Columns of `generations/`, including the strategy's own."""
    decks = [find_deck(deck).name for deck in config_decks]
    numbers = [f"weight_{name}" for name in weights] + find_strategy(strategy).columns(weights)
    numbers += [wins_column(own, other) for own in decks for other in decks]
    return {
        **dict.fromkeys(("generation", "individual", "birth", "games"), COUNT),
        **dict.fromkeys(numbers, VALUE),
        **dict.fromkeys(["fitness", "parent_a", "parent_b", "rank"], ORDINAL),
        "survived": YES_NO,
    }


def _check_survivors(table: pa.Table, config: RunConfig) -> None:
    """Refuse a table in which not exactly mu individuals survive, with ranks 1 to mu."""
    ranks = table.column("rank").filter(table.column("survived")).to_pylist()
    if None in ranks or sorted(ranks) != list(range(1, config.mu + 1)):
        raise SchemaError(f"it must have {config.mu} survivors with ranks 1 to {config.mu}")
