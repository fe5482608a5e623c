"""Versions of all engine parts that affect games; those of solvers are in `ilp_agent.versions`."""

import hashlib
import sys
from functools import cache
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from engine.codes import RULES_VERSION
from engine.jit import fingerprint


@cache
def engine_versions() -> dict[str, str]:
    """Versions of package, Python, numerical libraries, rules, cards, kernels."""
    data = resources.files("engine") / "data"
    cards = b"".join((data / name).read_bytes() for name in ("cards.csv", "other_cards.csv", "rulesets.toml"))
    try:
        package = version("manaforge")
    except PackageNotFoundError:  # a source tree that is not installed
        package = "not installed"
    libraries = {name: version(name) for name in ("numba", "numpy")}
    return {
        "manaforge": package,
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        **libraries,
        "rules": str(RULES_VERSION),
        "cards": hashlib.blake2b(cards, digest_size=6).hexdigest(),
        "kernels": fingerprint(Path(__file__).resolve().parents[1]),
    }
