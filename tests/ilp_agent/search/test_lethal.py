"""The lethal search against a plain enumeration, and against expectations worked out one outcome at a time."""

from collections import Counter

import numpy as np
import pytest

from engine import Action, Position, parse_position
from engine.codes import ActionKind, Outcome
from engine.effects.chance import Chance, begin_hypothetical
from engine.jit import njit
from engine.rules import apply, encode
from engine.state import EVENTS
from engine.view import hide_information
from ilp_agent.search.enumeration import Enumerated, enumerate_lines
from ilp_agent.search.lethal import DEFAULT_LETHAL_LIMIT, find_lethal
from ilp_agent.search.objective import has_end_of_turn_effect
from tests.conftest import BOUNDSCHECK, UNCOMPILED, cases
from tests.ilp_agent.search.turns import CLASS_DECKS, LIVELY_DECKS, reached, within_reach

REDUCED = UNCOMPILED or BOUNDSCHECK
LIMIT = 500 if REDUCED else DEFAULT_LETHAL_LIMIT
PLAIN_LIMIT = 400 if REDUCED else 10_000
MAGE = "turn 4 first effects 2 | hero 30 mana 6/6 power [Fireblast 2*] hand [{}] | hero {} board [{}]"


@pytest.mark.parametrize("decks", [CLASS_DECKS, LIVELY_DECKS, ("thesis-paladin", "thesis-warrior")])
def test_certain_lethal_is_found_where_a_plain_enumeration_finds_it(decks: tuple[str, ...]) -> None:
    turns = within_reach(reached(decks, 6 if REDUCED else cases(160, 3_000)), 12, seed=5)
    found: Counter[bool] = Counter()
    for number in range(len(turns.states)):
        position = turns.position(number)
        if position.state["sides"][1 - position.active]["n_secrets"]:
            continue
        lines = enumerate_lines(position, PLAIN_LIMIT)
        if lines.status in (Enumerated.TOO_MANY, Enumerated.UNCERTAIN):
            continue
        lethal = find_lethal(position, LIMIT)
        if REDUCED and not lethal.proven:
            continue
        assert lethal.proven
        assert lethal.certain == (lines.status != Enumerated.NO_LETHAL), str(position)
        assert lethal.probability == lethal.certain
        found[lethal.certain] += 1
        if lethal.certain:
            assert not lethal.again
            assert killed_by(position, lethal.line), str(position)
    assert REDUCED or min(found[True], found[False]) >= 10, found
    assert found.total()


@pytest.mark.parametrize(
    "text",
    [
        "hand [Inner Fire*] board [Mogu'shan Warden* ready] | hero 7",
        "hand [Inner Fire*; Divine Spirit*] board [Mogu'shan Warden* ready] | hero 14",
        "hand [Blessed Champion*] board [Boulderfist Ogre* ready] | hero 12",
        "hand [Crazed Alchemist*] board [Mogu'shan Warden* ready] | hero 7",
        "hand [Silence*] board [Boulderfist Ogre* now 1/7 ready] | hero 6",
        "hand [Coldlight Oracle*] | hero 3",
        "hand [Naturalize*] | hero 3 board [Boulderfist Ogre*]",
        "attack 3 attacks 1 hand [Doomhammer*] | hero 9",
    ],
)
def test_lethal_by_other_means_than_printed_damage(text: str) -> None:
    """Changed attack, fatigue, and a hero who attacks twice."""
    position = parse_position(f"turn 4 first effects 2 | hero 30 mana 10/10 {text}")
    lethal = find_lethal(position, LIMIT)
    assert lethal.proven
    assert lethal.certain
    assert killed_by(position, lethal.line)


def killed_by(position: Position, line: tuple[Action, ...]) -> bool:
    """Whether a line kills the enemy hero, in the engine."""
    here = position.copy()
    for action in line:
        here.play(action, Chance.blind())
    return bool(here.state["sides"][1 - position.active]["health"] <= 0)


@njit
def play_with(states, cards, action, given, seat):  # type: ignore[no-untyped-def]
    """Play an action, or the end of the turn as far as its effects, with the given outcomes; the number of the next."""
    events = np.zeros(1, EVENTS)
    hide_information(states[0], cards, seat)
    begin_hypothetical(events[0])
    events[0]["forced"] = len(given)
    for n in range(len(given)):
        events[0]["outcomes"][n] = given[n]
    apply(states[0], cards, action, events[0])
    return -1 if events[0]["depends_on_hidden"] else int(events[0]["n_pending_outcomes"])


