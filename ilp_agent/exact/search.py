"""The exact solver of the sequential turn program: sets of hand attackers, tables of attacks, other plays.

For every set of hand minions that may be played to attack, `ilp_agent.exact.convolve` gives the best value
of all ways to hit enemy minions; whoever is left hits the hero; a small knapsack plays the rest of the hand.
Ties are broken by the first found: hand sets by their bits, then states by their number; among equal
knapsacks the one with more cards, and The Coin is kept unless it adds value.
"""

import numpy as np

from engine.codes import BOARD_SIZE, Keyword
from engine.jit import njit
from ilp_agent.exact.convolve import (
    NOTHING,
    convolve_target,
    digit_of,
    first_table,
    pass_guards,
    retrace_guards,
    retrace_target,
)
from ilp_agent.exact.face import double_damage, face_value, hero_attacks, sum_undone
from ilp_agent.exact.hits import find_sources, find_targets, kills_attacker, list_hits, shielded
from ilp_agent.exact.plays import (
    budget,
    can_attack_from_hand,
    cost_of,
    most_plays,
    other_plays,
    pack,
    repeats,
    write_plays,
)
from ilp_agent.exact.windfury import DIES, MAY_DIE, grade_hits, step
from ilp_agent.exact.work import MAX_LAYERS, MAX_STATES, USUAL_STATES, Best, Shape


@njit
def prepare(turn: np.void, weights: np.ndarray, attackers: int, work: np.void) -> Shape:
    """List sources, targets and hits for one set of hand attackers. `work` is modified in place."""
    n_single, n_double = find_sources(turn, attackers, work)
    n_guards, n_targets = find_targets(turn, work)
    combinations = grade_hits(turn, n_single, n_double, n_targets, work)
    for t in range(n_targets):
        list_hits(turn, weights, t, n_single, n_double, work)
    played = 0
    for k in range(turn["n_hand"]):
        played += (attackers >> k) & 1
    room = BOARD_SIZE - turn["n_board"] - played + turn["freed"]
    wanted = most_plays(turn, attackers) - room
    mortal = 0
    for i in range(n_single + n_double):
        if work["source"][i] < turn["n_board"] and can_die(turn, work, i, n_single, n_targets):
            mortal += 1
    deaths = max(0, min(wanted, mortal))
    pack(turn, weights, attackers, min(room + deaths, BOARD_SIZE), work)
    most = other_plays(turn, attackers, room + deaths, work)[0]
    while deaths > 0 and other_plays(turn, attackers, room + deaths - 1, work)[0] >= most:
        deaths -= 1  # another place would hold nothing worth more
    return Shape(n_single, n_double, combinations, deaths, n_guards, n_targets, room)


@njit
def can_die(turn: np.void, work: np.void, i: int, n_single: int, n_targets: int) -> bool:
    """Whether any attacks of source `i` could kill it."""
    friend = turn["friends"][work["source"][i]]
    for t in range(n_targets):
        enemy = turn["enemies"][work["target"][t]]
        if i >= n_single and enemy["attack"] > 0:
            return True
        if kills_attacker(friend, enemy) and not shielded(friend):
            return True
    return False


@njit
def prepared(work: np.void) -> Shape:
    """The shape that `fill_tables` noted."""
    s = work["shape"]
    return Shape(s[0], s[1], s[2], s[3], s[4], s[5], s[6])


@njit
def fill_tables(turn: np.void, weights: np.ndarray, shape: Shape, tables: np.ndarray, work: np.void) -> int:
    """Run the convolution over all targets; returns the number of the last table. Modified in place."""
    s, d, c, k = shape.n_single, shape.n_double, shape.n_combinations, shape.n_deaths
    first_table(((k + 1) * c) << s, tables[0])
    layer = 0
    for t in range(shape.n_targets):
        if t == shape.n_guards and t > 0:
            pass_guards(turn, work, s, d, c, k, tables[layer], tables[layer + 1])
            layer += 1
        convolve_target(turn, weights, work, t, s, d, c, k, tables[layer], tables[layer + 1])
        layer += 1
    if shape.n_guards > 0 and shape.n_guards == shape.n_targets:
        pass_guards(turn, work, s, d, c, k, tables[layer], tables[layer + 1])
        layer += 1
    for place in range(len(shape)):
        work["shape"][place] = shape[place]
    work["last"] = layer
    return layer


