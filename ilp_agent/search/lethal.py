"""Lethal search: does a line exist that surely kills the enemy hero this turn; compiled.

The value of a position is the largest probability with which the enemy hero dies this turn while the own hero
lives:

    p(s) = max over actions a of sum over outcomes o of probability(o) * p(s a o)

A search for certain lethal gives up an action at its first outcome that does not kill; a search for the best
probability follows all outcomes. Depth first with a transposition table of its own; no weights and no
deferred actions. Four shortcuts, each compared with a plain enumeration (`ilp_agent.search.enumeration`) by
the tests: equal positions are searched once; one of several equal cards is played; plays that cannot matter
are left out (`irrelevant_plays`); and a position is given up if all damage that is left is less than the
hero's health (`damage_bound`).

Drawn cards stay unknown and cannot be played, and an action that depends on hidden cards is not followed: a
line that is found is certain, but a line that needs a lucky draw is not found. Secrets of the opponent are
unknown; the search ignores them, and `Lethal.secrets` tells that they may change the result.
"""

import threading
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from engine import Action, Position
from engine.bitfields import AIMED
from engine.codes import COIN, HERO, MAX_MANA, ActionKind, Keyword, Outcome
from engine.effect_codes import ENEMY, CardKind, Op, Trait
from engine.effects.chance import begin_hypothetical
from engine.effects.play import resolve_turn_end
from engine.jit import njit, njit_no_alloc
from engine.rules import apply, decode, legal_actions, outcome
from engine.view import hide_information
from ilp_agent.search.card_facts import (
    AFFECTS_OWN_MINIONS,
    BUFFS_OWN_MINIONS,
    CHANGES_HAND,
    GIVES_MANA,
    HARMS_TARGET_MINION,
    MAY_BLOCK_HERO,
    NEEDS_MINIONS,
    NOT_PRUNABLE,
    PLAIN,
    compute_card_facts,
    select_relevant_features,
)
from ilp_agent.search.objective import has_end_of_turn_effect
from ilp_agent.search.transposition import (
    NOT_FOUND,
    add_entry,
    find_entry,
    has_earlier_copy,
    needs_no_order,
    position_key,
)
from ilp_agent.search.work import MAX_DEPTH, MAX_EVENTS, MIN_SLOTS, SLOT, WORK

DEFAULT_LETHAL_LIMIT = 100_000
"""Default limit of positions of a lethal search."""

STEPS_PER_POSITION = 32
"""Actions and outcomes that a search may apply for each position of its limit."""

LETHAL_FRAME = np.dtype(
    [
        ("key", "u8"),  # of the position (`ilp_agent.search.transposition`)
        ("best", "f8"),  # largest probability found so far
        ("total", "f8"),  # probability of lethal over the outcomes so far of the current action
        ("left", "f8"),  # probability of the outcomes not evaluated yet
        ("n", "i4"),  # number of actions
        ("next", "i4"),  # number of the next action to try, over all `N_PHASES`
        ("action", "i8"),  # the current action; 0: the end of the turn
        ("n_events", "i4"),  # chance events of the current outcome; -1: the action is deterministic
        ("irrelevant", "i4"),  # 1: plain plays are left out; 2: The Coin too
        ("odometer", "i2", (2, MAX_EVENTS)),  # outcome and number of outcomes of each event
        ("n_line", "i4"),  # length of the best line
        ("line", "i8", (MAX_DEPTH,)),  # the best line, up to its first chance event or a known position
    ]
)
"""Stack frame: a position on the path from the root."""

LETHAL_MEMO = np.dtype([("key", "u8"), ("value", "f8")])
"""Transposition table entry: the best probability of lethal."""

