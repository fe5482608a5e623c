"""EVA's experiment, figure by figure: the blocks of the page, from what was kept."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import linkage
from scipy.stats import t as student
from sklearn.metrics import silhouette_score

from benchmarks.published import eva_authors
from benchmarks.published.correlation import rank_correlation
from benchmarks.published.eva_authors import CROSSPLAY, RUN_AGAIN, RUN_GAMES
from benchmarks.published.eva_paper import (
    ACRONYMS,
    BATTLEFIELD,
    DECKS,
    GROUPS,
    TABLE_4,
    TABLE_5,
    VALUE,
    WORDS,
)
from benchmarks.published.jobs import Job, read_jobs
from benchmarks.published.pages import (
    Share,
    duration,
    jobs_table,
    listed,
    percent,
    picture,
    prose,
    table,
)
from engine import find_deck
from evo.analysis.clustering import cut_tree, strength_text
from rivals import EvaWeights

HALF, LIVES, NEWCOMERS = 0.05, 2, 0.5
"""How far from the paper's half, 5 generations and 1 newcomer still agrees."""

LOW, HIGH, VARIED, RATHER_LOW, NEAR_1 = 1 / 3, 2 / 3, 1 / 4, 1 / 2, 0.9
"""Medians below and above are low and high; quartiles further apart are varied."""

NINE_ALIKE = 0.683
"""Rank correlation of nine pairs that chance alone reaches, in either direction, in 5% of cases."""

MOST_GROUPS = 50
"""Levels of a tree that are looked at."""

UNUSED = EvaWeights.inert(card for deck in DECKS for card in find_deck(deck).cards)
"""Weights of what no minion of the decks has from the start."""

CHAMPION = "eva-study"
"""In the name of our champion among entrants."""


def blocks(folder: Path, jobs: Sequence[Job]) -> dict[str, str]:
    """The blocks of the page."""
    return {
        "eva-parameters": _parameters(
            pd.read_csv(folder / "eva-parameters.csv", index_col="parameter")["value"],
            pd.read_csv(folder / "eva-runs.csv", dtype={"run": str}),
        ),
        "eva-course": _course(pd.read_csv(folder / "eva-survivors.csv", dtype={"run": str})),
        "eva-weights": _weights(pd.read_csv(folder / "eva-weights.csv", dtype={"run": str})),
        "eva-decks": _decks(
            pd.read_csv(folder / "eva-decks.csv", dtype={"run": str}),
            pd.read_csv(folder / "eva-crossplay.csv"),
        ),
        "eva-groups": _groups(folder),
        "eva-agents": _agents(folder),
        "eva-health": _health(pd.read_csv(folder / "eva-health.csv")),
        "eva-commands": jobs_table(jobs, read_jobs(folder / "eva-jobs.csv")),
    }


def _parameters(kept: pd.Series, runs: pd.DataFrame) -> str:
    papers = {
        "population, mu": ("mu", "10"),
        "children, lambda": ("lambda", "10"),
        "generations, with the first": ("generations", "100"),
        "decks": ("decks", "3"),
        "games for each pair of decks": ("games", "20"),
        "runs": ("runs", "10"),
    }
    rows = []
    for words, (key, paper) in papers.items():
        own = str(int(kept[key]) + 1) if key == "generations" else str(kept[key])
        rows.append([words, paper, own, "yes" if own == paper else "no"])
    of_runs = [
        [
            row["run"],
            str(row["seed"]),
            str(row["generations"]),
            f"{row['individuals']:,}",
            f"{row['games']:,}",
            duration(row["seconds"]),
        ]
        for row in runs.to_dict("records")
    ]
    return "\n\n".join(
        [
            table(["Table 3", "the paper", "here", "equal"], rows),
            table(["run", "seed", "generations", "individuals", "games", "time"], of_runs),
        ]
    )


