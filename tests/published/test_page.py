"""The page of published results: made again from what was kept, and the statistics it states."""

import itertools
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from benchmarks.eva_crossplay import scores_by_decks
from benchmarks.published import eva_authors, thesis_paper
from benchmarks.published import jobs as running
from benchmarks.published.__main__ import PAGE, PARTS, RESULTS, main, write
from benchmarks.published.correlation import rank_correlation, true_correlation
from benchmarks.published.eva import AS_PLAYED
from benchmarks.published.eva_blocks import is_as_said, lives_of, newcomers_of_age
from benchmarks.published.eva_paper import DECKS
from benchmarks.published.hearthsim import cells_of
from benchmarks.published.hearthsim_claims import verdict
from benchmarks.published.hearthsim_tables import FORMULA
from benchmarks.published.hearthsim_tables import Tables as HearthSimTables
from benchmarks.published.jobs import Job, run_jobs
from benchmarks.published.pages import Share, duration, fill
from benchmarks.published.thesis_decks import CHOSEN, DRAWN, guess_name, held_out_error, nearest
from benchmarks.published.thesis_guesses import PRINTED as PRINTED_CARDS
from benchmarks.published.thesis_guesses import guess_decks
from benchmarks.published.thesis_tables import PRINTED, PUBLISHED, RULES, Tables
from benchmarks.thesis_published import PROFILES
from engine import find_deck
from tests.conftest import heavy


def test_the_page_is_what_its_tables_say() -> None:
    """Every number and sentence between the marks is computed: writing the page again changes nothing."""
    assert write(list(PARTS), figures=None) == PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PARTS)
def test_each_job_was_kept_with_its_command(name: str) -> None:
    kept = running.read_jobs(RESULTS / f"{name}-jobs.csv")
    assert kept["command"].to_dict() == {job.name: job.command for job in PARTS[name].jobs}
    assert (kept["seconds"] > 0).all()


@pytest.mark.parametrize("name", PARTS)
def test_each_job_needs_those_whose_results_it_reads(name: str) -> None:
    for job in PARTS[name].jobs:
        assert set(job.needs) == {other for other in PARTS[name].jobs if str(other.out) in job.command}


@pytest.mark.usefixtures("drawn")
@pytest.mark.parametrize("name", [*heavy("eva"), *(name for name in PARTS if name != "eva")])
def test_the_figures_are_drawn(name: str) -> None:
    for figure, drawn in PARTS[name].draw(RESULTS).items():
        assert drawn.startswith(b"\x89PNG"), figure
        assert (Path("docs/figures") / f"{figure}.png").exists()


def test_a_block_without_a_place_is_refused() -> None:
    text = "<!-- begin one -->\nold\n<!-- end one -->\n"
    assert fill(text, {"one": "new"}) == "<!-- begin one -->\n\nnew\n\n<!-- end one -->\n"
    with pytest.raises(ValueError, match="no place for two"):
        fill(text, {"two": "new"})


def test_an_unknown_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--parts", "chess"])
    assert "no part chess; there are thesis, hearthsim, minimax, eva" in capsys.readouterr().err


def test_a_job_is_run_once_and_again_when_its_command_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "BUILD", tmp_path)
    code = "import sys, pathlib; pathlib.Path(sys.argv[1]).open('a').write('{}')"
    for word, expected in (("a", "a"), ("a", "a"), ("b", "b")):
        job = Job("one", f'python -c "{code.format(word)}" OUT')
        job.run()
        assert job.out.read_text(encoding="utf-8") == expected
        assert job.is_done()
        assert job.seconds >= 0
    with pytest.raises(SystemExit, match=r"two ended with 3; what it said is in .*two.txt"):
        Job("two", 'python -c "raise SystemExit(3)"').run()


