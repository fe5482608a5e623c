"""What a card or hero power does when played, and minions that appear during the turn.

An enemy that may come is numbered behind those that are there when the turn begins. It comes where another
dies, or in place of one that is transformed.
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
from ilp_agent.search.objective import SPELL_HELD

_ASKED = Filter.ATTACK_AT_MOST | Filter.ATTACK_AT_LEAST | Filter.DAMAGED | Filter.UNDAMAGED | Filter.TAUNT
"""What targets may be asked for."""


class OutsideError(Exception):
    """A turn is outside of class A; the message names the card and the reason."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name} ({reason})")


@dataclass(frozen=True)
class Cast:
    """A card played from hand, or the power used; of minions what their Battlecry does.

    Attributes:
        label: its name, unique in the turn.
        number: of the card.
        power: whether it is the hero power.
        minion: index in hand of the minion whose Battlecry it is; -1 for none.
        cost: mana.
        worth: value of the card; 0 of a power and of a Battlecry, whose minion counts it.
        overload: crystals that it locks on the next turn.
        mana: that it gives.
        draws: cards that it draws.
        armour: that it gives.
        harm: damage to the own hero.
        heal: health that it gives back to the own hero, at most.
        heals_minions: whether it gives own minions health back.
        heals_chosen: whether what it heals is chosen.
        tokens: cards of the minions that it summons.
        weapon: card of the weapon that it equips; -1 for none.
        hero_attack: attack of the own hero on this turn.
        damage: of its bolt; 0 for none.
        aim_side: bits OWN and ENEMY of whom it may be aimed at; 0 where it is not aimed.
        aim_kind: bits MINIONS and HEROES, likewise.
        asked: filter of its target, and `arg` what that compares with.
        fixed: whether its bolt always hits the enemy hero.
        destroys: whether its target leaves the board; an enemy's hand does not matter.
        spares: whether what it takes off the board does not die of it.
        becomes: card of the minion that its target becomes; -1 for none.
        silences: whether it silences its target.
        freezes: whether it freezes its target.
        freezes_all: whether it freezes all enemy minions.
        held: what `hold` counts.
        crystals: empty crystals that it gives.
        buff: attack and health that its target gets, and how much of the attack lasts; None for none.
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
    harm: int = 0
    heal: int = 0
    heals_minions: bool = False
    heals_chosen: bool = False
    tokens: tuple[int, ...] = ()
    weapon: int = -1
    hero_attack: int = 0
    damage: int = 0
    aim_side: int = 0
    aim_kind: int = 0
    asked: int = 0
    arg: int = 0
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
        """Whether it is a spell or a power, which cannot choose who is elusive."""
        return self.minion < 0

    def is_of(self, race: int) -> bool:
        """Whether a minion of a tribe may be its target."""
        return not self.asked & Filter.RACE or race in (self.arg, Race.ALL)

    def allows(self, attack: int, keywords: int) -> bool:
        """Whether a minion may be its target, but for damage, which changes in the turn."""
        if self.asked & Filter.ATTACK_AT_MOST and attack > self.arg:
            return False
        if self.asked & Filter.ATTACK_AT_LEAST and attack < self.arg:
            return False
        return not (self.asked & Filter.TAUNT and not keywords & Keyword.TAUNT)


def read_cast(card: np.void, cast: Cast) -> Cast:
    """What a card's rows say, added to what is known of the cast.

    Args:
        card: dtype `engine.state.CARD`.
        cast: with its label, number and cost.

    Raises:
        OutsideError: the program has no word for a row.
    """
    for row in card["effects"][: card["n_effects"]]:
        if row["trigger"] == Trigger.PLAY:
            cast = _read_row(row, cast)
    if card["kind"] == CardKind.WEAPON:
        cast = replace(cast, weapon=cast.number)
    if cast.damage and card["keywords"] & (Keyword.LIFESTEAL | Keyword.POISONOUS):
        raise OutsideError(cast.label, "its damage heals or is poisonous")
    if cast.held and card["kind"] != CardKind.SPELL:
        cast = replace(cast, held=0.0)
    return cast


def _read_row(row: np.void, cast: Cast) -> Cast:
    """A cast with what one row adds to it."""
    op, pick, side = Op(row["op"]), row["pick"], int(row["side"])
    full = abs(int(row["condition"])) == Condition.MANA_FULL
    if row["condition"] != Condition.NONE and not (full and op in (Op.ADD, Op.CRYSTALS)):
        raise OutsideError(cast.label, "a condition")
    if pick in (Pick.RANDOM, Pick.SPLIT):
        raise OutsideError(cast.label, "random targets")
    if pick == Pick.NONE:
        return _about_player(row, op, side, cast)
    if pick == Pick.CHOSEN:
        return _about_chosen(row, op, cast)
    if pick == Pick.ALL:
        return _about_all(row, op, side, cast)
    raise OutsideError(cast.label, "what it does to itself")


def _about_player(row: np.void, op: Op, side: int, cast: Cast) -> Cast:
    """A row about a player: cards, mana, armour, minions and weapons."""
    amount = int(row["amount"])
    if side == ENEMY and op == Op.DISARM:
        return cast
    if side != OWN:
        raise OutsideError(cast.label, "what it gives the opponent")
    if op == Op.DRAW:
        return replace(cast, draws=cast.draws + amount)
    if op == Op.ARMOUR:
        return replace(cast, armour=cast.armour + amount)
    if op == Op.MANA:
        return replace(cast, mana=cast.mana + amount)
    if op == Op.SUMMON:
        if row["amount2"] > amount or amount < 0:
            raise OutsideError(cast.label, "random minions")
        return replace(cast, tokens=cast.tokens + (amount,) * int(row["times"]))
    if op == Op.EQUIP and cast.weapon < 0:
        return replace(cast, weapon=amount)
    if op == Op.CRYSTALS and amount > 0:
        return replace(cast, crystals=cast.crystals + amount)
    if op == Op.ADD and row["condition"] == Condition.MANA_FULL:
        return cast
    words = {
        Op.DISCARD: "discarded cards",
        Op.WEAPON: "a change to the weapon",
        Op.ADD: "cards for the hand",
        Op.CRYSTALS: "lost crystals",
        Op.UNLOCK: "unlocked crystals",
    }
    raise OutsideError(cast.label, words.get(op, f"{op.name.lower().replace('_', ' ')}"))


def _about_chosen(row: np.void, op: Op, cast: Cast) -> Cast:
    """A row about the character that the card is aimed at."""
    side, kind = int(row["side"]), int(row["kind"])
    asked, arg, amount = int(row["filter"]), int(row["arg"]), int(row["amount"])
    if asked & ~(_ASKED | (Filter.RACE if op == Op.BUFF else 0)):
        raise OutsideError(cast.label, "whom it may be aimed at")
    if not cast.aim_side:
        cast = replace(cast, aim_side=side, aim_kind=kind, asked=asked, arg=arg)
    elif op != Op.FREEZE or not cast.damage:
        raise OutsideError(cast.label, "two things done to its target")
    if op == Op.FREEZE:
        return replace(cast, freezes=True)
    if op == Op.DAMAGE:
        if row["amount2"] > amount:
            raise OutsideError(cast.label, "random damage")
        held = amount + SPELL_HELD if side & ENEMY else 0.0
        return replace(cast, damage=amount, held=held)
    if op == Op.DESTROY or (op == Op.BOUNCE and side == ENEMY):
        return replace(cast, destroys=True, spares=op == Op.BOUNCE)
    if op == Op.TRANSFORM and side & ENEMY:
        if row["amount2"] > amount or amount < 0:
            raise OutsideError(cast.label, "random minions")
        return replace(cast, destroys=True, spares=True, becomes=amount)
    if op == Op.SILENCE:
        return replace(cast, silences=True)
    if op == Op.HEAL:
        return replace(cast, heal=amount, heals_minions=True, heals_chosen=True)
    if op == Op.BUFF:
        return _with_buff(row, cast)
    words = {
        Op.BOUNCE: "a minion back in hand",
        Op.CONTROL: "control of a minion",
        Op.SET: "attack or health that is set",
        Op.TRANSFORM: "a minion that becomes another",
    }
    raise OutsideError(cast.label, words.get(op, op.name.lower().replace("_", " ")))


def _with_buff(row: np.void, cast: Cast) -> Cast:
    """A cast that strengthens the minion that it is aimed at."""
    attack, health = int(row["amount"]), int(row["amount2"])
    if row["kind"] != MINIONS or row["keywords"] & ~Keyword.TAUNT or attack < 0 or health < 0:
        raise OutsideError(cast.label, "how it changes its target")
    lasting = attack if row["until"] == Until.ALWAYS else 0
    return replace(cast, buff=(attack, health, lasting))


def _about_all(row: np.void, op: Op, side: int, cast: Cast) -> Cast:
    """A row about all of a kind: of heroes it is one hero, so that nothing is chosen."""
    kind, amount, asked = int(row["kind"]), int(row["amount"]), int(row["filter"])
    if op == Op.DAMAGE and kind == HEROES and not asked and row["amount2"] <= amount:
        if side == OWN:
            return replace(cast, harm=cast.harm + amount)
        if side == ENEMY and not cast.damage and not cast.aim_side:
            return replace(cast, damage=amount, fixed=True, held=amount + SPELL_HELD)
    if op == Op.HEAL and side == OWN and not asked:
        heals = cast.heal + (amount if kind & HEROES else 0)
        return replace(cast, heal=heals, heals_minions=cast.heals_minions or bool(kind & MINIONS))
    if op == Op.BUFF and side == OWN and kind == HEROES and row["until"] == Until.THIS_TURN:
        return replace(cast, hero_attack=cast.hero_attack + amount)
    if op == Op.FREEZE and side == ENEMY and kind == MINIONS and not asked:
        return replace(cast, freezes_all=True)
    if op == Op.DAMAGE:
        raise OutsideError(cast.label, "damage to several")
    raise OutsideError(cast.label, f"{op.name.lower().replace('_', ' ')} of several")


_UNCHANGED = Trait.SILENCED
"""Traits that silence leaves as they are."""

_NEVER_BETTER = Trait.SILENCED | Trait.ELUSIVE | Trait.FREEZES | Trait.DEATHRATTLE
"""Traits of own minions that their player never wants to lose."""


@dataclass(frozen=True)
class Rattle:
    """A constant Deathrattle.

    Attributes:
        tokens: cards of the minions that it summons for its owner.
        draws: cards that its owner draws.
        blow: damage to the hero of its owner's opponent.
    """

    tokens: tuple[int, ...] = ()
    draws: int = 0
    blow: int = 0


@dataclass(frozen=True)
class Newcomer:
    """An enemy minion that may come this turn.

    Attributes:
        card: its number.
        dead: the enemy whose death summons it; -1 for none.
        cast: the place among the casts of what turns another into it; -1 for none.
    """

    card: int
    dead: int = -1
    cast: int = -1


def read_rattle(title: str, card: np.void, gifts: np.ndarray | None = None) -> Rattle:
    """The Deathrattle of a minion.

    Args:
        title: its name.
        card: its card, dtype `engine.state.CARD`.
        gifts: of a minion on board, Deathrattles that were given to it.

    Raises:
        OutsideError: it is not constant, or the program has no word for it.
    """
    tokens: tuple[int, ...] = ()
    draws = blow = 0
    outside = OutsideError(title, "Deathrattle")
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
            blow += amount
        else:
            raise outside
    return Rattle(tokens, draws, blow)


def foes_of(enemy: np.void, cards: np.ndarray, newcomers: tuple[Newcomer, ...]) -> np.ndarray:
    """All enemy minions, those that may come behind the others, as records of a board.

    Args:
        enemy: dtype `engine.state.SIDE`.
        cards: the card table.
        newcomers: those that may come.
    """
    n = int(enemy["n_board"])
    foes = np.zeros(n + len(newcomers), enemy["board"].dtype)
    foes[:n] = enemy["board"][:n]
    for foe, newcomer in zip(foes[n:], newcomers, strict=True):
        card = cards[newcomer.card]
        for field in ("attack", "health", "keywords", "traits"):
            foe[field] = card[field]
        foe["max_health"], foe["card"] = card["health"], newcomer.card
    return foes


def _as_printed(minion: np.void, card: np.void) -> bool:
    """Whether a minion has its card's attack and health, and no text that works on board."""
    rows = card["effects"][: card["n_effects"]]
    text = bool((rows["trigger"] != Trigger.PLAY).any()) and not minion["traits"] & Trait.SILENCED
    same = minion["attack"] == card["attack"] and minion["max_health"] == card["health"]
    return bool(same and not text and not minion["spell_damage"] and not minion["turn_attack"])


def silence_changes(minion: np.void, card: np.void, keywords: int = 0) -> bool:
    """Whether silence takes anything from a minion beside some keywords."""
    return bool(
        not _as_printed(minion, card) or minion["traits"] & ~_UNCHANGED or minion["keywords"] & ~keywords
    )


def silence_may_help(minion: np.void, card: np.void) -> bool:
    """Whether the player of a minion may want it silenced."""
    weaker = minion["attack"] < card["attack"] or minion["max_health"] < card["health"]
    return bool(weaker or minion["traits"] & ~_NEVER_BETTER or minion["turn_attack"])


def is_guard_alone(minion: np.void, card: np.void) -> bool:
    """Whether silence takes Taunt from a minion, and nothing else."""
    return bool(minion["keywords"] & Keyword.TAUNT) and not silence_changes(minion, card, Keyword.TAUNT)
