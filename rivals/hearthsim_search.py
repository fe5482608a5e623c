"""HearthSim's search: the best end of a turn over all sequences of plays and attacks.

What changes nothing is not tried twice, so that the search stays exhaustive over ends of turns and small:

- Plays without Charge or Rush and attacks on the hero only add to what the attacks on minions came to, and
  harm nothing that comes after; so they come last, plays as the best set of cards that mana and places
  allow, hero attacks by all who still can. Only a minion that attacks twice may begin with the hero.
- Attacks of different minions on different enemies commute, within the enemies with Taunt and within the
  others: targets come in the order of the board, but for a minion that attacks twice, which may go back.
- Cards with Charge or Rush are played before the first attack, or once a death has freed a place.
- Sequences after which the same can follow are one node, the better one; among equals the first.

A node is such a point within the turn. Nodes are numbered as they are found, fewer actions first, and the
first best by more than rounding is played. The search ends at the first lethal turn, when nothing is left to
try, or with `BUDGET` nodes (the posts stop after 30 seconds): then the best of these nodes is played.
"""

from typing import NamedTuple

import numpy as np

from engine.codes import (
    BOARD_SIZE,
    COIN,
    HAND_SIZE,
    HERO,
    HERO_HEALTH,
    MAX_MANA,
    ActionKind,
    Keyword,
)
from engine.jit import njit
from engine.rules import apply, encode, guards, may_attack_hero
from engine.state import STATE
from rivals.hearthsim_score import (
    ATTACK,
    ENEMY_HERO,
    HAND,
    HEALTH,
    N_WEIGHTS,
    SHIELD,
    read_counts,
    weigh,
)
from rivals.hearthsim_score import (
    HERO as OWN_HERO,
)

BUDGET = 100_000
"""Nodes of a turn."""

SLOTS = 1 << 18
"""Places of the table that finds equal nodes."""

MAX_STEPS = 64
"""More actions than a turn can have."""

TIE = 1e-12
"""Scores nearer than this part of the sum of weights times `MAX_COUNT` are equal: they differ by rounding."""
MAX_COUNT = 100.0

NODE = np.dtype(
    [
        ("key", "u8"),  # hash of all that can matter from here on
        ("value", "f8"),  # S if the turn ended here
        ("parent", "i4"),  # node it comes from
        ("action", "i4"),  # by this action (`engine.rules.encode`)
        ("from_place", "i2"),  # first enemy that may be attacked next
        ("last", "i2"),  # place of the minion that attacked last and still can; else -1
        ("played", "i2"),  # bits of the cards played, by their place in hand at the start of the turn
        ("attacked", "i2"),  # 1 once there was an attack
    ]
)
"""A point within the turn."""

CARDS = np.dtype(
    [
        ("n", "i2"),  # minions in hand
        ("place", "i2", (HAND_SIZE,)),  # their places in hand
        ("coin", "i2"),  # place of The Coin; -1 without it
        ("mana", "i2"),
        ("died", "i2"),  # own minions that had died before this turn
    ]
)
"""The hand at the start of the turn."""

SEARCHED = np.dtype(
    [
        ("n", "i2"),  # actions
        (
            "actions",
            "i4",
            (MAX_STEPS,),
        ),  # as `engine.rules.encode` packs them; the end of the turn is left out
        ("score", "f8"),  # S at the end
        ("nodes", "i4"),  # nodes of the search
        ("exhausted", "i2"),  # 1 where the budget ran out
    ]
)
"""What a search came to."""

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_KEEP = np.uint64((1 << 58) - 1)
_A = np.uint64(0xD2511F53)
_B = np.uint64(0xCD9E8D57)
_C = np.uint64(0x9E3779B1)
_D = np.uint64(0x85EBCA77)


class Tree(NamedTuple):
    """Memory of searches, one for each thread. Modified in place."""

    states: np.ndarray
    nodes: np.ndarray
    slots: np.ndarray
    """Node by key; open addressing."""
    stamps: np.ndarray
    """Search a place of `slots` was last used in."""
    clock: np.ndarray
    """Number of the search, shape (1,)."""
    hand: np.ndarray
    best_plays: np.ndarray
    """Best set of more cards by cards played and free places, shape (2**10, 8); bits of `CARDS` minions."""
    best_stamps: np.ndarray
    costs: np.ndarray
    counts: np.ndarray
    best: np.ndarray
    """Counts of the best end so far."""


