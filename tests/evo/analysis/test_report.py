"""Report, crossplay, export of clusters and watch, on the committed run and as commands."""

import re
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from engine import Deck, find_deck
from evo.analysis.clustering import cluster_weights
from evo.analysis.crossplay import _check_same_decks
from evo.analysis.plots import (
    plot_ages,
    plot_comparison,
    plot_fitness,
    plot_lifespans,
    plot_lineage,
    plot_map,
    plot_newcomers,
    plot_progress,
    plot_sigmas,
    plot_tree,
    plot_weights,
)
from evo.analysis.progress import MOST_CARD_GAMES, PROGRESS_GAMES, absolute_progress, games_affordable
from evo.analysis.sentences import (
    ages_sentence,
    decks_sentence,
    few_deals_warning,
    fitness_sentence,
    lineage_sentence,
    newcomers_sentence,
    progress_conclusion,
    progress_sentence,
    sigmas_sentence,
    weights_sentence,
)
from evo.analysis.tables import (
    ancestors,
    best_individuals,
    last_population,
    lifespans,
    long_sigmas,
    newcomers,
    read_runs,
    shares_of,
    wins_by_decks,
)
from evo.analysis.watching import resample, sparkline
from evo.config.benchmarks import SEVEN
from evo.config.files import read_config
from evo.figures.style import NARROW_INCHES, SMALL_FONT_SIZE_NARROW, WIDE_INCHES, figure
from evo.play.games import GAME, Roster, Schedule
from evo.storage.run_folder import RunError
from tests.conftest import BOUNDSCHECK, UNCOMPILED
from tests.evo.runs import manaforge

RUN = Path(__file__).parents[2] / "data" / "run"
compiled = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")


def test_figures_of_a_run_show_its_data() -> None:
    individuals = read_runs([RUN]).individuals
    population, new, spans = last_population(individuals), newcomers(individuals), lifespans(individuals)
    with figure(5, 4) as (_, axes):
        plot_newcomers(axes, new)
        assert list(axes.lines[0].get_ydata()) == new["newcomers"].tolist()
    with figure(5, 4) as (_, axes):
        plot_sigmas(axes, long_sigmas(individuals))
        survivors = individuals[individuals["survived"]]
        expected = survivors.groupby("generation")["sigma_face"].median().tolist()
        assert expected in [list(line.get_ydata()) for line in axes.lines]
        axes.figure.draw_without_rendering()
        ticks = [*axes.get_yticklabels(), *axes.get_yticklabels(minor=True)]
        assert not any("$" in label.get_text() for label in ticks)
    with figure(5, 4) as (_, axes):
        marked = {"even": np.full(8, 0.125)}
        plot_weights(axes, population, marked)
        medians = population[shares_of(population)].median().tolist()
        drawn = [list(line.get_ydata()) for line in axes.lines]
        for value in medians:
            assert any(np.allclose(line, value) for line in drawn)
        assert [0.125] * 8 in drawn
    with figure(5, 4) as (_, axes):
        plot_fitness(axes, individuals)
        middle = individuals[individuals["generation"] == 14]["win_rate"].median()
        assert any(np.allclose(line.get_ydata(), middle) for line in axes.lines)
    with figure(5, 4) as (_, axes):
        plot_ages(axes, individuals)
        survivors = individuals[individuals["survived"]]
        drawn = [tuple(line.get_ydata()) for line in axes.lines]
        for generation in (5, 14):
            ages = survivors.loc[survivors["generation"] == generation, "age"]
            assert (ages.median(),) * 2 in drawn
    with figure(5, 4) as (_, axes):
        plot_lifespans(axes, spans)
        lived = spans.loc[spans["lifespan"] > 0, "lifespan"]
        assert any(np.allclose(line.get_xdata(), lived.median()) for line in axes.lines)
    with figure(5, 4) as (_, axes):
        family = ancestors(individuals, "run", int(best_individuals(individuals).iloc[-1]["individual"]))
        plot_lineage(axes, family)
        assert [patch.get_x() for patch in axes.patches] == family["birth"].tolist()
    with figure(5, 4) as (_, axes):
        table = pd.DataFrame({"run": "a", "generation": [0, 1], "score": [0.5, 0.6]})
        plot_progress(axes, table)
        assert list(axes.lines[0].get_ydata()) == [0.5, 0.6]


def test_axes_of_generations_have_whole_ticks() -> None:
    individuals = read_runs([RUN]).individuals
    few = individuals[individuals["generation"] <= 2]
    family = ancestors(few, "run", int(best_individuals(few).iloc[-1]["individual"]))
    progress = pd.DataFrame({"run": "a", "generation": [0, 1, 2], "score": [0.5, 0.6, 0.6]})
    for plot, table in (
        (plot_fitness, few),
        (plot_ages, few),
        (plot_lifespans, lifespans(few)),
        (plot_newcomers, newcomers(few)),
        (plot_sigmas, long_sigmas(few)),
        (plot_progress, progress),
        (plot_lineage, family),
    ):
        with figure(9, 4) as (drawn, axes):
            plot(axes, table)  # type: ignore[operator]
            drawn.draw_without_rendering()
            ticks = axes.get_xticks()
            assert (ticks == np.round(ticks)).all(), plot
            assert len(ticks) > 1, plot


