"""MCTS: what it imagines of hidden cards, its tree by hand, and what it plays."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from engine import Outcome, PlayerView, Position, find_deck, play
from engine.codes import COIN, UNKNOWN
from engine.decks import build_card_table
from engine.effects.chance import Chance
from engine.match import deal
from engine.notation import parse_position
from engine.streams import generator, stream_key
from evo.play.checking import same_view_positions
from ilp_agent.lookahead.determinization import sort_deck
from ilp_agent.search.card_order import card_content_key
from rivals import AGENTS, EvaAgent, MctsAgent, find_agent_profile
from rivals.mcts import (
    EXPLORATION,
    MAX_POSSIBLE,
    choose_action,
    list_possible,
    play_batch,
    sample_determinization,
    thread_memory,
    ucb1,
)
from tests.conftest import BOUNDSCHECK, UNCOMPILED

FEW = 20 if UNCOMPILED or BOUNDSCHECK else 400


def action_of(position: Position, budget: int = FEW, seed: int = 1) -> str:
    agent = MctsAgent(budget)
    return position.describe(agent.act(PlayerView(position, position.active), generator(seed)))


def imagined(position: Position, key: int) -> Position:
    """The position as its active player imagines it."""
    seat = position.active
    copy = PlayerView(position, seat).position.copy()
    possible = np.zeros(MAX_POSSIBLE, np.int64)
    sort_deck(copy.state["sides"][seat], position.table.array, np.zeros(30, np.uint64))
    n = list_possible(copy.state, seat, possible)
    sample_determinization(copy.state, seat, possible, n, stream_key(key))
    return copy


def cards_of(position: Position, seat: int, place: str) -> list[int]:
    side = position.state["sides"][seat]
    return side[place][: side[f"n_{place}"]].tolist()


# What it imagines


@pytest.mark.parametrize("pair", [("thesis-paladin", "random-minions"), ("reno-mage", "murloc-druid")])
def test_the_own_deck_is_shuffled_and_hidden_cards_are_drawn_from_cards_seen(pair: tuple[str, str]) -> None:
    position = deal(pair, 3)
    seen = PlayerView(position, 0)
    able = set(cards_of(position, 0, "deck") + cards_of(position, 0, "hand"))
    orders = set()
    for key in range(5):
        found = imagined(position, key)
        assert Counter(cards_of(found, 0, "deck")) == Counter(cards_of(position, 0, "deck"))
        assert cards_of(found, 0, "hand") == cards_of(position, 0, "hand")
        orders.add(tuple(cards_of(found, 0, "deck")))
        hidden = cards_of(found, 1, "hand") + cards_of(found, 1, "deck")
        assert len(hidden) == seen.enemy.hand_size + seen.enemy.deck_size
        assert set(hidden) <= able
    assert len(orders) == 5


def test_minions_of_the_opponent_show_what_it_may_hold() -> None:
    position = parse_position("turn 5 | hero 20 | hero 20 board [7/7] hand [1:1/1; 2:2/2] deck [3:3/3]")
    number = int(position.state["sides"][1]["board"][0]["card"])
    found = imagined(position, 1)
    assert cards_of(found, 1, "hand") + cards_of(found, 1, "deck") == [number] * 3


def test_where_no_card_was_seen_hidden_ones_stay_hidden() -> None:
    found = imagined(parse_position("turn 5 | hero 20 | hero 20 hand [1:1/1; 2:2/2] deck [3:3/3]"), 1)
    assert cards_of(found, 1, "hand") + cards_of(found, 1, "deck") == [UNKNOWN] * 3


def test_the_order_of_a_sorted_deck_does_not_depend_on_the_table() -> None:
    """Cards are numbered in the order of the decks; a batch numbers those of all its decks."""
    decks = [find_deck(name) for name in ("secret-hunter", "reno-mage", "basic-mage", "thesis-paladin")]
    names = []
    for table in (build_card_table(decks[:2]), build_card_table(decks[::-1])):
        side = np.zeros(1, deal(("basic-mage", "basic-mage"), 1).state["sides"].dtype)[0]
        numbers = [table.number[card.key] for card in decks[1].cards]
        side["n_deck"], side["deck"][: len(numbers)] = len(numbers), numbers
        sort_deck(side, table.array, np.zeros(30, np.uint64))
        names.append([table.cards[number].name for number in side["deck"].tolist()])
        words = [int(card_content_key(table.array[number])) for number in side["deck"].tolist()]
        assert all(one <= other for one, other in pairwise(words))
    assert names[0] == names[1]


@pytest.mark.parametrize("pair", [("thesis-paladin", "thesis-warrior"), ("secret-hunter", "reno-mage")])
def test_what_is_hidden_changes_no_action(pair: tuple[str, str]) -> None:
    for one, other in same_view_positions([pair], 6):
        assert action_of(one, 30) == action_of(other, 30)


# Its tree


def test_ucb1_by_hand() -> None:
    """Two wins and a draw of 4 visits, available 10 times: 2.5 / 4 + 0.7 sqrt(ln 10 / 4)."""
    assert ucb1(5, 4, 10) == pytest.approx(0.625 + EXPLORATION * math.sqrt(math.log(10) / 4))
    assert EXPLORATION == 0.7


def test_visits_add_up_and_results_are_those_of_who_chose() -> None:
    position = parse_position(
        "turn 9 | hero 9 mana 2/2 board [3/2 ready] hand [2:2/2] deck [1:1/1] | hero 5 board [1/1]"
    )
    memory = thread_memory()
    choose_action(position.state, position.table.array, FEW, stream_key(1), memory)
    nodes = memory.nodes[: memory.n_nodes[0]]
    children = nodes[nodes["parent"] == 0]
    assert nodes[0]["visits"] == children["visits"].sum() == FEW
    assert len(nodes) <= FEW + 1
    assert (nodes["results"] <= 2 * nodes["visits"]).all()
    assert (nodes["visits"][1:] <= nodes["available"][1:]).all()
    assert set(children["chooser"].tolist()) == {position.active}


def test_the_same_card_twice_is_one_edge() -> None:
    position = parse_position("turn 9 | hero 9 mana 2/2 hand [2:2/2; 2:2/2] | hero 5 board [1/1]")
    memory = thread_memory()
    choose_action(position.state, position.table.array, FEW, stream_key(1), memory)
    nodes = memory.nodes[: memory.n_nodes[0]]
    assert (nodes["parent"] == 0).sum() == 2  # the card, and the end of the turn


# What it plays


@pytest.mark.parametrize(
    "text",
    [
        "turn 9 | hero 2 mana 0/9 board [3/2 ready; 2/2 ready] | hero 5 board [9/9; 8/8] hand [1:1/1]",
        "turn 9 | hero 2 mana 4/9 hand [Fireball*] deck [Wisp*] | hero 6 board [9/9; 8/8] hand [1:1/1]",
    ],
)
def test_it_finds_a_lethal_turn(text: str) -> None:
    position = parse_position(text)
    agent = MctsAgent(FEW)
    seat = position.active
    while position.active == seat and position.outcome == Outcome.ONGOING:
        position.play(agent.act(PlayerView(position, seat), generator(1)), Chance.given([0] * 20))
    assert position.outcome == (Outcome.FIRST_WINS, Outcome.SECOND_WINS)[seat]


def test_a_single_legal_action_is_not_searched_for() -> None:
    position = parse_position("turn 5 | hero 20 | hero 20")
    before = int(thread_memory().clock[0])
    assert action_of(position) == "end turn"
    assert thread_memory().clock[0] == before


def test_a_game_does_not_depend_on_games_before_it() -> None:
    """Nothing is kept from one decision to the next."""
    position = deal(("thesis-paladin", "thesis-warrior"), 8)
    first = [action_of(position, 50, seed) for seed in range(6)]
    action_of(deal(("basic-mage", "basic-mage"), 2), 50)
    assert [action_of(position, 50, seed) for seed in range(6)] == first


def test_the_coin_can_be_played() -> None:
    position = parse_position("turn 1 | hero 20 mana 1/1 hand [The Coin; 2:2/2] | hero 20")
    assert COIN in cards_of(position, position.active, "hand")
    assert action_of(position)


@pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")
@pytest.mark.heavy
def test_it_beats_a_greedy_agent_more_often_with_more_playouts() -> None:
    eva = EvaAgent(find_agent_profile("eva", "competition").weights)
    wins = {}
    for budget in (5, 500):
        results = [play(MctsAgent(budget), eva, ("thesis-paladin",) * 2, seed=seed) for seed in range(30)]
        wins[budget] = sum(result.outcome == Outcome.FIRST_WINS for result in results)
    assert wins[5] < wins[500]


def test_its_entry() -> None:
    kind = AGENTS["mcts"]
    assert kind.play_batch() is play_batch
    assert kind.random
    assert kind.definition(options=(7,)) == {"budget": 7}
