"""Weights of the lookahead agent: own turn, evaluation of positions, and the opponent's replies."""

from collections.abc import Callable, Iterable
from dataclasses import MISSING, field, fields, make_dataclass
from typing import Any, ClassVar

import numpy as np

from engine.cards import Card
from engine.codes import KEYWORD_FIELDS
from ilp_agent.features import FEATURES, MEANINGS, N_FEATURES
from ilp_agent.weights import FULL_NAMES, N_EXTENDED, N_TERMS, N_WEIGHTS, WEIGHT_NAMES, Weights, WeightVector

REPLY_WEIGHTS = (0.92, 0.0, 0.085, 0.915, 0.707, 0.0, 0.072, 1.0)
"""Default weights of the opponent's replies: the rounded champion of the four minion decks
(`configs/champions/study.toml`)."""

_KEYWORDS = frozenset({*KEYWORD_FIELDS, "shield"}) - {"charge", "rush", "divine_shield"}
"""Features of minions with a keyword; each has a counterpart for enemy minions."""
_REAL = frozenset({"spell_damage", "damage_spells", "weapon", "charge", "secrets", "enemy_secrets"})
"""Features that only card effects change."""


def _field_of(name: str, default: object) -> tuple[str, type, Any]:
    return name, float, field(default=default)


_EXTENDED, _FULL = slice(N_WEIGHTS, N_EXTENDED), slice(N_EXTENDED, N_TERMS)
_FIELDS: list[tuple[str, type, Any]] = [
    *(_field_of(name, MISSING) for name in WEIGHT_NAMES),
    *(_field_of(f"value_{name}", MISSING) for name in FEATURES),
    *(_field_of(name, 0.0) for name in FULL_NAMES[_EXTENDED]),
    *(_field_of(f"reply_{name}", weight) for name, weight in zip(WEIGHT_NAMES, REPLY_WEIGHTS, strict=True)),
    *(_field_of(f"reply_{name}", 0.0) for name in FULL_NAMES[_EXTENDED]),
    *(_field_of(name, 0.0) for name in FULL_NAMES[_FULL]),
    *(_field_of(f"reply_{name}", 0.0) for name in FULL_NAMES[_FULL]),
]

_Vector: Any = make_dataclass("_Vector", _FIELDS, bases=(WeightVector,), frozen=True, slots=True)


class LookaheadWeights(_Vector):  # type: ignore[misc]
    """Weights of the agent `lookahead`, in three parts.

    The turn program's weights, under their own names, find the ends of the turn; `value_` and a feature name
    weighs the resulting position (`ilp_agent.features`) and may be negative; `reply_` and a name of the turn
    program's weights models the opponent's replies. Of the first two parts those of the thesis evolve; the
    others have defaults.

    Raises:
        WeightError: a weight is not a finite number, or negative where that is not allowed.
    """

    __slots__ = ()
    AGENT: ClassVar[str] = "lookahead"
    SCALE: ClassVar[str] = (
        "shares of two sums, that of the turn program's weights and that of the value's weights"
    )
    NEGATIVE: ClassVar[frozenset[str]] = frozenset(f"value_{name}" for name in FEATURES)
    MEANINGS: ClassVar[tuple[str, ...]] = (
        *Weights.MEANINGS[:N_WEIGHTS],
        *(f"value: {meaning}" for meaning in MEANINGS.values()),
        *Weights.MEANINGS[_EXTENDED],
        *(f"the opponent's reply: {meaning}" for meaning in Weights.MEANINGS[:N_EXTENDED]),
        *Weights.MEANINGS[_FULL],
        *(f"the opponent's reply: {meaning}" for meaning in Weights.MEANINGS[_FULL]),
    )
    OPTIONAL_SETS: ClassVar[tuple[int, ...]] = (
        2 * N_EXTENDED - N_WEIGHTS,
        N_TERMS - N_EXTENDED,
        N_TERMS - N_EXTENDED,
    )
    CARD_VALUES: ClassVar[bool] = True

    @classmethod
    def inert(cls, cards: Iterable[Card]) -> frozenset[str]:
        """Inert weights of the turn program, and weights of features that no card changes."""
        known = list(cards)
        found = set(Weights.inert(known))
        present = {name for name in KEYWORD_FIELDS if any(getattr(card.spec, name) for card in known)}
        present |= {"shield"} if "divine_shield" in present else set()
        if any(card.real for card in known):
            present |= _REAL | _KEYWORDS
        found |= {
            f"value_{name}"
            for name in FEATURES
            if name.removeprefix("enemy_") in _KEYWORDS or name in _REAL
            if name.removeprefix("enemy_") not in present
        }
        return frozenset(found & set(cls.names()))

    @classmethod
    def scale_free(cls, weights: np.ndarray) -> np.ndarray:
        """Turn program weights divided by their sum, evaluation weights by the sum of their absolute values.

        Args:
            weights: shape (..., weights).

        Returns:
            The same shape; a part that is all zero is NaN.
        """
        parts = weights[..., :N_WEIGHTS], weights[..., N_WEIGHTS:]
        scaled: Callable[[np.ndarray], np.ndarray] = super().scale_free
        return np.concatenate([scaled(part) for part in parts], axis=-1)


assert [item.name for item in fields(LookaheadWeights)] == [name for name, _, _ in _FIELDS]
assert sum(LookaheadWeights.OPTIONAL_SETS) == len(LookaheadWeights.optional_defaults())

TURN_PART = slice(0, N_TERMS)
VALUE_PART = slice(N_TERMS, N_TERMS + N_FEATURES)
REPLY_PART = slice(N_TERMS + N_FEATURES, 2 * N_TERMS + N_FEATURES)
"""Parts of a row of weights in kernels."""

BUDGET, DEPTH, SAMPLES, HANDS = range(REPLY_PART.stop, REPLY_PART.stop + 4)
"""Indices of the options in a row, after the weights."""

CARD_PART = slice(HANDS + 1, None)
"""Part of a row with card values by card number (`CardValues.by_number`); empty without any."""


def kernel_rows(rows: np.ndarray) -> np.ndarray:
    """Weights and options in the order that kernels read.

    Args:
        rows: shape (agents, at least all weights); missing trailing options become 0. Card values may
            follow the options.
    """
    rows = np.pad(rows, ((0, 0), (0, max(0, HANDS + 1 - rows.shape[1]))))
    sizes = N_WEIGHTS, N_FEATURES, N_EXTENDED - N_WEIGHTS, N_EXTENDED, *(2 * [N_TERMS - N_EXTENDED])
    turn, value, extended, reply, full, full_reply, options = np.split(rows, np.cumsum(sizes), axis=1)
    parts = turn, extended, full, value, reply, full_reply, options
    return np.ascontiguousarray(np.concatenate(parts, axis=1))
