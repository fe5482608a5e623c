"""Which features of a learned value matter: each left out alone, and the worst left out one after the other.

Every set of features is fitted again on the samples of a folder of `manaforge learn`, and plays the value
with all of them. Source of the backward search: Dash, Handali and Jia, "Do Androids Dream Of Explosive
Sheep?", 4.3, with 200 games a set; here a sequential test says when there are enough.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from engine import find_ruleset
from evo.learning.folder import LearningError, LearningFolder
from evo.learning.methods import METHODS, Samples, Value, log_loss
from evo.learning.run import weights_of
from evo.play.games import GAME, Play, Roster
from evo.play.matchups import Matchups, games_table, make_pairings
from evo.play.results import refuse_faults
from evo.seeds import Stream
from evo.stats.sequential import Sprt
from evo.stats.standings import matchups_table
from ilp_agent.features import FEATURES
from ilp_agent.lookahead.weights import LookaheadWeights

STEP = 400
"""Games at least between two looks at the sequential test."""

COLUMNS = ("features", "left_out", "loss", "games", "score", "low", "high", "verdict")


@dataclass(frozen=True)
class Comparison:
    """A set of features against all of them.

    Attributes:
        features: how many it has.
        left_out: names of those it has not, the last one left out last.
        loss: log loss of its fit on the samples.
        games: that were played against the value with all.
        score: of them, with `low` and `high` its 95% interval.
        low: see there.
        high: see there.
        verdict: "no worse", "worse", or "" where the games did not tell.
    """

    features: int
    left_out: tuple[str, ...]
    loss: float
    games: int
    score: float
    low: float
    high: float
    verdict: str


class Trial:
    """Fits sets of features on the samples of a folder, and plays them against the value with all.

    Args:
        folder: of a finished learning.
        games: against the value with all, at most.
        sprt: elo0 stands for worse, elo1 for no worse.

    Attributes:
        most: games that are played against the value with all, at most: as many for every pair of decks.

    Raises:
        LearningError: it has no samples, or its method does not fit on those of all rounds.
    """

    def __init__(self, folder: LearningFolder, games: int, sprt: Sprt) -> None:
        self.config, self.method = folder.config, METHODS[folder.config.method]
        if not self.method.ALL_ROUNDS:
            raise LearningError(
                f"{folder.path} was learned by {folder.config.method}, not by paired or logistic"
            )
        if len(folder.rounds) < 2:
            raise LearningError(f"{folder.path} has no round yet; manaforge learn plays them")
        rounds = folder.samples_to_fit()
        self.samples = Samples(
            np.concatenate([one.features for one in rounds]),
            np.concatenate([one.points for one in rounds]),
            np.concatenate([one.sequence for one in rounds]),
        )
        cells = len(self.config.decks) ** 2
        self.most, self._sprt = max(2, games // cells // 2 * 2) * cells, sprt
        self.all = self.fit(())
        self.known = [name for name, size in zip(FEATURES, self.all.scale, strict=True) if size]

    def fit(self, left_out: Sequence[str]) -> Value:
        """The value without some features."""
        kept = np.array([name not in left_out for name in FEATURES])
        samples = Samples(self.samples.features * kept, self.samples.points, self.samples.sequence)
        with threadpool_limits(1, "blas"):
            return self.method.learn(None, [samples], {"ridge": self.config.ridge})

    def loss(self, value: Value) -> float:
        """Log loss on the samples."""
        return log_loss(value, self.samples, self.method.PAIRED)

    def weights(self, value: Value, left_out: Sequence[str]) -> LookaheadWeights:
        """A value as weights of the agent; features that are left out weigh nothing."""
        named = weights_of(value, self.config.start).named()
        return LookaheadWeights(**named | {f"value_{name}": 0.0 for name in left_out})

    def test(self, left_out: Sequence[str], play: Play) -> Comparison:
        """Play the value without some features against the one with all."""
        value = self.fit(left_out)
        weights = self.weights(value, left_out), self.weights(self.all, ())
        players = tuple(map(self.config.player_of, weights))
        roster = Roster(players, self.config.found_decks, find_ruleset(self.config.ruleset))
        n_decks = len(roster.decks)
        matchups = Matchups(
            make_pairings(2, "round-robin", ()),
            n_decks,
            self.most // n_decks**2,
            self.config.seed,
            (Stream.LEARNING_TEST, 1),
        )
        played, verdict = np.zeros(0, GAME), ""
        step = -(-STEP // matchups.games_a_round) * matchups.games_a_round
        while len(played) < len(matchups) and not verdict:
            schedule, _ = matchups.schedule(len(played), min(len(matchups), len(played) + step))
            new = play(roster, schedule)
            refuse_faults(roster, schedule, new)
            played = np.concatenate([played, new])
            names = [deck.name for deck in roster.decks]
            row = matchups_table(games_table(matchups, played, ["some", "all"], names)).iloc[0]
            counts = row.filter(like="pairs_").to_numpy(float)
            verdict = {"elo0": "worse", "elo1": "no worse"}.get(str(self._sprt.verdict(counts)), "")
        n = len(self.known) - len(left_out)
        own = float(row["score"]), float(row["low"]), float(row["high"])
        return Comparison(n, tuple(left_out), self.loss(value), len(played), *own, verdict)


def leave_one_out(trial: Trial, play: Play) -> Iterator[Comparison]:
    """Each feature left out alone, in their order."""
    for name in trial.known:
        yield trial.test((name,), play)


def search_backward(trial: Trial, play: Play) -> Iterator[Comparison]:
    """Features left out one after the other, each time the one whose lack the samples notice least."""
    left_out: tuple[str, ...] = ()
    while len(left_out) < len(trial.known) - 1:
        rest = [name for name in trial.known if name not in left_out]
        losses = [trial.loss(trial.fit((*left_out, name))) for name in rest]
        left_out = (*left_out, rest[int(np.argmin(losses))])
        yield trial.test(left_out, play)


def table_of(tested: Sequence[Comparison]) -> pd.DataFrame:
    """One row a set of features; `left_out` is the one left out last."""
    rows = [vars(one) | {"left_out": one.left_out[-1]} for one in tested]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def smallest(tested: Sequence[Comparison]) -> Comparison | None:
    """The smallest set shown to be no worse, before the first that is worse; None where there is none."""
    found = None
    for one in tested:
        if one.verdict == "worse":
            break
        if one.verdict == "no worse":
            found = one
    return found
