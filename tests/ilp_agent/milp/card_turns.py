"""Turns of class A: from games of the search against itself, and random ones of what the program accepts."""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from engine import parse_position
from ilp_agent import CardTurn, Weights
from ilp_agent.milp.card_reading import read_card_turn
from ilp_agent.milp.spell_sources import UnsupportedTurnError
from ilp_agent.weights import N_EXTENDED, N_WEIGHTS
from tests.ilp_agent.search.turns import CLASS_DECKS, reached

Turn = tuple[CardTurn, Weights]

HAND = (
    *("Fireball", "Holy Smite", "Frostbolt", "Arcane Shot", "Shadow Bolt", "Backstab", "Sinister Strike"),
    *(
        "Assassinate",
        "Execute",
        "Shadow Word: Pain",
        "Sap",
        "Fiery War Axe",
        "Arcanite Reaper",
        "Shield Block",
    ),
    *("Heroic Strike", "Claw", "Innervate", "Arcane Intellect", "Lightning Bolt", "Frost Nova", "Holy Light"),
    *("Elven Archer", "Stormpike Commando", "Murloc Tidehunter", "Shattered Sun Cleric", "Wolfrider"),
    *("Bloodfen Raptor", "Sen'jin Shieldmasta", "Argent Squire", "Scarlet Crusader", "Novice Engineer"),
)
"""Cards of the random hands."""

BOARD = (
    *("Bloodfen Raptor", "Chillwind Yeti", "Sen'jin Shieldmasta", "Argent Squire", "Scarlet Crusader"),
    *("Water Elemental", "Boulderfist Ogre", "Stonetusk Boar", "Thrallmar Farseer", "Faerie Dragon"),
    *("Worgen Infiltrator", "Emperor Cobra", "Oasis Snapjaw", "Goldshire Footman"),
)
"""Minions of the random boards."""

COMING = (
    *(
        "Harvest Golem",
        "Leper Gnome",
        "Loot Hoarder",
        "Sludge Belcher",
        "Infested Tauren",
        "Cairne Bloodhoof",
    ),
    *("Haunted Creeper", "Nerubian Egg", "Bloodfen Raptor", "Sen'jin Shieldmasta", "Chillwind Yeti"),
)
"""Minions of boards where others may come, and what turns them into others or silences them."""

CHANGING = ("Polymorph", "Hex", "Silence", "Ironbeak Owl", "Spellbreaker", "Polymorph: Boar", "Purify")
"""Cards that change a minion."""

POWERS = (
    *("Fireblast", "Steady Shot", "Armor Up!", "Life Tap", "Dagger Mastery", "Shapeshift", "Reinforce"),
    "Lesser Heal",
)


def is_class_a(turn: CardTurn, weights: Weights) -> bool:
    """Whether the integer program can count a turn."""
    try:
        read_card_turn(turn, weights)
    except UnsupportedTurnError:
        return False
    return True


class InPlay(NamedTuple):
    """Turns of class A from games, and how many of how many turns are of class A, by deck."""

    turns: tuple[Turn, ...]
    shares: dict[str, tuple[int, int]]


@cache
def in_play(n: int, seed: int) -> InPlay:
    """`n` turns of class A from games of the class decks against themselves.

    Half of the games are between the shipped profiles, half between weights drawn for all sixteen terms.
    """
    found: list[Turn] = []
    looked = dict.fromkeys(CLASS_DECKS, 0)
    fitting = dict.fromkeys(CLASS_DECKS, 0)
    size = max(20, n // 18)
    while len(found) < n:
        for deck in CLASS_DECKS:
            for extended in (False, True):
                turns = reached((deck,), size, seed, extended)
                for number in range(size):
                    turn = (
                        CardTurn(turns.position(number)),
                        Weights.from_array(turns.weights[number, :N_EXTENDED]),
                    )
                    looked[deck] += 1
                    if is_class_a(*turn):
                        fitting[deck] += 1
                        found.append(turn)
        seed += 1
    order = np.random.default_rng(seed).permutation(len(found))[:n]
    shares = {deck: (fitting[deck], looked[deck]) for deck in CLASS_DECKS}
    return InPlay(tuple(found[place] for place in order), shares)


def random_turns(n: int, seed: int) -> Iterator[Turn]:
    """`n` random turns of class A, each with random weights of all sixteen terms, many of them 0."""
    pick = np.random.default_rng(seed)
    while n:
        turn = CardTurn(parse_position(_random_text(pick)))
        array = pick.random(N_EXTENDED) * pick.choice([1.0, 5.0, 20.0], N_EXTENDED)
        array[pick.random(N_EXTENDED) < 0.2] = 0.0
        array[N_WEIGHTS:][pick.random(N_EXTENDED - N_WEIGHTS) < 0.4] = 0.0
        weights = Weights.from_array(array)
        if is_class_a(turn, weights):
            yield turn, weights
            n -= 1


def _random_text(pick: np.random.Generator) -> str:
    """A random position on one line."""

    def some(names: tuple[str, ...], most: int) -> list[str]:
        return [str(name) for name in pick.choice(names, int(pick.integers(0, most + 1)))]

    board = COMING if pick.random() < 0.5 else BOARD
    ready = [f"{name}* ready" if pick.random() < 0.8 else f"{name}*" for name in some(board, 3)]
    hand = [f"{name}*" for name in some(HAND, 3)]
    hand += [f"{name}*" for name in some(CHANGING if pick.random() < 0.5 else HAND, 1)]
    hand += ["The Coin"] if pick.random() < 0.3 else []
    enemies = [f"{name}*{' is frozen' if pick.random() < 0.1 else ''}" for name in some(board, 4)]
    weapon = f" weapon [{pick.choice(['Fiery War Axe', 'Wicked Knife'])}*]" if pick.random() < 0.3 else ""
    mana = int(pick.integers(0, 11))
    own = f"hero {int(pick.integers(1, 31))}+{int(pick.integers(0, 4))} mana {mana}/{max(mana, 1)}"
    own += f" attacks {int(pick.random() < 0.8)} power [{pick.choice(POWERS)}*]{weapon}"
    deck = "deck [Bloodfen Raptor*; Bloodfen Raptor*; Bloodfen Raptor*; Bloodfen Raptor*; Bloodfen Raptor*]"
    return (
        f"turn 6 first effects 2 | {own} board [{'; '.join(ready)}] hand [{'; '.join(hand)}] {deck} | "
        f"hero {int(pick.integers(1, 31))} board [{'; '.join(enemies)}] {deck}"
    )
