"""Commands about a deck: what each card is worth, and whether the deck is too strong."""

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evo.cli import options
from evo.cli.options import (
    OUT_HELP,
    Address,
    AnyDeck,
    AsBodies,
    AsJson,
    DealSeed,
    DeckEdition,
    Patches,
    PoolName,
    RulesetName,
    Workers,
    decks_with_options,
)
from evo.play.notation import NOTATION
from evo.terminal.console import Column, FittingTable

if TYPE_CHECKING:
    import pandas as pd


CARD_COLUMNS = (
    Column("card"),
    Column("copies", 4, right=True),
    Column("cost", 5, right=True),
    Column("worth", right=True),
    Column("interval", 1, right=True),
    Column("in hand", 3, right=True),
    Column("drawn", 2, right=True),
    Column("played", 2, right=True),
)
"""Headings of the table; the last three: scores of games with it in the opening hand, drawn, and played."""

CardsOut = Annotated[Path | None, typer.Option("--out", help=OUT_HELP.format("cards"), show_default=False)]
Field = Annotated[
    str,
    typer.Option(
        "--field",
        metavar="DECKS",
        help="Decks that it plays against, separated by commas: names, files or deck codes.",
        autocompletion=options.complete_decks,
    ),
]


def cards_command(
    deck: str = typer.Argument(
        metavar="DECK", help="A deck: a name, a file or a deck code.", autocompletion=options.complete_decks
    ),
    field: Field = ...,  # type: ignore[assignment]
    player: str = typer.Option(
        "",
        help=f"Plays the deck: {NOTATION}. (default: eva; ilp:value-trading without classes)",
        autocompletion=options.complete_entrants,
    ),
    rival: str = typer.Option(
        "", help="Plays the field. (default: as the deck)", autocompletion=options.complete_entrants
    ),
    games: int = typer.Option(
        1_000,
        min=4,
        max=10**6,
        help="Games against each deck of the field, and as many without each card; even.",
    ),
    ruleset: RulesetName = "",
    seed: DealSeed = 1,
    edition: DeckEdition = "",
    bodies: AsBodies = False,
    any_deck: AnyDeck = False,
    patch: Patches = None,
    out: CardsOut = None,
    workers: Workers = 0,
    pool: PoolName = "auto",
    address: Address = "",
    as_data: AsJson = False,
) -> None:
    """Tell what each card of a deck is worth: the same deals without it, and its part in the games."""
    from engine import find_deck
    from engine.decks import coverage_sentence
    from evo.config.files import split_names
    from evo.experiments.card_worth import (
        card_table,
        cards_page,
        make_study,
        measure_worth,
        watch_games,
        worth_figure,
        worth_sentence,
    )
    from evo.play.pools import pool_settings
    from evo.sessions.experiments import ExperimentGames, open_experiment_games, print_tables
    from evo.sessions.progress import output_console
    from evo.storage.files import csv_bytes

    place = pool_settings(pool, workers, address)
    names = decks_with_options((deck, *split_names(field)), edition, bodies, any_deck, patch)
    own, *others = map(find_deck, names)
    study = make_study(own, others, player, rival, games, ruleset, seed)
    pilots = [study.player, study.rival]
    definition = {
        "players": [one.identity((own, *others)) for one in pilots],
        "decks": [found.identity for found in (own, *others)],
        "ruleset": study.ruleset.name,
        "games": games,
        "seed": seed,
    }
    total = study.total + len(others) * games
    games_of = ExperimentGames("cards", definition, out, pilots, (own, *others), total)
    with open_experiment_games(games_of, place, output_console(stderr=as_data)) as experiment:
        score, worth = measure_worth(study, experiment.cached_play)
        watched, rounds = watch_games(study, experiment.play)
        command = ["manaforge", "cards", names[0], "--field", ",".join(names[1:])]
        command += [*(["--player", player] if player else []), *(["--rival", rival] if rival else [])]
        command += ["--games", str(games), "--ruleset", study.ruleset.name, "--seed", str(seed)]
        table = card_table(worth, watched)
        experiment.write("cards.html", cards_page(study, score, worth, watched, rounds, shlex.join(command)))
        experiment.write("cards.png", worth_figure(worth))
        experiment.write("cards.csv", csv_bytes(table))
        experiment.write("rounds.csv", csv_bytes(rounds))
    if as_data:
        print_tables({"deck": own.name, "score": score}, {"cards": table, "rounds": rounds})
        return
    experiment.print(_cards_table(table))
    experiment.print(f"{own.name} scores {score:.1%}. {worth_sentence(worth)}")
    experiment.print(coverage_sentence([own, *others]))
    experiment.print_written()


def _cards_table(table: "pd.DataFrame") -> FittingTable:
    rows = [
        [
            row.card,
            str(row.copies),
            str(row.cost),
            f"{100 * row.worth:+.1f}",
            f"{100 * row.low:+.1f} to {100 * row.high:+.1f}",
            *map(_share, (row.opening_score, row.drawn_score, row.played_score)),
        ]
        for row in table.itertuples()
    ]
    return FittingTable(CARD_COLUMNS, rows, "worth of each card: points in 100 games lost without it")


def _share(score: float) -> str:
    return "" if math.isnan(score) else f"{score:.1%}"


