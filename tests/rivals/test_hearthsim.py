"""HearthSim: the score by hand, and the search against trying every sequence."""

import math
from dataclasses import replace

import numpy as np
import pytest

from engine import Action, Outcome, Position, parse_position, play, rules
from engine.codes import COIN, UNKNOWN, ActionKind, Keyword
from engine.effect_codes import ENEMY, CardKind, Op, Trigger
from engine.effects.chance import Chance
from engine.jit import njit
from engine.state import STATE
from engine.streams import agent_keys
from engine.view import PlayerView
from ilp_agent.search.backend import Searcher
from ilp_agent.search.kernel import start_search
from ilp_agent.search.objective import count_hidden_cards, draw_value, end_value, score_of
from ilp_agent.search.work import SOLUTION, new_memory
from ilp_agent.weights import WeightError
from rivals import HearthSimAgent, HearthSimWeights, find_agent_profile
from rivals.batch import TURNS
from rivals.hearthsim import BUDGET, score_rows, turn_weights
from tests.conftest import BOUNDSCHECK, UNCOMPILED, cases, heavy
from tests.ilp_agent.positions import random_position
from tests.ilp_agent.search.turns import CLASS_DECKS, LIVELY_DECKS, reached
from tests.rivals.turns import positions, turn

STANDARD = find_agent_profile("hearthsim", "standard").weights
assert isinstance(STANDARD, HearthSimWeights)
SEARCHER = Searcher(new_memory(BUDGET), np.zeros(1, SOLUTION))
POSITIONS = 15 if UNCOMPILED else 60 if BOUNDSCHECK else 200


def score(text: str, weights: HearthSimWeights = STANDARD) -> float:
    position = parse_position(text)
    row, work = score_rows(weights.full_array[None])[0], SEARCHER.memory.work[0]
    start_search(position.states[0], position.table.array, row, work)
    return float(score_of(position.states[0], position.table.array, row, work["start"]))


def search(
    position: Position | str, weights: HearthSimWeights | np.ndarray = STANDARD, budget: int = BUDGET
) -> tuple[list[str], float, np.void]:
    """The turn's actions in notation, its score, and the search's counts."""
    position = parse_position(position) if isinstance(position, str) else position
    chosen = weights if isinstance(weights, HearthSimWeights) else HearthSimWeights.from_array(weights)
    found = SEARCHER.search(position, score_rows(chosen.full_array[None])[0], budget)
    actions = [str(Action.from_code(int(code))) for code in found["actions"][: found["n"]]]
    return actions, float(found["value"]), found


def plain_score(position: Position, weights: HearthSimWeights) -> float:
    """S for the player to move, read from the formula."""
    own, enemy = position.state["sides"][position.active], position.state["sides"][1 - position.active]
    if own["health"] <= 0:
        return -math.inf
    if enemy["health"] <= 0:
        return math.inf
    total = weights.hero * (int(own["health"]) + int(own["armour"]))
    total -= weights.enemy_hero * (int(enemy["health"]) + int(enemy["armour"]))
    for minion in own["board"][: own["n_board"]]:
        attack, health = int(minion["attack"]), int(minion["health"])
        total += weights.attack * attack + weights.health * health
        total += (
            weights.divine_shield * (attack + health) if minion["keywords"] & Keyword.DIVINE_SHIELD else 0
        )
    for minion in enemy["board"][: enemy["n_board"]]:
        total -= weights.enemy_attack * int(minion["attack"]) + weights.enemy_health * int(minion["health"])
    total += weights.minions * int(own["n_board"]) - weights.enemy_minions * int(enemy["n_board"])
    total += weights.weapon * int(own["weapon_attack"]) * int(own["durability"])
    total -= weights.weapon * int(enemy["weapon_attack"]) * int(enemy["durability"])
    return total + sum(in_hand(position, int(number), weights) for number in own["hand"][: own["n_hand"]])


