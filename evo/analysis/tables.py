"""Read run folders, finished or running, as tidy tables, without locks and without writing.

Only committed generations are read. A file that is missing or fails its checksum is left out, and reported
in `Runs.problems` and by a `RunWarning`.
"""

import threading
import warnings
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from engine import ManaforgeError
from engine.terminal import safe_text
from evo.config.run_config import RunConfig
from evo.evolution.validation import is_validation_due
from evo.storage.files import not_a_run_text
from evo.storage.history import HistoryError, read_committed, read_history, table_path
from evo.storage.run_folder import (
    RunError,
    RunFolder,
    RunNameError,
    open_run_read_only,
    resolve_run_path,
)
from evo.storage.schema import VALIDATION_COLUMNS, SchemaError, read_table, wins_column
from ilp_agent.weights import WeightVector

READER_THREADS = 4

MOST_CELLS = 2**25
"""Most cells of the tables of one kind read together: 256 MB; ten of our largest runs hold 7 million."""


class RunWarning(UserWarning):
    """A part of a run cannot be read and is left out."""


class _CellBudget:
    """Budget of table cells, shared by the reading threads."""

    def __init__(self, kind: str) -> None:
        self._kind, self._left, self._lock = kind, MOST_CELLS, threading.Lock()

    def take(self, table: pa.Table) -> pa.Table:
        """Charge a table's cells to the budget, and return the table.

        Raises:
            RunError: the budget is exceeded.
        """
        with self._lock:
            self._left -= table.num_rows * table.num_columns
            if self._left < 0:
                held = f"the {self._kind} of these runs hold more than {MOST_CELLS:,} numbers"
                raise RunError(f"{held}; give fewer runs")
        return table


@dataclass(frozen=True)
class Runs:
    """Snapshot of runs: the folders, and a table of all individuals.

    Attributes:
        folders: run folders by the run's name in tables.
        individuals: see `read_runs`.
        problems: unreadable parts, one sentence each.
    """

    folders: dict[str, RunFolder]
    individuals: pd.DataFrame
    problems: tuple[str, ...]

    @property
    def inert_weights(self) -> frozenset[str]:
        """Names of the weights that change no decision in any of the runs, or that one of them fixes."""
        configs = self.configs.values()
        fixed = (name for config in configs for name in config.fixed_weights)
        return frozenset.intersection(*(config.inert_weights for config in configs)) | frozenset(fixed)

    @property
    def vector(self) -> type[WeightVector]:
        """Class of the weights that the runs evolve."""
        return next(iter(self.configs.values())).vector

    @property
    def configs(self) -> dict[str, RunConfig]:
        """Configurations by run name."""
        return {name: folder.config for name, folder in self.folders.items()}


def weights_of(table: pd.DataFrame) -> list[str]:
    """Column names of the raw weights, weight_NAME, in order; [] for a table without raw weights."""
    return [name for name in table.columns if str(name).startswith("weight_")]


def shares_of(table: pd.DataFrame) -> list[str]:
    """Column names of the scale-free weights, share_NAME."""
    return [name for name in table.columns if str(name).startswith("share_")]


def sigmas_of(table: pd.DataFrame) -> list[str]:
    """Column names of the step sizes, sigma_NAME for every weight; [] if a weight has no step size."""
    columns = [f"sigma_{name}" for name in names_of(table)]
    return columns if set(columns) <= set(table.columns) else []


def names_of(table: pd.DataFrame) -> list[str]:
    """Names of the weights of a table, from the columns share_NAME."""
    return [name.removeprefix("share_") for name in shares_of(table)]


def find_runs(paths: Iterable[Path | str]) -> dict[str, Path]:
    """Find run folders by name: the given folders, and the run folders in given study folders.

    Returns:
        Paths by name: the folder's own, or as much of its path as makes the names unique.

    Raises:
        RunError: a path holds no run, or a run is given twice.
    """
    found: list[Path] = []
    for path in (resolve_run_path(Path(path)) for path in paths):
        inside = [path] if (path / "config.toml").is_file() else []
        inside = inside or sorted(file.parent for file in path.glob("*/config.toml"))
        if not inside:
            raise RunNameError(not_a_run_text(path))
        found += inside
    if len({path.resolve() for path in found}) < len(found):
        raise RunNameError(f"a run is given twice: {', '.join(map(str, found))}; give it once")
    for depth in range(1, 20):
        names = [safe_text("/".join(path.resolve().parts[-depth:])) for path in found]
        if len(set(names)) == len(names):
            break
    return dict(zip(names, found, strict=True))


