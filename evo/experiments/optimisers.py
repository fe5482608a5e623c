"""Benchmark of optimisers: Elo at equal numbers of games, losses on a noisy quadratic, and the report page.

A run of a contender is an evolution without final and folder: only its distribution's centre is recorded, at
every budget and at some numbers of games before. The centres of all runs then play the same opponents on the
same deals (common random numbers).

The noisy quadratic: the loss of weights, in Elo below the optimum, is an ill-conditioned quadratic of their
shares. Games between individuals are sampled, not played: a difference of losses is an Elo difference.
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
from evo.evolution.run import max_games_of_generation
from evo.evolution.session import run_concurrently
from evo.experiments.folder import ExperimentFolder
from evo.experiments.plots import plot_curves
from evo.figures.page import Section, html_table, image, interval_cells, make_page
from evo.figures.style import draw, draw_wide_and_narrow
from evo.play.games import Player, PlayFunction, Roster, Schedule, roster_of
from evo.seeds import Stream, study_seed
from evo.stats.ratings import ELO, elo
from evo.stats.run_statistics import mean_over_runs
from evo.storage.files import json_bytes
from evo.strategies import Individual, Strategy, find_strategy, section_name
from ilp_agent import WeightVector

BENCHMARK_KEYS = ("generations", "final", "validation", "pool", "workers")
"""Keys and sections that a comparison sets itself."""

SHARED_KEYS = ("agent", "options", "library", "decks", "ruleset", "weights", "backend", "seed", "strategy")
"""Keys that all contenders share, since they are rated as players of one kind on the same games."""

REFUSAL_REASONS = {
    **dict.fromkeys(SHARED_KEYS, "all optimisers share it, and --set sets it"),
    "strategy": "--optimiser names strategies",
    "lambda": "it follows from mu, or is set after @",
}
"""Reason for refusing a key, and the option that sets it."""


@dataclass(frozen=True)
class Contender:
    """A contender of the benchmark: a strategy with its settings.

    Attributes:
        text: `NAME` or `NAME@KEY=VALUE,...`.
        config: configuration of its runs, without generations and final.
        set: keys set explicitly, by the text, `--set` or the configuration file.
    """

    text: str
    config: RunConfig
    set: frozenset[str]

    @property
    def scheduled(self) -> bool:
        """Whether step sizes follow a schedule over the budget, so that every budget needs its own runs."""
        return bool(self._default_schedule)

    def config_within(self, budget: int, seed: int) -> RunConfig:
        """Configuration of this contender's run within a budget of games, schedule included.

        Raises:
            ConfigOptionError: generation 0 alone exceeds the budget.
        """
        config, games, generation = self.config, 0, 0
        while (games := games + max_games_of_generation(config, generation)) <= budget:
            generation += 1
        if not generation:
            raise ConfigOptionError(
                f"{self.text}: generation 0 alone has {games:,} games, more than the budget of {budget:,}; "
                "set fewer games or individuals"
            )
        section = section_name(self.config.strategy)
        schedule = dict.fromkeys(self._default_schedule, 0)  # 0: as long as the run
        extra = {section: getattr(config, section).model_dump() | schedule} if schedule else {}
        return config.changed(seed=seed, generations=generation - 1, **extra)

    @property
    def _default_schedule(self) -> list[str]:
        """Options of the strategy's schedule that were not set explicitly."""
        section, strategy = section_name(self.config.strategy), find_strategy(self.config.strategy)
        keys = strategy.schedule(1, self.config.lambda_, 2)
        return [key for key in keys if f"{section}.{key}" not in self.set]


