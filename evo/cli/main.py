"""The command `manaforge`, with all its commands."""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import typer

from engine.console import command_line
from evo.cli.games import explain_command, play_command
from evo.cli.reading import crossplay_command, report_command, watch_command
from evo.cli.runs import (
    evolve_command,
    export_command,
    print_schema,
    resume_command,
    runs_command,
    show_config,
    study_command,
)
from evo.cli.sweep import arena_command, sweep_command
from evo.cli.tournament import tournament_command

COMMANDS: dict[str, Callable[..., Any]] = {
    "play": play_command,
    "explain": explain_command,
    "evolve": evolve_command,
    "resume": resume_command,
    "study": study_command,
    "runs": runs_command,
    "export": export_command,
    "config show": show_config,
    "config schema": print_schema,
    "tournament": tournament_command,
    "sweep": sweep_command,
    "arena": arena_command,
    "crossplay": crossplay_command,
    "report": report_command,
    "watch": watch_command,
}
"""Every command by name, in the order that --help lists them; "GROUP NAME" is a command of a group."""

GROUPS = {"config": "Configurations of runs."}
"""Groups of commands, with their texts in --help."""

app = typer.Typer(
    help="Evolve the objective weights of an integer linear program that plays a Hearthstone-like card game.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Entry point of the command `manaforge`."""
    command_line(app, "manaforge")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"manaforge {version('manaforge')}")
        raise typer.Exit


@app.callback()
def _options(
    _: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    pass


def _register() -> None:
    groups = {name: typer.Typer(help=text, no_args_is_help=True) for name, text in GROUPS.items()}
    for name, command in COMMANDS.items():
        group, _, own = name.rpartition(" ")
        (groups[group] if group else app).command(name=own)(command)
    for name, group_app in groups.items():
        app.add_typer(group_app, name=name)


_register()
