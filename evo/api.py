"""Python API: evolve and read runs, play tournaments and arenas, write reports, each in one call.

`evolve`, `play_tournament`, `play_arena` and `write_report` do what the commands of these names do, in
the same folders and with the same bytes, and return tables. `quiet=True` prints no progress. Repeating a
call with the same `out` continues it, or reads its results. `optimise` runs a strategy on a fitness
function of your own, and `win_rates` measures weights for it. `card_worth` measures the cards of a deck,
`deck_verdict` a deck, and `balance` searches patches that make decks fair.
"""

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from engine import Agent, find_deck
from engine.cards.patches import read_patches
from engine.compile_progress import silent_compilation
from engine.deck_files import add_deck_options
from engine.decks import DeckOptions
from engine.errors import WrongValueError, check_choice
from evo.analysis.tables import Runs, last_population, read_runs, read_validation
from evo.config.files import find_config, read_config, split_names
from evo.config.run_config import NO_FILE, RunConfig, validate_config, validate_run_config
from evo.evolution.fitness import Tally, play_pairings
from evo.evolution.records import new_strategy
from evo.evolution.session import open_or_create
from evo.evolution.validation import Validation
from evo.experiments.balance import BalanceConfig
from evo.experiments.card_worth import card_table, make_study, measure_worth, watch_games
from evo.experiments.deck_verdict import (
    DEFAULT_PILOTS,
    choose_pilots,
    find_plain_study,
    judge,
    make_verdict_study,
)
from evo.play.entrants import find_entrant, find_entrants
from evo.play.games import compile_games, roster_of
from evo.play.notation import OFFERED_FORMATS, SEATS
from evo.play.pool import LocalPool
from evo.play.pools import PoolSettings, ignored_address_note, pool_settings, with_pool_settings
from evo.seeds import Stream
from evo.sessions.balance import read_balance_config, run_balance
from evo.sessions.estimates import check_memory, print_estimate
from evo.sessions.progress import RunDisplay, default_folder, output_console
from evo.sessions.session import (
    SessionStopped,
    evolve_to_end,
    open_run_pool,
    play_and_write,
    write_report_page,
)
from evo.storage.champion import load_intact_champion, read_champion_file, read_final
from evo.storage.run_folder import RunError, open_run_read_only, resolve_run_path
from evo.strategies import GenerationResult, Strategy, StrategyError
from evo.terminal.console import SafeConsole
from evo.tournament.arena import create_arena
from evo.tournament.folder import ACTIONS
from evo.tournament.report import fault_warnings
from evo.tournament.run import Tournament, create_tournament
from ilp_agent import Profile, WeightVector
from ilp_agent.weights import WEIGHT_SETS
from rivals import read_agent_profile
from rivals.registry import DEFAULT_AGENT, weight_class


@dataclass(frozen=True)
class EvolvedRun:
    """An evolution run: champion and tables.

    Attributes:
        path: the run folder; `AGENT:path` is the champion as a tournament entrant.
        individuals: one row per individual and generation (`evo.analysis.tables.read_runs`); empty before
            the first generation.
        final: the table of the final, as runs/README.md describes `final.parquet`; empty if the run is not
            finished.
        validation: scores of each generation's best against the benchmark; empty if the configuration
            does not validate.
        profile: as `champion`, but None if the run is not finished; use it to ask whether it is.
    """

    path: Path
    individuals: pd.DataFrame = field(repr=False)
    final: pd.DataFrame = field(repr=False)
    validation: pd.DataFrame = field(repr=False)
    profile: Profile[WeightVector] | None = field(repr=False, default=None)

    @property
    def champion(self) -> Profile[WeightVector]:
        """The winner of the final, with its weights and record.

        Raises:
            RunError: the run is not finished.
        """
        if self.profile is None:
            raise RunError(f"run {self.path} has no champion yet; to finish it: manaforge resume {self.path}")
        return self.profile

    @property
    def weights(self) -> pd.DataFrame:
        """The champion's weights by name: raw value, and share of the sum (missing for inert weights).

        Raises:
            RunError: the run is not finished.
        """
        vector, config = self.champion.weights, open_run_read_only(self.path).config
        table = pd.DataFrame({"value": vector.written()}).rename_axis("weight")
        return table.assign(share=pd.Series(vector.active(config.inert_weights)))


