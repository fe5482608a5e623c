"""Weight vectors: the tunable parameters of an agent, and the objective weights of the turn program.

To add a weight to the turn program, add its field and its meaning to `Weights`. Its term then appears in
plans and has an index for kernels (`Term`); its formula belongs in `ilp_agent.exact` (the dynamic program and
`ilp_agent.exact.order.predict_outcome`) and in the objective of `ilp_agent.milp.formulations`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from enum import IntEnum
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np

from engine.cards import Card
from engine.effect_codes import CardKind, Op, Trait
from engine.errors import ManaforgeError
from engine.lazy import lazy_import

MAX_WEIGHT = 1e100
"""Largest weight: no objective overflows."""


class WeightError(ManaforgeError, ValueError):
    """A weight is negative, not finite, missing or of the wrong type; the message names the weight."""


@dataclass(frozen=True, slots=True)
class WeightVector:
    """Base class of weight vectors. Each agent has a subclass, whose fields are its weights.

    Fields with a default are optional weights, for card effects. Profiles may set them; evolution leaves them
    at their defaults.

    Attributes:
        AGENT: the agent's name in profiles and configurations.
        NEGATIVE: names of weights that may be negative; evolution still keeps them in [0, 1].
        MEANINGS: description of each weight, optional ones included, in the order of the fields.
        SCALE: unit of the weights in tables.
        MEASURE: unit of the weights in figures.
        COMPARABLE: whether the sizes of different weights can be compared.
        ALIASES: names that set several weights to the same value.

    Raises:
        WeightError: a weight is NaN, infinite, not a number, or negative but not in NEGATIVE.
    """

    AGENT: ClassVar[str] = ""
    NEGATIVE: ClassVar[frozenset[str]] = frozenset()
    MEANINGS: ClassVar[tuple[str, ...]] = ()
    SCALE: ClassVar[str] = "shares of their sum"
    MEASURE: ClassVar[str] = "share"
    COMPARABLE: ClassVar[bool] = True
    ALIASES: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType({})

    def __post_init__(self) -> None:
        for name in (*self.names(), *self.optional_defaults()):
            object.__setattr__(self, name, self._checked(name, getattr(self, name)))

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Names of the weights in their order, without optional ones."""
        return tuple(item.name for item in fields(cls) if item.default is MISSING)

    @classmethod
    def optional_defaults(cls) -> Mapping[str, float]:
        """Defaults of the optional weights, by name in their order."""
        return {item.name: item.default for item in fields(cls) if item.default is not MISSING}

    @classmethod
    def from_array(cls, values: object) -> Self:
        """Weights from numbers in the order of `names()`, or of all fields.

        Raises:
            WeightError: wrong number of weights, or an invalid one.
        """
        listed = list(values) if isinstance(values, Sequence | np.ndarray) else []
        if len(listed) not in (len(cls.names()), len(fields(cls))) or isinstance(values, str):
            raise WeightError(f"weights must be {len(cls.names())} numbers, got {values!r}")
        return cls(*listed)

    @classmethod
    def pad_optional(cls, weights: Sequence[float]) -> tuple[float, ...]:
        """Append the defaults of the missing optional weights."""
        return (*weights, *tuple(cls.optional_defaults().values())[len(weights) - len(cls.names()) :])

    @classmethod
    def class_for(cls, names: Iterable[str]) -> type[Self]:  # noqa: ARG003
        """The weight class for a profile that sets weights of these names."""
        return cls

    @property
    def array(self) -> np.ndarray:
        """The weights as float64, shape (weights,), in the order of the fields.

        Optional weights are omitted if all have their defaults.
        """
        return np.array(list(self.named().values()), np.float64)

    @property
    def full_array(self) -> np.ndarray:
        """All weights, optional ones included, for kernels; float64, shape (fields,)."""
        return np.array(self.pad_optional(tuple(self.array)), np.float64)

    def named(self) -> dict[str, float]:
        """The weights by name, in the order of the fields; optional ones if one differs from its default."""
        defaults = self.optional_defaults()
        further = {name: getattr(self, name) for name in defaults}
        return {name: getattr(self, name) for name in self.names()} | (further if further != defaults else {})

    def written(self) -> dict[str, float]:
        """The weights by name as written to files."""
        return self.named()

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> Self:
        """Build weights from the output of `written`.

        Raises:
            WeightError: a weight is invalid.
        """
        return cls.class_for(written)(**written)

    @classmethod
    def format_share(cls, name: str, share: float) -> str:  # noqa: ARG003
        """Format a weight's scale-free form for tables."""
        return f"{share:.1%}"

    @classmethod
    def label(cls, name: str) -> str:
        """Label of a weight in figures."""
        return name

    @classmethod
    def meaning(cls, name: str) -> str:
        """Description of a weight; "" for a weight without one."""
        names = [item.name for item in fields(cls)]
        return dict(zip(names, cls.MEANINGS, strict=False)).get(name, "")

    @property
    def shares(self) -> np.ndarray:
        """Scale-free form of the weights without optional ones, shape (weights,); see `scale_free`."""
        return self.scale_free(self.array[: len(self.names())])

    def active(self, inert: frozenset[str]) -> dict[str, float]:
        """Scale-free form of the weights by name, without inert ones; see `active_shares`."""
        shares = self.active_shares(self.array[: len(self.names())], inert)
        named = zip(self.names(), shares, strict=True)
        return {name: float(share) for name, share in named if name not in inert}

    @classmethod
    def scale_free(cls, weights: np.ndarray) -> np.ndarray:
        """Normalise weights by the sum of their absolute values, which changes no decision.

        Args:
            weights: shape (..., weights).

        Returns:
            The same shape; all NaN where every weight is zero.
        """
        total = np.abs(weights).sum(axis=-1, keepdims=True)
        found: np.ndarray = np.full_like(weights, np.nan)
        np.divide(weights, total, out=found, where=total > 0)
        return found

    @classmethod
    def inert(cls, cards: Iterable[Card]) -> frozenset[str]:  # noqa: ARG003
        """Names of the weights that never affect a decision in games with these cards."""
        return frozenset()

    @classmethod
    def active_shares(cls, weights: np.ndarray, inert: frozenset[str]) -> np.ndarray:
        """Weights as shares of their sum, with inert ones set to 0; see `scale_free`.

        Args:
            weights: shape (..., weights).
            inert: names of the inert weights.

        Returns:
            The same shape; all NaN where every other weight is zero.
        """
        active = [name not in inert for name in cls.names()]
        return cls.scale_free(np.where(active, weights, 0.0))

    @classmethod
    def _checked(cls, name: str, value: object) -> float:
        least = -MAX_WEIGHT if name in cls.NEGATIVE else 0.0
        requirement = f"{name} must be a finite number" + ("" if least else " >= 0")
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
            raise WeightError(f"{requirement}, got {value!r}")
        if not least <= value <= MAX_WEIGHT:
            raise WeightError(f"{requirement} (and at most {MAX_WEIGHT:g}), got {value}")
        return float(value)


