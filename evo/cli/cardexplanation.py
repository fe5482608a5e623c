"""An explanation of a plan on real cards, drawn for the terminal or as plain data."""

from collections.abc import Iterator
from typing import Any

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from engine import HERO, Action, Position
from engine.codes import BOARD_SIZE, COIN, OWN_SIDE, ActionKind
from ilp_agent import CardExplanation, CardPlan, Profile, Weights

AGAIN = "then solve the turn again"


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


def steps(position: Position, plan: CardPlan) -> Iterator[tuple[Position, Action]]:
    """Each action with the position it is played in."""
    here = position.copy()
    for number, action in enumerate(plan.actions):
        yield here.copy(), action
        if number + 1 < len(plan.actions) or not plan.again:
            here.play(action)


def plan_text(position: Position, plan: CardPlan) -> str:
    """A plan in words, with what only the game decides: "draw 2, then solve the turn again"."""
    words = []
    for here, action in steps(position, plan):
        words.append(action_text(here, action))
    if plan.again:
        words.append(f"{_what_is_seen(position, plan)}{AGAIN}")
    return "; ".join(words) or "nothing"


def _what_is_seen(position: Position, plan: CardPlan) -> str:
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
    from engine.vocabulary import OWN, Op, Trigger

    rows = position.table.array["effects"][number]
    return (rows["op"] == Op.DRAW) & (rows["trigger"] == Trigger.PLAY) & (rows["side"] & OWN > 0)


def promise(position: Position, plan: CardPlan) -> str:
    """What is certain about a plan: who leaves the board, damage to the hero, mana left."""
    before, here = position, position.copy()
    certain = plan.actions[:-1] if plan.again else plan.actions
    for action in certain:
        here.play(action)
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


def draw_card_explanation(explanation: CardExplanation, title: str = "") -> ConsoleRenderable:
    """The plan in words, and its terms beside those of the best plan without its first action."""
    position, plan, other = explanation.turn.position, explanation.plan, explanation.alternative
    lines = [
        Text(f"plan{f' ({title})' if title else ''}: {plan_text(position, plan)}", style="bold"),
        Text(promise(position, plan)),
    ]
    table = Table("term", "for", title_justify="left")
    table.add_column("plan", justify="right")
    if other is not None and explanation.refused is not None:
        refused = action_text(position, explanation.refused)
        lines.append(Text(f'without "{refused}": {plan_text(position, other)}'))
        if explanation.tie:
            lines.append(Text("a tie: the plan without it is worth as much"))
        table.add_column("without", justify="right")
        table.add_column("decides", justify="right")
    others = other.terms._asdict() if other is not None else {}
    for w, (name, term) in enumerate(plan.terms._asdict().items()):
        row = [name, Weights.MEANINGS[w], f"{term:+.2f}"]
        if other is not None:
            row += [f"{others[name]:+.2f}", _difference(term - others[name])]
        table.add_row(*row)
    total = ["sum", f"status {plan.status}", f"{plan.objective:+.2f}"]
    if other is not None:
        total += [f"{other.objective:+.2f}", _difference(plan.objective - other.objective)]
    table.add_row(*total, style="bold")
    return Group(*lines, table)


def cards_as_json(explanation: CardExplanation, profile: Profile[Weights], backend: str) -> dict[str, Any]:
    """The explanation as plain data; actions in words and as the engine has them."""
    position = explanation.turn.position

    def action_data(here: Position, action: Action) -> dict[str, Any]:
        return {
            "kind": action.kind.name.lower(),
            "source": action.source,
            "target": action.target if action.aimed or action.kind == ActionKind.ATTACK else None,
            "text": action_text(here, action),
        }

    def plan_data(plan: CardPlan | None) -> dict[str, Any] | None:
        if plan is None:
            return None
        return {
            "status": str(plan.status),
            "objective": plan.objective,
            "terms": plan.terms._asdict(),
            "actions": [action_data(here, action) for here, action in steps(position, plan)],
            "again": plan.again,
            "states": plan.states,
            "text": plan_text(position, plan),
        }

    refused = explanation.refused
    return {
        "position": str(position),
        "profile": profile.name,
        "weights": profile.weights.named(),
        "backend": backend,
        "plan": plan_data(explanation.plan),
        "without": action_data(position, refused) if refused is not None else None,
        "alternative": plan_data(explanation.alternative),
        "tie": explanation.tie,
    }


def _difference(value: float) -> str:
    return f"{value:+.2f}" if abs(value) >= 0.005 else ""