def find_contender(text: str, config: str, overrides: Sequence[str] = ()) -> Contender:
    """Parse a contender: a strategy, and after `@` settings for this contender only.

    Default population sizes: those of the strategy for the configuration's mu.

    Args:
        text: such as "cma" or "es@deals=own,games=8".
        config: name or file of the configuration.
        overrides: settings `KEY=VALUE` of the configuration.

    Raises:
        ConfigError: a setting is invalid; the message names the key.
    """
    name, _, settings_text = text.partition("@")
    settings = [part for part in settings_text.split(",") if part]
    if text.endswith("@"):
        raise ConfigOptionError(f"optimiser {text!r}: settings after @ are KEY=VALUE, got none")
    if wrong := [part for part in settings if "=" not in part]:
        raise ConfigOptionError(f"optimiser {text!r}: settings after @ are KEY=VALUE, got {wrong[0]!r}")
    keys, shared = ([one.partition("=")[0] for one in texts] for texts in (settings, overrides))
    _refuse(f"optimiser {text!r}", keys, SHARED_KEYS)
    _refuse("--set", shared, ("strategy", "lambda"))
    mu = read_config(
        config,
        [*overrides, "strategy=es", *(one for one in settings if one.startswith("mu="))],
        begins=True,
    ).mu
    default_sizes = dict(zip(("mu", "lambda"), find_strategy(name).default_sizes(mu), strict=True))
    sizes = [f"{key}={value}" for key, value in default_sizes.items() if key not in keys]
    disabled = ["generations=0", "final.games=0", "final.benchmark_games=0"]
    disabled += ["validation.every=0", "validation.stop_when_gain_below=0"]
    found = read_config(config, [*overrides, f"strategy={name}", *sizes, *settings, *disabled], begins=True)
    in_config = read_toml(find_config(config), "configuration") if config else {}
    file_keys = (
        f"{key}.{one}" for key, value in in_config.items() if isinstance(value, dict) for one in value
    )
    return Contender(text, found, frozenset((*keys, *shared, *file_keys)))


def _refuse(where: str, keys: Sequence[str], more: Sequence[str]) -> None:
    """Refuse configuration keys that the benchmark sets itself, and the keys `more`.

    Raises:
        ConfigOptionError: a key is refused; the message gives the reason.
    """
    for key in keys:
        if key in (*BENCHMARK_KEYS, *more) or key.partition(".")[0] in BENCHMARK_KEYS:
            reason = REFUSAL_REASONS.get(key, "the comparison sets it itself; leave it out")
            raise ConfigOptionError(f"{where}: {key} cannot be set here: {reason}")


CURVE_POINTS = 8
"""Number of further measuring points (log-spaced numbers of games) of a run without a schedule."""

CENTRES_PER_SCHEDULE = 64
"""Number of centres that play the opponents in one schedule."""


@dataclass(frozen=True)
class OptimiserBench:
    """Settings of an optimiser benchmark.

    Attributes:
        contenders: at least one; the first is the baseline.
        budgets: numbers of games per run, ascending.
        seeds: number of runs of each contender.
        against: opponents that rate the centres, by entrant text.
        games: games of a centre per opponent and ordered pair of decks; even.
    """

    contenders: tuple[Contender, ...]
    budgets: tuple[int, ...]
    seeds: int
    against: dict[str, Player]
    games: int


@dataclass(frozen=True)
class BenchRun:
    """A run of an optimiser benchmark.

    Attributes:
        contender: text of the contender.
        number: run number, from 0.
        budget: number of games.
        config: configuration, with seed, generations and schedule.
        marks: numbers of games after which the centre is recorded, ascending; the last is the budget.
    """

    contender: str
    number: int
    budget: int
    config: RunConfig
    marks: tuple[int, ...]

    @property
    def file(self) -> str:
        """Name of the file in the experiment folder with the run's points."""
        return f"points/{self.config.digest[:16]}-{self.budget}.json"

    @property
    def games(self) -> int:
        """Maximum number of games that the run plays."""
        return sum(
            max_games_of_generation(self.config, number) for number in range(self.config.generations + 1)
        )


