"""EVA's experiment, figure by figure: what is run, and what is kept of it."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import linkage

from benchmarks.published.eva_blocks import OURS, THEIRS, THEIRS_PRINTED, blocks, silhouettes
from benchmarks.published.eva_figures import draw
from benchmarks.published.eva_paper import DECKS, GROUPS
from benchmarks.published.jobs import Job, Part, keep_jobs
from evo.analysis.clustering import compare_clusters, cut_tree
from evo.analysis.tables import Runs, last_population, read_runs, weights_of, wins_by_decks
from rivals import EvaWeights

RUNS, CROSSED = 10, 10
"""Runs; games of two individuals for each ordered pair of decks."""

AS_PLAYED = "-as-played"
"""Added to the names of the decks as the authors' program played them."""

PRINTED = "pirate-warrior,jade-shaman,reno-mage"
PLAYED = ",".join(f"benchmarks/published/decks/{deck}{AS_PLAYED}.toml" for deck in DECKS)
STUDY = Job(
    "eva-study",
    f"manaforge study eva-2018 --runs {RUNS} --set agent=eva --set validation.every=0 --set "
    "final.games=1200 --set final.benchmark_games=0 --yes --out OUT",
)
CROSSPLAY = Job(
    "eva-crossplay", f"manaforge crossplay {STUDY.out} --games {CROSSED} --out OUT", needs=(STUDY,)
)
AGENTS = Job(
    "eva-agents",
    f"manaforge tournament eva:{STUDY.out}/00 eva:competition hearthsim:standard ilp:true-balanced mcts "
    f"minimax-td greedy-ilp:true-balanced aggro random --ruleset competition --decks {PRINTED} --games 20 "
    "--out OUT",
    needs=(STUDY,),
)
CHAMPIONS = " ".join(f"eva:{STUDY.out}/{number:02}" for number in range(RUNS))
HEALTH = Job(
    "eva-health",
    f"python -m benchmarks.hero_health eva:competition {CHAMPIONS} --decks {PRINTED} --games 100 --out OUT",
    needs=(STUDY,),
)
AUTHORS = {
    words: Job(
        f"eva-authors-{name}",
        "python -m benchmarks.eva_crossplay benchmarks/published/authors/eva-individuals.csv --decks "
        f"{decks} --out OUT",
    )
    for words, name, decks in ((THEIRS, "played", PLAYED), (THEIRS_PRINTED, "printed", ",".join(DECKS)))
}
"""Games of the authors' individuals here, with both kinds of decks."""
JOBS = (STUDY, CROSSPLAY, AGENTS, HEALTH, *AUTHORS.values())


def take(folder: Path) -> None:
    """Keep survivors, weights of the last populations with their groups, decks, comparisons and agents."""
    runs = read_runs([STUDY.out])
    individuals = runs.individuals
    survivors = individuals[individuals["survived"]]
    columns = ["run", "generation", "individual", "birth", "fitness", "games"]
    survivors[columns].to_csv(folder / "eva-survivors.csv", index=False)
    _runs(runs).to_csv(folder / "eva-runs.csv", index=False)
    population = last_population(individuals)
    weights = population[weights_of(population)].to_numpy()
    groups = cut_tree(linkage(weights, "ward"), GROUPS)
    named = population[["run", "individual"]].assign(group=groups)
    pd.concat([named, pd.DataFrame(weights.round(4), columns=list(EvaWeights.names()))], axis=1).to_csv(
        folder / "eva-weights.csv", index=False
    )
    silhouettes(weights).to_csv(folder / "eva-levels.csv")
    decks = [deck.name for deck in next(iter(runs.configs.values())).found_decks]
    tables = [
        wins_by_decks(own, decks)
        .rename_axis(columns="opponent_deck")
        .stack()
        .rename("score")
        .reset_index()
        .assign(run=run)
        for run, own in population.groupby("run", observed=True)
    ]
    _keep(pd.concat(tables), folder / "eva-decks.csv")
    games = pd.read_parquet(CROSSPLAY.out / "games.parquet")
    order = {f"{row.run}:{row.individual}": row.group for row in named.itertuples()}
    labels = np.array([order[name] for name in games["first"].cat.categories])
    _keep(compare_clusters(games, labels), folder / "eva-comparisons.csv")
    pd.read_csv(AGENTS.out / "ratings.csv").to_csv(folder / "eva-agents-ratings.csv", index=False)
    met = {"entrant": "opponent", "deck": "opponent_deck"}
    _keep(
        _points_by(pd.read_parquet(AGENTS.out / "games.parquet"), met),
        folder / "eva-agents-decks.csv",
    )
    _keep(pd.read_csv(HEALTH.out), folder / "eva-health.csv")
    theirs = [pd.read_csv(job.out).assign(individuals=words) for words, job in AUTHORS.items()]
    ours = _points_by(games, {"deck": "opponent_deck"}).assign(individuals=OURS)
    _keep(pd.concat([*theirs, ours]), folder / "eva-crossplay.csv")
    config = next(iter(runs.configs.values()))
    kept = {
        "mu": config.mu,
        "lambda": config.lambda_,
        "generations": config.generations,
        "games": config.games,
    }
    kept |= {"decks": len(decks), "runs": len(runs.folders)}
    pd.Series(kept, name="value").rename_axis("parameter").to_csv(folder / "eva-parameters.csv")
    keep_jobs(JOBS, folder / "eva-jobs.csv")


def _keep(table: pd.DataFrame, file: Path) -> None:
    """Keep a table as CSV, its decks by their names without `AS_PLAYED`."""
    names = [name for name in ("deck", "opponent_deck") if name in table]
    decks = {name: table[name].astype(str).str.removesuffix(AS_PLAYED) for name in names}
    table.assign(**decks).to_csv(file, index=False)


def _points_by(games: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Games of both players by what they are: one row for each combination, with games and points.

    Args:
        games: of a crossplay or tournament.
        names: columns of the result: of the player (`entrant`, `deck`) and the same of its opponent.
    """
    points = games["outcome"].astype(str).map({"first": 1.0, "draw": 0.5, "second": 0.0})
    rows = []
    for own, other, gained in (("first", "second", points), ("second", "first", 1 - points)):
        found = {"points": gained}
        for of_player, of_opponent in names.items():
            for seat, name in ((own, of_player), (other, of_opponent)):
                found[name] = games[seat if of_player == "entrant" else f"{seat}_deck"].astype(str)
        rows.append(pd.DataFrame(found))
    by = [*names, *names.values()]
    return pd.concat(rows).groupby(by)["points"].agg(games="size", points="sum").reset_index()


def _runs(runs: Runs) -> pd.DataFrame:
    """Seed, games and seconds of each run; where it was interrupted, without the time between."""
    rows = []
    for name, run in runs.folders.items():
        log = [json.loads(line) for line in (run.path / "log.jsonl").read_text(encoding="utf-8").splitlines()]
        own = runs.individuals[runs.individuals["run"] == name]
        rows.append(
            {
                "run": name,
                "seed": run.config.seed,
                "generations": int(own["generation"].max()) + 1,
                "individuals": own["individual"].nunique(),
                "games": int(own["games"].sum()) // 2,
                "seconds": round(sum(event.get("seconds", 0) for event in log)),
            }
        )
    return pd.DataFrame(rows)


PART = Part(JOBS, take, lambda folder: blocks(folder, JOBS), draw)
