"""What a turn has to gain from, counted for its upper bound (`ilp_agent.search.bound`); compiled.

The tally of a position (dtype `TALLY`) counts mana, attackers, minions and spells in hand, and how often each
trigger can fire at most: in stages, since an effect of one stage may cause events of later stages alone.
"""

import numpy as np

from engine.codes import BOARD_SIZE, COIN, HAND_SIZE, Keyword
from engine.effect_codes import (
    ENEMY,
    HEROES,
    ONLY_ITSELF,
    OWN,
    CardKind,
    Op,
    Pick,
    Trait,
    Trigger,
)
from engine.effects.legal_actions import current_cost
from engine.jit import njit_no_alloc

UNBOUNDED = 1e200
"""Bound of a position with effects that are not bounded here."""


FIRST, BY_ACTIONS, BY_SUMMONS, BY_CHANGES, NEVER, UNKNOWN_TRIGGER = range(6)
"""Stages of triggers: a row of one stage may cause events of later stages alone."""


FIRST_BITS = sum(
    1 << trigger for trigger in (Trigger.PLAY, Trigger.DEATHRATTLE, Trigger.TURN_END, Trigger.AURA)
)
NEVER_BITS = sum(
    1 << trigger for trigger in (Trigger.TURN_START, Trigger.COST, Trigger.IN_DECK, Trigger.DISCARDED_ITSELF)
)
EVENT_BITS = ((1 << (max(Trigger) + 1)) - 1) & ~(FIRST_BITS | NEVER_BITS)
"""Bits of the triggers of later stages, as in `trigger_bits` of a card."""


@njit_no_alloc
def stage_of(effect: np.void) -> int:
    """Stage at which the events that trigger a row are counted."""
    trigger = effect["trigger"]
    if trigger in (Trigger.PLAY, Trigger.DEATHRATTLE, Trigger.TURN_END, Trigger.AURA):
        return FIRST
    if trigger in (Trigger.TURN_START, Trigger.COST, Trigger.IN_DECK, Trigger.DISCARDED_ITSELF):
        return NEVER
    if trigger in (Trigger.PLAYED, Trigger.CAST, Trigger.AFTER_CAST, Trigger.AFTER_PLAYED):
        return BY_ACTIONS
    if trigger in (Trigger.OVERLOADED, Trigger.POWER_USED, Trigger.ATTACKS, Trigger.AFTER_ATTACK):
        return BY_ACTIONS
    if trigger == Trigger.DISCARDED:
        return BY_ACTIONS
    if trigger in (Trigger.SUMMONED, Trigger.AFTER_SUMMONED):
        return BY_SUMMONS
    if trigger == Trigger.DAMAGED:
        return BY_ACTIONS if effect["on_side"] & ONLY_ITSELF else BY_CHANGES
    if trigger in (Trigger.DIED, Trigger.AFTER_DEATH, Trigger.HEALED):
        return BY_CHANGES
    return UNKNOWN_TRIGGER


@njit_no_alloc
def n_events(effect: np.void, attacks: int, tally: np.void) -> int:
    """Most events of the rest of the turn that trigger a row of an own card.

    Args:
        effect: the row.
        attacks: attacks that its minion has left; for a weapon, its hero.
        tally: dtype `TALLY`.
    """
    trigger = effect["trigger"]
    itself = effect["on_side"] & ONLY_ITSELF
    if trigger in (Trigger.PLAYED, Trigger.CAST, Trigger.AFTER_CAST, Trigger.AFTER_PLAYED):
        return int(tally["plays"])
    if trigger == Trigger.OVERLOADED:  # with its crystals as the row's multiplier
        return int(tally["overload"])
    if trigger == Trigger.DISCARDED:
        return int(tally["discards"])
    if trigger in (Trigger.SUMMONED, Trigger.AFTER_SUMMONED):
        return int(tally["summons"])
    if trigger in (Trigger.ATTACKS, Trigger.AFTER_ATTACK):
        return attacks if itself else int(tally["attacks"])
    if trigger == Trigger.DAMAGED:
        return int(attacks + tally["hits_own"] if itself else 2 * tally["attacks"] + tally["hits"])
    if trigger in (Trigger.DIED, Trigger.AFTER_DEATH):
        return int(2 * BOARD_SIZE + tally["summons"])
    if trigger == Trigger.HEALED:
        return int(tally["heals"])
    return 1


