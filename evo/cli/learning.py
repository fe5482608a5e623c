"""The commands about learned values: learn, features."""

import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.screen import say_error
from engine.tables import Column, FittingTable
from evo.cli import completion
from evo.cli.options import MOST_WORKERS, AllowAgent, Overrides
from evo.shipped import shipped_learning

if TYPE_CHECKING:
    import numpy as np

    from evo.cli.options import Place
    from evo.cli.progress import Counter
    from evo.learning.features import Comparison, Trial
    from evo.learning.folder import LearningFolder
    from evo.play.games import Roster, Schedule
    from ilp_agent import Profile
    from ilp_agent.lookahead.weights import LookaheadWeights

LearnConfigName = Annotated[
    str,
    typer.Argument(
        metavar="CONFIG",
        help=f"A file of learning, or one of {', '.join(shipped_learning())}; docs/learning.md has its keys.",
        autocompletion=completion.learning,
    ),
]
FEATURES_SPRT = "elo0=-15 elo1=0"

LearnOut = Annotated[
    Path | None,
    typer.Option(
        "--out", help="Its folder; one that holds this learning is continued. (default: runs/<config>-<hash>)"
    ),
]


def learn_command(
    config: LearnConfigName,
    out: LearnOut = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=0,
            max=MOST_WORKERS,
            help="Threads; 0: one a processor. (default: the file's)",
        ),
    ] = None,
    overrides: Overrides = None,
    _agents: AllowAgent = None,
) -> None:
    """Learn the value of lookahead from games against itself; the same command again continues."""
    from evo.cli.consoles import output_console, print_problems
    from evo.cli.progress import Counter
    from evo.configfiles import read_config_as
    from evo.learning.config import LearnConfig
    from evo.learning.folder import open_learning
    from evo.learning.report import write_learning

    sets = [*(overrides or ()), *([f"workers={workers}"] if workers is not None else [])]
    chosen = read_config_as(LearnConfig, f"{config}", sets)
    path = out or Path("runs") / f"{Path(config).stem}-{chosen.digest[:8]}"
    console = output_console()
    with open_learning(path, chosen) as folder:
        left = max(0, chosen.rounds + 1 - max(1, len(folder.rounds)))
        counter = Counter(console, left * chosen.games)
        known = f", {len(folder.rounds) - 1} of them learned before" if len(folder.rounds) > 1 else ""
        console.print(
            f"learning {path}: {chosen.method}, {chosen.rounds} rounds of {chosen.games:,} games{known}",
            markup=False,
            highlight=False,
        )
        print_problems(console, folder.problems)
        profile = _learned(folder, counter)
        write_learning(folder, profile)
    for line in (
        f"written: {path}/profile.toml, report.html, curve.csv",
        f"best: round {profile.provenance['round']}. To play it: manaforge play "
        f"lookahead:{path}/profile.toml hearthsim:balanced",
    ):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _learned(folder: "LearningFolder", counter: "Counter") -> "Profile[LookaheadWeights]":
    """Play the rounds that are missing, with their lines and progress; the value that scored best."""
    from evo.cli.options import Place
    from evo.cli.sessions import pool_of
    from evo.learning.run import learn
    from evo.play.pool import InterruptedRunError
    from evo.wording import counted

    chosen, players = folder.config, [folder.config.player, *folder.config.opponents]
    with pool_of(Place("local", chosen.workers, ""), players, chosen.found_decks, counter) as pool:

        def play(roster: "Roster", games: "Schedule") -> "np.ndarray":
            return pool.play(roster, games, lambda _: counter.raise_if_stopped())

        def tell(content: Mapping[str, Any]) -> None:
            counter.console.print(round_line(content), markup=False, highlight=False)

        try:
            return learn(folder, play, counter.advance, tell)
        except InterruptedRunError as error:
            counter.close()
            name, done = signal.Signals(error.signal).name, max(0, len(folder.rounds) - 1)
            safe = f"{counted(done, 'round')} {'is' if done == 1 else 'are'} safe in {folder.path}"
            say_error(f"stopped by {name}: {safe}. To continue: the same command again")
            raise
    raise AssertionError("a pool that is stopped ends the process")


def round_line(content: Mapping[str, Any]) -> str:
    """A round in one line: samples, loss on them before they were learned from, Elo against each opponent."""
    from evo.stats.ratings import elo

    parts = [f"round {content['round']}"]
    if content["round"]:
        parts.append(f"{content['samples']:,} samples")
        if content["loss"] is not None:
            parts.append(f"log loss {content['loss']:.4f}")
    for test in content["tests"]:
        low, high = elo(test["low"]), elo(test["high"])
        parts.append(f"{elo(test['score']):+.0f} Elo ({low:+.0f} to {high:+.0f}) against {test['opponent']}")
    return ", ".join(parts)


