"""The minimax turn search: action chains, judged by features after the opponent's reply; compiled.

Source: Dash, Handali and Jia, "Do Androids Dream Of Explosive Sheep?", section 4.1.1. The paper says what
the features are about, in this order, and that there are 16, with the bias. This is the reading that gives
16: health and armour are two features, all that is counted "for the opponent" too is counted for both, and
"how much more of our mana we used" compares the turns that the players had last. The paper gives no units;
these are points, cards and minions as they are counted.

A position is judged where a player's turn is over but for its end: mana is then what the player left
unused.

A chain is a sequence of actions up to the end of the turn, without it. Positions are gone on from in the
order of their value for who plays, the best first, so that a turn with more positions than memory has still
been followed where it promises most. Two sequences to the same position are one chain, the first that was
found.

With real cards, what chance decides ends a chain: its value is the mean over what can fall out. So does a
card that offers cards. After either, or where a card was drawn or a Secret may be revealed, the player
chooses anew.

Source: Dash, Handali and Jia, "Do Androids Dream Of Explosive Sheep?", section 4.3. An action of its
minimax is a whole chain, up to the end of the turn, and "we decided to prune and only explore the 3
best/worst action chains respectively": the player follows the best by the value at their end, the opponent
those that are worst for the player. Depth counts the turns, with the own one; at 2, where the answer is
judged at once, the worst of the opponent's three worst is the worst of all. (Read to the letter its
recurrence has four turns at depth 2.)

What the opponent holds is hidden: it answers with its board, its weapon and its hero power, and with a hand
that is drawn for the turn where something is said of it (`ilp_agent.lookahead.determinization`). Of the end
of the own turn what chance decides falls out in one way, which is imagined (`engine.effects.chance.imagine`).
"""

from typing import NamedTuple

import numpy as np

from engine.batches import game_loop
from engine.codes import MAX_ACTIONS, ActionKind, Outcome
from engine.effects.chance import imaginable, imagine, think
from engine.effects.transposition import card_key, choices_key, minion_key, side_key
from engine.jit import njit, njit_borrowing
from engine.rules import apply, decode, encode, legal_actions, outcome
from engine.state import EVENTS, STATE
from engine.streams import derive
from engine.view import hide
from ilp_agent.lookahead.deck_prediction import Library
from ilp_agent.lookahead.determinization import Hands, foresee, hold_hand, look_at, new_hands, stream_of
from ilp_agent.search.transposition import twin_before

MEANINGS = {
    "health": "health of the own hero",
    "armour": "armour of the own hero",
    "mana": "mana the player has left",
    "attack": "attack of own minions",
    "minions": "own minions",
    "enemy_health": "health of the enemy hero",
    "enemy_armour": "armour of the enemy hero",
    "enemy_mana": "mana the opponent has left",
    "enemy_attack": "attack of enemy minions",
    "enemy_minions": "enemy minions",
    "mana_lead": "mana the player used in its last turn, less what the opponent used in its last",
    "attack_lead": "attack of own minions, less that of enemy minions",
    "minions_lead": "own minions, less enemy minions",
    "hand_lead": "cards in the own hand, less cards in the enemy hand",
    "health_lead": "health of the own hero, less that of the enemy hero",
    "bias": "always 1",
}
"""What each feature is, by its name, in the order of arrays."""

FEATURES = tuple(MEANINGS)
N_FEATURES = len(FEATURES)
N_OF_SIDE = 5
"""Features that are counted for each side by itself: the player's first, then the opponent's."""
MANA_LEAD, ATTACK_LEAD, MINIONS_LEAD, HAND_LEAD, HEALTH_LEAD, BIAS = range(2 * N_OF_SIDE, N_FEATURES)
HEALTH, ARMOUR, MANA, ATTACK, MINIONS = range(N_OF_SIDE)

WON, LOST, DRAWN = 1e9, -1e9, 0.0
"""What a position is worth in which the game is over. The paper has its rewards of 100 and -100 here; weights
may make a position worth more than that, and a player that knows its win should take it."""


