"""The best turn on real cards by trying every legal sequence of actions through the engine, one by one.

Nothing is remembered and nothing left out; the terms are worked out here anew from
docs/turn-program.md#turns-on-real-cards.
"""

import numpy as np

from engine.codes import COIN, HERO, MAX_ACTIONS, OWN_TARGETS, UNKNOWN, ActionKind, Keyword, Outcome
from engine.effect_codes import CardKind, Filter, Op, Pick, Race, Trait, Trigger
from engine.effects.chance import begin_hypothetical
from engine.jit import njit
from engine.rules import apply, decode, legal_actions, outcome
from engine.state import EVENTS, STATE, TO_HERO, TO_MINIONS
from engine.view import hide_information
from ilp_agent.search.objective import has_end_of_turn_effect
from ilp_agent.weights import N_TERMS, Term

MOST_STEPS = 30
CHANCE, TOO_MANY = -1, -2
"""In place of the number of sequences: chance has a part in one, or its end does something; there are too many."""


@njit
def brute_force(starts, cards, weights, limit):  # type: ignore[no-untyped-def]
    """Value of the best sequence from a position, shape (1,), with effects; and how many were tried."""
    states, events = np.zeros(MOST_STEPS + 1, STATE), np.zeros(1, EVENTS)
    actions = np.empty((MOST_STEPS + 1, MAX_ACTIONS), np.int64)
    counts, following = np.zeros(MOST_STEPS + 1, np.int64), np.zeros(MOST_STEPS + 1, np.int64)
    gained = np.zeros((MOST_STEPS + 1, N_TERMS))
    states[0] = starts[0]
    seat = states[0]["active"]
    hide_information(states[0], cards, seat)
    best, tried, level, enter = -1e300, 0, 0, True
    while level >= 0:
        state = states[level]
        if enter:
            tried += 1
            if tried > limit or level == MOST_STEPS:
                return best, TOO_MANY
            over = outcome(state) != Outcome.ONGOING
            lost = state["sides"][seat]["health"] <= 0 < state["sides"][1 - seat]["health"]
            if has_end_of_turn_effect(state, cards, seat):
                return best, CHANCE
            if not lost and state["n_options"] == 0:
                terms = gained[level] + at_the_end(states[0], state, cards, seat)
                best = max(best, (terms * weights).sum())
            following[level] = 0
            counts[level] = 0 if over else legal_actions(state, cards, actions[level])
            if not over and state["n_options"] == 0:
                counts[level] -= 1  # the end of the turn
            enter = False
        if following[level] == counts[level]:
            level -= 1
            continue
        action = actions[level, following[level]]
        following[level] += 1
        states[level + 1] = state
        begin_hypothetical(events[0])
        apply(states[level + 1], cards, action, events[0])
        if events[0]["n_pending_outcomes"]:
            return best, CHANCE
        gained[level + 1] = gained[level]
        add_action(state, states[level + 1], cards, action, events[0], gained[level + 1])
        level += 1
        enter = True
    return best, tried


@njit
def add_action(before, after, cards, action, events, terms):  # type: ignore[no-untyped-def]
    """Add what an action counts by itself: blows and hits, cards played, drawn and no longer held."""
    seat = before["active"]
    own, enemy = before["sides"][seat], before["sides"][1 - seat]
    kind, source, target = decode(action)
    terms[Term.FACE] += events["hits"][1 - seat, TO_HERO]
    terms[Term.DAMAGE] += events["hits"][1 - seat, TO_MINIONS]
    if kind == ActionKind.ATTACK and target != HERO:
        terms[Term.TRADE] -= enemy["board"][target]["attack"]
    for seen, sign in ((after["sides"][seat], 1), (own, -1)):
        for place in range(seen["n_hand"]):
            if seen["hand"][place] == UNKNOWN:
                terms[Term.DRAW] += sign
    for side in range(2):
        for place in range(after["sides"][side]["n_board"]):
            minion = after["sides"][side]["board"][place]
            card = cards[minion["card"]]
            if not stands(before["sides"][side], minion["entity_id"]):
                if side == seat:
                    terms[Term.BODY] -= card["attack"] + card["health"]
                else:
                    terms[Term.WOUND] += card["health"]
    if kind != ActionKind.PLAY or own["hand"][source] == COIN:
        return
    card = cards[own["hand"][source]]
    terms[Term.PLAY] += card["value"]
    held = 0.0
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        if card["kind"] != CardKind.SPELL or effect["trigger"] != Trigger.PLAY or effect["op"] != Op.DAMAGE:
            continue
        if effect["side"] & 2:
            targets = 1
            if effect["pick"] == Pick.ALL:
                targets = 0
                if effect["kind"] & 1:
                    targets += enemy["n_board"]
                if effect["kind"] & 2:
                    targets += 1
                if effect["filter"] == Filter.NOT_TARGET and target < OWN_TARGETS:
                    targets -= 1
                elif effect["filter"] == Filter.NOT_RACE:
                    for place in range(enemy["n_board"]):
                        race = enemy["board"][place]["race"]
                        targets -= race == effect["arg"] or race == Race.ALL
                elif effect["filter"]:
                    targets = -1_000_000  # no Basic card: the comparison would fail
            elif effect["pick"] == Pick.RANDOM:
                targets = effect["times"]
            held += effect["amount"] * targets
    if held > 0:
        terms[Term.HOLD] -= held + 0.9