class BenchPoint(BaseModel):
    """Centre of a run's strategy after a number of games."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    mark: int
    games: Annotated[int, Field(ge=0)]
    generation: Annotated[int, Field(ge=0)]
    weights: list[Annotated[float, Field(ge=0, le=1)]]


_POINTS = TypeAdapter(list[BenchPoint])


def bench_runs(bench: OptimiserBench) -> list[BenchRun]:
    """All runs of a benchmark; contenders without a schedule run with the largest budget only.

    Raises:
        ConfigOptionError: a budget is smaller than a generation.
    """
    found = []
    for contender in bench.contenders:
        budgets = bench.budgets if contender.scheduled else bench.budgets[-1:]
        for number in range(bench.seeds):
            seed = study_seed(contender.config.seed, number)
            first = max_games_of_generation(contender.config_within(bench.budgets[0], seed), 0)
            for budget in budgets:
                curve = np.geomspace(first, budget, CURVE_POINTS).astype(int)[:-1].tolist()
                marks = {budget} if contender.scheduled else {*bench.budgets, *curve}
                config = contender.config_within(budget, seed)
                found.append(BenchRun(contender.text, number, budget, config, tuple(sorted(marks))))
    return found


def play_run(run: BenchRun, play: PlayFunction) -> list[dict[str, Any]]:
    """Play a run; returns games, generation and weights of the centre at every mark (number of games).

    Early generations with few hall-of-fame opponents play fewer games; only games played count.
    """
    config = run.config
    strategy, fixed, played = new_strategy(config), list(find_opponents(config).values()), 0

    def counting(roster: Roster, games: Schedule) -> np.ndarray:
        nonlocal played
        played += len(games)
        return play(roster, games)

    def evaluate(asked: Sequence[Individual]) -> tuple[np.ndarray, int]:
        games_before = played
        result = play_generation(config, strategy, asked, fixed, counting)
        return result.fitness, played - games_before

    return [
        {"mark": mark, "games": games, "generation": strategy.generation - 1, "weights": centre_of(strategy)}
        for mark, games in evolve_to_marks(run, strategy, evaluate)
    ]


def evolve_to_marks(
    run: BenchRun, strategy: Strategy, evaluate: Callable[[Sequence[Individual]], tuple[np.ndarray, int]]
) -> Iterator[tuple[int, int]]:
    """Evolve a strategy; yields each mark and the games so far, before a generation may exceed the mark.

    Args:
        run: run with the marks.
        strategy: new strategy. Modified in place; its state belongs to the mark just yielded.
        evaluate: returns the fitness of individuals and the number of games played.
    """
    games = 0
    for mark in run.marks:
        while games + max_games_of_generation(run.config, strategy.generation) <= mark:
            fitness, played = evaluate(strategy.ask())
            strategy.tell(fitness)
            games += played
        yield mark, games


def centre_of(strategy: Strategy) -> list[float]:
    """Weights of a strategy's centre (mean); without a centre, of the best parent."""
    centre = strategy.centre()
    return [float(value) for value in (strategy.parents[0] if centre is None else centre.weights)]


def missing_runs(bench: OptimiserBench, folder: ExperimentFolder) -> list[BenchRun]:
    """Runs of a benchmark whose points are missing in the folder."""
    return [run for run in bench_runs(bench) if not read_points(folder, run)]


def read_points(folder: ExperimentFolder, run: BenchRun) -> list[dict[str, Any]]:
    """Read the points of a run from the folder; [] if the file is missing or damaged."""
    try:
        points = _POINTS.validate_python(folder.read_json_file(run.file).get("points"))
    except ValidationError:
        return []
    complete = [point.mark for point in points] == list(run.marks)
    complete &= {len(point.weights) for point in points} == {len(run.config.vector.names())}
    return [dict(point) for point in points] if complete else []


def play_missing(bench: OptimiserBench, folder: ExperimentFolder, play: PlayFunction, at_a_time: int) -> None:
    """Play the missing runs, `at_a_time` in parallel, and write each run's points to the folder."""
    missing = missing_runs(bench, folder)

    def play_missing_run(i: int) -> None:
        run = missing[i]
        content = {"contender": run.contender, "run": run.number, "budget": run.budget}
        folder.commit_file(run.file, json_bytes(content | {"points": play_run(run, play)}))

    if missing:
        run_concurrently(play_missing_run, len(missing), at_a_time)


def points_table(bench: OptimiserBench, folder: ExperimentFolder) -> pd.DataFrame:
    """Table of all points: contender, run, budget (0 between budgets), mark, games, generation, weights."""
    table = run_points_table(bench, ((run, read_points(folder, run)) for run in bench_runs(bench)))
    return table.assign(weights=table["weights"].map(json.dumps))


def run_points_table(
    bench: OptimiserBench, points: Iterable[tuple[BenchRun, Sequence[Mapping[str, Any]]]]
) -> pd.DataFrame:
    """Table of points of runs: contender, run, budget (0 between budgets), and the fields of the points."""
    rows = []
    for run, run_points in points:
        for point in run_points:
            budget = point["mark"] if point["mark"] in bench.budgets else 0
            rows.append({"contender": run.contender, "run": run.number, "budget": budget, **point})
    return pd.DataFrame(rows)


