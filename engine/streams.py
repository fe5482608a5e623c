"""Counter-based random streams, each addressed by a seed and its purpose (Philox4x32-10).

A 64-bit key is derived step by step from an address such as (run seed, generation, deck pair, setup,
purpose); the n-th number of a stream is a pure function of its key and n. Both use blocks of Philox4x32-10,
the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3"
(SC 2011), and agree with its published known answers.

Only 32-bit words are multiplied, in 64 bits, so nothing overflows.
"""

import numpy as np

from engine.codes import Purpose
from engine.errors import SeedError
from engine.jit import njit

_M0 = np.uint64(0xD2511F53)
_M1 = np.uint64(0xCD9E8D57)
_W0 = np.uint64(0x9E3779B9)
_W1 = np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_ZERO = np.uint64(0)
_TAG_DRAW = np.uint64(0)
_TAG_DERIVE = np.uint64(1)

MAX_WORD = 2**32
MAX_KEY = 2**64


@njit
def philox(
    c0: np.uint64, c1: np.uint64, c2: np.uint64, c3: np.uint64, key: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Compute one Philox4x32-10 block.

    Args:
        c0: first counter word, below 2**32.
        c1: second counter word.
        c2: third counter word.
        c3: fourth counter word.
        key: both key words, the first in the low 32 bits.

    Returns:
        Four words below 2**32.
    """
    k0 = key & _LOW
    k1 = key >> _SHIFT
    for _ in range(10):
        p0 = _M0 * c0
        p1 = _M1 * c2
        c0, c1, c2, c3 = (p1 >> _SHIFT) ^ c1 ^ k0, p1 & _LOW, (p0 >> _SHIFT) ^ c3 ^ k1, p0 & _LOW
        k0 = (k0 + _W0) & _LOW
        k1 = (k1 + _W1) & _LOW
    return c0, c1, c2, c3


@njit
def derive(key: np.uint64, part: int) -> np.uint64:
    """Derive a substream's key from a key and `part`, in [0, 2**32). From Python use `stream_key`."""
    w0, w1, _, _ = philox(np.uint64(part), _ZERO, _ZERO, _TAG_DERIVE, key)
    return np.uint64(w0 | (w1 << _SHIFT))


@njit
def below(key: np.uint64, index: int, n: int) -> int:
    """Random integer: the `index`-th number of stream `key`, uniform on 0, 1, ..., n - 1.

    Exactly uniform by rejection: Lemire, "Fast Random Integer Generation in an Interval"
    (ACM TOMACS 2019).

    Args:
        key: the stream's key.
        index: position in the stream, in [0, 2**32).
        n: number of values, in [1, 2**31].
    """
    size = np.uint64(n)
    threshold = (np.uint64(MAX_WORD) - size) % size
    attempt = _ZERO
    while True:
        word, _, _, _ = philox(np.uint64(index), attempt, _ZERO, _TAG_DRAW, key)
        product = word * size
        if (product & _LOW) >= threshold:
            return np.int64(product >> _SHIFT)  # type: ignore[return-value]
        attempt += np.uint64(1)


@njit
def shuffle(values: np.ndarray, n: int, key: np.uint64) -> None:
    """Shuffle the first `n` of `values` uniformly (Fisher-Yates). Modified in place."""
    for i in range(n - 1, 0, -1):
        j = below(key, i, i + 1)
        values[i], values[j] = values[j], values[i]


@njit
def agent_keys(deals: np.ndarray, keys: np.ndarray) -> None:
    """Derive the stream keys of both agents of each game from the key of its deal.

    Args:
        deals: keys of the deals, uint64, shape (games,).
        keys: uint64, shape (games, 2), by seat. Modified in place.
    """
    for game in range(len(deals)):
        own = derive(deals[game], Purpose.AGENT)
        for seat in range(2):
            keys[game, seat] = derive(own, seat)


def stream_key(seed: int, *address: int) -> np.uint64:
    """Derive the key of a stream from a seed and an address.

    Args:
        seed: an integer in [0, 2**64).
        *address: integers in [0, 2**32), such as generation, deck pair, setup number, `Purpose`.

    Raises:
        SeedError: a part is not an integer or is out of range.
    """
    key = np.uint64(_checked("seed", seed, MAX_KEY))
    # The length comes first, so that an address and its extensions have different streams.
    key = np.uint64(derive(key, len(address)))
    for place, part in enumerate(address):
        key = np.uint64(derive(key, _checked(f"address[{place}]", part, MAX_WORD)))
    return key


def generator(seed: int, *address: int) -> np.random.Generator:
    """Create a numpy generator for Python code, seeded by address.

    Raises:
        SeedError: a part is not an integer or is out of range.
    """
    return generator_of(stream_key(seed, *address))


def generator_of(key: np.uint64) -> np.random.Generator:
    """Create a numpy generator for Python code on the stream of a key."""
    return np.random.Generator(np.random.Philox(key=int(key)))


def key_of(stream: np.random.Generator) -> np.uint64:
    """The key of a generator made by `generator` or `generator_of`, independent of the numbers drawn so far.

    With it an agent in Python draws the same numbers as its compiled version.
    """
    return np.uint64(stream.bit_generator.state["state"]["key"][0])


def _checked(name: str, value: int, limit: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise SeedError(f"{name} must be an integer, got {value!r}")
    if not 0 <= value < limit:
        raise SeedError(f"{name} must be in [0, 2**{limit.bit_length() - 1}), got {value}")
    return int(value)
