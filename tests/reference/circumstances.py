"""Conditions and counts of effects.csv in the reference game, and what a game keeps because cards ask for it."""

from tests.reference.plain import COIN

KEPT = {
    "combo": "played", "enemy_played": "played", "played": "played", "spells": "spells", "totems": "totems", "died": "perished",
    "minions_died_this_turn": "perished", "hero_damaged_this_turn": "hurt_now", "elemental_last_turn": "elementals", "elementals": "elementals", "overloaded": "overloaded",
    "powers": "powers", "secrets": "secrets_played",
}  # fmt: skip
"""Words of conditions and counts, and the counter of a player that each needs."""


def kept_by(cards):
    """The counters that the cards of a game ask for."""
    words = {word for card in cards for row in card["rows"] for word in (row.condition, row.count)}
    return {KEPT[word] for word in words if word in KEPT}


def other_side(game, side):
    return game.sides[1 - game.sides.index(side)]


def others(side, source):
    return [one for one in side.board if one is not source]


def dying(one):
    return one is None or one.dying or (one.is_minion and one not in one.side.board)


def holds(game, what):
    """Whether a row's condition holds."""
    row = what.row
    if not row.condition:
        return True
    return MEANINGS[row.condition](game, what, row.condition_arg) != row.unless


def deck_facts(game, what):
    return [game.cards[card] for card in what.side.deck if card != COIN]


def is_minion_of(facts, race):
    return facts["kind"] == "minion" and facts["race"] in (race, "all")


MEANINGS = {
    "mana_full": lambda game, what, arg: what.side.crystals == 10,
    "has_target": lambda game, what, arg: what.aim is not None,
    "has_weapon": lambda game, what, arg: what.side.weapon is not None,
    "enemy_turn": lambda game, what, arg: game.sides[game.active] is not what.side,
    "combo": lambda game, what, arg: what.side.played > 0,
    "damaged": lambda game, what, arg: what.source.damaged,
    "health_at_most": lambda game, what, arg: what.side.health <= arg,
    "enemy_health_at_most": lambda game, what, arg: other_side(game, what.side).health <= arg,
    "enemy_minions": lambda game, what, arg: len(other_side(game, what.side).board) >= arg,
    "own_minions": lambda game, what, arg: len(others(what.side, what.source)) >= arg,
    "race": lambda game, what, arg: any(one.is_of(arg) for one in others(what.side, what.source)),
    "holds_race": lambda game, what, arg: (
        sum(is_minion_of(game.cards[card], arg) for card in what.side.hand if card != COIN)
        > (what.playing is not None and is_minion_of(what.playing, arg))
    ),
    "empty_handed": lambda game, what, arg: not what.side.hand,
    "enemy_hand": lambda game, what, arg: len(other_side(game, what.side).hand) >= arg,
    "target_dying": lambda game, what, arg: dying(what.target),
    "target_race": lambda game, what, arg: (
        what.target is not None and what.target.is_minion and what.target.is_of(arg)
    ),
    "target_own": lambda game, what, arg: (
        what.target is not None
        and (what.target.side if what.target.is_minion else what.target) is what.side
        and (not arg or (what.target.is_minion and what.target.is_of(arg)))
    ),
    "target_frozen": lambda game, what, arg: what.target is not None and "frozen" in what.target.traits,
    "spell_damage": lambda game, what, arg: any(one.spell_damage for one in what.side.board),
    "secret": lambda game, what, arg: bool(what.side.secrets),
    "armour": lambda game, what, arg: what.side.armour >= arg,
    "weapon_attack": lambda game, what, arg: what.side.weapon is not None and what.side.weapon_attack >= arg,
    "own_keyword": lambda game, what, arg: any(arg in one.keywords for one in others(what.side, what.source)),
    "enemy_keyword": lambda game, what, arg: any(
        arg in one.keywords for one in other_side(game, what.side).board
    ),
    "enemy_frozen": lambda game, what, arg: any(
        "frozen" in one.traits for one in [other_side(game, what.side), *other_side(game, what.side).board]
    ),
    "minion_attack": lambda game, what, arg: any(one.attack >= arg for one in what.side.board),
    "minion_health": lambda game, what, arg: any(one.health >= arg for one in others(what.side, what.source)),
    "attack": lambda game, what, arg: what.source.attack >= arg,
    "attacks_hero": lambda game, what, arg: (
        what.foe is what.side or (not what.foe.is_minion and what.side is game.sides[game.active])
    ),
    "defender_dying": lambda game, what, arg: dying(what.foe),
    "alone": lambda game, what, arg: sum(len(side.board) for side in game.sides) <= 1,
    "no_duplicates": lambda game, what, arg: len(set(known(what.side.deck))) == len(known(what.side.deck)),
    "only_odd": lambda game, what, arg: all(card["cost"] % 2 for card in deck_facts(game, what)),
    "only_even": lambda game, what, arg: not any(card["cost"] % 2 for card in deck_facts(game, what)),
    "no_cost": lambda game, what, arg: all(card["cost"] != arg for card in deck_facts(game, what)),
    "minions_died_this_turn": lambda game, what, arg: sum(side.perished for side in game.sides) >= arg,
    "hero_damaged_this_turn": lambda game, what, arg: what.side.hurt_now > 0,
    "elemental_last_turn": lambda game, what, arg: what.side.elementals_before > 0,
    "dying": lambda game, what, arg: dying(what.source),
}