LETHAL_SOLUTION = np.dtype(
    [
        ("value", "f8"),  # best probability found; 1 in a search for certain lethal: it is certain
        ("states", "i8"),  # positions searched
        ("steps", "i8"),  # actions and outcomes applied
        ("most_steps", "i8"),  # their limit
        ("unproven", "i2"),  # 1: the limit was met
        ("chance", "i2"),  # 1: an action with a chance event was met
        ("drawn", "i2"),  # 1: an action was met that draws cards
        ("hidden", "i2"),  # 1: an action was met that depends on hidden cards, and was not followed
        ("n", "i4"),  # length of the line
        ("again", "i2"),  # 1: the line ends at a chance event, or earlier than the kill
        ("line", "i8", (MAX_DEPTH,)),  # 0: the end of the turn
    ]
)
"""Result of a lethal search."""

N_PHASES = 3
"""Actions are tried in phases: attacks on the hero, effects aimed at the hero, and all others."""

UNKNOWN_DAMAGE = 10_000
"""Bound on damage where no better one is known."""


@njit_no_alloc
def affordable_mana(own: np.void, facts: np.ndarray) -> int:
    """Upper bound on the cost of a card that may still be played this turn."""
    for place in range(own["n_hand"]):
        if own["hand"][place] >= 0 and facts[own["hand"][place]]["bits"] & GIVES_MANA:
            return MAX_MANA + 1
    coins = 0
    for place in range(own["n_hand"]):
        coins += own["hand"][place] == COIN
    return int(min(own["mana"] + coins, MAX_MANA + 1))


@njit_no_alloc
def damage_bound(state: np.void, cards: np.ndarray, facts: np.ndarray, seat: int) -> int:
    """Upper bound on the damage to the enemy hero in the rest of the turn; `UNKNOWN_DAMAGE` if none is known.

    Args:
        state: dtype `engine.state.STATE`, not over.
        cards: the card table.
        facts: of `ilp_agent.search.card_facts.compute_card_facts`.
        seat: of the active player.
    """
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    if not needs_no_order(cards) or enemy["n_secrets"] > 0 or state["n_options"] > 0:
        return UNKNOWN_DAMAGE
    if own["durability"] > 0 and cards[own["weapon"]]["n_effects"] > 0:
        return UNKNOWN_DAMAGE
    damage, spell_damage, hits = 0, 0, 0
    for seat_number in range(2):
        side = state["sides"][seat_number]
        for place in range(side["n_board"]):
            if side["board"][place]["traits"] & Trait.DEATHRATTLE:
                return UNKNOWN_DAMAGE
    if has_end_of_turn_effect(state, cards, seat):
        return UNKNOWN_DAMAGE
    for place in range(own["n_board"]):
        minion = own["board"][place]
        spell_damage += minion["spell_damage"]
        damage += minion["attacks_left"] * max(int(minion["attack"]), 0)
    mana = affordable_mana(own, facts)
    for place in range(own["n_hand"] + 1):
        number = own["hand"][place] if place < own["n_hand"] else own["power"] - 1
        if number < 0 or (place == own["n_hand"] and own["power_used"]) or cards[number]["cost"] > mana:
            continue
        fact, kind = facts[number], cards[number]["kind"]
        if fact["bits"] & PLAIN:
            continue
        if fact["bits"] & (NOT_PRUNABLE | AFFECTS_OWN_MINIONS | CHANGES_HAND | MAY_BLOCK_HERO):
            return UNKNOWN_DAMAGE
        if has_unknown_damage(cards[number]):
            return UNKNOWN_DAMAGE
        if kind == CardKind.WEAPON and cards[number]["keywords"] & Keyword.WINDFURY:
            return UNKNOWN_DAMAGE
        if fact["arrivals"] > (1 if kind == CardKind.MINION else 0):
            return UNKNOWN_DAMAGE  # a summoned minion may have Charge
        damage += fact["face"]
        hits += fact["hits"]
        spell_damage += fact["spell_damage"]
    damage += max(int(own["hero_attacks_left"]), 0) * max(int(own["hero_attack"] + own["weapon_attack"]), 0)
    return int(damage + hits * max(int(spell_damage), 0))


