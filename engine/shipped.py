"""Names of the shipped decks, rulesets and card editions, listed without loading them."""

import tomllib
from importlib import resources

DATA = resources.files("engine") / "data"
"""The package's data files."""

EDITION_NAMES = ("2018-07", "newest")
"""The editions of real cards (`engine.cards.real`)."""

BALANCED_RULESET = "standard"
"""Ruleset with the smallest advantage of going first (docs/game.md); the default for decks with a class."""

MINION_RULESET = "thesis"
"""Ruleset of the thesis; the default for decks of minions alone."""


def shipped_decks() -> list[str]:
    """Names of the shipped decks."""
    files = (entry.name for entry in (DATA / "decks").iterdir())
    return sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml"))


def shipped_rulesets() -> list[str]:
    """Names of the shipped rulesets, in file order."""
    return list(tomllib.loads((DATA / "rulesets.toml").read_text(encoding="utf-8")))
