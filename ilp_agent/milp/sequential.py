"""The sequential formulation: every feasible point is a legal sequence of actions that comes true.

Notation of the turn-ILP thesis, chapter 4: A, B attack and health of friends; P, Q of enemies; C cost, S
value; M mana; H the enemy hero. A hit is plain (x), pops a shield (p) or finishes (f); on the hero plain (g)
or the last blow (G). Minions that live lose health: enemies w (`wound`), friends with two attacks b (`body`).
Objective and rows are named in the words of the rules.
"""

from dataclasses import dataclass, field
from itertools import pairwise

from engine.codes import BOARD_SIZE, HERO, MAX_MANA
from engine.minion import MinionSpec
from ilp_agent.milp.program import Milp
from ilp_agent.problem import TurnProblem
from ilp_agent.weights import Weights


@dataclass
class SequentialModel:
    """The program and what its variables stand for."""

    problem: TurnProblem
    milp: Milp = field(default_factory=Milp)
    hits: dict[tuple[int, int, int], list[tuple[str, int]]] = field(default_factory=dict)
    """(friend, attack number, enemy or HERO) -> (kind, variable)."""
    plays: list[int] = field(default_factory=list)
    alive: list[int] = field(default_factory=list)
    dies: dict[int, int] = field(default_factory=dict)
    lethal: int = 0
    clear: int = 0

    def any_hit(self, friend: int, number: int, targets: list[int]) -> list[tuple[int, float]]:
        """The sum of all kinds of hits of a friend's attack on these targets."""
        return [
            (variable, 1.0)
            for target in targets
            for _, variable in self.hits.get((friend, number, target), ())
        ]

    def kind(self, kind: str, target: int) -> list[tuple[int, int]]:
        """(friend, variable) of all hits of one kind on a target."""
        return [
            (friend, variable)
            for (friend, _, aim), kinds in self.hits.items()
            if aim == target
            for name, variable in kinds
            if name == kind
        ]


def kills(friend: MinionSpec, enemy: MinionSpec) -> bool:
    """Whether an enemy's damage kills a friend without a shield."""
    return enemy.attack > 0 and (enemy.poisonous or enemy.attack >= friend.health)


def sequential_model(problem: TurnProblem, weights: Weights) -> SequentialModel:
    """Build the program of a turn."""
    model = SequentialModel(problem)
    milp = model.milp
    w = weights
    friends = (*problem.friendly, *problem.hand)
    m = len(problem.friendly)
    free = BOARD_SIZE - m
    most = min(problem.mana + problem.coin, MAX_MANA)
    record = problem.record
    for k, card in enumerate(problem.hand):
        gain = w.play * card.worth + w.survive * card.health
        model.plays.append(milp.binary(f"u[{m + k}]", gain, float(card.cost <= most)))
    milp.offset += w.survive * sum(minion.health for minion in problem.friendly)
    milp.offset += w.wound * sum(minion.health for minion in problem.enemy)
    model.alive = [
        milp.binary(f"z[{j}]", -w.threat * enemy.attack - w.wound * enemy.health)
        for j, enemy in enumerate(problem.enemy)
    ]
    model.lethal = milp.binary("L", w.lethal)
    model.clear = milp.binary("c", w.clear)
    coin = milp.binary("coin", 0.0, float(problem.coin))
    attacks = {
        i: int(record["friends"][i]["attacks"])
        for i in range(len(friends))
        if record["friends"][i]["attacks"] and (i < m or (friends[i].cost <= most and free > 0))
    }
    open_targets = [j for j, enemy in enumerate(problem.enemy) if not enemy.stealth]
    guards = [j for j in open_targets if problem.enemy[j].taunt]
    elsewhere = [j for j in open_targets if j not in guards]
    for i, count in attacks.items():
        for s in range(1, count + 1):
            _add_hits(model, w, i, s, friends[i], open_targets, bool(record["friends"][i]["hits_hero"]))
        body = friends[i].attack + friends[i].health
        model.dies[i] = milp.binary(f"d[{i}]", -w.survive * friends[i].health - w.body * body)
    every = [*open_targets, HERO]
    for i in attacks:
        if i < m:
            milp.add("an attack has one target", model.any_hit(i, 1, every), upper=1)
        else:
            played = (model.plays[i - m], -1.0)
            milp.add("only who is played attacks", [*model.any_hit(i, 1, every), played], upper=0)
    _targets(model, w, friends)
    _hero(model, friends)
    _shared(model, list(attacks), every, coin)
    for i, count in attacks.items():
        for s in range(1, count + 1):
            for t in guards:
                behind = [*model.any_hit(i, s, [*elsewhere, HERO]), (model.alive[t], 1.0)]
                milp.add("guards die before anything else is attacked", behind, upper=1)
        if count == 1:
            _one_attack(model, w, i, friends[i], open_targets)
        else:
            _two_attacks(model, i, friends[i], guards, elsewhere)
            if w.body:
                _lost_by_two(model, w, i, friends[i], open_targets)
    double = [i for i, count in attacks.items() if count == 2]
    if len(double) >= 2 and len(open_targets) >= 2:
        _order(model, double, list(attacks), open_targets)
    return model


