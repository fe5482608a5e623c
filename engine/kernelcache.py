"""Compiled kernels on disk, by key and with checksums: damage is thrown away, and a full disk is told.

Environment: `MANAFORGE_CACHE_DIR` moves the cache.
"""

import hashlib
import os
import re
import secrets
import shutil
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import platformdirs

from engine.screen import say_error

KEEP_UNUSED_DAYS = 30
DIGEST_BYTES = 32

_FILE = re.compile(r"([0-9a-f]{32})-[0-9a-f]{16}\.(part|machine)(\.\w+)?")
_FOLDER_OF_OLD = re.compile(r"[0-9a-f]{16}")
"""Earlier versions kept a folder for each state of the sources."""

_told: list[str] = []

used: dict[str, None] = {}
"""Names of the machine code that this process has read, or found or left there as it wrote, in this order."""


def tell_once(folder: object, error: OSError) -> None:
    """Say on standard error, once a process, that compiled kernels cannot be kept."""
    if not _told:
        text = f"Cannot keep compiled kernels in {folder} ({error.strerror or error}): compiling every time"
        say_error(text)
        _told.append(text)


@cache
def cache_folder() -> Path | None:
    """Where this process keeps compiled kernels; None where that cannot be written. Old files are deleted."""
    folder = (
        Path(os.environ.get("MANAFORGE_CACHE_DIR") or platformdirs.user_cache_dir("manaforge")) / "kernels"
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        _sweep(folder)
    except OSError as error:
        tell_once(folder, error)
        return None
    return folder


def _sweep(folder: Path) -> None:
    """Once a day, delete what has not been used for long."""
    mark, now = folder / "swept", time.time()
    with suppress(OSError):
        if now - mark.stat().st_mtime < 86_400:
            return
    mark.touch()
    for path in folder.iterdir():
        with suppress(OSError):
            if now - path.stat().st_mtime > KEEP_UNUSED_DAYS * 86_400:
                if _FILE.fullmatch(path.name):
                    path.unlink()
                elif _FOLDER_OF_OLD.fullmatch(path.name):
                    shutil.rmtree(path)


def held() -> set[tuple[str, str]]:
    """Of which kernels there are files, for some types: keys, and "part" or "machine"."""
    folder = cache_folder()
    try:
        names = [path.name for path in folder.iterdir()] if folder is not None else []
    except OSError as error:
        tell_once(folder, error)
        return set()
    found = map(_FILE.fullmatch, names)
    return {(match[1], match[2]) for match in found if match and not match[3]}


def read(name: str) -> bytes | None:
    """What was written under a name; None if nothing was, or it is damaged, in which case it is deleted."""
    folder = cache_folder()
    if folder is None:
        return None
    path = folder / name
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        tell_once(folder, error)
        return None
    digest, kept = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    if hashlib.sha256(kept).digest() == digest:
        with suppress(OSError):
            os.utime(path)
        _note(name)
        return kept
    remove(name)
    return None


def remove(name: str) -> None:
    """Delete what is of no use."""
    folder = cache_folder()
    if folder is not None:
        with suppress(OSError):
            (folder / name).unlink()


def write(name: str, content: bytes) -> bool:
    """Keep something under a name, unless another process was first or the disk does not take it.

    Returns:
        Whether the name now stands for this very content.
    """
    folder = cache_folder()
    if folder is None:
        return False
    own = folder / f"{name}.{secrets.token_hex(8)}"
    try:
        own.write_bytes(hashlib.sha256(content).digest() + content)
        is_first = _link(own, folder / name)
    except OSError as error:
        tell_once(folder, error)
        is_first = False
    with suppress(OSError):
        own.unlink()
    if is_first or exists(name):
        _note(name)
    return is_first


def _link(own: Path, shared: Path) -> bool:
    """Give a file its name, which no other file may have; returns whether it has it."""
    try:
        shared.hardlink_to(own)
    except FileExistsError:
        return False
    except OSError:  # of a file system without links
        if shared.exists():
            return False
        own.replace(shared)
    return True


def _note(name: str) -> None:
    if name.endswith(".machine"):
        used[name] = None


def exists(name: str) -> bool:
    """Whether something is kept under a name."""
    folder = cache_folder()
    if folder is not None:
        with suppress(OSError):  # a folder that may no longer be read
            return (folder / name).is_file()
    return False
