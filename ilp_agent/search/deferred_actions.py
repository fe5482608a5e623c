"""Actions deferred to the end of the turn: plain plays as a knapsack, and attacks on the hero; compiled.

Attacks on a hero only use up the attack, so their order matters only for the killing blow, which ends the
turn. In a lethal set the strongest attack comes last: this keeps any lethal set lethal and never lowers its
damage. Reachable sums of attacks are the bits of one number.

Two kinds of actions can be deferred if no later action interacts with them: attacks of minions on a hero that
survives this turn, and plays of minions without an effect on their first turn. Their optimum is computed in
one step for each possible end of the turn. Also, a harmful card need not target the own side if it can target
the enemy hero. Each rule has side conditions, as bits of cards (`ilp_agent.search.card_facts`) and of the
position; if one fails, the search tries all actions.
"""

import numpy as np

from engine.bitfields import AIMED, pack_action, unpack_action
from engine.codes import BOARD_SIZE, COIN, HERO, MAX_MANA, OWN_TARGETS, ActionKind, Keyword
from engine.effect_codes import CardKind, Trait
from engine.effects.chance import begin_hypothetical
from engine.effects.legal_actions import NO_ATTACK_TRAITS, NO_HERO_ATTACK_TRAITS
from engine.jit import njit_no_alloc
from engine.rules import apply
from engine.state import guards, may_attack_hero
from ilp_agent.features import ATTACK, HAND_MANA, HEALTH, MINIONS, SHIELD
from ilp_agent.features import HERO as OWN_HERO
from ilp_agent.search.card_facts import (
    AFFECTS_OWN_MINIONS,
    BUFFS_OWN_MINIONS,
    CHANGES_HAND,
    GIVES_MANA,
    HARMS_ANY_TARGET,
    HARMS_TARGET_MINION,
    MAY_BLOCK_HERO,
    NEEDS_MINIONS,
    NOT_PRUNABLE,
    PLAIN,
    UNTARGETED_HERO_DAMAGE,
)
from ilp_agent.search.objective import (
    damage_value,
    has_end_of_turn_effect,
    is_score,
    kill_value,
)
from ilp_agent.search.transposition import needs_no_order
from ilp_agent.turn import ANY_TARGET, PLAYED_THIS_TURN
from ilp_agent.weights import N_TERMS, Term

_encode = njit_no_alloc(pack_action)


@njit_no_alloc
def solve_knapsack(
    own: np.void, spend: int, cards: np.ndarray, weights: np.ndarray, facts: np.ndarray, work: np.void
) -> tuple[float, int]:
    """Best set of plain plays for `spend` mana and free board slots: its value, and its cards as bits.

    The Coin is spent only if that adds value. In `work`, `pack` and `packed` are modified in place: the best
    value by slots and mana, -1 if infeasible, and the set.
    """
    room = BOARD_SIZE - int(own["n_board"])
    mana = int(spend) + (1 if coin_place(own) >= 0 else 0)
    pack, packed = work["pack"], work["packed"]
    empty = True
    for place in range(own["n_hand"] + 1):
        number = deferrable_card(own, place)
        if number < 0 or not facts[number]["bits"] & PLAIN or cards[number]["cost"] > mana:
            continue
        if work["start"]["n_barred"] and _is_barred(work["start"], cards, number):
            continue
        if empty:
            for used in range(room + 1):
                for paid in range(mana + 1):
                    pack[used, paid] = -1.0
            pack[0, 0] = 0.0
            packed[0, 0] = 0
            empty = False
        cost, takes = int(cards[number]["cost"]), int(facts[number]["arrivals"])
        gain = deferred_gain(cards[number], facts[number], weights, work["start"])
        if gain < 0.0:
            continue
        for used in range(room, takes - 1, -1):
            for paid in range(mana, cost - 1, -1):
                before = pack[used - takes, paid - cost]
                if before >= 0.0 and before + gain > pack[used, paid]:
                    pack[used, paid] = before + gain
                    packed[used, paid] = packed[used - takes, paid - cost] | 1 << place
    best, chosen = 0.0, 0
    if empty:
        return best, chosen
    for paid in range(mana + 1):
        for used in range(room + 1):
            if pack[used, paid] > best:
                best, chosen = pack[used, paid], int(packed[used, paid])
    return best, chosen


