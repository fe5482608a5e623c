"""The effect queue, and the triggers of cards in play that fill it; compiled."""

import numpy as np

from engine.codes import BOARD_SIZE
from engine.effect_codes import (
    ENEMY,
    GRANTED_BY_OPPONENT,
    HEROES,
    MAX_QUEUE,
    ONLY_ITSELF,
    ONLY_OTHERS,
    OWN,
    TRIGGER_SHIFT,
    CardFilter,
    Trait,
    Trigger,
)
from engine.effects.card_filters import card_matches, kind_bit, needed_features
from engine.indirect_call import njit_indirect
from engine.jit import njit_no_alloc
from engine.state import A_HERO, CARD, ENEMY_HERO, EVENTS, NO_CHARACTER, NO_TARGET, OWN_HERO, STATE


@njit_no_alloc
def queue_row(
    events: np.void, number: int, row: int, seat: int, itself: int, entity_id: int, place: int, target: int
) -> bool:
    """Queue one effect row of card `number`; return False if the queue is full. Arguments as `queue_rows`."""
    if events["last"] - events["first"] >= MAX_QUEUE - 1:
        return False
    queued = events["queue"][events["last"] % MAX_QUEUE]
    events["last"] += 1
    queued["card"] = number
    queued["row"] = row
    queued["seat"] = seat
    queued["own_card"] = itself
    queued["source"] = entity_id
    queued["place"] = place
    queued["place_before_deaths"] = place
    queued["target"] = target
    queued["defender"] = NO_TARGET
    queued["event_card"] = -1
    queued["amount"] = 0
    queued["keywords"] = 0
    queued["hits_left"] = 0
    queued["is_triggered"] = 0
    return True


@njit_no_alloc
def queue_rows(
    cards: np.ndarray,
    number: int,
    trigger: int,
    seat: int,
    itself: int,
    entity_id: int,
    place: int,
    target: int,
    events: np.void,
) -> None:
    """Queue a card's effect rows with one trigger. `events` is modified in place.

    Args:
        cards: the card table.
        number: card number.
        trigger: a `Trigger`.
        seat: the rows' player.
        itself: card number of the rows' own minion; -1 for none.
        entity_id: entity id of that minion; -1 for none.
        place: its last board index if it is dead; otherwise -1.
        target: entity id, `OWN_HERO`, `ENEMY_HERO` or `NO_TARGET`.
        events: dtype `EVENTS`.
    """
    card = cards[number]
    for row in range(card["n_effects"]):
        if card["effects"][row]["trigger"] == trigger:
            queue_row(events, number, row, seat, itself, entity_id, place, target)


@njit_no_alloc
def queue_deathrattle(cards: np.ndarray, minion: np.void, seat: int, place: int, events: np.void) -> None:
    """Queue the printed and granted Deathrattles of a minion; `place` is -1 for a minion that is alive.

    Their amount is the minion's attack, and their damage has its keywords. `events` is modified in place.
    """
    itself, entity_id = minion["card"], minion["entity_id"]
    begin = events["last"]
    if cards[itself]["n_effects"] and not minion["traits"] & Trait.SILENCED:
        queue_rows(cards, itself, Trigger.DEATHRATTLE, seat, itself, entity_id, place, NO_TARGET, events)
    for n in range(len(minion["granted_effects"])):
        if minion["granted_effects"][n]:
            gift = (minion["granted_effects"][n] & ~GRANTED_BY_OPPONENT) - 1
            queue_rows(cards, gift, Trigger.DEATHRATTLE, seat, itself, entity_id, place, NO_TARGET, events)
    for n in range(begin, events["last"]):
        events["queue"][n % MAX_QUEUE]["amount"] = minion["attack"]
        events["queue"][n % MAX_QUEUE]["keywords"] = minion["keywords"]


@njit_no_alloc
def sort_by_entity_id(events: np.void, begin: int, end: int) -> None:
    """Sort queued rows from `begin` to `end` by their source's order of play; stable. Modified in place."""
    queue = events["queue"]
    for n in range(begin + 1, end):
        m = n
        while m > begin and queue[(m - 1) % MAX_QUEUE]["source"] > queue[n % MAX_QUEUE]["source"]:
            m -= 1
        _move(events, n, m)


