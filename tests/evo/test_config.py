"""Configurations: strict, complete when written back, overridden from the command line."""

import contextlib
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import ManaforgeError
from evo.config import ConfigError, RunConfig, meanings, read_config, shipped_configs


def test_written_back_it_is_complete_and_the_same() -> None:
    for name in shipped_configs():
        config = read_config(name)
        content = tomllib.loads(config.to_toml())
        assert RunConfig.model_validate(content) == config
        keys = {f"{k}.{n}" for k, v in content.items() if isinstance(v, dict) for n in v}
        keys |= {k for k, v in content.items() if not isinstance(v, dict)}
        assert keys == set(dict(meanings()))


def test_every_key_has_a_meaning() -> None:
    assert all(meaning for _, meaning in meanings())


def test_eva_is_the_protocol_of_the_paper() -> None:
    """10 + 10, 20 games, three decks: 8,100 games, then 34,200 in each of 99 generations."""
    from evo.evolution.run import games_of_generation

    config = read_config("eva")
    assert games_of_generation(config, 0) == 8_100
    assert games_of_generation(config, 1) == 34_200
    assert sum(games_of_generation(config, n) for n in range(config.generations + 1)) == 3_393_900


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gams = 4", "unknown key 'gams'; nearest: games"),
        ("[es]\nsigma = 1", "unknown key 'es.sigma'; nearest: es.initial_sigma"),
        ("games = 3", "games: Input should be a multiple of 2, got 3"),
        ("games = 0", "games: Input should be greater than or equal to 2"),
        ("seed = 1.5", "seed: Input should be a valid integer, got 1.5"),
        ("seed = -1", "seed: "),
        ("mu = true", "mu: Input should be a valid integer, got True"),
        ("[es]\ninitial_sigma = nan", "es.initial_sigma: Input should be a finite number"),
        ('strategy = "eva"\nlambda = 5', 'strategy "eva" requires lambda = mu, got 5 and 10'),
        ('decks = ["thesis-paladn"]', "unknown deck 'thesis-paladn'; nearest: thesis-paladin"),
        ('decks = ["thesis-paladin", "thesis-paladin"]', "the same deck twice"),
        ("decks = []", "decks: "),
        ('ruleset = "thesi"', "unknown ruleset 'thesi'; nearest: thesis"),
        ('backend = "gurobbi"', "unknown backend 'gurobbi'; nearest: gurobi"),
        ("schema = 2", "schema: Input should be 1, got 2"),
        ("seed = ", "is not a TOML file"),
    ],
)
def test_what_is_wrong_is_named_with_its_file(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as error:
        read_config(file)
    assert str(file) in str(error.value)
    assert message in str(error.value)


def test_overrides() -> None:
    config = read_config(
        "quickstart", ["seed=7", "es.initial_sigma=0.5", "strategy=eva", 'decks=["hearthsim-basic"]']
    )
    assert (config.seed, config.es.initial_sigma, config.strategy) == (7, 0.5, "eva")
    assert config.decks == ("hearthsim-basic",)
    for text, message in (
        ("sed=7", "unknown key 'sed'; nearest: seed"),
        ("seed", "--set takes KEY=VALUE, got 'seed'"),
        ("seed=x", "seed: Input should be a valid integer, got 'x'"),
    ):
        with pytest.raises(ConfigError, match=message):
            read_config("quickstart", [text])


def test_unknown_files_and_names(tmp_path: Path) -> None:
    with pytest.raises(ManaforgeError, match="unknown configuration 'quikstart'; nearest: quickstart"):
        read_config("quikstart")
    with pytest.raises(ConfigError, match="cannot read configuration .*No such file"):
        read_config(tmp_path / "none.toml")


def test_the_hash_is_of_what_decides_the_bytes(tmp_path: Path) -> None:
    config = RunConfig()
    same = config.changed(generations=3, pool="ray", workers=5, address="auto")
    assert same.digest == config.digest
    for other in ({"seed": 2}, {"games": 4}, {"final": {"games": 3}}, {"es": {"initial_sigma": 0.3}}):
        assert config.changed(**other).digest != config.digest
    deck = tmp_path / "deck.toml"
    source = Path("engine/data/decks/thesis-paladin.toml").read_text()
    deck.write_text(source)
    mine = config.changed(decks=[str(deck)])
    assert mine.digest == config.changed(decks=["thesis-paladin"]).digest  # where a deck lies is no matter
    with pytest.raises(ConfigError, match="two decks of one name"):
        config.changed(decks=[str(deck), "thesis-paladin"])
    before = mine.digest
    deck.write_text(source.replace("count = 2", "count = 2\nvalue = 9.0", 1))
    assert mine.digest != before


@given(st.text(max_size=60))
def test_any_text_is_a_configuration_or_our_error(text: str) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        with contextlib.suppress(ConfigError):
            read_config(file.name)