def _over_runs(values: pd.Series) -> str:
    """Mean over runs with the lowest and the highest run."""
    return f"{values.mean():.2f} ({values.min():.2f} to {values.max():.2f})"


def spread_of(survivors: pd.DataFrame) -> pd.Series:
    """Distance of the quartiles of the survivors' score per game, by generation."""
    score = survivors["fitness"] / survivors["games"]
    quartiles = score.groupby(survivors["generation"]).quantile([0.25, 0.75]).unstack()
    return quartiles[0.75] - quartiles[0.25]


def newcomers_of_age(survivors: pd.DataFrame, age: int) -> pd.DataFrame:
    """Survivors of an age, by run (columns) and generation (rows)."""
    own = survivors[survivors["generation"] - survivors["birth"] == age]
    found = own.groupby(["generation", "run"]).size().unstack(fill_value=0)
    runs = sorted(survivors["run"].unique())
    every = range(age, int(survivors["generation"].max()) + 1)
    return found.reindex(index=every, columns=runs, fill_value=0)


def lives_of(survivors: pd.DataFrame) -> pd.DataFrame:
    """One row an individual that survived at all: run, individual, birth, lived (generations)."""
    lives = survivors.groupby(["run", "individual"])["birth"].agg(["first", "size"]).reset_index()
    return lives.rename(columns={"first": "birth", "size": "lived"})


def _course(survivors: pd.DataFrame) -> str:
    last = int(survivors["generation"].max())
    spread, lives = spread_of(survivors), lives_of(survivors)
    late = spread[spread.index >= 10]
    ages = survivors.assign(age=survivors["generation"] - survivors["birth"])
    by_run = lives.groupby("run")["lived"].mean()
    within = lives["birth"].between(30, 60).groupby(lives["run"]).mean()
    early_age = ages[ages["generation"] < last / 5].groupby("run")["age"].mean()
    late_age = ages[ages["generation"] > last * 4 / 5].groupby("run")["age"].mean()
    twice = newcomers_of_age(survivors, 1)
    settled = twice[twice.index >= 20].mean()
    born = newcomers_of_age(survivors, 0)
    quartiles = lives["birth"].quantile([0.25, 0.75])
    rows = [
        [
            "Fig. 2",
            "fitness differs much in generation 0, less from 10 on",
            f"of all runs pooled: quartiles of the survivors' score {100 * spread[0]:.1f} points apart in "
            f"generation 0, {100 * spread[5]:.1f} in 5, {100 * late.mean():.1f} from 10 on",
            "yes" if late.max() < spread[0] else "no",
        ],
        [
            "Fig. 3",
            "half of those that survived were born in generations 30 to 60",
            f"{percent(within.mean())} ({percent(within.min())} to {percent(within.max())}), where births "
            f"spread evenly would give {percent(31 / (last + 1))}; pooled quartiles of birth "
            f"{quartiles[0.25]:.0f} and {quartiles[0.75]:.0f}",
            "yes" if abs(within.mean() - 0.5) <= HALF else "no",
        ],
        [
            "Fig. 3",
            "they live about 5 generations, some 17 to 80",
            f"{_over_runs(by_run)}; the longest {lives['lived'].max()}",
            "yes" if abs(by_run.mean() - 5) <= LIVES else "no",
        ],
        [
            "Fig. 4",
            "the age of the population rises",
            f"mean age in the first fifth {_over_runs(early_age)}, in the last {_over_runs(late_age)}",
            "yes" if (late_age > early_age).all() else "no",
        ],
        [
            "Fig. 5",
            "about 1 new individual from generation 20 on (in their code: that survived twice)",
            f"{_over_runs(settled)}; of age 0 {_over_runs(born[born.index >= 20].mean())}",
            "yes" if abs(settled.mean() - 1) <= NEWCOMERS else "no",
        ],
    ]
    return "\n\n".join(
        [
            picture("published-eva-course", "EVA's Figs. 2 to 5, of our runs"),
            table(
                [
                    "figure",
                    "the paper",
                    "here: mean of the runs (lowest to highest), or pooled",
                    "as the paper",
                ],
                rows,
            ),
        ]
    )


