"""Value learning loop: rounds of self-play games, each followed by a fit and a test."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from engine import RULES_VERSION, find_ruleset
from engine.batches import deal_games, game_results
from engine.cards import Card
from engine.compile_progress import available_processors
from engine.decks import cached_card_table
from engine.match import card_id_or_name
from engine.state import STATE
from engine.streams import stream_key
from evo.learning.config import LearnConfig
from evo.learning.folder import LearningError, LearningFolder
from evo.learning.methods import METHODS, Samples, Value, informative_mask, log_loss
from evo.play.games import Player, PlayFunction, Roster
from evo.play.matchups import Matchups, make_pairings, play_matchups
from evo.seeds import Stream
from evo.stats.ratings import elo, points_of
from evo.stats.standings import matchups_table
from ilp_agent import Profile
from ilp_agent.card_values import CardValues
from ilp_agent.features import FEATURES, N_FEATURES
from ilp_agent.lookahead.recording import record_pairs, record_positions
from ilp_agent.lookahead.weights import LookaheadWeights

DEALS_PER_TASK = 100
"""Deals per task of a thread."""

_DEAL, _TURNS = range(2)
"""Random streams of a deal: the game, and the random turns."""


def collect_samples(
    config: LearnConfig, row: tuple[float, ...], number: int, advance: Callable[[int], None]
) -> Samples:
    """Play a round's self-play games and collect samples, reproducible on any number of threads.

    Args:
        config: configuration.
        row: weights and options of the player, and card values if they are learned.
        number: round number, from 1.
        advance: called on this thread with the number of games just finished; raises to stop early.
    """
    method = METHODS[config.method]
    deals = config.games // method.GAMES
    starts = range(0, deals, DEALS_PER_TASK)
    with ThreadPoolExecutor(config.workers or available_processors(), "learning") as threads:
        tasks = [
            threads.submit(_collect, config, row, number, start, min(DEALS_PER_TASK, deals - start))
            for start in starts
        ]
        parts = []
        try:
            for task in tasks:
                parts.append(task.result())
                advance(min(DEALS_PER_TASK, deals - starts[len(parts) - 1]) * method.GAMES)
        except BaseException:
            for task in tasks:
                task.cancel()
            raise
    sequences = np.cumsum([0, *(2 * DEALS_PER_TASK for _ in parts[1:])])
    joined = Samples.join(parts)
    return replace(
        joined,
        features=joined.features.astype(np.float32).astype(np.float64),  # the precision of files
        sequence=np.concatenate(
            [part.sequence + offset for part, offset in zip(parts, sequences, strict=True)]
        ),
    )


def _collect(config: LearnConfig, row: tuple[float, ...], number: int, start: int, n: int) -> Samples:
    """Play deals `start` to `start + n - 1` of a round, and collect samples."""
    decks = config.found_decks
    table, records = cached_card_table(decks)
    deal = np.arange(start, start + n)
    decks_held = np.stack([deal % len(decks), deal // len(decks) % len(decks)], axis=1)
    chances, keys = (
        np.array([stream_key(config.seed, Stream.LEARNING, number, stream, int(d)) for d in deal], np.uint64)
        for stream in (_DEAL, _TURNS)
    )
    states = np.zeros(n, STATE)
    deal_games(table.array, records, find_ruleset(config.ruleset).array, decks_held, chances, states)
    weights = np.array(row)
    if METHODS[config.method].PAIRED:
        pairs = record_pairs(table.array, weights, states, chances, keys)
        differences = pairs.features[:, 0] - pairs.features[:, 1]
        points = (1 + pairs.points[:, 0] - pairs.points[:, 1]) / 2
        counts = differences[:, N_FEATURES:]
        cards = count_by_id(counts, table.cards, config.card_ids) if config.card_values else None
        return Samples(differences[:, :N_FEATURES], points, np.arange(len(points)), cards)
    recorded = record_positions(
        table.array, weights, states, chances, keys, round(config.explore * 1_000_000)
    )
    outcomes, _ = game_results(states)
    points = points_of(outcomes[recorded.game], recorded.seat == 0)
    order = np.lexsort((np.arange(len(points)), 2 * recorded.game + recorded.seat))
    return Samples(recorded.features[order], points[order], (2 * recorded.game + recorded.seat)[order])


def count_by_id(counts: np.ndarray, cards: Sequence[Card], ids: Sequence[str]) -> csr_matrix:
    """Counts by card id from counts by card number, in hand and then on board.

    Args:
        counts: shape (samples, 2 cards).
        cards: cards of the table, in its order.
        ids: card ids, sorted.

    Returns:
        Shape (samples, 2 ids), as of `Samples.cards`.
    """
    places = np.searchsorted(ids, list(map(card_id_or_name, cards)))
    columns = np.concatenate([places, len(ids) + places])
    samples, numbers = np.nonzero(counts)
    found = (counts[samples, numbers], (samples, columns[numbers]))
    by_id = csr_matrix(found, shape=(len(counts), 2 * len(ids)))
    by_id.eliminate_zeros()  # of cards with several numbers
    return by_id


CALIBRATION_GROUPS = 10
"""Number of groups of samples by predicted probability, of equal size."""

WEIGHT_DIGITS = 6
"""Significant digits of learned weights."""

RoundCallback = Callable[[Mapping[str, Any]], None]
"""Callback with the result of a round."""


def learn(
    folder: LearningFolder, play: PlayFunction, advance: Callable[[int], None], tell: RoundCallback
) -> Profile[LookaheadWeights]:
    """Play the missing rounds; returns the value function with the best test score as a profile.

    Args:
        folder: learning folder, to which every round is written.
        play: plays the tests (`evo.play.pool.WorkerPool.play`).
        advance: called with the number of games of a round just finished; raises to stop early.
        tell: called with the result of each round.

    Raises:
        LearningError: a round has no informative sample, or the folder cannot be read or written.
    """
    config = folder.config
    if not folder.rounds:
        folder.commit({"round": 0, "tests": _test(config, config.player, play) if config.test.every else []})
        tell(folder.rounds[0])
    while len(folder.rounds) <= config.rounds:
        number = len(folder.rounds)
        value = folder.value(number - 1)
        samples = collect_samples(config, recording_row(config, value), number, advance)
        folder.commit(_round(folder, number, value, samples, play), samples)
        tell(folder.rounds[number])
    return best_profile(folder)


def _round(
    folder: LearningFolder, number: int, before: Value | None, samples: Samples, play: PlayFunction
) -> dict[str, Any]:
    """Fit and test a round; returns the content that `LearningFolder.commit` writes."""
    config, method = folder.config, METHODS[folder.config.method]
    informative = int(informative_mask(samples, method.PAIRED).sum())
    if not informative:
        why = (
            f"all {len(samples.points):,} pairs have equal results"
            if len(samples.points)
            else "it has no samples"
        )
        raise LearningError(
            f"nothing can be learned from round {number} of {folder.path}: {why}; set games higher, and "
            "choose another --out"
        )
    options = {
        "ridge": config.ridge,
        "card_ridge": config.card_ridge,
        "round": number,
        **config.td.model_dump(by_alias=True),
    }
    rounds = folder.samples_to_fit(samples)
    with threadpool_limits(1, "blas"):  # the same sums with any number of processors
        value = method.learn(before, rounds, options)
        loss = None if before is None else log_loss(before, samples, method.PAIRED)
        groups = [] if before is None else calibration(before, samples, method.PAIRED)
    is_tested = config.test.every and number % config.test.every == 0
    return {
        "round": number,
        "games": config.games,
        "samples": len(samples.points),
        "told": informative,
        "loss": loss,
        "calibration": groups,
        "weights": value.weights.tolist(),
        "intercept": value.intercept,
        "scale": value.scale.tolist(),
        **({"cards": folder.cards_json(value)} if config.card_values else {}),
        "tests": _test(config, agent_player(value, config), play) if is_tested else [],
    }


def agent_weights(value: Value | None, start: LookaheadWeights) -> LookaheadWeights:
    """A value function as weights of the agent, scaled to the total size of the initial weights.

    Constant features keep their initial weights; None gives the initial weights. The common scale of all
    weights changes no turn.
    """
    if value is None:
        return start
    initial = _initial_values(start)
    scaled = np.where(value.scale > 0, value.weights * _factor(value, start), initial)
    rounded = {f"value_{name}": _rounded(x) for name, x in zip(FEATURES, scaled, strict=True)}
    return LookaheadWeights(**start.named() | rounded)


def agent_card_values(value: Value | None, config: LearnConfig) -> CardValues:
    """Card values of a value function, scaled as its weights; other cards keep their initial values."""
    initial = config.initial_card_values
    if value is None or not config.card_values:
        return initial
    factor, n = _factor(value, config.initial_weights), len(config.card_ids)
    zones = []
    for start, columns in zip(initial, (slice(n), slice(n, None)), strict=True):
        learned = zip(config.card_ids, value.cards[columns], value.card_samples[columns], strict=True)
        values = dict(start) | {card: _rounded(x * factor) for card, x, samples in learned if samples}
        zones.append(tuple(sorted(values.items())))
    return CardValues(*zones)


def agent_player(value: Value | None, config: LearnConfig) -> Player:
    """The learning player with a value function; None: the initial one."""
    return config.player_of(agent_weights(value, config.initial_weights), agent_card_values(value, config))


def recording_row(config: LearnConfig, value: Value | None) -> tuple[float, ...]:
    """Row of the player with a value function for `collect_samples`; with `card_values` cards are counted."""
    player = agent_player(value, config)
    if not config.card_values:
        return player.row
    table, _ = cached_card_table(config.found_decks)
    return (*player.row, *player.card_values.by_number(list(map(card_id_or_name, table.cards))))


def _initial_values(start: LookaheadWeights) -> np.ndarray:
    """Weights of the features, shape (`N_FEATURES`,)."""
    named = start.named()
    return np.array([named[f"value_{name}"] for name in FEATURES])


def _factor(value: Value, start: LookaheadWeights) -> float:
    """Factor that scales learned features to the total size of their initial weights."""
    varying = value.scale > 0
    size, learned = np.abs(_initial_values(start)[varying]).sum(), np.abs(value.weights[varying]).sum()
    return float(size / learned) if size and learned else 1.0


def _rounded(number: float) -> float:
    """A number with `WEIGHT_DIGITS` significant digits."""
    return float(f"{number:.{WEIGHT_DIGITS}g}")


def calibration(value: Value, samples: Samples, paired: bool) -> list[list[float]]:
    """Samples in groups by predicted probability: mean probability, mean points and number of each group.

    Args:
        value: a value that was not fitted on the samples.
        samples: samples; uninformative ones are left out.
        paired: whether samples are pairs.
    """
    told = samples.select(informative_mask(samples, paired))
    chance, points = value.chance(told.features, told.cards), told.points
    groups = np.array_split(np.argsort(chance, kind="stable"), CALIBRATION_GROUPS)
    return [[float(chance[g].mean()), float(points[g].mean()), len(g)] for g in groups if len(g)]


def _test(config: LearnConfig, player: Player, play: PlayFunction) -> list[dict[str, Any]]:
    """Play test games against every opponent, on the same deals in every round; returns the results."""
    players = (player, *config.opponents)
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
    """Mean over opponents of a round's test scores; nan without tests."""
    return float(np.mean([test["score"] for test in content["tests"]])) if content["tests"] else float("nan")


