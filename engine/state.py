"""Record types of game state, cards and effects, and the deal of a game with its mulligan.

This file defines every record that kernels read. A state is a numpy record of dtype `STATE` (no pointers), so
that copying one is a `memcpy`: `states[1] = states[0]`.

A mulligan choice is a row of `MulliganCode` codes, one for each card number. Each place of the opening hand
has its own random place in the shuffled deck, drawn beforehand, and a replaced card is exchanged with the
card there. So replacing one card does not change what replaces another: for the same deal, two mulligan
choices differ only in the cards that they treat differently (common random numbers).
"""

import numpy as np

from engine.codes import (
    BOARD_SIZE,
    COIN,
    DECK_SIZE,
    HAND_SIZE,
    MAX_MANA,
    MAX_NOTED_ACTIONS,
    Keyword,
    MulliganCode,
    Purpose,
)
from engine.effect_codes import (
    MAX_CHOICES,
    MAX_GRANTED_EFFECTS,
    MAX_GRAVEYARD,
    MAX_OUTCOMES,
    MAX_PENDING_COSTS,
    MAX_QUEUE,
    MAX_ROWS,
    MAX_SECRETS,
    N_OFFERED_CARDS,
    GameFeature,
    Trait,
)
from engine.jit import njit, njit_no_alloc
from engine.streams import below, derive, shuffle

EFFECT = np.dtype(
    [
        ("trigger", "i2"),  # a Trigger
        ("op", "i2"),  # an Op
        ("pick", "i2"),  # target selection, a Pick
        ("side", "i2"),  # target sides: bits OWN and ENEMY, relative to the card's player
        ("kind", "i2"),  # target kinds: bits MINIONS and HEROES
        ("filter", "i2"),  # target filter: bits of Filter
        ("arg", "i2"),  # operand of the filter
        ("times", "i2"),  # number of repetitions
        ("amount", "i2"),  # damage, health, attack, cards, or a card number: see Op
        ("amount2", "i2"),  # health or durability; of a summoned or added card, the last number of its pool
        ("keywords", "i2"),  # bits of Keyword
        ("until", "i2"),  # duration, an Until
        ("condition", "i2"),  # a Condition; negative: its negation
        ("condition_arg", "i2"),  # operand of the condition
        ("count", "i2"),  # a Count, the multiplier of amount and amount2; 0: 1
        ("count_arg", "i2"),  # the Race that is counted
        ("on_side", "i2"),  # events that trigger it: bits OWN, ENEMY, ONLY_ITSELF and ONLY_OTHERS
        ("on_kind", "i2"),  # bits of the event's kinds of characters or cards
        ("on_filter", "i4"),  # bits of CardFilter for the event's card
        ("on_arg", "i2"),  # operand of on_filter
        ("of_kind", "i2"),  # affected cards: bits of their kinds; 0: it affects no cards
        ("of_filter", "i4"),  # bits of CardFilter for the affected cards
        ("of_arg", "i2"),  # operand of of_filter
        ("pool", "i2"),  # for random cards of the game: the first of its card lists (`engine.cards.table`)
    ]
)
"""One effect of a card (a row of its effect table)."""

QUEUED_EFFECT = np.dtype(
    [
        ("card", "i2"),  # card with the effect
        ("row", "i2"),  # index of the effect among the card's rows
        ("seat", "i2"),  # seat of the effect's controller
        ("own_card", "i2"),  # card of the source minion; -1: none
        ("source", "i2"),  # entity id of the source minion; -1: none
        ("place", "i2"),  # board position of a dead source, as survivors to its left; -1: not a dead source
        ("place_before_deaths", "i2"),  # board position of a dead source before the dead minions were removed
        ("target", "i2"),  # entity id of the chosen minion or of the event's subject, or a code below
        ("defender", "i2"),  # the same for the character that the subject attacks
        ("event_card", "i2"),  # card of the event; -1: none
        ("amount", "i2"),  # amount of the event
        ("keywords", "i2"),  # keywords of a dead source at its death
        ("hits_left", "i2"),  # remaining hits; 0: not started
        (
            "is_triggered",
            "i2",
        ),  # 1: triggered, so it resolves before effects queued earlier; 2: of a revealed Secret
    ]
)
"""An effect in the queue."""

