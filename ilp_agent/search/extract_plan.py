"""Best moves in the transposition table, and the principal variation up to the next chance node; compiled."""

import numpy as np

from engine.bitfields import AIMED, BOARD_PLACE_SHIFT, OPTION_SHIFT, PLACE_BITS
from engine.codes import BOARD_SIZE, COIN, HERO, OWN_TARGETS, ActionKind, Outcome
from engine.effects.chance import begin_hypothetical
from engine.jit import njit_no_alloc
from engine.rules import apply, decode, encode, legal_actions, outcome
from ilp_agent.search.deferred_actions import (
    DEFER_PLAYS,
    WITH_ALL_ATTACKS,
    WITH_HERO_ATTACK,
    attack_hero,
    deferrable_actions,
    next_attack_before_kill,
    next_deferred_action,
    next_deferred_play,
)
from ilp_agent.search.pruning import count_slots
from ilp_agent.search.transposition import (
    NOT_FOUND,
    add_entry,
    board_order_matters,
    find_entry,
    hand_modifier_word,
    has_earlier_copy,
    minion_key,
    own_minion_key,
    position_key,
)
from ilp_agent.search.work import ENEMY_HERO_KEY, MAX_DEPTH, NO_TARGET_KEY, OWN_HERO_KEY


@njit_no_alloc
def store_best_action(
    level: int, cards: np.ndarray, work: np.void, memo: np.ndarray, slots: np.ndarray
) -> None:
    """Store a position's value and best action, independent of board order."""
    frame, state = work["frames"][level], work["states"][level]
    known = find_entry(frame["key"], work, memo, slots)
    noted = memo[known if known != NOT_FOUND else add_entry(frame["key"], work, memo, slots)]
    noted["key"], noted["value"] = frame["key"], frame["best"]
    noted["most"] = max(frame["best"], frame["skipped"])
    kind, source, target = decode(frame["action"])
    start = work["start"]
    noted["kind"], noted["card"], noted["first"] = (
        kind,
        0,
        frame["action"] & (WITH_HERO_ATTACK | WITH_ALL_ATTACKS),
    )
    noted["source"], noted["target"], noted["more"] = 0, NO_TARGET_KEY, frame["action"] & DETAIL_BITS
    own = state["sides"][start["seat"]]
    if kind == ActionKind.PLAY:
        noted["card"], noted["hand_modifiers"] = (
            own["hand"][source],
            hand_modifier_word(own["hand_modifiers"][source]),
        )
    if board_order_matters(cards):
        # Board positions are part of the key; hand positions are not.
        noted["source"], noted["target"] = source, target
        if kind == ActionKind.PLAY:
            noted["source"] = 0
        return
    if kind == ActionKind.CHOOSE:
        noted["source"] = source
    if kind == ActionKind.ATTACK:
        if source != HERO:
            noted["source"] = own_minion_key(own["board"][source], cards, start)
        noted["target"] = character_key(state, cards, start, target)
    elif frame["action"] & AIMED:
        noted["target"] = character_key(state, cards, start, target)


DETAIL_BITS = AIMED | ((1 << (BOARD_PLACE_SHIFT + PLACE_BITS)) - (1 << OPTION_SHIFT))
"""Bits of an action: whether it has a target, which option is chosen, and the board position of a minion."""


@njit_no_alloc
def character_key(state: np.void, cards: np.ndarray, start: np.void, character: int) -> np.uint64:
    """Key of a target, 0 to 15; equal for identical minions."""
    seat = start["seat"]
    if character == HERO:
        return np.uint64(ENEMY_HERO_KEY)
    if character < OWN_TARGETS:
        return minion_key(state["sides"][1 - seat]["board"][character], np.uint64(2))
    if character == OWN_TARGETS + BOARD_SIZE:
        return np.uint64(OWN_HERO_KEY)
    return own_minion_key(state["sides"][seat]["board"][character - OWN_TARGETS], cards, start)


