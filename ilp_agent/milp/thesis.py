"""The thesis formulation: section 5.4.4 of the turn-ILP thesis as its prose states it. For comparison.

Damage must reach an enemy's health for it to die (the printed ceilings would let any damage kill), a living
Taunt forbids each attack elsewhere (as the code in 6.3; the printed sums cannot hold with two living Taunts),
a Divine Shield is one more health, and the attack limit holds for every attacker. Plans of this program can
be impossible to play: it may attack what is already dead, or declare survivors dead to make room. A Windfury
minion's two attacks are held against its health one by one, so it may die where the program says it lives.
"""

from dataclasses import dataclass, field

from engine.codes import BOARD_SIZE, HERO, MAX_MANA
from engine.minion import MinionSpec
from ilp_agent.milp.program import Milp
from ilp_agent.problem import TurnProblem
from ilp_agent.weights import Weights


@dataclass
class ThesisModel:
    """The program and what its variables stand for."""

    problem: TurnProblem
    milp: Milp = field(default_factory=Milp)
    attacks: dict[tuple[int, int], int] = field(default_factory=dict)
    """(friend, enemy or HERO) -> x."""
    plays: list[int] = field(default_factory=list)
    survives: list[int] = field(default_factory=list)
    alive: list[int] = field(default_factory=list)
    hero_alive: int = 0
    clear: int = 0


def kills_in_thesis(friend: MinionSpec, enemy: MinionSpec) -> bool:
    """Whether attacking an enemy kills a friend: each enemy by itself, a Divine Shield as one more health."""
    return enemy.attack > 0 and enemy.attack >= friend.health + friend.divine_shield


def thesis_model(problem: TurnProblem, weights: Weights) -> ThesisModel:
    """Build the program of a turn; rows carry the numbers of section 5.4.4."""
    model = ThesisModel(problem)
    milp, w = model.milp, weights
    friends = (*problem.friendly, *problem.hand)
    m, n = len(problem.friendly), len(problem.enemy)
    most = min(problem.mana + problem.coin, MAX_MANA)
    record = problem.record
    milp.offset = w.lethal
    model.hero_alive = milp.binary("z_hero", -w.lethal)
    model.clear = milp.binary("c", w.clear)
    model.alive = [milp.binary(f"z[{j}]", -w.threat * enemy.attack) for j, enemy in enumerate(problem.enemy)]
    model.survives = [milp.binary(f"y[{i}]", w.survive * friend.health) for i, friend in enumerate(friends)]
    for k, card in enumerate(problem.hand):
        model.plays.append(milp.binary(f"u[{m + k}]", w.play * card.worth, float(card.cost <= most)))
    coin = milp.binary("coin", 0.0, float(problem.coin))
    for i, friend in enumerate(friends):
        able = bool(record["friends"][i]["attacks"])
        for j, enemy in enumerate(problem.enemy):
            gain = w.damage * friend.attack - w.trade * enemy.attack
            allowed = float(able and not enemy.stealth and (i, j) not in problem.barred)
            model.attacks[i, j] = milp.binary(f"x[{i},{j}]", gain, allowed)
        allowed = float(able and bool(record["friends"][i]["hits_hero"]))
        model.attacks[i, HERO] = milp.binary(f"x[{i},hero]", w.face * friend.attack, allowed)
    every = [*range(n), HERO]
    for i in range(len(friends)):
        limit = float(record["friends"][i]["attacks"])
        milp.add("(1) attack limit", [(model.attacks[i, j], 1.0) for j in every], upper=limit)
        for j, enemy in enumerate(problem.enemy):
            if kills_in_thesis(friends[i], enemy):
                milp.add("(5) death", [(model.survives[i], 1.0), (model.attacks[i, j], 1.0)], upper=1)
    for j, enemy in enumerate(problem.enemy):
        health = float(enemy.health + enemy.divine_shield)
        damage = [(model.attacks[i, j], float(friend.attack)) for i, friend in enumerate(friends)]
        milp.add("(2) damage kills", [*damage, (model.alive[j], health)], lower=health)
        milp.add("(4) cleared", [(model.clear, 1.0), (model.alive[j], 1.0)], upper=1)
    damage = [(model.attacks[i, HERO], float(friend.attack)) for i, friend in enumerate(friends)]
    hero = float(problem.enemy_hero)
    milp.add("(3) lethal", [*damage, (model.hero_alive, hero)], lower=hero)
    plays = [(u, 1.0) for u in model.plays]
    milp.add("(6) board", [*((y, 1.0) for y in model.survives[:m]), *plays], upper=BOARD_SIZE)
    spent = [(u, float(card.cost)) for u, card in zip(model.plays, problem.hand, strict=True)]
    milp.add("(8) mana, and The Coin", [*spent, (coin, -1.0)], upper=problem.mana)
    for i, u in enumerate(model.plays, m):
        milp.add("(7) only the played survive", [(model.survives[i], 1.0), (u, -1.0)], upper=0)
        for j in range(n):
            milp.add("(9) Charge or Rush", [(model.attacks[i, j], 1.0), (u, -1.0)], upper=0)
        milp.add("(10) Charge", [(model.attacks[i, HERO], 1.0), (u, -1.0)], upper=0)
    guards = [j for j, enemy in enumerate(problem.enemy) if enemy.taunt and not enemy.stealth]
    for t in guards:
        for i in range(len(friends)):
            for j in every:
                if j == HERO or j not in guards:
                    name = "(11) Taunt before the hero" if j == HERO else "(12) Taunt before others"
                    milp.add(name, [(model.attacks[i, j], 1.0), (model.alive[t], 1.0)], upper=1)
    return model
