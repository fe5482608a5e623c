"""Commands that learn from games: learn, features, mulligan, predict."""

import json
import shlex
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.shipped import BALANCED_RULESET
from engine.terminal import print_error
from evo.cli import options
from evo.cli.options import (
    DECKS_HELP,
    MOST_WORKERS,
    Address,
    AllowAgent,
    AnyDeck,
    AsBodies,
    AsJson,
    DealSeed,
    DeckEdition,
    LibraryFolder,
    Overrides,
    Patches,
    PoolName,
    Workers,
    decks_with_options,
    set_patches,
)
from evo.play.notation import NOTATION
from evo.terminal.console import Column, FittingTable
from ilp_agent.shipped import shipped_learning

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from rich.console import Console

    from engine import Deck
    from evo.analysis.prediction import DeckLibrary
    from evo.experiments.folder import ExperimentFolder
    from evo.learning.features import FeatureSelection, SubsetResult
    from evo.learning.folder import LearningFolder
    from evo.learning.mulligan import CardRow, MulliganLearning
    from evo.play.games import Roster, Schedule
    from evo.play.pools import PoolSettings
    from evo.sessions.progress import GameCounter
    from ilp_agent import Profile
    from ilp_agent.lookahead.weights import LookaheadWeights
    from ilp_agent.mulligan import SeatValues


LearnConfigName = Annotated[
    str,
    typer.Argument(
        metavar="CONFIG",
        help=f"A learning configuration file, or one of {', '.join(shipped_learning())} (docs/learning.md).",
        autocompletion=options.complete_learning_configs,
    ),
]
FEATURES_SPRT = "elo0=-15 elo1=0"

LearnOut = Annotated[
    Path | None,
    typer.Option(
        "--out", help="Output folder; repeating the command continues it. (default: runs/<config>-<hash>)"
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
            help="Threads; 0: one per processor. (default: the configuration's)",
        ),
    ] = None,
    overrides: Overrides = None,
    patch: Patches = None,
    _agents: AllowAgent = None,
) -> None:
    """Learn the value function of lookahead by self-play; the same command continues a stopped one."""
    from evo.config.files import read_config_as
    from evo.learning.config import LearnConfig
    from evo.learning.folder import open_learning
    from evo.learning.report import write_learning
    from evo.sessions.progress import GameCounter, output_console, print_problems

    sets = [*set_patches(overrides, patch), *([f"workers={workers}"] if workers is not None else [])]
    chosen = read_config_as(LearnConfig, f"{config}", sets)
    path = out or Path("runs") / f"{Path(config).stem}-{chosen.digest[:8]}"
    console = output_console()
    with open_learning(path, chosen) as folder:
        left = max(0, chosen.rounds + 1 - max(1, len(folder.rounds)))
        counter = GameCounter(console, left * chosen.games)
        known = f", {len(folder.rounds) - 1} of them already learned" if len(folder.rounds) > 1 else ""
        console.print(
            f"learning {path}: {chosen.method}, {chosen.rounds} rounds of {chosen.games:,} games{known}",
            markup=False,
            highlight=False,
        )
        print_problems(console, folder.problems)
        profile = _learn_rounds(folder, counter)
        write_learning(folder, profile)
    for line in (
        f"written: {path}/profile.toml, report.html, curve.csv",
        f"best: round {profile.provenance['round']}. To play it: manaforge play "
        f"lookahead:{path}/profile.toml hearthsim:balanced",
    ):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _learn_rounds(folder: "LearningFolder", counter: "GameCounter") -> "Profile[LookaheadWeights]":
    """Play the missing learning rounds with progress lines, and return the profile that scored best."""
    from evo.config.messages import counted
    from evo.learning.run import learn
    from evo.play.pool import InterruptedRunError
    from evo.play.pools import PoolSettings
    from evo.sessions.session import open_session_pool

    chosen, players = folder.config, [folder.config.player, *folder.config.opponents]
    with open_session_pool(
        PoolSettings("local", chosen.workers, ""), players, chosen.found_decks, counter
    ) as pool:

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
            print_error(f"stopped by {name}: {safe}. To continue: repeat the command")
            raise
    raise AssertionError("a stopped pool ends the process")


