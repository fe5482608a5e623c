"""The game state as one flat record, the records of effects, and how a game is dealt.

A player's choice is a row of the codes `Opening`, one for each number of the card table. What becomes of one
card then depends on no other: every place of the opening hand has its own place of the shuffled deck, drawn
beforehand, and a card that is replaced changes places with the card there. Two choices for the same deal thus
differ in the cards that they treat differently, and in nothing else.

Every number that kernels read is defined here, once. A state is a numpy record of dtype `STATE`
(no pointers), so that copying one is a `memcpy`: `states[1] = states[0]`.
"""

import numpy as np

from engine.codes import BOARD_SIZE, COIN, DECK_SIZE, HAND_SIZE, MAX_MANA, Keyword, Opening, Purpose
from engine.effect_codes import (
    GRAVES,
    MAX_CHOICES,
    MAX_GIFTS,
    MAX_OUTCOMES,
    MAX_PROMISES,
    MAX_QUEUE,
    MAX_ROWS,
    MAX_SECRETS,
    OFFERED,
    Ask,
    Trait,
)
from engine.jit import njit, njit_borrowing
from engine.streams import below, derive, shuffle

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


@njit_borrowing
def guards(minion: np.void) -> bool:
    """Whether a minion forces attackers to choose it: Taunt, unless Stealth hides it."""
    return bool((minion["keywords"] & (Keyword.TAUNT | Keyword.STEALTH)) == Keyword.TAUNT)


@njit_borrowing
def is_guarded(side: np.void) -> bool:
    """Whether a minion with Taunt stands before all else on a side."""
    found = False
    for slot in range(side["n_board"]):
        found = found or guards(side["board"][slot])
    return found


@njit_borrowing
def may_attack_hero(minion: np.void) -> bool:
    """Whether a minion that may attack may attack heroes too: not on the turn Rush alone let it."""
    return bool(minion["arrived"] == 0 or (minion["keywords"] & Keyword.CHARGE) != 0)


@njit
def replace_dear(side: np.void, cards: np.ndarray, above: int, key: np.uint64) -> None:
    """Replace each opening card dearer than `above` from the deck, then shuffle those back in.

    `side` is modified in place.
    """
    aside = np.zeros(HAND_SIZE, np.int16)
    n_aside = 0
    for place in range(side["n_hand"]):
        card = side["hand"][place]
        if cards[card]["cost"] > above and side["n_deck"] > 0:
            aside[n_aside] = card
            n_aside += 1
            side["n_deck"] -= 1
            side["hand"][place] = side["deck"][side["n_deck"]]
    for place in range(n_aside):
        side["deck"][side["n_deck"]] = aside[place]
        side["n_deck"] += 1
    if n_aside:
        shuffle(side["deck"], side["n_deck"], key)


@njit
def replace_chosen(side: np.void, cards: np.ndarray, above: int, choices: np.ndarray, key: np.uint64) -> None:
    """Exchange the opening cards that a player does not keep. `side` is modified in place.

    Args:
        side: whose hand is drawn and whose deck is shuffled.
        cards: the card table, dtype `engine.state.CARD`.
        above: where a choice is `Opening.BY_RULE`, cards dearer than this are replaced.
        choices: codes of `Opening` by card number, shape (cards,).
        key: of the seat's stream.
    """
    places = np.arange(DECK_SIZE)
    shuffle(places, side["n_deck"], key)
    for place in range(side["n_hand"]):
        card = side["hand"][place]
        choice = choices[card]
        if place >= side["n_deck"]:  # of a deck too small for all
            continue
        if choice == Opening.REPLACE or (choice == Opening.BY_RULE and cards[card]["cost"] > above):
            other = places[place]
            side["hand"][place] = side["deck"][other]
            side["deck"][other] = card


LISTED = 16
"""Places of lists that each card of a table has room for."""

