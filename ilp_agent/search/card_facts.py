"""Static card facts: which pruning rules hold, and which game features a turn depends on; compiled.

A game tracks the features that any of its cards needs (`engine.effect_codes.GameFeature`). In one turn few
cards can act: those in play, in hand, and those that these create. A search that tracks only their features
is faster and merges more positions.
"""

import numpy as np

from engine.codes import BOARD_SIZE, Keyword
from engine.effect_codes import (
    ENEMY,
    EVENT_CARD,
    GRANTED_BY_OPPONENT,
    HEROES,
    MINIONS,
    OWN,
    POOL,
    CardFilter,
    CardKind,
    Condition,
    Count,
    Filter,
    GameFeature,
    HeroClassCode,
    Need,
    Op,
    Pick,
    Trigger,
)
from engine.effects.card_filters import card_list_item, card_list_size
from engine.jit import njit, njit_no_alloc

AFFECTS_OWN_MINIONS = 1
"""Bit: may affect own minions on board so that the order of actions matters."""
BUFFS_OWN_MINIONS = 2
"""Bit: buffs own minions on board, or needs one as its target."""
CHANGES_HAND = 4
"""Bit: discards cards, or adds playable cards to the own hand."""
MAY_BLOCK_HERO = 8
"""Bit: may create a Taunt that blocks attacks on the enemy hero, or depends on that hero's damage."""
NEEDS_MINIONS = 16
"""Bit: whether it can be played depends on own minions."""
GIVES_MANA = 32
"""Bit: gives mana."""
PLAIN = 64
"""Bit: only summons a minion without effects this turn, gives armour, or draws cards."""
HARMS_ANY_TARGET = 128
"""Bit: harms any chosen character, so that the enemy hero is always as good a target as an own one."""

HARMS_ONLY_ENEMIES = 256
"""Bit: only damages or freezes the enemy side."""
HARMS_TARGET_MINION = 512
"""Bit: harms a chosen minion of either side."""
NOT_PRUNABLE = 2048
"""Bit: has an effect, condition or trigger that the pruning rules do not cover."""
UNTARGETED_HERO_DAMAGE = 1024
"""Bit: may deal random damage to the enemy hero, or damage in addition to its target."""

RANDOM_EFFECT = 4096
"""Bit: has random effects or a choice of cards."""

ATTACK_KEYWORDS = Keyword.WINDFURY | Keyword.CHARGE | Keyword.RUSH | Keyword.LIFESTEAL
"""Keywords that change the value of attacks on a hero."""

FACT = np.dtype(
    [
        ("bits", "i4"),  # the bits defined in this module
        ("face", "i4"),  # upper bound on damage to the enemy hero this turn, without Spell Damage
        ("hits", "i4"),  # number of hits that Spell Damage increases
        ("spell_damage", "i4"),
        ("draws", "i4"),  # number of cards drawn
        ("arrivals", "i4"),  # upper bound on own minions summoned
        ("armour", "i4"),  # armour for the own hero, if `PLAIN`
        ("survival", "i4"),  # health of the summoned minions, if `PLAIN`
        ("attack", "i4"),  # attack of the summoned minions
        ("shield", "i4"),  # attack and health of those with Divine Shield
        ("taunt", "i4"),  # health of those with Taunt
        ("harm", "i4"),  # upper bound on untargeted damage to the own hero
        ("game_features", "i8"),  # bits of `GameFeature` for the card and all cards it may create
        ("brings", "i2"),  # 1: the card or one it may create puts cards of decks, hands or graves into play
        ("looks", "i2"),  # 1: the card or one it may create depends on hand or mana
        ("all_game_features", "i8"),  # bits of `GameFeature` for the game; equal for all its cards
    ]
)
"""Facts about a card for the search."""


@njit
def compute_card_facts(cards: np.ndarray) -> np.ndarray:
    """Compute the facts of all cards of a game; dtype `FACT`, shape (cards,)."""
    facts = np.zeros(len(cards), FACT)
    for number in range(len(cards)):
        _compute_facts(cards, number, facts[number])
        facts[number]["game_features"] = cards[number]["card_features"]
        facts[number]["brings"] = _has_op(cards[number], PUT_INTO_PLAY_OPS)
        facts[number]["looks"] = _depends_on_hand(cards[number])
        facts[number]["all_game_features"] = cards[0]["game_features"]
    lists = np.zeros((len(cards), 3), np.int64)
    while _add_created_features(cards, facts, lists):
        pass
    return facts


