"""Names of what comes with this installation for runs, without loading it."""

from ilp_agent.shipped import configs_folder


def shipped_configs() -> list[str]:
    """Names of the configurations of runs in `configs/`."""
    others = {"arena", *shipped_learning()}
    return sorted(file.stem for file in configs_folder().glob("*.toml") if file.stem not in others)


def shipped_learning() -> list[str]:
    """Names of the configurations of learning in `configs/`."""
    return sorted(file.stem for file in configs_folder().glob("learn*.toml"))
