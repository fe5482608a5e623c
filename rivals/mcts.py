"""MCTS: information-set Monte Carlo tree search over single actions.

Determinization: the own deck is shuffled. Each hidden card of the opponent is drawn from the cards that the
player can see: its own deck and hand and the minions on the enemy board. With equal decks the opponent plays
these cards too. If there are none, cards stay hidden and are never played. Secrets stay hidden and are never
revealed.

Results do not depend on card numbers: a batch of games has one table for all its decks, a single game one for
its two.

Source: Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search" (2012), single-observer
ISMCTS. Each iteration samples the hidden cards and descends one shared tree: at a node it selects by UCB1
among the actions that are legal in this determinization, where the logarithm counts how often an action was
available, not visits of the parent. The first action without a node is expanded; from there a uniformly
random playout runs to the end of the game. Its result, 1, 1/2 or 0 for the player who chose the action, is
backed up to every node on the path.

An edge identifies the played card, not its hand position, so that it means the same in every determinization.
Chance outcomes are sampled anew in each iteration, below the same node.

MCTS needs no weights: random playouts replace an evaluation. Every action is a new search from the player's
information alone.
"""

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from engine import Action, Deck, PlayerView
from engine.batches import make_game_loop, playout, unknown_decks
from engine.bitfields import SOURCE_SHIFT, fast_hash
from engine.codes import BOARD_SIZE, DECK_SIZE, HAND_SIZE, MAX_ACTIONS, UNKNOWN, ActionKind, Outcome
from engine.effects.card_filters import has_effects
from engine.effects.chance import draw_from_stream
from engine.jit import njit, njit_no_alloc
from engine.match import OpponentModelData
from engine.rules import apply, decode, legal_actions, outcome
from engine.state import EVENTS, STATE
from engine.streams import below, derive, key_of, shuffle
from engine.view import OpponentInfo, hide_information
from ilp_agent.lookahead.deck_prediction import DeckLibrary, class_decks, table_and_library
from ilp_agent.lookahead.determinization import (
    HandModel,
    copy_revealed_cards,
    new_hand_model,
    observe_opponent,
    sample_hidden_cards,
    sort_deck,
    update_hand_model,
)
from ilp_agent.search.transposition import pack_word
from rivals.batch import with_options

MAX_POSSIBLE = DECK_SIZE + HAND_SIZE + BOARD_SIZE
"""Largest number of cards that hidden ones may be drawn from."""

_OWN_DECK, _HAND, _DECK = range(3)
"""Streams of a determinization."""


@njit_no_alloc
def list_possible(state: np.void, seat: int, possible: np.ndarray) -> int:
    """Write to `possible` the cards that the opponent's hidden cards are drawn from; returns how many.

    Args:
        state: dtype `STATE`, as the player at `seat` sees it.
        seat: 0 or 1.
        possible: integers, shape (`MAX_POSSIBLE`,). Modified in place.
    """
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    n = 0
    for place in range(own["n_deck"]):
        possible[n] = own["deck"][place]
        n += 1
    for place in range(own["n_hand"]):
        if own["hand"][place] >= 0:
            possible[n] = own["hand"][place]
            n += 1
    for place in range(enemy["n_board"]):
        possible[n] = enemy["board"][place]["card"]
        n += 1
    return n


@njit_no_alloc
def sample_determinization(state: np.void, seat: int, possible: np.ndarray, n: int, key: np.uint64) -> None:
    """Sample a determinization: shuffle the own deck, draw the opponent's hidden cards. Modifies `state`.

    Args:
        state: dtype `STATE`, as the player at `seat` sees it, its deck in the order of `sort_deck`
            (`ilp_agent.lookahead.determinization`).
        seat: 0 or 1.
        possible: cards to draw from, uniformly and with replacement.
        n: their number.
        key: the stream.
    """
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    shuffle(own["deck"], own["n_deck"], derive(key, _OWN_DECK))
    if n == 0:
        return
    hand, deck = derive(key, _HAND), derive(key, _DECK)
    for place in range(enemy["n_hand"]):
        if enemy["hand"][place] == UNKNOWN:
            enemy["hand"][place] = possible[below(hand, place, n)]
    for place in range(enemy["n_deck"]):
        if enemy["deck"][place] == UNKNOWN:
            enemy["deck"][place] = possible[below(deck, place, n)]


MAX_PLAYOUTS = 100_000
"""Largest number of playouts per decision."""

EXPLORATION = 0.7
"""Constant of UCB1 for results of 0 to 1, as in the authors' published program."""

SLOTS = 1 << 18
"""Size of the hash table of nodes; a power of two, well above `MAX_PLAYOUTS`."""

ROOT_KEY = np.uint64(1)
"""Nonzero, so that hashing the end of a turn changes it."""

