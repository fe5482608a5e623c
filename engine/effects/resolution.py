"""Effect resolution: an effect queue without recursion, with a death phase when the queue is empty; compiled.

A card's rows resolve in order; triggered effects resolve before the card's remaining rows. When the queue is
empty, auras are recomputed and all dying minions are removed at once; their Deathrattles and death triggers
are queued in order of play. This repeats until nothing is left.

Sources: the community's advanced rulebook of Hearthstone; the Hearthstone Wiki, Secret (a Secret without any
possible effect stays hidden). docs/effects.md lists our deviations.
"""

import numpy as np

from engine.codes import BOARD_SIZE, HAND_SIZE, Keyword
from engine.effect_codes import (
    ENEMY,
    MAX_QUEUE,
    OWN,
    CardKind,
    Condition,
    Count,
    GameFeature,
    Op,
    Pick,
    Rule,
    Trait,
    Trigger,
    Until,
)
from engine.effects.auras import apply_auras, count_rules, has_rule
from engine.effects.board import add_to_hand, board_index, has_room, is_dying, remove_minion
from engine.effects.card_filters import needed_features
from engine.effects.chance import draw_outcome
from engine.effects.conditions import (
    condition_holds,
    count_value,
    has_hidden_card,
    total_spell_damage,
)
from engine.effects.damage import (
    any_dying,
    apply_lifesteal,
    damage_hero_and_trigger,
    damage_minion_and_trigger,
    heal_hero_and_trigger,
    heal_minion_and_trigger,
    remove_dead_minions,
    shift_death_places,
    summon_next_to_source,
)
from engine.effects.ops_character import (
    bounce,
    change_hero,
    change_minion,
    grant_effects,
    take_control,
    transform,
)
from engine.effects.ops_player import apply_to_player
from engine.effects.ops_zones import (
    choose_card,
    copy_minion,
    modify_hand_card,
    row_matches,
    shuffle_into_deck,
)
from engine.effects.secrets import ROW_REVEALED, is_secret, reveal, secret_index
from engine.effects.targets import list_candidates, select_targets
from engine.effects.triggers import (
    ACTION_END_EVENTS,
    copy_row,
    fire_trigger,
    forget_listeners,
    promote_triggered,
    queue_deathrattle,
    replace_entity,
    retarget_transformed,
    swap_hero_codes,
)
from engine.indirect_call import njit_indirect
from engine.jit import njit_no_alloc
from engine.state import (
    CARD,
    ENEMY_HERO,
    EVENTS,
    NO_TARGET,
    OWN_HERO,
    STATE,
    TO_HERO,
    TO_MINIONS,
    ZERO_MINION,
)


@njit_no_alloc
def n_matching_in_hand(cards: np.ndarray, side: np.void, effect: np.void) -> int:
    """Number of cards in a hand that match an effect row's card filter."""
    n = 0
    for place in range(side["n_hand"]):
        n += 1 if row_matches(cards, side["hand"][place], effect) else 0
    return n


@njit_no_alloc
def can_have_effect(
    state: np.void, cards: np.ndarray, effect: np.void, queued: np.void, events: np.void
) -> bool:
    """Whether a Secret's row can have an effect; otherwise the Secret stays hidden."""
    pick, op, subject = effect["pick"], effect["op"], int(queued["target"])
    if subject > 0 and (pick == Pick.SUBJECT or op in (Op.REDIRECT, Op.DECOY)):
        seat = 0 if board_index(state["sides"][0], subject) >= 0 else 1
        place = board_index(state["sides"][seat], subject)
        if place < 0 or is_dying(state["sides"][seat]["board"][place]):
            return False
    own = state["sides"][queued["seat"]]
    if op in (Op.SUMMON, Op.COPY, Op.REVIVE, Op.DECOY) and not has_room(own):
        return False
    was_full = events["before"][queued["seat"]]["n_board"] == BOARD_SIZE
    if was_full and op in (Op.SUMMON, Op.COPY) and ACTION_END_EVENTS >> int(effect["trigger"]) & 1:
        return False  # the board was full when the action began
    if op in (Op.ADD, Op.COPY_TO_HAND) and own["n_hand"] == HAND_SIZE:
        return False
    if op in (Op.BUFF_HAND, Op.CHANGE_HAND_COST) and n_matching_in_hand(cards, own, effect) == 0:
        return False
    if pick != Pick.RANDOM:
        return True
    return (
        list_candidates(
            state, effect, queued["seat"], queued["source"], subject, queued["defender"], True, events
        )
        > 0
    )


