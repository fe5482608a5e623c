"""Action and observation spaces: actions by number, and a player's view as arrays."""

from functools import cache

import numpy as np

from engine.actions import Action
from engine.codes import (
    BOARD_SIZE,
    COIN,
    DECK_SIZE,
    HAND_SIZE,
    HERO,
    HERO_HEALTH,
    MAX_MANA,
    N_TARGETS,
    Keyword,
)
from engine.effect_codes import MAX_SECRETS, N_OFFERED_CARDS, Trait
from engine.effects.legal_actions import current_cost
from engine.position import Position


class ActionNumbers:
    """Numbering of all actions; `action_numbers` caches it.

    Args:
        effects: whether the game has effects: there are some four thousand actions then, else 67.

    Attributes:
        actions: actions by number; the end of the turn is 0.
    """

    def __init__(self, effects: bool) -> None:
        targets = (None, *range(N_TARGETS)) if effects else (None,)
        options, places = ((0, 1, 2), (-1, *range(BOARD_SIZE))) if effects else ((0,), (-1,))
        attackers = (*range(BOARD_SIZE), HERO) if effects else tuple(range(BOARD_SIZE))
        self.actions: tuple[Action, ...] = (
            Action.end_turn(),
            *(
                Action.attack(attacker, defender)
                for attacker in attackers
                for defender in (*range(BOARD_SIZE), HERO)
            ),
            *(
                Action.play(card, target, option, at)
                for card in range(HAND_SIZE)
                for target in targets
                for option in options
                for at in places
            ),
            *(Action.power(target) for target in targets if effects),
            *(Action.choose(card) for card in range(N_OFFERED_CARDS) if effects),
        )
        self._numbers = {action: number for number, action in enumerate(self.actions)}

    def __len__(self) -> int:
        return len(self.actions)

    def number(self, action: Action) -> int:
        """The number of an action."""
        return self._numbers[action]

    def mask(self, position: Position) -> np.ndarray:
        """Mask of the active player's legal actions: int8, shape (actions,), 1 for legal."""
        found = np.zeros(len(self.actions), np.int8)
        found[[self._numbers[action] for action in position.legal_actions()]] = 1
        return found


@cache
def action_numbers(effects: bool) -> ActionNumbers:
    """Numbering of the actions of games with or without effects."""
    return ActionNumbers(effects)


SIDE_NUMBERS = (
    ("health", HERO_HEALTH),
    ("armour", HERO_HEALTH),
    ("mana", MAX_MANA),
    ("crystals", MAX_MANA),
    ("fatigue", 10),
    ("n_hand", HAND_SIZE),
    ("n_deck", DECK_SIZE),
    ("n_board", BOARD_SIZE),
    ("n_secrets", 5),
    ("weapon_attack", 10),
    ("durability", 10),
    ("hero_attack", 10),
    ("hero_attacks_left", 1),
    ("power_used", 1),
    ("overload", MAX_MANA),
    ("locked", MAX_MANA),
)
"""Observed fields of a half, each with its divisor."""

MINION_NUMBERS = (
    ("attack", 10),
    ("health", 10),
    ("max_health", 10),
    ("attacks_left", 2),
    ("arrived", 1),
    ("spell_damage", 5),
)
"""Observed fields of a minion with their divisors; before them 1 for presence, after them keyword bits."""

TRAITS = (Trait.FROZEN, Trait.CANT_ATTACK, Trait.SILENCED, Trait.DEATHRATTLE)
"""Observed traits of a minion, a bit each, after the keywords."""

CARD_NUMBERS = 6
"""Numbers of a card in hand: presence, The Coin, cost, attack, health, affordable; then keyword bits."""

KEYWORDS = np.array([int(bit) for bit in Keyword])
MINION_SIZE = 1 + len(MINION_NUMBERS) + len(KEYWORDS) + len(TRAITS)
CARD_SIZE = CARD_NUMBERS + len(KEYWORDS)
OBSERVATION_SIZE = 2 + 2 * (len(SIDE_NUMBERS) + BOARD_SIZE * MINION_SIZE) + HAND_SIZE * CARD_SIZE
"""Length of an observation."""

N_CARD_PLACES = HAND_SIZE + 2 * BOARD_SIZE + 2 + N_OFFERED_CARDS + MAX_SECRETS
"""Number of card places: own hand, both boards (own first), both weapons, offered cards, own Secrets."""


