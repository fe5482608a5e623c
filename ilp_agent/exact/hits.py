"""Sets of attackers that can hit one enemy in the same turn, with each set's value and Divine Shield hits.

A source is a friendly minion that can attack: one hit each for the first `n_single`, up to two for the
others (Windfury). A target is an enemy that can be attacked, guards (Taunt minions) first. A set of hits on
a target is feasible if some order leaves the target alive before its last hit. Every subset of a feasible
set is feasible, so lists grow by adding one source at a time.

If health left on the board has weight (`body`, `wound`), the value of a set of attacks is that of its best
order: a friendly minion's shield absorbs the larger damage of its two attacks, the shield of a surviving
enemy absorbs the weakest hit that leaves it alive.
"""

import numpy as np

from engine.codes import HERO, Keyword
from engine.jit import njit, njit_inline, non_literal
from engine.state import guards
from ilp_agent.exact.work import ANY_HIT, HITS_BITS, N_HIT_SUMS, Combatants, Shape
from ilp_agent.features import health_value
from ilp_agent.turn import MAX_HITS_EACH
from ilp_agent.weights import Term

SUM, STRONGEST, SECOND, POISON, HITS = range(N_HIT_SUMS)
"""Columns of "hit_sums": sum and the two strongest of the hits without Poisonous; number of Poisonous hits;
number of all hits."""


@njit
def kills_attacker(friend: np.void, enemy: np.void) -> bool:
    """Whether an enemy's damage kills an attacker without Divine Shield."""
    return bool(
        enemy["attack"] > 0 and (enemy["keywords"] & Keyword.POISONOUS or enemy["attack"] >= friend["health"])
    )


@njit
def shielded(minion: np.void) -> bool:
    """Whether a minion has Divine Shield."""
    return bool((minion["keywords"] & Keyword.DIVINE_SHIELD) != 0)


@njit
def attack_cost(friend: np.void, enemy: np.void, weights: np.ndarray) -> float:
    """Cost of an attack for a one-hit source: its death or lost health (`survive`, `body`, full weights)."""
    if shielded(friend):
        return 0.0
    each = health_value(friend["keywords"], weights)
    if kills_attacker(friend, enemy):
        body = friend["attack"] + friend["health"]
        cost = weights[Term.SURVIVE] * friend["survival"] + weights[Term.BODY] * body
        return float(cost + weights[Term.ATTACK] * friend["attack"] + each * friend["health"])
    return float(weights[Term.BODY] * enemy["attack"] + each * enemy["attack"])


@njit
def counts_damage(weights: np.ndarray) -> bool:
    """Whether the health that own minions have left counts."""
    return bool(weights[Term.BODY] != 0.0 or weights[Term.HEALTH] != 0.0 or weights[Term.TAUNT] != 0.0)


@njit
def wound_value(weights: np.ndarray) -> float:
    """Value of a point of health taken off an enemy."""
    return float(weights[Term.WOUND] + weights[Term.ENEMY_HEALTH])


@njit
def hero_damage_value(weights: np.ndarray) -> float:
    """Value of a point of damage to the enemy hero, who survives."""
    return float(weights[Term.FACE] + weights[Term.ENEMY_HERO])


@njit
def hero_kill_value(weights: np.ndarray, damage: int, health: int) -> float:
    """Value of attacks of `damage` that kill the enemy hero, of `health` with armour."""
    return float(weights[Term.LETHAL] + weights[Term.FACE] * damage + weights[Term.ENEMY_HERO] * health)


@njit
def unpack_hits(counts: int, r: int) -> int:
    """Number of hits by Windfury attacker `r`, from the packed counts of a set of hits on one target."""
    return (counts >> (HITS_BITS * r)) & ((1 << HITS_BITS) - 1)


@njit
def list_attackers_and_targets(turn: np.void, attackers: int, work: np.void) -> Combatants:
    """List attackers and targets of a turn in "source" and "target" of `work`.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        attackers: bits of the hand minions that are played first in order to attack.
        work: modified in place.
    """
    n = 0
    n_single = 0
    for hits in range(1, MAX_HITS_EACH + 1):
        for friend in range(turn["n_board"] + turn["n_hand"]):
            present = friend < turn["n_board"] or (attackers >> (friend - turn["n_board"])) & 1
            if present and turn["friends"][friend]["attacks"] == hits:
                work["source"][n] = friend
                n += 1
        if hits == 1:
            n_single = n
    n_guards, n_targets = _find_targets(turn, work)
    return Combatants(n_single, n - n_single, n_guards, n_targets)


@njit
def _find_targets(turn: np.void, work: np.void) -> tuple[int, int]:
    """List the attackable enemies in "target", guards first; returns the number of guards and of all."""
    n = 0
    n_guards = 0
    for guarding in (True, False):
        for place in range(turn["n_enemies"]):
            enemy = turn["enemies"][place]
            attackable = enemy["health"] > 0 and not enemy["keywords"] & Keyword.STEALTH
            if attackable and guards(enemy) == guarding:
                work["target"][n] = place
                n += 1
        if guarding:
            n_guards = n
    return n_guards, n


