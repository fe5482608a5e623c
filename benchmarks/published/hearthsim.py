"""HearthSim's experiments: The Coin, aggressiveness, Taunt, Divine Shield, Holy Smite."""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t as student

from benchmarks.published.hearthsim_figures import draw_curves, draw_lengths
from benchmarks.published.jobs import Job, Part, keep_jobs, read_jobs
from benchmarks.published.pages import Share, jobs_table, listed, percent, picture, prose, table

COPIES = "0,1,2,3,4,5,6,7,8,10,12,16"
SMITES = {"0.5": "spends-spells", "1": "balanced", "2": "keeps-spells"}
"""Profiles by their w_dds."""


def _coin(name: str, ruleset: str) -> Job:
    return Job(
        f"hearthsim-{name}",
        f"manaforge tournament hearthsim:standard hearthsim:standard --ruleset {ruleset} --decks "
        "random-minions --seats fixed --games 40000 --out OUT",
    )


def _sweep(
    name: str,
    what: str,
    decks: str,
    who: str = "hearthsim",
    against: str = "hearthsim",
    ruleset: str = "hearthsim",
) -> Job:
    return Job(
        f"hearthsim-{name}",
        f"manaforge sweep {who} {what} --against {against} --ruleset {ruleset} --decks {decks} --seats "
        "fixed --out OUT",
    )


COINS = {"with The Coin": _coin("coin", "hearthsim"), "without": _coin("nocoin", "hearthsim-nocoin")}
RAGER = Job(
    "hearthsim-rager",
    "manaforge tournament hearthsim hearthsim --ruleset hearthsim --decks hearthsim-rager --seats fixed "
    "--games 10000 --out OUT",
)
SHIELD = "divine shield"
SHIELD_DECKS = "hearthsim-basic,hearthsim-rager"
SAID = 0.648
"""Score at w_ds = 0 in the post."""
BALANCED = "divine shield, own weights 0.9"
NO_COIN = "smite 0.5, no Coin"
CURVES = {
    "aggressiveness": _sweep(
        "aggressiveness",
        "--weight aggressiveness --values 0:2:0.1",
        "random-minions",
        against="hearthsim:standard",
    ),
    "taunt": _sweep("taunt", "--keyword taunt --values 0:30:2", "random-minions-5x4"),
    SHIELD: _sweep("divine-shield", "--weight divine_shield --values -1:2:0.25", SHIELD_DECKS),
    **{
        f"smite {weight}": _sweep(
            f"smite-{profile}",
            f"--card 'Holy Smite' --values {COPIES}",
            "random-minions",
            f"hearthsim:{profile}",
            "hearthsim:balanced",
        )
        for weight, profile in SMITES.items()
    },
    BALANCED: _sweep(
        "divine-shield-balanced",
        "--weight divine_shield --values -1:2:0.25",
        SHIELD_DECKS,
        "hearthsim:balanced",
        "hearthsim:balanced",
    ),
    NO_COIN: _sweep(
        "smite-nocoin",
        "--card 'Holy Smite' --values 0,1,2,4,6",
        "random-minions",
        "hearthsim:spends-spells",
        "hearthsim:balanced",
        "hearthsim-nocoin",
    ),
}
JOBS = (*COINS.values(), RAGER, *CURVES.values())

DIFFERENCES = {
    "aggressiveness": ((0.9, 1.0), (0.5, 1.0)),
    "taunt": ((16, 0), (30, 16)),
    SHIELD: ((1.0, 0.0), (2.0, 1.0)),
    "smite 1": ((1, 0), (16, 0)),
}
"""Values of each curve that are compared deal by deal."""

BEST = {"aggressiveness": 0.9, "taunt": 16.0, SHIELD: 1.0, "smite 1": 6.0}
"""The posts' best values; each is compared with the best here, where that is another."""

COPIED = ("smite 0.5", "smite 2", NO_COIN)
"""Curves whose best number of copies is compared with none."""