NODE = np.dtype(
    [
        ("key", "u8"),  # hash of the edges from the root
        ("parent", "i4"),  # -1 at the root
        ("visits", "i4"),  # iterations through this node
        ("available", "i4"),  # iterations through its parent in which its action was legal
        ("counted", "i4"),  # last iteration counted in `available`
        ("chooser", "i4"),  # seat of the player that chose its action
        ("results", "i4"),  # sum of results for that player: 2 for a win, 1 for a draw
    ]
)
"""A tree node: a sequence of edges from the root."""

_HIDDEN, _CHANCE, _TREE, _PLAYOUT, _HELD = range(5)
"""Streams of an iteration."""


class MctsMemory(NamedTuple):
    """Working memory of MCTS, one for each thread. Modified in place."""

    nodes: np.ndarray
    slots: np.ndarray
    """Node by key; open addressing."""
    stamps: np.ndarray
    """Number of the search that last used each place of `slots`."""
    clock: np.ndarray
    """Number of the search, shape (1,)."""
    n_nodes: np.ndarray
    """Number of nodes, shape (1,)."""
    seen: np.ndarray
    """The position as its player sees it, dtype `STATE`, shape (1,)."""
    here: np.ndarray
    """The determinized position of an iteration, dtype `STATE`, shape (1,)."""
    events: np.ndarray
    """Chance events of an iteration, dtype `EVENTS`, shape (1,)."""
    actions: np.ndarray
    possible: np.ndarray
    """Cards from which hidden ones are drawn."""
    words: np.ndarray
    """Workspace of `ilp_agent.lookahead.determinization.sort_deck`."""
    hands: HandModel
    """Model of the opponent's hand; if empty, hidden cards are drawn from `possible`."""


@njit
def new_memory() -> MctsMemory:
    """Allocate working memory: about six megabytes, touched on demand."""
    return MctsMemory(
        np.empty(MAX_PLAYOUTS + 1, NODE),
        np.empty(SLOTS, np.int32),
        np.zeros(SLOTS, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1, STATE),
        np.zeros(1, STATE),
        np.zeros(1, EVENTS),
        np.empty(MAX_ACTIONS, np.int64),
        np.empty(MAX_POSSIBLE, np.int64),
        np.empty(DECK_SIZE, np.uint64),
        new_hand_model(),
    )


@njit_no_alloc
def choose_action(state: np.void, cards: np.ndarray, budget: int, key: np.uint64, memory: MctsMemory) -> int:
    """Run the search; returns the most visited action, of ties the first in the order of `legal_actions`.

    Args:
        state: dtype `STATE`, not over; the active player chooses. Hidden cards are not read.
        cards: the card table.
        budget: playouts, 1 to `MAX_PLAYOUTS`.
        key: the agent's stream of the game.
        memory: modified in place.
    """
    seat = int(state["active"])
    memory.seen[0] = state
    seen = memory.seen[0]
    hide_information(seen, cards, seat)
    if legal_actions(seen, cards, memory.actions) == 1:
        return int(memory.actions[0])
    sort_deck(seen["sides"][seat], cards, memory.words)
    n_possible = list_possible(seen, seat, memory.possible)
    stream = decision_stream(seen, key)
    _begin(memory)
    for iteration in range(budget):
        iteration_stream = derive(stream, iteration)
        memory.here[0] = seen
        here, events = memory.here[0], memory.events[0]
        sample_hidden_cards(here["sides"][1 - seat], derive(iteration_stream, _HELD), True, memory.hands)
        sample_determinization(here, seat, memory.possible, n_possible, derive(iteration_stream, _HIDDEN))
        draw_from_stream(events, here, derive(iteration_stream, _CHANCE))
        node = _descend(here, cards, iteration, derive(iteration_stream, _TREE), events, memory)
        result = outcome(here)
        if result == Outcome.ONGOING:
            result = playout(here, cards, memory.actions, derive(iteration_stream, _PLAYOUT), events)
        _back_up(node, result, memory)
    return _most_visited(seen, cards, memory)


@njit_no_alloc
def decision_stream(state: np.void, key: np.uint64) -> np.uint64:
    """Random stream of a decision, from the agent's stream and visible numbers that every action changes.

    None of them depends on card numbers or on hidden cards.
    """
    own, enemy = state["sides"][state["active"]], state["sides"][1 - state["active"]]
    attacks = 0
    for place in range(own["n_board"]):
        attacks += own["board"][place]["attacks_left"]
    word = fast_hash(np.uint64(0), pack_word(own["n_hand"], own["n_deck"], own["mana"], state["n_options"]))
    word = fast_hash(word, pack_word(own["n_board"], enemy["n_board"], attacks, own["hero_attacks_left"]))
    word = fast_hash(word, pack_word(own["health"], own["armour"], enemy["health"], enemy["armour"]))
    word = fast_hash(word, pack_word(own["power_used"], own["hero_attack"], own["durability"], 0))
    return derive(derive(key, state["turn"]), int(word >> np.uint64(32)))