def _weights(members: pd.DataFrame) -> str:
    rows, said, within, medians, by_chance = [], [], [], [], 0.0
    not_as_said: list[str] = []
    authors = pd.DataFrame(eva_authors.weights(), columns=list(EvaWeights.names()))
    for names in (BATTLEFIELD, VALUE):
        ours, theirs = (own[list(names)].quantile([0.25, 0.5, 0.75]) for own in (members, authors))
        unused = [name for name in names if name in UNUSED]
        used, their_used = ours.drop(columns=unused), theirs.drop(columns=unused)
        for name in names:
            words = WORDS.get(name, ())
            row = [f"{ACRONYMS[name]}, `{name}`", ", ".join(words), _quartiles(theirs[name])]
            row.append(_quartiles(ours[name]))
            if name in UNUSED:
                rows.append([*row, "hardly used by these decks", ""])
                continue
            low, median, high = theirs[name]
            within.append(bool(low <= ours.loc[0.5, name] <= high))
            by_chance += float(high - low)
            medians.append((float(median), float(ours.loc[0.5, name])))
            agrees = all(is_as_said(one, name, used) for one in words)
            if words:
                said.append(agrees)
                if not all(is_as_said(one, name, their_used) for one in words):
                    not_as_said.append(f"`{name}`")
            rows.append([*row, ("yes" if agrees else "no") if words else "", "yes" if within[-1] else "no"])
    apart = np.array(medians)
    header = [
        *("weight", "the paper's words", "authors' 100: median (quartiles)", "here: median (quartiles)"),
        *("as its words", "median within their quartiles"),
    ]
    return "\n\n".join(
        [
            picture("published-eva-weights", "EVA's Figs. 6 and 7, of our runs: raw weights"),
            table(header, rows),
            prose(
                f"By our reading of its words {said.count(True)} of {len(said)} weights are as in the paper; "
                f"by the same reading {len(said) - len(not_as_said)} of {len(said)} of the authors' own are"
                + (f" (not {listed(not_as_said)})" if not_as_said else "")
                + f". Of {len(within)} weights with influence our median lies within the authors' quartiles "
                f"in {sum(within)} (medians drawn evenly from 0 to 1: in {by_chance:.0f}); the rank "
                "correlation of the medians is "
                f"{float(rank_correlation(apart[:, 0], apart[:, 1])):.2f}, their mean distance "
                f"{np.abs(apart[:, 0] - apart[:, 1]).mean():.2f}."
            ),
        ]
    )


def _quartiles(quartiles: pd.Series) -> str:
    low, median, high = quartiles
    return f"{median:.2f} ({low:.2f} to {high:.2f})"


def is_as_said(words: str, name: str, quartiles: pd.DataFrame) -> bool:
    """Whether a weight is what the paper says of it.

    Args:
        words: of `eva_paper.WORDS`.
        name: of the weight.
        quartiles: of the weights of its figure (columns); rows 0.25, 0.5 and 0.75.
    """
    medians, apart = quartiles.loc[0.5], quartiles.loc[0.75] - quartiles.loc[0.25]
    median = medians[name]
    return bool(
        {
            "low": median < LOW,
            "high": median > HIGH,
            "rather low": median < RATHER_LOW,
            "not near 1": median < NEAR_1,
            "varied": apart[name] > VARIED,
            "little varied": apart[name] <= VARIED,
            "least varied": apart[name] == apart.min(),
            "nearest 0": median == medians.min(),
            "most important": median >= medians.nlargest(2).min(),
        }[words]
    )


