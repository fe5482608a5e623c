"""Solve a turn on real cards as an integer program, and order its plan into legal actions."""

from dataclasses import dataclass, replace

import numpy as np

from engine import Action, Position
from engine.codes import BOARD_SIZE, COIN, HERO, MAX_MANA, OWN_SIDE, ActionKind
from engine.effect_codes import Filter
from engine.effects.chance import Chance
from engine.errors import ChanceError, IllegalActionError
from ilp_agent.backends import FORMULATIONS, SolverError
from ilp_agent.exact.backend import check_known
from ilp_agent.milp.card_program import CardModel, card_model
from ilp_agent.milp.card_reading import read_turn
from ilp_agent.milp.card_turn import CardProblem, silenced_idly
from ilp_agent.milp.program import Milp, Run, UnanswerableError, proven, rounded, scaled_weights
from ilp_agent.milp.spell_sources import OutsideError
from ilp_agent.plan import Plan, Terms, terms_of
from ilp_agent.search.backend import searcher_of_thread
from ilp_agent.search.expected_terms import terms_of_actions
from ilp_agent.turn import Turn
from ilp_agent.weights import N_TERMS, Weights

MOST_TRIED = 2_000
"""Most actions that are tried in the engine until all are carried out."""

OWN_HERO = OWN_SIDE + BOARD_SIZE

FRIEND = 100
"""As a target: plus a friend's index, that friend."""

ANY_OWN = 99
"""As a target: any own minion, or none where there is none to choose."""

BY_HERO = -1
"""As the source of an attack: the own hero."""

LEVELS = {"p": 0, "x": 2, "f": 3, "k": 3, "s": 4}
"""The order of hits on an enemy, by their kind; those that need it whole come one before the plain ones."""

FIRST, PLAYS, BLOWS, LAST = range(4)
"""When actions are tried: what gives mana, armour or cards; other plays; hits; the last blow on a hero."""


@dataclass(frozen=True)
class Act:
    """Something that is done once in the turn.

    Attributes:
        kind: PLAY, POWER or ATTACK.
        source: number of the card that is played, `COIN`; of an attack the friend's index, or `BY_HERO`.
        target: an enemy by its number at the start, `HERO`, `OWN_HERO`, a code of `FRIEND`, `ANY_OWN`, or -1
            for none.
        rank: when it is tried, of the constants above.
        mana: that it gives and that must not be lost.
        friend: index of the minion that is played; -1 for none.
        after: places in the list of acts of those that come before it.
        cast: place among the casts of what it plays; -1 for none.
    """

    kind: ActionKind
    source: int
    target: int = -1
    rank: int = PLAYS
    mana: int = 0
    friend: int = -1
    after: frozenset[int] = frozenset()
    cast: int = -1


@dataclass(frozen=True)
class Standing:
    """A position on the way: who of the start stands there.

    Attributes:
        position: where the actions so far have led.
        friends: birth of each friend of the problem; 0 of those still in hand.
        foes: birth of each enemy; 0 of those that have not come.
        actions: so far.
    """

    position: Position
    friends: tuple[int, ...]
    foes: tuple[int, ...]
    actions: tuple[Action, ...] = ()