def observation_names() -> list[str]:
    """Names of the numbers of an observation, in order, such as "own board 0 attack"."""
    minion = ["there", *(name for name, _ in MINION_NUMBERS), *(bit.name.lower() for bit in Keyword)]
    minion += [trait.name.lower() for trait in TRAITS]
    card = [
        "there",
        "coin",
        "cost",
        "attack",
        "health",
        "mana is enough",
        *(bit.name.lower() for bit in Keyword),
    ]
    sides = [
        f"{half} {field}"
        for half in ("own", "enemy")
        for field in (
            *(name for name, _ in SIDE_NUMBERS),
            *(f"board {place} {name}" for place in range(BOARD_SIZE) for name in minion),
        )
    ]
    hand = [f"hand {place} {name}" for place in range(HAND_SIZE) for name in card]
    return ["turn", "to move", *sides, *hand]


def encode_view(position: Position, seat: int) -> np.ndarray:
    """Encode a player's view as numbers, most of them in [0, 1]; float32, shape (`OBSERVATION_SIZE`,).

    Args:
        position: the player's view (`engine.PlayerView.position`).
        seat: the player's seat.
    """
    state = position.state
    parts = [np.array([min(int(state["turn"]), 30) / 30, float(state["active"] == seat)])]
    for side in (state["sides"][seat], state["sides"][1 - seat]):
        parts.append(np.array([side[name] / most for name, most in SIDE_NUMBERS]))
        parts.append(_minions(side["board"], int(side["n_board"])))
    parts.append(_hand(position, seat))
    return np.concatenate(parts).astype(np.float32)


def encode_cards(position: Position, seat: int) -> np.ndarray:
    """Encode the visible cards: 1 + card number by place, 0 for none; int16, shape (`N_CARD_PLACES`,)."""
    state, found = position.state, np.zeros(N_CARD_PLACES, np.int16)
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    hand = own["hand"][: own["n_hand"]]
    found[: len(hand)] = np.where(hand >= 0, hand + 1, 0)
    at = HAND_SIZE
    for side in (own, enemy):
        n = int(side["n_board"])
        found[at : at + n] = side["board"]["card"][:n] + 1
        at += BOARD_SIZE
    for side in (own, enemy):
        found[at] = side["weapon"] + 1 if side["durability"] else 0
        at += 1
    offered = state["options"][: state["n_options"]]
    found[at : at + len(offered)] = np.where(offered >= 0, offered + 1, 0)
    secrets = own["secrets"][: own["n_secrets"]]
    found[at + N_OFFERED_CARDS : at + N_OFFERED_CARDS + len(secrets)] = secrets + 1
    return found


def _minions(board: np.ndarray, n: int) -> np.ndarray:
    found = np.zeros((BOARD_SIZE, MINION_SIZE))
    if n:
        own, size = board[:n], 1 + len(MINION_NUMBERS)
        found[:n, 0] = 1
        for column, (name, most) in enumerate(MINION_NUMBERS, 1):
            found[:n, column] = own[name] / most
        found[:n, size : size + len(KEYWORDS)] = (own["keywords"][:, None] & KEYWORDS) > 0
        found[:n, size + len(KEYWORDS) :] = (own["traits"][:, None] & np.array(TRAITS)) > 0
    return found.ravel()


def _hand(position: Position, seat: int) -> np.ndarray:
    state, table = position.state, position.table
    side, found = state["sides"][seat], np.zeros((HAND_SIZE, CARD_SIZE))
    for place, number in enumerate(side["hand"][: side["n_hand"]].tolist()):
        row = found[place]
        if number < 0:
            row[:2] = 1, number == COIN
            if number == COIN:
                cost = int(current_cost(state, table.array, seat, place)) if table.effects else 0
                row[2], row[5] = cost / MAX_MANA, cost <= side["mana"]
            continue
        spec = table.cards[number].spec
        cost = int(current_cost(state, table.array, seat, place)) if table.effects else spec.cost
        modifier = side["hand_modifiers"][place]
        row[:CARD_NUMBERS] = (
            1,
            0,
            cost / MAX_MANA,
            (spec.attack + modifier["attack"]) / 10,
            (spec.health + modifier["health"]) / 10,
            cost <= side["mana"],
        )
        row[CARD_NUMBERS:] = (spec.keywords & KEYWORDS) > 0
    return found.ravel()