def _decks(found: pd.DataFrame, crossplay: pd.DataFrame) -> str:
    found = found.assign(deck=found["deck"].map(DECKS), opponent_deck=found["opponent_deck"].map(DECKS))
    own = found.groupby(["deck", "opponent_deck"])["score"]
    mean, n = own.mean(), own.count()
    half = student.ppf(0.975, n - 1) * own.std() / np.sqrt(n)
    order = list(DECKS.values())
    named = eva_authors.table_4()
    rows = [
        [
            f"{deck} against {other}",
            f"{100 * TABLE_4[deck, other]:.2f}%",
            f"{100 * named[deck, other]:.2f}%",
            f"{100 * mean[deck, other]:.1f} ± {100 * half[deck, other]:.1f}",
        ]
        for deck in order
        for other in order
    ]
    ours, theirs, printed = (np.array([of[cell] for cell in TABLE_4]) for of in (mean, named, TABLE_4))
    errors = [100 * np.abs(ours - table_4).mean() for table_4 in (theirs, printed)]
    alike = [rank_correlation(ours, table_4) for table_4 in (theirs, printed)]
    header = ["cell", "Table 4 as printed", "its numbers by the program's order", "here, mean of the runs"]
    return "\n\n".join(
        [
            prose(_labels(TABLE_4, named, mean)),
            table(header, rows),
            prose(
                "Here: share of games that the last survivors win in the last generation, against each other "
                "and against the children that did not survive, so that it is above half even with equal "
                "decks; with 95% intervals over the runs. With equal decks survivors win more than half "
                f"with {sum(mean[deck, deck] > 0.5 for deck in order)} of {len(order)} decks in the mean. "
                "The rank correlation of our nine cells with the authors' by their program's order is "
                f"{float(alike[0]):.2f} (with the table as printed {float(alike[1]):.2f}); chance alone "
                f"gives nine cells {NINE_ALIKE:.2f} or more, in either direction, in 5% of cases, so this is "
                f"{'an' if alike[0] >= NINE_ALIKE else 'no'} agreement. The mean error is {errors[0]:.1f} "
                f"points (with the table as printed {errors[1]:.1f})."
            ),
            *_crossplays(crossplay),
        ]
    )


def _labels(
    printed: Mapping[tuple[str, str], float],
    named: Mapping[tuple[str, str], float],
    ours: Mapping[tuple[str, str], float],
) -> str:
    """Whether the labels of Table 4 can be right."""
    mirrors, sums = {}, {}
    for words, cells in (("printed", printed), ("named", named), ("ours", ours)):
        mirrors[words] = [100 * cells[deck, deck] for deck in DECKS.values()]
        sums[words] = [100 * (cells[pair] + cells[pair[::-1]]) for pair in PAIRS]
    shift = eva_authors.printed_shift()
    if shift is None:
        return "The numbers of Table 4 are not those of the authors' file under shifted names."
    names = [f"{own[0]}-{other[0]}" for own, other in eva_authors.pairs_in_file()]
    leads = [
        _points([50 + 50 * (cells[pair] - cells[pair[::-1]]) for pair in PAIRS]) for cells in (named, printed)
    ]
    games = _points([100 * CROSSPLAY.get(pair, 1 - CROSSPLAY.get(pair[::-1], 0.5)) for pair in PAIRS])
    return (
        "Fitted: the authors' file of the 100 last individuals has the numbers of Table 4, but not under "
        "its decks. Their program writes nine counts, one for each pair of decks, in the order in which its "
        f"Python 2 lists a dictionary: {', '.join(names)} (own deck, opponent's). Table 4 has the same "
        f"numbers (cut after two digits), but each under the name that stands {shift} places earlier in this "
        f"list: {100 * named[eva_authors.pairs_in_file()[shift]]:.2f} is the program's {names[shift]} and "
        f"the table's {names[0]}, and so on; the first {shift} stand under the last {shift} names. Three "
        "things say that the names of the program are right. Equal decks have "
        f"{_points(mirrors['named'])} (printed: {_points(mirrors['printed'])}), "
        "and the two directions of each pair of decks add up to "
        f"{_points(sums['named'])} (printed: {_points(sums['printed'])}): both should be nearly alike, since "
        "the same survivors play with all decks. In our runs they are: "
        f"{_points(mirrors['ours'])}, and {_points(sums['ours'])}. Third, if survivors gain equally with "
        "both decks of a pair, half the difference of its two directions, added to 50, is what the decks "
        f"alone give: for Warrior against Mage, Warrior against Shaman and Shaman against Mage {leads[0]} "
        f"(printed: {leads[1]}). In the games of the 100 with each other (below), whose file names the decks "
        f"of each line, it is {games}."
    )


