"""A player's view of a position: read-only, without hidden information."""

from enum import IntEnum
from functools import cached_property

import numpy as np

from engine.actions import Action
from engine.cards import Card
from engine.codes import BOARD_SIZE, COIN, DECK_SIZE, HAND_SIZE, UNKNOWN, Keyword
from engine.effect_codes import (
    GRANTED_BY_OPPONENT,
    HIDDEN_SECRET,
    MAX_GRAVEYARD,
    CardFilter,
    HeroClassCode,
    Trait,
)
from engine.effects.card_filters import has_effects
from engine.effects.legal_actions import current_cost
from engine.jit import njit
from engine.minion import MinionSpec, keyword_flags_of
from engine.position import Position
from engine.state import STATE

MAX_SHOWN = DECK_SIZE + HAND_SIZE + BOARD_SIZE + MAX_GRAVEYARD + 1
"""Largest number of opponent cards that `OpponentInfo` may reveal."""


class OpponentInfo(IntEnum):
    """Extra information about the opponent's cards; an agent requests it by the attribute `shown`."""

    NOTHING = 0
    NOT_SEEN = 1  # for a known deck list: its cards not seen yet
    SEEN = 2  # the cards of its deck seen so far
    HAND = 3  # its hand; hidden information, for cheating agents in experiments
    SECRETS = 4  # for a known deck list: its Secrets, wherever they are now


class MinionView:
    """A minion on the board.

    Attributes:
        card: its card, with the printed numbers.
        attack: current attack.
        health: current health.
        keywords: bits of its current keywords; `has(Keyword.TAUNT)` tests one.
        attacks_left: remaining attacks of this turn, 0 to 2.
        arrived: whether it was played this turn.
        max_health: full health; this and the following are 0 or empty in games without real cards.
        traits: bits of `engine.effect_codes.Trait`: frozen, silenced and the like.
        spell_damage: its bonus to its player's spell damage.
        turn_attack: the part of its attack that ends with the turn.
        gifts: cards whose effects it gained, such as a Deathrattle.
    """

    def __init__(self, position: Position, minion: np.void) -> None:
        self.card: Card = position.table.cards[minion["card"]]
        self.attack = int(minion["attack"])
        self.health = int(minion["health"])
        self.keywords = int(minion["keywords"])
        self.attacks_left = int(minion["attacks_left"])
        self.arrived = bool(minion["arrived"])
        self.max_health = int(minion["max_health"])
        self.traits = int(minion["traits"])
        self.spell_damage = int(minion["spell_damage"])
        self.turn_attack = int(minion["turn_attack"])
        self.gifts: tuple[Card, ...] = tuple(
            position.table.cards[(gift & ~GRANTED_BY_OPPONENT) - 1]
            for gift in minion["granted_effects"].tolist()
            if gift
        )

    def has(self, what: Keyword | Trait) -> bool:
        """Whether the minion has a keyword or a trait."""
        return bool((self.traits if isinstance(what, Trait) else self.keywords) & what)

    @property
    def spec(self) -> MinionSpec:
        """The minion's current numbers and keywords, with the attacks it has left."""
        flags = keyword_flags_of(self.keywords)
        cost, worth = self.card.spec.cost, self.card.spec.value
        return MinionSpec(self.attack, self.health, cost, worth, **flags, attacks_left=self.attacks_left)


