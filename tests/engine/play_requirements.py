"""Effect rows and the play requirements of the card base: do both aim a card at the same characters?"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.codes import Keyword
from engine.effect_codes import ENEMY, HEROES, MINIONS, OWN, Condition, Filter, Op, Pick
from engine.effects.rows import Effect
from tools.card_tables import read_play_requirements

_AIMED = {
    11: None,
    22: None,
    24: Condition.COMBO,
    51: Condition.HOLDS_RACE,
    56: Condition.OWN_MINIONS,
    59: Condition.SECRET,
    65: Condition.ELEMENTAL_LAST_TURN,
    75: Condition.ONLY_EVEN,
}
"""Requirements that say that a card is aimed at a character, and under which condition."""

_KIND = {1: MINIONS, 17: HEROES}
_SIDE = {2: OWN, 3: ENEMY}
_FILTER = {
    4: Filter.DAMAGED,
    6: Filter.FROZEN,
    8: Filter.ATTACK_AT_MOST,
    10: Filter.RACE,
    41: Filter.ATTACK_AT_LEAST,
    46: Filter.TAUNT,
    47: Filter.UNDAMAGED,
    58: Filter.DEATHRATTLE,
    62: Filter.KEYWORD,
}
_MINIONS_ONLY = Filter.RACE | Filter.DEATHRATTLE | Filter.TAUNT

Aim = tuple[int, int, int, int, int]
"""Side, kind, filter, what the filter compares with, and the `Condition` of a target, 0 for none."""


def disagreements(path: Path, effects: Mapping[str, Sequence[Effect]]) -> list[str]:
    """Cards whose first row with a chosen target and whose requirements differ, one line each.

    Args:
        path: CardDefs.xml of the edition's build.
        effects: rows by card id.
    """
    needs = read_play_requirements(path)
    found = []
    for name, rows in sorted(effects.items()):
        if rows[0].op == Op.CHOOSE_ONE:  # each option is a card with targets of its own
            continue
        ours = next((_aim(row) for row in rows if row.pick == Pick.CHOSEN), None)
        theirs = required(needs.get(name, []))
        if ours != theirs:
            found.append(f"{name}: rows aim at {ours}, the card at {theirs}")
    return found


def required(listed: Sequence[tuple[int, int]]) -> Aim | None:
    """What a card may be aimed at by its requirements, (number, parameter) each; None where at nothing."""
    numbers = {number for number, _ in listed}
    aimed = [_AIMED[number] for number in numbers if number in _AIMED]
    if not aimed:
        return None
    kind = sum({_KIND[number] for number in numbers if number in _KIND}) or MINIONS | HEROES
    side = sum({_SIDE[number] for number in numbers if number in _SIDE}) or OWN | ENEMY
    asked = sum({_FILTER[number] for number in numbers if number in _FILTER})
    arg = max((parameter for number, parameter in listed if number in (8, 10, 41)), default=0)
    if asked & _MINIONS_ONLY:
        kind = MINIONS
    if asked & Filter.KEYWORD:
        arg = int(Keyword.STEALTH)
    return side, kind, asked, arg, next((int(condition) for condition in aimed if condition), 0)


def _aim(row: Effect) -> Aim:
    condition = int(row.condition) if row.condition in _AIMED.values() else 0
    return row.side, row.kind, row.filter, row.arg, condition
