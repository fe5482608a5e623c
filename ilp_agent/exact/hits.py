"""Which attackers may hit which enemy together: the sets of hits the exact solver combines.

A source is a friendly minion that can attack: one hit each for the first `n_single`, up to two for the
others (Windfury). A target is an enemy that can be attacked, those that guard (Taunt) first. A set of
hits on a target is possible when some order leaves the target alive before its last hit; every subset of
a possible set is possible, so lists grow by adding one source at a time.
"""

import numpy as np

from engine.codes import Keyword
from engine.jit import njit
from engine.rules import guards

# Columns of Work.stats, of the hits that do not poison: their sum, the two strongest; of all: how many
# poison, how many there are.
SUM, STRONGEST, SECOND, POISON, HITS = 0, 1, 2, 3, 4


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
def find_sources(turn: np.void, attackers: int, work: np.void) -> tuple[int, int]:
    """List the attackers of a turn in `work.source`: one-hit sources first.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        attackers: bits of the hand minions that are played first, to attack.
        work: modified in place.

    Returns:
        Sources with one hit, and with two.
    """
    n = 0
    n_single = 0
    for hits in range(1, 3):
        for friend in range(turn["n_board"] + turn["n_hand"]):
            here = friend < turn["n_board"] or (attackers >> (friend - turn["n_board"])) & 1
            if here and turn["friends"][friend]["attacks"] == hits:
                work["source"][n] = friend
                n += 1
        if hits == 1:
            n_single = n
    return n_single, n - n_single


@njit
def find_targets(turn: np.void, work: np.void) -> tuple[int, int]:
    """List the enemies that can be attacked in `work.target`, guards first; returns guards and all."""
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
def list_hits(
    turn: np.void, weights: np.ndarray, t: int, n_single: int, n_double: int, work: np.void
) -> None:
    """List every possible set of hits on target `t` with its value, the empty set first.

    The value holds the terms of the hits (damage, trade), the threat a kill removes, and the survival
    of one-hit sources that die; what happens to two-hit sources depends on their other hit.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: W1 to W8, shape (8,).
        t: number of the target.
        n_single: sources with one hit.
        n_double: sources with two hits.
        work: modified in place: row `t` of mask, counts, gain, kills, deaths, dull, listed.
    """
    enemy = turn["enemies"][work["target"][t]]
    work["mask"][t, 0] = 0
    work["counts"][t, 0] = 0
    work["gain"][t, 0] = 0.0
    work["kills"][t, 0] = False
    work["deaths"][t, 0] = 0
    work["dull"][t, 0] = 0
    work["stats"][0, :] = 0
    n = 1
    for i in range(n_single + n_double):
        friend = turn["friends"][work["source"][i]]
        if (friend["barred"] >> work["target"][t]) & 1:
            continue
        attack = friend["attack"]
        poison = (friend["keywords"] & Keyword.POISONOUS) != 0
        dies = kills_attacker(friend, enemy) and not shielded(friend)
        value = weights[5] * attack - weights[6] * enemy["attack"]
        most = 1
        if i >= n_single and not dies:
            most = 2  # an unshielded attacker that the first hit kills makes no second
        before = n
        for e in range(before):
            base = e
            for count in range(1, most + 1):
                stats = work["stats"][n]
                stats[:] = work["stats"][base]
                _add_hit(stats, attack, poison)
                if not _possible(stats, enemy):
                    break
                work["gain"][t, n] = _plain_gain(work, weights, enemy, t, base) + value
                work["mask"][t, n] = work["mask"][t, e]
                work["counts"][t, n] = work["counts"][t, e]
                work["deaths"][t, n] = work["deaths"][t, e]
                cost = weights[4] * friend["survival"] if dies and i < n_single else 0.0
                work["dull"][t, n] = work["dull"][t, e] | (value < cost)
                if i < n_single:
                    work["mask"][t, n] |= 1 << i
                    if dies:
                        work["gain"][t, n] -= weights[4] * friend["survival"]
                        if work["source"][i] < turn["n_board"]:
                            work["deaths"][t, n] += 1
                else:
                    work["counts"][t, n] |= count << (2 * (i - n_single))
                work["kills"][t, n] = _killed(turn, work, t, n, n_single, n_double)
                if work["kills"][t, n]:
                    work["gain"][t, n] += weights[3] * enemy["attack"]
                base = n
                n += 1
    work["listed"][t] = n


@njit
def _plain_gain(work: np.void, weights: np.ndarray, enemy: np.void, t: int, e: int) -> float:
    """The gain of a listed set without the threat its kill removes."""
    if work["kills"][t, e]:
        return float(work["gain"][t, e] - weights[3] * enemy["attack"])
    return float(work["gain"][t, e])


@njit
def _add_hit(stats: np.ndarray, attack: int, poison: bool) -> None:
    """Count one more hit. `stats` is modified in place."""
    stats[HITS] += 1
    if poison:
        stats[POISON] += 1
        return
    stats[SUM] += attack
    if attack > stats[STRONGEST]:
        stats[SECOND] = stats[STRONGEST]
        stats[STRONGEST] = attack
    elif attack > stats[SECOND]:
        stats[SECOND] = attack


@njit
def _possible(stats: np.ndarray, enemy: np.void) -> bool:
    """Whether some order leaves the target alive before its last hit.

    Aside from the last hit and the one a shield absorbs, best the strongest, the rest may not kill.
    """
    spared = 2 if shielded(enemy) else 1
    if stats[POISON] > spared:
        return False
    rest = stats[SUM]
    if spared - stats[POISON] >= 1:
        rest -= stats[STRONGEST]
    if spared - stats[POISON] >= 2:
        rest -= stats[SECOND]
    return bool(rest < enemy["health"])


@njit
def _killed(turn: np.void, work: np.void, t: int, e: int, n_single: int, n_double: int) -> bool:
    """Whether a possible set of hits can kill its target."""
    enemy = turn["enemies"][work["target"][t]]
    stats = work["stats"][e]
    health = enemy["health"]
    if not shielded(enemy):
        return bool(stats[POISON] > 0 or stats[SUM] >= health)
    if stats[POISON] > 0:
        return bool(stats[HITS] >= 2)
    # The strongest strikes last; any other may pop the shield if the rest then kills, but not too soon.
    least = stats[SUM] - stats[STRONGEST] - health + 1
    most = stats[SUM] - health
    spare_strongest = 1
    for i in range(n_single + n_double):
        if i < n_single:
            hits = (work["mask"][t, e] >> i) & 1
        else:
            hits = (work["counts"][t, e] >> (2 * (i - n_single))) & 3
        attack = turn["friends"][work["source"][i]]["attack"]
        if attack == stats[STRONGEST] and hits and spare_strongest:
            hits -= 1
            spare_strongest = 0
        if hits and least <= attack <= most:
            return True
    return False
