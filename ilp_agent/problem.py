"""TurnProblem: the minions, mana and targets of one turn without card effects, as input of the solvers."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from engine import MinionSpec, PlayerView, Position
from engine.codes import (
    BOARD_SIZE,
    COIN,
    HAND_SIZE,
    HERO,
    HERO_HEALTH,
    MAX_MANA,
    MAX_STAT,
    UNKNOWN,
    ActionKind,
    Outcome,
)
from engine.minion import keyword_flags_of
from ilp_agent.turn import (
    ANY_TARGET,
    PLAYED_THIS_TURN,
    TURN,
    ProblemError,
    Turn,
    attacks_on_arrival,
    read_turn,
)


@dataclass(frozen=True)
class TurnProblem:
    """The decision problem of one turn without card effects. All indices refer to these tuples.

    Attributes:
        friendly: minions on board, at most 7; each can attack `attacks_left` times.
        hand: minions in hand, at most 10 with The Coin; The Coin has no index.
        enemy: enemy minions, at most 7.
        mana: mana to spend, 0 to 10, before The Coin.
        enemy_hero: enemy hero's health plus armour, 1 to 1029.
        coin: whether The Coin is in hand.
        no_hero: indices of friendly minions that may attack only minions (Rush on the turn it was played).
        barred: excluded attacks as (friendly, enemy), to measure their worth; not a rule of the game.
    """

    friendly: tuple[MinionSpec, ...]
    hand: tuple[MinionSpec, ...]
    enemy: tuple[MinionSpec, ...]
    mana: int
    enemy_hero: int
    coin: bool = False
    no_hero: frozenset[int] = frozenset()
    barred: frozenset[tuple[int, int]] = frozenset()

    def __post_init__(self) -> None:
        for name, most in (
            ("friendly", BOARD_SIZE),
            ("hand", HAND_SIZE - bool(self.coin)),
            ("enemy", BOARD_SIZE),
        ):
            minions = getattr(self, name)
            for place, minion in enumerate(minions):
                if not isinstance(minion, MinionSpec):
                    raise ProblemError(f"{name}[{place}] must be a MinionSpec, got {minion!r}")
            if len(minions) > most:
                with_coin = " beside The Coin" if name == "hand" and self.coin else ""
                raise ProblemError(f"{name} must have at most {most} minions{with_coin}, got {len(minions)}")
        friends = range(len(self.friendly) + len(self.hand))
        object.__setattr__(self, "no_hero", frozenset(self.no_hero))
        object.__setattr__(self, "barred", frozenset(self.barred))
        if not all(friend in friends for friend in self.no_hero):
            raise ProblemError(f"no_hero must hold friendly minion indices, got {sorted(self.no_hero)}")
        if not all(friend in friends and enemy in range(len(self.enemy)) for friend, enemy in self.barred):
            raise ProblemError(f"barred must hold (friendly, enemy) indices, got {sorted(self.barred)}")
        if not isinstance(self.coin, bool | np.bool):
            raise ProblemError(f"coin must be True or False, got {self.coin!r}")
        for name, low, high in (("mana", 0, MAX_MANA), ("enemy_hero", 1, HERO_HEALTH + MAX_STAT)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
                raise ProblemError(f"{name} must be an integer from {low} to {high}, got {value!r}")
            object.__setattr__(self, name, int(value))

    @classmethod
    def build(
        cls,
        *,
        friendly: Iterable[MinionSpec] = (),
        hand: Iterable[MinionSpec] = (),
        enemy: Iterable[MinionSpec] = (),
        mana: int,
        enemy_hero: int,
        coin: bool = False,
    ) -> "TurnProblem":
        """Build a problem from lists of minions; the arguments are the attributes.

        Raises:
            ProblemError: an argument has the wrong type or is out of range; the message names it.
        """
        sides = []
        for name, minions in (("friendly", friendly), ("hand", hand), ("enemy", enemy)):
            try:
                sides.append(tuple(minions))
            except TypeError:
                raise ProblemError(f"{name} must be a list of MinionSpec, got {minions!r}") from None
        return cls(sides[0], sides[1], sides[2], mana, enemy_hero, coin)

    @classmethod
    def from_view(cls, view: PlayerView) -> "TurnProblem":
        """The problem of the player to move, from that player's view."""
        return cls.from_position(view.position)

    @classmethod
    def from_position(cls, position: Position) -> "TurnProblem":
        """The problem of the player to move, from a position; the opponent's hand is not read.

        Raises:
            ProblemError: the game is over or has card effects, or a card in the player's own hand is hidden.
        """
        if position.outcome != Outcome.ONGOING:
            raise ProblemError(f"the game is over in {position}")
        if position.table.effects:
            raise ProblemError(f"a TurnProblem cannot hold card effects; use a Turn; in {position}")
        own = position.state["sides"][position.active]
        if UNKNOWN in own["hand"][: own["n_hand"]]:
            raise ProblemError(f"the hand of the player to move has hidden cards in {position}")
        turn = np.zeros(1, TURN)[0]
        read_turn(position.state, position.table.array, turn)
        m, h, n = int(turn["n_board"]), int(turn["n_hand"]), int(turn["n_enemies"])
        friends = turn["friends"]
        return cls(
            tuple(_spec(friend, friend["attacks"]) for friend in friends[:m]),
            tuple(_spec(friend, None) for friend in friends[m : m + h]),
            tuple(_spec(enemy, None) for enemy in turn["enemies"][:n]),
            int(turn["mana"]),
            int(turn["hero"]),
            bool(turn["coin"]),
            frozenset(place for place in range(m) if not friends[place]["hits_hero"]),
        )

    @classmethod
    def from_turn(cls, turn: Turn) -> "TurnProblem":
        """The problem of a turn without card effects, with its excluded attacks.

        Raises:
            ProblemError: as in `from_position`; or the turn excludes a card, not an attack.
        """
        problem = cls.from_position(turn.position)
        no_hero, pairs = excluded_attacks(turn)
        return replace(problem, no_hero=problem.no_hero | no_hero, barred=frozenset(pairs))

    @cached_property
    def record(self) -> np.void:
        """The problem as a record of dtype `ilp_agent.turn.TURN`, for kernels."""
        turn: np.void = np.zeros(1, TURN)[0]
        turn["n_board"], turn["n_hand"], turn["n_enemies"] = (
            len(self.friendly),
            len(self.hand),
            len(self.enemy),
        )
        turn["mana"], turn["coin"], turn["hero"] = self.mana, self.coin, self.enemy_hero
        for place, spec in enumerate((*self.friendly, *self.hand)):
            friend = turn["friends"][place]
            friend["attack"], friend["health"], friend["keywords"] = spec.attack, spec.health, spec.keywords
            friend["survival"], friend["value"] = spec.health, spec.worth
            if place < len(self.friendly):
                full = 2 if spec.windfury else 1
                left = full if spec.attacks_left is None else spec.attacks_left
                friend["attacks"] = left if spec.attack > 0 else 0
                friend["hits_hero"] = place not in self.no_hero
            else:
                friend["cost"] = spec.cost
                friend["attacks"] = attacks_on_arrival(spec.attack, spec.keywords)
                friend["hits_hero"] = spec.charge and place not in self.no_hero
        for place, target in self.barred:
            turn["friends"][place]["barred"] |= 1 << target
        for place, spec in enumerate(self.enemy):
            enemy = turn["enemies"][place]
            enemy["attack"], enemy["health"], enemy["keywords"] = spec.attack, spec.health, spec.keywords
        return turn


