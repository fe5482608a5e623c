"""The turn of an agent that looks ahead: different ends, each judged by what follows it; compiled."""

import numpy as np

from engine.jit import njit_borrowing
from engine.streams import derive
from engine.view import hide
from ilp_agent.exact.kernel import solve_turn
from ilp_agent.exact.tracker import follow
from ilp_agent.lookahead.explore import draw_end
from ilp_agent.lookahead.judge import AFTER_REPLY, LOST, WON, Memory, judge, keep_features
from ilp_agent.lookahead.pool import find_ends, write_actions
from ilp_agent.lookahead.records import MAX_NODES
from ilp_agent.lookahead.unseen import order_deck, stream_of
from ilp_agent.lookahead.weights import BUDGET, DEPTH, SAMPLES, TURN_PART
from ilp_agent.turnrecord import read_turn


@njit_borrowing
def choose_turn(
    state: np.void, cards: np.ndarray, row: np.ndarray, explore: int, key: np.uint64, memory: Memory
) -> None:
    """Choose the actions of a turn of bodies. What is chosen is left in `memory.plan`.

    The best plan of the turn program is played where it kills the enemy hero, or where one end is all the
    budget allows. Else the end that is worth most is; among equals that of the higher objective, then the
    first found.

    Args:
        state: dtype `STATE`, not over; the active player plays. Left as it is; hidden cards are not read.
        cards: the card table.
        row: weights as `ilp_agent.lookahead.weights.kernel_rows` makes them, then options.
        explore: chance that an end is drawn at random in place of the best, in millionths.
        key: stream of that draw; nothing else depends on it.
        memory: modified in place: `leaf` holds the features of the position that the chosen end leads to,
            where `judged` is above 0. The plan's turn goes on after its actions where an enemy with Lifesteal
            healed its hero. `hands` say what the opponent may hold (`hands.foresee`); each end is then judged
            on several of them, the same for all ends.
    """
    seat, depth, pool = state["active"], int(row[DEPTH]), memory.pool
    memory.here[0] = state
    here = memory.here[0]
    hide(here, cards, seat)
    order_deck(here["sides"][seat], cards, memory.deck_keys)
    chosen = memory.plan[0]
    memory.judged[0], chosen["again"], chosen["unproven"] = 0, 0, 0
    turn, plan = memory.turns[0], memory.plans[0]
    read_turn(here, cards, turn)
    solve_turn(turn, row[TURN_PART], memory.works[0], memory.layers, plan)
    if plan["lethal"] or row[BUDGET] <= 1.0:
        tracker = memory.trackers[0]
        n, again = follow(here, cards, turn, plan, tracker, memory.luck[0], chosen["actions"])
        chosen["n"] = n
        chosen["again"] = 1 if again else 0
        return
    found = find_ends(here, cards, row[TURN_PART], int(row[BUDGET]), MAX_NODES, False, pool)
    drawn = draw_end(explore, key, found)
    stream = stream_of(here)
    samples = 1
    if memory.hands.n_decks[0] > 0 and depth >= AFTER_REPLY:
        samples = max(1, int(row[SAMPLES]))
    best, most = -1, 0.0
    for number in range(found):
        if drawn >= 0 and number != drawn:
            continue
        worth = 0.0
        for sample in range(samples):
            luck = stream if sample == 0 else derive(stream, sample)
            memory.then[0] = pool.end_states[number]
            worth += judge(memory.then[0], cards, row, seat, depth, luck, memory) / samples
        memory.judged[0] += 1
        if (
            best < 0
            or worth > most
            or (worth == most and pool.ends[number]["value"] > pool.ends[best]["value"])
        ):
            best, most = number, worth
            keep_features(memory.features, memory.leaf)
    if not LOST < most < WON:
        memory.judged[0] = 0
    elif memory.judged[0] > 0:
        chosen["unproven"] = pool.unproven[0]
    chosen["n"] = write_actions(best, cards, pool, chosen["actions"])
