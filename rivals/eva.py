"""EVA: greedy over single actions by 21 weights.

Source: "Optimizing Hearthstone agents using an evolutionary algorithm" (EVA), Algorithm 1, Eqs. 1 to 8,
Tables 1 and 2. Where print and the authors' code differ, the code is followed: a side's minions count w3
health + w4 attack + w6 killed - w5 new, as Table 1 names them (the printed Eqs. 4 and 5 have killed and new
exchanged), a minion's value is that before the action, and a move that kills the enemy hero beats all.
Stealth counts as Table 2 has it (their code leaves it out). Among equals the first action is chosen, where
their code takes the last.

With bodies alone heroes have no attack, and nothing lowers a minion's: w2 and w4 do nothing there, nor do w7,
w12 and w14 without Secrets, Deathrattle and Inspire. `rivals.effects.eva` plays games with real cards.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from engine import Outcome
from engine.cards import Card
from engine.cards.table import tags_of
from engine.codes import COIN, HERO, KEYWORD_FIELDS, MAX_ACTIONS, ActionKind, Death, Keyword
from engine.jit import njit
from engine.rules import apply_plain, decode, legal_actions, outcome
from engine.state import STATE
from engine.vocabulary import CardFilter, Trait, Trigger
from ilp_agent import WeightVector
from ilp_agent.weights import index_enum
from rivals.batch import play_apart
from rivals.single import SingleActionAgent

WITH_EFFECTS = frozenset({"hero_attack", "minion_attack"})
"""Weights of what only real cards change."""


@dataclass(frozen=True, slots=True)
class EvaWeights(WeightVector):
    """The 21 weights, w1 to w21 in the order of EVA's Tables 1 and 2; finite numbers >= 0, there in [0, 1].

    Raises:
        WeightError: a weight is negative, NaN, infinite or no number.
    """

    AGENT: ClassVar[str] = "eva"
    SCALE: ClassVar[str] = "shares: w1 to w8 of their sum, and w9 to w21, a minion's value, of theirs"
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
        """The weights of what no card changes, and those of keywords and the like that none has."""
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
        """The form that does not change with either of the two scales that no decision depends on.

        w9 to w21 are divided by their sum V, w3 to w6, which only multiply values, are multiplied by V; then
        w1 to w8 are divided by their sum. Hence w1 to w8 sum to 1, and so do w9 to w21.

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
"""Places of the weights in arrays."""

N_ACTION = int(EvaTerm.HEALTH)
"""w1 to w8 weigh what an action changes; the others make a minion's value."""


@njit
def value_of(minion: np.void, cards: np.ndarray, weights: np.ndarray) -> float:
    """A minion's value, Eqs. 6 and 7."""
    card = cards[minion["card"]]
    keywords = minion["keywords"]
    value: float = minion["health"] * weights[EvaTerm.HEALTH] + minion["attack"] * weights[EvaTerm.ATTACK]
    value += weights[EvaTerm.CHARGE] if keywords & Keyword.CHARGE else 0.0
    value += weights[EvaTerm.DEATHRATTLE] if minion["traits"] & Trait.DEATHRATTLE else 0.0
    value += weights[EvaTerm.DIVINE_SHIELD] if keywords & Keyword.DIVINE_SHIELD else 0.0
    inspired = card["hears"] >> Trigger.POWER_USED & 1 and not minion["traits"] & Trait.SILENCED
    value += weights[EvaTerm.INSPIRE] if inspired else 0.0
    value += weights[EvaTerm.LIFESTEAL] if keywords & Keyword.LIFESTEAL else 0.0
    value += weights[EvaTerm.STEALTH] if keywords & Keyword.STEALTH else 0.0
    value += weights[EvaTerm.TAUNT] if keywords & Keyword.TAUNT else 0.0
    value += weights[EvaTerm.WINDFURY] if keywords & Keyword.WINDFURY else 0.0
    value += weights[EvaTerm.POISONOUS] if keywords & Keyword.POISONOUS else 0.0
    value += card["rarity"] * weights[EvaTerm.RARITY] + card["cost"] * weights[EvaTerm.COST]
    return value