TO_MINIONS, TO_HERO = 0, 1
"""Columns of `hits`, the raw damage: before shields and armour, and including overkill."""

NO_TARGET, OWN_HERO, ENEMY_HERO = -1, -2, -3
"""Target codes of effects other than minions; heroes are relative to the card's player."""

EVENT = np.dtype(
    [
        ("trigger", "i2"),  # a Trigger
        ("seat", "i2"),  # seat of the affected player, or of the card's owner
        ("subject", "i2"),  # subject: entity id of the minion, A_HERO or NO_CHARACTER
        ("event_card", "i2"),  # the minion's card, or the card of the event; -1: none
        ("amount", "i2"),  # amount, such as damage
    ]
)
"""A game event that may trigger effects."""

A_HERO, NO_CHARACTER = 0, -1
"""Subjects of events other than minions: the hero of the event's seat, or no character."""

ACTION_START = np.dtype(
    [
        ("n_board", "i2"),
        ("n_hand", "i2"),
        ("armed", "i2"),  # 1: a weapon was equipped
        ("same_weapon", "i2"),  # 1: no other weapon was equipped since
    ]
)
"""Snapshot of a side at the start of an action, for effects that resolve at its end."""

N_BONUSES = 4
"""Aura bonuses of a minion: attack, health, keywords, and 1 if attack equals health."""

EVENTS = np.dtype(
    [
        ("game", "u8"),  # key of the game's chance stream; 0: a chance event without a given outcome stops
        ("key", "u8"),  # key of this turn's chance stream, once used
        ("turn", "i4"),  # turn of that stream
        ("seat", "i4"),  # active seat of that stream
        ("number", "i4"),  # chance events of this turn so far
        ("hides_draws", "i2"),  # 1: cards drawn from a deck stay hidden, as in a player's search
        ("forced", "i2"),  # number of outcomes given in advance; -1: outcomes are drawn
        ("n_outcomes", "i2"),  # chance events of the last action
        (
            "n_pending_outcomes",
            "i2",
        ),  # number of outcomes of the chance event that stopped the action; 0: none did
        ("first", "i4"),  # effect queue: index of the next effect
        ("last", "i4"),  # effect queue: one past the last
        ("hits", "i4", (2, 2)),  # raw damage of the last action by seat: to minions and to the hero
        ("selected", "i2", (2 * (BOARD_SIZE + 1),)),  # selected targets: entity ids and heroes
        ("outcomes", "i2", (MAX_OUTCOMES,)),  # outcomes of the last action's chance events
        ("event", EVENT),
        ("attacker", "i2"),  # entity id or hero code (relative to the active player); NO_TARGET: cancelled
        ("defender", "i2"),  # the same for the defender
        ("played", "i2"),  # entity id of the minion being played; 0: none
        (
            "target_neighbours",
            "i2",
            (2,),
        ),  # entity ids of the target's neighbours when it was chosen; 0: none
        ("depends_on_hidden", "i2"),  # 1: in a player's search, the result depended on hidden cards
        ("decoy", "i2"),  # entity id of the minion that a spell is redirected to; 0: none
        ("before", ACTION_START, (2,)),  # snapshots of both seats at the start of the action
        (
            "last_entity_id",
            "i2",
        ),  # of the state at the start: higher ids were created by the action
        ("listeners", "i8"),  # bits of the triggers of minions and Secrets in play
        ("listeners_id", "i2"),  # the state's `last_entity_id` when these were found; -1: unknown
        ("dead_heroes", "i2"),  # bit per seat: its hero has died, even if healed since
        ("broken_weapon_bits", "i2"),  # bit per seat: its weapon is used up but not removed yet
        ("broken_weapons", "i2", (2,)),  # cards of these weapons
        ("taken", "i2", (MAX_GRAVEYARD,)),  # workspace for drawing without replacement
        ("dead", "i2", (2 * BOARD_SIZE, 3)),  # newly dead minions: entity id, seat, card
        ("n_noted", "i4"),  # number of actions since the game loop read them, even beyond `noted`
        ("noted", "i4", (MAX_NOTED_ACTIONS,)),  # these actions, if outcomes are drawn from the game's stream
        ("aura_bonuses", "i2", (2, BOARD_SIZE, N_BONUSES)),  # workspace: by seat and board index
        ("weapon_bonuses", "i8", (2,)),  # workspace: by seat
        ("spare", QUEUED_EFFECT, (1,)),  # workspace for one queued effect
        ("queue", QUEUED_EFFECT, (MAX_QUEUE,)),
    ]
)
"""Context of the action being resolved: chance source, current event and effect queue."""

