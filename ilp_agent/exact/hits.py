"""Sets of attackers that may hit an enemy together, and the shield hits they need.

A source is a friendly minion that can attack: one hit each for the first `n_single`, up to two for the
others (Windfury). A target is an enemy that can be attacked, those that guard (Taunt) first. A set of
hits on a target is possible when some order leaves the target alive before its last hit; every subset of
a possible set is possible, so lists grow by adding one source at a time.

Where health left on the board counts (`body`, `wound`), the value of a set of attacks is that of its best
order: a friend's shield absorbs the larger damage of its two attacks, the shield of an enemy that lives the
weakest hit that leaves it alive.
"""

import numpy as np

from engine.codes import HERO, Keyword
from engine.jit import njit, njit_inline, variable
from engine.state import guards
from ilp_agent.exact.work import ANY, HITS_BITS, N_HIT_SUMS, Combatants, Shape
from ilp_agent.turn import MAX_HITS_EACH
from ilp_agent.weights import Term

SUM, STRONGEST, SECOND, POISON, HITS = range(N_HIT_SUMS)
"""Columns of "hit_sums": of the hits without poison their sum and the two strongest; of all how many poison,
and how many there are."""


@njit
def kills_attacker(friend: np.void, enemy: np.void) -> bool:
    """Whether an enemy's damage kills an attacker that has no shield."""
    return bool(
        enemy["attack"] > 0 and (enemy["keywords"] & Keyword.POISONOUS or enemy["attack"] >= friend["health"])
    )


@njit
def shielded(minion: np.void) -> bool:
    """Whether a minion has its Divine Shield."""
    return bool((minion["keywords"] & Keyword.DIVINE_SHIELD) != 0)


@njit
def cost_of_hit(friend: np.void, enemy: np.void, weights: np.ndarray) -> float:
    """What an attack costs an attacker that makes no other: its death, or the health it loses (`body`)."""
    if shielded(friend):
        return 0.0
    if kills_attacker(friend, enemy):
        body = friend["attack"] + friend["health"]
        return float(weights[Term.SURVIVE] * friend["survival"] + weights[Term.BODY] * body)
    return float(weights[Term.BODY] * enemy["attack"])


@njit
def hits_of_double(counts: int, r: int) -> int:
    """Hits of two-hit source `r` in the packed counts of a set."""
    return (counts >> (HITS_BITS * r)) & ((1 << HITS_BITS) - 1)


@njit
def find_combatants(turn: np.void, attackers: int, work: np.void) -> Combatants:
    """List who can strike in "source" and who can be struck in "target".

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        attackers: bits of the hand minions that are played first, to attack.
        work: modified in place.
    """
    n = 0
    n_single = 0
    for hits in range(1, MAX_HITS_EACH + 1):
        for friend in range(turn["n_board"] + turn["n_hand"]):
            here = friend < turn["n_board"] or (attackers >> (friend - turn["n_board"])) & 1
            if here and turn["friends"][friend]["attacks"] == hits:
                work["source"][n] = friend
                n += 1
        if hits == 1:
            n_single = n
    n_guards, n_targets = _find_targets(turn, work)
    return Combatants(n_single, n - n_single, n_guards, n_targets)


@njit
def _find_targets(turn: np.void, work: np.void) -> tuple[int, int]:
    """List the enemies that can be attacked in "target", guards first; returns guards and all."""
    n = 0
    n_guards = 0
    for want_guards in (True, False):
        for place in range(turn["n_enemies"]):
            enemy = turn["enemies"][place]
            open_to_attack = enemy["health"] > 0 and not enemy["keywords"] & Keyword.STEALTH
            if open_to_attack and guards(enemy) == want_guards:
                work["target"][n] = place
                n += 1
        if want_guards:
            n_guards = n
    return n_guards, n


