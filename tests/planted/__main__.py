"""`python -m tests.planted`: draw faults, plant them one by one, and say what share the fast suite finds."""

import argparse
import math
from collections import Counter
from pathlib import Path
from typing import Any

from tests.planted import drawing
from tests.planted.measuring import measure, results


def interval(killed: int, number: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927)."""
    z = 1.959964
    middle = (killed + z * z / 2) / (number + z * z)
    half = z * math.sqrt(killed * (number - killed) / number + z * z / 4) / (number + z * z)
    return middle - half, middle + half


def summary(entries: list[dict[str, Any]]) -> str:
    """What share of the faults was found, and those that were not."""
    absent = [entry for entry in entries if entry["result"] == "absent"]
    entries = [entry for entry in entries if entry["result"] != "absent"]
    if not entries:
        return "no faults"
    counts = Counter(entry["result"] for entry in entries)
    low, high = interval(counts["killed"], len(entries))
    lines = [
        f"{counts['killed']} of {len(entries)} faults found, {counts['killed'] / len(entries):.1%} "
        f"(95 %: {low:.1%} to {high:.1%}); {counts['unreached']} are reached by no test, "
        f"{counts['limit']} had no time for all their tests; places that this tree lacks: {len(absent)}"
    ]
    for entry in entries:
        if entry["result"] != "killed":
            lines.append(
                f"{entry['number']} {entry['result']}: {entry['file']}:{entry['line']}: {entry['text']}"
            )
            lines.append(f"    {entry['was']}  ->  {str(entry['now']).strip()}")
    return "\n".join(lines)


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(prog="python -m tests.planted", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--n", type=int, default=200, help="faults to draw")
    parser.add_argument("--first", type=int, help="plant only so many, in the order of the draw")
    parser.add_argument("--tree", type=Path, default=Path(), help="a work tree after `make setup`")
    parser.add_argument("--other", type=Path, help="draw only from files that this tree has as well")
    parser.add_argument(
        "--work", type=Path, default=Path("build/planted"), help="for copies, logs and the draw"
    )
    parser.add_argument("--drawn", type=Path, help="a draw to use or to make (WORK/drawn.jsonl)")
    parser.add_argument("--out", type=Path, help="results, appended (WORK/results.jsonl)")
    parser.add_argument("--processes", type=int, default=2, help="faults planted at a time")
    parser.add_argument("--limit", type=float, default=300, help="seconds of processor time for a fault")
    options = parser.parse_args()
    work, tree = options.work.resolve(), options.tree.resolve()
    work.mkdir(parents=True, exist_ok=True)
    drawn, out = options.drawn or work / "drawn.jsonl", options.out or work / "results.jsonl"
    if not drawn.exists():
        drawing.write(drawn, drawing.draw(tree, options.seed, options.n, options.other))
    mutants = drawing.read(drawn)
    chosen = mutants[: options.first]
    measure(tree, work, mutants, chosen, out, processes=options.processes, limit=options.limit)
    numbers = {mutant.number for mutant in chosen}
    print(summary([entry for entry in results(out) if entry["number"] in numbers]))


if __name__ == "__main__":
    main()