def _points(values: Sequence[float]) -> str:
    return listed([f"{value:.1f}" for value in values])


PAIRS = (("Warrior", "Mage"), ("Warrior", "Shaman"), ("Shaman", "Mage"))
"""Pairs of different decks, in an order that the paper's numbers make the first the better."""


THEIRS, THEIRS_PRINTED, OURS = (
    *("theirs, here, with the decks as played", "theirs, here, with the printed decks"),
    "ours, here, with the printed decks",
)
"""Individuals that play each other here, and their decks."""

SAME_DECKS = THEIRS_PRINTED
"""The authors' individuals with the decks of `OURS`."""


def _crossplays(crossplay: pd.DataFrame) -> list[str]:
    """Last individuals against each other: the authors' in their simulator and here, and ours."""
    cells = crossplay.assign(
        deck=crossplay["deck"].map(DECKS), opponent_deck=crossplay["opponent_deck"].map(DECKS)
    ).set_index(["individuals", "deck", "opponent_deck"])
    score = cells["points"] / cells["games"]
    theirs = {pair: CROSSPLAY.get(pair, 1 - CROSSPLAY.get(pair[::-1], 0.5)) for pair in PAIRS}
    rows = [
        ["theirs, in their simulator", *(percent(theirs[pair]) for pair in PAIRS), ""],
        [
            "theirs, in their program run by us",
            *(str(Share.of(RUN_AGAIN[pair], RUN_GAMES)) for pair in PAIRS),
            f"{100 * np.mean([abs(RUN_AGAIN[pair] / RUN_GAMES - theirs[pair]) for pair in PAIRS]):.1f}",
        ],
    ]
    errors = {}
    for words in (THEIRS, THEIRS_PRINTED, OURS):
        own = {pair: float(score[(words, *pair)]) for pair in PAIRS}
        errors[words] = 100 * float(np.mean([abs(own[pair] - theirs[pair]) for pair in PAIRS]))
        rows.append([words, *(percent(own[pair]) for pair in PAIRS), f"{errors[words]:.1f}"])
    header = ["individuals", *(f"{a} against {b}" for a, b in PAIRS), "mean error, points"]
    off = {
        words: [100 * (float(score[(words, *pair)]) - theirs[pair]) for pair in PAIRS]
        for words in (THEIRS, THEIRS_PRINTED, OURS)
    }
    moved = [
        f"{a} against {b} {before:+.1f} and {after:+.1f}"
        for (a, b), before, after in zip(PAIRS, off[THEIRS_PRINTED], off[THEIRS], strict=True)
    ]
    apart = [f"{own - same:+.1f}" for own, same in zip(off[OURS], off[SAME_DECKS], strict=True)]
    return [
        "The 100 individuals against each other, without children, by decks:",
        table(header, rows),
        prose(
            "Points off their games in their own simulator, with the printed decks and with the decks as "
            f"they were played: {listed(moved)}. "
            + (
                "So most of what separates our engine from their simulator there are the decks; which of the "
                "cards matter was not tried. "
                if errors[THEIRS] < errors[THEIRS_PRINTED] / 2
                else ""
            )
            + "With the same decks here our individuals' scores differ from theirs by "
            f"{listed(apart)} points."
        ),
    ]


