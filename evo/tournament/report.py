"""Report of a tournament: terminal tables, CSV and JSON files, figures and one HTML page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter
from rich.console import Console

from engine.decks import coverage_sentence, deck_card_facts
from engine.shipped import BALANCED_RULESET
from evo.config.messages import counted
from evo.figures.page import (
    MAX_HEAT_ROWS,
    Cell,
    Section,
    heat_table,
    html_table,
    image,
    interval_cells,
    make_page,
)
from evo.figures.style import (
    BLUE,
    GREY,
    MAX_NAME_LENGTH,
    MAX_NAME_LENGTH_NARROW,
    ORANGE,
    is_narrow,
    short_name,
)
from evo.play.entrants import equal_entrants
from evo.play.notation import Seats
from evo.stats.ratings import verdict_of
from evo.stats.sequential import Verdict
from evo.stats.standings import Standings, deck_standings
from evo.storage.files import csv_bytes, json_bytes
from evo.terminal.console import Column, FittingTable
from evo.tournament.arena import CHAMPION
from evo.tournament.folder import TournamentFolder
from evo.tournament.run import Tournament
from evo.tournament.sweep import Variants
from rivals import AGENTS, find_kind

MAX_LABEL_LENGTH = 70
"""Maximum characters of an axis label on one line."""


def plot_ratings(axes: Axes, ratings: pd.DataFrame) -> Axes:
    """Plot ratings with 95% intervals, the best on top, and the values in a column on the right.

    The bar of an unbounded interval extends to the edge, without an end mark.

    Args:
        axes: to draw on.
        ratings: columns entrant, rating, low, high (Elo), in drawing order.
    """
    places = np.arange(len(ratings))
    value, low, high = (ratings[name].to_numpy(float) for name in ("rating", "low", "high"))
    ends = np.concatenate([value, low, high])
    ends = ends[np.isfinite(ends)]
    margin = max(0.05 * float(np.ptp(ends)), 1.0)
    edges = float(ends.min()) - margin, float(ends.max()) + margin
    axes.hlines(places, np.maximum(low, edges[0]), np.minimum(high, edges[1]), color=BLUE, linewidth=1.5)
    for bound in (low, high):
        axes.plot(bound, places, "|", color=BLUE, markersize=7)
    axes.plot(value, places, "o", color=BLUE, markersize=5)
    axes.axvline(0, color=GREY, linewidth=0.8, linestyle=":")
    narrow = is_narrow(axes)
    longest = MAX_NAME_LENGTH_NARROW if narrow else MAX_NAME_LENGTH
    end = "\n" if narrow else " "
    axes.set(xlabel=f"rating, Elo (mean of all entrants 0;{end}bars: 95% intervals)", ylabel="")
    axes.set_yticks(places, [short_name(name, longest) for name in ratings["entrant"]])
    axes.set_xlim(*edges)
    axes.set_ylim(len(ratings) - 0.5, -0.5)
    axes.grid(axis="x", linewidth=0.4, alpha=0.6)
    for place, rating in enumerate(value):
        bound = "≥ " if np.isinf(high[place]) else "≤ " if np.isinf(low[place]) else ""
        axes.annotate(
            f"{bound}{rating:+z.0f}",
            (1, place),
            (5, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            size=9,
        )
    return axes


def plot_sweep(axes: Axes, curve: pd.DataFrame, variants: Variants, against: str) -> Axes:
    """Plot the curve of a sweep: win rate by value, with 95% intervals.

    Args:
        axes: to draw on.
        curve: from `evo.tournament.sweep.sweep_table`.
        variants: variants of the entrant; its own value is marked.
        against: name of the opponent.
    """
    table, usual = curve.sort_values("value"), variants.usual
    axes.fill_between(table["value"], table["low"], table["high"], color=BLUE, alpha=0.2, linewidth=0)
    axes.plot(table["value"], table["win_rate"], "o-", color=BLUE, markersize=4, linewidth=1.4)
    axes.axhline(0.5, color=GREY, linewidth=0.8, linestyle=":")
    if usual is not None and table["value"].min() <= usual <= table["value"].max():
        own = f"its own value, {usual:g}" if variants.kind == "weight" else f"the deck as it is, {usual:g}"
        axes.axvline(usual, color=ORANGE, linewidth=1, linestyle="--", label=own)
        axes.legend(frameon=False, fontsize=8)
    if variants.kind != "weight":
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    of = f"of {short_name(variants.entrant)}"
    end = " " if len(variants.axis) + len(of) < MAX_LABEL_LENGTH else "\n"
    axes.set(xlabel=f"{variants.axis}{end}{of}", ylabel=f"win rate against\n{short_name(against)}")
    decimals = None if np.ptp(table["win_rate"]) > 0.05 else 1
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=decimals))
    axes.grid(linewidth=0.4, alpha=0.6)
    return axes


MAX_PLOTTED_ENTRANTS = 40
"""Maximum entrants in the page's figure of ratings."""

