"""What may follow an action, by the reference: lines for `tests/data/effects_table.csv`, to be read before they count.

python -m tests.reference.outcomes "turn 5 | hero 30 mana 4 hand [Fireball*] | hero 30" "play 0 -> hero"
"""

import csv
import sys
from collections.abc import Iterator
from fractions import Fraction

from engine import Position, parse_position
from tests.reference.game import RealGame
from tests.reference.record import game_of, record_of


class OpenError(Exception):
    """An event of chance whose outcome was not given; the argument says how many it has."""


def given_chance(game: RealGame, outcomes: tuple[int, ...]) -> None:
    """Let the next events of a game have these outcomes; a further one raises `OpenError`. Modified in place."""
    left = list(outcomes)

    def chance(n: int) -> int:
        if n <= 1:
            return 0
        if not left:
            raise OpenError(n)
        return left.pop(0)

    game.chance = chance


def outcomes_by_reference(position: Position, action: str) -> dict[str, Fraction]:
    """Every position that may follow a legal action, as text, with its probability.

    Args:
        position: without hidden cards; not changed.
        action: as text.

    Returns:
        The positions; none where the action is illegal.
    """
    if action not in game_of(position, None).legal():
        return {}
    found: dict[str, Fraction] = {}
    for after, share in _branches(position, action):
        found[after] = found.get(after, Fraction(0)) + share
    assert sum(found.values()) == 1
    return found


def _branches(position: Position, action: str) -> Iterator[tuple[str, Fraction]]:
    waiting: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    while waiting:
        outcomes, share = waiting.pop()
        game = game_of(position, None)
        given_chance(game, outcomes)
        try:
            game.act(action)
        except OpenError as error:
            n = error.args[0]
            waiting += [((*outcomes, one), share / n) for one in reversed(range(n))]
            continue
        yield str(Position(record_of(game)[0], position.table)), share


if __name__ == "__main__":
    found = outcomes_by_reference(parse_position(sys.argv[1]), sys.argv[2])
    lines = [[str(share), after] for after, share in found.items()] or [["0", "illegal"]]
    heads = [["", "", *sys.argv[1:3]]] + [[""] * 4] * (len(lines) - 1)
    rows = [head + line for head, line in zip(heads, lines, strict=True)]
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows)