@njit_no_alloc
def promote_triggered(events: np.void, begin: int) -> None:
    """Move the triggered effects queued since `begin` before older queued rows. Modified in place."""
    front = events["first"]
    if front == begin:
        return
    for n in range(begin, events["last"]):
        if events["queue"][n % MAX_QUEUE]["is_triggered"]:
            _move(events, n, front)
            front += 1


@njit_no_alloc
def move_rows_forward(events: np.void, begin: int, to: int) -> None:
    """Move the rows queued since `begin` to queue index `to`, in their order. Modified in place."""
    for n in range(begin, events["last"]):
        _move(events, n, to + n - begin)


@njit_no_alloc
def copy_row(to: np.void, queued: np.void) -> None:
    """Copy a queued row. `to` is modified in place."""
    to["card"], to["row"], to["seat"] = queued["card"], queued["row"], queued["seat"]
    to["own_card"], to["source"] = queued["own_card"], queued["source"]
    to["place"], to["place_before_deaths"] = queued["place"], queued["place_before_deaths"]
    to["target"], to["defender"] = queued["target"], queued["defender"]
    to["event_card"], to["amount"], to["keywords"] = (
        queued["event_card"],
        queued["amount"],
        queued["keywords"],
    )
    to["hits_left"], to["is_triggered"] = queued["hits_left"], queued["is_triggered"]


@njit_no_alloc
def _move(events: np.void, n: int, m: int) -> None:
    """Move the queued row at index `n` forward to index `m`. `events` is modified in place."""
    if n == m:
        return
    queue = events["queue"]
    events["spare"][0] = queue[n % MAX_QUEUE]
    for later in range(n, m, -1):
        queue[later % MAX_QUEUE] = queue[(later - 1) % MAX_QUEUE]
    queue[m % MAX_QUEUE] = events["spare"][0]


assert BOARD_SIZE + 1 < MAX_QUEUE


@njit_no_alloc
def retarget_transformed(events: np.void, old: int, new: int) -> None:
    """Retarget triggered effects about a transformed minion to its new entity id. Modified in place.

    Rows that were played with it as target miss.
    """
    for n in range(events["first"], events["last"]):
        queued = events["queue"][n % MAX_QUEUE]
        if queued["is_triggered"] and queued["target"] == old:
            queued["target"] = new
        if queued["is_triggered"] and queued["defender"] == old:
            queued["defender"] = new


@njit_no_alloc
def replace_entity(events: np.void, old: int, new: int) -> None:
    """Replace the entity id of a minion that transformed itself in all queued rows. Modified in place."""
    for n in range(events["first"], events["last"]):
        queued = events["queue"][n % MAX_QUEUE]
        if queued["source"] == old:
            queued["source"] = new
        if queued["target"] == old:
            queued["target"] = new
        if queued["defender"] == old:
            queued["defender"] = new
    if events["played"] == old:
        events["played"] = new


COST_EVENTS = sum(1 << t for t in (Trigger.PLAYED, Trigger.CAST, Trigger.AFTER_CAST, Trigger.AFTER_PLAYED))
"""Bits of the triggers whose event amount is the cost paid for the card."""

ACTION_END_EVENTS = sum(
    1 << t for t in (Trigger.AFTER_CAST, Trigger.AFTER_PLAYED, Trigger.AFTER_ATTACK, Trigger.POWER_USED)
)
"""Bits of the "after" triggers that end an action: only cards in play when it began can trigger.

Rule since patch 9.2 of Hearthstone. `AFTER_SUMMONED` counts for the minion that was played.
"""

ACTION_END_FEATURES = (ACTION_END_EVENTS | 1 << Trigger.AFTER_SUMMONED) << TRIGGER_SHIFT
"""Bits of `game_features` that need the state before an action saved."""


@njit_no_alloc
def any_card_has_trigger(cards: np.ndarray, trigger: int) -> bool:
    """Whether any card of the game has this trigger."""
    return bool(needed_features(cards) >> (TRIGGER_SHIFT + trigger) & 1)


