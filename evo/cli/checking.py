"""The command `manaforge check-agent`."""

import json
import signal
from typing import TYPE_CHECKING

import typer

from engine.tables import Column, FittingTable
from evo.cli import completion
from evo.cli.options import WHO_PLAYS, AsJson, DealSeed

if TYPE_CHECKING:
    from evo.play.checking import Check

COLUMNS = (Column("check"), Column("verdict"), Column("what came out", folds=True))


def check_agent_command(
    entrant: str = typer.Argument(
        help=f"The agent. {WHO_PLAYS}", show_default=False, autocompletion=completion.entrants
    ),
    games: int = typer.Option(1000, min=2, max=10**6, help="Games against an agent that plays at random."),
    pairs: int = typer.Option(
        200, min=1, max=10**6, help="Pairs of positions that differ only in what is hidden."
    ),
    seed: DealSeed = 1,
    as_data: AsJson = False,
) -> None:
    """Check whether an agent plays legally, in time, repeatably, and by what its player knows alone."""
    from engine.screen import say_error
    from evo.cli.consoles import output_console, stop_on_signals
    from evo.cli.progress import Counter
    from evo.play.checking import REPEATED, check_agent
    from evo.play.entrants import find_entrant
    from evo.play.pool import InterruptedRunError

    console = output_console(stderr=as_data)
    found = find_entrant(entrant)
    counter = Counter(console, games + 2 * min(REPEATED, games))
    counter.at_once = True
    checks: list[Check] = []
    try:
        with stop_on_signals(counter):
            checks += check_agent(found, games, pairs, seed, counter.advance)
    except (InterruptedRunError, KeyboardInterrupt):
        say_error("stopped: nothing is kept")
        raise typer.Exit(128 + (counter.stopping or signal.SIGINT)) from None
    finally:
        counter.close()
    passed = all(check.passed for check in checks)
    if as_data:
        print(json.dumps({"passed": passed, "checks": [check._asdict() for check in checks]}, indent=1))
    else:
        rows = [[check.name, "ok" if check.passed else "FAILED", check.told] for check in checks]
        console.print(FittingTable(COLUMNS, rows))
        console.print(f"{found.text} {'passed' if passed else 'did not pass'}", markup=False, highlight=False)
    if not passed:
        raise typer.Exit(1)