def test_sentences_tell_the_numbers_of_the_tables() -> None:
    individuals = read_runs([RUN]).individuals
    population, spans = last_population(individuals), lifespans(individuals)
    last = individuals[individuals["generation"] == 14]["win_rate"]
    spread = 100 * (last.quantile(0.75) - last.quantile(0.25))
    assert f"and {spread:.1f} in generation 14" in fitness_sentence(individuals)
    assert "points of score in generation 0" in fitness_sentence(individuals)
    lived = spans[spans["lifespan"] > 0]
    assert ages_sentence(individuals, spans).startswith(
        f"{len(lived)} of {len(spans)} individuals survived at least one generation"
    )
    assert "one run, no interval" in newcomers_sentence(newcomers(individuals))
    top = population[shares_of(population)].median().idxmax().removeprefix("share_")
    assert weights_sentence(population).startswith(f"Largest in the median of 8 individuals: {top} ")
    assert "The median step size over all weights went from" in sigmas_sentence(long_sigmas(individuals))
    scores = wins_by_decks(population, ["thesis-paladin", "thesis-warrior"])
    assert decks_sentence(scores).startswith(f"{scores.mean(axis=1).idxmax()} scores best")
    assert "share 4 deals per ordered pair of decks" in few_deals_warning(4)
    assert few_deals_warning(20) == ""
    rows = [
        (run, g, s + 0.001 * n) for n, run in enumerate("abc") for g, s in ((0, 0.5), (5, 0.6), (10, 0.6))
    ]
    said = progress_sentence(pd.DataFrame(rows, columns=["run", "generation", "score"]))
    assert "a gain of +10.0 points (95% interval over runs +10.0 to +10.0). Of this, +0.0 points" in said
    assert "further improvement is not significant" in said
    rising = pd.DataFrame(
        [(r, g, 0.5 + g / 100 + n / 1000 * g) for n, r in enumerate("abc") for g in (0, 5, 10)]
    )
    rising = rising.set_axis(["run", "generation", "score"], axis=1)
    assert "it still improved" in progress_sentence(rising)
    said = progress_conclusion(rising)
    assert said.startswith("From generation 0 to 10 the best changed by +11.0 points of score against the")
    assert progress_conclusion(rising[rising["generation"] == 0]) == ""


@pytest.mark.parametrize(
    ("late", "half", "said"),
    [
        (
            0.70,
            0.03,
            "+10.0 points (95% interval of the games +5.8 to +14.2) came after generation 5: it still",
        ),
        (0.62, 0.03, "+2.0 points (95% interval of the games -2.2 to +6.2) came after generation 5; further"),
        (
            0.70,
            None,
            "came after generation 5; one run without intervals cannot distinguish this from chance.",
        ),
    ],
)
def test_progress_of_one_run_is_judged_by_its_games(late: float, half: float | None, said: str) -> None:
    scores = {0: 0.5, 5: 0.6, 10: late}
    rows = [("a", g, s, s - (half or 0), s + (half or 0)) for g, s in scores.items()]
    table = pd.DataFrame(rows, columns=["run", "generation", "score", "low", "high"])
    table = table if half else table[["run", "generation", "score"]]
    sentence = progress_sentence(table)
    assert said in sentence
    assert "in the mean of" not in sentence
    if half:
        assert sentence.endswith("Other seeds may gain more or less: this is one run.")
        assert progress_conclusion(table).endswith(
            "(95% interval of the games "
            f"{100 * (late - 0.5 - 0.0424264):+.1f} to {100 * (late - 0.5 + 0.0424264):+.1f})."
        )


def test_progress_over_two_generations_is_told_once() -> None:
    rows = [(run, g, 0.5 + n / 100 + gain) for n, run in enumerate("ab") for g, gain in ((0, 0.0), (4, 0.1))]
    said = progress_sentence(pd.DataFrame(rows, columns=["run", "generation", "score"]))
    assert said.endswith("a gain of +10.0 points (95% interval over runs +10.0 to +10.0).")
    rows[1] = ("a", 4, 0.4)
    said = progress_sentence(pd.DataFrame(rows, columns=["run", "generation", "score"]))
    assert said.endswith("), which may be chance.")
    assert "Of it" not in said