@njit_no_alloc
def stored_best_action(state: np.void, cards: np.ndarray, memo: np.void, work: np.void) -> int:
    """Stored best action of a position, as a legal action of `state`; 0 for the end of the turn."""
    if memo["kind"] == ActionKind.END_TURN:
        return 0
    start = work["start"]
    own = state["sides"][start["seat"]]
    actions = work["actions"][MAX_DEPTH]
    n = legal_actions(state, cards, actions)
    by_place = board_order_matters(cards)
    for place in range(n):
        action = actions[place]
        kind, source, target = decode(action)
        if kind != memo["kind"] or action & DETAIL_BITS != memo["more"]:
            continue
        if kind == ActionKind.PLAY:
            if (
                own["hand"][source] != memo["card"]
                or hand_modifier_word(own["hand_modifiers"][source]) != memo["hand_modifiers"]
            ):
                continue
            if by_place and (target != memo["target"] or has_earlier_copy(own, source)):
                continue
        if by_place:
            if kind != ActionKind.PLAY and (source != memo["source"] or target != memo["target"]):
                continue
            return int(action)
        if kind == ActionKind.CHOOSE and source != memo["source"]:
            continue
        if kind == ActionKind.ATTACK:
            if (source == HERO) != (memo["source"] == 0):
                continue
            if source != HERO and own_minion_key(own["board"][source], cards, start) != memo["source"]:
                continue
        aimed = kind == ActionKind.ATTACK or action & AIMED
        key = character_key(state, cards, start, target) if aimed else np.uint64(NO_TARGET_KEY)
        if key == memo["target"]:
            return int(action) | int(memo["first"])
    raise AssertionError("the stored action must be legal in every position with its key")


@njit_no_alloc
def extract_actions(
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    work: np.void,
    memo: np.ndarray,
    slots: np.ndarray,
    solved: np.void,
) -> None:
    """Extract the plan: best actions from the root to a chance outcome or new information.

    Modified in place; `work["states"][1]` receives the final position.
    """
    start, effect_state = work["start"], work["effect_state"][0]
    work["states"][1] = work["states"][0]
    state = work["states"][1]
    solved["n"], solved["again"] = 0, 0
    frame, next_frame = work["frames"][0], work["frames"][1]
    frame["hand_attackers"], frame["hand_attackers_died"] = 0, 0
    while outcome(state) == Outcome.ONGOING:
        key = position_key(state, cards, start, frame["hand_attackers"], frame["hand_attackers_died"])
        known = find_entry(key, work, memo, slots)
        if known == NOT_FOUND:
            solved["again"], solved["unproven"] = 1, 1  # not searched, because of the limit
            return
        action = stored_best_action(state, cards, memo[known], work)
        if action == 0:
            break
        begin_hypothetical(effect_state)
        if action & WITH_HERO_ATTACK:
            append_attacks(state, action, solved)
            attack_hero(state, cards, action, effect_state)
            action -= WITH_HERO_ATTACK
        if action & WITH_ALL_ATTACKS:
            action -= WITH_ALL_ATTACKS
            place = next_attack_before_kill(state, cards, action, work)
            while place >= 0:
                attack = encode(ActionKind.ATTACK, place, HERO)
                append_action(attack, solved)
                apply(state, cards, attack, effect_state)
                place = next_attack_before_kill(state, cards, action, work)
            begin_hypothetical(effect_state)
        work["scratch"][1] = state
        deaths = apply(work["scratch"][1], cards, action, effect_state)
        after = work["scratch"][1]
        has_chance = effect_state["n_pending_outcomes"] > 0
        if start["defers_actions"] and not has_chance and outcome(after) != Outcome.ONGOING:
            late = deferrable_actions(state, cards, facts, start["seat"])
            if late & DEFER_PLAYS:  # before the killing blow
                paid = state["sides"][start["seat"]]["mana"] - after["sides"][start["seat"]]["mana"]
                if play_before_killing_blow(state, paid, cards, weights, facts, work, solved):
                    return
                action = stored_best_action(state, cards, memo[known], work) & ~WITH_ALL_ATTACKS
        append_action(action, solved)
        if start["slots"]:
            next_frame["hand_attackers"], next_frame["hand_attackers_died"] = (
                frame["hand_attackers"],
                frame["hand_attackers_died"],
            )
            count_slots(state, action, deaths, start, next_frame)
            frame["hand_attackers"], frame["hand_attackers_died"] = (
                next_frame["hand_attackers"],
                next_frame["hand_attackers_died"],
            )
        seat = start["seat"]
        drew_card = state["sides"][seat]["n_deck"] != after["sides"][seat]["n_deck"]
        faces_secrets = (
            state["sides"][1 - seat]["n_secrets"] > 0
        )  # Secrets are hidden until they are revealed
        if has_chance or drew_card or faces_secrets or effect_state["depends_on_hidden"]:
            solved["again"] = 1
            return
        work["states"][1] = after
    if start["defers_actions"]:
        append_deferred_actions(state, cards, weights, facts, work, solved)