@dataclass(frozen=True)
class PlayedTournament:
    """A finished tournament or arena as tables; docs/tournament.md describes the columns.

    Attributes:
        path: its folder, with the page `tournament.html`.
        ratings: one row per entrant, the best first.
        results: one row per ordered pair of entrants.
        meetings: one row per unordered pair of entrants.
        decks: one row per entrant and ordered pair of decks.
        games: one row per game.
        summary: everything else, as JSON values.
    """

    path: Path
    ratings: pd.DataFrame = field(repr=False)
    results: pd.DataFrame = field(repr=False)
    meetings: pd.DataFrame = field(repr=False)
    decks: pd.DataFrame = field(repr=False)
    games: pd.DataFrame = field(repr=False)
    summary: Mapping[str, Any] = field(repr=False)

    @property
    def actions(self) -> pd.DataFrame:
        """One row per action, of a tournament with `actions=True`; read from the folder each time.

        Raises:
            WrongValueError: the tournament was played without.
        """
        folder = self.path / ACTIONS
        if not folder.is_dir():
            raise WrongValueError(f"{self.path} has no actions; play the tournament with actions=True")
        return pd.read_parquet(folder)


@dataclass(frozen=True)
class FoundPatches:
    """Patches of a balance search, measured on deals of their own; docs/balance.md describes the columns.

    Attributes:
        path: its folder, with the page `balance.html` and a file for each patch.
        patches: one row per patch and player.
        matchups: one row per patch, player and matchup.
        adaptations: one row per patch and agent that adapts, with its evolved weights.
        verdict: what they say.
    """

    path: Path
    patches: pd.DataFrame = field(repr=False)
    matchups: pd.DataFrame = field(repr=False)
    adaptations: pd.DataFrame = field(repr=False)
    verdict: str


@dataclass(frozen=True)
class WrittenReport:
    """A written report on runs: path of the page, and tables.

    Attributes:
        path: the HTML page.
        individuals: one row per individual and generation, of all runs.
        population: the last population of each run.
        problems: unreadable parts of the runs, one sentence each.
    """

    path: Path
    individuals: pd.DataFrame = field(repr=False)
    population: pd.DataFrame = field(repr=False)
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Generation:
    """A generation of individuals with their fitness, for callbacks.

    Attributes:
        number: of the generation; 0 is the first.
        individuals: one row each: individual (its number), birth, fitness, survived, and its weights, as
            weight_NAME.
        centre: weights of the mean of the strategy's distribution or parents, by name; None if there is none.
        validation: score of the best against the benchmark; None if it was not validated.
        seconds: that it took; 0 in `optimise`.
    """

    number: int
    individuals: pd.DataFrame = field(repr=False)
    centre: pd.Series | None = field(repr=False, default=None)
    validation: float | None = None
    seconds: float = 0.0

    @property
    def best(self) -> pd.Series:
        """The row of the individual with the highest fitness, the first among equals."""
        row: pd.Series = self.individuals.loc[self.individuals["fitness"].idxmax()]
        return row