def in_hand(position: Position, number: int, weights: HearthSimWeights) -> float:
    """What a card in hand is worth."""
    if number == COIN:
        return 0.0
    card = position.table.cards[number]
    hits = [
        row.amount
        for row in card.effects
        if row.trigger == Trigger.PLAY and row.op == Op.DAMAGE and row.side & ENEMY and row.amount
    ]
    if card.kind == CardKind.SPELL and hits:
        return weights.direct_damage * hits[0] + weights.direct_damage_bonus
    charge = card.kind == CardKind.MINION and card.spec.charge
    return weights.hand * card.spec.cost + (weights.charge if charge else 0.0)


def score_after(
    position: Position, action: Action, weights: HearthSimWeights, drawn: float
) -> tuple[float, list[Position]]:
    """The score of an action, and where it leads; nowhere where chance decides it."""
    then, chance = position.copy(), Chance.blind()
    rules.play_checked(then.states, then.table.array, action.code, chance.array)
    if chance.n_pending_outcomes > 8:
        return math.nan, []
    if chance.n_pending_outcomes:
        scores = []
        for outcome in range(chance.n_pending_outcomes):
            then, given = position.copy(), Chance.given([outcome])
            rules.play_checked(then.states, then.table.array, action.code, given.array)
            if given.n_pending_outcomes:
                return math.nan, []
            scores.append(min(max(score_with_drawn(then, weights, drawn), -1e9), 1e9))
        return sum(scores) / len(scores), []
    return score_with_drawn(then, weights, drawn), [then]


def score_with_drawn(position: Position, weights: HearthSimWeights, drawn: float) -> float:
    """S with each drawn card, which is hidden, worth `drawn`."""
    own = position.state["sides"][position.active]
    unknown = [place for place in range(own["n_hand"]) if own["hand"][place] == UNKNOWN]
    for place in unknown:
        own["hand"][place] = COIN
    score = plain_score(position, weights) + drawn * len(unknown)
    for place in unknown:
        own["hand"][place] = UNKNOWN
    return score


def brute_force(position: Position, weights: HearthSimWeights, limit: int) -> float | None:
    """The best score of all sequences; None beyond the limit, or where chance has many outcomes."""
    own = position.state["sides"][position.active]
    deck = [in_hand(position, int(number), weights) for number in own["deck"][: own["n_deck"]]]
    drawn = sum(deck) / len(deck) if deck else 0.0
    best, known, waiting = plain_score(position, weights), {position.state.tobytes()}, [position]
    while waiting:
        here = waiting.pop()
        for action in here.legal_actions():
            if action.kind == ActionKind.END_TURN:
                continue
            score, then = score_after(here, action, weights, drawn)
            if math.isnan(score):
                return None
            best = max(best, score)
            for later in then:
                if later.state.tobytes() not in known:
                    known.add(later.state.tobytes())
                    waiting.append(later)
        if len(known) > limit:
            return None
    return best


def test_score_of_a_position() -> None:
    """Own 3/2 and 2/5 Shield, enemy 4/1; in hand costs 2 and 5 and The Coin; heroes 20 + 3 armour and 12.

    S_b = 1 (3 + 2) + 1 (2 + 5) + 1 (2 + 5) = 19; S~_b = -(4 + 1) = -5; S_c = 0.1 (2 + 5) = 0.7;
    S_h = 0.1 * 23 = 2.3; S~_h = -0.1 * 12 = -1.2. Sum 15.8.
    """
    text = "turn 5 | hero 20+3 board [3/2; 2/5D] hand [2:1/1; The Coin; 5:5/5] | hero 12 board [4/1]"
    assert score(text) == pytest.approx(15.8)


