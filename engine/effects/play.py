"""Apply actions in games with effects: play cards, hero powers, attack, end the turn; compiled."""

import numpy as np

from engine.bitfields import AIMED, board_place_of, choose_one_option, unpack_action
from engine.codes import COIN, HERO, MAX_MANA, ActionKind, Death, Keyword
from engine.effect_codes import (
    TRIGGER_SHIFT,
    CardKind,
    Condition,
    GameFeature,
    Op,
    Race,
    Rule,
    Trait,
    Trigger,
)
from engine.effects.auras import apply_auras, has_rule
from engine.effects.board import (
    add_minion,
    board_index,
    has_room,
    is_dying,
    remove_modified_from_hand,
)
from engine.effects.card_filters import card_matches, needed_features
from engine.effects.chance import begin_action, select_turn_stream
from engine.effects.choices import make_choice, offer_choice
from engine.effects.damage import (
    apply_lifesteal,
    count_totem,
    damage_hero_and_trigger,
    damage_minion_and_trigger,
    draw_and_trigger,
    summon_and_trigger,
)
from engine.effects.legal_actions import current_cost, use_pending_costs
from engine.effects.ops_character import (
    add_stats,
    change_durability,
    clamp,
    max_hero_attacks,
    queue_weapon_triggers,
    replace_weapon,
    take_control,
)
from engine.effects.ops_zones import remove_from_deck
from engine.effects.resolution import resolve_queue
from engine.effects.secrets import add_secret, counter_spell, is_secret
from engine.effects.targets import decode_target, list_neighbours
from engine.effects.triggers import any_card_has_trigger, fire_trigger, queue_row, queue_rows
from engine.indirect_call import njit_indirect
from engine.jit import njit_no_alloc
from engine.state import (
    A_HERO,
    CARD,
    ENEMY_HERO,
    EVENTS,
    NO_CHARACTER,
    NO_TARGET,
    OWN_HERO,
    STATE,
    TO_HERO,
    TO_MINIONS,
    draws_at_turn_start,
    start_turn_without_draw,
)

LEFT_BOARD = -2
"""Code in place of a board index: the character has left the board."""


@njit_no_alloc
def resolve_attack(state: np.void, cards: np.ndarray, slot: int, target: int, events: np.void) -> int:
    """Resolve an attack of the active player; return bits of `Death`. Modifies `state` and `events`.

    Args:
        state: dtype `STATE`.
        cards: the card table.
        slot: board index of the attacker, or `HERO`.
        target: board index of the defender, or `HERO`.
        events: dtype `EVENTS`.
    """
    seat = state["active"]
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    defender_seat = 1 - seat
    if slot == HERO:
        own["hero_attacks_left"] -= 1
    else:
        own["board"][slot]["attacks_left"] -= 1
        own["board"][slot]["keywords"] &= ~Keyword.STEALTH
    has_triggers = any_card_has_trigger(cards, Trigger.ATTACKS) or any_card_has_trigger(
        cards, Trigger.AFTER_ATTACK
    )
    if has_triggers:
        events["attacker"] = OWN_HERO if slot == HERO else own["board"][slot]["entity_id"]
        events["defender"] = ENEMY_HERO if target == HERO else enemy["board"][target]["entity_id"]
        number = -1 if slot == HERO else own["board"][slot]["card"]
        attacker_id = A_HERO if slot == HERO else events["attacker"]
        fire_trigger(state, cards, events, Trigger.ATTACKS, seat, attacker_id, number, 1)
        if events["first"] < events["last"]:  # otherwise nothing has changed since the last action
            resolve_queue(state, cards, events)
        if events["n_pending_outcomes"]:
            return 0
        slot, target = _current_index(own, events["attacker"]), _current_index(enemy, events["defender"])
        if target == LEFT_BOARD or events["defender"] == OWN_HERO:
            defender_seat, target = seat, _current_index(own, events["defender"])
        if min(slot, target) == LEFT_BOARD or own["health"] <= 0 or enemy["health"] <= 0:
            events["defender"] = NO_TARGET
            return 0
    deaths = _deal_attack_damage(state, cards, slot, defender_seat, target, events)
    if has_triggers:
        attacker_id = A_HERO if slot == HERO else events["attacker"]
        number = -1 if slot == HERO else own["board"][slot]["card"]
        fire_trigger(state, cards, events, Trigger.AFTER_ATTACK, seat, attacker_id, number, 1)
    if slot == HERO and own["durability"] > 0:
        change_durability(state, cards, seat, -1, events)
    resolve_queue(state, cards, events)
    events["defender"] = NO_TARGET
    return deaths