@njit_borrowing
def read_features(state: np.void, seat: int, features: np.ndarray) -> None:
    """Count every feature from the view of the player at `seat`.

    Args:
        state: dtype `engine.state.STATE`.
        seat: 0 or 1.
        features: float64, shape (`N_FEATURES`,). Modified in place.
    """
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    _read_side(own, 0, features)
    _read_side(enemy, N_OF_SIDE, features)
    features[MANA_LEAD] = _used(own) - _used(enemy)
    features[ATTACK_LEAD] = features[ATTACK] - features[N_OF_SIDE + ATTACK]
    features[MINIONS_LEAD] = features[MINIONS] - features[N_OF_SIDE + MINIONS]
    features[HAND_LEAD] = own["n_hand"] - enemy["n_hand"]
    features[HEALTH_LEAD] = features[HEALTH] - features[N_OF_SIDE + HEALTH]
    features[BIAS] = 1.0


@njit_borrowing
def _read_side(side: np.void, first: int, features: np.ndarray) -> None:
    """Count what is counted for each side by itself, from the place `first` on. Modified in place."""
    attack = 0
    for place in range(side["n_board"]):
        attack += side["board"][place]["attack"]
    features[first + HEALTH], features[first + ARMOUR] = side["health"], side["armour"]
    features[first + MANA], features[first + ATTACK] = side["mana"], attack
    features[first + MINIONS] = side["n_board"]


@njit_borrowing
def _used(side: np.void) -> int:
    """Mana that a player used in its last turn; The Coin's does not count."""
    return max(0, int(side["crystals"] - side["locked"] - side["mana"]))


@njit_borrowing
def value_of(state: np.void, seat: int, weights: np.ndarray, features: np.ndarray) -> float:
    """What a position is worth to the player at `seat`: `WON`, `LOST`, `DRAWN`, or weights times features.

    Args:
        state: dtype `STATE`.
        seat: 0 or 1.
        weights: shape (at least `N_FEATURES`,).
        features: float64, shape (`N_FEATURES`,). Modified in place.
    """
    result = outcome(state)
    if result == Outcome.DRAW:
        return DRAWN
    if result != Outcome.ONGOING:
        return WON if (result == Outcome.FIRST_WINS) == (seat == 0) else LOST
    read_features(state, seat, features)
    total = 0.0
    for number in range(N_FEATURES):
        total += weights[number] * features[number]
    return total


MOST_POSITIONS = 2_000
"""Positions of one turn at most."""

SLOTS = 1 << 13
"""Places of the table that finds equal positions; a power of two, well above `MOST_POSITIONS`."""

MOST_STEPS = 64
"""Actions of a chain at most."""

GOES_ON, BY_CHANCE, BY_CHOICE = range(3)
"""Why no action follows in a chain: one may, chance decides the last, or cards are offered."""

NODE = np.dtype(
    [
        ("key", "u8"),  # hash of the position
        ("value", "f8"),  # for the player whose weights they are, if the turn ended here
        ("parent", "i4"),  # node it comes from; -1 at the start of the turn
        ("action", "i4"),  # by this action (`engine.rules.encode`)
        ("steps", "i2"),  # actions so far
        ("open", "i2"),  # 1: what follows cannot be known before its action is played
        ("ends", "i2"),  # GOES_ON, BY_CHANCE or BY_CHOICE
        ("picked", "i2"),  # 1: among the best that `pick_best` has found
    ]
)
"""A position within the turn."""


class Chains(NamedTuple):
    """Memory of one turn's chains. Modified in place."""

    states: np.ndarray
    """Positions of the nodes, dtype `STATE`; after chance they are none."""
    nodes: np.ndarray
    slots: np.ndarray
    """Node by key; open addressing."""
    stamps: np.ndarray
    """Turn a place of `slots` was last used in."""
    clock: np.ndarray
    """Number of the turn, shape (1,)."""
    heap: np.ndarray
    """Nodes to go on from, the best first."""
    n_heap: np.ndarray
    """How many, shape (1,)."""
    n_nodes: np.ndarray
    """How many nodes there are, shape (1,)."""
    unproven: np.ndarray
    """1: there were more positions than memory, shape (1,)."""
    actions: np.ndarray
    outcomes: np.ndarray
    """What can fall out, dtype `STATE`, shape (1,)."""
    thought: np.ndarray
    features: np.ndarray


