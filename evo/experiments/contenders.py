"""What takes part in a comparison of optimisers: a strategy, and what its runs do differently."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evo.config import ConfigOptionError, RunConfig
from evo.configfiles import read_config
from evo.evolution.run import games_of_generation
from evo.strategies import find_strategy, section_of


@dataclass(frozen=True)
class Contender:
    """A strategy with its settings.

    Attributes:
        text: as it was named, `NAME` or `NAME@KEY=VALUE,...`.
        config: of its runs, without generations and final.
        set: keys that its text or the user set.
    """

    text: str
    config: RunConfig
    set: frozenset[str]

    @property
    def scheduled(self) -> bool:
        """Whether a schedule of its steps ends with its budget: then every budget has its own runs."""
        return bool(self._schedule(1))

    def within(self, budget: int, seed: int) -> RunConfig:
        """The configuration of a run of at most so many games, schedule included.

        Raises:
            ConfigOptionError: generation 0 alone has more.
        """
        config, games, generation = self.config, 0, 0
        while (games := games + games_of_generation(config, generation)) <= budget:
            generation += 1
        if not generation:
            raise ConfigOptionError(
                f"{self.text}: generation 0 alone has {games:,} games, more than the budget of {budget:,}; "
                "set fewer games or individuals"
            )
        section, schedule = section_of(config.strategy), self._schedule(generation)
        more = {section: getattr(config, section).model_dump() | schedule} if schedule else {}
        return config.changed(seed=seed, generations=generation - 1, **more)

    def _schedule(self, generations: int) -> dict[str, Any]:
        """Options that end the strategy's schedule with these generations, but for those that are set."""
        config = self.config
        games = sum(map(config.games_in, range(generations))) * len(config.decks) ** 2
        found = find_strategy(config.strategy).schedule(generations, config.lambda_, games)
        section = section_of(config.strategy)
        return {key: value for key, value in found.items() if f"{section}.{key}" not in self.set}


def find_contender(text: str, config: str, overrides: Sequence[str] = ()) -> Contender:
    """A contender by its text: a strategy, and after `@` what its runs do differently.

    Without `mu` and `lambda` it has as many individuals in a generation as the configuration's mu gives a
    (mu + lambda) strategy, or what is usual for it.

    Args:
        text: such as "cma" or "es@deals=own,games=8".
        config: name or file of the configuration.
        overrides: of the configuration, `KEY=VALUE`.

    Raises:
        ConfigError: it cannot be used; the message names the key.
    """
    if told := [one for one in overrides if one.partition("=")[0] == "strategy"]:
        raise ConfigOptionError(f"--set {told[0]}: strategies are named by --optimiser")
    name, _, rest = text.partition("@")
    own = [part for part in rest.split(",") if part]
    if wrong := [part for part in own if "=" not in part]:
        raise ConfigOptionError(f"optimiser {text!r}: settings after @ are KEY=VALUE, got {wrong[0]!r}")
    keys = [one.partition("=")[0] for one in (*overrides, *own)]
    base = read_config(config, [*overrides, "strategy=es"])
    sizes = {"mu", "lambda"} - {one.partition("=")[0] for one in own}
    usual = dict(zip(("mu", "lambda"), find_strategy(name).usual(base.mu), strict=True))
    settings = [f"strategy={name}", *(f"{key}={usual[key]}" for key in sorted(sizes)), *own]
    never = ["generations=0", "final.games=0", "final.benchmark_games=0", "validation.every=0"]
    found = read_config(config, [*overrides, *settings, *never])
    return Contender(text, found, frozenset(keys))
