"""One turn's decision problem as a flat record for kernels: who can act, on whom, and at what cost."""

import numpy as np

from engine.codes import BOARD_SIZE, COIN, HAND_SIZE, Keyword
from engine.combat import may_attack_hero
from engine.jit import njit

MAX_FRIENDS = BOARD_SIZE + HAND_SIZE
"""Friendly minions of a turn: those on board, then those in hand."""

MAX_HITS_EACH = 2
"""Most attacks of one minion in a turn."""

MAX_HITS = MAX_HITS_EACH * BOARD_SIZE
"""Most attacks of a turn."""

FRIEND_BITS = (MAX_FRIENDS - 1).bit_length()
"""Width of a friend's number in packed keys."""

FRIEND = np.dtype(
    [
        ("attack", "i2"),  # A, >= 0
        ("health", "i2"),  # health now; 0 once dead within a turn
        ("survival", "i2"),  # B, health at the start of the turn: what its survival counts; 0 once dead
        ("cost", "i2"),  # C, mana; 0 for minions on board
        ("keywords", "i2"),  # bits of Keyword
        ("attacks", "i2"),  # attacks it can make this turn once on board: 0 to 2
        ("hits_hero", "i2"),  # 1 where those attacks may be on the hero
        ("barred", "i2"),  # bits of the enemies it must not attack (TurnProblem.barred); 0 in a game
        ("value", "f8"),  # S, >= 0
    ]
)
"""A minion of the player to move."""

ENEMY = np.dtype(
    [
        ("attack", "i2"),  # P, >= 0
        ("health", "i2"),  # Q; 0 once dead within a turn
        ("keywords", "i2"),  # bits of Keyword
    ]
)
"""A minion of the opponent."""

TURN = np.dtype(
    [
        ("n_board", "i2"),  # m, 0 to 7
        ("n_hand", "i2"),  # h, minions in hand, 0 to 10
        ("n_enemies", "i2"),  # n, 0 to 7
        ("mana", "i2"),  # M, 0 to 10
        ("coin", "i2"),  # 1 with The Coin in hand
        ("freed", "i2"),  # places freed by deaths on board earlier in the turn; 0 at its start
        ("hero", "i2"),  # H, enemy hero's health plus armour, >= 1
        ("friends", FRIEND, (MAX_FRIENDS,)),  # n_board on board, then n_hand in hand
        ("enemies", ENEMY, (BOARD_SIZE,)),
    ]
)
"""All that one turn's plan depends on."""


@njit
def attacks_on_arrival(attack: int, keywords: int) -> int:
    """Attacks a minion can make on the turn it is played: none without Charge or Rush, or with attack 0."""
    if attack == 0 or not keywords & (Keyword.CHARGE | Keyword.RUSH):
        return 0
    return 2 if keywords & Keyword.WINDFURY else 1


@njit
def read_turn(state: np.void, cards: np.ndarray, turn: np.void) -> None:
    """Fill `turn` from a game's state, as the player to move sees it. `turn` is modified in place.

    Args:
        state: dtype `engine.state.STATE`.
        cards: the card table, dtype `engine.state.CARD`.
        turn: dtype `TURN`.
    """
    own = state["sides"][state["active"]]
    enemy = state["sides"][1 - state["active"]]
    turn["n_board"] = own["n_board"]
    turn["n_enemies"] = enemy["n_board"]
    turn["mana"] = own["mana"]
    turn["hero"] = enemy["health"] + enemy["armour"]
    turn["coin"] = 0
    turn["freed"] = 0
    for slot in range(own["n_board"]):
        minion = own["board"][slot]
        friend = turn["friends"][slot]
        friend["attack"] = minion["attack"]
        friend["health"] = minion["health"]
        friend["survival"] = minion["health"]
        friend["cost"] = 0
        friend["keywords"] = minion["keywords"]
        friend["attacks"] = minion["attacks_left"] if minion["attack"] > 0 else 0
        friend["hits_hero"] = may_attack_hero(minion)
        friend["barred"] = 0
        friend["value"] = cards[minion["card"]]["value"]
    n = own["n_board"]
    for place in range(own["n_hand"]):
        number = own["hand"][place]
        if number == COIN:
            turn["coin"] = 1
            continue
        card = cards[number]
        friend = turn["friends"][n]
        friend["attack"] = card["attack"]
        friend["health"] = card["health"]
        friend["survival"] = card["health"]
        friend["cost"] = card["cost"]
        friend["keywords"] = card["keywords"]
        friend["attacks"] = attacks_on_arrival(card["attack"], card["keywords"])
        friend["hits_hero"] = (card["keywords"] & Keyword.CHARGE) != 0
        friend["barred"] = 0
        friend["value"] = card["value"]
        n += 1
    turn["n_hand"] = n - own["n_board"]
    for slot in range(enemy["n_board"]):
        minion = enemy["board"][slot]
        turn["enemies"][slot]["attack"] = minion["attack"]
        turn["enemies"][slot]["health"] = minion["health"]
        turn["enemies"][slot]["keywords"] = minion["keywords"]