DAMAGE_OP = int(Op.DAMAGE)


@njit_indirect(STATE, (CARD,), EVENTS)
def resolve_queue(state: np.void, cards: np.ndarray, events: np.void) -> int:
    """Resolve the effect queue and deaths until nothing is left; return 0.

    `state` and `events` are modified in place. An action that lacks chance outcomes stops midway.
    """
    has_triggers = needed_features(cards) & GameFeature.TRIGGERS
    settled = False
    while True:
        while events["first"] < events["last"]:
            settled = False
            queued = events["queue"][events["first"] % MAX_QUEUE]
            events["first"] += 1
            begin = events["last"]
            resolve_effect(state, cards, queued, events)
            forget_listeners(events)
            if events["n_pending_outcomes"]:
                return 0
            if has_triggers:
                promote_triggered(events, begin)
        if not settled:
            apply_auras(state, cards, events)
        for seat in range(2):
            if state["sides"][seat]["health"] <= 0:
                events["dead_heroes"] |= 1 << seat
        if not (events["broken_weapon_bits"] or any_dying(state)):
            return 0
        remove_dead_minions(state, cards, events)
        settled = apply_auras(state, cards, events)


@njit_no_alloc
def resolve_effect(state: np.void, cards: np.ndarray, queued: np.void, events: np.void) -> None:
    """Resolve one queued effect row. `state` and `events` are modified in place."""
    card = cards[queued["card"]]
    effect = card["effects"][queued["row"]]
    seat = queued["seat"]
    condition = effect["condition"]
    if condition == Condition.HOLDS_RACE and events["hides_draws"] and has_hidden_card(state["sides"][seat]):
        events["depends_on_hidden"] = 1
    if (
        queued["is_triggered"] != ROW_REVEALED
        and is_secret(card)
        and effect["trigger"] != Trigger.PLAY
        and queued["own_card"] < 0
    ):
        place = secret_index(state["sides"][seat], queued["source"])
        if place < 0:
            return
        if condition and not _is_condition_met(state, cards, effect, queued, events):
            return
        if effect["op"] == Op.REDIRECT:
            queued["defender"] = swap_hero_codes(
                events["defender"], state["active"] == seat
            )  # may be a decoy by now
        if not can_have_effect(state, cards, effect, queued, events):
            return
        reveal(state, cards, seat, place, queued["row"], events)
        queued["is_triggered"] = ROW_REVEALED
    elif condition and not _is_condition_met(state, cards, effect, queued, events):
        return
    times = 1
    if effect["count"]:
        times = count_value(state, seat, effect["count"], effect["count_arg"], queued)
    pick = effect["pick"]
    if pick == Pick.NONE:
        for side_bit in (OWN, ENEMY):
            if effect["side"] & side_bit:
                apply_to_player(
                    state, cards, effect, times, seat if side_bit == OWN else 1 - seat, queued, events
                )
        return
    bonus = 0
    not_by_minion = queued["own_card"] < 0
    scaled_by_event = effect["count"] == Count.EVENT
    heals = effect["op"] in (Op.HEAL, Op.RESTORE) and has_rule(state, cards, seat, Rule.HEALING_HARMS)
    damages = effect["op"] == Op.DAMAGE or heals
    if card["kind"] == CardKind.SPELL and damages and not_by_minion and not scaled_by_event:
        bonus = total_spell_damage(state["sides"][seat])
        if pick == Pick.CHOSEN:
            bonus *= max(int(effect["times"]), 1)
    doubled = 1
    if (
        not_by_minion
        and effect["op"] in (Op.DAMAGE, Op.HEAL)
        and card["kind"] in (CardKind.SPELL, CardKind.POWER)
    ):
        doubled = 1 << count_rules(state, cards, seat, Rule.SPELLS_DOUBLED, False)
    if pick == Pick.SPLIT:
        _deal_split_damage(state, cards, doubled * (times * effect["amount"] + bonus), effect, queued, events)
        return
    n = select_targets(state, effect, queued, events)
    for place in range(n):
        amount = times * effect["amount"] + bonus
        if effect["op"] == Op.DAMAGE and effect["amount2"] > effect["amount"]:
            amount += draw_outcome(events, effect["amount2"] - effect["amount"] + 1)
        if events["n_pending_outcomes"]:
            return
        amount *= doubled
        amount2 = times * effect["amount2"]
        _on_character(state, cards, effect, amount, amount2, seat, events["selected"][place], queued, events)