@njit
def new_tree() -> Tree:
    """Memory for searches; some tens of megabytes that are touched as searches need them."""
    return Tree(
        np.empty(BUDGET, STATE),
        np.empty(BUDGET, NODE),
        np.empty(SLOTS, np.int32),
        np.zeros(SLOTS, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1, CARDS),
        np.zeros((1 << HAND_SIZE, BOARD_SIZE + 1), np.int16),
        np.zeros(1 << HAND_SIZE, np.int64),
        np.zeros(1 << HAND_SIZE, np.int16),
        np.zeros(N_WEIGHTS, np.int64),
        np.zeros(N_WEIGHTS, np.int64),
    )


@njit
def search_turn(
    state: np.void, cards: np.ndarray, weights: np.ndarray, tree: Tree, found: np.void, budget: int
) -> None:
    """Find the best turn from a position in which nobody is dead.

    Args:
        state: dtype `STATE`; whoever is active plays.
        cards: the card table.
        weights: shape (8,), those of the heroes >= 0.
        tree: see `Tree`. Modified in place.
        found: dtype `SEARCHED`. Modified in place.
        budget: most nodes, 1 to `BUDGET`.
    """
    tree.clock[0] += 1
    tolerance = 0.0
    for weight in weights:
        tolerance += abs(weight) * MAX_COUNT * TIE
    _read_hand(state, cards, tree)
    tree.states[0] = state
    root = tree.nodes[0]
    root["parent"], root["action"] = -1, 0
    root["from_place"], root["last"], root["played"], root["attacked"] = 0, -1, 0, 0
    n, place, winner = 1, 0, 0
    found["score"], found["exhausted"] = -np.inf, 0
    while place < n:
        node = tree.nodes[place]
        score = _end_score(tree.states[place], cards, weights, node, tree)
        if place == 0 or score > found["score"] + tolerance:
            found["score"] = score
            winner = place
            if score == np.inf:
                break
        before = n
        n = _expand(place, n, cards, weights, tree, tolerance, budget)
        if n < 0:
            found["exhausted"] = 1
            n = max(before, min(-n, budget))
        place += 1
    found["nodes"] = n
    _write_actions(winner, cards, weights, tree, found)


@njit
def _read_hand(state: np.void, cards: np.ndarray, tree: Tree) -> None:
    """Note the hand, and what each set of its minions costs. `tree` is modified in place."""
    own = state["sides"][state["active"]]
    hand = tree.hand[0]
    hand["n"], hand["coin"], hand["mana"], hand["died"] = 0, -1, own["mana"], own["died"]
    for place in range(own["n_hand"]):
        card = own["hand"][place]
        if card == COIN:
            hand["coin"] = place
        elif cards[card]["cost"] <= MAX_MANA:
            hand["place"][hand["n"]] = place
            hand["n"] += 1
    tree.costs[0] = 0
    for number in range(hand["n"]):
        bit = 1 << number
        cost = cards[own["hand"][hand["place"][number]]]["cost"]
        for chosen in range(bit):
            tree.costs[bit | chosen] = tree.costs[chosen] + cost


@njit
def _plays_at_the_end(state: np.void, cards: np.ndarray, weights: np.ndarray, played: int, tree: Tree) -> int:
    """The best set of minions to play with nothing after them, as bits of the hand's minions.

    Among equals the smaller set, then the first by its bits.
    """
    places = BOARD_SIZE - state["sides"][state["active"]]["n_board"]
    if tree.best_stamps[played] == tree.clock[0]:
        return int(tree.best_plays[played, places])
    tree.best_stamps[played] = tree.clock[0]
    hand = tree.hand[0]
    budget = hand["mana"] + (1 if hand["coin"] >= 0 else 0)
    root_hand = tree.states[0]["sides"][state["active"]]["hand"]
    gains = np.full(BOARD_SIZE + 1, -np.inf)
    sets = np.zeros(BOARD_SIZE + 1, np.int16)
    gains[0] = 0.0
    rest = ((1 << hand["n"]) - 1) & ~played
    chosen = (0 - rest) & rest
    while chosen != 0:
        if tree.costs[played | chosen] <= budget:
            gain, size = 0.0, 0
            for number in range(hand["n"]):
                if chosen & (1 << number):
                    card = cards[root_hand[hand["place"][number]]]
                    gain += _play_gain(card, weights)
                    size += 1
            if size <= BOARD_SIZE and gain > gains[size]:
                gains[size] = gain
                sets[size] = chosen
        chosen = (chosen - rest) & rest
    best = 0
    for size in range(BOARD_SIZE + 1):
        if gains[size] > gains[best]:
            best = size
        tree.best_plays[played, size] = sets[best]
    return int(tree.best_plays[played, places])