def count_rating_games(bench: OptimiserBench) -> int:
    """Maximum number of games that rate all points."""
    points = sum(len(run.marks) for run in bench_runs(bench))
    return points * len(bench.against) * bench.games * len(bench.contenders[0].config.decks) ** 2


def rate_points(bench: OptimiserBench, points: pd.DataFrame, play: PlayFunction) -> pd.DataFrame:
    """Rate points by games on the same deals; adds the columns score (mean over the opponents) and elo.

    With all games won or lost, half a game is counted the other way.

    Args:
        bench: settings.
        points: table of `points_table`.
        play: plays a schedule.
    """
    different = list(dict.fromkeys(points["weights"]))
    config, opponents = bench.contenders[0].config, list(bench.against.values())
    scores: dict[str, float] = {}
    for start in range(0, len(different), CENTRES_PER_SCHEDULE):
        batch = different[start : start + CENTRES_PER_SCHEDULE]
        n = len(batch)
        roster = roster_of(config, [json.loads(text) for text in batch], opponents)
        pairings = np.array([(i, n + j) for i in range(n) for j in range(len(opponents))])
        tally = play_pairings(roster, pairings, bench.games, config.seed, (Stream.EXPERIMENT, 0), play)
        score = (tally.wins + tally.draws / 2).sum((1, 2)) / tally.games.sum((1, 2))
        scores |= dict(zip(batch, score.reshape(n, len(opponents)).mean(axis=1), strict=True))
    table = points.assign(score=points["weights"].map(scores))
    half_game = 0.5 / (len(opponents) * bench.games * len(config.decks) ** 2)
    return table.assign(elo=table["score"].clip(half_game, 1 - half_game).map(elo))


def learning_curves(points: pd.DataFrame, value: str = "elo") -> pd.DataFrame:
    """Learning curves: means over runs with 95% intervals (Student's t), per contender and number of games.

    Args:
        points: table with columns contender, run, budget, mark, games and the value.
        value: name of the value's column.

    Returns:
        Columns contender, budget (0 between budgets), games (mean of the runs), runs, mean, low, high.
    """
    rows = []
    for (contender, budget, _), group in points.groupby(["contender", "budget", "mark"], sort=False):
        mean = mean_over_runs(group[value].to_numpy(float))
        rows.append((contender, budget, float(group["games"].mean()), len(group), *mean))
    table = pd.DataFrame(rows, columns=["contender", "budget", "games", "runs", "mean", "low", "high"])
    order = {name: index for index, name in enumerate(dict.fromkeys(points["contender"]))}
    return table.sort_values(
        ["contender", "games"], key=lambda column: column.map(order) if column.name == "contender" else column
    ).reset_index(drop=True)


def paired_differences(points: pd.DataFrame, value: str = "elo") -> pd.DataFrame:
    """Paired differences to the first contender at every budget, with 95% intervals (Student's t over runs).

    Columns contender, budget, runs, mean, low, high.
    """
    rows = []
    ends = points[points["budget"] > 0].drop_duplicates(["contender", "run", "budget"], keep="last")
    by_contender = ends.pivot(index=["budget", "run"], columns="contender", values=value)
    first, *others = dict.fromkeys(points["contender"])
    for contender in others:
        for budget, group in (by_contender[contender] - by_contender[first]).groupby("budget"):
            values = group.dropna().to_numpy(float)
            rows.append((contender, budget, len(values), *mean_over_runs(values)))
    return pd.DataFrame(rows, columns=["contender", "budget", "runs", "mean", "low", "high"])


def count_remaining_games(runs: Iterable[BenchRun]) -> int:
    """Maximum number of games of the given runs."""
    return sum(run.games for run in runs)


EQUAL_WEIGHTS_LOSS = 200.0
"""Loss of equal weights, in Elo below the optimum."""

CONDITION_NUMBER = 100.0
"""Ratio of the steepest to the flattest direction (condition number)."""

OPPONENT_LOSS = 20.0
"""Loss of the fixed opponent, in Elo below the optimum."""

ZERO_SHARE = 0.25
"""Share of the weights that are 0 at the optimum."""


