"""Positions and actions as text: what is accepted, what is refused and how."""

import dataclasses

import pytest

from engine import (
    HERO,
    Action,
    NotationError,
    UnknownNameError,
    find_ruleset,
    parse_action,
    parse_position,
    perft,
)
from engine.errors import RulesetError

FULL = (
    "turn 5 second cap 90 | hero 28+2 mana 3/5 fatigue 1 died 2 burned 3 "
    "board [River Crocolisk 2:2/3 now 2/1 ready; Scarlet Crusader 3:3/1D now 3/1; 4:2/2W ready 2 arrived; "
    "1:1/1CRTWDLPS] hand [The Coin; Ogre, the Big (yes) 4:4/5=2.5; 3 ?] deck [War Golem 7:7/7; ?; 1:1/2R] "
    "| hero -3/25 mana 0/4 board [] hand [] deck []"
)


def test_the_full_form_reads_and_writes_itself() -> None:
    position = parse_position(FULL)
    assert str(position) == FULL
    own = position.state["sides"][0]
    assert (own["health"], own["armour"], own["mana"], own["crystals"]) == (28, 2, 3, 5)
    assert (own["fatigue"], own["died"], own["burned"]) == (1, 2, 3)
    assert (position.state["turn"], position.active, position.state["turn_cap"]) == (5, 1, 90)
    assert [int(m["attacks_left"]) for m in own["board"][:4]] == [1, 0, 2, 0]
    assert [int(m["arrived"]) for m in own["board"][:4]] == [0, 0, 1, 0]
    assert int(own["board"][3]["keywords"]) == 255
    # The deck is written in the order it will be drawn: the Golem first.
    assert position.card_name(int(own["deck"][own["n_deck"] - 1])) == "War Golem"
    assert position.table.cards[int(own["hand"][1])].spec.worth == 2.5


def test_the_short_form_fills_in_the_rest() -> None:
    short = parse_position("hero 12 board [3/2] | hero 30")
    assert str(short) == (
        "turn 1 first cap 100 | hero 12 mana 1/1 board [0:3/2] hand [] deck [] | "
        "hero 30 mana 0/0 board [] hand [] deck []"
    )
    assert str(parse_position("turn 30 second | hero 1 | hero 2 mana 4")).endswith(
        "hero 2 mana 4/4 board [] hand [] deck []"
    )
    assert str(parse_position("  turn 2\tfirst  |  hero 12\n | hero   30 ")).startswith(
        "turn 2 first cap 100 | hero 12 mana"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1 part besides the turn"),
        ("hero 30", "has 1 part beside"),
        ("hero 30 | hero 30 | hero 30", "has 3 parts beside"),
        ("turn x first | hero 30 | hero 30", "not a turn: 'turn x first'"),
        ("turn 0 first | hero 30 | hero 30", "turn must be from 1 to 999, got 0"),
        ("turn 1 third | hero 30 | hero 30", "not a turn"),
        ("mana 3 | hero 30", "no 'hero' field in 'mana 3'"),
        ("hero 31 | hero 30", "hero must be from -9999 to 30, got 31"),
        ("hero 30+1000 | hero 30", "armour must be from 0 to 999"),
        ("hero x | hero 30", "cannot read hero 'x'"),
        ("hero 30 mana 11 | hero 30", "mana must be from 0 to 10, got 11"),
        ("hero 30 mana 3/x | hero 30", "cannot read mana '3/x'"),
        ("hero 30 hero 30 | hero 30", "'hero' appears twice"),
        ("hero 30 cards [1/1] | hero 30", "unknown field 'cards'"),
        ("hero 30 board [1/1 | hero 30", "cannot read 'board .*'; a half is"),
        ("hero 30 board 1/1] | hero 30", "not a card|cannot read"),
        ("hero 30 board [3/2, 2/2] | hero 30", "seems to be several cards; separate cards by '; '"),
        ("hero 30 board [2 3/2] | hero 30", "several cards"),
        ("hero 30 board [3/2 2/2 ready] | hero 30", "several cards"),
        ("hero 30 board [River Crocolisk] | hero 30", "needs its numbers"),
        ("hero 30 board [one] | hero 30", "not a card: 'one'"),
        ("hero 30 board [1/0] | hero 30", "card '1/0': health must be from 1 to 999, got 0"),
        ("hero 30 board [1000/1] | hero 30", "attack must be from 0 to 999"),
        ("hero 30 board [1/1Q] | hero 30", "not a card: '1/1Q'"),
        ("hero 30 board [1/1=nan] | hero 30", "not a card"),
        (
            "hero 30 board [1/1=1e9] | hero 30",
            "value must be a finite number from 0 to 999, got 1000000000.0",
        ),
        ("hero 30 board [1/1=1.2.3] | hero 30", "could not convert"),
        ("hero 30 board [2/2 now 1/0] | hero 30", "health must be from 1"),
        ("hero 30 board [1/1 ready 2] | hero 30", "ready must be from 1 to 1, got 2"),
        ("hero 30 board [1/1W ready 3] | hero 30", "ready must be from 1 to 2, got 3"),
        (
            "hero 30 board [1/1;1/1;1/1;1/1;1/1;1/1;1/1;1/1] | hero 30",
            "minions on board must be from 0 to 7, got 8",
        ),
        ("hero 30 hand [11 ?] | hero 30", "cards in hand must be from 0 to 10, got 11"),
        ("hero 30 deck [9999 ?] | hero 30", "cards in deck must be from 0 to 30"),
        ("hero " + "3" * 5_000 + " | hero 30", "cannot read hero"),
        ("turn " + "3" * 5_000 + " | hero 30 | hero 30", "not a turn"),
        ("hero 30 died " + "3" * 5_000 + " | hero 30", "died must be a whole number"),
        ("hero 30 fatigue x | hero 30", "fatigue must be a whole number, got 'x'"),
    ],
)
def test_broken_positions_are_refused(text: str, message: str) -> None:
    with pytest.raises(NotationError, match=message):
        parse_position(text)


