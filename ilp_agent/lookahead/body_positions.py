"""Positions within a turn without card effects, each found once.

What takes nothing away from other attacks comes last, and is left to the ends
(`ilp_agent.lookahead.body_ends`): plays without Charge or Rush, and attacks on the hero. Attacks of different
minions on different enemies commute, within the enemies with Taunt and within the others, so targets come in
the order of the board, except for a minion that attacks twice, which may go back. Sequences that lead to the
same position share a node, which keeps what the better one gains.
"""

from typing import NamedTuple

import numpy as np

from engine.bitfields import KEYWORD_BITS, PLACE_BITS, STAT_BITS, append_field, to_sum
from engine.codes import BOARD_SIZE, COIN, HAND_SIZE, HERO, MAX_MANA, ActionKind, Death, Keyword
from engine.jit import njit, njit_borrowing
from engine.rules import apply, decode, encode
from engine.state import EVENTS, STATE, guards, is_guarded, may_attack_hero
from ilp_agent.lookahead import MOST_BUDGET
from ilp_agent.weights import Term

MAX_NODES = 4_096
"""Most positions within a turn that one pool looks at."""

MAX_ENDS = MOST_BUDGET
"""Most ends that one pool keeps."""

SLOTS = 1 << 14
"""Places of the table that finds equal nodes; a power of two, well above `MAX_NODES`."""

MAX_ACTIONS_OF_TURN = 64
"""More actions than a turn of bodies can have."""

NODE = np.dtype(
    [
        ("key", "u8"),  # hash of the position, and of what the order of attacks still allows
        ("gain", "f8"),  # of the objective, by the actions so far
        ("parent", "i4"),  # node it comes from; -1 at the start of the turn
        ("action", "i4"),  # by this action (`engine.rules.encode`)
        ("coin", "i2"),  # 1: The Coin was played before that action
        ("from_place", "i2"),  # first enemy that may be attacked next
        ("last", "i2"),  # place of the minion that attacked last and still can; else -1
        ("attacked", "i2"),  # 1 once there was an attack
        ("played", "i2"),  # minions played so far, bits of their places in hand at the start of the turn
        ("survival", "i2", (BOARD_SIZE,)),  # health that each own minion's survival counts, by place
    ]
)
"""A position within a turn: what can follow it, and what led to it."""

END = np.dtype(
    [
        ("key", "u8"),  # hash of the position at the end of the turn
        ("value", "f8"),  # the objective of the best way to it
        ("node", "i4"),  # it comes after this node
        ("plays", "i2"),  # by playing these minions, bits of their places in hand at the start of the turn
        ("hits", "i4"),  # and by these attacks on the hero, bits of `Pool.hits`
        ("lethal", "i2"),  # 1: the enemy hero is dead
    ]
)
"""An end of a turn."""

PLAYS = np.dtype(
    [
        ("bits", "i2"),  # places in hand at the start of the turn
        ("cost", "i2"),  # mana
        ("size", "i2"),  # minions
        ("copies", "i2"),  # 1: it leaves out an earlier copy of a card, which was perhaps played to attack
        ("gain", "f8"),  # of the objective
    ]
)
"""A set of minions that mana at the start of the turn allows."""

MAX_HITS_ON_HERO = 2 * BOARD_SIZE


class Pool(NamedTuple):
    """Memory of a pool, one for each thread. Modified in place."""

    states: np.ndarray  # of nodes, dtype STATE
    nodes: np.ndarray  # dtype NODE
    slots: np.ndarray  # node by key; open addressing
    stamps: np.ndarray  # pool that a place of `slots` was last used in
    clock: np.ndarray  # number of the pool, shape (1,)
    ends: np.ndarray  # dtype END, the best `n` of them
    end_states: np.ndarray  # dtype STATE, in the same order
    plays: np.ndarray  # dtype PLAYS, by gain, the best first
    n_plays: np.ndarray  # how many, shape (1,)
    hits: np.ndarray  # attacks on the hero that a node allows: the place of who makes it
    least: np.ndarray  # the value of the worst end, shape (1,)
    luck: np.ndarray  # dtype EVENTS, shape (1,): what actions tell
    trial: np.ndarray  # dtype STATE, shape (1,): an end that is tried
    actions: np.ndarray  # those that lead to it
    n_nodes: np.ndarray  # how many nodes there are, shape (1,)
    unproven: np.ndarray  # 1: nodes ran out, shape (1,)


