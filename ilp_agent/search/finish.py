"""Attacks of own minions on the enemy hero where they come last, also where they kill him, compiled.

Attacks on a hero cost nothing but the attack, so that their order matters only to the last blow: nothing
follows it. Where they kill, the strongest comes last: whatever set of attacks kills, with the strongest in
place of its last blow it kills too, and deals no less. Sums of attacks are bits of one number.
"""

import numpy as np

from engine.codes import HERO, OWN_SIDE, ActionKind
from engine.combat import guards, may_attack_hero
from engine.effects.chance import think
from engine.effects.legal import BARRED, SPARING
from engine.jit import njit_borrowing
from engine.packing import pack_action, unpack_action
from engine.rules import apply
from engine.vocabulary import Trait
from ilp_agent.search.objective import worth_of_damage, worth_of_kill
from ilp_agent.turn import ANY_TARGET, ARRIVED

MOST_HEALTH = 64
"""Sums of attacks below the enemy hero's health, to this at most, are bits of one number."""

ALL_BITS = np.uint64(2**MOST_HEALTH - 1)

_encode = njit_borrowing(pack_action)
_decode = njit_borrowing(unpack_action)


@njit_borrowing
def face_damage(state: np.void, start: np.void) -> int:
    """Damage of all attacks on the enemy hero that own minions can still make."""
    seat = start["seat"]
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    if enemy["traits"] & Trait.IMMUNE:
        return 0
    for place in range(enemy["n_board"]):
        if guards(enemy["board"][place]):
            return 0
    total = 0
    for place in range(own["n_board"]):
        minion = own["board"][place]
        if attacks_hero(minion, start):
            total += minion["attacks_left"] * minion["attack"]
    return total


@njit_borrowing
def worth_of_attacks(state: np.void, weights: np.ndarray, start: np.void) -> float:
    """What the best attacks of own minions on the enemy hero add, who may die of them."""
    total = face_damage(state, start)
    enemy = state["sides"][1 - start["seat"]]
    health = enemy["health"] + enemy["armour"]
    if total < health:
        return float(worth_of_damage(weights) * total)
    place = hardest(state, start)
    most = state["sides"][start["seat"]]["board"][place]["attack"]
    total = most + most_before(state, start, health, place)
    return float(worth_of_damage(weights) * total + worth_of_kill(weights))


@njit_borrowing
def hardest(state: np.void, start: np.void) -> int:
    """Place of the strongest own minion that can attack the enemy hero: its last blow loses the least."""
    own = state["sides"][start["seat"]]
    best = -1
    for place in range(own["n_board"]):
        more = best < 0 or own["board"][place]["attack"] > own["board"][best]["attack"]
        if more and attacks_hero(own["board"][place], start):
            best = place
    return best


@njit_borrowing
def sums_before(state: np.void, start: np.void, health: int, last: int) -> np.uint64:
    """Bit d: attacks of own minions can sum to d, less than the hero's health, without one of `last`'s."""
    own = state["sides"][start["seat"]]
    sums, below = np.uint64(1), ALL_BITS >> np.uint64(MOST_HEALTH - health)
    for place in range(own["n_board"]):
        minion = own["board"][place]
        if not attacks_hero(minion, start) or minion["attack"] >= health:
            continue
        for _ in range(minion["attacks_left"] - (1 if place == last else 0)):
            sums |= (sums << np.uint64(minion["attack"])) & below
    return sums


@njit_borrowing
def most_before(state: np.void, start: np.void, health: int, last: int) -> int:
    """The most damage of attacks on the enemy hero that leaves him alive, without one of `last`'s."""
    sums = sums_before(state, start, health, last)
    most = health - 1
    while not sums >> np.uint64(most) & np.uint64(1):
        most -= 1
    return int(most)


@njit_borrowing
def next_attack(state: np.void, start: np.void) -> int:
    """Place of the minion that attacks the enemy hero next, where these attacks may kill him; -1 for none."""
    total = face_damage(state, start)
    enemy = state["sides"][1 - start["seat"]]
    health = enemy["health"] + enemy["armour"]
    last = hardest(state, start) if total > 0 else -1
    if total < health:
        return last
    most = most_before(state, start, health, last)
    return next_before(state, start, most, last) if most > 0 else last


@njit_borrowing
def next_before(state: np.void, start: np.void, damage: int, last: int) -> int:
    """Place of a minion with which attacks that sum to `damage` begin, without one of `last`'s."""
    own = state["sides"][start["seat"]]
    for place in range(own["n_board"]):
        minion = own["board"][place]
        attack = int(minion["attack"])
        if not attacks_hero(minion, start) or attack > damage:
            continue
        if minion["attacks_left"] == (1 if place == last else 0):
            continue
        minion["attacks_left"] -= 1
        rest = sums_before(state, start, damage - attack + 1, last)
        minion["attacks_left"] += 1
        if rest >> np.uint64(damage - attack) & np.uint64(1):
            return place
    return -1


@njit_borrowing
def attacks_hero(minion: np.void, start: np.void) -> bool:
    """Whether a minion can attack a hero whom nobody guards, and is not to leave that out."""
    return bool(
        minion["attacks_left"] > 0
        and minion["attack"] > 0
        and not minion["traits"] & (BARRED | SPARING)
        and may_attack_hero(minion)
        and not (start["n_barred"] and _bars_hero(start, minion))
    )


@njit_borrowing
def _bars_hero(start: np.void, minion: np.void) -> bool:
    """Whether a minion's attacks on the enemy hero are to be left out."""
    for n in range(start["n_barred"]):
        source, target = start["barred"][n, 1], start["barred"][n, 2]
        arrived = minion["born"] > start["births"] and source == ARRIVED - minion["card"]
        hero = target in (ANY_TARGET, -1 - HERO)
        if start["barred"][n, 0] == ActionKind.ATTACK and hero and (source == minion["born"] or arrived):
            return True
    return False


@njit_borrowing
def attacks_before_kill(before: np.void, after: np.void, start: np.void) -> int:
    """The most damage of attacks on the enemy hero before an action that then kills him; -1 for none."""
    enemy, then = before["sides"][1 - start["seat"]], after["sides"][1 - start["seat"]]
    health = enemy["health"] + enemy["armour"]
    left = then["health"] + then["armour"]
    if left >= health:
        return -1
    sums = sums_before(before, start, health, -1)
    for damage in range(health - 1, max(left, 0) - 1, -1):
        if sums >> np.uint64(damage) & np.uint64(1):
            return int(damage)
    return -1


@njit_borrowing
def next_before_kill(state: np.void, cards: np.ndarray, action: int, work: np.void) -> int:
    """Place of the minion that attacks the enemy hero next, before an action kills him; -1 for none.

    Scratch of `work` is modified in place.
    """
    after, thought = work["scratch"][1], work["thought"][0]
    work["scratch"][1] = state
    think(thought)
    apply(after, cards, action, thought)
    think(thought)
    damage = attacks_before_kill(state, after, work["start"])
    return next_before(state, work["start"], damage, -1) if damage > 0 else -1


@njit_borrowing
def attack_hero(state: np.void, cards: np.ndarray, action: int, thought: np.void) -> int:
    """Let the own minion that an action is aimed at attack the hero; its damage. Modifies `state`."""
    _, _, target = _decode(action)
    place = target - OWN_SIDE
    damage = 0
    minion = state["sides"][state["active"]]["board"][place]
    while minion["attacks_left"] > 0:
        damage += minion["attack"]
        apply(state, cards, _encode(ActionKind.ATTACK, place, HERO), thought)
    think(thought)
    return damage