@dataclass(frozen=True)
class Quadratic:
    """A quadratic loss function of weights, in Elo below the optimum.

    Attributes:
        vector: weight vector class.
        optimum: scale-free weights, shape (weights,).
        steepness: Elo per squared share, shape (weights,).
    """

    vector: type[WeightVector]
    optimum: np.ndarray
    steepness: np.ndarray

    def loss(self, weights: np.ndarray) -> np.ndarray:
        """Elo below the optimum, shape (...), of weights of shape (..., weights)."""
        shares = np.nan_to_num(self.vector.scale_free(np.asarray(weights, np.float64)))
        loss: np.ndarray = ((shares - self.optimum) ** 2 * self.steepness).sum(axis=-1)
        return loss


def quadratic_of(vector: type[WeightVector], seed: int, run: int) -> Quadratic:
    """Random quadratic for a run number, the same for all contenders."""
    stream = generator(seed, Stream.EXPERIMENT, 1, run)
    n = len(vector.names())
    optimum = stream.random(n)
    optimum[: int(ZERO_SHARE * n)] = 0.0
    steepness = stream.permutation(np.geomspace(1.0, CONDITION_NUMBER, n))
    flat = Quadratic(vector, vector.scale_free(stream.permutation(optimum)), steepness)
    return Quadratic(vector, flat.optimum, steepness * EQUAL_WEIGHTS_LOSS / float(flat.loss(np.full(n, 0.5))))


def simulate_run(run: BenchRun, seed: int) -> list[dict[str, float]]:
    """Simulate a run on a quadratic; returns games, generation and loss at every mark (number of games).

    Args:
        run: run of the benchmark.
        seed: of the quadratics.
    """
    config = run.config
    strategy, quadratic = new_strategy(config), quadratic_of(config.vector, seed, run.number)

    def evaluate(asked: Sequence[Individual]) -> tuple[np.ndarray, int]:
        stream = generator(config.seed, Stream.EXPERIMENT, 2, strategy.generation)
        n_games = max_games_of_generation(config, strategy.generation)
        return sample_wins(quadratic.loss(np.array(asked)), n_games, config.opponents.beside, stream), n_games

    return [
        {
            "mark": mark,
            "games": games,
            "generation": strategy.generation - 1,
            "loss": float(quadratic.loss(np.array(centre_of(strategy)))),
        }
        for mark, games in evolve_to_marks(run, strategy, evaluate)
    ]