def round_line(content: Mapping[str, Any]) -> str:
    """One line on a round: samples, their log loss before training, Elo against each opponent."""
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
    folder: Annotated[Path, typer.Argument(help="Output folder of manaforge learn.", show_default=False)],
    games: Annotated[
        int,
        typer.Option(
            min=2, max=10**8, help="Most games of a feature set against the value with all features."
        ),
    ] = 4_000,
    sprt: Annotated[
        str,
        typer.Option(
            metavar="KEY=VALUE...", help="Sequential test (SPRT): accepting elo0 means worse, elo1 not worse."
        ),
    ] = FEATURES_SPRT,
    alone: Annotated[
        bool, typer.Option("--alone/--no-alone", help="Also leave out each feature by itself.")
    ] = True,
    workers: Annotated[int, typer.Option(min=0, max=MOST_WORKERS, help="Threads; 0: one per processor.")] = 0,
) -> None:
    """Find the features that a learned value needs: leave out each one, and eliminate backward."""
    import shlex

    from evo.learning.features import FeatureSelection, smallest_no_worse, subsets_table
    from evo.learning.folder import read_learning
    from evo.learning.report import features_figure, features_page
    from evo.play.pools import PoolSettings
    from evo.sessions.progress import output_console
    from evo.stats.sequential import parse_sprt

    found, test = read_learning(folder), parse_sprt(f"{FEATURES_SPRT} {sprt}")
    trial = FeatureSelection(found, games, test)
    command = ["manaforge", "features", str(folder), "--games", str(games), "--sprt", sprt]
    command += [] if alone else ["--no-alone"]
    with found:
        found.take("features.csv")
        tables = _play_feature_sets(trial, found, PoolSettings("local", workers, ""), alone)
        backward, singly = (subsets_table(tables[name]) for name in ("features", "features-alone"))
        text = _features_sentence(smallest_no_worse(tables["features"]), trial.known, trial.most)
        found.write("features.html", features_page(found, singly, backward, text, shlex.join(command)))
        found.write("features.png", features_figure(backward))
    console = output_console()
    console.print(_elimination_table(tables["features"]))
    console.print(text, markup=False, highlight=False)
    files = ", ".join(["features.html", "features.png", *(f"{name}.csv" for name in tables if tables[name])])
    console.print(f"written: {folder}/{files}", markup=False)


def _play_feature_sets(
    trial: "FeatureSelection", folder: "LearningFolder", place: "PoolSettings", alone: bool
) -> "dict[str, list[SubsetResult]]":
    """Play all feature sets, print a line for each, and return the results by name of the method."""
    from evo.config.messages import counted
    from evo.learning.features import backward_elimination, leave_one_out, subsets_table
    from evo.play.pool import InterruptedRunError
    from evo.sessions.progress import GameCounter, output_console
    from evo.sessions.session import open_session_pool
    from evo.storage.files import csv_bytes

    counter, config = GameCounter(output_console(), 0), trial.config
    tables: dict[str, list[SubsetResult]] = {"features-alone": [], "features": []}
    walks = {"features-alone": leave_one_out} if alone else {}
    with open_session_pool(place, [config.player], config.found_decks, counter) as pool:
        try:
            for name, walk in {**walks, "features": backward_elimination}.items():
                for tested in walk(trial, lambda roster, some: pool.play(roster, some, counter.advance)):
                    tables[name].append(tested)
                    folder.write(f"{name}.csv", csv_bytes(subsets_table(tables[name])))
                    line = f"{counted(tested.features, 'feature')}, without {tested.left_out[-1]}"
                    counter.console.print(
                        f"{line}: {_elo_of(tested)}, {tested.games:,} games", markup=False, highlight=False
                    )
        except InterruptedRunError as error:
            counter.close()
            name = signal.Signals(error.signal).name
            said = f"results so far are in the csv files of {folder.path}; repeating the command starts over"
            print_error(f"stopped by {name}: {said}")
            raise
    return tables


def _features_sentence(least: "SubsetResult | None", known: list[str], games: int) -> str:
    """Result of a backward elimination, as a sentence."""
    if least is None:
        return f"No smaller set of features was shown to be no worse within {games:,} games."
    names = [name for name in known if name not in least.left_out]
    return f"{least.features} of {len(known)} features are enough: {', '.join(names)}."


def _elimination_table(backward: "Sequence[SubsetResult]") -> FittingTable:
    """Table of a backward elimination, one row per feature set."""
    rows = []
    for one in backward:
        rating, interval = _elo_of(one).split(" ", 1)
        numbers = [f"{one.games:,}", one.verdict or "undecided", f"{one.loss:.4f}"]
        rows.append([str(one.features), one.left_out[-1], rating, interval.strip("()"), *numbers])
    return FittingTable(FEATURE_COLUMNS, rows, "features left out one after the other, against all features")


