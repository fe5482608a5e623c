"""Commands that run experiments: ablate, exploit, bench-optimisers."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evo.cli import options
from evo.cli.options import (
    DECKS_HELP,
    OUT_HELP,
    Address,
    AllowAgent,
    AnyDeck,
    AsBodies,
    ConfigName,
    DealSeed,
    DeckEdition,
    Overrides,
    Patches,
    PoolName,
    RulesetName,
    RunAddress,
    RunPool,
    RunWorkers,
    Workers,
    decks_with_options,
)
from evo.play.notation import NOTATION
from evo.terminal.console import Column, FittingTable

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from rich.console import Console

    from engine import Deck
    from evo.config.run_config import RunConfig
    from evo.experiments.folder import ExperimentFolder
    from evo.experiments.optimisers import Contender, OptimiserBench
    from evo.play.games import Player, Roster, Schedule
    from evo.play.pools import PoolSettings
    from evo.sessions.progress import GameCounter
    from ilp_agent import WeightVector


AblateOut = Annotated[
    Path | None,
    typer.Option("--out", help="Output folder. (default: runs/ablate-<hash>)", show_default=False),
]
Decks = Annotated[str, typer.Option("--decks", help=DECKS_HELP, autocompletion=options.complete_decks)]

ABLATION_COLUMNS = (
    Column("weight"),
    Column("share", 3, right=True),
    Column("score against", 2, right=True),
    Column("worth, Elo", right=True),
    Column("95% interval", 1, right=True),
)
PAIR_COLUMNS = (
    Column("weights"),
    Column("worth, Elo", 2, right=True),
    Column("interaction", right=True),
    Column("95% interval", 1, right=True),
)
MOST_PAIRS = 10
"""Pairs that the terminal shows; the page shows all."""


def ablate_command(
    entrant: str = typer.Argument(
        help=f"Entrant with a profile, whose weights are left out: {NOTATION}.",
        autocompletion=options.complete_entrants,
    ),
    decks: Decks = "thesis-paladin,thesis-warrior,hearthsim-basic",
    games: int = typer.Option(
        800,
        min=2,
        max=10**6,
        help="Games against each copy without a weight, per ordered pair of decks; even.",
    ),
    pairs: bool = typer.Option(False, "--pairs", help="Also leave out pairs of weights."),
    ruleset: RulesetName = "",
    seed: DealSeed = 1,
    edition: DeckEdition = "",
    bodies: AsBodies = False,
    any_deck: AnyDeck = False,
    patch: Patches = None,
    out: AblateOut = None,
    workers: Workers = 0,
    pool: PoolName = "auto",
    address: Address = "",
) -> None:
    """Measure the worth of each weight of a profile: play it against copies without that weight."""
    from engine import find_deck, find_ruleset
    from engine.decks import default_ruleset
    from evo.config.files import split_names
    from evo.experiments.ablation import Ablation, ablation_figure, ablation_page, run_ablation
    from evo.experiments.folder import ExperimentOptionError
    from evo.play.entrants import find_entrant
    from evo.play.pools import pool_settings
    from evo.sessions.experiments import ExperimentGames, open_experiment_games
    from evo.sessions.progress import output_console
    from evo.storage.files import csv_bytes
    from rivals import refuse_decks

    place = pool_settings(pool, workers, address)
    if games % 2:
        raise ExperimentOptionError(f"--games must be even, since games come in pairs; got {games}")
    names = decks_with_options(split_names(decks), edition, bodies, any_deck, patch)
    found = tuple(find_deck(name) for name in names)
    player = find_entrant(entrant).player
    refuse_decks([player.kind_and_backend], found)
    ruleset = ruleset or default_ruleset(found)
    ablation = Ablation(player, found, find_ruleset(ruleset), games, pairs, seed)
    definition = {
        "entrant": player.identity(found),
        "decks": [deck.identity for deck in found],
        "ruleset": ruleset,
        "games": games,
        "pairs": pairs,
        "seed": seed,
    }
    games_of = ExperimentGames("ablate", definition, out, [player], found, ablation.total)
    with open_experiment_games(games_of, place, output_console()) as experiment:
        single, together = run_ablation(ablation, experiment.cached_play)
        command = ["manaforge", "ablate", entrant, "--decks", ",".join(names), "--games", str(games)]
        command += [*(["--pairs"] if pairs else []), "--ruleset", ruleset, "--seed", str(seed)]
        page = ablation_page(entrant, ablation, single, together, shlex.join(command))
        experiment.write("ablation.html", page)
        experiment.write("weights.png", ablation_figure(single))
        experiment.write("weights.csv", csv_bytes(single))
        if pairs:
            experiment.write("pairs.csv", csv_bytes(together))
    experiment.print(_ablation_table(single))
    if pairs:
        experiment.print(_pairs_table(together))
    experiment.print_written()


def _ablation_table(single: "pd.DataFrame") -> FittingTable:
    rows = [
        [
            row.weight,
            f"{row.share:.1%}",
            f"{row.score:.1%}",
            f"{row.elo:+.1f}",
            f"{row.low:+.1f} to {row.high:+.1f}",
        ]
        for row in single.itertuples()
    ]
    return FittingTable(ABLATION_COLUMNS, rows, "worth of each weight: Elo lost without it")


def _pairs_table(pairs: "pd.DataFrame") -> FittingTable:
    rows = [
        [
            f"{row.weight} and {row.other}",
            f"{row.elo:+.1f}",
            f"{row.interaction:+.1f}",
            f"{row.interaction_low:+.1f} to {row.interaction_high:+.1f}",
        ]
        for row in pairs.head(MOST_PAIRS).itertuples()
    ]
    return FittingTable(PAIR_COLUMNS, rows, "pairs worth most more, or less, than their two weights alone")


RESPONSE_DECKS = "thesis-paladin,thesis-warrior,hearthsim-basic"
RESPONSE_TEST_DECKS = "random-minions,random-minions-5x4,hearthsim-rager"

ExploitOut = Annotated[
    Path | None, typer.Option("--out", help=OUT_HELP.format("exploit"), show_default=False)
]
TestDecks = Annotated[
    str,
    typer.Option(
        "--test-decks", help="Further decks to score the response on.", autocompletion=options.complete_decks
    ),
]


EXPLOIT_COLUMNS = (
    Column("decks", folds=True),
    Column("games", 1, right=True),
    Column("score", right=True),
    Column("95% interval", 2, right=True),
    Column("Elo", right=True),
    Column("95% interval", 3, right=True),
)
WEIGHT_COLUMNS = (
    Column("weight"),
    Column("best response's share", right=True),
    Column("entrant's share", 1, right=True),
)


def exploit_command(
    entrant: str = typer.Argument(
        help=f"Entrant to exploit by a best response: {NOTATION}.", autocompletion=options.complete_entrants
    ),
    budget: int = typer.Option(
        100_000,
        "--budget",
        min=1_000,
        max=10**9,
        help="Games to evolve the response, with the final of its run.",
    ),
    decks: Decks = RESPONSE_DECKS,
    test_decks: TestDecks = RESPONSE_TEST_DECKS,
    games: int = typer.Option(4_000, min=2, max=10**8, help="Games per score, approximately."),
    watched: int = typer.Option(
        60, min=1, max=10**5, help="Deals replayed in Python to describe how the response wins."
    ),
    out: ExploitOut = None,
    overrides: Overrides = None,
    patch: Patches = None,
    workers: RunWorkers = None,
    pool: RunPool = None,
    address: RunAddress = None,
    _agents: AllowAgent = None,
) -> None:
    """Evolve a best response to an entrant: bounds its exploitability from below, and shows how it loses."""
    from engine import find_deck
    from evo.config.files import split_names
    from evo.experiments.exploit import (
        count_actions,
        exploit_page,
        exploitability_verdict,
        response_config,
        weights_table,
    )
    from evo.experiments.folder import open_experiment
    from evo.play.entrants import find_entrant, profile_of_entrant
    from evo.play.pools import with_pool_settings
    from evo.sessions.progress import output_console, print_problems
    from evo.storage.files import csv_bytes, json_digest
    from rivals import refuse_decks

    victim, given = find_entrant(entrant).player, list(overrides or ())
    n_own = len(split_names(decks))
    names = decks_with_options((*split_names(decks), *split_names(test_decks)), patches=patch)
    others = tuple(map(find_deck, names))[n_own:]
    config = response_config(entrant, budget, ",".join(names[:n_own]), given)
    chosen = with_pool_settings(config, workers, pool, address)
    refuse_decks([victim.kind_and_backend, (chosen.agent, chosen.backend)], others)
    definition = {
        "entrant": victim.identity((*chosen.found_decks, *others)),
        "config": config.digest,
        "generations": config.generations,
        "decks": [deck.identity for deck in others],
        "games": games,
        "watched": watched,
    }
    path = out or Path("runs") / f"exploit-{json_digest(definition)[:8]}"
    console = output_console()
    with open_experiment(path, "exploit", definition) as folder:
        print_problems(console, folder.problems)
        response, scores = _evolve_and_score(folder, chosen, victim, others, games, console)
        seen = count_actions(response, victim, others, chosen.seed, watched, chosen.ruleset)
        bred = profile_of_entrant(_champion_text(chosen, path / "run")).weights
        weights = weights_table(bred, _weights_of_player(victim), chosen.inert_weights)
        command = ["manaforge", "exploit", entrant, "--budget", str(budget)]
        command += ["--decks", ",".join(names[:n_own])]
        command += ["--test-decks", ",".join(names[n_own:]), "--games", str(games), "--watched", str(watched)]
        command += [part for value in given for part in ("--set", value)]
        page = exploit_page(entrant, chosen, scores, weights, seen, shlex.join(command))
        folder.write("scores.csv", csv_bytes(scores))
        folder.write("weights.csv", csv_bytes(weights))
        folder.write("exploit.html", page)
    console.print(_scores_table(scores))
    console.print(_weights_table(weights))
    console.print(exploitability_verdict(scores, entrant), markup=False, highlight=False)
    written = f"written: {path}/exploit.html, scores.csv, weights.csv"
    console.print(
        f"{written}; play it as {_champion_text(chosen, path / 'run')}", markup=False, soft_wrap=True
    )


def _evolve_and_score(
    folder: "ExperimentFolder",
    config: "RunConfig",
    victim: "Player",
    others: "tuple[Deck, ...]",
    games: int,
    console: "Console",
) -> "tuple[Player, pd.DataFrame]":
    """Evolve the best response, or continue; score it on new deals and on the test decks."""
    import pandas as pd

    from engine import find_ruleset
    from evo.evolution.session import open_or_create
    from evo.experiments.exploit import score_against
    from evo.play.entrants import find_entrant
    from evo.play.pools import PoolSettings
    from evo.sessions.experiments import CONTINUE
    from evo.sessions.progress import GameCounter, RunDisplay
    from evo.sessions.session import evolve_to_end, open_run_pool, open_session_pool

    place, display = folder.path / "run", RunDisplay(console)
    with open_run_pool(config, display) as pool, open_or_create(place, config) as run:
        evolve_to_end(run, pool, display, config.address, again=CONTINUE)
    response = replace(find_entrant(_champion_text(config, place)).player, backend=config.backend)
    ruleset, counter, parts = find_ruleset(config.ruleset), GameCounter(console, 2 * games), []
    where = PoolSettings(config.pool, config.workers, config.address)
    with open_session_pool(
        where, [response, victim], [*config.found_decks, *others], counter, CONTINUE
    ) as pool:
        play = folder.caching_play(pool, counter.advance)
        for found in (config.found_decks, others):
            row = score_against(response, victim, found, ruleset, games, config.seed, play)
            parts.append(row.assign(decks=", ".join(deck.name for deck in found)))
    columns = ["decks", "games", "score", "low", "high", "elo", "elo_low", "elo_high"]
    return response, pd.concat(parts, ignore_index=True)[columns]


def _champion_text(config: "RunConfig", place: Path) -> str:
    """Entrant text of a run's champion, with the options under which the champion evolved."""
    from evo.play.notation import entrant_text

    return entrant_text(config.agent, place, config.options)


