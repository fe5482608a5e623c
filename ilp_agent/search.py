"""The exact solver of the sequential turn program: sets of hand attackers, tables of attacks, other plays.

For every set of hand minions that may be played to attack, `ilp_agent.convolve` gives the best value of all
ways to hit enemy minions; whoever is left hits the hero; a small knapsack plays the rest of the hand.
Ties are broken by the first found: hand sets by their bits, then states by their number; among equal
knapsacks the one with more cards, and The Coin is kept unless it adds value.
"""

from typing import NamedTuple

import numpy as np

from engine.codes import BOARD_SIZE, HERO, MAX_MANA, Keyword
from engine.jit import njit
from ilp_agent.convolve import (
    NOTHING,
    convolve_target,
    digit_of,
    first_table,
    pass_guards,
    retrace_guards,
    retrace_target,
)
from ilp_agent.hits import find_sources, find_targets, kills_attacker, list_hits, shielded
from ilp_agent.windfury import DIES, FATAL, MAY_DIE, grade_hits, hero_hits, step
from ilp_agent.work import MAX_HITS, MAX_LAYERS, USUAL_STATES, Work


class Shape(NamedTuple):
    """Sizes of one convolution."""

    n_single: int  # sources with one hit
    n_double: int  # sources with two
    n_combinations: int  # of their digits
    n_deaths: int  # levels of deaths on board beyond none
    n_guards: int  # targets that guard
    n_targets: int  # all targets
    room: int  # board places free for plays beside the hand attackers


class Best(NamedTuple):
    """The best plan found, enough to find it again."""

    value: float
    attackers: int  # bits of hand minions played to attack
    layer: int  # table it ends in
    cleared: int  # 1: with all targets of that table dead
    state: int
    lethal: int  # 1: the enemy hero dies


@njit
def budget(turn: np.void) -> int:
    """Mana that can be spent, The Coin included; at 10 mana it follows the first paid card."""
    return turn["mana"] + turn["coin"]


@njit
def cost_of(turn: np.void, attackers: int) -> int:
    """Mana of a set of hand minions, or 99 where one costs more than a player can ever have."""
    total = 0
    for k in range(turn["n_hand"]):
        if (attackers >> k) & 1:
            cost = turn["friends"][turn["n_board"] + k]["cost"]
            total += cost if cost <= min(budget(turn), MAX_MANA) else 99
    return total


@njit
def can_attack_from_hand(turn: np.void) -> int:
    """Bits of the hand minions that could be played to attack at all."""
    bits = 0
    for k in range(turn["n_hand"]):
        friend = turn["friends"][turn["n_board"] + k]
        if friend["attacks"] > 0 and friend["cost"] <= min(budget(turn), MAX_MANA):
            bits |= 1 << k
    return bits


@njit
def pack(turn: np.void, weights: np.ndarray, attackers: int, most: int, work: Work) -> int:
    """Best values of playing other hand minions by number of places and mana; returns how many could be.

    `work.knapsack[p, m]` is the best with at most `p` places and `m` mana. `work` is modified in place.
    """
    mana = budget(turn) - cost_of(turn, attackers)
    n = 0
    work.knapsack[: most + 1, : mana + 1] = 0.0
    work.packed[: most + 1, : mana + 1] = 0
    for k in range(turn["n_hand"]):
        friend = turn["friends"][turn["n_board"] + k]
        cost = friend["cost"]
        if (attackers >> k) & 1 or cost > min(mana, MAX_MANA):
            continue
        n += 1
        gain = weights[7] * friend["value"] + weights[4] * friend["health"]
        for places in range(most, 0, -1):
            for m in range(mana, cost - 1, -1):
                value = work.knapsack[places - 1, m - cost] + gain
                cards = work.packed[places - 1, m - cost] + 1
                better = value > work.knapsack[places, m]
                if better or (value == work.knapsack[places, m] and cards > work.packed[places, m]):
                    work.knapsack[places, m] = value
                    work.packed[places, m] = cards
    return n


@njit
def affordable(turn: np.void, attackers: int) -> int:
    """Other hand minions that could be played singly beside a set of hand attackers."""
    mana = budget(turn) - cost_of(turn, attackers)
    n = 0
    for k in range(turn["n_hand"]):
        cost = turn["friends"][turn["n_board"] + k]["cost"]
        if not (attackers >> k) & 1 and cost <= min(mana, MAX_MANA):
            n += 1
    return n


