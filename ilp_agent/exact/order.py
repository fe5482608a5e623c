"""Legal order of the chosen attacks by backtracking, and the plan's predicted outcome and terms.

Attacks are tried in an order that nearly always works at once (target by target, weak attackers first), with
backtracking otherwise. Attacker and target must be alive at each attack, deaths must match the chosen ones,
and shields must absorb the chosen hits.

Order of a turn: plays of hand attackers; attacks, guards first; other plays; the last blow on a hero that
dies.
"""

import numpy as np

from engine.bitfields import PLACE_BITS, STAT_BITS
from engine.codes import HERO, MAX_MANA, Keyword
from engine.jit import njit, njit_inline, non_literal
from engine.state import guards
from engine.streams import derive
from ilp_agent.exact.hits import counts_damage, wound_value
from ilp_agent.exact.plan_record import StepKind
from ilp_agent.exact.work import ANY_HIT, N_ORDER_ROWS, ORDER_TABLE_SIZE
from ilp_agent.turn import FRIEND_BITS, MAX_HITS
from ilp_agent.weights import N_TERMS, Term

QUICK_SEARCH_LIMIT = 200
"""Attempted attacks before the quick search gives up; most turns need one attempt for each attack."""

FOUND, NO_ORDER, LIMIT_REACHED = 0, 1, 2

HEALTH, SHIELD, OWN_HEALTH, OWN_SHIELD, ATTACKS_TO_COME, OWN_ATTACKS_TO_COME = range(N_ORDER_ROWS)
"""Rows of "order_states": health and shield of enemies, then of friendly minions; attacks still to come on
each enemy, and by each friendly minion."""

HERO_FIRST, ON_GUARD, ON_OTHER, ON_HERO = range(4)
"""Ranks of targets in the order of attacks."""

LAST_BLOW_KEY = 1 << 40
"""Sort key of the last blow."""

assert 2 + PLACE_BITS + STAT_BITS + FRIEND_BITS < 40, "keys of attacks stay below `LAST_BLOW_KEY`"
assert FRIEND_BITS + STAT_BITS + 1 <= 32, "`derive` takes 32 bits"
assert MAX_HITS <= 32


@njit
def order_hits(turn: np.void, n: int, lethal: bool, work: np.void) -> bool:
    """Write a legal order of the chosen attacks to "order" of `work`; return whether there is one.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        n: number of attacks in work["hit_source"] and work["hit_target"].
        lethal: attack 0 is the last blow.
        work: dying and killed hold the chosen deaths, absorbs and pops the hits that shields must absorb.

    Returns:
        Whether a legal order exists.
    """
    result = search_order(turn, n, lethal, False, work)
    if result == LIMIT_REACHED:
        result = search_order(turn, n, lethal, True, work)
    return result == FOUND


@njit
def search_order(turn: np.void, n: int, lethal: bool, thorough: bool, work: np.void) -> int:
    """Depth-first search for a legal attack order: quick, or thorough. `work` is modified in place.

    The quick search gives up after `QUICK_SEARCH_LIMIT` attempts. The thorough one attacks the hero as early
    as possible, which is never worse: the hero deals no damage, and a minion that dies by another hit must
    attack the hero before. It stores failed positions.

    Returns:
        FOUND, NO_ORDER or LIMIT_REACHED.
    """
    states = work["order_states"]
    rank_hits(turn, n, lethal, thorough, work)
    initialise_order_search(turn, n, work)
    if thorough:
        work["met"][:] = 0
    work["tried"][0] = -1
    depth = non_literal(0)
    attempts = met = 0
    while depth < n:
        if not next_candidate(n, depth, thorough, work):
            depth -= 1
            if depth < 0:
                return NO_ORDER
            continue
        hit = work["ranked"][work["tried"][depth]]
        work["used"][hit] = 1
        if lethal and hit == 0 and depth < n - 1:
            continue
        states[depth + 1] = states[depth]
        attempts += 1
        if attempts > QUICK_SEARCH_LIMIT and not thorough:
            return LIMIT_REACHED
        if not attempt_attack(
            turn, work, work["hit_source"][hit], work["hit_target"][hit], states[depth + 1]
        ):
            continue
        if thorough and met < ORDER_TABLE_SIZE // 2:
            if was_visited(turn, n, work, states[depth + 1]):
                continue
            met += 1
        work["order"][depth] = hit
        work["placed"][depth] = 1
        depth += 1
        if depth < n:
            work["tried"][depth] = -1
    return FOUND


