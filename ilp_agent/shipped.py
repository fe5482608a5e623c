"""Configurations and profiles that ship with the package, in `configs/`."""

from pathlib import Path


def in_checkout() -> bool:
    """Whether this is a source checkout with a Makefile, not an installed package."""
    return (Path(__file__).resolve().parents[1] / "Makefile").is_file()


def configs_folder() -> Path:
    """Folder of this installation's configurations: inside the package in a wheel, else in the checkout."""
    package = Path(__file__).resolve().parent
    packed = package / "configs"
    return packed if packed.is_dir() else package.parent / "configs"


def profiles_folder(agent: str = "ilp") -> Path:
    """Folder of an agent's profiles: `configs/profiles/` for "ilp", else `configs/rivals/AGENT/`."""
    return configs_folder() / ("profiles" if agent == "ilp" else f"rivals/{agent}")


def shipped_profiles(agent: str = "ilp") -> list[str]:
    """Names of an agent's shipped profiles (`profiles_folder`)."""
    return sorted(path.stem for path in profiles_folder(agent).glob("*.toml"))


def shipped_configs() -> list[str]:
    """Names of the shipped configurations of evolution runs in `configs/`."""
    others = {"arena", *shipped_learning(), *shipped_balance()}
    return sorted(file.stem for file in configs_folder().glob("*.toml") if file.stem not in others)


def shipped_balance() -> list[str]:
    """Names of the shipped configurations of balance searches in `configs/`."""
    return sorted(file.stem for file in configs_folder().glob("balance*.toml"))


def shipped_learning() -> list[str]:
    """Names of the shipped configurations of learning runs in `configs/`."""
    return sorted(file.stem for file in configs_folder().glob("learn*.toml"))
