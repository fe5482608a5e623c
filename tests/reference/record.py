"""The reference game as the engine's record, byte for byte, and the way back."""

import numpy as np

from engine.codes import Keyword
from engine.effect_codes import GRANTED_BY_OPPONENT, HeroClassCode, Race, Trait
from engine.state import STATE
from tests.reference.cards import cards_alone
from tests.reference.characters import Held, Minion, Secret
from tests.reference.effects import NOT_STANDING
from tests.reference.game import RealGame
from tests.reference.plain import COIN

NUMBERS = (
    *("health", "max_health", "armour", "mana", "crystals", "fatigue", "died", "burned"),
    *("weapon_attack", "durability", "overload", "locked", "weapon_aura", "played", "spells", "totems"),
    *(
        "elementals",
        "elementals_before",
        "overloaded",
        "powers",
        "secrets_played",
        "jade",
    ),
)
"""What both name alike of a side."""


def record_of(game):
    """The game as an array of shape (1,), dtype `STATE`."""
    found = np.zeros(1, STATE)
    state = found[0]
    state["turn"], state["turn_cap"], state["active"] = game.turn, game.cap, game.active
    state["first_draw"], state["last_entity_id"] = game.first_draw, game.births
    state["n_options"], state["n_choices"] = len(game.options), len(game.choices)
    state["options"][: len(game.options)] = [-1 if card == COIN else card for card in game.options]
    for place, (facts, row, memo) in enumerate(game.choices):
        record = state["choices"][place]
        record["card"], record["row"], record["chosen_before"] = facts["number"], row, memo
    for side, record in zip(game.sides, state["sides"], strict=True):
        write_side(side, record)
        record["n_secrets"] = len(side.secrets)
        for place, secret in enumerate(side.secrets):
            record["secrets"][place], record["secret_entity_ids"][place] = secret.number, secret.born
        record["n_graveyard"] = len(side.graves)
        record["graveyard"][: len(side.graves)] = side.graves
        record["pending_costs"][: len(side.promises)] = [1 + card["number"] for card in side.promises]
    return found


def write_side(side, record):
    numbers = {
        "power": 0 if side.power is None else 1 + side.power,
        "power_used": side.power_used,
        "weapon": 0 if side.weapon is None else side.weapon_number,
        "hero_attack": side.attack,
        "hero_attacks_left": side.attacks,
        "traits": bits(side.traits, Trait),
        "n_board": len(side.board),
        "n_hand": len(side.hand),
        "n_deck": len(side.deck),
    }
    for name in NUMBERS:
        numbers[name] = getattr(side, name)
    numbers["hero_damage_this_turn"] = side.hurt_now
    numbers["died_this_turn"] = side.perished
    numbers["hero_class"] = HeroClassCode[side.hero_class.upper()]
    for place, card in enumerate(side.hand):
        for name in ("cost", "attack", "health"):
            record["hand_modifiers"][place][name] = getattr(card, name, 0)
    for name, value in numbers.items():
        record[name] = value
    record["hand"][: len(side.hand)] = [-1 if card == COIN else card for card in side.hand]
    record["deck"][: len(side.deck)] = side.deck[::-1]
    for minion, place in zip(side.board, record["board"], strict=False):
        write_minion(minion, place)


def write_minion(minion, record):
    traits = bits(minion.traits, Trait)
    if minion.deathrattles:
        traits |= Trait.DEATHRATTLE
    cards = [minion.cards[gift] for gift in minion.gifts]
    cards += [] if "silenced" in minion.traits else [minion.facts]
    if any(row.trigger not in NOT_STANDING for card in cards for row in card["rows"]):
        traits |= Trait.ACTS
    numbers = {
        "card": minion.number,
        "attack": minion.attack,
        "health": minion.health,
        "keywords": bits(minion.keywords, Keyword),
        "attacks_left": minion.attacks,
        "arrived": minion.arrived,
        "max_health": minion.max_health,
        "traits": traits,
        "race": Race[minion.race.upper()],
        "turn_attack": minion.passing,
        "spell_damage": minion.spell_damage,
        "entity_id": minion.born,
        "aura_attack": minion.more_attack,
        "aura_health": minion.more_health,
        "aura_keywords": bits(minion.more_keywords, Keyword),
    }
    for name, value in numbers.items():
        record[name] = value
    for place, card in enumerate(minion.gifts):
        record["granted_effects"][place] = (
            1 + card + (GRANTED_BY_OPPONENT if id(minion.cards[card]) in minion.theirs else 0)
        )


