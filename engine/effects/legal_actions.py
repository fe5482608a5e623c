"""Legal actions of games with effects, and mana costs of cards in hand; compiled."""

import numpy as np

from engine.bitfields import AIMED, BOARD_PLACE_SHIFT, OPTION_SHIFT, pack_action
from engine.codes import COIN, HERO, MAX_OPTIONS, ActionKind, Keyword
from engine.effect_codes import (
    ENEMY,
    MINIONS,
    OWN,
    SPELLS,
    Aim,
    CardFilter,
    CardKind,
    Condition,
    GameFeature,
    Need,
    Op,
    Pick,
    Trait,
    Trigger,
)
from engine.effects.board import any_minion_needs, has_room
from engine.effects.card_filters import card_matches, needed_features
from engine.effects.conditions import condition_holds, count_value, n_in_hand
from engine.effects.ops_character import IN_PLAY_TRIGGERS
from engine.effects.ops_zones import row_matches
from engine.effects.targets import list_targets, meets_needs, n_not_on_board
from engine.indirect_call import njit_indirect
from engine.jit import njit_no_alloc, njit_no_alloc_inline
from engine.state import CARD, NO_EFFECT, STATE, guards, may_attack_hero


@njit_no_alloc_inline
def hand_cost(side: np.void, cards: np.ndarray, place: int) -> int:
    """Cost of a card in hand with its own modifiers, before auras and pending cost changes."""
    number = int(side["hand"][place])
    cost = 0 if number == COIN else int(cards[number]["cost"])
    if needed_features(cards) & (GameFeature.COSTS | GameFeature.HAND_MODIFIERS):
        cost += int(side["hand_modifiers"][place]["cost"])
    return cost


@njit_no_alloc
def current_cost(state: np.void, cards: np.ndarray, seat: int, place: int) -> int:
    """Current cost of a card in hand, >= 0; the card's own cost text applies last (patch 9.2).

    Args:
        state: dtype `STATE`, of a game with effects.
        cards: the card table.
        seat: the hand's player.
        place: hand index of a visible card.
    """
    if not needed_features(cards) & (GameFeature.COSTS | GameFeature.HAND_MODIFIERS):
        return hand_cost(state["sides"][seat], cards, place)
    return cost_with_effects(state, cards, seat, place)


@njit_indirect(STATE, (CARD,), int, int, rare=True)
def cost_with_effects(state: np.void, cards: np.ndarray, seat: int, place: int) -> int:
    """Current cost of a card in hand, in games with cost changes; arguments as `current_cost`."""
    side = state["sides"][seat]
    number = int(side["hand"][place])
    cost = hand_cost(side, cards, place)
    if needed_features(cards) & GameFeature.COSTS:
        cost = _cost_after_auras(state, cards, seat, number, cost)
        for n in range(len(side["pending_costs"])):
            if side["pending_costs"][n]:
                cost = _cost_after_rows(
                    cards, int(side["pending_costs"][n]) - 1, Trigger.PLAY, number, OWN | ENEMY, cost
                )
    if number == COIN:
        return max(cost, 0)
    card = cards[number]
    if card["trigger_bits"] >> Trigger.COST & 1:
        for n in range(card["n_effects"]):
            effect = card["effects"][n]
            if effect["trigger"] == Trigger.COST and condition_holds(
                state, cards, seat, effect["condition"], effect["condition_arg"], NO_EFFECT[0]
            ):
                times = 1
                if effect["count"]:
                    times = count_value(state, seat, effect["count"], effect["count_arg"], NO_EFFECT[0])
                cost += times * effect["amount"]
    return max(cost, 0)


@njit_no_alloc
def costs_may_change(state: np.void, cards: np.ndarray, seat: int) -> bool:
    """Whether auras or pending cost changes may alter the costs of a hand."""
    for n in range(len(state["sides"][seat]["pending_costs"])):
        if state["sides"][seat]["pending_costs"][n]:
            return True
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    return bool(
        any_minion_needs(cards, own, GameFeature.COSTS) or any_minion_needs(cards, enemy, GameFeature.COSTS)
    )


@njit_no_alloc
def _cost_after_auras(state: np.void, cards: np.ndarray, seat: int, number: int, cost: int) -> int:
    """A card's cost after the cost auras of minions in play, applied in order of play."""
    last_id = -1
    while True:
        next_id, place = np.iinfo(np.int16).max, -1
        owner = 0
        for own_seat in range(2):
            side = state["sides"][own_seat]
            for n in range(side["n_board"]):
                minion = side["board"][n]
                acts = minion["traits"] & Trait.ACTS and not minion["traits"] & Trait.SILENCED
                if acts and last_id < minion["entity_id"] < next_id and _has_cost_aura(cards[minion["card"]]):
                    next_id, place, owner = int(minion["entity_id"]), n, own_seat
        if place < 0:
            return cost
        by = state["sides"][owner]["board"][place]["card"]
        cost = _cost_after_rows(cards, by, Trigger.AURA, number, OWN if owner == seat else ENEMY, cost)
        last_id = next_id


