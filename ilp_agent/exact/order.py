"""A legal order of the chosen attacks.

Attacks are tried in an order that nearly always works at once (target by target, the weak before the strong),
with backtracking where it does not: each must find its target alive and its attacker too, deaths must be
those that were chosen, and shields must absorb the hits that they were chosen to absorb.
"""

import numpy as np

from engine.codes import HERO, Keyword
from engine.combat import guards
from engine.jit import njit, njit_inline, variable
from engine.packing import PLACE_BITS, STAT_BITS
from engine.streams import derive
from ilp_agent.exact.work import ANY, MET_SIZE, N_ORDER_ROWS
from ilp_agent.turnrecord import FRIEND_BITS, MAX_HITS

PATIENCE = 200
"""Attacks tried by the quick search; nearly every turn is ordered in as many tries as it has attacks."""

FOUND, NO_ORDER, OUT_OF_PATIENCE = 0, 1, 2

HEALTH, SHIELD, OWN_HEALTH, OWN_SHIELD, COMING, LEAVING = range(N_ORDER_ROWS)
"""Rows of "order_states": health and shield of enemies, then of friends; attacks still to come on an enemy,
and by a friend."""

HERO_FIRST, ON_GUARD, ON_OTHER, ON_HERO = range(4)
"""Ranks of targets, in the order to attack them."""

LAST_OF_ALL = 1 << 40
"""The key of a last blow."""

assert 2 + PLACE_BITS + STAT_BITS + FRIEND_BITS < 40, "keys of attacks stay below `LAST_OF_ALL`"
assert FRIEND_BITS + STAT_BITS + 1 <= 32, "`derive` takes 32 bits"
assert MAX_HITS <= 32


@njit
def order_hits(turn: np.void, n: int, lethal: bool, work: np.void) -> bool:
    """Find a legal order of the chosen attacks. `work` is modified in place: order holds their numbers.

    Args:
        turn: dtype `ilp_agent.turnrecord.TURN`.
        n: attacks in work["hit_source"] and work["hit_target"].
        lethal: attack 0 is the last blow.
        work: dying and killed say who shall die, absorbs and pops which hits shields shall absorb.

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
        FOUND, NO_ORDER or OUT_OF_PATIENCE.
    """
    states = work["order_states"]
    rank_hits(turn, n, lethal, thorough, work)
    read_state(turn, n, work)
    if thorough:
        work["met"][:] = 0
    work["tried"][0] = -1
    depth = variable(0)
    strikes = met = 0
    while depth < n:
        if not next_hit(n, depth, thorough, work):
            depth -= 1
            if depth < 0:
                return NO_ORDER
            continue
        hit = work["ranked"][work["tried"][depth]]
        work["used"][hit] = 1
        if lethal and hit == 0 and depth < n - 1:
            continue
        states[depth + 1] = states[depth]
        strikes += 1
        if strikes > PATIENCE and not thorough:
            return OUT_OF_PATIENCE
        if not strike(turn, work, work["hit_source"][hit], work["hit_target"][hit], states[depth + 1]):
            continue
        if thorough and met < MET_SIZE // 2:
            if was_met(turn, n, work, states[depth + 1]):
                continue
            met += 1
        work["order"][depth] = hit
        work["placed"][depth] = 1
        depth += 1
        if depth < n:
            work["tried"][depth] = -1
    return FOUND


@njit
def read_state(turn: np.void, n: int, work: np.void) -> None:
    """Begin with no attack made. `work` is modified in place: order_states and used."""
    state = work["order_states"][0]
    state[COMING, : turn["n_enemies"]] = 0
    for place in range(turn["n_enemies"]):
        state[HEALTH, place] = turn["enemies"][place]["health"]
        state[SHIELD, place] = turn["enemies"][place]["keywords"] & Keyword.DIVINE_SHIELD
    for friend in range(turn["n_board"] + turn["n_hand"]):
        state[OWN_HEALTH, friend] = turn["friends"][friend]["health"]
        state[OWN_SHIELD, friend] = turn["friends"][friend]["keywords"] & Keyword.DIVINE_SHIELD
        state[LEAVING, friend] = 0
    for hit in range(n):
        work["used"][hit] = 0
        state[LEAVING, work["hit_source"][hit]] += 1
        if work["hit_target"][hit] != HERO:
            state[COMING, work["hit_target"][hit]] += 1


