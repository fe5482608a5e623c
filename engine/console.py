"""Shared by every command line of the project: a user's mistake is one clear line, not a traceback."""

import io
import os
import sys
from pathlib import Path
from typing import NoReturn

import typer

from engine import screen
from engine.errors import ManaforgeError
from engine.screen import BROKEN_PIPE, say_error, write_nowhere


def command_line(app: typer.Typer, program: str) -> None:
    """Run a Typer app: our errors are one line on standard error with their exit code; Ctrl-C is 130.

    A command whose standard output nobody reads any more, as after `| head -1`, ends with 141. Standard
    streams that are closed are opened on nothing.
    """
    _open_closed_streams()
    _write_anything()
    screen.in_command = True
    try:
        app(prog_name=program)
    except SystemExit as ended:
        _flush(program)
        if isinstance(ended.__context__, BrokenPipeError):  # Typer and rich end so with 1
            sys.exit(BROKEN_PIPE)
        raise
    except Exception as error:
        _flush(program)
        end_with(error, program)
    finally:
        screen.in_command = False


def _open_closed_streams() -> None:
    """Open each standard stream that is closed on /dev/null, so that no file of ours takes its number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDWR)
            os.dup2(nothing, number)
            if nothing != number:
                os.close(nothing)
            stream = os.fdopen(number, mode, encoding="utf-8")
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


def _write_anything() -> None:
    """Let standard output and error replace what their encoding lacks, so that no name stops a command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _flush(program: str) -> None:
    """Write what is left in standard output's buffer.

    Raises:
        SystemExit: nobody reads it, or it cannot be written.
    """
    stream = sys.__stdout__ or sys.stdout  # Typer puts its own in place of sys.stdout at the end
    try:
        stream.flush()
    except BrokenPipeError:
        write_nowhere(stream)
        sys.exit(BROKEN_PIPE)
    except OSError as error:
        write_nowhere(stream)
        end_with(OSError(error.errno, error.strerror, "standard output"), program)


def end_with(error: Exception, program: str) -> NoReturn:
    """Exit with one line on standard error for our errors and the system's; raise all others again.

    The code is the error's own `exit_code`; of the system's 1.
    """
    if isinstance(error, ManaforgeError | OSError) and not _has_folder():
        say_error(f"{program}: the current folder was deleted; change to one that exists")
        sys.exit(1)
    if isinstance(error, ManaforgeError):
        say_error(f"{program}: {error}")
    elif isinstance(error, OSError):
        about = f"{error.filename}: " if error.filename else ""
        say_error(f"{program}: {about}{error.strerror or error}")
    else:
        raise error
    sys.exit(error.exit_code if isinstance(error, ManaforgeError) else 1)


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
