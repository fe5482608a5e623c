"""Random streams of a run, each derived from the run's seed and an address; no global random state.

| stream | address below the run's seed |
| --- | --- |
| first weights and step sizes of an individual | FIRST, individual |
| a child's parents and mutation | CHILD, generation, child |
| the deal of a setup | SETUP, generation, deck pair, setup |
| a pairing's own deal of a setup | SETUP, generation, deck pair, setup, pairing |
| the deals of the final | FINAL, stage, deck pair, setup |
| the deals of all validations | VALIDATION, 0, deck pair, setup |
| seed of a run of a study | STUDY, run |
| a self-play deal of value learning, and its random turns | LEARNING, round, 0 or 1, deal |
| the test deals of value learning | LEARNING_TEST, deck pair, setup |
| the deals of feature selection | LEARNING_TEST, 1, deck pair, setup |
| the choice of hall-of-fame opponents | OPPONENTS, generation |
| the deals of the Nash mixture of opponents | OPPONENTS, generation, deck pair, setup |
| deals and random numbers of an experiment | EXPERIMENT, part, ... |
| random orders and card exchanges of deck prediction tests | PREDICTION, deck, cards exchanged |
| the deals of mulligan learning | MULLIGAN, round, deck, seat, deal |
| decks, agents and deals of the games that puzzles come from | PUZZLES, batch |
"""

from enum import IntEnum

import numpy as np

from engine.streams import generator, stream_key


class Stream(IntEnum):
    """Purpose of a stream: the first part of its address."""

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
    PUZZLES = 14


def first_stream(seed: int, individual: int) -> np.random.Generator:
    """Random stream of an individual of the initial population."""
    return generator(seed, Stream.FIRST, individual)


def child_stream(seed: int, generation: int, child: int) -> np.random.Generator:
    """Random stream of a child: choice of parents, and mutation."""
    return generator(seed, Stream.CHILD, generation, child)


def study_seed(seed: int, run: int) -> int:
    """Seed of a run of a study, below 2**63 (the range of TOML integers)."""
    return int(stream_key(seed, Stream.STUDY, run)) >> 1
