"""Effect operations on cards in hands, decks, graveyards and Secrets, and copies of minions; compiled."""

import numpy as np

from engine.codes import BOARD_SIZE, COIN, DECK_SIZE, UNKNOWN, UNSEEN, Keyword
from engine.effect_codes import (
    EVENT_CARD,
    MAX_GRANTED_EFFECTS,
    MAX_JADE_GOLEM,
    MAX_QUEUE,
    OWN_CARD,
    POOL,
    Filter,
    Op,
    Trait,
    Trigger,
)
from engine.effects.board import add_to_hand, board_index, has_room, remove_modified_from_hand
from engine.effects.card_filters import card_list_item, card_list_of, card_list_size, card_matches
from engine.effects.chance import draw_outcome
from engine.effects.damage import shift_death_places, summon_next_to_source
from engine.effects.ops_character import add_stats, bounce, is_ready, set_attack, set_health
from engine.effects.secrets import add_secret, can_add_secret, is_secret, remove_secret
from engine.effects.targets import is_on_board, n_not_on_board
from engine.effects.triggers import fire_trigger, queue_rows
from engine.jit import njit_no_alloc
from engine.state import NO_CHARACTER, NO_TARGET

MAX_HAND_MODIFIER = 127
"""Largest absolute modifier of a card in hand."""

NOT_COPIED = Trait.DOOMED | Trait.STOLEN | Trait.HASTENED
"""Traits that a copy of a minion does not inherit."""


@njit_no_alloc
def choose_card(
    state: np.void, cards: np.ndarray, seat: int, effect: np.void, queued: np.void, events: np.void
) -> int:
    """Card number of an effect row's card, or of a random card of the row's pool.

    `Filter.NOT_ON_BOARD` excludes cards on the board.

    -1 if there is none; 0 if the action stops at this chance event.
    """
    first, last = effect["amount"], effect["amount2"]
    if first == OWN_CARD:
        return int(queued["own_card"])
    if first == EVENT_CARD:
        return int(queued["event_card"])
    if first == POOL:
        own, enemy = state["sides"][queued["seat"]], state["sides"][1 - queued["seat"]]
        pool = card_list_of(effect, own["hero_class"], enemy["hero_class"])
        n = card_list_size(cards, pool)
        chosen = draw_outcome(events, n)
        return -1 if n == 0 else card_list_item(cards, pool, chosen)
    if last <= first:
        return int(first)
    if not effect["filter"] & Filter.NOT_ON_BOARD:
        return int(cards[first + draw_outcome(events, last - first + 1)]["number"])
    side = state["sides"][seat]
    left = draw_outcome(events, n_not_on_board(cards, side, effect))
    for place in range(first, last + 1):
        number = cards[place]["number"]
        if not is_on_board(side, number):
            if left == 0:
                return int(number)
            left -= 1
    return -1


@njit_no_alloc
def add_hidden_cards(side: np.void, n: int, events: np.void) -> None:
    """Add cards hidden from a planning agent to a hand. `side` and `events` are modified in place."""
    events["depends_on_hidden"] = 1
    for _ in range(n):
        add_to_hand(side, UNSEEN)


@njit_no_alloc
def find_random_card(cards: np.ndarray, zone: np.ndarray, n: int, effect: np.void, events: np.void) -> int:
    """Index of a random card among the first `n` of a hand or deck that matches an effect row; -1 for none.

    Also -1 if the action stops at this chance event.
    """
    n_matches = 0
    for place in range(n):
        if row_matches(cards, zone[place], effect):
            n_matches += 1
        elif zone[place] < COIN:
            events["depends_on_hidden"] = 1
    if n_matches == 0:
        return -1
    left = draw_outcome(events, n_matches)
    if events["n_pending_outcomes"]:
        return -1
    for place in range(n):
        if row_matches(cards, zone[place], effect):
            if left == 0:
                return place
            left -= 1
    return -1


@njit_no_alloc
def row_matches(cards: np.ndarray, number: int, effect: np.void) -> bool:
    """Whether a card matches an effect row's card filter; hidden cards never match."""
    return number >= 0 and card_matches(
        cards[number], effect["of_kind"], effect["of_filter"], effect["of_arg"]
    )


@njit_no_alloc
def remove_from_deck(side: np.void, place: int) -> int:
    """Remove a card from a deck; return its card number. `side` is modified in place."""
    number = side["deck"][place]
    side["n_deck"] -= 1
    for following in range(place, side["n_deck"]):
        side["deck"][following] = side["deck"][following + 1]
    side["deck"][side["n_deck"]] = 0
    return int(number)


