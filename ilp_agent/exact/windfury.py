"""What a minion with two attacks has done so far: one digit of the exact solver's state.

Whether it dies depends on both its hits, so the digit remembers of the first what the second must know:

    0 NONE    no hit yet             1 DONE  both made, or none left
    2 FATAL   one hit that kills it (without a shield: so it must be the second, and the other harmless
              enough to come first; with one: absorbed, but no second such hit is survived)
    without a shield                 with a shield
    3 and on  one hit, survived,     3 HURT      one hit that pops the shield
              by class of damage     4 HARMLESS  one hit on an enemy of attack 0
                                     5 POPPED    one hit, and it comes first for sure (it was on a guard)
                                     6 and on    HURT by further classes of damage

Two damages are one class when the same second hits kill after either; with a shield all are. With a weight on
what friends lose (`body`) every damage is a class of its own: how much is lost depends on both hits.
"""

import numpy as np

from engine.codes import BOARD_SIZE
from engine.jit import njit
from ilp_agent.exact.hits import kills_attacker, shielded
from ilp_agent.exact.work import MAX_BLOCKS, MAX_DIGITS, Combatants
from ilp_agent.turnrecord import MAX_HITS_EACH
from ilp_agent.weights import Term

NONE, DONE, FATAL, FIRST_CLASS, HURT, HARMLESS, POPPED = 0, 1, 2, 3, 3, 4, 5

assert max(FIRST_CLASS, POPPED) + BOARD_SIZE <= MAX_DIGITS

IMPOSSIBLE = -1

NO_HARM, HURTS, KILLS = 0, 1, 2
"""What a hit on an enemy does to an attacker without a shield, by itself."""

LIVES, DIES, MAY_DIE = 0, 1, 2
"""What becomes of the attacker: `MAY_DIE` where the order of its two hits decides, and both are legal."""


