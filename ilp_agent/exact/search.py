"""Optimal attacks and plays of a turn, before ordering: a dynamic program for each set of hand minions.

For every set of hand minions that are played to attack, `ilp_agent.exact.convolution` computes the best value
of all attacks on enemy minions; the remaining attackers hit the hero; a small knapsack plays the rest of the
hand. Ties go to the first found: hand sets by their bits, then states by their number; among equal knapsacks
to more cards, and The Coin is kept unless it adds value.
"""

import numpy as np

from engine.codes import BOARD_SIZE, Keyword
from engine.jit import njit, njit_inline, non_literal
from ilp_agent.exact.convolution import (
    DIES,
    MAY_DIE,
    UNREACHABLE,
    Predecessor,
    assign_digits,
    best_hero_damage,
    convolve_target,
    digit_after_hits,
    digit_of,
    first_table,
    move_past_guards,
    tabulate_hero_damage_left,
    trace_back_guards,
    trace_back_target,
    windfury_hero_damage,
    write_hero_attacks,
)
from ilp_agent.exact.hits import (
    choose_shield_hits,
    hero_damage_value,
    kills_attacker,
    list_attackers_and_targets,
    list_hit_sets,
    shielded,
    unpack_hits,
)
from ilp_agent.exact.knapsack import (
    count_bits,
    fill_knapsack,
    is_redundant_set,
    knapsack_value,
    mana_budget,
    mana_cost,
    mark_plays,
    max_plays,
    play_gain,
    playable_attackers,
)
from ilp_agent.exact.work import (
    ALL_DEAD,
    MAX_LAYERS,
    MAX_STATES,
    PREALLOCATED_STATES,
    SOME_ALIVE,
    BestState,
    Combatants,
    SearchResult,
    Shape,
    combination_of,
)
from ilp_agent.features import minion_end_value, uses_full_weights
from ilp_agent.weights import Term

NO_TABLES = -1
"""`SearchResult.attackers` if the tables were not kept."""


@njit
def set_up_tables(turn: np.void, weights: np.ndarray, attackers: int, work: np.void) -> Shape:
    """Set up the dynamic program for one set of hand attackers: sources, targets, hits and plays.

    `work` is modified in place.
    """
    combatants = list_attackers_and_targets(turn, attackers, work)
    combinations = assign_digits(turn, weights, combatants, work)
    free_slots = BOARD_SIZE - turn["n_board"] - count_bits(attackers, turn["n_hand"]) + turn["freed_slots"]
    mana = mana_budget(turn) - mana_cost(turn, attackers)
    cards = max_plays(turn, attackers, mana)
    deaths = max(0, min(cards - free_slots, _count_killable(turn, combatants, work)))
    knapsack_slots = min(free_slots + deaths, BOARD_SIZE, cards)
    fill_knapsack(turn, weights, attackers, mana, knapsack_slots, work)
    most = knapsack_value(turn, mana, min(free_slots + deaths, knapsack_slots), work)[0]
    while (
        deaths > 0
        and knapsack_value(turn, mana, min(free_slots + deaths - 1, knapsack_slots), work)[0] >= most
    ):
        deaths -= 1  # another board slot would add no value
    shape = Shape(
        combatants.n_single,
        combatants.n_double,
        combatants.n_guards,
        combatants.n_targets,
        combinations,
        deaths,
        1 << combatants.n_single,
        ((deaths + 1) * combinations) << combatants.n_single,
        free_slots,
        knapsack_slots,
        mana,
    )
    for t in range(shape.n_targets):
        list_hit_sets(turn, weights, shape, t, work)
    return shape


@njit
def _count_killable(turn: np.void, combatants: Combatants, work: np.void) -> int:
    """Number of sources on board that can die by attacking."""
    mortal = 0
    for i in range(combatants.n_single + combatants.n_double):
        on_board = work["source"][i] < turn["n_board"]
        if on_board and _can_die(turn, i, i >= combatants.n_single, combatants.n_targets, work):
            mortal += 1
    return mortal


@njit
def _can_die(turn: np.void, i: int, twice: bool, n_targets: int, work: np.void) -> bool:
    """Whether source `i` (`twice`: with two hits) can die by attacking."""
    friend = turn["friends"][work["source"][i]]
    for t in range(n_targets):
        enemy = turn["enemies"][work["target"][t]]
        if twice and enemy["attack"] > 0:
            return True
        if kills_attacker(friend, enemy) and not shielded(friend):
            return True
    return False


@njit
def fill_tables(turn: np.void, weights: np.ndarray, shape: Shape, tables: np.ndarray, work: np.void) -> int:
    """Run the convolution over all targets; returns the index of the last table. Modified in place."""
    first_table(shape, tables[0])
    layer = 0
    for t in range(shape.n_targets):
        if t == shape.n_guards and t > 0:
            move_past_guards(turn, shape, tables[layer], tables[layer + 1], work)
            layer += 1
        convolve_target(turn, weights, shape, t, tables[layer], tables[layer + 1], work)
        layer += 1
    if shape.n_guards > 0 and shape.n_guards == shape.n_targets:
        move_past_guards(turn, shape, tables[layer], tables[layer + 1], work)
        layer += 1
    return layer


