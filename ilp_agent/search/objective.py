"""Evaluation of a turn: gain of each action, and value of the position at the turn's end; compiled.

The objective of docs/turn-program.md is the sum of the gains of all actions and the value of the end, less
that of the start (`base_value`), so that positions within a turn compare by their remaining gain.

A score is an alternative evaluation: a weighted sum of the features of the end (`ilp_agent.features`),
infinite for a dead enemy hero. Its weights follow those of all terms, which are 0 then.
"""

import numpy as np

from engine.bitfields import AIMED, unpack_action
from engine.codes import BOARD_SIZE, COIN, HERO, OWN_TARGETS, UNKNOWN, ActionKind
from engine.effect_codes import (
    ENEMY,
    HEROES,
    MINIONS,
    OWN,
    CardKind,
    Filter,
    Op,
    Pick,
    Trait,
    Trigger,
)
from engine.effects.card_filters import has_effects
from engine.effects.targets import minion_matches
from engine.effects.triggers import any_card_has_trigger
from engine.jit import njit_no_alloc, njit_no_alloc_inline
from engine.state import TO_HERO, TO_MINIONS
from ilp_agent.features import (
    ENEMY_HERO,
    HIDDEN_CARDS,
    N_COUNTS,
    count_hand_card,
    count_hearthsim_terms,
    direct_damage,
    minion_end_value,
)
from ilp_agent.search.transposition import initial_health
from ilp_agent.weights import N_TERMS, Term

SPELL_BONUS = 0.9
"""Constant part of the value of a damage spell in hand (HearthSim)."""

_decode = njit_no_alloc(unpack_action)


FORBIDDEN = -1e290
"""Value of a plan, or of ending the turn, that surely kills the own hero."""


@njit_no_alloc_inline
def is_score(weights: np.ndarray) -> bool:
    """Whether weights are those of a score."""
    return len(weights) > N_TERMS


@njit_no_alloc
def score_of(state: np.void, cards: np.ndarray, weights: np.ndarray, start: np.void) -> float:
    """Score of a position. `start["counts"]` is modified in place."""
    if state["sides"][start["seat"]]["health"] <= 0:
        return -np.inf
    if state["sides"][1 - start["seat"]]["health"] <= 0:
        return np.inf
    counts = start["counts"]
    count_hearthsim_terms(state, cards, start["seat"], counts)
    value: float = start["drawn"] * counts[HIDDEN_CARDS]
    for count in range(N_COUNTS):
        value += weights[N_TERMS + count] * counts[count]
    return value


@njit_no_alloc
def draw_value(side: np.void, cards: np.ndarray, weights: np.ndarray, counts: np.ndarray) -> float:
    """Value of a draw: mean score of a deck card if held in hand. `counts` is modified in place."""
    if side["n_deck"] == 0 or not has_effects(cards):
        return 0.0
    counts[:] = 0
    for place in range(side["n_deck"]):
        if side["deck"][place] >= 0:
            count_hand_card(cards[side["deck"][place]], True, counts)
    total = 0.0
    for count in range(HIDDEN_CARDS):
        total += weights[N_TERMS + count] * counts[count]
    return float(total / side["n_deck"])


@njit_no_alloc
def count_hidden_cards(side: np.void, cards: np.ndarray, start: np.void) -> None:
    """Set the counts of a hidden card in hand: means over the own deck. `start` is modified in place."""
    mana, damage, spells = 0, 0, 0
    for place in range(side["n_deck"]):
        if side["deck"][place] >= 0:
            dealt = direct_damage(cards[side["deck"][place]])
            mana += 0 if dealt else cards[side["deck"][place]]["cost"]
            damage += dealt
            spells += 1 if dealt else 0
    n = max(side["n_deck"], 1)
    start["hidden_mana"], start["hidden_damage"], start["hidden_spells"] = mana / n, damage / n, spells / n


@njit_no_alloc
def damage_value(weights: np.ndarray) -> float:
    """Value of a point of non-lethal damage to the enemy hero."""
    if is_score(weights):
        return float(-weights[N_TERMS + ENEMY_HERO])
    return float(weights[Term.FACE] + weights[Term.ENEMY_HERO])


