"""Entry point of `manaforge`, and the table of commands, each imported when it is called."""

import ast
import importlib
import importlib.util
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import typer
from rich.markup import escape
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

from evo.terminal.console import run_command_line, use_help_texts
from rivals.outside.permissions import set_command_line

EVOLVE, READ, PLAY = "Evolve", "Read", "Play and compare"
DECKS, OUTSIDE = "Decks and cards", "Agents from outside"


class Entry(NamedTuple):
    """A command: its panel in --help, its function as MODULE:FUNCTION, and two examples."""

    panel: str
    place: str
    examples: tuple[str, str]


def _entries(panel: str, **functions: tuple[str, str, str]) -> dict[str, Entry]:
    """Commands of a panel by name; each has its function in `evo.cli`, and its examples."""
    return {
        name.replace("__", " ").replace("_", "-"): Entry(panel, f"evo.cli.{place}", (first, second))
        for name, (place, first, second) in functions.items()
    }


COMMANDS = {
    **_entries(
        EVOLVE,
        evolve=(
            "runs:evolve_command",
            "evolve quickstart",
            "evolve basic-small --set seed=2 --out runs/second",
        ),
        resume=(
            "runs:resume_command",
            "resume runs/NAME",
            "resume runs/NAME --generations 40",
        ),
        study=(
            "runs:study_command",
            "study quickstart --runs 5",
            "study quickstart --runs 5 --set strategy=cma --set mu=4 --out runs/cma",
        ),
        export=(
            "runs:export_command",
            "export runs/NAME --out best --top 3",
            "export runs/STUDY --clusters --out styles",
        ),
        config__show=(
            "runs:show_config",
            "config show quickstart",
            "config show --set agent=eva --toml",
        ),
        config__schema=(
            "runs:print_schema",
            "config schema",
            "config schema > run.schema.json",
        ),
        learn=(
            "learning:learn_command",
            "learn learn",
            "learn learn --set rounds=3 --out runs/learned",
        ),
        features=(
            "learning:features_command",
            "features runs/learned",
            "features runs/learned --games 2000 --no-alone",
        ),
        mulligan=(
            "learning:mulligan_command",
            "mulligan hearthsim --decks pirate-warrior --against aggro --out keep.toml",
            "mulligan lookahead --decks zoo-warlock --against hearthsim --games 2000 --out keep.toml",
        ),
        bench_optimisers=(
            "experiments:bench_optimisers_command",
            "bench-optimisers quickstart --budget 100000",
            "bench-optimisers quickstart --budget 50000 --optimiser es --optimiser cma --seeds 5",
        ),
    ),
    **_entries(
        READ,
        runs=("runs:runs_command", "runs", "runs --json"),
        report=("reading:report_command", "report runs/NAME", "report runs/A runs/B --out both.html"),
        watch=("reading:watch_command", "watch runs/NAME", "watch runs/STUDY --once"),
        serve=("reading:serve_command", "serve", "serve runs --play"),
        crossplay=(
            "reading:crossplay_command",
            "crossplay runs/STUDY --games 10",
            "crossplay runs/A runs/B --out runs/crossplay",
        ),
    ),
    **_entries(
        PLAY,
        play=(
            "games:play_command",
            "play ilp:keep-alive aggro",
            "play lookahead hearthsim --decks reno-mage,zoo-warlock --html game.html",
        ),
        replay=(
            "games:replay_command",
            "replay runs/TOURNAMENT 12",
            "replay runs/TOURNAMENT 12 --html game.html",
        ),
        explain=(
            "games:explain_command",
            "explain 'hero 20 board [3/2 ready] | hero 12 board [2/4T]'",
            "explain 'hero 20 board [3/2 ready] | hero 12' --profile keep-alive --json",
        ),
        solve=(
            "solving:solve_command",
            "solve 'hero 20 board [3/2 ready; 5/4 ready] | hero 5 board [2/3T]'",
            "solve --puzzles 100 --decks basic-mage,basic-hunter --out puzzles.json",
        ),
        tournament=(
            "tournament:tournament_command",
            "tournament ilp:runs/NAME 'ilp:*' --decks thesis-paladin,thesis-warrior",
            "tournament lookahead hearthsim --decks basic-mage,basic-hunter --games 100",
        ),
        sweep=(
            "tournament:sweep_command",
            "sweep ilp:keep-alive --weight face --values 0:100:20 --against aggro --decks thesis-paladin",
            "sweep aggro --card Fireball --values 0,1,2 --against aggro --decks basic-mage",
        ),
        arena=(
            "tournament:arena_command",
            "arena --champion ilp:runs/NAME",
            "arena my-arena.toml --games 400",
        ),
        ladder=(
            "tournament:ladder_command",
            "ladder thesis-paladin thesis-warrior hearthsim-basic",
            "ladder zoo-warlock jade-shaman reno-mage --players hearthsim --games 100",
        ),
        exploit=(
            "experiments:exploit_command",
            "exploit ilp:keep-alive --budget 100000",
            "exploit hearthsim --decks basic-mage --budget 20000 --out runs/exploit",
        ),
        cards=(
            "cards:cards_command",
            "cards reno-mage --field pirate-warrior,jade-shaman",
            "cards zoo-warlock --field reno-mage --player hearthsim:standard --games 200",
        ),
        balance=(
            "balance:balance_command",
            "balance balance",
            "balance balance --set generations=5 --set most_measured=1 --out runs/fair",
        ),
        verdict=(
            "cards:verdict_command",
            "verdict reno-mage --field pirate-warrior,jade-shaman",
            "verdict zoo-warlock --field reno-mage --players eva,hearthsim:standard --games 200",
        ),
        ablate=(
            "experiments:ablate_command",
            "ablate ilp:runs/NAME",
            "ablate ilp:keep-alive --decks thesis-paladin --pairs",
        ),
    ),
    **_entries(
        DECKS,
        deck=("engine_commands:deck", "deck reno-mage", "deck CODE --toml mydeck.toml --name mydeck"),
        card=("engine_commands:card", "card Fireball", "card 'Dire Wolf Alpha' --edition 2018-07"),
        predict=(
            "learning:predict_command",
            "predict --class mage 'Mana Wyrm' Frostbolt",
            "predict --accuracy --orders 5",
        ),
    ),
    **_entries(
        OUTSIDE,
        check_agent=(
            "games:check_agent_command",
            "check-agent python:mybot:Bot",
            "check-agent 'process:./mybot --fast' --games 50 --json",
        ),
    ),
}
"""Every command by name, in the order that --help lists them; "GROUP NAME" is in a group.

A module is imported when its command is called, so that --help and short commands start at once.
"""