@njit_no_alloc
def shuffle_into_deck(side: np.void, number: int, events: np.void) -> None:
    """Shuffle a card into a deck; for a planning agent, put it at the bottom. Modified in place."""
    if side["n_deck"] == DECK_SIZE:
        return
    place = 0 if events["hides_draws"] else draw_outcome(events, side["n_deck"] + 1)
    if events["n_pending_outcomes"]:
        return
    for following in range(side["n_deck"], place, -1):
        side["deck"][following] = side["deck"][following - 1]
    side["deck"][place] = number
    side["n_deck"] += 1


@njit_no_alloc
def draw_matching(state: np.void, cards: np.ndarray, effect: np.void, seat: int, events: np.void) -> None:
    """Draw a random card that matches an effect row; a planning agent cannot see it. Modified in place."""
    side = state["sides"][seat]
    if events["hides_draws"]:
        found = False
        for place in range(side["n_deck"]):
            found = found or row_matches(cards, side["deck"][place], effect)
        if not found:
            return
        remove_from_deck(side, side["n_deck"] - 1)
        number = UNKNOWN
    else:
        place = find_random_card(cards, side["deck"], side["n_deck"], effect, events)
        if place < 0:
            return
        number = remove_from_deck(side, place)
    hand_before = side["n_hand"]
    add_to_hand(side, number)
    if side["n_hand"] > hand_before:
        fire_trigger(state, cards, events, Trigger.DRAWN, seat, NO_CHARACTER, max(number, -1), 1)


@njit_no_alloc
def modify_hand_card(side: np.void, place: int, cost: int, attack: int, health: int) -> None:
    """Change the cost, attack and health modifiers of a card in hand. `side` is modified in place."""
    modifier = side["hand_modifiers"][place]
    modifier["cost"] = min(max(modifier["cost"] + cost, -MAX_HAND_MODIFIER), MAX_HAND_MODIFIER)
    modifier["attack"] = min(max(modifier["attack"] + attack, -MAX_HAND_MODIFIER), MAX_HAND_MODIFIER)
    modifier["health"] = min(max(modifier["health"] + health, -MAX_HAND_MODIFIER), MAX_HAND_MODIFIER)


@njit_no_alloc
def modify_hand(
    cards: np.ndarray, side: np.void, effect: np.void, amount: int, amount2: int, events: np.void
) -> None:
    """Modify all, or random different, cards in hand that match an effect row. Modified in place."""
    cost_only = effect["op"] == Op.CHANGE_HAND_COST
    taken = 0
    n_matches = 0
    for place in range(side["n_hand"]):
        n_matches += 1 if row_matches(cards, side["hand"][place], effect) else 0
    times = n_matches if effect["times"] == 0 else min(int(effect["times"]), n_matches)
    for n in range(times):
        left = 0 if effect["times"] == 0 else draw_outcome(events, n_matches - n)
        if events["n_pending_outcomes"]:
            return
        for place in range(side["n_hand"]):
            if taken >> place & 1 or not row_matches(cards, side["hand"][place], effect):
                continue
            if left == 0:
                taken |= 1 << place
                if cost_only:
                    modify_hand_card(side, place, amount, 0, 0)
                else:
                    modify_hand_card(side, place, 0, amount, amount2)
                break
            left -= 1


@njit_no_alloc
def copy_minion(to: np.void, minion: np.void, entity_id: int, attack: int, health: int) -> None:
    """Copy a minion without its aura bonuses, as just summoned. `to` is modified in place.

    Args:
        to: the copy, dtype `MINION`.
        minion: the original.
        entity_id: entity id of the copy.
        attack: attack of the copy; 0 for that of the original.
        health: health of the copy; 0 for that of the original.
    """
    to["card"], to["race"] = minion["card"], minion["race"]
    to["attack"] = minion["attack"] - minion["aura_attack"]
    to["turn_attack"] = minion["turn_attack"]
    to["max_health"] = minion["max_health"] - minion["aura_health"]
    to["health"] = to["max_health"] - max(minion["max_health"] - minion["health"], 0)
    to["keywords"] = minion["keywords"] & ~minion["aura_keywords"]
    to["traits"] = minion["traits"] & ~NOT_COPIED
    to["spell_damage"] = minion["spell_damage"]
    for n in range(MAX_GRANTED_EFFECTS):
        to["granted_effects"][n] = minion["granted_effects"][n]
    to["aura_attack"] = 0
    to["aura_health"] = 0
    to["aura_keywords"] = 0
    to["entity_id"] = entity_id
    to["arrived"] = 1
    to["attacks_left"] = 0
    if is_ready(to):
        to["attacks_left"] = 2 if to["keywords"] & Keyword.WINDFURY else 1
    if attack > 0:
        set_attack(to, attack)
    if health > 0:
        set_health(to, health)