@njit_no_alloc
def n_targets(effect: np.void, most: int) -> int:
    """Most targets of a row on one side; `most` is the largest number of characters there."""
    pick, times = effect["pick"], int(effect["times"])
    if pick == Pick.ALL or times < 0:
        return most
    if pick in (Pick.NEXT_TO_SELF, Pick.NEXT_TO_TARGET):
        return 2 * max(times, 1)
    return max(times, 1)


@njit_no_alloc
def count_row(effect: np.void, cards: np.ndarray, events: int, stage: int, tally: np.void) -> None:
    """Count what a row can cause: hits, heals, summons and more. `tally` is modified in place.

    Args:
        effect: a row of an own card.
        cards: the card table.
        events: times that it is triggered.
        stage: of its trigger.
        tally: dtype `TALLY`.
    """
    op, side = effect["op"], effect["side"]
    if op == Op.DAMAGE:
        hits = n_targets(effect, BOARD_SIZE + 1)
        if effect["pick"] == Pick.SPLIT:
            hits = max(int(effect["amount"]) * max(int(effect["times"]), 1), 1) + int(tally["spell_damage"])
        if side & OWN or effect["pick"] in (Pick.SELF, Pick.SUBJECT):
            tally["hits_own"] += events * hits
            if stage != FIRST:
                tally["known"] = 0
        if stage == BY_CHANGES:
            tally["known"] = 0
        tally["hits"] += 2 * events * hits
    elif op in (Op.HEAL, Op.RESTORE):
        tally["heals"] += 2 * events * n_targets(effect, BOARD_SIZE + 1)
        tally["protects"] = max(tally["protects"], 1)
        if stage == BY_CHANGES:
            tally["known"] = 0
    elif op in (Op.SUMMON, Op.JADE):
        if side & OWN:
            tally["summons"] += events * max(int(effect["times"]), 1)
            if stage >= BY_SUMMONS:
                tally["known"] = 0
        if side & ENEMY:
            tally["enemies"] = BOARD_SIZE
        if op == Op.SUMMON and effect["amount"] >= 0:
            count_token(cards, effect, events, stage, tally)
    elif op == Op.BUFF:
        targets = events * n_targets(effect, BOARD_SIZE)
        more = max(int(effect["amount"]), 0) + max(int(effect["amount2"]), 0)
        tally["stats"] += targets * more
        if effect["keywords"] & Keyword.DIVINE_SHIELD:
            tally["shields"], tally["protects"] = 1, 2
        if effect["keywords"] & Keyword.TAUNT:
            tally["taunts"] = 1
        if effect["amount2"] > 0:
            tally["protects"] = max(tally["protects"], 1)
        if effect["amount"] < 0 or effect["amount2"] < 0:
            tally["protects"] = 2
    elif op == Op.SET:
        targets = events * n_targets(effect, BOARD_SIZE)
        tally["stats"] += targets * (max(int(effect["amount"]), 0) + max(int(effect["amount2"]), 0))
        tally["protects"] = 2
    elif op in (Op.TRANSFORM, Op.CONTROL, Op.SILENCE, Op.TRAIT):
        tally["protects"] = 2
    elif op == Op.DISCARD:
        tally["discards"] += events * (int(effect["times"]) if effect["times"] > 0 else 10)
        if stage != FIRST:
            tally["known"] = 0
    elif op == Op.EQUIP:
        if effect["amount"] >= 0 and effect["side"] & OWN:
            weapon = cards[effect["amount"]]
            tally["weapon_attack"] = max(tally["weapon_attack"], weapon["attack"])
            tally["durability"] = max(tally["durability"], weapon["health"])
    elif op == Op.WEAPON:
        if side & ENEMY:
            tally["disarms"] = 1
        tally["more_attack"] += events * max(int(effect["amount"]), 0)
        tally["more_durability"] += events * max(int(effect["amount2"]), 0)
    elif op == Op.DISARM:
        tally["disarms"] = 1
    if op == Op.BUFF and effect["kind"] & HEROES:
        tally["hero_attack"] += events * max(int(effect["amount"]), 0)


