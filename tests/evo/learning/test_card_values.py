"""Learning of card values: what is counted, kept in the folder, scaled, and said where it cannot be."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from engine import find_deck, find_ruleset
from engine.batches import deal_games
from engine.decks import cached_card_table
from engine.match import card_id_or_name
from engine.state import STATE
from engine.streams import stream_key
from evo.config.files import read_config_as
from evo.learning.config import LearnConfig
from evo.learning.features import FeatureSelection
from evo.learning.folder import LearningError, LearningFolder, open_learning, read_learning
from evo.learning.methods import METHODS, Samples, Value
from evo.learning.report import learning_page
from evo.learning.run import (
    agent_card_values,
    agent_weights,
    best_profile,
    count_by_id,
    learning_curve,
    recording_row,
)
from evo.stats.sequential import Sprt
from ilp_agent import Profile
from ilp_agent.card_values import CardValues
from ilp_agent.features import FEATURES, N_FEATURES, Feature
from ilp_agent.lookahead.recording import record_pairs
from rivals import find_agent_profile, read_agent_profile
from tests.conftest import BOUNDSCHECK, UNCOMPILED
from tests.evo.runs import manaforge
from tests.faults.mutate import fit_checksums

compiled = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")

DECKS = "decks=basic-mage,basic-hunter"
SMALL = [
    DECKS, "options=4,samples=1", "games=100", "test.games=2", "test.against=aggro", "card_values=true",
]  # fmt: skip


def config_of(*more: str) -> LearnConfig:
    return read_config_as(LearnConfig, "learn", [*SMALL, *more])


def said(out: Path, *more: str) -> str:
    """What the command says that fails, in one line."""
    sets = [word for text in (*SMALL, *more) for word in ("--set", text)]
    done = manaforge("learn", "learn", "--out", out, *sets)
    assert done.returncode in (1, 2), done.stderr
    assert "Traceback" not in done.stderr
    return " ".join(done.stderr.split())


def planted_samples(ids: tuple[str, ...], n: int = 3_000) -> Samples:
    """Samples in which a card in hand is good, one on board is bad, and a third says nothing."""
    pick = np.random.default_rng(9)
    features, cards = np.zeros((n, N_FEATURES)), np.zeros((n, 2 * len(ids)))
    features[:, :2] = pick.integers(-3, 4, size=(n, 2))
    good, bad, idle = ids.index("CS2_029"), len(ids) + ids.index("CS2_182"), ids.index("CS2_024")
    cards[:, [good, bad, idle]] = pick.integers(-1, 2, size=(n, 3))
    log_odds = 0.5 * features[:, 0] + 1.5 * cards[:, good] - 1.0 * cards[:, bad]
    points = (pick.random(n) < 1 / (1 + np.exp(-log_odds))).astype(float)
    return Samples(features, points, np.arange(n), csr_matrix(cards))


def planted(path: Path, *more: str) -> Path:
    """A folder with a round of planted samples, fitted."""
    config = config_of(*more)
    samples = planted_samples(config.card_ids or config_of().card_ids)
    if not config.card_values:
        samples = replace(samples, cards=None)
    value = METHODS["paired"].learn(None, [samples], {"ridge": 1.0, "card_ridge": config.card_ridge})
    with open_learning(path, config) as folder:
        folder.commit({"round": 0, "tests": []})
        learned = {"weights": value.weights.tolist(), "intercept": 0.0, "scale": value.scale.tolist()}
        counts = {"games": 6_000, "samples": 3_000, "told": 3_000, "loss": None, "calibration": []}
        cards = {"cards": folder.cards_json(value)} if config.card_values else {}
        folder.commit({"round": 1, "tests": [], **learned, **counts, **cards}, samples)
    return path


@compiled
def test_cards_are_counted_in_the_positions_that_are_compared() -> None:
    """Decks without weapons: as many cards as the features of the same positions say."""
    decks = tuple(map(find_deck, ("basic-mage", "basic-hunter")))
    table, records = cached_card_table(decks)
    keys = np.array([stream_key(5, deal) for deal in range(60)], np.uint64)
    states, held = np.zeros(60, STATE), np.array([(deal % 2, deal // 2 % 2) for deal in range(60)])
    deal_games(table.array, records, find_ruleset("standard").array, held, keys, states)
    n, config = len(table.cards), config_of()
    row = np.array(recording_row(config, None))
    pairs = record_pairs(table.array, row, states.copy(), keys, keys)
    plain = record_pairs(table.array, np.array(config.player.row), states, keys, keys)
    assert len(pairs.points) > 10
    features, counts = pairs.features[..., :N_FEATURES], pairs.features[..., N_FEATURES:]
    np.testing.assert_array_equal(counts[..., :n].sum(axis=-1), features[..., Feature.HAND])
    board = features[..., Feature.MINIONS] + features[..., Feature.ENEMY_MINIONS]
    np.testing.assert_array_equal(counts[..., n:].sum(axis=-1), board)
    assert (counts[..., :n] != 0).any()
    assert (counts[..., n:] < 0).any()
    differ = (features[:, 0] != features[:, 1]).any(axis=1)
    np.testing.assert_array_equal(features[differ], plain.features)
    np.testing.assert_array_equal(pairs.points[differ], plain.points)


def test_counts_by_number_are_added_up_by_id() -> None:
    table, _ = cached_card_table(tuple(map(find_deck, ("basic-mage", "basic-hunter"))))
    ids = config_of().card_ids
    names = list(map(card_id_or_name, table.cards))
    counts = np.zeros((2, 2 * len(names)))
    counts[0, names.index("CS2_029")], counts[1, len(names) + names.index("CS2_182")] = 2, -1
    found = count_by_id(counts, table.cards, ids)
    assert found.nnz == 2
    assert found[0, ids.index("CS2_029")] == 2
    assert found[1, len(ids) + ids.index("CS2_182")] == -1
    twice = np.array([[1.0, -1.0, 0.0, 0.0]])
    cards = [table.cards[0], table.cards[0]]
    assert count_by_id(twice, cards, ids).nnz == 0, "a card with two numbers in the table"


def test_the_folder_keeps_samples_and_values(tmp_path: Path) -> None:
    folder = read_learning(planted(tmp_path / "planted"))
    samples, again = planted_samples(folder.config.card_ids), folder.samples(1)
    assert samples.cards is not None
    assert again.cards is not None
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(samples.cards, name), getattr(again.cards, name))
    options = {"ridge": 1.0, "card_ridge": folder.config.card_ridge}
    fitted, value = METHODS["paired"].learn(None, [again], options), folder.value(1)
    assert value is not None
    np.testing.assert_array_equal(fitted.cards, value.cards)
    np.testing.assert_array_equal(fitted.card_samples, value.card_samples)
    cards = folder.rounds[1]["cards"]
    assert set(cards["hand"]) == {"CS2_024", "CS2_029"}
    assert set(cards["board"]) == {"CS2_182"}


def test_the_report_names_the_largest_values(tmp_path: Path) -> None:
    folder = read_learning(planted(tmp_path / "planted"))
    page = learning_page(folder, learning_curve(folder)).decode()
    assert "Largest values: Fireball, Frostbolt in hand; Chillwind Yeti on board." in page
    plain = read_learning(planted(tmp_path / "plain", "card_values=false"))
    assert "Card values" not in learning_page(plain, learning_curve(plain)).decode()


def test_features_are_left_out_beside_the_card_values(tmp_path: Path) -> None:
    trial = FeatureSelection(read_learning(planted(tmp_path / "planted")), 8, Sprt(-400, 0))
    fitted = trial.fit(("attack",))
    assert fitted.weights[0] == 0
    assert np.abs(fitted.cards).max() > 0.5
    assert trial.loss(fitted) > trial.loss(trial.all)


def test_learned_cards_have_the_sign_and_scale_of_the_features(tmp_path: Path) -> None:
    folder = read_learning(planted(tmp_path / "planted"))
    config, value = folder.config, folder.value(1)
    assert value is not None
    hand, board = (dict(zone) for zone in agent_card_values(value, config))
    assert hand["CS2_029"] > 5 * abs(hand["CS2_024"])
    assert board["CS2_182"] < 0
    factor = agent_weights(value, config.initial_weights).named()["value_attack"] / value.weights[0]
    fitted = folder.rounds[1]["cards"]["hand"]["CS2_029"][0]
    assert hand["CS2_029"] == pytest.approx(fitted * factor, rel=1e-4)
    profile = best_profile(folder)
    (tmp_path / "profile.toml").write_text(profile.to_toml())
    assert read_agent_profile(tmp_path / "profile.toml") == profile
    assert dict(profile.card_values.hand) == hand


def test_cards_that_never_differed_keep_their_initial_values(tmp_path: Path) -> None:
    weights = find_agent_profile("lookahead", "hearthsim").weights
    start = CardValues((("CS2_029", 7.0), ("EX1_277", 3.0)), (("NO_SUCH", 2.0),))
    file = tmp_path / "start.toml"
    file.write_text(Profile("start", weights, card_values=start).to_toml())
    config = config_of(f"profile={file}")
    assert config.player.card_values == start
    assert config.digest != config_of().digest
    n = len(config.card_ids)
    cards, samples = np.zeros(2 * n), np.zeros(2 * n, np.int64)
    place = config.card_ids.index("CS2_029")
    cards[place], samples[place] = 0.5, 40
    value = Value(np.ones(len(FEATURES)), 0.0, np.ones(len(FEATURES)), cards, samples)
    hand, board = (dict(zone) for zone in agent_card_values(value, config))
    assert hand["EX1_277"] == 3
    assert hand["CS2_029"] not in (0.0, 7.0)
    assert board == {"NO_SUCH": 2}
    assert agent_card_values(None, config) == start
    assert "has card values; set card_values = true" in said(
        tmp_path / "out", f"profile={file}", "card_values=false"
    )


def test_without_card_values_nothing_changes() -> None:
    plain = read_config_as(LearnConfig, "learn", [DECKS])
    other = read_config_as(LearnConfig, "learn", [DECKS, "card_ridge=3"])
    assert "card_" not in plain.to_toml()
    assert plain.digest == other.digest
    assert plain.card_ids == ()
    assert config_of().digest != config_of("card_ridge=3").digest
    assert "card_values = true\ncard_ridge = " in config_of().to_toml()


@pytest.mark.parametrize(
    ("more", "word"),
    [
        (["method=logistic"], "card_values: method logistic learns none; use paired"),
        (["decks=thesis-paladin,hearthsim-basic"], "card_values: minion decks have none"),
        (["card_ridge=0"], "card_ridge"),
    ],
)
def test_what_cannot_be_learned_is_named(tmp_path: Path, more: list[str], word: str) -> None:
    assert word in said(tmp_path / "wrong", *more)
    assert not (tmp_path / "wrong").exists()


def test_samples_of_other_learnings(tmp_path: Path) -> None:
    other = planted(tmp_path / "other", "decks=basic-mage,basic-warrior")
    own = tmp_path / "own"
    told = said(own, f"also={other}")
    lacking = sorted(set(config_of("decks=basic-mage,basic-warrior").card_ids) - set(config_of().card_ids))
    assert f"also: {other}: its decks have {len(lacking)} cards that the decks of this learning lack" in told
    assert f"such as {', '.join(lacking[:3])}" in told
    assert not own.exists()
    plain, fewer = planted(tmp_path / "plain", "card_values=false"), planted(tmp_path / "fewer")
    with open_learning(
        own, config_of("decks=basic-mage,basic-hunter,basic-warrior", f"also={plain},{fewer}")
    ) as new:
        samples = new.samples_to_fit()
    assert [len(part.points) for part in samples] == [3_000, 3_000]
    joined, n = Samples.join(samples), len(new.config.card_ids)
    assert joined.cards is not None
    assert joined.cards.shape == (6_000, 2 * n)
    assert joined.cards[:3_000].nnz == 0
    # Other columns than in the other folder, the same cards.
    assert new.config.card_ids.index("CS2_182") != config_of().card_ids.index("CS2_182")
    np.testing.assert_array_equal(yetis(joined, new)[3_000:], yetis(samples[1], new))
    np.testing.assert_array_equal(
        yetis(samples[1], new), yetis(read_learning(fewer).samples(1), read_learning(fewer))
    )
    # A learning without card values leaves the counts of the other unread.
    with open_learning(tmp_path / "without", config_of("card_values=false", f"also={fewer}")) as new:
        assert new.samples_to_fit()[0].cards is None


def yetis(samples: Samples, folder: LearningFolder) -> np.ndarray:
    """Counts of Chillwind Yeti on board in samples."""
    assert samples.cards is not None
    ids = folder.config.card_ids
    counts = samples.cards[:, len(ids) + ids.index("CS2_182")].toarray()[:, 0]
    assert (counts != 0).any()
    return counts


@pytest.mark.parametrize(
    "cell", ['{"CS2_029":0}', '{"CS2_029":1.5}', '{"NO_SUCH":1}', "[1]", "{", '{"CS2_029":99}']
)
def test_counts_that_cannot_be_are_refused(
    tmp_path: Path, cell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def texts(cards: csr_matrix, _: object) -> dict[str, list[str]]:
        return {"hand_cards": ["{}"] * (cards.shape[0] - 1) + [cell], "board_cards": ["{}"] * cards.shape[0]}

    with monkeypatch.context() as changed:
        changed.setattr("evo.learning.folder._card_texts", texts)
        path = planted(tmp_path / "planted")
    folder = read_learning(path)
    with pytest.raises(LearningError, match=r"cannot read .*0001.parquet"):
        folder.samples(1)


def test_a_round_whose_values_are_no_numbers_is_refused(tmp_path: Path) -> None:
    path = planted(tmp_path / "planted")
    file = path / "rounds/0001.json"
    content = json.loads(file.read_text())
    content["cards"]["hand"]["CS2_029"] = ["much", 3]
    file.write_text(json.dumps(content))
    fit_checksums(path)
    with pytest.raises(LearningError, match="is no round of manaforge learn"):
        read_learning(path)


@compiled
def test_a_continued_learning_has_the_same_bytes(tmp_path: Path) -> None:
    def learn(out: Path, rounds: int) -> None:
        sets = [word for text in (*SMALL, f"rounds={rounds}", "workers=1") for word in ("--set", text)]
        done = manaforge("learn", "learn", "--out", out, *sets)
        assert done.returncode == 0, done.stderr

    whole, parts = tmp_path / "whole", tmp_path / "parts"
    learn(whole, 2)
    learn(parts, 1)
    learn(parts, 2)
    names = ["profile.toml", "curve.csv", "report.html", "checksums.txt"]
    for name in [*names, *(f"rounds/000{n}.{kind}" for n in (1, 2) for kind in ("json", "parquet"))]:
        assert (whole / name).read_bytes() == (parts / name).read_bytes(), name
    cards = json.loads((whole / "rounds/0002.json").read_text())["cards"]
    assert len(cards["board"]) > 5
    played = manaforge(
        "play", f"lookahead:{whole}/profile.toml@4", "eva", "--decks", "basic-mage,basic-hunter"
    )
    assert played.returncode == 0, played.stderr
