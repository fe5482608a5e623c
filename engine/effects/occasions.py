"""When rows are carried out, under which condition and how often, in plain English."""

from enum import IntEnum

from engine.codes import Keyword
from engine.effects.cells import Asked
from engine.effects.rows import Effect
from engine.vocabulary import (
    ENEMY,
    HEROES,
    ITSELF_ALONE,
    MINIONS,
    OTHERS_ALONE,
    OWN,
    POWERS,
    SPELLS,
    WEAPONS,
    CardFilter,
    Condition,
    Count,
    Gang,
    HeroName,
    Race,
    Trigger,
)

_FIXED = {
    Trigger.PLAY: "",
    Trigger.DEATHRATTLE: "Deathrattle: ",
    Trigger.AURA: "While it is in play: ",
    Trigger.COST: "While it is in hand: ",
    Trigger.DISCARDED_ITSELF: "When you discard it: ",
}
_TURNS = {OWN: "your turn", ENEMY: "your opponent's turn", OWN | ENEMY: "each turn"}
_OF_CARDS = {
    Trigger.PLAYED: "Whenever {who} play{s} {a card}: ",
    Trigger.CAST: "Whenever {who} cast{s} {a card}: ",
    Trigger.AFTER_CAST: "After {who} cast{s} {a card}: ",
    Trigger.AFTER_PLAYED: "After {who} play{s} {a card}: ",
    Trigger.DRAWN: "Whenever {who} draw{s} {a card}: ",
    Trigger.DISCARDED: "Whenever {who} discard{s} {a card}: ",
    Trigger.IN_DECK: "In your deck, after {who} play{s} {a card}: ",
    Trigger.OVERLOADED: "Whenever {who} play{s} {a card} with Overload: ",
    Trigger.EQUIPPED: "Whenever {who} equip{s} a weapon: ",
    Trigger.POWER_USED: "After {who} use{s} the hero power: ",
    Trigger.REVEALED: "Whenever a Secret of {whose} is revealed: ",
    Trigger.DISARMED: "Whenever a weapon of {whose} is destroyed: ",
    Trigger.ARMOURED: "Whenever {who} gain{s} armour: ",
}
_OF_CHARACTERS = {
    Trigger.SUMMONED: "Whenever {one} comes into play: ",
    Trigger.AFTER_SUMMONED: "After {one} has come into play: ",
    Trigger.DIED: "After {one} dies: ",
    Trigger.BURIED: "After {one} has died, and all else that its death brings: ",
    Trigger.DAMAGED: "Whenever {one} takes damage: ",
    Trigger.HEALED: "Whenever {one} is healed: ",
    Trigger.ATTACKS: "Whenever {one} attacks: ",
    Trigger.AFTER_ATTACK: "After {one} has attacked: ",
    Trigger.TARGETED: "Whenever a spell of {whose} is aimed at {one}: ",
    Trigger.SHIELD_LOST: "After {one} loses Divine Shield: ",
}
_IF = {
    Condition.MANA_FULL: "you have all ten mana crystals",
    Condition.AIMED: "a target was chosen",
    Condition.ARMED: "you have a weapon",
    Condition.ENEMY_TURN: "it is your opponent's turn",
    Condition.COMBO: "you have played another card this turn",
    Condition.DAMAGED: "it is damaged",
    Condition.HEALTH_AT_MOST: "your hero has {n} or less health",
    Condition.ENEMY_HEALTH_AT_MOST: "the enemy hero has {n} or less health",
    Condition.ENEMY_MINIONS: "your opponent has {n} or more minions",
    Condition.OWN_MINIONS: "you have {n} or more other minions",
    Condition.RACE: "you have another {word}",
    Condition.HOLDS_RACE: "you hold a {word}",
    Condition.EMPTY_HANDED: "your hand is empty",
    Condition.ENEMY_HAND: "your opponent holds {n} or more cards",
    Condition.TARGET_DYING: "that kills the target",
    Condition.TARGET_RACE: "the target is a {word}",
    Condition.TARGET_OWN: "the target is yours",
    Condition.TARGET_FROZEN: "the target is frozen",
    Condition.SPELL_DAMAGE: "you have Spell Damage",
    Condition.SECRET: "you have a Secret",
    Condition.ARMOUR: "you have {n} or more armour",
    Condition.WEAPON_ATTACK: "your weapon has {n} or more attack",
    Condition.OWN_KEYWORD: "you have another minion with {word}",
    Condition.ENEMY_KEYWORD: "your opponent has a minion with {word}",
    Condition.ENEMY_FROZEN: "an enemy is frozen",
    Condition.MINION_ATTACK: "you have a minion with {n} or more attack",
    Condition.MINION_HEALTH: "you have another minion with {n} or more health",
    Condition.ATTACK: "it has {n} or more attack",
    Condition.AT_HERO: "a hero is attacked",
    Condition.FOE_DYING: "that kills what was attacked",
    Condition.ALONE: "it is the only minion in play",
    Condition.UNIQUE: "your deck holds no two cards alike",
    Condition.ONLY_ODD: "all cards in your deck have odd costs",
    Condition.ONLY_EVEN: "all cards in your deck have even costs",
    Condition.NO_COST: "no card in your deck costs {n}",
    Condition.DIED: "{n} or more minions died this turn",
    Condition.HURT: "your hero took damage this turn",
    Condition.ELEMENTAL: "you played an Elemental on your turn before",
    Condition.DYING: "it is dying",
    Condition.ROOM: "there is room on your board",
    Condition.ENEMY_PLAYED: "your opponent has played {n} or more cards this turn",
}
_TIMES = {
    Count.OTHER_MINIONS: "your other minions",
    Count.ENEMY_MINIONS: "enemy minions",
    Count.ALL_OTHER_MINIONS: "other minions in play",
    Count.HAND: "cards in your hand",
    Count.OTHER_HAND: "other cards in your hand",
    Count.ENEMY_HAND: "cards in your opponent's hand",
    Count.WEAPON_ATTACK: "your weapon's attack",
    Count.DURABILITY: "your weapon's durability",
    Count.HERO_ATTACK: "your hero's attack",
    Count.ARMOUR: "your armour",
    Count.DAMAGE_TAKEN: "health your hero lacks",
    Count.DIED: "minions that died this turn",
    Count.PLAYED: "other cards you played this turn",
    Count.EVENT: "the amount of it",
    Count.OTHER_RACE: "your other {word}s",
    Count.ALL_OTHER_RACE: "other {word}s in play",
    Count.DAMAGED: "damaged minions in play",
    Count.OWN_DAMAGED: "your damaged characters",
    Count.OWN_ATTACK: "its attack",
    Count.TARGET_ATTACK: "the target's attack",
    Count.TOTEMS: "Totems you summoned this game",
    Count.SPELLS: "spells you cast this game",
    Count.ENEMY_DURABILITY: "the durability of your opponent's weapon",
    Count.ENEMY_WEAPON_ATTACK: "the attack of your opponent's weapon",
    Count.MANA: "your mana",
    Count.OVERLOADED: "crystals you overloaded this game",
    Count.POWERS: "uses of your hero power this game",
    Count.SECRETS: "Secrets you played this game",
    Count.ELEMENTALS: "Elementals you played on your turn before",
    Count.TARGET_HEALTH: "the target's health",
    Count.NEIGHBOURS_ATTACK: "the attack of the minions next to it",
    Count.NEIGHBOURS_HEALTH: "the health of the minions next to it",
    Count.SHIELDS: "minions with Divine Shield",
    Count.ENEMY_DEATHRATTLES: "enemy minions with a Deathrattle",
}
_COMPARED = {
    CardFilter.COST: "of cost {n}",
    CardFilter.COST_AT_MOST: "of cost {n} or less",
    CardFilter.ATTACK_AT_MOST: "with {n} or less attack",
    CardFilter.ATTACK_AT_LEAST: "with {n} or more attack",
    CardFilter.KEYWORD: "with {word}",
    CardFilter.ATTACK: "with {n} attack",
    CardFilter.BATTLECRY: "with Battlecry",
    CardFilter.DEATHRATTLE: "with Deathrattle",
    CardFilter.OVERLOAD: "with Overload",
    CardFilter.COMBO: "with Combo",
    CardFilter.SPELL_DAMAGE: "with Spell Damage",
}
_NOUNS = {MINIONS: "minion", SPELLS: "spell", WEAPONS: "weapon", POWERS: "hero power", HEROES: "hero"}