@njit_no_alloc
def _current_index(side: np.void, character: int) -> int:
    """Current board index of an attacker or defender; `HERO` for heroes, `LEFT_BOARD` if it has left."""
    if character in (OWN_HERO, ENEMY_HERO):
        return HERO
    place = board_index(side, character) if character > 0 else -1
    return place if place >= 0 else LEFT_BOARD


@njit_no_alloc
def _deal_attack_damage(
    state: np.void, cards: np.ndarray, slot: int, defender_seat: int, target: int, events: np.void
) -> int:
    """Deal the simultaneous damage of an attack on the player at `defender_seat`; return bits of `Death`."""
    seat = state["active"]
    own, enemy = state["sides"][seat], state["sides"][defender_seat]
    if slot == HERO:
        damage = own["hero_attack"] + own["weapon_attack"]
        keywords = cards[own["weapon"]]["keywords"] if own["durability"] > 0 else 0
        traits = cards[own["weapon"]]["traits"] if own["durability"] > 0 else 0
    else:
        attacker = own["board"][slot]
        damage, keywords, traits = attacker["attack"], attacker["keywords"], attacker["traits"]
    if target == HERO:
        dealt = damage_hero_and_trigger(state, cards, events, defender_seat, damage, traits)
        events["hits"][defender_seat, TO_HERO] += damage
    else:
        defender = enemy["board"][target]
        counter_damage, counter_keywords, counter_traits = (
            defender["attack"],
            defender["keywords"],
            defender["traits"],
        )
        dealt = damage_minion_and_trigger(
            state, cards, events, defender_seat, target, damage, keywords, traits
        )
        if traits & Trait.CLEAVES:
            for place in (target - 1, target + 1):
                if 0 <= place < enemy["n_board"]:
                    dealt += damage_minion_and_trigger(
                        state, cards, events, defender_seat, place, damage, keywords, traits
                    )
                    events["hits"][defender_seat, TO_MINIONS] += damage
        own_traits = own["traits"] if slot == HERO else own["board"][slot]["traits"]
        if counter_damage > 0 and not own_traits & Trait.IMMUNE:
            defender["keywords"] &= ~Keyword.STEALTH
        if slot == HERO:
            counter_dealt = damage_hero_and_trigger(
                state, cards, events, seat, counter_damage, counter_traits
            )
        else:
            counter_dealt = damage_minion_and_trigger(
                state, cards, events, seat, slot, counter_damage, counter_keywords, counter_traits
            )
        events["hits"][defender_seat, TO_MINIONS] += damage
        events["hits"][seat, TO_HERO if slot == HERO else TO_MINIONS] += counter_damage
        if counter_keywords & Keyword.LIFESTEAL and counter_dealt > 0:
            apply_lifesteal(state, cards, events, defender_seat, counter_dealt)
    if keywords & Keyword.LIFESTEAL and dealt > 0:
        apply_lifesteal(state, cards, events, seat, dealt)
    deaths = 0
    if slot != HERO and is_dying(own["board"][slot]):
        deaths |= Death.ATTACKER
    if target != HERO and is_dying(enemy["board"][target]):
        deaths |= Death.DEFENDER
    return deaths