def evolve(
    config: str | Path | RunConfig = "quickstart",
    *,
    out: str | Path | None = None,
    workers: int | None = None,
    pool: str | None = None,
    address: str | None = None,
    quiet: bool = False,
    on_generation: Callable[[Generation], None] | None = None,
    **changes: Any,
) -> EvolvedRun:
    """Evolve weights into a run folder, and choose a champion.

    Args:
        config: a shipped configuration, a file, or a `RunConfig`.
        out: the run folder; None: `runs/<config>-<UTC time>`. A folder that holds this run is continued.
        workers: number of workers; 0: one per processor; None: the configuration's.
        pool: "auto", "local" or "ray"; None: the configuration's.
        address: address of a Ray cluster to join.
        quiet: print nothing.
        on_generation: called with each generation once it is committed. If it raises, the run stops with all
            its generations safe, and the same call with `out` continues it.
        changes: configuration values by key, such as `generations=3` or `decks=["a.toml"]`; `lambda_`
            for lambda; a dict for a section: `final={"games": 4_000}`.

    Raises:
        ConfigError: a key or value is not allowed.
        RunError: the folder cannot be used, or holds another run.
        KeyboardInterrupt: a signal stopped the run; the same call with `out` continues it.
    """
    base = config if isinstance(config, RunConfig) else read_config(config, begins=True)
    chosen = with_pool_settings(_changed(base, changes), workers, pool, address)
    check_memory(chosen)
    name = "run" if isinstance(config, RunConfig) else config
    path = default_folder(name) if out is None else Path(out)
    display = _RunDisplay(_console(quiet), on_generation)
    if not isinstance(config, RunConfig):
        display.say(ignored_address_note(find_config(config), address, 'address="auto"'))
    with _session(quiet), open_run_pool(chosen, display) as players, open_or_create(path, chosen) as folder:
        if not folder.committed:
            print_estimate(chosen, 1, players, display.console)
        evolve_to_end(folder, players, display, chosen.address)
    return read_run(path)


def read_run(run: str | Path) -> EvolvedRun:
    """Read a run, finished or not: tables of its generations, and its champion.

    A damaged table of a generation is left out, with a `RunWarning`.

    Args:
        run: the run folder, or its name in `runs/`.

    Raises:
        RunError: there is no such run, none of its generations can be read, or a file of its champion is
            missing or damaged; the message names the file.
    """
    path = resolve_run_path(Path(run))
    folder = open_run_read_only(path)
    runs = Runs({path.name: folder}, pd.DataFrame(), ())
    if any((path / "generations").glob("*.parquet")):
        runs = read_runs([path])
    load_intact_champion(folder)  # lists damage in `folder.problems`
    if folder.problems:
        raise RunError(f"run {path}: {folder.problems[0]} by manaforge resume {path}")
    final, profile = pd.DataFrame(), None
    if read_champion_file(path).finishes(folder.config):
        final = read_final(folder)
        profile = read_agent_profile(path / "champion.toml", folder.config.vector)
    return EvolvedRun(path, runs.individuals, final, read_validation(runs), profile)


def optimise(
    fitness: Callable[[pd.DataFrame], Sequence[float] | np.ndarray],
    config: str | Path | RunConfig = "quickstart",
    *,
    on_generation: Callable[[Generation], None] | None = None,
    **changes: Any,
) -> list[Generation]:
    """Run a strategy on a fitness function of your own, without games of its own and without a folder.

    Args:
        fitness: maps weights (one row per individual, one column per weight, from 0 to 1) to one number
            each, which is maximised. With equal results for equal weights, `optimise` is reproducible.
        config: a shipped configuration, a file, or a `RunConfig`; its agent, strategy, population sizes,
            generations and seed count.
        on_generation: called with each generation.
        changes: configuration values by key, as in `evolve`.

    Returns:
        All generations; `optimise(...)[-1].best` is the best individual of the last.

    Raises:
        ConfigError: a key or value is not allowed.
        StrategyError: `fitness` returns another number of values, or one that is no finite number.
    """
    base = config if isinstance(config, RunConfig) else read_config(config, begins=True)
    chosen = _changed(base, changes)
    strategy = new_strategy(chosen)
    generations = []
    while strategy.generation <= chosen.generations:
        weights = pd.DataFrame(strategy.ask(), columns=list(chosen.vector.names()))
        found = fitness(weights)
        try:
            values = np.asarray(found, np.float64)
        except (TypeError, ValueError):
            raise StrategyError(f"fitness must return {len(weights)} numbers, got {found!r}") from None
        told = strategy.tell(values)
        generations.append(_generation(told, strategy))
        if on_generation is not None:
            on_generation(generations[-1])
    return generations


