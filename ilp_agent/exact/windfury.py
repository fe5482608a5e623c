"""What a minion with two attacks has done so far: one digit of the exact solver's state.

Whether it dies depends on both its hits, so the digit remembers of the first what the second must know:

    0 NONE    no hit yet             1 DONE  both made, or none left
    2 FATAL   one hit that kills it (without a shield: so it must be the second, and the other harmless
              enough to come first; with one: absorbed, but no second such hit is survived)
    without a shield                 with a shield
    3 and on  one hit, survived,     3 HURT      one hit that pops the shield
              by class of damage     4 HARMLESS  one hit on an enemy of attack 0
                                     5 POPPED    one hit, and it comes first for sure (it was on a guard)

Two damages are one class when the same second hits kill after either.
"""

import numpy as np

from engine.jit import njit
from ilp_agent.exact.hits import kills_attacker, shielded
from ilp_agent.exact.work import MAX_BLOCKS

NONE, DONE, FATAL, FIRST_CLASS, HURT, HARMLESS, POPPED = 0, 1, 2, 3, 3, 4, 5

IMPOSSIBLE = -1
LIVES, DIES, MAY_DIE = 0, 1, 2
"""What becomes of it: `MAY_DIE` where the order of its two hits decides, and both orders are legal."""


@njit
def grade_hits(turn: np.void, n_single: int, n_double: int, n_targets: int, work: np.void) -> int:
    """Fill kind, grade, graded, radix, stride and digits; returns the product of the radices.

    `work` is modified in place.
    """
    states = 1
    for r in range(n_double):
        friend = turn["friends"][work["source"][n_single + r]]
        for t in range(n_targets):
            enemy = turn["enemies"][work["target"][t]]
            work["kind"][r, t] = 0
            if kills_attacker(friend, enemy):
                work["kind"][r, t] = 2
            elif enemy["attack"] > 0:
                work["kind"][r, t] = 1
        if shielded(friend):
            work["radix"][r] = POPPED + 1
        else:
            work["radix"][r] = FIRST_CLASS + _grade(turn, friend, r, n_targets, work)
        work["stride"][r] = states
        states *= work["radix"][r]
    for combination in range(min(states, MAX_BLOCKS)):
        for r in range(n_double):
            work["digits"][combination, r] = (combination // work["stride"][r]) % work["radix"][r]
    return states


@njit
def _grade(turn: np.void, friend: np.void, r: int, n_targets: int, work: np.void) -> int:
    """Class the damages that source `r` survives; returns how many classes. `work` is modified in place."""
    n = 0
    ranks = work["ranks"]
    for t in range(n_targets):
        if work["kind"][r, t] == 2:
            continue
        damage = turn["enemies"][work["target"][t]]["attack"]
        rank = 0
        for other in range(n_targets):
            strong = turn["enemies"][work["target"][other]]["attack"] >= friend["health"] - damage
            if work["kind"][r, other] != 2 and strong:
                rank += 1
        found = n
        for c in range(n):
            if ranks[c] == rank:
                found = c
        if found == n:
            ranks[n] = rank
            work["graded"][r, n] = damage
            n += 1
        work["grade"][r, t] = found
    return n


@njit
def step(
    shield: bool, health: int, damage: int, kind: int, grade: int, graded: np.ndarray, digit: int, count: int
) -> tuple[int, int]:
    """One or two hits of a two-attack source on one target.

    Args:
        shield: whether it has Divine Shield at the start of the turn.
        health: its health.
        damage: the target's attack.
        kind: what that does to it unshielded: 0 nothing, 1 hurts, 2 kills.
        grade: the class of that damage.
        graded: damage of each class of this source.
        digit: what it has done so far.
        count: hits on this target, 1 or 2.

    Returns:
        The new digit or `IMPOSSIBLE`, and `LIVES`, `DIES` or `MAY_DIE`.
    """
    if digit == DONE or (count == 2 and digit != NONE):
        return IMPOSSIBLE, LIVES
    if shield:
        if count == 2:
            return DONE, DIES if kind == 2 else LIVES
        if digit == NONE:
            return (FATAL if kind == 2 else HURT if kind == 1 else HARMLESS), LIVES
        if digit == FATAL:
            return DONE, DIES if kind == 2 else MAY_DIE if kind == 1 else LIVES
        if digit == HURT:
            return DONE, MAY_DIE if kind == 2 else LIVES
        if digit == POPPED:
            return DONE, DIES if kind == 2 else LIVES
        return DONE, LIVES
    if count == 2:
        return (IMPOSSIBLE, LIVES) if kind == 2 else (DONE, DIES if 2 * damage >= health else LIVES)
    if digit == NONE:
        return (FATAL, DIES) if kind == 2 else (FIRST_CLASS + grade, LIVES)
    if digit == FATAL:
        return (IMPOSSIBLE, LIVES) if kind == 2 else (DONE, LIVES)
    return DONE, DIES if kind == 2 or graded[digit - FIRST_CLASS] + damage >= health else LIVES


@njit
def after_guards(shield: bool, digit: int) -> int:
    """The digit once all guards are dead: hits on them came first."""
    if shield:
        return POPPED if digit in (FATAL, HURT) else digit
    return DONE if digit == FATAL else digit


@njit
def hero_hits(digit: int) -> int:
    """Attacks left for the hero."""
    return 2 if digit == NONE else 0 if digit == DONE else 1
