"""HTML page to step through a game: every position, the action taken, and the plan behind it."""

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
from engine.codes import BOARD_SIZE, COIN, OWN_TARGETS, ActionKind
from engine.decks import changes_sentence
from engine.effect_codes import OWN, Op, Trigger
from engine.effects.chance import Chance
from engine.game_session import Agent, MatchResult
from engine.view import PlayerView
from evo.play.results import error_message_of
from evo.tournament.reading import TournamentRecord, replay_game
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
from ilp_agent.agent import play_planned_action
from ilp_agent.plan import PlanAction
from rivals import is_outside
from rivals.outside.messages import view_to_json

TEMPLATES = Path(__file__).parent / "templates"
"""Templates of the board, the steps and the page, shared with the game pages of the server."""


def story_page(story: dict[str, Any]) -> bytes:
    """Render the HTML page of a game from `game_data`, with controls by keyboard and buttons.

    The content security policy allows its only script by hash; the game is embedded as inert JSON.
    """
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined
    )
    script = _joined("board.js", "reasons.js", "steps.js")
    page = templates.get_template("story.html").render(
        title=" against ".join(story["players"]),
        story=story,
        data=Markup(script_safe_json(story)),
        style=Markup(_joined("board.css", "steps.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        note=f"manaforge {version('manaforge')}, rules {RULES_VERSION}",
    )
    return page.encode("utf-8", "replace")


def _joined(*names: str) -> str:
    """Concatenate the contents of template files."""
    return "\n".join((TEMPLATES / name).read_text(encoding="utf-8") for name in names)


def script_safe_json(content: Any) -> str:
    """JSON text that is safe inside a script element."""
    text = json.dumps(content, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


SOLVE_AGAIN = "then solve the turn again"


class PlanTexts(NamedTuple):
    """Texts on an explained plan, as a page shows them.

    Attributes:
        plan: actions of the plan.
        promise: its certain effects.
        refused: its first action; None if the plan is empty.
        alternative: actions of the best plan without that action; None if there is none.
    """

    plan: str
    promise: str
    refused: str | None
    alternative: str | None


def plan_texts(explanation: Explanation, position: Position) -> PlanTexts:
    """Make the texts on an explained plan in a position."""
    plan: Any = explanation.plan  # its type, like those of the other two, depends on the turn
    refused: Any = explanation.refused
    other: Any = explanation.alternative
    if isinstance(explanation.turn, TurnProblem):
        names, m = minion_names(explanation.turn, position), len(explanation.turn.friendly)
        return PlanTexts(
            body_plan_text(plan, names, m),
            body_outcome_text(plan, names),
            body_action_text(refused, names, m) if refused is not None else None,
            body_plan_text(other, names, m) if other is not None else None,
        )
    return PlanTexts(
        plan_text(position, plan),
        certain_outcome_text(position, plan),
        action_text(position, refused) if refused is not None else None,
        plan_text(position, other) if other is not None else None,
    )


def minion_names(problem: TurnProblem, position: Position) -> tuple[list[str], list[str]]:
    """Card names of a turn problem's friendly and enemy minions."""
    own, enemy = (position.state["sides"][seat] for seat in (position.active, 1 - position.active))
    numbers = [int(minion["card"]) for minion in own["board"][: own["n_board"]]]
    numbers += [int(number) for number in own["hand"][: own["n_hand"]] if number != COIN]
    enemies = [int(minion["card"]) for minion in enemy["board"][: enemy["n_board"]]]
    assert len(numbers) == len(problem.friendly) + len(problem.hand)
    return [position.card_name(number) for number in numbers], [position.card_name(n) for n in enemies]


def body_action_text(action: PlanAction, names: tuple[list[str], list[str]], m: int) -> str:
    """Text of an action of a plan on bodies: "attack with Wolfrider -> hero"."""
    friends, enemies = names
    if isinstance(action, Play):
        return f"play {friends[m + action.hand]}"
    if isinstance(action, Attack):
        target = "hero" if action.target == HERO else enemies[action.target]
        return f"attack with {friends[action.attacker]} -> {target}"
    return "play The Coin"


def body_plan_text(plan: ProblemPlan, names: tuple[list[str], list[str]], m: int) -> str:
    """Text of a plan on bodies; `names`: of `minion_names`, the first `m` friendly minions on the board."""
    return "; ".join(body_action_text(action, names, m) for action in plan.actions) or "nothing"


def body_outcome_text(plan: ProblemPlan, names: tuple[list[str], list[str]]) -> str:
    """Text of the outcome of a plan on bodies: damage, kills, losses, mana left."""
    friends, enemies = names
    parts = ["kills the hero"] if plan.lethal else [f"{plan.damage} damage to the hero"]
    if plan.killed:
        parts.append("kills " + ", ".join(enemies[j] for j in plan.killed))
    if plan.lost:
        parts.append("loses " + ", ".join(friends[i] for i in plan.lost))
    return f"{'; '.join(parts)}; {plan.mana} mana left"


def character_name(position: Position, character: int) -> str:
    """Name of the target character numbered 0 to 15: the minion's card, or "hero" or "own hero"."""
    own = character >= OWN_TARGETS
    place = character - OWN_TARGETS if own else character
    if place == BOARD_SIZE:
        return "own hero" if own else "hero"
    seat = position.active if own else 1 - position.active
    name = position.card_name(int(position.state["sides"][seat]["board"][place]["card"]))
    return f"own {name}" if own else name


def action_text(position: Position, action: Action) -> str:
    """Text of an action with card names: "play Fireball -> Wolfrider", "attack with hero -> Wolfrider"."""
    own = position.state["sides"][position.active]
    if action.kind == ActionKind.ATTACK:
        attacker = "hero"
        if action.source != HERO:
            attacker = position.card_name(int(own["board"][action.source]["card"]))
        return f"attack with {attacker} -> {character_name(position, action.target)}"
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
        text += f" at position {action.place}" if action.place >= 0 else ""
    return f"{text} -> {character_name(position, action.target)}" if action.aimed else text


def plan_steps(position: Position, plan: Plan) -> Iterator[tuple[Position, Action]]:
    """Iterate over the actions of a plan, each with the position before it."""
    here = position.copy()
    for number, action in enumerate(plan.actions):
        yield here.copy(), action
        if number + 1 < len(plan.actions):
            play_planned_action(here, action)


def plan_text(position: Position, plan: Plan) -> str:
    """Text of a plan, ending with a random outcome if there is one: "draw 2, then solve the turn again"."""
    words = []
    for here, action in plan_steps(position, plan):
        words.append(action_text(here, action))
    if plan.again:
        words.append(f"{_unknown_outcome(position, plan)}{SOLVE_AGAIN}")
    return "; ".join(words) or "nothing"


def _unknown_outcome(position: Position, plan: Plan) -> str:
    """Text of the unknown outcome of a plan's last action."""
    *_, (here, action) = plan_steps(position, plan)
    own, secrets = here.state["sides"][here.active], here.state["sides"][1 - here.active]["n_secrets"] > 0
    if action.kind == ActionKind.ATTACK:
        return "see whether a secret triggers, " if secrets else "see the random outcome, "
    if action.kind == ActionKind.CHOOSE:
        return "see the result, "
    number = int(own["power"]) - 1 if action.kind == ActionKind.POWER else int(own["hand"][action.source])
    if number == COIN:
        return ""
    drawn = int(here.table.array["effects"][number]["amount"][_draw_rows(here, number)].sum())
    return f"draw {drawn}, " if drawn else "see the random outcome, "


def _draw_rows(position: Position, number: int) -> Any:
    """Mask of a card's effect rows that draw cards for the card's player when the card is played."""
    rows = position.table.array["effects"][number]
    return (rows["op"] == Op.DRAW) & (rows["trigger"] == Trigger.PLAY) & (rows["side"] & OWN > 0)


def certain_outcome_text(position: Position, plan: Plan) -> str:
    """Text of a plan's certain effects: damage to the hero, minions removed and lost, mana left."""
    before, here = position, position.copy()
    certain = plan.actions[:-1] if plan.again else plan.actions
    for action in certain:
        play_planned_action(here, action)
    own, enemy = before.active, 1 - before.active
    was, now = before.state["sides"][enemy], here.state["sides"][enemy]
    lost = int(was["health"] + was["armour"] - now["health"] - now["armour"])
    parts = ["kills the hero"] if now["health"] <= 0 else [f"{lost} damage to the hero"]
    for word, seat in (("removes", enemy), ("loses", own)):
        gone = _removed_minions(before, here, seat)
        if gone:
            parts.append(f"{word} {', '.join(gone)}")
    parts.append(f"{int(here.state['sides'][own]['mana'])} mana left")
    return "; ".join(parts) + (", before the last action" if plan.again else "")


def _removed_minions(before: Position, after: Position, seat: int) -> list[str]:
    """Names of a player's minions that have left the board between two positions."""
    sides = [one.state["sides"][seat] for one in (before, after)]
    there = set(sides[1]["board"]["entity_id"][: sides[1]["n_board"]].tolist())
    minions = sides[0]["board"][: sides[0]["n_board"]]
    return [
        before.card_name(int(minion["card"])) for minion in minions if int(minion["entity_id"]) not in there
    ]


Explainer = Callable[[Position], dict[str, Any]]
"""Function from a position, as seen by its player, to the explained plan as JSON values."""


def explainer_of(agent: Agent) -> Explainer | None:
    """Function that explains an agent's plans; None for agents without explanations.

    An explanation has `plan`, `certain_outcome_text` (its certain effects), `without` (the plan's first
    action) and `alternative` (the best plan without that action), as text; `tie`, whether both have the same
    value; `status` of the solver; and `terms`, rows of name, meaning, and value in plan and alternative.
    Without an alternative, it and its numbers are None.
    """
    if not isinstance(agent, IlpAgent):
        return None
    weights, backend = agent.weights, agent.backend

    def reasons(position: Position) -> dict[str, Any]:
        found = explain(turn_of(position), weights, backend)
        words, other = plan_texts(found, position), found.alternative
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
    """Rows with all objective terms and their sum, of a plan and of another plan."""
    others = other.terms._asdict() if other is not None else {}
    rows = [
        [name, Weights.MEANINGS[place], term, others.get(name)]
        for place, (name, term) in enumerate(plan.terms._asdict().items())
    ]
    return [*rows, ["sum", "", plan.objective, other.objective if other is not None else None]]


@dataclass(frozen=True)
class GameInfo:
    """Players, decks and ruleset of a game, by seat: 0 goes first.

    Attributes:
        players: names of the agents.
        decks: names of their decks.
        ruleset: name of the ruleset.
        command: command that repeats the game; "" if none does.
        changes: sentence on the cards that deck files change (`engine.decks.changes_sentence`); "" for none.
    """

    players: tuple[str, str]
    decks: tuple[str, str]
    ruleset: str
    command: str = ""
    changes: str = ""


def game_data(
    result: MatchResult, info: GameInfo, reasons: Sequence[Explainer | None] = (None, None), remark: str = ""
) -> dict[str, Any]:
    """A played game as JSON values: players, positions, actions and explained plans.

    Args:
        result: result of the game.
        info: its players.
        remark: a remark on the whole game; "" for none.
        reasons: by seat, the function that explains each turn from the player's view; None for none.

    Returns:
        The fields of `info`, `result` (a sentence), `error` (of an agent; "" for none), `remark`, and
        `steps`: the position before each action (see `position_data`), with `action` as text, random
        `outcomes`, and `reasons` at the beginning of a turn; the last step is the end of the game.
    """
    steps, position, fresh = [], result.start.copy(), True
    outcomes = result.outcomes or ((),) * len(result.actions)
    for action, random_outcomes in zip(result.actions, outcomes, strict=True):
        step = position_data(position) | {
            "action": _notation_text(position, action),
            "outcomes": list(random_outcomes),
        }
        explainer = reasons[position.active]
        if fresh and explainer is not None:
            step["reasons"] = explainer(PlayerView(position, position.active).position)
        steps.append(step)
        position.play(action, Chance.given(random_outcomes))
        fresh = action.kind == ActionKind.END_TURN
    steps.append(position_data(result.position))
    ended = {
        "result": result_sentence(result, info),
        "error": error_message_of(result.error),
        "remark": remark,
    }
    return {**vars(info), **ended, "steps": steps}


def position_data(position: Position) -> dict[str, Any]:
    """A position as JSON values, with nothing hidden.

    `position` in notation, `turn`, `active` seat, `offered` cards, and both `sides`, each as its own
    player sees it (docs/agents-outside.md).
    """
    seen = [view_to_json(PlayerView(position, seat)) for seat in (0, 1)]
    return {
        "position": str(position),
        "turn": int(position.state["turn"]),
        "active": position.active,
        "sides": [one["me"] for one in seen],
        "offered": seen[position.active]["offered"],
    }


def position_data_seen_by(view: PlayerView) -> dict[str, Any]:
    """`position_data` of a position as one player sees it: hidden cards are None, `position` is left out.

    The notation would reveal the remaining cards of the player's own deck.
    """
    seen = view_to_json(view)
    sides = [seen["me"], seen["opponent"]]
    return {
        "turn": view.turn,
        "active": view.position.active,
        "sides": sides if view.seat == 0 else sides[::-1],
        "offered": seen["offered"],
    }


def result_sentence(result: MatchResult, info: GameInfo) -> str:
    """Result of a game, as a sentence."""
    why = f"in round {result.turns}: {result.reason}"
    if result.winner is None:
        return f"A draw {why}"
    return f"{info.players[result.winner]} ({('first', 'second')[result.winner]}) wins {why}"


def _notation_text(position: Position, action: Action) -> str:
    """Text of an action in notation, with card names."""
    return "end turn" if action.kind == ActionKind.END_TURN else position.describe(action)


def replay_recorded_game(
    record: TournamentRecord, tournament: Tournament, number: int, go_on: Callable[[], None]
) -> dict[str, Any]:
    """Replay a game of a tournament; returns `game_data` with explanations of both players' plans.

    Args:
        record: record of the tournament.
        tournament: the tournament, from `evo.tournament.reading.tournament_to_replay`.
        number: number of the game.
        go_on: called after each action and before each turn is explained; raises to stop.

    Returns:
        The game as JSON values (`evo.game_pages.story.game_data`).
    """
    row = record.games.iloc[number]
    result, different = replay_game(record, tournament, number, lambda *_: go_on())
    texts = str(row["first"]), str(row["second"])
    players = dict(zip(tournament.names, tournament.roster.players, strict=True))
    names = str(row["first_deck"]), str(row["second_deck"])
    explainers = [
        None if is_outside(players[text].kind) else explainer_of(players[text].with_deck(deck).agent())
        for text, deck in zip(texts, names, strict=True)
    ]
    info = GameInfo(
        players=texts,
        decks=names,
        ruleset=tournament.ruleset.name,
        changes=changes_sentence(deck for deck in tournament.decks if deck.name in names),
    )
    return game_data(result, info, [_stoppable(explainer, go_on) for explainer in explainers], different)


def _stoppable(explainer: Explainer | None, go_on: Callable[[], None]) -> Explainer | None:
    """Wrap an explanation function in one that calls `go_on` first."""

    def explain_unless_stopped(position: Position) -> dict[str, Any]:
        assert explainer is not None
        go_on()
        return explainer(position)

    return None if explainer is None else explain_unless_stopped