@njit_no_alloc
def _is_barred(start: np.void, cards: np.ndarray, number: int) -> bool:
    """Whether a plain card is excluded."""
    power = cards[number]["kind"] == CardKind.POWER
    for n in range(start["n_barred"]):
        kind, source = start["barred"][n, 0], start["barred"][n, 1]
        if kind == ActionKind.POWER and power:
            return True
        if kind == ActionKind.PLAY and not power and source == number:
            return True
    return False


@njit_no_alloc
def deferrable_card(own: np.void, place: int) -> int:
    """Card at a hand position, with the hero power after the last; negative if there is none."""
    if place < own["n_hand"]:
        return int(own["hand"][place])
    return int(own["power"] - 1) if not own["power_used"] else -1


@njit_no_alloc
def deferred_gain(card: np.void, fact: np.void, weights: np.ndarray, start: np.void) -> float:
    """Gain of a plain card in the objective, or in a score."""
    if is_score(weights):
        score = weights[N_TERMS + ATTACK] * fact["attack"] + weights[N_TERMS + HEALTH] * fact["survival"]
        score += weights[N_TERMS + SHIELD] * fact["shield"] + weights[N_TERMS + OWN_HERO] * fact["armour"]
        score += start["drawn"] * fact["draws"] + weights[N_TERMS + MINIONS] * fact["arrivals"]
        if card["kind"] != CardKind.POWER:
            score -= weights[N_TERMS + HAND_MANA] * card["cost"]
        return float(score)
    gain: float = weights[Term.SURVIVE] * fact["survival"] + weights[Term.DRAW] * fact["draws"]
    gain += weights[Term.HERO] * fact["armour"]
    if card["kind"] != CardKind.POWER:
        gain += weights[Term.PLAY] * card["value"]
    if start["full"]:
        gain += deferred_end_gain(card, fact, weights, start)
    return gain


@njit_no_alloc
def deferred_end_gain(card: np.void, fact: np.void, weights: np.ndarray, start: np.void) -> float:
    """Gain of a plain card by the full weights: its minions, and the hand without it and with its draws."""
    gain = weights[Term.ATTACK] * fact["attack"] + weights[Term.HEALTH] * fact["survival"]
    gain += weights[Term.SHIELD] * fact["shield"] + weights[Term.TAUNT] * fact["taunt"]
    drawn = weights[Term.HAND] + weights[Term.HAND_MANA] * start["hidden_mana"]
    drawn += weights[Term.SPELL_DAMAGE] * start["hidden_damage"]
    gain += fact["draws"] * (drawn + weights[Term.DAMAGE_SPELLS] * start["hidden_spells"])
    if card["kind"] != CardKind.POWER:
        gain -= weights[Term.HAND] + weights[Term.HAND_MANA] * card["cost"]
    return float(gain)


@njit_no_alloc
def next_deferred_play(
    own: np.void, mana: int, cards: np.ndarray, weights: np.ndarray, facts: np.ndarray, work: np.void
) -> int:
    """Next play of the best set of plain plays; 0 if there is none.

    Args:
        own: the player's side.
        mana: mana available for these plays.
        cards: the card table.
        weights: indexed by `Term`.
        facts: of `ilp_agent.search.card_facts.compute_card_facts`.
        work: `pack` is modified in place.
    """
    value, chosen = solve_knapsack(own, mana, cards, weights, facts, work)
    if value <= 0.0:
        return 0
    total, first, most = 0, -1, -1
    for place in range(own["n_hand"] + 1):
        if chosen >> place & 1:
            number = deferrable_card(own, place)
            cost = int(cards[number]["cost"])
            total += cost
            # Cards are drawn first, since the rest of the turn is then solved again with them.
            urgency = 2 * int(facts[number]["draws"] > 0 and cost <= own["mana"]) + int(cost > 0)
            if urgency > most:
                first, most = place, urgency
    if total > mana and own["mana"] < MAX_MANA and most < 2:
        return int(_encode(ActionKind.PLAY, coin_place(own), 0))
    if first == own["n_hand"]:
        return int(_encode(ActionKind.POWER, 0, 0))
    return int(_encode(ActionKind.PLAY, first, 0))