def _weights_of_player(player: "Player") -> "WeightVector | None":
    """Weights of a player; None for an agent without weights."""
    from rivals import find_kind

    kind = find_kind(player.kind).weights
    return None if kind is None else kind.from_array(player.weights)


def _scores_table(scores: "pd.DataFrame") -> FittingTable:
    rows = [
        [
            row.decks,
            f"{row.games:,}",
            f"{row.score:.1%}",
            f"{row.low:.1%} to {row.high:.1%}",
            f"{row.elo:+.0f}",
            f"{row.elo_low:+.0f} to {row.elo_high:+.0f}",
        ]
        for row in scores.itertuples()
    ]
    return FittingTable(EXPLOIT_COLUMNS, rows, "best response against the entrant, on new deals")


def _weights_table(weights: "pd.DataFrame") -> FittingTable:
    columns = [name for name in ("best response's share", "entrant's share") if name in weights]
    rows = [
        [str(name), *(f"{value:.1%}" for value in values)]
        for name, *values in weights[["weight", *columns]].itertuples(index=False)
    ]
    return FittingTable(WEIGHT_COLUMNS[: 1 + len(columns)], rows)


DEFAULT_OPTIMISERS = ("es", "eva", "cma", "spsa")

Budgets = Annotated[
    list[int],
    typer.Option("--budget", min=1, max=10**9, help="Games per run; may repeat.", show_default=False),
]
Optimisers = Annotated[
    list[str],
    typer.Option(
        "--optimiser",
        metavar="NAME[@KEY=VALUE,...]",
        help="A strategy, with configuration keys that differ, such as es@deals=own or nevergrad:TBPSA; may "
        "repeat. The others are compared with the first.",
    ),
]
Against = Annotated[
    list[str],
    typer.Option(
        "--against",
        help="Opponent in the rating games; may repeat. (default: the shipped champion of these weights)",
        show_default=False,
        autocompletion=options.complete_entrants,
    ),
]
BenchOut = Annotated[
    Path | None, typer.Option("--out", help=OUT_HELP.format("optimisers"), show_default=False)
]

