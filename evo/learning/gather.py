"""A round of games of `lookahead` against itself, on the threads of this machine, as samples."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from engine import find_ruleset
from engine.batches import deal_games, endings
from engine.compilation import processors
from engine.decks import tables_of
from engine.state import STATE
from engine.streams import stream_key
from evo.learning.config import LearnConfig
from evo.learning.methods import METHODS, Samples
from evo.seeds import Stream
from evo.stats.points import points_of
from ilp_agent.lookahead.recording import record, record_pairs

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