@njit_no_alloc
def _begin(memory: MctsMemory) -> None:
    """Start a tree with its root. `memory` is modified in place."""
    memory.clock[0] += 1
    memory.n_nodes[0] = 0
    _add(-1, ROOT_KEY, 0, -1, memory)


@njit_no_alloc
def _add(parent: int, key: np.uint64, chooser: int, iteration: int, memory: MctsMemory) -> int:
    """Add an unvisited node; returns its index. `memory` is modified in place."""
    n = int(memory.n_nodes[0])
    node = memory.nodes[n]
    node["key"], node["parent"], node["chooser"] = key, parent, chooser
    node["visits"], node["results"] = 0, 0
    node["available"], node["counted"] = 1, iteration
    slot = np.int64(key & np.uint64(SLOTS - 1))
    while memory.stamps[slot] == memory.clock[0]:
        slot = (slot + 1) & (SLOTS - 1)
    memory.stamps[slot] = memory.clock[0]
    memory.slots[slot] = n
    memory.n_nodes[0] = n + 1
    return n


@njit_no_alloc
def _find(key: np.uint64, memory: MctsMemory) -> int:
    """Index of the node with a key; -1 if absent."""
    slot = np.int64(key & np.uint64(SLOTS - 1))
    while memory.stamps[slot] == memory.clock[0]:
        found = memory.slots[slot]
        if memory.nodes[found]["key"] == key:
            return int(found)
        slot = (slot + 1) & (SLOTS - 1)
    return -1


@njit_no_alloc
def _edge(state: np.void, action: int) -> np.uint64:
    """Key of an action's tree edge; it has the card number, not the position, of a played or chosen card."""
    kind, source, _ = decode(action)
    number = 0
    if kind == ActionKind.PLAY:
        number = int(state["sides"][state["active"]]["hand"][source])
        action -= source << SOURCE_SHIFT
    elif kind == ActionKind.CHOOSE:
        number = int(state["options"][source])
        action -= source << SOURCE_SHIFT
    return np.uint64(action) << np.uint64(16) | np.uint64(number & 0xFFFF)


@njit_no_alloc
def _descend(
    state: np.void, cards: np.ndarray, iteration: int, key: np.uint64, events: np.void, memory: MctsMemory
) -> int:
    """Selection and expansion: descend by UCB1 and add one node; returns the last node of the path.

    `state`, `events` and `memory` are modified in place.
    """
    place, depth = 0, 0
    n = legal_actions(state, cards, memory.actions)
    while n > 0:
        untried, best, chosen, best_score = 0, -1, 0, -1.0
        for number in range(n):
            child = _find(fast_hash(memory.nodes[place]["key"], _edge(state, memory.actions[number])), memory)
            if child < 0:
                untried += 1
                continue
            node = memory.nodes[child]
            if node["counted"] != iteration:
                node["counted"] = iteration
                node["available"] += 1
            score = ucb1(node["results"], node["visits"], node["available"])
            if score > best_score:
                best_score, best, chosen = score, child, number
        if untried > 0:
            return _expand(place, state, cards, n, below(key, depth, untried), iteration, events, memory)
        apply(state, cards, memory.actions[chosen], events)
        place = best
        depth += 1
        n = legal_actions(state, cards, memory.actions)
    return place


@njit_no_alloc
def ucb1(results: int, visits: int, available: int) -> float:
    """UCB1 of a node with at least one visit; `results` are 2 for a win, 1 for a draw."""
    mean = results / (2.0 * visits)
    return float(mean + EXPLORATION * np.sqrt(np.log(np.float64(available)) / visits))


@njit_no_alloc
def _expand(
    place: int,
    state: np.void,
    cards: np.ndarray,
    n: int,
    skip: int,
    iteration: int,
    events: np.void,
    memory: MctsMemory,
) -> int:
    """Expand the action numbered `skip` among those without a node; returns the new node."""
    for number in range(n):
        action = memory.actions[number]
        key = fast_hash(memory.nodes[place]["key"], _edge(state, action))
        if _find(key, memory) >= 0:
            continue
        if skip == 0:
            chooser = int(state["active"])
            apply(state, cards, action, events)
            return _add(place, key, chooser, iteration, memory)
        skip -= 1
    return place


