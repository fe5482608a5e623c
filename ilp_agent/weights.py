"""Weight vectors: the tunable parameters of an agent, and the objective weights of the turn program.

To add a weight to the turn program, add its field and its meaning to `Weights`. Its term then appears in
plans and has an index for kernels (`Term`); its formula belongs in `ilp_agent.exact` (the dynamic program and
`ilp_agent.exact.order.predict_outcome`) and in the objective of `ilp_agent.milp.formulations`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from enum import IntEnum
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np

from engine.cards import Card
from engine.effect_codes import CardFilter, CardKind, Op, Trait
from engine.errors import ManaforgeError
from engine.lazy import lazy_import

MAX_WEIGHT = 1e100
"""Largest weight: no objective overflows."""


class WeightError(ManaforgeError, ValueError):
    """A weight is negative, not finite, missing or of the wrong type; the message names the weight."""


@dataclass(frozen=True, slots=True)
class WeightVector:
    """Base class of weight vectors. Each agent has a subclass, whose fields are its weights.

    Fields with a default are optional weights, in sets one after the other. Profiles may set them; evolution
    leaves them at their defaults. Files and tables name a set if one of its weights, or of a later set,
    differs from its default.

    Attributes:
        AGENT: the agent's name in profiles and configurations.
        NEGATIVE: names of weights that may be negative; evolution still keeps them in [0, 1].
        MEANINGS: description of each weight, optional ones included, in the order of the fields.
        SCALE: unit of the weights in tables.
        MEASURE: unit of the weights in figures.
        COMPARABLE: whether the sizes of different weights can be compared.
        ALIASES: names that set several weights to the same value.
        OPTIONAL_SETS: number of weights in each set of optional ones; empty for a single set.
        CARD_VALUES: whether profiles of these weights may have card values (`ilp_agent.card_values`).

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
    OPTIONAL_SETS: ClassVar[tuple[int, ...]] = ()
    CARD_VALUES: ClassVar[bool] = False

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
        """Weights from numbers in the order of `names()`, and of whole sets of optional ones after them.

        Raises:
            WeightError: wrong number of weights, or an invalid one.
        """
        listed = list(values) if isinstance(values, Sequence | np.ndarray) else []
        if len(listed) not in cls._numbers_of_weights() or isinstance(values, str):
            raise WeightError(f"weights must be {len(cls.names())} numbers, got {values!r}")
        return cls(*listed)

    @classmethod
    def _numbers_of_weights(cls) -> tuple[int, ...]:
        """Numbers of weights without optional ones, with the first set of these, with two, and so on."""
        sets = cls.OPTIONAL_SETS or (len(cls.optional_defaults()),)
        return tuple(accumulate(sets, initial=len(cls.names())))

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

        Sets of optional weights are omitted as in `named`.
        """
        return np.array(list(self.named().values()), np.float64)

    @property
    def full_array(self) -> np.ndarray:
        """All weights, optional ones included, for kernels; float64, shape (fields,)."""
        return np.array(self.pad_optional(tuple(self.array)), np.float64)

    def named(self) -> dict[str, float]:
        """The weights by name, in the order of the fields; optional ones to the last set that is in use.

        A set is in use if one of its weights differs from its default.
        """
        defaults = self.optional_defaults()
        everything = [*self.names(), *defaults]
        needed, numbers = len(self.names()), self._numbers_of_weights()
        for before, after in pairwise(numbers):
            if any(getattr(self, name) != defaults[name] for name in everything[before:after]):
                needed = after
        return {name: getattr(self, name) for name in everything[:needed]}

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

    The first eight are the thesis's; the others are 0 unless set (docs/turn-program.md has their formulas):
    eight for cards, and twelve for the position at the end of the turn.
    Source: the turn-ILP thesis, section 4.3, W1 to W8 in the order of the fields; the others are ours. The
    last twelve count what the score of HearthSim does (`ilp_agent.features`), and Taunt and Secrets.

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
        "reward for each point of attack of own minions at the end",
        "reward for each point of health of own minions at the end",
        "reward for each point of attack and health of own minions with Divine Shield at the end",
        "reward for each point of health of own minions with Taunt at the end",
        "penalty for each point of health of enemy minions at the end",
        "reward for each point of health and armour that the enemy hero really loses",
        "penalty for the attack of the enemy's weapon times the durability it has left",
        "reward for each card in hand at the end",
        "reward for each crystal that the cards in hand cost, damage spells excluded",
        "reward for each point of damage of the spells in hand",
        "reward for each damage spell in hand",
        "reward for each own Secret in play at the end",
    )
    OPTIONAL_SETS: ClassVar[tuple[int, ...]] = (8, 12)

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
            without |= {"enemy_weapon", "spell_damage", "damage_spells", "secrets"}
            without |= set() if any(card.spec.lifesteal for card in known) else {"hero"}
            without |= set() if any(card.spec.divine_shield for card in known) else {"shield"}
            without |= set() if any(card.spec.taunt for card in known) else {"taunt"}
        else:
            table: Callable[[Sequence[Card]], Any] = lazy_import("engine.cards.table:CardTable")
            everything = table(known).cards
            freezes = (card.traits & Trait.FREEZES for card in everything)
            ops = {effect.op for card in everything for effect in card.effects}
            spells = (card for card in everything if card.kind == CardKind.SPELL)
            without |= set() if Op.FREEZE in ops or any(freezes) else {"frozen"}
            without |= set() if any(card.overload for card in everything) else {"overload"}
            hurt = any(effect.op == Op.DAMAGE for card in spells for effect in card.effects)
            without |= set() if hurt else {"hold", "spell_damage", "damage_spells"}
            tags_of: Callable[[Card], int] = lazy_import("engine.cards.table:tags_of")
            secret = any(tags_of(card) & CardFilter.SECRET for card in everything)
            without |= set() if secret else {"secrets"}
        return frozenset(without & set(cls.names()))

    @classmethod
    def class_for(cls, names: Iterable[str]) -> type[Self]:
        """The smallest of this class, `ExtendedWeights` and `FullWeights` that evolves all named weights."""
        named = set(names)
        for vector in (cls, ExtendedWeights):
            if not named & set(vector.optional_defaults()):
                return vector  # type: ignore[return-value]
        return FullWeights  # type: ignore[return-value]

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
    attack: float = 0.0
    health: float = 0.0
    shield: float = 0.0
    taunt: float = 0.0
    enemy_health: float = 0.0
    enemy_hero: float = 0.0
    enemy_weapon: float = 0.0
    hand: float = 0.0
    hand_mana: float = 0.0
    spell_damage: float = 0.0
    damage_spells: float = 0.0
    secrets: float = 0.0


@dataclass(frozen=True, slots=True)
class ExtendedWeights(Weights):
    """The weights of the turn program with sixteen evolved; the others are optional."""

    OPTIONAL_SETS: ClassVar[tuple[int, ...]] = Weights.OPTIONAL_SETS[1:]

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Names of the evolved weights in their order."""
        return tuple(item.name for item in fields(cls))[: len(fields(cls)) - sum(cls.OPTIONAL_SETS)]

    @classmethod
    def optional_defaults(cls) -> Mapping[str, float]:
        """Defaults of the optional weights, by name in their order."""
        return {item.name: 0.0 for item in fields(cls)[len(cls.names()) :]}


@dataclass(frozen=True, slots=True)
class FullWeights(ExtendedWeights):
    """The weights of the turn program with all evolved; none is optional."""

    OPTIONAL_SETS: ClassVar[tuple[int, ...]] = ()


WEIGHT_SETS: Mapping[str, type[Weights]] = MappingProxyType(
    {"thesis": Weights, "extended": ExtendedWeights, "full": FullWeights}
)
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

EXTENDED_NAMES = ExtendedWeights.names()
"""Names of the sixteen weights of turns on real cards."""

FULL_NAMES = FullWeights.names()
"""Names of all weights and terms, in the order used everywhere."""

N_EXTENDED, N_TERMS = len(EXTENDED_NAMES), len(FULL_NAMES)

Term = index_enum("Term", Weights, __name__)
"""Indices of the objective's weights and terms in arrays."""

assert len(Weights.MEANINGS) == N_TERMS