@njit_no_alloc
def kill_value(weights: np.ndarray, damage: int, health: int) -> float:
    """Value of hits that deal `damage` and kill the enemy hero, who has `health` with armour."""
    if is_score(weights):
        return np.inf
    return float(weights[Term.LETHAL] + weights[Term.FACE] * damage + weights[Term.ENEMY_HERO] * health)


@njit_no_alloc
def hero_health(side: np.void) -> int:
    """Health and armour of a hero; 0 once it is dead."""
    return int(side["health"] + side["armour"]) if side["health"] > 0 else 0


@njit_no_alloc
def full_end_value(state: np.void, seat: int, weights: np.ndarray) -> float:
    """End value by the full weights, beyond the extended weights, without cards in hand.

    The enemy hero counts with its health at the end; `base_value` has that at the start.
    """
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    value, enemy_health = 0.0, 0
    for place in range(own["n_board"]):
        minion = own["board"][place]
        attack = minion["attack"] - minion["turn_attack"]
        value += minion_end_value(attack, minion["health"], minion["keywords"], weights)
    for place in range(enemy["n_board"]):
        enemy_health += enemy["board"][place]["health"]
    value -= weights[Term.ENEMY_HEALTH] * enemy_health + weights[Term.ENEMY_HERO] * hero_health(enemy)
    value -= weights[Term.ENEMY_WEAPON] * (enemy["weapon_attack"] * enemy["durability"])
    return float(value + weights[Term.SECRETS] * own["n_secrets"])


@njit_no_alloc
def hand_value(
    own: np.void, cards: np.ndarray, weights: np.ndarray, mana: float, damage: float, spells: float
) -> float:
    """Value of the cards in hand, by the full weights.

    Args:
        own: the player's side.
        cards: the card table.
        weights: indexed by `Term`.
        mana: cost that a hidden card counts.
        damage: damage of spells that it counts.
        spells: damage spells that it counts.
    """
    value = 0.0
    for place in range(own["n_hand"]):
        number = own["hand"][place]
        if number == COIN:
            continue
        value += weights[Term.HAND]
        if number <= UNKNOWN:
            value += weights[Term.HAND_MANA] * mana + weights[Term.SPELL_DAMAGE] * damage
            value += weights[Term.DAMAGE_SPELLS] * spells
            continue
        dealt = direct_damage(cards[number])
        if dealt:
            value += weights[Term.SPELL_DAMAGE] * dealt + weights[Term.DAMAGE_SPELLS]
        else:
            value += weights[Term.HAND_MANA] * cards[number]["cost"]
    return float(value)


@njit_no_alloc
def extended_end_value(state: np.void, seat: int, weights: np.ndarray) -> float:
    """End value by the extended weights, beyond the weights of the thesis."""
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    value = 0.0
    if weights[Term.BODY] != 0.0 or weights[Term.WOUND] != 0.0 or weights[Term.FROZEN] != 0.0:
        wound, frozen, body = 0, 0, 0
        for place in range(enemy["n_board"]):
            minion = enemy["board"][place]
            wound += minion["health"]
            if minion["traits"] & Trait.FROZEN:
                frozen += minion["attack"] - minion["turn_attack"]
        for place in range(own["n_board"]):
            minion = own["board"][place]
            body += minion["attack"] - minion["turn_attack"] + minion["health"]
        value = weights[Term.BODY] * body - weights[Term.WOUND] * wound + weights[Term.FROZEN] * frozen
    value += weights[Term.HERO] * (own["health"] + own["armour"])
    value += weights[Term.WEAPON] * (own["weapon_attack"] * own["durability"])
    return float(value - weights[Term.OVERLOAD] * own["overload"])


