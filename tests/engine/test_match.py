"""Games between agents: what an agent sees, how faults end, records, golden games."""

import json
from pathlib import Path

import numpy as np
import pytest

from engine import (
    Action,
    ActionKind,
    GameRecord,
    IllegalActionError,
    Keyword,
    NotationError,
    Outcome,
    PassAgent,
    PlayerView,
    RandomAgent,
    Reason,
    ScriptedAgent,
    SeedError,
    deal,
    find_deck,
    parse_action,
    parse_position,
    play,
)
from engine.codes import UNKNOWN

DECKS = find_deck("thesis-paladin"), find_deck("thesis-warrior")
GOLDEN = Path(__file__).parents[1] / "golden" / "games.json"


class Broken:
    """Plays well for a few decisions, then raises."""

    name = "broken"

    def __init__(self, error: BaseException, after: int = 3) -> None:
        self.error, self.left = error, after

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:
        self.left -= 1
        if self.left < 0:
            raise self.error
        return Action.end_turn()


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no text for me")


class Cheat:
    name = "cheat"

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def act(self, view: PlayerView, rng: np.random.Generator):
        return self.answer


# Results and records


def test_two_who_pass_die_of_fatigue_and_the_first_dies_first() -> None:
    result = play(PassAgent(), PassAgent(), DECKS, seed=1)
    # 26 draws, then 1 + ... + 8 = 36 >= 30: the 34th turn's draw.
    assert (result.outcome, result.turns, result.reason) == (Outcome.SECOND_WINS, 34, Reason.FATIGUE)
    assert result.winner == 1


def test_the_turn_cap_is_a_draw() -> None:
    from engine import Ruleset

    rules = Ruleset("short", "", 4, 4, False, True, 5)
    result = play(PassAgent(), PassAgent(), DECKS, seed=1, ruleset=rules)
    assert (result.outcome, result.winner, result.turns, result.reason) == (
        Outcome.DRAW,
        None,
        5,
        Reason.TURN_CAP,
    )


def test_the_same_address_plays_the_same_game_and_another_does_not() -> None:
    games = [play(RandomAgent(), RandomAgent(), DECKS, seed, address).record for seed, address in
             ((7, ()), (7, ()), (8, ()), (7, (1,)), (7, (1, 2)), (7, (2, 1)))]  # fmt: skip
    assert games[0] == games[1]
    assert len(set(games)) == 5


@pytest.mark.parametrize("seed", range(5))
def test_a_record_replays_to_the_same_end(seed: int) -> None:
    result = play(RandomAgent(), RandomAgent(), DECKS, seed, ruleset="standard")
    assert result.reason in (Reason.HERO_DIED, Reason.FATIGUE)
    again = GameRecord.from_json(result.record.to_json())
    assert again == result.record
    end = again.replay()
    assert str(end) == str(result.position)
    assert end.outcome == result.outcome


@pytest.mark.parametrize(
    ("decks", "ruleset"), [(("thesis-paladin", "basic-mage"), "standard"), (DECKS, "thesis")]
)
def test_the_default_ruleset_is_that_of_the_decks(decks: tuple, ruleset: str) -> None:
    assert str(deal(decks, 2)) == str(deal(decks, 2, ruleset=ruleset))
    one, other = (play(RandomAgent(), RandomAgent(), decks, 2, ruleset=name) for name in ("", ruleset))
    assert one.record == other.record


def test_a_game_played_through_the_watcher_is_the_same() -> None:
    seen: list[str] = []
    watched = play(
        RandomAgent(), RandomAgent(), DECKS, 3, watch=lambda position, action: seen.append(str(action))
    )
    assert watched.record == play(RandomAgent(), RandomAgent(), DECKS, 3).record
    assert tuple(seen) == watched.record.actions


def test_broken_records_are_refused() -> None:
    start = '"start": "hero 30 | hero 30"'
    for text in (
        "",
        "{}",
        "[]",
        '{"rules": 1, "start": "x"}',
        f'{{"rules": "1", {start}, "actions": []}}',
        f'{{"rules": 1.9, {start}, "actions": []}}',
        f'{{"rules": Infinity, {start}, "actions": []}}',
        f'{{"rules": true, {start}, "actions": []}}',
        f'{{"rules": 1, {start}, "actions": "end turn"}}',
        f'{{"rules": 1, {start}, "actions": [1]}}',
        '{"rules": 1, "start": null, "actions": []}',
        "[" * 100_000,
    ):
        with pytest.raises(NotationError, match="not a recorded game"):
            GameRecord.from_json(text)
    with pytest.raises(NotationError, match="recorded with rules version 999"):
        GameRecord("hero 30 | hero 30", (), 999).replay()
    with pytest.raises(IllegalActionError):
        GameRecord("hero 30 | hero 30", ("play 0",)).replay()


