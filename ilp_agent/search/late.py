"""What a search may leave for the end of the turn, and what is best done then, compiled.

Two kinds of actions need not be tried wherever they are legal, where nothing that is still to come can touch
them: attacks of minions on a hero who will not die this turn, and plays of minions that do nothing on their
first turn. What is best of them is worked out in one step wherever the turn may end. Neither need a card that
harms whom it is aimed at be aimed at the own side, where it can be aimed at the enemy hero. Each has side
conditions, as bits of cards (`ilp_agent.search.facts`) and of the position; where one fails, all is tried.
"""

import numpy as np

from engine.codes import BOARD_SIZE, HERO, MAX_MANA, OWN_SIDE, ActionKind, Keyword
from engine.effects.futures import is_simple
from engine.jit import njit_borrowing
from engine.packing import AIMED, pack_action, unpack_action
from engine.vocabulary import Trait
from ilp_agent.search.facts import (
    AIMS_ANYWHERE,
    AIMS_AT_MINIONS,
    BARS_HERO,
    CHANGES_HAND,
    COUNTS_MINIONS,
    GIVES_MANA,
    HARMS_OWN,
    HELPS_OWN,
    HITS_HERO_ODDLY,
    ODD,
    PLAIN,
)
from ilp_agent.search.finish import MOST_HEALTH, attacks_hero, face_damage, next_attack, worth_of_attacks
from ilp_agent.search.objective import acts_at_the_end, worth_of_damage, worth_of_kill
from ilp_agent.search.pack import best_pack, coin_place, late_card, next_late_play

LATE_FACE = 1
"""Bit: attacks of minions on the enemy hero come last."""
LATE_PLAYS = 2
"""Bit: plays of plain minions come last, before those attacks."""
NEEDS_COIN = 4
"""Bit: a card that is not plain, or the power, could be paid with The Coin."""

LATE_KILL = 8
"""Bit: attacks of minions on the enemy hero come last, and may kill him, or come right before what does."""
SPARES_OWN = 16
"""Bit, where attacks may kill: no power that harms whom it is aimed at need be aimed at the own side."""

HERO_FIRST = 1 << 20
"""Bit of an action aimed at an own minion: that minion attacks the enemy hero before."""
FACE_FIRST = 1 << 21
"""Bit of an action that kills the enemy hero: minions attack him before, as many as leave him alive."""

_encode = njit_borrowing(pack_action)
_decode = njit_borrowing(unpack_action)


@njit_borrowing
def what_is_late(state: np.void, cards: np.ndarray, facts: np.ndarray, seat: int) -> int:
    """Bits of what may be left for the end of the turn; see the module.

    Args:
        state: dtype `engine.state.STATE`, not over.
        cards: the card table.
        facts: of `ilp_agent.search.facts.learn_facts`.
        seat: of the player whose turn it is.
    """
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    if not is_simple(cards) or enemy["n_secrets"] > 0:
        return NEEDS_COIN
    if own["durability"] > 0 and cards[own["weapon"]]["n_effects"] > 0:
        return NEEDS_COIN
    lifesteal, face, spell_damage = False, 0, 0
    for place in range(enemy["n_board"]):
        if enemy["board"][place]["traits"] & Trait.DEATHRATTLE:
            return NEEDS_COIN
    for place in range(own["n_board"]):
        minion = own["board"][place]
        if minion["traits"] & Trait.DEATHRATTLE:
            return NEEDS_COIN
        spell_damage += minion["spell_damage"]
        if minion["attacks_left"] > 0:
            lifesteal = lifesteal or (minion["keywords"] & Keyword.LIFESTEAL) != 0
            face += minion["attacks_left"] * minion["attack"]
    if acts_at_the_end(state, cards, seat):
        return NEEDS_COIN
    most = MAX_MANA + 1
    bits, held, hits, draws, arrivals, more, late = 0, 0, 0, 0, 0, False, 0
    armour, harm, armed = 0, 0, own["hero_attacks_left"] > 0
    for place in range(own["n_hand"]):
        if own["hand"][place] >= 0 and facts[own["hand"][place]]["bits"] & GIVES_MANA:
            more = True
    if not more:
        most = min(own["mana"] + (1 if coin_place(own) >= 0 else 0), MAX_MANA + 1)
    for place in range(-1, own["n_hand"]):
        if place >= 0:
            number = own["hand"][place]
            if number < 0:
                continue
        elif own["power"] and not own["power_used"]:
            number = own["power"] - 1
        else:
            continue
        if cards[number]["cost"] > most:
            continue
        fact = facts[number]
        if fact["bits"] & ODD:
            return NEEDS_COIN
        arrivals += fact["arrivals"]
        draws += fact["draws"]
        if fact["bits"] & PLAIN:
            armour += fact["armour"]
            continue
        late |= NEEDS_COIN
        bits |= fact["bits"]
        held |= fact["bits"] if place >= 0 else 0
        face += fact["face"]
        hits += fact["hits"]
        harm += fact["harm"]
        spell_damage += fact["spell_damage"]
    face += max(int(own["hero_attacks_left"]), 0) * (own["hero_attack"] + own["weapon_attack"])
    face += hits * spell_damage
    hero_lives = face < enemy["health"] + enemy["armour"]
    room = own["n_board"] + arrivals <= BOARD_SIZE
    if bits & (HARMS_OWN | CHANGES_HAND):
        return late
    if bits & AIMS_ANYWHERE and hero_lives and not (room and not enemy["traits"] & Trait.IMMUNE):
        return late
    if not lifesteal and not bits & BARS_HERO:
        if hero_lives:
            late |= LATE_FACE
        elif not bits & (HELPS_OWN | HITS_HERO_ODDLY) and enemy["health"] + enemy["armour"] <= MOST_HEALTH:
            late |= LATE_KILL
    if bits & AIMS_ANYWHERE and not hero_lives:
        if not room or held & AIMS_ANYWHERE:
            return late
        late |= SPARES_OWN
    plain_alone = not late & NEEDS_COIN
    hand = own["n_hand"] + draws <= len(own["hand"]) and draws <= own["n_deck"]
    if armour > 0 and own["health"] + own["armour"] <= harm + (_worst_blows(enemy) if armed else 0):
        return late  # it may be needed before
    if (room or plain_alone) and hand and not bits & (COUNTS_MINIONS | HELPS_OWN | AIMS_AT_MINIONS):
        late |= LATE_PLAYS
    return late