def win_rates(
    weights: pd.DataFrame | np.ndarray | Sequence[Sequence[float]],
    opponents: str | Sequence[str],
    *,
    decks: str | Sequence[str],
    games: int = 100,
    agent: str = DEFAULT_AGENT,
    ruleset: str = "",
    seed: int = 1,
    workers: int = 0,
) -> np.ndarray:
    """Win rates of weight vectors against opponents, all on the same deals (common random numbers).

    Args:
        weights: one row per player, one column per weight of `agent`, from 0 to 1; for the turn program the
            thesis's eight weights, sixteen or all. A table names them NAME or weight_NAME, in any order, and
            its further columns are ignored.
        opponents: entrants, as `play_tournament` takes them, each counted once; one string may list several,
            separated by commas.
        decks: names, files or deck codes; one string may list several, separated by commas.
        games: number per player, opponent and ordered pair of decks; even.
        agent: whose weights they are.
        ruleset: name of the ruleset (docs/game.md); "": "standard" if a deck has a class, else "thesis".
        seed: seed of the deals.
        workers: number of threads; 0: one per processor.

    Returns:
        Shape (players, opponents): wins, with draws as half wins, per game.

    Raises:
        WrongValueError: an argument is not valid.
        WeightError, EntrantError, ProfileError: a weight or an opponent is not valid.
    """
    weight_set, rows = _weight_rows(weights, agent)
    content = {"decks": _names(decks), "agent": agent, "games": games, "seed": seed, "workers": workers}
    chosen = {"ruleset": ruleset, "weights": weight_set}
    config = validate_run_config(content | {key: name for key, name in chosen.items() if name}, NO_FILE)
    entrants, _ = find_entrants(_names(opponents))
    if not entrants:
        raise WrongValueError("opponents must name at least one entrant, such as aggro; got none")
    n, m = len(rows), len(entrants)
    pairings = np.array([(i, n + j) for i in range(n) for j in range(m)], np.int64)
    roster = roster_of(config, rows, [entrant.player for entrant in entrants])
    with contextlib.closing(LocalPool(config.workers)) as pool:
        compile_games(roster.players, roster.decks)
        results = play_pairings(roster, pairings, games, seed, (Stream.EXPERIMENT,), pool.play)
    points = results.wins + results.draws / 2
    rates: np.ndarray = points.sum(axis=(1, 2)) / results.games.sum(axis=(1, 2))
    return rates.reshape(n, m)


def card_worth(
    deck: str,
    field: str | Sequence[str],
    *,
    player: str = "",
    rival: str = "",
    games: int = 1_000,
    ruleset: str = "",
    patches: str | Sequence[str] = (),
    seed: int = 1,
    workers: int = 0,
) -> pd.DataFrame:
    """What each card of a deck is worth: the score lost on the same deals without it, and its part in games.

    Args:
        deck: a name, a file or a deck code.
        field: decks that it plays against; one string may list several, separated by commas.
        player: entrant that plays the deck; "": a fast agent.
        rival: entrant that plays the field; "": as the deck.
        games: per deck of the field, and as many without each card; even.
        ruleset: name of the ruleset; "": the decks' default.
        patches: changed numbers of cards, such as "Fireball cost=5", or files of them.
        seed: seed of the deals.
        workers: number of threads; 0: one per processor.

    Returns:
        One row per card, by worth: the columns of `cards.csv` (docs/commands.md).

    Raises:
        WrongValueError, DeckError, EntrantError: an argument is not valid.
    """
    own, *others = map(find_deck, _patched([deck, *_names(field)], patches))
    study = make_study(own, others, player, rival, games, ruleset, seed)
    with contextlib.closing(LocalPool(workers)) as pool:
        compile_games((study.player, study.rival), (own, *others))
        _, worth = measure_worth(study, pool.play)
        watched, _ = watch_games(study, pool.play)
    return card_table(worth, watched)