PUT_INTO_PLAY_OPS = (
    Op.RECRUIT,
    Op.SUMMON_FROM_HAND,
    Op.SUMMON_COPY_FROM_DECK,
    Op.PLAY_SECRETS_FROM_DECK,
    Op.RESURRECT,
)
"""Operations that put cards of decks, hands or graves into play."""

HAND_OPS = (
    Op.DISCARD,
    Op.BUFF_HAND,
    Op.CHANGE_HAND_COST,
    Op.SUMMON_FROM_HAND,
    Op.RECRUIT,
    Op.PLAY_SECRETS_FROM_DECK,
    Op.DRAW_UNTIL,
)
"""Operations on cards in hand, or that take cards out of a deck."""


@njit_no_alloc
def _has_op(card: np.void, ops: tuple[int, ...]) -> bool:
    """Whether an effect row of a card has one of these operations."""
    for row in range(card["n_effects"]):
        for op in ops:
            if card["effects"][row]["op"] == op:
                return True
    return False


@njit_no_alloc
def _depends_on_hand(card: np.void) -> bool:
    """Whether a card's effects depend on cards in hand or on mana."""
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        if effect["count"] in (Count.HAND, Count.OTHER_HAND, Count.ENEMY_HAND, Count.MANA):
            return True
        if abs(effect["condition"]) in (
            Condition.EMPTY_HANDED,
            Condition.ENEMY_HAND,
            Condition.HOLDS_RACE,
            Condition.MANA_FULL,
        ):
            return True
    return _has_op(card, HAND_OPS)


N_CLASSES = len(HeroClassCode)
"""Number of card lists of a row that depends on a player's class."""


@njit_no_alloc
def _add_created_features(cards: np.ndarray, facts: np.ndarray, lists: np.ndarray) -> bool:
    """Add the features of created cards to each card, in one pass; return whether any changed.

    Args:
        cards: the card table.
        facts: dtype `FACT`.
        lists: shape (cards, 3): `game_features`, `brings` and `looks` of each card list.
    """
    lists[:] = 0
    for number in range(len(cards)):
        for place in range(card_list_size(cards, number)):
            fact = facts[card_list_item(cards, number, place)]
            lists[number, 0] |= fact["game_features"]
            lists[number, 1] |= fact["brings"]
            lists[number, 2] |= fact["looks"]
    changed = False
    for number in range(len(cards)):
        card, fact = cards[number], facts[number]
        features, brings, looks = int(fact["game_features"]), int(fact["brings"]), int(fact["looks"])
        for row in range(card["n_effects"]):
            effect = card["effects"][row]
            op, first = effect["op"], int(effect["amount"])
            if op not in CREATING_OPS:
                continue
            if first >= 0:
                for made in range(first, max(first, int(effect["amount2"])) + 1):
                    features |= facts[made]["game_features"]
                    brings |= facts[made]["brings"]
                    looks |= facts[made]["looks"]
            elif first == POOL and op != Op.ADD:
                several = effect["of_filter"] & (CardFilter.OWN_CLASS | CardFilter.ENEMY_CLASS)
                for n in range(N_CLASSES if several else 1):
                    features |= lists[effect["pool"] + n, 0]
                    brings |= lists[effect["pool"] + n, 1]
                    looks |= lists[effect["pool"] + n, 2]
        if features != fact["game_features"] or brings != fact["brings"] or looks != fact["looks"]:
            fact["game_features"], fact["brings"], fact["looks"] = features, brings, looks
            changed = True
    return changed


CREATING_OPS = (
    Op.SUMMON,
    Op.TRANSFORM,
    Op.EQUIP,
    Op.ADD,
    Op.GRANT_EFFECTS,
    Op.POWER,
    Op.JADE,
    Op.CHOOSE_ONE,
    Op.CREATE_POTION,
    Op.CHOOSE_POWER,
    Op.DECOY,
)
"""Operations that create cards which may act in the same turn; random cards added to a hand stay hidden."""


