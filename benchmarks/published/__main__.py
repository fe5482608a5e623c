"""Run the parts' commands, store their results, and write the page. `--help` lists the options."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.published import eva, hearthsim, minimax, thesis
from benchmarks.published.jobs import CORES, run_jobs
from benchmarks.published.pages import duration, fill

PARTS = {"thesis": thesis.PART, "hearthsim": hearthsim.PART, "minimax": minimax.PART, "eva": eva.PART}
RESULTS = Path(__file__).parent / "results"
PAGE = Path("docs/published.md")
FIGURES = Path("docs/figures")


def write(parts: Sequence[str], page: Path = PAGE, figures: Path | None = FIGURES) -> str:
    """Make the page from the kept results, and draw its figures.

    Args:
        parts: names of the parts whose blocks are written.
        page: is read; the caller writes it.
        figures: folder of the figures; None: none are drawn.

    Returns:
        The page.
    """
    text = page.read_text(encoding="utf-8")
    for name in parts:
        text = fill(text, PARTS[name].blocks(RESULTS))
        if figures is not None:
            for figure, drawn in PARTS[name].draw(RESULTS).items():
                (figures / f"{figure}.png").write_bytes(drawn)
    return text


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.published", description=__doc__.split("\n")[0]
    )
    parser.add_argument(
        "--parts", default=",".join(PARTS), help=f"of {', '.join(PARTS)}; none: only write the page again"
    )
    parser.add_argument("--again", action="store_true", help="run also what build/published has already")
    chosen = parser.parse_args(arguments)
    parts = [] if chosen.parts == "none" else [part for part in chosen.parts.split(",") if part]
    if unknown := set(parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    RESULTS.mkdir(exist_ok=True)
    for name in parts:
        run_jobs(PARTS[name].jobs, chosen.again)
        PARTS[name].take(RESULTS)
        took = sum(job.seconds * job.cores for job in PARTS[name].jobs) / CORES
        print(f"{name}: {duration(took)}", flush=True)
    try:
        text = write(parts or list(PARTS))
    except FileNotFoundError as error:
        raise SystemExit(f"{error.filename} is missing; --parts with its part makes it") from None
    PAGE.write_text(text, encoding="utf-8")
    print(f"written: {PAGE} and its figures")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("stopped; the same command goes on") from None
