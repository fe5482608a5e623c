"""Configurations: strict, complete when written back, overridden from the command line."""

import contextlib
import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import ManaforgeError
from evo.config.files import read_config
from evo.config.run_config import (
    ALWAYS_HASHED,
    NEVER_HASHED,
    ConfigError,
    RunConfig,
    json_schema,
    key_descriptions,
    validate_config,
)
from evo.play.entrants import find_entrant
from evo.play.games import roster_of
from ilp_agent.shipped import shipped_configs


def test_written_back_it_is_complete_and_the_same() -> None:
    for name in shipped_configs():
        config = read_config(name)
        content = tomllib.loads(config.to_toml())
        assert RunConfig.model_validate(content) == config
        keys = {f"{k}.{n}" for k, v in content.items() if isinstance(v, dict) for n in v}
        keys |= {k for k, v in content.items() if not isinstance(v, dict)}
        unsaid = {"parameters", "fixed_weights", "initial_weights", "patches"}  # written where they have any
        keys = {key for key in keys if key.partition(".")[0] not in unsaid}
        assert keys == set(dict(key_descriptions())) - unsaid


def test_every_key_has_a_meaning() -> None:
    assert all(meaning for _, meaning in key_descriptions())


def test_eva_is_the_protocol_of_the_paper() -> None:
    """10 + 10, 20 games, three decks: 8,100 games, then 34,200 in each of 99 generations."""
    from evo.evolution.run import max_games_of_generation

    config = read_config("eva")
    assert max_games_of_generation(config, 0) == 8_100
    assert max_games_of_generation(config, 1) == 34_200
    assert sum(max_games_of_generation(config, n) for n in range(config.generations + 1)) == 3_393_900


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gams = 4", "unknown key 'gams'; nearest: games"),
        ("[es]\nsigma = 1", "unknown key 'es.sigma'; nearest: es.initial_sigma"),
        ("games = 3", "games must be a multiple of 2, got 3"),
        ("racing = 0.05", "racing = 0.05: this key was removed; delete it"),
        ('racing = "0"', "racing = 0: this key was removed"),
        ("games = 0", "games must be at least 2, got 0"),
        ("seed = 1.5", "seed must be a whole number, got 1.5"),
        ("seed = -1", "seed must be at least 0, got -1"),
        ("mu = true", "mu must be a whole number, got True"),
        ("[es]\ninitial_sigma = nan", "es.initial_sigma must be a finite number"),
        ('strategy = "eva"\nlambda = 5', 'strategy "eva" requires lambda = mu, got mu = 10 and lambda = 5'),
        ('decks = ["thesis-paladn"]', "unknown deck 'thesis-paladn'; nearest: thesis-paladin"),
        ('decks = ["thesis-paladin", "thesis-paladin"]', "the same deck twice"),
        ("decks = []", "decks must not be empty"),
        ("decks = [1]", "decks.0 must be text, got 1"),
        ("es = 3", "es must be a table"),
        ('pool = "cloud"', "pool must be 'auto', 'local' or 'ray', got 'cloud'"),
        ('ruleset = "thesi"', "unknown ruleset 'thesi'; nearest: thesis"),
        ('backend = "gurobbi"', "unknown backend 'gurobbi'; nearest: gurobi"),
        ("schema = 2", "schema must be 1, got 2"),
        ("[fixed_weights]\nletal = 1", "fixed_weights: unknown weight 'letal'; nearest: lethal"),
        ('agent = "python:a:B"\n[fixed_weights]\nlethal = 1', "declares no parameters"),
        ("[fixed_weights]\nlethal = -1", "fixed_weights: lethal must be a finite number >= 0"),
        ("[fixed_weights]\nthreat = inf", "fixed_weights.threat must be a finite number"),
        ("[fixed_weights]\nattack = 1", 'attack is not in the weights "thesis", only in a larger set'),
        ('strategy = "cma"\nmu = 5\n[initial_weights]\nface = 1.5', "initial_weights.face must be at most 1"),
        ("[initial_weights]\nface = 0.5", 'initial_weights: strategy "es" does not start from a point'),
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
    fixed = read_config("quickstart", ["fixed_weights={trade=0, survive=0}", "fixed_weights.lethal=100"])
    assert fixed.fixed_weights == {"trade": 0.0, "survive": 0.0, "lethal": 100.0}
    for text, message in (
        ("sed=7", "unknown key 'sed'; nearest: seed"),
        ("seed", "--set takes KEY=VALUE, got 'seed'"),
        ("address=auto", "^--set address=auto: a Ray cluster is chosen by --address only$"),
        ("decks=", "^--set decks=: decks must not be empty$"),
        (
            "agent=foo",
            "^--set agent=foo: agent must be 'ilp', 'lookahead', 'hearthsim', 'eva', 'greedy-ilp', 'minimax-td' or an agent from outside, got 'foo'$",
        ),
        ("strategy=foo", "^--set strategy=foo: .*known: es, eva, cma, spsa, nevergrad:NAME$"),
        ("seed=x", "^--set seed=x: seed must be a whole number, got 'x'$"),
        ("es.bounds=hard", "^--set es.bounds=hard: es.bounds must be 'clamp' or 'reflect', got 'hard'$"),
        ("decks=thesis-paladin,none", "^--set decks=thesis-paladin,none: unknown deck 'none'"),
        ("fixed_weights.letal=1", "^--set fixed_weights.letal=1: .*unknown weight 'letal'; nearest: lethal"),
        ("fixed_weights.lethal=x", "^--set fixed_weights.lethal=x: .*must be a number, got 'x'$"),
        ("weights.lethal=1", "unknown key 'weights.lethal'"),
        ("strategy=ex", "^--set strategy=ex: strategy: unknown strategy 'ex'; nearest: es"),
    ):
        with pytest.raises(ConfigError, match=message):
            read_config("quickstart", [text])


