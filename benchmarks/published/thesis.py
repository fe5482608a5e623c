"""The tournament of the thesis: as its program played it, by the rules, and each step between."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.published.jobs import Job, Part, keep_jobs, read_jobs
from benchmarks.published.pages import (
    Share,
    items,
    jobs_table,
    listed,
    percent,
    picture,
    prose,
    rank_correlation,
    table,
)
from benchmarks.published.thesis_figures import draw_players, draw_profiles
from benchmarks.thesis_published import DEPARTURES, PROFILES
from ilp_agent import find_profile

GAMES, GAMES_DECKS = 400, 200
"""Games of a cell: of the eight players, and of those with other decks."""

PUBLISHED, RULES = "published", "rules"
WITHOUT = {departure: f"without {departure}" for departure in DEPARTURES}
ONLY = {departure: f"only {departure}" for departure in DEPARTURES}
ENGINE = "engine"
GUESSES = ("plain", "keywords")
DRAWS = 2_000
"""From the posterior of the cells, for intervals of correlations."""


def _command(departures: tuple[str, ...], games: int, decks: str = "") -> str:
    own = "" if departures == DEPARTURES else f" --departures {','.join(departures) or repr('')}"
    return f"python -m benchmarks.thesis_published --games {games}{own}{decks} --out OUT"


def _decks(guess: str) -> str:
    files = ",".join(f"benchmarks/published/decks/{guess}-{own}.toml" for own in ("paladin", "warrior"))
    return f" --decks {files}"


PLAYERS = {
    PUBLISHED: DEPARTURES,
    **{name: tuple(one for one in DEPARTURES if one != left) for left, name in WITHOUT.items()},
    **{name: (departure,) for departure, name in ONLY.items()},
    RULES: (),
}
"""The departures of each player, from the published one to the one by the rules."""

JOBS = (
    *(Job(f"thesis-{name.replace(' ', '-')}", _command(own, GAMES)) for name, own in PLAYERS.items()),
    *(
        Job(f"thesis-{name}-{guess}", _command(PLAYERS[name], GAMES_DECKS, _decks(guess)))
        for guess in GUESSES
        for name in (PUBLISHED, RULES)
    ),
    Job(
        "thesis-engine",
        "manaforge tournament 'ilp:configs/profiles/*.toml' --seats fixed --ruleset thesis "
        f"--decks thesis-paladin,thesis-warrior --games {GAMES} --out OUT",
    ),
)


def take(folder: Path) -> None:
    """Keep all tables as one: player, first, second, games, first_wins, mean_turns."""
    names = [*PLAYERS, *(f"{name}, {guess}" for guess in GUESSES for name in (PUBLISHED, RULES)), ENGINE]
    tables = []
    for name, job in zip(names, JOBS, strict=True):
        found = pd.read_csv(job.out / "results.csv" if name == ENGINE else job.out)
        for seat in ("first", "second"):
            found[seat] = found[seat].str.removeprefix("ilp:")
        if name == ENGINE:
            found = found.set_index(["first", "second"]).loc[[(a, b) for a in PROFILES for b in PROFILES]]
            found = found.reset_index()
        tables.append(found.assign(player=name))
    columns = ["player", "first", "second", "games", "first_wins", "mean_turns"]
    pd.concat(tables)[columns].to_csv(folder / "thesis.csv", index=False)
    keep_jobs(JOBS, folder / "thesis-jobs.csv")


class Tables:
    """The tables of all players."""

    def __init__(self, file: Path) -> None:
        self._table = pd.read_csv(file)
        self._pick = np.random.default_rng(1)

    def of(self, player: str) -> pd.DataFrame:
        """The 49 rows of a player."""
        return self._table[self._table["player"] == player]

    def wins(self, player: str) -> tuple[int, int]:
        """Games that who goes first won, and games."""
        own = self.of(player)
        return int(own["first_wins"].sum()), int(own["games"].sum())

    def rates(self, player: str) -> np.ndarray:
        """Share of games that who goes first wins; shape (7, 7), by first and second."""
        own = self.of(player)
        rates: np.ndarray = (own["first_wins"] / own["games"]).to_numpy().reshape(len(PROFILES), -1)
        return rates

    def scores(self, player: str) -> np.ndarray:
        """Share of games that each profile wins from both seats, without those against itself; shape (7,)."""
        rates = self.rates(player).copy()
        np.fill_diagonal(rates, np.nan)
        scores: np.ndarray = (np.nanmean(rates, axis=1) + 1 - np.nanmean(rates, axis=0)) / 2
        return scores

    def rounds(self, player: str) -> float:
        """Mean of the rounds of a game."""
        return float(self.of(player)["mean_turns"].mean())

    def alike(self, one: str, other: str) -> tuple[float, float, float]:
        """Rank correlation of two players' cells, with the 95% interval that chance in the games makes.

        Cells are drawn from their posterior by Jeffreys' prior; two draws each, so the interval lies a
        little low where the correlation is high.
        """
        value = rank_correlation(self.rates(one).ravel(), self.rates(other).ravel())
        drawn = [self._drawn(player) for player in (one, other)]
        found = [rank_correlation(a, b) for a, b in zip(*drawn, strict=True)]
        return value, float(np.quantile(found, 0.025)), float(np.quantile(found, 0.975))

    def _drawn(self, player: str) -> np.ndarray:
        own = self.of(player)
        wins, games = own["first_wins"].to_numpy(), own["games"].to_numpy()
        return self._pick.beta(wins + 0.5, games - wins + 0.5, (DRAWS, len(own)))

    def apart(self, one: str, other: str) -> float:
        """Mean distance of two players' cells."""
        return float(np.abs(self.rates(one) - self.rates(other)).mean())


