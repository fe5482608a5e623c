"""Which hits Divine Shields shall absorb: what a plan's value asks of the order, beside who dies by it.

Where health left on the board counts (`body`, `wound`), the value of a set of attacks is that of its best
order: a friend's shield absorbs the larger damage of its two attacks, the shield of an enemy that lives the
weakest hit that leaves it alive.
"""

import numpy as np

from engine.codes import HERO
from engine.combat import guards
from engine.jit import njit
from ilp_agent.exact.hits import kills_attacker, shielded
from ilp_agent.exact.work import ANY
from ilp_agent.turnrecord import MAX_HITS_EACH
from ilp_agent.weights import Term


@njit
def note_absorbed(turn: np.void, weights: np.ndarray, n: int, work: np.void) -> None:
    """Note which hits shields shall absorb, where it counts. `work` is modified in place: absorbs and pops.

    Args:
        turn: dtype `ilp_agent.turnrecord.TURN`.
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
