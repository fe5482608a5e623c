"""The minimax turn search: action chains, evaluated by features after the opponent's reply; compiled.

Source: Dash, Handali and Jia, "Do Androids Dream Of Explosive Sheep?", section 4.1.1. The paper describes the
features in this order, 16 with the bias. This reading gives 16: health and armour are two features, features
"for the opponent" too are counted for both players, and "how much more of our mana we used" compares the
players' last turns. The paper gives no units; here they are points, cards and minions.

Positions are evaluated right before the end of a turn: mana is the unused mana.

A chain is a sequence of actions without the end of the turn. Positions are expanded best first for the active
player, so that the search of a turn with more positions than the limit covers its most promising part.
Transpositions are merged into the chain found first.

With card effects, a random action ends a chain with the mean value over its outcomes; so does a card that
offers a choice. After either, after a drawn card or a possible Secret, the agent searches again.

Source: Dash, Handali and Jia, "Do Androids Dream Of Explosive Sheep?", section 4.3. An action of its
minimax is a whole chain, up to the end of the turn, and "we decided to prune and only explore the 3
best/worst action chains respectively": the player expands its best chains by their final value, the opponent
those that are worst for the player. Depth counts turns including the own; at depth 2 the reply is a leaf, so
the worst of the opponent's three worst chains is the worst of all. (Taken literally, the recurrence has four
turns at depth 2.)

The opponent's hand is hidden: it replies with its board, weapon and hero power, and with a sampled hand if
there is a model of it (`ilp_agent.lookahead.determinization`). Chance at the end of the own turn is reduced
to one sampled outcome (`engine.effects.chance.set_hypothetical_outcome`).
"""

from typing import NamedTuple

import numpy as np

from engine.batches import make_game_loop
from engine.codes import MAX_ACTIONS, ActionKind, Outcome
from engine.effects.chance import begin_hypothetical, n_hypothetical, set_hypothetical_outcome
from engine.jit import njit, njit_no_alloc
from engine.rules import apply, decode, encode, legal_actions, outcome
from engine.state import EVENTS, STATE
from engine.streams import derive
from engine.view import hide_information
from ilp_agent.lookahead.deck_prediction import DeckLibrary
from ilp_agent.lookahead.determinization import (
    HandModel,
    new_hand_model,
    observe_opponent,
    sample_hidden_cards,
    turn_stream,
    update_hand_model,
)
from ilp_agent.search.transposition import card_key, choices_key, has_earlier_copy, minion_key, side_key

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
"""Description of each feature by name, in the order of arrays."""

FEATURES = tuple(MEANINGS)
N_FEATURES = len(FEATURES)
N_SIDE_FEATURES = 5
"""Number of features per side: the player's first, then the opponent's."""
MANA_LEAD, ATTACK_LEAD, MINIONS_LEAD, HAND_LEAD, HEALTH_LEAD, BIAS = range(2 * N_SIDE_FEATURES, N_FEATURES)
HEALTH, ARMOUR, MANA, ATTACK, MINIONS = range(N_SIDE_FEATURES)

WON, LOST, DRAWN = 1e9, -1e9, 0.0
"""Values of finished games. The paper uses its rewards of 100 and -100; other positions may exceed those, and
a certain win should still be chosen."""


@njit_no_alloc
def read_features(state: np.void, seat: int, features: np.ndarray) -> None:
    """Write to `features` all features of a position for the player at `seat`.

    Args:
        state: dtype `engine.state.STATE`.
        seat: 0 or 1.
        features: float64, shape (`N_FEATURES`,). Modified in place.
    """
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    _read_side(own, 0, features)
    _read_side(enemy, N_SIDE_FEATURES, features)
    features[MANA_LEAD] = _used(own) - _used(enemy)
    features[ATTACK_LEAD] = features[ATTACK] - features[N_SIDE_FEATURES + ATTACK]
    features[MINIONS_LEAD] = features[MINIONS] - features[N_SIDE_FEATURES + MINIONS]
    features[HAND_LEAD] = own["n_hand"] - enemy["n_hand"]
    features[HEALTH_LEAD] = features[HEALTH] - features[N_SIDE_FEATURES + HEALTH]
    features[BIAS] = 1.0