def test_each_weight_has_its_own_term() -> None:
    """The same position; every weight alone.

    w_a: 3 + 2 = 5; w_h: 2 + 5 = 7; w~_a: -4; w~_h: -1; w_m: 7; w_hh: 23; w~_hh: -12; w_ds: 2 + 5 = 7. Of
    those for effects none counts here; w_n: 2; w~_n: -1.
    """
    text = "turn 5 | hero 20+3 board [3/2; 2/5D] hand [2:1/1; The Coin; 5:5/5] | hero 12 board [4/1]"
    alone = [score(text, HearthSimWeights.from_array(row)) for row in np.eye(14)]
    assert alone == [5, 7, -4, -1, 7, 23, -12, 7, 0, 0, 0, 0, 2, -1]


def test_without_worth_of_own_minions_only_their_number_lets_them_be_played() -> None:
    """Aggressiveness 0: a 2/2 for 2 loses 0.1 * 2 of the hand, and gains w_n = 0.5 in the posts' program."""
    text = "turn 5 | hero 20 mana 2 hand [2:2/2] | hero 20"
    assert search(text, replace(STANDARD, attack=0.0, health=0.0))[0] == []
    posted = find_agent_profile("hearthsim", "posted-standard").weights
    assert isinstance(posted, HearthSimWeights)
    assert search(text, replace(posted, attack=0.0, health=0.0))[0] == ["play 0"]


def test_dead_heroes_are_infinite() -> None:
    """The enemy dead: infinity; the own: minus infinity."""
    assert score("turn 5 | hero 20 | hero 0") == math.inf
    assert score("turn 5 | hero -2 | hero 5") == -math.inf


def test_standard_leaves_an_equal_trade_and_balanced_makes_it() -> None:
    """Own 3/2 against 2/3: both would die. The trade changes S_b by -5 w and S~_b by +5.

    Standard (w = 1): 0; the attack on the hero is worth 0.1 * 3 = 0.3 and wins. Balanced (w = 0.9): +0.5
    against 0.3, so it trades ("Tuning the AI").
    """
    text = "turn 5 | hero 20 mana 0 board [3/2 ready] | hero 20 board [2/3]"
    assert search(text)[0] == ["attack 0 -> hero"]
    balanced = find_agent_profile("hearthsim", "balanced").weights
    assert isinstance(balanced, HearthSimWeights)
    assert search(text, balanced)[0] == ["attack 0 -> 0"]


def test_divine_shield_of_weight_1_is_not_spent_for_damage_alone() -> None:
    """Scarlet Crusader 3/1 with Shield against 4/5 ("Divine Shield Modeling", Part 2).

    The attack loses 1 (3 + 1) = 4 of the shield and gains 3 of health; the hero gains 0.3. Without the
    weight the 3 are for nothing and it attacks the minion.
    """
    text = "turn 5 | hero 20 mana 0 board [3/1D ready] | hero 20 board [4/5]"
    assert search(text)[0] == ["attack 0 -> hero"]
    without = HearthSimWeights(1, 1, 1, 1, 0.1, 0.1, 0.1, 0)
    assert search(text, without)[0] == ["attack 0 -> 0"]


def test_divine_shield_below_minus_1_stays_in_hand() -> None:
    """Playing 3/1 with Shield for 3 mana gains 3 + 1 - 4 * 1.5 - 0.1 * 3 = -2.3: it is kept. At 1 it is played."""
    text = "turn 5 | hero 20 mana 3 hand [3:3/1D] | hero 20"
    assert search(text, HearthSimWeights(1, 1, 1, 1, 0.1, 0.1, 0.1, -1.5))[0] == []
    assert search(text)[0] == ["play 0"]


def test_the_hand_is_worth_its_mana() -> None:
    """With w_m = 1 a 1/1 for 3 mana gains 2 - 3 = -1 on the board and is kept; with 0.1 it gains 1.7."""
    text = "turn 5 | hero 20 mana 3 hand [3:1/1] | hero 20"
    assert search(text, HearthSimWeights(1, 1, 1, 1, 1, 0.1, 0.1, 1))[0] == []
    assert search(text)[0] == ["play 0"]