def blocks(folder: Path) -> dict[str, str]:
    """The blocks of the page."""
    tables, jobs = Tables(folder / "thesis.csv"), read_jobs(folder / "thesis-jobs.csv")
    return {
        "thesis-players": _players(tables),
        "thesis-departures": _departures(tables),
        "thesis-engine": _engine(tables),
        "thesis-decks": _guesses(tables),
        "thesis-commands": jobs_table(JOBS, jobs),
    }


def _correlation(found: tuple[float, float, float]) -> str:
    value, low, high = found
    return f"{value:.2f} ({low:.2f} to {high:.2f})"


def _order(scores: np.ndarray) -> list[str]:
    return [PROFILES[place] for place in np.argsort(-scores, kind="stable")]


def _players(tables: Tables) -> str:
    rules, published = tables.scores(RULES), tables.scores(PUBLISHED)
    moved = np.argsort(-np.abs(published - rules), kind="stable")[:2]
    best = {name: _order(tables.scores(name)) for name in (RULES, PUBLISHED)}
    same = best[RULES][0] == best[PUBLISHED][0]
    return "\n\n".join(
        [
            picture(
                "published-thesis", "who goes first wins: by the rules, and as the thesis's program played"
            ),
            prose(
                f"Who goes first wins {Share.of(*tables.wins(RULES))} of the games by the rules and "
                f"{Share.of(*tables.wins(PUBLISHED))} as published, in games of "
                f"{tables.rounds(RULES):.1f} and",
                f"{tables.rounds(PUBLISHED):.1f} rounds. The rank correlation of the two tables' 49 cells is",
                f"{_correlation(tables.alike(RULES, PUBLISHED))}; a cell differs by"
                f" {100 * tables.apart(RULES, PUBLISHED):.0f} points in the mean.",
                f"{best[RULES][0]} is the best of both."
                if same
                else f"By the rules the best is {best[RULES][0]}, as published {best[PUBLISHED][0]}.",
                "Most moved are "
                + listed(
                    [
                        f"{PROFILES[place]} ({percent(rules[place])} by the rules, "
                        f"{percent(published[place])}"
                        " as published)"
                        for place in moved
                    ]
                )
                + ".",
            ),
        ]
    )


def _departures(tables: Tables) -> str:
    rows = [
        [
            name,
            _correlation(tables.alike(name, PUBLISHED)) if name != PUBLISHED else "1",
            _correlation(tables.alike(name, RULES)) if name != RULES else "1",
            str(Share.of(*tables.wins(name))),
            f"{tables.rounds(name):.1f}",
        ]
        for name in PLAYERS
    ]
    header = ["player", "rank correlation with published", "with the rules", "first player wins", "rounds"]
    return "\n\n".join(
        [
            table(header, rows),
            items(*(_effect(tables, departure) for departure in DEPARTURES)),
            prose(_largest(tables)),
            prose(_why(tables)),
            picture("published-profiles", "score of each profile under each of the eight players"),
        ]
    )


def _effect(tables: Tables, departure: str) -> str:
    """What a departure moves, taken away and added."""
    parts = []
    for base, other, words in (
        (WITHOUT[departure], PUBLISHED, "In the published player it moves"),
        (RULES, ONLY[departure], "added to the one by the rules"),
    ):
        change = tables.scores(other) - tables.scores(base)
        place = int(np.argmax(np.abs(change)))
        first = _share(tables, other) - _share(tables, base)
        parts.append(
            f"{words} a cell by {100 * tables.apart(base, other):.1f} points in the mean, the first player's "
            f"share by {100 * first:+.1f}, and most of all {PROFILES[place]}, by {100 * change[place]:+.1f}"
        )
    chance = _chance(tables)
    return f"**{departure}**. {'; '.join(parts)}. (Chance alone moves a cell by {100 * chance:.1f}.)"


def _share(tables: Tables, player: str) -> float:
    wins, games = tables.wins(player)
    return wins / games


def _chance(tables: Tables) -> float:
    """Mean distance of cells that chance makes between two tables like the published one."""
    rates, games = tables.rates(PUBLISHED), tables.of(PUBLISHED)["games"].iloc[0]
    return float(np.sqrt(4 / np.pi * rates * (1 - rates) / games).mean())


