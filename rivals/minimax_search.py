"""The turn of the minimax player: its best action chains, each judged after the opponent's answer; compiled.

Source: Dash, Handali and Jia, "Do Androids Dream Of Explosive Sheep?", section 4.3. An action of its
minimax is a whole chain, up to the end of the turn, and "we decided to prune and only explore the 3
best/worst action chains respectively": the player follows the best by the value at their end, the opponent
those that are worst for the player. Depth counts the turns, with the own one; at 2, where the answer is
judged at once, the worst of the opponent's three worst is the worst of all. (Read to the letter its
recurrence has four turns at depth 2.)

What the opponent holds is hidden: it answers with its board, its weapon and its hero power, and with a hand
that is drawn for the turn where something is said of it (`ilp_agent.lookahead.hands`). Of the end of
the own turn what chance decides falls out in one way, which is imagined (`engine.effects.chance.imagine`).
"""

from typing import NamedTuple

import numpy as np

from engine.batches import game_loop
from engine.codes import ActionKind, Outcome
from engine.effects.chance import imaginable, imagine, think
from engine.events import EVENTS
from engine.jit import njit, njit_borrowing
from engine.rules import apply, encode, outcome
from engine.state import STATE
from engine.streams import derive
from engine.view import hide
from ilp_agent.lookahead.hands import Hands, foresee, hold_hand, look_at, new_hands
from ilp_agent.lookahead.library import Library
from ilp_agent.lookahead.unseen import stream_of
from rivals.minimax_chains import BY_CHANCE, MOST_STEPS, Chains, find_chains, new_chains, pick_best
from rivals.minimax_features import N_FEATURES, WON, value_of

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