def test_lethal_beats_all() -> None:
    """A 2/1 can kill a 9/2 (S~_b + 11 - 3) or the hero with 2 health: the hero."""
    actions, best, _ = search("turn 5 | hero 20 mana 0 board [2/1 ready] | hero 2 board [9/2]")
    assert (actions, best) == (["attack 0 -> hero"], math.inf)


def test_lethal_through_taunt_with_charge_from_hand() -> None:
    """The 3/1 kills the guard 1/3, the charger for 4 and a coin deals the last 4."""
    text = (
        "turn 5 | hero 20 mana 3 board [3/1 ready] hand [The Coin; 4:4/2C; 1:1/1] | hero 4 board [1/3T; 8/8]"
    )
    position = parse_position(text)
    actions, best, _ = search(text)
    assert best == math.inf
    for action in actions:
        position.play(next(one for one in position.legal_actions() if str(one) == action))
    assert position.outcome == Outcome.FIRST_WINS


def test_the_coin_is_kept_when_nothing_needs_it() -> None:
    """With 3 mana the 2-drop alone is affordable either way; a 4-drop is worth The Coin."""
    assert search("turn 5 | hero 20 mana 3 hand [The Coin; 2:2/2] | hero 20")[0] == ["play 1"]
    assert search("turn 5 | hero 20 mana 3 hand [The Coin; 4:4/4] | hero 20")[0] == ["play 0", "play 0"]


def test_at_ten_mana_the_coin_follows_the_first_card() -> None:
    """Mana never exceeds 10, so 6 + 5 needs the card first and then The Coin."""
    actions = search("turn 10 | hero 20 mana 10 hand [The Coin; 6:6/6; 5:5/5] | hero 20")[0]
    assert actions == ["play 1", "play 0", "play 0"]


def test_a_death_frees_the_place_for_a_charger() -> None:
    """Board of seven, one of them can trade itself; then the charger fits, and attacks."""
    board = "; ".join(["1/1 ready"] + ["0/9"] * 6)
    text = f"turn 9 | hero 20 mana 5 board [{board}] hand [5:6/6C] | hero 20 board [1/1]"
    assert search(text)[0] == ["attack 0 -> 0", "play 0", "attack 6 -> hero"]


def test_a_card_played_late_may_attack_what_was_passed_over() -> None:
    """A full board with Windfury, which dies in its second attack; the card played in its place kills the 5/3.

    Attacks 1/1 -> 0/2 twice would leave it; the best is 0 -> 1, 0 -> 2, play, 5/3 -> 0: S = 53.8.
    """
    board = "1/1W ready 2; 0/9; 0/9; 0/9; 0/9; 0/9; 0/9"
    text = f"turn 9 | hero 20 mana 2 board [{board}] hand [2:5/3R] | hero 22 board [0/4; 0/2; 5/3]"
    actions, best, _ = search(text)
    assert best == pytest.approx(53.8)
    assert actions == ["attack 0 -> 1", "attack 0 -> 2", "play 0", "attack 6 -> 0"]


def test_equal_plays() -> None:
    """4:1/2 with 4:1/4 and 3:1/1 with 5:1/5 both gain 8 - 0.8 = 7.2."""
    text = "turn 9 | hero 20 mana 8 hand [4:1/2; 4:1/4; 3:1/1; 5:1/5] | hero 20"
    actions, best, _ = search(text)
    assert len(actions) == 2
    assert best - score(text) == pytest.approx(7.2)


def test_what_lifesteal_heals_counts() -> None:
    """At 10 health the 3/2 heals 3 attacking the hero: 0.1 * 3 for the hero, 0.1 * 3 for the enemy's loss."""
    text = "turn 5 | hero {} mana 0 board [3/2L ready] | hero 20"
    assert search(text.format(10))[1] - score(text.format(10)) == pytest.approx(0.6)
    assert search(text.format(30))[1] - score(text.format(30)) == pytest.approx(0.3)


