"""The stop rule: a run ends where its centre surely gains less than is worth its games.

At every validation the last `window` of them are looked at: the mean score of the second half less that of
the first, deal by deal. The rule may look as often as it likes: the j-th look may err with probability
(1 - confidence) / (j (j + 1)), and these sum to 1 - confidence. It is decided from committed tables alone.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evo.config import RunConfig
from evo.evolution.validation import GAMES_A_DEAL, is_due, scores_by_deal
from evo.stats.gain import Gain, gain_of
from evo.storage.store import RunFolder


class Stop(NamedTuple):
    """Why a run ends.

    Attributes:
        generation: the last.
        first: generation of the first validation of the window.
        gain: within the window.
        sure: probability that it is below the threshold.
        threshold: Elo.
    """

    generation: int
    first: int
    gain: Gain
    sure: float
    threshold: float

    @property
    def sentence(self) -> str:
        """Why, and how sure it is."""
        gain = self.gain
        return (
            f"ended after generation {self.generation}: from the first half of generations {self.first} to "
            f"{self.generation} to the second the centre gained {gain.elo:+.1f} Elo ({gain.low:+.1f} to "
            f"{gain.high:+.1f}), below {self.threshold:g} with probability {self.sure:.2%}"
        )


def stop_of(folder: RunFolder, known: dict[int, np.ndarray] | None = None) -> Stop | None:
    """Where the rule ends a run, by the validations of its committed generations; None if it does not.

    Args:
        folder: of the run.
        known: the centre's scores by deal of validations that were read before; extended in place.
    """
    config, scores = folder.config, {} if known is None else known
    if not config.validation.stop_when_gain_below:
        return None
    due = [
        number for number in range(config.validation.stop_from, folder.committed) if is_due(config, number)
    ]
    for number in due:
        if number not in scores and (table := folder.validation(number)) is not None:
            scores[number] = scores_by_deal(table)
    return first_stop(config, [(number, scores[number]) for number in due if number in scores])


def first_stop(config: RunConfig, validations: Sequence[tuple[int, np.ndarray]]) -> Stop | None:
    """The first look that ends a run.

    Args:
        config: of the run.
        validations: number of the generation and the centre's score by deal, in their order; those of another
            number of deals than the last (of an older version, with none) are left out.
    """
    options = config.validation
    usable = [one for one in validations if len(one[1]) > 1 and len(one[1]) == len(validations[-1][1])]
    for look in range(1, len(usable) - options.window + 2):
        window = usable[look - 1 : look - 1 + options.window]
        gain = gain_of(np.array([scores for _, scores in window]), 1 / GAMES_A_DEAL)
        sure = gain.below(options.stop_when_gain_below)
        if sure >= 1 - (1 - options.confidence) / (look * (look + 1)):
            return Stop(window[-1][0], window[0][0], gain, sure, options.stop_when_gain_below)
    return None
