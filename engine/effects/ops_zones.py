"""Effect operations on cards in hands, decks, graveyards and Secrets, and copies of minions; compiled."""

import numpy as np

from engine.codes import BOARD_SIZE, COIN, DECK_SIZE, UNKNOWN, UNSEEN, Keyword
from engine.effect_codes import (
    EVENT_CARD,
    ITSELF,
    MAX_GIFTS,
    MAX_QUEUE,
    MOST_JADE,
    POOL,
    Filter,
    Op,
    Trait,
    Trigger,
)
from engine.effects.board import has_room, lose_held, place_of, take_card
from engine.effects.card_filters import is_asked, list_of, listed, n_listed
from engine.effects.chance import chosen_of
from engine.effects.damage import close_gap, summon_beside
from engine.effects.ops_character import bounce, may_act, set_attack, set_health, strengthen
from engine.effects.secrets import hide, is_secret, lose_secret, may_hide
from engine.effects.targets import n_new, stands
from engine.effects.triggers import announce, queue_rows
from engine.jit import njit_borrowing
from engine.state import NO_ONE, NO_TARGET

MAX_HELD = 127
"""Largest absolute modifier of a card in hand."""

NOT_COPIED = Trait.DOOMED | Trait.STOLEN | Trait.HASTENED
"""Traits that a copy of a minion does not inherit."""


@njit_borrowing
def from_pool(
    state: np.void, cards: np.ndarray, seat: int, effect: np.void, queued: np.void, events: np.void
) -> int:
    """Card number of a row's card, or of a random card of its pool; `Filter.NEW` excludes cards on the board.

    -1 if there is none; 0 if the action stops at this chance event.
    """
    first, last = effect["amount"], effect["amount2"]
    if first == ITSELF:
        return int(queued["itself"])
    if first == EVENT_CARD:
        return int(queued["about"])
    if first == POOL:
        own, enemy = state["sides"][queued["seat"]], state["sides"][1 - queued["seat"]]
        pool = list_of(effect, own["hero_class"], enemy["hero_class"])
        n = n_listed(cards, pool)
        chosen = chosen_of(events, n)
        return -1 if n == 0 else listed(cards, pool, chosen)
    if last <= first:
        return int(first)
    if not effect["filter"] & Filter.NEW:
        return int(cards[first + chosen_of(events, last - first + 1)]["number"])
    side = state["sides"][seat]
    left = chosen_of(events, n_new(cards, side, effect))
    for place in range(first, last + 1):
        number = cards[place]["number"]
        if not stands(side, number):
            if left == 0:
                return int(number)
            left -= 1
    return -1


@njit_borrowing
def take_unseen(side: np.void, n: int, events: np.void) -> None:
    """Add cards hidden from a planning agent to a hand. `side` and `events` are modified in place."""
    events["unsure"] = 1
    for _ in range(n):
        take_card(side, UNSEEN)


@njit_borrowing
def find_card(cards: np.ndarray, zone: np.ndarray, n: int, effect: np.void, events: np.void) -> int:
    """Index of a random card among the first `n` of a hand or deck that matches a row; -1 for none.

    Also -1 if the action stops at this chance event.
    """
    n_matches = 0
    for place in range(n):
        if is_named(cards, zone[place], effect):
            n_matches += 1
        elif zone[place] < COIN:
            events["unsure"] = 1
    if n_matches == 0:
        return -1
    left = chosen_of(events, n_matches)
    if events["waiting"]:
        return -1
    for place in range(n):
        if is_named(cards, zone[place], effect):
            if left == 0:
                return place
            left -= 1
    return -1


@njit_borrowing
def is_named(cards: np.ndarray, number: int, effect: np.void) -> bool:
    """Whether a card matches a row's card filter; hidden cards never match."""
    return number >= 0 and is_asked(cards[number], effect["of_kind"], effect["of_filter"], effect["of_arg"])


@njit_borrowing
def leave_deck(side: np.void, place: int) -> int:
    """Remove a card from a deck; its card number. `side` is modified in place."""
    number = side["deck"][place]
    side["n_deck"] -= 1
    for following in range(place, side["n_deck"]):
        side["deck"][following] = side["deck"][following + 1]
    side["deck"][side["n_deck"]] = 0
    return int(number)


