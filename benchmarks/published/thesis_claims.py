"""Statements of the thesis about its results, compared with ours."""

import numpy as np

from benchmarks.published.pages import Share, percent, prose, table
from benchmarks.published.thesis_tables import ENGINE, PUBLISHED, RULES, Tables
from benchmarks.thesis_published import PROFILES

HYBRID, FACE = "author-favorite", "aggro-face"
SLOWER = ("keep-alive", "board-clear", "value-trading")
PLAYERS = {RULES: "by the rules", PUBLISHED: "as published", ENGINE: "the engine"}


def claims(tables: Tables) -> str:
    """The thesis's statements, and whether each player agrees."""
    rows = [
        ["a strong first-player advantage (7.7.8 and 9)", *(_advantage(tables, name) for name in PLAYERS)],
        ["the hybrid profile wins most (summary)", *(_hybrid(tables, name) for name in PLAYERS)],
        [
            "aggro-face often dominates slower ones if it goes first (summary)",
            *(_face(tables, name) for name in PLAYERS),
        ],
    ]
    agree = {name: sum(row[place].startswith("yes") for row in rows) for place, name in enumerate(PLAYERS, 1)}
    counts = ", ".join(f"{number} {PLAYERS[name]}" for name, number in agree.items())
    return "\n\n".join(
        [
            table(["the thesis", *PLAYERS.values()], rows),
            prose(f"Of the {len(rows)} statements these are confirmed: {counts}."),
        ]
    )


def _advantage(tables: Tables, name: str) -> str:
    wins, games = tables.wins(name)
    share = Share.of(wins, games)
    return f"{'yes' if share.low > 0.5 else 'no'}: {percent(share.value)}"


def _hybrid(tables: Tables, name: str) -> str:
    scores = tables.scores(name)
    rank = int((scores > scores[PROFILES.index(HYBRID)]).sum()) + 1
    return f"{'yes' if rank == 1 else 'no'}: number {rank} of {len(PROFILES)}"


def _face(tables: Tables, name: str) -> str:
    own = tables.rates(name)[PROFILES.index(FACE), [PROFILES.index(other) for other in SLOWER]]
    said = "yes" if np.all(own > 0.5) else "no"
    return f"{said}: {', '.join(percent(value, 0) for value in own)}"