def when(effect: Effect) -> str:
    """When a row is carried out: "Whenever a friendly minion takes damage: "."""
    trigger, on = effect.trigger, effect.on
    if trigger in _FIXED:
        return _FIXED[trigger]
    if trigger in (Trigger.TURN_START, Trigger.TURN_END):
        what = "start" if trigger == Trigger.TURN_START else "end"
        return f"At the {what} of {_TURNS[on.side & (OWN | ENEMY)]}: "
    side = on.side & (OWN | ENEMY)
    who = {OWN: "you", ENEMY: "your opponent", OWN | ENEMY: "a player"}[side]
    whose = {OWN: "yours", ENEMY: "your opponent", OWN | ENEMY: "any player"}[side]
    if trigger in _OF_CARDS:
        noun = "a spell" if trigger in (Trigger.CAST, Trigger.AFTER_CAST) else "a card"
        named = f"a {cards(on)}" if on.kind or on.filter else noun
        words = {"who": who, "whose": whose, "s": "" if side == OWN else "s", "a card": named}
        return _OF_CARDS[trigger].format(**words)
    return _OF_CHARACTERS[trigger].format(one=_one(on), whose=whose)


def _one(on: Asked) -> str:
    """Whom an event about a character is about."""
    if on.side & ITSELF_ALONE:
        return "it"
    side = {OWN: "friendly ", ENEMY: "enemy ", OWN | ENEMY: ""}[on.side & (OWN | ENEMY)]
    other = "another " if on.side & OTHERS_ALONE else ""
    plain = on._replace(kind=on.kind or MINIONS | HEROES)
    text = f"{other}{side}{cards(plain)}"
    return text if other else f"{'an' if text[0] in 'aeiou' else 'a'} {text}"


