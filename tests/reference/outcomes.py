"""What may follow an action, by the reference: lines for `tests/data/effects_table/`, to be read before they count.

python -m tests.reference.outcomes "turn 5 | hero 30 mana 4 hand [Fireball*] | hero 30" "play 0 -> hero"
python -m tests.reference.outcomes cases.csv

The file has a card's id, a position and an action on each line; an empty id or position is that of the line
above.
"""

import csv
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from engine import Position, parse_position
from engine.cards.real import edition
from tests.reference.game import RealGame
from tests.reference.record import game_of, record_of

MOST_LISTED = 24
"""Of more outcomes the first two and the last are listed; the others are one line, `OTHERS`."""

OTHERS = "others"


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


def lines_of(card: str, position: str, action: str) -> list[list[str]]:
    """The lines of the table for an action: id, name, position, action, probability, what follows."""
    found = list(outcomes_by_reference(parse_position(position), action).items()) or [
        ("illegal", Fraction(0))
    ]
    if len(found) > MOST_LISTED:
        listed = [*found[:2], found[-1]]
        found = [*listed, (OTHERS, 1 - sum((share for _, share in listed), Fraction(0)))]
    name = edition().by_id[card].name if card else ""
    heads = [[card, name, position, action]] + [[""] * 4] * (len(found) - 1)
    return [[*head, str(share), after] for head, (after, share) in zip(heads, found, strict=True)]


def cases_of(path: Path) -> Iterator[list[str]]:
    """The lines of the table for every case of a file."""
    above, id_above = "", ""
    for card, position, action in csv.reader(path.read_text(encoding="utf-8").splitlines()):
        lines = lines_of(card if card != id_above else "", position or above, action)
        lines[0][2] = position if position != above or card not in ("", id_above) else ""
        above, id_above = position or above, card or id_above
        yield from lines


if __name__ == "__main__":
    drafted = lines_of("", *sys.argv[1:]) if len(sys.argv) == 3 else cases_of(Path(sys.argv[1]))
    csv.writer(sys.stdout, lineterminator="\n").writerows(drafted)