@njit_borrowing
def _worst_blows(enemy: np.void) -> int:
    """Damage that the own hero takes at most, if it attacks twice."""
    most = 0
    for place in range(enemy["n_board"]):
        most = max(most, int(enemy["board"][place]["attack"]))
    return 2 * most


@njit_borrowing
def late_value(
    state: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    late: int,
    seat: int,
    work: np.void,
) -> float:
    """What the actions left for the end add at most. `work["pack"]` is modified in place."""
    value = 0.0
    if late & LATE_FACE:
        value += worth_of_damage(weights) * face_damage(state, work["start"])
    elif late & LATE_KILL:
        value += worth_of_attacks(state, weights, work["start"])
    if late & LATE_PLAYS:
        value += best_pack(state["sides"][seat], state["sides"][seat]["mana"], cards, weights, facts, work)[0]
    return value


@njit_borrowing
def add_last_attacks(
    state: np.void, facts: np.ndarray, start: np.void, late: int, actions: np.ndarray, n: int
) -> int:
    """Add actions that come right after attacks on the hero. `actions` is modified in place.

    Those aimed at an own minion come after that minion's attacks, since it may be gone by the end of the
    turn; those that may kill the hero after as many attacks as leave him alive.

    Returns:
        How many actions there are then.
    """
    if face_damage(state, start) == 0:
        return n
    own = state["sides"][start["seat"]]
    total = n
    for number in range(n):
        action = actions[number]
        kind, source, target = _decode(action)
        if kind == ActionKind.ATTACK:
            if late & LATE_KILL and source == HERO and target == HERO:
                actions[total] = action | FACE_FIRST
                total += 1
            continue
        card = late_card(own, source) if kind == ActionKind.PLAY else own["power"] - 1
        if card < 0:
            continue
        bits, on_own = facts[card]["bits"], OWN_SIDE <= target < OWN_SIDE + BOARD_SIZE
        if action & AIMED and on_own:
            aims = AIMS_AT_MINIONS
            if late & LATE_KILL and not (kind == ActionKind.POWER and late & SPARES_OWN):
                aims |= AIMS_ANYWHERE
            if bits & aims and attacks_hero(own["board"][target - OWN_SIDE], start):
                actions[total] = action | HERO_FIRST
                total += 1
        elif late & LATE_KILL and facts[card]["face"] > 0 and (not action & AIMED or target == HERO):
            actions[total] = action | FACE_FIRST
            total += 1
    return total


@njit_borrowing
def next_late_action(
    state: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    late: int,
    seat: int,
    work: np.void,
) -> int:
    """The next of the actions left for the end; 0 where nothing is left. Modifies `work["pack"]` in place."""
    if late & LATE_PLAYS:
        action = next_late_play(
            state["sides"][seat], state["sides"][seat]["mana"], cards, weights, facts, work
        )
        if action:
            return action
    if late & LATE_FACE and worth_of_damage(weights) > 0.0 and face_damage(state, work["start"]) > 0:
        own = state["sides"][seat]
        for place in range(own["n_board"]):
            if attacks_hero(own["board"][place], work["start"]):
                return int(_encode(ActionKind.ATTACK, place, HERO))
    if late & LATE_KILL and worth_of_damage(weights) + worth_of_kill(weights) > 0.0:
        place = next_attack(state, work["start"])
        if place >= 0:
            return int(_encode(ActionKind.ATTACK, place, HERO))
    return 0