@njit_no_alloc
def extended_gain(
    before: np.void, after: np.void, cards: np.ndarray, action: int, weights: np.ndarray
) -> float:
    """Gain of an action by the extended weights, beside its effect on `extended_end_value`."""
    seat = before["active"]
    own, enemy = before["sides"][seat], before["sides"][1 - seat]
    kind, source, target = _decode(action)
    gain = 0.0
    if kind == ActionKind.PLAY and weights[Term.HOLD] != 0.0 and own["hand"][source] != COIN:
        card = cards[own["hand"][source]]
        if card["kind"] == CardKind.SPELL:
            gain -= weights[Term.HOLD] * held_spell_value(card, enemy, target if action & AIMED else -1)
    if weights[Term.DRAW] != 0.0:
        gain += weights[Term.DRAW] * (hidden_cards(after["sides"][seat]) - hidden_cards(own))
    if after["last_entity_id"] != before["last_entity_id"]:
        gain += entered_stats(before, after, cards, weights)
    return float(gain)


@njit_no_alloc
def base_value(state: np.void, weights: np.ndarray, seat: int) -> float:
    """Start value to subtract: own stats and the own hero's health, less the enemies' and their hero's."""
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    body, wound = 0, 0
    for place in range(own["n_board"]):
        minion = own["board"][place]
        body += minion["attack"] - minion["turn_attack"] + minion["health"]
    for place in range(enemy["n_board"]):
        wound += enemy["board"][place]["health"]
    hero = own["health"] + own["armour"]
    value = weights[Term.BODY] * body - weights[Term.WOUND] * wound + weights[Term.HERO] * hero
    return float(value - weights[Term.ENEMY_HERO] * hero_health(enemy))


@njit_no_alloc
def end_value(state: np.void, cards: np.ndarray, weights: np.ndarray, start: np.void) -> float:
    """Value of a position if the turn ends there, without end-of-turn effects.

    A dead own hero counts minus `lethal`; if both heroes are dead, neither counts.

    Args:
        state: dtype `engine.state.STATE`.
        cards: the card table.
        weights: indexed by `Term`.
        start: dtype `ilp_agent.search.work.START`.
    """
    if is_score(weights):
        return score_of(state, cards, weights, start)
    seat = start["seat"]
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    value = 0.0
    if enemy["health"] <= 0:
        value += weights[Term.LETHAL]
    if own["health"] <= 0:
        value -= weights[Term.LETHAL]
    if enemy["n_board"] == 0:
        value += weights[Term.CLEAR]
    threat, survive = 0, 0
    for place in range(enemy["n_board"]):
        threat += enemy["board"][place]["attack"] - enemy["board"][place]["turn_attack"]
    for place in range(own["n_board"]):
        survive += initial_health(own["board"][place], cards, start)
    value += weights[Term.SURVIVE] * survive - weights[Term.THREAT] * threat
    if start["full"]:
        value += full_end_value(state, seat, weights)
        hidden = start["hidden_mana"], start["hidden_damage"], start["hidden_spells"]
        value += hand_value(own, cards, weights, hidden[0], hidden[1], hidden[2])
    return float(value + extended_end_value(state, seat, weights))


@njit_no_alloc
def action_gain(
    before: np.void,
    after: np.void,
    cards: np.ndarray,
    action: int,
    effect_state: np.void,
    weights: np.ndarray,
) -> float:
    """Gain of an action, beside its effect on the end value.

    Args:
        before: the position, dtype `engine.state.STATE`.
        after: the position after the action, with drawn cards hidden.
        cards: the card table.
        action: as `engine.rules.encode` packs it.
        effect_state: events of carrying it out, dtype `EVENTS`.
        weights: indexed by `Term`.
    """
    if is_score(weights):
        return 0.0
    seat = before["active"]
    own, enemy = before["sides"][seat], before["sides"][1 - seat]
    kind, source, target = _decode(action)
    gain = weights[Term.FACE] * effect_state["hits"][1 - seat, TO_HERO]
    gain += weights[Term.DAMAGE] * effect_state["hits"][1 - seat, TO_MINIONS]
    if kind == ActionKind.ATTACK:
        if target != HERO:
            gain -= weights[Term.TRADE] * enemy["board"][target]["attack"]
    elif kind == ActionKind.PLAY:
        number = own["hand"][source]
        if number != COIN:
            gain += weights[Term.PLAY] * cards[number]["value"]
    return float(gain + extended_gain(before, after, cards, action, weights))