def _groups(folder: Path) -> str:
    members = pd.read_csv(folder / "eva-weights.csv", dtype={"run": str})
    levels = pd.read_csv(folder / "eva-levels.csv").set_index("groups")["silhouette"]
    comparisons = pd.read_csv(folder / "eva-comparisons.csv")
    best = int(levels.idxmax())
    runs_of = members.groupby("group")["run"].nunique()
    sizes = members["group"].value_counts().sort_index()
    most_of = members.groupby("group")["run"].agg(lambda own: own.value_counts(normalize=True).max())
    theirs = silhouettes(eva_authors.weights())
    lines = [
        f"The paper's silhouette is highest for {GROUPS} groups. Of {levels.index.min()} to "
        f"{levels.index.max()} groups of our {len(members)} individuals it is highest for {best} groups "
        f"({levels[best]:.2f}; {GROUPS} have {levels[GROUPS]:.2f}). By Kaufman and Rousseeuw's "
        f"scale that is {strength_text(levels[best])}.",
        f"The authors' own {len(eva_authors.weights())} individuals have the highest for {theirs.idxmax()} "
        f"groups ({theirs.max():.2f}; {GROUPS} have {theirs[GROUPS]:.2f}).",
        f"Shown are {GROUPS} groups, as there: of {listed([str(size) for size in sizes])} individuals, from "
        f"{listed([str(number) for number in runs_of])} runs. The largest part of each "
        f"that comes from one run is {listed([percent(share) for share in most_of])}.",
    ]
    for kind, words in (
        ("any opponent", "Fig. 9, groups with the same deck against any opponent"),
        (
            "decks exchanged",
            "One group with deck A against another with deck B, and with the decks exchanged (a fairer test "
            "than Fig. 10)",
        ),
    ):
        own = comparisons[comparisons["kind"] == kind].dropna(subset=["p"])
        lines.append(
            f"{words}: of {len(own)} comparisons {int((own['p'] < 0.05).sum())} have p below 0.05, and "
            f"{int((own['p_adjusted'] < 0.05).sum())} after Benjamini and Hochberg's correction for their "
            "number."
        )
    head = comparisons[comparisons["kind"] == "head to head"].dropna(subset=["p"])
    lines.append(
        "In both figures blue says that the first group has the higher score, red that the other has, and "
        "all p-values are corrected for the number of tests of their figure. "
        f"{int((head['p_adjusted'] < 0.05).sum())} of the {len(head)} cells of Fig. 10 are boxed."
    )
    lines.append(
        "The tests take individuals as independent, but those of one run are relatives, so all these "
        "p-values are too small. In Fig. 10 both scores are of the same games, and off the diagonal the "
        "groups hold different decks, so a box may only show that one deck is the better."
    )
    any_opponent = comparisons[comparisons["kind"] == "any opponent"]
    gap = any_opponent["score"] - any_opponent["other_score"]
    most = any_opponent.loc[gap.abs().idxmax()]
    better, worse = (most["group"], most["other"]) if gap[most.name] > 0 else (most["other"], most["group"])
    lines.append(
        f"The largest difference of Fig. 9: with the {DECKS[most['deck']]} against the "
        f"{DECKS[most['opponent_deck']]}, group {better} scores {100 * gap.abs().max():.1f} points more than "
        f"group {worse}."
    )
    return "\n\n".join(
        [
            picture("published-eva-tree", "EVA's Fig. 8, of our runs: Ward's tree of raw weights"),
            picture("published-eva-groups", "EVA's Figs. 9 and 10, of our runs: groups compared by decks"),
            prose(*lines),
        ]
    )