NO_EFFECT = np.zeros(1, QUEUED_EFFECT)
NO_EFFECT["target"] = NO_EFFECT["defender"] = NO_EFFECT["source"] = NO_EFFECT["own_card"] = NO_TARGET
"""A queued effect without source and target."""


@njit_no_alloc
def guards(minion: np.void) -> bool:
    """Whether attackers must choose this minion: it has Taunt without Stealth."""
    return bool((minion["keywords"] & (Keyword.TAUNT | Keyword.STEALTH)) == Keyword.TAUNT)


@njit_no_alloc
def is_guarded(side: np.void) -> bool:
    """Whether a side has a visible minion with Taunt."""
    found = False
    for slot in range(side["n_board"]):
        found = found or guards(side["board"][slot])
    return found


@njit_no_alloc
def may_attack_hero(minion: np.void) -> bool:
    """Whether a minion that may attack may also attack heroes: not if only Rush lets it attack this turn."""
    return bool(minion["arrived"] == 0 or (minion["keywords"] & Keyword.CHARGE) != 0)


@njit
def mulligan_by_cost(side: np.void, cards: np.ndarray, above: int, key: np.uint64) -> None:
    """Mulligan by cost: replace each opening card above a cost, and shuffle the replaced cards into the deck.

    `side` is modified in place.
    """
    replaced = np.zeros(HAND_SIZE, np.int16)
    n_replaced = 0
    for place in range(side["n_hand"]):
        card = side["hand"][place]
        if cards[card]["cost"] > above and side["n_deck"] > 0:
            replaced[n_replaced] = card
            n_replaced += 1
            side["n_deck"] -= 1
            side["hand"][place] = side["deck"][side["n_deck"]]
    for place in range(n_replaced):
        side["deck"][side["n_deck"]] = replaced[place]
        side["n_deck"] += 1
    if n_replaced:
        shuffle(side["deck"], side["n_deck"], key)


@njit
def mulligan_by_choice(
    side: np.void, cards: np.ndarray, above: int, choices: np.ndarray, key: np.uint64
) -> None:
    """Mulligan by choice: exchange opening cards with random cards of the deck. `side` is modified in place.

    Args:
        side: the player's half, with hand drawn and deck shuffled.
        cards: the card table, dtype `engine.state.CARD`.
        above: for cards with `MulliganCode.BY_RULE`, the highest cost that is kept.
        choices: codes of `MulliganCode` by card number, shape (cards,).
        key: key of the seat's mulligan stream.
    """
    places = np.arange(DECK_SIZE)
    shuffle(places, side["n_deck"], key)
    for place in range(side["n_hand"]):
        card = side["hand"][place]
        choice = choices[card]
        if place >= side["n_deck"]:  # the deck has too few cards to replace all
            continue
        if choice == MulliganCode.REPLACE or (choice == MulliganCode.BY_RULE and cards[card]["cost"] > above):
            deck_place = places[place]
            side["hand"][place] = side["deck"][deck_place]
            side["deck"][deck_place] = card


LIST_ENTRIES = 16
"""Entries of the joint card lists that each row of the card table stores."""

