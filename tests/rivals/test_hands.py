"""What the opponent may hold: drawn from what is shown alone, and alike compiled and in Python."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import exp, log
from threading import Barrier

import numpy as np
import pytest

from engine import Deck, Outcome, PlayerView, Position, find_deck, find_ruleset
from engine.batches import dealt_cards
from engine.codes import COIN, DECK_SIZE, UNKNOWN
from engine.decks import cached_card_table
from engine.effects.chance import Chance
from engine.match import deal
from engine.streams import generator, stream_key
from engine.view import MAX_SHOWN, OpponentInfo
from evo.play.entrants import find_entrant
from evo.play.games import GAME, Roster, Schedule, _play_compiled, _play_in_python
from ilp_agent.lookahead import HANDS
from ilp_agent.lookahead.deck_prediction import (
    EMPTY_LIBRARY,
    MAX_NEIGHBOURS,
    DeckLibrary,
    body_decks,
    class_decks,
    extend_table,
    find_neighbours,
    table_and_library,
)
from ilp_agent.lookahead.determinization import (
    new_hand_model,
    sample_hidden_cards,
    update_hand_model,
)
from rivals import AGENTS, Sight
from tests.conftest import BOUNDSCHECK, UNCOMPILED, cases
from tests.contracts.test_agents import LIVELY, random_schedule
from tests.waiting import HANG

compiled = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")
BODIES = ("thesis-paladin", "thesis-warrior", "random-minions")
ENTRANTS = ("lookahead@8,", "lookahead@8,depth=3,", "mcts@20,", "minimax-td@")


def options_of(kind: str) -> tuple[int, ...]:
    return AGENTS[kind].settings()


# What is shown


def played(pair: tuple[str, str], seed: int, actions: int) -> tuple[Position, np.ndarray]:
    """A position of a random game, and the cards dealt to both."""
    position, pick, chance = deal(pair, seed, ruleset="standard"), generator(seed), Chance.given([0] * 20)
    dealt = dealt_cards(position.states)[0]
    for _ in range(actions):
        legal = position.legal_actions()
        if legal:
            position.play(legal[int(pick.integers(len(legal)))], chance)
    return position, dealt


def test_what_is_left_and_what_was_seen_are_the_deck() -> None:
    for seed in range(20):
        position, dealt = played(("thesis-paladin", "random-minions"), seed, 3 * seed)
        for seat in (0, 1):
            enemy, cards = position.state["sides"][1 - seat], Counter(dealt[1 - seat].tolist())
            left, seen = (
                Counter(PlayerView(position, seat, what, dealt[1 - seat]).shown.tolist())
                for what in (OpponentInfo.NOT_SEEN, OpponentInfo.SEEN)
            )
            assert left + seen == cards
            held = Counter(enemy["hand"][: enemy["n_hand"]].tolist())
            held += Counter(enemy["deck"][: enemy["n_deck"]].tolist())
            del held[COIN]
            assert left == held
            board = Counter(enemy["board"]["card"][: enemy["n_board"]].tolist())
            assert board <= seen


def test_what_is_shown_on_real_cards_lies_open() -> None:
    """No card of a hand or a deck changes it."""
    pick = np.random.default_rng(4)
    for seed in range(12):
        position, dealt = played(("basic-mage", "basic-warrior"), seed, 4 * seed)
        other = position.copy()
        for seat in (0, 1):
            enemy = other.state["sides"][1 - seat]
            for zone in ("hand", "deck"):
                enemy[zone][: enemy[f"n_{zone}"]] = pick.choice(dealt[1 - seat], enemy[f"n_{zone}"])
            for what in (OpponentInfo.NOT_SEEN, OpponentInfo.SEEN):
                one, two = (PlayerView(here, seat, what, dealt[1 - seat]).shown for here in (position, other))
                assert Counter(one.tolist()) == Counter(two.tolist())


def test_nothing_is_shown_unasked() -> None:
    assert not len(PlayerView(deal(("thesis-paladin",) * 2, 1), 0).shown)


# Hands


def hands_of(position: Position, dealt: np.ndarray, what: OpponentInfo):  # type: ignore[no-untyped-def]
    seat, hands = position.active, new_hand_model()
    shown = PlayerView(position, seat, what, dealt[1 - seat]).shown
    hands.shown[: len(shown)] = shown
    update_hand_model(position.state, int(what), len(shown), position.table.array, EMPTY_LIBRARY, hands)
    return hands


def drawn(position: Position, key: int, deep: bool, hands) -> tuple[list[int], list[int]]:  # type: ignore[no-untyped-def]
    """Hand and deck of the opponent after a draw, from a view that hides them."""
    side = PlayerView(position, position.active).position.copy().state["sides"][1 - position.active]
    assert sample_hidden_cards(side, stream_key(key), deep, hands)
    return side["hand"][: side["n_hand"]].tolist(), side["deck"][: side["n_deck"]].tolist()


def test_a_told_hand_is_the_hand() -> None:
    for seed in range(10):
        position, dealt = played(("thesis-paladin", "thesis-warrior"), seed, 2 * seed)
        enemy = position.state["sides"][1 - position.active]
        hand, deck = drawn(position, seed, False, hands_of(position, dealt, OpponentInfo.HAND))
        assert Counter(hand) == Counter(enemy["hand"][: enemy["n_hand"]].tolist())
        assert set(deck) <= {UNKNOWN}


def test_a_known_deck_is_dealt_again() -> None:
    """Hand and deck together are the cards left; the hand holds The Coin where it is not played."""
    coins = 0
    for seed in range(20):
        position, dealt = played(("thesis-paladin", "thesis-warrior"), seed, seed)
        enemy = position.state["sides"][1 - position.active]
        true = enemy["hand"][: enemy["n_hand"]].tolist(), enemy["deck"][: enemy["n_deck"]].tolist()
        hand, deck = drawn(position, seed, True, hands_of(position, dealt, OpponentInfo.NOT_SEEN))
        assert Counter(hand + deck) == Counter(true[0] + true[1])
        assert (COIN in hand) == (COIN in true[0])
        coins += COIN in hand
    assert coins


def test_every_card_left_is_as_likely() -> None:
    position, dealt = played(("thesis-paladin", "thesis-warrior"), 3, 0)
    hands, n = hands_of(position, dealt, OpponentInfo.NOT_SEEN), 300 if UNCOMPILED else 4000
    found: Counter[int] = Counter()
    for key in range(n):
        found.update(card for card in drawn(position, key, False, hands)[0] if card != COIN)
    held = Counter(dealt[1 - position.active].tolist())
    size = sum(found.values())
    for card, copies in held.items():
        expected = size * copies / DECK_SIZE
        assert abs(found[card] - expected) < 5 * expected**0.5


# The library


def plainly(library: list[list[int]], pools: list[bool], seen: list[int]) -> dict[int, float]:
    """Decks by their chance."""
    n, counted = len(library), Counter(seen)
    distances = []
    for deck, pool in zip(library, pools, strict=True):
        own, far = Counter(deck), 0.0
        for card, times in counted.items():
            holding = max(1, sum(card in other for other in library))
            missing = (0 if own[card] else times) if pool else max(0, times - own[card])
            far += missing * (1 + log(n / holding))
        distances.append(far)
    nearest = sorted(range(n), key=lambda deck: distances[deck])[:MAX_NEIGHBOURS]
    worth = {deck: exp(distances[nearest[0]] - distances[deck]) for deck in nearest}
    return {deck: chance / sum(worth.values()) for deck, chance in worth.items()}


def test_neighbours_are_those_of_a_plain_reading() -> None:
    decks, table = body_decks()
    game, _ = cached_card_table(tuple(map(find_deck, ("thesis-paladin", "hearthsim-basic"))))
    longer, library = extend_table(game.array)
    assert longer[: len(game.array)].tobytes() == game.array.tobytes()
    pick = np.random.default_rng(8)
    texts = [(row["cost"], row["attack"], row["health"], row["keywords"], row["value"]) for row in longer]
    listed = [[texts[len(game.cards) + table.number[card.key]] for card in deck.cards] for deck in decks]
    for round_ in range(60):
        n = round_ % 16
        seen = pick.choice(len(game.cards), n).astype(np.int64)
        shown = np.zeros(MAX_SHOWN, np.int64)
        shown[:n] = seen
        left, n_left = np.zeros((MAX_NEIGHBOURS, MAX_SHOWN), np.int64), np.zeros(MAX_NEIGHBOURS, np.int64)
        pools, chances = np.zeros(MAX_NEIGHBOURS, np.int64), np.zeros(MAX_NEIGHBOURS)
        found = find_neighbours(library, 0, shown, n, left, n_left, pools, chances)
        expected = plainly(listed, [deck.random for deck in decks], [texts[card] for card in seen])
        assert np.diff(chances[:found], prepend=0).tolist() == pytest.approx(list(expected.values()))
        for place, deck in enumerate(expected):
            own = Counter(listed[deck])
            rest = own if decks[deck].random else own - Counter(texts[card] for card in seen)
            assert Counter(texts[card] for card in left[place, : n_left[place]]) == rest


# Agents


@compiled
@pytest.mark.parametrize("hands", ["known", "predicted", "told"])
@pytest.mark.parametrize("entrant", ENTRANTS)
def test_compiled_games_are_those_of_python(entrant: str, hands: str) -> None:
    players = (find_entrant(f"{entrant}hands={hands}").player, find_entrant("aggro").player)
    roster = Roster(players, tuple(map(find_deck, BODIES)), find_ruleset("standard"))
    games = random_schedule(10, 2, len(BODIES), 9)
    assert (_play_compiled(roster, games) == _play_in_python(roster, games)).all()


@compiled
@pytest.mark.parametrize("hands", ["known", "predicted", "told"])
@pytest.mark.parametrize("entrant", [entrant for entrant in ENTRANTS if "3" not in entrant])
def test_compiled_games_on_lively_decks_are_those_of_python(entrant: str, hands: str) -> None:
    players = (find_entrant(f"{entrant}hands={hands}").player, find_entrant("aggro").player)
    roster = Roster(players, tuple(map(find_deck, LIVELY)), find_ruleset("standard"))
    games = random_schedule(4, 2, len(LIVELY), 9)
    assert (_play_compiled(roster, games) == _play_in_python(roster, games)).all()


@compiled
@pytest.mark.parametrize("entrant", ["lookahead@4,", "minimax-td@"])
def test_bodies_and_real_cards_in_one_batch_have_each_their_library(entrant: str) -> None:
    players = (find_entrant(f"{entrant}hands=predicted").player, find_entrant("aggro").player)
    decks = tuple(map(find_deck, ("thesis-paladin", "reno-mage")))
    roster = Roster(players, decks, find_ruleset("standard"))
    n = 8
    seats = np.tile(np.array([0, 1], np.int16), (n, 1))
    held = np.repeat(np.arange(2, dtype=np.int16), n // 2)[:, None] * np.ones(2, np.int16)
    games = Schedule(seats, held, np.array([stream_key(78, game) for game in range(n)], np.uint64))
    together = _play_compiled(roster, games)
    assert (together == _play_in_python(roster, games)).all()
    apart = np.concatenate([_play_compiled(roster, games.select(half)) for half in (slice(4, 8), slice(4))])
    assert (together == np.roll(apart, 4)).all()


def mirrored(name: str) -> Deck:
    """A deck that no library ships: one card thirty times."""
    deck = find_deck(name)
    card = deck.cards[0]
    return replace(deck, name=f"only {card.name}", cards=(card,) * DECK_SIZE)


@compiled
@pytest.mark.parametrize("entrant", ENTRANTS)
@pytest.mark.parametrize("names", [BODIES[:2], LIVELY[:2]], ids=["bodies", "cards"])
def test_games_with_a_library_are_those_of_python(entrant: str, names: tuple[str, ...]) -> None:
    if "3" in entrant and names != BODIES[:2]:
        pytest.skip("slow in Python")
    players = (find_entrant(f"{entrant}hands=predicted").player, find_entrant("aggro").player)
    decks = tuple(map(find_deck, names))
    roster = Roster(players, decks, find_ruleset("standard"), tuple(map(mirrored, names)))
    games = random_schedule(6, 2, len(decks), 9)
    assert (_play_compiled(roster, games) == _play_in_python(roster, games)).all()


def test_further_decks_are_predicted() -> None:
    """Who saw a card that fills a further deck expects that deck; without the library another one."""
    for name, real in (("thesis-warrior", False), ("reno-mage", True)):
        further = (mirrored(name),)
        table, _ = cached_card_table((find_deck(name), *further))
        number = table.number[further[0].cards[0].key]
        hero_class = int(table.array[table.number[further[0].power.key]]["hero_class"]) if real else 0
        for given, expected in ((further, further[0]), ((), None)):
            longer, library = table_and_library(table.array, True, real, table, given)
            decks = class_decks(given) if real else body_decks(given)[0]
            hands, seen = new_hand_model(), np.full(MAX_SHOWN, number, np.int64)
            found = find_neighbours(
                library, hero_class, seen, 6, hands.left, hands.n_left, hands.pools, hands.chances
            )
            known = [deck for deck in decks if not real or all(c.key in table.number for c in deck.cards)]
            nearest = known[int(library.nearest[0])]
            assert found > 0
            assert (nearest == further[0]) == (expected is not None)
            if expected:
                assert hands.n_left[0] == DECK_SIZE - 6
                assert {int(library.sorts[card]) for card in hands.left[0, :24]} == {
                    int(library.sorts[number])
                }
        assert len(longer) >= len(table.array)


def other_hidden(position: Position, pick: np.random.Generator) -> Position:
    """The same position to the player to move, with the opponent's hidden cards dealt again."""
    other = position.copy()
    own, enemy = other.state["sides"][other.active], other.state["sides"][1 - other.active]
    own["deck"][: own["n_deck"]] = pick.permutation(own["deck"][: own["n_deck"]])
    places = [place for place in range(enemy["n_hand"]) if enemy["hand"][place] != COIN]
    cards = pick.permutation([*enemy["hand"][places], *enemy["deck"][: enemy["n_deck"]]])
    enemy["hand"][places], enemy["deck"][: enemy["n_deck"]] = cards[: len(places)], cards[len(places) :]
    return other