COUNT_FORMATS = dict.fromkeys(("games", "wins", "draws", "losses", "first won", "second won"), "{:,}")
PERCENT_FORMATS = dict.fromkeys(("score", "better", "Nash weight"), "{:.1%}")
ROUND_FORMATS = {"rounds": "{:.1f}"}


@dataclass(frozen=True)
class PageContent:
    """Content of a tournament's page besides the definition: games, standings and sections.

    Attributes:
        kind: "tournament", "arena" and so on; the page of an arena starts with its champion.
        games: table of all games.
        read: standings computed from them.
        scores: score table, rows against columns, sorted by rating.
        lines: sentences from `summary_sentences`.
        warnings: agents' faults.
        more: sections shown first.
    """

    kind: str
    games: pd.DataFrame
    read: Standings
    scores: pd.DataFrame
    lines: dict[str, str]
    warnings: Sequence[str]
    more: Sequence[Section] = ()


def tournament_page(tournament: Tournament, content: PageContent) -> bytes:
    """Create the HTML page of a tournament."""
    read, lines = content.read, content.lines
    met = len(read.matchups) > 0
    decks_alone = not met and len(tournament.decks) > 1
    sections = [
        *content.more,
        *([_champion(tournament, read)] if met and content.kind == "arena" else []),
        *([Section("Sequential test", lines["test"], conclusion=lines["test"])] if "test" in lines else []),
        *([_ratings(read), matchup_section(read, content.scores)] if met else []),
        *([deck_matchup_section(deck_standings(content.games))] if decks_alone else []),
        seat_section(read, lines["seat"]),
        *([deck_section(read)] if met else []),
        Section(
            "Entrants",
            "",
            _weights(tournament),
            " ".join(dict.fromkeys(_about_weights(tournament))),
        ),
        _what_was_played(tournament, lines),
    ]
    title = _title(content.kind, tournament, met)
    note = "In a browser, with every game step by step: manaforge serve."
    return make_page(title, sections, tournament.command, content.warnings, note)


def _title(kind: str, tournament: Tournament, met: bool) -> str:
    decks = ", ".join(deck.name for deck in tournament.decks)
    if met or len(tournament.entrants) > 1:
        return f"{kind.capitalize()} of {len(tournament.entrants)} with {decks}"
    return f"{kind.capitalize()}: {tournament.names[0]} against itself with {decks}"


def _champion(tournament: Tournament, read: Standings) -> Section:
    """Section on the champion (the first entrant) against each of the other entrants."""
    name = tournament.names[0]
    own = read.matchups[read.matchups["entrant"] == name].sort_values("score", kind="stable")
    shown = own[["opponent", "score"]].copy()
    shown["95% interval"] = interval_cells(own, "low", "high", "{:.1%}")
    shown["verdict"] = [verdict_of(low, high) for low, high in own[["low", "high"]].itertuples(index=False)]
    shown["games"] = own["games"]
    beaten, lost = ((shown["verdict"] == word).sum() for word in ("beaten", "lost to"))
    rest = len(own) - beaten - lost
    who = "The champion" if name == CHAMPION else f"The champion, {name},"
    text = f"{who} beats {beaten} of {len(own)} entrants and loses to {lost}; {rest} undecided."
    table = html_table(shown, {**PERCENT_FORMATS, **COUNT_FORMATS}, f"{name} against each of the others")
    note = "Beaten: the 95% interval of the score lies above 50%; lost to: below."
    return Section("The champion against each", text, [table], note, text)