PLAY_FEATURES = (
    GameFeature.AURAS
    | GameFeature.COSTS
    | GameFeature.OVERLOADED
    | GameFeature.CARDS_PLAYED
    | GameFeature.SPELLS_CAST
    | GameFeature.ELEMENTALS
    | GameFeature.DECK_TRIGGERS
    | sum(
        1 << (TRIGGER_SHIFT + trigger)
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
"""Bits of `features` that need triggers or counters whenever a card is played."""

_decode = njit_no_alloc(unpack_action)
_option_of = njit_no_alloc(choose_one_option)
_place_in = njit_no_alloc(board_place_of)


@njit_indirect(STATE, (CARD,), int, EVENTS)
def apply_with_effects(state: np.void, cards: np.ndarray, action: int, events: np.void) -> int:
    """Apply an action in a game with effects; return bits of `Death`. Modifies `state` and `events`."""
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
        own["powers"] += 1 if needed_features(cards) & GameFeature.POWERS_USED else 0
        seat = state["active"]
        queue_rows(cards, number, Trigger.PLAY, seat, -1, -1, -1, _target(state, action, target), events)
        resolve_queue(state, cards, events)
        if any_card_has_trigger(cards, Trigger.POWER_USED) and not events["n_pending_outcomes"]:
            fire_trigger(state, cards, events, Trigger.POWER_USED, seat, NO_CHARACTER, number, 1)
            resolve_queue(state, cards, events)
    elif kind == ActionKind.ATTACK:
        deaths = resolve_attack(state, cards, source, target, events)
    elif kind == ActionKind.CHOOSE:
        make_choice(state, cards, source, events)
    else:
        _end_turn(state, cards, events)
    if state["n_choices"] > 0 and not events["n_pending_outcomes"]:
        offer_choice(state, cards, events)
    return deaths


@njit_no_alloc
def _target(state: np.void, action: int, character: int) -> int:
    """Target of an action: an entity id, `OWN_HERO`, `ENEMY_HERO` or `NO_TARGET`."""
    return decode_target(state, state["active"], character) if action & AIMED else NO_TARGET


@njit_no_alloc
def _play(
    state: np.void, cards: np.ndarray, place: int, target: int, option: int, at: int, events: np.void
) -> None:
    """Play a card from hand. `state` and `events` are modified in place.

    Order: triggers of the played card, the card's own effects, then "after" triggers.
    """
    seat = state["active"]
    own = state["sides"][seat]
    attack, health = own["hand_modifiers"][place]["attack"], own["hand_modifiers"][place]["health"]
    number, cost = pay_for(state, cards, seat, place)
    if number == COIN:
        if counter_spell(state, cards, events):
            _count_countered(state, cards, events)
            return
        own["mana"] = min(own["mana"] + 1, MAX_MANA)
        if needed_features(cards) & PLAY_FEATURES:
            _trigger_coin(state, cards, cost, events)
        return
    card = cards[number]
    if card["kind"] == CardKind.SPELL and counter_spell(state, cards, events):
        _count_countered(state, cards, events)
        return
    own["overload"] = clamp(own["overload"] + card["overload"], 0)
    entity_id = weapon = -1
    if card["kind"] == CardKind.MINION:
        index = at if at >= 0 else int(own["n_board"])
        entity_id = add_minion(state, cards, seat, number, index)
        add_stats(own["board"][index], attack, health)
        count_totem(own, cards, number)
        events["played"] = entity_id
    has_play_triggers = needed_features(cards) & PLAY_FEATURES
    if has_play_triggers:
        _trigger_before(state, cards, number, entity_id, cost, target, events)
    if card["kind"] == CardKind.WEAPON and not events["n_pending_outcomes"]:
        weapon = replace_weapon(state, cards, seat, number, events)
        own["weapon_attack"] = clamp(own["weapon_attack"] + attack, 0)
        own["durability"] = clamp(own["durability"] + health, 1)
        if events["first"] < events["last"]:
            resolve_queue(state, cards, events)  # triggers of the equipped weapon
    if events["n_pending_outcomes"]:
        return
    if events["decoy"] and target > 0:
        target = int(events["decoy"])
    if is_secret(card):
        add_secret(state, seat, number)
        own["secrets_played"] += 1 if needed_features(cards) & GameFeature.SECRETS_PLAYED else 0
    elif card["n_effects"]:
        itself = number if entity_id > 0 else -1
        times = 1
        if card["kind"] != CardKind.SPELL and has_rule(state, cards, seat, Rule.BATTLECRIES_TWICE):
            times = 2
        events["target_neighbours"][:] = 0
        list_neighbours(state, target, events["target_neighbours"])
        played = number if option == 0 else int(card["options"]) + option - 1
        queue_rows(cards, played, Trigger.PLAY, seat, itself, entity_id, -1, target, events)
        if times > 1 and option == 0:
            _queue_again(cards, number, seat, entity_id, target, events)
    if weapon >= 0:
        queue_weapon_triggers(state, cards, seat, weapon, events)
    resolve_queue(state, cards, events)
    if has_play_triggers and not events["n_pending_outcomes"]:
        _trigger_after(
            state, cards, number, int(events["played"]) if entity_id > 0 else entity_id, cost, events
        )


@njit_no_alloc
def pay_for(state: np.void, cards: np.ndarray, seat: int, place: int) -> tuple[int, int]:
    """Pay for a card and remove it from the hand; return its card number and cost. Modified in place."""
    own = state["sides"][seat]
    cost = current_cost(state, cards, seat, place)
    number = remove_modified_from_hand(own, place, cards)
    own["mana"] -= cost
    if needed_features(cards) & GameFeature.COSTS:
        use_pending_costs(own, cards, number)
    return number, cost


@njit_no_alloc
def _queue_again(
    cards: np.ndarray, number: int, seat: int, entity_id: int, target: int, events: np.void
) -> None:
    """Queue a Battlecry a second time; Combo rows do not repeat. `events` is modified in place."""
    card = cards[number]
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        if effect["trigger"] == Trigger.PLAY and effect["condition"] != Condition.COMBO:
            queue_row(events, number, row, seat, number if entity_id > 0 else -1, entity_id, -1, target)


@njit_no_alloc
def _count_countered(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """Count a countered spell as a played card, without spell triggers. `state` is modified in place."""
    state["sides"][state["active"]]["played"] += 1 if needed_features(cards) & GameFeature.CARDS_PLAYED else 0
    resolve_queue(state, cards, events)


@njit_no_alloc
def _trigger_coin(state: np.void, cards: np.ndarray, cost: int, events: np.void) -> None:
    """Count The Coin as a played card and spell, and fire their triggers. `state` is modified in place."""
    seat = state["active"]
    own = state["sides"][seat]
    for trigger in (Trigger.PLAYED, Trigger.CAST):
        fire_trigger(state, cards, events, trigger, seat, NO_CHARACTER, COIN, cost)
    resolve_queue(state, cards, events)
    own["played"] += 1 if needed_features(cards) & GameFeature.CARDS_PLAYED else 0
    own["spells"] += 1 if needed_features(cards) & GameFeature.SPELLS_CAST else 0
    for trigger in (Trigger.AFTER_PLAYED, Trigger.AFTER_CAST):
        fire_trigger(state, cards, events, trigger, seat, NO_CHARACTER, COIN, cost)
    resolve_queue(state, cards, events)


@njit_no_alloc
def _trigger_before(
    state: np.void, cards: np.ndarray, number: int, entity_id: int, cost: int, target: int, events: np.void
) -> None:
    """Fire the triggers of a played card, before its own effects. Modified in place."""
    seat = state["active"]
    own = state["sides"][seat]
    card = cards[number]
    features = needed_features(cards)
    minion_id = entity_id if entity_id > 0 else NO_CHARACTER
    fire_trigger(state, cards, events, Trigger.PLAYED, seat, minion_id, number, cost)
    if card["overload"] > 0:
        if features & GameFeature.OVERLOADED:
            own["overloaded"] += card["overload"]
        fire_trigger(state, cards, events, Trigger.OVERLOADED, seat, NO_CHARACTER, number, card["overload"])
    if entity_id > 0:
        fire_trigger(state, cards, events, Trigger.SUMMONED, seat, entity_id, number, 1)
    elif card["kind"] == CardKind.SPELL:
        fire_trigger(state, cards, events, Trigger.CAST, seat, NO_CHARACTER, number, cost)
        if target > 0 and any_card_has_trigger(cards, Trigger.TARGETED):
            for owner in range(2):
                target_index = board_index(state["sides"][owner], target)
                if target_index >= 0:
                    minion = state["sides"][owner]["board"][target_index]
                    fire_trigger(state, cards, events, Trigger.TARGETED, seat, target, minion["card"], 1)
    resolve_queue(state, cards, events)


@njit_no_alloc
def _trigger_after(
    state: np.void, cards: np.ndarray, number: int, entity_id: int, cost: int, events: np.void
) -> None:
    """Count a played card and fire its "after" triggers. `state` and `events` are modified in place."""
    seat = state["active"]
    own = state["sides"][seat]
    card = cards[number]
    features = needed_features(cards)
    own["played"] += 1 if features & GameFeature.CARDS_PLAYED else 0
    if features & GameFeature.DECK_TRIGGERS:
        _summon_from_deck(state, cards, number, events)
    if card["kind"] == CardKind.SPELL:
        own["spells"] += 1 if features & GameFeature.SPELLS_CAST else 0
        fire_trigger(state, cards, events, Trigger.AFTER_CAST, seat, NO_CHARACTER, number, cost)
    if features & GameFeature.ELEMENTALS and card["race"] in (Race.ELEMENTAL, Race.ALL):
        own["elementals"] += 1
    minion_id = entity_id if entity_id > 0 else NO_CHARACTER
    fire_trigger(state, cards, events, Trigger.AFTER_PLAYED, seat, minion_id, number, cost)
    if entity_id > 0:
        fire_trigger(state, cards, events, Trigger.AFTER_SUMMONED, seat, entity_id, number, 1)
    resolve_queue(state, cards, events)


@njit_no_alloc
def _summon_from_deck(state: np.void, cards: np.ndarray, number: int, events: np.void) -> None:
    """Summon the minions in the active player's deck whose trigger matches the played card."""
    seat = state["active"]
    side = state["sides"][seat]
    place = 0
    while place < side["n_deck"]:
        card = side["deck"][place]
        if card >= 0 and has_room(side) and cards[card]["trigger_bits"] >> Trigger.IN_DECK & 1:
            effect = cards[card]["effects"][0]
            kinds = effect["on_kind"]
            if card_matches(cards[number], kinds, effect["on_filter"], effect["on_arg"]):
                summon_and_trigger(
                    state, cards, events, seat, remove_from_deck(side, place), int(side["n_board"])
                )
                continue
        place += 1


@njit_indirect(STATE, (CARD,), EVENTS)
def resolve_turn_end(state: np.void, cards: np.ndarray, events: np.void) -> int:
    """Resolve end-of-turn effects, before "this turn" effects expire; for planning agents. Return 0.

    In a game, `apply_with_effects` ends a turn as an action.
    """
    begin_action(events, state, cards)
    _resolve_turn_end(state, cards, events)
    return 0


@njit_no_alloc
def _end_turn(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """End the turn: end-of-turn effects, expiry of "this turn" effects, thawing; start the next turn."""
    seat = state["active"]
    _resolve_turn_end(state, cards, events)
    if events["n_pending_outcomes"] or is_over(state):
        return
    _expire_turn_effects(state, cards, seat)
    resolve_queue(state, cards, events)  # a minion returned to a full board dies
    state["active"] = 1 - seat
    if state["active"] == 0:
        state["turn"] += 1
    if state["turn"] > state["turn_cap"]:
        return
    select_turn_stream(events, state)
    _begin_turn(state, cards, events)


@njit_no_alloc
def _resolve_turn_end(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """Resolve the end-of-turn triggers of the active player."""
    fire_trigger(state, cards, events, Trigger.TURN_END, state["active"], NO_CHARACTER, -1, 1)
    resolve_queue(state, cards, events)


@njit_no_alloc
def is_over(state: np.void) -> bool:
    """Whether a hero is dead."""
    return bool(state["sides"][0]["health"] <= 0 or state["sides"][1]["health"] <= 0)


@njit_no_alloc
def _expire_turn_effects(state: np.void, cards: np.ndarray, seat: int) -> None:
    """Expire "this turn" effects of the player at `seat`; thaw characters that could have attacked."""
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
    for side_seat in range(2):
        side = state["sides"][side_seat]
        for place in range(side["n_board"]):
            minion = side["board"][place]
            if minion["turn_attack"]:
                minion["attack"] -= minion["turn_attack"]
                minion["turn_attack"] = 0
            minion["traits"] &= ~(Trait.IMMUNE | Trait.SPARES_HEROES_NOW)
            if side_seat == seat and minion["attacks_left"] > 0:
                minion["traits"] &= ~Trait.FROZEN
        side["hero_attack"] = 0
        side["traits"] &= ~Trait.IMMUNE
        if needed_features(cards):
            side["died_this_turn"] = 0
            side["hero_damage_this_turn"] = 0
    if own["hero_attacks_left"] > 0:
        own["traits"] &= ~Trait.FROZEN
    own["locked"] = 0
    if needed_features(cards):
        own["played"] = 0
        own["elementals_before"] = own["elementals"]
        own["elementals"] = 0
        _expire_pending_costs(own, cards)


@njit_no_alloc
def _expire_pending_costs(side: np.void, cards: np.ndarray) -> None:
    """Expire the pending cost changes limited to this turn. `side` is modified in place."""
    for n in range(len(side["pending_costs"])):
        if side["pending_costs"][n] == 0:
            continue
        source = cards[side["pending_costs"][n] - 1]
        for row in range(source["n_effects"]):
            effect = source["effects"][row]
            if effect["op"] == Op.COST and effect["trigger"] == Trigger.PLAY and effect["until"]:
                side["pending_costs"][n] = 0
                break


@njit_no_alloc
def _begin_turn(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """Start the active player's turn: ready minions, mana, start-of-turn triggers, then a card draw."""
    seat = state["active"]
    side = state["sides"][seat]
    for place in range(side["n_board"]):
        minion = side["board"][place]
        if minion["traits"] & Trait.HIDDEN:
            minion["traits"] &= ~Trait.HIDDEN
            minion["keywords"] &= ~Keyword.STEALTH
    start_turn_without_draw(state)
    side["power_used"] = 0
    side["hero_attacks_left"] = max_hero_attacks(side, cards)
    side["locked"] = min(side["overload"], side["crystals"])
    side["mana"] -= side["locked"]
    side["overload"] = 0
    apply_auras(state, cards, events)
    if any_card_has_trigger(cards, Trigger.TURN_START):
        fire_trigger(state, cards, events, Trigger.TURN_START, seat, NO_CHARACTER, -1, 1)
        resolve_queue(state, cards, events)
        if events["n_pending_outcomes"] or is_over(state):
            return
    if draws_at_turn_start(state):
        draw_and_trigger(state, cards, events, seat)
        resolve_queue(state, cards, events)
