"""Static facts about cards that justify the search's reductions, and features relevant to a turn; compiled.

A game keeps what any of its cards asks for (`engine.effect_codes.Ask`). On one turn few of them can act:
those in play, those in the hand, and what these bring. A search that keeps no more than they ask for is
faster, and takes more positions for one.
"""

import numpy as np

from engine.codes import BOARD_SIZE, Keyword
from engine.effect_codes import (
    ENEMY,
    EVENT_CARD,
    HEROES,
    MINIONS,
    OF_OTHER,
    OWN,
    POOL,
    Ask,
    CardFilter,
    CardKind,
    Condition,
    Count,
    Filter,
    HeroName,
    Need,
    Op,
    Pick,
    Trigger,
)
from engine.effects.card_filters import listed, n_listed
from engine.jit import njit, njit_borrowing

HARMS_OWN = 1
"""Bit: it may do to an own minion on board what makes an order of actions matter."""
HELPS_OWN = 2
"""Bit: it strengthens own minions on board, or needs one as its target."""
CHANGES_HAND = 4
"""Bit: it discards cards, or puts some into the own hand that can be played."""
BARS_HERO = 8
"""Bit: it may put a Taunt in the way of attacks on the enemy hero, or asks whether that hero is hurt."""
COUNTS_MINIONS = 16
"""Bit: whether it can be played depends on own minions."""
GIVES_MANA = 32
"""Bit: more can be paid after it."""
PLAIN = 64
"""Bit: all it does is to bring a minion that does nothing this turn, to give armour, and to draw cards."""
AIMS_ANYWHERE = 128
"""Bit: it harms the character it is aimed at, own ones too; none is better to harm than the enemy hero."""

HURTS_ENEMIES_ALONE = 256
"""Bit: all it does is damage or freeze the other side."""
AIMS_AT_MINIONS = 512
"""Bit: it harms the minion it is aimed at, own ones too."""
ODD = 2048
"""Bit: it does, asks or counts what no reduction was made for, or waits for something."""
HITS_HERO_ODDLY = 1024
"""Bit: it may deal damage to the enemy hero that chance decides, or beside what it is aimed at."""

CHANCE = 4096
"""Bit: chance has a part in what it does, or something has to be chosen."""

GIVES_ATTACKS = Keyword.WINDFURY | Keyword.CHARGE | Keyword.RUSH | Keyword.LIFESTEAL
"""Keywords that change what attacks on a hero are worth."""

FACT = np.dtype(
    [
        ("bits", "i4"),  # of those above
        ("face", "i4"),  # damage it may deal to the enemy hero this turn, at most, without Spell Damage
        ("hits", "i4"),  # how often Spell Damage may add to that
        ("spell_damage", "i4"),
        ("draws", "i4"),  # cards it draws
        ("arrivals", "i4"),  # own minions it may bring
        ("armour", "i4"),  # that it gives the own hero, where it is plain
        ("survival", "i4"),  # health of the minions that it brings, where it is plain
        ("attack", "i4"),  # their attack
        ("shield", "i4"),  # attack and health of those among them with Divine Shield
        ("harm", "i4"),  # damage it may deal to the own hero, at most, unless it is aimed there
        ("asks", "i8"),  # bits of `Ask` of what it, and what it may bring, needs to be kept
        ("brings", "i2"),  # 1: it, or what it may bring, brings cards of decks, hands or graves into play
        ("looks", "i2"),  # 1: it, or what it may bring, depends on cards in hand or on mana
        ("asks_of_game", "i8"),  # bits of `Ask` of all cards of the game; the same of all its cards
    ]
)
"""A card, for the search."""


@njit
def learn_facts(cards: np.ndarray) -> np.ndarray:
    """The facts of all cards of a game; dtype `FACT`, shape (cards,)."""
    facts = np.zeros(len(cards), FACT)
    for number in range(len(cards)):
        _learn(cards, number, facts[number])
        facts[number]["asks"] = cards[number]["asks_alone"]
        facts[number]["brings"] = _has_op(cards[number], BRINGING)
        facts[number]["looks"] = _looks_itself(cards[number])
        facts[number]["asks_of_game"] = cards[0]["asks"]
    lists = np.zeros((len(cards), 3), np.int64)
    while _ask_for_what_comes(cards, facts, lists):
        pass
    return facts