class TooManyError(Exception):
    """More positions than a test has time for."""


def best_probability(position: Position, left: list[int]) -> float:
    """Largest probability of lethal: every action and every outcome, each time anew."""
    seat = position.active
    left[0] -= 1
    if left[0] < 0:
        raise TooManyError
    if position.outcome != Outcome.ONGOING:
        own, enemy = (int(position.state["sides"][one]["health"]) for one in (seat, 1 - seat))
        return float(enemy <= 0 < own)
    if has_end_of_turn_effect(position.state, position.table.array, seat):
        raise TooManyError  # plain enough without
    values = [0.0]
    for action in position.legal_actions():
        if action.kind != ActionKind.END_TURN:
            values.append(mean_over_outcomes(position, action.code, [], left))
    return max(values)


def mean_over_outcomes(position: Position, code: int, given: list[int], left: list[int]) -> float:
    """Mean of the best probability over the outcomes of an action that begin with the given ones."""
    after = position.copy()
    table = position.table.array
    pending = play_with(after.states, table, code, np.array(given, np.int64), position.active)
    if pending < 0:
        return 0.0
    if pending == 0:
        return best_probability(after, left)
    means = [mean_over_outcomes(position, code, [*given, n], left) for n in range(pending)]
    return sum(means) / pending


@pytest.mark.skipif(REDUCED, reason="an expectation is worked out in Python, one outcome at a time")
def test_the_best_probability_is_the_expectation_over_all_outcomes() -> None:
    turns = within_reach(
        reached(("basic-mage", "basic-warlock", "basic-shaman"), cases(600, 3_000)), 6, seed=8
    )
    compared = 0
    for number in range(len(turns.states)):
        position = turns.position(number)
        lethal = find_lethal(position)
        if not lethal.chance or compared == cases(12, 200):
            continue
        try:
            expected = best_probability(position, [600])
        except TooManyError:
            continue
        assert lethal.exact
        assert lethal.probability == pytest.approx(expected, abs=1e-12), str(position)
        compared += 1
    assert compared >= 10


@pytest.mark.parametrize(
    ("hand", "health", "board", "probability"),
    [
        ("Fireball 4*", 7, "", 1.0),  # with the hero power
        ("Fireball 4*", 8, "", 0.0),
        ("Arcane Missiles 1*", 4, "", 1.0),  # all at the hero: nothing else is there
        ("Arcane Missiles 1*", 4, "Chillwind Yeti 4:4/5*", 1 / 8),
        ("Arcane Missiles 1*", 2, "Chillwind Yeti 4:4/5*", 7 / 8),
        ("Arcane Missiles 1*; Arcane Missiles 1*", 7, "", 1.0),
    ],
)
def test_small_turns(hand: str, health: int, board: str, probability: float) -> None:
    lethal = find_lethal(parse_position(MAGE.format(hand, health, board)))
    assert lethal.probability == pytest.approx(probability)
    assert lethal.certain == (probability == 1.0)
    assert lethal.proven
    assert lethal.exact


@pytest.mark.parametrize(
    ("own", "health"),
    [
        ("mana 6/6 power [Fireblast 2*] board [Kobold Geomancer 2:2/2*] hand [Fireball 4*]", 8),
        ("mana 6/6 power [Fireblast 2*] hand [Kobold Geomancer 2:2/2*; Fireball 4*]", 7),
        ("mana 5/5 power [Steady Shot 2*] hand [River Crocolisk 2:2/3*; Kill Command 3*]", 5),
        ("mana 3/3 power [Fireblast 2*] hand [The Coin; Fireball 4*]", 6),
        (
            "mana 4/4 power [Totemic Call 2* used] board [Bloodfen Raptor 2:3/2* ready] hand [Rockbiter Weapon 1*]",
            6,
        ),
        ("mana 5/5 power [Dagger Mastery 2*] hand [Deadly Poison 1*]", 3),
        (
            "mana 6/6 power [Armor Up! 2*] hand [Heroic Strike 2*; Arcanite Reaper 5:5/2*; Heroic Strike 2*]",
            8,
        ),
        ("mana 5/5 power [Steady Shot 2*] board [Boar 1:1/1* ready] hand [Houndmaster 4:4/3*]", 3),
    ],
)
def test_the_last_damage_is_found_and_no_more(own: str, health: int) -> None:
    text = "turn 6 first effects 2 | hero 30 attacks 1 {} | hero {}"
    assert find_lethal(parse_position(text.format(own, health))).certain
    more = find_lethal(parse_position(text.format(own, health + 1)))
    assert (more.certain, more.proven) == (False, True)


