"""Max-plus subset convolution over targets, Windfury digits, and hero damage.

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

A state says which one-hit sources have struck (bits), what each two-hit source has done (digits of mixed
radix, `ilp_agent.exact.convolution`), and how many minions on board have died (only where a slot may be
missing for a play; it saturates). Table L holds the best value of the first L targets for each state,
twice: with any of them alive, and with all of them dead. Guards come first; only when all are dead do the
others follow.

Both ways go through the same transitions: a set of hits on a target (`ilp_agent.exact.hits`) together with
what it does to the two-hit sources (`next_change`).
"""

from typing import NamedTuple

import numpy as np

from engine.codes import BOARD_SIZE, HERO
from engine.jit import njit, njit_inline
from ilp_agent.exact.hits import hits_of_double, kills_attacker, shielded
from ilp_agent.exact.work import (
    ALL_DEAD,
    MAX_BLOCKS,
    MAX_DIGITS,
    SOME_ALIVE,
    Best,
    Combatants,
    Shape,
    combination_of,
    deaths_of,
    mask_of,
    state_of,
)
from ilp_agent.turn import MAX_HITS_EACH
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


NOTHING = -1e300
"""Value of a state that cannot be reached; sums with it stay below half of it."""


class Change(NamedTuple):
    """What a set of hits on one target does to the two-hit sources."""

    before: int  # combination of their digits before
    after: int  # and after; IMPOSSIBLE: there is no such change
    live: int  # bits of the deaths with which the table before holds anything for `before`
    open_choices: int  # bits of the sources whose order of hits decides whether they die
    dying: int  # of those, bits of the ones that die
    lost: float  # value that two-hit sources lose: who dies, and the health of the others
    deaths: int  # how many of these are on board


class Origin(NamedTuple):
    """Where a state came from."""

    hits: int  # number of the set of hits
    state: int  # the state before
    half: int  # SOME_ALIVE or ALL_DEAD, of the table before
    dying: int  # as of `Change`


@njit
def begin_target(
    turn: np.void, weights: np.ndarray, shape: Shape, t: int, before: np.ndarray, work: np.void
) -> None:
    """Tabulate what `next_change` wants to know of target `t`. `work` is modified in place.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: of the objective, indexed by `Term`.
        shape: of the convolution.
        t: number of the target.
        before: the table of the targets before it.
        work: step_to and step_fate, what one or two hits do to each digit; step_lost, where `body` counts;
            live, of each combination.
    """
    enemy = turn["enemies"][work["target"][t]]
    for r in range(shape.n_double):
        friend = turn["friends"][work["source"][shape.n_single + r]]
        for digit in range(work["radix"][r]):
            for count in range(1, MAX_HITS_EACH + 1):
                after, fate = hit_target(friend, enemy, work, r, t, digit, count)
                work["step_to"][r, count, digit] = after
                work["step_fate"][r, count, digit] = fate
                if weights[Term.BODY] != 0.0 and after != IMPOSSIBLE:
                    for outcome in (LIVES, DIES):
                        work["step_lost"][r, count, digit, outcome] = body_lost(
                            friend, enemy, work, r, t, digit, count, outcome == DIES
                        )
    if shape.n_combinations == 1 and shape.n_deaths == 0:
        work["live"][0] = 1
        return
    for combination in range(min(shape.n_combinations, MAX_BLOCKS)):
        work["live"][combination] = _live_deaths(shape, before, combination)


@njit
def _live_deaths(shape: Shape, before: np.ndarray, combination: int) -> int:
    """Bits of the deaths with which a table holds anything for a combination of digits."""
    live = 0
    for level in range(shape.n_deaths + 1):
        first = state_of(shape, level, combination, 0)
        for state in range(first, first + shape.n_masks):
            if before[SOME_ALIVE, state] > NOTHING / 2 or before[ALL_DEAD, state] > NOTHING / 2:
                live |= 1 << level
                break
    return live


@njit
def no_change() -> Change:
    """Where to begin with `next_change`."""
    return Change(-1, IMPOSSIBLE, 0, 0, 0, 0.0, 0)


