"""What a player does not know changes nothing: views, actions, what is imagined and what agents do; no view leads to luck."""

import gc
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

import numpy as np
import pytest

from engine import Action, Outcome, PlayerView, Position, deal
from engine.codes import COIN, UNKNOWN, Purpose
from engine.effects.chance import Chance, n_hypothetical, set_hypothetical_outcome
from engine.game_session import GameRecord, RandomAgent
from engine.match import play_from
from engine.rules import play_checked
from engine.state import STATE
from engine.streams import derive, generator, stream_key
from engine.view import MinionView, SideView
from rivals import AggroAgent, EvaAgent, EvaWeights, GreedyIlpAgent, HearthSimAgent, find_agent_profile
from tests.conftest import BOUNDSCHECK, UNCOMPILED, cases
from tests.engine.test_effects_properties import CLASSES, deck_of, play_through

GAMES = 8 if UNCOMPILED or BOUNDSCHECK else cases(6, 18)


def hidden_continuation(position: Position, seat: int, pick: np.random.Generator) -> Position:
    """The same game as `seat` knows it, with other cards where that player sees none."""
    other = position.copy()
    own, enemy = other.state["sides"][seat], other.state["sides"][1 - seat]
    n = int(own["n_deck"])
    own["deck"][:n] = pick.permutation(own["deck"][:n])
    n, held = int(enemy["n_deck"]), int(enemy["n_hand"])
    cards = pick.permutation([*enemy["deck"][:n], *enemy["hand"][:held]])
    if pick.random() < 0.3:
        cards = pick.integers(len(position.table.cards), size=n + held)  # not even cards of its own deck
    cards[:n] = np.where(cards[:n] == COIN, 0, cards[:n])
    enemy["deck"][:n], enemy["hand"][:held] = cards[:n], cards[n:]
    return other


def positions() -> Iterator[tuple[int, Position]]:
    """Positions of games of all classes, every seventh."""
    for seed in range(GAMES):
        game = CLASSES[seed % 9], CLASSES[(2 * seed + 1) % 9], ("standard", "hearthsim")[seed % 2], seed
        for number, step in enumerate(play_through(game)):
            if number % 7 == 3 and step.after.outcome == Outcome.ONGOING:
                yield seed, step.after.copy()


def told(thing: object) -> object:
    """All that a view says, in plain values."""
    if isinstance(thing, tuple):
        return tuple(map(told, thing))
    if isinstance(thing, SideView | MinionView):
        names = [name for name in dir(thing) if not name.startswith("_") and name != "has"]
        return {name: told(getattr(thing, name)) for name in names}
    return thing


def imagined(view: PlayerView, action: Action) -> list[bytes]:
    """What an action leads to for a player who thinks ahead: where chance stops it, each imagined outcome."""
    position = view.position
    after, thought = position.copy(), Chance.blind()
    play_checked(after.states, position.table.array, action.code, thought.array)
    first, found = thought.n_pending_outcomes, [b"" if thought.n_pending_outcomes else after.state.tobytes()]
    for number in range(n_hypothetical(thought.array[0])):
        after, again = position.copy(), Chance.blind()
        set_hypothetical_outcome(again.array[0], position.states[0], number, first)
        play_checked(after.states, position.table.array, action.code, again.array)
        found.append(after.state.tobytes())
    return found


def test_hidden_cards_change_neither_view_nor_actions_nor_what_is_imagined() -> None:
    pick, stopped, changed = np.random.default_rng(4), 0, 0
    for _, position in positions():
        for seat in (0, 1):
            other = hidden_continuation(position, seat, pick)
            changed += other.state.tobytes() != position.state.tobytes()
            one, two = PlayerView(position, seat), PlayerView(other, seat)
            assert one.position.state.tobytes() == two.position.state.tobytes()
            assert (str(one.position), one.turn, one.seat) == (str(two.position), two.turn, two.seat)
            assert one.legal_actions == two.legal_actions
            assert told(one.own) == told(two.own)
            assert told(one.enemy) == told(two.enemy)
            if seat != position.active:
                continue
            for action in one.legal_actions:
                results = imagined(one, action)
                assert results == imagined(two, action), action
                stopped += len(results) > 1
    assert changed > 20
    assert stopped > 5


def test_the_players_own_actions_are_those_of_the_position() -> None:
    """What is hidden makes no action legal or illegal for who is to move."""
    for _, position in positions():
        assert list(PlayerView(position, position.active).legal_actions) == position.legal_actions()


AGENTS = {
    "aggro": AggroAgent,
    "eva": lambda: EvaAgent(EvaWeights.from_array(np.linspace(0, 1, len(EvaWeights.names())))),
    "greedy-ilp": lambda: GreedyIlpAgent(find_agent_profile("greedy-ilp", "true-balanced").weights),
    "hearthsim": lambda: HearthSimAgent(find_agent_profile("hearthsim", "standard").weights),
}


