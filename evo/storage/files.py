"""Atomic file writes, folder locks, JSON, CSV and Parquet output, and identification of folders."""

import contextlib
import fcntl
import hashlib
import io
import json
import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from engine import RULES_VERSION
from engine.errors import nearest_names
from engine.safe_files import open_regular

FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r")
"""Characters that start a formula in a spreadsheet."""

LOCK_RETRY_SECONDS = 0.5
"""Seconds of retrying a lock, since `is_locked` in another process holds it for an instant."""


def write_atomically(target: Path, content: bytes, temporary: Path) -> None:
    """Write a file atomically: write and flush a temporary file, rename it, flush the folder.

    Args:
        target: the file.
        content: its new content.
        temporary: path of the temporary file, on the same file system; deleted on failure.
    """
    try:
        temporary.unlink(missing_ok=True)
        with temporary.open("xb") as file:  # a new file: never through an existing link
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        sync_folder(target.parent)
    except OSError as error:  # report the target, not the temporary file
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(target)) from error


def find_blocking_file(path: Path) -> Path | None:
    """Find the file that prevents a folder at `path`: the path itself or a parent; None if there is none."""
    return next((part for part in (path, *path.parents) if part.exists() and not part.is_dir()), None)


def folder_error_text(error: OSError, path: Path, use: str) -> str:
    """Text of the error for a folder that cannot be used, from an OSError.

    Args:
        error: the error of the operating system.
        path: the folder.
        use: the failed action, such as "create run folder".
    """
    if isinstance(error, FileExistsError | NotADirectoryError):
        file = find_blocking_file(Path(error.filename or path))
        if file is not None:
            return f"{file} is a file"
    about = "" if error.filename in (None, str(path)) else f"{error.filename}: "
    return f"cannot {use} {path}: {about}{error.strerror or error}"


def temporary_path(target: Path) -> Path:
    """Path of the temporary file for an atomic write, in the target's folder."""
    return target.parent / f".{target.name}.tmp"


def write_error_text(target: Path, temporary: Path) -> str:
    """Reason why a file cannot be written, else ""; tested by creating and deleting the temporary file.

    See `temporary_path`.
    """
    if target.is_dir():
        return "it is a folder"
    file = find_blocking_file(target.parent)
    if file is not None:
        return f"{file} is a file"
    if not target.parent.exists():
        return f"there is no folder {target.parent}"
    try:
        temporary.unlink(missing_ok=True)
        temporary.open("xb").close()
        temporary.unlink()
    except OSError as error:
        return str(error.strerror or error)
    return ""


def sync_folder(path: Path) -> None:
    """Flush a folder's directory entries to disk (fsync)."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def lock_folder(folder: Path) -> IO[bytes] | None:
    """Lock a folder for this process with `flock`; None if another process holds the lock."""
    lock = open_regular(folder / "lock", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    until = time.monotonic() + LOCK_RETRY_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > until:
                lock.close()
                return None
            time.sleep(0.01)
        else:
            return lock


def find_symbolic_link(folder: Path) -> Path | None:
    """First symbolic link in a folder, which could redirect writes; None if there is none."""
    return next((entry for entry in sorted(folder.iterdir()) if entry.is_symlink()), None)


def is_locked(folder: Path) -> bool:
    """Whether a process holds the folder's lock."""
    try:
        with open_regular(folder / "lock", os.O_RDONLY) as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def parquet_bytes(table: pd.DataFrame, schema: int) -> bytes:
    """Serialise a table as Parquet, reproducible bit for bit with the same library versions.

    Pages have checksums, which readers verify.
    """
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    for place, column in enumerate(arrow.schema):
        if pa.types.is_dictionary(column.type):  # of any size, so that tables of several files fit together
            named = pa.dictionary(pa.int32(), pa.string())
            arrow = arrow.set_column(place, column.name, arrow.column(place).cast(named))
    arrow = arrow.replace_schema_metadata({"manaforge_schema": str(schema), "rules": str(RULES_VERSION)})
    buffer = io.BytesIO()
    pq.write_table(arrow, buffer, compression="zstd", write_page_checksum=True)
    return buffer.getvalue()


