"""Compiled kernels that workers take from the driver."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine import kernel_cache
from engine.kernel_cache import compiler_key
from evo.play import ray_process
from evo.play.ray_process import Kernels, install_kernels

NAMES = tuple(f"{digit * 32}-{digit * 16}.machine" for digit in "01")
FILES = {NAMES[0]: b"first", NAMES[1]: b"second"}


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """A node with an empty cache; what is fetched of Ray."""
    monkeypatch.setenv("MANAFORGE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(ray_process, "_cached", set())
    kernel_cache.cache_folder.cache_clear()
    asked: list[object] = []

    def get(reference: object) -> dict[str, bytes]:
        asked.append(reference)
        return FILES

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(get=get))
    yield asked
    kernel_cache.cache_folder.cache_clear()


def test_a_node_keeps_the_drivers_kernels_and_fetches_them_once(fetched: list[object]) -> None:
    kernels = Kernels(compiler_key(), NAMES, ["reference"])
    kernel_cache.write(NAMES[1], b"its own")
    assert install_kernels(kernels)
    assert kernel_cache.read(NAMES[0]) == b"first"
    assert kernel_cache.read(NAMES[1]) == b"its own", "what it has stays"
    assert install_kernels(kernels)
    assert fetched == ["reference"]


def test_a_node_that_shares_the_cache_fetches_nothing(fetched: list[object]) -> None:
    for name, content in FILES.items():
        kernel_cache.write(name, content)
    assert install_kernels(Kernels(compiler_key(), NAMES, ["reference"]))
    assert fetched == []


def test_kernels_for_another_processor_or_compiler_are_left(fetched: list[object]) -> None:
    assert not install_kernels(Kernels("0" * 16, NAMES, ["reference"]))
    assert fetched == []
    assert not kernel_cache.exists(NAMES[0])


def test_what_was_read_or_written_can_be_sent(fetched: list[object]) -> None:
    kernel_cache.write(NAMES[0], b"first")
    kernel_cache.write(NAMES[1].replace("machine", "part"), b"of no use to others")
    assert NAMES[0] in kernel_cache.used_machine_code
    assert all(name.endswith(".machine") for name in kernel_cache.used_machine_code)


def test_a_cache_that_is_gone_or_may_not_be_read_is_told_once(
    fetched: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernel_cache, "_warnings", [])
    kernel_cache.write(NAMES[0], b"first")
    assert kernel_cache.cached_kernels() == {("0" * 32, "machine")}
    (tmp_path / "kernels").rename(tmp_path / "moved")
    (tmp_path / "kernels").write_bytes(b"")  # "Not a directory" for root too, who may read everything
    assert kernel_cache.cached_kernels() == set()
    assert not kernel_cache.exists(NAMES[0])
    assert kernel_cache.read(NAMES[0]) is None
    assert capsys.readouterr().err.count("Cannot keep compiled kernels") == 1
    assert fetched == []
