"""Read Parquet tables from untrusted files, and check the tables of a run folder.

The end of a parquet file says how much there is in all, but readers allot what the headers of the pages say,
and whoever makes a file writes both. Headers are structs of Thrift's compact protocol; `PageHeader` of the
format's parquet.thrift names the fields.

No limit here comes from a file or from what lies beside it: who makes a folder makes both. All readers of
parquet read by `read_batches`, some by `read_columns`, which holds a whole table. `runs/README.md` describes
the columns of runs.
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
from evo.config.keys import MOST_SHARE
from evo.config.run_config import RunConfig
from evo.strategies import find_strategy
from ilp_agent.weights import MAX_WEIGHT

DEEPEST = 4
"""Structs inside each other; a header has three."""


class Encoding(IntEnum):
    """How the values of a page are written, of those that unpack to no more than page and values say."""

    PLAIN = 0
    PLAIN_DICTIONARY = 2
    RLE = 3
    BIT_PACKED = 4
    DELTA_BINARY_PACKED = 5
    DELTA_LENGTH_BYTE_ARRAY = 6
    RLE_DICTIONARY = 8
    BYTE_STREAM_SPLIT = 9


class Page(NamedTuple):
    """What a page says of itself.

    Attributes:
        size: bytes, unpacked.
        values: it holds.
        dictionary: whether they are texts or numbers that other pages name by their places.
    """

    size: int
    values: int
    dictionary: bool


class _Type(IntEnum):
    """Types of Thrift's compact protocol that occur in headers."""

    TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY = range(1, 9)
    STRUCT = 12


_ENCODINGS = frozenset(map(int, Encoding))

_SIZE, _LENGTH = 2, 3
"""Fields of a header: bytes of the page, unpacked and as they are written."""

_KINDS = {5: (1, 2), 7: (1, 2), 8: (1, 4)}
"""Fields of a header for each kind of page; in it the fields of its number of values and its encoding."""

_DICTIONARY = 7


def pages_in(content: bytes, start: int, length: int) -> Iterator[Page]:
    """The pages in a part of a file.

    Args:
        content: of the file.
        start: of the first page's header.
        length: bytes of all pages with their headers.

    Raises:
        ValueError: it is not made of pages, or a page is written in a way that `Encoding` does not have.
    """
    at, end = start, start + length
    if not 0 <= at < end <= len(content):
        raise ValueError("its pages lie outside of it")
    while at < end:
        try:
            header, at = _struct(content, at, DEEPEST)
            (kind,) = header.keys() & _KINDS.keys()
            values, encoding = (int(header[kind][place]) for place in _KINDS[kind])
            size, packed = int(header[_SIZE]), int(header[_LENGTH])
        except (KeyError, IndexError, TypeError, ValueError):
            raise ValueError("a page has no header") from None
        if min(size, packed, values) < 0:
            raise ValueError("a page of it has less than nothing")
        if encoding not in _ENCODINGS:
            raise ValueError(f"a page of it has encoding {encoding}, which may unpack to any size")
        yield Page(size, values, _DICTIONARY in header)
        at += packed