def take(folder: Path) -> None:
    """Keep the curves, the differences between their values, and the rest."""
    curves, differences, lengths = [], [], []
    for name, job in CURVES.items():
        curve = pd.read_csv(job.out / "sweep.csv")
        curves.append(
            curve[["value", "games", "wins", "draws", "win_rate", "low", "high"]].assign(curve=name)
        )
        games = pd.read_parquet(job.out / "games.parquet")
        points = _points(games)
        scores = points.mean()
        pairs = list(DIFFERENCES.get(name, ()))
        if (best := float(scores.idxmax())) != BEST.get(name, best):
            pairs.append((BEST[name], best))
        if name in COPIED:
            pairs.append((float(scores.drop(0.0).idxmax()), 0.0))
        differences += [(name, one, other, *_paired(points, one, other)) for one, other in pairs]
        if name == SHIELD:
            lengths.append(_lengths(games, (0.0, 1.0, 2.0)))
    pd.concat(curves).to_csv(folder / "hearthsim.csv", index=False)
    columns = ["curve", "value", "other", "difference", "low", "high"]
    pd.DataFrame(differences, columns=columns).to_csv(folder / "hearthsim-differences.csv", index=False)
    pd.concat(lengths).to_csv(folder / "hearthsim-lengths.csv", index=False)
    seats = []
    for name, job in {**COINS, "both Magma Rager": RAGER}.items():
        row = pd.read_csv(job.out / "results.csv").iloc[0]
        seats.append((name, int(row["games"]), row["first_wins"] + row["draws"] / 2))
    pd.DataFrame(seats, columns=["games of", "games", "points"]).to_csv(
        folder / "hearthsim-seats.csv", index=False
    )
    keep_jobs(JOBS, folder / "hearthsim-jobs.csv")


def _value_of(games: pd.DataFrame) -> pd.Series:
    """The value that each game of a sweep was played with, from the entrant's name."""
    return games["first"].astype(str).str.extract(r"[=+](-?[\d.]+)", expand=False).astype(float)


def _points(games: pd.DataFrame) -> pd.DataFrame:
    """Points of the first player; a row a deal, a column a value."""
    points = games["outcome"].astype(str).map({"first": 1.0, "draw": 0.5, "second": 0.0})
    return pd.DataFrame({"setup": games["setup"], "value": _value_of(games), "points": points}).pivot(
        index="setup", columns="value", values="points"
    )


def _paired(points: pd.DataFrame, one: float, other: float) -> tuple[float, float, float]:
    """Difference of two values' scores with its 95% interval, by Student's t over the deals."""
    apart = (points[one] - points[other]).to_numpy()
    half = student.ppf(0.975, len(apart) - 1) * apart.std(ddof=1) / np.sqrt(len(apart))
    return float(apart.mean()), float(apart.mean() - half), float(apart.mean() + half)


def _lengths(games: pd.DataFrame, values: tuple[float, ...]) -> pd.DataFrame:
    """How many games of a value end in each round: columns value, rounds, games."""
    found = games.assign(value=_value_of(games))
    found = found[found["value"].isin(values)]
    counts = found.groupby(["value", "turns"]).size().reset_index(name="games")
    return counts.rename(columns={"turns": "rounds"})


class Tables:
    """What was kept."""

    def __init__(self, folder: Path) -> None:
        self.curves = pd.read_csv(folder / "hearthsim.csv")
        self.differences = pd.read_csv(folder / "hearthsim-differences.csv")
        self.lengths = pd.read_csv(folder / "hearthsim-lengths.csv")
        self.seats = pd.read_csv(folder / "hearthsim-seats.csv", index_col="games of")

    def curve(self, name: str) -> pd.DataFrame:
        """A curve, its index the value."""
        return self.curves[self.curves["curve"] == name].set_index("value")

    def best(self, name: str, above: float = -np.inf) -> float:
        """The value that scores most, of those above one."""
        rates = self.curve(name)["win_rate"]
        return float(rates[rates.index > above].idxmax())

    def at(self, name: str, value: float) -> Share:
        """Score at a value."""
        row = self.curve(name).loc[value]
        return Share(float(row["win_rate"]), float(row["low"]), float(row["high"]))

    def seat(self, name: str) -> Share:
        """Score of the first player in games without a curve."""
        row = self.seats.loc[name]
        return Share.of(float(row["points"]), int(row["games"]))

    def gain(self, name: str, one: float, other: float) -> tuple[float, float, float]:
        """Difference of two values, with its interval."""
        own = self.differences
        row = own[(own["curve"] == name) & (own["value"] == one) & (own["other"] == other)].iloc[0]
        return float(row["difference"]), float(row["low"]), float(row["high"])

    def rounds(self, value: float) -> float:
        """Mean of the rounds of games with a weight of Divine Shield."""
        own = self.lengths[self.lengths["value"] == value]
        return float(np.average(own["rounds"], weights=own["games"]))


