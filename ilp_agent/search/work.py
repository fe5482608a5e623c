"""Memory of the search, made once for each thread, and what its functions tell each other."""

from typing import NamedTuple

import numpy as np

from engine.codes import BOARD_SIZE, HAND_SIZE, MAX_ACTIONS, MAX_MANA
from engine.effects.chance import MOST_IMAGINED
from engine.state import EVENTS, MINION, STATE
from ilp_agent.features import N_COUNTS

DEPTH = 64
"""More actions than a turn can have."""

STATES = 10_000
"""Positions of a turn at most, unless another limit is asked for."""

STATES_KEPT = 1_000
"""The same of a turn whose cards ask for more than minions that act at its end: it has far more positions."""

MOST_STATES = 2_000_000
"""Largest limit that can be asked for."""

EVENTS_EACH = 24
"""Most chance events of an action whose outcomes are weighed one by one."""

MAX_BARRED = 64
"""Most actions that a search can be told to leave out."""

MOST_ACTIONS = MAX_ACTIONS + (HAND_SIZE + 1) * (BOARD_SIZE + 1) + 1
"""Actions of a position, some with attacks before them (`deferred_actions.add_last_attacks`)."""

FEWEST_SLOTS = 512
"""Slots at the start of a search: few, so that usual turns stay in the nearest cache."""

FRAME = np.dtype(
    [
        ("key", "u8"),  # of the position (`ilp_agent.search.transposition`)
        ("best", "f8"),  # the most that is known to follow
        ("gain", "f8"),  # what the action being tried adds by itself
        ("action", "i4"),  # the best action; 0, the end of the turn, where nothing adds anything
        ("n", "i4"),  # actions of the position
        ("next", "i4"),  # the one to try next
        ("n_leaves", "i4"),  # outcomes of the action being tried; 0 where chance has no part in it
        ("leaf", "i4"),  # the one being tried
        ("total", "f8"),  # value of the outcomes so far, by their probabilities
        ("late", "i2"),  # what may be left for the end of the turn (`ilp_agent.search.deferred_actions`)
        ("certain_death", "i2"),  # 1 as long as every outcome so far kills the own hero
        ("strikers", "i2"),  # minions from hand that have attacked (`slots`)
        ("ghosts", "i2"),  # of these, those that died
        ("probability", "f8", (MOST_IMAGINED,)),
        ("n_events", "i2", (MOST_IMAGINED,)),
        ("outcomes", "i2", (MOST_IMAGINED, EVENTS_EACH)),
    ]
)
"""A position on the way from the start of the search to where it is."""

MEMO = np.dtype(
    [
        ("key", "u8"),
        ("value", "f8"),  # the most that can follow
        ("kind", "i4"),  # of the best action, an `ActionKind`
        ("card", "i4"),  # card number of a play
        ("first", "i4"),  # `HERO_FIRST` or 0
        ("more", "i4"),  # bits of the action that say how a card is played
        ("source", "u8"),  # key of the minion that attacks; 0 for the hero
        ("target", "u8"),  # key of the minion it is aimed at, or one of the codes below
        ("held", "u8"),  # what befell a card that is played in the hand, of `held_word`
    ]
)
"""What is known of a position that has been searched; whoever stands where."""

AT_NOTHING, AT_ENEMY_HERO, AT_OWN_HERO = 1, 2, 3
"""Targets of remembered actions that are no minions; keys of minions are larger."""

GAIN = np.dtype([("key", "u8"), ("search", "i8"), ("gain", "f8")])
"""What an action of many outcomes is expected to add."""

N_GAINS = 2_048
"""How many of these are kept; a power of two."""

START = np.dtype(
    [
        ("seat", "i2"),
        ("births", "i2"),  # minions born before the search
        ("n", "i2"),  # own minions on board
        ("born", "i2", (BOARD_SIZE,)),  # their births
        ("health", "i2", (BOARD_SIZE,)),  # and what they came in with
        ("free", "i2"),  # places on the own board
        ("slots", "i2"),  # 1: places are used as the integer program has it (rule 5 of docs/turn-program.md)
        ("limit", "i4"),  # positions at most
        ("limit_kept", "i4"),  # the same of a turn whose cards ask for more to be kept
        (
            "reduced",
            "i2",
        ),  # 1: what nothing can touch is left for the end (`ilp_agent.search.deferred_actions`)
        ("n_barred", "i2"),
        ("barred", "i4", (MAX_BARRED, 3)),  # kind, source and target of actions to leave out
        ("leaves_late", "i2"),  # 1: `reduced`, and the weights and the cards in hand allow it
        ("looks", "i2"),  # 1: something that can act on the turn depends on cards in hand or on mana
        ("base", "f8"),  # what is subtracted from the end's value: what came in, the hero at the start
        ("drawn", "f8"),  # of a score, what a card in hand that is hidden counts: the mean of the own deck
        ("counts", "i8", (N_COUNTS,)),  # workspace of a score
    ]
)
"""What a search starts from."""

SOLVED = np.dtype(
    [
        ("value", "f8"),  # the objective
        ("states", "i4"),  # positions searched
        ("unproven", "i2"),  # 1: the limit was met
        ("n", "i2"),  # actions
        ("again", "i2"),  # 1: the turn is to be solved again after them; else it ends
        ("actions", "i4", (DEPTH,)),  # as `engine.rules.encode` packs them, without the end of the turn
    ]
)
"""What a search found."""


WORK = np.dtype(
    [
        ("start", START),
        ("states", STATE, (DEPTH + 2,)),  # positions on the way
        ("actions", "i8", (DEPTH + 1, MOST_ACTIONS)),  # and their actions
        ("frames", FRAME, (DEPTH + 1,)),
        ("n_slots", "i8"),  # places of the table of keys that are in use, a power of two
        ("n_memo", "i8"),  # positions remembered
        ("search", "i8"),  # searches so far
        ("gains", GAIN, (N_GAINS,)),  # by key
        ("scratch", STATE, (2,)),  # positions of single functions
        ("thought", EVENTS, (2,)),  # events of positions that are thought of
        (
            "odometer",
            "i8",
            (3, EVENTS_EACH),
        ),  # outcomes, their numbers, and steps, of an action's events
        ("pair", MINION, (2,)),  # two minions after a blow
        ("pack", "f8", (BOARD_SIZE + 1, MAX_MANA + 2)),  # best value of minions played at the end
        ("packed", "i8", (BOARD_SIZE + 1, MAX_MANA + 2)),  # which these are, as bits of places in hand
    ]
)
"""All memory of a search whose size does not depend on its limit. Modified in place by all its functions."""

KEYS = np.dtype(np.int32)
"""Places in the list of remembered positions by key, -1 for none; open addressing."""


class SearchMemory(NamedTuple):
    """Memory of searches. All arrays are modified in place."""

    work: np.ndarray
    """Dtype `WORK`, shape (1,)."""
    memo: np.ndarray
    """Dtype `MEMO`, in the order in which positions were searched."""
    slots: np.ndarray
    """Dtype `KEYS`."""

    @property
    def start(self) -> np.void:
        """What searches start from, dtype `START`: their limit, and how they are made."""
        start: np.void = self.work["start"][0]
        return start


def new_memory(limit: int) -> SearchMemory:
    """Memory for searches of at most `limit` positions."""
    places = max(FEWEST_SLOTS, 1 << (2 * limit - 1).bit_length())
    return SearchMemory(np.zeros(1, WORK), np.empty(limit, MEMO), np.empty(places, KEYS))