def test_among_equals_the_first() -> None:
    """Two like minions and two like enemies: the first attacks the first."""
    text = "turn 5 | hero 20 mana 0 board [2/3 ready; 2/3 ready] | hero 20 board [1/2; 1/2]"
    assert search(text)[0] == ["attack 0 -> 0", "attack 1 -> 0"]


def test_what_adds_nothing_is_not_done() -> None:
    """If only the enemy's attack counts, killing the 1/2 gains 1, and nothing else is attacked."""
    weights = np.zeros(8)
    weights[HearthSimWeights.names().index("enemy_attack")] = 1.0
    text = "turn 5 | hero 20 mana 0 board [2/3 ready; 1/3 ready; 1/3 ready] | hero 20 board [1/2; 0/9]"
    assert search(text, weights)[0] == ["attack 0 -> 0"]


def test_all_weights_zero_does_nothing() -> None:
    assert (
        search("turn 5 | hero 20 mana 9 board [2/3 ready] hand [1:1/1] | hero 20 board [1/2]", np.zeros(8))[0]
        == []
    )


@pytest.mark.parametrize(("weight", "used"), [(0.5, "1/1"), (1.0, "2/1"), (2.0, "3/2")])
def test_a_holy_smite_is_used_on_what_is_worth_more(weight: float, used: str) -> None:
    """The post "Direct damage spells": at 0.5 it is worth 1.9, at 1 2.9, and at 2 4.9; a minion a + h."""
    agent = HearthSimAgent(replace(STANDARD, direct_damage=weight, enemy_hero=0.0))
    bodies = ["1/1", "2/1", "2/2", "3/2"]
    for body in bodies:
        played = turn(agent, f"turn 5 | hero 20 mana 1/5 hand [Holy Smite*] | hero 20 board [{body}]")
        wanted = bodies.index(body) >= bodies.index(used)
        assert (played == ["play 0 -> 0"]) == wanted, (weight, body, played)


def test_a_drawn_card_is_seen_before_the_turn_goes_on() -> None:
    """Arcane Intellect first: it may bring something for the mana that is left."""
    text = (
        "turn 9 | hero 20 mana 8/8 hand [Arcane Intellect*] deck [Chillwind Yeti*; Fireball*] | hero 20 "
        "board [4/3]"
    )
    played = turn(HearthSimAgent(STANDARD), text)
    assert played[0] == "play 0"
    assert len(played) == 2


def test_chance_is_weighed_by_its_mean() -> None:
    """Arcane Missiles at two 1/1 and a hero of 20: three hits at random are worth more than 3 + 0.9 in hand."""
    text = "turn 3 | hero 20 mana 1/3 hand [Arcane Missiles*] | hero 20 board [{}]"
    agent = HearthSimAgent(STANDARD)
    assert turn(agent, text.format("2/1; 2/1; 2/1; 2/1")) == ["play 0"]
    assert turn(agent, text.format("0/30")) == []


def test_weapons_and_charge_in_hand_count() -> None:
    equip = "turn 3 | hero 20 mana 3/3 hand [Fiery War Axe*] | hero 20"
    assert turn(HearthSimAgent(STANDARD), equip)[0] == "play 0"
    without = replace(STANDARD, weapon=0.0, enemy_hero=0.0)
    assert turn(HearthSimAgent(without), equip) == []
    charge = "turn 3 | hero 20 mana 1/1 hand [Stonetusk Boar*] | hero 20"
    assert turn(HearthSimAgent(STANDARD), charge)[0] == "play 0"
    assert turn(HearthSimAgent(replace(STANDARD, charge=9.0)), charge) == []


