"""The rules one by one, each on a position small enough to work out by hand."""

import pytest

from engine import IllegalActionError, Outcome, Position, deal, find_deck, parse_action, parse_position
from engine.codes import Death

LONG_DECK = "; ".join(["9:1/1"] * 5)


def after(text: str, *actions: str) -> Position:
    position = parse_position(text)
    for action in actions:
        position.play(parse_action(action))
    return position


def legal(text: str) -> set[str]:
    return {str(action) for action in parse_position(text).legal_actions()}


def side(position: Position, seat: int, *names: str) -> tuple[int, ...]:
    return tuple(int(position.state["sides"][seat][name]) for name in names)


def board(position: Position, seat: int) -> list[tuple[int, int]]:
    half = position.state["sides"][seat]
    return [(int(m["attack"]), int(m["health"])) for m in half["board"][: half["n_board"]]]


# Arriving and attacking


def test_summoning_sickness_ends_with_the_own_next_turn() -> None:
    start = f"hero 30 mana 1/1 hand [1:2/3] deck [{LONG_DECK}] | hero 30 mana 0/0 deck [{LONG_DECK}]"
    assert {str(a) for a in after(start, "play 0").legal_actions()} == {"end turn"}
    later = after(start, "play 0", "end turn", "end turn")
    assert "attack 0 -> hero" in {str(a) for a in later.legal_actions()}


def test_charge_attacks_anything_at_once() -> None:
    position = after("hero 30 mana 1 hand [1:2/1C] | hero 30 board [1/1]", "play 0")
    assert {str(a) for a in position.legal_actions()} == {"attack 0 -> 0", "attack 0 -> hero", "end turn"}


def test_rush_cannot_hit_the_hero_on_its_first_turn_but_can_later() -> None:
    start = (
        f"hero 30 mana 1 hand [1:2/3R] deck [{LONG_DECK}] | hero 30 mana 0/0 board [0/1] deck [{LONG_DECK}]"
    )
    position = after(start, "play 0")
    assert {str(a) for a in position.legal_actions()} == {"attack 0 -> 0", "end turn"}
    with pytest.raises(IllegalActionError, match="a minion with Rush cannot attack heroes"):
        position.play(parse_action("attack 0 -> hero"))
    assert "attack 0 -> hero" in {
        str(a) for a in after(start, "play 0", "end turn", "end turn").legal_actions()
    }


def test_charge_with_rush_may_hit_the_hero() -> None:
    position = after("hero 30 mana 1 hand [1:2/1CR] | hero 30", "play 0")
    assert "attack 0 -> hero" in {str(a) for a in position.legal_actions()}


def test_a_minion_of_attack_0_cannot_attack() -> None:
    assert legal("hero 30 board [0/5T ready] | hero 30 board [1/1]") == {"end turn"}


def test_windfury_attacks_twice_on_one_target_or_two() -> None:
    start = "hero 30 mana 0 board [2/9W ready 2] | hero 30 board [1/3]"
    assert board(after(start, "attack 0 -> 0"), 1) == [(1, 1)]
    assert board(after(start, "attack 0 -> 0", "attack 0 -> 0"), 1) == []
    assert side(after(start, "attack 0 -> hero", "attack 0 -> hero"), 1, "health") == (26,)
    assert legal(str(after(start, "attack 0 -> 0", "attack 0 -> hero"))) == {"end turn"}


def test_windfury_with_charge_attacks_twice_on_its_first_turn() -> None:
    position = after(
        "hero 30 mana 1 hand [1:3/1CW] | hero 30", "play 0", "attack 0 -> hero", "attack 0 -> hero"
    )
    assert side(position, 1, "health") == (24,)


def test_damage_is_dealt_both_ways_and_stays() -> None:
    position = after("hero 30 board [3/4 ready] | hero 30 board [2/5]", "attack 0 -> 0")
    assert board(position, 0) == [(3, 2)]
    assert board(position, 1) == [(2, 2)]


def test_both_die_at_once_and_those_to_the_right_close_up() -> None:
    position = after("hero 30 board [1/1; 3/2 ready; 5/5] | hero 30 board [2/3; 4/4]", "attack 1 -> 0")
    assert board(position, 0) == [(1, 1), (5, 5)]
    assert board(position, 1) == [(4, 4)]
    assert side(position, 0, "died") == side(position, 1, "died") == (1,)


# Taunt and Stealth