def test_counts_of_one_are_not_plural() -> None:
    spans = pd.DataFrame({"lifespan": [1, 1, 0], "birth": [0, 1, 1], "alive": [True, False, False]})
    individuals = pd.DataFrame({"generation": [1], "age": [1], "survived": [True]})
    assert (
        "survived at least one generation; their lifespan is 1 generation in the median and at most 1"
        in ages_sentence(individuals, spans)
    )
    family = pd.DataFrame({"individual": [3, 5, 9], "birth": [0, 1, 2]})
    assert lineage_sentence(family, "r").endswith("and has 2 ancestors, the oldest born in generation 0.")
    assert lineage_sentence(family[1:], "r").endswith("and has 1 ancestor, born in generation 1.")
    assert lineage_sentence(family[2:], "r").endswith("and has no ancestors.")


@pytest.mark.parametrize("width", [NARROW_INCHES, WIDE_INCHES])
def test_legends_leave_the_axes_their_width(width: float) -> None:
    runs = read_runs([RUN])
    population, sigmas = last_population(runs.individuals), long_sigmas(runs.individuals)
    marked = {name: np.full(8, 0.125) for name in SEVEN.opponents}
    plots = (lambda axes: plot_weights(axes, population, marked), lambda axes: plot_sigmas(axes, sigmas))
    for plot in plots:
        with figure(width, 4) as (drawn, axes):
            plot(axes)
            drawn.draw_without_rendering()
            assert axes.get_legend().get_window_extent().x1 <= drawn.bbox.x1
            assert axes.get_window_extent().width > drawn.bbox.width - 90 * drawn.get_dpi() / 72


def test_letters_are_readable_on_a_telephone() -> None:
    individuals = read_runs([RUN]).individuals
    population = last_population(individuals)
    family = ancestors(individuals, "run", int(best_individuals(individuals).iloc[-1]["individual"]))
    decks = ["thesis-paladin", "thesis-warrior"]
    rows = [("any opponent", 1, 2, own, other, 0.6, 0.5, 0.01, 0.02) for own in decks for other in decks]
    columns = ["kind", "group", "other", "deck", "opponent_deck", "score", "other_score", "p", "p_adjusted"]
    compared = pd.DataFrame(rows, columns=columns)
    for plot, table in (
        (plot_fitness, individuals),
        (plot_sigmas, long_sigmas(individuals)),
        (plot_lineage, family),
        (plot_tree, cluster_weights(population)),
        (plot_map, cluster_weights(population)),
        (lambda axes, table: plot_comparison(axes, table, decks), compared),
    ):
        with figure(NARROW_INCHES, 3) as (drawn, axes):
            plot(axes, table)  # type: ignore[operator]
            drawn.draw_without_rendering()
            sizes = {text.get_fontsize() for text in drawn.findobj(Text) if text.get_text()}
            assert min(sizes) >= SMALL_FONT_SIZE_NARROW, plot


def test_runs_with_other_decks_are_refused_with_what_differs() -> None:
    paladin, warrior = find_deck("thesis-paladin"), find_deck("thesis-warrior")
    swapped = replace(paladin, cards=(*paladin.cards[:29], warrior.cards[0]))
    keywords = replace(paladin.cards[0], id="other")
    changed = replace(paladin, cards=(keywords, *paladin.cards[1:]))

    def refusal(first: Deck, second: Deck) -> str:
        runs = SimpleNamespace(
            configs={
                name: SimpleNamespace(found_decks=(deck,), deck_names=[deck.name])
                for name, deck in (("a", first), ("b", second))
            }
        )
        with pytest.raises(RunError) as error:
            _check_same_decks(runs)  # type: ignore[arg-type]
        return str(error.value).removeprefix("these runs have different decks: ")

    assert refusal(paladin, warrior) == "a has thesis-paladin; b has thesis-warrior"
    names = f"({paladin.cards[29].name} against {warrior.cards[0].name})"
    start = "thesis-paladin of a and thesis-paladin of b have"
    assert refusal(paladin, swapped) == f"{start} different cards {names}"
    assert refusal(paladin, changed) == f"{start} the same cards with different stats or keywords"


