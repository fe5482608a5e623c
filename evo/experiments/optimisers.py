"""Optimisers compared at equal numbers of games, and on a noisy quadratic; with their page.

A run of a contender is an evolution without a final and without a folder: only its centre is kept, at every
budget and some numbers of games before. Centres of all runs then meet the same opponents on the same deals.

The loss of weights is a quadratic of their shares, in Elo below the optimum; steep in some directions and
flat in others, as the weights of the game are. Games between individuals are drawn, not played: a difference
of their losses is one in Elo.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from scipy.special import expit

from engine.streams import generator
from evo.config.files import find_config, read_config, read_toml
from evo.config.run_config import ConfigOptionError, RunConfig
from evo.evolution.fitness import find_opponents, play_generation, play_pairings
from evo.evolution.records import new_strategy
from evo.evolution.run import games_of_generation
from evo.evolution.session import run_side_by_side
from evo.experiments.folder import ExperimentFolder
from evo.experiments.plots import plot_curves
from evo.figures.page import Section, html_table, image, intervals, make_page
from evo.figures.style import draw, draw_both
from evo.play.games import Play, Player, Roster, Schedule, roster_of
from evo.seeds import Stream, study_seed
from evo.stats.ratings import ELO, elo
from evo.stats.run_statistics import mean_over_runs
from evo.storage.files import json_bytes
from evo.strategies import Individual, Strategy, find_strategy, section_of
from ilp_agent import WeightVector

OURS = ("generations", "final", "validation", "pool", "workers")
"""Keys and sections that a comparison sets itself."""

SHARED = ("agent", "options", "library", "decks", "ruleset", "weights", "backend", "seed", "strategy")
"""Keys that all contenders share: they are rated as players of one kind on the same games."""

REFUSED = {
    **dict.fromkeys(SHARED, "all optimisers share it, and --set sets it"),
    "strategy": "--optimiser names strategies",
    "lambda": "it follows from mu, or is set after @",
}
"""Who sets a key instead."""


@dataclass(frozen=True)
class Contender:
    """A strategy with its settings.

    Attributes:
        text: as it was named, `NAME` or `NAME@KEY=VALUE,...`.
        config: of its runs, without generations and final.
        set: keys that its text, the user or the configuration's file set.
    """

    text: str
    config: RunConfig
    set: frozenset[str]

    @property
    def scheduled(self) -> bool:
        """Whether a schedule of its steps ends with its budget: then every budget has its own runs."""
        return bool(self._unsaid)

    def within(self, budget: int, seed: int) -> RunConfig:
        """The configuration of a run of at most so many games, schedule included.

        Raises:
            ConfigOptionError: generation 0 alone has more.
        """
        config, games, generation = self.config, 0, 0
        while (games := games + games_of_generation(config, generation)) <= budget:
            generation += 1
        if not generation:
            raise ConfigOptionError(
                f"{self.text}: generation 0 alone has {games:,} games, more than the budget of {budget:,}; "
                "set fewer games or individuals"
            )
        section = section_of(self.config.strategy)
        unsaid = dict.fromkeys(self._unsaid, 0)  # as long as the run, which the configuration sees to
        more = {section: getattr(config, section).model_dump() | unsaid} if unsaid else {}
        return config.changed(seed=seed, generations=generation - 1, **more)

    @property
    def _unsaid(self) -> list[str]:
        """The options of the strategy's schedule that nobody set."""
        section, strategy = section_of(self.config.strategy), find_strategy(self.config.strategy)
        keys = strategy.schedule(1, self.config.lambda_, 2)
        return [key for key in keys if f"{section}.{key}" not in self.set]


def find_contender(text: str, config: str, overrides: Sequence[str] = ()) -> Contender:
    """A contender by its text: a strategy, and after `@` what its runs do differently.

    Without `mu` and `lambda` it has as many individuals in a generation as the configuration's mu gives a
    (mu + lambda) strategy, or what is usual for it.

    Args:
        text: such as "cma" or "es@deals=own,games=8".
        config: name or file of the configuration.
        overrides: of the configuration, `KEY=VALUE`.

    Raises:
        ConfigError: it cannot be used; the message names the key.
    """
    name, _, rest = text.partition("@")
    own = [part for part in rest.split(",") if part]
    if text.endswith("@"):
        raise ConfigOptionError(f"optimiser {text!r}: settings after @ are KEY=VALUE, got none")
    if wrong := [part for part in own if "=" not in part]:
        raise ConfigOptionError(f"optimiser {text!r}: settings after @ are KEY=VALUE, got {wrong[0]!r}")
    keys, shared = ([one.partition("=")[0] for one in some] for some in (own, overrides))
    _refuse(f"optimiser {text!r}", keys, SHARED)
    _refuse("--set", shared, ("strategy", "lambda"))
    mu = read_config(
        config, [*overrides, "strategy=es", *(one for one in own if one.startswith("mu="))], begins=True
    ).mu
    usual = dict(zip(("mu", "lambda"), find_strategy(name).usual(mu), strict=True))
    sizes = [f"{key}={value}" for key, value in usual.items() if key not in keys]
    never = ["generations=0", "final.games=0", "final.benchmark_games=0"]
    never += ["validation.every=0", "validation.stop_when_gain_below=0"]
    found = read_config(config, [*overrides, f"strategy={name}", *sizes, *own, *never], begins=True)
    said = read_toml(find_config(config), "configuration") if config else {}
    in_file = (f"{key}.{one}" for key, value in said.items() if isinstance(value, dict) for one in value)
    return Contender(text, found, frozenset((*keys, *shared, *in_file)))


