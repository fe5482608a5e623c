"""Secrets: put them into play, reveal and remove them; compiled."""

import numpy as np

from engine.effect_codes import MAX_QUEUE, MAX_SECRETS, CardFilter, GameFeature, Op, Trigger
from engine.effects.card_filters import needed_features
from engine.effects.triggers import fire_trigger
from engine.jit import njit_no_alloc
from engine.state import NO_CHARACTER

ROW_REVEALED = 2
"""Value of the field `is_triggered` of a queued row: its Secret has been revealed."""


@njit_no_alloc
def is_secret(card: np.void) -> bool:
    """Whether a card is a Secret."""
    return bool(card["tags"] & CardFilter.SECRET)


@njit_no_alloc
def secret_index(side: np.void, entity_id: int) -> int:
    """Index of the Secret with an entity id; -1 if it is not in play."""
    for place in range(side["n_secrets"]):
        if side["secret_entity_ids"][place] == entity_id:
            return place
    return -1


@njit_no_alloc
def can_add_secret(side: np.void, number: int) -> bool:
    """Whether a player may put a Secret into play: there is room, and no copy of it is in play."""
    if side["n_secrets"] == MAX_SECRETS:
        return False
    copies = 0
    for place in range(side["n_secrets"]):
        copies += 1 if side["secrets"][place] == number else 0
    return copies == 0


@njit_no_alloc
def add_secret(state: np.void, seat: int, number: int) -> None:
    """Put a Secret into play. `state` is modified in place."""
    side = state["sides"][seat]
    state["last_entity_id"] += 1
    side["secrets"][side["n_secrets"]] = number
    side["secret_entity_ids"][side["n_secrets"]] = state["last_entity_id"]
    side["n_secrets"] += 1


@njit_no_alloc
def remove_secret(side: np.void, place: int) -> None:
    """Take a Secret out of play. `side` is modified in place."""
    side["n_secrets"] -= 1
    for following in range(place, side["n_secrets"]):
        side["secrets"][following] = side["secrets"][following + 1]
        side["secret_entity_ids"][following] = side["secret_entity_ids"][following + 1]
    side["secrets"][side["n_secrets"]] = 0
    side["secret_entity_ids"][side["n_secrets"]] = 0


@njit_no_alloc
def reveal(state: np.void, cards: np.ndarray, seat: int, place: int, row: int, events: np.void) -> None:
    """Reveal and remove a Secret; enable the Secret's later rows of the same event. Modified in place.

    Rows of the same Secret that a further event queued have no effect.
    """
    side = state["sides"][seat]
    number, entity_id = int(side["secrets"][place]), side["secret_entity_ids"][place]
    remove_secret(side, place)
    for n in range(events["first"], events["last"]):
        queued = events["queue"][n % MAX_QUEUE]
        if queued["seat"] == seat and queued["source"] == entity_id:
            if queued["row"] <= row:
                break
            row = queued["row"]
            queued["is_triggered"] = ROW_REVEALED
    fire_trigger(state, cards, events, Trigger.SECRET_REVEALED, seat, NO_CHARACTER, number, 1)


@njit_no_alloc
def prevent_lethal_damage(state: np.void, cards: np.ndarray, seat: int, damage: int, events: np.void) -> bool:
    """Reveal a Secret that prevents lethal damage to a hero; return whether one does. Modified in place."""
    side = state["sides"][seat]
    if not needed_features(cards) & GameFeature.SECRETS_IN_PLAY or state["active"] == seat:
        return False
    if damage < side["health"] + side["armour"]:
        return False
    for place in range(side["n_secrets"]):
        number = side["secrets"][place]
        if number >= 0 and cards[number]["effects"][0]["op"] == Op.PREVENT:
            reveal(state, cards, seat, place, 0, events)
            return True
    return False


@njit_no_alloc
def counter_spell(state: np.void, cards: np.ndarray, events: np.void) -> bool:
    """Reveal an opponent's Secret that counters the played spell; return whether one does. In place."""
    if not needed_features(cards) & GameFeature.SECRETS_IN_PLAY:
        return False
    seat = 1 - state["active"]
    side = state["sides"][seat]
    for place in range(side["n_secrets"]):
        number = side["secrets"][place]
        if number >= 0 and cards[number]["effects"][0]["op"] == Op.COUNTER:
            reveal(state, cards, seat, place, 0, events)
            return True
    return False
