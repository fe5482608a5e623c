"""The search of a turn: V(s) = max(end(s), max over actions a of gain(s, a) + V(s a)), compiled.

Depth first on the engine's own positions; positions with the same future and worth are one
(`ilp_agent.search.keys`), so that each is searched once. An action of at most eight outcomes is worth their
mean; of one with more, what it is expected to add, and what the rest of the turn adds without a look at the
outcome. Cards that are drawn stay hidden. The first of the best actions in the order of
`engine.rules.legal_actions` is taken, and the end of the turn before all of them.
"""

import numpy as np

from engine.apart import njit_apart
from engine.codes import BOARD_SIZE, COIN, HERO, OWN_SIDE, ActionKind, Death, Keyword, Outcome
from engine.effects.chance import think
from engine.effects.futures import minion_key
from engine.jit import njit
from engine.packing import AIMED
from engine.rules import apply, decode, encode, legal_actions, outcome
from engine.state import CARD, STATE
from engine.vocabulary import CardKind
from ilp_agent.births import give_births
from ilp_agent.cardturn import ANY_TARGET, ARRIVED, HERO_ATTACKS
from ilp_agent.search.chance import (
    TOO_MANY,
    expected_gain,
    gain_key,
    list_outcomes,
    pay,
    run_outcome,
)
from ilp_agent.search.facts import AIMS_ANYWHERE, FACT, PLAIN
from ilp_agent.search.keys import NO_KEY, key_after_blow, own_key, position_key
from ilp_agent.search.late import (
    FACE_FIRST,
    HERO_FIRST,
    LATE_FACE,
    LATE_KILL,
    LATE_PLAYS,
    NEEDS_COIN,
    SPARES_OWN,
    add_last_attacks,
    best_pack,
    late_value,
    next_before,
    next_late_action,
    next_late_play,
    sums_before,
    what_is_late,
)
from ilp_agent.search.memo import NOWHERE, add, find
from ilp_agent.search.objective import action_gain, acts_at_the_end, base_value, end_value
from ilp_agent.search.work import (
    AT_ENEMY_HERO,
    AT_NOTHING,
    AT_OWN_HERO,
    DEPTH,
    FEWEST_SLOTS,
    KEYS,
    MEMO,
    N_GAINS,
    SOLVED,
    WORK,
)
from ilp_agent.weights import Term

TIE = 1e-12
"""An action must add more than this share of the largest weight."""

FORBIDDEN = -1e290
"""What an end of the turn is worth that surely kills the own hero."""


@njit
def begin(state: np.void, cards: np.ndarray, weights: np.ndarray, work: np.void) -> None:
    """Copy a position to where the search starts, and note what it starts from. Modifies `work` in place.

    A game of bodies becomes one with effects.
    """
    work["states"][0] = state
    if not state["effects"]:
        give_births(work["states"][:1], cards)
    root, start = work["states"][0], work["start"]
    seat = root["active"]
    own = root["sides"][seat]
    start["seat"], start["births"], start["n"] = seat, root["births"], own["n_board"]
    start["free"] = BOARD_SIZE - own["n_board"]
    for place in range(own["n_board"]):
        start["born"][place] = own["board"][place]["born"]
        start["health"][place] = own["board"][place]["health"]
    start["base"] = base_value(root, weights, seat)


