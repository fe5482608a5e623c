"""Describe effect rows in English, unambiguously: different rows have different descriptions."""

import re
from collections.abc import Callable
from enum import IntEnum

from engine.codes import Keyword
from engine.effect_codes import (
    ENEMY,
    HEROES,
    MINIONS,
    N_POTION_EFFECTS,
    ONLY_ITSELF,
    ONLY_OTHERS,
    OWN,
    POWERS,
    SPELLS,
    WEAPONS,
    CardFilter,
    Condition,
    Count,
    Filter,
    Gang,
    HeroClassCode,
    Op,
    Pick,
    Race,
    Rule,
    Trait,
    Trigger,
    Until,
)
from engine.effects.rows import EVENT_CARD_WORD, NO_CARD_IDS, OWN_CARD_WORD, CardQuery, Effect

_FIXED = {
    Trigger.PLAY: "",
    Trigger.DEATHRATTLE: "Deathrattle: ",
    Trigger.AURA: "While it is in play: ",
    Trigger.COST: "While it is in hand: ",
    Trigger.DISCARDED_ITSELF: "When you discard it: ",
}
_TURNS = {OWN: "your turn", ENEMY: "your opponent's turn", OWN | ENEMY: "each turn"}
_OF_CARDS = {
    Trigger.PLAYED: "Whenever {player} play{s} {a card}: ",
    Trigger.CAST: "Whenever {player} cast{s} {a card}: ",
    Trigger.AFTER_CAST: "After {player} cast{s} {a card}: ",
    Trigger.AFTER_PLAYED: "After {player} play{s} {a card}: ",
    Trigger.DRAWN: "Whenever {player} draw{s} {a card}: ",
    Trigger.DISCARDED: "Whenever {player} discard{s} {a card}: ",
    Trigger.IN_DECK: "In your deck, after {player} play{s} {a card}: ",
    Trigger.OVERLOADED: "Whenever {player} play{s} {a card} with Overload: ",
    Trigger.EQUIPPED: "Whenever {player} equip{s} a weapon: ",
    Trigger.POWER_USED: "After {player} use{s} the hero power: ",
    Trigger.SECRET_REVEALED: "Whenever a Secret of {owner} is revealed: ",
    Trigger.WEAPON_DESTROYED: "Whenever a weapon of {owner} is destroyed: ",
    Trigger.ARMOURED: "Whenever {player} gain{s} armour: ",
}
_OF_CHARACTERS = {
    Trigger.SUMMONED: "Whenever {subject} comes into play: ",
    Trigger.AFTER_SUMMONED: "After {subject} has come into play: ",
    Trigger.DIED: "After {subject} dies: ",
    Trigger.AFTER_DEATH: "After {subject} has died and its Deathrattles have resolved: ",
    Trigger.DAMAGED: "Whenever {subject} takes damage: ",
    Trigger.HEALED: "Whenever {subject} is healed: ",
    Trigger.ATTACKS: "Whenever {subject} attacks: ",
    Trigger.AFTER_ATTACK: "After {subject} has attacked: ",
    Trigger.TARGETED: "Whenever a spell of {owner} targets {subject}: ",
    Trigger.SHIELD_LOST: "After {subject} loses Divine Shield: ",
}
_IF = {
    Condition.MANA_FULL: "you have all ten mana crystals",
    Condition.HAS_TARGET: "a target was chosen",
    Condition.HAS_WEAPON: "you have a weapon",
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
    Condition.ATTACKS_HERO: "a hero is attacked",
    Condition.DEFENDER_DYING: "that kills the defender",
    Condition.ALONE: "it is the only minion in play",
    Condition.NO_DUPLICATES: "your deck holds no duplicates",
    Condition.ONLY_ODD: "all cards in your deck have odd costs",
    Condition.ONLY_EVEN: "all cards in your deck have even costs",
    Condition.NO_COST: "no card in your deck costs {n}",
    Condition.MINIONS_DIED_THIS_TURN: "{n} or more minions died this turn",
    Condition.HERO_DAMAGED_THIS_TURN: "your hero took damage this turn",
    Condition.ELEMENTAL_LAST_TURN: "you played an Elemental last turn",
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
    Count.DAMAGE_TAKEN: "your hero's missing health",
    Count.DIED: "minions that died this turn",
    Count.PLAYED: "other cards you played this turn",
    Count.EVENT: "the amount of the event",
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
    Count.ELEMENTALS: "Elementals you played last turn",
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


def describe_trigger(effect: Effect) -> str:
    """Describe an effect row's trigger: "Whenever a friendly minion takes damage: "."""
    trigger, on = effect.trigger, effect.on
    if trigger in _FIXED:
        return _FIXED[trigger]
    if trigger in (Trigger.TURN_START, Trigger.TURN_END):
        edge = "start" if trigger == Trigger.TURN_START else "end"
        return f"At the {edge} of {_TURNS[on.side & (OWN | ENEMY)]}: "
    side = on.side & (OWN | ENEMY)
    player = {OWN: "you", ENEMY: "your opponent", OWN | ENEMY: "a player"}[side]
    owner = {OWN: "yours", ENEMY: "your opponent", OWN | ENEMY: "any player"}[side]
    if trigger in _OF_CARDS:
        noun = "a spell" if trigger in (Trigger.CAST, Trigger.AFTER_CAST) else "a card"
        named = f"a {describe_cards(on)}" if on.kind or on.filter else noun
        words = {"player": player, "owner": owner, "s": "" if side == OWN else "s", "a card": named}
        return _OF_CARDS[trigger].format(**words)
    return _OF_CHARACTERS[trigger].format(subject=_subject(on), owner=owner)


def _subject(on: CardQuery) -> str:
    """Describe the subject of a character's event: "a friendly Beast"."""
    if on.side & ONLY_ITSELF:
        return "it"
    side = {OWN: "friendly ", ENEMY: "enemy ", OWN | ENEMY: ""}[on.side & (OWN | ENEMY)]
    other = "another " if on.side & ONLY_OTHERS else ""
    plain = on._replace(kind=on.kind or MINIONS | HEROES)
    text = f"{other}{side}{describe_cards(plain)}"
    return text if other else f"{'an' if text[0] in 'aeiou' else 'a'} {text}"


def describe_cards(query: CardQuery) -> str:
    """Describe a filter of cards or characters: "minion of cost 1", "Beast"."""
    if query.kind == MINIONS | HEROES:
        noun = "character"
    else:
        noun = " or ".join(word for bit, word in _NOUNS.items() if query.kind & bit) or "card"
    if query.filter & CardFilter.RACE:
        noun = member_title(Race(query.arg)) + ("" if query.kind in (0, MINIONS) else f" {noun}")
    if query.filter & CardFilter.SECRET:
        noun = "Secret"
    if query.filter & CardFilter.CLASS:
        noun = f"{member_title(HeroClassCode(query.arg))} {noun}"
    if query.filter & CardFilter.GANG:
        noun = f"{member_title(Gang(query.arg))} {noun}"
    if query.filter & CardFilter.ENEMY_CLASS:
        noun += " of your opponent's class"
    if query.filter & CardFilter.OWN_CLASS:
        noun += " of your class"
    if query.filter & CardFilter.LEGENDARY:
        noun = f"Legendary {noun}"
    word = _keyword(query.arg) if query.filter & CardFilter.KEYWORD else ""
    after = [text.format(n=query.arg, word=word) for bit, text in _COMPARED.items() if query.filter & bit]
    return " ".join([noun, *after])


def describe_condition(effect: Effect) -> str:
    """Describe an effect row's condition: " if you have a weapon"; "" for none."""
    if not effect.condition:
        return ""
    condition = Condition(abs(effect.condition))
    word = ""
    if condition in (Condition.OWN_KEYWORD, Condition.ENEMY_KEYWORD):
        word = _keyword(effect.condition_arg)
    elif "{word}" in _IF[condition]:
        word = member_title(Race(effect.condition_arg))
    text = _IF[condition].format(n=effect.condition_arg, word=word)
    if condition == Condition.TARGET_OWN and effect.condition_arg:
        text = f"the target is a {member_title(Race(effect.condition_arg))} of yours"
    return f"{' unless' if effect.condition < 0 else ' if'} {text}"


def describe_count(effect: Effect) -> str:
    """Describe the multiplier of an effect row's amounts: ", times your armour"; "" for none."""
    if not effect.count:
        return ""
    word = member_title(Race(effect.count_arg)) if effect.count_arg else ""
    return f", times {_TIMES[effect.count].format(word=word)}"


def _keyword(bit: int) -> str:
    """A keyword as card texts write it: "Divine Shield"."""
    return member_title(next(keyword for keyword in Keyword if keyword & bit))


def member_title(member: IntEnum) -> str:
    """Name of an enumeration member as card texts write it: "Divine Shield"."""
    return member.name.replace("_", " ").title()


_UNTIL = {Until.ALWAYS: "", Until.THIS_TURN: " this turn", Until.NEXT_TURN: " until your next turn"}
_TRAITS = {
    Trait.CANT_ATTACK: "keeps {} from attacking",
    Trait.ELUSIVE: "keeps spells and hero powers from choosing {}",
    Trait.FREEZES: "lets {} freeze the characters it damages",
    Trait.FROZEN: "freezes {} at once",
    Trait.SILENCED: "marks {} as silenced",
    Trait.DOOMED: "marks {} for destruction",
    Trait.IMMUNE: "makes {} immune for this turn",
    Trait.SPARES_HEROES: "keeps {} from attacking heroes",
    Trait.SPARES_HEROES_NOW: "keeps {} from attacking heroes this turn",
    Trait.HIDDEN: "ends the Stealth of {} at the start of its player's next turn",
    Trait.CLEAVES: "lets the attacks of {} also damage the defender's neighbours",
    Trait.STOLEN: "returns {} to the opponent at the end of the turn",
}
_TO_PLAYER = {
    Op.ARMOUR: "gives {you} {amount} armour",
    Op.MANA: "gives {you} {amount} mana for this turn",
    Op.DISARM: "destroys {your} weapon",
    Op.UNLOCK_OVERLOAD: "unlocks {your} overloaded mana crystals",
    Op.COUNTER: "counters it",
    Op.PREVENT: "when your hero would die, prevents the damage and makes your hero immune this turn",
    Op.DESTROY_SECRETS: "destroys {your} Secrets",
    Op.MILL: "removes the top {amount} cards of {your} deck",
    Op.DRAW_UNTIL: "draws until {you} hold as many cards as {amount}",
    Op.REFRESH_POWER: "lets {you} use the hero power again",
    Op.REFILL_MANA: "refills {your} mana crystals",
    Op.REVIVE: "brings it back with {amount} health",
}
_TO_CHARACTERS = {
    Op.HEAL: "restores {amount} health to {targets}",
    Op.DESTROY: "destroys {targets}",
    Op.SILENCE: "silences {targets}",
    Op.FREEZE: "freezes {targets}",
    Op.CONTROL: "takes control of {targets}",
    Op.SWAP: "swaps the attack and health of {targets}",
    Op.SET_ATTACK_TO_HEALTH: "sets the attack of {targets} to its health",
    Op.RESTORE: "restores {targets} to full health",
    Op.SPELL_DAMAGE: "gives {targets} Spell Damage +{amount}",
    Op.TRIGGER: "triggers the Deathrattle of {targets}",
    Op.REDIRECT: "redirects the attack to {targets}",
    Op.TARGET_ONLY: "has the target {targets}",
    Op.TARGET_DEALS_DAMAGE: "makes the target deal its attack as damage to {targets}",
    Op.BECOME_COPY: "becomes a copy of {targets}",
}
_ZONED = {
    Op.RECRUIT: "puts {quantity} from {your} deck into play",
    Op.SUMMON_FROM_HAND: "puts {quantity} from {your} hand into play",
    Op.SUMMON_COPY_FROM_DECK: "puts a copy of {quantity} in {your} deck into play for you{body}",
    Op.COPY_FROM_DECK: "adds copies of {quantity} in {your} deck to your hand",
    Op.COPY_FROM_HAND: "adds copies of {quantity} in {your} hand to your hand",
    Op.BUFF_HAND: "gives {quantity} in {your} hand {change}",
    Op.CHANGE_HAND_COST: "lets {quantity} in {your} hand cost {change}",
}
_PLACES = {
    Pick.SELF: "itself",
    Pick.SUBJECT: "that one",
    Pick.NEXT_TO_SELF: "the minions next to it",
    Pick.NEXT_TO_TARGET: "the minions next to the target",
}
_ADJECTIVES = {
    Filter.NOT_SELF: "other",
    Filter.DAMAGED: "damaged",
    Filter.UNDAMAGED: "undamaged",
    Filter.FROZEN: "frozen",
}

FREE_COST_REDUCTION = 99
"""Cost reduction from which a card is described as costing nothing."""

_RULES = {
    Rule.BATTLECRIES_TWICE: "lets your Battlecries happen twice",
    Rule.DEATHRATTLES_TWICE: "lets your Deathrattles happen twice",
    Rule.HEALING_HARMS: "lets your healing deal damage instead",
    Rule.SPELLS_DOUBLED: "doubles the damage and healing of your spells and hero power",
}

CardName = Callable[[str], str]


def describe_row(effect: Effect, card_name: CardName) -> str:
    """Describe an effect row in a sentence, such as "deals 4 damage to all enemy minions".

    Args:
        effect: the effect row.
        card_name: maps a card id to its display name, such as "Damaged Golem 2/1".
    """
    done = f"{_describe_operation(effect, card_name)}{_UNTIL[effect.until]}"
    return f"{describe_trigger(effect)}{done}{describe_count(effect)}{describe_condition(effect)}"


def _describe_operation(effect: Effect, card_name: CardName) -> str:
    """Describe an effect row's operation and targets."""
    if effect.pick == Pick.NONE:
        return _on_player(effect, card_name)
    return _on_characters(effect, _targets(effect), card_name)


def _on_player(effect: Effect, card_name: CardName) -> str:
    """Describe an operation on a player."""
    op, amount = effect.op, effect.amount
    you = {OWN: "you", ENEMY: "your opponent", OWN | ENEMY: "both players"}[effect.side]
    your = {OWN: "your", ENEMY: "your opponent's", OWN | ENEMY: "each player's"}[effect.side]
    if op == Op.DRAW:
        drawn = f"{_number(amount)} {describe_cards(effect.of)}{_s(amount)}"
        if effect.amount2:
            drawn += f", which costs {abs(effect.amount2)} {'less' if effect.amount2 < 0 else 'more'},"
        return f"draws {drawn}" if effect.side == OWN else f"{you} draw{_s(effect.side == 3)} {drawn}"
    if op == Op.SUMMON:
        new = f", of those that are not on {your} board" if effect.filter & Filter.NOT_ON_BOARD else ""
        return f"summons {_cards(effect, card_name)}{new}{'' if effect.side == OWN else f' for {you}'}"
    if op == Op.ADD:
        if effect.cards == (OWN_CARD_WORD,):
            return f"returns this minion to {your} hand"
        return f"adds {_cards(effect, card_name)} to {your} hand"
    if op == Op.DISCARD:
        if effect.times == 0:
            return f"discards {your} hand"
        return f"discards {_number(effect.times)} random card{_s(effect.times)} from {your} hand"
    if op == Op.WEAPON:
        change = [f"{n:+d} {stat}" for n, stat in ((amount, "Attack"), (effect.amount2, "Durability")) if n]
        return f"gives {your} weapon {' and '.join(change)}"
    if op == Op.CRYSTALS:
        if amount < 0:
            return f"destroys {_number(-amount)} of {your} mana crystals"
        return f"gives {you} {_number(amount)} empty mana crystal{_s(amount)}"
    if op == Op.COST:
        return _cost(effect)
    if op in _ZONED:
        return _on_zone(effect, your)
    if op == Op.DECOY:
        return f"summons {_cards(effect, card_name)}, which becomes the target"
    if op == Op.PLAY_SECRETS_FROM_DECK:
        quantity = f"{_number(effect.times)} random" if effect.times else "one of each of the"
        return f"puts {quantity} Secret{_s(effect.times)} from {your} deck into play"
    if op == Op.TRACK:
        return f"lets {you} choose one of the top three cards of {your} deck; the others are removed"
    if op == Op.DISCOVER_FROM_DECK:
        noun = _plural(describe_cards(effect.of))
        return f"lets you choose one of three {noun} in {your} deck; a copy is added to your hand"
    if op == Op.CREATE_POTION:
        costs = " or ".join(map(card_name, effect.cards[: len(N_POTION_EFFECTS)]))
        return (
            f"lets you choose a potion, {costs}, and two effects of it, each out of three at random, among "
            + ", ".join(
                map(
                    card_name,
                    effect.cards[len(N_POTION_EFFECTS) : len(N_POTION_EFFECTS) + sum(N_POTION_EFFECTS)],
                )
            )
        )
    if op in (Op.DISCOVER, Op.CHOOSE_POWER):
        lower = f", costing {-effect.amount2} less" if effect.amount2 else ""
        offered = ", ".join(map(card_name, effect.cards)) or f"{describe_cards(effect.of)} of the edition"
        end = "as your hero power" if op == Op.CHOOSE_POWER else "for your hand"
        return f"lets you choose one of three random cards {end}{lower}: {offered}"
    if op == Op.RESURRECT:
        quantity = "all" if effect.times == 0 else _number(effect.times)
        return f"summons {quantity} of {your} {_plural(describe_cards(effect.of))} that died this game"
    if op == Op.CHOOSE_ONE:
        return f"is played as {card_name(effect.cards[0])} or {card_name(effect.cards[1])}"
    if op in (Op.SHUFFLE, Op.JADE, Op.POWER):
        made = "the next of the Jade Golems" if op == Op.JADE else _cards(effect, card_name)
        many = f"{_number(effect.times)} times " if effect.times > 1 else ""
        verb = {
            Op.SHUFFLE: "shuffles {} into {} deck",
            Op.JADE: "summons {}",
            Op.POWER: "makes {1} hero power {0}",
        }
        found = f" from {card_name(effect.cards[0])} on" if op == Op.JADE else ""
        return many + verb[op].format(made + found, your)
    if op == Op.RULE:
        return _listed([text for bit, text in _RULES.items() if amount & bit])
    if op == Op.EQUIP:
        return f"equips {_cards(effect, card_name)}{'' if effect.side == OWN else f' for {you}'}"
    return _TO_PLAYER[op].format(you=you, your=your, amount=amount)


def _on_zone(effect: Effect, your: str) -> str:
    """Describe an operation on cards in a hand or deck."""
    noun, n = describe_cards(effect.of), effect.times
    quantity = (
        f"all {_plural(noun)}" if n == 0 else f"{_number(n)} random {noun if n == 1 else _plural(noun)}"
    )
    body = (
        f" as {effect.amount}/{effect.amount2}"
        if effect.op == Op.SUMMON_COPY_FROM_DECK and effect.amount
        else ""
    )
    change = f"{effect.amount:+d}/{effect.amount2:+d}"
    if effect.op == Op.CHANGE_HAND_COST:
        change = f"{abs(effect.amount)} {'less' if effect.amount < 0 else 'more'}"
    return _ZONED[effect.op].format(quantity=quantity, your=your, body=body, change=change)


def _cost(effect: Effect) -> str:
    """Describe an effect row that changes costs."""
    change = f"{abs(effect.amount)} {'more' if effect.amount > 0 else 'less'}"
    if effect.amount <= -FREE_COST_REDUCTION:
        change = "nothing"
    least = f", but not less than {effect.amount2}" if effect.amount2 else ""
    if effect.trigger == Trigger.COST:
        return f"costs {change}{least}"
    owner = {OWN: "your", ENEMY: "your opponent's", OWN | ENEMY: "all players'"}[effect.side]
    noun = describe_cards(effect.of)
    if effect.trigger == Trigger.PLAY and effect.times:
        return f"makes {owner} next {noun} cost {change}{least}"
    return f"makes {owner} cards cost {change}{least}, each {noun}"


def _on_characters(effect: Effect, targets: str, card_name: CardName) -> str:
    """Describe an operation on characters."""
    op, amount, amount2 = effect.op, effect.amount, effect.amount2
    if op == Op.DAMAGE:
        if effect.pick == Pick.SPLIT:
            return f"deals {amount} damage, 1 at a time, {targets}"
        most = f" to {amount2}" if amount2 > amount else ""
        more = f", with your Spell Damage {_number(effect.times)} times" if _is_enhanced(effect) else ""
        return f"deals {amount}{most} damage to {targets}{more}"
    if op == Op.HEAL and effect.pick == Pick.SPLIT:
        return f"restores {amount} health, 1 at a time, {targets}"
    if op == Op.BUFF:
        gained = [f"{amount:+d}/{amount2:+d}"] if amount and amount2 else []
        if not gained:
            gained = [f"{n:+d} {stat}" for n, stat in ((amount, "Attack"), (amount2, "Health")) if n]
        return f"gives {targets} {_listed(gained + _keywords(effect.keywords))}"
    if op == Op.SET:
        parts = [f"{stat} {n}" for n, stat in ((amount, "attack"), (amount2, "health")) if n >= 0]
        return f"sets {targets} to {' and '.join(parts)}"
    if op == Op.MULTIPLY:
        numbers = ((amount, "attack"), (amount2, "health"))
        parts = [f"the {stat} of {targets} by {n}" for n, stat in numbers if n != 1]
        return f"multiplies {' and '.join(parts)}"
    if op == Op.TRAIT:
        return _listed([text.format(targets) for bit, text in _TRAITS.items() if amount & bit])
    if op == Op.LOSE_KEYWORDS:
        return f"takes {_listed(_keywords(effect.keywords))} from {targets}"
    if op == Op.BOUNCE:
        more = f", costing {abs(amount)} {'less' if amount < 0 else 'more'}" if amount else ""
        return f"returns {targets} to the owner's hand{more}"
    if op == Op.RETURN_TO_DECK:
        return (
            f"shuffles {targets} into "
            f"{'your' if amount else 'the owner'}{'' if amount else chr(39) + 's'} deck"
        )
    if op in (Op.COPY, Op.COPY_TO_HAND, Op.COPY_TO_DECK):
        return _copies(effect, targets)
    if op in (Op.TRANSFORM, Op.GRANT_EFFECTS):
        verb = "transforms {} into {}" if op == Op.TRANSFORM else "gives {} the Deathrattle of {}"
        return verb.format(targets, _cards(effect, card_name))
    return _TO_CHARACTERS[op].format(targets=targets, amount=amount)


def _is_enhanced(effect: Effect) -> bool:
    """Whether an effect row adds Spell Damage more than once."""
    return effect.pick == Pick.CHOSEN and effect.times > 1


def _copies(effect: Effect, targets: str) -> str:
    """Describe an effect row that copies characters."""
    quantity = "a copy" if effect.times == 1 else f"{_number(effect.times)} copies"
    if effect.op == Op.COPY:
        body = f", as {effect.amount}/{effect.amount2}" if effect.amount or effect.amount2 else ""
        return f"summons {quantity} of {targets}{body}"
    if effect.op == Op.COPY_TO_DECK:
        return f"shuffles {quantity} of {targets} into your deck"
    cost = f", of cost {effect.amount2}" if effect.amount2 else ""
    cost = (
        f", costing {abs(effect.amount)} {'less' if effect.amount < 0 else 'more'}" if effect.amount else cost
    )
    return f"adds {quantity} of {targets} to your hand{cost}"


def _targets(effect: Effect) -> str:
    """Describe the characters that an effect row selects."""
    pick, times = effect.pick, effect.times
    if pick in _PLACES:
        return _PLACES[pick]
    singular, plural = _nouns(effect)
    if pick == Pick.CHOSEN:
        return f"the chosen {singular}"
    if pick == Pick.SPLIT:
        return f"each to a random {singular}"
    if pick == Pick.RANDOM:
        if times < 0:
            return f"all {plural} but {_number(-times)} at random"
        return f"a random {singular}" if times == 1 else f"{times} random {plural}"
    if effect.kind == HEROES:
        return {OWN: "your hero", ENEMY: "the enemy hero", OWN | ENEMY: "both heroes"}[effect.side]
    return f"all {plural}"


def _nouns(effect: Effect) -> tuple[str, str]:
    """Singular and plural noun phrase of an effect row's characters, with all filter words."""
    required = effect.filter
    before = [word for bit, word in _ADJECTIVES.items() if required & bit]
    before += [{OWN: "friendly", ENEMY: "enemy", OWN | ENEMY: ""}[effect.side]]
    if required & Filter.RACE:
        before.append(_race(effect.arg))
    noun = {MINIONS: "minion", HEROES: "hero", MINIONS | HEROES: "character"}[effect.kind]
    after = ""
    if required & Filter.NOT_RACE:
        after += f" that {{0}} no {_race(effect.arg)}"
    if required & Filter.ATTACK_AT_MOST:
        after += f" with {effect.arg} or less attack"
    if required & Filter.ATTACK_AT_LEAST:
        after += f" with {effect.arg} or more attack"
    if required & Filter.TAUNT:
        after += " with Taunt"
    if required & Filter.KEYWORD:
        after += f" with {_keywords(effect.arg)[0]}"
    if required & Filter.DEATHRATTLE:
        after += " with a Deathrattle"
    if required & Filter.NOT_TARGET:
        after += " but the chosen one" if effect.pick == Pick.ALL else " but that one"
    if required & Filter.NOT_DEFENDER:
        after += " and the defender"
    start = " ".join(word for word in before if word)
    start += " " if start else ""
    plural = "heroes" if noun == "hero" else f"{noun}s"
    return start + noun + after.format("is"), start + plural + after.format("are")


def _cards(effect: Effect, card_name: CardName) -> str:
    """Describe the cards that an effect row creates."""
    if not effect.cards:
        quantity = f"{_number(effect.times)} times " if effect.times > 1 else ""
        return f"{quantity}a random {describe_cards(effect.of)} of the edition"
    own = {OWN_CARD_WORD: "this minion's card", EVENT_CARD_WORD: "the same card"}
    names = [own.get(name) or card_name(name) for name in effect.cards]
    text = names[0] if len(names) == 1 else f"a random one of {', '.join(names[:-1])} and {names[-1]}"
    if (
        len(names) == 1
        and effect.op != Op.GRANT_EFFECTS
        and effect.cards not in NO_CARD_IDS
        and text[:4] != "The "
    ):
        text = f"{'an' if text[0].upper() in 'AEIOU' else 'a'} {text}"
    if effect.times == 1 or effect.op not in (Op.SUMMON, Op.ADD):
        return text
    return f"{_number(effect.times)} times {text}"


def _keywords(bits: int) -> list[str]:
    return [member_title(keyword) for keyword in Keyword if bits & keyword]


def _race(number: int) -> str:
    return member_title(Race(number))


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _number(number: int) -> str:
    return {1: "one", 2: "two", 3: "three", 4: "four"}.get(number, str(number))


def _plural(phrase: str) -> str:
    """Plural of a filter's text: "minions of cost 2 or less"."""
    noun, space, rest = re.match(r"(.*?)( (?:of|with) |$)(.*)", phrase).groups()  # type: ignore[union-attr]
    return f"{noun}s{space}{rest}"


def _s(number: int | bool) -> str:
    """Ending "s" of a plural noun for a number, or of a singular verb for False."""
    if isinstance(number, bool):
        return "" if number else "s"
    return "" if number == 1 else "s"