@compiled
@pytest.mark.parametrize("entrant", ENTRANTS)
@pytest.mark.parametrize("hands", list(HANDS))
def test_hidden_cards_change_no_action(entrant: str, hands: str) -> None:
    """But for who is told the hand."""
    player = find_entrant(f"{entrant}hands={hands}").player
    pick, compared, differed = np.random.default_rng(7), 0, 0
    for seed in range(cases(3, 6)):
        position = deal(("thesis-paladin", "thesis-warrior"), seed)
        dealt = dealt_cards(position.states)[0]
        while position.outcome == Outcome.ONGOING and position.state["turn"] < 9:
            seat = position.active
            actions = []
            for here in (position, other_hidden(position, pick)):
                agent = player.agent()
                asked = getattr(agent, "shown", OpponentInfo.NOTHING)
                actions.append(agent.act(PlayerView(here, seat, asked, dealt[1 - seat]), generator(seed)))
            compared += 1
            differed += actions[0] != actions[1]
            position.play(actions[0])
    assert compared > cases(20, 60)
    assert (differed > 0) == (hands == "told"), f"{differed} of {compared}"


# The registry


def test_an_entry_without_the_option_plays_as_ever() -> None:
    for kind in ("lookahead", "mcts", "minimax-td"):
        entry = AGENTS[kind]
        assert options_of(kind)[-1] == HANDS["off"]
        assert "hands" not in entry.definition()
        assert entry.definition(options=(*options_of(kind)[:-1], HANDS["known"]))["hands"] == "known"
        assert entry.sight() is entry.sight(options_of(kind)[:-1]) is Sight.VIEW