@njit_no_alloc
def _read_side(side: np.void, first: int, features: np.ndarray) -> None:
    """Write one side's features to `features`, from index `first` on."""
    attack = 0
    for place in range(side["n_board"]):
        attack += side["board"][place]["attack"]
    features[first + HEALTH], features[first + ARMOUR] = side["health"], side["armour"]
    features[first + MANA], features[first + ATTACK] = side["mana"], attack
    features[first + MINIONS] = side["n_board"]


@njit_no_alloc
def _used(side: np.void) -> int:
    """Mana that a player used in the player's last turn, without The Coin's mana."""
    return max(0, int(side["crystals"] - side["locked"] - side["mana"]))


@njit_no_alloc
def position_value(state: np.void, seat: int, weights: np.ndarray, features: np.ndarray) -> float:
    """Value of a position for the player at `seat`: `WON`, `LOST`, `DRAWN`, or weights times features.

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


MAX_POSITIONS = 2_000
"""Largest number of positions per turn."""

SLOTS = 1 << 13
"""Size of the transposition table; a power of two, well above `MAX_POSITIONS`."""

MAX_STEPS = 64
"""Largest number of actions per chain."""

CONTINUES, ENDS_AT_CHANCE, ENDS_AT_CHOICE = range(3)
"""How a chain continues: by further actions, or it stops at a chance outcome or at a choice of cards."""

NODE = np.dtype(
    [
        ("key", "u8"),  # hash of the position
        ("value", "f8"),  # for the searching player, if the turn ended in this position
        ("parent", "i4"),  # -1 at the start of the turn
        ("action", "i4"),  # from `parent` to this node (`engine.rules.encode`)
        ("steps", "i2"),  # actions so far
        ("open", "i2"),  # 1: the action reveals new information, so the agent must search again
        ("ends", "i2"),  # CONTINUES, ENDS_AT_CHANCE or ENDS_AT_CHOICE
        ("selected", "i2"),  # 1: already returned by `pick_best`
    ]
)
"""A position within the turn."""


class ChainMemory(NamedTuple):
    """Working memory for the chains of one turn. Modified in place."""

    states: np.ndarray
    """Positions of the nodes, dtype `STATE`; undefined after a random action."""
    nodes: np.ndarray
    slots: np.ndarray
    """Node by key; open addressing."""
    stamps: np.ndarray
    """Number of the turn that last used each place of `slots`."""
    clock: np.ndarray
    """Number of the turn, shape (1,)."""
    heap: np.ndarray
    """Priority queue of nodes to expand, the best first."""
    n_heap: np.ndarray
    """Length of the queue, shape (1,)."""
    n_nodes: np.ndarray
    """Number of nodes, shape (1,)."""
    unproven: np.ndarray
    """1: the limit of positions was met, shape (1,)."""
    actions: np.ndarray
    outcomes: np.ndarray
    """Position after a chance outcome, dtype `STATE`, shape (1,)."""
    effect_state: np.ndarray
    features: np.ndarray


@njit
def new_chain_memory() -> ChainMemory:
    """Allocate working memory for one turn: about two megabytes."""
    return ChainMemory(
        np.zeros(MAX_POSITIONS, STATE),
        np.zeros(MAX_POSITIONS, NODE),
        np.empty(SLOTS, np.int32),
        np.zeros(SLOTS, np.int64),
        np.zeros(1, np.int64),
        np.empty(MAX_POSITIONS + 1, np.int32),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        np.empty(MAX_ACTIONS, np.int64),
        np.zeros(1, STATE),
        np.zeros(1, EVENTS),
        np.zeros(N_FEATURES, np.float64),
    )


@njit_no_alloc
def find_chains(
    state: np.void, cards: np.ndarray, weights: np.ndarray, seat: int, chains: ChainMemory
) -> None:
    """Best-first search of the positions where the active player can end the turn. Modifies `chains`.

    Args:
        state: dtype `STATE`, not over; hidden cards are not played.
        cards: the card table.
        weights: shape (at least `N_FEATURES`,).
        seat: of the searching player: maximises in its own turn, minimises in the opponent's.
        chains: memory; node 0 is the start of the turn.
    """
    sign = 1.0 if state["active"] == seat else -1.0
    chains.clock[0] += 1
    chains.n_nodes[0], chains.n_heap[0], chains.unproven[0] = 1, 0, 0
    chains.states[0] = state
    root = chains.nodes[0]
    root["parent"], root["action"], root["steps"], root["open"], root["selected"] = -1, 0, 0, 0, 0
    root["ends"] = ENDS_AT_CHOICE if state["n_options"] > 0 else CONTINUES
    root["value"] = position_value(state, seat, weights, chains.features)
    root["key"] = chain_position_key(state)
    _is_new(0, chains)
    _push(0, sign, chains)
    while chains.n_heap[0] > 0:
        place = _pop(sign, chains)
        if sign * chains.nodes[place]["value"] == WON:
            return
        if not _expand(place, cards, weights, seat, sign, chains):
            chains.unproven[0] = 1
            return


@njit_no_alloc
def _expand(
    place: int, cards: np.ndarray, weights: np.ndarray, seat: int, sign: float, chains: ChainMemory
) -> bool:
    """Expand a node; returns whether there was room for all children. `chains` is modified in place."""
    state, parent, effect_state = chains.states[place], chains.nodes[place], chains.effect_state[0]
    mover = state["active"]
    if outcome(state) != Outcome.ONGOING or parent["steps"] == MAX_STEPS:
        return True
    for number in range(legal_actions(state, cards, chains.actions)):
        action = chains.actions[number]
        kind, source, _ = decode(action)
        if kind == ActionKind.END_TURN:
            continue
        if kind == ActionKind.PLAY and has_earlier_copy(state["sides"][mover], source):
            continue
        n = int(chains.n_nodes[0])
        if n == MAX_POSITIONS:
            return False
        child, node = chains.states[n], chains.nodes[n]
        begin_hypothetical(effect_state)
        chains.states[n] = state
        apply(child, cards, action, effect_state)
        node["parent"], node["action"], node["steps"] = place, action, parent["steps"] + 1
        node["open"], node["ends"], node["selected"] = 0, CONTINUES, 0
        if effect_state["n_pending_outcomes"]:
            node["open"], node["ends"] = 1, ENDS_AT_CHANCE
            node["value"] = _mean_value(state, cards, action, weights, seat, chains)
            chains.n_nodes[0] = n + 1
            continue
        node["open"] = 1 if _is_unsure(state, child, effect_state) else 0
        node["ends"] = ENDS_AT_CHOICE if child["n_options"] > 0 else CONTINUES
        node["value"] = position_value(child, seat, weights, chains.features)
        node["key"] = chain_position_key(child)
        if _is_new(n, chains):
            chains.n_nodes[0] = n + 1
            if node["ends"] == CONTINUES:
                _push(n, sign, chains)
    return True


@njit_no_alloc
def _is_unsure(before: np.void, after: np.void, effect_state: np.void) -> bool:
    """Whether an action reveals new information: a drawn card, a choice, or a possible Secret."""
    if after["n_options"] > 0 or effect_state["depends_on_hidden"]:
        return True
    if before["sides"][1 - before["active"]]["n_secrets"] > 0:
        return True
    drawn = before["sides"][0]["n_deck"] != after["sides"][0]["n_deck"]
    return bool(drawn or before["sides"][1]["n_deck"] != after["sides"][1]["n_deck"])


@njit_no_alloc
def _mean_value(
    state: np.void, cards: np.ndarray, action: int, weights: np.ndarray, seat: int, chains: ChainMemory
) -> float:
    """Expected value of an action over the chance outcomes at which `effect_state` stopped."""
    effect_state = chains.effect_state[0]
    first, n = effect_state["n_pending_outcomes"], n_hypothetical(effect_state)
    total = 0.0
    for number in range(n):
        set_hypothetical_outcome(effect_state, state, number, first)
        chains.outcomes[0] = state
        apply(chains.outcomes[0], cards, action, effect_state)
        total += position_value(chains.outcomes[0], seat, weights, chains.features)
    return total / n


@njit_no_alloc
def chain_position_key(state: np.void) -> np.uint64:
    """Hash of a position within a turn, independent of the order of boards and hands.

    Covers only features that every game keeps: `ilp_agent.search.transposition.counters_key` depends on the
    card table, and the table of a batch of games has more cards.
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