def deck_verdict(
    deck: str,
    field: str | Sequence[str],
    *,
    players: str | Sequence[str] = DEFAULT_PILOTS,
    games: int = 1_000,
    ruleset: str = "",
    patches: str | Sequence[str] = (),
    seed: int = 1,
    workers: int = 0,
) -> pd.DataFrame:
    """Is a deck too strong? Its scores against a field, each side played by the best of several agents.

    Args:
        deck: a name, a file or a deck code.
        field: decks that it plays against; one string may list several, separated by commas.
        players: entrants, the best of which plays each side.
        games: games that judge, per deck of the field; even.
        ruleset: name of the ruleset; "": the decks' default.
        patches: changed numbers of cards, such as "Fireball cost=5", or files of them. The agents are chosen
            without it, and the deals are the same, so that verdicts before and after compare.
        seed: seed of the deals.
        workers: number of threads; 0: one per processor.

    Returns:
        One row per deck of the field: the columns of `verdict.csv` (docs/commands.md).

    Raises:
        WrongValueError, DeckError, EntrantError: an argument is not valid.
    """
    names = _patched([deck, *_names(field)], patches)
    own, *others = map(find_deck, names)
    study = make_verdict_study(own, others, _names(players), games, ruleset, seed)
    plain = find_plain_study(study, names) or study
    with contextlib.closing(LocalPool(workers)) as pool:
        compile_games(study.pilots, (study.deck, *study.field))
        return judge(study, pool.play, choose_pilots(plain, pool.play))[0]


def balance(
    config: str | Path,
    *,
    out: str | Path | None = None,
    pool: str = "auto",
    address: str = "",
    quiet: bool = False,
    **changes: Any,
) -> FoundPatches:
    """Search the patches that make a field fair with few edits, and measure them (docs/balance.md).

    Args:
        config: a configuration file, or a shipped one by name.
        out: output folder; None: `runs/balance-<hash>`.
        pool: "auto", "local" or "ray".
        address: address of a Ray cluster to join.
        quiet: print nothing.
        changes: values of configuration keys, such as `generations=5`.

    Raises:
        ConfigError: the file or a value cannot be used.
        KeyboardInterrupt: a signal stopped the search; the same call continues it.
    """
    found = read_balance_config(config)
    found = validate_config(BalanceConfig, found.model_dump(by_alias=True) | changes, NO_FILE)
    with _session(quiet):
        place = pool_settings(pool, found.workers, address)
        keys = "".join(f", {key}={value!r}" for key, value in changes.items())
        command = f"manaforge.balance({str(config)!r}{keys})"
        done = run_balance(found, command, _path(out), place, _console(quiet))
    tables = done.patches, done.matchups, done.adaptations
    return FoundPatches(done.session.folder.path, *tables, " ".join(done.sentences))


def _patched(decks: str | Sequence[str], patches: str | Sequence[str]) -> tuple[str, ...]:
    """Names of decks with the patches as prefixes."""
    texts = [patches] if isinstance(patches, str) else patches
    return add_deck_options(_names(decks), DeckOptions(patch=read_patches(texts)))


def _weight_rows(
    weights: pd.DataFrame | np.ndarray | Sequence[Sequence[float]], agent: str
) -> tuple[str, list[tuple[float, ...]]]:
    """Checked weights of each player, and the name of their weight set; "" for the agent's default set."""
    # Agents without the turn program's weights have one set.
    sets = {len((vector := weight_class(agent, name)).names()): (name, vector) for name in WEIGHT_SETS}
    if isinstance(weights, pd.DataFrame):
        weights = _select_weights(weights, [vector.names() for _, vector in sets.values()])
    try:
        values = np.atleast_2d(np.asarray(weights, np.float64))
    except (TypeError, ValueError):
        raise WrongValueError(f"weights must be rows of equally many numbers, got {weights!r:.200}") from None
    numbers = " or ".join(", ".join(map(str, sets)).rsplit(", ", 1))
    if values.ndim != 2 or not len(values) or values.shape[1] not in sets:
        raise WrongValueError(
            f"weights of {agent} have one row per player and {numbers} columns "
            f"({', '.join(sets[max(sets)][1].names())}), got shape {values.shape}"
        )
    name, vector = sets[values.shape[1]]
    usual = vector is weight_class(agent)
    return "" if usual else name, [tuple(vector(*row).array) for row in values]


def _select_weights(table: pd.DataFrame, sets: Sequence[Sequence[str]]) -> pd.DataFrame:
    """The weights of a table in their order, of the smallest set that has all of them.

    The whole table if it names no weight.
    """
    named = table.rename(columns=lambda name: str(name).removeprefix("weight_"))
    given = [name for name in sets[-1] if name in named]
    wanted = next(names for names in sets if set(given) <= set(names))
    missing = [name for name in wanted if name not in given]
    if given and missing:
        complete = " or all of ".join(map(", ".join, sets))
        raise WrongValueError(
            f"weights: the table has columns {', '.join(given)}, but not {', '.join(missing)}; "
            f"give all of {complete}"
        )
    return named[[*wanted]] if given else table


