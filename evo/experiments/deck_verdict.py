"""Is a deck too strong? Its games against a field, each side played by the best of several agents.

First every agent plays the deck against every agent with each deck of the field; the best for each side are
chosen. Then these play new deals, and the verdict counts those alone: no game both chooses and judges.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from engine import Deck, Ruleset, find_ruleset
from engine.codes import Outcome
from engine.decks import default_ruleset
from engine.streams import stream_key
from evo.experiments.card_worth import SHARES, worth_sentence
from evo.experiments.folder import ExperimentOptionError
from evo.figures.page import Section, html_table, interval_cells, make_page
from evo.play.entrants import find_entrant
from evo.play.games import Player, PlayFunction, Roster, Schedule
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
    def total(self) -> int:
        """Number of all games."""
        return len(self.field) * (self.games + self.choosing * len(self.pilots) ** 2)

    def roster(self) -> Roster:
        """The agents, and the deck before the field."""
        return Roster(self.pilots, (self.deck, *self.field), self.ruleset)

    def schedule(self, part: int, rival: int, pilots: tuple[int, int], games: int) -> Schedule:
        """Games of the deck against a deck of the field, each deal twice, the seats exchanged.

        Args:
            part: 0 for the games that choose, 1 for those that judge: other deals.
            rival: index in the field.
            pilots: agents of the deck and of the rival.
            games: number, even.
        """
        keys = [stream_key(self.seed, Stream.EXPERIMENT, 7, part, rival, deal) for deal in range(games // 2)]
        return Schedule.from_both_seats(np.array(pilots), np.array([0, 1 + rival]), keys)


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


def choose_pilots(study: VerdictStudy, play: PlayFunction) -> tuple[int, list[int]]:
    """The agent that plays the deck best, and for each deck of the field the best agent against that one."""
    n = len(study.pilots)
    if n == 1:
        return 0, [0] * len(study.field)
    scores = np.zeros((n, len(study.field), n))
    for rival in range(len(study.field)):
        for own in range(n):
            for other in range(n):
                games = study.schedule(0, rival, (own, other), study.choosing)
                scores[own, rival, other] = _points(games, play(study.roster(), games)).mean()
    best = int(scores.mean(axis=(1, 2)).argmax())
    return best, [int(place) for place in scores[best].argmin(axis=1)]


def judge(study: VerdictStudy, play: PlayFunction, pilots: tuple[int, Sequence[int]]) -> pd.DataFrame:
    """Play the games that judge.

    Args:
        study: deck, field and agents.
        play: plays a schedule.
        pilots: from `choose_pilots`.

    Returns:
        One row per deck of the field: deck, pilot, rival (agents), games, score, low, high (95%), first and
        second (scores going first and second), rounds (mean), capped (share of games that met the turn cap).
    """
    own, others = pilots
    rows = []
    for rival, other in enumerate(others):
        games = study.schedule(1, rival, (own, other), study.games)
        played = play(study.roster(), games)
        points = _points(games, played)
        first = points_of_first(played["outcome"])
        score, low, high = mean_interval(points)
        rows.append(
            {
                "deck": study.field[rival].name,
                "pilot": study.names[own],
                "rival": study.names[other],
                "games": len(games),
                "score": score,
                "low": low,
                "high": high,
                "first": float(first[0::2].mean()),
                "second": float(1 - first[1::2].mean()),
                "rounds": float(played["turns"].mean()),
                "capped": float((played["outcome"] == Outcome.DRAW).mean()),
            }
        )
    return pd.DataFrame(rows)


def _points(games: Schedule, played: np.ndarray) -> np.ndarray:
    """Mean score of the deck on each deal; the deck goes first in the even games."""
    first = points_of_first(played["outcome"])
    points: np.ndarray = (first[0::2] + 1 - first[1::2]) / 2
    assert len(points) == len(games) // 2, "both seats of each deal"
    return points


def mean_interval(points: np.ndarray) -> tuple[float, float, float]:
    """Mean of points by deal, and its 95% interval, within [0, 1]."""
    n, mean = len(points), float(points.mean())
    error = max(float(points.std(ddof=1)), 0.5 / n**0.5) / n**0.5
    half_width = float(stdtrit(n - 1, 0.975)) * error
    return mean, max(0.0, mean - half_width), min(1.0, mean + half_width)


def overall(table: pd.DataFrame) -> tuple[float, float, float]:
    """Mean score over the field, each deck alike, and its 95% interval."""
    half_width = float(np.sqrt((((table["high"] - table["low"]) / 2) ** 2).sum())) / len(table)
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
        word = "strong" if low > 0.5 else "weak" if high < 0.5 else "even"
        said = f"{deck} scores {points}: {word}, but not told from fair (45% to 55%); play more games."
    return said + matchups


def curve(deck: Deck) -> pd.DataFrame:
    """Number of the deck's cards by cost, the highest together."""
    costs = np.minimum([card.spec.cost for card in deck.cards], CURVE_END)
    names = [*map(str, range(CURVE_END)), f"{CURVE_END}+"]
    return pd.DataFrame([np.bincount(costs, minlength=CURVE_END + 1)], columns=names).assign(deck=deck.name)[
        ["deck", *names]
    ]


def verdict_page(
    study: VerdictStudy, table: pd.DataFrame, worth: pd.DataFrame, pilot: str, command: str
) -> bytes:
    """The page of a verdict, HTML.

    Args:
        study: deck, field and agents.
        table: from `judge`.
        worth: of the deck's cards, from `evo.experiments.card_worth.measure_worth`; empty for a random deck.
        pilot: agent that plays both sides for `worth`.
        command: command that repeats it.
    """
    verdict = verdict_sentence(study.deck.name, table)
    shown = table.assign(interval=interval_cells(table, "low", "high", "{:.1%}"))
    shown = shown[
        ["deck", "pilot", "rival", "games", "score", "interval", "first", "second", "rounds", "capped"]
    ]
    shown = shown.rename(columns={"pilot": "played by", "rival": "against", "interval": "95% interval"})
    advantage = float((table["first"] - table["second"]).mean())
    formats = SHARES | dict.fromkeys(("first", "second", "capped"), "{:.1%}")
    formats |= {"rounds": "{:.1f}", "games": "{:,}"}
    choice = f"the best of {', '.join(study.names)}" if len(study.pilots) > 1 else study.names[0]
    sections = [
        Section(
            "Is it too strong?",
            verdict,
            [html_table(shown, formats, "Matchups")],
            f"Ruleset {study.ruleset.name}. Each side is played by {choice}, chosen on other deals. First, "
            "second: scores going first and second. Capped: games that met the turn cap. Fair is "
            f"{0.5 - TOLERANCE:.0%} to {0.5 + TOLERANCE:.0%}.",
            verdict,
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
