"""EVA: a greedy agent that scores single actions by 21 weights.

Source: "Optimizing Hearthstone agents using an evolutionary algorithm" (EVA), Algorithm 1, Eqs. 1 to 8,
Tables 1 and 2. Where the paper and the authors' code differ, this follows the code: a side's minions count w3
health + w4 attack + w6 killed - w5 new, as in Table 1 (the printed Eqs. 4 and 5 exchange killed and new), a
minion's value is that before the action, and a move that kills the enemy hero beats all others. Two
deviations from the code: Stealth counts as in Table 2, and ties go to the first action, not the last.

Minions are identified by entity number, as in the authors' simulator: a missing minion was killed, an
additional one appeared. A hero's attack is its weapon's plus its bonus of this turn. A random action scores
the mean over its outcomes. Without card effects w2 and w4 are inert, since heroes have no attack and minions
never lose any; w7, w12 and w14 are inert without Secrets, Deathrattle and Inspire.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from engine.cards import Card
from engine.cards.table import tags_of
from engine.codes import KEYWORD_FIELDS, Keyword
from engine.effect_codes import CardFilter, Trait, Trigger
from engine.effects.board import board_index_near
from engine.effects.chance import begin_hypothetical, n_hypothetical, set_hypothetical_outcome
from engine.jit import njit_no_alloc, njit_no_alloc_inline
from engine.rules import apply, legal_actions
from ilp_agent import WeightVector
from ilp_agent.weights import index_enum
from rivals.one_ply import OnePlyAgent, best_choice, one_ply, one_ply_batch, one_ply_choice

WITH_EFFECTS = frozenset({"hero_attack", "minion_attack"})
"""Weights that are inert without card effects."""


@dataclass(frozen=True, slots=True)
class EvaWeights(WeightVector):
    """The 21 weights, w1 to w21 in the order of EVA's Tables 1 and 2; finite, >= 0 (in EVA: in [0, 1]).

    Raises:
        WeightError: a weight is negative, NaN, infinite or no number.
    """

    AGENT: ClassVar[str] = "eva"
    SCALE: ClassVar[str] = "shares of two sums, that of w1 to w8 and that of w9 to w21 (a minion's value)"
    MEANINGS: ClassVar[tuple[str, ...]] = (
        "health and armour a hero lost",
        "attack a hero lost (inert with bodies alone)",
        "health a living minion lost, times its value",
        "attack a living minion lost, times its value (inert with bodies alone)",
        "value of a minion that appeared",
        "value of a minion that was killed",
        "secrets removed, less those that appeared (inert without any)",
        "mana used",
        "value: health",
        "value: attack",
        "value: Charge",
        "value: Deathrattle",
        "value: Divine Shield",
        "value: Inspire (inert without any)",
        "value: Lifesteal",
        "value: Stealth",
        "value: Taunt",
        "value: Windfury",
        "value: Poisonous",
        "value: rarity, 1 (common) to 4 (legendary)",
        "value: mana cost",
    )

    hero_health: float
    hero_attack: float
    minion_health: float
    minion_attack: float
    minion_appeared: float
    minion_killed: float
    secret: float
    mana: float
    health: float
    attack: float
    charge: float
    deathrattle: float
    divine_shield: float
    inspire: float
    lifesteal: float
    stealth: float
    taunt: float
    windfury: float
    poisonous: float
    rarity: float
    cost: float

    @classmethod
    def inert(cls, cards: Iterable[Card]) -> frozenset[str]:
        """Weights of features and keywords that no card has."""
        cards = list(cards)
        found = {name for card in cards for name in KEYWORD_FIELDS if getattr(card.spec, name)}
        if any(card.real for card in cards):
            found |= WITH_EFFECTS
        if any(row.trigger == Trigger.DEATHRATTLE for card in cards for row in card.effects):
            found.add("deathrattle")
        if any(row.trigger == Trigger.POWER_USED for card in cards for row in card.effects):
            found.add("inspire")
        if any(tags_of(card) & CardFilter.SECRET for card in cards):
            found.add("secret")
        return (
            WITH_EFFECTS | {"deathrattle", "inspire", "secret"} | (set(KEYWORD_FIELDS) & set(cls.names()))
        ) - found

    @classmethod
    def scale_free(cls, weights: np.ndarray) -> np.ndarray:
        """Weights normalised by both scales to which decisions are invariant.

        w9 to w21 are divided by their sum V; w3 to w6, which only multiply values, are multiplied by V; then
        w1 to w8 are divided by their sum. So w1 to w8 sum to 1, and w9 to w21 too.

        Args:
            weights: shape (..., weights).

        Returns:
            The same shape; NaN where a part is all zero.
        """
        value = weights[..., N_ACTION:].sum(axis=-1, keepdims=True)
        found = weights.astype(np.float64)
        found[..., EvaTerm.MINION_HEALTH : EvaTerm.MINION_KILLED + 1] *= value
        for part in (slice(None, N_ACTION), slice(N_ACTION, None)):
            total = found[..., part].sum(axis=-1, keepdims=True)
            divided = np.full_like(found[..., part], np.nan)
            found[..., part] = np.divide(found[..., part], total, out=divided, where=total > 0)
        return found


EvaTerm = index_enum("EvaTerm", EvaWeights, __name__)
"""Indices of the weights."""

GAME_SCORE = 1e9
"""Score of a won game as one of several chance outcomes; a lost game has its negative."""

N_ACTION = int(EvaTerm.HEALTH)
"""Number of weights of state changes, w1 to w8; the others make up a minion's value."""