MEANINGS |= {
    "room": lambda game, what, arg: what.side.room,
    "enemy_played": lambda game, what, arg: other_side(game, what.side).played >= arg,
}


def known(deck):
    return [card for card in deck if card != COIN]


def count(game, what):
    """What the amounts of a row are multiplied by."""
    row = what.row
    return COUNTS[row.count](game, what, row.count_arg) if row.count else 1


def attack_of(one):
    return one.attack if one is not None and one.is_minion and one in one.side.board else 0


COUNTS = {
    "other_minions": lambda game, what, arg: len(others(what.side, what.source)),
    "enemy_minions": lambda game, what, arg: len(other_side(game, what.side).board),
    "all_other_minions": lambda game, what, arg: sum(len(others(side, what.source)) for side in game.sides),
    "hand": lambda game, what, arg: len(what.side.hand),
    "other_hand": lambda game, what, arg: max(0, len(what.side.hand) - 1),
    "enemy_hand": lambda game, what, arg: len(other_side(game, what.side).hand),
    "weapon_attack": lambda game, what, arg: what.side.weapon_attack,
    "durability": lambda game, what, arg: what.side.durability,
    "enemy_durability": lambda game, what, arg: other_side(game, what.side).durability,
    "enemy_weapon_attack": lambda game, what, arg: other_side(game, what.side).weapon_attack,
    "hero_attack": lambda game, what, arg: what.side.attack + what.side.weapon_attack,
    "armour": lambda game, what, arg: what.side.armour,
    "damage_taken": lambda game, what, arg: what.side.max_health - what.side.health,
    "died": lambda game, what, arg: sum(side.perished for side in game.sides),
    "played": lambda game, what, arg: what.side.played,
    "event": lambda game, what, arg: what.amount,
    "other_race": lambda game, what, arg: sum(one.is_of(arg) for one in others(what.side, what.source)),
    "all_other_race": lambda game, what, arg: sum(
        one.is_of(arg) for side in game.sides for one in others(side, what.source)
    ),
    "damaged": lambda game, what, arg: sum(one.damaged for side in game.sides for one in side.board),
    "own_damaged": lambda game, what, arg: sum(one.damaged for one in [what.side, *what.side.board]),
    "own_attack": lambda game, what, arg: attack_of(what.source),
    "target_attack": lambda game, what, arg: attack_of(what.target),
    "totems": lambda game, what, arg: what.side.totems,
    "spells": lambda game, what, arg: what.side.spells,
    "mana": lambda game, what, arg: what.side.mana,
    "overloaded": lambda game, what, arg: what.side.overloaded,
    "powers": lambda game, what, arg: what.side.powers,
    "secrets": lambda game, what, arg: what.side.secrets_played,
    "elementals": lambda game, what, arg: what.side.elementals_before,
    "enemy_deathrattles": lambda game, what, arg: sum(
        bool(one.deathrattles) for one in other_side(game, what.side).board
    ),
}


def beside(one):
    board = one.side.board
    place = board.index(one) if one in board else -9
    return [board[other] for other in (place - 1, place + 1) if 0 <= other < len(board)]


COUNTS |= {
    "target_health": lambda game, what, arg: (
        what.target.health
        if what.target is not None and what.target.is_minion and what.target in what.target.side.board
        else 0
    ),
    "neighbours_attack": lambda game, what, arg: sum(one.attack for one in beside(what.source)),
    "neighbours_health": lambda game, what, arg: sum(one.health for one in beside(what.source)),
    "shields": lambda game, what, arg: sum(
        "divine_shield" in one.keywords for side in game.sides for one in side.board
    ),
}


def is_about(row, facts):
    """Whether a row that changes costs is about a card; without facts it is The Coin, a spell."""
    if facts is None:
        return not row.of.tests and (not row.of.kinds or "spell" in row.of.kinds)
    return row.of.passes(facts)
