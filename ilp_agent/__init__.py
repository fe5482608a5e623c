"""Turn solver: one turn of the game as an integer program, and the agent that plays the optimal turn.

>>> from engine import MinionSpec
>>> from ilp_agent import TurnProblem, Weights, solve
>>> problem = TurnProblem.build(friendly=[MinionSpec(3, 2)], enemy=[MinionSpec(2, 3)], mana=0, enemy_hero=9)
>>> solve(problem, Weights(lethal=1, clear=1, face=0, threat=1, survive=0, damage=1, trade=0, play=0)).actions
(Attack(attacker=0, target=0),)
"""

from typing import TYPE_CHECKING

from engine.lazy import lazy_exports

if TYPE_CHECKING:  # imported on first use
    from engine.codes import HERO
    from ilp_agent.agent import IlpAgent
    from ilp_agent.backends import BACKENDS, DEFAULT_BACKEND, FORMULATIONS, Backend, SolverError
    from ilp_agent.explanation import CardExplanation, Explanation, explain, explain_cards
    from ilp_agent.milp.program_solver import program_of
    from ilp_agent.plan import Attack, CardPlan, Plan, Play, PlayCoin, ProblemPlan, Status, Terms
    from ilp_agent.problem import TurnProblem
    from ilp_agent.profiles import (
        Profile,
        ProfileError,
        find_profile,
        read_any_profile,
        read_profile,
    )
    from ilp_agent.shipped import shipped_profiles
    from ilp_agent.solver import Solver, find_solver, solve, turn_of
    from ilp_agent.turn import CardTurn, ProblemError, Turn
    from ilp_agent.weights import (
        EXTENDED_NAMES,
        WEIGHT_NAMES,
        ExtendedWeights,
        WeightError,
        Weights,
        WeightVector,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "BACKENDS",
    "DEFAULT_BACKEND",
    "EXTENDED_NAMES",
    "FORMULATIONS",
    "HERO",
    "WEIGHT_NAMES",
    "Attack",
    "Backend",
    "CardExplanation",
    "CardPlan",
    "CardTurn",
    "Explanation",
    "ExtendedWeights",
    "IlpAgent",
    "Plan",
    "Play",
    "PlayCoin",
    "ProblemError",
    "ProblemPlan",
    "Profile",
    "ProfileError",
    "Solver",
    "SolverError",
    "Status",
    "Terms",
    "Turn",
    "TurnProblem",
    "WeightError",
    "WeightVector",
    "Weights",
    "explain",
    "explain_cards",
    "find_profile",
    "find_solver",
    "program_of",
    "read_any_profile",
    "read_profile",
    "shipped_profiles",
    "solve",
    "turn_of",
]
