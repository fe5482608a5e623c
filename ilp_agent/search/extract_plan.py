"""Best moves in the transposition table, and the principal variation up to the next chance node; compiled."""

import numpy as np

from engine.bitfields import AIMED, AT_SHIFT, OPTION_SHIFT, PLACE_BITS
from engine.codes import BOARD_SIZE, COIN, HERO, OWN_SIDE, ActionKind, Outcome
from engine.effects.chance import think
from engine.effects.transposition import minion_key, places_matter
from engine.jit import njit_borrowing
from engine.rules import apply, decode, encode, legal_actions, outcome
from ilp_agent.search.deferred_actions import (
    FACE_FIRST,
    HERO_FIRST,
    LATE_PLAYS,
    attack_hero,
    next_before_kill,
    next_late_action,
    next_late_play,
    what_is_late,
)
from ilp_agent.search.pruning import count_places
from ilp_agent.search.transposition import NOWHERE, add, find, held_word, own_key, position_key, twin_before
from ilp_agent.search.work import AT_ENEMY_HERO, AT_NOTHING, AT_OWN_HERO, DEPTH


@njit_borrowing
def remember(level: int, cards: np.ndarray, work: np.void, memo: np.ndarray, slots: np.ndarray) -> None:
    """Store a position's value and best action, independent of board order."""
    frame, state = work["frames"][level], work["states"][level]
    noted = memo[add(frame["key"], work, memo, slots)]
    noted["key"], noted["value"] = frame["key"], frame["best"]
    kind, source, target = decode(frame["action"])
    start = work["start"]
    noted["kind"], noted["card"], noted["first"] = kind, 0, frame["action"] & (HERO_FIRST | FACE_FIRST)
    noted["source"], noted["target"], noted["more"] = 0, AT_NOTHING, frame["action"] & HOW
    own = state["sides"][start["seat"]]
    if kind == ActionKind.PLAY:
        noted["card"], noted["held"] = own["hand"][source], held_word(own["held"][source])
    if places_matter(cards):
        # Board positions are part of the key; hand positions are not.
        noted["source"], noted["target"] = source, target
        if kind == ActionKind.PLAY:
            noted["source"] = 0
        return
    if kind == ActionKind.CHOOSE:
        noted["source"] = source
    if kind == ActionKind.ATTACK:
        if source != HERO:
            noted["source"] = own_key(own["board"][source], cards, start)
        noted["target"] = character_key(state, cards, start, target)
    elif frame["action"] & AIMED:
        noted["target"] = character_key(state, cards, start, target)


HOW = AIMED | ((1 << (AT_SHIFT + PLACE_BITS)) - (1 << OPTION_SHIFT))
"""Bits of an action: whether it has a target, which option is chosen, and the board position of a minion."""


@njit_borrowing
def character_key(state: np.void, cards: np.ndarray, start: np.void, character: int) -> np.uint64:
    """Key of a target, 0 to 15; equal for identical minions."""
    seat = start["seat"]
    if character == HERO:
        return np.uint64(AT_ENEMY_HERO)
    if character < OWN_SIDE:
        return minion_key(state["sides"][1 - seat]["board"][character], np.uint64(2))
    if character == OWN_SIDE + BOARD_SIZE:
        return np.uint64(AT_OWN_HERO)
    return own_key(state["sides"][seat]["board"][character - OWN_SIDE], cards, start)


@njit_borrowing
def remembered_action(state: np.void, cards: np.ndarray, memo: np.void, work: np.void) -> int:
    """Stored best action of a position, as a legal action of `state`; 0 for the end of the turn."""
    if memo["kind"] == ActionKind.END_TURN:
        return 0
    start = work["start"]
    own = state["sides"][start["seat"]]
    actions = work["actions"][DEPTH]
    n = legal_actions(state, cards, actions)
    by_place = places_matter(cards)
    for place in range(n):
        action = actions[place]
        kind, source, target = decode(action)
        if kind != memo["kind"] or action & HOW != memo["more"]:
            continue
        if kind == ActionKind.PLAY:
            if own["hand"][source] != memo["card"] or held_word(own["held"][source]) != memo["held"]:
                continue
            if by_place and (target != memo["target"] or twin_before(own, source)):
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
            if source != HERO and own_key(own["board"][source], cards, start) != memo["source"]:
                continue
        aimed = kind == ActionKind.ATTACK or action & AIMED
        key = character_key(state, cards, start, target) if aimed else np.uint64(AT_NOTHING)
        if key == memo["target"]:
            return int(action) | int(memo["first"])
    raise AssertionError("the stored action must be legal in every position with its key")