def test_taunt_guards_everything_else() -> None:
    text = "hero 30 board [3/3 ready] | hero 30 board [1/1; 2/2T; 1/4T]"
    assert legal(text) == {"attack 0 -> 1", "attack 0 -> 2", "end turn"}
    with pytest.raises(
        IllegalActionError,
        match=r"illegal action attack 0 -> hero \(3/3\): another minion has Taunt; in turn 1 first",
    ):
        after(text, "attack 0 -> hero")


def test_stealth_cannot_be_attacked_and_its_taunt_does_not_guard() -> None:
    text = "hero 30 board [3/3 ready] | hero 30 board [1/1; 2/2TS]"
    assert legal(text) == {"attack 0 -> 0", "attack 0 -> hero", "end turn"}
    with pytest.raises(IllegalActionError, match="the target has Stealth"):
        after(text, "attack 0 -> 1")


def test_attacking_ends_stealth() -> None:
    position = after(
        "hero 30 board [1/3TS ready] | hero 30 mana 0/0 board [5/1 ready; 2/2]", "attack 0 -> 1", "end turn"
    )
    assert {str(a) for a in position.legal_actions()} >= {"attack 0 -> 0"}
    assert "attack 0 -> hero" not in {str(a) for a in position.legal_actions()}


# Divine Shield, Poisonous, Lifesteal


def test_divine_shield_absorbs_one_hit_on_either_side() -> None:
    position = after("hero 30 board [3/1D ready] | hero 30 board [4/2D]", "attack 0 -> 0")
    assert str(position).count("now 3/1") == str(position).count("now 4/2") == 1


def test_a_hit_of_0_pops_no_shield() -> None:
    position = after("hero 30 board [3/1D ready] | hero 30 board [0/5]", "attack 0 -> 0")
    assert "now" not in str(position).split(" | ")[1]


def test_poison_kills_what_it_damages_attacking_and_defending() -> None:
    assert board(after("hero 30 board [1/1P ready] | hero 30 board [0/9]", "attack 0 -> 0"), 1) == []
    assert board(after("hero 30 board [1/9 ready] | hero 30 board [1/5P]", "attack 0 -> 0"), 0) == []


def test_poison_absorbed_by_a_shield_or_without_damage_kills_nothing() -> None:
    assert board(after("hero 30 board [1/1P ready] | hero 30 board [0/9D]", "attack 0 -> 0"), 1) == [(0, 9)]
    assert board(after("hero 30 board [1/9 ready] | hero 30 board [0/5P]", "attack 0 -> 0"), 0) == [(1, 9)]


def test_poison_does_not_kill_heroes() -> None:
    assert side(after("hero 30 board [1/1P ready] | hero 30", "attack 0 -> hero"), 1, "health") == (29,)


def test_lifesteal_heals_attacking_and_defending_by_the_damage_dealt() -> None:
    start = "hero 20 board [3/9L ready] | hero 10 board [4/1L]"
    position = after(start, "attack 0 -> 0")
    # 3 damage to a minion of health 1 heals 3; the defender's 4 heals its own hero.
    assert side(position, 0, "health") == (23,)
    assert side(position, 1, "health") == (14,)
    assert side(after(start.replace("4/1L", "4/1"), "attack 0 -> 0"), 1, "health") == (10,)
    assert side(after("hero 29 board [3/1L ready] | hero 30", "attack 0 -> hero"), 0, "health") == (30,)


def test_lifesteal_absorbed_by_a_shield_heals_nothing() -> None:
    position = after("hero 20 board [3/9L ready] | hero 10 board [4/1D]", "attack 0 -> 0")
    assert side(position, 0, "health") == (20,)


# Heroes, armour, the end of the game


def test_armour_is_lost_before_health() -> None:
    assert side(
        after("hero 30 board [5/1 ready] | hero 10+3", "attack 0 -> hero"), 1, "health", "armour"
    ) == (
        8,
        0,
    )
    assert side(
        after("hero 30 board [2/1 ready] | hero 10+3", "attack 0 -> hero"), 1, "health", "armour"
    ) == (
        10,
        1,
    )