CARD = np.dtype(
    [
        ("cost", "i2"),  # mana
        ("attack", "i2"),  # damage
        ("health", "i2"),  # damage
        ("keywords", "i2"),  # bits of Keyword
        ("rarity", "i2"),  # 1 free or common, 2 rare, 3 epic, 4 legendary; 0 unknown
        ("value", "f8"),  # S of the turn ILP, >= 0
        ("asks", "i8"),  # bits of Ask: what the cards of the game need to be kept; the same of all its cards
        ("asks_alone", "i8"),  # the same of what this card needs
        ("number", "i2"),  # its place in the table; of a card that has several, the first
        ("hears", "i8"),  # 1 << Trigger of each of its rows
        ("kind", "i2"),  # a CardKind
        ("race", "i2"),  # a Race
        ("hero_class", "i2"),  # a HeroName
        ("traits", "i2"),  # bits of Trait that it has in print
        ("spell_damage", "i2"),
        ("overload", "i2"),  # crystals locked on the next turn
        ("needs", "i2"),  # bits of Need
        ("aim", "i2"),  # an Aim; at what is in its first row that picks CHOSEN, of which these are copies:
        ("aim_side", "i2"),
        ("aim_kind", "i2"),
        ("aim_filter", "i2"),
        ("aim_arg", "i2"),
        ("aim_condition", "i2"),  # what must hold for it to be aimed at all, a Condition
        ("aim_condition_arg", "i2"),
        ("list_first", "i4"),  # where the list with this card's number begins among all that are listed
        ("list_n", "i4"),  # and how many it has
        ("listed", "i2", (LISTED,)),  # a part of all lists, one after another; not of this card
        (
            "options",
            "i2",
        ),  # number of the first of the two cards that it can be played as; 0: it is no choice
        ("tags", "i4"),  # bits of CardFilter that need no number
        ("n_effects", "i2"),
        ("effects", EFFECT, (MAX_ROWS,)),
    ]
)
"""A row of a game's card table. A weapon's durability is its health."""

MINION = np.dtype(
    [
        ("card", "i2"),  # number in the card table
        ("attack", "i2"),  # damage, >= 0
        ("health", "i2"),  # damage left, >= 1 between actions
        ("keywords", "i2"),  # bits of Keyword it still has
        ("attacks_left", "i2"),  # attacks it may still make this turn, 0 to 2
        ("arrived", "i2"),  # 1 on the turn it was played, else 0
        ("max_health", "i2"),  # damage it can have left
        ("traits", "i2"),  # bits of Trait
        ("race", "i2"),  # a Race
        ("turn_attack", "i2"),  # the part of its attack that ends with the turn
        ("spell_damage", "i2"),
        ("born", "i2"),  # its place in the order in which minions came into play, from 1
        ("aura_attack", "i2"),  # the parts of its attack, full health and keywords that auras give it
        ("aura_health", "i2"),
        ("aura_keywords", "i2"),
        ("gifts", "i2", (MAX_GIFTS,)),  # 1 + card numbers whose rows it was given (`OF_OTHER`); 0: none
    ]
)
"""A minion on the board."""

HELD = np.dtype(
    [
        ("cost", "i1"),  # more mana than its card says
        ("attack", "i1"),  # more attack
        ("health", "i1"),  # more health, or durability
    ]
)
"""What befell a card in hand."""

SIDE = np.dtype(
    [
        ("health", "i2"),  # hero; at most its max_health; <= 0 is dead
        ("max_health", "i2"),  # of the hero when it is not hurt, 1 to 30
        ("armour", "i2"),  # hero, >= 0; lost before health
        ("mana", "i2"),  # left this turn, 0 to 10
        ("crystals", "i2"),  # mana a turn, 0 to 10
        ("fatigue", "i2"),  # draws made from an empty deck
        ("died", "i2"),  # minions of this side that died
        ("burned", "i2"),  # cards drawn into a full hand
        ("power", "i2"),  # 1 + card number of the hero power; 0: none
        ("weapon", "i2"),  # card number; 0 without a weapon
        ("weapon_attack", "i2"),
        ("durability", "i2"),  # 0 without a weapon
        ("hero_attack", "i2"),  # beside the weapon's, this turn
        ("power_used", "i1"),  # 1 once it was used this turn
        ("hero_attacks_left", "i1"),  # attacks the hero may still make this turn; -1: one too many was made
        ("traits", "i2"),  # bits of Trait of the hero
        ("overload", "i2"),  # crystals that will be locked on the next turn
        ("locked", "i2"),  # crystals locked this turn
        ("weapon_aura", "i2"),  # the part of the weapon's attack that auras give it
        (
            "played",
            "i2",
        ),  # cards played this turn; all that follows counts only where a card of the game asks
        ("spells", "i2"),  # spells cast this game
        ("totems", "i2"),  # Totems summoned this game
        ("perished", "i2"),  # minions of this side that died this turn
        ("hurt", "i2"),  # damage the hero took this turn
        ("elementals", "i2"),  # Elementals played this turn
        ("elementals_before", "i2"),  # and on the player's turn before
        ("overloaded", "i2"),  # crystals overloaded this game
        ("powers", "i2"),  # times the hero power was used this game
        ("secrets_played", "i2"),  # this game
        ("promises", "i2", (MAX_PROMISES,)),  # 1 + card number whose row changes costs for a while; 0: none
        ("jade", "i2"),  # Jade Golems summoned this game
        ("hero_class", "i2"),  # a HeroName
        ("n_secrets", "i2"),  # Secrets in play, 0 to 5
        (
            "secrets",
            "i2",
            (MAX_SECRETS,),
        ),  # card numbers, or below UNKNOWN where they are hidden; oldest first
        ("secret_born", "i2", (MAX_SECRETS,)),  # their places among the minions that came into play
        ("n_board", "i2"),  # minions on board, 0 to 7
        ("n_hand", "i2"),  # cards in hand, 0 to 10
        ("n_deck", "i2"),  # cards in deck, 0 to 30
        ("n_graves", "i2"),  # dead minions that are remembered
        ("graves", "i2", (GRAVES,)),  # their card numbers, oldest first
        ("hand", "i2", (HAND_SIZE,)),  # card numbers, COIN or UNKNOWN; oldest first
        ("held", HELD, (HAND_SIZE,)),  # what befell each of them
        ("deck", "i2", (DECK_SIZE,)),  # card numbers or UNKNOWN; the last one is drawn next
        ("board", MINION, (BOARD_SIZE,)),  # from left to right
    ]
)
"""One player's half of the game. Places past n_board, n_hand and n_deck are zero."""

