"""Random positions for the solvers, in which every friendly minion is a different card."""

import numpy as np

from engine.cards import Card
from engine.cards.table import CardTable
from engine.codes import COIN, Keyword
from engine.minion import MinionSpec
from engine.position import Position, empty_state, set_order_of_play
from ilp_agent.weights import FULL_NAMES, N_TERMS, N_WEIGHTS
from tests.reference.plain import KEYWORDS


def random_position(
    pick: np.random.Generator,
    friends: int,
    hand: int,
    enemies: int,
    chance: float = 0.2,
    strength: int = 5,
    hero: int = 30,
    enemy_lifesteal: bool = False,
    wounded: bool = False,
) -> Position:
    """A position with the given numbers of minions; each keyword appears with probability `chance`.

    Enemies have no Lifesteal unless asked for: what it heals is outside the turn program. Where `wounded` the
    own hero may have lost health, and minions on board may have arrived by Rush or Charge this turn.
    """

    def spec(cost: int, lifesteal: bool = True) -> MinionSpec:
        flags = {name: bool(pick.random() < chance) for name in KEYWORDS}
        flags["lifesteal"] &= lifesteal
        attack, health = int(pick.integers(0, strength + 1)), int(pick.integers(1, strength + 2))
        return MinionSpec(attack, health, cost, value=float(pick.integers(0, 5)), **flags)

    specs = [spec(0) for _ in range(friends)] + [spec(int(pick.integers(0, 6))) for _ in range(hand)]
    specs += [spec(0, enemy_lifesteal) for _ in range(enemies)]
    table = CardTable([Card("", f"card {chr(97 + n)}", one) for n, one in enumerate(specs)])
    state = empty_state()
    state["turn"], state["turn_cap"], state["first_draw"] = 5, 100, 1
    for seat, numbers in ((0, range(friends)), (1, range(friends + hand, len(specs)))):
        side = state["sides"][seat]
        side["health"] = 30 if seat == 0 else int(pick.integers(1, hero + 1))
        if wounded and seat == 0:
            side["health"] = int(pick.integers(1, 31))
        side["armour"] = int(pick.integers(0, 3)) if seat else 0
        side["mana"] = side["crystals"] = int(pick.integers(0, 11))
        side["n_board"] = len(numbers)
        for slot, number in enumerate(numbers):
            minion = side["board"][slot]
            card = specs[number]
            minion["card"], minion["attack"], minion["health"] = number, card.attack, card.health
            minion["keywords"] = card.keywords
            if seat == 0:
                most = 2 if card.keywords & Keyword.WINDFURY else 1
                minion["attacks_left"] = int(pick.integers(0, 4) > 0) * int(pick.integers(1, most + 1))
                charges = card.keywords & (Keyword.CHARGE | Keyword.RUSH)
                minion["arrived"] = int(wounded and bool(charges) and pick.random() < 0.3)
    own = state["sides"][0]
    cards = [*range(friends, friends + hand)]
    if pick.random() < 0.4 and hand < 10:
        cards.insert(int(pick.integers(hand + 1)), COIN)
    own["n_hand"] = len(cards)
    own["hand"][: len(cards)] = cards
    set_order_of_play(state, table)
    return Position(state, table)


def random_weights(pick: np.random.Generator, further: tuple[str, ...] = ()) -> np.ndarray:
    """The thesis's weights, sometimes with zeros, and 0 for the others but `further`, as kernels take them."""
    weights = np.zeros(N_TERMS)
    weights[:N_WEIGHTS] = pick.random(N_WEIGHTS) * pick.choice([1.0, 5.0, 20.0], N_WEIGHTS)
    weights[:N_WEIGHTS][pick.random(N_WEIGHTS) < 0.15] = 0.0
    for name in further:
        place = FULL_NAMES.index(name)
        weights[place] = pick.random() * pick.choice([0.0, 0.3, 1.0, 5.0, 20.0])
    return weights