@njit_no_alloc_inline
def _has_cost_aura(card: np.void) -> bool:
    """Whether a card has a cost aura."""
    return bool(card["trigger_bits"] >> Trigger.AURA & 1 and card["card_features"] & GameFeature.COSTS)


@njit_no_alloc
def _cost_after_rows(cards: np.ndarray, by: int, trigger: int, number: int, side_bit: int, cost: int) -> int:
    """A card's cost after the cost rows of the card `by` with one trigger."""
    source = cards[by]
    if not source["trigger_bits"] >> trigger & 1:
        return cost
    for n in range(source["n_effects"]):
        effect = source["effects"][n]
        if effect["trigger"] != trigger or effect["op"] != Op.COST or not effect["side"] & side_bit:
            continue
        if _applies_to(cards, effect, number):
            cost = max(cost + effect["amount"], min(cost, int(effect["amount2"])))
    return cost


@njit_no_alloc
def _applies_to(cards: np.ndarray, effect: np.void, number: int) -> bool:
    """Whether an effect row applies to a card; The Coin counts as a spell without further properties."""
    kinds, required = effect["of_kind"], effect["of_filter"]
    if number == COIN:
        return bool(required == 0 and (kinds == 0 or kinds & SPELLS))
    return card_matches(cards[number], kinds, required, effect["of_arg"])


@njit_no_alloc
def use_pending_costs(side: np.void, cards: np.ndarray, number: int) -> None:
    """Remove the pending cost changes that the played card used. `side` is modified in place."""
    for n in range(len(side["pending_costs"])):
        if side["pending_costs"][n] == 0:
            continue
        source = cards[side["pending_costs"][n] - 1]
        for row in range(source["n_effects"]):
            effect = source["effects"][row]
            once = effect["op"] == Op.COST and effect["trigger"] == Trigger.PLAY and effect["times"] > 0
            if once and _applies_to(cards, effect, number):
                side["pending_costs"][n] = 0
                break


NO_ATTACK_TRAITS = Trait.FROZEN | Trait.CANT_ATTACK
"""Traits that keep a character from attacking."""

NO_HERO_ATTACK_TRAITS = Trait.SPARES_HEROES | Trait.SPARES_HEROES_NOW
"""Traits that keep a minion from attacking heroes."""

_encode = njit_no_alloc(pack_action)


@njit_indirect(STATE, (CARD,), (np.dtype(np.int64),))
def list_effect_actions(state: np.void, cards: np.ndarray, actions: np.ndarray) -> int:
    """Write the legal actions of a running game with effects to `actions`; return their number."""
    seat = state["active"]
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    n = 0
    for place in range(state["n_options"]):
        actions[n] = _encode(ActionKind.CHOOSE, place, 0)
        n += 1
    if n > 0:
        return n
    costs_vary = needed_features(cards) & GameFeature.COSTS and costs_may_change(state, cards, seat)
    place_matters = needed_features(cards) & GameFeature.BOARD_ORDER and any_minion_needs(
        cards, own, GameFeature.BOARD_ORDER
    )
    for place in range(own["n_hand"] + 1):
        if place < own["n_hand"]:
            number = int(own["hand"][place])
            action = _encode(ActionKind.PLAY, place, 0)
            if number < 0 and number != COIN:
                continue
            cost = hand_cost(own, cards, place)
            if costs_vary or (number != COIN and cards[number]["trigger_bits"] >> Trigger.COST & 1):
                cost = current_cost(state, cards, seat, place)
        else:
            number = int(own["power"]) - 1
            if number < 0 or own["power_used"]:
                continue
            action = _encode(ActionKind.POWER, 0, 0)
            cost = int(cards[number]["cost"])
        if cost > own["mana"]:
            continue
        if number == COIN:
            actions[n] = action
            n += 1
            continue
        card = cards[number]
        minion = card["kind"] == CardKind.MINION
        if _has_play_options(card) or (
            minion and (place_matters or card["card_features"] & GameFeature.BOARD_ORDER)
        ):
            n = _list_plays(state, cards, number, action, actions, n)
        elif has_room(own) or not (minion or card["needs"] & Need.ROOM):
            n = _list_with_targets(card, card, card["aim"] != Aim.NONE, own, enemy, action, actions, n)
    guarded = False
    for target in range(enemy["n_board"]):
        if guards(enemy["board"][target]):
            guarded = True
            break
    for slot in range(own["n_board"]):
        minion = own["board"][slot]
        if minion["attacks_left"] > 0 and minion["attack"] > 0 and not minion["traits"] & NO_ATTACK_TRAITS:
            hero = may_attack_hero(minion) and not minion["traits"] & NO_HERO_ATTACK_TRAITS
            n = _list_attacks(enemy, slot, guarded, hero, actions, n)
    armed = own["hero_attacks_left"] > 0 and own["hero_attack"] + own["weapon_attack"] > 0
    if armed and not own["traits"] & NO_ATTACK_TRAITS:
        n = _list_attacks(enemy, HERO, guarded, True, actions, n)
    actions[n] = _encode(ActionKind.END_TURN, 0, 0)
    return n + 1


