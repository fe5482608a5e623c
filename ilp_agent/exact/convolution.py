"""Max-plus subset convolution: the best value of all sets of attacks on enemy minions and the hero.

Whether a minion with two attacks (Windfury) dies depends on both hits. Its state is a digit, which holds what
matters about the first hit for the second:

    0 NONE    no hit yet             1 DONE  both made, or none left
    2 FATAL   one hit that kills it (without a shield: so it must be the second, and the other must be
              survived; with a shield: absorbed, but a second such hit kills)
    without a shield                 with a shield
    3 and on  one hit, survived,     3 HURT      one hit that pops the shield
              by class of damage     4 HARMLESS  one hit on an enemy with attack 0
                                     5 POPPED    one hit that certainly comes first (it was on a Taunt)
                                     6 and on    HURT by other classes of damage

Two damage values are in one class if the same second hits kill after either; with a shield all are in one
class. With a weight on lost health (`body`) every damage value is its own class, because the loss depends on
both hits.

A state consists of the one-hit sources that have attacked (bits), the digit of each two-hit source (mixed
radix), and the number of own minions on board that have died (only if a play may lack a slot; it saturates).
Table L holds the best value of the first L targets for each state, twice: with some of them alive, and with
all of them dead. Taunt minions ("guards") come first; other targets follow only when all guards are dead.

The forward pass and the traceback use the same transitions: a set of hits on a target
(`ilp_agent.exact.hits`) with its effect on the two-hit sources (`next_transition`).
"""

from typing import NamedTuple

import numpy as np

from engine.codes import BOARD_SIZE, HERO
from engine.jit import njit, njit_inline
from ilp_agent.exact.hits import (
    counts_damage,
    hero_damage_value,
    hero_kill_value,
    kills_attacker,
    shielded,
    unpack_hits,
)
from ilp_agent.exact.work import (
    ALL_DEAD,
    MAX_DIGITS,
    MAX_TABULATED_COMBINATIONS,
    SOME_ALIVE,
    BestState,
    Combatants,
    Shape,
    combination_of,
    deaths_of,
    mask_of,
    state_of,
)
from ilp_agent.features import health_value
from ilp_agent.turn import MAX_HITS_EACH
from ilp_agent.weights import Term

NONE, DONE, FATAL, FIRST_CLASS, HURT, HARMLESS, POPPED = 0, 1, 2, 3, 3, 4, 5

assert max(FIRST_CLASS, POPPED) + BOARD_SIZE <= MAX_DIGITS

IMPOSSIBLE = -1

NO_HARM, HURTS, KILLS = 0, 1, 2
"""Effect of a single hit on an attacker without a shield."""

LIVES, DIES, MAY_DIE = 0, 1, 2
"""Fate of the attacker: `MAY_DIE` if it depends on the order of its two hits, and both orders are legal."""


