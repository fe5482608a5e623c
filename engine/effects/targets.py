"""Target selection of effects and of played cards; compiled."""

import numpy as np

from engine.codes import BOARD_SIZE, OWN_SIDE, Keyword
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
from engine.effects.board import has_room, is_dying, place_of
from engine.effects.chance import chosen_of
from engine.effects.secrets import is_secret, may_hide
from engine.jit import njit_borrowing, njit_borrowing_inline
from engine.state import ENEMY_HERO, NO_TARGET, OWN_HERO


@njit_borrowing
def passes(asked: int, arg: int, minion: np.void) -> bool:
    """Whether a minion is what a row's filter asks for, but for what the row's source and target are."""
    if asked & Filter.DAMAGED and minion["health"] >= minion["max_health"]:
        return False
    if asked & Filter.UNDAMAGED and minion["health"] < minion["max_health"]:
        return False
    if asked & Filter.ATTACK_AT_MOST and minion["attack"] > arg:
        return False
    if asked & Filter.ATTACK_AT_LEAST and minion["attack"] < arg:
        return False
    if asked & (Filter.RACE | Filter.NOT_RACE):
        wanted = (asked & Filter.RACE) != 0
        if wanted != (minion["race"] == arg or minion["race"] == Race.ALL):
            return False
    if asked & Filter.KEYWORD and not minion["keywords"] & arg:
        return False
    if asked & Filter.DEATHRATTLE and not minion["traits"] & Trait.DEATHRATTLE:
        return False
    if asked & Filter.TAUNT and not minion["keywords"] & Keyword.TAUNT:
        return False
    return not (asked & Filter.FROZEN and not minion["traits"] & Trait.FROZEN)


@njit_borrowing
def hero_passes(asked: int, side: np.void) -> bool:
    """Whether a hero is what a row's filter asks for: of a hero a row may ask whether it is damaged."""
    if asked & Filter.DAMAGED and side["health"] >= side["max_health"]:
        return False
    return not (asked & Filter.UNDAMAGED and side["health"] < side["max_health"])


@njit_borrowing
def select(
    state: np.void,
    effect: np.void,
    seat: int,
    born: int,
    target: int,
    foe: int,
    living: bool,
    events: np.void,
) -> int:
    """List the characters a row is about in `events["picked"]`, enemies first; how many there are.

    Args:
        state: dtype `STATE`.
        effect: the row, dtype `EFFECT`.
        seat: the card's player.
        born: birth of the minion the row comes from; -1 for none.
        target: what the action was aimed at: a birth, `OWN_HERO`, `ENEMY_HERO` or `NO_TARGET`.
        foe: whom that one attacks, for a row that leaves it out.
        living: leave out who is about to die.
        events: dtype `EVENTS`. Modified in place.
    """
    n = 0
    picked = events["picked"]
    asked, arg = effect["filter"], effect["arg"]
    for who in (ENEMY, OWN):
        if not effect["side"] & who:
            continue
        side = state["sides"][seat if who == OWN else 1 - seat]
        if effect["kind"] & MINIONS:
            for place in range(side["n_board"]):
                minion = side["board"][place]
                if living and is_dying(minion):
                    continue
                if asked & Filter.NOT_SELF and minion["born"] == born:
                    continue
                if asked & Filter.NOT_TARGET and minion["born"] == target:
                    continue
                if asked & Filter.NOT_FOE and minion["born"] == foe:
                    continue
                if asked == 0 or passes(asked, arg, minion):
                    picked[n] = minion["born"]
                    n += 1
        if effect["kind"] & HEROES and not (living and side["health"] <= 0):
            hero = OWN_HERO if who == OWN else ENEMY_HERO
            spared = (asked & Filter.NOT_TARGET and target == hero) or (
                asked & Filter.NOT_FOE and foe == hero
            )
            if hero_passes(asked, side) and not spared:
                picked[n] = hero
                n += 1
    return n


@njit_borrowing
def choose(state: np.void, effect: np.void, waiting: np.void, events: np.void) -> int:
    """Put the characters a row is about into `events["picked"]`, in their order; how many there are.

    0 where an outcome is waited for.
    """
    picked, pick = events["picked"], effect["pick"]
    if pick in (Pick.CHOSEN, Pick.SUBJECT):
        picked[0] = waiting["target"]
        return int(waiting["target"] != NO_TARGET)
    if pick == Pick.SELF:
        picked[0] = waiting["source"] if waiting["source"] > 0 else OWN_HERO
        return 1
    if pick in (Pick.NEXT_TO_SELF, Pick.NEXT_TO_TARGET):
        if pick == Pick.NEXT_TO_TARGET:
            picked[0] = events["beside"][0]
            picked[1] = events["beside"][1]
            return int(picked[0] > 0) + int(picked[1] > 0)
        return neighbours(state, waiting["source"], picked)
    living = pick == Pick.RANDOM
    n = select(
        state, effect, waiting["seat"], waiting["source"], waiting["target"], waiting["foe"], living, events
    )
    if pick == Pick.ALL:
        _sort_by_birth(picked, n)
    if not living:
        return n
    times = int(effect["times"])
    if times < 0:  # all but so many
        left = n
        for _ in range(min(-times, n)):
            spared = chosen_of(events, left)
            if events["waiting"]:
                return 0
            left -= 1
            for place in range(spared, left):
                picked[place] = picked[place + 1]
        return left
    if times < n:
        for place in range(times):
            other = place + chosen_of(events, n - place)
            if events["waiting"]:
                return 0
            picked[place], picked[other] = picked[other], picked[place]
        return times
    return n


