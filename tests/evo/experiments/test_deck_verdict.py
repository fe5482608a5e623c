"""Verdicts on decks whose strength is known, and what the command says."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import Deck, find_deck, find_ruleset
from engine.cards.patches import parse_patch
from evo.experiments.deck_verdict import (
    VerdictStudy,
    choose_pilots,
    curve,
    judge,
    mean_interval,
    overall,
    patch_effect,
    patch_sentence,
    verdict_sentence,
)
from evo.experiments.folder import ExperimentOptionError
from evo.play.entrants import find_entrant
from evo.play.games import Fault, Roster, Schedule, play_schedule
from evo.play.results import GameError
from tests.evo.runs import manaforge


def study_of(deck: Deck, *field: str, names: tuple[str, ...] = ("aggro",), games: int = 400) -> VerdictStudy:
    pilots = tuple(find_entrant(name).player for name in names)
    decks = tuple(map(find_deck, field))
    return VerdictStudy(deck, decks, names, pilots, find_ruleset("standard"), games, 1)


def verdict_on(study: VerdictStudy) -> str:
    table, _ = judge(study, play_schedule, choose_pilots(study, play_schedule))
    return verdict_sentence(study.deck.name, table)


def strengthened(name: str, *patches: str) -> Deck:
    """A deck with better cards of its own, which other decks do not get."""
    deck, patch = find_deck(name), parse_patch(patches)
    return replace(deck, name=f"strong {name}", cards=tuple(map(patch.apply, deck.cards)))


def test_a_deck_is_fair_against_itself() -> None:
    copy = replace(find_deck("basic-hunter"), name="copy")
    study = study_of(copy, "basic-hunter", games=4_000)
    table, _ = judge(study, play_schedule, [(0, 0)])
    assert table["score"].tolist() == [0.5]
    assert table["first"][0] == pytest.approx(1 - table["second"][0])
    assert verdict_sentence("copy", table) == (
        "copy is fair: it scores 50.0% against the field (50.0% to 50.0%)."
    )


def test_stronger_cards_make_a_deck_too_strong_and_its_rival_too_weak() -> None:
    strong = strengthened("basic-hunter", "Bloodfen Raptor attack=9 health=9", "River Crocolisk attack=9")
    assert verdict_on(study_of(strong, "basic-hunter")).startswith("strong basic-hunter is too strong by ")
    study = study_of(find_deck("basic-hunter"), "basic-hunter")
    weak = replace(study, field=(strong,))
    assert verdict_on(weak).startswith("basic-hunter is too weak by ")


def test_the_best_agents_are_chosen() -> None:
    study = study_of(
        find_deck("basic-mage"), "basic-hunter", "basic-warrior", names=("random", "aggro", "pass"), games=40
    )
    assert choose_pilots(study, play_schedule) == [(1, 1), (1, 1)]
    assert study.total == 2 * (40 + 9 * study.choosing)


def test_a_deck_is_fair_against_itself_whoever_plays() -> None:
    """Both sides choose their agents by the same rule, so that a copy of a deck gets the same agent."""
    copy = replace(find_deck("basic-hunter"), name="copy")
    study = study_of(
        copy, "basic-hunter", names=("aggro", "random", "eva", "greedy-ilp:true-balanced"), games=100
    )
    ((own, other),) = choose_pilots(study, play_schedule)
    assert own == other


def test_the_games_that_judge_are_others_than_those_that_choose() -> None:
    study, seen = study_of(find_deck("basic-mage"), "basic-hunter", names=("aggro", "random"), games=40), []

    def watching(roster: Roster, games: Schedule) -> np.ndarray:
        seen.append(games)
        return play_schedule(roster, games)

    judge(study, watching, choose_pilots(study, watching))
    *chosen, judged = seen
    assert not {key for games in chosen for key in games.keys.tolist()} & set(judged.keys.tolist())
    assert (judged.decks[0::2] == judged.decks[1::2, ::-1]).all()
    assert (judged.keys[0::2] == judged.keys[1::2]).all()


def test_what_a_patch_changes_is_paired() -> None:
    """The interval is of differences on the same deals, narrower than of scores; no change is no effect."""
    points = [np.random.default_rng(seed).integers(3, size=400) / 2 for seed in (1, 2)]
    better = [np.minimum(one + (np.arange(400) % 20 == 0) / 2, 1) for one in points]
    mean, low, high = patch_effect(points, better)
    assert low < mean < high
    assert low > 0
    assert high - low < 0.02
    assert "which is not told from nothing" in patch_sentence(patch_effect(points, points))
    assert patch_sentence((mean, low, high)).endswith(").")


def test_a_patch_is_judged_with_the_agents_of_the_decks_as_printed(tmp_path: Path) -> None:
    line = ("verdict", "basic-mage", "--field", "basic-hunter", "--players", "aggro,eva", "--games", 100)
    told = manaforge(*line, "--patch", "Fireball cost=9", "--json", "--out", tmp_path / "a")
    plain = manaforge(*line, "--json", "--out", tmp_path / "b")
    with_patch, without = json.loads(told.stdout), json.loads(plain.stdout)
    for side in ("pilot", "rival"):
        assert with_patch["matchups"][0][side] == without["matchups"][0][side]
    change = 100 * (with_patch["score"] - without["score"])
    assert f"the patch changes its score by {change:+.1f} points" in with_patch["verdict"]
    prefix = "CS2_029.cost=9:"
    named = (line[0], prefix + line[1], "--field", prefix + "basic-hunter", *line[4:])
    assert json.loads(manaforge(*named, "--json", "--out", tmp_path / "a").stdout) == with_patch
    assert manaforge(*line, "--out", tmp_path / "a").returncode == 2


def test_a_fault_of_an_agent_of_ours_is_no_lost_game() -> None:
    study = study_of(find_deck("basic-mage"), "basic-hunter", games=4)

    def faulty(roster: Roster, games: Schedule) -> np.ndarray:
        played = play_schedule(roster, games)
        played["fault"][0] = Fault.AGENT_ERROR
        return played

    with pytest.raises(GameError, match="could not be played"):
        judge(study, faulty, [(0, 0)])


def test_intervals_and_words() -> None:
    assert mean_interval(np.full(100, 0.5))[1] < 0.5 < mean_interval(np.full(100, 0.5))[2]
    covered = sum(
        low <= 0.5 <= high
        for _, low, high in (
            mean_interval(np.random.default_rng(n).integers(3, size=50) / 2) for n in range(400)
        )
    )
    assert 360 < covered < 396
    table = pd.DataFrame({"deck": ["a", "b"], "score": [0.6, 0.4], "low": [0.58, 0.38], "high": [0.62, 0.42]})
    table = table.assign(error=0.02 / 1.96, games=10_000)
    score, low, high = overall(table)
    assert (score, round(high - low, 4)) == (0.5, round(0.04 / 2**0.5, 4))
    assert verdict_sentence("x", table).endswith("Best against a (60.0%), worst against b (40.0%).")
    wide = table.assign(error=0.1)
    assert "not told from fair (45% to 55%); play more games" in verdict_sentence("x", wide)
    counted = curve(find_deck("basic-mage"))
    assert int(counted.iloc[0, 1:].sum()) == 30
    with pytest.raises(ExperimentOptionError, match="must be even"):
        study_of(find_deck("basic-mage"), "basic-hunter", games=5)
    with pytest.raises(ExperimentOptionError, match="at least one deck"):
        study_of(find_deck("basic-mage"))


def test_the_command(tmp_path: Path) -> None:
    line = ("verdict", "basic-mage", "--field", "basic-hunter", "--players", "aggro,random", "--games", 40)
    first = manaforge(*line, "--out", tmp_path / "a")
    assert first.returncode == 0, first.stderr
    assert "basic-mage " in first.stdout
    assert manaforge(*line, "--out", tmp_path / "b").returncode == 0
    for name in ("verdict.csv", "cards.csv", "verdict.html"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    told = json.loads(manaforge(*line, "--json", "--out", tmp_path / "a").stdout)
    assert set(told) == {"deck", "score", "low", "high", "verdict", "matchups", "cards"}
    assert told["verdict"] in first.stdout.replace("\n", " ")
    failed = manaforge(*line[:4], "--players", "randm", "--out", tmp_path / "c")
    assert failed.returncode == 2
