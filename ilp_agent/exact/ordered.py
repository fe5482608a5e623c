"""Branch and bound over the order of attacks, for the rare turn whose best attacks no order serves.

`ilp_agent.exact.search` takes each Windfury minion's two attacks in the order that suits it. Very seldom
those wishes contradict each other: minion a must strike before b here, and b before a there. Then this search
makes attacks one by one on a copy of the turn; what `search` promises for the rest is an upper bound, and
where its promise can be kept the branch is done. Positions met again by another order are not searched twice.
"""

import numpy as np

from engine.codes import BOARD_SIZE, HERO, Keyword
from engine.jit import njit
from engine.rules import guards
from engine.streams import derive
from ilp_agent.exact.convolve import NOTHING
from ilp_agent.exact.order import order_hits, write_plan
from ilp_agent.exact.plays import can_attack_from_hand
from ilp_agent.exact.search import can_come, retrace, search_with
from ilp_agent.exact.work import MAX_HITS, Best
from ilp_agent.turn import MAX_FRIENDS, TURN

MAX_CHILDREN = MAX_FRIENDS * (BOARD_SIZE + 1)
MAX_NODES = 20_000
"""Bounds computed before the search gives up, with the best plan so far."""

TURN_SIZE = TURN.itemsize

SEEN_SIZE = 1 << 16
"""Places of the table of positions met; a power of two, well above `MAX_NODES`."""


@njit
def improve_by_order(
    turn: np.void, weights: np.ndarray, work: np.void, layers: np.ndarray, plan: np.void
) -> None:
    """Find the best plan whose attacks have an order; `plan` holds a legal one to begin with.

    `work`, `layers` and `plan` are modified in place; `plan["resolved"]` says whether it is proven.
    """
    plan["resolved"] = 1
    able = can_attack_from_hand(turn)
    attackers = 0
    nodes = MAX_NODES
    while True:
        if can_come(turn, attackers):
            nodes = _search_set(turn, weights, attackers, nodes, work, layers, plan)
        attackers = (attackers - able) & able
        if attackers == 0:
            break
    plan["resolved"] = nodes > 0


@njit
def _search_set(
    root: np.void,
    weights: np.ndarray,
    attackers: int,
    nodes: int,
    work: np.void,
    layers: np.ndarray,
    plan: np.void,
) -> int:
    """Search the orders of all attacks after playing one set of hand attackers; returns nodes left."""
    turns = np.zeros(MAX_HITS + 1, TURN)
    gained = np.zeros(MAX_HITS + 1)
    path = np.zeros((MAX_HITS, 2), np.int64)
    moves = np.zeros((MAX_HITS + 1, MAX_CHILDREN, 2), np.int64)
    bounds = np.zeros((MAX_HITS + 1, MAX_CHILDREN))
    n_moves = np.zeros(MAX_HITS + 1, np.int64)
    following = np.zeros(MAX_HITS + 1, np.int64)
    seen = np.zeros(SEEN_SIZE, np.uint64)
    child = np.zeros(1, TURN)
    # Records are copied as bytes: as records, each copy would cost a second of compilation.
    turn_bytes = turns.view(np.uint8).reshape(MAX_HITS + 1, TURN_SIZE)
    child_bytes = child.view(np.uint8)
    nothing = Best(NOTHING, 0, 0, 0, 0, 0)
    turns[0] = root
    entering = True
    depth = 0
    while depth >= 0:
        if entering:
            n_moves[depth] = 0
            following[depth] = 0
            number = -1  # the position itself, then each attack from it
            while number < n_moves[depth]:
                child_bytes[:] = turn_bytes[depth]
                gain = gained[depth]
                if number >= 0:
                    source, target = moves[depth, number]
                    gain += strike_now(child[0], weights, source, target)
                best = search_with(child[0], weights, attackers, nothing, work, layers)
                nodes -= 1
                if number >= 0:
                    bounds[depth, number] = gain + best.value
                elif gain + best.value > plan["value"] + _slack(plan["value"]):
                    rest = turns[depth]
                    if not _keep(root, rest, weights, best, path[:depth], work, layers, plan):
                        # One attack each always has an order: the best of those covers what needs no more
                        # attacks, and the last blow.
                        child_bytes[:] = turn_bytes[depth]
                        for friend in range(MAX_FRIENDS):
                            one = child[0]["friends"][friend]
                            one["attacks"] = min(one["attacks"], 1)
                        best = search_with(child[0], weights, attackers, nothing, work, layers)
                        nodes -= 1
                        if gain + best.value > plan["value"] + _slack(plan["value"]):
                            _keep(root, child[0], weights, best, path[:depth], work, layers, plan)
                        n_moves[depth] = _list_moves(rest, attackers, moves[depth])
                number += 1
            _sort_moves(moves[depth], bounds[depth], n_moves[depth])
            entering = False
        number = following[depth]
        done = number == n_moves[depth] or nodes <= 0
        if done or bounds[depth, number] <= plan["value"] + _slack(plan["value"]):
            depth -= 1
            continue
        following[depth] += 1
        source, target = moves[depth, number]
        turn_bytes[depth + 1] = turn_bytes[depth]
        gained[depth + 1] = gained[depth] + strike_now(turns[depth + 1], weights, source, target)
        path[depth, 0] = source
        path[depth, 1] = target
        if not _met(turns[depth + 1], path[: depth + 1], seen):
            depth += 1
            entering = True
    return nodes


@njit
def _slack(value: float) -> float:
    """How much better a plan must be to count as better."""
    return 1e-9 * max(1.0, abs(value))


