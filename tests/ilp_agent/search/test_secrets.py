"""The opponent's hidden Secrets: what is assumed of them, what the plans are worth, and that nothing hidden is read."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from engine import Action, ManaforgeError, PlayerView, Position, find_deck, find_ruleset, parse_position
from engine.batches import dealt_cards
from engine.cards.real import edition
from engine.cards.table import CardTable
from engine.codes import UNKNOWN
from engine.decks import Deck
from engine.effect_codes import CardFilter, CardKind
from engine.match import deal, play
from engine.streams import generator
from engine.view import OpponentInfo
from evo.play.entrants import equal_entrants, find_entrant, find_entrants
from evo.play.games import Roster, _play_compiled, _play_in_python
from ilp_agent import IlpAgent, SolverError, Weights, find_profile
from ilp_agent.search import IGNORE, MEAN, SECRETS, WORST
from ilp_agent.search.secrets import (
    BELIEF,
    HYPOTHESES,
    MAX_HYPOTHESES,
    list_hypotheses,
    list_kinds,
    search_facing_secrets,
    thread_secret_memory,
)
from ilp_agent.weights import WEIGHT_NAMES
from rivals import find_kind
from tests.conftest import BOUNDSCHECK, UNCOMPILED, cases
from tests.contracts.test_agents import random_schedule

compiled = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")

CARDS = {card.name: card for card in edition("2018-07").exact()}
SPELLS = [card for card in CARDS.values() if card.kind == CardKind.SPELL]
_ROWS = CardTable(SPELLS).array
SECRET_NAMES = {card.name for number, card in enumerate(SPELLS) if _ROWS[number]["tags"] & CardFilter.SECRET}


def weights_of(**given: float) -> Weights:
    return Weights(**{name: given.get(name, 0.0) for name in WEIGHT_NAMES})


def listed(position: Position, names: Sequence[str]) -> np.ndarray:
    """A deck list of these cards, as `dealt_cards` returns one."""
    numbers = {card.name: number for number, card in enumerate(position.table.cards)}
    cards = np.full(30, UNKNOWN, np.int16)
    cards[: len(names)] = [numbers[name] for name in names]
    return cards


def view_of(position: Position, names: Sequence[str]) -> PlayerView:
    return PlayerView(position, position.active, OpponentInfo.SECRETS, listed(position, names))


def first_action(text: str, kinds: Sequence[str], weights: Weights, rule: int) -> str:
    """What the agent does first; the text has the cards of all `kinds` somewhere."""
    position = parse_position(text)
    action = IlpAgent(weights, secrets=rule).act(view_of(position, kinds), generator(1))
    return position.describe(action)


# Positions


WISPS = "turn 9 | hero 30 board [Wisp* ready; Wisp* ready; Wisp* ready] | hero 30 secrets [{}] deck [Snipe*]"
GOLEM = "turn 9 | hero 30 board [War Golem* ready; Wisp* ready] | hero 30 secrets [Freezing Trap*]"
HAND = "turn 9 | hero 30 mana {}/9 hand [{}] | hero 30 secrets [{}]"
TRAPPED = weights_of(lethal=10, face=1, survive=2)

POSITIONS = {
    "Explosive Trap: three Wisps stay": (
        WISPS.format("Explosive Trap*"),
        ["Explosive Trap"],
        TRAPPED,
        ("attack 0 -> hero", "end turn", "end turn"),
    ),
    "Explosive Trap is one of three cards: worth the risk on average": (
        WISPS.format("Explosive Trap*"),
        ["Explosive Trap", "Snipe", "Snipe"],
        replace(TRAPPED, survive=0.9),
        ("attack 0 -> hero", "attack 0 -> hero", "end turn"),
    ),
    "Freezing Trap: the Wisp goes first": (
        GOLEM,
        ["Freezing Trap"],
        weights_of(lethal=10, face=1, survive=1),
        ("attack 0 -> hero (War Golem)", "attack 1 -> hero (Wisp)", "attack 1 -> hero (Wisp)"),
    ),
    "Mirror Entity: the Wisp goes first": (
        HAND.format(7, "War Golem*; Wisp*", "Mirror Entity*"),
        ["Mirror Entity"],
        weights_of(lethal=10, threat=1, survive=1, play=1),
        ("play 0 (War Golem)", "play 1 (Wisp)", "play 1 (Wisp)"),
    ),
    "Counterspell: Frostbolt goes first": (
        HAND.format(6, "Fireball*; Frostbolt*", "Counterspell*"),
        ["Counterspell"],
        weights_of(lethal=10, face=1, play=0.1),
        ("play 0 -> hero (Fireball)", "play 1 -> hero (Frostbolt)", "play 1 -> hero (Frostbolt)"),
    ),
}


@pytest.mark.parametrize("name", POSITIONS)
def test_plans_reckon_with_what_may_be_in_play(name: str) -> None:
    text, kinds, weights, expected = POSITIONS[name]
    found = [first_action(text, kinds, weights, rule) for rule in (IGNORE, MEAN, WORST)]
    assert all(action.startswith(one) for action, one in zip(found, expected, strict=True)), found


def test_a_secret_that_did_not_trigger_is_excluded() -> None:
    """After an attack on the hero no Explosive Trap is left to fear, in this turn and later ones."""
    position = parse_position(WISPS.format("Snipe*").replace("deck [Snipe*]", "deck [Explosive Trap*]"))
    agent = IlpAgent(replace(TRAPPED, survive=0.9), secrets=MEAN)
    kinds = ["Explosive Trap", "Snipe", "Snipe"]
    actions = []
    for _ in range(4):
        actions.append(agent.act(view_of(position, kinds), generator(1)))
        position.play(actions[-1])
    assert list(map(str, actions)) == [f"attack {place} -> hero" for place in range(3)] + ["end turn"]
    memory = thread_secret_memory().hypotheses[0]
    assert memory["n_kinds"] == 2
    assert agent._beliefs["excluded"][0, 0].bit_count() == 1
    cautious = IlpAgent(TRAPPED, secrets=WORST)
    cautious._beliefs[:] = agent._beliefs
    position = parse_position(WISPS.format("Snipe*").replace("deck [Snipe*]", "deck [Explosive Trap*]"))
    assert str(cautious.act(view_of(position, kinds), generator(1))) == "attack 0 -> hero"
    cautious.new_game(0, generator(1))
    assert str(cautious.act(view_of(position, kinds), generator(1))) == "end turn"


# Hypotheses


def hypotheses_of(text: str, kinds: Sequence[str], excluded: Sequence[int] = ()) -> list[tuple[object, ...]]:
    """Assumed names and probability of each hypothesis."""
    view = view_of(parse_position(text), kinds)
    position, found, belief = view.position, np.zeros(1, HYPOTHESES), np.zeros(1, BELIEF)
    belief["excluded"][0, : len(excluded)] = excluded
    shown = view.shown.copy()
    enemy = position.state["sides"][1 - position.active]
    list_kinds(position.table.array, shown, len(shown), np.zeros(60, np.uint64), found[0])
    list_hypotheses(enemy, position.table.array, belief[0], found[0])
    n, n_secrets = int(found["n"][0]), int(enemy["n_secrets"])
    names = dict(enumerate(card.name for card in position.table.cards))
    return [
        (*(names.get(card, "?") for card in found["assumed"][0, number, :n_secrets].tolist()), probability)
        for number, probability in enumerate(found["probability"][0, :n].tolist())
    ]


def test_hypotheses_are_the_secrets_of_the_deck_list_by_their_copies() -> None:
    found = hypotheses_of(WISPS.format("Explosive Trap*"), ["Explosive Trap", "Snipe", "Snipe"])
    assert sorted(found) == [("Explosive Trap", pytest.approx(1 / 3)), ("Snipe", pytest.approx(2 / 3))]
    assert hypotheses_of(WISPS.format("Explosive Trap*"), []) == []
    kinds = {name: [one[0] for one in found].index(name) for name in ("Explosive Trap", "Snipe")}
    rest = hypotheses_of(
        WISPS.format("Snipe*").replace("deck [Snipe*]", "deck [Explosive Trap*]"),
        ["Snipe", "Explosive Trap", "Snipe"],
        [1 << kinds["Snipe"]],
    )
    assert rest == [("Explosive Trap", 1.0)]


def test_secrets_in_play_differ_and_a_foreign_one_stays_hidden() -> None:
    two = WISPS.format("Explosive Trap* born 4; Snipe* born 5")
    found = hypotheses_of(two, ["Explosive Trap", "Snipe"])
    assert sorted(one[:2] for one in found) == [("Explosive Trap", "Snipe"), ("Snipe", "Explosive Trap")]
    foreign = WISPS.format("? mage born 4; Snipe* born 5")
    (one,) = hypotheses_of(foreign, ["Snipe"])
    assert one == ("?", "Snipe", 1.0)
    assert hypotheses_of(two, ["Snipe"]) == [], "two Secrets cannot both be the only one of the deck"


def test_of_many_hypotheses_evenly_spaced_ones_are_taken() -> None:
    kinds = ["Explosive Trap", "Freezing Trap", "Snipe", "Snake Trap", "Cat Trick"]
    cards = "; ".join(f"{name}*" for name in kinds)
    text = f"turn 9 | hero 30 | hero 30 secrets [Snipe* born 1; Cat Trick* born 2; Snake Trap* born 3] deck [{cards}]"
    found = hypotheses_of(text, kinds)
    assert len(found) == MAX_HYPOTHESES
    assert len({one[:3] for one in found}) == MAX_HYPOTHESES
    assert all(len(set(one[:3])) == 3 for one in found)
    assert {name for one in found for name in one[:3]} == set(kinds)
    assert sum(one[3] for one in found) == pytest.approx(1)


# Games


def deck_with_secrets(hero_class: str, *names: str) -> Deck:
    """A deck with two each of four exact Secrets of a class, filled up with these cards."""
    secrets = [card for card in CARDS.values() if card.class_name == hero_class and card.name in SECRET_NAMES]
    cards = [card for card in (*secrets[:4], *map(CARDS.__getitem__, names)) for _ in range(2)]
    base = find_deck({"hunter": "secret-hunter", "mage": "reno-mage", "paladin": "basic-paladin"}[hero_class])
    return replace(base, name=f"secrets-{hero_class}", cards=tuple(cards), text="")


BODIES = (
    *("Mad Scientist", "Secretkeeper", "Chillwind Yeti", "Knife Juggler"),
    *("Loot Hoarder", "Bloodfen Raptor", "River Crocolisk", "Boulderfist Ogre"),
)
DECKS = (
    deck_with_secrets("hunter", *BODIES, "Cloaked Huntress", "Eaglehorn Bow", "Animal Companion"),
    deck_with_secrets("mage", *BODIES, "Kirin Tor Mage", "Fireball", "Mana Wyrm"),
    deck_with_secrets("paladin", *BODIES, "Consecration", "Truesilver Champion", "Blessing of Kings"),
)
ENTRANTS = ("ilp:true-balanced@secrets=mean", "ilp:value-trading@secrets=worst", "ilp:keep-alive")


def positions_facing_secrets(games: int) -> Iterator[tuple[Position, np.ndarray]]:
    """Positions of games in which the opponent has Secrets, with the opponent's deck list."""
    for seed in range(games):
        decks = DECKS[seed % 3], DECKS[(seed // 3 + 1) % 3]
        dealt = dealt_cards(deal(decks, seed).states)[0]
        found: list[Position] = []

        def keep(position: Position, _: Action, found: list[Position] = found) -> None:
            if position.state["sides"][1 - position.active]["n_secrets"]:
                found.append(position)

        agents = [IlpAgent(find_profile(name)) for name in ("true-balanced", "value-trading")]
        play(agents[0], agents[1], decks, seed, watch=keep)
        for position in found[:: cases(7, 3)]:
            yield position, dealt[1 - position.active]


def with_other_secrets(position: Position) -> Iterator[Position]:
    """The same position with each other identity of the opponent's oldest Secret, of the same class."""
    table = position.table.array
    enemy = position.state["sides"][1 - position.active]
    own = int(enemy["secrets"][0])
    for number in range(len(table)):
        same_class = table[number]["hero_class"] == table[own]["hero_class"]
        if table[number]["tags"] & CardFilter.SECRET and same_class and number != own:
            other = position.copy()
            other.state["sides"][1 - position.active]["secrets"][0] = number
            yield other


@compiled
def test_the_identity_of_a_secret_changes_nothing() -> None:
    """Neither what the agent does with its view, nor what the kernel finds in the true position."""
    weights, changed = find_profile("true-balanced").weights, 0
    for position, dealt in positions_facing_secrets(cases(4, 30)):
        plans, rule = [], (MEAN, WORST)[changed % 2]
        for one in (position, *with_other_secrets(position)):
            view = PlayerView(one, one.active, OpponentInfo.SECRETS, dealt)
            action = IlpAgent(weights, secrets=rule).act(view, generator(1))
            solved = search_facing_secrets(one, weights.full_array, rule, view.shown, np.zeros(1, BELIEF))
            plans.append((str(action), float(solved["value"]), solved["actions"][: solved["n"]].tolist()))
        assert all(plan == plans[0] for plan in plans[1:]), position
        changed += len(plans) > 1
    assert changed > 10


@compiled
def test_the_best_plan_of_a_hypothesis_is_worth_what_its_search_says() -> None:
    """What `value_of_plan` adds up is the value of the turn, if the Secret were known."""
    weights, compared = find_profile("true-balanced").weights.full_array, 0
    for position, dealt in positions_facing_secrets(cases(6, 30)):
        view = PlayerView(position, position.active, OpponentInfo.SECRETS, dealt)
        solved = search_facing_secrets(view.position, weights, WORST, view.shown, np.zeros(1, BELIEF))
        memory = thread_secret_memory()
        n = int(memory.hypotheses[0]["n"])
        if n == 0 or solved["unproven"]:
            continue
        # Each plan was cut where another hypothesis gives information; the best continuation follows it.
        for number in range(n):
            best = max(memory.values[place, number] for place in range(n + 1))
            own = memory.values[number + 1, number]
            assert own == pytest.approx(best, abs=1e-9)
            compared += 1
    assert compared > 30


@compiled
def test_the_true_secret_is_never_excluded() -> None:
    checked, excluded = 0, 0
    agent, memory = IlpAgent(find_profile("true-balanced"), secrets=MEAN), thread_secret_memory()

    def check(position: Position, _: Action) -> None:
        nonlocal checked, excluded
        enemy, found = position.state["sides"][1 - position.active], memory.hypotheses[0]
        if position.active != 0 or not enemy["n_secrets"]:
            return
        kinds = found["kinds"][: found["n_kinds"]].tolist()
        for place in range(enemy["n_secrets"]):
            bits = int(agent._beliefs["excluded"][0, place])
            assert enemy["secrets"][place] in kinds
            assert not bits >> kinds.index(enemy["secrets"][place]) & 1, position
            checked, excluded = checked + 1, excluded + bits.bit_count()

    for seed in range(cases(6, 60)):
        opponent = IlpAgent(find_profile("value-trading"))
        play(agent, opponent, (DECKS[seed % 3], DECKS[(seed // 3 + 1) % 3]), seed, watch=check)
    assert checked > 40
    assert excluded > 10


@compiled
def test_games_are_the_same_compiled_and_in_python() -> None:
    players = tuple(find_entrant(text).player for text in ENTRANTS)
    roster = Roster(players, DECKS, find_ruleset("standard"))
    schedule = random_schedule(cases(3, 100), len(players), len(DECKS), 5)
    assert (_play_compiled(roster, schedule) == _play_in_python(roster, schedule)).all()


@compiled
def test_without_the_option_nothing_changes() -> None:
    """`ignore` is the agent without the option, and decks without Secrets are played alike with it."""
    plain, ignoring = (find_entrant(f"ilp:keep-alive{suffix}").player for suffix in ("", "@secrets=ignore"))
    assert plain == ignoring
    assert len(plain.row) == len(find_entrant("greedy-ilp:keep-alive").player.row)
    assert find_kind("ilp").definition("auto", plain.options) == find_kind("ilp").definition("auto")
    mean = find_entrant("ilp:keep-alive@secrets=mean").player
    decks = tuple(map(find_deck, ("basic-warrior", "murloc-druid", "thesis-paladin", "zoo-warlock")))
    found = []
    for players in ((plain, plain), (mean, plain), (mean, mean)):
        roster = Roster(players, decks, find_ruleset("standard"))
        found.append(_play_compiled(roster, random_schedule(cases(8, 40), 2, len(decks), 6)))
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()


# Texts


def test_entrants_name_backend_and_option() -> None:
    for text in ("ilp:keep-alive@secrets=mean", "ilp:keep-alive@search,secrets=worst"):
        player = find_entrant(text).player
        assert player.options == (SECRETS[text.rpartition("=")[2]],)
        assert player.backend == ("search" if "search" in text else "auto")
        assert player.compiled
        assert len(player.row) == len(find_entrant("ilp:keep-alive").player.row) + 1
        agent = player.agent()
        assert isinstance(agent, IlpAgent)
        assert (agent.secrets, agent.shown) == (player.options[0], OpponentInfo.SECRETS)
    assert find_entrant("ilp:keep-alive@highs,secrets=ignore").player.backend == "highs"
    assert find_entrants(["ilp:keep*@secrets=mean"])[0][0].text == "ilp:keep-alive@secrets=mean"
    both = [find_entrant(f"ilp:keep-alive@secrets={name}") for name in ("mean", "worst")]
    assert equal_entrants(both) == []
    kind = find_kind("ilp")
    assert kind.definition("auto", (MEAN,)) == kind.definition() | {"secrets": "mean"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ilp:keep-alive@mean", "unknown backend 'mean'"),
        ("ilp:keep-alive@secrets=best", "unknown value of secrets 'best'"),
        ("ilp:keep-alive@search,mean", "options need their names, such as secrets=VALUE, got 'mean'"),
        ("ilp:keep-alive@secret=mean", "unknown option 'secret'"),
        ("greedy-ilp:keep-alive@secrets=mean", "unknown entrant|unknown profile"),
    ],
)
def test_wrong_texts_are_refused(text: str, says: str) -> None:
    with pytest.raises(ManaforgeError, match=says):
        find_entrant(text)


def test_a_solver_of_integer_programs_knows_no_secrets() -> None:
    with pytest.raises(
        SolverError, match="does not support the option secrets; use backend auto, exact or search"
    ):
        IlpAgent(find_profile("keep-alive"), "highs", secrets=MEAN)
