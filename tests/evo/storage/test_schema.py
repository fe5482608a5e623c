"""Parquet files made with tools: what would take gigabytes is refused by what its pages say, not unpacked."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evo.learning.folder import LearningError, _samples_in
from evo.storage.files import parquet_bytes
from evo.storage.history import checksum
from evo.storage.schema import (
    BATCH_ROWS,
    COUNT,
    NAME,
    SchemaError,
    parse_pages,
    read_batches,
    read_columns,
)
from ilp_agent.features import FEATURES
from tests.faults.fuzz import forget_peak, megabytes_of

COLUMNS = {"name": NAME, "number": COUNT}
LARGE = 100_000_000
"""Bytes of a text, which some kilobytes hold."""

MANY, LIE = 30_000_000, 2_000_000
"""Rows of a file, and what it says in their place, in as many bytes."""


def table(rows: int, text: str = "x", **others: Any) -> pa.Table:
    """Rows of one text and of one number, which a file holds in a few bytes."""
    names = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), rows), pa.array([text]))
    return pa.table({"name": names, "number": pa.repeat(pa.scalar(1), rows), **others})


def written(content: pa.Table, **options: Any) -> bytes:
    """A table as a file."""
    file = io.BytesIO()
    pq.write_table(content, file, **{"compression": "zstd", "row_group_size": len(content), **options})
    return file.getvalue()


def with_lies(content: bytes, *places: int) -> bytes:
    """A file of `MANY` rows, `LIE` at the n-th of the places where the description at its end counts them."""

    def varint(number: int) -> bytes:
        groups = [2 * number >> shift & 0x7F for shift in range(0, 63, 7) if 2 * number >> shift]
        return bytes(group | 0x80 for group in groups[:-1]) + bytes(groups[-1:])

    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    assert len(varint(MANY)) == len(varint(LIE))
    first, *rest = content[start:].split(varint(MANY))
    parts = (varint(LIE if place in places else MANY) + part for place, part in enumerate(rest))
    return content[:start] + first + b"".join(parts)


def texts_that_begin_alike() -> bytes:
    """A megabyte of texts that are written as how much of the one before each repeats."""
    texts = pa.array([f"{'x' * 1_000}{number}" for number in range(1_000)])
    encodings = {"name": "DELTA_BYTE_ARRAY"}
    return written(table(1_000).set_column(0, "name", texts), use_dictionary=False, column_encoding=encodings)


def many_columns() -> bytes:
    """Six thousand columns beside those that are wanted."""
    return written(table(1, **{f"more_{place}": pa.array([1]) for place in range(6_000)}))


BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {
    "rows": (lambda: written(table(MANY)), "30,000,000 rows; at most 2,000,000 are possible"),
    "rows that the file denies": (lambda: with_lies(written(table(MANY)), 0), "row groups do not add up"),
    "rows that a group denies": (
        lambda: with_lies(written(table(MANY)), 0, 6),
        "30,000,000 values in 2,000,000",
    ),
    "a text": (lambda: written(table(10, LARGE * "x")), "column name has a page of 95 MB"),
    "texts in every group": (
        lambda: written(pa.concat_tables([table(1, LARGE // 2 * one) for one in "abc"]), row_group_size=1),
        "MB of texts",
    ),
    "texts that begin alike": (texts_that_begin_alike, "encoding 7"),
    "brotli": (lambda: written(table(10), compression="brotli"), "packed by BROTLI"),
    "a column that is read along": (
        lambda: written(table(10).append_column("number.more", table(10, LARGE * "x")["name"])),
        "column number.more has a page",
    ),
    "a long description": (
        lambda: written(table(10).replace_schema_metadata({"more": "x" * 2**23})),
        "its footer has more than",
    ),
    "many columns": (many_columns, "it is not a parquet file"),
    "many pages": (
        lambda: written(table(30_000), data_page_size=1, write_batch_size=1, use_dictionary=False),
        "50,001 pages",
    ),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_what_would_take_gigabytes_is_refused_and_not_unpacked(bomb: str) -> None:
    make, why = BOMBS[bomb]
    content = make()
    before = forget_peak()
    with pytest.raises(SchemaError, match=why):
        read_columns(content, COLUMNS, LIE)
    assert megabytes_of("VmHWM") - before < 50


def test_a_table_is_read_in_parts_and_whole_with_the_same_rows() -> None:
    rows = 2 * BATCH_ROWS + 1
    content = written(table(rows), row_group_size=BATCH_ROWS + 7)
    parts = list(read_batches(content, COLUMNS, rows))
    assert max(map(len, parts)) <= BATCH_ROWS
    assert sum(map(len, parts)) == rows
    assert read_columns(content, COLUMNS, rows).column("name").unique().to_pylist() == ["x"]
    with pytest.raises(SchemaError, match=f"at most {rows - 1:,}"):
        next(read_batches(content, COLUMNS, rows - 1))


def test_a_table_of_no_rows_is_read() -> None:
    empty = read_columns(written(table(1).slice(0, 0), row_group_size=1), COLUMNS, 5)
    assert (len(empty), empty.column_names) == (0, list(COLUMNS))


def test_texts_are_counted_as_they_are_spelled_out() -> None:
    content = written(table(200_000, "x" * 1_000))
    assert sum(map(len, read_batches(content, COLUMNS, 10**6))) == 200_000
    with pytest.raises(SchemaError, match="unpack to 191 MB; at most 128 MB"):
        read_columns(content, COLUMNS, 10**6)


@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "lz4", "zstd"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_tables_of_other_programs_are_read(compression: str, version: str) -> None:
    content = written(table(50_000), compression=compression, data_page_version=version)
    assert len(read_columns(content, COLUMNS, 50_000)) == 50_000


def test_pages_say_what_they_hold() -> None:
    content = written(table(10))
    part = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0).column(1)
    pages = list(parse_pages(content, part.dictionary_page_offset, part.total_compressed_size))
    assert [(page.values, page.dictionary) for page in pages] == [(1, True), (10, False)]
    for start, length in ((-1, 10), (0, 0), (len(content) - 3, 10), (0, 40)):
        with pytest.raises(ValueError, match=r"pages lie|no valid header|negative|encoding"):
            list(parse_pages(content, start, length))


def test_samples_of_a_learning_are_bounded_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = pd.DataFrame({name: [0.5] * 3 for name in FEATURES}).assign(points=1.0, sequence=7)
    file, content = tmp_path / "0001.parquet", parquet_bytes(samples, 1)
    file.write_bytes(content)
    read = _samples_in(file, checksum(content))
    assert read.features.shape == (3, len(FEATURES))
    assert read.sequence.tolist() == [7, 7, 7]
    file.write_bytes(broken := parquet_bytes(samples.assign(points=float("inf")), 1))
    with pytest.raises(LearningError, match="points is not finite"):
        _samples_in(file, checksum(broken))
    monkeypatch.setattr("evo.learning.folder.MAX_SAMPLES_PER_ROUND", 2)
    with pytest.raises(LearningError, match="3 rows; at most 2 are possible; start again"):
        _samples_in(file, checksum(broken))
