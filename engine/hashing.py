"""Hashes for tables in memory, compiled: of words one after the other, and such that add up in any order."""

import numpy as np

from engine.jit import config, njit_inline

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
