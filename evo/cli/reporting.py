"""The report of runs, written with its games and progress."""

from pathlib import Path

from rich.console import Console

from evo.analysis.report import make_report
from evo.analysis.tables import Runs
from evo.cli.consoles import print_problems
from evo.cli.options import Place
from evo.cli.progress import Counter
from evo.cli.sessions import pool_of
from evo.play.games import Player
from evo.play.outside import refuse_changed
from evo.storage.files import replace_file, temporary_of, why_not_writable
from evo.storage.opening import run_path
from evo.storage.store import RunError


def write_page(found: Runs, runs: list[Path], out: Path | None, workers: int, console: Console) -> Path:
    """Write the page of runs; returns its place.

    Args:
        found: as read from `runs`.
        runs: as the user named them.
        out: the page; None: `report.html` in the run's or study's folder; of several, in the current one.
        workers: for its games; 0: one for each processor.
        console: for progress and problems.

    Raises:
        RunError: the page cannot be written, or the runs cannot be compared.
    """
    target = out or (run_path(runs[0]) / "report.html" if len(runs) == 1 else Path("report.html"))
    temporary = temporary_of(target)
    why = why_not_writable(target, temporary)
    if why:
        raise RunError(f"cannot write {target}: {why}; choose another --out")
    for name, config in found.configs.items():
        refuse_changed(config, name)
    counter = Counter(console, 0)
    players = [Player(), *(Player(kind=config.agent) for config in found.configs.values())]
    decks = [deck for config in found.configs.values() for deck in config.found_decks]
    with pool_of(Place("local", workers, ""), players, decks, counter) as pool:
        page = make_report(found, runs, lambda roster, games: pool.play(roster, games, counter.advance))
    replace_file(target, page, temporary)
    print_problems(console, found.problems)
    console.print(f"report: {target} ({len(page) / 1e6:.1f} MB)", markup=False, highlight=False)
    return target