@njit_borrowing
def write_actions(
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
    start, thought = work["start"], work["thought"][0]
    work["states"][1] = work["states"][0]
    state = work["states"][1]
    solved["n"], solved["again"] = 0, 0
    strikers, ghosts = work["frames"][0], work["frames"][1]
    strikers["strikers"], strikers["ghosts"] = 0, 0
    while outcome(state) == Outcome.ONGOING:
        key = position_key(state, cards, start, strikers["strikers"], strikers["ghosts"])
        known = find(key, work, memo, slots)
        if known == NOWHERE:
            solved["again"] = 1  # not searched, because of the limit
            return
        action = remembered_action(state, cards, memo[known], work)
        if action == 0:
            break
        think(thought)
        if action & HERO_FIRST:
            note_attacks(state, action, solved)
            attack_hero(state, cards, action, thought)
            action -= HERO_FIRST
        if action & FACE_FIRST:
            action -= FACE_FIRST
            place = next_before_kill(state, cards, action, work)
            while place >= 0:
                attack = encode(ActionKind.ATTACK, place, HERO)
                note_action(attack, solved)
                apply(state, cards, attack, thought)
                place = next_before_kill(state, cards, action, work)
            think(thought)
        work["scratch"][1] = state
        deaths = apply(work["scratch"][1], cards, action, thought)
        after = work["scratch"][1]
        has_chance = thought["waiting"] > 0
        if start["leaves_late"] and not has_chance and outcome(after) != Outcome.ONGOING:
            late = what_is_late(state, cards, facts, start["seat"])
            if late & LATE_PLAYS:  # before the killing blow
                paid = state["sides"][start["seat"]]["mana"] - after["sides"][start["seat"]]["mana"]
                if play_before(state, paid, cards, weights, facts, work, solved):
                    return
                action = remembered_action(state, cards, memo[known], work) & ~FACE_FIRST
        note_action(action, solved)
        if start["slots"]:
            ghosts["strikers"], ghosts["ghosts"] = strikers["strikers"], strikers["ghosts"]
            count_places(state, action, deaths, start, ghosts)
            strikers["strikers"], strikers["ghosts"] = ghosts["strikers"], ghosts["ghosts"]
        seat = start["seat"]
        drew_card = state["sides"][seat]["n_deck"] != after["sides"][seat]["n_deck"]
        faces_secrets = (
            state["sides"][1 - seat]["n_secrets"] > 0
        )  # Secrets are hidden until they are revealed
        if has_chance or drew_card or faces_secrets or thought["unsure"]:
            solved["again"] = 1
            return
        work["states"][1] = after
    if start["leaves_late"]:
        write_late(state, cards, weights, facts, work, solved)


@njit_borrowing
def write_late(
    state: np.void, cards: np.ndarray, weights: np.ndarray, facts: np.ndarray, work: np.void, solved: np.void
) -> None:
    """Append the deferred actions to the plan, and apply them. Modifies `state` and `solved`."""
    start, thought = work["start"], work["thought"][0]
    if outcome(state) != Outcome.ONGOING:
        return
    late = what_is_late(state, cards, facts, start["seat"])
    while outcome(state) == Outcome.ONGOING:
        action = next_late_action(state, cards, weights, facts, late, start["seat"], work)
        if action == 0:
            return
        if note_late(state, cards, facts, action, work, solved):
            return
        think(thought)
        apply(state, cards, action, thought)


@njit_borrowing
def note_late(
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
        note_action(action, solved)
        return False
    before = root["sides"][seat]
    may = (
        cards[number]["cost"] <= before["mana"]
        and before["n_board"] + facts[number]["arrivals"] <= BOARD_SIZE
    )
    if may and what_is_late(root, cards, facts, seat) & LATE_PLAYS:
        solved["n"] = 0
        if kind == ActionKind.PLAY:
            source = 0
            while before["hand"][source] != number:
                source += 1
            action = int(encode(ActionKind.PLAY, source, 0))
    note_action(action, solved)
    solved["again"] = 1
    return True


@njit_borrowing
def note_attacks(state: np.void, action: int, solved: np.void) -> None:
    """Append the attacks of `attack_hero` to the plan. `solved` is modified in place."""
    _, _, target = decode(action)
    place = target - OWN_SIDE
    for _ in range(state["sides"][state["active"]]["board"][place]["attacks_left"]):
        note_action(encode(ActionKind.ATTACK, place, HERO), solved)


@njit_borrowing
def note_action(action: int, solved: np.void) -> None:
    """Append an action to the plan. `solved` is modified in place."""
    solved["actions"][solved["n"]] = action
    solved["n"] += 1


@njit_borrowing
def play_before(
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
    thought = work["thought"][0]
    while True:
        action = next_late_play(own, own["mana"] - paid, cards, weights, facts, work)
        if action == 0:
            return False
        if note_late(state, cards, facts, action, work, solved):
            return True
        think(thought)
        apply(state, cards, action, thought)