@njit_no_alloc_inline
def _list_attacks(enemy: np.void, source: int, guarded: bool, hero: bool, actions: np.ndarray, n: int) -> int:
    """Append the attacks of one attacker to `actions`; return the new number of actions."""
    for target in range(enemy["n_board"]):
        other = enemy["board"][target]
        hidden = other["keywords"] & Keyword.STEALTH or other["traits"] & Trait.IMMUNE
        if not hidden and (not guarded or guards(other)):
            actions[n] = _encode(ActionKind.ATTACK, source, target)
            n += 1
    if hero and not guarded and not enemy["traits"] & Trait.IMMUNE:
        actions[n] = _encode(ActionKind.ATTACK, source, HERO)
        n += 1
    return n


@njit_no_alloc
def _has_play_options(card: np.void) -> bool:
    """Whether a card has play requirements or options beyond mana, room and targets."""
    return bool(
        card["needs"] & ~Need.ROOM
        or card["options"]
        or card["aim_condition"]
        or card["tags"] & CardFilter.SECRET
    )


@njit_indirect(STATE, (CARD,), int, int, (np.dtype(np.int64),), int)
def _list_plays(
    state: np.void, cards: np.ndarray, number: int, action: int, actions: np.ndarray, n: int
) -> int:
    """Append the plays of a card or hero power, by option, place and target; return the new number."""
    own, enemy = state["sides"][state["active"]], state["sides"][1 - state["active"]]
    card = cards[number]
    if not meets_needs(card, own, enemy) or not has_minion_to_summon(cards, card, own):
        return n
    places = 1
    if (
        needed_features(cards) & GameFeature.BOARD_ORDER
        and card["kind"] == CardKind.MINION
        and _board_index_matters(cards, card, own)
    ):
        places = own["n_board"] + 1
    last = MAX_OPTIONS if card["options"] else 0
    for place in range(places):
        # the right end comes first and is encoded without an index
        at = action if place == 0 else action | place << BOARD_PLACE_SHIFT
        for option in range(1 if last else 0, last + 1):
            played = cards[number if option == 0 else int(card["options"]) + option - 1]
            if option > 0 and not meets_needs(played, own, enemy):
                continue
            has_targets = played["aim"] != Aim.NONE and _may_target(state, cards, card, played)
            n = _list_with_targets(
                card, played, has_targets, own, enemy, at | option << OPTION_SHIFT, actions, n
            )
    return n


@njit_no_alloc
def has_minion_to_summon(cards: np.ndarray, card: np.void, own: np.void) -> bool:
    """Whether a minion that a card must resurrect or newly summon exists."""
    if card["needs"] & Need.NEW_MINION:
        return n_not_on_board(cards, own, card["effects"][0]) > 0
    if not card["needs"] & Need.DEAD:
        return True
    found = False
    for place in range(own["n_graveyard"]):
        found = found or row_matches(cards, own["graveyard"][place], card["effects"][0])
    return found


@njit_no_alloc
def _board_index_matters(cards: np.ndarray, card: np.void, own: np.void) -> bool:
    """Whether a new minion's board index matters to its own effects or to minions in play."""
    if affects_neighbours(card, False):
        return True
    for place in range(own["n_board"]):
        minion = own["board"][place]
        acts = minion["traits"] & (Trait.ACTS | Trait.SILENCED) == Trait.ACTS
        if acts and affects_neighbours(cards[minion["card"]], True):
            return True
    return False


@njit_no_alloc
def affects_neighbours(card: np.void, in_play: bool) -> bool:
    """Whether a card has effects on adjacent minions; with `in_play`, only effects active in play."""
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        if effect["pick"] == Pick.NEXT_TO_SELF and (
            not in_play or IN_PLAY_TRIGGERS >> int(effect["trigger"]) & 1
        ):
            return True
    return False


@njit_no_alloc
def _may_target(state: np.void, cards: np.ndarray, card: np.void, played: np.void) -> bool:
    """Whether the targeting condition of `card`, played as option `played`, holds."""
    condition, arg = played["aim_condition"], played["aim_condition_arg"]
    if condition == 0:
        return True
    if condition == Condition.HOLDS_RACE:  # the card itself is still in hand
        own = state["sides"][state["active"]]
        itself = 1 if card_matches(card, MINIONS, CardFilter.RACE, arg) else 0
        return bool(n_in_hand(own, cards, MINIONS, CardFilter.RACE, arg) > itself)
    return bool(condition_holds(state, cards, state["active"], condition, arg, NO_EFFECT[0]))


@njit_no_alloc_inline
def _list_with_targets(
    card: np.void,
    played: np.void,
    has_targets: bool,
    own: np.void,
    enemy: np.void,
    action: int,
    actions: np.ndarray,
    n: int,
) -> int:
    """Append the plays of `card` as option `played`, one per target; return the new number."""
    before = n
    by_spell = card["kind"] in (CardKind.SPELL, CardKind.POWER)
    if has_targets:
        n = list_targets(played, by_spell, own, enemy, actions, n, action | AIMED)
    if not has_targets or (n == before and played["aim"] == Aim.IF_ANY):
        actions[n] = action
        n += 1
    return n