@njit
def strike_now(turn: np.void, weights: np.ndarray, source: int, target: int) -> float:
    """Carry out one attack on a turn's record, modified in place; returns what the attack itself is worth.

    The dead stay in their places with health 0 and count for nothing.
    """
    friend = turn["friends"][source]
    attack = friend["attack"]
    friend["attacks"] -= 1
    if target == HERO:
        turn["hero"] -= attack
        return float(weights[2] * attack)
    enemy = turn["enemies"][target]
    damage = enemy["attack"]
    poison = (enemy["keywords"] & Keyword.POISONOUS) != 0
    if enemy["keywords"] & Keyword.DIVINE_SHIELD:
        enemy["keywords"] &= ~Keyword.DIVINE_SHIELD
    elif friend["keywords"] & Keyword.POISONOUS or attack >= enemy["health"]:
        enemy["health"] = 0
        enemy["attack"] = 0
        enemy["keywords"] = 0
    else:
        enemy["health"] -= attack
    if damage > 0:
        if friend["keywords"] & Keyword.DIVINE_SHIELD:
            friend["keywords"] &= ~Keyword.DIVINE_SHIELD
        elif poison or damage >= friend["health"]:
            friend["health"] = 0
            friend["survival"] = 0
            friend["attacks"] = 0
            if source < turn["n_board"]:
                turn["freed"] += 1
        else:
            friend["health"] -= damage
    return float(weights[5] * attack - weights[6] * damage)


@njit
def _list_moves(turn: np.void, attackers: int, moves: np.ndarray) -> int:
    """Attacks that may come next, the hero's death left to the end; returns how many. `moves` is modified."""
    guarded = False
    for place in range(turn["n_enemies"]):
        guarded = guarded or guards(turn["enemies"][place])
    n = 0
    for source in range(turn["n_board"] + turn["n_hand"]):
        friend = turn["friends"][source]
        here = source < turn["n_board"] or (attackers >> (source - turn["n_board"])) & 1
        if not here or friend["attacks"] == 0:
            continue
        for place in range(turn["n_enemies"]):
            enemy = turn["enemies"][place]
            hidden = (enemy["keywords"] & Keyword.STEALTH) != 0 or enemy["health"] == 0
            if not hidden and not (guarded and not guards(enemy)) and not (friend["barred"] >> place) & 1:
                moves[n, 0] = source
                moves[n, 1] = place
                n += 1
        if friend["hits_hero"] and not guarded and friend["attack"] < turn["hero"]:
            moves[n, 0] = source
            moves[n, 1] = HERO
            n += 1
    return n


@njit
def _sort_moves(moves: np.ndarray, bounds: np.ndarray, n: int) -> None:
    """Sort by bound, the best first; equal ones stay in order. Modified in place."""
    for number in range(1, n):
        place = number
        while place > 0 and bounds[place - 1] < bounds[place]:
            bounds[place - 1], bounds[place] = bounds[place], bounds[place - 1]
            for column in range(2):
                swap = moves[place, column]
                moves[place, column] = moves[place - 1, column]
                moves[place - 1, column] = swap
            place -= 1


@njit
def _met(turn: np.void, path: np.ndarray, seen: np.ndarray) -> bool:
    """Whether the attacks of `path` led to this position before, in another order. `seen` is modified."""
    code = np.uint64(0)
    for index in range(turn["n_board"] + turn["n_hand"]):
        friend = turn["friends"][index]
        first = 0
        second = 0
        for step in range(len(path)):
            if path[step, 0] == index:
                first, second = path[step, 1] + 1, first
        hits = max(first, second) * 16 + min(first, second)
        code = derive(code, (int(hits) * 1024 + int(friend["health"])) * 256 + int(friend["keywords"]))
    for target in range(turn["n_enemies"]):
        enemy = turn["enemies"][target]
        code = derive(code, int(enemy["health"]) * 256 + int(enemy["keywords"]))
    code |= np.uint64(1)  # 0 marks an empty place
    place = np.int64((code >> np.uint64(32)) % np.uint64(SEEN_SIZE))
    while seen[place] != 0:
        if seen[place] == code:
            return True
        place = (place + 1) % SEEN_SIZE
    seen[place] = code
    return False


@njit
def _keep(
    root: np.void,
    rest: np.void,
    weights: np.ndarray,
    best: Best,
    path: np.ndarray,
    work: np.void,
    layers: np.ndarray,
    plan: np.void,
) -> bool:
    """Write the plan that makes the attacks of `path` and then the best of the rest, if that has an order.

    `work` and `plan` are modified in place, `plan` only when it has.
    """
    n = retrace(rest, weights, best, work, layers)
    if not order_hits(rest, n, best.lethal == 1, work):
        return False
    hits = np.empty((MAX_HITS, 2), np.int64)
    n_path = len(path)
    hits[:n_path] = path
    for place in range(n):
        hits[n_path + place, 0] = work["hit_source"][work["order"][place]]
        hits[n_path + place, 1] = work["hit_target"][work["order"][place]]
    for place in range(n_path + n):
        work["order"][place] = place
        work["hit_source"][place] = hits[place, 0]
        work["hit_target"][place] = hits[place, 1]
    for step in range(n_path):
        if path[step, 1] != HERO and rest["enemies"][path[step, 1]]["health"] == 0:
            work["killed"][path[step, 1]] = True
        if rest["friends"][path[step, 0]]["health"] == 0:
            work["dying"][path[step, 0]] = True
    write_plan(root, weights, n_path + n, best.lethal == 1, work, plan)
    return True