@njit_no_alloc
def value_of(minion: np.void, cards: np.ndarray, weights: np.ndarray) -> float:
    """A minion's value, Eqs. 6 and 7."""
    card = cards[minion["card"]]
    keywords = minion["keywords"]
    value: float = minion["health"] * weights[EvaTerm.HEALTH] + minion["attack"] * weights[EvaTerm.ATTACK]
    value += weights[EvaTerm.CHARGE] if keywords & Keyword.CHARGE else 0.0
    value += weights[EvaTerm.DEATHRATTLE] if minion["traits"] & Trait.DEATHRATTLE else 0.0
    value += weights[EvaTerm.DIVINE_SHIELD] if keywords & Keyword.DIVINE_SHIELD else 0.0
    inspired = card["trigger_bits"] >> Trigger.POWER_USED & 1 and not minion["traits"] & Trait.SILENCED
    value += weights[EvaTerm.INSPIRE] if inspired else 0.0
    value += weights[EvaTerm.LIFESTEAL] if keywords & Keyword.LIFESTEAL else 0.0
    value += weights[EvaTerm.STEALTH] if keywords & Keyword.STEALTH else 0.0
    value += weights[EvaTerm.TAUNT] if keywords & Keyword.TAUNT else 0.0
    value += weights[EvaTerm.WINDFURY] if keywords & Keyword.WINDFURY else 0.0
    value += weights[EvaTerm.POISONOUS] if keywords & Keyword.POISONOUS else 0.0
    value += card["rarity"] * weights[EvaTerm.RARITY] + card["cost"] * weights[EvaTerm.COST]
    return value


@njit_no_alloc_inline
def score_change(before: np.void, after: np.void, seat: int, cards: np.ndarray, weights: np.ndarray) -> float:
    """Score of an action, Eq. 1; infinite for a dead enemy hero, minus infinite for a dead own hero.

    Args:
        before: the position, dtype `STATE`.
        after: the same with the action carried out.
        seat: 0 or 1, the acting player.
        cards: the card table.
        weights: indexed by `EvaTerm`.
    """
    own, enemy = before["sides"][seat], before["sides"][1 - seat]
    own_after, enemy_after = after["sides"][seat], after["sides"][1 - seat]
    if own_after["health"] <= 0:
        return -np.inf
    if enemy_after["health"] <= 0:
        return np.inf
    used = weights[EvaTerm.MANA] * (own["mana"] - own_after["mana"])
    lost = _side_lost(enemy, enemy_after, cards, weights) - _side_lost(own, own_after, cards, weights)
    return float(lost - used)