class SideView:
    """One player's half of the game, without what is hidden from the observer.

    Attributes:
        seat: 0 is the player who went first.
        health: the hero's health.
        max_health: the hero's full health.
        armour: the hero's armour, lost before health.
        mana: mana left this turn.
        crystals: mana crystals.
        fatigue: draws from an empty deck so far; the next one deals one damage more than this.
        hand_size: cards in hand.
        deck_size: cards in deck.
        power: the hero power; None in a deck without a class. This and the following need real cards.
        power_used: whether the hero power was used this turn.
        weapon: the weapon's card; None without one.
        weapon_attack: the weapon's attack.
        durability: the weapon's durability.
        hero_attack: the hero's attack without weapon, this turn.
        hero_attacks_left: the hero's remaining attacks of this turn.
        traits: bits of `engine.effect_codes.Trait` of the hero: frozen, immune.
        overload: crystals that will be locked on the next turn.
        locked: crystals locked this turn.
        played: cards played this turn; this and the following are counted only if a card needs them.
        spells: spells cast in this game.
        jade: Jade Golems summoned in this game.
    """

    def __init__(self, position: Position, seat: int) -> None:
        side = position.state["sides"][seat]
        self.seat = seat
        self.health = int(side["health"])
        self.max_health = int(side["max_health"])
        self.armour = int(side["armour"])
        self.mana = int(side["mana"])
        self.crystals = int(side["crystals"])
        self.fatigue = int(side["fatigue"])
        self.hand_size = int(side["n_hand"])
        self.deck_size = int(side["n_deck"])
        self.power: Card | None = position.table.cards[side["power"] - 1] if side["power"] else None
        self.power_used = bool(side["power_used"])
        self.weapon: Card | None = position.table.cards[side["weapon"]] if side["durability"] else None
        self.weapon_attack = int(side["weapon_attack"])
        self.durability = int(side["durability"])
        self.hero_attack = int(side["hero_attack"])
        self.hero_attacks_left = int(side["hero_attacks_left"])
        self.traits = int(side["traits"])
        self.overload = int(side["overload"])
        self.locked = int(side["locked"])
        self.played = int(side["played"])
        self.spells = int(side["spells"])
        self.jade = int(side["jade"])
        self._position = position
        self._side = side

    @cached_property
    def board(self) -> tuple[MinionView, ...]:
        """Minions from left to right."""
        return tuple(
            MinionView(self._position, minion) for minion in self._side["board"][: self._side["n_board"]]
        )

    @cached_property
    def hand(self) -> tuple[str | Card, ...]:
        """Cards in hand: a `Card`, "The Coin", or "?" if hidden from the observer."""
        return _cards(self._position, self._side["hand"][: self.hand_size])

    @cached_property
    def held(self) -> tuple[tuple[int, int, int], ...]:
        """Modifiers of each card in hand: changes of cost, attack and health."""
        return tuple(
            (int(modifier["cost"]), int(modifier["attack"]), int(modifier["health"]))
            for modifier in self._modifiers
        )

    @property
    def _modifiers(self) -> np.ndarray:
        return np.asarray(self._side["hand_modifiers"][: self.hand_size])

    @cached_property
    def costs(self) -> tuple[int | None, ...]:
        """Current cost of each card in hand; None if hidden from the observer."""
        table = self._position.table
        found: list[int | None] = []
        for place, number in enumerate(self._side["hand"][: self.hand_size].tolist()):
            if number < 0 and number != COIN:
                found.append(None)
            elif table.effects:
                found.append(int(current_cost(self._position.state, table.array, self.seat, place)))
            else:
                found.append(0 if number == COIN else table.cards[number].spec.cost)
        return tuple(found)

    @cached_property
    def secrets(self) -> tuple[Card | HeroClassCode, ...]:
        """Secrets in play, oldest first: a `Card`, or its class if hidden from the observer."""
        numbers = self._side["secrets"][: self._side["n_secrets"]].tolist()
        cards = self._position.table.cards
        return tuple(
            cards[number] if number >= 0 else HeroClassCode(HIDDEN_SECRET - number) for number in numbers
        )


class PlayerView:
    """A player's view at a decision: own hand, both boards, and the number of hidden cards.

    The opponent's hand and deck are hidden; the own deck is visible without its order. Deck lists are open:
    the card table has the cards of both decks.

    Attributes:
        position: the position with hidden cards replaced, for kernels and notation; read-only.
        seat: the observing player; 0 went first.
        shown: card numbers of the opponent, as `list_opponent_cards` lists them; empty unless the agent
            requests them.

    Args:
        position: the true position.
        seat: the observing player.
        shown: the requested information about the opponent's cards.
        dealt: contents of the opponent's deck (`engine.batches.dealt_cards`), shape (`DECK_SIZE`,).
    """

    def __init__(
        self,
        position: Position,
        seat: int,
        shown: OpponentInfo = OpponentInfo.NOTHING,
        dealt: np.ndarray | None = None,
    ) -> None:
        self.seat = seat
        self.shown = NO_CARDS_SHOWN
        if shown:
            cards = np.zeros(MAX_SHOWN, np.int64)
            known = np.full(DECK_SIZE, UNKNOWN, np.int16) if dealt is None else dealt
            n = _show(position.states, position.table.array, known, seat, int(shown), cards)
            self.shown = cards[:n]
        self.position = Position(_observed(position.states, position.table.array, seat), position.table)

    @property
    def turn(self) -> int:
        """The number of the round, from 1."""
        return int(self.position.state["turn"])

    @cached_property
    def own(self) -> SideView:
        """The observer's half."""
        return SideView(self.position, self.seat)

    @cached_property
    def enemy(self) -> SideView:
        """The opponent's half."""
        return SideView(self.position, 1 - self.seat)

    @cached_property
    def offered(self) -> tuple[str | Card, ...]:
        """Cards offered to the active player, as by Discover; "?" if hidden from the observer."""
        state = self.position.state
        return _cards(self.position, state["options"][: state["n_options"]])

    @cached_property
    def legal_actions(self) -> tuple[Action, ...]:
        """The legal actions, in the fixed order of `engine.rules.legal_actions`."""
        return tuple(self.position.legal_actions())


NO_CARDS_SHOWN = np.zeros(0, np.int64)


def _cards(position: Position, numbers: np.ndarray) -> tuple[str | Card, ...]:
    """Cards by number; "The Coin" or "?" for numbers without a card."""
    return tuple(position.card(number) or position.card_name(number) for number in numbers.tolist())


