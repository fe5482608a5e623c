"""Drawn positions: plain games as ever; with effects also weapons, powers, and what befell characters."""

import re

import pytest

from engine.effect_codes import EFFECTS_VERSION
from evo.cli import engine_commands as engine_main
from evo.terminal.console import run_command_line

PLAIN = (
    "turn 5 second | hero 28+2 fatigue 1 board [River Crocolisk 2:2/3 now 2/1; 1:4/4T] hand [2 ?] deck [3 ?] "
    "| hero 30 mana 3/5 board [Windfury Harpy 6:4/5W ready 2; 2/2 arrived; Chillwind Yeti 4:4/5 ready] "
    "hand [The Coin; Chillwind Yeti 4:4/5] deck [1/1]"
)
DRAWN = """\
Turn 5, the second player to move
╭─ First player: 28 health + 2 armour, mana 5/5, deck 3, f─╮
│ hand: 2 hidden cards                                     │
│ ╭─────────────────────╮ ╭─────────╮                      │
│ │ [0] River Crocolisk │ │ [1] 4/4 │                      │
│ │ 2/1                 │ │ 4/4     │                      │
│ ╰─────────────────────╯ │ Taunt   │                      │
│                         ╰─────────╯                      │
╰──────────────────────────────────────────────────────────╯
╭─ Second player: 30 health, mana 3/5, deck 1 ─────────────╮
│ ╭────────────────────╮ ╭─────────────╮                   │
│ │ [0] Windfury Harpy │ │ [1] 2/2     │                   │
│ │ 4/5                │ │ 2/2         │                   │
│ │ Windfury           │ │ just played │                   │
│ │ ready twice        │ ╰─────────────╯                   │
│ ╰────────────────────╯                                   │
│ ╭────────────────────╮                                   │
│ │ [2] Chillwind Yeti │                                   │
│ │ 4/5                │                                   │
│ │ ready              │                                   │
│ ╰────────────────────╯                                   │
│ hand: [0] The Coin; [1] Chillwind Yeti (4) 4/5           │
╰──────────────────────────────────────────────────────────╯
4 legal actions: play 0 (The Coin); attack 0 -> 1 (Windfury
Harpy -> 4/4); attack 2 -> 1 (Chillwind Yeti -> 4/4); end
turn
"""
REAL = (
    f"turn 7 second effects {EFFECTS_VERSION} | hero 24+3 mana 0/7 overload 2 power [Armor Up! 2*] "
    "weapon [Arcanite Reaper 5:5/2* now 5/1] is [frozen] board [Chillwind Yeti 4:4/5* now 4/2; "
    "Sen'jin Shieldmasta 4:3/5T* is silenced,frozen] hand [3 ?] deck [12 ?] "
    "| hero 17 mana 5/7 locked 1 attack 1 attacks 1 power [Fireblast 2*] board [Kobold Geomancer 2:2/2* ready; "
    "Water Elemental 4:3/6* now 5/6 until 2 ready; Bloodmage Thalnos 2:1/1* gift EX1_110 arrived; "
    "Ancient Watcher 2:4/5* is cant-attack ready; Goldshire Footman 1:1/2T* is frozen ready] "
    "hand [Fireball*; Arcanite Reaper*; The Coin] deck [9 ?]"
)


@pytest.fixture
def draw(monkeypatch, capsys):
    def drawn(position: str, columns: int = 60) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr("sys.argv", ["program", "show", position])
        with pytest.raises(SystemExit):
            run_command_line(engine_main.app, "program")
        return "\n".join(line.rstrip() for line in capsys.readouterr().out.split("\n"))

    return drawn


def minion(drawing: str, name: str) -> list[str]:
    """The lines in the box of a minion."""
    lines = drawing.split("\n")
    top = next(n for n, line in enumerate(lines) if f"] {name} " in line)
    start = lines[top].rindex("│", 0, lines[top].index(f"] {name} "))
    found = []
    for line in lines[top:]:
        if line[start] == "╰":
            break
        found.append(line[start + 1 :].partition("│")[0].strip())
    return found[1:]