DAMAGE_OPS = (Op.DAMAGE, Op.BUFF, Op.EQUIP, Op.WEAPON)
"""Operations whose damage `damage_bound` counts."""

NO_DAMAGE_OPS = (
    Op.HEAL,
    Op.ARMOUR,
    Op.SUMMON,
    Op.DESTROY,
    Op.FREEZE,
    Op.DISCARD,
    Op.MANA,
    Op.BOUNCE,
    Op.TRANSFORM,
)
"""Operations that deal no damage and give no attack; summoned minions are counted apart."""


@njit_no_alloc
def has_unknown_damage(card: np.void) -> bool:
    """Whether a card may deal damage that `damage_bound` does not count, also by fatigue of the opponent."""
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        op = effect["op"]
        if op == Op.DRAW:
            if effect["side"] & ENEMY:
                return True
        elif op not in DAMAGE_OPS and op not in NO_DAMAGE_OPS:
            return True
    return False


@njit_no_alloc
def irrelevant_plays(state: np.void, cards: np.ndarray, facts: np.ndarray, seat: int) -> int:
    """Whether plain plays cannot help to kill this turn: 0 no, 1 yes, 2 The Coin cannot help either.

    A plain play (`ilp_agent.search.card_facts.PLAIN`) only summons a minion without effects this turn, gives
    armour or draws cards, which stay unknown. It matters only if another card acts on own minions or the
    hand.
    """
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    if not needs_no_order(cards) or enemy["n_secrets"] > 0 or has_end_of_turn_effect(state, cards, seat):
        return 0
    for seat_number in range(2):
        side = state["sides"][seat_number]
        for place in range(side["n_board"]):
            if side["board"][place]["traits"] & Trait.DEATHRATTLE:
                return 0
    if own["durability"] > 0 and cards[own["weapon"]]["n_effects"] > 0:
        return 0
    mana, plain_alone = affordable_mana(own, facts), True
    for place in range(own["n_hand"] + 1):
        number = own["hand"][place] if place < own["n_hand"] else own["power"] - 1
        if number < 0 or (place == own["n_hand"] and own["power_used"]) or cards[number]["cost"] > mana:
            continue
        bits = facts[number]["bits"]
        if bits & PLAIN:
            if facts[number]["armour"] > 0:
                return 0  # it may keep the own hero alive
            continue
        plain_alone = False
        acting = AFFECTS_OWN_MINIONS | BUFFS_OWN_MINIONS | CHANGES_HAND | NEEDS_MINIONS | HARMS_TARGET_MINION
        if bits & (acting | NOT_PRUNABLE | MAY_BLOCK_HERO):
            return 0
    return 2 if plain_alone else 1


@njit_no_alloc
def action_phase(action: int) -> int:
    """Phase in which an action is tried, 0 to `N_PHASES` - 1."""
    kind, _, target = decode(action)
    if target == HERO and kind == ActionKind.ATTACK:
        return 0
    if target == HERO and action & AIMED:
        return 1
    return 2


@njit_no_alloc
def apply_with_outcomes(level: int, cards: np.ndarray, work: np.void, frame: np.void) -> bool:
    """Apply a level's current action with the outcomes of its odometer, and the first ones of later events.

    Args:
        level: of the position, `work["states"][level]`; the next level receives the position after it.
        cards: the card table.
        work: dtype `ilp_agent.search.work.WORK`. Modified in place.
        frame: dtype `LETHAL_FRAME`; `n_events` outcomes are given, -1 for none yet. Events that follow are
            appended.

    Returns:
        False if the action has more than `MAX_EVENTS` events.
    """
    effect_state = work["effect_state"][0]
    while True:
        given = max(int(frame["n_events"]), 0)
        begin_hypothetical(effect_state)
        effect_state["forced"] = given
        for event in range(given):
            effect_state["outcomes"][event] = frame["odometer"][0, event]
        work["states"][level + 1] = work["states"][level]
        if frame["action"] == 0:
            resolve_turn_end(work["states"][level + 1], cards, effect_state)
        else:
            apply(work["states"][level + 1], cards, frame["action"], effect_state)
        if effect_state["n_pending_outcomes"] == 0:
            return True
        if given == MAX_EVENTS:
            return False
        frame["odometer"][0, given] = 0
        frame["odometer"][1, given] = effect_state["n_pending_outcomes"]
        frame["n_events"] = given + 1