def _ratings(read: Standings) -> Section:
    from evo.figures.style import draw_wide_and_narrow  # noqa: PLC0415 - two seconds to import

    best = read.ratings.head(MAX_PLOTTED_ENTRANTS)
    drawn = draw_wide_and_narrow(plot_ratings, best, height=1.1 + 0.36 * len(best))
    cut = f"The figure shows the best {MAX_PLOTTED_ENTRANTS}. " if len(best) < len(read.ratings) else ""
    note = (
        f"{cut}Bradley-Terry ratings in Elo with mean 0; intervals by bootstrap over deals. “Better” is the "
        "probability that an entrant is stronger than the next one below (likelihood of superiority). Nash "
        "weight is an entrant's probability in the Nash mixture."
    )
    parts = [image(drawn, "ratings with their intervals"), ratings_table(read.ratings)]
    return Section("Ratings", "", parts, note, _best(read))


def ratings_table(ratings: pd.DataFrame) -> Markup:
    """HTML table of ratings, game counts and Nash weights."""
    columns = {"superiority": "better", "nash_weight": "Nash weight", "mean_turns": "rounds"}
    shown = ratings[["entrant", "rank", "rating"]].copy()
    shown["95% interval"] = _bounds(ratings)
    names = ["score", "superiority", "nash_weight", "games", "wins", "draws", "losses", "mean_turns"]
    shown[[columns.get(name, name) for name in names]] = ratings[names]
    return html_table(
        shown, {"rating": "{:+z.1f}", **PERCENT_FORMATS, **COUNT_FORMATS, **ROUND_FORMATS}, "Ratings"
    )


def _bounds(ratings: pd.DataFrame) -> list[Cell]:
    """Table cells of the intervals of ratings, which may be unbounded."""
    found = interval_cells(ratings, "low", "high", "{:+z.1f}")
    return [Cell(cell.text.replace("inf", "∞"), cell.value) for cell in found]


def _best(read: Standings) -> str:
    """Sentence on the first-ranked entrant and the lead over the second."""
    first, second = read.ratings.iloc[0], read.ratings.iloc[1]
    bounds = _bounds(read.ratings)[0].text
    if len(read.ratings) == 2:
        met = read.matchups.iloc[0]
        score, low, high = met["score"], met["low"], met["high"]
        if met["entrant"] != first["entrant"]:
            score, low, high = 1 - score, 1 - high, 1 - low
        return (
            f"{first['entrant']} scores {score:.1%} (95% interval {low:.1%} to {high:.1%}) against "
            f"{second['entrant']}."
        )
    sure = f"; likelihood of superiority over {second['entrant']}, the second: {first['superiority']:.1%}"
    return (
        f"{first['entrant']} is first of {len(read.ratings)}, rated {first['rating']:+z.1f} Elo"
        + (f" (95% interval {bounds})" if bounds else "")
        + f" with a score of {first['score']:.1%}"
        + ("" if pd.isna(first["superiority"]) else sure)
        + "."
    )


def matchup_section(read: Standings, scores: pd.DataFrame) -> Section:
    """Section with the score table, and with all matchups and counts of game pairs."""
    table = read.matchups[["entrant", "opponent", "games", "score"]].copy()
    table["95% interval"] = interval_cells(read.matchups, "low", "high", "{:.1%}")
    table["Elo difference"] = read.matchups["elo"]
    table["pairs 0, 1/2, 1, 3/2, 2"] = [
        ", ".join(str(row[f"pairs_{half / 2:g}"]) for half in range(5)) for _, row in read.matchups.iterrows()
    ]
    title = f"Score of the row, which {scores.index.name}" if scores.index.name != "entrant" else ""
    title = title or "Score of the row against the column"
    shown = heat_table(scores, title) if len(scores) <= MAX_HEAT_ROWS else _heat_map(scores, title)
    note = (
        "Pairs: number of deals by the points of the first-named entrant; each deal is played twice, with "
        "seats exchanged. Intervals are computed from these pairs."
    )
    matchups = html_table(table, {**PERCENT_FORMATS, **COUNT_FORMATS, "Elo difference": _elo}, "Matchups")
    return Section("Scores by matchup", "", [shown, matchups], note)


def _elo(value: float) -> str:
    """Format an Elo difference, which is infinite if one side won all games."""
    return f"{value:+z.1f}".replace("inf", "∞")


def _heat_map(scores: pd.DataFrame, title: str) -> Markup:
    """HTML of the score table of many entrants, as a figure."""
    from evo.figures.style import draw_wide_and_narrow, plot_scores  # noqa: PLC0415 - two seconds to import

    return image(draw_wide_and_narrow(plot_scores, scores, "score", height=7.6), title)


