"""Effect operations on a player: cards, minions, mana, weapons; compiled."""

import numpy as np

from engine.codes import MAX_MANA
from engine.effect_codes import Op, Trigger
from engine.effects.choices import ask
from engine.effects.damage import draw_one, summon_beside
from engine.effects.ops_character import change_crystals, clamp, disarm, equip, wear
from engine.effects.ops_zones import (
    change_hand,
    change_held,
    draw_named,
    from_pool,
    learn,
    leave_deck,
    on_cards,
    on_secrets,
    take_unseen,
)
from engine.effects.triggers import announce
from engine.jit import njit_borrowing
from engine.state import A_HERO


@njit_borrowing
def on_player(
    state: np.void,
    cards: np.ndarray,
    effect: np.void,
    count: int,
    seat: int,
    queued: np.void,
    events: np.void,
) -> None:
    """Apply an effect row to a player. `state` and `events` are modified in place.

    Args:
        state: dtype `STATE`.
        cards: the card table.
        effect: the row.
        count: multiplier of its amounts.
        seat: the affected player.
        queued: the row as queued, dtype `WAITING`.
        events: dtype `EVENTS`.
    """
    side = state["sides"][seat]
    op = effect["op"]
    if op in (Op.SUMMON, Op.ADD, Op.DISCARD, Op.SHUFFLE, Op.RECRUIT, Op.CALL, Op.MIRROR, Op.JADE, Op.RAISE):
        on_cards(state, cards, effect, count, seat, queued, events)
        return
    if events["blind"] and op in (Op.DISCOVER, Op.SEEK, Op.BREW):
        take_unseen(side, 1, events)
        return
    if events["blind"] and op == Op.CHOOSE_POWER:
        events["unsure"] = 1
        side["power"] = 0  # unknown until the choice is made
        return
    if op in (Op.DISCOVER, Op.CHOOSE_POWER, Op.TRACK, Op.SEEK, Op.BREW):
        ask(state, queued["seat"], queued)
        return
    if op in (Op.DECOY, Op.BURN, Op.HIDE):
        on_secrets(state, cards, effect, seat, queued, events)
        return
    if op in (Op.GLEAN, Op.READ):
        learn(state, cards, effect, count, seat, queued, events)
        return
    if op in (Op.EQUIP, Op.POWER):
        number = from_pool(state, cards, seat, effect, queued, events)
        if events["waiting"] or number < 0:
            return
        if op == Op.EQUIP:
            equip(state, cards, seat, number, events)
        else:
            side["power"], side["power_used"] = number + 1, 0
        return
    if op in (Op.DRAW, Op.FILL, Op.MILL, Op.ENHANCE, Op.CHEAPEN):
        _on_hand(state, cards, effect, count, seat, events)
    else:
        _on_resources(state, cards, effect, count, seat, queued, events)


@njit_borrowing
def _on_hand(
    state: np.void, cards: np.ndarray, effect: np.void, count: int, seat: int, events: np.void
) -> None:
    """Draw cards, mill cards, or modify cards in hand; arguments as `on_player`."""
    side, op = state["sides"][seat], effect["op"]
    amount = count * int(effect["amount"])
    if op == Op.DRAW:
        for _ in range(amount):
            hand_before = side["n_hand"]
            if effect["of_kind"] or effect["of_filter"]:
                draw_named(state, cards, effect, seat, events)
            else:
                draw_one(state, cards, events, seat)
            if events["waiting"]:
                return
            if effect["amount2"] and side["n_hand"] > hand_before:
                change_held(side, hand_before, effect["amount2"], 0, 0)
    elif op in (Op.ENHANCE, Op.CHEAPEN):
        change_hand(cards, side, effect, amount, count * int(effect["amount2"]), events)
    elif op == Op.MILL:
        for _ in range(min(amount, int(side["n_deck"]))):
            leave_deck(side, side["n_deck"] - 1)
    elif op == Op.FILL:
        for _ in range(amount - int(side["n_hand"])):
            draw_one(state, cards, events, seat)


@njit_borrowing
def _on_resources(
    state: np.void,
    cards: np.ndarray,
    effect: np.void,
    count: int,
    seat: int,
    queued: np.void,
    events: np.void,
) -> None:
    """Change a player's mana, armour, weapon, hero power or costs; arguments as `on_player`."""
    side, op = state["sides"][seat], effect["op"]
    amount = count * int(effect["amount"])
    if op == Op.REFRESH:
        side["power_used"] = 0
    elif op == Op.ARMOUR:
        side["armour"] = clamp(side["armour"] + amount, 0)
        if amount > 0:
            announce(state, cards, events, Trigger.ARMOURED, seat, A_HERO, -1, amount)
    elif op == Op.MANA:
        side["mana"] = min(side["mana"] + amount, MAX_MANA)
    elif op == Op.REFILL:
        side["mana"] = max(int(side["crystals"] - side["locked"]), 0)
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
    elif op == Op.REVIVE:
        to = summon_beside(state, cards, seat, int(queued["about"]), False, queued, events)
        if to >= 0:
            side["board"][to]["health"] = min(amount, int(side["board"][to]["max_health"]))
    elif op == Op.DISARM:
        disarm(state, cards, seat, events)
    elif op == Op.COST:
        for n in range(len(side["promises"])):
            if side["promises"][n] == 0:
                side["promises"][n] = 1 + queued["card"]
                return