def read_runs(paths: Iterable[Path | str]) -> Runs:
    """Read all individuals of runs into one table.

    Args:
        paths: run folders, or folders of studies.

    Returns:
        `individuals` has one row per individual and generation: run, all columns of `generations/` (see
        runs/README.md), share_NAME (the weights in their scale-free form: divided by their sum, since scaling
        all weights changes no plan, for `eva` see `rivals.EvaWeights`; missing where every weight is 0; no
        column for a weight that changes no decision with these decks, `Runs.inert_weights`), win_rate
        (fitness divided by games) and age (generations since birth).

    Raises:
        RunError: there is no such run, or these runs evolve the weights of different agents, or different
            sets of weights, or the tables are too large to read together.
    """
    folders, problems = {}, []
    for name, path in find_runs(paths).items():
        try:
            folders[name] = open_run_read_only(path)
        except ManaforgeError as error:
            problems.append(f"run {path} cannot be read: {error}")
    agents = sorted({folder.config.agent for folder in folders.values()})
    if len(agents) > 1:
        raise RunError(
            f"these runs evolve different agents ({', '.join(agents)}); give only runs of one agent"
        )
    sets = {folder.config.weights: name for name, folder in folders.items()}
    if len(sets) > 1:
        told = ", ".join(f"{name} {kind}" for kind, name in sorted(sets.items()))
        raise RunError(f"these runs evolve different sets of weights ({told}); give only runs of one set")
    frames = _read_all(folders, "generations", problems)
    for problem in problems:
        warnings.warn(problem, RunWarning, stacklevel=2)
    if not frames:
        raise RunError(
            f"no generation can be read yet in {', '.join(str(path) for path in paths)}"
            + "".join(f"; {problem}" for problem in problems[:3])
        )
    individuals = pd.concat(frames, ignore_index=True)
    individuals.insert(0, "run", individuals.pop("run").astype("category"))
    vectors = list(dict.fromkeys(folder.config.vector for folder in folders.values()))
    if len(vectors) > 1:
        raise RunError(
            "these runs evolve different parameters of one agent; give only runs with the same parameters"
        )
    vector = vectors[0]
    weights = individuals[[f"weight_{name}" for name in vector.names()]].to_numpy()
    runs = Runs(folders, individuals, tuple(problems))
    inert = runs.inert_weights
    shares = vector.active_shares(weights, inert)
    for place, name in enumerate(vector.names()):
        if name not in inert:
            individuals[f"share_{name}"] = shares[:, place]
    # In older runs with racing some played fewer games; their fitness is extrapolated to all games.
    games = individuals.groupby(["run", "generation"], observed=True)["games"].transform("max")
    individuals["win_rate"] = individuals["fitness"] / games
    individuals["age"] = individuals["generation"] - individuals["birth"]
    return runs