def _elo_of(tested: "SubsetResult") -> str:
    """Elo of a feature set with its interval: "-3 (-9 to +4)"."""
    from evo.stats.ratings import elo

    return f"{elo(tested.score):+.0f} ({elo(tested.low):+.0f} to {elo(tested.high):+.0f})"


Learner = Annotated[
    str,
    typer.Argument(
        help=f"Entrant with a profile, whose mulligan is learned: {NOTATION}.",
        autocompletion=options.complete_entrants,
    ),
]
LearnedDecks = Annotated[str, typer.Option("--decks", help=DECKS_HELP, autocompletion=options.complete_decks)]
Opponents = Annotated[
    list[str],
    typer.Option("--against", help="An opponent; may repeat.", autocompletion=options.complete_entrants),
]
ProfileOut = Annotated[
    Path,
    typer.Option(
        "--out", help="Profile file to write, NAME.toml; the games are saved in the folder NAME.mulligan."
    ),
]

STOP_MESSAGE = "no profile was written; repeat the command to continue"
"""Message after a signal has stopped the games."""

KEEP_VALUE_COLUMNS = (
    Column("card"),
    Column("cost", 3, right=True),
    Column("value", right=True),
    Column("95% interval", 2, right=True),
    Column("learned", 0),
    Column("rule", 1),
)
"""Headings of the keep values of a deck in one seat; `KEEP_VALUE_LEGEND` explains them."""

KEEP_VALUE_LEGEND = (
    "value: points a game that keeping the card gains over replacing it; learned: what the new mulligan does "
    "with it; rule: what the ruleset's does"
)


