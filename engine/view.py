"""What a player sees: a read-only copy of the position without the cards hidden from that player."""

from enum import IntEnum
from functools import cached_property

import numpy as np

from engine.actions import Action
from engine.cards import Card
from engine.codes import BOARD_SIZE, COIN, DECK_SIZE, HAND_SIZE, UNKNOWN, Keyword
from engine.effect_codes import GRAVES, HIDDEN_SECRET, OF_OTHER, HeroName, Trait
from engine.effects.card_filters import has_effects
from engine.effects.legal_actions import cost_of
from engine.jit import njit
from engine.minion import MinionSpec, keyword_flags_of
from engine.position import Position
from engine.state import STATE

MOST_SHOWN = DECK_SIZE + HAND_SIZE + BOARD_SIZE + GRAVES + 1
"""Cards of an opponent that may be shown beside a view."""


class Shown(IntEnum):
    """What of the opponent's cards is shown beside a view; agents ask for it by an attribute `shown`."""

    NOTHING = 0
    LEFT = 1  # its deck list is known: the cards of it that were not seen yet
    SEEN = 2  # the cards of its deck that were seen
    HAND = 3  # its hand, which no honest agent sees


class MinionView:
    """A minion on the board, as both players see it.

    Attributes:
        card: the card it was played from, with its printed numbers.
        attack: current attack.
        health: current health.
        keywords: bits of the keywords it still has; `has(Keyword.TAUNT)` asks for one.
        attacks_left: attacks it may still make this turn, 0 to 2.
        arrived: whether it was played this turn.
        max_health: health it has when it is not hurt; with real cards, as all that follows, else 0.
        traits: bits of `engine.effect_codes.Trait`: frozen, silenced and the like.
        spell_damage: that it adds to its player's spells.
        turn_attack: the part of its attack that ends with the turn.
        gifts: cards whose text it was given, such as a Deathrattle.
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
            position.table.cards[(gift & ~OF_OTHER) - 1] for gift in minion["gifts"].tolist() if gift
        )

    def has(self, what: Keyword | Trait) -> bool:
        """Whether it (still) has a keyword or a trait."""
        return bool((self.traits if isinstance(what, Trait) else self.keywords) & what)

    @property
    def spec(self) -> MinionSpec:
        """Its current numbers and keywords, with the attacks it has left."""
        flags = keyword_flags_of(self.keywords)
        cost, worth = self.card.spec.cost, self.card.spec.value
        return MinionSpec(self.attack, self.health, cost, worth, **flags, attacks_left=self.attacks_left)


class SideView:
    """One player's half, as far as the observer may see it.

    Attributes:
        seat: 0 went first.
        health: of the hero.
        max_health: that it has when it is not hurt.
        armour: of the hero, lost before health.
        mana: left this turn.
        crystals: mana a turn.
        fatigue: draws made from an empty deck; the next one deals one damage more than this.
        hand_size: cards in hand.
        deck_size: cards in deck.
        power: the hero power; None in a deck without a class. What follows is of games with real cards.
        power_used: whether it was used this turn.
        weapon: the weapon's card; None without one.
        weapon_attack: the weapon's attack.
        durability: attacks that the weapon has left.
        hero_attack: attack that the hero has this turn beside the weapon's.
        hero_attacks_left: attacks it may still make this turn.
        traits: bits of `engine.effect_codes.Trait` of the hero: frozen, immune.
        overload: crystals that will be locked on the next turn.
        locked: crystals locked this turn.
        played: cards played this turn; counted, as what follows, where a card of the game asks for it.
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
        """Cards in hand: a `Card`, "The Coin", or "?" where the observer cannot see it."""
        return _cards(self._position, self._side["hand"][: self.hand_size])

    @cached_property
    def held(self) -> tuple[tuple[int, int, int], ...]:
        """What befell each card in hand: by how much it has more mana, attack and health than in print."""
        return tuple((int(one["cost"]), int(one["attack"]), int(one["health"])) for one in self._held)

    @property
    def _held(self) -> np.ndarray:
        return np.asarray(self._side["held"][: self.hand_size])

    @cached_property
    def costs(self) -> tuple[int | None, ...]:
        """What each card in hand costs now; None where the observer cannot see it."""
        table = self._position.table
        found: list[int | None] = []
        for place, number in enumerate(self._side["hand"][: self.hand_size].tolist()):
            if number < 0 and number != COIN:
                found.append(None)
            elif table.effects:
                found.append(int(cost_of(self._position.state, table.array, self.seat, place)))
            else:
                found.append(0 if number == COIN else table.cards[number].spec.cost)
        return tuple(found)

    @cached_property
    def secrets(self) -> tuple[Card | HeroName, ...]:
        """Secrets in play, oldest first: a `Card`, or its class where the observer cannot see it."""
        numbers = self._side["secrets"][: self._side["n_secrets"]].tolist()
        cards = self._position.table.cards
        return tuple(cards[number] if number >= 0 else HeroName(HIDDEN_SECRET - number) for number in numbers)


