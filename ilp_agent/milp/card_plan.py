"""Solve a turn with card effects as an integer program, and order the solution into legal actions."""

from dataclasses import dataclass, replace

import numpy as np

from engine import Action, Position
from engine.codes import BOARD_SIZE, COIN, HERO, MAX_MANA, OWN_TARGETS, ActionKind
from engine.effect_codes import Filter
from engine.effects.chance import Chance
from engine.errors import ChanceError, IllegalActionError
from ilp_agent.backends import FORMULATIONS, SolverError
from ilp_agent.milp.card_program import CardModel, card_model
from ilp_agent.milp.card_reading import read_card_turn
from ilp_agent.milp.card_turn import CardProblem, harmless_silence_target
from ilp_agent.milp.program import (
    Milp,
    NoPlanError,
    RunSolver,
    scaled_weights,
    solve_rounded,
    trusted_status,
)
from ilp_agent.milp.spell_sources import UnsupportedTurnError
from ilp_agent.plan import Plan, Terms, name_terms
from ilp_agent.search.backend import thread_searcher
from ilp_agent.search.expected_terms import terms_of_actions
from ilp_agent.turn import Turn
from ilp_agent.weights import FULL_NAMES, N_EXTENDED, N_TERMS, Weights

MAX_TRIED_ACTIONS = 2_000
"""Limit of actions tried in the engine to find a legal order."""

OWN_HERO = OWN_TARGETS + BOARD_SIZE

FRIEND = 100
"""Offset in `PlannedAction.target`: plus a friendly minion's index."""

ANY_OWN = 99
"""`PlannedAction.target`: any own minion, or none if there is no valid target."""

BY_HERO = -1
"""`PlannedAction.source` of an attack by the own hero."""

LEVELS = {"p": 0, "x": 2, "f": 3, "k": 3, "s": 4}
"""Order of hits on one enemy by kind; hits that need it undamaged come one before the plain ones."""

FIRST, PLAYS, BLOWS, LAST = range(4)
"""Phases of a turn: plays that give mana, armour or cards; other plays; hits; the last blow on the hero."""


@dataclass(frozen=True)
class PlannedAction:
    """One action of the solution, before ordering: a card play, the hero power or an attack.

    Attributes:
        kind: PLAY, POWER or ATTACK.
        source: card number of a play, or `COIN`; of an attack the friendly minion's index, or `BY_HERO`.
        target: an enemy's index, `HERO`, `OWN_HERO`, `FRIEND` plus an index, `ANY_OWN`, or -1 for none.
        rank: its phase, one of the constants above.
        mana: mana that it gives and that must not be lost.
        friend: index of the minion that is played; -1 for none.
        after: indices of the acts that must come before it.
        cast: index of its `Cast`; -1 for none.
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
class OrderNode:
    """Node of the order search: a position with the entity ids of the problem's minions.

    Attributes:
        position: the position after the actions so far.
        friends: entity id of each friendly minion of the problem; 0 while in hand.
        foes: entity id of each enemy; 0 if not yet summoned.
        actions: the actions so far.
    """

    position: Position
    friends: tuple[int, ...]
    foes: tuple[int, ...]
    actions: tuple[Action, ...] = ()


def planned_actions(built: CardModel, chosen: np.ndarray) -> list[PlannedAction]:
    """The actions of a rounded solution with their precedence constraints.

    On each enemy the hit that pops its shield comes first, then hits that need it undamaged, then the others,
    and last its removal. `_order_weapons` orders the hero's attack among the equipped weapons.
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
    aimed |= {
        n: (_harmless_silence_of(built, n), "i") for n, variable in built.idle.items() if chosen[variable]
    }
    aimed |= {n: (OWN_HERO, "o") for n, variable in built.own_hero.items() if chosen[variable]}
    own = {n: i for (n, i), variable in built.own_minions.items() if chosen[variable]}
    aimed |= {n: (FRIEND + i, "o") for n, i in own.items()}
    spent = sum(cost for variable, cost in model.spent if chosen[variable] and cost > 0)
    short = spent > found.own["mana"]
    if short and chosen[model.coin]:
        acts.append(PlannedAction(ActionKind.PLAY, COIN, rank=FIRST, mana=1))
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
            character = _engine_target(built, n, target)
            acts.append(
                PlannedAction(ActionKind.PLAY, found.numbers[k], character, rank, friend=friend, cast=n)
            )
            levels.append((target, LEVELS.get(kind, 0)))
    for n, (cast, variable) in enumerate(zip(found.casts, built.casts, strict=True)):
        if not chosen[variable] or cast.minion >= 0:
            continue
        target, kind = aimed.get(n, (-1, ""))
        rank = _phase_of(kind, target, bool(cast.draws or cast.armour or cast.mana))
        action = ActionKind.POWER if cast.power else ActionKind.PLAY
        places[n] = len(acts)
        mana = cast.mana if short else 0
        source = 0 if cast.power else cast.number
        acts.append(PlannedAction(action, source, _engine_target(built, n, target), rank, mana, cast=n))
        whole = bool(cast.target_filter & Filter.UNDAMAGED)
        levels.append((target, LEVELS.get(kind, 0) - (whole and kind == "x")))
    for i, source in built.deathrattles.items():
        if any(hitter == source and kind == "G" for hitter, *_, kind in hits):
            for attacker in (i, *(buffed for buffed, friend in model.buffed.items() if friend == i)):
                if attacker in attacking:
                    acts[attacking[attacker]] = replace(acts[attacking[attacker]], rank=LAST)
    pairs = _order_weapons(built, chosen, hits, places, attacking)
    for n, place in places.items():
        if n in own:
            pairs += [(attacking[source], place) for source in (own[n],) if source in attacking]
        if n >= 0 and found.casts[n].buff:
            pairs += _order_buffs(built, acts, n, place, attacking)
    return _add_precedence(acts, levels, pairs)