@njit_borrowing
def shuffle_in(side: np.void, number: int, events: np.void) -> None:
    """Shuffle a card into a deck; for a planning agent it goes to the bottom. Modified in place."""
    if side["n_deck"] == DECK_SIZE:
        return
    place = 0 if events["blind"] else chosen_of(events, side["n_deck"] + 1)
    if events["waiting"]:
        return
    for following in range(side["n_deck"], place, -1):
        side["deck"][following] = side["deck"][following - 1]
    side["deck"][place] = number
    side["n_deck"] += 1


@njit_borrowing
def draw_named(state: np.void, cards: np.ndarray, effect: np.void, seat: int, events: np.void) -> None:
    """Draw a random card that matches a row; it stays hidden from a planning agent. Modified in place."""
    side = state["sides"][seat]
    if events["blind"]:
        found = False
        for place in range(side["n_deck"]):
            found = found or is_named(cards, side["deck"][place], effect)
        if not found:
            return
        leave_deck(side, side["n_deck"] - 1)
        number = UNKNOWN
    else:
        place = find_card(cards, side["deck"], side["n_deck"], effect, events)
        if place < 0:
            return
        number = leave_deck(side, place)
    hand_before = side["n_hand"]
    take_card(side, number)
    if side["n_hand"] > hand_before:
        announce(state, cards, events, Trigger.DRAWN, seat, NO_ONE, max(number, -1), 1)


@njit_borrowing
def change_held(side: np.void, place: int, cost: int, attack: int, health: int) -> None:
    """Change the cost, attack and health modifiers of a card in hand. `side` is modified in place."""
    modifier = side["held"][place]
    modifier["cost"] = min(max(modifier["cost"] + cost, -MAX_HELD), MAX_HELD)
    modifier["attack"] = min(max(modifier["attack"] + attack, -MAX_HELD), MAX_HELD)
    modifier["health"] = min(max(modifier["health"] + health, -MAX_HELD), MAX_HELD)


@njit_borrowing
def change_hand(
    cards: np.ndarray, side: np.void, effect: np.void, amount: int, amount2: int, events: np.void
) -> None:
    """Modify the cards in hand that match a row: all of them, or random different ones. Modified in place."""
    cost_only = effect["op"] == Op.CHEAPEN
    taken = 0
    n_matches = 0
    for place in range(side["n_hand"]):
        n_matches += 1 if is_named(cards, side["hand"][place], effect) else 0
    times = n_matches if effect["times"] == 0 else min(int(effect["times"]), n_matches)
    for n in range(times):
        left = 0 if effect["times"] == 0 else chosen_of(events, n_matches - n)
        if events["waiting"]:
            return
        for place in range(side["n_hand"]):
            if taken >> place & 1 or not is_named(cards, side["hand"][place], effect):
                continue
            if left == 0:
                taken |= 1 << place
                if cost_only:
                    change_held(side, place, amount, 0, 0)
                else:
                    change_held(side, place, 0, amount, amount2)
                break
            left -= 1


@njit_borrowing
def make_copy(to: np.void, minion: np.void, entity_id: int, attack: int, health: int) -> None:
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
    for n in range(MAX_GIFTS):
        to["gifts"][n] = minion["gifts"][n]
    to["aura_attack"] = 0
    to["aura_health"] = 0
    to["aura_keywords"] = 0
    to["born"] = entity_id
    to["arrived"] = 1
    to["attacks_left"] = 0
    if may_act(to):
        to["attacks_left"] = 2 if to["keywords"] & Keyword.WINDFURY else 1
    if attack > 0:
        set_attack(to, attack)
    if health > 0:
        set_health(to, health)


