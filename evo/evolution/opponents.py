"""Whom a generation plays beside itself: fixed entrants, earlier bests, a Nash mixture of both.

A generation's fitness is the mean of the scores against its opponents, weighted by their shares. All games
are paired, on the generation's deals or each pairing's own. The mixture follows Lanctot and others, "A
unified game-theoretic approach to multiagent reinforcement learning" (2017), with Nash averaging
(`evo.stats.nash`) over the games that its members play against each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.streams import generator
from evo.config import RunConfig
from evo.evolution.fitness import Tally, all_pairings, join, play_pairings
from evo.evolution.racing import Group, race
from evo.play.entrants import find_entrant
from evo.play.games import Play, Player, roster_of
from evo.seeds import Stream
from evo.stats.nash import nash_average
from evo.strategies import Individual, Strategy
from rivals import refuse_decks

SCORE_DIGITS = 12
"""Digits of mean scores in a race: equal points are equal fitness, however they were added up."""

NASH_DIGITS = 3
"""Digits of a member's part of the Nash mixture; who has less than that is not met for it."""


@dataclass(frozen=True)
class Opponent:
    """An opponent of a generation.

    Attributes:
        player: that plays.
        share: of the score against it in fitness.
        number: of an individual of an earlier generation; None for a fixed entrant.
        entrant: text of a fixed entrant; "" for an individual.
    """

    player: Player
    share: float
    number: int | None = None
    entrant: str = ""


def find_opponents(config: RunConfig) -> dict[str, Player]:
    """The fixed opponents that a configuration names, by their texts.

    Raises:
        EntrantError, UnknownNameError, ProfileError, OptionError: a text names no entrant.
        DeckError: one plays bodies alone, and decks of the run have a class.
    """
    found = {text: find_entrant(text).player for text in config.opponents.fixed}
    refuse_decks([player.sort for player in found.values()], config.found_decks)
    return found


def members(strategy: Strategy, asked: Sequence[Individual], config: RunConfig) -> list[Individual]:
    """Bests of earlier generations that are not among the individuals, in the order of their birth.

    Where there are more than `opponents.members`, they are drawn by the generation's own stream.
    """
    own = {individual.number for individual in asked}
    found = sorted(
        (one for one in strategy.hall_of_fame() if one.number not in own), key=lambda one: one.number
    )
    most = config.opponents.members
    if len(found) > most:
        stream = generator(config.seed, Stream.OPPONENTS, strategy.generation)
        places = sorted(stream.choice(len(found), most, replace=False).tolist())
        found = [found[place] for place in places]
    return found


def opponents_of(
    config: RunConfig, strategy: Strategy, asked: Sequence[Individual], fixed: Sequence[Player], play: Play
) -> list[Opponent]:
    """The opponents of a generation; those that count nothing are left out.

    Args:
        config: of the run.
        strategy: that has been asked.
        asked: the generation's individuals.
        fixed: players of `opponents.fixed`, in its order.
        play: plays the games by which a Nash mixture is found.
    """
    options = config.opponents
    met = members(strategy, asked, config) if options.hall or options.nash else []
    own = roster_of(config, met).players
    shares = np.array([*options.fixed.values(), *[options.hall / max(len(met), 1)] * len(met)])
    if options.nash and len(shares):
        mixture = nash_mixture(config, met, fixed, strategy.generation, play)
        shares = shares + options.nash * mixture
    found = [
        *(Opponent(player, 0.0, None, text) for player, text in zip(fixed, options.fixed, strict=True)),
        *(Opponent(player, 0.0, one.number) for player, one in zip(own, met, strict=True)),
    ]
    return [
        Opponent(one.player, float(share), one.number, one.entrant)
        for one, share in zip(found, shares, strict=True)
        if share > 0
    ]