def _order_buffs(
    built: CardModel, acts: list[PlannedAction], n: int, place: int, attacking: dict[int, int]
) -> list[tuple[int, int]]:
    """Precedence pairs (before, after) of a buff, and its target, which is set in `acts` in place."""
    for source, buffs in built.buffs_of.items():
        if n in buffs and source in attacking:
            acts[place] = replace(acts[place], target=FRIEND + built.model.buffed[source])
            return [(place, attacking[source])]
    acts[place] = replace(acts[place], target=ANY_OWN, rank=BLOWS)
    return [(attack, place) for attack in attacking.values() if acts[attack].rank != LAST]


def _phase_of(kind: str, target: int, first: bool) -> int:
    """Phase of a card play by the kind of hit; with `first`, early if the card has no target."""
    if kind in ("G", "i"):
        return LAST if kind == "G" else FIRST
    return BLOWS if target >= 0 else FIRST if first else PLAYS


def _harmless_silence_of(built: CardModel, n: int) -> int:
    """Target on which a silence has no effect."""
    harmless = harmless_silence_target(built.found, built.found.casts[n])
    assert harmless is not None
    place, own = harmless
    return FRIEND + place if own else place


def _engine_target(built: CardModel, n: int, target: int) -> int:
    """Target of a cast in the engine: the own hero for heals, none for damage that always hits the hero."""
    if n >= 0 and built.found.casts[n].fixed:
        return -1
    if n >= 0 and built.found.casts[n].heals_chosen:
        return OWN_HERO
    return target


def _attacks(
    built: CardModel, hits: list[tuple[int, int, int, str]]
) -> tuple[list[PlannedAction], list[tuple[int, int]], dict[int, int]]:
    """The attacks of minions and own hero, the (target, level) of each, and the act index of each source."""
    acts: list[PlannedAction] = []
    levels: list[tuple[int, int]] = []
    firsts: dict[int, int] = {}
    buffed = built.model.buffed
    for source, _, target, kind in sorted(hits):
        if source in built.model.attacks or source in built.hero_attacks or source in buffed:
            attacker = BY_HERO if source in built.hero_attacks else buffed.get(source, source)
            after = frozenset({firsts[source]} if source in firsts else ())
            firsts[source] = len(acts)
            rank = LAST if kind == "G" else BLOWS
            acts.append(PlannedAction(ActionKind.ATTACK, attacker, target, rank, after=after))
            levels.append((target, LEVELS.get(kind, 0)))
    return acts, levels, firsts


def _order_weapons(
    built: CardModel,
    chosen: np.ndarray,
    hits: list[tuple[int, int, int, str]],
    places: dict[int, int],
    attacking: dict[int, int],
) -> list[tuple[int, int]]:
    """Precedence pairs (before, after) of weapons: which are equipped before and after the hero's attack."""
    found = built.found
    swung = [source for source, *_ in hits if source in built.hero_attacks]
    equips = [n for n in places if n >= 0 and found.casts[n].weapon >= 0]
    last = [n for n in equips if n in built.last and chosen[built.last[n]]]
    pairs = [(places[n], places[final]) for final in last for n in equips if n != final]
    if not swung:
        return pairs
    swing = attacking[swung[0]]
    arm, before = built.hero_attacks[swung[0]]
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