def test_plain_positions_are_drawn_as_ever(draw) -> None:
    assert draw(PLAIN) == DRAWN


@pytest.mark.parametrize("columns", [60, 80])
def test_a_board_with_effects_shows_what_befell_it(draw, columns: int) -> None:
    drawing = draw(REAL, columns)
    assert max(map(len, drawing.split("\n"))) <= columns
    assert minion(drawing, "Chillwind Yeti") == ["4/2", "wounded, of 5"]
    assert minion(drawing, "Sen'jin Shieldmasta") == ["3/5", "Taunt", "frozen", "silenced"]
    assert minion(drawing, "Kobold Geomancer") == ["2/2", "Spell Damage +1", "ready"]
    assert minion(drawing, "Water Elemental") == ["5/6", "freezes", "+2 attack this turn", "ready"]
    assert minion(drawing, "Bloodmage Thalnos") == [
        *("1/1", "Deathrattle", "Spell Damage +1", "given: Cairne Bloodhoof", "just played"),
    ]
    assert minion(drawing, "Ancient Watcher") == ["4/5", "cannot attack"]
    assert minion(drawing, "Goldshire Footman") == ["1/2", "Taunt", "frozen"]
    text = re.sub(r"[│\s]+", " ", drawing)
    for said in (
        "First player, warrior: 24 health + 3 armour",
        "mana 0/7, deck 12 hero power: Armor Up! (2) weapon: Arcanite Reaper 5/1, printed 5/2 "
        "hero: frozen, 2 mana crystals locked next turn",
        "Second player, mage: 17 health",
        "mana 5/7, deck 9 hero power: Fireblast (2), available hero: +1 attack this turn, Spell Damage +2, "
        "1 mana crystal locked hero ready to attack for 1",
        "hand: [0] Fireball (4); [1] Arcanite Reaper (5) 5/2; [2] The Coin",
    ):
        assert said in text, said


def test_the_power_says_whether_it_can_be_used(draw) -> None:
    half = "hero 30 board [] hand [] deck []"
    for mana, used, state in ((2, "", "available"), (2, " used", "used"), (1, "", "not available now")):
        drawing = draw(
            f"turn 5 effects {EFFECTS_VERSION} | hero 30 mana {mana}/5 power [Fireblast 2*{used}] | {half}"
        )
        assert f"hero power: Fireblast (2), {state}\n" in re.sub(r" *│", "", drawing)


def test_a_frozen_hero_is_not_ready(draw) -> None:
    armed = "hero 30 weapon [Fiery War Axe 3:3/2*] attacks 1"
    half = "hero 30 board [] hand [] deck []"
    assert "hero ready to attack for 3" in draw(f"turn 5 effects {EFFECTS_VERSION} | {armed} | {half}")
    assert "ready" not in draw(f"turn 5 effects {EFFECTS_VERSION} | {armed} is [frozen] | {half}")


def test_secrets_costs_offers_and_what_is_not_covered(draw) -> None:
    drawing = draw(
        "turn 5 effects 2 choices [CFM_649 0 0] options [Frostbolt*; Pyroblast*; Mindgames*]"
        " | hero 27 mana 2/5 hand [Sea Giant*; Fireball* held -2/0/0] secrets [Ice Block*]"
        " | hero 30 board [Wisp*; Wisp*] hand [Mindgames*]"
    )
    text = re.sub(r"[│\s]+", " ", drawing)
    for said in (
        "Secrets: Ice Block",
        "hand: [0] Sea Giant (8, printed 10) 8/8; [1] Fireball (2, printed 4)",
        "to choose from: [0] Frostbolt; [1] Pyroblast; [2] Mindgames",
        "not covered, played without parts of their text: Mindgames (docs/effects.md)",
    ):
        assert said in text, said