class PlayerView:
    """All a player knows at a decision: own hand, both boards, counts of what is hidden.

    The opponent's hand and deck are hidden; the player's own deck is known without its order. Deck lists
    are open: the card table names the cards of both decks.

    Attributes:
        position: the position with hidden cards replaced, for kernels and notation; read-only.
        seat: the observing player, 0 went first.
        shown: card numbers of the opponent, as `show_cards` lists them; none unless an agent asks for them.

    Args:
        position: the true position.
        seat: the observing player.
        shown: what is shown of the opponent's cards.
        dealt: card numbers that the opponent's deck had (`engine.batches.dealt_cards`), shape (`DECK_SIZE`,).
    """

    def __init__(
        self,
        position: Position,
        seat: int,
        shown: Shown = Shown.NOTHING,
        dealt: np.ndarray | None = None,
    ) -> None:
        self.seat = seat
        self.shown = NOTHING_SHOWN
        if shown:
            cards = np.zeros(MOST_SHOWN, np.int64)
            known = np.full(DECK_SIZE, UNKNOWN, np.int16) if dealt is None else dealt
            n = _show(position.states, position.table.array, known, seat, int(shown), cards)
            self.shown = cards[:n]
        self.position = Position(_observed(position.states, position.table.array, seat), position.table)

    @property
    def turn(self) -> int:
        """The round, from 1."""
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
        """Cards of which the active player has to choose one, as by Discover; "?" where they are hidden."""
        state = self.position.state
        return _cards(self.position, state["options"][: state["n_options"]])

    @cached_property
    def legal_actions(self) -> tuple[Action, ...]:
        """Every legal action, in the fixed order of `engine.rules.legal_actions`."""
        return tuple(self.position.legal_actions())


NOTHING_SHOWN = np.zeros(0, np.int64)


def _cards(position: Position, numbers: np.ndarray) -> tuple[str | Card, ...]:
    """Cards by their numbers; the name where there is no card: "The Coin", or "?"."""
    return tuple(position.card(number) or position.card_name(number) for number in numbers.tolist())


def _observed(states: np.ndarray, cards: np.ndarray, seat: int) -> np.void:
    """A read-only copy of a state without what the player at `seat` cannot know."""
    copy = np.frombuffer(bytearray(states.tobytes()), STATE)
    _hide(copy, cards, seat)
    observed: np.void = np.frombuffer(copy.tobytes(), STATE)[0]
    return observed


@njit
def _hide(states: np.ndarray, cards: np.ndarray, seat: int) -> None:
    """`hide` in the only state of an array of shape (1,)."""
    hide(states[0], cards, seat)


@njit
def hide(state: np.void, cards: np.ndarray, seat: int) -> None:
    """Hide what the player at `seat` cannot know. `state` is modified in place."""
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
        enemy["held"][place]["cost"] = 0
        enemy["held"][place]["attack"] = 0
        enemy["held"][place]["health"] = 0
    for place in range(enemy["n_secrets"]):
        if enemy["secrets"][place] >= 0:
            enemy["secrets"][place] = HIDDEN_SECRET - cards[enemy["secrets"][place]]["hero_class"]
    for place in range(enemy["n_deck"]):
        enemy["deck"][place] = UNKNOWN


@njit
def _show(
    states: np.ndarray, cards: np.ndarray, dealt: np.ndarray, seat: int, what: int, shown: np.ndarray
) -> int:
    """`show_cards` of the only state of an array of shape (1,)."""
    return show_cards(states[0], cards, dealt, seat, what, shown)


@njit
def show_cards(
    state: np.void, cards: np.ndarray, dealt: np.ndarray, seat: int, what: int, shown: np.ndarray
) -> int:
    """List what an agent is shown of the opponent's cards; how many there are.

    In a game of bodies the cards not seen yet are those of hand and deck together; The Coin is no card of a
    deck. On real cards effects create cards in hands and decks, which would tell more than a player knows:
    there the cards seen are those that lie on the board, are the weapon, or are remembered as dead, created
    or not; all others of the deck are left.

    Args:
        state: dtype `STATE`, nothing hidden.
        cards: the card table.
        dealt: card numbers that the opponent's deck had, shape (`DECK_SIZE`,); `UNKNOWN` where it is
            not known.
        seat: of the agent, 0 or 1.
        what: a `Shown`.
        shown: integers, shape (`MOST_SHOWN`,). Modified in place; the order of cards means nothing but for
            a hand's.
    """
    enemy = state["sides"][1 - seat]
    n = 0
    if what == Shown.HAND:
        for place in range(enemy["n_hand"]):
            shown[place] = enemy["hand"][place]
        return int(enemy["n_hand"])
    if what == Shown.NOTHING:
        return 0
    if has_effects(cards):
        n = _list_open(enemy, shown)
        return n if what == Shown.SEEN else _part_of(dealt, shown, n)
    for place in range(enemy["n_hand"]):
        if enemy["hand"][place] >= 0:
            shown[n] = enemy["hand"][place]
            n += 1
    for place in range(enemy["n_deck"]):
        shown[n] = enemy["deck"][place]
        n += 1
    return n if what == Shown.LEFT else _part_of(dealt, shown, n)


@njit
def _list_open(side: np.void, shown: np.ndarray) -> int:
    """List the cards of a player that lie open, those of dead minions too. `shown` is modified in place."""
    n = 0
    for place in range(side["n_board"]):
        shown[n] = side["board"][place]["card"]
        n += 1
    for place in range(side["n_graves"]):
        shown[n] = side["graves"][place]
        n += 1
    if side["durability"] > 0:
        shown[n] = side["weapon"]
        n += 1
    return n


@njit
def _part_of(dealt: np.ndarray, shown: np.ndarray, n: int) -> int:
    """Leave in `shown` the cards of a deck that are not among its first `n`. `shown` is modified in place.

    Returns:
        How many are left in it.
    """
    others = np.zeros(len(shown), np.int64)
    others[:n] = shown[:n]
    found = 0
    for place in range(len(dealt)):
        if dealt[place] < 0:
            continue
        here = False
        for other in range(n):
            if others[other] == dealt[place]:
                others[other] = UNKNOWN
                here = True
                break
        if not here:
            shown[found] = dealt[place]
            found += 1
    return found