BRINGING = (Op.RECRUIT, Op.CALL, Op.MIRROR, Op.HIDE, Op.RAISE)
"""Operations that bring cards of decks, hands or graves into play."""

ON_HANDS = (Op.DISCARD, Op.ENHANCE, Op.CHEAPEN, Op.CALL, Op.RECRUIT, Op.HIDE, Op.FILL)
"""Operations on the cards of a hand, or that take some out of a deck."""


@njit_borrowing
def _has_op(card: np.void, ops: tuple[int, ...]) -> bool:
    """Whether a row of a card does one of these."""
    for row in range(card["n_effects"]):
        for op in ops:
            if card["effects"][row]["op"] == op:
                return True
    return False


@njit_borrowing
def _looks_itself(card: np.void) -> bool:
    """Whether what a card does depends on cards in hand or on mana."""
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
    return _has_op(card, ON_HANDS)


N_CLASSES = len(HeroName)
"""Lists of a row that asks for a player's class, one for each."""


@njit_borrowing
def _ask_for_what_comes(cards: np.ndarray, facts: np.ndarray, lists: np.ndarray) -> bool:
    """Let each card ask for what the cards it makes ask for; whether any asks for more. Modified in place.

    Args:
        cards: the card table.
        facts: dtype `FACT`.
        lists: shape (cards, 3): what the cards of each list ask for, whether they bring others, and look.
    """
    lists[:] = 0
    for number in range(len(cards)):
        for place in range(n_listed(cards, number)):
            fact = facts[listed(cards, number, place)]
            lists[number, 0] |= fact["asks"]
            lists[number, 1] |= fact["brings"]
            lists[number, 2] |= fact["looks"]
    changed = False
    for number in range(len(cards)):
        card, fact = cards[number], facts[number]
        asks, brings, looks = int(fact["asks"]), int(fact["brings"]), int(fact["looks"])
        for row in range(card["n_effects"]):
            effect = card["effects"][row]
            op, first = effect["op"], int(effect["amount"])
            if op not in COMES:
                continue
            if first >= 0:
                for made in range(first, max(first, int(effect["amount2"])) + 1):
                    asks |= facts[made]["asks"]
                    brings |= facts[made]["brings"]
                    looks |= facts[made]["looks"]
            elif first == POOL and op != Op.ADD:
                several = effect["of_filter"] & (CardFilter.OWN_CLASS | CardFilter.ENEMY_CLASS)
                for n in range(N_CLASSES if several else 1):
                    asks |= lists[effect["pool"] + n, 0]
                    brings |= lists[effect["pool"] + n, 1]
                    looks |= lists[effect["pool"] + n, 2]
        if asks != fact["asks"] or brings != fact["brings"] or looks != fact["looks"]:
            fact["asks"], fact["brings"], fact["looks"] = asks, brings, looks
            changed = True
    return changed


COMES = (
    Op.SUMMON,
    Op.TRANSFORM,
    Op.EQUIP,
    Op.ADD,
    Op.GIVE,
    Op.POWER,
    Op.JADE,
    Op.OPTIONS,
    Op.BREW,
    Op.CHOOSE_POWER,
    Op.DECOY,
)
"""Operations that name cards which may act on the same turn; a random card that is added is not seen then."""


@njit_borrowing
def _learn(cards: np.ndarray, number: int, fact: np.void) -> None:
    """Write the facts of a card. `fact` is modified in place."""
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
        bits |= COUNTS_MINIONS
    alone = kind in (CardKind.SPELL, CardKind.POWER) and not keywords & Keyword.LIFESTEAL
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        alone = alone and effect["side"] == ENEMY and effect["op"] in (Op.DAMAGE, Op.FREEZE)
        if effect["trigger"] == Trigger.DEATHRATTLE and kind == CardKind.WEAPON:
            bits |= HARMS_OWN | CHANGES_HAND | BARS_HERO
        if effect["trigger"] == Trigger.PLAY:
            bits |= _bits_of(effect)
            ranges = effect["op"] in (Op.DAMAGE, Op.SUMMON) and effect["amount2"] > effect["amount"]
            if ranges or effect["pick"] in (Pick.RANDOM, Pick.SPLIT) or effect["op"] == Op.DISCARD:
                bits |= CHANCE
            face = _face_of(effect, cards)
            fact["face"] += face
            if face > 0 and effect["op"] == Op.DAMAGE:
                fact["hits"] += max(int(effect["times"]), 1)
            if effect["op"] == Op.DRAW and effect["side"] & OWN:
                fact["draws"] += effect["amount"]
            if effect["op"] == Op.DAMAGE and effect["side"] & OWN and effect["kind"] & HEROES:
                more = max(int(effect["amount"]), int(effect["amount2"])) * max(int(effect["times"]), 1)
                fact["harm"] += more if effect["pick"] != Pick.CHOSEN else 0
            if effect["op"] == Op.SUMMON and effect["side"] & OWN:
                fact["arrivals"] += effect["times"]
            elif effect["op"] == Op.CONTROL:
                fact["arrivals"] += 1
    if _hits_oddly(card):
        bits |= HITS_HERO_ODDLY
    if _is_odd(card):
        bits |= ODD | CHANCE
    if is_plain(cards, number, fact):
        bits |= PLAIN
    fact["bits"] = bits | (HURTS_ENEMIES_ALONE if alone else 0)