CHOICE = np.dtype(
    [
        ("card", "i2"),  # whose row asks for it
        ("row", "i2"),
        ("memo", "i2"),  # what was chosen before for the same row; 0: nothing
    ]
)
"""A choice that a player has to make."""

STATE = np.dtype(
    [
        ("turn", "i2"),  # round of both players, from 1
        ("turn_cap", "i2"),  # rounds after which the game is a draw
        ("active", "i2"),  # whose turn it is: 0 the player who went first, 1 the other
        ("first_draw", "i2"),  # 1 where both players draw on their first turn
        ("births", "i2"),  # minions that came into play
        ("n_options", "i2"),  # cards of which the active player has to choose one before anything else
        ("options", "i2", (OFFERED,)),  # their numbers
        ("n_choices", "i2"),  # choices that are open, the one that is offered first
        ("choices", CHOICE, (MAX_CHOICES,)),
        ("sides", SIDE, (2,)),  # by seat: 0 went first
    ]
)
"""A whole game between two actions."""

RULES = np.dtype(
    [
        ("hand_first", "i2"),  # opening cards of the first player, 0 to 9
        ("hand_second", "i2"),  # opening cards of the second player, 0 to 9
        ("coin", "i2"),  # 1 where the second player gets The Coin
        ("mulligan_above", "i2"),  # opening cards dearer than this are replaced; -1: none are
        ("first_draw", "i2"),  # 1 where both players draw on their first turn
        ("turn_cap", "i2"),  # rounds
        ("hero_health", "i2"),  # that heroes begin with, and have when they are not hurt, 1 to 30
    ]
)
"""A ruleset as kernels read it (`engine.ruleset.Ruleset`)."""

DECK = np.dtype(
    [
        ("cards", "i2", (DECK_SIZE,)),  # card numbers
        ("size", "i2"),  # cards that are dealt, 1 to 30
        ("pool", "i2"),  # 0: those cards; n: as many drawn afresh, each from the first n
        ("power", "i2"),  # 1 + card number of the hero power; 0: the deck has no class
        (
            "varied",
            "i2",
        ),  # 1 + how many cards have what is varied (`engine.deck_variants`); 0: it is as listed
        ("given", "i2", (DECK_SIZE,)),  # for each of `cards`, the number of what has it; -1: it never does
        ("without", "i2", (DECK_SIZE,)),  # the number of what has it not; -1: another card of the deck
    ]
)
"""A deck as kernels read it (`engine.decks.Deck`)."""

ZERO_MINION = np.zeros(1, MINION)
"""What an empty place on the board holds."""


