"""Candidate ends of a turn without card effects: enumeration, and evaluation after the reply; compiled.

An end consists of a node, then plays, then attacks on the hero. Two ends are equal if their positions are,
with boards and hands as multisets; the value of an end is the objective of the best path to it.

All ends are enumerated, while `ilp_agent.lookahead.card_ends` lists only the best set of deferred actions.
The exact solver plays the replies.
"""

from typing import NamedTuple

import numpy as np

from engine.bitfields import PLACE_BITS, STAT_BITS, additive_hash, append_field
from engine.codes import BOARD_SIZE, COIN, HAND_SIZE, HERO, MAX_MANA, MAX_STAT, ActionKind, Keyword, Outcome
from engine.jit import njit_no_alloc
from engine.rules import apply, encode, outcome
from engine.state import is_guarded, may_attack_hero
from engine.streams import below, derive
from ilp_agent.exact.kernel import solve_exact_turn
from ilp_agent.exact.plan_record import MAX_STEPS, PLAN, TRACKER, execute_plan
from ilp_agent.exact.work import MAX_LAYERS, PREALLOCATED_STATES, WORK
from ilp_agent.lookahead.body_positions import (
    ENEMY_MINION,
    HELD,
    MAX_HITS_ON_HERO,
    MAX_NODES,
    OWN_MINION,
    REST,
    EndPool,
    append_minion,
    can_attack_at_once,
    expand,
    hand_position,
    init_root,
    new_end_pool,
    omits_earlier_copy,
    play_gain,
)
from ilp_agent.lookahead.determinization import (
    remove_hidden_cards,
    restore_hidden_cards,
    sample_hidden_cards,
    sort_deck,
)
from ilp_agent.lookahead.evaluation import (
    AFTER_NEXT_TURN,
    AFTER_REPLY,
    LookaheadMemory,
    linear_value,
)
from ilp_agent.lookahead.weights import BUDGET, DEPTH, REPLY_PART, SAMPLES, TURN_PART
from ilp_agent.search.objective import damage_value, hero_health
from ilp_agent.turn import TURN, read_turn
from ilp_agent.weights import Term


@njit_no_alloc
def find_ends(
    state: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    wanted: int,
    limit: int,
    every: bool,
    pool: EndPool,
) -> int:
    """Write the best distinct ends of a turn to `pool`, unordered; return their number.

    Args:
        state: dtype `STATE`; hidden cards are not read.
        cards: the card table.
        weights: of the objective, indexed by `ilp_agent.weights.Term`.
        wanted: number of ends, 1 to `MAX_ENDS`.
        limit: of nodes, 1 to `MAX_NODES`.
        every: whether to include ends in which a minion forgoes an attack on the enemy hero; else only
            minions with Stealth may.
        pool: working memory.

    Returns:
        The number of ends, at most `wanted`.
    """
    init_root(state, weights, pool)
    _list_plays(state, cards, weights, pool)
    pool.unproven[0] = 0
    n, place, found = 1, 0, 0
    while place < n:
        found = _add_ends(place, found, wanted, every, cards, weights, pool)
        if not pool.unproven[0]:
            n = expand(place, n, cards, weights, pool, limit)
            if n < 0:
                n = -n
                pool.unproven[0] = 1
        place += 1
    pool.n_nodes[0] = n
    return found