@njit_apart(STATE, (CARD,), (np.dtype(np.float64),), (FACT,), WORK, (MEMO,), (KEYS,), SOLVED)
def solve_turn(
    state: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    work: np.void,
    memo: np.ndarray,
    slots: np.ndarray,
    solved: np.void,
) -> int:
    """Find the best way to go on with a turn, up to what only the game decides.

    Args:
        state: dtype `engine.state.STATE`, not over; the active player plays. Left as it is.
        cards: the card table.
        weights: all of them, indexed by `ilp_agent.weights.Term`.
        facts: of `ilp_agent.search.facts.learn_facts`.
        work: dtype `WORK`; `start` says the limit of positions, places and what to leave out. This and what
            follows is modified in place.
        memo: dtype `MEMO`, at least as long as the limit.
        slots: dtype `KEYS`, a power of two, at least twice as long.
        solved: dtype `SOLVED`.

    Returns:
        0.
    """
    begin(state, cards, weights, work)
    work["n_slots"], work["n_memo"] = FEWEST_SLOTS, 0
    work["search"] += 1
    slots[:FEWEST_SLOTS] = NOWHERE
    frames = work["frames"]
    start = work["start"]
    tie = TIE * largest(weights)
    solved["states"], solved["unproven"] = 0, 0
    open_frame(0, cards, weights, facts, work)
    frames[0]["strikers"], frames[0]["ghosts"] = 0, 0
    frames[0]["key"] = position_key(work["states"][0], cards, start, 0, 0)
    level = 0
    while True:
        frame = frames[level]
        before = work["states"][level]
        if frame["n_leaves"] > 0:
            if frame["leaf"] == frame["n_leaves"]:
                if not frame["certain_death"]:
                    keep_better(frame, frame["total"], tie, work["actions"][level, frame["next"] - 1])
                frame["n_leaves"] = 0
                continue
            take_outcome(level, cards, work)
            action = work["actions"][level, frame["next"] - 1]
            thought = work["thought"][1]
            child = work["states"][level + 1]
            frame["gain"] = action_gain(before, child, cards, action, thought, weights)
            deaths = 0
        elif frame["next"] < frame["n"]:
            action = work["actions"][level, frame["next"]]
            frame["next"] += 1
            if left_out(before, cards, facts, action, frame, start):
                continue
            if action & FACE_FIRST:
                value = value_of_kill(level, cards, weights, facts, work, action - FACE_FIRST)
                keep_better(frame, value, tie, action)
                continue
            if not start["slots"] and is_blow(action):
                _, source, target = decode(action)
                key = key_after_blow(before, cards, start, frame["key"], source, target, work["pair"])
                known = find(key, work, memo, slots) if key != NO_KEY else NOWHERE
                if known != NOWHERE:
                    own, enemy = before["sides"][start["seat"]], before["sides"][1 - start["seat"]]
                    frame["gain"] = weights[Term.DAMAGE] * own["board"][source]["attack"]
                    frame["gain"] -= weights[Term.TRADE] * enemy["board"][target]["attack"]
                    deliver(frame, memo[known]["value"], tie, work["actions"][level], 0)
                    continue
            thought = work["thought"][0]
            think(thought)
            work["states"][level + 1] = before
            child = work["states"][level + 1]
            first = 0.0
            if action & HERO_FIRST:
                first = weights[Term.FACE] * attack_hero(child, cards, action, thought)
                action -= HERO_FIRST
            deaths = apply(child, cards, action, thought)
            if thought["waiting"]:
                key = gain_key(before, facts, action, start["seat"])
                kept = work["gains"][np.int64(key) & (N_GAINS - 1)]
                known = key != 0 and kept["key"] == key and kept["search"] == work["search"]
                if not known:
                    n = list_outcomes(before, cards, action, thought["waiting"], work, frame)
                    if n != TOO_MANY:
                        frame["n_leaves"], frame["leaf"], frame["total"] = n, 0, 0.0
                        frame["certain_death"] = 1
                        continue
                work["states"][level + 1] = before
                child = work["states"][level + 1]
                pay(child, cards, action)
                if not known:
                    gain = expected_gain(before, cards, weights, action, work)
                    gain -= end_value(child, cards, weights, start)
                    kept["key"], kept["search"], kept["gain"] = key, work["search"], gain
                frame["gain"] = kept["gain"]
                if frame["gain"] == -np.inf:
                    continue
                deaths = 0
            else:
                frame["gain"] = first + action_gain(before, child, cards, action, thought, weights)
                if is_lost(child, start):
                    continue
        else:
            remember(level, cards, work, memo, slots)
            if level == 0:
                break
            level -= 1
            deliver(frames[level], frames[level + 1]["best"], tie, work["actions"][level], 0)
            continue
        # What follows: known, over, or to be searched.
        following = frames[level + 1]
        following["strikers"], following["ghosts"] = frame["strikers"], frame["ghosts"]
        if start["slots"]:
            count_places(before, action, deaths, start, following)
        if outcome(child) != Outcome.ONGOING:
            value = end_value(child, cards, weights, start)
            if frame["late"] & LATE_PLAYS:  # they come before the last blow
                own = child["sides"][start["seat"]]
                value += best_pack(own, own["mana"], cards, weights, facts, work)[0]
            deliver(frame, value, tie, work["actions"][level], is_lost(child, start))
            continue
        key = position_key(child, cards, start, following["strikers"], following["ghosts"])
        known = find(key, work, memo, slots)
        if known != NOWHERE:
            deliver(frame, memo[known]["value"], tie, work["actions"][level], 0)
        elif solved["states"] + 1 >= start["limit"] or level + 1 == DEPTH:
            solved["unproven"] = 1
            value = end_value(child, cards, weights, start)
            if start["reduced"]:
                late = what_is_late(child, cards, facts, start["seat"])
                value += late_value(child, cards, weights, facts, late, start["seat"], work)
            deliver(frame, value, tie, work["actions"][level], 0)
        else:
            solved["states"] += 1
            level += 1
            open_frame(level, cards, weights, facts, work)
            following["key"] = key
    solved["states"] += 1
    solved["value"] = frames[0]["best"] - start["base"]
    write_actions(cards, weights, facts, work, memo, slots, solved)
    return 0


