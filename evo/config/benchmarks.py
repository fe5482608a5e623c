"""The benchmarks: fixed opponents that a run's champion and validations are measured against.

Fitness is relative to the population; only games against fixed opponents show absolute strength. The seven
profiles of the thesis serve on decks of minions. On real cards random weights win half their games against
them, so a panel of three agents serves there that random weights lose to (docs/measurements.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Benchmark:
    """A named list of fixed opponents.

    Attributes:
        name: value of the configuration key `benchmark`.
        short: the opponents in headings and progress lines, "the seven" or "the panel".
        title: the opponents in a sentence, "the thesis's seven" or "the panel".
        owner: whose the opponents are, "the thesis's" or "the panel's", before their number.
        long: the opponents at first mention.
        stage: value of the column `stage` of the opponents' rows in `final.parquet`.
        record: key of the champion's record against all of them, in the provenance of `champion.toml`.
        opponents: their entrant texts by their names in tables, in order.
    """

    name: str
    short: str
    title: str
    owner: str
    long: str
    stage: str
    record: str
    opponents: Mapping[str, str]

    @property
    def best(self) -> str:
        """Name of the score of a generation's best."""
        return f"best against {self.short}"

    @property
    def centre(self) -> str:
        """Name of the score of the strategy's centre."""
        return f"centre against {self.short}"

    @property
    def champion(self) -> str:
        """Name of the champion's score in the final."""
        return f"champion against {self.short}"


SEVEN = Benchmark(
    "seven",
    "the seven",
    "the thesis's seven",
    "the thesis's",
    "the thesis's seven profiles",
    "thesis",
    "against_thesis_seven",
    MappingProxyType(
        {
            name: f"ilp:{name}"
            for name in (
                "keep-alive",
                "board-clear",
                "aggro-face",
                "value-trading",
                "aggro-tempo",
                "true-balanced",
                "author-favorite",
            )
        }
    ),
)
"""The thesis's seven hand-made profiles of the turn program."""

PANEL = Benchmark(
    "panel",
    "the panel",
    "the panel",
    "the panel's",
    "the panel of lookahead, hearthsim:standard and minimax-td",
    "panel",
    "against_panel",
    MappingProxyType({name: name for name in ("lookahead", "hearthsim:standard", "minimax-td")}),
)
"""Three agents of different methods that evaluate the whole position, each strong on real cards."""

BENCHMARKS = {benchmark.name: benchmark for benchmark in (SEVEN, PANEL)}
"""All benchmarks by name."""