@njit_no_alloc
def _back_up(place: int, result: int, memory: MctsMemory) -> None:
    """Backpropagation: add a game's `Outcome` to a node and its ancestors. `memory` is modified in place."""
    while place >= 0:
        node = memory.nodes[place]
        node["visits"] += 1
        if result == Outcome.DRAW:
            node["results"] += 1
        elif (result == Outcome.FIRST_WINS) == (node["chooser"] == 0):
            node["results"] += 2
        place = node["parent"]


@njit_no_alloc
def _most_visited(state: np.void, cards: np.ndarray, memory: MctsMemory) -> int:
    """The most visited legal action at the root, the first of equals."""
    n = legal_actions(state, cards, memory.actions)
    most, best = 0, int(memory.actions[n - 1])
    for number in range(n):
        child = _find(fast_hash(memory.nodes[0]["key"], _edge(state, memory.actions[number])), memory)
        if child >= 0 and memory.nodes[child]["visits"] > most:
            most, best = int(memory.nodes[child]["visits"]), int(memory.actions[number])
    return best


@njit_no_alloc
def take_action(
    game: int,
    state: np.void,
    cards: np.ndarray,
    row: np.ndarray,
    events: np.void,
    search: tuple[MctsMemory, np.ndarray, np.ndarray, DeckLibrary],
    used: np.void,  # noqa: ARG001
) -> None:
    """Play the action that the search chooses; step of `engine.batches.make_game_loop`.

    A row is the budget and an `engine.view.OpponentInfo`. `search` has working memory, the agents' streams,
    uint64, shape (games, 2), the cards dealt (`engine.batches.dealt_cards`), and the deck library.
    """
    memory, keys, dealt, library = search
    seat = state["active"]
    observe_opponent(state, dealt[game, 1 - seat], int(row[1]), cards, library, memory.hands)
    action = choose_action(state, cards, int(row[0]), keys[game, seat], memory)
    memory.hands.n_decks[0] = 0
    apply(state, cards, action, events)


play_games = make_game_loop(take_action)


@njit
def choose(
    states: np.ndarray,
    cards: np.ndarray,
    budget: int,
    key: np.uint64,
    what: int,
    n_shown: int,
    library: DeckLibrary,
    memory: MctsMemory,
) -> int:
    """`choose_action` for the only state of an array of shape (1,).

    `memory.hands.shown` holds `n_shown` cards of the opponent; `what` is their `engine.view.OpponentInfo`.
    """
    update_hand_model(states[0], what, n_shown, cards, library, memory.hands)
    action = choose_action(states[0], cards, budget, key, memory)
    memory.hands.n_decks[0] = 0
    return action


_LOCAL = threading.local()


def thread_memory() -> MctsMemory:
    """This thread's working memory; kernels run without the GIL, so threads must not share it."""
    if not hasattr(_LOCAL, "memory"):
        _LOCAL.memory = new_memory()
    memory: MctsMemory = _LOCAL.memory
    return memory


def play_batch(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,
    logs: np.ndarray,
    turns: np.ndarray,
    known: OpponentModelData | None = None,
) -> None:
    """Play a batch of games; see `rivals.batch.PlayBatch`."""
    rows = with_options(weights, 2)
    predicts = bool((rows[:, 1] == OpponentInfo.SEEN).any())
    dealt, table, further, _ = known or OpponentModelData(unknown_decks(len(states)))
    longer, library = table_and_library(cards, predicts, has_effects(cards), table, further)
    search = thread_memory(), keys, dealt, library
    play_games(longer, rows, agents, states, logs, search, turns)


class MctsAgent:
    """Plays the most visited action of an information-set Monte Carlo tree search.

    Args:
        budget: playouts per decision, 1 to `rivals.mcts.MAX_PLAYOUTS`.
        hands: model of the opponent's hand, a value of `ilp_agent.lookahead.HANDS`.
        further: decks in addition to the shipped ones, for deck prediction.

    Attributes:
        shown: cards of the opponent to reveal in addition to the view.
        library: decks for prediction with card effects; the game's table must hold their cards.
    """

    name = "mcts"

    def __init__(
        self, budget: int = 200, hands: int = OpponentInfo.NOTHING, further: Sequence[Deck] = ()
    ) -> None:
        self.budget, self.shown = budget, OpponentInfo(hands)
        self.further = tuple(further)
        self.library = class_decks(self.further) if self.shown == OpponentInfo.SEEN else ()

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:
        """Search the position in view; returns the most visited action."""
        position, memory = view.position, thread_memory()
        real = position.table.effects
        cards, library = table_and_library(
            position.table.array, bool(self.library), real, position.table, self.further
        )
        n_shown, what = copy_revealed_cards(view, memory.hands), int(self.shown)
        code = choose(position.states, cards, self.budget, key_of(rng), what, n_shown, library, memory)
        return Action.from_code(code)
