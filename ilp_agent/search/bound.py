"""Upper bound of what the rest of a turn can add to the objective; compiled.

A bound says how far a plan can be from the best one, and which positions a search need not enter. It adds up
what mana, attackers and cards left can gain at most, each by itself:

- own side: what the affordable cards bring and change, by mana as a fractional knapsack; own minions lose
  nothing;
- enemy side: the smaller of two numbers. All enemies are removed and all damage is dealt besides; or each
  attacker and each point of other damage gains the best share of one enemy, less what an attack costs the
  attacker, with some enemies removed for nothing.

Effects count with every condition met and with the most targets; triggered effects with the most events
that the turn can have. A card whose effects are not bounded here makes the bound infinite (`UNBOUNDED`).
Source of the method: relaxations of the turn program (docs/turn-program.md, "How good a plan can be").
"""

import numpy as np

from engine.codes import BOARD_SIZE, Keyword
from engine.effect_codes import (
    ENEMY,
    HEROES,
    OWN,
    CardFilter,
    CardKind,
    Count,
    Op,
    Pick,
    Trait,
    Trigger,
)
from engine.jit import njit_no_alloc
from engine.state import guards
from ilp_agent.features import direct_damage, health_value, minion_end_value
from ilp_agent.search.tally import (
    BY_CHANGES,
    FIRST,
    NEVER,
    UNBOUNDED,
    UNKNOWN_TRIGGER,
    count_card,
    count_enemy_rows,
    count_keywords,
    is_active,
    most_mana,
    n_events,
    n_targets,
    own_minions,
    stage_of,
    take_stock,
)
from ilp_agent.search.transposition import initial_health
from ilp_agent.weights import Term

LARGEST_BOUND = 1e110
"""Bounds beyond this are not bounds: shares of `UNBOUNDED`. No objective is as large (`MAX_WEIGHT`)."""

ALL_ENEMIES = 100
"""Number of removals that stands for all enemies."""


@njit_no_alloc
def body_value(attack: int, health: int, keywords: int, weights: np.ndarray) -> float:
    """Value of a minion that enters the own board."""
    return float(weights[Term.SURVIVE] * health + minion_end_value(attack, health, keywords, weights))


@njit_no_alloc
def removal_value(minion: np.void, weights: np.ndarray) -> float:
    """Most that an enemy minion can cost the objective: gained if it is removed."""
    attack = max(int(minion["attack"]) - int(minion["turn_attack"]), 0)
    health = weights[Term.ENEMY_HEALTH] + weights[Term.WOUND]
    return float(weights[Term.THREAT] * attack + health * minion["health"])