def test_jobs_on_one_core_run_side_by_side_and_the_others_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "BUILD", tmp_path)
    meet = (  # each waits, at most half a minute, until the other has begun
        "import sys, time; from pathlib import Path; own, other = map(Path, sys.argv[1:]); own.touch(); "
        "[time.sleep(0.01) for n in range(3000) if not other.exists()]; sys.exit(not other.exists())"
    )
    pair = [Job(one, f'python -c "{meet}" OUT {tmp_path / other}', cores=1) for one, other in ("ab", "ba")]
    alone = Job("c", 'python -c "import sys; open(sys.argv[1], chr(119))" OUT')
    run_jobs([*pair, alone])
    assert all(job.is_done() for job in (*pair, alone))
    assert alone.done.stat().st_mtime_ns >= max(job.done.stat().st_mtime_ns for job in pair)
    with pytest.raises(SystemExit, match="d ended with 3"):
        run_jobs([Job("d", 'python -c "raise SystemExit(3)"', cores=1)])


def test_a_job_is_run_again_after_one_that_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "BUILD", tmp_path)
    first = Job("first", "python -c pass")
    second = Job("second", "python -c pass", needs=(first,))
    first.run()
    second.run()
    assert second.is_done()
    later = second.done.stat().st_mtime + 1
    os.utime(first.done, (later, later))
    assert first.is_done()
    assert not second.is_done()


def test_shares_and_correlations() -> None:
    share = Share.of(50, 100)
    assert (share.low, share.high) == pytest.approx((0.39832, 0.60168), abs=1e-5)  # Clopper and Pearson, 1934
    assert Share.of(0, 10)[:2] == (0.0, 0.0)
    assert Share.of(10, 10).high == 1.0
    assert str(Share(0.5, 0.4, 0.6)) == "50.0% (40.0% to 60.0%)"
    pick = np.random.default_rng(1)
    one, other = pick.integers(0, 9, (2, 40))
    assert rank_correlation(one, other) == pytest.approx(spearmanr(one, other).statistic)
    assert [duration(seconds) for seconds in (5.4, 61, 3_600)] == ["5 s", "1 min 01 s", "60 min 00 s"]
    assert [verdict(gain, 1) for gain in ((1, 0.5, 2), (-1, -2, -0.5), (0, -1, 1))] == [
        "yes",
        "no",
        "not told apart",
    ]
    assert verdict((-1, -2, -0.5), -1) == "yes"


def table_of(rates: dict[str, np.ndarray], games: int, file: Path) -> Tables:
    rows = [
        (player, first, second, games, round(games * rates[player][i, j]), 10.0)
        for player in rates
        for i, first in enumerate(PROFILES)
        for j, second in enumerate(PROFILES)
    ]
    columns = ["player", "first", "second", "games", "first_wins", "mean_turns"]
    pd.DataFrame(rows, columns=columns).to_csv(file, index=False)
    return Tables(file)


def test_the_printed_table_is_whole() -> None:
    """49 cells; the mirrors are those that the thesis's text repeats; the text's two reversed pairings."""
    assert {len(row) for row in (*thesis_paper.WINS, *thesis_paper.TURNS)} == {7}
    assert len(thesis_paper.WINS) == len(thesis_paper.TURNS) == 7
    for number, share in thesis_paper.MIRRORS.items():
        assert thesis_paper.WINS[number - 1][number - 1] == round(1_000 * share)
    wins = thesis_paper.WINS
    assert (wins[0][4], wins[4][0], wins[2][4], wins[4][2]) == (1_000, 56, 991, 138)


def test_choosing_a_guess_by_hand() -> None:
    """Guess 0 is off by 1 everywhere; guess 1 by 0 but for the cells of the first profile, by 9 there.

    Over all cells guess 1 has 13 * 9 / 49 > 1, so 0 is nearest. Without the first profile's cells guess 1 is
    chosen and errs by 9 on them; without another's, 11 of 36 cells are off by 9, and 0 is chosen, off by 1.
    """
    apart = np.ones((2, 7, 7))
    apart[1] = 0
    apart[1, 0], apart[1, :, 0] = 9, 9
    assert nearest(apart) == 0
    assert held_out_error(apart) == pytest.approx((9 + 6 * 1) / 7)