@njit
def score_action(
    before: np.void, after: np.void, cards: np.ndarray, action: int, deaths: int, weights: np.ndarray
) -> float:
    """The difference an action makes, Eq. 1; 0 for the end of the turn, infinite for a dead enemy hero.

    Args:
        before: the position, dtype `STATE`.
        after: the same with the action carried out; not looked at for the end of the turn.
        cards: the card table.
        action: as `engine.rules.encode` packs it.
        deaths: what `engine.rules.apply_plain` returned; 0 for the end of the turn.
        weights: indexed by `EvaTerm`.
    """
    kind, source, target = decode(action)
    if kind == ActionKind.END_TURN:
        return 0.0
    seat = before["active"]
    own, enemy = before["sides"][seat], before["sides"][1 - seat]
    own_after, enemy_after = after["sides"][seat], after["sides"][1 - seat]
    if enemy_after["health"] <= 0:
        return np.inf
    lost = enemy["health"] + enemy["armour"] - enemy_after["health"] - enemy_after["armour"]
    own_lost = own["health"] + own["armour"] - own_after["health"] - own_after["armour"]
    score: float = weights[EvaTerm.HERO_HEALTH] * (lost - own_lost) - weights[EvaTerm.MANA] * (
        own["mana"] - own_after["mana"]
    )
    if kind == ActionKind.PLAY:
        if own["hand"][source] != COIN:
            appeared = own_after["board"][own_after["n_board"] - 1]
            score += weights[EvaTerm.MINION_APPEARED] * value_of(appeared, cards, weights)
    elif target != HERO:
        victim, attacker = enemy["board"][target], own["board"][source]
        victim_after, attacker_after = enemy_after["board"][target], own_after["board"][source]
        score += _minion_change(victim, victim_after, (deaths & Death.DEFENDER) != 0, cards, weights)
        score -= _minion_change(attacker, attacker_after, (deaths & Death.ATTACKER) != 0, cards, weights)
    return score


@njit
def _minion_change(
    before: np.void, after: np.void, died: bool, cards: np.ndarray, weights: np.ndarray
) -> float:
    """What a side's one changed minion adds to its side's term, Eqs. 4 and 5."""
    value = value_of(before, cards, weights)
    if died:
        return float(weights[EvaTerm.MINION_KILLED] * value)
    return float(weights[EvaTerm.MINION_HEALTH] * (before["health"] - after["health"]) * value)


@njit
def best_action(
    state: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    actions: np.ndarray,
    next_states: np.ndarray,
) -> int:
    """Algorithm 1: the action that scores most, among equals the first in the order of `legal_actions`.

    Args:
        state: a game that is not over, dtype `STATE`.
        cards: the card table.
        weights: indexed by `EvaTerm`.
        actions: workspace of integers, shape (at least `MAX_ACTIONS`,). Modified in place.
        next_states: workspace, dtype `STATE`, shape (1,). Modified in place.
    """
    n = legal_actions(state, cards, actions)
    best, chosen = -np.inf, int(actions[n - 1])
    for place in range(n):
        action, deaths = actions[place], 0
        if place < n - 1:  # the last is the end of the turn, which is not carried out
            next_states[0] = state
            deaths = apply_plain(next_states[0], cards, action)
        score = score_action(state, next_states[0], cards, action, deaths, weights)
        if score > best:
            best, chosen = score, int(action)
    return chosen


@njit
def choose(
    states: np.ndarray,
    cards: np.ndarray,
    weights: np.ndarray,
    actions: np.ndarray,
    next_states: np.ndarray,
) -> int:
    """`best_action` of the only state of an array of shape (1,)."""
    return best_action(states[0], cards, weights, actions, next_states)


@njit
def play_turns(cards: np.ndarray, weights: np.ndarray, agents: np.ndarray, states: np.ndarray) -> None:
    """Play each game of bodies on while an agent of this kind is to move.

    Args:
        cards: the card table, dtype `engine.state.CARD`.
        weights: shape (agents, weights).
        agents: shape (games, 2) integers into `weights`; -1 for another kind of agent.
        states: dtype `STATE`, shape (games,). Modified in place.
    """
    actions = np.empty(MAX_ACTIONS, np.int64)
    next_states = np.zeros(1, STATE)
    for game in range(len(states)):
        state = states[game]
        while outcome(state) == Outcome.ONGOING and agents[game, state["active"]] >= 0:
            own = weights[agents[game, state["active"]]]
            action = best_action(state, cards, own, actions, next_states)
            apply_plain(state, cards, action)


def play_batch(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,  # noqa: ARG001
    chances: np.ndarray,
    turns: np.ndarray,  # noqa: ARG001
) -> None:
    """See `rivals.batch.PlayBatch`."""
    play_apart(play_turns, "rivals.effects.eva:play_turns", cards, weights, agents, states, chances)


class EvaAgent(SingleActionAgent[EvaWeights]):
    """Plays by EVA's Algorithm 1."""

    usual_name = "eva"
    with_effects = "rivals.effects.eva:choose"

    def _choose(self, states: np.ndarray, cards: np.ndarray) -> int:
        return choose(states, cards, self._array, self._actions, self._next)