@njit
def other_plays(turn: np.void, attackers: int, places: int, work: Work) -> tuple[float, int]:
    """Best value of other plays with so many places, and the mana limit it needs: without The Coin if as good."""
    mana = budget(turn) - cost_of(turn, attackers)
    places = min(places, BOARD_SIZE)
    if turn["coin"] and mana >= 1 and work.knapsack[places, mana - 1] >= work.knapsack[places, mana]:
        mana -= 1
    return work.knapsack[places, mana], mana


@njit
def prepare(turn: np.void, weights: np.ndarray, attackers: int, work: Work) -> Shape:
    """List sources, targets and hits for one set of hand attackers. `work` is modified in place."""
    n_single, n_double = find_sources(turn, attackers, work)
    n_guards, n_targets = find_targets(turn, work)
    combinations = grade_hits(turn, n_single, n_double, n_targets, work)
    for t in range(n_targets):
        list_hits(turn, weights, t, n_single, n_double, work)
    played = 0
    for k in range(turn["n_hand"]):
        played += (attackers >> k) & 1
    room = BOARD_SIZE - turn["n_board"] - played
    wanted = affordable(turn, attackers) - room
    mortal = 0
    for i in range(n_single + n_double):
        if work.source[i] < turn["n_board"]:
            mortal += 1
    return Shape(n_single, n_double, combinations, max(0, min(wanted, mortal)), n_guards, n_targets, room)


@njit
def fill_tables(turn: np.void, weights: np.ndarray, shape: Shape, tables: np.ndarray, work: Work) -> int:
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
    return layer


@njit
def hits_left(turn: np.void, shape: Shape, work: Work, state: int, i: int) -> tuple[int, bool]:
    """Attacks source `i` has left for the hero in a state, and whether one may be the last blow."""
    friend = turn["friends"][work.source[i]]
    if not friend["hits_hero"]:
        return 0, False
    if i < shape.n_single:
        return 1 - ((state >> i) & 1), True
    digit = digit_of(work, (state >> shape.n_single) % shape.n_combinations, i - shape.n_single)
    # After a fatal hit on an enemy (which must be its second) only the first is left.
    doomed = digit == FATAL and not shielded(friend)
    return hero_hits(digit), not doomed


@njit
def most_damage(turn: np.void, shape: Shape, work: Work, state: int, limit: int, without: int) -> int:
    """The largest sum of attacks on the hero that is at most `limit`, leaving out one hit of source `without`.

    `work.sums` is modified in place: which sums can be reached.
    """
    work.sums[: limit + 1] = False
    work.sums[0] = True
    for i in range(shape.n_single + shape.n_double):
        hits, _ = hits_left(turn, shape, work, state, i)
        attack = turn["friends"][work.source[i]]["attack"]
        for _ in range(hits - (1 if i == without else 0)):
            for total in range(limit, attack - 1, -1):
                if work.sums[total - attack]:
                    work.sums[total] = True
    total = limit
    while not work.sums[total]:
        total -= 1
    return total


@njit
def face_value(
    turn: np.void, weights: np.ndarray, shape: Shape, work: Work, state: int, floor: float
) -> tuple[float, bool]:
    """The best that those left can do to the hero: its value and whether it kills.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: W1 to W8.
        shape: of the convolution.
        work: sums is modified in place.
        state: who has struck.
        floor: a value that a kill must exceed to be worth computing.
    """
    total = 0
    blow = 0
    for i in range(shape.n_single + shape.n_double):
        hits, last = hits_left(turn, shape, work, state, i)
        attack = turn["friends"][work.source[i]]["attack"]
        total += hits * attack
        if hits and last:
            blow = max(blow, attack)
    hero = turn["hero"]
    if total < hero:
        return weights[2] * total, False
    if weights[0] + weights[2] * total <= floor:
        return NOTHING, False
    damage, _ = lethal_damage(turn, shape, work, state)
    if damage >= hero:
        return weights[0] + weights[2] * damage, True
    return weights[2] * most_damage(turn, shape, work, state, hero - 1, -1), False


@njit
def lethal_damage(turn: np.void, shape: Shape, work: Work, state: int) -> tuple[int, int]:
    """Most damage of a kill, everything before the last blow leaving the hero alive, and who strikes it.

    `work.sums` is modified in place. Damage 0 and source -1 where no kill is possible.
    """
    hero = turn["hero"]
    best = 0
    who = -1
    for i in range(shape.n_single + shape.n_double):
        hits, last = hits_left(turn, shape, work, state, i)
        if hits and last:
            attack = turn["friends"][work.source[i]]["attack"]
            damage = most_damage(turn, shape, work, state, hero - 1, i) + attack
            if damage >= hero and damage > best:
                best = damage
                who = i
    return best, who


