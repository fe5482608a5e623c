"""Records of effects as kernels read them: a row of a card, and the workspace of an action."""

import numpy as np

from engine.codes import BOARD_SIZE
from engine.vocabulary import GRAVES, MAX_OUTCOMES, MAX_QUEUE

EFFECT = np.dtype(
    [
        ("trigger", "i2"),  # a Trigger
        ("op", "i2"),  # an Op
        ("pick", "i2"),  # a Pick
        ("side", "i2"),  # bits OWN and ENEMY, seen from the card's player
        ("kind", "i2"),  # bits MINIONS and HEROES
        ("filter", "i2"),  # bits of Filter
        ("arg", "i2"),  # what the filter compares with
        ("times", "i2"),  # how often
        ("amount", "i2"),  # damage, health, attack, cards, or a card number: see Op
        ("amount2", "i2"),  # health or durability; of a summoned or added card, the last number of its pool
        ("keywords", "i2"),  # bits of Keyword
        ("until", "i2"),  # an Until
        ("condition", "i2"),  # a Condition; below 0 it must not hold
        ("condition_arg", "i2"),  # what it compares with
        ("count", "i2"),  # a Count: what amount and amount2 are multiplied by; 0: by 1
        ("count_arg", "i2"),  # a Race that is counted
        ("on_side", "i2"),  # of what event: bits OWN, ENEMY, ITSELF_ALONE and OTHERS_ALONE
        ("on_kind", "i2"),  # bits of the kinds of characters or cards
        ("on_filter", "i4"),  # bits of CardFilter that the event's card must pass
        ("on_arg", "i2"),  # what these compare with
        ("of_kind", "i2"),  # of which cards: bits of their kinds; 0: the row is about no cards
        ("of_filter", "i4"),  # bits of CardFilter
        ("of_arg", "i2"),  # what these compare with
        (
            "pool",
            "i2",
        ),  # of a row that draws random cards of the game: the first of its lists (`engine.cards.table`)
    ]
)
"""One row of a card."""

WAITING = np.dtype(
    [
        ("card", "i2"),  # whose row
        ("row", "i2"),
        ("seat", "i2"),  # of the player it belongs to
        ("itself", "i2"),  # card of the minion it comes from; -1 for none
        ("source", "i2"),  # birth of the minion it comes from; -1 for none
        ("place", "i2"),  # where a dead source stood: survivors to its left; -1 if it is no dead minion's
        ("was", "i2"),  # its place before the dead left
        ("target", "i2"),  # birth of the minion chosen, or whom an event is about, or one of the codes below
        ("foe", "i2"),  # the same of whom that one attacks
        ("about", "i2"),  # card of an event; -1 for none
        ("amount", "i2"),  # of an event
        ("keywords", "i2"),  # of a dead source, as it died
        ("left", "i2"),  # hits that are left of a row; 0: it has not begun
        (
            "heard",
            "i2",
        ),  # 1: queued by an event, so it goes before what waited already; 2: of a Secret that was revealed
    ]
)
"""An effect that waits its turn."""

TO_MINIONS, TO_HERO = 0, 1
"""Places of `hits`: amounts as they were dealt, before shields, armour and what was left of the victim."""

NO_TARGET, OWN_HERO, ENEMY_HERO = -1, -2, -3
"""What an effect was aimed at, where that is no minion; heroes are seen from the card's player."""

EVENT = np.dtype(
    [
        ("trigger", "i2"),  # a Trigger
        ("seat", "i2"),  # the player to whom it happened, or whose the card is
        ("who", "i2"),  # birth of the minion it happened to, A_HERO or NO_ONE
        ("about", "i2"),  # that minion's card, or the card it is about; -1 for none
        ("amount", "i2"),  # of damage and the like
    ]
)
"""Something that happened for which cards may wait."""

A_HERO, NO_ONE = 0, -1
"""Whom an event is about, where it is no minion: the hero of its seat, or no character."""

BEFORE = np.dtype(
    [
        ("n_board", "i2"),
        ("n_hand", "i2"),
        ("armed", "i2"),  # 1: it had a weapon
        ("kept", "i2"),  # 1: it has got no other one since then
    ]
)
"""What is asked of a side as an action began, of what waits for its end."""

EVENTS = np.dtype(
    [
        ("game", "u8"),  # stream of the game's chance; 0: what is not forced stops the action
        ("key", "u8"),  # stream of this turn's chance, once it has had an event
        ("turn", "i4"),  # the turn whose chance it is
        ("seat", "i4"),  # and whose turn
        ("number", "i4"),  # chance events of this turn so far
        ("blind", "i2"),  # 1: cards drawn from a deck stay hidden, as for a player who thinks ahead
        ("forced", "i2"),  # outcomes given in advance; -1: they are drawn
        ("n_outcomes", "i2"),  # chance events of the last action
        ("waiting", "i2"),  # how many outcomes the event has at which a forced action stopped; 0: it did not
        ("first", "i4"),  # the queue: next to be carried out
        ("last", "i4"),  # one past the last
        ("hits", "i4", (2, 2)),  # damage dealt by the last action: to minions and to the hero of each seat
        ("picked", "i2", (2 * (BOARD_SIZE + 1),)),  # births and heroes that a row selects
        ("outcomes", "i2", (MAX_OUTCOMES,)),  # of the last action's chance events
        ("event", EVENT),
        (
            "attacker",
            "i2",
        ),  # birth of who attacks, or a hero as the active player sees it; NO_TARGET: called off
        ("defender", "i2"),  # the same of whom it attacks
        ("played", "i2"),  # birth of the minion that is being played; 0 for none
        (
            "beside",
            "i2",
            (2,),
        ),  # births of the minions that stood next to the target when it was chosen; 0: none
        ("unsure", "i2"),  # 1: for a player who thinks ahead something depended on cards that are hidden
        ("decoy", "i2"),  # birth of the minion that a spell is drawn to; 0 for none
        ("before", BEFORE, (2,)),  # of each seat, as the action began
        ("births", "i2"),  # of the state as the action began: what is younger came with the action
        ("fallen", "i2"),  # a bit for each seat: its hero is dead, also if it is healed
        ("broken", "i2"),  # a bit for each seat: its weapon is used up, and not buried yet
        ("worn", "i2", (2,)),  # the cards of these weapons
        ("taken", "i2", (GRAVES,)),  # workspace of rows that draw several things, each once
        ("dead", "i2", (2 * BOARD_SIZE, 3)),  # of minions that have just died: birth, seat, card
        ("spare", WAITING, (1,)),
        ("queue", WAITING, (MAX_QUEUE,)),
    ]
)
"""What travels beside a state while actions are carried out: chance, and the queue of effects."""

NO_ROW = np.zeros(1, WAITING)
NO_ROW["target"] = NO_ROW["foe"] = NO_ROW["source"] = NO_ROW["itself"] = NO_TARGET
"""A row that is about nobody."""