@njit_no_alloc
def outcome_probability(frame: np.void) -> float:
    """Probability of the current outcome of a frame's action; those of one event are equally likely."""
    probability = 1.0
    for event in range(frame["n_events"]):
        probability /= frame["odometer"][1, event]
    return probability


@njit_no_alloc
def advance_odometer(frame: np.void) -> bool:
    """Go to the next outcome of a frame's action; False after the last. `frame` is modified in place."""
    n = int(frame["n_events"])
    while n > 0:
        frame["odometer"][0, n - 1] += 1
        if frame["odometer"][0, n - 1] < frame["odometer"][1, n - 1]:
            frame["n_events"] = n
            return True
        n -= 1
    return False


@njit_no_alloc
def open_position(
    level: int, cards: np.ndarray, facts: np.ndarray, work: np.void, frames: np.ndarray
) -> None:
    """Start to search the position at a level: list its actions. Modifies `work` and `frames`."""
    frame, state, seat = frames[level], work["states"][level], work["start"]["seat"]
    actions = work["actions"][level]
    n = legal_actions(state, cards, actions)
    if state["n_options"] == 0:
        n -= 1  # the end of the turn, which matters only if it does something
        if has_end_of_turn_effect(state, cards, seat):
            actions[n] = 0
            n += 1
    frame["n"], frame["next"], frame["n_events"], frame["best"], frame["n_line"] = n, 0, -1, 0.0, 0
    frame["irrelevant"] = irrelevant_plays(state, cards, facts, seat)


@njit_no_alloc
def is_left_out(state: np.void, facts: np.ndarray, action: int, frame: np.void, seat: int) -> bool:
    """Whether an action need not be tried: it plays a copy of an earlier card, or one that cannot matter."""
    kind, source, _ = decode(action)
    own = state["sides"][seat]
    if kind == ActionKind.PLAY:
        if has_earlier_copy(own, source):
            return True
        if own["hand"][source] == COIN:
            return bool(frame["irrelevant"] == 2)
        return bool(frame["irrelevant"] and facts[own["hand"][source]]["bits"] & PLAIN)
    return bool(kind == ActionKind.POWER and frame["irrelevant"] and facts[own["power"] - 1]["bits"] & PLAIN)


UNSOLVED = -1.0
"""Value of a position that must be searched."""


@njit_no_alloc
def known_value(
    level: int,
    cards: np.ndarray,
    facts: np.ndarray,
    work: np.void,
    memo: np.ndarray,
    slots: np.ndarray,
    frames: np.ndarray,
    solved: np.void,
) -> float:
    """Value of the position at a level without a search, or `UNSOLVED`; its key is then in `frames[level]`.

    Arguments as of `search_lethal`; `solved` is modified in place.
    """
    state, seat = work["states"][level], work["start"]["seat"]
    if outcome(state) != Outcome.ONGOING:
        killed = state["sides"][1 - seat]["health"] <= 0 < state["sides"][seat]["health"]
        return 1.0 if killed else 0.0
    if frames[level - 1]["action"] == 0:  # the turn is over
        return 0.0
    enemy = state["sides"][1 - seat]
    if damage_bound(state, cards, facts, seat) < enemy["health"] + enemy["armour"]:
        return 0.0
    key = position_key(state, cards, work["start"], 0, 0)
    known = find_entry(key, work, memo, slots)
    if known != NOT_FOUND:
        return float(memo[known]["value"])
    if work["n_memo"] + level >= len(memo) or level == MAX_DEPTH or solved["unproven"]:
        solved["unproven"] = 1
        return 0.0
    frames[level]["key"] = key
    return UNSOLVED


