"""Ablation study: the Elo lost without each weight of a profile, and the report page.

The profile plays copies of itself with one or two weights set to 0, on common random numbers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from engine import Deck, Ruleset
from evo.evolution.fitness import play_pairings
from evo.experiments.folder import ExperimentOptionError
from evo.experiments.plots import plot_worth
from evo.figures.page import Section, html_table, image, interval_cells, make_page
from evo.figures.style import draw, draw_wide_and_narrow
from evo.play.games import Player, PlayFunction, Roster
from evo.seeds import Stream
from evo.stats.ratings import ELO, elo
from rivals import find_kind

COPIES_PER_SCHEDULE = 32
"""Number of copies that play the profile in one schedule."""


@dataclass(frozen=True)
class Ablation:
    """Settings of an ablation study.

    Attributes:
        player: player whose weights are left out.
        decks: decks; every ordered pair is played.
        ruleset: of the games.
        games: per copy and ordered pair of decks; even.
        pairs: whether pairs of weights are left out too.
        seed: of the deals.
    """

    player: Player
    decks: tuple[Deck, ...]
    ruleset: Ruleset
    games: int
    pairs: bool
    seed: int

    @property
    def weights(self) -> dict[str, float]:
        """The profile's weights that are not 0 and can change decisions with these decks, by name.

        Raises:
            ExperimentOptionError: there is none, or the agent has no weights.
        """
        kind = find_kind(self.player.kind).weights
        if kind is None:
            raise ExperimentOptionError(f"agent {self.player.kind} has no weights to leave out")
        if self.player.deck_weights:
            raise ExperimentOptionError(
                "the profile has weights for single decks; name one with one vector for all decks"
            )
        named = kind.from_array(self.player.weights).named()
        inert = kind.class_for(named).inert(card for deck in self.decks for card in deck.cards)
        found = {name: value for name, value in named.items() if value != 0 and name not in inert}
        if not found:
            raise ExperimentOptionError(
                "no weight can be left out: each is 0 or changes no decision with these decks; "
                "choose other decks"
            )
        return found

    @property
    def left_out(self) -> list[tuple[str, ...]]:
        """Sets of weights to leave out: each weight alone, then pairs."""
        names = list(self.weights)
        return [(name,) for name in names] + (list(combinations(names, 2)) if self.pairs else [])

    @property
    def total(self) -> int:
        """Total number of games of the study."""
        return len(self.left_out) * self.games * len(self.decks) ** 2

    def without(self, names: Iterable[str]) -> Player:
        """The profile with some weights set to 0."""
        kind = find_kind(self.player.kind).weights
        assert kind is not None, "weights were found"
        named = kind.from_array(self.player.weights).named()
        values = {name: 0.0 if name in set(names) else value for name, value in named.items()}
        return replace(self.player, weights=tuple(values.values()))


def run_ablation(ablation: Ablation, play: PlayFunction) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Play the profile against a copy without each weight, and estimate the worth of each weight.

    Args:
        ablation: settings.
        play: plays a schedule.

    Returns:
        Weights, the highest worth first: columns weight, value, share (of the sum of absolute values), games,
        score (of the profile), elo (worth), low, high (95%). Pairs, the largest interaction first: columns
        weight, other, games, score, elo, low, high, interaction (joint worth less the worth of each),
        interaction_low, interaction_high; empty without pairs.
    """
    names = ablation.left_out
    scores = _scores(ablation, names, play)
    weights = ablation.weights
    size = sum(map(abs, weights.values()))
    single = pd.DataFrame(
        [
            {
                "weight": name,
                "value": weights[name],
                "share": abs(weights[name]) / size,
                **_rated(column),
            }
            for (name,), column in zip(names[: len(weights)], scores.T, strict=False)
        ]
    ).sort_values("elo", ascending=False, ignore_index=True)
    index = {name: number for number, (name,) in enumerate(names[: len(weights)])}
    rows = []
    for (first, second), together in zip(names[len(weights) :], scores.T[len(weights) :], strict=True):
        worth = [_in_elo(column) for column in (together, scores[:, index[first]], scores[:, index[second]])]
        least = 0.5 / len(together) * sum(unit for _, unit in worth)
        interaction = _mean(worth[0][0] - worth[1][0] - worth[2][0], least)
        keys = ("interaction", "interaction_low", "interaction_high")
        rows.append(
            {
                "weight": first,
                "other": second,
                **_rated(together),
                **dict(zip(keys, interaction, strict=True)),
            }
        )
    pairs = pd.DataFrame(rows)
    if len(pairs):
        order = pairs["interaction"].abs().sort_values(ascending=False).index
        pairs = pairs.loc[order].reset_index(drop=True)
    return single, pairs