@compiled
def test_report_of_a_run_and_of_a_damaged_one(tmp_path: Path) -> None:
    copy = Path(shutil.copytree(RUN, tmp_path / "a<b>"))
    (copy / "generations" / "0004.parquet").write_bytes(b"")
    done = manaforge("report", copy, cwd=tmp_path)
    assert done.returncode == 0
    assert "warning: " in done.stdout
    page = (copy / "report.html").read_text()
    assert "0004.parquet is damaged" in page
    assert "a<b>" not in page
    assert "a&lt;b&gt;" in page
    for title in (
        "What was run",
        "Champions",
        "Absolute progress",
        "Newcomers",
        "Weights",
        "Styles",
        "Lineage",
    ):
        assert re.search(rf'<h2 id="[a-z-]+">{title}</h2>', page)
    assert len(page) < 10_000_000
    assert page.index("Largest in the median") < page.index("Contents</h2>") < page.index("What was run</h2>")
    assert page.count('src="data:image/png;base64,') == page.count('srcset="data:image/png;base64,') >= 8
    assert not re.findall(r'(?:src|href|srcset)="(?!data:image/png;base64,|#)', page)
    assert manaforge("report", tmp_path / "none", cwd=tmp_path).stderr.startswith("manaforge: ")
    for out, why in (
        (tmp_path, "it is a folder"),
        (tmp_path / "none" / "page.html", f"there is no folder {tmp_path / 'none'}"),
        (copy / "config.toml" / "page.html", f"{copy / 'config.toml'} is a file"),
        ("/proc/page.html", "No such file or directory"),
    ):
        told = manaforge("report", copy, "--out", out, cwd=tmp_path)
        said = f"manaforge: cannot write {out}: {why}; choose another --out\n"
        assert (told.returncode, told.stdout, told.stderr) == (1, "", said)
    (copy / "champion.toml").write_text("name = 1")
    assert manaforge("report", copy, cwd=tmp_path).returncode == 0
    assert "champion.toml is left out" in (copy / "report.html").read_text()


@compiled
def test_crossplay_and_export_of_clusters(tmp_path: Path) -> None:
    done = manaforge("crossplay", RUN, "--games", 2, "--out", "cross", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"crossplay cross: {8 * 7 // 2 * 4 * 2} games" in done.stdout
    clusters = pd.read_csv(tmp_path / "cross" / "clusters.csv")
    assert clusters["size"].sum() == 8
    assert list(clusters["cluster"]) == [1, 2]
    assert "cluster" in pd.read_csv(tmp_path / "cross" / "comparisons.csv").columns
    page = (tmp_path / "cross" / "tournament.html").read_text()
    assert "manaforge crossplay" in page
    assert page.index('<h2 id="styles">') < page.index('<h2 id="ratings">')
    assert f"Clusters, {len(clusters)} row" in page
    exported = manaforge("export", RUN, "--clusters", "--out", "best", cwd=tmp_path)
    assert exported.returncode == 0
    files = sorted((tmp_path / "best").iterdir())
    assert len(files) == len(clusters)
    words = [f"ilp:{file}" for file in files] if len(files) > 1 else [f"ilp:{files[0]}", "random"]
    played = manaforge("tournament", *words, "--decks", "hearthsim-basic", "--games", 2, cwd=tmp_path)
    assert played.returncode == 0


def test_watch_without_a_terminal_looks_once(tmp_path: Path) -> None:
    copy = Path(shutil.copytree(RUN, tmp_path / "run"))
    (copy / "generations" / "0002.parquet").unlink()
    done = manaforge("watch", copy, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "run: generation 14 of 14, finished" in done.stdout
    assert "mean age" in done.stdout
    assert "warning: " in done.stdout
    assert manaforge("watch", tmp_path / "none", cwd=tmp_path).returncode == 2
    config = (copy / "config.toml").read_text().replace("generations = 14", "generations = 40")
    (copy / "config.toml").write_text(config)
    assert "run: generation 14 of 40, 35%" in manaforge("watch", copy, cwd=tmp_path).stdout
    (copy / "checksums.txt").write_text("")
    shutil.rmtree(copy / "generations")
    assert "no generation can be read yet" in manaforge("watch", copy, cwd=tmp_path).stdout


def test_bars() -> None:
    assert sparkline([0, 1, 2, 7]) == "▁▂▃█"
    assert sparkline([3, 3]) == "▁▁"
    assert len(sparkline(range(1000))) == 48
    assert resample("▁▁▁▁████", 4) == "▁▁██"
    assert resample("▁█▁█", 2) == "▅▅"  # no bar is dropped: each counts in a mean
    assert resample("▁█", 12) == "▁█"


@pytest.mark.parametrize("name", ["constructed", "eva-2018", "quickstart"])
def test_games_of_a_report_on_real_cards_are_limited(name: str) -> None:
    decks = read_config(name).decks
    config = read_config("quickstart", [f"decks={','.join(decks)}", f"ruleset={read_config(name).ruleset}"])
    runs = read_runs([RUN])
    played: list[Schedule] = []

    def play(roster: Roster, games: Schedule) -> np.ndarray:
        played.append(games)
        return np.zeros(len(games), GAME)

    table = absolute_progress(runs, config, play)
    (games,) = set(table["games"])
    generations = set(table["generation"])
    last = runs.individuals["generation"].max()
    assert {0, last} <= generations
    assert len(played[0]) % games == 0
    assert games % 2 == 0
    if name == "quickstart":
        assert games == PROGRESS_GAMES
    else:
        assert len(played[0]) <= MOST_CARD_GAMES
        assert 1 < games_affordable(config, 1) <= PROGRESS_GAMES
