"""Kernels of the game rules: legal actions, their application, and the outcome of a game.

An action is one integer, packed by `encode`; `engine.actions.Action` is its readable form. `apply` reports
deaths, so that callers need not compare boards. Kernels do not validate their input: `apply` needs an action
listed by `legal_actions`. For validated play see `engine.position.Position.play`.
"""

import numpy as np

from engine.bitfields import pack_action, unpack_action
from engine.codes import (
    BOARD_SIZE,
    COIN,
    HERO,
    MAX_ACTIONS,
    MAX_MANA,
    MAX_NOTED_ACTIONS,
    ActionKind,
    Death,
    Keyword,
    Outcome,
)
from engine.effects.board import remove_from_hand, remove_minion
from engine.effects.card_filters import has_effects
from engine.effects.legal_actions import list_effect_actions
from engine.effects.ops_character import restore_hero_health
from engine.effects.play import apply_with_effects
from engine.jit import njit, njit_inline
from engine.state import TO_HERO, TO_MINIONS, ZERO_MINION, damage_hero, guards, may_attack_hero, start_turn

ILLEGAL = -1
"""Result of `play_checked` for an illegal action."""

encode = njit(pack_action)
decode = njit(unpack_action)


@njit
def outcome(state: np.void) -> int:
    """The `Outcome` of a state: a dead hero loses; two dead heroes or the turn cap make a draw."""
    first_dead = state["sides"][0]["health"] <= 0
    second_dead = state["sides"][1]["health"] <= 0
    if first_dead and second_dead:
        return Outcome.DRAW
    if first_dead:
        return Outcome.SECOND_WINS
    if second_dead:
        return Outcome.FIRST_WINS
    if state["turn"] > state["turn_cap"]:
        return Outcome.DRAW
    return Outcome.ONGOING


@njit
def legal_actions(state: np.void, cards: np.ndarray, actions: np.ndarray) -> int:
    """Write the legal actions to `actions`: plays by hand place, hero power, attacks by attacker, turn end.

    Targets are in the order enemy minions, enemy hero, own minions, own hero. Attacks of the hero come after
    those of minions.

    Args:
        state: the position, dtype `STATE`.
        cards: the card table, shape (cards,), dtype `CARD`.
        actions: integers, shape (at least `MAX_ACTIONS`,). Modified in place.

    Returns:
        The number of actions; 0 if the game is over.
    """
    if outcome(state) != Outcome.ONGOING:
        return 0
    if has_effects(cards):
        return list_effect_actions(state, cards, actions)
    return _list_bodies(state, cards, actions)


@njit_inline
def _list_bodies(state: np.void, cards: np.ndarray, actions: np.ndarray) -> int:
    """Fast path of `legal_actions` for a game without effects that is not over."""
    own = state["sides"][state["active"]]
    enemy = state["sides"][1 - state["active"]]
    n = 0
    for place in range(own["n_hand"]):
        card = own["hand"][place]
        if card == COIN or (card >= 0 and own["n_board"] < BOARD_SIZE and cards[card]["cost"] <= own["mana"]):
            actions[n] = encode(ActionKind.PLAY, place, 0)
            n += 1
    guarded = False
    for target in range(enemy["n_board"]):
        guarded = guarded or guards(enemy["board"][target])
    for slot in range(own["n_board"]):
        minion = own["board"][slot]
        if minion["attacks_left"] == 0 or minion["attack"] == 0:
            continue
        for target in range(enemy["n_board"]):
            other = enemy["board"][target]
            if (not other["keywords"] & Keyword.STEALTH) and (not guarded or guards(other)):
                actions[n] = encode(ActionKind.ATTACK, slot, target)
                n += 1
        if not guarded and may_attack_hero(minion):
            actions[n] = encode(ActionKind.ATTACK, slot, HERO)
            n += 1
    actions[n] = encode(ActionKind.END_TURN, 0, 0)
    return n + 1


@njit
def apply(state: np.void, cards: np.ndarray, action: int, events: np.void) -> int:
    """Apply a legal action; return the minions that died in an attack. `state` is modified in place.

    Args:
        state: the position, dtype `STATE`.
        cards: the card table, shape (cards,), dtype `CARD`.
        action: an action that `legal_actions` lists for this position; any other is undefined behaviour.
        events: chance source and effect queue, dtype `EVENTS` (`engine.effects.chance`). Modified in place.

    Returns:
        Minions that died in an attack, as bits of `Death`; 0 for other actions.
    """
    _note(action, events)
    if has_effects(cards):
        return apply_with_effects(state, cards, action, events)
    _record_damage(state, action, events)
    return _apply_to_bodies(state, cards, action)


@njit_inline
def _note(action: int, events: np.void) -> None:
    """Note an action of a game that is played, not searched, for the game loop's log."""
    if events["game"] != 0:
        if events["n_noted"] < MAX_NOTED_ACTIONS:
            events["noted"][events["n_noted"]] = action
        events["n_noted"] += 1


