"""Runs an agent in Python as an outside agent: `python -m rivals.outside.host MODULE CLASS`.

The class is made without arguments, and has `act(view, rng)` as every agent (`engine.match.Agent`);
`new_game` and `game_over` are called if it has them. What it prints goes to standard error.

If it has `parameters`, a dict from names to (low, high), these can evolve; in a game that gives them values,
the attribute `values` is a dict from names to numbers, and in another what it was at first.
"""

import importlib
import json
import os
import sys
from typing import Any

import numpy as np

from engine.codes import Outcome
from engine.faults import Reason
from engine.notation import parse_position
from engine.view import PlayerView
from rivals.outside.messages import PROTOCOL


def outcome_of(result: str, seat: int) -> Outcome:
    """The outcome of a game, from what it was for who sat at this seat."""
    if result == "drawn":
        return Outcome.DRAW
    return Outcome.FIRST_WINS if (result == "won") == (seat == 0) else Outcome.SECOND_WINS


def main(module: str, name: str) -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the agent prints is no answer
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - as python -m has it
    agent: Any = getattr(importlib.import_module(module), name)()
    seat, rng = 0, np.random.default_rng(0)
    own_values = getattr(agent, "values", None)
    for line in sys.stdin:
        message = json.loads(line)
        match message["type"]:
            case "hello":
                answer = {"type": "hello", "protocol": PROTOCOL, "name": getattr(agent, "name", name)}
                bounds = getattr(agent, "parameters", {}).items()
                declared = [{"name": own, "low": low, "high": high} for own, (low, high) in bounds]
                answer |= {"parameters": declared} if declared else {}
            case "new game":
                seat, rng = message["seat"], np.random.default_rng(message["seed"])
                if hasattr(agent, "parameters"):
                    agent.values = message.get("parameters", own_values)
                if hasattr(agent, "new_game"):
                    agent.new_game(seat, rng)
                continue
            case "decide":
                view = PlayerView(parse_position(message["position"]), seat)
                answer = {"type": "action", "action": str(agent.act(view, rng))}
            case "result":
                if hasattr(agent, "game_over"):
                    agent.game_over(outcome_of(message["result"], seat), Reason(message["reason"]))
                continue
            case _:
                continue
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
