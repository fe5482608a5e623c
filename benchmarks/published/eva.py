"""EVA's experiment, figure by figure: what is run, and what is kept of it."""

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.metrics import silhouette_score

from benchmarks.published.eva_blocks import blocks
from benchmarks.published.eva_figures import draw
from benchmarks.published.jobs import Job, Part, keep_jobs
from evo.analysis.clustering import MOST_CLUSTERS, compare_clusters
from evo.analysis.tables import last_population, read_runs, weights_of, wins_by_decks
from rivals import EvaWeights

RUNS, CROSSED = 3, 10
"""Runs; games of two individuals for each ordered pair of decks."""

DECKS = "pirate-warrior,jade-shaman,reno-mage"
STUDY = Job(
    "eva-study",
    f"manaforge study eva-2018 --runs {RUNS} --set agent=eva --set validation.every=0 --set "
    "final.games=1200 --set final.benchmark_games=0 --yes --out OUT",
)
CROSSPLAY = Job("eva-crossplay", f"manaforge crossplay {STUDY.out} --games {CROSSED} --out OUT")
AGENTS = Job(
    "eva-agents",
    f"manaforge tournament eva:{STUDY.out}/00 eva:competition hearthsim:standard ilp:true-balanced mcts "
    f"minimax-td greedy-ilp:true-balanced aggro random --ruleset competition --decks {DECKS} --games 20 "
    "--out OUT",
)
CHAMPIONS = " ".join(f"eva:{STUDY.out}/{number:02}" for number in range(RUNS))
HEALTH = Job(
    "eva-health",
    f"python -m benchmarks.hero_health eva:competition {CHAMPIONS} --decks {DECKS} --games 100 --out OUT",
)
JOBS = (STUDY, CROSSPLAY, AGENTS, HEALTH)


def take(folder: Path) -> None:
    """Keep survivors, weights of the last populations with their groups, decks, comparisons and agents."""
    runs = read_runs([STUDY.out])
    individuals = runs.individuals
    survivors = individuals[individuals["survived"]]
    columns = ["run", "generation", "individual", "birth", "fitness", "games"]
    survivors[columns].to_csv(folder / "eva-survivors.csv", index=False)
    produced = individuals.drop_duplicates(["run", "individual"])["individual"].groupby(
        individuals["run"], observed=True
    )
    population = last_population(individuals)
    weights = population[weights_of(population)].to_numpy()
    tree = linkage(weights, "ward")
    levels = {
        number: silhouette_score(weights, fcluster(tree, number, "maxclust"))
        for number in range(2, MOST_CLUSTERS + 1)
    }
    best = max(levels, key=lambda number: levels[number])
    groups = _by_size(fcluster(tree, best, "maxclust"))
    named = population[["run", "individual"]].assign(group=groups)
    pd.concat([named, pd.DataFrame(weights.round(4), columns=list(EvaWeights.names()))], axis=1).to_csv(
        folder / "eva-weights.csv", index=False
    )
    pd.DataFrame(levels.items(), columns=["groups", "silhouette"]).to_csv(
        folder / "eva-levels.csv", index=False
    )
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
    pd.concat(tables).to_csv(folder / "eva-decks.csv", index=False)
    games = pd.read_parquet(CROSSPLAY.out / "games.parquet")
    order = {f"{row.run}:{row.individual}": row.group for row in named.itertuples()}
    labels = np.array([order[name] for name in games["first"].cat.categories])
    compare_clusters(games, labels).to_csv(folder / "eva-comparisons.csv", index=False)
    for name in ("ratings", "decks"):
        pd.read_csv(AGENTS.out / f"{name}.csv").to_csv(folder / f"eva-agents-{name}.csv", index=False)
    pd.read_csv(HEALTH.out).to_csv(folder / "eva-health.csv", index=False)
    config = tomllib.loads((STUDY.out / "00" / "config.toml").read_text(encoding="utf-8"))
    kept = {key: config[key] for key in ("mu", "lambda", "generations", "games", "strategy")}
    kept |= {"decks": len(decks), "runs": RUNS, "produced": int(produced.size().sum())}
    pd.Series(kept, name="value").rename_axis("parameter").to_csv(folder / "eva-parameters.csv")
    keep_jobs(JOBS, folder / "eva-jobs.csv")


def _by_size(labels: np.ndarray) -> np.ndarray:
    """Groups numbered by their size, the largest 1."""
    sizes = pd.Series(labels).value_counts()
    number = {label: place + 1 for place, label in enumerate(sizes.index)}
    return np.array([number[label] for label in labels])


PART = Part(JOBS, take, lambda folder: blocks(folder, JOBS), draw)
