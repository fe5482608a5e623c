"""Balance: planted imbalances are found, the search is reproducible and resumes, and the command says it."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from engine.cards.patches import parse_patch
from engine.deck_files import add_deck_options
from engine.decks import DeckOptions
from evo.config.run_config import ConfigError
from evo.experiments.balance import (
    Balance,
    BalanceConfig,
    SearchGames,
    chosen_for_measurement,
    mutate,
    search_patches,
)
from evo.experiments.balance_report import (
    ADAPTED,
    adaptation_config,
    balance_sentences,
    evolve_pilot,
    matrix,
    measure_front,
    summarise,
)
from evo.experiments.folder import ExperimentFolder, open_experiment
from evo.play.entrants import find_entrant
from evo.play.games import PlayFunction, Roster, Schedule, play_schedule
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
        "measure": [
            {"entrant": "aggro", "games": 2_000},
            {"entrant": "greedy-ilp:true-balanced", "games": 2_000},
        ],
        "games": 400,
        "population": 16,
        "generations": 12,
        "edits": [{"card": "*", "numbers": ["attack", "health"], "by": STRONGER}],
    }
    return BalanceConfig.model_validate(content | changes)


def search_games(
    balance: Balance, folder: ExperimentFolder, play: PlayFunction = play_schedule
) -> SearchGames:
    """Games of a search, kept in a folder."""
    return SearchGames(balance, folder, play, lambda _: None)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[ExperimentFolder]:
    """An empty experiment folder."""
    with open_experiment(tmp_path / "games", "balance", {}) as opened:
        yield opened


def no_evolution(*_: object) -> list[float]:
    raise AssertionError("nothing adapts")


def test_the_same_decks_under_other_names_are_fair(tmp_path: Path) -> None:
    balance = Balance.of(config_of(tmp_path, 0))
    assert len(balance.edits) == 20
    only = [{"card": "*", "deck": "side 1", "numbers": ["attack"]}]
    one = Balance.of(config_of(tmp_path, 0, edits=only))
    assert one.holders == [[1]] * 5
    points = balance.points(balance.printed, find_entrant("aggro").player, 0, 100, play_schedule)
    assert points.shape == (1, 50)
    assert (points == 0.5).all()


@pytest.mark.parametrize("seed", range(cases(1, 5)))
def test_a_planted_imbalance_is_mended(tmp_path: Path, folder: ExperimentFolder, seed: int) -> None:
    """Three cards strengthened: patches of no more edits bring the matchup back, on deals of their own."""
    balance = Balance.of(config_of(tmp_path, 3, seed=seed))
    front = search_patches(balance, search_games(balance, folder).evaluate)
    genomes = chosen_for_measurement(balance, front)
    measured, gains = measure_front(balance, genomes, play_schedule, no_evolution)
    summary = summarise(measured, balance.config.tolerance)
    before = summary[summary["patch"] == 0]
    assert (before["unfair"] == 1).all()
    seen = summary[(summary["player"] == "aggro") & (summary["patch"] > 0)]
    assert seen["distance"].min() < 0.05 < before["distance"].min()
    assert (seen["n_edits"] <= balance.config.most_edits).all()
    assert seen["n_edits"].is_monotonic_increasing
    assert "With patch" in " ".join(balance_sentences(summary, gains, len(genomes), 0.05))
    scores = matrix(measured, 0, "aggro", ["side 0", "side 1"])
    assert scores.loc["side 0", "side 1"] == pytest.approx(1 - scores.loc["side 1", "side 0"])


def test_the_search_plays_what_a_patch_changes_alone(tmp_path: Path, folder: ExperimentFolder) -> None:
    """Scores are those of all matchups played with the whole patch: no card of another deck takes part."""
    config = config_of(tmp_path, 1)
    third = tmp_path / "third.toml"
    text = Path(config.decks[1]).read_text(encoding="utf-8").replace('"side 1"', '"side 2"')
    third.write_text(text.replace("Magma Rager", "Ice Rager").replace("Salty Dog", "Booty Bay Bodyguard"))
    balance = Balance.of(config_of(tmp_path, 1, decks=[*config.decks, str(third)], games=60))
    assert len(balance.pairs) == 3
    random, played = np.random.default_rng(1), 0

    def counting(roster: Roster, games: Schedule) -> np.ndarray:
        nonlocal played
        played += len(games)
        return play_schedule(roster, games)

    games, pilot = search_games(balance, folder, counting), find_entrant("aggro").player
    genomes = [balance.printed]
    for _ in range(8):
        genomes.append(mutate(balance, genomes[-1], random.random(3), random))
    for genome in dict.fromkeys(genomes):
        found = games.evaluate([genome])[genome]
        assert found == pytest.approx(balance.points(genome, pilot, 0, 60, play_schedule).mean(axis=1))
    assert played < 3 * 60 * len(set(genomes))


def test_targets_are_wanted_from_both_sides(tmp_path: Path) -> None:
    target = {"deck": "side 1", "against": "side 0", "score": 0.7}
    balance = Balance.of(config_of(tmp_path, 0, targets=[target]))
    assert balance.targets == pytest.approx([0.3])
    assert balance.objectives(balance.printed, np.array([0.3]))[0] == pytest.approx(0)
    measured, _ = measure_front(balance, [], play_schedule, no_evolution)
    summary = summarise(measured, 0.05)
    assert (summary["unfair"] == 1).all()
    assert summary["distance"].to_numpy() == pytest.approx([0.2, 0.2])


def test_a_pilot_adapts_to_the_patch(tmp_path: Path) -> None:
    """It evolves from its own weights on the patched cards, keeps `lethal`, and plays beside its old self."""
    measure = [{"entrant": "greedy-ilp:true-balanced", "games": 200, "adapt_games": 800}]
    balance = Balance.of(config_of(tmp_path, 2, measure=measure))
    keys, before = balance.config.measure[0], find_entrant("greedy-ilp:true-balanced").player
    genome = (balance.printed[0] - 1, *balance.printed[1:])
    config = adaptation_config(balance, genome, keys)
    assert {deck.patch for deck in config.found_decks} == {balance.patch(genome)}
    names, scale = config.vector.names(), max(before.weights[1:])
    assert config.fixed_weights["lethal"] == pytest.approx(before.weights[0] / scale)
    assert [config.initial_weights[name] for name in names[1:]] == pytest.approx(
        [weight / scale for weight in before.weights[1:]]
    )
    weights = evolve_pilot(config, 800, play_schedule)
    assert weights[0] == config.fixed_weights["lethal"]
    assert weights == evolve_pilot(config, 800, play_schedule)
    assert weights[1:] != pytest.approx([config.initial_weights[name] for name in names[1:]], abs=1e-6)
    measured, gains = measure_front(balance, [genome], play_schedule, lambda *_: weights)
    assert set(measured["player"]) == {keys.entrant, keys.entrant + ADAPTED}
    assert list(gains["patch"]) == [0, 1]
    assert "Evolved again on each patch" in " ".join(
        balance_sentences(summarise(measured, 0.05), gains, 1, 0.05)
    )


@pytest.mark.parametrize(
    ("entrant", "games", "message"),
    [
        ("aggro", 400, "only weights evolve again"),
        ("ilp:configs/champions/constructed-each.toml", 400, "weights for single decks"),
        ("lookahead", 400, "weights below 0"),
        ("greedy-ilp:true-balanced", 4, r"must be at least \d+"),
    ],
)
def test_agents_that_cannot_adapt_are_refused(tmp_path: Path, entrant: str, games: int, message: str) -> None:
    measure = [{"entrant": entrant, "games": 20, "adapt_games": games}]
    balance = Balance.of(config_of(tmp_path, 0, measure=measure))
    with pytest.raises(ConfigError, match=message):
        adaptation_config(balance, balance.printed, balance.config.measure[0])


def test_a_candidate_takes_precedence_over_a_patch_of_the_decks(tmp_path: Path) -> None:
    decks = [deck_file(tmp_path, side, 0) for side in (0, 1)]
    measure = [{"entrant": "greedy-ilp:true-balanced", "games": 20, "adapt_games": 400}]
    patched = add_deck_options(decks, DeckOptions(patch=parse_patch(["Magma Rager attack=4"])))
    balance = Balance.of(config_of(tmp_path, 0, decks=list(patched), measure=measure))
    place = next(n for n, edit in enumerate(balance.edits) if edit[:2] == ("CS2_118", "attack"))
    assert balance.printed[place] == 4
    genome = tuple(3 if n == place else value for n, value in enumerate(balance.printed))
    config = adaptation_config(balance, genome, balance.config.measure[0])
    assert config.found_decks == tuple(deck.patched(balance.patch(genome)) for deck in balance.decks)


def test_later_edits_count_and_unlike_numbers_are_refused(tmp_path: Path) -> None:
    edits = [{"card": "*", "numbers": ["attack"]}, {"card": "Magma Rager", "numbers": ["attack"], "by": 2}]
    balance = Balance.of(config_of(tmp_path, 0, edits=edits))
    assert {edit.high - edit.printed for edit in balance.edits} == {1, 2}
    one, other = deck_file(tmp_path, 0, 0), tmp_path / "unlike.toml"
    text = Path(one).read_text(encoding="utf-8").replace('"side 0"', '"side 3"')
    other.write_text(text.replace("attack = 1\n", "attack = 9\n"), encoding="utf-8")
    with pytest.raises(ValidationError, match="Bloodfen Raptor: the decks have different numbers of it"):
        config_of(tmp_path, 0, decks=[one, str(other)])


def test_patches_keep_to_the_edits(tmp_path: Path) -> None:
    balance = Balance.of(config_of(tmp_path, 1, most_edits=2))
    random, genome = np.random.default_rng(1), balance.printed
    for _ in range(300):
        genome = mutate(balance, genome, random.random(1), random)
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
        ({"edits": [{"card": "*", "deck": "side 3", "numbers": ["cost"]}]}, "unknown deck of edits 'side 3'"),
        (
            {"edits": [{"card": "Core Hound", "deck": "side 1", "numbers": ["cost"]}]},
            "Core Hound is not in side 1",
        ),
        ({"edits": []}, "edits"),
        ({"pilot": "randm"}, "unknown"),
        ({"measure": [{"entrant": "aggro"}] * 2}, "named twice"),
        ({"ruleset": "standrd"}, "unknown ruleset"),
        (
            {"targets": [{"deck": "side 0", "against": "side 2", "score": 0.6}]},
            "unknown deck of targets 'side 2'",
        ),
        ({"targets": [{"deck": "side 0", "against": "side 0", "score": 0.6}]}, "is the same deck"),
        ({"targets": [{"deck": "side 0", "against": "side 1", "score": 1.5}]}, "less than 1"),
    ],
)
def test_wrong_configurations_are_refused(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        config_of(tmp_path, 0, **changes)


def test_the_command_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    decks = json.dumps([deck_file(tmp_path, side, 2 if side == 0 else 0) for side in (0, 1)])
    file = tmp_path / "fair.toml"
    text = f'decks = {decks}\npilot = "aggro"\ngames = 40\npopulation = 6\ngenerations = 3\n'
    text += '[[edits]]\ncard = "*"\nnumbers = ["attack"]\nby = 3\n'
    text += '[[measure]]\nentrant = "greedy-ilp:true-balanced"\ngames = 100\nadapt_games = 400\n'
    file.write_text(text, encoding="utf-8")
    first = manaforge("balance", file, "--out", tmp_path / "a")
    assert first.returncode == 0, first.stderr
    assert "Of 1 matchups" in first.stdout.replace("\n", " ")
    assert manaforge("balance", file, "--out", tmp_path / "b", "--workers", 1).returncode == 0
    for point in sorted((tmp_path / "b" / "points").glob("*.json"))[2:-1]:
        point.unlink()  # as if stopped after two generations
    assert manaforge("balance", file, "--out", tmp_path / "b").returncode == 0
    for name in ("measured.csv", "patches.csv", "adapted.csv", "balance.html", "points/0003.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    patches = sorted((tmp_path / "a" / "patches").glob("*.toml"))
    assert len(patches) == pd.read_csv(tmp_path / "a" / "patches.csv")["patch"].nunique() - 1
    said = manaforge("deck", deck_file(tmp_path, 0, 2), *(("--patch", patches[0]) if patches else ()))
    assert said.returncode in (0, 2)  # of cards of the other deck alone, it is refused
    assert manaforge("balance", tmp_path / "none.toml").returncode == 2
    assert manaforge("balance", file, "--set", "games=3", "--out", tmp_path / "c").returncode == 2
