"""Plan records for kernels, and their translation to engine actions with tracked board positions.

A plan refers to minions by their index at the start of the turn, and to cards by their index in hand without
The Coin. Engine actions use current board and hand positions. A tracker maps between them.
"""

from enum import IntEnum

import numpy as np

from engine.codes import BOARD_SIZE, COIN, HAND_SIZE, HERO, ActionKind, Death, Outcome
from engine.jit import njit
from engine.rules import apply, decode, encode, outcome
from ilp_agent.plan import Attack, PlanAction, Play, PlayCoin, ProblemPlan, Status, name_terms
from ilp_agent.problem import TurnProblem
from ilp_agent.turn import MAX_FRIENDS, MAX_HITS
from ilp_agent.weights import N_TERMS, Weights


class StepKind(IntEnum):
    """Kind of a plan step: play The Coin, play hand minion `source`, or attack `target` with `source`."""

    COIN = 0
    PLAY = 1
    ATTACK = 2


MAX_STEPS = MAX_HITS + HAND_SIZE + 1

PLAN = np.dtype(
    [
        ("n_steps", "i2"),  # number of steps
        ("unproven", "i2"),  # 1: optimality is not proven (`ilp_agent.exact.kernel`)
        ("kind", "i2", (MAX_STEPS,)),  # a StepKind
        ("source", "i2", (MAX_STEPS,)),  # hand index of a play; friendly minion's index of an attack
        ("target", "i2", (MAX_STEPS,)),  # enemy index or HERO
        ("lethal", "i2"),  # 1: the enemy hero dies
        ("cleared", "i2"),  # 1: the enemy board is empty afterwards
        ("killed", "i2", (BOARD_SIZE,)),  # 1: the enemy minion dies
        ("lost", "i2", (MAX_FRIENDS,)),  # 1: the friendly minion dies
        ("damage", "i2"),  # damage to the enemy hero
        ("mana", "i2"),  # mana left
        ("terms", "f8", (N_TERMS,)),  # the signed weighted terms of the objective, indexed by Term
        ("value", "f8"),  # their sum
    ]
)
"""Record of a plan and its predicted outcome."""