def _refuse(where: str, keys: Sequence[str], more: Sequence[str]) -> None:
    """Refuse keys that a comparison sets itself, and more.

    Raises:
        ConfigOptionError: one is there; the message tells who sets it.
    """
    for key in keys:
        if key in (*OURS, *more) or key.partition(".")[0] in OURS:
            by = REFUSED.get(key, "the comparison sets it itself")
            raise ConfigOptionError(f"{where}: {key} cannot be set here: {by}")


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

    A generation that meets fewer earlier bests than it may plays fewer games; those that it played count.
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


START = 200.0
"""Elo that equal weights lose against the optimum."""

STEEPNESS = 100.0
"""How much steeper the steepest direction is than the flattest."""

OPPONENT = 20.0
"""Elo that a fixed opponent loses against the optimum."""

ON_BOUND = 0.25
"""Part of the weights that are 0 in the optimum."""


@dataclass(frozen=True)
class Quadratic:
    """The loss of a run.

    Attributes:
        vector: the kind of weights.
        optimum: scale-free weights, shape (weights,).
        steepness: Elo for a squared share, shape (weights,).
    """

    vector: type[WeightVector]
    optimum: np.ndarray
    steepness: np.ndarray

    def loss(self, weights: np.ndarray) -> np.ndarray:
        """Elo below the optimum; shape (...), of weights of shape (..., weights)."""
        shares = np.nan_to_num(self.vector.scale_free(np.asarray(weights, np.float64)))
        lost: np.ndarray = ((shares - self.optimum) ** 2 * self.steepness).sum(axis=-1)
        return lost


def quadratic_of(vector: type[WeightVector], seed: int, run: int) -> Quadratic:
    """The quadratic of a run's number: the same for all contenders."""
    stream = generator(seed, Stream.EXPERIMENT, 1, run)
    n = len(vector.names())
    optimum = stream.random(n)
    optimum[: int(ON_BOUND * n)] = 0.0
    steepness = stream.permutation(np.geomspace(1.0, STEEPNESS, n))
    flat = Quadratic(vector, vector.scale_free(stream.permutation(optimum)), steepness)
    return Quadratic(vector, flat.optimum, steepness * START / float(flat.loss(np.full(n, 0.5))))


def simulate(run: Run, seed: int) -> list[dict[str, float]]:
    """Mark, games, generation and loss of the centre at every mark of a run.

    Args:
        run: of the comparison.
        seed: of the quadratics.
    """
    config = run.config
    strategy, hill = new_strategy(config), quadratic_of(config.vector, seed, run.number)

    def evaluate(asked: Sequence[Individual]) -> tuple[np.ndarray, int]:
        stream = generator(config.seed, Stream.EXPERIMENT, 2, strategy.generation)
        whole = games_of_generation(config, strategy.generation)
        return won(hill.loss(np.array(asked)), whole, config.opponents.beside, stream), whole

    return [
        {
            "mark": mark,
            "games": games,
            "generation": strategy.generation - 1,
            "loss": float(hill.loss(np.array(centre_of(strategy)))),
        }
        for mark, games in walk(run, strategy, evaluate)
    ]


