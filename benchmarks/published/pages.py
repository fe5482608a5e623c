"""The page's blocks: Markdown between `<!-- begin NAME -->` and `<!-- end NAME -->`, written anew."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd
from scipy.stats import beta

from benchmarks.published.jobs import CORES, Job

WIDTH = 120
_BLOCK = re.compile(r"(<!-- begin ([a-z0-9-]+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)


def fill(text: str, blocks: Mapping[str, str]) -> str:
    """A page with some of its blocks written anew; the others stay.

    Raises:
        ValueError: the page has no place for a block.
    """
    missing = set(blocks) - {match[2] for match in _BLOCK.finditer(text)}
    if missing:
        raise ValueError(f"the page has no place for {', '.join(sorted(missing))}")
    return _BLOCK.sub(
        lambda match: (
            f"{match[1]}\n{blocks[match[2]].strip()}\n\n{match[3]}" if match[2] in blocks else match[0]
        ),
        text,
    )


def prose(*sentences: str) -> str:
    """A paragraph, wrapped.

    Raises:
        ValueError: a line would begin as one of a list does.
    """
    text = textwrap.fill(" ".join(sentences), WIDTH, break_long_words=False, break_on_hyphens=False)
    if re.search(r"^([-+*#>|] |\d+[.)] )", text, re.MULTILINE):
        raise ValueError(f"a line of this paragraph is a mark of Markdown: {text}")
    return text


def items(*texts: str) -> str:
    """A list, wrapped."""
    return "\n".join(
        textwrap.fill(
            text,
            WIDTH,
            initial_indent="- ",
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for text in texts
    )


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def picture(name: str, words: str) -> str:
    """A figure of the page."""
    return f"![{words}](figures/{name}.png)"


class Share(NamedTuple):
    """A share of games with its 95% interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, points: float, games: int) -> "Share":
        """Of independent games, by Clopper and Pearson; a draw is half a point."""
        low = beta.ppf(0.025, points, games - points + 1) if points > 0 else 0.0
        high = beta.ppf(0.975, points + 1, games - points) if points < games else 1.0
        return cls(points / games, float(low), float(high))

    def holds(self, value: float) -> bool:
        """Whether a value lies in the interval."""
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{percent(self.value)} ({percent(self.low)} to {percent(self.high)})"


def percent(value: float, places: int = 1) -> str:
    """A share as a percentage."""
    return f"{100 * value:.{places}f}%"


def listed(words: Sequence[str]) -> str:
    """Words with commas and `and`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def duration(seconds: float) -> str:
    """A time in words."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def jobs_table(jobs: Sequence[Job], kept: pd.DataFrame) -> str:
    """The commands behind a part of the page, with seed and time.

    Args:
        jobs: in the order to show.
        kept: columns command, seed, seconds; index: the job's name.
    """
    rows = []
    for job in jobs:
        row = kept.loc[job.name]
        rows.append([f"`{row['command']}`", str(row["seed"]), duration(float(row["seconds"]))])
    total = sum(float(kept.loc[job.name, "seconds"]) * job.cores for job in jobs) / CORES
    words = "together" + (", those on one core side by side" if any(job.cores == 1 for job in jobs) else "")
    return table(["command", "seed", "time"], [*rows, [words, "", duration(total)]])