def test_the_game_ends_when_a_hero_dies_and_nothing_follows() -> None:
    position = after("hero 30 board [3/1 ready; 1/1 ready] | hero 3", "attack 0 -> hero")
    assert position.outcome == Outcome.FIRST_WINS
    assert position.legal_actions() == []
    with pytest.raises(IllegalActionError, match="the game is over"):
        position.play(parse_action("attack 1 -> hero"))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (0, 5, Outcome.SECOND_WINS),
        (5, -2, Outcome.FIRST_WINS),
        (0, -1, Outcome.DRAW),
        (1, 1, Outcome.ONGOING),
    ],
)
def test_outcome_by_the_heroes_and_both_dead_is_a_draw(first: int, second: int, expected: Outcome) -> None:
    assert parse_position(f"hero {first} | hero {second}").outcome == expected


def test_fatigue_grows_by_one_and_can_kill() -> None:
    start = "turn 20 first | hero 30 | hero 3 fatigue 1"
    position = after(start, "end turn")
    assert side(position, 1, "health", "fatigue") == (1, 2)
    position = after(str(position), "end turn")
    assert side(position, 0, "health", "fatigue") == (29, 1)
    assert after(str(position), "end turn").outcome == Outcome.FIRST_WINS


def test_fatigue_hits_armour_first() -> None:
    assert side(after("hero 30 | hero 9+2 fatigue 2", "end turn"), 1, "health", "armour") == (8, 0)


def test_the_turn_cap_is_a_draw_after_both_players_last_turn() -> None:
    start = f"turn 7 first cap 7 | hero 30 | hero 30 deck [{LONG_DECK}]"
    assert after(start, "end turn").outcome == Outcome.ONGOING
    position = after(start, "end turn", "end turn")
    assert position.outcome == Outcome.DRAW
    # No player draws in the round that is not played.
    assert side(position, 0, "fatigue") == (0,)


# Hand, board, mana


def test_a_full_hand_burns_the_draw() -> None:
    hand = "; ".join(["9:1/1"] * 10)
    position = after(f"hero 30 | hero 30 hand [{hand}] deck [1:2/2; 1:3/3]", "end turn")
    assert side(position, 1, "n_hand", "n_deck", "burned") == (10, 1, 1)
    assert "1:2/2" not in str(position)


def test_a_full_board_takes_no_minion_but_the_coin_can_be_played() -> None:
    crowd = "; ".join(["0/1"] * 7)
    text = f"hero 30 mana 5 board [{crowd}] hand [1:1/1; The Coin] | hero 30"
    assert legal(text) == {"play 1", "end turn"}
    with pytest.raises(IllegalActionError, match="the board is full"):
        after(text, "play 0")


def test_a_card_costs_its_mana() -> None:
    assert legal("hero 30 mana 2/5 hand [2:1/1; 3:1/1] | hero 30") == {"play 0", "end turn"}
    with pytest.raises(IllegalActionError, match="the player has only 2 mana"):
        after("hero 30 mana 2/5 hand [2:1/1; 3:1/1] | hero 30", "play 1")
    assert side(after("hero 30 mana 2/5 hand [2:1/1; 3:1/1] | hero 30", "play 0"), 0, "mana") == (0,)


def test_crystals_grow_by_one_to_ten_and_refill() -> None:
    assert side(after("hero 30 | hero 30 mana 0/4 deck [1/1]", "end turn"), 1, "mana", "crystals") == (5, 5)
    assert side(after("hero 30 | hero 30 mana 3/10 deck [1/1]", "end turn"), 1, "mana", "crystals") == (
        10,
        10,
    )


def test_the_coin_gives_one_mana_for_the_turn_and_never_more_than_ten() -> None:
    coin = after("hero 30 mana 1/1 hand [The Coin; 2:1/1] | hero 30", "play 0")
    assert side(coin, 0, "mana", "crystals", "n_hand") == (2, 1, 1)
    full = after("turn 10 first | hero 30 mana 10 hand [The Coin] | hero 30", "play 0")
    assert side(full, 0, "mana") == (10,)


def test_cards_play_to_the_right_end_and_the_hand_closes_up() -> None:
    position = after("hero 30 mana 9 board [1/1] hand [1:2/2; 1:3/3; 1:4/4] | hero 30", "play 1", "play 0")
    assert board(position, 0) == [(1, 1), (3, 3), (2, 2)]
    assert side(position, 0, "n_hand") == (1,)


# Dealing


