"""From chosen attacks to a legal order, and what it comes to when it is played.

Order of a turn: hand attackers are played; then attacks, guards first; then the other plays; then the last
blow on a hero that dies. Attacks are tried in an order that nearly always works at once (target by target,
the weak before the strong), with backtracking where it does not: each must find its target alive and its
attacker too, and deaths must be those that were chosen.
"""

import numpy as np

from engine.codes import BOARD_SIZE, HERO, MAX_MANA, Keyword
from engine.jit import njit
from engine.rules import guards
from engine.streams import derive
from ilp_agent.exact.work import MAX_HITS, MET_SIZE
from ilp_agent.turn import MAX_FRIENDS

COIN_STEP, PLAY_STEP, ATTACK_STEP = 0, 1, 2
"""Steps of a plan: play The Coin, play hand minion `source`, attack `target` with friend `source`."""

MAX_STEPS = MAX_HITS + 11

PATIENCE = 200
"""Attacks tried by the quick search; nearly every turn is ordered in as many tries as it has attacks."""

FOUND, NONE, OUT_OF_PATIENCE = 0, 1, 2

# Rows of WORK's "sim": health and shield of enemies, then of friends; attacks still to come on an enemy,
# and by a friend.
HEALTH, SHIELD, OWN, OWN_SHIELD, COMING, LEAVING = range(6)

PLAN = np.dtype(
    [
        ("n_steps", "i2"),  # steps of the plan
        ("resolved", "i2"),  # 1: an order was found, so the plan is optimal; 0: see `ilp_agent.exact.backend`
        ("kind", "i2", (MAX_STEPS,)),  # COIN_STEP, PLAY_STEP or ATTACK_STEP
        ("source", "i2", (MAX_STEPS,)),  # hand number of a play; friend of an attack
        ("target", "i2", (MAX_STEPS,)),  # enemy place or HERO
        ("lethal", "i2"),  # 1: the enemy hero dies
        ("cleared", "i2"),  # 1: the enemy board is empty afterwards
        ("killed", "i2", (BOARD_SIZE,)),  # 1: enemy dies
        ("lost", "i2", (MAX_FRIENDS,)),  # 1: friend dies
        ("damage", "i2"),  # damage to the enemy hero
        ("mana", "i2"),  # mana left
        ("terms", "f8", (8,)),  # the signed weighted terms of the objective
        ("value", "f8"),  # their sum
    ]
)
"""A plan and what it predicts."""


@njit
def order_hits(turn: np.void, n: int, lethal: bool, work: np.void) -> bool:
    """Find a legal order of the chosen attacks; `order` of `work` holds their numbers. Modified in place.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        n: attacks in work["hit_source"] and work["hit_target"].
        lethal: attack 0 is the last blow.
        work: dying and killed say who shall die.

    Returns:
        Whether there is one.
    """
    answer = try_orders(turn, n, lethal, False, work)
    if answer == OUT_OF_PATIENCE:
        answer = try_orders(turn, n, lethal, True, work)
    return answer == FOUND