PLAIN_COUNTS = (Count.NONE,)
"""What amounts may be multiplied by for the reductions to hold."""

PLAIN_FILTERS = sum(one for one in Filter if one != Filter.NOT_FOE)
"""Bits of the filters for which they hold."""


@njit_borrowing
def _is_odd(card: np.void) -> bool:
    """Whether a card is `ODD`."""
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


@njit_borrowing
def _hits_oddly(card: np.void) -> bool:
    """Whether a card is `HITS_HERO_ODDLY`."""
    hits, beside, chance, aimed = False, False, False, False
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        if effect["trigger"] != Trigger.PLAY:
            continue
        damage, chosen = effect["op"] == Op.DAMAGE, effect["pick"] == Pick.CHOSEN
        hero = damage and effect["side"] & ENEMY and effect["kind"] & HEROES
        varied = damage and effect["amount2"] > effect["amount"]
        hits = hits or hero
        beside = beside or (hero and not chosen)
        chance = chance or varied or effect["pick"] in (Pick.RANDOM, Pick.SPLIT)
        aimed = aimed or chosen
    return bool((hits and chance) or (beside and aimed))


@njit_borrowing
def is_plain(cards: np.ndarray, number: int, fact: np.void) -> bool:
    """Whether a card is `PLAIN`; then `fact` is told what it gives."""
    card = cards[number]
    if card["kind"] == CardKind.WEAPON or card["spell_damage"] or card["overload"]:
        return False
    if card["needs"] & ~Need.ROOM or (card["kind"] == CardKind.MINION and not is_idle(card)):
        return False
    armour = 0
    fact["survival"], fact["attack"], fact["shield"] = 0, 0, 0
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
            if not fixed or token["n_effects"] or token["spell_damage"] or not is_idle(token):
                return False
            _add_body(token, fact)
        elif op != Op.DRAW:
            return False
    fact["armour"] = armour
    return True


@njit_borrowing
def _add_body(card: np.void, fact: np.void) -> None:
    """Count a minion that comes in. `fact` is modified in place."""
    fact["survival"] += card["health"]
    fact["attack"] += card["attack"]
    if card["keywords"] & Keyword.DIVINE_SHIELD:
        fact["shield"] += card["attack"] + card["health"]


@njit_borrowing
def is_idle(card: np.void) -> bool:
    """Whether a minion cannot attack on the turn it comes."""
    return not card["keywords"] & (Keyword.CHARGE | Keyword.RUSH)


@njit_borrowing
def _bits_of(effect: np.void) -> int:
    """The side conditions that a row breaks."""
    op, side, pick = effect["op"], effect["side"], effect["pick"]
    bits = 0
    if pick == Pick.NONE:
        if op in (Op.DISCARD, Op.ADD):
            bits |= CHANGES_HAND
        elif op in (Op.MANA, Op.UNLOCK, Op.CRYSTALS):
            bits |= GIVES_MANA
        elif op == Op.SUMMON and side & ENEMY:
            bits |= BARS_HERO
        return bits
    if pick == Pick.SELF:
        return bits
    if side & OWN and effect["kind"] & MINIONS:
        bits |= _bits_of_own(effect)
    if side & ENEMY and effect["kind"] & MINIONS:
        taunt = op == Op.BUFF and effect["keywords"] & Keyword.TAUNT
        if taunt or op in (Op.TRANSFORM, Op.LOSE, Op.TRIGGER, Op.GIVE):
            bits |= BARS_HERO
    asks = effect["filter"] & (Filter.DAMAGED | Filter.UNDAMAGED)
    if side & ENEMY and effect["kind"] & HEROES and (op == Op.SET or asks):
        bits |= BARS_HERO
    return bits