def acts_of(built: CardModel, chosen: np.ndarray) -> list[Act]:
    """What a rounded solution does, with what must come before what.

    Of the hits on an enemy the one that pops its shield comes first, then those that need it whole, then the
    others, and last what takes it off the board. A swing comes between the weapons as `_weapons` says.
    """
    found, model = built.found, built.model
    hits = [
        (source, number, target, kind)
        for (source, number, target), kinds in model.hits.items()
        for kind, variable in kinds
        if chosen[variable]
    ]
    acts, levels, attacking = _attacks(built, hits)
    bolts = {source: n for n, source in built.bolts.items()}
    aimed = {bolts[source]: (target, kind) for source, _, target, kind in hits if source in bolts}
    aimed |= {n: (j, "k") for (n, j), variable in built.removals.items() if chosen[variable]}
    aimed |= {n: (j, "s") for (n, j), variable in built.silences.items() if chosen[variable]}
    aimed |= {n: (_idle_target(built, n), "i") for n, variable in built.idle.items() if chosen[variable]}
    aimed |= {n: (OWN_HERO, "o") for n, variable in built.own_hero.items() if chosen[variable]}
    own = {n: i for (n, i), variable in built.own_minions.items() if chosen[variable]}
    aimed |= {n: (FRIEND + i, "o") for n, i in own.items()}
    spent = sum(cost for variable, cost in model.spent if chosen[variable] and cost > 0)
    short = spent > found.own["mana"]
    if short and chosen[model.coin]:
        acts.append(Act(ActionKind.PLAY, COIN, rank=FIRST, mana=1))
        levels.append((-1, 0))
    places: dict[int, int] = {}
    cries = {cast.minion: n for n, cast in enumerate(found.casts) if cast.minion >= 0}
    for k, variable in enumerate(model.plays):
        if chosen[variable]:
            n = cries.get(k, -1)
            target, kind = aimed.get(n, (-1, ""))
            first = n >= 0 and (found.casts[n].draws or found.casts[n].armour or kind == "i")
            rank = (
                LAST if kind == "G" else FIRST if first and kind in "i" else BLOWS if target >= 0 else PLAYS
            )
            places[n] = len(acts)
            friend = len(found.problem.friendly) + k
            character = _character(built, n, target)
            acts.append(Act(ActionKind.PLAY, found.numbers[k], character, rank, friend=friend, cast=n))
            levels.append((target, LEVELS.get(kind, 0)))
    for n, (cast, variable) in enumerate(zip(found.casts, built.casts, strict=True)):
        if not chosen[variable] or cast.minion >= 0:
            continue
        target, kind = aimed.get(n, (-1, ""))
        rank = _rank(kind, target, bool(cast.draws or cast.armour or cast.mana))
        action = ActionKind.POWER if cast.power else ActionKind.PLAY
        places[n] = len(acts)
        mana = cast.mana if short else 0
        source = 0 if cast.power else cast.number
        acts.append(Act(action, source, _character(built, n, target), rank, mana, cast=n))
        whole = bool(cast.asked & Filter.UNDAMAGED)
        levels.append((target, LEVELS.get(kind, 0) - (whole and kind == "x")))
    for i, source in built.rattles.items():
        if any(one == source and kind == "G" for one, *_, kind in hits):
            for attacker in (i, *(one for one, friend in model.stronger.items() if friend == i)):
                if attacker in attacking:
                    acts[attacking[attacker]] = replace(acts[attacking[attacker]], rank=LAST)
    pairs = _weapons(built, chosen, hits, places, attacking)
    for n, place in places.items():
        if n in own:
            pairs += [(attacking[source], place) for source in (own[n],) if source in attacking]
        if n >= 0 and found.casts[n].buff:
            pairs += _buffs(built, acts, n, place, attacking)
    return _with_orders(acts, levels, pairs)


def _buffs(
    built: CardModel, acts: list[Act], n: int, place: int, attacking: dict[int, int]
) -> list[tuple[int, int]]:
    """Pairs (before, after) about a cast that strengthens; its act is told whom. `acts` is modified."""
    for source, some in built.stronger.items():
        if n in some and source in attacking:
            acts[place] = replace(acts[place], target=FRIEND + built.model.stronger[source])
            return [(place, attacking[source])]
    acts[place] = replace(acts[place], target=ANY_OWN, rank=BLOWS)
    return [(attack, place) for attack in attacking.values() if acts[attack].rank != LAST]


def _rank(kind: str, target: int, first: bool) -> int:
    """When a card is played that hits in a kind of way; `first`: early, if it has no target."""
    if kind in ("G", "i"):
        return LAST if kind == "G" else FIRST
    return BLOWS if target >= 0 else FIRST if first else PLAYS


def _idle_target(built: CardModel, n: int) -> int:
    """From whom a cast takes nothing."""
    found = silenced_idly(built.found, built.found.casts[n])
    assert found is not None
    place, own = found
    return FRIEND + place if own else place


def _character(built: CardModel, n: int, target: int) -> int:
    """What a cast is aimed at in the engine: heals at the own hero, fixed bolts at nothing."""
    if n >= 0 and built.found.casts[n].fixed:
        return -1
    if n >= 0 and built.found.casts[n].heals_chosen:
        return OWN_HERO
    return target


def _attacks(
    built: CardModel, hits: list[tuple[int, int, int, str]]
) -> tuple[list[Act], list[tuple[int, int]], dict[int, int]]:
    """The attacks of minions and the own hero, the (target, level) of each, and each source's place."""
    acts: list[Act] = []
    levels: list[tuple[int, int]] = []
    firsts: dict[int, int] = {}
    stronger = built.model.stronger
    for source, _, target, kind in sorted(hits):
        if source in built.model.attacks or source in built.swings or source in stronger:
            who = BY_HERO if source in built.swings else stronger.get(source, source)
            after = frozenset({firsts[source]} if source in firsts else ())
            firsts[source] = len(acts)
            rank = LAST if kind == "G" else BLOWS
            acts.append(Act(ActionKind.ATTACK, who, target, rank, after=after))
            levels.append((target, LEVELS.get(kind, 0)))
    return acts, levels, firsts


