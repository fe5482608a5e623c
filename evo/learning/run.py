"""Learn a value: rounds of self-play games, each followed by a fit and a test."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from engine import RULES_VERSION, find_ruleset
from engine.batches import deal_games, endings
from engine.compile_progress import processors
from engine.decks import tables_of
from engine.state import STATE
from engine.streams import stream_key
from evo.learning.config import LearnConfig
from evo.learning.folder import LearningError, LearningFolder
from evo.learning.methods import METHODS, Samples, Value, log_loss, telling
from evo.play.games import Play, Roster
from evo.play.matchups import Matchups, make_pairings, play_matchups
from evo.seeds import Stream
from evo.stats.ratings import elo, points_of
from evo.stats.standings import matchups_table
from ilp_agent import Profile
from ilp_agent.features import FEATURES
from ilp_agent.lookahead.recording import record, record_pairs
from ilp_agent.lookahead.weights import LookaheadWeights

CHUNK = 100
"""Deals that one thread plays at a time."""

_DEAL, _DRAWN = range(2)
"""Streams of a deal: the game, and what is drawn at random of turns."""


def gather(
    config: LearnConfig, row: tuple[float, ...], number: int, advance: Callable[[int], None]
) -> Samples:
    """Play a round; the samples depend on nothing else than configuration, row and number.

    Args:
        config: what is played.
        row: weights and options of the player.
        number: of the round, from 1 on.
        advance: called on this thread with the number of games just finished; raises to stop early.
    """
    method = METHODS[config.method]
    deals = config.games // method.GAMES
    starts = range(0, deals, CHUNK)
    with ThreadPoolExecutor(config.workers or processors(), "learning") as threads:
        tickets = [
            threads.submit(_play, config, row, number, start, min(CHUNK, deals - start)) for start in starts
        ]
        parts = []
        try:
            for ticket in tickets:
                parts.append(ticket.result())
                advance(min(CHUNK, deals - starts[len(parts) - 1]) * method.GAMES)
        except BaseException:
            for ticket in tickets:
                ticket.cancel()
            raise
    sequences = np.cumsum([0, *(2 * CHUNK for _ in parts[1:])])
    features = np.concatenate([part.features for part in parts])
    return Samples(
        features.astype(np.float32).astype(np.float64),  # as files keep them
        np.concatenate([part.points for part in parts]),
        np.concatenate([part.sequence + before for part, before in zip(parts, sequences, strict=True)]),
    )


def _play(config: LearnConfig, row: tuple[float, ...], number: int, start: int, n: int) -> Samples:
    """The samples of some deals of a round."""
    decks = config.found_decks
    table, records = tables_of(decks)
    deal = np.arange(start, start + n)
    held = np.stack([deal % len(decks), deal // len(decks) % len(decks)], axis=1)
    chances, keys = (
        np.array([stream_key(config.seed, Stream.LEARNING, number, what, int(d)) for d in deal], np.uint64)
        for what in (_DEAL, _DRAWN)
    )
    states = np.zeros(n, STATE)
    deal_games(table.array, records, find_ruleset(config.ruleset).array, held, chances, states)
    weights = np.array(row)
    if METHODS[config.method].PAIRED:
        pairs = record_pairs(table.array, weights, states, chances, keys)
        differences = pairs.features[:, 0] - pairs.features[:, 1]
        points = (1 + pairs.points[:, 0] - pairs.points[:, 1]) / 2
        return Samples(differences, points, np.arange(len(points)))
    noted = record(table.array, weights, states, chances, keys, round(config.explore * 1_000_000))
    outcomes, _ = endings(states)
    points = points_of(outcomes[noted.game], noted.seat == 0)
    order = np.lexsort((np.arange(len(points)), 2 * noted.game + noted.seat))
    return Samples(noted.features[order], points[order], (2 * noted.game + noted.seat)[order])


CALIBRATION = 10
"""Groups of samples by predicted chance, each of as many."""

DIGITS = 6
"""Significant digits of learned weights."""

Told = Callable[[Mapping[str, Any]], None]
"""Called with what a round came to."""


def learn(
    folder: LearningFolder, play: Play, advance: Callable[[int], None], tell: Told
) -> Profile[LookaheadWeights]:
    """Play the rounds that are missing; returns the value that scored best in its tests, as a profile.

    Args:
        folder: where every round is written.
        play: plays the tests (`evo.play.pool.Pool.play`).
        advance: called with the number of games of a round just finished; raises to stop early.
        tell: called with each round.

    Raises:
        LearningError: a round has no sample that tells, or the folder cannot be read or written.
    """
    config = folder.config
    if not folder.rounds:
        folder.commit({"round": 0, "tests": _tests(config, config.start, play) if config.test.every else []})
        tell(folder.rounds[0])
    while len(folder.rounds) <= config.rounds:
        number = len(folder.rounds)
        value = folder.value(number - 1)
        samples = gather(config, config.player_of(weights_of(value, config.start)).row, number, advance)
        folder.commit(_round(folder, number, value, samples, play), samples)
        tell(folder.rounds[number])
    return best_profile(folder)


def _round(
    folder: LearningFolder, number: int, before: Value | None, samples: Samples, play: Play
) -> dict[str, Any]:
    """What a round came to, for `LearningFolder.commit`."""
    config, method = folder.config, METHODS[folder.config.method]
    told = int(telling(samples, method.PAIRED).sum())
    if not told:
        raise LearningError(f"round {number} of {folder.path} has no sample that tells: too few games")
    options = {"ridge": config.ridge, "round": number, **config.td.model_dump(by_alias=True)}
    rounds = folder.samples_to_fit(samples)
    with threadpool_limits(1, "blas"):  # the same sums on any number of processors
        value = method.learn(before, rounds, options)
        loss = None if before is None else log_loss(before, samples, method.PAIRED)
        groups = [] if before is None else calibration(before, samples, method.PAIRED)
    tested = config.test.every and number % config.test.every == 0
    return {
        "round": number,
        "games": config.games,
        "samples": len(samples.points),
        "told": told,
        "loss": loss,
        "calibration": groups,
        "weights": value.weights.tolist(),
        "intercept": value.intercept,
        "scale": value.scale.tolist(),
        "tests": _tests(config, weights_of(value, config.start), play) if tested else [],
    }


def weights_of(value: Value | None, start: LookaheadWeights) -> LookaheadWeights:
    """A value as weights of the agent, in the size of those it began with; these where it is None.

    A feature that never differed keeps its weight. The size of all weights together changes no turn.
    """
    if value is None:
        return start
    named = start.named()
    own = np.array([named[f"value_{name}"] for name in FEATURES])
    known = value.scale > 0
    size, learned = np.abs(own[known]).sum(), np.abs(value.weights[known]).sum()
    factor = size / learned if size and learned else 1.0
    found = np.where(known, value.weights * factor, own)
    rounded = {f"value_{name}": float(f"{x:.{DIGITS}g}") for name, x in zip(FEATURES, found, strict=True)}
    return LookaheadWeights(**named | rounded)


def calibration(value: Value, samples: Samples, paired: bool) -> list[list[float]]:
    """Samples in groups by predicted chance: mean chance, mean points, number.

    Args:
        value: that has not seen the samples.
        samples: pairs that came to the same are left out.
        paired: whether they are pairs.
    """
    told = telling(samples, paired)
    chance, points = value.chance(samples.features[told]), samples.points[told]
    groups = np.array_split(np.argsort(chance, kind="stable"), CALIBRATION)
    return [[float(chance[one].mean()), float(points[one].mean()), len(one)] for one in groups if len(one)]


def _tests(config: LearnConfig, weights: LookaheadWeights, play: Play) -> list[dict[str, Any]]:
    """Scores against every opponent, on the same deals in every round."""
    players = (config.player_of(weights), *config.opponents)
    roster = Roster(players, config.found_decks, find_ruleset(config.ruleset))
    pairings = make_pairings(len(players), "gauntlet", ())
    matchups = Matchups(pairings, len(config.decks), config.test.games, config.seed, (Stream.LEARNING_TEST,))
    names = [LookaheadWeights.AGENT, *(f"{n} {text}" for n, text in enumerate(config.test.against))]
    table = matchups_table(play_matchups(roster, matchups, names, play))
    return [
        {
            "opponent": str(row.opponent).partition(" ")[2],
            "games": int(row.games),
            **{name: float(getattr(row, name)) for name in ("score", "low", "high")},
        }
        for row in table.itertuples()
    ]


def mean_score(content: Mapping[str, Any]) -> float:
    """Mean score of a round over its opponents; nan without tests."""
    return float(np.mean([test["score"] for test in content["tests"]])) if content["tests"] else float("nan")


def best_round(folder: LearningFolder) -> int:
    """The round of the best mean score, the later of equals; the last where no round was tested."""
    scores = [mean_score(content) for content in folder.rounds]
    if np.isnan(scores[1:]).all():
        return len(scores) - 1
    return len(scores) - 1 - int(np.nanargmax(scores[::-1]))


def best_profile(folder: LearningFolder) -> Profile[LookaheadWeights]:
    """The value of the best round as a profile."""
    config, number = folder.config, best_round(folder)
    provenance: dict[str, object] = {
        "source": "manaforge learn",
        "method": config.method,
        "round": number,
        "games": number * config.games,
        "seed": config.seed,
        "config_hash": folder.digest,
        "manaforge": version("manaforge"),
        "rules": RULES_VERSION,
    }
    tests = {test["opponent"]: round(test["score"], 4) for test in folder.rounds[number]["tests"]}
    provenance |= {"scores": tests} if tests else {}
    return Profile(f"learned-{config.digest[:8]}", weights_of(folder.value(number), config.start), provenance)


def curve_of(folder: LearningFolder) -> pd.DataFrame:
    """The learning curve: one row a round and opponent.

    Columns round, games (learned from so far), opponent, test_games, score, low, high, elo, loss.
    """
    rows = []
    for content in folder.rounds:
        for test in content["tests"]:
            own = {name: test[name] for name in ("score", "low", "high")}
            rows.append(
                {
                    "round": content["round"],
                    "games": content["round"] * folder.config.games,
                    "opponent": test["opponent"],
                    "test_games": test["games"],
                    **own,
                    "elo": elo(test["score"]),
                    "loss": content.get("loss"),
                }
            )
    columns = ("round", "games", "opponent", "test_games", "score", "low", "high", "elo", "loss")
    return pd.DataFrame(rows, columns=list(columns))
