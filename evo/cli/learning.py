"""The commands about learned values: learn, features."""

import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from engine.screen import say_error
from evo.cli import completion
from evo.cli.options import Overrides
from evo.shipped import shipped_learning

LearnConfigName = Annotated[
    str,
    typer.Argument(
        metavar="CONFIG",
        help=f"A file of learning, or one of {', '.join(shipped_learning())}; docs/learning.md has its keys.",
        autocompletion=completion.learning,
    ),
]
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
        typer.Option("--workers", min=0, help="Threads; 0 for one on each processor. (default: the file's)"),
    ] = None,
    overrides: Overrides = None,
) -> None:
    """Learn the value of lookahead from games against itself; the same command again continues."""
    from evo.cli.options import Place
    from evo.cli.progress import Counter, output_console
    from evo.cli.sessions import pool_of
    from evo.configfiles import read_config_as
    from evo.learning.config import LearnConfig
    from evo.learning.folder import open_learning
    from evo.learning.report import write_learning
    from evo.learning.run import learn
    from evo.play.pool import InterruptedRunError
    from evo.wording import counted

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

        def tell(content: Mapping[str, Any]) -> None:
            console.print(round_line(content), markup=False, highlight=False)

        players = [chosen.player, *chosen.opponents]
        with pool_of(Place("local", chosen.workers, ""), players, chosen.found_decks, counter) as pool:
            try:
                profile = learn(folder, pool.play, counter.advance, tell)
            except InterruptedRunError as error:
                counter.close()
                name, safe = (
                    signal.Signals(error.signal).name,
                    counted(max(0, len(folder.rounds) - 1), "round"),
                )
                say_error(f"stopped by {name}: {safe} safe in {path}. To continue: the same command again")
                raise
        write_learning(folder, profile)
    for line in (
        f"written: {path}/profile.toml, report.html, curve.csv",
        f"best: round {profile.provenance['round']}. To play it: manaforge play "
        f"lookahead:{path}/profile.toml hearthsim:balanced",
    ):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


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
        parts.append(f"{elo(test['score']):+.0f} Elo ({low:+.0f} to {high:+.0f}) on {test['opponent']}")
    return ", ".join(parts)