VERDICT_COLUMNS = (
    Column("against"),
    Column("played by", 4, folds=True),
    Column("and by", 4, folds=True),
    Column("games", 5, right=True),
    Column("score", right=True),
    Column("95% interval", 1, right=True),
    Column("first", 2, right=True),
    Column("second", 2, right=True),
    Column("rounds", 3, right=True),
)
"""Headings of the table; first and second: scores going first and second."""

VerdictOut = Annotated[
    Path | None, typer.Option("--out", help=OUT_HELP.format("verdict"), show_default=False)
]


def verdict_command(
    deck: str = typer.Argument(
        metavar="DECK", help="A deck: a name, a file or a deck code.", autocompletion=options.complete_decks
    ),
    field: Field = ...,  # type: ignore[assignment]
    players: str = typer.Option(
        "",
        help=f"Agents, separated by commas; the best plays each side: {NOTATION}. (default: eva,"
        "greedy-ilp:true-balanced,aggro)",
        autocompletion=options.complete_entrants,
    ),
    games: int = typer.Option(
        1_000, min=4, max=10**6, help="Games that judge, against each deck of the field; even."
    ),
    ruleset: RulesetName = "",
    seed: DealSeed = 1,
    edition: DeckEdition = "",
    bodies: AsBodies = False,
    any_deck: AnyDeck = False,
    patch: Patches = None,
    out: VerdictOut = None,
    workers: Workers = 0,
    pool: PoolName = "auto",
    address: Address = "",
    as_data: AsJson = False,
) -> None:
    """Tell whether a deck is too strong: against a field, each side played by the best of several agents."""
    import pandas as pd

    from engine import find_deck
    from engine.decks import coverage_sentence
    from evo.config.files import split_names
    from evo.experiments.card_worth import make_study, measure_worth
    from evo.experiments.deck_verdict import (
        DEFAULT_PILOTS,
        choose_pilots,
        find_plain_study,
        judge,
        make_verdict_study,
        overall,
        patch_effect,
        patch_sentence,
        verdict_page,
        verdict_sentence,
    )
    from evo.play.pools import pool_settings
    from evo.sessions.experiments import ExperimentGames, open_experiment_games, print_tables
    from evo.sessions.progress import output_console
    from evo.storage.files import csv_bytes

    place = pool_settings(pool, workers, address)
    names = decks_with_options((deck, *split_names(field)), edition, bodies, any_deck, patch)
    own, *others = found = [find_deck(name) for name in names]
    texts = split_names(players or DEFAULT_PILOTS)
    study = make_verdict_study(own, others, texts, games, ruleset, seed)
    pilots, rules = study.pilots, study.ruleset
    # With a patch, the agents that the decks have without it play both, on the same deals.
    plain = find_plain_study(study, names)
    # Worth of cards takes many games, so that a fast agent plays them.
    cards = None if own.random else make_study(own, others, games=games, ruleset=rules.name, seed=seed)
    everyone = [*pilots, *([cards.player] if cards else [])]
    definition = {
        "players": [one.identity(found) for one in everyone],
        "decks": [one.identity for one in found],
        **({"as printed": [one.identity for one in (plain.deck, *plain.field)]} if plain else {}),
        "ruleset": rules.name,
        "games": games,
        "seed": seed,
    }
    total = study.total + (plain.judging if plain else 0) + (cards.total if cards else 0)
    games_of = ExperimentGames("verdict", definition, out, everyone, found, total)
    with open_experiment_games(games_of, place, output_console(stderr=as_data)) as experiment:
        play = experiment.cached_play
        chosen = choose_pilots(plain or study, play)
        table, deals = judge(study, play, chosen)
        said = verdict_sentence(own.name, table)
        if plain:
            said += f" {patch_sentence(patch_effect(judge(plain, play, chosen)[1], deals))}"
        worth = measure_worth(cards, play)[1] if cards else pd.DataFrame()
        command = ["manaforge", "verdict", names[0], "--field", ",".join(names[1:])]
        command += ["--players", ",".join(texts), "--games", str(games)]
        command += ["--ruleset", rules.name, "--seed", str(seed)]
        pilot = cards.pilot if cards else ""
        experiment.write("verdict.html", verdict_page(study, table, worth, pilot, said, shlex.join(command)))
        experiment.write("verdict.csv", csv_bytes(table))
        experiment.write("cards.csv", csv_bytes(worth))
    if as_data:
        score, low, high = overall(table)
        facts = {"deck": own.name, "score": score, "low": low, "high": high, "verdict": said}
        print_tables(facts, {"matchups": table, "cards": worth})
        return
    experiment.print(_verdict_table(table))
    experiment.print(said)
    experiment.print(coverage_sentence(found))
    experiment.print_written()


def _verdict_table(table: "pd.DataFrame") -> FittingTable:
    rows = [
        [
            row.deck,
            row.pilot,
            row.rival,
            f"{row.games:,}",
            f"{row.score:.1%}",
            f"{row.low:.1%} to {row.high:.1%}",
            f"{row.first:.1%}",
            f"{row.second:.1%}",
            f"{row.rounds:.1f}",
        ]
        for row in table.itertuples()
    ]
    return FittingTable(VERDICT_COLUMNS, rows, "scores of the deck")
