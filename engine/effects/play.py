"""Actions of games with effects: cards and powers with targets, attacks, ends of turns; compiled."""

import numpy as np

from engine.apart import njit_apart
from engine.codes import COIN, HERO, MAX_MANA, ActionKind, Death, Keyword
from engine.effects.board import enter, is_dying, lose_card
from engine.effects.chance import begin_action, open_turn
from engine.effects.operations import clamp, heal_hero, hurt_hero, hurt_minion
from engine.effects.queue import queue_rows, queue_turn_end
from engine.effects.resolve import settle
from engine.effects.targets import target_of
from engine.effects.weapons import equip, hero_limit, wear
from engine.events import EVENTS, NO_TARGET, TO_HERO, TO_MINIONS
from engine.jit import njit
from engine.packing import AIMED, unpack_action
from engine.state import CARD, STATE, start_turn
from engine.vocabulary import CardKind, Trait, Trigger

_decode = njit(unpack_action)


@njit_apart(STATE, (CARD,), int, EVENTS)
def apply_effects(state: np.void, cards: np.ndarray, action: int, events: np.void) -> int:
    """`engine.rules.apply` in a game with effects."""
    kind, source, target = _decode(action)
    begin_action(events)
    if kind == ActionKind.PLAY:
        _play(state, cards, source, _target(state, action, target), events)
    elif kind == ActionKind.POWER:
        own = state["sides"][state["active"]]
        number = own["power"] - 1
        own["mana"] -= cards[number]["cost"]
        own["power_used"] = 1
        seat = state["active"]
        queue_rows(cards, number, Trigger.PLAY, seat, -1, -1, -1, _target(state, action, target), events)
        settle(state, cards, events)
    elif kind == ActionKind.ATTACK:
        return _attack(state, cards, source, target, events)
    else:
        _end_turn(state, cards, events)
    return 0


@njit
def _target(state: np.void, action: int, character: int) -> int:
    """What an action is aimed at, as effects know it."""
    return target_of(state, state["active"], character) if action & AIMED else NO_TARGET


@njit
def _play(state: np.void, cards: np.ndarray, place: int, target: int, events: np.void) -> None:
    """Play a card from hand. `state` and `events` are modified in place."""
    seat = state["active"]
    own = state["sides"][seat]
    number = lose_card(own, place)
    if number == COIN:
        own["mana"] = min(own["mana"] + 1, MAX_MANA)
        return
    card = cards[number]
    own["mana"] -= card["cost"]
    own["overload"] = clamp(own["overload"] + card["overload"], 0)
    born = -1
    if card["kind"] == CardKind.MINION:
        born = enter(state, cards, seat, number, own["n_board"])
    elif card["kind"] == CardKind.WEAPON:
        equip(state, cards, seat, number, events)
    if card["n_effects"]:
        itself = number if born > 0 else -1
        queue_rows(cards, number, Trigger.PLAY, seat, itself, born, -1, target, events)
    settle(state, cards, events)


@njit
def _attack(state: np.void, cards: np.ndarray, slot: int, target: int, events: np.void) -> int:
    """Resolve an attack: damage both ways at once, then deaths; bits of `Death`."""
    seat = state["active"]
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    attacker_born, defender_born = -1, -1
    if slot == HERO:
        own["hero_attacks_left"] -= 1
        damage = own["hero_attack"] + own["weapon_attack"]
        keywords = cards[own["weapon"]]["keywords"] if own["durability"] > 0 else 0
        traits = cards[own["weapon"]]["traits"] if own["durability"] > 0 else 0
    else:
        attacker = own["board"][slot]
        attacker["attacks_left"] -= 1
        attacker["keywords"] &= ~Keyword.STEALTH
        damage, keywords, traits = attacker["attack"], attacker["keywords"], attacker["traits"]
        attacker_born = int(attacker["born"])
    if target == HERO:
        dealt = hurt_hero(enemy, damage, traits)
        events["hits"][1 - seat, TO_HERO] += damage
    else:
        defender = enemy["board"][target]
        defender_born = int(defender["born"])
        back, back_keywords, back_traits = defender["attack"], defender["keywords"], defender["traits"]
        dealt = hurt_minion(defender, damage, keywords, traits)
        if slot == HERO:
            taken = hurt_hero(own, back, back_traits)
        else:
            taken = hurt_minion(own["board"][slot], back, back_keywords, back_traits)
        events["hits"][1 - seat, TO_MINIONS] += damage
        events["hits"][seat, TO_HERO if slot == HERO else TO_MINIONS] += back
        if back_keywords & Keyword.LIFESTEAL:
            heal_hero(enemy, taken)
    if keywords & Keyword.LIFESTEAL:
        heal_hero(own, dealt)
    deaths = 0
    if attacker_born > 0 and is_dying(own["board"][slot]):
        deaths |= Death.ATTACKER
    if defender_born > 0 and is_dying(enemy["board"][target]):
        deaths |= Death.DEFENDER
    if slot == HERO and own["durability"] > 0:
        wear(state, cards, seat, -1, events)
    settle(state, cards, events)
    return deaths


@njit_apart(STATE, (CARD,), EVENTS)
def finish_turn(state: np.void, cards: np.ndarray, events: np.void) -> int:
    """Carry out what happens at the end of a turn, before anything that lasts for it ends.

    For players who think ahead; the end of a turn as it is played is an action of `apply_effects`.
    """
    begin_action(events)
    queue_turn_end(state, cards, events)
    settle(state, cards, events)
    return 0


@njit
def _end_turn(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """End the turn: its effects, then what lasts for it ends, the frozen thaw; the other's turn begins."""
    seat = state["active"]
    own = state["sides"][seat]
    queue_turn_end(state, cards, events)
    settle(state, cards, events)
    if events["waiting"] or own["health"] <= 0 or state["sides"][1 - seat]["health"] <= 0:
        return
    for who in range(2):
        side = state["sides"][who]
        for place in range(side["n_board"]):
            minion = side["board"][place]
            if minion["turn_attack"]:
                minion["attack"] -= minion["turn_attack"]
                minion["turn_attack"] = 0
            minion["traits"] &= ~(Trait.IMMUNE | Trait.SPARES_HEROES_NOW)
            if who == seat and minion["attacks_left"] > 0:
                minion["traits"] &= ~Trait.FROZEN
        side["hero_attack"] = 0
        side["traits"] &= ~Trait.IMMUNE
    if own["hero_attacks_left"] > 0:
        own["traits"] &= ~Trait.FROZEN
    own["locked"] = 0
    state["active"] = 1 - seat
    if state["active"] == 0:
        state["turn"] += 1
    if state["turn"] > state["turn_cap"]:
        return
    open_turn(events, state)
    side = state["sides"][state["active"]]
    for place in range(side["n_board"]):
        minion = side["board"][place]
        if minion["traits"] & Trait.HIDDEN:
            minion["traits"] &= ~Trait.HIDDEN
            minion["keywords"] &= ~Keyword.STEALTH
    start_turn(state)
    side["power_used"] = 0
    side["hero_attacks_left"] = hero_limit(side, cards)
    side["locked"] = min(side["overload"], side["crystals"])
    side["mana"] -= side["locked"]
    side["overload"] = 0