@njit_no_alloc
def _is_condition_met(
    state: np.void, cards: np.ndarray, effect: np.void, queued: np.void, events: np.void
) -> bool:
    """Whether an effect row's condition holds; for "after" triggers, also when the action began."""
    seat, condition, arg = queued["seat"], effect["condition"], effect["condition_arg"]
    if not condition_holds(state, cards, seat, condition, arg, queued):
        return False
    if not ACTION_END_EVENTS >> int(effect["trigger"]) & 1:
        return True
    own, enemy = events["before"][seat], events["before"][1 - seat]
    if condition == Condition.ROOM:
        return bool(own["n_board"] < BOARD_SIZE)
    if condition == Condition.EMPTY_HANDED:
        return bool(own["n_hand"] == 0)
    if condition == Condition.HAS_WEAPON:
        return bool(own["armed"])
    if condition == Condition.ENEMY_MINIONS:
        return bool(enemy["n_board"] + 1 >= arg)  # including the minion being played
    return True


@njit_no_alloc
def _deal_split_damage(
    state: np.void, cards: np.ndarray, hits: int, effect: np.void, queued: np.void, events: np.void
) -> None:
    """Deal an effect row's damage one point at a time, each to a random living target. Modified in place.

    Triggered effects of a hit resolve before the remaining hits.
    """
    hits = int(queued["hits_left"]) if queued["hits_left"] else hits
    begin = events["last"]
    while hits > 0:
        n = list_candidates(
            state, effect, queued["seat"], queued["source"], queued["target"], NO_TARGET, True, events
        )
        if n == 0:
            return
        target = events["selected"][draw_outcome(events, n)]
        if events["n_pending_outcomes"]:
            return
        _on_character(state, cards, effect, 1, 0, queued["seat"], target, queued, events)
        hits -= 1
        if events["last"] > begin and hits > 0 and events["last"] - events["first"] < MAX_QUEUE - 1:
            again = events["queue"][events["last"] % MAX_QUEUE]
            events["last"] += 1
            copy_row(again, queued)
            again["hits_left"], again["is_triggered"] = hits, 1
            return


