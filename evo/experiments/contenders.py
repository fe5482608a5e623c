"""What takes part in a comparison of optimisers: a strategy, and what its runs do differently."""

from collections.abc import Sequence
from dataclasses import dataclass

from evo.config import ConfigOptionError, RunConfig
from evo.configfiles import find_config, read_config, read_toml
from evo.evolution.run import games_of_generation
from evo.strategies import find_strategy, section_of

OURS = ("generations", "final", "validation", "pool", "workers")
"""Keys and sections that a comparison sets itself."""

SHARED = ("agent", "options", "library", "decks", "ruleset", "weights", "backend", "seed", "strategy")
"""Keys that all contenders share: they are rated as players of one kind on the same games."""

REFUSED = {
    **dict.fromkeys(SHARED, "all optimisers share it, and --set sets it"),
    "strategy": "--optimiser names strategies",
    "lambda": "it follows from mu, or is set after @",
}
"""Who sets a key instead."""


@dataclass(frozen=True)
class Contender:
    """A strategy with its settings.

    Attributes:
        text: as it was named, `NAME` or `NAME@KEY=VALUE,...`.
        config: of its runs, without generations and final.
        set: keys that its text, the user or the configuration's file set.
    """

    text: str
    config: RunConfig
    set: frozenset[str]

    @property
    def scheduled(self) -> bool:
        """Whether a schedule of its steps ends with its budget: then every budget has its own runs."""
        return bool(self._unsaid)

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
        section = section_of(self.config.strategy)
        unsaid = dict.fromkeys(self._unsaid, 0)  # as long as the run, which the configuration sees to
        more = {section: getattr(config, section).model_dump() | unsaid} if unsaid else {}
        return config.changed(seed=seed, generations=generation - 1, **more)

    @property
    def _unsaid(self) -> list[str]:
        """The options of the strategy's schedule that nobody set."""
        section, strategy = section_of(self.config.strategy), find_strategy(self.config.strategy)
        keys = strategy.schedule(1, self.config.lambda_, 2)
        return [key for key in keys if f"{section}.{key}" not in self.set]


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
    name, _, rest = text.partition("@")
    own = [part for part in rest.split(",") if part]
    if text.endswith("@"):
        raise ConfigOptionError(f"optimiser {text!r}: settings after @ are KEY=VALUE, got none")
    if wrong := [part for part in own if "=" not in part]:
        raise ConfigOptionError(f"optimiser {text!r}: settings after @ are KEY=VALUE, got {wrong[0]!r}")
    keys, shared = ([one.partition("=")[0] for one in some] for some in (own, overrides))
    _refuse(f"optimiser {text!r}", keys, SHARED)
    _refuse("--set", shared, ("strategy", "lambda"))
    mu = read_config(
        config, [*overrides, "strategy=es", *(one for one in own if one.startswith("mu="))], begins=True
    ).mu
    usual = dict(zip(("mu", "lambda"), find_strategy(name).usual(mu), strict=True))
    sizes = [f"{key}={value}" for key, value in usual.items() if key not in keys]
    never = ["generations=0", "final.games=0", "final.benchmark_games=0"]
    never += ["validation.every=0", "validation.stop_when_gain_below=0"]
    found = read_config(config, [*overrides, f"strategy={name}", *sizes, *own, *never], begins=True)
    said = read_toml(find_config(config), "configuration") if config else {}
    in_file = (f"{key}.{one}" for key, value in said.items() if isinstance(value, dict) for one in value)
    return Contender(text, found, frozenset((*keys, *shared, *in_file)))


def _refuse(where: str, keys: Sequence[str], more: Sequence[str]) -> None:
    """Refuse keys that a comparison sets itself, and more.

    Raises:
        ConfigOptionError: one is there; the message tells who sets it.
    """
    for key in keys:
        if key in (*OURS, *more) or key.partition(".")[0] in OURS:
            by = REFUSED.get(key, "the comparison sets it itself")
            raise ConfigOptionError(f"{where}: {key} cannot be set here: {by}")