def _shared(model: SequentialModel, attackers: list[int], every: list[int], coin: int) -> None:
    """What all actions share: mana, places on board, and when the board is cleared.

    Args:
        model: modified in place.
        attackers: friends that can attack, by index.
        every: all targets, the hero included.
        coin: variable of The Coin.
    """
    milp, m = model.milp, len(model.problem.friendly)
    free = BOARD_SIZE - m
    spent = [(u, float(card.cost)) for u, card in zip(model.plays, model.problem.hand, strict=True)]
    milp.add("mana, and The Coin", [*spent, (coin, -1.0)], upper=model.problem.mana)
    from_hand = [hit for i in attackers if i >= m for hit in model.any_hit(i, 1, every)]
    milp.add("hand attackers use places free at the start", from_hand, upper=free)
    freed = [(d, -1.0) for i, d in model.dies.items() if i < m]
    milp.add(
        "other plays also use places freed by deaths", [*((u, 1.0) for u in model.plays), *freed], upper=free
    )
    for z in model.alive:
        milp.add("cleared only when none lives", [(model.clear, 1.0), (z, 1.0)], upper=1)
    milp.add("cleared when none lives", [(model.clear, 1.0), *((z, 1.0) for z in model.alive)], lower=1)


def _add_hits(
    model: SequentialModel, w: Weights, i: int, s: int, friend: MinionSpec, targets: list[int], hero: bool
) -> None:
    """The ways in which attack s of friend i can hit each target."""
    milp = model.milp
    for j in targets:
        if (i, j) in model.problem.barred:
            continue
        enemy = model.problem.enemy[j]
        gain = w.damage * friend.attack - w.trade * enemy.attack
        kinds = [("f", milp.binary(f"f[{i},{s},{j}]", gain))]
        if not friend.poisonous and friend.attack < enemy.health:
            kinds.append(("x", milp.binary(f"x[{i},{s},{j}]", gain)))
        if enemy.divine_shield:
            kinds.append(("p", milp.binary(f"p[{i},{s},{j}]", gain)))
        model.hits[i, s, j] = kinds
    if hero:
        gain = w.face * friend.attack
        plain = milp.binary(f"g[{i},{s}]", gain, float(friend.attack < model.problem.enemy_hero))
        model.hits[i, s, HERO] = [("g", plain), ("G", milp.binary(f"G[{i},{s}]", gain))]


