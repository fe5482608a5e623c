"""Actions of games with effects: cards, hero powers, attacks, ends of turns; compiled."""

import numpy as np

from engine.bitfields import AIMED, option_of, place_in, unpack_action
from engine.codes import COIN, HERO, MAX_MANA, ActionKind, Death, Keyword
from engine.effect_codes import EVENT_SHIFT, Ask, CardKind, Condition, Op, Race, Rule, Trait, Trigger
from engine.effects.auras import has_rule, refresh
from engine.effects.board import enter, has_room, is_dying, lose_held, place_of
from engine.effects.card_filters import asked_by, is_asked
from engine.effects.chance import begin_action, open_turn
from engine.effects.choices import choose_one, offer
from engine.effects.damage import bring, count_arrival, drain, draw_one, strike_hero, strike_minion
from engine.effects.legal_actions import cost_of, keep_promises
from engine.effects.ops_character import (
    clamp,
    hero_limit,
    leave_behind,
    put_on,
    strengthen,
    take_control,
    wear,
)
from engine.effects.ops_zones import leave_deck
from engine.effects.resolution import settle
from engine.effects.secrets import counters, hide, is_secret
from engine.effects.targets import neighbours, target_of
from engine.effects.triggers import announce, is_heard, push, queue_rows
from engine.indirect_call import njit_apart
from engine.jit import njit_borrowing
from engine.state import (
    A_HERO,
    CARD,
    ENEMY_HERO,
    EVENTS,
    NO_ONE,
    NO_TARGET,
    OWN_HERO,
    STATE,
    TO_HERO,
    TO_MINIONS,
    draws_now,
    make_ready,
)

GONE = -2
"""Where a character is that has left the board."""


@njit_borrowing
def attack(state: np.void, cards: np.ndarray, slot: int, target: int, events: np.void) -> int:
    """Carry out an attack of the active player; bits of `Death`. `state` and `events` are modified in place.

    Args:
        state: dtype `STATE`.
        cards: the card table.
        slot: place of the attacker, or `HERO`.
        target: place of the enemy it attacks, or `HERO`.
        events: dtype `EVENTS`.
    """
    seat = state["active"]
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    defends = 1 - seat
    if slot == HERO:
        own["hero_attacks_left"] -= 1
    else:
        own["board"][slot]["attacks_left"] -= 1
        own["board"][slot]["keywords"] &= ~Keyword.STEALTH
    waits = is_heard(cards, Trigger.ATTACKS) or is_heard(cards, Trigger.AFTER_ATTACK)
    if waits:
        events["attacker"] = OWN_HERO if slot == HERO else own["board"][slot]["born"]
        events["defender"] = ENEMY_HERO if target == HERO else enemy["board"][target]["born"]
        number = -1 if slot == HERO else own["board"][slot]["card"]
        who = A_HERO if slot == HERO else events["attacker"]
        announce(state, cards, events, Trigger.ATTACKS, seat, who, number, 1)
        settle(state, cards, events)
        if events["waiting"]:
            return 0
        slot, target = _place(own, events["attacker"]), _place(enemy, events["defender"])
        if target == GONE or events["defender"] == OWN_HERO:
            defends, target = seat, _place(own, events["defender"])
        if min(slot, target) == GONE or own["health"] <= 0 or enemy["health"] <= 0:
            events["defender"] = NO_TARGET
            return 0
    deaths = _blows(state, cards, slot, defends, target, events)
    if waits:
        who = A_HERO if slot == HERO else events["attacker"]
        number = -1 if slot == HERO else own["board"][slot]["card"]
        announce(state, cards, events, Trigger.AFTER_ATTACK, seat, who, number, 1)
    if slot == HERO and own["durability"] > 0:
        wear(state, cards, seat, -1, events)
    settle(state, cards, events)
    events["defender"] = NO_TARGET
    return deaths


@njit_borrowing
def _place(side: np.void, who: int) -> int:
    """Where an attacker or what it attacks is now; `GONE` where it has left."""
    if who in (OWN_HERO, ENEMY_HERO):
        return HERO
    place = place_of(side, who) if who > 0 else -1
    return place if place >= 0 else GONE