@njit_borrowing
def on_cards(
    state: np.void,
    cards: np.ndarray,
    effect: np.void,
    count: int,
    seat: int,
    queued: np.void,
    events: np.void,
) -> None:
    """Apply a row that summons, adds, shuffles or discards cards; arguments as `ops_player.on_player`."""
    side = state["sides"][seat]
    op, times = effect["op"], count * int(effect["times"])
    if op == Op.DISCARD:
        n = times if times > 0 else int(side["n_hand"])
        for _ in range(min(n, int(side["n_hand"]))):
            place = chosen_of(events, side["n_hand"]) if n < side["n_hand"] or times else 0
            if events["waiting"]:
                return
            number = lose_held(side, place, cards)
            announce(state, cards, events, Trigger.DISCARDED, seat, NO_ONE, max(number, -1), 1)
            if number >= 0 and cards[number]["hears"] >> Trigger.DISCARDED_ITSELF & 1:
                begin = events["last"]
                queue_rows(cards, number, Trigger.DISCARDED_ITSELF, seat, number, -1, -1, NO_TARGET, events)
                for row in range(begin, events["last"]):
                    events["queue"][row % MAX_QUEUE]["heard"] = 1
        return
    source_place = place_of(side, queued["source"]) if op == Op.ADD and effect["amount"] == ITSELF else -1
    if source_place >= 0:
        bounce(state, seat, source_place)
        close_gap(state, seat, source_place, queued["source"], events)
        return
    if op == Op.RAISE:
        _resurrect(state, cards, effect, times, seat, queued, events)
        return
    if op == Op.ADD and events["blind"] and (effect["amount"] == POOL or effect["amount2"] > 0):
        take_unseen(side, times, events)
        return
    for n in range(times):
        if op in (Op.RECRUIT, Op.CALL, Op.MIRROR):
            left = effect["trigger"] == Trigger.PLAY and n % 2 == 1
            if not _summon_from_zone(state, cards, effect, seat, left, queued, events):
                return
            continue
        if op == Op.JADE:
            number = int(effect["amount"]) + min(int(side["jade"]), MOST_JADE - 1)
            side["jade"] = min(int(side["jade"]) + 1, MOST_JADE)
        else:
            number = from_pool(state, cards, seat, effect, queued, events)
        copies_event_card = op == Op.ADD and effect["amount"] == EVENT_CARD  # The Coin has no card number
        if events["waiting"] or (number < 0 and not copies_event_card):
            return
        if op in (Op.SUMMON, Op.JADE):
            left = effect["trigger"] == Trigger.PLAY and n % 2 == 1
            summon_beside(state, cards, seat, number, left, queued, events)
        elif op == Op.SHUFFLE:
            shuffle_in(side, number, events)
            if events["waiting"]:
                return
        else:
            take_card(side, number)


@njit_borrowing
def on_secrets(
    state: np.void, cards: np.ndarray, effect: np.void, seat: int, queued: np.void, events: np.void
) -> None:
    """Apply an effect row that summons a decoy, destroys Secrets or plays them from the deck."""
    side = state["sides"][seat]
    op = effect["op"]
    if op == Op.BURN:
        while side["n_secrets"] > 0:
            lose_secret(side, side["n_secrets"] - 1)
    elif op == Op.DECOY:
        number = from_pool(state, cards, seat, effect, queued, events)
        if events["waiting"] or number < 0:
            return
        to = summon_beside(state, cards, seat, number, False, queued, events)
        if to >= 0:
            events["decoy"] = side["board"][to]["born"]
            if events["defender"] != NO_TARGET:
                events["defender"] = events["decoy"]
    else:
        for _ in range(effect["times"] if effect["times"] else side["n_deck"]):
            n_candidates = 0
            for place in range(side["n_deck"]):
                n_candidates += 1 if _is_playable_secret(cards, side, place) else 0
            if n_candidates == 0:
                return
            left = chosen_of(events, n_candidates) if effect["times"] else 0
            if events["waiting"]:
                return
            for place in range(side["n_deck"]):
                if not _is_playable_secret(cards, side, place):
                    continue
                if left == 0:
                    hide(state, seat, leave_deck(side, place))
                    break
                left -= 1


@njit_borrowing
def _is_playable_secret(cards: np.ndarray, side: np.void, place: int) -> bool:
    """Whether a deck card is a Secret that may be put into play."""
    number = side["deck"][place]
    return number >= 0 and is_secret(cards[number]) and may_hide(side, number)


