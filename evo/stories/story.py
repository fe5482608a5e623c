"""A game as a story: every position with the action taken in it, as plain data for pages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engine import Action, Position
from engine.codes import ActionKind
from engine.effects.luck import Chance
from engine.record import MatchResult
from engine.view import PlayerView
from evo.play.faults import last_line
from evo.stories.reasons import Reasons, reasons_of
from evo.tournament.reading import TournamentRecord, replay
from evo.tournament.run import Tournament
from rivals import is_outside
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
        As `evo.stories.story.tell` does.
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
