"""The commands `manaforge tournament` and `export`, their files, figures and page."""

import json
import re
import signal
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evo.figures.style import NARROW_INCHES, WIDE_INCHES, figure, plot_scores, png_bytes
from evo.tournament.report import plot_ratings
from tests.conftest import BOUNDSCHECK, UNCOMPILED, heavy
from tests.evo.runs import ENVIRONMENT, PROGRAM, ROOT, manaforge
from tests.waiting import HANG, wait_until

pytestmark = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")

BASIC = ("--decks", "hearthsim-basic")


@pytest.fixture(scope="module", autouse=True)
def compiled(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What commands need, so that none of them says that it compiles."""
    manaforge(
        "tournament", "ilp:keep-alive", "pass", *BASIC, "--games", 2, cwd=tmp_path_factory.mktemp("compiled")
    )


@pytest.mark.usefixtures("drawn")
def test_a_tournament_its_files_and_the_same_again(tmp_path: Path) -> None:
    glob = f"ilp:{ROOT}/configs/profiles/*.toml"
    decks = "thesis-paladin,thesis-warrior"
    words = (glob, "--decks", decks, "--ruleset", "thesis", "--seats", "fixed", "--games", 10, "--out", "t")
    done = manaforge("tournament", *words, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "tournament t: 490 games" in done.stdout
    assert "score of the row, which goes first" in done.stdout
    assert "490 games, 0 drawn" in done.stdout
    assert "\x1b" not in done.stdout
    results = pd.read_csv(tmp_path / "t" / "results.csv")
    columns = ["first", "second", "games", "first_wins", "second_wins", "draws", "mean_turns"]
    assert list(results.columns) == columns
    assert len(results) == 49
    assert set(results["games"]) == {10}
    assert set(results["first"]) == {f"ilp:{path.stem}" for path in (ROOT / "configs" / "profiles").iterdir()}
    games = pd.read_parquet(tmp_path / "t" / "games.parquet")
    assert len(games) == 490
    assert set(games["first_deck"]) == {"thesis-paladin"}
    files = {file.name: file.read_bytes() for file in (tmp_path / "t").iterdir() if file.is_file()}
    assert {"ratings.csv", "scores.png", "ratings.png", "tournament.html", "summary.json"} <= set(files)
    again = manaforge("tournament", *words, cwd=tmp_path)
    assert "490 of them already played" in again.stdout
    assert again.stdout[again.stdout.index("ratings") :] == done.stdout[done.stdout.index("ratings") :]
    for name, content in files.items():
        assert (tmp_path / "t" / name).read_bytes() == content, name


def test_json_is_all_there_is_on_standard_output(tmp_path: Path) -> None:
    done = manaforge(
        "tournament", "ilp:keep-alive", "ilp:keep-alive", "ilp:aggro-face", *BASIC, "--games", 6, "--json",
        cwd=tmp_path,
    )  # fmt: skip
    said = json.loads(done.stdout)
    assert said["games"] == 12
    assert said["ratings"][0]["rank"] == 1
    assert [(row["first"], row["second"], row["games"]) for row in said["results"]] == [
        ("ilp:keep-alive", "ilp:keep-alive", 6),
        ("ilp:keep-alive", "ilp:aggro-face", 3),
        ("ilp:aggro-face", "ilp:keep-alive", 3),
    ]
    assert said["command"].startswith("manaforge tournament ilp:keep-alive ilp:keep-alive ilp:aggro-face")
    folder = re.search(r"tournament (runs/tournament-[0-9a-f]{8}): 12 games", done.stderr)
    assert folder
    assert json.loads((tmp_path / folder[1] / "summary.json").read_text()) == said
    alone = manaforge("tournament", "ilp:aggro-face", "ilp:aggro-face", *BASIC, "--games", 4, cwd=tmp_path)
    assert alone.returncode == 0
    assert re.search("ilp:aggro-face │ ilp:aggro-face │ +4 │", alone.stdout)


def test_sprt_as_words(tmp_path: Path) -> None:
    words = ("--sprt", "elo0=0", "elo1=30", "alpha=.05", "beta=.05")
    done = manaforge(
        "tournament", "ilp:true-balanced", "ilp:aggro-tempo", *BASIC, "--games", 2000, *words, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    test = "Sequential test of ilp:true-balanced against ilp:aggro-tempo: elo1=+30 rather than elo0=+0 is accepted"
    assert test in done.stdout
    assert int(re.search(r"([\d,]+) games, 0 drawn", done.stdout)[1].replace(",", "")) < 1000  # type: ignore[index]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("random", *BASIC), "needs two entrants, got random; name another, or name the same entrant twice"),
        (("random", "pass", "--decks", ","), "a tournament needs decks"),
        (("random", "pass", "--decks", "thesis-palladin"), "unknown deck 'thesis-palladin'"),
        (("random", "pass", *BASIC, "--games", "7"), "--games must be even"),
        (("random", "ilp:broken.toml", *BASIC), "broken.toml: weights.lethal must be a finite number"),
        (("random", "pass", *BASIC, "--out", "/proc/none"), "cannot use folder /proc/none"),
        (("random", "pass", *BASIC, "--out", "broken.toml"), "manaforge: broken.toml is a file"),
        (("random", "pass", *BASIC, "--out", "broken.toml/x"), "manaforge: broken.toml is a file"),
        (("random", "pass", *BASIC, "--sprt", "elo1=300", "model=normalized"), "must be within 200 of 0"),
        (("random", "pass", *BASIC, "--format", "swiss"), "unknown format 'swiss'"),
        (("random", "pass", *BASIC, "--seats", "fix"), "unknown kind of seats 'fix'; nearest: fixed"),
        (("random", "pass", *BASIC, "--pool", "rai"), "unknown pool 'rai'; nearest: ray"),
        (("random", "pass", *BASIC, "--ruleset", "thesiss"), "unknown ruleset 'thesiss'; nearest: thesis"),
        (("random", "pass", *BASIC, "--sprt", "elo1=x"), "elo1 takes a number, got 'x'"),
        (("radnom", "pass", *BASIC), "unknown entrant 'radnom'; nearest: random"),
    ],
)
def test_wrong_input_is_one_line_before_any_game(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    (tmp_path / "broken.toml").write_text('schema = 1\nname = "x"\n[weights]\nlethal = -1\nclear = 1\nface = 1\nthreat = 1\nsurvive = 1\ndamage = 1\ntrade = 1\nplay = 1\n')  # fmt: skip
    done = manaforge("tournament", *arguments, cwd=tmp_path)
    state = "--out" in arguments or "ilp:broken.toml" in arguments
    assert (done.returncode, done.stdout) == (1 if state else 2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, *heavy(signal.SIGTERM)])
def test_stopped_by_a_signal_and_run_again(number: signal.Signals, tmp_path: Path) -> None:
    words = ("tournament", "ilp:keep-alive", "ilp:aggro-face", *BASIC, "--games", "300000", "--out", "t")
    silent = (  # however long it takes, and whatever has to be compiled
        "import engine.compile_progress; engine.compile_progress.progress.quiet = True; "
        "import evo.sessions.progress as progress; progress.LINE_SECONDS = 1e9; "
    )
    process = subprocess.Popen(
        [sys.executable, "-c", silent + PROGRAM[2], *words],
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    batches = tmp_path / "t" / "batches"
    wait_until(lambda: list(batches.glob("*")) or process.poll() is not None, "a batch is saved", 0.05)
    process.send_signal(number)
    _, told = process.communicate(timeout=HANG)
    assert process.returncode == 128 + number
    assert f"stopped by {number.name}: " in told
    assert "games are safe in t. To continue: repeat the command" in told
    assert told.startswith("stopping after the games in play; a second signal ends the program at once\n")
    assert len(told.splitlines()) == 2


@pytest.mark.heavy
@pytest.mark.nightly
def test_killed_at_random_moments_and_run_again(tmp_path: Path) -> None:
    """20 times: the same tables and games, byte for byte, as in a tournament that was not killed."""
    words = ("tournament", f"ilp:{ROOT}/configs/profiles/*.toml", "--decks", "hearthsim-basic,thesis-paladin")
    words = (*words, "--games", "300", "--out")
    often = "import evo.tournament.run as run; run.SAVE_SECONDS = 0.2; run.FIRST_BATCH = 100; "
    began = time.monotonic()
    assert manaforge(*words, "whole", cwd=tmp_path).returncode == 0
    lasted = time.monotonic() - began
    files = {file.name: file.read_bytes() for file in (tmp_path / "whole").iterdir() if file.is_file()}
    rng = np.random.default_rng()
    left = []
    for trial in range(20):
        out = f"trial-{trial}"
        process = subprocess.Popen(
            [sys.executable, "-c", often + PROGRAM[2], *words, out],
            cwd=tmp_path,
            env=ENVIRONMENT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(rng.uniform(0.5, lasted))
        process.kill()
        process.wait()
        left.append(len(list((tmp_path / out / "batches").glob("*"))) if (tmp_path / out).exists() else 0)
        assert manaforge(*words, out, cwd=tmp_path).returncode == 0
        for name, content in files.items():
            assert (tmp_path / out / name).read_bytes() == content, (trial, name)
    print("batches on disk when killed:", left)


def test_odd_names_break_no_figure_and_no_line(tmp_path: Path) -> None:
    from ilp_agent import find_profile

    names = ("c$_{d$", "[bold]x[/y]", "牌", "long-" * 30)
    for name in names:
        (tmp_path / f"{name.replace('/', '-')}.toml").write_text(find_profile("keep-alive").to_toml())
    texts = [f"ilp:{name.replace('/', '-')}.toml" for name in names]
    done = manaforge("tournament", *texts, *BASIC, "--games", 2, "--out", "t[x]y", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "tournament t[x]y: 12 games" in done.stdout
    assert (tmp_path / "t[x]y" / "scores.png").exists()


def test_figures_show_the_data() -> None:
    ratings = pd.DataFrame(
        {"entrant": ["a", "b"], "rating": [50.0, -50], "low": [40.0, -65], "high": [65.0, -40]}
    )
    with figure(6, 3) as (drawn, axes):
        plot_ratings(axes, ratings)
        low, high, value = (line.get_xdata().tolist() for line in axes.lines[:3])
        assert (value, low, high) == ([50, -50], [40, -65], [65, -40])
        assert [part[:, 0].tolist() for part in axes.collections[0].get_segments()] == [[40, 65], [-65, -40]]
        assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
        assert png_bytes(drawn).startswith(b"\x89PNG")
    scores = pd.DataFrame([[np.nan, 0.7], [0.3, np.nan]], index=["a", "b"], columns=["a", "b"])
    with figure(4, 4) as (_, axes):
        plot_scores(axes, scores, "score")
        drawn_values = np.ma.filled(axes.collections[0].get_array().astype(float), np.nan)
        assert np.array_equal(drawn_values.reshape(2, 2), scores.to_numpy(), equal_nan=True)
        assert sorted(text.get_text() for text in axes.texts) == ["30%", "70%"]


@pytest.mark.parametrize("width", [NARROW_INCHES, WIDE_INCHES])
def test_numbers_of_ratings_stand_clear_of_axes_and_names(width: float) -> None:
    n = 14
    value = np.linspace(180, -129, n)
    names = [f"greedy-ilp:true-balanced-{place}" for place in range(n)]
    ratings = pd.DataFrame({"entrant": names, "rating": value, "low": value - 40, "high": value + 40})
    ratings.loc[0, "high"], ratings.loc[n - 1, "low"] = np.inf, -np.inf
    ratings.loc[3, ["low", "high"]] = np.nan
    with figure(width, 0.85 * (1.1 + 0.36 * n)) as (drawn, axes):
        plot_ratings(axes, ratings)
        drawn.draw_without_rendering()
        texts = [text.get_text() for text in axes.texts]
        assert (texts[0], texts[1], texts[-1]) == ("≥ +180", "+156", "≤ -129")
        labels = [*axes.texts, *axes.get_yticklabels()]
        boxes = [label.get_window_extent() for label in labels]
        assert not [1 for one, other in combinations(boxes, 2) if one.overlaps(other)]
        assert not any(box.overlaps(axes.get_window_extent()) for box in boxes)
        assert all(box.x0 >= 0 and box.x1 <= drawn.bbox.x1 for box in boxes), "inside the figure"
        bars = [part[:, 0] for part in axes.collections[0].get_segments() if len(part)]
        assert len(bars) == n - 1, "none without an interval"
        assert (bars[0][1], bars[-1][0]) == (axes.get_xlim()[1], axes.get_xlim()[0]), "to the edge"


def test_the_page_of_two_says_who_is_better(tmp_path: Path) -> None:
    done = manaforge("tournament", "random", "pass", *BASIC, "--games", 2, "--out", "t", cwd=tmp_path)
    assert done.returncode == 0
    page = (tmp_path / "t" / "tournament.html").read_text()
    assert page.index("random scores ") < page.index("Contents</h2>") < page.index('<h2 id="ratings">')
    assert "<h1>Tournament of 2 with hearthsim-basic</h1>" in page
    assert page.count("data:image/png;base64,") == 2  # the ratings, wide and narrow
