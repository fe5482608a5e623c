"""The page of a tournament: sections from its tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

from evo.figures.page import (
    MOST_HEAT,
    Cell,
    Section,
    heat_table,
    html_table,
    image,
    intervals,
    make_page,
)
from evo.stats.ratings import verdict_of
from evo.stats.standings import Standings, deck_standings
from evo.tournament.arena import CHAMPION
from evo.tournament.run import Tournament
from rivals import AGENTS, find_kind

MOST_RATED = 40
"""Most entrants in the page's figure of ratings."""

COUNTS = dict.fromkeys(("games", "wins", "draws", "losses", "first won", "second won"), "{:,}")
SHARES = dict.fromkeys(("score", "better", "Nash weight"), "{:.1%}")
ROUNDS = {"rounds": "{:.1f}"}


@dataclass(frozen=True)
class Content:
    """What the page of a tournament shows.

    Attributes:
        kind: "tournament", "arena" and so on; the page of an arena begins with its champion.
        games: all games.
        read: their tables.
        scores: of rows against columns, by rating.
        lines: as `evo.tournament.output.sentences_of` gives them.
        warnings: faults that must not be overlooked.
        more: sections that come first.
    """

    kind: str
    games: pd.DataFrame
    read: Standings
    scores: pd.DataFrame
    lines: dict[str, str]
    warnings: Sequence[str]
    more: Sequence[Section] = ()