@njit
def new_pool() -> Pool:
    """Memory for pools: some five megabytes."""
    return Pool(
        np.zeros(MAX_NODES, STATE),
        np.zeros(MAX_NODES, NODE),
        np.empty(SLOTS, np.int32),
        np.zeros(SLOTS, np.int64),
        np.zeros(1, np.int64),
        np.zeros(MAX_ENDS, END),
        np.zeros(MAX_ENDS, STATE),
        np.zeros((1 << HAND_SIZE) + 1, PLAYS),
        np.zeros(1, np.int64),
        np.zeros(MAX_HITS_ON_HERO, np.int64),
        np.zeros(1, np.float64),
        np.zeros(1, EVENTS),
        np.zeros(1, STATE),
        np.zeros(MAX_ACTIONS_OF_TURN, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
    )


OWN_MINION, ENEMY_MINION, REST, HELD = range(4)
"""What a word of a key is about."""

_ABOUT_BITS = 2
_ATTACKS_BITS = 2
_MINION_BITS = 2 * STAT_BITS + KEYWORD_BITS
assert _ABOUT_BITS + _ATTACKS_BITS + 2 + STAT_BITS + _MINION_BITS <= 64
assert _ABOUT_BITS + 2 * STAT_BITS + PLACE_BITS + 1 + 10 <= 64


@njit_borrowing
def begin(state: np.void, weights: np.ndarray, pool: Pool) -> None:
    """Make the start of a turn node 0. `pool` is modified in place."""
    pool.clock[0] += 1
    pool.states[0] = state
    node = pool.nodes[0]
    own, enemy = state["sides"][state["active"]], state["sides"][1 - state["active"]]
    node["parent"], node["action"], node["coin"] = -1, 0, 0
    node["from_place"], node["last"], node["attacked"], node["played"] = 0, -1, 0, 0
    gain = 0.0
    for slot in range(own["n_board"]):
        node["survival"][slot] = own["board"][slot]["health"]
        gain += weights[Term.SURVIVE] * own["board"][slot]["health"]
    for slot in range(enemy["n_board"]):
        gain -= weights[Term.THREAT] * enemy["board"][slot]["attack"]
    node["gain"] = gain


@njit_borrowing
def expand(place: int, n: int, cards: np.ndarray, weights: np.ndarray, pool: Pool, limit: int) -> int:
    """Add all that can follow a node; the number of nodes then, negative where the limit was met."""
    state, node = pool.states[place], pool.nodes[place]
    own, enemy = state["sides"][state["active"]], state["sides"][1 - state["active"]]
    freed = own["died"] > pool.states[0]["sides"][state["active"]]["died"]
    if own["n_board"] < BOARD_SIZE and (not node["attacked"] or freed):
        n = _expand_plays(place, n, cards, weights, pool, limit)
        if n < 0:
            return n
    guarded = is_guarded(enemy)
    for slot in range(own["n_board"]):
        minion = own["board"][slot]
        if minion["attacks_left"] == 0 or minion["attack"] == 0 or _has_twin(own, node, slot):
            continue
        first = 0 if slot == node["last"] else node["from_place"]
        for target in range(first, enemy["n_board"] + 1):
            if target == enemy["n_board"]:
                # A first attack on the hero, by a minion that may die of its second.
                if guarded or minion["attacks_left"] < 2 or not may_attack_hero(minion):
                    continue
                if minion["attack"] >= enemy["health"] + enemy["armour"]:
                    continue
                action = encode(ActionKind.ATTACK, slot, HERO)
            else:
                other = enemy["board"][target]
                if other["keywords"] & Keyword.STEALTH or (guarded and not guards(other)):
                    continue
                action = encode(ActionKind.ATTACK, slot, target)
            if n == limit:
                return -n
            _attack(place, n, action, cards, weights, pool)
            child = pool.nodes[n]
            passed = guarded and not is_guarded(pool.states[n]["sides"][1 - state["active"]])
            child["from_place"] = 0 if passed else target
            if target == enemy["n_board"]:
                child["from_place"] = node["from_place"]
            n = _keep(place, n, pool)
    return n


@njit_borrowing
def _attack(place: int, n: int, action: int, cards: np.ndarray, weights: np.ndarray, pool: Pool) -> None:
    """Make an attack after a node, as node `n`. `pool` is modified in place."""
    before, node = pool.states[place], pool.nodes[place]
    pool.states[n] = before
    after, child = pool.states[n], pool.nodes[n]
    pool.nodes[n] = node
    child["parent"], child["action"], child["coin"], child["attacked"] = place, action, 0, 1
    _, slot, target = decode(action)
    seat = before["active"]
    attacker = before["sides"][seat]["board"][slot]
    deaths = apply(after, cards, action, pool.luck[0])
    own, enemy = after["sides"][seat], after["sides"][1 - seat]
    gain = weights[Term.HERO] * (own["health"] - before["sides"][seat]["health"])
    if target == HERO:
        gain += weights[Term.FACE] * attacker["attack"]
    else:
        struck = before["sides"][1 - seat]["board"][target]
        gain += weights[Term.DAMAGE] * attacker["attack"] - weights[Term.TRADE] * struck["attack"]
        if deaths & Death.DEFENDER:
            gain += weights[Term.THREAT] * struck["attack"] + weights[Term.WOUND] * struck["health"]
        else:
            gain += weights[Term.WOUND] * (struck["health"] - enemy["board"][target]["health"])
    if deaths & Death.ATTACKER:
        gain -= weights[Term.SURVIVE] * node["survival"][slot]
        gain -= weights[Term.BODY] * (attacker["attack"] + attacker["health"])
        for later in range(slot, BOARD_SIZE - 1):
            child["survival"][later] = child["survival"][later + 1]
    else:
        gain -= weights[Term.BODY] * (attacker["health"] - own["board"][slot]["health"])
    again = not deaths & Death.ATTACKER and own["board"][slot]["attacks_left"] > 0
    child["last"] = slot if again else -1
    child["gain"] = node["gain"] + gain


@njit_borrowing
def _expand_plays(place: int, n: int, cards: np.ndarray, weights: np.ndarray, pool: Pool, limit: int) -> int:
    """Add plays of cards that may attack at once, The Coin before one that needs it."""
    seat = pool.states[place]["active"]
    own = pool.states[place]["sides"][seat]
    first_hand = pool.states[0]["sides"][seat]
    for number in range(first_hand["n_hand"]):
        card = first_hand["hand"][number]
        if card < 0 or pool.nodes[place]["played"] >> number & 1:
            continue
        if not strikes(cards[card]):
            continue
        if repeats(first_hand, pool.nodes[place]["played"] | 1 << number, number):
            continue
        coin = 0
        if cards[card]["cost"] > own["mana"]:
            if own["mana"] + 1 < cards[card]["cost"] or own["mana"] == MAX_MANA or place_of(own, COIN) < 0:
                continue
            coin = 1
        if n == limit:
            return -n
        pool.states[n] = pool.states[place]
        pool.nodes[n] = pool.nodes[place]
        child, side = pool.nodes[n], pool.states[n]["sides"][seat]
        if coin:
            apply(pool.states[n], cards, encode(ActionKind.PLAY, place_of(side, COIN), 0), pool.luck[0])
        action = encode(ActionKind.PLAY, place_of(side, card), 0)
        apply(pool.states[n], cards, action, pool.luck[0])
        child["parent"], child["action"], child["coin"] = place, action, coin
        child["played"] |= 1 << number
        child["from_place"] = 0
        child["survival"][side["n_board"] - 1] = cards[card]["health"]
        child["gain"] += play_gain(cards[card], weights)
        n = _keep(place, n, pool)
    return n


@njit_borrowing
def strikes(card: np.void) -> bool:
    """Whether a minion can attack on the turn it is played."""
    return bool(card["attack"] > 0 and card["keywords"] & (Keyword.CHARGE | Keyword.RUSH))


@njit_borrowing
def play_gain(card: np.void, weights: np.ndarray) -> float:
    """What playing a minion adds to the objective, as long as it survives."""
    return float(weights[Term.PLAY] * card["value"] + weights[Term.SURVIVE] * card["health"])


@njit_borrowing
def repeats(side: np.void, bits: int, number: int) -> bool:
    """Whether an earlier copy of a card in hand is not among `bits`: another set is the same."""
    for earlier in range(number):
        if side["hand"][earlier] == side["hand"][number] and not bits >> earlier & 1:
            return True
    return False


@njit_borrowing
def place_of(side: np.void, card: int) -> int:
    """The first place in hand of a card; -1 where it is not held."""
    for place in range(side["n_hand"]):
        if side["hand"][place] == card:
            return place
    return -1


@njit_borrowing
def _has_twin(side: np.void, node: np.void, slot: int) -> bool:
    """Whether a minion to the left can do all that this one can."""
    if slot == node["last"]:
        return False
    minion = side["board"][slot]
    for other in range(slot):
        twin = side["board"][other]
        if (
            twin["attack"] == minion["attack"]
            and twin["health"] == minion["health"]
            and twin["keywords"] == minion["keywords"]
            and twin["attacks_left"] == minion["attacks_left"]
            and twin["arrived"] == minion["arrived"]
            and node["survival"][other] == node["survival"][slot]
            and other != node["last"]
        ):
            return True
    return False


@njit_borrowing
def _keep(place: int, n: int, pool: Pool) -> int:
    """Keep the node numbered `n`, unless one of the same position gains as much; the nodes then."""
    node = pool.nodes[n]
    node["key"] = _key_of(pool.states[n], node)
    slot = np.int64(node["key"] & np.uint64(SLOTS - 1))
    while pool.stamps[slot] == pool.clock[0]:
        known = pool.slots[slot]
        if pool.nodes[known]["key"] == node["key"]:
            if node["gain"] <= pool.nodes[known]["gain"] + 1e-12:
                return n
            if known > place:  # not gone on from yet: the better one takes its place
                pool.states[known] = pool.states[n]
                pool.nodes[known] = node
                return n
            break  # gone on from: the better one goes on again
        slot = (slot + 1) & (SLOTS - 1)
    pool.stamps[slot] = pool.clock[0]
    pool.slots[slot] = n
    return n + 1


@njit_borrowing
def _key_of(state: np.void, node: np.void) -> np.uint64:
    """A hash of the position and of which attacks may follow; the order of the own board does not matter."""
    own, enemy = state["sides"][state["active"]], state["sides"][1 - state["active"]]
    total = np.uint64(0)
    for slot in range(own["n_board"]):
        minion = own["board"][slot]
        word = append_field(np.uint64(OWN_MINION), minion["attacks_left"], _ATTACKS_BITS)
        word = append_field(word, 1 if slot == node["last"] else 0, 1)
        word = append_field(word, minion["arrived"], 1)
        word = append_field(word, node["survival"][slot], STAT_BITS)
        total += to_sum(append_minion(word, minion))
    for slot in range(enemy["n_board"]):
        word = append_field(np.uint64(ENEMY_MINION), 1 if slot >= node["from_place"] else 0, 1)
        total += to_sum(append_minion(word, enemy["board"][slot]))
    word = append_field(np.uint64(REST), node["played"], 10)
    word = append_field(word, own["mana"], PLACE_BITS)
    word = append_field(word, node["attacked"], 1)
    word = append_field(word, max(own["health"], 0), STAT_BITS)
    word = append_field(word, max(enemy["health"] + enemy["armour"], 0), STAT_BITS)
    return total + to_sum(word)


@njit_borrowing
def append_minion(word: np.uint64, minion: np.void) -> np.uint64:
    """A word with a minion's numbers, in 2 `STAT_BITS` + `KEYWORD_BITS` bits."""
    word = append_field(word, minion["attack"], STAT_BITS)
    word = append_field(word, minion["health"], STAT_BITS)
    return append_field(word, minion["keywords"], KEYWORD_BITS)
