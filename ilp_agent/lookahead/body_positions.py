"""Transposition graph of the positions within a turn without card effects; compiled.

Actions that do not interact with other attacks are left to the ends (`ilp_agent.lookahead.body_ends`): plays
without Charge or Rush, and attacks on the hero. Attacks of different minions on different enemies commute,
within the enemies with Taunt and within the others, so targets are attacked in board order, except by a
minion that attacks twice. Sequences that lead to the same position share a node with the larger gain.
"""

from typing import NamedTuple

import numpy as np

from engine.bitfields import KEYWORD_BITS, PLACE_BITS, STAT_BITS, additive_hash, append_field
from engine.codes import BOARD_SIZE, COIN, HAND_SIZE, HERO, MAX_MANA, ActionKind, Death, Keyword
from engine.jit import njit, njit_no_alloc
from engine.rules import apply, decode, encode
from engine.state import EVENTS, STATE, guards, is_guarded, may_attack_hero
from ilp_agent.features import minion_end_value
from ilp_agent.lookahead import MAX_BUDGET
from ilp_agent.search.objective import hero_health
from ilp_agent.weights import Term

MAX_NODES = 4_096
"""Largest number of positions within a turn."""

MAX_ENDS = MAX_BUDGET
"""Largest number of ends."""

SLOTS = 1 << 14
"""Size of the transposition table; a power of two, well above `MAX_NODES`."""

MAX_TURN_ACTIONS = 64
"""Capacity for actions of a turn; more than any turn has."""

NODE = np.dtype(
    [
        ("key", "u8"),  # hash of the position and of the attacks that the board order still allows
        ("gain", "f8"),  # gain of the objective so far
        ("parent", "i4"),  # -1 at the start of the turn
        ("action", "i4"),  # from `parent` to this node (`engine.rules.encode`)
        ("coin", "i2"),  # 1: The Coin was played before that action
        ("from_place", "i2"),  # first enemy that may be attacked next
        ("last", "i2"),  # position of the minion that attacked last and can attack again; else -1
        ("attacked", "i2"),  # 1 after the first attack
        ("played", "i2"),  # minions played so far, bits of their initial hand positions
        (
            "survival",
            "i2",
            (BOARD_SIZE,),
        ),  # health that counts for each own minion's survival, by board position
    ]
)
"""A position within the turn."""

END = np.dtype(
    [
        ("key", "u8"),  # hash of the position at the end of the turn
        ("value", "f8"),  # objective of the best path to it
        ("node", "i4"),  # last node before the final plays and attacks
        ("plays", "i2"),  # final plays: bits of initial hand positions
        ("hits", "i4"),  # final attacks on the hero: bits of `EndPool.hits`
        ("lethal", "i2"),  # 1: the enemy hero is dead
    ]
)
"""A candidate end of a turn."""

PLAYS = np.dtype(
    [
        ("bits", "i2"),  # initial hand positions
        ("cost", "i2"),  # mana
        ("size", "i2"),  # number of minions
        ("copies", "i2"),  # 1: omits an earlier copy of a card, which may have been played to attack
        ("gain", "f8"),  # gain of the objective
    ]
)
"""A set of minions that the mana at the start of the turn can pay for."""

MAX_HITS_ON_HERO = 2 * BOARD_SIZE


class EndPool(NamedTuple):
    """Working memory for the positions and ends of a turn, for one thread. Modified in place."""

    states: np.ndarray  # of nodes, dtype STATE
    nodes: np.ndarray  # dtype NODE
    slots: np.ndarray  # node by key; open addressing
    stamps: np.ndarray  # turn that last used each place of `slots`
    clock: np.ndarray  # number of the turn, shape (1,)
    ends: np.ndarray  # dtype END: the best ends
    end_states: np.ndarray  # their positions, dtype STATE
    plays: np.ndarray  # dtype PLAYS, by decreasing gain
    n_plays: np.ndarray  # number of `plays`, shape (1,)
    hits: np.ndarray  # attacks on the hero after a node: board positions of the attackers
    least: np.ndarray  # value of the worst end, shape (1,)
    events: np.ndarray  # dtype EVENTS, shape (1,): events of actions
    trial: np.ndarray  # dtype STATE, shape (1,): the current end
    actions: np.ndarray  # actions that lead to it
    n_nodes: np.ndarray  # number of nodes, shape (1,)
    unproven: np.ndarray  # 1: the limit of nodes was met, shape (1,)


