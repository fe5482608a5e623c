"""Exact solver: the optimal plan of a turn, with branch and bound over the attack order if needed.

`ilp_agent.exact.search` assumes the best order of each Windfury minion's two attacks. In rare cases these
orders contradict each other: on one enemy minion a must attack before b, on another b before a. If health
left on the board has weight, a shield that must absorb a certain hit constrains the order too. In these cases
branch and bound makes attacks one by one on a copy of the turn. The value that `search_attacks` finds for the
rest is an upper bound; if those attacks can be ordered, the bound is attained and the branch is closed. A
position reached by the same attacks in another order is not searched twice.
"""

from typing import NamedTuple

import numpy as np

from engine.bitfields import KEYWORD_BITS, PLACE_BITS, PLACE_MASK, STAT_BITS
from engine.codes import BOARD_SIZE, HERO, Keyword
from engine.indirect_call import njit_indirect
from engine.jit import njit, non_literal
from engine.state import guards
from engine.streams import derive
from ilp_agent.exact.hits import hero_damage_value
from ilp_agent.exact.knapsack import playable_attackers
from ilp_agent.exact.order import order_hits, write_plan
from ilp_agent.exact.plan_record import PLAN
from ilp_agent.exact.search import (
    empty_result,
    is_candidate_set,
    search_attacks,
    search_hand_set,
    trace_back,
)
from ilp_agent.exact.work import MAX_LAYERS, PREALLOCATED_STATES, WORK, SearchResult
from ilp_agent.turn import MAX_FRIENDS, MAX_HITS, MAX_HITS_EACH, TURN
from ilp_agent.weights import Term

TURN_SIZE = TURN.itemsize

MAX_CHILDREN = MAX_FRIENDS * (BOARD_SIZE + 1)
MAX_NODES = 20_000
"""Limit of computed bounds; then the search stops with the incumbent."""

VISITED_SIZE = 1 << 16
"""Slots of the hash table of visited positions; a power of two, well above `MAX_NODES`."""

SOURCE, TARGET = 0, 1
"""Columns of attacks: index of the friendly minion, and of the enemy minion or `HERO`."""

HITS_ON_BITS = 2 * PLACE_BITS
"""Bits of the targets that a friendly minion has attacked, in packed keys."""

assert HERO + 1 <= PLACE_MASK
assert HITS_ON_BITS + STAT_BITS + KEYWORD_BITS <= 32, "`derive` takes 32 bits"


class Stack(NamedTuple):
    """Depth-first stack of branch and bound, indexed by depth. Modified in place."""

    turns: np.ndarray  # the turn after the attacks made so far, dtype TURN; first the turn itself
    turn_bytes: np.ndarray  # byte view of `turns`: copying records would take a second to compile each
    gained: np.ndarray  # value of the attacks made so far
    path: np.ndarray  # the attacks made so far
    moves: np.ndarray  # candidate next attacks, the most promising first
    bounds: np.ndarray  # upper bounds of plans that continue with them
    n_moves: np.ndarray  # number of candidates
    following: np.ndarray  # the next candidate to try
    seen: np.ndarray  # hashes of visited positions; 0: an empty slot
    child: np.ndarray  # scratch turn, dtype TURN, shape (1,)
    child_bytes: np.ndarray  # byte view of `child`


@njit
def new_stack() -> Stack:
    """Allocate the stack of branch and bound."""
    turns = np.zeros(MAX_HITS + 1, TURN)
    child = np.zeros(1, TURN)
    return Stack(
        turns,
        turns.view(np.uint8).reshape(MAX_HITS + 1, TURN_SIZE),
        np.zeros(MAX_HITS + 1),
        np.zeros((MAX_HITS, 2), np.int64),
        np.zeros((MAX_HITS + 1, MAX_CHILDREN, 2), np.int64),
        np.zeros((MAX_HITS + 1, MAX_CHILDREN)),
        np.zeros(MAX_HITS + 1, np.int64),
        np.zeros(MAX_HITS + 1, np.int64),
        np.zeros(VISITED_SIZE, np.uint64),
        child,
        child.view(np.uint8),
    )


@njit_indirect(TURN, (np.dtype(np.float64),), WORK, (np.dtype(np.float64),), PLAN, allocates=True, rare=True)
def branch_and_bound_order(
    turn: np.void, weights: np.ndarray, work: np.void, layers: np.ndarray, plan: np.void
) -> int:
    """Branch and bound for the best plan with a legal attack order; `plan` is the first incumbent.

    `work`, `layers` and `plan` are modified in place; `plan["unproven"]` is set if the node limit is reached.
    Few turns need this function, so it is compiled on first use.

    Returns:
        0.
    """
    tables = layers.reshape((MAX_LAYERS, 2, PREALLOCATED_STATES))
    able = playable_attackers(turn)
    attackers = non_literal(0)
    nodes = non_literal(MAX_NODES)
    while True:
        if is_candidate_set(turn, attackers):
            nodes = _search_orders(turn, weights, attackers, nodes, work, tables, plan)
        attackers = (attackers - able) & able
        if attackers == 0:
            break
    plan["unproven"] = nodes <= 0
    return 0