@njit
def new_chains() -> Chains:
    """Memory for one turn: some two megabytes."""
    return Chains(
        np.zeros(MOST_POSITIONS, STATE),
        np.zeros(MOST_POSITIONS, NODE),
        np.empty(SLOTS, np.int32),
        np.zeros(SLOTS, np.int64),
        np.zeros(1, np.int64),
        np.empty(MOST_POSITIONS + 1, np.int32),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        np.empty(MAX_ACTIONS, np.int64),
        np.zeros(1, STATE),
        np.zeros(1, EVENTS),
        np.zeros(N_FEATURES, np.float64),
    )


@njit_borrowing
def find_chains(state: np.void, cards: np.ndarray, weights: np.ndarray, seat: int, chains: Chains) -> None:
    """Find the positions in which the active player can end its turn. `chains` is modified in place.

    Args:
        state: dtype `STATE`, not over; cards that are hidden in it are not played.
        cards: the card table.
        weights: shape (at least `N_FEATURES`,).
        seat: of the player whose weights they are: the opponent's best is worst for this one.
        chains: memory; node 0 is the start of the turn.
    """
    sign = 1.0 if state["active"] == seat else -1.0
    chains.clock[0] += 1
    chains.n_nodes[0], chains.n_heap[0], chains.unproven[0] = 1, 0, 0
    chains.states[0] = state
    root = chains.nodes[0]
    root["parent"], root["action"], root["steps"], root["open"], root["picked"] = -1, 0, 0, 0, 0
    root["ends"] = BY_CHOICE if state["n_options"] > 0 else GOES_ON
    root["value"] = value_of(state, seat, weights, chains.features)
    root["key"] = key_of(state)
    _is_new(0, chains)
    _push(0, sign, chains)
    while chains.n_heap[0] > 0:
        place = _pop(sign, chains)
        if sign * chains.nodes[place]["value"] == WON:
            return
        if not _expand(place, cards, weights, seat, sign, chains):
            chains.unproven[0] = 1
            return


@njit_borrowing
def _expand(
    place: int, cards: np.ndarray, weights: np.ndarray, seat: int, sign: float, chains: Chains
) -> bool:
    """Add all that can follow a node; whether there was room. `chains` is modified in place."""
    state, parent, thought = chains.states[place], chains.nodes[place], chains.thought[0]
    mover = state["active"]
    if outcome(state) != Outcome.ONGOING or parent["steps"] == MOST_STEPS:
        return True
    for number in range(legal_actions(state, cards, chains.actions)):
        action = chains.actions[number]
        kind, source, _ = decode(action)
        if kind == ActionKind.END_TURN:
            continue
        if kind == ActionKind.PLAY and twin_before(state["sides"][mover], source):
            continue
        n = int(chains.n_nodes[0])
        if n == MOST_POSITIONS:
            return False
        child, node = chains.states[n], chains.nodes[n]
        think(thought)
        chains.states[n] = state
        apply(child, cards, action, thought)
        node["parent"], node["action"], node["steps"] = place, action, parent["steps"] + 1
        node["open"], node["ends"], node["picked"] = 0, GOES_ON, 0
        if thought["waiting"]:
            node["open"], node["ends"] = 1, BY_CHANCE
            node["value"] = _mean_value(state, cards, action, weights, seat, chains)
            chains.n_nodes[0] = n + 1
            continue
        node["open"] = 1 if _is_unsure(state, child, thought) else 0
        node["ends"] = BY_CHOICE if child["n_options"] > 0 else GOES_ON
        node["value"] = value_of(child, seat, weights, chains.features)
        node["key"] = key_of(child)
        if _is_new(n, chains):
            chains.n_nodes[0] = n + 1
            if node["ends"] == GOES_ON:
                _push(n, sign, chains)
    return True


@njit_borrowing
def _is_unsure(before: np.void, after: np.void, thought: np.void) -> bool:
    """Whether more can be known once an action is played: a card was drawn, a Secret may be revealed."""
    if after["n_options"] > 0 or thought["unsure"]:
        return True
    if before["sides"][1 - before["active"]]["n_secrets"] > 0:
        return True
    drawn = before["sides"][0]["n_deck"] != after["sides"][0]["n_deck"]
    return bool(drawn or before["sides"][1]["n_deck"] != after["sides"][1]["n_deck"])