@njit
def largest(weights: np.ndarray) -> float:
    """The largest weight."""
    most = 0.0
    for weight in weights:
        most = max(most, weight)
    return most


@njit
def is_blow(action: int) -> bool:
    """Whether a minion attacks a minion."""
    kind, source, target = decode(action)
    return bool(kind == ActionKind.ATTACK and HERO not in (source, target))


@njit
def open_frame(level: int, cards: np.ndarray, weights: np.ndarray, facts: np.ndarray, work: np.void) -> None:
    """Begin to search the position of a level: list its actions, and what ending the turn is worth."""
    frame, state = work["frames"][level], work["states"][level]
    frame["n"] = legal_actions(state, cards, work["actions"][level]) - 1
    frame["next"], frame["n_leaves"], frame["action"] = 0, 0, 0
    if acts_at_the_end(state, cards, work["start"]["seat"]):
        frame["best"] = value_of_ending(state, cards, weights, work)
    else:
        frame["best"] = end_value(state, cards, weights, work["start"])
    frame["late"] = 0
    start = work["start"]
    if start["reduced"]:
        frame["late"] = what_is_late(state, cards, facts, start["seat"])
        if frame["late"] & (LATE_FACE | LATE_KILL):
            actions = work["actions"][level]
            frame["n"] = add_last_attacks(state, facts, start, frame["late"], actions, frame["n"])
        frame["best"] += late_value(state, cards, weights, facts, frame["late"], start["seat"], work)


@njit
def value_of_ending(state: np.void, cards: np.ndarray, weights: np.ndarray, work: np.void) -> float:
    """What a position is worth if the turn ends there, in the mean over what happens at its end."""
    value = expected_gain(state, cards, weights, 0, work)
    return max(value, FORBIDDEN)


@njit
def value_of_kill(
    level: int, cards: np.ndarray, weights: np.ndarray, facts: np.ndarray, work: np.void, action: int
) -> float:
    """What an action is worth that kills the enemy hero after attacks of minions on him; -inf if none can."""
    before, start = work["states"][level], work["start"]
    seat, thought = start["seat"], work["thought"][0]
    work["states"][level + 1] = before
    child = work["states"][level + 1]
    think(thought)
    apply(child, cards, action, thought)
    attacked = attacks_before_kill(before, child, start)
    if thought["waiting"] or attacked < 0:
        return -np.inf
    child["sides"][1 - seat]["health"] = 0
    value = weights[Term.FACE] * attacked + action_gain(before, child, cards, action, thought, weights)
    value += end_value(child, cards, weights, start)
    if work["frames"][level]["late"] & LATE_PLAYS:
        own = child["sides"][seat]
        value += best_pack(own, own["mana"], cards, weights, facts, work)[0]
    return float(value)


@njit
def attacks_before_kill(before: np.void, after: np.void, start: np.void) -> int:
    """The most damage of attacks on the enemy hero before an action that then kills him; -1 for none."""
    enemy, then = before["sides"][1 - start["seat"]], after["sides"][1 - start["seat"]]
    health = enemy["health"] + enemy["armour"]
    left = then["health"] + then["armour"]
    if left >= health:
        return -1
    sums = sums_before(before, start, health, -1)
    for damage in range(health - 1, max(left, 0) - 1, -1):
        if sums >> np.uint64(damage) & np.uint64(1):
            return int(damage)
    return -1