@njit_borrowing
def _blows(state: np.void, cards: np.ndarray, slot: int, defends: int, target: int, events: np.void) -> int:
    """The damage of an attack, both ways at once; bits of `Death`. The player at `defends` is attacked."""
    seat = state["active"]
    own, enemy = state["sides"][seat], state["sides"][defends]
    if slot == HERO:
        damage = own["hero_attack"] + own["weapon_attack"]
        keywords = cards[own["weapon"]]["keywords"] if own["durability"] > 0 else 0
        traits = cards[own["weapon"]]["traits"] if own["durability"] > 0 else 0
    else:
        attacker = own["board"][slot]
        damage, keywords, traits = attacker["attack"], attacker["keywords"], attacker["traits"]
    if target == HERO:
        dealt = strike_hero(state, cards, events, defends, damage, traits)
        events["hits"][defends, TO_HERO] += damage
    else:
        defender = enemy["board"][target]
        back, back_keywords, back_traits = defender["attack"], defender["keywords"], defender["traits"]
        dealt = strike_minion(state, cards, events, defends, target, damage, keywords, traits)
        if traits & Trait.CLEAVES:
            for place in (target - 1, target + 1):
                if 0 <= place < enemy["n_board"]:
                    dealt += strike_minion(state, cards, events, defends, place, damage, keywords, traits)
                    events["hits"][defends, TO_MINIONS] += damage
        own_traits = own["traits"] if slot == HERO else own["board"][slot]["traits"]
        if back > 0 and not own_traits & Trait.IMMUNE:
            defender["keywords"] &= ~Keyword.STEALTH
        if slot == HERO:
            taken = strike_hero(state, cards, events, seat, back, back_traits)
        else:
            taken = strike_minion(state, cards, events, seat, slot, back, back_keywords, back_traits)
        events["hits"][defends, TO_MINIONS] += damage
        events["hits"][seat, TO_HERO if slot == HERO else TO_MINIONS] += back
        if back_keywords & Keyword.LIFESTEAL and taken > 0:
            drain(state, cards, events, defends, taken)
    if keywords & Keyword.LIFESTEAL and dealt > 0:
        drain(state, cards, events, seat, dealt)
    deaths = 0
    if slot != HERO and is_dying(own["board"][slot]):
        deaths |= Death.ATTACKER
    if target != HERO and is_dying(enemy["board"][target]):
        deaths |= Death.DEFENDER
    return deaths


OF_PLAYS = (
    Ask.AURAS
    | Ask.COSTS
    | Ask.OVERLOADED
    | Ask.PLAYED
    | Ask.SPELLS
    | Ask.ELEMENTALS
    | Ask.DECKS
    | sum(
        1 << (EVENT_SHIFT + trigger)
        for trigger in (
            Trigger.PLAYED,
            Trigger.CAST,
            Trigger.AFTER_CAST,
            Trigger.SUMMONED,
            Trigger.AFTER_SUMMONED,
            Trigger.AFTER_PLAYED,
            Trigger.OVERLOADED,
            Trigger.TARGETED,
        )
    )
)
"""Bits of `asks` for which something is told, or counted, whenever a card is played."""

_decode = njit_borrowing(unpack_action)
_option_of = njit_borrowing(option_of)
_place_in = njit_borrowing(place_in)


@njit_apart(STATE, (CARD,), int, EVENTS)
def apply_effects(state: np.void, cards: np.ndarray, action: int, events: np.void) -> int:
    """`engine.rules.apply` in a game with effects."""
    kind, source, target = _decode(action)
    begin_action(events, state, cards)
    deaths = 0
    if kind == ActionKind.PLAY:
        aim = _target(state, action, target)
        _play(state, cards, source, aim, _option_of(action), _place_in(action), events)
    elif kind == ActionKind.POWER:
        own = state["sides"][state["active"]]
        number = own["power"] - 1
        own["mana"] -= cards[number]["cost"]
        own["power_used"] = 1
        own["powers"] += 1 if asked_by(cards) & Ask.POWERS else 0
        seat = state["active"]
        queue_rows(cards, number, Trigger.PLAY, seat, -1, -1, -1, _target(state, action, target), events)
        settle(state, cards, events)
        if is_heard(cards, Trigger.POWER_USED) and not events["waiting"]:
            announce(state, cards, events, Trigger.POWER_USED, seat, NO_ONE, number, 1)
            settle(state, cards, events)
    elif kind == ActionKind.ATTACK:
        deaths = attack(state, cards, source, target, events)
    elif kind == ActionKind.CHOOSE:
        choose_one(state, cards, source, events)
    else:
        _end_turn(state, cards, events)
    if state["n_choices"] > 0 and not events["waiting"]:
        offer(state, cards, events)
    return deaths