@njit
def tables_for(shape: Shape, work: Work) -> np.ndarray:
    """The tables of the workspace, or larger ones where a turn needs them."""
    states = ((shape.n_deaths + 1) * shape.n_combinations) << shape.n_single
    if states <= USUAL_STATES:
        return work.layers
    return np.empty((MAX_LAYERS, 2, states), np.float64)


@njit
def search(turn: np.void, weights: np.ndarray, work: Work) -> Best:
    """The best plan of a turn, without its order (see `ilp_agent.order`).

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: W1 to W8, finite and >= 0.
        work: modified in place.
    """
    able = can_attack_from_hand(turn)
    free = BOARD_SIZE - turn["n_board"]
    base = 0.0
    hidden = False
    for place in range(turn["n_enemies"]):
        base -= weights[3] * turn["enemies"][place]["attack"]
        hidden = hidden or (turn["enemies"][place]["keywords"] & Keyword.STEALTH) != 0
    for friend in range(turn["n_board"]):
        base += weights[4] * turn["friends"][friend]["health"]
    best = Best(NOTHING, 0, 0, 0, 0, 0)
    attackers = 0
    while True:
        played = 0
        value = base
        for k in range(turn["n_hand"]):
            if (attackers >> k) & 1:
                played += 1
                friend = turn["friends"][turn["n_board"] + k]
                value += weights[7] * friend["value"] + weights[4] * friend["health"]
        if played <= free and cost_of(turn, attackers) <= budget(turn):
            best = search_with(turn, weights, attackers, value, hidden, best, work)
        attackers = (attackers - able) & able
        if attackers == 0:
            return best


@njit
def search_with(
    turn: np.void, weights: np.ndarray, attackers: int, base: float, hidden: bool, best: Best, work: Work
) -> Best:
    """The better of `best` and the best plan that first plays the hand minions `attackers`."""
    shape = prepare(turn, weights, attackers, work)
    tables = tables_for(shape, work)
    last = fill_tables(turn, weights, shape, tables, work)
    pack(turn, weights, attackers, min(shape.room + shape.n_deaths, BOARD_SIZE), work)
    plays = np.empty(BOARD_SIZE + 1, np.float64)
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
    for cleared in range(2):
        bonus = weights[1] if cleared and not hidden else 0.0
        if cleared == 0 and shape.n_targets == shape.n_guards:
            continue
        for state in range((shape.n_deaths + 1) * per_level):
            value = tables[last, cleared, state]
            if value > NOTHING / 2:
                value += plays[state // per_level] + bonus
                face, lethal = face_value(turn, weights, shape, work, state, best.value - value)
                if value + face > best.value:
                    best = Best(value + face, attackers, last, cleared, state, 1 if lethal else 0)
    return best


@njit
def retrace(turn: np.void, weights: np.ndarray, best: Best, work: Work) -> int:
    """Write the attacks and plays of a plan that `search` found; returns how many attacks.

    `work` is modified in place: hit_source, hit_target, played, dying, killed.
    """
    shape = prepare(turn, weights, best.attackers, work)
    tables = tables_for(shape, work)
    last = fill_tables(turn, weights, shape, tables, work)
    work.dying[:] = False
    work.killed[:] = False
    s, d, c, k = shape.n_single, shape.n_double, shape.n_combinations, shape.n_deaths
    n = 0
    if best.layer == last:
        n = hero_attacks(turn, weights, shape, best, work)
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
    turn: np.void, work: Work, shape: Shape, t: int, e: int, state: int, willing: int, n: int
) -> int:
    """Write the hits of set `e` on target `t` and who dies by them; returns the new count of attacks."""
    enemy = turn["enemies"][work.target[t]]
    if work.kills[t, e]:
        work.killed[work.target[t]] = True
    for i in range(shape.n_single + shape.n_double):
        index = work.source[i]
        friend = turn["friends"][index]
        if i < shape.n_single:
            count = (work.mask[t, e] >> i) & 1
            if count and kills_attacker(friend, enemy) and not shielded(friend):
                work.dying[index] = True
        else:
            r = i - shape.n_single
            count = (work.counts[t, e] >> (2 * r)) & 3
            if count:
                digit = digit_of(work, (state >> shape.n_single) % shape.n_combinations, r)
                _, fate = step(
                    shielded(friend),
                    friend["health"],
                    enemy["attack"],
                    work.kind[r, t],
                    work.grade[r, t],
                    work.graded[r],
                    digit,
                    count,
                )
                if fate == DIES or (fate == MAY_DIE and (willing >> r) & 1):
                    work.dying[index] = True
        for _ in range(count):
            work.hit_source[n] = index
            work.hit_target[n] = work.target[t]
            n += 1
    return n


