"""The minimax player: its learning curve, and the search for its features."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t as student

from benchmarks.published.jobs import Job, Part, keep_jobs, read_jobs
from benchmarks.published.minimax_figures import draw_learning, draw_search
from benchmarks.published.pages import jobs_table, listed, percent, picture, prose, table
from rivals.minimax_search import FEATURES

SEEDS = (1, 2, 3, 4, 5)
SEARCHES = (1, 2, 3)
RECIPES = {
    "the paper's": "",
    "fewer random turns": " --epsilon 0.25",
    "smaller rate": " --eta 0.00003",
    "both": " --eta 0.00003 --epsilon 0.25",
}
"""Options of `rivals.minimax_learning` by name."""

FALL = 0.3
"""A fall from the highest score that counts as the plummeting of the paper."""

HIGHER = 0.1
"""A rise of the highest score that is told."""

PEAK, BEST_SET = 0.815, 7
"""The paper's highest win rate, and its best number of features."""

PEAK_HALF = 1.96 * np.sqrt(PEAK * (1 - PEAK) / 200)
"""Half the interval of that rate, by its 200 games."""

LEADS = tuple(name for name in FEATURES if name.endswith("_lead"))
"""Features that compare the two players."""

OTHER_DECKS = {"basic minions": "hearthsim-basic", "Basic Mage and Hunter": "basic-mage,basic-hunter"}
"""Decks on which the remedies are tried as well, by their words; with fewer seeds."""

OTHER_SEEDS = SEEDS[:3]
THESIS = "the thesis's"


def _learning(name: str, options: str, seed: int) -> Job:
    return Job(
        f"minimax-curve-{name}-{seed}",
        f"python -m rivals.minimax_learning{options} --seed {seed}",
        seed,
        cores=1,
    )


CURVES = {
    (THESIS, recipe, seed): _learning(str(place), options, seed)
    for place, (recipe, options) in enumerate(RECIPES.items())
    for seed in SEEDS
} | {
    (words, recipe, seed): _learning(f"{place}-{decks.split(',')[0]}", f"{options} --decks {decks}", seed)
    for words, decks in OTHER_DECKS.items()
    for place, (recipe, options) in enumerate(RECIPES.items())
    for seed in OTHER_SEEDS
}
SEARCH = {
    seed: Job(
        f"minimax-search-{seed}", f"python -m benchmarks.minimax_backward --seed {seed} --out OUT", seed
    )
    for seed in SEARCHES
}
JOBS = (*CURVES.values(), *SEARCH.values())


def take(folder: Path) -> None:
    """Keep the curves (decks, recipe, seed, games, score), and the searches."""
    rows = [
        (decks, recipe, seed, int(games), float(score) / 100)
        for (decks, recipe, seed), job in CURVES.items()
        for games, score in re.findall(
            r"^ *(\d+) games +([\d.]+)%$", job.printed.read_text(encoding="utf-8"), re.MULTILINE
        )
    ]
    columns = ["decks", "recipe", "seed", "games", "score"]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "minimax-curves.csv", index=False)
    found = [pd.read_csv(job.out).assign(seed=seed) for seed, job in SEARCH.items()]
    pd.concat(found).to_csv(folder / "minimax-search.csv", index=False)
    keep_jobs(JOBS, folder / "minimax-jobs.csv")


def blocks(folder: Path) -> dict[str, str]:
    """The blocks of the page."""
    curves = pd.read_csv(folder / "minimax-curves.csv")
    search = pd.read_csv(folder / "minimax-search.csv")
    return {
        "minimax-curve": _curve(_of_thesis(folder)),
        "minimax-remedies": _remedies(curves),
        "minimax-search": _search(search),
        "minimax-commands": jobs_table(JOBS, read_jobs(folder / "minimax-jobs.csv")),
    }


def _curve(curves: pd.DataFrame) -> str:
    said = []
    for recipe in RECIPES:
        own = curves[curves["recipe"] == recipe]
        peaks = own.groupby("seed")["score"].max()
        after = own.loc[own.groupby("seed")["score"].idxmax()].set_index("seed")["games"]
        later = own[own["games"] > own["seed"].map(after)].groupby("seed")["score"].min()
        falls = int((later < peaks.loc[later.index] - FALL).sum())
        half = student.ppf(0.975, len(peaks) - 1) * peaks.std() / np.sqrt(len(peaks))
        gap = peaks.mean() - PEAK
        near = "not told apart" if abs(gap) <= np.hypot(half, PEAK_HALF) else "higher" if gap > 0 else "lower"
        steps = own.groupby("seed")["score"].diff().abs().mean()
        said.append(
            [
                recipe,
                f"{percent(peaks.mean())} ({percent(peaks.mean() - half)} to {percent(peaks.mean() + half)})",
                near,
                f"{after.min():,} to {after.max():,}",
                f"{falls} of {len(later)}",
                percent(later.min()),
                f"{100 * steps:.1f}",
            ]
        )
    header = [
        *(
            "recipe",
            f"highest score, mean of {len(SEEDS)} seeds",
            f"the paper's {percent(PEAK)}",
            "after games",
        ),
        *("falls later by 30 points", "lowest later", "points from one score to the next"),
    ]
    return "\n\n".join(
        [picture("published-learning", "win rate against aggro by games learned from"), table(header, said)]
    )