@njit
def try_orders(turn: np.void, n: int, lethal: bool, thorough: bool, work: np.void) -> int:
    """Depth-first search for an order: quick, or thorough. `work` is modified in place.

    The quick search gives up after `PATIENCE` attacks. The thorough one hits the hero as soon as it may,
    which can only help: the hero does not strike back, and a minion that dies by another hit must come here
    first. It remembers positions that led nowhere.

    Returns:
        FOUND, NONE or OUT_OF_PATIENCE.
    """
    sim = work["sim"]
    tried = work["tried"]
    used = work["used"]
    placed = work["placed"]
    ranked = rank_hits(turn, n, lethal, thorough, work)
    sim[0, COMING, : turn["n_enemies"]] = 0
    for place in range(turn["n_enemies"]):
        sim[0, HEALTH, place] = turn["enemies"][place]["health"]
        sim[0, SHIELD, place] = turn["enemies"][place]["keywords"] & Keyword.DIVINE_SHIELD
    for friend in range(turn["n_board"] + turn["n_hand"]):
        sim[0, OWN, friend] = turn["friends"][friend]["health"]
        sim[0, OWN_SHIELD, friend] = turn["friends"][friend]["keywords"] & Keyword.DIVINE_SHIELD
        sim[0, LEAVING, friend] = 0
    for hit in range(n):
        used[hit] = 0
        sim[0, LEAVING, work["hit_source"][hit]] += 1
        if work["hit_target"][hit] != HERO:
            sim[0, COMING, work["hit_target"][hit]] += 1
    if thorough:
        work["met"][:] = 0
    tried[0] = -1
    depth = 0
    strikes = 0
    met = 0
    while depth < n:
        if tried[depth] >= 0:
            hit = ranked[tried[depth]]
            used[hit] = 0
            if thorough and placed[depth] and work["hit_target"][hit] == HERO:
                tried[depth] = n - 1  # where hitting the hero led nowhere, nothing else leads on
        placed[depth] = 0
        tried[depth] += 1
        while tried[depth] < n and used[ranked[tried[depth]]]:
            tried[depth] += 1
        if tried[depth] == n:
            tried[depth] = -1
            depth -= 1
            if depth < 0:
                return NONE
            continue
        hit = ranked[tried[depth]]
        used[hit] = 1
        if lethal and hit == 0 and depth < n - 1:
            continue
        sim[depth + 1] = sim[depth]
        strikes += 1
        if strikes > PATIENCE and not thorough:
            return OUT_OF_PATIENCE
        if not strike(turn, work, work["hit_source"][hit], work["hit_target"][hit], sim[depth + 1]):
            continue
        if thorough and met < MET_SIZE // 2:
            if was_met(turn, n, work, sim[depth + 1]):
                continue
            met += 1
        work["order"][depth] = hit
        placed[depth] = 1
        depth += 1
        if depth < n:
            tried[depth] = -1
    return FOUND


@njit
def was_met(turn: np.void, n: int, work: np.void, now: np.ndarray) -> bool:
    """Whether the same attacks led to this position before, in another order; it led nowhere.

    `work` is modified in place: met, the positions by 64 bits of their hash.
    """
    code = np.uint64(0)
    mask = 0
    for hit in range(n):
        mask |= int(work["used"][hit]) << hit
    code = derive(code, mask)
    for place in range(turn["n_enemies"]):
        code = derive(code, max(now[HEALTH, place], 0) * 2 + (now[SHIELD, place] != 0))
    for friend in range(turn["n_board"] + turn["n_hand"]):
        if now[OWN, friend] != turn["friends"][friend]["health"] or now[LEAVING, friend]:
            code = derive(code, friend * 4096 + max(now[OWN, friend], 0) * 2 + (now[OWN_SHIELD, friend] != 0))
    code |= np.uint64(1)  # 0 marks an empty place
    slot = int(np.int64((code >> np.uint64(32)) % np.uint64(MET_SIZE)))
    while work["met"][slot] != 0:
        if work["met"][slot] == code:
            return True
        slot = (slot + 1) % MET_SIZE
    work["met"][slot] = code
    return False


@njit
def rank_hits(turn: np.void, n: int, lethal: bool, hero_first: bool, work: np.void) -> np.ndarray:
    """Numbers of the attacks in the order to try them: guards, other enemies, hero; weak attackers first.

    With `hero_first` the hero comes before all. `work` is modified in place.
    """
    keys = work["keys"]
    ranked: np.ndarray = work["ranked"]
    for hit in range(n):
        target = work["hit_target"][hit]
        first = 0 if hero_first else 3
        if target != HERO:
            first = 1 if guards(turn["enemies"][target]) else 2
        attack = turn["friends"][work["hit_source"][hit]]["attack"]
        keys[hit] = ((first * 8 + target) * 1024 + attack) * 32 + work["hit_source"][hit]
        if lethal and hit == 0:
            keys[hit] = 1 << 40
        place = hit
        while place > 0 and keys[ranked[place - 1]] > keys[hit]:
            ranked[place] = ranked[place - 1]
            place -= 1
        ranked[place] = hit
    return ranked


