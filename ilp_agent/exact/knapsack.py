"""Choice of hand minions to play: sets that attack at once (Charge, Rush), and a knapsack over the others."""

import numpy as np

from engine.codes import BOARD_SIZE, MAX_MANA, Keyword
from engine.jit import njit
from ilp_agent.exact.work import BestState, Shape, deaths_of
from ilp_agent.features import minion_end_value, uses_full_weights
from ilp_agent.weights import Term

UNAFFORDABLE = 99
"""Cost used for a card that costs more than the maximum mana."""


@njit
def mana_budget(turn: np.void) -> int:
    """Mana that can be spent, The Coin included (at 10 mana it is played after the first paid card)."""
    return int(turn["mana"] + turn["coin"])


@njit
def mana_cost(turn: np.void, attackers: int) -> int:
    """Mana cost of a set of hand minions; above any budget if one minion is unaffordable."""
    total = 0
    for k in range(turn["n_hand"]):
        if (attackers >> k) & 1:
            cost = turn["friends"][turn["n_board"] + k]["cost"]
            total += cost if cost <= min(mana_budget(turn), MAX_MANA) else UNAFFORDABLE
    return total


@njit
def playable_attackers(turn: np.void) -> int:
    """Bits of the hand minions that can be played and attack this turn."""
    targets = 0
    for place in range(turn["n_enemies"]):
        if not turn["enemies"][place]["keywords"] & Keyword.STEALTH:
            targets += 1
    bits = 0
    for k in range(turn["n_hand"]):
        friend = turn["friends"][turn["n_board"] + k]
        useful = friend["attacks"] > 0 and (friend["hits_hero"] or targets > 0)
        if useful and friend["cost"] <= min(mana_budget(turn), MAX_MANA):
            bits |= 1 << k
    return bits


@njit
def count_bits(attackers: int, n: int) -> int:
    """Number of set bits among the first `n`."""
    count = 0
    for k in range(n):
        count += (attackers >> k) & 1
    return count


@njit
def interchangeable(one: np.void, other: np.void) -> bool:
    """Whether two hand minions are interchangeable in a plan."""
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
def is_redundant_set(turn: np.void, attackers: int) -> bool:
    """Whether a set of hand minions is redundant: it skips an earlier, interchangeable minion."""
    for k in range(turn["n_hand"]):
        if (attackers >> k) & 1:
            for earlier in range(k):
                friend = turn["friends"][turn["n_board"] + earlier]
                if not (attackers >> earlier) & 1 and interchangeable(
                    friend, turn["friends"][turn["n_board"] + k]
                ):
                    return True
    return False


@njit
def max_plays(turn: np.void, attackers: int, mana: int) -> int:
    """Most hand minions other than the attackers that mana allows, the cheapest first."""
    n = 0
    for price in range(MAX_MANA + 1):
        for k in range(turn["n_hand"]):
            cost = turn["friends"][turn["n_board"] + k]["cost"]
            if cost == price and price <= mana and not (attackers >> k) & 1:
                mana -= price
                n += 1
    return n


@njit
def any_affordable(turn: np.void, attackers: int, mana: int) -> bool:
    """Whether any hand minion other than the attackers is affordable."""
    for k in range(turn["n_hand"]):
        cost = turn["friends"][turn["n_board"] + k]["cost"]
        if not (attackers >> k) & 1 and cost <= min(mana, MAX_MANA):
            return True
    return False


@njit
def play_gain(friend: np.void, weights: np.ndarray, full: bool) -> float:
    """Objective gain of playing a hand minion that survives; `full`: whether full weights are set."""
    gain = weights[Term.PLAY] * friend["value"] + weights[Term.SURVIVE] * friend["survival"]
    if not full:
        return float(gain)
    gain += minion_end_value(friend["attack"], friend["health"], friend["keywords"], weights)
    return float(gain - weights[Term.HAND] - weights[Term.HAND_MANA] * friend["cost"])