@njit_no_alloc
def add_row(
    effect: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    start: np.void,
    own: np.void,
    events: int,
    bonus: int,
    tally: np.void,
) -> None:
    """Add the most that a row gains to `gain`, `points` and `removals` of `tally`, modified in place.

    Args:
        effect: a row of an own card.
        cards: the card table.
        weights: indexed by `Term`.
        start: dtype `START`.
        own: the player's side.
        events: times that it is triggered.
        bonus: Spell Damage that it may have.
        tally: dtype `TALLY`; `known` becomes 0 if the gain is not bounded here.
    """
    op, side = effect["op"], effect["side"]
    on_self = effect["pick"] in (Pick.SELF, Pick.SUBJECT)
    counted = effect["count"] == Count.EVENT and effect["trigger"] == Trigger.OVERLOADED
    if effect["count"] != 0 and not counted:
        tally["known"] = 0
        return
    times = events * max(int(effect["times"]), 1)
    most = max(int(effect["amount"]), int(effect["amount2"]), 0)
    per_attack = weights[Term.ATTACK] + weights[Term.BODY] + tally["shields"] * weights[Term.SHIELD]
    per_health = weights[Term.HEALTH] + weights[Term.BODY] + tally["shields"] * weights[Term.SHIELD]
    per_health += tally["taunts"] * weights[Term.TAUNT]
    if op == Op.DAMAGE:
        if effect["amount"] < 0:
            tally["known"] = 0
        elif side & ENEMY or on_self:
            targets = n_targets(effect, int(tally["enemies"]) + 1)
            if effect["pick"] == Pick.SPLIT:
                tally["points"] += events * (max(int(effect["times"]), 1) * int(effect["amount"]) + bonus)
            else:
                each = most + bonus * max(int(effect["times"]), 1)
                tally["points"] += events * targets * each
    elif op == Op.HEAL:
        targets = events * n_targets(effect, BOARD_SIZE + 1)
        tally["gain"] += targets * max(int(effect["amount"]) + bonus, 0) * max(per_health, weights[Term.HERO])
    elif op == Op.ARMOUR:
        tally["gain"] += times * most * weights[Term.HERO]
    elif op == Op.DRAW:
        if side & ENEMY and tally["fatigue"]:
            tally["known"] = 0
        if side & OWN or on_self:
            tally["gain"] += events * max(int(effect["amount"]), 1) * drawn_value(weights, start)
    elif op in (Op.DISCOVER, Op.DISCOVER_FROM_DECK, Op.TRACK):
        tally["gain"] += times * drawn_value(weights, start)
    elif op == Op.ADD:
        if effect["amount"] >= 0 and side & OWN:
            tally["known"] = 0
        tally["gain"] += times * drawn_value(weights, start)
    elif op == Op.BUFF:
        targets = events * n_targets(effect, own_minions(tally))
        if effect["keywords"] & ~(Keyword.TAUNT | Keyword.DIVINE_SHIELD | Keyword.STEALTH):
            tally["known"] = 0
        attack = max(int(effect["amount"]), 0)
        tally["gain"] += targets * (attack * per_attack + max(int(effect["amount2"]), 0) * per_health)
        strikers = BOARD_SIZE if effect["trigger"] == Trigger.AURA and not on_self else targets
        tally["points"] += int(tally["strikes"]) * strikers * attack
        if effect["keywords"] & Keyword.DIVINE_SHIELD:
            tally["gain"] += targets * weights[Term.SHIELD] * tally["stats"]
        if effect["keywords"] & Keyword.TAUNT:
            tally["gain"] += targets * weights[Term.TAUNT] * tally["stats"]
        if side & ENEMY and (effect["amount"] < 0 or effect["amount2"] < 0):
            tally["removals"] += targets if effect["pick"] != Pick.ALL else ALL_ENEMIES
    elif op == Op.SET:
        if effect["kind"] & HEROES:
            tally["known"] = 0
        targets = events * n_targets(effect, own_minions(tally))
        attack, health = max(int(effect["amount"]), 0), max(int(effect["amount2"]), 0)
        if side & OWN or on_self:
            tally["gain"] += targets * (attack * per_attack + health * per_health)
            tally["points"] += 2 * targets * attack
        tally["removals"] += targets if effect["pick"] != Pick.ALL else ALL_ENEMIES
    elif op == Op.JADE:
        size = int(own["jade"]) + 2 + tally["summons"]
        tally["gain"] += times * body_value(size, size, 0, weights)
    elif op == Op.EQUIP:
        if (
            effect["amount"] < 0
            or effect["side"] & ENEMY
            or cards[effect["amount"]]["n_effects"] > 0
            or cards[effect["amount"]]["keywords"] & ~Keyword.TAUNT
        ):
            tally["known"] = 0
    elif op == Op.TRANSFORM:
        if effect["amount"] < 0 or cards[effect["amount"]]["n_effects"] > 0:
            tally["known"] = 0
        else:
            token = cards[effect["amount"]]
            if side & OWN or on_self:
                tally["gain"] += times * minion_end_value(
                    token["attack"], token["health"], token["keywords"], weights
                )
                tally["gain"] += times * weights[Term.SURVIVE] * token["health"]
                tally["points"] += 2 * times * token["attack"]
            tally["gain"] += times * weights[Term.WOUND] * token["health"]
            tally["removals"] += n_targets(effect, ALL_ENEMIES) * events
    elif op in (Op.DESTROY, Op.FREEZE):
        tally["removals"] += events * n_targets(effect, ALL_ENEMIES) if op == Op.DESTROY else 0
    elif op in (Op.BOUNCE, Op.RETURN_TO_DECK):
        if side & OWN or on_self:
            tally["known"] = 0
        tally["removals"] += events * n_targets(effect, ALL_ENEMIES)
    elif op == Op.BUFF_HAND:
        plays = int(tally["plays"])
        attack = max(int(effect["amount"]), 0)
        tally["gain"] += events * plays * (attack * per_attack + max(int(effect["amount2"]), 0) * per_health)
        tally["points"] += events * plays * 2 * attack
    elif op == Op.CRYSTALS:
        tally["gain"] += 2 * drawn_value(weights, start)
    elif op not in (
        Op.DISCARD,
        Op.DISARM,
        Op.WEAPON,
        Op.SHUFFLE,
        Op.COPY_TO_DECK,
        Op.MILL,
        Op.MANA,
        Op.TARGET_ONLY,
        Op.CHOOSE_POWER,
    ):
        tally["known"] = 0