@njit
def allocate_tables(shape: Shape, layers: np.ndarray) -> np.ndarray:
    """The preallocated tables, or newly allocated ones if a turn needs larger tables."""
    if shape.n_states <= PREALLOCATED_STATES:
        return layers
    return np.empty((MAX_LAYERS, 2, shape.n_states), np.float64)


@njit
def search_attacks(turn: np.void, weights: np.ndarray, work: np.void, layers: np.ndarray) -> SearchResult:
    """Find the best plan of a turn, without its attack order (see `ilp_agent.exact.order`).

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: of the objective, indexed by `Term`; finite and >= 0.
        work: dtype `WORK`. Modified in place.
        layers: tables from `ilp_agent.exact.work.new_layers`. Modified in place.
    """
    able = playable_attackers(turn)
    found = empty_result()
    attackers = non_literal(0)
    while True:
        if is_candidate_set(turn, attackers):
            found = search_hand_set_inlined(turn, weights, attackers, found, work, layers)
        attackers = (attackers - able) & able
        if attackers == 0:
            return found


@njit_inline
def empty_result() -> SearchResult:
    """Initial search result, worse than any plan."""
    shape = Shape(0, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0)
    return SearchResult(BestState(UNREACHABLE, 0, 0, SOME_ALIVE, 0, 0), 0, NO_TABLES, shape, 0)


@njit
def is_candidate_set(turn: np.void, attackers: int) -> bool:
    """Whether a set of hand minions can be played to attack, and is not redundant (`is_redundant_set`)."""
    room = count_bits(attackers, turn["n_hand"]) <= BOARD_SIZE - turn["n_board"]
    return room and mana_cost(turn, attackers) <= mana_budget(turn) and not is_redundant_set(turn, attackers)


@njit
def search_hand_set(
    turn: np.void, weights: np.ndarray, attackers: int, found: SearchResult, work: np.void, layers: np.ndarray
) -> SearchResult:
    """The better of a search result and the best plan that first plays the hand minions `attackers`.

    Args:
        turn: as in `search_attacks`, or the rest of a turn, with the minions `attackers` still in hand.
        weights: of the objective, indexed by `Term`.
        attackers: bits of hand minions.
        found: the result of the previous sets of hand attackers.
        work: modified in place.
        layers: modified in place.
    """
    return search_hand_set_inlined(turn, weights, attackers, found, work, layers)


@njit_inline
def search_hand_set_inlined(
    turn: np.void, weights: np.ndarray, attackers: int, found: SearchResult, work: np.void, layers: np.ndarray
) -> SearchResult:
    """`search_hand_set`, inlined: a call would take a tenth of the time of a typical turn."""
    shape = set_up_tables(turn, weights, attackers, work)
    if shape.n_states > MAX_STATES:
        return SearchResult(found.best, 1, NO_TABLES, shape, 0)
    tables = allocate_tables(shape, layers)
    last = fill_tables(turn, weights, shape, tables, work)
    base = _idle_value(turn, weights, attackers)
    for level in range(shape.n_deaths + 1):
        places = min(shape.free_slots + level, shape.knapsack_slots)
        work["plays"][level] = base + knapsack_value(turn, shape.mana, places, work)[0]
    best = found.best
    if shape.n_guards > 0:
        best = _best_before_guards(shape, attackers, best, tables, work)
    best = _best_at_the_end(turn, weights, shape, attackers, best, last, tables, work)
    # Tables allocated for this turn alone are not available later.
    kept = attackers if shape.n_states <= PREALLOCATED_STATES else NO_TABLES
    return SearchResult(best, found.oversize, kept, shape, last)


@njit
def _idle_value(turn: np.void, weights: np.ndarray, attackers: int) -> float:
    """Objective if the hand attackers are played and no minion attacks."""
    value, full = 0.0, uses_full_weights(weights)
    for place in range(turn["n_enemies"]):
        value -= weights[Term.THREAT] * turn["enemies"][place]["attack"]
    for index in range(turn["n_board"]):
        value += weights[Term.SURVIVE] * turn["friends"][index]["survival"]
    if full:
        value += _idle_end_value(turn, weights)
    for k in range(turn["n_hand"]):
        if (attackers >> k) & 1:
            value += play_gain(turn["friends"][turn["n_board"] + k], weights, full)
    return value


@njit
def _idle_end_value(turn: np.void, weights: np.ndarray) -> float:
    """What the full weights count if no minion is played and none attacks."""
    value = 0.0
    for place in range(turn["n_enemies"]):
        value -= weights[Term.ENEMY_HEALTH] * turn["enemies"][place]["health"]
    for index in range(turn["n_board"]):
        friend = turn["friends"][index]
        if friend["health"] > 0:
            value += minion_end_value(friend["attack"], friend["health"], friend["keywords"], weights)
    for index in range(turn["n_board"], turn["n_board"] + turn["n_hand"]):
        value += weights[Term.HAND] + weights[Term.HAND_MANA] * turn["friends"][index]["cost"]
    return value


