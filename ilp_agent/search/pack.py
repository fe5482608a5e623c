"""Plays of plain cards where they come last: the best set that mana and places allow, compiled."""

import numpy as np

from engine.codes import BOARD_SIZE, COIN, MAX_MANA, ActionKind
from engine.jit import njit_borrowing
from engine.packing import pack_action
from engine.vocabulary import CardKind
from ilp_agent.features import ATTACK, HAND_MANA, HEALTH, SHIELD
from ilp_agent.features import HERO as OWN_HERO
from ilp_agent.search.facts import PLAIN
from ilp_agent.search.objective import is_score
from ilp_agent.weights import N_TERMS, Term

_encode = njit_borrowing(pack_action)


@njit_borrowing
def best_pack(
    own: np.void, spend: int, cards: np.ndarray, weights: np.ndarray, facts: np.ndarray, work: np.void
) -> tuple[float, int]:
    """The best set of plain minions that `spend` mana and places allow: its value, and its cards as bits.

    The Coin is spent only where that adds something. Of `work`, `pack` and `packed` are modified in place:
    the best value by places and mana, -1 where none has these, and the set.
    """
    room = BOARD_SIZE - int(own["n_board"])
    mana = int(spend) + (1 if coin_place(own) >= 0 else 0)
    pack, packed = work["pack"], work["packed"]
    empty = True
    for place in range(own["n_hand"] + 1):
        number = late_card(own, place)
        if number < 0 or not facts[number]["bits"] & PLAIN or cards[number]["cost"] > mana:
            continue
        if work["start"]["n_barred"] and _is_barred(work["start"], cards, number):
            continue
        if empty:
            for used in range(room + 1):
                for paid in range(mana + 1):
                    pack[used, paid] = -1.0
            pack[0, 0] = 0.0
            packed[0, 0] = 0
            empty = False
        cost, takes = int(cards[number]["cost"]), int(facts[number]["arrivals"])
        gain = late_gain(cards[number], facts[number], weights, work["start"])
        if gain < 0.0:
            continue
        for used in range(room, takes - 1, -1):
            for paid in range(mana, cost - 1, -1):
                before = pack[used - takes, paid - cost]
                if before >= 0.0 and before + gain > pack[used, paid]:
                    pack[used, paid] = before + gain
                    packed[used, paid] = packed[used - takes, paid - cost] | 1 << place
    best, chosen = 0.0, 0
    if empty:
        return best, chosen
    for paid in range(mana + 1):
        for used in range(room + 1):
            if pack[used, paid] > best:
                best, chosen = pack[used, paid], int(packed[used, paid])
    return best, chosen


@njit_borrowing
def _is_barred(start: np.void, cards: np.ndarray, number: int) -> bool:
    """Whether a plain card is one of those to leave out."""
    power = cards[number]["kind"] == CardKind.POWER
    for n in range(start["n_barred"]):
        kind, source = start["barred"][n, 0], start["barred"][n, 1]
        if kind == ActionKind.POWER and power:
            return True
        if kind == ActionKind.PLAY and not power and source == number:
            return True
    return False


@njit_borrowing
def late_card(own: np.void, place: int) -> int:
    """The card at a place in hand, after the last the hero power; negative where there is none."""
    if place < own["n_hand"]:
        return int(own["hand"][place])
    return int(own["power"] - 1) if not own["power_used"] else -1


@njit_borrowing
def late_gain(card: np.void, fact: np.void, weights: np.ndarray, start: np.void) -> float:
    """What a plain card adds to the objective, or to a score."""
    if is_score(weights):
        score = weights[N_TERMS + ATTACK] * fact["attack"] + weights[N_TERMS + HEALTH] * fact["survival"]
        score += weights[N_TERMS + SHIELD] * fact["shield"] + weights[N_TERMS + OWN_HERO] * fact["armour"]
        score += start["drawn"] * fact["draws"]
        if card["kind"] != CardKind.POWER:
            score -= weights[N_TERMS + HAND_MANA] * card["cost"]
        return float(score)
    gain: float = weights[Term.SURVIVE] * fact["survival"] + weights[Term.DRAW] * fact["draws"]
    gain += weights[Term.HERO] * fact["armour"]
    if card["kind"] != CardKind.POWER:
        gain += weights[Term.PLAY] * card["value"]
    return gain


@njit_borrowing
def next_late_play(
    own: np.void, mana: int, cards: np.ndarray, weights: np.ndarray, facts: np.ndarray, work: np.void
) -> int:
    """The next play of the best set of plain minions; 0 where nothing is to be played.

    Args:
        own: the player's side.
        mana: of its mana, how much these plays may take.
        cards: the card table.
        weights: indexed by `Term`.
        facts: of `ilp_agent.search.facts.learn_facts`.
        work: `pack` is modified in place.
    """
    value, chosen = best_pack(own, mana, cards, weights, facts, work)
    if value <= 0.0:
        return 0
    total, first, most = 0, -1, -1
    for place in range(own["n_hand"] + 1):
        if chosen >> place & 1:
            number = late_card(own, place)
            cost = int(cards[number]["cost"])
            total += cost
            # Cards are drawn first, since the rest of the turn is then solved again with them.
            urgency = 2 * int(facts[number]["draws"] > 0 and cost <= own["mana"]) + int(cost > 0)
            if urgency > most:
                first, most = place, urgency
    if total > mana and own["mana"] < MAX_MANA and most < 2:
        return int(_encode(ActionKind.PLAY, coin_place(own), 0))
    if first == own["n_hand"]:
        return int(_encode(ActionKind.POWER, 0, 0))
    return int(_encode(ActionKind.PLAY, first, 0))


@njit_borrowing
def coin_place(own: np.void) -> int:
    """Where The Coin is in hand; -1 where it is not."""
    for place in range(own["n_hand"]):
        if own["hand"][place] == COIN:
            return place
    return -1
