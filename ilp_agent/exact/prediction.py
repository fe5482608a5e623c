"""The plan of chosen attacks and plays: its steps in order, and what it predicts when it is played.

Order of a turn: hand attackers are played; then attacks, guards first; then the other plays; then the last
blow on a hero that dies.
"""

import numpy as np

from engine.codes import HERO, MAX_MANA
from engine.jit import njit
from ilp_agent.exact.order import HEALTH, OWN_HEALTH, exchange_blows, read_state
from ilp_agent.exact.steps import StepKind
from ilp_agent.weights import N_TERMS, Term


@njit
def write_plan(
    turn: np.void, weights: np.ndarray, n: int, lethal: bool, work: np.void, plan: np.void
) -> None:
    """Write the ordered plan and all it predicts. `plan` is modified in place.

    Args:
        turn: dtype `ilp_agent.turnrecord.TURN`.
        weights: of the objective, indexed by `Term`.
        n: attacks, ordered by work["order"].
        lethal: the last of them kills the hero.
        work: read: hit_source, hit_target, order, played, dying, killed.
        plan: dtype `PLAN`.
    """
    m = turn["n_board"]
    attackers = 0
    for hit in range(n):
        attackers |= 1 << work["hit_source"][hit]
    cost = 0
    for k in range(turn["n_hand"]):
        if work["played"][m + k]:
            cost += turn["friends"][m + k]["cost"]
    need_coin = cost > turn["mana"]
    plan["n_steps"] = 0
    plan["unproven"] = 0
    plan["mana"] = turn["mana"] + (1 if need_coin else 0) - cost
    # At full mana The Coin would be wasted before anything is paid for.
    coin_first = need_coin and turn["mana"] < MAX_MANA
    if coin_first:
        add_step(plan, StepKind.COIN, 0, 0)
    coin_later = _add_plays(turn, attackers, True, need_coin and not coin_first, work, plan)
    for place in range(n - 1 if lethal else n):
        _add_attack(place, work, plan)
    _add_plays(turn, attackers, False, coin_later, work, plan)
    if lethal:
        _add_attack(n - 1, work, plan)
    predict(turn, weights, n, work, plan)


@njit
def _add_plays(
    turn: np.void, attackers: int, to_attack: bool, coin_later: bool, work: np.void, plan: np.void
) -> bool:
    """Append the plays of those who attack, or of the others. `plan` is modified in place.

    Args:
        turn: dtype `ilp_agent.turnrecord.TURN`.
        attackers: bits of the friends that attack.
        to_attack: of whom to append the plays.
        coin_later: The Coin is still to be played, after the first paid card.
        work: read: played.
        plan: dtype `PLAN`.

    Returns:
        `coin_later` for what follows.
    """
    m = turn["n_board"]
    for k in range(turn["n_hand"]):
        if work["played"][m + k] and ((attackers >> (m + k)) & 1 == 1) == to_attack:
            add_step(plan, StepKind.PLAY, k, 0)
            if coin_later and turn["friends"][m + k]["cost"] > 0:
                add_step(plan, StepKind.COIN, 0, 0)
                coin_later = False
    return coin_later


@njit
def _add_attack(place: int, work: np.void, plan: np.void) -> None:
    """Append the attack at a place of the order. `plan` is modified in place."""
    hit = work["order"][place]
    add_step(plan, StepKind.ATTACK, work["hit_source"][hit], work["hit_target"][hit])


@njit
def add_step(plan: np.void, kind: int, source: int, target: int) -> None:
    """Append a step. `plan` is modified in place."""
    place = plan["n_steps"]
    plan["kind"][place] = kind
    plan["source"][place] = source
    plan["target"][place] = target
    plan["n_steps"] += 1


@njit
def predict(turn: np.void, weights: np.ndarray, n: int, work: np.void, plan: np.void) -> None:
    """Work out what a plan comes to, and the terms of the objective. `plan` is modified in place.

    Source of the terms: the turn-ILP thesis, section 4.3; survival of played minions too, as in 6.3. Of the
    further ones, `body` and `wound` come from the attacks in their order; the others are 0 here.

    Args:
        turn: dtype `ilp_agent.turnrecord.TURN`.
        weights: of the objective, indexed by `Term`.
        n: attacks, in a legal order in work["order"].
        work: read but for its scratch.
        plan: dtype `PLAN`.
    """
    m = turn["n_board"]
    terms = plan["terms"]
    terms[:] = 0.0
    damage = 0
    for hit in range(n):
        attack = turn["friends"][work["hit_source"][hit]]["attack"]
        if work["hit_target"][hit] == HERO:
            damage += attack
        else:
            terms[Term.DAMAGE] += attack
            terms[Term.TRADE] -= turn["enemies"][work["hit_target"][hit]]["attack"]
    plan["damage"] = damage
    plan["lethal"] = damage >= turn["hero"]
    terms[Term.LETHAL] = plan["lethal"]
    terms[Term.FACE] = damage
    plan["cleared"] = 1
    for place in range(turn["n_enemies"]):
        plan["killed"][place] = work["killed"][place]
        if not work["killed"][place]:
            terms[Term.THREAT] -= turn["enemies"][place]["attack"]
            plan["cleared"] = 0
    terms[Term.CLEAR] = plan["cleared"]
    for friend in range(m + turn["n_hand"]):
        plan["lost"][friend] = work["dying"][friend]
        here = friend < m or work["played"][friend]
        if here and not work["dying"][friend]:
            terms[Term.SURVIVE] += turn["friends"][friend]["survival"]
        if friend >= m and work["played"][friend]:
            terms[Term.PLAY] += turn["friends"][friend]["value"]
    if weights[Term.BODY] != 0.0 or weights[Term.WOUND] != 0.0:
        _predict_health(turn, n, work, terms)
    total = 0.0
    for term in range(N_TERMS):
        terms[term] *= weights[term]
        total += terms[term]
    plan["value"] = total


@njit
def _predict_health(turn: np.void, n: int, work: np.void, terms: np.ndarray) -> None:
    """Make the attacks in their order, for `body` and `wound` of the terms. `terms` is modified in place.

    Scratch of `work` is modified too: order_states and used.
    """
    read_state(turn, n, work)
    now = work["order_states"][0]
    for place in range(n):
        source = work["hit_source"][work["order"][place]]
        target = work["hit_target"][work["order"][place]]
        if target != HERO:
            exchange_blows(turn["friends"][source], turn["enemies"][target], source, target, now)
    for index in range(turn["n_board"] + turn["n_hand"]):
        friend = turn["friends"][index]
        if now[OWN_HEALTH, index] <= 0 and friend["health"] > 0:
            terms[Term.BODY] -= friend["attack"] + friend["health"]
        else:
            terms[Term.BODY] -= friend["health"] - now[OWN_HEALTH, index]
    for place in range(turn["n_enemies"]):
        terms[Term.WOUND] += turn["enemies"][place]["health"] - max(now[HEALTH, place], 0)
