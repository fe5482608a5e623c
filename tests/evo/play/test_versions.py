"""Which versions two machines must share to play the same games."""

import pytest

from evo.play.results import play_versions
from ilp_agent import BACKENDS, Backend, backends
from ilp_agent.backends import DEFAULT_BACKEND

EXTRAS = [entry for entry in BACKENDS.values() if entry.extra]
ALWAYS = {entry.library for entry in BACKENDS.values() if entry.library and not entry.extra}


def test_libraries_that_are_always_there_always_count() -> None:
    assert play_versions().keys() >= ALWAYS | {"manaforge", "python", "numba", "rules", "cards", "kernels"}
    assert "" not in play_versions().values()


@pytest.mark.parametrize("entry", EXTRAS, ids=lambda entry: entry.name)
def test_a_machine_without_an_extra_plays_all_but_its_games(
    entry: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(version: str) -> tuple[dict[str, str], dict[str, str]]:
        """Versions of other games and of its own, where a version of the library is installed."""
        known = backends._installed_version.__wrapped__
        with monkeypatch.context() as patch:
            patch.setattr(
                backends, "_installed_version", lambda one: version if one == entry.library else known(one)
            )
            return play_versions([DEFAULT_BACKEND]), play_versions([DEFAULT_BACKEND, entry.name])

    (with_it, own), (without, alone), (_, newer) = found("1"), found(""), found("2")
    assert with_it == without
    assert own != alone
    assert alone[entry.library] == "not installed"
    assert own != newer