CARD = np.dtype(
    [
        ("cost", "i2"),
        ("attack", "i2"),
        ("health", "i2"),
        ("keywords", "i2"),  # bits of Keyword
        ("rarity", "i2"),  # 1 free or common, 2 rare, 3 epic, 4 legendary; 0 unknown
        ("value", "f8"),  # S of the turn ILP, >= 0
        ("game_features", "i8"),  # bits of Ask: features that the game must track; the same for all cards
        ("card_features", "i8"),  # bits of Ask that this card needs
        ("number", "i2"),  # its place in the table; for a card with several places, the first
        ("trigger_bits", "i8"),  # 1 << Trigger for each of its effects
        ("kind", "i2"),  # a CardKind
        ("race", "i2"),  # a Race
        ("hero_class", "i2"),  # a HeroClassCode
        ("traits", "i2"),  # bits of its printed Traits
        ("spell_damage", "i2"),
        ("overload", "i2"),  # crystals locked on the next turn
        ("needs", "i2"),  # bits of Need
        ("aim", "i2"),  # targeting, an Aim; the following are copied from its first effect with Pick CHOSEN:
        ("aim_side", "i2"),
        ("aim_kind", "i2"),
        ("aim_filter", "i2"),
        ("aim_arg", "i2"),
        ("aim_condition", "i2"),  # Condition for having a target at all
        ("aim_condition_arg", "i2"),
        ("list_first", "i4"),  # start of the list with this card's number in the joint card lists
        ("list_n", "i4"),  # length of that list
        (
            "listed",
            "i2",
            (LIST_ENTRIES,),
        ),  # part of the joint card lists, stored row by row; not of this card
        ("options", "i2"),  # first card number of its two Choose One options; 0: no Choose One card
        ("tags", "i4"),  # bits of CardFilter without an operand
        ("n_effects", "i2"),
        ("effects", EFFECT, (MAX_ROWS,)),
    ]
)
"""A card of a game's card table. A weapon's durability is its health."""

MINION = np.dtype(
    [
        ("card", "i2"),  # number in the card table
        ("attack", "i2"),  # >= 0
        ("health", "i2"),  # current health, >= 1 between actions
        ("keywords", "i2"),  # bits of Keyword
        ("attacks_left", "i2"),  # remaining attacks of this turn, 0 to 2
        ("arrived", "i2"),  # 1 on the turn it was played, else 0
        ("max_health", "i2"),  # full health
        ("traits", "i2"),  # bits of Trait
        ("race", "i2"),  # a Race
        ("turn_attack", "i2"),  # the part of its attack that ends with the turn
        ("spell_damage", "i2"),
        ("entity_id", "i2"),  # order of play: number of the minion since the game began, from 1
        ("aura_attack", "i2"),  # the parts of its attack, full health and keywords from auras
        ("aura_health", "i2"),
        ("aura_keywords", "i2"),
        (
            "granted_effects",
            "i2",
            (MAX_GRANTED_EFFECTS,),
        ),  # 1 + numbers of cards whose effects it gained (`GRANTED_BY_OPPONENT`); 0: none
    ]
)
"""A minion on the board."""

HAND_MODIFIER = np.dtype(
    [
        ("cost", "i1"),  # change of its cost
        ("attack", "i1"),  # change of its attack
        ("health", "i1"),  # change of its health or durability
    ]
)
"""Modifier of a card in hand."""