RUNS_STOP_MESSAGE = "finished runs are kept; repeat the command to continue"
"""Message after a signal has stopped the games."""

OPTIMISER_COLUMNS = (
    Column("optimiser", folds=True),
    Column("games of a run", right=True),
    Column("Elo", right=True),
    Column("95% interval", 1, right=True),
    Column("against the first", 2, right=True),
    Column("95% interval", 3, right=True),
    Column("quadratic", 4, right=True),
)
"""Headings of the table; "quadratic" is the loss on the noisy quadratic, in Elo below its optimum."""


def bench_optimisers_command(
    config: ConfigName,
    budgets: Budgets,
    seeds: int = typer.Option(10, min=1, max=1_000, help="Runs per optimiser and budget."),
    optimisers: Optimisers = list(DEFAULT_OPTIMISERS),  # noqa: B006 - typer's way
    against: Against = [],  # noqa: B006
    games: int = typer.Option(
        400,
        min=2,
        max=10**6,
        help="Rating games per run, opponent and ordered pair of decks; even.",
    ),
    out: BenchOut = None,
    overrides: Overrides = None,
    workers: RunWorkers = None,
    pool: RunPool = None,
    address: RunAddress = None,
    _agents: AllowAgent = None,
) -> None:
    """Compare evolution strategies at equal budgets of games: Elo by games played, and a noisy quadratic."""
    from evo.config.files import read_config
    from evo.experiments.folder import ExperimentOptionError, open_experiment
    from evo.experiments.optimisers import (
        OptimiserBench,
        count_rating_games,
        count_remaining_games,
        missing_runs,
        optimisers_figure,
        optimisers_page,
        simulate_bench,
    )
    from evo.play.pools import PoolSettings, with_pool_settings
    from evo.sessions.progress import GameCounter, output_console, print_problems
    from evo.storage.files import csv_bytes, json_digest

    if games % 2:
        raise ExperimentOptionError(f"--games must be even, since games come in pairs; got {games}")
    given = overrides or ()
    chosen = with_pool_settings(
        read_config(config, [*given, "strategy=es"], begins=True), workers, pool, address
    )
    contenders = _contenders(optimisers, config, given)
    rating = _rating_opponents(against, chosen)
    bench = OptimiserBench(contenders, tuple(sorted(set(budgets))), seeds, rating, games)
    definition = {
        "optimisers": [[one.text, one.config.digest] for one in contenders],
        "budgets": bench.budgets,
        "seeds": seeds,
        "against": [
            [text, *player.versioned_kind(chosen.found_decks), player.row, *player.beside_row]
            for text, player in rating.items()
        ],
        **_fixed_opponents(contenders),
        "games": games,
    }
    to_rate = count_rating_games(bench)  # rejects budgets before the folder is made
    path = out or Path("runs") / f"optimisers-{json_digest(definition)[:8]}"
    console = output_console()
    with open_experiment(path, "bench-optimisers", definition) as folder:
        print_problems(console, folder.problems)
        counter = GameCounter(console, count_remaining_games(missing_runs(bench, folder)) + to_rate)
        console.print(f"{path}: {counter.total:,} games to play", markup=False, highlight=False)
        points = _play_and_rate(
            bench, folder, PoolSettings(chosen.pool, chosen.workers, chosen.address), counter
        )
        console.print("simulating the same runs on noisy quadratics", highlight=False)
        quadratic_losses = simulate_bench(bench)
        command = ["manaforge", "bench-optimisers", config, "--seeds", str(seeds), "--games", str(games)]
        command += _repeated("--budget", bench.budgets)
        command += _repeated("--optimiser", [one.text for one in contenders])
        command += _repeated("--against", dict.fromkeys(against)) + _repeated("--set", given)
        label = f"Elo against {', '.join(rating)}"
        folder.write("points.csv", csv_bytes(points))
        folder.write("quadratic.csv", csv_bytes(quadratic_losses))
        folder.write("optimisers.png", optimisers_figure(points, label))
        folder.write("optimisers.html", optimisers_page(bench, points, quadratic_losses, shlex.join(command)))
    console.print(_optimiser_table(points, quadratic_losses))
    files = "optimisers.html, optimisers.png, points.csv, quadratic.csv"
    console.print(f"written: {path}/{files}", markup=False)


