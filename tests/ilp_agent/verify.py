"""Self-play in which every step of every plan is checked: legal in the engine, and true at the end."""

import numba
import numpy as np

from engine.codes import HERO, MAX_ACTIONS, ActionKind, Outcome
from engine.rules import apply, encode, legal_actions, outcome
from engine.state import EVENTS, STATE, new_game
from ilp_agent.exact.kernel import solve_exact_turn
from ilp_agent.exact.plan_record import PLAN, TRACKER, StepKind, apply_step, begin_tracking
from ilp_agent.exact.work import MAX_LAYERS, PREALLOCATED_STATES, WORK
from ilp_agent.turn import TURN, read_turn

ILLEGAL, UNTRUE, TURNS, AGAIN, UNPROVEN = 0, 1, 2, 3, 4


@numba.njit
def check_games(cards, decks, rules, weights, agents, deck_numbers, keys, counts, problems):
    """Play games like `ilp_agent.selfplay.play_exact_games`, counting faults; keeps the turns in `problems`.

    `counts` holds illegal steps, plans that did not come true, turns, turns solved again, unproven plans.
    """
    states = np.zeros(2, STATE)
    turns = np.zeros(1, TURN)
    plans = np.zeros(1, PLAN)
    works = np.zeros(1, WORK)
    trackers, events = np.zeros(1, TRACKER), np.zeros(1, EVENTS)
    layers = np.empty((MAX_LAYERS, 2, PREALLOCATED_STATES), np.float64)
    actions = np.empty(MAX_ACTIONS, np.int64)
    for game in range(len(keys)):
        state, turn, plan, work, tracker = states[0], turns[0], plans[0], works[0], trackers[0]
        first, second = deck_numbers[game]
        new_game(state, cards, decks[first], decks[second], rules, keys[game])
        while outcome(state) == Outcome.ONGOING:
            seat = state["active"]
            read_turn(state, cards, turn)
            solve_exact_turn(turn, weights[agents[game, seat]], work, layers, plan)
            counts[UNPROVEN] += plan["unproven"]
            if counts[TURNS] < len(problems):
                problems[counts[TURNS]] = turn
            counts[TURNS] += 1
            begin_tracking(turn, tracker)
            own, enemy = state["sides"][seat], state["sides"][1 - seat]
            hero = turn["hero"]
            died, lost = enemy["died"], own["died"]
            healed = False
            for step in range(plan["n_steps"]):
                states[1] = state
                action = apply_step(state, cards, plan, step, tracker, events[0])
                n = legal_actions(states[1], cards, actions)
                legal = False
                for a in range(n):
                    legal = legal or actions[a] == action
                if not legal:
                    counts[ILLEGAL] += 1
                if plan["kind"][step] == StepKind.ATTACK and plan["target"][step] == HERO:
                    hero -= turn["friends"][plan["source"][step]]["attack"]
                if outcome(state) == Outcome.ONGOING and enemy["health"] + enemy["armour"] != hero:
                    healed = True
                    break
            if healed:
                counts[AGAIN] += 1
                continue
            killed = 0
            for place in range(turn["n_enemies"]):
                killed += plan["killed"][place]
            gone = 0
            for friend in range(turn["n_board"] + turn["n_hand"]):
                gone += plan["lost"][friend]
            true = (
                enemy["died"] - died == killed
                and own["died"] - lost == gone
                and turn["hero"] - enemy["health"] - enemy["armour"] == plan["damage"]
                and own["mana"] == plan["mana"]
                and (enemy["health"] <= 0) == (plan["lethal"] == 1)
                and (enemy["n_board"] == 0) == (plan["cleared"] == 1)
            )
            if not true:
                counts[UNTRUE] += 1
            if outcome(state) == Outcome.ONGOING:
                apply(state, cards, encode(ActionKind.END_TURN, 0, 0), events[0])
