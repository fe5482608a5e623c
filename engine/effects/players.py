"""What effects do to a player: cards, minions, mana, weapons; compiled."""

import numpy as np

from engine.codes import MAX_MANA
from engine.effects.board import lose_held, place_of, take_card
from engine.effects.chance import chosen_of
from engine.effects.harm import bring, draw_one
from engine.effects.listen import announce
from engine.effects.operations import bounce, change_crystals, clamp
from engine.effects.targets import n_new, stands
from engine.effects.weapons import disarm, equip, wear
from engine.events import A_HERO, NO_ONE
from engine.jit import njit
from engine.vocabulary import ITSELF, MAX_QUEUE, Filter, Op, Trigger


@njit
def from_pool(side: np.void, effect: np.void, waiting: np.void, events: np.void) -> int:
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
def on_player(
    state: np.void,
    cards: np.ndarray,
    effect: np.void,
    count: int,
    seat: int,
    waiting: np.void,
    events: np.void,
) -> None:
    """Carry out a row that is about a player. `state` and `events` are modified in place.

    Args:
        state: dtype `STATE`.
        cards: the card table.
        effect: the row.
        count: what its amounts are multiplied by.
        seat: the player it is about.
        waiting: the row as it was queued.
        events: dtype `EVENTS`.
    """
    side = state["sides"][seat]
    op = effect["op"]
    if op in (Op.SUMMON, Op.ADD, Op.DISCARD):
        _on_cards(state, cards, effect, count, seat, waiting, events)
        return
    if op == Op.EQUIP:
        equip(state, cards, seat, effect["amount"], events)
        return
    amount = count * int(effect["amount"])
    if op == Op.DRAW:
        for _ in range(amount):
            draw_one(state, cards, events, seat)
    elif op == Op.ARMOUR:
        side["armour"] = clamp(side["armour"] + amount, 0)
        if amount > 0:
            announce(state, cards, events, Trigger.ARMOURED, seat, A_HERO, -1, amount)
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
            wear(state, cards, seat, count * int(effect["amount2"]), events)
    elif op == Op.DISARM:
        disarm(state, cards, seat, events)
    elif op == Op.COST:
        for n in range(len(side["promises"])):
            if side["promises"][n] == 0:
                side["promises"][n] = 1 + waiting["card"]
                return


@njit
def _on_cards(
    state: np.void,
    cards: np.ndarray,
    effect: np.void,
    count: int,
    seat: int,
    waiting: np.void,
    events: np.void,
) -> None:
    """Carry out a row that summons, adds or discards; arguments as of `on_player`."""
    side = state["sides"][seat]
    op, times = effect["op"], count * int(effect["times"])
    if op == Op.SUMMON:
        for n in range(times):
            number = from_pool(side, effect, waiting, events)
            if events["waiting"] or number < 0:
                return
            left = effect["trigger"] == Trigger.PLAY and n % 2 == 1
            _summon_beside(state, cards, seat, number, left, waiting, events)
        return
    if op == Op.DISCARD:
        n = times if times > 0 else int(side["n_hand"])
        for _ in range(min(n, int(side["n_hand"]))):
            place = chosen_of(events, side["n_hand"]) if n < side["n_hand"] or times else 0
            if events["waiting"]:
                return
            number = lose_held(side, place, cards)
            announce(state, cards, events, Trigger.DISCARDED, seat, NO_ONE, max(number, -1), 1)
        return
    living = place_of(side, waiting["source"]) if effect["amount"] == ITSELF else -1
    if living >= 0:
        bounce(state, seat, living)
        close_gap(state, seat, living, waiting["source"], events)
        return
    for _ in range(times):
        number = from_pool(side, effect, waiting, events)
        if events["waiting"]:
            return
        take_card(side, number)


@njit
def close_gap(state: np.void, seat: int, place: int, born: int, events: np.void) -> None:
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
    if bring(state, cards, events, seat, number, place):
        if dead:
            waiting["place"] += 1
        for n in range(events["first"], events["last"]):
            other = events["queue"][n % MAX_QUEUE]
            if other["seat"] != seat or other["place"] < 0:
                continue
            later = other["was"] > waiting["was"] or other["source"] == waiting["source"]
            if other["place"] > place or (other["place"] == place and dead and later):
                other["place"] += 1