def best_round(folder: LearningFolder) -> int:
    """Number of the round with the best mean test score, the last of equals; if none was tested, the last."""
    scores = [mean_score(content) for content in folder.rounds]
    if np.isnan(scores[1:]).all():
        return len(scores) - 1
    return len(scores) - 1 - int(np.nanargmax(scores[::-1]))


def best_profile(folder: LearningFolder) -> Profile[LookaheadWeights]:
    """The value function of the best round as a profile with provenance."""
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
    return Profile(
        f"learned-{config.digest[:8]}",
        agent_weights(folder.value(number), config.initial_weights),
        provenance,
        card_values=agent_card_values(folder.value(number), config),
    )


def learning_curve(folder: LearningFolder) -> pd.DataFrame:
    """The learning curve: one row per round and opponent.

    Columns round, games (played for learning so far), opponent, test_games, score, low, high, elo, loss.
    """
    rows = []
    for content in folder.rounds:
        for test in content["tests"]:
            score = {name: test[name] for name in ("score", "low", "high")}
            rows.append(
                {
                    "round": content["round"],
                    "games": content["round"] * folder.config.games,
                    "opponent": test["opponent"],
                    "test_games": test["games"],
                    **score,
                    "elo": elo(test["score"]),
                    "loss": content.get("loss"),
                }
            )
    columns = ("round", "games", "opponent", "test_games", "score", "low", "high", "elo", "loss")
    return pd.DataFrame(rows, columns=list(columns))