@njit_borrowing
def _mean_value(
    state: np.void, cards: np.ndarray, action: int, weights: np.ndarray, seat: int, chains: Chains
) -> float:
    """The mean value over what can fall out of an action at which `thought` stopped."""
    thought = chains.thought[0]
    first, n = thought["waiting"], imaginable(thought)
    total = 0.0
    for number in range(n):
        imagine(thought, state, number, first)
        chains.outcomes[0] = state
        apply(chains.outcomes[0], cards, action, thought)
        total += value_of(chains.outcomes[0], seat, weights, chains.features)
    return total / n


@njit_borrowing
def key_of(state: np.void) -> np.uint64:
    """A hash of a position within a turn; the order of boards and hands does not matter.

    It has only what every game keeps. `engine.effects.transposition.kept_key` has more where a card of the
    table asks for it, and the table of a batch of games has the cards of all of them.
    """
    seat = state["active"]
    total = choices_key(state)
    for who in range(2):
        side = state["sides"][who]
        own = np.uint64(1 if who == seat else 2)
        for place in range(side["n_board"]):
            total += minion_key(side["board"][place], own)
        total += side_key(side, own)
    side = state["sides"][seat]
    for place in range(side["n_hand"]):
        total += card_key(side["hand"][place])
    return total


@njit_borrowing
def _is_new(n: int, chains: Chains) -> bool:
    """Whether no node of this turn has the key of the node `n`; then it is remembered."""
    key = chains.nodes[n]["key"]
    slot = np.int64(key & np.uint64(SLOTS - 1))
    while chains.stamps[slot] == chains.clock[0]:
        if chains.nodes[chains.slots[slot]]["key"] == key:
            return False
        slot = (slot + 1) & (SLOTS - 1)
    chains.stamps[slot] = chains.clock[0]
    chains.slots[slot] = n
    return True


@njit_borrowing
def _is_before(one: int, other: int, sign: float, chains: Chains) -> bool:
    """Whether a node comes before another: the better for who plays; of equals the one found first."""
    first, second = sign * chains.nodes[one]["value"], sign * chains.nodes[other]["value"]
    return bool(first > second or (first == second and one < other))


