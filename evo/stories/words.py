"""Plans in words."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from engine import HERO, Action, Position
from engine.codes import BOARD_SIZE, COIN, OWN_SIDE, ActionKind
from engine.vocabulary import OWN, Op, Trigger
from ilp_agent import Attack, Explanation, Plan, Play, ProblemPlan, TurnProblem
from ilp_agent.plan import PlanAction
from ilp_agent.planner import play_planned

AGAIN = "then solve the turn again"


class Told(NamedTuple):
    """An explanation in words.

    Attributes:
        plan: the plan.
        promise: what is certain about it.
        refused: its first action; None where the plan is empty.
        alternative: the best plan without that action; None where there is none.
    """

    plan: str
    promise: str
    refused: str | None
    alternative: str | None


def told(explanation: Explanation, position: Position) -> Told:
    """An explanation of the turn in a position, in words."""
    plan: Any = explanation.plan  # of the kind of the turn, as the other two
    refused: Any = explanation.refused
    other: Any = explanation.alternative
    if isinstance(explanation.turn, TurnProblem):
        names, m = names_of(explanation.turn, position), len(explanation.turn.friendly)
        return Told(
            steps_text(plan, names, m),
            prediction(plan, names),
            step_text(refused, names, m) if refused is not None else None,
            steps_text(other, names, m) if other is not None else None,
        )
    return Told(
        plan_text(position, plan),
        promise(position, plan),
        action_text(position, refused) if refused is not None else None,
        plan_text(position, other) if other is not None else None,
    )


def names_of(problem: TurnProblem, position: Position) -> tuple[list[str], list[str]]:
    """Names of the problem's friendly and enemy minions, from the position's cards."""
    own, enemy = (position.state["sides"][seat] for seat in (position.active, 1 - position.active))
    numbers = [int(minion["card"]) for minion in own["board"][: own["n_board"]]]
    numbers += [int(number) for number in own["hand"][: own["n_hand"]] if number != COIN]
    enemies = [int(minion["card"]) for minion in enemy["board"][: enemy["n_board"]]]
    assert len(numbers) == len(problem.friendly) + len(problem.hand)
    return [position.card_name(number) for number in numbers], [position.card_name(n) for n in enemies]


def step_text(action: PlanAction, names: tuple[list[str], list[str]], m: int) -> str:
    """A plan's action in words: "attack with Wolfrider -> hero"."""
    friends, enemies = names
    if isinstance(action, Play):
        return f"play {friends[m + action.hand]}"
    if isinstance(action, Attack):
        target = "hero" if action.target == HERO else enemies[action.target]
        return f"attack with {friends[action.attacker]} -> {target}"
    return "play The Coin"


def steps_text(plan: ProblemPlan, names: tuple[list[str], list[str]], m: int) -> str:
    """A plan in words; `names` as `names_of` gives them, `m` of them on the board."""
    return "; ".join(step_text(action, names, m) for action in plan.actions) or "nothing"


def prediction(plan: ProblemPlan, names: tuple[list[str], list[str]]) -> str:
    """The plan's predictions."""
    friends, enemies = names
    parts = ["kills the hero"] if plan.lethal else [f"{plan.damage} damage to the hero"]
    if plan.killed:
        parts.append("kills " + ", ".join(enemies[j] for j in plan.killed))
    if plan.lost:
        parts.append("loses " + ", ".join(friends[i] for i in plan.lost))
    return f"{'; '.join(parts)}; {plan.mana} mana left"


def character_name(position: Position, character: int) -> str:
    """A character that something is aimed at, 0 to 15, by its card; of heroes "hero" and "own hero"."""
    own = character >= OWN_SIDE
    place = character - OWN_SIDE if own else character
    if place == BOARD_SIZE:
        return "own hero" if own else "hero"
    seat = position.active if own else 1 - position.active
    name = position.card_name(int(position.state["sides"][seat]["board"][place]["card"]))
    return f"own {name}" if own else name