@njit
def _play_gain(card: np.void, weights: np.ndarray) -> float:
    """What playing a minion adds to S."""
    gain: float = (
        weights[ATTACK] * card["attack"] + weights[HEALTH] * card["health"] - weights[HAND] * card["cost"]
    )
    if card["keywords"] & Keyword.DIVINE_SHIELD:
        gain += weights[SHIELD] * (card["attack"] + card["health"])
    return gain


@njit
def _is_guarded(side: np.void) -> bool:
    """Whether a minion with Taunt stands in the way."""
    found = False
    for slot in range(side["n_board"]):
        found = found or guards(side["board"][slot])
    return found


@njit
def _hits_hero(minion: np.void) -> int:
    """Attacks a minion may still make on a hero nobody guards."""
    return int(minion["attacks_left"]) if minion["attack"] > 0 and may_attack_hero(minion) else 0


@njit
def _end_score(state: np.void, cards: np.ndarray, weights: np.ndarray, node: np.void, tree: Tree) -> float:
    """S at the end of the turn after the best plays and attacks on the hero; infinite where it dies."""
    seat = state["active"]
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    counts = tree.counts
    read_counts(state, cards, seat, counts)
    if not _is_guarded(enemy):
        health, dealt = own["health"], 0
        for slot in range(own["n_board"]):
            minion = own["board"][slot]
            for _ in range(_hits_hero(minion)):
                dealt += minion["attack"]
                if minion["keywords"] & Keyword.LIFESTEAL:
                    health = max(health, min(health + minion["attack"], HERO_HEALTH))
        if dealt >= counts[ENEMY_HERO]:
            return np.inf
        counts[ENEMY_HERO] -= dealt
        counts[OWN_HERO] += health - own["health"]
    hand = tree.hand[0]
    chosen = _plays_at_the_end(state, cards, weights, node["played"], tree)
    root_hand = tree.states[0]["sides"][seat]["hand"]
    for number in range(hand["n"]):
        if chosen & (1 << number):
            card = cards[root_hand[hand["place"][number]]]
            counts[ATTACK] += card["attack"]
            counts[HEALTH] += card["health"]
            counts[HAND] -= card["cost"]
            if card["keywords"] & Keyword.DIVINE_SHIELD:
                counts[SHIELD] += card["attack"] + card["health"]
    return weigh(counts, weights)


@njit
def _expand(
    place: int, n: int, cards: np.ndarray, weights: np.ndarray, tree: Tree, tolerance: float, budget: int
) -> int:
    """Add all that can follow a node; the number of nodes then, negative where the budget ran out."""
    state = tree.states[place]
    node = tree.nodes[place]
    own, enemy = state["sides"][state["active"]], state["sides"][1 - state["active"]]
    hand = tree.hand[0]
    exhausted = False
    if own["n_board"] < BOARD_SIZE and (not node["attacked"] or own["died"] > hand["died"]):
        n, exhausted = _expand_plays(place, n, cards, weights, tree, tolerance, budget)
    guarded = _is_guarded(enemy)
    for slot in range(own["n_board"]):
        minion = own["board"][slot]
        if minion["attacks_left"] == 0 or minion["attack"] == 0 or _has_twin(own, slot, node["last"]):
            continue
        first = 0 if slot == node["last"] else node["from_place"]
        for target in range(first, enemy["n_board"] + 1):
            if target == enemy["n_board"]:
                # A first attack on the hero, by a minion that may die of its second.
                if guarded or minion["attacks_left"] < 2 or not may_attack_hero(minion):
                    continue
                action = encode(ActionKind.ATTACK, slot, HERO)
            else:
                other = enemy["board"][target]
                if other["keywords"] & Keyword.STEALTH or (guarded and not guards(other)):
                    continue
                action = encode(ActionKind.ATTACK, slot, target)
            if n == budget:
                return -n
            tree.states[n] = state
            apply(tree.states[n], cards, action)
            then = tree.nodes[n]
            then["parent"], then["action"] = place, action
            then["played"], then["attacked"] = node["played"], 1
            child = tree.states[n]
            own_then = child["sides"][child["active"]]
            lives = own_then["n_board"] == own["n_board"]
            then["last"] = slot if lives and own_then["board"][slot]["attacks_left"] > 0 else -1
            passed = guarded and not _is_guarded(child["sides"][1 - child["active"]])
            then["from_place"] = 0 if passed else target
            n = _keep(place, n, cards, weights, tree, tolerance)
    return -n if exhausted else n