def deck_matchup_section(read: Standings) -> Section:
    """Section with ratings of decks, for a tournament of self-play only."""
    decks = read.ratings[["entrant", "rating"]].rename(columns={"entrant": "deck"})
    decks["95% interval"] = _bounds(read.ratings)
    decks[["score", "games"]] = read.ratings[["score", "games"]]
    scores = read.decks.pivot_table(index="deck", columns="opponent_deck", values="score")
    order = list(read.ratings["entrant"])
    scores = scores.reindex(index=order, columns=order).astype(float)
    parts = [
        html_table(decks, {"rating": "{:+z.1f}", **PERCENT_FORMATS, **COUNT_FORMATS}, "Ratings of decks")
    ]
    if len(scores) <= MAX_HEAT_ROWS:
        parts.append(heat_table(scores, "Score of the row against the column"))
    return Section("Deck matchups", "", parts, conclusion=best_deck_sentence(read))


def best_deck_sentence(read: Standings) -> str:
    """Sentence on the first-ranked deck of a ladder, with its lead over the second; "" before any game."""
    first, second = read.ratings.iloc[0], read.ratings.iloc[1]
    if not first["games"]:
        return ""
    return (
        f"{first['entrant']} scores {first['score']:.1%} (95% interval {first['score_low']:.1%} to "
        f"{first['score_high']:.1%}) against the other decks; likelihood of superiority over "
        f"{second['entrant']}, the second of {len(read.ratings)}: {first['superiority']:.1%}."
    )


def seat_section(read: Standings, sentence: str) -> Section:
    """Section with results by seat."""
    columns = {"mean_turns": "rounds", "first_wins": "first won", "second_wins": "second won"}
    table = read.results.astype({"first": str, "second": str}).rename(columns=columns)
    parts = [html_table(table, {**COUNT_FORMATS, **ROUND_FORMATS}, "Results by seat")]
    return Section("Results by seat", sentence, parts, conclusion=sentence)


def deck_section(read: Standings) -> Section:
    """Section with scores by own and opponent's deck."""
    columns = {"mean_turns": "rounds", "opponent_deck": "opponent's deck"}
    table = read.decks.drop(columns=["wins", "draws", "losses", "low", "high"]).rename(columns=columns)
    table["95% interval"] = interval_cells(read.decks, "low", "high", "{:.1%}")
    return Section(
        "Results by deck",
        "",
        [html_table(table, {**PERCENT_FORMATS, **COUNT_FORMATS, **ROUND_FORMATS}, "Scores by decks")],
    )


def _what_was_played(tournament: Tournament, lines: dict[str, str]) -> Section:
    text = (
        f"{lines['games']} Ruleset {tournament.ruleset.name}, {tournament.games:,} games per cell, "
        f"{tournament.seats} seats, seed {tournament.seed}. "
    )
    rest = [lines[name] for name in ("cards", "alike", "cycles", "unproven", "unbounded") if name in lines]
    return Section("Games and rules", text + " ".join(rest))


def _about_weights(tournament: Tournament) -> Iterator[str]:
    """Notes on the scale of weights, one per entrant with weights."""
    for entrant in tournament.entrants:
        vector = find_kind(entrant.player.kind).weights
        if vector is not None:
            yield f"Weights of {vector.AGENT} are {vector.SCALE}."


def _weights(tournament: Tournament) -> list[Markup]:
    """HTML tables of the entrants' scale-free weights, one per kind of weights."""
    tables = []
    kinds = {entrant.text: find_kind(entrant.player.kind) for entrant in tournament.entrants}
    cards = [card for deck in tournament.decks for card in deck.cards]
    for vector in dict.fromkeys(kind.weights for kind in AGENTS.values() if kind.weights):
        inert = vector.inert(cards)
        rows = [
            [
                entrant.text,
                entrant.player.backend if kinds[entrant.text].takes_backend else "",
                *vector.from_array(entrant.player.weights).active(inert).values(),
            ]
            for entrant in tournament.entrants
            if kinds[entrant.text].weights is vector
        ]
        if rows:
            active = [name for name in vector.names() if name not in inert]
            table = pd.DataFrame(rows, columns=["entrant", "solver", *active])
            table = table if table["solver"].any() else table.drop(columns="solver")
            tables.append(html_table(table, dict.fromkeys(active, "{:.1%}"), f"Weights of {vector.AGENT}"))
        if rows and inert:
            text = "Omitted, since they affect no decision with these decks: "
            tables.append(Markup("<p>{}{}.</p>").format(text, ", ".join(sorted(inert))))
    plain = [entrant.text for entrant in tournament.entrants if not kinds[entrant.text].weights]
    if plain:
        tables.append(html_table(pd.DataFrame({"entrant": plain}), title="Without weights"))
    return tables