@njit_borrowing
def neighbours(state: np.void, born: int, picked: np.ndarray) -> int:
    """Put the minions beside one into `picked`, the left one first; how many there are."""
    n = 0
    for seat in range(2):
        side = state["sides"][seat]
        place = place_of(side, born) if born > 0 else -1
        if place > 0:
            picked[n] = side["board"][place - 1]["born"]
            n += 1
        if 0 <= place < side["n_board"] - 1:
            picked[n] = side["board"][place + 1]["born"]
            n += 1
    return n


@njit_borrowing
def _sort_by_birth(picked: np.ndarray, n: int) -> None:
    """Put characters into the order in which they came into play, heroes first. Modified in place."""
    for place in range(1, n):
        one, before = picked[place], place
        while before > 0 and picked[before - 1] > one:
            picked[before] = picked[before - 1]
            before -= 1
        picked[before] = one


@njit_borrowing_inline
def list_targets(
    card: np.void, by_spell: bool, own: np.void, enemy: np.void, targets: np.ndarray, n: int, action: int
) -> int:
    """List an action once for each character that a card may be aimed at; how many actions there are then.

    Stealth and immunity hide enemies, and what is elusive cannot be chosen by spells and hero powers.

    Args:
        card: a card that is aimed.
        by_spell: a spell or hero power aims it.
        own: half of the player who aims.
        enemy: the other half.
        targets: integers. Modified in place from place `n` on.
        n: how many actions there are before.
        action: the action without its target.
    """
    kind, side, asked, arg = card["aim_kind"], card["aim_side"], card["aim_filter"], card["aim_arg"]
    barred = Trait.ELUSIVE if by_spell else 0
    if side & ENEMY:
        if kind & MINIONS:
            for place in range(enemy["n_board"]):
                minion = enemy["board"][place]
                if minion["keywords"] & Keyword.STEALTH or minion["traits"] & (barred | Trait.IMMUNE):
                    continue
                if asked == 0 or passes(asked, arg, minion):
                    targets[n] = action | place
                    n += 1
        if kind & HEROES and not enemy["traits"] & Trait.IMMUNE and hero_passes(asked, enemy):
            targets[n] = action | BOARD_SIZE
            n += 1
    if side & OWN:
        if kind & MINIONS:
            for place in range(own["n_board"]):
                minion = own["board"][place]
                if not minion["traits"] & barred and (asked == 0 or passes(asked, arg, minion)):
                    targets[n] = action | (OWN_SIDE + place)
                    n += 1
        if kind & HEROES and hero_passes(asked, own):
            targets[n] = action | (OWN_SIDE + BOARD_SIZE)
            n += 1
    return n


@njit_borrowing
def target_of(state: np.void, seat: int, character: int) -> int:
    """A character that an action names, 0 to 15, as effects know it: a birth or a hero."""
    own = character >= OWN_SIDE
    place = character - OWN_SIDE if own else character
    if place == BOARD_SIZE:
        return OWN_HERO if own else ENEMY_HERO
    return int(state["sides"][seat if own else 1 - seat]["board"][place]["born"])


@njit_borrowing
def may_play(card: np.void, own: np.void, enemy: np.void) -> bool:
    """Whether a player has what a card needs beside mana, a target, and minions that it can summon."""
    needs = card["needs"]
    if is_secret(card) and not may_hide(own, card["number"]):
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


@njit_borrowing
def n_new(cards: np.ndarray, side: np.void, effect: np.void) -> int:
    """How many cards of the pool that a row summons have no minion on a board."""
    n = 0
    for place in range(effect["amount"], effect["amount2"] + 1):
        if not stands(side, cards[place]["number"]):
            n += 1
    return n


@njit_borrowing
def stands(side: np.void, number: int) -> bool:
    """Whether a minion of this card is on a board."""
    found = False
    for place in range(side["n_board"]):
        found = found or side["board"][place]["card"] == number
    return found


assert NO_TARGET not in (OWN_HERO, ENEMY_HERO)
