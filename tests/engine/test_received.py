"""Files from anyone: only regular ones, of bounded size, and what is wrong is said."""

import os
from pathlib import Path

import pytest

from engine import received
from engine.received import parse_toml


def test_a_regular_file_is_read_whole_up_to_the_bound(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"a\r\nb\rc")
    assert received.read_bytes(file, 6) == b"a\r\nb\rc"
    assert received.read_text(file) == "a\nb\nc"
    with pytest.raises(OSError, match="larger than"):
        received.read_bytes(file, 5)


@pytest.mark.parametrize("name", ["folder", "pipe", "device", "nothing", "nul\0", "broken\udc80"])
def test_what_is_no_regular_file_is_refused_at_once(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    with pytest.raises(OSError, match=r"directory|not a regular file|No such file|no file can have"):
        received.read_bytes(tmp_path / name)


def test_appending_keeps_what_is_there(tmp_path: Path) -> None:
    for text in (b"one\n", b"two\n"):
        with received.open_regular(tmp_path / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT) as file:
            file.write(text)
    assert (tmp_path / "log").read_bytes() == b"one\ntwo\n"


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (b'{"a": 1}', {"a": 1}),
        (b"[1]", "no JSON object|not a JSON object"),
        (b"{", "Expecting"),
        (b"\xff", "not UTF-8"),
        (b'{"a":' + b"[" * 200_000, "nests too deep"),
    ],
)
def test_json_is_one_object(content: bytes, wanted: object, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(content)
    if isinstance(wanted, dict):
        assert received.read_json(file) == wanted
    else:
        with pytest.raises(ValueError, match=str(wanted)):
            received.read_json(file)


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("a.b = 1\n'c.d' = '...'", {"a": {"b": 1}, "c.d": "..."}),
        (".".join("a" * 300) + " = 1", "dots in a line"),
        ("a = 1.5\n" * 60_000, "dots in a line"),
        ("a = " + "[" * 20_000, "nests too deep"),
        ("a = ", "Invalid value"),
    ],
)
def test_toml_is_bounded_before_it_is_parsed(content: str, wanted: object, tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(content)
    if isinstance(wanted, dict):
        assert received.read_toml(file) == wanted
    else:
        with pytest.raises(ValueError, match=str(wanted)):
            received.read_toml(file)


def test_dots_between_quotes_that_hold_quotes_are_counted() -> None:
    with pytest.raises(ValueError, match="dots in a line"):
        parse_toml('"\\"".' + "a." * 20_000 + '"\\"" = 1')