@njit_no_alloc
def _list_plays(state: np.void, cards: np.ndarray, weights: np.ndarray, pool: EndPool) -> None:
    """List the sets of affordable minions in hand, by decreasing gain. `pool` is modified in place."""
    own = state["sides"][state["active"]]
    budget = own["mana"] + (1 if hand_position(own, COIN) >= 0 else 0)
    plays = pool.plays
    plays[0]["bits"], plays[0]["cost"], plays[0]["size"], plays[0]["gain"] = 0, 0, 0, 0.0
    plays[0]["copies"] = 0
    n = 1
    for number in range(own["n_hand"]):
        card = own["hand"][number]
        if card < 0 or cards[card]["cost"] > min(budget, MAX_MANA):
            continue
        gain = play_gain(cards[card], weights)
        for before in range(n):
            smaller = plays[before]
            bits = smaller["bits"] | 1 << number
            cost = smaller["cost"] + cards[card]["cost"]
            copies = omits_earlier_copy(own, bits, number)
            if copies and not can_attack_at_once(cards[card]):
                continue
            if cost <= budget and smaller["size"] < BOARD_SIZE:
                larger = plays[n]
                larger["copies"] = smaller["copies"] | (1 if copies else 0)
                larger["bits"], larger["cost"], larger["size"] = bits, cost, smaller["size"] + 1
                larger["gain"] = smaller["gain"] + gain
                n += 1
    for number in range(1, n):  # by insertion: most turns allow few
        place = number
        while place > 0 and plays[place - 1]["gain"] < plays[place]["gain"]:
            plays[-1] = plays[place]
            plays[place] = plays[place - 1]
            plays[place - 1] = plays[-1]
            place -= 1
    pool.n_plays[0] = n


@njit_no_alloc
def _add_ends(
    place: int, found: int, wanted: int, every: bool, cards: np.ndarray, weights: np.ndarray, pool: EndPool
) -> int:
    """Add the ends that follow a node to the best so far; returns the number of ends."""
    state, node = pool.states[place], pool.nodes[place]
    seat = state["active"]
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    health = enemy["health"] + enemy["armour"]
    n_hits, choice, all_damage = _list_hits(own, enemy, every, pool)
    value = node["gain"] + (weights[Term.CLEAR] if enemy["n_board"] == 0 else 0.0)
    most = value + damage_value(weights) * all_damage
    most += weights[Term.HERO] * all_damage + (weights[Term.LETHAL] if all_damage >= health else 0.0)
    budget = pool.states[0]["sides"][seat]["mana"]
    budget += 1 if hand_position(pool.states[0]["sides"][seat], COIN) >= 0 else 0
    spent, played, lethal = 0, int(node["played"]), all_damage >= health
    first_hand = pool.states[0]["sides"][seat]
    for number in range(first_hand["n_hand"]):
        if node["played"] >> number & 1:
            spent += cards[first_hand["hand"][number]]["cost"]
    room = BOARD_SIZE - own["n_board"]
    whole = (1 << n_hits) - 1
    for number in range(pool.n_plays[0]):
        plays = pool.plays[number]
        if found == wanted and most + plays["gain"] <= pool.least[0]:
            break
        if plays["bits"] & played or plays["cost"] + spent > budget or plays["size"] > room:
            continue
        if plays["copies"] and _copies_before(first_hand, plays["bits"], played):
            continue
        hits = whole
        while True:
            damage, legal = _damage_of(hits, n_hits, own, pool, health)
            ends = value + plays["gain"] + damage_value(weights) * damage
            ends += weights[Term.LETHAL] if damage >= health else 0.0
            ends += weights[Term.HERO] * 99 if weights[Term.HERO] > 0.0 else 0.0
            if legal and (found < wanted or ends > pool.least[0]):
                found = _add(place, plays["bits"], hits, found, wanted, cards, weights, pool)
            free = hits & (whole if lethal else choice)
            if free == 0:
                break
            # The next smaller set whose fixed attacks all stay.
            fixed = 0 if lethal else whole & ~choice
            hits = ((hits & ~fixed) - 1) & (whole & ~fixed) | fixed
    return found


@njit_no_alloc
def _list_hits(own: np.void, enemy: np.void, every: bool, pool: EndPool) -> tuple[int, int, int]:
    """List attacks on the hero: their number, bits of the optional ones, and their total damage."""
    n, choice, damage = 0, 0, 0
    if is_guarded(enemy):
        return 0, 0, 0
    for slot in range(own["n_board"]):
        minion = own["board"][slot]
        if minion["attack"] == 0 or not may_attack_hero(minion):
            continue
        for _ in range(minion["attacks_left"]):
            pool.hits[n] = slot
            if every or minion["keywords"] & Keyword.STEALTH:
                choice |= 1 << n
            damage += minion["attack"]
            n += 1
    return n, choice, damage