def _add_precedence(
    acts: list[PlannedAction], levels: list[tuple[int, int]], pairs: list[tuple[int, int]]
) -> list[PlannedAction]:
    """Add the precedence constraints of hits and of `pairs` to the acts."""
    after = [set(act.after) for act in acts]
    for earlier, (target, level) in enumerate(levels):
        for other, (aim, above) in enumerate(levels):
            if 0 <= target < HERO and aim == target and level < above:
                after[other].add(earlier)
    for before, later in pairs:
        after[later].add(before)
    return [replace(act, after=frozenset(needed)) for act, needed in zip(acts, after, strict=True)]


def find_legal_order(built: CardModel, acts: list[PlannedAction]) -> tuple[Action, ...] | None:
    """Search for a legal order of the acts in the engine; None if none is found."""
    found = built.found
    births = [int(born) for born in found.own["board"]["entity_id"][: found.own["n_board"]]]
    foes = tuple(int(foe["entity_id"]) for foe in found.foes)
    start = OrderNode(found.position.copy(), (*births, *(0 for _ in found.numbers)), foes)
    tried = [0]
    order = sorted(range(len(acts)), key=lambda n: (acts[n].rank, n))
    return _search_order(built, acts, order, frozenset(), start, tried)


def _search_order(
    built: CardModel,
    acts: list[PlannedAction],
    order: list[int],
    done: frozenset[int],
    at: OrderNode,
    tried: list[int],
) -> tuple[Action, ...] | None:
    """Depth-first search over orders of the remaining acts; `tried` counts attempts, modified in place."""
    if len(done) == len(acts):
        return at.actions
    for n in order:
        act = acts[n]
        if n in done or not act.after <= done or tried[0] >= MAX_TRIED_ACTIONS:
            continue
        if act.rank == LAST and len(done) + 1 < len(acts):
            continue
        tried[0] += 1
        following = _try_act(built, act, at)
        if following is not None:
            actions = _search_order(built, acts, order, done | {n}, following, tried)
            if actions is not None:
                return actions
    return None


def _try_act(built: CardModel, act: PlannedAction, at: OrderNode) -> OrderNode | None:
    """Try an act in the engine; None if it is illegal or wastes mana."""
    side = at.position.state["sides"][at.position.active]
    action = _action_of(act, at)
    if action is None or side["mana"] + act.mana > MAX_MANA:
        return None
    position = at.position.copy()
    births = int(position.state["last_entity_id"])
    try:
        position.play(action, Chance.blind())
    except (IllegalActionError, ChanceError):
        return None
    friends = list(at.friends)
    if act.friend >= 0:
        friends[act.friend] = births + 1
    return OrderNode(position, tuple(friends), _add_summoned(built, act, at, position), (*at.actions, action))


def _add_summoned(built: CardModel, act: PlannedAction, at: OrderNode, position: Position) -> tuple[int, ...]:
    """Entity ids of the enemies after an act: match newly summoned minions to the problem's enemies."""
    enemy = position.state["sides"][1 - at.position.active]
    board = enemy["board"][: enemy["n_board"]]
    foes = list(at.foes)
    gone = {j for j, born in enumerate(foes) if born and born not in board["entity_id"]}
    for minion in board[board["entity_id"] > at.position.state["last_entity_id"]]:
        for t, foe in built.found.summoned_by_index():
            matches = foe.dead in gone if foe.dead >= 0 else foe.cast == act.cast
            if matches and not foes[t] and foe.card == minion["card"]:
                foes[t] = int(minion["entity_id"])
                break
    return tuple(foes)


def _action_of(act: PlannedAction, at: OrderNode) -> Action | None:
    """Convert an act to an engine action; None if its source or target is not present."""
    state = at.position.state
    own, enemy = state["sides"][at.position.active], state["sides"][1 - at.position.active]
    target = act.target
    if target == ANY_OWN:
        return _play_on_own_minion(act, at)
    if target >= FRIEND:
        slots = np.flatnonzero(own["board"]["entity_id"][: own["n_board"]] == at.friends[target - FRIEND])
        if not len(slots):
            return None
        target = OWN_TARGETS + int(slots[0])
    elif 0 <= target < HERO:
        slots = np.flatnonzero(enemy["board"]["entity_id"][: enemy["n_board"]] == at.foes[target])
        if not len(slots):
            return None
        target = int(slots[0])
    if act.kind == ActionKind.ATTACK:
        source = HERO
        if act.source != BY_HERO:
            slots = np.flatnonzero(own["board"]["entity_id"][: own["n_board"]] == at.friends[act.source])
            if not len(slots):
                return None
            source = int(slots[0])
        return Action(ActionKind.ATTACK, source, target)
    place = 0
    if act.kind == ActionKind.PLAY:
        hand = own["hand"][: own["n_hand"]].tolist()
        if act.source not in hand:
            return None
        place = hand.index(act.source)
    return Action(act.kind, place, max(target, 0), aimed=target >= 0)