def bits(words, codes):
    return sum(codes[word.upper()] for word in words)


def words_of(number, codes):
    return {code.name.lower() for code in codes if number & code}


def game_of(position, stream):
    """A reference game in the state of an engine position, with the stream of its chance."""
    state = position.state
    numbers = [int(state[name]) for name in ("turn", "turn_cap", "active")]
    game = RealGame(cards_alone(position.table), *numbers, bool(state["first_draw"]))
    game.options = [COIN if card == -1 else int(card) for card in state["options"][: state["n_options"]]]
    game.choices = [
        [game.cards[int(one["card"])], int(one["row"]), int(one["chosen_before"])]
        for one in state["choices"][: state["n_choices"]]
    ]
    game.births, game.stream = int(state["last_entity_id"]), stream
    for side, record in zip(game.sides, state["sides"], strict=True):
        for name in NUMBERS:
            setattr(side, name, int(record[name]))
        side.hurt_now = int(record["hero_damage_this_turn"])
        side.perished = int(record["died_this_turn"])
        side.promises = [game.cards[number - 1] for number in record["pending_costs"] if number]
        side.attack, side.power_used = int(record["hero_attack"]), bool(record["power_used"])
        side.power = int(record["power"]) - 1 if record["power"] else None
        side.traits = words_of(int(record["traits"]), Trait)
        if record["durability"]:
            side.weapon_number = int(record["weapon"])
            side.weapon = game.cards[side.weapon_number]
        side.count_attacks()
        side.made = side.attacks - int(record["hero_attacks_left"])
        side.count_attacks()
        side.secrets = [
            Secret(game.cards[int(card)], int(born))
            for card, born in zip(record["secrets"], record["secret_entity_ids"], strict=True)
        ][: record["n_secrets"]]
        side.graves = [int(card) for card in record["graveyard"][: record["n_graveyard"]]]
        side.hero_class = HeroClassCode(int(record["hero_class"])).name.lower()
        held = [[int(one[name]) for name in ("cost", "attack", "health")] for one in record["hand_modifiers"]]
        side.hand = [
            COIN if card == -1 else Held(card, *held[place]) if any(held[place]) else int(card)
            for place, card in enumerate(record["hand"][: record["n_hand"]])
        ]
        side.deck = [int(card) for card in record["deck"][: record["n_deck"]][::-1]]
        side.board = [read_minion(one, game, side) for one in record["board"][: record["n_board"]]]
    return game


def read_minion(record, game, side):
    minion = Minion(game.cards, int(record["card"]), side, int(record["entity_id"]))
    minion.more_attack, minion.more_health = int(record["aura_attack"]), int(record["aura_health"])
    minion.more_keywords = words_of(int(record["aura_keywords"]), Keyword)
    for name in ("attack", "health", "max_health", "spell_damage"):
        setattr(minion, name, int(record[name]))
    minion.passing, minion.race = int(record["turn_attack"]), Race(int(record["race"])).name.lower()
    minion.keywords = words_of(int(record["keywords"]), Keyword)
    minion.traits = words_of(int(record["traits"]), Trait) - {"deathrattle", "acts"}
    minion.gifts = [(int(gift) & ~GRANTED_BY_OPPONENT) - 1 for gift in record["granted_effects"] if gift]
    minion.theirs = {
        id(game.cards[(int(gift) & ~GRANTED_BY_OPPONENT) - 1])
        for gift in record["granted_effects"]
        if gift & GRANTED_BY_OPPONENT
    }
    minion.arrived = bool(record["arrived"])
    minion.made = max(0, minion.attacks - int(record["attacks_left"]))
    return minion


def differences(ours, theirs, path=""):
    """Where two records differ, field by field: "sides.0.board.2.attack: 3, 4"."""
    if ours.shape:
        inner = [(place, ours[place], theirs[place]) for place in range(len(ours))]
    elif ours.dtype.names:
        inner = [(name, ours[name], theirs[name]) for name in ours.dtype.names]
    else:
        return [f"{path[1:]}: {ours}, {theirs}"] if ours != theirs else []
    return [line for name, one, other in inner for line in differences(one, other, f"{path}.{name}")]