@njit
def strike(turn: np.void, work: np.void, source: int, target: int, now: np.ndarray) -> bool:
    """Carry out one attack on `now` (modified in place); returns whether it is legal and as chosen."""
    friend = turn["friends"][source]
    now[LEAVING, source] -= 1
    if target == HERO or not guards(turn["enemies"][target]):
        for place in range(turn["n_enemies"]):
            if now[HEALTH, place] > 0 and guards(turn["enemies"][place]):
                return False
    if target != HERO:
        enemy = turn["enemies"][target]
        now[COMING, target] -= 1
        if now[SHIELD, target]:
            now[SHIELD, target] = 0
        elif friend["keywords"] & Keyword.POISONOUS:
            now[HEALTH, target] = 0
        else:
            now[HEALTH, target] -= friend["attack"]
        if enemy["attack"] > 0:
            if now[OWN_SHIELD, source]:
                now[OWN_SHIELD, source] = 0
            elif enemy["keywords"] & Keyword.POISONOUS:
                now[OWN, source] = 0
            else:
                now[OWN, source] -= enemy["attack"]
        if now[HEALTH, target] <= 0 and (now[COMING, target] > 0 or not work["killed"][target]):
            return False
        if now[HEALTH, target] > 0 and now[COMING, target] == 0 and work["killed"][target]:
            return False
    if now[OWN, source] <= 0 and (now[LEAVING, source] > 0 or not work["dying"][source]):
        return False
    return not (now[OWN, source] > 0 and now[LEAVING, source] == 0 and work["dying"][source])


@njit
def write_plan(
    turn: np.void, weights: np.ndarray, n: int, lethal: bool, work: np.void, plan: np.void
) -> None:
    """Write the ordered plan and all it predicts. `plan` is modified in place.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: W1 to W8.
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
    plan["resolved"] = 1
    plan["mana"] = turn["mana"] + (1 if need_coin else 0) - cost
    coin_first = need_coin and turn["mana"] < MAX_MANA
    if coin_first:
        add_step(plan, COIN_STEP, 0, 0)
    coin_later = need_coin and not coin_first
    for to_attack in (1, 0):
        for k in range(turn["n_hand"]):
            if work["played"][m + k] and (attackers >> (m + k)) & 1 == to_attack:
                add_step(plan, PLAY_STEP, k, 0)
                if coin_later and turn["friends"][m + k]["cost"] > 0:
                    add_step(plan, COIN_STEP, 0, 0)
                    coin_later = False
        if to_attack:
            for place in range(n - 1 if lethal else n):
                hit = work["order"][place]
                add_step(plan, ATTACK_STEP, work["hit_source"][hit], work["hit_target"][hit])
    if lethal:
        hit = work["order"][n - 1]
        add_step(plan, ATTACK_STEP, work["hit_source"][hit], work["hit_target"][hit])
    predict(turn, weights, n, work, plan)


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

    Source of the terms: the turn-ILP thesis, section 4.3; survival of played minions too, as in 6.3.
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
            terms[5] += attack
            terms[6] -= turn["enemies"][work["hit_target"][hit]]["attack"]
    plan["damage"] = damage
    plan["lethal"] = damage >= turn["hero"]
    terms[0] = plan["lethal"]
    terms[2] = damage
    plan["cleared"] = 1
    for place in range(turn["n_enemies"]):
        plan["killed"][place] = work["killed"][place]
        if not work["killed"][place]:
            terms[3] -= turn["enemies"][place]["attack"]
            plan["cleared"] = 0
    terms[1] = plan["cleared"]
    for friend in range(m + turn["n_hand"]):
        plan["lost"][friend] = work["dying"][friend]
        here = friend < m or work["played"][friend]
        if here and not work["dying"][friend]:
            terms[4] += turn["friends"][friend]["survival"]
        if friend >= m and work["played"][friend]:
            terms[7] += turn["friends"][friend]["value"]
    total = 0.0
    for w in range(8):
        terms[w] *= weights[w]
        total += terms[w]
    plan["value"] = total