def _targets(model: SequentialModel, w: Weights, friends: tuple[MinionSpec, ...]) -> None:
    """What it takes to kill an enemy, and to leave it alive; what health one that lives loses."""
    milp = model.milp
    for j, enemy in enumerate(model.problem.enemy):
        z = model.alive[j]
        finish, plain, pop = (model.kind(kind, j) for kind in "fxp")
        milp.add(
            "one hit finishes an enemy that dies",
            [*((v, 1.0) for _, v in finish), (z, 1.0)],
            lower=1,
            upper=1,
        )
        plain_sum = [(v, float(friends[i].attack)) for i, v in plain]
        milp.add("plain hits leave an enemy alive", plain_sum, upper=enemy.health - 1)
        if w.wound and plain:
            lost = milp.continuous(f"w[{j}]", enemy.health - 1, w.wound)
            minus = [(v, -a) for v, a in plain_sum]
            milp.add("plain hits take health off", [(lost, 1.0), *minus], upper=0)
            milp.add("the dead lose all of it", [(lost, 1.0), (z, 1.0 - enemy.health)], upper=0)
        missing = [
            (v, float(friends[i].attack - enemy.health))
            for i, v in finish
            if not friends[i].poisonous and friends[i].attack < enemy.health
        ]
        milp.add("a finishing hit needs the plain ones before it", [*plain_sum, *missing], lower=0)
        if enemy.divine_shield:
            popped = [(v, 1.0) for _, v in pop]
            milp.add("one hit pops a shield", popped, upper=1)
            milp.add("a shield pops before its bearer dies", [*popped, (z, 1.0)], lower=1)
            for _, v in plain:
                milp.add("a shield pops before a plain hit", [*popped, (v, -1.0)], lower=0)


def _hero(model: SequentialModel, friends: tuple[MinionSpec, ...]) -> None:
    """Damage to the hero, and the last blow of a kill."""
    milp = model.milp
    health = model.problem.enemy_hero
    plain, blow = model.kind("g", HERO), model.kind("G", HERO)
    milp.add(
        "a kill has one last blow", [*((v, 1.0) for _, v in blow), (model.lethal, -1.0)], lower=0, upper=0
    )
    damage = [(v, float(friends[i].attack)) for i, v in plain]
    milp.add("the hero lives until the last blow", damage, upper=health - 1)
    total = [*damage, *((v, float(friends[i].attack)) for i, v in blow), (model.lethal, -float(health))]
    milp.add("a kill takes all the hero's health", total, lower=0)


def _one_attack(model: SequentialModel, w: Weights, i: int, friend: MinionSpec, targets: list[int]) -> None:
    """One attack: whether it kills the attacker, and what health it costs one that lives."""
    enemies = model.problem.enemy
    deadly = [j for j in targets if kills(friend, enemies[j])] if not friend.divine_shield else []
    terms = [*model.any_hit(i, 1, deadly), (model.dies[i], -1.0)]
    model.milp.add("who attacks what kills it dies", terms, lower=0, upper=0)
    for j in targets:
        if j not in deadly and not friend.divine_shield:
            for v, _ in model.any_hit(i, 1, [j]):
                model.milp.cost[v] -= w.body * enemies[j].attack