def problem_plan_from_record(
    problem: TurnProblem, record: np.void, status: Status, weights: Weights
) -> ProblemPlan:
    """Convert a record of dtype `PLAN`, computed with these weights, to a `ProblemPlan`."""
    friends = len(problem.friendly) + len(problem.hand)
    return ProblemPlan(
        status,
        float(record["value"]),
        name_terms(record["terms"], weights),
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


def step_from_action(action: PlanAction) -> tuple[int, int, int]:
    """Convert an action to a step of a `PLAN` record: kind (`StepKind`), source and target."""
    if isinstance(action, Attack):
        return StepKind.ATTACK, action.attacker, action.target
    if isinstance(action, Play):
        return StepKind.PLAY, action.hand, 0
    return StepKind.COIN, 0, 0


GONE = -1
"""Result for an action whose attacker, target or card is gone."""

TRACKER = np.dtype(
    [
        (
            "n_start",
            "i2",
        ),  # friendly minions on board at the start of the turn; played ones are numbered after them
        ("n_friends", "i2"),  # friendly minions on board now
        ("n_enemies", "i2"),  # enemies on board now
        ("n_hand", "i2"),  # minions in hand now
        ("friends", "i2", (BOARD_SIZE,)),  # plan index of the friendly minion in each board slot
        ("enemies", "i2", (BOARD_SIZE,)),  # plan index of the enemy in each board slot
        ("hand", "i2", (HAND_SIZE,)),  # plan index of each card in hand, without The Coin
    ]
)
"""Map from current board and hand positions to the indices of a plan."""


@njit
def begin_tracking(turn: np.void, tracker: np.void) -> None:
    """Initialise a tracker at the start of a turn. `tracker` is modified in place."""
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
def engine_action(state: np.void, tracker: np.void, kind: int, source: int, target: int) -> int:
    """Translate a plan step to the engine's action code (`engine.rules.encode`), or `GONE`.

    Args:
        state: the position, dtype `engine.state.STATE`.
        tracker: dtype `TRACKER`.
        kind: of the step, a `StepKind`.
        source: hand index of a play, friendly minion's index of an attack.
        target: of an attack: enemy index or `HERO`.
    """
    if kind == StepKind.ATTACK:
        slot = _index_of(tracker["friends"], tracker["n_friends"], source)
        aim = HERO if target == HERO else _index_of(tracker["enemies"], tracker["n_enemies"], target)
        return GONE if min(slot, aim) == GONE else encode(ActionKind.ATTACK, slot, aim)
    coin = _coin_place(state["sides"][state["active"]])
    if kind == StepKind.COIN:
        return GONE if coin == GONE else encode(ActionKind.PLAY, coin, 0)
    place = _index_of(tracker["hand"], tracker["n_hand"], source)
    if place == GONE:
        return GONE
    return encode(ActionKind.PLAY, place + (1 if coin != GONE and place >= coin else 0), 0)


@njit
def update_tracker(tracker: np.void, kind: int, source: int, action: int, deaths: int) -> None:
    """Update a tracker after a step. `tracker` is modified in place.

    Args:
        tracker: dtype `TRACKER`.
        kind: of the step, a `StepKind`.
        source: hand index of a play.
        action: the step's code from `engine_action`.
        deaths: the result of `engine.rules.apply`.
    """
    if kind == StepKind.PLAY:
        _remove_at(tracker["hand"], _index_of(tracker["hand"], tracker["n_hand"], source))
        tracker["n_hand"] -= 1
        tracker["friends"][tracker["n_friends"]] = tracker["n_start"] + source
        tracker["n_friends"] += 1
        return
    _, slot, aim = decode(action)
    if deaths & Death.ATTACKER:
        _remove_at(tracker["friends"], slot)
        tracker["n_friends"] -= 1
    if deaths & Death.DEFENDER:
        _remove_at(tracker["enemies"], aim)
        tracker["n_enemies"] -= 1


@njit
def apply_step(
    state: np.void, cards: np.ndarray, plan: np.void, step: int, tracker: np.void, chance: np.void
) -> int:
    """Play one step of a legal plan in the engine; returns the engine's action code.

    `state`, `tracker` and `chance`, dtype `EVENTS`, are modified in place.
    """
    kind, source = plan["kind"][step], plan["source"][step]
    action = engine_action(state, tracker, kind, source, plan["target"][step])
    deaths = apply(state, cards, action, chance)
    update_tracker(tracker, kind, source, action, deaths)
    return action


@njit
def execute_plan(
    state: np.void,
    cards: np.ndarray,
    turn: np.void,
    plan: np.void,
    tracker: np.void,
    chance: np.void,
    codes: np.ndarray,
) -> tuple[int, bool]:
    """Play a plan in the engine until it ends or a prediction fails.

    Args:
        state: start position, dtype `engine.state.STATE`. This and the last three are modified in place.
        cards: the card table.
        turn: the plan's turn, dtype `TURN`.
        plan: dtype `PLAN`.
        tracker: dtype `TRACKER`.
        chance: dtype `EVENTS`.
        codes: integers, shape (at least `MAX_STEPS`,): the actions played, encoded by `engine.rules.encode`.

    Returns:
        The number of actions played, and whether the turn must be solved again: an attacked enemy with
        Lifesteal healed its hero, which the turn program does not model.
    """
    enemy = state["sides"][1 - state["active"]]
    begin_tracking(turn, tracker)
    hero = turn["hero"]
    for step in range(plan["n_steps"]):
        hero -= hero_damage(turn, plan["kind"][step], plan["source"][step], plan["target"][step])
        codes[step] = apply_step(state, cards, plan, step, tracker, chance)
        if outcome(state) != Outcome.ONGOING:
            return step + 1, False
        if enemy["health"] + enemy["armour"] != hero:
            return step + 1, True
    return int(plan["n_steps"]), False


@njit
def hero_damage(turn: np.void, kind: int, source: int, target: int) -> int:
    """Predicted damage of a plan step to the enemy hero."""
    if kind == StepKind.ATTACK and target == HERO:
        return int(turn["friends"][source]["attack"])
    return 0


@njit
def _coin_place(side: np.void) -> int:
    """Position of The Coin in hand, or `GONE`."""
    for place in range(side["n_hand"]):
        if side["hand"][place] == COIN:
            return place
    return GONE


@njit
def _index_of(numbers: np.ndarray, n: int, number: int) -> int:
    """Position of a number among the first `n`, or `GONE`."""
    for place in range(n):
        if numbers[place] == number:
            return place
    return GONE


@njit
def _remove_at(numbers: np.ndarray, place: int) -> None:
    """Remove the entry at a position and shift the later ones. `numbers` is modified in place."""
    for later in range(place, len(numbers) - 1):
        numbers[later] = numbers[later + 1]
