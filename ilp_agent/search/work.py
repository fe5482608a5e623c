"""Working memory of the turn search: record layouts and limits."""

from typing import NamedTuple

import numpy as np

from engine.codes import BOARD_SIZE, HAND_SIZE, MAX_ACTIONS, MAX_MANA
from engine.effect_codes import MAX_SECRETS
from engine.effects.chance import MAX_HYPOTHETICAL
from engine.state import EVENTS, MINION, STATE
from ilp_agent.features import N_COUNTS

MAX_DEPTH = 64
"""Capacity for actions of a turn; more than any turn has."""

DEFAULT_LIMIT = 10_000
"""Default limit of positions per turn."""

DEFAULT_COMPLEX_LIMIT = 1_000
"""Default limit for cards that need more game features, whose turns have far more positions."""


MAX_EVENTS = 24
"""Largest number of chance events of an action to enumerate."""

MAX_EXCLUDED = 64
"""Largest number of excluded actions."""

MAX_VARIANTS = MAX_ACTIONS + (HAND_SIZE + 1) * (BOARD_SIZE + 1) + 1
"""Capacity for actions of a position, with variants (`deferred_actions.add_attack_variants`)."""

MIN_SLOTS = 512
"""Initial size of the hash table: small, so that usual turns stay in the L1 cache."""

FRAME = np.dtype(
    [
        ("key", "u8"),  # of the position (`ilp_agent.search.transposition`)
        ("best", "f8"),  # incumbent: best value found so far
        ("gain", "f8"),  # gain of the current action
        ("floor", "f8"),  # values up to this need not be found exactly
        ("skipped", "f8"),  # largest upper bound of what was skipped
        ("bound", "f8"),  # upper bound of the value; infinite if it was not computed
        ("action", "i4"),  # the best action; 0 for the end of the turn
        ("n", "i4"),  # number of actions
        ("next", "i4"),  # index of the next action to try
        ("n_leaves", "i4"),  # outcomes of the current action; 0 if it is deterministic
        ("leaf", "i4"),  # index of the current outcome
        ("total", "f8"),  # probability-weighted value of the outcomes so far
        ("late", "i2"),  # bits of deferred actions (`ilp_agent.search.deferred_actions`)
        ("certain_death", "i2"),  # 1 while every outcome so far kills the own hero
        ("hand_attackers", "i2"),  # number of minions from hand that have attacked (`slots`)
        ("hand_attackers_died", "i2"),  # number of those that died
        ("probability", "f8", (MAX_HYPOTHETICAL,)),
        ("bounds", "f8", (MAX_HYPOTHETICAL,)),  # upper bound of the value of each outcome
        ("n_events", "i2", (MAX_HYPOTHETICAL,)),
        ("outcomes", "i2", (MAX_HYPOTHETICAL, MAX_EVENTS)),
    ]
)
"""Stack frame: a position on the path from the root."""

MEMO = np.dtype(
    [
        ("key", "u8"),
        ("value", "f8"),  # best value found
        ("most", "f8"),  # upper bound of the value; larger than it if something was skipped
        ("kind", "i4"),  # of the best action, an `ActionKind`
        ("card", "i4"),  # card number of a play
        ("first", "i4"),  # `HERO_FIRST` or 0
        ("more", "i4"),  # target, option and position bits (`DETAIL_BITS`)
        ("source", "u8"),  # key of the attacking minion; 0 for the hero
        ("target", "u8"),  # key of the target minion, or one of the codes below
        ("hand_modifiers", "u8"),  # modifiers of a played card, as of `hand_modifier_word`
    ]
)
"""Transposition table entry: value and best action, independent of board order."""

NO_TARGET_KEY, ENEMY_HERO_KEY, OWN_HERO_KEY = 1, 2, 3
"""Keys of targets that are not minions; keys of minions are larger."""

GAIN = np.dtype([("key", "u8"), ("search", "i8"), ("gain", "f8")])
"""Cached expected gain of an action with many outcomes."""

GAIN_CACHE_SIZE = 2_048
"""Size of that cache; a power of two."""

