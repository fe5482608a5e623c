"""The best over every legal sequence of actions, tried one by one through the engine's own rules.

Independent of the solvers: it uses positions, actions and the objective's terms, not hits or orders.
"""

import numba
import numpy as np

from engine.codes import COIN, HERO, MAX_ACTIONS, ActionKind
from engine.rules import apply, decode, legal_actions
from engine.state import EVENTS, STATE
from ilp_agent.weights import Term

MAX_DEPTH = 24


@numba.njit
def final_terms(state, cards, start_health, weights, hero_alive, friends):
    """What counts of the last position of a sequence: lethal, clear, threat, survive, body, wound."""
    own = state["sides"][state["active"]]
    enemy = state["sides"][1 - state["active"]]
    value = 0.0 if hero_alive else weights[Term.LETHAL]
    if enemy["n_board"] == 0:
        value += weights[Term.CLEAR]
    for slot in range(enemy["n_board"]):
        value -= weights[Term.THREAT] * enemy["board"][slot]["attack"]
        value -= weights[Term.WOUND] * enemy["board"][slot]["health"]
    for slot in range(own["n_board"]):
        # Every friendly minion is a different card, so its number identifies it.
        value += weights[Term.SURVIVE] * start_health[own["board"][slot]["card"]]
        value += weights[Term.BODY] * (own["board"][slot]["attack"] + own["board"][slot]["health"])
    return value


@numba.njit
def brute_force(start, cards, start_health, weights, limit):
    """Value of the best sequence, and the number tried; -1 if there are more than `limit`."""
    states = np.zeros(MAX_DEPTH + 1, STATE)
    actions = np.empty((MAX_DEPTH + 1, MAX_ACTIONS), np.int64)
    counts, events = np.zeros(MAX_DEPTH + 1, np.int64), np.zeros(1, EVENTS)
    following = np.zeros(MAX_DEPTH + 1, np.int64)
    gained = np.zeros(MAX_DEPTH + 1, np.float64)
    states[0] = start
    base = 0.0
    for slot in range(start["sides"][start["active"]]["n_board"]):
        minion = start["sides"][start["active"]]["board"][slot]
        base -= weights[Term.BODY] * (minion["attack"] + minion["health"])
    for slot in range(start["sides"][1 - start["active"]]["n_board"]):
        base += weights[Term.WOUND] * start["sides"][1 - start["active"]]["board"][slot]["health"]
    gained[0] = base
    counts[0] = legal_actions(states[0], cards, actions[0])
    best = -1e300
    tried = 0
    level = 0
    enter = True
    while level >= 0:
        state = states[level]
        enemy = state["sides"][1 - state["active"]]
        if enter:
            tried += 1
            if tried > limit:
                return best, -1
            alive = enemy["health"] > 0
            best = max(best, gained[level] + final_terms(state, cards, start_health, weights, alive, 0))
        if following[level] == counts[level]:
            level -= 1
            enter = False
            continue
        action = actions[level, following[level]]
        following[level] += 1
        kind, source, target = decode(action)
        if kind == ActionKind.END_TURN:
            enter = False
            continue
        gain = 0.0
        own = state["sides"][state["active"]]
        if kind == ActionKind.PLAY:
            number = own["hand"][source]
            if number != COIN:
                gain = weights[Term.PLAY] * cards[number]["value"]
                gain -= weights[Term.BODY] * (cards[number]["attack"] + cards[number]["health"])
        else:
            attack = own["board"][source]["attack"]
            if target == HERO:
                gain = weights[Term.FACE] * attack
            else:
                gain = weights[Term.DAMAGE] * attack - weights[Term.TRADE] * enemy["board"][target]["attack"]
        states[level + 1] = state
        apply(states[level + 1], cards, action, events[0])
        gained[level + 1] = gained[level] + gain
        level += 1
        counts[level] = legal_actions(states[level], cards, actions[level])
        following[level] = 0
        enter = True
    return best, tried
