"""Entry point of `manaforge`, and the table of commands, each imported when it is called."""

import ast
import importlib
import importlib.util
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

from evo.terminal.console import run_command_line
from rivals.outside.permissions import set_command_line

COMMANDS = {
    "play": "evo.cli.games:play_command",
    "replay": "evo.cli.games:replay_command",
    "explain": "evo.cli.games:explain_command",
    "evolve": "evo.cli.runs:evolve_command",
    "resume": "evo.cli.runs:resume_command",
    "study": "evo.cli.runs:study_command",
    "runs": "evo.cli.runs:runs_command",
    "export": "evo.cli.runs:export_command",
    "config show": "evo.cli.runs:show_config",
    "config schema": "evo.cli.runs:print_schema",
    "learn": "evo.cli.learning:learn_command",
    "features": "evo.cli.learning:features_command",
    "tournament": "evo.cli.tournament:tournament_command",
    "sweep": "evo.cli.tournament:sweep_command",
    "arena": "evo.cli.tournament:arena_command",
    "mulligan": "evo.cli.learning:mulligan_command",
    "ladder": "evo.cli.tournament:ladder_command",
    "bench-optimisers": "evo.cli.experiments:bench_optimisers_command",
    "exploit": "evo.cli.experiments:exploit_command",
    "ablate": "evo.cli.experiments:ablate_command",
    "crossplay": "evo.cli.reading:crossplay_command",
    "report": "evo.cli.reading:report_command",
    "watch": "evo.cli.reading:watch_command",
    "serve": "evo.cli.reading:serve_command",
    "predict": "evo.cli.learning:predict_command",
    "deck": "evo.cli.engine_commands:deck",
    "card": "evo.cli.engine_commands:card",
    "check-agent": "evo.cli.games:check_agent_command",
}
"""Every command by name, in the order that --help lists them, as MODULE:FUNCTION; "GROUP NAME" is in a group.

A module is imported when its command is called, so that --help and short commands start at once.
"""

GROUPS = {"config": "Configurations of runs."}
"""Help texts of command groups, by name."""


class Commands(TyperGroup):
    """Lazy command group: the commands of `COMMANDS` whose names begin with `prefix`."""

    def __init__(self, *arguments: Any, prefix: str = "", **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._prefix = prefix
        self._listing = False
        own = [name.removeprefix(prefix) for name in COMMANDS if name.startswith(prefix)]
        self.commands = {name.partition(" ")[0]: TyperCommand(name) for name in own}

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Names of the commands, in the order of `COMMANDS`."""
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Look up a command or group; while --help lists them, without importing it."""
        if not self._prefix and cmd_name in GROUPS:
            return Commands(name=cmd_name, prefix=f"{cmd_name} ", help=GROUPS[cmd_name], no_args_is_help=True)
        place = COMMANDS.get(self._prefix + cmd_name)
        if place is None:
            return None
        if self._listing:
            return TyperCommand(cmd_name, help=_docstring(place))
        module, _, name = place.partition(":")
        info = CommandInfo(name=cmd_name, callback=getattr(importlib.import_module(module), name))
        return get_command_from_info(info, pretty_exceptions_short=True, rich_markup_mode="rich")

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help text of the command group."""
        self._listing = True
        super().format_help(ctx, formatter)
        self._listing = False


def _docstring(place: str) -> str:
    """Docstring of a function MODULE:FUNCTION, read without importing it."""
    module, _, name = place.partition(":")
    spec = importlib.util.find_spec(module)
    source = Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    return next(ast.get_docstring(node) or "" for node in functions if node.name == name)


app = typer.Typer(
    cls=Commands,
    help="Evolve the objective weights of an integer linear program that plays a Hearthstone-like card game.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Entry point of the command `manaforge`."""
    set_command_line(sys.argv[1:])
    run_command_line(app, "manaforge")


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