@njit_inline
def _record_damage(state: np.void, action: int, events: np.void) -> None:
    """Record an action's damage in a game without effects, like `apply_with_effects`; reset chance events."""
    events["n_pending_outcomes"] = 0
    events["n_outcomes"] = 0
    events["depends_on_hidden"] = 0
    events["hits"][:] = 0
    kind, source, target = decode(action)
    if kind == ActionKind.ATTACK:
        seat = state["active"]
        foe = 1 - seat
        damage = state["sides"][seat]["board"][source]["attack"]
        if target == HERO:
            events["hits"][foe, TO_HERO] = damage
        else:
            events["hits"][foe, TO_MINIONS] = damage
            events["hits"][seat, TO_MINIONS] = state["sides"][foe]["board"][target]["attack"]


@njit_inline
def _apply_to_bodies(state: np.void, cards: np.ndarray, action: int) -> int:
    """Fast path of `apply` for a game without effects."""
    kind, source, target = decode(action)
    if kind == ActionKind.PLAY:
        _play(state, cards, source)
    elif kind == ActionKind.ATTACK:
        own, enemy = state["sides"][state["active"]], state["sides"][1 - state["active"]]
        return _attack(own, enemy, source, target)
    else:
        state["active"] = 1 - state["active"]
        if state["active"] == 0:
            state["turn"] += 1
        if state["turn"] <= state["turn_cap"]:
            start_turn(state)
    return 0


@njit
def _play(state: np.void, cards: np.ndarray, place: int) -> None:
    """Play a card from hand: The Coin, or a minion to the right end of the board."""
    side = state["sides"][state["active"]]
    number = remove_from_hand(side, place)
    if number == COIN:
        side["mana"] = min(side["mana"] + 1, MAX_MANA)
        return
    card = cards[number]
    side["mana"] -= card["cost"]
    minion = side["board"][side["n_board"]]
    side["n_board"] += 1
    state["last_entity_id"] += 1
    minion["entity_id"] = state["last_entity_id"]
    minion["card"] = number
    minion["max_health"] = card["health"]
    minion["attack"] = card["attack"]
    minion["health"] = card["health"]
    minion["keywords"] = card["keywords"]
    minion["arrived"] = 1
    if card["keywords"] & (Keyword.CHARGE | Keyword.RUSH):
        minion["attacks_left"] = 2 if card["keywords"] & Keyword.WINDFURY else 1
    else:
        minion["attacks_left"] = 0


@njit
def _attack(own: np.void, enemy: np.void, slot: int, target: int) -> int:
    """Resolve an attack: simultaneous damage, then removal of dead minions; return bits of `Death`."""
    attacker = own["board"][slot]
    attacker["attacks_left"] -= 1
    attacker["keywords"] &= ~Keyword.STEALTH
    if target == HERO:
        damage_hero(enemy, attacker["attack"])
        if attacker["keywords"] & Keyword.LIFESTEAL:
            restore_hero_health(own, attacker["attack"])
        return 0
    defender = enemy["board"][target]
    # Both deal damage with their attack and keywords from before the attack.
    attacker_keywords = attacker["keywords"]
    defender_keywords = defender["keywords"]
    _strike(own, attacker["attack"], attacker_keywords, defender)
    _strike(enemy, defender["attack"], defender_keywords, attacker)
    deaths = 0
    if defender["health"] <= 0:
        _remove(enemy, target)
        deaths |= Death.DEFENDER
    if attacker["health"] <= 0:
        _remove(own, slot)
        deaths |= Death.ATTACKER
    return deaths


@njit
def _strike(striking: np.void, damage: int, keywords: int, victim: np.void) -> None:
    """Deal one minion's damage to another; zero or absorbed damage triggers nothing. Modified in place."""
    if damage == 0:
        return
    if victim["keywords"] & Keyword.DIVINE_SHIELD:
        victim["keywords"] &= ~Keyword.DIVINE_SHIELD
        return
    victim["health"] -= damage
    if keywords & Keyword.POISONOUS:
        victim["health"] = min(victim["health"], 0)
    if keywords & Keyword.LIFESTEAL:
        restore_hero_health(striking, damage)


@njit
def _remove(side: np.void, slot: int) -> None:
    """Remove a dead minion; minions to its right move left. Modified in place."""
    side["died"] += 1
    remove_minion(side, slot, ZERO_MINION)


# Entry points for Python: with arrays of one state, since passing records to kernels is slow.


@njit
def outcome_of(states: np.ndarray) -> int:
    """`outcome` of the only state of an array of shape (1,)."""
    return outcome(states[0])


@njit
def list_legal(states: np.ndarray, cards: np.ndarray, actions: np.ndarray) -> int:
    """`legal_actions` of the only state of an array of shape (1,)."""
    return legal_actions(states[0], cards, actions)


@njit
def play_checked(states: np.ndarray, cards: np.ndarray, action: int, events: np.ndarray) -> int:
    """`apply` if the action is legal; else `ILLEGAL`, with `states` unchanged. Modified in place.

    `states` and `events` have shape (1,).
    """
    actions = np.empty(MAX_ACTIONS, np.int64)
    n = legal_actions(states[0], cards, actions)
    for place in range(n):
        if actions[place] == action:
            return apply(states[0], cards, action, events[0])
    return ILLEGAL