@njit_no_alloc
def set_line(level: int, frames: np.ndarray) -> None:
    """Make the current action of a level, and what follows it, the best line. Modifies `frames`."""
    frame, following = frames[level], frames[level + 1]
    frame["line"][0] = frame["action"]
    n = 0
    if frame["n_events"] < 0:
        n = min(int(following["n_line"]), MAX_DEPTH - 1)
        for place in range(n):
            frame["line"][1 + place] = following["line"][place]
    frame["n_line"] = 1 + n


@njit_no_alloc
def back_up(level: int, value: float, certain: bool, frames: np.ndarray) -> None:
    """Back up the value of the position after the current action or outcome. Modifies `frames`."""
    frame = frames[level]
    if frame["n_events"] >= 0:
        if certain and value < 1.0:
            frame["n_events"] = -1  # one outcome does not kill: try the next action
            return
        probability = outcome_probability(frame)
        frame["total"] += probability * value
        frame["left"] -= probability
        if advance_odometer(frame):
            if not certain and frame["total"] + frame["left"] <= frame["best"]:
                frame["n_events"] = -1  # the outcomes that are left cannot make it the best action
            return
        value = 1.0 if certain else frame["total"]
    if value > frame["best"]:
        frame["best"] = value
        set_line(level, frames)
    frame["n_events"] = -1


@njit_no_alloc
def next_position(
    level: int, cards: np.ndarray, facts: np.ndarray, work: np.void, frames: np.ndarray, solved: np.void
) -> bool:
    """Apply the next outcome of a level's action, or its next action; False if there is none.

    Arguments as of `search_lethal`; the next level receives the position. Once the limit of steps is met, the
    outcomes that are left of an action are not tried.
    """
    frame, state, seat = frames[level], work["states"][level], work["start"]["seat"]
    effect_state = work["effect_state"][0]
    if solved["steps"] > solved["most_steps"]:
        solved["unproven"] = 1
        frame["n_events"] = -1
    while True:
        if frame["n_events"] < 0:
            if frame["next"] == N_PHASES * frame["n"] or frame["best"] >= 1.0:
                return False
            action = work["actions"][level, frame["next"] % frame["n"]]
            phase = frame["next"] // frame["n"]
            frame["next"] += 1
            if action_phase(action) != phase or is_left_out(state, facts, action, frame, seat):
                continue
            frame["action"], frame["total"], frame["left"] = action, 0.0, 1.0
        solved["steps"] += 1
        complete = apply_with_outcomes(level, cards, work, frame)
        if frame["n_events"] > 0:
            solved["chance"] = 1
        if state["sides"][seat]["n_deck"] != work["states"][level + 1]["sides"][seat]["n_deck"]:
            solved["drawn"] = 1
        if complete and not effect_state["depends_on_hidden"]:
            return True
        solved["hidden"] = 1 if complete else solved["hidden"]
        solved["unproven"] = solved["unproven"] if complete else 1
        frame["n_events"] = -1  # the action is not followed


