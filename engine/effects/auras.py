"""Auras: continuous buffs and rule changes by minions and weapons in play; compiled."""

import numpy as np

from engine.effect_codes import ENEMY, MINIONS, OWN, Filter, GameFeature, Op, Pick, Trait, Trigger
from engine.effects.board import is_dying
from engine.effects.card_filters import card_matches, needed_features
from engine.effects.conditions import condition_holds, count_value
from engine.effects.ops_character import clamp, set_keywords, set_max_health
from engine.effects.targets import minion_matches
from engine.indirect_call import njit_indirect
from engine.jit import njit_no_alloc
from engine.state import CARD, EVENTS, N_BONUSES, NO_EFFECT, STATE

MAX_AURA_PASSES = 3
"""Maximum number of passes over all auras, since an aura's condition may depend on other auras."""


@njit_no_alloc
def apply_auras(state: np.void, cards: np.ndarray, events: np.void) -> bool:
    """Recompute the aura bonuses of all minions and weapons; return whether doing it again changes nothing.

    `state` and the workspaces `aura_bonuses`, `weapon_bonuses` and `spare` of `events` are modified in place.
    """
    if needed_features(cards) & GameFeature.AURAS and _any_aura(state, cards):
        return _refresh_all(state, cards, events) != 0
    return True


@njit_indirect(STATE, (CARD,), EVENTS)
def _refresh_all(state: np.void, cards: np.ndarray, events: np.void) -> int:
    """Recompute auras until nothing changes; return 0 if that takes too long, else 1. As `apply_auras`."""
    for _ in range(MAX_AURA_PASSES):
        if not _refresh_once(state, cards, events):
            return 1
    return 0


@njit_no_alloc
def _any_aura(state: np.void, cards: np.ndarray) -> bool:
    """Whether a card in play has an aura, or a minion or weapon has an aura bonus."""
    for seat in range(2):
        side = state["sides"][seat]
        armed = side["durability"] > 0
        if armed and (side["weapon_aura"] or cards[side["weapon"]]["card_features"] & GameFeature.AURAS):
            return True
        for place in range(side["n_board"]):
            minion = side["board"][place]
            if minion["aura_attack"] or minion["aura_health"] or minion["aura_keywords"]:
                return True
            if minion["traits"] & Trait.ACTS and cards[minion["card"]]["card_features"] & GameFeature.AURAS:
                return True
    return False


@njit_no_alloc
def _refresh_once(state: np.void, cards: np.ndarray, events: np.void) -> bool:
    """Recompute all auras in one pass; return whether a minion's bonus changed. Modified as by `apply_auras`.

    Weapons need no further pass: no aura depends on their attack.
    """
    changed = False
    bonuses, weapon_bonuses = events["aura_bonuses"], events["weapon_bonuses"]
    for seat in range(2):
        weapon_bonuses[seat] = 0
        for place in range(state["sides"][seat]["n_board"]):
            for n in range(N_BONUSES):
                bonuses[seat, place, n] = 0
    events["spare"][0] = NO_EFFECT[0]
    row = events["spare"][0]
    for seat in range(2):
        side = state["sides"][seat]
        for place in range(side["n_board"]):
            minion = side["board"][place]
            has_aura = cards[minion["card"]]["card_features"] & GameFeature.AURAS
            if has_aura and minion["traits"] & (Trait.ACTS | Trait.SILENCED) == Trait.ACTS:
                row["source"] = minion["entity_id"]
                _add_bonuses(state, cards, seat, place, minion["card"], row, bonuses, weapon_bonuses)
        if side["durability"] > 0 and cards[side["weapon"]]["card_features"] & GameFeature.AURAS:
            row["source"] = -1
            _add_bonuses(state, cards, seat, -1, side["weapon"], row, bonuses, weapon_bonuses)
    for seat in range(2):
        side = state["sides"][seat]
        for place in range(side["n_board"]):
            minion, attack = side["board"][place], int(bonuses[seat, place, 0])
            if bonuses[seat, place, 3]:
                attack = int(minion["health"] - (minion["attack"] - minion["aura_attack"]))
            health, keywords = bonuses[seat, place, 1], bonuses[seat, place, 2]
            given = minion["aura_attack"] | minion["aura_health"] | minion["aura_keywords"]
            if given | attack | health | keywords:
                changed |= _replace_bonuses(minion, attack, health, keywords)
        if side["durability"] > 0:
            printed = side["weapon_attack"] - side["weapon_aura"]
            side["weapon_attack"] = clamp(printed + weapon_bonuses[seat], 0)
            side["weapon_aura"] = side["weapon_attack"] - printed
    return changed


def refresh_auras(states: np.ndarray, cards: np.ndarray) -> None:
    """Recompute the auras of a position given as an array of shape (1,). Modified in place."""
    if needed_features(cards) & GameFeature.AURAS:
        _refresh_only(states, cards, np.zeros(1, EVENTS))


