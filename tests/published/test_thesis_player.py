"""The thesis's published player: its program against every plan of small positions, and how plans are carried out."""

import csv
import itertools
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import thesis_published
from benchmarks.thesis_published import (
    BOARD,
    DEPARTURES,
    PROFILES,
    Minion,
    Plan,
    Player,
    carry_out,
    plan_of,
    play_game,
    stream_of,
)
from ilp_agent import find_profile, find_solver
from tests.conftest import cases

HIGHS = find_solver("highs")
BLIND, CHARGE, EXACT = "blind", "charge", "exact-hero"


def minion(
    attack: int, health: int, cost: int = 1, *, charge: bool = False, rush: bool = False, taunt: bool = False
) -> Minion:
    return Minion(cost, attack, health, charge, rush, taunt)


def player(name: str = "true-balanced", **parts: object) -> Player:
    return Player(tuple(find_profile(name).weights.array), [], **parts)  # type: ignore[arg-type]


def every_plan(own: Player, enemy: Player, departures: tuple[str, ...]) -> float:
    """The highest objective of the thesis's program, by trying every answer to it."""
    w1, w2, w3, w4, w5, w6, w7, w8 = own.weights
    friends, m = [*own.board, *own.hand], len(own.board)
    foes, best = enemy.board, float("-inf")
    for u in itertools.product((0, 1), repeat=len(own.hand)):
        if sum(card.cost for card, used in zip(own.hand, u, strict=True) if used) > own.mana:
            continue
        choices = []
        for i, friend in enumerate(friends):
            if i < m:
                may = [1] * (len(foes) + 1)
                limited = True
            else:
                played = bool(u[i - m])
                may = [int(played and (friend.charge or friend.rush))] * len(foes) + [
                    int(played and friend.charge)
                ]
                limited = CHARGE not in departures
            choices.append(
                [
                    x
                    for x in itertools.product(*((0, 1)[: 1 + one] for one in may))
                    if not limited or sum(x) <= 1
                ]
            )
        for attacks in itertools.product(*choices):
            face = sum(friend.attack * x[-1] for friend, x in zip(friends, attacks, strict=True))
            if EXACT in departures and face > enemy.health:
                continue
            dead = [
                sum(friend.attack * x[j] for friend, x in zip(friends, attacks, strict=True)) >= foe.health
                for j, foe in enumerate(foes)
            ]
            at_others = any(
                x[-1] or any(x[k] and not foes[k].taunt for k in range(len(foes))) for x in attacks
            )
            if at_others and any(foe.taunt and not gone for foe, gone in zip(foes, dead, strict=True)):
                continue
            lives = [
                sum(foe.attack * x[j] for j, foe in enumerate(foes)) < friend.health
                if i < m
                else bool(u[i - m])
                for i, (friend, x) in enumerate(zip(friends, attacks, strict=True))
            ]
            for y in itertools.product(*((0, 1) if life else (0,) for life in lives)):
                if sum(y[:m]) + sum(u) > BOARD:
                    continue
                value = w1 * (face >= enemy.health) + w2 * all(dead)
                value += sum(
                    w3 * friend.attack * x[-1]
                    + w5 * friend.health * alive
                    + sum((w6 * friend.attack - w7 * foe.attack) * x[j] for j, foe in enumerate(foes))
                    for friend, x, alive in zip(friends, attacks, y, strict=True)
                )
                value += w8 * sum(u) - w4 * sum(
                    foe.attack for foe, gone in zip(foes, dead, strict=True) if not gone
                )
                best = max(best, value)
    return best


