"""The headers of a parquet file's pages: what each page says it unpacks to, read without unpacking it.

The end of a parquet file says how much there is in all, but readers allot what the headers of the pages say,
and whoever makes a file writes both. Headers are structs of Thrift's compact protocol; `PageHeader` of the
format's parquet.thrift names the fields.
"""

from collections.abc import Iterator
from enum import IntEnum
from typing import Any, NamedTuple

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
            step, at = _number(content, at)
            number = 0
        number += step
        if number in fields or depth == 0:
            raise ValueError
        if kind in (_Type.TRUE, _Type.FALSE):
            fields[number] = kind == _Type.TRUE
        elif kind in (_Type.I16, _Type.I32, _Type.I64):
            fields[number], at = _number(content, at)
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


def _number(content: bytes, at: int) -> tuple[int, int]:
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
