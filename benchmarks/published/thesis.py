"""The tournament of the thesis: as its program played it, by the rules, and each step between."""

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
from benchmarks.published.thesis_decks import (
    CHOSEN,
    CHOSEN_AGAIN,
    DRAWN,
    EARLIER,
    GAMES_DRAWN,
    GUESSES,
    guess_name,
    guesses_text,
)
from benchmarks.published.thesis_figures import draw_guesses, draw_players, draw_profiles
from benchmarks.published.thesis_tables import (
    ENGINE,
    ONLY,
    PRINTED,
    PUBLISHED,
    RULES,
    WITHOUT,
    Tables,
    interval,
)
from benchmarks.thesis_published import DEPARTURES, PROFILES
from ilp_agent import find_profile

GAMES, GAMES_DECKS = 400, 200
"""Games of a cell: of the eight players, and of those with other decks."""


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
    *(
        Job(f"thesis-guess-{number}", _command(DEPARTURES, GAMES_DRAWN, f" --decks guess:{number}"))
        for number in range(DRAWN)
    ),
    Job("thesis-chosen", _command(DEPARTURES, GAMES_DECKS, f" --decks guess:{CHOSEN} --seed 2"), 2),
    Job(
        "thesis-engine",
        "manaforge tournament 'ilp:configs/profiles/*.toml' --seats fixed --ruleset thesis --decks "
        f"thesis-paladin,thesis-warrior --games {GAMES} --out OUT",
    ),
)


def take(folder: Path) -> None:
    """Keep all tables as one: player, first, second, games, first_wins, mean_turns."""
    names = [*PLAYERS, *(f"{name}, {guess}" for guess in GUESSES for name in (PUBLISHED, RULES))]
    names += [*(guess_name(number) for number in range(DRAWN)), CHOSEN_AGAIN, ENGINE]
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
        "thesis-table": _table(tables),
        "thesis-departures": _departures(tables),
        "thesis-says": claims(tables),
        "thesis-players": _players(tables),
        "thesis-engine": _engine(tables, pd.read_csv(folder / "thesis-engine-deals.csv")["first_wins"]),
        "thesis-decks": guesses_text(tables),
        "thesis-commands": jobs_table(JOBS, jobs),
    }


def _table(tables: Tables) -> str:
    """The printed table beside the published player's, cell by cell."""
    ours, theirs = tables.rates(PUBLISHED), tables.rates(PRINTED)
    apart = np.abs(ours - theirs)
    first, second = np.unravel_index(np.argmax(apart), apart.shape)
    turns = [tables.turns(name) for name in (PUBLISHED, PRINTED)]
    alike = rank_correlation(*map(np.ravel, turns))
    shares = [Share.of(*tables.wins(name)) for name in (PUBLISHED, PRINTED)]
    rows = [
        [f"W{i + 1} {name}"]
        + [
            f"{100 * theirs[i, j]:.1f} / {100 * ours[i, j]:.1f}; {turns[1][i, j]:.1f} / {turns[0][i, j]:.1f}"
            for j in range(len(PROFILES))
        ]
        for i, name in enumerate(PROFILES)
    ]
    return "\n\n".join(
        [
            picture(
                "published-thesis", "wins of the first player: printed, as published here, the difference"
            ),
            prose(
                "Predicted: the rank correlation of our player's 49 cells with the printed ones is "
                f"{interval(tables.alike(PUBLISHED, PRINTED))}, and the mean error of a cell "
                f"{interval(tables.error(PUBLISHED), 100, 1)} points, both without what chance in the games "
                f"adds (see the next section). As played, {int((apart <= 0.1).sum())} of 49 cells are within "
                "10 points; the largest error is "
                f"{100 * (ours - theirs)[first, second]:+.0f} "
                f"points, {PROFILES[first]} against {PROFILES[second]}. The first player wins {shares[0]} "
                f"here and {shares[1]} there, in games of {turns[0].mean():.1f} and {turns[1].mean():.1f} "
                f"rounds. The rank correlation of the 49 mean rounds is {float(alike):.2f}, their mean error "
                f"{np.abs(turns[0] - turns[1]).mean():.1f} rounds."
            ),
            prose(
                "Each cell: wins of the row, which goes first, in percent, printed / here; mean rounds, "
                "printed "
                "/ here."
            ),
            table(["first \\ second", *(f"W{number}" for number in range(1, 8))], rows),
        ]
    )