def _weapons(
    built: CardModel,
    chosen: np.ndarray,
    hits: list[tuple[int, int, int, str]],
    places: dict[int, int],
    attacking: dict[int, int],
) -> list[tuple[int, int]]:
    """Pairs of acts (before, after) about weapons: the swing between those before it and those after."""
    found = built.found
    swung = [source for source, *_ in hits if source in built.swings]
    equips = [n for n in places if n >= 0 and found.casts[n].weapon >= 0]
    last = [n for n in equips if n in built.last and chosen[built.last[n]]]
    pairs = [(places[n], places[one]) for one in last for n in equips if n != one]
    if not swung:
        return pairs
    swing = attacking[swung[0]]
    arm, before = built.swings[swung[0]]
    own = found.casts.index(arm) if arm else -1
    for n in equips:
        if n == own:
            pairs.append((places[n], swing))
        elif own >= 0 and n not in last:
            pairs.append((places[n], places[own]))
        else:
            pairs.append((swing, places[n]))
    for n, place in places.items():
        if n >= 0 and found.casts[n].hero_attack:
            pairs.append((place, swing) if found.casts[n] in before else (swing, place))
    return pairs


def _with_orders(acts: list[Act], levels: list[tuple[int, int]], pairs: list[tuple[int, int]]) -> list[Act]:
    """The acts, each with those that come before it."""
    after = [set(act.after) for act in acts]
    for one, (target, level) in enumerate(levels):
        for other, (aim, above) in enumerate(levels):
            if 0 <= target < HERO and aim == target and level < above:
                after[other].add(one)
    for before, later in pairs:
        after[later].add(before)
    return [replace(act, after=frozenset(some)) for act, some in zip(acts, after, strict=True)]


def order_acts(built: CardModel, acts: list[Act]) -> tuple[Action, ...] | None:
    """The acts in an order that is legal in the engine; None where none is found."""
    found = built.found
    births = [int(born) for born in found.own["board"]["born"][: found.own["n_board"]]]
    foes = tuple(int(foe["born"]) for foe in found.foes)
    start = Standing(found.position.copy(), (*births, *(0 for _ in found.numbers)), foes)
    tried = [0]
    order = sorted(range(len(acts)), key=lambda n: (acts[n].rank, n))
    return _go_on(built, acts, order, frozenset(), start, tried)


def _go_on(
    built: CardModel, acts: list[Act], order: list[int], done: frozenset[int], at: Standing, tried: list[int]
) -> tuple[Action, ...] | None:
    """Carry out what is left, depth first; `tried` counts, and is modified in place."""
    if len(done) == len(acts):
        return at.actions
    for n in order:
        act = acts[n]
        if n in done or not act.after <= done or tried[0] >= MOST_TRIED:
            continue
        if act.rank == LAST and len(done) + 1 < len(acts):
            continue
        tried[0] += 1
        following = _carry_out(built, act, at)
        if following is not None:
            actions = _go_on(built, acts, order, done | {n}, following, tried)
            if actions is not None:
                return actions
    return None


def _carry_out(built: CardModel, act: Act, at: Standing) -> Standing | None:
    """What an act leads to; None where it is not legal or would be wasted."""
    side = at.position.state["sides"][at.position.active]
    action = _action_of(act, at)
    if action is None or side["mana"] + act.mana > MAX_MANA:
        return None
    here = at.position.copy()
    births = int(here.state["births"])
    try:
        here.play(action, Chance.blind())
    except (IllegalActionError, ChanceError):
        return None
    friends = list(at.friends)
    if act.friend >= 0:
        friends[act.friend] = births + 1
    return Standing(here, tuple(friends), _come(built, act, at, here), (*at.actions, action))


def _come(built: CardModel, act: Act, at: Standing, here: Position) -> tuple[int, ...]:
    """The births of the enemies after an act: each that has come takes the number that waits for it."""
    enemy = here.state["sides"][1 - at.position.active]
    stand = enemy["board"][: enemy["n_board"]]
    foes = list(at.foes)
    gone = {j for j, born in enumerate(foes) if born and born not in stand["born"]}
    for minion in stand[stand["born"] > at.position.state["births"]]:
        for t, one in built.found.coming():
            comes = one.dead in gone if one.dead >= 0 else one.cast == act.cast
            if comes and not foes[t] and one.card == minion["card"]:
                foes[t] = int(minion["born"])
                break
    return tuple(foes)