@njit_no_alloc
def add_tokens(
    effect: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    start: np.void,
    own: np.void,
    events: int,
    tally: np.void,
) -> None:
    """Add the most that summoned minions gain to `tally`, modified in place; arguments as of `add_row`."""
    if effect["amount"] < 0 or effect["count"] != 0:
        tally["known"] = 0
        return
    times = events * max(int(effect["times"]), 1)
    most, points, wound = 0.0, 0, 0
    for number in range(int(effect["amount"]), max(int(effect["amount"]), int(effect["amount2"])) + 1):
        token = cards[number]
        most = max(most, body_value(token["attack"], token["health"], token["keywords"], weights))
        wound = max(wound, int(token["health"]))
        for row in range(token["n_effects"]):
            if token["effects"][row]["trigger"] == Trigger.TURN_END:
                add_row(token["effects"][row], cards, weights, start, own, times, 0, tally)
        if token["keywords"] & (Keyword.CHARGE | Keyword.RUSH):
            points = max(points, 2 * int(token["attack"]))
    if effect["side"] & OWN:
        tally["gain"] += times * most
        tally["points"] += times * points
    if effect["side"] & ENEMY:
        tally["gain"] += times * wound * weights[Term.WOUND]


@njit_no_alloc
def drawn_value(weights: np.ndarray, start: np.void) -> float:
    """Value of a hidden card that comes into the hand."""
    value = weights[Term.DRAW] + weights[Term.HAND] + weights[Term.HAND_MANA] * start["hidden_mana"]
    value += weights[Term.SPELL_DAMAGE] * start["hidden_damage"]
    return float(value + weights[Term.DAMAGE_SPELLS] * start["hidden_spells"])