@njit
def list_hit_sets(turn: np.void, weights: np.ndarray, shape: Shape, t: int, work: np.void) -> None:
    """List all feasible sets of hits on target `t` with their values, the empty set first.

    The value contains the terms of the hits (damage, trade), the threat removed by a kill, the target's lost
    health (wound), and the losses of one-hit sources (survive, body). The losses of two-hit sources depend on
    their other hit and are not included.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: of the objective, indexed by `Term`.
        shape: sizes of the convolution.
        t: number of the target.
        work: modified in place: row `t` of mask, counts, gain, kills, deaths, dominated, listed.
    """
    work["mask"][t, 0] = 0
    work["counts"][t, 0] = 0
    work["gain"][t, 0] = 0.0
    work["kills"][t, 0] = False
    work["deaths"][t, 0] = 0
    work["dominated"][t, 0] = 0
    work["hit_sums"][0, :] = 0
    n = non_literal(1)
    for i in range(shape.n_single + shape.n_double):
        if not (turn["friends"][work["source"][i]]["barred"] >> work["target"][t]) & 1:
            n = _add_source(turn, weights, shape, t, i, n, work)
    work["listed"][t] = n
    wound = wound_value(weights)
    if wound != 0.0:
        for e in range(1, n):
            work["gain"][t, e] += wound * _health_taken(turn, shape, t, e, work)


@njit
def _add_source(
    turn: np.void, weights: np.ndarray, shape: Shape, t: int, i: int, n: int, work: np.void
) -> int:
    """Append the feasible extensions of the first `n` sets by hits of source `i`; returns the new length."""
    enemy = turn["enemies"][work["target"][t]]
    friend = turn["friends"][work["source"][i]]
    attack = friend["attack"]
    poison = (friend["keywords"] & Keyword.POISONOUS) != 0
    dies = kills_attacker(friend, enemy) and not shielded(friend)
    value = weights[Term.DAMAGE] * attack - weights[Term.TRADE] * enemy["attack"]
    cost = attack_cost(friend, enemy, weights) if i < shape.n_single else 0.0
    # Upper bound of the health that one more hit takes off, directly or by popping the shield for others.
    wound = wound_value(weights) * (enemy["health"] - 1 if shielded(enemy) else attack)
    loses = value + wound < cost
    most = 1
    if i >= shape.n_single and not dies:
        most = MAX_HITS_EACH  # an unshielded attacker killed by its first hit has no second
    before = n
    for e in range(before):
        base = e
        for count in range(1, most + 1):
            sums = work["hit_sums"][n]
            sums[:] = work["hit_sums"][base]
            _add_hit(sums, attack, poison)
            if not _feasible(sums, enemy):
                break
            work["gain"][t, n] = _gain_without_threat(work, weights, enemy, t, base) + value
            work["mask"][t, n] = work["mask"][t, e]
            work["counts"][t, n] = work["counts"][t, e]
            work["deaths"][t, n] = work["deaths"][t, e]
            work["dominated"][t, n] = work["dominated"][t, e] | loses
            if i < shape.n_single:
                work["mask"][t, n] |= 1 << i
                work["gain"][t, n] -= cost
                if dies and work["source"][i] < turn["n_board"]:
                    work["deaths"][t, n] += 1
            else:
                work["counts"][t, n] |= count << (HITS_BITS * (i - shape.n_single))
            work["kills"][t, n] = _killed(turn, shape, t, n, work)
            if work["kills"][t, n]:
                work["gain"][t, n] += weights[Term.THREAT] * enemy["attack"]
            base = n
            n += 1
    return n


@njit
def _gain_without_threat(work: np.void, weights: np.ndarray, enemy: np.void, t: int, e: int) -> float:
    """Gain of a listed set of hits, without the threat that the target's death removes."""
    if work["kills"][t, e]:
        return float(work["gain"][t, e] - weights[Term.THREAT] * enemy["attack"])
    return float(work["gain"][t, e])


@njit
def _add_hit(sums: np.ndarray, attack: int, poison: bool) -> None:
    """Add one hit to a row of "hit_sums", modified in place."""
    sums[HITS] += 1
    if poison:
        sums[POISON] += 1
        return
    sums[SUM] += attack
    if attack > sums[STRONGEST]:
        sums[SECOND] = sums[STRONGEST]
        sums[STRONGEST] = attack
    elif attack > sums[SECOND]:
        sums[SECOND] = attack


@njit
def _feasible(sums: np.ndarray, enemy: np.void) -> bool:
    """Whether a set of hits is feasible: some order leaves the target alive before its last hit.

    The hits other than the last and the one absorbed by a shield (at best the two strongest) must not kill.
    """
    spared = 2 if shielded(enemy) else 1
    if sums[POISON] > spared:
        return False
    rest = sums[SUM]
    if spared - sums[POISON] >= 1:
        rest -= sums[STRONGEST]
    if spared - sums[POISON] >= 2:
        rest -= sums[SECOND]
    return bool(rest < enemy["health"])