@njit_no_alloc
def count_token(cards: np.ndarray, effect: np.void, events: int, stage: int, tally: np.void) -> None:
    """Count the minions that a row summons. `tally` is modified in place."""
    n = events * max(int(effect["times"]), 1)
    most = 0
    for number in range(int(effect["amount"]), max(int(effect["amount"]), int(effect["amount2"])) + 1):
        token = cards[number]
        most = max(most, int(token["attack"]) + int(token["health"]))
        if token["keywords"] & (Keyword.CHARGE | Keyword.RUSH):
            tally["attacks"] += 2 * n
            if stage != FIRST:
                tally["known"] = 0
        tally["spell_damage"] += n * token["spell_damage"]
        if token["keywords"] & Keyword.DIVINE_SHIELD:
            tally["shields"] = 1
        if token["keywords"] & Keyword.TAUNT:
            tally["taunts"] = 1
        if token["keywords"] & (Keyword.LIFESTEAL | Keyword.POISONOUS):
            tally["known"] = 0
        for row in range(token["n_effects"]):
            trigger, op = token["effects"][row]["trigger"], token["effects"][row]["op"]
            simple = op in (Op.HEAL, Op.DRAW, Op.ARMOUR, Op.BUFF)
            tally["heals"] += 2 * n * (BOARD_SIZE + 1) if op == Op.HEAL else 0
            if trigger != Trigger.TURN_START and not (trigger == Trigger.TURN_END and simple):
                tally["known"] = 0
    tally["stats"] += n * most


@njit_no_alloc
def own_minions(tally: np.void) -> int:
    """Most minions on the own board at once."""
    return int(min(BOARD_SIZE, tally["minions"] + tally["summons"]))


@njit_no_alloc
def take_stock(state: np.void, cards: np.ndarray, start: np.void, tally: np.void) -> None:
    """List the cards that can be played, and count what the turn can still cause. `tally` is modified."""
    seat = start["seat"]
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    tally["known"], tally["plays"], tally["attacks"], tally["summons"] = 1, 0, 0, 0
    tally["hits_own"], tally["hits"], tally["heals"], tally["spell_damage"] = 0, 0, 0, 0
    tally["stats"], tally["shields"], tally["taunts"], tally["protects"] = 0, 0, 0, 0
    tally["discards"], tally["overload"], tally["lifesteal"], tally["strikes"] = 0, 0, 0, 1
    tally["minions"], tally["enemies"] = own["n_board"], enemy["n_board"]
    tally["fatigue"] = 1 if enemy["n_deck"] < HAND_SIZE else 0
    tally["weapon_attack"], tally["durability"] = own["weapon_attack"], own["durability"]
    tally["more_attack"], tally["more_durability"], tally["hero_attack"] = 0, 0, 0
    tally["disarms"], tally["n"] = 0, 0
    mana = most_mana(own, cards)
    for place in range(own["n_hand"] + 1):
        number, cost = int(own["power"]) - 1, 0
        if place < own["n_hand"]:
            number = int(own["hand"][place])
            tally["plays"] += 1 if number == COIN else 0
        elif own["power_used"]:
            continue
        if number < 0:
            continue
        card = cards[number]
        cost = int(card["cost"])
        if place < own["n_hand"]:
            cost = 0 if card["trigger_bits"] >> Trigger.COST & 1 else current_cost(state, cards, seat, place)
        if cost > mana:
            continue
        n = tally["n"]
        tally["card"][n], tally["cost"][n] = place, cost
        tally["n"] += 1
        if place < own["n_hand"]:
            tally["plays"] += 1
        tally["spell_damage"] += card["spell_damage"]
        tally["overload"] += card["overload"]
        if card["keywords"] & Keyword.LIFESTEAL:
            tally["lifesteal"] = 1
        if card["options"]:
            tally["known"] = 0
        if card["kind"] == CardKind.MINION:
            held = own["hand_modifiers"][place]
            tally["summons"] += 1
            tally["stats"] += int(card["attack"]) + int(card["health"])
            tally["stats"] += max(int(held["attack"]), 0) + max(int(held["health"]), 0)
            count_keywords(card["keywords"], tally)
            if card["keywords"] & (Keyword.CHARGE | Keyword.RUSH):
                tally["attacks"] += 2
            if card["traits"] & (Trait.CLEAVES | Trait.FREEZES):
                tally["known"] = 0
        elif card["kind"] == CardKind.WEAPON:
            held = own["hand_modifiers"][place]
            attack, durability = int(card["attack"]), int(card["health"])
            tally["weapon_attack"] = max(tally["weapon_attack"], attack + max(int(held["attack"]), 0))
            tally["durability"] = max(tally["durability"], durability + max(int(held["health"]), 0))
            if card["keywords"] & ~Keyword.LIFESTEAL:
                tally["known"] = 0
    for place in range(own["n_board"]):
        minion = own["board"][place]
        tally["attacks"] += minion["attacks_left"]
        tally["spell_damage"] += minion["spell_damage"]
        tally["stats"] += int(minion["attack"]) + int(minion["health"])
        count_keywords(minion["keywords"], tally)
        if minion["granted_effects"][0] or minion["traits"] & (Trait.CLEAVES | Trait.STOLEN):
            tally["known"] = 0
    for place in range(enemy["n_board"]):
        if enemy["board"][place]["granted_effects"][0]:
            tally["known"] = 0
    tally["attacks"] += max(int(own["hero_attacks_left"]), 0)
    for place in range(own["n_deck"] + own["n_hand"]):  # minions that may summon themselves
        number = own["deck"][place] if place < own["n_deck"] else own["hand"][place - own["n_deck"]]
        bits = 1 << Trigger.IN_DECK if place < own["n_deck"] else 1 << Trigger.DISCARDED_ITSELF
        if number >= 0 and int(cards[number]["trigger_bits"]) & bits:
            tally["summons"] += 1
            tally["attacks"] += 2