@njit_inline
def next_change(
    turn: np.void,
    weights: np.ndarray,
    shape: Shape,
    before: np.ndarray,
    counts: int,
    last: Change,
    work: np.void,
) -> Change:
    """The next possible change by a set of hits, in the order of combinations.

    Where the order of two hits decides over a death that may free a place, each outcome is a change.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: of the objective, indexed by `Term`.
        shape: of the convolution.
        before: the table of the targets before.
        counts: hits of each two-hit source, packed as in "counts" of WORK.
        last: the change before this one, or `no_change()`.
        work: read, as `begin_target` left it.

    Returns:
        The change; its `after` is `IMPOSSIBLE` when there is no further one.
    """
    dying = 0
    if shape.n_deaths > 0:
        dying = (last.dying - last.open_choices) & last.open_choices  # 0 after all of them died
    combination = last.before + (1 if dying == 0 else 0)
    while combination < shape.n_combinations:
        if combination < MAX_BLOCKS:
            live = work["live"][combination]
        else:
            live = _live_deaths(shape, before, combination)
        if live:
            change = _change_of(turn, weights, shape, counts, combination, live, dying, work)
            if change.after != IMPOSSIBLE:
                return change
        combination += 1
    return no_change()


@njit_inline
def _change_of(
    turn: np.void,
    weights: np.ndarray,
    shape: Shape,
    counts: int,
    before: int,
    live: int,
    dying: int,
    work: np.void,
) -> Change:
    """What hits do to one combination of digits; arguments as of `next_change` and `Change`."""
    after = before
    lost = 0.0
    deaths = 0
    open_choices = 0
    for r in range(shape.n_double):
        count = hits_of_double(counts, r)
        if count == 0:
            continue
        digit = digit_of(work, before, r)
        moved = work["step_to"][r, count, digit]
        if moved == IMPOSSIBLE:
            return no_change()
        after += (moved - digit) * work["stride"][r]
        fate = work["step_fate"][r, count, digit]
        if fate == MAY_DIE:
            open_choices |= 1 << r
            fate = DIES if (dying >> r) & 1 else LIVES
        if fate == DIES:
            index = work["source"][shape.n_single + r]
            lost += weights[Term.SURVIVE] * turn["friends"][index]["survival"]
            if index < turn["n_board"]:
                deaths += 1
        if weights[Term.BODY] != 0.0:
            lost += weights[Term.BODY] * work["step_lost"][r, count, digit, fate]
    return Change(before, after, live, open_choices, dying, lost, deaths)


@njit
def group_by_counts(shape: Shape, t: int, work: np.void) -> int:
    """Put the sets of hits on target `t` that treat two-hit sources alike side by side.

    Dominated sets that do not kill are left out where no death can be of use: the same set without the hit
    that loses value is better and leaves more free.

    `work` is modified in place: grouped, the sets' numbers, and group, where each group begins.

    Returns:
        How many groups there are; groups may be empty.
    """
    groups = 0
    n = 0
    for first in range(work["listed"][t]):
        if work["mask"][t, first] == 0:
            work["group"][groups] = n
            groups += 1
            for e in range(first, work["listed"][t]):
                if work["counts"][t, e] != work["counts"][t, first]:
                    continue
                if shape.n_deaths > 0 or work["kills"][t, e] or not work["dominated"][t, e]:
                    work["grouped"][n] = e
                    n += 1
    work["group"][groups] = n
    return groups


@njit
def convolve_target(
    turn: np.void,
    weights: np.ndarray,
    shape: Shape,
    t: int,
    before: np.ndarray,
    after: np.ndarray,
    work: np.void,
) -> None:
    """Add one target: the table `after` (modified in place) from the table `before`, each (2, states)."""
    clear_table(shape, after)
    begin_target(turn, weights, shape, t, before, work)
    for g in range(group_by_counts(shape, t, work)):
        if work["group"][g] == work["group"][g + 1]:
            continue
        counts = work["counts"][t, work["grouped"][work["group"][g]]]
        change = no_change()
        while True:
            change = next_change(turn, weights, shape, before, counts, change, work)
            if change.after == IMPOSSIBLE:
                break
            for level in range(shape.n_deaths + 1):
                if not (change.live >> level) & 1:
                    continue
                source = state_of(shape, level, change.before, 0)
                for place in range(work["group"][g], work["group"][g + 1]):
                    e = work["grouped"][place]
                    mask = work["mask"][t, e]
                    reached = min(level + work["deaths"][t, e] + change.deaths, shape.n_deaths)
                    sink = state_of(shape, reached, change.after, mask)
                    gain = work["gain"][t, e] - change.lost
                    rest = (shape.n_masks - 1) ^ mask
                    add_hits(before, after, source, sink, rest, gain, work["kills"][t, e] != 0)