def nash_mixture(
    config: RunConfig, met: Sequence[Individual], fixed: Sequence[Player], generation: int, play: Play
) -> np.ndarray:
    """The Nash mixture of fixed opponents, then of earlier bests; shape (opponents,), sums to 1.

    They play each other on deals of the generation's own; advantages are log-odds of the scores, each with
    half a game won and half a game lost added.
    """
    n = len(fixed) + len(met)
    roster = roster_of(config, met, fixed)
    order = np.array([*range(len(met), n), *range(len(met))])  # the fixed ones first
    pairings = all_pairings(n)
    games = config.opponent_games_in(generation)
    tally = play_pairings(roster, order[pairings], games, config.seed, (Stream.OPPONENTS, generation), play)
    won, played = (tally.wins + tally.draws / 2).sum(axis=(1, 2)), tally.games.sum(axis=(1, 2))
    odds = np.log((won + 0.5) / (played - won + 0.5))
    advantages = np.zeros((n, n))
    advantages[pairings[:, 0], pairings[:, 1]] = odds
    advantages[pairings[:, 1], pairings[:, 0]] = -odds
    mixture = np.round(nash_average(advantages)[0], NASH_DIGITS)
    return np.asarray(mixture / mixture.sum())


@dataclass(frozen=True)
class Generation:
    """What a generation played.

    Attributes:
        tally: of all pairings of individuals (0 to n - 1) and opponents (from n on).
        opponents: beside the individuals.
        fitness: shape (individuals,): the mean score times the games of an individual.
    """

    tally: Tally
    opponents: list[Opponent]
    fitness: np.ndarray


def play_generation(
    config: RunConfig, strategy: Strategy, asked: Sequence[Individual], fixed: Sequence[Player], play: Play
) -> Generation:
    """Play a generation against itself and its opponents.

    With the population alone, fitness is the games won, draws half. With racing, clearly beaten individuals
    do not play all their games, and fitness is the mean score times the games of those who do.
    """
    n, generation = len(asked), strategy.generation
    opponents = opponents_of(config, strategy, asked, fixed, play)
    roster = roster_of(config, asked, [opponent.player for opponent in opponents])
    groups: list[Group] = []
    if config.opponents.population and n > 1:
        shares = np.full(n, config.opponents.population / (n - 1))
        groups.append(Group(all_pairings(n), config.games_in(generation), shares))
    if opponents:
        places = np.arange(n, n + len(opponents))
        pairings = np.stack([np.tile(np.arange(n), len(places)), np.repeat(places, n)], axis=1)
        shares = np.concatenate([np.zeros(n), [opponent.share for opponent in opponents]])
        before = sum(len(group.pairings) for group in groups)
        groups.append(Group(pairings, config.opponent_games_in(generation), shares, before))

    def against(group: Group, which: np.ndarray, start: int, games: int) -> Tally:
        own = None if config.deals == "common" else (group.first + np.flatnonzero(which)).tolist()
        address = (Stream.SETUP, generation)
        return play_pairings(roster, group.pairings[which], games, config.seed, address, play, own, start)

    if config.racing:
        tally, mean = race(n, config.mu, groups, config.racing, against)
        most = tally.played(n + len(opponents))[:n].sum(axis=(1, 2)).max()
        return Generation(tally, opponents, np.round(mean, SCORE_DIGITS) * most)
    parts = [against(group, np.ones(len(group.pairings), bool), 0, group.games) for group in groups]
    tally = join(parts)
    if not opponents:
        return Generation(tally, [], tally.scores(n).sum(axis=(1, 2)))
    weights = [config.opponents.population] * (len(groups) - 1) + [opponent.share for opponent in opponents]
    scores = [_mean_scores(part, n) for part in parts[:-1]]
    last = parts[-1]
    won = (last.wins + last.draws / 2).sum(axis=(1, 2)) / last.games.sum(axis=(1, 2))
    scores += list(won.reshape(len(opponents), n))
    mean = np.average(np.array(scores), axis=0, weights=weights)
    return Generation(tally, opponents, mean * tally.played(n + len(opponents))[:n].sum(axis=(1, 2)))


def _mean_scores(tally: Tally, n: int) -> np.ndarray:
    """Mean score of each of `n` individuals over all games."""
    return np.asarray(tally.scores(n).sum(axis=(1, 2)) / tally.played(n).sum(axis=(1, 2)))
