"""`python -m tests.reference 10000` plays that many random games in the engine and in the reference."""

import sys
import time
from collections import Counter

import typer

from tests.reference.compare import KINDS, DisagreementError, play_both

SHOWN = 5


def main(games: int, start: int = 0, kinds: str = ",".join(KINDS)) -> None:
    """Compare engine and reference in random games with real cards; ends with 1 where they differ.

    Args:
        games: how many.
        start: number of the first; the same numbers are the same games.
        kinds: kinds of decks, which take turns.
    """
    names, since = kinds.split(","), time.monotonic()
    actions, differing, played = 0, 0, Counter()
    for number in range(start, start + games):
        kind = names[number % len(names)]
        try:
            actions += play_both(number, kind)
        except DisagreementError as error:
            differing += 1
            if differing <= SHOWN:
                print(error, flush=True)
        played[kind] += 1
        if (number - start + 1) % 500 == 0:
            print(f"{number - start + 1} games, {differing} differ", file=sys.stderr, flush=True)
    counts = ", ".join(f"{n} {kind}" for kind, n in played.items())
    print(
        f"{games} games ({counts}), {actions} actions, {differing} differ, {time.monotonic() - since:.0f} s"
    )
    sys.exit(differing > 0)


if __name__ == "__main__":
    typer.run(main)
