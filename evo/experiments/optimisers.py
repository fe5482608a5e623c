"""Optimisers compared at equal games: where each stands after so many games, by several runs.

A run of a contender is an evolution without a final and without a folder: only its centre is kept, at every
budget and some numbers of games before. Centres of all runs then meet the same opponents on the same deals.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from evo.config import RunConfig
from evo.evolution.fitness import play_pairings
from evo.evolution.opponents import find_opponents, play_generation
from evo.evolution.records import new_strategy
from evo.evolution.run import games_of_generation
from evo.evolution.study import run_side_by_side
from evo.experiments.contenders import Contender
from evo.experiments.folder import ExperimentFolder
from evo.play.games import Play, Player, Roster, Schedule, roster_of
from evo.seeds import Stream, study_seed
from evo.stats.ratings import elo
from evo.stats.runs import mean_over_runs
from evo.storage.files import json_bytes
from evo.strategies import Individual, Strategy

CURVE = 8
"""Numbers of games, evenly spaced by their logarithm, at which a run without a schedule is measured too."""

AT_ONCE = 64
"""Centres that meet the opponents in one schedule."""


@dataclass(frozen=True)
class Bench:
    """A comparison.

    Attributes:
        contenders: at least one; the first is what the others are compared with.
        budgets: games of runs, ascending.
        seeds: runs of each contender.
        against: entrants that rate the centres, by their texts.
        games: of a centre against each of them and ordered pair of decks; even.
    """

    contenders: tuple[Contender, ...]
    budgets: tuple[int, ...]
    seeds: int
    against: dict[str, Player]
    games: int


@dataclass(frozen=True)
class Run:
    """A run of a comparison.

    Attributes:
        contender: its text.
        number: from 0.
        budget: games.
        config: seed, generations and schedule included.
        marks: numbers of games after which the centre is kept, ascending; the last is the budget.
    """

    contender: str
    number: int
    budget: int
    config: RunConfig
    marks: tuple[int, ...]

    @property
    def file(self) -> str:
        """Name of the file with its points."""
        return f"points/{self.config.digest[:16]}-{self.budget}.json"

    @property
    def games(self) -> int:
        """Most games that it plays."""
        return sum(games_of_generation(self.config, number) for number in range(self.config.generations + 1))


class Point(BaseModel):
    """Where a run stands after so many games."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    mark: int
    games: Annotated[int, Field(ge=0)]
    generation: Annotated[int, Field(ge=0)]
    weights: list[Annotated[float, Field(ge=0, le=1)]]


_POINTS = TypeAdapter(list[Point])


def runs_of(bench: Bench) -> list[Run]:
    """All runs: of the largest budget alone where no schedule depends on it.

    Raises:
        ConfigOptionError: a budget is less than a generation.
    """
    found = []
    for contender in bench.contenders:
        budgets = bench.budgets if contender.scheduled else bench.budgets[-1:]
        for number in range(bench.seeds):
            seed = study_seed(contender.config.seed, number)
            first = games_of_generation(contender.within(bench.budgets[0], seed), 0)
            for budget in budgets:
                curve = np.geomspace(first, budget, CURVE).astype(int)[:-1].tolist()
                marks = {budget} if contender.scheduled else {*bench.budgets, *curve}
                config = contender.within(budget, seed)
                found.append(Run(contender.text, number, budget, config, tuple(sorted(marks))))
    return found


def play_run(run: Run, play: Play) -> list[dict[str, Any]]:
    """Play a run; its points: mark, games, generation and weights of the centre at every mark.

    A race plays fewer games than a generation may have, and so has more generations for the same budget.
    """
    config = run.config
    strategy, fixed, played = new_strategy(config), list(find_opponents(config).values()), 0

    def counting(roster: Roster, games: Schedule) -> np.ndarray:
        nonlocal played
        played += len(games)
        return play(roster, games)

    def evaluate(asked: Sequence[Individual]) -> tuple[np.ndarray, int]:
        before = played
        met = play_generation(config, strategy, asked, fixed, counting)
        return met.fitness, played - before

    return [
        {"mark": mark, "games": games, "generation": strategy.generation - 1, "weights": centre_of(strategy)}
        for mark, games in walk(run, strategy, evaluate)
    ]


def walk(
    run: Run, strategy: Strategy, evaluate: Callable[[Sequence[Individual]], tuple[np.ndarray, int]]
) -> Iterator[tuple[int, int]]:
    """Evolve a strategy; yields every mark with the games so far, where a generation more may be beyond it.

    Args:
        run: whose marks they are.
        strategy: new; it stands at the mark when that is yielded.
        evaluate: gives the fitness of individuals, and the games that it took.
    """
    games = 0
    for mark in run.marks:
        while games + games_of_generation(run.config, strategy.generation) <= mark:
            fitness, played = evaluate(strategy.ask())
            strategy.tell(fitness)
            games += played
        yield mark, games


def centre_of(strategy: Strategy) -> list[float]:
    """Weights of a strategy's centre; of its best parent where there is none."""
    centre = strategy.centre()
    return [float(value) for value in (strategy.parents[0] if centre is None else centre.weights)]


def missing_runs(bench: Bench, folder: ExperimentFolder) -> list[Run]:
    """Runs whose points are not in the folder."""
    return [run for run in runs_of(bench) if not read_points(folder, run)]


