"""Racing: games go where they decide. Who is clearly beaten gets no more of them in this generation.

The games of a generation are played in stages. After each, an individual that is surely worse than at least
mu others cannot belong to the best mu: it is left out of the stages that follow, as player and as opponent.
All who are left meet the same opponents on the same deals, so that their scores stay comparable; who is out
is compared with them on the setups that it played.

Sources: successive elimination, Even-Dar and others, "Action elimination and stopping conditions" (2006);
races for the selection of evolution strategies, Heidrich-Meisner and Igel, "Hoeffding and Bernstein races"
(2009). Ours compares paired scores by Student's t.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import stdtrit

from evo.evolution.fitness import Tally, join

STAGES = 4
"""Stages of a generation, as far as its games can be divided."""


@dataclass(frozen=True)
class Group:
    """Pairings of a generation that play as many games.

    Attributes:
        pairings: shape (pairings, 2): an individual, and another or an opponent.
        games: of each and ordered pair of decks; even.
        shares: what the score against a player counts, by its place.
        first: number of its first pairing in the generation.
    """

    pairings: np.ndarray
    games: int
    shares: np.ndarray
    first: int = 0

    def bounds(self) -> list[tuple[int, int]]:
        """First games and end of every stage; even."""
        ends = [2 * (self.games * stage // (2 * STAGES)) for stage in range(STAGES + 1)]
        return list(pairwise(ends))


PlayPart = Callable[[Group, np.ndarray, int, int], Tally]
"""Plays some pairings (bool, shape (pairings,)) of a group, from the first given game to the second."""


def race(n: int, mu: int, groups: Sequence[Group], error: float, play: PlayPart) -> tuple[Tally, np.ndarray]:
    """Play the stages of a generation.

    Args:
        n: individuals, the first places of the pairings.
        mu: of them that will be selected.
        groups: what they play.
        error: probability that anybody is left out who is among the best mu of those still in the race.
        play: plays a part.

    Returns:
        All games, one entry a pairing; and the mean score of every individual. That of one who was left out
        is the mean of those who were not, plus its mean difference to them on the setups that it played.
    """
    racing = np.ones(n, bool)
    totals = [_Total(group, n) for group in groups]
    for stage in range(STAGES):
        for total in totals:
            start, end = total.group.bounds()[stage]
            if end > start:
                total.add(play, racing, start, end)
        if stage < STAGES - 1:
            racing &= ~beaten(totals, racing, mu, error / (n * (STAGES - 1)))
    whole = [total.tally() for total in totals]
    shares = [total.share for total in totals]
    mean = np.average(np.array([total.means() for total in totals]), axis=0, weights=shares)
    return join(whole), mean


def beaten(totals: Sequence["_Total"], racing: np.ndarray, mu: int, error: float) -> np.ndarray:
    """Who is surely worse than at least mu others, by differences on the same setups.

    Args:
        totals: what was played.
        racing: who is still in the race; shape (individuals,).
        mu: to be selected.
        error: probability of each comparison to be wrong, summed over the others.

    Returns:
        Bool, shape (individuals,); at most all but mu.
    """
    n = len(racing)
    found = np.zeros(n, bool)
    alive, played = np.flatnonzero(racing), [total for total in totals if len(total.scores) > 1]
    if len(alive) <= mu or not played:
        return found
    for place in alive:
        gap, doubt = np.zeros(len(alive)), np.zeros(len(alive))
        for total in played:
            less = total.scores[:, alive] - total.scores[:, [place]]
            setups = len(less)
            reach = stdtrit(setups - 1, 1 - error / len(alive))
            gap += total.share * less.mean(axis=0)
            # At least the error that one setup of the worst result would make: few that agree prove nothing.
            error_of_mean = np.maximum(less.std(axis=0, ddof=1) / setups**0.5, 1 / setups)
            doubt += total.share * reach * error_of_mean  # groups share deals: their errors may go together
        found[place] = (gap > doubt).sum() >= mu
    return found


class _Total:
    """The games of a group so far.

    Attributes:
        group: what is played.
        share: of the group in the mean score.
        scores: mean score of every individual by setup, shape (setups, individuals); NaN after it was left
            out.
    """

    def __init__(self, group: Group, n: int) -> None:
        self.group = group
        self.share = float(group.shares[np.unique(group.pairings[:, 1])].sum())
        self.scores = np.zeros((0, n))
        self._parts: list[tuple[np.ndarray, Tally]] = []

    def add(self, play: PlayPart, racing: np.ndarray, start: int, end: int) -> None:
        """Play a stage: all pairings of who is still in the race, with each other and with opponents."""
        n, pairings = len(racing), self.group.pairings
        inside = np.concatenate([racing, np.ones(int(pairings.max()) + 1, bool)])
        which = inside[pairings].all(axis=1)
        part = play(self.group, which, start, end)
        self._parts.append((which, part))
        i, j = pairings[which].T
        sums, counted = np.zeros((2, len(part.by_setup), int(pairings.max()) + 1))
        shares = self.group.shares
        for own, other, points in ((i, j, part.by_setup), (j, i, 1 - part.by_setup)):
            np.add.at(sums.T, own, (points * shares[other]).T)
            np.add.at(counted.T, own, np.broadcast_to(shares[other][:, None], points.T.shape))
        with np.errstate(invalid="ignore", divide="ignore"):
            scores = (sums / counted)[:, :n]
        self.scores = np.concatenate([self.scores, np.where(racing, scores, np.nan)])

    def means(self) -> np.ndarray:
        """Mean score of every individual, in [0, 1]; see `race`.

        Who is left at the end meets each other alone at last, so that their mean falls to a half: who lost
        almost all before would come out below 0.
        """
        usual = self.scores[:, ~np.isnan(self.scores[-1])].mean(axis=1)
        means = usual.mean() + np.nanmean(self.scores - usual[:, None], axis=0)
        return np.asarray(np.clip(means, 0.0, 1.0))

    def tally(self) -> Tally:
        """All games of the group, one entry a pairing."""
        pairings = self.group.pairings
        tables = {}
        for name in ("games", "wins", "draws", "turns"):
            first = getattr(self._parts[0][1], name)
            tables[name] = np.zeros((len(pairings), *first.shape[1:]), first.dtype)
            for which, part in self._parts:
                tables[name][which] += getattr(part, name)
        solved: dict[str, int] = {}
        for _, part in self._parts:
            solved = {name: solved.get(name, 0) + count for name, count in part.solved.items()}
        return Tally(pairings, **tables, solved=solved)
