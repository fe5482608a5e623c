"""Expected objective terms of a searched turn, over all chance outcomes; compiled."""

import numpy as np

from engine.codes import HERO, ActionKind, Outcome
from engine.effects.chance import begin_hypothetical
from engine.jit import njit
from engine.rules import apply, encode, outcome
from engine.state import STATE
from ilp_agent.search.chance import (
    TOO_MANY,
    apply_certain_part,
    apply_outcome,
    expected_gain,
    list_outcomes,
)
from ilp_agent.search.deferred_actions import (
    DEFER_PLAYS,
    WITH_ALL_ATTACKS,
    WITH_HERO_ATTACK,
    attack_hero,
    deferrable_actions,
    deferrable_card,
    deferred_gain,
    next_attack_before_kill,
    next_deferred_action,
    solve_knapsack,
)
from ilp_agent.search.extract_plan import stored_best_action
from ilp_agent.search.kernel import start_search
from ilp_agent.search.objective import action_gain, base_value, end_value, has_end_of_turn_effect
from ilp_agent.search.transposition import NOT_FOUND, find_entry, position_key
from ilp_agent.search.work import FRAME
from ilp_agent.weights import N_TERMS, Term

STACK_SIZE = 256
"""Capacity of the stack of positions: fewer than eight per action of a turn."""


@njit
def expected_terms(
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    works: np.ndarray,
    memo: np.ndarray,
    slots: np.ndarray,
    terms: np.ndarray,
) -> None:
    """Write to `terms` the weighted terms of the searched plan, expected over chance; they sum to its value.

    Args:
        cards: the card table.
        weights: of the search.
        facts: of the cards.
        works: dtype `WORK`, shape (1,), after the search. Scratch is modified in place.
        memo: after the search.
        slots: after the search.
        terms: shape (`N_TERMS`,). Modified in place.
    """
    terms[:] = 0.0
    work = works[0]
    units = np.eye(N_TERMS)
    start, seat = work["start"], work["start"]["seat"]
    waiting, chances = np.empty(STACK_SIZE, STATE), np.empty(STACK_SIZE)
    here = np.empty(2, STATE)  # the current position, and the previous one
    frames = np.zeros(1, FRAME)
    waiting[0], chances[0], n = work["states"][0], 1.0, 1
    while n > 0:
        n -= 1
        here[0], chance = waiting[n], chances[n]
        state, effect_state = here[0], work["effect_state"][0]
        while True:
            if outcome(state) != Outcome.ONGOING:
                add_end(state, cards, units, start, chance, terms)
                break
            known = find_entry(position_key(state, cards, start, 0, 0), work, memo, slots)
            action = stored_best_action(state, cards, memo[known], work) if known != NOT_FOUND else 0
            if action == 0:
                if start["defers_actions"]:
                    play_deferred_actions(here, cards, weights, facts, units, work, chance, terms)
                if known != NOT_FOUND and has_end_of_turn_effect(state, cards, seat):
                    for term in range(N_TERMS):
                        terms[term] += chance * expected_gain(state, cards, units[term], 0, work)
                else:
                    add_end(state, cards, units, start, chance, terms)
                break
            begin_hypothetical(effect_state)
            if action & WITH_HERO_ATTACK:
                terms[Term.FACE] += chance * attack_hero(state, cards, action, effect_state)
                action -= WITH_HERO_ATTACK
            if action & WITH_ALL_ATTACKS:
                action -= WITH_ALL_ATTACKS
                place = next_attack_before_kill(state, cards, action, work)
                while place >= 0:
                    attack = encode(ActionKind.ATTACK, place, HERO)
                    terms[Term.FACE] += chance * state["sides"][seat]["board"][place]["attack"]
                    apply(state, cards, attack, effect_state)
                    place = next_attack_before_kill(state, cards, action, work)
                begin_hypothetical(effect_state)
            here[1] = state
            apply(state, cards, action, effect_state)
            if effect_state["n_pending_outcomes"]:
                frame = frames[0]
                n_leaves = list_outcomes(
                    here[1], cards, action, effect_state["n_pending_outcomes"], work, frame
                )
                here[0] = here[1]
                if n_leaves == TOO_MANY:
                    apply_certain_part(state, cards, action, effect_state)
                    for term in range(N_TERMS):
                        gain = expected_gain(here[1], cards, units[term], action, work)
                        terms[term] += chance * (gain - end_value(state, cards, units[term], start))
                    continue
                for leaf in range(n_leaves):
                    for event in range(frame["n_events"][leaf]):
                        work["odometer"][0, event] = frame["outcomes"][leaf, event]
                    apply_outcome(here[1], cards, action, work, frame["n_events"][leaf])
                    waiting[n] = work["scratch"][0]
                    chances[n] = chance * frame["probability"][leaf]
                    add_gain(
                        here[1], waiting[n], cards, action, work["effect_state"][1], units, chances[n], terms
                    )
                    n += 1
                break
            add_gain(here[1], state, cards, action, effect_state, units, chance, terms)
            over = start["defers_actions"] and outcome(state) != Outcome.ONGOING
            if over and deferrable_actions(here[1], cards, facts, seat) & DEFER_PLAYS:
                add_deferred_plays(state["sides"][seat], cards, weights, facts, units, work, chance, terms)
    for term in range(N_TERMS):
        terms[term] = weights[term] * (terms[term] - base_value(work["states"][0], units[term], seat))


