"""Compiled kernels on disk, by key and with checksums: damage is thrown away, and a full disk is told.

They are unpickled and run, so whoever can write one can run code as this user. Folders are made for this user
alone, and one that another user owns or may write is refused, as is such a file.

Environment: `MANAFORGE_CACHE_DIR` moves the cache; `{uid}` in it stands for the user's number.
"""

import errno
import hashlib
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import platformdirs

from engine.received import open_regular, why_untrusted
from engine.screen import say_error

KEEP_UNUSED_DAYS = 30
DIGEST_BYTES = 32

_NAME = re.compile(r"([0-9a-f]{32})-[0-9a-f]{16}\.(part|machine)")
_FILE = re.compile(rf"{_NAME.pattern}(\.\w+)?")
_FOLDER_OF_OLD = re.compile(r"[0-9a-f]{16}")
"""Earlier versions kept a folder for each state of the sources."""

_told: list[str] = []

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH

used: dict[str, None] = {}
"""Names of the machine code that this process has read, or found or left there as it wrote, in this order."""


def tell_once(folder: object, why: object) -> None:
    """Say on standard error, once a process, that compiled kernels cannot be kept."""
    if not _told:
        text = f"Cannot keep compiled kernels in {folder} ({why}): compiling every time"
        say_error(text)
        _told.append(text)


@cache
def cache_folder() -> Path | None:
    """Where this process keeps compiled kernels; None where it may not or cannot. Old files are deleted."""
    given = os.environ.get("MANAFORGE_CACHE_DIR", "").replace("{uid}", str(os.geteuid()))
    base = Path(given or platformdirs.user_cache_dir("manaforge"))
    folder = base / "kernels"
    try:
        base.parent.mkdir(parents=True, exist_ok=True)
        for one in (base, folder):
            _make_private(one)
        with tempfile.TemporaryFile(dir=folder):
            pass
        _sweep(folder)
    except OSError as error:
        tell_once(folder, error.strerror or error)
        return None
    return folder


def _make_private(folder: Path) -> None:
    """Make a folder that this user alone may enter, unless there is one that this user alone may write.

    Raises:
        OSError: it cannot be made, or another user owns it or may write it.
    """
    try:
        folder.mkdir(0o700)
        folder.chmod(0o700)  # where the umask takes more
    except FileExistsError:
        pass
    for status in (folder.lstat(), folder.stat()):
        writes = 0 if stat.S_ISLNK(status.st_mode) else _OTHERS_WRITE
        why = why_untrusted(status, writes)
        if why:
            raise OSError(
                errno.EPERM,
                f"{folder}: {why}, and what it holds is run; chmod -R go-w it if it is yours, or name "
                "another folder in MANAFORGE_CACHE_DIR",
            )


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
        tell_once(folder, error.strerror or error)
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
        with open_regular(path, os.O_RDONLY | os.O_NOFOLLOW) as file:
            why = why_untrusted(os.fstat(file.fileno()), _OTHERS_WRITE)
            if why:
                raise OSError(errno.EPERM, f"{path}: {why}, and would be run; delete it")
            content = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        tell_once(folder, error.strerror or error)
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
    if not _NAME.fullmatch(name):  # a driver sent it
        raise ValueError(f"no name of a compiled kernel: {name!r}")
    folder = cache_folder()
    if folder is None:
        return False
    own = folder / f"{name}.{secrets.token_hex(8)}"
    try:
        with open(own, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(hashlib.sha256(content).digest() + content)
        is_first = _link(own, folder / name)
    except OSError as error:
        tell_once(folder, error.strerror or error)
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