def test_the_guess_that_is_played_again_is_the_nearest() -> None:
    tables = Tables(RESULTS / "thesis.csv")
    rates = np.array([tables.rates(guess_name(number)) for number in range(DRAWN)])
    assert nearest(np.abs(rates - tables.rates(PRINTED))) == CHOSEN


def test_a_guess_has_the_printed_cards_twice() -> None:
    for number in range(3):
        for deck, printed in zip(guess_decks(number), PRINTED_CARDS.values(), strict=True):
            assert len(deck) == 30
            assert {card.name: deck.count(card) for card in deck}.keys() >= set(printed)
            assert all(deck.count(card) == 2 for card in deck)
    assert guess_decks(1) == guess_decks(1) != guess_decks(2)


def test_printed_cells_of_the_posts_all_stand_beside_ours() -> None:
    cells = cells_of(HearthSimTables(RESULTS))
    assert len(cells) == 57
    zero = next(cell for cell in cells if (cell.experiment, cell.value) == ("aggressiveness", "0"))
    assert zero.error(FORMULA) == pytest.approx(-0.1501, abs=0.001), "no minion is ever played"


def test_the_order_of_a_dictionary_in_python_2() -> None:
    """As its 64-bit version prints them: {'a': 1, 'c': 3, 'b': 2} and {'three': 3, 'two': 2, 'one': 1}."""
    assert eva_authors.dictionary_order(["a", "b", "c"]) == ["a", "c", "b"]
    assert eva_authors.dictionary_order(["one", "two", "three"]) == ["three", "two", "one"]


def test_table_4_by_the_names_of_the_authors_file() -> None:
    """Equal decks win alike; both directions of a pair add up to as much more than 1 for each pair."""
    named = eva_authors.table_4()
    assert eva_authors.printed_shift() == 2, "the names of Table 4 stand two places off"
    decks = list(eva_authors.NAMES)
    mirrors = [named[deck, deck] for deck in decks]
    sums = [named[one, other] + named[other, one] for one, other in itertools.combinations(decks, 2)]
    assert np.ptp(mirrors) < 0.005
    assert np.ptp(sums) < 0.01
    assert np.mean(sums) == pytest.approx(2 * np.mean(mirrors), abs=0.02)
    for (one, other), share in eva_authors.CROSSPLAY.items():
        assert named[one, other] - named[other, one] == pytest.approx(2 * share - 1, abs=0.05)


def test_the_decks_as_played_are_the_printed_ones_without_some_texts_and_cards() -> None:
    gone = {
        *("Ice Barrier", "Ice Block", "Manic Soulcaster", "Volcanic Potion", "Cabalist's Tome", "Kazakus"),
        *("Brann Bronzebeard", "Kabal Courier", "Refreshment Vendor"),
    }
    bodies = {"Sir Finley Mrrgglton", "Reno Jackson", "Tunnel Trogg"}
    for name in DECKS:
        printed, played = find_deck(name), find_deck(f"benchmarks/published/decks/{name}{AS_PLAYED}.toml")
        left = [card for card in printed.cards if card.name not in gone]
        assert [card.name for card in left if card.name not in bodies] == [
            card.name for card in played.cards if card.name not in ("Boulderfist Ogre", "Murloc Raider")
        ]
        for real, body in zip(left, played.cards, strict=True):
            if real.name in bodies:
                assert not body.effects
                numbers = [(of.spec.cost, of.spec.attack, of.spec.health) for of in (real, body)]
                assert numbers[0] == numbers[1]
        assert played.hero_class == printed.hero_class


def test_a_crossplay_counts_each_game_from_both_sides() -> None:
    """Three individuals, six ordered pairs, four pairs of decks: 24 games, each in two rows."""
    decks = ("thesis-paladin", "thesis-warrior")
    found = scores_by_decks(eva_authors.weights()[:3], decks, 1).set_index(["deck", "opponent_deck"])
    assert found["games"].sum() == 48
    one, other = decks
    assert found.loc[(one, other), "points"] + found.loc[(other, one), "points"] == 12
    assert found.loc[(one, one), "points"] == 6


