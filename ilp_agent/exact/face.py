"""Attacks on the enemy hero by the attackers that are left, and the last blow of a kill."""

import numpy as np

from engine.codes import HERO
from engine.jit import njit
from ilp_agent.exact.convolve import NOTHING
from ilp_agent.exact.hits import shielded
from ilp_agent.exact.windfury import FATAL, digit_of, hero_hits
from ilp_agent.exact.work import Best, Shape, combination_of
from ilp_agent.weights import Term


@njit
def hits_left(turn: np.void, shape: Shape, work: np.void, state: int, i: int) -> tuple[int, bool]:
    """Attacks source `i` has left for the hero in a state, and whether one may be the last blow."""
    friend = turn["friends"][work["source"][i]]
    if not friend["hits_hero"]:
        return 0, False
    if i < shape.n_single:
        return 1 - ((state >> i) & 1), True
    digit = digit_of(work, combination_of(shape, state), i - shape.n_single)
    # After a fatal hit on an enemy (which must be its second) only the first is left.
    doomed = digit == FATAL and not shielded(friend)
    return hero_hits(digit), not doomed


@njit
def sum_unspent(turn: np.void, shape: Shape, work: np.void) -> None:
    """For each mask of one-hit sources that struck, what the others can deal the hero. Modified in place."""
    everyone = shape.n_masks - 1
    work["unspent"][everyone] = 0
    for mask in range(everyone - 1, -1, -1):
        i = 0
        while (mask >> i) & 1:
            i += 1
        friend = turn["friends"][work["source"][i]]
        attack = friend["attack"] if friend["hits_hero"] else 0
        work["unspent"][mask] = work["unspent"][mask | (1 << i)] + attack


@njit
def double_damage(turn: np.void, shape: Shape, work: np.void, combination: int) -> int:
    """Attack on the hero that two-hit sources have left, by their digits."""
    total = 0
    for r in range(shape.n_double):
        digit = combination % work["radix"][r]
        combination //= work["radix"][r]
        friend = turn["friends"][work["source"][shape.n_single + r]]
        if friend["hits_hero"]:
            total += hero_hits(digit) * friend["attack"]
    return total


@njit
def most_damage(turn: np.void, shape: Shape, work: np.void, state: int, limit: int, without: int) -> int:
    """The largest sum of attacks on the hero up to `limit`, leaving out one hit of source `without`.

    `work` is modified in place: sums, those that can be reached.
    """
    work["sums"][: limit + 1] = False
    work["sums"][0] = True
    for i in range(shape.n_single + shape.n_double):
        hits, _ = hits_left(turn, shape, work, state, i)
        attack = turn["friends"][work["source"][i]]["attack"]
        for _ in range(hits - (1 if i == without else 0)):
            for total in range(limit, attack - 1, -1):
                if work["sums"][total - attack]:
                    work["sums"][total] = True
    total = limit
    while not work["sums"][total]:
        total -= 1
    return total


@njit
def face_value(
    turn: np.void, weights: np.ndarray, shape: Shape, work: np.void, state: int, floor: float
) -> tuple[float, bool]:
    """The best that those left can do to the hero: its value and whether it kills.

    Args:
        turn: dtype `ilp_agent.turnrecord.TURN`.
        weights: of the objective, indexed by `Term`.
        shape: of the convolution.
        work: sums is modified in place.
        state: who has struck.
        floor: a value that a kill must exceed to be worth computing.
    """
    total = 0
    for i in range(shape.n_single + shape.n_double):
        hits, _ = hits_left(turn, shape, work, state, i)
        total += hits * turn["friends"][work["source"][i]]["attack"]
    hero = turn["hero"]
    if total < hero:
        return weights[Term.FACE] * total, False
    if weights[Term.LETHAL] + weights[Term.FACE] * total <= floor:
        return NOTHING, False
    damage, _ = lethal_damage(turn, shape, work, state)
    if damage >= hero:
        return weights[Term.LETHAL] + weights[Term.FACE] * damage, True
    return weights[Term.FACE] * most_damage(turn, shape, work, state, hero - 1, -1), False


@njit
def lethal_damage(turn: np.void, shape: Shape, work: np.void, state: int) -> tuple[int, int]:
    """Most damage of a kill, everything before the last blow leaving the hero alive, and who strikes it.

    `work` is modified in place. Damage 0 and source -1 where no kill is possible.
    """
    hero = turn["hero"]
    best = 0
    who = -1
    for i in range(shape.n_single + shape.n_double):
        hits, last = hits_left(turn, shape, work, state, i)
        if hits and last:
            attack = turn["friends"][work["source"][i]]["attack"]
            damage = most_damage(turn, shape, work, state, hero - 1, i) + attack
            if damage >= hero and damage > best:
                best = damage
                who = i
    return best, who


@njit
def hero_attacks(turn: np.void, shape: Shape, best: Best, work: np.void) -> int:
    """Write the attacks on the hero, the last blow of a kill first; returns how many."""
    n = 0
    hero = turn["hero"]
    blow = -1
    total = 0
    for i in range(shape.n_single + shape.n_double):
        hits, _ = hits_left(turn, shape, work, best.state, i)
        total += hits * turn["friends"][work["source"][i]]["attack"]
    target = total
    if best.lethal:
        damage, blow = lethal_damage(turn, shape, work, best.state)
        target = damage - turn["friends"][work["source"][blow]]["attack"]
        work["hit_source"][n] = work["source"][blow]
        work["hit_target"][n] = HERO
        n += 1
    elif total >= hero:
        target = most_damage(turn, shape, work, best.state, hero - 1, -1)
    # Choose who makes up `target`: each strikes in turn unless those after it could not make up the rest.
    waiting = work["waiting"]
    n_waiting = 0
    for i in range(shape.n_single + shape.n_double):
        hits, _ = hits_left(turn, shape, work, best.state, i)
        for _ in range(hits - (1 if i == blow else 0)):
            waiting[n_waiting] = work["source"][i]
            n_waiting += 1
    for first in range(n_waiting):
        attack = turn["friends"][waiting[first]]["attack"]
        if attack <= target and reachable(turn, waiting[first + 1 : n_waiting], target - attack, work):
            work["hit_source"][n] = waiting[first]
            work["hit_target"][n] = HERO
            n += 1
            target -= attack
    return n


@njit
def reachable(turn: np.void, sources: np.ndarray, target: int, work: np.void) -> bool:
    """Whether some of these attacks sum to `target`. `work` is modified in place."""
    work["sums"][: target + 1] = False
    work["sums"][0] = True
    for source in sources:
        attack = turn["friends"][source]["attack"]
        for total in range(target, attack - 1, -1):
            if work["sums"][total - attack]:
                work["sums"][total] = True
    return bool(work["sums"][target])
