"""A game step by step as one HTML page: every position, the action taken, and the reason."""

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from markupsafe import Markup

from engine import HERO, RULES_VERSION, Action, Position
from engine.codes import BOARD_SIZE, COIN, OWN_SIDE, ActionKind
from engine.effect_codes import OWN, Op, Trigger
from engine.effects.chance import Chance
from engine.game_session import Agent, MatchResult
from engine.view import PlayerView
from evo.play.results import last_line
from evo.tournament.reading import TournamentRecord, replay
from evo.tournament.run import Tournament
from ilp_agent import (
    Attack,
    Explanation,
    IlpAgent,
    Plan,
    Play,
    ProblemPlan,
    TurnProblem,
    Weights,
    explain,
    turn_of,
)
from ilp_agent.agent import play_planned
from ilp_agent.plan import PlanAction
from rivals import is_outside
from rivals.outside.messages import state_of

TEMPLATES = Path(__file__).parent / "templates"
"""The board, the steps, and the page around them, which a server's pages of games share."""


def story_page(story: dict[str, Any]) -> bytes:
    """The page of a game (`evo.game_pages.story.tell`), to step through by keyboard and buttons.

    Its only script is allowed by its hash; the game is data, which no browser runs.
    """
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined
    )
    script = _joined("board.js", "reasons.js", "steps.js")
    page = templates.get_template("story.html").render(
        title=" against ".join(story["players"]),
        story=story,
        data=Markup(as_data(story)),
        style=Markup(_joined("board.css", "steps.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        note=f"manaforge {version('manaforge')}, rules {RULES_VERSION}",
    )
    return page.encode("utf-8", "replace")


def _joined(*names: str) -> str:
    """Files of the templates, one after another."""
    return "\n".join((TEMPLATES / name).read_text(encoding="utf-8") for name in names)


def as_data(content: Any) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(content, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


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


Reasons = Callable[[Position], dict[str, Any]]
"""Reasons for the plan in a position as its player sees it."""


def reasons_of(agent: Agent) -> Reasons | None:
    """Who tells why an agent plays as it does; None for agents that give no reasons.

    The reasons have `plan`, `promise` (what is certain about it), `without` (the plan's first action) and
    `alternative` (the best plan without that action), as text; `tie`, whether it is worth as much; `status`
    of the solver; and `terms`, a row for each with name, meaning, and its worth in plan and alternative.
    Where there is no alternative, it and its numbers are None.
    """
    if not isinstance(agent, IlpAgent):
        return None
    weights, backend = agent.weights, agent.backend

    def reasons(position: Position) -> dict[str, Any]:
        found = explain(turn_of(position), weights, backend)
        words, other = told(found, position), found.alternative
        return {
            "plan": words.plan,
            "promise": words.promise,
            "without": words.refused if other is not None else None,
            "alternative": words.alternative,
            "tie": found.tie,
            "status": str(found.plan.status),
            "terms": _terms(found.plan, other),
        }

    return reasons


def _terms(plan: Any, other: Any) -> list[list[Any]]:
    """Rows of all terms and their sum."""
    others = other.terms._asdict() if other is not None else {}
    rows = [
        [name, Weights.MEANINGS[place], term, others.get(name)]
        for place, (name, term) in enumerate(plan.terms._asdict().items())
    ]
    return [*rows, ["sum", "", plan.objective, other.objective if other is not None else None]]


@dataclass(frozen=True)
class Cast:
    """Who plays what, by seat: 0 goes first.

    Attributes:
        players: names of the agents.
        decks: names of their decks.
        ruleset: its name.
        command: what plays the same game again; "" for a game that nothing repeats.
    """

    players: tuple[str, str]
    decks: tuple[str, str]
    ruleset: str
    command: str = ""


def tell(
    result: MatchResult, cast: Cast, reasons: Sequence[Reasons | None] = (None, None), remark: str = ""
) -> dict[str, Any]:
    """A game as plain data.

    Args:
        result: of the game.
        cast: who played.
        remark: what is to be said of the whole game; "" for nothing.
        reasons: by seat, who tells the reasons of each turn, from what its player saw; None for nobody.

    Returns:
        `players`, `decks`, `ruleset`, `command`, `result` (a sentence), `error` (a fault; "" without),
        `remark`, and `steps`: the position before each action (see `board`), with `action` in words,
        `outcomes` of its chance, and `reasons` at the beginning of a turn; the last one is the game's end.
    """
    steps, position, fresh = [], result.start.copy(), True
    outcomes = result.outcomes or ((),) * len(result.actions)
    for action, fell in zip(result.actions, outcomes, strict=True):
        step = board(position) | {"action": _words(position, action), "outcomes": list(fell)}
        teller = reasons[position.active]
        if fresh and teller is not None:
            step["reasons"] = teller(PlayerView(position, position.active).position)
        steps.append(step)
        position.play(action, Chance.given(fell))
        fresh = action.kind == ActionKind.END_TURN
    steps.append(board(result.position))
    ended = {"result": ending(result, cast), "error": last_line(result.error), "remark": remark}
    return {**vars(cast), **ended, "steps": steps}


def board(position: Position) -> dict[str, Any]:
    """A position as plain data: `position` in notation, `turn`, `active` seat, `offered` cards, both `sides`.

    Nothing is hidden: the sides are as their own players see them (docs/agents-outside.md).
    """
    seen = [state_of(PlayerView(position, seat)) for seat in (0, 1)]
    return {
        "position": str(position),
        "turn": int(position.state["turn"]),
        "active": position.active,
        "sides": [one["me"] for one in seen],
        "offered": seen[position.active]["offered"],
    }


def board_seen_by(view: PlayerView) -> dict[str, Any]:
    """A position as `board` gives it, as one player sees it: hidden cards are None, `position` is left out.

    The notation would tell which cards the player's own deck has left.
    """
    seen = state_of(view)
    sides = [seen["me"], seen["opponent"]]
    return {
        "turn": view.turn,
        "active": view.position.active,
        "sides": sides if view.seat == 0 else sides[::-1],
        "offered": seen["offered"],
    }


def ending(result: MatchResult, cast: Cast) -> str:
    """How a game ended, as a sentence."""
    why = f"in round {result.turns}: {result.reason}"
    if result.winner is None:
        return f"A draw {why}"
    return f"{cast.players[result.winner]} ({('first', 'second')[result.winner]}) wins {why}"


def _words(position: Position, action: Action) -> str:
    """An action with the names of its cards."""
    return "end turn" if action.kind == ActionKind.END_TURN else position.describe(action)


def replayed(
    record: TournamentRecord, tournament: Tournament, number: int, go_on: Callable[[], None]
) -> dict[str, Any]:
    """Play a game again, and tell it with the reasons of its players.

    Args:
        record: of the tournament.
        tournament: the same, as `evo.tournament.reading.tournament_to_replay` makes it.
        number: of the game.
        go_on: called after each action and before each turn is explained; raises to stop.

    Returns:
        As `evo.game_pages.story.tell` does.
    """
    row = record.games.iloc[number]
    result, different = replay(record, tournament, number, lambda *_: go_on())
    texts = str(row["first"]), str(row["second"])
    players = dict(zip(tournament.names, tournament.roster.players, strict=True))
    tellers = [
        None if is_outside(players[text].kind) else reasons_of(players[text].agent()) for text in texts
    ]
    cast = Cast(texts, (str(row["first_deck"]), str(row["second_deck"])), tournament.ruleset.name)
    return tell(result, cast, [_asked(teller, go_on) for teller in tellers], different)


def _asked(teller: Reasons | None, go_on: Callable[[], None]) -> Reasons | None:
    """The same reasons, each after it was asked whether to go on."""

    def told(position: Position) -> dict[str, Any]:
        assert teller is not None
        go_on()
        return teller(position)

    return None if teller is None else told