def _repeated(option: str, values: Iterable[object]) -> list[str]:
    """Command-line words of a repeated option, once per value."""
    return [part for value in values for part in (option, str(value))]


def _contenders(texts: Sequence[str], config: str, given: Sequence[str]) -> "tuple[Contender, ...]":
    """Parse the strategies that the benchmark compares.

    Raises:
        ConfigError, UnknownNameError: a text names no strategy, or two texts mean the same.
    """
    from evo.evolution.records import new_strategy
    from evo.experiments.folder import ExperimentOptionError
    from evo.experiments.optimisers import find_contender

    found = tuple(find_contender(text, config, given) for text in dict.fromkeys(texts))
    for one in found:
        new_strategy(one.config)  # fails if an optional package is missing
    for one, other in combinations(found, 2):
        if one.config.digest == other.config.digest:
            raise ExperimentOptionError(
                f"--optimiser: {one.text} and {other.text} are the same configuration; leave out one"
            )
    return found


def _fixed_opponents(contenders: "Sequence[Contender]") -> dict[str, Any]:
    """Fixed opponents of the contenders as players, not names, since the meaning of a name may change."""
    from evo.evolution.fitness import find_opponents

    found: dict[str, Any] = {}
    for one in contenders:
        for text, opponent in find_opponents(one.config).items():
            found[text] = [*opponent.kind_and_backend, opponent.row, *opponent.beside_row]
    return {"opponents": found} if found else {}