@njit_no_alloc
def _is_new(n: int, chains: ChainMemory) -> bool:
    """Whether a node's key is new in this turn; a new key is added to the transposition table."""
    key = chains.nodes[n]["key"]
    slot = np.int64(key & np.uint64(SLOTS - 1))
    while chains.stamps[slot] == chains.clock[0]:
        if chains.nodes[chains.slots[slot]]["key"] == key:
            return False
        slot = (slot + 1) & (SLOTS - 1)
    chains.stamps[slot] = chains.clock[0]
    chains.slots[slot] = n
    return True


@njit_no_alloc
def _is_before(node: int, other: int, sign: float, chains: ChainMemory) -> bool:
    """Whether a node precedes another in the queue: better for the active player, or equal and older."""
    first, second = sign * chains.nodes[node]["value"], sign * chains.nodes[other]["value"]
    return bool(first > second or (first == second and node < other))


@njit_no_alloc
def _push(place: int, sign: float, chains: ChainMemory) -> None:
    """Push a node onto the queue. `chains` is modified in place."""
    heap, at = chains.heap, int(chains.n_heap[0])
    chains.n_heap[0] += 1
    while at > 0 and _is_before(place, heap[(at - 1) // 2], sign, chains):
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = place


@njit_no_alloc
def _pop(sign: float, chains: ChainMemory) -> int:
    """Pop the best node from the queue. `chains` is modified in place."""
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


@njit_no_alloc
def pick_best(sign: float, chains: ChainMemory) -> int:
    """Pick the active player's best node not picked before, and mark it as picked; -1 if none is left.

    A turn that starts with a pending choice cannot end at its start.
    """
    best = -1
    for place in range(1 if chains.nodes[0]["ends"] == ENDS_AT_CHOICE else 0, int(chains.n_nodes[0])):
        if not chains.nodes[place]["selected"] and (best < 0 or _is_before(place, best, sign, chains)):
            best = place
    if best >= 0:
        chains.nodes[best]["selected"] = 1
    return best


DEPTH, N_CHAINS, HANDS = range(N_FEATURES, N_FEATURES + 3)
"""Indices of the options in a row, after the weights."""

MAX_CHAINS = 64

_HELD = 1
"""Stream of the opponent's sampled hand, below that of a turn."""

FOUND = np.dtype(
    [
        ("n", "i2"),  # number of actions
        ("actions", "i4", (MAX_STEPS,)),  # as `engine.rules.encode` packs them, without the end of the turn
        ("again", "i2"),  # 1: search again after these actions; else end the turn
        ("value", "f8"),  # of the chain
        ("unproven", "i2"),  # 1: a turn met the limit of positions
    ]
)
"""Result of a search: the actions to play."""


class MinimaxMemory(NamedTuple):
    """Working memory of the minimax search, one for each thread. Modified in place."""

    own: ChainMemory
    reply: ChainMemory
    seen: np.ndarray
    """The position as its player sees it, dtype `STATE`, shape (1,)."""
    after: np.ndarray
    """Position at the end of a chain, dtype `STATE`, shape (1,)."""
    then: np.ndarray
    """Position at the start of the opponent's turn, dtype `STATE`, shape (1,)."""
    effect_state: np.ndarray
    found: np.ndarray
    """Dtype `FOUND`, shape (1,)."""
    hands: HandModel
    """Model of the opponent's hand."""
    stream: np.ndarray
    """Random stream of a turn, uint64, shape (1,)."""


@njit
def new_memory() -> MinimaxMemory:
    """Allocate working memory for one thread: about five megabytes."""
    return MinimaxMemory(
        new_chain_memory(),
        new_chain_memory(),
        np.zeros(1, STATE),
        np.zeros(1, STATE),
        np.zeros(1, STATE),
        np.zeros(1, EVENTS),
        np.zeros(1, FOUND),
        new_hand_model(),
        np.zeros(1, np.uint64),
    )


@njit_no_alloc
def choose_chain(state: np.void, cards: np.ndarray, row: np.ndarray, memory: MinimaxMemory) -> None:
    """Search the turn and write the best chain to `memory.found`. `memory` is modified in place.

    A winning chain is played; ties go to the higher value before the reply, then to the first found.

    Args:
        state: dtype `STATE`, not over; the active player chooses. Hidden cards are not read.
        cards: the card table.
        row: weights, then depth (1 or 2) and the number of chains (1 to `MAX_CHAINS`).
        memory: working memory.
    """
    seat, found = int(state["active"]), memory.found[0]
    memory.seen[0] = state
    hide_information(memory.seen[0], cards, seat)
    memory.stream[0] = derive(turn_stream(memory.seen[0]), _HELD)
    find_chains(memory.seen[0], cards, row, seat, memory.own)
    found["unproven"] = memory.own.unproven[0]
    best = pick_best(1.0, memory.own)
    best_value = memory.own.nodes[best]["value"]
    if row[DEPTH] > 1.0 and best_value < WON:
        best_value = _judge(best, cards, row, seat, memory)
        for _ in range(1, int(row[N_CHAINS])):
            place = pick_best(1.0, memory.own)
            if place < 0:
                break
            value = _judge(place, cards, row, seat, memory)
            if value > best_value:
                best, best_value = place, value
    found["value"] = best_value
    _write(best, memory.own, found)


@njit_no_alloc
def _judge(place: int, cards: np.ndarray, row: np.ndarray, seat: int, memory: MinimaxMemory) -> float:
    """Value of a chain after the opponent's reply, mean over the outcomes of the chain's last action."""
    own, effect_state = memory.own, memory.effect_state[0]
    node = own.nodes[place]
    if node["ends"] != ENDS_AT_CHANCE:
        memory.after[0] = own.states[place]
        return _worth_after_reply(cards, row, seat, memory)
    before, action = own.states[node["parent"]], node["action"]
    begin_hypothetical(effect_state)
    memory.after[0] = before
    apply(memory.after[0], cards, action, effect_state)
    first, n = effect_state["n_pending_outcomes"], n_hypothetical(effect_state)
    total = 0.0
    for number in range(n):
        set_hypothetical_outcome(effect_state, before, number, first)
        memory.after[0] = before
        apply(memory.after[0], cards, action, effect_state)
        total += _worth_after_reply(cards, row, seat, memory)
    return total / n


@njit_no_alloc
def _worth_after_reply(cards: np.ndarray, row: np.ndarray, seat: int, memory: MinimaxMemory) -> float:
    """Value of position `memory.after` after the turn's end and the opponent's best reply."""
    after, then, effect_state, reply = memory.after[0], memory.then[0], memory.effect_state[0], memory.reply
    if outcome(after) != Outcome.ONGOING:
        return position_value(after, seat, row, reply.features)
    after["n_options"], after["n_choices"] = 0, 0  # ignore the pending choice
    sample_hidden_cards(after["sides"][1 - seat], memory.stream[0], False, memory.hands)
    end = encode(ActionKind.END_TURN, 0, 0)
    begin_hypothetical(effect_state)
    memory.then[0] = after
    apply(then, cards, end, effect_state)
    if effect_state["n_pending_outcomes"]:
        set_hypothetical_outcome(effect_state, after, 0, effect_state["n_pending_outcomes"])
        memory.then[0] = after
        apply(then, cards, end, effect_state)
    if outcome(then) != Outcome.ONGOING:
        return position_value(then, seat, row, reply.features)
    find_chains(then, cards, row, seat, reply)
    if reply.unproven[0]:
        memory.found[0]["unproven"] = 1
    return float(reply.nodes[pick_best(-1.0, reply)]["value"])


@njit_no_alloc
def _write(place: int, chains: ChainMemory, found: np.void) -> None:
    """Write to `found` the actions that lead to a node, up to the first that reveals new information."""
    found["n"], found["again"] = chains.nodes[place]["steps"], 0
    for step in range(found["n"] - 1, -1, -1):
        node = chains.nodes[place]
        found["actions"][step] = node["action"]
        if node["open"]:
            found["again"] = 1
            found["n"] = step + 1
        place = node["parent"]


@njit_no_alloc
def play_chains(
    state: np.void, cards: np.ndarray, row: np.ndarray, memory: MinimaxMemory, played: np.void
) -> int:
    """Play the active player's turn without ending it. Modifies `state`, `memory` and `played`.

    Args:
        state: dtype `STATE`, not over.
        cards: the card table.
        row: as of `choose_chain`.
        memory: working memory.
        played: chance events of the game, dtype `EVENTS`.

    Returns:
        How many searches met the limit of positions.
    """
    unproven = 0
    while True:
        again = play_chain(state, cards, row, memory, played)
        unproven += memory.found[0]["unproven"]
        if not again:
            return int(unproven)


@njit_no_alloc
def play_chain(
    state: np.void, cards: np.ndarray, row: np.ndarray, memory: MinimaxMemory, played: np.void
) -> bool:
    """Play one chain; returns whether the turn needs another search. Arguments as of `play_chains`.

    Returns:
        Whether the same turn needs another search.
    """
    found = memory.found[0]
    choose_chain(state, cards, row, memory)
    for step in range(found["n"]):
        apply(state, cards, found["actions"][step], played)
    return bool(found["again"] and outcome(state) == Outcome.ONGOING)


@njit_no_alloc
def take_turn(
    game: int,
    state: np.void,
    cards: np.ndarray,
    row: np.ndarray,
    events: np.void,
    search: tuple[MinimaxMemory, np.ndarray, DeckLibrary],
    used: np.void,
) -> None:
    """Play a whole turn; step of `engine.batches.make_game_loop`.

    `search` has working memory, the cards dealt (`engine.batches.dealt_cards`), and the deck library.
    """
    memory, dealt, library = search
    dealt_cards, again = dealt[game, 1 - state["active"]], True
    while again:
        observe_opponent(state, dealt_cards, int(row[HANDS]), cards, library, memory.hands)
        again = play_chain(state, cards, row, memory, events)
        used["unproven"] += memory.found[0]["unproven"]
    memory.hands.n_decks[0] = 0
    if outcome(state) == Outcome.ONGOING:
        apply(state, cards, encode(ActionKind.END_TURN, 0, 0), events)


play_games = make_game_loop(take_turn)


@njit
def plan_chain(
    states: np.ndarray,
    cards: np.ndarray,
    row: np.ndarray,
    n_shown: int,
    library: DeckLibrary,
    memory: MinimaxMemory,
    steps: np.ndarray,
) -> None:
    """Choose a chain from the only state of an array of shape (1,), and write it to `memory.found`.

    `memory.hands.shown` holds `n_shown` cards of the opponent. `memory` and `steps` (dtype `STATE`, shape
    (`MAX_STEPS` + 1,)) are modified in place; `steps` receives the position before each action, and the one
    after the last if it is predictable.
    """
    update_hand_model(states[0], int(row[HANDS]), n_shown, cards, library, memory.hands)
    choose_chain(states[0], cards, row, memory)
    memory.hands.n_decks[0] = 0
    found, effect_state = memory.found[0], memory.effect_state[0]
    steps[0] = states[0]
    for step in range(found["n"]):
        steps[step + 1] = steps[step]
        begin_hypothetical(effect_state)
        apply(steps[step + 1], cards, found["actions"][step], effect_state)