def silhouettes(weights: np.ndarray) -> pd.Series:
    """Silhouette of Ward's tree of raw weights (rows individuals), by its number of groups."""
    tree = linkage(weights, "ward")
    levels = range(2, min(MOST_GROUPS, len(weights)))
    found = {number: silhouette_score(weights, cut_tree(tree, number)) for number in levels}
    return pd.Series(found, name="silhouette").rename_axis("groups")


WITHOUT = ("random",)
"""Opponents that Fig. 11 leaves out: the paper's entered a competition."""


def cells_of(decks: pd.DataFrame, entrant: str) -> pd.DataFrame:
    """Score of an entrant by own deck (rows) and opponent's deck (columns), `WITHOUT` some opponents."""
    own = decks[(decks["entrant"] == entrant) & ~decks["opponent"].isin(WITHOUT)]
    sums = own.groupby(["deck", "opponent_deck"])[["points", "games"]].sum()
    found = (sums["points"] / sums["games"]).unstack().rename(index=DECKS, columns=DECKS)
    return found.loc[list(DECKS.values()), list(DECKS.values())]


def _agents(folder: Path) -> str:
    ratings = pd.read_csv(folder / "eva-agents-ratings.csv")
    decks = pd.read_csv(folder / "eva-agents-decks.csv")
    theirs = [[str(place), name, percent(rate)] for place, (name, rate) in enumerate(TABLE_5.items(), 1)]
    rows = [
        [
            str(row["rank"]),
            f"`{short(row['entrant'])}`",
            str(Share(row["score"], row["score_low"], row["score_high"])),
        ]
        for row in ratings.to_dict("records")
    ]
    rank = ratings.set_index("entrant")["rank"]
    champion, competition = (
        next(name for name in rank.index if of in name) for of in (CHAMPION, "competition")
    )
    bounds = ratings.set_index("entrant").loc[[champion, competition], ["score_low", "score_high"]].to_numpy()
    told = bool(bounds[:, 0].max() > bounds[:, 1].min())
    found = [cells_of(decks, name).to_numpy() for name in (champion, competition)]
    least, above = [percent(cells.min()) for cells in found], [int((cells > 0.5).sum()) for cells in found]
    return "\n\n".join(
        [
            picture(
                "published-eva-agents",
                "EVA's Fig. 11, of our agents: win rate by pair of decks, without random",
            ),
            table(["rank", "here", "score"], rows),
            table(["rank", "Table 5: best five of 33", "win rate"], theirs),
            prose(
                f"Of {len(ratings)} entrants the champion of our first run is number {rank[champion]}, and "
                f"the weights that the authors sent to the competition are number {rank[competition]}; with "
                f"these games the two are {'' if told else 'not '}told apart.",
                "The rates of Table 5 are against other opponents. In Fig. 11 the paper's agent wins more "
                "than half with every pair of decks. Here, in games with all entrants but "
                f"{listed([f'`{name}`' for name in WITHOUT])}, the champion does with {above[0]} of nine "
                f"(lowest {least[0]}), the competition's weights with {above[1]} (lowest {least[1]}).",
            ),
        ]
    )


def short(entrant: str) -> str:
    """An entrant as the page names it."""
    return "eva, champion" if CHAMPION in entrant else entrant


def _health(found: pd.DataFrame) -> str:
    rows = []
    for deck, name in DECKS.items():
        for result in ("won", "lost"):
            own = found[(found["deck"] == deck) & (found["result"] == result)]
            rows.append([name, result, *(_mean(own[own["opponent_deck"] == other]) for other in DECKS)])
    return table(["own deck", "games", *(f"against {name}" for name in DECKS.values())], rows)


def _mean(own: pd.DataFrame) -> str:
    """Mean of a difference of health, with its interval."""
    mean = float(np.average(own["mean"], weights=own["count"]))
    within = float(np.average(own["std"] ** 2 + (own["mean"] - mean) ** 2, weights=own["count"]))
    return f"{mean:+.1f} ± {1.96 * np.sqrt(within / own['count'].sum()):.1f}"