def _rating_opponents(against: Sequence[str], config: "RunConfig") -> "dict[str, Player]":
    """Opponents in the rating games, by entrant text; the shipped champion if none is named.

    Raises:
        EntrantError, UnknownNameError, ProfileError, OptionError: a text names no entrant.
        DeckError: an opponent does not support card effects, and decks have a class.
        ExperimentOptionError: no opponent is named, and no champion of these weights is shipped.
    """
    from evo.experiments.folder import ExperimentOptionError
    from evo.play.entrants import find_entrant
    from ilp_agent.shipped import configs_folder
    from rivals import DEFAULT_AGENT, refuse_decks

    texts = list(dict.fromkeys(against))
    if not texts and config.vector.AGENT != DEFAULT_AGENT:
        raise ExperimentOptionError(
            f"--against is missing: name an opponent for the rating games, since no champion of "
            f"{config.agent} is shipped"
        )
    champion = "study" if config.weights == "thesis" else "extended"
    file = configs_folder() / "champions" / f"{champion}.toml"
    places = {text: text for text in texts} or {f"{champion} champion": f"{DEFAULT_AGENT}:{file}"}
    found = {text: find_entrant(place).player for text, place in places.items()}
    refuse_decks([player.kind_and_backend for player in found.values()], config.found_decks)
    return found