@njit
def stands(side, born):  # type: ignore[no-untyped-def]
    """Whether a minion stands on a side."""
    found = False
    for place in range(side["n_board"]):
        found = found or side["board"][place]["entity_id"] == born
    return found


@njit
def at_the_end(start, state, cards, seat):  # type: ignore[no-untyped-def]
    """What the end of a turn counts, and what its beginning did."""
    terms = np.zeros(N_TERMS)
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    was, were = start["sides"][seat], start["sides"][1 - seat]
    terms[Term.LETHAL] = (enemy["health"] <= 0) - (own["health"] <= 0)
    terms[Term.CLEAR] = enemy["n_board"] == 0
    for place in range(enemy["n_board"]):
        minion = enemy["board"][place]
        attack = minion["attack"] - minion["turn_attack"]
        terms[Term.THREAT] -= attack
        terms[Term.WOUND] -= minion["health"]
        if minion["traits"] & Trait.FROZEN:
            terms[Term.FROZEN] += attack
    for place in range(were["n_board"]):
        terms[Term.WOUND] += were["board"][place]["health"]
    for place in range(own["n_board"]):
        minion = own["board"][place]
        came = cards[minion["card"]]["health"]
        for before in range(was["n_board"]):
            if was["board"][before]["entity_id"] == minion["entity_id"]:
                came = was["board"][before]["health"]
        terms[Term.SURVIVE] += came
        terms[Term.BODY] += minion["attack"] - minion["turn_attack"] + minion["health"]
    for place in range(was["n_board"]):
        minion = was["board"][place]
        terms[Term.BODY] -= minion["attack"] - minion["turn_attack"] + minion["health"]
    terms[Term.HERO] = own["health"] + own["armour"] - was["health"] - was["armour"]
    terms[Term.WEAPON] = own["weapon_attack"] * own["durability"]
    terms[Term.OVERLOAD] = -own["overload"]
    add_full(start, state, cards, seat, terms)
    return terms


@njit
def add_full(start, state, cards, seat, terms):  # type: ignore[no-untyped-def]
    """Add what the position at the end counts by the full weights."""
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    was, were = start["sides"][seat], start["sides"][1 - seat]
    for place in range(own["n_board"]):
        minion = own["board"][place]
        attack, health = minion["attack"] - minion["turn_attack"], minion["health"]
        terms[Term.ATTACK] += attack
        terms[Term.HEALTH] += health
        if minion["keywords"] & Keyword.DIVINE_SHIELD:
            terms[Term.SHIELD] += attack + health
        if minion["keywords"] & Keyword.TAUNT:
            terms[Term.TAUNT] += health
    for place in range(enemy["n_board"]):
        terms[Term.ENEMY_HEALTH] -= enemy["board"][place]["health"]
    left = enemy["health"] + enemy["armour"] if enemy["health"] > 0 else 0
    terms[Term.ENEMY_HERO] = were["health"] + were["armour"] - left
    terms[Term.ENEMY_WEAPON] = -enemy["weapon_attack"] * enemy["durability"]
    terms[Term.SECRETS] = own["n_secrets"]
    for place in range(own["n_hand"]):
        number = own["hand"][place]
        if number == COIN:
            continue
        terms[Term.HAND] += 1
        if number <= UNKNOWN:
            for other in range(was["n_deck"]):
                add_held(cards[was["deck"][other]], 1 / was["n_deck"], terms)
        else:
            add_held(cards[number], 1.0, terms)


@njit
def add_held(card, share, terms):  # type: ignore[no-untyped-def]
    """Add what a card in hand counts, times `share`: its damage as a spell, or its cost."""
    damage = 0
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        hits = effect["trigger"] == Trigger.PLAY and effect["op"] == Op.DAMAGE and effect["side"] & 2
        if card["kind"] == CardKind.SPELL and hits and damage == 0:
            damage = effect["amount"]
    terms[Term.SPELL_DAMAGE] += share * damage
    terms[Term.DAMAGE_SPELLS] += share * (damage > 0)
    terms[Term.HAND_MANA] += share * (0 if damage else card["cost"])
