"""The heart of the exact solver: a max-plus subset convolution over targets, and the way back through it.

A state says which one-hit sources have struck (bits), what each two-hit source has done (digits of mixed
radix, `ilp_agent.exact.windfury`), and how many minions on board have died (only where a slot may be
missing for a play; it saturates). Table L holds the best value of the first L targets for each state,
twice: with any of them alive, and with all of them dead. Guards come first; only when all are dead do the
others follow.
"""

import numpy as np

from engine.jit import njit
from ilp_agent.exact.hits import shielded
from ilp_agent.exact.windfury import DIES, IMPOSSIBLE, LIVES, MAY_DIE, after_guards, step
from ilp_agent.exact.work import MAX_BLOCKS

NOTHING = -1e300
"""Value of a state that cannot be reached; sums with it stay below half of it."""


@njit
def digit_of(work: np.void, combination: int, r: int) -> int:
    """Digit `r` of a combination of two-hit sources."""
    if combination < MAX_BLOCKS:
        return int(work["digits"][combination, r])
    return int((combination // work["stride"][r]) % work["radix"][r])


@njit
def fill_steps(turn: np.void, work: np.void, t: int, n_single: int, n_double: int) -> None:
    """Tabulate what one or two hits on target `t` do to each digit. `work` is modified in place."""
    damage = turn["enemies"][work["target"][t]]["attack"]
    for r in range(n_double):
        friend = turn["friends"][work["source"][n_single + r]]
        for digit in range(work["radix"][r]):
            for count in range(1, 3):
                after, fate = step(
                    shielded(friend),
                    friend["health"],
                    damage,
                    work["kind"][r, t],
                    work["grade"][r, t],
                    work["graded"][r],
                    digit,
                    count,
                )
                work["step_to"][r, count, digit] = after
                work["step_fate"][r, count, digit] = fate


@njit
def move(
    turn: np.void,
    weights: np.ndarray,
    work: np.void,
    counts: int,
    combination: int,
    willing: int,
    n_single: int,
    n_double: int,
) -> tuple[int, float, int, int]:
    """What a set of hits on the target of `fill_steps` does to the two-hit sources.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: W1 to W8.
        work: read.
        counts: hits of each two-hit source, two bits each.
        combination: their digits before.
        willing: bits of those that die where the order of their hits decides.
        n_single: sources with one hit.
        n_double: sources with two.

    Returns:
        Their digits after or `IMPOSSIBLE`; the value lost by deaths; deaths on board; bits of the sources
        whose order decides.
    """
    after = combination
    lost = 0.0
    deaths = 0
    open_choices = 0
    for r in range(n_double):
        count = (counts >> (2 * r)) & 3
        if count == 0:
            continue
        digit = digit_of(work, combination, r)
        moved = work["step_to"][r, count, digit]
        if moved == IMPOSSIBLE:
            return IMPOSSIBLE, 0.0, 0, 0
        after += (moved - digit) * work["stride"][r]
        fate = work["step_fate"][r, count, digit]
        if fate == MAY_DIE:
            open_choices |= 1 << r
            fate = DIES if (willing >> r) & 1 else LIVES
        if fate == DIES:
            index = work["source"][n_single + r]
            lost += weights[4] * turn["friends"][index]["survival"]
            if index < turn["n_board"]:
                deaths += 1
    return after, lost, deaths, open_choices


@njit
def live_deaths(
    before: np.ndarray, combination: int, n_combinations: int, n_deaths: int, n_masks: int
) -> int:
    """Bits of the deaths with which a table holds anything for a combination of digits."""
    live = 0
    for level in range(n_deaths + 1):
        block = level * n_combinations + combination
        for state in range(block * n_masks, (block + 1) * n_masks):
            if before[0, state] > NOTHING / 2 or before[1, state] > NOTHING / 2:
                live |= 1 << level
                break
    return live


@njit
def note_live(before: np.ndarray, n_combinations: int, n_deaths: int, n_masks: int, work: np.void) -> None:
    """Note `live_deaths` of the first `MAX_BLOCKS` combinations in `work`, modified in place."""
    if n_combinations == 1 and n_deaths == 0:
        work["live"][0] = 1
        return
    for combination in range(min(n_combinations, MAX_BLOCKS)):
        work["live"][combination] = live_deaths(before, combination, n_combinations, n_deaths, n_masks)


@njit
def group_by_counts(t: int, n_deaths: int, work: np.void) -> int:
    """Put the sets of hits on target `t` that treat two-hit sources alike side by side.

    Sets that neither kill nor are worth each of their hits are left out where no death can be of use: the
    same set without such a hit is better and leaves more free.

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
                if n_deaths > 0 or work["kills"][t, e] or not work["dull"][t, e]:
                    work["grouped"][n] = e
                    n += 1
    work["group"][groups] = n
    return groups


@njit
def convolve_target(
    turn: np.void,
    weights: np.ndarray,
    work: np.void,
    t: int,
    n_single: int,
    n_double: int,
    n_combinations: int,
    n_deaths: int,
    before: np.ndarray,
    after: np.ndarray,
) -> None:
    """Add one target: the table `after` (modified in place) from the table `before`, each (2, states)."""
    n_blocks = (n_deaths + 1) * n_combinations
    for table in range(2):
        for state in range(n_blocks << n_single):
            after[table, state] = NOTHING
    note_live(before, n_combinations, n_deaths, 1 << n_single, work)
    fill_steps(turn, work, t, n_single, n_double)
    for g in range(group_by_counts(t, n_deaths, work)):
        if work["group"][g] == work["group"][g + 1]:
            continue
        counts = work["counts"][t, work["grouped"][work["group"][g]]]
        for combination in range(n_combinations):
            if combination < MAX_BLOCKS:
                live = work["live"][combination]
            else:
                live = live_deaths(before, combination, n_combinations, n_deaths, 1 << n_single)
            willing = 0
            while live:
                moved, lost, dead, choices = move(
                    turn, weights, work, counts, combination, willing, n_single, n_double
                )
                if moved == IMPOSSIBLE:
                    break
                for level in range(n_deaths + 1):
                    if not (live >> level) & 1:
                        continue
                    block = level * n_combinations + combination
                    for place in range(work["group"][g], work["group"][g + 1]):
                        e = work["grouped"][place]
                        reached = min(level + work["deaths"][t, e] + dead, n_deaths)
                        add_hits(
                            before,
                            after,
                            block << n_single,
                            ((reached * n_combinations + moved) << n_single) | work["mask"][t, e],
                            ((1 << n_single) - 1) ^ work["mask"][t, e],
                            work["gain"][t, e] - lost,
                            work["kills"][t, e] != 0,
                        )
                # Where the order of two hits decides over a death that may free a slot, try both.
                if n_deaths == 0 or willing == choices:
                    break
                willing = (willing - choices) & choices


@njit
def add_hits(
    before: np.ndarray, after: np.ndarray, source: int, sink: int, rest: int, gain: float, kills: bool
) -> None:
    """Add one set of hits to every state whose strikers are among `rest`. `after` is modified in place."""
    others = rest
    while True:
        alive = before[0, source | others] + gain
        cleared = before[1, source | others] + gain
        if kills:
            after[1, sink | others] = max(after[1, sink | others], cleared)
        else:
            alive = max(alive, cleared)
        after[0, sink | others] = max(after[0, sink | others], alive)
        if others == 0:
            return
        others = (others - 1) & rest


@njit
def pass_guards(
    turn: np.void,
    work: np.void,
    n_single: int,
    n_double: int,
    n_combinations: int,
    n_deaths: int,
    before: np.ndarray,
    after: np.ndarray,
) -> None:
    """Go on to the other targets from the states with all guards dead. `after` is modified in place."""
    n_masks = 1 << n_single
    after[:, : (n_deaths + 1) * n_combinations * n_masks] = NOTHING
    for level in range(n_deaths + 1):
        for combination in range(n_combinations):
            moved = behind_guards(turn, work, combination, n_single, n_double)
            source = (level * n_combinations + combination) * n_masks
            sink = (level * n_combinations + moved) * n_masks
            for mask in range(n_masks):
                after[1, sink + mask] = max(after[1, sink + mask], before[1, source + mask])


@njit
def behind_guards(turn: np.void, work: np.void, combination: int, n_single: int, n_double: int) -> int:
    """A combination of digits once all guards are dead."""
    after = 0
    stride = 1
    for r in range(n_double):
        digit = combination % work["radix"][r]
        combination //= work["radix"][r]
        after += after_guards(shielded(turn["friends"][work["source"][n_single + r]]), digit) * stride
        stride *= work["radix"][r]
    return after


@njit
def first_table(n_states: int, table: np.ndarray) -> None:
    """The table of no target: nothing struck, and all of none are dead. Modified in place."""
    table[:, :n_states] = NOTHING
    table[1, 0] = 0.0


@njit
def retrace_target(
    turn: np.void,
    weights: np.ndarray,
    work: np.void,
    t: int,
    n_single: int,
    n_double: int,
    n_combinations: int,
    n_deaths: int,
    before: np.ndarray,
    cleared: int,
    state: int,
    value: float,
) -> tuple[int, int, int, int]:
    """Find a set of hits on target `t` that led to a state with this very value.

    Returns:
        The set's number, the state before, its table (1: all dead), bits of the sources that chose to die.
    """
    fill_steps(turn, work, t, n_single, n_double)
    mask = state & ((1 << n_single) - 1)
    combination_after = (state >> n_single) % n_combinations
    level_after = (state >> n_single) // n_combinations
    for e in range(work["listed"][t]):
        if work["mask"][t, e] & ~mask or (cleared == 1 and not work["kills"][t, e]):
            continue
        for combination in range(n_combinations):
            willing = 0
            while True:
                moved, lost, dead, choices = move(
                    turn, weights, work, work["counts"][t, e], combination, willing, n_single, n_double
                )
                if moved == IMPOSSIBLE:
                    break
                if moved == combination_after:
                    gain = work["gain"][t, e] - lost
                    for level in range(n_deaths + 1):
                        if min(level + work["deaths"][t, e] + dead, n_deaths) != level_after:
                            continue
                        source = ((level * n_combinations + combination) << n_single) | (
                            mask ^ work["mask"][t, e]
                        )
                        for table in range(cleared, 2):
                            if cleared == 0 and table == 1 and work["kills"][t, e]:
                                continue
                            if before[table, source] > NOTHING / 2 and before[table, source] + gain == value:
                                return e, source, table, willing
                if n_deaths == 0 or willing == choices:
                    break
                willing = (willing - choices) & choices
    return -1, 0, 0, 0


@njit
def retrace_guards(
    turn: np.void,
    work: np.void,
    n_single: int,
    n_double: int,
    n_combinations: int,
    before: np.ndarray,
    state: int,
    value: float,
) -> int:
    """The state with all guards dead from which `pass_guards` came to this one; -1 is impossible."""
    mask = state & ((1 << n_single) - 1)
    combination_after = (state >> n_single) % n_combinations
    level = (state >> n_single) // n_combinations
    for combination in range(n_combinations):
        if behind_guards(turn, work, combination, n_single, n_double) == combination_after:
            source = ((level * n_combinations + combination) << n_single) | mask
            if before[1, source] == value:
                return source
    return -1