@dataclass(frozen=True, slots=True)
class Weights(WeightVector):
    """Objective weights of the turn program, finite and >= 0. A plan depends only on their proportions.

    The first eight are the thesis's; the others are 0 unless set (docs/turn-program.md has their formulas).
    Source: the turn-ILP thesis, section 4.3, W1 to W8 in the order of the fields; the others are ours.

    Raises:
        WeightError: a weight is negative, NaN, infinite or not a number.
    """

    AGENT: ClassVar[str] = "ilp"
    MEANINGS: ClassVar[tuple[str, ...]] = (
        "reward for killing the enemy hero",
        "reward for an empty enemy board",
        "reward for each point of attack on the enemy hero",
        "penalty for each point of attack left on the enemy board",
        "reward for each point of health of a friendly minion that survives",
        "reward for each point of attack on enemy minions",
        "penalty for each point of attack of the enemies attacked",
        "reward for each point of value of a card played",
        "reward for each card expected to be drawn into the hand",
        "reward for each point of health and armour that the own hero gains; a loss counts against it",
        "reward for the weapon's attack times the durability it has left",
        "reward for attack and health of own minions at the end, minus the same when they came in",
        "reward for each point of health taken off enemy minions",
        "reward for each point of attack of enemy minions that are frozen at the end",
        "penalty for each damage spell used: its printed damage plus 0.9",
        "penalty for each crystal that will be locked on the next turn",
    )

    @classmethod
    def inert(cls, cards: Iterable[Card]) -> frozenset[str]:
        """Names of the weights without effect in these decks, for lack of value, Lifesteal, spells and so on.

        With card effects the weights for draws, weapons and the own hero always count, due to hero powers.
        """
        known = list(cards)
        without = set() if any(card.spec.worth for card in known) else {"play"}
        real = [card for card in known if card.real]
        if not real:
            without |= {"draw", "weapon", "frozen", "hold", "overload"}
            without |= set() if any(card.spec.lifesteal for card in known) else {"hero"}
        else:
            table: Callable[[Sequence[Card]], Any] = lazy_import("engine.cards.table:CardTable")
            everything = table(known).cards
            freezes = (card.traits & Trait.FREEZES for card in everything)
            ops = {effect.op for card in everything for effect in card.effects}
            spells = (card for card in everything if card.kind == CardKind.SPELL)
            without |= set() if Op.FREEZE in ops or any(freezes) else {"frozen"}
            without |= set() if any(card.overload for card in everything) else {"overload"}
            hurt = any(effect.op == Op.DAMAGE for card in spells for effect in card.effects)
            without |= set() if hurt else {"hold"}
        return frozenset(without & set(cls.names()))

    @classmethod
    def class_for(cls, names: Iterable[str]) -> type[Self]:
        """`ExtendedWeights` if an optional weight is named, else this class."""
        return ExtendedWeights if set(names) & set(Weights.optional_defaults()) else cls  # type: ignore[return-value]

    lethal: float
    clear: float
    face: float
    threat: float
    survive: float
    damage: float
    trade: float
    play: float
    draw: float = 0.0
    hero: float = 0.0
    weapon: float = 0.0
    body: float = 0.0
    wound: float = 0.0
    frozen: float = 0.0
    hold: float = 0.0
    overload: float = 0.0