START = np.dtype(
    [
        ("seat", "i2"),
        ("last_entity_id", "i2"),  # number of minions created before the search
        ("n", "i2"),  # number of own minions on board
        ("entity_id", "i2", (BOARD_SIZE,)),  # their entity numbers
        ("health", "i2", (BOARD_SIZE,)),  # their initial health
        ("free", "i2"),  # free slots of the own board
        ("slots", "i2"),  # 1: board slots as in the integer program (rule 5 of docs/turn-program.md)
        ("limit", "i4"),  # largest number of positions
        ("limit_kept", "i4"),  # the same if cards need more game features
        (
            "reduced",
            "i2",
        ),  # 1: defer actions where possible (`ilp_agent.search.deferred_actions`)
        ("n_barred", "i2"),
        ("barred", "i4", (MAX_EXCLUDED, 3)),  # kind, source and target of excluded actions
        ("beam", "i2"),  # 1: a beam search may replace a plan that is not proven
        ("bounded", "i2"),  # 1: skip positions whose upper bound is not better (`ilp_agent.search.bound`)
        ("defers_actions", "i2"),  # 1: `reduced`, and allowed by the weights and cards in hand
        ("looks", "i2"),  # 1: a relevant card depends on cards in hand or on mana
        ("base", "f8"),  # start value, subtracted from the end value
        ("n_assumed", "i2"),  # 0: the opponent's Secrets stay hidden; else their number, all of them assumed
        ("assumed", "i2", (MAX_SECRETS,)),  # assumed Secrets, as of `ilp_agent.search.secrets`
        ("drawn", "f8"),  # score of a hidden card in hand: mean over the own deck
        ("full", "i2"),  # 1: a weight of the position at the turn's end is set
        ("hidden_mana", "f8"),  # cost of a hidden card in hand, 0 for damage spells: mean over the own deck
        ("hidden_damage", "f8"),  # its damage as a spell, likewise
        ("hidden_spells", "f8"),  # its chance to be a damage spell
        ("counts", "i8", (N_COUNTS,)),  # workspace for a score
    ]
)
"""Start and options of a search."""

SOLUTION = np.dtype(
    [
        ("value", "f8"),  # the objective
        ("most", "f8"),  # upper bound of the objective, if the search is bounded; else its value
        ("states", "i4"),  # positions searched
        ("unproven", "i2"),  # 1: the limit of positions was met, and a better plan is not excluded
        ("n", "i2"),  # number of actions
        ("again", "i2"),  # 1: search again after the actions; 0: the turn ends
        ("actions", "i4", (MAX_DEPTH,)),  # as `engine.rules.encode` packs them, without the end of the turn
    ]
)
"""Result of a search."""


BEAM_WIDTH, BEAM_LENGTH = 30, 16
"""Positions of each length that a beam search keeps, and most actions of a plan (`ilp_agent.search.beam`)."""

MAX_CARDS = HAND_SIZE + 1
"""Capacity for cards that can be played: the hand and the hero power."""

TALLY = np.dtype(
    [
        # most events of the rest of the turn
        ("plays", "i8"),  # cards played
        ("attacks", "i8"),  # attacks of own characters
        ("summons", "i8"),  # minions that enter the own board
        ("hits_own", "i8"),  # times that an own character takes damage from effects
        ("hits", "i8"),  # times that any character does
        ("heals", "i8"),  # characters healed
        ("spell_damage", "i8"),
        ("stats", "i8"),  # attack and health that own minions can have together
        ("shields", "i8"),  # 1: an own minion may have Divine Shield
        ("taunts", "i8"),  # 1: an own minion may have Taunt
        ("discards", "i8"),
        ("overload", "i8"),  # crystals
        ("protects", "i8"),  # 1: own minions may gain health; 2: an attack may cost nothing
        ("lifesteal", "i8"),  # 1: own damage may heal the own hero
        ("strikes", "i8"),  # most attacks of an own minion: 2 with Windfury
        ("minions", "i8"),  # own minions now
        ("enemies", "i8"),  # most enemy minions at once
        ("fatigue", "i8"),  # 1: the opponent may draw from an empty deck
        ("weapon_attack", "i8"),  # most attack of a weapon, before changes of it
        ("durability", "i8"),
        ("more_attack", "i8"),  # changes of the weapon
        ("more_durability", "i8"),
        ("hero_attack", "i8"),  # attack that the hero gains
        ("disarms", "i8"),  # 1: the enemy's weapon may be destroyed
        ("known", "i8"),  # 0: something is not bounded
        # what the source in hand adds at most
        ("gain", "f8"),  # own side of the objective
        ("points", "f8"),  # damage to enemies
        ("removals", "i8"),  # enemies removed or made harmless
        # the cards that can be played
        ("n", "i8"),
        ("card", "i8", (MAX_CARDS,)),
        ("cost", "i8", (MAX_CARDS,)),
        ("gains", "f8", (MAX_CARDS,)),
        ("damage", "f8", (MAX_CARDS,)),
    ]
)
"""Tally of what can still happen in a turn (`ilp_agent.search.bound`)."""