@njit_no_alloc
def entered_stats(before: np.void, after: np.void, cards: np.ndarray, weights: np.ndarray) -> float:
    """Correction of `body` and `wound` by the printed stats of minions that entered with an action."""
    seat = before["active"]
    body, wound = 0, 0
    for seat_number in range(2):
        side = after["sides"][seat_number]
        for place in range(side["n_board"]):
            minion = side["board"][place]
            if minion["entity_id"] > before["last_entity_id"]:
                card = cards[minion["card"]]
                if seat_number == seat:
                    body += card["attack"] + card["health"]
                else:
                    wound += card["health"]
    return float(weights[Term.WOUND] * wound - weights[Term.BODY] * body)


@njit_no_alloc
def hidden_cards(side: np.void) -> int:
    """Number of cards in a side's hand that the searching player does not know."""
    n = 0
    for place in range(side["n_hand"]):
        if side["hand"][place] == UNKNOWN:
            n += 1
    return n


@njit_no_alloc
def held_spell_value(card: np.void, enemy: np.void, aimed: int) -> float:
    """Value of a damage spell in hand: printed damage times its targets, plus 0.9.

    Args:
        card: a spell.
        enemy: the enemy side, before it is cast.
        aimed: its target, 0 to 15; -1 for none.

    Returns:
        0 for a spell that deals no damage to the enemy side.
    """
    total = 0.0
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        if effect["trigger"] != Trigger.PLAY or effect["op"] != Op.DAMAGE or not effect["side"] & ENEMY:
            continue
        amount = (effect["amount"] + max(effect["amount2"], effect["amount"])) / 2
        pick = effect["pick"]
        if pick == Pick.RANDOM:
            total += amount * max(effect["times"], 1)
        elif pick == Pick.ALL:
            total += amount * _n_targets(effect, enemy, aimed)
        else:
            total += amount
    return float(total + SPELL_BONUS if total > 0 else 0.0)


@njit_no_alloc
def _n_targets(effect: np.void, enemy: np.void, aimed: int) -> int:
    """Number of enemies that an effect row affects."""
    n = 0
    excludes_target = effect["filter"] & Filter.NOT_TARGET and 0 <= aimed < OWN_TARGETS
    if effect["kind"] & MINIONS:
        for place in range(enemy["n_board"]):
            if excludes_target and place == aimed:
                continue
            if minion_matches(effect["filter"], effect["arg"], enemy["board"][place]):
                n += 1
    if effect["kind"] & HEROES and not (excludes_target and aimed == BOARD_SIZE):
        n += 1
    return n


@njit_no_alloc
def has_end_of_turn_effect(state: np.void, cards: np.ndarray, seat: int) -> bool:
    """Whether a card in play has an effect at the end of the turn of the player at `seat`."""
    if not any_card_has_trigger(cards, Trigger.TURN_END):
        return False
    for seat_number in range(2):
        side = state["sides"][seat_number]
        for place in range(side["n_board"]):
            minion = side["board"][place]
            if not minion["traits"] & Trait.ACTS:
                continue
            if not minion["traits"] & Trait.SILENCED and _has_end_of_turn_trigger(
                cards[minion["card"]], seat_number == seat
            ):
                return True
            for n in range(len(minion["granted_effects"])):
                if minion["granted_effects"][n]:
                    return True
        if side["durability"] > 0 and _has_end_of_turn_trigger(cards[side["weapon"]], seat_number == seat):
            return True
    return False


@njit_no_alloc
def _has_end_of_turn_trigger(card: np.void, own: bool) -> bool:
    """Whether a card has an end-of-turn trigger for its owner's turn (`own`), or for the opponent's."""
    if not card["trigger_bits"] >> Trigger.TURN_END & 1:
        return False
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        if effect["trigger"] == Trigger.TURN_END and effect["on_side"] & (OWN if own else ENEMY):
            return True
    return False


@njit_no_alloc
def is_lost(state: np.void, start: np.void) -> bool:
    """Whether the own hero is dead and the enemy's is not."""
    seat = start["seat"]
    return bool(state["sides"][seat]["health"] <= 0 and state["sides"][1 - seat]["health"] > 0)
