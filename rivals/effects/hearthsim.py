"""HearthSim with real cards: the best sequence of actions, found on the engine's own positions.

Source: beside those of `rivals.hearthsim` the posts "Direct damage spells" (the worth of a spell held) and
"Modeling Unpredictable Outcomes" (stop nodes). What chance decides ends a sequence: its score is the mean
over what can fall out. A card that is drawn counts as the mean of the cards in the own deck, whose order
nobody knows. Once such an action is played the rest of the turn is searched anew.

Nodes are positions, in the order in which they are found, fewer actions first; positions with the same future
(`engine.effects.futures`) are one. The first of the best is played, at the latest after `BUDGET` nodes.
"""

from typing import NamedTuple

import numpy as np

from engine import Outcome
from engine.codes import MAX_ACTIONS, ActionKind
from engine.effects.chance import draw_for, imaginable, imagine, think
from engine.effects.futures import future_key
from engine.events import EVENTS
from engine.jit import njit
from engine.rules import apply, decode, encode, legal_actions, outcome
from engine.state import STATE
from engine.view import hide
from ilp_agent.lookahead.features import N_CARD_COUNTS
from ilp_agent.search.keys import twin_before
from rivals.effects.hearthsim_score import score_position, value_of_draw
from rivals.hearthsim_node import BUDGET, MAX_STEPS, SEARCHED, SLOTS
from rivals.hearthsim_score import tie_of

NODE = np.dtype(
    [
        ("key", "u8"),  # of `future_key`
        ("value", "f8"),  # S if the turn ended here
        ("parent", "i4"),  # node it comes from
        ("action", "i4"),  # by this action (`engine.rules.encode`)
        ("open", "i2"),  # 1: what follows it cannot be known before it is played
        ("stop", "i2"),  # 1: chance decides it, and no node follows
    ]
)
"""A node: a position within the turn."""


class CardTree(NamedTuple):
    """Memory of searches, one for each thread. Modified in place."""

    states: np.ndarray
    nodes: np.ndarray
    slots: np.ndarray
    """Node by key; open addressing."""
    stamps: np.ndarray
    """Search a place of `slots` was last used in."""
    clock: np.ndarray
    """Number of the search, shape (1,)."""
    actions: np.ndarray
    counts: np.ndarray
    outcomes: np.ndarray
    """A position after an action that chance decides, shape (1,)."""
    thought: np.ndarray


@njit
def new_card_tree() -> CardTree:
    """Memory for searches; some tens of megabytes that are touched as searches need them."""
    return CardTree(
        np.empty(BUDGET, STATE),
        np.empty(BUDGET, NODE),
        np.empty(SLOTS, np.int32),
        np.zeros(SLOTS, np.int64),
        np.zeros(1, np.int64),
        np.empty(MAX_ACTIONS, np.int64),
        np.zeros(N_CARD_COUNTS, np.int64),
        np.zeros(1, STATE),
        np.zeros(1, EVENTS),
    )


@njit
def search_turn(
    state: np.void, cards: np.ndarray, weights: np.ndarray, tree: CardTree, found: np.void, budget: int
) -> int:
    """Find the best actions from a position in which neither hero is dead.

    Args:
        state: dtype `STATE`, of a game with effects; the active player plays.
        cards: the card table.
        weights: in the order of the fields of `HearthSimWeights`.
        tree: see `CardTree`. Modified in place.
        found: dtype `SEARCHED`. Modified in place; its actions end with the first after which to search anew.
        budget: most nodes, 1 to `BUDGET`.

    Returns:
        Whether to search anew once these actions are played; else the turn ends with them.
    """
    seat = state["active"]
    tree.clock[0] += 1
    tolerance = tie_of(weights)
    drawn = value_of_draw(state, cards, seat, weights)
    tree.states[0] = state
    hide(tree.states[0], cards, seat)
    root = tree.nodes[0]
    root["parent"], root["action"], root["open"], root["stop"] = -1, 0, 0, 0
    root["value"] = score_position(state, cards, seat, weights, drawn, tree.counts)
    root["key"] = future_key(state, cards)
    _is_new(0, tree)
    n, place, winner = 1, 0, 0
    found["score"], found["unproven"] = root["value"], 0
    if state["n_options"] > 0:  # something has to be chosen before all else
        found["score"] = -np.inf
        root["value"] = -np.inf
    while place < n:
        node = tree.nodes[place]
        if node["value"] > found["score"] + tolerance:
            found["score"] = node["value"]
            winner = place
            if node["value"] == np.inf:
                break
        if not node["stop"]:
            n = _expand(place, n, cards, weights, drawn, tree, budget)
            if n < 0:
                found["unproven"] = 1
                n = -n
        place += 1
    found["nodes"] = n
    return _write_actions(winner, tree, found)