@njit
def _search_orders(
    turn: np.void,
    weights: np.ndarray,
    attackers: int,
    nodes: int,
    work: np.void,
    layers: np.ndarray,
    plan: np.void,
) -> int:
    """Branch and bound over attack orders for one set of hand attackers; return the nodes left to the limit.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: of the objective, indexed by `Term`.
        attackers: bits of the hand minions that are played first in order to attack.
        nodes: number of bounds that may still be computed.
        work: dtype `WORK`. Modified in place.
        layers: from `ilp_agent.exact.work.new_layers`. Modified in place.
        plan: the incumbent. Modified in place.
    """
    stack = new_stack()
    stack.turns[0] = turn
    depth = non_literal(0)
    nodes = _expand_node(weights, attackers, stack, depth, nodes, work, layers, plan)
    while depth >= 0:
        number = stack.following[depth]
        done = number == stack.n_moves[depth] or nodes <= 0
        if done or stack.bounds[depth, number] <= plan["value"] + _tolerance(plan["value"]):
            depth -= 1
            continue
        stack.following[depth] += 1
        source, target = stack.moves[depth, number]
        stack.turn_bytes[depth + 1] = stack.turn_bytes[depth]
        gain = apply_attack(stack.turns[depth + 1], weights, source, target)
        stack.gained[depth + 1] = stack.gained[depth] + gain
        stack.path[depth, SOURCE] = source
        stack.path[depth, TARGET] = target
        if not _was_visited(stack.turns[depth + 1], stack.path[: depth + 1], stack.seen):
            depth += 1
            nodes = _expand_node(weights, attackers, stack, depth, nodes, work, layers, plan)
    return nodes


@njit
def _expand_node(
    weights: np.ndarray,
    attackers: int,
    stack: Stack,
    depth: int,
    nodes: int,
    work: np.void,
    layers: np.ndarray,
    plan: np.void,
) -> int:
    """Expand the node at a depth: improve the incumbent, or bound the next attacks; return the nodes left.

    `stack`, `work`, `layers` and `plan` are modified in place. Returns the remaining nodes.
    """
    stack.n_moves[depth] = 0
    stack.following[depth] = 0
    turn, child = stack.turns[depth], stack.child[0]
    stack.child_bytes[:] = stack.turn_bytes[depth]
    found = search_hand_set(child, weights, attackers, empty_result(), work, layers)
    nodes -= 1
    gained = stack.gained[depth]
    if gained + found.best.value > plan["value"] + _tolerance(plan["value"]):
        path = stack.path[:depth]
        if not _improve_incumbent(stack.turns[0], turn, weights, found, path, work, layers, plan):
            # With one attack each there is always an order. The best such plan covers the plans without
            # further attacks, and the last blow.
            stack.child_bytes[:] = stack.turn_bytes[depth]
            for friend in range(MAX_FRIENDS):
                child["friends"][friend]["attacks"] = min(child["friends"][friend]["attacks"], 1)
            found = search_hand_set(child, weights, attackers, empty_result(), work, layers)
            nodes -= 1
            if gained + found.best.value > plan["value"] + _tolerance(plan["value"]):
                _improve_incumbent(stack.turns[0], child, weights, found, path, work, layers, plan)
            stack.n_moves[depth] = _list_moves(turn, attackers, stack.moves[depth])
    for number in range(stack.n_moves[depth]):
        stack.child_bytes[:] = stack.turn_bytes[depth]
        source, target = stack.moves[depth, number]
        gain = gained + apply_attack(child, weights, source, target)
        found = search_hand_set(child, weights, attackers, empty_result(), work, layers)
        nodes -= 1
        stack.bounds[depth, number] = gain + found.best.value
    _sort_moves(stack.moves[depth], stack.bounds[depth], stack.n_moves[depth])
    return nodes


@njit
def _tolerance(value: float) -> float:
    """Tolerance: the least improvement of a better plan."""
    return 1e-9 * max(1.0, abs(value))