def tournament_page(tournament: Tournament, content: Content) -> bytes:
    """The page of a tournament."""
    read, lines = content.read, content.lines
    met = len(read.matchups) > 0
    decks_alone = not met and len(tournament.decks) > 1
    sections = [
        *content.more,
        *([_champion(tournament, read)] if met and content.kind == "arena" else []),
        *([Section("Sequential test", lines["test"], conclusion=lines["test"])] if "test" in lines else []),
        *([_ratings(read), who_beats_whom(read, content.scores)] if met else []),
        *([deck_against_deck(deck_standings(content.games))] if decks_alone else []),
        by_first_seat(read, lines["seat"]),
        *([by_deck(read)] if met else []),
        Section(
            "Who played",
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
    """The first entrant against each of the others."""
    name = tournament.names[0]
    own = read.matchups[read.matchups["entrant"] == name].sort_values("score", kind="stable")
    shown = own[["opponent", "score"]].copy()
    shown["95% interval"] = intervals(own, "low", "high", "{:.1%}")
    shown["verdict"] = [verdict_of(low, high) for low, high in own[["low", "high"]].itertuples(index=False)]
    shown["games"] = own["games"]
    beaten, lost = ((shown["verdict"] == word).sum() for word in ("beaten", "lost to"))
    rest = len(own) - beaten - lost
    who = "The champion" if name == CHAMPION else f"The champion, {name},"
    text = f"{who} beats {beaten} of {len(own)} and loses to {lost}; {rest} cannot be told from it."
    table = html_table(shown, {**SHARES, **COUNTS}, f"{name} against each of the others")
    note = "Beaten: the 95% interval of the score lies above 50%; lost to: below."
    return Section("The champion against each", text, [table], note, text)


def _ratings(read: Standings) -> Section:
    from evo.figures.style import draw_both  # noqa: PLC0415 - two seconds to import
    from evo.tournament.plots import plot_ratings  # noqa: PLC0415

    best = read.ratings.head(MOST_RATED)
    drawn = draw_both(plot_ratings, best, height=1.1 + 0.36 * len(best))
    cut = f"The figure shows the best {MOST_RATED}. " if len(best) < len(read.ratings) else ""
    note = (
        f"{cut}Bradley-Terry ratings in Elo with mean 0; intervals by bootstrap over deals. “Better” is the "
        "likelihood of being better than the next below. Nash weight is an entrant's part in the strongest "
        "mixture."
    )
    parts = [image(drawn, "ratings with their intervals"), ratings_table(read.ratings)]
    return Section("Ratings", "", parts, note, _best(read))


def ratings_table(ratings: pd.DataFrame) -> Markup:
    """Entrants with their ratings, records and Nash weights."""
    columns = {"superiority": "better", "nash_weight": "Nash weight", "mean_turns": "rounds"}
    shown = ratings[["entrant", "rank", "rating"]].copy()
    shown["95% interval"] = _bounds(ratings)
    names = ["score", "superiority", "nash_weight", "games", "wins", "draws", "losses", "mean_turns"]
    shown[[columns.get(name, name) for name in names]] = ratings[names]
    return html_table(shown, {"rating": "{:+.1f}", **SHARES, **COUNTS, **ROUNDS}, "Ratings")


def _bounds(ratings: pd.DataFrame) -> list[Cell]:
    """Intervals of ratings, which may have no bound on a side."""
    found = intervals(ratings, "low", "high", "{:+.1f}")
    return [Cell(cell.text.replace("inf", "∞"), cell.value) for cell in found]


def _best(read: Standings) -> str:
    """Who is first, and how surely."""
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
    sure = f"; it is better than {second['entrant']}, the second, with likelihood {first['superiority']:.1%}"
    return (
        f"{first['entrant']} is first of {len(read.ratings)}, rated {first['rating']:+.1f} Elo"
        + (f" (95% interval {bounds})" if bounds else "")
        + f" with a score of {first['score']:.1%}"
        + ("" if pd.isna(first["superiority"]) else sure)
        + "."
    )


def who_beats_whom(read: Standings, scores: pd.DataFrame) -> Section:
    """The table of scores, and all matchups with their pairs of games."""
    table = read.matchups[["entrant", "opponent", "games", "score"]].copy()
    table["95% interval"] = intervals(read.matchups, "low", "high", "{:.1%}")
    table["Elo difference"] = read.matchups["elo"]
    table["pairs 0, 1/2, 1, 3/2, 2"] = [
        ", ".join(str(row[f"pairs_{half / 2:g}"]) for half in range(5)) for _, row in read.matchups.iterrows()
    ]
    title = f"Score of the row, which {scores.index.name}" if scores.index.name != "entrant" else ""
    title = title or "Score of the row against the column"
    shown = heat_table(scores, title) if len(scores) <= MOST_HEAT else _heat_map(scores, title)
    note = (
        "Pairs: the same deal played twice with the entrants exchanged, by the points the first one named "
        "took. The interval comes from these pairs."
    )
    matchups = html_table(table, {**SHARES, **COUNTS, "Elo difference": _elo}, "Matchups")
    return Section("Who beats whom", "", [shown, matchups], note)


def _elo(value: float) -> str:
    """A difference in Elo, which has no bound where one side won everything."""
    return f"{value:+.1f}".replace("inf", "∞")


def _heat_map(scores: pd.DataFrame, title: str) -> Markup:
    """Scores of many entrants, as a figure."""
    from evo.figures.style import draw_both, plot_scores  # noqa: PLC0415 - two seconds to import

    return image(draw_both(plot_scores, scores, "score", height=7.6), title)


def deck_against_deck(read: Standings) -> Section:
    """Decks as entrants, where every entrant played itself."""
    decks = read.ratings[["entrant", "rating"]].rename(columns={"entrant": "deck"})
    decks["95% interval"] = _bounds(read.ratings)
    decks[["score", "games"]] = read.ratings[["score", "games"]]
    scores = read.decks.pivot_table(index="deck", columns="opponent_deck", values="score")
    order = list(read.ratings["entrant"])
    scores = scores.reindex(index=order, columns=order).astype(float)
    parts = [html_table(decks, {"rating": "{:+.1f}", **SHARES, **COUNTS}, "Ratings of decks")]
    if len(scores) <= MOST_HEAT:
        parts.append(heat_table(scores, "Score of the row against the column"))
    first = read.ratings.iloc[0]
    conclusion = (
        f"{first['entrant']} is the best of {len(decks)} decks, with a score of {first['score']:.1%}."
    )
    return Section("Deck against deck", "", parts, conclusion=conclusion)


def by_first_seat(read: Standings, sentence: str) -> Section:
    """Results by who went first."""
    columns = {"mean_turns": "rounds", "first_wins": "first won", "second_wins": "second won"}
    table = read.results.astype({"first": str, "second": str}).rename(columns=columns)
    parts = [html_table(table, {**COUNTS, **ROUNDS}, "Results by who went first")]
    return Section("By who goes first", sentence, parts, conclusion=sentence)


def by_deck(read: Standings) -> Section:
    """Scores by own and opponent's deck."""
    columns = {"mean_turns": "rounds", "opponent_deck": "opponent's deck"}
    table = read.decks.drop(columns=["wins", "draws", "losses", "low", "high"]).rename(columns=columns)
    table["95% interval"] = intervals(read.decks, "low", "high", "{:.1%}")
    return Section("By deck", "", [html_table(table, {**SHARES, **COUNTS, **ROUNDS}, "Scores by decks")])


def _what_was_played(tournament: Tournament, lines: dict[str, str]) -> Section:
    text = (
        f"{lines['games']} Ruleset {tournament.ruleset.name}, {tournament.games:,} games for each cell, "
        f"{tournament.seats} seats, seed {tournament.seed}. "
    )
    rest = [lines[name] for name in ("cards", "alike", "cycles", "unproven") if name in lines]
    return Section("What was played", text + " ".join(rest))


def _about_weights(tournament: Tournament) -> Iterator[str]:
    """What the numbers of the tables of weights are."""
    for entrant in tournament.entrants:
        vector = find_kind(entrant.player.kind).weights
        if vector is not None:
            yield f"Weights of {vector.AGENT} are {vector.SCALE}."


def _weights(tournament: Tournament) -> list[Markup]:
    """Entrants with their scale-free weights, one table for each kind of weights."""
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
            text = "Inert, since they change no decision with these decks, and left out: "
            tables.append(Markup("<p>{}{}.</p>").format(text, ", ".join(sorted(inert))))
    plain = [entrant.text for entrant in tournament.entrants if not kinds[entrant.text].weights]
    if plain:
        tables.append(html_table(pd.DataFrame({"entrant": plain}), title="Without weights"))
    return tables
