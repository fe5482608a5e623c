"""Write files atomically, lock folders for one writer, and tell kinds of folders apart."""

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
from engine.errors import nearest
from engine.safe_files import open_regular

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What begins a formula in a spreadsheet."""

LOOKING = 0.5
"""Seconds to retry a lock, since `is_locked` in another process holds it for an instant."""


def replace_file(target: Path, content: bytes, temporary: Path) -> None:
    """Write a file all or nothing: temporary file, flush, rename, flush the folder.

    Args:
        target: the file.
        content: its new content.
        temporary: where it is written first, on the same file system; deleted if that fails.
    """
    try:
        temporary.unlink(missing_ok=True)
        with temporary.open("xb") as file:  # a new file: never through an existing link
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        sync_folder(target.parent)
    except OSError as error:  # of the file that was asked for; nobody knows the temporary one
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(target)) from error


def file_in_the_way(path: Path) -> Path | None:
    """The file that keeps a path from being a folder: itself, or one that it takes for a folder."""
    return next((part for part in (path, *path.parents) if part.exists() and not part.is_dir()), None)


def why_unusable(error: OSError, path: Path, use: str) -> str:
    """Why a folder cannot be used: a file where a folder belongs, or what the system says.

    Args:
        error: the failure, in the folder.
        path: the folder.
        use: what was to be done, such as "create run folder".
    """
    if isinstance(error, FileExistsError | NotADirectoryError):
        file = file_in_the_way(Path(error.filename or path))
        if file is not None:
            return f"{file} is a file"
    about = "" if error.filename in (None, str(path)) else f"{error.filename}: "
    return f"cannot {use} {path}: {about}{error.strerror or error}"


def temporary_of(target: Path) -> Path:
    """The file beside a target that is written before it takes its place; of a folder without a name, too."""
    return target.parent / f".{target.name}.tmp"


def why_not_writable(target: Path, temporary: Path) -> str:
    """Why a file cannot be written here; "" where it can, which is tried with the temporary one.

    See `temporary_of`.
    """
    if target.is_dir():
        return "it is a folder"
    file = file_in_the_way(target.parent)
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
    """Flush a folder's entries to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def take_lock(folder: Path) -> IO[bytes] | None:
    """The operating system's lock on a folder, which ends with the process; None if another holds it."""
    lock = open_regular(folder / "lock", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    until = time.monotonic() + LOOKING
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


def first_link(folder: Path) -> Path | None:
    """The first symbolic link in a folder: through one, a received folder could redirect writes elsewhere."""
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
    """A table as the bytes of a parquet file; the same table and versions give the same bytes.

    Pages carry checksums, which readers verify.
    """
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    arrow = arrow.replace_schema_metadata({"manaforge_schema": str(schema), "rules": str(RULES_VERSION)})
    buffer = io.BytesIO()
    pq.write_table(arrow, buffer, compression="zstd", write_page_checksum=True)
    return buffer.getvalue()


def append_event(file: Path, **event: Any) -> None:
    """Append an event with its time to a log, as a line of JSON; a failure to write is ignored."""
    line = json.dumps({"time": datetime.now(UTC).isoformat(timespec="milliseconds"), **event})
    with contextlib.suppress(OSError), open_regular(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND) as log:
        log.write(f"{line}\n".encode())


def csv_bytes(table: pd.DataFrame) -> bytes:
    """A table as CSV; a text that a spreadsheet would take for a formula is preceded by an apostrophe."""
    texts = table.select_dtypes(exclude=["number", "bool"])
    safe = {name: column.astype(object).map(_no_formula) for name, column in texts.items()}
    text: str = table.assign(**safe).to_csv(index=False, lineterminator="\n")
    return text.encode("utf-8", "replace")


def _no_formula(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def json_bytes(content: dict[str, Any]) -> bytes:
    """Readable JSON."""
    return (json.dumps(content, indent=1, allow_nan=False) + "\n").encode()


def digest_of(content: Any) -> str:
    """SHA-256 of data, written as JSON."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


RUNS = Path("runs")
"""Where commands put run folders, below the current folder."""

LEARNING = "learning.toml"
"""The configuration in a folder of `manaforge learn`."""

EXPERIMENT = "experiment.json"
"""In the folder of an experiment: its kind and all that its results depend on."""

OPPONENTS = "opponents.json"
"""The fixed opponents in a run folder."""

MOST_NAMED = 4
"""Runs of a study that are named."""


def what_it_is(path: Path) -> str:
    """Why a path is not a run folder, and the way out."""
    if not os.path.exists(path):  # noqa: PTH110 - False too for names that no file can have
        runs = [file.parent.name for file in RUNS.glob("*/config.toml")]
        near = nearest(str(path).removeprefix(f"{RUNS}/"), runs)
        hint = f"; nearest: {', '.join(str(RUNS / name) for name in near)}" if near else ""
        return f"{path} is not a run folder: there is no such folder{hint}"
    if not path.is_dir():
        return f"{path} is a file, not a run folder"
    if (path / LEARNING).is_file():
        return (
            f"{path} is a learned value, not a run: read {path / 'report.html'}, play it as "
            f"lookahead:{path / 'profile.toml'}; the command that began it continues it"
        )
    if (path / "tournament.json").is_file():
        return f"{path} is {_tournament(path)}"
    if (path / EXPERIMENT).is_file():
        return f"{path} is an experiment, not a run; manaforge runs {path} lists it"
    inside = sorted(file.parent for file in path.glob("*/config.toml"))
    if inside:
        kind = "a study" if all(run.name.isdecimal() for run in inside) else "a folder of runs"
        return f"{path} is {kind}, not a run: name one of its runs, {_listed(inside)}"
    return f"{path} is not a run folder and holds none: it has no config.toml"


def _tournament(path: Path) -> str:
    """The kind of a tournament's folder, and what reads it."""
    if (path / "sweep.csv").is_file():
        return f"a sweep, not a run: read {path / 'sweep.csv'} and sweep.png"
    if (path / "tournament.html").is_file():
        return f"a tournament, not a run: read {path / 'tournament.html'}; manaforge runs {path} lists it"
    return f"a tournament, not a run: the command that began it continues it; manaforge runs {path} lists it"


def _listed(runs: Sequence[Path]) -> str:
    """The first of some runs, and how many there are."""
    names = [str(run) for run in runs]
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[:MOST_NAMED])}, ... ({len(names)} runs)"
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
