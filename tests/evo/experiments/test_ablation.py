"""What weights are worth: by games against copies without them, as a tournament plays them."""

from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import find_deck, find_ruleset
from evo.evolution.fitness import play_pairings
from evo.experiments.ablation import Ablation, ablation_page, run_ablation
from evo.experiments.folder import ExperimentError
from evo.play.entrants import find_entrant
from evo.play.games import Player, Roster
from evo.play.pool import LocalPool
from evo.seeds import Stream
from evo.stats.ratings import elo
from tests.evo.runs import manaforge

STUDY = "ilp:configs/champions/study.toml"


def ablation_of(
    entrant: str = STUDY, decks: tuple[str, ...] = ("thesis-paladin",), **values: object
) -> Ablation:
    usual = {"games": 40, "pairs": False, "seed": 1} | values
    return Ablation(
        find_entrant(entrant).player, tuple(map(find_deck, decks)), find_ruleset("thesis"), **usual
    )


def test_each_weight_that_counts_is_left_out_once_and_pairs_of_them() -> None:
    own = ablation_of(pairs=True)
    assert set(own.weights) == {"lethal", "face", "threat", "survive", "trade", "play"}, "the others are 0"
    assert len(own.left_out) == 6 + 15
    assert own.total == 21 * 40
    copy = own.without(["face", "play"])
    assert [a == b for a, b in zip(copy.weights, own.player.weights, strict=True)].count(False) == 2
    assert copy.backend == own.player.backend
    extended = ablation_of("ilp:configs/champions/extended.toml")
    assert "overload" not in extended.weights, "inert with these decks"
    with pytest.raises(ExperimentError, match="agent random has no weights"):
        _ = ablation_of("random").weights
    zero = Ablation(Player((0.0,) * 8), (find_deck("thesis-paladin"),), find_ruleset("thesis"), 2, False, 1)
    with pytest.raises(ExperimentError, match="each is 0 or changes no decision"):
        _ = zero.weights


def test_worth_is_the_score_against_the_copy_in_elo() -> None:
    own = ablation_of(pairs=True)
    with closing(LocalPool(2)) as pool:
        single, pairs = run_ablation(own, pool.play)
        roster = Roster((own.player, own.without(["survive"])), own.decks, own.ruleset)
        tally = play_pairings(roster, np.array([[0, 1]]), 40, 1, (Stream.EXPERIMENT, 3), pool.play)
    row = single.set_index("weight").loc["survive"]
    assert row["score"] == tally.scores(2)[0].sum() / 40
    assert row["elo"] == elo(row["score"])
    assert row["games"] == 40
    assert row["low"] <= row["elo"] <= row["high"]
    assert single["share"].sum() == pytest.approx(1)
    assert single["weight"].iloc[0] == "threat", "as docs/findings.md found"
    worth = single.set_index("weight")["elo"]
    for pair in pairs.itertuples():
        assert pair.interaction == pytest.approx(pair.elo - worth[pair.weight] - worth[pair.other])
        assert pair.interaction_low <= pair.interaction <= pair.interaction_high
    assert pairs["interaction"].abs().is_monotonic_decreasing
    page = ablation_page(STUDY, own, single, pairs, "manaforge ablate").decode()
    assert "The most valuable weight is threat" in page
    assert "Which weights can replace each other?" in page


def test_the_command(tmp_path: Path) -> None:
    words = ["ablate", STUDY, "--decks", "thesis-paladin", "--games", "20", "--out", tmp_path / "out"]
    said = manaforge(*words)
    assert said.returncode == 0, said.stderr
    assert "worth of each weight" in said.stdout
    table = pd.read_csv(tmp_path / "out" / "weights.csv")
    assert (table["games"] == 20).all()
    assert not (tmp_path / "out" / "pairs.csv").exists()
    assert manaforge("ablate", "random").returncode == 2
    assert "--games must be even" in manaforge("ablate", STUDY, "--games", "3").stderr