def test_who_is_told_the_hand_is_no_honest_agent() -> None:
    for kind in ("lookahead", "mcts", "minimax-td"):
        first = options_of(kind)[:-1]
        sights = {name: AGENTS[kind].sight((*first, value)) for name, value in HANDS.items()}
        assert {name for name, sight in sights.items() if sight is not Sight.VIEW} == {"told"}


def test_values_are_those_that_the_engine_shows() -> None:
    assert HANDS == {
        "off": OpponentInfo.NOTHING,
        "known": OpponentInfo.NOT_SEEN,
        "predicted": OpponentInfo.SEEN,
        "told": OpponentInfo.HAND,
    }


@compiled
def test_rows_of_before_are_rows_of_the_default() -> None:
    for name in ("lookahead@8", "mcts@20", "minimax-td"):
        player = find_entrant(name).player
        short = replace(player, options=AGENTS[player.kind].settings(player.options)[:-1])
        decks = tuple(map(find_deck, BODIES))
        games = random_schedule(12, 2, len(BODIES), 9)
        now, before = (
            _play_compiled(Roster((one, find_entrant("aggro").player), decks, find_ruleset("thesis")), games)
            for one in (player, short)
        )
        assert (now == before).all()


def test_threads_do_not_share_a_library() -> None:
    """Neighbours are looked for in its arrays, and kernels run without the GIL."""
    table, _ = cached_card_table(class_decks())
    with ThreadPoolExecutor(2) as threads:
        barrier = Barrier(2)

        def library() -> DeckLibrary:
            barrier.wait(HANG)
            return table_and_library(table.array, True, True, table)[1]

        one, other = (ticket.result() for ticket in [threads.submit(library) for _ in range(2)])
    assert not np.shares_memory(one.distances, other.distances)
    assert not np.shares_memory(one.nearest, other.nearest)
    np.testing.assert_array_equal(one.decks, other.decks)