@njit_no_alloc
def _on_character(
    state: np.void,
    cards: np.ndarray,
    effect: np.void,
    amount: int,
    amount2: int,
    seat: int,
    character: int,
    queued: np.void,
    events: np.void,
) -> None:
    """Apply an effect row to one minion or hero that is still in play. `state` is modified in place."""
    op = int(effect["op"])
    heals = op in (Op.HEAL, Op.RESTORE)
    to_full = op == Op.RESTORE
    if heals and has_rule(state, cards, seat, Rule.HEALING_HARMS):
        op = DAMAGE_OP
    full_damage = op == DAMAGE_OP and effect["pick"] != Pick.SELF
    if op == Op.REDIRECT:
        events["defender"] = swap_hero_codes(character, state["active"] == seat)
        return
    if character in (OWN_HERO, ENEMY_HERO):
        hero_seat = seat if character == OWN_HERO else 1 - seat
        side = state["sides"][hero_seat]
        if to_full:
            amount += _to_full(int(side["health"]), int(side["max_health"]), full_damage)
        if op == Op.DAMAGE:
            events["hits"][hero_seat, TO_HERO] += max(amount, 0)
            dealt = damage_hero_and_trigger(state, cards, events, hero_seat, amount, 0)
            _after_damage(state, cards, queued, dealt, dealt > 0, events)
        elif heals:
            heal_hero_and_trigger(state, cards, events, hero_seat, amount)
        elif not events["dead_heroes"] >> hero_seat & 1:
            change_hero(side, effect, amount)
        return
    owner = seat
    place = board_index(state["sides"][seat], character)
    if place < 0:
        owner = 1 - seat
        place = board_index(state["sides"][owner], character)
        if place < 0:
            return
    minion = state["sides"][owner]["board"][place]
    if to_full:
        amount += _to_full(int(minion["health"]), int(minion["max_health"]), full_damage)
    if op == Op.DAMAGE:
        events["hits"][owner, TO_MINIONS] += max(amount, 0)
        keywords = _keywords_of(state, cards, queued)
        is_hit = amount > 0 and not minion["traits"] & Trait.IMMUNE
        dealt = damage_minion_and_trigger(state, cards, events, owner, place, amount, keywords, 0)
        _after_damage(state, cards, queued, dealt, is_hit, events)
    elif op == Op.TARGET_DEALS_DAMAGE:
        _deal_attack_of(state, cards, owner, place, queued["target"], events)
    elif heals:
        heal_minion_and_trigger(state, cards, events, owner, place, amount)
    elif op == Op.TRANSFORM:
        number = choose_card(state, cards, seat, effect, queued, events)
        if not events["n_pending_outcomes"] and number >= 0:
            transform(state, cards, owner, place, number)
            if character == queued["source"]:
                replace_entity(events, character, state["last_entity_id"])
            else:
                retarget_transformed(events, character, state["last_entity_id"])
    elif op == Op.BOUNCE:
        held = state["sides"][owner]["n_hand"]
        bounce(state, owner, place)
        shift_death_places(state, owner, place, character, events)
        if amount and state["sides"][owner]["n_hand"] > held:
            modify_hand_card(state["sides"][owner], held, amount, 0, 0)
    elif op == Op.CONTROL:
        if owner != seat:
            take_control(state, cards, seat, place)
            if effect["until"] == Until.THIS_TURN:
                _borrow(state, seat, character)
            shift_death_places(state, owner, place, character, events)
    elif op in (Op.COPY, Op.COPY_TO_HAND, Op.COPY_TO_DECK, Op.BECOME_COPY, Op.RETURN_TO_DECK):
        _apply_copies(state, cards, effect, owner, place, queued, events)
    elif op == Op.GRANT_EFFECTS:
        grant_effects(minion, cards, effect["amount"], owner != seat)
    elif op == Op.TRIGGER:
        for _ in range(1 + has_rule(state, cards, owner, Rule.DEATHRATTLES_TWICE)):
            queue_deathrattle(cards, minion, owner, -1, events)
    elif op == Op.LOSE_KEYWORDS and minion["keywords"] & effect["keywords"] & Keyword.DIVINE_SHIELD:
        change_minion(minion, cards, effect, amount, amount2)
        fire_trigger(state, cards, events, Trigger.SHIELD_LOST, owner, character, minion["card"], 1)
    elif op == Op.SILENCE and minion["traits"] & Trait.STOLEN:
        change_minion(minion, cards, effect, amount, amount2)
        take_control(state, cards, 1 - owner, place)
        shift_death_places(state, owner, place, character, events)
    else:
        change_minion(minion, cards, effect, amount, amount2)


@njit_no_alloc
def _deal_attack_of(
    state: np.void, cards: np.ndarray, seat: int, place: int, striker: int, events: np.void
) -> None:
    """Deal the attack of the minion `striker` as damage to the minion at `place`. Modified in place."""
    striker_index = board_index(state["sides"][seat], striker)
    if striker_index < 0:
        return
    minion = state["sides"][seat]["board"][striker_index]
    damage, keywords = int(minion["attack"]), int(minion["keywords"])
    events["hits"][seat, TO_MINIONS] += damage
    if damage > 0 and not state["sides"][seat]["board"][place]["traits"] & Trait.IMMUNE:
        minion["keywords"] &= ~Keyword.STEALTH
    dealt = damage_minion_and_trigger(state, cards, events, seat, place, damage, keywords, minion["traits"])
    if dealt > 0 and keywords & Keyword.LIFESTEAL:
        apply_lifesteal(state, cards, events, seat, dealt)