@njit
def initialise_order_search(turn: np.void, n: int, work: np.void) -> None:
    """Initialise the order search before any attack. `work` is modified in place: order_states and used."""
    state = work["order_states"][0]
    state[ATTACKS_TO_COME, : turn["n_enemies"]] = 0
    for place in range(turn["n_enemies"]):
        state[HEALTH, place] = turn["enemies"][place]["health"]
        state[SHIELD, place] = turn["enemies"][place]["keywords"] & Keyword.DIVINE_SHIELD
    for friend in range(turn["n_board"] + turn["n_hand"]):
        state[OWN_HEALTH, friend] = turn["friends"][friend]["health"]
        state[OWN_SHIELD, friend] = turn["friends"][friend]["keywords"] & Keyword.DIVINE_SHIELD
        state[OWN_ATTACKS_TO_COME, friend] = 0
    for hit in range(n):
        work["used"][hit] = 0
        state[OWN_ATTACKS_TO_COME, work["hit_source"][hit]] += 1
        if work["hit_target"][hit] != HERO:
            state[ATTACKS_TO_COME, work["hit_target"][hit]] += 1


@njit
def next_candidate(n: int, depth: int, thorough: bool, work: np.void) -> bool:
    """Advance to the next candidate attack at a depth. `work` is modified in place: tried, placed and used.

    Returns:
        Whether there is another candidate.
    """
    tried = work["tried"]
    ranked = work["ranked"]
    if tried[depth] >= 0:
        hit = ranked[tried[depth]]
        work["used"][hit] = 0
        if thorough and work["placed"][depth] and work["hit_target"][hit] == HERO:
            tried[depth] = n - 1  # if attacking the hero failed, all other candidates fail
    work["placed"][depth] = 0
    tried[depth] += 1
    while tried[depth] < n and work["used"][ranked[tried[depth]]]:
        tried[depth] += 1
    if tried[depth] == n:
        tried[depth] = -1
        return False
    return True


@njit
def was_visited(turn: np.void, n: int, work: np.void, now: np.ndarray) -> bool:
    """Whether the same attacks in another order already led to this position, from which no order was found.

    `work` is modified in place: met, the positions' 64-bit hashes.
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
        if health != turn["friends"][friend]["health"] or now[OWN_ATTACKS_TO_COME, friend]:
            minion = _pack_minion(health, now[OWN_SHIELD, friend])
            code = derive(code, (friend << (STAT_BITS + 1)) | minion)
    code |= np.uint64(1)  # 0 marks an empty slot
    slot = int(np.int64((code >> np.uint64(32)) % np.uint64(ORDER_TABLE_SIZE)))
    while work["met"][slot] != 0:
        if work["met"][slot] == code:
            return True
        slot = (slot + 1) % ORDER_TABLE_SIZE
    work["met"][slot] = code
    return False


@njit
def _pack_minion(health: int, shield: int) -> int:
    """Pack health and shield of a minion into `STAT_BITS` + 1 bits."""
    return (max(health, 0) << 1) | (1 if shield != 0 else 0)


@njit
def rank_hits(turn: np.void, n: int, lethal: bool, hero_first: bool, work: np.void) -> None:
    """Sort the attacks for the order search: guards, other enemies, hero; weak attackers first.

    With `hero_first` the hero comes first. `work` is modified in place: keys and ranked.
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
            keys[hit] = LAST_BLOW_KEY
        place = hit
        while place > 0 and keys[ranked[place - 1]] > keys[hit]:
            ranked[place] = ranked[place - 1]
            place -= 1
        ranked[place] = hit


