"""HearthSim's search: the best end of a turn over all sequences of plays and attacks.

Sequences that end the same way are tried once, so that the search is exhaustive over ends of turns and small:

- Plays without Charge or Rush and attacks on the hero take nothing away from the attacks on minions, so they
  come last: the best set of cards that mana and places allow, and a hero attack by every minion that still
  can. Only a minion that attacks twice may begin with the hero.
- Attacks of different minions on different enemies commute, within the enemies with Taunt and within the
  others: targets come in the order of the board, except for a minion that attacks twice, which may go back.
- Cards with Charge or Rush are played before the first attack, or once a death has freed a place.
- Sequences after which the same actions can follow share a node: the better one, among equals the first.

Nodes are numbered as they are found, fewer actions first, and the first of the best is played (scores that
differ by rounding are equal). The search ends at the first lethal turn, when nothing is left to try, or after
`rivals.hearthsim_node.BUDGET` nodes (the posts stop after 30 seconds): then the best so far is played.
"""

import numpy as np

from engine.codes import BOARD_SIZE, COIN, HERO, MAX_MANA, ActionKind, Death, Keyword
from engine.combat import guards, is_guarded, may_attack_hero
from engine.jit import njit
from engine.rules import apply_plain, encode
from ilp_agent.lookahead.features import ATTACK, ENEMY_HERO, HAND_MANA, HEALTH, SHIELD, read_counts
from ilp_agent.lookahead.features import HERO as OWN_HERO
from ilp_agent.lookahead.nodes import place_of
from rivals.hearthsim_node import SLOTS, Tree, attacks_on_hero, key_of
from rivals.hearthsim_plays import plays_at_the_end, read_hand, write_actions
from rivals.hearthsim_score import tie_of, weigh


@njit
def search_turn(
    state: np.void, cards: np.ndarray, weights: np.ndarray, tree: Tree, found: np.void, budget: int
) -> None:
    """Find the best turn from a position in which neither hero is dead.

    Args:
        state: dtype `STATE`; the active player plays.
        cards: the card table.
        weights: shape (`N_COUNTS`,), those of the heroes >= 0.
        tree: see `Tree`. Modified in place.
        found: dtype `SEARCHED`. Modified in place.
        budget: most nodes, 1 to `BUDGET`.
    """
    tree.clock[0] += 1
    tolerance = tie_of(weights)
    read_hand(state, cards, tree)
    tree.states[0] = state
    root = tree.nodes[0]
    root["parent"], root["action"] = -1, 0
    root["from_place"], root["last"], root["played"], root["attacked"] = 0, -1, 0, 0
    n, place, winner = 1, 0, 0
    found["score"], found["unproven"] = -np.inf, 0
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
            found["unproven"] = 1
            n = max(before, min(-n, budget))
        place += 1
    found["nodes"] = n
    write_actions(winner, cards, weights, tree, found)


@njit
def _end_score(state: np.void, cards: np.ndarray, weights: np.ndarray, node: np.void, tree: Tree) -> float:
    """S at the end of the turn after the best plays and attacks on the hero; infinite where it dies."""
    seat = state["active"]
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    counts = tree.counts
    read_counts(state, cards, seat, counts)
    if not is_guarded(enemy):
        health, dealt = own["health"], 0
        for slot in range(own["n_board"]):
            minion = own["board"][slot]
            for _ in range(attacks_on_hero(minion)):
                dealt += minion["attack"]
                if minion["keywords"] & Keyword.LIFESTEAL:
                    health = max(health, min(health + minion["attack"], own["max_health"]))
        if dealt >= counts[ENEMY_HERO]:
            return np.inf
        counts[ENEMY_HERO] -= dealt
        counts[OWN_HERO] += health - own["health"]
    hand = tree.hand[0]
    chosen = plays_at_the_end(state, cards, weights, node["played"], tree)
    root_hand = tree.states[0]["sides"][seat]["hand"]
    for number in range(hand["n"]):
        if chosen & (1 << number):
            card = cards[root_hand[hand["place"][number]]]
            counts[ATTACK] += card["attack"]
            counts[HEALTH] += card["health"]
            counts[HAND_MANA] -= card["cost"]
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
    ran_out = False
    if own["n_board"] < BOARD_SIZE and (not node["attacked"] or own["died"] > hand["died"]):
        n, ran_out = _expand_plays(place, n, cards, weights, tree, tolerance, budget)
    guarded = is_guarded(enemy)
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
            deaths = apply_plain(tree.states[n], cards, action)
            then = tree.nodes[n]
            then["parent"], then["action"] = place, action
            then["played"], then["attacked"] = node["played"], 1
            child = tree.states[n]
            lives = not deaths & Death.ATTACKER
            # Dead, its place may hold another.
            again = lives and child["sides"][child["active"]]["board"][slot]["attacks_left"] > 0
            then["last"] = slot if again else -1
            passed = guarded and not is_guarded(child["sides"][1 - child["active"]])
            then["from_place"] = 0 if passed else target
            n = _keep(place, n, cards, weights, tree, tolerance)
    return -n if ran_out else n


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
            held = own["n_hand"] > 0 and hand["coin"] >= 0 and place_of(own, COIN) >= 0
            if not (paid and held and own["mana"] < MAX_MANA):
                continue
            action = encode(ActionKind.PLAY, place_of(own, COIN), 0)
        else:
            card = root_hand[hand["place"][number]]
            if not (hand["strikers"] & ~node["played"]) & (1 << number):
                continue
            if cards[card]["cost"] > own["mana"]:
                paid = paid or cards[card]["cost"] == own["mana"] + 1
                continue
            paid = True  # with The Coin there may be mana for one more
            action = encode(ActionKind.PLAY, place_of(own, card), 0)
        if n == budget:
            return n, True
        tree.states[n] = state
        apply_plain(tree.states[n], cards, action)
        then = tree.nodes[n]
        then["parent"], then["action"] = place, action
        then["played"] = node["played"] if coin else node["played"] | (1 << number)
        then["attacked"], then["last"], then["from_place"] = node["attacked"], node["last"], 0
        n = _keep(place, n, cards, weights, tree, tolerance)
    return n, False


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
    node["key"] = key_of(state, node, tree.hand[0])
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