@njit
def _expand_plays(
    place: int, n: int, cards: np.ndarray, weights: np.ndarray, tree: Tree, tolerance: float, budget: int
) -> tuple[int, bool]:
    """Add plays of cards with Charge or Rush, and of The Coin where it may pay for one."""
    state = tree.states[place]
    node = tree.nodes[place]
    own = state["sides"][state["active"]]
    hand = tree.hand[0]
    root_hand = tree.states[0]["sides"][state["active"]]["hand"]
    paid = False  # whether a card wants the mana of The Coin
    for number in range(hand["n"] + 1):
        coin = number == hand["n"]
        if coin:
            held = own["n_hand"] > 0 and hand["coin"] >= 0 and _holds_coin(own)
            if not (paid and held and own["mana"] < MAX_MANA):
                continue
            action = encode(ActionKind.PLAY, _coin_place(own), 0)
        else:
            card = root_hand[hand["place"][number]]
            if node["played"] & (1 << number) or not _strikes_at_once(cards[card]):
                continue
            if cards[card]["cost"] > own["mana"]:
                paid = paid or cards[card]["cost"] == own["mana"] + 1
                continue
            paid = True  # with The Coin there may be mana for one more
            action = encode(ActionKind.PLAY, _place_of(own, card), 0)
        if n == budget:
            return n, True
        tree.states[n] = state
        apply(tree.states[n], cards, action)
        then = tree.nodes[n]
        then["parent"], then["action"] = place, action
        then["played"] = node["played"] if coin else node["played"] | (1 << number)
        then["attacked"], then["last"], then["from_place"] = node["attacked"], node["last"], 0
        n = _keep(place, n, cards, weights, tree, tolerance)
    return n, False


@njit
def _strikes_at_once(card: np.void) -> bool:
    """Whether a card can attack on the turn it is played."""
    return bool(card["attack"] > 0 and (card["keywords"] & (Keyword.CHARGE | Keyword.RUSH)) != 0)


@njit
def _holds_coin(side: np.void) -> bool:
    return _coin_place(side) >= 0


@njit
def _coin_place(side: np.void) -> int:
    """Where The Coin is in hand; -1 without it."""
    for place in range(side["n_hand"]):
        if side["hand"][place] == COIN:
            return place
    return -1


@njit
def _place_of(side: np.void, card: int) -> int:
    """The first place in hand of a card; like cards are alike."""
    place = 0
    while side["hand"][place] != card:
        place += 1
    return place


@njit
def _has_twin(side: np.void, slot: int, last: int) -> bool:
    """Whether a minion to the left can do all that this one can."""
    if slot == last:
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
        ):
            return True
    return False


@njit
def _keep(place: int, n: int, cards: np.ndarray, weights: np.ndarray, tree: Tree, tolerance: float) -> int:
    """Keep the node numbered `n`, unless one after which the same can follow is as good; the nodes then."""
    state, node = tree.states[n], tree.nodes[n]
    read_counts(state, cards, state["active"], tree.counts)
    node["value"] = weigh(tree.counts, weights)
    node["key"] = _key(state, node)
    slot = np.int64(node["key"] & np.uint64(SLOTS - 1))
    while tree.stamps[slot] == tree.clock[0]:
        known = tree.slots[slot]
        if tree.nodes[known]["key"] == node["key"]:
            if node["value"] <= tree.nodes[known]["value"] + tolerance:
                return n
            if known > place:  # not gone on from yet: the better one takes its place
                tree.states[known] = state
                tree.nodes[known] = node
                return n
            break  # gone on from, by fewer actions: the better one goes on again
        slot = (slot + 1) & (SLOTS - 1)
    tree.stamps[slot] = tree.clock[0]
    tree.slots[slot] = n
    return n + 1