GROUPS = {"config": "Configurations of runs."}
"""Help texts of command groups, by name."""


class HelpfulCommand(TyperCommand):
    """A command whose help page is written in `evo.terminal.console.HelpText`."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help page."""
        use_help_texts()
        super().format_help(ctx, formatter)


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
            panel = next(entry.panel for name, entry in COMMANDS.items() if name.startswith(f"{cmd_name} "))
            return Commands(
                name=cmd_name,
                prefix=f"{cmd_name} ",
                help=GROUPS[cmd_name],
                no_args_is_help=True,
                rich_help_panel=panel,
            )
        entry = COMMANDS.get(self._prefix + cmd_name)
        if entry is None:
            return None
        if self._listing:
            panel = "Commands" if self._prefix else entry.panel
            return TyperCommand(cmd_name, help=_docstring(entry.place), rich_help_panel=panel)
        module, _, name = entry.place.partition(":")
        info = CommandInfo(
            name=cmd_name,
            cls=HelpfulCommand,
            callback=getattr(importlib.import_module(module), name),
            epilog="\n\n".join(["Examples:", *(f"  manaforge {escape(text)}" for text in entry.examples)]),
        )
        return get_command_from_info(info, pretty_exceptions_short=True, rich_markup_mode="rich")

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help text of the command group."""
        use_help_texts()
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