@njit_no_alloc
def upper_bound(
    state: np.void, cards: np.ndarray, weights: np.ndarray, start: np.void, tally: np.void
) -> float:
    """Most that the rest of the turn can add to `end_value`.

    Args:
        state: dtype `engine.state.STATE`, of the player to move, not over.
        cards: the card table.
        weights: indexed by `Term`.
        start: dtype `ilp_agent.search.work.START`.
        tally: dtype `TALLY`. Modified in place.

    Returns:
        At least 0; `UNBOUNDED` if something is not bounded here.
    """
    seat = start["seat"]
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    if state["n_options"] > 0 or state["n_choices"] > 0 or weights[Term.FROZEN] > weights[Term.THREAT]:
        return UNBOUNDED
    take_stock(state, cards, start, tally)
    count_enemy_rows(enemy, cards, tally)
    weapon = int(own["weapon"]) if own["durability"] > 0 else -1
    strikes = max(int(own["hero_attacks_left"]), 0)
    if weapon >= 0:
        count_keywords(cards[weapon]["keywords"], tally)
        if cards[weapon]["keywords"] & ~Keyword.LIFESTEAL:
            return UNBOUNDED
    for stage in range(FIRST, BY_CHANGES + 1):
        for place in range(own["n_board"]):
            minion = own["board"][place]
            if not minion["traits"] & Trait.SILENCED:
                count_card(cards[minion["card"]], cards, False, minion["attacks_left"], stage, tally)
        if weapon >= 0:
            count_card(cards[weapon], cards, False, strikes, stage, tally)
        for n in range(tally["n"]):
            count_card(cards[played_card(own, tally["card"][n])], cards, True, 2, stage, tally)
    if tally["disarms"] and enemy["durability"] > 0 and cards[enemy["weapon"]]["n_effects"] > 0:
        return UNBOUNDED
    tally["gain"], tally["points"], tally["removals"] = 0.0, 0.0, 0
    add_enemy_rows(enemy, cards, weights, tally)
    for place in range(own["n_board"]):
        minion = own["board"][place]
        if not minion["traits"] & Trait.SILENCED:
            add_card(cards[minion["card"]], cards, weights, start, own, False, minion["attacks_left"], tally)
    if weapon >= 0:
        add_card(cards[weapon], cards, weights, start, own, False, strikes, tally)
    add_hidden_entries(own, cards, weights, tally)
    value = tally["gain"]
    free_points, removals = tally["points"], tally["removals"]
    for n in range(tally["n"]):
        tally["gain"], tally["points"], tally["removals"] = 0.0, 0.0, 0
        add_played(int(tally["card"][n]), cards, weights, start, own, tally)
        tally["gains"][n], tally["damage"][n] = max(tally["gain"], 0.0), tally["points"]
        removals += tally["removals"]
    if not tally["known"]:
        return UNBOUNDED
    mana = float(most_mana(own, cards))
    value += knapsack_bound(tally["gains"], tally, mana)
    free_points += knapsack_bound(tally["damage"], tally, mana)
    value += weapon_bound(own, enemy, weights, tally)
    hero = strikes * (
        max(int(own["weapon_attack"]), tally["weapon_attack"])
        + tally["more_attack"]
        + int(own["hero_attack"])
        + tally["hero_attack"]
    )
    others = float(free_points + hero)
    value += enemy_bound(own, enemy, cards, weights, start, others, int(removals), tally)
    if tally["lifesteal"]:
        for place in range(own["n_board"]):
            others += float(own["board"][place]["attacks_left"] * own["board"][place]["attack"])
        value += weights[Term.HERO] * others
    for place in range(enemy["n_board"]):
        minion = enemy["board"][place]
        lasting = int(minion["attack"]) - int(minion["turn_attack"])
        value += weights[Term.FROZEN] * max(int(minion["attack"]), lasting, 0)
    if enemy["n_board"] > 0:
        value += weights[Term.CLEAR]
    return float(value)


@njit_no_alloc
def played_card(own: np.void, place: int) -> int:
    """Card number at a hand position; the hero power is after the last."""
    return int(own["hand"][place]) if place < own["n_hand"] else int(own["power"]) - 1


@njit_no_alloc
def add_card(
    card: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    start: np.void,
    own: np.void,
    played: bool,
    attacks: int,
    tally: np.void,
) -> None:
    """Add the most that the rows of an own card gain to `tally`; arguments as of `count_card`, `add_row`."""
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        if not is_active(card, effect, played):
            continue
        stage = stage_of(effect)
        if stage == UNKNOWN_TRIGGER:
            tally["known"] = 0
        elif stage != NEVER:
            bonus = tally["spell_damage"] if card["kind"] == CardKind.SPELL else 0
            if effect["op"] == Op.DAMAGE and card["keywords"] & (Keyword.POISONOUS | Keyword.LIFESTEAL):
                tally["known"] = 0
            if effect["op"] == Op.MANA and not (played and effect["trigger"] == Trigger.PLAY):
                tally["known"] = 0
            events = n_events(effect, attacks, tally)
            if effect["op"] == Op.SUMMON:
                add_tokens(effect, cards, weights, start, own, events, tally)
            else:
                add_row(effect, cards, weights, start, own, events, bonus, tally)