def check_against_brute_force(positions: int, seed: int, most: tuple[int, int, int], limit: int) -> int:
    """Compare random positions; how many had few enough sequences to be compared."""
    pick = np.random.default_rng(seed)
    compared = lethal = 0
    for number in range(positions):
        friends, hand, enemies = (int(pick.integers(0, one + 1)) for one in most)
        chance = (0.0, 0.2, 0.4)[number % 3]
        position = random_position(
            pick, friends, hand, enemies, chance, hero=15, enemy_lifesteal=True, wounded=True
        )
        row = pick.random(8) * pick.choice([0.1, 1.0, 2.0], 8)
        row[pick.random(8) < 0.1] = 0.0
        row[7] *= pick.choice([-1, 1])
        numbers = pick.random(2) * pick.choice([0.0, 1.0], 2)
        weights = replace(
            HearthSimWeights.from_array(row), minions=float(numbers[0]), enemy_minions=float(numbers[1])
        )
        best = brute_force(position, weights, limit)
        if best is None:
            continue
        actions, value, found = search(position, weights)
        assert value == pytest.approx(best, abs=1e-9), f"{position} with {weights}"
        assert not found["unproven"]
        then = position.copy()
        for action in actions:
            then.play(next(one for one in then.legal_actions() if str(one) == action))
        assert plain_score(then, weights) == pytest.approx(best, abs=1e-9), str(position)
        compared += 1
        lethal += best == math.inf
    assert lethal > 0 or positions < 100
    return compared


def test_search_is_brute_force() -> None:
    """Every keyword, The Coin, up to 4 friends, 3 cards and 4 enemies: the score is the best there is.

    The turn found is legal and ends in that score.
    """
    compared = check_against_brute_force(POSITIONS, 7, (4, 3, 4), 60 if UNCOMPILED else 4_000)
    assert compared > POSITIONS / 3


@pytest.mark.heavy
@pytest.mark.nightly
def test_search_is_brute_force_on_many_positions() -> None:
    assert check_against_brute_force(3_000, 8, (4, 4, 4), 10_000) > 2_000
    # Full boards, where deaths free places.
    assert check_against_brute_force(300, 9, (7, 1, 3), 20_000) > 50
    assert check_against_brute_force(300, 10, (7, 3, 2), 20_000) > 50


@pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")
def test_search_is_brute_force_on_real_cards() -> None:
    compared = with_effect = 0
    pick = np.random.default_rng(5)
    for position in positions(cases(8, 40), 3):
        weights = HearthSimWeights.from_array([*pick.random(14)])
        best = brute_force(position, weights, 400)
        if best is None:
            continue
        _, value, found = search(position, weights)
        assert value == pytest.approx(best, abs=1e-6), f"{position} {weights.full_array.tolist()}"
        compared += 1
        with_effect += found["n"] > 0
    assert compared > cases(15, 100)
    assert with_effect > cases(12, 80)


def test_a_small_budget_plays_the_best_it_saw() -> None:
    """One position: what an attack leads to is valued as it is, and the turn is searched again after it."""
    text = "turn 5 | hero 20 mana 2 board [9/9 ready] hand [2:2/2] | hero 20 board [5/1]"
    actions, _, found = search(text, budget=1)
    assert (actions, found["states"], found["unproven"], found["again"]) == (["attack 0 -> 0"], 1, 1, 1)
    full, _, found = search(text)
    assert full == ["attack 0 -> 0", "play 0"]
    assert (found["states"], found["unproven"]) == (2, 0)


def test_the_agent_plays_what_the_search_finds_and_tells_its_use() -> None:
    text = "turn 5 | hero 20 mana 2 board [9/9 ready] hand [2:2/2] | hero 20 board [5/1]"
    position = parse_position(text)
    agent = HearthSimAgent(STANDARD)
    rng = np.random.default_rng(1)
    played = []
    while position.active == 0:
        action = agent.act(PlayerView(position, 0), rng)
        played.append(str(action))
        position.play(action)
    assert played == ["attack 0 -> 0", "play 0", "end turn"]
    assert agent.unproven == 0