def read_pairings(runs: Runs, *columns: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read the pairings of runs, with some or all columns of `pairings/`; also return reading problems."""
    problems: list[str] = []
    frames = _read_all(runs.folders, "pairings", problems, columns)
    for problem in problems:
        warnings.warn(problem, RunWarning, stacklevel=2)
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(), tuple(problems)


def read_validation(runs: Runs, names: Collection[str] | None = None) -> pd.DataFrame:
    """Read the validations of runs, with all columns of `validation/`; leave out unreadable files.

    A row without an opponent is against all of the seven; `who` is "best" of the generation, or "centre".
    """
    tables = [
        table.assign(run=name)
        for name, folder in runs.folders.items()
        if names is None or name in names
        for generation in range(folder.committed)
        if is_validation_due(folder.config, generation)
        and (table := folder.validation(generation)) is not None
    ]
    return (
        pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["run", *VALIDATION_COLUMNS])
    )


def _read_all(
    folders: dict[str, RunFolder], kind: str, problems: list[str], columns: Sequence[str] = ()
) -> list[pd.DataFrame]:
    """Read tables of runs in parallel. `problems` is extended in place, in the order of the runs."""
    found: list[list[str]] = [[] for _ in folders]
    budget = _CellBudget(kind)
    with ThreadPoolExecutor(READER_THREADS) as readers:
        tables = list(
            readers.map(
                lambda folder, problems: _read_tables(folder, kind, problems, budget, columns),
                folders.values(),
                found,
            )
        )
    problems += [problem for of_run in found for problem in of_run]
    return [table.assign(run=name) for name, table in zip(folders, tables, strict=True) if table is not None]


def _read_tables(
    folder: RunFolder, kind: str, problems: list[str], budget: _CellBudget, columns: Sequence[str]
) -> pd.DataFrame | None:
    """Read a run's table of all valid generations; None without any. `problems` is extended in place."""
    tables = []
    sums = folder.path / "checksums.txt"
    try:
        history = read_history(folder.path)
    except OSError as error:
        problems.append(f"{sums} cannot be read: {error.strerror}")
        return None
    if not history.text and any((folder.path / kind).glob("*.parquet")) and kind == "generations":
        problems.append(f"{sums} is missing or empty, so no generation can be trusted")
    if history.problem and not history.torn:
        problems.append(f"{folder.path}: {history.problem}")
    for number, entry in enumerate(history.entries):
        file = table_path(folder.path, kind, number)
        try:
            content = read_committed(folder.path, kind, number, entry)
            table = read_table(content, kind, folder.config)
            tables.append(budget.take(table.select(columns) if columns else table))
        except OSError as error:
            problems.append(f"{file} cannot be read: {error.strerror}")
        except HistoryError as error:
            problems.append(f"{folder.path}: {error}")
        except SchemaError as error:
            problems.append(f"{file} is not a table of {kind}: {error}")
    if not tables:
        return None
    return pa.concat_tables(tables, promote_options="permissive").unify_dictionaries().to_pandas()


def long_weights(individuals: pd.DataFrame) -> pd.DataFrame:
    """Long table of weights, one row per individual, generation and weight: the keys, value and share."""
    values = [f"weight_{name}" for name in names_of(individuals)]
    return _long(individuals, {"value": values, "share": shares_of(individuals)})


def long_sigmas(individuals: pd.DataFrame) -> pd.DataFrame:
    """Long table of step sizes, one row per individual, generation and weight: the keys and sigma."""
    return _long(individuals, {"sigma": sigmas_of(individuals)})


def _long(individuals: pd.DataFrame, values: dict[str, list[str]]) -> pd.DataFrame:
    names, keys = names_of(individuals), ["run", "generation", "individual", "survived"]
    n = len(names)
    table = individuals[keys].loc[individuals.index.repeat(n)].reset_index(drop=True)
    codes = np.tile(np.arange(n), len(individuals))
    table["weight"] = pd.Categorical.from_codes(codes, names)
    for name, columns in values.items():
        table[name] = individuals[columns].to_numpy().reshape(-1)
    return table


def last_population(individuals: pd.DataFrame) -> pd.DataFrame:
    """Survivors of each run's last readable generation, the best of a run first."""
    last = individuals.groupby("run", observed=True)["generation"].transform("max")
    rows = individuals[(individuals["generation"] == last) & individuals["survived"]]
    return rows.sort_values(["run", "rank"]).reset_index(drop=True)


def best_individuals(individuals: pd.DataFrame) -> pd.DataFrame:
    """Best individual of each run and generation."""
    return individuals[individuals["rank"] == 1].reset_index(drop=True)


def lifespans(individuals: pd.DataFrame) -> pd.DataFrame:
    """Table with one row per individual: run, individual, birth, lifespan (generations survived), alive."""
    last = individuals.groupby("run", observed=True)["generation"].transform("max")
    frame = individuals[["run", "individual", "birth"]].assign(
        lifespan=individuals["survived"].astype(int),
        alive=(individuals["generation"] == last) & individuals["survived"],
    )
    keys = ["run", "individual"]
    table = frame.groupby(keys, observed=True).agg({"birth": "first", "lifespan": "sum", "alive": "any"})
    return table.reset_index()


def newcomers(individuals: pd.DataFrame) -> pd.DataFrame:
    """Number of survivors born in each generation after 0, one row per run and generation."""
    survivors = individuals[individuals["survived"] & (individuals["generation"] > 0)]
    new = survivors["birth"] == survivors["generation"]
    return (
        survivors.assign(newcomers=new.astype(int))
        .groupby(["run", "generation"], observed=True)["newcomers"]
        .sum()
        .reset_index()
    )


def wins_by_decks(population: pd.DataFrame, decks: Sequence[str]) -> pd.DataFrame:
    """Score per game by own deck (rows) and opponent's deck (columns), as in EVA's Table 4."""
    games = population["games"].sum() / len(decks) ** 2
    table = pd.DataFrame(
        [[population[wins_column(a, b)].sum() / games for b in decks] for a in decks],
        index=pd.Index(decks, name="deck"),
        columns=pd.Index(decks, name="opponent's deck"),
    )
    return table.astype(float)


def ancestors(individuals: pd.DataFrame, run: str, individual: int) -> pd.DataFrame:
    """Table of an individual and all its ancestors.

    Returns:
        One row per ancestor, the oldest first: individual, birth, parent_a, parent_b, last (the last
        generation it survived), share_NAME.
    """
    own = individuals[individuals["run"] == run]
    known = own.drop_duplicates("individual").set_index("individual")
    alive = own[own["survived"]].groupby("individual")["generation"].max()
    found: set[int] = set()
    waiting = [individual]
    while waiting:
        number = waiting.pop()
        if number in found or number not in known.index:
            continue
        found.add(number)
        parents = (known.at[number, name] for name in ("parent_a", "parent_b"))
        waiting += [int(parent) for parent in parents if pd.notna(parent)]
    rows = known.loc[sorted(found)].reset_index()
    rows["last"] = rows["individual"].map(alive).fillna(rows["birth"]).astype(int)
    return rows[["individual", "birth", "parent_a", "parent_b", "last", *shares_of(individuals)]]
