"""Fitness by competitive coevolution: games against the population, fixed opponents and hall of fame.

Source: EVA, Eq. 13: games won against every other parent and child over all ordered pairs of decks. Draws
count half.

Fitness is the mean of the scores against all opponents, weighted by their shares. All games are paired, on
the generation's deals (common random numbers) or each pairing's own. The Nash mixture follows Lanctot and
others, "A unified game-theoretic approach to multiagent reinforcement learning" (2017), with Nash averaging
(`evo.stats.ratings`) over games between its members.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.streams import generator
from evo.config.run_config import RunConfig
from evo.play.entrants import find_entrant
from evo.play.games import SOLVED_TURN_FIELDS, Player, PlayFunction, Roster, roster_of
from evo.play.matchups import Setups, make_schedule, make_setups
from evo.play.results import raise_on_faults
from evo.seeds import Stream
from evo.stats.ratings import nash_average, points_of
from evo.strategies import Individual, Strategy
from rivals import refuse_decks


def all_pairings(n_players: int) -> np.ndarray:
    """All pairings (i, j) of players with i < j; shape (pairings, 2)."""
    return np.array(np.triu_indices(n_players, 1)).T


@dataclass(frozen=True)
class Tally:
    """Game results, summed by pairing and ordered pair of decks.

    Attributes:
        pairings: shape (pairings, 2): players i and j.
        games: int64, shape (pairings, decks, decks): by the deck of i and of j.
        wins: of i, the same shape.
        draws: the same shape.
        turns: rounds of all games, the same shape.
        solved: number of turns solved by all players, by solver (`evo.play.games.SOLVED_TURN_FIELDS`).
        by_setup: score per game of i in each setup's two games, shape (setups, pairings).
    """

    pairings: np.ndarray
    games: np.ndarray
    wins: np.ndarray
    draws: np.ndarray
    turns: np.ndarray
    solved: Mapping[str, int] = field(default_factory=dict)
    by_setup: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def losses(self) -> np.ndarray:
        """Games lost by the first player of each pairing; shape (pairings, decks, decks)."""
        lost: np.ndarray = self.games - self.wins - self.draws
        return lost

    def scores(self, n_players: int) -> np.ndarray:
        """Games won, draws half, by player, own deck and other deck: shape (players, decks, decks)."""
        n_decks = self.games.shape[1]
        scores: np.ndarray = np.zeros((n_players, n_decks, n_decks))
        np.add.at(scores, self.pairings[:, 0], self.wins + self.draws / 2)
        np.add.at(scores, self.pairings[:, 1], (self.losses + self.draws / 2).transpose(0, 2, 1))
        return scores

    def played(self, n_players: int) -> np.ndarray:
        """Games played by player, own deck and other deck: shape (players, decks, decks)."""
        counts: np.ndarray = np.zeros((n_players, *self.games.shape[1:]), np.int64)
        np.add.at(counts, self.pairings[:, 0], self.games)
        np.add.at(counts, self.pairings[:, 1], self.games.transpose(0, 2, 1))
        return counts


def merge_tallies(parts: Sequence[Tally]) -> Tally:
    """Concatenate tallies of different pairings between the same players."""
    if len(parts) == 1:
        return parts[0]
    tables = ("pairings", "games", "wins", "draws", "turns")
    whole = {name: np.concatenate([getattr(part, name) for part in parts]) for name in tables}
    return Tally(
        **whole, solved={name: sum(part.solved.get(name, 0) for part in parts) for name in SOLVED_TURN_FIELDS}
    )


def play_pairings(
    roster: Roster,
    pairings: np.ndarray,
    games: int,
    seed: int,
    address: tuple[int, ...],
    play: PlayFunction,
    own: Iterable[int] | None = None,
) -> "Tally":
    """Play all pairings on the same setups, and sum the results by pairing and decks.

    Args:
        roster: players, decks and rules.
        pairings: shape (pairings, 2), indices of players in the roster.
        games: per pairing and ordered pair of decks, even.
        seed: of the run.
        address: random-stream address of the setups.
        play: plays a schedule (`evo.play.pool.WorkerPool.play`).
        own: numbers of the pairings if each has its own deals; None: all share the same deals.

    Raises:
        GameError: an agent failed.
    """
    setups = make_setups(len(roster.decks), games, seed, *address, own=own)
    schedule = make_schedule(pairings, setups)
    played = play(roster, schedule)
    raise_on_faults(roster, schedule, played)
    return tally(pairings, setups, len(roster.decks), played)


def tally(pairings: np.ndarray, setups: Setups, n_decks: int, played: np.ndarray) -> Tally:
    """Sum the results of a schedule of pairings by pairing and ordered pair of decks.

    Args:
        pairings: as given to `make_schedule`.
        setups: as given to `make_schedule`.
        n_decks: number of decks.
        played: dtype `evo.play.games.GAME`, shape (games,).
    """
    shape = (len(setups), len(pairings), 2)
    results = played.reshape(shape)
    # In twin 0 the pairing's first player has deck a; it goes first unless deck b starts.
    first_is_i = np.stack([~setups.b_starts, setups.b_starts], axis=1)[:, None]
    points = points_of(results["outcome"], np.broadcast_to(first_is_i, shape))
    own = setups.decks
    cells = np.stack([own[:, 0] * n_decks + own[:, 1], own[:, 1] * n_decks + own[:, 0]], axis=1)

    def by_cell(values: np.ndarray) -> np.ndarray:
        sums = np.zeros((n_decks * n_decks, len(pairings)), np.int64)
        for twin in (0, 1):
            np.add.at(sums, cells[:, twin], np.asarray(values, np.int64)[:, :, twin])
        return sums.T.reshape(len(pairings), n_decks, n_decks)

    return Tally(
        pairings,
        by_cell(np.ones(shape)),
        by_cell(points == 1),
        by_cell(points == 0.5),
        by_cell(results["turns"]),
        {name: int(played[name].sum(dtype=np.int64)) for name in SOLVED_TURN_FIELDS},
        points.mean(axis=2),
    )


MIXTURE_DIGITS = 3
"""Decimal digits of probabilities in the Nash mixture; members rounded to 0 are not played."""


@dataclass(frozen=True)
class Opponent:
    """An opponent of a generation outside the population: a fixed entrant or a member of the hall of fame.

    Attributes:
        player: its agent and weights.
        share: weight of the score against it in the fitness.
        number: number of the individual; None for a fixed entrant.
        entrant: name of a fixed entrant; "" for an individual.
    """

    player: Player
    share: float
    number: int | None = None
    entrant: str = ""


def find_opponents(config: RunConfig) -> dict[str, Player]:
    """Find the fixed opponents that a configuration names, by entrant text.

    Raises:
        EntrantError, UnknownNameError, ProfileError, OptionError: not an entrant.
        DeckError: an opponent does not support card effects, and a deck of the run has them.
    """
    found = {text: find_entrant(text).player for text in config.opponents.fixed}
    refuse_decks([player.kind_and_backend for player in found.values()], config.found_decks)
    return found


def hall_opponents(strategy: Strategy, asked: Sequence[Individual], config: RunConfig) -> list[Individual]:
    """Hall of fame without individuals of the generation, by number; at most `opponents.members`.

    If there are more, a random sample is drawn from the generation's own stream.
    """
    own = {individual.number for individual in asked}
    found = sorted(
        (member for member in strategy.hall_of_fame() if member.number not in own),
        key=lambda member: member.number,
    )
    most = config.opponents.members
    if len(found) > most:
        stream = generator(config.seed, Stream.OPPONENTS, strategy.generation)
        places = sorted(stream.choice(len(found), most, replace=False).tolist())
        found = [found[place] for place in places]
    return found


def select_opponents(
    config: RunConfig,
    strategy: Strategy,
    asked: Sequence[Individual],
    fixed: Sequence[Player],
    play: PlayFunction,
) -> list[Opponent]:
    """Select a generation's opponents outside the population: those with a positive share of the fitness.

    Args:
        config: of the run.
        strategy: after `ask`.
        asked: the generation's individuals.
        fixed: players of `opponents.fixed`, in its order.
        play: plays the games of the Nash mixture.
    """
    options = config.opponents
    hall = hall_opponents(strategy, asked, config) if options.hall or options.nash else []
    hall_players = roster_of(config, hall).players
    shares = np.array([*options.fixed.values(), *[options.hall / max(len(hall), 1)] * len(hall)])
    if options.nash and len(shares):
        mixture = nash_mixture(config, hall, fixed, strategy.generation, play)
        shares = shares + options.nash * mixture
    found = [
        *(Opponent(player, 0.0, None, text) for player, text in zip(fixed, options.fixed, strict=True)),
        *(Opponent(player, 0.0, member.number) for player, member in zip(hall_players, hall, strict=True)),
    ]
    return [
        Opponent(opponent.player, float(share), opponent.number, opponent.entrant)
        for opponent, share in zip(found, shares, strict=True)
        if share > 0
    ]


def nash_mixture(
    config: RunConfig, met: Sequence[Individual], fixed: Sequence[Player], generation: int, play: PlayFunction
) -> np.ndarray:
    """Nash mixture of the fixed opponents, then of the hall of fame; shape (opponents,), sums to 1.

    The opponents play each other on the generation's own deals. The payoff matrix holds log-odds of the
    scores, with half a win and half a loss added to each.
    """
    n = len(fixed) + len(met)
    roster = roster_of(config, met, fixed)
    order = np.array([*range(len(met), n), *range(len(met))])  # fixed opponents first
    pairings = all_pairings(n)
    games = config.games_per_opponent(generation)
    tally = play_pairings(roster, order[pairings], games, config.seed, (Stream.OPPONENTS, generation), play)
    won, played = (tally.wins + tally.draws / 2).sum(axis=(1, 2)), tally.games.sum(axis=(1, 2))
    odds = np.log((won + 0.5) / (played - won + 0.5))
    advantages = np.zeros((n, n))
    advantages[pairings[:, 0], pairings[:, 1]] = odds
    advantages[pairings[:, 1], pairings[:, 0]] = -odds
    mixture = np.round(nash_average(advantages)[0], MIXTURE_DIGITS)
    return np.asarray(mixture / mixture.sum())


@dataclass(frozen=True)
class GenerationGames:
    """Game results and fitness of a generation.

    Attributes:
        tally: results of all pairings of individuals (0 to n - 1) and opponents (from n on).
        opponents: opponents outside the population.
        fitness: shape (individuals,): mean score times number of games.
    """

    tally: Tally
    opponents: list[Opponent]
    fitness: np.ndarray


def play_generation(
    config: RunConfig,
    strategy: Strategy,
    asked: Sequence[Individual],
    fixed: Sequence[Player],
    play: PlayFunction,
) -> GenerationGames:
    """Play a generation's games, within the population and against opponents, and compute the fitness.

    Without opponents outside the population, fitness is the number of games won, draws half.
    """
    n, generation = len(asked), strategy.generation
    opponents = select_opponents(config, strategy, asked, fixed, play)
    roster = roster_of(config, asked, [opponent.player for opponent in opponents])
    parts: list[Tally] = []

    def play_part(pairings: np.ndarray, games: int) -> None:
        before = sum(len(part.pairings) for part in parts)
        own = None if config.deals == "common" else range(before, before + len(pairings))
        address = (Stream.SETUP, generation)
        parts.append(play_pairings(roster, pairings, games, config.seed, address, play, own))

    if config.opponents.population and n > 1:
        play_part(all_pairings(n), config.games_per_pairing(generation))
    if opponents:
        places = np.arange(n, n + len(opponents))
        pairings = np.stack([np.tile(np.arange(n), len(places)), np.repeat(places, n)], axis=1)
        play_part(pairings, config.games_per_opponent(generation))
    tally = merge_tallies(parts)
    if not opponents:
        return GenerationGames(tally, [], tally.scores(n).sum(axis=(1, 2)))
    weights = [config.opponents.population] * (len(parts) - 1) + [opponent.share for opponent in opponents]
    scores = [_mean_scores(part, n) for part in parts[:-1]]
    last = parts[-1]
    won = (last.wins + last.draws / 2).sum(axis=(1, 2)) / last.games.sum(axis=(1, 2))
    scores += list(won.reshape(len(opponents), n))
    mean = np.average(np.array(scores), axis=0, weights=weights)
    return GenerationGames(tally, opponents, mean * tally.played(n + len(opponents))[:n].sum(axis=(1, 2)))


def _mean_scores(tally: Tally, n: int) -> np.ndarray:
    """Mean score of each of the first `n` players over all games."""
    return np.asarray(tally.scores(n).sum(axis=(1, 2)) / tally.played(n).sum(axis=(1, 2)))