def _action_of(act: Act, at: Standing) -> Action | None:
    """An act as the engine's action; None where who does it or whom it is about is not there."""
    state = at.position.state
    own, enemy = state["sides"][at.position.active], state["sides"][1 - at.position.active]
    target = act.target
    if target == ANY_OWN:
        return _any_own(act, at)
    if target >= FRIEND:
        there = np.flatnonzero(own["board"]["born"][: own["n_board"]] == at.friends[target - FRIEND])
        if not len(there):
            return None
        target = OWN_SIDE + int(there[0])
    elif 0 <= target < HERO:
        there = np.flatnonzero(enemy["board"]["born"][: enemy["n_board"]] == at.foes[target])
        if not len(there):
            return None
        target = int(there[0])
    if act.kind == ActionKind.ATTACK:
        source = HERO
        if act.source != BY_HERO:
            there = np.flatnonzero(own["board"]["born"][: own["n_board"]] == at.friends[act.source])
            if not len(there):
                return None
            source = int(there[0])
        return Action(ActionKind.ATTACK, source, target)
    place = 0
    if act.kind == ActionKind.PLAY:
        hand = own["hand"][: own["n_hand"]].tolist()
        if act.source not in hand:
            return None
        place = hand.index(act.source)
    return Action(act.kind, place, max(target, 0), aimed=target >= 0)


def _any_own(act: Act, at: Standing) -> Action | None:
    """A card played on the first own minion that it may be aimed at, or on none."""
    own = at.position.state["sides"][at.position.active]
    hand = own["hand"][: own["n_hand"]].tolist()
    for action in at.position.legal_actions():
        played = action.kind == ActionKind.PLAY and hand[action.source] == act.source
        if played and (not action.aimed or OWN_SIDE <= action.target < OWN_HERO):
            return action
    return None


ALIKE = 1e-6
"""How far the objective of the engine may be from the program's, as a share of the largest weight."""


def solve_cards(turn: Turn, weights: Weights, backend: str, run: Run) -> Plan:
    """Build the program of a turn of class A, solve it with `run`, and carry the plan out in the engine.

    Raises:
        UnanswerableError: there is no solution, or its actions do not come true.
        SolverError: the turn is outside of class A; the message names the card.
    """
    scaled = scaled_weights(weights)
    found = _read(turn, scaled, f"backend {backend!r}", " in its program")
    built = card_model(found, scaled)
    milp = built.model.milp
    status, chosen = rounded(run, milp)
    actions = order_acts(built, acts_of(built, chosen))
    if actions is None:
        raise UnanswerableError("its actions have no legal order")
    codes = np.array([action.code for action in actions], np.int64)
    terms = _terms(found, codes, weights)
    largest = max(float(weights.array.max()), 1e-300)
    predicted = milp.offset + sum(
        cost * value for cost, value in zip(milp.cost, chosen, strict=True) if value
    )
    if abs(sum(terms) / largest - predicted) > ALIKE * max(1.0, abs(predicted)):
        raise UnanswerableError(f"its plan is worth {sum(terms):g}, not {predicted * largest:g}")
    kept, again = _until_drawn(found, actions)
    return Plan(proven(status, weights), float(sum(terms)), terms, kept, again)


def card_program(turn: Turn, weights: Weights, formulation: str) -> Milp:
    """The program of a turn of class A.

    Raises:
        SolverError: the turn is outside of class A, or the formulation is not for real cards.
    """
    if formulation != FORMULATIONS[0]:
        raise SolverError(
            f"formulation {formulation!r} reads bodies with keywords, not real cards; use {FORMULATIONS[0]!r}"
        )
    return card_model(_read(turn, weights, "the integer program"), weights).model.milp


def _read(turn: Turn, weights: Weights, who: str, where: str = "") -> CardProblem:
    """What the program needs of a turn.

    Raises:
        SolverError: the turn is outside of class A.
    """
    check_known(weights)
    try:
        return read_turn(turn, weights)
    except OutsideError as error:
        raise SolverError(f"{who} cannot count {error}{where}; use auto") from None


def _terms(found: CardProblem, codes: np.ndarray, weights: Weights) -> Terms:
    """The terms of actions, carried out in the engine as the search does."""
    terms = np.zeros(N_TERMS)
    position, memory = found.position, searcher_of_thread().ready()
    terms_of_actions(position.states, position.table.array, weights.everything, memory.work, codes, terms)
    return terms_of(terms, weights)


def _until_drawn(found: CardProblem, actions: tuple[Action, ...]) -> tuple[tuple[Action, ...], bool]:
    """The actions up to the first that draws a card, and whether there is one."""
    here = found.position.copy()
    for n, action in enumerate(actions):
        here.play(action, Chance.blind())
        if here.state["sides"][found.position.active]["n_deck"] < found.own["n_deck"]:
            return actions[: n + 1], True
    return actions, False
