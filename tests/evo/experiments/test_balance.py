"""Balance: planted imbalances are found, the search is reproducible and resumes, and the command says it."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from evo.experiments.balance import (
    Balance,
    BalanceConfig,
    Genome,
    balance_sentence,
    chosen_for_measurement,
    matrix,
    measure_front,
    mutate,
    search_patches,
    summarise,
)
from evo.play.entrants import find_entrant
from evo.play.games import play_schedule
from tests.conftest import cases
from tests.evo.runs import manaforge

NAMES = (
    ("Bloodfen Raptor", "River Crocolisk", "Chillwind Yeti", "Boulderfist Ogre", "Core Hound"),
    ("Magma Rager", "Oasis Snapjaw", "War Golem", "Spider Tank", "Salty Dog"),
)
BODIES = ((1, 2, 1), (2, 3, 2), (3, 3, 3), (4, 5, 4), (5, 5, 5))
STRONGER = 3


def deck_file(folder: Path, side: int, planted: int) -> str:
    """A deck of five bodies, the same on both sides under other names; the first `planted` are stronger."""
    lines = ["schema = 1", f'name = "side {side}"', "copies = 6"]
    for place, (name, (attack, health, cost)) in enumerate(zip(NAMES[side], BODIES, strict=True)):
        more = STRONGER if place < planted else 0
        lines += ["[[cards]]", f'name = "{name}"', "count = 6", "keywords = []"]
        lines += [f"cost = {cost}", f"attack = {attack + more}", f"health = {health + more}"]
    file = folder / f"side{side}.toml"
    file.write_text("\n".join(lines), encoding="utf-8")
    return str(file)


def config_of(folder: Path, planted: int, **changes: object) -> BalanceConfig:
    decks = [deck_file(folder, side, planted if side == 0 else 0) for side in (0, 1)]
    content = {
        "decks": decks,
        "pilot": "aggro",
        "measure": ["aggro", "greedy-ilp:true-balanced"],
        "games": 400,
        "population": 16,
        "generations": 12,
        "measure_games": 2_000,
        "edits": [{"card": "*", "numbers": ["attack", "health"], "by": STRONGER}],
    }
    return BalanceConfig.model_validate(content | changes)


def evaluator(balance: Balance):  # type: ignore[no-untyped-def]
    pilot = find_entrant(balance.config.pilot).player

    def evaluate(genomes: list[Genome]) -> dict[Genome, np.ndarray]:
        games = balance.config.games
        return {
            genome: balance.points(genome, pilot, 0, games, play_schedule).mean(axis=1) for genome in genomes
        }

    return evaluate


def test_the_same_decks_under_other_names_are_fair(tmp_path: Path) -> None:
    balance = Balance.of(config_of(tmp_path, 0))
    assert len(balance.edits) == 20
    points = balance.points(balance.printed, find_entrant("aggro").player, 0, 100, play_schedule)
    assert points.shape == (1, 50)
    assert (points == 0.5).all()


@pytest.mark.parametrize("seed", range(cases(1, 5)))
def test_a_planted_imbalance_is_mended(tmp_path: Path, seed: int) -> None:
    """Three cards strengthened: patches of no more edits bring the matchup back, on deals of their own."""
    balance = Balance.of(config_of(tmp_path, 3, seed=seed))
    front = search_patches(balance, evaluator(balance))
    genomes = chosen_for_measurement(balance, front)
    measured = measure_front(balance, genomes, play_schedule)
    summary = summarise(measured, balance.config.tolerance)
    before = summary[summary["patch"] == 0]
    assert (before["unfair"] == 1).all()
    seen = summary[(summary["player"] == "aggro") & (summary["patch"] > 0)]
    assert seen["distance"].min() < 0.05 < before["distance"].min()
    assert (seen["n_edits"] <= balance.config.most_edits).all()
    assert seen["n_edits"].is_monotonic_increasing
    assert "With patch" in balance_sentence(summary, 0.05)
    scores = matrix(measured, 0, "aggro", ["side 0", "side 1"])
    assert scores.loc["side 0", "side 1"] == pytest.approx(1 - scores.loc["side 1", "side 0"])


def test_patches_keep_to_the_edits(tmp_path: Path) -> None:
    balance = Balance.of(config_of(tmp_path, 1, most_edits=2))
    random, genome = np.random.default_rng(1), balance.printed
    for _ in range(300):
        genome = mutate(balance, genome, random)
        changed = [
            (edit, value) for edit, value in zip(balance.edits, genome, strict=True) if value != edit.printed
        ]
        assert len(changed) <= 2
        assert all(edit.low <= value <= edit.high for edit, value in changed)
        assert {word for patch in balance.patch(genome).cards for word in patch.words} == {
            f"{edit.card}.{edit.number}={value}" for edit, value in changed
        }
        assert balance.objectives(genome, np.array([0.5]))[:2] == (0.0, len(changed))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"edits": [{"card": "Fireball", "numbers": ["cost"]}]}, "Fireball is in none of the decks"),
        ({"edits": [{"card": "Firebal", "numbers": ["cost"]}]}, "unknown card 'Firebal'"),
        ({"edits": [{"card": "Magma Rager", "numbers": ["damage"]}]}, "Magma Rager has no damage"),
        ({"edits": []}, "edits"),
        ({"pilot": "randm"}, "unknown"),
        ({"ruleset": "standrd"}, "unknown ruleset"),
    ],
)
def test_wrong_configurations_are_refused(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        config_of(tmp_path, 0, **changes)


def test_the_command_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    decks = json.dumps([deck_file(tmp_path, side, 2 if side == 0 else 0) for side in (0, 1)])
    file = tmp_path / "fair.toml"
    text = f'decks = {decks}\npilot = "aggro"\nmeasure = ["aggro"]\ngames = 40\npopulation = 6\ngenerations = 3\n'
    text += 'measure_games = 100\n[[edits]]\ncard = "*"\nnumbers = ["attack"]\nby = 3\n'
    file.write_text(text, encoding="utf-8")
    first = manaforge("balance", file, "--out", tmp_path / "a")
    assert first.returncode == 0, first.stderr
    assert "Of 1 matchups" in first.stdout.replace("\n", " ")
    assert manaforge("balance", file, "--out", tmp_path / "b", "--workers", 1).returncode == 0
    for point in sorted((tmp_path / "b" / "points").glob("*.json"))[2:]:
        point.unlink()  # as if stopped after two generations
    assert manaforge("balance", file, "--out", tmp_path / "b").returncode == 0
    for name in ("measured.csv", "patches.csv", "balance.html", "points/0003.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    patches = sorted((tmp_path / "a" / "patches").glob("*.toml"))
    assert len(patches) == pd.read_csv(tmp_path / "a" / "patches.csv")["patch"].nunique() - 1
    said = manaforge("deck", deck_file(tmp_path, 0, 2), *(("--patch", patches[0]) if patches else ()))
    assert said.returncode in (0, 2)  # of cards of the other deck alone, it is refused
    assert manaforge("balance", tmp_path / "none.toml").returncode == 2
    assert manaforge("balance", file, "--set", "games=3", "--out", tmp_path / "c").returncode == 2