def _two_attacks(
    model: SequentialModel, i: int, friend: MinionSpec, guards: list[int], elsewhere: list[int]
) -> None:
    """Windfury: two attacks, on one target or two, and what they cost."""
    milp, d = model.milp, model.dies[i]
    enemies = model.problem.enemy
    targets = [*guards, *elsewhere]
    first, second = (model.any_hit(i, s, [*targets, HERO]) for s in (1, 2))
    deadly = [j for j in targets if kills(friend, enemies[j])]
    minus = [(v, -a) for v, a in first]
    if friend.divine_shield:
        milp.add("a second attack follows a first", [*second, *minus], upper=0)
        hurt = model.any_hit(i, 1, [j for j in targets if enemies[j].attack > 0])
        fatal = model.any_hit(i, 2, deadly)
        milp.add(
            "it dies only when the first hit pops its shield",
            [(d, 1.0), *((v, -a) for v, a in hurt)],
            upper=0,
        )
        milp.add("it dies only when the second hit kills", [(d, 1.0), *((v, -a) for v, a in fatal)], upper=0)
        milp.add("it dies when both happen", [(d, -1.0), *hurt, *fatal], upper=1)
    else:
        killed = model.any_hit(i, 1, deadly)
        milp.add("a second attack follows a first that it survived", [*second, *minus, *killed], upper=0)
        taken = [
            (v, float(friend.health if j in deadly else enemies[j].attack))
            for s in (1, 2)
            for j in targets
            for v, _ in model.any_hit(i, s, [j])
        ]
        health = float(friend.health)
        milp.add("it dies only of damage that kills", [*taken, (d, -health)], lower=0)
        milp.add("it dies of damage that kills", [*taken, (d, -health)], upper=health - 1)
    mixed = [*model.any_hit(i, 1, [*elsewhere, HERO]), *model.any_hit(i, 2, guards)]
    milp.add("it attacks guards first", mixed, upper=1)
    blow = [(v, 1.0) for kind, v in model.hits.get((i, 1, HERO), ()) if kind == "G"]
    if blow:
        milp.add("nothing follows the last blow", [*blow, *second], upper=1)
    for j in targets:
        for kind, v in model.hits.get((i, 1, j), ()):
            if kind == "f":
                milp.add(
                    "no second hit on what the first killed", [(v, 1.0), *model.any_hit(i, 2, [j])], upper=1
                )
        for kind, v in model.hits.get((i, 2, j), ()):
            if kind == "p":
                milp.add("of two hits the first pops", [(v, 1.0), *model.any_hit(i, 1, [j])], upper=1)


def _lost_by_two(model: SequentialModel, w: Weights, i: int, friend: MinionSpec, targets: list[int]) -> None:
    """Windfury: the health that two attacks cost a friend that lives."""
    milp, enemies = model.milp, model.problem.enemy
    lost = (milp.continuous(f"b[{i}]", friend.health - 1, -w.body), -1.0)
    taken = {s: [(v, j) for j in targets for v, _ in model.any_hit(i, s, [j])] for s in (1, 2)}
    if friend.divine_shield:
        most = friend.health - 1.0
        popped = [(v, most) for v, j in taken[1] if enemies[j].attack > 0]
        second = [(v, float(enemies[j].attack)) for v, j in taken[2] if not kills(friend, enemies[j])]
        milp.add("the damage after the one that pops its shield", [*second, *popped, lost], upper=most)
    else:
        damages = [
            (v, float(friend.health if kills(friend, enemies[j]) else enemies[j].attack))
            for v, j in [*taken[1], *taken[2]]
        ]
        dead = (model.dies[i], 1.0 - 2 * friend.health)
        milp.add("both damages, where it lives", [*damages, dead, lost], upper=0)


def _order(model: SequentialModel, double: list[int], sources: list[int], targets: list[int]) -> None:
    """One order for all attacks: times of attacks (tau), of each target's finish (phi) and pop (pi)."""
    milp = model.milp
    span = 2.0 * (len(double) + len(targets))
    phi = {j: milp.continuous(f"phi[{j}]", span) for j in targets}
    pi = {j: milp.continuous(f"pi[{j}]", span) for j in targets}
    for j in targets:
        milp.add("a target is popped before it is finished", [(phi[j], 1.0), (pi[j], -1.0)], lower=1)
    for i in sources:
        numbers = sorted({s for friend, s, _ in model.hits if friend == i})
        tau = {s: milp.continuous(f"tau[{i},{s}]", span) for s in numbers}
        for one, two in pairwise(numbers):
            milp.add("attacks in their order", [(tau[two], 1.0), (tau[one], -1.0)], lower=1)
        for s in numbers:
            for j in targets:
                for kind, v in model.hits.get((i, s, j), ()):
                    now, end, pop = (tau[s], 1.0), (phi[j], -1.0), (pi[j], -1.0)
                    if kind == "f":
                        milp.add("the finish is at its time", [now, end, (v, -span)], lower=-span)
                    else:
                        milp.add("hits come before the finish", [now, end, (v, span + 1)], upper=span)
                    if kind == "p":
                        milp.add("the pop is at its time", [now, pop, (v, span)], upper=span)
                    else:
                        milp.add("hits come after the pop", [now, pop, (v, -span - 1)], lower=-span)