@njit_no_alloc
def search_lethal(
    state: np.void,
    cards: np.ndarray,
    facts: np.ndarray,
    certain: bool,
    work: np.void,
    memo: np.ndarray,
    slots: np.ndarray,
    frames: np.ndarray,
    solved: np.void,
) -> None:
    """Search the rest of a turn for lethal.

    Args:
        state: dtype `engine.state.STATE`, not over; unchanged.
        cards: a copy of the card table; its game features are modified (`select_relevant_features`).
        facts: of `ilp_agent.search.card_facts.compute_card_facts`.
        certain: search for certain lethal only; otherwise for the largest probability.
        work: dtype `ilp_agent.search.work.WORK`. Modified in place, as all that follow.
        memo: dtype `LETHAL_MEMO`; its length is the limit of positions.
        slots: dtype `ilp_agent.search.work.SLOT`, a power of two, at least twice as long.
        frames: dtype `LETHAL_FRAME`, shape (`MAX_DEPTH` + 2,).
        solved: dtype `LETHAL_SOLUTION`.
    """
    cards[0]["game_features"] = facts[0]["all_game_features"]
    work["states"][0] = state
    root, start = work["states"][0], work["start"]
    start["seat"], start["n"], start["last_entity_id"] = root["active"], 0, root["last_entity_id"]
    hide_information(root, cards, root["active"])
    select_relevant_features(root, cards, facts)
    work["n_slots"], work["n_memo"] = MIN_SLOTS, 0
    slots[:MIN_SLOTS] = NOT_FOUND
    solved["value"], solved["states"], solved["steps"], solved["unproven"] = 0.0, 0, 0, 0
    solved["most_steps"] = STEPS_PER_POSITION * len(memo)
    solved["chance"], solved["drawn"], solved["hidden"], solved["n"], solved["again"] = 0, 0, 0, 0, 0
    enemy = root["sides"][1 - root["active"]]
    if damage_bound(root, cards, facts, root["active"]) < enemy["health"] + enemy["armour"]:
        solved["states"] = 1
        return
    frames[0]["key"] = position_key(root, cards, start, 0, 0)
    open_position(0, cards, facts, work, frames)
    level = 0
    while True:
        if next_position(level, cards, facts, work, frames, solved):
            frames[level + 1]["n_line"] = 0
            value = known_value(level + 1, cards, facts, work, memo, slots, frames, solved)
            if value == UNSOLVED:
                level += 1
                open_position(level, cards, facts, work, frames)
            else:
                back_up(level, value, certain, frames)
        else:
            frame = frames[level]
            entry = memo[add_entry(frame["key"], work, memo, slots)]
            entry["key"], entry["value"] = frame["key"], frame["best"]
            if level == 0:
                break
            level -= 1
            back_up(level, frame["best"], certain, frames)
    solved["states"], solved["value"] = work["n_memo"], frames[0]["best"]
    _write_line(cards, work, frames[0], solved)


@njit_no_alloc
def _write_line(cards: np.ndarray, work: np.void, frame: np.void, solved: np.void) -> None:
    """Copy the root's best line to `solved`, and tell whether it ends before the kill. Modified in place."""
    solved["n"] = frame["n_line"]
    work["states"][1] = work["states"][0]
    for place in range(frame["n_line"]):
        action = frame["line"][place]
        solved["line"][place] = action
        begin_hypothetical(work["effect_state"][0])
        if action == 0:
            resolve_turn_end(work["states"][1], cards, work["effect_state"][0])
        else:
            apply(work["states"][1], cards, action, work["effect_state"][0])
        if work["effect_state"][0]["n_pending_outcomes"]:
            break
    solved["again"] = frame["n_line"] > 0 and outcome(work["states"][1]) == Outcome.ONGOING


@njit
def search_lethal_of(
    states: np.ndarray,
    cards: np.ndarray,
    facts: np.ndarray,
    certain: bool,
    works: np.ndarray,
    memo: np.ndarray,
    slots: np.ndarray,
    frames: np.ndarray,
    solutions: np.ndarray,
) -> None:
    """`search_lethal` of each of several positions, shape (positions,), with a solution for each."""
    for number in range(len(states)):
        search_lethal(states[number], cards, facts, certain, works[0], memo, slots, frames, solutions[number])


class LethalMemory(NamedTuple):
    """Working memory of lethal searches, for one thread. All arrays are modified in place."""

    works: np.ndarray  # dtype WORK, shape (1,)
    memo: np.ndarray  # dtype LETHAL_MEMO; its length is the limit of positions
    slots: np.ndarray  # dtype SLOT
    frames: np.ndarray  # dtype LETHAL_FRAME


