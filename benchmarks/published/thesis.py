"""The tournament of the thesis: as its program played it, by the rules, and each step between."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t as student

from benchmarks.published.correlation import rank_correlation
from benchmarks.published.jobs import Job, Part, keep_jobs, read_jobs
from benchmarks.published.pages import (
    Share,
    items,
    jobs_table,
    listed,
    percent,
    picture,
    prose,
    table,
)
from benchmarks.published.thesis_claims import claims
from benchmarks.published.thesis_figures import draw_players, draw_profiles
from benchmarks.published.thesis_tables import ENGINE, ONLY, PUBLISHED, RULES, WITHOUT, Tables
from benchmarks.thesis_published import DEPARTURES, PROFILES
from ilp_agent import find_profile

GAMES, GAMES_DECKS = 400, 200
"""Games of a cell: of the eight players, and of those with other decks."""

GUESSES = ("plain", "keywords")


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
        "manaforge tournament 'ilp:configs/profiles/*.toml' --seats fixed --ruleset thesis --decks "
        f"thesis-paladin,thesis-warrior --games {GAMES} --out OUT",
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
    games = pd.read_parquet(JOBS[-1].out / "games.parquet")
    by_deal = (games["outcome"] == "first").groupby(games["setup"]).mean()
    by_deal.rename("first_wins").to_csv(folder / "thesis-engine-deals.csv")
    keep_jobs(JOBS, folder / "thesis-jobs.csv")


def blocks(folder: Path) -> dict[str, str]:
    """The blocks of the page."""
    tables, jobs = Tables(folder / "thesis.csv"), read_jobs(folder / "thesis-jobs.csv")
    return {
        "thesis-players": _players(tables),
        "thesis-departures": _departures(tables),
        "thesis-says": claims(tables),
        "thesis-engine": _engine(tables, pd.read_csv(folder / "thesis-engine-deals.csv")["first_wins"]),
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
                "published-thesis",
                "wins of the first player: by the rules, and as the thesis's program played",
            ),
            prose(
                f"The first player wins {Share.of(*tables.wins(RULES))} of the games by the rules and "
                f"{Share.of(*tables.wins(PUBLISHED))} as published, in games of {tables.rounds(RULES):.1f} "
                f"and {tables.rounds(PUBLISHED):.1f} rounds. The rank correlation of the two tables' 49 "
                "cells is",
                f"{_correlation(tables.alike(RULES, PUBLISHED))}; a cell differs by "
                f"{100 * tables.apart(RULES, PUBLISHED):.0f} points in the mean.",
                f"{best[RULES][0]} is the best of both."
                if same
                else f"By the rules the best is {best[RULES][0]}, as published {best[PUBLISHED][0]}.",
                "Most moved are "
                + listed(
                    [
                        f"{PROFILES[place]} ({percent(rules[place])} by the rules, "
                        f"{percent(published[place])} as published)"
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
            f"{words} a cell by {100 * tables.apart(base, other):.1f} points in the mean, the first "
            f"player's share by {100 * first:+.1f}, and most of all {PROFILES[place]}, by "
            f"{100 * change[place]:+.1f}"
        )
    return f"**{departure}**. {'; '.join(parts)}."


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
    chance = 100 * _chance(tables)
    return (
        f"Chance alone moves a cell by {chance:.1f} points in the mean. {words} The two that explain the "
        f"table best are {listed(nearest)}: without {left} the rank correlation with the published player "
        f"is still {tables.alike(WITHOUT[left], PUBLISHED)[0]:.2f}."
    )


def _why(tables: Tables) -> str:
    """Whether what `blind` changes follows what a program gains by attacks on minions."""
    weights = [find_profile(name).weights for name in PROFILES]
    gains = np.array([own.damage - own.trade for own in weights])
    found = []
    for base, other in ((WITHOUT["blind"], PUBLISHED), (RULES, ONLY["blind"])):
        found.append(rank_correlation(tables.scores(other) - tables.scores(base), gains))
    follows = max(found) < -0.5
    return (
        "A possible explanation: overkill on minions is allowed, so a program whose weight W6 (damage to "
        "minions) is above its W7 (cost of attacks) gains by sending more attackers at a minion than it "
        "takes; executed blindly, each of them is hit back. Then profiles with the larger W6 less W7 should "
        "lose most by blind. Over the seven, the rank correlation of W6 less W7 with the change of the "
        f"score is {found[0]:.2f} in the published player and {found[1]:.2f} in the one by the rules: "
        f"{'as' if follows else 'not as'} this predicts."
    )


def _left(two: tuple[str, str]) -> str:
    """The player that has two departures."""
    (left,) = set(DEPARTURES) - set(two)
    return WITHOUT[left]


def _engine(tables: Tables, by_deal: pd.Series) -> str:
    share = by_deal.mean()
    half = student.ppf(0.975, len(by_deal) - 1) * by_deal.std() / np.sqrt(len(by_deal))
    said = prose(
        "The same tournament with the engine and the exact solver, which share no code with that player "
        f"but the weights and cards: the first player wins {Share(share, share - half, share + half)} (its "
        "cells share their deals, so the interval is that of the deals). The rank correlation of its cells "
        f"with the player by the rules is {_correlation(tables.alike(ENGINE, RULES))}, and with the "
        f"published one {_correlation(tables.alike(ENGINE, PUBLISHED))}. From the player by the rules a "
        f"cell differs by {100 * tables.apart(ENGINE, RULES):.1f} points in the mean."
    )
    return "\n\n".join([picture("published-engine", "wins of the first player, played by the engine"), said])


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
                "With other decks the published player's cells keep their order to a rank correlation of "
                f"at least {least:.2f}.",
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
