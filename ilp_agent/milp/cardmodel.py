"""The program of a turn on real cards, and what its variables stand for."""

from dataclasses import dataclass, field

from ilp_agent.milp.cardclass import CardProblem
from ilp_agent.milp.casts import Cast
from ilp_agent.milp.sequential import SequentialModel


@dataclass
class CardModel:
    """A program that is being built."""

    found: CardProblem
    model: SequentialModel
    casts: list[int] = field(default_factory=list)
    """Variables: whether each cast of `found` is played."""
    bolts: dict[int, int] = field(default_factory=dict)
    """Cast -> source of hits."""
    own_hero: dict[int, int] = field(default_factory=dict)
    """Cast -> variable: it is aimed at the own hero."""
    own_minions: dict[tuple[int, int], int] = field(default_factory=dict)
    """(cast, friend) -> variable: it takes the friend off the board, after its attack."""
    removals: dict[tuple[int, int], int] = field(default_factory=dict)
    """(cast, enemy) -> variable: it takes the enemy off the board."""
    rests: dict[int, int] = field(default_factory=dict)
    """Cast -> variable: it strengthens whoever stands after the attacks."""
    stronger: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Source -> the casts that strengthen the friend that it is before it attacks."""
    last: dict[int, int] = field(default_factory=dict)
    """Cast -> variable: the weapon that it equips is the last; -1 for that of the start."""
    swings: dict[int, tuple[Cast | None, tuple[Cast, ...]]] = field(default_factory=dict)
    """Source -> the cast that equips the weapon, and the casts that come before its attack."""
    silences: dict[tuple[int, int], int] = field(default_factory=dict)
    """(cast, enemy) -> variable: it silences the guard."""
    idle: dict[int, int] = field(default_factory=dict)
    """Cast -> variable: it silences a minion from whom it takes nothing."""
    rattles: dict[int, int] = field(default_factory=dict)
    """Friend -> source of the hit of its Deathrattle."""

    def death_of(self, i: int) -> list[tuple[int, float]]:
        """Whether a friend dies, as a sum of variables."""
        model = self.model
        sources = [i, *(source for source, one in model.stronger.items() if one == i)]
        return [(model.dies[source], 1.0) for source in sources if source in model.dies]
