"""Bit fields in integers, and integer hashes.

Every packed number of the project uses these widths; a limit or keyword that does not fit fails an assertion
at import.
"""

import numpy as np

from engine.codes import (
    BOARD_SIZE,
    HAND_SIZE,
    HERO,
    MAX_MANA,
    MAX_STAT,
    N_TARGETS,
    ActionKind,
    Keyword,
)
from engine.jit import config, njit, njit_inline

PLACE_BITS = 4
"""Width of a hand or board position, `HERO`, mana, or a number of cards or minions."""

PLACE_MASK = (1 << PLACE_BITS) - 1

STAT_BITS = MAX_STAT.bit_length()
"""Width of an attack, a health or a cost."""

KEYWORD_BITS = 12
"""Width of a keyword set, with room for more keywords."""

KIND_SHIFT, SOURCE_SHIFT = 2 * PLACE_BITS, PLACE_BITS

KIND_BITS = 3
"""Width of an `ActionKind`."""

KIND_MASK = (1 << KIND_BITS) - 1

AIMED = 1 << (KIND_SHIFT + KIND_BITS)
"""Bit of an action with a card or power target; the target field is then a character code, 0 to 15."""

OPTION_SHIFT = KIND_SHIFT + KIND_BITS + 1
OPTION_BITS = 2
"""Width of a Choose One option: 1 or 2; 0: none."""

BOARD_PLACE_SHIFT = OPTION_SHIFT + OPTION_BITS
"""Shift of 1 + the board position of the minion played; 0: the right end."""

assert max(HAND_SIZE, BOARD_SIZE, HERO, MAX_MANA, N_TARGETS - 1) <= PLACE_MASK
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


def choose_one_option(action: int) -> int:
    """Choose One option of an action: 1 or 2; 0: none."""
    return (action >> OPTION_SHIFT) & ((1 << OPTION_BITS) - 1)


def board_place_of(action: int) -> int:
    """Board position of the minion that an action plays; -1: the right end."""
    return ((action >> BOARD_PLACE_SHIFT) & PLACE_MASK) - 1


@njit
def append_field(word: np.uint64, value: int, bits: int) -> np.uint64:
    """Append a field at the low end of a packed word.

    Args:
        word: the fields packed so far; its top `bits` bits are lost.
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
        """Product modulo 2**64; numpy would warn of the overflow, which machine code ignores."""
        return np.uint64(int(one) * int(other) & _ALL)

else:

    @njit_inline
    def _times(one: np.uint64, other: np.uint64) -> np.uint64:
        """Product modulo 2**64."""
        return one * other


@njit_inline
def fast_hash(key: np.uint64, word: np.uint64) -> np.uint64:
    """Hash of a key and one more word, for tables in memory."""
    key = _times(key ^ word, _STIR)
    return key ^ (key >> _SHIFT)


@njit_inline
def additive_hash(key: np.uint64) -> np.uint64:
    """Final hash of a `fast_hash` key, below 2**58, so that a sum of thirty does not overflow."""
    return fast_hash(fast_hash(key, _SUM), _SUM) & _KEEP
