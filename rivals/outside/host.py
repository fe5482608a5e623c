"""Host that runs a Python agent as an agent from outside: `python -m rivals.outside.host MODULE CLASS`.

The class is constructed without arguments and implements `act(view, rng)` (`engine.game_session.Agent`);
`new_game` and `game_over` are optional. Its printed output goes to standard error. After an exception the
last line of standard error names the method, the exception and the line of the agent's file.

An attribute `parameters`, a dict from names to (low, high), declares parameters that can evolve. A game that
sets them assigns the attribute `values`, a dict from names to numbers; other games use its initial value, or
the midpoints.
"""

import contextlib
import importlib
import importlib.util
import json
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from engine.codes import Outcome
from engine.game_session import Reason
from engine.notation import parse_position
from engine.view import PlayerView
from rivals.outside.messages import PROTOCOL, RAISED


def outcome_of(result: str, seat: int) -> Outcome:
    """Outcome of a game from the result of the player at `seat`."""
    if result == "drawn":
        return Outcome.DRAW
    return Outcome.FIRST_WINS if (result == "won") == (seat == 0) else Outcome.SECOND_WINS


MAX_ERROR = 300
"""Largest number of characters of an exception's message that are told."""


@contextlib.contextmanager
def errors_located(module: str, method: str) -> Iterator[None]:
    """Context of a call of the agent, from which an exception ends the process and is told with its line.

    Args:
        module: the agent's module.
        method: what is called, for the message.

    Raises:
        SystemExit: with a last line such as `act raised KeyError: 3 (mybot.py:7 in act)`.
    """
    try:
        yield
    except Exception as error:
        traceback.print_exc()
        message = " ".join(f"{type(error).__name__}: {error}".split())[:MAX_ERROR]
        sys.exit(f"{RAISED}{method} raised {message}{_line_of(error, module)}")


def _line_of(error: Exception, module: str) -> str:
    """Last line of the agent's own file in an exception's traceback, such as ` (mybot.py:7 in act)`."""
    frames = traceback.extract_tb(error.__traceback__)
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:  # a failed import leaves no module
        with contextlib.suppress(ImportError, ValueError):
            file = getattr(importlib.util.find_spec(module), "origin", None)
    own = [frame for frame in frames if frame.filename == file]
    if not own:  # a class from another file
        here = [frame for frame in frames if frame.filename != __file__]
        own = [frame for frame in here if Path(frame.filename).is_relative_to(Path.cwd())]
    return f" ({Path(own[-1].filename).name}:{own[-1].lineno} in {own[-1].name})" if own else ""


def load_agent(module: str, name: str) -> Any:
    """Import an agent class from a module, and construct the agent.

    Raises:
        SystemExit: import error, or no method `act`; the message says which.
    """
    with errors_located(module, "import"):
        try:
            loaded = importlib.import_module(module)
        except ModuleNotFoundError as error:
            hint = f"; leave out .py: python:{module[:-3]}:{name}" if module.endswith(".py") else ""
            sys.exit(f"ImportError: {error}; searched {os.getcwd()} and this environment{hint}")  # noqa: PTH109
    try:
        agent_class = getattr(loaded, name)
    except AttributeError as error:
        sys.exit(f"ImportError: {error}")
    with errors_located(module, "__init__"):
        agent = agent_class()
    if not callable(getattr(agent, "act", None)):
        made = type(agent).__name__
        sys.exit(f"TypeError: {module}.{name}() is a {made} without a method act(view, rng)")
    return agent


def declared_bounds(agent: Any) -> dict[str, tuple[Any, Any]]:
    """Lower and upper bound of each parameter that an agent declares, by name; {} if it declares none.

    Raises:
        SystemExit: not a mapping from names to pairs.
    """
    declared = getattr(agent, "parameters", None)
    if not isinstance(declared, Mapping):  # e.g. a neural network, whose `parameters` is a method
        return {}
    for name, pair in declared.items():
        if not isinstance(name, str) or not isinstance(pair, tuple | list) or len(pair) != 2:
            sys.exit(f"TypeError: parameters must be like {{'face': (0, 20)}}, got {name!r}: {pair!r}")
    return {name: (pair[0], pair[1]) for name, pair in declared.items()}


def main(module: str, name: str) -> None:
    """Answer the messages on standard input until standard input closes."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    messages = os.fdopen(os.dup(0), encoding="utf-8")
    os.dup2(2, 1)  # keep the agent's prints out of the answers
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)  # keep its child processes from reading messages
    os.close(null)
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - as python -m has it
    agent = load_agent(module, name)
    seat, rng = 0, np.random.default_rng(0)
    bounds = declared_bounds(agent)
    default_values = getattr(agent, "values", None) if bounds else None
    if bounds and default_values is None:
        default_values = {own: (low + high) / 2 for own, (low, high) in bounds.items()}
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
                    agent.values = message.get("parameters", default_values)
                if hasattr(agent, "new_game"):
                    with errors_located(module, "new_game"):
                        agent.new_game(seat, rng)
                continue
            case "decide":
                view = PlayerView(parse_position(message["position"]), seat)
                with errors_located(module, "act"):
                    action = agent.act(view, rng)
                answer = {"type": "action", "action": None if action is None else str(action)}
            case "result":
                if hasattr(agent, "game_over"):
                    with errors_located(module, "game_over"):
                        agent.game_over(outcome_of(message["result"], seat), Reason(message["reason"]))
                continue
            case _:
                continue
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