@njit_no_alloc
def _compute_facts(cards: np.ndarray, number: int, fact: np.void) -> None:
    """Compute the facts of a card. `fact` is modified in place."""
    card = cards[number]
    kind, keywords = card["kind"], card["keywords"]
    strikes = 2 if keywords & Keyword.WINDFURY else 1
    bits = 0
    fact["spell_damage"] = card["spell_damage"]
    if kind == CardKind.MINION:
        fact["arrivals"] = 1
        if keywords & (Keyword.CHARGE | Keyword.RUSH):
            fact["face"] = strikes * card["attack"]
    elif kind == CardKind.WEAPON:
        fact["face"] = strikes * card["attack"]
    if card["needs"] & (Need.NEW_MINION | Need.TWO_MINIONS):
        bits |= NEEDS_MINIONS
    only_enemies = kind in (CardKind.SPELL, CardKind.POWER) and not keywords & Keyword.LIFESTEAL
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        only_enemies = only_enemies and effect["side"] == ENEMY and effect["op"] in (Op.DAMAGE, Op.FREEZE)
        if effect["trigger"] == Trigger.DEATHRATTLE and kind == CardKind.WEAPON:
            bits |= AFFECTS_OWN_MINIONS | CHANGES_HAND | MAY_BLOCK_HERO
        if effect["trigger"] == Trigger.PLAY:
            bits |= _bits_of(effect)
            ranges = effect["op"] in (Op.DAMAGE, Op.SUMMON) and effect["amount2"] > effect["amount"]
            if ranges or effect["pick"] in (Pick.RANDOM, Pick.SPLIT) or effect["op"] == Op.DISCARD:
                bits |= RANDOM_EFFECT
            face = _hero_damage_of(effect, cards)
            fact["face"] += face
            if face > 0 and effect["op"] == Op.DAMAGE:
                fact["hits"] += max(int(effect["times"]), 1)
            if effect["op"] == Op.DRAW and effect["side"] & OWN:
                fact["draws"] += effect["amount"]
            if effect["op"] == Op.DAMAGE and effect["side"] & OWN and effect["kind"] & HEROES:
                damage = max(int(effect["amount"]), int(effect["amount2"])) * max(int(effect["times"]), 1)
                fact["harm"] += damage if effect["pick"] != Pick.CHOSEN else 0
            if effect["op"] == Op.SUMMON and effect["side"] & OWN:
                fact["arrivals"] += effect["times"]
            elif effect["op"] == Op.CONTROL:
                fact["arrivals"] += 1
    if _has_untargeted_hero_damage(card):
        bits |= UNTARGETED_HERO_DAMAGE
    if _is_not_prunable(card):
        bits |= NOT_PRUNABLE | RANDOM_EFFECT
    if is_plain(cards, number, fact):
        bits |= PLAIN
    fact["bits"] = bits | (HARMS_ONLY_ENEMIES if only_enemies else 0)


PLAIN_COUNTS = (Count.NONE,)
"""Multipliers of amounts that the pruning rules cover."""

PLAIN_FILTERS = sum(one for one in Filter if one != Filter.NOT_DEFENDER)
"""Bits of the filters that the pruning rules cover."""


@njit_no_alloc
def _is_not_prunable(card: np.void) -> bool:
    """Whether a card is `NOT_PRUNABLE`."""
    if card["options"] or card["needs"] & (Need.DEAD | Need.SECRET_ROOM):
        return True
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        if effect["trigger"] not in (Trigger.PLAY, Trigger.DEATHRATTLE, Trigger.TURN_END):
            return True
        if effect["op"] > Op.TRIGGER or effect["op"] == Op.COST or effect["count"] not in PLAIN_COUNTS:
            return True
        if effect["pick"] > Pick.SELF or abs(effect["condition"]) > Condition.ENEMY_TURN:
            return True
        if effect["of_kind"] or effect["of_filter"] or effect["amount"] == EVENT_CARD:
            return True
        if effect["op"] in (Op.DRAW, Op.BOUNCE) and effect["amount2"]:
            return True
        if effect["filter"] & ~PLAIN_FILTERS:
            return True
    return False


@njit_no_alloc
def _has_untargeted_hero_damage(card: np.void) -> bool:
    """Whether a card is `UNTARGETED_HERO_DAMAGE`."""
    hits, untargeted, chance, aimed = False, False, False, False
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        if effect["trigger"] != Trigger.PLAY:
            continue
        damage, chosen = effect["op"] == Op.DAMAGE, effect["pick"] == Pick.CHOSEN
        hero = damage and effect["side"] & ENEMY and effect["kind"] & HEROES
        ranged = damage and effect["amount2"] > effect["amount"]
        hits = hits or hero
        untargeted = untargeted or (hero and not chosen)
        chance = chance or ranged or effect["pick"] in (Pick.RANDOM, Pick.SPLIT)
        aimed = aimed or chosen
    return bool((hits and chance) or (untargeted and aimed))