@pytest.mark.skipif(UNCOMPILED, reason="too slow without the compiler")
@pytest.mark.parametrize("budget", [BUDGET, 4])
def test_agent_and_batch_play_the_same_games(budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a budget of 4 nodes many turns run out: both count the same."""
    from engine import find_deck, find_ruleset
    from engine.batches import begin_logs, deal_games, game_results
    from engine.decks import build_card_table, deck_records
    from engine.streams import stream_key
    from rivals import hearthsim

    monkeypatch.setattr(hearthsim, "BUDGET", budget)
    n = 20
    decks = find_deck("thesis-warrior"), find_deck("hearthsim-basic")
    table = build_card_table(decks)
    states, solved = np.zeros(n, STATE), np.zeros(n, TURNS)
    keys = np.array([stream_key(5, game) for game in range(n)], np.uint64)
    seats = np.tile([0, 1], (n, 1))
    deal_games(table.array, deck_records(decks, table), find_ruleset("hearthsim").array, seats, keys, states)
    streams = np.empty((n, 2), np.uint64)
    agent_keys(keys, streams)
    rows = np.tile(STANDARD.full_array, (2, 1))
    hearthsim.play_batch(table.array, rows, seats, states, streams, begin_logs(keys), solved)
    outcomes, turns = game_results(states)
    for game in range(n):
        agents = HearthSimAgent(STANDARD), HearthSimAgent(STANDARD)
        result = play(*agents, decks, 5, (game,), "hearthsim")
        assert not result.error
        assert (result.outcome, result.turns) == (outcomes[game], turns[game])
        assert agents[0].unproven + agents[1].unproven == solved[game]["unproven"]
    assert (solved["unproven"].sum() > 0) == (budget < BUDGET)


@njit
def ends(states, cards, rows, weights, works, values):  # type: ignore[no-untyped-def]
    """Score and objective of the player whose turn has just ended, of each position; shape (positions, 2)."""
    start = works[0]["start"]
    for number in range(len(states)):
        state, seat = states[number], 1 - states[number]["active"]
        own = state["sides"][seat]
        start["seat"], start["n"], start["full"] = seat, 0, 1
        start["drawn"] = draw_value(own, cards, rows[number % len(rows)], start["counts"])
        count_hidden_cards(own, cards, start)
        for place in range(0, own["n_hand"], 3):  # as if just drawn
            own["hand"][place] = UNKNOWN
        values[number, 0] = score_of(state, cards, rows[number % len(rows)], start)
        values[number, 1] = end_value(state, cards, weights[number % len(weights)], start)


@pytest.mark.skipif(UNCOMPILED, reason="too slow without the compiler")
@pytest.mark.parametrize("deck", [*LIVELY_DECKS, *heavy(*CLASS_DECKS)])
def test_the_turn_program_can_say_the_score(deck: str) -> None:
    """At the end of a turn both are the same number; 10,000 ends in all when everything is tried."""
    turns = reached((deck,), cases(150, 560), 47)
    pick = np.random.default_rng(48)
    drawn = [HearthSimWeights(*pick.random(11) * pick.choice([0.0, 0.3, 1.0], 11)) for _ in range(20)]
    rows = score_rows(np.array([one.full_array for one in [STANDARD, *drawn]]))
    weights = np.array([turn_weights(one).full_array for one in [STANDARD, *drawn]])
    values = np.zeros((len(turns.states), 2))
    ends(turns.states.copy(), turns.table.array, rows, weights, SEARCHER.memory.work, values)
    assert np.isfinite(values).all()
    np.testing.assert_allclose(values[:, 0], values[:, 1], rtol=1e-9, atol=1e-9)
    assert len(np.unique(values.round(6))) > len(values) / 2


def test_the_turn_program_cannot_say_charge_in_hand() -> None:
    with pytest.raises(WeightError, match=r"charge must be 0 for the turn program, got 0\.5"):
        turn_weights(replace(STANDARD, charge=0.5))
    with pytest.raises(WeightError, match="minions must be 0"):
        turn_weights(replace(STANDARD, minions=0.5))
