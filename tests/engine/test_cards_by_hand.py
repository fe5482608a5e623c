"""Cards whose rows were written by hand as docs/effects.md describes it: position, action, what must follow."""

import pytest

from engine import parse_action, parse_position
from engine.cards.real import edition

CASES = {
    "Astral Communion: the hand is discarded and all crystals are full": (
        "turn 4 first | hero 30 mana 4/4 hand [Astral Communion*; Fireball*; War Golem*] | hero 30",
        "play 0",
        ["mana 10/10 board [] hand []"],
    ),
    "Astral Communion: with ten crystals it adds Excess Mana after the hand is discarded": (
        "turn 10 first | hero 30 mana 10/10 hand [Astral Communion*; Fireball*; War Golem*] | hero 30",
        "play 0",
        ["mana 6/10 board [] hand [Excess Mana 0*"],
    ),
    "Twig of the World Tree: its last blow": (
        "turn 5 first | hero 30 mana 0/5 attacks 1 weapon [Twig of the World Tree* now 1/1] | hero 30",
        "attack hero -> hero",
        ["mana 10/10", "hero 29"],
    ),
    "Twig of the World Tree: another weapon takes its place": (
        "turn 5 first | hero 30 mana 3/5 weapon [Twig of the World Tree*] attacks 1 hand [Fiery War Axe*] | hero 30",
        "play 0",
        ["mana 10/10 attacks 1 weapon [Fiery War Axe 3:3/2*]"],
    ),
    "Twig of the World Tree: ten crystals are filled again": (
        "turn 10 first | hero 30 mana 1/10 attacks 1 weapon [Twig of the World Tree* now 1/1] | hero 30",
        "attack hero -> hero",
        ["mana 10/10"],
    ),
    "Twig of the World Tree: an opponent who breaks it gives nothing away to itself": (
        "turn 5 first | hero 30 mana 2/5 hand [Acidic Swamp Ooze*] | "
        "hero 30 mana 0/5 weapon [Twig of the World Tree*]",
        "play 0",
        ["mana 0/5", "| hero 30 mana 10/10 board []"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_card_does_what_its_text_says(name: str) -> None:
    text, action, wanted = CASES[name]
    position = parse_position(text)
    position.play(parse_action(action))
    for words in wanted:
        assert words in str(position), str(position)


def test_they_are_exact() -> None:
    for name in dict.fromkeys(name.partition(":")[0] for name in CASES):
        assert edition().find(name).exact, name
