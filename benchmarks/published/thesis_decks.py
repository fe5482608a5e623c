"""Guesses of the thesis's decks: how near each comes to its printed table, and how much choosing fits."""

from collections.abc import Callable

import numpy as np

from benchmarks.published.pages import Share, listed, percent, picture, prose, table
from benchmarks.published.thesis_guesses import guess_decks
from benchmarks.published.thesis_tables import PRINTED, PUBLISHED, RULES, Tables, interval
from benchmarks.thesis_published import PROFILES

GUESSES = ("plain", "keywords")
"""Deck guesses made before the table was seen, besides the shipped one."""

EARLIER = {"shipped": PUBLISHED, **{guess: f"{PUBLISHED}, {guess}" for guess in GUESSES}}
"""The published player with these guesses, by their words."""

DRAWN, GAMES_DRAWN, CHOSEN = 16, 40, 6
"""Guesses drawn at random after it was seen, their games of a cell, and the one nearest to the table."""

CHOSEN_AGAIN = "chosen guess, other games"


def guess_name(number: int) -> str:
    """The published player with a drawn guess."""
    return f"{PUBLISHED}, guess {number}"


def guesses_text(tables: Tables) -> str:
    """Earlier guesses against the printed table, then the drawn ones."""
    rows = []
    for words, published in EARLIER.items():
        rules = RULES if words == "shipped" else f"{RULES}, {words}"
        rows.append(
            [
                words,
                interval(tables.alike(published, PRINTED)),
                interval(tables.error(published), 100, 1),
                interval(tables.alike(rules, PRINTED)),
                interval(tables.error(rules), 100, 1),
                interval(tables.alike(published, PUBLISHED)) if published != PUBLISHED else "1",
                str(Share.of(*tables.wins(published))),
                ", ".join(PROFILES[place] for place in np.argsort(-tables.scores(published))[:3]),
            ]
        )
    header = [
        "decks",
        "published: rank correlation with the printed table",
        "published: mean error",
        "by the rules: rank correlation with the printed table",
        "by the rules: mean error",
        "published: rank correlation with the shipped decks",
        "first player wins",
        "best three",
    ]
    best = listed([PROFILES[place] for place in np.argsort(-tables.scores(PRINTED))[:3]])
    nearer = [words for words, name in EARLIER.items() if tables.error(name)[0] < tables.error(PUBLISHED)[0]]
    return "\n\n".join(
        [
            table(header, rows),
            prose(
                f"By mean error {listed(nearer)} {'is' if len(nearer) == 1 else 'are'} nearer to the printed "
                "table "
                "than the shipped decks."
                if nearer
                else "None is nearer than the shipped decks.",
                f"The best three in the printed table are {best}. The published player is surely nearer to "
                f"it than the one by the rules with {_nearer(tables.error)} by mean error, and with "
                f"{_nearer(lambda name, rules: tables.alike(name, PRINTED, rules))} by rank correlation.",
            ),
            picture("published-guesses", "mean error of the published player with each guess of the decks"),
            prose(*_drawn(tables)),
        ]
    )


def _nearer(gain: Callable[[str, str], tuple[float, float, float]]) -> str:
    """With which guesses the published player is surely nearer to the printed table than the other."""
    found = [
        words
        for words, name in EARLIER.items()
        if gain(name, RULES if words == "shipped" else f"{RULES}, {words}")[1] > 0
    ]
    return f"all {len(found)} guesses" if len(found) == len(EARLIER) else listed(found) or "none"


def _drawn(tables: Tables) -> list[str]:
    """Sentences on the guesses drawn at random and the one chosen of them."""
    rates = np.array([tables.rates(guess_name(number)) for number in range(DRAWN)])
    apart = np.abs(rates - tables.rates(PRINTED))
    errors = [100 * tables.error(guess_name(number))[0] for number in range(DRAWN)]
    chosen = nearest(apart)
    held, same = held_out_error(apart), held_out_error(apart[[chosen]])
    again = tables.error(CHOSEN_AGAIN)
    decks = guess_decks(CHOSEN)
    shares = [np.mean([bool(card.spec.keywords) for card in deck]) for deck in decks]
    costs = [np.mean([card.spec.cost for card in deck]) for deck in decks]
    return [
        f"Fitted: {DRAWN} more guesses were drawn after the table was seen, each the printed cards and "
        "others drawn from minions of the class and neutral ones that have attack and cost 1 to 8, with a "
        f"share of keywords and a mean cost that differ by guess, {GAMES_DRAWN} games a cell. Their mean "
        f"errors are {min(errors):.1f} to {max(errors):.1f} points, in the mean {np.mean(errors):.1f}; the "
        f"nearest, number {chosen}, has {errors[chosen]:.1f}, and {interval(again, 100, 1)} in "
        f"{int(tables.of(CHOSEN_AGAIN)['games'].iloc[0])} other games a cell.",
        "To see how much choosing fits, all cells of one profile are left out, the guess is chosen by the "
        f"others, and its error is measured on those left out: {100 * held:.1f} points in the mean of the "
        f"seven profiles, where number {chosen} has {100 * same:.1f} on the same cells (chance included).",
        f"The chosen decks have keywords on {percent(shares[0], 0)} and {percent(shares[1], 0)} of their "
        "cards "
        f"and a mean cost of {costs[0]:.1f} and {costs[1]:.1f} (Paladin, Warrior).",
    ]


def nearest(apart: np.ndarray) -> int:
    """The guess with the smallest mean distance.

    Args:
        apart: distances of cells, shape (guesses, 7, 7).
    """
    return int(apart.mean(axis=(1, 2)).argmin())


def held_out_error(apart: np.ndarray) -> float:
    """Mean distance of left out cells, of the guess chosen by the others; all cells of a profile at a time.

    Args:
        apart: distances of cells, shape (guesses, 7, 7).
    """
    found = []
    for profile in range(apart.shape[1]):
        left = np.zeros(apart.shape[1:], bool)
        left[profile], left[:, profile] = True, True
        chosen = apart[:, ~left].mean(axis=1).argmin()
        found.append(apart[chosen, left].mean())
    return float(np.mean(found))