@njit
def fill_knapsack(
    turn: np.void, weights: np.ndarray, attackers: int, mana: int, places: int, work: np.void
) -> None:
    """Fill the knapsack: best values of playing other hand minions, by free board slots and mana.

    `knapsack[p, m]` is the best value with at most `p` slots and `m` mana, and `packed[p, m]` its number of
    cards; ties go to more cards. `work` is modified in place.
    """
    full = uses_full_weights(weights)
    work["knapsack"][: places + 1, : mana + 1] = 0.0
    work["packed"][: places + 1, : mana + 1] = 0
    for k in range(turn["n_hand"]):
        friend = turn["friends"][turn["n_board"] + k]
        cost = friend["cost"]
        if (attackers >> k) & 1 or cost > min(mana, MAX_MANA):
            continue
        gain = play_gain(friend, weights, full)
        for p in range(places, 0, -1):
            for m in range(mana, cost - 1, -1):
                value = work["knapsack"][p - 1, m - cost] + gain
                cards = work["packed"][p - 1, m - cost] + 1
                better = value > work["knapsack"][p, m]
                if better or (value == work["knapsack"][p, m] and cards > work["packed"][p, m]):
                    work["knapsack"][p, m] = value
                    work["packed"][p, m] = cards


@njit
def knapsack_value(turn: np.void, mana: int, places: int, work: np.void) -> tuple[float, int]:
    """Knapsack value for a number of board slots, and the mana to spend: without The Coin if as good."""
    knapsack = work["knapsack"]
    if turn["coin"] and mana >= 1 and knapsack[places, mana - 1] >= knapsack[places, mana]:
        mana -= 1
    return knapsack[places, mana], mana


@njit
def mark_plays(turn: np.void, weights: np.ndarray, best: BestState, shape: Shape, work: np.void) -> None:
    """Mark the hand minions that a plan plays. `work` is modified in place: played."""
    m = turn["n_board"]
    work["played"][:] = False
    for k in range(turn["n_hand"]):
        work["played"][m + k] = (best.attackers >> k) & 1
    places = min(shape.free_slots + deaths_of(shape, best.state), BOARD_SIZE)
    if not any_affordable(turn, best.attackers, shape.mana) or places == 0:
        return
    places = min(places, max_plays(turn, best.attackers, shape.mana))
    fill_knapsack(turn, weights, best.attackers, shape.mana, places, work)
    _, mana = knapsack_value(turn, shape.mana, places, work)
    _fill_by_cards(turn, weights, mana, places, work)
    fill, cards = work["fill"], work["cards"]
    for k in range(turn["n_hand"] - 1, -1, -1):
        if fill[k + 1, places, mana] != fill[k, places, mana] or (
            cards[k + 1, places, mana] != cards[k, places, mana]
        ):
            work["played"][m + k] = True
            mana -= turn["friends"][m + k]["cost"]
            places -= 1


@njit
def _fill_by_cards(turn: np.void, weights: np.ndarray, mana: int, places: int, work: np.void) -> None:
    """Knapsack tables for each prefix of the hand, for the traceback. `work` is modified in place."""
    fill, cards = work["fill"], work["cards"]
    fill[0, : places + 1, : mana + 1] = 0.0
    cards[0, : places + 1, : mana + 1] = 0
    full = uses_full_weights(weights)
    for k in range(turn["n_hand"]):
        friend = turn["friends"][turn["n_board"] + k]
        cost = friend["cost"]
        able = not work["played"][turn["n_board"] + k] and cost <= min(mana, MAX_MANA)
        gain = play_gain(friend, weights, full)
        for p in range(places + 1):
            for left in range(mana + 1):
                fill[k + 1, p, left] = fill[k, p, left]
                cards[k + 1, p, left] = cards[k, p, left]
                if able and p > 0 and left >= cost:
                    value = fill[k, p - 1, left - cost] + gain
                    count = cards[k, p - 1, left - cost] + 1
                    better = value > fill[k + 1, p, left]
                    if better or (value == fill[k + 1, p, left] and count > cards[k + 1, p, left]):
                        fill[k + 1, p, left] = value
                        cards[k + 1, p, left] = count