def sample_wins(loss: np.ndarray, games: int, beside: bool, stream: np.random.Generator) -> np.ndarray:
    """Sample the games won by each individual in a generation, pairing by pairing.

    Args:
        loss: Elo below the optimum, shape (individuals,).
        games: number of games of the generation.
        beside: whether they play a fixed opponent with a loss of `OPPONENT_LOSS` Elo instead of each other.
        stream: random generator.
    """
    n = len(loss)
    if beside:
        return np.asarray(stream.binomial(games // n, expit((OPPONENT_LOSS - loss) / ELO)), np.float64)
    one, other = np.triu_indices(n, 1)
    games_per_pair = games // len(one)
    first = stream.binomial(games_per_pair, expit((loss[other] - loss[one]) / ELO))
    total = np.bincount(one, first, n) + np.bincount(other, games_per_pair - first, n)
    return np.asarray(total)


def simulate_bench(bench: OptimiserBench) -> pd.DataFrame:
    """Simulate all runs on quadratics: columns contender, run, budget, mark, games, generation, loss (Elo).

    The budget is 0 between budgets.
    """
    seed = bench.contenders[0].config.seed
    return run_points_table(bench, ((run, simulate_run(run, seed)) for run in bench_runs(bench)))


FORMATS = {"games": "{:,.0f}", "budget": "{:,}", "Elo": "{:+.1f}", "loss": "{:.1f}"}


def optimisers_page(bench: OptimiserBench, points: pd.DataFrame, hills: pd.DataFrame, command: str) -> bytes:
    """The report page of an optimiser benchmark, HTML.

    Args:
        bench: settings.
        points: rated points, a table of `rate_points`.
        hills: simulated points, a table of `simulate_bench`.
        command: command that repeats it.
    """
    config = bench.contenders[0].config
    decks = ", ".join(config.deck_names)
    against = ", ".join(bench.against)
    rows = [
        {
            "optimiser": contender.text,
            "individuals": f"{contender.config.mu}, {contender.config.lambda_}",
            "games per generation": max_games_of_generation(contender.config, 1),
            "schedule": "ends with the budget" if contender.scheduled else "",
        }
        for contender in bench.contenders
    ]
    played = Section(
        "What was played",
        f"{bench.seeds} runs of each on {decks}, ruleset {config.ruleset}; "
        f"{len(config.vector.names())} weights of {config.agent}. A point is a run's centre after N games: "
        "centroid, mean or recommendation. "
        f"It plays {bench.games * len(config.decks) ** 2:,} games against each of {against}, the same deals "
        "for all.",
        [html_table(pd.DataFrame(rows), {"games per generation": "{:,}"}, "Optimisers")],
        "Individuals: mu and lambda. A run without a schedule gives the points of all budgets; with one "
        "every budget has its own run.",
    )
    sections = [
        _section("Which finds better weights with the same games?", points, "elo", f"Elo against {against}"),
        _section("On a noisy quadratic whose optimum is known", hills, "loss", "Elo below the optimum"),
        played,
    ]
    return make_page(f"Optimisers at equal games: {config.agent} on {decks}", sections, command)


def optimisers_figure(points: pd.DataFrame, label: str) -> bytes:
    """Figure of the learning curves, a PNG file."""
    return draw(plot_curves, learning_curves(points), label, width=7.2, height=3.8).png


def bench_summary(points: pd.DataFrame, value: str = "elo") -> str:
    """Sentences on the best contender at the largest budget, and significant differences to the first."""
    ends, means = paired_differences(points, value), learning_curves(points, value)
    budget, first = int(means["budget"].max()), points["contender"].iloc[0]
    last = means[means["budget"] == budget].set_index("contender")["mean"]
    best = last.idxmax() if value == "elo" else last.idxmin()
    number_format, unit = ("{:+.1f}", "Elo") if value == "elo" else ("{:.1f}", "Elo below the optimum")
    sentences = [f"At {budget:,} games {best} is best ({number_format.format(last[best])} {unit})."]
    groups: dict[str, list[str]] = {"Better than": [], "Worse than": [], "Not told apart from": []}
    for row in ends[ends["budget"] == budget].itertuples():
        gain = (row.mean, row.low, row.high) if value == "elo" else (-row.mean, -row.high, -row.low)
        interval = f"{row.contender} ({row.mean:+.1f}, {row.low:+.1f} to {row.high:+.1f})"
        kind = "Better than" if gain[1] > 0 else "Worse than" if gain[2] < 0 else "Not told apart from"
        groups[kind].append(row.contender if np.isnan(row.low) else interval)
    sentences += [f"{kind} {first}: {', '.join(names)}." for kind, names in groups.items() if names]
    return " ".join(sentences)


def _section(title: str, points: pd.DataFrame, value: str, label: str) -> Section:
    """Section with learning curves and differences to the first contender."""
    means, ends = learning_curves(points, value), paired_differences(points, value)
    text = bench_summary(points, value)
    name = "Elo" if value == "elo" else "loss"
    table = means[means["budget"] > 0]
    shown = table.assign(interval=interval_cells(table, "low", "high", FORMATS[name]))
    shown = shown[["contender", "budget", "games", "runs", "mean", "interval"]].rename(
        columns={"contender": "optimiser", "mean": name, "interval": "95% interval"}
    )
    parts = [
        image(draw_wide_and_narrow(plot_curves, means, label), label),
        html_table(shown, FORMATS, "At the budgets"),
    ]
    if len(ends):
        first = points["contender"].iloc[0]
        difference_table = ends.assign(interval=interval_cells(ends, "low", "high", "{:+.1f}"))
        difference_table = difference_table[["contender", "budget", "runs", "mean", "interval"]].rename(
            columns={"contender": "optimiser", "mean": name, "interval": "95% interval"}
        )
        parts.append(html_table(difference_table, FORMATS, f"Difference to {first}, paired by run"))
    note = "Intervals are by Student's t over runs: a run is one observation."
    if value == "loss":
        note += (
            f" Equal weights lose {EQUAL_WEIGHTS_LOSS:.0f} Elo; "
            f"the quadratic is {CONDITION_NUMBER:.0f} times as steep in "
            f"one direction as in another, and {ZERO_SHARE:.0%} of the weights are 0 at the optimum. "
            "Games are "
            "sampled, not played."
        )
    return Section(title, text, parts, note, text if value == "elo" else f"On the quadratic: {text}")
