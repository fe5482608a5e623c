"""Runs an agent in Python as an outside agent: `python -m rivals.outside.host MODULE CLASS`.

The class is made without arguments, and has `act(view, rng)` as every agent (`engine.game_session.Agent`);
`new_game` and `game_over` are called if it has them. What it prints goes to standard error.

If it has `parameters`, a dict from names to (low, high), these can evolve; in a game that gives them values,
the attribute `values` is a dict from names to numbers, and in another what it was at first, or the middles.
"""

import importlib
import json
import os
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.codes import Outcome
from engine.game_session import Reason
from engine.notation import parse_position
from engine.view import PlayerView
from rivals.outside.messages import PROTOCOL


def outcome_of(result: str, seat: int) -> Outcome:
    """The outcome of a game, from what it was for who sat at this seat."""
    if result == "drawn":
        return Outcome.DRAW
    return Outcome.FIRST_WINS if (result == "won") == (seat == 0) else Outcome.SECOND_WINS


def found_agent(module: str, name: str) -> Any:
    """The agent of a class, made without arguments.

    Raises:
        SystemExit: there is none that can act; the message says what is missing.
    """
    try:
        made = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        hint = f"; leave out .py: python:{module[:-3]}:{name}" if module.endswith(".py") else ""
        sys.exit(f"ImportError: {error}, looked for in {os.getcwd()} and in this environment{hint}")  # noqa: PTH109
    except AttributeError as error:
        sys.exit(f"ImportError: {error}")
    agent = made()
    if not callable(getattr(agent, "act", None)):
        sys.exit(f"TypeError: {module}.{name} makes {agent!r}, which has no method act(view, rng)")
    return agent


def bounds_of(agent: Any) -> dict[str, tuple[Any, Any]]:
    """The parameters that an agent declares, as it has them; {} where it declares none.

    Raises:
        SystemExit: they are no names with pairs.
    """
    declared = getattr(agent, "parameters", None)
    if not isinstance(declared, Mapping):  # as of a network, whose `parameters` is a method
        return {}
    for name, pair in declared.items():
        if not isinstance(name, str) or not isinstance(pair, tuple | list) or len(pair) != 2:
            sys.exit(f"TypeError: parameters must be like {{'face': (0, 20)}}, got {name!r}: {pair!r}")
    return {name: (pair[0], pair[1]) for name, pair in declared.items()}


def main(module: str, name: str) -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    messages = os.fdopen(os.dup(0), encoding="utf-8")
    os.dup2(2, 1)  # what the agent prints is no answer
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # and what it starts reads no message
    os.close(nothing)
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - as python -m has it
    agent = found_agent(module, name)
    seat, rng = 0, np.random.default_rng(0)
    bounds = bounds_of(agent)
    own_values = getattr(agent, "values", None) if bounds else None
    if bounds and own_values is None:
        own_values = {own: (low + high) / 2 for own, (low, high) in bounds.items()}
    for line in messages:
        message = json.loads(line)
        match message["type"]:
            case "hello":
                answer = {"type": "hello", "protocol": PROTOCOL, "name": getattr(agent, "name", name)}
                declared = [{"name": own, "low": low, "high": high} for own, (low, high) in bounds.items()]
                answer |= {"parameters": declared} if declared else {}
            case "new game":
                seat, rng = message["seat"], np.random.default_rng(message["seed"])
                if bounds:
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
