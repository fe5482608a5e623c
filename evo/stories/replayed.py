"""A game of a tournament played again, as a story."""

from collections.abc import Callable
from typing import Any

from engine import Position
from evo.stories.reasons import Reasons, reasons_of
from evo.stories.story import Cast, tell
from evo.tournament.reading import TournamentRecord, replay
from evo.tournament.run import Tournament
from rivals import is_outside


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
