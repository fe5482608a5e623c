"""What games keep for their cards, where one of these asks for it; read from records."""

from collections.abc import Callable
from typing import Any, NamedTuple

from engine.effect_codes import GameFeature

COIN_ID = "GAME_005"


class Counter(NamedTuple):
    """A number that a player's side keeps.

    Attributes:
        ask: the bit of `GameFeature` with which a game keeps it.
        of: how it is read from a recorded player.
        moves_alone: whether it has a meaning for the player who moves alone.
        between: how it is read while the other player moves, where that is another number.
    """

    ask: int
    of: Callable[[dict[str, Any]], int]
    moves_alone: bool = False
    between: Callable[[dict[str, Any]], int] | None = None

    def recorded(self, player: dict[str, Any], moves: bool) -> int | None:
        """Its recorded value; None where it has no meaning."""
        return None if self.moves_alone and not moves else self.of(player)

    def imported(self, player: dict[str, Any], moves: bool) -> int:
        """Its value here, where what counts for a turn is cleared when that ends, there when the next begins."""
        if not moves and self.between:
            return self.between(player)
        return self.recorded(player, moves) or 0


COUNTERS = {
    "played": Counter(GameFeature.CARDS_PLAYED, lambda player: int(player["cards_played_this_turn"]), True),
    "spells": Counter(GameFeature.SPELLS_CAST, lambda player: int(player["spells_played_this_game"])),
    "totems": Counter(GameFeature.TOTEMS_SUMMONED, lambda player: int(player["totems_summoned_this_game"])),
    "died_this_turn": Counter(
        GameFeature.DIED_THIS_TURN, lambda player: len(player.get("died_this_turn", ()))
    ),
    "hero_damage_this_turn": Counter(
        GameFeature.HERO_DAMAGE, lambda player: int(player["hero"].get("damaged_this_turn", 0))
    ),
    "elementals": Counter(GameFeature.ELEMENTALS, lambda player: int(player["elemental_this_turn"]), True),
    "elementals_before": Counter(
        GameFeature.ELEMENTALS,
        lambda player: int(player["elemental_last_turn"]),
        True,
        lambda player: int(player["elemental_this_turn"]),
    ),
    "overloaded": Counter(GameFeature.OVERLOADED, lambda player: int(player["overloaded_this_game"])),
    "powers": Counter(GameFeature.POWERS_USED, lambda player: int(player["power_uses_this_game"])),
    "jade": Counter(GameFeature.JADE, lambda player: int(player["jade"])),
}
"""By the name of the field of `engine.state.SIDE`."""
