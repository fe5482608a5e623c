"""Bit fields in integers, and integer hashes.

Every packed number of the project is built from these widths, so that a larger limit or one more keyword
either fits or fails here, when the module is imported.
"""

import numpy as np

from engine.codes import BOARD_SIZE, CHARACTERS, HAND_SIZE, HERO, MAX_MANA, MAX_STAT, ActionKind, Keyword
from engine.jit import config, njit, njit_inline

PLACE_BITS = 4
"""A place in hand or on board, `HERO`, mana, or a number of cards or minions."""

PLACE_MASK = (1 << PLACE_BITS) - 1

STAT_BITS = MAX_STAT.bit_length()
"""An attack, a health or a cost."""

KEYWORD_BITS = 12
"""A set of keywords, with room for keywords to come."""

KIND_SHIFT, SOURCE_SHIFT = 2 * PLACE_BITS, PLACE_BITS

KIND_BITS = 3
"""An `ActionKind`."""

KIND_MASK = (1 << KIND_BITS) - 1

AIMED = 1 << (KIND_SHIFT + KIND_BITS)
"""Bit of an action that plays a card or uses a power on a target; its target is then a character, 0 to 15."""

OPTION_SHIFT = KIND_SHIFT + KIND_BITS + 1
OPTION_BITS = 2
"""What a card that lets its player choose is played as: 1 or 2; 0 where there is nothing to choose."""

AT_SHIFT = OPTION_SHIFT + OPTION_BITS
"""1 + the place on the own board at which a minion comes in; 0: at the right end."""

assert max(HAND_SIZE, BOARD_SIZE, HERO, MAX_MANA, CHARACTERS - 1) <= PLACE_MASK
assert max(ActionKind) <= KIND_MASK
assert max(Keyword).bit_length() <= KEYWORD_BITS
assert np.iinfo(np.int16).bits > KEYWORD_BITS, "records hold keywords as i2, whose last bit is the sign"
assert max(HAND_SIZE, BOARD_SIZE) < np.iinfo(np.int16).bits, "records hold sets of places as i2"


def pack_action(kind: int, source: int, target: int) -> int:
    """Pack an action: kind (`ActionKind`), source (hand or board place), target (enemy place or `HERO`)."""
    return (kind << KIND_SHIFT) | (source << SOURCE_SHIFT) | target


def unpack_action(action: int) -> tuple[int, int, int]:
    """Unpack an action into kind, source and target."""
    return (action >> KIND_SHIFT) & KIND_MASK, (action >> SOURCE_SHIFT) & PLACE_MASK, action & PLACE_MASK


def option_of(action: int) -> int:
    """What a card is played as: 1 or 2, or 0."""
    return (action >> OPTION_SHIFT) & ((1 << OPTION_BITS) - 1)


def place_in(action: int) -> int:
    """The place on the own board at which a minion comes in; -1: at the right end."""
    return ((action >> AT_SHIFT) & PLACE_MASK) - 1


@njit
def append_field(word: np.uint64, value: int, bits: int) -> np.uint64:
    """A packed word with one more field at its low end.

    Args:
        word: what is packed so far; its top `bits` bits are lost.
        value: in [0, 2**bits).
        bits: the field's width.
    """
    return np.uint64((word << np.uint64(bits)) | np.uint64(value))


_STIR, _SUM = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_SHIFT = np.uint64(32)
_KEEP = np.uint64((1 << 58) - 1)
_ALL = (1 << 64) - 1

if config.DISABLE_JIT:

    def _times(one: np.uint64, other: np.uint64) -> np.uint64:
        """A product modulo 2**64; numpy warns of what machine code does silently."""
        return np.uint64(int(one) * int(other) & _ALL)

else:

    @njit_inline
    def _times(one: np.uint64, other: np.uint64) -> np.uint64:
        """A product modulo 2**64."""
        return one * other


@njit_inline
def stir(key: np.uint64, word: np.uint64) -> np.uint64:
    """A hash of a key and one more word; four times as fast as `mix`, for tables in memory."""
    key = _times(key ^ word, _STIR)
    return key ^ (key >> _SHIFT)


@njit_inline
def to_sum(key: np.uint64) -> np.uint64:
    """A stirred key, below 2**58, so that thirty of them add up without wrapping around."""
    return stir(stir(key, _SUM), _SUM) & _KEEP
