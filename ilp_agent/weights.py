"""Weight vectors: named numbers that decide how an agent plays, and those of the turn program.

To add a weight to the turn program, add its field and its meaning to `Weights`. Its term then has a place in
plans and a name for kernels (`Term`); its formula belongs in `ilp_agent.exact` (what the search adds up, and
`ilp_agent.exact.order.predict`) and in the objective of `ilp_agent.milp.formulations`.
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
from engine.lazy import loaded

MAX_WEIGHT = 1e100
"""Far beyond any use, and far enough from the largest float that no objective overflows."""


class WeightError(ManaforgeError, ValueError):
    """A weight is negative, not finite, missing or of the wrong type; the message names it."""


@dataclass(frozen=True, slots=True)
class WeightVector:
    """What all weight vectors share. Each agent has a subclass, whose fields are its weights.

    Fields with a default are further weights, of what only real cards have. Profiles may set them; evolution
    leaves them at their defaults.

    Attributes:
        AGENT: the agent's name, as profiles and configurations write it.
        NEGATIVE: names of weights that may be below zero; evolution still keeps them in [0, 1].
        MEANINGS: what each weight is for, further ones too, in the order of the fields.
        SCALE: what tables show of weights, in words.
        MEASURE: what figures show of them, in a few words.
        COMPARABLE: whether the sizes of different weights say which matters more.
        ALIASES: names that set several weights to the same value.

    Raises:
        WeightError: a weight is negative and must not be, NaN, infinite or no number.
    """

    AGENT: ClassVar[str] = ""
    NEGATIVE: ClassVar[frozenset[str]] = frozenset()
    MEANINGS: ClassVar[tuple[str, ...]] = ()
    SCALE: ClassVar[str] = "shares of their sum"
    MEASURE: ClassVar[str] = "share"
    COMPARABLE: ClassVar[bool] = True
    ALIASES: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType({})

    def __post_init__(self) -> None:
        for name in (*self.names(), *self.further()):
            object.__setattr__(self, name, self._checked(name, getattr(self, name)))

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The weights by name, in their order, without further ones."""
        return tuple(item.name for item in fields(cls) if item.default is MISSING)

    @classmethod
    def further(cls) -> Mapping[str, float]:
        """The further weights by name, in their order, with their defaults."""
        return {item.name: item.default for item in fields(cls) if item.default is not MISSING}

    @classmethod
    def from_array(cls, values: object) -> Self:
        """Weights from numbers in the order of `names()`, or of all fields.

        Raises:
            WeightError: there are more or fewer, or one is not allowed.
        """
        listed = list(values) if isinstance(values, Sequence | np.ndarray) else []
        if len(listed) not in (len(cls.names()), len(fields(cls))) or isinstance(values, str):
            raise WeightError(f"weights must be {len(cls.names())} numbers, got {values!r}")
        return cls(*listed)

    @classmethod
    def padded(cls, weights: Sequence[float]) -> tuple[float, ...]:
        """Numbers of all fields: those given, then the defaults of the further ones."""
        return (*weights, *tuple(cls.further().values())[len(weights) - len(cls.names()) :])

    @classmethod
    def holding(cls, names: Iterable[str]) -> type[Self]:  # noqa: ARG003
        """The class for a profile that sets weights of these names."""
        return cls

    @property
    def array(self) -> np.ndarray:
        """The weights as float64, shape (weights,), in the order of the fields.

        Further weights are left out where all have their defaults.
        """
        return np.array(list(self.named().values()), np.float64)

    @property
    def everything(self) -> np.ndarray:
        """All weights as kernels take them, further ones too; float64, shape (fields,)."""
        return np.array(self.padded(tuple(self.array)), np.float64)

    def named(self) -> dict[str, float]:
        """The weights by name, in the order of the fields; further ones where one is not its default."""
        usual = self.further()
        further = {name: getattr(self, name) for name in usual}
        return {name: getattr(self, name) for name in self.names()} | (further if further != usual else {})

    def written(self) -> dict[str, float]:
        """The weights by name as files have them."""
        return self.named()

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> Self:
        """Weights from what `written` gives, with all names.

        Raises:
            WeightError: one is not allowed.
        """
        return cls.holding(written)(**written)

    @classmethod
    def shown(cls, name: str, share: float) -> str:  # noqa: ARG003
        """A weight's scale-free form as tables show it."""
        return f"{share:.1%}"

    @classmethod
    def label(cls, name: str) -> str:
        """A weight's name as figures show it."""
        return name

    @property
    def shares(self) -> np.ndarray:
        """The weights but further ones in their scale-free form, shape (weights,); see `scale_free`."""
        return self.scale_free(self.array[: len(self.names())])

    def active(self, inert: frozenset[str]) -> dict[str, float]:
        """The scale-free form of the weights but the inert ones, by name; see `active_shares`."""
        shares = self.active_shares(self.array[: len(self.names())], inert)
        named = zip(self.names(), shares, strict=True)
        return {name: float(share) for name, share in named if name not in inert}

    @classmethod
    def scale_free(cls, weights: np.ndarray) -> np.ndarray:
        """Weights divided by the sum of their sizes: no decision changes when all are scaled together.

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
        """Names of the weights that change no decision in games with these cards, whatever the others are."""
        return frozenset()

    @classmethod
    def active_shares(cls, weights: np.ndarray, inert: frozenset[str]) -> np.ndarray:
        """The scale-free form of weights whose inert ones are taken as 0.

        Args:
            weights: shape (..., weights).
            inert: names.

        Returns:
            The same shape; all NaN where every weight but the inert ones is zero.
        """
        counted = [name not in inert for name in cls.names()]
        return cls.scale_free(np.where(counted, weights, 0.0))

    @classmethod
    def _checked(cls, name: str, value: object) -> float:
        least = -MAX_WEIGHT if name in cls.NEGATIVE else 0.0
        wanted = f"{name} must be a finite number" + ("" if least else " >= 0")
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
            raise WeightError(f"{wanted}, got {value!r}")
        if not least <= value <= MAX_WEIGHT:
            raise WeightError(f"{wanted} (and at most {MAX_WEIGHT:g}), got {value}")
        return float(value)


@dataclass(frozen=True, slots=True)
class Weights(WeightVector):
    """The weights of the turn program, finite numbers >= 0. Only their proportions matter to a plan.

    The first eight are the thesis's; the others are 0 unless set (docs/turn-program.md has their formulas).
    Source: the turn-ILP thesis, section 4.3, W1 to W8 in the order of the fields; the others are ours.

    Raises:
        WeightError: a weight is negative, NaN, infinite or no number.
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
        "reward for attack and health of own minions at the end, less what they came in with",
        "reward for each point of health taken off enemy minions",
        "reward for each point of attack of enemy minions that are frozen at the end",
        "penalty for each damage spell used, its damage as printed and 0.9",
        "penalty for each crystal that will be locked on the next turn",
    )

    @classmethod
    def inert(cls, cards: Iterable[Card]) -> frozenset[str]:
        """The weights of what no card of these decks has: value, Lifesteal, weapons, spells and the like.

        Where cards do what they say, draws, weapons and the own hero always count: hero powers see to that.
        """
        known = list(cards)
        without = set() if any(card.spec.worth for card in known) else {"play"}
        real = [card for card in known if card.real]
        if not real:
            without |= {"draw", "weapon", "frozen", "hold", "overload"}
            without |= set() if any(card.spec.lifesteal for card in known) else {"hero"}
        else:
            table: Callable[[Sequence[Card]], Any] = loaded("engine.cards.table:CardTable")
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
    def holding(cls, names: Iterable[str]) -> type[Self]:
        """`ExtendedWeights` where a further weight is named."""
        return ExtendedWeights if set(names) & set(Weights.further()) else cls  # type: ignore[return-value]

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
    """The same weights where all sixteen evolve: none is left at its default."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """All weights by name, in their order."""
        return tuple(item.name for item in fields(cls))

    @classmethod
    def further(cls) -> Mapping[str, float]:
        """None."""
        return {}


WEIGHT_SETS: Mapping[str, type[Weights]] = MappingProxyType({"thesis": Weights, "extended": ExtendedWeights})
"""Which weights of the turn program evolve, by the name that configurations give."""


def index_enum(name: str, vector: type[WeightVector], module: str) -> Any:
    """An IntEnum of a vector's weights in capitals, for kernels: `weights[Term.SURVIVE]`.

    Args:
        name: of the enum.
        vector: whose weights it numbers, from 0, in the order of the fields.
        module: where the enum is kept under its name; compiled code finds it there.
    """
    return IntEnum(
        name, [weight.upper() for weight in (*vector.names(), *vector.further())], start=0, module=module
    )


WEIGHT_NAMES = Weights.names()
"""The thesis's weights, and their terms, in this order everywhere."""

N_WEIGHTS = len(WEIGHT_NAMES)

EXTENDED_NAMES = (*WEIGHT_NAMES, *Weights.further())
"""All weights, and their terms, in this order everywhere."""

N_TERMS = len(EXTENDED_NAMES)

Term = index_enum("Term", Weights, __name__)
"""Places of the objective's weights and terms in arrays."""

assert len(Weights.MEANINGS) == N_TERMS