@njit
def deterministic_terms(
    cards: np.ndarray, weights: np.ndarray, works: np.ndarray, actions: np.ndarray, terms: np.ndarray
) -> None:
    """Write to `terms` the weighted terms of deterministic actions from the start of the last search.

    Args:
        cards: the card table.
        weights: of the search.
        works: dtype `WORK`, shape (1,), after the search. Scratch is modified in place.
        actions: codes, to the end of the turn.
        terms: shape (`N_TERMS`,). Modified in place.
    """
    terms[:] = 0.0
    work = works[0]
    units = np.eye(N_TERMS)
    start, effect_state = work["start"], work["effect_state"][0]
    here = np.empty(2, STATE)
    here[0] = work["states"][0]
    for action in actions:
        begin_hypothetical(effect_state)
        here[1] = here[0]
        apply(here[0], cards, action, effect_state)
        add_gain(here[1], here[0], cards, action, effect_state, units, 1.0, terms)
    add_end(here[0], cards, units, start, 1.0, terms)
    for term in range(N_TERMS):
        terms[term] = weights[term] * (
            terms[term] - base_value(work["states"][0], units[term], start["seat"])
        )


@njit
def terms_of_beam_plan(
    cards: np.ndarray, weights: np.ndarray, facts: np.ndarray, works: np.ndarray, terms: np.ndarray
) -> None:
    """Write to `terms` the weighted terms of the plan of a beam search; a random action ends it.

    Args:
        cards: the card table.
        weights: of the search.
        facts: of the cards.
        works: dtype `WORK`, shape (1,), after the search. Scratch is modified in place.
        terms: shape (`N_TERMS`,). Modified in place.
    """
    terms[:] = 0.0
    work = works[0]
    units = np.eye(N_TERMS)
    start, effect_state = work["start"], work["effect_state"][0]
    here = np.empty(2, STATE)
    here[0] = work["states"][0]
    random = False
    for step in range(work["beam_length"]):
        action = int(work["beam_plan"][step])
        begin_hypothetical(effect_state)
        here[1] = here[0]
        apply(here[0], cards, action, effect_state)
        if effect_state["n_pending_outcomes"]:
            random = True
            for term in range(N_TERMS):
                terms[term] += expected_gain(here[1], cards, units[term], action, work)
            break
        add_gain(here[1], here[0], cards, action, effect_state, units, 1.0, terms)
    if not random:
        if start["defers_actions"] and outcome(here[0]) == Outcome.ONGOING:
            play_deferred_actions(here, cards, weights, facts, units, work, 1.0, terms)
        over = outcome(here[0]) != Outcome.ONGOING
        if not over and has_end_of_turn_effect(here[0], cards, start["seat"]):
            for term in range(N_TERMS):
                terms[term] += expected_gain(here[0], cards, units[term], 0, work)
        else:
            add_end(here[0], cards, units, start, 1.0, terms)
    for term in range(N_TERMS):
        base = base_value(work["states"][0], units[term], start["seat"])
        terms[term] = weights[term] * (terms[term] - base)


@njit
def terms_of_actions(
    states: np.ndarray,
    cards: np.ndarray,
    weights: np.ndarray,
    works: np.ndarray,
    actions: np.ndarray,
    terms: np.ndarray,
) -> None:
    """`deterministic_terms` for actions from a position, dtype `STATE`, shape (1,), without a search."""
    start_search(states[0], cards, weights, works[0])
    deterministic_terms(cards, weights, works, actions, terms)


@njit
def add_gain(
    before: np.void,
    after: np.void,
    cards: np.ndarray,
    action: int,
    effect_state: np.void,
    units: np.ndarray,
    chance: float,
    terms: np.ndarray,
) -> None:
    """Add an action's gains, times its probability, to `terms`. Modified in place."""
    for term in range(N_TERMS):
        terms[term] += chance * action_gain(before, after, cards, action, effect_state, units[term])


@njit
def add_end(
    state: np.void, cards: np.ndarray, units: np.ndarray, start: np.void, chance: float, terms: np.ndarray
) -> None:
    """Add the terms of an end of the turn, times its probability, to `terms`. Modified in place."""
    for term in range(N_TERMS):
        terms[term] += chance * end_value(state, cards, units[term], start)


@njit
def add_deferred_plays(
    own: np.void,
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    units: np.ndarray,
    work: np.void,
    chance: float,
    terms: np.ndarray,
) -> None:
    """Add the plain plays before a killing blow to `terms`. Modified in place."""
    _, chosen = solve_knapsack(own, own["mana"], cards, weights, facts, work)
    for place in range(own["n_hand"] + 1):
        if chosen >> place & 1:
            number = deferrable_card(own, place)
            for term in range(N_TERMS):
                terms[term] += chance * deferred_gain(
                    cards[number], facts[number], units[term], work["start"]
                )


@njit
def play_deferred_actions(
    here: np.ndarray,
    cards: np.ndarray,
    weights: np.ndarray,
    facts: np.ndarray,
    units: np.ndarray,
    work: np.void,
    chance: float,
    terms: np.ndarray,
) -> None:
    """Carry out the deferred actions and add their gains to `terms`. `here` is modified in place."""
    seat, effect_state = work["start"]["seat"], work["effect_state"][0]
    late = deferrable_actions(here[0], cards, facts, seat)
    while outcome(here[0]) == Outcome.ONGOING:
        action = next_deferred_action(here[0], cards, weights, facts, late, seat, work)
        if action == 0:
            return
        begin_hypothetical(effect_state)
        here[1] = here[0]
        apply(here[0], cards, action, effect_state)
        add_gain(here[1], here[0], cards, action, effect_state, units, chance, terms)
