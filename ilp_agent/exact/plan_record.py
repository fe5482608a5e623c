"""A plan as a flat record for kernels, and as engine actions with board positions tracked.

A plan speaks of minions by their places at the start of the turn, and of cards by their number in hand
without The Coin. The engine wants present places. A tracker knows who stands where now.
"""

from enum import IntEnum

import numpy as np

from engine.codes import BOARD_SIZE, COIN, HAND_SIZE, HERO, ActionKind, Death, Outcome
from engine.jit import njit
from engine.rules import apply, decode, encode, outcome
from ilp_agent.plan import Attack, PlanAction, Play, PlayCoin, ProblemPlan, Status, terms_of
from ilp_agent.problem import TurnProblem
from ilp_agent.turn import MAX_FRIENDS, MAX_HITS
from ilp_agent.weights import N_TERMS, Weights


class StepKind(IntEnum):
    """What a step of a plan does: play The Coin, play hand minion `source`, attack `target` with `source`."""

    COIN = 0
    PLAY = 1
    ATTACK = 2


MAX_STEPS = MAX_HITS + HAND_SIZE + 1

PLAN = np.dtype(
    [
        ("n_steps", "i2"),  # steps of the plan
        ("unproven", "i2"),  # 1: its optimum was not proven (`ilp_agent.exact.kernel`)
        ("kind", "i2", (MAX_STEPS,)),  # a StepKind
        ("source", "i2", (MAX_STEPS,)),  # hand number of a play; friend of an attack
        ("target", "i2", (MAX_STEPS,)),  # enemy place or HERO
        ("lethal", "i2"),  # 1: the enemy hero dies
        ("cleared", "i2"),  # 1: the enemy board is empty afterwards
        ("killed", "i2", (BOARD_SIZE,)),  # 1: enemy dies
        ("lost", "i2", (MAX_FRIENDS,)),  # 1: friend dies
        ("damage", "i2"),  # damage to the enemy hero
        ("mana", "i2"),  # mana left
        ("terms", "f8", (N_TERMS,)),  # the signed weighted terms of the objective, indexed by Term
        ("value", "f8"),  # their sum
    ]
)
"""A plan and what it predicts."""


def plan_of(problem: TurnProblem, record: np.void, status: Status, weights: Weights) -> ProblemPlan:
    """A plan from a record of dtype `PLAN`, made with these weights."""
    friends = len(problem.friendly) + len(problem.hand)
    return ProblemPlan(
        status,
        float(record["value"]),
        terms_of(record["terms"], weights),
        tuple(_action(record, step) for step in range(record["n_steps"])),
        bool(record["lethal"]),
        bool(record["cleared"]),
        tuple(place for place in range(len(problem.enemy)) if record["killed"][place]),
        tuple(place for place in range(friends) if record["lost"][place]),
        int(record["damage"]),
        int(record["mana"]),
    )


def _action(record: np.void, step: int) -> PlanAction:
    if record["kind"][step] == StepKind.COIN:
        return PlayCoin()
    if record["kind"][step] == StepKind.ATTACK:
        return Attack(int(record["source"][step]), int(record["target"][step]))
    return Play(int(record["source"][step]))


def step_of(action: PlanAction) -> tuple[int, int, int]:
    """An action as a step of a PLAN record: kind (`StepKind`), source and target."""
    if isinstance(action, Attack):
        return StepKind.ATTACK, action.attacker, action.target
    if isinstance(action, Play):
        return StepKind.PLAY, action.hand, 0
    return StepKind.COIN, 0, 0


GONE = -1
"""In place of an action whose attacker, target or card is not there any more."""

TRACKER = np.dtype(
    [
        (
            "n_start",
            "i2",
        ),  # friends on board at the start of the turn; a played card's friend comes after them
        ("n_friends", "i2"),  # friends on board now
        ("n_enemies", "i2"),  # enemies on board now
        ("n_hand", "i2"),  # minions in hand now
        ("friends", "i2", (BOARD_SIZE,)),  # friend at each present place
        ("enemies", "i2", (BOARD_SIZE,)),  # enemy at each present place
        ("hand", "i2", (HAND_SIZE,)),  # hand number at each present place, The Coin left out
    ]
)
"""Who stands where."""


@njit
def begin_tracking(turn: np.void, tracker: np.void) -> None:
    """Note who stands where at the start of a turn. `tracker` is modified in place."""
    tracker["n_start"] = turn["n_board"]
    tracker["n_friends"] = turn["n_board"]
    tracker["n_enemies"] = turn["n_enemies"]
    tracker["n_hand"] = turn["n_hand"]
    for place in range(BOARD_SIZE):
        tracker["friends"][place] = place
        tracker["enemies"][place] = place
    for place in range(HAND_SIZE):
        tracker["hand"][place] = place