@njit_no_alloc
def coin_place(own: np.void) -> int:
    """Hand position of The Coin; -1 if it is not held."""
    for place in range(own["n_hand"]):
        if own["hand"][place] == COIN:
            return place
    return -1


MAX_SUM = 64
"""Largest health of the enemy hero for which sums of attacks fit into one number."""

ALL_BITS = np.uint64(2**MAX_SUM - 1)

_decode = njit_no_alloc(unpack_action)


@njit_no_alloc
def hero_attack_damage(state: np.void, start: np.void) -> int:
    """Total damage of all remaining attacks of own minions on the enemy hero."""
    seat = start["seat"]
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    if enemy["traits"] & Trait.IMMUNE:
        return 0
    for place in range(enemy["n_board"]):
        if guards(enemy["board"][place]):
            return 0
    total = 0
    for place in range(own["n_board"]):
        minion = own["board"][place]
        if can_attack_hero(minion, start):
            total += minion["attacks_left"] * minion["attack"]
    return total


@njit_no_alloc
def hero_attacks_value(state: np.void, weights: np.ndarray, start: np.void) -> float:
    """Value of the best deferred attacks on the enemy hero, including a kill."""
    total = hero_attack_damage(state, start)
    enemy = state["sides"][1 - start["seat"]]
    health = enemy["health"] + enemy["armour"]
    if total < health:
        return float(damage_value(weights) * total)
    place = strongest_attacker(state, start)
    most = state["sides"][start["seat"]]["board"][place]["attack"]
    return kill_value(weights, most + largest_sum_below(state, start, health, place), health)


@njit_no_alloc
def strongest_attacker(state: np.void, start: np.void) -> int:
    """Position of the strongest own minion that can attack the enemy hero; -1 for none."""
    own = state["sides"][start["seat"]]
    best = -1
    for place in range(own["n_board"]):
        stronger = best < 0 or own["board"][place]["attack"] > own["board"][best]["attack"]
        if stronger and can_attack_hero(own["board"][place], start):
            best = place
    return best


@njit_no_alloc
def attack_sums(state: np.void, start: np.void, health: int, last: int) -> np.uint64:
    """Subset sums of attacks below the hero's health, without one attack of `last`: bit d for a sum of d."""
    own = state["sides"][start["seat"]]
    sums, below = np.uint64(1), ALL_BITS >> np.uint64(MAX_SUM - health)
    for place in range(own["n_board"]):
        minion = own["board"][place]
        if not can_attack_hero(minion, start) or minion["attack"] >= health:
            continue
        for _ in range(minion["attacks_left"] - (1 if place == last else 0)):
            sums |= (sums << np.uint64(minion["attack"])) & below
    return sums


@njit_no_alloc
def largest_sum_below(state: np.void, start: np.void, health: int, last: int) -> int:
    """Largest non-lethal sum of attacks on the enemy hero, without one attack of `last`."""
    sums = attack_sums(state, start, health, last)
    most = health - 1
    while not sums >> np.uint64(most) & np.uint64(1):
        most -= 1
    return int(most)


@njit_no_alloc
def next_hero_attack(state: np.void, start: np.void) -> int:
    """Position of the minion that attacks the enemy hero next, in the best order; -1 for none."""
    total = hero_attack_damage(state, start)
    enemy = state["sides"][1 - start["seat"]]
    health = enemy["health"] + enemy["armour"]
    last = strongest_attacker(state, start) if total > 0 else -1
    if total < health:
        return last
    most = largest_sum_below(state, start, health, last)
    return first_attack_of_sum(state, start, most, last) if most > 0 else last


