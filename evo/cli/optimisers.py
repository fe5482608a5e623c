"""The command `manaforge bench-optimisers`."""

import shlex
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.tables import Column, FittingTable
from evo.cli import completion
from evo.cli.options import (
    OUT_HELP,
    AllowAgent,
    ConfigName,
    Overrides,
    Place,
    RunAddress,
    RunPool,
    RunWorkers,
    placed,
)

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from evo.cli.progress import Counter
    from evo.config import RunConfig
    from evo.experiments.contenders import Contender
    from evo.experiments.folder import ExperimentFolder
    from evo.experiments.optimisers import Bench
    from evo.play.games import Player, Roster, Schedule

DEFAULT = ("es", "eva", "cma", "spsa")

Budgets = Annotated[
    list[int],
    typer.Option("--budget", min=1, max=10**9, help="Games of a run; may repeat.", show_default=False),
]
Optimisers = Annotated[
    list[str],
    typer.Option(
        "--optimiser",
        metavar="NAME[@KEY=VALUE,...]",
        help="A strategy and what its runs do differently, such as es@deals=own or nevergrad:TBPSA; may "
        "repeat. The others are compared with the first.",
    ),
]
Against = Annotated[
    list[str],
    typer.Option(
        "--against",
        help="An entrant that rates them; may repeat. (default: the shipped champion of these weights)",
        show_default=False,
        autocompletion=completion.entrants,
    ),
]
BenchOut = Annotated[
    Path | None, typer.Option("--out", help=OUT_HELP.format("optimisers"), show_default=False)
]

STOPPED = "finished runs are kept; the same command goes on"
"""Said where a signal stops the games."""

COLUMNS = (
    Column("optimiser", folds=True),
    Column("games of a run", right=True),
    Column("Elo", right=True),
    Column("95% interval", 1, right=True),
    Column("less the first", 2, right=True),
    Column("95% interval", 3, right=True),
    Column("quadratic", 4, right=True),
)
"""The quadratic: Elo below its optimum."""


def bench_optimisers_command(
    config: ConfigName,
    budgets: Budgets,
    seeds: int = typer.Option(10, min=1, max=1_000, help="Runs of each optimiser and budget."),
    optimisers: Optimisers = list(DEFAULT),  # noqa: B006 - typer's way
    against: Against = [],  # noqa: B006
    games: int = typer.Option(
        400,
        min=2,
        max=10**6,
        help="Games that rate a run, against each opponent and ordered pair of decks; even.",
    ),
    out: BenchOut = None,
    overrides: Overrides = None,
    workers: RunWorkers = None,
    pool: RunPool = None,
    address: RunAddress = None,
    _agents: AllowAgent = None,
) -> None:
    """Compare strategies at equal games: a page with Elo over games, also on a noisy quadratic."""
    from evo.cli.consoles import output_console, print_problems
    from evo.cli.progress import Counter
    from evo.configfiles import read_config
    from evo.experiments.folder import ExperimentOptionError, open_experiment
    from evo.experiments.optimisers import Bench, games_left, games_of_rating, missing_runs
    from evo.experiments.optimisers_page import optimisers_figure, optimisers_page
    from evo.experiments.quadratic import simulated
    from evo.storage.files import csv_bytes, digest_of

    if games % 2:
        raise ExperimentOptionError(f"--games must be even, games come in pairs, got {games}")
    given = overrides or ()
    chosen = placed(read_config(config, [*given, "strategy=es"], begins=True), workers, pool, address)
    contenders = _contenders(optimisers, config, given)
    rating = _rating(against, chosen)
    bench = Bench(contenders, tuple(sorted(set(budgets))), seeds, rating, games)
    definition = {
        "optimisers": [[one.text, one.config.digest] for one in contenders],
        "budgets": bench.budgets,
        "seeds": seeds,
        "against": [[text, *player.played_as, player.row] for text, player in rating.items()],
        **_bred_against(contenders),
        "games": games,
    }
    to_rate = games_of_rating(bench)  # which refuses budgets before there is a folder
    path = out or Path("runs") / f"optimisers-{digest_of(definition)[:8]}"
    console = output_console()
    with open_experiment(path, "bench-optimisers", definition) as folder:
        print_problems(console, folder.problems)
        counter = Counter(console, games_left(missing_runs(bench, folder)) + to_rate)
        console.print(f"{path}: {counter.total:,} games to play", markup=False, highlight=False)
        points = _played(bench, folder, Place(chosen.pool, chosen.workers, chosen.address), counter)
        console.print("the same runs on quadratics", highlight=False)
        hills = simulated(bench)
        command = ["manaforge", "bench-optimisers", config, "--seeds", str(seeds), "--games", str(games)]
        command += _repeated("--budget", bench.budgets)
        command += _repeated("--optimiser", [one.text for one in contenders])
        command += _repeated("--against", dict.fromkeys(against)) + _repeated("--set", given)
        label = f"Elo against {', '.join(rating)}"
        folder.write("points.csv", csv_bytes(points))
        folder.write("quadratic.csv", csv_bytes(hills))
        folder.write("optimisers.png", optimisers_figure(points, label))
        folder.write("optimisers.html", optimisers_page(bench, points, hills, shlex.join(command)))
    console.print(_table(points, hills))
    files = "optimisers.html, optimisers.png, points.csv, quadratic.csv"
    console.print(f"written: {path}/{files}", markup=False)


