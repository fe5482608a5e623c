"""Is a deck too strong? Its games against a field, each side played by the best of several agents.

First every agent plays the deck against every agent with each deck of the field, and each side gets the best
of them there. Then these play new deals, and the verdict counts those alone: no game both chooses and judges.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from engine import Deck, Ruleset, find_deck, find_ruleset
from engine.cards.patches import NO_PATCH
from engine.codes import Outcome
from engine.decks import default_ruleset, split_deck_prefix
from engine.streams import stream_key
from evo.experiments.card_worth import SHARES, worth_sentence
from evo.experiments.folder import ExperimentOptionError
from evo.figures.page import Section, html_table, interval_cells, make_page
from evo.play.entrants import find_entrant
from evo.play.games import Player, PlayFunction, Roster, Schedule
from evo.play.results import points_of_deals
from evo.seeds import Stream
from evo.stats.ratings import points_of_first
from rivals import refuse_decks

TOLERANCE = 0.05
"""A deck is fair if it scores no further from 50% than this."""

CHOOSING_SHARE = 5
"""The games that choose each pair of agents are one in so many of those that judge."""

FEWEST_CHOOSING = 20
"""But at least so many."""

DEFAULT_PILOTS = "eva,greedy-ilp:true-balanced,aggro"
"""Agents of a verdict for which none are chosen: fast ones that play all decks."""

CURVE_END = 7
"""Costs from this on are counted together."""


@dataclass(frozen=True)
class VerdictStudy:
    """Games of a deck against a field.

    Attributes:
        deck: the deck.
        field: decks that it plays against.
        names: of the agents.
        pilots: agents, the best of which plays each side.
        ruleset: of the games.
        games: that judge, per deck of the field; even.
        seed: of the deals.

    Raises:
        ExperimentOptionError: the number of games is odd, or there is no deck in the field or no agent.
    """

    deck: Deck
    field: tuple[Deck, ...]
    names: tuple[str, ...]
    pilots: tuple[Player, ...]
    ruleset: Ruleset
    games: int
    seed: int

    def __post_init__(self) -> None:
        if self.games % 2 or self.games < 4:
            raise ExperimentOptionError(f"--games must be even and at least 4, got {self.games}")
        if not self.field or not self.pilots:
            raise ExperimentOptionError("a verdict needs at least one deck in --field and one agent")

    @property
    def choosing(self) -> int:
        """Games that choose, per pair of agents and deck of the field; even."""
        return max(FEWEST_CHOOSING, 2 * (self.games // CHOOSING_SHARE // 2)) if len(self.pilots) > 1 else 0

    @property
    def judging(self) -> int:
        """Number of games that judge."""
        return len(self.field) * self.games

    @property
    def total(self) -> int:
        """Number of all games."""
        return self.judging + len(self.field) * self.choosing * len(self.pilots) ** 2

    def points(
        self, part: int, rival: int, pilots: tuple[int, int], play: PlayFunction
    ) -> tuple[np.ndarray, np.ndarray]:
        """Play the deck against a deck of the field, each deal twice, the seats exchanged.

        Args:
            part: 0 for the games that choose, 1 for those that judge: other deals.
            rival: index in the field.
            pilots: agents of the deck and of the rival.
            play: plays a schedule.

        Returns:
            Points of the deck on each deal, and the games, in the even of which the deck goes first.
        """
        n = (self.games if part else self.choosing) // 2
        keys = [stream_key(self.seed, Stream.EXPERIMENT, 7, part, rival, deal) for deal in range(n)]
        games = Schedule.from_both_seats(np.array(pilots), np.array([0, 1 + rival]), keys)
        roster = Roster(self.pilots, (self.deck, *self.field), self.ruleset)
        played = play(roster, games)
        return points_of_deals(roster, games, played), played


def make_verdict_study(
    deck: Deck, field: Sequence[Deck], players: Sequence[str], games: int, ruleset: str, seed: int
) -> VerdictStudy:
    """Define a study by the names of its agents and its ruleset.

    Args:
        deck: the deck.
        field: decks that it plays against.
        players: entrants.
        games: that judge, per deck of the field; even.
        ruleset: name; "": the decks' default.
        seed: of the deals.

    Raises:
        ExperimentOptionError, EntrantError, UnknownNameError: an argument is not valid.
        AgentError: an agent does not play the decks.
    """
    pilots = tuple(find_entrant(text).player for text in players)
    decks = (deck, *field)
    refuse_decks((one.kind_and_backend for one in pilots), decks)
    rules = find_ruleset(ruleset or default_ruleset(decks))
    return VerdictStudy(deck, tuple(field), tuple(players), pilots, rules, games, seed)


def find_plain_study(study: VerdictStudy, names: Sequence[str]) -> VerdictStudy | None:
    """The study with the decks as printed; None if no deck's text has a patch.

    Args:
        study: the study.
        names: texts of its deck and of the field's, where `--patch` is a prefix.
    """
    parts = [split_deck_prefix(name) for name in names]
    if not any(part.reading.patch for part in parts):
        return None
    own, *others = (find_deck(replace(part.reading, patch=NO_PATCH).text + part.deck) for part in parts)
    return replace(study, deck=own, field=tuple(others))


def choose_pilots(study: VerdictStudy, play: PlayFunction) -> list[tuple[int, int]]:
    """The agents of the deck and of the rival for each deck of the field.

    Each side has the agent that scores best on average against all agents of the other side: the same rule
    for both, so that no deck is chosen against.
    """
    n = len(study.pilots)
    if n == 1:
        return [(0, 0)] * len(study.field)
    found = []
    for rival in range(len(study.field)):
        scores = np.array(
            [[study.points(0, rival, (own, other), play)[0].mean() for other in range(n)] for own in range(n)]
        )
        found.append((int(scores.mean(axis=1).argmax()), int(scores.mean(axis=0).argmin())))
    return found


def judge(
    study: VerdictStudy, play: PlayFunction, pilots: Sequence[tuple[int, int]]
) -> tuple[pd.DataFrame, list[np.ndarray]]:
    """Play the games that judge.

    Args:
        study: deck, field and agents.
        play: plays a schedule.
        pilots: from `choose_pilots`.

    Returns:
        One row per deck of the field: deck, pilot, rival (agents), games, score, low, high (95%), error
        (standard error of score), first and second (scores going first and second), rounds (mean), drawn
        (share of games without a winner: the turn cap, or both heroes dead). And the deck's points on each
        deal, by deck of the field.
    """
    rows, deals = [], []
    for rival, (own, other) in enumerate(pilots):
        points, played = study.points(1, rival, (own, other), play)
        deals.append(points)
        first = points_of_first(played["outcome"])
        score, low, high = mean_interval(points)
        rows.append(
            {
                "deck": study.field[rival].name,
                "pilot": study.names[own],
                "rival": study.names[other],
                "games": 2 * len(points),
                "score": score,
                "low": low,
                "high": high,
                "error": standard_error(points),
                "first": float(first[0::2].mean()),
                "second": float(1 - first[1::2].mean()),
                "rounds": float(played["turns"].mean()),
                "drawn": float((played["outcome"] == Outcome.DRAW).mean()),
            }
        )
    return pd.DataFrame(rows), deals


def standard_error(points: np.ndarray) -> float:
    """Standard error of the mean of points by deal; at least that of half a game off in one deal."""
    root = math.sqrt(len(points))
    deviation = max(float(points.std(ddof=1)), 0.5 / root)
    return deviation / root


def mean_interval(points: np.ndarray) -> tuple[float, float, float]:
    """Mean of points by deal, and its 95% interval, within [0, 1]."""
    mean = float(points.mean())
    half_width = float(stdtrit(len(points) - 1, 0.975)) * standard_error(points)
    return mean, max(0.0, mean - half_width), min(1.0, mean + half_width)


def overall(table: pd.DataFrame) -> tuple[float, float, float]:
    """Mean score over the field, each deck alike, and its 95% interval."""
    error = float(np.sqrt((table["error"] ** 2).sum())) / len(table)
    half_width = float(stdtrit((table["games"] / 2 - 1).sum(), 0.975)) * error
    score = float(table["score"].mean())
    return score, max(0.0, score - half_width), min(1.0, score + half_width)


def verdict_sentence(deck: str, table: pd.DataFrame) -> str:
    """The verdict in words: too strong, too weak, fair, or undecided."""
    score, low, high = overall(table)
    points = f"{score:.1%} against the field ({low:.1%} to {high:.1%})"
    best, worst = table.loc[table["score"].idxmax()], table.loc[table["score"].idxmin()]
    matchups = f" Best against {best['deck']} ({best['score']:.1%}), worst against {worst['deck']} "
    matchups = f"{matchups}({worst['score']:.1%})." if len(table) > 1 else ""
    if low > 0.5 + TOLERANCE:
        said = f"{deck} is too strong by {100 * (score - 0.5):.1f} points: it scores {points}."
    elif high < 0.5 - TOLERANCE:
        said = f"{deck} is too weak by {100 * (0.5 - score):.1f} points: it scores {points}."
    elif low >= 0.5 - TOLERANCE and high <= 0.5 + TOLERANCE:
        said = f"{deck} is fair: it scores {points}."
    else:
        word = "strong, but " if low > 0.5 else "weak, but " if high < 0.5 else ""
        said = f"{deck} scores {points}: {word}not told from fair (45% to 55%); play more games."
    return said + matchups


def patch_effect(before: Sequence[np.ndarray], after: Sequence[np.ndarray]) -> tuple[float, float, float]:
    """What a patch changes in a deck's score over the field, and its 95% interval.

    Args:
        before: points of the deck on each deal, by deck of the field.
        after: the same with the patch, on the same deals and by the same agents.
    """
    differences = [own - old for old, own in zip(before, after, strict=True)]
    error = math.sqrt(sum(standard_error(one) ** 2 for one in differences)) / len(differences)
    half_width = float(stdtrit(sum(len(one) - 1 for one in differences), 0.975)) * error
    mean = float(np.mean([one.mean() for one in differences]))
    return mean, mean - half_width, mean + half_width


def patch_sentence(effect: tuple[float, float, float]) -> str:
    """What a patch changes, in words."""
    mean, low, high = (100 * value for value in effect)
    told = "" if low > 0 or high < 0 else ", which is not told from nothing"
    return (
        f"On the same deals, by the same agents, the patch changes its score by {mean:+.1f} points "
        f"({low:+.1f} to {high:+.1f}){told}."
    )


def curve(deck: Deck) -> pd.DataFrame:
    """Number of the deck's cards by cost, the highest together."""
    costs = np.minimum([card.spec.cost for card in deck.cards], CURVE_END)
    names = [*map(str, range(CURVE_END)), f"{CURVE_END}+"]
    return pd.DataFrame([np.bincount(costs, minlength=CURVE_END + 1)], columns=names).assign(deck=deck.name)[
        ["deck", *names]
    ]


