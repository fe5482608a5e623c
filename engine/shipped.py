"""Names of what comes with the package, without loading it."""

import tomllib
from importlib import resources

DATA = resources.files("engine") / "data"
"""The package's data files."""

EDITION_NAMES = ("2018-07", "newest")
"""The editions of real cards (`engine.cards.real`)."""

BALANCED = "standard"
"""The ruleset in which going first counts least (docs/game.md)."""


def shipped_decks() -> list[str]:
    """Names of the decks that come with the package."""
    files = (entry.name for entry in (DATA / "decks").iterdir())
    return sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml"))


def shipped_rulesets() -> list[str]:
    """Names of the rulesets, in the order of their file."""
    return list(tomllib.loads((DATA / "rulesets.toml").read_text(encoding="utf-8")))
