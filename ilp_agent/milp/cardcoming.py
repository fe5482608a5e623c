"""Rows of the integer program for Deathrattles, enemies that may come, and guards that are silenced.

A Deathrattle is an equality, so that a solver cannot skip what harms: it happens if its minion dies, by `d`
of an own one and by `1 - z` of an enemy's, less what took it off the board alive.
"""

from engine import MinionSpec
from engine.codes import HERO
from ilp_agent.milp.cardclass import silenced_guards, silenced_idly
from ilp_agent.milp.cardmodel import CardModel
from ilp_agent.milp.sequential import add_hits
from ilp_agent.weights import Weights

Sum = tuple[list[tuple[int, float]], float]
"""Terms of a sum, (variable, factor), and a constant."""


def add_silence(built: CardModel, n: int) -> None:
    """What a cast may silence: a guard, or a minion from whom that takes nothing."""
    found, model = built.found, built.model
    cast = found.casts[n]
    for j in silenced_guards(found, cast):
        silenced = model.milp.binary(f"s[{cast.label},{j}]")
        built.silences[n, j] = silenced
        model.silenced.setdefault(j, []).append(silenced)
        model.milp.add("who is silenced lives on", [(silenced, 1.0), (model.alive[j], -1.0)], upper=0)
    if silenced_idly(found, cast) is not None:
        built.idle[n] = model.milp.binary(f"idle[{cast.label}]")


def add_rattles(built: CardModel, w: Weights) -> None:
    """What Deathrattles do, newcomers aside."""
    found, model = built.found, built.model
    milp = model.milp
    for i, rattle in found.rattles.items():
        deaths = built.death_of(i)
        health = sum(int(found.cards[token]["health"]) for token in rattle.tokens)
        for v, _ in deaths:
            milp.cost[v] += w.survive * health + w.draw * rattle.draws
        if rattle.blow and deaths:
            model.sources.append(MinionSpec(rattle.blow, 1))
            model.labels.append(f"Deathrattle of {model.labels[i]}")
            source = built.rattles[i] = len(model.sources) - 1
            model.further.append(source)
            add_hits(model, source, 1, {HERO: w.face * rattle.blow})
            hits = model.any_hit(source, 1, [HERO])
            minus = [(v, -1.0) for v, _ in deaths]
            milp.add("a Deathrattle hits if its minion dies", [*hits, *minus], lower=0, upper=0)
    for j, rattle in found.enemy_rattles.items():
        terms, constant = _death_of_enemy(built, j)
        for v, factor in terms:
            milp.cost[v] -= w.hero * rattle.blow * factor
        milp.offset -= w.hero * rattle.blow * constant


def _death_of_enemy(built: CardModel, j: int) -> Sum:
    """Whether an enemy of the start dies."""
    casts = built.found.casts
    spared = [v for (n, target), v in built.removals.items() if target == j and casts[n].spares]
    return [(built.model.alive[j], -1.0), *((v, -1.0) for v in spared)], 1.0


def add_newcomers(built: CardModel, w: Weights) -> None:
    """When the enemies that may come are there, and whom they guard."""
    found, model = built.found, built.model
    milp = model.milp
    for t, one in found.coming():
        terms: list[tuple[int, float]] = []
        constant = 0.0
        if one.dead >= 0:
            terms, constant = _death_of_enemy(built, one.dead)
        else:
            terms = [(v, 1.0) for (n, _), v in built.removals.items() if n == one.cast]
        model.presence[t] = terms, constant
        health = w.wound * model.problem.enemy[t].health
        for v, factor in terms:
            milp.cost[v] += health * factor
        milp.offset += health * (constant - 1.0)
        minus = [(v, -factor) for v, factor in terms]
        for kind in "xpf":
            for _, v in model.kind(kind, t):
                milp.add("only who has come is hit", [(v, 1.0), *minus], upper=constant)
        if t in model.guards:
            _late_guard(built, t)


def _late_guard(built: CardModel, t: int) -> None:
    """A guard that comes: it goes on where another guarded before; else only the last blow comes after it."""
    found, model = built.found, built.model
    one = dict(found.coming())[t]
    guards = set(model.guards)
    always = one.dead >= 0 and one.dead in guards
    before = [(v, 1.0) for (n, j), v in built.removals.items() if n == one.cast and j in guards]
    for i in (*model.attacks, *model.swings, *model.stronger):
        for s in range(1, model.attacks.get(i, 1) + 1):
            hits = model.any_hit(i, s, [*model.elsewhere, HERO])
            stands = (model.alive[t], 1.0)
            if always:
                model.milp.add("a guard takes a guard's place", [*hits, stands], upper=1)
            elif before:
                model.milp.add("a guard takes a guard's place", [*hits, stands, *before], upper=2)
            blow = [(v, 1.0) for kind, v in model.hits.get((i, s, HERO), ()) if kind == "G"]
            model.milp.add("no guard stands before the last blow", [*blow, stands], upper=1)