@pytest.mark.parametrize("name", AGENTS)
def test_agents_do_the_same_whatever_is_hidden(name: str) -> None:
    if name == "hearthsim" and (UNCOMPILED or BOUNDSCHECK):
        pytest.skip("too slow without the compiler")
    pick = np.random.default_rng(5)
    for number, (_, position) in enumerate(positions()):
        if number % (5 if name == "eva" else 2):
            continue
        seat = position.active
        chosen = {
            AGENTS[name]().act(PlayerView(one, seat), generator(1, number))
            for one in (position, *(hidden_continuation(position, seat, pick) for _ in range(2)))
        }
        assert len(chosen) == 1, f"{chosen} in {position}"


SKIPPED = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)


def reached(start: object) -> Iterator[object]:
    """Every object to which an attribute, an item or an array's memory leads from one, classes and modules apart."""
    seen, waiting = {}, [start]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, SKIPPED):
            continue
        seen[id(one)] = one  # kept, so that no other object has its id
        yield one
        waiting += gc.get_referents(one)
        if isinstance(one, np.ndarray | np.generic):
            waiting.append(one.base)
        if isinstance(one, memoryview):
            waiting.append(one.obj)
        if type(one).__module__.startswith("engine"):
            waiting += [getattr(one, name) for name in dir(one) if not name.startswith("__")]


def leaks(view: PlayerView, key: np.uint64) -> list[str]:
    """What of luck or of hidden cards is reached from a view."""
    keys = {int(key)} | {int(derive(key, int(purpose))) for purpose in Purpose}
    turn = derive(np.uint64(derive(key, int(Purpose.CHANCE))), view.turn)
    keys |= {int(turn), *(int(derive(np.uint64(turn), seat)) for seat in (0, 1))}
    secrets = [number.to_bytes(8, "little") for number in keys]
    found = []
    for one in reached(view):
        if isinstance(one, Chance | GameRecord | np.random.Generator | np.random.BitGenerator):
            found.append(f"a {type(one).__name__}")
        if isinstance(one, int | np.integer) and int(one) in keys:
            found.append("a key")
        content = b""
        if isinstance(one, bytes | bytearray):
            content = bytes(one)
        elif isinstance(one, np.ndarray | np.void):
            content = one.tobytes()
        if any(secret in content for secret in secrets):
            found.append("a key in memory")
        if len(content) == STATE.itemsize:
            enemy = np.frombuffer(content, STATE)[0]["sides"][1 - view.seat]
            unknown = (enemy["hand"][: enemy["n_hand"]] == UNKNOWN).all()
            if not unknown or not (enemy["deck"][: enemy["n_deck"]] == UNKNOWN).all():
                found.append("the opponent's cards")
    return found


class Watching:
    """Plays at random and looks for luck in every view."""

    def __init__(self, key: np.uint64) -> None:
        self.key, self.views, self.found = key, 0, []

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:
        self.views += 1
        if self.views % 9 == 1:
            self.found += leaks(view, self.key)
        return RandomAgent().act(view, rng)


def test_no_view_of_a_game_leads_to_its_luck_or_to_hidden_cards() -> None:
    for seed in range(cases(1, 2)):
        key = stream_key(seed)
        agent = Watching(key)
        position = deal((deck_of("mage", seed), deck_of("warlock", seed)), seed, ruleset="standard")
        streams = [generator(seed, Purpose.AGENT, seat) for seat in (0, 1)]
        play_from((agent, agent), position, streams, key=key)
        assert agent.views > 20
        assert agent.found == []


@pytest.mark.parametrize("planted", ["chance", "key", "position", "hand"])
def test_what_a_view_must_not_hold_is_found_where_it_holds_it(planted: str) -> None:
    """The search above misses nothing that is planted."""
    key = stream_key(3)
    position = deal((deck_of("mage", 1), deck_of("priest", 2)), 3, ruleset="standard")
    view = PlayerView(position, 0)
    things = {
        "chance": Chance.drawn(key, position.states),
        "key": (int(key),),
        "position": {"true": position},
        "hand": position.states[0:1].view(np.uint8)[1:3],
    }
    assert leaks(view, key) == []
    view.own.planted = things[planted]  # type: ignore[attr-defined]
    assert leaks(view, key)


def test_the_same_view_comes_before_different_luck() -> None:
    """Two games that differ in nothing but the key of their chance: what is seen before an event is the same."""
    position = deal((deck_of("mage", 1), deck_of("priest", 2)), 3, ruleset="standard")
    seen = []
    for key in (stream_key(1), stream_key(2)):
        views: list[bytes] = []

        class First:
            def act(self, view: PlayerView, rng: np.random.Generator, views=views) -> Action:
                views.append(view.position.state.tobytes())
                return view.legal_actions[-1]  # ends turns: no chance but in effects at their end

        play_from((First(), First()), position.copy(), [generator(0), generator(0)], key=key)
        seen.append(views)
    assert seen[0] == seen[1]
    assert len(seen[0]) > 20