@njit_no_alloc
def add_played(
    place: int, cards: np.ndarray, weights: np.ndarray, start: np.void, own: np.void, tally: np.void
) -> None:
    """Add the most that a card or the hero power gains if it is played to `tally`, modified in place."""
    card = cards[played_card(own, place)]
    add_card(card, cards, weights, start, own, True, 2, tally)
    if card["kind"] == CardKind.POWER:
        return
    tally["gain"] += weights[Term.PLAY] * card["value"]
    if card["tags"] & CardFilter.SECRET:
        tally["gain"] += weights[Term.SECRETS]
    dealt = direct_damage(card)
    tally["gain"] -= weights[Term.HAND] + (0.0 if dealt else weights[Term.HAND_MANA] * card["cost"])
    if dealt:
        tally["gain"] -= weights[Term.SPELL_DAMAGE] * dealt + weights[Term.DAMAGE_SPELLS]
    if card["kind"] == CardKind.MINION:
        held = own["hand_modifiers"][place]
        attack, health = max(int(held["attack"]), 0), max(int(held["health"]), 0)
        value = body_value(
            int(card["attack"]) + attack, int(card["health"]) + health, card["keywords"], weights
        )
        tally["gain"] += value + weights[Term.BODY] * (attack + health)
        if card["keywords"] & (Keyword.CHARGE | Keyword.RUSH):
            tally["points"] += (2 if card["keywords"] & Keyword.WINDFURY else 1) * (
                int(card["attack"]) + attack
            )


@njit_no_alloc
def knapsack_bound(values: np.ndarray, tally: np.void, mana: float) -> float:
    """Largest sum of values of the cards that can be played, of the last one a part, for some mana."""
    total, used = 0.0, 0
    while True:
        best, chosen = 0.0, -1
        for n in range(tally["n"]):
            if not used >> n & 1 and values[n] > 0.0:
                ratio = values[n] / (tally["cost"][n] + 1e-6)
                if ratio > best:
                    best, chosen = ratio, n
        if chosen < 0:
            return total
        used |= 1 << chosen
        cost = float(tally["cost"][chosen])
        if cost > mana:
            return float(total + values[chosen] * mana / cost)
        total += values[chosen]
        mana -= cost


@njit_no_alloc
def weapon_bound(own: np.void, enemy: np.void, weights: np.ndarray, tally: np.void) -> float:
    """Most that changes of both weapons gain."""
    most = (tally["weapon_attack"] + tally["more_attack"]) * (tally["durability"] + tally["more_durability"])
    value = weights[Term.WEAPON] * max(most - own["weapon_attack"] * own["durability"], 0)
    if tally["disarms"]:
        value += weights[Term.ENEMY_WEAPON] * (enemy["weapon_attack"] * enemy["durability"])
    return float(value)


@njit_no_alloc
def add_hidden_entries(own: np.void, cards: np.ndarray, weights: np.ndarray, tally: np.void) -> None:
    """Add minions that come from the deck when a card is played, or by being discarded, to `tally`."""
    for place in range(own["n_deck"]):
        number = own["deck"][place]
        if number >= 0 and cards[number]["trigger_bits"] >> Trigger.IN_DECK & 1:
            add_entry(cards[number], Trigger.IN_DECK, weights, tally)
    if tally["discards"] == 0:
        return
    for place in range(own["n_hand"]):
        number = own["hand"][place]
        if number >= 0 and cards[number]["trigger_bits"] >> Trigger.DISCARDED_ITSELF & 1:
            add_entry(cards[number], Trigger.DISCARDED_ITSELF, weights, tally)


@njit_no_alloc
def add_entry(card: np.void, trigger: int, weights: np.ndarray, tally: np.void) -> None:
    """Add a minion that may summon itself to `tally`, modified in place."""
    if card["n_effects"] != 1 or card["effects"][0]["op"] not in (Op.RECRUIT, Op.SUMMON):
        tally["known"] = 0
    if card["effects"][0]["trigger"] != trigger or card["effects"][0]["amount"] > 0:
        tally["known"] = 0
    tally["gain"] += body_value(card["attack"], card["health"], card["keywords"], weights)
    if card["keywords"] & (Keyword.CHARGE | Keyword.RUSH):
        tally["points"] += 2 * card["attack"]