def won(loss: np.ndarray, games: int, beside: bool, stream: np.random.Generator) -> np.ndarray:
    """Games won by individuals, drawn pairing by pairing.

    Args:
        loss: Elo below the optimum, shape (individuals,).
        games: of the generation.
        beside: whether they play an opponent that loses `OPPONENT` Elo, and not each other.
        stream: for the draws.
    """
    n = len(loss)
    if beside:
        return np.asarray(stream.binomial(games // n, expit((OPPONENT - loss) / ELO)), np.float64)
    one, other = np.triu_indices(n, 1)
    each = games // len(one)
    first = stream.binomial(each, expit((loss[other] - loss[one]) / ELO))
    total = np.bincount(one, first, n) + np.bincount(other, each - first, n)
    return np.asarray(total)


def simulated(bench: Bench) -> pd.DataFrame:
    """All runs on quadratics: columns contender, run, budget, mark, games, generation, loss (Elo).

    The budget is 0 between budgets.
    """
    seed = bench.contenders[0].config.seed
    return table_of(bench, ((run, simulate(run, seed)) for run in runs_of(bench)))


FORMATS = {"games": "{:,.0f}", "budget": "{:,}", "Elo": "{:+.1f}", "loss": "{:.1f}"}


def optimisers_page(bench: Bench, points: pd.DataFrame, hills: pd.DataFrame, command: str) -> bytes:
    """The page.

    Args:
        bench: the comparison.
        points: rated, as `evo.experiments.optimisers.rated` makes it.
        hills: as `evo.experiments.optimisers.simulated` makes it.
        command: what repeats it.
    """
    config = bench.contenders[0].config
    decks = ", ".join(config.deck_names)
    against = ", ".join(bench.against)
    rows = [
        {
            "optimiser": one.text,
            "individuals": f"{one.config.mu}, {one.config.lambda_}",
            "games a generation": games_of_generation(one.config, 1),
            "schedule": "ends with the budget" if one.scheduled else "",
        }
        for one in bench.contenders
    ]
    played = Section(
        "What was played",
        f"{bench.seeds} runs of each on {decks}, ruleset {config.ruleset}; "
        f"{len(config.vector.names())} weights of {config.agent}. Every point is where a run stands: "
        "centroid, mean or recommendation. "
        f"It plays {bench.games * len(config.decks) ** 2:,} games against each of {against}, the same deals "
        "for all.",
        [html_table(pd.DataFrame(rows), {"games a generation": "{:,}"}, "Optimisers")],
        "Individuals: mu and lambda. A run whose schedule does not depend on its budget gives the points of "
        "all budgets; the others play every budget anew.",
    )
    sections = [
        _section("Which finds better weights with the same games?", points, "elo", f"Elo against {against}"),
        _section("On a noisy quadratic whose optimum is known", hills, "loss", "Elo below the optimum"),
        played,
    ]
    return make_page(f"Optimisers at equal games: {config.agent} on {decks}", sections, command)


def optimisers_figure(points: pd.DataFrame, label: str) -> bytes:
    """The curves as a PNG file."""
    return draw(plot_curves, curves(points), label, width=7.2, height=3.8).png


def summary(points: pd.DataFrame, value: str = "elo") -> str:
    """Who stands best at the largest budget, and who is told apart from the first."""
    ends, found = differences(points, value), curves(points, value)
    budget, first = int(found["budget"].max()), points["contender"].iloc[0]
    last = found[found["budget"] == budget].set_index("contender")["mean"]
    best = last.idxmax() if value == "elo" else last.idxmin()
    form, unit = ("{:+.1f}", "Elo") if value == "elo" else ("{:.1f}", "Elo below the optimum")
    said = [f"At {budget:,} games {best} stands best ({form.format(last[best])} {unit})."]
    groups: dict[str, list[str]] = {"Better than": [], "Worse than": [], "Not told apart from": []}
    for row in ends[ends["budget"] == budget].itertuples():
        gained = (row.mean, row.low, row.high) if value == "elo" else (-row.mean, -row.high, -row.low)
        interval = f"{row.contender} ({row.mean:+.1f}, {row.low:+.1f} to {row.high:+.1f})"
        kind = "Better than" if gained[1] > 0 else "Worse than" if gained[2] < 0 else "Not told apart from"
        groups[kind].append(row.contender if np.isnan(row.low) else interval)
    said += [f"{kind} {first}: {', '.join(names)}." for kind, names in groups.items() if names]
    return " ".join(said)


def _section(title: str, points: pd.DataFrame, value: str, label: str) -> Section:
    found, ends = curves(points, value), differences(points, value)
    text = summary(points, value)
    name = "Elo" if value == "elo" else "loss"
    table = found[found["budget"] > 0]
    shown = table.assign(interval=intervals(table, "low", "high", FORMATS[name]))
    shown = shown[["contender", "budget", "games", "runs", "mean", "interval"]].rename(
        columns={"contender": "optimiser", "mean": name, "interval": "95% interval"}
    )
    parts = [
        image(draw_both(plot_curves, found, label), label),
        html_table(shown, FORMATS, "At the budgets"),
    ]
    if len(ends):
        first = points["contender"].iloc[0]
        less = ends.assign(interval=intervals(ends, "low", "high", "{:+.1f}"))
        less = less[["contender", "budget", "runs", "mean", "interval"]].rename(
            columns={"contender": "optimiser", "mean": name, "interval": "95% interval"}
        )
        parts.append(html_table(less, FORMATS, f"Less {first}, run by run"))
    note = "Intervals are by Student's t over runs: a run is one observation."
    if value == "loss":
        note += (
            f" Equal weights lose {START:.0f} Elo; the quadratic is {STEEPNESS:.0f} times as steep in "
            f"one direction as in another, and {ON_BOUND:.0%} of the weights are 0 at the optimum. Games are "
            "drawn, not played."
        )
    return Section(title, text, parts, note, text if value == "elo" else f"On the quadratic: {text}")