@njit
def number_digits(turn: np.void, weights: np.ndarray, combatants: Combatants, work: np.void) -> int:
    """Work out the digits of all two-hit sources; returns how many combinations they have.

    `work` is modified in place: harm, damage_class, class_damage, radix, stride, digits.
    """
    apart = weights[Term.BODY] != 0.0
    combinations = 1
    for r in range(combatants.n_double):
        friend = turn["friends"][work["source"][combatants.n_single + r]]
        for t in range(combatants.n_targets):
            enemy = turn["enemies"][work["target"][t]]
            work["harm"][r, t] = NO_HARM
            work["damage_class"][r, t] = 0
            if kills_attacker(friend, enemy):
                work["harm"][r, t] = KILLS
            elif enemy["attack"] > 0:
                work["harm"][r, t] = HURTS
        if shielded(friend):
            classes = _class_damages(turn, friend, r, combatants.n_targets, apart, work) if apart else 1
            work["radix"][r] = POPPED + max(classes, 1)
        else:
            classes = _class_damages(turn, friend, r, combatants.n_targets, apart, work)
            work["radix"][r] = FIRST_CLASS + classes
        work["stride"][r] = combinations
        combinations *= work["radix"][r]
    for combination in range(min(combinations, MAX_BLOCKS)):
        for r in range(combatants.n_double):
            work["digits"][combination, r] = (combination // work["stride"][r]) % work["radix"][r]
    return combinations


@njit
def _class_damages(turn: np.void, friend: np.void, r: int, n_targets: int, apart: bool, work: np.void) -> int:
    """Class the damages that source `r` survives; returns how many classes. `work` is modified in place.

    With `apart` every damage is a class.
    """
    n = 0
    ranks = work["class_rank"]
    for t in range(n_targets):
        harm = work["harm"][r, t]
        if harm == KILLS or (harm == NO_HARM and shielded(friend)):
            continue
        damage = turn["enemies"][work["target"][t]]["attack"]
        rank = 0
        for other in range(n_targets):
            strong = turn["enemies"][work["target"][other]]["attack"] >= friend["health"] - damage
            if work["harm"][r, other] != KILLS and strong:
                rank += 1
        if apart:
            rank = damage
        found = n
        for c in range(n):
            if ranks[c] == rank:
                found = c
        if found == n:
            ranks[n] = rank
            work["class_damage"][r, n] = damage
            n += 1
        work["damage_class"][r, t] = found
    return n


@njit
def digit_of(work: np.void, combination: int, r: int) -> int:
    """Digit `r` of a combination."""
    if combination < MAX_BLOCKS:
        return int(work["digits"][combination, r])
    return int((combination // work["stride"][r]) % work["radix"][r])


@njit
def hit_target(
    friend: np.void, enemy: np.void, work: np.void, r: int, t: int, digit: int, count: int
) -> tuple[int, int]:
    """One or two hits of a two-attack source on one target.

    Args:
        friend: the source, as it is at the start of the turn.
        enemy: the target.
        work: read: harm, damage_class and class_damage.
        r: number of the source among those with two attacks.
        t: number of the target.
        digit: what the source has done so far.
        count: hits on this target, 1 or 2.

    Returns:
        The new digit or `IMPOSSIBLE`, and `LIVES`, `DIES` or `MAY_DIE`.
    """
    harm = work["harm"][r, t]
    if digit == DONE or (count == MAX_HITS_EACH and digit != NONE):
        return IMPOSSIBLE, LIVES
    if shielded(friend):
        if count == MAX_HITS_EACH:
            return DONE, DIES if harm == KILLS else LIVES
        if digit == NONE:
            hurt = _hurt_by(work["damage_class"][r, t])
            return (FATAL if harm == KILLS else hurt if harm == HURTS else HARMLESS), LIVES
        if digit == FATAL:
            return DONE, DIES if harm == KILLS else MAY_DIE if harm == HURTS else LIVES
        if digit == POPPED:
            return DONE, DIES if harm == KILLS else LIVES
        if digit == HARMLESS:
            return DONE, LIVES
        return DONE, MAY_DIE if harm == KILLS else LIVES
    damage, health = enemy["attack"], friend["health"]
    if count == MAX_HITS_EACH:
        return (IMPOSSIBLE, LIVES) if harm == KILLS else (DONE, DIES if 2 * damage >= health else LIVES)
    if digit == NONE:
        return (FATAL, DIES) if harm == KILLS else (FIRST_CLASS + work["damage_class"][r, t], LIVES)
    if digit == FATAL:
        return (IMPOSSIBLE, LIVES) if harm == KILLS else (DONE, LIVES)
    first = work["class_damage"][r, digit - FIRST_CLASS]
    return DONE, DIES if harm == KILLS or first + damage >= health else LIVES


@njit
def _hurt_by(damage_class: int) -> int:
    """The digit of a shielded source after one hit that pops its shield."""
    return HURT if damage_class == 0 else POPPED + damage_class


@njit
def body_lost(
    friend: np.void, enemy: np.void, work: np.void, r: int, t: int, digit: int, count: int, dies: bool
) -> int:
    """Attack and health that a two-attack source loses by hits on a target, beyond what counted before.

    A shield absorbs the larger damage of two hits that it can survive.

    Args:
        friend: as for `hit_target`, like all but the last.
        enemy: the target.
        work: read.
        r: number of the source.
        t: number of the target.
        digit: before these hits.
        count: hits on this target.
        dies: whether the source dies by them and the other hit: attack and health it came in with are lost.
    """
    damage, shield = enemy["attack"], shielded(friend)
    if dies:
        counted = work["class_damage"][r, digit - FIRST_CLASS] if not shield and digit >= FIRST_CLASS else 0
        return int(friend["attack"] + friend["health"] - counted)
    if not shield:
        return 0 if digit == FATAL else int(count * damage)
    if count == MAX_HITS_EACH or digit in (FATAL, POPPED):
        return int(damage)
    if digit in (NONE, HARMLESS):
        return 0
    first = work["class_damage"][r, 0 if digit == HURT else digit - POPPED]
    return int(first if work["harm"][r, t] == KILLS else min(first, damage))


@njit
def after_guards(shield: bool, digit: int) -> int:
    """The digit once all guards are dead: hits on them came first."""
    if shield:
        return POPPED if digit in (FATAL, HURT) or digit > POPPED else digit
    return DONE if digit == FATAL else digit


@njit
def hero_hits(digit: int) -> int:
    """Attacks left for the hero."""
    return MAX_HITS_EACH if digit == NONE else 0 if digit == DONE else 1