@njit
def assign_digits(turn: np.void, weights: np.ndarray, combatants: Combatants, work: np.void) -> int:
    """Assign each Windfury attacker (two-hit source) its digit; returns the number of digit combinations.

    `work` is modified in place: harm, damage_class, class_damage, radix, stride, digits.
    """
    by_damage = counts_damage(weights)
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
            classes = (
                _classify_damages(turn, friend, r, combatants.n_targets, by_damage, work) if by_damage else 1
            )
            work["radix"][r] = POPPED + max(classes, 1)
        else:
            classes = _classify_damages(turn, friend, r, combatants.n_targets, by_damage, work)
            work["radix"][r] = FIRST_CLASS + classes
        work["stride"][r] = combinations
        combinations *= work["radix"][r]
    for combination in range(min(combinations, MAX_TABULATED_COMBINATIONS)):
        for r in range(combatants.n_double):
            work["digits"][combination, r] = (combination // work["stride"][r]) % work["radix"][r]
    return combinations


@njit
def _classify_damages(
    turn: np.void, friend: np.void, r: int, n_targets: int, by_damage: bool, work: np.void
) -> int:
    """Classify the damage values that source `r` survives; returns the number of classes.

    With `by_damage` every damage value is its own class. `work` is modified in place.
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
        if by_damage:
            rank = damage
        number = n
        for c in range(n):
            if ranks[c] == rank:
                number = c
        if number == n:
            ranks[n] = rank
            work["class_damage"][r, n] = damage
            n += 1
        work["damage_class"][r, t] = number
    return n


@njit
def digit_of(work: np.void, combination: int, r: int) -> int:
    """The digit of Windfury attacker `r` in a combination of all digits."""
    if combination < MAX_TABULATED_COMBINATIONS:
        return int(work["digits"][combination, r])
    return int((combination // work["stride"][r]) % work["radix"][r])


@njit
def digit_after_hits(
    friend: np.void, enemy: np.void, work: np.void, r: int, t: int, digit: int, count: int
) -> tuple[int, int]:
    """Transition of a Windfury attacker's digit by one or two hits on one target, and whether it survives.

    Args:
        friend: the source at the start of the turn.
        enemy: the target.
        work: harm, damage_class and class_damage are read.
        r: number of the two-hit source.
        t: number of the target.
        digit: the source's digit before.
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
            hurt = _hurt_digit(work["damage_class"][r, t])
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
def _hurt_digit(damage_class: int) -> int:
    """The digit of a shielded Windfury attacker after one hit that pops its shield."""
    return HURT if damage_class == 0 else POPPED + damage_class


@njit
def body_loss(
    friend: np.void, enemy: np.void, work: np.void, r: int, t: int, digit: int, count: int, dies: bool
) -> int:
    """Additional attack and health that a Windfury attacker loses by hits on a target (weight `body`).

    A shield absorbs the larger damage of two survivable hits.

    Args:
        friend: the source, as in `digit_after_hits`, like all arguments but the last.
        enemy: the target.
        work: read only.
        r: number of the two-hit source.
        t: number of the target.
        digit: the source's digit before these hits.
        count: hits on this target, 1 or 2.
        dies: whether the source dies by all its hits: then its attack and initial health are lost.
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
def digit_after_guards(shield: bool, digit: int) -> int:
    """The digit of a Windfury attacker once all Taunt minions are dead: hits on Taunt minions came first."""
    if shield:
        return POPPED if digit in (FATAL, HURT) or digit > POPPED else digit
    return DONE if digit == FATAL else digit


@njit
def hero_attacks_left(digit: int) -> int:
    """Attacks that a Windfury attacker has left for the enemy hero, by its digit."""
    return MAX_HITS_EACH if digit == NONE else 0 if digit == DONE else 1


UNREACHABLE = -1e300
"""Value of an unreachable state; sums with it stay below half of it."""


class DigitTransition(NamedTuple):
    """Transition of the Windfury attackers' digits by a set of hits on one target."""

    before: int  # combination of digits before
    after: int  # combination of digits after; IMPOSSIBLE: no such transition
    live: int  # bits of the death counts with reachable states for `before`
    open_choices: int  # bits of the sources whose death depends on the order of their hits
    dying: int  # bits of those among them that die
    lost: float  # value lost by deaths and health of two-hit sources
    deaths: int  # deaths of two-hit sources on board


class Predecessor(NamedTuple):
    """Predecessor of a state in the traceback."""

    hits: int  # number of the set of hits
    state: int  # the state before
    half: int  # SOME_ALIVE or ALL_DEAD, of the table before
    dying: int  # as in `DigitTransition`


@njit
def tabulate_transitions(
    turn: np.void, weights: np.ndarray, shape: Shape, t: int, before: np.ndarray, work: np.void
) -> None:
    """Precompute the Windfury attackers' transitions on target `t`, for `next_transition`, into `work`.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: of the objective, indexed by `Term`.
        shape: sizes of the convolution.
        t: number of the target.
        before: the table of the targets before it.
        work: writes step_to and step_fate, the transition of each digit by one or two hits; step_lost, if
            `body` is set; live, of each combination.
    """
    enemy = turn["enemies"][work["target"][t]]
    for r in range(shape.n_double):
        friend = turn["friends"][work["source"][shape.n_single + r]]
        for digit in range(work["radix"][r]):
            for count in range(1, MAX_HITS_EACH + 1):
                after, fate = digit_after_hits(friend, enemy, work, r, t, digit, count)
                work["step_to"][r, count, digit] = after
                work["step_fate"][r, count, digit] = fate
                if counts_damage(weights) and after != IMPOSSIBLE:
                    for final in (LIVES, DIES):
                        work["step_lost"][r, count, digit, final] = body_loss(
                            friend, enemy, work, r, t, digit, count, final == DIES
                        )
    if shape.n_combinations == 1 and shape.n_deaths == 0:
        work["live"][0] = 1
        return
    for combination in range(min(shape.n_combinations, MAX_TABULATED_COMBINATIONS)):
        work["live"][combination] = _reachable_deaths(shape, before, combination)


@njit
def _reachable_deaths(shape: Shape, before: np.ndarray, combination: int) -> int:
    """Bits of the death counts with reachable states in a table, for one combination of digits."""
    live = 0
    for level in range(shape.n_deaths + 1):
        first = state_of(shape, level, combination, 0)
        for state in range(first, first + shape.n_masks):
            if before[SOME_ALIVE, state] > UNREACHABLE / 2 or before[ALL_DEAD, state] > UNREACHABLE / 2:
                live |= 1 << level
                break
    return live


@njit
def no_transition() -> DigitTransition:
    """Start value for iterating over `next_transition`, and its end mark."""
    return DigitTransition(-1, IMPOSSIBLE, 0, 0, 0, 0.0, 0)


@njit_inline
def next_transition(
    turn: np.void,
    weights: np.ndarray,
    shape: Shape,
    before: np.ndarray,
    counts: int,
    last: DigitTransition,
    work: np.void,
) -> DigitTransition:
    """Iterate over the digit transitions of a set of hits, in the order of combinations.

    If the order of two hits decides a death that may free a board slot, each outcome is a transition.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: of the objective, indexed by `Term`.
        shape: sizes of the convolution.
        before: the table of the previous targets.
        counts: hits of each two-hit source, packed as in "counts" of WORK.
        last: the previous transition, or `no_transition()`.
        work: read only, as `tabulate_transitions` left it.

    Returns:
        The next transition; its `after` is `IMPOSSIBLE` at the end.
    """
    dying = 0
    if shape.n_deaths > 0:
        dying = (last.dying - last.open_choices) & last.open_choices  # 0 after all of them died
    combination = last.before + (1 if dying == 0 else 0)
    while combination < shape.n_combinations:
        if combination < MAX_TABULATED_COMBINATIONS:
            live = work["live"][combination]
        else:
            live = _reachable_deaths(shape, before, combination)
        if live:
            change = _transition_of(turn, weights, shape, counts, combination, live, dying, work)
            if change.after != IMPOSSIBLE:
                return change
        combination += 1
    return no_transition()


@njit_inline
def _transition_of(
    turn: np.void,
    weights: np.ndarray,
    shape: Shape,
    counts: int,
    before: int,
    live: int,
    dying: int,
    work: np.void,
) -> DigitTransition:
    """The transition of one combination of digits; arguments as in `next_transition`, `DigitTransition`."""
    after = before
    lost = 0.0
    deaths = 0
    open_choices = 0
    for r in range(shape.n_double):
        count = unpack_hits(counts, r)
        if count == 0:
            continue
        digit = digit_of(work, before, r)
        new_digit = work["step_to"][r, count, digit]
        if new_digit == IMPOSSIBLE:
            return no_transition()
        after += (new_digit - digit) * work["stride"][r]
        fate = work["step_fate"][r, count, digit]
        if fate == MAY_DIE:
            open_choices |= 1 << r
            fate = DIES if (dying >> r) & 1 else LIVES
        if fate == DIES:
            index = work["source"][shape.n_single + r]
            lost += weights[Term.SURVIVE] * turn["friends"][index]["survival"]
            lost += weights[Term.ATTACK] * turn["friends"][index]["attack"]
            if index < turn["n_board"]:
                deaths += 1
        if counts_damage(weights):
            lost += weights[Term.BODY] * work["step_lost"][r, count, digit, fate]
            friend = turn["friends"][work["source"][shape.n_single + r]]
            health = work["step_lost"][r, count, digit, fate] - (friend["attack"] if fate == DIES else 0)
            lost += health_value(friend["keywords"], weights) * health
    return DigitTransition(before, after, live, open_choices, dying, lost, deaths)


@njit
def group_by_counts(shape: Shape, t: int, work: np.void) -> int:
    """Group the sets of hits on target `t` by their Windfury hits; returns the number of groups.

    Dominated sets that do not kill are pruned if no own death can be useful: the same set without the losing
    hit is better and leaves more attackers free. Groups may be empty.

    `work` is modified in place: grouped, the sets' numbers, and group, the start of each group.
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
    """Convolve one target: fill the table `after` from the table `before`, each of shape (2, states)."""
    clear_table(shape, after)
    tabulate_transitions(turn, weights, shape, t, before, work)
    for g in range(group_by_counts(shape, t, work)):
        if work["group"][g] == work["group"][g + 1]:
            continue
        counts = work["counts"][t, work["grouped"][work["group"][g]]]
        change = no_transition()
        while True:
            change = next_transition(turn, weights, shape, before, counts, change, work)
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
    """Apply one set of hits to every state with attackers in `rest`. `after` is modified in place."""
    subset = rest
    while True:
        alive = before[SOME_ALIVE, source | subset] + gain
        cleared = before[ALL_DEAD, source | subset] + gain
        if kills:
            after[ALL_DEAD, sink | subset] = max(after[ALL_DEAD, sink | subset], cleared)
        else:
            alive = max(alive, cleared)
        after[SOME_ALIVE, sink | subset] = max(after[SOME_ALIVE, sink | subset], alive)
        if subset == 0:
            return
        subset = (subset - 1) & rest


@njit
def move_past_guards(
    turn: np.void, shape: Shape, before: np.ndarray, after: np.ndarray, work: np.void
) -> None:
    """Copy states with all Taunt minions dead to the table of the other targets. `after` is modified."""
    clear_table(shape, after)
    for level in range(shape.n_deaths + 1):
        for combination in range(shape.n_combinations):
            passed = combination_after_guards(turn, shape, combination, work)
            source = state_of(shape, level, combination, 0)
            sink = state_of(shape, level, passed, 0)
            for mask in range(shape.n_masks):
                after[ALL_DEAD, sink + mask] = max(
                    after[ALL_DEAD, sink + mask], before[ALL_DEAD, source + mask]
                )


@njit
def combination_after_guards(turn: np.void, shape: Shape, combination: int, work: np.void) -> int:
    """The combination of digits once all Taunt minions are dead; see `digit_after_guards`."""
    after = 0
    stride = 1
    for r in range(shape.n_double):
        digit = combination % work["radix"][r]
        combination //= work["radix"][r]
        after += (
            digit_after_guards(shielded(turn["friends"][work["source"][shape.n_single + r]]), digit) * stride
        )
        stride *= work["radix"][r]
    return after


@njit
def first_table(shape: Shape, table: np.ndarray) -> None:
    """Initialise the table of no targets: only the empty state is reachable. Modified in place."""
    clear_table(shape, table)
    table[ALL_DEAD, 0] = 0.0


@njit
def clear_table(shape: Shape, table: np.ndarray) -> None:
    """Mark every state of a table as unreachable. Modified in place."""
    # Loops: assigning to a slice is slower for the small tables of usual turns.
    for half in range(2):
        for state in range(shape.n_states):
            table[half, state] = UNREACHABLE


@njit_inline
def trace_back_target(
    turn: np.void,
    weights: np.ndarray,
    shape: Shape,
    t: int,
    before: np.ndarray,
    after: np.ndarray,
    then: Predecessor,
    work: np.void,
) -> Predecessor:
    """Trace a state back over target `t`: find the set of hits and the predecessor state.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: of the objective, indexed by `Term`.
        shape: sizes of the convolution.
        t: number of the target.
        before: the table of the previous targets.
        after: the table with the target.
        then: the state to trace back: its `state` and `half` in `after`.
        work: scratch of `tabulate_transitions` is modified in place.

    Returns:
        The first predecessor with exactly the same value.
    """
    tabulate_transitions(turn, weights, shape, t, before, work)
    value = after[then.half, then.state]
    mask = mask_of(shape, then.state)
    combination = combination_of(shape, then.state)
    deaths = deaths_of(shape, then.state)
    for e in range(work["listed"][t]):
        kills = work["kills"][t, e]
        if work["mask"][t, e] & ~mask or (then.half == ALL_DEAD and not kills):
            continue
        change = no_transition()
        while True:
            change = next_transition(turn, weights, shape, before, work["counts"][t, e], change, work)
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
                    if before[half, source] > UNREACHABLE / 2 and before[half, source] + gain == value:
                        return Predecessor(e, source, half, change.dying)
    raise AssertionError("every reached state has a predecessor")


@njit
def trace_back_guards(
    turn: np.void, shape: Shape, before: np.ndarray, after: np.ndarray, state: int, work: np.void
) -> int:
    """Trace a state back over `move_past_guards`; returns its predecessor with all Taunt minions dead."""
    mask = mask_of(shape, state)
    goal = combination_of(shape, state)
    deaths = deaths_of(shape, state)
    for combination in range(shape.n_combinations):
        if combination_after_guards(turn, shape, combination, work) == goal:
            source = state_of(shape, deaths, combination, mask)
            if before[ALL_DEAD, source] == after[ALL_DEAD, state]:
                return source
    raise AssertionError("every state behind guards has a predecessor before them")


@njit
def hero_attacks_of_source(
    turn: np.void, shape: Shape, work: np.void, state: int, i: int
) -> tuple[int, bool]:
    """Attacks that source `i` has left for the hero in a state, and whether one may be the last blow."""
    friend = turn["friends"][work["source"][i]]
    if not friend["hits_hero"]:
        return 0, False
    if i < shape.n_single:
        return 1 - ((state >> i) & 1), True
    digit = digit_of(work, combination_of(shape, state), i - shape.n_single)
    # After a fatal hit on an enemy (which must be its second) only the first is left.
    dies_later = digit == FATAL and not shielded(friend)
    return hero_attacks_left(digit), not dies_later


@njit
def tabulate_hero_damage_left(turn: np.void, shape: Shape, work: np.void) -> None:
    """Fill "hero_damage_left" of `work`: hero damage left in the one-hit sources outside each mask."""
    full_mask = shape.n_masks - 1
    work["hero_damage_left"][full_mask] = 0
    for mask in range(full_mask - 1, -1, -1):
        i = 0
        while (mask >> i) & 1:
            i += 1
        friend = turn["friends"][work["source"][i]]
        attack = friend["attack"] if friend["hits_hero"] else 0
        work["hero_damage_left"][mask] = work["hero_damage_left"][mask | (1 << i)] + attack


@njit
def windfury_hero_damage(turn: np.void, shape: Shape, work: np.void, combination: int) -> int:
    """Hero damage left in the Windfury attackers, for one combination of digits."""
    total = 0
    for r in range(shape.n_double):
        digit = combination % work["radix"][r]
        combination //= work["radix"][r]
        friend = turn["friends"][work["source"][shape.n_single + r]]
        if friend["hits_hero"]:
            total += hero_attacks_left(digit) * friend["attack"]
    return total


@njit
def largest_damage_sum(
    turn: np.void, shape: Shape, work: np.void, state: int, limit: int, without: int
) -> int:
    """The largest subset sum of attacks on the hero up to `limit`, without one hit of source `without`.

    `work` is modified in place: sums, the reachable ones.
    """
    work["sums"][: limit + 1] = False
    work["sums"][0] = True
    for i in range(shape.n_single + shape.n_double):
        hits, _ = hero_attacks_of_source(turn, shape, work, state, i)
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
def best_hero_damage(
    turn: np.void, weights: np.ndarray, shape: Shape, work: np.void, state: int, floor: float
) -> tuple[float, bool]:
    """Best value of attacks on the hero by the remaining attackers, and whether they kill the hero.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: of the objective, indexed by `Term`.
        shape: sizes of the convolution.
        work: sums is modified in place.
        state: the state after all attacks on minions.
        floor: lower bound: a kill with at most this value is not computed.
    """
    total = 0
    for i in range(shape.n_single + shape.n_double):
        hits, _ = hero_attacks_of_source(turn, shape, work, state, i)
        total += hits * turn["friends"][work["source"][i]]["attack"]
    hero = turn["hero"]
    if total < hero:
        return hero_damage_value(weights) * total, False
    if hero_kill_value(weights, total, hero) <= floor:
        return UNREACHABLE, False
    damage, _ = lethal_damage(turn, shape, work, state)
    if damage >= hero:
        return hero_kill_value(weights, damage, hero), True
    return hero_damage_value(weights) * largest_damage_sum(turn, shape, work, state, hero - 1, -1), False


@njit
def lethal_damage(turn: np.void, shape: Shape, work: np.void, state: int) -> tuple[int, int]:
    """Most hero damage of a lethal sequence of attacks, and the source of the last blow.

    The attacks before the last blow leave the hero alive. `work` is modified in place. Damage 0 and source -1
    if no kill is possible.
    """
    hero = turn["hero"]
    best = 0
    last_source = -1
    for i in range(shape.n_single + shape.n_double):
        hits, last = hero_attacks_of_source(turn, shape, work, state, i)
        if hits and last:
            attack = turn["friends"][work["source"][i]]["attack"]
            damage = largest_damage_sum(turn, shape, work, state, hero - 1, i) + attack
            if damage >= hero and damage > best:
                best = damage
                last_source = i
    return best, last_source


@njit
def write_hero_attacks(turn: np.void, shape: Shape, best: BestState, work: np.void) -> int:
    """Write the attacks on the hero to `work`, the last blow of a kill first; return their number."""
    n = 0
    hero = turn["hero"]
    blow = -1
    total = 0
    for i in range(shape.n_single + shape.n_double):
        hits, _ = hero_attacks_of_source(turn, shape, work, best.state, i)
        total += hits * turn["friends"][work["source"][i]]["attack"]
    target = total
    if best.lethal:
        damage, blow = lethal_damage(turn, shape, work, best.state)
        target = damage - turn["friends"][work["source"][blow]]["attack"]
        work["hit_source"][n] = work["source"][blow]
        work["hit_target"][n] = HERO
        n += 1
    elif total >= hero:
        target = largest_damage_sum(turn, shape, work, best.state, hero - 1, -1)
    # Choose attackers that sum to `target`: take each one if the later ones can make up the rest.
    candidates = work["waiting"]
    n_candidates = 0
    for i in range(shape.n_single + shape.n_double):
        hits, _ = hero_attacks_of_source(turn, shape, work, best.state, i)
        for _ in range(hits - (1 if i == blow else 0)):
            candidates[n_candidates] = work["source"][i]
            n_candidates += 1
    for first in range(n_candidates):
        attack = turn["friends"][candidates[first]]["attack"]
        if attack <= target and has_subset_sum(
            turn, candidates[first + 1 : n_candidates], target - attack, work
        ):
            work["hit_source"][n] = candidates[first]
            work["hit_target"][n] = HERO
            n += 1
            target -= attack
    return n


@njit
def has_subset_sum(turn: np.void, sources: np.ndarray, target: int, work: np.void) -> bool:
    """Whether a subset of these attacks sums to `target`. `work` is modified in place."""
    work["sums"][: target + 1] = False
    work["sums"][0] = True
    for source in sources:
        attack = turn["friends"][source]["attack"]
        for total in range(target, attack - 1, -1):
            if work["sums"][total - attack]:
                work["sums"][total] = True
    return bool(work["sums"][target])
