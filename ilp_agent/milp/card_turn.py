"""Input of the integer program for a turn with card effects (class A), and the legal targets of casts."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from engine import MinionSpec, Position
from engine.codes import HERO, ActionKind, Keyword
from engine.effect_codes import ENEMY, HEROES, MINIONS, OWN, Trait
from engine.minion import keyword_flags_of
from ilp_agent.milp.spell_sources import (
    Cast,
    ConstantDeathrattle,
    SummonedEnemy,
    enemy_records,
    silence_changes,
    silence_only_removes_taunt,
)
from ilp_agent.problem import TurnProblem
from ilp_agent.turn import ANY_TARGET, Turn
from ilp_agent.weights import Weights


@dataclass(frozen=True)
class CardProblem:
    """Input of the integer program for a turn of class A.

    Attributes:
        turn: the turn.
        problem: its minions, for the sequential program; in hand the affordable ones, and enemies that may be
            summoned after the others.
        labels: unique names of the friendly minions.
        numbers: card numbers of the minions in hand.
        casts: other plays: spells, weapons, hero power, Battlecries.
        most: mana that can be spent at once.
        hero_can_attack: whether the own hero may attack.
        hero_barred: enemies, or `HERO`, that the own hero must not attack.
        max_hero_damage: upper bound of the damage to the enemy hero.
        own_hero_safe: whether the own hero survives all possible damage.
        summoned: enemies that may be summoned this turn.
        deathrattles: index of a friendly minion -> its Deathrattle.
        enemy_deathrattles: index of an enemy -> its Deathrattle.
    """

    turn: Turn
    problem: TurnProblem
    labels: tuple[str, ...]
    numbers: tuple[int, ...]
    casts: tuple[Cast, ...]
    most: int
    hero_can_attack: bool
    hero_barred: frozenset[int]
    max_hero_damage: int
    own_hero_safe: bool
    summoned: tuple[SummonedEnemy, ...] = ()
    deathrattles: dict[int, ConstantDeathrattle] = field(default_factory=dict)
    enemy_deathrattles: dict[int, ConstantDeathrattle] = field(default_factory=dict)

    @property
    def position(self) -> Position:
        """The position at the start of the turn."""
        return self.turn.position

    @property
    def own(self) -> np.void:
        """The side of the player to move, dtype `engine.state.SIDE`."""
        side: np.void = self.position.state["sides"][self.position.active]
        return side

    @property
    def enemy(self) -> np.void:
        """The opponent's side, dtype `engine.state.SIDE`."""
        side: np.void = self.position.state["sides"][1 - self.position.active]
        return side

    @property
    def cards(self) -> np.ndarray:
        """The card table."""
        return self.position.table.array

    @cached_property
    def foes(self) -> np.ndarray:
        """All enemies as board records, with those that may be summoned."""
        return enemy_records(self.enemy, self.cards, self.summoned)

    def summoned_by_index(self) -> Iterator[tuple[int, SummonedEnemy]]:
        """(enemy index, `SummonedEnemy`) of all enemies that may be summoned."""
        yield from enumerate(self.summoned, int(self.enemy["n_board"]))

    @property
    def freezers(self) -> set[int]:
        """Indices of the friendly minions whose damage freezes."""
        m = len(self.problem.friendly)
        on_board = {i for i in range(m) if self.own["board"][i]["traits"] & Trait.FREEZES}
        return on_board | {
            m + k for k, n in enumerate(self.numbers) if self.cards[n]["traits"] & Trait.FREEZES
        }

    def excludes(self, kind: ActionKind, source: int, target: int) -> bool:
        """Whether an action is excluded; `target` is an enemy's index, or `HERO`."""
        code = int(self.foes[target]["entity_id"]) if target < HERO else -1 - target
        return any(
            exclusion.kind == kind and exclusion.source == source and exclusion.target in (ANY_TARGET, code)
            for exclusion in self.turn.barred
        )


def hero_attack_options(found: CardProblem) -> Iterator[tuple[Cast | None, tuple[Cast, ...], int]]:
    """Possible attacks of the own hero: (cast that equips its weapon or None, casts before it, attack)."""
    if not found.hero_can_attack:
        return
    before = [cast for cast in found.casts if cast.hero_attack]
    weapons: list[Cast | None] = [None, *(cast for cast in found.casts if cast.weapon >= 0)]
    for chosen in range(1 << len(before)):
        subset = tuple(cast for n, cast in enumerate(before) if chosen >> n & 1)
        for equip in weapons:
            weapon = found.own["weapon_attack"] if equip is None else found.cards[equip.weapon]["attack"]
            attack = int(found.own["hero_attack"] + weapon) + sum(cast.hero_attack for cast in subset)
            if attack > 0:
                yield equip, subset, attack


def targets_of(found: CardProblem, cast: Cast) -> list[int]:
    """Legal enemy targets of a cast at the start of the turn: indices of minions, and `HERO`."""
    if cast.fixed:
        return [HERO]
    targets = []
    if cast.aim_side & ENEMY and cast.aim_kind & MINIONS:
        hidden = Trait.ELUSIVE if cast.spell else 0
        own = {j for j, foe in found.summoned_by_index() if foe.cast >= 0 and found.casts[foe.cast] is cast}
        for j, minion in enumerate(found.foes):
            if minion["keywords"] & Keyword.STEALTH or minion["traits"] & hidden or j in own:
                continue
            if cast.allows(int(minion["attack"]), int(minion["keywords"])):
                targets.append(j)
    if cast.aim_side & ENEMY and cast.aim_kind & HEROES:
        targets.append(HERO)
    kind = ActionKind.POWER if cast.power else ActionKind.PLAY
    return [j for j in targets if not found.excludes(kind, 0 if cast.power else cast.number, j)]