def blocks(folder: Path) -> dict[str, str]:
    """The blocks of the page."""
    tables = Tables(folder)
    return {
        "hearthsim-claims": _claims(tables),
        "hearthsim-figures": "\n\n".join(
            [
                picture("published-hearthsim", "win rate of the first player in the four experiments"),
                picture("published-lengths", "rounds of games by the weight of Divine Shield"),
            ]
        ),
        "hearthsim-commands": jobs_table(JOBS, read_jobs(folder / "hearthsim-jobs.csv")),
    }


class Claims:
    """Statements of the posts, what came out, and whether it is as they say."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self.rows: list[list[str]] = []

    def add(self, experiment: str, says: str, here: str, agrees: str | bool) -> None:
        """A statement."""
        said = agrees if isinstance(agrees, str) else "yes" if agrees else "no"
        known = any(row[0] == experiment for row in self.rows)
        self.rows.append(["" if known else experiment, says, here, said])

    def best(self, experiment: str, says: str, curve: str) -> None:
        """Whether the post's best value is the best here, or not told apart from it."""
        said, found = BEST[curve], self._tables.best(curve)
        here = f"best is {found:g}: {self._tables.at(curve, found)}"
        if found == said:
            self.add(experiment, says, here, True)
        else:
            self.compared(experiment, says, curve, said, found, 1, here=f"{here}; ")

    def harmed(self, experiment: str, says: str, curve: str) -> None:
        """Whether even the best number of copies is worse than none."""
        best = self._tables.best(curve, above=0.0)
        copies = f"{best:g} cop{'y' if best == 1 else 'ies'}: "
        self.compared(experiment, says, curve, best, 0, -1, here=copies)

    def compared(
        self,
        experiment: str,
        says: str,
        curve: str,
        one: float,
        other: float,
        sign: int,
        size: float = 0.0,
        here: str = "",
    ) -> None:
        """Two values of a curve, deal by deal; the sign of their difference in the post, and its size."""
        gain = self._tables.gain(curve, one, other)
        agrees = verdict(gain, sign)
        if agrees == "yes" and size and not gain[1] <= size <= gain[2]:
            agrees = f"yes, but {100 * abs(gain[0] - size):.0f} points {'more' if gain[0] > size else 'less'}"
        value, low, high = (100 * part for part in gain)
        scores = f"{self._tables.at(curve, one)} against {self._tables.at(curve, other)}"
        self.add(experiment, says, f"{here}{scores}: {value:+.1f} points ({low:+.1f} to {high:+.1f})", agrees)


def verdict(gain: tuple[float, float, float], sign: int) -> str:
    """Whether a difference with its interval has the sign that a source says."""
    low, high = sorted((sign * gain[1], sign * gain[2]))
    return "yes" if low > 0 else "no" if high < 0 else "not told apart"