def _scores(ablation: Ablation, names: Sequence[tuple[str, ...]], play: PlayFunction) -> np.ndarray:
    """Profile's score against each copy in each setup, the same setups for all; shape (setups, copies)."""
    found = []
    for start in range(0, len(names), COPIES_PER_SCHEDULE):
        copies = [ablation.without(some) for some in names[start : start + COPIES_PER_SCHEDULE]]
        roster = Roster((ablation.player, *copies), ablation.decks, ablation.ruleset)
        pairings = np.array([(0, 1 + place) for place in range(len(copies))])
        address = (Stream.EXPERIMENT, 3)
        found.append(play_pairings(roster, pairings, ablation.games, ablation.seed, address, play).by_setup)
    return np.concatenate(found, axis=1)


def _rated(scores: np.ndarray) -> dict[str, float]:
    """Number of games, score, and Elo with its interval, from scores by setup.

    With all games won, half a game is counted as lost.
    """
    n = len(scores)
    score, low, high = _mean(scores, 0.5 / n)
    ends = np.clip((score, low, high), 1 / (4 * n), 1 - 1 / (4 * n))
    return {"games": 2 * n, "score": score, **dict(zip(("elo", "low", "high"), map(elo, ends), strict=True))}


def _in_elo(scores: np.ndarray) -> tuple[np.ndarray, float]:
    """Convert scores by setup to Elo, linearized at the mean score; returns Elo, and Elo per score."""
    n = len(scores)
    middle = float(np.clip(scores.mean(), 1 / (4 * n), 1 - 1 / (4 * n)))
    unit = ELO / (middle * (1 - middle))
    return elo(middle) + unit * (scores - scores.mean()), unit


def _mean(values: np.ndarray, least: float) -> tuple[float, float, float]:
    """Mean over setups, and the mean's 95% interval; the standard error is at least `least`."""
    n, mean = len(values), float(values.mean())
    standard_error = float(values.std(ddof=1)) / n**0.5 if n > 1 else 2 * least
    half_width = float(stdtrit(max(n - 1, 1), 0.975)) * max(standard_error, least)
    return mean, mean - half_width, mean + half_width


FORMATS = {"share": "{:.1%}", "score": "{:.1%}", "Elo": "{:+.1f}", "games": "{:,}", "value": "{:.3g}"}


def ablation_page(
    entrant: str, ablation: Ablation, single: pd.DataFrame, pairs: pd.DataFrame, command: str
) -> bytes:
    """The report page of an ablation study, HTML.

    Args:
        entrant: entrant text of the profile.
        ablation: settings.
        single: table of weights, from `run_ablation`.
        pairs: table of pairs, likewise; may be empty.
        command: command that repeats it.
    """
    decks = ", ".join(deck.name for deck in ablation.decks)
    top = single.iloc[0]
    interval = f"{top['low']:.1f} to {top['high']:.1f}"
    text = (
        f"The most valuable weight is {top['weight']}; without it {top['elo']:.1f} Elo ({interval}) are lost."
    )
    none = single[(single["low"] <= 0) & (single["high"] >= 0)]["weight"]
    if len(none):
        text += f" No effect is shown for {', '.join(none)}."
    shown = single.assign(interval=interval_cells(single, "low", "high", "{:+.1f}")).drop(
        columns=["low", "high"]
    )
    sections = [
        Section(
            "What is each weight worth?",
            text,
            [
                image(
                    draw_wide_and_narrow(plot_worth, single, height=1.0 + 0.28 * len(single)),
                    "Elo lost without each weight",
                ),
                html_table(
                    shown.rename(columns={"elo": "Elo", "interval": "95% interval"}), FORMATS, "Weights"
                ),
            ],
            f"{entrant} against copies of itself with that weight 0, on the same deals for all: decks "
            f"{decks}, ruleset {ablation.ruleset.name}. Score: of the full profile. Share: of the sum of "
            "absolute weights.",
            text,
        )
    ]
    if len(pairs):
        sections.append(_pairs_section(pairs))
    return make_page(f"What the weights of {entrant} are worth", sections, command)


def ablation_figure(single: pd.DataFrame) -> bytes:
    """Figure of the worth of each weight, a PNG file."""
    return draw(plot_worth, single, width=6.2, height=1.0 + 0.28 * len(single)).png


def _pairs_section(pairs: pd.DataFrame) -> Section:
    """Section on interactions of pairs of weights."""
    sure = pairs[(pairs["interaction_low"] > 0) | (pairs["interaction_high"] < 0)]
    more = sure[sure["interaction"] > 0]
    text = (
        f"{len(sure)} of {len(pairs)} pairs interact: together they are worth more or less than their sum. "
        f"{len(more)} are worth more: each of the two makes up for the other."
    )
    table = pairs.assign(interval=interval_cells(pairs, "interaction_low", "interaction_high", "{:+.1f}"))
    table = table[["weight", "other", "games", "score", "elo", "interaction", "interval"]].rename(
        columns={"elo": "Elo", "interaction": "interaction, Elo", "interval": "95% interval"}
    )
    return Section(
        "Which weights can replace each other?",
        text,
        [html_table(table, FORMATS | {"interaction, Elo": "{:+.1f}"}, "Pairs")],
        "Intervals are per pair: of a hundred pairs without interaction, about five exclude 0.",
        text,
    )