@njit_no_alloc
def fire_trigger(
    state: np.void,
    cards: np.ndarray,
    events: np.void,
    trigger: int,
    seat: int,
    subject: int,
    number: int,
    amount: int,
) -> None:
    """Fire a trigger: queue its effects by the sources' order of play, weapons last. Modifies `events`.

    Args:
        state: dtype `STATE`.
        cards: the card table.
        events: dtype `EVENTS`.
        trigger: the event, a `Trigger`.
        seat: the affected player, or the card's player.
        subject: entity id of the subject, `A_HERO` or `NO_CHARACTER`.
        number: card number of the subject or of the event's card; -1 for none.
        amount: damage, health, cost and the like.
    """
    if any_card_has_trigger(cards, trigger) and _has_listener(state, cards, events, trigger):
        _queue_triggered(state, cards, events, trigger, seat, subject, number, amount)


@njit_no_alloc
def _has_listener(state: np.void, cards: np.ndarray, events: np.void, trigger: int) -> bool:
    """Whether a card in play may have this trigger: False in nearly all cases, and then nothing is queued.

    The triggers of minions and Secrets in play are kept in `events` until another comes into play, or an
    effect row has been resolved (`forget_listeners`); cards that have left play stay counted until then.
    """
    if events["listeners_id"] != state["last_entity_id"]:
        events["listeners"] = _listening_triggers(state, cards)
        events["listeners_id"] = state["last_entity_id"]
    if events["listeners"] >> trigger & 1:
        return True
    for seat in range(2):
        side = state["sides"][seat]
        if side["durability"] > 0 and cards[side["weapon"]]["trigger_bits"] >> trigger & 1:
            return True
    return False


@njit_indirect(STATE, (CARD,))
def _listening_triggers(state: np.void, cards: np.ndarray) -> int:
    """Bits of the triggers that minions and Secrets in play have; all bits if one has granted effects."""
    found = 0
    for seat in range(2):
        side = state["sides"][seat]
        for place in range(side["n_board"]):
            minion = side["board"][place]
            found |= -1 if minion["granted_effects"][0] else int(cards[minion["card"]]["trigger_bits"])
        for place in range(side["n_secrets"]):
            number = side["secrets"][place]
            found |= int(cards[number]["trigger_bits"]) if number >= 0 else 0
    return found


@njit_no_alloc
def forget_listeners(events: np.void) -> None:
    """Forget which triggers cards in play have, as they may have changed. `events` is modified in place."""
    events["listeners_id"] = -1


@njit_indirect(STATE, (CARD,), EVENTS, int, int, int, int, int)
def _queue_triggered(
    state: np.void,
    cards: np.ndarray,
    events: np.void,
    trigger: int,
    seat: int,
    subject: int,
    number: int,
    amount: int,
) -> int:
    """Queue the effects of a trigger that a card of the game has; return 0. Arguments as `fire_trigger`."""
    event = events["event"]
    event["trigger"], event["seat"], event["subject"] = trigger, seat, subject
    event["event_card"], event["amount"] = number, amount
    begin = events["last"]
    ends_action = ACTION_END_EVENTS >> trigger & 1 or (
        trigger == Trigger.AFTER_SUMMONED and subject > 0 and subject == events["played"]
    )
    max_entity_id = events["last_entity_id"] if ends_action else np.iinfo(np.int16).max
    for own_seat in range(2):
        side = state["sides"][own_seat]
        for place in range(side["n_board"]):
            minion = side["board"][place]
            has_trigger = cards[minion["card"]]["trigger_bits"] >> trigger & 1 or minion["granted_effects"][0]
            if has_trigger and minion["traits"] & Trait.ACTS and minion["entity_id"] <= max_entity_id:
                queue_minion_triggers(state, cards, events, minion, own_seat)
        # Secrets trigger only in the opponent's turn, except at the start of a turn.
        for place in range(side["n_secrets"]):
            number = side["secrets"][place]
            is_active = number >= 0 and side["secret_entity_ids"][place] <= max_entity_id
            if is_active and (state["active"] != own_seat or trigger == Trigger.TURN_START):
                queue_card_triggers(
                    state, cards, events, number, -1, own_seat, side["secret_entity_ids"][place]
                )
    sort_by_entity_id(events, begin, events["last"])
    for own_seat in range(2):
        side = state["sides"][own_seat]
        is_active = side["durability"] > 0 and (not ends_action or events["before"][own_seat]["same_weapon"])
        if is_active and cards[side["weapon"]]["trigger_bits"] >> trigger & 1:
            queue_card_triggers(state, cards, events, side["weapon"], -1, own_seat, NO_CHARACTER)
    return 0