def cards(asked: Asked) -> str:
    """What kind of card or character is asked for: "minion of cost 1", "Beast"."""
    if asked.kind == MINIONS | HEROES:
        noun = "character"
    else:
        noun = " or ".join(word for bit, word in _NOUNS.items() if asked.kind & bit) or "card"
    if asked.filter & CardFilter.RACE:
        noun = title(Race(asked.arg)) + ("" if asked.kind in (0, MINIONS) else f" {noun}")
    if asked.filter & CardFilter.SECRET:
        noun = "Secret"
    if asked.filter & CardFilter.CLASS:
        noun = f"{title(HeroName(asked.arg))} {noun}"
    if asked.filter & CardFilter.GANG:
        noun = f"{title(Gang(asked.arg))} {noun}"
    if asked.filter & CardFilter.ENEMY_CLASS:
        noun += " of your opponent's class"
    if asked.filter & CardFilter.OWN_CLASS:
        noun += " of your class"
    if asked.filter & CardFilter.LEGENDARY:
        noun = f"Legendary {noun}"
    word = _keyword(asked.arg) if asked.filter & CardFilter.KEYWORD else ""
    after = [text.format(n=asked.arg, word=word) for bit, text in _COMPARED.items() if asked.filter & bit]
    return " ".join([noun, *after])


def under(effect: Effect) -> str:
    """The condition of a row: " if you have a weapon"; "" for none."""
    if not effect.condition:
        return ""
    condition = Condition(abs(effect.condition))
    word = ""
    if condition in (Condition.OWN_KEYWORD, Condition.ENEMY_KEYWORD):
        word = _keyword(effect.condition_arg)
    elif "{word}" in _IF[condition]:
        word = title(Race(effect.condition_arg))
    text = _IF[condition].format(n=effect.condition_arg, word=word)
    if condition == Condition.TARGET_OWN and effect.condition_arg:
        text = f"the target is a {title(Race(effect.condition_arg))} of yours"
    return f"{' unless' if effect.condition < 0 else ' if'} {text}"


def times(effect: Effect) -> str:
    """What a row's amounts are multiplied by: ", times your armour"; "" for nothing."""
    if not effect.count:
        return ""
    word = title(Race(effect.count_arg)) if effect.count_arg else ""
    return f", times {_TIMES[effect.count].format(word=word)}"


def _keyword(bit: int) -> str:
    """A keyword as texts write it."""
    return title(next(keyword for keyword in Keyword if keyword & bit))


def title(member: IntEnum) -> str:
    """A code's name as texts write it: "Divine Shield"."""
    return member.name.replace("_", " ").title()