@njit
def draw_card(side: np.void) -> None:
    """Draw one card: into the hand, burned where the hand is full, fatigue where the deck is empty.

    `side` is modified in place. Fatigue damage is 1, 2, 3, ... and hits armour first; an immune hero
    takes none.
    """
    if side["n_deck"] == 0:
        side["fatigue"] += 1
        if not side["traits"] & Trait.IMMUNE:
            damage_hero(side, side["fatigue"])
        return
    side["n_deck"] -= 1
    card = side["deck"][side["n_deck"]]
    side["deck"][side["n_deck"]] = 0
    if side["n_hand"] == HAND_SIZE:
        side["burned"] += 1
    else:
        side["hand"][side["n_hand"]] = card
        side["n_hand"] += 1


@njit
def damage_hero(side: np.void, damage: int) -> None:
    """Damage a hero, armour first. `side` is modified in place."""
    absorbed = min(damage, side["armour"])
    side["armour"] -= absorbed
    side["health"] -= damage - absorbed


@njit
def start_turn(state: np.void) -> None:
    """Begin the active player's turn: a crystal, full mana, ready minions, a card. Modified in place."""
    make_ready(state)
    if draws_now(state):
        draw_card(state["sides"][state["active"]])


@njit
def draws_now(state: np.void) -> bool:
    """Whether the player whose turn begins draws a card."""
    return bool(state["turn"] > 1 or state["first_draw"])


@njit
def make_ready(state: np.void) -> None:
    """Begin the active player's turn but for its card. Modified in place."""
    side = state["sides"][state["active"]]
    side["crystals"] = min(side["crystals"] + 1, MAX_MANA)
    side["mana"] = side["crystals"]
    for slot in range(side["n_board"]):
        minion = side["board"][slot]
        minion["attacks_left"] = 2 if minion["keywords"] & Keyword.WINDFURY else 1
        minion["arrived"] = 0


@njit
def new_game(
    state: np.void, cards: np.ndarray, first: np.void, second: np.void, rules: np.void, key: np.uint64
) -> None:
    """Deal a game up to the first player's first decision. `state` is modified in place.

    Args:
        state: a record of dtype `STATE`; what it held is lost.
        cards: the card table, shape (cards,), dtype `CARD`.
        first: deck of the player who goes first, a record of dtype `DECK`.
        second: deck of the other player.
        rules: a record of dtype `RULES`.
        key: the game's key (`engine.streams`). Shuffles belong to seats, so two games with one key
            and exchanged agents deal the same cards to the same seats.
    """
    by_rule = np.empty(0, np.uint8)
    deal_game(state, cards, first, second, rules, key, by_rule, by_rule)


@njit
def deal_game(
    state: np.void,
    cards: np.ndarray,
    first: np.void,
    second: np.void,
    rules: np.void,
    key: np.uint64,
    first_choices: np.ndarray,
    second_choices: np.ndarray,
) -> None:
    """Deal a game as `new_game` does, with what the players choose to keep. `state` is modified in place.

    Args:
        state: this and those up to `key` as of `new_game`.
        cards: as there.
        first: as there.
        second: as there.
        rules: as there; without a mulligan choices are not looked at.
        key: as there.
        first_choices: of the player who goes first, codes of `engine.codes.Opening` by card number, uint8,
            shape (cards,); shape (0,) for one who goes by the ruleset's rule.
        second_choices: of the other player.
    """
    state["turn"] = 1
    state["turn_cap"] = rules["turn_cap"]
    state["active"] = 0
    state["first_draw"] = rules["first_draw"]
    state["births"] = 0
    state["n_options"] = 0
    state["options"][:] = 0
    state["n_choices"] = 0
    for place in range(MAX_CHOICES):
        state["choices"][place]["card"] = 0
        state["choices"][place]["row"] = 0
        state["choices"][place]["memo"] = 0
    above = rules["mulligan_above"]
    _deal(state["sides"][0], cards, first, rules["hand_first"], above, first_choices, key, 0)
    _deal(state["sides"][1], cards, second, rules["hand_second"], above, second_choices, key, 1)
    for seat in range(2):
        state["sides"][seat]["health"] = rules["hero_health"]
        state["sides"][seat]["max_health"] = rules["hero_health"]
        state["sides"][seat]["hero_attacks_left"] = 1 if cards[0]["asks"] & Ask.EFFECTS else 0
    if rules["coin"]:
        side = state["sides"][1]
        side["hand"][side["n_hand"]] = COIN
        side["n_hand"] += 1
    start_turn(state)