DECISIVE_SEAT = 0.6
"""Score of the first seat above which the report notes its effect on other results."""

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

MAX_UNPROVEN_SHOWN = 3
"""Maximum entrants named with the number of unproven turns in their games."""

MAX_TERMINAL_ENTRANTS = 9
"""Maximum entrants of a score table in the terminal."""


def score_table(seats: Seats, names: Sequence[str], read: Standings) -> pd.DataFrame:
    """Score table, rows against columns, sorted by rating.

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


def tournament_summary(
    tournament: Tournament, read: Standings, faults: list[dict[str, Any]], verdict: Verdict
) -> dict[str, Any]:
    """Content of `summary.json`: all results as JSON values; missing numbers are null."""
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
        **deck_card_facts(tournament.decks),
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
    """Write all report files: four CSV tables, summary.json, two figures, tournament.html.

    Args:
        tournament: its definition.
        folder: target folder.
        games: from `evo.play.matchups.games_table`.
        read: standings computed from the games.
        summary: from `tournament_summary`.
        kind: "tournament", "arena" and so on; determines the page's title and first section.
        more: sections shown first on the page.
    """
    from evo.figures.style import figure, plot_scores, png_bytes  # noqa: PLC0415 - two seconds to import

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
        plot_scores(axes, scores, "score of the first player" if fixed else "score against the opponent")
        folder.write("scores.png", png_bytes(drawn))
    with figure(5.5, 1.1 + 0.36 * n) as (drawn, axes):
        plot_ratings(axes, read.ratings)
        folder.write("ratings.png", png_bytes(drawn))
    lines, warnings = summary_sentences(tournament, summary), fault_warnings(summary)
    content = PageContent(kind, games, read, scores, lines, warnings, more)
    folder.write("tournament.html", tournament_page(tournament, content))


def terminal_sentences(tournament: Tournament, summary: dict[str, Any]) -> list[str]:
    """Summary sentences of a tournament for the terminal."""
    return [line.rstrip(".") for line in summary_sentences(tournament, summary).values()]


def summary_sentences(tournament: Tournament, summary: dict[str, Any]) -> dict[str, str]:
    """Summary sentences of a tournament, by topic.

    Keys, in this order: games, seat, cards; if applicable, alike, cycles, unproven, unbounded, test.
    """
    seat = summary["first_seat"]
    names = [deck.name for deck in tournament.decks]
    decks = f", with {names[0]} against {names[1]}," if tournament.seats == "fixed" and len(names) > 1 else ""
    lines = {
        "games": f"{summary['games']:,} games, {summary['draws']:,} drawn, {summary['mean_turns']:.1f} "
        "rounds long on average.",
        "seat": f"The first player{decks} scores {seat['score']:.1%} (95% interval {seat['low']:.1%} to "
        f"{seat['high']:.1%}).",
        "cards": coverage_sentence(tournament.decks).rstrip(".") + ".",
    }
    if seat["low"] is not None and seat["low"] > DECISIVE_SEAT:
        lines["seat"] += f" {_seat_note(tournament)}."
    alike = [", ".join(texts) for texts in equal_entrants(tournament.entrants)]
    if alike:
        lines["alike"] = f"Identical entrants, with the same weights: {'; '.join(alike)}."
    if summary["cyclic_share"] is not None:
        lines["cycles"] = (
            f"Intransitivity: {summary['cyclic_share']:.1%} of the score table (by chance alone: "
            f"{summary['cyclic_share_of_chance']:.1%})."
        )
    if summary["unproven_turns"]:
        lines["unproven"] = (
            f"{counted(summary['unproven_turns'], 'turn')} unproven: the search for the best plan had not "
            f"finished (docs/agents.md); {_unproven_where(summary['unproven_in_games_of'])}."
        )
    unbounded = [row["entrant"] for row in summary["ratings"] if 0 < row["games"] == row["losses"]]
    if unbounded and len(summary["ratings"]) > 2:
        lines["unbounded"] = (
            f"{' and '.join(unbounded)} lost every game: such a rating has no lower bound and, as the mean "
            "is 0, shifts all others; leave it out to rate the others alone."
        )
    if summary["sprt"]:
        lines["test"] = _verdict(tournament, summary["sprt"]) + "."
    return lines


def _unproven_where(turns: dict[str, int]) -> str:
    """Entrants in whose games most unproven turns were; a game counts those of both players."""
    most = [f"{name} ({n:,})" for name, n in list(turns.items())[:MAX_UNPROVEN_SHOWN]]
    return f"{'most ' if len(turns) > len(most) else ''}in games of {', '.join(most)}, of both players"


def _seat_note(tournament: Tournament) -> str:
    """Note on how a decisive first seat affects the other results."""
    balanced = (
        ""
        if tournament.ruleset.name == BALANCED_RULESET
        else f"; the ruleset {BALANCED_RULESET} balances it best"
    )
    if tournament.seats == "paired":
        return (
            "Going first decides most games. Seats are exchanged on every deal, so no entrant gains by it, "
            f"but scores and ratings understate differences in strength{balanced}"
        )
    return f"Going first decides most games, to the advantage of the first-named entrant{balanced}"


def _verdict(tournament: Tournament, sprt: dict[str, Any]) -> str:
    first, second = tournament.names
    ratio = f"log-likelihood ratio {sprt['log_likelihood_ratio']:.2f} in {_range(sprt['bounds'])}"
    test = f"Sequential test of {first} against {second}"
    if sprt["accepted"] is None:
        return f"{test}: undecided after all games; {ratio}"
    other = "elo0" if sprt["accepted"] == "elo1" else "elo1"
    chosen, refused = (f"{name}={sprt[name]:+g}" for name in (sprt["accepted"], other))
    return (
        f"{test}: {chosen} rather than {refused} is accepted; {ratio}. Rating differences after an early "
        "stop are overestimates"
    )


def _range(bounds: list[float]) -> str:
    return f"({bounds[0]:.2f}, {bounds[1]:.2f})"


def fault_warnings(summary: dict[str, Any]) -> list[str]:
    """Warnings about games lost by agents' faults."""
    return [
        f"{row['entrant']} lost {row['games']:,} games ({row['fault']}); the first, game {row['number']}: "
        f"{row['first']}"
        for row in summary["faults"]
    ]