@njit_no_alloc
def count_keywords(keywords: int, tally: np.void) -> None:
    """Count the keywords of an own minion. `tally` is modified in place."""
    if keywords & Keyword.DIVINE_SHIELD:
        tally["shields"] = 1
    if keywords & Keyword.TAUNT:
        tally["taunts"] = 1
    if keywords & Keyword.LIFESTEAL:
        tally["lifesteal"] = 1
    if keywords & Keyword.WINDFURY:
        tally["strikes"] = 2


@njit_no_alloc
def most_mana(own: np.void, cards: np.ndarray) -> int:
    """Most mana that the player can spend, with The Coin and cards that give mana."""
    mana = int(own["mana"])
    for place in range(own["n_hand"]):
        number = own["hand"][place]
        if number == COIN:
            mana += 1
        elif number >= 0:
            card = cards[number]
            for row in range(card["n_effects"]):
                if card["effects"][row]["op"] == Op.MANA:
                    mana += max(int(card["effects"][row]["amount"]), 0)
    return mana


@njit_no_alloc
def count_card(
    card: np.void, cards: np.ndarray, played: bool, attacks: int, stage: int, tally: np.void
) -> None:
    """Count what the rows of an own card can cause whose triggers are of a stage. `tally` is modified.

    Args:
        card: in play, or one that can be played.
        cards: the card table.
        played: whether it is played now, so that its Battlecry or spell takes effect.
        attacks: attacks that it has left.
        stage: of the triggers.
        tally: dtype `TALLY`.
    """
    if stage > FIRST and not int(card["trigger_bits"]) & EVENT_BITS:
        return
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        if is_active(card, effect, played) and stage_of(effect) == stage:
            count_row(effect, cards, n_events(effect, attacks, tally), stage, tally)


@njit_no_alloc
def is_active(card: np.void, effect: np.void, played: bool) -> bool:
    """Whether a row of an own card can take effect this turn: not a Secret's, nor a Battlecry in play."""
    if effect["trigger"] == Trigger.PLAY:
        return played
    return bool(card["kind"] != CardKind.SPELL)


@njit_no_alloc
def count_enemy_rows(enemy: np.void, cards: np.ndarray, tally: np.void) -> None:
    """Count the hits by the opponent's cards in play. `tally` is modified in place."""
    for place in range(enemy["n_board"]):
        card = cards[enemy["board"][place]["card"]]
        for row in range(card["n_effects"]):
            op = card["effects"][row]["op"]
            if op in (Op.SUMMON, Op.JADE):
                tally["enemies"] = BOARD_SIZE
            if op == Op.DAMAGE and card["effects"][row]["trigger"] != Trigger.PLAY:
                tally["hits_own"] += BOARD_SIZE + 1
                tally["hits"] += 2 * (BOARD_SIZE + 1)
