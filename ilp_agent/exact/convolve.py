"""The heart of the exact solver: a max-plus subset convolution over targets, and the way back through it.

A state says which one-hit sources have struck (bits), what each two-hit source has done (digits of mixed
radix, `ilp_agent.exact.windfury`), and how many minions on board have died (only where a slot may be
missing for a play; it saturates). Table L holds the best value of the first L targets for each state,
twice: with any of them alive, and with all of them dead. Guards come first; only when all are dead do the
others follow.

Both ways go through the same transitions: a set of hits on a target (`ilp_agent.exact.hits`) together with
what it does to the two-hit sources (`next_change`).
"""

from typing import NamedTuple

import numpy as np

from engine.jit import njit, njit_inline
from ilp_agent.exact.hits import hits_of_double, shielded
from ilp_agent.exact.windfury import (
    DIES,
    IMPOSSIBLE,
    LIVES,
    MAY_DIE,
    after_guards,
    body_lost,
    digit_of,
    hit_target,
)
from ilp_agent.exact.work import (
    ALL_DEAD,
    MAX_BLOCKS,
    SOME_ALIVE,
    Shape,
    combination_of,
    deaths_of,
    mask_of,
    state_of,
)
from ilp_agent.turnrecord import MAX_HITS_EACH
from ilp_agent.weights import Term

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
        turn: dtype `ilp_agent.turnrecord.TURN`.
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
        turn: dtype `ilp_agent.turnrecord.TURN`.
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
        turn: dtype `ilp_agent.turnrecord.TURN`.
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