@njit
def attempt_attack(turn: np.void, work: np.void, source: int, target: int, now: np.ndarray) -> bool:
    """Apply one attack to `now` (modified in place); returns whether it is legal and as chosen."""
    friend = turn["friends"][source]
    now[OWN_ATTACKS_TO_COME, source] -= 1
    if target == HERO or not guards(turn["enemies"][target]):
        for place in range(turn["n_enemies"]):
            if now[HEALTH, place] > 0 and guards(turn["enemies"][place]):
                return False
    if target != HERO:
        enemy = turn["enemies"][target]
        now[ATTACKS_TO_COME, target] -= 1
        pops, absorbs = work["pops"][target], work["absorbs"][source]
        if now[SHIELD, target] and pops != ANY_HIT and pops != friend["attack"]:
            return False
        if (
            now[OWN_SHIELD, source]
            and enemy["attack"] > 0
            and absorbs != ANY_HIT
            and absorbs != enemy["attack"]
        ):
            return False
        exchange_damage(friend, enemy, source, target, now)
        if now[HEALTH, target] <= 0 and (now[ATTACKS_TO_COME, target] > 0 or not work["killed"][target]):
            return False
        if now[HEALTH, target] > 0 and now[ATTACKS_TO_COME, target] == 0 and work["killed"][target]:
            return False
    if now[OWN_HEALTH, source] <= 0 and (now[OWN_ATTACKS_TO_COME, source] > 0 or not work["dying"][source]):
        return False
    return not (
        now[OWN_HEALTH, source] > 0 and now[OWN_ATTACKS_TO_COME, source] == 0 and work["dying"][source]
    )


@njit_inline
def exchange_damage(friend: np.void, enemy: np.void, source: int, target: int, now: np.ndarray) -> None:
    """Apply the mutual damage of an attack between minions to health and shields. `now` is modified in place.

    Args:
        friend: the attacker, dtype `ilp_agent.turn.FRIEND`.
        enemy: the target, dtype `ilp_agent.turn.ENEMY`.
        source: index of the attacker.
        target: index of the target.
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


@njit
def write_plan(
    turn: np.void, weights: np.ndarray, n: int, lethal: bool, work: np.void, plan: np.void
) -> None:
    """Write the ordered plan with its predicted outcome. `plan` is modified in place.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: of the objective, indexed by `Term`.
        n: number of attacks, ordered by work["order"].
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
    # At full mana The Coin would be wasted before the first paid card.
    coin_first = need_coin and turn["mana"] < MAX_MANA
    if coin_first:
        add_step(plan, StepKind.COIN, 0, 0)
    coin_later = _add_plays(turn, attackers, True, need_coin and not coin_first, work, plan)
    for place in range(n - 1 if lethal else n):
        _add_attack(place, work, plan)
    _add_plays(turn, attackers, False, coin_later, work, plan)
    if lethal:
        _add_attack(n - 1, work, plan)
    predict_outcome(turn, weights, n, work, plan)