@njit_no_alloc
def is_plain(cards: np.ndarray, number: int, fact: np.void) -> bool:
    """Whether a card is `PLAIN`; writes the resulting gains to `fact`."""
    card = cards[number]
    if card["kind"] == CardKind.WEAPON or card["spell_damage"] or card["overload"]:
        return False
    if card["needs"] & ~Need.ROOM or (card["kind"] == CardKind.MINION and not has_summoning_sickness(card)):
        return False
    armour = 0
    fact["survival"], fact["attack"], fact["shield"], fact["taunt"] = 0, 0, 0, 0
    if card["kind"] == CardKind.MINION:
        _add_body(card, fact)
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        op, once = effect["op"], effect["trigger"] == Trigger.PLAY and effect["condition"] == Condition.NONE
        if not once or effect["pick"] != Pick.NONE or effect["side"] != OWN:
            return False
        if op == Op.ARMOUR:
            armour += effect["amount"]
        elif op == Op.SUMMON and fact["arrivals"] == 1:
            token = cards[effect["amount"]] if effect["amount"] >= 0 else card
            fixed = effect["amount"] >= 0 and effect["amount2"] <= effect["amount"]
            if not fixed or token["n_effects"] or token["spell_damage"] or not has_summoning_sickness(token):
                return False
            _add_body(token, fact)
        elif op != Op.DRAW:
            return False
    fact["armour"] = armour
    return True


@njit_no_alloc
def _add_body(card: np.void, fact: np.void) -> None:
    """Add a summoned minion's stats to `fact`, modified in place."""
    fact["survival"] += card["health"]
    fact["attack"] += card["attack"]
    if card["keywords"] & Keyword.DIVINE_SHIELD:
        fact["shield"] += card["attack"] + card["health"]
    if card["keywords"] & Keyword.TAUNT:
        fact["taunt"] += card["health"]


@njit_no_alloc
def has_summoning_sickness(card: np.void) -> bool:
    """Whether a minion cannot attack on the turn it is played."""
    return not card["keywords"] & (Keyword.CHARGE | Keyword.RUSH)


@njit_no_alloc
def _bits_of(effect: np.void) -> int:
    """Fact bits of an effect row."""
    op, side, pick = effect["op"], effect["side"], effect["pick"]
    bits = 0
    if pick == Pick.NONE:
        if op in (Op.DISCARD, Op.ADD):
            bits |= CHANGES_HAND
        elif op in (Op.MANA, Op.UNLOCK_OVERLOAD, Op.CRYSTALS):
            bits |= GIVES_MANA
        elif op == Op.SUMMON and side & ENEMY:
            bits |= MAY_BLOCK_HERO
        return bits
    if pick == Pick.SELF:
        return bits
    if side & OWN and effect["kind"] & MINIONS:
        bits |= _bits_of_own(effect)
    if side & ENEMY and effect["kind"] & MINIONS:
        taunt = op == Op.BUFF and effect["keywords"] & Keyword.TAUNT
        if taunt or op in (Op.TRANSFORM, Op.LOSE_KEYWORDS, Op.TRIGGER, Op.GRANT_EFFECTS):
            bits |= MAY_BLOCK_HERO
    damage_filter = effect["filter"] & (Filter.DAMAGED | Filter.UNDAMAGED)
    if side & ENEMY and effect["kind"] & HEROES and (op == Op.SET or damage_filter):
        bits |= MAY_BLOCK_HERO
    return bits


@njit_no_alloc
def _bits_of_own(effect: np.void) -> int:
    """Fact bits of an effect row that may affect own minions."""
    op, pick, hero = effect["op"], effect["pick"], effect["kind"] & HEROES
    if effect["filter"] & Filter.DAMAGED:
        return AFFECTS_OWN_MINIONS
    if op in (Op.HEAL, Op.RESTORE):
        return BUFFS_OWN_MINIONS if pick == Pick.CHOSEN and not hero else 0
    if op == Op.BUFF:
        more = effect["amount"] >= 0 and effect["amount2"] >= 0
        return BUFFS_OWN_MINIONS if more and not effect["keywords"] & ATTACK_KEYWORDS else AFFECTS_OWN_MINIONS
    if pick != Pick.CHOSEN or op in (Op.BOUNCE, Op.TRIGGER, Op.GRANT_EFFECTS):
        return AFFECTS_OWN_MINIONS
    if op in (Op.DAMAGE, Op.FREEZE) and effect["filter"] == 0 and hero and effect["side"] & ENEMY:
        return HARMS_ANY_TARGET
    return AFFECTS_OWN_MINIONS if hero else HARMS_TARGET_MINION


