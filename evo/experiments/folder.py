"""The folder of an experiment: what it is, what it keeps on the way, and what it came to."""

import json
from pathlib import Path
from typing import IO, Any

from engine import RULES_VERSION, ManaforgeError
from engine.errors import WrongValueError
from engine.received import read_json
from evo.storage.files import first_link, json_bytes, replace_file, take_lock, why_unusable
from evo.storage.kinds import EXPERIMENT


class ExperimentError(ManaforgeError, RuntimeError):
    """A folder of an experiment that cannot be used; the message names it and the way out."""


class ExperimentOptionError(ExperimentError, WrongValueError):
    """An option of an experiment that it cannot use."""


class ExperimentFolder:
    """A folder that this process writes alone, from `open_experiment`.

    Attributes:
        path: the folder.
    """

    def __init__(self, path: Path, lock: IO[bytes]) -> None:
        self.path = path
        self._lock = lock

    def write(self, name: str, content: bytes) -> None:
        """Write a file, all or nothing; `name` may be in a folder.

        Raises:
            ExperimentError: the disk is full or fails.
        """
        target = self.path / name
        try:
            target.parent.mkdir(exist_ok=True)
            replace_file(target, content, self.path / f"{name.replace('/', '-')}.tmp")
        except OSError as error:
            raise ExperimentError(
                f"cannot write {target}: {error.strerror or error}; what was kept before is safe: when there "
                "is space, the same command goes on"
            ) from None

    def read(self, name: str) -> dict[str, Any]:
        """A JSON file that was kept; {} if there is none that can be read."""
        try:
            return read_json(self.path / name)
        except (OSError, ValueError):
            return {}

    def __enter__(self) -> "ExperimentFolder":
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()


def open_experiment(path: Path, kind: str, definition: dict[str, Any]) -> ExperimentFolder:
    """The folder of an experiment, new or begun by the same command.

    Args:
        path: the folder.
        kind: name of the command.
        definition: all that its results depend on, as JSON values.

    Raises:
        ExperimentError: it is something else, in use, or cannot be made.
    """
    content = json_bytes({"kind": kind, "rules": RULES_VERSION, **definition})
    about = path / EXPERIMENT
    try:
        if path.exists() and not about.exists() and not all(map(_is_leftover, path.iterdir())):
            raise ExperimentOptionError(f"{path} is not empty and holds no {kind}; choose another --out")
        path.mkdir(parents=True, exist_ok=True)
        link, lock = first_link(path), take_lock(path)
    except OSError as error:
        raise ExperimentOptionError(why_unusable(error, path, f"make the folder of {kind}")) from None
    if link is not None:
        raise ExperimentError(f"{link} is a symbolic link; the folder holds its own files")
    if lock is None:
        raise ExperimentError(f"{path} is in use by another process")
    folder = ExperimentFolder(path, lock)
    if not about.exists():
        folder.write(EXPERIMENT, content)
    elif folder.read(EXPERIMENT) != json.loads(content):
        lock.close()
        raise ExperimentOptionError(
            f"{path} was begun with other options or another version; choose another --out"
        )
    return folder


def _is_leftover(entry: Path) -> bool:
    """Whether a file is left by a command that ended before the folder was one."""
    return entry.name == "lock" or entry.suffix == ".tmp"
