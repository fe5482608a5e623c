"""What `solve` says of turns, and the puzzles that it writes."""

import json
from pathlib import Path

import pytest

from evo.puzzles import read_puzzles
from tests.evo.runs import manaforge

MAGE = "turn 4 first effects 2 | hero 30 mana 6/6 power [Fireblast 2*] hand [{}] | hero {}"
BODIES = "hero 20 board [3/2 ready; 5/5 ready] | hero 15 board [2/3; 2/3; 1/1]"


@pytest.mark.parametrize(
    ("position", "told"),
    [
        (BODIES, ["lethal: no; proven, no line surely kills", "ties: 4 other ends", "next best end: 10.00"]),
        (
            MAGE.format("Fireball 4*", 7),
            [
                "lethal: yes; proven, a line surely kills",
                "line: play Fireball -> hero; use Fireblast -> hero",
            ],
        ),
        (
            MAGE.format("Arcane Missiles 1*", "4 board [Chillwind Yeti 4:4/5*]"),
            [
                "lethal: no; proven",
                "probability of lethal: 12.5%, proven to be the largest",
                "solve the turn again",
            ],
        ),
        (
            MAGE.format("Fireball 4*", "2 secrets [? mage born 1]"),
            ["yes, unless a Secret of the opponent prevents"],
        ),
        (
            MAGE.format("Arcane Intellect 3*", "9").replace("hand", "deck [4 ?] hand"),
            ["drawn cards count as unplay"],
        ),
        ("hero 20 | hero 30", ["nothing", "none, there is no other end"]),
    ],
)
def test_a_turn_is_told_in_words(position: str, told: list[str]) -> None:
    answer = manaforge("solve", position)
    assert answer.returncode == 0
    for text in told:
        assert text in answer.stdout


def test_more_ends_and_limits_are_told() -> None:
    assert (
        "there may be more ends of the best value than these 2"
        in manaforge("solve", BODIES, "--ends", "2").stdout
    )
    board = "; ".join(f"{n}/{n} ready" for n in range(1, 8))
    walls = "; ".join(f"1/{n}T" for n in range(3, 10))
    hard = f"hero 20 board [{board}] | hero 20 board [{walls}]"
    text = manaforge("solve", hard, "--limit", "30").stdout
    assert "lethal: not proven, no line found that surely kills within 30 positions" in text
    assert "not proven within 30 positions" in text
    assert "ties and gap: unknown within 30 positions" in text


def test_the_same_as_json() -> None:
    told = json.loads(manaforge("solve", BODIES, "--json", "--profile", "keep-alive").stdout)
    assert told["profile"] == "keep-alive"
    assert told["lethal"]["certain"] is False
    assert told["lethal"]["proven"] is True
    assert told["lethal"]["line"] is None
    assert told["turn"]["proven"] is True
    assert told["turn"]["bound_gap"] == 0
    assert told["turn"]["objective"] == pytest.approx(sum(told["turn"]["terms"].values()))
    assert told["turn"]["ties"][0]["value"] == pytest.approx(told["turn"]["objective"])
    killed = json.loads(manaforge("solve", MAGE.format("Fireball 4*", 7), "--json").stdout)
    assert killed["lethal"]["line"]["actions"] == ["play 0 -> hero", "power -> hero"]


def test_puzzles_are_written_and_counted(tmp_path: Path) -> None:
    line = ("solve", "--puzzles", "2", "--decks", "basic-mage,basic-hunter,basic-warrior", "--seed", "4")
    first = manaforge(*line, "--out", str(tmp_path))
    assert first.returncode == 0
    assert "2 puzzles" in first.stdout
    found = read_puzzles(tmp_path / "puzzles.json")
    assert len(found) == 2
    second = manaforge(*line, "--out", str(tmp_path / "more.json"), "--json")
    assert json.loads(second.stdout)["puzzles"] == 2
    assert (tmp_path / "more.json").read_bytes() == (tmp_path / "puzzles.json").read_bytes()
