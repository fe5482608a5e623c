"""Effects are carried out: one queue, no recursion, and deaths once nothing waits; compiled.

A card's rows run in their order. When the queue is empty all that are about to die leave together, and their
Deathrattles queue in the order in which they came into play; again, until nothing happens. Source: the
community's advanced rulebook of Hearthstone; docs/effects.md lists what is ours.
"""

import numpy as np

from engine.codes import MAX_MANA, UNKNOWN, Keyword
from engine.effects.board import is_dying, leave, lose_card, place_of, take_card
from engine.effects.chance import chosen_of
from engine.effects.operations import (
    bounce,
    change_crystals,
    change_hero,
    change_minion,
    clamp,
    heal_hero,
    hurt_hero,
    hurt_minion,
    summon,
    take_control,
    transform,
)
from engine.effects.queue import queue_deathrattle, sort_by_birth
from engine.effects.targets import choose, n_new, select, stands
from engine.effects.weapons import disarm, equip, wear
from engine.events import ENEMY_HERO, NO_TARGET, OWN_HERO, TO_HERO, TO_MINIONS
from engine.jit import njit
from engine.state import ZERO_MINION, draw_card
from engine.vocabulary import (
    ENEMY,
    ITSELF,
    MAX_QUEUE,
    OWN,
    CardKind,
    Condition,
    Filter,
    Op,
    Pick,
    Trigger,
)


