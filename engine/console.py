"""Shared by every command line of the project: a user's mistake is one clear line, not a traceback."""

import io
import os
import sys
from pathlib import Path
from typing import NoReturn

import typer

from engine.errors import ManaforgeError
from engine.screen import shown


def command_line(app: typer.Typer, program: str) -> None:
    """Run a Typer app: our errors are one line on standard error with their exit code; Ctrl-C is 130."""
    write_anything()
    try:
        app(prog_name=program)
    except Exception as error:
        end_with(error, program)


def write_anything() -> None:
    """Let standard output and error replace what their encoding lacks, so that no name stops a command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def end_with(error: Exception, program: str) -> NoReturn:
    """Exit with one line on standard error for our errors and the system's; raise all others again.

    The code is the error's own `exit_code`; of the system's 1.
    """
    if isinstance(error, ManaforgeError | OSError) and not _has_folder():
        print(f"{program}: the current folder was deleted; change to one that exists", file=sys.stderr)
        sys.exit(1)
    if isinstance(error, ManaforgeError):
        print(shown(f"{program}: {error}"), file=sys.stderr)
    elif isinstance(error, OSError):
        about = f"{error.filename}: " if error.filename else ""
        print(shown(f"{program}: {about}{error.strerror or error}"), file=sys.stderr)
    else:
        raise error
    sys.exit(error.exit_code if isinstance(error, ManaforgeError) else 1)


def write_nowhere() -> None:
    """Send standard output nowhere from here on, since nobody reads it: also what is still in its buffer."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def plain_width(usual: int) -> int:
    """Characters of a table without a terminal: what the environment's COLUMNS says, else the usual."""
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) else usual


def _has_folder() -> bool:
    """Whether the current folder exists."""
    try:
        Path.cwd()
    except OSError:
        return False
    return True