@njit
def _best_before_guards(
    shape: Shape, attackers: int, best: BestState, tables: np.ndarray, work: np.void
) -> BestState:
    """The better of `best` and the plans that leave a guard alive and so attack only guards."""
    per_level = shape.n_combinations << shape.n_single
    for state in range(shape.n_states):
        value = tables[shape.n_guards, SOME_ALIVE, state]
        if value > UNREACHABLE / 2:
            value += work["plays"][state // per_level]
            if value > best.value:
                best = BestState(value, attackers, shape.n_guards, SOME_ALIVE, state, 0)
    return best


@njit
def _best_at_the_end(
    turn: np.void,
    weights: np.ndarray,
    shape: Shape,
    attackers: int,
    best: BestState,
    last: int,
    tables: np.ndarray,
    work: np.void,
) -> BestState:
    """The better of `best` and the plans of the last table, where remaining attackers may hit the hero."""
    tabulate_hero_damage_left(turn, shape, work)
    plays, hero_damage_left = work["plays"], work["hero_damage_left"]
    per_damage = hero_damage_value(weights)
    hidden = False
    for place in range(turn["n_enemies"]):
        hidden = hidden or (turn["enemies"][place]["keywords"] & Keyword.STEALTH) != 0
    for half in range(2):
        bonus = weights[Term.CLEAR] if half == ALL_DEAD and not hidden else 0.0
        if half == SOME_ALIVE and shape.n_targets == shape.n_guards:
            continue
        for block in range((shape.n_deaths + 1) * shape.n_combinations):
            by_doubles = windfury_hero_damage(turn, shape, work, block % shape.n_combinations)
            added = plays[block // shape.n_combinations] + bonus
            for mask in range(shape.n_masks):
                state = block * shape.n_masks + mask
                value = tables[last, half, state]
                if value < UNREACHABLE / 2:
                    continue
                value += added
                damage = hero_damage_left[mask] + by_doubles
                lethal = False
                if damage < turn["hero"]:
                    value += per_damage * damage
                else:
                    face, lethal = best_hero_damage(turn, weights, shape, work, state, best.value - value)
                    value += face
                if value > best.value:
                    best = BestState(value, attackers, last, half, state, 1 if lethal else 0)
    return best


@njit
def trace_back(
    turn: np.void, weights: np.ndarray, found: SearchResult, work: np.void, layers: np.ndarray
) -> int:
    """Trace back a search result: write the plan's attacks and plays; returns the number of attacks.

    Args:
        turn: the turn that was searched.
        weights: the weights of the search.
        found: the search result.
        work: modified in place: hit_source, hit_target, played, dying, killed, absorbs, pops.
        layers: as the search left them. Modified in place.
    """
    best, shape, last = found.best, found.shape, found.last
    refill = found.attackers != best.attackers
    if refill:
        shape = set_up_tables(turn, weights, best.attackers, work)
    tables = allocate_tables(shape, layers)
    if refill:
        last = fill_tables(turn, weights, shape, tables, work)
    work["dying"][:] = False
    work["killed"][:] = False
    n = 0
    if best.layer == last:
        n = write_hero_attacks(turn, shape, best, work)
    layer = best.layer
    then = Predecessor(0, best.state, best.half, 0)
    t = shape.n_targets if layer == last else shape.n_guards
    while t > 0:
        if shape.n_guards > 0 and t == shape.n_guards and layer == shape.n_guards + 1:
            state = trace_back_guards(turn, shape, tables[layer - 1], tables[layer], then.state, work)
            then = Predecessor(0, state, ALL_DEAD, 0)
            layer -= 1
        t -= 1
        then = trace_back_target(turn, weights, shape, t, tables[layer - 1], tables[layer], then, work)
        layer -= 1
        n = write_hits(turn, shape, t, then, n, work)
    mark_plays(turn, weights, best, shape, work)
    choose_shield_hits(turn, weights, n, work)
    return n


@njit
def write_hits(turn: np.void, shape: Shape, t: int, step: Predecessor, n: int, work: np.void) -> int:
    """Write the hits on target `t` and the deaths by them; returns the new number of attacks."""
    e = step.hits
    enemy = turn["enemies"][work["target"][t]]
    if work["kills"][t, e]:
        work["killed"][work["target"][t]] = True
    for i in range(shape.n_single + shape.n_double):
        index = work["source"][i]
        friend = turn["friends"][index]
        if i < shape.n_single:
            count = (work["mask"][t, e] >> i) & 1
            if count and kills_attacker(friend, enemy) and not shielded(friend):
                work["dying"][index] = True
        else:
            r = i - shape.n_single
            count = unpack_hits(work["counts"][t, e], r)
            if count:
                digit = digit_of(work, combination_of(shape, step.state), r)
                _, fate = digit_after_hits(friend, enemy, work, r, t, digit, count)
                if fate == DIES or (fate == MAY_DIE and (step.dying >> r) & 1):
                    work["dying"][index] = True
        for _ in range(count):
            work["hit_source"][n] = index
            work["hit_target"][n] = work["target"][t]
            n += 1
    return n