@njit_inline
def add_hits(
    before: np.ndarray, after: np.ndarray, source: int, sink: int, rest: int, gain: float, kills: bool
) -> None:
    """Add one set of hits to every state whose strikers are among `rest`. `after` is modified in place."""
    others = rest
    while True:
        alive = before[SOME_ALIVE, source | others] + gain
        cleared = before[ALL_DEAD, source | others] + gain
        if kills:
            after[ALL_DEAD, sink | others] = max(after[ALL_DEAD, sink | others], cleared)
        else:
            alive = max(alive, cleared)
        after[SOME_ALIVE, sink | others] = max(after[SOME_ALIVE, sink | others], alive)
        if others == 0:
            return
        others = (others - 1) & rest


@njit
def pass_guards(turn: np.void, shape: Shape, before: np.ndarray, after: np.ndarray, work: np.void) -> None:
    """Go on to the other targets from the states with all guards dead. `after` is modified in place."""
    clear_table(shape, after)
    for level in range(shape.n_deaths + 1):
        for combination in range(shape.n_combinations):
            moved = behind_guards(turn, shape, combination, work)
            source = state_of(shape, level, combination, 0)
            sink = state_of(shape, level, moved, 0)
            for mask in range(shape.n_masks):
                after[ALL_DEAD, sink + mask] = max(
                    after[ALL_DEAD, sink + mask], before[ALL_DEAD, source + mask]
                )


@njit
def behind_guards(turn: np.void, shape: Shape, combination: int, work: np.void) -> int:
    """A combination of digits once all guards are dead."""
    after = 0
    stride = 1
    for r in range(shape.n_double):
        digit = combination % work["radix"][r]
        combination //= work["radix"][r]
        after += after_guards(shielded(turn["friends"][work["source"][shape.n_single + r]]), digit) * stride
        stride *= work["radix"][r]
    return after


@njit
def first_table(shape: Shape, table: np.ndarray) -> None:
    """The table of no target: nothing struck, and all of none are dead. Modified in place."""
    clear_table(shape, table)
    table[ALL_DEAD, 0] = 0.0


@njit
def clear_table(shape: Shape, table: np.ndarray) -> None:
    """Make every state unreachable. Modified in place."""
    # Loops: assigning to a slice takes longer for the small tables of usual turns.
    for half in range(2):
        for state in range(shape.n_states):
            table[half, state] = NOTHING


@njit_inline
def retrace_target(
    turn: np.void,
    weights: np.ndarray,
    shape: Shape,
    t: int,
    before: np.ndarray,
    after: np.ndarray,
    then: Origin,
    work: np.void,
) -> Origin:
    """Find the first set of hits on target `t` that led to a state with this very value.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: of the objective, indexed by `Term`.
        shape: of the convolution.
        t: number of the target.
        before: the table of the targets before.
        after: the table with the target.
        then: of which `state` and `half` in `after` are to be explained.
        work: scratch of `begin_target` is modified in place.
    """
    begin_target(turn, weights, shape, t, before, work)
    value = after[then.half, then.state]
    mask = mask_of(shape, then.state)
    combination = combination_of(shape, then.state)
    deaths = deaths_of(shape, then.state)
    for e in range(work["listed"][t]):
        kills = work["kills"][t, e]
        if work["mask"][t, e] & ~mask or (then.half == ALL_DEAD and not kills):
            continue
        change = no_change()
        while True:
            change = next_change(turn, weights, shape, before, work["counts"][t, e], change, work)
            if change.after == IMPOSSIBLE:
                break
            if change.after != combination:
                continue
            gain = work["gain"][t, e] - change.lost
            for level in range(shape.n_deaths + 1):
                if min(level + work["deaths"][t, e] + change.deaths, shape.n_deaths) != deaths:
                    continue
                source = state_of(shape, level, change.before, mask ^ work["mask"][t, e])
                for half in range(then.half, 2):
                    if then.half == SOME_ALIVE and half == ALL_DEAD and kills:
                        continue
                    if before[half, source] > NOTHING / 2 and before[half, source] + gain == value:
                        return Origin(e, source, half, change.dying)
    raise AssertionError("every reached state came from one before it")


@njit
def retrace_guards(
    turn: np.void, shape: Shape, before: np.ndarray, after: np.ndarray, state: int, work: np.void
) -> int:
    """The state with all guards dead from which `pass_guards` came to this one."""
    mask = mask_of(shape, state)
    wanted = combination_of(shape, state)
    deaths = deaths_of(shape, state)
    for combination in range(shape.n_combinations):
        if behind_guards(turn, shape, combination, work) == wanted:
            source = state_of(shape, deaths, combination, mask)
            if before[ALL_DEAD, source] == after[ALL_DEAD, state]:
                return source
    raise AssertionError("every state behind guards came from one before them")


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
        turn: dtype `ilp_agent.turn.TURN`.
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
