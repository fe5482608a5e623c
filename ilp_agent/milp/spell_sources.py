"""Effects of cards and hero powers as the integer program models them; enemies summoned during the turn.

A summoned enemy is numbered after those on board at the start of the turn. It appears when another enemy
dies, or in place of a transformed one.
"""

from dataclasses import dataclass, replace

import numpy as np

from engine.codes import Keyword
from engine.effect_codes import (
    ENEMY,
    HEROES,
    MINIONS,
    OWN,
    CardKind,
    Condition,
    Filter,
    Op,
    Pick,
    Race,
    Trait,
    Trigger,
    Until,
)
from ilp_agent.search.objective import SPELL_BONUS

_TARGET_FILTERS = (
    Filter.ATTACK_AT_MOST | Filter.ATTACK_AT_LEAST | Filter.DAMAGED | Filter.UNDAMAGED | Filter.TAUNT
)
"""Target filters that the program supports."""


class UnsupportedTurnError(Exception):
    """The integer program does not support a turn; the message names the card and the reason."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name} ({reason})")


@dataclass(frozen=True)
class Cast:
    """Effect of a spell, weapon, hero power or Battlecry on this turn.

    Attributes:
        label: its name, unique in the turn.
        number: card number.
        power: whether it is the hero power.
        minion: index in hand of the Battlecry's minion; -1 for none.
        cost: mana cost.
        worth: value of the card; 0 for a hero power, and for a Battlecry, whose minion counts it.
        overload: mana crystals locked on the next turn.
        mana: mana gained.
        draws: number of cards drawn.
        armour: armour gained.
        self_damage: damage to the own hero.
        heal: health restored to the own hero, at most.
        heals_minions: whether it heals own minions.
        heals_chosen: whether the healed character is a chosen target.
        tokens: card numbers of the summoned minions.
        weapon: card number of the equipped weapon; -1 for none.
        hero_attack: attack of the own hero gained for this turn.
        damage: damage to its target; 0 for none.
        aim_side: target sides, bits OWN and ENEMY; 0 without a target.
        aim_kind: target kinds, bits MINIONS and HEROES; 0 without a target.
        target_filter: filter of its target, and `filter_arg` its argument.
        fixed: whether its damage always hits the enemy hero.
        destroys: whether its target leaves the board (destroyed, returned to hand or transformed).
        spares: whether its target leaves the board without dying.
        becomes: card number of the minion that its target is transformed into; -1 for none.
        silences: whether it silences its target.
        freezes: whether it freezes its target.
        freezes_all: whether it freezes all enemy minions.
        held: its penalty under the weight `hold`.
        crystals: empty mana crystals gained.
        buff: attack and health given to its target, and the permanent part of the attack; None for none.
    """

    label: str
    number: int
    power: bool = False
    minion: int = -1
    cost: int = 0
    worth: float = 0.0
    overload: int = 0
    mana: int = 0
    draws: int = 0
    armour: int = 0
    self_damage: int = 0
    heal: int = 0
    heals_minions: bool = False
    heals_chosen: bool = False
    tokens: tuple[int, ...] = ()
    weapon: int = -1
    hero_attack: int = 0
    damage: int = 0
    aim_side: int = 0
    aim_kind: int = 0
    target_filter: int = 0
    filter_arg: int = 0
    fixed: bool = False
    destroys: bool = False
    spares: bool = False
    becomes: int = -1
    silences: bool = False
    freezes: bool = False
    freezes_all: bool = False
    held: float = 0.0
    crystals: int = 0
    buff: tuple[int, int, int] | None = None

    @property
    def spell(self) -> bool:
        """Whether the source is a spell or hero power, which cannot target Elusive minions."""
        return self.minion < 0

    def is_of(self, race: int) -> bool:
        """Whether a minion of a tribe is a legal target."""
        return not self.target_filter & Filter.RACE or race in (self.filter_arg, Race.ALL)

    def allows(self, attack: int, keywords: int) -> bool:
        """Whether a minion is a legal target, apart from filters on damage, which changes during the turn."""
        if self.target_filter & Filter.ATTACK_AT_MOST and attack > self.filter_arg:
            return False
        if self.target_filter & Filter.ATTACK_AT_LEAST and attack < self.filter_arg:
            return False
        return not (self.target_filter & Filter.TAUNT and not keywords & Keyword.TAUNT)


def read_cast(card: np.void, cast: Cast) -> Cast:
    """Read a card's effect rows into a `Cast`.

    Args:
        card: dtype `engine.state.CARD`.
        cast: with label, number and cost.

    Returns:
        The cast with its effects.

    Raises:
        UnsupportedTurnError: the program does not support a row.
    """
    for row in card["effects"][: card["n_effects"]]:
        if row["trigger"] == Trigger.PLAY:
            cast = _read_row(row, cast)
    if card["kind"] == CardKind.WEAPON:
        cast = replace(cast, weapon=cast.number)
    if cast.damage and card["keywords"] & (Keyword.LIFESTEAL | Keyword.POISONOUS):
        raise UnsupportedTurnError(cast.label, "its damage heals or is poisonous")
    if cast.held and card["kind"] != CardKind.SPELL:
        cast = replace(cast, held=0.0)
    return cast


def _read_row(row: np.void, cast: Cast) -> Cast:
    """Add one effect row to a cast."""
    op, pick, side = Op(row["op"]), row["pick"], int(row["side"])
    full = abs(int(row["condition"])) == Condition.MANA_FULL
    if row["condition"] != Condition.NONE and not (full and op in (Op.ADD, Op.CRYSTALS)):
        raise UnsupportedTurnError(cast.label, "a condition")
    if pick in (Pick.RANDOM, Pick.SPLIT):
        raise UnsupportedTurnError(cast.label, "random targets")
    if pick == Pick.NONE:
        return _add_player_effect(row, op, side, cast)
    if pick == Pick.CHOSEN:
        return _add_chosen_effect(row, op, cast)
    if pick == Pick.ALL:
        return _add_area_effect(row, op, side, cast)
    raise UnsupportedTurnError(cast.label, "an effect on itself")


def _add_player_effect(row: np.void, op: Op, side: int, cast: Cast) -> Cast:
    """Add an effect on a player: cards, mana, armour, minions and weapons."""
    amount = int(row["amount"])
    if side == ENEMY and op == Op.DISARM:
        return cast
    if side != OWN:
        raise UnsupportedTurnError(cast.label, "an effect on the opponent")
    if op == Op.DRAW:
        return replace(cast, draws=cast.draws + amount)
    if op == Op.ARMOUR:
        return replace(cast, armour=cast.armour + amount)
    if op == Op.MANA:
        return replace(cast, mana=cast.mana + amount)
    if op == Op.SUMMON:
        if row["amount2"] > amount or amount < 0:
            raise UnsupportedTurnError(cast.label, "random minions")
        return replace(cast, tokens=cast.tokens + (amount,) * int(row["times"]))
    if op == Op.EQUIP and cast.weapon < 0:
        return replace(cast, weapon=amount)
    if op == Op.CRYSTALS and amount > 0:
        return replace(cast, crystals=cast.crystals + amount)
    if op == Op.ADD and row["condition"] == Condition.MANA_FULL:
        return cast
    reasons = {
        Op.DISCARD: "discarded cards",
        Op.WEAPON: "a change to the weapon",
        Op.ADD: "cards added to the hand",
        Op.CRYSTALS: "lost mana crystals",
        Op.UNLOCK_OVERLOAD: "unlocked mana crystals",
    }
    raise UnsupportedTurnError(cast.label, reasons.get(op, f"{op.name.lower().replace('_', ' ')}"))


def _add_chosen_effect(row: np.void, op: Op, cast: Cast) -> Cast:
    """Add an effect on the chosen target."""
    side, kind = int(row["side"]), int(row["kind"])
    target_filter, arg, amount = int(row["filter"]), int(row["arg"]), int(row["amount"])
    if target_filter & ~(_TARGET_FILTERS | (Filter.RACE if op == Op.BUFF else 0)):
        raise UnsupportedTurnError(cast.label, "a target condition")
    if not cast.aim_side:
        cast = replace(cast, aim_side=side, aim_kind=kind, target_filter=target_filter, filter_arg=arg)
    elif op != Op.FREEZE or not cast.damage:
        raise UnsupportedTurnError(cast.label, "two effects on its target")
    if op == Op.FREEZE:
        return replace(cast, freezes=True)
    if op == Op.DAMAGE:
        if row["amount2"] > amount:
            raise UnsupportedTurnError(cast.label, "random damage")
        held = amount + SPELL_BONUS if side & ENEMY else 0.0
        return replace(cast, damage=amount, held=held)
    if op == Op.DESTROY or (op == Op.BOUNCE and side == ENEMY):
        return replace(cast, destroys=True, spares=op == Op.BOUNCE)
    if op == Op.TRANSFORM and side & ENEMY:
        if row["amount2"] > amount or amount < 0:
            raise UnsupportedTurnError(cast.label, "random minions")
        return replace(cast, destroys=True, spares=True, becomes=amount)
    if op == Op.SILENCE:
        return replace(cast, silences=True)
    if op == Op.HEAL:
        return replace(cast, heal=amount, heals_minions=True, heals_chosen=True)
    if op == Op.BUFF:
        return _add_buff(row, cast)
    reasons = {
        Op.BOUNCE: "a minion returned to hand",
        Op.CONTROL: "control of a minion",
        Op.SET: "attack or health set to a value",
        Op.TRANSFORM: "a transformed minion",
    }
    raise UnsupportedTurnError(cast.label, reasons.get(op, op.name.lower().replace("_", " ")))


def _add_buff(row: np.void, cast: Cast) -> Cast:
    """Add a buff of the chosen minion."""
    attack, health = int(row["amount"]), int(row["amount2"])
    if row["kind"] != MINIONS or row["keywords"] & ~Keyword.TAUNT or attack < 0 or health < 0:
        raise UnsupportedTurnError(cast.label, "an unsupported buff")
    lasting = attack if row["until"] == Until.ALWAYS else 0
    return replace(cast, buff=(attack, health, lasting))


def _add_area_effect(row: np.void, op: Op, side: int, cast: Cast) -> Cast:
    """Add an effect on all characters of a kind: a hero without a choice, own minions, or all enemies."""
    kind, amount, target_filter = int(row["kind"]), int(row["amount"]), int(row["filter"])
    if op == Op.DAMAGE and kind == HEROES and not target_filter and row["amount2"] <= amount:
        if side == OWN:
            return replace(cast, self_damage=cast.self_damage + amount)
        if side == ENEMY and not cast.damage and not cast.aim_side:
            return replace(cast, damage=amount, fixed=True, held=amount + SPELL_BONUS)
    if op == Op.HEAL and side == OWN and not target_filter:
        heals = cast.heal + (amount if kind & HEROES else 0)
        return replace(cast, heal=heals, heals_minions=cast.heals_minions or bool(kind & MINIONS))
    if op == Op.BUFF and side == OWN and kind == HEROES and row["until"] == Until.THIS_TURN:
        return replace(cast, hero_attack=cast.hero_attack + amount)
    if op == Op.FREEZE and side == ENEMY and kind == MINIONS and not target_filter:
        return replace(cast, freezes_all=True)
    if op == Op.DAMAGE:
        raise UnsupportedTurnError(cast.label, "damage to several targets")
    raise UnsupportedTurnError(cast.label, f"{op.name.lower().replace('_', ' ')} of several targets")


_KEPT_BY_SILENCE = Trait.SILENCED
"""Traits that silence does not change."""

_NEVER_BETTER = Trait.SILENCED | Trait.ELUSIVE | Trait.FREEZES | Trait.DEATHRATTLE
"""Traits of own minions whose loss by silence is never an advantage."""


@dataclass(frozen=True)
class ConstantDeathrattle:
    """A deterministic Deathrattle.

    Attributes:
        tokens: card numbers of the minions that it summons for its owner.
        draws: number of cards that its owner draws.
        hero_damage: damage to the hero of its owner's opponent.
    """

    tokens: tuple[int, ...] = ()
    draws: int = 0
    hero_damage: int = 0


@dataclass(frozen=True)
class SummonedEnemy:
    """An enemy minion that may be summoned during the turn.

    Attributes:
        card: its card number.
        dead: index of the enemy whose death summons it; -1 for none.
        cast: index of the cast that transforms an enemy into it; -1 for none.
    """

    card: int
    dead: int = -1
    cast: int = -1


def read_deathrattle(title: str, card: np.void, gifts: np.ndarray | None = None) -> ConstantDeathrattle:
    """Read a minion's Deathrattle.

    Args:
        title: the minion's name.
        card: its card, dtype `engine.state.CARD`.
        gifts: Deathrattles given to a minion on board.

    Raises:
        UnsupportedTurnError: the Deathrattle is random or conditional, or the program does not support it.
    """
    tokens: tuple[int, ...] = ()
    draws = hero_damage = 0
    outside = UnsupportedTurnError(title, "Deathrattle")
    if gifts is not None and gifts.any():
        raise outside
    for row in card["effects"][: card["n_effects"]]:
        if row["trigger"] != Trigger.DEATHRATTLE:
            continue
        op, pick, side, amount = row["op"], row["pick"], row["side"], int(row["amount"])
        if row["condition"] != Condition.NONE or row["amount2"] > amount:
            raise outside
        if op == Op.SUMMON and pick == Pick.NONE and side == OWN and amount >= 0:
            tokens += (amount,) * int(row["times"])
        elif op == Op.DRAW and pick == Pick.NONE and side == OWN:
            draws += amount
        elif op == Op.DAMAGE and pick == Pick.ALL and side == ENEMY and row["kind"] == HEROES:
            hero_damage += amount
        else:
            raise outside
    return ConstantDeathrattle(tokens, draws, hero_damage)


def enemy_records(enemy: np.void, cards: np.ndarray, summoned: tuple[SummonedEnemy, ...]) -> np.ndarray:
    """Board records of all enemy minions, with those that may be summoned last.

    Args:
        enemy: dtype `engine.state.SIDE`.
        cards: the card table.
        summoned: enemies that may be summoned.
    """
    n = int(enemy["n_board"])
    foes = np.zeros(n + len(summoned), enemy["board"].dtype)
    foes[:n] = enemy["board"][:n]
    for record, foe in zip(foes[n:], summoned, strict=True):
        card = cards[foe.card]
        for field in ("attack", "health", "keywords", "traits"):
            record[field] = card[field]
        record["max_health"], record["card"] = card["health"], foe.card
    return foes


def _has_printed_stats(minion: np.void, card: np.void) -> bool:
    """Whether a minion has its printed attack and health, and no effect that is active on board."""
    rows = card["effects"][: card["n_effects"]]
    text = bool((rows["trigger"] != Trigger.PLAY).any()) and not minion["traits"] & Trait.SILENCED
    same = minion["attack"] == card["attack"] and minion["max_health"] == card["health"]
    return bool(same and not text and not minion["spell_damage"] and not minion["turn_attack"])


def silence_changes(minion: np.void, card: np.void, keywords: int = 0) -> bool:
    """Whether silence changes a minion, apart from the given keywords."""
    return bool(
        not _has_printed_stats(minion, card)
        or minion["traits"] & ~_KEPT_BY_SILENCE
        or minion["keywords"] & ~keywords
    )


def silence_may_help(minion: np.void, card: np.void) -> bool:
    """Whether silence may be an advantage for a minion's owner."""
    weaker = minion["attack"] < card["attack"] or minion["max_health"] < card["health"]
    return bool(weaker or minion["traits"] & ~_NEVER_BETTER or minion["turn_attack"])


def silence_only_removes_taunt(minion: np.void, card: np.void) -> bool:
    """Whether silence removes Taunt from a minion, and nothing else."""
    return bool(minion["keywords"] & Keyword.TAUNT) and not silence_changes(minion, card, Keyword.TAUNT)