def test_a_card_of_another_game_is_refused() -> None:
    table = parse_position("hero 30 board [3/2] | hero 30").table
    with pytest.raises(NotationError, match="'5/5' is not in this game's card table"):
        parse_position("hero 30 board [5/5] | hero 30", table)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("end turn", Action.end_turn()),
        ("play 3", Action.play(3)),
        ("play 3 (The Coin)", Action.play(3)),
        (" attack 1 -> 0 ", Action.attack(1, 0)),
        ("attack 6 -> hero (River Crocolisk)", Action.attack(6, HERO)),
    ],
)
def test_actions(text: str, action: Action) -> None:
    assert parse_action(text) == action


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pass",
        "play",
        "play x",
        "attack 1",
        "attack 1 -> heros",
        "play -1",
        "end turn 3",
        "play " + "3" * 5_000,
    ],
)
def test_broken_actions_are_refused(text: str) -> None:
    with pytest.raises(NotationError, match="not an action"):
        parse_action(text)


def test_an_action_is_described_with_names() -> None:
    position = parse_position("hero 30 board [War Golem 7:7/7 ready] hand [The Coin] | hero 30 board [3/2]")
    assert position.describe(Action.attack(0, 0)) == "attack 0 -> 0 (War Golem -> 3/2)"
    assert position.describe(Action.attack(0, HERO)) == "attack 0 -> hero (War Golem)"
    assert position.describe(Action.play(0)) == "play 0 (The Coin)"
    assert position.describe(Action.play(7)) == "play 7"
    assert position.describe(Action.end_turn()) == "end turn"


@pytest.mark.parametrize("mover", ["first", "second"])
def test_mana_left_out_is_what_the_turns_so_far_have_brought(mover: str) -> None:
    """Round 3: a player who has started it has 3 crystals, the other 2."""
    position = parse_position(f"turn 3 {mover} | hero 30 deck [9:1/1] | hero 30 deck [9:1/1]")
    position.play(Action.end_turn())
    crystals = [int(side["crystals"]) for side in position.state["sides"]]
    assert crystals == ([3, 3] if mover == "first" else [4, 3])


def test_counts_beyond_a_cards_limit_still_read_back() -> None:
    position = parse_position("hero 1 fatigue 999 | hero 30 fatigue 999")
    position.play(Action.end_turn())
    assert "hero -970 mana 1/1 fatigue 1000" in str(position)
    assert str(parse_position(str(position))) == str(position)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hand_second": 10}, "hand_second must be an integer from 0 to 9, got 10"),
        ({"hand_first": -1}, "hand_first"),
        ({"hand_first": 4.0}, "hand_first"),
        ({"turn_cap": 0}, "turn_cap"),
        ({"turn_cap": 40_000}, "turn_cap"),
        ({"coin": 1}, "coin must be True or False"),
        ({"mulligan_above": -2}, "mulligan_above"),
    ],
)
def test_rulesets_out_of_range_are_refused(changes: dict, message: str) -> None:
    with pytest.raises(RulesetError, match=message):
        dataclasses.replace(find_ruleset("thesis"), **changes)


@pytest.mark.parametrize("depth", [-1, 13, 1.5, True])
def test_perft_depths_out_of_range_are_refused(depth: object) -> None:
    with pytest.raises(NotationError, match="depth must be an integer from 0 to 12"):
        perft(parse_position("hero 30 | hero 30"), depth)


def test_unknown_rulesets_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown ruleset 'theses'; nearest: thesis"):
        find_ruleset("theses")
