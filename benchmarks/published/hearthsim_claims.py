"""Statements of HearthSim's posts, and whether each player's results are as they say."""

import numpy as np

from benchmarks.published.hearthsim_paper import SAID_RAGER, SAID_SHIELD
from benchmarks.published.hearthsim_tables import BEST, PLAYERS, SHIELD, Tables
from benchmarks.published.pages import Share, percent, prose, table


def claims_text(tables: Tables) -> str:
    """The table of all statements with both players, and how many are confirmed."""
    columns = {player: Claims(tables, player) for player in PLAYERS}
    for claims in columns.values():
        _make(claims)
    first, *_ = columns.values()
    rows = [
        [experiment, says, *(own.rows[place][2] for own in columns.values())]
        for place, (experiment, says, _) in enumerate(first.rows)
    ]
    counts = []
    for player, claims in columns.items():
        said = [row[2] for row in claims.rows]
        counts.append(
            f"{PLAYERS[player]} {sum(one.startswith('yes') for one in said)} are confirmed, "
            f"{sum(one.startswith('no:') for one in said)} are not and "
            f"{sum(one.startswith('not told') for one in said)} cannot be decided with these games"
        )
    header = ["experiment", "the post", *PLAYERS.values()]
    return "\n\n".join([table(header, rows), prose(f"Of {len(rows)} statements {'; '.join(counts)}.")])


SOME = 0.01
"""How far from a post's "some" a difference may be."""


class Claims:
    """Statements of the posts, and what came out for a player: rows of experiment, statement, verdict."""

    def __init__(self, tables: Tables, player: str) -> None:
        self.tables, self.player = tables, player
        self.rows: list[tuple[str, str, str]] = []

    def add(self, experiment: str, says: str, here: str, agrees: str | bool) -> None:
        """A statement."""
        said = agrees if isinstance(agrees, str) else "yes" if agrees else "no"
        known = any(row[0] == experiment for row in self.rows)
        self.rows.append(("" if known else experiment, says, f"{said}: {here}"))

    def best(self, experiment: str, says: str, curve: str) -> None:
        """Whether the post's best value is the best here, or not told apart from it."""
        said, found = BEST[curve], self.tables.best(curve, self.player)
        here = f"best is {found:g}: {self.at(curve, found)}"
        if found == said:
            self.add(experiment, says, here, True)
        else:
            self.compared(experiment, says, curve, said, found, 1, here=f"{here}; ")

    def harmed(self, experiment: str, says: str, curve: str) -> None:
        """Whether even the best number of copies is worse than none."""
        best = self.tables.best(curve, self.player, above=0.0)
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
        gain = self.tables.gain(curve, self.player, one, other)
        agrees = verdict(gain, sign)
        if agrees == "yes" and size and not gain[1] - SOME <= size <= gain[2] + SOME:
            agrees = f"yes, but {100 * abs(gain[0] - size):.0f} points {'more' if gain[0] > size else 'less'}"
        value, low, high = (100 * part for part in gain)
        scores = f"{percent(self.at(curve, one).value)} against {percent(self.at(curve, other).value)}"
        self.add(experiment, says, f"{here}{scores}, {value:+.1f} points ({low:+.1f} to {high:+.1f})", agrees)

    def at(self, curve: str, value: float) -> Share:
        """Score at a value of a curve."""
        return self.tables.at(curve, self.player, value)

    def seat(self, name: str) -> Share:
        """Score of the first player in games without a curve."""
        return self.tables.seat(name, self.player)


def is_near(share: Share, said: float) -> bool:
    """Whether a share is not told apart from one that a post says of as many games."""
    return abs(share.value - said) <= np.sqrt(2) * (share.high - share.low) / 2


def verdict(gain: tuple[float, float, float], sign: int) -> str:
    """Whether a difference with its interval has the sign that a source says."""
    low, high = sorted((sign * gain[1], sign * gain[2]))
    return "yes" if low > 0 else "no" if high < 0 else "not told apart"


def _make(claims: Claims) -> None:
    """Add all statements."""
    for name, says in (
        ("without", "without it the first player is ahead"),
        ("with The Coin", "with it, behind"),
    ):
        share = claims.seat(name)
        claims.add("The Coin", says, str(share), share.low > 0.5 if name == "without" else share.high < 0.5)
    own = "aggressiveness"
    claims.best(own, "best is 0.9", own)
    claims.compared(own, "0.9 is better than 1", own, 0.9, 1.0, 1)
    claims.compared(own, "0.5 is better than 1", own, 0.5, 1.0, 1)
    claims.best("Taunt", "best is 16", "taunt")
    claims.compared("Taunt", "16 are some 15 points better than none", "taunt", 16, 0, 1, 0.15)
    claims.compared("Taunt", "beyond 16 it falls", "taunt", 30, 16, -1)
    own, rager, base = "Divine Shield", claims.seat("both Magma Rager"), claims.at(SHIELD, 0)
    says = f"some {percent(SAID_RAGER)} where both hold Magma Rager"
    claims.add(own, says, str(rager), is_near(rager, SAID_RAGER))
    claims.add(own, f"some {percent(SAID_SHIELD)} at w_ds = 0", str(base), is_near(base, SAID_SHIELD))
    claims.best(own, "best is 1", SHIELD)
    claims.compared(own, "1 is better than 0", SHIELD, 1.0, 0.0, 1)
    negative = claims.tables.curve(SHIELD, claims.player).query("-1 < value < 0")
    worst = claims.at(SHIELD, float(negative["win_rate"].idxmin()))
    here = f"at {negative.index.min():g} to {negative.index.max():g} at least {worst}"
    claims.add(own, "above 60% with a weight between -1 and 0", here, worst.low > 0.6)
    claims.compared(own, "it plummets above 1", SHIELD, 2.0, 1.0, -1)
    rounds = [claims.tables.rounds(claims.player, value) for value in (0.0, 1.0, 2.0)]
    here = f"rounds at 0, 1, 2: {', '.join(f'{value:.2f}' for value in rounds)}"
    claims.add(own, "with w_ds = 2 games end earlier", here, rounds[2] < min(rounds[:2]))
    own = "Holy Smite"
    for weight in ("0.5", "2"):
        claims.harmed(own, f"w_dds {weight}: any copy harms", f"smite {weight}")
    claims.compared(own, "w_dds 1: copies help", "smite 1", 1, 0, 1)
    claims.best(own, "w_dds 1: best are about 6", "smite 1")
    claims.compared(own, "w_dds 1: too many harm (here 16)", "smite 1", 16, 0, -1)