HELPS_ITS_OWNER = (
    Op.BUFF,
    Op.DRAW,
    Op.ARMOUR,
    Op.HEAL,
    Op.ADD,
    Op.EQUIP,
    Op.WEAPON,
    Op.JADE,
    Op.COPY_TO_HAND,
)
"""Operations of the opponent's cards that gain the player nothing if they affect that side alone."""


@njit_no_alloc
def add_enemy_rows(enemy: np.void, cards: np.ndarray, weights: np.ndarray, tally: np.void) -> None:
    """Add the most that the opponent's cards in play gain the player to `tally`, modified in place."""
    for place in range(enemy["n_board"]):
        card = cards[enemy["board"][place]["card"]]
        for row in range(card["n_effects"]):
            add_enemy_row(card["effects"][row], cards, weights, tally)


@njit_no_alloc
def add_enemy_row(effect: np.void, cards: np.ndarray, weights: np.ndarray, tally: np.void) -> None:
    """Add the most that a row of a card of the opponent in play gains the player to `tally`."""
    trigger, op = effect["trigger"], effect["op"]
    if trigger in (Trigger.PLAY, Trigger.TURN_START, Trigger.COST, Trigger.IN_DECK):
        return
    if trigger == Trigger.TURN_END and not effect["on_side"] & ENEMY:
        return
    once = trigger in (Trigger.DEATHRATTLE, Trigger.TURN_END)
    events = 1 if once else int(2 * tally["attacks"] + tally["hits"] + tally["plays"])
    harmless = not effect["side"] & ENEMY
    if op == Op.SUMMON and harmless and effect["amount"] >= 0:
        for number in range(int(effect["amount"]), max(int(effect["amount"]), int(effect["amount2"])) + 1):
            if cards[number]["n_effects"] > 0:
                tally["known"] = 0
            each = events * max(int(effect["times"]), 1) * int(cards[number]["health"])
            tally["gain"] += weights[Term.WOUND] * each
    elif op == Op.DAMAGE and (once or not effect["side"] & OWN) and effect["count"] == 0:
        if effect["side"] & OWN:
            most = max(int(effect["amount"]), int(effect["amount2"]), 0)
            tally["points"] += most * n_targets(effect, BOARD_SIZE + 1)
    else:
        known = harmless and op in HELPS_ITS_OWNER
        known = known and not (op == Op.JADE and weights[Term.WOUND] > 0.0)
        known = known and not (op == Op.DRAW and tally["fatigue"])
        known = known and (trigger != Trigger.AURA or op in (Op.BUFF, Op.WEAPON))
        tally["known"] = tally["known"] if known else 0


@njit_no_alloc
def enemy_bound(
    own: np.void,
    enemy: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    start: np.void,
    others: float,
    removals: int,
    tally: np.void,
) -> float:
    """Most that attacks, other damage and removals gain on the enemy side, a kill of its hero included.

    Args:
        own: the player's side.
        enemy: the opponent's side.
        cards: the card table.
        weights: indexed by `Term`.
        start: dtype `START`.
        others: damage other than that of minions' attacks.
        removals: enemies that effects may remove.
        tally: dtype `TALLY`; `protects` says whether an attack may cost less than now.
    """
    hit = max(weights[Term.FACE] + weights[Term.ENEMY_HERO], weights[Term.DAMAGE])
    total, poison, aura = others, False, False
    for place in range(own["n_board"]):
        minion = own["board"][place]
        total += minion["attacks_left"] * minion["attack"]
        poison = poison or (minion["keywords"] & Keyword.POISONOUS) != 0
    everything, most, guards_health = 0.0, 0.0, 0
    for place in range(enemy["n_board"]):
        minion = enemy["board"][place]
        everything += removal_value(minion, weights)
        most = max(most, removal_value(minion, weights))
        aura = aura or minion["aura_attack"] != 0 or minion["aura_health"] != 0
        if guards(minion):
            guards_health += minion["health"]
    value = everything + hit * total
    if not aura and removals < enemy["n_board"]:
        value = min(value, trade_bound(own, enemy, cards, weights, start, others, most * removals, tally))
    past_guards = removals > 0 or poison or aura or tally["protects"] == 2
    face = others + max(total - others - (0 if past_guards else guards_health), 0.0)
    if face >= enemy["health"] + enemy["armour"]:
        value += weights[Term.LETHAL]
    return float(value)