@njit
def apply_attack(turn: np.void, weights: np.ndarray, source: int, target: int) -> float:
    """Apply one attack to a turn's record, modified in place; returns the value of the attack itself.

    Dead minions stay at their index with health 0 and no effect.
    """
    friend = turn["friends"][source]
    attack = friend["attack"]
    friend["attacks"] -= 1
    if target == HERO:
        turn["hero"] -= attack
        return float(hero_damage_value(weights) * attack)
    enemy = turn["enemies"][target]
    damage = enemy["attack"]
    wound = lost = 0
    poison = (enemy["keywords"] & Keyword.POISONOUS) != 0
    if enemy["keywords"] & Keyword.DIVINE_SHIELD:
        enemy["keywords"] &= ~Keyword.DIVINE_SHIELD
    elif friend["keywords"] & Keyword.POISONOUS or attack >= enemy["health"]:
        wound = enemy["health"]
        enemy["health"] = 0
        enemy["attack"] = 0
        enemy["keywords"] = 0
    else:
        enemy["health"] -= attack
        wound = attack
    if damage > 0:
        if friend["keywords"] & Keyword.DIVINE_SHIELD:
            friend["keywords"] &= ~Keyword.DIVINE_SHIELD
        elif poison or damage >= friend["health"]:
            lost = attack + friend["health"]
            friend["health"] = 0
            friend["survival"] = 0
            friend["attacks"] = 0
            if source < turn["n_board"]:
                turn["freed_slots"] += 1
        else:
            friend["health"] -= damage
            lost = damage
    gain = weights[Term.DAMAGE] * attack - weights[Term.TRADE] * damage
    return float(gain + weights[Term.WOUND] * wound - weights[Term.BODY] * lost)


@njit
def _list_moves(turn: np.void, attackers: int, moves: np.ndarray) -> int:
    """List legal next attacks except lethal ones on the hero; returns their number. `moves` is modified."""
    guarded = False
    for place in range(turn["n_enemies"]):
        guarded = guarded or guards(turn["enemies"][place])
    n = 0
    for source in range(turn["n_board"] + turn["n_hand"]):
        friend = turn["friends"][source]
        present = source < turn["n_board"] or (attackers >> (source - turn["n_board"])) & 1
        if not present or friend["attacks"] == 0:
            continue
        for place in range(turn["n_enemies"]):
            enemy = turn["enemies"][place]
            excluded = (enemy["keywords"] & Keyword.STEALTH) != 0 or enemy["health"] == 0
            if not excluded and not (guarded and not guards(enemy)) and not (friend["barred"] >> place) & 1:
                moves[n, SOURCE] = source
                moves[n, TARGET] = place
                n += 1
        if friend["hits_hero"] and not guarded and friend["attack"] < turn["hero"]:
            moves[n, SOURCE] = source
            moves[n, TARGET] = HERO
            n += 1
    return n


@njit
def _sort_moves(moves: np.ndarray, bounds: np.ndarray, n: int) -> None:
    """Sort attacks by bound, the best first (stable). Modified in place."""
    for number in range(1, n):
        place = number
        while place > 0 and bounds[place - 1] < bounds[place]:
            bounds[place - 1], bounds[place] = bounds[place], bounds[place - 1]
            for column in (SOURCE, TARGET):
                swap = moves[place, column]
                moves[place, column] = moves[place - 1, column]
                moves[place - 1, column] = swap
            place -= 1


@njit
def position_key(turn: np.void, path: np.ndarray) -> np.uint64:
    """Hash of a position after some attacks, independent of the order of attacks.

    Args:
        turn: the rest of the turn, dtype `TURN`.
        path: the attacks made so far, shape (attacks, 2).
    """
    code = np.uint64(0)
    for index in range(turn["n_board"] + turn["n_hand"]):
        first = 0
        second = 0
        for step in range(len(path)):
            if path[step, SOURCE] == index:
                first, second = path[step, TARGET] + 1, first
        hits = (max(first, second) << PLACE_BITS) | min(first, second)
        code = derive(code, _pack_minion(hits, turn["friends"][index]))
    for target in range(turn["n_enemies"]):
        code = derive(code, _pack_minion(0, turn["enemies"][target]))
    return code


@njit
def _pack_minion(hits: int, minion: np.void) -> int:
    """Pack a minion's hits, health and keywords into 32 bits."""
    return (((int(hits) << STAT_BITS) | int(minion["health"])) << KEYWORD_BITS) | int(minion["keywords"])


@njit
def _was_visited(turn: np.void, path: np.ndarray, seen: np.ndarray) -> bool:
    """Whether the attacks of `path` already led to this position in another order. `seen` is modified."""
    code = position_key(turn, path) | np.uint64(1)  # 0 marks an empty slot
    place = np.int64((code >> np.uint64(32)) % np.uint64(VISITED_SIZE))
    while seen[place] != 0:
        if seen[place] == code:
            return True
        place = (place + 1) % VISITED_SIZE
    seen[place] = code
    return False


