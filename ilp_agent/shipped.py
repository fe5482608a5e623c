"""Names and folders of the configurations and profiles in `configs/`."""

from pathlib import Path


def in_checkout() -> bool:
    """Whether this is a checkout of the sources, with its Makefile, and no installed package."""
    return (Path(__file__).resolve().parents[1] / "Makefile").is_file()


def configs_folder() -> Path:
    """Where this installation keeps its configurations: beside this file in a wheel, else in the checkout."""
    here = Path(__file__).resolve().parent
    packed = here / "configs"
    return packed if packed.is_dir() else here.parent / "configs"


def profiles_folder(agent: str = "ilp") -> Path:
    """Where an agent's profiles are: `configs/profiles/` for "ilp", else `configs/rivals/AGENT/`."""
    return configs_folder() / ("profiles" if agent == "ilp" else f"rivals/{agent}")


def shipped_profiles(agent: str = "ilp") -> list[str]:
    """Names of an agent's profiles in this installation (`profiles_folder`)."""
    return sorted(path.stem for path in profiles_folder(agent).glob("*.toml"))


def shipped_configs() -> list[str]:
    """Names of the configurations of runs in `configs/`."""
    others = {"arena", *shipped_learning()}
    return sorted(file.stem for file in configs_folder().glob("*.toml") if file.stem not in others)


def shipped_learning() -> list[str]:
    """Names of the configurations of learning in `configs/`."""
    return sorted(file.stem for file in configs_folder().glob("learn*.toml"))