@njit_no_alloc
def _hero_damage_of(effect: np.void, cards: np.ndarray) -> int:
    """Upper bound on damage to the enemy hero through an effect row, including enabled attacks."""
    op, amount = effect["op"], max(int(effect["amount"]), int(effect["amount2"]))
    if op == Op.DAMAGE and effect["side"] & ENEMY and effect["kind"] & HEROES:
        return amount * max(int(effect["times"]), 1)
    if op == Op.BUFF and effect["side"] & OWN:
        minions = BOARD_SIZE if effect["pick"] == Pick.ALL else 1
        return 2 * minions * max(int(effect["amount"]), 0)
    if op == Op.EQUIP:
        return 2 * int(cards[effect["amount"]]["attack"]) if effect["amount"] >= 0 else BOARD_SIZE
    if op == Op.WEAPON:
        return 2 * max(int(effect["amount"]), 0)
    return 0


@njit_no_alloc
def select_relevant_features(state: np.void, cards: np.ndarray, facts: np.ndarray) -> int:
    """Restrict the game features to those that cards relevant to this turn need.

    Args:
        state: start of the search, dtype `engine.state.STATE`.
        cards: the search's copy of the card table. `game_features` of its first card is modified.
        facts: of the cards (`ilp_agent.search.card_facts`).

    Returns:
        1 if a relevant card depends on cards in hand or on mana; else 0.
    """
    features, brings, looks = np.int64(0), 0, 0
    seat = state["active"]
    for seat_number in range(2):
        side = state["sides"][seat_number]
        for place in range(side["n_board"]):
            minion = side["board"][place]
            features |= facts[minion["card"]]["game_features"]
            brings |= facts[minion["card"]]["brings"]
            looks |= facts[minion["card"]]["looks"]
            for attached in minion["granted_effects"]:
                if attached:
                    features |= facts[(attached & ~GRANTED_BY_OPPONENT) - 1]["game_features"]
                    brings |= facts[(attached & ~GRANTED_BY_OPPONENT) - 1]["brings"]
                    looks |= facts[(attached & ~GRANTED_BY_OPPONENT) - 1]["looks"]
        if side["durability"] > 0:
            features |= facts[side["weapon"]]["game_features"]
            brings |= facts[side["weapon"]]["brings"]
            looks |= facts[side["weapon"]]["looks"]
    own = state["sides"][seat]
    for place in range(own["n_hand"]):
        number = own["hand"][place]
        held = own["hand_modifiers"][place]
        if held["cost"] or held["attack"] or held["health"]:
            features |= GameFeature.HAND_MODIFIERS
        if number >= 0:
            features |= facts[number]["game_features"]
            brings |= facts[number]["brings"]
            looks |= facts[number]["looks"]
    if own["power"]:
        features |= facts[own["power"] - 1]["game_features"]
        brings |= facts[own["power"] - 1]["brings"]
        looks |= facts[own["power"] - 1]["looks"]
    for pending in own["pending_costs"]:
        if pending:
            features |= facts[pending - 1]["game_features"]
    for place in range(own["n_deck"]):
        number = own["deck"][place]
        if number >= 0 and cards[number]["trigger_bits"] >> Trigger.IN_DECK & 1:
            features |= facts[number]["game_features"]
    enemy = state["sides"][1 - seat]
    for place in range(enemy["n_secrets"]):
        number = enemy["secrets"][place]
        if number >= 0:  # not hidden, but assumed (`ilp_agent.search.secrets`)
            features |= facts[number]["game_features"]
            brings |= facts[number]["brings"]
            looks |= facts[number]["looks"]
    for n in range(state["n_choices"]):
        features |= facts[state["choices"][n]["card"]]["game_features"]
    for n in range(state["n_options"]):
        if state["options"][n] >= 0:
            features |= facts[state["options"][n]]["game_features"]
    if brings:
        for seat_number in range(2):
            side = state["sides"][seat_number]
            for place in range(side["n_deck"]):
                if side["deck"][place] >= 0:
                    features |= facts[side["deck"][place]]["game_features"]
            for place in range(side["n_graveyard"]):
                features |= facts[side["graveyard"][place]]["game_features"]
    cards[0]["game_features"] = features | (facts[0]["all_game_features"] & GameFeature.EFFECTS)
    return 1 if brings or state["n_choices"] > 0 else int(looks)