@njit
def hero_attacks(turn: np.void, weights: np.ndarray, shape: Shape, best: Best, work: Work) -> int:
    """Write the attacks on the hero, the last blow of a kill first; returns how many."""
    n = 0
    hero = turn["hero"]
    blow = -1
    total = 0
    for i in range(shape.n_single + shape.n_double):
        hits, _ = hits_left(turn, shape, work, best.state, i)
        total += hits * turn["friends"][work.source[i]]["attack"]
    target = total
    if best.lethal:
        damage, blow = lethal_damage(turn, shape, work, best.state)
        target = damage - turn["friends"][work.source[blow]]["attack"]
        work.hit_source[n] = work.source[blow]
        work.hit_target[n] = HERO
        n += 1
    elif total >= hero:
        target = most_damage(turn, shape, work, best.state, hero - 1, -1)
    # Choose who makes up `target`: each strikes in turn unless those after it could not make up the rest.
    waiting = np.empty(MAX_HITS, np.int64)
    n_waiting = 0
    for i in range(shape.n_single + shape.n_double):
        hits, _ = hits_left(turn, shape, work, best.state, i)
        for _ in range(hits - (1 if i == blow else 0)):
            waiting[n_waiting] = work.source[i]
            n_waiting += 1
    for first in range(n_waiting):
        attack = turn["friends"][waiting[first]]["attack"]
        if attack <= target and reachable(turn, waiting[first + 1 : n_waiting], target - attack, work):
            work.hit_source[n] = waiting[first]
            work.hit_target[n] = HERO
            n += 1
            target -= attack
    return n


@njit
def reachable(turn: np.void, sources: np.ndarray, target: int, work: Work) -> bool:
    """Whether some of these attacks sum to `target`. `work.sums` is modified in place."""
    work.sums[: target + 1] = False
    work.sums[0] = True
    for source in sources:
        attack = turn["friends"][source]["attack"]
        for total in range(target, attack - 1, -1):
            if work.sums[total - attack]:
                work.sums[total] = True
    return bool(work.sums[target])


@njit
def write_plays(turn: np.void, weights: np.ndarray, best: Best, shape: Shape, work: Work) -> None:
    """Mark the hand minions a plan plays. `work` is modified in place."""
    m = turn["n_board"]
    work.played[:] = False
    for k in range(turn["n_hand"]):
        work.played[m + k] = (best.attackers >> k) & 1
    level = (best.state >> shape.n_single) // shape.n_combinations
    places = min(shape.room + level, BOARD_SIZE)
    pack(turn, weights, best.attackers, places, work)
    value, mana = other_plays(turn, best.attackers, places, work)
    fill = np.zeros((turn["n_hand"] + 1, places + 1, mana + 1), np.float64)
    cards = np.zeros((turn["n_hand"] + 1, places + 1, mana + 1), np.int64)
    for k in range(turn["n_hand"]):
        friend = turn["friends"][m + k]
        fill[k + 1] = fill[k]
        cards[k + 1] = cards[k]
        if work.played[m + k] or friend["cost"] > min(mana, MAX_MANA):
            continue
        gain = weights[7] * friend["value"] + weights[4] * friend["health"]
        for p in range(1, places + 1):
            for left in range(friend["cost"], mana + 1):
                new = fill[k, p - 1, left - friend["cost"]] + gain
                count = cards[k, p - 1, left - friend["cost"]] + 1
                if new > fill[k + 1, p, left] or (
                    new == fill[k + 1, p, left] and count > cards[k + 1, p, left]
                ):
                    fill[k + 1, p, left] = new
                    cards[k + 1, p, left] = count
    p = places
    left = mana
    for k in range(turn["n_hand"] - 1, -1, -1):
        if fill[k + 1, p, left] != fill[k, p, left] or cards[k + 1, p, left] != cards[k, p, left]:
            work.played[m + k] = True
            left -= turn["friends"][m + k]["cost"]
            p -= 1