def test_golden_games_end_as_they_always_did() -> None:
    """Deals by seed and rules by action, frozen: a change here is a change of RULES_VERSION."""
    golden = json.loads(GOLDEN.read_text())
    assert len(golden) >= 8
    for game in golden:
        decks = find_deck(game["decks"][0]), find_deck(game["decks"][1])
        actions = [parse_action(text) for text in game["actions"]]
        seats = split_by_seat(deal(decks, game["seed"], ruleset=game["ruleset"]), actions)
        scripts = ScriptedAgent(seats[0]), ScriptedAgent(seats[1])
        result = play(*scripts, decks, game["seed"], ruleset=game["ruleset"])
        assert str(result.position) == game["end"]
        assert result.outcome.name == game["outcome"]
        assert [*result.record.actions] == game["actions"]


def split_by_seat(position, actions):
    seats: tuple[list[Action], list[Action]] = ([], [])
    for action in actions:
        seats[position.active].append(action)
        position.play(action)
    return seats


# Faults


@pytest.mark.parametrize(
    "error",
    [
        ValueError("bad luck"),
        RecursionError(),
        SystemExit(3),
        MemoryError(),
        StopIteration(),
        GeneratorExit(),
    ],
)
@pytest.mark.parametrize("seat", [0, 1])
def test_an_agent_that_raises_loses_with_the_reason(error: BaseException, seat: int) -> None:
    agents = [PassAgent(), PassAgent()]
    agents[seat] = Broken(error)
    result = play(*agents, DECKS, seed=1)
    assert result.winner == 1 - seat
    assert result.reason == Reason.AGENT_ERROR
    assert type(error).__name__ in result.error
    assert f"in {result.position}" in result.error
    assert str(result.record.replay()) == str(result.position)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Action.play(9), "play 9: the player has 5 cards in hand; in turn 1 first"),
        (Action.attack(0, 7), "attack 0 -> hero: the player has 0 minions; in turn 1 first"),
        (Action.attack(-1, 7), "the player has 0 minions"),
        (None, "must be an engine.Action of integers, not None in turn 1 first"),
        ("end turn", "integers, not 'end turn' in turn 1 first"),
        ((0, 0, 0), "integers, not (0, 0, 0) in turn 1 first"),
        (Action(7, 0, 0), "integers, not Action(kind=7, source=0, target=0) in turn 1 first"),
        (Action(ActionKind.PLAY, 0.0, 0), "of integers"),
        (Action(ActionKind.PLAY, True, 0), "of integers"),
        (Action(ActionKind.PLAY, "a", 0), "of integers"),
        (Action(np.array([1, 2]), 0, 0), "of integers"),
        (Unprintable(), "Unprintable object at"),
    ],
)
@pytest.mark.parametrize("watched", [False, True])
def test_an_illegal_action_loses_with_the_position(answer: object, message: str, watched: bool) -> None:
    watch = (lambda position, action: None) if watched else None
    result = play(Cheat(answer), PassAgent(), DECKS, seed=1, watch=watch)
    assert (result.winner, result.reason) == (1, Reason.ILLEGAL_ACTION)
    assert message in result.error
    assert result.record.actions == ()


def test_numpy_integers_in_an_action_are_plain_in_the_record() -> None:
    class Numpy(RandomAgent):
        def act(self, view: PlayerView, rng: np.random.Generator) -> Action:
            return Action(*map(np.int64, super().act(view, rng)))

    assert play(Numpy(), Numpy(), DECKS, 2).record == play(RandomAgent(), RandomAgent(), DECKS, 2).record


def test_an_agent_cannot_change_the_cards() -> None:
    class Forger:
        name = "forger"

        def act(self, view: PlayerView, rng: np.random.Generator) -> Action:
            view.position.table.array.flags.writeable = True
            return Action.end_turn()

    result = play(Forger(), PassAgent(), DECKS, 1)
    assert result.reason == Reason.AGENT_ERROR
    assert "WRITEABLE" in result.error


def test_each_seat_and_address_has_its_own_stream() -> None:
    draws = {}

    class Listener:
        def __init__(self, name: str) -> None:
            self.name = name

        def act(self, view: PlayerView, rng: np.random.Generator) -> Action:
            draws.setdefault(self.name, []).append(int(rng.integers(1 << 60)))
            return Action.end_turn()

    for address in ((), (1,), (2,)):
        play(Listener(f"first{address}"), Listener(f"second{address}"), DECKS, 1, address)
    assert len({numbers[0] for numbers in draws.values()}) == 6
    assert all(len(set(numbers)) == len(numbers) for numbers in draws.values())


def test_a_random_game_is_frozen() -> None:
    """A seed determines the agents' streams too."""
    golden = json.loads(GOLDEN.read_text())[3]
    decks = find_deck(golden["decks"][0]), find_deck(golden["decks"][1])
    result = play(RandomAgent(), RandomAgent(), decks, golden["seed"], ruleset=golden["ruleset"])
    assert [*result.record.actions] == golden["actions"]


def test_a_keyboard_interrupt_is_the_users_and_goes_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        play(Broken(KeyboardInterrupt()), PassAgent(), DECKS, seed=1)