@njit_no_alloc
def first_attack_of_sum(state: np.void, start: np.void, damage: int, last: int) -> int:
    """Position of a minion whose attack starts a set that sums to `damage`, without one of `last`'s."""
    own = state["sides"][start["seat"]]
    for place in range(own["n_board"]):
        minion = own["board"][place]
        attack = int(minion["attack"])
        if not can_attack_hero(minion, start) or attack > damage:
            continue
        if minion["attacks_left"] == (1 if place == last else 0):
            continue
        minion["attacks_left"] -= 1
        rest = attack_sums(state, start, damage - attack + 1, last)
        minion["attacks_left"] += 1
        if rest >> np.uint64(damage - attack) & np.uint64(1):
            return place
    return -1


@njit_no_alloc
def can_attack_hero(minion: np.void, start: np.void) -> bool:
    """Whether a minion can attack an unguarded hero, and is not excluded from that."""
    return bool(
        minion["attacks_left"] > 0
        and minion["attack"] > 0
        and not minion["traits"] & (NO_ATTACK_TRAITS | NO_HERO_ATTACK_TRAITS)
        and may_attack_hero(minion)
        and not (start["n_barred"] and _excludes_hero(start, minion))
    )


@njit_no_alloc
def _excludes_hero(start: np.void, minion: np.void) -> bool:
    """Whether a minion's attacks on the enemy hero are excluded."""
    for n in range(start["n_barred"]):
        source, target = start["barred"][n, 1], start["barred"][n, 2]
        arrived = (
            minion["entity_id"] > start["last_entity_id"] and source == PLAYED_THIS_TURN - minion["card"]
        )
        hero = target in (ANY_TARGET, -1 - HERO)
        if start["barred"][n, 0] == ActionKind.ATTACK and hero and (source == minion["entity_id"] or arrived):
            return True
    return False


@njit_no_alloc
def max_damage_before_kill(before: np.void, after: np.void, start: np.void) -> int:
    """Most damage of attacks on the enemy hero before an action that then kills the hero; -1 for none."""
    enemy, then = before["sides"][1 - start["seat"]], after["sides"][1 - start["seat"]]
    health = enemy["health"] + enemy["armour"]
    left = then["health"] + then["armour"]
    if left >= health:
        return -1
    sums = attack_sums(before, start, health, -1)
    for damage in range(health - 1, max(left, 0) - 1, -1):
        if sums >> np.uint64(damage) & np.uint64(1):
            return int(damage)
    return -1


@njit_no_alloc
def next_attack_before_kill(state: np.void, cards: np.ndarray, action: int, work: np.void) -> int:
    """Position of the next minion to attack the enemy hero before a lethal action; -1 for none.

    Scratch of `work` is modified in place.
    """
    after, effect_state = work["scratch"][1], work["effect_state"][0]
    work["scratch"][1] = state
    begin_hypothetical(effect_state)
    apply(after, cards, action, effect_state)
    begin_hypothetical(effect_state)
    damage = max_damage_before_kill(state, after, work["start"])
    return first_attack_of_sum(state, work["start"], damage, -1) if damage > 0 else -1


@njit_no_alloc
def attack_hero(state: np.void, cards: np.ndarray, action: int, effect_state: np.void) -> int:
    """Attack the hero with the own minion that an action targets; returns the damage. Modifies `state`."""
    _, _, target = _decode(action)
    place = target - OWN_TARGETS
    damage = 0
    minion = state["sides"][state["active"]]["board"][place]
    while minion["attacks_left"] > 0:
        damage += minion["attack"]
        apply(state, cards, _encode(ActionKind.ATTACK, place, HERO), effect_state)
    begin_hypothetical(effect_state)
    return damage


DEFER_ATTACKS = 1
"""Bit: defer attacks of minions on the enemy hero."""
DEFER_PLAYS = 2
"""Bit: defer plain plays, before the deferred attacks."""
NEEDS_COIN = 4
"""Bit: The Coin could pay for a card that is not plain, or the hero power."""

DEFER_LETHAL = 8
"""Bit: defer attacks on the enemy hero that may be lethal, or that precede a lethal action."""
SPARES_OWN = 16
"""Bit, where attacks may be lethal: no harmful power needs to target the own side."""