def test_armour_that_keeps_the_own_hero_alive_is_tried() -> None:
    own = "hero 2 attacks 1 mana 2/2 power [Armor Up! 2*{}] weapon [Fiery War Axe 3:3/2*] board [Wisp 0:1/1* now 2/1 ready]"
    text = f"turn 2 first effects 2 | {own} | hero 2 board [River Crocolisk 2:2/3* now 3/3T]"
    assert find_lethal(parse_position(text.format(""))).certain
    assert not find_lethal(parse_position(text.format(" used"))).certain


def test_what_is_counted_is_told() -> None:
    drawing = find_lethal(
        parse_position(MAGE.format("Arcane Intellect 3*", 9, "").replace("hand", "deck [3 ?] hand"))
    )
    assert (drawing.certain, drawing.proven, drawing.probability) == (False, True, 0.0)
    secret = "hero 2 secrets [? mage born 1]"
    guarded = find_lethal(parse_position(MAGE.format("Fireball 4*", 2, "").replace("hero 2", secret)))
    assert guarded.secrets
    assert guarded.certain


def test_a_limit_leaves_it_unproven_and_a_line_that_was_found_is_proven() -> None:
    board = "; ".join(f"{n}/{n} ready" for n in range(1, 8))
    walls = "; ".join(f"1/{n}T" for n in range(3, 10))
    position = parse_position(f"hero 20 board [{board}] | hero 30 board [{walls}]")
    assert find_lethal(position).proven  # 28 damage are not enough
    position.state["sides"][1]["health"] = 7
    assert not find_lethal(position, limit=5).proven
    open_field = parse_position(f"hero 20 board [{board}] | hero 28")
    assert find_lethal(open_field, limit=8).certain


def test_an_action_with_too_many_outcomes_ends_at_the_limit() -> None:
    board = "; ".join(["Boulderfist Ogre 6:6/7*"] * 7)
    text = f"turn 6 first effects 2 | hero 30 mana 6/6 hand [Avenging Wrath 6*] | hero 6 board [{board}]"
    lethal = find_lethal(parse_position(text), limit=50)  # of eight to the power of eight
    assert (lethal.certain, lethal.proven, lethal.exact) == (False, True, False)


EQUAL = "hero 20 board [3/2 ready; {}] | hero 5"


@pytest.mark.parametrize(
    ("text", "status", "line"),
    [
        (EQUAL.format("2/2 ready"), Enumerated.UNIQUE, 2),
        (EQUAL.format("2/2 ready; 2/2 ready"), Enumerated.UNIQUE, 2),  # either of two equal minions
        (EQUAL.format("2/2 ready; 2/3 ready"), Enumerated.SEVERAL, 0),
        (EQUAL.format("2/2 ready; 1/1 ready"), Enumerated.UNIQUE, 2),  # the third may, and need not
        (EQUAL.format("1/1 ready"), Enumerated.NO_LETHAL, 0),
        ("hero 20 board [3/2 ready; 3/3 ready] | hero 3 board [1/3T]", Enumerated.SEVERAL, 0),
        ("hero 20 board [4/2 ready; 3/3 ready] | hero 4 board [1/3T]", Enumerated.UNIQUE, 2),
        (MAGE.format("Arcane Missiles 1*", 4, "Chillwind Yeti 4:4/5*"), Enumerated.UNCERTAIN, 0),
    ],
)
def test_lethal_is_unique_if_every_line_that_kills_has_the_same_necessary_actions(
    text: str, status: Enumerated, line: int
) -> None:
    lines = enumerate_lines(parse_position(text), 10_000)
    assert (lines.status, len(lines.line)) == (status, line)


def test_an_enumeration_has_a_limit() -> None:
    assert enumerate_lines(parse_position(EQUAL.format("2/2 ready")), 3).status == Enumerated.TOO_MANY
    assert encode(ActionKind.END_TURN, 0, 0) == 0, "the search writes the end of the turn as 0"