SIDE = np.dtype(
    [
        ("health", "i2"),  # of the hero, at most its max_health; <= 0: dead
        ("max_health", "i2"),  # full health of the hero, 1 to 30
        ("armour", "i2"),  # of the hero, >= 0; lost before health
        ("mana", "i2"),  # left this turn, 0 to 10
        ("crystals", "i2"),  # mana crystals, 0 to 10
        ("fatigue", "i2"),  # draws from an empty deck so far
        ("died", "i2"),  # minions of this side that died
        ("burned", "i2"),  # cards drawn into a full hand
        ("power", "i2"),  # 1 + card number of the hero power; 0: none
        ("weapon", "i2"),  # card number; 0 without a weapon
        ("weapon_attack", "i2"),
        ("durability", "i2"),  # 0 without a weapon
        ("hero_attack", "i2"),  # the hero's attack without weapon, this turn
        ("power_used", "i1"),  # 1 once the hero power was used this turn
        ("hero_attacks_left", "i1"),  # remaining attacks of this turn; -1: one more than allowed was made
        ("traits", "i2"),  # bits of Trait of the hero
        ("overload", "i2"),  # crystals that will be locked on the next turn
        ("locked", "i2"),  # crystals locked this turn
        ("weapon_aura", "i2"),  # the part of the weapon's attack from auras
        # Counters from here on are only tracked if a card of the game needs them.
        ("played", "i2"),  # cards played this turn
        ("spells", "i2"),  # spells cast this game
        ("totems", "i2"),  # Totems summoned this game
        ("died_this_turn", "i2"),  # minions of this side that died this turn
        ("hero_damage_this_turn", "i2"),  # damage the hero took this turn
        ("elementals", "i2"),  # Elementals played this turn
        ("elementals_before", "i2"),  # Elementals played on the player's previous turn
        ("overloaded", "i2"),  # crystals overloaded this game
        ("powers", "i2"),  # times the hero power was used this game
        ("secrets_played", "i2"),  # Secrets played this game
        ("pending_costs", "i2", (MAX_PENDING_COSTS,)),  # 1 + card number of a temporary cost change; 0: none
        ("jade", "i2"),  # Jade Golems summoned this game
        ("hero_class", "i2"),  # a HeroClassCode
        ("n_secrets", "i2"),  # Secrets in play, 0 to 5
        ("secrets", "i2", (MAX_SECRETS,)),  # card numbers, oldest first; hidden ones are below UNKNOWN
        (
            "secret_entity_ids",
            "i2",
            (MAX_SECRETS,),
        ),  # their order of play, numbered together with the minions
        ("n_board", "i2"),  # minions on board, 0 to 7
        ("n_hand", "i2"),  # cards in hand, 0 to 10
        ("n_deck", "i2"),  # cards in deck, 0 to 30
        ("n_graveyard", "i2"),  # dead minions recorded in graves
        ("graveyard", "i2", (MAX_GRAVEYARD,)),  # card numbers of dead minions, oldest first
        ("hand", "i2", (HAND_SIZE,)),  # card numbers, COIN or UNKNOWN; oldest first
        ("hand_modifiers", HAND_MODIFIER, (HAND_SIZE,)),  # modifiers of the cards in hand
        ("deck", "i2", (DECK_SIZE,)),  # card numbers or UNKNOWN; the last one is drawn next
        ("board", MINION, (BOARD_SIZE,)),  # from left to right
    ]
)
"""One player's half of the game. Entries past n_board, n_hand and n_deck are zero."""

CHOICE = np.dtype(
    [
        ("card", "i2"),  # card with the effect that offers the choice
        ("row", "i2"),  # index of the effect among the card's rows
        ("chosen_before", "i2"),  # earlier choice for the same effect; 0: none
    ]
)
"""A pending choice, as of Discover."""

STATE = np.dtype(
    [
        ("turn", "i2"),  # round of both players, from 1
        ("turn_cap", "i2"),  # rounds after which the game is a draw
        ("active", "i2"),  # seat to move: 0 the player who went first, 1 the other
        ("first_draw", "i2"),  # 1: both players draw on their first turn
        ("last_entity_id", "i2"),  # minions and Secrets that came into play so far
        ("n_options", "i2"),  # cards offered to the active player, who must choose one
        ("options", "i2", (N_OFFERED_CARDS,)),  # card numbers of the offered cards
        ("n_choices", "i2"),  # pending choices, the offered one first
        ("choices", CHOICE, (MAX_CHOICES,)),
        ("sides", SIDE, (2,)),  # by seat: 0 went first
    ]
)
"""A game state between two actions."""