def append_event(file: Path, **event: Any) -> None:
    """Append an event with a time stamp to a JSON Lines log; write errors are ignored."""
    line = json.dumps({"time": datetime.now(UTC).isoformat(timespec="milliseconds"), **event})
    with contextlib.suppress(OSError), open_regular(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND) as log:
        log.write(f"{line}\n".encode())


def csv_bytes(table: pd.DataFrame) -> bytes:
    """Serialise a table as CSV; an apostrophe precedes texts that a spreadsheet would run as formulas."""
    texts = table.select_dtypes(exclude=["number", "bool"])
    safe = {name: column.astype(object).map(_no_formula) for name, column in texts.items()}
    text: str = table.assign(**safe).to_csv(index=False, lineterminator="\n")
    return text.encode("utf-8", "replace")


def _no_formula(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_PREFIXES) else value


def json_bytes(content: dict[str, Any]) -> bytes:
    """Serialise data as indented JSON."""
    return (json.dumps(content, indent=1, allow_nan=False) + "\n").encode()


def json_digest(content: Any) -> str:
    """SHA-256 of JSON data with sorted keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


RUNS = Path("runs")
"""Default parent of run folders, relative to the current folder."""

LEARNING = "learning.toml"
"""Configuration file in a folder of `manaforge learn`."""

EXPERIMENT = "experiment.json"
"""File in the folder of an experiment: its kind and everything that determines its results."""

OPPONENTS = "opponents.json"
"""File with the fixed opponents in a run folder."""

MAX_LISTED_RUNS = 4
"""Maximum number of runs listed in an error message."""


def not_a_run_text(path: Path) -> str:
    """Text of the error for a path that is not a run folder: what the path is, and what to do."""
    if not os.path.exists(path):  # noqa: PTH110 - False too for names that no file can have
        runs = [file.parent.name for file in RUNS.glob("*/config.toml")]
        near = nearest_names(str(path).removeprefix(f"{RUNS}/"), runs)
        hint = f"; nearest: {', '.join(str(RUNS / name) for name in near)}" if near else ""
        return f"{path} is not a run folder: there is no such folder{hint}"
    if not path.is_dir():
        return f"{path} is a file, not a run folder"
    if (path / LEARNING).is_file():
        return (
            f"{path} is a learned value, not a run: read {path / 'report.html'}, play it as "
            f"lookahead:{path / 'profile.toml'}; to continue it, run the command that started it"
        )
    if (path / "tournament.json").is_file():
        return f"{path} is {_tournament(path)}"
    if (path / EXPERIMENT).is_file():
        return f"{path} is an experiment, not a run; to list it: manaforge runs {path}"
    inside = sorted(file.parent for file in path.glob("*/config.toml"))
    if inside:
        kind = "a study" if all(run.name.isdecimal() for run in inside) else "a folder of runs"
        return f"{path} is {kind}, not a run: name one of its runs, {_listed(inside)}"
    return f"{path} is not a run folder and holds none: it has no config.toml"


def _tournament(path: Path) -> str:
    """Text on what kind of tournament folder a path is, and how to read or continue the tournament."""
    if (path / "sweep.csv").is_file():
        return f"a sweep, not a run: read {path / 'sweep.csv'} and sweep.png"
    if (path / "tournament.html").is_file():
        return f"a tournament, not a run: read {path / 'tournament.html'}; to list it: manaforge runs {path}"
    return (
        "an unfinished tournament, not a run: to continue it, run the command that started it; to list it: "
        f"manaforge runs {path}"
    )


def _listed(runs: Sequence[Path]) -> str:
    """Text that lists the first `MAX_LISTED_RUNS` runs, and the number of runs if there are more."""
    names = [str(run) for run in runs]
    if len(names) > MAX_LISTED_RUNS:
        return f"{', '.join(names[:MAX_LISTED_RUNS])}, ... ({len(names)} runs)"
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