def new_lethal_memory(limit: int) -> LethalMemory:
    """Allocate working memory for lethal searches of at most `limit` positions."""
    places = max(MIN_SLOTS, 1 << (2 * limit + 2 * MAX_DEPTH).bit_length())
    return LethalMemory(
        np.zeros(1, WORK),
        np.empty(limit, LETHAL_MEMO),
        np.empty(places, SLOT),
        np.zeros(MAX_DEPTH + 2, LETHAL_FRAME),
    )


@dataclass(frozen=True)
class Lethal:
    """What a lethal search found.

    Attributes:
        certain: whether a line surely kills the enemy hero this turn, if no Secret of the opponent acts.
        proven: whether that is proven: a line was found, or there is none.
        probability: largest probability of a kill that was found; 1 if it is certain.
        exact: whether `probability` is proven to be the largest.
        line: actions of the best line, without the end of the turn unless its effects kill; () if the
            probability is 0.
        again: whether the line goes on after its last action, by the outcome of that action.
        states: positions searched.
        chance: whether an action with a chance event was met.
        drawn: whether cards were drawn, or a card that draws can be played; drawn cards count as unplayable.
        hidden: whether actions were not followed because they depend on hidden cards.
        secrets: whether the opponent has Secrets, which the search ignores.
    """

    certain: bool
    proven: bool
    probability: float
    exact: bool
    line: tuple[Action, ...]
    again: bool
    states: int
    chance: bool
    drawn: bool
    hidden: bool
    secrets: bool


_LOCAL = threading.local()


def thread_lethal_memory(limit: int) -> LethalMemory:
    """This thread's memory for `limit` positions; threads must not share it, as kernels release the GIL."""
    memory: Any = getattr(_LOCAL, "memory", None)
    if memory is None or len(memory.memo) < limit:
        _LOCAL.memory = memory = new_lethal_memory(limit)
    found: LethalMemory = memory._replace(memo=memory.memo[:limit])
    return found


def _may_draw(position: Position, facts: np.ndarray) -> bool:
    """Whether a card or hero power that draws cards can be played now."""
    own = position.state["sides"][position.active]
    played = [
        int(own["power"]) - 1 if action.kind == ActionKind.POWER else int(own["hand"][action.source])
        for action in position.legal_actions()
        if action.kind in (ActionKind.PLAY, ActionKind.POWER)
    ]
    return any(number >= 0 and facts[number]["draws"] > 0 for number in played)


def find_lethal(position: Position, limit: int = DEFAULT_LETHAL_LIMIT, chances: bool = True) -> Lethal:
    """Search the rest of a turn for certain lethal, and then for the largest probability of lethal.

    Args:
        position: of the player to move, not over; unchanged.
        limit: of positions, for each of the two searches, at least 1.
        chances: whether to search for the largest probability if lethal is not certain and chance has a part.
    """
    memory = thread_lethal_memory(limit)
    cards = position.table.array.copy()
    facts, solutions = compute_card_facts(position.table.array), np.zeros(1, LETHAL_SOLUTION)
    solved = solutions[0]
    search_lethal_of(position.states, cards, facts, True, *memory, solutions)
    certain, proven, states = solved["value"] >= 1.0, not solved["unproven"], int(solved["states"])
    chance, value = bool(solved["chance"]), 1.0 if certain else 0.0
    exact = certain or (proven and not chance)
    if chances and chance and not certain:
        search_lethal_of(position.states, cards, facts, False, *memory, solutions)
        exact, value = not solved["unproven"], float(solved["value"])
        states += int(solved["states"])
    line = tuple(map(Action.from_code, solved["line"][: solved["n"]].tolist())) if value > 0 else ()
    return Lethal(
        certain=bool(certain),
        proven=bool(certain or proven),
        probability=min(value, 1.0),
        exact=bool(exact),
        line=line,
        again=bool(solved["again"]),
        states=states,
        chance=chance,
        drawn=bool(solved["drawn"]) or _may_draw(position, facts),
        hidden=bool(solved["hidden"]),
        secrets=bool(position.state["sides"][1 - position.active]["n_secrets"] > 0),
    )
