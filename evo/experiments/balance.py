"""Balance of a field: patches that bring every matchup near even, with as few edits as it takes.

NSGA-II searches patches for two aims: the distance of the matchups from even, and the number and size of the
edits. All candidates play the same deals. Chance favours what is chosen, so the front plays other deals
before it counts, by agents that the search never saw, too.

Source: de Mesentier Silva and others, "Evolving the Hearthstone Meta" (2019, arXiv 1907.01623).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
import pandas as pd
from deap import base, tools
from pydantic import Field, model_validator

from engine import Deck, Ruleset, find_deck, find_ruleset
from engine.cards import Card
from engine.cards.patches import (
    NO_PATCH,
    Patch,
    PrintedNumber,
    find_patched_card,
    is_patchable,
    parse_patch,
    printed_numbers,
)
from engine.decks import default_ruleset
from engine.errors import ManaforgeError
from engine.streams import generator, stream_key
from evo.config.keys import Settings
from evo.experiments.deck_verdict import mean_interval
from evo.figures.page import Section, heat_table, html_table, make_page
from evo.play.entrants import find_entrant
from evo.play.games import Player, PlayFunction, Roster, Schedule
from evo.seeds import Stream
from evo.stats.ratings import points_of_first
from rivals import refuse_decks

ALL_CARDS = "*"
"""In place of a card: every card of the decks that has the numbers."""


class EditKeys(Settings):
    """Numbers that may change, of one card or of all."""

    card: Annotated[str, Field(description=f'a card of the decks, by name or id; "{ALL_CARDS}": every one')]
    numbers: Annotated[
        tuple[str, ...],
        Field(
            strict=False, min_length=1, description="numbers that may change, by the names of manaforge card"
        ),
    ]
    by: Annotated[int, Field(ge=1, le=30, description="largest change of a number, up and down")] = 1


class BalanceConfig(Settings):
    """Configuration of `manaforge balance`."""

    schema_version: Annotated[Literal[1], Field(alias="schema", description="version of this format")] = 1
    seed: Annotated[int, Field(ge=0, lt=2**63, description="seed of the search and all games")] = 1
    decks: Annotated[
        tuple[str, ...],
        Field(strict=False, min_length=2, max_length=64, description="the field: names, files or deck codes"),
    ]
    ruleset: Annotated[str, Field(description='ruleset of the games; "": the default of the decks')] = ""
    pilot: Annotated[str, Field(description="entrant that plays all games of the search: a fast one")] = "eva"
    games: Annotated[
        int, Field(ge=2, le=10**6, multiple_of=2, description="games of a matchup of a candidate; even")
    ] = 200
    tolerance: Annotated[
        float, Field(gt=0, lt=0.5, description="a matchup is fair if its score is no further from 50%")
    ] = 0.05
    population: Annotated[int, Field(ge=4, le=1_000, description="candidates of a generation")] = 24
    generations: Annotated[int, Field(ge=1, le=10_000, description="generations after the first")] = 20
    most_edits: Annotated[int, Field(ge=1, le=100, description="most numbers that a patch changes")] = 6
    edits: Annotated[
        tuple[EditKeys, ...], Field(strict=False, min_length=1, description="numbers that may change")
    ]
    measure: Annotated[
        tuple[str, ...], Field(strict=False, min_length=1, description="entrants that measure the front")
    ] = ("eva", "greedy-ilp:true-balanced")
    measure_games: Annotated[
        int, Field(ge=4, le=10**6, multiple_of=2, description="games of a matchup in the measurement; even")
    ] = 1_000
    most_measured: Annotated[int, Field(ge=1, le=100, description="most patches of the front to measure")] = 6
    workers: Annotated[int, Field(ge=0, le=100_000, description="threads; 0: one per processor")] = 0

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        try:
            _ = self.found_edits
            find_ruleset(self.ruleset or default_ruleset(self.found_decks))
            for entrant in (self.pilot, *self.measure):
                refuse_decks([find_entrant(entrant).player.kind_and_backend], self.found_decks)
        except ManaforgeError as error:
            raise ValueError(str(error)) from None
        names = [deck.name for deck in self.found_decks]
        if len(set(names)) < len(names):
            raise ValueError(f"decks: two decks with the same name in {', '.join(names)}; rename one")
        return self

    @property
    def found_decks(self) -> tuple[Deck, ...]:
        """The decks of the field."""
        return tuple(map(find_deck, self.decks))

    @property
    def found_ruleset(self) -> Ruleset:
        """The ruleset of the games."""
        return find_ruleset(self.ruleset or default_ruleset(self.found_decks))

    @property
    def found_edits(self) -> "tuple[Edit, ...]":
        """The numbers that may change, each once.

        Raises:
            PatchError, UnknownNameError: a card is unknown, or does not have a number.
            ValueError: a card is in no deck.
        """
        held: dict[str, Card] = {}
        for card in (card for deck in self.found_decks for card in deck.cards):
            if card.id and is_patchable(card):
                held.setdefault(find_patched_card(card.id).id, card)
        found: dict[tuple[str, str], Edit] = {}
        for keys in self.edits:
            ids = list(held) if keys.card == ALL_CARDS else [find_patched_card(keys.card).id]
            if not set(ids) <= set(held):
                raise ValueError(f"edits: {keys.card} is in none of the decks {', '.join(self.decks)}")
            own = {
                (name, number.name): Edit.around(name, number, keys.by)
                for name in ids
                for number in printed_numbers(held[name])
                if number.name in keys.numbers
            }
            missing = set(keys.numbers) - {name for _, name in own}
            if missing:
                raise ValueError(
                    f"edits: {keys.card} has no {' and no '.join(sorted(missing))}; see manaforge card NAME"
                )
            found = own | found
        return tuple(found.values())


class Edit(NamedTuple):
    """A number that may change.

    Attributes:
        card: id of the card.
        number: name, of `engine.cards.patches.printed_numbers`.
        printed: its value in the decks.
        low: smallest value.
        high: largest value.
    """

    card: str
    number: str
    printed: int
    low: int
    high: int

    @classmethod
    def around(cls, card: str, number: PrintedNumber, by: int) -> "Edit":
        """A number that may change by at most `by`."""
        low, high = max(number.value - by, number.low), min(number.value + by, number.high)
        return cls(card, number.name, number.value, low, high)


Genome = tuple[int, ...]
"""The value of each edit, printed or changed."""


@dataclass(frozen=True)
class Balance:
    """The search: decks, edits and games.

    Attributes:
        config: the configuration.
        decks: of the field.
        ruleset: of the games.
        edits: numbers that may change.
    """

    config: BalanceConfig
    decks: tuple[Deck, ...]
    ruleset: Ruleset
    edits: tuple[Edit, ...]

    @classmethod
    def of(cls, config: BalanceConfig) -> "Balance":
        """The search of a configuration."""
        return cls(config, config.found_decks, config.found_ruleset, config.found_edits)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The matchups: decks i < j."""
        return list(combinations(range(len(self.decks)), 2))

    @property
    def printed(self) -> Genome:
        """The field as it is."""
        return tuple(edit.printed for edit in self.edits)

    def patch(self, genome: Genome) -> Patch:
        """The patch of a candidate."""
        if genome == self.printed:
            return NO_PATCH
        return parse_patch(
            f"{edit.card} {edit.number}={value}"
            for edit, value in zip(self.edits, genome, strict=True)
            if value != edit.printed
        )

    def schedule(self, part: int, games: int) -> Schedule:
        """All matchups, each deal from both seats.

        Args:
            part: 0 for the search, 1 for the measurement: other deals.
            games: of a matchup, even.
        """
        deals = [(place, deal) for place in range(len(self.pairs)) for deal in range(games // 2)]
        keys = [stream_key(self.config.seed, Stream.EXPERIMENT, 8, part, *deal) for deal in deals]
        first = np.array([self.pairs[place] for place, _ in deals], np.int16)
        decks = np.stack([first, first[:, ::-1]], axis=1).reshape(-1, 2)
        players = np.zeros((len(decks), 2), np.int16)
        return Schedule(players, np.ascontiguousarray(decks), np.repeat(np.array(keys, np.uint64), 2))

    def points(self, genome: Genome, player: Player, part: int, games: int, play: PlayFunction) -> np.ndarray:
        """Points of the first deck of each matchup on each deal; shape (matchups, deals)."""
        patch = self.patch(genome)
        roster = Roster((player,), tuple(deck.patched(patch) for deck in self.decks), self.ruleset)
        first = points_of_first(play(roster, self.schedule(part, games))["outcome"])
        points: np.ndarray = ((first[0::2] + 1 - first[1::2]) / 2).reshape(len(self.pairs), -1)
        return points

    def objectives(self, genome: Genome, scores: np.ndarray) -> tuple[float, float, float]:
        """What NSGA-II minimises: root mean square distance from 50%, number of edits, and their size."""
        sizes = [abs(value - edit.printed) for edit, value in zip(self.edits, genome, strict=True)]
        distance = float(np.sqrt(((scores - 0.5) ** 2).mean()))
        return distance, float(np.count_nonzero(sizes)), float(sum(sizes))


class Candidate:
    """A patch in the search: its genome, and its fitness for DEAP."""

    def __init__(self, genome: Genome, values: tuple[float, ...]) -> None:
        self.genome = genome
        self.fitness = _Fitness(values)


class _Fitness(base.Fitness):  # type: ignore[misc]
    weights = (-1.0, -1.0, -1.0)


def search_patches(
    balance: Balance, evaluate: Callable[[Sequence[Genome]], Mapping[Genome, np.ndarray]]
) -> list[Candidate]:
    """Search patches by NSGA-II; returns the front of the last generation, by the number of edits.

    Args:
        balance: the search.
        evaluate: scores of the matchups by genome; called once for each generation.
    """
    config = balance.config
    random = generator(config.seed, Stream.EXPERIMENT, 8, 2)
    known: dict[Genome, np.ndarray] = {}

    def candidates(genomes: Sequence[Genome]) -> list[Candidate]:
        new = [genome for genome in dict.fromkeys(genomes) if genome not in known]
        known.update(evaluate(new))
        different = dict.fromkeys(genomes)
        return [Candidate(genome, balance.objectives(genome, known[genome])) for genome in different]

    first = [balance.printed]
    while len(first) < config.population:
        first.append(mutate(balance, balance.printed, random))
    population = candidates(first)
    for _ in range(config.generations):
        children: list[Genome] = []
        while len(children) < config.population:
            one, other = (population[int(random.integers(len(population)))].genome for _ in range(2))
            takes = random.random(len(one)) < 0.5
            mixed = tuple(a if take else b for a, b, take in zip(one, other, takes.tolist(), strict=True))
            children.append(mutate(balance, mixed, random))
        pool = {candidate.genome: candidate for candidate in (*population, *candidates(children))}
        population = tools.selNSGA2(list(pool.values()), min(config.population, len(pool)))
    front = tools.sortNondominated(population, len(population), first_front_only=True)[0]
    return sorted(front, key=lambda candidate: candidate.fitness.values[1:] + candidate.fitness.values[:1])


def mutate(balance: Balance, genome: Genome, random: np.random.Generator) -> Genome:
    """Change one or two numbers of a patch, or take edits back; at most `most_edits` stay."""
    values = list(genome)
    for _ in range(1 + int(random.integers(2))):
        place = int(random.integers(len(values)))
        edit = balance.edits[place]
        changed = [number for number, value in enumerate(values) if value != balance.edits[number].printed]
        if changed and random.random() < 0.3:
            place = changed[int(random.integers(len(changed)))]
            values[place] = balance.edits[place].printed
        else:
            values[place] = int(random.integers(edit.low, edit.high + 1))
    changed = [place for place, value in enumerate(values) if value != balance.edits[place].printed]
    while len(changed) > balance.config.most_edits:
        place = changed.pop(int(random.integers(len(changed))))
        values[place] = balance.edits[place].printed
    return tuple(values)


def measure_front(balance: Balance, front: Sequence[Genome], play: PlayFunction) -> pd.DataFrame:
    """Measure patches on deals that the search never saw, by each entrant of the key `measure`.

    Returns:
        One row per patch, entrant and matchup: patch (number; 0 the field as it is), edits (as users write
        them), n_edits, player, first, second (decks), games, score (of first), low, high (95%).
    """
    config = balance.config
    rows: list[dict[str, Any]] = []
    for number, genome in enumerate([balance.printed, *front]):
        texts = balance.patch(genome).texts
        for entrant in config.measure:
            points = balance.points(genome, find_entrant(entrant).player, 1, config.measure_games, play)
            for (first, second), own in zip(balance.pairs, points, strict=True):
                score, low, high = mean_interval(own)
                rows.append(
                    {
                        "patch": number,
                        "edits": "; ".join(texts),
                        "n_edits": sum(a != b for a, b in zip(genome, balance.printed, strict=True)),
                        "player": entrant,
                        "first": balance.decks[first].name,
                        "second": balance.decks[second].name,
                        "games": 2 * len(own),
                        "score": score,
                        "low": low,
                        "high": high,
                    }
                )
    return pd.DataFrame(rows)


def summarise(measured: pd.DataFrame, tolerance: float) -> pd.DataFrame:
    """One row per patch and player: edits, distances from 50%, and how many matchups are fair.

    Columns: patch, edits, n_edits, player, distance (mean), worst, within (matchups whose score is fair),
    fair (whose interval is), unfair (whose interval is outside), matchups.
    """
    rows = []
    for (number, player), own in measured.groupby(["patch", "player"], sort=False):
        low, high = 0.5 - tolerance, 0.5 + tolerance
        fair = (own["low"] >= low) & (own["high"] <= high)
        unfair = (own["low"] > high) | (own["high"] < low)
        rows.append(
            {
                "patch": number,
                "edits": own["edits"].iloc[0],
                "n_edits": own["n_edits"].iloc[0],
                "player": player,
                "distance": float((own["score"] - 0.5).abs().mean()),
                "worst": float((own["score"] - 0.5).abs().max()),
                "within": int((own["score"].between(low, high)).sum()),
                "fair": int(fair.sum()),
                "unfair": int(unfair.sum()),
                "matchups": len(own),
            }
        )
    return pd.DataFrame(rows)


def chosen_for_measurement(balance: Balance, front: Sequence[Candidate]) -> list[Genome]:
    """The best of the front for each number of edits, at most `most_measured`; fewest edits first."""
    best: dict[float, Candidate] = {}
    for candidate in front:
        distance, n_edits, _ = candidate.fitness.values
        if n_edits and (n_edits not in best or distance < best[n_edits].fitness.values[0]):
            best[n_edits] = candidate
    nearest = sorted(best.values(), key=lambda one: one.fitness.values)[: balance.config.most_measured]
    return [one.genome for one in sorted(nearest, key=lambda one: one.fitness.values[1])]


def balance_sentence(summary: pd.DataFrame, tolerance: float) -> str:
    """Which patch makes most matchups fair, for the first player of the table and for all of them."""
    low, high = f"{0.5 - tolerance:.0%}", f"{0.5 + tolerance:.0%}"
    matchups, players = int(summary["matchups"].iloc[0]), list(dict.fromkeys(summary["player"]))
    total = summary.groupby("patch")[["within", "distance"]].sum()
    best = int(total.sort_values(["within", "distance"], ascending=[False, True]).index[0])
    before, after = (
        ", ".join(
            f"{int(row.within)} by {row.player}" for row in summary[summary["patch"] == number].itertuples()
        )
        for number in (0, best)
    )
    text = f"Of {matchups} matchups, these are within {low} to {high} as the field is: {before}."
    if total.loc[best, "within"] <= total.loc[0, "within"]:
        return f"{text} No patch makes more of them fair on new deals."
    edits = summary.loc[summary["patch"] == best, "edits"].iloc[0]
    n = int(summary.loc[summary["patch"] == best, "n_edits"].iloc[0])
    text += f" With patch {best} ({n} {'edit' if n == 1 else 'edits'}: {edits}): {after}."
    if len(players) > 1:
        fair = summary[summary["patch"] == best].set_index("player")["within"]
        failing = [player for player in players if fair[player] < matchups]
        text += f" It does not hold for {', '.join(failing)}." if failing else " It holds for all of them."
    return text


def matrix(measured: pd.DataFrame, patch: int, player: str, decks: Sequence[str]) -> pd.DataFrame:
    """Scores of the row's deck against the column's, of one patch and player."""
    own = measured[(measured["patch"] == patch) & (measured["player"] == player)]
    scores = pd.DataFrame(np.nan, index=pd.Index(decks, name=""), columns=list(decks))
    for row in own.itertuples():
        scores.loc[row.first, row.second], scores.loc[row.second, row.first] = row.score, 1 - row.score
    return scores


FORMATS = dict.fromkeys(("distance", "worst"), "{:.1%}")


def balance_page(balance: Balance, measured: pd.DataFrame, summary: pd.DataFrame, command: str) -> bytes:
    """The page of a search, HTML.

    Args:
        balance: the search.
        measured: from `measure_front`.
        summary: from `summarise`.
        command: command that repeats it.
    """
    config, decks = balance.config, [deck.name for deck in balance.decks]
    said = balance_sentence(summary, config.tolerance)
    sections = [
        Section(
            "Which patches make the field fair?",
            said,
            [html_table(summary.rename(columns={"n_edits": "number"}), FORMATS, "Patches")],
            f"NSGA-II with {config.pilot} on {config.games} games a matchup chose them; here every matchup "
            f"plays {config.measure_games:,} games on other deals. Distance: mean from 50%. Within: matchups "
            f"whose score is {0.5 - config.tolerance:.0%} to {0.5 + config.tolerance:.0%}; fair: whose 95% "
            "interval is; unfair: whose interval is outside. Patch 0 is the field as it is.",
            said,
        )
    ]
    for number in dict.fromkeys(summary["patch"]):
        edits = summary.loc[summary["patch"] == number, "edits"].iloc[0]
        tables = [
            heat_table(matrix(measured, number, player, decks), f"{player}") for player in config.measure
        ]
        title = f"Patch {number}" if number else "The field as it is"
        sections.append(Section(title, f"{edits}." if edits else "No edits.", tables))
    return make_page("Balance of a field", sections, command)
