"""A generation as tables, and a strategy back from them. `runs/README.md` tells every column."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evo.config import RunConfig
from evo.evolution.strategy import EvolutionStrategy, Individual, Told
from evo.play.setups import Tally
from evo.storage.schema import wins_column
from evo.storage.store import RunFolder
from rivals import WEIGHTS_OF


def individuals_table(
    told: Told, tally: Tally, weights: Sequence[str], decks: Sequence[str], ranks: dict[int, int]
) -> pd.DataFrame:
    """One row an individual evaluated: parents first, then children.

    Args:
        told: the generation.
        tally: its games.
        weights: names of the weights.
        decks: names in the order of the tally.
        ranks: place among the survivors, the best 1, by individual.
    """
    n = len(told.individuals)
    scores, played = tally.scores(n), tally.played(n)
    columns: dict[str, object] = {
        "generation": np.full(n, told.generation, np.int32),
        "individual": np.array([one.number for one in told.individuals], np.int64),
        "birth": np.array([one.birth for one in told.individuals], np.int32),
        "parent_a": _nullable([one.parents[0] if one.parents else None for one in told.individuals]),
        "parent_b": _nullable([one.parents[1] if len(one.parents) > 1 else None for one in told.individuals]),
    }
    for place, name in enumerate(weights):
        columns[f"weight_{name}"] = np.array([one[place] for one in told.individuals], np.float64)
    for place, name in enumerate(weights):
        columns[f"sigma_{name}"] = np.array([one.sigmas[place] for one in told.individuals], np.float64)
    for a, own in enumerate(decks):
        for b, other in enumerate(decks):
            columns[wins_column(own, other)] = scores[:, a, b]
    columns["games"] = played.sum(axis=(1, 2))
    columns["fitness"] = told.fitness
    columns["survived"] = told.survived
    columns["rank"] = _nullable([ranks.get(one.number) for one in told.individuals])
    return pd.DataFrame(columns)


def pairings_table(
    generation: int, individuals: Sequence[int], tally: Tally, decks: Sequence[str]
) -> pd.DataFrame:
    """One row a pairing and ordered pair of decks.

    Args:
        generation: its number.
        individuals: numbers of the players in the order of the tally.
        tally: the games.
        decks: names in the order of the tally.
    """
    n_pairings, n_decks = len(tally.pairings), len(decks)
    numbers = np.asarray(individuals, np.int64)[tally.pairings]
    repeat = n_decks * n_decks
    names = pd.Categorical.from_codes(list(range(n_decks)), list(decks))
    columns = {
        "generation": np.full(n_pairings * repeat, generation, np.int32),
        "individual": np.repeat(numbers[:, 0], repeat),
        "opponent": np.repeat(numbers[:, 1], repeat),
        "deck": np.tile(np.repeat(np.asarray(names), n_decks), n_pairings),
        "opponent_deck": np.tile(np.asarray(names), n_pairings * n_decks),
    }
    for name in ("games", "wins", "draws", "turns"):
        columns[name] = getattr(tally, name).reshape(-1).astype(np.int64)
    return pd.DataFrame(columns)


def restore(folder: RunFolder, config: RunConfig) -> EvolutionStrategy:
    """The strategy as it stood after the last committed generation."""
    names = WEIGHTS_OF[config.agent].names()
    strategy = EvolutionStrategy(config, len(names))
    for generation in range(folder.committed):
        strategy.move_on(survivors(folder.read("generations", generation), names))
    return strategy


def survivors(table: pd.DataFrame, weights: Sequence[str]) -> list[Individual]:
    """The individuals of a generation that lived on, the best first."""
    return [
        individual_of(row, weights) for row in table[table["survived"]].sort_values("rank").to_dict("records")
    ]


def individual_of(row: dict[str, object], weights: Sequence[str]) -> Individual:
    """An individual from its row."""

    def number(key: str) -> float:
        return float(str(row[key]))

    parents = tuple(int(number(key)) for key in ("parent_a", "parent_b") if not pd.isna(row[key]))
    individual = Individual(
        [number(f"weight_{name}") for name in weights],
        [number(f"sigma_{name}") for name in weights],
        int(number("individual")),
        parents,
        int(number("birth")),
    )
    individual.fitness.values = (number("fitness"),)
    return individual


def _nullable(values: Sequence[int | None]) -> pd.Series:
    return pd.Series(values, dtype="Int64")