@njit_borrowing
def _bits_of_own(effect: np.void) -> int:
    """The side conditions that a row breaks which may be about own minions."""
    op, pick, hero = effect["op"], effect["pick"], effect["kind"] & HEROES
    if effect["filter"] & Filter.DAMAGED:
        return HARMS_OWN
    if op in (Op.HEAL, Op.RESTORE):
        return HELPS_OWN if pick == Pick.CHOSEN and not hero else 0
    if op == Op.BUFF:
        more = effect["amount"] >= 0 and effect["amount2"] >= 0
        return HELPS_OWN if more and not effect["keywords"] & GIVES_ATTACKS else HARMS_OWN
    if pick != Pick.CHOSEN or op in (Op.BOUNCE, Op.TRIGGER, Op.GIVE):
        return HARMS_OWN
    if op in (Op.DAMAGE, Op.FREEZE) and effect["filter"] == 0 and hero and effect["side"] & ENEMY:
        return AIMS_ANYWHERE
    return HARMS_OWN if hero else AIMS_AT_MINIONS


@njit_borrowing
def _face_of(effect: np.void, cards: np.ndarray) -> int:
    """Damage that a row may deal to the enemy hero, at most: by itself, or by the own hero's attacks."""
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


@njit_borrowing
def narrow(state: np.void, cards: np.ndarray, facts: np.ndarray) -> int:
    """Let the game keep what the cards that can act on this turn ask for.

    Args:
        state: where the search of the turn starts, dtype `engine.state.STATE`.
        cards: a copy of the game's card table that is the search's own. `asks` of its first card is modified.
        facts: of the cards (`ilp_agent.search.card_facts`).

    Returns:
        1 where something that can act on the turn depends on cards in hand or on mana; else 0.
    """
    asks, brings, looks = np.int64(0), 0, 0
    seat = state["active"]
    for who in range(2):
        side = state["sides"][who]
        for place in range(side["n_board"]):
            minion = side["board"][place]
            asks |= facts[minion["card"]]["asks"]
            brings |= facts[minion["card"]]["brings"]
            looks |= facts[minion["card"]]["looks"]
            for gift in minion["gifts"]:
                if gift:
                    asks |= facts[(gift & ~OF_OTHER) - 1]["asks"]
                    brings |= facts[(gift & ~OF_OTHER) - 1]["brings"]
                    looks |= facts[(gift & ~OF_OTHER) - 1]["looks"]
        if side["durability"] > 0:
            asks |= facts[side["weapon"]]["asks"]
            brings |= facts[side["weapon"]]["brings"]
            looks |= facts[side["weapon"]]["looks"]
    own = state["sides"][seat]
    for place in range(own["n_hand"]):
        number = own["hand"][place]
        held = own["held"][place]
        if held["cost"] or held["attack"] or held["health"]:
            asks |= Ask.HAND
        if number >= 0:
            asks |= facts[number]["asks"]
            brings |= facts[number]["brings"]
            looks |= facts[number]["looks"]
    if own["power"]:
        asks |= facts[own["power"] - 1]["asks"]
        brings |= facts[own["power"] - 1]["brings"]
        looks |= facts[own["power"] - 1]["looks"]
    for promise in own["promises"]:
        if promise:
            asks |= facts[promise - 1]["asks"]
    for place in range(own["n_deck"]):
        number = own["deck"][place]
        if number >= 0 and cards[number]["hears"] >> Trigger.IN_DECK & 1:
            asks |= facts[number]["asks"]
    for n in range(state["n_choices"]):
        asks |= facts[state["choices"][n]["card"]]["asks"]
    for n in range(state["n_options"]):
        if state["options"][n] >= 0:
            asks |= facts[state["options"][n]]["asks"]
    if brings:
        for who in range(2):
            side = state["sides"][who]
            for place in range(side["n_deck"]):
                if side["deck"][place] >= 0:
                    asks |= facts[side["deck"][place]]["asks"]
            for place in range(side["n_graves"]):
                asks |= facts[side["graves"][place]]["asks"]
    cards[0]["asks"] = asks | (facts[0]["asks_of_game"] & Ask.EFFECTS)
    return 1 if brings or state["n_choices"] > 0 else int(looks)