@njit
def _key(state: np.void, node: np.void) -> np.uint64:
    """A hash of all that what follows can depend on, the same for boards in another order."""
    own, enemy = state["sides"][state["active"]], state["sides"][1 - state["active"]]
    again = node["last"] >= 0
    total = np.uint64(0)
    for slot in range(own["n_board"]):
        minion = own["board"][slot]
        if minion["attacks_left"] == 0 or minion["attack"] == 0:
            continue
        again = again or minion["attacks_left"] > 1
        packed = _pack(minion) | (np.uint64(minion["attacks_left"]) << np.uint64(40))
        packed |= np.uint64(1 if slot == node["last"] else 0) << np.uint64(44)
        total += _mix(packed)
    first = node["from_place"]
    guarded = _is_guarded(enemy)
    barred = False
    if guarded and not again:
        for slot in range(first):
            barred = barred or guards(enemy["board"][slot])
        first = first if barred else 0
    for slot in range(enemy["n_board"]):
        minion = enemy["board"][slot]
        if (slot >= first or again) and (not barred or guards(minion)):
            ahead = np.uint64(1 if slot >= first else 0)
            total += _mix(_pack(minion) | (ahead << np.uint64(45)) | (np.uint64(1) << np.uint64(46)))
    packed = np.uint64(own["n_board"]) | (np.uint64(own["mana"]) << np.uint64(4))
    packed |= (np.uint64(node["played"]) << np.uint64(8)) | (np.uint64(barred) << np.uint64(19))
    packed |= (np.uint64(own["n_hand"]) << np.uint64(20)) | (np.uint64(node["attacked"]) << np.uint64(24))
    packed |= (np.uint64(max(own["health"], 0)) << np.uint64(25)) | (
        np.uint64(max(enemy["health"], 0)) << np.uint64(35)
    )
    return total + _mix(packed | (np.uint64(1) << np.uint64(47)))


@njit
def _pack(minion: np.void) -> np.uint64:
    """A minion's numbers in one word of 40 bits."""
    packed = np.uint64(minion["attack"]) | (np.uint64(minion["health"]) << np.uint64(10))
    packed |= np.uint64(minion["keywords"]) << np.uint64(20)
    return packed | (np.uint64(minion["arrived"]) << np.uint64(30))


@njit
def _mix(word: np.uint64) -> np.uint64:
    """A hash of a word, below 2**58, so that thirty of them add up without wrapping around."""
    for _ in range(3):
        low, high = word & _LOW, word >> _HALF
        one, two = low * _A + _C, high * _B + _D
        word = ((one ^ (two >> _HALF)) & _LOW) << _HALF | ((two ^ (one >> _HALF)) & _LOW)
    return word & _KEEP


@njit
def _write_actions(winner: int, cards: np.ndarray, weights: np.ndarray, tree: Tree, found: np.void) -> None:
    """The actions of the best turn: those to its node, then plays, then attacks on the hero."""
    found["n"] = 0
    place = winner
    while place > 0:
        found["n"] += 1
        place = tree.nodes[place]["parent"]
    place = winner
    for step in range(found["n"] - 1, -1, -1):
        found["actions"][step] = tree.nodes[place]["action"]
        place = tree.nodes[place]["parent"]
    state, node = tree.states[winner], tree.nodes[winner]
    own, enemy = state["sides"][state["active"]], state["sides"][1 - state["active"]]
    if found["score"] < np.inf:
        _write_plays(state, cards, weights, node, tree, found)
    if _is_guarded(enemy):
        return
    health = enemy["health"] + enemy["armour"]
    wanted = weights[ENEMY_HERO] > 0.0 or found["score"] == np.inf
    for slot in range(own["n_board"]):
        minion = own["board"][slot]
        heals = weights[OWN_HERO] > 0.0 and minion["keywords"] & Keyword.LIFESTEAL
        for _ in range(_hits_hero(minion)):
            if health > 0 and (wanted or heals):
                health -= minion["attack"]
                _write(found, encode(ActionKind.ATTACK, slot, HERO))


@njit
def _write_plays(
    state: np.void, cards: np.ndarray, weights: np.ndarray, node: np.void, tree: Tree, found: np.void
) -> None:
    """The plays at the end, The Coin before the first card that needs it."""
    own = state["sides"][state["active"]]
    hand = tree.hand[0]
    root_hand = tree.states[0]["sides"][state["active"]]["hand"]
    chosen = _plays_at_the_end(state, cards, weights, node["played"], tree)
    rest = np.empty(HAND_SIZE, np.int64)
    n = own["n_hand"]
    for place in range(n):
        rest[place] = own["hand"][place]
    mana = own["mana"]
    for number in range(hand["n"]):
        if not chosen & (1 << number):
            continue
        card = root_hand[hand["place"][number]]
        if cards[card]["cost"] > mana:
            n = _take(rest, n, COIN, found)
            mana += 1
        mana -= cards[card]["cost"]
        n = _take(rest, n, card, found)


@njit
def _take(hand: np.ndarray, n: int, card: int, found: np.void) -> int:
    """Play the first such card of a hand of `n`; how many are left. Both are modified in place."""
    place = 0
    while hand[place] != card:
        place += 1
    _write(found, encode(ActionKind.PLAY, place, 0))
    for later in range(place, n - 1):
        hand[later] = hand[later + 1]
    return n - 1


@njit
def _write(found: np.void, action: int) -> None:
    found["actions"][found["n"]] = action
    found["n"] += 1
