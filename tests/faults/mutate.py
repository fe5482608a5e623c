"""Received files made wrong on purpose, with checksums that fit: what a stranger with tools could send."""

import contextlib
import datetime
import hashlib
import json
import os
import random
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import tomli_w

NAMES = [
    "[/red]",
    "[bold]",
    "\x1b[2J\x1b]0;x\x07",
    "=cmd|'/c calc'!A1",
    "\u202eevil",
    "../../x",
    "",
    "a" * 5_000,
    "é",
    "\x00",
    "{0}",
    "%s",
    "<script>",
    "runs/none",
    "/dev/zero",
    "/dev/zero.toml",
    "ilp:x",
    "null",
]
NUMBERS = [10**400, -(10**400), 10**40, 2**63, 2**64, -1, 0, 1, 3, 1e300, -1e300, 1e-300, 0.5, True, False]
OTHERS: list[Any] = [[], [1], ["x", "y"], [[]], {}, {"a": {"b": 1}}, datetime.date(1979, 5, 27)]


ODD_LINES = [
    "KEY = 1",
    '"\\"".KEY."\\"" = 1',
    "'\"'.KEY.'\"' = 1",
    'x = {y = """a"b""", KEY = "z"}',
    'x = {y = """"a""""", KEY = "z"}',
    "x = {y = '''a'b''', KEY = 'z'}",
    'x = """\n"""\nKEY = """\n"""',
    '# """\nKEY = """\n"""',
    'x = """DOTS\n"DOTS"" # DOTS""" # DOTS',
    "x = '''DOTS\n'DOTS'' # DOTS''' # DOTS",
    'x = "' + '\\"' * 100_000,
    'x = """' + '\n\\"""' * 100_000,
]
"""Lines of TOML with a key of many parts, with texts and comments of many dots, or never closed."""