def mulligan_command(
    entrant: Learner,
    decks: LearnedDecks,
    against: Opponents,
    out: ProfileOut,
    games: int = typer.Option(
        20_000, min=1, max=10**7, help="Games per deck, seat and round, approximately: deals are whole."
    ),
    rounds: int = typer.Option(
        2, min=1, max=100, help="Rounds; each plays with the mulligan that the round before learned."
    ),
    ruleset: str = typer.Option(
        BALANCED_RULESET, help="Ruleset, with a mulligan.", autocompletion=options.complete_rulesets
    ),
    seed: DealSeed = 1,
    edition: DeckEdition = "",
    bodies: AsBodies = False,
    any_deck: AnyDeck = False,
    patch: Patches = None,
    workers: Workers = 0,
    pool: PoolName = "auto",
    address: Address = "",
    as_data: bool = typer.Option(False, "--json", help="Print the keep values as JSON for machines."),
) -> None:
    """Learn from games which opening cards to keep in the mulligan, and write a profile with the result."""
    from engine import find_deck, find_ruleset
    from evo.config.files import split_names
    from evo.config.messages import counted
    from evo.experiments.folder import open_experiment
    from evo.learning.mulligan import (
        MulliganLearning,
        card_rows,
        check_output_file,
        learned_profile,
        write_learned,
    )
    from evo.play.entrants import find_entrant, profile_of_entrant
    from evo.play.pools import pool_settings
    from evo.sessions.progress import GameCounter, output_console, print_problems
    from rivals import refuse_decks

    place = pool_settings(pool, workers, address)
    player, profile = find_entrant(entrant).player, profile_of_entrant(entrant)
    opponents = tuple(find_entrant(text).player for text in against)
    found = tuple(
        find_deck(name) for name in decks_with_options(split_names(decks), edition, bodies, any_deck, patch)
    )
    refuse_decks((one.kind_and_backend for one in (player, *opponents)), found)
    lesson = MulliganLearning(player, opponents, found, find_ruleset(ruleset), games, rounds, seed)
    check_output_file(out)
    path, console = out.with_suffix(".mulligan"), output_console(stderr=as_data)
    heading = f"mulligan of {entrant}: {lesson.total:,} games in {counted(rounds, 'round')}, kept in {path}"
    with open_experiment(path, "mulligan", lesson.definition) as folder:
        console.print(heading, markup=False, highlight=False, soft_wrap=True)
        print_problems(console, folder.problems)
        values = _play_lesson(lesson, folder, place, GameCounter(console, lesson.total))
        learned = learned_profile(profile, lesson, values, out.stem, against)
        folder.write("profile.toml", learned.to_toml().encode())
        write_learned(learned, out)
    tables = [(one, card_rows(one, found[number // 2], lesson.ruleset)) for number, one in enumerate(values)]
    if as_data:
        print(json.dumps(_mulligan_json(entrant, lesson, tables), indent=1, allow_nan=False))
        return
    for one, rows in tables:
        console.print(_keep_value_table(one, rows))
    console.print(KEEP_VALUE_LEGEND, markup=False, highlight=False)
    console.print(f"written: {out}", markup=False, highlight=False, soft_wrap=True)
    typed = shlex.quote(f"{player.kind}:{out}")
    how = f"to play it: {typed}, with a ruleset that has a mulligan, such as {ruleset}"
    console.print(how, markup=False, highlight=False, soft_wrap=True)


def _play_lesson(
    lesson: "MulliganLearning", folder: "ExperimentFolder", place: "PoolSettings", counter: "GameCounter"
) -> "tuple[SeatValues, ...]":
    """Play the missing games of a mulligan lesson, and return the keep values of the last round."""
    from evo.learning.mulligan import learn_mulligan
    from evo.sessions.session import open_session_pool

    values: tuple[SeatValues, ...] = ()
    with open_session_pool(
        place, (lesson.player, *lesson.opponents), lesson.decks, counter, STOP_MESSAGE
    ) as players:
        for found in learn_mulligan(lesson, folder.caching_play(players, counter.advance)):
            values = found
    return values


def _keep_value_table(values: "SeatValues", rows: "list[CardRow]") -> FittingTable:
    """Table of the keep values of a deck in one seat."""
    from ilp_agent.mulligan import SEATS

    does = {True: "keep", False: "replace"}
    cells = [
        [
            row.name,
            str(row.cost),
            f"{row.value:+.1%}",
            f"{row.low:+.1%} to {row.high:+.1%}",
            does[row.keep],
            does[row.rule],
        ]
        for row in rows
    ]
    return FittingTable(KEEP_VALUE_COLUMNS, cells, f"{values.deck}, going {SEATS[values.seat]}")


def _mulligan_json(
    entrant: str, lesson: "MulliganLearning", tables: "list[tuple[SeatValues, list[CardRow]]]"
) -> dict[str, Any]:
    """The keep values as JSON values."""
    from ilp_agent.mulligan import SEATS

    return {
        "entrant": entrant,
        "ruleset": lesson.ruleset.name,
        "games": lesson.total,
        "rounds": lesson.rounds,
        "seed": lesson.seed,
        "mulligan": [
            {"deck": one.deck, "seat": SEATS[one.seat], "cards": [row._asdict() for row in rows]}
            for one, rows in tables
        ],
    }


EXCHANGED_CARDS = (0, 3, 6)
"""Numbers of exchanged cards for which accuracy is measured."""

MOST_DECKS_NAMED = 3
"""Most decks that a message names for a card."""

MOST_CARDS = 15
"""Most cards of a table."""

Seen = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CARD", help="Cards seen, by name or id; name a second copy again.", show_default=False
    ),
]

FigureOut = Annotated[Path | None, typer.Option("--out", help="PNG file for the figure of --accuracy.")]


def predict_command(
    cards: Seen = None,
    hero_class: str = typer.Option(
        "", "--class", metavar="CLASS", help="The opponent's class, or bodies for a deck without one."
    ),
    library: LibraryFolder = None,
    accuracy: bool = typer.Option(
        False, "--accuracy", help="Measure how well the library's decks are predicted."
    ),
    orders: int = typer.Option(20, min=1, max=10_000, help="Random orders of each deck, for --accuracy."),
    out: FigureOut = None,
    seed: DealSeed = 1,
    as_data: AsJson = False,
) -> None:
    """Predict an opponent's deck from the cards seen: likeliest decks, and the cards that remain in them."""
    from evo.analysis.prediction import DeckLibrary, card_name, decks_of_class
    from evo.decklibrary import shipped_and_library
    from evo.sessions.progress import output_console

    _check_prediction_options(cards, accuracy, out)
    every = shipped_and_library(library)
    decks = decks_of_class(every, hero_class) if hero_class else every
    console = output_console()
    if accuracy:
        _print_accuracy(decks, orders, seed, out, as_data, console)
        return
    known = DeckLibrary(decks)
    seen = [card_name(text, known) for text in cards or ()]
    if as_data:
        print(json.dumps(_prediction_json(known, seen), indent=1))
    else:
        _print_prediction(known, seen, console)
        elsewhere = [name for name in sorted(set(seen) - set(known.names)) if _decks_with(name, every)]
        for name in elsewhere:
            said = f"in no {hero_class} deck of the library: {name} (it is in {_decks_with(name, every)})"
            console.print(said, markup=False, highlight=False)
        nowhere = sorted(set(seen) - set(known.names) - set(elsewhere))
        if nowhere:
            console.print(f"in no deck of the library: {', '.join(nowhere)}", markup=False, highlight=False)


def _decks_with(card: str, decks: "tuple[Deck, ...]") -> str:
    """Names of the first few decks that hold a card; "" if none does."""
    found = [deck.name for deck in decks if any(card == one.name for one in deck.cards)]
    return ", ".join(found[:MOST_DECKS_NAMED]) + (", ..." if len(found) > MOST_DECKS_NAMED else "")


def _check_prediction_options(cards: list[str] | None, accuracy: bool, out: Path | None) -> None:
    """Refuse options of `predict` that do not fit together."""
    from engine import ManaforgeError
    from engine.codes import DECK_SIZE
    from evo.analysis.prediction import PredictionError
    from evo.storage.files import temporary_path, write_error_text

    if accuracy and cards:
        raise PredictionError("--accuracy measures all decks of the library; remove the cards")
    if out is not None and not accuracy:
        raise PredictionError("--out is the figure of --accuracy; add --accuracy, or remove --out")
    why = write_error_text(out, temporary_path(out)) if out is not None else ""
    if why:
        raise ManaforgeError(f"cannot write {out}: {why}; choose another --out")
    if len(cards or ()) > DECK_SIZE:
        raise PredictionError(
            f"a deck has only {DECK_SIZE} cards, got {len(cards or ())} cards seen; name fewer"
        )


def _prediction_json(library: "DeckLibrary", seen: list[str]) -> dict[str, object]:
    decks = [
        {"deck": deck.name, "class": deck.hero_class, "chance": chance}
        for deck, chance in library.likely_decks(seen)
    ]
    return {"seen": seen, "decks": decks, "cards": [card._asdict() for card in library.likely_cards(seen)]}


def _print_prediction(library: "DeckLibrary", seen: list[str], console: "Console") -> None:
    """Print the opponent's likeliest decks and remaining cards."""
    from evo.terminal.console import Column, FittingTable

    decks = [
        (deck.name, deck.hero_class, f"{chance:.1%}")
        for deck, chance in library.likely_decks(seen)
        if chance >= 0.001
    ]
    columns = Column("deck"), Column("class", 1), Column("chance", right=True)
    console.print(FittingTable(columns, decks))
    likely = library.likely_cards(seen)
    cards = [(card.name, f"{card.chance:.1%}", f"{card.copies:.2f}") for card in likely[:MOST_CARDS]]
    columns = Column("card left"), Column("chance", right=True), Column("copies", 1, right=True)
    console.print(FittingTable(columns, cards))
    if len(likely) > MOST_CARDS:
        console.print(
            f"and {len(likely) - MOST_CARDS} more (--json lists all)", markup=False, highlight=False
        )


def _print_accuracy(
    decks: "tuple[Deck, ...]", orders: int, seed: int, out: Path | None, as_data: bool, console: "Console"
) -> None:
    """Print the prediction accuracy by number of cards seen, and write its figure."""
    from evo.analysis.prediction import prediction_accuracy as measure
    from evo.terminal.console import Column, FittingTable

    table = measure(decks, orders, EXCHANGED_CARDS, seed)
    if out is not None:
        _write_figure(table, out)
    if as_data:
        print(table.to_json(orient="records", indent=1))
        return
    some = table[table["seen"].isin((0, 1, 2, 3, 5, 10, 15, 20, 25, 29))]
    rows = [
        (str(seen), *(f"{row.right:.1%} ({row.low:.1%} to {row.high:.1%})" for row in group.itertuples()))
        for seen, group in some.groupby("seen")
    ]
    names = [f"{n} exchanged" if n else "as listed" for n in table["exchanged"].unique()]
    columns = Column("cards seen"), *(Column(name, place, right=True) for place, name in enumerate(names))
    console.print(FittingTable(columns, rows))
    counts = " to ".join(dict.fromkeys(str(n) for n in sorted({*table["decks"]})))
    said = f"share of the cards left predicted correctly, mean of {counts} decks with 95% intervals"
    console.print(said, markup=False, highlight=False)
    if out is not None:
        console.print(f"written: {out}", markup=False, highlight=False)


def _write_figure(table: "pd.DataFrame", out: Path) -> None:
    from evo.analysis.plots import plot_accuracy
    from evo.figures.style import draw
    from evo.storage.files import temporary_path, write_atomically

    write_atomically(out, draw(plot_accuracy, table).png, temporary_path(out))
