"""The random streams of a run, each derived from the run's seed by address; no generator is passed around.

| stream | address below the run's seed |
| --- | --- |
| first weights and step sizes of an individual | FIRST, individual |
| a child's mutation | CHILD, generation, child |
| the deal of a setup | SETUP, generation, deck pair, setup |
| a pairing's own deal of a setup | SETUP, generation, deck pair, setup, pairing |
| the deals of the final | FINAL, stage, deck pair, setup |
| the deals of all validations | VALIDATION, 0, deck pair, setup |
| seed of a run of a study | STUDY, run |
| a deal to learn from, and what is drawn at random of its turns | LEARNING, round, 0 or 1, deal |
| the deals that score a learned value | LEARNING_TEST, deck pair, setup |
| the deals that compare sets of features | LEARNING_TEST, 1, deck pair, setup |
| which bests of earlier generations are met | OPPONENTS, generation |
| the deals that find a Nash mixture of opponents | OPPONENTS, generation, deck pair, setup |
| the deals of an experiment, or what is drawn in it | EXPERIMENT, part, ... |
| orders and exchanges by which predictions are measured | PREDICTION, deck, cards exchanged |
| the deals from which keep values are learned | MULLIGAN, round, deck, seat, deal |
"""

from enum import IntEnum

import numpy as np

from engine.streams import generator, stream_key


class Stream(IntEnum):
    """First part of an address: what the stream is for."""

    FIRST = 1
    CHILD = 2
    SETUP = 3
    FINAL = 4
    STUDY = 5
    TOURNAMENT = 6
    VALIDATION = 7
    LEARNING = 8
    MULLIGAN = 9
    LEARNING_TEST = 10
    PREDICTION = 11
    OPPONENTS = 12
    EXPERIMENT = 13


def first_stream(seed: int, individual: int) -> np.random.Generator:
    """Stream of an individual of the first population."""
    return generator(seed, Stream.FIRST, individual)


def child_stream(seed: int, generation: int, child: int) -> np.random.Generator:
    """Stream of a child: choice of its parents, and its mutation."""
    return generator(seed, Stream.CHILD, generation, child)


def study_seed(seed: int, run: int) -> int:
    """The seed of one run of a study, below 2**63 as TOML's integers are."""
    return int(stream_key(seed, Stream.STUDY, run)) >> 1