def excluded_attacks(turn: Turn) -> tuple[set[int], set[tuple[int, int]]]:
    """Excluded attacks of a turn without card effects.

    Returns:
        Indices of the friendly minions that must not attack the hero, and excluded (friendly, enemy) pairs.

    Raises:
        ProblemError: the turn excludes a card, not an attack.
    """
    seat, sides = turn.position.active, turn.position.state["sides"]
    own, enemy = sides[seat], sides[1 - seat]
    no_hero: set[int] = set()
    pairs: set[tuple[int, int]] = set()
    for kind, source, target in turn.barred:
        if kind != ActionKind.ATTACK:
            action = turn.position.card_name(source) if kind == ActionKind.PLAY else kind.name.lower()
            raise ProblemError(
                f"only attacks can be excluded from a turn without card effects, not {action!r}; "
                f"use backend 'search' or 'auto'; in {turn.position}"
            )
        board, enemies = (side["board"]["entity_id"][: side["n_board"]].tolist() for side in (own, enemy))
        hand = [
            PLAYED_THIS_TURN - number for number in own["hand"][: own["n_hand"]].tolist() if number != COIN
        ]
        for friend, attacker in enumerate((*board, *hand)):
            if attacker != source:
                continue
            if target in (ANY_TARGET, -1 - HERO):
                no_hero.add(friend)
            pairs |= {(friend, place) for place, born in enumerate(enemies) if target in (ANY_TARGET, born)}
    return no_hero, pairs


def _spec(record: np.void, attacks_left: int | None) -> MinionSpec:
    """Convert a minion of a `TURN` record to a `MinionSpec`."""
    flags = keyword_flags_of(int(record["keywords"]))
    names = record.dtype.names or ()
    cost = int(record["cost"]) if "cost" in names else 0
    value = float(record["value"]) if "value" in names else None
    left = None if attacks_left is None else int(attacks_left)
    return MinionSpec(int(record["attack"]), int(record["health"]), cost, value, **flags, attacks_left=left)