def _largest(tables: Tables) -> str:
    """Which departure explains most of the distance between the two players."""
    taken = {one: tables.apart(WITHOUT[one], PUBLISHED) for one in DEPARTURES}
    added = {one: tables.apart(ONLY[one], RULES) for one in DEPARTURES}
    by_taken, by_added = (sorted(found, key=lambda one: -found[one]) for found in (taken, added))
    nearest = max(combinations(DEPARTURES, 2), key=lambda two: tables.alike(_left(two), PUBLISHED)[0])
    words = (
        f"Taken away, {by_taken[0]} moves the published table most, then {by_taken[1]}, then {by_taken[2]}; "
    )
    words += (
        "added to the rules the order is the same."
        if by_taken == by_added
        else f"added to the rules, {by_added[0]} moves most, then {by_added[1]}, then {by_added[2]}."
    )
    (left,) = set(DEPARTURES) - set(nearest)
    return (
        f"{words} The two that explain the table best are {listed(nearest)}: without {left} the rank "
        f"correlation with the published player is still {tables.alike(WITHOUT[left], PUBLISHED)[0]:.2f}."
    )


def _why(tables: Tables) -> str:
    """Whether what `blind` changes follows what a program gains by attacks on minions."""
    weights = [find_profile(name).weights for name in PROFILES]
    gains = np.array([own.damage - own.trade for own in weights])
    found = []
    for base, other in ((WITHOUT["blind"], PUBLISHED), (RULES, ONLY["blind"])):
        found.append(rank_correlation(tables.scores(other) - tables.scores(base), gains))
    return (
        "Why: overkill on minions is allowed, so a program whose W6 is above its W7 gains by sending more "
        "attackers at a minion than it takes; carried out blindly, each of them is hit back. What blind "
        "changes "
        f"in the scores of the seven goes with W6 less W7 by a rank correlation of {found[0]:.2f} in the "
        f"published player, and {found[1]:.2f} in the one by the rules."
    )


def _left(two: tuple[str, str]) -> str:
    """The player that has two departures."""
    (left,) = set(DEPARTURES) - set(two)
    return WITHOUT[left]


def _engine(tables: Tables) -> str:
    said = prose(
        "The same tournament with the engine and the exact solver, which share no code with that player but "
        f"the weights and cards: who goes first wins {Share.of(*tables.wins(ENGINE))}. The rank "
        "correlation of "
        f"its cells with the player by the rules is {_correlation(tables.alike(ENGINE, RULES))}, and "
        "with the "
        f"published one {_correlation(tables.alike(ENGINE, PUBLISHED))}. From the player by the rules a cell "
        f"differs by {100 * tables.apart(ENGINE, RULES):.1f} points in the mean."
    )
    return "\n\n".join([picture("published-engine", "who goes first wins, played by the engine"), said])


def _guesses(tables: Tables) -> str:
    rows = []
    for words, tail in (("shipped", ""), *((guess, f", {guess}") for guess in GUESSES)):
        rules, published = f"{RULES}{tail}", f"{PUBLISHED}{tail}"
        rows.append(
            [
                words,
                _correlation(tables.alike(rules, published)),
                "" if not tail else _correlation(tables.alike(published, PUBLISHED)),
                "" if not tail else _correlation(tables.alike(rules, RULES)),
                percent(_share(tables, published)),
                percent(_share(tables, rules)),
                ", ".join(_order(tables.scores(published))[:3]),
            ]
        )
    header = [
        "decks",
        "rules and published",
        "published, with the shipped decks",
        "rules, with the shipped decks",
        "first wins, published",
        "first wins, rules",
        "best three, published",
    ]
    least = min(tables.alike(f"{PUBLISHED}, {guess}", PUBLISHED)[0] for guess in GUESSES)
    firsts = {_order(tables.scores(f"{PUBLISHED}{tail}"))[0] for tail in ("", *(f", {g}" for g in GUESSES))}
    shares = [_share(tables, f"{PUBLISHED}{tail}") for tail in ("", *(f", {g}" for g in GUESSES))]
    return "\n\n".join(
        [
            table(header, rows),
            prose(
                "With other decks the published player's cells keep their order to a rank correlation of at "
                f"least {least:.2f}.",
                "The best profile is the same." if len(firsts) == 1 else "The best profile is not the same.",
                f"The first player's share moves between {percent(min(shares))} and {percent(max(shares))}.",
            ),
        ]
    )


def draw(folder: Path) -> dict[str, bytes]:
    """The figures of the page."""
    tables = Tables(folder / "thesis.csv")
    return {
        "published-thesis": draw_players(
            {"by the rules": tables.rates(RULES), "as published": tables.rates(PUBLISHED)}, PROFILES
        ),
        "published-engine": draw_players({"the engine": tables.rates(ENGINE)}, PROFILES),
        "published-profiles": draw_profiles({name: tables.scores(name) for name in PLAYERS}, PROFILES),
    }


PART = Part(JOBS, take, blocks, draw)