@njit
def present_action(state: np.void, tracker: np.void, kind: int, source: int, target: int) -> int:
    """A step of a plan as the engine's action (`engine.rules.encode`), or `GONE`.

    Args:
        state: the position, dtype `engine.state.STATE`.
        tracker: dtype `TRACKER`.
        kind: of the step, a `StepKind`.
        source: hand number of a play, friend of an attack.
        target: of an attack: enemy or `HERO`.
    """
    if kind == StepKind.ATTACK:
        slot = _place_of(tracker["friends"], tracker["n_friends"], source)
        aim = HERO if target == HERO else _place_of(tracker["enemies"], tracker["n_enemies"], target)
        return GONE if min(slot, aim) == GONE else encode(ActionKind.ATTACK, slot, aim)
    coin = _coin_place(state["sides"][state["active"]])
    if kind == StepKind.COIN:
        return GONE if coin == GONE else encode(ActionKind.PLAY, coin, 0)
    place = _place_of(tracker["hand"], tracker["n_hand"], source)
    if place == GONE:
        return GONE
    return encode(ActionKind.PLAY, place + (1 if coin != GONE and place >= coin else 0), 0)


@njit
def note_done(tracker: np.void, kind: int, source: int, action: int, deaths: int) -> None:
    """Note that a step was carried out. `tracker` is modified in place.

    Args:
        tracker: dtype `TRACKER`.
        kind: of the step, a `StepKind`.
        source: hand number of a play.
        action: what `present_action` made of the step.
        deaths: what `engine.rules.apply` returned.
    """
    if kind == StepKind.PLAY:
        _take_out(tracker["hand"], _place_of(tracker["hand"], tracker["n_hand"], source))
        tracker["n_hand"] -= 1
        tracker["friends"][tracker["n_friends"]] = tracker["n_start"] + source
        tracker["n_friends"] += 1
        return
    _, slot, aim = decode(action)
    if deaths & Death.ATTACKER:
        _take_out(tracker["friends"], slot)
        tracker["n_friends"] -= 1
    if deaths & Death.DEFENDER:
        _take_out(tracker["enemies"], aim)
        tracker["n_enemies"] -= 1


@njit
def apply_step(
    state: np.void, cards: np.ndarray, plan: np.void, step: int, tracker: np.void, luck: np.void
) -> int:
    """Carry out one step of a plan that comes true; returns it as the engine's action.

    `state`, `tracker` and `luck`, dtype `EVENTS`, are modified in place.
    """
    kind, source = plan["kind"][step], plan["source"][step]
    action = present_action(state, tracker, kind, source, plan["target"][step])
    deaths = apply(state, cards, action, luck)
    note_done(tracker, kind, source, action, deaths)
    return action


@njit
def follow(
    state: np.void,
    cards: np.ndarray,
    turn: np.void,
    plan: np.void,
    tracker: np.void,
    luck: np.void,
    codes: np.ndarray,
) -> tuple[int, bool]:
    """Carry a plan out, step by step.

    Args:
        state: where it begins, dtype `engine.state.STATE`. This and the last three are modified in place.
        cards: the card table.
        turn: of the plan, dtype `TURN`.
        plan: dtype `PLAN`.
        tracker: dtype `TRACKER`.
        luck: dtype `EVENTS`.
        codes: integers, shape (at least `MAX_STEPS`,): its actions, as `engine.rules.encode` packs them.

    Returns:
        How many actions were carried out, and whether that stopped because a hero's health is not what was
        predicted: an enemy with Lifesteal that was attacked healed its hero, which the turn program does not
        see. The rest has to be solved again.
    """
    enemy = state["sides"][1 - state["active"]]
    begin_tracking(turn, tracker)
    hero = turn["hero"]
    for step in range(plan["n_steps"]):
        hero -= hero_damage(turn, plan["kind"][step], plan["source"][step], plan["target"][step])
        codes[step] = apply_step(state, cards, plan, step, tracker, luck)
        if outcome(state) != Outcome.ONGOING:
            return step + 1, False
        if enemy["health"] + enemy["armour"] != hero:
            return step + 1, True
    return int(plan["n_steps"]), False


@njit
def hero_damage(turn: np.void, kind: int, source: int, target: int) -> int:
    """Damage to the enemy hero that a step of a plan means."""
    if kind == StepKind.ATTACK and target == HERO:
        return int(turn["friends"][source]["attack"])
    return 0


@njit
def _coin_place(side: np.void) -> int:
    """Where The Coin is in hand, or `GONE`."""
    for place in range(side["n_hand"]):
        if side["hand"][place] == COIN:
            return place
    return GONE


@njit
def _place_of(numbers: np.ndarray, n: int, number: int) -> int:
    """Where a number stands among the first `n`, or `GONE`."""
    for place in range(n):
        if numbers[place] == number:
            return place
    return GONE


@njit
def _take_out(numbers: np.ndarray, place: int) -> None:
    """Close the gap at a place. Modified in place."""
    for later in range(place, len(numbers) - 1):
        numbers[later] = numbers[later + 1]