def _play_and_rate(
    bench: "OptimiserBench", folder: "ExperimentFolder", place: "PoolSettings", counter: "GameCounter"
) -> "pd.DataFrame":
    """Play the benchmark's missing runs, and rate all runs at all budgets."""
    from evo.evolution.fitness import find_opponents
    from evo.experiments.optimisers import play_missing, points_table, rate_points
    from evo.play.games import Player
    from evo.sessions.session import open_session_pool

    config = bench.contenders[0].config
    players = [Player((1.0,) * len(config.vector.names()), config.backend, config.agent)]
    players += [*bench.against.values()]
    players += [player for one in bench.contenders for player in find_opponents(one.config).values()]
    with open_session_pool(place, players, config.found_decks, counter, RUNS_STOP_MESSAGE) as pool:

        def play(roster: "Roster", games: "Schedule") -> "np.ndarray":
            return pool.play(roster, games, counter.advance)

        play_missing(bench, folder, play, pool.workers)
        return rate_points(bench, points_table(bench, folder), folder.caching_play(pool, counter.advance))
    raise AssertionError("a stopped pool ends the process")


def _optimiser_table(points: "pd.DataFrame", quadratic_losses: "pd.DataFrame") -> FittingTable:
    """Table with one row per optimiser and budget."""
    from evo.experiments.optimisers import learning_curves, paired_differences

    less = {(row.contender, row.budget): row for row in paired_differences(points).itertuples()}
    hill = {
        (row.contender, row.budget): row.mean
        for row in learning_curves(quadratic_losses, "loss").itertuples()
    }
    rows = []
    for row in learning_curves(points).itertuples():
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
    return FittingTable(OPTIMISER_COLUMNS, rows, "means over runs, with 95% intervals by Student's t")


def _interval(low: float, high: float) -> str:
    return "" if low != low else f"{low:+.1f} to {high:+.1f}"  # noqa: PLR0124 - nan