@njit_borrowing
def _target(state: np.void, action: int, character: int) -> int:
    """What an action is aimed at, as effects know it."""
    return target_of(state, state["active"], character) if action & AIMED else NO_TARGET


@njit_borrowing
def _play(
    state: np.void, cards: np.ndarray, place: int, target: int, option: int, at: int, events: np.void
) -> None:
    """Play a card from hand. `state` and `events` are modified in place.

    What waits for a played card goes first, then the card does what it says, then what waits for that.
    """
    seat = state["active"]
    own = state["sides"][seat]
    attack, health = own["held"][place]["attack"], own["held"][place]["health"]
    number, cost = pay_for(state, cards, seat, place)
    if number == COIN:
        if counters(state, cards, events):
            _count_countered(state, cards, events)
            return
        own["mana"] = min(own["mana"] + 1, MAX_MANA)
        if asked_by(cards) & OF_PLAYS:
            _tell_of_coin(state, cards, cost, events)
        return
    card = cards[number]
    if card["kind"] == CardKind.SPELL and counters(state, cards, events):
        _count_countered(state, cards, events)
        return
    own["overload"] = clamp(own["overload"] + card["overload"], 0)
    born = weapon = -1
    if card["kind"] == CardKind.MINION:
        to = at if at >= 0 else int(own["n_board"])
        born = enter(state, cards, seat, number, to)
        strengthen(own["board"][to], attack, health)
        count_arrival(own, cards, number)
        events["played"] = born
    told = asked_by(cards) & OF_PLAYS
    if told:
        _tell_before(state, cards, number, born, cost, target, events)
    if card["kind"] == CardKind.WEAPON and not events["waiting"]:
        weapon = put_on(state, cards, seat, number, events)
        own["weapon_attack"] = clamp(own["weapon_attack"] + attack, 0)
        own["durability"] = clamp(own["durability"] + health, 1)
        if events["first"] < events["last"]:
            settle(state, cards, events)  # what waits for a weapon
    if events["waiting"]:
        return
    if events["decoy"] and target > 0:
        target = int(events["decoy"])
    if is_secret(card):
        hide(state, seat, number)
        own["secrets_played"] += 1 if asked_by(cards) & Ask.SECRETS else 0
    elif card["n_effects"]:
        itself = number if born > 0 else -1
        times = 1
        if card["kind"] != CardKind.SPELL and has_rule(state, cards, seat, Rule.BATTLECRIES_TWICE):
            times = 2
        events["beside"][:] = 0
        neighbours(state, target, events["beside"])
        played = number if option == 0 else int(card["options"]) + option - 1
        queue_rows(cards, played, Trigger.PLAY, seat, itself, born, -1, target, events)
        if times > 1 and option == 0:
            _queue_again(cards, number, seat, born, target, events)
    if weapon >= 0:
        leave_behind(state, cards, seat, weapon, events)
    settle(state, cards, events)
    if told and not events["waiting"]:
        _tell_after(state, cards, number, int(events["played"]) if born > 0 else born, cost, events)


@njit_borrowing
def pay_for(state: np.void, cards: np.ndarray, seat: int, place: int) -> tuple[int, int]:
    """Pay for a card in hand, and take it out; its number, and what it cost."""
    own = state["sides"][seat]
    cost = cost_of(state, cards, seat, place)
    number = lose_held(own, place, cards)
    own["mana"] -= cost
    if asked_by(cards) & Ask.COSTS:
        keep_promises(own, cards, number)
    return number, cost


@njit_borrowing
def _queue_again(cards: np.ndarray, number: int, seat: int, born: int, target: int, events: np.void) -> None:
    """Queue a Battlecry for the second time; a Combo is none. `events` is modified in place."""
    card = cards[number]
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        if effect["trigger"] == Trigger.PLAY and effect["condition"] != Condition.COMBO:
            push(events, number, row, seat, number if born > 0 else -1, born, -1, target)