@njit_no_alloc
def _refresh_only(states: np.ndarray, cards: np.ndarray, events: np.ndarray) -> None:
    apply_auras(states[0], cards, events[0])


@njit_no_alloc
def _add_bonuses(
    state: np.void,
    cards: np.ndarray,
    seat: int,
    place: int,
    number: int,
    row: np.void,
    bonuses: np.ndarray,
    weapon_bonuses: np.ndarray,
) -> None:
    """Add the aura bonuses of one card. `bonuses` and `weapon_bonuses` are modified in place."""
    card = cards[number]
    for n in range(card["n_effects"]):
        effect = card["effects"][n]
        if effect["trigger"] != Trigger.AURA or effect["op"] not in (
            Op.BUFF,
            Op.WEAPON,
            Op.SET_ATTACK_TO_HEALTH,
        ):
            continue
        if effect["condition"] and not condition_holds(
            state, cards, seat, effect["condition"], effect["condition_arg"], row
        ):
            continue
        multiplier = 1
        if effect["count"]:
            multiplier = count_value(state, seat, effect["count"], effect["count_arg"], row)
        if effect["op"] == Op.SET_ATTACK_TO_HEALTH:
            bonuses[seat, place, 3] = 1
            continue
        if effect["op"] == Op.WEAPON:
            weapon_bonuses[seat] += multiplier * effect["amount"]
            continue
        for side_bit in (OWN, ENEMY):
            if not effect["side"] & side_bit and effect["pick"] not in (Pick.SELF, Pick.NEXT_TO_SELF):
                continue
            target_seat = seat if side_bit == OWN else 1 - seat
            if effect["pick"] in (Pick.SELF, Pick.NEXT_TO_SELF) and target_seat != seat:
                continue
            side = state["sides"][target_seat]
            for other in range(side["n_board"]):
                if effect["pick"] == Pick.SELF and other != place:
                    continue
                if effect["pick"] == Pick.NEXT_TO_SELF and abs(other - place) != 1:
                    continue
                if effect["filter"] & Filter.NOT_SELF and target_seat == seat and other == place:
                    continue
                minion = side["board"][other]
                if effect["filter"] and not minion_matches(effect["filter"], effect["arg"], minion):
                    continue
                if effect["of_kind"] and not card_matches(
                    cards[minion["card"]], MINIONS, effect["of_filter"], effect["of_arg"]
                ):
                    continue
                bonuses[target_seat, other, 0] += multiplier * effect["amount"]
                bonuses[target_seat, other, 1] += multiplier * effect["amount2"]
                bonuses[target_seat, other, 2] |= effect["keywords"]


@njit_no_alloc
def _replace_bonuses(minion: np.void, attack: int, health: int, keywords: int) -> bool:
    """Replace a minion's aura bonuses; return whether they changed. `minion` is modified in place."""
    changed = attack != minion["aura_attack"] or health != minion["aura_health"]
    if attack != minion["aura_attack"]:
        printed = minion["attack"] - minion["aura_attack"]
        minion["attack"] = clamp(printed + attack, 0)
        minion["aura_attack"] = minion["attack"] - printed
    if health != minion["aura_health"]:
        printed = minion["max_health"] - minion["aura_health"]
        more = clamp(printed + health, 1)
        set_max_health(minion, more)
        minion["aura_health"] = more - printed
    if keywords or minion["aura_keywords"]:
        own = minion["keywords"] & ~minion["aura_keywords"]
        if minion["aura_keywords"] != keywords & ~own:
            set_keywords(minion, own | keywords)
            minion["aura_keywords"] = keywords & ~own
            changed = True
    return bool(changed)


@njit_no_alloc
def has_rule(state: np.void, cards: np.ndarray, seat: int, rule: int) -> bool:
    """Whether a player has a minion in play that changes the given `Rule`."""
    return count_rules(state, cards, seat, rule, False) > 0


@njit_no_alloc
def count_rules(state: np.void, cards: np.ndarray, seat: int, rule: int, survivors_only: bool) -> int:
    """Number of a player's minions that change the given `Rule`; `survivors_only`: dying ones excluded."""
    if not needed_features(cards) & GameFeature.RULES:
        return 0
    found = 0
    side = state["sides"][seat]
    for place in range(side["n_board"]):
        minion = side["board"][place]
        card = cards[minion["card"]]
        if survivors_only and is_dying(minion):
            continue
        if (
            card["card_features"] & GameFeature.RULES
            and minion["traits"] & (Trait.ACTS | Trait.SILENCED) == Trait.ACTS
        ):
            for n in range(card["n_effects"]):
                effect = card["effects"][n]
                if effect["op"] == Op.RULE and effect["trigger"] == Trigger.AURA and effect["amount"] & rule:
                    found += 1
    return found