@njit_no_alloc
def trade_bound(
    own: np.void,
    enemy: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    start: np.void,
    others: float,
    removed: float,
    tally: np.void,
) -> float:
    """Smallest bound over sets of enemies that are removed for nothing, those worth most a hit first.

    The other enemies are worth to each attacker the share that its attack takes, less what the attack costs;
    arguments as of `enemy_bound`, and the value of removals.
    """
    granted, free, best = 0, 0.0, np.inf
    for _ in range(enemy["n_board"] + 1):
        value = free + removed
        for place in range(own["n_board"]):
            minion = own["board"][place]
            if minion["attacks_left"] > 0 and minion["attack"] > 0:
                value += minion["attacks_left"] * attacker_bound(
                    minion, enemy, cards, weights, start, granted, tally
                )
        best = min(best, value + points_bound(enemy, weights, others, granted))
        chosen, most = -1, -1.0
        for place in range(enemy["n_board"]):
            if not granted >> place & 1:
                ratio = removal_value(enemy["board"][place], weights) / max(
                    int(enemy["board"][place]["health"]), 1
                )
                if ratio > most:
                    chosen, most = place, ratio
        if chosen < 0:
            break
        granted |= 1 << chosen
        free += removal_value(enemy["board"][chosen], weights)
    return best


@njit_no_alloc
def attacker_bound(
    minion: np.void,
    enemy: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    start: np.void,
    granted: int,
    tally: np.void,
) -> float:
    """Most that one attack of an own minion gains; `granted` has the bits of enemies removed for nothing."""
    attack = int(minion["attack"])
    others = granted != 0 or tally["enemies"] > enemy["n_board"]  # enemies that it may attack besides
    best = attack * max(
        weights[Term.FACE] + weights[Term.ENEMY_HERO], weights[Term.DAMAGE] if others else 0.0
    )
    each = weights[Term.BODY] + health_value(minion["keywords"], weights)
    for place in range(enemy["n_board"]):
        if granted >> place & 1:
            continue
        target = enemy["board"][place]
        share = min(attack / max(int(target["health"]), 1), 1.0)
        if minion["keywords"] & Keyword.POISONOUS:
            share = 1.0
        gain = share * removal_value(target, weights) + weights[Term.DAMAGE] * attack
        if tally["protects"] < 2 and target["attack"] > 0 and not minion["traits"] & Trait.IMMUNE:
            gain -= weights[Term.TRADE] * target["attack"]
            cost = each * target["attack"]
            if minion["keywords"] & Keyword.DIVINE_SHIELD:
                once = minion["attacks_left"] == 1
                cost = weights[Term.SHIELD] * (attack + int(minion["health"])) if once else 0.0
            elif target["attack"] >= minion["health"]:
                lasting = max(attack - int(minion["turn_attack"]), 0)
                death = weights[Term.SURVIVE] * initial_health(minion, cards, start)
                death += (weights[Term.ATTACK] + weights[Term.BODY]) * lasting + each * minion["health"]
                cost = min(cost, death) if tally["protects"] else death
            gain -= cost
        best = max(best, gain)
    return float(best)


@njit_no_alloc
def points_bound(enemy: np.void, weights: np.ndarray, points: float, granted: int) -> float:
    """Most that damage other than attacks gains, on enemies not `granted` and on the enemy hero."""
    value, used = points * weights[Term.DAMAGE], granted
    face = max(weights[Term.FACE] + weights[Term.ENEMY_HERO] - weights[Term.DAMAGE], 0.0)
    while points > 0.0:
        best, chosen = face, -1
        for place in range(enemy["n_board"]):
            if not used >> place & 1:
                minion = enemy["board"][place]
                ratio = removal_value(minion, weights) / max(int(minion["health"]), 1)
                if ratio > best:
                    best, chosen = ratio, place
        if chosen < 0:
            return float(value + best * points)
        used |= 1 << chosen
        taken = min(points, float(enemy["board"][chosen]["health"]))
        value += best * taken
        points -= taken
    return float(value)
