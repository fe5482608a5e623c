"""Convert generations to tables (columns: `runs/README.md`), and restore a strategy from the tables."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evo.config.run_config import RunConfig
from evo.evolution.fitness import Opponent, Tally
from evo.storage.run_folder import RunFolder
from evo.storage.schema import wins_column
from evo.strategies import GenerationResult, Parameters, Strategy, find_strategy


def individuals_table(
    told: GenerationResult, strategy: Strategy, tally: Tally, decks: Sequence[str]
) -> pd.DataFrame:
    """Table of a generation's individuals, one row each, in the order of `Strategy.ask`.

    Args:
        told: the result of the generation.
        strategy: after `tell`; supplies survivors and its own columns.
        tally: results of the generation's games.
        decks: deck names, in the order of the tally.
    """
    weights = strategy.parameters.vector.names()
    ranks = {parent.number: place + 1 for place, parent in enumerate(strategy.parents)}
    individuals = told.individuals
    n = len(individuals)
    parents = [individual.parents for individual in individuals]
    players = max(n, 1 + int(tally.pairings.max(initial=0)))  # opponents follow the individuals
    scores, played = tally.scores(players)[:n], tally.played(players)[:n]
    columns: dict[str, object] = {
        "generation": np.full(n, told.generation, np.int32),
        "individual": np.array([individual.number for individual in individuals], np.int64),
        "birth": np.array([individual.birth for individual in individuals], np.int32),
        "parent_a": _nullable([numbers[0] if numbers else None for numbers in parents]),
        "parent_b": _nullable([numbers[1] if len(numbers) > 1 else None for numbers in parents]),
    }
    for place, name in enumerate(weights):
        columns[f"weight_{name}"] = np.array([individual[place] for individual in individuals], np.float64)
    own_columns = strategy.columns(weights)
    own_values = np.array([strategy.values(individual) for individual in individuals], np.float64)
    for place, name in enumerate(own_columns):
        columns[name] = own_values[:, place]
    for a, own in enumerate(decks):
        for b, other in enumerate(decks):
            columns[wins_column(own, other)] = scores[:, a, b]
    columns["games"] = played.sum(axis=(1, 2))
    columns["fitness"] = told.fitness
    columns["survived"] = told.survived
    columns["rank"] = _nullable([ranks.get(individual.number) for individual in individuals])
    return pd.DataFrame(columns)


def pairings_table(
    generation: int,
    individuals: Sequence[int],
    tally: Tally,
    decks: Sequence[str],
    opponents: Sequence[Opponent] | None = None,
) -> pd.DataFrame:
    """Table of a generation's results, one row per pairing and ordered pair of decks.

    Args:
        generation: its number.
        individuals: their numbers, in the order of the tally.
        tally: results of the generation's games.
        decks: deck names, in the order of the tally.
        opponents: opponents outside the population, after the individuals in the tally; None in a run without
            any. They add the columns `entrant` (fixed opponents, whose `opponent` is missing) and `share`.
    """
    n_pairings, n_decks = len(tally.pairings), len(decks)
    of_players = [*individuals, *(-1 if one.number is None else one.number for one in opponents or ())]
    numbers = np.asarray(of_players, np.int64)[tally.pairings]
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
    table = pd.DataFrame(columns)
    if opponents is not None:
        others = np.repeat(tally.pairings[:, 1], repeat)
        entrants = pd.Series(
            [*["" for _ in individuals], *(one.entrant for one in opponents)], dtype="string"
        )
        shares = [*[np.nan] * len(individuals), *(one.share for one in opponents)]
        table["opponent"] = table["opponent"].astype("Int64").mask(table["opponent"] < 0)
        table["entrant"] = entrants.mask(entrants == "").take(others).reset_index(drop=True)
        table["share"] = np.array(shares)[others]
    return table


def new_strategy(config: RunConfig) -> Strategy:
    """Create the strategy of a run in its initial state."""
    return find_strategy(config.strategy)(
        Parameters(
            config.seed,
            config.mu,
            config.lambda_,
            config.vector,
            config.strategy_options,
            config.max_games_per_individual,
            config.fixed_weights,
            config.initial_weights,
        )
    )


def restore_strategy(folder: RunFolder) -> Strategy:
    """Restore the strategy of a run to its state after the last committed generation.

    Raises:
        RunError: a generation cannot be read.
        StrategyError: the strategy does not reproduce the history on this machine.
    """
    strategy = new_strategy(folder.config)
    strategy.restore(folder.tables("generations"))
    return strategy


def _nullable(values: Sequence[int | None]) -> pd.Series:
    return pd.Series(values, dtype="Int64")