def _play_on_own_minion(act: PlannedAction, at: OrderNode) -> Action | None:
    """Play a card on its first legal own target, or without a target."""
    own = at.position.state["sides"][at.position.active]
    hand = own["hand"][: own["n_hand"]].tolist()
    for action in at.position.legal_actions():
        played = action.kind == ActionKind.PLAY and hand[action.source] == act.source
        if played and (not action.aimed or OWN_TARGETS <= action.target < OWN_HERO):
            return action
    return None


OBJECTIVE_TOLERANCE = 1e-6
"""Tolerance between the engine's and the program's objective, relative to the largest weight."""


def solve_cards(turn: Turn, weights: Weights, backend: str, run: RunSolver) -> Plan:
    """Solve a turn with card effects (class A) by a MILP solver, and check the plan in the engine.

    Raises:
        NoPlanError: no solution, or its actions are illegal or have another value than predicted.
        SolverError: the turn is outside class A; the message names the card.
    """
    scaled = scaled_weights(weights)
    found = _read(turn, scaled, f"backend {backend!r}", " in its program")
    built = card_model(found, scaled)
    milp = built.model.milp
    status, chosen = solve_rounded(run, milp)
    actions = find_legal_order(built, planned_actions(built, chosen))
    if actions is None:
        raise NoPlanError("the actions of its solution have no legal order")
    codes = np.array([action.code for action in actions], np.int64)
    terms = _terms(found, codes, weights)
    largest = max(float(weights.array.max()), 1e-300)
    predicted = milp.offset + sum(
        cost * value for cost, value in zip(milp.cost, chosen, strict=True) if value
    )
    if abs(sum(terms) / largest - predicted) > OBJECTIVE_TOLERANCE * max(1.0, abs(predicted)):
        raise NoPlanError(
            f"its solution has objective {sum(terms):g} in the engine, but "
            f"{predicted * largest:g} in the program"
        )
    kept, again = _until_first_draw(found, actions)
    return Plan(trusted_status(status, weights), float(sum(terms)), terms, kept, again)


def card_program(turn: Turn, weights: Weights, formulation: str) -> Milp:
    """Build the program of a turn with card effects (class A).

    Raises:
        SolverError: the turn is outside class A, or the formulation does not support card effects.
    """
    if formulation != FORMULATIONS[0]:
        raise SolverError(
            f"formulation {formulation!r} does not support card effects; use formulation {FORMULATIONS[0]!r}"
        )
    return card_model(_read(turn, weights, "the integer program"), weights).model.milp


def _read(turn: Turn, weights: Weights, subject: str, where: str = "") -> CardProblem:
    """Read a turn of class A; `subject` and `where` word the error message.

    Raises:
        SolverError: the turn is outside class A.
    """
    for name in FULL_NAMES[N_EXTENDED:]:
        if getattr(weights, name):
            raise SolverError(
                f"{subject} does not support weight {name!r} ({getattr(weights, name):g}) on real "
                f"cards{where}; use backend 'auto', or set {name!r} to 0"
            )
    try:
        return read_card_turn(turn, weights)
    except UnsupportedTurnError as error:
        raise SolverError(f"{subject} does not support {error}{where}; use backend 'auto'") from None


def _terms(found: CardProblem, codes: np.ndarray, weights: Weights) -> Terms:
    """Compute the terms of actions in the engine, as the search does."""
    terms = np.zeros(N_TERMS)
    position, memory = found.position, thread_searcher().reset_memory()
    terms_of_actions(position.states, position.table.array, weights.full_array, memory.work, codes, terms)
    return name_terms(terms, weights)


def _until_first_draw(found: CardProblem, actions: tuple[Action, ...]) -> tuple[tuple[Action, ...], bool]:
    """The actions up to and including the first that draws a card, and whether there is one."""
    position = found.position.copy()
    for n, action in enumerate(actions):
        position.play(action, Chance.blind())
        if position.state["sides"][found.position.active]["n_deck"] < found.own["n_deck"]:
            return actions[: n + 1], True
    return actions, False