def _order(scores: np.ndarray) -> list[str]:
    return [PROFILES[place] for place in np.argsort(-scores, kind="stable")]


def _players(tables: Tables) -> str:
    rules, published = tables.scores(RULES), tables.scores(PUBLISHED)
    moved = np.argsort(-np.abs(published - rules), kind="stable")[:2]
    best = {name: _order(tables.scores(name)) for name in (RULES, PUBLISHED)}
    same = best[RULES][0] == best[PUBLISHED][0]
    return "\n\n".join(
        [
            picture("published-rules", "wins of the first player: by the rules, and played by the engine"),
            prose(
                f"The first player wins {Share.of(*tables.wins(RULES))} of the games by the rules and "
                f"{Share.of(*tables.wins(PUBLISHED))} as published, in games of {tables.rounds(RULES):.1f} "
                f"and {tables.rounds(PUBLISHED):.1f} rounds. The rank correlation of the two tables' 49 "
                "cells is",
                f"{interval(tables.alike(RULES, PUBLISHED))}; a cell differs by "
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
            interval(tables.alike(name, PRINTED)),
            interval(tables.error(name), 100, 1),
            interval(tables.alike(name, PUBLISHED)) if name != PUBLISHED else "1",
            str(Share.of(*tables.wins(name))),
            f"{tables.rounds(name):.1f}",
        ]
        for name in PLAYERS
    ]
    header = [
        "player",
        "rank correlation with the printed table",
        "mean error, points",
        "rank correlation with published",
        "first player wins",
        "rounds",
    ]
    return "\n\n".join(
        [
            table(header, rows),
            items(*(_effect(tables, departure) for departure in DEPARTURES)),
            prose(_support(tables)),
            prose(_why(tables)),
            picture(
                "published-profiles", "score of each profile: printed, and under each of the eight players"
            ),
        ]
    )


def _gains(tables: Tables, departure: str) -> list[tuple[float, float, float]]:
    """How much nearer a departure brings the printed table: in the published player, and by the rules."""
    return [tables.error(PUBLISHED, WITHOUT[departure]), tables.error(ONLY[departure], RULES)]


def _effect(tables: Tables, departure: str) -> str:
    """What a departure moves, taken away and added."""
    parts = []
    for base, other, words, gain in zip(
        (WITHOUT[departure], RULES),
        (PUBLISHED, ONLY[departure]),
        ("In the published player it moves", "added to the player by the rules, it moves"),
        _gains(tables, departure),
        strict=True,
    ):
        first = _share(tables, other) - _share(tables, base)
        nearer = "nearer to" if gain[0] > 0 else "away from"
        parts.append(
            f"{words} a cell by {100 * tables.apart(base, other):.1f} points in the mean, the first player's "
            f"share by {100 * first:+.1f}, and the cells {interval((abs(gain[0]), *_inner(gain)), 100, 1)} "
            f"points {nearer} the printed table"
        )
    return f"**{departure}**. {'; '.join(parts)}."


def _inner(gain: tuple[float, float, float]) -> tuple[float, float]:
    """Interval of a gain's size, with the sign that it has."""
    low, high = (gain[1], gain[2]) if gain[0] > 0 else (-gain[2], -gain[1])
    return low, high


def _alike_gains(tables: Tables, departure: str) -> list[tuple[float, float, float]]:
    """How much more alike the printed table a departure makes the two players, by rank correlation."""
    return [
        tables.alike(PUBLISHED, PRINTED, WITHOUT[departure]),
        tables.alike(ONLY[departure], PRINTED, RULES),
    ]


def _supported(gains: dict[str, list[tuple[float, float, float]]]) -> str:
    """Which departures bring both players nearer to the printed table, and which only one of them."""
    places = {one: sum(low > 0 for _, low, _ in own) for one, own in gains.items()}
    said = [
        f"{listed([one for one in places if places[one] == number])} {words}"
        for number, words in ((2, "in both places"), (1, "in one of the two"), (0, "in neither"))
        if number in places.values()
    ]
    return ", ".join(said)


def _support(tables: Tables) -> str:
    """Which departures the printed table supports."""
    by_error, by_rank = (
        _supported({one: gains(tables, one) for one in DEPARTURES}) for gains in (_gains, _alike_gains)
    )
    left = min(DEPARTURES, key=lambda one: tables.error(WITHOUT[one])[0])
    pair = [one for one in DEPARTURES if one != left]
    best = min(PLAYERS, key=lambda name: tables.error(name)[0])
    return (
        f"Chance alone moves a cell by {100 * _chance(tables):.1f} points in the mean. By mean error the "
        f"printed table supports {by_error}; by rank correlation {by_rank}. By mean error, nearest of all "
        f"eight players is the one {'with all three' if best == PUBLISHED else best}. Of two departures "
        f"{listed(pair)} come nearest to the printed table: without {left} the mean error is "
        f"{100 * tables.error(WITHOUT[left])[0]:.1f} points. All this is with the shipped decks, and the "
        "intervals hold only the chance of the games."
    )


def _share(tables: Tables, player: str) -> float:
    wins, games = tables.wins(player)
    return wins / games


def _chance(tables: Tables) -> float:
    """Mean distance of cells that chance makes between two tables like the published one."""
    rates, games = tables.rates(PUBLISHED), tables.of(PUBLISHED)["games"].iloc[0]
    return float(np.sqrt(4 / np.pi * rates * (1 - rates) / games).mean())


def _why(tables: Tables) -> str:
    """Whether what `blind` changes follows what a program gains by attacks on minions."""
    weights = [find_profile(name).weights for name in PROFILES]
    gains = np.array([own.damage - own.trade for own in weights])
    found = []
    for base, other in ((WITHOUT["blind"], PUBLISHED), (RULES, ONLY["blind"])):
        found.append(rank_correlation(tables.scores(other) - tables.scores(base), gains))
    follows = max(found) < -0.5
    return (
        "A possible explanation, found afterwards (fitted): overkill on minions is allowed, so a program "
        "whose weight W6 (damage to minions) is above its W7 (cost of attacks) gains by sending more "
        "attackers at a minion than it takes; executed blindly, each of them is hit back. Then profiles with "
        "the larger W6 less W7 should lose most by blind. Over the seven, the rank correlation of W6 less W7 "
        f"with the change of the score is {found[0]:.2f} in the published player and {found[1]:.2f} in the "
        f"one by the rules: {'as' if follows else 'not as'} this predicts."
    )


def _engine(tables: Tables, by_deal: pd.Series) -> str:
    share = by_deal.mean()
    half = student.ppf(0.975, len(by_deal) - 1) * by_deal.std() / np.sqrt(len(by_deal))
    return prose(
        "The same tournament with the engine and the exact solver, which share no code with that player but "
        f"the weights and cards: the first player wins {Share(share, share - half, share + half)} (its cells "
        "share their deals, so the interval is that of the deals). The rank correlation of its cells with "
        f"the player by the rules is {interval(tables.alike(ENGINE, RULES))}, and with the published one "
        f"{interval(tables.alike(ENGINE, PUBLISHED))}. From the player by the rules a cell differs by "
        f"{100 * tables.apart(ENGINE, RULES):.1f} points in the mean. From the printed table it differs by "
        f"{100 * tables.apart(ENGINE, PRINTED):.1f}; their rank correlation is "
        f"{tables.alike(ENGINE, PRINTED)[0]:.2f}."
    )


def draw(folder: Path) -> dict[str, bytes]:
    """The figures of the page."""
    tables = Tables(folder / "thesis.csv")
    ours, theirs = tables.rates(PUBLISHED), tables.rates(PRINTED)
    return {
        "published-thesis": draw_players(
            {"printed in the thesis": theirs, "as published, here": ours}, PROFILES, ours - theirs
        ),
        "published-rules": draw_players(
            {"by the rules": tables.rates(RULES), "the engine": tables.rates(ENGINE)}, PROFILES
        ),
        "published-profiles": draw_profiles(
            {name: tables.scores(name) for name in (PRINTED, *PLAYERS)}, PROFILES
        ),
        "published-guesses": draw_guesses(
            [100 * tables.error(guess_name(number))[0] for number in range(DRAWN)],
            {words: 100 * tables.error(name)[0] for words, name in EARLIER.items()},
        ),
    }


PART = Part(JOBS, take, blocks, draw)
