"""What ends a turn of HearthSim's search: the plays that come last, and the whole turn written as actions."""

import numpy as np

from engine.codes import BOARD_SIZE, COIN, HAND_SIZE, HERO, MAX_MANA, ActionKind, Keyword
from engine.combat import is_guarded
from engine.jit import njit
from engine.rules import encode
from ilp_agent.lookahead.features import ATTACK, ENEMY_HERO, HAND_MANA, HEALTH, SHIELD
from ilp_agent.lookahead.features import HERO as OWN_HERO
from rivals.hearthsim_node import Tree, attacks_on_hero
from rivals.hearthsim_score import tie_of


@njit
def read_hand(state: np.void, cards: np.ndarray, tree: Tree) -> None:
    """Note the hand, and what each set of its minions costs. `tree` is modified in place."""
    own = state["sides"][state["active"]]
    hand = tree.hand[0]
    hand["n"], hand["coin"], hand["mana"], hand["died"] = 0, -1, own["mana"], own["died"]
    hand["strikers"] = 0
    for place in range(own["n_hand"]):
        card = own["hand"][place]
        if card == COIN:
            hand["coin"] = place
        elif cards[card]["cost"] <= MAX_MANA:
            hand["place"][hand["n"]] = place
            if cards[card]["attack"] > 0 and cards[card]["keywords"] & (Keyword.CHARGE | Keyword.RUSH):
                hand["strikers"] |= 1 << hand["n"]
            hand["n"] += 1
    tree.costs[0] = 0
    for number in range(hand["n"]):
        bit = 1 << number
        cost = cards[own["hand"][hand["place"][number]]]["cost"]
        for chosen in range(bit):
            tree.costs[bit | chosen] = tree.costs[chosen] + cost


@njit
def plays_at_the_end(state: np.void, cards: np.ndarray, weights: np.ndarray, played: int, tree: Tree) -> int:
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
    tolerance = tie_of(weights)
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
            if size <= BOARD_SIZE and gain > gains[size] + tolerance:
                gains[size] = gain
                sets[size] = chosen
        chosen = (chosen - rest) & rest
    best = 0
    for size in range(BOARD_SIZE + 1):
        if gains[size] > gains[best] + tolerance:
            best = size
        tree.best_plays[played, size] = sets[best]
    return int(tree.best_plays[played, places])


@njit
def _play_gain(card: np.void, weights: np.ndarray) -> float:
    """What playing a minion adds to S."""
    gain: float = (
        weights[ATTACK] * card["attack"]
        + weights[HEALTH] * card["health"]
        - weights[HAND_MANA] * card["cost"]
    )
    if card["keywords"] & Keyword.DIVINE_SHIELD:
        gain += weights[SHIELD] * (card["attack"] + card["health"])
    return gain


@njit
def write_actions(winner: int, cards: np.ndarray, weights: np.ndarray, tree: Tree, found: np.void) -> None:
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
    if is_guarded(enemy):
        return
    health = enemy["health"] + enemy["armour"]
    wanted = weights[ENEMY_HERO] > 0.0 or found["score"] == np.inf
    for slot in range(own["n_board"]):
        minion = own["board"][slot]
        heals = weights[OWN_HERO] > 0.0 and minion["keywords"] & Keyword.LIFESTEAL
        for _ in range(attacks_on_hero(minion)):
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
    chosen = plays_at_the_end(state, cards, weights, node["played"], tree)
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