def _claims(tables: Tables) -> str:
    claims = Claims(tables)
    for name, says in (
        ("without", "without it the first player is ahead"),
        ("with The Coin", "with it, behind"),
    ):
        share = tables.seat(name)
        ahead = share.low > 0.5 if name == "without" else share.high < 0.5
        claims.add("The Coin", says, str(share), ahead)
    own = "aggressiveness"
    claims.best(own, "best is 0.9", own)
    claims.compared(own, "0.9 is better than 1", own, 0.9, 1.0, 1)
    claims.compared(own, "0.5 is better than 1", own, 0.5, 1.0, 1)
    claims.best("Taunt", "best is 16", "taunt")
    claims.compared("Taunt", "16 are some 15 points better than none", "taunt", 16, 0, 1, 0.15)
    claims.compared("Taunt", "beyond 16 it falls", "taunt", 30, 16, -1)
    own, rager = "Divine Shield", tables.seat("both Magma Rager")
    claims.add(own, "some 57.1% where both hold Magma Rager", str(rager), rager.holds(0.571))
    claims.add(
        own, f"some {percent(SAID)} at w_ds = 0", str(tables.at(SHIELD, 0)), tables.at(SHIELD, 0).holds(SAID)
    )
    claims.best(own, "best is 1", SHIELD)
    claims.compared(own, "1 is better than 0", SHIELD, 1.0, 0.0, 1)
    negative = tables.curve(SHIELD).query("-1 < value < 0")
    worst = tables.at(SHIELD, float(negative["win_rate"].idxmin()))
    here = f"at {negative.index.min():g} to {negative.index.max():g} at least {worst}"
    claims.add(own, "above 60% with a weight between -1 and 0", here, worst.low > 0.6)
    claims.compared(own, "it plummets above 1", SHIELD, 2.0, 1.0, -1)
    rounds = [tables.rounds(value) for value in (0.0, 1.0, 2.0)]
    here = f"rounds at 0, 1, 2: {', '.join(f'{value:.2f}' for value in rounds)}"
    claims.add(own, "with w_ds = 2 games end earlier", here, rounds[2] < min(rounds[:2]))
    own = "Holy Smite"
    for weight in ("0.5", "2"):
        claims.harmed(own, f"w_dds {weight}: any copy harms", f"smite {weight}")
    claims.compared(own, "w_dds 1: copies help", "smite 1", 1, 0, 1)
    claims.best(own, "w_dds 1: best are about 6", "smite 1")
    claims.compared(own, "w_dds 1: too many harm (here 16)", "smite 1", 16, 0, -1)
    said = [row[3] for row in claims.rows]
    summary = (
        f"Of {len(said)} statements {sum(one.startswith('yes') for one in said)} are confirmed, "
        f"{said.count('no')} are not, and {said.count('not told apart')} cannot be decided with these games."
    )
    header = ["experiment", "the post", "here, the first player", "as the post"]
    return "\n\n".join([table(header, claims.rows), prose(summary), prose(_reasons(tables))])


def _reasons(tables: Tables) -> str:
    """Two possible reasons of the statements that are not confirmed, tested."""
    copies = tables.best(NO_COIN, above=0.0)
    gain = tables.gain(NO_COIN, copies, 0)
    coin = verdict(gain, -1) == "yes"
    best, base = tables.best(BALANCED), tables.at(BALANCED, 0)
    moved = [
        f"the best weight {'moves to 1' if best == 1 else f'is {best:g}'}",
        f"w_ds = 0 scores {base}, {'as' if base.holds(SAID) else 'not as'} in the post",
    ]
    return (
        f"Two reasons were tried. The post on Holy Smite mentions no Coin: without it {copies:g} copies at "
        f"w_dds 0.5 {'harm' if coin else 'do not harm'} ({100 * gain[0]:+.1f} points, "
        f"{100 * gain[1]:+.1f} to {100 * gain[2]:+.1f}), so this is {'a' if coin else 'not the'} reason. "
        "The posts on Divine Shield may have used the optimum 0.9 of the earlier post for own minions: "
        f"with it {listed(moved)}, so this is {'a' if best == 1 or base.holds(SAID) else 'not the'} reason."
    )


def draw(folder: Path) -> dict[str, bytes]:
    """The figures of the page."""
    tables = Tables(folder)
    smites = {f"w_dds {weight}": tables.curve(f"smite {weight}") for weight in SMITES}
    return {
        "published-hearthsim": draw_curves(
            {
                "aggressiveness": {"": tables.curve("aggressiveness")},
                "minions with Taunt, of 30": {"": tables.curve("taunt")},
                "weight of Divine Shield, w_ds": {"": tables.curve(SHIELD)},
                "copies of Holy Smite": smites,
            }
        ),
        "published-lengths": draw_lengths(tables.lengths),
    }


PART = Part(JOBS, take, blocks, draw)