def print_tournament(
    tournament: Tournament, read: Standings, summary: dict[str, Any], console: Console
) -> None:
    """Print a tournament's ratings, scores, summary and warnings."""
    rows = []
    no_matchup = len(read.matchups) == 0
    for row in read.ratings.itertuples():
        if no_matchup:
            continue
        better = "" if pd.isna(row.superiority) else f"{row.superiority:.1%}"
        counts = [f"{count:,}" for count in (row.games, row.wins, row.draws, row.losses)]
        interval = f"{row.low:+z.1f} to {row.high:+z.1f}".replace("inf", "∞")
        numbers = [f"{row.rating:+z.1f}", interval, *counts, f"{row.score:.1%}", better]
        rows.append([str(row.rank), row.entrant, *numbers])
    if not no_matchup:
        console.print(FittingTable(RATING_COLUMNS, rows, "ratings"))
    _show_scores(tournament, read, console)
    for line in terminal_sentences(tournament, summary):
        console.print(line, markup=False, highlight=False)
    for line in fault_warnings(summary):
        console.print(f"warning: {line}", markup=False, highlight=False, style="bold red")


def _show_scores(tournament: Tournament, read: Standings, console: Console) -> None:
    """Print the score table, and results of self-play in a separate table."""
    scores = score_table(tournament.seats, tournament.names, read)
    if len(read.matchups) == 0 or (tournament.self_play and tournament.seats == "paired"):
        rows = []
        for row in read.results.itertuples():
            if row.first == row.second:
                counts = [f"{n:,}" for n in (row.games, row.first_wins, row.second_wins, row.draws)]
                rows.append([row.first, row.second, *counts, f"{row.mean_turns:.1f}"])
        console.print(FittingTable(SELF_PLAY_COLUMNS, rows))
    if len(read.matchups) == 0 or len(scores) > MAX_TERMINAL_ENTRANTS:
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
    """Convert NumPy numbers to Python numbers; missing and infinite numbers become None."""
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