def test_decks_are_overridden_as_commands_write_them() -> None:
    both = ("thesis-warrior", "hearthsim-basic")
    for text in ("decks=thesis-warrior,hearthsim-basic", 'decks=["thesis-warrior", "hearthsim-basic"]'):
        assert read_config("quickstart", [text]).decks == both


def test_an_error_of_the_file_names_it_beside_one_of_an_option(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("games = 3")
    with pytest.raises(ConfigError) as error:
        read_config(file, ["seed=-1"])
    assert str(error.value) == (
        f"{file}: games must be a multiple of 2, got 3; --set seed=-1: seed must be at least 0, got -1"
    )


def test_the_schema_for_editors_is_that_of_this_version_and_named_by_every_shipped_file() -> None:
    """To write it again: manaforge config schema > configs/run.schema.json."""
    file = Path("configs/run.schema.json")
    assert json.loads(file.read_text()) == json_schema()
    for name in shipped_configs():
        assert Path(f"configs/{name}.toml").read_text().startswith(f"#:schema {file.name}\n")
    assert set(json_schema()["properties"]) == {key.partition(".")[0] for key, _ in key_descriptions()}


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
    # the place of a deck file does not matter
    assert mine.digest == config.changed(decks=["thesis-paladin"]).digest
    with pytest.raises(ConfigError, match="two decks with the same name"):
        config.changed(decks=[str(deck), "thesis-paladin"])
    before = mine.digest
    deck.write_text(source.replace("count = 2", "count = 2\nvalue = 9.0", 1))
    assert mine.digest == before  # a run keeps the decks that it began with
    assert config.changed(decks=[str(deck)]).digest != before


@given(st.text(max_size=60))
def test_any_text_is_a_configuration_or_our_error(text: str) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        with contextlib.suppress(ConfigError):
            read_config(file.name)


HASHES = {
    "quickstart": "bb78c77bb2ac0ef3f71d5fd25d8783ce0a0402822684595e9630ab39b6371e02",
    "eva": "8ff86269773335168efadd8d198428c96acae5c382922542be68b2a6b3857385",
    "gurobi": "9668aa47890014671e4d4a8e9c96288772f7cefdda6a58e99ebf04e1cd56c746",
    "study": "cd52da49c8d84f20952f26af0de97ac531327f4e38594a23c8bb45d2d3b8f13c",
}
"""Hashes of the shipped configurations from before strategies had their own sections."""


@pytest.mark.parametrize("name", HASHES)
def test_shipped_configurations_keep_their_hash(name: str) -> None:
    assert read_config(name).digest == HASHES[name]


def test_a_key_that_was_removed_may_stay_at_its_default(tmp_path: Path) -> None:
    file = tmp_path / "old.toml"
    file.write_text("racing = 0.0")
    assert read_config(file) == RunConfig()
    assert read_config("", ["racing=0"]) == RunConfig()
    assert "racing" not in read_config(file).to_toml()
    with pytest.raises(ConfigError, match=r"--set racing=0.1: racing = 0.1: this key was removed"):
        read_config("", ["racing=0.1"])
    with pytest.raises(ConfigError, match="this key was removed"):
        RunConfig().changed(racing=0.1)


def test_a_folder_with_a_removed_key_keeps_its_hash(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("racing = 0.05")
    stored = read_config(file, stored=True)
    assert stored.removed == {"racing": 0.05}
    assert stored.digest == "5ee3db928982ce810f163cdc02a277f015db18b52cb1bc27f20f966571867096"
    file.write_text("racing = [2001-01-01]")
    with pytest.raises(ConfigError, match="this key was removed"):
        read_config(file, stored=True)


def test_the_hash_covers_what_decides_the_games() -> None:
    base = RunConfig()
    known = dict(key_descriptions())
    assert set(ALWAYS_HASHED) | set(NEVER_HASHED) <= set(known)
    later = set(known) - set(ALWAYS_HASHED) - set(NEVER_HASHED)
    added = {"cma.initial_sigma", "cma.initial_mean", "weights", "options", "library", "deals", "parameters"}
    added |= {"benchmark", "fixed_weights", "initial_weights", "patches"}
    added |= {"games_growth", "games_most", "nevergrad.initial_mean", "nevergrad.budget"}
    added |= {f"spsa.{name}" for name in ("initial_mean", "c_end", "r_end", "pairs", "a_ratio")}
    added |= {f"opponents.{name}" for name in ("population", "fixed", "hall", "nash", "members", "games")}
    assert later == added, "keys added later"
    assert base.changed(generations=3, workers=2, pool="local").digest == base.digest
    assert base.changed(es={"initial_sigma": 0.1}).digest != base.digest
    assert base.changed(seed=2).digest != base.digest
    assert base.changed(cma={"initial_sigma": 0.25}).digest == base.digest, "its default"
    assert base.changed(cma={"initial_sigma": 0.3}).digest != base.digest


def test_an_agent_without_a_solver_meets_profiles_that_play_its_decks() -> None:
    """Its champion plays the thesis's seven, which need a solver of real cards where its decks have them."""
    assert read_config("eva").changed(agent="eva").backend == "exact"
    assert read_config("eva-2018").changed(agent="eva").backend == "auto"
    assert read_config("eva-2018").backend == "auto"


def test_a_strategy_says_what_sizes_it_takes() -> None:
    with pytest.raises(ConfigError, match=r'strategy "cma" selects at most half: mu <= lambda / 2'):
        RunConfig().changed(strategy="cma")
    assert RunConfig().changed(strategy="cma", **{"lambda": 20}).strategy_options.initial_sigma == 0.25
    with pytest.raises(ConfigError, match="nearest: cma"):
        RunConfig().changed(strategy="cmaes")


def test_a_second_name_of_a_ruleset_is_written_as_its_first() -> None:
    """So that the hash is the same, and old versions read what new ones write."""
    first, second = (RunConfig().changed(ruleset=name) for name in ("hearthsim", "competition"))
    assert second.ruleset == "hearthsim"
    assert first.digest == second.digest
    assert first.to_toml() == second.to_toml()


def test_options_of_the_agent_are_those_of_entrants() -> None:
    plain = read_config("quickstart", ["agent=lookahead"])
    for text in ("options=16", "options=budget=16", 'options="16"'):
        config = read_config("quickstart", ["agent=lookahead", text])
        assert config.option_values == find_entrant("lookahead@16").player.options
        assert config.digest != plain.digest
    (player,) = roster_of(config, [[0.5] * len(config.vector.names())]).players
    assert player.options == config.option_values
    assert plain.option_values == ()
    assert config.changed(options="").digest == plain.digest
    for text, message in (
        (
            "options=depht=3",
            "options \"depht=3\": unknown option 'depht' in 'depht=3'; the options are budget, depth, ",
        ),
        ("options=0", "budget must be a whole number from 1 to 512, got '0'"),
    ):
        with pytest.raises(ConfigError, match=message):
            read_config("quickstart", ["agent=lookahead", text])
    with pytest.raises(ConfigError, match='options "16": agent "eva" has no options'):
        read_config("quickstart", ["agent=eva", "options=16"])
    with pytest.raises(ConfigError, match='options "16": options need their names, such as secrets=VALUE'):
        read_config("quickstart", ["options=16"])


def test_the_default_ruleset_is_that_of_the_decks() -> None:
    assert RunConfig().ruleset == "thesis"
    assert RunConfig(decks=("basic-mage", "thesis-paladin"), backend="auto").ruleset == "standard"
    assert RunConfig(decks=("basic-mage",), ruleset="thesis", backend="auto").ruleset == "thesis"


def test_a_copy_with_other_decks_has_the_defaults_of_these() -> None:
    decks = ["basic-mage", "basic-hunter"]
    changed = read_config("quickstart").changed(seed=1).changed(decks=decks)
    assert changed.digest == read_config("quickstart", [f"decks={','.join(decks)}"]).digest
    assert (changed.ruleset, changed.benchmark) == ("standard", "panel")
    back = changed.changed(decks=["thesis-paladin"])
    assert (back.ruleset, back.benchmark) == ("thesis", "seven")
    given = RunConfig(ruleset="thesis", benchmark="seven").changed(decks=decks)
    assert (given.ruleset, given.benchmark) == ("thesis", "seven")


def test_a_stored_configuration_keeps_what_an_older_version_left_out() -> None:
    content = {"decks": ["basic-mage"], "ruleset": "standard", "backend": "auto"}
    stored = validate_config(RunConfig, content, "config.toml", stored=True)
    longer = stored.changed(generations=3)
    assert (stored.benchmark, longer.benchmark) == ("seven", "seven")
    assert longer.digest == stored.digest


def test_patches_become_a_part_of_the_decks(tmp_path: Path) -> None:
    file = tmp_path / "patched.toml"
    file.write_text('decks = ["basic-mage", "basic-hunter"]\npatches = ["Fireball cost=5"]', encoding="utf-8")
    config, plain = read_config(file), read_config("", ["decks=basic-mage,basic-hunter"])
    assert config.decks == ("CS2_029.cost=5:basic-mage", "CS2_029.cost=5:basic-hunter")
    assert config.patches == ()
    assert config.digest != plain.digest
    assert [deck.patch.texts for deck in config.found_decks] == [["Fireball cost=5"]] * 2
    assert read_config("", ["decks=basic-mage,basic-hunter", "patches=Fireball cost=5"]) == config
    assert config.changed(seed=2).decks == config.decks
    (tmp_path / "nerfs.toml").write_text('patches = ["Fireball cost=5"]', encoding="utf-8")
    file.write_text('decks = ["basic-mage", "basic-hunter"]\npatches = ["nerfs.toml"]', encoding="utf-8")
    assert read_config(file) == config
    for text, message in (
        ("patches=Fireball size=5", "has no number 'size' to change"),
        ("patches=Firebal cost=5", "unknown card 'Firebal'"),
        ("patches=Wrath cost=5", "is in none of the decks"),
        ("patches=3", "patches must be"),
    ):
        with pytest.raises(ConfigError, match=message):
            read_config("", ["decks=basic-mage,basic-hunter", text])
