"""Shared by every command line of the project: a user's mistake is one clear line, not a traceback."""

import sys

import typer

from engine.errors import ManaforgeError


def command_line(app: typer.Typer, program: str) -> None:
    """Run a Typer app: exit 1 with one line on standard error for our errors, 130 on Ctrl-C (Typer's own)."""
    try:
        app(prog_name=program)
    except ManaforgeError as error:
        print(f"{program}: {error}", file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        about = f"{error.filename}: " if error.filename else ""
        print(f"{program}: {about}{error.strerror or error}", file=sys.stderr)
        sys.exit(1)