def value_of(own: Player, enemy: Player, plan: Plan) -> float:
    """The objective of a plan; survivals are taken as they follow from it, which is best for its maker."""
    w1, w2, w3, w4, w5, w6, w7, w8 = own.weights
    plays, targets, at_hero = plan
    friends, m = [*own.board, *own.hand], len(own.board)
    face = sum(friend.attack for friend, hits in zip(friends, at_hero, strict=True) if hits)
    dead = [
        sum(friend.attack for friend, hit in zip(friends, targets, strict=True) if j in hit) >= foe.health
        for j, foe in enumerate(enemy.board)
    ]
    value = w1 * (face >= enemy.health) + w2 * all(dead) + w3 * face + w8 * len(plays)
    value -= w4 * sum(foe.attack for foe, gone in zip(enemy.board, dead, strict=True) if not gone)
    for i, (friend, hit) in enumerate(zip(friends, targets, strict=True)):
        taken = [enemy.board[j].attack for j in hit]
        lives = sum(taken) < friend.health if i < m else i - m in plays
        value += w5 * friend.health * lives + sum(w6 * friend.attack - w7 * attack for attack in taken)
    return value


MINIONS = st.builds(
    Minion,
    st.integers(0, 3),
    st.integers(0, 4),
    st.integers(1, 5),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
SOME_DEPARTURES = st.sampled_from([some for n in range(4) for some in itertools.combinations(DEPARTURES, n)])


@given(
    st.lists(MINIONS, max_size=2),
    st.lists(MINIONS, max_size=2),
    st.lists(MINIONS, max_size=2),
    st.integers(1, 6),
    st.integers(0, 4),
    st.sampled_from(PROFILES),
    SOME_DEPARTURES,
)
@settings(max_examples=cases(80, 150), deadline=None)
def test_the_plan_is_the_best_of_all(
    board: list[Minion],
    hand: list[Minion],
    foes: list[Minion],
    health: int,
    mana: int,
    name: str,
    departures: tuple[str, ...],
) -> None:
    own, enemy = player(name, board=board, hand=hand, mana=mana), player(board=foes, health=health)
    plan = plan_of(own, enemy, departures, HIGHS)
    assert value_of(own, enemy, plan) == pytest.approx(every_plan(own, enemy, departures))


@given(
    st.lists(MINIONS, max_size=4),
    st.lists(MINIONS, max_size=4),
    st.lists(MINIONS, min_size=1, max_size=4),
    st.data(),
)
@settings(max_examples=cases(100, 200), deadline=None)
def test_by_the_rules_no_plan_passes_a_taunt_or_uses_the_dead(
    board: list[Minion], hand: list[Minion], foes: list[Minion], data: st.DataObject
) -> None:
    n = len(board) + len(hand)
    plan: Plan = (
        data.draw(st.lists(st.sampled_from(range(len(hand))), unique=True).map(sorted)) if hand else [],
        [data.draw(st.lists(st.sampled_from(range(len(foes))), unique=True).map(sorted)) for _ in range(n)],
        [data.draw(st.booleans()) for _ in range(n)],
    )
    before = [replace(foe) for foe in foes]
    own, enemy = player(board=board, hand=hand, mana=10), player(board=foes)
    carry_out(own, enemy, plan, (CHARGE, EXACT))
    guarded = any(foe.taunt and foe.health > 0 for foe in foes)
    if guarded:
        assert enemy.health == 30
        for foe, was in zip(foes, before, strict=True):
            assert foe.taunt or foe.health == was.health
    assert all(one.health > 0 for one in (*own.board, *enemy.board))
    strongest = max((one.attack for one in (*board, *hand)), default=0)
    assert all(foe.health > -strongest for foe in foes), "nobody attacks the dead"


def test_attacks_by_and_on_the_dead() -> None:
    """Two of 2/1 attack a 3/2: the first kills it and dies; the second attacks the body, and dies of it."""
    for departures, left, body in (((BLIND,), 0, -2), ((), 1, 0)):
        foe = minion(3, 2)
        own, enemy = player(board=[minion(2, 1), minion(2, 1)]), player(board=[foe])
        carry_out(own, enemy, ([], [[0], [0]], [False, False]), departures)
        assert (len(own.board), foe.health, enemy.board) == (left, body, [])


def test_a_taunt_is_passed_blindly_alone() -> None:
    """The plan kills the Taunt with the second attacker; the first is carried out before."""
    for departures, health in (((BLIND,), 26), ((), 26), ((EXACT,), 26)):
        own = player(board=[minion(4, 4), minion(2, 4)])
        enemy = player(board=[minion(1, 2, taunt=True)])
        carry_out(own, enemy, ([], [[], [0]], [True, False]), departures)
        assert enemy.health == health
    for departures, health in (
        ((BLIND,), 26),
        ((), 30),
    ):  # the Taunt lives on, since its attacker is too weak
        own, enemy = player(board=[minion(4, 4)]), player(board=[minion(1, 2, taunt=True)])
        carry_out(own, enemy, ([], [[]], [True]), departures)
        assert enemy.health == health


def test_who_charges_without_limit_is_carried_out_once() -> None:
    foes = [minion(0, 4), minion(0, 4)]
    own, enemy = player(hand=[minion(3, 3, charge=True)], mana=1), player(board=foes)
    plan = plan_of(own, enemy, DEPARTURES, HIGHS)
    assert plan == ([0], [[0, 1]], [True])
    carry_out(own, enemy, plan, DEPARTURES)
    assert ([foe.health for foe in foes], enemy.health) == ([1, 4], 30)
    limited = plan_of(player(hand=[minion(3, 3, charge=True)], mana=1), enemy, (EXACT, BLIND), HIGHS)
    assert len(limited[1][0]) + limited[2][0] == 1


def test_lethal_needs_the_exact_sum() -> None:
    own = player("aggro-face", board=[minion(2, 1), minion(2, 1)])
    assert sum(plan_of(own, player(health=3), (EXACT,), HIGHS)[2]) == 1
    assert sum(plan_of(own, player(health=4), (EXACT,), HIGHS)[2]) == 2
    assert sum(plan_of(own, player(health=3), (), HIGHS)[2]) == 2


def test_a_full_board_takes_no_more_cards() -> None:
    own = player(board=[minion(1, 1) for _ in range(BOARD)], hand=[minion(1, 1)], mana=5)
    carry_out(own, player(), ([0], [[]] * 8, [False] * 8), DEPARTURES)
    assert (len(own.board), len(own.hand), own.mana) == (BOARD, 1, 5)


def test_a_game_depends_on_its_stream_alone() -> None:
    pair = ("true-balanced", "aggro-face")
    games = [
        play_game(pair, thesis_published.DECKS, stream_of(seed, pair, DEPARTURES, 0), DEPARTURES, HIGHS)
        for seed in (1, 1, 2)
    ]
    assert games[0] == games[1]
    assert games[0] != games[2]
    assert all(winner in (0, 1) and 3 < rounds < 30 for winner, rounds in games)


def test_no_two_games_share_a_deal() -> None:
    """Neither of another seed, nor of another pairing, player or number; so cells and tables are independent."""
    pairs = itertools.product(PROFILES, repeat=2)
    players = [named for size in range(4) for named in itertools.combinations(DEPARTURES, size)]
    keys = list(itertools.product((1, 2, 3), pairs, players, range(5)))
    assert len({stream_of(*key).random() for key in keys}) == len(keys)


@pytest.mark.heavy
def test_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(thesis_published, "PROFILES", PROFILES[:2])
    out = tmp_path / "table.csv"
    line = f"thesis_published --games 2 --solver highs --workers 1 --out {out}"
    monkeypatch.setattr(sys, "argv", line.split())
    thesis_published.main()
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert list(rows[0]) == ["first", "second", "games", "first_wins", "mean_turns"]
    assert [(row["first"], row["second"]) for row in rows] == list(itertools.product(PROFILES[:2], repeat=2))
    for more, message in (
        ("--departures flying", "unknown departure flying; known: charge, exact-hero, blind"),
        ("--decks thesis-paladin", "--decks takes two with a comma between"),
        ("--decks thesis-paladin,thesis-knight", "thesis-knight"),
        ("--games 0", "--games and --workers are at least 1"),
        (f"--out {tmp_path}", "Is a directory"),
    ):
        monkeypatch.setattr(sys, "argv", [*line.split(), *more.split()])
        with pytest.raises(SystemExit):
            thesis_published.main()
        assert message in capsys.readouterr().err