@njit_no_alloc_inline
def _side_lost(before: np.void, after: np.void, cards: np.ndarray, weights: np.ndarray) -> float:
    """Loss of one side by an action, Eqs. 2 to 5."""
    lost: float = weights[EvaTerm.HERO_HEALTH] * (
        before["health"] + before["armour"] - after["health"] - after["armour"]
    )
    lost += weights[EvaTerm.HERO_ATTACK] * (
        before["weapon_attack"] + before["hero_attack"] - after["weapon_attack"] - after["hero_attack"]
    )
    lost += weights[EvaTerm.SECRET] * (before["n_secrets"] - after["n_secrets"])
    survivors = 0
    for place in range(before["n_board"]):
        minion = before["board"][place]
        later = board_index_near(after, minion["entity_id"], place)
        if later < 0:
            lost += weights[EvaTerm.MINION_KILLED] * value_of(minion, cards, weights)
            continue
        survivors += 1
        minion_after = after["board"][later]
        health, attack = minion["health"] - minion_after["health"], minion["attack"] - minion_after["attack"]
        if health != 0 or attack != 0:
            value = value_of(minion, cards, weights)
            lost += weights[EvaTerm.MINION_HEALTH] * health * value
            lost += weights[EvaTerm.MINION_ATTACK] * attack * value
    if survivors == after["n_board"]:
        return lost
    for place in range(after["n_board"]):
        minion = after["board"][place]
        if board_index_near(before, minion["entity_id"], place) < 0:
            lost -= weights[EvaTerm.MINION_APPEARED] * value_of(minion, cards, weights)
    return lost


@njit_no_alloc
def score_action(
    state: np.void,
    cards: np.ndarray,
    action: int,
    weights: np.ndarray,
    next_states: np.ndarray,
    effect_state: np.void,
) -> float:
    """Mean of `score_change` over an action's outcomes. Modifies `next_states` and `effect_state`."""
    seat = state["active"]
    begin_hypothetical(effect_state)
    next_states[0] = state
    apply(next_states[0], cards, action, effect_state)
    first = effect_state["n_pending_outcomes"]
    if first == 0:
        return score_change(state, next_states[0], seat, cards, weights)
    n, score = n_hypothetical(effect_state), 0.0
    for number in range(n):
        set_hypothetical_outcome(effect_state, state, number, first)
        next_states[0] = state
        apply(next_states[0], cards, action, effect_state)
        change = score_change(state, next_states[0], seat, cards, weights)
        score += min(max(change, -GAME_SCORE), GAME_SCORE)
    return score / n


@one_ply
def best_action(
    state: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    actions: np.ndarray,
    next_states: np.ndarray,
    effect_state: np.ndarray,
) -> int:
    """Highest-scoring legal action, Algorithm 1; ties go to the first in the order of `legal_actions`.

    Args:
        state: dtype `STATE`, not over, hidden cards hidden.
        cards: the card table.
        weights: indexed by `EvaTerm`.
        actions: workspace of integers, shape (at least `MAX_ACTIONS`,). Modified in place.
        next_states: workspace, dtype `STATE`, shape (at least 1,). Modified in place.
        effect_state: workspace, dtype `EVENTS`, shape (1,). Modified in place.
    """
    if state["n_options"] > 0:
        return best_choice(state, cards)
    n = legal_actions(state, cards, actions)
    best, chosen = -np.inf, int(actions[n - 1])
    for place in range(n):
        score = 0.0
        if place < n - 1:  # the last action ends the turn and scores 0
            score = score_action(state, cards, actions[place], weights, next_states, effect_state[0])
        if score > best:
            best, chosen = score, int(actions[place])
    return chosen


class EvaAgent(OnePlyAgent[EvaWeights]):
    """Greedy agent of EVA's Algorithm 1."""

    usual_name = "eva"
    choose = staticmethod(one_ply_choice(best_action))


play_batch = one_ply_batch(best_action)