FEATURE_COLUMNS = (
    Column("features", 3, right=True),
    Column("left out"),
    Column("Elo", right=True),
    Column("95% interval", 2, right=True),
    Column("games", 4, right=True),
    Column("verdict", 1),
    Column("log loss", 5, right=True),
)


def features_command(
    folder: Annotated[Path, typer.Argument(help="The folder of manaforge learn.", show_default=False)],
    games: Annotated[
        int, typer.Option(min=2, max=10**8, help="Games of a set against the value with all, at most.")
    ] = 4_000,
    sprt: Annotated[
        str, typer.Option(metavar="KEY=VALUE...", help="The test: elo0 is worse, elo1 no worse.")
    ] = FEATURES_SPRT,
    alone: Annotated[
        bool, typer.Option("--alone/--no-alone", help="Also leave out each feature alone.")
    ] = True,
    workers: Annotated[int, typer.Option(min=0, max=MOST_WORKERS, help="Threads; 0: one a processor.")] = 0,
) -> None:
    """Find the features that a learned value needs: leave out one after the other, and each alone."""
    import shlex

    from evo.cli.consoles import output_console
    from evo.cli.options import Place
    from evo.learning.features import Trial, smallest, table_of
    from evo.learning.folder import read_learning
    from evo.learning.report import features_figure, features_page
    from evo.stats.sequential import parse_sprt

    found, test = read_learning(folder), parse_sprt(f"{FEATURES_SPRT} {sprt}")
    trial = Trial(found, games, test)
    command = ["manaforge", "features", str(folder), "--games", str(games), "--sprt", sprt]
    command += [] if alone else ["--no-alone"]
    with found:
        found.take("features.csv")
        tables = _compared(trial, found, Place("local", workers, ""), alone)
        backward, singly = (table_of(tables[name]) for name in ("features", "features-alone"))
        text = _enough(smallest(tables["features"]), trial.known, trial.most)
        found.write("features.html", features_page(found, singly, backward, text, shlex.join(command)))
        found.write("features.png", features_figure(backward))
    console = output_console()
    console.print(_table(tables["features"]))
    console.print(text, markup=False, highlight=False)
    files = ", ".join(["features.html", "features.png", *(f"{name}.csv" for name in tables if tables[name])])
    console.print(f"written: {folder}/{files}", markup=False)


def _compared(
    trial: "Trial", folder: "LearningFolder", place: "Place", alone: bool
) -> "dict[str, list[Comparison]]":
    """Play all sets of features, with a line and a row of a table for each; by the name of the table."""
    from evo.cli.consoles import output_console
    from evo.cli.progress import Counter
    from evo.cli.sessions import pool_of
    from evo.learning.features import leave_one_out, search_backward, table_of
    from evo.play.pool import InterruptedRunError
    from evo.storage.files import csv_bytes
    from evo.wording import counted

    counter, config = Counter(output_console(), 0), trial.config
    tables: dict[str, list[Comparison]] = {"features-alone": [], "features": []}
    walks = {"features-alone": leave_one_out} if alone else {}
    with pool_of(place, [config.player], config.found_decks, counter) as pool:
        try:
            for name, walk in {**walks, "features": search_backward}.items():
                for tested in walk(trial, lambda roster, some: pool.play(roster, some, counter.advance)):
                    tables[name].append(tested)
                    folder.write(f"{name}.csv", csv_bytes(table_of(tables[name])))
                    line = f"{counted(tested.features, 'feature')}, without {tested.left_out[-1]}"
                    counter.console.print(
                        f"{line}: {_elo_of(tested)}, {tested.games:,} games", markup=False, highlight=False
                    )
        except InterruptedRunError as error:
            counter.close()
            name = signal.Signals(error.signal).name
            said = (
                f"what was found so far is in the csv files of {folder.path}; the command again begins anew"
            )
            say_error(f"stopped by {name}: {said}")
            raise
    return tables


def _enough(least: "Comparison | None", known: list[str], games: int) -> str:
    """What a backward search came to, in a sentence."""
    if least is None:
        return f"With {games:,} games at most, no set of fewer features is shown to be no worse."
    names = [name for name in known if name not in least.left_out]
    return f"{least.features} of {len(known)} features are enough: {', '.join(names)}."


def _table(backward: "Sequence[Comparison]") -> FittingTable:
    """A backward search, one row a set."""
    rows = []
    for one in backward:
        rating, interval = _elo_of(one).split(" ", 1)
        numbers = [f"{one.games:,}", one.verdict or "undecided", f"{one.loss:.4f}"]
        rows.append([str(one.features), one.left_out[-1], rating, interval.strip("()"), *numbers])
    return FittingTable(FEATURE_COLUMNS, rows, "left out one after the other, against all features")


def _elo_of(tested: "Comparison") -> str:
    """Elo of a set with its interval: "-3 (-9 to +4)"."""
    from evo.stats.ratings import elo

    return f"{elo(tested.score):+.0f} ({elo(tested.low):+.0f} to {elo(tested.high):+.0f})"