@njit_borrowing
def _count_countered(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """A spell that was stopped was played all the same, and nothing that waits for spells hears of it."""
    state["sides"][state["active"]]["played"] += 1 if asked_by(cards) & Ask.PLAYED else 0
    settle(state, cards, events)


@njit_borrowing
def _tell_of_coin(state: np.void, cards: np.ndarray, cost: int, events: np.void) -> None:
    """The Coin is a card that is played, and a spell."""
    seat = state["active"]
    own = state["sides"][seat]
    for trigger in (Trigger.PLAYED, Trigger.CAST):
        announce(state, cards, events, trigger, seat, NO_ONE, COIN, cost)
    settle(state, cards, events)
    own["played"] += 1 if asked_by(cards) & Ask.PLAYED else 0
    own["spells"] += 1 if asked_by(cards) & Ask.SPELLS else 0
    for trigger in (Trigger.AFTER_PLAYED, Trigger.AFTER_CAST):
        announce(state, cards, events, trigger, seat, NO_ONE, COIN, cost)
    settle(state, cards, events)


@njit_borrowing
def _tell_before(
    state: np.void, cards: np.ndarray, number: int, born: int, cost: int, target: int, events: np.void
) -> None:
    """Tell of a card that was paid for, before it does what it says."""
    seat = state["active"]
    own = state["sides"][seat]
    card = cards[number]
    asks = asked_by(cards)
    who = born if born > 0 else NO_ONE
    announce(state, cards, events, Trigger.PLAYED, seat, who, number, cost)
    if card["overload"] > 0:
        if asks & Ask.OVERLOADED:
            own["overloaded"] += card["overload"]
        announce(state, cards, events, Trigger.OVERLOADED, seat, NO_ONE, number, card["overload"])
    if born > 0:
        announce(state, cards, events, Trigger.SUMMONED, seat, born, number, 1)
    elif card["kind"] == CardKind.SPELL:
        announce(state, cards, events, Trigger.CAST, seat, NO_ONE, number, cost)
        if target > 0 and is_heard(cards, Trigger.TARGETED):
            for who in range(2):
                aimed = place_of(state["sides"][who], target)
                if aimed >= 0:
                    minion = state["sides"][who]["board"][aimed]
                    announce(state, cards, events, Trigger.TARGETED, seat, target, minion["card"], 1)
    settle(state, cards, events)


@njit_borrowing
def _tell_after(
    state: np.void, cards: np.ndarray, number: int, born: int, cost: int, events: np.void
) -> None:
    """Count a card that has done what it says, and tell of it."""
    seat = state["active"]
    own = state["sides"][seat]
    card = cards[number]
    asks = asked_by(cards)
    own["played"] += 1 if asks & Ask.PLAYED else 0
    if asks & Ask.DECKS:
        _wake_in_deck(state, cards, number, events)
    if card["kind"] == CardKind.SPELL:
        own["spells"] += 1 if asks & Ask.SPELLS else 0
        announce(state, cards, events, Trigger.AFTER_CAST, seat, NO_ONE, number, cost)
    if asks & Ask.ELEMENTALS and card["race"] in (Race.ELEMENTAL, Race.ALL):
        own["elementals"] += 1
    who = born if born > 0 else NO_ONE
    announce(state, cards, events, Trigger.AFTER_PLAYED, seat, who, number, cost)
    if born > 0:
        announce(state, cards, events, Trigger.AFTER_SUMMONED, seat, born, number, 1)
    settle(state, cards, events)


@njit_borrowing
def _wake_in_deck(state: np.void, cards: np.ndarray, number: int, events: np.void) -> None:
    """Summon the cards of the active player's deck that wait there for the card that was played."""
    seat = state["active"]
    side = state["sides"][seat]
    place = 0
    while place < side["n_deck"]:
        card = side["deck"][place]
        if card >= 0 and has_room(side) and cards[card]["hears"] >> Trigger.IN_DECK & 1:
            effect = cards[card]["effects"][0]
            kinds = effect["on_kind"]
            if is_asked(cards[number], kinds, effect["on_filter"], effect["on_arg"]):
                bring(state, cards, events, seat, leave_deck(side, place), int(side["n_board"]))
                continue
        place += 1


@njit_apart(STATE, (CARD,), EVENTS)
def finish_turn(state: np.void, cards: np.ndarray, events: np.void) -> int:
    """Carry out what happens at the end of a turn, before anything that lasts for it ends.

    For players who think ahead; the end of a turn as it is played is an action of `apply_effects`.
    """
    begin_action(events, state, cards)
    _finish(state, cards, events)
    return 0


@njit_borrowing
def _end_turn(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """End the turn: its effects, then what lasts for it ends, the frozen thaw; the other's turn begins."""
    seat = state["active"]
    _finish(state, cards, events)
    if events["waiting"] or is_over(state):
        return
    _let_pass(state, cards, seat)
    settle(state, cards, events)  # who goes back to a full board dies
    state["active"] = 1 - seat
    if state["active"] == 0:
        state["turn"] += 1
    if state["turn"] > state["turn_cap"]:
        return
    open_turn(events, state)
    _begin_turn(state, cards, events)


@njit_borrowing
def _finish(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """Carry out what happens at the end of a turn."""
    announce(state, cards, events, Trigger.TURN_END, state["active"], NO_ONE, -1, 1)
    settle(state, cards, events)


@njit_borrowing
def is_over(state: np.void) -> bool:
    """Whether a hero is dead."""
    return bool(state["sides"][0]["health"] <= 0 or state["sides"][1]["health"] <= 0)


@njit_borrowing
def _let_pass(state: np.void, cards: np.ndarray, seat: int) -> None:
    """End what lasts for the turn of the player at `seat`; the frozen that could have attacked thaw."""
    own = state["sides"][seat]
    place = 0
    while place < own["n_board"]:
        if own["board"][place]["traits"] & Trait.STOLEN:
            minion = own["board"][place]
            if minion["traits"] & Trait.HASTENED:
                minion["keywords"] &= ~Keyword.CHARGE
            minion["traits"] &= ~(Trait.STOLEN | Trait.HASTENED)
            if has_room(state["sides"][1 - seat]):
                take_control(state, cards, 1 - seat, place)
                continue
            own["board"][place]["traits"] |= Trait.DOOMED
        place += 1
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
        if asked_by(cards):
            side["perished"] = 0
            side["hurt"] = 0
    if own["hero_attacks_left"] > 0:
        own["traits"] &= ~Trait.FROZEN
    own["locked"] = 0
    if asked_by(cards):
        own["played"] = 0
        own["elementals_before"] = own["elementals"]
        own["elementals"] = 0
        _break_promises(own, cards)


@njit_borrowing
def _break_promises(side: np.void, cards: np.ndarray) -> None:
    """End what changes costs for this turn alone. `side` is modified in place."""
    for n in range(len(side["promises"])):
        if side["promises"][n] == 0:
            continue
        source = cards[side["promises"][n] - 1]
        for row in range(source["n_effects"]):
            effect = source["effects"][row]
            if effect["op"] == Op.COST and effect["trigger"] == Trigger.PLAY and effect["until"]:
                side["promises"][n] = 0
                break


@njit_borrowing
def _begin_turn(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """Begin the active player's turn: ready minions, mana, what waits for it, then a card."""
    seat = state["active"]
    side = state["sides"][seat]
    for place in range(side["n_board"]):
        minion = side["board"][place]
        if minion["traits"] & Trait.HIDDEN:
            minion["traits"] &= ~Trait.HIDDEN
            minion["keywords"] &= ~Keyword.STEALTH
    make_ready(state)
    side["power_used"] = 0
    side["hero_attacks_left"] = hero_limit(side, cards)
    side["locked"] = min(side["overload"], side["crystals"])
    side["mana"] -= side["locked"]
    side["overload"] = 0
    refresh(state, cards)
    if is_heard(cards, Trigger.TURN_START):
        announce(state, cards, events, Trigger.TURN_START, seat, NO_ONE, -1, 1)
        settle(state, cards, events)
        if events["waiting"] or is_over(state):
            return
    if draws_now(state):
        draw_one(state, cards, events, seat)
        settle(state, cards, events)
