"""Class A by name: what each word of it does, what is refused and how, and how its program reads."""

import pytest

from engine import find_deck, parse_position
from engine.codes import Keyword
from engine.errors import ManaforgeError
from ilp_agent import WEIGHT_NAMES, CardTurn, SolverError, Weights, explain_cards, program_of, solve
from ilp_agent.milp import card_reading
from rivals import refuse_decks
from tests.backends import backends
from tests.conftest import BOUNDSCHECK, UNCOMPILED

pytestmark = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")

TURN = "turn 6 first effects 2 | hero 30 "


def only(**weights: float) -> Weights:
    return Weights(**(dict.fromkeys(WEIGHT_NAMES, 0.0) | weights))


def turn_of(text: str) -> CardTurn:
    return CardTurn(parse_position(text if text.startswith("turn") else TURN + text))


PLANS = {
    "a bolt kills the guard, then the attack": (
        "mana 4/6 board [Bloodfen Raptor* ready] hand [Fireball*] | hero 20 board [Sen'jin Shieldmasta*]",
        {"face": 1, "threat": 5, "damage": 0.1},
        ["play 0 -> 0", "attack 0 -> hero"],
        3.6,
    ),
    "a power finishes what an attack would leave": (
        "mana 2/6 power [Fireblast*] board [River Crocolisk* ready] | hero 20 board [Bloodfen Raptor* now 3/3 max 3]",
        {"threat": 1, "survive": 0.1},
        None,
        0.0,
    ),
    "a weapon opens the way": (
        "mana 3/6 attacks 1 hand [Fiery War Axe*] board [Boulderfist Ogre* ready] | hero 20 board [Ironfur Grizzly*]",
        {"threat": 1, "face": 1},
        ["play 0", "attack hero -> 0", "attack 0 -> hero"],
        6.0,
    ),
    "a power pops a shield": (
        "mana 2/6 power [Fireblast*] board [Bloodfen Raptor* ready] | hero 20 board [Scarlet Crusader* now 3/3D max 3]",
        {"threat": 1},
        ["power -> 0", "attack 0 -> 0"],
        0.0,
    ),
    "The Coin pays for a bolt": (
        "mana 3/6 hand [Fireball*; The Coin] | hero 20 board [Chillwind Yeti*]",
        {"threat": 1},
        ["play 1", "play 0 -> 0"],
        0.0,
    ),
    "at ten mana The Coin waits": (
        "mana 10/10 power [Fireblast*] hand [Boulderfist Ogre*; Arcane Shot*; Arcane Shot*; The Coin; Arcane Shot*] | hero 20",
        {"face": 1, "play": 1},
        None,
        6 + 3 * 3 + 1,
    ),
    "two Innervates pay for a bolt": (
        "mana 2/6 hand [Fireball*; Innervate*; Innervate*] | hero 20 board [Chillwind Yeti*]",
        {"threat": 1},
        ["play 1", "play 1", "play 0 -> 0"],
        0.0,
    ),
    "nothing follows a bolt that ends the game": (
        "mana 4/6 hand [Fireball*] board [Bloodfen Raptor* ready] | hero 6 board [Chillwind Yeti*]",
        {"lethal": 50, "damage": 1},
        ["attack 0 -> 0", "play 0 -> hero"],
        53.0,
    ),
    "the last blow is the hero's, after what strengthens it": (
        "mana 2/6 attacks 1 hand [Heroic Strike*] weapon [Fiery War Axe*] | hero 7",
        {"lethal": 1},
        ["play 0", "attack hero -> hero"],
        1.0,
    ),
    "the old weapon swings before the new one comes": (
        "mana 5/6 attacks 1 hand [Arcanite Reaper*] weapon [Fiery War Axe* now 3/1] | hero 20",
        {"weapon": 1, "face": 1},
        ["attack hero -> hero", "play 0"],
        13.0,
    ),
    "an attack wears the weapon": (
        "attacks 1 weapon [Fiery War Axe*] | hero 20",
        {"weapon": 1, "face": 0.5},
        [],
        6.0,
    ),
    "an enemy that must be whole is hit first": (
        "mana 2/6 power [Fireblast*] hand [Backstab*] | hero 20 board [Bloodfen Raptor* now 3/3 max 3]",
        {"threat": 1},
        ["play 0 -> 0", "power -> 0"],
        0.0,
    ),
    "an enemy that must be hurt is hit before": (
        "mana 4/6 power [Fireblast*] hand [Execute*] | hero 20 board [Chillwind Yeti*]",
        {"threat": 1},
        ["power -> 0", "play 0 -> 0"],
        0.0,
    ),
    "Assassinate opens the way": (
        "mana 5/6 hand [Assassinate*] board [Bloodfen Raptor* ready] | hero 20 board [Sen'jin Shieldmasta*]",
        {"face": 1},
        ["play 0 -> 0", "attack 0 -> hero"],
        3.0,
    ),
    "Sap opens the way": (
        "mana 2/6 hand [Sap*] board [Bloodfen Raptor* ready] | hero 20 board [Sen'jin Shieldmasta*]",
        {"face": 1},
        ["play 0 -> 0", "attack 0 -> hero"],
        3.0,
    ),
    "a Battlecry chooses whom spells cannot": (
        "mana 6/6 hand [Stormpike Commando*; Arcane Shot*] | hero 20 board [Faerie Dragon*]",
        {"threat": 1, "face": 0.1},
        ["play 0 -> 0", "play 0 -> hero"],
        0.2,
    ),
    "a Battlecry strengthens an attacker first": (
        "mana 3/6 hand [Shattered Sun Cleric*] board [Bloodfen Raptor* ready] | hero 20 board [Chillwind Yeti* now 4/4 max 5]",
        {"threat": 1},
        ["play 0 -> own 0", "attack 0 -> 0"],
        0.0,
    ),
    "what strengthens an attacker saves it too": (
        "mana 3/6 hand [Shattered Sun Cleric*] board [Bloodfen Raptor* ready] | hero 20 board [Murloc Raider*]",
        {"threat": 2, "survive": 1, "body": 1},
        ["play 0 -> own 0", "attack 0 -> 0"],
        2 + 2 + 2 - 2,
    ),
    "an own minion pays for a card's value": (
        "mana 2/6 hand [Shadow Word: Pain*] board [Goldshire Footman*] | hero 20",
        {"play": 10, "survive": 1},
        ["play 0 -> own 0"],
        20.0,
    ),
    "all enemies freeze": (
        "mana 3/6 hand [Frost Nova*] | hero 20 board [Chillwind Yeti*; Bloodfen Raptor*]",
        {"frozen": 1},
        ["play 0"],
        7.0,
    ),
    "a bolt freezes whom it does not kill": (
        "mana 2/6 hand [Frostbolt*] | hero 20 board [Chillwind Yeti*; Boulderfist Ogre*]",
        {"frozen": 1},
        ["play 0 -> 1"],
        6.0,
    ),
    "armour first, so that the hero lives": (
        "turn 6 first effects 2 | hero 2 mana 2/6 attacks 1 power [Armor Up!*] weapon [Fiery War Axe*] | "
        "hero 20 board [Bloodfen Raptor*]",
        {"threat": 1},
        ["power", "attack hero -> 0"],
        0.0,
    ),
    "what gives attack and armour comes before the answer": (
        "turn 6 first effects 2 | hero 1 mana 8/8 attacks 1 hand [Claw*; Claw*; Fiery War Axe*] weapon [Wicked Knife*] "
        "| hero 16 board [Bloodfen Raptor*; Goldshire Footman*]",
        {"wound": 1, "hero": 0.1, "play": 1},
        None,
        2 + 0.3 + 1 + 1 + 3,
    ),
    "the hero does not die of the answer": (
        "turn 6 first effects 2 | hero 3 attacks 1 weapon [Fiery War Axe*] | hero 20 board [Bloodfen Raptor*]",
        {"threat": 1},
        [],
        -3.0,
    ),
    "a heal gives back what was lost": (
        "turn 6 first effects 2 | hero 26 mana 2/6 hand [Holy Light*] | hero 20",
        {"hero": 1},
        ["play 0 -> own hero"],
        4.0,
    ),
    "tokens survive": ("mana 2/6 power [Reinforce*] | hero 20", {"survive": 1}, ["power"], 1.0),
    "overload is owed": ("mana 1/6 hand [Lightning Bolt*] | hero 20", {"face": 1, "overload": 1}, ["play 0 -> hero"], 2.0),
    "a spell is held": ("mana 4/6 hand [Fireball*] | hero 20", {"face": 1, "hold": 1}, [], 0.0),
    "a bolt at the own hero leaves the last blow to another": (
        "mana 8/8 hand [Fireball*; Fireball*] | hero 6",
        {"lethal": 1, "play": 1},
        ["play 0 -> own hero", "play 0 -> hero"],
        9.0,
    ),
    "a blow of Windfury and a bolt on one target": (
        "mana 1/6 hand [Arcane Shot*] board [Thrallmar Farseer* ready 2] | hero 20 board [Chillwind Yeti* now 0/6 max 6]",
        {"clear": 1},
        None,
        1.0,
    ),
    "what a guard becomes does not guard": (
        "mana 4/6 hand [Polymorph*] board [Bloodfen Raptor* ready] | hero 20 board [Sen'jin Shieldmasta*]",
        {"face": 1},
        ["play 0 -> 0", "attack 0 -> hero"],
        3.0,
    ),
    "the frog guards in the guard's place": (
        "mana 5/6 hand [Hex*; Arcane Shot*] board [Bloodfen Raptor* ready] | hero 20 board [Sen'jin Shieldmasta*]",
        {"face": 1, "damage": 0.1},
        ["play 0 -> 0", "play 0 -> 0", "attack 0 -> hero"],
        3.2,
    ),
    "attacks come before a new guard": (
        "mana 4/6 hand [Hex*] board [Bloodfen Raptor* ready] | hero 20 board [Chillwind Yeti*]",
        {"face": 1, "threat": 1},
        ["attack 0 -> hero", "play 0 -> 0"],
        3.0,
    ),
    "no new guard stands before the last blow": (
        "mana 4/6 hand [Hex*] board [Bloodfen Raptor* ready] | hero 3 board [Chillwind Yeti*]",
        {"lethal": 10, "threat": 1},
        ["attack 0 -> hero"],
        6.0,
    ),
    "an own minion pays for the value of a transformation": (
        "mana 4/6 hand [Polymorph*] board [Goldshire Footman*] | hero 20",
        {"play": 1, "survive": 1},
        ["play 0 -> own 0"],
        4 + 1,
    ),
    "who strikes the last blow is not removed after it": (
        "mana 4/6 hand [Polymorph*] board [Bloodfen Raptor* ready; Chillwind Yeti*] | hero 3",
        {"lethal": 1, "play": 1, "survive": 0.1},
        ["play 0 -> own 1", "attack 0 -> hero"],
        1 + 4 + 0.3,
    ),
    "what comes out of the dead is hit too": (
        "mana 1/6 hand [Arcane Shot*] board [Bloodfen Raptor* ready] | hero 20 board [Harvest Golem*]",
        {"threat": 1},
        ["attack 0 -> 0", "play 0 -> 0"],
        0.0,
    ),
    "who goes back to hand leaves nothing": (
        "mana 2/6 hand [Sap*] | hero 20 board [Harvest Golem*]",
        {"threat": 1, "clear": 1},
        ["play 0 -> 0"],
        1.0,
    ),
    "a Deathrattle is the last blow": (
        "board [Leper Gnome* ready; Bloodfen Raptor* ready] | hero 2 board [Sen'jin Shieldmasta*]",
        {"lethal": 10, "damage": 1},
        ["attack 1 -> 0", "attack 0 -> 0"],
        14.0,
    ),
    "an enemy's Deathrattle hurts": (
        "mana 1/6 hand [Arcane Shot*] | hero 20 board [Leper Gnome*]",
        {"hero": 1, "threat": 0.5},
        [],
        -0.5,
    ),
    "own minions leave others behind": (
        "board [Harvest Golem* ready] | hero 20 board [Murloc Raider* now 5/1]",
        {"survive": 1, "threat": 1},
        ["attack 0 -> 0"],
        1.0,
    ),
    "a guard that is silenced is passed by": (
        "mana 0/6 hand [Silence*] board [Bloodfen Raptor* ready] | hero 20 board [Sen'jin Shieldmasta*]",
        {"face": 1},
        ["play 0 -> 0", "attack 0 -> hero"],
        3.0,
    ),
    "silence from whom it takes nothing": (
        "mana 3/6 hand [Ironbeak Owl*] board [Goldshire Footman*] | hero 20",
        {"survive": 1, "play": 1},
        ["play 0 -> own 0"],
        2 + 1 + 3,
    ),
    "a minion is strengthened for this turn": (
        "mana 1/6 hand [Abusive Sergeant*] board [Bloodfen Raptor* ready; Wisp*] | hero 20 board [Chillwind Yeti*]",
        {"threat": 1, "body": 0.1},
        ["play 0 -> own 0", "attack 0 -> 0"],
        -0.5,
    ),
}  # fmt: skip