@njit_no_alloc
def _damage_of(hits: int, n_hits: int, own: np.void, pool: EndPool, health: int) -> tuple[int, bool]:
    """Damage of a set of attacks on the hero, and whether the set is legal: none follows a killing blow."""
    damage, strongest = 0, 0
    for number in range(n_hits):
        slot = pool.hits[number]
        if hits >> number & 1:
            attack = own["board"][slot]["attack"]
            damage += attack
            strongest = max(strongest, attack)
        elif number + 1 < n_hits and pool.hits[number + 1] == slot and hits >> (number + 1) & 1:
            return damage, False  # second attack of a minion without its first
    return damage, damage - strongest < health


@njit_no_alloc
def _copies_before(side: np.void, bits: int, played: int) -> bool:
    """Whether a set plays a later copy of a card while an earlier one stays in hand."""
    for number in range(side["n_hand"]):
        if bits >> number & 1 and omits_earlier_copy(side, bits | played, number):
            return True
    return False


@njit_no_alloc
def _add(
    place: int,
    plays: int,
    hits: int,
    found: int,
    wanted: int,
    cards: np.ndarray,
    weights: np.ndarray,
    pool: EndPool,
) -> int:
    """Add an end to the best, unless an equal one has as good a value; returns the number of ends."""
    pool.trial[0] = pool.states[place]
    value = pool.nodes[place]["gain"] + apply_final_actions(place, plays, hits, cards, weights, pool)
    key = end_key(pool.trial[0])
    goes, worst = -1, 0
    for number in range(found):
        end = pool.ends[number]
        if end["key"] == key:
            if value <= end["value"]:
                return found
            goes = number
        if end["value"] < pool.ends[worst]["value"]:
            worst = number
    if goes < 0 and found < wanted:
        goes = found
        found += 1
    elif goes < 0:
        if value <= pool.ends[worst]["value"]:
            return found
        goes = worst
    _write(goes, key, value, place, plays, hits, pool)
    pool.least[0] = np.inf
    for number in range(found):
        pool.least[0] = min(pool.least[0], pool.ends[number]["value"])
    return found


@njit_no_alloc
def _write(
    number: int, key: np.uint64, value: float, place: int, plays: int, hits: int, pool: EndPool
) -> None:
    end = pool.ends[number]
    end["key"], end["value"], end["node"], end["plays"], end["hits"] = key, value, place, plays, hits
    enemy = pool.trial[0]["sides"][1 - pool.trial[0]["active"]]
    end["lethal"] = 1 if enemy["health"] <= 0 else 0
    pool.end_states[number] = pool.trial[0]


@njit_no_alloc
def apply_final_actions(
    place: int, plays: int, hits: int, cards: np.ndarray, weights: np.ndarray, pool: EndPool
) -> float:
    """Apply the plays and attacks on the hero that end a turn to `pool.trial`; returns their gain."""
    state = pool.trial[0]
    seat = state["active"]
    before, before_enemy = state["sides"][seat]["health"], hero_health(state["sides"][1 - seat])
    own = pool.states[place]["sides"][seat]
    value = 0.0
    for number in range(MAX_HITS_ON_HERO):
        if hits >> number & 1:
            value += weights[Term.FACE] * own["board"][pool.hits[number]]["attack"]
    hand = pool.states[0]["sides"][seat]["hand"]
    for number in range(HAND_SIZE):
        if plays >> number & 1:
            value += play_gain(cards[hand[number]], weights)
    append_final_actions(plays, hits, 0, cards, pool, pool.actions)
    value += weights[Term.HERO] * (state["sides"][seat]["health"] - before)
    enemy = state["sides"][1 - seat]
    value += weights[Term.ENEMY_HERO] * (before_enemy - hero_health(enemy))
    if enemy["n_board"] == 0:
        value += weights[Term.CLEAR]
    if enemy["health"] <= 0:
        value += weights[Term.LETHAL]
    return float(value)


