"""Target selection of effects and of played cards; compiled."""

import numpy as np

from engine.codes import BOARD_SIZE, OWN_TARGETS, Keyword
from engine.effect_codes import (
    ENEMY,
    HEROES,
    MAX_SECRETS,
    MINIONS,
    OWN,
    CardKind,
    Filter,
    Need,
    Pick,
    Race,
    Trait,
)
from engine.effects.board import board_index, has_room, is_dying
from engine.effects.chance import draw_outcome
from engine.effects.secrets import can_add_secret, is_secret
from engine.jit import njit_no_alloc, njit_no_alloc_inline
from engine.state import ENEMY_HERO, NO_TARGET, OWN_HERO


@njit_no_alloc
def minion_matches(required: int, arg: int, minion: np.void) -> bool:
    """Whether a minion passes an effect row's filter, except the bits on source and target."""
    if required & Filter.DAMAGED and minion["health"] >= minion["max_health"]:
        return False
    if required & Filter.UNDAMAGED and minion["health"] < minion["max_health"]:
        return False
    if required & Filter.ATTACK_AT_MOST and minion["attack"] > arg:
        return False
    if required & Filter.ATTACK_AT_LEAST and minion["attack"] < arg:
        return False
    if required & (Filter.RACE | Filter.NOT_RACE):
        wanted = (required & Filter.RACE) != 0
        if wanted != (minion["race"] == arg or minion["race"] == Race.ALL):
            return False
    if required & Filter.KEYWORD and not minion["keywords"] & arg:
        return False
    if required & Filter.DEATHRATTLE and not minion["traits"] & Trait.DEATHRATTLE:
        return False
    if required & Filter.TAUNT and not minion["keywords"] & Keyword.TAUNT:
        return False
    return not (required & Filter.FROZEN and not minion["traits"] & Trait.FROZEN)


@njit_no_alloc
def hero_matches(required: int, side: np.void) -> bool:
    """Whether a hero passes an effect row's filter; only `DAMAGED` and `UNDAMAGED` apply to heroes."""
    if required & Filter.DAMAGED and side["health"] >= side["max_health"]:
        return False
    return not (required & Filter.UNDAMAGED and side["health"] < side["max_health"])


@njit_no_alloc
def list_candidates(
    state: np.void,
    effect: np.void,
    seat: int,
    entity_id: int,
    target: int,
    foe: int,
    living: bool,
    events: np.void,
) -> int:
    """Write an effect row's candidate targets to `events["picked"]`, enemies first; return their number.

    Args:
        state: dtype `STATE`.
        effect: the row, dtype `EFFECT`.
        seat: the card's player.
        entity_id: entity id of the row's own minion; -1 for none.
        target: the action's target: an entity id, `OWN_HERO`, `ENEMY_HERO` or `NO_TARGET`.
        foe: the defender of the triggering attack, for rows that exclude it.
        living: exclude characters that are about to die.
        events: dtype `EVENTS`. Modified in place.
    """
    n = 0
    picked = events["selected"]
    required, arg = effect["filter"], effect["arg"]
    for side_bit in (ENEMY, OWN):
        if not effect["side"] & side_bit:
            continue
        side = state["sides"][seat if side_bit == OWN else 1 - seat]
        if effect["kind"] & MINIONS:
            for place in range(side["n_board"]):
                minion = side["board"][place]
                if living and is_dying(minion):
                    continue
                if required & Filter.NOT_SELF and minion["entity_id"] == entity_id:
                    continue
                if required & Filter.NOT_TARGET and minion["entity_id"] == target:
                    continue
                if required & Filter.NOT_DEFENDER and minion["entity_id"] == foe:
                    continue
                if required == 0 or minion_matches(required, arg, minion):
                    picked[n] = minion["entity_id"]
                    n += 1
        if effect["kind"] & HEROES and not (living and side["health"] <= 0):
            hero = OWN_HERO if side_bit == OWN else ENEMY_HERO
            excluded = (required & Filter.NOT_TARGET and target == hero) or (
                required & Filter.NOT_DEFENDER and foe == hero
            )
            if hero_matches(required, side) and not excluded:
                picked[n] = hero
                n += 1
    return n


@njit_no_alloc
def select_targets(state: np.void, effect: np.void, queued: np.void, events: np.void) -> int:
    """Write an effect row's targets to `events["picked"]`, in order of resolution; return their number.

    0 if the action stops at a chance event.
    """
    picked, pick = events["selected"], effect["pick"]
    if pick in (Pick.CHOSEN, Pick.SUBJECT):
        picked[0] = queued["target"]
        return int(queued["target"] != NO_TARGET)
    if pick == Pick.SELF:
        picked[0] = queued["source"] if queued["source"] > 0 else OWN_HERO
        return 1
    if pick in (Pick.NEXT_TO_SELF, Pick.NEXT_TO_TARGET):
        if pick == Pick.NEXT_TO_TARGET:
            picked[0] = events["target_neighbours"][0]
            picked[1] = events["target_neighbours"][1]
            return int(picked[0] > 0) + int(picked[1] > 0)
        return list_neighbours(state, queued["source"], picked)
    living = pick == Pick.RANDOM
    n = list_candidates(
        state, effect, queued["seat"], queued["source"], queued["target"], queued["defender"], living, events
    )
    if pick == Pick.ALL:
        _sort_by_entity_id(picked, n)
    if not living:
        return n
    times = int(effect["times"])
    if times < 0:  # all but that many
        left = n
        for _ in range(min(-times, n)):
            excluded = draw_outcome(events, left)
            if events["n_pending_outcomes"]:
                return 0
            left -= 1
            for place in range(excluded, left):
                picked[place] = picked[place + 1]
        return left
    if times < n:
        for place in range(times):
            other = place + draw_outcome(events, n - place)
            if events["n_pending_outcomes"]:
                return 0
            picked[place], picked[other] = picked[other], picked[place]
        return times
    return n