@njit
def _improve_incumbent(
    root: np.void,
    rest: np.void,
    weights: np.ndarray,
    found: SearchResult,
    path: np.ndarray,
    work: np.void,
    layers: np.ndarray,
    plan: np.void,
) -> bool:
    """Make `path` and the best further attacks the incumbent, if they have a legal order; return whether.

    `work` and `plan` are modified in place, `plan` only if the order exists.
    """
    lethal = found.best.lethal == 1
    n = trace_back(rest, weights, found, work, layers)
    if not order_hits(rest, n, lethal, work):
        return False
    hits = np.empty((MAX_HITS, 2), np.int64)
    n_path = len(path)
    hits[:n_path] = path
    for place in range(n):
        hits[n_path + place, SOURCE] = work["hit_source"][work["order"][place]]
        hits[n_path + place, TARGET] = work["hit_target"][work["order"][place]]
    for place in range(n_path + n):
        work["order"][place] = place
        work["hit_source"][place] = hits[place, SOURCE]
        work["hit_target"][place] = hits[place, TARGET]
    for step in range(n_path):
        source, target = path[step]
        if target != HERO and rest["enemies"][target]["health"] == 0:
            work["killed"][target] = True
        if rest["friends"][source]["health"] == 0:
            work["dying"][source] = True
    write_plan(root, weights, n_path + n, lethal, work, plan)
    return True


@njit_indirect(TURN, (np.dtype(np.float64),), WORK, (np.dtype(np.float64),), PLAN, allocates=True)
def solve_exact_turn(
    turn: np.void, weights: np.ndarray, work: np.void, layers: np.ndarray, plan: np.void
) -> int:
    """Find the optimal plan of a turn by the exact solver. `work`, `layers` and `plan` are modified in place.

    The plan is marked as unproven in two cases: branch and bound over orders reached its node limit, or so
    many Windfury minions can attack that the weakest were limited to one attack.

    Args:
        turn: dtype `ilp_agent.turn.TURN`; unchanged on return.
        weights: of the objective, indexed by `ilp_agent.weights.Term`; finite and >= 0.
        work: dtype `ilp_agent.exact.work.WORK`.
        layers: from `ilp_agent.exact.work.new_layers`.
        plan: dtype `ilp_agent.exact.plan_record.PLAN`.

    Returns:
        0.
    """
    tables = layers.reshape((MAX_LAYERS, 2, PREALLOCATED_STATES))
    # Bits of Windfury minions limited to one attack: to fit the tables into memory; to get a legal order.
    for_size = for_order = 0
    while True:
        found = search_attacks(turn, weights, work, tables)
        if found.oversize:
            for_size |= limit_weakest_windfury(turn)
            continue
        n = trace_back(turn, weights, found, work, tables)
        if order_hits(turn, n, found.best.lethal == 1, work):
            break
        # Several Windfury minions' attacks have no common order. With one attack each there is one.
        assert for_order == 0, "attacks of single attackers can always be ordered"
        for_order = limit_all_windfury(turn)
        assert for_order != 0, "attacks of single attackers can always be ordered"
    write_plan(turn, weights, n, found.best.lethal == 1, work, plan)
    if for_order:
        restore_windfury(turn, for_order)
        branch_and_bound_order(turn, weights, work, layers, plan)
    if for_size:
        restore_windfury(turn, for_size)
        plan["unproven"] = 1
    return 0


@njit
def solve_exact_turn_arrays(
    turns: np.ndarray, weights: np.ndarray, works: np.ndarray, layers: np.ndarray, plans: np.ndarray
) -> None:
    """`solve_exact_turn` for arrays of shape (1,), which Python passes faster than records."""
    solve_exact_turn(turns[0], weights, works[0], layers, plans[0])


@njit
def limit_weakest_windfury(turn: np.void) -> int:
    """Limit the weakest minion with two attacks to one; returns its bit. `turn` is modified in place."""
    weakest = -1
    for friend in range(turn["n_board"] + turn["n_hand"]):
        minion = turn["friends"][friend]
        if minion["attacks"] == MAX_HITS_EACH and (
            weakest < 0 or minion["attack"] < turn["friends"][weakest]["attack"]
        ):
            weakest = friend
    assert weakest >= 0, "tables of attackers with one attack each always fit"
    turn["friends"][weakest]["attacks"] = 1
    return 1 << weakest


@njit
def limit_all_windfury(turn: np.void) -> int:
    """Limit all minions with two attacks to one; returns their bits. `turn` is modified in place."""
    halved = 0
    for friend in range(MAX_FRIENDS):
        if turn["friends"][friend]["attacks"] == MAX_HITS_EACH:
            turn["friends"][friend]["attacks"] = 1
            halved |= 1 << friend
    return halved


@njit
def restore_windfury(turn: np.void, halved: int) -> None:
    """Restore the second attacks of minions given as bits. `turn` is modified in place."""
    for friend in range(MAX_FRIENDS):
        if (halved >> friend) & 1:
            turn["friends"][friend]["attacks"] = MAX_HITS_EACH