WORK = np.dtype(
    [
        ("start", START),
        ("states", STATE, (MAX_DEPTH + 2,)),  # positions on the path
        ("actions", "i8", (MAX_DEPTH + 1, MAX_VARIANTS)),  # legal actions of each
        ("frames", FRAME, (MAX_DEPTH + 1,)),
        ("n_slots", "i8"),  # current size of the hash table, a power of two
        ("n_memo", "i8"),  # positions in the transposition table
        ("search", "i8"),  # number of the search
        ("gains", GAIN, (GAIN_CACHE_SIZE,)),  # cache by key
        ("scratch", STATE, (2,)),  # temporary positions
        ("effect_state", EVENTS, (2,)),  # effect state of hypothetical lines
        (
            "odometer",
            "i8",
            (3, MAX_EVENTS),
        ),  # outcome, number of outcomes and stride of each event of an action
        ("pair", MINION, (2,)),  # two minions after an attack
        ("tally", TALLY),  # of the position bounded last
        # beam search: positions of one length, and after one more action
        ("beam_states", STATE, (2, BEAM_WIDTH)),
        ("beam_keys", "u8", (BEAM_WIDTH,)),  # of the positions after it
        ("beam_gain", "f8", (2, BEAM_WIDTH)),  # of the actions to each
        ("beam_value", "f8", (BEAM_WIDTH,)),  # of ending the turn in each after it
        ("beam_actions", "i4", (BEAM_LENGTH, BEAM_WIDTH)),  # last action to each position of each length
        ("beam_parents", "i4", (BEAM_LENGTH, BEAM_WIDTH)),  # and its place in the beam before
        ("beam_gains", GAIN, (GAIN_CACHE_SIZE,)),  # cache of the values of random actions
        ("beam_best", "f8"),  # value of the best plan so far
        ("beam_tie", "f8"),  # tolerance of ties
        ("beam_length", "i4"),  # number of actions of the best plan; 0 if that is the search's
        ("beam_plan", "i4", (BEAM_LENGTH,)),
        ("pack", "f8", (BOARD_SIZE + 1, MAX_MANA + 2)),  # knapsack: best value of deferred plays
        ("packed", "i8", (BOARD_SIZE + 1, MAX_MANA + 2)),  # and the set of cards, as bits of hand positions
    ]
)
"""Working memory of a search with a size independent of its limit. Modified in place by all its functions."""

SLOT = np.dtype(np.int32)
"""Hash table entry: index into the transposition table, -1 if empty; open addressing."""


class SearchMemory(NamedTuple):
    """Working memory of searches. All arrays are modified in place."""

    work: np.ndarray
    """Dtype `WORK`, shape (1,)."""
    memo: np.ndarray
    """Transposition table, dtype `MEMO`, in the order of search."""
    slots: np.ndarray
    """Hash table of the transposition table, dtype `SLOT`."""

    @property
    def start(self) -> np.void:
        """Start and options of the next search, dtype `START`."""
        start: np.void = self.work["start"][0]
        return start


def new_memory(limit: int) -> SearchMemory:
    """Allocate working memory for searches of at most `limit` positions."""
    places = max(MIN_SLOTS, 1 << (2 * limit - 1).bit_length())
    return SearchMemory(np.zeros(1, WORK), np.empty(limit, MEMO), np.empty(places, SLOT))