def play_tournament(
    *entrants: str,
    decks: str | Sequence[str],
    games: int = 200,
    style: str = OFFERED_FORMATS[0],
    ruleset: str = "",
    seats: str = "paired",
    sprt: str = "",
    seed: int = 1,
    library: str | Path | None = None,
    patches: str | Sequence[str] = (),
    actions: bool = False,
    out: str | Path | None = None,
    workers: int = 0,
    pool: str = "auto",
    address: str = "",
    quiet: bool = False,
) -> PlayedTournament:
    """Play a tournament between entrants on decks, and rate the entrants.

    Args:
        entrants: as the command `tournament` takes them: `ilp:keep-alive`, `ilp:runs/NAME`, `hearthsim`, ...
        decks: names, files or deck codes; one string may list several, separated by commas.
        games: number per pair of entrants and ordered pair of decks.
        style: tournament format, "round-robin" or "gauntlet".
        ruleset: name of the ruleset (docs/game.md); "": "standard" if a deck has a class, else "thesis".
        seats: "paired" or "fixed" (docs/tournament.md).
        sprt: a sequential test, such as "elo0=0 elo1=20"; "" for none.
        seed: seed of the deals.
        library: a folder of further decks for the deck prediction of entrants with hands=predicted.
        patches: changed numbers of cards, such as "Fireball cost=5" (docs/decks.md), or files of them.
        actions: keep every action, for `PlayedTournament.actions`.
        out: output folder; None: `runs/tournament-<hash>`.
        workers: number of workers; 0: one per processor.
        pool: "auto", "local" or "ray".
        address: address of a Ray cluster to join.
        quiet: print nothing.

    Raises:
        TournamentError, EntrantError, DeckError, UnknownNameError: an argument is not valid.
        KeyboardInterrupt: a signal stopped the tournament; the same call continues it.
    """
    wanted = create_tournament(
        entrants,
        _patched(decks, patches),
        ruleset,
        sprt,
        _path(library),
        games=games,
        seats=check_choice("seats", "kind of seats", seats, SEATS),
        style=check_choice("style", "format", style, OFFERED_FORMATS),
        seed=seed,
        actions=actions,
    )
    return _played(wanted, "tournament", _path(out), pool_settings(pool, workers, address), quiet)


def play_arena(
    config: str | Path = "arena",
    *,
    champion: str = "",
    games: int = 0,
    seed: int = 1,
    out: str | Path | None = None,
    workers: int = 0,
    pool: str = "auto",
    address: str = "",
    quiet: bool = False,
) -> PlayedTournament:
    """Play a round robin of a champion, the hand-made profiles and all rivals over all decks.

    Args:
        config: "arena", or an arena file.
        champion: an entrant in place of the file's champion; "" for the file's.
        games: least number per pairing; 0: as in the file.
        seed: seed of the deals.
        out: output folder; None: `runs/arena-<hash>`.
        workers: number of workers; 0: one per processor.
        pool: "auto", "local" or "ray".
        address: address of a Ray cluster to join.
        quiet: print nothing.

    Raises:
        ConfigError, EntrantError, UnknownNameError: the file or an entrant cannot be used.
        KeyboardInterrupt: a signal stopped the arena; the same call continues it.
    """
    wanted = create_arena(str(config), champion, games, seed)
    return _played(wanted, "arena", _path(out), pool_settings(pool, workers, address), quiet)


def write_report(
    *runs: str | Path, out: str | Path | None = None, workers: int = 0, quiet: bool = False
) -> WrittenReport:
    """Write an HTML report on runs: findings, figures and tables.

    Args:
        runs: run folders, or folders of studies.
        out: the page; None: `report.html` in the folder of the run or study; for several, in the current one.
        workers: number of workers for its games; 0: one per processor.
        quiet: print nothing.

    Raises:
        RunError: there is no such run, or these runs cannot be compared.
    """
    found = read_runs(runs)
    paths = [Path(run) for run in runs]
    console = _console(quiet)
    with _session(quiet):
        target = write_report_page(found, paths, _path(out), workers, console)
    return WrittenReport(target, found.individuals, last_population(found.individuals), found.problems)