@njit_no_alloc
def apply_to_cards(
    state: np.void,
    cards: np.ndarray,
    effect: np.void,
    count: int,
    seat: int,
    queued: np.void,
    events: np.void,
) -> None:
    """Apply an effect row that summons, adds, shuffles or discards cards; arguments as `apply_to_player`."""
    side = state["sides"][seat]
    op, times = effect["op"], count * int(effect["times"])
    if op == Op.DISCARD:
        n = times if times > 0 else int(side["n_hand"])
        for _ in range(min(n, int(side["n_hand"]))):
            place = draw_outcome(events, side["n_hand"]) if n < side["n_hand"] or times else 0
            if events["n_pending_outcomes"]:
                return
            number = remove_modified_from_hand(side, place, cards)
            fire_trigger(state, cards, events, Trigger.DISCARDED, seat, NO_CHARACTER, max(number, -1), 1)
            if number >= 0 and cards[number]["trigger_bits"] >> Trigger.DISCARDED_ITSELF & 1:
                begin = events["last"]
                queue_rows(cards, number, Trigger.DISCARDED_ITSELF, seat, number, -1, -1, NO_TARGET, events)
                for row in range(begin, events["last"]):
                    events["queue"][row % MAX_QUEUE]["is_triggered"] = 1
        return
    source_place = (
        board_index(side, queued["source"]) if op == Op.ADD and effect["amount"] == OWN_CARD else -1
    )
    if source_place >= 0:
        bounce(state, seat, source_place)
        shift_death_places(state, seat, source_place, queued["source"], events)
        return
    if op == Op.RESURRECT:
        _resurrect(state, cards, effect, times, seat, queued, events)
        return
    if op == Op.ADD and events["hides_draws"] and (effect["amount"] == POOL or effect["amount2"] > 0):
        add_hidden_cards(side, times, events)
        return
    for n in range(times):
        if op in (Op.RECRUIT, Op.SUMMON_FROM_HAND, Op.SUMMON_COPY_FROM_DECK):
            left = effect["trigger"] == Trigger.PLAY and n % 2 == 1
            if not _summon_from_zone(state, cards, effect, seat, left, queued, events):
                return
            continue
        if op == Op.JADE:
            number = int(effect["amount"]) + min(int(side["jade"]), MAX_JADE_GOLEM - 1)
            side["jade"] = min(int(side["jade"]) + 1, MAX_JADE_GOLEM)
        else:
            number = choose_card(state, cards, seat, effect, queued, events)
        copies_event_card = op == Op.ADD and effect["amount"] == EVENT_CARD  # The Coin has no card number
        if events["n_pending_outcomes"] or (number < 0 and not copies_event_card):
            return
        if op in (Op.SUMMON, Op.JADE):
            left = effect["trigger"] == Trigger.PLAY and n % 2 == 1
            summon_next_to_source(state, cards, seat, number, left, queued, events)
        elif op == Op.SHUFFLE:
            shuffle_into_deck(side, number, events)
            if events["n_pending_outcomes"]:
                return
        else:
            add_to_hand(side, number)


@njit_no_alloc
def apply_to_secrets(
    state: np.void, cards: np.ndarray, effect: np.void, seat: int, queued: np.void, events: np.void
) -> None:
    """Apply an effect row that summons a decoy, destroys Secrets or plays them from the deck."""
    side = state["sides"][seat]
    op = effect["op"]
    if op == Op.DESTROY_SECRETS:
        while side["n_secrets"] > 0:
            remove_secret(side, side["n_secrets"] - 1)
    elif op == Op.DECOY:
        number = choose_card(state, cards, seat, effect, queued, events)
        if events["n_pending_outcomes"] or number < 0:
            return
        to = summon_next_to_source(state, cards, seat, number, False, queued, events)
        if to >= 0:
            events["decoy"] = side["board"][to]["entity_id"]
            if events["defender"] != NO_TARGET:
                events["defender"] = events["decoy"]
    else:
        for _ in range(effect["times"] if effect["times"] else side["n_deck"]):
            n_candidates = 0
            for place in range(side["n_deck"]):
                n_candidates += 1 if _is_playable_secret(cards, side, place) else 0
            if n_candidates == 0:
                return
            left = draw_outcome(events, n_candidates) if effect["times"] else 0
            if events["n_pending_outcomes"]:
                return
            for place in range(side["n_deck"]):
                if not _is_playable_secret(cards, side, place):
                    continue
                if left == 0:
                    add_secret(state, seat, remove_from_deck(side, place))
                    break
                left -= 1


@njit_no_alloc
def _is_playable_secret(cards: np.ndarray, side: np.void, place: int) -> bool:
    """Whether a deck card is a Secret that may be put into play."""
    number = side["deck"][place]
    return number >= 0 and is_secret(cards[number]) and can_add_secret(side, number)


