"""Players and profiles of outside agents (other programs and classes) with tunable parameters."""

import os
from pathlib import Path

from engine.errors import WrongValueError
from evo.config.run_config import RunConfig
from evo.play.games import Player
from evo.storage.champion import read_champion_file
from evo.storage.files import RUNS, not_a_run_text
from evo.storage.run_folder import read_run_config
from ilp_agent import Profile, WeightVector
from ilp_agent.backends import DEFAULT_BACKEND
from rivals import is_outside, read_agent_profile
from rivals.outside.agent import check_starts
from rivals.outside.parameters import declared_weights, differences
from rivals.outside.permissions import allow_options


class OutsideProfileError(WrongValueError, ValueError):
    """A profile that does not fit an outside agent."""


def outside_player(agent: str, profile: str = "", options: tuple[int, ...] = ()) -> Player:
    """Make the player of an outside agent.

    Args:
        agent: `python:MODULE:CLASS` or `process:COMMAND`.
        profile: profile file or run folder with its parameters; "" for the agent's defaults.
        options: values of its options; () for defaults.

    Raises:
        NotStartedError: it cannot be started.
        OutsideProfileError, ProfileError: the profile does not fit the agent.
    """
    check_starts(agent)
    weights = outside_profile(agent, profile).weights.array if profile else ()
    return Player(tuple(map(float, weights)), DEFAULT_BACKEND, agent, options)


def outside_profile(agent: str, name: str) -> Profile[WeightVector]:
    """Read a profile of an outside agent; starts the agent to get the declared parameters.

    Args:
        agent: `python:MODULE:CLASS` or `process:COMMAND`.
        name: a profile file, or a run folder for its champion, which is also looked up in `runs/`.

    Raises:
        NotStartedError: it cannot be started.
        OutsideProfileError, ProfileError: there is no such profile, or it is another agent's.
    """
    declared = check_starts(agent)
    if not declared:
        raise OutsideProfileError(f"{agent} declares no parameters, so it takes no profile")
    for folder in (Path(name), RUNS / name):
        if os.path.isdir(folder):  # noqa: PTH112 - accepts names no file can have
            return read_agent_profile(_champion(agent, folder), declared_weights(agent, declared))
    return read_agent_profile(Path(name), declared_weights(agent, declared))


def _champion(agent: str, folder: Path) -> Path:
    """Path of the champion file of a run that evolved an outside agent."""
    if not (folder / "config.toml").exists():
        raise OutsideProfileError(not_a_run_text(folder))
    config = read_run_config(folder)
    if config.agent != agent:
        raise OutsideProfileError(f"run {folder} evolved {config.agent}, so {agent} cannot use its champion")
    if not read_champion_file(folder).finishes(config):
        raise OutsideProfileError(
            f"run {folder} has no champion yet; to finish it: manaforge resume {folder}{allow_options(agent)}"
        )
    check_parameters_unchanged(config, str(folder))
    return folder / "champion.toml"


def check_parameters_unchanged(config: RunConfig, run: str = "") -> None:
    """Raise if a run's outside agent no longer declares the run's parameters and bounds.

    Args:
        config: run configuration; an agent from outside is started.
        run: run folder, for the message.

    Raises:
        NotStartedError: the agent cannot be started.
        NotAllowedError: the command line does not allow it.
        OutsideProfileError: the agent declares other parameters.
    """
    if not is_outside(config.agent):
        return
    different = differences(check_starts(config.agent), config.parameters)
    if different:
        raise OutsideProfileError(
            f"{config.agent} declares other parameters than "
            f"{f'run {run}' if run else 'the configuration'} has: {different}"
        )