WITH_HERO_ATTACK = 1 << 20
"""Bit of an action that targets an own minion: that minion attacks the enemy hero first."""
WITH_ALL_ATTACKS = 1 << 21
"""Bit of a lethal action: as many minions as leave the enemy hero alive attack him first."""


@njit_no_alloc
def deferrable_actions(state: np.void, cards: np.ndarray, facts: np.ndarray, seat: int) -> int:
    """Bits of the actions that can be deferred to the end of the turn; see the module.

    Args:
        state: dtype `engine.state.STATE`, not over.
        cards: the card table.
        facts: of `ilp_agent.search.card_facts.compute_card_facts`.
        seat: of the active player.
    """
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    if not needs_no_order(cards) or enemy["n_secrets"] > 0:
        return NEEDS_COIN
    if own["durability"] > 0 and cards[own["weapon"]]["n_effects"] > 0:
        return NEEDS_COIN
    lifesteal, face, spell_damage = False, 0, 0
    for place in range(enemy["n_board"]):
        if enemy["board"][place]["traits"] & Trait.DEATHRATTLE:
            return NEEDS_COIN
    for place in range(own["n_board"]):
        minion = own["board"][place]
        if minion["traits"] & Trait.DEATHRATTLE:
            return NEEDS_COIN
        spell_damage += minion["spell_damage"]
        if minion["attacks_left"] > 0:
            lifesteal = lifesteal or (minion["keywords"] & Keyword.LIFESTEAL) != 0
            face += minion["attacks_left"] * minion["attack"]
    if has_end_of_turn_effect(state, cards, seat):
        return NEEDS_COIN
    most_mana = MAX_MANA + 1
    bits, held, hits, draws, arrivals, gains_mana, late = 0, 0, 0, 0, 0, False, 0
    armour, harm, hero_can_attack = 0, 0, own["hero_attacks_left"] > 0
    for place in range(own["n_hand"]):
        if own["hand"][place] >= 0 and facts[own["hand"][place]]["bits"] & GIVES_MANA:
            gains_mana = True
    if not gains_mana:
        most_mana = min(own["mana"] + (1 if coin_place(own) >= 0 else 0), MAX_MANA + 1)
    for place in range(-1, own["n_hand"]):
        if place >= 0:
            number = own["hand"][place]
            if number < 0:
                continue
        elif own["power"] and not own["power_used"]:
            number = own["power"] - 1
        else:
            continue
        if cards[number]["cost"] > most_mana:
            continue
        fact = facts[number]
        if fact["bits"] & NOT_PRUNABLE:
            return NEEDS_COIN
        arrivals += fact["arrivals"]
        draws += fact["draws"]
        if fact["bits"] & PLAIN:
            armour += fact["armour"]
            continue
        late |= NEEDS_COIN
        bits |= fact["bits"]
        held |= fact["bits"] if place >= 0 else 0
        face += fact["face"]
        hits += fact["hits"]
        harm += fact["harm"]
        spell_damage += fact["spell_damage"]
    face += max(int(own["hero_attacks_left"]), 0) * (own["hero_attack"] + own["weapon_attack"])
    face += hits * spell_damage
    hero_lives = face < enemy["health"] + enemy["armour"]
    room = own["n_board"] + arrivals <= BOARD_SIZE
    if bits & (AFFECTS_OWN_MINIONS | CHANGES_HAND):
        return late
    if bits & HARMS_ANY_TARGET and hero_lives and not (room and not enemy["traits"] & Trait.IMMUNE):
        return late
    if not lifesteal and not bits & MAY_BLOCK_HERO:
        if hero_lives:
            late |= DEFER_ATTACKS
        elif (
            not bits & (BUFFS_OWN_MINIONS | UNTARGETED_HERO_DAMAGE)
            and enemy["health"] + enemy["armour"] <= MAX_SUM
        ):
            late |= DEFER_LETHAL
    if bits & HARMS_ANY_TARGET and not hero_lives:
        if not room or held & HARMS_ANY_TARGET:
            return late
        late |= SPARES_OWN
    plain_alone = not late & NEEDS_COIN
    hand = own["n_hand"] + draws <= len(own["hand"]) and draws <= own["n_deck"]
    if armour > 0 and own["health"] + own["armour"] <= harm + (_worst_blows(enemy) if hero_can_attack else 0):
        return late  # the armour may be needed earlier
    if (
        (room or plain_alone)
        and hand
        and not bits & (NEEDS_MINIONS | BUFFS_OWN_MINIONS | HARMS_TARGET_MINION)
    ):
        late |= DEFER_PLAYS
    return late