RULES = np.dtype(
    [
        ("hand_first", "i2"),  # opening cards of the first player, 0 to 9
        ("hand_second", "i2"),  # opening cards of the second player, 0 to 9
        ("coin", "i2"),  # 1: the second player gets The Coin
        ("mulligan_above", "i2"),  # highest cost of opening cards that are kept; -1: no mulligan
        ("first_draw", "i2"),  # 1: both players draw on their first turn
        ("turn_cap", "i2"),  # rounds after which the game is a draw
        ("hero_health", "i2"),  # starting and full health of heroes, 1 to 30
    ]
)
"""A ruleset for kernels (`engine.ruleset.Ruleset`)."""

DECK = np.dtype(
    [
        ("cards", "i2", (DECK_SIZE,)),  # card numbers
        ("size", "i2"),  # cards that are dealt, 1 to 30
        ("pool", "i2"),  # 0: `cards` as listed; n: `size` random draws from the first n
        ("power", "i2"),  # 1 + card number of the hero power; 0: the deck has no class
        (
            "varied",
            "i2",
        ),  # 1 + a variant's number of cards with its property (`deck_variants`); 0: no variant
        ("given", "i2", (DECK_SIZE,)),  # replacement of each card with the property; -1: none
        ("without", "i2", (DECK_SIZE,)),  # replacement without it; -1: another card of the deck
    ]
)
"""A deck for kernels (`engine.decks.Deck`)."""

ZERO_MINION = np.zeros(1, MINION)
"""Content of an empty board position."""


@njit
def draw_card(side: np.void) -> None:
    """Draw one card: into the hand, burned if the hand is full, fatigue if the deck is empty.

    `side` is modified in place. Fatigue damage is 1, 2, 3, ...; armour absorbs it first, and an immune hero
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
    """Damage a hero; armour absorbs damage first. `side` is modified in place."""
    absorbed = min(damage, side["armour"])
    side["armour"] -= absorbed
    side["health"] -= damage - absorbed


@njit
def start_turn(state: np.void) -> None:
    """Begin the active player's turn: new mana crystal, full mana, ready minions, card draw. In place."""
    start_turn_without_draw(state)
    if draws_at_turn_start(state):
        draw_card(state["sides"][state["active"]])


@njit
def draws_at_turn_start(state: np.void) -> bool:
    """Whether the active player draws a card at the start of this turn."""
    return bool(state["turn"] > 1 or state["first_draw"])


@njit
def start_turn_without_draw(state: np.void) -> None:
    """Begin the active player's turn without the card draw. Modified in place."""
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
        state: a record of dtype `STATE`; its content is overwritten.
        cards: the card table, shape (cards,), dtype `CARD`.
        first: deck of the player who goes first, a record of dtype `DECK`.
        second: deck of the other player.
        rules: a record of dtype `RULES`.
        key: the game's key (`engine.streams`). Each seat has its own shuffle, so two games with the same key
            and exchanged agents have the same deal.
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
    """Deal a game as `new_game` does, with the players' mulligan choices. `state` is modified in place.

    Args:
        state: a record of dtype `STATE`; its content is overwritten.
        cards: the card table, shape (cards,), dtype `CARD`.
        first: deck of the player who goes first, a record of dtype `DECK`.
        second: deck of the other player.
        rules: a record of dtype `RULES`; without a mulligan the choices are ignored.
        key: the game's key.
        first_choices: codes of `engine.codes.MulliganCode` by card number, of the player who goes first;
            uint8, shape (cards,), or shape (0,) for the ruleset's rule.
        second_choices: the same of the other player.
    """
    state["turn"] = 1
    state["turn_cap"] = rules["turn_cap"]
    state["active"] = 0
    state["first_draw"] = rules["first_draw"]
    state["last_entity_id"] = 0
    state["n_options"] = 0
    state["options"][:] = 0
    state["n_choices"] = 0
    for place in range(MAX_CHOICES):
        state["choices"][place]["card"] = 0
        state["choices"][place]["row"] = 0
        state["choices"][place]["chosen_before"] = 0
    above = rules["mulligan_above"]
    _deal(state["sides"][0], cards, first, rules["hand_first"], above, first_choices, key, 0)
    _deal(state["sides"][1], cards, second, rules["hand_second"], above, second_choices, key, 1)
    for seat in range(2):
        state["sides"][seat]["health"] = rules["hero_health"]
        state["sides"][seat]["max_health"] = rules["hero_health"]
        state["sides"][seat]["hero_attacks_left"] = (
            1 if cards[0]["game_features"] & GameFeature.EFFECTS else 0
        )
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
    """Shuffle a deck, draw the opening hand and perform the mulligan. `side` is modified in place."""
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
    if cards[0]["game_features"]:
        clear_counters(side)
        if cards[0]["game_features"] & GameFeature.HERO_CLASSES and deck["power"]:
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
        _apply_variant(side["deck"], deck, key, seat)
    if deck["pool"] == 0:
        shuffle(side["deck"], deck["size"], derive(derive(key, Purpose.SHUFFLE), seat))
    for _ in range(min(hand, deck["size"])):
        draw_card(side)
    if mulligan_above >= 0:
        stream = derive(derive(key, Purpose.MULLIGAN), seat)
        if len(choices):
            mulligan_by_choice(side, cards, mulligan_above, choices, stream)
        else:
            mulligan_by_cost(side, cards, mulligan_above, stream)