@pytest.mark.parametrize(
    ("ruleset", "first", "second", "coin"),
    [("thesis", 4, 4, 0), ("hearthsim", 3, 4, 1), ("hearthsim-nocoin", 3, 4, 0), ("standard", 3, 4, 1)],
)
def test_rulesets_deal_their_hands(ruleset: str, first: int, second: int, coin: int) -> None:
    decks = find_deck("thesis-paladin"), find_deck("hearthsim-basic")
    position = deal(decks, seed=5, ruleset=ruleset)
    # The first player has drawn for the first turn already; the second draws at the start of theirs.
    assert side(position, 0, "n_hand", "n_deck", "mana") == (first + 1, 29 - first, 1)
    assert side(position, 1, "n_hand", "n_deck", "mana") == (second + coin, 30 - second, 0)
    assert ("The Coin" in str(position)) == bool(coin)
    position.play(parse_action("end turn"))
    assert side(position, 1, "n_hand", "n_deck", "mana") == (second + coin + 1, 29 - second, 1)


def test_the_mulligan_replaces_dear_cards_once_and_keeps_the_others() -> None:
    decks = find_deck("thesis-paladin"), find_deck("thesis-warrior")
    for seed in range(50):
        plain, changed = (deal(decks, seed, ruleset=name) for name in ("hearthsim", "standard"))
        table = plain.table.cards
        for seat, n in ((0, 3), (1, 4)):
            before = [int(c) for c in plain.state["sides"][seat]["hand"][:n]]
            now = [int(c) for c in changed.state["sides"][seat]["hand"][:n]]
            kept = [c for c in before if table[c].spec.cost <= 3]
            assert [c for c, old in zip(now, before, strict=True) if table[old].spec.cost <= 3] == kept
            everything = changed.state["sides"][seat]
            cards = [*everything["hand"][: everything["n_hand"]], *everything["deck"][: everything["n_deck"]]]
            assert sorted(table[c].name for c in cards if c >= 0) == sorted(c.name for c in decks[seat].cards)


def test_random_decks_are_drawn_afresh_for_each_game_and_player() -> None:
    pool = find_deck("random-minions")
    lists = set()
    for seed in range(20):
        state = deal((pool, pool), seed).state
        for half in state["sides"]:
            lists.add(tuple(sorted([*half["hand"][: half["n_hand"]], *half["deck"][: half["n_deck"]]])))
    assert len(lists) == 40


def test_a_shuffle_belongs_to_its_seat_not_to_the_other_deck() -> None:
    paladin, warrior = find_deck("thesis-paladin"), find_deck("thesis-warrior")
    one, other = deal((paladin, warrior), 3), deal((paladin, paladin), 3)
    assert str(one).split(" | ")[1] == str(other).split(" | ")[1]


def test_no_first_draw_where_the_ruleset_says_so() -> None:
    position = parse_position("turn 1 first cap 9 no first draw | hero 30 | hero 30 mana 0/0 deck [1/1; 1/1]")
    position.play(parse_action("end turn"))
    assert side(position, 1, "n_hand", "mana") == (0, 1)


# What an action reports


@pytest.mark.parametrize(
    ("text", "action", "deaths"),
    [
        ("hero 30 mana 1 hand [1:2/1] | hero 30", "play 0", 0),
        ("hero 30 hand [The Coin] | hero 30", "play 0", 0),
        ("hero 30 deck [1:1/1] | hero 30 deck [1:1/1]", "end turn", 0),
        ("hero 30 board [2/1 ready] | hero 1", "attack 0 -> hero", 0),
        ("hero 30 board [2/3 ready] | hero 30 board [2/3]", "attack 0 -> 0", 0),
        ("hero 30 board [2/2 ready] | hero 30 board [2/3]", "attack 0 -> 0", Death.ATTACKER),
        ("hero 30 board [3/3 ready] | hero 30 board [2/3]", "attack 0 -> 0", Death.DEFENDER),
        ("hero 30 board [3/2 ready] | hero 30 board [2/3]", "attack 0 -> 0", Death.ATTACKER | Death.DEFENDER),
        ("hero 30 board [3/2D ready] | hero 30 board [2/3]", "attack 0 -> 0", Death.DEFENDER),
        ("hero 30 board [3/2 ready] | hero 30 board [2/3D]", "attack 0 -> 0", Death.ATTACKER),
        (
            "hero 30 board [1/9P ready] | hero 30 board [1/9P]",
            "attack 0 -> 0",
            Death.ATTACKER | Death.DEFENDER,
        ),
    ],
)
def test_an_action_reports_who_died(text: str, action: str, deaths: int) -> None:
    assert parse_position(text).play(parse_action(action)) == deaths