@njit
def take_outcome(level: int, cards: np.ndarray, work: np.void) -> None:
    """Carry out the action being tried with its next outcome, into the position of the next level."""
    frame = work["frames"][level]
    leaf = frame["leaf"]
    n = frame["n_events"][leaf]
    for event in range(n):
        work["odometer"][0, event] = frame["outcomes"][leaf, event]
    action = work["actions"][level, frame["next"] - 1]
    run_outcome(work["states"][level], cards, action, work, n)
    work["states"][level + 1] = work["scratch"][0]


@njit
def keep_better(frame: np.void, value: float, tie: float, action: int) -> None:
    """Keep an action if it is worth more than the best before it. `frame` is modified in place."""
    if value > frame["best"] + tie:
        frame["best"] = value
        frame["action"] = action


@njit
def deliver(frame: np.void, value: float, tie: float, actions: np.ndarray, lost: int) -> None:
    """Tell a frame what follows the action, or the outcome, that is being tried. Modified in place."""
    value += frame["gain"]
    if frame["n_leaves"] == 0:
        keep_better(frame, value, tie, actions[frame["next"] - 1])
        return
    frame["total"] += frame["probability"][frame["leaf"]] * value
    frame["leaf"] += 1
    if not lost:
        frame["certain_death"] = 0


@njit
def is_lost(state: np.void, start: np.void) -> bool:
    """Whether the own hero is dead and the enemy's is not."""
    seat = start["seat"]
    return bool(state["sides"][seat]["health"] <= 0 and state["sides"][1 - seat]["health"] > 0)


@njit
def remember(level: int, cards: np.ndarray, work: np.void, memo: np.ndarray, slots: np.ndarray) -> None:
    """Note what a position is worth, and its best action in words that hold wherever its minions stand."""
    frame, state = work["frames"][level], work["states"][level]
    noted = memo[add(frame["key"], work, memo, slots)]
    noted["key"], noted["value"] = frame["key"], frame["best"]
    kind, source, target = decode(frame["action"])
    start = work["start"]
    noted["kind"], noted["card"], noted["first"] = kind, 0, frame["action"] & (HERO_FIRST | FACE_FIRST)
    noted["source"], noted["target"] = 0, AT_NOTHING
    own = state["sides"][start["seat"]]
    if kind == ActionKind.PLAY:
        noted["card"] = own["hand"][source]
    if kind == ActionKind.ATTACK:
        if source != HERO:
            noted["source"] = own_key(own["board"][source], cards, start)
        noted["target"] = character_key(state, cards, start, target)
    elif frame["action"] & AIMED:
        noted["target"] = character_key(state, cards, start, target)


@njit
def character_key(state: np.void, cards: np.ndarray, start: np.void, character: int) -> np.uint64:
    """A key of a target, 0 to 15: of minions that are alike the same."""
    seat = start["seat"]
    if character == HERO:
        return np.uint64(AT_ENEMY_HERO)
    if character < OWN_SIDE:
        return minion_key(state["sides"][1 - seat]["board"][character], np.uint64(2))
    if character == OWN_SIDE + BOARD_SIZE:
        return np.uint64(AT_OWN_HERO)
    return own_key(state["sides"][seat]["board"][character - OWN_SIDE], cards, start)


@njit
def remembered_action(state: np.void, cards: np.ndarray, memo: np.void, work: np.void) -> int:
    """The action that is remembered of a position, as it is played there; 0 for the end of the turn."""
    if memo["kind"] == ActionKind.END_TURN:
        return 0
    start = work["start"]
    own = state["sides"][start["seat"]]
    actions = work["actions"][DEPTH]
    n = legal_actions(state, cards, actions) - 1
    for place in range(n):
        action = actions[place]
        kind, source, target = decode(action)
        if kind != memo["kind"]:
            continue
        if kind == ActionKind.PLAY and own["hand"][source] != memo["card"]:
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
    raise AssertionError("a remembered action is legal wherever its position is met")


