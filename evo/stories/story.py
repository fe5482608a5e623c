"""A game as a story: every position with the action taken in it, as plain data for pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine import Action, Position
from engine.codes import ActionKind
from engine.effects.luck import Chance
from engine.record import MatchResult
from engine.view import PlayerView
from evo.play.faults import last_line
from evo.stories.reasons import Reasons
from rivals.outside.messages import state_of


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