@njit
def _expand(
    place: int, n: int, cards: np.ndarray, weights: np.ndarray, drawn: float, tree: CardTree, budget: int
) -> int:
    """Add all that can follow a node; the number of nodes then, negative where the budget ran out."""
    state = tree.states[place]
    seat = state["active"]
    thought = tree.thought[0]
    n_actions = legal_actions(state, cards, tree.actions)
    choices = state["n_options"]
    for number in range(choices if choices > 0 else n_actions - 1):
        action = tree.actions[number]
        kind, source, _ = decode(action)
        if kind == ActionKind.PLAY and twin_before(state["sides"][seat], source):
            continue
        if n == budget:
            return -n
        child, node = tree.states[n], tree.nodes[n]
        think(thought)
        tree.states[n] = state
        apply(child, cards, action, thought)
        node["parent"], node["action"] = place, action
        node["stop"] = 1 if thought["waiting"] else 0
        if thought["waiting"]:
            node["open"] = 1
            node["value"] = _mean_score(state, cards, action, weights, drawn, tree)
            n += 1
            continue
        node["value"] = score_position(child, cards, seat, weights, drawn, tree.counts)
        node["open"] = 1 if child["n_options"] > 0 else 0
        node["stop"] = node["open"]
        if thought["unsure"] or state["sides"][1 - seat]["n_secrets"] > 0:
            node["open"] = 1  # cards will be offered, or a Secret may be revealed
        for who in range(2):
            if child["sides"][who]["n_deck"] != state["sides"][who]["n_deck"]:
                node["open"] = 1
        node["key"] = future_key(child, cards)
        if _is_new(n, tree):
            n += 1
    return n


@njit
def _mean_score(
    state: np.void, cards: np.ndarray, action: int, weights: np.ndarray, drawn: float, tree: CardTree
) -> float:
    """The mean score over what can fall out; a won or lost game counts `MOST` there."""
    seat = state["active"]
    thought, after = tree.thought[0], tree.outcomes[0]
    first, n = thought["waiting"], imaginable(thought)
    total = 0.0
    for number in range(n):
        imagine(thought, state, number, first)
        tree.outcomes[0] = state
        apply(after, cards, action, thought)
        score = score_position(after, cards, seat, weights, drawn, tree.counts)
        total += min(max(score, -MOST), MOST)
    return total / n


MOST = 1e9
"""What a won game counts where it is one of several outcomes; minus as much a lost one."""


@njit
def _is_new(n: int, tree: CardTree) -> bool:
    """Whether no node of this search has the key of the node `n`; then it is remembered."""
    key = tree.nodes[n]["key"]
    slot = np.int64(key & np.uint64(SLOTS - 1))
    while tree.stamps[slot] == tree.clock[0]:
        if tree.nodes[tree.slots[slot]]["key"] == key:
            return False
        slot = (slot + 1) & (SLOTS - 1)
    tree.stamps[slot] = tree.clock[0]
    tree.slots[slot] = n
    return True


@njit
def _write_actions(winner: int, tree: CardTree, found: np.void) -> int:
    """Write the actions to a node, up to the first after which to search anew; 1 if there is one."""
    found["n"] = 0
    place = winner
    while place > 0:
        found["n"] += 1
        place = tree.nodes[place]["parent"]
    place, again = winner, 0
    for step in range(found["n"] - 1, -1, -1):
        found["actions"][step] = tree.nodes[place]["action"]
        if tree.nodes[place]["open"]:
            again = 1
            found["n"] = step + 1
        place = tree.nodes[place]["parent"]
    return again


@njit
def play_turns(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    chances: np.ndarray,
    tree: CardTree,
    use: np.ndarray,
    budget: int,
) -> None:
    """Play each game on while an agent of this kind is to move.

    Args:
        cards: the card table, dtype `engine.state.CARD`.
        weights: shape (agents, weights), further ones too.
        agents: shape (games, 2) integers into `weights`; -1 for another kind of agent.
        states: dtype `STATE`, shape (games,). Modified in place.
        chances: uint64, shape (games,): streams of the games' chance.
        tree: memory of searches. Modified in place.
        use: dtype `rivals.hearthsim.USE`, shape (games,). Added to in place.
        budget: most nodes of a search, 1 to `BUDGET`.
    """
    founds, played = np.zeros(1, SEARCHED), np.zeros(1, EVENTS)
    for game in range(len(states)):
        state, found = states[game], founds[0]
        draw_for(played[0], state, chances[game])
        while outcome(state) == Outcome.ONGOING and agents[game, state["active"]] >= 0:
            own = weights[agents[game, state["active"]]]
            again = search_turn(state, cards, own, tree, found, budget)
            use[game]["turns"] += 1
            use[game]["nodes"] += found["nodes"]
            use[game]["unproven"] += found["unproven"]
            for step in range(found["n"]):
                apply(state, cards, found["actions"][step], played[0])
            if not again and outcome(state) == Outcome.ONGOING:
                apply(state, cards, encode(ActionKind.END_TURN, 0, 0), played[0])


@njit
def plan_turn(
    states: np.ndarray,
    cards: np.ndarray,
    weights: np.ndarray,
    tree: CardTree,
    founds: np.ndarray,
    steps: np.ndarray,
    budget: int,
) -> int:
    """Search from the only state of an array of shape (1,); 1 where to search anew after the actions found.

    `tree`, `founds` (dtype `SEARCHED`, shape (1,)) and `steps` (dtype `STATE`, shape (`MAX_STEPS`,)) are
    modified in place; the latter hold the position before each action, and the one after the last if it can
    be known.
    """
    found = founds[0]
    again = search_turn(states[0], cards, weights, tree, found, budget)
    steps[0] = states[0]
    for step in range(found["n"]):
        steps[step + 1] = steps[step]
        think(tree.thought[0])
        apply(steps[step + 1], cards, found["actions"][step], tree.thought[0])
    return again


assert MAX_STEPS < MAX_ACTIONS