@dataclass(frozen=True, slots=True)
class ExtendedWeights(Weights):
    """The weights of the turn program with all sixteen evolved; none is optional."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Names of all weights in their order."""
        return tuple(item.name for item in fields(cls))

    @classmethod
    def optional_defaults(cls) -> Mapping[str, float]:
        """Empty: no weight is optional."""
        return {}


WEIGHT_SETS: Mapping[str, type[Weights]] = MappingProxyType({"thesis": Weights, "extended": ExtendedWeights})
"""Evolved weight sets of the turn program, by their name in configurations."""


def index_enum(name: str, vector: type[WeightVector], module: str) -> Any:
    """Build an IntEnum of a vector's weight indices for kernels: `weights[Term.SURVIVE]`.

    Args:
        name: name of the enum.
        vector: weight class; members are numbered from 0 in the order of its fields.
        module: module that holds the enum under its name; compiled code looks it up there.
    """
    return IntEnum(
        name,
        [weight.upper() for weight in (*vector.names(), *vector.optional_defaults())],
        start=0,
        module=module,
    )


WEIGHT_NAMES = Weights.names()
"""Names of the thesis's eight weights and terms, in the order used everywhere."""

N_WEIGHTS = len(WEIGHT_NAMES)

EXTENDED_NAMES = (*WEIGHT_NAMES, *Weights.optional_defaults())
"""Names of all sixteen weights and terms, in the order used everywhere."""

N_TERMS = len(EXTENDED_NAMES)

Term = index_enum("Term", Weights, __name__)
"""Indices of the objective's weights and terms in arrays."""

assert len(Weights.MEANINGS) == N_TERMS