def action_text(position: Position, action: Action) -> str:
    """An action by names: "play Fireball -> Wolfrider", "attack with hero -> Wolfrider"."""
    own = position.state["sides"][position.active]
    if action.kind == ActionKind.ATTACK:
        who = "hero"
        if action.source != HERO:
            who = position.card_name(int(own["board"][action.source]["card"]))
        return f"attack with {who} -> {character_name(position, action.target)}"
    if action.kind == ActionKind.CHOOSE:
        return f"choose {position.card_name(int(position.state['options'][action.source]))}"
    if action.kind == ActionKind.POWER:
        text = f"use {position.card_name(int(own['power']) - 1)}"
    else:
        number = int(own["hand"][action.source])
        text = f"play {position.card_name(number)}"
        if action.option:
            name = position.card_name(int(position.table.array["options"][number]) + action.option - 1)
            same = name == position.card_name(number)
            text += f" by choice {action.option}" if same else f" as {name}"
        text += f" at place {action.place}" if action.place >= 0 else ""
    return f"{text} -> {character_name(position, action.target)}" if action.aimed else text


def steps(position: Position, plan: Plan) -> Iterator[tuple[Position, Action]]:
    """Each action with the position it is played in."""
    here = position.copy()
    for number, action in enumerate(plan.actions):
        yield here.copy(), action
        if number + 1 < len(plan.actions):
            play_planned(here, action)


def plan_text(position: Position, plan: Plan) -> str:
    """A plan in words, with what only the game decides: "draw 2, then solve the turn again"."""
    words = []
    for here, action in steps(position, plan):
        words.append(action_text(here, action))
    if plan.again:
        words.append(f"{_what_is_seen(position, plan)}{AGAIN}")
    return "; ".join(words) or "nothing"


def _what_is_seen(position: Position, plan: Plan) -> str:
    """What the last action brings that is not known before."""
    *_, (here, action) = steps(position, plan)
    own, secrets = here.state["sides"][here.active], here.state["sides"][1 - here.active]["n_secrets"] > 0
    if action.kind == ActionKind.ATTACK:
        return "see what it meets, " if secrets else "see what chance does, "
    if action.kind == ActionKind.CHOOSE:
        return "see what comes of it, "
    number = int(own["power"]) - 1 if action.kind == ActionKind.POWER else int(own["hand"][action.source])
    if number == COIN:
        return ""
    drawn = int(here.table.array["effects"][number]["amount"][_draws(here, number)].sum())
    return f"draw {drawn}, " if drawn else "see what chance does, "


def _draws(position: Position, number: int) -> Any:
    """Which of a card's rows draw for its player when it is played."""
    rows = position.table.array["effects"][number]
    return (rows["op"] == Op.DRAW) & (rows["trigger"] == Trigger.PLAY) & (rows["side"] & OWN > 0)


def promise(position: Position, plan: Plan) -> str:
    """What is certain about a plan: who leaves the board, damage to the hero, mana left."""
    before, here = position, position.copy()
    certain = plan.actions[:-1] if plan.again else plan.actions
    for action in certain:
        play_planned(here, action)
    own, enemy = before.active, 1 - before.active
    was, now = before.state["sides"][enemy], here.state["sides"][enemy]
    lost = int(was["health"] + was["armour"] - now["health"] - now["armour"])
    parts = ["kills the hero"] if now["health"] <= 0 else [f"{lost} damage to the hero"]
    for word, seat in (("removes", enemy), ("loses", own)):
        gone = _gone(before, here, seat)
        if gone:
            parts.append(f"{word} {', '.join(gone)}")
    parts.append(f"{int(here.state['sides'][own]['mana'])} mana left")
    return "; ".join(parts) + (", before the last action" if plan.again else "")


def _gone(before: Position, after: Position, seat: int) -> list[str]:
    """Names of a player's minions that do not stand there any more."""
    sides = [one.state["sides"][seat] for one in (before, after)]
    there = set(sides[1]["board"]["born"][: sides[1]["n_board"]].tolist())
    minions = sides[0]["board"][: sides[0]["n_board"]]
    return [before.card_name(int(minion["card"])) for minion in minions if int(minion["born"]) not in there]