@njit_no_alloc
def append_deferred_actions(
    state: np.void, cards: np.ndarray, weights: np.ndarray, facts: np.ndarray, work: np.void, solved: np.void
) -> None:
    """Append the deferred actions to the plan, and apply them. Modifies `state` and `solved`."""
    start, effect_state = work["start"], work["effect_state"][0]
    if outcome(state) != Outcome.ONGOING:
        return
    late = deferrable_actions(state, cards, facts, start["seat"])
    while outcome(state) == Outcome.ONGOING:
        action = next_deferred_action(state, cards, weights, facts, late, start["seat"], work)
        if action == 0:
            return
        if append_deferred_action(state, cards, facts, action, work, solved):
            return
        begin_hypothetical(effect_state)
        apply(state, cards, action, effect_state)


@njit_no_alloc
def append_deferred_action(
    state: np.void, cards: np.ndarray, facts: np.ndarray, action: int, work: np.void, solved: np.void
) -> bool:
    """Append one deferred action to the plan. `solved` is modified in place.

    An action that draws cards is moved to the front if possible; the turn is solved again after it.

    Returns:
        Whether it draws, so that the plan ends.
    """
    kind, source, _ = decode(action)
    seat = work["start"]["seat"]
    own, root = state["sides"][seat], work["states"][0]
    number = own["power"] - 1
    if kind == ActionKind.PLAY:
        number = own["hand"][source]
    if kind == ActionKind.ATTACK or number == COIN or facts[number]["draws"] == 0:
        append_action(action, solved)
        return False
    before = root["sides"][seat]
    may = (
        cards[number]["cost"] <= before["mana"]
        and before["n_board"] + facts[number]["arrivals"] <= BOARD_SIZE
    )
    if may and deferrable_actions(root, cards, facts, seat) & DEFER_PLAYS:
        solved["n"] = 0
        if kind == ActionKind.PLAY:
            source = 0
            while before["hand"][source] != number:
                source += 1
            action = int(encode(ActionKind.PLAY, source, 0))
    append_action(action, solved)
    solved["again"] = 1
    return True


@njit_no_alloc
def append_attacks(state: np.void, action: int, solved: np.void) -> None:
    """Append the attacks of `attack_hero` to the plan. `solved` is modified in place."""
    _, _, target = decode(action)
    place = target - OWN_TARGETS
    for _ in range(state["sides"][state["active"]]["board"][place]["attacks_left"]):
        append_action(encode(ActionKind.ATTACK, place, HERO), solved)


@njit_no_alloc
def append_action(action: int, solved: np.void) -> None:
    """Append an action to the plan. `solved` is modified in place."""
    solved["actions"][solved["n"]] = action
    solved["n"] += 1


@njit_no_alloc
def play_before_killing_blow(
    state: np.void,
    paid: int,
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    work: np.void,
    solved: np.void,
) -> bool:
    """Append the deferred plays before a last action of cost `paid`; returns whether they draw cards."""
    own = state["sides"][work["start"]["seat"]]
    effect_state = work["effect_state"][0]
    while True:
        action = next_deferred_play(own, own["mana"] - paid, cards, weights, facts, work)
        if action == 0:
            return False
        if append_deferred_action(state, cards, facts, action, work, solved):
            return True
        begin_hypothetical(effect_state)
        apply(state, cards, action, effect_state)
