"""Real cards as views tell them, and trees of what may follow, chance included."""

from collections import Counter
from fractions import Fraction

import pytest

from engine import PlayerView, parse_action, parse_position, perft
from engine.codes import Keyword
from engine.effect_codes import HeroClassCode, Trait
from engine.effects.chance import Chance
from engine.perft_counter import chance_successors, perft_leaves
from engine.streams import stream_key
from tests.conftest import UNCOMPILED


def test_views_tell_what_real_cards_bring() -> None:
    text = (
        "turn 5 | hero 20 mana 2/5 attacks 1 attack 1 overload 2 is [frozen] power [Fireblast* used] "
        "weapon [Fiery War Axe* now 4/1] board [Chillwind Yeti* now 6/3 until 2 gift EX1_096 is frozen] | hero 20"
    )
    view = PlayerView(parse_position(text), 0)
    own, minion = view.own, view.own.board[0]
    assert own.power is not None
    assert own.weapon is not None
    assert (own.power.name, own.power_used, own.weapon.name) == ("Fireblast", True, "Fiery War Axe")
    assert (own.weapon_attack, own.durability, own.hero_attack, own.hero_attacks_left) == (4, 1, 1, 1)
    assert (own.overload, own.locked, own.traits) == (2, 0, Trait.FROZEN)
    assert (minion.max_health, minion.turn_attack, minion.has(Trait.FROZEN)) == (5, 2, True)
    assert not minion.has(Keyword.TAUNT)
    assert [card.name for card in minion.gifts] == ["Loot Hoarder"]
    assert (view.enemy.power, view.enemy.weapon) == (None, None)


def test_views_tell_costs_secrets_and_what_is_offered() -> None:
    text = (
        "turn 5 | hero 20 mana 5/5 spells 2 jade 3 hand [Sea Giant*; Fireball* held -2/0/0; The Coin] secrets [Ice Block*]"
        " board [Wisp*; Wisp*] | hero 20 hand [Wisp*] secrets [Explosive Trap* born 4; Snipe* born 5]"
    )
    position = parse_position(text)
    own, other = PlayerView(position, 0), PlayerView(position, 1)
    assert (own.own.costs, own.enemy.costs, other.enemy.costs) == ((8, 2, 0), (None,), (None, None, None))
    assert [card.name for card in own.own.secrets] == ["Ice Block"]
    assert own.enemy.secrets == (HeroClassCode.HUNTER, HeroClassCode.HUNTER)
    assert (other.enemy.secrets, other.enemy.jade, other.enemy.spells) == ((HeroClassCode.MAGE,), 3, 2)
    assert own.offered == ()
    chosen = parse_position("turn 5 | hero 20 mana 5/5 hand [Museum Curator*] | hero 20")
    chosen.play(parse_action("play 0"), Chance.drawn(stream_key(1), chosen.states))
    assert len(PlayerView(chosen, 0).offered) == 3
    assert PlayerView(chosen, 1).offered == ("?", "?", "?")
    bodies = PlayerView(
        parse_position("turn 5 | hero 20 mana 5/5 hand [Chillwind Yeti 4:4/5; The Coin] | hero 20"), 0
    )
    assert bodies.own.costs == (4, 0)


@pytest.mark.parametrize(
    ("minion", "traits"),
    [
        ("Harvest Golem* is frozen", Trait.DEATHRATTLE | Trait.FROZEN),
        ("Ancient Watcher* is frozen", Trait.CANT_ATTACK | Trait.FROZEN),
        ("Harvest Golem* is silenced", Trait.SILENCED),
        ("Chillwind Yeti* gift EX1_096", Trait.DEATHRATTLE),
        ("Chillwind Yeti* is silenced gift EX1_096", Trait.SILENCED | Trait.DEATHRATTLE),
    ],
)
def test_what_a_card_says_stays_unless_it_is_silenced(minion: str, traits: int) -> None:
    position = parse_position(f"turn 5 | hero 20 board [{minion}] | hero 20")
    assert position.state["sides"][0]["board"][0]["traits"] == traits
    assert str(parse_position(str(position))) == str(position)


@pytest.mark.parametrize(
    "text",
    [
        "turn 5 | hero 30 mana 3/3 hand [Arcane Missiles*; Knife Juggler 2:3/2] power [Fireblast*] | hero 2 board [2/2; 1/1]",
        "turn 9 | hero 3 mana 5/5 hand [Mad Bomber*; Crackle*] | hero 4 board [Loot Hoarder*; 3/2]",
        "turn 9 | hero 3 mana 8/8 hand [Multi-Shot*; Deadly Shot*; Brawl*] board [2/2 ready; 1/1] | hero 4 board [2/3; 3/2]",
    ],
)
def test_probabilities_of_a_tree_sum_to_1(text: str) -> None:
    position = parse_position(text)
    before = str(position)
    for depth in range(2 if UNCOMPILED else 3):
        tree = list(perft_leaves(position, depth))
        assert sum(branch.probability for branch in tree) == 1
        assert perft(position, depth) == sum(branch.depth == depth for branch in tree)
    assert str(position) == before


def test_outcomes_of_an_action_are_counted_by_hand() -> None:
    """Two missiles of three at a 1/1 or the hero: the minion dies by the first hit or the second, or lives."""
    position = parse_position("turn 5 | hero 30 mana 1 hand [Arcane Missiles*] | hero 30 board [1/1]")
    found = Counter()
    for probability, then in chance_successors(position, position.legal_actions()[0]):
        found[int(then.state["sides"][1]["health"])] += probability
    assert found == {28: Fraction(7, 8), 27: Fraction(1, 8)}