@njit_inline
def _killed(turn: np.void, shape: Shape, t: int, e: int, work: np.void) -> bool:
    """Whether a feasible set of hits can kill the target."""
    enemy = turn["enemies"][work["target"][t]]
    sums = work["hit_sums"][e]
    health = enemy["health"]
    if not shielded(enemy):
        return bool(sums[POISON] > 0 or sums[SUM] >= health)
    if sums[POISON] > 0:
        return bool(sums[HITS] >= 2)
    # The strongest hit is last; any other may pop the shield if the rest kills, but not before the last hit.
    least = sums[SUM] - sums[STRONGEST] - health + 1
    most = sums[SUM] - health
    spare_strongest = 1
    for i in range(shape.n_single + shape.n_double):
        hits = _hits_of_source(shape, t, e, i, work)
        attack = turn["friends"][work["source"][i]]["attack"]
        if attack == sums[STRONGEST] and hits and spare_strongest:
            hits -= 1
            spare_strongest = 0
        if hits and least <= attack <= most:
            return True
    return False


@njit
def _health_taken(turn: np.void, shape: Shape, t: int, e: int, work: np.void) -> int:
    """Health that a target loses by a set of hits.

    A killed target loses all. The shield of a survivor absorbs the weakest hit without which the others leave
    it alive.
    """
    enemy = turn["enemies"][work["target"][t]]
    sums = work["hit_sums"][e]
    if work["kills"][t, e]:
        return int(enemy["health"])
    if not shielded(enemy):
        return int(sums[SUM])
    if sums[HITS] == 1:
        return 0
    absorbed = sums[STRONGEST]
    for i in range(shape.n_single + shape.n_double):
        attack = turn["friends"][work["source"][i]]["attack"]
        enough = sums[SUM] - attack < enemy["health"]
        if enough and attack < absorbed and _hits_of_source(shape, t, e, i, work):
            absorbed = attack
    return int(sums[SUM] - absorbed)


@njit_inline
def _hits_of_source(shape: Shape, t: int, e: int, i: int, work: np.void) -> int:
    """Number of hits of source `i` in a set of hits."""
    if i < shape.n_single:
        return int((work["mask"][t, e] >> i) & 1)
    return int(unpack_hits(work["counts"][t, e], i - shape.n_single))


@njit
def choose_shield_hits(turn: np.void, weights: np.ndarray, n: int, work: np.void) -> None:
    """Choose which hits shields absorb, where that matters. `work` is modified in place: absorbs and pops.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: of the objective, indexed by `Term`.
        n: number of attacks in "hit_source" and "hit_target" of `work`; "killed" is read too.
        work: dtype `ilp_agent.exact.work.WORK`.
    """
    work["absorbs"][:] = ANY_HIT
    work["pops"][:] = ANY_HIT
    if counts_damage(weights):
        for friend in range(turn["n_board"] + turn["n_hand"]):
            minion = turn["friends"][friend]
            if minion["attacks"] == MAX_HITS_EACH and shielded(minion):
                work["absorbs"][friend] = _larger_damage(turn, friend, n, work)
    if wound_value(weights) != 0.0:
        for place in range(turn["n_enemies"]):
            if shielded(turn["enemies"][place]) and not work["killed"][place]:
                work["pops"][place] = _weakest_hit(turn, place, n, work)


@njit
def _larger_damage(turn: np.void, friend: int, n: int, work: np.void) -> int:
    """The larger damage taken in two attacks; `ANY_HIT` if rules or deaths decide which one is absorbed."""
    larger = ANY_HIT
    others = 0
    on_guards = 0
    for hit in range(n):
        target = work["hit_target"][hit]
        if work["hit_source"][hit] != friend or target == HERO:
            continue
        enemy = turn["enemies"][target]
        if enemy["attack"] == 0 or kills_attacker(turn["friends"][friend], enemy):
            return ANY_HIT
        larger = max(larger, enemy["attack"])
        if guards(enemy):
            on_guards += 1
        else:
            others += 1
    return larger if MAX_HITS_EACH in (on_guards, others) else ANY_HIT


@njit
def _weakest_hit(turn: np.void, place: int, n: int, work: np.void) -> int:
    """Attack of the weakest hit without which the others leave an enemy alive; `ANY_HIT` for a single hit."""
    total = 0
    hits = 0
    for hit in range(n):
        if work["hit_target"][hit] == place:
            total += turn["friends"][work["hit_source"][hit]]["attack"]
            hits += 1
    weakest = ANY_HIT
    for hit in range(n):
        if hits > 1 and work["hit_target"][hit] == place:
            attack = turn["friends"][work["hit_source"][hit]]["attack"]
            enough = total - attack < turn["enemies"][place]["health"]
            if enough and (weakest == ANY_HIT or attack < weakest):
                weakest = attack
    return int(weakest)