def test_scores_of_profiles_by_hand(tmp_path: Path) -> None:
    """Profile 0 wins from both seats, the others half of the games against each other."""
    rates = np.full((7, 7), 0.5)
    rates[0, 1:], rates[1:, 0] = 1.0, 0.0
    tables = table_of({RULES: rates, PUBLISHED: 1 - rates}, 100, tmp_path / "table.csv")
    assert tables.scores(RULES)[0] == 1.0
    assert tables.scores(RULES)[1:] == pytest.approx([5 / 12] * 6)
    assert tables.rates(RULES)[0, 0] == 0.5, "the table itself stays"
    assert tables.wins(RULES) == (2_450, 4_900)
    assert tables.apart(RULES, PUBLISHED) == pytest.approx(12 / 49)
    assert tables.alike(RULES, PUBLISHED)[0] == pytest.approx(-1, abs=0.02)
    assert tables.alike(RULES, PUBLISHED, PUBLISHED)[0] == pytest.approx(-2, abs=0.05)


@pytest.mark.parametrize(("games", "apart"), [(400, 0.3), (100, 0.05), *heavy((400, 0.1), (400, 0.05))])
def test_intervals_of_correlations_hold_the_truth(games: int, apart: float) -> None:
    """Two tables with true rates that differ by so much: 60 trials of finding their correlation from games."""
    pick = np.random.default_rng(3)
    held, found, exact = [], [], []
    for _ in range(60):
        one = pick.uniform(0.05, 0.95, 49)
        truth = np.stack([one, np.clip(one + pick.normal(0, apart, 49), 0.03, 0.97)])
        exact.append(rank_correlation(*truth))
        value, low, high = true_correlation(pick.binomial(games, truth), np.full((2, 49), games), pick)
        held.append(low <= exact[-1] <= high)
        found.append(value)
    assert np.mean(found) == pytest.approx(np.mean(exact), abs=0.006), "chance hides nothing"
    if games == 400:  # as the page; where chance is as large as the difference, intervals are too narrow
        assert np.mean(held) >= 0.88, "of 60 trials that hold by 95% at least 53 do"


def test_lives_and_newcomers_by_hand() -> None:
    """One run, three generations of two survivors: 0 and 1; 0 and 2, born in 1; 2 and 3, born in 2."""
    survivors = pd.DataFrame(
        {
            "run": "00",
            "generation": [0, 0, 1, 1, 2, 2],
            "individual": [0, 1, 0, 2, 2, 3],
            "birth": [0, 0, 0, 1, 1, 2],
        }
    )
    lives = lives_of(survivors).set_index("individual")
    assert lives["lived"].to_dict() == {0: 2, 1: 1, 2: 2, 3: 1}
    assert lives["birth"].to_dict() == {0: 0, 1: 0, 2: 1, 3: 2}
    assert newcomers_of_age(survivors, 0)["00"].to_dict() == {0: 2, 1: 1, 2: 1}
    assert newcomers_of_age(survivors, 1)["00"].to_dict() == {1: 1, 2: 1}


def test_what_is_said_of_weights() -> None:
    quartiles = pd.DataFrame(
        {"a": [0.0, 0.1, 0.2], "b": [0.2, 0.6, 0.9], "c": [0.7, 0.9, 1.0]}, index=[0.25, 0.5, 0.75]
    )
    said = {
        "a": {"low", "rather low", "not near 1", "little varied", "least varied", "nearest 0"},
        "b": {"not near 1", "varied", "most important"},
        "c": {"high", "varied", "most important"},
    }
    for name, words in said.items():
        assert {word for word in set.union(*said.values()) if is_as_said(word, name, quartiles)} == words, (
            name
        )