@njit
def clear_counters(side: np.void) -> None:
    """Reset the counters and lists that only some games track. `side` is modified in place."""
    side["weapon_aura"] = 0
    side["played"] = 0
    side["spells"] = 0
    side["totems"] = 0
    side["died_this_turn"] = 0
    side["hero_damage_this_turn"] = 0
    side["elementals"] = 0
    side["elementals_before"] = 0
    side["overloaded"] = 0
    side["powers"] = 0
    side["secrets_played"] = 0
    side["pending_costs"][:] = 0
    side["n_graveyard"] = 0
    side["graveyard"][:] = 0
    side["jade"] = 0
    side["hero_class"] = 0
    side["n_secrets"] = 0
    side["secrets"][:] = 0
    side["secret_entity_ids"][:] = 0
    for place in range(HAND_SIZE):
        side["hand_modifiers"][place]["cost"] = 0
        side["hand_modifiers"][place]["attack"] = 0
        side["hand_modifiers"][place]["health"] = 0


@njit
def _apply_variant(cards: np.ndarray, deck: np.void, key: np.uint64, seat: int) -> None:
    """Apply a deck variant: replace cards until the variant's number of cards has the variant's property.

    Args:
        cards: numbers of the deck's 30 cards, of a list in its order. Modified in place.
        deck: a record of dtype `DECK` with a variant.
        key: the game's key.
        seat: the player's seat.
    """
    stream = derive(derive(key, Purpose.DECK_VARIANT), seat)
    pick = derive(derive(key, Purpose.DECK), seat)
    listed, order, ranked = np.zeros(DECK_SIZE, np.int64), np.arange(DECK_SIZE), np.zeros(DECK_SIZE, np.int64)
    for place in range(DECK_SIZE):
        listed[place] = below(pick, place, deck["pool"]) if deck["pool"] > 0 else place
    shuffle(order, DECK_SIZE, stream)
    n_own = n_able = 0
    for is_own in (True, False):
        for rank in range(DECK_SIZE):
            number = listed[order[rank]]
            given = deck["given"][number]
            if given >= 0 and (given == deck["cards"][number]) == is_own:
                ranked[n_able] = order[rank]
                n_able += 1
        if is_own:
            n_own = n_able
    for rank in range(n_able):
        place, number = ranked[rank], listed[ranked[rank]]
        if rank < deck["varied"] - 1:
            cards[place] = deck["given"][number]
        elif deck["without"][number] >= 0:
            cards[place] = deck["without"][number]
        else:  # one of the deck's other cards
            other = ranked[n_own + below(stream, DECK_SIZE + rank, n_able - n_own)]
            cards[place] = deck["cards"][listed[other]]