@pytest.mark.parametrize("backend", backends(outside=True))
@pytest.mark.parametrize("name", PLANS)
def test_plans(name: str, backend: str) -> None:
    text, weights, actions, value = PLANS[name]
    turn = turn_of(text)
    plan = solve(turn, only(**weights), backend)
    assert plan.objective == pytest.approx(value)
    assert solve(turn, only(**weights), "search").objective == pytest.approx(value)
    if actions is not None:
        assert [str(action) for action in plan.actions] == actions


@pytest.mark.parametrize("backend", backends(outside=True))
def test_a_plan_ends_where_it_draws(backend: str) -> None:
    text = "mana 4/6 hand [Shield Block*; Stonetusk Boar*] deck [Bloodfen Raptor*] | hero 20"
    plan = solve(turn_of(text), only(hero=1, draw=1, face=1), backend)
    assert [str(action) for action in plan.actions] == ["play 0"]
    assert plan.again
    assert plan.objective == 5 + 1 + 1, "the rest of the turn counts, though the card drawn comes first"


REFUSED = [
    ("mana 1/6 hand [Arcane Missiles*] | hero 20", {}, "Arcane Missiles (random targets)"),
    ("mana 2/6 power [Totemic Call*] | hero 20", {}, "Totemic Call (random minions)"),
    ("mana 7/7 hand [Flamestrike*] | hero 20", {}, "Flamestrike (damage to several targets)"),
    ("mana 5/6 hand [Bloodlust*] | hero 20", {}, "Bloodlust (buff of several targets)"),
    ("mana 3/6 hand [Tinkmaster Overspark*] | hero 20", {}, "Tinkmaster Overspark (random targets)"),
    (
        "mana 8/8 hand [Polymorph*; Polymorph*] | hero 20 board [Chillwind Yeti*]",
        {},
        "Sheep (two cards that transform a minion)",
    ),
    (
        "board [Thrallmar Farseer* ready 2] | hero 20 board [Harvest Golem*]",
        {},
        "Damaged Golem (it may be summoned on a turn with a minion that attacks twice)",
    ),
    (
        f"mana 4/6 hand [Polymorph*] | hero 20 board [{'; '.join(['Wisp*'] * 7)}]",
        {},
        "the enemy board (more than 7 minions, summoned ones included)",
    ),
    (
        "mana 4/6 hand [Hex*] | hero 20 board [Sludge Belcher*]",
        {},
        "Slime (several Taunt minions that may be summoned)",
    ),
    (
        "mana 3/6 hand [Frost Nova*] | hero 20 board [Harvest Golem*]",
        {},
        "Damaged Golem (it may be summoned on a turn with a card that freezes all enemies)",
    ),
    (
        "turn 6 first effects 2 | hero 2 mana 1/6 hand [Arcane Shot*] | hero 20 board [Leper Gnome*]",
        {},
        "Leper Gnome (a Deathrattle that may kill the own hero)",
    ),
    (
        "mana 3/6 hand [Shadow Bolt*] board [Loot Hoarder*] deck [Wisp*] | hero 20",
        {"lethal": 1},
        "Loot Hoarder (a Deathrattle together with a card that may kill its minion)",
    ),
    ("mana 0/6 | hero 20 board [Loot Hoarder*]", {}, "Loot Hoarder (fatigue of the opponent)"),
    ("mana 0/6 board [Loot Hoarder*] | hero 20", {}, "Deathrattle (fatigue)"),
    (
        f"mana 0/6 board [Loot Hoarder* ready] hand [{'; '.join(['Fireball*'] * 10)}] deck [Wisp*] | "
        "hero 20 board [Chillwind Yeti*]",
        {"draw": 1},
        "Deathrattle (drawn cards may burn)",
    ),
    ("mana 0/6 hand [Silence*] board [Wisp*] | hero 20 board [Argent Squire*]", {}, "Silence (silence of Argent Squire)"),
    ("mana 0/6 hand [Silence*] board [Argent Squire*] | hero 20", {}, "Silence (silence of an own minion)"),
    (
        "mana 0/6 hand [Silence*] board [Wisp*] | hero 20 board [Harvest Golem*]",
        {},
        "Silence (silence together with summoned enemies or a card that targets Taunt)",
    ),
    ("mana 1/6 hand [Soulfire*] | hero 20", {}, "Soulfire (discarded cards)"),
    ("mana 10/10 hand [Mind Control*] | hero 20", {}, "Mind Control (control of a minion)"),
    ("mana 1/6 hand [Deadly Poison*] | hero 20", {}, "Deadly Poison (a change to the weapon)"),
    ("mana 1/6 hand [Hunter's Mark*] | hero 20", {}, "Hunter's Mark (attack or health set to a value)"),
    ("mana 4/6 hand [Fireball*] board [Kobold Geomancer*] | hero 20", {}, "Fireball (together with Spell Damage)"),
    ("mana 0/6 | hero 20 board [Abomination*]", {}, "Abomination (Deathrattle)"),
    ("mana 6/6 attacks 1 weapon [Doomhammer*] | hero 20", {}, "Doomhammer (a weapon with card text)"),
    ("mana 6/6 board [Young Priestess*] | hero 20", {}, "Young Priestess (an end-of-turn effect)"),
    ("mana 6/6 | hero 20 board [Wickerflame Burnbristle*]", {}, "Wickerflame Burnbristle (Lifesteal)"),
    (
        "mana 8/8 hand [Fireball*; Fireball*] | hero 6",
        {"play": 1, "hero": 1},
        "Fireball (its best target may be an own character)",
    ),
    (
        "mana 3/6 hand [Shadow Bolt*] board [Chillwind Yeti*] | hero 20",
        {"play": 1},
        "Shadow Bolt (its best target may be an own character)",
    ),
    (
        "mana 4/6 hand [Blessing of Kings*] board [Bloodfen Raptor* ready; Bloodfen Raptor* ready] | "
        "hero 20 board [Chillwind Yeti*]",
        {"damage": 1},
        "Blessing of Kings (its best target may be an enemy)",
    ),
    (
        "mana 2/6 hand [Holy Light*] board [Bloodfen Raptor* now 3/1 ready] | hero 20 board [Chillwind Yeti*]",
        {},
        "Holy Light (it may save Bloodfen Raptor)",
    ),
    ("mana 2/6 hand [Holy Light*] | hero 20", {"body": 1}, "Holy Light (healing of minions while weight 'body' is set)"),
    ("mana 3/6 hand [Arcane Intellect*] | hero 20", {}, "Arcane Intellect (fatigue)"),
    ("mana 10/10 hand [Wild Growth*] | hero 20", {}, "Wild Growth (more than 10 mana crystals)"),
    (
        "mana 6/6 hand [Assassinate*] board [Thrallmar Farseer* ready 2] | hero 20 board [Chillwind Yeti*]",
        {},
        "Assassinate (together with a minion that attacks twice)",
    ),
    (
        f"mana 6/6 hand [Murloc Raider*] board [{'; '.join(['Wisp*'] * 7)}] | hero 20",
        {},
        "the own board (summoned minions may not all fit)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "weights", "message"), REFUSED, ids=[message for *_, message in REFUSED])
def test_what_is_outside_is_refused_by_name(text: str, weights: dict, message: str) -> None:
    with pytest.raises(SolverError) as caught:
        solve(turn_of(text), only(**(weights or {"lethal": 1, "play": 1})), "highs")
    assert (
        str(caught.value) == f"backend 'highs' does not support {message} in its program; use backend 'auto'"
    )


def test_what_cannot_be_paid_for_does_not_matter() -> None:
    text = "mana 2/6 hand [Flamestrike*; Arcane Shot*] | hero 20"
    assert solve(turn_of(text), only(face=1), "highs").objective == 2


def test_games_on_real_cards_stay_with_those_that_play_all_cards() -> None:
    for backend in ("gurobi", "highs"):
        with pytest.raises(ManaforgeError, match=f"ilp with backend {backend} does not support card effects"):
            refuse_decks([("ilp", backend)], [find_deck("basic-mage")])
    with pytest.raises(
        SolverError, match="backend 'exact' does not support card effects; use backend auto or search"
    ):
        solve(turn_of("mana 1/6 | hero 20"), only(face=1), "exact")
    with pytest.raises(SolverError, match="formulation 'thesis' does not support card effects"):
        solve(turn_of("mana 1/6 | hero 20"), only(face=1), "highs", "thesis")


@pytest.mark.parametrize("backend", backends(outside=True))
def test_explanations_leave_an_action_out(backend: str) -> None:
    turn = turn_of("mana 4/6 hand [Fireball*] | hero 20 board [Chillwind Yeti*; Boulderfist Ogre*]")
    for weights in (only(threat=1), only(threat=1, face=0.1), only(damage=2, face=1)):
        found = explain_cards(turn, weights, backend)
        other = explain_cards(turn, weights, "search")
        assert found.plan.objective == pytest.approx(other.plan.objective)
        assert found.alternative.objective == pytest.approx(other.alternative.objective)


READS = (
    "mana 6/6 attacks 1 power [Fireblast*] board [Bloodfen Raptor* ready] hand [Fireball*; Fireball*; "
    "Fiery War Axe*; The Coin] | hero 14 board [Sen'jin Shieldmasta*]"
)


def test_the_program_names_spells_weapons_and_powers() -> None:
    text = str(program_of(turn_of(READS), only(face=1, lethal=1), "sequential"))
    for part in (
        "enemy 0: Sen'jin Shieldmasta 3/5",
        "cast[Fireball]",
        "cast[Fireball 2]",
        "f[Fireball 2,1,0]",
        "4 cast[Fireball] + 4 cast[Fireball 2] + 3 cast[Fiery War Axe] + 2 cast[Fireblast] <= 6",
        "a targeted card has one target:",
        "the hero attacks once:",
        "x[Bloodfen Raptor,1,0]",
    ):
        assert part in text, part
    with pytest.raises(
        SolverError, match="the integer program does not support Arcane Missiles .random targets."
    ):
        program_of(turn_of(REFUSED[0][0]), only(face=1), "sequential")
    with pytest.raises(SolverError, match="formulation 'thesis' does not support card effects"):
        program_of(turn_of(READS), only(face=1), "thesis")


def test_a_keyword_that_came_after_the_program_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Taunt would be: else a program calls a plan optimal that knows nothing of it."""
    monkeypatch.setattr(card_reading, "KNOWN_KEYWORDS", card_reading.KNOWN_KEYWORDS & ~Keyword.TAUNT)
    with pytest.raises(SolverError, match="Sen'jin Shieldmasta .an unsupported keyword"):
        solve(turn_of(READS), only(face=1), "highs")


def test_the_program_folds_to_a_width() -> None:
    milp = program_of(turn_of(READS), only(face=1, lethal=1), "sequential")
    folded = milp.text(80).splitlines()
    assert max(map(len, folded)) <= 80
    assert "".join(milp.text().split()) == "".join(milp.text(80).split())
