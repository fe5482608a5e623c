"""Effect operations on a player: cards, minions, mana, weapons; compiled."""

import numpy as np

from engine.codes import MAX_MANA
from engine.effect_codes import Op, Trigger
from engine.effects.choices import queue_choice
from engine.effects.damage import draw_and_trigger, summon_next_to_source
from engine.effects.ops_character import (
    change_crystals,
    change_durability,
    clamp,
    destroy_weapon,
    equip,
)
from engine.effects.ops_zones import (
    add_hidden_cards,
    apply_to_cards,
    apply_to_secrets,
    choose_card,
    copy_into_hand,
    draw_matching,
    modify_hand,
    modify_hand_card,
    remove_from_deck,
)
from engine.effects.triggers import fire_trigger
from engine.jit import njit_no_alloc
from engine.state import A_HERO


@njit_no_alloc
def apply_to_player(
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
        queued: the row as queued, dtype `QUEUED_EFFECT`.
        events: dtype `EVENTS`.
    """
    side = state["sides"][seat]
    op = effect["op"]
    if op in (
        Op.SUMMON,
        Op.ADD,
        Op.DISCARD,
        Op.SHUFFLE,
        Op.RECRUIT,
        Op.SUMMON_FROM_HAND,
        Op.SUMMON_COPY_FROM_DECK,
        Op.JADE,
        Op.RESURRECT,
    ):
        apply_to_cards(state, cards, effect, count, seat, queued, events)
        return
    if events["hides_draws"] and op in (Op.DISCOVER, Op.DISCOVER_FROM_DECK, Op.CREATE_POTION):
        add_hidden_cards(side, 1, events)
        return
    if events["hides_draws"] and op == Op.CHOOSE_POWER:
        events["depends_on_hidden"] = 1
        side["power"] = 0  # unknown until the choice is made
        return
    if op in (Op.DISCOVER, Op.CHOOSE_POWER, Op.TRACK, Op.DISCOVER_FROM_DECK, Op.CREATE_POTION):
        queue_choice(state, queued["seat"], queued)
        return
    if op in (Op.DECOY, Op.DESTROY_SECRETS, Op.PLAY_SECRETS_FROM_DECK):
        apply_to_secrets(state, cards, effect, seat, queued, events)
        return
    if op in (Op.COPY_FROM_DECK, Op.COPY_FROM_HAND):
        copy_into_hand(state, cards, effect, count, seat, queued, events)
        return
    if op in (Op.EQUIP, Op.POWER):
        number = choose_card(state, cards, seat, effect, queued, events)
        if events["n_pending_outcomes"] or number < 0:
            return
        if op == Op.EQUIP:
            equip(state, cards, seat, number, events)
        else:
            side["power"], side["power_used"] = number + 1, 0
        return
    if op in (Op.DRAW, Op.DRAW_UNTIL, Op.MILL, Op.BUFF_HAND, Op.CHANGE_HAND_COST):
        _on_hand(state, cards, effect, count, seat, events)
    else:
        _on_resources(state, cards, effect, count, seat, queued, events)


@njit_no_alloc
def _on_hand(
    state: np.void, cards: np.ndarray, effect: np.void, count: int, seat: int, events: np.void
) -> None:
    """Draw cards, mill cards, or modify cards in hand; arguments as `apply_to_player`."""
    side, op = state["sides"][seat], effect["op"]
    amount = count * int(effect["amount"])
    if op == Op.DRAW:
        for _ in range(amount):
            hand_before = side["n_hand"]
            if effect["of_kind"] or effect["of_filter"]:
                draw_matching(state, cards, effect, seat, events)
            else:
                draw_and_trigger(state, cards, events, seat)
            if events["n_pending_outcomes"]:
                return
            if effect["amount2"] and side["n_hand"] > hand_before:
                modify_hand_card(side, hand_before, effect["amount2"], 0, 0)
    elif op in (Op.BUFF_HAND, Op.CHANGE_HAND_COST):
        modify_hand(cards, side, effect, amount, count * int(effect["amount2"]), events)
    elif op == Op.MILL:
        for _ in range(min(amount, int(side["n_deck"]))):
            remove_from_deck(side, side["n_deck"] - 1)
    elif op == Op.DRAW_UNTIL:
        for _ in range(amount - int(side["n_hand"])):
            draw_and_trigger(state, cards, events, seat)


@njit_no_alloc
def _on_resources(
    state: np.void,
    cards: np.ndarray,
    effect: np.void,
    count: int,
    seat: int,
    queued: np.void,
    events: np.void,
) -> None:
    """Change a player's mana, armour, weapon, hero power or costs; arguments as `apply_to_player`."""
    side, op = state["sides"][seat], effect["op"]
    amount = count * int(effect["amount"])
    if op == Op.REFRESH_POWER:
        side["power_used"] = 0
    elif op == Op.ARMOUR:
        side["armour"] = clamp(side["armour"] + amount, 0)
        if amount > 0:
            fire_trigger(state, cards, events, Trigger.ARMOURED, seat, A_HERO, -1, amount)
    elif op == Op.MANA:
        side["mana"] = min(side["mana"] + amount, MAX_MANA)
    elif op == Op.REFILL_MANA:
        side["mana"] = max(int(side["crystals"] - side["locked"]), 0)
    elif op == Op.CRYSTALS:
        change_crystals(side, amount)
    elif op == Op.UNLOCK_OVERLOAD:
        side["mana"] = min(side["mana"] + side["locked"], MAX_MANA)
        side["locked"] = 0
        side["overload"] = 0
    elif op == Op.WEAPON:
        if side["durability"] > 0:
            side["weapon_attack"] = clamp(side["weapon_attack"] + amount, 0)
            change_durability(state, cards, seat, count * int(effect["amount2"]), events)
    elif op == Op.REVIVE:
        to = summon_next_to_source(state, cards, seat, int(queued["event_card"]), False, queued, events)
        if to >= 0:
            side["board"][to]["health"] = min(amount, int(side["board"][to]["max_health"]))
    elif op == Op.DISARM:
        destroy_weapon(state, cards, seat, events)
    elif op == Op.COST:
        for n in range(len(side["pending_costs"])):
            if side["pending_costs"][n] == 0:
                side["pending_costs"][n] = 1 + queued["card"]
                return