def _repeated(option: str, values: Iterable[object]) -> list[str]:
    """An option that may repeat, with each value."""
    return [part for value in values for part in (option, str(value))]


def _contenders(texts: Sequence[str], config: str, given: Sequence[str]) -> "tuple[Contender, ...]":
    """What takes part.

    Raises:
        ConfigError, UnknownNameError: a text is none, or two say the same.
    """
    from evo.evolution.records import new_strategy
    from evo.experiments.contenders import find_contender
    from evo.experiments.folder import ExperimentOptionError

    found = tuple(find_contender(text, config, given) for text in dict.fromkeys(texts))
    for one in found:
        new_strategy(one.config)  # which another package may have to be installed for
    for one, other in combinations(found, 2):
        if one.config.digest == other.config.digest:
            raise ExperimentOptionError(f"--optimiser: {one.text} and {other.text} are the same")
    return found


def _bred_against(contenders: "Sequence[Contender]") -> dict[str, Any]:
    """The fixed opponents of contenders, as players: what a name means may change."""
    from evo.evolution.opponents import find_opponents

    found: dict[str, Any] = {}
    for one in contenders:
        for text, opponent in find_opponents(one.config).items():
            found[text] = [*opponent.sort, opponent.row]
    return {"opponents": found} if found else {}


def _rating(against: Sequence[str], config: "RunConfig") -> "dict[str, Player]":
    """The entrants that rate, by their texts; the shipped champion where none is named.

    Raises:
        EntrantError, UnknownNameError, ProfileError, OptionError: a text names no entrant.
        DeckError: one plays bodies alone, and decks have a class.
        ExperimentOptionError: none is named, and no champion of these weights is shipped.
    """
    from evo.experiments.folder import ExperimentOptionError
    from evo.play.entrants import find_entrant
    from ilp_agent.shipped import configs_folder
    from rivals import DEFAULT_AGENT, refuse_decks

    texts = list(dict.fromkeys(against))
    if not texts and config.vector.AGENT != DEFAULT_AGENT:
        raise ExperimentOptionError(f"--against: name entrants that rate runs of {config.agent}")
    champion = "study" if config.weights == "thesis" else "extended"
    file = configs_folder() / "champions" / f"{champion}.toml"
    places = {text: text for text in texts} or {f"{champion} champion": f"{DEFAULT_AGENT}:{file}"}
    found = {text: find_entrant(place).player for text, place in places.items()}
    refuse_decks([player.sort for player in found.values()], config.found_decks)
    return found


def _played(bench: "Bench", folder: "ExperimentFolder", place: Place, counter: "Counter") -> "pd.DataFrame":
    """Play what is missing and rate all points."""
    from evo.cli.sessions import pool_of
    from evo.evolution.opponents import find_opponents
    from evo.experiments.optimisers import play_missing, points_table, rated
    from evo.play.games import Player

    config = bench.contenders[0].config
    players = [Player((1.0,) * len(config.vector.names()), config.backend, config.agent)]
    players += [*bench.against.values()]
    players += [player for one in bench.contenders for player in find_opponents(one.config).values()]
    with pool_of(place, players, config.found_decks, counter, STOPPED) as pool:

        def play(roster: "Roster", games: "Schedule") -> "np.ndarray":
            return pool.play(roster, games, counter.advance)

        play_missing(bench, folder, play, pool.workers)
        return rated(bench, points_table(bench, folder), folder.playing(pool, counter.advance))
    raise AssertionError("a pool that is stopped ends the process")


def _table(points: "pd.DataFrame", hills: "pd.DataFrame") -> FittingTable:
    """A row an optimiser and budget."""
    from evo.experiments.optimisers import curves, differences

    less = {(row.contender, row.budget): row for row in differences(points).itertuples()}
    hill = {(row.contender, row.budget): row.mean for row in curves(hills, "loss").itertuples()}
    rows = []
    for row in curves(points).itertuples():
        if row.budget:
            other = less.get((row.contender, row.budget))
            rows.append(
                [
                    row.contender,
                    f"{row.games:,.0f} of {row.budget:,}",
                    f"{row.mean:+.1f}",
                    _interval(row.low, row.high),
                    "" if other is None else f"{other.mean:+.1f}",
                    "" if other is None else _interval(other.low, other.high),
                    f"{hill[row.contender, row.budget]:.1f}",
                ]
            )
    return FittingTable(COLUMNS, rows, "means over runs, with 95% intervals by Student's t")


def _interval(low: float, high: float) -> str:
    return "" if low != low else f"{low:+.1f} to {high:+.1f}"  # noqa: PLR0124 - nan