@njit
def tables_for(shape: Shape, layers: np.ndarray) -> np.ndarray:
    """The tables of the workspace, or larger ones where a turn needs them."""
    if states_of(shape) <= USUAL_STATES:
        return layers
    return np.empty((MAX_LAYERS, 2, states_of(shape)), np.float64)


@njit
def states_of(shape: Shape) -> int:
    """States of a table."""
    return ((shape.n_deaths + 1) * shape.n_combinations) << shape.n_single


@njit
def search(turn: np.void, weights: np.ndarray, work: np.void, layers: np.ndarray) -> Best:
    """The best plan of a turn, without its order (see `ilp_agent.exact.order`).

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: W1 to W8, finite and >= 0.
        work: dtype `WORK`. Modified in place.
        layers: tables of `ilp_agent.exact.work.new_layers`. Modified in place.
    """
    able = can_attack_from_hand(turn)
    best = Best(NOTHING, 0, 0, 0, 0, 0)
    work["oversize"] = 0
    attackers = 0
    while True:
        if can_come(turn, attackers):
            best = search_with(turn, weights, attackers, best, work, layers)
        attackers = (attackers - able) & able
        if attackers == 0:
            return best


@njit
def can_come(turn: np.void, attackers: int) -> bool:
    """Whether a set of hand minions can be played to attack, and no equal set comes before it."""
    played = 0
    for k in range(turn["n_hand"]):
        played += (attackers >> k) & 1
    room = played <= BOARD_SIZE - turn["n_board"]
    return room and cost_of(turn, attackers) <= budget(turn) and not repeats(turn, attackers)