@njit_no_alloc
def _resurrect(
    state: np.void,
    cards: np.ndarray,
    effect: np.void,
    times: int,
    seat: int,
    queued: np.void,
    events: np.void,
) -> None:
    """Resurrect minions of the graveyard, each at most once. `state` is modified in place.

    0 times: all, in the order of their deaths; random ones if there is not enough room.
    """
    side = state["sides"][seat]
    taken = events["taken"]
    taken[:] = 0
    dead = 0
    for place in range(side["n_graveyard"]):
        dead += 1 if row_matches(cards, side["graveyard"][place], effect) else 0
    all_fit = effect["times"] == 0 and dead <= BOARD_SIZE - side["n_board"]
    n_summons = dead if effect["times"] == 0 else times
    for n in range(n_summons):
        n_candidates = 0
        for place in range(side["n_graveyard"]):
            n_candidates += (
                1 if not taken[place] and row_matches(cards, side["graveyard"][place], effect) else 0
            )
        if n_candidates == 0 or not has_room(side):
            return
        left = 0 if all_fit else draw_outcome(events, n_candidates)
        if events["n_pending_outcomes"]:
            return
        for place in range(side["n_graveyard"]):
            if taken[place] or not row_matches(cards, side["graveyard"][place], effect):
                continue
            if left == 0:
                taken[place] = 1
                left_of = effect["trigger"] == Trigger.PLAY and n % 2 == 1
                summon_next_to_source(
                    state, cards, seat, int(side["graveyard"][place]), left_of, queued, events
                )
                break
            left -= 1


@njit_no_alloc
def _summon_from_zone(
    state: np.void,
    cards: np.ndarray,
    effect: np.void,
    seat: int,
    left: bool,
    queued: np.void,
    events: np.void,
) -> bool:
    """Summon a random minion from a hand or deck, or a copy of one; return whether the row continues."""
    side = state["sides"][seat]
    if effect["op"] == Op.SUMMON_COPY_FROM_DECK:
        place = find_random_card(cards, side["deck"], side["n_deck"], effect, events)
        if place < 0:
            return False
        own = queued["seat"]
        number = side["deck"][place]
        to = summon_next_to_source(state, cards, own, number, left, queued, events)
        if to >= 0 and effect["amount"] > 0:
            set_attack(state["sides"][own]["board"][to], effect["amount"])
            set_health(state["sides"][own]["board"][to], effect["amount2"])
        return True
    if not has_room(side):
        return False
    if effect["op"] == Op.RECRUIT:
        place = find_random_card(cards, side["deck"], side["n_deck"], effect, events)
        if place >= 0:
            summon_next_to_source(state, cards, seat, remove_from_deck(side, place), left, queued, events)
        return place >= 0
    place = find_random_card(cards, side["hand"], side["n_hand"], effect, events)
    if place < 0:
        return False
    attack, health = side["hand_modifiers"][place]["attack"], side["hand_modifiers"][place]["health"]
    to = summon_next_to_source(
        state, cards, seat, remove_modified_from_hand(side, place, cards), left, queued, events
    )
    if to >= 0:
        add_stats(side["board"][to], attack, health)
    return True


@njit_no_alloc
def copy_into_hand(
    state: np.void,
    cards: np.ndarray,
    effect: np.void,
    count: int,
    seat: int,
    queued: np.void,
    events: np.void,
) -> None:
    """Copy random cards of a deck or hand, each at most once, into the hand of the effect row's player."""
    side, own = state["sides"][seat], state["sides"][queued["seat"]]
    if events["hides_draws"]:
        n_cards = int(side["n_deck"]) if effect["op"] == Op.COPY_FROM_DECK else int(side["n_hand"])
        add_hidden_cards(own, min(count * int(effect["times"]), n_cards), events)
        return
    taken = 0
    from_deck = effect["op"] == Op.COPY_FROM_DECK
    for _ in range(count * int(effect["times"])):
        n = int(side["n_deck"]) if from_deck else int(side["n_hand"])
        n_candidates = 0
        for place in range(n):
            number = side["deck"][place] if from_deck else side["hand"][place]
            n_candidates += 1 if not taken >> place & 1 and row_matches(cards, number, effect) else 0
        if n_candidates == 0:
            return
        left = draw_outcome(events, n_candidates)
        if events["n_pending_outcomes"]:
            return
        for place in range(n):
            number = side["deck"][place] if from_deck else side["hand"][place]
            if taken >> place & 1 or not row_matches(cards, number, effect):
                continue
            if left == 0:
                taken |= 1 << place
                n_cards = own["n_hand"]
                add_to_hand(own, number)
                if not from_deck and own["n_hand"] > n_cards:
                    own["hand_modifiers"][n_cards] = side["hand_modifiers"][place]
                break
            left -= 1