def buff_targets(found: CardProblem, cast: Cast) -> list[int]:
    """Indices of the friendly minions that a cast may buff."""
    own, race = found.own["board"]["race"][: found.own["n_board"]], found.cards["race"]
    races = [*map(int, own), *(int(race[n]) for n in found.numbers)]
    itself = len(own) + cast.minion if cast.minion >= 0 else -1
    return [i for i in range(len(races)) if i != itself and cast.is_of(races[i])]


def may_attack(found: CardProblem, i: int) -> bool:
    """Whether a friendly minion may attack this turn if its attack is positive then."""
    m = len(found.problem.friendly)
    if i < m:
        return bool(found.problem.friendly[i].attacks_left)
    return found.problem.hand[i - m].charge or found.problem.hand[i - m].rush


def cast_gain(found: CardProblem, cast: Cast, w: Weights) -> float:
    """Objective gain of a cast, without damage to enemies and the equipped weapon."""
    gain = w.play * cast.worth - w.hold * cast.held - w.overload * cast.overload + w.draw * cast.draws
    gain += w.hero * (cast.armour - cast.self_damage)
    return float(gain + w.survive * sum(int(found.cards[n]["health"]) for n in cast.tokens))


def max_own_hero_damage(found: CardProblem) -> int:
    """Upper bound of the damage to the own hero this turn."""
    total = sum(cast.self_damage for cast in found.casts)
    for cast in found.casts:
        total += cast.damage if cast.aim_side & OWN and cast.aim_kind & HEROES else 0
    if any(True for _ in hero_attack_options(found)):
        total += max((enemy.attack for enemy in found.problem.enemy), default=0)
    return total + sum(deathrattle.hero_damage for deathrattle in found.enemy_deathrattles.values())


def removable_friends(found: CardProblem, cast: Cast) -> list[int]:
    """Indices of the friendly minions that a cast may remove from the board."""
    m = len(found.problem.friendly)
    barred = {exclusion.target for exclusion in found.turn.barred if exclusion.source == cast.number}
    chosen = []
    for i, friend in enumerate((*found.problem.friendly, *found.problem.hand)):
        card = found.own["board"][i] if i < m else found.cards[found.numbers[i - m]]
        excluded = i < m and int(card["entity_id"]) in barred
        if not excluded and not card["traits"] & Trait.ELUSIVE:
            chosen += [i] if cast.allows(friend.attack, friend.keywords) else []
    return chosen


def possible_own_minions(found: CardProblem) -> list[MinionSpec]:
    """All minions that may be on the own board this turn, summoned ones included."""
    tokens = [spec_of(found.cards[n]) for cast in found.casts for n in cast.tokens]
    return [*found.problem.friendly, *found.problem.hand, *tokens]


def casts_at_own_characters(found: CardProblem, w: Weights) -> list[Cast]:
    """Casts whose best target may be an own character: profitable ones without a harmless enemy target.

    An enemy hero that cannot die this turn is a harmless target of damage: it costs nothing and changes no
    other action.
    """
    selected = []
    for cast in found.casts:
        aimed = cast.damage or cast.destroys
        if not aimed or not cast.aim_side & OWN:
            continue
        harmless = HERO in targets_of(found, cast) and found.max_hero_damage < found.problem.enemy_hero
        least = 0.0
        if cast.destroys:  # without it the own minion would survive the turn
            left = int(found.cards[cast.becomes]["health"]) if cast.becomes >= 0 else 0
            least = w.survive * (
                min((friend.health for friend in possible_own_minions(found)), default=0) - left
            )
        pays = cast.minion >= 0 or cast_gain(found, cast, w) > least
        if pays and not harmless:
            selected.append(cast)
    return selected


def silenceable_taunts(found: CardProblem, cast: Cast) -> list[int]:
    """Indices of the enemies whose Taunt, and nothing else, a cast can silence."""
    cards, foes = found.cards, found.foes
    return [
        j
        for j in targets_of(found, cast)
        if j < HERO and silence_only_removes_taunt(foes[j], cards[foes[j]["card"]])
    ]


def harmless_silence_target(found: CardProblem, cast: Cast) -> tuple[int, bool] | None:
    """A minion on which a silence has no effect: (board slot, whether it is an own minion), or None."""
    cards, n = found.cards, int(found.own["n_board"])
    hidden = Trait.ELUSIVE if cast.spell else 0
    barred = {exclusion.target for exclusion in found.turn.barred if exclusion.source == cast.number}
    for place in range(n if cast.aim_side & OWN else 0):
        minion = found.own["board"][place]
        changes = silence_changes(minion, cards[minion["card"]], Keyword.TAUNT)
        if not changes and not minion["traits"] & hidden and int(minion["entity_id"]) not in barred:
            return place, True
    for j in targets_of(found, cast):
        if j < found.enemy["n_board"] and not silence_changes(found.foes[j], cards[found.foes[j]["card"]]):
            return j, False
    return None


def spec_of(card: np.void) -> MinionSpec:
    """Convert a minion card in hand to a `MinionSpec`."""
    flags = keyword_flags_of(int(card["keywords"]))
    return MinionSpec(
        int(card["attack"]), int(card["health"]), int(card["cost"]), float(card["value"]), **flags
    )