def test_who_reckons_with_hands_changes_no_game_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Games of two plain players have the card table of their decks alone, whoever else plays beside them."""
    texts = "hearthsim", "greedy-ilp", "lookahead@4,hands=predicted"
    players = tuple(find_entrant(text).player for text in texts)
    decks = tuple(map(find_deck, ("reno-mage", "jade-shaman")))
    seats = np.tile(np.array([0, 1], np.int16), (12, 1))
    seats[::4, 1] = 2
    keys = np.array([stream_key(77, game) for game in range(12)], np.uint64)
    seen: list[tuple[list[list[int]], object]] = []

    def note(_: Roster, games: Schedule, tables: tuple[object, np.ndarray]) -> np.ndarray:
        seen.append((games.players.tolist(), tables[0]))
        return np.zeros(len(games), GAME)

    monkeypatch.setattr("evo.play.games._play_lockstep", note)
    _play_compiled(
        Roster(players, decks, find_ruleset("thesis")), Schedule(seats, np.zeros_like(seats), keys)
    )
    plain = [table for games, table in seen if games == [[0, 1]] * 9]
    assert len(seen) == 2
    assert plain[0].array.tobytes() == cached_card_table(decks)[0].array.tobytes()  # type: ignore[attr-defined]
    assert len(next(table for _, table in seen if table is not plain[0]).cards) > len(plain[0].cards)  # type: ignore[attr-defined]