@njit
def new_end_pool() -> EndPool:
    """Allocate working memory: about five megabytes."""
    return EndPool(
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
        np.zeros(MAX_TURN_ACTIONS, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
    )


OWN_MINION, ENEMY_MINION, REST, HELD = range(4)
"""Tags of hashed words."""

_ABOUT_BITS = 2
_ATTACKS_BITS = 2
_MINION_BITS = 2 * STAT_BITS + KEYWORD_BITS
assert _ABOUT_BITS + _ATTACKS_BITS + 2 + STAT_BITS + _MINION_BITS <= 64
assert _ABOUT_BITS + 2 * STAT_BITS + PLACE_BITS + 1 + 10 <= 64


@njit_no_alloc
def init_root(state: np.void, weights: np.ndarray, pool: EndPool) -> None:
    """Initialise the root node with the start of a turn. `pool` is modified in place."""
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


@njit_no_alloc
def expand(place: int, n: int, cards: np.ndarray, weights: np.ndarray, pool: EndPool, limit: int) -> int:
    """Add all children of a node; returns the number of nodes, negative if the limit was met."""
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
                # First of two attacks on the hero; the minion may die in its second attack.
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


@njit_no_alloc
def _attack(place: int, n: int, action: int, cards: np.ndarray, weights: np.ndarray, pool: EndPool) -> None:
    """Add an attack after a node, as node `n`. `pool` is modified in place."""
    before, node = pool.states[place], pool.nodes[place]
    pool.states[n] = before
    after, child = pool.states[n], pool.nodes[n]
    pool.nodes[n] = node
    child["parent"], child["action"], child["coin"], child["attacked"] = place, action, 0, 1
    _, slot, target = decode(action)
    seat = before["active"]
    attacker = before["sides"][seat]["board"][slot]
    deaths = apply(after, cards, action, pool.events[0])
    own, enemy = after["sides"][seat], after["sides"][1 - seat]
    gain = weights[Term.HERO] * (own["health"] - before["sides"][seat]["health"])
    if target == HERO:
        gain += weights[Term.FACE] * attacker["attack"]
        lost = hero_health(before["sides"][1 - seat]) - hero_health(enemy)
        gain += weights[Term.ENEMY_HERO] * lost
    else:
        defender = before["sides"][1 - seat]["board"][target]
        gain += weights[Term.DAMAGE] * attacker["attack"] - weights[Term.TRADE] * defender["attack"]
        wound = weights[Term.WOUND] + weights[Term.ENEMY_HEALTH]
        if deaths & Death.DEFENDER:
            gain += weights[Term.THREAT] * defender["attack"] + wound * defender["health"]
        else:
            gain += wound * (defender["health"] - enemy["board"][target]["health"])
    gain -= minion_end_value(attacker["attack"], attacker["health"], attacker["keywords"], weights)
    if deaths & Death.ATTACKER:
        gain -= weights[Term.SURVIVE] * node["survival"][slot]
        gain -= weights[Term.BODY] * (attacker["attack"] + attacker["health"])
        for later in range(slot, BOARD_SIZE - 1):
            child["survival"][later] = child["survival"][later + 1]
    else:
        left = own["board"][slot]
        gain -= weights[Term.BODY] * (attacker["health"] - left["health"])
        gain += minion_end_value(left["attack"], left["health"], left["keywords"], weights)
    again = not deaths & Death.ATTACKER and own["board"][slot]["attacks_left"] > 0
    child["last"] = slot if again else -1
    child["gain"] = node["gain"] + gain


@njit_no_alloc
def _expand_plays(
    place: int, n: int, cards: np.ndarray, weights: np.ndarray, pool: EndPool, limit: int
) -> int:
    """Add plays of minions that can attack at once, The Coin first if needed; return the number of nodes."""
    seat = pool.states[place]["active"]
    own = pool.states[place]["sides"][seat]
    first_hand = pool.states[0]["sides"][seat]
    for number in range(first_hand["n_hand"]):
        card = first_hand["hand"][number]
        if card < 0 or pool.nodes[place]["played"] >> number & 1:
            continue
        if not can_attack_at_once(cards[card]):
            continue
        if omits_earlier_copy(first_hand, pool.nodes[place]["played"] | 1 << number, number):
            continue
        coin = 0
        if cards[card]["cost"] > own["mana"]:
            if (
                own["mana"] + 1 < cards[card]["cost"]
                or own["mana"] == MAX_MANA
                or hand_position(own, COIN) < 0
            ):
                continue
            coin = 1
        if n == limit:
            return -n
        pool.states[n] = pool.states[place]
        pool.nodes[n] = pool.nodes[place]
        child, side = pool.nodes[n], pool.states[n]["sides"][seat]
        if coin:
            apply(
                pool.states[n], cards, encode(ActionKind.PLAY, hand_position(side, COIN), 0), pool.events[0]
            )
        action = encode(ActionKind.PLAY, hand_position(side, card), 0)
        apply(pool.states[n], cards, action, pool.events[0])
        child["parent"], child["action"], child["coin"] = place, action, coin
        child["played"] |= 1 << number
        child["from_place"] = 0
        child["survival"][side["n_board"] - 1] = cards[card]["health"]
        child["gain"] += play_gain(cards[card], weights)
        n = _keep(place, n, pool)
    return n


@njit_no_alloc
def can_attack_at_once(card: np.void) -> bool:
    """Whether a minion can attack on the turn it is played."""
    return bool(card["attack"] > 0 and card["keywords"] & (Keyword.CHARGE | Keyword.RUSH))


@njit_no_alloc
def play_gain(card: np.void, weights: np.ndarray) -> float:
    """Gain of the objective by playing a minion that survives."""
    gain = weights[Term.PLAY] * card["value"] + weights[Term.SURVIVE] * card["health"]
    gain += minion_end_value(card["attack"], card["health"], card["keywords"], weights)
    return float(gain - weights[Term.HAND] - weights[Term.HAND_MANA] * card["cost"])


@njit_no_alloc
def omits_earlier_copy(side: np.void, bits: int, number: int) -> bool:
    """Whether the set `bits` omits an earlier copy of a card in hand, so that another set is equal."""
    for earlier in range(number):
        if side["hand"][earlier] == side["hand"][number] and not bits >> earlier & 1:
            return True
    return False


@njit_no_alloc
def hand_position(side: np.void, card: int) -> int:
    """Position in hand of the first copy of a card; -1 if it is not held."""
    for place in range(side["n_hand"]):
        if side["hand"][place] == card:
            return place
    return -1


@njit_no_alloc
def _has_twin(side: np.void, node: np.void, slot: int) -> bool:
    """Whether a minion further left is equivalent."""
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


@njit_no_alloc
def _keep(place: int, n: int, pool: EndPool) -> int:
    """Keep node `n`, unless an equal position gains as much; returns the number of nodes."""
    node = pool.nodes[n]
    node["key"] = _key_of(pool.states[n], node)
    slot = np.int64(node["key"] & np.uint64(SLOTS - 1))
    while pool.stamps[slot] == pool.clock[0]:
        known = pool.slots[slot]
        if pool.nodes[known]["key"] == node["key"]:
            if node["gain"] <= pool.nodes[known]["gain"] + 1e-12:
                return n
            if known > place:  # not expanded yet: the better node replaces it
                pool.states[known] = pool.states[n]
                pool.nodes[known] = node
                return n
            break  # already expanded: the better node is expanded again
        slot = (slot + 1) & (SLOTS - 1)
    pool.stamps[slot] = pool.clock[0]
    pool.slots[slot] = n
    return n + 1


@njit_no_alloc
def _key_of(state: np.void, node: np.void) -> np.uint64:
    """Hash of the position and of the attacks still allowed, independent of own board order."""
    own, enemy = state["sides"][state["active"]], state["sides"][1 - state["active"]]
    total = np.uint64(0)
    for slot in range(own["n_board"]):
        minion = own["board"][slot]
        word = append_field(np.uint64(OWN_MINION), minion["attacks_left"], _ATTACKS_BITS)
        word = append_field(word, 1 if slot == node["last"] else 0, 1)
        word = append_field(word, minion["arrived"], 1)
        word = append_field(word, node["survival"][slot], STAT_BITS)
        total += additive_hash(append_minion(word, minion))
    for slot in range(enemy["n_board"]):
        word = append_field(np.uint64(ENEMY_MINION), 1 if slot >= node["from_place"] else 0, 1)
        total += additive_hash(append_minion(word, enemy["board"][slot]))
    word = append_field(np.uint64(REST), node["played"], 10)
    word = append_field(word, own["mana"], PLACE_BITS)
    word = append_field(word, node["attacked"], 1)
    word = append_field(word, max(own["health"], 0), STAT_BITS)
    word = append_field(word, max(enemy["health"] + enemy["armour"], 0), STAT_BITS)
    return total + additive_hash(word)


@njit_no_alloc
def append_minion(word: np.uint64, minion: np.void) -> np.uint64:
    """Append a minion's stats to a word, in 2 `STAT_BITS` + `KEYWORD_BITS` bits."""
    word = append_field(word, minion["attack"], STAT_BITS)
    word = append_field(word, minion["health"], STAT_BITS)
    return append_field(word, minion["keywords"], KEYWORD_BITS)