@njit_no_alloc
def _borrow(state: np.void, seat: int, entity_id: int) -> None:
    """Mark a minion just taken over, the last of its board, as borrowed: Charge now, returned at turn end."""
    side = state["sides"][seat]
    if board_index(state["sides"][1 - seat], entity_id) >= 0:
        return  # it stayed: the board was full
    minion = side["board"][side["n_board"] - 1]
    minion["traits"] |= Trait.STOLEN
    if not minion["keywords"] & Keyword.CHARGE:
        minion["traits"] |= Trait.HASTENED
        minion["keywords"] |= Keyword.CHARGE
    minion["attacks_left"] = 2 if minion["keywords"] & Keyword.WINDFURY else 1


@njit_no_alloc
def _apply_copies(
    state: np.void,
    cards: np.ndarray,
    effect: np.void,
    owner: int,
    place: int,
    queued: np.void,
    events: np.void,
) -> None:
    """Apply an effect row that copies or shuffles away the minion at a board index. Modified in place."""
    op, seat = effect["op"], queued["seat"]
    own = state["sides"][seat]
    number = state["sides"][owner]["board"][place]["card"]
    if op == Op.COPY:
        entity_id = state["sides"][owner]["board"][place]["entity_id"]
        index = summon_next_to_source(state, cards, seat, number, False, queued, events)
        place = board_index(state["sides"][owner], entity_id)
        if index >= 0 and place >= 0:
            copy = own["board"][index]
            original = state["sides"][owner]["board"][place]
            copy_minion(copy, original, copy["entity_id"], effect["amount"], effect["amount2"])
    elif op == Op.COPY_TO_HAND:
        for _ in range(effect["times"]):
            hand_before = own["n_hand"]
            add_to_hand(own, number)
            if own["n_hand"] > hand_before:
                change = effect["amount"]
                if effect["amount2"] > 0:
                    change = effect["amount2"] - cards[number]["cost"]
                if change:
                    modify_hand_card(own, hand_before, change, 0, 0)
    elif op == Op.COPY_TO_DECK:
        for _ in range(effect["times"]):
            shuffle_into_deck(own, number, events)
            if events["n_pending_outcomes"]:
                return
    elif op == Op.RETURN_TO_DECK:
        shuffle_into_deck(own if effect["amount"] else state["sides"][owner], number, events)
        if not events["n_pending_outcomes"]:
            remove_minion(state["sides"][owner], place, ZERO_MINION)
    else:
        index = board_index(own, queued["source"])
        if index >= 0:
            state["last_entity_id"] += 1
            copy_minion(
                own["board"][index], state["sides"][owner]["board"][place], state["last_entity_id"], 0, 0
            )
            replace_entity(events, queued["source"], state["last_entity_id"])


@njit_no_alloc
def _keywords_of(state: np.void, cards: np.ndarray, queued: np.void) -> int:
    """Keywords of an effect row's damage: of its minion, alive or as it died; otherwise of its card."""
    if queued["place"] >= 0:
        return int(queued["keywords"])
    side = state["sides"][queued["seat"]]
    place = board_index(side, queued["source"]) if queued["source"] > 0 else -1
    return int(side["board"][place]["keywords"] if place >= 0 else cards[queued["card"]]["keywords"])


@njit_no_alloc
def _to_full(health: int, max_health: int, full_damage: bool) -> int:
    """Amount that heals a character fully; with `full_damage` (inverted healing), the maximum health.

    Source: the Hearthstone Wiki, Stoneskin Gargoyle, which heals itself by the missing health instead.
    """
    return max_health if full_damage else max(max_health - health, 0)


@njit_no_alloc
def _after_damage(
    state: np.void, cards: np.ndarray, queued: np.void, damage: int, is_hit: bool, events: np.void
) -> None:
    """After damage, end the source minion's Stealth and apply Lifesteal. Modified in place."""
    if is_hit and queued["own_card"] >= 0 and queued["place"] < 0:
        side = state["sides"][queued["seat"]]
        place = board_index(side, queued["source"])
        if place >= 0:
            side["board"][place]["keywords"] &= ~Keyword.STEALTH
    if damage > 0 and _keywords_of(state, cards, queued) & Keyword.LIFESTEAL:
        apply_lifesteal(state, cards, events, queued["seat"], damage)
