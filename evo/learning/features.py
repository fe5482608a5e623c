"""Feature selection for a learned value: leave one out, and backward elimination.

Every set of features is fitted again on the samples of a folder of `manaforge learn`, and plays against the
value with all features. Source of the backward search: Dash, Handali and Jia, "Do Androids Dream Of Explosive
Sheep?", 4.3, with 200 games per set; here a sequential test decides when to stop.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from engine import find_ruleset
from evo.learning.folder import LearningError, LearningFolder
from evo.learning.methods import METHODS, Samples, Value, log_loss
from evo.learning.run import agent_card_values, agent_weights
from evo.play.games import GAME, PlayFunction, Roster
from evo.play.matchups import Matchups, games_table, make_pairings
from evo.play.results import raise_on_faults
from evo.seeds import Stream
from evo.stats.sequential import Sprt
from evo.stats.standings import matchups_table
from ilp_agent.features import FEATURES
from ilp_agent.lookahead.weights import LookaheadWeights

MIN_GAMES_PER_STEP = 400
"""Least number of games between two evaluations of the sequential test."""

COLUMNS = ("features", "left_out", "loss", "games", "score", "low", "high", "verdict")


@dataclass(frozen=True)
class SubsetResult:
    """Result of a feature subset: fit, and games against the value function with all features.

    Attributes:
        features: number of features of the subset.
        left_out: names of the other features, in the order in which they were left out.
        loss: log loss of the fit on the samples.
        games: number of games against the value with all features.
        score: win rate in these games, 0 to 1.
        low: lower end of its 95% interval.
        high: upper end of its 95% interval.
        verdict: "no worse", "worse", or "" if the test was inconclusive.
    """

    features: int
    left_out: tuple[str, ...]
    loss: float
    games: int
    score: float
    low: float
    high: float
    verdict: str


class FeatureSelection:
    """Fits value functions of feature subsets on a learning folder's samples, and tests them in games.

    Args:
        folder: of a finished learning run.
        games: most games of a test.
        sprt: sequential test; elo0 means worse, elo1 no worse.

    Attributes:
        most: most games of a test, the same number for every pair of decks.

    Raises:
        LearningError: the folder has no samples, or its method does not fit the samples of all rounds.
    """

    def __init__(self, folder: LearningFolder, games: int, sprt: Sprt) -> None:
        self.config, self.method = folder.config, METHODS[folder.config.method]
        if not self.method.ALL_ROUNDS:
            raise LearningError(
                f"{folder.path} was learned by method {folder.config.method}; features can be left out only "
                "of a value learned by paired or logistic"
            )
        if len(folder.rounds) < 2:
            raise LearningError(f"{folder.path} has no round yet; play rounds with manaforge learn")
        rounds = folder.samples_to_fit()
        self.samples = Samples.join(rounds)
        cells = len(self.config.decks) ** 2
        self.most, self._sprt = max(2, games // cells // 2 * 2) * cells, sprt
        self.all = self.fit(())
        self.known = [name for name, size in zip(FEATURES, self.all.scale, strict=True) if size]

    def fit(self, left_out: Sequence[str]) -> Value:
        """Fit the value function without the features `left_out`."""
        kept = np.array([name not in left_out for name in FEATURES])
        samples = replace(self.samples, features=self.samples.features * kept)
        options = {"ridge": self.config.ridge, "card_ridge": self.config.card_ridge}
        with threadpool_limits(1, "blas"):
            return self.method.learn(None, [samples], options)

    def loss(self, value: Value) -> float:
        """Log loss of a value function on the samples."""
        return log_loss(value, self.samples, self.method.PAIRED)

    def weights(self, value: Value, left_out: Sequence[str]) -> LookaheadWeights:
        """A value function as weights of the agent, 0 for the features left out."""
        named = agent_weights(value, self.config.initial_weights).named()
        return LookaheadWeights(**named | {f"value_{name}": 0.0 for name in left_out})

    def test(self, left_out: Sequence[str], play: PlayFunction) -> SubsetResult:
        """Play the value without some features against the value with all, until the test decides."""
        value = self.fit(left_out)
        players = tuple(
            self.config.player_of(self.weights(one, without), agent_card_values(one, self.config))
            for one, without in ((value, left_out), (self.all, ()))
        )
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
        step = -(-MIN_GAMES_PER_STEP // matchups.games_per_round) * matchups.games_per_round
        while len(played) < len(matchups) and not verdict:
            schedule, _ = matchups.schedule(len(played), min(len(matchups), len(played) + step))
            new = play(roster, schedule)
            raise_on_faults(roster, schedule, new)
            played = np.concatenate([played, new])
            names = [deck.name for deck in roster.decks]
            row = matchups_table(games_table(matchups, played, ["some", "all"], names)).iloc[0]
            counts = row.filter(like="pairs_").to_numpy(float)
            verdict = {"elo0": "worse", "elo1": "no worse"}.get(str(self._sprt.verdict(counts)), "")
        n_features = len(self.known) - len(left_out)
        rates = float(row["score"]), float(row["low"]), float(row["high"])
        return SubsetResult(n_features, tuple(left_out), self.loss(value), len(played), *rates, verdict)


def leave_one_out(trial: FeatureSelection, play: PlayFunction) -> Iterator[SubsetResult]:
    """Leave out each feature alone, in feature order, and test the value without it."""
    for name in trial.known:
        yield trial.test((name,), play)


def backward_elimination(trial: FeatureSelection, play: PlayFunction) -> Iterator[SubsetResult]:
    """Backward elimination: drop the feature whose loss raises the log loss least, test the rest; repeat."""
    left_out: tuple[str, ...] = ()
    while len(left_out) < len(trial.known) - 1:
        rest = [name for name in trial.known if name not in left_out]
        losses = [trial.loss(trial.fit((*left_out, name))) for name in rest]
        left_out = (*left_out, rest[int(np.argmin(losses))])
        yield trial.test(left_out, play)


def subsets_table(tested: Sequence[SubsetResult]) -> pd.DataFrame:
    """Table of tested subsets, one row each; `left_out` is the feature left out last."""
    rows = [vars(comparison) | {"left_out": comparison.left_out[-1]} for comparison in tested]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def smallest_no_worse(tested: Sequence[SubsetResult]) -> SubsetResult | None:
    """The smallest subset shown to be no worse than all features, before any that is worse; None if none."""
    found = None
    for comparison in tested:
        if comparison.verdict == "worse":
            break
        if comparison.verdict == "no worse":
            found = comparison
    return found