def odd_value(chance: random.Random, old: Any) -> Any:
    """A value in the place of another: often of its type, sometimes of none."""
    kind = chance.random()
    if isinstance(old, str) and kind < 0.6:
        return chance.choice([*NAMES, old + chance.choice(NAMES), old[: len(old) // 2]])
    if isinstance(old, int | float) and kind < 0.6:
        return chance.choice(NUMBERS)
    return chance.choice([*NAMES, *NUMBERS, *OTHERS])


def odd_content(chance: random.Random, content: Any) -> Any:
    """Tables and lists with one to three places changed, dropped, added or nested deep."""
    for _ in range(chance.randint(1, 3)):
        parent, key = content, None
        while isinstance(parent, dict | list) and parent:
            key = chance.choice(list(parent)) if isinstance(parent, dict) else chance.randrange(len(parent))
            if not isinstance(parent[key], dict | list) or not parent[key] or chance.random() < 0.2:
                break
            parent = parent[key]
        if not isinstance(parent, dict | list) or key is None:
            continue
        action = chance.random()
        if action < 0.75:
            parent[key] = odd_value(chance, parent[key])
        elif action < 0.85:
            del parent[key]
        elif isinstance(parent, dict):
            parent[chance.choice(NAMES) or "x"] = odd_value(chance, None)
        else:
            parent += parent * chance.choice([1, 100])
    return content


def change_toml(chance: random.Random, file: Path) -> None:
    """Change values of a TOML file; a tenth of the files get a key of many parts instead."""
    if chance.random() < 0.1:
        parts = chance.choice([50, 300, 20_000])
        key = ".".join(["a"] * parts)
        line = chance.choice(ODD_LINES).replace("KEY", key).replace("DOTS", "." * parts)
        file.write_text(file.read_text() + "\n" + line + "\n")
        return
    changed = odd_content(chance, tomllib.loads(file.read_text(encoding="utf-8")))
    try:
        file.write_text(tomli_w.dumps(changed), encoding="utf-8")
    except (TypeError, ValueError, AttributeError):  # what TOML cannot hold
        change_text(chance, file)


def change_json(chance: random.Random, file: Path) -> None:
    """Change values of a JSON file."""
    changed = odd_content(chance, json.loads(file.read_text(encoding="utf-8")))
    file.write_text(json.dumps(changed, default=str), encoding="utf-8")


def change_text(chance: random.Random, file: Path) -> None:
    """Cut, repeat or overwrite bytes."""
    content = bytearray(file.read_bytes())
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(content) + 1)
        stop = min(len(content), start + chance.choice([0, 1, 5, 60]))
        put = chance.choice(
            [b"", b"\x00", b"\f", b"\n", b"\r", b"\xff", b"9" * 400, bytes(content[start:stop]) * 2]
        )
        content[start:stop] = put
    file.write_bytes(bytes(content))


def change_parquet(chance: random.Random, file: Path) -> None:
    """Change values, types, names, rows or metadata of a table."""
    if chance.random() < 0.1 or _unpacks_large(file):
        change_text(chance, file)
        return
    table = pq.read_table(file)
    metadata = dict(table.schema.metadata or {})
    place = chance.randrange(table.num_columns)
    name, column = table.column_names[place], table.column(place)
    action = chance.randrange(9)
    if action == 7:
        write_many(table, 20_000_000, file)
        return
    if action == 0:
        table = table.drop_columns([name])
    elif action == 1:
        table = table.append_column(name, column)
    elif action == 2:
        table = table.rename_columns(
            [chance.choice(NAMES) if one == name else one for one in table.column_names]
        )
    elif action == 3:
        table = pa.concat_tables([table] * chance.choice([0, 2, 50]) or [table.slice(0, 0)])
    elif action == 4:
        frame = table.to_pandas().set_index(name)
        table = pa.Table.from_pandas(frame)
        metadata |= table.schema.metadata or {}
    elif action == 8:
        table = with_text(table, name, 200_000_000)
    else:
        values = column.to_pylist()
        for _ in range(chance.choice([1, len(values) or 1])):
            if values:
                values[chance.randrange(len(values))] = chance.choice(
                    [None, *NAMES, *NUMBERS[4:], float("nan")]
                )
        table = _with_values(table, place, values)
    pq.write_table(table.replace_schema_metadata(metadata), file)


def _unpacks_large(file: Path) -> bool:
    """Whether a table was made large before; changed again it would take all memory here."""
    said = pq.read_metadata(file)
    size = sum(said.row_group(place).total_byte_size for place in range(said.num_row_groups))
    return bool(said.num_rows > 10**5 or size > MOST_BYTES)


def write_many(table: pa.Table, rows: int, file: Path) -> None:
    """The first row of a table so many times, in a file of some hundred kilobytes."""
    step = 10**6
    many = table.slice(0, 1).take(pa.array(np.zeros(step, np.int32)))
    texts = [name for name in table.column_names if pa.types.is_string(table.schema.field(name).type)]
    for name in texts:
        many = many.set_column(many.column_names.index(name), name, many[name].dictionary_encode())
    with pq.ParquetWriter(file, many.schema, compression="zstd") as writer:
        for _ in range(rows // step):
            writer.write_table(many, row_group_size=step)


def with_text(table: pa.Table, name: str, size: int) -> pa.Table:
    """A table with a text of this many bytes in each row of a column, which take few bytes in its file."""
    places = pa.array(np.zeros(len(table), np.int32))
    texts = pa.DictionaryArray.from_arrays(places, pa.array(["x" * size]))
    return table.set_column(table.column_names.index(name), name, texts)


def _with_values(table: pa.Table, place: int, values: list[Any]) -> pa.Table:
    """A table with a column's values replaced, in the column's type if it takes them, else in another."""
    name = table.column_names[place]
    for kind in (table.schema.field(place).type, None, pa.string()):
        try:
            texts = (
                [None if value is None else str(value) for value in values] if kind == pa.string() else values
            )
            return table.set_column(place, name, pa.array(texts, kind))
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            continue
    return table


MOST_BYTES = 2**26
"""A larger file is not changed again."""


def change_kind(chance: random.Random, file: Path) -> None:
    """In the place of a file: nothing, a folder, a FIFO, a link, or 3 GB of nothing."""
    file.unlink()
    action = chance.randrange(5)
    if action == 1:
        file.mkdir()
    elif action == 2:
        os.mkfifo(file)
    elif action == 3:
        file.symlink_to("/dev/zero")
    elif action == 4:
        with file.open("wb") as empty:
            empty.truncate(3 * 2**30)


CHANGES = {".toml": change_toml, ".json": change_json, ".parquet": change_parquet}


def change(chance: random.Random, file: Path) -> None:
    """Make a file wrong in a way that suits it."""
    if chance.random() < 0.08:
        change_kind(chance, file)
    elif chance.random() < 0.15:
        change_text(chance, file)
    elif file.stat().st_size < MOST_BYTES:  # else it has been made large before
        try:
            CHANGES.get(file.suffix, change_text)(chance, file)
        except (OSError, ValueError, RecursionError, pa.ArrowException):  # it has been made wrong before
            change_text(chance, file)


def files_of_record(folder: Path, name: str) -> list[Path]:
    """The files of a record in `checksums.txt`, in a folder of a run, a learning or an experiment."""
    if (folder / "generations").exists():
        return [folder / kind / f"{name}.parquet" for kind in ("generations", "pairings")]
    if (folder / "rounds").exists():
        samples = [folder / "rounds" / f"{name}.parquet"] if name != "0000" else []
        return [folder / "rounds" / f"{name}.json", *samples]
    return [folder / name]


def fit_checksums(run: Path) -> None:
    """Make the checksums of a folder those of its files, as far as they can be read."""
    sums, manifest = run / "checksums.txt", run / "manifest.json"
    for file in (run / "rounds").glob("*.json"):
        samples = file.with_suffix(".parquet")
        if _is_plain(file) and _is_plain(samples):
            with contextlib.suppress(ValueError, TypeError, RecursionError):
                content = json.loads(file.read_text(encoding="utf-8"))
                content["sha256"] = hashlib.sha256(samples.read_bytes()).hexdigest()
                file.write_text(json.dumps(content))
    if _is_plain(sums):
        lines = sums.read_bytes().decode("ascii", "replace").split("\n")
        for place, line in enumerate(lines):
            name, *parts = line.split(" ")
            files = files_of_record(run, name) if "\x00" not in name else []
            if parts and len(parts) == len(files) and all(map(_is_plain, files)):
                lines[place] = " ".join(
                    [name, *(hashlib.sha256(file.read_bytes()).hexdigest() for file in files)]
                )
        sums.write_text("\n".join(lines), encoding="ascii", errors="replace")
    if _is_plain(manifest):
        with contextlib.suppress(ValueError, TypeError, RecursionError):
            content = json.loads(manifest.read_text(encoding="utf-8"))
            for name, key in (("champion.toml", "champion_sha256"), ("final.parquet", "final_sha256")):
                if _is_plain(run / name):
                    content[key] = hashlib.sha256((run / name).read_bytes()).hexdigest()
            manifest.write_text(json.dumps(content), encoding="utf-8")


def _is_plain(file: Path) -> bool:
    try:
        return file.is_file() and not file.is_symlink() and file.stat().st_size < 2**24
    except OSError:  # a name that no file can have
        return False