def _struct(content: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """The fields of a struct by their numbers, and where it ends.

    Raises:
        ValueError: a field is there twice, or of a type that no header has.
        IndexError: it is cut.
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
    """A number with a sign, and where it ends."""
    value, at = _unsigned(content, at)
    return value >> 1 ^ -(value & 1), at


def _unsigned(content: bytes, at: int) -> tuple[int, int]:
    """A number in groups of seven bits, the least first, and where it ends."""
    value = shift = 0
    while content[at] & 0x80:
        if shift > 63:
            raise ValueError
        value |= (content[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
    return value | content[at] << shift, at + 1


RUN_SCHEMA = 1

MOST_COUNT = 2.0**53
"""Whole numbers up to this one are exact in every column and sum."""

MOST_CELLS = 2**25
"""Numbers of a table that is read as a whole, 256 MB of them: fifty times what the largest of our runs write
in all their generations."""

MOST_TEXTS = 2**27
"""Bytes of the different texts of a table, and of all in a table that is read as a whole."""

MOST_PAGE = 2**26
"""Bytes of a page of a column, unpacked; pyarrow writes pages of 1 MB."""

MOST_ENTRIES = 2**20
"""Values of a dictionary; those of pyarrow take at most 1 MB."""

MOST_PAGES = 50_000
"""Of all columns; pyarrow writes one for every 20,000 rows of a column."""

TEXT = "BYTE_ARRAY"
"""Parquet's type of texts."""

SHORT = 2**11
"""Bytes of packed numbers that unpack to no more than a page may: zstd makes at most 2**15 bytes of one."""

CODECS = frozenset({"UNCOMPRESSED", "SNAPPY", "GZIP", "LZ4", "ZSTD"})
"""Ways to pack that make no more of a byte than zstd does; brotli does."""

MOST_FOOTER = 2**22
"""Bytes of the description at a file's end; one of a thousand columns has 150,000."""

MOST_PARTS = 5_000
"""Columns, and groups of rows."""

BATCH = 2**16
"""Rows that are unpacked at a time."""


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
NUMBER = Kind("number", _number)
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
    """The known columns of a parquet file as a whole; arguments and errors as of `read_batches`."""
    most = min(most, MOST_CELLS // len(columns))
    table = pa.concat_tables(read_batches(content, columns, most, optional))
    return _spelled_out(table)


def read_batches(
    content: bytes, columns: Mapping[str, Kind], most: int, optional: Collection[str] = ()
) -> Iterator[pa.Table]:
    """The known columns of a parquet file; others, and the metadata of pandas, are not even unpacked.

    Memory is bounded by the constants above, whatever the file says of itself.

    Args:
        content: of the file.
        columns: what each must hold.
        most: rows.
        optional: columns that may be absent.

    Yields:
        The next rows, at most `BATCH`, texts as places in a dictionary; at least one table, if of no rows.

    Raises:
        SchemaError: it is not such a table; the message says why.
    """
    names = [name for name, kind in columns.items() if kind is NAME and name not in optional]
    with _parquet(content, names) as file:
        present = file.schema_arrow.names
        wanted = {name: kind for name, kind in columns.items() if name in present or name not in optional}
        _check_promises(file, content, wanted, most)
        batches = file.iter_batches(BATCH, columns=list(wanted), use_threads=False)
        if not file.metadata.num_rows:
            yield file.schema_arrow.empty_table().select(list(wanted)).replace_schema_metadata(None)
        for batch in batches:
            table = pa.Table.from_batches([batch]).select(list(wanted)).replace_schema_metadata(None)
            table.validate(full=True)
            for name, kind in wanted.items():
                _check_values(table.column(name), name, kind)
            yield table


def _spelled_out(table: pa.Table) -> pa.Table:
    """Texts in the place of their numbers in a dictionary, if all of them together are of bounded size."""
    size = 0
    for place, name in enumerate(table.column_names):
        column = table.column(place)
        if kinds.is_dictionary(column.type):
            for part in column.chunks:
                lengths = compute.binary_length(part.dictionary).cast(pa.int64())
                size += compute.sum(lengths.take(part.indices)).as_py() or 0
            if size > MOST_TEXTS:
                raise SchemaError(f"its texts up to column {name} are {size / 2**20:,.0f} MB, spelled out")
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


def _check_promises(file: pq.ParquetFile, content: bytes, columns: Mapping[str, Kind], most: int) -> None:
    """Check what a file and its pages say of themselves, so that no bomb is unpacked."""
    rows, own = file.metadata.num_rows, file.schema_arrow
    if rows > most:
        raise SchemaError(f"it has {rows:,} rows, and there can be at most {most:,}")
    for name, kind in columns.items():
        count = own.names.count(name)
        if count != 1:
            raise SchemaError(f"it has {f'{count} columns' if count else 'no column'} {name}")
        found = own.field(name).type
        if not kind.fits(found) and not (name in MAY_LACK and kinds.is_null(found)):
            raise SchemaError(f"column {name} holds {str(found)[:60]}, not a {kind.what} in each row")
    groups = [file.metadata.row_group(place) for place in range(file.metadata.num_row_groups)]
    if sum(group.num_rows for group in groups) != rows:
        raise SchemaError(f"its groups of rows are not its {rows:,} rows together")
    texts = pages = 0
    for place in range(file.metadata.num_columns):
        # Of a wanted column "x" pyarrow reads "x.y" too, a part of it or not.
        path = file.metadata.schema.column(place).path
        if not any(begin in columns for begin in accumulate(path.split("."), "{}.{}".format)):
            continue
        for group in groups:
            part = group.column(place)
            for page in _pages_of(content, part, group.num_rows):
                pages += 1
                texts += page.size if part.physical_type == TEXT else 0
                if page.size > MOST_PAGE or (page.dictionary and page.values > MOST_ENTRIES):
                    size = f"{page.size / 2**20:,.0f} MB and {page.values:,} values"
                    raise SchemaError(f"column {path} has a page of {size}")
                if texts > MOST_TEXTS or pages > MOST_PAGES:
                    size = f"{texts / 2**20:,.0f} MB of texts, or {pages:,} pages"
                    raise SchemaError(f"its columns up to {path} are more than {size}")


def _pages_of(content: bytes, part: pq.ColumnChunkMetaData, rows: int) -> Iterator[Page]:
    """The pages of a column in a group of rows; none where they are small whatever they say.

    Raises:
        SchemaError: it is no column of this many rows.
    """
    path, packed = part.path_in_schema, part.total_compressed_size
    if part.num_values != rows:
        raise SchemaError(f"column {path} has {part.num_values:,} values in {rows:,} rows")
    if part.compression not in CODECS:
        raise SchemaError(f"column {path} is packed by {part.compression}, which may unpack to any size")
    if rows == 0 or (packed <= SHORT and part.physical_type != TEXT):
        return
    start = part.data_page_offset
    if part.has_dictionary_page:
        start = min(start, part.dictionary_page_offset)
    try:
        yield from pages_in(content, start, packed)
    except ValueError as error:
        raise SchemaError(f"column {path}: {error}") from None


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
    if content.endswith(b"PAR1") and int.from_bytes(content[-8:-4], "little") > MOST_FOOTER:
        raise SchemaError(f"its description at its end has more than {MOST_FOOTER / 2**20:.0f} MB")
    try:
        source = pa.BufferReader(content)
        try:
            file = pq.ParquetFile(
                source,
                read_dictionary=list(names),
                page_checksum_verification=True,
                thrift_container_size_limit=MOST_PARTS,
            )
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