@njit_no_alloc
def queue_minion_triggers(
    state: np.void, cards: np.ndarray, events: np.void, minion: np.void, own_seat: int
) -> None:
    """Queue a minion's printed and granted rows that the current event triggers. Modified in place."""
    own, entity_id = minion["card"], minion["entity_id"]
    if not minion["traits"] & Trait.SILENCED:
        queue_card_triggers(state, cards, events, own, own, own_seat, entity_id)
    for n in range(len(minion["granted_effects"])):
        if minion["granted_effects"][n]:
            gift = minion["granted_effects"][n]
            owner_seat = 1 - own_seat if gift & GRANTED_BY_OPPONENT else own_seat
            queue_card_triggers(
                state, cards, events, (gift & ~GRANTED_BY_OPPONENT) - 1, own, owner_seat, entity_id
            )


@njit_no_alloc
def queue_card_triggers(
    state: np.void,
    cards: np.ndarray,
    events: np.void,
    listener: int,
    itself: int,
    own_seat: int,
    entity_id: int,
) -> None:
    """Queue one card's rows that the current event triggers. `events` is modified in place."""
    event = events["event"]
    trigger = event["trigger"]
    card = cards[listener]
    if not card["trigger_bits"] >> trigger & 1:
        return
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        if effect["trigger"] != trigger or not _is_triggered_by(cards, effect, own_seat, entity_id, event):
            continue
        target = event["subject"] if event["subject"] > 0 else NO_TARGET
        if event["subject"] == A_HERO:
            target = OWN_HERO if event["seat"] == own_seat else ENEMY_HERO
        if not queue_row(events, listener, row, own_seat, itself, entity_id, -1, target):
            return
        queued = events["queue"][(events["last"] - 1) % MAX_QUEUE]
        queued["defender"] = swap_hero_codes(events["defender"], own_seat == state["active"])
        queued["event_card"] = event["event_card"]
        queued["amount"] = event["amount"]
        queued["is_triggered"] = 1


@njit_no_alloc
def _is_triggered_by(
    cards: np.ndarray, effect: np.void, own_seat: int, entity_id: int, event: np.void
) -> bool:
    """Whether an event triggers an effect row: its player, subject and card match."""
    side, subject, number = effect["on_side"], event["subject"], event["event_card"]
    if not side & (OWN if event["seat"] == own_seat else ENEMY):
        return False
    if side & ONLY_ITSELF and subject != entity_id:
        return False
    if side & ONLY_OTHERS and subject == entity_id:
        return False
    kinds = effect["on_kind"]
    if subject == A_HERO:
        return bool(kinds == 0 or kinds & HEROES)
    if number < 0:
        return bool(kinds == 0 and effect["on_filter"] == 0)
    if kinds and not kind_bit(cards[number]["kind"]) & kinds:
        return False
    required, arg = effect["on_filter"], effect["on_arg"]
    if required & CardFilter.COST and COST_EVENTS >> event["trigger"] & 1:
        if event["amount"] != arg:
            return False
        required &= ~CardFilter.COST
    return card_matches(cards[number], 0, required, arg)


@njit_no_alloc
def swap_hero_codes(character: int, active: bool) -> int:
    """Translate a character from the active player's view: for the opponent the hero codes are swapped."""
    if active or character not in (OWN_HERO, ENEMY_HERO):
        return int(character)
    return ENEMY_HERO if character == OWN_HERO else OWN_HERO