def test_seeds_out_of_range_are_refused() -> None:
    for seed, address in (
        (-1, ()),
        (2**64, ()),
        (1.5, ()),
        (True, ()),
        (1, (2**32,)),
        (1, (-1,)),
        (1, ("a",)),
    ):
        with pytest.raises(SeedError, match=r"seed|address\[0\]"):
            play(PassAgent(), PassAgent(), DECKS, seed, address)


# What an agent sees


@pytest.mark.parametrize("seat", [0, 1])
def test_a_player_sees_nothing_hidden(seat: int) -> None:
    """Positions that differ only in hidden cards look the same."""
    half = "hero 20 mana 4 board [3/2 ready] hand [{hand}] deck [{deck}]"
    own = half.format(hand="1:1/1; The Coin", deck="{own}")
    enemy = half.format(hand="{hand}", deck="{deck}")
    other = [
        {"own": "5/5; 6/6; 7/7", "hand": "8/8; 9/9", "deck": "1/4; 1/5"},
        {"own": "7/7; 5/5; 6/6", "hand": "The Coin; 1/4", "deck": "8/8; 1/5"},
    ]
    everything = "; ".join(f"{n}/{n}" for n in range(1, 10)) + "; 1/4; 1/5; 1:1/1; 3/2"
    table = parse_position(f"hero 1 deck [{everything}] | hero 1").table
    seen = []
    for hidden in other:
        halves = [own.format(**hidden), enemy.format(**hidden)]
        text = f"turn 4 {('first', 'second')[seat]} | " + " | ".join(halves if seat == 0 else halves[::-1])
        view = PlayerView(parse_position(text, table), seat)
        seen.append((view.position.state.tobytes(), str(view.position), view.own.hand, view.enemy.hand))
    assert seen[0] == seen[1]
    assert view.enemy.hand == ("?", "?")
    assert view.enemy.hand_size == view.enemy.deck_size == 2
    assert view.own.hand[1] == "The Coin"
    assert UNKNOWN not in view.position.state["sides"][seat]["deck"]


def test_no_agent_reaches_the_true_position() -> None:
    """Every object an agent can reach from its view is a copy: nothing refers to the game being played."""
    import gc

    position = deal(DECKS, 1)
    view = PlayerView(position, 0)
    reached: set[int] = set()
    waiting: list[object] = [view, view.own, view.enemy, view.legal_actions, view.own.board, view.own.hand]
    while waiting:
        thing = waiting.pop()
        if id(thing) not in reached and not isinstance(thing, type) and not callable(thing):
            reached.add(id(thing))
            if not isinstance(thing, dict) or "__builtins__" not in thing:
                waiting += gc.get_referents(thing)
    assert id(view.position.state) in reached
    assert id(position) not in reached
    assert id(position.state) not in reached
    assert not np.shares_memory(view.position.state, position.state)


def test_a_view_is_read_only() -> None:
    view = PlayerView(deal(DECKS, 1), 0)
    with pytest.raises(ValueError, match="read-only"):
        view.position.state["turn"] = 9
    with pytest.raises(ValueError, match="read-only"):
        view.position.state["sides"][0]["health"] = 1
    before = view.position.state.tobytes()
    with pytest.raises(IllegalActionError, match="read-only; play on its copy"):
        view.position.play(Action.end_turn())
    assert view.position.state.tobytes() == before
    view.position.copy().play(Action.end_turn())


def test_the_view_in_words() -> None:
    text = "turn 6 second | hero 9+1 fatigue 2 board [2:2/3WS now 2/1W ready] | hero 20 mana 4/6 board [4:1/7DT ready arrived] hand [War Golem 7:7/7]"
    view = PlayerView(parse_position(text), 1)
    assert (view.turn, view.own.health, view.own.mana, view.own.crystals) == (6, 20, 4, 6)
    assert (view.enemy.health, view.enemy.armour, view.enemy.fatigue) == (9, 1, 2)
    mine, theirs = view.own.board[0], view.enemy.board[0]
    assert mine.arrived
    assert mine.has(Keyword.TAUNT)
    assert mine.attacks_left == 1
    assert (theirs.attack, theirs.health, theirs.has(Keyword.STEALTH)) == (2, 1, False)
    assert theirs.spec.health == 1
    assert theirs.spec.windfury
    assert theirs.card.spec.health == 3
    assert view.own.hand[0].name == "War Golem"
    assert [str(action) for action in view.legal_actions] == ["attack 0 -> 0", "end turn"]


def test_a_position_copied_by_python_itself_is_whole() -> None:
    import copy
    import pickle

    from engine import deal

    position = deal(DECKS, 3)
    for other in (copy.deepcopy(position), pickle.loads(pickle.dumps(position))):
        assert str(other) == str(position)
        action = other.legal_actions()[-1]
        other.play(action)
        assert str(other) != str(position)
        assert other.state["active"] != position.state["active"]
