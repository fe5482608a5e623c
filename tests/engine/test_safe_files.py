"""Files from anyone: only regular ones, of bounded size, and what is wrong is said."""

import contextlib
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine import safe_files
from engine.safe_files import parse_toml


def test_a_regular_file_is_read_whole_up_to_the_bound(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"a\r\nb\rc")
    assert safe_files.read_bytes(file, 6) == b"a\r\nb\rc"
    assert safe_files.read_text(file) == "a\nb\nc"
    with pytest.raises(OSError, match="larger than"):
        safe_files.read_bytes(file, 5)


@pytest.mark.parametrize("name", ["folder", "pipe", "device", "nothing", "nul\0", "broken\udc80"])
def test_what_is_no_regular_file_is_refused_at_once(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    with pytest.raises(OSError, match=r"directory|not a regular file|No such file|no file can have"):
        safe_files.read_bytes(tmp_path / name)


def test_appending_keeps_what_is_there(tmp_path: Path) -> None:
    for text in (b"one\n", b"two\n"):
        with safe_files.open_regular(tmp_path / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT) as file:
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
        (b'{"a":[' + b"[]," * 1_500_000 + b"1]}", "more than 3,000,000 values"),
    ],
)
def test_json_is_one_object(content: bytes, wanted: object, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(content)
    if isinstance(wanted, dict):
        assert safe_files.read_json(file) == wanted
    else:
        with pytest.raises(ValueError, match=str(wanted)):
            safe_files.read_json(file)


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
        assert safe_files.read_toml(file) == wanted
    else:
        with pytest.raises(ValueError, match=str(wanted)):
            safe_files.read_toml(file)


KEY = "x." * 3_000 + "x"
"""A key of so many parts that no file of ours is read with it."""


@pytest.mark.parametrize(
    "text",
    [
        '"\\"".' + KEY + '."\\"" = 1',
        "'\"'." + KEY + ".'\"' = 1",
        'a = {k = """a"b""", ' + KEY + ' = "v"}',
        'a = {k = """a\\"""", ' + KEY + ' = "v"}',
        'a = {k = """"a""""", ' + KEY + ' = "v"}',
        "a = {k = '''a'b''', " + KEY + " = 'v'}",
        "a = {k = '''\"''', " + KEY + " = '\"'}",
        'a = """\n"""\n' + KEY + ' = """\n"""',
        "a = '''\n\"\"\"'''\n" + KEY + ' = """\n\'\'\'"""',
        '# "\n' + KEY + ' = 1 # "',
        '# """\n' + KEY + ' = """\n"""',
        '"a\\u0022".' + KEY + " = 1",
        ".".join(['"a.b"', "'c.d'"] * 2_000) + " = 1",
    ],
)
def test_no_quotes_hide_dots_of_a_key(text: str) -> None:
    tomllib.loads(text)  # it is TOML
    with pytest.raises(ValueError, match="dots in a line"):
        parse_toml(text)


def longest_key(text: str) -> int:
    """The most dots of any key that tomllib reads in a text, also in one that is no TOML."""
    from tomllib import _parser

    most, real = 0, _parser.parse_key

    def parse_key(*arguments: Any) -> Any:
        nonlocal most
        place, key = real(*arguments)
        most = max(most, len(key) - 1)
        return place, key

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_parser, "parse_key", parse_key)
        with contextlib.suppress(ValueError):
            tomllib.loads(text)
    return most


PIECES = [
    '"',
    "'",
    '"""',
    "'''",
    "\\",
    "\n",
    "#",
    ".",
    "a.a",
    "a = ",
    "a",
    " = ",
    "{",
    "}",
    "[",
    "]",
    ", ",
    "1",
]
HONEST = st.text("ab.# \\'\"\n", max_size=30)


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=40))
@example(pieces=["a", " = ", "{", "a = ", '"""', "a", '"', "a", '"""', ", ", "a.a", " = ", '"', '"', "}"])
def test_no_key_that_is_read_has_more_dots_than_are_counted(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert longest_key(text) <= max(safe_files._dots(text))


@given(values=st.lists(HONEST, max_size=6), forms=st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_dots_of_texts_and_comments_are_not_counted(values: list[str], forms: list[int]) -> None:
    """Every line of a text begins and ends with more dots than a line may have."""
    dots, lines = "." * (safe_files.MAX_DOTS_IN_LINE + 1), [""]
    for place, (value, form) in enumerate(zip(values, forms, strict=False)):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        plain = value.replace("'", "")
        quoted = {
            0: '"' + dots + escaped.replace("\n", "\\n") + dots + '"',
            1: "'" + dots + plain.replace("\n", "") + dots + "'",
            2: '"""' + dots + escaped.replace("\n", f"{dots}\n{dots}") + dots + '"""',
            3: "'''" + dots + plain.replace("\n", f"{dots}\n{dots}") + dots + "'''",
        }[form]
        lines.append(f"{'ab'[place % 2]}.{place} = {quoted} # '\"{dots}")
    text = "\n".join(lines)
    assert parse_toml(text) == tomllib.loads(text)


@pytest.mark.parametrize("start", ['"', '"""\n', "'", "'''\n", "# ", '"""', ""])
@pytest.mark.parametrize("part", ['\\"', '\n\\"""', "'\n", '"\n', '""\\', "'''\\\n", '\\"""'])
def test_a_text_that_is_never_closed_is_looked_through_once(start: str, part: str) -> None:
    text = "a = " + start + part * (2**18 // len(part)) + "\\"
    safe_files._dots(text)
    left = safe_files._NO_KEY.sub("", text)
    assert not set("\"'#") & set(left), "what begins with one of these is passed over once, closed or not"