@njit
def _deal(
    side: np.void,
    cards: np.ndarray,
    deck: np.void,
    hand: int,
    mulligan_above: int,
    choices: np.ndarray,
    key: np.uint64,
    seat: int,
) -> None:
    """Shuffle a deck, draw the opening hand and replace cards of it. `side` is modified in place."""
    side["armour"] = 0
    side["mana"] = 0
    side["crystals"] = 0
    side["fatigue"] = 0
    side["died"] = 0
    side["burned"] = 0
    side["n_board"] = 0
    side["n_hand"] = 0
    side["n_deck"] = deck["size"]
    side["power"] = deck["power"]
    side["power_used"] = 0
    side["weapon"] = 0
    side["weapon_attack"] = 0
    side["durability"] = 0
    side["hero_attack"] = 0
    side["hero_attacks_left"] = 0
    side["traits"] = 0
    side["overload"] = 0
    side["locked"] = 0
    if cards[0]["asks"]:
        clear_counters(side)
        if cards[0]["asks"] & Ask.CLASSES and deck["power"]:
            side["hero_class"] = cards[deck["power"] - 1]["hero_class"]
    side["hand"][:] = 0
    for slot in range(BOARD_SIZE):
        side["board"][slot] = ZERO_MINION[0]
    if deck["pool"] > 0:
        pick = derive(derive(key, Purpose.DECK), seat)
        side["deck"][:] = 0
        for place in range(deck["size"]):
            side["deck"][place] = deck["cards"][below(pick, place, deck["pool"])]
    else:
        side["deck"][:] = deck["cards"]
    if deck["varied"] > 0:
        _vary(side["deck"], deck, key, seat)
    if deck["pool"] == 0:
        shuffle(side["deck"], deck["size"], derive(derive(key, Purpose.SHUFFLE), seat))
    for _ in range(min(hand, deck["size"])):
        draw_card(side)
    if mulligan_above >= 0:
        stream = derive(derive(key, Purpose.MULLIGAN), seat)
        if len(choices):
            replace_chosen(side, cards, mulligan_above, choices, stream)
        else:
            replace_dear(side, cards, mulligan_above, stream)


@njit
def clear_counters(side: np.void) -> None:
    """Forget what only some games keep. `side` is modified in place."""
    side["weapon_aura"] = 0
    side["played"] = 0
    side["spells"] = 0
    side["totems"] = 0
    side["perished"] = 0
    side["hurt"] = 0
    side["elementals"] = 0
    side["elementals_before"] = 0
    side["overloaded"] = 0
    side["powers"] = 0
    side["secrets_played"] = 0
    side["promises"][:] = 0
    side["n_graves"] = 0
    side["graves"][:] = 0
    side["jade"] = 0
    side["hero_class"] = 0
    side["n_secrets"] = 0
    side["secrets"][:] = 0
    side["secret_born"][:] = 0
    for place in range(HAND_SIZE):
        side["held"][place]["cost"] = 0
        side["held"][place]["attack"] = 0
        side["held"][place]["health"] = 0


@njit
def _vary(cards: np.ndarray, deck: np.void, key: np.uint64, seat: int) -> None:
    """Give as many cards what is varied as the deck says. `cards` is modified in place.

    Args:
        cards: numbers of the deck's 30 cards, a list's in its order.
        deck: a record of dtype `DECK` that is varied.
        key: the game's key.
        seat: of the player.
    """
    stream = derive(derive(key, Purpose.VARIED), seat)
    pick = derive(derive(key, Purpose.DECK), seat)
    listed, order, ranked = np.zeros(DECK_SIZE, np.int64), np.arange(DECK_SIZE), np.zeros(DECK_SIZE, np.int64)
    for place in range(DECK_SIZE):
        listed[place] = below(pick, place, deck["pool"]) if deck["pool"] > 0 else place
    shuffle(order, DECK_SIZE, stream)
    own = able = 0
    for has in (True, False):
        for rank in range(DECK_SIZE):
            number = listed[order[rank]]
            given = deck["given"][number]
            if given >= 0 and (given == deck["cards"][number]) == has:
                ranked[able] = order[rank]
                able += 1
        if has:
            own = able
    for rank in range(able):
        place, number = ranked[rank], listed[ranked[rank]]
        if rank < deck["varied"] - 1:
            cards[place] = deck["given"][number]
        elif deck["without"][number] >= 0:
            cards[place] = deck["without"][number]
        else:  # one of the deck's other cards
            other = ranked[own + below(stream, DECK_SIZE + rank, able - own)]
            cards[place] = deck["cards"][listed[other]]