@njit
def write_actions(
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    work: np.void,
    memo: np.ndarray,
    slots: np.ndarray,
    solved: np.void,
) -> None:
    """Follow what is remembered from the start, up to what only the game decides. Modified in place.

    `work["states"][1]` is where they lead.
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
            solved["again"] = 1  # beyond the limit
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
            attack_before_kill(state, cards, action, work, solved)
        work["scratch"][1] = state
        deaths = apply(work["scratch"][1], cards, action, thought)
        after = work["scratch"][1]
        stopped = thought["waiting"] > 0
        if start["reduced"] and not stopped and outcome(after) != Outcome.ONGOING:
            late = what_is_late(state, cards, facts, start["seat"])
            if late & LATE_PLAYS:  # before the last blow
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
        drew = state["sides"][seat]["n_deck"] != after["sides"][seat]["n_deck"]
        if stopped or drew:
            solved["again"] = 1
            return
        work["states"][1] = after
    if not start["reduced"] or outcome(state) != Outcome.ONGOING:
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


@njit
def note_late(
    state: np.void, cards: np.ndarray, facts: np.ndarray, action: int, work: np.void, solved: np.void
) -> bool:
    """Write one of the actions left for the end. `solved` is modified in place.

    One that draws cards comes before all others if it may, and the turn is solved again with them.

    Returns:
        Whether it draws, so that nothing else is written.
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
    if what_is_late(root, cards, facts, seat) & LATE_PLAYS and cards[number]["cost"] <= before["mana"]:
        solved["n"] = 0
        if kind == ActionKind.PLAY:
            source = 0
            while before["hand"][source] != number:
                source += 1
            action = int(encode(ActionKind.PLAY, source, 0))
    note_action(action, solved)
    solved["again"] = 1
    return True


@njit
def attack_hero(state: np.void, cards: np.ndarray, action: int, thought: np.void) -> int:
    """Let the own minion that an action is aimed at attack the hero; its damage. Modifies `state`."""
    _, _, target = decode(action)
    place = target - OWN_SIDE
    damage = 0
    minion = state["sides"][state["active"]]["board"][place]
    while minion["attacks_left"] > 0:
        damage += minion["attack"]
        apply(state, cards, encode(ActionKind.ATTACK, place, HERO), thought)
    think(thought)
    return damage


@njit
def attack_before_kill(
    state: np.void, cards: np.ndarray, action: int, work: np.void, solved: np.void
) -> None:
    """Let minions attack the enemy hero before an action that then kills him. Modifies `state`, `solved`."""
    start, thought = work["start"], work["thought"][0]
    work["scratch"][1] = state
    apply(work["scratch"][1], cards, action, thought)
    damage = attacks_before_kill(state, work["scratch"][1], start)
    own = state["sides"][start["seat"]]
    while damage > 0:
        place = next_before(state, start, damage, -1)
        damage -= own["board"][place]["attack"]
        note_action(encode(ActionKind.ATTACK, place, HERO), solved)
        think(thought)
        apply(state, cards, encode(ActionKind.ATTACK, place, HERO), thought)
    think(thought)


@njit
def note_attacks(state: np.void, action: int, solved: np.void) -> None:
    """Write the attacks of `attack_hero`. `solved` is modified in place."""
    _, _, target = decode(action)
    place = target - OWN_SIDE
    for _ in range(state["sides"][state["active"]]["board"][place]["attacks_left"]):
        note_action(encode(ActionKind.ATTACK, place, HERO), solved)


@njit
def note_action(action: int, solved: np.void) -> None:
    """Write one more action. `solved` is modified in place."""
    solved["actions"][solved["n"]] = action
    solved["n"] += 1


@njit
def play_before(
    state: np.void,
    paid: int,
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    work: np.void,
    solved: np.void,
) -> bool:
    """Play what comes before a last action, which costs `paid`; whether that draws cards."""
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