@njit_no_alloc
def list_neighbours(state: np.void, entity_id: int, picked: np.ndarray) -> int:
    """Write the minions adjacent to a minion to `picked`, the left one first; return their number."""
    n = 0
    for seat in range(2):
        side = state["sides"][seat]
        place = board_index(side, entity_id) if entity_id > 0 else -1
        if place > 0:
            picked[n] = side["board"][place - 1]["entity_id"]
            n += 1
        if 0 <= place < side["n_board"] - 1:
            picked[n] = side["board"][place + 1]["entity_id"]
            n += 1
    return n


@njit_no_alloc
def _sort_by_entity_id(picked: np.ndarray, n: int) -> None:
    """Sort characters in order of play, heroes first. `picked` is modified in place."""
    for place in range(1, n):
        character, before = picked[place], place
        while before > 0 and picked[before - 1] > character:
            picked[before] = picked[before - 1]
            before -= 1
        picked[before] = character


@njit_no_alloc_inline
def list_targets(
    card: np.void, by_spell: bool, own: np.void, enemy: np.void, targets: np.ndarray, n: int, action: int
) -> int:
    """Append an action with each legal target of a card to `targets`; return the new number of actions.

    Enemies with Stealth or immunity are no legal targets, nor are elusive minions for spells and hero powers.

    Args:
        card: a card with a target.
        by_spell: the card is a spell or hero power.
        own: side of the player who plays the card.
        enemy: the other side.
        targets: the actions. Modified in place from index `n` on.
        n: number of actions before.
        action: the action without its target.
    """
    kind, side, required, arg = card["aim_kind"], card["aim_side"], card["aim_filter"], card["aim_arg"]
    untargetable = Trait.ELUSIVE if by_spell else 0
    if side & ENEMY:
        if kind & MINIONS:
            for place in range(enemy["n_board"]):
                minion = enemy["board"][place]
                if minion["keywords"] & Keyword.STEALTH or minion["traits"] & (untargetable | Trait.IMMUNE):
                    continue
                if required == 0 or minion_matches(required, arg, minion):
                    targets[n] = action | place
                    n += 1
        if kind & HEROES and not enemy["traits"] & Trait.IMMUNE and hero_matches(required, enemy):
            targets[n] = action | BOARD_SIZE
            n += 1
    if side & OWN:
        if kind & MINIONS:
            for place in range(own["n_board"]):
                minion = own["board"][place]
                if not minion["traits"] & untargetable and (
                    required == 0 or minion_matches(required, arg, minion)
                ):
                    targets[n] = action | (OWN_TARGETS + place)
                    n += 1
        if kind & HEROES and hero_matches(required, own):
            targets[n] = action | (OWN_TARGETS + BOARD_SIZE)
            n += 1
    return n


@njit_no_alloc
def decode_target(state: np.void, seat: int, character: int) -> int:
    """Target of an action, encoded 0 to 15, as an entity id, `OWN_HERO` or `ENEMY_HERO`."""
    own = character >= OWN_TARGETS
    place = character - OWN_TARGETS if own else character
    if place == BOARD_SIZE:
        return OWN_HERO if own else ENEMY_HERO
    return int(state["sides"][seat if own else 1 - seat]["board"][place]["entity_id"])


@njit_no_alloc
def meets_needs(card: np.void, own: np.void, enemy: np.void) -> bool:
    """Whether a player meets a card's requirements other than mana, a target and minions to summon."""
    needs = card["needs"]
    if is_secret(card) and not can_add_secret(own, card["number"]):
        return False
    if (needs & Need.ROOM or card["kind"] == CardKind.MINION) and not has_room(own):
        return False
    if needs == 0:
        return True
    if needs & Need.ENEMY_MINION and enemy["n_board"] < 1:
        return False
    if needs & Need.TWO_ENEMY_MINIONS and enemy["n_board"] < 2:
        return False
    if needs & Need.TWO_MINIONS and own["n_board"] + enemy["n_board"] < 2:
        return False
    if needs & Need.WEAPON and own["durability"] == 0:
        return False
    return not (needs & Need.SECRET_ROOM and own["n_secrets"] == MAX_SECRETS)


@njit_no_alloc
def n_not_on_board(cards: np.ndarray, side: np.void, effect: np.void) -> int:
    """Number of cards in an effect row's pool that have no minion on this board."""
    n = 0
    for place in range(effect["amount"], effect["amount2"] + 1):
        if not is_on_board(side, cards[place]["number"]):
            n += 1
    return n


@njit_no_alloc
def is_on_board(side: np.void, number: int) -> bool:
    """Whether a board has a minion of this card."""
    found = False
    for place in range(side["n_board"]):
        found = found or side["board"][place]["card"] == number
    return found


assert NO_TARGET not in (OWN_HERO, ENEMY_HERO)
