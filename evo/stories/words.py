"""A plan of bodies in words."""

from engine import HERO, Position
from engine.codes import COIN
from ilp_agent import Attack, Explanation, Plan, Play
from ilp_agent.plan import PlanAction


def names_of(explanation: Explanation, position: Position) -> tuple[list[str], list[str]]:
    """Names of the problem's friendly and enemy minions, from the position's cards."""
    own, enemy = (position.state["sides"][seat] for seat in (position.active, 1 - position.active))
    numbers = [int(minion["card"]) for minion in own["board"][: own["n_board"]]]
    numbers += [int(number) for number in own["hand"][: own["n_hand"]] if number != COIN]
    enemies = [int(minion["card"]) for minion in enemy["board"][: enemy["n_board"]]]
    assert len(numbers) == len(explanation.problem.friendly) + len(explanation.problem.hand)
    return [position.card_name(number) for number in numbers], [position.card_name(n) for n in enemies]


def action_text(action: PlanAction, names: tuple[list[str], list[str]], m: int) -> str:
    """A plan's action in words: "attack with Wolfrider -> hero"."""
    friends, enemies = names
    if isinstance(action, Play):
        return f"play {friends[m + action.hand]}"
    if isinstance(action, Attack):
        target = "hero" if action.target == HERO else enemies[action.target]
        return f"attack with {friends[action.attacker]} -> {target}"
    return "play The Coin"


def plan_text(plan: Plan, names: tuple[list[str], list[str]], m: int) -> str:
    """A plan in words; `names` as `names_of` gives them, `m` of them on the board."""
    return "; ".join(action_text(action, names, m) for action in plan.actions) or "nothing"


def promise(plan: Plan, names: tuple[list[str], list[str]]) -> str:
    """The plan's predictions."""
    friends, enemies = names
    parts = ["kills the hero"] if plan.lethal else [f"{plan.damage} damage to the hero"]
    if plan.killed:
        parts.append("kills " + ", ".join(enemies[j] for j in plan.killed))
    if plan.lost:
        parts.append("loses " + ", ".join(friends[i] for i in plan.lost))
    return f"{'; '.join(parts)}; {plan.mana} mana left"