@njit
def settle(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """Carry out the queue, and bury the dead, until nothing happens.

    `state` and `events` are modified in place. Where a forced action needs more outcomes, it stops midway.
    """
    while True:
        while events["first"] < events["last"]:
            waiting = events["queue"][events["first"] % MAX_QUEUE]
            events["first"] += 1
            _carry_out(state, cards, waiting, events)
            if events["waiting"]:
                return
        if not _any_dying(state):
            return
        _bury(state, cards, events)


@njit
def _any_dying(state: np.void) -> bool:
    """Whether a minion is about to die."""
    for seat in range(2):
        side = state["sides"][seat]
        for place in range(side["n_board"]):
            if is_dying(side["board"][place]):
                return True
    return False


@njit
def _bury(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """Bury all that are about to die and queue their Deathrattles.

    Oldest first, whoever's they are. Where each stood is kept as the number of survivors to its left.
    """
    begin = events["last"]
    for seat in range(2):
        side = state["sides"][seat]
        place = 0
        was = 0
        while place < side["n_board"]:
            minion = side["board"][place]
            if not is_dying(minion):
                place += 1
                was += 1
                continue
            side["died"] += 1
            before = events["last"]
            queue_deathrattle(cards, minion, seat, place, events)
            for n in range(before, events["last"]):
                events["queue"][n % MAX_QUEUE]["was"] = was
            leave(side, place, ZERO_MINION)
            was += 1
    sort_by_birth(events, begin)


@njit
def _holds(state: np.void, seat: int, condition: int, target: int) -> bool:
    """Whether a row's condition holds for its player."""
    side = state["sides"][seat]
    if condition == Condition.MANA_FULL:
        return bool(side["crystals"] >= MAX_MANA)
    if condition == Condition.MANA_NOT_FULL:
        return bool(side["crystals"] < MAX_MANA)
    if condition == Condition.AIMED:
        return bool(target != NO_TARGET)
    if condition == Condition.ENEMY_TURN:
        return bool(state["active"] != seat)
    return bool(side["durability"] == 0)


@njit
def _carry_out(state: np.void, cards: np.ndarray, waiting: np.void, events: np.void) -> None:
    """Carry out one row. `state` and `events` are modified in place."""
    card = cards[waiting["card"]]
    effect = card["effects"][waiting["row"]]
    seat = waiting["seat"]
    condition = effect["condition"]
    if condition != Condition.NONE and not _holds(state, seat, condition, waiting["target"]):
        return
    pick = effect["pick"]
    if pick == Pick.NONE:
        for who in (OWN, ENEMY):
            if effect["side"] & who:
                _on_player(state, cards, effect, seat if who == OWN else 1 - seat, waiting, events)
        return
    bonus = _spell_damage(state["sides"][seat], card, effect)
    if pick == Pick.SPLIT:
        _split(state, cards, effect["amount"] + bonus, effect, waiting, events)
        return
    n = choose(state, effect, waiting, events)
    for place in range(n):
        amount = effect["amount"] + bonus
        if effect["op"] == Op.DAMAGE and effect["amount2"] > effect["amount"]:
            amount += chosen_of(events, effect["amount2"] - effect["amount"] + 1)
        if events["waiting"]:
            return
        _on_character(state, cards, effect, amount, seat, events["picked"][place], waiting, events)


@njit
def _spell_damage(side: np.void, card: np.void, effect: np.void) -> int:
    """What minions add to the damage of a row, in [0, ...): nothing but to spells."""
    bonus = 0
    if card["kind"] == CardKind.SPELL and effect["op"] == Op.DAMAGE:
        for place in range(side["n_board"]):
            bonus += side["board"][place]["spell_damage"]
    return bonus


@njit
def _split(
    state: np.void, cards: np.ndarray, hits: int, effect: np.void, waiting: np.void, events: np.void
) -> None:
    """Deal a row's damage one at a time, each to a random one of those still there. Modified in place."""
    for _ in range(hits):
        n = select(state, effect, waiting["seat"], waiting["source"], waiting["target"], True, events)
        if n == 0:
            return
        one = events["picked"][chosen_of(events, n)]
        if events["waiting"]:
            return
        _on_character(state, cards, effect, 1, waiting["seat"], one, waiting, events)


@njit
def _on_character(
    state: np.void,
    cards: np.ndarray,
    effect: np.void,
    amount: int,
    seat: int,
    who: int,
    waiting: np.void,
    events: np.void,
) -> None:
    """Carry out a row on one minion or hero, if it is still there. `state` is modified in place."""
    op = effect["op"]
    if who in (OWN_HERO, ENEMY_HERO):
        side = state["sides"][seat if who == OWN_HERO else 1 - seat]
        if op == Op.DAMAGE:
            events["hits"][seat if who == OWN_HERO else 1 - seat, TO_HERO] += max(amount, 0)
            _drain(state, cards, waiting, hurt_hero(side, amount, 0))
        else:
            change_hero(side, effect)
        return
    owner = seat
    place = place_of(state["sides"][seat], who)
    if place < 0:
        owner = 1 - seat
        place = place_of(state["sides"][owner], who)
        if place < 0:
            return
    minion = state["sides"][owner]["board"][place]
    if op == Op.DAMAGE:
        events["hits"][owner, TO_MINIONS] += max(amount, 0)
        _drain(state, cards, waiting, hurt_minion(minion, amount, _keywords_of(state, cards, waiting), 0))
    elif op == Op.TRANSFORM:
        number = _from_pool(state["sides"][seat], effect, waiting, events)
        if not events["waiting"]:
            transform(state, cards, owner, place, number)
    elif op == Op.BOUNCE:
        bounce(state, owner, place)
        _close_gap(state, owner, place, who, events)
    elif op == Op.CONTROL:
        if owner != seat:
            take_control(state, seat, place)
            _close_gap(state, owner, place, who, events)
    elif op == Op.TRIGGER:
        queue_deathrattle(cards, minion, owner, -1, events)
    else:
        change_minion(minion, cards, effect)


@njit
def _keywords_of(state: np.void, cards: np.ndarray, waiting: np.void) -> int:
    """The keywords with which a row strikes: of its minion if that stands, else of its card."""
    side = state["sides"][waiting["seat"]]
    place = place_of(side, waiting["source"]) if waiting["source"] > 0 else -1
    return int(side["board"][place]["keywords"] if place >= 0 else cards[waiting["card"]]["keywords"])


@njit
def _drain(state: np.void, cards: np.ndarray, waiting: np.void, damage: int) -> None:
    """Heal the player's hero by damage with Lifesteal. `state` is modified in place."""
    if damage > 0 and _keywords_of(state, cards, waiting) & Keyword.LIFESTEAL:
        heal_hero(state["sides"][waiting["seat"]], damage)


@njit
def _from_pool(side: np.void, effect: np.void, waiting: np.void, events: np.void) -> int:
    """A row's card, or a random one of its pool; with the filter NEW one that is not on the board."""
    first, last = effect["amount"], effect["amount2"]
    if first == ITSELF:
        return int(waiting["itself"])
    if last <= first:
        return int(first)
    if not effect["filter"] & Filter.NEW:
        return int(first + chosen_of(events, last - first + 1))
    left = chosen_of(events, n_new(side, effect))
    for number in range(first, last + 1):
        if not stands(side, number):
            if left == 0:
                return int(number)
            left -= 1
    return -1


@njit
def _on_player(
    state: np.void, cards: np.ndarray, effect: np.void, seat: int, waiting: np.void, events: np.void
) -> None:
    """Carry out a row that is about a player. `state` and `events` are modified in place."""
    side = state["sides"][seat]
    op, amount = effect["op"], effect["amount"]
    if op == Op.DRAW:
        for _ in range(amount):
            if events["blind"] and side["n_deck"] > 0:
                side["deck"][side["n_deck"] - 1] = UNKNOWN
            draw_card(side)
    elif op == Op.SUMMON:
        for n in range(effect["times"]):
            number = _from_pool(side, effect, waiting, events)
            if events["waiting"] or number < 0:
                return
            left = effect["trigger"] == Trigger.PLAY and n % 2 == 1
            _summon_beside(state, cards, seat, number, left, waiting, events)
    elif op == Op.ARMOUR:
        side["armour"] = clamp(side["armour"] + amount, 0)
    elif op == Op.DISCARD:
        n = effect["times"] if effect["times"] > 0 else side["n_hand"]
        for _ in range(min(int(n), int(side["n_hand"]))):
            place = chosen_of(events, side["n_hand"]) if n < side["n_hand"] or effect["times"] else 0
            if events["waiting"]:
                return
            lose_card(side, place)
    elif op == Op.EQUIP:
        equip(state, cards, seat, amount, events)
    elif op == Op.MANA:
        side["mana"] = min(side["mana"] + amount, MAX_MANA)
    elif op == Op.CRYSTALS:
        change_crystals(side, amount)
    elif op == Op.UNLOCK:
        side["mana"] = min(side["mana"] + side["locked"], MAX_MANA)
        side["locked"] = 0
        side["overload"] = 0
    elif op == Op.WEAPON:
        if side["durability"] > 0:
            side["weapon_attack"] = clamp(side["weapon_attack"] + amount, 0)
            wear(state, cards, seat, effect["amount2"], events)
    elif op == Op.DISARM:
        disarm(state, cards, seat, events)
    elif op == Op.ADD:
        living = place_of(side, waiting["source"]) if amount == ITSELF else -1
        if living >= 0:
            bounce(state, seat, living)
            _close_gap(state, seat, living, waiting["source"], events)
            return
        for _ in range(effect["times"]):
            number = _from_pool(side, effect, waiting, events)
            if events["waiting"]:
                return
            take_card(side, number)


@njit
def _close_gap(state: np.void, seat: int, place: int, born: int, events: np.void) -> None:
    """Where minion `born` left its `place` on a board, the dead stood one further left. Modified in place."""
    if place_of(state["sides"][seat], born) == place:
        return  # the hand or the other board had no room
    for n in range(events["first"], events["last"]):
        other = events["queue"][n % MAX_QUEUE]
        if other["seat"] == seat and other["place"] > place:
            other["place"] -= 1


@njit
def _summon_beside(
    state: np.void,
    cards: np.ndarray,
    seat: int,
    number: int,
    left: bool,
    waiting: np.void,
    events: np.void,
) -> None:
    """Summon a minion next to its source, where a dead source stood, or at the right end.

    Several that a Battlecry summons stand to the right and to the left of its minion in turn; several where a
    dead minion stood stand there in the order of its rows. `waiting` is modified in place.
    """
    side = state["sides"][seat]
    place = int(side["n_board"])
    own = seat == waiting["seat"]
    dead = own and waiting["place"] >= 0
    if dead:
        place = int(waiting["place"])
    elif own and waiting["source"] > 0:
        source = place_of(side, waiting["source"])
        if source >= 0:
            place = source if left else source + 1
    if summon(state, cards, seat, number, place):
        if dead:
            waiting["place"] += 1
        for n in range(events["first"], events["last"]):
            other = events["queue"][n % MAX_QUEUE]
            if other["seat"] != seat or other["place"] < 0:
                continue
            later = other["was"] > waiting["was"] or other["source"] == waiting["source"]
            if other["place"] > place or (other["place"] == place and dead and later):
                other["place"] += 1
