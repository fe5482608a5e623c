"""Balance of a field: patches that bring every matchup near even, with as few edits as it takes.

NSGA-II searches patches for two aims: the distance of the matchups from their targets, and the number and
size of the edits: it selects the survivors, and parents are drawn at random. All candidates play the same
deals. In the search a matchup has the edits of cards that its own decks hold, so that a changed patch plays
again only what it changes; cards that effects create keep their numbers until the measurement. Chance
favours what is chosen, so the front plays other deals before it counts, by agents that the search never saw,
too (`balance_report`).

Source: de Mesentier Silva and others, "Evolving the Hearthstone Meta" (2019, arXiv 1907.01623).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Annotated, Literal, NamedTuple, Self

import numpy as np
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
from engine.errors import ManaforgeError, unknown_name
from engine.streams import generator, stream_key
from evo.config.keys import Settings
from evo.experiments.folder import ExperimentFolder
from evo.play.entrants import find_entrant
from evo.play.games import Player, PlayFunction, Roster, Schedule
from evo.play.results import points_of_deals
from evo.seeds import Stream
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
    deck: Annotated[
        str, Field(description='name of the deck whose cards these are, with card "*"; "": all decks')
    ] = ""
    by: Annotated[int, Field(ge=1, le=30, description="largest change of a number, up and down")] = 1


class TargetKeys(Settings):
    """The score that a designer wants in a matchup."""

    deck: Annotated[str, Field(description="name of a deck of the field")]
    against: Annotated[str, Field(description="name of another")]
    score: Annotated[float, Field(gt=0, lt=1, description="score that the first should have")]


class MeasureKeys(Settings):
    """An agent that measures the front."""

    entrant: Annotated[str, Field(description="the agent, as in tournaments")]
    games: Annotated[
        int, Field(ge=4, le=10**6, multiple_of=2, description="games of a matchup, on other deals; even")
    ] = 1_000
    adapt_games: Annotated[
        int,
        Field(
            ge=0,
            le=10**9,
            description="games in which its weights evolve again on the patched cards, for every patch that "
            "is measured and for the field as it is; 0: it does not adapt",
        ),
    ] = 0


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
        float, Field(gt=0, lt=0.5, description="a matchup is fair if its score is no further from its target")
    ] = 0.05
    targets: Annotated[
        tuple[TargetKeys, ...], Field(strict=False, description="targets of matchups; 0.5 for the others")
    ] = ()
    population: Annotated[int, Field(ge=4, le=1_000, description="candidates of a generation")] = 24
    generations: Annotated[int, Field(ge=1, le=10_000, description="generations after the first")] = 20
    most_edits: Annotated[int, Field(ge=1, le=100, description="most numbers that a patch changes")] = 6
    edits: Annotated[
        tuple[EditKeys, ...], Field(strict=False, min_length=1, description="numbers that may change")
    ]
    measure: Annotated[
        tuple[MeasureKeys, ...],
        Field(strict=False, min_length=1, description="agents that measure the front"),
    ] = (MeasureKeys(entrant="eva"), MeasureKeys(entrant="greedy-ilp:true-balanced"))
    most_measured: Annotated[int, Field(ge=1, le=100, description="most patches of the front to measure")] = 6
    workers: Annotated[int, Field(ge=0, le=100_000, description="threads; 0: one per processor")] = 0

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        try:
            _ = self.found_edits
            find_ruleset(self.ruleset or default_ruleset(self.found_decks))
            for entrant in self.entrants:
                refuse_decks([find_entrant(entrant).player.kind_and_backend], self.found_decks)
            _ = self.found_targets
        except ManaforgeError as error:
            raise ValueError(str(error)) from None
        entrants = [keys.entrant for keys in self.measure]
        if len(set(entrants)) < len(entrants):
            raise ValueError("measure: an entrant is named twice; with adapt_games it plays as it is, too")
        names = [deck.name for deck in self.found_decks]
        if len(set(names)) < len(names):
            raise ValueError(f"decks: two decks with the same name in {', '.join(names)}; rename one")
        return self

    @property
    def entrants(self) -> list[str]:
        """The agents, each once."""
        return list(dict.fromkeys([self.pilot, *(keys.entrant for keys in self.measure)]))

    @property
    def found_decks(self) -> tuple[Deck, ...]:
        """The decks of the field."""
        return tuple(map(find_deck, self.decks))

    @property
    def found_ruleset(self) -> Ruleset:
        """The ruleset of the games."""
        return find_ruleset(self.ruleset or default_ruleset(self.found_decks))

    @property
    def found_targets(self) -> dict[tuple[int, int], float]:
        """Target of the first deck by the numbers of both, for the matchups in `targets`, i < j.

        Raises:
            UnknownNameError: a name is of no deck.
            ValueError: a matchup is given twice, or of a deck against itself.
        """
        names, found = [deck.name for deck in self.found_decks], {}
        for keys in self.targets:
            for name in (keys.deck, keys.against):
                if name not in names:
                    raise unknown_name("deck of targets", name, names)
            first, second = names.index(keys.deck), names.index(keys.against)
            pair = (min(first, second), max(first, second))
            if first == second or pair in found:
                what = "is the same deck" if first == second else "is given twice"
                raise ValueError(f"targets: {keys.deck} against {keys.against} {what}")
            found[pair] = keys.score if first < second else 1 - keys.score
        return found

    @property
    def found_edits(self) -> "tuple[Edit, ...]":
        """The numbers that may change, each once.

        Raises:
            PatchError, UnknownNameError: a card is unknown, or does not have a number.
            ValueError: a card is in no deck.
        """
        held: dict[str, Card] = {}
        differing: dict[str, Card] = {}
        by_deck: dict[str, dict[str, Card]] = {}
        for deck in self.found_decks:
            own = {
                find_patched_card(card.id).id: card for card in deck.cards if card.id and is_patchable(card)
            }
            by_deck[deck.name] = own
            for name, card in own.items():
                if printed_numbers(held.setdefault(name, card)) != printed_numbers(card):
                    differing[name] = card
        found: dict[tuple[str, str], Edit] = {}
        for keys in self.edits:
            if keys.deck and keys.deck not in by_deck:
                raise unknown_name("deck of edits", keys.deck, by_deck)
            among = by_deck[keys.deck] if keys.deck else held
            ids = list(among) if keys.card == ALL_CARDS else [find_patched_card(keys.card).id]
            if not set(ids) <= set(among):
                where = (
                    f"not in {keys.deck}" if keys.deck else f"in none of the decks {', '.join(self.decks)}"
                )
                raise ValueError(f"edits: {keys.card} is {where}")
            if unlike := [differing[name].name for name in ids if name in differing]:
                raise ValueError(
                    f"edits: {', '.join(unlike)}: the decks have different numbers of it; leave it out"
                )
            numbers = {
                (name, number.name): Edit.around(name, number, keys.by)
                for name in ids
                for number in printed_numbers(held[name])
                if number.name in keys.numbers
            }
            missing = set(keys.numbers) - {name for _, name in numbers}
            if missing:
                raise ValueError(
                    f"edits: {keys.card} has no {' and no '.join(sorted(missing))}; see manaforge card NAME"
                )
            found |= numbers
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


BETTER = {"cost": -1, "overload": -1, "attack": 1, "health": 1, "durability": 1}
"""Direction in which a number makes its card better, where it is plain."""

EVERY_CARD = 0.01
"""Share of mutations, in points, that cards get even if their decks are at their targets."""

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
    def players(self) -> dict[str, Player]:
        """The agents by their texts, as their files are at the first use."""
        return {text: find_entrant(text).player for text in self.config.entrants}

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The matchups: decks i < j."""
        return list(combinations(range(len(self.decks)), 2))

    @cached_property
    def targets(self) -> np.ndarray:
        """Scores that the first decks of the matchups should have; shape (matchups,)."""
        given = self.config.found_targets
        return np.array([given.get(pair, 0.5) for pair in self.pairs])

    @cached_property
    def holders(self) -> list[list[int]]:
        """Numbers of the decks that hold the card of each edit."""
        ids = [{find_patched_card(card.id).id for card in deck.cards if card.id} for deck in self.decks]
        return [[deck for deck, own in enumerate(ids) if edit.card in own] for edit in self.edits]

    @cached_property
    def printed(self) -> Genome:
        """The field as it is."""
        return tuple(edit.printed for edit in self.edits)

    @property
    def total(self) -> int:
        """Number of games, at most: a matchup that the search has played is not played again."""
        config, matchups = self.config, len(self.pairs)
        search = (1 + (1 + config.generations) * config.population) * matchups * config.games
        measurement = sum(
            matchups * keys.games
            + bool(keys.adapt_games) * (keys.adapt_games + matchups * keys.games + self.gain_games(keys))
            for keys in config.measure
        )
        return search + (1 + config.most_measured) * measurement

    def gain_games(self, keys: MeasureKeys) -> int:
        """Games of an adapted agent against itself as it was: each ordered pair of decks equally often."""
        cells = len(self.decks) ** 2
        return cells * max(2, keys.games // len(self.decks) // 2 * 2)

    def patch(self, genome: Genome) -> Patch:
        """The patch of a candidate."""
        if genome == self.printed:
            return NO_PATCH
        return parse_patch(
            f"{edit.card} {edit.number}={value}"
            for edit, value in zip(self.edits, genome, strict=True)
            if value != edit.printed
        )

    def own_edits(self, genome: Genome, place: int) -> Genome:
        """A candidate with the edits of a matchup's own cards alone."""
        own, decks = list(self.printed), self.pairs[place]
        for number, (value, printed) in enumerate(zip(genome, self.printed, strict=True)):
            if value != printed and any(deck in decks for deck in self.holders[number]):
                own[number] = value
        return tuple(own)

    def schedule(self, part: int, games: int, places: Sequence[int]) -> Schedule:
        """Games of matchups, each deal from both seats.

        Args:
            part: 0 for the search, 1 for the measurement: other deals.
            games: of a matchup, even.
            places: numbers of the matchups.
        """
        deals = [(place, deal) for place in places for deal in range(games // 2)]
        keys = [stream_key(self.config.seed, Stream.EXPERIMENT, 8, part, *deal) for deal in deals]
        decks = np.array([self.pairs[place] for place, _ in deals])
        return Schedule.from_both_seats(np.zeros(2), decks, keys)

    def points(
        self,
        genome: Genome,
        player: Player,
        part: int,
        games: int,
        play: PlayFunction,
        places: Sequence[int] | None = None,
    ) -> np.ndarray:
        """Points of the first deck of matchups on each deal; shape (matchups, deals).

        Args:
            genome: the patch.
            player: plays both decks.
            part: as for `schedule`.
            games: of a matchup, even.
            play: plays games.
            places: numbers of the matchups; None for all.
        """
        patch, chosen = self.patch(genome), range(len(self.pairs)) if places is None else places
        roster = Roster((player,), tuple(deck.patched(patch) for deck in self.decks), self.ruleset)
        schedule = self.schedule(part, games, chosen)
        return points_of_deals(roster, schedule, play(roster, schedule)).reshape(len(chosen), -1)

    def objectives(self, genome: Genome, scores: np.ndarray) -> tuple[float, float, float]:
        """What NSGA-II minimises: root mean square distance from the targets, edits, and their size."""
        sizes = [abs(value - edit.printed) for edit, value in zip(self.edits, genome, strict=True)]
        distance = float(np.sqrt(((scores - self.targets) ** 2).mean()))
        return distance, float(np.count_nonzero(sizes)), float(sum(sizes))


@dataclass
class SearchGames:
    """Plays the games of a search; its generations are kept in a folder, and matchups are played once.

    Attributes:
        balance: the search.
        folder: of the experiment.
        play: plays games.
        advance: called with a number of games that need not be played.
    """

    balance: Balance
    folder: ExperimentFolder
    play: PlayFunction
    advance: Callable[[int], None]
    _generation: int = 0
    _known: dict[tuple[int, Genome], float] = field(default_factory=dict)

    def evaluate(self, genomes: Sequence[Genome]) -> dict[Genome, np.ndarray]:
        """Scores of the matchups for the new candidates of a generation."""
        balance, places = self.balance, range(len(self.balance.pairs))
        name, self._generation = f"points/{self._generation:04d}.json", self._generation + 1
        expected = (balance.config.population if self._known else 1) * len(places)
        kept = self.folder.read_json_file(name)
        if kept.get("candidates") == [list(genome) for genome in genomes]:
            scores = [np.array(own) for own in kept["scores"]]
            for genome, own in zip(genomes, scores, strict=True):
                self._known |= {
                    (place, balance.own_edits(genome, place)): float(own[place]) for place in places
                }
            self.advance(expected * balance.config.games)
        else:
            self.advance((expected - len(genomes) * len(places)) * balance.config.games)
            scores = [self._scores(genome) for genome in genomes]
            content = {"candidates": [list(one) for one in genomes], "scores": [list(one) for one in scores]}
            self.folder.commit_file(name, f"{json.dumps(content)}\n".encode())
        return dict(zip(genomes, scores, strict=True))

    def _scores(self, genome: Genome) -> np.ndarray:
        """Scores of the matchups of a candidate; those with the same edits of their cards are known."""
        balance = self.balance
        own = [balance.own_edits(genome, place) for place in range(len(balance.pairs))]
        missing: dict[Genome, list[int]] = {}
        for place, edits in enumerate(own):
            if (place, edits) not in self._known:
                missing.setdefault(edits, []).append(place)
        self.advance((len(own) - sum(map(len, missing.values()))) * balance.config.games)
        pilot = balance.players[balance.config.pilot]
        for edits, places in missing.items():
            points = balance.points(edits, pilot, 0, balance.config.games, self.play, places)
            for place, score in zip(places, points.mean(axis=1).tolist(), strict=True):
                self._known[place, edits] = score
        return np.array([self._known[key] for key in enumerate(own)])


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

    population = candidates([balance.printed])
    first = [
        mutate(balance, balance.printed, known[balance.printed], random) for _ in range(config.population)
    ]
    population += candidates([genome for genome in first if genome != balance.printed])
    for _ in range(config.generations):
        children: list[Genome] = []
        while len(children) < config.population:
            one, other = (population[int(random.integers(len(population)))].genome for _ in range(2))
            takes = random.random(len(one)) < 0.5
            mixed = tuple(a if take else b for a, b, take in zip(one, other, takes.tolist(), strict=True))
            children.append(mutate(balance, mixed, known[one], random))
        pool = {candidate.genome: candidate for candidate in (*population, *candidates(children))}
        population = tools.selNSGA2(list(pool.values()), min(config.population, len(pool)))
    front = tools.sortNondominated(population, len(population), first_front_only=True)[0]
    return sorted(front, key=lambda candidate: candidate.fitness.values[1:] + candidate.fitness.values[:1])


def mutate(balance: Balance, genome: Genome, scores: np.ndarray, random: np.random.Generator) -> Genome:
    """Change one or two numbers of a patch, or take edits back; at most `most_edits` stay.

    The cards of decks far from their targets change most often, and mostly towards the targets: a deck that
    is too strong gets weaker cards.

    Args:
        balance: the search.
        genome: the patch.
        scores: of the matchups.
        random: source of chance.
    """
    off = np.zeros((len(balance.decks), len(balance.decks)))
    for (first, second), more in zip(balance.pairs, scores - balance.targets, strict=True):
        off[first, second], off[second, first] = more, -more
    away, above = np.abs(off).mean(axis=1), off.mean(axis=1)
    farthest = [max(held, key=lambda deck: away[deck]) for held in balance.holders]
    likely = away[farthest] + EVERY_CARD
    values = list(genome)
    for _ in range(1 + int(random.integers(2))):
        place = int(random.choice(len(values), p=likely / likely.sum()))
        changed = [number for number, value in enumerate(values) if value != balance.edits[number].printed]
        if changed and random.random() < 0.3:
            place = changed[int(random.integers(len(changed)))]
            values[place] = balance.edits[place].printed
        else:
            values[place] = _draw(balance.edits[place], above[farthest[place]], random)
    changed = [place for place, value in enumerate(values) if value != balance.edits[place].printed]
    while len(changed) > balance.config.most_edits:
        place = changed.pop(int(random.integers(len(changed))))
        values[place] = balance.edits[place].printed
    return tuple(values)


def _draw(edit: Edit, above: float, random: np.random.Generator) -> int:
    """A value of an edit; three in four times on the side that brings a deck that scores `above` nearer."""
    low, high, better = edit.low, edit.high, BETTER.get(edit.number, 0)
    if better and random.random() < 0.75:
        if (above > 0) == (better < 0):
            low = min(edit.printed + 1, high)
        else:
            high = max(edit.printed - 1, low)
    return int(random.integers(low, high + 1))


def chosen_for_measurement(balance: Balance, front: Sequence[Candidate]) -> list[Genome]:
    """The nearest of the front for each number of edits, if it is nearer than all with fewer edits.

    At most `most_measured`, the nearest; fewest edits first, so that the last is the nearest.
    """
    found: list[Candidate] = []
    for candidate in sorted(front, key=lambda one: (one.fitness.values[1], one.fitness.values[0])):
        distance, n_edits, _ = candidate.fitness.values
        if n_edits and (not found or distance < found[-1].fitness.values[0]):
            found.append(candidate)
    return [one.genome for one in found[-balance.config.most_measured :]]
