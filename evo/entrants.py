"""Entrants: who can play, by the one notation used everywhere."""

from collections.abc import Callable

from engine import Agent, ManaforgeError, PassAgent, RandomAgent
from engine.errors import unknown_name
from ilp_agent import IlpAgent, find_profile, find_solver

PLAIN: dict[str, Callable[[], Agent]] = {"random": RandomAgent, "pass": PassAgent}

NOTATION = "ilp:PROFILE (a name of configs/profiles or the path of a profile file), " + ", ".join(PLAIN)


class EntrantError(ManaforgeError, ValueError):
    """A text that names no entrant."""


def find_entrant(text: str) -> Agent:
    """The agent a text names: `ilp:keep-alive`, `ilp:path/to/profile.toml`, `random`, `pass`.

    `@gurobi` or `@highs` behind an ILP entrant chooses another backend than `exact`.

    Raises:
        EntrantError, UnknownNameError: it names none; the message lists the nearest.
        ProfileError: the profile file cannot be used.
        SolverError: the backend cannot start.
    """
    kind, _, rest = text.partition(":")
    if text in PLAIN:
        return PLAIN[text]()
    if kind != "ilp" or not rest:
        error = unknown_name("agent", text, [*PLAIN, "ilp:NAME"])
        raise EntrantError(f"{error}; an agent is {NOTATION}")
    name, mark, backend = rest.rpartition("@")
    profile = find_profile(name if mark else rest)
    find_solver(backend if mark else "exact")
    return IlpAgent(profile, backend if mark else "exact")