class _RunDisplay(RunDisplay):
    """Progress display of a run that calls a function with each generation."""

    def __init__(self, console: Console, on_generation: Callable[[Generation], None] | None) -> None:
        super().__init__(console)
        self._on_generation = on_generation

    def generation(
        self,
        told: GenerationResult,
        strategy: Strategy,
        tally: Tally,
        seconds: float,
        validation: Validation | None,
    ) -> None:
        """Show a committed generation, and call the function."""
        super().generation(told, strategy, tally, seconds, validation)
        if self._on_generation is not None:
            score = None if validation is None else validation.score
            self._on_generation(_generation(told, strategy, score, seconds))


def _generation(
    told: GenerationResult, strategy: Strategy, validation: float | None = None, seconds: float = 0.0
) -> Generation:
    """A generation as a table, after `Strategy.tell`."""
    names = list(strategy.parameters.vector.names())
    table = pd.DataFrame(told.individuals, columns=[f"weight_{name}" for name in names])
    for place, (name, values) in enumerate(
        {
            "individual": [individual.number for individual in told.individuals],
            "birth": [individual.birth for individual in told.individuals],
            "fitness": told.fitness,
            "survived": told.survived,
        }.items()
    ):
        table.insert(place, name, values)
    centre = strategy.centre()
    mean = None if centre is None else pd.Series(centre.weights, names)
    return Generation(told.generation, table, mean, validation, seconds)


def make_agent(entrant: str, deck: str = "") -> Agent:
    """Make the agent of an entrant, for `engine.play` and games step by step.

    A learned mulligan of its profile is not part of the agent: `engine.play` takes mulligan choices as
    `keeps` (docs/learning.md).

    Args:
        entrant: as the commands take it: `ilp:keep-alive`, `ilp:runs/NAME`, `hearthsim`, `lookahead@16`, ...
        deck: name of its deck, for a profile with weights for single decks.

    Raises:
        EntrantError, UnknownNameError, ProfileError: there is no such entrant.
    """
    return find_entrant(entrant).player.with_deck(deck).agent()


def _changed(config: RunConfig, changes: Mapping[str, Any]) -> RunConfig:
    """Configuration with changed values; a dict changes values of one configuration section."""
    content = config.model_dump(by_alias=True)
    values = {name.removesuffix("_"): value for name, value in changes.items()}
    for name, value in values.items():
        if isinstance(value, Mapping) and isinstance(content.get(name), dict):
            values[name] = content[name] | dict(value)
    return config.changed(**values)


def _names(texts: str | Sequence[str]) -> tuple[str, ...]:
    """Names of a list, or of one string that separates them by commas."""
    return split_names(texts) if isinstance(texts, str) else tuple(texts)


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)


def _console(quiet: bool) -> Console:
    return SafeConsole(file=io.StringIO(), force_jupyter=False) if quiet else output_console()


def _played(
    wanted: Tournament, kind: str, out: Path | None, place: PoolSettings, quiet: bool
) -> PlayedTournament:
    """Play a tournament to the end, and return its result tables."""
    with _session(quiet):
        done = play_and_write(wanted, out, kind, place, _console(quiet))
    for warning in fault_warnings(done.summary):
        warnings.warn(warning, stacklevel=3)
    read = done.read
    tables = read.ratings, read.results, read.matchups, read.decks
    return PlayedTournament(done.path, *tables, done.games, done.summary)


@contextlib.contextmanager
def _session(quiet: bool) -> Iterator[None]:
    """Context that raises `KeyboardInterrupt` after a signal; if quiet, it hides notices of compilation."""
    try:
        with silent_compilation() if quiet else contextlib.nullcontext():
            yield
    except SessionStopped as stop:
        raise KeyboardInterrupt(f"stopped by signal {stop.signal}") from None