def read_points(folder: ExperimentFolder, run: Run) -> list[dict[str, Any]]:
    """The points of a run that the folder keeps; [] if they cannot be read."""
    try:
        points = _POINTS.validate_python(folder.kept(run.file).get("points"))
    except ValidationError:
        return []
    whole = [point.mark for point in points] == list(run.marks)
    whole &= {len(point.weights) for point in points} == {len(run.config.vector.names())}
    return [dict(point) for point in points] if whole else []


def play_missing(bench: Bench, folder: ExperimentFolder, play: Play, at_a_time: int) -> None:
    """Play the runs whose points are missing, so many side by side, and keep their points."""
    missing = missing_runs(bench, folder)

    def play_one(place: int) -> None:
        run = missing[place]
        content = {"contender": run.contender, "run": run.number, "budget": run.budget}
        folder.keep(run.file, json_bytes(content | {"points": play_run(run, play)}))

    if missing:
        run_side_by_side(play_one, len(missing), at_a_time)


def points_table(bench: Bench, folder: ExperimentFolder) -> pd.DataFrame:
    """All points: contender, run, budget (0 between budgets), mark, games, generation, weights (text)."""
    table = table_of(bench, ((run, read_points(folder, run)) for run in runs_of(bench)))
    return table.assign(weights=table["weights"].map(json.dumps))


def table_of(bench: Bench, points: Iterable[tuple[Run, Sequence[Mapping[str, Any]]]]) -> pd.DataFrame:
    """Points of runs as a table: contender, run, budget (0 between budgets), and what each point has."""
    rows = []
    for run, own in points:
        for point in own:
            budget = point["mark"] if point["mark"] in bench.budgets else 0
            rows.append({"contender": run.contender, "run": run.number, "budget": budget, **point})
    return pd.DataFrame(rows)


def games_of_rating(bench: Bench) -> int:
    """Games that rate all points, at most."""
    points = sum(len(run.marks) for run in runs_of(bench))
    return points * len(bench.against) * bench.games * len(bench.contenders[0].config.decks) ** 2


def rated(bench: Bench, points: pd.DataFrame, play: Play) -> pd.DataFrame:
    """The points with their score (mean over the opponents) and Elo, all on the same deals.

    Who won or lost all games is rated as if half a game had been the other way.

    Args:
        bench: the comparison.
        points: as of `points_table`.
        play: plays a schedule.
    """
    different = list(dict.fromkeys(points["weights"]))
    config, opponents = bench.contenders[0].config, list(bench.against.values())
    scores: dict[str, float] = {}
    for start in range(0, len(different), AT_ONCE):
        some = different[start : start + AT_ONCE]
        n = len(some)
        roster = roster_of(config, [json.loads(text) for text in some], opponents)
        pairings = np.array([(i, n + j) for i in range(n) for j in range(len(opponents))])
        tally = play_pairings(roster, pairings, bench.games, config.seed, (Stream.EXPERIMENT, 0), play)
        won = (tally.wins + tally.draws / 2).sum((1, 2)) / tally.games.sum((1, 2))
        scores |= dict(zip(some, won.reshape(n, len(opponents)).mean(axis=1), strict=True))
    table = points.assign(score=points["weights"].map(scores))
    half = 0.5 / (len(opponents) * bench.games * len(config.decks) ** 2)
    return table.assign(elo=table["score"].clip(half, 1 - half).map(elo))


def curves(points: pd.DataFrame, value: str = "elo") -> pd.DataFrame:
    """Means over runs with their 95% intervals by Student's t, a row a contender and number of games.

    Args:
        points: with columns contender, run, budget, mark, games and the value.
        value: the column.

    Returns:
        Columns contender, budget (0 between budgets), games (mean of the runs), runs, mean, low, high.
    """
    rows = []
    for (contender, budget, _), own in points.groupby(["contender", "budget", "mark"], sort=False):
        mean = mean_over_runs(own[value].to_numpy(float))
        rows.append((contender, budget, float(own["games"].mean()), len(own), *mean))
    table = pd.DataFrame(rows, columns=["contender", "budget", "games", "runs", "mean", "low", "high"])
    order = {name: place for place, name in enumerate(dict.fromkeys(points["contender"]))}
    return table.sort_values(
        ["contender", "games"], key=lambda column: column.map(order) if column.name == "contender" else column
    ).reset_index(drop=True)


def differences(points: pd.DataFrame, value: str = "elo") -> pd.DataFrame:
    """Each contender less the first at every budget, run by run; 95% intervals by Student's t over runs.

    Columns contender, budget, runs, mean, low, high.
    """
    rows = []
    ends = points[points["budget"] > 0].drop_duplicates(["contender", "run", "budget"], keep="last")
    wide = ends.pivot(index=["budget", "run"], columns="contender", values=value)
    first, *others = dict.fromkeys(points["contender"])
    for contender in others:
        for budget, own in (wide[contender] - wide[first]).groupby("budget"):
            values = own.dropna().to_numpy(float)
            rows.append((contender, budget, len(values), *mean_over_runs(values)))
    return pd.DataFrame(rows, columns=["contender", "budget", "runs", "mean", "low", "high"])


def games_left(runs: Iterable[Run]) -> int:
    """Most games of some runs."""
    return sum(run.games for run in runs)
