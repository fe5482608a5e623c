"""Plain readings of looking ahead, in Python and through checked play: ends, the reply, the value."""

import numpy as np

from engine import Outcome, Position
from engine.codes import COIN, HERO, ActionKind, Keyword
from ilp_agent import TurnProblem, Weights, solve
from ilp_agent.features import FEATURES
from ilp_agent.plan import Attack
from ilp_agent.replay import new_tracker, play_plan_action, position_from_problem
from tests.ilp_agent.lookahead.ends import key_of


def every_end(problem: TurnProblem, weights: Weights) -> dict[tuple[object, ...], float]:
    """Every end of a turn by brute force, with the objective of the best way to it. The Coin counts as wasted."""
    ends: dict[tuple[object, ...], float] = {}
    seen: dict[tuple[bytes, tuple[int, ...]], float] = {}

    def go_on(position: Position, gain: float, survival: tuple[int, ...]) -> None:
        own, enemy = position.state["sides"]
        met = (position.state.tobytes(), survival)
        if seen.get(met, -np.inf) >= gain:
            return
        seen[met] = gain
        threat = sum(int(minion["attack"]) for minion in enemy["board"][: enemy["n_board"]])
        value = gain + weights.survive * sum(survival) - weights.threat * threat
        value += weights.clear * (enemy["n_board"] == 0) + weights.lethal * (enemy["health"] <= 0)
        key = key_of(position)
        ends[key] = max(value, ends.get(key, -np.inf))
        for action in position.legal_actions():
            if action.kind == ActionKind.END_TURN:
                continue
            more, left = 0.0, list(survival)
            after = position.copy()
            n = own["n_board"]
            after.play(action)
            if action.kind == ActionKind.PLAY:
                number = int(own["hand"][action.source])
                if number != COIN:
                    spec = position.table.cards[number].spec
                    more, left = weights.play * spec.worth, [*left, spec.health]
            else:
                attack = int(own["board"][action.source]["attack"])
                if action.target == HERO:
                    more = weights.face * attack
                else:
                    struck = int(enemy["board"][action.target]["attack"])
                    more = weights.damage * attack - weights.trade * struck
                if after.state["sides"][0]["n_board"] < n:
                    left.pop(action.source)
            go_on(after, gain + more, tuple(left))

    go_on(position_from_problem(problem), 0.0, tuple(minion.health for minion in problem.friendly))
    return ends


def reply_of(position: Position, weights: Weights, hand: bool = False) -> Position:
    """Where the active player's best turn leads, before it is ended; with its board alone unless `hand`."""
    here = position.copy()
    again = True
    while again and here.outcome == Outcome.ONGOING:
        again = False
        own, enemy = here.state["sides"][here.active], here.state["sides"][1 - here.active]
        held = int(own["n_hand"])
        if not hand:
            if own["n_board"] == 0:
                break
            own["n_hand"] = 0
        problem = TurnProblem.from_position(here)
        predicted, tracker = problem.enemy_hero, new_tracker(problem)
        for action in solve(problem, weights, "exact").actions:
            if isinstance(action, Attack) and action.target == HERO:
                predicted -= (*problem.friendly, *problem.hand)[action.attacker].attack
            play_plan_action(here, tracker, action)
            if here.outcome != Outcome.ONGOING:
                break
            if enemy["health"] + enemy["armour"] != predicted:  # an enemy with Lifesteal healed its hero
                again = True
                break
        if not hand:
            own["n_hand"] = held
    return here


def features_of(position: Position, seat: int) -> dict[str, float]:
    """Every feature of a position of bodies, counted plainly."""
    sides = [position.state["sides"][one] for one in (seat, 1 - seat)]
    found = dict.fromkeys(FEATURES, 0.0)
    for side, prefix, sign in ((sides[0], "", 1), (sides[1], "enemy_", -1)):
        for minion in side["board"][: side["n_board"]]:
            attack, health = int(minion["attack"]), int(minion["health"])
            counted = {"attack": attack, "health": health, "minions": 1, "bodies": (attack * health) ** 0.5}
            for keyword, name, amount in (
                (Keyword.DIVINE_SHIELD, "shield", attack + health),
                (Keyword.TAUNT, "taunt", health),
                (Keyword.WINDFURY, "windfury", attack),
                (Keyword.LIFESTEAL, "lifesteal", attack),
                (Keyword.POISONOUS, "poisonous", 1),
                (Keyword.STEALTH, "stealth", attack),
            ):
                if minion["keywords"] & keyword:
                    counted[name] = amount
            for name, amount in counted.items():
                found[prefix + name] += sign * amount
        hero = int(side["health"] + side["armour"])
        found[prefix + "hero"] = sign * hero
        found[prefix + "wounds"] = -sign * max(0, 15 - hero) ** 2 / 15
        cards = [int(number) for number in side["hand"][: side["n_hand"]]]
        found[prefix + "hand"] = sign * (len(cards) if prefix else sum(number != COIN for number in cards))
        found[prefix + "fatigue"] = -sign * (int(side["fatigue"]) + 1) * (side["n_deck"] == 0)
        if not prefix:
            known = (number for number in cards if number >= 0)
            found["hand_mana"] = sum(position.table.cards[number].spec.cost for number in known)
    found["lethal"] = float(_strength(sides[0], sides[1]) >= -found["enemy_hero"])
    found["threatened"] = -float(_strength(sides[1], sides[0]) >= found["hero"])
    return found


def _strength(side: np.void, other: np.void) -> int:
    """Attack on a hero behind no Taunt."""
    guards = Keyword.TAUNT | Keyword.STEALTH
    if any(minion["keywords"] & guards == Keyword.TAUNT for minion in other["board"][: other["n_board"]]):
        return 0
    return sum(
        int(minion["attack"]) * (2 if minion["keywords"] & Keyword.WINDFURY else 1)
        for minion in side["board"][: side["n_board"]]
    )