@njit
def list_hits(turn: np.void, weights: np.ndarray, shape: Shape, t: int, work: np.void) -> None:
    """List every possible set of hits on target `t` with its value, the empty set first.

    The value holds the terms of the hits (damage, trade), the threat a kill removes, the health they take off
    the target (wound), and what one-hit sources lose (survive, body); what happens to two-hit sources depends
    on their other hit.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: of the objective, indexed by `Term`.
        shape: of the convolution.
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
    n = variable(1)
    for i in range(shape.n_single + shape.n_double):
        if not (turn["friends"][work["source"][i]]["barred"] >> work["target"][t]) & 1:
            n = _add_source(turn, weights, shape, t, i, n, work)
    work["listed"][t] = n
    if weights[Term.WOUND] != 0.0:
        for e in range(1, n):
            work["gain"][t, e] += weights[Term.WOUND] * _health_taken(turn, shape, t, e, work)


@njit
def _add_source(
    turn: np.void, weights: np.ndarray, shape: Shape, t: int, i: int, n: int, work: np.void
) -> int:
    """Append the first `n` sets with hits of source `i` added, where possible; returns the new length."""
    enemy = turn["enemies"][work["target"][t]]
    friend = turn["friends"][work["source"][i]]
    attack = friend["attack"]
    poison = (friend["keywords"] & Keyword.POISONOUS) != 0
    dies = kills_attacker(friend, enemy) and not shielded(friend)
    value = weights[Term.DAMAGE] * attack - weights[Term.TRADE] * enemy["attack"]
    cost = cost_of_hit(friend, enemy, weights) if i < shape.n_single else 0.0
    # The most that one more hit adds to the health that others take: another may pop the shield by it.
    wound = weights[Term.WOUND] * (enemy["health"] - 1 if shielded(enemy) else attack)
    loses = value + wound < cost
    most = 1
    if i >= shape.n_single and not dies:
        most = MAX_HITS_EACH  # an unshielded attacker that the first hit kills makes no second
    before = n
    for e in range(before):
        base = e
        for count in range(1, most + 1):
            sums = work["hit_sums"][n]
            sums[:] = work["hit_sums"][base]
            _add_hit(sums, attack, poison)
            if not _possible(sums, enemy):
                break
            work["gain"][t, n] = _plain_gain(work, weights, enemy, t, base) + value
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
def _plain_gain(work: np.void, weights: np.ndarray, enemy: np.void, t: int, e: int) -> float:
    """The gain of a listed set without the threat its kill removes."""
    if work["kills"][t, e]:
        return float(work["gain"][t, e] - weights[Term.THREAT] * enemy["attack"])
    return float(work["gain"][t, e])


@njit
def _add_hit(sums: np.ndarray, attack: int, poison: bool) -> None:
    """Count one more hit. `sums` is modified in place."""
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
def _possible(sums: np.ndarray, enemy: np.void) -> bool:
    """Whether some order leaves the target alive before its last hit.

    Aside from the last hit and the one a shield absorbs, best the strongest, the rest may not kill.
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
    """Whether a possible set of hits can kill its target."""
    enemy = turn["enemies"][work["target"][t]]
    sums = work["hit_sums"][e]
    health = enemy["health"]
    if not shielded(enemy):
        return bool(sums[POISON] > 0 or sums[SUM] >= health)
    if sums[POISON] > 0:
        return bool(sums[HITS] >= 2)
    # The strongest strikes last; any other may pop the shield if the rest then kills, but not too soon.
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
    """Health that a set of hits takes off its target.

    A kill takes all of it. The shield of one that lives absorbs the weakest hit without which the others
    leave it alive.
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
    """Hits of source `i` in a set."""
    if i < shape.n_single:
        return int((work["mask"][t, e] >> i) & 1)
    return int(hits_of_double(work["counts"][t, e], i - shape.n_single))


@njit
def note_absorbed(turn: np.void, weights: np.ndarray, n: int, work: np.void) -> None:
    """Note which hits shields shall absorb, where it counts. `work` is modified in place: absorbs and pops.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: of the objective, indexed by `Term`.
        n: attacks in "hit_source" and "hit_target" of `work`; "killed" is read too.
        work: dtype `ilp_agent.exact.work.WORK`.
    """
    work["absorbs"][:] = ANY
    work["pops"][:] = ANY
    if weights[Term.BODY] != 0.0:
        for friend in range(turn["n_board"] + turn["n_hand"]):
            one = turn["friends"][friend]
            if one["attacks"] == MAX_HITS_EACH and shielded(one):
                work["absorbs"][friend] = _larger_damage(turn, friend, n, work)
    if weights[Term.WOUND] != 0.0:
        for place in range(turn["n_enemies"]):
            if shielded(turn["enemies"][place]) and not work["killed"][place]:
                work["pops"][place] = _weakest_hit(turn, place, n, work)


@njit
def _larger_damage(turn: np.void, friend: int, n: int, work: np.void) -> int:
    """The larger damage of two attacks; `ANY` where the rules, or who dies, decide which is absorbed."""
    larger = ANY
    others = 0
    on_guards = 0
    for hit in range(n):
        target = work["hit_target"][hit]
        if work["hit_source"][hit] != friend or target == HERO:
            continue
        enemy = turn["enemies"][target]
        if enemy["attack"] == 0 or kills_attacker(turn["friends"][friend], enemy):
            return ANY
        larger = max(larger, enemy["attack"])
        if guards(enemy):
            on_guards += 1
        else:
            others += 1
    return larger if MAX_HITS_EACH in (on_guards, others) else ANY


@njit
def _weakest_hit(turn: np.void, place: int, n: int, work: np.void) -> int:
    """The attack of the weakest hit without which the others leave an enemy alive; `ANY` for one hit."""
    total = 0
    hits = 0
    for hit in range(n):
        if work["hit_target"][hit] == place:
            total += turn["friends"][work["hit_source"][hit]]["attack"]
            hits += 1
    weakest = ANY
    for hit in range(n):
        if hits > 1 and work["hit_target"][hit] == place:
            attack = turn["friends"][work["hit_source"][hit]]["attack"]
            enough = total - attack < turn["enemies"][place]["health"]
            if enough and (weakest == ANY or attack < weakest):
                weakest = attack
    return int(weakest)