def verdict_page(
    study: VerdictStudy, table: pd.DataFrame, worth: pd.DataFrame, pilot: str, said: str, command: str
) -> bytes:
    """The page of a verdict, HTML.

    Args:
        study: deck, field and agents.
        table: from `judge`.
        worth: of the deck's cards, from `evo.experiments.card_worth.measure_worth`; empty for a random deck.
        pilot: agent that plays both sides for `worth`.
        said: the verdict in words.
        command: command that repeats it.
    """
    shown = table.assign(interval=interval_cells(table, "low", "high", "{:.1%}"))
    shown = shown[
        ["deck", "pilot", "rival", "games", "score", "interval", "first", "second", "rounds", "drawn"]
    ]
    names = {"deck": "against", "pilot": "played by", "rival": "and by", "interval": "95% interval"}
    shown = shown.rename(columns=names)
    advantage = float((table["first"] - table["second"]).mean())
    formats = SHARES | dict.fromkeys(("first", "second", "drawn"), "{:.1%}")
    formats |= {"rounds": "{:.1f}", "games": "{:,}"}
    choice = f"the best of {', '.join(study.names)}" if len(study.pilots) > 1 else study.names[0]
    sections = [
        Section(
            "Is it too strong?",
            said,
            [html_table(shown, formats, "Matchups")],
            f"Ruleset {study.ruleset.name}. Each side is played by {choice}, chosen on other deals. First, "
            "second: scores going first and second. Drawn: games that met the turn cap, or killed both "
            f"heroes. Fair is "
            f"{0.5 - TOLERANCE:.0%} to {0.5 + TOLERANCE:.0%}.",
            said,
        ),
        Section(
            "How its games go",
            f"A game lasts {table['rounds'].mean():.1f} rounds on average; going first is worth "
            f"{100 * advantage:+.1f} points to it.",
            [html_table(curve(study.deck), {}, "Cards by cost")],
        ),
    ]
    if len(worth):
        said = worth_sentence(worth)
        cards = worth.assign(interval=interval_cells(100 * worth[["low", "high"]], "low", "high", "{:+.1f}"))
        cards = cards[["card", "copies", "cost", "worth", "interval"]].rename(
            columns={"interval": "interval, points"}
        )
        sections.append(
            Section(
                "Which cards carry it?",
                said,
                [html_table(cards, SHARES, "Worth of each card")],
                f"Score lost on the same deals with blanks in place of the card, played by {pilot} on both "
                "sides; the intervals hold for all cards together with 95%.",
                said,
            )
        )
    return make_page(f"Verdict on {study.deck.name}", sections, command)
