"""The output of a tournament: tables on the terminal, data files, figures, one HTML page."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from engine.decks import coverage_of, exact_cards
from engine.shipped import BALANCED
from engine.tables import Column, FittingTable
from evo.figures.page import Section
from evo.play.entrants import like_entrants
from evo.play.formats import Seats
from evo.stats.sequential import Verdict
from evo.stats.standings import Standings
from evo.storage.files import csv_bytes, json_bytes
from evo.tournament.folder import TournamentFolder
from evo.tournament.page import Content, tournament_page
from evo.tournament.run import Tournament
from evo.wording import counted

DECISIVE_SEAT = 0.6
"""A score of going first, above which a tournament says what it does to its other figures."""

RATING_COLUMNS = (
    Column("", 3, right=True),
    Column("entrant"),
    Column("rating", right=True),
    Column("95% interval", 2, right=True),
    Column("games", 5, right=True),
    Column("won", 6, right=True),
    Column("drawn", 8, right=True),
    Column("lost", 7, right=True),
    Column("score", 1, right=True),
    Column("better", 4, right=True),
)
SELF_PLAY_COLUMNS = (
    Column("first"),
    Column("second"),
    Column("games", 3, right=True),
    Column("first won", 1, right=True),
    Column("second won", 2, right=True),
    Column("drawn", 4, right=True),
    Column("rounds", 5, right=True),
)

WIDEST = 9
"""Most entrants whose table of scores fits a terminal."""


def score_table(seats: Seats, names: Sequence[str], read: Standings) -> pd.DataFrame:
    """Scores of rows against columns, entrants in the order of their rating.

    With `fixed` seats the row goes first, and entrants are in the order of `names`. Otherwise scores are over
    both seats, and the diagonal is empty.
    """
    order = list(read.ratings["entrant"])
    if seats == "fixed":
        order = list(names)
        table = read.results.astype({"first": str, "second": str})
        table["score"] = (table["first_wins"] + table["draws"] / 2) / table["games"]
        scores = table.pivot_table(index="first", columns="second", values="score")
    else:
        own = read.matchups[["entrant", "opponent", "score"]]
        other = own.rename(columns={"entrant": "opponent", "opponent": "entrant"})
        both = pd.concat([own, other.assign(score=1 - own["score"])])
        scores = both.pivot_table(index="entrant", columns="opponent", values="score")
    scores = scores.reindex(index=order, columns=order).astype(float)
    fixed = seats == "fixed"
    scores.index.name = "goes first" if fixed else "entrant"
    scores.columns.name = "goes second" if fixed else "opponent"
    return scores


def summary_of(
    tournament: Tournament, read: Standings, faults: list[dict[str, Any]], verdict: Verdict
) -> dict[str, Any]:
    """Everything as JSON values; missing numbers are null."""
    sprt: dict[str, Any] | None = None
    if tournament.sprt:
        counts = read.matchups.filter(like="pairs_").to_numpy()[0] if len(read.matchups) else np.zeros(5)
        sprt = vars(tournament.sprt) | {
            "log_likelihood_ratio": tournament.sprt.ratio(counts),
            "bounds": list(tournament.sprt.bounds),
            "accepted": verdict or None,
        }
    content = {
        "command": tournament.command,
        "entrants": tournament.names,
        "decks": [deck.name for deck in tournament.decks],
        "exact_cards": exact_cards(tournament.decks),
        "ruleset": tournament.ruleset.name,
        "seats": tournament.seats,
        "format": tournament.style,
        "games_per_cell": tournament.games,
        "seed": tournament.seed,
        **read.summary,
        "faults": faults,
        "sprt": sprt,
        "ratings": read.ratings.to_dict("records"),
        "meetings": read.matchups.to_dict("records"),
        "results": read.results.astype({"first": str, "second": str}).to_dict("records"),
        "by_deck": read.decks.to_dict("records"),
    }
    cleaned: dict[str, Any] = _clean(content)
    return cleaned


def write_files(
    tournament: Tournament,
    folder: TournamentFolder,
    games: pd.DataFrame,
    read: Standings,
    summary: dict[str, Any],
    kind: str = "tournament",
    more: Sequence[Section] = (),
) -> None:
    """results.csv, ratings.csv, meetings.csv, decks.csv, summary.json, both figures, tournament.html.

    Args:
        tournament: its definition.
        folder: where to write.
        games: as `evo.play.matchups.games_table` makes it.
        read: its tables.
        summary: as `summary_of` makes it.
        kind: "tournament", "arena" and so on, which decides the page's title and first section.
        more: sections that the page shows first.
    """
    from evo.figures.style import figure, plot_scores, png  # noqa: PLC0415 - two seconds to import
    from evo.tournament.plots import plot_ratings  # noqa: PLC0415

    for name, table in (
        ("results", read.results),
        ("ratings", read.ratings),
        ("meetings", read.matchups),
        ("decks", read.decks),
    ):
        folder.write(f"{name}.csv", csv_bytes(table))
    folder.write("summary.json", json_bytes(summary))
    n = len(read.ratings)
    scores = score_table(tournament.seats, tournament.names, read)
    with figure(2.7 + 0.52 * n, 1.4 + 0.52 * n) as (drawn, axes):
        fixed = tournament.seats == "fixed"
        plot_scores(axes, scores, "score of who goes first" if fixed else "score against the opponent")
        folder.write("scores.png", png(drawn))
    with figure(5.5, 1.1 + 0.36 * n) as (drawn, axes):
        plot_ratings(axes, read.ratings)
        folder.write("ratings.png", png(drawn))
    lines, warnings = sentences_of(tournament, summary), warnings_of(summary)
    content = Content(kind, games, read, scores, lines, warnings, more)
    folder.write("tournament.html", tournament_page(tournament, content))


def lines_of(tournament: Tournament, summary: dict[str, Any]) -> list[str]:
    """Sentences on the whole tournament, as the terminal shows them."""
    return [line.rstrip(".") for line in sentences_of(tournament, summary).values()]


def sentences_of(tournament: Tournament, summary: dict[str, Any]) -> dict[str, str]:
    """Sentences on the whole tournament by what they are about.

    Keys, in this order: games, seat, cards; where there is something to say, alike, cycles, unproven, test.
    """
    seat = summary["first_seat"]
    names = [deck.name for deck in tournament.decks]
    decks = f", with {names[0]} against {names[1]}," if tournament.seats == "fixed" and len(names) > 1 else ""
    lines = {
        "games": f"{summary['games']:,} games, {summary['draws']:,} drawn, {summary['mean_turns']:.1f} "
        "rounds long on average.",
        "seat": f"Who goes first{decks} scores {seat['score']:.1%} (95% interval {seat['low']:.1%} to "
        f"{seat['high']:.1%}).",
        "cards": coverage_of(tournament.decks).rstrip(".") + ".",
    }
    if seat["low"] is not None and seat["low"] > DECISIVE_SEAT:
        lines["seat"] += f" {_seat_note(tournament)}."
    alike = [", ".join(texts) for texts in like_entrants(tournament.entrants)]
    if alike:
        lines["alike"] = f"Alike, with the same weights: {'; '.join(alike)}."
    if summary["cyclic_share"] is not None:
        lines["cycles"] = (
            f"Rock-paper-scissors: {summary['cyclic_share']:.1%} of the table is beyond any rating "
            f"(chance alone: {summary['cyclic_share_of_chance']:.1%})."
        )
    if summary["unproven_turns"]:
        lines["unproven"] = (
            f"{counted(summary['unproven_turns'], 'turn')} unproven: the search for the best plan had not "
            "ended (docs/rivals.md)."
        )
    if summary["sprt"]:
        lines["test"] = _verdict(tournament, summary["sprt"]) + "."
    return lines


def _seat_note(tournament: Tournament) -> str:
    """What a decisive first turn does to the other figures."""
    balanced = "" if tournament.ruleset.name == BALANCED else f"; the ruleset {BALANCED} balances it most"
    if tournament.seats == "paired":
        return (
            "Going first decides most games: seats are exchanged on every deal, so no entrant gains, but "
            f"scores and ratings lie closer together than the entrants' strength{balanced}"
        )
    return f"Going first decides most games, and the first-named entrant of a game gains by it{balanced}"


def _verdict(tournament: Tournament, sprt: dict[str, Any]) -> str:
    first, second = tournament.names
    ratio = f"log-likelihood ratio {sprt['log_likelihood_ratio']:.2f} in {_range(sprt['bounds'])}"
    test = f"Sequential test of {first} against {second}"
    if sprt["accepted"] is None:
        return f"{test}: undecided after all games; {ratio}"
    other = "elo0" if sprt["accepted"] == "elo1" else "elo1"
    chosen, refused = (f"{name}={sprt[name]:+g}" for name in (sprt["accepted"], other))
    return (
        f"{test}: {chosen} rather than {refused} is accepted; {ratio}. Ratings after an early end are "
        "too large"
    )


def _range(bounds: list[float]) -> str:
    return f"({bounds[0]:.2f}, {bounds[1]:.2f})"


def warnings_of(summary: dict[str, Any]) -> list[str]:
    """Faults that must not be overlooked."""
    return [
        f"{row['entrant']} lost {row['games']:,} games ({row['fault']}); the first: {row['first']}"
        for row in summary["faults"]
    ]


def show(tournament: Tournament, read: Standings, summary: dict[str, Any], console: Console) -> None:
    """Print ratings, scores, sentences and warnings."""
    rows = []
    no_matchup = len(read.matchups) == 0
    for row in read.ratings.itertuples():
        if no_matchup:
            continue
        better = "" if pd.isna(row.superiority) else f"{row.superiority:.1%}"
        counts = [f"{count:,}" for count in (row.games, row.wins, row.draws, row.losses)]
        interval = f"{row.low:+.1f} to {row.high:+.1f}".replace("inf", "∞")
        numbers = [f"{row.rating:+.1f}", interval, *counts, f"{row.score:.1%}", better]
        rows.append([str(row.rank), row.entrant, *numbers])
    if not no_matchup:
        console.print(FittingTable(RATING_COLUMNS, rows, "ratings"))
    _show_scores(tournament, read, console)
    for line in lines_of(tournament, summary):
        console.print(line, markup=False, highlight=False)
    for line in warnings_of(summary):
        console.print(f"warning: {line}", markup=False, highlight=False, style="bold red")


def _show_scores(tournament: Tournament, read: Standings, console: Console) -> None:
    """The table of scores; results of self-play in a table of their own."""
    scores = score_table(tournament.seats, tournament.names, read)
    if len(read.matchups) == 0 or (tournament.self_play and tournament.seats == "paired"):
        rows = []
        for row in read.results.itertuples():
            if row.first == row.second:
                counts = [f"{n:,}" for n in (row.games, row.first_wins, row.second_wins, row.draws)]
                rows.append([row.first, row.second, *counts, f"{row.mean_turns:.1f}"])
        console.print(FittingTable(SELF_PLAY_COLUMNS, rows))
    if len(read.matchups) == 0 or len(scores) > WIDEST:
        return
    fixed = tournament.seats == "fixed"
    title = "score of the row, which goes first" if fixed else "score of the row, over both seats"
    columns = [Column(""), *(Column(str(place + 1), place + 1, right=True) for place in range(len(scores)))]
    rows = []
    for place, (name, values) in enumerate(zip(scores.index, scores.to_numpy(), strict=True)):
        cells = ["" if np.isnan(value) else f"{value:.1%}" for value in values]
        rows.append([f"{place + 1} {name}", *cells])
    console.print(FittingTable(columns, rows, title))


def _clean(value: Any) -> Any:
    """Plain Python numbers, and None for what is missing or infinite."""
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
