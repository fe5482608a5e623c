"""The authors' own last populations, and what their program shows of the paper's Table 4.

Source: github.com/fergunet/SabberStone, core-extensions/SabberStoneCoreAi: results/winners.individuals
(weights and wins of the 100 individuals), results/results100BestIndividuals.txt (games of each two of them,
by decks), coevolutionary.py, and for the weights' order src/Agent/ParametricGreedyAgent.cs; 2018 and 2019.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.published.eva_paper import DECKS, TABLE_4
from rivals import EvaWeights

INDIVIDUALS = Path(__file__).parent / "authors" / "eva-individuals.csv"
"""Run, weights by our names in the authors' order, and nine counts of wins (`wins_1` to `wins_9`)."""

GAMES = 19 * 20
"""Games of an individual for each ordered pair of decks."""

NAMES = {"Mage": "RenoKazakusMage", "Shaman": "MidrangeJadeShaman", "Warrior": "AggroPirateWarrior"}
"""Their names of the decks, in the order of their program."""

CROSSPLAY = {("Shaman", "Mage"): 0.6747, ("Warrior", "Mage"): 0.5786, ("Shaman", "Warrior"): 0.5673}
"""Score of the first deck in the games of the 100 with each other; the file names the decks of each line.

198,000 games of each pair of decks.
"""

RUN_AGAIN = {("Shaman", "Mage"): 677, ("Warrior", "Mage"): 554, ("Warrior", "Shaman"): 422}
"""Wins of the first deck in `RUN_GAMES` games of their program, which we ran: docs/published.md says how."""

RUN_GAMES = 1_000
"""Games of each pair of decks: 40 pairs of individuals, 25 games each."""


def string_hash(text: str) -> int:
    """Hash of a string in the 64-bit Python 2.7 of 2018, without randomisation."""
    mask = (1 << 64) - 1
    found = ord(text[0]) << 7
    for letter in text:
        found = ((1_000_003 * found) ^ ord(letter)) & mask
    return found ^ len(text)


def dictionary_order(keys: list[str]) -> list[str]:
    """Order in which that Python lists the keys of a dictionary that got them one after the other."""
    slots: list[str | None] = [None] * 8
    for number, key in enumerate(keys, 1):
        _insert(slots, key)
        if 3 * number >= 2 * len(slots):
            larger: list[str | None] = [None] * 8
            while len(larger) <= 4 * number:
                larger *= 2
            for old in slots:
                if old is not None:
                    _insert(larger, old)
            slots = larger
    return [key for key in slots if key is not None]


def _insert(slots: list[str | None], key: str) -> None:
    place = perturb = string_hash(key)
    while slots[place % len(slots)] is not None:
        place = 5 * place + perturb + 1
        perturb >>= 5
    slots[place % len(slots)] = key


def pairs_in_file() -> list[tuple[str, str]]:
    """Own deck and the opponent's of each of the nine counts.

    The program writes the values of a dictionary, whose keys are the names of both decks after one key of the
    total, as its Python lists them.
    """
    pairs = {NAMES[own] + NAMES[other]: (own, other) for own in NAMES for other in NAMES}
    return [pairs[key] for key in dictionary_order(["TOTAL", *pairs]) if key in pairs]


def counted() -> list[float]:
    """Share of games that the 100 individuals won, of each of the nine counts in the file's order."""
    table = pd.read_csv(INDIVIDUALS)
    return [float(table[f"wins_{number}"].sum()) / (GAMES * len(table)) for number in range(1, 10)]


def table_4() -> dict[tuple[str, str], float]:
    """Score of the row's deck against the column's, from the authors' file with the names of its counts."""
    found = dict(zip(pairs_in_file(), counted(), strict=True))
    return {cell: found[cell] for cell in TABLE_4}


def printed_shift() -> int | None:
    """By how many places the names of Table 4 are shifted against the file's counts; None: it is no shift.

    A shift by n gives each count the name that stands n places earlier, with the last n names first; all nine
    numbers are then those of Table 4 to its digits.
    """
    names, counts = pairs_in_file(), counted()
    for shift in range(len(names)):
        shifted = names[len(names) - shift :] + names[: len(names) - shift]
        if all(abs(TABLE_4[pair] - own) <= 0.0002 for pair, own in zip(shifted, counts, strict=True)):
            return shift
    return None


def weights() -> np.ndarray:
    """Weights of the 100 individuals in our order; shape (100, 21)."""
    table = pd.read_csv(INDIVIDUALS)
    return table[list(EvaWeights.names())].to_numpy()


assert set(NAMES) == set(DECKS.values())