@njit_no_alloc
def _worst_blows(enemy: np.void) -> int:
    """Upper bound on damage to the own hero by two attacks of that hero."""
    most = 0
    for place in range(enemy["n_board"]):
        most = max(most, int(enemy["board"][place]["attack"]))
    return 2 * most


@njit_no_alloc
def deferred_value(
    state: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    late: int,
    seat: int,
    work: np.void,
) -> float:
    """Largest value that deferred actions add. `work["pack"]` is modified in place."""
    value = 0.0
    if late & DEFER_ATTACKS:
        value += damage_value(weights) * hero_attack_damage(state, work["start"])
    elif late & DEFER_LETHAL:
        value += hero_attacks_value(state, weights, work["start"])
    if late & DEFER_PLAYS:
        value += solve_knapsack(
            state["sides"][seat], state["sides"][seat]["mana"], cards, weights, facts, work
        )[0]
    return value


@njit_no_alloc
def add_attack_variants(
    state: np.void, facts: np.ndarray, start: np.void, late: int, actions: np.ndarray, n: int
) -> int:
    """Append to `actions` variants of actions with preceding attacks on the hero; return the new number.

    Actions that target an own minion follow that minion's attacks, since it may not survive the turn; actions
    that may kill the hero follow as many attacks as leave him alive.

    Returns:
        The number of actions.
    """
    if hero_attack_damage(state, start) == 0:
        return n
    own = state["sides"][start["seat"]]
    total = n
    for number in range(n):
        action = actions[number]
        kind, source, target = _decode(action)
        if kind == ActionKind.ATTACK:
            if late & DEFER_LETHAL and source == HERO and target == HERO:
                actions[total] = action | WITH_ALL_ATTACKS
                total += 1
            continue
        card = deferrable_card(own, source) if kind == ActionKind.PLAY else own["power"] - 1
        if card < 0:
            continue
        bits, on_own = facts[card]["bits"], OWN_TARGETS <= target < OWN_TARGETS + BOARD_SIZE
        if action & AIMED and on_own:
            aims = HARMS_TARGET_MINION
            if late & DEFER_LETHAL and not (kind == ActionKind.POWER and late & SPARES_OWN):
                aims |= HARMS_ANY_TARGET
            if bits & aims and can_attack_hero(own["board"][target - OWN_TARGETS], start):
                actions[total] = action | WITH_HERO_ATTACK
                total += 1
        elif late & DEFER_LETHAL and facts[card]["face"] > 0 and (not action & AIMED or target == HERO):
            actions[total] = action | WITH_ALL_ATTACKS
            total += 1
    return total


@njit_no_alloc
def next_deferred_action(
    state: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    late: int,
    seat: int,
    work: np.void,
) -> int:
    """Next deferred action; 0 if there is none. Modifies `work["pack"]` in place."""
    if late & DEFER_PLAYS:
        action = next_deferred_play(
            state["sides"][seat], state["sides"][seat]["mana"], cards, weights, facts, work
        )
        if action:
            return action
    if late & DEFER_ATTACKS and damage_value(weights) > 0.0 and hero_attack_damage(state, work["start"]) > 0:
        own = state["sides"][seat]
        for place in range(own["n_board"]):
            if can_attack_hero(own["board"][place], work["start"]):
                return int(_encode(ActionKind.ATTACK, place, HERO))
    if late & DEFER_LETHAL and kill_value(weights, 1, 1) > 0.0:
        place = next_hero_attack(state, work["start"])
        if place >= 0:
            return int(_encode(ActionKind.ATTACK, place, HERO))
    return 0