@njit
def search_with(
    turn: np.void, weights: np.ndarray, attackers: int, best: Best, work: np.void, layers: np.ndarray
) -> Best:
    """The better of `best` and the best plan that first plays the hand minions `attackers`.

    Args:
        turn: as for `search`, or what is left of a turn, with the minions `attackers` still in hand.
        weights: W1 to W8.
        attackers: bits of hand minions.
        best: the best plan so far.
        work: modified in place.
        layers: modified in place.
    """
    base = 0.0
    hidden = False
    for place in range(turn["n_enemies"]):
        base -= weights[3] * turn["enemies"][place]["attack"]
        hidden = hidden or (turn["enemies"][place]["keywords"] & Keyword.STEALTH) != 0
    for index in range(turn["n_board"]):
        base += weights[4] * turn["friends"][index]["survival"]
    for k in range(turn["n_hand"]):
        if (attackers >> k) & 1:
            friend = turn["friends"][turn["n_board"] + k]
            base += weights[7] * friend["value"] + weights[4] * friend["survival"]
    shape = prepare(turn, weights, attackers, work)
    if states_of(shape) > MAX_STATES:
        work["oversize"] = 1
        return best
    tables = tables_for(shape, layers)
    last = fill_tables(turn, weights, shape, tables, work)
    # Tables that did not fit the workspace are gone when they are wanted again.
    work["filled"] = attackers if states_of(shape) <= USUAL_STATES else -1
    plays = work["plays"]
    for level in range(shape.n_deaths + 1):
        plays[level] = base + other_plays(turn, attackers, shape.room + level, work)[0]
    per_level = shape.n_combinations << shape.n_single
    if shape.n_guards > 0:
        for state in range((shape.n_deaths + 1) * per_level):
            value = tables[shape.n_guards, 0, state]
            if value > NOTHING / 2:
                value += plays[state // per_level]
                if value > best.value:
                    best = Best(value, attackers, shape.n_guards, 0, state, 0)
    sum_undone(turn, shape, work)
    n_masks = 1 << shape.n_single
    for cleared in range(2):
        bonus = weights[1] if cleared and not hidden else 0.0
        if cleared == 0 and shape.n_targets == shape.n_guards:
            continue
        for block in range((shape.n_deaths + 1) * shape.n_combinations):
            by_doubles = double_damage(turn, shape, work, block % shape.n_combinations)
            for mask in range(n_masks):
                state = block * n_masks + mask
                value = tables[last, cleared, state]
                if value < NOTHING / 2:
                    continue
                value += plays[block // shape.n_combinations] + bonus
                damage = work["undone"][mask] + by_doubles
                lethal = False
                if damage < turn["hero"]:
                    value += weights[2] * damage
                else:
                    face, lethal = face_value(turn, weights, shape, work, state, best.value - value)
                    value += face
                if value > best.value:
                    best = Best(value, attackers, last, cleared, state, 1 if lethal else 0)
    return best


@njit
def retrace(turn: np.void, weights: np.ndarray, best: Best, work: np.void, layers: np.ndarray) -> int:
    """Write the attacks and plays of a plan that `search` found; returns how many attacks.

    `work` is modified in place: hit_source, hit_target, played, dying, killed.
    """
    shape = prepared(work)
    tables = tables_for(shape, layers)
    last = work["last"]
    if work["filled"] != best.attackers:
        shape = prepare(turn, weights, best.attackers, work)
        tables = tables_for(shape, layers)
        last = fill_tables(turn, weights, shape, tables, work)
    work["dying"][:] = False
    work["killed"][:] = False
    s, d, c, k = shape.n_single, shape.n_double, shape.n_combinations, shape.n_deaths
    n = 0
    if best.layer == last:
        n = hero_attacks(turn, shape, best, work)
    layer = best.layer
    state = best.state
    cleared = best.cleared
    t = shape.n_targets if layer == last else shape.n_guards
    while t > 0:
        if shape.n_guards > 0 and t == shape.n_guards and layer == shape.n_guards + 1:
            state = retrace_guards(
                turn, work, s, d, c, tables[layer - 1], state, tables[layer, cleared, state]
            )
            cleared = 1
            layer -= 1
        t -= 1
        value = tables[layer, cleared, state]
        e, state, cleared, willing = retrace_target(
            turn, weights, work, t, s, d, c, k, tables[layer - 1], cleared, state, value
        )
        assert e >= 0, "every reached state came from one before it"
        layer -= 1
        n = write_hits(turn, work, shape, t, e, state, willing, n)
    write_plays(turn, weights, best, shape, work)
    return n


@njit
def write_hits(
    turn: np.void, work: np.void, shape: Shape, t: int, e: int, state: int, willing: int, n: int
) -> int:
    """Write the hits of set `e` on target `t` and who dies by them; returns the new count of attacks."""
    enemy = turn["enemies"][work["target"][t]]
    if work["kills"][t, e]:
        work["killed"][work["target"][t]] = True
    for i in range(shape.n_single + shape.n_double):
        index = work["source"][i]
        friend = turn["friends"][index]
        if i < shape.n_single:
            count = (work["mask"][t, e] >> i) & 1
            if count and kills_attacker(friend, enemy) and not shielded(friend):
                work["dying"][index] = True
        else:
            r = i - shape.n_single
            count = (work["counts"][t, e] >> (2 * r)) & 3
            if count:
                digit = digit_of(work, (state >> shape.n_single) % shape.n_combinations, r)
                _, fate = step(
                    shielded(friend),
                    friend["health"],
                    enemy["attack"],
                    work["kind"][r, t],
                    work["grade"][r, t],
                    work["graded"][r],
                    digit,
                    count,
                )
                if fate == DIES or (fate == MAY_DIE and (willing >> r) & 1):
                    work["dying"][index] = True
        for _ in range(count):
            work["hit_source"][n] = index
            work["hit_target"][n] = work["target"][t]
            n += 1
    return n