@njit_no_alloc
def append_final_actions(
    plays: int, hits: int, n: int, cards: np.ndarray, pool: EndPool, actions: np.ndarray
) -> int:
    """Apply the final plays and attacks to `pool.trial`, append them to `actions`; return the new number.

    `pool.trial` and `actions` are modified in place.
    """
    state = pool.trial[0]
    own = state["sides"][state["active"]]
    hand = pool.states[0]["sides"][state["active"]]["hand"]
    for number in range(HAND_SIZE):
        if plays >> number & 1:
            card = hand[number]
            if cards[card]["cost"] > own["mana"]:
                n = _do(encode(ActionKind.PLAY, hand_position(own, COIN), 0), n, cards, pool, actions)
            n = _do(encode(ActionKind.PLAY, hand_position(own, card), 0), n, cards, pool, actions)
    _list_hits(own, state["sides"][1 - state["active"]], True, pool)
    last, most = -1, -1
    for number in range(MAX_HITS_ON_HERO):
        if hits >> number & 1 and own["board"][pool.hits[number]]["attack"] >= most:
            last, most = number, own["board"][pool.hits[number]]["attack"]
    for number in range(MAX_HITS_ON_HERO):
        if hits >> number & 1 and number != last:
            n = _do(encode(ActionKind.ATTACK, pool.hits[number], HERO), n, cards, pool, actions)
    if last >= 0:
        n = _do(encode(ActionKind.ATTACK, pool.hits[last], HERO), n, cards, pool, actions)
    return n


@njit_no_alloc
def _do(action: int, n: int, cards: np.ndarray, pool: EndPool, actions: np.ndarray) -> int:
    """Apply and append one action; returns the number of actions."""
    apply(pool.trial[0], cards, action, pool.events[0])
    actions[n] = action
    return n + 1


@njit_no_alloc
def end_key(state: np.void) -> np.uint64:
    """Hash of the visible position at the end of a turn, with boards and hand as multisets."""
    own, enemy = state["sides"][state["active"]], state["sides"][1 - state["active"]]
    total = np.uint64(0)
    for slot in range(own["n_board"]):
        total += additive_hash(append_minion(np.uint64(OWN_MINION), own["board"][slot]))
    for slot in range(enemy["n_board"]):
        total += additive_hash(append_minion(np.uint64(ENEMY_MINION), enemy["board"][slot]))
    for place in range(own["n_hand"]):
        total += additive_hash(append_field(np.uint64(HELD), own["hand"][place] + 2, 16))
    word = append_field(np.uint64(REST), own["n_hand"], PLACE_BITS)
    for side in (own, enemy):
        word = append_field(word, side["health"] + MAX_STAT, STAT_BITS + 1)  # negative if dead
        word = append_field(word, side["armour"], STAT_BITS)
    return total + additive_hash(word)


@njit_no_alloc
def write_end_actions(number: int, cards: np.ndarray, pool: EndPool, actions: np.ndarray) -> int:
    """Write the actions that lead to an end to `actions`, without ending the turn; return their number."""
    end = pool.ends[number]
    n, place = 0, end["node"]
    while place > 0:
        n += 1 + pool.nodes[place]["coin"]
        place = pool.nodes[place]["parent"]
    total, place = n, end["node"]
    while place > 0:
        node = pool.nodes[place]
        n -= 1
        actions[n] = node["action"]
        if node["coin"]:
            n -= 1
            side = pool.states[node["parent"]]["sides"][pool.states[0]["active"]]
            actions[n] = encode(ActionKind.PLAY, hand_position(side, COIN), 0)
        place = node["parent"]
    pool.trial[0] = pool.states[end["node"]]
    return append_final_actions(end["plays"], end["hits"], total, cards, pool, actions)