@njit
def next_hit(n: int, depth: int, thorough: bool, work: np.void) -> bool:
    """Go on to the next attack to try at a depth. `work` is modified in place: tried, placed and used.

    Returns:
        Whether there is one.
    """
    tried = work["tried"]
    ranked = work["ranked"]
    if tried[depth] >= 0:
        hit = ranked[tried[depth]]
        work["used"][hit] = 0
        if thorough and work["placed"][depth] and work["hit_target"][hit] == HERO:
            tried[depth] = n - 1  # where hitting the hero led nowhere, nothing else leads on
    work["placed"][depth] = 0
    tried[depth] += 1
    while tried[depth] < n and work["used"][ranked[tried[depth]]]:
        tried[depth] += 1
    if tried[depth] == n:
        tried[depth] = -1
        return False
    return True


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
        code = derive(code, _pack_minion(now[HEALTH, place], now[SHIELD, place]))
    for friend in range(turn["n_board"] + turn["n_hand"]):
        health = now[OWN_HEALTH, friend]
        if health != turn["friends"][friend]["health"] or now[LEAVING, friend]:
            minion = _pack_minion(health, now[OWN_SHIELD, friend])
            code = derive(code, (friend << (STAT_BITS + 1)) | minion)
    code |= np.uint64(1)  # 0 marks an empty place
    slot = int(np.int64((code >> np.uint64(32)) % np.uint64(MET_SIZE)))
    while work["met"][slot] != 0:
        if work["met"][slot] == code:
            return True
        slot = (slot + 1) % MET_SIZE
    work["met"][slot] = code
    return False


@njit
def _pack_minion(health: int, shield: int) -> int:
    """Health and shield of a minion in `STAT_BITS` + 1 bits."""
    return (max(health, 0) << 1) | (1 if shield != 0 else 0)


@njit
def rank_hits(turn: np.void, n: int, lethal: bool, hero_first: bool, work: np.void) -> None:
    """Rank the attacks in the order to try them: guards, other enemies, hero; weak attackers first.

    With `hero_first` the hero comes before all. `work` is modified in place: keys and ranked.
    """
    keys = work["keys"]
    ranked = work["ranked"]
    for hit in range(n):
        target = work["hit_target"][hit]
        rank = HERO_FIRST if hero_first else ON_HERO
        if target != HERO:
            rank = ON_GUARD if guards(turn["enemies"][target]) else ON_OTHER
        attack = turn["friends"][work["hit_source"][hit]]["attack"]
        key = (((rank << PLACE_BITS) | target) << STAT_BITS) | attack
        keys[hit] = (key << FRIEND_BITS) | work["hit_source"][hit]
        if lethal and hit == 0:
            keys[hit] = LAST_OF_ALL
        place = hit
        while place > 0 and keys[ranked[place - 1]] > keys[hit]:
            ranked[place] = ranked[place - 1]
            place -= 1
        ranked[place] = hit


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
        pops, absorbs = work["pops"][target], work["absorbs"][source]
        if now[SHIELD, target] and pops != ANY and pops != friend["attack"]:
            return False
        if now[OWN_SHIELD, source] and enemy["attack"] > 0 and absorbs != ANY and absorbs != enemy["attack"]:
            return False
        exchange_blows(friend, enemy, source, target, now)
        if now[HEALTH, target] <= 0 and (now[COMING, target] > 0 or not work["killed"][target]):
            return False
        if now[HEALTH, target] > 0 and now[COMING, target] == 0 and work["killed"][target]:
            return False
    if now[OWN_HEALTH, source] <= 0 and (now[LEAVING, source] > 0 or not work["dying"][source]):
        return False
    return not (now[OWN_HEALTH, source] > 0 and now[LEAVING, source] == 0 and work["dying"][source])


@njit_inline
def exchange_blows(friend: np.void, enemy: np.void, source: int, target: int, now: np.ndarray) -> None:
    """What an attack on a minion does to health and shields. `now` is modified in place.

    Args:
        friend: who attacks, dtype `ilp_agent.turnrecord.FRIEND`.
        enemy: who is attacked, dtype `ilp_agent.turnrecord.ENEMY`.
        source: place of the friend.
        target: place of the enemy.
        now: rows of "order_states" of `ilp_agent.exact.work.WORK`.
    """
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
            now[OWN_HEALTH, source] = 0
        else:
            now[OWN_HEALTH, source] -= enemy["attack"]