@njit_borrowing
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
    for place in range(side["n_graves"]):
        dead += 1 if is_named(cards, side["graves"][place], effect) else 0
    all_fit = effect["times"] == 0 and dead <= BOARD_SIZE - side["n_board"]
    n_summons = dead if effect["times"] == 0 else times
    for n in range(n_summons):
        n_candidates = 0
        for place in range(side["n_graves"]):
            n_candidates += 1 if not taken[place] and is_named(cards, side["graves"][place], effect) else 0
        if n_candidates == 0 or not has_room(side):
            return
        left = 0 if all_fit else chosen_of(events, n_candidates)
        if events["waiting"]:
            return
        for place in range(side["n_graves"]):
            if taken[place] or not is_named(cards, side["graves"][place], effect):
                continue
            if left == 0:
                taken[place] = 1
                left_of = effect["trigger"] == Trigger.PLAY and n % 2 == 1
                summon_beside(state, cards, seat, int(side["graves"][place]), left_of, queued, events)
                break
            left -= 1


@njit_borrowing
def _summon_from_zone(
    state: np.void,
    cards: np.ndarray,
    effect: np.void,
    seat: int,
    left: bool,
    queued: np.void,
    events: np.void,
) -> bool:
    """Summon a random minion from a hand or deck, or a copy of one; whether the row continues."""
    side = state["sides"][seat]
    if effect["op"] == Op.MIRROR:
        place = find_card(cards, side["deck"], side["n_deck"], effect, events)
        if place < 0:
            return False
        own = queued["seat"]
        number = side["deck"][place]
        to = summon_beside(state, cards, own, number, left, queued, events)
        if to >= 0 and effect["amount"] > 0:
            set_attack(state["sides"][own]["board"][to], effect["amount"])
            set_health(state["sides"][own]["board"][to], effect["amount2"])
        return True
    if not has_room(side):
        return False
    if effect["op"] == Op.RECRUIT:
        place = find_card(cards, side["deck"], side["n_deck"], effect, events)
        if place >= 0:
            summon_beside(state, cards, seat, leave_deck(side, place), left, queued, events)
        return place >= 0
    place = find_card(cards, side["hand"], side["n_hand"], effect, events)
    if place < 0:
        return False
    attack, health = side["held"][place]["attack"], side["held"][place]["health"]
    to = summon_beside(state, cards, seat, lose_held(side, place, cards), left, queued, events)
    if to >= 0:
        strengthen(side["board"][to], attack, health)
    return True


@njit_borrowing
def learn(
    state: np.void,
    cards: np.ndarray,
    effect: np.void,
    count: int,
    seat: int,
    queued: np.void,
    events: np.void,
) -> None:
    """Copy random cards of a deck or hand, each at most once, into the hand of the row's player."""
    side, own = state["sides"][seat], state["sides"][queued["seat"]]
    if events["blind"]:
        n_cards = int(side["n_deck"]) if effect["op"] == Op.GLEAN else int(side["n_hand"])
        take_unseen(own, min(count * int(effect["times"]), n_cards), events)
        return
    taken = 0
    from_deck = effect["op"] == Op.GLEAN
    for _ in range(count * int(effect["times"])):
        n = int(side["n_deck"]) if from_deck else int(side["n_hand"])
        n_candidates = 0
        for place in range(n):
            number = side["deck"][place] if from_deck else side["hand"][place]
            n_candidates += 1 if not taken >> place & 1 and is_named(cards, number, effect) else 0
        if n_candidates == 0:
            return
        left = chosen_of(events, n_candidates)
        if events["waiting"]:
            return
        for place in range(n):
            number = side["deck"][place] if from_deck else side["hand"][place]
            if taken >> place & 1 or not is_named(cards, number, effect):
                continue
            if left == 0:
                taken |= 1 << place
                n_cards = own["n_hand"]
                take_card(own, number)
                if not from_deck and own["n_hand"] > n_cards:
                    own["held"][n_cards] = side["held"][place]
                break
            left -= 1