OPPONENT_HAND = 3
"""Stream of the opponent's sampled hand, below that of a turn."""


class BodyMemory(NamedTuple):
    """Working memory for turns without card effects: about thirteen megabytes. Modified in place."""

    pool: EndPool
    turns: np.ndarray  # memory of the exact solver, each of shape (1,)
    plans: np.ndarray
    works: np.ndarray
    trackers: np.ndarray
    codes: np.ndarray  # actions, shape (`MAX_STEPS`,)
    layers: np.ndarray


def new_body_memory() -> BodyMemory:
    """Allocate working memory for one thread."""
    return BodyMemory(
        new_end_pool(),
        np.zeros(1, TURN),
        np.zeros(1, PLAN),
        np.zeros(1, WORK),
        np.zeros(1, TRACKER),
        np.zeros(MAX_STEPS, np.int64),
        np.empty((MAX_LAYERS, 2, PREALLOCATED_STATES), np.float64),
    )


@njit_no_alloc
def find_body_candidates(cards: np.ndarray, row: np.ndarray, memory: LookaheadMemory[BodyMemory]) -> int:
    """Find the candidate ends of the turn in `memory.here`; return their number (`CandidateKernels`).

    The turn program's plan is final if it is lethal, or if the budget is 1.
    """
    here, ends, chosen = memory.here[0], memory.ends, memory.plan[0]
    sort_deck(here["sides"][here["active"]], cards, memory.deck_keys)
    chosen["again"], chosen["unproven"] = 0, 0
    turn, plan = ends.turns[0], ends.plans[0]
    read_turn(here, cards, turn)
    solve_exact_turn(turn, row[TURN_PART], ends.works[0], ends.layers, plan)
    if plan["lethal"] or row[BUDGET] <= 1.0:
        n, again = execute_plan(
            here, cards, turn, plan, ends.trackers[0], memory.events[0], chosen["actions"]
        )
        chosen["n"] = n
        chosen["again"] = 1 if again else 0
        return 0
    return find_ends(here, cards, row[TURN_PART], int(row[BUDGET]), MAX_NODES, False, ends.pool)


@njit_no_alloc
def body_candidate_value(
    number: int, cards: np.ndarray, row: np.ndarray, stream: np.uint64, memory: LookaheadMemory[BodyMemory]
) -> float:
    """Value of an end, in the mean over sampled hands if the opponent's hand is modelled.

    See `ilp_agent.lookahead.selfplay.CandidateKernels`. All ends share the sampled hands (common random
    numbers).
    """
    depth, samples, total = int(row[DEPTH]), 1, 0.0
    if memory.hands.n_decks[0] > 0 and depth >= AFTER_REPLY:
        samples = max(1, int(row[SAMPLES]))
    for sample in range(samples):
        sample_stream = stream if sample == 0 else derive(stream, sample)
        memory.then[0] = memory.ends.pool.end_states[number]
        total += (
            evaluate_end(memory.then[0], cards, row, memory.here[0]["active"], depth, sample_stream, memory)
            / samples
        )
    memory.judged[0] += 1
    return total


@njit_no_alloc
def wins_body_tie(number: int, other: int, memory: LookaheadMemory[BodyMemory]) -> bool:
    """Tie-break of two ends of equal value: whether the first has the higher objective."""
    ends = memory.ends.pool.ends
    return bool(ends[number]["value"] > ends[other]["value"])


@njit_no_alloc
def write_body_choice(number: int, cards: np.ndarray, memory: LookaheadMemory[BodyMemory]) -> None:
    """Write the actions that lead to the chosen end to `memory.plan`."""
    chosen, pool = memory.plan[0], memory.ends.pool
    if memory.judged[0] > 0:
        chosen["unproven"] = pool.unproven[0]
    chosen["n"] = write_end_actions(number, cards, pool, chosen["actions"])


