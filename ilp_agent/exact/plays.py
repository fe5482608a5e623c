"""Cards to play: which hand minions may come to attack, and a knapsack over the rest of the hand."""

import numpy as np

from engine.codes import BOARD_SIZE, MAX_MANA, Keyword
from engine.jit import njit
from ilp_agent.exact.work import Best, Shape


@njit
def budget(turn: np.void) -> int:
    """Mana that can be spent, The Coin included; at 10 mana it follows the first paid card."""
    return int(turn["mana"] + turn["coin"])


@njit
def cost_of(turn: np.void, attackers: int) -> int:
    """Mana of a set of hand minions, or 99 where one costs more than a player can ever have."""
    total = 0
    for k in range(turn["n_hand"]):
        if (attackers >> k) & 1:
            cost = turn["friends"][turn["n_board"] + k]["cost"]
            total += cost if cost <= min(budget(turn), MAX_MANA) else 99
    return total


@njit
def can_attack_from_hand(turn: np.void) -> int:
    """Bits of the hand minions that could be played to attack at all."""
    targets = 0
    for place in range(turn["n_enemies"]):
        if not turn["enemies"][place]["keywords"] & Keyword.STEALTH:
            targets += 1
    bits = 0
    for k in range(turn["n_hand"]):
        friend = turn["friends"][turn["n_board"] + k]
        useful = friend["attacks"] > 0 and (friend["hits_hero"] or targets > 0)
        if useful and friend["cost"] <= min(budget(turn), MAX_MANA):
            bits |= 1 << k
    return bits


@njit
def alike(one: np.void, other: np.void) -> bool:
    """Whether two hand minions are the same to a plan."""
    return bool(
        one["attack"] == other["attack"]
        and one["health"] == other["health"]
        and one["cost"] == other["cost"]
        and one["keywords"] == other["keywords"]
        and one["hits_hero"] == other["hits_hero"]
        and one["barred"] == other["barred"]
        and one["value"] == other["value"]
    )


@njit
def repeats(turn: np.void, attackers: int) -> bool:
    """Whether a set holds a minion but not an earlier one just like it: another set is as good."""
    for k in range(turn["n_hand"]):
        if (attackers >> k) & 1:
            for earlier in range(k):
                friend = turn["friends"][turn["n_board"] + earlier]
                if not (attackers >> earlier) & 1 and alike(friend, turn["friends"][turn["n_board"] + k]):
                    return True
    return False


@njit
def most_plays(turn: np.void, attackers: int) -> int:
    """The most other hand minions that mana allows, the cheapest first."""
    mana = budget(turn) - cost_of(turn, attackers)
    n = 0
    for price in range(MAX_MANA + 1):
        for k in range(turn["n_hand"]):
            cost = turn["friends"][turn["n_board"] + k]["cost"]
            if cost == price and price <= mana and not (attackers >> k) & 1:
                mana -= price
                n += 1
    return n


@njit
def affordable(turn: np.void, attackers: int) -> int:
    """Other hand minions that could be played singly beside a set of hand attackers."""
    mana = budget(turn) - cost_of(turn, attackers)
    n = 0
    for k in range(turn["n_hand"]):
        cost = turn["friends"][turn["n_board"] + k]["cost"]
        if not (attackers >> k) & 1 and cost <= min(mana, MAX_MANA):
            n += 1
    return n


@njit
def pack(turn: np.void, weights: np.ndarray, attackers: int, most: int, work: np.void) -> None:
    """Best values of playing other hand minions by number of places and mana.

    `knapsack[p, m]` is the best with at most `p` places and `m` mana. `work` is modified in place.
    """
    mana = budget(turn) - cost_of(turn, attackers)
    most = min(most, most_plays(turn, attackers))
    work["places"] = most
    work["knapsack"][: most + 1, : mana + 1] = 0.0
    work["packed"][: most + 1, : mana + 1] = 0
    for k in range(turn["n_hand"]):
        friend = turn["friends"][turn["n_board"] + k]
        cost = friend["cost"]
        if (attackers >> k) & 1 or cost > min(mana, MAX_MANA):
            continue
        gain = weights[7] * friend["value"] + weights[4] * friend["survival"]
        for places in range(most, 0, -1):
            for m in range(mana, cost - 1, -1):
                value = work["knapsack"][places - 1, m - cost] + gain
                cards = work["packed"][places - 1, m - cost] + 1
                better = value > work["knapsack"][places, m]
                if better or (value == work["knapsack"][places, m] and cards > work["packed"][places, m]):
                    work["knapsack"][places, m] = value
                    work["packed"][places, m] = cards


@njit
def other_plays(turn: np.void, attackers: int, places: int, work: np.void) -> tuple[float, int]:
    """Best value of other plays with so many places, and its mana limit: without The Coin if as good."""
    mana = budget(turn) - cost_of(turn, attackers)
    places = min(places, work["places"])
    if turn["coin"] and mana >= 1 and work["knapsack"][places, mana - 1] >= work["knapsack"][places, mana]:
        mana -= 1
    return work["knapsack"][places, mana], mana


@njit
def write_plays(turn: np.void, weights: np.ndarray, best: Best, shape: Shape, work: np.void) -> None:
    """Mark the hand minions a plan plays. `work` is modified in place."""
    m = turn["n_board"]
    work["played"][:] = False
    for k in range(turn["n_hand"]):
        work["played"][m + k] = (best.attackers >> k) & 1
    level = (best.state >> shape.n_single) // shape.n_combinations
    places = min(shape.room + level, BOARD_SIZE)
    if affordable(turn, best.attackers) == 0 or places == 0:
        return
    pack(turn, weights, best.attackers, places, work)
    _, mana = other_plays(turn, best.attackers, places, work)
    places = min(places, work["places"])
    fill = work["fill"]
    cards = work["cards"]
    fill[0, : places + 1, : mana + 1] = 0.0
    cards[0, : places + 1, : mana + 1] = 0
    for k in range(turn["n_hand"]):
        friend = turn["friends"][m + k]
        cost = friend["cost"]
        able = not work["played"][m + k] and cost <= min(mana, MAX_MANA)
        gain = weights[7] * friend["value"] + weights[4] * friend["survival"]
        for p in range(places + 1):
            for left in range(mana + 1):
                fill[k + 1, p, left] = fill[k, p, left]
                cards[k + 1, p, left] = cards[k, p, left]
                if able and p > 0 and left >= cost:
                    new = fill[k, p - 1, left - cost] + gain
                    count = cards[k, p - 1, left - cost] + 1
                    better = new > fill[k + 1, p, left]
                    if better or (new == fill[k + 1, p, left] and count > cards[k + 1, p, left]):
                        fill[k + 1, p, left] = new
                        cards[k + 1, p, left] = count
    p = places
    left = mana
    for k in range(turn["n_hand"] - 1, -1, -1):
        if fill[k + 1, p, left] != fill[k, p, left] or cards[k + 1, p, left] != cards[k, p, left]:
            work["played"][m + k] = True
            left -= turn["friends"][m + k]["cost"]
            p -= 1