@njit
def left_out(
    state: np.void, cards: np.ndarray, facts: np.ndarray, action: int, frame: np.void, start: np.void
) -> bool:
    """Whether an action is not looked at: late, barred, without a place, or the twin of another."""
    kind, source, target = decode(action)
    own = state["sides"][start["seat"]]
    if kind == ActionKind.PLAY:
        number = own["hand"][source]
        for place in range(source):
            if own["hand"][place] == number:
                return True
        if frame["late"] & LATE_PLAYS:
            if number == COIN:
                if not frame["late"] & NEEDS_COIN:
                    return True
            elif facts[number]["bits"] & PLAIN:
                return True
    elif kind == ActionKind.POWER and frame["late"] & LATE_PLAYS and facts[own["power"] - 1]["bits"] & PLAIN:
        return True
    elif kind == ActionKind.ATTACK and frame["late"] & (LATE_FACE | LATE_KILL) and target == HERO and source != HERO:
        # The first attack of two may come before a blow it dies of.
        last = own["board"][source]["attacks_left"] == 1
        if last:
            return True
    if action & AIMED and target >= OWN_SIDE and frame["late"] & (LATE_FACE | LATE_KILL | LATE_PLAYS):
        card = own["hand"][source] if kind == ActionKind.PLAY else own["power"] - 1
        if facts[card]["bits"] & AIMS_ANYWHERE:
            power = kind == ActionKind.POWER and frame["late"] & SPARES_OWN
            if not frame["late"] & LATE_KILL or power:
                return True
    if start["slots"] and lacks_place(own, cards, kind, source, frame, start):
        return True
    for n in range(start["n_barred"]):
        barred = start["barred"][n]
        if barred[0] == kind and is_barred(state, kind, source, target, action, barred, start):
            return True
    return False


@njit
def is_barred(
    state: np.void, kind: int, source: int, target: int, action: int, barred: np.ndarray, start: np.void
) -> bool:
    """Whether an action is one that was barred: `barred` has the fields of `ilp_agent.cardturn.Barred`."""
    seat = start["seat"]
    own = state["sides"][seat]
    if kind == ActionKind.PLAY and own["hand"][source] != barred[1]:
        return False
    if kind == ActionKind.ATTACK:
        who = HERO_ATTACKS
        if source != HERO:
            minion = own["board"][source]
            arrived = barred[1] <= ARRIVED and minion["born"] > start["births"]
            who = ARRIVED - minion["card"] if arrived else minion["born"]
        if who != barred[1]:
            return False
    if barred[2] == ANY_TARGET:
        return True
    if kind != ActionKind.ATTACK and not action & AIMED:
        return False
    if target in (HERO, OWN_SIDE + BOARD_SIZE):
        return bool(barred[2] == -1 - target)
    if target < OWN_SIDE:
        return bool(state["sides"][1 - seat]["board"][target]["born"] == barred[2])
    return bool(own["board"][target - OWN_SIDE]["born"] == barred[2])


@njit
def lacks_place(
    own: np.void, cards: np.ndarray, kind: int, source: int, frame: np.void, start: np.void
) -> bool:
    """Whether an action needs a place that the integer program does not give it.

    Minions from hand that attack use places free at the start, others also those of minions that died on
    board; one that came from hand and died keeps its place.
    """
    if kind == ActionKind.PLAY:
        number = own["hand"][source]
        minion = number != COIN and cards[number]["kind"] == CardKind.MINION
        return bool(minion and own["n_board"] + frame["ghosts"] >= BOARD_SIZE)
    if kind == ActionKind.ATTACK and source != HERO:
        minion = own["board"][source]
        full = 2 if minion["keywords"] & Keyword.WINDFURY else 1
        first = minion["born"] > start["births"] and minion["attacks_left"] == full
        return bool(first and frame["strikers"] >= start["free"])
    return False


@njit
def count_places(before: np.void, action: int, deaths: int, start: np.void, frame: np.void) -> None:
    """Count the minions from hand that attack, and those that die of it. `frame` is modified in place."""
    kind, source, _ = decode(action)
    if kind != ActionKind.ATTACK or source == HERO:
        return
    minion = before["sides"][before["active"]]["board"][source]
    full = 2 if minion["keywords"] & Keyword.WINDFURY else 1
    if minion["born"] <= start["births"]:
        return
    if minion["attacks_left"] == full:
        frame["strikers"] += 1
    if deaths & Death.ATTACKER:
        frame["ghosts"] += 1


assert encode(ActionKind.END_TURN, 0, 0) == 0
assert len(Term) == Term.OVERLOAD + 1