def _observed(states: np.ndarray, cards: np.ndarray, seat: int) -> np.void:
    """A read-only copy of a state without the information hidden from the player at `seat`."""
    copy = np.frombuffer(bytearray(states.tobytes()), STATE)
    _hide(copy, cards, seat)
    observed: np.void = np.frombuffer(copy.tobytes(), STATE)[0]
    return observed


@njit
def _hide(states: np.ndarray, cards: np.ndarray, seat: int) -> None:
    """`hide_information` in the only state of an array of shape (1,)."""
    hide_information(states[0], cards, seat)


@njit
def hide_information(state: np.void, cards: np.ndarray, seat: int) -> None:
    """Remove the information hidden from the player at `seat`. `state` is modified in place."""
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    for place in range(1, own["n_deck"]):  # sorted by insertion: thirty cards at most
        card, before = own["deck"][place], place
        while before > 0 and own["deck"][before - 1] > card:
            own["deck"][before] = own["deck"][before - 1]
            before -= 1
        own["deck"][before] = card
    if state["active"] != seat:
        state["options"][: state["n_options"]] = UNKNOWN
    for place in range(enemy["n_hand"]):
        enemy["hand"][place] = UNKNOWN
        enemy["hand_modifiers"][place]["cost"] = 0
        enemy["hand_modifiers"][place]["attack"] = 0
        enemy["hand_modifiers"][place]["health"] = 0
    for place in range(enemy["n_secrets"]):
        if enemy["secrets"][place] >= 0:
            enemy["secrets"][place] = HIDDEN_SECRET - cards[enemy["secrets"][place]]["hero_class"]
    for place in range(enemy["n_deck"]):
        enemy["deck"][place] = UNKNOWN


@njit
def _show(
    states: np.ndarray, cards: np.ndarray, dealt: np.ndarray, seat: int, what: int, shown: np.ndarray
) -> int:
    """`list_opponent_cards` of the only state of an array of shape (1,)."""
    return list_opponent_cards(states[0], cards, dealt, seat, what, shown)


@njit
def list_opponent_cards(
    state: np.void, cards: np.ndarray, dealt: np.ndarray, seat: int, what: int, shown: np.ndarray
) -> int:
    """Write the opponent's cards that an agent may see to `shown`; return their number.

    In a game without effects, the cards not seen yet are those of hand and deck, without The Coin. With real
    cards, effects create cards in hands and decks, whose numbers would reveal hidden information: the seen
    cards are then those on the board, the weapon and the recorded dead minions, created or not; the cards not
    seen yet are all others of the deck.

    Args:
        state: dtype `STATE`, with nothing hidden.
        cards: the card table.
        dealt: contents of the opponent's deck, shape (`DECK_SIZE`,); `UNKNOWN` if unknown.
        seat: the agent's seat, 0 or 1.
        what: a `OpponentInfo`.
        shown: integers, shape (`MAX_SHOWN`,). Modified in place; only a hand's order has a meaning.
    """
    enemy = state["sides"][1 - seat]
    n = 0
    if what == OpponentInfo.HAND:
        for place in range(enemy["n_hand"]):
            shown[place] = enemy["hand"][place]
        return int(enemy["n_hand"])
    if what == OpponentInfo.NOTHING:
        return 0
    if what == OpponentInfo.SECRETS:
        for place in range(len(dealt)):
            if dealt[place] >= 0 and cards[dealt[place]]["tags"] & CardFilter.SECRET:
                shown[n] = dealt[place]
                n += 1
        return n
    if has_effects(cards):
        n = _list_visible(enemy, shown)
        return n if what == OpponentInfo.SEEN else _rest_of_deck(dealt, shown, n)
    for place in range(enemy["n_hand"]):
        if enemy["hand"][place] >= 0:
            shown[n] = enemy["hand"][place]
            n += 1
    for place in range(enemy["n_deck"]):
        shown[n] = enemy["deck"][place]
        n += 1
    return n if what == OpponentInfo.NOT_SEEN else _rest_of_deck(dealt, shown, n)


@njit
def _list_visible(side: np.void, shown: np.ndarray) -> int:
    """Write a player's visible cards to `shown`: board, dead minions and weapon; return their number."""
    n = 0
    for place in range(side["n_board"]):
        shown[n] = side["board"][place]["card"]
        n += 1
    for place in range(side["n_graveyard"]):
        shown[n] = side["graveyard"][place]
        n += 1
    if side["durability"] > 0:
        shown[n] = side["weapon"]
        n += 1
    return n


@njit
def _rest_of_deck(dealt: np.ndarray, shown: np.ndarray, n: int) -> int:
    """Replace the first `n` cards of `shown` by the other cards of the deck `dealt`; return their number.

    Returns:
        The number of other cards.
    """
    others = np.zeros(len(shown), np.int64)
    others[:n] = shown[:n]
    found = 0
    for place in range(len(dealt)):
        if dealt[place] < 0:
            continue
        is_seen = False
        for other in range(n):
            if others[other] == dealt[place]:
                others[other] = UNKNOWN
                is_seen = True
                break
        if not is_seen:
            shown[found] = dealt[place]
            found += 1
    return found
