"""A turn of class A as the integer program needs it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from engine import MinionSpec, Position
from engine.codes import HERO, ActionKind, Keyword
from engine.effect_codes import ENEMY, HEROES, MINIONS, OWN, Trait
from engine.minion import keyword_flags_of
from ilp_agent.milp.spell_sources import Cast, Newcomer, Rattle, foes_of, is_guard_alone, silence_changes
from ilp_agent.problem import TurnProblem
from ilp_agent.turn import ANY_TARGET, Turn
from ilp_agent.weights import Weights


@dataclass(frozen=True)
class CardProblem:
    """A turn of class A.

    Attributes:
        turn: where it comes from.
        problem: its minions, as the sequential program has them; in hand those that can be paid for, and the
            newcomers last among the enemies.
        labels: names of the friends, each once.
        numbers: card numbers of the minions in hand.
        casts: what else can be played.
        most: mana that can be spent at once.
        swings: whether the own hero may attack.
        swing_barred: enemies, or `HERO`, that the own hero must not attack.
        reach: damage that the enemy hero can take at most.
        outlasts: whether nothing that the own hero may suffer kills it.
        newcomers: enemies that may come.
        rattles: friend, by index -> its Deathrattle.
        enemy_rattles: enemy -> its Deathrattle.
    """

    turn: Turn
    problem: TurnProblem
    labels: tuple[str, ...]
    numbers: tuple[int, ...]
    casts: tuple[Cast, ...]
    most: int
    swings: bool
    swing_barred: frozenset[int]
    reach: int
    outlasts: bool
    newcomers: tuple[Newcomer, ...] = ()
    rattles: dict[int, Rattle] = field(default_factory=dict)
    enemy_rattles: dict[int, Rattle] = field(default_factory=dict)

    @property
    def position(self) -> Position:
        """Where the turn begins."""
        return self.turn.position

    @property
    def own(self) -> np.void:
        """The half of the player to move, dtype `engine.state.SIDE`."""
        side: np.void = self.position.state["sides"][self.position.active]
        return side

    @property
    def enemy(self) -> np.void:
        """The other half."""
        side: np.void = self.position.state["sides"][1 - self.position.active]
        return side

    @property
    def cards(self) -> np.ndarray:
        """The card table."""
        return self.position.table.array

    @cached_property
    def foes(self) -> np.ndarray:
        """All enemies as records of a board, newcomers as they come."""
        return foes_of(self.enemy, self.cards, self.newcomers)

    def coming(self) -> Iterator[tuple[int, Newcomer]]:
        """(enemy, newcomer) of all that may come."""
        yield from enumerate(self.newcomers, int(self.enemy["n_board"]))

    @property
    def freezers(self) -> set[int]:
        """Friends whose damage freezes, by index."""
        m = len(self.problem.friendly)
        found = {i for i in range(m) if self.own["board"][i]["traits"] & Trait.FREEZES}
        return found | {m + k for k, n in enumerate(self.numbers) if self.cards[n]["traits"] & Trait.FREEZES}

    def bars(self, kind: ActionKind, source: int, target: int) -> bool:
        """Whether an action is left out; `target` is an enemy, or `HERO`."""
        who = int(self.foes[target]["born"]) if target < HERO else -1 - target
        return any(
            one.kind == kind and one.source == source and one.target in (ANY_TARGET, who)
            for one in self.turn.barred
        )


def swing_attacks(found: CardProblem) -> Iterator[tuple[Cast | None, tuple[Cast, ...], int]]:
    """The weapons with which the own hero may attack: (cast that equips it, casts before it, attack)."""
    if not found.swings:
        return
    before = [cast for cast in found.casts if cast.hero_attack]
    arms: list[Cast | None] = [None, *(cast for cast in found.casts if cast.weapon >= 0)]
    for chosen in range(1 << len(before)):
        some = tuple(cast for n, cast in enumerate(before) if chosen >> n & 1)
        for arm in arms:
            weapon = found.own["weapon_attack"] if arm is None else found.cards[arm.weapon]["attack"]
            attack = int(found.own["hero_attack"] + weapon) + sum(cast.hero_attack for cast in some)
            if attack > 0:
                yield arm, some, attack


def targets_of(found: CardProblem, cast: Cast) -> list[int]:
    """Enemies that a cast may be aimed at when the turn begins, and `HERO`."""
    if cast.fixed:
        return [HERO]
    targets = []
    if cast.aim_side & ENEMY and cast.aim_kind & MINIONS:
        hidden = Trait.ELUSIVE if cast.spell else 0
        own = {j for j, one in found.coming() if one.cast >= 0 and found.casts[one.cast] is cast}
        for j, minion in enumerate(found.foes):
            if minion["keywords"] & Keyword.STEALTH or minion["traits"] & hidden or j in own:
                continue
            if cast.allows(int(minion["attack"]), int(minion["keywords"])):
                targets.append(j)
    if cast.aim_side & ENEMY and cast.aim_kind & HEROES:
        targets.append(HERO)
    kind = ActionKind.POWER if cast.power else ActionKind.PLAY
    return [j for j in targets if not found.bars(kind, 0 if cast.power else cast.number, j)]


def strengthened(found: CardProblem, cast: Cast) -> list[int]:
    """Friends, by index, that a cast may strengthen."""
    own, race = found.own["board"]["race"][: found.own["n_board"]], found.cards["race"]
    races = [*map(int, own), *(int(race[n]) for n in found.numbers)]
    itself = len(own) + cast.minion if cast.minion >= 0 else -1
    return [i for i in range(len(races)) if i != itself and cast.is_of(races[i])]


def may_attack(found: CardProblem, i: int) -> bool:
    """Whether a friend may attack once this turn, if it has attack then."""
    m = len(found.problem.friendly)
    if i < m:
        return bool(found.problem.friendly[i].attacks_left)
    return found.problem.hand[i - m].charge or found.problem.hand[i - m].rush


def gain_of(found: CardProblem, cast: Cast, w: Weights) -> float:
    """What a cast is worth by itself, beside what its bolt hits and the weapon it equips."""
    gain = w.play * cast.worth - w.hold * cast.held - w.overload * cast.overload + w.draw * cast.draws
    gain += w.hero * (cast.armour - cast.harm)
    return float(gain + w.survive * sum(int(found.cards[n]["health"]) for n in cast.tokens))


def harm_of(found: CardProblem) -> int:
    """Damage that the own hero can take at most this turn."""
    total = sum(cast.harm for cast in found.casts)
    for cast in found.casts:
        total += cast.damage if cast.aim_side & OWN and cast.aim_kind & HEROES else 0
    if any(True for _ in swing_attacks(found)):
        total += max((enemy.attack for enemy in found.problem.enemy), default=0)
    return total + sum(rattle.blow for rattle in found.enemy_rattles.values())


def own_removed(found: CardProblem, cast: Cast) -> list[int]:
    """Own minions, by index, that a cast may take off the board."""
    m = len(found.problem.friendly)
    barred = {one.target for one in found.turn.barred if one.source == cast.number}
    chosen = []
    for i, friend in enumerate((*found.problem.friendly, *found.problem.hand)):
        card = found.own["board"][i] if i < m else found.cards[found.numbers[i - m]]
        left_out = i < m and int(card["born"]) in barred
        if not left_out and not card["traits"] & Trait.ELUSIVE:
            chosen += [i] if cast.allows(friend.attack, friend.keywords) else []
    return chosen


def bodies_of(found: CardProblem) -> list[MinionSpec]:
    """All minions that may stand on the own board this turn; of those that are summoned, their cards."""
    tokens = [spec_of(found.cards[n]) for cast in found.casts for n in cast.tokens]
    return [*found.problem.friendly, *found.problem.hand, *tokens]


def own_targets(found: CardProblem, w: Weights) -> list[Cast]:
    """Casts that may be best aimed at an own character: those that pay, if no other target always serves.

    An enemy hero that cannot die this turn always serves, for a bolt that may be aimed there: to hit it costs
    nothing, and all other actions stay what they were.
    """
    found_casts = []
    for cast in found.casts:
        aimed = cast.damage or cast.destroys
        if not aimed or not cast.aim_side & OWN:
            continue
        serves = HERO in targets_of(found, cast) and found.reach < found.problem.enemy_hero
        least = 0.0
        if cast.destroys:  # without it the own minion would stand at the end
            left = int(found.cards[cast.becomes]["health"]) if cast.becomes >= 0 else 0
            least = w.survive * (min((friend.health for friend in bodies_of(found)), default=0) - left)
        pays = cast.minion >= 0 or gain_of(found, cast, w) > least
        if pays and not serves:
            found_casts.append(cast)
    return found_casts


def silenced_guards(found: CardProblem, cast: Cast) -> list[int]:
    """Enemies that a cast may silence, so that they guard no more."""
    cards, foes = found.cards, found.foes
    return [
        j for j in targets_of(found, cast) if j < HERO and is_guard_alone(foes[j], cards[foes[j]["card"]])
    ]


def silenced_idly(found: CardProblem, cast: Cast) -> tuple[int, bool] | None:
    """A minion of the start from whom a cast takes nothing: (place, whether it is an own one)."""
    cards, n = found.cards, int(found.own["n_board"])
    hidden = Trait.ELUSIVE if cast.spell else 0
    barred = {one.target for one in found.turn.barred if one.source == cast.number}
    for place in range(n if cast.aim_side & OWN else 0):
        minion = found.own["board"][place]
        kept = silence_changes(minion, cards[minion["card"]], Keyword.TAUNT)
        if not kept and not minion["traits"] & hidden and int(minion["born"]) not in barred:
            return place, True
    for j in targets_of(found, cast):
        if j < found.enemy["n_board"] and not silence_changes(found.foes[j], cards[found.foes[j]["card"]]):
            return j, False
    return None


def spec_of(card: np.void) -> MinionSpec:
    """A minion in hand."""
    flags = keyword_flags_of(int(card["keywords"]))
    return MinionSpec(
        int(card["attack"]), int(card["health"]), int(card["cost"]), float(card["value"]), **flags
    )