@njit
def _add_plays(
    turn: np.void, attackers: int, to_attack: bool, coin_later: bool, work: np.void, plan: np.void
) -> bool:
    """Append to `plan` the plays of hand minions that attack, or of the others; return the new `coin_later`.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        attackers: bits of the friendly minions that attack.
        to_attack: True for the minions that attack, False for the others.
        coin_later: The Coin is still to be played, after the first paid card.
        work: read: played.
        plan: dtype `PLAN`.

    Returns:
        `coin_later` for the next call.
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
    """Append the attack at one position of the order. `plan` is modified in place."""
    hit = work["order"][place]
    add_step(plan, StepKind.ATTACK, work["hit_source"][hit], work["hit_target"][hit])


@njit
def add_step(plan: np.void, kind: int, source: int, target: int) -> None:
    """Append a step to a plan, modified in place."""
    place = plan["n_steps"]
    plan["kind"][place] = kind
    plan["source"][place] = source
    plan["target"][place] = target
    plan["n_steps"] += 1


@njit
def predict_outcome(turn: np.void, weights: np.ndarray, n: int, work: np.void, plan: np.void) -> None:
    """Predict a plan's outcome and compute the terms of the objective. `plan` is modified in place.

    Source of the terms: the turn-ILP thesis, section 4.3, with survival of played minions as in 6.3. Of the
    extended terms, `body` and `wound` follow from the attacks in their order, as the health left does by the
    full terms; the terms of cards and effects are 0 here.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: of the objective, indexed by `Term`.
        n: number of attacks, in a legal order in work["order"].
        work: read only, except for scratch.
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
    terms[Term.ENEMY_HERO] = min(damage, turn["hero"])
    plan["cleared"] = 1
    for place in range(turn["n_enemies"]):
        plan["killed"][place] = work["killed"][place]
        if not work["killed"][place]:
            terms[Term.THREAT] -= turn["enemies"][place]["attack"]
            plan["cleared"] = 0
    terms[Term.CLEAR] = plan["cleared"]
    for friend in range(m + turn["n_hand"]):
        plan["lost"][friend] = work["dying"][friend]
        present = friend < m or work["played"][friend]
        if present and not work["dying"][friend]:
            terms[Term.SURVIVE] += turn["friends"][friend]["survival"]
        if present and not work["dying"][friend]:
            terms[Term.ATTACK] += turn["friends"][friend]["attack"]
        if friend >= m and work["played"][friend]:
            terms[Term.PLAY] += turn["friends"][friend]["value"]
        elif friend >= m:
            terms[Term.HAND] += 1
            terms[Term.HAND_MANA] += turn["friends"][friend]["cost"]
    if counts_damage(weights) or wound_value(weights) != 0.0 or weights[Term.SHIELD] != 0.0:
        _predict_health(turn, n, work, terms)
    total = 0.0
    for term in range(N_TERMS):
        terms[term] *= weights[term]
        total += terms[term]
    plan["value"] = total


@njit
def _predict_health(turn: np.void, n: int, work: np.void, terms: np.ndarray) -> None:
    """Simulate the attacks in their order for the terms of health left. `terms` is modified in place.

    Scratch of `work` is modified too: order_states and used.
    """
    initialise_order_search(turn, n, work)
    now = work["order_states"][0]
    for place in range(n):
        source = work["hit_source"][work["order"][place]]
        target = work["hit_target"][work["order"][place]]
        if target != HERO:
            exchange_damage(turn["friends"][source], turn["enemies"][target], source, target, now)
    for index in range(turn["n_board"] + turn["n_hand"]):
        friend = turn["friends"][index]
        if now[OWN_HEALTH, index] <= 0 and friend["health"] > 0:
            terms[Term.BODY] -= friend["attack"] + friend["health"]
            continue
        left = now[OWN_HEALTH, index]
        terms[Term.BODY] -= friend["health"] - left
        if index < turn["n_board"] or work["played"][index]:
            terms[Term.HEALTH] += left
            terms[Term.TAUNT] += left if friend["keywords"] & Keyword.TAUNT else 0
            if friend["keywords"] & Keyword.DIVINE_SHIELD:  # it does not attack (`supports_weights`)
                terms[Term.SHIELD] += friend["attack"] + left
    for place in range(turn["n_enemies"]):
        terms[Term.WOUND] += turn["enemies"][place]["health"] - max(now[HEALTH, place], 0)
        terms[Term.ENEMY_HEALTH] -= max(now[HEALTH, place], 0)