def _remedies(curves: pd.DataFrame) -> str:
    """The recipes on other decks: how high they come, and how far they fall later."""
    rows, falls, steps = [], {recipe: [] for recipe in RECIPES}, {recipe: [] for recipe in RECIPES}
    highest: dict[tuple[str, str], float] = {}
    for words in OTHER_DECKS:
        for recipe in RECIPES:
            own = curves[(curves["decks"] == words) & (curves["recipe"] == recipe)]
            runs = [run.set_index("games")["score"] for _, run in own.groupby("seed")]
            lost = [float(run.max() - run.loc[run.idxmax() :].min()) for run in runs]
            highest[words, recipe] = float(np.mean([run.max() for run in runs]))
            jumps = float(np.mean([run.diff().abs().mean() for run in runs]))
            falls[recipe] += lost
            steps[recipe].append(jumps)
            rows.append(
                [
                    words,
                    recipe,
                    percent(highest[words, recipe]),
                    percent(float(np.mean([run.iloc[-1] for run in runs]))),
                    f"{sum(one >= FALL for one in lost)} of {len(lost)}",
                    percent(float(np.mean([run.loc[run.idxmax() :].min() for run in runs]))),
                    f"{100 * jumps:.1f}",
                ]
            )
    header = [
        *("decks", "recipe", f"highest score, mean of {len(OTHER_SEEDS)} seeds", "last score, mean"),
        *(
            f"falls later by {100 * FALL:.0f} points",
            "lowest later, mean",
            "points from one score to the next",
        ),
    ]
    ends = [
        f"{recipe} in {sum(one >= FALL for one in lost)} of {len(lost)}" for recipe, lost in falls.items()
    ]
    calmer = [
        recipe
        for recipe, own in steps.items()
        if all(one < base / 2 for one, base in zip(own, steps["the paper's"], strict=True))
    ]
    higher = [
        f"{recipe} on {words}"
        for (words, recipe), score in highest.items()
        if score >= highest[words, "the paper's"] + HIGHER
    ]
    return "\n\n".join(
        [
            table(header, rows),
            prose(
                f"Runs that fall by {100 * FALL:.0f} points or more: {', '.join(ends)}.",
                "So against such falls fewer random turns, the idea of the paper, do not help alone; the "
                "smaller rate does."
                if max(falls["smaller rate"]) < FALL <= max(falls["fewer random turns"])
                else "",
                f"The highest score is at least {100 * HIGHER:.0f} points above that of the paper's recipe "
                f"with {listed(higher)}."
                if higher
                else "",
                f"Less than half the jumps of the paper's recipe on each of them: {listed(calmer)}."
                if calmer
                else "No remedy halves the jumps of the paper's recipe on each of them.",
            ),
        ]
    )


def _search(search: pd.DataFrame) -> str:
    mean = search.groupby("features")["fresh_score"].mean()
    best = int(mean.idxmax())
    rows = []
    for number in sorted(mean.index, reverse=True):
        own = search[search["features"] == number]
        scores = ", ".join(percent(score, 0) for score in own["fresh_score"])
        left = ", ".join(name or "none" for name in own["left_out"].fillna(""))
        rows.append(
            [
                str(number),
                left,
                percent(own["score"].mean()) if number < len(FEATURES) else "",
                f"{percent(mean[number])} ({scores})",
            ]
        )
    of_best = [set(names.split()) for names in search.loc[search["features"] == BEST_SET, "names"]]
    leads = [len(names & set(LEADS)) for names in of_best]
    mostly = sum(number > BEST_SET / 2 for number in leads)
    always = [name for name in FEATURES if all(name in names for names in of_best)]
    alone = mean[1]
    apart = search.pivot(index="seed", columns="features", values="fresh_score")
    ahead = int((apart[BEST_SET] > apart[len(FEATURES)]).sum())
    lead = apart[best] - apart[BEST_SET]
    half = student.ppf(0.975, len(lead) - 1) * lead.std() / np.sqrt(len(lead))
    flattered = (search["score"] - search["fresh_score"])[search["features"] == BEST_SET].mean()
    said = prose(
        f"The sets of {best} score most in the mean, {percent(mean[best])}; our sets of {BEST_SET}, the "
        "paper's number, score "
        f"{percent(mean[BEST_SET])} ({100 * flattered:.0f} points less than they were chosen by; the two "
        f"{'can' if lead.mean() > half else 'cannot'} be told apart by {len(lead)} searches) and all "
        f"{len(FEATURES)} {percent(mean[len(FEATURES)])}.",
        f"The {BEST_SET} are better than all {len(FEATURES)} in {ahead} of the {len(apart)} "
        f"searches{', as in the paper' if ahead == len(apart) else ', so that this is not settled'}; a "
        f"single feature scores {percent(alone)}.",
        "Between searches the score of the same number of features differs by "
        f"{100 * (apart.max() - apart.min()).mean():.0f} points in the mean: the search is made with the "
        "paper's recipe, whose scores jump as the curve above shows, so with many features it probably "
        "finds lucky runs rather than good sets.",
        f"Of {BEST_SET}, {', '.join(map(str, leads))} by seed are comparisons of the two players, of "
        f"{len(LEADS)} there are: most, as in the paper, in {mostly or 'none'} of {len(leads)} searches;",
        f"in all {len(of_best)} searches are {', '.join(f'`{name}`' for name in always) or 'none'}.",
    )
    return "\n\n".join(
        [
            picture("published-features", "win rate by the number of features"),
            table(
                [
                    "features",
                    "left out last, by seed",
                    "score it was chosen by",
                    "score by other games (by seed)",
                ],
                rows,
            ),
            said,
        ]
    )


def _of_thesis(folder: Path) -> pd.DataFrame:
    """The curves on the thesis's decks."""
    curves = pd.read_csv(folder / "minimax-curves.csv")
    return curves[curves["decks"] == THESIS]


def draw(folder: Path) -> dict[str, bytes]:
    """The figures of the page."""
    return {
        "published-learning": draw_learning(_of_thesis(folder), PEAK),
        "published-features": draw_search(pd.read_csv(folder / "minimax-search.csv"), BEST_SET),
    }


PART = Part(JOBS, take, blocks, draw)
