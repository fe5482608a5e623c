"""Statements of the thesis about its results, held against its own table and against ours."""

from collections.abc import Callable

import numpy as np

from benchmarks.published.pages import Share, percent, prose, table
from benchmarks.published.thesis_paper import MIRRORS
from benchmarks.published.thesis_tables import ENGINE, PRINTED, PUBLISHED, RULES, Tables
from benchmarks.thesis_published import PROFILES

KEEP, CLEAR, FACE, VALUE, TEMPO, BALANCED, FAVORITE = range(len(PROFILES))
"""W1 to W7 in the order of the table. The thesis's text calls W5, aggro-tempo, \"Board Clear\"."""

SLOWER = (CLEAR, TEMPO, FAVORITE)
PLAYERS = {
    PRINTED: "its own table",
    PUBLISHED: "the published player",
    RULES: "the player by the rules",
    ENGINE: "the engine",
}

Check = Callable[[Tables, str], tuple[bool, str]]
"""Whether a player's table is as said, and what it has."""


def claims(tables: Tables) -> str:
    """The thesis's statements, and whether each table agrees."""
    found = {says: [check(tables, name) for name in PLAYERS] for says, check in CLAIMS.items()}
    rows = [
        [says, *(f"{'yes' if agrees else 'no'}: {here}" for agrees, here in checks)]
        for says, checks in found.items()
    ]
    counts = ", ".join(
        f"in {words} {sum(checks[place][0] for checks in found.values())}"
        for place, words in enumerate(PLAYERS.values())
    )
    against = [says for says, checks in found.items() if not checks[0][0]]
    return "\n\n".join(
        [
            table(["the thesis", *PLAYERS.values()], rows),
            prose(
                f"Of the {len(rows)} statements, these hold: {counts}. The thesis contradicts its own table "
                "in "
                f"{len(against)}: {'; '.join(against)}."
            ),
        ]
    )


def _percents(values: np.ndarray, places: int = 0) -> str:
    return ", ".join(percent(value, places) for value in values)


def _advantage(tables: Tables, name: str) -> tuple[bool, str]:
    share = Share.of(*tables.wins(name))
    return share.low > 0.5, percent(share.value)


def _mirrors(tables: Tables, name: str) -> tuple[bool, str]:
    places = [number - 1 for number in MIRRORS]
    own = tables.rates(name)[places, places]
    said = np.array(list(MIRRORS.values()))
    agree = int(((own > 0.5) == (said > 0.5)).sum())
    return agree == len(said), f"{_percents(own, 1)}; {agree} of {len(said)} on the same side of half"


def _up_to(tables: Tables, name: str) -> tuple[bool, str]:
    most = float(tables.rates(name).diagonal().max())
    return abs(most - 0.87) <= 0.05, f"up to {percent(most)}"


def _reversed(one: int) -> Check:
    """A pairing that the first player wins from both sides."""

    def check(tables: Tables, name: str) -> tuple[bool, str]:
        rates = tables.rates(name)
        there, back = rates[one, TEMPO], rates[TEMPO, one]
        return bool(
            there > 0.5 and back > 0.5
        ), f"W{one + 1} wins {percent(there)} first, {percent(1 - back)} second"

    return check


def _keeps_all(tables: Tables, name: str) -> tuple[bool, str]:
    row = np.delete(tables.rates(name)[KEEP], KEEP)
    return bool((row > 0.5).sum() >= len(row) - 1), f"ahead of {int((row > 0.5).sum())} of {len(row)}"


def _often_above(profile: int) -> Check:
    def check(tables: Tables, name: str) -> tuple[bool, str]:
        row = tables.rates(name)[profile]
        return bool((row > 0.95).sum() >= 2), f"{int((row > 0.95).sum())} of {len(row)} cells"

    return check


def _tempo(tables: Tables, name: str) -> tuple[bool, str]:
    rates = tables.rates(name)
    ahead, lost = rates[TEMPO, FAVORITE], rates[[KEEP, FACE], TEMPO]
    return bool(ahead > 0.5 and (lost > 0.9).all()), f"{percent(ahead)}; loses {_percents(lost)}"


def _shortest(tables: Tables, name: str) -> tuple[bool, str]:
    turns = tables.turns(name)
    both = np.argsort(turns, axis=None)[:4]
    cells = [np.unravel_index(place, turns.shape) for place in both]
    agree = sum(bool({FACE, BALANCED} & {int(a), int(b)}) for a, b in cells)
    return agree == len(
        cells
    ), f"{agree} of the shortest {len(cells)}, {np.sort(turns, axis=None)[0]:.1f} rounds"


def _longest(tables: Tables, name: str) -> tuple[bool, str]:
    turns = tables.turns(name)
    first, second = np.unravel_index(turns.argmax(), turns.shape)
    agree = {int(first), int(second)} <= {TEMPO, FAVORITE}
    return agree, f"W{first + 1} against W{second + 1}, {turns.max():.1f} rounds"


def _best_first(tables: Tables, name: str) -> tuple[bool, str]:
    order = np.argsort(-tables.rates(name).mean(axis=1))[:2]
    return set(order.tolist()) == {KEEP, VALUE}, " and ".join(f"W{place + 1}" for place in order)


def _hybrid(tables: Tables, name: str) -> tuple[bool, str]:
    scores = tables.scores(name)
    rank = int((scores > scores[FAVORITE]).sum()) + 1
    return rank == 1, f"number {rank} of {len(PROFILES)}"


def _face(tables: Tables, name: str) -> tuple[bool, str]:
    own = tables.rates(name)[FACE, list(SLOWER)]
    return bool(np.all(own > 0.5)), _percents(own)


CLAIMS: dict[str, Check] = {
    "first players have a strong advantage (7.7.5, 7.7.8)": _advantage,
    "mirrors of W1, 2, 3, 5, 6, 7: 82.2, 74.2, 43.7, 87.2, 45.0, 80.1% (7.7.2)": _mirrors,
    "mirrors up to 87% (summary)": _up_to,
    "W1 against W5: 1,000 to 0, reversed 56 to 944, so that turn order decides (7.7.5)": _reversed(KEEP),
    "W3 against W5: 991 to 9, reversed 138 to 862, so that turn order decides (7.7.5)": _reversed(FACE),
    "W1, first, beats nearly every other (7.7.1)": _keeps_all,
    "W4, first, often wins above 95% (7.7.1)": _often_above(VALUE),
    "W7, first, often wins above 95% (7.7.1)": _often_above(FAVORITE),
    "W5 beats W7 first, and second collapses against the aggressive (7.7.1; W1 and W3 by 7.7.3)": _tempo,
    "the shortest games involve W3 or W6 (7.7.4)": _shortest,
    "the longest are of W5 and W7 (7.7.4)": _longest,
    "the best from the first seat are W1 and W4 (7.7.7)": _best_first,
    "the hybrid W7 wins most over all (summary)": _hybrid,
    "W3, first, often dominates slower ones: W2, W5, W7, by the printed rounds (summary)": _face,
}
"""Statements by their words; \"often\" is taken as at least two cells."""