@njit_no_alloc
def evaluate_end(
    state: np.void,
    cards: np.ndarray,
    row: np.ndarray,
    seat: int,
    depth: int,
    key: np.uint64,
    memory: LookaheadMemory[BodyMemory],
) -> float:
    """Value of a position at the end of a turn, for the active player at `seat`.

    Args:
        state: dtype `STATE`, before the end of the turn, hidden cards hidden. Modified in place.
        cards: the card table.
        row: as of `ilp_agent.lookahead.weights.kernel_rows`.
        seat: 0 or 1; the active player.
        depth: `AFTER_TURN`, `AFTER_REPLY` or `AFTER_NEXT_TURN`.
        key: stream of the next drawn card and the opponent's sampled hand, common to all ends of a turn.
        memory: modified in place: `features` of the evaluated position. `hands` is the model of the
            opponent's hand; without one the opponent plays only its board.
    """
    if depth >= AFTER_REPLY and outcome(state) == Outcome.ONGOING:
        hand_known = sample_hidden_cards(
            state["sides"][1 - seat], derive(key, OPPONENT_HAND), False, memory.hands
        )
        apply(state, cards, encode(ActionKind.END_TURN, 0, 0), memory.events[0])
        if hand_known:
            play_hand(state, cards, row[REPLY_PART], memory)
        else:
            play_board(state, cards, row[REPLY_PART], memory)
    if depth >= AFTER_NEXT_TURN and outcome(state) == Outcome.ONGOING:
        sample_next_draw(state["sides"][seat], key)
        apply(state, cards, encode(ActionKind.END_TURN, 0, 0), memory.events[0])
        play_turn(state, cards, row[TURN_PART], memory)
    return linear_value(state, cards, seat, row, memory.features)


@njit_no_alloc
def play_board(
    state: np.void, cards: np.ndarray, weights: np.ndarray, memory: LookaheadMemory[BodyMemory]
) -> None:
    """Play the active player's best turn with the board alone: the hand is hidden.

    `state` and `memory` are modified in place. The turn is not ended.
    """
    own = state["sides"][state["active"]]
    held = own["n_hand"]
    own["n_hand"] = 0
    if own["n_board"] > 0:
        play_turn(state, cards, weights, memory)
    own["n_hand"] = held


@njit_no_alloc
def play_hand(
    state: np.void, cards: np.ndarray, weights: np.ndarray, memory: LookaheadMemory[BodyMemory]
) -> None:
    """Play the active player's best turn with the board and the cards in hand that are not hidden.

    `state` and `memory` are modified in place. The turn is not ended.
    """
    own = state["sides"][state["active"]]
    hidden = remove_hidden_cards(own)
    play_turn(state, cards, weights, memory)
    restore_hidden_cards(own, hidden)


@njit_no_alloc
def play_turn(
    state: np.void, cards: np.ndarray, weights: np.ndarray, memory: LookaheadMemory[BodyMemory]
) -> None:
    """Play the active player's best turn, without ending it. `state` and `memory` are modified in place."""
    ends = memory.ends
    turn, plan, tracker = ends.turns[0], ends.plans[0], ends.trackers[0]
    again = True
    while again and outcome(state) == Outcome.ONGOING:
        read_turn(state, cards, turn)
        solve_exact_turn(turn, weights, ends.works[0], ends.layers, plan)
        _, again = execute_plan(state, cards, turn, plan, tracker, memory.events[0], ends.codes)


@njit_no_alloc
def sample_next_draw(side: np.void, key: np.uint64) -> None:
    """Move a random card of a deck to its top. `side` is modified in place."""
    n = side["n_deck"]
    if n > 1:
        place = below(key, 0, n)
        card = side["deck"][place]
        side["deck"][place] = side["deck"][n - 1]
        side["deck"][n - 1] = card