@njit_borrowing
def _push(place: int, sign: float, chains: Chains) -> None:
    """Put a node on the heap. `chains` is modified in place."""
    heap, at = chains.heap, int(chains.n_heap[0])
    chains.n_heap[0] += 1
    while at > 0 and _is_before(place, heap[(at - 1) // 2], sign, chains):
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = place


@njit_borrowing
def _pop(sign: float, chains: Chains) -> int:
    """Take the best node from the heap. `chains` is modified in place."""
    heap = chains.heap
    best = int(heap[0])
    chains.n_heap[0] -= 1
    n = int(chains.n_heap[0])
    place, at, child = int(heap[n]), 0, 1
    while child < n:
        if child + 1 < n and _is_before(heap[child + 1], heap[child], sign, chains):
            child += 1
        if _is_before(place, heap[child], sign, chains):
            break
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    heap[at] = place
    return best


@njit_borrowing
def pick_best(sign: float, chains: Chains) -> int:
    """The best node for who plays that was not picked before; -1 where none is left. It is picked then.

    The start of a turn in which something has to be chosen first is no end of it.
    """
    best = -1
    for place in range(1 if chains.nodes[0]["ends"] == BY_CHOICE else 0, int(chains.n_nodes[0])):
        if not chains.nodes[place]["picked"] and (best < 0 or _is_before(place, best, sign, chains)):
            best = place
    if best >= 0:
        chains.nodes[best]["picked"] = 1
    return best


DEPTH, N_CHAINS, HANDS = range(N_FEATURES, N_FEATURES + 3)
"""Places of the options in a row, after the weights."""

MOST_CHAINS = 64

_HELD = 1
"""Stream of the hand that the opponent is taken to hold, below that of a turn."""

FOUND = np.dtype(
    [
        ("n", "i2"),  # actions
        ("actions", "i4", (MOST_STEPS,)),  # as `engine.rules.encode` packs them, without the end of the turn
        ("again", "i2"),  # 1: after them the player chooses anew; else the turn ends
        ("value", "f8"),  # that they lead to
        ("unproven", "i2"),  # 1: a turn had more positions than memory
    ]
)
"""The actions that a search found."""


class MinimaxMemory(NamedTuple):
    """Memory of searches, one for each thread. Modified in place."""

    own: Chains
    reply: Chains
    seen: np.ndarray
    """The position as its player sees it, dtype `STATE`, shape (1,)."""
    after: np.ndarray
    """The end of a chain, dtype `STATE`, shape (1,)."""
    then: np.ndarray
    """The start of the opponent's turn, dtype `STATE`, shape (1,)."""
    thought: np.ndarray
    found: np.ndarray
    """Dtype `FOUND`, shape (1,)."""
    hands: Hands
    """What the opponent may hold."""
    stream: np.ndarray
    """The stream of what is drawn on a turn, uint64, shape (1,)."""


@njit
def new_memory() -> MinimaxMemory:
    """Memory for one thread: some five megabytes."""
    return MinimaxMemory(
        new_chains(),
        new_chains(),
        np.zeros(1, STATE),
        np.zeros(1, STATE),
        np.zeros(1, STATE),
        np.zeros(1, EVENTS),
        np.zeros(1, FOUND),
        new_hands(),
        np.zeros(1, np.uint64),
    )


@njit_borrowing
def choose_chain(state: np.void, cards: np.ndarray, row: np.ndarray, memory: MinimaxMemory) -> None:
    """Choose the chain that is worth most, and write it to `memory.found`. `memory` is modified in place.

    A chain that wins is played; among equals the one with the higher value at its end, then the first found.

    Args:
        state: dtype `STATE`, not over; the active player chooses. Hidden cards are not looked at.
        cards: the card table.
        row: weights, then depth (1 or 2) and the number of chains (1 to `MOST_CHAINS`).
        memory: of this thread.
    """
    seat, found = int(state["active"]), memory.found[0]
    memory.seen[0] = state
    hide(memory.seen[0], cards, seat)
    memory.stream[0] = derive(stream_of(memory.seen[0]), _HELD)
    find_chains(memory.seen[0], cards, row, seat, memory.own)
    found["unproven"] = memory.own.unproven[0]
    best = pick_best(1.0, memory.own)
    most = memory.own.nodes[best]["value"]
    if row[DEPTH] > 1.0 and most < WON:
        most = _judge(best, cards, row, seat, memory)
        for _ in range(1, int(row[N_CHAINS])):
            place = pick_best(1.0, memory.own)
            if place < 0:
                break
            worth = _judge(place, cards, row, seat, memory)
            if worth > most:
                best, most = place, worth
    found["value"] = most
    _write(best, memory.own, found)


@njit_borrowing
def _judge(place: int, cards: np.ndarray, row: np.ndarray, seat: int, memory: MinimaxMemory) -> float:
    """What a chain is worth after the opponent's answer, in the mean over what its last action can bring."""
    own, thought = memory.own, memory.thought[0]
    node = own.nodes[place]
    if node["ends"] != BY_CHANCE:
        memory.after[0] = own.states[place]
        return _worth_after_reply(cards, row, seat, memory)
    before, action = own.states[node["parent"]], node["action"]
    think(thought)
    memory.after[0] = before
    apply(memory.after[0], cards, action, thought)
    first, n = thought["waiting"], imaginable(thought)
    total = 0.0
    for number in range(n):
        imagine(thought, before, number, first)
        memory.after[0] = before
        apply(memory.after[0], cards, action, thought)
        total += _worth_after_reply(cards, row, seat, memory)
    return total / n


@njit_borrowing
def _worth_after_reply(cards: np.ndarray, row: np.ndarray, seat: int, memory: MinimaxMemory) -> float:
    """What the position `memory.after` is worth once its turn is ended and answered. Modified in place."""
    after, then, thought, reply = memory.after[0], memory.then[0], memory.thought[0], memory.reply
    if outcome(after) != Outcome.ONGOING:
        return value_of(after, seat, row, reply.features)
    after["n_options"], after["n_choices"] = 0, 0  # what is offered is left out
    hold_hand(after["sides"][1 - seat], memory.stream[0], False, memory.hands)
    end = encode(ActionKind.END_TURN, 0, 0)
    think(thought)
    memory.then[0] = after
    apply(then, cards, end, thought)
    if thought["waiting"]:
        imagine(thought, after, 0, thought["waiting"])
        memory.then[0] = after
        apply(then, cards, end, thought)
    if outcome(then) != Outcome.ONGOING:
        return value_of(then, seat, row, reply.features)
    find_chains(then, cards, row, seat, reply)
    if reply.unproven[0]:
        memory.found[0]["unproven"] = 1
    return float(reply.nodes[pick_best(-1.0, reply)]["value"])


@njit_borrowing
def _write(place: int, chains: Chains, found: np.void) -> None:
    """Write the actions to a node, up to the first after which the player chooses anew."""
    found["n"], found["again"] = chains.nodes[place]["steps"], 0
    for step in range(found["n"] - 1, -1, -1):
        node = chains.nodes[place]
        found["actions"][step] = node["action"]
        if node["open"]:
            found["again"] = 1
            found["n"] = step + 1
        place = node["parent"]


@njit_borrowing
def play_chains(
    state: np.void, cards: np.ndarray, row: np.ndarray, memory: MinimaxMemory, played: np.void
) -> int:
    """Play the active player's turn but for its end. `state`, `memory` and `played` are modified in place.

    Args:
        state: dtype `STATE`, not over.
        cards: the card table.
        row: as of `choose_chain`.
        memory: of this thread.
        played: the game's chance, dtype `EVENTS`.

    Returns:
        How often it chose with more positions than memory.
    """
    unproven = 0
    while True:
        again = play_chain(state, cards, row, memory, played)
        unproven += memory.found[0]["unproven"]
        if not again:
            return int(unproven)


@njit_borrowing
def play_chain(
    state: np.void, cards: np.ndarray, row: np.ndarray, memory: MinimaxMemory, played: np.void
) -> bool:
    """Play one chain; arguments as of `play_chains`.

    Returns:
        Whether the player chooses anew in the same turn.
    """
    found = memory.found[0]
    choose_chain(state, cards, row, memory)
    for step in range(found["n"]):
        apply(state, cards, found["actions"][step], played)
    return bool(found["again"] and outcome(state) == Outcome.ONGOING)


@njit_borrowing
def take_turn(
    game: int,
    state: np.void,
    cards: np.ndarray,
    row: np.ndarray,
    luck: np.void,
    search: tuple[MinimaxMemory, np.ndarray, Library],
    used: np.void,
) -> None:
    """Play the chains of a turn; see `engine.batches.game_loop`.

    `search` is memory of this thread, the cards dealt (`engine.batches.dealt_cards`), and decks that may be
    predicted.
    """
    memory, dealt, library = search
    known, again = dealt[game, 1 - state["active"]], True
    while again:
        look_at(state, known, int(row[HANDS]), cards, library, memory.hands)
        again = play_chain(state, cards, row, memory, luck)
        used["unproven"] += memory.found[0]["unproven"]
    memory.hands.n_decks[0] = 0
    if outcome(state) == Outcome.ONGOING:
        apply(state, cards, encode(ActionKind.END_TURN, 0, 0), luck)


play_games = game_loop(take_turn)


@njit
def plan_chain(
    states: np.ndarray,
    cards: np.ndarray,
    row: np.ndarray,
    n_shown: int,
    library: Library,
    memory: MinimaxMemory,
    steps: np.ndarray,
) -> None:
    """Choose a chain from the only state of an array of shape (1,).

    Of the opponent's cards `n_shown` are in `memory.hands.shown`.
    `memory` and `steps` (dtype `STATE`, shape (`MOST_STEPS` + 1,)) are modified in place; the latter hold the
    position before each action, and the one after the last if it can be known.
    """
    foresee(states[0], int(row[HANDS]), n_shown, cards, library, memory.hands)
    choose_chain(states[0], cards, row, memory)
    memory.hands.n_decks[0] = 0
    found, thought = memory.found[0], memory.thought[0]
    steps[0] = states[0]
    for step in range(found["n"]):
        steps[step + 1] = steps[step]
        think(thought)
        apply(steps[step + 1], cards, found["actions"][step], thought)
